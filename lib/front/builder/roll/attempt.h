/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of a body, and the loops that they make: as many as are tried. */
#ifndef FS_BUILDER_ROLL_ATTEMPT_H
#define FS_BUILDER_ROLL_ATTEMPT_H

#include "front/builder/roll/roll.h"
#include "modulo/planned.h"

typedef struct fs_body_attempt {
  fs_planned_loop planned; /* its plan is NULL where there is none, and what follows is empty */
  bool single;             /* one copy was asked for */
  bool possible;           /* waits, or an order of issue, keep the plan: there is a loop */
  bool crowded;            /* but an op of it takes more slots than a barrier has */
  fs_rolled_loop loop;
  fs_issued_time issued; /* with block syncs */
} fs_body_attempt;

/* Makes a plan with no more slots than are of use, or with some more of which runs are whole turns;
 * rings of the body that have such depths are given them.  Errors: FSCHED_SYSTEM. */
fs_status fs_roller_make_plan(fs_roller *r, const fsched_graph *g, const fs_loop_body *body,
                              const fs_planned_options *o, fs_planned_loop *p) FS_MUST_USE;
/* Makes such a plan, in so many steps at most, of a loop at hand, of one copy if it is `single`,
 * and the loop with its waits, barriers or syncs.  Errors: FSCHED_SYSTEM. */
fs_status fs_roller_attempt(fs_roller *r, const fsched_graph *g, uint32_t loop,
                            const fs_loop_body *body, bool single, uint64_t steps,
                            fs_body_attempt *out) FS_MUST_USE;

/* Gives a loop that was made of a plan its barriers, where `trip` iterations are counted.
 * *crowded: an op of it takes more slots than a barrier has, and the loop is unfinished.  `joined`
 * is that of a plan with parts, or NULL.  Requires sync by barriers.  Errors: FSCHED_SYSTEM. */
fs_status fs_roller_set_guards(fs_roller *r, const fsched_graph *g, const fs_loop_body *body,
                               const fs_planned_loop *p, const fs_modulo_joined *joined,
                               uint64_t trip, fs_rolled_loop *loop, bool *crowded) FS_MUST_USE;

/* A loop at hand whose depths may be chosen. */
typedef struct fs_depth_choice {
  fs_roller *r;
  const fsched_graph *g;
  uint32_t loop;
  const fs_loop_body *body;
  const bool *open;      /* per value of the body: its depth may be another one */
  const fs_rolled *x;    /* the times of its members, and the trips */
  fs_body_attempt *best; /* has a loop */
} fs_depth_choice;

/* Whether other depths might make the loop shorter, as it takes more than the work of some queue
 * with what has to be before and behind that.  Never with block syncs.
 * Complexity: O(members * edges).  Errors: FSCHED_SYSTEM. */
fs_status fs_roller_may_deepen(const fs_depth_choice *choice, bool *may) FS_MUST_USE;
/* Looks for open depths, up to a few slots more than the plan has, with which all iterations take
 * less, and with these for fewer bytes; the interval stays as it was, or becomes less.  On barriers
 * no loop gets more of them than it had.  *best becomes the best that is found.  Complexity: that
 * of 4 to 256 plans, fewer of larger bodies, in twice as many steps as one may take. Errors:
 * FSCHED_SYSTEM. */
fs_status fs_roller_deepen(const fs_depth_choice *choice) FS_MUST_USE;

#endif
