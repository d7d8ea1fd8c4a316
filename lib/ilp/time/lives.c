/* SPDX-License-Identifier: Apache-2.0 */
/* Lives of residencies, and memories as amounts.
 *
 *   live[r,t] >= started(begin, t) - ended(e, t)     for each item e whose end can be the last
 *   sum(r) size[r] * live[r,t] <= capacity
 *
 * With one end the right side itself is the life; with several ends the life is a variable between
 * 0 and 1 that these rows bound from below.  An in-place output and its input count once while
 * their op runs: the op's activity is subtracted.  Where it is open which output takes an input's
 * place, the best case for the memory is assumed; the search for addresses decides.
 *
 * A life of no length is in none of these sums; at its instant it counts with the lives that began
 * before and end later. */
#include "ilp/time/private.h"

/* --- which ends can be the last --- */

static bool ends_first(const fs_time_model *t, uint32_t a, uint32_t b) {
  const fs_time_item *x = &t->item[a], *y = &t->item[b];
  bool together = x->role == FS_TIME_RIGID && y->role == FS_TIME_RIGID;
  return x->lst + x->time <= (together ? y->lst : y->est) + y->time || fs_time_before(t, a, b);
}

/* Leaves out ends that are certainly not the last, in linear time, as there may be many. */
static uint32_t sift(const fs_time_model *t, uint32_t *end, uint32_t n) {
  fs_tick sure = 0, rigid = 0;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n; i++) {
    const fs_time_item *x = &t->item[end[i]];
    sure = fs_max(sure, x->est + x->time);
    rigid = x->role == FS_TIME_RIGID ? fs_max(rigid, x->lst + x->time) : rigid;
  }
  for (uint32_t i = 0; i < n; i++) {
    const fs_time_item *x = &t->item[end[i]];
    bool late = x->lst + x->time >= sure;
    if (late && !(x->role == FS_TIME_RIGID && x->lst + x->time < rigid)) {
      end[kept++] = end[i];
    }
  }
  return kept;
}

static fs_status push_ends(fs_time_model *t, fs_time_life *life, const uint32_t *end, uint32_t n) {
  life->end0 = (uint32_t)t->life_end.n;
  for (uint32_t i = 0; i < n; i++) {
    bool last = true;
    for (uint32_t k = 0; k < n && last; k++) {
      bool earlier = end[k] != end[i] && ends_first(t, end[i], end[k]);
      last = !(earlier && (!ends_first(t, end[k], end[i]) || k < i));
      last = last && !(end[k] == end[i] && k < i);
    }
    if (last) {
      FS_TRY(fs_vec_push(t->m.ctx, &t->life_end, end[i]));
    }
  }
  life->end1 = (uint32_t)t->life_end.n;
  return FSCHED_OK;
}

static fs_status find_ends(fs_time_model *t, fs_arena *arena, uint32_t r) {
  const fs_problem *p = t->p;
  fs_time_life *life = &t->life[r];
  uint32_t n = 0, *end;
  FS_TRY(fs_new(arena, &end, p->res_end0[r + 1] - p->res_end0[r] + 1));
  life->instant = !p->res_to_end[r] && life->begin != FS_NONE;
  for (uint32_t e = p->res_end0[r]; e < p->res_end0[r + 1]; e++) {
    end[n++] = p->res_end[e];
    life->instant = life->instant && p->time[p->res_end[e]] == 0;
  }
  if (life->begin != FS_NONE) {
    end[n++] = life->begin;
    life->instant = life->instant && p->time[life->begin] == 0;
  }
  if (p->res_to_end[r]) {
    end[0] = t->n;
    n = 1;
  }
  return push_ends(t, life, end, sift(t, end, n));
}

static void find_span(fs_time_model *t, fs_time_life *life) {
  const fs_time_item *begin = life->begin == FS_NONE ? NULL : &t->item[life->begin];
  life->may0 = begin == NULL ? 0 : begin->est;
  life->sure0 = begin == NULL ? 0 : begin->lst;
  for (uint32_t e = life->end0; e < life->end1; e++) {
    const fs_time_item *end = &t->item[t->life_end.at[e]];
    life->may1 = fs_max(life->may1, end->lst + end->time);
    life->sure1 = fs_max(life->sure1, end->est + end->time);
  }
  life->touched = life->end0 < life->end1 && life->may0 <= t->to && life->may1 >= t->from;
}

/* --- variables of lives with several ends --- */

static fs_status push_row(fs_time_model *t, uint32_t var, const fs_time_life *life, fs_tick at,
                          bool inside, uint32_t end) {
  const fs_time_item *x = &t->item[end];
  FS_TRY(fs_model_begin_row(&t->m, 0, FS_MODEL_INF, "%s_after_%u", t->m.var.at[var].name, end));
  FS_TRY(fs_model_add_term(&t->m, var, 1));
  if (life->begin == FS_NONE) {
    fs_model_add_known(&t->m, -1);
  } else if (!inside || at > 0) {
    FS_TRY(fs_time_add_start(t, life->begin, FS_NONE, 0, inside ? at - 1 : at, -1));
  }
  if (at >= x->time) {
    FS_TRY(fs_time_add_start(t, end, FS_NONE, 0, at - x->time, 1));
  }
  return fs_model_end_row(&t->m);
}

static fs_status push_up(fs_time_model *t, uint32_t r, const char *word, fs_tick from, fs_tick to,
                         bool inside, uint32_t *var0) {
  const fs_time_life *life = &t->life[r];
  char name[64];
  *var0 = (uint32_t)t->m.var.n;
  for (fs_tick at = from; at < to; at++) {
    uint32_t var;
    (void)snprintf(name, sizeof name, "%s_%u_%llu", word, r, (unsigned long long)at);
    FS_TRY(fs_time_add_var(t, FS_VAR_CONTINUOUS, 1, 0, FS_NONE, name, &var));
  }
  for (fs_tick at = from; at < to && !t->full; at++) {
    for (uint32_t e = life->end0; e < life->end1; e++) {
      FS_TRY(push_row(t, *var0 + (uint32_t)(at - from), life, at, inside, t->life_end.at[e]));
    }
    t->full = t->o.max_terms != 0 && t->m.term.n > t->o.max_terms;
  }
  return FSCHED_OK;
}

static fs_status add_note(fs_time_model *t, uint32_t r) {
  const fs_problem *p = t->p;
  const fsched_graph *g = p->graph;
  const char *memory = g->target.memory[p->res_memory[r]].name;
  uint32_t version = p->res_version[r];
  if (version == FS_NONE) {
    return fs_model_add_note(&t->m, "residency %u: scratch of %s in %s", r,
                             g->op_name[p->res_op[r]], memory);
  }
  return fs_model_add_note(&t->m, "residency %u: %s.%u in %s", r,
                           g->buffer_name[g->version_buffer[version]], fs_version_index(g, version),
                           memory);
}

static fs_status life_variables(fs_time_model *t, uint32_t r) {
  fs_time_life *life = &t->life[r];
  if (!life->touched) {
    return FSCHED_OK;
  }
  FS_TRY(add_note(t, r));
  life->var_t0 = fs_max(fs_max(life->may0, life->sure1), t->from);
  life->var_t1 = fs_min(life->may1, t->to + 1);
  if (life->end1 - life->end0 > 1 && life->var_t0 < life->var_t1) {
    FS_TRY(push_up(t, r, "live", life->var_t0, life->var_t1, false, &life->var0));
  }
  life->over_t0 = fs_max(life->may0, t->from);
  life->over_t1 = fs_min(life->may1, t->to + 1);
  if (life->instant && life->over_t0 < life->over_t1) {
    FS_TRY(push_up(t, r, "over", life->over_t0, life->over_t1, true, &life->over0));
  }
  return FSCHED_OK;
}

static fs_status add_slot(fs_time_model *t, const fs_time_life *life, fs_tick at, int64_t coef) {
  if (at < life->may0 || at >= life->may1) {
    return FSCHED_OK;
  }
  if (at >= life->sure0 && at < life->sure1) {
    fs_model_add_known(&t->m, coef);
    return FSCHED_OK;
  }
  if (life->var0 != FS_NONE && at >= life->sure1) {
    return fs_model_add_term(&t->m, life->var0 + (uint32_t)(at - life->var_t0), coef);
  }
  if (life->begin == FS_NONE) {
    fs_model_add_known(&t->m, coef);
  } else {
    FS_TRY(fs_time_add_start(t, life->begin, FS_NONE, 0, at, coef));
  }
  const fs_time_item *end = &t->item[t->life_end.at[life->end0]];
  bool over = at >= life->sure1 && at >= end->time;
  return over ? fs_time_add_start(t, t->life_end.at[life->end0], FS_NONE, 0, at - end->time, -coef)
              : FSCHED_OK;
}

fs_status fs_time_add_live(fs_time_model *t, uint32_t r, fs_tick at, bool inside, int64_t coef) {
  assert(t->m.open && r < t->p->n_residencies);
  const fs_time_life *life = &t->life[r];
  if (!life->touched) {
    return FSCHED_OK;
  }
  if (!inside) {
    return add_slot(t, life, at, coef);
  }
  if (life->instant) {
    bool open = at >= life->over_t0 && at < life->over_t1;
    return open ? fs_model_add_term(&t->m, life->over0 + (uint32_t)(at - life->over_t0), coef)
                : FSCHED_OK;
  }
  if (at == 0) {
    return FSCHED_OK; /* no residency began before */
  }
  FS_TRY(add_slot(t, life, at, coef));
  return life->begin == FS_NONE ? FSCHED_OK
                                : fs_time_add_start(t, life->begin, FS_NONE, at, at, -coef);
}

/* --- pairs that may coincide --- */

/* Can `out` take the place of `in`: does it begin with the op, and may `in` end with the op? */
static bool can_coincide(const fs_time_model *t, uint32_t k) {
  const fs_problem *p = t->p;
  uint32_t in = p->coincide_in[k], out = p->coincide_out[k], op = p->coincide_op[k];
  const fs_time_life *life = &t->life[in];
  bool reads = false;
  for (uint32_t e = p->res_end0[in]; e < p->res_end0[in + 1]; e++) {
    reads = reads || p->res_end[e] == op;
  }
  bool legal = reads && t->life[out].begin == op && p->res_size[in] == p->res_size[out] &&
               p->res_size[in] > 0 && p->res_memory[in] == p->res_memory[out] && p->time[op] > 0;
  for (uint32_t e = life->end0; legal && e < life->end1; e++) { /* of no time: may end with op */
    uint32_t end = t->life_end.at[e];
    legal = t->item[end].time == 0 || !fs_time_before(t, op, end);
  }
  return legal && fs_placement_has_addresses(p->graph->target.memory[p->res_memory[in]].placement);
}

static bool given_places(const fs_time_model *t) { return t->o.places == FS_TIME_GIVEN; }

/* Does pair k count?  An input counts once, whichever output takes its place. */
static bool counts(const fs_time_model *t, uint32_t k) {
  const fs_problem *p = t->p;
  for (uint32_t i = 0; i < k; i++) {
    if (p->coincide_in[t->near_pair[i]] == p->coincide_in[t->near_pair[k]] &&
        p->coincide_op[t->near_pair[i]] == p->coincide_op[t->near_pair[k]]) {
      return false;
    }
  }
  return true;
}

static fs_status find_same(fs_time_model *t) {
  const fs_problem *p = t->p;
  FS_TRY(fs_new_zero(&t->arena, &t->same, p->n_coincide));
  FS_TRY(fs_new_zero(&t->arena, &t->reduces, p->n_coincide));
  FS_TRY(fs_new_none(&t->arena, &t->same_var, p->n_coincide));
  FS_TRY(fs_new(&t->arena, &t->near_pair, p->n_coincide));
  for (uint32_t k = 0; k < p->n_coincide; k++) {
    uint32_t in = p->coincide_in[k], out = p->coincide_out[k];
    if (!can_coincide(t, k)) {
      continue;
    }
    bool given = given_places(t);
    bool meet = !given || t->o.address[in] == t->o.address[out];
    t->same[k] = !meet ? FS_SAME_NO : given ? FS_SAME_YES : FS_SAME_OPEN;
    if (meet && t->life[in].touched && t->life[out].touched) {
      t->near_pair[t->n_near_pair++] = k;
    }
  }
  for (uint32_t k = 0; !given_places(t) && k < t->n_near_pair; k++) {
    t->reduces[t->near_pair[k]] = counts(t, k);
  }
  return FSCHED_OK;
}

fs_status fs_time_lives(fs_time_model *t) {
  const fs_problem *p = t->p;
  FS_TRY(fs_new_zero(&t->arena, &t->life, p->n_residencies));
  FS_SCRATCH(arena, t->m.ctx);
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    fs_arena_mark mark = fs_arena_set_mark(&arena);
    t->life[r] = (fs_time_life){.begin = p->res_begin_item[r], .var0 = FS_NONE, .over0 = FS_NONE};
    FS_TRY(find_ends(t, &arena, r));
    find_span(t, &t->life[r]);
    fs_arena_reset(&arena, mark);
  }
  for (uint32_t r = 0; r < p->n_residencies && !t->full; r++) {
    FS_TRY(life_variables(t, r));
  }
  return find_same(t);
}

bool fs_time_placed(const fs_time_model *t, uint32_t r) {
  assert(r < t->p->n_residencies);
  const fs_memory *m = &t->p->graph->target.memory[t->p->res_memory[r]];
  return fs_placement_has_addresses(m->placement) && fs_memory_bounded(m) && t->p->res_size[r] > 0;
}

bool fs_time_coincide(const fs_time_model *t, uint32_t a, uint32_t b) {
  assert(a < t->p->n_residencies && b < t->p->n_residencies);
  const fs_problem *p = t->p;
  for (uint32_t k = 0; k < p->n_coincide; k++) {
    bool mine = (p->coincide_in[k] == a && p->coincide_out[k] == b) ||
                (p->coincide_in[k] == b && p->coincide_out[k] == a);
    if (mine && t->same[k] == FS_SAME_OPEN) {
      return true;
    }
  }
  return false;
}

/* --- sums --- */

/* The residencies of one memory that matter; sizes in units of their greatest common divisor. */
typedef struct memory_lives {
  uint32_t *at, n;
  uint32_t *pair, n_pairs; /* pairs that may coincide */
  uint64_t unit, capacity;
} memory_lives;

static fs_status gather_lives(fs_time_model *t, fs_arena *arena, uint32_t memory, memory_lives *h) {
  const fs_problem *p = t->p;
  uint64_t sum = 0;
  *h = (memory_lives){.capacity = p->graph->target.memory[memory].capacity};
  FS_TRY(fs_new(arena, &h->at, p->n_residencies));
  FS_TRY(fs_new(arena, &h->pair, t->n_near_pair));
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    if (p->res_memory[r] == memory && t->life[r].touched && p->res_size[r] > 0) {
      h->at[h->n++] = r;
      h->unit = fs_common_divisor(h->unit, p->res_size[r]);
      sum = sum > UINT64_MAX - p->res_size[r] ? UINT64_MAX : sum + p->res_size[r];
    }
  }
  for (uint32_t i = 0; i < t->n_near_pair; i++) {
    uint32_t k = t->near_pair[i];
    if (t->reduces[k] && p->res_memory[p->coincide_in[k]] == memory) {
      h->pair[h->n_pairs++] = k;
    }
  }
  h->n = sum <= h->capacity ? 0 : h->n;
  return FSCHED_OK;
}

static int64_t units(const fs_time_model *t, const memory_lives *h, uint32_t r) {
  return (int64_t)fs_min(t->p->res_size[r] / h->unit, INT64_MAX / 4);
}

static fs_status add_holders(fs_time_model *t, const memory_lives *h, fs_tick at,
                             uint32_t instant) {
  const fs_problem *p = t->p;
  bool inside = instant != FS_NONE;
  for (uint32_t k = 0; k < h->n; k++) {
    if (h->at[k] != instant) {
      FS_TRY(fs_time_add_live(t, h->at[k], at, inside, units(t, h, h->at[k])));
    }
  }
  for (uint32_t k = 0; k < h->n_pairs; k++) {
    uint32_t pair = h->pair[k], in = p->coincide_in[pair];
    if (in != instant && p->coincide_out[pair] != instant) {
      FS_TRY(fs_time_add_active(t, p->coincide_op[pair], FS_NONE, at, inside, -units(t, h, in)));
    }
  }
  return FSCHED_OK;
}

static fs_status memory_instants(fs_time_model *t, const memory_lives *h, uint32_t memory,
                                 uint32_t r) {
  const fs_time_item *x = &t->item[t->life[r].begin];
  bool kept;
  for (fs_tick at = fs_max(x->est, t->from); at <= fs_min(x->lst, t->to) && !t->full; at++) {
    FS_TRY(fs_model_begin_row(&t->m, -FS_MODEL_INF,
                              (int64_t)fs_min(h->capacity / h->unit, INT64_MAX / 4),
                              "memory_%u_%llu_%u", memory, (unsigned long long)at, r));
    FS_TRY(fs_time_add_start(t, t->life[r].begin, FS_NONE, at, at, units(t, h, r)));
    FS_TRY(add_holders(t, h, at, r));
    FS_TRY(fs_time_end_row(t, &kept));
  }
  return FSCHED_OK;
}

static fs_status memory_rows(fs_time_model *t, const memory_lives *h, uint32_t memory) {
  bool kept, before = false;
  if (h->n == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_model_add_note(&t->m, "memory_%u_t: what is held of %s at t, in units of %llu", memory,
                           t->p->graph->target.memory[memory].name, (unsigned long long)h->unit));
  for (fs_tick at = t->from; at < t->to && !t->full; at++) {
    FS_TRY(fs_model_begin_row(&t->m, -FS_MODEL_INF,
                              (int64_t)fs_min(h->capacity / h->unit, INT64_MAX / 4),
                              "memory_%u_%llu", memory, (unsigned long long)at));
    FS_TRY(add_holders(t, h, at, FS_NONE));
    FS_TRY(fs_time_end_row(t, &kept));
    fs_time_drop_weaker(t, &before, kept);
  }
  for (uint32_t k = 0; k < h->n && !t->full; k++) {
    FS_TRY(t->life[h->at[k]].instant ? memory_instants(t, h, memory, h->at[k]) : FSCHED_OK);
  }
  return FSCHED_OK;
}

fs_status fs_time_memories(fs_time_model *t) {
  assert(t->life != NULL || t->p->n_residencies == 0);
  const fs_target *target = &t->p->graph->target;
  FS_SCRATCH(arena, t->m.ctx);
  for (uint32_t m = 0; m < target->n_memories && !t->full; m++) {
    bool contiguous = fs_placement_has_addresses(target->memory[m].placement);
    bool exact = t->o.places == FS_TIME_GIVEN || t->o.places == FS_TIME_POSITIONS;
    if (fs_memory_bounded(&target->memory[m]) && !(contiguous && exact)) {
      fs_arena_mark mark = fs_arena_set_mark(&arena);
      memory_lives h;
      FS_TRY(gather_lives(t, &arena, m, &h));
      FS_TRY(memory_rows(t, &h, m));
      fs_arena_reset(&arena, mark);
    }
  }
  return FSCHED_OK;
}
