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

/* Whether something of a buffer is given or kept in a backing store. */
static bool is_stored(const fsched_graph *g, uint32_t buffer) {
  const fs_memory *m = &g->target.memory[g->buffer_memory[buffer]];
  return fs_io_said(g->buffer_io[buffer]) && fs_memory_bounded(m) && fs_memory_spills(m);
}

bool fs_builder_slots_outside(const fsched_builder *described, const fsched_graph *g) {
  bool any = false;
  assert(g->n_rolled == 0 || g->rolled != NULL);
  for (uint32_t l = 0; l < g->n_rolled && !any; l++) {
    const fs_rolled *x = &g->rolled[l];
    for (uint32_t v = 0; v < x->loop.n_rings && !any; v++) {
      uint32_t buffer = x->slots[v].buffer;
      any = x->loop.ring[v].depth > 1 && !x->report->slots[v].given &&
            (is_stored(g, buffer) ||
             (x->within != FS_NONE && is_used_outside(described, x->report->loop, buffer)));
    }
  }
  return any;
}

/* How long the copies take that enter what is given, and write back what is kept. */
static uint64_t copies_of(const fsched_graph *g, uint32_t buffer) {
  const fs_memory *m = &g->target.memory[g->buffer_memory[buffer]];
  uint64_t size = g->buffer_size[buffer];
  bool stored = is_stored(g, buffer);
  uint64_t read = stored && fs_io_given(g->buffer_io[buffer]) ? fs_spill_read_time(m, size) : 0;
  uint64_t write = stored && fs_io_kept(g->buffer_io[buffer]) ? fs_spill_write_time(m, size) : 0;
  return fs_add_most(read, write);
}

uint64_t fs_builder_span_of(const fsched_graph *g) {
  uint64_t span = 0;
  assert(g->n_rolled == 0 || g->rolled != NULL);
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    span = fs_add_most(span, g->rolled[l].within == FS_NONE ? g->rolled[l].report->span : 0);
  }
  for (uint32_t b = 0; b < g->n_buffers && g->n_rolled > 0; b++) {
    span = fs_add_most(span, copies_of(g, b));
  }
  return span;
}
