/* SPDX-License-Identifier: Apache-2.0 */
/* What lies in the bounded memories of a stream, and when, for any times of its commands: the
 * planned ones, measured ones, or those of a simulation.
 *
 * A residency is a version at one place of one bounded memory, or the scratch of an op.  Which
 * commands touch it follows from the stream alone:
 *   - a spill read begins one in the version's own memory, a spill write one in the backing store
 *     (also where it replaces an older copy: between the last use of that and the write nobody
 *     needs what is there);
 *   - so does the first command that touches a version, and given content at time 0;
 *   - any other command touches the latest one at its place.
 * It lives from the begin of the first command to the end of the last; content that is kept in the
 * memory lives to the end of the run, as does the place of a state in its own memory, to which the
 * next invocation's content comes.  So a store copy ends with its last copy, where the schedule
 * may hold its place for longer; all else is as in the schedule.
 *
 * Residencies may share addresses at a time: an output that takes over its input's place does so
 * while its op runs, and where accesses are of byte ranges a stream orders only those that overlap.
 *
 * Requires a stream that fs_stream_check has accepted (of a wrong one, the result is safe to use
 * and means little).  Complexity: O(size of the stream), and what fs_stream_order needs. */
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
  uint8_t *given;           /* there from 0 on */
  uint8_t *kept;            /* there to the end */
  uint32_t *touch0, *touch; /* CSR: the commands, in the order of fs_stream_order */
} fs_stream_residencies;

/* The arrays live in `arena`.  Errors: FSCHED_SYSTEM. */
fs_status fs_stream_residencies_find(fs_arena *arena, const fs_stream *s,
                                     const fs_stream_order *order,
                                     fs_stream_residencies *out) FS_MUST_USE;

typedef struct fs_time_span {
  uint64_t begin, end;
} fs_time_span;

/* When each residency lives, for these times of the commands, which end at `last`.  Requires times
 * of all commands, none after `last`.  O(touches). */
void fs_stream_residencies_time(const fs_stream_residencies *r, const uint64_t *begin,
                                const uint64_t *end, uint64_t last, fs_time_span *span);

#endif
