/* SPDX-License-Identifier: Apache-2.0 */
/* A context, a device of the CPU with the kernels below, and timelines, anew for each test.  To be
 * included behind all others, as the names are short.
 *
 *   add       out = in + value
 *   sum       out = all inputs together
 *   fail      add, or with a `value` failure for that cause
 *   negative  fails for a cause that there is not
 *   count     add, and counts its calls in `entered`
 *   meet      add, once two calls are there
 *   gate      counts its calls, then add, once `open_at` is at its `value` */
#ifndef FS_TEST_EXEC_CASE_H
#define FS_TEST_EXEC_CASE_H

#include "exec/context/exec_kit.h"
#include "kit/context.h"

extern const kit_kernel kernels[];
extern fsched_device *device;
extern fsched_semaphore *line, *end, *open_at;
extern kit_count entered;
extern _Atomic int most_running; /* calls of `gate` at once */

void fs_test_device(TCase *t);

#endif
