/* SPDX-License-Identifier: Apache-2.0 */
/* The one clock of fsched: it only goes forward, and only differences between its values have a
 * meaning. */
#ifndef FS_BASE_CLOCK_H
#define FS_BASE_CLOCK_H

#include "base/base.h"

enum { FS_NS_PER_S = 1000000000 };

uint64_t fs_now_ns(void);

#endif
