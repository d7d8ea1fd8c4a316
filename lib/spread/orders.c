/* SPDX-License-Identifier: Apache-2.0 */
#include "base/group.h"
#include "spread/clocks.h"
#include "spread/spread.h"

/* The control edges, by the item that they lead to. */
typedef struct edge_rows {
  uint32_t *edge0, *edge;
} edge_rows;

/* Adds the edges of an item that are of reuse, or those that are not; returns how many of them
 * order what was not known. */
static uint64_t add_edges(fs_spread_clocks *c, const fs_sync *y, const edge_rows *rows,
                          uint32_t item, bool reuse) {
  uint64_t n = 0;
  for (uint32_t i = rows->edge0[item]; i < rows->edge0[item + 1]; i++) {
    uint32_t e = rows->edge[i];
    if ((y->control_why[e] == FS_WHY_REUSE) == reuse) {
      n += !fs_spread_clocks_know(c, y->control_from[e]);
      fs_spread_clocks_add(c, y->control_from[e]);
    }
  }
  return n;
}

fs_status fs_spread_count(fsched_context *ctx, const fs_schedule *s, const fs_sync *y,
                          uint64_t most, uint64_t *orders) {
  assert(y->position != NULL || s->n_items == 0);
  FS_SCRATCH(arena, ctx);
  const fs_accesses acc = {.position = y->position, .data0 = y->data0, .data = y->data};
  fs_spread_clocks c;
  edge_rows rows;
  FS_TRY(fs_spread_clocks_make(&arena, s, &acc, &c));
  FS_TRY(fs_group(&arena, y->control_to, y->n_control, s->n_items, &rows.edge0, &rows.edge));
  fs_spread_clocks_reset(&c);
  *orders = 0;
  for (uint32_t i = 0; i < s->n_items && *orders <= most; i++) {
    uint32_t item = s->order[i];
    fs_spread_clocks_begin(&c, item);
    (void)add_edges(&c, y, &rows, item, false);
    *orders += add_edges(&c, y, &rows, item, true);
    fs_spread_clocks_end(&c, item);
  }
  return FSCHED_OK;
}
