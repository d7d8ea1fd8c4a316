/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/private.h"
#include "problem/spilling/spilling.h"

/* The residency in which an op finds a version. */
static uint32_t residency_of(const fs_schedule *s, uint32_t op, uint32_t v) {
  const fsched_graph *g = s->graph;
  for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
    if (fs_arg_accesses(g, a) && g->arg_version[a] == v) {
      return s->arg_residency[a];
    }
  }
  return FS_NONE;
}

/* The first user of the residency in which a user finds the version. */
static uint32_t first_beside(const fs_spilling *w, const fs_schedule *s, uint32_t v, uint32_t u) {
  uint32_t r = residency_of(s, w->user[u].op, v), first = u;
  for (uint32_t i = w->user0[v]; i < w->user0[v + 1]; i++) {
    if (residency_of(s, w->user[i].op, v) == r &&
        s->start[w->user[i].op] < s->start[w->user[first].op]) {
      first = i;
    }
  }
  return first;
}

static void hold_version(const fs_problem *p, const fs_schedule *s, uint32_t v, uint8_t *holds) {
  const fs_spilling *w = p->spilling;
  for (uint32_t u = w->user0[v]; u < w->user0[v + 1] && w->held[v] == FS_NONE; u++) {
    const fs_spill_user *user = &w->user[u];
    uint32_t first = first_beside(w, s, v, u), k = first - w->user0[v];
    uint32_t by = first == u && user->stay != FS_NONE ? w->stay[user->stay].only_if
                                                      : w->member[user->in0 + k];
    if (by != FS_NONE) {
      holds[by] = 1;
    }
    if (first == u && user->read != FS_NONE && user->writer != FS_NONE) {
      uint32_t write = w->user[w->user0[v] + user->writer].write;
      by = write == FS_NONE ? FS_NONE : w->item_if[write];
      if (by != FS_NONE) {
        holds[by] = 1;
      }
    }
  }
}

static bool has_queue(const fs_problem *p, uint32_t class, uint32_t queue) {
  bool has = p->graph->target.implicit_queues;
  for (uint32_t k = p->class_queue0[class]; k < p->class_queue0[class + 1]; k++) {
    has = has || p->class_queue[k] == queue;
  }
  return has;
}

void fs_spilling_holds(const fs_problem *p, const fs_schedule *s, uint8_t *holds) {
  assert(p->spilling != NULL && s->graph == p->graph);
  const fs_spilling *w = p->spilling;
  const fsched_graph *g = p->graph;
  if (w->n_bools > 0) {
    memset(holds, 0, w->n_bools);
  }
  for (uint32_t v = 0; v < g->n_versions; v++) {
    hold_version(p, s, v, holds);
  }
  for (uint32_t k = 0; k < w->n_pairs; k++) {
    uint32_t in = residency_of(s, w->pair_op[k], w->pair_in[k]);
    uint32_t out = residency_of(s, w->pair_op[k], w->pair_out[k]);
    holds[w->pair_if[k]] = s->res_address[in] == s->res_address[out];
  }
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t k = p->choice0[op]; k < p->choice0[op + 1]; k++) {
      if (w->choice_if[k] != FS_NONE) {
        holds[w->choice_if[k]] = has_queue(p, p->choice[k], s->queue[op]);
      }
    }
  }
}
