/* SPDX-License-Identifier: Apache-2.0 */
#include "modulo/modulo.h"

#include "modulo/bounds.h"
#include "modulo/goals.h"
#include "modulo/least.h"
#include "modulo/problem/fitting.h"
#include "modulo/settle.h"
#include "modulo/turns.h"

enum {
  TRIAL = 16,        /* part of the steps that a first trial takes */
  OTHER = 4,         /* part that another way takes */
  LONG_CLAIMS = 160, /* of a body that gets more than the trial: pairs of claims take time */
  USUAL_STEPS = 1 << 27,
  USUAL_OPS = 512,
  USUAL_COPIES = 4,
  ROLE_STEPS = 1 << 20
};

typedef struct modulo_planner {
  fsched_context *ctx;
  fs_arena *arena, *scratch;
  const fs_modulo_problem *p;
  fs_modulo_problem several; /* with the room that copies have */
  fs_modulo_options options;
  fs_modulo_body body;
  fs_modulo_choice best; /* of `body` */
  fs_modulo_plan *out;
  uint32_t limit_memory;   /* the memory, where it makes the interval longer */
  fs_modulo_ratio free;    /* the interval that is known to be possible with more memory */
  uint32_t *fitting_depth; /* per ring, of the plan of one copy */
  uint32_t *alone_depth;   /* per ring: the most that fits if the others have their least */
  bool open;               /* a search for a lesser interval with more copies ran out of steps */
  bool may_fit;            /* copies have a lesser interval with depths that may fit */
} modulo_planner;

static fs_modulo_ratio greatest_bound(const fs_modulo_bounds *bounds) {
  return fs_modulo_greater(bounds->resource, bounds->recurrence);
}

static fs_status find_bounds(modulo_planner *m, bool *endless) {
  fs_modulo_bounds *bounds = &m->out->bounds;
  FS_TRY(fs_modulo_bounds_of(m->ctx, &m->body, bounds, endless));
  return fs_modulo_roles(m->ctx, &m->body, ROLE_STEPS, &bounds->roles, &bounds->roles_by,
                         &bounds->roles_index);
}

/* The first memory that the plan overfills, or FS_NONE. */
static uint32_t overfull_memory(const fs_modulo_problem *p, const uint64_t *bytes) {
  for (uint32_t k = 0; k < p->n_memories; k++) {
    if (bytes[k] > p->capacity[k]) {
      return k;
    }
  }
  return FS_NONE;
}

static fs_status plan_one_copy(modulo_planner *m) {
  fs_modulo_plan *out = m->out;
  fs_modulo_ratio lower = fs_modulo_greater(greatest_bound(&out->bounds), out->bounds.roles);
  fs_modulo_least least = {.body = &m->body, .lower = lower, .steps = m->options.steps};
  FS_TRY(fs_modulo_least_period(m->ctx, &least, &m->best));
  out->steps += least.taken;
  out->found = least.found;
  out->proven = least.proven;
  if (least.found.is != FS_YES) {
    return FSCHED_OK;
  }
  FS_TRY(fs_modulo_settle(m->ctx, m->arena, &m->body, &m->best, out));
  uint32_t overfull = overfull_memory(m->p, out->bytes);
  m->free = out->ii;
  if (overfull == FS_NONE) {
    return FSCHED_OK;
  }
  least = (fs_modulo_least){.body = &m->body, .memory = true, .steps = m->options.steps};
  least.lower = out->proven ? m->free : lower;
  FS_TRY(fs_modulo_least_period(m->ctx, &least, &m->best));
  out->steps += least.taken;
  out->found = least.found;
  out->proven = least.proven;
  m->limit_memory = overfull;
  if (least.found.is != FS_YES) {
    return FSCHED_OK;
  }
  FS_TRY(fs_modulo_settle(m->ctx, m->arena, &m->body, &m->best, out));
  m->limit_memory = fs_modulo_less(m->free, out->ii) ? overfull : FS_NONE;
  return FSCHED_OK;
}

/* --- copies --- */

/* Depths of rings in a body of copies where no memory limits them: their own, the largest that they
 * may have, or no limit. */
static fs_status depths_of_copies(const modulo_planner *m, uint32_t **depth) {
  const fs_modulo_problem *p = m->p;
  FS_TRY(fs_new(m->scratch, depth, p->n_rings));
  for (uint32_t r = 0; r < p->n_rings; r++) {
    (*depth)[r] = p->ring[r].depth != 0  ? p->ring[r].depth
                  : p->ring[r].most != 0 ? p->ring[r].most
                                         : FS_NONE;
  }
  return FSCHED_OK;
}

static fs_modulo_ratio times(fs_modulo_ratio a, int64_t n) {
  return fs_modulo_ratio_of(a.num * n, a.den);
}

typedef struct copies_try {
  fs_modulo_body body;
  fs_modulo_choice choice;
  fs_modulo_plan plan;
} copies_try;

/* Steps ran out before the least interval was known. */
static bool is_left_open(const fs_modulo_plan *plan) {
  return plan->found.is == FS_NOT_DECIDED || (plan->found.is == FS_YES && !plan->proven);
}

/* Looks for intervals from a lower bound up to that of the best plan. */
static fs_status ask_for_less(modulo_planner *m, copies_try *t, fs_modulo_ratio lower,
                              uint64_t steps) {
  uint32_t copies = t->body.copies;
  fs_modulo_least least = {.body = &t->body, .lower = times(lower, copies), .steps = steps};
  least.memory = t->body.n_open > 0;
  least.upper = times(m->out->ii, copies);
  FS_TRY(fs_modulo_least_period(m->ctx, &least, &t->choice));
  m->out->steps += least.taken;
  t->plan.found = least.found;
  t->plan.proven = least.proven;
  return FSCHED_OK;
}

/* Looks for a plan of the least interval in which queues or lanes take turns. */
static fs_status try_turns(modulo_planner *m, copies_try *t, fs_modulo_ratio lower,
                           const uint32_t *depth, uint64_t steps) {
  fs_modulo_body turned;
  fs_modulo_choice choice, unrolled;
  fs_decision found;
  bool keep;
  FS_TRY(fs_modulo_body_make(m->ctx, m->scratch, &m->several, 1, depth, &turned, &found));
  assert(found.is == FS_YES);
  fs_modulo_take_turns(&turned, t->body.copies, &keep);
  if (!keep) {
    return FSCHED_OK;
  }
  bool memory = turned.n_open > 0;
  fs_modulo_question q = {lower, -1, memory, FS_UNBOUNDED, fs_max(steps / TRIAL, 1)};
  FS_TRY(fs_modulo_choice_new(m->scratch, &turned, &choice));
  FS_TRY(fs_modulo_choice_new(m->scratch, &t->body, &unrolled));
  FS_TRY(fs_modulo_fixed(m->ctx, &turned, &q, &choice, &found, &m->out->steps));
  if (found.is != FS_YES) {
    return FSCHED_OK;
  }
  fs_modulo_unroll_turns(&turned, &choice, &t->body, &unrolled);
  FS_TRY(fs_modulo_tighten(m->ctx, &t->body, &unrolled, &keep));
  if (keep) {
    fs_modulo_choice_copy(&t->body, &t->choice, &unrolled);
    t->plan.found = found;
    t->plan.proven = true; /* it is the lower bound */
  }
  return FSCHED_OK;
}

/* The same for copies in any order, where that is better. */
static fs_status try_any_order(modulo_planner *m, copies_try *t, fs_modulo_ratio lower,
                               const uint32_t *depth, uint64_t steps) {
  copies_try other = {.plan = t->plan};
  fs_decision fits;
  if (!t->body.in_order || depth == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_modulo_body_make_free(m->ctx, m->scratch, &m->several, t->body.copies, depth,
                                  &other.body, &fits));
  assert(fits.is == FS_YES); /* as there are no more arcs */
  FS_TRY(fs_modulo_choice_new(m->scratch, &other.body, &other.choice));
  FS_TRY(ask_for_less(m, &other, lower, fs_max(steps / OTHER, 1)));
  bool found = other.plan.found.is == FS_YES, had = t->plan.found.is == FS_YES;
  bool better = found && (!had || fs_modulo_less(other.choice.period, t->choice.period));
  if (better || other.plan.found.is == FS_NO) {
    *t = other;
  }
  return FSCHED_OK;
}

/* Looks for a plan of a body of so many copies, of these depths, with a lesser interval than the
 * best.  NULL: of any depths that fit. */
static fs_status find_copies(modulo_planner *m, uint32_t copies, const uint32_t *depth,
                             uint64_t steps, copies_try *t) {
  const fs_modulo_plan *best = m->out;
  fs_decision fits;
  uint32_t index;
  fs_modulo_limit by;
  fs_modulo_ratio roles;
  t->plan = *best;
  t->plan.found = fs_not_decided();
  FS_TRY(fs_modulo_body_make(m->ctx, m->scratch, &m->several, copies, depth, &t->body, &fits));
  if (fits.is != FS_YES || t->body.n > m->options.ops) {
    return FSCHED_OK;
  }
  FS_TRY(fs_modulo_roles(m->ctx, &t->body, ROLE_STEPS, &roles, &by, &index));
  fs_modulo_ratio lower = fs_modulo_greater(greatest_bound(&best->bounds), roles);
  if (!fs_modulo_less(lower, best->ii)) {
    t->plan.found = fs_decided_by(false);
    return FSCHED_OK;
  }
  FS_TRY(fs_modulo_choice_new(m->scratch, &t->body, &t->choice));
  FS_TRY(ask_for_less(m, t, lower, steps / TRIAL));
  if (is_left_open(&t->plan)) {
    FS_TRY(try_turns(m, t, lower, depth, steps));
  }
  if (is_left_open(&t->plan)) {
    FS_TRY(try_any_order(m, t, lower, depth, steps));
  }
  if (is_left_open(&t->plan) && t->body.n_claims <= LONG_CLAIMS) {
    FS_TRY(ask_for_less(m, t, lower, steps));
  }
  t->plan.steps = m->out->steps;
  return t->plan.found.is == FS_YES
             ? fs_modulo_settle(m->ctx, m->arena, &t->body, &t->choice, &t->plan)
             : FSCHED_OK;
}

static void take_copies(modulo_planner *m, const copies_try *t) {
  m->body = t->body;
  m->best = t->choice;
  *m->out = t->plan;
}

static fs_status try_depths(modulo_planner *m, uint32_t copies, const uint32_t *depth,
                            uint64_t steps) {
  copies_try t;
  FS_TRY(find_copies(m, copies, depth, steps, &t));
  if (t.plan.found.is == FS_YES && overfull_memory(&m->several, t.plan.bytes) == FS_NONE) {
    take_copies(m, &t);
  }
  return FSCHED_OK;
}

/* Tries depths that fit: those of the plan of one copy, then some that are below those of a plan
 * that does not. */
static fs_status try_fitting(modulo_planner *m, uint32_t copies, const fs_modulo_plan *plan) {
  fs_modulo_fitting fitting;
  uint64_t steps = m->options.steps / 4;
  fs_modulo_ratio free = plan->ii;
  FS_TRY(try_depths(m, copies, m->fitting_depth, steps));
  FS_TRY(fs_modulo_fitting_depths(m->scratch, &m->several, plan->depth, &fitting));
  for (uint32_t k = 0; k < fitting.n && fs_modulo_less(free, m->out->ii); k++) {
    FS_TRY(try_depths(m, copies, fitting.depth[k], fs_max(steps / FS_FITTING_MOST, 1)));
  }
  return FSCHED_OK;
}

/* Asks whether any depths that fit have a lesser interval: first each ring alone, then all. */
static fs_status refute_fitting(modulo_planner *m, uint32_t copies) {
  copies_try t;
  uint64_t steps = m->options.steps / 4;
  FS_TRY(find_copies(m, copies, m->alone_depth, steps, &t));
  if (t.plan.found.is == FS_NO) {
    return FSCHED_OK;
  }
  fs_modulo_fitting fitting;
  FS_TRY(fs_modulo_fitting_depths(m->scratch, &m->several, m->alone_depth, &fitting));
  m->may_fit = m->may_fit || !fitting.all;
  for (uint32_t k = 0; k < fitting.n && !m->may_fit; k++) {
    FS_TRY(find_copies(m, copies, fitting.depth[k], fs_max(steps / FS_FITTING_MOST, 1), &t));
    m->may_fit = is_left_open(&t.plan);
    if (t.plan.found.is == FS_YES && overfull_memory(&m->several, t.plan.bytes) == FS_NONE) {
      take_copies(m, &t);
    }
  }
  return FSCHED_OK;
}

/* Looks for a plan of whatever depths fit. */
static fs_status try_open(modulo_planner *m, uint32_t copies) {
  copies_try t;
  FS_TRY(find_copies(m, copies, NULL, m->options.steps / 4, &t));
  m->may_fit = m->may_fit || is_left_open(&t.plan);
  if (t.plan.found.is == FS_YES && overfull_memory(&m->several, t.plan.bytes) == FS_NONE) {
    take_copies(m, &t);
  }
  return FSCHED_OK;
}

/* First with depths that nothing limits; if what they come to does not fit, with some of those that
 * do, and then only the interval of the others is proven. */
static fs_status try_copies(modulo_planner *m, uint32_t copies) {
  copies_try t;
  uint32_t *depth;
  FS_TRY(depths_of_copies(m, &depth));
  FS_TRY(find_copies(m, copies, depth, m->options.steps / 4, &t));
  m->open = m->open || is_left_open(&t.plan);
  if (t.plan.found.is != FS_YES) {
    return FSCHED_OK;
  }
  uint32_t overfull = overfull_memory(&m->several, t.plan.bytes);
  if (overfull == FS_NONE) {
    take_copies(m, &t);
    return FSCHED_OK;
  }
  if (fs_modulo_in_order(m->p)) {
    FS_TRY(try_open(m, copies));
  } else {
    FS_TRY(try_fitting(m, copies, &t.plan));
    FS_TRY(fs_modulo_less(t.plan.ii, m->out->ii) ? refute_fitting(m, copies) : FSCHED_OK);
  }
  bool limits = fs_modulo_less(t.plan.ii, m->out->ii);
  m->limit_memory = limits ? overfull : m->limit_memory;
  m->out->proven = limits ? m->out->proven : t.plan.proven;
  m->free = fs_modulo_less(t.plan.ii, m->free) ? t.plan.ii : m->free;
  return FSCHED_OK;
}

/* The bound where no ring is deeper than it fits with the least of the others. */
static fs_status bound_fitting(modulo_planner *m, fs_modulo_ratio *bound) {
  fs_modulo_body body;
  fs_modulo_bounds bounds;
  fs_decision fits;
  bool endless;
  FS_TRY(fs_modulo_body_make(m->ctx, m->scratch, &m->several, 1, m->alone_depth, &body, &fits));
  if (fits.is != FS_YES) {
    return FSCHED_OK;
  }
  FS_TRY(fs_modulo_bounds_of(m->ctx, &body, &bounds, &endless));
  *bound = endless ? *bound : fs_modulo_greater(*bound, greatest_bound(&bounds));
  return FSCHED_OK;
}

/* Copies may pay where something else than the bounds keeps the interval up. */
static fs_status plan_copies(modulo_planner *m) {
  fs_modulo_plan *out = m->out;
  fs_modulo_ratio bound = greatest_bound(&out->bounds);
  FS_TRY(depths_of_copies(m, &m->alone_depth));
  fs_modulo_fit_alone(&m->several, m->alone_depth);
  FS_TRY(m->limit_memory != FS_NONE ? bound_fitting(m, &bound) : FSCHED_OK);
  FS_TRY(depths_of_copies(m, &m->fitting_depth));
  for (uint32_t r = 0; r < m->p->n_rings; r++) {
    m->fitting_depth[r] = fs_modulo_ring_fits(m->p, r) ? out->depth[r] : m->fitting_depth[r];
  }
  for (uint32_t copies = 2; copies <= m->options.copies; copies++) {
    if (fs_modulo_less(bound, out->ii)) {
      FS_TRY(try_copies(m, copies));
    }
  }
  if (!fs_modulo_less(m->free, out->ii)) {
    m->limit_memory = FS_NONE;
  }
  out->proven = out->proven && !m->open && !m->may_fit;
  return FSCHED_OK;
}

/* --- slots that are given back several at once --- */

/* Looks for a plan of one copy, which all copies then do in turn, in less than `upper`. */
static fs_status repeat_one(modulo_planner *m, const uint32_t *depth, fs_modulo_ratio upper,
                            fs_modulo_choice *out, bool *found) {
  fs_modulo_body one;
  fs_modulo_choice choice;
  fs_decision fits;
  fs_modulo_least least = {.body = &one, .steps = fs_max(m->options.steps / TRIAL, 1)};
  least.lower = greatest_bound(&m->out->bounds);
  least.upper = upper;
  *found = false;
  FS_TRY(fs_modulo_body_make(m->ctx, m->scratch, m->p, 1, depth, &one, &fits));
  assert(fits.is == FS_YES); /* as that of more copies is */
  FS_TRY(fs_modulo_choice_new(m->scratch, &one, &choice));
  FS_TRY(fs_modulo_least_period(m->ctx, &least, &choice));
  m->out->steps += least.taken;
  if (least.found.is != FS_YES) {
    return FSCHED_OK;
  }
  FS_TRY(fs_modulo_choice_new(m->scratch, &m->body, out));
  fs_modulo_unroll_turns(&one, &choice, &m->body, out);
  return fs_modulo_tighten(m->ctx, &m->body, out, found);
}

/* Looks for choices of the body of all copies; where steps run out before the least interval is
 * known, they may be those of one. */
static fs_status find_unit(modulo_planner *m, const uint32_t *depth, fs_modulo_least *least) {
  fs_modulo_choice repeated;
  fs_modulo_ratio upper = {0, 0};
  uint32_t unit = m->body.copies;
  bool better;
  FS_TRY(fs_modulo_choice_new(m->scratch, &m->body, &m->best));
  FS_TRY(fs_modulo_least_period(m->ctx, least, &m->best));
  m->out->steps += least->taken;
  if (least->found.is == FS_NO || (least->found.is == FS_YES && least->proven)) {
    return FSCHED_OK;
  }
  if (least->found.is == FS_YES) {
    upper = fs_modulo_ratio_of(m->best.period.num, m->best.period.den * unit);
  }
  FS_TRY(repeat_one(m, depth, upper, &repeated, &better));
  if (better) {
    m->best = repeated;
    least->found = fs_decided_by(true);
    least->proven = !fs_modulo_less(least->lower, repeated.period);
  }
  return FSCHED_OK;
}

/* Plans the body of as many copies as rings want. */
static fs_status plan_unit(modulo_planner *m, uint32_t unit) {
  fs_modulo_plan *out = m->out;
  fs_decision fits;
  uint32_t *depth;
  fs_modulo_least least = {.body = &m->body, .steps = m->options.steps};
  least.lower = times(greatest_bound(&out->bounds), unit);
  FS_TRY(depths_of_copies(m, &depth));
  FS_TRY(fs_modulo_body_make(m->ctx, m->scratch, m->p, unit, depth, &m->body, &fits));
  if (fits.is != FS_YES || m->body.n > m->options.ops) {
    return FSCHED_OK;
  }
  FS_TRY(find_unit(m, depth, &least));
  if (least.found.is != FS_YES) {
    return FSCHED_OK;
  }
  FS_TRY(fs_modulo_settle(m->ctx, m->arena, &m->body, &m->best, out));
  if (overfull_memory(m->p, out->bytes) == FS_NONE) {
    out->found = least.found;
    out->proven = least.proven;
  }
  return FSCHED_OK;
}

/* --- the whole --- */

static bool same_ratio(fs_modulo_ratio a, fs_modulo_ratio b) {
  return a.num == b.num && a.den == b.den;
}

static void name_limit(modulo_planner *m) {
  fs_modulo_plan *out = m->out;
  const fs_modulo_bounds *bounds = &out->bounds;
  if (m->limit_memory != FS_NONE) {
    out->limited_by = FS_MODULO_BY_MEMORY;
    out->limited_index = m->limit_memory;
  } else if (same_ratio(out->ii, bounds->resource)) {
    out->limited_by = bounds->resource_by;
    out->limited_index = bounds->resource_index;
  } else if (same_ratio(out->ii, bounds->recurrence)) {
    out->limited_by = bounds->recurrence_by;
    out->limited_index = bounds->recurrence_index;
  } else if (out->copies == 1 && same_ratio(out->ii, bounds->roles)) {
    out->limited_by = bounds->roles_by;
    out->limited_index = bounds->roles_index;
  } else {
    out->limited_by = FS_MODULO_BY_ORDER;
    out->limited_index = FS_NONE;
  }
}

static fs_status improve_goals(modulo_planner *m) {
  fs_modulo_goals goals = {.body = &m->body, .memory = true, .steps = m->options.steps / 4};
  FS_TRY(fs_modulo_improve(m->ctx, m->arena, &goals, &m->best, m->out));
  m->out->steps += goals.taken;
  return FSCHED_OK;
}

static fs_status make_plan(modulo_planner *m) {
  fs_modulo_plan *out = m->out;
  fs_decision fits;
  bool endless;
  FS_TRY(fs_modulo_body_make(m->ctx, m->scratch, m->p, 1, NULL, &m->body, &fits));
  if (fits.is != FS_YES || m->p->n > m->options.ops) {
    return FSCHED_OK;
  }
  FS_TRY(find_bounds(m, &endless));
  if (endless) {
    out->found = fs_decided_by(false);
    out->limited_by = out->bounds.recurrence_by;
    out->limited_index = out->bounds.recurrence_index;
    return FSCHED_OK;
  }
  uint32_t unit = fs_modulo_unit(m->p);
  if (unit > 1) {
    FS_TRY(unit > FS_MODULO_COPIES ? FSCHED_OK : plan_unit(m, unit));
  } else {
    FS_TRY(fs_modulo_choice_new(m->scratch, &m->body, &m->best));
    FS_TRY(plan_one_copy(m));
    FS_TRY(out->found.is == FS_YES ? plan_copies(m) : FSCHED_OK);
  }
  name_limit(m);
  out->proven |= out->found.is == FS_YES && same_ratio(out->ii, greatest_bound(&out->bounds));
  if (out->found.is == FS_YES && !m->options.quick) {
    FS_TRY(improve_goals(m));
  }
  return FSCHED_OK;
}

fs_status fs_modulo_schedule(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                             const fs_modulo_options *options, fs_modulo_plan *out) {
  assert(options->copies <= USUAL_COPIES);
  FS_SCRATCH(scratch, ctx);
  modulo_planner m = {.ctx = ctx, .arena = arena, .scratch = &scratch, .p = p, .out = out};
  m.options = *options;
  m.options.steps = options->steps == 0 ? USUAL_STEPS : options->steps;
  m.options.copies = options->copies == 0 ? USUAL_COPIES : options->copies;
  m.options.ops = options->ops == 0 ? USUAL_OPS : options->ops;
  m.limit_memory = FS_NONE;
  m.several = *p;
  m.several.capacity = p->capacity_of_copies != NULL ? p->capacity_of_copies : p->capacity;
  *out = (fs_modulo_plan){.found = fs_not_decided(), .ii = {0, 1}};
  return p->n == 0 ? FSCHED_OK : make_plan(&m);
}
