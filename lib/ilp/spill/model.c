/* SPDX-License-Identifier: Apache-2.0 */
/* The time-indexed model with spills.
 *
 * Its variables are binaries, for times within windows from longest paths and the horizon:
 *
 *   x_i_t[_k]  op i starts at t (on a queue of its k-th class)
 *   w_v_t[_k]  a write of version v to its store starts at t
 *   g_v_t[_k]  a read of v from its store starts at t
 *   m_v_t      v is in memory during [t, t+1)
 *   s_v_t      the store holds v's present content at t; only where this does not follow from the
 *              write alone: several contents of one version, or a store with a capacity
 *   b_v_t      v's first residency begins at t, where several ops may be the first writer
 *   q_p_t      in-place pair p shares one place from t, when its op starts there
 *   z_t        the makespan is above t; the objective is their sum
 *
 * This file has the rows for one start of each op, precedence (disaggregated: Christofides,
 * Alvarez-Valdes and Tamarit 1987), the makespan, amounts and queues; spill/rows.c has those of
 * versions and memories.
 *
 * Items without length hold nothing for a whole tick; each gets a row for its instant, with the
 * items that begin before it and end after it. */
#include <stdio.h>

#include "ilp/spill/private.h"

fs_status fs_spill_add(fs_spill_model *t, const fs_start_span *s, int64_t from, int64_t to,
                       uint32_t k, int64_t coef) {
  assert(t->model.open);
  int64_t low = from > s->from ? from : s->from, high = to < s->to - 1 ? to : s->to - 1;
  for (int64_t at = low; at <= high; at++) {
    for (uint32_t c = k == FS_NONE ? 0 : k; c < s->classes && (k == FS_NONE || c == k); c++) {
      FS_TRY(fs_model_add_term(&t->model, fs_span_var(s, at, c), coef));
    }
  }
  t->large |= t->model.term.n > t->max_terms;
  return FSCHED_OK;
}

/* ---- variables */

static fs_status add_span(fs_spill_model *t, fs_start_span *s, char letter, uint32_t id) {
  uint32_t var;
  s->var = (uint32_t)t->model.var.n;
  t->large |= s->from < s->to && (uint64_t)(s->to - s->from) > t->max_terms;
  for (int64_t at = s->from; at < s->to && !t->large; at++) {
    for (uint32_t k = 0; k < s->classes; k++) {
      if (s->classes > 1) {
        FS_TRY(fs_model_add_var(&t->model, FS_VAR_BINARY, 0, 1, 0, &var, "%c_%u_%lld_%u", letter,
                                id, (long long)at, k));
      } else {
        FS_TRY(fs_model_add_var(&t->model, FS_VAR_BINARY, 0, 1, 0, &var, "%c_%u_%lld", letter, id,
                                (long long)at));
      }
    }
    t->large |= t->model.var.n > t->max_terms;
  }
  return FSCHED_OK;
}

static fs_status add_late(fs_spill_model *t) {
  uint32_t var;
  t->late = (fs_start_span){.from = t->bound, .to = t->horizon, .classes = 1};
  t->late.var = (uint32_t)t->model.var.n;
  t->large |= (uint64_t)(t->horizon - t->bound) > t->max_terms;
  for (int64_t at = t->bound; at < t->horizon && !t->large; at++) {
    FS_TRY(fs_model_add_var(&t->model, FS_VAR_BINARY, 0, 1, (int64_t)t->unit, &var, "z_%lld",
                            (long long)at));
  }
  t->model.constant = t->bound * (int64_t)t->unit;
  return FSCHED_OK;
}

static fs_status add_variables(fs_spill_model *t) {
  for (uint32_t op = 0; op < t->g->n_ops; op++) {
    FS_TRY(add_span(t, &t->start[op], 'x', op));
  }
  FS_TRY(add_late(t));
  for (uint32_t i = 0; i < t->g->n_versions && !t->large; i++) {
    fs_spill_version *v = &t->version[i];
    FS_TRY(add_span(t, &v->write, 'w', i));
    FS_TRY(add_span(t, &v->read, 'g', i));
    FS_TRY(add_span(t, &v->in, 'm', i));
    FS_TRY(add_span(t, &v->stored, 's', i));
    FS_TRY(add_span(t, &v->begin, 'b', i));
  }
  for (uint32_t p = 0; p < t->n_pairs && !t->large; p++) {
    FS_TRY(add_span(t, &t->pair[p].taken, 'q', p));
  }
  return FSCHED_OK;
}

/* ---- ops */

static fs_status one_start(fs_spill_model *t, uint32_t op) {
  assert(op < t->g->n_ops);
  const fs_start_span *s = &t->start[op];
  FS_TRY(fs_model_begin_row(&t->model, 1, 1, "once_%u", op));
  FS_TRY(fs_spill_add(t, s, s->from, s->to, FS_NONE, 1));
  return fs_model_end_row(&t->model);
}

/* Does another path imply the order? */
static bool implied(const fs_spill_model *t, uint32_t from, uint32_t to) {
  for (uint32_t e = t->g->pred0[to]; e < t->g->pred0[to + 1]; e++) {
    if (t->ancestors[t->g->pred[e]] >> from & 1) {
      return true;
    }
  }
  return false;
}

/* Adds rows: if `to` has started by `at`, then `from` has ended by then. */
static fs_status precedence(fs_spill_model *t, uint32_t from, uint32_t to) {
  assert(from < t->g->n_ops && to < t->g->n_ops);
  const fs_start_span *a = &t->start[from], *b = &t->start[to];
  for (int64_t at = b->from; at < b->to && at - t->time[from] < a->to - 1 && !t->large; at++) {
    FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, 0, "after_%u_%u_%lld", from, to,
                              (long long)at));
    FS_TRY(fs_spill_add(t, b, b->from, at, FS_NONE, 1));
    FS_TRY(fs_spill_add(t, a, a->from, at - t->time[from], FS_NONE, -1));
    FS_TRY(fs_model_end_row(&t->model));
  }
  return FSCHED_OK;
}

/* Adds rows: the makespan is above `at` if the op, with its tail, ends after `at`. */
static fs_status makespan(fs_spill_model *t, uint32_t op) {
  const fs_start_span *s = &t->start[op];
  int64_t after = t->time[op] + t->tail[op];
  for (int64_t at = t->bound; at < t->horizon && !t->large; at++) {
    FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, 0, "end_%u_%lld", op, (long long)at));
    FS_TRY(fs_spill_add(t, s, at - after + 1, s->to, FS_NONE, 1));
    FS_TRY(fs_spill_add_at(t, &t->late, at, -1));
    FS_TRY(fs_model_end_row(&t->model));
  }
  return FSCHED_OK;
}

static fs_status descend(fs_spill_model *t) {
  for (int64_t at = t->bound; at + 1 < t->horizon; at++) {
    FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, 0, "late_%lld", (long long)at));
    FS_TRY(fs_spill_add_at(t, &t->late, at + 1, 1));
    FS_TRY(fs_spill_add_at(t, &t->late, at, -1));
    FS_TRY(fs_model_end_row(&t->model));
  }
  return FSCHED_OK;
}

static fs_status op_rows(fs_spill_model *t) {
  const fsched_graph *g = t->g;
  for (uint32_t op = 0; op < g->n_ops && !t->large; op++) {
    FS_TRY(one_start(t, op));
    for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
      if (!implied(t, g->pred[e], op)) {
        FS_TRY(precedence(t, g->pred[e], op));
      }
    }
    if (g->succ0[op] == g->succ0[op + 1] || t->tail[op] > 0) {
      FS_TRY(makespan(t, op));
    }
  }
  return descend(t);
}

/* ---- amounts and queues that an item holds while it runs */

typedef struct user {
  const fs_start_span *span;
  uint32_t k; /* class of the span, or FS_NONE: all */
  int64_t time, amount;
} user;

typedef struct held {
  fs_spill_model *t;
  const char *name; /* prefix of the rows' names */
  uint32_t id;
  int64_t capacity;
  FS_VEC(user) user;
} held;

static fs_status hold(held *h, const fs_start_span *span, uint32_t k, int64_t time,
                      int64_t amount) {
  user u = {span, k, time, amount};
  return span->from < span->to ? fs_vec_push(h->t->ctx, &h->user, u) : FSCHED_OK;
}

/* Makes the row of all that runs during [at, at+1).  A version has at most one copy at a time. */
static fs_status tick_row(held *h, int64_t at) {
  fs_spill_model *t = h->t;
  int64_t sum = 0;
  for (size_t i = 0; i < h->user.n; i++) {
    const user *u = &h->user.at[i];
    bool runs = at >= u->span->from && at < u->span->to + u->time - 1;
    sum += runs ? u->amount : 0;
  }
  if (sum <= h->capacity) {
    return FSCHED_OK;
  }
  FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, h->capacity, "%s_%u_%lld", h->name, h->id,
                            (long long)at));
  for (size_t i = 0; i < h->user.n; i++) {
    const user *u = &h->user.at[i];
    FS_TRY(fs_spill_add(t, u->span, at - u->time + 1, at, u->k, u->amount));
  }
  return fs_model_end_row(&t->model);
}

/* Makes the row of an item without length and of all items that begin before and end after it. */
static fs_status instant_row(held *h, const user *item, int64_t at) {
  fs_spill_model *t = h->t;
  FS_TRY(fs_model_begin_row(&t->model, -FS_MODEL_INF, h->capacity, "%s_%u_at_%lld_%zu", h->name,
                            h->id, (long long)at, (size_t)(item - h->user.at)));
  FS_TRY(fs_spill_add(t, item->span, at, at, item->k, item->amount));
  for (size_t i = 0; i < h->user.n; i++) {
    const user *u = &h->user.at[i];
    if (u->time > 1) {
      FS_TRY(fs_spill_add(t, u->span, at - u->time + 1, at - 1, u->k, u->amount));
    }
  }
  return fs_model_end_row(&t->model);
}

static fs_status held_rows(held *h) {
  for (int64_t at = 0; at < h->t->horizon && !h->t->large; at++) {
    FS_TRY(tick_row(h, at));
  }
  for (size_t i = 0; i < h->user.n; i++) {
    const user *u = &h->user.at[i];
    for (int64_t at = u->span->from; u->time == 0 && at < u->span->to && !h->t->large; at++) {
      FS_TRY(instant_row(h, u, at));
    }
  }
  return FSCHED_OK;
}

static fs_status hold_class(held *h, uint32_t class_id) {
  fs_spill_model *t = h->t;
  const fsched_graph *g = t->g;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    bool gang = g->op_gang[op] != FS_NONE;
    for (uint32_t i = t->choice0[op]; i < t->choice0[op + 1]; i++) {
      if (t->choice[i] == class_id) {
        FS_TRY(hold(h, &t->start[op], gang ? FS_NONE : i - t->choice0[op], t->time[op],
                    gang ? h->capacity : 1));
      }
    }
  }
  for (uint32_t i = 0; i < g->n_versions; i++) {
    const fs_spill_version *v = &t->version[i];
    uint32_t first = t->copy_choice0[v->memory];
    for (uint32_t c = first; v->used && v->spills && c < t->copy_choice0[v->memory + 1]; c++) {
      if (t->copy_choice[c] == class_id) {
        FS_TRY(hold(h, &v->write, c - first, v->write_time, 1));
        FS_TRY(hold(h, &v->read, c - first, v->read_time, 1));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status hold_resource(held *h, uint32_t resource) {
  const fsched_graph *g = h->t->g;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t u = g->op_use0[op]; u < g->op_use0[op + 1]; u++) {
      if (g->use_resource[u] == resource) {
        FS_TRY(hold(h, &h->t->start[op], FS_NONE, h->t->time[op], (int64_t)g->use_amount[u]));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status hold_concurrency(held *h) {
  for (uint32_t op = 0; op < h->t->g->n_ops; op++) {
    FS_TRY(hold(h, &h->t->start[op], FS_NONE, h->t->time[op], 1));
  }
  return FSCHED_OK;
}

static fs_status amount_rows(fs_spill_model *t, held *h) {
  const fs_target *target = &t->g->target;
  h->name = "queue";
  for (uint32_t c = 0; c < t->n_classes && !t->large; c++) {
    h->id = c;
    h->capacity = t->class_size[c];
    h->user.n = 0;
    FS_TRY(hold_class(h, c));
    if (t->class_size[c] != FS_NONE) {
      FS_TRY(held_rows(h));
    }
  }
  h->name = "use";
  for (uint32_t r = 0; r < target->n_resources && !t->large; r++) {
    h->id = r;
    h->capacity = (int64_t)target->resource_capacity[r];
    h->user.n = 0;
    FS_TRY(hold_resource(h, r));
    FS_TRY(held_rows(h));
  }
  if (target->concurrency > 0 && target->concurrency <= t->g->n_ops) {
    h->name = "ops";
    h->id = 0;
    h->capacity = (int64_t)target->concurrency;
    h->user.n = 0;
    FS_TRY(hold_concurrency(h));
    FS_TRY(held_rows(h));
  }
  return FSCHED_OK;
}

/* ---- notes */

static fs_status add_notes(fs_spill_model *t) {
  const fsched_graph *g = t->g;
  FS_TRY(fs_model_add_note(&t->model, "a unit is %llu ticks; the makespan is at least %lld units",
                           (unsigned long long)t->unit, (long long)t->bound));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    FS_TRY(fs_model_add_note(&t->model, "x_%u_t: op %s starts at t", op, g->op_name[op]));
  }
  for (uint32_t v = 0; v < g->n_versions; v++) {
    if (t->version[v].used) {
      FS_TRY(fs_model_add_note(&t->model,
                               "m_%u_t, w_%u_t, g_%u_t: %s.%u is in %s, its write, its read", v, v,
                               v, g->buffer_name[g->version_buffer[v]], fs_version_index(g, v),
                               g->target.memory[t->version[v].memory].name));
    }
  }
  return fs_model_add_note(&t->model, "z_t: the makespan is above t");
}

/* ---- the whole model */

static fs_status write_down(fs_spill_model *t) {
  held h = {.t = t};
  FS_TRY(add_variables(t));
  if (t->large) {
    return FSCHED_OK;
  }
  FS_TRY(add_notes(t));
  FS_TRY(op_rows(t));
  fs_status status = amount_rows(t, &h);
  fs_vec_free(t->ctx, &h.user);
  return status == FSCHED_OK ? fs_spill_rows(t) : status;
}

fs_status fs_spill_model_build(fsched_context *ctx, const fsched_graph *g, fs_tick horizon,
                               size_t max_terms, fs_spill_model **out) {
  *out = NULL;
  if (g->n_ops > fs_limits_of(ctx)->spill_ops || g->n_ops == 0) {
    return FSCHED_OK;
  }
  fs_spill_model *t = fs_realloc(ctx, NULL, 0, sizeof *t);
  if (t == NULL) {
    return FSCHED_SYSTEM;
  }
  *t = (fs_spill_model){.ctx = ctx, .g = g, .max_terms = max_terms == 0 ? SIZE_MAX : max_terms};
  fs_arena_init(&t->arena, ctx);
  fs_model_init(&t->model, ctx, "spills");
  fs_status status = fs_spill_facts(t, horizon);
  t->large |= t->horizon > (int64_t)fs_limits_of(ctx)->spill_horizon;
  if (status == FSCHED_OK && !t->refused && !t->large) {
    status = write_down(t);
  }
  if (status != FSCHED_OK || t->refused || t->large) {
    fs_spill_model_destroy(t);
    return status;
  }
  *out = t;
  return FSCHED_OK;
}

const fs_model *fs_spill_model_of(const fs_spill_model *t) { return &t->model; }

void fs_spill_model_destroy(fs_spill_model *t) {
  if (t == NULL) {
    return;
  }
  fs_vec_free(t->ctx, &t->meet);
  fs_model_release(&t->model);
  fs_arena_release(&t->arena);
  (void)fs_realloc(t->ctx, t, sizeof *t, 0);
}
