/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of a process that has just begun.  System calls only, so that copies of a process
 * with several threads may call it. */
#ifndef FS_DESCRIPTORS_H
#define FS_DESCRIPTORS_H

#include "base/base.h"

/* Closes all descriptors above standard error but those to keep, which ascend.  Where the kernel
 * cannot close ranges (before Linux 5.9), those above 65,536 stay.  Requires descriptors above 2,
 * the first one the lowest. */
void fs_descriptors_close_others(const int *keep, int n);

#endif
