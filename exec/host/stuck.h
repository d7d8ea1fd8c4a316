/* SPDX-License-Identifier: Apache-2.0 */
/* Reports why a stream does not go on, for back ends that know what each queue waits for. */
#ifndef FS_EXEC_STUCK_H
#define FS_EXEC_STUCK_H

#include "exec/host/backend.h"
#include "exec/host/physicals.h"

/* What a queue that is stuck waits for. */
typedef enum fs_stuck_kind {
  FS_STUCK_EPOCH,
  FS_STUCK_CONTENT,
  FS_STUCK_MAPPED,   /* a barrier that it updates is not mapped yet: its physical one has an earlier
                        use */
  FS_STUCK_COMPLETE, /* a barrier that it waits for is not complete */
  FS_STUCK_LOOP,     /* it is in a loop, and waits for an instance there */
  FS_STUCK_PHASE,    /* it is in a loop, and waits for a phase of a barrier of the loop */
  FS_STUCK_ISSUE     /* its command is not issued yet, because of a sync (sync: block) */
} fs_stuck_kind;

/* Where a queue is in a loop: at an instance, which runs the loop further in, if it is not the last
 * one. */
typedef struct fs_stuck_level {
  uint32_t command;   /* of loop_commands */
  uint64_t iteration; /* of that loop */
  uint64_t place;     /* in the order of the queue's instances in this run of the loop */
} fs_stuck_level;

/* Where a queue is stuck. */
typedef struct fs_stuck {
  uint32_t at; /* index among its commands; FS_NONE: it is not stuck */
  fs_stuck_kind kind;
  uint32_t item;    /* CONTENT: the given item */
  uint32_t axis;    /* EPOCH; for a gang whose members have not all arrived: the collective axis */
  uint64_t epoch;   /* EPOCH: within the invocation, from 1 */
  uint32_t barrier; /* MAPPED, COMPLETE */
  uint32_t stop;    /* ISSUE */
  uint32_t depth;   /* LOOP, PHASE: levels; at least one */
  fs_stuck_level level[FS_LOOP_NEST]; /* the outermost first; the last one's instance waits */
  fs_stuck_level on; /* for this one, in the same run; its command is FS_NONE where that is another
                        member of its gang */
  uint64_t earlier;  /* LOOP, PHASE: where runs are joined, it is in the one so many before */
  uint32_t guard;    /* PHASE: the guard; that of iteration `of` is awaited */
  uint64_t of, complete; /* of: counted over runs that are joined; complete: phases of the barrier,
                          * since it was set */
  uint64_t iteration;    /* PHASE: `of` in its own run */
} fs_stuck;

/* Tells that an instance, the innermost level, waits for what a check of it is for, in a loop that
 * runs so often; `before` iterations are in runs that its run is joined to.  Requires iterations
 * that have a check of that distance. */
static inline void fs_stuck_set_phase(fs_stuck *stuck, const fs_stream_guard_check *check,
                                      uint64_t before, uint64_t trips) {
  uint64_t nth = before + stuck->level[stuck->depth - 1].iteration;
  assert(stuck->depth > 0 && nth >= check->distance && trips > 0);
  stuck->kind = FS_STUCK_PHASE;
  stuck->guard = check->guard;
  stuck->of = nth - check->distance;
  stuck->iteration = before == 0 ? stuck->of : stuck->of % trips;
  stuck->earlier = before == 0 ? 0 : before / trips - stuck->of / trips;
}

/* The present use of a physical barrier. */
typedef struct fs_stuck_barrier {
  uint32_t use; /* index within the invocation; the number of its uses: none is left */
  uint32_t producers, consumers; /* of this use, still to come */
} fs_stuck_barrier;

/* How to look at an instance, which may move between two calls. */
typedef struct fs_stuck_view {
  const fs_stream *s;
  const fs_io *io;
  const fs_physicals *physicals;
  const fs_instance *x;
  fs_stuck (*queue)(const fs_instance *x, uint32_t queue);
  uint64_t (*reached)(const fs_instance *x, uint32_t axis); /* epoch within the invocation */
  fs_stuck_barrier (*barrier)(const fs_instance *x, uint32_t physical); /* index in physicals */
} fs_stuck_view;

/* What a thread runs: the op of a command, or an iteration of an op in the loop that it is. */
typedef struct fs_running {
  uint32_t command, loop_op;        /* loop_op: FS_NONE, or of loop_ops */
  uint32_t queue;                   /* whose thread it is; FS_NONE: the command's */
  uint32_t depth;                   /* loops around it */
  uint64_t iteration[FS_LOOP_NEST]; /* of these, the innermost first */
} fs_running;

/* Reports the queue that is to blame as an error and the other stuck queues as notes; reports
 * nothing when none is stuck.  Allocates the diagnostics alone. */
void fs_stuck_report(fsched_context *ctx, const fs_stuck_view *view);
/* Reports, as an error, a kernel of a module that has run since `since_ns`.  Times are those of
 * fs_now_ns.  Requires a command. */
void fs_stuck_report_kernel(fsched_context *ctx, const fs_stream *s, const fs_running *what,
                            uint64_t since_ns, uint64_t begin_ns);
/* The name of the command's queue.  Requires a command.  O(log queues). */
const char *fs_stuck_queue(const fs_stream *s, uint32_t command);
/* The name of the queue whose thread runs it.  Requires a command.  O(log queues). */
const char *fs_running_queue(const fs_stream *s, const fs_running *what);

#endif
