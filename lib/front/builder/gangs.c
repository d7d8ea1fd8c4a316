/* SPDX-License-Identifier: Apache-2.0 */
/* The queues of gangs: those that were named, or all of a class, of which a gang takes some. */
#include <string.h>

#include "front/builder/private.h"

static void sort_ids(uint32_t *id, size_t n) {
  for (size_t i = 1; i < n; i++) {
    uint32_t v = id[i];
    size_t at = i;
    for (; at > 0 && id[at - 1] > v; at--) {
      id[at] = id[at - 1];
    }
    id[at] = v;
  }
}

/* The queues of a gang that was described by their names. */
static void find_gang_queues(fsched_builder *b, uint32_t k, uint32_t *queue) {
  uint32_t n = b->gang0.at[k + 1] - b->gang0.at[k];
  for (uint32_t i = 0; i < n; i++) {
    const char *name = b->words.text.at[b->gang_word.at[b->gang0.at[k] + i]];
    queue[i] = fs_names_find(&b->queues, name, strlen(name));
    if (queue[i] == FS_NONE && !fs_builder_lost(b, FS_KIND_QUEUE)) {
      (void)fs_builder_fail(b, FS_DIAG_NO_QUEUE, fs_pos_at(&b->gang_at, k), NULL,
                            "a gang cannot run: no queue is named '%s'", name);
    }
  }
  sort_ids(queue, n);
}

/* The class of a gang, FS_NONE where it has none, or none that is known. */
static uint32_t gang_class(const fsched_builder *b, uint32_t k) {
  if (b->gang_count.at[k] == 0) {
    return FS_NONE;
  }
  const char *name = b->words.text.at[b->gang_word.at[b->gang0.at[k]]];
  return fs_names_find(&b->classes, name, strlen(name));
}

static fs_status check_gang_class(fsched_builder *b, const uint32_t *class_size, uint32_t k) {
  uint32_t class_id = gang_class(b, k), count = b->gang_count.at[k];
  const char *name = b->words.text.at[b->gang_word.at[b->gang0.at[k]]];
  uint32_t n = class_id == FS_NONE ? 0 : class_size[class_id];
  if (fs_builder_lost(b, FS_KIND_QUEUE) || (n > 0 && count <= n)) {
    return FSCHED_OK;
  }
  return n == 0 ? fs_builder_fail(b, FS_DIAG_NO_QUEUE, fs_pos_at(&b->gang_at, k), NULL,
                                  "a gang cannot run: no queue is of class '%s'", name)
                : fs_builder_fail(b, FS_DIAG_OUT_OF_RANGE, fs_pos_at(&b->gang_at, k), NULL,
                                  "a gang takes %u queues of class '%s', which has %u", count, name,
                                  n);
}

static void find_class_queues(const fs_target *t, uint32_t class_id, uint32_t *queue) {
  for (uint32_t q = 0, n = 0; q < t->n_queues; q++) {
    if (t->queue[q].class_id == class_id) {
      queue[n++] = q;
    }
  }
}

/* The number of queues of a gang, of which it may take fewer. */
static uint32_t gang_size(const fsched_builder *b, const uint32_t *class_size, uint32_t k) {
  uint32_t class_id = gang_class(b, k);
  return b->gang_count.at[k] == 0 ? b->gang0.at[k + 1] - b->gang0.at[k]
         : class_id == FS_NONE    ? 0
                                  : class_size[class_id];
}

fs_status fs_builder_resolve_gangs(fsched_builder *b, fsched_graph *g, const uint32_t *class_size) {
  assert(b->gang0.n == b->gang_count.n);
  uint32_t n = g->target.implicit_queues ? 0 : (uint32_t)b->gang0.n;
  g->n_gangs = n;
  FS_TRY(fs_vec_push(b->ctx, &b->gang0, (uint32_t)b->gang_word.n));
  FS_TRY(fs_new_zero(&b->arena, &g->gang_queue0, (size_t)n + 1));
  FS_TRY(fs_new(&b->arena, &g->gang_members, n));
  for (uint32_t k = 0; k < n; k++) {
    g->gang_queue0[k + 1] = g->gang_queue0[k] + gang_size(b, class_size, k);
  }
  FS_TRY(fs_new(&b->arena, &g->gang_queue, g->gang_queue0[n]));
  for (uint32_t k = 0; k < n; k++) {
    uint32_t count = b->gang_count.at[k], *queue = g->gang_queue + g->gang_queue0[k];
    g->gang_members[k] = count == 0 ? gang_size(b, class_size, k) : count;
    g->gangs_open = g->gangs_open || g->gang_members[k] < gang_size(b, class_size, k);
    if (count == 0) {
      find_gang_queues(b, k, queue);
    } else {
      (void)check_gang_class(b, class_size, k);
      find_class_queues(&g->target, gang_class(b, k), queue);
    }
  }
  return FSCHED_OK;
}
