/* SPDX-License-Identifier: Apache-2.0 */
/* The least each memory must hold: the largest need of one op, or of the scratch of ops whose given
 * starts make them run at one time. */
#include <stdlib.h>

#include "model/bounds/bounds.h"
#include "model/needs.h"

typedef struct scratch_change {
  fs_tick time;
  bool begins;
  uint32_t memory;
  uint64_t size;
} scratch_change;

/* Ends come before begins at the same time.  Entries that compare equal are equal in every
 * member. */
static int in_time(const void *a, const void *b) {
  const scratch_change *x = a, *y = b;
  if (x->time != y->time) {
    return x->time < y->time ? -1 : 1;
  }
  if (x->begins != y->begins) {
    return x->begins ? 1 : -1;
  }
  if (x->memory != y->memory) {
    return x->memory < y->memory ? -1 : 1;
  }
  return x->size < y->size ? -1 : x->size > y->size;
}

static fs_status given_starts(const fsched_graph *g, fs_arena *arena, uint64_t *per_memory) {
  assert(g->op_start != NULL);
  scratch_change *at;
  uint64_t *held;
  size_t n = 0;
  FS_TRY(fs_new(arena, &at, 2 * (size_t)g->op_scratch0[g->n_ops]));
  FS_TRY(fs_new_zero(arena, &held, g->target.n_memories));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
      uint32_t m = g->scratch_memory[i];
      uint64_t size = fs_align_up(g->scratch_size[i], g->target.memory[m].align);
      if (g->op_start[op] != FS_TICK_NONE && fs_op_latency(g, op) > 0) {
        at[n++] = (scratch_change){g->op_start[op], true, m, size};
        at[n++] = (scratch_change){g->op_start[op] + fs_op_latency(g, op), false, m, size};
      }
    }
  }
  if (n > 1) {
    qsort(at, n, sizeof *at, in_time);
  }
  for (size_t k = 0; k < n; k++) {
    uint64_t *sum = &held[at[k].memory];
    assert(at[k].begins || *sum >= at[k].size);
    *sum = at[k].begins ? *sum + at[k].size : *sum - at[k].size;
    per_memory[at[k].memory] = fs_max(per_memory[at[k].memory], *sum);
  }
  return FSCHED_OK;
}

/* The largest need of one op. */
static fs_status single_ops(const fsched_graph *g, fs_arena *arena, uint64_t *per_memory) {
  fs_needs needs;
  FS_TRY(fs_needs_init(&needs, g, arena));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    fs_needs_find(&needs, op);
    for (uint32_t i = 0; i < needs.n; i++) {
      uint32_t m = needs.memory[i];
      per_memory[m] = fs_max(per_memory[m], needs.need[m]);
    }
  }
  return FSCHED_OK;
}

fs_status fs_memory_lower_bounds(fsched_context *ctx, const fsched_graph *g, uint64_t *per_memory) {
  assert(per_memory != NULL || g->target.n_memories == 0);
  FS_SCRATCH(arena, ctx);
  for (uint32_t m = 0; m < g->target.n_memories; m++) {
    per_memory[m] = 0;
  }
  FS_TRY(single_ops(g, &arena, per_memory));
  return g->op_start != NULL ? given_starts(g, &arena, per_memory) : FSCHED_OK;
}
