/* SPDX-License-Identifier: Apache-2.0 */
/* Finish: what loops take for few syncs.
 *
 * With block syncs a loop may have more copies of its body, or deeper slots, than its plan, as it
 * needs fewer full syncs an iteration then.  It looks at itself alone, but what its slots take of a
 * memory, others lack.  So where a memory is bounded, the graph is made once more with copies and
 * depths as planned, and that one is kept if a list schedule of it takes less, with the cost of the
 * syncs in its loops. */
#include "base/saturate.h"
#include "front/builder/private.h"
#include "model/loop_report.h"
#include "model/sync.h"

static bool may_lack_memory(const fsched_builder *b) {
  bool any = false;
  for (size_t m = 0; m < b->memory.n && !any; m++) {
    any = fs_memory_bounded(&b->memory.at[m].m);
  }
  return any && fs_sync_has_stops(b->sync);
}

/* Whether syncs are made in loops beside something that might want their memory. */
static bool may_be_better(const fsched_graph *g) {
  bool any = false;
  for (uint32_t l = 0; l < g->n_rolled && !any; l++) {
    any = g->rolled[l].report->full > 0;
  }
  return any && (g->n_ops > 1 || g->n_rolled > 1);
}

/* What a list schedule takes, with the syncs in loops. */
static fs_status find_total(const fsched_graph *g, uint64_t *total) {
  uint64_t makespan, full = 0;
  FS_TRY(fs_builder_makespan_of(g, &makespan));
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    const fs_loop_report *r = g->rolled[l].report;
    full = fs_add_most(full, fs_multiply_most(r->full, fs_multiply_most(r->steps, r->runs)));
  }
  *total = fs_sync_total(makespan, full, g->target.sync_cost);
  return FSCHED_OK;
}

static fs_status take_better(fsched_builder *again, fsched_graph **out) {
  fsched_graph *other = NULL;
  uint64_t total, other_total = UINT64_MAX;
  again->issue_as_planned = true;
  bool muted = fs_context_mute(again->ctx, true);
  fs_status status = fs_builder_fit(again, &other);
  (void)fs_context_mute(again->ctx, muted);
  if (other == NULL) {
    return status == FSCHED_SYSTEM ? status : FSCHED_OK;
  }
  status = find_total(*out, &total);
  status = status == FSCHED_OK ? find_total(other, &other_total) : status;
  if (status == FSCHED_OK && other_total < total) {
    fs_builder_take_graph(out, other);
  } else {
    fsched_graph_destroy(other);
  }
  return status;
}

fs_status fs_builder_spare(fsched_builder *b, fsched_graph **out) {
  fsched_builder *again;
  assert(b->loop.n > 0 && !b->unroll && !b->sample && !b->finished);
  if (!may_lack_memory(b)) {
    return fs_builder_fit(b, out);
  }
  FS_TRY(fs_builder_clone(b, &again));
  fs_status status = fs_builder_fit(b, out);
  if (status == FSCHED_OK && may_be_better(*out)) {
    status = take_better(again, out);
    if (status != FSCHED_OK) {
      fsched_graph_destroy(*out);
      *out = NULL;
    }
  }
  fsched_builder_destroy(again);
  return status;
}
