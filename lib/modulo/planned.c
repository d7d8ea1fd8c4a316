/* SPDX-License-Identifier: Apache-2.0 */
#include "modulo/planned.h"

#include "base/saturate.h"
#include "modulo/ahead.h"
#include "modulo/bounds.h"
#include "modulo/plain.h"

enum { SMALL_BODY = 64 };

typedef struct planner {
  fs_arena *arena;
  const fsched_graph *g;
  const fs_loop_body *body;
  const fs_modulo_split *split;   /* or NULL */
  const fs_modulo_joined *joined; /* with it */
} planner;

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

static fs_status name_limit(const planner *k, fs_loop_report *r, fs_loop_limit by,
                            const char *name) {
  r->limited_by = by;
  return keep_name(k->arena, name, strlen(name), &r->limit);
}

static fs_status name_op(const planner *k, uint32_t op, fs_loop_report *r) {
  uint32_t depth = 0, member = k->split == NULL ? op : k->split->op[op];
  for (uint32_t l = r->loop; l != FS_NONE; l = k->g->loop[l].parent) {
    depth++;
  }
  const char *name = k->g->op_name[k->body->op[member]];
  r->limited_by = FS_LOOP_BY_RECURRENCE;
  return keep_name(k->arena, name, described(name, depth), &r->limit);
}

static fs_status find_limit(const planner *k, const fs_modulo_plan *plan, fs_loop_report *r) {
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
      return name_op(k, i, r);
    case FS_MODULO_BY_RING:
      r->limited_by = FS_LOOP_BY_SLOTS;
      return keep_name(k->arena, k->body->value[i].name, k->body->value[i].n_name, &r->limit);
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

static fs_loop_ticks bound_of(const fs_modulo_plan *plan) {
  const fs_modulo_bounds *b = &plan->bounds;
  if (b->resource.den == 0 || b->recurrence.den == 0) {
    return (fs_loop_ticks){0, 1}; /* not known */
  }
  return ticks_of(fs_modulo_greater(b->resource, b->recurrence));
}

/* Lanes that are rounded up give a bound of such plans alone: that by amounts takes its place.  The
 * bounds of a body by lanes and amounts differ in nothing else. */
static fs_status bound_exactly(fsched_context *ctx, const planner *k, const fs_modulo_loop *loop,
                               fs_modulo_plan *plan) {
  fs_modulo_body body;
  fs_modulo_bounds bounds = plan->bounds;
  fs_decision fits;
  bool endless;
  if (!loop->rounded || plan->bounds.resource.den == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_modulo_body_make(ctx, k->arena, &loop->problem, 1, NULL, &body, &fits));
  if (fits.is != FS_YES || k->split != NULL) {
    plan->bounds.resource = (fs_modulo_ratio){0, 1};
    return FSCHED_OK;
  }
  body.p = &loop->exact;
  FS_TRY(fs_modulo_bounds_of(ctx, &body, &bounds, &endless));
  plan->bounds = bounds;
  return FSCHED_OK;
}

/* Whether iterations of an op come one after the other for its scratch alone. */
static bool is_in_order(const planner *k, uint32_t member) {
  const fsched_graph *g = k->g;
  uint32_t op = k->body->op[member];
  return fs_op_slow(g, op) && g->op_scratch0[op] < g->op_scratch0[op + 1];
}

/* Scratch keeps the iterations of a slow op in order, but with places for several of them it would
 * not: that is left out of the bound. */
static fs_status bound_without_scratch(fsched_context *ctx, const planner *k,
                                       const fs_modulo_loop *loop, fs_modulo_plan *plan,
                                       bool *in_order) {
  fs_modulo_problem p = loop->problem;
  fs_modulo_edge *edge;
  fs_modulo_body body;
  fs_modulo_bounds bounds;
  fs_decision fits;
  bool endless, *left_out;
  FS_TRY(fs_new(k->arena, &edge, p.n_edges));
  FS_TRY(fs_new_zero(k->arena, &left_out, p.n));
  *in_order = false;
  p.n_edges = 0;
  for (uint32_t e = loop->problem.n_edges; e-- > 0 && k->split == NULL;) {
    const fs_modulo_edge *x = &loop->problem.edge[e];
    bool own = x->from == x->to && x->distance == 1 && !left_out[x->to] && is_in_order(k, x->to);
    left_out[x->to] = left_out[x->to] || own;
    *in_order = *in_order || own;
    if (!own) {
      edge[p.n_edges++] = *x;
    }
  }
  p.edge = edge;
  if (!*in_order || plan->bounds.recurrence.den == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_modulo_body_make(ctx, k->arena, &p, 1, NULL, &body, &fits));
  if (fits.is == FS_YES) {
    FS_TRY(fs_modulo_bounds_of(ctx, &body, &bounds, &endless));
    plan->bounds.recurrence = bounds.recurrence;
  }
  return FSCHED_OK;
}

/* What no choice of queues of a class is below: cycles, and the work of each class divided among
 * its queues. */
static fs_modulo_ratio bound_of_choices(const planner *k, const fs_modulo_plan *plan) {
  const fsched_graph *g = k->g;
  const fs_target *t = &g->target;
  fs_modulo_ratio most =
      plan->bounds.recurrence.den == 0 ? (fs_modulo_ratio){0, 1} : plan->bounds.recurrence;
  for (uint32_t c = 0; c < t->n_classes; c++) {
    uint64_t work = 0, n = 0;
    for (uint32_t q = 0; q < t->n_queues; q++) {
      n += t->queue[q].class_id == c;
    }
    for (uint32_t m = 0; m < k->body->n; m++) {
      uint32_t op = k->body->op[m], gang = g->op_gang[op], d = g->op_domain[op];
      const uint32_t *queue = gang != FS_NONE ? g->gang_queue + g->gang_queue0[gang]
                                              : t->domain_queue + t->domain_queue0[d];
      uint32_t n_own = gang != FS_NONE ? g->gang_queue0[gang + 1] - g->gang_queue0[gang]
                                       : t->domain_queue0[d + 1] - t->domain_queue0[d];
      bool within = n_own > 0;
      for (uint32_t i = 0; i < n_own && within; i++) {
        within = t->queue[queue[i]].class_id == c;
      }
      uint64_t each = fs_multiply_most(g->op_time[op], gang == FS_NONE ? 1 : g->gang_members[gang]);
      work = fs_add_most(work, within ? each : 0);
    }
    if (n > 0 && work <= INT64_MAX) {
      most = fs_modulo_greater(most, fs_modulo_ratio_of((int64_t)work, (int64_t)n));
    }
  }
  return most;
}

/* Whether the parts of loops inside work all of the time that they keep their queues. */
static bool are_full(const planner *k, const fs_modulo_problem *q) {
  bool full = true;
  for (uint32_t x = 0; x < q->n; x++) {
    const fs_modulo_joined *j = &k->joined[k->split->op[x]];
    const fs_modulo_part *part = j->n_parts == 0 ? NULL : &j->part[k->split->part[x]];
    full = full && (part == NULL || part->work >= q->time[x]);
  }
  return full;
}

/* The most that an iteration keeps a queue, of what can be nowhere else: parts for their work. */
static fs_status find_work(const planner *k, const fs_modulo_problem *q, uint64_t *most) {
  uint64_t *work;
  uint32_t n_queues = k->g->target.n_queues;
  FS_TRY(fs_new_zero(k->arena, &work, n_queues));
  *most = 0;
  for (uint32_t x = 0; x < q->n; x++) {
    const fs_modulo_joined *j = &k->joined[k->split->op[x]];
    uint32_t e = q->eligible0[x];
    if (q->eligible0[x + 1] == e + 1) {
      uint64_t more = j->n_parts == 0 ? (uint64_t)q->time[x] : j->part[k->split->part[x]].work;
      work[q->eligible[e]] = fs_add_most(work[q->eligible[e]], more);
      *most = fs_max(*most, work[q->eligible[e]]);
    }
  }
  return FSCHED_OK;
}

static fs_status fill_report(const planner *k, const fs_modulo_loop *loop,
                             const fs_modulo_plan *plan, fs_loop_report *r) {
  r->ii = ticks_of(plan->ii);
  r->bound = bound_of(plan);
  r->copies = plan->copies;
  r->makespan = (uint64_t)fs_ceiling_div(plan->makespan, plan->scale);
  FS_TRY(find_limit(k, plan, r));
  bool by_memory = r->limited_by == FS_LOOP_BY_MEMORY;
  r->proven = plan->proven && !loop->rounded && !(loop->narrowed && by_memory);
  if (loop->chosen) {
    fs_modulo_ratio least = bound_of_choices(k, plan);
    r->bound = ticks_of(least);
    r->proven = r->proven && !fs_modulo_less(least, plan->ii);
  }
  bool equal = r->bound.num > 0 && r->ii.num == r->bound.num && r->ii.den == r->bound.den;
  bool sure = equal && loop->scale == 1; /* else both may only seem to be the same */
  r->proven = r->proven && !loop->single && !loop->in_order;
  r->proven = (r->proven || sure) && !loop->widened;
  if (k->split != NULL) { /* parts have times that were planned before */
    fs_modulo_ratio least = plan->bounds.resource;
    r->proven = r->proven && least.den != 0 && !fs_modulo_less(least, plan->ii);
    r->bound = ticks_of(least.den == 0 ? (fs_modulo_ratio){0, 1} : least);
    if (!are_full(k, &loop->problem)) {
      FS_TRY(find_work(k, &loop->problem, &r->bound.num));
      r->bound.den = 1;
      r->proven = r->proven && r->ii.num <= fs_multiply_most(r->bound.num, r->ii.den);
    }
  }
  r->n_slots = k->body->n_values;
  FS_TRY(fs_new(k->arena, &r->slots, r->n_slots));
  for (uint32_t v = 0; v < r->n_slots; v++) {
    const fs_body_value *x = &k->body->value[v];
    r->slots[v] = (fs_loop_slots){.depth = (uint32_t)fs_min(plan->depth[v], k->body->versions),
                                  .prefetch = fs_modulo_ahead_planned(&loop->problem, plan, v),
                                  .bytes = x->size,
                                  .given = x->depth > 0};
    FS_TRY(keep_name(k->arena, x->name, x->n_name, &r->slots[v].buffer));
  }
  return FSCHED_OK;
}

/* Adds the ties that are given. */
static fs_status add_ties(const planner *k, const fs_planned_options *o, fs_modulo_problem *q) {
  fs_modulo_tie *tie;
  FS_TRY(fs_new(k->arena, &tie, (size_t)q->n_ties + o->n_ties));
  for (uint32_t i = 0; i < q->n_ties + o->n_ties; i++) {
    tie[i] = i < q->n_ties ? q->tie[i] : o->tie[i - q->n_ties];
  }
  q->tie = tie;
  q->n_ties += o->n_ties;
  return FSCHED_OK;
}

/* Gives the ops that have parts these. */
static fs_status split_loop(planner *k, const fs_planned_options *o, fs_planned_loop *out) {
  const fs_modulo_joined *joined = o->joined;
  fs_modulo_split *split;
  if (joined == NULL || out->loop.why_not != NULL) {
    return FSCHED_OK;
  }
  if (out->loop.scale != 1) {
    out->loop.why_not = "an op takes no time, and runs of a loop in it are joined";
    return FSCHED_OK;
  }
  FS_TRY(fs_new(k->arena, &split, 1));
  FS_TRY(fs_modulo_split_parts(k->arena, &out->loop.problem, joined, split));
  FS_TRY(add_ties(k, o, &split->problem));
  k->split = out->split = split;
  k->joined = joined;
  out->loop.problem = split->problem;
  out->loop.time = split->problem.time;
  out->loop.latency = split->problem.latency;
  return FSCHED_OK;
}

static bool any_ahead(const fs_modulo_problem *p) {
  bool any = false;
  for (uint32_t r = 0; r < p->n_rings && !any; r++) {
    any = p->ring[r].ahead > 0;
  }
  return any;
}

/* Makes the search. */
static fs_status search(fsched_context *ctx, const planner *k, const fs_planned_options *options,
                        fs_planned_loop *out) {
  const fs_loop_body *body = k->body;
  fs_loop_report *r = &out->report;
  bool small = body->n <= SMALL_BODY;
  fs_modulo_options o = {.steps = small ? options->steps : options->steps * SMALL_BODY / body->n,
                         .copies = out->loop.single || options->single ? 1 : 0,
                         .quick = !small};
  fs_modulo_plan *plan;
  FS_TRY(fs_new_zero(k->arena, &plan, 1));
  FS_TRY(fs_modulo_schedule(ctx, k->arena, &out->loop.problem, &o, plan));
  if (options->always && plan->found.is == FS_NOT_DECIDED) {
    FS_TRY(fs_modulo_plain(k->arena, &out->loop.problem, plan));
  }
  FS_TRY(bound_exactly(ctx, k, &out->loop, plan));
  FS_TRY(bound_without_scratch(ctx, k, &out->loop, plan, &out->loop.in_order));
  fs_modulo_loop_unscale(&out->loop, plan);
  if (plan->found.is == FS_YES && !fs_modulo_ahead_kept(&out->loop.problem, plan)) {
    r->why_not = "no plan was found that keeps a prefetch that is given";
    r->bound = bound_of(plan);
    return FSCHED_OK;
  }
  if (plan->found.is != FS_YES) {
    bool ordered = plan->limited_by != FS_MODULO_BY_MEMORY && any_ahead(&out->loop.problem);
    out->unfit = plan->found.is == FS_NO && !ordered;
    r->why_not = out->unfit                ? "its slots do not fit"
                 : plan->found.is == FS_NO ? "no order of its ops keeps a prefetch that is given"
                                           : "it is too large";
    r->bound = bound_of(plan);
    return FSCHED_OK;
  }
  out->plan = plan;
  return fill_report(k, &out->loop, plan, r);
}

fs_status fs_planned_loop_make(fsched_context *ctx, fs_arena *arena, const fsched_graph *g,
                               const fs_loop_body *body, const fs_planned_options *options,
                               fs_planned_loop *out) {
  assert(body->n > 0 && (options->joined == NULL || options->single));
  planner k = {arena, g, body, NULL, NULL};
  uint32_t b = g->op_body_op[body->op[0]];
  *out = (fs_planned_loop){
      .report = {
          .loop = g->body_op_loop[b], .trip = body->trip, .least = body->trip, .runs = body->runs}};
  const char *name = g->loop[out->report.loop].name;
  FS_TRY(keep_name(arena, name, strlen(name), &out->report.name));
  if (!body->periodic) {
    out->report.why_not = "its iterations are ordered unlike each other";
    return FSCHED_OK;
  }
  FS_TRY(fs_modulo_loop_make(arena, g, body, options->held_back, &out->loop));
  FS_TRY(split_loop(&k, options, out));
  out->report.why_not = out->loop.why_not;
  return out->loop.why_not != NULL ? FSCHED_OK : search(ctx, &k, options, out);
}
