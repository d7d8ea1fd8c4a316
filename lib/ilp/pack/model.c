/* SPDX-License-Identifier: Apache-2.0 */
/* The strip packing model decides when every item starts, and where every rectangle lies.
 *
 *        address                       s_i   start of item i
 *      H +--------------------+        b_r, e_r  begin and end of residency r; where one item alone
 *        |  +------+  +----+  |              begins (ends) it, that item's start (end)
 *        |  |  r   |  |    |  |        p_r   address of residency r, in units of the memory
 *        |  +------+  |  q |  |        t     binaries of pairs: 0 where a relation has to hold
 *        |            +----+  |
 *      0 +--------------------+        The rows of two rectangles r and q that may overlap:
 *        0                    W           e_r <= b_q + W t_L        e_q <= b_r + W t_R
 *                       time              p_r + size_r <= p_q + H t_U
 *                                         p_q + size_q <= p_r + H t_B
 *                                         t_L + t_R + t_U + t_B <= 3
 *
 * Source: Kundeti, An ILP for Generating Optimal Schedules with Resource Constraints.  The
 * differences, and their reasons:
 *   - W and H suffice as big-M constants (the published 2W and 2H only weaken the relaxation), and
 *     the windows allow smaller ones: the latest end of one span less the earliest begin of the
 *     other;
 *   - precedence has rows, without which the model is that of independent rectangles;
 *   - a residency ends with the last of its readers: its end is a variable that is at least the end
 *     of each.  With a fixed reader as its end, the optimum is lost or wrong;
 *   - pairs that precedence orders need no rows, pairs that always overlap in time have only t_U
 *     and t_B, and pairs that together exceed the capacity only t_L and t_R;
 *   - rectangles coincide only where that is declared, at equal size (pack/places.c);
 *   - there are queues, resources, concurrency and counted memories (pack/amounts.c), of which the
 *     published model has none;
 *   - all constraints that need the same order in time share its binary (pack/order.c).
 *
 * With `peak` all starts are given, and the model minimises the highest address. */
#include "ilp/pack/private.h"

fs_pack_expr fs_pack_known(int64_t value) { return (fs_pack_expr){FS_NONE, value, value, value}; }

static fs_pack_expr plus(fs_pack_expr e, int64_t add) {
  return (fs_pack_expr){e.var, e.add + add, e.low + add, e.high + add};
}

fs_status fs_pack_add(fs_pack_model *t, fs_pack_expr e, int64_t coef) {
  assert(t->model.open);
  fs_model_add_known(&t->model, coef * e.add);
  return e.var == FS_NONE ? FSCHED_OK : fs_model_add_term(&t->model, e.var, coef);
}

bool fs_pack_full(fs_pack_model *t) {
  t->large |= t->options.max_terms != 0 && t->model.term.n > t->options.max_terms;
  t->large = t->large || fs_problem_stopped(t->p);
  return t->large;
}

fs_status fs_pack_row_before(fs_pack_model *t, fs_pack_expr x, int64_t add, fs_pack_expr y,
                             uint32_t unless, const char *name, uint32_t a, uint32_t b) {
  assert(!t->model.open);
  int64_t most = x.high + add - y.low;
  if (most <= 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, -add, "%s_%u_%u", name, a, b));
  FS_TRY(fs_pack_add(t, x, 1));
  FS_TRY(fs_pack_add(t, y, -1));
  if (unless != FS_NONE) {
    FS_TRY(fs_model_add_term(&t->model, unless, -most));
  }
  return fs_model_end_row(&t->model);
}

fs_status fs_pack_binary(fs_pack_model *t, fs_pack_def def, uint32_t *var, const char *name,
                         uint32_t a, uint32_t b) {
  assert(!t->model.open);
  FS_TRY(fs_model_add_var(&t->model, FS_VAR_BINARY, 0, 1, 0, var, "%s_%u_%u", name, a, b));
  def.var = *var;
  return fs_vec_push(t->ctx, &t->def, def);
}

fs_status fs_pack_number(fs_pack_model *t, int64_t low, int64_t high, int64_t cost,
                         fs_pack_expr *out, const char *name, uint32_t id) {
  assert(!t->model.open);
  t->model.contradiction |= low > high;
  if (low >= high) {
    t->model.constant += cost * low;
    *out = fs_pack_known(low);
    return FSCHED_OK;
  }
  *out = (fs_pack_expr){.low = low, .high = high};
  return id == FS_NONE
             ? fs_model_add_var(&t->model, FS_VAR_INTEGER, low, high, cost, &out->var, "%s", name)
             : fs_model_add_var(&t->model, FS_VAR_INTEGER, low, high, cost, &out->var, "%s_%u",
                                name, id);
}

static int64_t tick(fs_tick a) { return (int64_t)fs_min(a, INT64_MAX / 8); }

/* --- starts and the makespan --- */

static bool is_rigid(const fs_pack_model *t, uint32_t i) {
  return t->options.rigid != NULL && t->options.rigid[i] != FS_TICK_NONE;
}

/* The items that move together share a variable, the negated shift; its cost is the makespan's. */
static fs_status make_later(fs_pack_model *t) {
  t->later = fs_pack_known(0);
  return t->options.rigid == NULL ? FSCHED_OK
                                  : fs_pack_number(t, -tick(t->options.max_shift), 0, 1, &t->later,
                                                   "shift_later", FS_NONE);
}

static fs_status make_starts(fs_pack_model *t) {
  const fs_problem *p = t->p;
  int64_t horizon = tick(p->horizon);
  FS_TRY(make_later(t));
  for (uint32_t i = 0; i < p->n_items; i++) {
    int64_t low = tick(p->head[i]), high = horizon - tick(p->tail[i]) - tick(p->time[i]);
    if (p->fixed != NULL && p->fixed[i] != FS_TICK_NONE) {
      low = high = tick(p->fixed[i]);
    } else if (fs_pack_latest(t, i) < high) {
      high = fs_pack_latest(t, i);
    }
    fs_pack_span *span = &t->span[i];
    if (is_rigid(t, i)) {
      span->begin = plus(t->later, tick(t->options.rigid[i]));
    } else {
      FS_TRY(fs_pack_number(t, low, high, 0, &span->begin, "s", i));
    }
    span->end = plus(span->begin, tick(p->time[i]));
    span->begin_ref = span->end_ref = i;
    span->length = p->time[i] == 0 ? FS_PACK_ZERO : FS_PACK_POSITIVE;
  }
  return FSCHED_OK;
}

static fs_status rigid_makespan(fs_pack_model *t) {
  int64_t end = 0;
  for (uint32_t i = 0; i < t->p->n_items; i++) {
    int64_t mine = is_rigid(t, i) ? tick(t->options.rigid[i]) + tick(t->p->time[i]) : 0;
    end = end > mine ? end : mine;
  }
  t->makespan = plus(t->later, end);
  t->model.constant += end;
  return FSCHED_OK;
}

static fs_status make_makespan(fs_pack_model *t) {
  const fs_problem *p = t->p;
  if (t->options.rigid != NULL) {
    return rigid_makespan(t);
  }
  int64_t low = tick(p->lower_bound), high = tick(p->horizon);
  for (uint32_t i = 0; i < p->n_items; i++) {
    low = low > t->span[i].end.low ? low : t->span[i].end.low;
  }
  if (t->options.peak) {
    low = high = low < high ? low : high;
  }
  return fs_pack_number(t, low, high, t->options.peak ? 0 : 1, &t->makespan, "end_max", FS_NONE);
}

/* --- residencies --- */

static fs_status make_begin(fs_pack_model *t, uint32_t r) {
  uint32_t n;
  const uint32_t *item = fs_pack_begins(t, t->p->n_items + r, &n);
  fs_pack_span *span = &t->span[t->p->n_items + r];
  span->begin_ref = n == 1 ? item[0] : t->p->n_items + r;
  if (n <= 1) {
    span->begin = n == 0 ? fs_pack_known(0) : t->span[item[0]].begin;
    return FSCHED_OK;
  }
  int64_t low = INT64_MAX, high = INT64_MAX;
  for (uint32_t k = 0; k < n; k++) {
    fs_pack_expr s = t->span[item[k]].begin;
    low = low < s.low ? low : s.low;
    high = high < s.high ? high : s.high;
  }
  FS_TRY(fs_pack_number(t, low, high, 0, &span->begin, "b", r));
  for (uint32_t k = 0; k < n; k++) {
    FS_TRY(fs_pack_row_before(t, span->begin, 0, t->span[item[k]].begin, FS_NONE, "begin", r,
                              item[k]));
  }
  return FSCHED_OK;
}

/* May item[k] be the last to end?  Not if precedence puts another item of the list after it. */
static bool last_end(const fs_pack_model *t, const uint32_t *item, uint32_t n, uint32_t k) {
  for (uint32_t i = 0; i < n; i++) {
    if (i != k && fs_pack_reaches(t, item[k], item[i])) {
      return false;
    }
  }
  return true;
}

static fs_status make_end(fs_pack_model *t, uint32_t r) {
  uint32_t n, last = FS_NONE, n_last = 0, id = t->p->n_items + r;
  const uint32_t *item = fs_pack_ends(t, id, &n);
  fs_pack_span *span = &t->span[id];
  int64_t low = span->begin.low, high = span->begin.high;
  for (uint32_t k = 0; k < n; k++) {
    if (last_end(t, item, n, k)) {
      last = item[k];
      n_last++;
      low = low > t->span[last].end.low ? low : t->span[last].end.low;
      high = high > t->span[last].end.high ? high : t->span[last].end.high;
    }
  }
  span->end_ref = n_last == 1 && !t->p->res_to_end[r] ? last : id;
  if (t->p->res_to_end[r] || n_last <= 1) {
    span->end = t->p->res_to_end[r] ? t->makespan : n_last == 0 ? span->begin : t->span[last].end;
    return FSCHED_OK;
  }
  FS_TRY(fs_pack_number(t, low, high, 0, &span->end, "e", r));
  for (uint32_t k = 0; k < n; k++) {
    if (last_end(t, item, n, k)) {
      FS_TRY(fs_pack_row_before(t, t->span[item[k]].end, 0, span->end, FS_NONE, "end", r, item[k]));
    }
  }
  return FSCHED_OK;
}

static uint8_t length_of(const fs_pack_model *t, uint32_t r) {
  uint32_t n_ends, n_begins, id = t->p->n_items + r;
  const uint32_t *end = fs_pack_ends(t, id, &n_ends), *begin = fs_pack_begins(t, id, &n_begins);
  for (uint32_t k = 0; k < n_ends; k++) {
    if (t->p->time[end[k]] > 0) {
      return FS_PACK_POSITIVE;
    }
  }
  bool instant =
      !t->p->res_to_end[r] && n_begins == 1 && (n_ends == 0 || (n_ends == 1 && end[0] == begin[0]));
  return instant ? FS_PACK_ZERO : FS_PACK_MAYBE_ZERO;
}

static fs_status make_residencies(fs_pack_model *t) {
  for (uint32_t r = 0; r < t->p->n_residencies; r++) {
    FS_TRY(make_begin(t, r));
    FS_TRY(make_end(t, r));
    t->span[t->p->n_items + r].length = length_of(t, r);
  }
  return FSCHED_OK;
}

/* --- precedence --- */

static fs_status find_paths(fs_pack_model *t) {
  const fs_problem *p = t->p;
  t->reach_words = p->n_items / 64 + 1;
  FS_TRY(fs_new_zero(&t->arena, &t->reach, p->n_items * t->reach_words));
  for (uint32_t k = p->n_items; k-- > 0;) {
    uint32_t i = p->topo[k];
    uint64_t *row = &t->reach[i * t->reach_words];
    for (uint32_t e = p->succ0[i]; e < p->succ0[i + 1]; e++) {
      const uint64_t *other = &t->reach[p->succ[e] * t->reach_words];
      for (size_t w = 0; w < t->reach_words; w++) {
        row[w] |= other[w];
      }
      row[p->succ[e] / 64] |= (uint64_t)1 << p->succ[e] % 64;
    }
  }
  return FSCHED_OK;
}

/* Tails hold for every makespan, and so may be in rows, only where no item is tied to a time. */
static fs_status precedence_rows(fs_pack_model *t) {
  const fs_problem *p = t->p;
  bool tied = p->fixed != NULL || t->options.rigid != NULL || p->graph->op_start != NULL;
  for (uint32_t i = 0; i < p->n_items && !fs_pack_full(t); i++) {
    int64_t follows = 0; /* the longest path behind i that other rows imply */
    for (uint32_t e = p->succ0[i]; e < p->succ0[i + 1]; e++) {
      uint32_t next = p->succ[e];
      int64_t path = tick(p->time[next]) + tick(p->tail[next]);
      FS_TRY(
          fs_pack_row_before(t, t->span[i].end, 0, t->span[next].begin, FS_NONE, "edge", i, next));
      follows = follows > path ? follows : path;
    }
    int64_t tail = tied ? 0 : tick(p->tail[i]);
    if (p->succ0[i] == p->succ0[i + 1] || tail > follows) {
      FS_TRY(fs_pack_row_before(t, t->span[i].end, tail, t->makespan, FS_NONE, "last", i, 0));
    }
  }
  return FSCHED_OK;
}

static fs_status add_notes(fs_pack_model *t) {
  const fs_problem *p = t->p;
  fs_model *m = &t->model;
  FS_TRY(fs_model_add_note(m, "s_I: start of item I; b_R, e_R: begin and end of residency R"));
  FS_TRY(fs_model_add_note(m, "p_R: address of residency R, in units of its memory"));
  FS_TRY(
      fs_model_add_note(m, "t_I_J: 0 where I has ended when J begins (items, then residencies)"));
  FS_TRY(fs_model_add_note(m,
                           "under_Q_R: 0 where residency Q lies below R; late_I_J: 0 where I "
                           "begins after J; pick_I_C: item I takes a queue of class C"));
  for (uint32_t i = 0; i < p->n_items && i < p->graph->n_ops; i++) {
    FS_TRY(fs_model_add_note(m, "item %u: op %s", i, p->graph->op_name[i]));
  }
  return FSCHED_OK;
}

/* --- the whole model --- */

static fs_status prepare_model(fs_pack_model *t) {
  const fs_problem *p = t->p;
  t->n_spans = p->n_items + p->n_residencies;
  FS_TRY(fs_new_zero(&t->arena, &t->span, t->n_spans));
  FS_TRY(fs_new(&t->arena, &t->self, p->n_items));
  for (uint32_t i = 0; i < p->n_items; i++) {
    t->self[i] = i;
  }
  return find_paths(t);
}

static fs_status fill_model(fs_pack_model *t) {
  FS_TRY(prepare_model(t));
  FS_TRY(add_notes(t));
  FS_TRY(fs_pack_units(t));
  FS_TRY(fs_pack_symmetry_find(t));
  FS_TRY(make_starts(t));
  FS_TRY(make_makespan(t));
  FS_TRY(make_residencies(t));
  FS_TRY(fs_pack_places(t));
  FS_TRY(precedence_rows(t));
  if (t->options.positions) {
    FS_TRY(fs_pack_positions(t));
    return fs_pack_symmetry_rows(t);
  }
  FS_TRY(fs_pack_pairs(t));
  FS_TRY(fs_pack_amounts(t));
  return fs_pack_symmetry_rows(t);
}

static bool too_large(const fs_problem *p, const fs_pack_options *o) {
  uint64_t most = fs_limits_of(p->ctx)->pack_items; /* larger problems have too many pairs */
  return p->n_items > most || p->n_residencies > most ||
         (o->max_terms != 0 && p->n_items + (size_t)p->n_residencies > o->max_terms);
}

fs_status fs_pack_model_build(const fs_problem *p, const fs_pack_options *o, fs_pack_model **out) {
  assert(p->topo != NULL && (o->rigid == NULL || o->address != NULL || p->n_residencies == 0));
  *out = NULL;
  if (too_large(p, o) || (o->positions && (o->peak || !fs_pack_has_positions(p)))) {
    return FSCHED_OK;
  }
  fs_pack_model *t = fs_realloc(p->ctx, NULL, 0, sizeof *t);
  if (t == NULL) {
    return FSCHED_SYSTEM;
  }
  *t = (fs_pack_model){.ctx = p->ctx, .p = p, .options = *o, .peak = FS_NONE};
  fs_arena_init(&t->arena, p->ctx);
  fs_model_init(&t->model, p->ctx, o->peak ? "peak" : "pack");
  fs_status status = fill_model(t);
  if (status != FSCHED_OK || t->large) {
    fs_pack_model_destroy(t);
    return status;
  }
  *out = t;
  return FSCHED_OK;
}

const fs_model *fs_pack_model_of(const fs_pack_model *t) { return &t->model; }

void fs_pack_model_destroy(fs_pack_model *t) {
  if (t == NULL) {
    return;
  }
  fsched_context *ctx = t->ctx;
  fs_pack_order_free(t);
  fs_vec_free(ctx, &t->position);
  fs_vec_free(ctx, &t->def);
  fs_model_release(&t->model);
  fs_arena_release(&t->arena);
  (void)fs_realloc(ctx, t, sizeof *t, 0);
}
