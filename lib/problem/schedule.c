/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the problem of a schedule with its copies and residencies.  A walk over the items in order
 * of issue finds the orders that the contents need, so that they hold for other times too:
 *
 *   read   follows the write whose bytes it reads; precedes all items that touch the residency it
 *          fills
 *   write  follows the writers since the last write, and the reads of the store copy that it
 *          replaces; precedes the next writers of the residency
 *   item   that first touches a version's next residency in a memory: follows all items that
 *          touched the one before
 *
 * Every order goes from an item to one that is issued later, so there are no cycles. */
#include <stdlib.h>

#include "problem/private.h"

typedef struct list_link { /* an entry of a list, in the pool */
  uint32_t item, next;
} list_link;

typedef struct schedule_walk {
  fs_problem_draft *d;
  const fs_schedule *s;
  FS_VEC(list_link) pool;
  uint32_t *touched; /* per residency: list of items */
  uint32_t *before;  /* per residency: the one before of the same version and memory, FS_NONE */
  uint32_t *filler;  /* per residency: the read that filled it, or FS_NONE */
  uint32_t *write;   /* per version: the latest write copy, or FS_NONE */
  uint32_t *writers; /* per version: list of the ops that wrote it since `write` */
  uint32_t *readers; /* per version: list of the copies that read the store since `write` */
} schedule_walk;

static fs_status push(schedule_walk *w, uint32_t *head, uint32_t item) {
  list_link l = {item, *head};
  if (*head != FS_NONE && w->pool.at[*head].item == item) {
    return FSCHED_OK;
  }
  *head = (uint32_t)w->pool.n;
  return fs_vec_push(w->d->ctx, &w->pool, l);
}

static fs_status edges_from(schedule_walk *w, uint32_t head, uint32_t to) {
  for (uint32_t i = head; i != FS_NONE; i = w->pool.at[i].next) {
    FS_TRY(fs_problem_add_edge(w->d, w->pool.at[i].item, to));
  }
  return FSCHED_OK;
}

/* Records that an item touches a residency of a version, and the orders that this alone needs. */
static fs_status touch(schedule_walk *w, uint32_t r, uint32_t item, unsigned mode) {
  fs_problem_draft *d = w->d;
  if (r == FS_NONE) {
    return FSCHED_OK;
  }
  if (w->touched[r] == FS_NONE && w->before[r] != FS_NONE) {
    FS_TRY(edges_from(w, w->touched[w->before[r]], item));
    mode |= FS_TOUCH_FILLS;
  }
  if (d->first.at[r] == FS_NONE && !d->from_zero.at[r]) {
    d->first.at[r] = item;
  }
  if (w->filler[r] != FS_NONE) {
    FS_TRY(fs_problem_add_edge(d, w->filler[r], item));
  }
  FS_TRY(push(w, &w->touched[r], item));
  return fs_problem_add_touch(d, r, item, mode);
}

static fs_status walk_op(schedule_walk *w, uint32_t op) {
  const fsched_graph *g = w->d->g;
  const fs_schedule *s = w->s;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    uint32_t r = s->arg_residency[a], v = g->arg_version[a];
    if (!fs_arg_accesses(g, a) || r == FS_NONE) {
      continue;
    }
    bool writes = fs_tag_writes(g->arg_tag[a]);
    FS_TRY(touch(w, r, op, writes ? FS_TOUCH_WRITES : 0));
    if (writes && w->write[v] != FS_NONE && s->copy_residency[w->write[v] - g->n_ops] == r) {
      FS_TRY(fs_problem_add_edge(w->d, w->write[v], op));
    }
    if (writes) {
      FS_TRY(push(w, &w->writers[v], op));
    }
  }
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    FS_TRY(touch(w, s->scratch_residency[i], op, FS_TOUCH_FILLS));
  }
  return FSCHED_OK;
}

static fs_status walk_copy(schedule_walk *w, uint32_t item) {
  fs_problem_draft *d = w->d;
  uint32_t c = item - d->g->n_ops, v = w->s->copy_version[c];
  uint32_t r = w->s->copy_residency[c], store = w->s->copy_store[c];
  if (w->s->copy_kind[c] == FS_SPILL_READ) {
    if (w->write[v] != FS_NONE) {
      FS_TRY(fs_problem_add_edge(d, w->write[v], item));
    }
    FS_TRY(touch(w, store, item, 0));
    FS_TRY(touch(w, r, item, FS_TOUCH_FILLS));
    w->filler[r] = item;
    return push(w, &w->readers[v], item);
  }
  FS_TRY(touch(w, r, item, 0));
  FS_TRY(touch(w, store, item, FS_TOUCH_WRITES));
  FS_TRY(edges_from(w, w->writers[v], item));
  FS_TRY(edges_from(w, w->readers[v], item));
  if (w->write[v] != FS_NONE) {
    FS_TRY(fs_problem_add_edge(d, w->write[v], item));
  }
  w->writers[v] = w->readers[v] = FS_NONE;
  w->write[v] = item;
  return FSCHED_OK;
}

/* ---- residencies */

typedef struct life {
  uint64_t place; /* 2 * version, plus 1 in the home memory */
  fs_tick begin, end;
  uint32_t id;
} life;

static int by_place(const void *a, const void *b) {
  const life *x = a, *y = b;
  if (x->place != y->place) {
    return x->place < y->place ? -1 : 1;
  }
  if (x->begin != y->begin) {
    return x->begin < y->begin ? -1 : 1;
  }
  if (x->end != y->end) {
    return x->end < y->end ? -1 : 1;
  }
  return x->id < y->id ? -1 : x->id > y->id;
}

static void find_life(fs_problem_draft *d, const fs_schedule *s, uint32_t r) {
  const fsched_graph *g = d->g;
  uint32_t v = s->res_version[r];
  bool home = s->res_memory[r] == fs_version_memory(g, v);
  if (home == fs_version_spills(g, v)) { /* neither given here nor kept here */
    return;
  }
  d->from_zero.at[r] = fs_version_given(g, v) && s->res_begin[r] == 0;
  d->to_end.at[r] = fs_version_kept(g, v) && s->res_end[r] >= s->makespan;
}

static fs_status list_residencies(schedule_walk *w) {
  fs_problem_draft *d = w->d;
  const fs_schedule *s = w->s;
  life *lives;
  uint32_t n = 0;
  FS_TRY(fs_new(&d->scratch, &lives, s->n_residencies));
  FS_TRY(fs_new_none(&d->scratch, &w->before, s->n_residencies));
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    uint32_t id, v = s->res_version[r];
    FS_TRY(fs_problem_add_residency(d, v, s->res_op[r], s->res_memory[r], &id));
    if (v != FS_NONE) {
      bool home = s->res_memory[r] == fs_version_memory(d->g, v);
      lives[n++] = (life){2 * (uint64_t)v + home, s->res_begin[r], s->res_end[r], r};
      find_life(d, s, r);
    }
  }
  if (n > 1) {
    qsort(lives, n, sizeof *lives, by_place);
  }
  for (uint32_t i = 1; i < n; i++) {
    if (lives[i].place == lives[i - 1].place) {
      w->before[lives[i].id] = lives[i - 1].id;
    }
  }
  return FSCHED_OK;
}

static fs_status copy_ids(fs_arena *arena, const uint32_t *from, uint32_t n, uint32_t **to) {
  FS_TRY(fs_new(arena, to, n));
  if (n > 0) {
    memcpy(*to, from, n * sizeof **to);
  }
  return FSCHED_OK;
}

static fs_status prepare_walk(schedule_walk *w) {
  fs_problem_draft *d = w->d;
  const fs_schedule *s = w->s;
  const fsched_graph *g = d->g;
  fs_arena *arena = &d->p->arena;
  FS_TRY(copy_ids(arena, s->arg_residency, g->n_args, &d->p->arg_residency));
  FS_TRY(copy_ids(arena, s->scratch_residency, g->op_scratch0[g->n_ops], &d->p->scratch_residency));
  FS_TRY(fs_new_none(&d->scratch, &w->touched, s->n_residencies));
  FS_TRY(fs_new_none(&d->scratch, &w->filler, s->n_residencies));
  FS_TRY(fs_new_none(&d->scratch, &w->write, g->n_versions));
  FS_TRY(fs_new_none(&d->scratch, &w->writers, g->n_versions));
  FS_TRY(fs_new_none(&d->scratch, &w->readers, g->n_versions));
  for (uint32_t c = 0; c < s->n_copies; c++) {
    uint32_t item;
    FS_TRY(fs_problem_add_copy(d, s->copy_kind[c], s->copy_version[c], s->copy_residency[c],
                               s->copy_store[c], &item));
  }
  return list_residencies(w);
}

static fs_status build_problem(schedule_walk *w) {
  const fs_schedule *s = w->s;
  FS_TRY(prepare_walk(w));
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t item = s->order[i];
    FS_TRY(item < w->d->g->n_ops ? walk_op(w, item) : walk_copy(w, item));
  }
  w->d->order = s->order;
  return fs_problem_finish(w->d);
}

fs_status fs_problem_from_schedule(fsched_context *ctx, const fs_schedule *s, fs_problem **out) {
  assert(s->n_items == s->graph->n_ops + s->n_copies);
  fs_problem_draft d;
  *out = NULL;
  FS_TRY(fs_problem_draft_begin(&d, ctx, s->graph));
  schedule_walk w = {.d = &d, .s = s};
  fs_status status = build_problem(&w);
  fs_vec_free(ctx, &w.pool);
  d.p->horizon = s->makespan;
  d.p->lower_bound = s->lower_bound;
  return fs_problem_draft_end(&d, status, true, out);
}
