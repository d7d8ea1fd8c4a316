/* SPDX-License-Identifier: Apache-2.0 */
/* State of the process, which no context can hold: the identity of the process, and numbers that
 * are given out once among all contexts.  Apart from thread-local variables, it is the only global
 * state of the library. */
#ifndef FS_PROCESS_H
#define FS_PROCESS_H

#include <stdatomic.h>

#include "base/base.h"

/* A number above 0 that differs between this process and a child made by fork.  Objects made here
 * keep it, so that a child knows them as inherited: their locks may be held by threads that the
 * child lacks.  It is fast: there is no system call where the kernel can clear a page in children
 * (Linux 4.14). */
uint64_t fs_process_birth(void);
/* For tests: acts as if the kernel could not clear pages.  Call it before fs_process_birth. */
void fs_process_without_page(void);
static inline bool fs_process_inherited(uint64_t birth) { return birth != fs_process_birth(); }

/* Ordinals of axes: they count upwards, and none is given out twice. */
typedef struct fs_ordinals {
  _Atomic uint64_t next;
} fs_ordinals;
/* The ordinals that all contexts of this process share. */
fs_ordinals *fs_process_ordinals(void);
/* Takes n consecutive ordinals, from *first on.  False: fewer are left, and none is taken.
 * Requires n > 0. */
bool fs_ordinals_take(fs_ordinals *from, uint64_t n, uint64_t *first);

#endif
