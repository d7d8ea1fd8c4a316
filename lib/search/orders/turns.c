/* SPDX-License-Identifier: Apache-2.0 */
#include "search/orders/turns.h"

#include "search/orders/search.h"

enum {
  MOST_OPS = 4096,      /* an order is decoded without asking whether to stop */
  FIRST_AMOUNTS = 4096, /* nodes of the first turns */
  FIRST_ORDERS = 1024,
  FIRST_TRIALS = 128,
  FIRST_IMPROVED = 512,
  FEW_OPS = 64,     /* up to which orders with addresses come first, as runs are few there */
  SLICES = 8,       /* of a turn by amounts, after each of which addresses are looked for */
  WORK_OF_STOP = 16 /* parts of a node after which orders ask whether they are to stop */
};

typedef struct order_turns {
  fsched_context *ctx;
  const fs_listsched_options *options;
  fs_order_calls calls;
  fs_order_search orders, amounts;
  const fs_schedule *from;
  fs_schedule *best;        /* NULL: none is better than `from` */
  uint64_t runs, turn_runs; /* of trials: before this turn, and in it */
  uint64_t improved;        /* nodes of the caller's turns */
  uint64_t turn_end;        /* runs */
  uint64_t asked;           /* work of orders at which they ask again */
  uint32_t *order, *position;
  fs_tick tried; /* the makespan of the last order that a schedule was made of */
  bool stopped;
} order_turns;

bool fs_order_turns_know(const fsched_graph *g) {
  return g->n_ops <= MOST_OPS && fs_decoder_knows(g);
}

static fs_tick best_of(const order_turns *t) {
  return t->best == NULL ? t->from->makespan : t->best->makespan;
}

static uint64_t nodes_of(const order_turns *t) {
  uint64_t decoded = (t->orders.work + t->amounts.work) / t->orders.d.g->n_ops;
  return t->runs + t->turn_runs + t->improved + decoded;
}

static bool ask_stop(order_turns *t, fs_tick best) {
  const fs_listsched_options *o = t->options;
  t->stopped = t->stopped || o->stop(o->user, nodes_of(t), fs_min(best, best_of(t)));
  return t->stopped;
}

/* Takes ownership of the schedule; NULL is ignored. */
static bool take_schedule(order_turns *t, fs_schedule *found) {
  bool better = found != NULL && found->makespan < best_of(t);
  fs_schedule_destroy(better ? t->best : found);
  t->best = better ? found : t->best;
  return better;
}

/* ---- orders */

static uint64_t order_work(const order_turns *t) { return t->orders.work + t->amounts.work; }

static bool orders_over(void *user) {
  order_turns *t = user;
  if (order_work(t) < t->asked) {
    return false;
  }
  t->asked = order_work(t) + t->orders.d.g->n_ops / WORK_OF_STOP;
  return ask_stop(t, FS_TICK_NONE); /* what orders promise is told when a schedule is made of it */
}

static fs_status take_orders_turn(order_turns *t, uint64_t nodes, bool *better) {
  fs_order_search_run(&t->orders, nodes * t->orders.d.g->n_ops, t->options->lower_bound,
                      orders_over, t);
  *better = false;
  if (t->orders.best_makespan < fs_min(t->tried, best_of(t))) {
    fs_schedule *found;
    t->tried = t->orders.best_makespan;
    FS_TRY(fs_order_search_schedule(&t->orders, t->ctx, best_of(t), &found));
    *better = take_schedule(t, found);
  }
  return FSCHED_OK;
}

static fs_status take_amounts_turn(order_turns *t, uint64_t nodes, bool *better) {
  *better = false;
  for (uint32_t k = 0; k < SLICES && !t->stopped; k++) {
    fs_schedule *found;
    fs_order_search_run(&t->amounts, nodes * t->orders.d.g->n_ops / SLICES, t->options->lower_bound,
                        orders_over, t);
    FS_TRY(fs_order_search_schedule(&t->amounts, t->ctx, best_of(t), &found));
    *better = take_schedule(t, found) || *better;
  }
  return FSCHED_OK;
}

/* ---- trials */

static bool trials_over(void *user, uint64_t runs, fs_tick best) {
  order_turns *t = user;
  t->turn_runs = runs;
  return ask_stop(t, best) || runs >= t->turn_end;
}

/* The ops of the best schedule, in order of issue, which is a linear extension. */
static void take_order(order_turns *t) {
  const fs_schedule *s = t->best == NULL ? t->from : t->best;
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->n_items; i++) {
    if (!fs_item_is_copy(s, s->order[i])) {
      t->position[s->order[i]] = n;
      t->order[n++] = s->order[i];
    }
  }
  assert(n == s->graph->n_ops);
}

static fs_status take_trials_turn(order_turns *t, uint64_t nodes, bool *better) {
  fs_listsched_options o = *t->options;
  fs_schedule *found = NULL;
  take_order(t);
  o.position = t->position;
  o.effort = FS_EFFORT_MOST;
  o.silent = true;
  o.seed += t->runs;
  o.stop = trials_over;
  o.user = t;
  t->turn_end = nodes;
  fs_status status = fs_listsched_run(t->ctx, t->orders.d.g, &o, &found);
  t->runs += t->turn_runs;
  t->turn_runs = 0;
  *better = status == FSCHED_OK && take_schedule(t, found);
  return status == FSCHED_INFEASIBLE ? FSCHED_OK : status;
}

/* ---- all of them */

static fs_status take_callers_turn(order_turns *t, uint64_t nodes, bool *better) {
  fs_schedule *found;
  *better = false;
  if (t->calls.improve == NULL) {
    return FSCHED_OK;
  }
  const fs_schedule *best = t->best == NULL ? t->from : t->best;
  FS_TRY(t->calls.improve(t->options->user, best, &nodes, &found));
  t->improved += nodes;
  *better = take_schedule(t, found);
  (void)ask_stop(t, FS_TICK_NONE);
  return FSCHED_OK;
}

/* Both searches of orders go on from the best schedule where its order is better than theirs. */
static void offer_best(order_turns *t) {
  take_order(t);
  fs_order_search_offer(&t->orders, t->order);
  fs_order_search_offer(&t->amounts, t->order);
}

static fs_status meet_others(order_turns *t) {
  fs_schedule *heard;
  if (t->calls.meet == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(t->calls.meet(t->options->user, t->best == NULL ? t->from : t->best, &heard));
  if (take_schedule(t, heard)) {
    offer_best(t);
  }
  return FSCHED_OK;
}

typedef fs_status (*order_turn)(order_turns *t, uint64_t nodes, bool *better);

static fs_status take_turns(order_turns *t) {
  const order_turn turn[] = {take_amounts_turn, take_callers_turn, take_orders_turn,
                             take_trials_turn};
  uint64_t nodes[] = {FIRST_AMOUNTS, FIRST_IMPROVED, FIRST_ORDERS, FIRST_TRIALS};
  enum { AMOUNTS, ORDERS = 2, KINDS = sizeof turn / sizeof *turn };
  offer_best(t);
  uint32_t first = t->from->graph->n_ops <= FEW_OPS ? ORDERS : AMOUNTS;
  for (uint32_t k = first; !t->stopped && best_of(t) > t->options->lower_bound;
       k = (k + 1) % KINDS) {
    bool better;
    FS_TRY(turn[k](t, nodes[k], &better));
    nodes[k] <<= better;
    if (better) {
      offer_best(t);
    }
    FS_TRY(meet_others(t));
  }
  return FSCHED_OK;
}

fs_status fs_order_turns_run(fsched_context *ctx, const fs_listsched_options *options,
                             fs_order_calls calls, const fs_schedule *from, fs_schedule **out) {
  assert(fs_order_turns_know(from->graph) && options->stop != NULL);
  FS_SCRATCH(arena, ctx);
  order_turns t = {
      .ctx = ctx, .options = options, .calls = calls, .from = from, .tried = FS_TICK_NONE};
  *out = NULL;
  FS_TRY(fs_new(&arena, &t.order, from->graph->n_ops));
  FS_TRY(fs_new(&arena, &t.position, from->graph->n_ops));
  FS_TRY(fs_order_search_init(&t.orders, from->graph, options->seed, false, &arena));
  FS_TRY(fs_order_search_init(&t.amounts, from->graph, options->seed, true, &arena));
  fs_status status = take_turns(&t);
  if (status == FSCHED_OK) {
    *out = t.best;
  } else {
    fs_schedule_destroy(t.best);
  }
  return status;
}
