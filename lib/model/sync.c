/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sync.h"

#include "base/group.h"

fs_status fs_sync_gang_ops(const fs_sync *y, const fsched_graph *g, fs_arena *arena, uint32_t **op0,
                           uint32_t **op) {
  FS_TRY(fs_new_zero(arena, op0, (size_t)g->n_gangs + 1));
  FS_TRY(fs_new(arena, op, g->n_ops));
  for (uint32_t i = 0; i < g->n_ops; i++) {
    if (g->op_gang[i] != FS_NONE) {
      (*op0)[g->op_gang[i] + 1]++;
    }
  }
  fs_group_starts(*op0, g->n_gangs);
  for (uint32_t i = 0; i < g->n_ops; i++) {
    if (g->op_gang[i] != FS_NONE) {
      (*op)[(*op0)[g->op_gang[i]] + y->item_gang_epoch[i] - 1] = i;
    }
  }
  return FSCHED_OK;
}
