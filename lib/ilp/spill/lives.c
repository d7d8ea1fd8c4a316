/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the residencies and copies of a point.
 *
 * A residency begins with the first writer, with a read, or, for given content without a store, at
 * 0.  Each use belongs to the last residency that has begun by then.  A walk backwards from the
 * last residency keeps what is of use: residencies with users, the write that a useful read depends
 * on, and the last write of kept content.  The others are dropped, so residencies end with their
 * last use.
 *
 * With `merge`, a read is left out if the content is in memory until the read starts.  Such a read
 * is useful only as a move to another address. */
#include "ilp/spill/private.h"

typedef struct lives {
  const fs_spill_model *t;
  const int64_t *value;
  fs_spill_draft *d;
  uint32_t id; /* version */
  const fs_spill_version *v;
  size_t life0, copy0; /* where the lives and copies of this version begin */
} lives;

static fs_status add_life(lives *l, uint32_t memory, uint64_t size, int64_t begin, uint32_t fill) {
  fs_spill_life life = {.version = l->id,
                        .op = FS_NONE,
                        .memory = memory,
                        .size = size,
                        .begin = begin,
                        .end = begin,
                        .fill = fill};
  return fs_vec_push(l->d->ctx, &l->d->life, life);
}

static fs_status add_copies(lives *l, const fs_start_span *s, uint8_t kind, int64_t time) {
  for (int64_t at = s->from; at < s->to; at++) {
    for (uint32_t k = 0; k < s->classes; k++) {
      if (l->value[fs_span_var(s, at, k)] != 0) {
        fs_spill_copy copy = {.version = l->id,
                              .kind = kind,
                              .start = at,
                              .end = at + time,
                              .choice = k,
                              .life = FS_NONE,
                              .store = FS_NONE};
        FS_TRY(fs_vec_push(l->d->ctx, &l->d->copy, copy));
      }
    }
  }
  return FSCHED_OK;
}

static int64_t start_of(const lives *l, uint32_t op) {
  return fs_span_next(&l->t->start[op], l->value, l->t->start[op].from);
}

static int64_t first_writer(const lives *l) {
  int64_t first = INT64_MAX;
  for (uint32_t u = l->v->user0; u < l->v->user1; u++) {
    int64_t at = start_of(l, l->t->user_op[u]);
    first = l->t->user_how[u] & FS_SPILL_BEGINS && at < first ? at : first;
  }
  return first;
}

static fs_status begin_lives(lives *l) {
  const fs_spill_version *v = l->v;
  int64_t first = first_writer(l);
  if (v->given && !v->spills) {
    FS_TRY(add_life(l, v->memory, v->size, 0, FS_NONE));
  }
  for (size_t c = l->copy0; c < l->d->copy.n; c++) {
    const fs_spill_copy *copy = &l->d->copy.at[c];
    if (copy->kind != FS_SPILL_READ) {
      continue;
    }
    if (first < copy->start) {
      FS_TRY(add_life(l, v->memory, v->size, first, FS_NONE));
      first = INT64_MAX;
    }
    FS_TRY(add_life(l, v->memory, v->size, copy->start, (uint32_t)c));
    l->d->copy.at[c].life = (uint32_t)l->d->life.n - 1;
  }
  return first == INT64_MAX ? FSCHED_OK : add_life(l, v->memory, v->size, first, FS_NONE);
}

/* The last life that has begun at a time; FS_NONE: there is none, so the point is no schedule. */
static uint32_t life_at(const lives *l, int64_t at) {
  uint32_t found = FS_NONE;
  for (size_t i = l->life0; i < l->d->life.n; i++) {
    found = l->d->life.at[i].begin <= at ? (uint32_t)i : found;
  }
  return found;
}

static void touch(fs_spill_life *life, int64_t end) {
  life->end = end > life->end ? end : life->end;
}

/* Assigns each user and each write to the life of the version in which it begins.  Returns whether
 * there is such a life for all of them. */
static bool assign(lives *l) {
  for (uint32_t u = l->v->user0; u < l->v->user1; u++) {
    uint32_t op = l->t->user_op[u], life = life_at(l, start_of(l, op));
    if (life == FS_NONE) {
      return false;
    }
    l->d->user_life[u] = life;
    l->d->life.at[life].users++;
    touch(&l->d->life.at[life], start_of(l, op) + l->t->time[op]);
  }
  for (size_t c = l->copy0; c < l->d->copy.n; c++) {
    fs_spill_copy *copy = &l->d->copy.at[c];
    copy->life = copy->kind == FS_SPILL_WRITE ? life_at(l, copy->start) : copy->life;
    if (copy->life == FS_NONE) {
      return false;
    }
    touch(&l->d->life.at[copy->life], copy->end);
  }
  return true;
}

static bool there(const lives *l, int64_t from, int64_t to) {
  return from >= to || fs_span_sum(&l->v->in, l->value, from, to - 1) == to - from;
}

/* Joins life i to the one before it and drops its read. */
static void join_lives(lives *l, size_t i) {
  fs_spill_life *before = &l->d->life.at[i - 1], *life = &l->d->life.at[i];
  uint32_t to = life->joined = (uint32_t)i - 1;
  before->users += life->users;
  touch(before, life->end);
  l->d->copy.at[life->fill].dropped = true;
  life->users = 0;
  for (uint32_t u = l->v->user0; u < l->v->user1; u++) {
    l->d->user_life[u] = l->d->user_life[u] == i ? to : l->d->user_life[u];
  }
  for (size_t c = l->copy0; c < l->d->copy.n; c++) {
    l->d->copy.at[c].life = l->d->copy.at[c].life == i ? to : l->d->copy.at[c].life;
  }
}

static void join_all(lives *l) {
  for (size_t i = l->d->life.n; i-- > l->life0 + 1;) {
    const fs_spill_life *before = &l->d->life.at[i - 1], *life = &l->d->life.at[i];
    if (life->fill != FS_NONE && before->end <= life->begin && there(l, before->end, life->begin)) {
      join_lives(l, i);
    }
  }
}

/* The last write that has ended by a time; NULL: there is none. */
static fs_spill_copy *last_write(const lives *l, int64_t by) {
  fs_spill_copy *found = NULL;
  for (size_t c = l->copy0; c < l->d->copy.n; c++) {
    fs_spill_copy *copy = &l->d->copy.at[c];
    bool later = found == NULL || copy->end > found->end;
    bool write = copy->version == l->id && copy->kind == FS_SPILL_WRITE;
    found = write && copy->end <= by && later ? copy : found;
  }
  return found;
}

static bool of_use(const lives *l, uint32_t life) {
  bool yes = l->d->life.at[life].users > 0;
  for (size_t c = l->copy0; c < l->d->copy.n; c++) {
    const fs_spill_copy *copy = &l->d->copy.at[c];
    yes = yes || (copy->life == life && copy->kind == FS_SPILL_WRITE && copy->used);
  }
  return yes;
}

static void find_use(lives *l) {
  if (l->v->kept && l->v->spills && l->v->n_modify > 0) {
    fs_spill_copy *last = last_write(l, INT64_MAX);
    if (last != NULL) {
      last->used = true;
    }
  }
  for (size_t i = l->d->life.n; i-- > l->life0;) {
    fs_spill_life *life = &l->d->life.at[i];
    life->used = (life->joined == FS_NONE && of_use(l, (uint32_t)i)) ||
                 (l->v->kept && !l->v->spills && i + 1 == l->d->life.n);
    if (life->used && life->fill != FS_NONE) {
      fs_spill_copy *write = last_write(l, life->begin);
      l->d->copy.at[life->fill].used = true;
      if (write != NULL) {
        write->used = true;
      }
    }
  }
}

/* Finds the ends of lives again, without the copies that were dropped. */
static void find_ends(lives *l) {
  for (size_t i = l->life0; i < l->d->life.n; i++) {
    l->d->life.at[i].end = l->d->life.at[i].begin;
  }
  for (uint32_t u = l->v->user0; u < l->v->user1; u++) {
    uint32_t op = l->t->user_op[u];
    touch(&l->d->life.at[l->d->user_life[u]], start_of(l, op) + l->t->time[op]);
  }
  for (size_t c = l->copy0; c < l->d->copy.n; c++) {
    const fs_spill_copy *copy = &l->d->copy.at[c];
    if (copy->used) {
      touch(&l->d->life.at[copy->life], copy->end);
      l->d->makespan = copy->end > l->d->makespan ? copy->end : l->d->makespan;
    }
  }
}

static fs_status version_lives(lives *l, bool merge) {
  l->life0 = l->d->life.n;
  l->copy0 = l->d->copy.n;
  FS_TRY(add_copies(l, &l->v->read, FS_SPILL_READ, l->v->read_time));
  FS_TRY(begin_lives(l));
  FS_TRY(add_copies(l, &l->v->write, FS_SPILL_WRITE, l->v->write_time));
  for (size_t i = l->life0; i < l->d->life.n; i++) {
    l->d->life.at[i].joined = FS_NONE;
  }
  if (!assign(l)) {
    l->d->wrong = true;
    return FSCHED_OK;
  }
  if (merge) {
    join_all(l);
  }
  find_use(l);
  find_ends(l);
  return FSCHED_OK;
}

/* ---- residencies in a store that has a capacity */

/* Adds the residency in the store from a write (NULL: from 0, for given content) to the last read
 * of that content. */
static fs_status store_life(lives *l, fs_spill_copy *write) {
  const fsched_graph *g = l->t->g;
  uint32_t memory = g->target.memory[l->v->memory].backing, id = (uint32_t)l->d->life.n;
  uint64_t size = fs_align_up(fs_version_size(g, l->id), g->target.memory[memory].align);
  bool any = write != NULL;
  int64_t end = write == NULL ? 0 : write->end;
  for (size_t c = l->copy0; c < l->d->copy.n; c++) {
    fs_spill_copy *copy = &l->d->copy.at[c];
    if (copy->version == l->id && copy->kind == FS_SPILL_READ && copy->used &&
        last_write(l, copy->start) == write) {
      copy->store = id;
      end = copy->end > end ? copy->end : end;
      any = true;
    }
  }
  if (l->v->kept && last_write(l, INT64_MAX) == write) {
    end = l->d->makespan;
    any = true;
  }
  if (!any) {
    return FSCHED_OK;
  }
  if (write != NULL) {
    write->store = id;
  }
  FS_TRY(add_life(l, memory, size, write == NULL ? 0 : write->start, FS_NONE));
  l->d->life.at[id].end = end;
  l->d->life.at[id].used = true;
  return FSCHED_OK;
}

/* Finds the first copy of the version; the copies of a version are adjacent. */
static void find_copies(lives *l) {
  l->copy0 = 0;
  while (l->copy0 < l->d->copy.n && l->d->copy.at[l->copy0].version != l->id) {
    l->copy0++;
  }
}

static fs_status store_lives(lives *l) {
  find_copies(l);
  for (size_t c = l->copy0; c < l->d->copy.n; c++) {
    fs_spill_copy *copy = &l->d->copy.at[c];
    if (copy->version == l->id && copy->kind == FS_SPILL_WRITE && copy->used) {
      FS_TRY(store_life(l, copy));
    }
  }
  return l->v->given ? store_life(l, NULL) : FSCHED_OK;
}

/* ---- the whole point */

static fs_status scratch_lives(lives *l) {
  const fsched_graph *g = l->t->g;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
      const fs_memory *m = &g->target.memory[g->scratch_memory[i]];
      if (fs_memory_bounded(m)) {
        fs_spill_life life = {.version = FS_NONE,
                              .op = op,
                              .memory = g->scratch_memory[i],
                              .size = fs_align_up(g->scratch_size[i], m->align),
                              .begin = start_of(l, op),
                              .end = start_of(l, op) + l->t->time[op],
                              .fill = FS_NONE,
                              .used = true};
        l->d->scratch_life[i] = (uint32_t)l->d->life.n;
        FS_TRY(fs_vec_push(l->d->ctx, &l->d->life, life));
      }
    }
  }
  return FSCHED_OK;
}

/* Lets kept content without a store stay to the makespan. */
static void stay(const fs_spill_model *t, fs_spill_draft *d) {
  for (size_t i = 0; i < d->life.n; i++) {
    fs_spill_life *life = &d->life.at[i];
    const fs_spill_version *v = life->version == FS_NONE ? NULL : &t->version[life->version];
    bool last = i + 1 == d->life.n || d->life.at[i + 1].version != life->version;
    if (v != NULL && v->kept && !v->spills && last) {
      life->end = d->makespan;
    }
  }
}

fs_status fs_spill_lives(const fs_spill_model *t, const int64_t *value, bool merge,
                         fs_spill_draft *d) {
  const fsched_graph *g = t->g;
  lives l = {.t = t, .value = value, .d = d};
  d->life.n = d->copy.n = 0; /* copies of a version are adjacent */
  d->makespan = 0;
  d->wrong = false;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    const fs_start_span *s = &t->start[op];
    d->wrong = d->wrong || fs_span_sum(s, value, s->from, s->to) != 1;
    int64_t end = start_of(&l, op) + t->time[op];
    d->makespan = !d->wrong && end > d->makespan ? end : d->makespan;
  }
  for (l.id = 0; l.id < g->n_versions && !d->wrong; l.id++) {
    l.v = &t->version[l.id];
    if (l.v->used) {
      FS_TRY(version_lives(&l, merge));
    }
  }
  if (d->wrong) {
    return FSCHED_OK;
  }
  stay(t, d);
  for (l.id = 0; l.id < g->n_versions; l.id++) {
    l.v = &t->version[l.id];
    if (l.v->used && l.v->bounded_store) {
      FS_TRY(store_lives(&l));
    }
  }
  return scratch_lives(&l);
}

fs_status fs_spill_draft_begin(const fs_spill_model *t, fs_spill_draft *d) {
  *d = (fs_spill_draft){.ctx = t->ctx};
  fs_arena_init(&d->arena, t->ctx);
  FS_TRY(fs_new_none(&d->arena, &d->user_life, t->g->n_args));
  return fs_new_none(&d->arena, &d->scratch_life, t->g->op_scratch0[t->g->n_ops]);
}

void fs_spill_draft_end(fs_spill_draft *d) {
  fs_vec_free(d->ctx, &d->life);
  fs_vec_free(d->ctx, &d->copy);
  fs_arena_release(&d->arena);
}
