/* SPDX-License-Identifier: Apache-2.0 */
#include "modulo/stops/stops.h"

#include <stdlib.h>

#include "base/context.h"

typedef struct stop_maker {
  fsched_context *ctx;
  const fs_stop_order *order;
  const fs_stop_arc *arc;
  uint32_t n_arcs;
  fs_rolled_loop *loop;
  fs_circle_arc *left; /* of the syncs at hand */
  uint32_t *place;     /* of nodes; per sync */
  uint64_t *keep;      /* per sync */
  uint32_t n_full;     /* those at the begin of loop->stop */
  uint32_t *full;      /* places of nodes */
} stop_maker;

static bool is_met(const stop_maker *m, const fs_circle_arc *arc) {
  bool met = false;
  for (uint32_t i = 0; i < m->n_full && !met; i++) {
    met = fs_circle_meets(m->order->n, arc, m->full[i]);
  }
  return met;
}

/* Lists the arcs of a queue, or those that no queue is counted for, which no full sync meets. */
static uint32_t list_arcs(stop_maker *m, uint32_t queue) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->n_arcs; i++) {
    if (m->arc[i].queue == queue && !is_met(m, &m->arc[i].arc)) {
      m->left[n++] = m->arc[i].arc;
    }
  }
  return n;
}

/* The number of a queue's nodes before a place of an unrolled circle. */
static uint64_t count_before(const stop_maker *m, uint32_t queue, uint64_t place) {
  const uint32_t *at = m->order->queue + m->order->queue0[queue];
  uint32_t n = m->order->queue0[queue + 1] - m->order->queue0[queue], k = 0;
  while (k < n && at[k] < place % m->order->n) {
    k++;
  }
  return place / m->order->n * n + k;
}

static bool has_place(const stop_maker *m, uint32_t queue, uint32_t place) {
  return count_before(m, queue, place + (uint64_t)1) > count_before(m, queue, place);
}

/* How many commands of a queue a sync at a place may keep, for an arc that the place meets: those
 * behind what it waits for. */
static uint64_t most_kept(const stop_maker *m, uint32_t queue, const fs_circle_arc *arc,
                          uint32_t place) {
  uint64_t n = m->order->n, end = arc->from + arc->length;
  uint64_t at = end - (end + n - place) % n; /* the last such place before it */
  return count_before(m, queue, at) - count_before(m, queue, arc->from) - 1;
}

/* Whether another sync than that of index `but` keeps an arc. */
static bool is_kept(const stop_maker *m, uint32_t queue, const fs_circle_arc *arc, uint32_t n,
                    uint32_t but) {
  bool kept = false;
  for (uint32_t i = 0; i < n && !kept; i++) {
    kept = i != but && fs_circle_meets(m->order->n, arc, m->place[i]) &&
           m->keep[i] <= most_kept(m, queue, arc, m->place[i]);
  }
  return kept;
}

/* Finds how many commands each of n syncs may keep: first so that each is enough for all that its
 * place meets, then for what the others are not enough for. */
static void find_keeps(const stop_maker *m, uint32_t queue, uint32_t n_arcs, uint32_t n) {
  for (uint32_t turn = 0; turn < 2; turn++) {
    for (uint32_t i = 0; i < n; i++) {
      uint64_t keep = UINT64_MAX;
      for (uint32_t k = 0; k < n_arcs; k++) {
        const fs_circle_arc *arc = &m->left[k];
        if (fs_circle_meets(m->order->n, arc, m->place[i]) &&
            (turn == 0 || !is_kept(m, queue, arc, n, i))) {
          uint64_t most = most_kept(m, queue, arc, m->place[i]);
          keep = most < keep ? most : keep;
        }
      }
      assert(keep <= UINT32_MAX);
      m->keep[i] = keep;
    }
  }
}

static bool has_slow(const stop_maker *m, uint32_t queue) {
  bool slow = false;
  for (uint32_t c = m->loop->command0[queue]; c < m->loop->command0[queue + 1] && !slow; c++) {
    slow = m->loop->command[c].slow;
  }
  return slow;
}

/* Only its own queue's commands wait for a sync any longer where that stands before them, and they
 * come behind what it waits for anyway, unless that is slow.  It stays in its step. */
static void move_up(const stop_maker *m, uint32_t queue, uint32_t *place, uint64_t *keep) {
  for (; *place > 0 && *keep > 0 && has_place(m, queue, *place - 1); --*place, --*keep) {
    for (uint32_t q = 0; q < m->loop->n_queues; q++) {
      if (q != queue && has_place(m, q, *place - 1)) {
        return; /* a gang */
      }
    }
  }
}

static void add_stop(stop_maker *m, uint32_t place, uint32_t queue, uint64_t keep) {
  uint32_t id = queue == FS_NONE ? FS_NONE : m->loop->queue[queue];
  m->loop->stop[m->loop->n_stops++] =
      (fs_rolled_stop){m->order->command[place], id, (uint32_t)keep};
}

static fs_status make_full(stop_maker *m, fs_arena *arena) {
  uint32_t n = list_arcs(m, FS_NONE);
  FS_TRY(fs_circle_stab(m->ctx, m->order->n, m->left, n, m->full, &n));
  uint32_t most = n;
  for (uint32_t i = 0; i < m->n_arcs; i++) {
    most += m->arc[i].queue != FS_NONE;
  }
  FS_TRY(fs_new(arena, &m->loop->stop, most));
  m->n_full = n;
  for (uint32_t i = 0; i < n; i++) {
    add_stop(m, m->full[i], FS_NONE, 0);
  }
  return FSCHED_OK;
}

static fs_status make_counting(stop_maker *m, uint32_t queue) {
  uint32_t n_arcs = list_arcs(m, queue), n;
  FS_TRY(fs_circle_stab(m->ctx, m->order->n, m->left, n_arcs, m->place, &n));
  find_keeps(m, queue, n_arcs, n);
  for (uint32_t i = 0; i < n; i++) {
    if (!has_slow(m, queue)) {
      move_up(m, queue, &m->place[i], &m->keep[i]);
    }
    add_stop(m, m->place[i], queue, m->keep[i]);
  }
  return FSCHED_OK;
}

/* At one place a full sync comes first (FS_NONE + 1 is 0); a queue has one sync at a place. */
static int by_stop_place(const void *a, const void *b) {
  const fs_rolled_stop *x = a, *y = b;
  if (x->at != y->at) {
    return x->at < y->at ? -1 : 1;
  }
  return x->queue + 1 < y->queue + 1 ? -1 : x->queue + 1 > y->queue + 1;
}

static fs_status make_stops(stop_maker *m, fs_arena *arena, fs_arena *scratch) {
  FS_TRY(fs_new(scratch, &m->left, m->n_arcs));
  FS_TRY(fs_new(scratch, &m->place, m->order->n));
  FS_TRY(fs_new(scratch, &m->keep, m->order->n));
  FS_TRY(fs_new(scratch, &m->full, m->order->n));
  FS_TRY(make_full(m, arena));
  for (uint32_t q = 0; q < m->loop->n_queues; q++) {
    FS_TRY(make_counting(m, q));
  }
  if (m->loop->n_stops > 1) {
    qsort(m->loop->stop, m->loop->n_stops, sizeof *m->loop->stop, by_stop_place);
  }
  return FSCHED_OK;
}

fs_status fs_modulo_stops(fsched_context *ctx, fs_arena *arena, const fs_stop_order *order,
                          const fs_stop_arc *arc, uint32_t n_arcs, fs_rolled_loop *loop) {
  for (uint32_t i = 0; i < n_arcs; i++) {
    assert(arc[i].arc.from < order->n &&
           (arc[i].queue == FS_NONE || arc[i].queue < loop->n_queues));
  }
  stop_maker m = {.ctx = ctx, .order = order, .arc = arc, .n_arcs = n_arcs, .loop = loop};
  loop->n_stops = 0;
  FS_SCRATCH(scratch, ctx);
  return make_stops(&m, arena, &scratch);
}
