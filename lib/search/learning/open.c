/* SPDX-License-Identifier: Apache-2.0 */
/* What there is beside items, tables and pairs where copies are open (problem/spilling): links,
 * what is taken of memories, and clauses.
 *
 *      to >= from + lag  if the condition holds
 *
 * Nodes of the problem are items, then ends of stays, and so are the first variables.
 *
 * A bound of what is there only if the condition holds needs it as no premise.  If `from` cannot be
 * so early, and `to` so late, the condition does not hold. */
#include "base/group.h"
#include "problem/spilling/spilling.h"
#include "search/learning/learner.h"

static uint32_t bool_of(const fs_learner *s, uint32_t boolean) {
  return boolean == FS_NONE ? FS_NONE : fs_bool_variable(s, boolean);
}

/* ---- making */

static fs_side_value units(const fs_learner *s, int64_t ticks) {
  return ticks / (int64_t)s->unit; /* ticks are a multiple */
}

static void add_uses(fs_learner *s, uint32_t memory) {
  const fs_spilling *w = s->p->spilling;
  const fs_memory *m = &s->p->graph->target.memory[memory];
  fs_learner_table *t = &s->table[s->n_tables];
  uint64_t capacity = m->capacity & ~(m->align - 1);
  *t = (fs_learner_table){
      .capacity = (fs_side_value)capacity, .field = FS_NONE, .open = memory, .task0 = s->n_tasks};
  for (uint32_t k = 0; k < w->n_uses; k++) {
    const fs_memory_use *u = &w->use[k];
    if (u->memory == memory && u->bytes > 0) {
      s->task[s->n_tasks++] = (fs_learner_task){.item = u->from,
                                                .end = u->to,
                                                .table = s->n_tables,
                                                .only_if = bool_of(s, u->only_if),
                                                .delay = units(s, (int64_t)u->delay),
                                                .length = units(s, (int64_t)u->length),
                                                .amount = (fs_side_value)u->bytes};
    }
  }
  t->task1 = s->n_tasks;
  s->n_tables += t->task1 > t->task0;
}

/* Ops that take turns, as on a queue. */
static void add_turns(fs_learner *s, uint32_t set) {
  const fs_spilling *w = s->p->spilling;
  fs_learner_table *t = &s->table[s->n_tables];
  *t = (fs_learner_table){.capacity = 1,
                          .field = FS_NONE,
                          .open = s->p->graph->target.n_memories + set,
                          .task0 = s->n_tasks};
  for (uint32_t k = w->turn0[set]; k < w->turn0[set + 1]; k++) {
    uint32_t op = w->turn[k];
    s->task[s->n_tasks++] = (fs_learner_task){.item = op,
                                              .end = op,
                                              .table = s->n_tables,
                                              .only_if = FS_NONE,
                                              .length = s->time[op],
                                              .amount = 1};
  }
  t->task1 = s->n_tasks;
  s->n_tables++;
}

static fs_learner_task task_of_span(const fs_learner *s, const fs_spill_span *x) {
  return (fs_learner_task){.item = x->from,
                           .end = x->to,
                           .table = FS_NONE,
                           .only_if = bool_of(s, x->only_if),
                           .delay = units(s, (int64_t)x->delay),
                           .length = units(s, (int64_t)x->length)};
}

/* The spans that are apart, and the pairs that each variable is in. */
static fs_status make_apart(fs_learner *s) {
  const fs_spilling *w = s->p->spilling;
  uint32_t *variable, *pair, n = 0;
  FS_TRY(fs_new(s->arena, &s->apart, 2 * (size_t)w->n_apart));
  FS_TRY(fs_new(s->arena, &variable, 6 * (size_t)w->n_apart));
  FS_TRY(fs_new(s->arena, &pair, 6 * (size_t)w->n_apart));
  for (uint32_t k = 0; k < 2 * w->n_apart; k++) {
    fs_learner_task *x = &s->apart[k];
    *x = task_of_span(s, &w->apart[k]);
    uint32_t of[] = {x->item, x->end == x->item ? FS_NONE : x->end, x->only_if};
    for (uint32_t i = 0; i < 3; i++) {
      if (of[i] != FS_NONE) {
        variable[n] = of[i];
        pair[n++] = k / 2;
      }
    }
  }
  FS_TRY(fs_group(s->arena, variable, n, fs_first_order(s), &s->apart0, &s->apart_of));
  for (uint32_t k = 0; k < n; k++) {
    s->apart_of[k] = pair[s->apart_of[k]];
  }
  return FSCHED_OK;
}

static fs_status index_links(fs_learner *s) {
  uint32_t *variable, *link, n = 0;
  FS_TRY(fs_new(s->arena, &variable, 3 * (size_t)s->n_links));
  FS_TRY(fs_new(s->arena, &link, 3 * (size_t)s->n_links));
  for (uint32_t k = 0; k < s->n_links; k++) {
    const fs_learner_link *l = &s->link[k];
    uint32_t of[] = {l->from, l->to, l->only_if};
    for (uint32_t i = 0; i < 3; i++) {
      if (of[i] != FS_NONE) {
        variable[n] = of[i];
        link[n++] = k;
      }
    }
  }
  FS_TRY(fs_group(s->arena, variable, n, fs_first_order(s), &s->link0, &s->link_of));
  for (uint32_t k = 0; k < n; k++) {
    s->link_of[k] = link[s->link_of[k]];
  }
  return FSCHED_OK;
}

fs_status fs_learner_open_links(fs_learner *s) {
  const fs_spilling *w = s->p->spilling;
  assert(w != NULL);
  for (uint32_t m = 0; m < s->p->graph->target.n_memories; m++) {
    add_uses(s, m);
  }
  for (uint32_t k = 0; k < w->n_turns; k++) {
    add_turns(s, k);
  }
  FS_TRY(make_apart(s));
  s->n_links = w->n_links;
  FS_TRY(fs_new(s->arena, &s->link, s->n_links));
  for (uint32_t k = 0; k < s->n_links; k++) {
    const fs_spill_link *l = &w->link[k];
    s->link[k] = (fs_learner_link){l->from, l->to, bool_of(s, l->only_if), units(s, l->lag)};
  }
  return index_links(s);
}

void fs_learner_open_clauses(fs_learner *s) {
  const fs_spilling *w = s->p->spilling;
  assert(w != NULL && s->level.n == 0);
  for (uint32_t c = 0; c < w->n_clauses; c++) {
    s->premise.n = 0;
    for (uint32_t k = w->clause0[c]; k < w->clause0[c + 1]; k++) {
      uint32_t variable = fs_bool_variable(s, w->clause[k] / 2);
      fs_literal yes = {2 * variable, 1};
      fs_literal l = w->clause[k] & 1 ? fs_negated(yes) : yes;
      fs_learner_note(s, fs_vec_push(s->ctx, &s->premise, l));
    }
    if (s->status == FSCHED_OK) {
      fs_learner_add_clause(s, s->premise.at, s->premise.n);
    }
  }
}

/* ---- what follows */

static void follow_link(fs_learner *s, uint32_t k) {
  const fs_learner_link *l = &s->link[k];
  uint32_t c = l->only_if;
  if (fs_is_false(s, c)) {
    return;
  }
  bool holds = fs_is_true(s, c);
  if (holds || s->owner[l->to] == c) {
    fs_learner_grow(s, 2 * l->to, fs_earliest(s, l->from) + l->lag, FS_BY_LINK, k, 0);
  }
  if (holds || s->owner[l->from] == c) {
    fs_learner_grow(s, 2 * l->from + 1, l->lag - fs_latest(s, l->to), FS_BY_LINK, k, 0);
  }
  fs_side_value latest = fs_latest(s, l->to);
  if (!holds && fs_earliest(s, l->from) + l->lag > latest) {
    fs_learner_grow(s, 2 * c + 1, 0, FS_BY_LINK, k, latest);
  }
}

void fs_learner_follow_links(fs_learner *s, uint32_t variable) {
  if (s->n_links == 0 || variable >= fs_first_order(s)) {
    return;
  }
  s->work += s->link0[variable + 1] - s->link0[variable];
  for (uint32_t i = s->link0[variable]; i < s->link0[variable + 1] && !s->conflict; i++) {
    follow_link(s, s->link_of[i]);
  }
}

/* ---- spans that are apart */

static fs_side_value begin_of(const fs_learner *s, const fs_learner_task *a) {
  return fs_latest(s, a->item) + a->delay;
}
static fs_side_value end_of(const fs_learner *s, const fs_learner_task *a) {
  return fs_earliest(s, a->end) + a->length;
}
static bool may_move(const fs_learner *s, const fs_learner_task *a, uint32_t variable) {
  return fs_is_true(s, a->only_if) || s->owner[variable] == a->only_if;
}

/* The first cannot end before the second begins, so it comes behind it.  `k`: the first one. */
static void put_behind(fs_learner *s, uint32_t k) {
  const fs_learner_task *a = &s->apart[k], *b = &s->apart[k ^ 1];
  fs_side_value at = begin_of(s, b);
  if (fs_is_true(s, b->only_if) && may_move(s, a, a->item)) {
    fs_learner_grow(s, 2 * a->item, end_of(s, b) - a->delay, FS_BY_APART, k, at);
  }
  if (fs_is_true(s, a->only_if) && may_move(s, b, b->end)) {
    fs_learner_grow(s, 2 * b->end + 1, b->length - begin_of(s, a), FS_BY_APART, k, at);
  }
}

void fs_learner_follow_apart(fs_learner *s, uint32_t variable) {
  if (s->apart0 == NULL || variable >= fs_first_order(s)) {
    return;
  }
  s->work += s->apart0[variable + 1] - s->apart0[variable];
  for (uint32_t i = s->apart0[variable]; i < s->apart0[variable + 1] && !s->conflict; i++) {
    for (uint32_t k = 2 * s->apart_of[i]; k < 2 * s->apart_of[i] + 2 && !s->conflict; k++) {
      const fs_learner_task *a = &s->apart[k], *b = &s->apart[k ^ 1];
      if (!fs_is_false(s, a->only_if) && !fs_is_false(s, b->only_if) &&
          end_of(s, a) > begin_of(s, b)) {
        put_behind(s, k);
      }
    }
  }
}

void fs_learner_explain_apart(fs_learner *s, const fs_growth *g, fs_side_value value) {
  assert(g->cause == FS_BY_APART);
  const fs_learner_task *a = &s->apart[g->reason], *b = &s->apart[g->reason ^ 1];
  bool upper = g->side & 1;
  const fs_learner_task *moved = upper ? b : a, *still = upper ? a : b;
  if (upper) { /* the first one begins no later than the second ends */
    fs_learner_premise(s, 2 * a->item + 1, value - b->length + a->delay);
  } else {
    fs_learner_premise(s, 2 * b->end, value + a->delay - b->length);
  }
  fs_learner_premise(s, 2 * a->end, g->at - a->length + 1);
  fs_learner_premise(s, 2 * b->item + 1, b->delay - g->at);
  fs_learner_condition(s, still->only_if);
  if (s->owner[g->side / 2] != moved->only_if) {
    fs_learner_condition(s, moved->only_if);
  }
}

void fs_learner_explain_link(fs_learner *s, const fs_growth *g, fs_side_value value) {
  assert(g->cause == FS_BY_LINK);
  const fs_learner_link *l = &s->link[g->reason];
  uint32_t c = l->only_if;
  fs_literal from = {2 * l->from, value - l->lag}, to = {2 * l->to + 1, value - l->lag};
  if (c != FS_NONE && g->side == 2 * c + 1) {
    from.value = g->at - l->lag + 1;
    to.value = -g->at;
    fs_learner_note(s, fs_vec_push(s->ctx, &s->premise, from));
    fs_learner_note(s, fs_vec_push(s->ctx, &s->premise, to));
    return;
  }
  fs_learner_note(s, fs_vec_push(s->ctx, &s->premise, g->side == 2 * l->to ? from : to));
  if (c != FS_NONE && s->owner[g->side / 2] != c) {
    fs_literal holds = {2 * c, 1};
    fs_learner_note(s, fs_vec_push(s->ctx, &s->premise, holds));
  }
}
