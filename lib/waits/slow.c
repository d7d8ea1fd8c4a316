/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/slow.h"

static uint32_t count_axis(const fs_slow_axes *s, uint32_t queue) {
  return s->n_queues + s->n + queue;
}

static bool is_slow(const fs_sync *y, uint32_t command) {
  return fs_item_slow(y->schedule, y->command_item[command]);
}

static fs_status list_slow(fs_arena *arena, fs_slow_axes *s) {
  const fs_sync *y = s->sync;
  FS_TRY(fs_new_none(arena, &s->axis, y->n_commands));
  FS_TRY(fs_new(arena, &s->slow0, (size_t)s->n_queues + 1));
  FS_TRY(fs_new(arena, &s->slow, y->n_commands));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    s->slow0[q] = s->n;
    for (uint32_t c = y->queue_command0[q]; c < y->queue_command0[q + 1]; c++) {
      if (is_slow(y, c)) {
        s->axis[c] = s->n_queues + s->n;
        s->slow[s->n++] = c;
      }
    }
  }
  s->slow0[s->n_queues] = s->n;
  return FSCHED_OK;
}

fs_status fs_slow_find(fs_arena *arena, const fs_sync *sync, bool apart, fs_slow_axes *out) {
  assert(sync->queue_command0 != NULL);
  const fsched_graph *g = sync->schedule->graph;
  *out = (fs_slow_axes){.sync = sync, .n_queues = sync->schedule->n_queues};
  out->any = apart && fs_graph_first_slow(g) != FS_NONE;
  return out->any ? list_slow(arena, out) : FSCHED_OK;
}

fs_status fs_slow_settle(const fs_slow_axes *s, fs_clocks *c, fs_clock *clock) {
  assert(s->any);
  for (uint32_t q = 0; q < s->n_queues; q++) {
    uint32_t n = s->slow0[q + 1] - s->slow0[q], before, known;
    if (n == 0) {
      continue;
    }
    before = known = fs_clock_get(c, *clock, count_axis(s, q));
    while (known < n && fs_clock_get(c, *clock, s->axis[s->slow[s->slow0[q] + known]]) > 0) {
      known++;
    }
    if (known > before) {
      FS_TRY(fs_clock_raise(c, clock, count_axis(s, q), known));
    }
  }
  return FSCHED_OK;
}

uint32_t fs_slow_known(const fs_slow_axes *s, const fs_clocks *c, fs_clock clock, uint32_t queue) {
  assert(queue < s->n_queues);
  uint32_t quick = fs_clock_get(c, clock, queue);
  if (!s->any) {
    return quick;
  }
  uint32_t first = s->sync->queue_command0[queue];
  uint32_t known = s->slow0[queue] + fs_clock_get(c, clock, count_axis(s, queue));
  /* All slow commands before this one are over. */
  uint32_t limit = known < s->slow0[queue + 1] ? s->slow[known] - first
                                               : s->sync->queue_command0[queue + 1] - first;
  while (quick < limit && s->axis[first + quick] != FS_NONE) {
    quick++;
  }
  return (uint32_t)fs_min(quick, limit);
}
