/* SPDX-License-Identifier: Apache-2.0 */
/* A binary min-heap of (key, id), in which ids break ties.  Entries are values; the user must skip
 * stale ones.  Push and pop take O(log n). */
#ifndef FS_HEAP_H
#define FS_HEAP_H

#include "base/mem.h"

typedef struct fs_heap_entry {
  uint64_t key;
  uint32_t id;
} fs_heap_entry;

typedef FS_VEC(fs_heap_entry) fs_heap;

static inline bool fs_heap_less(fs_heap_entry a, fs_heap_entry b) {
  return a.key != b.key ? a.key < b.key : a.id < b.id;
}

static inline fs_status fs_heap_push(fsched_context *ctx, fs_heap *h, uint64_t key, uint32_t id) {
  fs_heap_entry e = {key, id};
  FS_TRY(fs_vec_push(ctx, h, e));
  size_t i = h->n - 1;
  while (i > 0 && fs_heap_less(e, h->at[(i - 1) / 2])) {
    h->at[i] = h->at[(i - 1) / 2];
    i = (i - 1) / 2;
  }
  h->at[i] = e;
  return FSCHED_OK;
}

/* Requires that the heap is not empty. */
static inline fs_heap_entry fs_heap_pop(fs_heap *h) {
  assert(h->n > 0);
  fs_heap_entry top = h->at[0];
  fs_heap_entry e = h->at[--h->n];
  size_t i = 0;
  for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
    if (child + 1 < h->n && fs_heap_less(h->at[child + 1], h->at[child])) {
      child++;
    }
    if (!fs_heap_less(h->at[child], e)) {
      break;
    }
    h->at[i] = h->at[child];
  }
  if (h->n > 0) {
    h->at[i] = e;
  }
  return top;
}

#endif
