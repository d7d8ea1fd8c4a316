/* SPDX-License-Identifier: Apache-2.0 */
/* A minimum cover of the ops by paths that may cross (which are chains of the closure) has as many
 * paths as a maximum antichain has ops (Dilworth).  Paths are counted by their ends: every op has
 * an out and an in, and each unit of flow joins an out, which it uses up, to the in of a later op,
 * which it uses up too; on its way it may pass through other ops (from their ins to their outs, as
 * often as it takes).  This is the minimum flow in which every op carries at least one unit, with
 * that unit taken off.  Ops less the largest such flow are the paths.
 *
 *        out u ---edge---> in v ---pass---> out v ---edge---> in w
 *
 * Outs are served one by one, from the last op in topological order to the first, each by the
 * shortest augmenting path that a breadth-first search finds (edges and passes forwards, or
 * backwards where there is flow), which is mostly short, as free ins lie near.  A search that fails
 * has met nodes that lead nowhere, now or later: they are dead, and left out from then on, so that
 * all failures together cost one search of the graph.  The dead are the source's side of a minimum
 * cut: ops whose out is dead and whose in is not are a maximum antichain.
 *
 * Time: O(ops * edges) at worst; in practice little more than O(ops + edges), since a served out
 * costs only what its search meets.  Memory O(ops + edges). */
#include "model/width.h"

/* Stamps of nodes that no search has met, and of dead nodes. */
enum { NEW = 0, DEAD = UINT32_MAX };

/* Nodes: 2 * op is its out, 2 * op + 1 its in. */
typedef struct flow {
  const fsched_graph *g;
  uint32_t *pred_edge; /* per entry of pred: the edge, an index of succ */
  uint32_t *through;   /* per edge: units */
  uint32_t *passing;   /* per op: units */
  uint8_t *in_used;    /* per op */
  uint32_t *stamp;     /* per node: the last search that met it */
  uint32_t *via_edge;  /* per node: how it was met; FS_NONE: by its op's pass */
  uint32_t *via_node;
  uint32_t *queue; /* nodes */
  uint32_t n_queue, now;
} flow;

static uint32_t out_of(uint32_t op) { return 2 * op; }
static uint32_t in_of(uint32_t op) { return 2 * op + 1; }
static bool is_in(uint32_t node) { return node % 2 != 0; }

static void meet_node(flow *f, uint32_t node, uint32_t from, uint32_t edge) {
  assert(node < 2 * f->g->n_ops);
  if (f->stamp[node] != f->now && f->stamp[node] != DEAD) {
    f->stamp[node] = f->now;
    f->via_node[node] = from;
    f->via_edge[node] = edge;
    f->queue[f->n_queue++] = node;
  }
}

/* Visits every node that one more unit can reach from an op's out, and from its in. */
static void leave_out(flow *f, uint32_t op) {
  const fsched_graph *g = f->g;
  if (f->passing[op] > 0) {
    meet_node(f, in_of(op), out_of(op), FS_NONE);
  }
  for (uint32_t e = g->succ0[op]; e < g->succ0[op + 1]; e++) {
    meet_node(f, in_of(g->succ[e]), out_of(op), e);
  }
}

static void leave_in(flow *f, uint32_t op) {
  const fsched_graph *g = f->g;
  meet_node(f, out_of(op), in_of(op), FS_NONE);
  for (uint32_t i = g->pred0[op]; i < g->pred0[op + 1]; i++) {
    if (f->through[f->pred_edge[i]] > 0) {
      meet_node(f, out_of(g->pred[i]), in_of(op), f->pred_edge[i]);
    }
  }
}

/* The unit takes the path by which `node`, a free in, was met. */
static void augment(flow *f, uint32_t node, uint32_t root) {
  assert(is_in(node) && !is_in(root) && !f->in_used[node / 2]);
  f->in_used[node / 2] = 1;
  while (node != root) {
    uint32_t edge = f->via_edge[node];
    uint32_t *units = edge == FS_NONE ? &f->passing[node / 2] : &f->through[edge];
    bool forwards = is_in(node) == (edge != FS_NONE);
    assert(forwards || *units > 0);
    *units += forwards ? 1 : UINT32_MAX;
    node = f->via_node[node];
  }
}

static bool serve(flow *f, uint32_t op) {
  assert(op < f->g->n_ops && f->now < DEAD - 1);
  uint32_t root = out_of(op);
  f->n_queue = 0;
  f->now++;
  meet_node(f, root, root, FS_NONE);
  for (uint32_t i = 0; i < f->n_queue; i++) {
    uint32_t node = f->queue[i];
    if (!is_in(node)) {
      leave_out(f, node / 2);
    } else if (f->in_used[node / 2]) {
      leave_in(f, node / 2);
    } else {
      augment(f, node, root);
      return true;
    }
  }
  for (uint32_t i = 0; i < f->n_queue; i++) {
    f->stamp[f->queue[i]] = DEAD;
  }
  return false;
}

static void find_pred_edges(flow *f, uint32_t *next) {
  const fsched_graph *g = f->g;
  memcpy(next, g->pred0, g->n_ops * sizeof *next);
  for (uint32_t u = 0; u < g->n_ops; u++) { /* preds are ascending */
    for (uint32_t e = g->succ0[u]; e < g->succ0[u + 1]; e++) {
      uint32_t i = next[g->succ[e]]++;
      assert(g->pred[i] == u);
      f->pred_edge[i] = e;
    }
  }
}

static fs_status prepare_flow(flow *f, fs_arena *scratch) {
  uint32_t n = f->g->n_ops;
  FS_TRY(fs_new(scratch, &f->pred_edge, f->g->n_edges));
  FS_TRY(fs_new_zero(scratch, &f->through, f->g->n_edges));
  FS_TRY(fs_new_zero(scratch, &f->passing, n));
  FS_TRY(fs_new_zero(scratch, &f->in_used, n));
  FS_TRY(fs_new_zero(scratch, &f->stamp, 2 * (size_t)n));
  FS_TRY(fs_new(scratch, &f->via_edge, 2 * (size_t)n));
  FS_TRY(fs_new(scratch, &f->via_node, 2 * (size_t)n));
  FS_TRY(fs_new(scratch, &f->queue, 2 * (size_t)n));
  find_pred_edges(f, f->queue);
  return FSCHED_OK;
}

static fs_status list_antichain(const flow *f, fs_arena *arena, uint32_t width, uint32_t **out) {
  uint32_t n = 0;
  FS_TRY(fs_new(arena, out, width));
  for (uint32_t op = 0; op < f->g->n_ops; op++) {
    if (f->stamp[out_of(op)] == DEAD && f->stamp[in_of(op)] != DEAD) {
      assert(n < width);
      (*out)[n++] = op;
    }
  }
  assert(n == width);
  return FSCHED_OK;
}

static fs_status find_width(flow *f, fs_arena *scratch, uint32_t *width) {
  FS_TRY(prepare_flow(f, scratch));
  *width = 0;
  for (uint32_t i = f->g->n_ops; i-- > 0;) {
    *width += !serve(f, f->g->topo[i]);
  }
  assert(*width <= f->g->n_ops && (*width > 0 || f->g->n_ops == 0));
  return FSCHED_OK;
}

fs_status fs_graph_width(fsched_context *ctx, const fsched_graph *g, fs_arena *arena,
                         uint32_t *width, uint32_t **antichain) {
  flow f = {.g = g};
  FS_SCRATCH(scratch, ctx);
  FS_TRY(find_width(&f, &scratch, width));
  return antichain != NULL ? list_antichain(&f, arena, *width, antichain) : FSCHED_OK;
}

fsched_status fsched_graph_width(fsched_context *ctx, const fsched_graph *g, uint32_t *width) {
  return fs_graph_width(ctx, g, NULL, width, NULL);
}
