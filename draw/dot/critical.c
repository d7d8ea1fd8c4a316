/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the critical path.  Items are in a topological order, so one walk finds for each item the
 * least number of idle ticks on any chain that leads to it:
 *
 *   idle(v) = min over u -> v of idle(u) + start(v) - end(u),   or start(v) if nothing precedes it
 *
 * A chain with idle 0 to the item that ends last covers every tick of the span, so it explains the
 * span.  If there is no such chain, the ticks in its gaps are counted.  In a graph, whose items
 * start as early as their edges allow, this is the longest path. */
#include "draw/dot/picture.h"

typedef struct path_step {
  fs_tick idle;
  uint32_t edge; /* the edge that leads to the item; FS_NONE: it is the first */
  uint32_t why;  /* lowest bit of the edge's reasons */
} path_step;

static uint32_t first_why(uint16_t why) { return (uint32_t)__builtin_ctz(why); }

/* Whether step a is better than b: fewer idle ticks, then the more telling reason (data before
 * reuse before queue order), then the later predecessor. */
static bool better(path_step a, path_step b, const fs_pic_edge *edge) {
  if (a.idle != b.idle) {
    return a.idle < b.idle;
  }
  if (b.edge == FS_NONE || a.why != b.why) {
    return b.edge == FS_NONE || a.why < b.why;
  }
  return edge[a.edge].from > edge[b.edge].from;
}

/* Edges are sorted by their sources, so the step of an item is final when its own edges are met.
 * Edges that go back (in a program whose commands wait for each other) are part of no chain. */
static void walk(const fs_picture *p, path_step *step) {
  for (uint32_t i = 0; i < p->n_items; i++) {
    step[i] = (path_step){p->item[i].start, FS_NONE, FS_PIC_WHYS};
  }
  for (uint32_t e = 0; e < p->edge.n; e++) {
    const fs_pic_edge *edge = &p->edge.at[e];
    fs_tick end = p->item[edge->from].end, start = p->item[edge->to].start;
    if (edge->from < edge->to && end <= start) {
      path_step s = {step[edge->from].idle + (start - end), e, first_why(edge->why)};
      if (better(s, step[edge->to], p->edge.at)) {
        step[edge->to] = s;
      }
    }
  }
}

static uint32_t last_to_end(const fs_picture *p, const path_step *step) {
  uint32_t last = 0;
  for (uint32_t i = 1; i < p->n_items; i++) {
    fs_tick end = p->item[i].end, best = p->item[last].end;
    if (end > best || (end == best && step[i].idle < step[last].idle)) {
      last = i;
    }
  }
  return last;
}

fs_status fs_picture_critical(fs_picture *p) {
  assert(p->n_nodes == p->n_items);
  path_step *step;
  if (p->n_items == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&p->arena, &step, p->n_items));
  walk(p, step);
  uint32_t at = last_to_end(p, step);
  p->path_gaps = step[at].idle;
  for (;;) {
    p->node[at].critical = true;
    p->path_items++;
    if (step[at].edge == FS_NONE) {
      return FSCHED_OK;
    }
    p->edge.at[step[at].edge].critical = true;
    at = p->edge.at[step[at].edge].from;
  }
}
