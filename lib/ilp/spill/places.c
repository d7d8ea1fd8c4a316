/* SPDX-License-Identifier: Apache-2.0 */
/* Finds addresses for the residencies of a point with lib/placement, one memory at a time. */
#include "ilp/spill/private.h"
#include "placement/placement.h"

typedef struct spill_places {
  const fs_spill_model *t;
  const fs_spill_draft *d;
  fs_arena *arena;
  fs_placement p;
  uint32_t *life, *index; /* life: per rectangle; index: per life, its rectangle */
  uint64_t *size, *found_at;
  fs_tick *begin, *end;
  uint32_t *pair_a, *pair_b;
  fs_tick *pair_from, *pair_to;
} spill_places;

static fs_status allocate_places(spill_places *w) {
  size_t n = w->d->life.n;
  FS_TRY(fs_new(w->arena, &w->life, n));
  FS_TRY(fs_new(w->arena, &w->size, n));
  FS_TRY(fs_new(w->arena, &w->found_at, n));
  FS_TRY(fs_new(w->arena, &w->begin, n));
  FS_TRY(fs_new(w->arena, &w->end, n));
  FS_TRY(fs_new(w->arena, &w->index, n));
  FS_TRY(fs_new(w->arena, &w->pair_a, w->t->n_pairs));
  FS_TRY(fs_new(w->arena, &w->pair_b, w->t->n_pairs));
  FS_TRY(fs_new(w->arena, &w->pair_from, w->t->n_pairs));
  return fs_new(w->arena, &w->pair_to, w->t->n_pairs);
}

/* The life of a version that an op uses. */
static uint32_t used_life(const spill_places *w, uint32_t version, uint32_t op) {
  const fs_spill_version *v = &w->t->version[version];
  for (uint32_t u = v->user0; u < v->user1; u++) {
    if (w->t->user_op[u] == op) {
      return w->d->user_life[u];
    }
  }
  return FS_NONE;
}

/* Lists the in-place pairs.  The output may take the input's place if, while the op runs, the input
 * ends with it and the output begins with it. */
static void collect_pairs(spill_places *w, uint32_t memory) {
  for (uint32_t i = 0; i < w->t->n_pairs; i++) {
    const fs_spill_pair *pair = &w->t->pair[i];
    if (w->t->version[pair->in].memory != memory) {
      continue;
    }
    uint32_t in = used_life(w, pair->in, pair->op), out = used_life(w, pair->out, pair->op);
    const fs_spill_life *a = &w->d->life.at[in], *b = &w->d->life.at[out];
    if (a->used && b->used && a->end - b->begin == w->t->time[pair->op]) {
      uint32_t n = w->p.n_pairs++;
      w->pair_a[n] = w->index[in];
      w->pair_b[n] = w->index[out];
      w->pair_from[n] = (fs_tick)b->begin;
      w->pair_to[n] = (fs_tick)a->end;
    }
  }
}

static void collect_lives(spill_places *w, uint32_t memory) {
  for (size_t i = 0; i < w->d->life.n; i++) {
    const fs_spill_life *life = &w->d->life.at[i];
    w->index[i] = FS_NONE;
    if (life->used && life->memory == memory) {
      uint32_t n = w->p.n++;
      w->life[n] = (uint32_t)i;
      w->index[i] = n;
      w->size[n] = life->size;
      w->begin[n] = (fs_tick)life->begin;
      w->end[n] = (fs_tick)life->end;
    }
  }
}

static fs_status place_memory(spill_places *w, uint32_t memory, uint64_t *address,
                              fs_decision *exists) {
  FS_TRY(allocate_places(w));
  collect_lives(w, memory);
  collect_pairs(w, memory);
  w->p.size = w->size;
  w->p.begin = w->begin;
  w->p.end = w->end;
  w->p.pair_a = w->pair_a;
  w->p.pair_b = w->pair_b;
  w->p.pair_from = w->pair_from;
  w->p.pair_to = w->pair_to;
  w->p.capacity = w->t->g->target.memory[memory].capacity;
  w->p.nodes = fs_limits_of(w->t->ctx)->spill_place_nodes;
  uint64_t peak;
  bool least;
  FS_TRY(fs_placement_run(w->t->ctx, &w->p, false, w->found_at, &peak, exists, &least));
  for (uint32_t i = 0; i < w->p.n && exists->is == FS_YES; i++) {
    address[w->life[i]] = w->found_at[i];
  }
  return FSCHED_OK;
}

fs_status fs_spill_place(const fs_spill_model *t, const fs_spill_draft *d, uint32_t memory,
                         uint64_t *address, fs_decision *exists) {
  assert(memory < t->g->target.n_memories);
  const fs_memory *m = &t->g->target.memory[memory];
  *exists = fs_decided_by(true);
  if (!fs_memory_bounded(m) || !fs_placement_has_addresses(m->placement)) {
    return FSCHED_OK;
  }
  FS_SCRATCH(arena, t->ctx);
  spill_places w = {.t = t, .d = d, .arena = &arena};
  return place_memory(&w, memory, address, exists);
}
