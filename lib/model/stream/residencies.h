/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of the bounded memories of a stream over time, for any times of its commands:
 * planned, measured or simulated.
 *
 * A residency is a version at one place of one bounded memory, or the scratch of an op.  Which
 * commands touch it follows from the stream alone:
 *   - a spill read begins one in the version's own memory, a spill write one in the backing store
 *     (also where it replaces an older copy, whose bytes no command needs after its last use);
 *   - the first command that touches a version begins one, and given content begins one at time 0;
 *   - any other command touches the latest one at its place.
 * It lives from the begin of the first command to the end of the last; content that is kept in the
 * memory lives to the end of the run.  So a store copy ends with the last command that touches it,
 * whereas the schedule may hold its place longer; all else is as in the schedule.
 *
 * Residencies may share addresses at a time: an output that takes over its input's place does so
 * while its op runs, and of accesses to byte ranges a stream orders only those that overlap.
 *
 * Requires a stream that fs_stream_check has accepted (for an invalid stream the result is safe to
 * use but has little meaning).  Complexity: O(size of the stream), and what fs_stream_order
 * needs. */
#ifndef FS_STREAM_RESIDENCIES_H
#define FS_STREAM_RESIDENCIES_H

#include "model/stream/order.h"

typedef struct fs_stream_residencies {
  const fs_stream *s;
  uint32_t n;
  uint32_t *memory;
  uint32_t *version;        /* FS_NONE for scratch */
  uint32_t *scratch;        /* into s->scratches, FS_NONE for a version */
  uint64_t *address;        /* 0 in counted memories */
  uint64_t *size;           /* aligned */
  uint8_t *given;           /* the content is there from time 0 */
  uint8_t *kept;            /* the content stays to the end */
  uint32_t *touch0, *touch; /* CSR: the commands, in the order of fs_stream_order */
} fs_stream_residencies;

/* The arrays live in `arena`.  Errors: FSCHED_SYSTEM. */
fs_status fs_stream_residencies_find(fs_arena *arena, const fs_stream *s,
                                     const fs_stream_order *order,
                                     fs_stream_residencies *out) FS_MUST_USE;

typedef struct fs_time_span {
  uint64_t begin, end;
} fs_time_span;

/* Finds the lifetime of each residency for these times of the commands, the run ending at `last`.
 * Requires times of all commands, none after `last`.  O(touches). */
void fs_stream_residencies_time(const fs_stream_residencies *r, const uint64_t *begin,
                                const uint64_t *end, uint64_t last, fs_time_span *span);

#endif
