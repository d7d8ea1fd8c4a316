/* SPDX-License-Identifier: Apache-2.0 */
#include "search/generation/levels.h"

fs_status fs_levels_init(fs_memory_levels *l, uint64_t capacity, uint32_t changes,
                         fs_arena *arena) {
  assert(capacity <= (uint64_t)1 << 62);
  *l = (fs_memory_levels){.capacity = capacity, .most = changes + 1};
  FS_TRY(fs_new(arena, &l->time, l->most));
  return fs_new(arena, &l->level, l->most);
}

void fs_levels_reset(fs_memory_levels *l, uint64_t level) {
  assert(level <= l->capacity);
  l->n = 1;
  l->time[0] = 0;
  l->level[0] = level;
}

/* The last moment that is not behind t. */
static uint32_t moment_at(const fs_memory_levels *l, fs_tick t) {
  uint32_t low = 0, high = l->n;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    bool later = l->time[middle] > t;
    high = later ? middle : high;
    low = later ? low : middle;
  }
  return low;
}

/* Puts a moment at t, unless it is there, and returns its index. */
static uint32_t split_at(fs_memory_levels *l, fs_tick t) {
  uint32_t k = moment_at(l, t);
  if (l->time[k] == t) {
    return k;
  }
  assert(l->n < l->most);
  k++;
  memmove(l->time + k + 1, l->time + k, (l->n - k) * sizeof *l->time);
  memmove(l->level + k + 1, l->level + k, (l->n - k) * sizeof *l->level);
  l->time[k] = t;
  l->level[k] = l->level[k - 1];
  l->n++;
  return k;
}

void fs_levels_add(fs_memory_levels *l, fs_tick from, fs_tick to, int64_t amount) {
  assert(l->n > 0 && from <= to);
  uint32_t k = split_at(l, from), end = to == FS_TICK_NONE ? l->n : split_at(l, to);
  for (; k < end; k++) {
    l->level[k] += (uint64_t)amount;
    assert(l->level[k] <= l->capacity);
  }
}

fs_tick fs_levels_for_ever(const fs_memory_levels *l, fs_tick t, uint64_t most) {
  assert(fs_levels_ever(l, most));
  uint32_t k = l->n - 1;
  while (l->time[k] > t && l->level[k - 1] <= most) {
    k--;
  }
  return fs_max(l->time[k], t);
}

fs_tick fs_levels_for(const fs_memory_levels *l, fs_tick t, fs_tick time, uint64_t most) {
  assert(fs_levels_ever(l, most));
  for (uint32_t k = moment_at(l, t); k < l->n && (l->time[k] < t + time || l->time[k] <= t); k++) {
    t = l->level[k] > most ? l->time[k + 1] : t;
  }
  return t;
}
