/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a problem of barriers from the schedule's waits, and the rest of the synchronisation from
 * its solution.  A wait for an axis is a wait for the item whose command publishes the epoch.  For
 * a collective axis that is the gang, all of whose members then update the barriers that are waited
 * for. */
#include "barrier/pass.h"

#include <stdio.h>

#include "barrier/barrier.h"
#include "barrier/nests.h"
#include "base/radix.h"
#include "base/text/plural.h"
#include "model/access.h"
#include "model/retime.h"

enum { CHAIN_SHOWN = 8 }; /* commands of a deadlock that a message names */

typedef struct barrier_pass {
  fsched_context *ctx;
  fs_schedule *s;
  fs_sync *y;
  const fs_barrier_options *o;
  fs_arena *scratch;
  fs_barrier_nests nests; /* the barriers of loops */
  fs_barrier_problem problem;
  fs_barriers result;               /* its arrays live with the synchronisation */
  uint32_t *gang_item0, *gang_item; /* CSR per gang, by epoch */
} barrier_pass;

/* --- the problem --- */

static uint32_t item_of(const barrier_pass *p, fs_wait wait) {
  assert(wait.axis < p->y->n_axes && wait.epoch > 0);
  const fs_sync *y = p->y;
  return wait.axis < p->s->n_queues
             ? y->command_item[y->queue_command0[wait.axis] + wait.epoch - 1]
             : p->gang_item[p->gang_item0[wait.axis - p->s->n_queues] + wait.epoch - 1];
}

static fs_status list_demand(barrier_pass *p, const uint32_t **out) {
  const fsched_graph *g = p->s->graph;
  uint32_t *demand;
  *out = NULL;
  if (g->op_slots == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(p->scratch, &demand, p->s->n_items));
  for (uint32_t i = 0; i < p->s->n_items; i++) {
    demand[i] = i < g->n_ops ? g->op_slots[i] : 1;
  }
  *out = demand;
  return FSCHED_OK;
}

static fs_status make_problem(barrier_pass *p) {
  const fs_schedule *s = p->s;
  const fs_sync *y = p->y;
  uint32_t n_waits = y->wait0[y->n_commands];
  fs_tick *time, *busy;
  uint32_t *pred;
  FS_TRY(fs_sync_gang_ops(p->y, p->scratch, &p->gang_item0, &p->gang_item));
  FS_TRY(fs_new(p->scratch, &time, s->n_items));
  FS_TRY(fs_new(p->scratch, &busy, s->n_items));
  FS_TRY(fs_new(p->scratch, &pred, n_waits));
  for (uint32_t i = 0; i < s->n_items; i++) {
    time[i] = s->end[i] - s->start[i];
    busy[i] = fs_item_free(s, i) - s->start[i];
  }
  for (uint32_t w = 0; w < n_waits; w++) {
    pred[w] = item_of(p, y->wait[w]);
  }
  bool limited = p->o->slots != FS_NONE;
  p->problem = (fs_barrier_problem){.n_queues = s->n_queues,
                                    .n_items = s->n_items,
                                    .n_commands = y->n_commands,
                                    .queue_command0 = y->queue_command0,
                                    .command_item = y->command_item,
                                    .item_command0 = y->item_command0,
                                    .item_command = y->item_command,
                                    .order = s->order,
                                    .start = s->start,
                                    .time = time,
                                    .busy = fs_graph_first_slow(s->graph) == FS_NONE ? NULL : busy,
                                    .ends_alone = fs_graph_ends_alone(s->graph),
                                    .pred0 = y->wait0,
                                    .pred = pred,
                                    .n_slots = limited ? p->o->slots : (uint64_t)1 << 62};
  return list_demand(p, &p->problem.demand);
}

/* --- errors --- */

/* Appends, for example, "op 'A'" or "the write of 'x'". */
static void put_item(const barrier_pass *p, fs_text *t, uint32_t item) {
  const fsched_graph *g = p->s->graph;
  if (item < g->n_ops) {
    fs_text_printf(t, "op '%s'", g->op_name[item]);
    return;
  }
  uint32_t copy = item - g->n_ops;
  fs_text_printf(t, "the %s of '%s'", fs_words_copy[p->s->copy_kind[copy]],
                 g->buffer_name[g->version_buffer[p->s->copy_version[copy]]]);
}

static fs_pos item_pos(const barrier_pass *p, uint32_t item) {
  return item < p->s->graph->n_ops ? fs_op_pos(p->ctx, p->s->graph, item) : FS_NOWHERE;
}

/* The number of barriers that always suffices: twice the largest need of an awaited item, beside
 * those of loops. */
static uint64_t enough_barriers(const barrier_pass *p) {
  const fs_barrier_problem *b = &p->problem;
  uint64_t most = 1;
  for (uint32_t w = 0; w < b->pred0[b->n_commands]; w++) {
    uint32_t item = b->pred[w];
    uint64_t members = b->item_command0[item + 1] - b->item_command0[item];
    uint64_t slots = members * (b->demand == NULL ? 1 : b->demand[item]);
    most = fs_max(most, fs_ceil_div(slots, b->n_slots));
  }
  return 2 * most + p->nests.held;
}

/* Takes the text, reports it, and answers FSCHED_INFEASIBLE. */
static fs_status refuse_item(const barrier_pass *p, fs_diag_code code, uint32_t item,
                             const char *hint, fs_text *t) {
  assert(item < p->s->n_items);
  fs_text_add(t, "", 1);
  fs_status status =
      t->failed ? FSCHED_SYSTEM
                : fs_fail(p->ctx, FSCHED_INFEASIBLE, code, item_pos(p, item), hint, "%s", t->at);
  fs_text_drop(t);
  return status;
}

/* If an item alone needs more than the bound, infeasibility is proven; else a solution may exist.
 */
static fs_status report_too_few(const barrier_pass *p) {
  assert(p->result.short_item < p->s->n_items);
  const fs_barriers *r = &p->result;
  char hint[96];
  (void)snprintf(hint, sizeof hint, "%llu are enough in any case",
                 (unsigned long long)enough_barriers(p));
  fs_text t;
  fs_text_init(&t, p->ctx);
  if (r->short_held > 0) {
    fs_text_printf(&t, "no way was found with %u barrier%s", p->o->bound, fs_plural_s(p->o->bound));
    if (p->nests.held > 0) {
      fs_text_printf(&t, ", %llu of them for loops", (unsigned long long)p->nests.held);
    }
    fs_text_puts(&t, ": ");
  }
  put_item(p, &t, r->short_item);
  fs_text_printf(&t, " needs %s%llu barrier%s", r->short_held == 0 ? "at least " : "",
                 (unsigned long long)r->short_need, fs_plural_s(r->short_need));
  if (p->o->slots != FS_NONE) {
    fs_text_printf(&t, " of %u slot%s", p->o->slots, fs_plural_s(p->o->slots));
  }
  if (r->short_held > 0) {
    fs_text_printf(&t, " beside %u that others hold until it has started", r->short_held);
  } else {
    if (p->nests.held > 0) {
      fs_text_printf(&t, " beside %llu of loops", (unsigned long long)p->nests.held);
    }
    fs_text_printf(&t, ", %u given", p->o->bound);
  }
  return refuse_item(p, FS_DIAG_TOO_FEW_BARRIERS, r->short_item, hint, &t);
}

/* The loops, and what is left for others, need more than the bound. */
static fs_status report_held(const barrier_pass *p, uint64_t others) {
  const fsched_graph *g = p->s->graph;
  const fs_rolled *x = &g->rolled[0];
  fs_text t;
  fs_text_init(&t, p->ctx);
  if (g->n_rolled == 1) {
    fs_text_printf(&t, "loop '%s' needs", g->op_name[x->op]);
  } else {
    fs_text_puts(&t, "the loops need");
  }
  fs_text_printf(&t, " %llu barrier%s", (unsigned long long)p->nests.held,
                 fs_plural_s(p->nests.held));
  if (others > 0) {
    fs_text_printf(&t, ", and other ops %llu", (unsigned long long)others);
  }
  fs_text_printf(&t, ", %u given", p->o->bound);
  return refuse_item(p, FS_DIAG_TOO_FEW_BARRIERS, x->op, "rings of less depth take fewer barriers",
                     &t);
}

static const char *queue_of(const barrier_pass *p, uint32_t command) {
  assert(command < p->y->n_commands);
  uint32_t q = 0;
  while (p->y->queue_command0[q + 1] <= command) {
    q++;
  }
  return p->s->queue_name[q];
}

/* Why the k-th command of the cycle does not start. */
static void put_stuck(const barrier_pass *p, fs_text *t, const fs_barrier_stuck *stuck,
                      uint32_t k) {
  assert(k < stuck->n);
  uint32_t command = stuck->command[k];
  uint32_t next = p->y->command_item[stuck->command[(k + 1) % stuck->n]];
  put_item(p, t, p->y->command_item[command]);
  switch (stuck->kind[k]) {
    case FS_STUCK_QUEUE:
      fs_text_puts(t, " comes after ");
      put_item(p, t, next);
      fs_text_printf(t, " on queue '%s'", queue_of(p, command));
      return;
    case FS_STUCK_WAIT:
      fs_text_puts(t, " waits for a barrier of ");
      put_item(p, t, next);
      return;
    case FS_STUCK_MAPPED:
      fs_text_printf(t, " needs physical barrier %u, which is held until ",
                     p->result.physical[stuck->barrier[k]]);
      put_item(p, t, next);
      fs_text_puts(t, " has started");
      return;
    case FS_STUCK_GANG:
      fs_text_printf(t, " starts on queue '%s' together with queue '%s'", queue_of(p, command),
                     queue_of(p, stuck->command[(k + 1) % stuck->n]));
      return;
  }
}

static fs_status report_deadlock(const barrier_pass *p, const fs_barrier_stuck *stuck) {
  assert(stuck->n > 0);
  fs_text t;
  fs_text_init(&t, p->ctx);
  fs_text_puts(&t, "the published barrier method would deadlock: ");
  for (uint32_t k = 0; k < stuck->n && k < CHAIN_SHOWN; k++) {
    fs_text_puts(&t, k == 0 ? "" : "; ");
    put_stuck(p, &t, stuck, k);
  }
  if (stuck->n > CHAIN_SHOWN) {
    fs_text_printf(&t, "; and %u more until that one again", stuck->n - CHAIN_SHOWN);
  }
  return refuse_item(p, FS_DIAG_BARRIER_DEADLOCK, p->y->command_item[stuck->command[0]],
                     "more barriers seldom help; the default method does not deadlock: "
                     "--barrier-method best",
                     &t);
}

/* The published method gives each op exactly one barrier. */
static fs_status report_too_large(const barrier_pass *p) {
  assert(p->result.short_item < p->s->n_items);
  const fs_barriers *r = &p->result;
  fs_text t;
  fs_text_init(&t, p->ctx);
  put_item(p, &t, r->short_item);
  fs_text_printf(&t,
                 " needs %llu barriers of %u slot%s at once, and the published barrier method "
                 "gives it 1",
                 (unsigned long long)r->short_need, p->o->slots, fs_plural_s(p->o->slots));
  return refuse_item(p, FS_DIAG_TOO_FEW_BARRIERS, r->short_item,
                     "more barriers do not help; the default method gives it several: "
                     "--barrier-method best",
                     &t);
}

/* The barriers of loops come behind all others. */
static fs_status place_loops(barrier_pass *p) {
  fs_sync *y = p->y;
  uint64_t all = p->nests.held + y->barriers_used;
  if (p->o->bound != FS_BARRIERS_AUTO && all > p->o->bound) {
    return report_held(p, y->barriers_used);
  }
  if (all > INT32_MAX) {
    return fs_fail(p->ctx, FSCHED_SYSTEM, FS_DIAG_STREAM_LIMIT, FS_NOWHERE, NULL,
                   "%llu barriers, of which the format holds at most %d", (unsigned long long)all,
                   INT32_MAX);
  }
  FS_TRY(fs_new(&y->arena, &y->loop_barrier0, p->s->graph->n_rolled));
  for (uint32_t l = 0; l < p->s->graph->n_rolled; l++) {
    y->loop_barrier0[l] = y->barriers_used + (uint32_t)p->nests.first[l];
  }
  y->loop_barriers = (uint32_t)p->nests.held;
  y->barriers_used += (uint32_t)p->nests.held;
  return FSCHED_OK;
}

/* Places the loops' barriers, and finds how many are left for all others. */
static fs_status bound_others(barrier_pass *p) {
  FS_TRY(fs_barrier_nests_place(p->scratch, p->s, p->y, p->problem.pred, &p->nests));
  uint64_t held = p->nests.held;
  p->problem.bound = p->o->bound;
  if (p->o->bound != FS_BARRIERS_AUTO) {
    if (held > p->o->bound) {
      return report_held(p, 0);
    }
    p->problem.bound =
        held == p->o->bound ? 1 : p->o->bound - (uint32_t)held; /* or it is found later */
  }
  return FSCHED_OK;
}

static fs_status solve_problem(barrier_pass *p) {
  if (!p->o->published) {
    fs_status status = fs_barriers_assign(p->ctx, &p->y->arena, &p->problem, &p->result);
    return status == FSCHED_INFEASIBLE ? report_too_few(p) : status;
  }
  fs_barrier_stuck stuck = {0};
  fs_status status = fs_barriers_published(p->ctx, &p->y->arena, &p->problem, &p->result, &stuck);
  if (status == FSCHED_INFEASIBLE) {
    return report_too_large(p);
  }
  FS_TRY(status);
  return stuck.n == 0 ? FSCHED_OK : report_deadlock(p, &stuck);
}

/* --- the result --- */

static void fill_barriers(barrier_pass *p) {
  assert(p->result.used <= p->result.n);
  const fs_barriers *r = &p->result;
  fs_sync *y = p->y;
  y->n_barriers = r->n;
  y->barriers_used = r->used;
  y->barriers_least = r->least;
  y->least_proven = r->least_proven;
  y->barrier_physical = r->physical;
  y->barrier_use = r->use;
  y->barrier_wait0 = r->wait0;
  y->barrier_wait = r->wait;
  y->barrier_update0 = r->update0;
  y->barrier_update = r->update;
  y->barrier_update_slots = r->slots;
  y->barrier_gates = r->n_gates;
}

/* The items known to be over on each queue before an item starts: positions in the new order. */
typedef struct known_items {
  const uint32_t *position; /* per item */
  uint32_t *upto;           /* per queue: its items up to there are over */
  uint32_t *stamp;          /* per queue: the item that `upto` is for */
  uint32_t *alone;          /* per item: the item before which it is known to be over itself; for
                             * slow ones `upto` says nothing */
  uint32_t *control0;       /* per item: its first control edge, when there is one */
} known_items;

static void know(const barrier_pass *p, const known_items *k, uint32_t to, uint32_t item) {
  assert(item < p->s->n_items);
  uint32_t n;
  const uint32_t *queues = fs_item_queues(p->s, item, &n);
  k->alone[item] = to;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t q = queues[i];
    if (k->stamp[q] != to || k->upto[q] < k->position[item]) {
      k->stamp[q] = to;
      k->upto[q] = k->position[item];
    }
  }
}

static bool is_known(const barrier_pass *p, const known_items *k, uint32_t to, uint32_t item) {
  if (fs_item_slow(p->s, item)) {
    return k->alone[item] == to;
  }
  uint32_t n;
  const uint32_t *queues = fs_item_queues(p->s, item, &n);
  for (uint32_t i = 0; i < n; i++) {
    if (k->stamp[queues[i]] != to || k->upto[queues[i]] < k->position[item]) {
      return false;
    }
  }
  return true;
}

/* Collects predecessors from queue order, edges of the graph, copies' data and existing control
 * edges. */
static void know_predecessors(const barrier_pass *p, const known_items *k, uint32_t to) {
  const fsched_graph *g = p->s->graph;
  const fs_sync *y = p->y;
  if (fs_item_plain(p->s, to)) {
    know(p, k, to, to); /* what precedes it on its queue */
  }
  for (uint32_t i = y->data0[to]; i < y->data0[to + 1]; i++) {
    know(p, k, to, y->data[i]);
  }
  for (uint32_t i = to < g->n_ops ? g->pred0[to] : 0; to < g->n_ops && i < g->pred0[to + 1]; i++) {
    know(p, k, to, g->pred[i]);
  }
  for (uint32_t i = k->control0[to]; i < y->n_control && y->control_to[i] == to; i++) {
    know(p, k, to, y->control_from[i]);
  }
}

static fs_status begin_known(barrier_pass *p, known_items *k) {
  const fs_schedule *s = p->s;
  uint32_t *position;
  FS_TRY(fs_new(p->scratch, &position, s->n_items));
  for (uint32_t i = 0; i < s->n_items; i++) {
    position[p->result.order[i]] = i;
  }
  k->position = position;
  FS_TRY(fs_new(p->scratch, &k->upto, s->n_queues));
  FS_TRY(fs_new_none(p->scratch, &k->stamp, s->n_queues));
  FS_TRY(fs_new_none(p->scratch, &k->alone, s->n_items));
  FS_TRY(fs_new_none(p->scratch, &k->control0, s->n_items));
  for (uint32_t i = p->y->n_control; i-- > 0;) {
    k->control0[p->y->control_to[i]] = i;
  }
  return FSCHED_OK;
}

/* Control edges as they are made. */
typedef struct control_edges {
  uint32_t n;
  uint32_t *from, *to;
  uint8_t *why;
  FS_VEC(uint64_t) one; /* those to one item, as keys, with room to sort */
} control_edges;

/* Stores the edges that were found to the item, by the new positions of their sources. */
static fs_status store_edges(const barrier_pass *p, control_edges *e) {
  size_t n = e->one.n;
  FS_TRY(fs_vec_reserve(p->ctx, &e->one, 2 * n));
  fs_radix_sort_block(e->one.at, n);
  for (size_t i = 0; i < n; i++) {
    e->from[e->n] = p->result.order[fs_control_key_from(e->one.at[i])];
    e->to[e->n] = p->result.order[fs_control_key_to(e->one.at[i])];
    e->why[e->n++] = (uint8_t)fs_control_key_why(e->one.at[i]);
  }
  e->one.n = 0;
  return FSCHED_OK;
}

static fs_status find_edge(const barrier_pass *p, const known_items *k, control_edges *e,
                           uint32_t from, uint32_t to, fs_why why) {
  return fs_vec_push(p->ctx, &e->one, fs_control_key(k->position[from], k->position[to], why));
}

/* Makes control edges of the new orders to one item, the latest first, since an edge that is kept
 * may make earlier ones redundant. */
static fs_status add_control_to(barrier_pass *p, const known_items *k, control_edges *e,
                                uint32_t item) {
  const fs_sync *y = p->y;
  const fs_barriers *r = &p->result;
  uint32_t was = y->position[item];
  FS_ASSERT_SLOW(p->problem.order[was] == item);
  for (uint32_t i = k->control0[item]; i < y->n_control && y->control_to[i] == item; i++) {
    FS_TRY(find_edge(p, k, e, y->control_from[i], item, (fs_why)y->control_why[i]));
  }
  if (r->added0[was] < r->added0[was + 1]) {
    know_predecessors(p, k, item);
  }
  for (uint32_t i = r->added0[was + 1]; i-- > r->added0[was];) {
    if (!is_known(p, k, item, r->added[i])) {
      know(p, k, item, r->added[i]);
      FS_TRY(find_edge(p, k, e, r->added[i], item, FS_WHY_BARRIER));
    }
  }
  return store_edges(p, e);
}

static fs_status add_all_control(barrier_pass *p, control_edges *e) {
  fs_sync *y = p->y;
  size_t room = (size_t)y->n_control + p->result.n_added;
  known_items k;
  if (room > UINT32_MAX) {
    return fs_fail(p->ctx, FSCHED_SYSTEM, FS_DIAG_INTERNAL, FS_NOWHERE, NULL,
                   "more than 2^32 control edges; more barriers would do");
  }
  FS_TRY(begin_known(p, &k));
  FS_TRY(fs_new(&y->arena, &e->from, room));
  FS_TRY(fs_new(&y->arena, &e->to, room));
  FS_TRY(fs_new(&y->arena, &e->why, room));
  for (uint32_t i = 0; i < p->s->n_items; i++) {
    FS_TRY(add_control_to(p, &k, e, p->result.order[i]));
  }
  return FSCHED_OK;
}

/* Makes control edges of the new orders; all are then ascending in the new order. */
static fs_status add_control(barrier_pass *p) {
  fs_sync *y = p->y;
  control_edges e = {0};
  fs_status status = add_all_control(p, &e);
  fs_vec_free(p->ctx, &e.one);
  FS_TRY(status);
  assert(e.n >= y->n_control); /* else edges to one item did not stand side by side */
  y->barrier_added = e.n - y->n_control;
  y->n_control = e.n;
  y->control_from = e.from;
  y->control_to = e.to;
  y->control_why = e.why;
  return FSCHED_OK;
}

typedef struct counts {
  uint32_t *producers, *consumers; /* per barrier: those that have not started */
  const uint32_t *before; /* per barrier: the one before it on its physical barrier, or FS_NONE */
} counts;

/* Starts and ends the item at once; false: its barriers do not let it start. */
static bool start_item(const barrier_pass *p, uint32_t item, counts n) {
  const fs_barriers *r = &p->result;
  const fs_sync *y = p->y;
  bool can = true;
  for (uint32_t k = y->item_command0[item]; k < y->item_command0[item + 1]; k++) {
    uint32_t c = y->item_command[k];
    for (uint32_t i = r->wait0[c]; i < r->wait0[c + 1]; i++) {
      can = can && n.producers[r->wait[i]] == 0;
    }
    for (uint32_t i = r->update0[c]; i < r->update0[c + 1]; i++) {
      uint32_t before = n.before[r->update[i]];
      can = can && (before == FS_NONE || n.consumers[before] == 0);
    }
  }
  for (uint32_t k = y->item_command0[item]; k < y->item_command0[item + 1] && can; k++) {
    uint32_t c = y->item_command[k];
    for (uint32_t i = r->wait0[c]; i < r->wait0[c + 1]; i++) {
      n.consumers[r->wait[i]]--;
    }
    for (uint32_t i = r->update0[c]; i < r->update0[c + 1]; i++) {
      n.producers[r->update[i]]--;
    }
  }
  return can;
}

/* Can the machine start the items in the order and at the times of the plan?  A command that waits
 * for only some barriers of an op has no order with the op, and is still held back. */
static fs_status follows_plan(barrier_pass *p, bool *follows) {
  const fs_barriers *r = &p->result;
  const fs_sync *y = p->y;
  uint32_t *producers, *consumers, *before, *last;
  FS_TRY(fs_new_zero(p->scratch, &producers, r->n));
  FS_TRY(fs_new_zero(p->scratch, &consumers, r->n));
  FS_TRY(fs_new(p->scratch, &before, r->n));
  FS_TRY(fs_new_none(p->scratch, &last, r->used));
  for (uint32_t i = 0; i < r->update0[y->n_commands]; i++) {
    producers[r->update[i]]++;
  }
  for (uint32_t i = 0; i < r->wait0[y->n_commands]; i++) {
    consumers[r->wait[i]]++;
  }
  for (uint32_t b = 0; b < r->n; b++) { /* uses ascend with barriers */
    before[b] = last[r->physical[b]];
    last[r->physical[b]] = b;
  }
  *follows = true;
  for (uint32_t i = 0; i < p->s->n_items && *follows; i++) {
    uint32_t item = p->s->order[i];
    *follows = r->start[item] == p->s->start[item] &&
               start_item(p, item, (counts){producers, consumers, before});
  }
  return FSCHED_OK;
}

static fs_status run_barrier_pass(barrier_pass *p) {
  p->y->makespan_before = p->s->makespan;
  p->y->barrier_bound = p->o->bound;
  p->y->barrier_slots = p->o->slots;
  bool follows;
  FS_TRY(make_problem(p));
  FS_TRY(bound_others(p));
  FS_TRY(solve_problem(p));
  fill_barriers(p);
  FS_TRY(place_loops(p));
  FS_TRY(follows_plan(p, &follows));
  if (p->result.n_added > 0 || p->result.n_gates > 0 || !follows) {
    FS_TRY(add_control(p));
    return fs_retime(p->ctx, p->s, p->y, p->result.start, p->result.order);
  }
  return FSCHED_OK;
}

fs_status fs_barrier_run(fsched_context *ctx, fs_schedule *s, const fs_barrier_options *options,
                         fs_sync *sync) {
  assert(fs_sync_has_barriers(sync->kind) && options->bound > 0 && options->slots > 0);
  assert(sync->wait0 != NULL && sync->command_item != NULL);
  FS_SCRATCH(scratch, ctx);
  barrier_pass p = {.ctx = ctx, .s = s, .y = sync, .o = options, .scratch = &scratch};
  fs_status status = run_barrier_pass(&p);
  assert(status != FSCHED_OK || options->bound == FS_BARRIERS_AUTO ||
         sync->barriers_used <= options->bound);
  return status;
}
