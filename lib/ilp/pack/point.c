/* SPDX-License-Identifier: Apache-2.0 */
/* Converts answers to points of the model and back.
 *
 * An answer gives starts, choices and addresses; every other variable follows from variables made
 * before it (fs_pack_def).  First the answer is given the form that the model assumes. */
#include "ilp/pack/private.h"

void fs_pack_times(const fs_pack_model *t, const int64_t *start, uint32_t residency, int64_t *begin,
                   int64_t *end) {
  assert(residency < t->p->n_residencies);
  const fs_problem *p = t->p;
  uint32_t n;
  const uint32_t *item = fs_pack_begins(t, p->n_items + residency, &n);
  *begin = n == 0 ? 0 : INT64_MAX;
  for (uint32_t k = 0; k < n; k++) {
    *begin = *begin < start[item[k]] ? *begin : start[item[k]];
  }
  item = fs_pack_ends(t, p->n_items + residency, &n);
  *end = p->res_to_end[residency] ? fs_pack_total(t, start) : *begin;
  for (uint32_t k = 0; k < n; k++) {
    int64_t over = start[item[k]] + (int64_t)p->time[item[k]];
    *end = *end > over ? *end : over;
  }
}

int64_t fs_pack_total(const fs_pack_model *t, const int64_t *start) {
  int64_t total = 0;
  for (uint32_t i = 0; i < t->p->n_items; i++) {
    int64_t over = start[i] + (int64_t)t->p->time[i];
    total = total > over ? total : over;
  }
  return total;
}

/* --- a point --- */

typedef struct pointer {
  const fs_pack_model *t;
  int64_t *value;
  const int64_t *start, *address;
  bool fits;
} pointer;

/* Gives the expression's variable its value; a known expression has to equal the value. */
static void set(pointer *q, fs_pack_expr e, int64_t value) {
  assert(e.var == FS_NONE || e.var < q->t->model.var.n);
  if (e.var == FS_NONE) {
    q->fits = q->fits && e.add == value;
  } else {
    q->value[e.var] = value - e.add;
  }
}

static int64_t value_of(const pointer *q, uint32_t var) {
  return var == FS_NONE ? 0 : q->value[var];
}

static int64_t follow(const pointer *q, const fs_pack_def *d) {
  int64_t x = value_of(q, d->x), y = value_of(q, d->y);
  bool holds = x + d->add <= y;
  switch ((fs_pack_kind)d->kind) {
    case FS_PACK_AFTER:
      return !holds || (d->other != FS_NONE && q->value[d->other] == 0);
    case FS_PACK_NOW:
      return holds;
    case FS_PACK_ALL:
      return (d->x == FS_NONE || x != 0) && (d->y == FS_NONE || y != 0) && q->value[d->other] != 0;
    case FS_PACK_MINUS:
      return x - y + d->add;
    case FS_PACK_ABSOLUTE:
      return x < 0 ? -x : x;
    case FS_PACK_NEGATIVE:
      return x < 0;
    case FS_PACK_NOT_ZERO:
      break;
  }
  return x != 0;
}

static void set_picks(pointer *q, const uint32_t *choice) {
  const fs_problem *p = q->t->p;
  for (uint32_t i = 0; i < p->n_items; i++) {
    for (uint32_t k = p->choice0[i]; k < p->choice0[i + 1]; k++) {
      if (q->t->pick[k] != FS_NONE) {
        q->fits = q->fits && choice != NULL;
        q->value[q->t->pick[k]] = q->fits && choice[i] == p->choice[k];
      }
    }
  }
}

static void set_residency(pointer *q, uint32_t r, int64_t *peak) {
  const fs_pack_model *t = q->t;
  int64_t begin, end, unit = (int64_t)t->unit[t->p->res_memory[r]];
  fs_pack_times(t, q->start, r, &begin, &end);
  if (!t->p->res_to_end[r]) {
    set(q, t->span[t->p->n_items + r].end, end);
  }
  set(q, t->span[t->p->n_items + r].begin, begin);
  if (fs_pack_placed(t, r)) {
    int64_t place = q->address[r] / unit, top = place + fs_pack_size(t, r);
    q->fits = q->fits && q->address[r] % unit == 0;
    set(q, t->place[r], place);
    *peak = t->p->res_memory[r] == t->options.peak_memory && top > *peak ? top : *peak;
  }
}

static void set_positions(pointer *q) {
  const fs_pack_model *t = q->t;
  const fs_problem *p = t->p;
  for (size_t k = 0; k < t->position.n; k++) {
    const fs_pack_position *x = &t->position.at[k];
    uint32_t r = fs_pack_rectangle(p, x->item);
    q->value[t->position_var + k] = q->start[x->item] == x->start &&
                                    q->address[r] == x->place * (int64_t)t->unit[p->res_memory[r]];
  }
}

static void set_all(pointer *q, const uint32_t *choice) {
  const fs_pack_model *t = q->t;
  const fs_model *m = &t->model;
  int64_t peak = 0, total = fs_pack_total(t, q->start);
  for (uint32_t i = 0; i < t->p->n_items; i++) {
    set(q, t->span[i].begin, q->start[i]);
  }
  for (uint32_t r = 0; r < t->p->n_residencies; r++) {
    set_residency(q, r, &peak);
  }
  if (t->makespan.var != FS_NONE) {
    set(q, t->makespan, total > t->makespan.low ? total : t->makespan.low);
  } else {
    q->fits = q->fits && total <= t->makespan.add;
  }
  if (t->peak != FS_NONE) {
    q->value[t->peak] = peak > m->var.at[t->peak].low ? peak : m->var.at[t->peak].low;
  }
  if (t->options.positions) {
    set_positions(q);
  } else {
    set_picks(q, choice);
  }
  for (size_t k = 0; k < t->def.n; k++) {
    q->value[t->def.at[k].var] = follow(q, &t->def.at[k]);
  }
  q->fits = q->fits && !m->contradiction && fs_model_broken(m, q->value) == FS_NONE;
}

bool fs_pack_fill(const fs_pack_model *t, const int64_t *start, const int64_t *address,
                  const uint32_t *choice, int64_t *value) {
  pointer q = {.t = t, .value = value, .start = start, .address = address, .fits = true};
  memset(value, 0, t->model.var.n * sizeof *value);
  set_all(&q, choice);
  return q.fits;
}

/* Copies starts and addresses; false: some are missing or beyond the range of the model. */
static bool take_answer(const fs_pack_model *t, const fs_answer *a, int64_t *start,
                        int64_t *address) {
  const fs_problem *p = t->p;
  bool good = true;
  for (uint32_t i = 0; i < p->n_items && good; i++) {
    good = a->start[i] <= p->horizon;
    start[i] = good ? (int64_t)a->start[i] : 0;
  }
  for (uint32_t r = 0; r < p->n_residencies && good; r++) {
    bool placed = fs_pack_placed(t, r);
    good = !placed || (a->address != NULL && a->address[r] <= INT64_MAX / 8);
    address[r] = placed && good ? (int64_t)a->address[r] : 0;
  }
  return good;
}

fs_status fs_pack_model_point(const fs_pack_model *t, const fs_answer *a, int64_t *value,
                              bool *fits) {
  assert(a->start != NULL || t->p->n_items == 0);
  int64_t *start, *address;
  FS_SCRATCH(scratch, t->ctx);
  *fits = false;
  FS_TRY(fs_new_zero(&scratch, &start, t->p->n_items));
  FS_TRY(fs_new_zero(&scratch, &address, t->p->n_residencies));
  if (take_answer(t, a, start, address)) {
    FS_TRY(t->options.address == NULL ? fs_pack_form(t, start, address) : FSCHED_OK);
    *fits = fs_pack_fill(t, start, address, a->choice, value);
  }
  return FSCHED_OK;
}

/* --- an answer --- */

static int64_t read_expr(fs_pack_expr e, const int64_t *value) {
  return e.add + (e.var == FS_NONE ? 0 : value[e.var]);
}

/* The class of the queue that item i takes. */
static uint32_t chosen(const fs_pack_model *t, uint32_t i, const int64_t *value) {
  const fs_problem *p = t->p;
  for (uint32_t k = p->choice0[i]; k < p->choice0[i + 1] && !p->gang[i]; k++) {
    if (t->pick == NULL || t->pick[k] == FS_NONE || value[t->pick[k]] != 0) {
      return p->choice[k];
    }
  }
  return FS_NONE;
}

fs_status fs_pack_model_answer(const fs_pack_model *t, fs_problem *p, const int64_t *value,
                               fs_answer **out) {
  fs_answer *a;
  FS_TRY(fs_new_zero(&p->arena, &a, 1));
  FS_TRY(fs_new(&p->arena, &a->start, p->n_items));
  FS_TRY(fs_new(&p->arena, &a->choice, p->n_items));
  FS_TRY(fs_new_zero(&p->arena, &a->address, p->n_residencies));
  for (uint32_t i = 0; i < p->n_items; i++) {
    a->start[i] = (fs_tick)read_expr(t->span[i].begin, value);
    a->choice[i] = chosen(t, i, value);
    a->makespan = fs_max(a->makespan, a->start[i] + p->time[i]);
  }
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    if (fs_pack_placed(t, r)) {
      a->address[r] = (uint64_t)read_expr(t->place[r], value) * t->unit[p->res_memory[r]];
    }
  }
  *out = a;
  return FSCHED_OK;
}
