/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of a stream in an order in which they could run, for code that walks a stream.
 *
 * Requires a stream that fs_stream_check has accepted.
 * Ensures: every command comes after those before it on its queue, those it waits for
 * (stream/points.h), and those that must start before it; the members of a gang follow each other,
 * after all commands that come before any of them.  Ties go by planned start, then by queue.  In a
 * stream that deadlocks, the commands that can never run come last, queue by queue; n_runnable is
 * the number of the others.
 * Complexity: O((commands + waits) log queues). */
#ifndef FS_STREAM_ORDER_H
#define FS_STREAM_ORDER_H

#include "base/mem.h"
#include "model/stream/points.h"
#include "model/stream/stream.h"

typedef struct fs_stream_order {
  uint32_t *queue;     /* per command */
  uint32_t *order;     /* all commands */
  uint32_t n_runnable; /* the number of commands at the front that can run */
  uint32_t *gang0;     /* per axis: where the epochs of a collective axis begin in gang_member */
  fs_points points;
  uint32_t *gang_member; /* two per epoch: the commands of its first two members, or FS_NONE */
} fs_stream_order;

/* The arrays live in `arena`.  Errors: FSCHED_SYSTEM. */
fs_status fs_stream_order_find(fs_arena *arena, const fs_stream *s,
                               fs_stream_order *out) FS_MUST_USE;

/* A command that reaches the epoch of the wait; for a collective axis, if possible one on a queue
 * other than `own`.  A waiting command is never its own source.  Requires an axis of the stream and
 * an epoch of it. */
uint32_t fs_stream_source(const fs_stream *s, const fs_stream_order *o, const fs_stream_wait *w,
                          uint32_t own);

/* The queue of a command of a loop that is not the first one of its op and copy, so that this must
 * be told; FS_NONE of that one.  Requires a command of the loop.  O(its commands). */
uint32_t fs_loop_part_queue(const fs_stream *s, const fs_stream_loop *l, uint32_t command);
/* Whether commands of the producers of a guard update it that are on a queue. */
static inline bool fs_guard_has_queue(const fs_stream_guard *g, uint32_t queue) {
  return g->queue == FS_NONE || g->queue == queue;
}

#endif
