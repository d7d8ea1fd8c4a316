/* SPDX-License-Identifier: Apache-2.0 */
/* Compile options for tests for which any right plan will do, and whose contexts are their own: the
 * heuristic tries few plans, as it does in contexts of the kit (context.h). */
#ifndef FS_TEST_QUICK_H
#define FS_TEST_QUICK_H

#include "fsched/compile.h"

#define FS_QUICK FSCHED_EFFORT(1)
static const fsched_compile_options fs_quick = {.size = sizeof fs_quick, .effort = FS_QUICK};

#endif
