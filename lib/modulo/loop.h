/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a loop that was unrolled, as a problem. */
#ifndef FS_MODULO_LOOP_H
#define FS_MODULO_LOOP_H

#include "model/loop_body.h"
#include "modulo/problem/problem.h"

typedef struct fs_modulo_loop {
  fs_modulo_problem problem; /* its rings are the body's values, its ops the body's members */
  uint64_t *lane_units;      /* per resource: the units of each lane; the last one has the rest */
  const char *why_not;       /* there is no problem; NULL: there is */
  bool narrowed; /* it leaves out, or takes more room than, what the loop may do: a plan of the
                  * problem is right, but a lesser interval is possible where memory limits */
  bool single;   /* the scratch of copies does not fit where they are not on one queue */
  bool in_order; /* iterations of some ops come one after the other for their scratch alone: a plan
                  * of the problem is right, but lesser intervals may be possible */
  bool rounded; /* amounts of a resource of very many units are rounded up: a plan of the problem is
                 * right, but a lesser interval, and a lesser bound by resources, are possible */
  fs_modulo_problem
      exact; /* where rounded: the problem with amounts as they are, for bounds alone */
  uint64_t
      scale; /* the problem's times are so many times as long, so that an op of no time may have
              * a time of 1: no less of its interval than what such ops come to is of them */
  const fs_tick *time, *latency; /* per op, as they are; NULL where the problem has them */
  bool chosen;  /* it has one choice of queues for each gang that takes some of a class: a plan of
                 * the  problem is right, but with other choices lesser intervals may be possible */
  bool widened; /* it leaves out what the loop has to keep: a lesser interval is not possible, but
                 * the plan may be too good */
} fs_modulo_loop;

/* Makes the problem of a periodic body, in `arena`.  `held_back`: as in the problem.
 *
 * Memory that leaves its content to a backing store, and scratch, make it narrower; the target's
 * wait makes it wider.  Edges that the rings say are left out.
 * Complexity: O(members + edges * readers of one value).  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_loop_make(fs_arena *arena, const fsched_graph *g, const fs_loop_body *body,
                              bool held_back, fs_modulo_loop *out) FS_MUST_USE;

/* Puts the times as they are in their place, and a plan of the problem, or its bounds alone, in
 * ticks: with the interval that it has then.  Where that is not known for sure, it is not proven.
 * Requires a plan that was made of the problem as it is; of a problem without ops of no time
 * nothing is changed. */
void fs_modulo_loop_unscale(fs_modulo_loop *loop, fs_modulo_plan *plan);

/* The bytes that the scratch of all ops of a body takes of a memory.  Ops that can run on one queue
 * alone, which they keep until they are over, take turns with the same bytes; or all that keep a
 * queue do, whichever it may be, and there is room for the most that these take, if that is less,
 * and in any case where a queue may be another one from copy to copy.
 * Complexity: O(queues * (members + their scratch)). */
uint64_t fs_modulo_scratch(const fsched_graph *g, const fs_loop_body *body, uint32_t memory,
                           bool copies);

#endif
