/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of the stream verifier's walk: exact sets of complete commands, an epoch per queue.
 * Clocks that are stored are sparse and shared; clocks that are computed with are dense. */
#ifndef FS_VERIFY_CLOCK_H
#define FS_VERIFY_CLOCK_H

#include "base/mem.h"

typedef struct fs_vclock_entry {
  uint32_t queue, epoch;
} fs_vclock_entry;

/* A set of complete commands, closed under happens-before, as an epoch per queue.  Shared by
 * counting references. */
typedef struct fs_vclock {
  uint32_t refs, n, size_class, reserved;
  fs_vclock_entry at[];
} fs_vclock;

/* A dense clock that knows which entries are set. */
typedef struct fs_vdense {
  uint32_t *epoch; /* per queue */
  uint32_t *touched;
  uint32_t n;
} fs_vdense;

typedef struct fs_vclocks { /* the allocator of clocks */
  fs_arena *arena;
  void *free[32]; /* free clocks by size class */
} fs_vclocks;

/* Makes an empty dense clock of n queues. */
fs_status fs_vdense_init(fs_arena *arena, fs_vdense *d, uint32_t n) FS_MUST_USE;
void fs_vdense_clear(fs_vdense *d);
void fs_vdense_raise(fs_vdense *d, uint32_t queue, uint32_t epoch);
void fs_vdense_join(fs_vdense *d, const fs_vclock *c); /* NULL adds nothing */

/* Makes a clock, with one reference, of all entries of `d` except the one of queue `without`. */
fs_status fs_vclock_make(fs_vclocks *from, const fs_vdense *d, uint32_t without,
                         fs_vclock **out) FS_MUST_USE;
/* Gives a reference back; NULL does nothing.  Requires a reference, if there is a clock. */
void fs_vclock_release(fs_vclocks *from, fs_vclock *c);

#endif
