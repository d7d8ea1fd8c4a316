/* SPDX-License-Identifier: Apache-2.0 */
#include "front/builder/roll/attempt.h"

#include "modulo/guards/guards.h"
#include "modulo/issue.h"
#include "modulo/rolled.h"

/* Whether a plan has more slots of open rings than are of use; these are given then. */
static bool limit_depths(const fs_loop_body *body, const fs_modulo_plan *plan, bool *limited) {
  bool any = false;
  for (uint32_t v = 0; v < body->n_values && plan != NULL; v++) {
    fs_body_value *value = &body->value[v];
    uint64_t most = fs_roller_most_slots(body->versions, body, value);
    if (value->depth == 0 && plan->depth[v] > most) {
      value->depth = most;
      any = limited[v] = true;
    }
  }
  return any;
}

enum { MOST_MORE = 8 }; /* slots, than a plan has */

/* The least number of slots from what a plan has on of which the iterations of a run are whole
 * turns; 0: there is none. */
static uint64_t closing_depth(const fs_body_value *value, uint64_t depth) {
  uint64_t most = value->most == 0 ? UINT64_MAX : value->most;
  most = fs_min(most, fs_min(value->closes, depth + MOST_MORE));
  while (depth <= most && value->closes % depth != 0) {
    depth++;
  }
  return depth <= most ? depth : 0;
}

/* Gives open rings such slots; whether there are some. */
static bool close_depths(const fs_loop_body *body, const fs_modulo_plan *plan, bool *limited) {
  bool any = false;
  for (uint32_t v = 0; v < body->n_values && plan != NULL; v++) {
    fs_body_value *value = &body->value[v];
    uint64_t depth =
        value->depth == 0 && value->closes > 0 ? closing_depth(value, plan->depth[v]) : 0;
    if (depth > 0) {
      value->depth = depth;
      any = limited[v] = true;
    }
  }
  return any;
}

static bool same_ticks(fs_loop_ticks a, fs_loop_ticks b) {
  return a.num == b.num && a.den == b.den;
}

/* Whether a ring of which the trips limit the slots is what limits the plan. */
static bool limits(const fs_loop_body *body, const bool *limited, const fs_loop_report *report) {
  bool found = false;
  for (uint32_t v = 0; v < body->n_values && report->limited_by == FS_LOOP_BY_SLOTS; v++) {
    const fs_body_value *value = &body->value[v];
    found = found || (limited[v] && strlen(report->limit) == value->n_name &&
                      memcmp(report->limit, value->name, value->n_name) == 0);
  }
  return found;
}

/* Slots that were limited are not given: what is told without them holds. */
static void report_unlimited(const fs_loop_body *body, const bool *limited,
                             const fs_loop_report *unlimited, fs_loop_report *report) {
  if (same_ticks(unlimited->ii, report->ii)) {
    report->proven = unlimited->proven;
    report->limited_by = unlimited->limited_by;
    report->limit = unlimited->limit;
  } else {
    report->proven = false;
    report->limited_by = limits(body, limited, report) ? FS_LOOP_BY_TRIPS : report->limited_by;
  }
  report->bound = unlimited->bound;
}

fs_status fs_roller_make_plan(fs_roller *r, const fsched_graph *g, const fs_loop_body *body,
                              const fs_planned_options *o, fs_planned_loop *p) {
  bool *limited;
  FS_TRY(fs_new_zero(r->scratch, &limited, body->n_values));
  FS_TRY(fs_planned_loop_make(r->b->ctx, &r->b->arena, g, body, o, p));
  fs_loop_report unlimited = p->report;
  bool any = false;
  while (limit_depths(body, p->plan, limited) || close_depths(body, p->plan, limited)) {
    FS_TRY(fs_planned_loop_make(r->b->ctx, &r->b->arena, g, body, o, p));
    any = true;
  }
  if (any && p->plan != NULL) {
    report_unlimited(body, limited, &unlimited, &p->report);
  }
  for (uint32_t v = 0; v < body->n_values && p->plan != NULL; v++) {
    p->report.slots[v].given &= !limited[v];
  }
  return FSCHED_OK;
}

fs_status fs_roller_set_guards(fs_roller *r, const fsched_graph *g, const fs_loop_body *body,
                               const fs_planned_loop *p, const fs_modulo_joined *joined,
                               uint64_t trip, fs_rolled_loop *loop, bool *crowded) {
  fsched_builder *b = r->b;
  const fs_modulo_split *split = p->split;
  uint32_t n = p->loop.problem.n, *demand = NULL, op;
  bool *alone;
  assert(p->plan != NULL && (split == NULL || joined != NULL));
  FS_TRY(fs_new_zero(r->scratch, &alone, n));
  if (g->op_slots != NULL) {
    FS_TRY(fs_new(r->scratch, &demand, n));
  }
  for (uint32_t x = 0; x < n; x++) {
    uint32_t m = split == NULL ? x : split->op[x];
    alone[x] = split != NULL && joined[m].n_parts > 0;
    if (demand != NULL) {
      demand[x] = g->op_slots[body->op[m]];
    }
  }
  uint64_t slots = b->barrier_slots == 0 ? UINT64_MAX : b->barrier_slots;
  fs_guard_options o = {trip, slots, demand, alone};
  FS_TRY(fs_modulo_guards(b->ctx, &b->arena, &p->loop.problem, p->plan, &o, loop, &op));
  *crowded = op != FS_NONE;
  return FSCHED_OK;
}

fs_status fs_roller_attempt(fs_roller *r, const fsched_graph *g, uint32_t loop,
                            const fs_loop_body *body, bool single, uint64_t steps,
                            fs_body_attempt *out) {
  fsched_builder *b = r->b;
  fs_planned_loop *p = &out->planned;
  fs_planned_options o = {
      .steps = steps, .held_back = fs_sync_has_waits(b->sync), .always = true, .single = single};
  *out = (fs_body_attempt){.single = single};
  FS_TRY(fs_roller_make_plan(r, g, body, &o, p));
  if (p->plan == NULL) {
    return FSCHED_OK;
  }
  if (fs_sync_has_stops(b->sync)) {
    const fs_issue_options issue = {r->counting, r->in.trip[loop], b->sync_cost, b->issue_as_planned};
    return fs_modulo_issue(b->ctx, &b->arena, &p->loop.problem, p->plan, &issue, &out->loop,
                           &out->issued, &out->possible);
  }
  FS_TRY(
      fs_modulo_rolled(b->ctx, &b->arena, &p->loop.problem, p->plan, &out->loop, &out->possible));
  bool guarded = out->possible && fs_sync_has_barriers(b->sync);
  return guarded ? fs_roller_set_guards(r, g, body, p, NULL, r->in.trip[loop], &out->loop,
                                        &out->crowded)
                 : FSCHED_OK;
}
