/* SPDX-License-Identifier: Apache-2.0 */
/* Residencies cut so that all accesses of a piece touch all of it, and who must be waited for.
 *
 * A residency whose accesses touch it whole is one segment.  With byte ranges (`at`) it is cut at
 * their ends; bytes that nothing touches belong to no segment, since nothing depends on them.
 * Segments of counted memories are whole and have no addresses, and there is one without accesses
 * where nothing touches the residency, which holds its units all the same; those of content that is
 * given or kept where it lives, and those of schedules that get new times (lib/model/retime.h), are
 * whole, too.  Of each segment: the first accesses (before which no other access is known to come)
 * and the last ones.  Known are queue order, edges of the graph and those of copies' data, not
 * their closure; queue order is not where queues are open (they will be chosen anew), and an edge
 * is not if it concerns some queues of a loop alone: chains of such edges order nothing. */
#ifndef FS_SEGMENTS_H
#define FS_SEGMENTS_H

#include "model/access.h"
#include "model/lags.h"

typedef struct fs_segments {
  fsched_context *ctx;
  uint32_t n;
  FS_VEC(uint32_t) residency; /* ascending */
  FS_VEC(uint64_t) low;       /* [low, high), from the residency's address on */
  FS_VEC(uint64_t) high;
  FS_VEC(uint32_t) first0; /* CSR, n + 1 entries: first accesses, in order of issue */
  FS_VEC(uint32_t) first;
  FS_VEC(uint32_t) last0; /* CSR: last accesses */
  FS_VEC(uint32_t) last;
} fs_segments;

/* Requires accesses of this schedule.
 * O(accesses + predecessors); with ranges, also their number per byte touched by several. Errors:
 * FSCHED_SYSTEM; release in any case. */
fs_status fs_segments_make(fsched_context *ctx, const fs_schedule *s, fs_sync_kind kind,
                           bool queues_open, const fs_accesses *acc, const fs_lags *lags,
                           fs_segments *out) FS_MUST_USE;
void fs_segments_release(fs_segments *segs);

#endif
