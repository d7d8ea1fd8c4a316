/* SPDX-License-Identifier: Apache-2.0 */
/* What a device is told to do, and in what order; the same for every slot of a program.
 *
 * An item is a command, or all of a gang's commands together: its op runs once.  Items come in an
 * order in which they can be issued: all that an item waits for stands before it.  A lane is an
 * in-order stream of the device: that of a queue, or for a gang that of its first member.
 *
 * Edges: each item after the one before it on every queue of its commands, and after all that its
 * commands wait for, each item named once.  Barriers and syncs are what they tell
 * (stream/points.h): physical barriers there are none; where one would hold a command back until
 * another has started, it comes after all that the other comes after, so that it knows as much.  On
 * one lane the order of issue gives them; between lanes the earlier item has an event, which it
 * records and the later ones wait for.  A graph takes all edges as they are. */
#ifndef FS_EXEC_CUDA_PLAN_H
#define FS_EXEC_CUDA_PLAN_H

#include "base/mem.h"
#include "model/stream/stream.h"

typedef struct fs_cuda_item {
  uint32_t command; /* of its first member */
  uint32_t lane;
  uint32_t after0, n_after; /* items, in fs_cuda_plan.after */
  uint32_t event;           /* FS_NONE: nobody on another lane waits for it */
  bool joins;               /* an item on another lane, or the end, always waits for it */
} fs_cuda_item;

typedef struct fs_cuda_plan {
  uint32_t n_items, n_lanes, n_events;
  fs_cuda_item *item;
  uint32_t *after;
  uint32_t *item_of;   /* per command */
  uint32_t *lane_last; /* per lane: its last item */
} fs_cuda_plan;

/* Requires a stream that fs_stream_check has accepted.
 * Ensures: n_events counts the items that have an event, numbered in the order of items; the last
 * item of every lane but lane 0 has one, so that lane 0 can wait for all.
 * Errors: FSCHED_REPLAY, reported to ctx, when the stream deadlocks; FSCHED_SYSTEM for memory,
 * which is reported to the arena's context.
 * Complexity: O((commands + waits) log queues). */
fs_status fs_cuda_plan_make(fsched_context *ctx, fs_arena *arena, const fs_stream *s,
                            fs_cuda_plan *plan) FS_MUST_USE;
/* Gives the item an event, if it has none, for those who sometimes wait for it.  Requires an item
 * of the plan. */
void fs_cuda_plan_add_event(fs_cuda_plan *plan, uint32_t item);

#endif
