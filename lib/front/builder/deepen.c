/* SPDX-License-Identifier: Apache-2.0 */
/* Finish: depths by what loops take.
 *
 * Depths are planned for the interval alone at first, as few slots as do.  If some loop might take
 * less with others (roll/deeper.c), the graph is made once more, with depths that are chosen so.
 * More slots take memory from other ops, so it is the schedule that decides. */
#include "base/saturate.h"
#include "front/builder/private.h"
#include "listsched/listsched.h"
#include "model/loop_report.h"
#include "model/schedule.h"

static bool any_loose(const fsched_graph *g) {
  bool any = false;
  for (uint32_t l = 0; l < g->n_rolled && !any; l++) {
    any = g->rolled[l].loose;
  }
  return any;
}

static bool any_bounded(const fsched_graph *g) {
  bool any = false;
  for (uint32_t m = 0; m < g->target.n_memories && !any; m++) {
    any = fs_memory_bounded(&g->target.memory[m]);
  }
  return any;
}

/* What a list schedule takes; UINT64_MAX: there is none. */
static fs_status find_makespan(const fsched_graph *g, uint64_t *makespan) {
  fs_listsched_options o = {.lower_bound = FS_TICK_NONE - 1, .silent = true};
  fs_schedule *s = NULL;
  bool muted = fs_context_mute(g->ctx, true);
  fs_status status = fs_listsched_run(g->ctx, g, &o, &s);
  (void)fs_context_mute(g->ctx, muted);
  *makespan = status == FSCHED_OK ? s->makespan : UINT64_MAX;
  fs_schedule_destroy(s);
  return status == FSCHED_SYSTEM ? status : FSCHED_OK;
}

/* The bytes of all slots. */
static uint64_t count_bytes(const fsched_graph *g) {
  uint64_t bytes = 0;
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    const fs_rolled *x = &g->rolled[l];
    for (uint32_t v = 0; v < x->loop.n_rings; v++) {
      bytes = fs_add_most(bytes, fs_multiply_most(x->loop.ring[v].depth, x->slots[v].slot));
    }
  }
  return bytes;
}

/* What the full syncs in all runs of loops cost. */
static uint64_t sync_cost(const fsched_graph *g) {
  uint64_t full = 0;
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    const fs_loop_report *r = g->rolled[l].report;
    uint64_t runs = 1;
    for (uint32_t k = g->rolled[l].within; k != FS_NONE; k = g->rolled[k].within) {
      runs = fs_multiply_most(runs, g->rolled[k].trip);
    }
    full = fs_add_most(full, fs_multiply_most(runs, fs_multiply_most(r->steps, r->full)));
  }
  return fs_multiply_most(full, g->target.sync_cost);
}

static fs_status is_better(const fsched_graph *g, const fsched_graph *other, bool *better) {
  uint64_t cost = sync_cost(g), other_cost = sync_cost(other);
  uint64_t span = fs_add_most(fs_builder_span_of(g), cost);
  uint64_t other_span = fs_add_most(fs_builder_span_of(other), other_cost);
  uint64_t makespan = 0, other_makespan = 0;
  *better = other_span < span || (other_span == span && count_bytes(other) < count_bytes(g));
  if (*better && any_bounded(g)) {
    FS_TRY(find_makespan(g, &makespan));
    FS_TRY(find_makespan(other, &other_makespan));
    *better = fs_add_most(other_makespan, other_cost) <= fs_add_most(makespan, cost);
  }
  return FSCHED_OK;
}

fs_status fs_builder_deepen(const fsched_builder *described, fsched_graph **g) {
  assert(*g != NULL && described->loop.n > 0);
  fsched_builder *b;
  fsched_graph *other = NULL;
  bool better = false;
  if (!any_loose(*g)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_builder_clone(described, &b));
  b->deepen = true;
  bool muted = fs_context_mute(b->ctx, true);
  fs_status status = fs_builder_finish_once(b, &other);
  (void)fs_context_mute(b->ctx, muted);
  fsched_builder_destroy(b);
  if (other == NULL) {
    return status == FSCHED_SYSTEM ? status : FSCHED_OK;
  }
  status = is_better(*g, other, &better);
  if (better) {
    fs_arena_join(&other->arena, &(*g)->arena); /* texts are shared */
  }
  fsched_graph_destroy(better ? *g : other);
  *g = better ? other : *g;
  return status;
}
