/* SPDX-License-Identifier: Apache-2.0 */
/* What belongs to the process, as no context can have it: which process this is, and numbers that
 * are given out once among all contexts.  It is the only state that the library has of its own. */
#ifndef FS_PROCESS_H
#define FS_PROCESS_H

#include <stdatomic.h>

#include "base/base.h"

/* A number that this process has and a child of it, by fork, has not; above 0.  What was made here
 * keeps it, to be known as inherited: locks may be held there by threads that the child lacks.
 * Quick: no call of the system where the kernel can clear a page in children (Linux 4.14). */
uint64_t fs_process_birth(void);
/* For tests, before the first number is asked for: as where the kernel cannot do that. */
void fs_process_without_page(void);
static inline bool fs_process_inherited(uint64_t birth) { return birth != fs_process_birth(); }

/* Ordinals of axes: counted upwards, none twice. */
typedef struct fs_ordinals {
  _Atomic uint64_t next;
} fs_ordinals;
/* Those from which all contexts of this process take. */
fs_ordinals *fs_process_ordinals(void);
/* n in a row, from *first on.  False: there are not as many left; those that are stay for others.
 * Requires n > 0. */
bool fs_ordinals_take(fs_ordinals *from, uint64_t n, uint64_t *first);

#endif
