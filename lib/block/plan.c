/* SPDX-License-Identifier: Apache-2.0 */
/* Stops.  The first item of each phase has a full sync before it: it meets the needs of that phase,
 * and other needs at no cost.  Stabbing (stab.c) checks that these syncs are enough: with phases as
 * orders.h has them, none is missing.  Then, in order of issue, an item whose need of a counting
 * queue no sync so far has met gets a counting sync just before it:
 *
 *     load0 load1 load2 |keep 2| use0 load3 |keep 2| use1       use_i needs load_i
 *
 * Just before means that as much as possible has been issued to the queue, so `keep` is as large as
 * the need allows; needs that an earlier sync has met are not asked for again.
 *
 * Times.  The sequencer passes a stop when the commands that it waits for are over; an item starts
 * when it has been issued, its queues are free and its predecessors in plan orders are over, but
 * not before its planned start without stops.  Queues are free before a slow item is over, so a
 * counting sync waits for the latest end of all that it tells of. */
#include "block/plan.h"

#include "base/radix.h"
#include "block/stab.h"

typedef struct filler {
  fsched_context *ctx;
  fs_arena *scratch;
  const fs_orders *o;
  fs_block_plan *p;
  uint32_t *known;  /* per queue: the epoch up to which counting syncs have waited */
  uint32_t *issued; /* per queue */
  uint32_t *wanted; /* per queue: the epoch that the current item needs */
  FS_VEC(fs_stop) stop;
  FS_VEC(uint64_t) want; /* counting queues the item needs, twice as long for sorting */
} filler;

/* --- order --- */

static fs_status order_items(filler *f, fs_arena *arena) {
  const fs_schedule *s = f->o->s;
  const fs_sync *y = f->o->y;
  uint64_t *key;
  FS_TRY(fs_new(f->scratch, &key, 2 * (size_t)s->n_items));
  FS_TRY(fs_new(arena, &f->p->order, s->n_items));
  FS_TRY(fs_new(arena, &f->p->at, s->n_items));
  for (uint32_t i = 0; i < s->n_items; i++) {
    key[i] = (uint64_t)f->p->phase[s->order[i]] << 32 | i;
  }
  fs_radix_sort(key, key + s->n_items, s->n_items);
  uint32_t at = 0;
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t item = s->order[(uint32_t)key[i]];
    f->p->order[i] = item;
    f->p->at[item] = at;
    at += y->item_command0[item + 1] - y->item_command0[item];
  }
  return FSCHED_OK;
}

/* --- full syncs --- */

/* The full syncs where phases begin, and the extra ones; without repeats. */
static uint32_t given_syncs(const filler *f, const uint32_t *extra, uint32_t n_extra,
                            uint32_t *out) {
  const fs_block_plan *p = f->p;
  uint32_t n = 0;
  uint32_t e = 0;
  for (uint32_t i = 1; i < f->o->s->n_items; i++) {
    if (p->phase[p->order[i]] == p->phase[p->order[i - 1]]) {
      continue;
    }
    uint32_t at = p->at[p->order[i]];
    for (; e < n_extra && extra[e] <= at; e++) {
      out[n] = extra[e];
      n += extra[e] != at;
    }
    out[n++] = at;
  }
  for (; e < n_extra; e++) {
    out[n++] = extra[e];
  }
  return n;
}

static uint32_t count_phases(const filler *f) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->o->s->n_items; i++) {
    n = f->p->phase[i] >= n ? f->p->phase[i] + 1 : n;
  }
  return n;
}

/* Collects the needs that only a full sync meets. */
static fs_status full_spans(filler *f, fs_hazard_span **out, uint32_t *n_out) {
  const fs_orders *o = f->o;
  uint32_t n = 0;
  FS_TRY(fs_new(f->scratch, out, o->edge0[o->s->n_items]));
  for (uint32_t to = 0; to < o->s->n_items; to++) {
    for (uint32_t e = o->edge0[to]; e < o->edge0[to + 1]; e++) {
      if (o->edge[e].full) {
        (*out)[n++] = (fs_hazard_span){f->p->at[o->edge[e].from], f->p->at[to]};
      }
    }
  }
  *n_out = n;
  return FSCHED_OK;
}

static void merge(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b, uint32_t *out) {
  for (uint32_t i = 0, j = 0; i < n_a || j < n_b;) {
    bool first = j == n_b || (i < n_a && a[i] < b[j]);
    out[i + j] = first ? a[i] : b[j];
    i += first;
    j += !first;
  }
}

static fs_status full_syncs(filler *f, fs_arena *arena, const uint32_t *extra, uint32_t n_extra) {
  fs_block_plan *p = f->p;
  fs_hazard_span *span;
  uint32_t n_spans;
  uint32_t *given;
  uint32_t *more;
  uint32_t n_more = 0;
  FS_TRY(full_spans(f, &span, &n_spans));
  FS_TRY(fs_new(f->scratch, &given, (size_t)count_phases(f) + n_extra));
  FS_TRY(fs_new(f->scratch, &more, n_spans));
  uint32_t n_given = given_syncs(f, extra, n_extra, given);
  FS_TRY(fs_block_stab(f->ctx, span, n_spans, given, n_given, more, &n_more));
  assert(n_more == 0);
  p->n_full = n_given + n_more;
  FS_TRY(fs_new(arena, &p->full, p->n_full));
  merge(given, n_given, more, n_more, p->full);
  return FSCHED_OK;
}

/* --- counting syncs, times --- */

/* Collects the item's needs of counting queues that no sync has met: distinct queues in `want`,
 * epochs in `wanted`.  `after`: where the latest full sync is. */
static fs_status want_of(filler *f, uint32_t item, uint32_t after) {
  const fs_orders *o = f->o;
  f->want.n = 0;
  for (uint32_t i = o->need0[item]; i < o->need0[item + 1]; i++) {
    fs_epoch_need need = o->need[i];
    if (!fs_queue_counting(o->s, need.queue) || need.epoch <= f->known[need.queue] ||
        f->p->at[fs_need_item(o->y, need)] < after) {
      continue;
    }
    if (f->wanted[need.queue] == 0) {
      FS_TRY(fs_vec_push(f->ctx, &f->want, need.queue));
    }
    f->wanted[need.queue] = (uint32_t)fs_max(f->wanted[need.queue], need.epoch);
  }
  size_t n = f->want.n;
  FS_TRY(fs_vec_reserve(f->ctx, &f->want, 2 * n));
  fs_radix_sort_block(f->want.at, n);
  return FSCHED_OK;
}

/* Emits the counting syncs before the item; *now becomes the time when the sequencer has passed
 * them. */
static fs_status counting_syncs(filler *f, uint32_t item, const fs_tick *end, fs_tick *now) {
  const fs_sync *y = f->o->y;
  for (size_t i = 0; i < f->want.n; i++) {
    uint32_t q = (uint32_t)f->want.at[i];
    assert(f->wanted[q] <= f->issued[q]);
    fs_stop stop = {f->p->at[item], q, f->issued[q] - f->wanted[q]};
    for (; f->known[q] < f->wanted[q]; f->known[q]++) { /* slow ones may end behind the last */
      *now = fs_max(*now, end[y->command_item[y->queue_command0[q] + f->known[q]]]);
    }
    f->wanted[q] = 0;
    FS_TRY(fs_vec_push(f->ctx, &f->stop, stop));
  }
  return FSCHED_OK;
}

static fs_tick start_of(const filler *f, uint32_t item, fs_tick now, const fs_tick *end,
                        const fs_tick *free_at) {
  assert(item < f->o->s->n_items);
  const fs_orders *o = f->o;
  fs_tick start = fs_max(now, o->s->start[item]);
  uint32_t n;
  const uint32_t *queues = fs_item_queues(o->s, item, &n);
  for (uint32_t i = 0; i < n; i++) {
    start = fs_max(start, free_at[queues[i]]);
  }
  for (uint32_t i = o->plan0[item]; i < o->plan0[item + 1]; i++) {
    start = fs_max(start, end[o->plan[i]]);
  }
  return start;
}

static void issue_item(filler *f, uint32_t item, fs_tick *end, fs_tick *free_at) {
  assert(f->p->start[item] >= f->o->s->start[item]);
  const fs_schedule *s = f->o->s;
  fs_tick start = f->p->start[item];
  end[item] = start + (s->end[item] - s->start[item]);
  f->p->makespan = fs_max(f->p->makespan, end[item]);
  uint32_t n;
  const uint32_t *queues = fs_item_queues(s, item, &n);
  for (uint32_t i = 0; i < n; i++) {
    free_at[queues[i]] = start + (fs_item_free(s, item) - s->start[item]);
    f->issued[queues[i]]++;
  }
}

static fs_status walk(filler *f, fs_arena *arena) {
  const fs_schedule *s = f->o->s;
  fs_block_plan *p = f->p;
  fs_tick *end;
  fs_tick *free_at;
  FS_TRY(fs_new(f->scratch, &end, s->n_items));
  FS_TRY(fs_new_zero(f->scratch, &free_at, s->n_queues));
  FS_TRY(fs_new_zero(f->scratch, &f->known, s->n_queues));
  FS_TRY(fs_new_zero(f->scratch, &f->issued, s->n_queues));
  FS_TRY(fs_new_zero(f->scratch, &f->wanted, s->n_queues));
  FS_TRY(fs_new(arena, &p->start, s->n_items));
  fs_tick now = 0;
  p->makespan = 0;
  for (uint32_t i = 0, full = 0; i < s->n_items; i++) {
    uint32_t item = p->order[i];
    if (full < p->n_full && p->full[full] == p->at[item]) {
      fs_stop stop = {p->full[full++], FS_NONE, 0};
      FS_TRY(fs_vec_push(f->ctx, &f->stop, stop));
      now = p->makespan; /* the latest end so far */
    }
    FS_TRY(want_of(f, item, full > 0 ? p->full[full - 1] : 0));
    FS_TRY(counting_syncs(f, item, end, &now));
    p->start[item] = start_of(f, item, now, end, free_at);
    issue_item(f, item, end, free_at);
  }
  return FSCHED_OK;
}

static fs_status fill_plan(filler *f, fs_arena *arena, const uint32_t *extra, uint32_t n_extra) {
  FS_TRY(order_items(f, arena));
  FS_TRY(full_syncs(f, arena, extra, n_extra));
  FS_TRY(walk(f, arena));
  FS_TRY(fs_new(arena, &f->p->stop, f->stop.n));
  if (f->stop.n > 0) {
    memcpy(f->p->stop, f->stop.at, f->stop.n * sizeof *f->p->stop);
  }
  f->p->n_stops = (uint32_t)f->stop.n;
  return FSCHED_OK;
}

fs_status fs_block_plan_fill(fsched_context *ctx, fs_arena *arena, const fs_orders *o,
                             const uint32_t *extra, uint32_t n_extra, fs_block_plan *p) {
  assert(p->phase != NULL && (extra != NULL || n_extra == 0));
  FS_SCRATCH(scratch, ctx);
  filler f = {.ctx = ctx, .o = o, .p = p, .scratch = &scratch};
  fs_status status = fill_plan(&f, arena, extra, n_extra);
  fs_vec_free(ctx, &f.stop);
  fs_vec_free(ctx, &f.want);
  return status;
}

fs_status fs_block_plan_store(const fs_block_plan *p, fs_sync *y) {
  assert(p->order != NULL && p->n_full <= p->n_stops);
  FS_TRY(fs_new(&y->arena, &y->issue, y->n_commands));
  for (uint32_t item = 0; item < y->schedule->n_items; item++) {
    uint32_t first = y->item_command0[item];
    for (uint32_t i = first; i < y->item_command0[item + 1]; i++) {
      y->issue[y->item_command[i]] = p->at[item] + (i - first);
    }
  }
  FS_TRY(fs_new(&y->arena, &y->stop, p->n_stops));
  if (p->n_stops > 0) {
    memcpy(y->stop, p->stop, p->n_stops * sizeof *y->stop);
  }
  y->n_stops = p->n_stops;
  y->n_full = p->n_full;
  y->kind = FS_SYNC_BLOCK;
  return FSCHED_OK;
}
