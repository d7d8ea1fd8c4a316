/* SPDX-License-Identifier: Apache-2.0 */
/* Levels after Sugiyama, Tagawa and Toda (1981), without nodes for the parts of long edges: a node
 * is one level below the lowest of its predecessors.  Columns are as wide as their largest level,
 * and a level of more than about the square root of all nodes takes several rows.  Within a level
 * and column, nodes are sorted by the mean position of their predecessors, then of their
 * successors, several times over.  All places of a column are equally wide, so sorting does not
 * move the borders of columns. */
#include <stdlib.h>

#include "base/group.h"
#include "draw/dot/place.h"

enum { GAP = 24, ROW_GAP = 14, LEVEL_GAP = 40, COLUMN_GAP = 18, PADDING = 10, SWEEPS = 6 };

typedef struct level_key {
  int64_t at;
  uint32_t column, level, node;
} level_key;

typedef struct fs_levels {
  const fs_picture *p;
  const int64_t *width;
  fs_pic_places *out;
  uint32_t n; /* number of levels */
  uint32_t *level;
  uint32_t *out0;    /* per node: its first outgoing edge */
  level_key *key;    /* nodes, sorted by level, column, position */
  uint32_t *level0;  /* per level: its first key */
  uint32_t *rows;    /* per level: number of rows */
  uint32_t *most;    /* per column: most places in a row */
  int64_t *slot;     /* per column: width of a place; 0: it has no nodes */
  int64_t *middle;   /* per column: x of its centre */
  uint32_t row_most; /* limit of places in a row, for all columns */
} fs_levels;

static uint32_t column_of(const fs_picture *p, uint32_t node) {
  uint32_t cluster = p->node[node].cluster;
  return cluster == FS_NONE ? p->n_clusters : cluster;
}

/* Finds the nodes' levels.  Edges are sorted by their sources; those that go back are ignored. */
static uint32_t find_levels(const fs_picture *p, uint32_t *level) {
  uint32_t deepest = 0;
  for (size_t e = 0; e < p->edge.n; e++) {
    fs_pic_edge edge = p->edge.at[e];
    if (edge.from < edge.to && level[edge.to] <= level[edge.from]) {
      level[edge.to] = level[edge.from] + 1;
      deepest = level[edge.to] > deepest ? level[edge.to] : deepest;
    }
  }
  return p->n_nodes == 0 ? 0 : deepest + 1;
}

fs_status fs_place_effort(fs_picture *p, uint64_t *effort) {
  uint32_t *level;
  FS_TRY(fs_new_zero(&p->arena, &level, p->n_nodes));
  (void)find_levels(p, level);
  *effort = p->n_nodes;
  for (size_t e = 0; e < p->edge.n; e++) {
    uint32_t from = level[p->edge.at[e].from], to = level[p->edge.at[e].to];
    *effort += from < to ? to - from : from - to;
  }
  return FSCHED_OK;
}

/* A total order, as each node occurs once. */
static int by_key(const void *a, const void *b) {
  const level_key *x = a, *y = b;
  if (x->level != y->level) {
    return x->level < y->level ? -1 : 1;
  }
  if (x->column != y->column) {
    return x->column < y->column ? -1 : 1;
  }
  if (x->at != y->at) {
    return x->at < y->at ? -1 : 1;
  }
  return (x->node > y->node) - (x->node < y->node);
}

static fs_status prepare_levels(fs_levels *k, fs_picture *p) {
  size_t columns = (size_t)p->n_clusters + 1;
  FS_TRY(fs_new_zero(&p->arena, &k->level, p->n_nodes));
  FS_TRY(fs_new_zero(&p->arena, &k->out0, (size_t)p->n_nodes + 1));
  FS_TRY(fs_new(&p->arena, &k->key, p->n_nodes));
  FS_TRY(fs_new_zero(&p->arena, &k->most, columns));
  FS_TRY(fs_new_zero(&p->arena, &k->slot, columns));
  FS_TRY(fs_new_zero(&p->arena, &k->middle, columns));
  k->n = find_levels(p, k->level);
  FS_TRY(fs_new_zero(&p->arena, &k->level0, (size_t)k->n + 1));
  FS_TRY(fs_new_zero(&p->arena, &k->rows, k->n));
  for (size_t e = 0; e < p->edge.n; e++) {
    k->out0[p->edge.at[e].from + 1]++;
  }
  fs_group_starts(k->out0, p->n_nodes);
  for (uint32_t i = 0; i < p->n_nodes; i++) {
    uint32_t column = column_of(p, i);
    k->key[i] = (level_key){0, column, k->level[i], i};
    k->slot[column] = k->slot[column] > k->width[i] + GAP ? k->slot[column] : k->width[i] + GAP;
    k->level0[k->level[i] + 1]++;
  }
  fs_group_starts(k->level0, k->n);
  k->row_most = 8;
  while ((uint64_t)k->row_most * k->row_most < p->n_nodes) {
    k->row_most++;
  }
  return FSCHED_OK;
}

/* The end of the block of keys with the same level and column. */
static uint32_t end_of_block(const fs_levels *k, uint32_t i) {
  uint32_t end = i, last = k->level0[k->key[i].level + 1];
  while (end < last && k->key[end].column == k->key[i].column) {
    end++;
  }
  return end;
}

/* Finds how many rows each level takes, and where columns are. */
static void measure(fs_levels *k) {
  for (uint32_t i = 0, end; i < k->p->n_nodes; i = end) {
    end = end_of_block(k, i);
    uint32_t rows = (end - i - 1) / k->row_most + 1, *most = &k->rows[k->key[i].level];
    *most = rows > *most ? rows : *most;
  }
  for (uint32_t i = 0, end; i < k->p->n_nodes; i = end) {
    end = end_of_block(k, i);
    uint32_t places = (end - i - 1) / k->rows[k->key[i].level] + 1, *most;
    most = &k->most[k->key[i].column];
    *most = places > *most ? places : *most;
  }
  int64_t right = 0;
  for (uint32_t c = 0; c <= k->p->n_clusters; c++) {
    int64_t width = k->slot[c] == 0 ? 0 : k->slot[c] * k->most[c] + 2 * PADDING;
    k->middle[c] = right + width / 2;
    right += width == 0 ? 0 : width + COLUMN_GAP;
  }
}

/* Places a sorted block in the middle of its column; its rows fill together, from left to right. */
static void place_block(const fs_levels *k, uint32_t begin, uint32_t end) {
  uint32_t column = k->key[begin].column, rows = k->rows[k->key[begin].level];
  int64_t slot = k->slot[column], places = (end - begin - 1) / rows + 1;
  for (uint32_t i = begin; i < end; i++) {
    int64_t place = (i - begin) / rows;
    k->out->x[k->key[i].node] = k->middle[column] + (2 * place + 1 - places) * slot / 2;
  }
}

/* Late sweeps change little. */
static bool is_sorted(const level_key *key, uint32_t n) {
  for (uint32_t i = 1; i < n; i++) {
    if (by_key(&key[i - 1], &key[i]) > 0) {
      return false;
    }
  }
  return true;
}

static void sort_level(const fs_levels *k, uint32_t level) {
  uint32_t first = k->level0[level], last = k->level0[level + 1];
  if (!is_sorted(k->key + first, last - first)) {
    qsort(k->key + first, last - first, sizeof *k->key, by_key);
  }
  for (uint32_t i = first, end; i < last; i = end) {
    end = end_of_block(k, i);
    place_block(k, i, end);
  }
}

/* Sorts level by level by the mean position of predecessors; `sum` adds up their positions. */
static void sweep_down(const fs_levels *k, int64_t *sum, uint32_t *count) {
  memset(sum, 0, k->p->n_nodes * sizeof *sum);
  memset(count, 0, k->p->n_nodes * sizeof *count);
  for (uint32_t l = 0; l < k->n; l++) {
    for (uint32_t i = k->level0[l]; i < k->level0[l + 1]; i++) {
      uint32_t node = k->key[i].node;
      k->key[i].at = count[node] == 0 ? k->out->x[node] : sum[node] / count[node];
    }
    sort_level(k, l);
    for (uint32_t i = k->level0[l]; i < k->level0[l + 1]; i++) {
      uint32_t node = k->key[i].node;
      for (uint32_t e = k->out0[node]; e < k->out0[node + 1]; e++) {
        sum[k->p->edge.at[e].to] += k->out->x[node];
        count[k->p->edge.at[e].to]++;
      }
    }
  }
}

static void sweep_up(const fs_levels *k) {
  for (uint32_t l = k->n; l-- > 0;) {
    for (uint32_t i = k->level0[l]; i < k->level0[l + 1]; i++) {
      uint32_t node = k->key[i].node, n = k->out0[node + 1] - k->out0[node];
      int64_t sum = 0;
      for (uint32_t e = k->out0[node]; e < k->out0[node + 1]; e++) {
        sum += k->out->x[k->p->edge.at[e].to];
      }
      k->key[i].at = n == 0 ? k->out->x[node] : sum / n;
    }
    sort_level(k, l);
  }
}

static int64_t place_rows(const fs_levels *k) {
  enum { PITCH = FS_PLACE_HEIGHT + ROW_GAP };
  int64_t y = -FS_PLACE_LABEL - PADDING - FS_PLACE_HEIGHT / 2;
  for (uint32_t l = 0; l < k->n; l++) {
    for (uint32_t i = k->level0[l], end; i < k->level0[l + 1]; i = end) {
      end = end_of_block(k, i);
      for (uint32_t j = i; j < end; j++) {
        k->out->y[k->key[j].node] = y - (j - i) % k->rows[l] * PITCH;
      }
    }
    y -= (int64_t)k->rows[l] * PITCH - ROW_GAP + LEVEL_GAP;
  }
  return y + LEVEL_GAP + FS_PLACE_HEIGHT / 2 - PADDING;
}

fs_status fs_place_in_levels(fs_picture *p, const int64_t *width, fs_pic_places *out) {
  assert(width != NULL || p->n_nodes == 0);
  fs_levels k = {.p = p, .width = width, .out = out};
  int64_t *sum;
  uint32_t *count;
  FS_TRY(fs_new_zero(&p->arena, &out->x, p->n_nodes));
  FS_TRY(fs_new(&p->arena, &out->y, p->n_nodes));
  FS_TRY(fs_new(&p->arena, &out->lane, p->n_clusters));
  FS_TRY(fs_new(&p->arena, &sum, p->n_nodes));
  FS_TRY(fs_new(&p->arena, &count, p->n_nodes));
  FS_TRY(prepare_levels(&k, p));
  if (p->n_nodes > 1) {
    qsort(k.key, p->n_nodes, sizeof *k.key, by_key);
  }
  measure(&k);
  for (int i = 0; i < SWEEPS; i++) {
    sweep_down(&k, sum, count);
    sweep_up(&k);
  }
  sweep_down(&k, sum, count);
  out->low = place_rows(&k);
  for (uint32_t c = 0; c < p->n_clusters; c++) {
    int64_t half = k.slot[c] == 0 ? 0 : k.slot[c] * k.most[c] / 2 + PADDING;
    out->lane[c] = (fs_pic_box){k.middle[c] - half, out->low, k.middle[c] + half, 0};
  }
  return FSCHED_OK;
}
