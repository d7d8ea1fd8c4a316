/* SPDX-License-Identifier: Apache-2.0 */
/* The problem of a point: its stays become residencies, those that overlap one of them, and the
 * copies are those that still have a purpose. */
#include "problem/private.h"
#include "problem/spilling/spilling.h"

typedef struct fixing {
  fs_problem_draft d;
  const fs_problem *p;
  const fs_spilling *w;
  const fs_spill_point *point;
  fs_ids copy_of;      /* per copy: its item in the open problem */
  uint32_t *joined;    /* per stay: the one that it is part of; FS_NONE: it is not there */
  int64_t *end;        /* per stay */
  uint32_t *residency; /* per stay */
  uint32_t *stay_of;   /* per user: the stay that it is in */
  fs_ids stays;        /* per residency */
} fixing;

static bool is_there(const fixing *x, uint32_t only_if) {
  return only_if == FS_NONE || x->point->holds[only_if] != 0;
}

static fs_tick end_of(const fixing *x, uint32_t item) {
  assert(item < x->p->n_items);
  return x->point->start[item] + x->p->time[item];
}

/* ---- stays */

/* The stay in which a user finds the version. */
static uint32_t find_stay(const fixing *x, uint32_t v, uint32_t u) {
  const fs_spilling *w = x->w;
  const fs_spill_user *user = &w->user[u];
  uint32_t first = w->user0[v], n = w->user0[v + 1] - first;
  if (user->stay != FS_NONE && is_there(x, w->stay[user->stay].only_if)) {
    return user->stay;
  }
  for (uint32_t i = 0; i < n; i++) {
    uint32_t in = w->member[user->in0 + i];
    if (in != FS_NONE && x->point->holds[in] != 0) {
      return w->user[first + i].stay;
    }
  }
  return FS_NONE;
}

static bool begins_before(const fixing *x, uint32_t a, uint32_t b) {
  fs_tick at = x->point->start[x->w->stay[a].begin], to = x->point->start[x->w->stay[b].begin];
  return at < to || (at == to && a < b);
}

/* A stay lasts until the writes from it have ended. */
static void hold_writes(fixing *x, uint32_t v) {
  for (uint32_t u = x->w->user0[v]; u < x->w->user0[v + 1]; u++) {
    uint32_t item = x->w->user[u].write, stay = x->stay_of[u];
    if (item != FS_NONE && is_there(x, x->w->item_if[item])) {
      x->end[stay] = fs_max(x->end[stay], (int64_t)end_of(x, item));
    }
  }
}

/* Joins the stays of a version that overlap. */
static void join_stays(fixing *x, uint32_t v) {
  const fs_spilling *w = x->w;
  uint32_t last = FS_NONE;
  for (;;) { /* the next one by its begin */
    uint32_t next = FS_NONE;
    for (uint32_t u = w->user0[v]; u < w->user0[v + 1]; u++) {
      uint32_t s = w->user[u].stay;
      if (s != FS_NONE && is_there(x, w->stay[s].only_if) && x->joined[s] == FS_NONE &&
          (next == FS_NONE || begins_before(x, s, next))) {
        next = s;
      }
    }
    if (next == FS_NONE) {
      return;
    }
    if (last != FS_NONE && (int64_t)x->point->start[w->stay[next].begin] < x->end[last]) {
      x->joined[next] = last;
      x->end[last] = fs_max(x->end[last], x->end[next]);
    } else {
      x->joined[next] = last = next;
    }
  }
}

static void find_stays(fixing *x, uint32_t v) {
  for (uint32_t u = x->w->user0[v]; u < x->w->user0[v + 1]; u++) {
    uint32_t stay = x->stay_of[u] = find_stay(x, v, u);
    assert(stay != FS_NONE);
    x->end[stay] = fs_max(x->end[stay], (int64_t)end_of(x, x->w->user[u].op));
  }
  hold_writes(x, v);
  join_stays(x, v);
  for (uint32_t u = x->w->user0[v]; u < x->w->user0[v + 1]; u++) {
    x->stay_of[u] = x->joined[x->stay_of[u]];
  }
}

/* ---- residencies and copies of a version */

static fs_status add_copy(fixing *x, fs_copy_kind kind, uint32_t v, uint32_t residency,
                          uint32_t open_item, uint32_t *item) {
  FS_TRY(fs_vec_push(x->d.ctx, &x->copy_of, open_item));
  FS_TRY(fs_problem_add_copy(&x->d, kind, v, residency, FS_NONE, item));
  return fs_problem_add_touch(&x->d, residency, *item, kind == FS_SPILL_READ ? FS_TOUCH_FILLS : 0);
}

static fs_status add_residency(fixing *x, uint32_t v, uint32_t stay) {
  uint32_t *r = &x->residency[stay];
  FS_TRY(fs_problem_add_residency(&x->d, v, FS_NONE, fs_version_memory(x->d.g, v), r));
  if (x->w->user[x->w->user0[v] + x->w->stay[stay].user].read == FS_NONE) {
    x->d.first.at[*r] = x->w->stay[stay].begin;
  }
  return fs_vec_push(x->d.ctx, &x->stays, stay);
}

/* The items that begin and touch a residency, before those of the next one of its version. */
typedef struct version_items {
  uint32_t *read;  /* per user: the read of its stay, if it begins it */
  uint32_t *write; /* per user */
} version_items;

static bool begins_stay(const fixing *x, uint32_t u) {
  uint32_t s = x->w->user[u].stay;
  return s != FS_NONE && x->joined[s] == s;
}

static fs_status add_reads(fixing *x, uint32_t v, version_items *at) {
  for (uint32_t u = x->w->user0[v]; u < x->w->user0[v + 1]; u++) {
    const fs_spill_user *user = &x->w->user[u];
    if (!begins_stay(x, u)) {
      continue;
    }
    FS_TRY(add_residency(x, v, user->stay));
    if (user->read == FS_NONE) {
      continue;
    }
    FS_TRY(add_copy(x, FS_SPILL_READ, v, x->residency[user->stay], user->read, &at->read[u]));
    for (uint32_t i = x->w->user0[v]; i < x->w->user0[v + 1]; i++) {
      if (x->stay_of[i] == user->stay) {
        FS_TRY(fs_problem_add_edge(&x->d, at->read[u], x->w->user[i].op));
      }
    }
  }
  return FSCHED_OK;
}

/* Is what the user leaves read later, or kept? */
static bool is_wanted(const fixing *x, uint32_t v, uint32_t u) {
  uint32_t first = x->w->user0[v];
  bool wanted = x->w->item_if[x->w->user[u].write] == FS_NONE;
  for (uint32_t i = first; i < x->w->user0[v + 1]; i++) {
    wanted = wanted || (begins_stay(x, i) && x->w->user[i].read != FS_NONE &&
                        x->w->user[i].writer == u - first);
  }
  return wanted;
}

static fs_status add_writes(fixing *x, uint32_t v, version_items *at) {
  uint32_t first = x->w->user0[v];
  for (uint32_t u = first; u < x->w->user0[v + 1]; u++) {
    const fs_spill_user *user = &x->w->user[u];
    if (user->write == FS_NONE || !is_there(x, x->w->item_if[user->write]) || !is_wanted(x, v, u)) {
      continue;
    }
    FS_TRY(add_copy(x, FS_SPILL_WRITE, v, x->residency[x->stay_of[u]], user->write, &at->write[u]));
    FS_TRY(fs_problem_add_edge(&x->d, user->op, at->write[u]));
    for (uint32_t i = first; i < x->w->user0[v + 1]; i++) {
      if (x->w->user[i].writer != u - first) {
        continue;
      }
      if (x->w->user[i].writes) {
        FS_TRY(fs_problem_add_edge(&x->d, at->write[u], x->w->user[i].op));
      }
      if (at->read[i] != FS_NONE) {
        FS_TRY(fs_problem_add_edge(&x->d, at->write[u], at->read[i]));
      }
    }
  }
  return FSCHED_OK;
}

/* What touches a residency comes before what begins a later one of its version. */
static fs_status order_stays(fixing *x, uint32_t v, const version_items *at) {
  uint32_t first = x->w->user0[v], end = x->w->user0[v + 1];
  for (uint32_t b = first; b < end; b++) {
    if (!begins_stay(x, b)) {
      continue;
    }
    uint32_t begin = at->read[b] == FS_NONE ? x->w->user[b].op : at->read[b];
    for (uint32_t u = first; u < end; u++) {
      if (x->stay_of[u] == x->w->user[b].stay ||
          !begins_before(x, x->stay_of[u], x->w->user[b].stay)) {
        continue;
      }
      FS_TRY(fs_problem_add_edge(&x->d, x->w->user[u].op, begin));
      if (at->write[u] != FS_NONE) {
        FS_TRY(fs_problem_add_edge(&x->d, at->write[u], begin));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status add_short(fixing *x, uint32_t v) {
  const fsched_graph *g = x->d.g;
  version_items at;
  FS_TRY(fs_new_none(&x->d.scratch, &at.read, x->w->user0[g->n_versions]));
  FS_TRY(fs_new_none(&x->d.scratch, &at.write, x->w->user0[g->n_versions]));
  find_stays(x, v);
  FS_TRY(add_reads(x, v, &at));
  FS_TRY(add_writes(x, v, &at));
  FS_TRY(order_stays(x, v, &at));
  for (uint32_t u = x->w->user0[v]; u < x->w->user0[v + 1]; u++) {
    uint32_t op = x->w->user[u].op;
    for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
      if (fs_arg_accesses(g, a) && g->arg_version[a] == v) {
        x->d.p->arg_residency[a] = x->residency[x->stay_of[u]];
      }
    }
  }
  return FSCHED_OK;
}

/* ---- the problem */

static fs_status add_versions(fixing *x) {
  const fsched_graph *g = x->d.g;
  for (uint32_t v = 0; v < g->n_versions; v++) {
    uint32_t held = x->w->held[v];
    if (held == FS_NONE && x->w->user0[v] < x->w->user0[v + 1]) {
      FS_TRY(add_short(x, v));
      continue;
    }
    if (held != FS_NONE) {
      x->joined[held] = held;
    }
    FS_TRY(fs_problem_add_version(&x->d, v));
    for (uint32_t k = 0; x->copy_of.n < x->d.kind.n; k++) {
      FS_TRY(fs_vec_push(x->d.ctx, &x->copy_of, g->n_ops + x->w->copy0[v] + k));
    }
    while (x->stays.n < x->d.version.n) {
      FS_TRY(fs_vec_push(x->d.ctx, &x->stays, held));
    }
  }
  return FSCHED_OK;
}

static fs_status add_scratch(fixing *x) {
  const fsched_graph *g = x->d.g;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
      if (fs_memory_bounded(&g->target.memory[g->scratch_memory[i]])) {
        FS_TRY(fs_problem_add_residency(&x->d, FS_NONE, op, g->scratch_memory[i],
                                        &x->d.p->scratch_residency[i]));
        FS_TRY(fs_vec_push(x->d.ctx, &x->stays, FS_NONE));
      }
    }
  }
  return FSCHED_OK;
}

/* The class of the new problem that has the queue; its classes are unions of those of the old one.
 */
static uint32_t class_with(const fs_problem *q, uint32_t queue) {
  for (uint32_t c = 0; c < q->n_classes; c++) {
    for (uint32_t k = q->class_queue0[c]; k < q->class_queue0[c + 1]; k++) {
      if (q->class_queue[k] == queue) {
        return c;
      }
    }
  }
  return FS_NONE;
}

static uint32_t chosen_class(const fixing *x, uint32_t item) {
  const fs_problem *p = x->p;
  for (uint32_t k = p->choice0[item]; k < p->choice0[item + 1]; k++) {
    uint32_t c = p->choice[k];
    if (p->gang[item] || !is_there(x, x->w->choice_if[k])) {
      continue;
    }
    return p->graph->target.implicit_queues
               ? c
               : class_with(x->d.p, p->class_queue[p->class_queue0[c]]);
  }
  return FS_NONE;
}

static fs_status make_answer(fixing *x, fs_answer *a) {
  fs_problem *q = x->d.p;
  *a = (fs_answer){0};
  FS_TRY(fs_new(&q->arena, &a->start, q->n_items));
  FS_TRY(fs_new(&q->arena, &a->choice, q->n_items));
  for (uint32_t i = 0; i < q->n_items; i++) {
    uint32_t old = i < q->graph->n_ops ? i : x->copy_of.at[i - q->graph->n_ops];
    a->start[i] = x->point->start[old];
    a->choice[i] = chosen_class(x, old);
    a->makespan = fs_max(a->makespan, a->start[i] + q->time[i]);
  }
  return FSCHED_OK;
}

static fs_status build(fixing *x, fs_spill_fixed *out) {
  const fsched_graph *g = x->d.g;
  fs_problem *q = x->d.p;
  FS_TRY(fs_new_none(&q->arena, &q->arg_residency, g->n_args));
  FS_TRY(fs_new_none(&q->arena, &q->scratch_residency, g->op_scratch0[g->n_ops]));
  FS_TRY(fs_new_none(&q->arena, &x->joined, x->w->n_stays));
  FS_TRY(fs_new_zero(&x->d.scratch, &x->end, x->w->n_stays));
  FS_TRY(fs_new_none(&x->d.scratch, &x->residency, x->w->n_stays));
  FS_TRY(fs_new_none(&x->d.scratch, &x->stay_of, x->w->user0[g->n_versions]));
  FS_TRY(add_versions(x));
  FS_TRY(add_scratch(x));
  FS_TRY(fs_problem_touch_ops(&x->d));
  FS_TRY(fs_problem_finish(&x->d));
  FS_TRY(fs_new(&q->arena, &out->stay, x->stays.n));
  if (x->stays.n > 0) {
    memcpy(out->stay, x->stays.at, x->stays.n * sizeof *out->stay);
  }
  out->joined = x->joined;
  return make_answer(x, &out->answer);
}

fs_status fs_spilling_fix(const fs_problem *p, const fs_spill_point *point, fs_spill_fixed *out) {
  assert(p->spilling != NULL);
  fixing x = {.p = p, .w = p->spilling, .point = point};
  *out = (fs_spill_fixed){0};
  FS_TRY(fs_problem_draft_begin(&x.d, p->ctx, p->graph));
  fs_status status = build(&x, out);
  x.d.p->horizon = out->answer.makespan;
  x.d.p->lower_bound = p->lower_bound;
  x.d.p->exact = x.d.p->least = false;
  fs_vec_free(p->ctx, &x.copy_of);
  fs_vec_free(p->ctx, &x.stays);
  return fs_problem_draft_end(&x.d, status, true, &out->problem);
}
