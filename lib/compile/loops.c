/* SPDX-License-Identifier: Apache-2.0 */
/* The order.  In one walk over the ops in topological order, each gets a key, the time at which it
 * could start if every queue were free; an op of a planned loop not before its iteration begins, at
 *
 *     base of the run + planned start + iteration * interval
 *
 * where the first op of a run decides the base.  Ops sorted by keys, and by their topological
 * places where keys are equal, are a linear extension. */
#include "compile/loops.h"

#include <stdlib.h>

#include "base/saturate.h"
#include "model/loop_body.h"
#include "modulo/planned.h"

/* Steps of the lowest effort for one loop, and for how many loops there are as many for each. */
enum { STEPS = 1 << 20, LOOPS = 8, LEAST_STEPS = 1 << 12 };

/* Times above this are not added up. */
#define LATEST ((uint64_t)INT64_MAX / 8)

typedef struct loop_planner {
  fsched_context *ctx;
  fs_arena *arena;
  const fsched_graph *g;
  fs_loop_plans *out;
  uint64_t steps; /* of each search */
  bool held_back;
  fs_loop_index index;
  uint32_t *report_of;   /* per loop: its report, or FS_NONE */
  fs_modulo_plan **plan; /* per report; NULL: none was found */
} loop_planner;

static fs_status plan_loop(loop_planner *k, uint32_t loop) {
  uint32_t at = k->out->n++;
  fs_loop_body body;
  FS_TRY(fs_loop_body_find(k->ctx, k->arena, k->g, &k->index, loop, &body));
  k->report_of[loop] = at;
  fs_planned_loop planned;
  fs_planned_options o = {.steps = k->steps, .held_back = k->held_back};
  FS_TRY(fs_planned_loop_make(k->ctx, k->arena, k->g, &body, &o, &planned));
  k->out->report[at] = planned.report;
  k->plan[at] = planned.plan;
  if (planned.plan != NULL) {
    uint64_t last = fs_multiply_most((uint64_t)planned.plan->period, body.trip);
    k->plan[at] = last < LATEST ? planned.plan : NULL; /* else it is of no use for an order */
  }
  return FSCHED_OK;
}

/* --- the order --- */

typedef struct order_key {
  uint64_t at;
  uint32_t place, op; /* place: in the topological order */
} order_key;

typedef struct order_maker {
  const loop_planner *k;
  uint64_t *at;  /* per op: its key */
  uint64_t *run; /* per report: one more than the run whose base is known */
  int64_t *base;
} order_maker;

static int by_key(const void *a, const void *b) {
  const order_key *x = a, *y = b;
  return x->at != y->at         ? (x->at < y->at ? -1 : 1)
         : x->place != y->place ? (x->place < y->place ? -1 : 1)
                                : 0;
}

/* The planned start of a member in an iteration, without its run's base. */
static int64_t offset_of(const fs_modulo_plan *plan, uint32_t n, uint32_t member,
                         uint64_t iteration) {
  assert(plan->copies > 0 && member < n);
  uint64_t copy = iteration % plan->copies, period = iteration / plan->copies;
  return fs_floor_div(plan->start[copy * n + member] + (int64_t)period * plan->period, plan->scale);
}

/* Not before the plan says. */
static void delay(order_maker *m, uint32_t op) {
  const loop_planner *k = m->k;
  uint32_t b = k->g->op_body_op[op], loop = k->g->body_op_loop[b];
  uint32_t at = loop == FS_NONE ? FS_NONE : k->report_of[loop];
  if (at == FS_NONE || k->plan[at] == NULL) {
    return;
  }
  uint64_t trip = k->out->report[at].trip, nth = k->index.nth[op], run = nth / trip + 1;
  uint32_t n = k->index.body0[loop + 1] - k->index.body0[loop];
  int64_t offset = offset_of(k->plan[at], n, k->index.member[b], nth % trip);
  if (m->run[at] != run) {
    m->run[at] = run;
    m->base[at] = (int64_t)m->at[op] - offset;
  }
  int64_t planned = m->base[at] + offset;
  m->at[op] = fs_max(m->at[op], planned < 0 ? 0 : (uint64_t)planned);
}

static void walk_keys(order_maker *m, order_key *key) {
  const fsched_graph *g = m->k->g;
  for (uint32_t i = 0; i < g->n_ops; i++) {
    uint32_t op = g->topo[i];
    for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
      uint32_t from = g->pred[e];
      m->at[op] = fs_max(m->at[op], fs_add_most(m->at[from], fs_op_latency(g, from)));
    }
    delay(m, op);
    key[i] = (order_key){m->at[op], i, op};
  }
}

static fs_status make_order(const loop_planner *k, fs_arena *scratch) {
  const fsched_graph *g = k->g;
  order_maker m = {.k = k};
  order_key *key;
  FS_TRY(fs_new_zero(scratch, &m.at, g->n_ops));
  FS_TRY(fs_new_zero(scratch, &m.run, k->out->n));
  FS_TRY(fs_new_zero(scratch, &m.base, k->out->n));
  FS_TRY(fs_new(scratch, &key, g->n_ops));
  FS_TRY(fs_new(k->arena, &k->out->position, g->n_ops));
  walk_keys(&m, key);
  qsort(key, g->n_ops, sizeof *key, by_key);
  for (uint32_t i = 0; i < g->n_ops; i++) {
    k->out->position[key[i].op] = i;
  }
  return FSCHED_OK;
}

/* Many loops share what LOOPS of them would take. */
static void share_steps(loop_planner *k) {
  uint32_t n = 0;
  for (uint32_t l = 0; l < k->g->n_loops; l++) {
    n += k->index.inner[l];
  }
  if (n > LOOPS) {
    k->steps = fs_max(k->steps * LOOPS / n, LEAST_STEPS);
  }
}

static fs_status plan_all(loop_planner *k, fs_arena *scratch) {
  const fsched_graph *g = k->g;
  bool any = false;
  FS_TRY(fs_loop_index_make(scratch, g, &k->index));
  FS_TRY(fs_new_none(scratch, &k->report_of, g->n_loops));
  FS_TRY(fs_new_zero(scratch, &k->plan, g->n_loops));
  FS_TRY(fs_new(k->arena, &k->out->report, g->n_loops));
  share_steps(k);
  for (uint32_t l = 0; l < g->n_loops; l++) {
    if (k->index.inner[l]) {
      FS_TRY(plan_loop(k, l));
      any = any || k->plan[k->report_of[l]] != NULL;
    }
  }
  uint64_t all = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    all = fs_add_most(all, fs_op_latency(g, op));
  }
  return any && all < LATEST ? make_order(k, scratch) : FSCHED_OK;
}

fs_status fs_loops_plan(fsched_context *ctx, fs_arena *arena, const fsched_graph *g,
                        uint32_t effort, bool held_back, fs_loop_plans *out) {
  assert(effort <= FSCHED_EFFORT_MOST);
  *out = (fs_loop_plans){0};
  loop_planner k = {.ctx = ctx,
                    .arena = arena,
                    .g = g,
                    .out = out,
                    .steps = (uint64_t)STEPS << effort,
                    .held_back = held_back};
  FS_SCRATCH(scratch, ctx);
  return plan_all(&k, &scratch);
}

/* --- the schedule --- */

static fs_status keep_name(fs_arena *arena, const char *name, size_t n, const char **out) {
  *out = fs_arena_strndup(arena, name, n);
  return *out == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

/* Finds how long each loop's last run takes. */
static fs_status measure_spans(fs_schedule *s, fs_arena *scratch) {
  const fsched_graph *g = s->graph;
  uint64_t *seen;
  uint32_t *report_of;
  fs_tick *begin, *end;
  FS_TRY(fs_new_zero(scratch, &seen, g->n_body_ops));
  FS_TRY(fs_new_none(scratch, &report_of, g->n_loops));
  FS_TRY(fs_new_none(scratch, &begin, s->n_loops)); /* FS_TICK_NONE */
  FS_TRY(fs_new_zero(scratch, &end, s->n_loops));
  for (uint32_t i = 0; i < s->n_loops; i++) {
    report_of[s->loop[i].loop] = i;
  }
  for (uint32_t op = g->n_ops; op-- > 0;) {
    uint32_t b = g->op_body_op[op], loop = g->body_op_loop[b];
    uint32_t at = loop == FS_NONE ? FS_NONE : report_of[loop];
    if (at != FS_NONE && seen[b]++ < s->loop[at].trip) {
      begin[at] = s->start[op] < begin[at] ? s->start[op] : begin[at];
      end[at] = fs_max(end[at], s->end[op]);
    }
  }
  for (uint32_t i = 0; i < s->n_loops; i++) {
    s->loop[i].span = end[i] - begin[i];
  }
  return FSCHED_OK;
}

static fs_status keep_report(fs_schedule *s, const fs_loop_report *from, fs_loop_report *r) {
  *r = *from;
  FS_TRY(keep_name(&s->arena, from->name, strlen(from->name), &r->name));
  FS_TRY(fs_new(&s->arena, &r->slots, r->n_slots));
  for (uint32_t k = 0; k < r->n_slots; k++) {
    r->slots[k] = from->slots[k];
    const char *name = r->slots[k].buffer;
    FS_TRY(keep_name(&s->arena, name, strlen(name), &r->slots[k].buffer));
  }
  return r->limit == NULL ? FSCHED_OK : keep_name(&s->arena, r->limit, strlen(r->limit), &r->limit);
}

fs_status fs_loops_keep(fsched_context *ctx, const fs_loop_plans *plans, fs_schedule *s) {
  const fsched_graph *g = s->graph;
  assert(plans->n <= g->n_loops);
  FS_TRY(fs_new(&s->arena, &s->loop, plans->n + g->n_rolled));
  for (uint32_t i = 0; i < plans->n; i++) {
    FS_TRY(keep_report(s, &plans->report[i], &s->loop[s->n_loops++]));
  }
  for (uint32_t i = 0; i < g->n_rolled; i++) {
    FS_TRY(keep_report(s, g->rolled[i].report, &s->loop[s->n_loops++]));
  }
  FS_SCRATCH(scratch, ctx);
  return plans->n == 0 ? FSCHED_OK : measure_spans(s, &scratch);
}
