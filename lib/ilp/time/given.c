/* SPDX-License-Identifier: Apache-2.0 */
/* Given addresses: residencies that have some addresses in common exclude each other in time.
 *
 * The ends of all places cut the memory into intervals; the residencies that cover one of them are
 * a clique:
 *
 *   sum(r covers the interval) live[r,t] <= 1      for each t
 *
 * Intervals whose cover is part of another's need no rows.  An in-place output at its input's
 * address overlaps it exactly while the op runs (rows keep other items from ending the input
 * later), so the op's activity is subtracted. */
#include <stdlib.h>

#include "base/radix.h"
#include "ilp/time/private.h"

typedef struct life_list {
  uint32_t *at, n;
} life_list;

static bool covers(const fs_time_model *t, uint32_t r, uint64_t cell) {
  uint64_t address = t->o.address[r];
  return address <= cell && cell - address < t->p->res_size[r];
}

/* Lists a memory's residencies that live at times that matter, and where their places begin. */
static fs_status gather_lives(fs_time_model *t, fs_arena *arena, uint32_t memory, life_list *all,
                              uint64_t **begin) {
  const fs_problem *p = t->p;
  FS_TRY(fs_new(arena, &all->at, p->n_residencies));
  FS_TRY(fs_new(arena, begin, p->n_residencies));
  all->n = 0;
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    if (p->res_memory[r] == memory && t->life[r].touched && p->res_size[r] > 0) {
      (*begin)[all->n] = t->o.address[r];
      all->at[all->n++] = r;
    }
  }
  if (all->n > 1) {
    qsort(*begin, all->n, sizeof **begin, fs_compare_u64);
  }
  return FSCHED_OK;
}

static bool is_in(const life_list *c, uint32_t r) {
  for (uint32_t k = 0; k < c->n; k++) {
    if (c->at[k] == r) {
      return true;
    }
  }
  return false;
}

static bool both_in(const fs_time_model *t, const life_list *c, uint32_t pair) {
  return t->same[pair] == FS_SAME_YES && is_in(c, t->p->coincide_in[pair]) &&
         is_in(c, t->p->coincide_out[pair]);
}

static fs_status add_cover(fs_time_model *t, const life_list *c, const uint32_t *pair,
                           uint32_t n_pairs, fs_tick at, uint32_t instant) {
  const fs_problem *p = t->p;
  bool inside = instant != FS_NONE;
  for (uint32_t k = 0; k < c->n; k++) {
    FS_TRY(c->at[k] == instant ? fs_time_add_start(t, t->life[instant].begin, FS_NONE, at, at, 1)
                               : fs_time_add_live(t, c->at[k], at, inside, 1));
  }
  for (uint32_t k = 0; k < n_pairs; k++) {
    if (p->coincide_in[pair[k]] != instant && p->coincide_out[pair[k]] != instant) {
      FS_TRY(fs_time_add_active(t, p->coincide_op[pair[k]], FS_NONE, at, inside, -1));
    }
  }
  return FSCHED_OK;
}

static fs_status cover_row(fs_time_model *t, const life_list *c, const uint32_t *pair,
                           uint32_t n_pairs, fs_tick at, uint32_t instant, bool *before) {
  bool kept;
  unsigned long long tick = at;
  if (instant == FS_NONE) {
    FS_TRY(fs_model_begin_row(&t->m, -FS_MODEL_INF, 1, "place_%u_%llu", t->n_covers, tick));
  } else {
    FS_TRY(fs_model_begin_row(&t->m, -FS_MODEL_INF, 1, "place_%u_%llu_%u", t->n_covers, tick,
                              instant));
  }
  FS_TRY(add_cover(t, c, pair, n_pairs, at, instant));
  FS_TRY(fs_time_end_row(t, &kept));
  fs_time_drop_weaker(t, before, kept);
  return FSCHED_OK;
}

static fs_status cover_rows(fs_time_model *t, fs_arena *arena, const life_list *c) {
  uint32_t *pair, n_pairs = 0;
  bool before = false;
  FS_TRY(fs_new(arena, &pair, t->n_near_pair));
  for (uint32_t k = 0; k < t->n_near_pair; k++) {
    if (both_in(t, c, t->near_pair[k])) {
      pair[n_pairs++] = t->near_pair[k];
    }
  }
  for (fs_tick at = t->from; at < t->to && !t->full; at++) {
    FS_TRY(cover_row(t, c, pair, n_pairs, at, FS_NONE, &before));
  }
  for (uint32_t k = 0; k < c->n && !t->full; k++) {
    const fs_time_life *life = &t->life[c->at[k]];
    if (!life->instant) {
      continue;
    }
    const fs_time_item *x = &t->item[life->begin];
    for (fs_tick at = fs_max(x->est, t->from); at <= fs_min(x->lst, t->to) && !t->full; at++) {
      FS_TRY(cover_row(t, c, pair, n_pairs, at, c->at[k], &before));
    }
  }
  t->n_covers++;
  return FSCHED_OK;
}

/* Makes the rows of the residencies that cover `cell`, where a place begins.  The next place begins
 * at `next`; unless one of the covering places ends by then, the cover is part of the next one and
 * needs none. */
static fs_status cover_at(fs_time_model *t, fs_arena *arena, const life_list *all, uint64_t cell,
                          uint64_t next) {
  life_list c = {0};
  bool ends = false;
  FS_TRY(fs_new(arena, &c.at, all->n));
  for (uint32_t k = 0; k < all->n; k++) {
    uint32_t r = all->at[k];
    if (covers(t, r, cell)) {
      c.at[c.n++] = r;
      ends = ends || t->o.address[r] + t->p->res_size[r] <= next;
    }
  }
  return ends && c.n > 1 ? cover_rows(t, arena, &c) : FSCHED_OK;
}

/* Adds rows: the op of an in-place pair is the last to end its input. */
static fs_status end_together(fs_time_model *t, uint32_t pair) {
  uint32_t op = t->p->coincide_op[pair];
  const fs_time_life *life = &t->life[t->p->coincide_in[pair]];
  for (uint32_t e = life->end0; life->touched && e < life->end1; e++) {
    uint32_t end = t->life_end.at[e];
    const fs_time_item *x = &t->item[end], *y = &t->item[op];
    if (end == op || fs_time_before(t, end, op) || x->lst + x->time <= y->est + y->time) {
      continue;
    }
    FS_TRY(fs_model_begin_row(&t->m, (int64_t)x->time - (int64_t)y->time, FS_MODEL_INF,
                              "same_%u_%u", pair, end));
    FS_TRY(fs_time_add_time(t, op, 1));
    FS_TRY(fs_time_add_time(t, end, -1));
    FS_TRY(fs_model_end_row(&t->m));
  }
  return FSCHED_OK;
}

static fs_status memory_rows(fs_time_model *t, fs_arena *arena, uint32_t memory) {
  life_list all;
  uint64_t *begin;
  FS_TRY(gather_lives(t, arena, memory, &all, &begin));
  for (uint32_t k = 0; k < all.n && !t->full; k++) {
    uint64_t next = k + 1 < all.n ? begin[k + 1] : UINT64_MAX;
    if (begin[k] != next) {
      fs_arena_mark mark = fs_arena_set_mark(arena);
      FS_TRY(cover_at(t, arena, &all, begin[k], next));
      fs_arena_reset(arena, mark);
    }
  }
  return FSCHED_OK;
}

fs_status fs_time_given(fs_time_model *t) {
  assert(t->life != NULL || t->p->n_residencies == 0);
  const fs_target *target = &t->p->graph->target;
  FS_SCRATCH(arena, t->m.ctx);
  for (uint32_t k = 0; k < t->n_near_pair; k++) {
    FS_TRY(end_together(t, t->near_pair[k]));
  }
  for (uint32_t m = 0; m < target->n_memories && !t->full; m++) {
    const fs_memory *memory = &target->memory[m];
    if (fs_memory_bounded(memory) && fs_placement_has_addresses(memory->placement)) {
      fs_arena_mark mark = fs_arena_set_mark(&arena);
      FS_TRY(memory_rows(t, &arena, m));
      fs_arena_reset(&arena, mark);
    }
  }
  return FSCHED_OK;
}
