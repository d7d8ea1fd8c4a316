/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses by the order of each two residencies that may live at once in a contiguous memory of k
 * units:
 *
 *   A[r] + z[r] <= A[s] + k * (1 - below)
 *   A[s] + z[s] <= A[r] + k * (1 - above)
 *   live[r,t] + live[s,t] - below - above - same <= 1      for each t
 *
 * k is large enough as the big-M constant, since A + z never exceeds it.  `same`, for an in-place
 * output s and its input r, makes the addresses equal and r end with the op:
 *
 *   -k * (1 - same) <= A[r] - A[s] <= k * (1 - same)
 *   end(e) <= end(op) + M * (1 - same)                     for each e whose end may be r's
 *
 * Two residencies that follow each other in every schedule need no rows. */
#include "ilp/time/private.h"

static int64_t cells(const fs_time_model *t, uint32_t r) {
  return (int64_t)(t->p->res_size[r] / t->unit[t->p->res_memory[r]]);
}
static int64_t room(const fs_time_model *t, uint32_t r) {
  uint32_t memory = t->p->res_memory[r];
  return (int64_t)(t->p->graph->target.memory[memory].capacity / t->unit[memory]);
}

static fs_status add_address(fs_time_model *t, uint32_t r) {
  char name[32];
  int64_t high = room(t, r) - cells(t, r);
  (void)snprintf(name, sizeof name, "address_%u", r);
  t->m.contradiction |= high < 0;
  return fs_time_add_var(t, FS_VAR_INTEGER, high < 0 ? 0 : high, 0, FS_NONE, name,
                         &t->address_var[r]);
}

/* Adds the row a + z <= b + k * (1 - var). */
static fs_status order_row(fs_time_model *t, uint32_t a, uint32_t b, uint32_t var) {
  FS_TRY(fs_model_begin_row(&t->m, -FS_MODEL_INF, room(t, a) - cells(t, a), "%s",
                            t->m.var.at[var].name));
  FS_TRY(fs_model_add_term(&t->m, t->address_var[a], 1));
  FS_TRY(fs_model_add_term(&t->m, t->address_var[b], -1));
  FS_TRY(fs_model_add_term(&t->m, var, room(t, a)));
  return fs_model_end_row(&t->m);
}

static fs_status same_rows(fs_time_model *t, const fs_time_pair *pair, uint32_t op) {
  const fs_time_life *life = &t->life[pair->a];
  for (int sign = -1; sign <= 1; sign += 2) {
    FS_TRY(fs_model_begin_row(&t->m, -FS_MODEL_INF, room(t, pair->a), "%s_%s",
                              t->m.var.at[pair->same].name, sign < 0 ? "up" : "down"));
    FS_TRY(fs_model_add_term(&t->m, t->address_var[pair->a], sign));
    FS_TRY(fs_model_add_term(&t->m, t->address_var[pair->b], -sign));
    FS_TRY(fs_model_add_term(&t->m, pair->same, room(t, pair->a)));
    FS_TRY(fs_model_end_row(&t->m));
  }
  const fs_time_item *y = &t->item[op];
  for (uint32_t e = life->end0; e < life->end1; e++) {
    uint32_t end = t->life_end.at[e];
    const fs_time_item *x = &t->item[end];
    if (end == op || fs_time_before(t, end, op)) {
      continue;
    }
    int64_t far = (int64_t)(x->lst + x->time) - (int64_t)(y->est + y->time);
    FS_TRY(fs_model_begin_row(&t->m, -FS_MODEL_INF, far + (int64_t)y->time - (int64_t)x->time,
                              "%s_%u", t->m.var.at[pair->same].name, end));
    FS_TRY(fs_time_add_time(t, end, 1));
    FS_TRY(fs_time_add_time(t, op, -1));
    FS_TRY(fs_model_add_term(&t->m, pair->same, far));
    FS_TRY(fs_model_end_row(&t->m));
  }
  return FSCHED_OK;
}

static fs_status meet_row(fs_time_model *t, const fs_time_pair *pair, fs_tick at,
                          uint32_t instant) {
  uint32_t a = pair->a, b = pair->b;
  bool kept, inside = instant != FS_NONE;
  FS_TRY(fs_model_begin_row(&t->m, -FS_MODEL_INF, 1, "meet_%u_%u_%llu%s", a, b,
                            (unsigned long long)at,
                            !inside        ? ""
                            : instant == a ? "_a"
                                           : "_b"));
  FS_TRY(instant == a ? fs_time_add_start(t, t->life[a].begin, FS_NONE, at, at, 1)
                      : fs_time_add_live(t, a, at, inside, 1));
  FS_TRY(instant == b ? fs_time_add_start(t, t->life[b].begin, FS_NONE, at, at, 1)
                      : fs_time_add_live(t, b, at, inside, 1));
  FS_TRY(fs_model_add_term(&t->m, pair->below, -1));
  FS_TRY(fs_model_add_term(&t->m, pair->above, -1));
  FS_TRY(pair->same == FS_NONE || inside ? FSCHED_OK : fs_model_add_term(&t->m, pair->same, -1));
  return fs_time_end_row(t, &kept);
}

static fs_status instant_rows(fs_time_model *t, const fs_time_pair *pair, uint32_t r) {
  if (!t->life[r].instant) {
    return FSCHED_OK;
  }
  const fs_time_item *x = &t->item[t->life[r].begin];
  for (fs_tick at = x->est; at <= x->lst && !t->full; at++) {
    FS_TRY(meet_row(t, pair, at, r));
  }
  return FSCHED_OK;
}

static fs_status pair_rows(fs_time_model *t, const fs_time_pair *pair, uint32_t op) {
  const fs_time_life *a = &t->life[pair->a], *b = &t->life[pair->b];
  FS_TRY(order_row(t, pair->a, pair->b, pair->below));
  FS_TRY(order_row(t, pair->b, pair->a, pair->above));
  if (pair->same != FS_NONE) {
    FS_TRY(same_rows(t, pair, op));
  }
  for (fs_tick at = fs_max(a->may0, b->may0); at < fs_min(a->may1, b->may1) && !t->full; at++) {
    FS_TRY(meet_row(t, pair, at, FS_NONE));
  }
  FS_TRY(instant_rows(t, pair, pair->a));
  return instant_rows(t, pair, pair->b);
}

static fs_status add_pair(fs_time_model *t, uint32_t a, uint32_t b, uint32_t coincide) {
  char name[48];
  fs_time_pair pair = {.a = a, .b = b, .same = FS_NONE};
  (void)snprintf(name, sizeof name, "below_%u_%u", a, b);
  FS_TRY(fs_time_add_var(t, FS_VAR_BINARY, 1, 0, FS_NONE, name, &pair.below));
  (void)snprintf(name, sizeof name, "above_%u_%u", a, b);
  FS_TRY(fs_time_add_var(t, FS_VAR_BINARY, 1, 0, FS_NONE, name, &pair.above));
  if (coincide != FS_NONE) {
    (void)snprintf(name, sizeof name, "same_%u_%u", a, b);
    FS_TRY(fs_time_add_var(t, FS_VAR_BINARY, 1, 0, FS_NONE, name, &pair.same));
    t->same_var[coincide] = pair.same;
  }
  FS_TRY(fs_vec_push(t->m.ctx, &t->pair, pair));
  return pair_rows(t, &pair, coincide == FS_NONE ? FS_NONE : t->p->coincide_op[coincide]);
}

/* Does a's life end before b's begins in every schedule? */
static bool follow(const fs_time_model *t, uint32_t a, uint32_t b) {
  const fs_time_life *x = &t->life[a], *y = &t->life[b];
  bool all = y->begin != FS_NONE && !(y->instant && x->instant);
  for (uint32_t e = x->end0; all && e < x->end1; e++) {
    all = fs_time_before(t, t->life_end.at[e], y->begin);
  }
  return all || x->may1 <= y->may0;
}

static bool may_meet(const fs_time_model *t, uint32_t a, uint32_t b) {
  return t->p->res_memory[a] == t->p->res_memory[b] && fs_time_placed(t, b) && !follow(t, a, b) &&
         !follow(t, b, a);
}

fs_status fs_time_pairs(fs_time_model *t) {
  assert(t->life != NULL || t->p->n_residencies == 0);
  const fs_problem *p = t->p;
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    FS_TRY(fs_time_placed(t, r) ? add_address(t, r) : FSCHED_OK);
  }
  for (uint32_t k = 0; k < p->n_coincide && !t->full; k++) {
    uint32_t in = p->coincide_in[k], out = p->coincide_out[k];
    if (t->same[k] == FS_SAME_OPEN && fs_time_placed(t, in)) {
      FS_TRY(add_pair(t, in, out, k));
    }
  }
  for (uint32_t a = 0; a < p->n_residencies && !t->full; a++) {
    for (uint32_t b = a + 1; fs_time_placed(t, a) && b < p->n_residencies && !t->full; b++) {
      FS_TRY(may_meet(t, a, b) && !fs_time_coincide(t, a, b) ? add_pair(t, a, b, FS_NONE)
                                                             : FSCHED_OK);
    }
  }
  return FSCHED_OK;
}
