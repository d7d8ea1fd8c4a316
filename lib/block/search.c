/* SPDX-License-Identifier: Apache-2.0 */
/* A small plain problem is solved exactly (exact.c).  Otherwise there are several first answers:
 * the phases with the fewest syncs, phases by levels (levels.c), the planned order cut on the
 * queues that it has (cuts.c, strides.c), and several orders cut with queues chosen (groups.c).
 * Each goes through local search (moves.c); the best one is then cut anew in the order of its own
 * phases, and searched again, while that helps.
 *
 * The lengths that cuts and moves count with are not always the true ones, and local search ends in
 * different places for different costs of a sync.  So the first answers are made for other costs
 * too; the measure that counts is always that of the true cost.
 *
 * What is done depends on the size: beyond FEW_ITEMS other costs are not tried, beyond SMALL_ITEMS
 * no order is cut with queues chosen either, and only the best answer is searched.  Where starts
 * are given, or ops are slow, which moves and levels do not heed, orders are cut on their present
 * queues and nothing else is done. */
#include "block/search.h"

#include "block/cuts.h"
#include "block/exact.h"
#include "block/groups.h"
#include "block/levels.h"
#include "block/moves.h"
#include "block/sorts.h"
#include "block/strides.h"

enum { FEW_ITEMS = 500, SMALL_ITEMS = 4000, ROUNDS = 8 };

typedef struct answer_search {
  fsched_context *ctx;
  const fs_block_problem *p; /* with the true cost */
  fs_block_problem trial;    /* with the cost that is tried */
  fs_block_answers *best;
  fs_block_answer now;
  uint32_t *order, *queue;
} answer_search;

static fs_tick measure(const answer_search *x, const fs_block_answer *a) {
  return a->late ? FS_TICK_NONE : fs_sync_total(a->makespan, a->syncs, x->p->cost);
}

static bool is_better(const answer_search *x, const fs_block_answer *a, const fs_block_answer *b) {
  fs_tick m = measure(x, a);
  fs_tick n = measure(x, b);
  return m != n ? m < n : a->syncs < b->syncs;
}

static bool is_known(const answer_search *x) {
  for (uint32_t i = 0; i < x->best->n; i++) {
    const fs_block_answer *a = &x->best->at[i];
    if (a->makespan == x->now.makespan && a->syncs == x->now.syncs && a->late == x->now.late) {
      return true;
    }
  }
  return false;
}

/* Files the present answer, for which the worst one may have to make room. */
static void keep_better(answer_search *x) {
  fs_block_answers *best = x->best;
  if (is_known(x) || (best->n == best->most && !is_better(x, &x->now, &best->at[best->n - 1]))) {
    return;
  }
  best->n += best->n < best->most;
  uint32_t at = best->n - 1;
  fs_block_answer room = best->at[at];
  for (; at > 0 && is_better(x, &x->now, &best->at[at - 1]); at--) {
    best->at[at] = best->at[at - 1];
  }
  best->at[at] = room;
  fs_block_answer_copy(x->p, &best->at[at], &x->now);
}

/* Moves, levels and choices of queues know neither of given starts nor of slow ops. */
static bool queues_stay(const answer_search *x) {
  return x->p->s->graph->op_start != NULL || x->p->any_slow;
}

/* Searches from the present answer; the answer as it is counts too. */
static fs_status improve(answer_search *x) {
  keep_better(x);
  if (queues_stay(x)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_block_move(x->ctx, &x->trial, &x->now));
  keep_better(x);
  return FSCHED_OK;
}

static void copy_ids(const answer_search *x, uint32_t *to, const uint32_t *from) {
  if (x->p->n > 0) {
    memcpy(to, from, x->p->n * sizeof *to);
  }
}

static fs_status start_with_fewest(answer_search *x, const uint32_t *phase) {
  copy_ids(x, x->now.queue, x->p->s->queue);
  copy_ids(x, x->now.phase, phase);
  FS_TRY(fs_block_answer_fill(x->ctx, x->p, &x->now));
  keep_better(x);
  return FSCHED_OK;
}

/* Cuts an order with given queues. */
static fs_status search_cuts(answer_search *x, const uint32_t *order, const uint32_t *queue) {
  copy_ids(x, x->now.queue, queue);
  FS_TRY(fs_block_cut(x->ctx, &x->trial, order, &x->now));
  FS_TRY(improve(x));
  if (x->p->plain || queues_stay(x)) {
    return FSCHED_OK;
  }
  copy_ids(x, x->now.queue, queue);
  FS_TRY(fs_block_stride(x->ctx, &x->trial, order, &x->now));
  return improve(x);
}

static fs_status search_sorts(answer_search *x) {
  for (uint32_t i = 0; i < FS_BLOCK_SORTS && fs_block_groups_can(x->p); i++) {
    FS_TRY(fs_block_sort_items(x->ctx, x->p, (fs_block_sort)i, x->order));
    FS_TRY(fs_block_group(x->ctx, &x->trial, x->order, &x->now));
    FS_TRY(improve(x));
  }
  return FSCHED_OK;
}

/* Cuts the best answer anew; its order of issue is one in which edges go forward. */
static fs_status search_again(answer_search *x) {
  copy_ids(x, x->order, x->best->at[0].order);
  copy_ids(x, x->queue, x->best->at[0].queue);
  fs_block_answer_copy(x->p, &x->now, &x->best->at[0]);
  FS_TRY(improve(x));
  FS_TRY(search_cuts(x, x->order, x->queue));
  if (!fs_block_groups_can(x->p)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_block_group(x->ctx, &x->trial, x->order, &x->now));
  return improve(x);
}

static fs_status search_while_better(answer_search *x) {
  for (uint32_t round = 0; round < ROUNDS; round++) {
    fs_tick before = measure(x, &x->best->at[0]);
    FS_TRY(search_again(x));
    if (measure(x, &x->best->at[0]) == before) {
      break;
    }
  }
  return FSCHED_OK;
}

static fs_status search_levels(answer_search *x) {
  for (uint32_t i = 0; i < FS_LEVEL_RULES; i++) {
    FS_TRY(fs_block_level(x->ctx, x->p, (fs_block_level_rule)i, &x->now));
    if (x->p->n > SMALL_ITEMS) {
      keep_better(x);
    } else {
      FS_TRY(improve(x));
    }
  }
  return FSCHED_OK;
}

/* Of a large problem, only the best of the first answers goes through local search. */
static fs_status search_large(answer_search *x) {
  copy_ids(x, x->now.queue, x->p->s->queue);
  FS_TRY(fs_block_cut(x->ctx, x->p, x->p->order, &x->now));
  keep_better(x);
  if (!queues_stay(x)) {
    FS_TRY(search_levels(x));
  }
  fs_block_answer_copy(x->p, &x->now, &x->best->at[0]);
  return improve(x);
}

static fs_status search_at_cost(answer_search *x, fs_tick cost) {
  x->trial.cost = cost;
  FS_TRY(search_cuts(x, x->p->order, x->p->s->queue));
  return x->p->n == 0 || queues_stay(x) ? FSCHED_OK : search_sorts(x);
}

static fs_status search_answers(answer_search *x, const uint32_t *phase) {
  FS_TRY(start_with_fewest(x, phase));
  if (fs_block_exact_can(x->p)) {
    FS_TRY(fs_block_exact(x->ctx, x->p, &x->now));
    FS_TRY(fs_block_answer_fill(x->ctx, x->p, &x->now));
    keep_better(x);
    return FSCHED_OK;
  }
  if (x->p->n > SMALL_ITEMS) {
    return search_large(x);
  }
  fs_tick cost = x->p->cost;
  const fs_tick other[] = {0, cost / 4, 4 * cost};
  FS_TRY(improve(x));
  if (!queues_stay(x)) {
    FS_TRY(search_levels(x));
  }
  FS_TRY(search_at_cost(x, cost));
  for (size_t i = 0; i < sizeof other / sizeof other[0] && x->p->n <= FEW_ITEMS; i++) {
    FS_TRY(search_at_cost(x, other[i]));
  }
  x->trial.cost = cost;
  return search_while_better(x);
}

fs_status fs_block_answers_new(fs_arena *arena, const fs_block_problem *p, uint32_t most,
                               fs_block_answers *out) {
  assert(most > 0);
  *out = (fs_block_answers){.most = most};
  FS_TRY(fs_new(arena, &out->at, most));
  for (uint32_t i = 0; i < most; i++) {
    FS_TRY(fs_block_answer_new(arena, p, &out->at[i]));
  }
  return FSCHED_OK;
}

fs_status fs_block_search(fsched_context *ctx, const fs_block_problem *p, const uint32_t *phase,
                          fs_block_answers *best) {
  assert(best->at != NULL && (phase != NULL || p->n == 0));
  FS_SCRATCH(scratch, ctx);
  answer_search x = {.ctx = ctx, .p = p, .trial = *p, .best = best};
  FS_TRY(fs_block_answer_new(&scratch, p, &x.now));
  FS_TRY(fs_new(&scratch, &x.order, p->n));
  FS_TRY(fs_new(&scratch, &x.queue, p->n));
  return search_answers(&x, phase);
}
