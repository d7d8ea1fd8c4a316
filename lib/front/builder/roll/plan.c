/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of loops that stay loops, from the graph of a sample to plans. */
#include "base/saturate.h"
#include "base/text/size_text.h"
#include "front/builder/roll/attempt.h"
#include "front/builder/roll/spans.h"
#include "modulo/rolled.h"

/* The buffers of the sample may be larger than those of the loop. */
static void count_held(const fs_roller *r, const fsched_graph *g, uint32_t loop,
                       fs_loop_body *body) {
  for (uint32_t i = 0; i < r->b->buffer_size.n; i++) {
    uint64_t align = g->target.memory[g->buffer_memory[i]].align;
    uint64_t more =
        fs_align_up(g->buffer_size[i], align) - fs_align_up(r->b->buffer_size.at[i], align);
    uint64_t *held = &body->held[g->buffer_memory[i]];
    *held -= fs_roller_begins(r, loop, i) ? 0 : fs_min(more, *held);
  }
}

/* Whether the scratch of all ops does not fit beside what the loop holds. */
static bool scratch_unfit(const fsched_graph *g, const fs_loop_body *body) {
  bool unfit = false;
  for (uint32_t m = 0; m < g->target.n_memories && body->held != NULL && !unfit; m++) {
    const fs_memory *memory = &g->target.memory[m];
    uint64_t scratch = fs_modulo_scratch(g, body, m, false);
    unfit = scratch > 0 && fs_memory_bounded(memory) &&
            fs_add_most(scratch, body->held[m]) > memory->capacity;
  }
  return unfit;
}

/* The bytes that a loop needs of a memory: slots, of open rings as few as there must be, scratch,
 * and all that it holds. */
static uint64_t bytes_need(const fsched_graph *g, const fs_loop_body *body, uint32_t memory) {
  uint64_t need = fs_add_most(body->held[memory], fs_modulo_scratch(g, body, memory, false));
  for (uint32_t v = 0; v < body->n_values; v++) {
    const fs_body_value *x = &body->value[v];
    if (x->memory == memory) {
      uint64_t depth = x->depth > 0 ? x->depth : fs_roller_slots_read(body, x, false);
      need = fs_add_most(need, fs_multiply_most(depth, x->size));
    }
  }
  return need;
}

/* Reports that slots do not fit: what they need of the first memory that is too small. */
static fs_status does_not_fit(fs_roller *r, const fsched_graph *g, uint32_t loop,
                              const fs_loop_body *body) {
  fsched_builder *b = r->b;
  fs_pos at = fs_pos_at(&b->loop_at, loop);
  const char *name = b->loops.text.at[loop], *hint = b->depths_hint;
  if (hint == NULL && scratch_unfit(g, body) && body->n > 1) {
    hint =
        "ops of a loop share the bytes of scratch on one queue alone; those of --unroll "
        "(fsched_builder_unroll) may do so on several";
  }
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    const fs_memory *memory = &g->target.memory[m];
    uint64_t need = bytes_need(g, body, m);
    char wanted[FS_SIZE_TEXT], have[FS_SIZE_TEXT];
    if (fs_memory_bounded(memory) && need > memory->capacity) {
      fs_builder_infeasible(b, FS_DIAG_DOES_NOT_FIT, at, hint,
                            "loop '%.80s' does not fit memory '%.80s': needed %s, available %s",
                            name, memory->name, fs_size_text(wanted, need),
                            fs_size_text(have, memory->capacity));
      return FSCHED_INFEASIBLE;
    }
  }
  fs_builder_infeasible(b, FS_DIAG_DOES_NOT_FIT, at, b->depths_hint,
                        "the slots of loop '%.80s' do not fit the memories", name);
  return FSCHED_INFEASIBLE;
}

static fs_status check_plan(fs_roller *r, const fsched_graph *g, uint32_t loop,
                            const fs_loop_body *body, const fs_planned_loop *p) {
  if (p->plan == NULL && (p->unfit || scratch_unfit(g, body))) {
    return does_not_fit(r, g, loop, body);
  }
  if (p->plan == NULL) {
    return fs_roller_unsupported(r, loop, p->report.why_not);
  }
  return FSCHED_OK;
}

static fs_status fill_ops(fs_roller *r, const fsched_graph *g, const fs_loop_body *body,
                          fs_rolled *x) {
  x->n_ops = body->n;
  FS_TRY(fs_new_zero(&r->b->arena, &x->body, x->n_ops));
  FS_TRY(fs_new_zero(&r->b->arena, &x->inner, x->n_ops));
  for (uint32_t m = 0; m < x->n_ops; m++) {
    uint32_t op = g->op_body_op[body->op[m]];
    x->body[m].name = r->b->ops.text.at[op];
    x->body[m].time = g->op_time[body->op[m]];
    x->body[m].latency = fs_op_latency(g, body->op[m]);
    x->body[m].kernel = r->b->op.at[op].kernel;
    x->body[m].loop = FS_NONE;
    x->body[m].n_members = r->b->op.at[op].members;
    x->body[m].slots = g->op_slots == NULL ? 1 : g->op_slots[body->op[m]];
    x->inner[m] = op < r->b->op_rolled.n ? r->b->op_rolled.at[op] : NULL;
    x->body[m].by_class = x->inner[m] == NULL && fs_op_by_class(g, body->op[m]);
  }
  return FSCHED_OK;
}

/* Whether the loop keeps or reads the value that it finds in a buffer which it begins. */
static bool is_there_on_entry(const fs_roller *r, uint32_t loop, const fs_loop_body *body,
                              const fs_body_value *value, uint32_t buffer) {
  bool entry = r->in.least[loop] == 0 && fs_roller_is_left(r, loop, buffer);
  for (uint32_t i = value->reader0; i < value->reader0 + value->n_readers; i++) {
    entry = entry || body->reader[i].back > 0;
  }
  return entry;
}

static fs_status fill_slots(fs_roller *r, uint32_t loop, const fs_loop_body *body,
                            const fs_planned_loop *p, fs_rolled *x) {
  FS_TRY(fs_new_zero(&r->b->arena, &x->slots, x->loop.n_rings));
  for (uint32_t v = 0; v < x->loop.n_rings; v++) {
    uint32_t buffer = fs_roller_buffer_of(r, &body->value[v]), depth = x->loop.ring[v].depth;
    fs_ring_buffer *ring = &r->ring[buffer];
    uint64_t slot = depth == 1 ? r->b->buffer_size.at[buffer] : body->value[v].size;
    assert(ring->loop != FS_NONE && (!ring->single || depth == 1));
    if (fs_multiply_most(depth, slot) > FSCHED_MAX_SIZE) {
      return fs_builder_fail(r->b, FS_DIAG_OUT_OF_RANGE, fs_pos_at(&r->b->loop_at, loop), NULL,
                             "%u slots of '%.80s' take more than 2^48 bytes", depth,
                             r->b->buffers.text.at[buffer]);
    }
    bool entry = is_there_on_entry(r, loop, body, &body->value[v], buffer);
    if (!ring->shared || depth >= ring->depth) { /* the deepest tells how large it is */
      ring->depth = depth;
      ring->slot = slot;
    }
    bool closes = ring->chained || fs_roller_closes(r, loop, buffer, entry);
    bool varies = x->least < x->trip, last = (x->trip - 1) % depth == depth - 1;
    x->slots[v] =
        (fs_body_slots){.size = r->b->buffer_size.at[buffer], .slot = slot, .buffer = buffer};
    x->slots[v].entry = entry;
    x->slots[v].leaves = !entry && varies && depth > 1 && fs_roller_is_left(r, loop, buffer);
    x->slots[v].returns = entry && closes && !varies && !last;
    if (!ring->shared) {
      bool moves = x->slots[v].leaves || (entry && (varies || closes));
      ring->behind = moves ? (depth - 1) * slot : (x->trip - 1) % depth * slot;
      ring->before = entry || !closes ? (depth - 1) * slot : ring->behind;
    }
    x->slots[v].least =
        (uint32_t)fs_max(fs_modulo_least_depth(&p->loop.problem, v),
                         fs_min(fs_roller_farthest_back(body, &body->value[v]), UINT32_MAX / 2));
  }
  return FSCHED_OK;
}

/* Counts, or lists, the lanes of a copy of an op.  What the last lane has more than others is only
 * for ops that take all lanes: so all copies of an op have as many units, whichever lanes these
 * are in. */
static uint32_t list_lanes(fs_roller *r, uint32_t loop, const fs_planned_loop *p, uint32_t copy,
                           uint32_t op, fs_body_lane *out) {
  const fs_modulo_problem *q = &p->loop.problem;
  op = p->split == NULL ? op : p->split->first[op];
  uint32_t at = p->plan->lane0[copy * q->n + op], n = 0;
  for (uint32_t k = q->use0[op]; k < q->use0[op + 1]; k++) {
    uint32_t resource = q->use[k].resource, last = q->lanes[resource] - 1;
    uint64_t each = p->loop.lane_units[resource];
    bool all_lanes = q->use[k].amount == q->lanes[resource];
    for (uint32_t i = 0; i < q->use[k].amount; i++, n++) {
      uint32_t lane = p->plan->lane[at++];
      uint64_t all = r->b->resource_capacity.at[resource];
      uint64_t units = all_lanes && lane == last ? all - lane * each : each;
      fs_body_lane x = {resource, copy, lane * each, units};
      if (out != NULL) {
        out[n] = x;
        r->use[loop][resource] = fs_max(r->use[loop][resource], x.first + x.n);
      }
    }
  }
  return n;
}

static fs_status fill_lanes(fs_roller *r, uint32_t loop, const fs_planned_loop *p, fs_rolled *x) {
  FS_TRY(fs_new_zero(r->scratch, &r->use[loop], r->b->resource_capacity.n));
  if (p->loop.problem.n_resources == 0) {
    return FSCHED_OK;
  }
  for (uint32_t pass = 0; pass < 2; pass++) {
    uint32_t n = 0;
    for (uint32_t op = 0; op < x->n_ops; op++) {
      x->body[op].lane0 = n;
      for (uint32_t c = 0; c < p->plan->copies; c++) {
        n += list_lanes(r, loop, p, c, op, pass == 0 ? NULL : x->lane + n);
      }
      x->body[op].n_lanes = n - x->body[op].lane0;
    }
    if (pass == 0) {
      x->n_lanes = n;
      FS_TRY(fs_new(&r->b->arena, &x->lane, n));
    }
  }
  return FSCHED_OK;
}

/* Whether some values are given back several at once, which takes copies of the body. */
static bool gives_several_back(const fs_loop_body *body) {
  bool several = false;
  for (uint32_t v = 0; v < body->n_values; v++) {
    several = several || body->value[v].every > 1;
  }
  return several;
}

/* The scratch of an op whose queues go on before it is over is free for its next iteration only
 * then.  Where the body needs copies, that is so of all ops, whichever queues they are on. */
static fs_status order_scratch(fs_roller *r, const fsched_graph *g, fs_loop_body *body) {
  fs_body_edge *edge;
  bool copies = gives_several_back(body);
  FS_TRY(fs_new(r->scratch, &edge, (size_t)body->n_edges + body->n));
  if (body->n_edges > 0) {
    memcpy(edge, body->edge, body->n_edges * sizeof *edge);
  }
  for (uint32_t m = 0; m < body->n; m++) {
    uint32_t op = body->op[m];
    if ((copies || fs_op_slow(g, op)) && g->op_scratch0[op] < g->op_scratch0[op + 1]) {
      edge[body->n_edges++] = (fs_body_edge){m, m, 1};
    }
  }
  body->edge = edge;
  return FSCHED_OK;
}

/* An op that begins values in place of those of several iterations ago reads what is there on entry
 * in as many, before it is written over.  Where the end of one says nothing of those before, all
 * come one after the other. */
static fs_status order_entries(fs_roller *r, const fsched_graph *g, fs_loop_body *body) {
  fs_body_edge *edge;
  FS_TRY(fs_new(r->scratch, &edge, (size_t)body->n_edges + body->n_values));
  if (body->n_edges > 0) {
    memcpy(edge, body->edge, body->n_edges * sizeof *edge);
  }
  for (uint32_t v = 0; v < body->n_values; v++) {
    fs_body_value *x = &body->value[v];
    for (uint32_t i = x->reader0; i < x->reader0 + x->n_readers; i++) {
      x->in_place = x->in_place || (body->reader[i].member == x->writer && x->depth > 1 &&
                                    body->reader[i].back == x->depth);
    }
    if (x->in_place && fs_sync_has_barriers(r->b->sync) && fs_op_slow(g, body->op[x->writer])) {
      edge[body->n_edges++] = (fs_body_edge){x->writer, x->writer, 1};
    }
  }
  body->edge = edge;
  return FSCHED_OK;
}

static bool uses_any(const fsched_graph *g, uint32_t a, uint32_t b) {
  for (uint32_t i = g->op_use0[a]; i < g->op_use0[a + 1]; i++) {
    for (uint32_t k = g->op_use0[b]; k < g->op_use0[b + 1]; k++) {
      if (g->use_resource[i] == g->use_resource[k]) {
        return true;
      }
    }
  }
  return false;
}

/* What uses a resource comes after what did so in the iteration before: then no lane goes to a
 * later iteration first. */
static fs_status order_uses(fs_roller *r, const fsched_graph *g, fs_loop_body *body) {
  fs_body_edge *edge;
  FS_TRY(fs_new(r->scratch, &edge, body->n_edges + (size_t)body->n * body->n));
  memcpy(edge, body->edge, body->n_edges * sizeof *edge);
  for (uint32_t m = 0; m < body->n; m++) {
    for (uint32_t k = 0; k < body->n; k++) {
      if (uses_any(g, body->op[m], body->op[k])) {
        edge[body->n_edges++] = (fs_body_edge){m, k, 1};
      }
    }
  }
  body->edge = edge;
  return FSCHED_OK;
}

static fs_status try_plan(fs_roller *r, const fsched_graph *g, uint32_t loop,
                          const fs_loop_body *body, bool single, fs_body_attempt *a) {
  FS_TRY(fs_roller_attempt(r, g, loop, body, single, r->steps, a));
  FS_TRY(check_plan(r, g, loop, body, &a->planned));
  return a->crowded
             ? fs_roller_unsupported(r, loop, "an op of it takes more slots than a barrier has")
             : FSCHED_OK;
}

/* Plans the body: with one copy, or resources in the order of iterations, where waits could not
 * keep a better plan. */
static fs_status plan_body(fs_roller *r, const fsched_graph *g, uint32_t loop, fs_loop_body *body,
                           fs_body_attempt *a) {
  bool single = fs_sync_has_stops(r->b->sync); /* whose phases can be chosen */
  FS_TRY(try_plan(r, g, loop, body, single, a));
  if (a->possible) {
    return FSCHED_OK;
  }
  fs_loop_ticks bound = a->planned.report.bound;
  FS_TRY(try_plan(r, g, loop, body, true, a));
  if (!a->possible) {
    FS_TRY(order_uses(r, g, body));
    FS_TRY(try_plan(r, g, loop, body, true, a));
  }
  a->planned.report.bound = bound;
  a->planned.report.proven = false;
  return a->possible ? FSCHED_OK
                     : fs_roller_unsupported(r, loop, "its lanes are planned across iterations");
}

/* Notes the values whose depths are open. */
static fs_status note_open(fs_roller *r, const fs_loop_body *body, bool **open) {
  FS_TRY(fs_new_zero(r->scratch, open, body->n_values));
  for (uint32_t v = 0; v < body->n_values && r->b->depths == FS_DEPTHS_AS_PLANNED; v++) {
    const fs_body_value *x = &body->value[v];
    (*open)[v] = x->depth == 0 && x->closes == 0 && x->every <= 1 && x->ahead == 0;
  }
  return FSCHED_OK;
}

/* Makes the plan of a loop, whose depths are chosen by what it takes if the builder says so. */
static fs_status choose_plan(fs_roller *r, const fsched_graph *g, uint32_t loop, fs_loop_body *body,
                             fs_rolled *x, fs_planned_loop *p) {
  fs_body_attempt a;
  bool *open;
  FS_TRY(note_open(r, body, &open));
  FS_TRY(plan_body(r, g, loop, body, &a));
  FS_TRY(fill_ops(r, g, body, x));
  fs_depth_choice choice = {r, g, loop, body, open, x, &a};
  FS_TRY(fs_roller_may_deepen(&choice, &x->loose));
  FS_TRY(x->loose && r->b->deepen ? fs_roller_deepen(&choice) : FSCHED_OK);
  x->loop = a.loop;
  r->issued = a.issued;
  *p = a.planned;
  return FSCHED_OK;
}

static fs_status find_body(fs_roller *r, const fsched_graph *g, const fs_loop_index *index,
                           uint32_t loop, fs_loop_body *body) {
  FS_TRY(fs_loop_body_find(r->b->ctx, r->scratch, g, index, loop, body));
  if (body->periodic) {
    FS_TRY(fs_roller_set_depths(r, loop, body));
    count_held(r, g, loop, body);
    FS_TRY(fs_roller_count_beside(r, g, index, loop, body->held));
    FS_TRY(order_scratch(r, g, body));
    FS_TRY(order_entries(r, g, body));
  }
  body->trip = r->in.trip[loop];
  body->versions = fs_roller_versions(r, loop);
  return FSCHED_OK;
}

/* Pairs of bodies that are left (pairs.c) are not kept: what a body begins has slots, and what it
 * uses from outside stays. */
static void warn_inplaces(const fs_roller *r, const fsched_graph *g, uint32_t loop) {
  fsched_builder *b = r->b;
  const fs_loop_draft *l = fs_loop_at(b, loop);
  for (uint32_t i = r->in.inplace0[l->op0]; i < r->in.inplace0[l->op_end]; i++) {
    const fs_item_draft *x = &b->inplaces.item.at[i];
    if (!fs_roller_pair_kept(x) && fs_memory_bounded(&g->target.memory[g->buffer_memory[x->a]])) {
      fs_builder_drop_inplace(b, i, b->ops.text.at[x->op], b->buffers.text.at[x->a],
                              b->buffers.text.at[x->b], fs_roller_pair_fault(x));
    }
  }
}

/* Marks the loops inside whose runs are joined. */
static void mark_joined(const fs_rolled *x, const fs_modulo_joined *joined) {
  for (uint32_t m = 0; m < x->n_ops; m++) {
    if (joined[m].n_parts > 0) {
      fs_rolled *inner = x->inner[m];
      inner->joined = inner->report->joined = true;
      inner->loop = *inner->whole;
      inner->report->waits = inner->loop.n_waits;
      inner->report->executed = fs_rolled_waits(&inner->loop, inner->trip);
    }
  }
}

enum { MOST_COUNTED = INT32_MAX }; /* iterations that barriers are asked for */

/* Of a loop in a loop, makes what it is where its runs are joined: what lies farther apart than its
 * own iterations is then waited for, too. */
static fs_status make_whole(fs_roller *r, const fsched_graph *g, uint32_t loop,
                            const fs_loop_body *body, const fs_planned_loop *p, fs_rolled *x) {
  fs_modulo_problem whole = p->loop.problem;
  fs_rolled_loop *out;
  uint32_t parent = fs_loop_at(r->b, loop)->parent;
  bool possible, crowded = false;
  whole.trip = 0;
  if (parent == FS_NONE || fs_sync_has_stops(r->b->sync) || p->split != NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&r->b->arena, &out, 1));
  FS_TRY(fs_modulo_rolled(r->b->ctx, &r->b->arena, &whole, p->plan, out, &possible));
  if (possible && fs_sync_has_barriers(r->b->sync)) {
    uint64_t all = fs_multiply_most(x->trip, r->in.trip[parent]);
    FS_TRY(fs_roller_set_guards(r, g, body, p, NULL, fs_min(all, MOST_COUNTED), out, &crowded));
  }
  x->whole = possible && !crowded ? out : NULL;
  return FSCHED_OK;
}

/* A plan with runs of loops inside that are joined, and what it takes; UINT64_MAX: it locks up, or
 * there is none. */
typedef struct joined_plan {
  fs_planned_loop planned;
  fs_rolled_loop loop;
  uint64_t span;
} joined_plan;

static fs_status plan_joined(fs_roller *r, const fsched_graph *g, const fs_loop_body *body,
                             const fs_rolled *x, const fs_modulo_joined *joined,
                             const fs_modulo_ties *ties, joined_plan *out) {
  fs_planned_options o = {.steps = r->steps,
                          .held_back = fs_sync_has_waits(r->b->sync),
                          .single = true,
                          .joined = joined};
  fs_loop_body own = *body;
  bool possible = false, crowded = false;
  o.tie = ties->at;
  o.n_ties = (uint32_t)ties->n;
  out->span = UINT64_MAX;
  FS_TRY(fs_new(r->scratch, &own.value, own.n_values));
  memcpy(own.value, body->value, own.n_values * sizeof *own.value);
  FS_TRY(fs_roller_make_plan(r, g, &own, &o, &out->planned));
  if (out->planned.plan != NULL) {
    FS_TRY(fs_modulo_rolled(r->b->ctx, &r->b->arena, &out->planned.loop.problem, out->planned.plan,
                            &out->loop, &possible));
  }
  if (possible && fs_sync_has_barriers(r->b->sync)) {
    FS_TRY(fs_roller_set_guards(r, g, body, &out->planned, joined, x->trip, &out->loop, &crowded));
  }
  if (!possible || crowded) {
    return FSCHED_OK;
  }
  fs_modulo_join_parts(out->planned.split, joined, &out->loop);
  return fs_roller_time_rolled(r, &out->planned, x, &out->loop, &out->span);
}

enum { ORDER_ROUNDS = 3 }; /* plans in which other runs may pass each other */

/* Of a plan in which runs pass each other on two queues, makes the quickest one that is found in
 * which they keep some order. */
static fs_status order_runs(fs_roller *r, const fsched_graph *g, const fs_loop_body *body,
                            const fs_rolled *x, const fs_modulo_joined *joined, joined_plan *best) {
  joined_plan first = *best;
  fs_modulo_ties ties = {0};
  fs_status status = FSCHED_OK;
  for (uint32_t turns = FS_TURNS_AHEAD; turns <= FS_TURNS_IN_ORDER; turns++) {
    joined_plan at = first;
    ties.n = 0;
    for (uint32_t n = 0; status == FSCHED_OK && n < ORDER_ROUNDS && at.span == UINT64_MAX; n++) {
      size_t had = ties.n;
      status = fs_modulo_order_runs(r->b->ctx, at.planned.split, joined, at.planned.plan,
                                    (fs_modulo_turns)turns, &ties);
      if (status == FSCHED_OK && ties.n > had) {
        status = plan_joined(r, g, body, x, joined, &ties, &at);
      }
      if (ties.n == had || at.planned.plan == NULL) {
        break;
      }
    }
    if (at.span < best->span) {
      *best = at;
    }
  }
  fs_vec_free(r->b->ctx, &ties);
  return status;
}

/* Joins the runs of loops inside, if that makes the loop quicker; else *out is NULL. */
static fs_status join_runs(fs_roller *r, const fsched_graph *g, const fs_loop_body *body,
                           fs_planned_loop *p, fs_rolled *x, const fs_modulo_joined **out) {
  fs_modulo_joined *joined;
  joined_plan apart;
  uint64_t met;
  *out = NULL;
  FS_TRY(fs_roller_find_joined(r, g, body, &joined));
  if (joined == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(plan_joined(r, g, body, x, joined, &(fs_modulo_ties){0}, &apart));
  if (apart.span == UINT64_MAX && apart.planned.plan != NULL) {
    FS_TRY(order_runs(r, g, body, x, joined, &apart));
  }
  FS_TRY(fs_roller_time_rolled(r, p, x, &x->loop, &met));
  if (apart.span < met) {
    *p = apart.planned;
    x->loop = apart.loop;
    *out = joined;
  }
  return FSCHED_OK;
}

/* Whether a ring has more slots than are of use to one run. */
static bool is_wide(const fs_loop_body *body, const fs_rolled *x) {
  bool wide = false;
  for (uint32_t v = 0; v < body->n_values && !wide; v++) {
    wide = x->loop.ring[v].depth > fs_roller_most_slots(body->trip, body, &body->value[v]);
  }
  return wide;
}

/* Plans a loop; *joined tells which ones in it have their runs joined, or is NULL. */
static fs_status plan_once(fs_roller *r, const fsched_graph *g, const fs_loop_index *index,
                           uint32_t loop, const fs_modulo_joined **joined) {
  fs_loop_body body;
  fs_planned_loop p;
  FS_TRY(fs_new_zero(&r->b->arena, &r->rolled[loop], 1));
  fs_rolled *x = r->rolled[loop];
  x->trip = r->in.trip[loop];
  x->least = r->in.least[loop];
  x->param = r->in.param[loop] == FS_NONE ? NULL : r->b->words.text.at[r->in.param[loop]];
  FS_TRY(find_body(r, g, index, loop, &body));
  x->scratch_in_order = gives_several_back(&body);
  FS_TRY(choose_plan(r, g, loop, &body, x, &p));
  FS_TRY(join_runs(r, g, &body, &p, x, joined));
  FS_TRY(make_whole(r, g, loop, &body, &p, x));
  x->wide = is_wide(&body, x);
  FS_TRY(fill_slots(r, loop, &body, &p, x));
  FS_TRY(fill_lanes(r, loop, &p, x));
  return fs_roller_find_span(r, loop, &p, x);
}

/* Plans a loop: if its runs can't be joined, with slots for one of them. */
static fs_status plan_loop(fs_roller *r, const fsched_graph *g, const fs_loop_index *index,
                           uint32_t loop) {
  fsched_builder *b = r->b;
  bool bad = b->bad, infeasible = b->infeasible;
  fs_diag_mark mark = fs_context_mark(b->ctx);
  const fs_modulo_joined *joined = NULL;
  fs_status status = plan_once(r, g, index, loop, &joined);
  const fs_rolled *x = r->rolled[loop];
  bool failed = status == FSCHED_OK ? b->infeasible != infeasible : status != FSCHED_SYSTEM;
  if (fs_roller_versions(r, loop) > x->trip && (failed || (x->wide && !fs_roller_may_go_on(x)))) {
    fs_context_rewind(b->ctx, mark);
    b->bad = bad;
    b->infeasible = infeasible;
    FS_TRY(fs_vec_push(b->ctx, &b->apart, loop));
    status = plan_once(r, g, index, loop, &joined);
  }
  if (status == FSCHED_OK && joined != NULL) {
    mark_joined(r->rolled[loop], joined);
  }
  warn_inplaces(r, g, loop);
  return status;
}

fs_status fs_roller_plan(fs_roller *r, const fsched_graph *g) {
  assert(r->rolled != NULL && g->n_loops == r->b->loop.n);
  fs_loop_index index;
  FS_TRY(fs_roller_check_needs(r));
  FS_TRY(fs_loop_index_make(r->scratch, g, &index));
  for (uint32_t l = 0; l < r->b->loop.n; l++) {
    if (fs_roller_stays(r, l)) {
      FS_TRY(plan_loop(r, g, &index, l));
    }
  }
  return FSCHED_OK;
}
