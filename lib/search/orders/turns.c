/* SPDX-License-Identifier: Apache-2.0 */
#include "search/orders/turns.h"

#include "search/orders/search.h"

enum {
  MOST_OPS = 4096,     /* an order is decoded without asking whether to stop */
  FIRST_ORDERS = 2048, /* nodes of the first turns */
  FIRST_TRIALS = 256,
  WORK_OF_STOP = 16 /* parts of a node after which orders ask whether they are to stop */
};

typedef struct order_turns {
  fsched_context *ctx;
  const fs_listsched_options *options;
  fs_order_meeting meet;
  fs_order_search orders;
  const fs_schedule *from;
  fs_schedule *best;        /* NULL: none is better than `from` */
  uint64_t runs, turn_runs; /* of trials: before this turn, and in it */
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
  return t->runs + t->turn_runs + t->orders.work / t->orders.d.g->n_ops;
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

static bool orders_over(void *user) {
  order_turns *t = user;
  if (t->orders.work < t->asked) {
    return false;
  }
  t->asked = t->orders.work + t->orders.d.g->n_ops / WORK_OF_STOP;
  return ask_stop(t, FS_TICK_NONE); /* what orders promise is told when a schedule is made of it */
}

static fs_status take_orders_turn(order_turns *t, uint64_t nodes, bool *better) {
  fs_order_search_run(&t->orders, nodes * t->orders.d.g->n_ops, t->options->lower_bound,
                      orders_over, t);
  *better = false;
  if (t->orders.best_makespan < fs_min(t->tried, best_of(t))) {
    fs_schedule *found;
    t->tried = t->orders.best_makespan;
    FS_TRY(fs_order_search_schedule(&t->orders, t->ctx, &found));
    *better = take_schedule(t, found);
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
  if (*better) {
    take_order(t);
    fs_order_search_offer(&t->orders, t->order);
  }
  return status == FSCHED_INFEASIBLE ? FSCHED_OK : status;
}

/* Orders begin with what was heard, too. */
static fs_status meet_others(order_turns *t) {
  fs_schedule *heard;
  if (t->meet == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(t->meet(t->options->user, t->best == NULL ? t->from : t->best, &heard));
  if (take_schedule(t, heard)) {
    take_order(t);
    fs_order_search_offer(&t->orders, t->order);
  }
  return FSCHED_OK;
}

static fs_status take_turns(order_turns *t) {
  uint64_t orders = FIRST_ORDERS, trials = FIRST_TRIALS;
  take_order(t);
  fs_order_search_offer(&t->orders, t->order);
  while (!t->stopped && best_of(t) > t->options->lower_bound) {
    bool better;
    FS_TRY(take_orders_turn(t, orders, &better));
    orders <<= better;
    FS_TRY(meet_others(t));
    if (!t->stopped && best_of(t) > t->options->lower_bound) {
      FS_TRY(take_trials_turn(t, trials, &better));
      trials <<= better;
      FS_TRY(meet_others(t));
    }
  }
  return FSCHED_OK;
}

fs_status fs_order_turns_run(fsched_context *ctx, const fs_listsched_options *options,
                             fs_order_meeting meeting, const fs_schedule *from, fs_schedule **out) {
  assert(fs_order_turns_know(from->graph) && options->stop != NULL);
  FS_SCRATCH(arena, ctx);
  order_turns t = {
      .ctx = ctx, .options = options, .meet = meeting, .from = from, .tried = FS_TICK_NONE};
  *out = NULL;
  FS_TRY(fs_new(&arena, &t.order, from->graph->n_ops));
  FS_TRY(fs_new(&arena, &t.position, from->graph->n_ops));
  FS_TRY(fs_order_search_init(&t.orders, from->graph, options->seed, &arena));
  fs_status status = take_turns(&t);
  if (status == FSCHED_OK) {
    *out = t.best;
  } else {
    fs_schedule_destroy(t.best);
  }
  return status;
}
