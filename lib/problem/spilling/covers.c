/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/spilling/private.h"

static void add_most(uint64_t *sum, uint64_t more) { *sum = fs_min(*sum + more, FS_UNBOUNDED / 4); }

fs_status fs_spilling_find_short(fs_spilling_draft *b, bool *any) {
  const fsched_graph *g = b->g;
  const fs_target *t = &g->target;
  uint64_t *sum;
  FS_TRY(fs_new_zero(&b->d.scratch, &sum, t->n_memories));
  FS_TRY(fs_new_zero(&b->d.scratch, &b->is_short, t->n_memories));
  for (uint32_t v = 0; v < g->n_versions; v++) {
    add_most(&sum[fs_version_memory(g, v)], fs_min(fs_spilling_size(g, v), FS_UNBOUNDED / 4));
  }
  for (uint32_t i = 0; i < g->op_scratch0[g->n_ops]; i++) {
    uint32_t m = g->scratch_memory[i];
    add_most(&sum[m], fs_align_up(g->scratch_size[i], t->memory[m].align));
  }
  for (uint32_t m = 0; m < t->n_memories; m++) {
    const fs_memory *of = &t->memory[m];
    if (!fs_memory_bounded(of)) {
      continue;
    }
    bool bounded_store = fs_memory_spills(of) && fs_memory_bounded(&t->memory[of->backing]);
    b->is_short[m] = sum[m] > of->capacity;
    *any = *any || b->is_short[m];
    b->covered = b->covered && !bounded_store;
  }
  return FSCHED_OK;
}

static bool has_given_start(const fsched_graph *g) {
  bool any = false;
  for (uint32_t op = 0; g->op_start != NULL && op < g->n_ops; op++) {
    any = any || g->op_start[op] != FS_TICK_NONE;
  }
  return any;
}

bool fs_spilling_covers(fsched_context *ctx, const fsched_graph *g) {
  bool open = false; /* an output may be in place, but no pair says so */
  for (uint32_t a = 0; g->arg_open != NULL && a < g->n_args; a++) {
    open = open || g->arg_open[a];
  }
  return g->n_ops <= fs_limits_of(ctx)->spilling_ops && g->n_rolled == 0 && g->n_races == 0 &&
         !open && fs_graph_wait(g) == 0 && !has_given_start(g) && !g->gangs_open &&
         fs_graph_first_slow(g) == FS_NONE;
}
