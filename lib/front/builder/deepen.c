/* SPDX-License-Identifier: Apache-2.0 */
/* Finish: depths by what loops take.
 *
 * Depths are planned for the interval alone at first, as few slots as do.  If some loop might take
 * less with others (roll/deeper.c), the graph is made once more, with depths that are chosen so.
 * More slots take memory from other ops, so where memory is bounded there are more only if the loop
 * is alone, and the schedule decides. */
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

fs_status fs_builder_makespan_of(const fsched_graph *g, uint64_t *makespan) {
  assert(g != NULL);
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

/* More slots in a memory that ops beside a loop need, too, are not worth it, as these may have to
 * wait. */
static fs_status is_better(const fsched_graph *g, const fsched_graph *other, bool *better) {
  uint64_t span = fs_builder_span_of(g), other_span = fs_builder_span_of(other);
  uint64_t bytes = count_bytes(g), other_bytes = count_bytes(other);
  uint64_t makespan = 0, other_makespan = 0;
  *better = other_span < span || (other_span == span && other_bytes < bytes);
  if (!*better || !any_bounded(g)) {
    return FSCHED_OK;
  }
  if (other_bytes > bytes && g->n_ops > 1) {
    *better = false;
    return FSCHED_OK;
  }
  FS_TRY(fs_builder_makespan_of(g, &makespan));
  FS_TRY(fs_builder_makespan_of(other, &other_makespan));
  *better = other_makespan <= makespan;
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
    fs_builder_take_graph(g, other);
  } else {
    fsched_graph_destroy(other);
  }
  return status;
}

void fs_builder_take_graph(fsched_graph **g, fsched_graph *other) {
  if (other != NULL) {
    fs_arena_join(&other->arena, &(*g)->arena); /* texts are shared */
    fsched_graph_destroy(*g);
    *g = other;
  }
}
