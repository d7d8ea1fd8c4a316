/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts residencies with equal begins by the order of the items that begin them. */
#include "base/heap.h"
#include "model/issue_order.h"

typedef struct fs_permute {
  fs_schedule *s;
  fs_arena *arena;
  uint32_t *began; /* per residency: 1 + position of the item that begins it, 0 for none */
  uint32_t *from;  /* new id -> old id */
  uint32_t *to;    /* old id -> new id */
} fs_permute;

static void touch(fs_permute *p, uint32_t residency, uint32_t item, uint32_t position) {
  if (residency != FS_NONE && p->began[residency] == 0 &&
      p->s->start[item] == p->s->res_begin[residency]) {
    p->began[residency] = position + 1;
  }
}

static void find_beginnings(fs_permute *p) {
  const fs_schedule *s = p->s;
  const fsched_graph *g = s->graph;
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t item = s->order[i];
    if (fs_item_is_copy(s, item)) {
      touch(p, s->copy_residency[item - g->n_ops], item, i);
      if (s->copy_kind[item - g->n_ops] == FS_SPILL_WRITE) {
        touch(p, s->copy_store[item - g->n_ops], item, i);
      }
      continue;
    }
    for (uint32_t a = g->op_arg0[item]; a < g->op_arg0[item + 1]; a++) {
      touch(p, s->arg_residency[a], item, i);
    }
    for (uint32_t k = g->op_scratch0[item]; k < g->op_scratch0[item + 1]; k++) {
      touch(p, s->scratch_residency[k], item, i);
    }
  }
}

/* Sorts each run of equal begins; *same says that no residency moved. */
static fs_status sort_runs(fs_permute *p, fs_heap *heap, bool *same) {
  const fs_schedule *s = p->s;
  *same = true;
  for (uint32_t first = 0, end; first < s->n_residencies; first = end) {
    for (end = first; end < s->n_residencies && s->res_begin[end] == s->res_begin[first]; end++) {
      FS_TRY(fs_heap_push(s->ctx, heap, p->began[end], end));
    }
    for (uint32_t r = first; r < end; r++) {
      p->from[r] = fs_heap_pop(heap).id;
      assert(p->from[r] >= first && p->from[r] < end);
      p->to[p->from[r]] = r;
      *same = *same && p->from[r] == r;
    }
  }
  return FSCHED_OK;
}

static void rename_all(const uint32_t *to, uint32_t *residency, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    assert(residency[i] == FS_NONE || to[residency[i]] != FS_NONE);
    residency[i] = residency[i] == FS_NONE ? FS_NONE : to[residency[i]];
  }
}

fs_status fs_schedule_renumber_residencies(fs_schedule *s, fs_arena *scratch, const uint32_t *from,
                                           const uint32_t *to) {
  assert(s->n_residencies == 0 || to[from[0]] == 0);
  uint32_t n = s->n_residencies;
  uint32_t *words;
  uint64_t *longs;
  FS_TRY(fs_new(scratch, &words, n));
  FS_TRY(fs_new(scratch, &longs, n));
  uint32_t *const narrow[] = {s->res_version, s->res_op, s->res_memory};
  uint64_t *const wide[] = {s->res_address, s->res_size, s->res_begin, s->res_end};
  for (size_t k = 0; n > 0 && k < sizeof narrow / sizeof narrow[0]; k++) {
    memcpy(words, narrow[k], n * sizeof *words);
    for (uint32_t r = 0; r < n; r++) {
      narrow[k][r] = words[from[r]];
    }
  }
  for (size_t k = 0; n > 0 && k < sizeof wide / sizeof wide[0]; k++) {
    memcpy(longs, wide[k], n * sizeof *longs);
    for (uint32_t r = 0; r < n; r++) {
      wide[k][r] = longs[from[r]];
    }
  }
  rename_all(to, s->arg_residency, s->graph->n_args);
  rename_all(to, s->scratch_residency, s->graph->op_scratch0[s->graph->n_ops]);
  rename_all(to, s->copy_residency, s->n_copies);
  rename_all(to, s->copy_store, s->n_copies);
  return FSCHED_OK;
}

static fs_status permute(fs_permute *p, fs_heap *heap) {
  bool same;
  FS_TRY(fs_new_zero(p->arena, &p->began, p->s->n_residencies));
  FS_TRY(fs_new(p->arena, &p->from, p->s->n_residencies));
  FS_TRY(fs_new(p->arena, &p->to, p->s->n_residencies));
  find_beginnings(p);
  FS_TRY(sort_runs(p, heap, &same));
  return same ? FSCHED_OK : fs_schedule_renumber_residencies(p->s, p->arena, p->from, p->to);
}

fs_status fs_schedule_order_residencies(fs_schedule *s) {
  assert(s->n_residencies == 0 || s->order != NULL || s->n_items == 0);
  FS_SCRATCH(arena, s->ctx);
  fs_permute p = {.s = s, .arena = &arena};
  fs_heap heap = {0};
  fs_status status = permute(&p, &heap);
  fs_vec_free(s->ctx, &heap);
  return status;
}
