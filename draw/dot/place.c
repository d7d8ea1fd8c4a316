/* SPDX-License-Identifier: Apache-2.0 */
/* Places nodes in time, in one walk in the order of issue.  Edges are sorted by their sources, so
 * all that they demand of a node is known when the walk comes to it; edges that go back are
 * ignored.  A heap gives up nodes by the times of their ends; the rightmost left border of those
 * that have ended is a limit for all nodes that follow. */
#include "draw/dot/place.h"

#include "base/heap.h"

enum { GAP = 14, LANE_GAP = 18, PADDING = 8 };

typedef struct fs_placing {
  const fs_picture *p;
  const int64_t *width;
  fs_pic_places *out;
  int64_t *least;    /* per node: the least x of its centre */
  int64_t *lane_end; /* per cluster, and last for nodes in none: right end so far */
  int64_t ended;
  fs_heap ends;
} fs_placing;

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static uint32_t lane_of(const fs_picture *p, uint32_t node) {
  uint32_t cluster = p->node[node].cluster;
  return cluster == FS_NONE ? p->n_clusters : cluster;
}

static fs_status place_node(fs_placing *k, uint32_t i) {
  const fs_pic_node *n = &k->p->node[i];
  while (k->ends.n > 0 && k->ends.at[0].key <= n->start) {
    uint32_t id = fs_heap_pop(&k->ends).id;
    k->ended = most(k->ended, k->out->x[id] - k->width[id] / 2);
  }
  int64_t half = k->width[i] / 2, *end = &k->lane_end[lane_of(k->p, i)];
  int64_t left = most(most(*end + GAP, k->ended), k->least[i] - half);
  k->out->x[i] = left + half;
  *end = left + k->width[i];
  return fs_heap_push(k->p->ctx, &k->ends, n->end, i);
}

static fs_status place_nodes(fs_placing *k) {
  const fs_picture *p = k->p;
  size_t e = 0;
  for (uint32_t i = 0; i < p->n_nodes; i++) {
    FS_TRY(place_node(k, i));
    for (; e < p->edge.n && p->edge.at[e].from == i; e++) {
      uint32_t to = p->edge.at[e].to;
      k->least[to] = most(k->least[to], k->out->x[i] + GAP);
    }
  }
  return FSCHED_OK;
}

/* Places the lanes one below the other, all as long as the longest. */
static void place_lanes(fs_placing *k) {
  const fs_picture *p = k->p;
  enum { LANE = FS_PLACE_HEIGHT + FS_PLACE_LABEL + 2 * PADDING, PITCH = LANE + LANE_GAP };
  int64_t right = 0;
  for (uint32_t c = 0; c <= p->n_clusters; c++) {
    right = most(right, k->lane_end[c]);
  }
  for (uint32_t c = 0; c < p->n_clusters; c++) {
    int64_t high = -(int64_t)c * PITCH;
    k->out->lane[c] = (fs_pic_box){0, high - LANE, right + PADDING, high};
  }
  for (uint32_t i = 0; i < p->n_nodes; i++) {
    k->out->y[i] = -(int64_t)lane_of(p, i) * PITCH - FS_PLACE_LABEL - PADDING - FS_PLACE_HEIGHT / 2;
  }
  bool outside = k->lane_end[p->n_clusters] > 0;
  k->out->low = -((int64_t)p->n_clusters + outside) * PITCH;
}

fs_status fs_place_in_time(fs_picture *p, const int64_t *width, fs_pic_places *out) {
  assert(width != NULL || p->n_nodes == 0);
  fs_placing k = {.p = p, .width = width, .out = out};
  FS_TRY(fs_new(&p->arena, &out->x, p->n_nodes));
  FS_TRY(fs_new(&p->arena, &out->y, p->n_nodes));
  FS_TRY(fs_new(&p->arena, &out->lane, p->n_clusters));
  FS_TRY(fs_new_zero(&p->arena, &k.least, p->n_nodes));
  FS_TRY(fs_new_zero(&p->arena, &k.lane_end, (size_t)p->n_clusters + 1));
  fs_status status = place_nodes(&k);
  fs_vec_free(p->ctx, &k.ends);
  if (status == FSCHED_OK) {
    place_lanes(&k);
  }
  return status;
}
