/* SPDX-License-Identifier: Apache-2.0 */
/* Peaks and extents of memories.  Peaks by a sweep over the begins and ends of residencies, memory
 * by memory: a cover has the addresses that are in use. */
#include <string.h>

#include "base/group.h"
#include "base/heap.h"
#include "model/cover.h"
#include "model/schedule.h"

typedef struct peak_finder {
  fsched_context *ctx;
  const fs_schedule *s;
  fs_heap events; /* of one memory; id: 2 * residency, plus 1 for its begin */
} peak_finder;

static bool lives(const fs_schedule *s, uint32_t r) {
  return s->res_size[r] > 0 && s->res_begin[r] < s->res_end[r];
}

/* Ends come before begins of the same time. */
static fs_status push_events(peak_finder *f, const uint32_t *residency, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t r = residency[i];
    if (lives(f->s, r)) {
      FS_TRY(fs_heap_push(f->ctx, &f->events, f->s->res_begin[r] * 2 + 1, r * 2 + 1));
      FS_TRY(fs_heap_push(f->ctx, &f->events, f->s->res_end[r] * 2, r * 2));
    }
  }
  return FSCHED_OK;
}

static uint64_t counted_peak(peak_finder *f) {
  uint64_t level = 0, peak = 0;
  while (f->events.n > 0) {
    uint32_t id = fs_heap_pop(&f->events).id;
    uint64_t size = f->s->res_size[id / 2];
    level += id % 2 != 0 ? size : (uint64_t)0 - size;
    peak = fs_max(peak, level);
  }
  assert(level == 0);
  return peak;
}

static fs_status covered_peak(peak_finder *f, const uint32_t *residency, uint32_t n,
                              uint64_t *peak) {
  const fs_schedule *s = f->s;
  FS_SCRATCH(arena, f->ctx);
  uint64_t *border;
  uint32_t borders = 0;
  FS_TRY(fs_new(&arena, &border, 4 * (size_t)n));
  for (uint32_t i = 0; i < n; i++) {
    if (lives(s, residency[i])) {
      border[borders++] = s->res_address[residency[i]];
      border[borders++] = s->res_address[residency[i]] + s->res_size[residency[i]];
    }
  }
  fs_cover cover;
  FS_TRY(fs_cover_init(&cover, &arena, border, borders));
  while (f->events.n > 0) {
    uint32_t id = fs_heap_pop(&f->events).id;
    fs_cover_change(&cover, s->res_address[id / 2], s->res_size[id / 2], id % 2 != 0);
    *peak = fs_max(*peak, fs_cover_bytes(&cover));
  }
  return FSCHED_OK;
}

static fs_status find_peaks(peak_finder *f, const uint32_t *residency0, const uint32_t *residency,
                            uint64_t *per_memory) {
  for (uint32_t m = 0; m < f->s->graph->target.n_memories; m++) {
    const uint32_t *first = residency + residency0[m];
    uint32_t n = residency0[m + 1] - residency0[m];
    per_memory[m] = 0;
    FS_TRY(push_events(f, first, n));
    if (fs_placement_has_addresses(f->s->graph->target.memory[m].placement)) {
      FS_TRY(covered_peak(f, first, n, &per_memory[m]));
    } else {
      per_memory[m] = counted_peak(f);
    }
  }
  return FSCHED_OK;
}

fs_status fs_schedule_peaks(fsched_context *ctx, const fs_schedule *s, uint64_t *per_memory) {
  assert(per_memory != NULL || s->graph->target.n_memories == 0);
  FS_SCRATCH(arena, ctx);
  uint32_t *residency0, *residency;
  FS_TRY(fs_group(&arena, s->res_memory, s->n_residencies, s->graph->target.n_memories, &residency0,
                  &residency));
  peak_finder f = {.ctx = ctx, .s = s};
  fs_status status = find_peaks(&f, residency0, residency, per_memory);
  fs_vec_free(ctx, &f.events);
  return status;
}

void fs_schedule_extents(const fs_schedule *s, uint64_t *per_memory) {
  assert(per_memory != NULL || s->graph->target.n_memories == 0);
  memset(per_memory, 0, s->graph->target.n_memories * sizeof *per_memory);
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    uint32_t m = s->res_memory[r];
    if (lives(s, r) && fs_placement_has_addresses(s->graph->target.memory[m].placement)) {
      per_memory[m] = fs_max(per_memory[m], s->res_address[r] + s->res_size[r]);
    }
  }
}
