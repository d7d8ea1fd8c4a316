/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a schedule from a point: residencies and copies (spill/lives.c), addresses
 * (lib/placement/placement.h), queues within their classes by first fit in order of start, the
 * order of issue; then the verifier checks it.
 *
 * Classes have enough queues at every time, and the items of a class can use any of its queues, so
 * first fit in order of start always finds a queue (the colouring of interval graphs).  Items
 * without length come before others with the same start: they can take any queue but those of items
 * that began before and end after. */
#include <stdio.h>
#include <stdlib.h>

#include "ilp/spill/private.h"
#include "model/issue_order.h"
#include "verify/schedule/verify.h"

/* ---- queues */

typedef struct item_key {
  int64_t start, end;
  uint32_t id;
} item_key;

static int compare_items(const void *a, const void *b) {
  const item_key *x = a, *y = b;
  if (x->start != y->start) {
    return x->start < y->start ? -1 : 1;
  }
  if ((x->start == x->end) != (y->start == y->end)) {
    return x->start == x->end ? -1 : 1;
  }
  return x->id < y->id ? -1 : x->id > y->id;
}

typedef struct schedule_maker {
  const fs_spill_model *t;
  const int64_t *value;
  const fs_spill_draft *d;
  fs_schedule *s;
  fs_arena *arena;
  uint32_t *copy;      /* per copy of the schedule: its index in the draft */
  uint32_t *residency; /* per life: its residency in the schedule */
  uint32_t *listed;
} schedule_maker;

/* The class of an item; FS_NONE for a gang. */
static uint32_t class_of_item(const schedule_maker *k, uint32_t item) {
  const fs_spill_model *t = k->t;
  if (item >= t->g->n_ops) {
    const fs_spill_copy *c = &k->d->copy.at[k->copy[item - t->g->n_ops]];
    return t->copy_choice[t->copy_choice0[t->version[c->version].memory] + c->choice];
  }
  const fs_start_span *s = &t->start[item];
  if (t->g->op_gang[item] != FS_NONE) {
    return FS_NONE;
  }
  int64_t at = fs_span_next(s, k->value, s->from);
  uint32_t choice = 0;
  while (k->value[fs_span_var(s, at, choice)] == 0) {
    choice++;
  }
  return t->choice[t->choice0[item] + choice];
}

/* A queue of the class that is free at `at`; FS_NONE: the point needs too many queues. */
static uint32_t free_queue(const schedule_maker *k, uint32_t class_id, const fs_tick *until,
                           fs_tick at) {
  for (uint32_t q = 0; q < k->s->n_queues; q++) {
    bool member = k->t->class_of == NULL || k->t->class_of[q] == class_id;
    if (member && until[q] <= at) {
      return q;
    }
  }
  return FS_NONE;
}

static fs_status sort_items(schedule_maker *k) {
  const fs_schedule *s = k->s;
  item_key *key;
  FS_TRY(fs_new(k->arena, &key, s->n_items));
  FS_TRY(fs_new(k->arena, &k->listed, s->n_items));
  for (uint32_t i = 0; i < s->n_items; i++) {
    key[i] = (item_key){(int64_t)s->start[i], (int64_t)s->end[i], i};
  }
  qsort(key, s->n_items, sizeof *key, compare_items);
  for (uint32_t i = 0; i < s->n_items; i++) {
    k->listed[i] = key[i].id;
  }
  return FSCHED_OK;
}

static fs_status name_queues(schedule_maker *k, uint32_t n) {
  fs_schedule *s = k->s;
  FS_TRY(fs_new(&s->arena, &s->queue_name, n));
  for (uint32_t q = 0; q < n; q++) {
    char name[16];
    int length = snprintf(name, sizeof name, "q%u", (unsigned)q);
    s->queue_name[q] = k->t->g->target.implicit_queues
                           ? fs_arena_strndup(&s->arena, name, (size_t)length)
                           : k->t->g->target.queue[q].name;
    if (s->queue_name[q] == NULL) {
      return FSCHED_SYSTEM;
    }
  }
  return FSCHED_OK;
}

static fs_status fill_queues(schedule_maker *k, bool *possible) {
  fs_schedule *s = k->s;
  const fsched_graph *g = k->t->g;
  bool implicit = g->target.implicit_queues;
  uint32_t used = 0, n, queue;
  fs_tick *until;
  s->n_queues = implicit ? s->n_items : g->target.n_queues;
  FS_TRY(fs_new_zero(k->arena, &until, s->n_queues));
  FS_TRY(sort_items(k));
  *possible = true;
  for (uint32_t i = 0; i < s->n_items && *possible; i++) {
    uint32_t item = k->listed[i], class_id = class_of_item(k, item);
    if (class_id == FS_NONE) {
      s->queue[item] = s->gang_queue[s->gang_queue0[s->op_gang[item]]];
    } else {
      queue = free_queue(k, class_id, until, s->start[item]);
      *possible = queue != FS_NONE;
      s->queue[item] = *possible ? queue : 0;
    }
    const uint32_t *queues = fs_item_queues(s, item, &n);
    for (uint32_t j = 0; j < n; j++) {
      until[queues[j]] = fs_max(until[queues[j]], s->end[item]);
      used = queues[j] + 1 > used ? queues[j] + 1 : used;
    }
  }
  s->n_queues = implicit ? used : s->n_queues;
  return name_queues(k, s->n_queues);
}

/* ---- the schedule's arrays */

static fs_status fill_items(schedule_maker *k) {
  fs_schedule *s = k->s;
  const fsched_graph *g = k->t->g;
  fs_tick unit = k->t->unit;
  uint32_t n_copies = 0;
  FS_TRY(fs_new(k->arena, &k->copy, k->d->copy.n));
  for (size_t c = 0; c < k->d->copy.n; c++) {
    if (k->d->copy.at[c].used) {
      k->copy[n_copies++] = (uint32_t)c;
    }
  }
  FS_TRY(fs_schedule_make_items(s, n_copies));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    const fs_start_span *x = &k->t->start[op];
    s->start[op] = (fs_tick)fs_span_next(x, k->value, x->from) * unit;
    s->end[op] = s->start[op] + g->op_time[op];
  }
  for (uint32_t c = 0; c < s->n_copies; c++) {
    const fs_spill_copy *copy = &k->d->copy.at[k->copy[c]];
    s->start[g->n_ops + c] = (fs_tick)copy->start * unit;
    s->end[g->n_ops + c] = (fs_tick)copy->end * unit;
  }
  s->makespan = (fs_tick)k->d->makespan * unit;
  s->lower_bound = fs_min(k->t->lower_bound, s->makespan);
  s->status = s->lower_bound == s->makespan ? FS_SCHEDULE_OPTIMAL : FS_SCHEDULE_FEASIBLE;
  return FSCHED_OK;
}

static int compare_lives(const void *a, const void *b) {
  const item_key *x = a, *y = b;
  return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
                              : (x->id > y->id) - (x->id < y->id);
}

/* Fills the residencies in order of their begins. */
static fs_status fill_residencies(schedule_maker *k, const uint64_t *address) {
  fs_schedule *s = k->s;
  item_key *key;
  uint32_t n = 0;
  FS_TRY(fs_new(k->arena, &key, k->d->life.n));
  FS_TRY(fs_new_none(k->arena, &k->residency, k->d->life.n));
  for (size_t i = 0; i < k->d->life.n; i++) {
    if (k->d->life.at[i].used) {
      key[n++] = (item_key){k->d->life.at[i].begin, 0, (uint32_t)i};
    }
  }
  if (n > 1) {
    qsort(key, n, sizeof *key, compare_lives);
  }
  FS_TRY(fs_schedule_make_residencies(s, n));
  for (uint32_t r = 0; r < n; r++) {
    const fs_spill_life *life = &k->d->life.at[key[r].id];
    k->residency[key[r].id] = r;
    s->res_version[r] = life->version;
    s->res_op[r] = life->op;
    s->res_memory[r] = life->memory;
    s->res_address[r] = address[key[r].id];
    s->res_size[r] = life->size;
    s->res_begin[r] = (fs_tick)life->begin * k->t->unit;
    s->res_end[r] = (fs_tick)life->end * k->t->unit;
  }
  return FSCHED_OK;
}

static uint32_t residency_of(const schedule_maker *k, uint32_t life) {
  return life == FS_NONE ? FS_NONE : k->residency[life];
}

static void link_copies(schedule_maker *k) {
  fs_schedule *s = k->s;
  for (uint32_t c = 0; c < s->n_copies; c++) {
    const fs_spill_copy *copy = &k->d->copy.at[k->copy[c]];
    s->copy_kind[c] = copy->kind;
    s->copy_version[c] = copy->version;
    s->copy_residency[c] = residency_of(k, copy->life);
    s->copy_store[c] = residency_of(k, copy->store);
  }
}

static void link_args(schedule_maker *k) {
  fs_schedule *s = k->s;
  const fs_spill_model *t = k->t;
  const fsched_graph *g = t->g;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
      if (g->arg_version[a] == FS_NONE || !fs_tag_accesses(g->arg_tag[a])) {
        continue;
      }
      const fs_spill_version *v = &t->version[g->arg_version[a]];
      for (uint32_t u = v->user0; u < v->user1; u++) {
        if (t->user_op[u] == op) {
          s->arg_residency[a] = residency_of(k, k->d->user_life[u]);
        }
      }
    }
  }
  for (uint32_t i = 0; i < g->op_scratch0[g->n_ops]; i++) {
    s->scratch_residency[i] = residency_of(k, k->d->scratch_life[i]);
  }
}

static fs_status make_schedule(schedule_maker *k, const uint64_t *address, bool *right) {
  FS_TRY(fill_items(k));
  FS_TRY(fill_residencies(k, address));
  link_copies(k);
  link_args(k);
  FS_TRY(fill_queues(k, right));
  if (!*right) {
    return FSCHED_OK;
  }
  FS_TRY(fs_schedule_order(k->s, k->listed));
  FS_TRY(fs_schedule_order_residencies(k->s));
  return fs_schedule_is_right(k->t->ctx, k->s, right);
}

static fs_status place_all(const fs_spill_model *t, const fs_spill_draft *d, uint64_t *address,
                           fs_decision *exists) {
  *exists = fs_decided_by(true);
  for (uint32_t m = 0; m < t->g->target.n_memories && exists->is == FS_YES; m++) {
    FS_TRY(fs_spill_place(t, d, m, address, exists));
  }
  return FSCHED_OK;
}

/* Tries to make a schedule.  *places: are there addresses?  *out is NULL when none are found, or
 * when the schedule is wrong nevertheless. */
static fs_status attempt(const fs_spill_model *t, const int64_t *value, bool merge,
                         fs_spill_draft *d, fs_schedule **out, fs_decision *places) {
  FS_TRY(fs_spill_lives(t, value, merge, d));
  *places = fs_not_decided();
  if (d->wrong) {
    return FSCHED_OK;
  }
  uint64_t *address;
  FS_TRY(fs_new_zero(&d->arena, &address, d->life.n));
  FS_TRY(place_all(t, d, address, places));
  if (places->is != FS_YES) {
    return FSCHED_OK;
  }
  schedule_maker k = {.t = t, .value = value, .d = d, .arena = &d->arena};
  bool right = false;
  FS_TRY(fs_schedule_create(t->ctx, t->g, &k.s));
  fs_status status = make_schedule(&k, address, &right);
  if (status != FSCHED_OK || !right) {
    fs_schedule_destroy(k.s);
    return status;
  }
  *out = k.s;
  return FSCHED_OK;
}

fs_status fs_spill_model_schedule(const fs_spill_model *t, const int64_t *value, fs_schedule **out,
                                  fs_decision *exists) {
  fs_spill_draft d;
  fs_decision places = fs_not_decided();
  *out = NULL;
  fs_status status = fs_spill_draft_begin(t, &d);
  if (status == FSCHED_OK) {
    status = attempt(t, value, true, &d, out, &places);
  }
  if (status == FSCHED_OK && *out == NULL && places.is != FS_YES && !d.wrong) {
    status = attempt(t, value, false, &d, out, &places);
  }
  fs_spill_draft_end(&d);
  bool wrong = *out == NULL && places.is == FS_YES; /* another schedule of the point may be right */
  *exists = wrong ? fs_not_decided() : places;
  return status;
}
