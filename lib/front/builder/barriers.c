/* SPDX-License-Identifier: Apache-2.0 */
/* Whether loops take so many barriers that there might be too few.
 *
 * Runs that are joined may take more than those that follow one another, as barriers count all of
 * them.  Nests of loops that stand one behind another may have the same ones, which is not known
 * before there is a schedule: here they count as if none had. */
#include "base/saturate.h"
#include "front/builder/private.h"

/* The op of the graph that the outermost loop around is. */
static uint32_t nest_of(const fsched_graph *g, uint32_t loop) {
  while (g->rolled[loop].within != FS_NONE) {
    loop = g->rolled[loop].within;
  }
  return g->rolled[loop].op;
}

/* The barriers of a nest, or of all. */
static uint64_t count_barriers(const fsched_graph *g, uint32_t nest) {
  uint64_t n = 0;
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    const fs_rolled_loop *r = &g->rolled[l].loop;
    for (uint32_t i = 0; i < r->n_guards && (nest == FS_NONE || nest_of(g, l) == nest); i++) {
      n = fs_add_most(n, r->guard[i].depth);
    }
  }
  return n;
}

/* With so many, ops outside of loops can always be ordered. */
static uint64_t most_outside(const fsched_graph *g) {
  uint64_t most = 1, slots = g->target.barrier_slots;
  for (uint32_t op = 0; op < g->n_ops && slots != FS_NONE && slots > 0; op++) {
    uint64_t members = g->op_gang[op] == FS_NONE ? 1 : g->gang_members[g->op_gang[op]];
    uint64_t demand = fs_multiply_most(g->op_slots == NULL ? 1 : g->op_slots[op], members);
    most = fs_max(most, demand / slots + (demand % slots > 0));
  }
  return g->n_ops > 1 ? 2 * most : 0;
}

bool fs_builder_may_lack_barriers(const fsched_graph *g) {
  uint64_t count = g->target.barrier_count;
  bool joined = false;
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    joined = joined || (g->rolled[l].joined && g->rolled[l].loop.guarded);
  }
  return joined && count != FS_BARRIERS_AUTO &&
         fs_add_most(count_barriers(g, FS_NONE), most_outside(g)) > count;
}

bool fs_builder_takes_fewer_barriers(const fsched_graph *g, const fsched_graph *other) {
  bool fewer = false;
  for (uint32_t l = 0; l < other->n_rolled && !fewer; l++) {
    uint32_t nest = nest_of(other, l);
    bool outermost = other->rolled[l].within == FS_NONE;
    fewer = outermost && count_barriers(g, nest) < count_barriers(other, nest);
  }
  return fewer;
}
