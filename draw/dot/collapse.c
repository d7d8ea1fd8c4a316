/* SPDX-License-Identifier: Apache-2.0 */
/* Makes pictures smaller.  A chain is replaced by one node, as it shows little more than its ends
 * do.  If a picture is still too large, nodes near each other in the order of issue are grouped,
 * separately for each queue and kind, so that the picture still shows time, and spills stay
 * visible. */
#include "draw/dot/picture.h"

static bool alike(const fs_pic_node *a, const fs_pic_node *b) {
  return a->kind == b->kind && a->cluster == b->cluster;
}

/* Finds each node's predecessor in its chain.  Edges to earlier nodes do not link chains. */
static void find_chains(const fs_picture *p, const uint32_t *in, const uint32_t *out,
                        uint32_t *before) {
  for (size_t e = 0; e < p->edge.n; e++) {
    uint32_t from = p->edge.at[e].from, to = p->edge.at[e].to;
    if (out[from] == 1 && in[to] == 1 && from < to && alike(&p->node[from], &p->node[to])) {
      before[to] = from;
    }
  }
}

fs_status fs_picture_chains(fs_picture *p) {
  assert(p->node != NULL || p->n_nodes == 0);
  uint32_t *in, *out, *before, *group, n = 0;
  FS_TRY(fs_new_zero(&p->arena, &in, p->n_nodes));
  FS_TRY(fs_new_zero(&p->arena, &out, p->n_nodes));
  FS_TRY(fs_new_none(&p->arena, &before, p->n_nodes));
  FS_TRY(fs_new(&p->arena, &group, p->n_nodes));
  for (size_t e = 0; e < p->edge.n; e++) {
    out[p->edge.at[e].from]++;
    in[p->edge.at[e].to]++;
  }
  find_chains(p, in, out, before);
  for (uint32_t i = 0; i < p->n_nodes; i++) {
    group[i] = before[i] == FS_NONE ? n++ : group[before[i]];
  }
  p->chains = p->chains || n < p->n_nodes;
  return fs_picture_contract(p, group, n);
}

/* The last group of a cluster and kind, and its window of the order of issue. */
typedef struct fs_open {
  uint32_t window, group;
} fs_open;

static uint32_t number_groups(const fs_picture *p, uint32_t width, fs_open *open, uint32_t *group) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < (p->n_clusters + 1) * FS_PIC_KINDS; k++) {
    open[k] = (fs_open){FS_NONE, FS_NONE};
  }
  for (uint32_t i = 0; i < p->n_nodes; i++) {
    const fs_pic_node *node = &p->node[i];
    uint32_t cluster = node->cluster == FS_NONE ? p->n_clusters : node->cluster;
    fs_open *o = &open[cluster * FS_PIC_KINDS + node->kind];
    uint32_t window = node->first / width;
    if (o->window != window) {
      *o = (fs_open){window, n++};
    }
    group[i] = o->group;
  }
  return n;
}

fs_status fs_picture_groups(fs_picture *p, uint32_t most) {
  assert(p->node != NULL || p->n_nodes == 0);
  if (p->n_nodes <= most) {
    return FSCHED_OK;
  }
  fs_open *open;
  uint32_t *group, n, width = 2;
  FS_TRY(fs_new(&p->arena, &open, ((size_t)p->n_clusters + 1) * FS_PIC_KINDS));
  FS_TRY(fs_new(&p->arena, &group, p->n_nodes));
  while ((n = number_groups(p, width, open, group)) > most && width < p->n_items) {
    width += width / 4 + 1;
  }
  p->groups = p->groups || n < p->n_nodes;
  return fs_picture_contract(p, group, n);
}
