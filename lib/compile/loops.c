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
#include "modulo/loop.h"
#include "modulo/modulo.h"

/* Steps of the lowest effort for one loop, and for how many loops there are as many for each. */
enum { STEPS = 1 << 20, LOOPS = 8, LEAST_STEPS = 1 << 12 };

/* Times above this are not added up. */
#define LATEST ((uint64_t)INT64_MAX / 8)

/* Of larger bodies only the interval is looked for, in fewer steps, since these take longer. */
enum { SMALL_BODY = 64 };

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

/* --- reports --- */

/* The bytes of an op's name as it was described, without the iterations of `depth` loops. */
static uint32_t described(const char *name, uint32_t depth) {
  size_t n = strlen(name);
  for (; depth > 0; depth--) {
    while (n > 0 && name[n - 1] != '[') {
      n--;
    }
    n -= n > 0;
  }
  return (uint32_t)n;
}

static fs_status keep_name(fs_arena *arena, const char *name, size_t n, const char **out) {
  *out = fs_arena_strndup(arena, name, n);
  return *out == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

static fs_status name_limit(const loop_planner *k, fs_loop_report *r, fs_loop_limit by,
                            const char *name) {
  r->limited_by = by;
  return keep_name(k->arena, name, strlen(name), &r->limit);
}

static fs_status name_op(const loop_planner *k, const fs_loop_body *body, uint32_t member,
                         fs_loop_report *r) {
  uint32_t depth = 0;
  for (uint32_t l = r->loop; l != FS_NONE; l = k->g->loop[l].parent) {
    depth++;
  }
  const char *name = k->g->op_name[body->op[member]];
  r->limited_by = FS_LOOP_BY_RECURRENCE;
  return keep_name(k->arena, name, described(name, depth), &r->limit);
}

static fs_status find_limit(const loop_planner *k, const fs_loop_body *body,
                            const fs_modulo_plan *plan, fs_loop_report *r) {
  const fs_target *t = &k->g->target;
  uint32_t i = plan->limited_index;
  switch (plan->limited_by) {
    case FS_MODULO_BY_QUEUES:
      return name_limit(k, r, FS_LOOP_BY_QUEUE, t->queue[i].name);
    case FS_MODULO_BY_ROLES:
      return name_limit(k, r, FS_LOOP_BY_ROLES, t->queue[i].name);
    case FS_MODULO_BY_RESOURCE:
      return name_limit(k, r, FS_LOOP_BY_RESOURCE,
                        i < t->n_resources ? t->resource_name[i] : "concurrency");
    case FS_MODULO_BY_RECURRENCE:
      return name_op(k, body, i, r);
    case FS_MODULO_BY_RING:
      r->limited_by = FS_LOOP_BY_SLOTS;
      return keep_name(k->arena, body->value[i].name, body->value[i].n_name, &r->limit);
    case FS_MODULO_BY_MEMORY:
      return name_limit(k, r, FS_LOOP_BY_MEMORY, t->memory[i].name);
    case FS_MODULO_BY_ORDER:
      break;
  }
  r->limited_by = FS_LOOP_BY_ORDER;
  return FSCHED_OK;
}

static fs_loop_ticks ticks_of(fs_modulo_ratio x) {
  return (fs_loop_ticks){(uint64_t)x.num, (uint64_t)x.den};
}

static fs_loop_ticks bound_of(const fs_modulo_loop *loop, const fs_modulo_plan *plan) {
  const fs_modulo_bounds *b = &plan->bounds;
  if (b->resource.den == 0 || b->recurrence.den == 0) {
    return (fs_loop_ticks){0, 1}; /* not known */
  }
  return ticks_of(loop->rounded ? b->recurrence : fs_modulo_greater(b->resource, b->recurrence));
}

static fs_status fill_report(const loop_planner *k, const fs_loop_body *body,
                             const fs_modulo_loop *loop, const fs_modulo_plan *plan,
                             fs_loop_report *r) {
  r->ii = ticks_of(plan->ii);
  r->bound = bound_of(loop, plan);
  r->copies = plan->copies;
  r->makespan = (uint64_t)fs_ceiling_div(plan->makespan, plan->scale);
  FS_TRY(find_limit(k, body, plan, r));
  bool by_memory = r->limited_by == FS_LOOP_BY_MEMORY;
  r->proven = plan->proven && !loop->widened && !loop->rounded && !(loop->narrowed && by_memory);
  r->n_slots = body->n_values;
  FS_TRY(fs_new(k->arena, &r->slots, r->n_slots));
  for (uint32_t v = 0; v < r->n_slots; v++) {
    const fs_body_value *x = &body->value[v];
    r->slots[v] = (fs_loop_slots){.depth = (uint32_t)fs_min(plan->depth[v], body->trip),
                                  .bytes = x->size,
                                  .given = x->depth > 0};
    FS_TRY(keep_name(k->arena, x->name, x->n_name, &r->slots[v].buffer));
  }
  return FSCHED_OK;
}

static fs_status search(loop_planner *k, const fs_loop_body *body, uint32_t at) {
  fs_loop_report *r = &k->out->report[at];
  fs_modulo_loop loop;
  FS_TRY(fs_modulo_loop_make(k->arena, k->g, body, k->held_back, &loop));
  r->why_not = loop.why_not;
  if (r->why_not != NULL) {
    return FSCHED_OK;
  }
  bool small = body->n <= SMALL_BODY;
  fs_modulo_options o = {.steps = small ? k->steps : k->steps * SMALL_BODY / body->n,
                         .copies = loop.single ? 1 : 0,
                         .quick = !small};
  fs_modulo_plan *plan;
  FS_TRY(fs_new_zero(k->arena, &plan, 1));
  FS_TRY(fs_modulo_schedule(k->ctx, k->arena, &loop.problem, &o, plan));
  if (plan->found.is != FS_YES) {
    r->why_not = plan->found.is == FS_NO ? "its slots do not fit" : "it is too large";
    r->bound = bound_of(&loop, plan);
    return FSCHED_OK;
  }
  uint64_t last = fs_multiply_most((uint64_t)plan->period, body->trip);
  k->plan[at] = last < LATEST ? plan : NULL; /* else it is of no use for an order */
  return fill_report(k, body, &loop, plan, r);
}

static fs_status plan_loop(loop_planner *k, uint32_t loop) {
  uint32_t at = k->out->n++;
  fs_loop_body body;
  FS_TRY(fs_loop_body_find(k->ctx, k->arena, k->g, &k->index, loop, &body));
  k->report_of[loop] = at;
  k->out->report[at] = (fs_loop_report){.loop = loop, .trip = body.trip, .runs = body.runs};
  if (!body.periodic) {
    k->out->report[at].why_not = "its iterations are ordered unlike each other";
    return FSCHED_OK;
  }
  return search(k, &body, at);
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

fs_status fs_loops_keep(fsched_context *ctx, const fs_loop_plans *plans, fs_schedule *s) {
  assert(plans->n <= s->graph->n_loops);
  if (plans->n == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&s->arena, &s->loop, plans->n));
  s->n_loops = plans->n;
  for (uint32_t i = 0; i < plans->n; i++) {
    fs_loop_report *r = &s->loop[i];
    *r = plans->report[i];
    FS_TRY(fs_new(&s->arena, &r->slots, r->n_slots));
    for (uint32_t k = 0; k < r->n_slots; k++) {
      r->slots[k] = plans->report[i].slots[k];
      const char *name = r->slots[k].buffer;
      FS_TRY(keep_name(&s->arena, name, strlen(name), &r->slots[k].buffer));
    }
    if (r->limit != NULL) {
      FS_TRY(keep_name(&s->arena, r->limit, strlen(r->limit), &r->limit));
    }
  }
  FS_SCRATCH(scratch, ctx);
  return measure_spans(s, &scratch);
}
