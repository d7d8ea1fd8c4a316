/* SPDX-License-Identifier: Apache-2.0 */
/* Peaks and extents of memories.
 *
 * Peaks by a sweep over the items in order of issue, memory by memory: a residency is there from
 * the first item that touches it to the last one, and as long as its time lasts.  So what takes no
 * time is there for its item, beside all that is there then:
 *
 *     position   0    1    2    3        x [0, 5) is there for 0 to 2, as 2 begins at 5 and reads
 * x, item       a    b    c    d        y [5, 5) for 2 and 3, z [5, 9) for 3 start      0    3    5
 * 5
 *
 * A cover has the addresses that are in use. */
#include <string.h>

#include "base/group.h"
#include "base/heap.h"
#include "model/cover.h"
#include "model/schedule.h"

typedef struct peak_finder {
  fsched_context *ctx;
  const fs_schedule *s;
  fs_stays stays;
  fs_heap events; /* of one memory, by position; id: 2 * residency, plus 1 for its begin */
} peak_finder;

/* ---- from which item to which a residency is there */

static void touch_residency(const fs_stays *x, uint32_t residency, uint32_t position) {
  if (residency != FS_NONE) {
    x->from[residency] = fs_min(x->from[residency], position);
    x->to[residency] = position + 1;
  }
}

static void touch_residencies(const fs_schedule *s, const fs_stays *x) {
  const fsched_graph *g = s->graph;
  for (uint32_t k = 0; k < s->n_items; k++) {
    uint32_t item = s->order[k];
    if (fs_item_is_copy(s, item)) {
      touch_residency(x, s->copy_residency[item - g->n_ops], k);
      touch_residency(x, s->copy_store[item - g->n_ops], k);
      continue;
    }
    for (uint32_t a = g->op_arg0[item]; a < g->op_arg0[item + 1]; a++) {
      touch_residency(x, s->arg_residency[a], k);
    }
    for (uint32_t i = g->op_scratch0[item]; i < g->op_scratch0[item + 1]; i++) {
      touch_residency(x, s->scratch_residency[i], k);
    }
  }
}

/* The number of items that start before a time. */
static uint32_t items_before(const fs_schedule *s, fs_tick time) {
  uint32_t low = 0, high = s->n_items;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (s->start[s->order[middle]] < time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

fs_status fs_schedule_stays(const fs_schedule *s, fs_arena *arena, fs_stays *out) {
  assert(s->order != NULL || s->n_items == 0);
  FS_TRY(fs_new_none(arena, &out->from, s->n_residencies));
  FS_TRY(fs_new_zero(arena, &out->to, s->n_residencies));
  touch_residencies(s, out);
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    bool given = s->res_begin[r] == 0 && fs_residency_given(s, r);
    uint32_t last = fs_residency_stays(s, r) ? s->n_items : items_before(s, s->res_end[r]);
    bool first = given || out->from[r] == FS_NONE; /* of those that begin then */
    out->from[r] = first ? items_before(s, s->res_begin[r]) : out->from[r];
    out->to[r] = fs_max(fs_max(out->to[r], last), out->from[r] + 1);
  }
  return FSCHED_OK;
}

/* ---- peaks */

/* At one position, what is over goes before anything begins. */
static fs_status push_events(peak_finder *f, const uint32_t *residency, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t r = residency[i];
    if (f->s->res_size[r] > 0) {
      FS_TRY(fs_heap_push(f->ctx, &f->events, (uint64_t)f->stays.from[r] * 2 + 1, r * 2 + 1));
      FS_TRY(fs_heap_push(f->ctx, &f->events, (uint64_t)f->stays.to[r] * 2, r * 2));
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
    if (s->res_size[residency[i]] > 0) {
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
  FS_TRY(fs_schedule_stays(s, &arena, &f.stays));
  fs_status status = find_peaks(&f, residency0, residency, per_memory);
  fs_vec_free(ctx, &f.events);
  return status;
}

void fs_schedule_extents(const fs_schedule *s, uint64_t *per_memory) {
  assert(per_memory != NULL || s->graph->target.n_memories == 0);
  memset(per_memory, 0, s->graph->target.n_memories * sizeof *per_memory);
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    uint32_t m = s->res_memory[r];
    if (fs_placement_has_addresses(s->graph->target.memory[m].placement)) {
      per_memory[m] = fs_max(per_memory[m], s->res_address[r] + s->res_size[r]);
    }
  }
}
