/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/private.h"

fs_status fs_op_closure_find(fs_op_closure *c, const fsched_graph *g, fs_arena *arena) {
  assert(g->topo != NULL || g->n_ops == 0);
  c->row = (g->n_ops + 63) / 64;
  FS_TRY(fs_new_zero(arena, &c->bit, (size_t)g->n_ops * c->row));
  for (uint32_t k = g->n_ops; k-- > 0;) {
    uint32_t op = g->topo[k];
    uint64_t *row = c->bit + (size_t)op * c->row;
    for (uint32_t e = g->succ0[op]; e < g->succ0[op + 1]; e++) {
      uint32_t to = g->succ[e];
      row[to / 64] |= (uint64_t)1 << to % 64;
      for (uint32_t x = 0; x < c->row; x++) {
        row[x] |= c->bit[(size_t)to * c->row + x];
      }
    }
  }
  return FSCHED_OK;
}
