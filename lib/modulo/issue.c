/* SPDX-License-Identifier: Apache-2.0 */
#include "modulo/issue.h"

#include "base/saturate.h"
#include "modulo/ahead.h"
#include "modulo/phases.h"
#include "modulo/repeat.h"

/* Numbers of phases; copies of the body; slots, as if there were no limit. */
enum { TRIED = 3, COPIES = 4, DEEPEST = 1 << 20 };

typedef struct issue_choice {
  fsched_context *ctx;
  fs_arena *arena;
  const fs_modulo_problem *p;
  const fs_issue_options *o;
  fs_rolled_loop loop;
  fs_issued_time time;
  fs_modulo_plan plan;
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

/* Whether a loop has fewer syncs an iteration. */
static bool has_fewer(const fs_rolled_loop *r, const fs_rolled_loop *than) {
  return (uint64_t)r->n_stops * than->copies < (uint64_t)than->n_stops * r->copies;
}

/* Makes the loop of a plan, and keeps it if it is better. */
static fs_status try_issue(issue_choice *x, const fs_modulo_plan *plan, bool *possible) {
  fs_rolled_loop loop;
  fs_issued_time time;
  FS_TRY(fs_modulo_issued(x->ctx, x->arena, x->p, plan, x->o->counting, &loop, possible));
  if (!*possible) {
    return FSCHED_OK;
  }
  FS_TRY(fs_issued_run(x->ctx, &loop, x->p->time, x->p->latency, x->o->trip, &time));
  uint64_t syncs = fs_multiply_most(fs_issued_steps(&loop, x->o->trip), count_full(&loop));
  uint64_t total = fs_add_most(time.span, fs_multiply_most(syncs, x->o->cost));
  if (!x->any || total < x->total || (total == x->total && has_fewer(&loop, &x->loop))) {
    x->loop = loop;
    x->time = time;
    x->plan = *plan;
    x->total = total;
    x->any = true;
  }
  return FSCHED_OK;
}

static fs_status find_phase(issue_choice *x, const fs_modulo_plan *plan, const bool *counting,
                            uint32_t k, uint64_t *phase, fs_modulo_plan *to, bool *found) {
  fs_modulo_edge *want;
  uint32_t n;
  FS_TRY(fs_modulo_wants(x->ctx, x->arena, x->p, plan, &want, &n, found));
  if (*found) {
    FS_TRY(fs_modulo_phase(x->ctx, x->arena, x->p, plan, want, n, counting, k, phase, to, found));
    *found = *found && fs_modulo_ahead_kept(x->p, to);
  }
  return FSCHED_OK;
}

/* Small bodies are worth more trials. */
static uint32_t most_trials(const issue_choice *x, const fs_modulo_plan *plan) {
  return plan->copies * x->p->n <= FS_ROLLED_EXACT ? TRIED : 1;
}

/* Tries phases; `counting` as for fs_modulo_phase. */
static fs_status try_phases(issue_choice *x, const fs_modulo_plan *plan, const bool *counting) {
  for (uint32_t k = 1, tried = 0; k <= FS_PHASES_MOST && tried < most_trials(x, plan); k++) {
    fs_modulo_plan phased;
    bool found, made;
    FS_TRY(find_phase(x, plan, counting, k, NULL, &phased, &found));
    if (found) {
      FS_TRY(try_issue(x, &phased, &made));
      tried++;
    }
  }
  return FSCHED_OK;
}

/* --- deeper rings --- */

static fs_status copy_depths(const issue_choice *x, const fs_modulo_plan *plan,
                             fs_modulo_plan *to) {
  *to = *plan;
  FS_TRY(fs_new(x->arena, &to->depth, x->p->n_rings));
  for (uint32_t v = 0; v < x->p->n_rings; v++) {
    to->depth[v] = plan->depth[v];
  }
  return FSCHED_OK;
}

/* Whether the slots of all rings fit. */
static bool depths_fit(const issue_choice *x, const fs_modulo_plan *plan) {
  bool fit = true;
  for (uint32_t m = 0; m < x->p->n_memories && fit; m++) {
    uint64_t bytes = 0;
    for (uint32_t v = 0; v < x->p->n_rings; v++) {
      const fs_modulo_ring *r = &x->p->ring[v];
      bytes = fs_add_most(bytes, r->memory == m ? fs_multiply_most(plan->depth[v], r->size) : 0);
    }
    fit = bytes <= x->p->capacity[m];
  }
  return fit;
}

typedef struct issue_phases {
  const fs_modulo_problem *p;
  uint32_t copies, k;
  uint64_t *phase; /* per node */
} issue_phases;

/* The phase of an op's iteration. */
static uint64_t phase_at(const issue_phases *x, uint32_t op, uint64_t iteration) {
  return x->phase[iteration % x->copies * x->p->n + op] + iteration / x->copies * x->k;
}

/* Whether versions live until all of their readers' phases are over, and those of as many slots as
 * are given back at once. */
static bool depth_lasts(const issue_phases *x, uint32_t ring, uint64_t depth) {
  const fs_modulo_ring *r = &x->p->ring[ring];
  uint32_t every = r->every > 1 ? r->every : 1;
  for (uint32_t i = x->p->reader0[ring]; i < x->p->reader0[ring + 1]; i++) {
    const fs_modulo_reader *reader = &x->p->reader[i];
    for (uint64_t c = 0; c < x->copies; c++) {
      uint64_t begin = phase_at(x, r->writer, c + depth);
      for (uint64_t e = 0; e < every; e++) {
        if (phase_at(x, reader->op, c + e + reader->back) >= begin) {
          return false;
        }
      }
    }
  }
  return true;
}

/* The depth with which they do. */
static uint64_t depth_for(const issue_phases *x, uint32_t ring) {
  uint64_t depth = fs_max(fs_modulo_least_depth(x->p, ring), 1);
  while (depth < DEEPEST && !depth_lasts(x, ring, depth)) {
    depth++;
  }
  return depth;
}

/* Tries k full syncs a step with open rings as deep as that takes, if it fits. */
static fs_status try_deeper(issue_choice *x, const fs_modulo_plan *plan, uint32_t k) {
  fs_modulo_plan deep, phased;
  issue_phases at = {.p = x->p, .copies = plan->copies, .k = k};
  bool found, made;
  FS_TRY(fs_new(x->arena, &at.phase, (size_t)plan->copies * x->p->n));
  FS_TRY(copy_depths(x, plan, &deep));
  for (uint32_t v = 0; v < x->p->n_rings; v++) {
    deep.depth[v] = x->p->ring[v].depth == 0 ? DEEPEST : plan->depth[v];
  }
  FS_TRY(find_phase(x, &deep, NULL, k, at.phase, &phased, &found));
  for (uint32_t v = 0; v < x->p->n_rings && found; v++) {
    const fs_modulo_ring *r = &x->p->ring[v];
    uint64_t depth = r->depth == 0 ? depth_for(&at, v) : plan->depth[v];
    found = depth < DEEPEST && (depth <= x->o->trip || depth <= plan->depth[v]) &&
            (r->depth > 0 || r->most == 0 || depth <= r->most);
    deep.depth[v] = found ? (uint32_t)depth : 0;
  }
  if (found && depths_fit(x, &deep)) {
    FS_TRY(find_phase(x, &deep, NULL, k, NULL, &phased, &found));
    return found ? try_issue(x, &phased, &made) : FSCHED_OK;
  }
  return FSCHED_OK;
}

static bool any_open(const issue_choice *x) {
  bool any = false;
  for (uint32_t v = 0; v < x->p->n_rings && !any; v++) {
    any = x->p->ring[v].depth == 0;
  }
  return any;
}

static fs_status try_depths(issue_choice *x, const fs_modulo_plan *plan) {
  for (uint32_t k = 1; any_open(x) && k <= most_trials(x, plan); k++) {
    FS_TRY(try_deeper(x, plan, k));
  }
  return FSCHED_OK;
}

/* --- more copies --- */

/* The fewest full syncs a step with which a plan has phases; 0: none that is asked for. */
static fs_status find_fewest(issue_choice *x, const fs_modulo_plan *plan, uint32_t most,
                             uint32_t *fewest) {
  fs_modulo_plan phased;
  bool found = false;
  *fewest = 0;
  for (uint32_t k = 1; k <= most && !found; k++) {
    FS_TRY(find_phase(x, plan, x->o->counting, k, NULL, &phased, &found));
    *fewest = found ? k : 0;
  }
  return FSCHED_OK;
}

/* Tries plans of more copies where these have fewer full syncs an iteration than all before. */
static fs_status try_copies(issue_choice *x, const fs_modulo_plan *plan) {
  uint32_t copies = plan->copies, n = copies * x->p->n, fewest, best;
  bool open = any_open(x);
  FS_TRY(find_fewest(x, plan, FS_PHASES_MOST, &best));
  for (uint32_t times = 2, at = 1; best > 0 && times * copies <= COPIES &&
                                   times * n <= FS_ROLLED_EXACT && times * copies <= x->o->trip;
       times++) {
    fs_modulo_plan more;
    FS_TRY(fs_modulo_repeat(x->arena, x->p, plan, times, &more));
    FS_TRY(find_fewest(x, &more, (best * times - 1) / at, &fewest));
    if (fewest > 0) {
      FS_TRY(try_phases(x, &more, x->o->counting));
      best = fewest;
      at = times;
    }
    FS_TRY(open ? try_deeper(x, &more, 1) : FSCHED_OK);
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
                          fs_modulo_plan *plan, const fs_issue_options *options,
                          fs_rolled_loop *out, fs_issued_time *time, bool *possible) {
  assert(plan->found.is == FS_YES && plan->copies > 0);
  issue_choice x = {.ctx = ctx, .arena = arena, .p = p, .o = options};
  FS_TRY(try_issue(&x, plan, possible));
  if (!*possible) {
    return FSCHED_OK;
  }
  if (count_full(&x.loop) > 0) {
    FS_TRY(try_phases(&x, plan, options->counting));
    FS_TRY(any_counts(&x) ? try_phases(&x, plan, NULL) : FSCHED_OK);
    FS_TRY(options->as_planned ? FSCHED_OK : try_depths(&x, plan));
    FS_TRY(options->as_planned ? FSCHED_OK : try_copies(&x, plan));
  }
  *out = x.loop;
  *time = x.time;
  *plan = x.plan;
  return FSCHED_OK;
}
