/* SPDX-License-Identifier: Apache-2.0 */
/* The physical barriers of a stream (sync: barrier), for the back ends that execute it: the
 * distinct ones, and the barriers to which each of them is mapped, one after the other.
 *
 * After its last use a physical barrier is mapped to its first barrier again, for the next
 * invocation. */
#ifndef FS_EXEC_PHYSICALS_H
#define FS_EXEC_PHYSICALS_H

#include "base/mem.h"
#include "model/stream/stream.h"

typedef struct fs_physicals {
  uint32_t n;           /* 0: another kind of sync, or no barriers */
  uint32_t *use0, *use; /* CSR by physical barrier: its barriers, in the order of their use */
  uint32_t *of;         /* per barrier: its physical barrier, 0 .. n - 1 */
} fs_physicals;

/* Requires a stream that fs_stream_check has accepted.  The arrays live in `arena`.
 * Errors: FSCHED_SYSTEM.  Complexity: O(barriers log barriers). */
fs_status fs_physicals_make(fs_arena *arena, const fs_stream *s, fs_physicals *out) FS_MUST_USE;

/* Requires a physical barrier. */
static inline uint32_t fs_physical_uses(const fs_physicals *p, uint32_t physical) {
  assert(physical < p->n);
  return p->use0[physical + 1] - p->use0[physical];
}
/* The barrier to which the physical one is mapped in its use number `use`; after the last use comes
 * the first again.  Requires a physical barrier. */
static inline uint32_t fs_physical_barrier(const fs_physicals *p, uint32_t physical, uint32_t use) {
  assert(physical < p->n);
  return p->use[p->use0[physical] + use % fs_physical_uses(p, physical)];
}

#endif
