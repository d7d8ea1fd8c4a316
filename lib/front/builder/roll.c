/* SPDX-License-Identifier: Apache-2.0 */
/* Finish: loops that stay loops are planned.
 *
 * A copy of the builder is unrolled with as few iterations as show what iterations owe each other:
 * two more than the longest distance.  Ranges that move alike meet at distances that are known; of
 * others, all iterations count as overlapping, and in the copy each touches what all touch.  The
 * body is found in the graph of the copy, and planned. */
#include "front/builder/roll.h"

#include <stdio.h>

#include "base/saturate.h"
#include "base/text/size_text.h"
#include "modulo/planned.h"
#include "modulo/rolled.h"

/* Steps of the search for a plan, for how many loops there are as many for each, and the least;
 * distances that a copy shows; iterations of all ops in it; ops of a body. */
enum {
  STEPS = 1 << 22,
  LOOPS = 4,
  LEAST_STEPS = 1 << 12,
  FAR = 64,
  SAMPLE = 1 << 20,
  MOST_OPS = 512
};

static fs_status unsupported(fs_roller *r, uint32_t loop, const char *what) {
  fsched_builder *b = r->b;
  return fs_builder_fail(b, FS_DIAG_UNSUPPORTED, fs_pos_at(&b->loop_at, loop),
                         "--unroll (fsched_builder_unroll) makes a graph of its iterations",
                         "loop '%.80s' cannot stay a loop in this version: %s",
                         b->loops.text.at[loop], what);
}

/* What this version does not have. */
static fs_status check_loops(fs_roller *r) {
  fsched_builder *b = r->b;
  for (uint32_t i = 0; i < b->ring.n; i++) {
    if (b->ring.at[i].every > 1) {
      return unsupported(r, b->ring.at[i].loop, "'every' of a buffer is above 1");
    }
  }
  for (uint32_t l = 0; l < b->loop.n; l++) {
    const char *why = b->loop.at[l].parent != FS_NONE    ? "it is in a loop"
                      : !fs_sync_has_waits(b->sync)      ? "the target has no timelines"
                      : fs_hazards_data_only(b->hazards) ? "hazards are raw"
                      : b->queue.n == 0                  ? "the target names no queues"
                      : b->concurrency != 0              ? "the target limits concurrency"
                                                         : NULL;
    if (why != NULL) {
      return unsupported(r, l, why);
    }
  }
  return FSCHED_OK;
}

const fs_moving_draft *fs_roller_moving(const fs_roller *r, uint32_t op, uint32_t arg) {
  FS_ASSERT_SLOW(arg >= r->b->op.at[op].arg0 && arg < fs_builder_args_end(r->b, op));
  for (uint32_t m = r->in.moving0[op]; m < r->in.moving0[op + 1]; m++) {
    if (r->b->moving.at[m].arg == arg) {
      return &r->b->moving.at[m];
    }
  }
  return NULL;
}

int64_t fs_roller_step(const fs_roller *r, const fs_moving_draft *m) {
  return m == NULL || m->n_steps == 0 ? 0 : r->b->step.at[m->step0];
}

void fs_roller_hull(const fs_roller *r, uint32_t op, uint32_t arg, uint64_t trip, uint64_t *low,
                    uint64_t *high) {
  const fs_arg_draft *a = &r->b->arg.at[arg];
  uint64_t size = r->b->buffer_size.at[a->buffer];
  int64_t way = fs_roller_step(r, fs_roller_moving(r, op, arg)) * (int64_t)(trip - 1);
  *low = a->offset + (uint64_t)(way < 0 ? way : 0);
  *high = fs_min(a->offset + (uint64_t)(way > 0 ? way : 0) + a->u.length, size);
}

/* --- the sample --- */

typedef struct body_access {
  uint32_t op, arg, buffer;
  int64_t step;
  bool writes;
  bool unlike; /* accesses of its buffer move unlike each other */
} body_access;

typedef FS_VEC(body_access) body_accesses;

static bool is_ring(const fs_roller *r, uint32_t loop, uint32_t buffer) {
  return r->ring[buffer].loop == loop;
}

/* Lists the accesses of a body to buffers from outside. */
static fs_status list_accesses(const fs_roller *r, uint32_t loop, body_accesses *out) {
  const fsched_builder *b = r->b;
  for (uint32_t op = b->loop.at[loop].op0; op < b->loop.at[loop].op_end; op++) {
    for (uint32_t arg = b->op.at[op].arg0; arg < fs_builder_args_end(b, op); arg++) {
      const fs_arg_draft *a = &b->arg.at[arg];
      if (fs_tag_accesses(a->tag) && !is_ring(r, loop, a->buffer)) {
        int64_t step = fs_roller_step(r, fs_roller_moving(r, op, arg));
        body_access x = {op, arg, a->buffer, step, fs_tag_writes(a->tag), false};
        FS_TRY(fs_vec_push(b->ctx, out, x));
      }
    }
  }
  return FSCHED_OK;
}

/* The distance, in iterations, up to which two accesses that move alike may meet. */
static uint64_t meeting_distance(const fs_roller *r, const body_access *x, const body_access *y) {
  const fs_arg_draft *a = &r->b->arg.at[x->arg], *c = &r->b->arg.at[y->arg];
  uint64_t step = x->step < 0 ? (uint64_t)-x->step : (uint64_t)x->step;
  uint64_t apart = a->offset > c->offset ? a->offset - c->offset : c->offset - a->offset;
  return step == 0 ? 1 : (apart + fs_max(a->u.length, c->u.length)) / step + 1;
}

/* Marks the accesses of buffers of which some move unlike each other; *far: the largest distance of
 * the others. */
static void compare_accesses(const fs_roller *r, body_accesses *x, uint64_t *far) {
  for (size_t i = 0; i < x->n; i++) {
    for (size_t k = i; k < x->n; k++) {
      body_access *a = &x->at[i], *c = &x->at[k];
      if (a->buffer != c->buffer || !(a->writes || c->writes)) {
        continue;
      }
      uint64_t d = meeting_distance(r, a, c);
      if (a->step != c->step || d > FAR) {
        a->unlike = c->unlike = true;
      } else {
        *far = fs_max(*far, d);
      }
    }
  }
  for (size_t i = 0; i < x->n; i++) {
    for (size_t k = 0; k < x->n; k++) {
      x->at[k].unlike |= x->at[i].unlike && x->at[k].buffer == x->at[i].buffer;
    }
  }
}

static void warn_unlike(fs_roller *r, uint32_t loop, const body_accesses *x) {
  fsched_builder *b = r->b;
  for (size_t i = 0; i < x->n; i++) {
    bool first = x->at[i].unlike;
    for (size_t k = 0; k < i && first; k++) {
      first = !(x->at[k].unlike && x->at[k].buffer == x->at[i].buffer);
    }
    if (first) {
      fs_report(b->ctx, FSCHED_WARNING, FS_DIAG_UNLIKE_STEPS, fs_pos_at(&b->arg_at, x->at[i].arg),
                "give them one step, or a buffer each",
                "accesses of buffer '%.80s' in loop '%.80s' move unlike each other: all iterations "
                "count as overlapping",
                b->buffers.text.at[x->at[i].buffer], b->loops.text.at[loop]);
    }
  }
}

/* In the sample, accesses that move unlike each other touch what all iterations do. */
static void widen(const fs_roller *r, uint32_t loop, const body_accesses *x, fsched_builder *s) {
  for (size_t i = 0; i < x->n; i++) {
    const body_access *a = &x->at[i];
    uint64_t low, high;
    if (!a->unlike) {
      continue;
    }
    fs_roller_hull(r, a->op, a->arg, r->in.trip[loop], &low, &high);
    s->arg.at[a->arg].offset = low;
    s->arg.at[a->arg].u.length = high - low;
    s->arg.at[a->arg].has_at = true;
    for (size_t m = 0; m < s->moving.n; m++) {
      if (s->moving.at[m].arg == a->arg) {
        s->moving.at[m].n_steps = 0;
      }
    }
  }
}

/* The largest distance that the body says itself. */
static uint64_t said_distance(const fs_roller *r, uint32_t loop) {
  const fsched_builder *b = r->b;
  uint64_t far = 1;
  for (size_t i = 0; i < b->ring.n; i++) {
    if (b->ring.at[i].loop == loop) {
      far = fs_max(far, fs_add_most(b->ring.at[i].depth, b->ring.at[i].every));
    }
  }
  for (uint32_t op = b->loop.at[loop].op0; op < b->loop.at[loop].op_end; op++) {
    for (uint32_t m = r->in.moving0[op]; m < r->in.moving0[op + 1]; m++) {
      far = fs_max(far, b->moving.at[m].distance);
    }
    for (uint32_t i = r->in.after0[op]; i < r->in.after0[op + 1]; i++) {
      far = fs_max(far, b->afters.item.at[i].amount);
    }
  }
  return far;
}

/* The arg of a buffer whose begin and end move apart keeps its bytes, or, if it is of all of them,
 * is so again, unless it moves. */
static void move_arg(fs_arg_draft *a, uint64_t size, bool moves, uint64_t below, uint64_t above) {
  bool whole = !moves && (!a->has_at || (a->offset == 0 && a->u.length == size));
  a->offset += whole ? 0 : below;
  a->u.length += whole ? below + above : 0;
}

/* Where the sample has `more` iterations than the loop, its buffers reach as far as they do. */
static fs_status enlarge_buffers(fs_roller *r, uint32_t loop, uint64_t more, fsched_builder *s) {
  const fsched_builder *b = r->b;
  bool *moves;
  FS_TRY(fs_new_zero(r->scratch, &moves, s->arg.n));
  for (size_t m = 0; m < s->moving.n; m++) {
    moves[s->moving.at[m].arg] = s->moving.at[m].n_steps > 0;
  }
  for (uint32_t op = b->loop.at[loop].op0; op < b->loop.at[loop].op_end; op++) {
    for (uint32_t m = r->in.moving0[op]; m < r->in.moving0[op + 1]; m++) {
      const fs_moving_draft *moving = &s->moving.at[m];
      int64_t step = fs_roller_step(r, moving);
      uint32_t buffer = b->arg.at[moving->arg].buffer;
      if (moving->n_steps == 0 || step == 0) {
        continue;
      }
      uint64_t way = more * (step < 0 ? (uint64_t)-step : (uint64_t)step);
      uint64_t below = step < 0 ? way : 0, above = step < 0 ? 0 : way;
      uint64_t size = s->buffer_size.at[buffer];
      for (size_t arg = 0; arg < s->arg.n; arg++) {
        if (fs_tag_names_buffer(s->arg.at[arg].tag) && s->arg.at[arg].buffer == buffer) {
          move_arg(&s->arg.at[arg], size, moves[arg], below, above);
        }
      }
      s->buffer_size.at[buffer] += way;
    }
  }
  return FSCHED_OK;
}

/* Makes the sample of a loop that stays one. */
static fs_status sample_loop(fs_roller *r, uint32_t loop, fsched_builder *s) {
  body_accesses x = {0};
  uint64_t far = said_distance(r, loop), trip = r->in.trip[loop];
  fs_status status = list_accesses(r, loop, &x);
  if (status == FSCHED_OK) {
    compare_accesses(r, &x, &far);
    warn_unlike(r, loop, &x);
    widen(r, loop, &x, s);
  }
  fs_vec_free(r->b->ctx, &x);
  FS_TRY(status);
  uint64_t n = fs_add_most(far, 3);
  const fs_loop_draft *d = &r->b->loop.at[loop];
  if (fs_multiply_most(n, d->op_end - d->op0) > SAMPLE) {
    return unsupported(r, loop, "its distances are too long");
  }
  if (n > trip) {
    FS_TRY(enlarge_buffers(r, loop, n - trip, s));
  }
  s->loop.at[loop].trip = s->loop.at[loop].least = s->loop.at[loop].most = n;
  return FSCHED_OK;
}

/* A loop without iterations is nothing. */
static bool stays(const fs_roller *r, uint32_t loop) {
  return r->in.trip[loop] > 0 && r->in.loop_count[loop] > 0;
}

static fs_status make_sample(fs_roller *r, fsched_builder *s, fsched_graph **out) {
  s->unroll = s->sample = true;
  s->param.n = 0;
  for (uint32_t l = 0; l < r->b->loop.n; l++) {
    s->loop.at[l].trip = s->loop.at[l].least = s->loop.at[l].most = 0;
    s->loop.at[l].param = FS_NONE;
    if (stays(r, l)) {
      FS_TRY(sample_loop(r, l, s));
    }
  }
  return fsched_builder_finish(s, out);
}

/* --- the plan --- */

static uint32_t name_of_value(const fs_roller *r, const fs_body_value *v) {
  return fs_names_find(&r->b->buffers, v->name, v->n_name);
}

/* The slots that the values take which are read, if they are read as they were begun. */
static uint64_t slots_read(const fs_loop_body *body, const fs_body_value *value) {
  uint64_t need = 1;
  for (uint32_t i = value->reader0; i < value->reader0 + value->n_readers; i++) {
    const fs_body_reader *reader = &body->reader[i];
    need = fs_max(need, reader->back + (reader->member >= value->writer));
  }
  return need;
}

/* Sets depths before the plan: content that comes from outside, or stays there, has one place; and
 * no more slots are of use than there are versions, and what there is on entry. */
static fs_status set_depths(fs_roller *r, uint32_t loop, fs_loop_body *body) {
  uint64_t trip = r->in.trip[loop];
  for (uint32_t v = 0; v < body->n_values; v++) {
    fs_body_value *value = &body->value[v];
    uint64_t back = 0, need = slots_read(body, value);
    for (uint32_t i = value->reader0; i < value->reader0 + value->n_readers; i++) {
      back = fs_max(back, body->reader[i].back);
    }
    uint64_t most = fs_max(fs_add_most(trip, back > 0), back + 1);
    value->depth = fs_min(value->depth, most);
    uint8_t io = r->b->buffer_io.at[name_of_value(r, value)];
    if ((fs_io_given(io) || fs_io_kept(io)) && need > 1) {
      return unsupported(r, loop,
                         "an input, output or state that it begins has one place, and "
                         "values of several iterations are read");
    }
    if (fs_io_given(io) || fs_io_kept(io)) {
      value->depth = 1;
    }
  }
  return FSCHED_OK;
}

/* The buffers of the sample may be larger than those of the loop. */
static void count_held(const fs_roller *r, const fsched_graph *g, uint32_t loop,
                       fs_loop_body *body) {
  for (uint32_t i = 0; i < r->b->buffer_size.n; i++) {
    uint64_t align = g->target.memory[g->buffer_memory[i]].align;
    uint64_t more =
        fs_align_up(g->buffer_size[i], align) - fs_align_up(r->b->buffer_size.at[i], align);
    uint64_t *held = &body->held[g->buffer_memory[i]];
    *held -= is_ring(r, loop, i) ? 0 : fs_min(more, *held);
  }
}

/* The bytes that slots take of a memory, one of each open ring, with all that the loop holds;
 * *ring: one of given depth, and *others: the bytes without it. */
static uint64_t slots_need(const fs_loop_body *body, uint32_t memory, uint32_t *ring,
                           uint64_t *others) {
  uint64_t need = body->held[memory];
  *ring = FS_NONE;
  for (uint32_t v = 0; v < body->n_values; v++) {
    const fs_body_value *x = &body->value[v];
    if (x->memory == memory) {
      need = fs_add_most(need, fs_multiply_most(fs_max(x->depth, 1), x->size));
      *ring = x->depth > 1 && *ring == FS_NONE ? v : *ring;
    }
  }
  if (*ring != FS_NONE) {
    *others = need - fs_multiply_most(body->value[*ring].depth, body->value[*ring].size);
  }
  return need;
}

/* Reports that slots do not fit: what they need of the first memory that is too small, and to which
 * depth one that was given would do. */
static fs_status does_not_fit(fs_roller *r, const fsched_graph *g, uint32_t loop,
                              const fs_loop_body *body) {
  fsched_builder *b = r->b;
  fs_pos at = fs_pos_at(&b->loop_at, loop);
  const char *name = b->loops.text.at[loop];
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    const fs_memory *memory = &g->target.memory[m];
    uint32_t ring;
    uint64_t others, need = slots_need(body, m, &ring, &others);
    char wanted[FS_SIZE_TEXT], have[FS_SIZE_TEXT], hint[160] = "";
    if (!fs_memory_bounded(memory) || need <= memory->capacity) {
      continue;
    }
    if (ring != FS_NONE && others + body->value[ring].size <= memory->capacity) {
      uint64_t depth = (memory->capacity - others) / body->value[ring].size;
      (void)snprintf(hint, sizeof hint, "a depth of %llu of '%.*s' would fit",
                     (unsigned long long)depth, (int)fs_min(body->value[ring].n_name, 80),
                     body->value[ring].name);
    }
    fs_builder_infeasible(b, FS_DIAG_DOES_NOT_FIT, at, hint[0] == '\0' ? NULL : hint,
                          "loop '%.80s' does not fit memory '%.80s': needed %s, available %s", name,
                          memory->name, fs_size_text(wanted, need),
                          fs_size_text(have, memory->capacity));
    return FSCHED_INFEASIBLE;
  }
  fs_builder_infeasible(b, FS_DIAG_DOES_NOT_FIT, at, NULL,
                        "the slots of loop '%.80s' do not fit the memories", name);
  return FSCHED_INFEASIBLE;
}

static fs_status check_plan(fs_roller *r, const fsched_graph *g, uint32_t loop,
                            const fs_loop_body *body, const fs_planned_loop *p) {
  if (p->plan == NULL && p->unfit) {
    return does_not_fit(r, g, loop, body);
  }
  if (p->plan == NULL) {
    return unsupported(r, loop, p->report.why_not);
  }
  const fs_modulo_problem *q = &p->loop.problem;
  if (q->n > MOST_OPS) {
    return unsupported(r, loop, "its body has more than 512 ops");
  }
  for (uint32_t i = 0; i < q->n; i++) {
    if (q->gang != NULL && q->gang[i]) {
      return unsupported(r, loop, "an op in it is a gang");
    }
  }
  return FSCHED_OK;
}

/* No fewer slots than what keeps a version until an iteration that comes before its reader's: the
 * orders of the plan may allow that, but no wait could say it. */
static void raise_depths(const fs_planned_loop *p) {
  const fs_modulo_problem *q = &p->loop.problem;
  for (uint32_t v = 0; v < q->n_rings; v++) {
    for (uint32_t i = q->reader0[v]; i < q->reader0[v + 1]; i++) {
      uint32_t back = q->reader[i].back;
      p->plan->depth[v] = back > p->plan->depth[v] ? back : p->plan->depth[v];
    }
  }
}

static fs_status fill_ops(fs_roller *r, const fsched_graph *g, const fs_loop_body *body,
                          fs_rolled *x) {
  x->n_ops = body->n;
  FS_TRY(fs_new_zero(&r->b->arena, &x->body, x->n_ops));
  for (uint32_t m = 0; m < x->n_ops; m++) {
    uint32_t op = g->op_body_op[body->op[m]];
    x->body[m].name = r->b->ops.text.at[op];
    x->body[m].time = g->op_time[body->op[m]];
    x->body[m].latency = fs_op_latency(g, body->op[m]);
    x->body[m].kernel = r->b->op.at[op].kernel;
  }
  return FSCHED_OK;
}

static fs_status fill_slots(fs_roller *r, const fs_loop_body *body, fs_rolled *x) {
  FS_TRY(fs_new_zero(&r->b->arena, &x->slots, x->loop.n_rings));
  for (uint32_t v = 0; v < x->loop.n_rings; v++) {
    uint32_t buffer = name_of_value(r, &body->value[v]), depth = x->loop.ring[v].depth;
    fs_ring_buffer *ring = &r->ring[buffer];
    assert(ring->loop != FS_NONE);
    ring->ring = v;
    ring->depth = depth;
    ring->slot = depth == 1 ? r->b->buffer_size.at[buffer] : body->value[v].size;
    ring->before = (depth - 1) * ring->slot;
    ring->behind = (x->trip - 1) % depth * ring->slot;
    x->slots[v] = (fs_body_slots){r->b->buffer_size.at[buffer], ring->slot, buffer, false};
  }
  return FSCHED_OK;
}

/* Counts, or lists, the lanes of a copy of an op. */
static uint32_t list_lanes(fs_roller *r, uint32_t loop, const fs_planned_loop *p, uint32_t copy,
                           uint32_t op, fs_body_lane *out) {
  const fs_modulo_problem *q = &p->loop.problem;
  uint32_t at = p->plan->lane0[copy * q->n + op], n = 0;
  for (uint32_t k = q->use0[op]; k < q->use0[op + 1]; k++) {
    uint32_t resource = q->use[k].resource, last = q->lanes[resource] - 1;
    uint64_t each = p->loop.lane_units[resource];
    for (uint32_t i = 0; i < q->use[k].amount; i++, n++) {
      uint32_t lane = p->plan->lane[at++];
      uint64_t all = r->b->resource_capacity.at[resource];
      fs_body_lane x = {resource, copy, lane * each, lane == last ? all - lane * each : each};
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

static fs_status find_span(fs_roller *r, uint32_t loop, const fs_planned_loop *p, fs_rolled *x) {
  FS_TRY(fs_new(&r->b->arena, &x->report, 1));
  *x->report = p->report;
  x->report->trip = x->trip;
  x->report->runs = 1;
  FS_TRY(fs_rolled_span(r->b->ctx, &x->loop, p->loop.problem.time, p->loop.problem.latency, x->trip,
                        (uint64_t)p->plan->ii.num, (uint64_t)p->plan->ii.den, &x->report->span));
  if (x->report->span > FSCHED_MAX_TIME) {
    return fs_builder_fail(r->b, FS_DIAG_OUT_OF_RANGE, fs_pos_at(&r->b->loop_at, loop), NULL,
                           "loop '%.80s' takes %llu ticks, at most 2^40 are possible",
                           x->report->name, (unsigned long long)x->report->span);
  }
  return FSCHED_OK;
}

/* The scratch of an op whose queues go on before it is over is free for its next iteration only
 * then. */
static fs_status order_scratch(fs_roller *r, const fsched_graph *g, fs_loop_body *body) {
  fs_body_edge *edge;
  FS_TRY(fs_new(r->scratch, &edge, (size_t)body->n_edges + body->n));
  if (body->n_edges > 0) {
    memcpy(edge, body->edge, body->n_edges * sizeof *edge);
  }
  for (uint32_t m = 0; m < body->n; m++) {
    uint32_t op = body->op[m];
    if (fs_op_slow(g, op) && g->op_scratch0[op] < g->op_scratch0[op + 1]) {
      edge[body->n_edges++] = (fs_body_edge){m, m, 1};
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
                          const fs_loop_body *body, bool single, fs_planned_loop *p,
                          bool *possible) {
  fsched_builder *b = r->b;
  fs_planned_options o = {.steps = r->steps, .held_back = true, .always = true, .single = single};
  FS_TRY(fs_planned_loop_make(b->ctx, &b->arena, g, body, &o, p));
  FS_TRY(check_plan(r, g, loop, body, p));
  raise_depths(p);
  return fs_modulo_rolled(b->ctx, &b->arena, &p->loop.problem, p->plan, &r->rolled[loop]->loop,
                          possible);
}

/* Plans the body: with one copy, or resources in the order of iterations, where waits could not
 * keep a better plan. */
static fs_status plan_body(fs_roller *r, const fsched_graph *g, uint32_t loop, fs_loop_body *body,
                           fs_planned_loop *p) {
  bool possible;
  FS_TRY(try_plan(r, g, loop, body, false, p, &possible));
  if (possible) {
    return FSCHED_OK;
  }
  fs_loop_ticks bound = p->report.bound;
  FS_TRY(try_plan(r, g, loop, body, true, p, &possible));
  if (!possible) {
    FS_TRY(order_uses(r, g, body));
    FS_TRY(try_plan(r, g, loop, body, true, p, &possible));
  }
  p->report.bound = bound;
  p->report.proven = false;
  return possible ? FSCHED_OK : unsupported(r, loop, "its lanes are planned across iterations");
}

static fs_status find_body(fs_roller *r, const fsched_graph *g, const fs_loop_index *index,
                           uint32_t loop, fs_loop_body *body) {
  FS_TRY(fs_loop_body_find(r->b->ctx, r->scratch, g, index, loop, body));
  if (body->periodic) {
    FS_TRY(set_depths(r, loop, body));
    count_held(r, g, loop, body);
    FS_TRY(order_scratch(r, g, body));
  }
  body->trip = r->in.trip[loop];
  return FSCHED_OK;
}

static fs_status plan_loop(fs_roller *r, const fsched_graph *g, const fs_loop_index *index,
                           uint32_t loop) {
  fs_loop_body body;
  fs_planned_loop p;
  FS_TRY(fs_new_zero(&r->b->arena, &r->rolled[loop], 1));
  fs_rolled *x = r->rolled[loop];
  x->trip = r->in.trip[loop];
  FS_TRY(find_body(r, g, index, loop, &body));
  FS_TRY(plan_body(r, g, loop, &body, &p));
  FS_TRY(fill_ops(r, g, &body, x));
  FS_TRY(fill_slots(r, &body, x));
  FS_TRY(fill_lanes(r, loop, &p, x));
  return find_span(r, loop, &p, x);
}

static fs_status plan_loops(fs_roller *r, const fsched_graph *g) {
  fs_loop_index index;
  FS_TRY(fs_loop_index_make(r->scratch, g, &index));
  for (uint32_t l = 0; l < r->b->loop.n; l++) {
    if (stays(r, l)) {
      FS_TRY(plan_loop(r, g, &index, l));
    }
  }
  return FSCHED_OK;
}

/* Notes the buffers that bodies begin. */
static fs_status find_rings(fs_roller *r) {
  fsched_builder *b = r->b;
  FS_TRY(fs_new(r->scratch, &r->ring, b->buffer_size.n));
  for (uint32_t i = 0; i < b->buffer_size.n; i++) {
    r->ring[i] = (fs_ring_buffer){.loop = FS_NONE};
  }
  for (uint32_t i = 0; i < r->in.n_begun; i++) {
    uint32_t loop = (uint32_t)(r->in.begun[i].key >> 32), buffer = (uint32_t)r->in.begun[i].key;
    if (!stays(r, loop)) {
      continue;
    }
    if (r->ring[buffer].loop != FS_NONE) {
      return unsupported(r, loop, "another loop begins one of its buffers, too");
    }
    r->ring[buffer].loop = loop;
  }
  return FSCHED_OK;
}

static fs_status plan_sample(fs_roller *r) {
  fsched_builder *s;
  fsched_graph *g = NULL;
  FS_TRY(fs_builder_clone(r->b, &s));
  fs_status status = make_sample(r, s, &g);
  if (status == FSCHED_OK) {
    status = plan_loops(r, g);
  }
  fsched_graph_destroy(g);
  fsched_builder_destroy(s);
  return status;
}

static fs_status roll(fs_roller *r) {
  fsched_builder *b = r->b;
  uint64_t n = 0;
  FS_TRY(check_loops(r));
  FS_TRY(fs_bodies_make(b, r->scratch, true, &r->in));
  FS_TRY(fs_new_zero(r->scratch, &r->rolled, b->loop.n));
  FS_TRY(fs_new_zero(r->scratch, &r->use, b->loop.n));
  FS_TRY(fs_new_zero(r->scratch, &r->scratch_use, b->loop.n));
  FS_TRY(find_rings(r));
  for (uint32_t l = 0; l < b->loop.n; l++) {
    n += stays(r, l);
  }
  if (n > 0) {
    r->steps = n > LOOPS ? fs_max(STEPS * LOOPS / n, LEAST_STEPS) : STEPS;
    FS_TRY(plan_sample(r));
  }
  return fs_roller_contract(r);
}

fs_status fs_builder_roll(fsched_builder *b) {
  assert(b->loop.n > 0);
  FS_SCRATCH(scratch, b->ctx);
  fs_roller r = {.b = b, .scratch = &scratch};
  return roll(&r);
}
