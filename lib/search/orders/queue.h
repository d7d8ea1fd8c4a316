/* SPDX-License-Identifier: Apache-2.0 */
/* A queue whose items come in any order of time: when it is free at last, and its latest gaps. */
#ifndef FS_ORDERS_QUEUE_H
#define FS_ORDERS_QUEUE_H

#include "base/base.h"

enum { FS_ORDER_GAPS = 16 };

typedef struct fs_order_gap {
  fs_tick begin, end;
} fs_order_gap;

typedef struct fs_order_queue {
  fs_tick free; /* behind its last item */
  uint32_t n_gaps;
  fs_order_gap gap[FS_ORDER_GAPS]; /* ascending */
} fs_order_queue;

/* When an item of that length can start at the earliest, from `ready` on. */
static inline fs_tick fs_order_queue_earliest(const fs_order_queue *l, fs_tick ready,
                                              fs_tick time) {
  for (uint32_t i = 0; time > 0 && i < l->n_gaps; i++) {
    fs_tick start = fs_max(ready, l->gap[i].begin);
    if (start + time <= l->gap[i].end) {
      return start;
    }
  }
  return fs_max(ready, l->free);
}
/* Requires a start that fs_order_queue_earliest gave for that time, or for a later `ready`. */
void fs_order_queue_take(fs_order_queue *l, fs_tick start, fs_tick time);

#endif
