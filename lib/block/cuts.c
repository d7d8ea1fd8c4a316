/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic programming over prefixes of the order:
 *
 *     best(j) = min over i of best(i) + length(i, j) + cost        the last phase is order[i .. j)
 *
 * where no edge that needs a sync lies inside of [i, j): its source is at i or later.  The earliest
 * such i grows with j, so length(earliest, j) is kept while both move, and tried first.  Then the
 * length is counted backward from j and never falls, and best(i) of the others is no less than
 * best(earliest + 1): so i goes no further back once that and the length are together as much as
 * the best that was found.  With queues whose loads are alike that is soon. */
#include "block/cuts.h"

#include "block/tops.h"

enum { STEPS = 1 << 24 };

typedef struct cutter {
  const fs_block_problem *p;
  const uint32_t *order, *queue;
  uint32_t *place;    /* per item */
  uint32_t *earliest; /* per j: the earliest begin of a phase that ends before place j */
  fs_tick *best;      /* per j */
  uint32_t *begin;    /* per j: where its last phase begins */
  fs_tick *load;      /* per queue */
  fs_tick *kept;      /* per queue: loads of order[kept_from .. j) (tops.h) */
  uint32_t kept_from;
} cutter;

static void find_earliest(cutter *c) {
  const fs_block_problem *p = c->p;
  uint32_t earliest = 0;
  c->earliest[0] = 0;
  for (uint32_t i = 0; i < p->n; i++) {
    uint32_t to = c->order[i];
    for (uint32_t e = p->pred0[to]; e < p->pred0[to + 1]; e++) {
      uint32_t from = p->pred[e].from;
      assert(c->place[from] < i);
      if (c->place[from] >= earliest && fs_block_apart(p, c->queue, from, p->pred[e].full, to)) {
        earliest = c->place[from] + 1;
      }
    }
    c->earliest[i + 1] = earliest;
  }
}

static fs_tick add_load(cutter *c, uint32_t item, fs_tick length) {
  uint32_t n;
  const uint32_t *queues = fs_block_item_queues(c->p, item, &c->queue[item], &n);
  for (uint32_t k = 0; k < n; k++) {
    c->load[queues[k]] += c->p->time[item];
    length = fs_max(length, c->load[queues[k]]);
  }
  return length;
}

static void clear_load(cutter *c, uint32_t item) {
  uint32_t n;
  const uint32_t *queues = fs_block_item_queues(c->p, item, &c->queue[item], &n);
  for (uint32_t k = 0; k < n; k++) {
    c->load[queues[k]] = 0;
  }
}

/* Adds an item to what is kept, or takes it away. */
static void keep(cutter *c, uint32_t item, bool in) {
  uint32_t n_queues = c->p->n_queues;
  fs_tick time = c->p->time[item];
  uint32_t n;
  const uint32_t *queues = fs_block_item_queues(c->p, item, &c->queue[item], &n);
  for (uint32_t k = 0; k < n; k++) {
    fs_tick load = fs_tops_load(c->kept, n_queues, queues[k]);
    fs_tops_set(c->kept, n_queues, queues[k], in ? load + time : load - time);
  }
}

/* The length of order[last .. j).  Requires that neither is less than the time before, j by one
 * more. */
static fs_tick kept_length(cutter *c, uint32_t last, uint32_t j) {
  assert(c->kept_from <= last && last < j);
  keep(c, c->order[j - 1], true);
  for (; c->kept_from < last; c->kept_from++) {
    keep(c, c->order[c->kept_from], false);
  }
  return fs_tops_most(c->kept, c->p->n_queues);
}

static void try_begin(cutter *c, uint32_t i, uint32_t j, fs_tick length) {
  fs_tick measure = c->best[i] + length + (i == 0 ? 0 : c->p->cost);
  if (measure < c->best[j] || (measure == c->best[j] && i < c->begin[j])) { /* fewer syncs */
    c->best[j] = measure;
    c->begin[j] = i;
  }
}

/* `window`: how many begins are tried. */
static void cut_at(cutter *c, uint32_t j, uint32_t window) {
  uint32_t last = j - c->earliest[j] > window ? j - window : c->earliest[j];
  fs_tick length = 0;
  uint32_t i = j;
  c->best[j] = FS_TICK_NONE;
  try_begin(c, last, j, kept_length(c, last, j));
  while (i > last + 1 && c->best[last + 1] + c->p->cost + length < c->best[j]) {
    i--;
    length = add_load(c, c->order[i], length);
    try_begin(c, i, j, length);
  }
  for (; i < j; i++) {
    clear_load(c, c->order[i]);
  }
}

static void put_phases(const cutter *c, uint32_t *phase) {
  uint32_t n = 0;
  for (uint32_t j = c->p->n; j > 0; j = c->begin[j]) {
    n++;
  }
  for (uint32_t j = c->p->n; j > 0; j = c->begin[j]) {
    n--;
    for (uint32_t i = c->begin[j]; i < j; i++) {
      phase[c->order[i]] = n;
    }
  }
}

static fs_status cut_order(cutter *c, fs_arena *scratch, uint32_t *phase) {
  uint32_t n = c->p->n;
  FS_TRY(fs_new(scratch, &c->place, n));
  FS_TRY(fs_new(scratch, &c->earliest, (size_t)n + 1));
  FS_TRY(fs_new(scratch, &c->best, (size_t)n + 1));
  FS_TRY(fs_new(scratch, &c->begin, (size_t)n + 1));
  FS_TRY(fs_new_zero(scratch, &c->load, c->p->n_queues));
  FS_TRY(fs_new_zero(scratch, &c->kept, fs_tops_size(c->p->n_queues)));
  for (uint32_t i = 0; i < n; i++) {
    c->place[c->order[i]] = i;
  }
  find_earliest(c);
  c->best[0] = 0;
  for (uint32_t j = 1; j <= n; j++) {
    cut_at(c, j, STEPS / n + 1);
  }
  put_phases(c, phase);
  return FSCHED_OK;
}

fs_status fs_block_cut(fsched_context *ctx, const fs_block_problem *p, const uint32_t *order,
                       fs_block_answer *a) {
  assert(order != NULL && a->queue != NULL && a->phase != NULL);
  FS_SCRATCH(scratch, ctx);
  cutter c = {.p = p, .order = order, .queue = a->queue};
  if (p->n > 0) {
    FS_TRY(cut_order(&c, &scratch, a->phase));
  }
  return fs_block_answer_fill(ctx, p, a);
}
