/* SPDX-License-Identifier: Apache-2.0 */
/* The least each memory must hold: the largest need of one op. */
#include "schedule.h"

fs_status fs_memory_lower_bounds(fsched_context *ctx, const fsched_graph *g, uint64_t *per_memory) {
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  uint64_t *need = NULL;
  uint32_t *seen = NULL;
  const fs_target *t = &g->target;
  fs_status status = fs_new_zero(&arena, &need, t->n_memories);
  status = status == FSCHED_OK ? fs_new_none(&arena, &seen, g->n_versions) : status;
  for (uint32_t m = 0; m < t->n_memories; m++) {
    per_memory[m] = 0;
  }
  for (uint32_t op = 0; status == FSCHED_OK && op < g->n_ops; op++) {
    for (int pass = 0; pass < 2; pass++) { /* add up, then take over and clear */
      for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
        uint32_t v = g->arg_version[a];
        if (v == FS_NONE || g->arg_tag[a] == FSCHED_NO_DEP) {
          continue;
        }
        uint32_t m = fs_version_memory(g, v);
        if (pass == 0 && seen[v] != op) {
          seen[v] = op;
          need[m] += fs_align_up(fs_version_size(g, v), t->memory[m].align);
        } else if (pass == 1) {
          per_memory[m] = fs_max(per_memory[m], need[m]);
          need[m] = 0;
        }
      }
      for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
        uint32_t m = g->scratch_memory[i];
        if (pass == 0) {
          need[m] += fs_align_up(g->scratch_size[i], t->memory[m].align);
        } else {
          per_memory[m] = fs_max(per_memory[m], need[m]);
          need[m] = 0;
        }
      }
    }
  }
  fs_arena_release(&arena);
  return status;
}
