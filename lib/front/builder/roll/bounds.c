/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds of what loops mean, with the most trips that they may have: of the graph in which
 * they are unrolled, where that is small.
 * Else each loop is unrolled once, and its ops count as often as they run: then the work of queues
 * and resources is a bound. */
#include "model/bounds/bounds.h"
#include "base/saturate.h"
#include "front/builder/roll/roll.h"
#include "model/schedule.h"

enum { INSTANCES = 1024 };

/* How often what is in a loop runs; `trip`: per loop. */
static uint64_t runs_of(const fsched_builder *b, const uint64_t *trip, uint32_t loop) {
  uint64_t runs = 1;
  for (; loop != FS_NONE; loop = fs_loop_at(b, loop)->parent) {
    runs = fs_multiply_most(runs, trip[loop]);
  }
  return runs;
}

static bool is_small(const fsched_builder *b, const uint64_t *trip) {
  uint64_t instances = 0;
  for (uint32_t l = 0; l < b->loop.n; l++) {
    const fs_loop_draft *d = fs_loop_at(b, l);
    instances = fs_add_most(instances, fs_multiply_most(d->op_end - d->op0, runs_of(b, trip, l)));
  }
  return instances <= INSTANCES;
}

/* Counts how often each op of the graph runs of which it is the first instance. */
static fs_status count_runs(const fsched_builder *b, const uint64_t *trip, const fsched_graph *g,
                            fs_arena *scratch, uint64_t **runs) {
  FS_TRY(fs_new(scratch, runs, g->n_ops));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    uint32_t body = g->op_body_op[op];
    (*runs)[op] = body == FS_NONE ? 1 : runs_of(b, trip, g->body_op_loop[body]);
  }
  return FSCHED_OK;
}

/* Finds the bounds, from a copy that is unrolled. */
static fs_status find_bounds(const fsched_builder *b, fsched_builder *s, fs_lower_bounds *out) {
  FS_SCRATCH(scratch, b->ctx);
  uint64_t *trip, *runs = NULL;
  fsched_graph *g;
  FS_TRY(fs_new(&scratch, &trip, b->loop.n));
  for (uint32_t l = 0; l < b->loop.n; l++) {
    trip[l] = fs_bodies_trip(b, l);
  }
  bool small = is_small(b, trip);
  s->unroll = s->sample = true;
  s->param.n = 0;
  for (size_t i = 0; i < s->ring.n; i++) {
    s->ring.at[i].every = 1; /* loops may give slots back earlier, as on targets of block syncs */
  }
  for (uint32_t l = 0; l < s->loop.n; l++) {
    fs_loop_draft *loop = &s->loop.at[l];
    loop->trip = small ? trip[l] : fs_min(trip[l], 1);
    loop->least = loop->most = loop->trip;
    loop->param = FS_NONE;
  }
  FS_TRY(fsched_builder_finish(s, &g));
  fs_status status = small ? FSCHED_OK : count_runs(b, trip, g, &scratch, &runs);
  if (status == FSCHED_OK) {
    status = runs == NULL ? fs_graph_lower_bounds(b->ctx, g, out)
                          : fs_graph_work_bounds(b->ctx, g, runs, out);
  }
  fsched_graph_destroy(g);
  return status;
}

fs_status fs_roller_bounds(fsched_builder *b, const fsched_builder *described) {
  fsched_builder *s;
  FS_TRY(fs_new_zero(&b->arena, &b->unrolled_bounds, 1));
  FS_TRY(fs_builder_clone(described, &s));
  fs_status status = find_bounds(described, s, b->unrolled_bounds);
  fsched_builder_destroy(s);
  return status;
}
