/* SPDX-License-Identifier: Apache-2.0 */
/* The bound under memory: what a version holds between two of its ops, or else the copies that it
 * needs to be gone, are paid for in a window, in amounts times ticks of its memory, or in ticks of
 * the queues that copy.
 *
 *          amount                                     queues that copy
 *   capacity +------------------------------+         +------------------------------+
 *            | ops     | gaps that are held |         | ops | needed    | copies of  |
 *            |         |                    |         |     | copies    | other gaps |
 *            +------------------------------+ window  +------------------------------+
 *
 * The cheapest choice is a fractional knapsack (Dantzig 1957): gaps leave in the order of what they
 * save for a tick of the queues, until these have no tick left.  Where what stays is more than the
 * memory offers, there is no schedule with such a window.  The work of a window is, as for the
 * other bounds, that of which the heads and tails are at least a head and a tail.
 *
 * O(windows * (gaps + jobs)), and a factor of log(ticks) where a window raises the bound. */
#include <stdlib.h>

#include "base/radix.h"
#include "model/bounds/private.h"

typedef struct memory_trade {
  const fs_bounds_memory *m;
  uint64_t queues; /* that copy; 0: as many as are wanted */
  /* What is not open, in the memory and on the queues. */
  fs_bounds_job *held, *queued;
  uint32_t n_held, n_queued;
  /* Of the window: */
  const fs_bounds_gap **open;
  uint32_t n_open;
  uint64_t held_sum, queued_sum; /* held_sum: with all gaps */
} memory_trade;

/* ---- gaps in order */

static int by_worth(const void *a, const void *b) {
  const fs_bounds_gap *x = a, *y = b;
  uint64_t p = x->saved * y->copies, q = y->saved * x->copies;
  if (p != q) {
    return p > q ? -1 : 1;
  }
  return x->head != y->head     ? (x->head < y->head ? -1 : 1)
         : x->tail != y->tail   ? (x->tail < y->tail ? -1 : 1)
         : x->after != y->after ? (x->after < y->after ? -1 : 1)
                                : (x->saved > y->saved) - (x->saved < y->saved);
}

fs_status fs_bounds_keep_gaps(fs_bounds *b, const fs_bounds_gap *gap, uint32_t n,
                              fs_bounds_memory *m) {
  m->n_gaps = 0;
  FS_TRY(fs_new(b->arena, &m->gap, n));
  uint64_t most_saved = 0, most_copies = 0;
  for (uint32_t i = 0; i < n; i++) {
    most_saved = fs_max(most_saved, gap[i].saved);
    most_copies = fs_max(most_copies, gap[i].copies);
  }
  if (fs_multiply_most(most_saved, fs_max(most_copies, 1)) == UINT64_MAX) {
    return FSCHED_OK; /* what is worth more is not told */
  }
  for (uint32_t i = 0; i < n; i++) {
    m->gap[m->n_gaps++] = gap[i];
  }
  if (n > 1) {
    qsort(m->gap, n, sizeof *m->gap, by_worth);
  }
  return FSCHED_OK;
}

/* ---- a window */

/* What leaves of a gap when so many ticks of its copies are left, rounded up. */
static uint64_t part_of(const fs_bounds_gap *gap, fs_tick left) {
  return fs_ceil_div(gap->saved * left, gap->copies);
}

/* Is a window of so many ticks too short? */
static bool too_short(const memory_trade *t, fs_tick ticks) {
  uint64_t offer = fs_multiply_most(t->m->capacity, ticks), sum = t->held_sum;
  uint64_t left = t->queues == 0 ? UINT64_MAX : fs_multiply_most(t->queues, ticks);
  if (t->queued_sum > left) {
    return true;
  }
  left -= t->queued_sum;
  for (uint32_t i = 0; i < t->n_open && sum > offer; i++) {
    const fs_bounds_gap *gap = t->open[i];
    if (gap->copies > left) {
      sum -= part_of(gap, left);
      break;
    }
    sum -= gap->saved;
    left -= gap->copies;
  }
  return sum > offer;
}

static uint64_t sum_of(const fs_bounds_job *job, uint32_t n, fs_tick head, fs_tick tail) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < n; i++) {
    sum = job[i].head >= head && job[i].tail >= tail ? fs_add_most(sum, job[i].work) : sum;
  }
  return sum;
}

static void open_window(memory_trade *t, fs_tick head, fs_tick tail) {
  t->n_open = 0;
  t->held_sum = sum_of(t->held, t->n_held, head, tail);
  t->queued_sum = sum_of(t->queued, t->n_queued, head, tail);
  for (uint32_t i = 0; i < t->m->n_gaps; i++) {
    const fs_bounds_gap *gap = &t->m->gap[i];
    if (gap->after <= head && gap->head >= head && gap->tail >= tail) {
      t->open[t->n_open++] = gap;
      t->held_sum = fs_add_most(t->held_sum, gap->saved);
    }
  }
}

/* Raises *out to the least makespan that leaves the window enough ticks. */
static void raise_by_window(memory_trade *t, fs_tick head, fs_tick tail, fs_tick *out) {
  fs_tick sides = fs_add_most(head, tail), low = *out > sides ? *out - sides : 0;
  open_window(t, head, tail);
  if (t->held_sum >> 62 != 0 || t->queued_sum >> 62 != 0 || low == 0 || !too_short(t, low - 1)) {
    return;
  }
  fs_tick high = fs_max(fs_ceil_div(t->held_sum, t->m->capacity), low);
  high = t->queues == 0 ? high : fs_max(high, fs_ceil_div(t->queued_sum, t->queues));
  while (low < high) {
    fs_tick middle = low + (high - low) / 2;
    if (too_short(t, middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *out = fs_max(*out, fs_add_most(sides, low));
}

/* ---- windows */

static fs_status list_held(const fs_bounds *b, memory_trade *t) {
  const fs_bounds_memory *m = t->m;
  FS_TRY(fs_new(b->arena, &t->held, (size_t)m->n_held + m->n_jobs));
  for (uint32_t i = 0; i < m->n_held; i++) {
    uint32_t op = m->held_op[i];
    uint64_t work = fs_multiply_most(fs_op_latency(b->g, op), m->held_amount[i]);
    t->held[t->n_held++] = (fs_bounds_job){b->head[op], b->tail[op], work};
  }
  for (uint32_t i = 0; i < m->n_jobs; i++) {
    t->held[t->n_held++] = m->job[i];
  }
  return FSCHED_OK;
}

static fs_status list_queued(fs_bounds *b, uint32_t domain, memory_trade *t) {
  uint64_t most = 0;
  FS_TRY(fs_bounds_add_domain(b, domain, &t->queues, &most));
  t->n_queued = (uint32_t)b->jobs.n;
  b->jobs.n = 0;
  FS_TRY(fs_new(b->arena, &t->queued, t->n_queued));
  for (uint32_t i = 0; i < t->n_queued; i++) {
    t->queued[i] = b->jobs.at[i];
  }
  return FSCHED_OK;
}

/* Lists some of the numbers, distinct, ascending: 0, and as many others as are wanted at most. */
static uint32_t pick(fs_tick *at, uint32_t n, uint32_t wanted) {
  uint32_t distinct = 1, kept = 1;
  qsort(at, n, sizeof *at, fs_compare_u64);
  for (uint32_t i = 1; i < n; i++) {
    if (at[i] != at[distinct - 1]) {
      at[distinct++] = at[i];
    }
  }
  uint32_t step = (distinct - 1) / wanted + 1;
  for (uint32_t i = step; i < distinct; i += step) {
    at[kept++] = at[i];
  }
  return kept;
}

static fs_status trade_in(fs_bounds *b, memory_trade *t, fs_tick *out) {
  uint32_t n = t->m->n_gaps;
  fs_tick *head, *tail;
  FS_TRY(fs_new(b->arena, &t->open, n));
  FS_TRY(fs_new_zero(b->arena, &head, (size_t)n + 1));
  FS_TRY(fs_new_zero(b->arena, &tail, (size_t)n + 1));
  for (uint32_t i = 0; i < n; i++) {
    head[i + 1] = t->m->gap[i].head;
    tail[i + 1] = t->m->gap[i].tail;
  }
  uint64_t steps = fs_limits_of(b->ctx)->bound_steps;
  uint32_t windows = 1, most;
  while ((uint64_t)(windows + 1) * (windows + 1) * (n + t->n_held + t->n_queued) <= steps) {
    windows++;
  }
  most = windows;
  uint32_t n_heads = pick(head, n + 1, most), n_tails = pick(tail, n + 1, most);
  for (uint32_t i = 0; i < n_heads; i++) {
    for (uint32_t k = 0; k < n_tails; k++) {
      raise_by_window(t, head[i], tail[k], out);
    }
  }
  return FSCHED_OK;
}

fs_status fs_bounds_trades(fs_bounds *b, fs_tick *out) {
  assert(b->memory != NULL && b->jobs.n == 0);
  const fs_target *target = &b->g->target;
  for (uint32_t k = 0; k < target->n_memories; k++) {
    fs_arena_mark mark = fs_arena_set_mark(b->arena);
    memory_trade t = {.m = &b->memory[k]};
    if (t.m->n_gaps > 0 && t.m->capacity > 0) {
      FS_TRY(list_held(b, &t));
      FS_TRY(list_queued(b, target->memory[k].spill_domain, &t));
      FS_TRY(trade_in(b, &t, out));
    }
    fs_arena_reset(b->arena, mark);
  }
  return FSCHED_OK;
}
