/* SPDX-License-Identifier: Apache-2.0 */
/* Reduces the number of clusters by merging neighbours. cgraph looks up every node and edge in
 * every cluster when it writes, and a box per queue is of no use where there are thousands of
 * them. */
#include "draw/dot/picture.h"

static const char *merged_name(fs_picture *p, uint32_t first, uint32_t end) {
  fs_text t;
  fs_text_init(&t, p->ctx);
  fs_text_puts(&t, p->cluster[first]);
  if (end - first > 1) {
    fs_text_puts(&t, " .. ");
    fs_text_puts(&t, p->cluster[end - 1]);
    fs_text_printf(&t, " (%u)", end - first);
  }
  const char *name = t.failed ? NULL : fs_arena_strndup(&p->arena, t.at, t.n);
  fs_text_drop(&t);
  return name;
}

fs_status fs_picture_merge_clusters(fs_picture *p, uint32_t most) {
  assert(most > 0);
  if (p->n_clusters <= most) {
    return FSCHED_OK;
  }
  uint32_t each = (p->n_clusters - 1) / most + 1, n = 0;
  for (uint32_t c = 0; c < p->n_clusters; c += each, n++) {
    uint32_t end = (uint32_t)fs_min(c + each, p->n_clusters);
    const char *name = merged_name(p, c, end);
    if (name == NULL) {
      return FSCHED_SYSTEM;
    }
    p->cluster[n] = name;
    p->host[n] = p->host[c];
    for (uint32_t k = c; k < end; k++) {
      p->host[n] = p->host[n] == FS_NONE ? p->host[k] : p->host[n];
    }
  }
  for (uint32_t c = 0; c < n; c++) {
    p->host[c] = p->host[c] == FS_NONE ? FS_NONE : p->host[c] / each;
  }
  for (uint32_t i = 0; i < p->n_items; i++) {
    p->item[i].cluster = p->item[i].cluster == FS_NONE ? FS_NONE : p->item[i].cluster / each;
  }
  for (uint32_t i = 0; i < p->n_nodes; i++) {
    p->node[i].cluster = p->node[i].cluster == FS_NONE ? FS_NONE : p->node[i].cluster / each;
  }
  p->unmerged = p->n_clusters;
  p->n_clusters = n;
  return FSCHED_OK;
}

fs_status fs_picture_find_empty(fs_picture *p) {
  bool *used;
  FS_TRY(fs_new_zero(&p->arena, &used, p->n_clusters));
  for (uint32_t i = 0; i < p->n_nodes; i++) {
    if (p->node[i].cluster != FS_NONE) {
      used[p->node[i].cluster] = true;
    }
  }
  for (uint32_t c = 0; c < p->n_clusters; c++) {
    p->host[c] = used[c] ? FS_NONE : p->host[c];
  }
  return FSCHED_OK;
}
