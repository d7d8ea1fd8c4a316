/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves out edges.  Waits, edges along queues and the critical path always stay.  Of the others,
 * an edge is implied if another path leads from its source to its target.  The nodes that each node
 * reaches are stored as bits, and found from the last node to the first.  A node's edges are tested
 * in ascending order of targets, once each, as a path to a target goes only through earlier
 * targets. */
#include "draw/dot/picture.h"

enum { KEPT = 1 << FS_PIC_WAIT | 1 << FS_PIC_QUEUE };
enum {
  CONTROL = 1 << FS_PIC_REUSE | 1 << FS_PIC_RESOURCE | 1 << FS_PIC_CONCURRENCY |
            1 << FS_PIC_BARRIER | 1 << FS_PIC_GATE
};

static bool is_kept(fs_pic_edge e) { return e.critical || (e.why & KEPT) != 0; }

static uint32_t drop_edges(fs_picture *p, const bool *out) {
  size_t n = 0;
  for (size_t e = 0; e < p->edge.n; e++) {
    if (!out[e]) {
      p->edge.at[n++] = p->edge.at[e];
    }
  }
  uint32_t dropped = (uint32_t)(p->edge.n - n);
  p->edge.n = n;
  return dropped;
}

fs_status fs_picture_drop_data(fs_picture *p) {
  bool *out;
  FS_TRY(fs_new_zero(&p->arena, &out, p->edge.n));
  for (size_t e = 0; e < p->edge.n; e++) {
    out[e] = !is_kept(p->edge.at[e]) && (p->edge.at[e].why & CONTROL) == 0;
  }
  p->no_data = drop_edges(p, out);
  return FSCHED_OK;
}

typedef struct node_reach {
  uint64_t *bits; /* n_nodes rows, one bit per node reached */
  size_t words;   /* words of a row */
} node_reach;

static uint64_t *row_of(const node_reach *r, uint32_t node) { return r->bits + node * r->words; }

/* Finds implied edges among [first, end), which come from one node, whose row is still empty. */
static void find_implied(const fs_picture *p, const node_reach *r, size_t first, size_t end,
                         bool *out) {
  for (size_t e = first; e < end; e++) {
    fs_pic_edge edge = p->edge.at[e];
    uint64_t *row = row_of(r, edge.from), bit = UINT64_C(1) << edge.to % 64;
    if (edge.to < edge.from) {
      continue;
    }
    if ((row[edge.to / 64] & bit) != 0) {
      out[e] = !is_kept(edge);
      continue;
    }
    row[edge.to / 64] |= bit;
    for (size_t i = 0; i < r->words; i++) {
      row[i] |= row_of(r, edge.to)[i];
    }
  }
}

static fs_status drop_implied(fs_picture *p) {
  enum { MOST = 8192 }; /* nodes, which take 8 MiB of bits */
  node_reach r = {.words = ((size_t)p->n_nodes + 63) / 64};
  bool *out;
  if (p->n_nodes > MOST) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(&p->arena, &out, p->edge.n));
  FS_TRY(fs_new_zero(&p->arena, &r.bits, p->n_nodes * r.words));
  for (size_t end = p->edge.n, first; end > 0; end = first) {
    first = end - 1;
    while (first > 0 && p->edge.at[first - 1].from == p->edge.at[end - 1].from) {
      first--;
    }
    find_implied(p, &r, first, end, out);
  }
  p->implied = drop_edges(p, out);
  return FSCHED_OK;
}

/* Leaves out surplus edges; each node keeps those from its latest predecessors. */
static fs_status drop_surplus(fs_picture *p, uint32_t most) {
  bool *out;
  uint32_t *n;
  FS_TRY(fs_new_zero(&p->arena, &out, p->edge.n));
  FS_TRY(fs_new_zero(&p->arena, &n, p->n_nodes));
  for (size_t e = p->edge.n; e-- > 0;) {
    out[e] = ++n[p->edge.at[e].to] > most && !is_kept(p->edge.at[e]);
  }
  p->surplus = drop_edges(p, out);
  p->surplus_from = most;
  return FSCHED_OK;
}

fs_status fs_picture_thin(fs_picture *p, uint32_t most) {
  if (p->edge.n > most) {
    FS_TRY(drop_implied(p));
  }
  if (p->edge.n > most) {
    FS_TRY(drop_surplus(p, most / p->n_nodes + 1));
  }
  return FSCHED_OK;
}
