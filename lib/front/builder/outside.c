/* SPDX-License-Identifier: Apache-2.0 */
/* Slots of loops in loops that ops outside of them know of, and what loops take with them. */
#include "base/saturate.h"
#include "front/builder/private.h"
#include "model/loop_report.h"

/* Whether an op outside of a loop uses a buffer. */
static bool is_used_outside(const fsched_builder *b, uint32_t loop, uint32_t buffer) {
  const fs_loop_draft *l = &b->loop.at[loop];
  bool used = false;
  for (uint32_t op = 0; op < b->op.n && !used; op++) {
    bool outside = op < l->op0 || op >= l->op_end;
    for (uint32_t a = b->op.at[op].arg0; outside && a < fs_builder_args_end(b, op); a++) {
      used = used || (fs_tag_accesses(b->arg.at[a].tag) && b->arg.at[a].buffer == buffer);
    }
  }
  return used;
}

bool fs_builder_slots_outside(const fsched_builder *described, const fsched_graph *g) {
  bool any = false;
  assert(g->n_rolled == 0 || g->rolled != NULL);
  for (uint32_t l = 0; l < g->n_rolled && !any; l++) {
    const fs_rolled *x = &g->rolled[l];
    for (uint32_t v = 0; v < x->loop.n_rings && x->within != FS_NONE && !any; v++) {
      any = x->loop.ring[v].depth > 1 && !x->report->slots[v].given &&
            is_used_outside(described, x->report->loop, x->slots[v].buffer);
    }
  }
  return any;
}

uint64_t fs_builder_span_of(const fsched_graph *g) {
  uint64_t span = 0;
  assert(g->n_rolled == 0 || g->rolled != NULL);
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    span = fs_add_most(span, g->rolled[l].within == FS_NONE ? g->rolled[l].report->span : 0);
  }
  return span;
}
