/* SPDX-License-Identifier: Apache-2.0 */
/* Contiguous memories: each rectangle has an address, and each pair of rectangles that may overlap
 * has the rows of pack/model.c.
 *
 * Addresses count in units: a memory's unit is the greatest number that divides all of its sizes.
 * There is always a solution with each rectangle at 0 or on top of others, and the numbers stay
 * small.
 *
 * While its op runs, an in-place output may lie where its input lies.  Such a pair has a fifth
 * binary:
 *     d = | p_in - p_out |,  c = 1 when d >= 1,  t_L + t_R + t_U + t_B + c <= 4,
 * with the blocks of model/logic.c.  Where the two share one place, the input must end when the op
 * ends, and the output must not begin before the op starts: end(in) <= end(op) + W c. */
#include <stdio.h>

#include "ilp/pack/private.h"

uint64_t fs_pack_divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

fs_status fs_pack_units(fs_pack_model *t) {
  const fs_problem *p = t->p;
  uint32_t n = p->graph->target.n_memories;
  FS_TRY(fs_new_zero(&t->arena, &t->unit, n));
  FS_TRY(fs_new_zero(&t->arena, &t->room, n));
  FS_TRY(fs_new_none(&t->arena, &t->low_half, n));
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    uint64_t *unit = &t->unit[p->res_memory[r]];
    *unit = fs_pack_divisor(*unit, p->res_size[r]);
  }
  for (uint32_t m = 0; m < n; m++) {
    t->unit[m] = t->unit[m] == 0 || t->options.address != NULL ? 1 : t->unit[m];
    t->room[m] = (int64_t)fs_min(p->graph->target.memory[m].capacity / t->unit[m], INT64_MAX / 8);
  }
  return FSCHED_OK;
}

/* --- addresses --- */

/* A lower bound of the peak: the largest sum of sizes at one moment.  All starts are known here. */
static int64_t least_peak(const fs_pack_model *t) {
  const fs_problem *p = t->p;
  int64_t most = 0;
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    int64_t sum = 0, now = t->span[p->n_items + r].begin.low;
    for (uint32_t q = 0; q < p->n_residencies; q++) {
      const fs_pack_span *s = &t->span[p->n_items + q];
      bool there = q == r || (s->begin.low <= now && now < s->end.low);
      /* Residencies that coincide count once, but it is open which of them do. */
      bool counts = p->n_coincide == 0 || q == r;
      sum += there && counts && p->res_memory[q] == t->options.peak_memory ? fs_pack_size(t, q) : 0;
    }
    most = most > sum ? most : sum;
  }
  return most;
}

static fs_status make_peak(fs_pack_model *t) {
  uint32_t m = t->options.peak_memory;
  fs_pack_expr e;
  int64_t low = least_peak(t), high = t->room[m];
  t->model.contradiction |= low > high;
  FS_TRY(fs_model_add_var(&t->model, FS_VAR_INTEGER, low < high ? low : high, high,
                          (int64_t)t->unit[m], &t->peak, "address_max"));
  e = (fs_pack_expr){t->peak, 0, low, high};
  for (uint32_t r = 0; r < t->p->n_residencies; r++) {
    if (fs_pack_placed(t, r) && t->p->res_memory[r] == m) {
      FS_TRY(fs_pack_row_before(t, t->place[r], fs_pack_size(t, r), e, FS_NONE, "top", r, m));
    }
  }
  return FSCHED_OK;
}

fs_status fs_pack_places(fs_pack_model *t) {
  assert(t->unit != NULL || t->p->graph->target.n_memories == 0);
  const fs_problem *p = t->p;
  FS_TRY(fs_new_zero(&t->arena, &t->place, p->n_residencies));
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    t->place[r] = fs_pack_known(0);
    if (t->options.address != NULL) {
      t->place[r] = fs_pack_known((int64_t)fs_min(t->options.address[r], INT64_MAX / 8));
    } else if (fs_pack_placed(t, r)) {
      FS_TRY(fs_pack_number(t, 0, fs_pack_highest(t, r), 0, &t->place[r], "p", r));
    }
  }
  return t->options.peak ? make_peak(t) : FSCHED_OK;
}

/* --- pairs --- */

/* The order "residency a lies below b". */
static fs_status under(fs_pack_model *t, uint32_t a, uint32_t b, fs_pack_order *out) {
  fs_pack_expr x = t->place[a], y = t->place[b];
  int64_t size = fs_pack_size(t, a);
  *out = (fs_pack_order){x.high + size <= y.low  ? FS_PACK_YES
                         : x.low + size > y.high ? FS_PACK_NO
                                                 : FS_PACK_OPEN,
                         FS_NONE};
  if (out->truth != FS_PACK_OPEN) {
    return FSCHED_OK;
  }
  fs_pack_def def = {
      .kind = FS_PACK_AFTER, .x = x.var, .y = y.var, .other = FS_NONE, .add = x.add + size - y.add};
  FS_TRY(fs_pack_binary(t, def, &out->var, "under", a, b));
  return fs_pack_row_before(t, x, size, y, out->var, "below", a, b);
}

uint32_t fs_pack_declared(const fs_problem *p, uint32_t a, uint32_t b) {
  assert(a < p->n_residencies && b < p->n_residencies);
  for (uint32_t k = 0; k < p->n_coincide; k++) {
    uint32_t in = p->coincide_in[k], out = p->coincide_out[k];
    if (((in == a && out == b) || (in == b && out == a)) && p->res_size[a] == p->res_size[b]) {
      return k;
    }
  }
  return FS_NONE;
}

static fs_status define(fs_pack_model *t, fs_pack_kind kind, uint32_t var, uint32_t x) {
  fs_pack_def def = {.var = var, .kind = (uint8_t)kind, .x = x, .y = FS_NONE, .other = FS_NONE};
  return fs_vec_push(t->ctx, &t->def, def);
}

/* Makes *apart, a binary that is 1 exactly when the two places differ. */
static fs_status same_place(fs_pack_model *t, uint32_t in, uint32_t out, uint32_t *apart) {
  fs_model *m = &t->model;
  fs_pack_expr x = t->place[in], y = t->place[out];
  int64_t big = x.high - y.low > y.high - x.low ? x.high - y.low : y.high - x.low;
  char name[64];
  uint32_t z, distance;
  fs_pack_def def = {
      .kind = FS_PACK_MINUS, .x = x.var, .y = y.var, .other = FS_NONE, .add = x.add - y.add};
  FS_TRY(fs_model_add_var(m, FS_VAR_INTEGER, -big, big, 0, &z, "z_%u_%u", in, out));
  def.var = z;
  FS_TRY(fs_vec_push(t->ctx, &t->def, def));
  FS_TRY(fs_model_begin_row(m, 0, 0, "differ_%u_%u", in, out));
  FS_TRY(fs_pack_add(t, x, 1));
  FS_TRY(fs_pack_add(t, y, -1));
  FS_TRY(fs_model_add_term(m, z, -1));
  FS_TRY(fs_model_end_row(m));
  (void)snprintf(name, sizeof name, "d_%u_%u", in, out);
  FS_TRY(fs_model_absolute(m, z, big, name, &distance));
  FS_TRY(define(t, FS_PACK_ABSOLUTE, distance, z));
  FS_TRY(define(t, FS_PACK_NEGATIVE, distance + 1, z));
  (void)snprintf(name, sizeof name, "c_%u_%u", in, out);
  FS_TRY(fs_model_indicator(m, distance, big, name, apart));
  return define(t, FS_PACK_NOT_ZERO, *apart, distance);
}

/* Makes the fifth binary, of a declared pair. */
static fs_status coincide(fs_pack_model *t, uint32_t k, fs_pack_order *way) {
  const fs_problem *p = t->p;
  uint32_t in = p->coincide_in[k], out = p->coincide_out[k], op = p->coincide_op[k];
  const fs_pack_span *gone = &t->span[p->n_items + in], *there = &t->span[p->n_items + out];
  if (t->options.address != NULL) {
    way->truth = t->options.address[in] == t->options.address[out] ? FS_PACK_YES : FS_PACK_NO;
    way->var = FS_NONE;
    if (way->truth == FS_PACK_NO) {
      return FSCHED_OK;
    }
    FS_TRY(fs_pack_row_before(t, gone->end, 0, t->span[op].end, FS_NONE, "gone", in, op));
    return fs_pack_row_before(t, t->span[op].begin, 0, there->begin, FS_NONE, "fresh", out, op);
  }
  way->truth = FS_PACK_OPEN;
  FS_TRY(same_place(t, in, out, &way->var));
  if (gone->end_ref != op) {
    FS_TRY(fs_pack_row_before(t, gone->end, 0, t->span[op].end, way->var, "gone", in, op));
  }
  if (there->begin_ref != op) {
    FS_TRY(fs_pack_row_before(t, t->span[op].begin, 0, there->begin, way->var, "fresh", out, op));
  }
  return FSCHED_OK;
}

/* Lists what may hold for two residencies: L, R, U, B or, if declared, that they coincide. */
static fs_status find_ways(fs_pack_model *t, uint32_t a, uint32_t b, fs_pack_order way[5],
                           uint32_t *n) {
  const fs_problem *p = t->p;
  uint32_t k = fs_pack_declared(p, a, b);
  FS_TRY(fs_pack_left(t, p->n_items + a, p->n_items + b, &way[0]));
  FS_TRY(fs_pack_left(t, p->n_items + b, p->n_items + a, &way[1]));
  *n = 2;
  if (way[0].truth == FS_PACK_YES || way[1].truth == FS_PACK_YES) {
    return FSCHED_OK;
  }
  if (fs_pack_size(t, a) + fs_pack_size(t, b) <= t->room[p->res_memory[a]]) {
    FS_TRY(under(t, a, b, &way[2]));
    FS_TRY(under(t, b, a, &way[3]));
    *n = 4;
  }
  return k == FS_NONE ? FSCHED_OK : coincide(t, k, &way[(*n)++]);
}

/* Do the given addresses settle the pair, because the two do not move relative to each other? */
static bool settled(const fs_pack_model *t, uint32_t a, uint32_t b) {
  const fs_pack_span *x = &t->span[t->p->n_items + a], *y = &t->span[t->p->n_items + b];
  return t->options.address != NULL && fs_pack_same_var(x->begin, y->begin) &&
         fs_pack_same_var(x->begin, x->end) && fs_pack_same_var(y->begin, y->end);
}

static fs_status pair(fs_pack_model *t, uint32_t a, uint32_t b) {
  fs_pack_order way[5];
  uint32_t n;
  if (settled(t, a, b)) {
    return FSCHED_OK;
  }
  FS_TRY(find_ways(t, a, b, way, &n));
  for (uint32_t i = 0; i < n; i++) {
    if (way[i].truth == FS_PACK_YES) {
      return FSCHED_OK;
    }
  }
  FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, (int64_t)n - 1, "pair_%u_%u", a, b));
  for (uint32_t i = 0; i < n; i++) {
    FS_TRY(fs_pack_add_not(t, way[i], 1));
  }
  return fs_model_end_row(&t->model);
}

fs_status fs_pack_pairs(fs_pack_model *t) {
  assert(t->place != NULL || t->p->n_residencies == 0);
  const fs_problem *p = t->p;
  for (uint32_t a = 0; a < p->n_residencies; a++) {
    for (uint32_t b = a + 1; b < p->n_residencies && fs_pack_placed(t, a); b++) {
      if (p->res_memory[a] == p->res_memory[b] && fs_pack_placed(t, b)) {
        FS_TRY(pair(t, a, b));
      }
    }
    if (fs_pack_full(t)) {
      return FSCHED_OK;
    }
  }
  return FSCHED_OK;
}
