/* SPDX-License-Identifier: Apache-2.0 */
/* Positions that the stack is given: an item at place p of the order of issue is at p + 1, so that
 * 0 is before everything, and a sync before place p is at p + 1 too. */
#include "block/place.h"

#include "base/radix.h"
#include "block/stack.h"

typedef struct placer {
  fs_arena *scratch;
  const fs_orders *o;
  const fs_accesses *acc;
  const fs_block_plan *p;
  fs_block_places *out;
  uint32_t *root; /* per residency: the one whose place it shares, or itself */
  uint32_t *first, *last;
  uint32_t *sync;
  uint64_t *key; /* of the entries; twice as long, for sorting */
  uint32_t *id;  /* residencies of the entries of the current memory */
  fs_stack_entry *entry;
  uint64_t *address;
} placer;

/* --- lives --- */

static void find_life(placer *k, uint32_t r) {
  const fs_schedule *s = k->o->s;
  const fs_sync *y = k->o->y;
  uint32_t begin = k->acc->res0[r];
  uint32_t end = k->acc->res0[r + 1];
  k->first[r] = fs_residency_given(s, r) || begin == end ? 0 : UINT32_MAX;
  k->last[r] = fs_residency_stays(s, r) || begin == end ? UINT32_MAX : 0;
  for (uint32_t i = begin; i < end; i++) {
    uint32_t item = k->acc->item[i];
    uint32_t at = k->p->at[item] + 1;
    uint32_t to = at + (y->item_command0[item + 1] - y->item_command0[item]) - 1;
    k->first[r] = at < k->first[r] ? at : k->first[r];
    k->last[r] = to > k->last[r] ? to : k->last[r];
  }
}

static uint32_t taken_from(const placer *k, uint32_t r) {
  const fs_schedule *s = k->o->s;
  if (k->acc->res0[r] == k->acc->res0[r + 1] || fs_item_is_copy(s, k->acc->item[k->acc->res0[r]])) {
    return FS_NONE;
  }
  return fs_inplace_taken(s, k->acc->item[k->acc->res0[r]], r);
}

static fs_status find_lives(placer *k) {
  uint32_t n = k->o->s->n_residencies;
  FS_TRY(fs_new(k->scratch, &k->root, n));
  FS_TRY(fs_new(k->scratch, &k->first, n));
  FS_TRY(fs_new(k->scratch, &k->last, n));
  for (uint32_t r = 0; r < n; r++) {
    find_life(k, r);
    uint32_t from = taken_from(k, r);
    assert(from == FS_NONE || from < r);
    k->root[r] = from == FS_NONE ? r : k->root[from];
    uint32_t root = k->root[r];
    k->first[root] = k->first[r] < k->first[root] ? k->first[r] : k->first[root];
    k->last[root] = k->last[r] > k->last[root] ? k->last[r] : k->last[root];
  }
  return FSCHED_OK;
}

/* --- one memory --- */

/* Collects the entries of a memory in order of the first access. */
static uint32_t collect_entries(placer *k, uint32_t memory) {
  const fs_schedule *s = k->o->s;
  uint32_t n = 0;
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    if (s->res_memory[r] == memory && s->res_size[r] > 0 && k->root[r] == r) {
      k->key[n++] = (uint64_t)k->first[r] << 32 | r;
    }
  }
  fs_radix_sort(k->key, k->key + s->n_residencies, n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t r = (uint32_t)k->key[i];
    k->id[i] = r;
    k->entry[i] = (fs_stack_entry){s->res_size[r], k->first[r], k->last[r]};
  }
  return n;
}

/* Where the first entry above the capacity begins: a sync there may let it reuse places of entries
 * that are over by then. */
static uint32_t where_to_reclaim(const placer *k, uint32_t n, uint64_t capacity) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t first = k->entry[i].first;
    if (k->address[i] + k->entry[i].size <= capacity) {
      continue;
    }
    for (uint32_t j = 0; j < i; j++) {
      if (k->entry[j].last < first) {
        return first - 1;
      }
    }
    return FS_NONE;
  }
  return FS_NONE;
}

static fs_status place_memory(fsched_context *ctx, placer *k, uint32_t memory) {
  assert(memory < k->o->s->graph->target.n_memories);
  const fs_memory *m = &k->o->s->graph->target.memory[memory];
  uint32_t n = collect_entries(k, memory);
  uint64_t peak;
  FS_TRY(fs_block_stack(ctx, k->entry, n, k->sync, k->p->n_full, m->align, k->address, &peak));
  k->out->peak[memory] = peak;
  k->out->fits[memory] = peak <= m->capacity;
  if (peak > m->capacity) {
    k->out->where[memory] = where_to_reclaim(k, n, m->capacity);
    return FSCHED_OK;
  }
  for (uint32_t i = 0; i < n; i++) {
    k->out->address[k->id[i]] = k->address[i];
  }
  return FSCHED_OK;
}

static fs_status place_memories(fsched_context *ctx, placer *k, fs_arena *arena,
                                const bool *loose) {
  const fs_schedule *s = k->o->s;
  uint32_t n = s->n_residencies;
  uint32_t n_memories = s->graph->target.n_memories;
  FS_TRY(fs_new(arena, &k->out->address, n));
  FS_TRY(fs_new_zero(arena, &k->out->peak, n_memories));
  FS_TRY(fs_new_zero(arena, &k->out->fits, n_memories));
  FS_TRY(fs_new_none(arena, &k->out->where, n_memories));
  FS_TRY(fs_new(k->scratch, &k->sync, k->p->n_full));
  FS_TRY(fs_new(k->scratch, &k->key, 2 * (size_t)n));
  FS_TRY(fs_new(k->scratch, &k->id, n));
  FS_TRY(fs_new(k->scratch, &k->entry, n));
  FS_TRY(fs_new(k->scratch, &k->address, n));
  FS_TRY(find_lives(k));
  for (uint32_t i = 0; i < k->p->n_full; i++) {
    k->sync[i] = k->p->full[i] + 1;
  }
  for (uint32_t r = 0; r < n; r++) {
    k->out->address[r] = s->res_address[r];
  }
  for (uint32_t m = 0; m < n_memories; m++) {
    if (loose[m]) {
      FS_TRY(place_memory(ctx, k, m));
    }
  }
  for (uint32_t r = 0; r < n; r++) {
    if (loose[s->res_memory[r]]) {
      k->out->address[r] = k->out->address[k->root[r]];
    }
  }
  return FSCHED_OK;
}

fs_status fs_block_place(fsched_context *ctx, fs_arena *arena, const fs_orders *o,
                         const fs_accesses *acc, const bool *loose, const fs_block_plan *p,
                         fs_block_places *out) {
  assert(p->order != NULL && loose != NULL);
  FS_SCRATCH(scratch, ctx);
  placer k = {.o = o, .acc = acc, .p = p, .out = out, .scratch = &scratch};
  return place_memories(ctx, &k, arena, loose);
}
