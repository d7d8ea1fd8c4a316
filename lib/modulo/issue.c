/* SPDX-License-Identifier: Apache-2.0 */
#include "modulo/issue.h"

#include "base/saturate.h"
#include "modulo/phases.h"

enum { TRIED = 3 }; /* numbers of phases */

typedef struct issue_choice {
  fsched_context *ctx;
  fs_arena *arena;
  const fs_modulo_problem *p;
  const fs_issue_options *o;
  fs_rolled_loop loop;
  fs_issued_time time;
  uint64_t total;
  bool any;
} issue_choice;

static uint64_t count_full(const fs_rolled_loop *r) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < r->n_stops; i++) {
    n += r->stop[i].queue == FS_NONE;
  }
  return n;
}

/* Makes the loop of a plan, and keeps it if it is better. */
static fs_status try_issue(issue_choice *x, const fs_modulo_plan *plan, bool *possible) {
  fs_rolled_loop loop;
  fs_issued_time time;
  FS_TRY(fs_modulo_issued(x->ctx, x->arena, x->p, plan, x->o->counting, &loop, possible));
  if (!*possible) {
    return FSCHED_OK;
  }
  FS_TRY(fs_issued_run(x->ctx, &loop, x->p->time, x->o->trip, &time));
  uint64_t syncs = fs_multiply_most(fs_issued_steps(&loop, x->o->trip), count_full(&loop));
  uint64_t total = fs_add_most(time.span, fs_multiply_most(syncs, x->o->cost));
  if (!x->any || total < x->total || (total == x->total && loop.n_stops < x->loop.n_stops)) {
    x->loop = loop;
    x->time = time;
    x->total = total;
    x->any = true;
  }
  return FSCHED_OK;
}

/* Tries phases; `counting` as for fs_modulo_phase. */
static fs_status try_phases(issue_choice *x, const fs_modulo_plan *plan, const bool *counting) {
  fs_modulo_edge *want;
  uint32_t n, tried = 0;
  bool possible;
  FS_TRY(fs_modulo_wants(x->ctx, x->arena, x->p, plan, &want, &n, &possible));
  for (uint32_t k = 1; possible && k <= FS_PHASES_MOST && tried < TRIED; k++) {
    fs_modulo_plan phased;
    bool found, made;
    FS_TRY(fs_modulo_phase(x->ctx, x->arena, x->p, plan, want, n, counting, k, &phased, &found));
    if (found) {
      FS_TRY(try_issue(x, &phased, &made));
      tried++;
    }
  }
  return FSCHED_OK;
}

static bool any_counts(const issue_choice *x) {
  bool any = false;
  for (uint32_t q = 0; q < x->p->n_queues && !any; q++) {
    any = x->o->counting[q];
  }
  return any;
}

fs_status fs_modulo_issue(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                          const fs_modulo_plan *plan, const fs_issue_options *options,
                          fs_rolled_loop *out, fs_issued_time *time, bool *possible) {
  assert(plan->found.is == FS_YES && plan->copies > 0);
  issue_choice x = {.ctx = ctx, .arena = arena, .p = p, .o = options};
  FS_TRY(try_issue(&x, plan, possible));
  if (*possible && plan->copies == 1 && count_full(&x.loop) > 0) {
    FS_TRY(try_phases(&x, plan, options->counting));
    FS_TRY(any_counts(&x) ? try_phases(&x, plan, NULL) : FSCHED_OK);
  }
  *out = x.loop;
  *time = x.time;
  return FSCHED_OK;
}
