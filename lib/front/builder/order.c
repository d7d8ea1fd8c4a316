/* SPDX-License-Identifier: Apache-2.0 */
/* Edges in both directions and a topological order.  Transposing twice sorts every list of
 * predecessors without a sort: O(ops + edges).  The order is program order when all edges point
 * forward; else the smallest ready op comes first (a heap, O((ops + edges) log ops)).  The ops that
 * remain when no op is ready contain a cycle. */
#include "front/builder/private.h"

#include "base/group.h"
#include "base/text/plural.h"

/* Turns lists by target into lists by source, each ascending in targets; to0 has n + 2 entries. */
static void transpose(uint32_t n, const uint32_t *from0, const uint32_t *from, uint32_t *to0,
                      uint32_t *to) {
  memset(to0, 0, ((size_t)n + 2) * sizeof *to0);
  for (uint32_t i = 0; i < from0[n]; i++) {
    to0[from[i] + 2]++;
  }
  fs_group_sum(to0, n);
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t e = from0[i]; e < from0[i + 1]; e++) {
      to[to0[from[e] + 1]++] = i;
    }
  }
}

static bool all_forward(const fsched_graph *g) {
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
      if (g->pred[e] > op) {
        return false;
      }
    }
  }
  return true;
}

/* A binary heap of ids, the smallest first. */
static void heap_push(uint32_t *heap, uint32_t *n, uint32_t id) {
  uint32_t at = (*n)++;
  for (; at > 0 && heap[(at - 1) / 2] > id; at = (at - 1) / 2) {
    heap[at] = heap[(at - 1) / 2];
  }
  heap[at] = id;
}

static uint32_t heap_pop(uint32_t *heap, uint32_t *n) {
  assert(*n > 0);
  uint32_t top = heap[0];
  uint32_t id = heap[--*n];
  uint32_t at = 0;
  for (;;) {
    uint32_t child = at * 2 + 1;
    if (child >= *n) {
      break;
    }
    child += child + 1 < *n && heap[child + 1] < heap[child];
    if (heap[child] >= id) {
      break;
    }
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = id;
  return top;
}

/* Fills g->topo and returns how many ops it holds.  degree[op] > 0 remains for the other ops. */
static uint32_t sort_ops(fsched_graph *g, uint32_t *degree, uint32_t *heap) {
  uint32_t n_heap = 0;
  uint32_t n = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    degree[op] = g->pred0[op + 1] - g->pred0[op];
    if (degree[op] == 0) {
      heap_push(heap, &n_heap, op);
    }
  }
  while (n_heap > 0) {
    uint32_t op = heap_pop(heap, &n_heap);
    g->topo[n++] = op;
    for (uint32_t e = g->succ0[op]; e < g->succ0[op + 1]; e++) {
      if (--degree[g->succ[e]] == 0) {
        heap_push(heap, &n_heap, g->succ[e]);
      }
    }
  }
  assert(n <= g->n_ops && n_heap == 0);
  return n;
}

static uint32_t unsorted_pred(const fsched_graph *g, const uint32_t *degree, uint32_t op) {
  for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
    if (degree[g->pred[e]] > 0) {
      return g->pred[e];
    }
  }
  return FS_NONE; /* not reached for an op that remains */
}

/* The place where the user wrote that `op` is after `before`; without one, the op's own place. */
static fs_pos edge_pos(const fsched_builder *b, const fsched_graph *g, uint32_t op,
                       uint32_t before) {
  assert(op < g->n_ops && before < g->n_ops);
  for (uint32_t i = g->op_after0[op]; i < g->op_after0[op + 1]; i++) {
    if (g->after_op[i] == before) {
      return fs_pos_at(&b->afters.at, i);
    }
  }
  return fs_pos_at(&b->op_at, op);
}

/* Reports a cycle.  Every op that remains has a predecessor that remains too: going back long
 * enough ends in a cycle, which is then followed once around.  `next` is scratch, one entry per
 * op. */
static void report_cycle(fsched_builder *b, const fsched_graph *g, const uint32_t *degree,
                         uint32_t *next) {
  enum { SHOWN = 12 };
  uint32_t at = 0;
  while (degree[at] == 0) {
    at++;
  }
  memset(next, 0xFF, g->n_ops * sizeof *next);
  while (next[at] == FS_NONE) {
    next[at] = unsorted_pred(g, degree, at);
    at = next[at];
  }
  uint32_t first = at; /* start at the cycle's first op in the file */
  uint32_t length = 1;
  for (uint32_t op = next[at]; op != at; op = next[op]) {
    first = op < first ? op : first;
    length++;
  }
  fs_text path;
  fs_text_init(&path, b->ctx);
  uint32_t op = first;
  for (uint32_t i = 0; i < length && i < SHOWN; i++, op = next[op]) {
    fs_text_printf(&path, "'%.40s' after ", g->op_name[op]);
  }
  fs_text_printf(&path, "%s'%.40s'", length > SHOWN ? "... " : "", g->op_name[first]);
  fs_text_add(&path, "", 1);
  (void)fs_builder_fail(b, FS_DIAG_CYCLE, edge_pos(b, g, first, next[first]), NULL,
                        "%u %s in a circle: %s", length, fs_plural(length, "op waits", "ops wait"),
                        path.failed ? "" : path.at);
  fs_text_drop(&path);
}

/* Reports ops that are `after` themselves.  Such an entry never becomes an edge, so it is searched
 * for. */
static void report_self_after(fsched_builder *b, const fsched_graph *g) {
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t i = g->op_after0[op]; i < g->op_after0[op + 1]; i++) {
      if (g->after_op[i] == op && b->afters.item.at[i].a == op) {
        (void)fs_builder_fail(b, FS_DIAG_CYCLE, fs_pos_at(&b->afters.at, i), NULL,
                              "op '%s' is after itself", g->op_name[op]);
      }
    }
  }
}

static fs_status sort_graph(fsched_builder *b, fsched_graph *g) {
  FS_SCRATCH(scratch, b->ctx);
  uint32_t *degree;
  uint32_t *heap;
  FS_TRY(fs_new(&scratch, &degree, g->n_ops));
  FS_TRY(fs_new(&scratch, &heap, g->n_ops));
  if (sort_ops(g, degree, heap) < g->n_ops) {
    report_cycle(b, g, degree, heap);
  }
  return FSCHED_OK;
}

fs_status fs_builder_order(fsched_builder *b, fsched_graph *g) {
  assert(g->pred0 != NULL);
  FS_TRY(fs_new(&b->arena, &g->succ0, (size_t)g->n_ops + 2));
  FS_TRY(fs_new(&b->arena, &g->succ, g->n_edges));
  FS_TRY(fs_new(&b->arena, &g->topo, g->n_ops));
  transpose(g->n_ops, g->pred0, g->pred, g->succ0, g->succ);
  transpose(g->n_ops, g->succ0, g->succ, g->pred0, g->pred);
  report_self_after(b, g);
  if (!all_forward(g)) {
    return sort_graph(b, g);
  }
  for (uint32_t op = 0; op < g->n_ops; op++) {
    g->topo[op] = op;
  }
  return FSCHED_OK;
}
