/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the refinement: refine.c is its entry, attempt.c chooses and uses one model,
 * slide.c improves large graphs by windows, settle.c finds addresses alone. */
#ifndef FS_ILP_REFINE_PRIVATE_H
#define FS_ILP_REFINE_PRIVATE_H

#include "base/clock.h"
#include "base/limit.h"
#include "ilp/pack/model.h"
#include "problem/problem.h"
#include "problem/settled/settled.h"
#include "ilp/refine/refine.h"
#include "ilp/solver/solver.h"
#include "ilp/spill/model.h"
#include "ilp/time/model.h"

typedef struct fs_refiner {
  fsched_context *ctx;
  const fsched_graph *g;
  const fs_refine_options *o;
  const char *command;            /* of the solver */
  fs_schedule *best;              /* NULL: none is known */
  fs_tick bound;                  /* lower bound of the makespan of every schedule of the graph */
  fs_tick relaxation;             /* what the first LP relaxation proves; 0: there was none */
  uint64_t begin_ns, deadline_ns; /* in the time of fs_now_ns; 0: no deadline */
  fs_tick asked;                  /* the horizon of a question (see attempt.c), else 0 */
  uint64_t soon_ns;               /* an earlier deadline for one search; 0: none */
  uint64_t nodes;                 /* number of nodes of the searches that have ended */
  uint64_t searches;
  bool silent;     /* findings of the solver are not of the graph: they are not told */
  bool exact;      /* bounds of the model that is being solved hold for the graph */
  bool any;        /* some model was made */
  bool slid;       /* the graph was improved in windows */
  bool cut;        /* a limit of nodes has ended a search */
  fs_tick before;  /* the makespan to begin with; 0: there was no schedule */
  char fault[256]; /* the first fault of a solver; "": none */
} fs_refiner;

/* Has the refinement to end?  That is so when time is up, when enough was done without a time
 * limit, when the caller wants an end, when the solver cannot be used, and when there is nothing to
 * gain. */
bool fs_refiner_done(const fs_refiner *r);
/* Takes ownership of the schedule: it becomes the best one if it is shorter (or, where all starts
 * are given, has a lower peak), else it is destroyed.  Requires a schedule of the graph. */
fs_status fs_refiner_offer(fs_refiner *r, fs_schedule *s, bool *taken) FS_MUST_USE;
void fs_refiner_raise(fs_refiner *r, fs_tick bound);
/* Tells the caller how far the refinement is. */
void fs_refiner_tell(fs_refiner *r);
/* An earlier deadline for a first try, after a part of the time that is left; 0: no deadline. */
uint64_t fs_refiner_soon(const fs_refiner *r);
/* The number of nodes that one search of the model (NULL: a small one) may take; 0: no limit. */
uint64_t fs_refiner_node_limit(const fs_refiner *r, const fs_model *m);
/* Runs the solver under the refinement's limits; node_limit 0: the refinement's own.  Requires a
 * model in which no row is open. */
fs_status fs_refiner_solve(fs_refiner *r, const fs_model *m, bool start, uint64_t node_limit,
                           int64_t *value, fs_solver_result *result) FS_MUST_USE;

/* One model of the whole graph. */
typedef struct fs_attempt {
  fs_problem *problem; /* NULL for the spill model */
  fs_time_model *time; /* one of these models, or none */
  fs_pack_model *pack;
  fs_spill_model *spill;
  fs_time_places places;
  bool exact;           /* bounds of the model hold for the graph */
  fs_decision possible; /* FS_NO: no schedule is within the horizon, and no model was made */
} fs_attempt;

/* Chooses and makes the model for a schedule `from` (NULL: none is known).  With `spill`, the model
 * that chooses what is spilled is tried first.  The refiner (NULL: none) may stop the making.
 * fs_attempt_model(a) is NULL when all models are too large, and after a stop. */
fs_status fs_attempt_choose(fsched_context *ctx, const fsched_graph *g, const fs_schedule *from,
                            fs_tick bound, fsched_refine refine, bool spill, fs_refiner *r,
                            fs_attempt *a) FS_MUST_USE;
void fs_attempt_release(fs_attempt *a);
const fs_model *fs_attempt_model(const fs_attempt *a);
/* *out is NULL when the point is no schedule, or no addresses are found for it; *exists is FS_NO
 * where it is proven that there are none. */
fs_status fs_attempt_schedule(fs_attempt *a, const int64_t *value, fs_schedule **out,
                              const char **why, fs_decision *exists) FS_MUST_USE;
/* Solves the model, and the models that have to follow it.  Requires an attempt that was chosen. */
fs_status fs_attempt_run(fs_refiner *r, fs_attempt *a) FS_MUST_USE;

/* Improves the best schedule by windows that slide over it.  Requires a schedule.  slide.c */
fs_status fs_refine_slide(fs_refiner *r) FS_MUST_USE;
/* For graphs whose starts are all given: addresses with a lower peak.  Requires a graph that
 * settles.  settle.c */
fs_status fs_refine_settle(fs_refiner *r) FS_MUST_USE;

#endif
