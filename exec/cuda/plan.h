/* SPDX-License-Identifier: Apache-2.0 */
/* What a device is told to do, and in what order.  All slots of a program share one plan.
 *
 * An item is a command, or all of a gang's commands together: its op runs once.  Items come in an
 * order in which they can be issued: every item comes after the items that it waits for.  A lane is
 * an in-order stream of the device, one for a queue, or where queues of the host are threads, the
 * thread of such a queue; a gang's item is on the lane of its first member's queue.  Of a loop,
 * whose queues do not meet, and of an op whose members have args of their own, each command is an
 * item, a part of it; the parts follow each other and are issued as one.
 *
 * Edges: each item comes after its predecessor on every queue of its commands, and after all items
 * that its commands wait for; no predecessor is listed twice.  What waits for a gang's epoch waits
 * for all parts of a loop.  Barriers and syncs are turned into
 * the order that they imply (stream/points.h).  There are no physical barriers: where one would
 * hold a command back until another has started, the command gets all predecessors of the other
 * one, so that it knows as much.  On one lane the order of issue gives the edges; between lanes the
 * earlier item records an event, and the later items wait for it.  A graph takes all edges as they
 * are. */
#ifndef FS_EXEC_CUDA_PLAN_H
#define FS_EXEC_CUDA_PLAN_H

#include "base/mem.h"
#include "model/stream/stream.h"

typedef struct fs_cuda_item {
  uint32_t command; /* of its first member */
  uint32_t lane, queue;
  uint32_t parts;           /* of a first part: how many there are; of the others 0; else 1 */
  uint32_t after0, n_after; /* predecessors: items in fs_cuda_plan.after */
  uint32_t event;           /* FS_NONE: nothing outside its lane waits for it or watches it */
  bool joins;               /* an item on another lane, or the end, always waits for it */
  bool tells; /* it is the device's, and an item on the lane of a thread waits for it */
} fs_cuda_item;

typedef struct fs_cuda_plan {
  uint32_t n_items, n_lanes, n_events;
  uint32_t n_streams; /* lanes that are streams, the first ones; the others are threads */
  fs_cuda_item *item;
  uint32_t *after;
  uint32_t *item_of;   /* per command: its item */
  uint32_t *lane_last; /* per lane: its last item */
} fs_cuda_plan;

/* `threads`: the lanes of queues of the host are threads, and else streams, too.
 * Requires a stream that fs_stream_check has accepted.
 * Ensures: n_events counts the items that have an event, numbered in the order of items; the last
 * item of every lane but lane 0 has one, so that lane 0 can wait for all that are streams.
 * Errors: FSCHED_REPLAY when it deadlocks, reported to ctx;
 * FSCHED_SYSTEM for memory, which is reported to the arena's context. Complexity: O((commands +
 * waits) log queues), and for each gate (stream/points.h) the number of predecessors of the command
 * that it names. */
fs_status fs_cuda_plan_make(fsched_context *ctx, fs_arena *arena, const fs_stream *s, bool threads,
                            fs_cuda_plan *plan) FS_MUST_USE;
/* Gives the item an event, if it has none, for waits that occur in some invocations only.  Requires
 * an item of the plan. */
void fs_cuda_plan_add_event(fs_cuda_plan *plan, uint32_t item);

#endif
