/* SPDX-License-Identifier: Apache-2.0 */
#include "search/orders/queue.h"

#include <string.h>

/* Where there is no room for a further gap the first one goes. */
static void add_gap(fs_order_queue *l, uint32_t at, fs_tick begin, fs_tick end) {
  assert(at <= l->n_gaps && begin < end);
  if (l->n_gaps == FS_ORDER_GAPS) {
    if (at == 0) {
      return;
    }
    memmove(l->gap, l->gap + 1, (--l->n_gaps) * sizeof *l->gap);
    at--;
  }
  memmove(l->gap + at + 1, l->gap + at, (l->n_gaps++ - at) * sizeof *l->gap);
  l->gap[at] = (fs_order_gap){begin, end};
}

void fs_order_queue_take(fs_order_queue *l, fs_tick start, fs_tick time) {
  assert(start + time >= start);
  if (start >= l->free) {
    if (start > l->free) {
      add_gap(l, l->n_gaps, l->free, start);
    }
    l->free = start + time;
    return;
  }
  uint32_t i = 0;
  while (i < l->n_gaps && l->gap[i].end < start + time) {
    i++;
  }
  assert(i < l->n_gaps && l->gap[i].begin <= start);
  fs_tick end = l->gap[i].end;
  l->gap[i].end = start;
  bool before = l->gap[i].begin < start;
  if (!before) {
    memmove(l->gap + i, l->gap + i + 1, (--l->n_gaps - i) * sizeof *l->gap);
  }
  if (start + time < end) {
    add_gap(l, i + before, start + time, end);
  }
}
