/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of everything that the schedule has not placed.
 *
 * Content in bounded contiguous memories has the addresses of its residencies.  In unbounded and
 * counted memories every version gets bytes of its own, aligned to max(align, FS_LAYOUT_ALIGN); a
 * version that may spill and is given or written back also gets bytes of its own in a backing store
 * of such a kind. */
#ifndef FS_LAYOUT_H
#define FS_LAYOUT_H

#include "model/schedule.h"

enum { FS_LAYOUT_ALIGN = 64 };

typedef struct fs_spot { /* a memory of FS_NONE means nowhere */
  uint32_t memory;
  uint64_t address;
} fs_spot;

typedef struct fs_layout {
  const fs_schedule *s;
  uint64_t *home;      /* per version: address in its own memory, unbounded or counted */
  uint64_t *store;     /* per version: address in an unbounded or counted backing store */
  uint32_t *first_res; /* per version: its first and last residency in its own memory */
  uint32_t *last_res;
  uint32_t *first_store_res; /* per version: the same two in a bounded backing store */
  uint32_t *last_store_res;
  uint64_t *extent; /* per memory: the end of the highest bytes in use */
} fs_layout;

/* Arrays live in `arena`.  Requires a schedule whose residencies are known.  O(versions +
 * residencies).  Errors: FSCHED_SYSTEM. */
fs_status fs_layout_make(fs_arena *arena, const fs_schedule *s, fs_layout *out) FS_MUST_USE;

/* The place where an access with this residency (FS_NONE in unbounded memories) finds the version.
 * Requires a version, and a residency or none. */
fs_spot fs_layout_home(const fs_layout *l, uint32_t version, uint32_t residency);
/* The place where a copy with this store residency (FS_NONE in unbounded stores) finds the version.
 * Requires a version, and a residency or none. */
fs_spot fs_layout_store(const fs_layout *l, uint32_t version, uint32_t residency);
/* The place of a given version's content before all commands.  Requires a version. */
fs_spot fs_layout_given(const fs_layout *l, uint32_t version);
/* The place of a kept version's content after all commands.  Requires a version. */
fs_spot fs_layout_kept(const fs_layout *l, uint32_t version);

#endif
