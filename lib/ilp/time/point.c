/* SPDX-License-Identifier: Apache-2.0 */
/* Makes points of the model from answers, and answers from points.
 *
 * First the addresses of an answer are pushed down: in the order of addresses each residency moves
 * as far down as the lower ones that live at the same time allow; in-place outputs move with their
 * inputs.  Then every address is a sum of sizes, as the models' units require. */
#include <stdlib.h>

#include "ilp/time/private.h"

/* --- lives of an answer --- */

typedef struct life_span {
  fs_tick begin, end;
} life_span;

static life_span life_of(const fs_time_model *t, const fs_answer *a, uint32_t r) {
  const fs_time_life *life = &t->life[r];
  life_span s = {0};
  s.begin = life->begin == FS_NONE ? 0 : a->start[life->begin];
  s.end = s.begin;
  for (uint32_t e = life->end0; e < life->end1; e++) {
    uint32_t item = t->life_end.at[e];
    s.end = fs_max(s.end, item == t->n ? a->makespan : a->start[item] + t->item[item].time);
  }
  return s;
}

/* Do two lives overlap, so that they may have no address in common? */
static bool spans_meet(life_span a, life_span b) {
  return a.begin == a.end   ? b.begin < a.begin && a.begin < b.end
         : b.begin == b.end ? a.begin < b.begin && b.begin < a.end
                            : a.begin < b.end && b.begin < a.end;
}

/* Does the pair share its place in this answer: by equal addresses, and lives that allow it? */
static bool coincides(const fs_time_model *t, const fs_answer *a, const life_span *life,
                      uint32_t k) {
  const fs_problem *p = t->p;
  uint32_t in = p->coincide_in[k], out = p->coincide_out[k], op = p->coincide_op[k];
  return t->same[k] != FS_SAME_NO && a->address[in] == a->address[out] &&
         life[in].end <= a->start[op] + p->time[op] && life[out].begin >= a->start[op];
}

/* --- pushing down --- */

typedef struct pusher {
  const fs_time_model *t;
  const fs_answer *a;
  life_span *life;
  uint32_t *group, *order, n;
  uint64_t *low; /* per group */
} pusher;

typedef struct rank {
  uint64_t address;
  uint32_t residency;
} rank;

static int by_address(const void *a, const void *b) {
  const rank *x = a, *y = b;
  return x->address != y->address ? (x->address > y->address ? 1 : -1)
                                  : (x->residency > y->residency) - (x->residency < y->residency);
}

static uint32_t find_group(uint32_t *group, uint32_t r) {
  while (group[r] != r) {
    group[r] = group[group[r]];
    r = group[r];
  }
  return r;
}

static fs_status sort_places(pusher *u, fs_arena *arena) {
  const fs_time_model *t = u->t;
  rank *at;
  FS_TRY(fs_new(arena, &at, t->p->n_residencies));
  FS_TRY(fs_new(arena, &u->order, t->p->n_residencies));
  for (uint32_t r = 0; r < t->p->n_residencies; r++) {
    if (fs_time_placed(t, r)) {
      at[u->n++] = (rank){u->a->address[r], r};
    }
  }
  if (u->n > 1) {
    qsort(at, u->n, sizeof *at, by_address);
  }
  for (uint32_t k = 0; k < u->n; k++) {
    u->order[k] = at[k].residency;
  }
  return FSCHED_OK;
}

/* Puts `r` on top of all lower residencies that it overlaps in time. */
static void push(pusher *u, uint32_t k) {
  const fs_problem *p = u->t->p;
  uint32_t r = u->order[k], group = find_group(u->group, r);
  for (uint32_t i = 0; i < k; i++) {
    uint32_t s = u->order[i], other = find_group(u->group, s);
    if (other != group && p->res_memory[s] == p->res_memory[r] &&
        spans_meet(u->life[s], u->life[r])) {
      u->low[group] = fs_max(u->low[group], u->low[other] + p->res_size[s]);
    }
  }
}

/* Finds the addresses of an answer after all residencies are pushed down. */
static fs_status push_down(const fs_time_model *t, const fs_answer *a, fs_arena *arena,
                           uint64_t **address) {
  const fs_problem *p = t->p;
  pusher u = {.t = t, .a = a};
  FS_TRY(fs_new(arena, &u.life, p->n_residencies));
  FS_TRY(fs_new(arena, &u.group, p->n_residencies));
  FS_TRY(fs_new_zero(arena, &u.low, p->n_residencies));
  FS_TRY(fs_new_zero(arena, address, p->n_residencies));
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    u.group[r] = r;
    u.life[r] = life_of(t, a, r);
  }
  for (uint32_t k = 0; k < p->n_coincide; k++) {
    if (coincides(t, a, u.life, k)) {
      u.group[find_group(u.group, p->coincide_out[k])] = find_group(u.group, p->coincide_in[k]);
    }
  }
  FS_TRY(sort_places(&u, arena));
  for (uint32_t k = 0; k < u.n;) {
    uint64_t here = a->address[u.order[k]];
    uint32_t first = k; /* members of a group have one address, and are pushed before others */
    for (; k < u.n && a->address[u.order[k]] == here; k++) {
      push(&u, k);
    }
    for (uint32_t i = first; i < k; i++) {
      (*address)[u.order[i]] = u.low[find_group(u.group, u.order[i])];
    }
  }
  return FSCHED_OK;
}

/* --- the point --- */

static bool set_start(const fs_time_model *t, uint32_t i, fs_tick start, uint32_t class_id,
                      int64_t *value) {
  const fs_time_item *x = &t->item[i];
  if (start < x->est || start > x->lst) {
    return false;
  }
  if (x->var0 == FS_NONE) {
    return x->role != FS_TIME_RIGID || value[t->shift0 + t->max_shift - (start - x->est)] == 1;
  }
  uint32_t c = 0;
  if (x->n_choices > 1) {
    while (c < x->n_choices && t->p->choice[t->p->choice0[i] + c] != class_id) {
      c++;
    }
    if (c == x->n_choices) {
      return false;
    }
  }
  value[x->var0 + c * (uint32_t)(x->lst - x->est + 1) + (uint32_t)(start - x->est)] = 1;
  return true;
}

static bool set_starts(const fs_time_model *t, const fs_answer *a, int64_t *value) {
  const fs_time_item *sink = &t->item[t->n];
  if (a->makespan < sink->est || a->makespan > sink->lst) {
    return false;
  }
  if (t->rigid) {
    value[t->shift0 + (uint32_t)(sink->lst - a->makespan)] = 1;
  }
  bool fits = set_start(t, t->n, a->makespan, FS_NONE, value);
  for (uint32_t i = 0; i < t->n && fits; i++) {
    fits = (a->choice != NULL || t->item[i].n_choices == 1) &&
           set_start(t, i, a->start[i], a->choice == NULL ? FS_NONE : a->choice[i], value);
  }
  return fits;
}

static void set_lives(const fs_time_model *t, const fs_answer *a, int64_t *value) {
  for (uint32_t r = 0; r < t->p->n_residencies; r++) {
    const fs_time_life *life = &t->life[r];
    life_span s = life_of(t, a, r);
    for (fs_tick at = life->var_t0; life->var0 != FS_NONE && at < life->var_t1; at++) {
      value[life->var0 + (uint32_t)(at - life->var_t0)] = at >= s.begin && at < s.end;
    }
    for (fs_tick at = life->over_t0; life->over0 != FS_NONE && at < life->over_t1; at++) {
      value[life->over0 + (uint32_t)(at - life->over_t0)] = at > s.begin && at < s.end;
    }
  }
}

static uint32_t position(const fs_time_model *t, const fs_answer *a, uint32_t r, uint64_t address) {
  uint32_t memory = t->p->res_memory[r];
  uint64_t unit = t->unit[memory], room = t->p->graph->target.memory[memory].capacity / unit;
  uint64_t n = room - t->p->res_size[r] / unit + 1;
  uint32_t item = t->life[r].begin;
  return t->position_var0[r] +
         (uint32_t)((a->start[item] - t->item[item].est) * n + address / unit);
}

static fs_status set_places(const fs_time_model *t, const fs_answer *a, int64_t *value) {
  const fs_problem *p = t->p;
  uint64_t *address;
  FS_SCRATCH(arena, t->m.ctx);
  FS_TRY(push_down(t, a, &arena, &address));
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    if (t->address_var[r] != FS_NONE) {
      value[t->address_var[r]] = (int64_t)(address[r] / t->unit[p->res_memory[r]]);
    }
    if (t->position_var0[r] != FS_NONE) {
      value[position(t, a, r, address[r])] = 1;
    }
  }
  for (size_t k = 0; k < t->pair.n; k++) {
    const fs_time_pair *pair = &t->pair.at[k];
    life_span x = life_of(t, a, pair->a), y = life_of(t, a, pair->b);
    uint64_t low = address[pair->a], other = address[pair->b];
    if (spans_meet(x, y)) {
      bool same = pair->same != FS_NONE && low == other;
      value[same ? pair->same : low < other ? pair->below : pair->above] = 1;
    }
  }
  return FSCHED_OK;
}

fs_status fs_time_model_point(const fs_time_model *t, const fs_answer *a, int64_t *value,
                              bool *fits) {
  assert(a->start != NULL || t->p->n_items == 0);
  *fits = false;
  for (size_t i = 0; i < t->m.var.n; i++) {
    value[i] = 0;
  }
  if (t->impossible || !set_starts(t, a, value)) {
    return FSCHED_OK;
  }
  set_lives(t, a, value);
  bool places = t->o.places == FS_TIME_PAIRS || t->o.places == FS_TIME_POSITIONS;
  bool some = false;
  for (uint32_t r = 0; places && r < t->p->n_residencies; r++) {
    some = some || fs_time_placed(t, r);
  }
  if (some && a->address == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(some ? set_places(t, a, value) : FSCHED_OK);
  *fits = fs_model_broken(&t->m, value) == FS_NONE;
  return FSCHED_OK;
}

/* --- the answer --- */

static fs_tick shift_of(const fs_time_model *t, const int64_t *value) {
  fs_tick k = 0;
  while (t->rigid && k < t->max_shift && value[t->shift0 + k] != 1) {
    k++;
  }
  return k;
}

static fs_tick start_of(const fs_time_model *t, uint32_t i, const int64_t *value, fs_tick shift,
                        uint32_t *class_id) {
  const fs_time_item *x = &t->item[i];
  *class_id = x->known;
  if (x->var0 == FS_NONE) {
    return x->role == FS_TIME_RIGID ? x->lst - shift : x->est;
  }
  uint32_t n = (uint32_t)(x->lst - x->est + 1), v = 0;
  while (v + 1 < n * x->n_choices && value[x->var0 + v] != 1) {
    v++;
  }
  if (x->n_choices > 1) {
    *class_id = t->p->choice[t->p->choice0[i] + v / n];
  }
  return x->est + v % n;
}

static uint64_t address_of(const fs_time_model *t, uint32_t r, const fs_answer *a,
                           const int64_t *value) {
  uint64_t unit = t->unit[t->p->res_memory[r]];
  if (t->address_var[r] != FS_NONE) {
    return (uint64_t)value[t->address_var[r]] * unit;
  }
  if (t->position_var0[r] != FS_NONE) {
    uint64_t q = 0;
    while (value[position(t, a, r, q * unit)] != 1) {
      q++;
    }
    return q * unit;
  }
  return t->o.places == FS_TIME_GIVEN && fs_time_placed(t, r) ? t->o.address[r] : 0;
}

fs_status fs_time_model_answer(const fs_time_model *t, fs_problem *p, const int64_t *value,
                               fs_answer **out) {
  assert(!t->impossible);
  fs_answer *a;
  FS_TRY(fs_new_zero(&p->arena, &a, 1));
  FS_TRY(fs_new(&p->arena, &a->start, t->n));
  FS_TRY(fs_new(&p->arena, &a->choice, t->n));
  fs_tick shift = shift_of(t, value);
  for (uint32_t i = 0; i < t->n; i++) {
    a->start[i] = start_of(t, i, value, shift, &a->choice[i]);
    a->makespan = fs_max(a->makespan, a->start[i] + t->item[i].time);
  }
  if (t->o.places != FS_TIME_AMOUNTS) {
    FS_TRY(fs_new(&p->arena, &a->address, p->n_residencies));
    for (uint32_t r = 0; r < p->n_residencies; r++) {
      a->address[r] = address_of(t, r, a, value);
    }
  }
  *out = a;
  return FSCHED_OK;
}
