/* SPDX-License-Identifier: Apache-2.0 */
#include "modulo/problem/ratio.h"

typedef struct ratio_finder {
  uint32_t n, m;
  const fs_ratio_edge *edge;
  int64_t *path;  /* per node: the longest path to it */
  uint32_t *by;   /* per node: the last edge of that path */
  uint32_t *mark; /* per node: in which walk it was seen */
  uint32_t on;    /* a node of a cycle */
} ratio_finder;

/* Follows last edges back from every node; true if they close a cycle. */
static bool find_cycle(ratio_finder *f) {
  memset(f->mark, 0xFF, f->n * sizeof *f->mark);
  for (uint32_t i = 0; i < f->n; i++) {
    uint32_t at = i;
    while (f->mark[at] == FS_NONE && f->by[at] != FS_NONE) {
      f->mark[at] = i;
      at = f->edge[f->by[at]].from;
    }
    if (f->mark[at] == i && f->by[at] != FS_NONE) {
      f->on = at;
      return true;
    }
    f->mark[at] = i;
  }
  return false;
}

static bool lengthen(ratio_finder *f, fs_modulo_ratio at) {
  bool longer = false;
  for (uint32_t k = 0; k < f->m; k++) {
    const fs_ratio_edge *e = &f->edge[k];
    int64_t path = f->path[e->from] + e->weight * at.den - e->distance * at.num;
    if (path > f->path[e->to]) {
      f->path[e->to] = path;
      f->by[e->to] = k;
      longer = true;
    }
  }
  return longer;
}

/* Is there a cycle of a greater ratio? */
static bool exceeds(ratio_finder *f, fs_modulo_ratio at) {
  memset(f->path, 0, f->n * sizeof *f->path);
  memset(f->by, 0xFF, f->n * sizeof *f->by);
  while (lengthen(f, at)) {
    if (find_cycle(f)) {
      return true;
    }
  }
  return false;
}

/* Reads the cycle that was found. */
static void read_cycle(const ratio_finder *f, fs_ratio_cycle *out) {
  int64_t weight = 0, distance = 0;
  uint32_t at = f->on;
  out->n = 0;
  do {
    const fs_ratio_edge *e = &f->edge[f->by[at]];
    out->edge[out->n++] = f->by[at];
    weight += e->weight;
    distance += e->distance;
    at = e->from;
  } while (at != f->on);
  out->endless = distance <= 0;
  if (distance > 0) {
    out->ratio = fs_modulo_ratio_of(weight, distance);
  }
}

fs_status fs_modulo_cycle(fsched_context *ctx, fs_arena *arena, uint32_t n,
                          const fs_ratio_edge *edge, uint32_t m, fs_ratio_cycle *out) {
  FS_SCRATCH(scratch, ctx);
  ratio_finder f = {.n = n, .m = m, .edge = edge};
  *out = (fs_ratio_cycle){.ratio = {0, 1}};
  FS_TRY(fs_new(arena, &out->edge, n));
  FS_TRY(fs_new(&scratch, &f.path, n));
  FS_TRY(fs_new(&scratch, &f.by, n));
  FS_TRY(fs_new(&scratch, &f.mark, n));
  while (!out->endless && exceeds(&f, out->ratio)) {
    read_cycle(&f, out);
  }
  return FSCHED_OK;
}

void fs_modulo_potentials(uint32_t n, const fs_ratio_edge *edge, uint32_t m, fs_modulo_ratio at,
                          int64_t *start) {
  memset(start, 0, n * sizeof *start);
  for (bool longer = true; longer;) {
    longer = false;
    for (uint32_t k = 0; k < m; k++) {
      int64_t path = start[edge[k].from] + edge[k].weight * at.den - edge[k].distance * at.num;
      if (path > start[edge[k].to]) {
        start[edge[k].to] = path;
        longer = true;
      }
    }
  }
}
