/* SPDX-License-Identifier: Apache-2.0 */
/* The pass has these steps:
 *
 *   orders    which items must be over before which, and the phases that follow (orders.c)
 *   phases    several ways to use the slack with the fewest syncs (phases.c); each makes a plan
 *   plans     order of issue, stops, times (plan.c)
 *   answers   queues and phases chosen again, with the control edges that hold for any queues
 *             (problem.c, search.c)
 *   adoption  an answer of less measure than the best plan goes into the schedule (adopt.c), whose
 *             commands and orders are made anew; it stays if the plan that follows is better, too
 *   places    addresses in stack memories, at the syncs of the plan (place.c)
 *
 * The measure is the makespan and the target's cost of a sync for each full one, so the result is
 * never above the best plan with the fewest syncs on the list scheduler's queues, unless a stack
 * asks for more syncs.
 *
 * For stack memories, syncs are chosen first, then addresses.  Control edges that stem from the
 * list scheduler's addresses in stack memories are left out of the orders, except those of in-place
 * outputs.  The first plan whose stacks are within the capacities is taken.  If there is none, full
 * syncs are added to a plan where its first entry above the capacity begins, so that the stack can
 * give back the entries that are over by then.  If that does not help either, the memories that are
 * too small keep the list scheduler's addresses, whose reuse then counts as hazards, and the pass
 * starts again; it warns of that.
 *
 * Planned starts never come before those of the schedule, the list scheduler's or the adopted one.
 *
 * Source: nvFuser (WAR and RAW sync insertion as interval stabbing, stack allocation); there the
 * order of issue is given and only the syncs are chosen. */
#include "block/block.h"

#include "base/warnings.h"
#include "block/adopt.h"
#include "block/phases.h"
#include "block/place.h"
#include "block/search.h"
#include "model/retime.h"

enum {
  EXTRA_SYNCS = 8,            /* extra full syncs that are tried for a plan */
  PLANS = FS_PHASE_RULES + 1, /* one for each rule, and one of an answer (search.h) */
  ANSWERS = 8,                /* that are tried until the stacks fit */
  OPEN_ITEMS = 20000,         /* of a schedule with reuse whose queues are chosen again */
};

typedef struct block_pass {
  fsched_context *ctx;
  fs_schedule *s;
  fs_sync *y;
  fs_sync_fn again;
  fs_arena *scratch;
  fs_accesses acc;
  fs_orders orders;
  fs_block_plan plan[PLANS]; /* ascending by measure */
  uint32_t n_plans;
  fs_block_plan chosen;
  bool *loose;      /* per memory: a stack whose addresses are still to be found */
  uint64_t *enough; /* per memory: its least peak in the plans before syncs were added */
  fs_block_places placement;
} block_pass;

/* An op whose start is given may not be late. */
static bool is_late(const block_pass *p, const fs_block_plan *plan) {
  const fsched_graph *g = p->s->graph;
  for (uint32_t op = 0; g->op_start != NULL && op < g->n_ops; op++) {
    if (plan->start[op] > g->op_start[op]) {
      return true;
    }
  }
  return false;
}

static fs_tick measure(const block_pass *p, const fs_block_plan *plan) {
  return is_late(p, plan)
             ? FS_TICK_NONE
             : fs_sync_total(plan->makespan, plan->n_full, p->s->graph->target.sync_cost);
}

static bool is_better(const block_pass *p, const fs_block_plan *a, const fs_block_plan *b) {
  fs_tick x = measure(p, a);
  fs_tick y = measure(p, b);
  return x != y ? x < y : a->n_full < b->n_full;
}

/* Makes a plan of phases, and files it behind those that are as good. */
static fs_status add_plan(block_pass *p, uint32_t *phase) {
  fs_block_plan plan = {.phase = phase};
  FS_TRY(fs_block_plan_fill(p->ctx, p->scratch, &p->orders, NULL, 0, &plan));
  uint32_t at = p->n_plans++;
  for (; at > 0 && is_better(p, &plan, &p->plan[at - 1]); at--) {
    p->plan[at] = p->plan[at - 1];
  }
  p->plan[at] = plan;
  return FSCHED_OK;
}

static fs_status make_plans(block_pass *p) {
  FS_TRY(fs_orders_find(p->ctx, p->scratch, p->s, p->y, &p->acc, &p->orders));
  p->n_plans = 0;
  for (uint32_t i = 0; i < FS_PHASE_RULES; i++) {
    uint32_t *phase;
    FS_TRY(fs_new(p->scratch, &phase, p->s->n_items));
    FS_TRY(fs_phases_assign(p->ctx, &p->orders, (fs_phase_rule)i, phase));
    FS_TRY(add_plan(p, phase));
  }
  p->chosen = p->plan[0];
  return FSCHED_OK;
}

/* --- stack memories --- */

static uint32_t count_loose(const block_pass *p) {
  uint32_t n = 0;
  for (uint32_t m = 0; m < p->s->graph->target.n_memories; m++) {
    n += p->loose[m];
  }
  return n;
}

static bool any_loose(const block_pass *p) { return count_loose(p) != 0; }

/* A loose memory whose peak exceeds its capacity, or FS_NONE. */
static uint32_t too_small(const block_pass *p) {
  for (uint32_t m = 0; m < p->s->graph->target.n_memories; m++) {
    if (p->loose[m] && !p->placement.fits[m]) {
      return m;
    }
  }
  return FS_NONE;
}

/* Places a plan, adding up to `most` syncs to it.  Each added sync must let the first entry above
 * the capacity be a later one than before. */
static fs_status place_plan(block_pass *p, const fs_block_plan *plan, uint32_t most, bool *fits) {
  assert(most <= EXTRA_SYNCS);
  uint32_t extra[EXTRA_SYNCS];
  p->chosen = *plan;
  for (uint32_t n = 0;; n++) {
    FS_TRY(fs_block_place(p->ctx, p->scratch, &p->orders, &p->acc, p->loose, &p->chosen,
                          &p->placement));
    uint32_t memory = too_small(p);
    *fits = memory == FS_NONE;
    uint32_t where = *fits ? FS_NONE : p->placement.where[memory];
    if (where == FS_NONE || n == most || (n > 0 && where <= extra[n - 1])) {
      return FSCHED_OK;
    }
    extra[n] = where;
    FS_TRY(fs_block_plan_fill(p->ctx, p->scratch, &p->orders, extra, n + 1, &p->chosen));
  }
}

static void note_peaks(const block_pass *p, bool first) {
  for (uint32_t m = 0; m < p->s->graph->target.n_memories; m++) {
    p->enough[m] = first ? p->placement.peak[m] : fs_min(p->enough[m], p->placement.peak[m]);
  }
}

/* Reports the least peak among the plans.  If the memory has that much, another memory was too
 * small in that plan: then it reports the peak in the chosen plan. */
static void warn_too_small(const block_pass *p, uint32_t memory) {
  const fsched_graph *g = p->s->graph;
  const fs_memory *m = &g->target.memory[memory];
  uint64_t taken = p->enough[memory] > m->capacity ? p->enough[memory] : p->placement.peak[memory];
  fs_report(p->ctx, FSCHED_WARNING, FS_DIAG_STACK, fs_graph_pos(p->ctx, g, g->placement_at[memory]),
            "more capacity, or 'contiguous'",
            "the stack of memory '%s' takes %llu bytes, and it has %llu: its places are those of "
            "'contiguous'",
            m->name, (unsigned long long)taken, (unsigned long long)m->capacity);
}

/* If no plan fits, p->chosen is the best plan, whose placement says which memories are too small.
 */
static fs_status place_buffers(block_pass *p, bool *fits) {
  *fits = false;
  for (uint32_t i = 0; i < p->n_plans && !*fits; i++) {
    FS_TRY(place_plan(p, &p->plan[i], 0, fits));
    note_peaks(p, i == 0);
  }
  return *fits ? FSCHED_OK : place_plan(p, &p->plan[0], EXTRA_SYNCS, fits);
}

/* Leaves out the control edges of places in loose memories: their residencies will get new places.
 */
static fs_status sync_without_loose(block_pass *p) {
  return p->again(p->s, p->y, &(fs_reuse){.loose = p->loose});
}

static fs_status begin(block_pass *p) {
  const fs_target *t = &p->s->graph->target;
  FS_TRY(fs_new_zero(p->scratch, &p->loose, t->n_memories));
  FS_TRY(fs_new_zero(p->scratch, &p->enough, t->n_memories));
  for (uint32_t m = 0; m < t->n_memories; m++) {
    p->loose[m] = t->memory[m].stack;
  }
  return any_loose(p) ? sync_without_loose(p) : FSCHED_OK;
}

static fs_status set_times(block_pass *p) {
  uint32_t *order;
  FS_TRY(fs_new(p->scratch, &order, p->s->n_items));
  FS_TRY(fs_block_by_start(p->ctx, p->chosen.order, p->chosen.start, p->s->n_items, order));
  return fs_retime(p->ctx, p->s, p->y, p->chosen.start, order);
}

static fs_status apply(block_pass *p) {
  bool placed = any_loose(p);
  p->y->n_stacks = count_loose(p);
  for (uint32_t r = 0; placed && r < p->s->n_residencies; r++) {
    p->s->res_address[r] = p->placement.address[r];
  }
  FS_TRY(set_times(p));
  if (placed) {
    FS_TRY(p->again(p->s, p->y, &(fs_reuse){.lanes_stay = true}));
  }
  return fs_block_plan_store(&p->chosen, p->y);
}

static fs_status collect(block_pass *p) {
  return fs_accesses_collect(p->ctx, p->s, p->y->kind, p->scratch, p->scratch, &p->acc);
}

/* --- queues chosen again --- */

static bool has_reuse(const fs_schedule *s) {
  return s->n_residencies > 0 || s->graph->target.n_resources > 0 ||
         s->graph->target.concurrency > 0;
}

/* Without reuse there are no control edges, so that queues may be chosen again at no cost.  What
 * chooses them knows neither of given starts nor of slow ops (search.c). */
static bool is_open(const fs_schedule *s) {
  return s->graph->op_start == NULL && fs_graph_first_slow(s->graph) == FS_NONE &&
         (!has_reuse(s) || s->n_items <= OPEN_ITEMS);
}

/* Several answers are kept where stacks may not fit with the best one. */
static fs_status find_answers(block_pass *p, fs_block_answers *out) {
  bool open = is_open(p->s);
  fs_block_problem problem;
  if (open && has_reuse(p->s)) {
    FS_TRY(p->again(p->s, p->y, &(fs_reuse){.loose = p->loose, .queues_open = true}));
  }
  FS_TRY(fs_block_problem_make(p->ctx, p->scratch, &p->orders, &p->acc, open, &problem));
  FS_TRY(fs_block_answers_new(p->scratch, &problem, any_loose(p) ? ANSWERS : 1, out));
  return fs_block_search(p->ctx, &problem, p->plan[0].phase, out);
}

/* Moves items to later phases where edges want it, which they do not unless control edges have
 * changed. */
static void settle_phases(const block_pass *p, uint32_t *phase) {
  const fs_orders *o = &p->orders;
  for (uint32_t i = 0; i < p->s->n_items; i++) {
    uint32_t item = p->s->order[i];
    for (uint32_t e = o->edge0[item]; e < o->edge0[item + 1]; e++) {
      uint32_t least = phase[o->edge[e].from] + o->edge[e].full;
      phase[item] = least > phase[item] ? least : phase[item];
    }
  }
}

/* Of the plans that are better than `before`, takes the first whose stacks fit, if any does. */
static fs_status take_plan(block_pass *p, const fs_block_plan *before, bool *taken) {
  *taken = false;
  for (uint32_t i = 0; i < p->n_plans && !*taken && is_better(p, &p->plan[i], before); i++) {
    bool fits = true;
    p->chosen = p->plan[i];
    if (any_loose(p)) {
      FS_TRY(place_plan(p, &p->plan[i], EXTRA_SYNCS, &fits));
    }
    *taken = fits && is_better(p, &p->chosen, before);
  }
  return FSCHED_OK;
}

static fs_status adopt(block_pass *p, const fs_block_answer *answer) {
  FS_TRY(fs_block_adopt(p->ctx, p->s, p->y, answer));
  FS_TRY(collect(p));
  FS_TRY(p->again(p->s, p->y, &(fs_reuse){.loose = p->loose, .lanes_stay = true}));
  FS_TRY(make_plans(p));
  settle_phases(p, answer->phase);
  return add_plan(p, answer->phase);
}

static fs_status go_back(block_pass *p, const fs_saved_schedule *saved) {
  fs_schedule_restore(p->s, saved);
  FS_TRY(collect(p));
  FS_TRY(sync_without_loose(p));
  return make_plans(p);
}

/* Control edges that hold for any queues, which adopting an answer begins with. */
static fs_status open_again(block_pass *p, const fs_saved_schedule *saved) {
  fs_schedule_restore(p->s, saved);
  FS_TRY(collect(p));
  return p->again(p->s, p->y, &(fs_reuse){.loose = p->loose, .queues_open = is_open(p->s)});
}

static bool promises_more(const block_pass *p, const fs_block_answer *a,
                          const fs_block_plan *before) {
  fs_block_plan promised = {.start = a->start, .makespan = a->makespan, .n_full = a->syncs};
  return is_better(p, &promised, before);
}

/* Takes an answer of less measure than the best plan, if there is one whose stacks fit. */
static fs_status choose_again(block_pass *p, bool *taken) {
  fs_block_plan before = p->plan[0];
  fs_saved_schedule saved;
  fs_block_answers answers;
  *taken = false;
  FS_TRY(fs_schedule_save(p->scratch, p->s, &saved));
  FS_TRY(find_answers(p, &answers));
  for (uint32_t i = 0; i < answers.n && promises_more(p, &answers.at[i], &before); i++) {
    if (i > 0) {
      FS_TRY(open_again(p, &saved));
    }
    FS_TRY(adopt(p, &answers.at[i]));
    FS_TRY(take_plan(p, &before, taken));
    if (*taken) {
      return FSCHED_OK;
    }
  }
  return go_back(p, &saved);
}

/* Chooses an answer or one of the plans, and addresses for it.  Memories whose stacks fit with
 * neither are placed by the list scheduler, and all begins anew. */
static fs_status decide(block_pass *p) {
  for (;;) {
    bool done;
    FS_TRY(make_plans(p));
    FS_TRY(choose_again(p, &done));
    if (done || !any_loose(p)) {
      return FSCHED_OK;
    }
    FS_TRY(place_buffers(p, &done));
    if (done) {
      return FSCHED_OK;
    }
    for (uint32_t m = too_small(p); m != FS_NONE; m = too_small(p)) {
      warn_too_small(p, m);
      p->loose[m] = false;
    }
    FS_TRY(sync_without_loose(p));
  }
}

static fs_status run_block_pass(block_pass *p) {
  p->y->makespan_before = p->s->makespan;
  FS_TRY(collect(p));
  FS_TRY(begin(p));
  FS_TRY(decide(p));
  return apply(p);
}

fs_status fs_block_run(fsched_context *ctx, fs_schedule *s, fs_sync *sync, fs_sync_fn again) {
  assert(fs_sync_has_stops(sync->kind) && sync->wait0 != NULL && again != NULL);
  FS_SCRATCH(scratch, ctx);
  block_pass p = {.ctx = ctx, .s = s, .y = sync, .again = again, .scratch = &scratch};
  return run_block_pass(&p);
}
