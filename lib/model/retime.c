/* SPDX-License-Identifier: Apache-2.0 */
/* A residency moves with its accesses: it begins with the first and ends with the last.  The
 * orderings between accesses, which hold for any times, limit its begin and end, so rectangles stay
 * disjoint:
 *
 *     before   |--w1----r1--||--w2--r2--|        r1 before w2 by a control edge
 *     after    |--w1--------r1--|  |--w2--------r2--|
 *
 * Exceptions: given content without a store is there from 0, and content that is kept stays to the
 * new makespan.  In a bounded backing store a copy ends with its last read or write, not with the
 * death of its version, since control edges know only of accesses.
 *
 * Residencies are renumbered in the order of the items that begin them, which may have changed. */
#include "model/retime.h"

#include "base/radix.h"
#include "model/access.h"
#include "model/issue_order.h"

typedef struct retimer {
  fsched_context *ctx;
  fs_schedule *s;
  fs_sync *y;
  fs_arena *scratch;
  fs_accesses acc;
} retimer;

/* An op whose start is given cannot be late. */
static fs_status check_given(const retimer *t, const fs_tick *start) {
  const fsched_graph *g = t->s->graph;
  for (uint32_t op = 0; g->op_start != NULL && op < g->n_ops; op++) {
    if (g->op_start[op] != FS_TICK_NONE && g->op_start[op] != start[op]) {
      return fs_fail(t->ctx, FSCHED_INFEASIBLE, FS_DIAG_NO_SCHEDULE, fs_op_pos(t->ctx, g, op), NULL,
                     "no schedule was found: op '%s' has the given start %llu, and its syncs hold "
                     "it back until %llu",
                     g->op_name[op], (unsigned long long)g->op_start[op],
                     (unsigned long long)start[op]);
    }
  }
  return FSCHED_OK;
}

static void move_items(retimer *t, const fs_tick *start, const uint32_t *order) {
  fs_schedule *s = t->s;
  s->makespan = 0;
  for (uint32_t i = 0; i < s->n_items; i++) {
    s->end[i] = start[i] + (s->end[i] - s->start[i]);
    s->start[i] = start[i];
    s->makespan = fs_max(s->makespan, s->end[i]);
  }
  for (uint32_t i = 0; i < s->n_items; i++) {
    assert(i == 0 || s->start[order[i - 1]] <= s->start[order[i]]);
    s->order[i] = order[i];
    t->y->position[order[i]] = i;
  }
}

/* --- residencies --- */

/* `before`: the former makespan. */
static void move_residency(const retimer *t, uint32_t r, fs_tick before) {
  assert(r < t->s->n_residencies);
  fs_schedule *s = t->s;
  const fs_accesses *acc = &t->acc;
  uint32_t first = acc->res0[r];
  uint32_t last = acc->res0[r + 1];
  assert(first < last || fs_residency_given(s, r));
  s->res_begin[r] = fs_residency_given(s, r) ? 0 : s->start[acc->item[first]];
  fs_tick end = first == last && s->res_end[r] < before ? s->res_end[r] : s->res_begin[r];
  for (uint32_t i = first; i < last; i++) {
    end = fs_max(end, s->end[acc->item[i]]);
  }
  assert(s->res_begin[r] <= end);
  bool whole = first == last && s->res_end[r] == before;
  s->res_end[r] = whole || fs_residency_stays(s, r) ? s->makespan : end;
}

/* Renames the owners of memory lanes, which are residencies. */
static fs_status rename_lanes(retimer *t, const uint32_t *to) {
  fs_sync *y = t->y;
  fs_lane *old;
  uint64_t *keys;
  FS_TRY(fs_new(t->scratch, &old, y->n_lanes));
  FS_TRY(fs_new(t->scratch, &keys, 2 * (size_t)y->n_lanes));
  for (uint32_t begin = 0, end; begin < y->n_lanes; begin = end) {
    const fs_lane *group = &y->lane[begin];
    for (end = begin;
         end < y->n_lanes && y->lane[end].kind == group->kind && y->lane[end].index == group->index;
         end++) {
      old[end] = y->lane[end];
      assert(group->kind != FS_LANE_MEMORY || old[end].owner < t->s->n_residencies);
      old[end].owner = group->kind == FS_LANE_MEMORY ? to[old[end].owner] : old[end].owner;
      keys[end - begin] = (uint64_t)old[end].owner << 32 | (end - begin);
    }
    fs_radix_sort(keys, keys + y->n_lanes, end - begin);
    for (uint32_t i = begin; i < end; i++) {
      y->lane[i] = old[begin + (uint32_t)keys[i - begin]];
    }
  }
  return FSCHED_OK;
}

static fs_status number_residencies(retimer *t) {
  const fs_schedule *s = t->s;
  uint32_t n = s->n_residencies;
  uint64_t *keys;
  uint32_t *from;
  uint32_t *to;
  FS_TRY(fs_new(t->scratch, &keys, 2 * (size_t)n));
  FS_TRY(fs_new(t->scratch, &from, n));
  FS_TRY(fs_new(t->scratch, &to, n));
  for (uint32_t r = 0; r < n; r++) {
    uint32_t begins =
        fs_residency_given(s, r) ? 0 : 1 + t->y->position[t->acc.item[t->acc.res0[r]]];
    keys[r] = (uint64_t)begins << 32 | r;
  }
  fs_radix_sort(keys, keys + n, n);
  bool same = true;
  for (uint32_t r = 0; r < n; r++) {
    from[r] = (uint32_t)keys[r];
    to[from[r]] = r;
    same = same && from[r] == r;
  }
  if (same) {
    return FSCHED_OK;
  }
  FS_TRY(fs_schedule_renumber_residencies(t->s, t->scratch, from, to));
  return rename_lanes(t, to);
}

/* --- control edges --- */

static uint64_t control_key(const fs_sync *y, uint32_t edge) {
  return fs_control_key(y->position[y->control_from[edge]], y->position[y->control_to[edge]],
                        (fs_why)y->control_why[edge]);
}

static bool control_ascends(const fs_sync *y) {
  uint64_t last = 0;
  bool ascends = true;
  for (uint32_t i = 0; i < y->n_control && ascends; i++) {
    uint64_t key = control_key(y, i);
    ascends = last <= key;
    last = key;
  }
  return ascends;
}

static fs_status sort_control(retimer *t) {
  fs_sync *y = t->y;
  const fs_schedule *s = t->s;
  uint64_t *keys;
  if (control_ascends(y)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(t->scratch, &keys, 2 * (size_t)y->n_control));
  for (uint32_t i = 0; i < y->n_control; i++) {
    keys[i] = control_key(y, i);
  }
  fs_radix_sort(keys, keys + y->n_control, y->n_control);
  for (uint32_t i = 0; i < y->n_control; i++) {
    y->control_to[i] = s->order[fs_control_key_to(keys[i])];
    y->control_from[i] = s->order[fs_control_key_from(keys[i])];
    y->control_why[i] = (uint8_t)fs_control_key_why(keys[i]);
  }
  return FSCHED_OK;
}

static fs_status retime_schedule(retimer *t, const fs_tick *start, const uint32_t *order) {
  FS_TRY(check_given(t, start));
  fs_tick before = t->s->makespan;
  move_items(t, start, order);
  FS_TRY(fs_accesses_collect(t->ctx, t->s, t->y->kind, t->scratch, t->scratch, &t->acc));
  for (uint32_t r = 0; r < t->s->n_residencies; r++) {
    move_residency(t, r, before);
  }
  FS_TRY(number_residencies(t));
  return sort_control(t);
}

fs_status fs_retime(fsched_context *ctx, fs_schedule *s, fs_sync *sync, const fs_tick *start,
                    const uint32_t *order) {
  assert(s->n_items == s->graph->n_ops + s->n_copies && sync != NULL);
  FS_SCRATCH(scratch, ctx);
  retimer t = {.ctx = ctx, .s = s, .y = sync, .scratch = &scratch};
  return retime_schedule(&t, start, order);
}
