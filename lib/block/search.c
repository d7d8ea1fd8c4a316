/* SPDX-License-Identifier: Apache-2.0 */
/* A small plain problem is solved exactly (exact.c).  Otherwise there are several first answers:
 * the phases with the fewest syncs, the planned order cut on the queues that it has (cuts.c), and
 * several orders cut with queues chosen (groups.c).  Each goes through local search (moves.c); the
 * best one is then cut anew in the order of its own phases, and searched again, while that helps.
 *
 * What is done depends on the size alone: beyond SMALL_ITEMS only the first two are looked at. */
#include "block/search.h"

#include "block/cuts.h"
#include "block/exact.h"
#include "block/groups.h"
#include "block/moves.h"
#include "block/sorts.h"

enum { SMALL_ITEMS = 4000, ROUNDS = 8 };

typedef struct answer_search {
  fsched_context *ctx;
  const fs_block_problem *p;
  fs_block_answer *best;
  fs_block_answer now;
  uint32_t *order;
} answer_search;

static fs_tick measure(const answer_search *x, const fs_block_answer *a) {
  return a->late ? FS_TICK_NONE : fs_sync_total(a->makespan, a->syncs, x->p->cost);
}

static void keep_better(answer_search *x) {
  fs_tick now = measure(x, &x->now);
  fs_tick best = measure(x, x->best);
  if (now < best || (now == best && x->now.syncs < x->best->syncs)) {
    fs_block_answer_copy(x->p, x->best, &x->now);
  }
}

/* Searches from the present answer; the answer as it is counts too. */
static fs_status improve(answer_search *x) {
  keep_better(x);
  if (x->p->s->graph->op_start != NULL) {
    return FSCHED_OK; /* moves do not know of given starts */
  }
  FS_TRY(fs_block_move(x->ctx, x->p, &x->now));
  keep_better(x);
  return FSCHED_OK;
}

static void take_own_queues(const answer_search *x, fs_block_answer *a) {
  if (x->p->n > 0) {
    memcpy(a->queue, x->p->s->queue, x->p->n * sizeof *a->queue);
  }
}

static fs_status start_with_fewest(answer_search *x, const uint32_t *phase) {
  take_own_queues(x, x->best);
  if (x->p->n > 0) {
    memcpy(x->best->phase, phase, x->p->n * sizeof *phase);
  }
  FS_TRY(fs_block_answer_fill(x->ctx, x->p, x->best));
  fs_block_answer_copy(x->p, &x->now, x->best);
  return FSCHED_OK;
}

static fs_status search_first(answer_search *x) {
  FS_TRY(improve(x));
  take_own_queues(x, &x->now);
  FS_TRY(fs_block_cut(x->ctx, x->p, x->p->order, &x->now));
  return improve(x);
}

static fs_status search_sorts(answer_search *x) {
  for (uint32_t i = 0; i < FS_BLOCK_SORTS && fs_block_groups_can(x->p); i++) {
    FS_TRY(fs_block_sort_items(x->ctx, x->p, (fs_block_sort)i, x->order));
    FS_TRY(fs_block_group(x->ctx, x->p, x->order, &x->now));
    FS_TRY(improve(x));
  }
  return FSCHED_OK;
}

/* Cuts the best answer anew; its order of issue is one in which edges go forward. */
static fs_status search_again(answer_search *x) {
  fs_block_answer_copy(x->p, &x->now, x->best);
  memcpy(x->order, x->best->order, x->p->n * sizeof *x->order);
  FS_TRY(fs_block_cut(x->ctx, x->p, x->order, &x->now));
  FS_TRY(improve(x));
  if (!fs_block_groups_can(x->p)) {
    return FSCHED_OK;
  }
  FS_TRY(fs_block_group(x->ctx, x->p, x->order, &x->now));
  return improve(x);
}

static fs_status search(answer_search *x, const uint32_t *phase) {
  FS_TRY(start_with_fewest(x, phase));
  if (fs_block_exact_can(x->p)) {
    FS_TRY(fs_block_exact(x->ctx, x->p, &x->now));
    FS_TRY(fs_block_answer_fill(x->ctx, x->p, &x->now));
    keep_better(x);
    return FSCHED_OK;
  }
  FS_TRY(search_first(x));
  if (x->p->n == 0 || x->p->n > SMALL_ITEMS) {
    return FSCHED_OK;
  }
  FS_TRY(search_sorts(x));
  for (uint32_t round = 0; round < ROUNDS; round++) {
    fs_tick before = measure(x, x->best);
    FS_TRY(search_again(x));
    if (measure(x, x->best) == before) {
      break;
    }
  }
  return FSCHED_OK;
}

fs_status fs_block_search(fsched_context *ctx, const fs_block_problem *p, const uint32_t *phase,
                          fs_block_answer *best) {
  assert(best->queue != NULL && (phase != NULL || p->n == 0));
  FS_SCRATCH(scratch, ctx);
  answer_search x = {.ctx = ctx, .p = p, .best = best};
  FS_TRY(fs_block_answer_new(&scratch, p, &x.now));
  FS_TRY(fs_new(&scratch, &x.order, p->n));
  return search(&x, phase);
}
