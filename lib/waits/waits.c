/* SPDX-License-Identifier: Apache-2.0 */
/* Each item has to come after its predecessors: edges of the graph, data of copies, control edges.
 * The items are walked in order of issue with the exact clock of every queue, which already knows
 * most of these:
 *
 *     queue a   |- p1 -|- p2 -|
 *                          \  wait a:2
 *     queue b            |- x -|- y -|      y after p1: known, since x waited for p2
 *
 * The candidates of a command are tried latest first, each against the clock of what its queue
 * knows and of the waits already kept.  The waits that are kept are minimal: a clock knows nothing
 * later than the item it belongs to, so an earlier candidate can never make a later one redundant,
 * alone or together with others.
 *
 * A command that starts knows by queue order that those before it on its queue are over which keep
 * the queue until they are; a slow one may still run.  So it waits for the epochs of slow ones on
 * its own axis, too, and what queue order tells of that axis ends before the first slow command
 * that is not known to be over:
 *
 *     queue a   |-p1-|-slow-|-p3-|-x-|          known of a when x starts: a:1, and that p3 is over
 *
 * A gang's members are commands of their own and each waits for itself.  A command that comes after
 * a gang waits for its collective axis, which stands for all members; that wait is redundant only
 * when the clock knows every member.  An edge at a loop may concern some of its members alone
 * (model/lags.h): then these wait, or are waited for on their own axes.
 *
 * Source: IREE's causal dependency tracking with vector clock frontiers.  There clocks are bounded
 * when waits are dropped; here only the stored frontiers are bounded (stored.c). */
#include "waits/waits.h"

#include "base/group.h"
#include "base/radix.h"
#include "model/access.h"
#include "waits/before.h"
#include "waits/clock.h"
#include "waits/parts.h"
#include "waits/slow.h"
#include "waits/stored.h"
#include "waits/told.h"

typedef struct waits_pass {
  fsched_context *ctx;
  const fs_schedule *s;
  fs_sync *y;
  fs_arena *scratch;
  bool stores; /* frontiers are made with the waits */
  fs_clocks clocks;
  fs_slow_axes slow;
  fs_storer storer;

  /* By position in s->order. */
  fs_before before;       /* its successors are those that are left */
  fs_wait *complete;      /* the wait for the item's end: axis and epoch */
  fs_clock *item_clock;   /* what is complete with the item, while it has successors left */
  fs_clock *member_clock; /* the same per command, of items in gangs; NULL: there are no lags */
  fs_clock *queue_clock;  /* what is complete with the queue's latest command */
  fs_clocks asked;        /* clocks over all axes, collective ones too */
  fs_clock *queue_asked;  /* per queue: the latest epochs that it has waited for */

  /* Results per command, in order of the walk: where they begin and how many. */
  FS_VEC(fs_wait) wait;
  FS_VEC(uint64_t) key; /* of a command's waits, for sorting */
  FS_VEC(fs_wait) frontier;
  uint32_t *wait_at, *frontier_at, *n_waits, *n_frontier;
  uint32_t *next_epoch; /* per queue */

  /* Of frontiers from barriers, per barrier: what its producers so far know, while it has waits
   * left. */
  fs_clock *barrier_clock;
  uint32_t *waits_left;
  fs_parts parts;
} waits_pass;

static const uint32_t *queues_at(const waits_pass *p, uint32_t position, uint32_t *n) {
  FS_ASSERT_SLOW(position < p->s->n_items);
  return fs_item_queues(p->s, p->s->order[position], n);
}

/* Commands and epochs */

static fs_status count_commands(waits_pass *p) {
  const fs_schedule *s = p->s;
  fs_sync *y = p->y;
  y->n_axes = s->n_queues + s->n_gangs;
  FS_TRY(fs_new_zero(&y->arena, &y->queue_command0, (size_t)s->n_queues + 1));
  FS_TRY(fs_new(&y->arena, &y->item_command0, (size_t)s->n_items + 1));
  y->item_command0[0] = 0;
  for (uint32_t item = 0; item < s->n_items; item++) {
    uint32_t n;
    const uint32_t *queues = fs_item_queues(s, item, &n);
    for (uint32_t i = 0; i < n; i++) {
      y->queue_command0[queues[i] + 1]++;
    }
    y->item_command0[item + 1] = y->item_command0[item] + n;
  }
  fs_group_starts(y->queue_command0, s->n_queues);
  y->n_commands = y->queue_command0[s->n_queues];
  return FSCHED_OK;
}

static fs_status number_commands(waits_pass *p) {
  const fs_schedule *s = p->s;
  fs_sync *y = p->y;
  FS_TRY(count_commands(p));
  FS_TRY(fs_new(&y->arena, &y->command_item, y->n_commands));
  FS_TRY(fs_new(&y->arena, &y->item_command, y->n_commands));
  FS_TRY(fs_new_zero(&y->arena, &y->item_gang_epoch, s->n_items));
  uint32_t *gang_epoch;
  FS_TRY(fs_new_zero(p->scratch, &gang_epoch, s->n_gangs));
  FS_TRY(fs_new_zero(p->scratch, &p->next_epoch, s->n_queues));
  FS_TRY(fs_new(p->scratch, &p->complete, s->n_items));
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t item = s->order[i];
    uint32_t n;
    const uint32_t *queues = queues_at(p, i, &n);
    for (uint32_t m = 0; m < n; m++) {
      uint32_t command = y->queue_command0[queues[m]] + p->next_epoch[queues[m]]++;
      y->command_item[command] = item;
      y->item_command[y->item_command0[item] + m] = command;
    }
    p->complete[i] = (fs_wait){queues[0], p->next_epoch[queues[0]]};
    if (!fs_item_plain(s, item)) {
      uint32_t gang = s->op_gang[item];
      y->item_gang_epoch[item] = ++gang_epoch[gang];
      p->complete[i] = (fs_wait){s->n_queues + gang, gang_epoch[gang]};
    }
  }
  return FSCHED_OK;
}

static uint32_t command_epoch(const waits_pass *p, uint32_t command, uint32_t queue) {
  FS_ASSERT_SLOW(command >= p->y->queue_command0[queue] &&
                 command < p->y->queue_command0[queue + 1]);
  return command - p->y->queue_command0[queue] + 1;
}

/* The walk */

static bool is_over(const waits_pass *p, fs_clock clock, uint32_t command, uint32_t queue) {
  fs_clock_entry e = fs_slow_entry(&p->slow, command, queue);
  return fs_clock_get(&p->clocks, clock, e.axis) >= e.epoch;
}

/* Is the item at a position, all members of it, known to be complete to a command on queue q? */
static bool known(const waits_pass *p, fs_clock clock, uint32_t position, uint32_t q) {
  FS_ASSERT_SLOW(position < p->s->n_items);
  fs_wait done = p->complete[position];
  if (done.axis < p->s->n_queues) {
    return is_over(p, clock, p->y->queue_command0[done.axis] + done.epoch - 1, done.axis);
  }
  uint32_t item = p->s->order[position];
  uint32_t in_order = fs_item_slow(p->s, item) ? FS_NONE : q; /* queue order tells its end there */
  uint32_t n;
  const uint32_t *queues = fs_item_queues(p->s, item, &n);
  const uint32_t *commands = &p->y->item_command[p->y->item_command0[item]];
  for (uint32_t i = 0; i < n; i++) {
    if (queues[i] != in_order && !is_over(p, clock, commands[i], queues[i])) {
      return false;
    }
  }
  return true;
}

static bool comes_before(fs_wait a, fs_wait b) {
  return a.axis != b.axis ? a.axis < b.axis : a.epoch < b.epoch;
}

/* Few: by insertion. */
static void sort_few_waits(fs_wait *w, size_t n) {
  for (size_t i = 1; i < n; i++) {
    fs_wait e = w[i];
    size_t j = i;
    for (; j > 0 && comes_before(e, w[j - 1]); j--) {
      w[j] = w[j - 1];
    }
    w[j] = e;
  }
}

/* By axis; each is of an axis of its own, unless slow commands tell of their own ends. */
static fs_status sort_waits(waits_pass *p, fs_wait *w, size_t n) {
  if (n <= 16) {
    sort_few_waits(w, n);
    return FSCHED_OK;
  }
  FS_TRY(fs_vec_reserve(p->ctx, &p->key, 2 * n));
  for (size_t i = 0; i < n; i++) {
    p->key.at[i] = (uint64_t)w[i].axis << 32 | w[i].epoch;
  }
  fs_radix_sort_block(p->key.at, n);
  for (size_t i = 0; i < n; i++) {
    w[i] = (fs_wait){(uint32_t)(p->key.at[i] >> 32), (uint32_t)p->key.at[i]};
  }
  return FSCHED_OK;
}

/* Does the item at a position run on queue q and nowhere else, and keep it until it is over? */
static bool alone_on(const waits_pass *p, uint32_t position, uint32_t q) {
  uint32_t n;
  const uint32_t *queues = queues_at(p, position, &n);
  return n == 1 && queues[0] == q && !fs_item_slow(p->s, p->s->order[position]);
}

/* Queue q comes to know what is complete with an item or a member of one, which is over at `done`:
 * by order, or as it is known, or by a wait. */
static fs_status want_one(waits_pass *p, uint32_t q, bool in_order, bool is_known, fs_wait done,
                          fs_clock brings, fs_clock *clock) {
  fs_sync *y = p->y;
  y->waits_edges++;
  if (in_order) {
    y->waits_same_queue++;
  } else if (is_known) {
    y->waits_dominated++;
    y->waits_dominated_exact += fs_clock_get(&p->asked, p->queue_asked[q], done.axis) >= done.epoch;
  } else {
    y->waits_emitted++;
    FS_TRY(fs_vec_push(p->ctx, &p->wait, done));
    FS_TRY(fs_clock_raise(&p->asked, &p->queue_asked[q], done.axis, done.epoch));
    FS_TRY(fs_clock_merge(&p->clocks, clock, brings));
  }
  return FSCHED_OK;
}

/* Wants these members of the gang at a position. */
static fs_status want_members(waits_pass *p, uint32_t position, uint64_t members, uint32_t q,
                              fs_clock *clock) {
  uint32_t n, item = p->s->order[position];
  const uint32_t *queues = fs_item_queues(p->s, item, &n);
  for (uint32_t k = 0; k < n; k++) {
    uint32_t command = p->y->item_command[p->y->item_command0[item] + k];
    if ((members >> k & 1) != 0) {
      bool over = is_over(p, *clock, command, queues[k]);
      fs_wait done = {queues[k], command_epoch(p, command, queues[k])};
      FS_TRY(want_one(p, q, queues[k] == q, over, done, p->member_clock[command], clock));
    }
  }
  return FSCHED_OK;
}

/* Wants the i-th of all predecessors, for the command of a member on queue q. */
static fs_status want_predecessor(waits_pass *p, uint32_t i, uint32_t member, uint32_t q,
                                  fs_clock *clock) {
  uint32_t pred = p->before.pred.at[i];
  fs_lag lag = fs_before_lag(&p->before, i);
  if (lag.to != FS_LAG_ALL && (lag.to >> member & 1) == 0) {
    return FSCHED_OK;
  }
  if (lag.from != FS_LAG_ALL) {
    return want_members(p, pred, lag.from, q, clock);
  }
  return want_one(p, q, alone_on(p, pred, q), known(p, *clock, pred, q), p->complete[pred],
                  p->item_clock[pred], clock);
}

/* Finds the waits of the command of a member on queue q; *clock: what is known before it starts. */
static fs_status find_waits(waits_pass *p, uint32_t position, uint32_t member, uint32_t q,
                            uint32_t command, fs_clock *clock) {
  FS_ASSERT_SLOW(q < p->s->n_queues && command < p->y->n_commands);
  size_t first = p->wait.n;
  for (uint32_t i = p->before.pred0[position]; i < p->before.pred0[position + 1]; i++) {
    FS_TRY(want_predecessor(p, i, member, q, clock));
  }
  p->wait_at[command] = (uint32_t)first;
  p->n_waits[command] = (uint32_t)(p->wait.n - first);
  return p->wait.n > first ? sort_waits(p, p->wait.at + first, p->wait.n - first) : FSCHED_OK;
}

/* Appends the frontier that the storer holds to the list of stored frontiers, as that of the
 * command. */
static fs_status file_frontier(waits_pass *p, uint32_t command) {
  fs_sync *y = p->y;
  size_t n = p->storer.entry.n;
  FS_TRY(fs_vec_reserve(p->ctx, &p->frontier, p->frontier.n + n));
  if (n > 0) {
    memcpy(p->frontier.at + p->frontier.n, p->storer.entry.at, n * sizeof *p->frontier.at);
  }
  p->frontier_at[command] = (uint32_t)p->frontier.n;
  p->n_frontier[command] = (uint32_t)n;
  p->frontier.n += n;
  y->tainted[command] = p->storer.tainted;
  y->frontier_tainted += p->storer.tainted;
  y->frontier_largest = n > y->frontier_largest ? (uint32_t)n : y->frontier_largest;
  return FSCHED_OK;
}

static fs_status store_frontier(waits_pass *p, uint32_t q, uint32_t command, fs_clock *clock) {
  FS_TRY(p->slow.any ? fs_slow_settle(&p->slow, &p->clocks, clock) : FSCHED_OK);
  FS_TRY(fs_storer_make(&p->storer, command, q, *clock));
  return file_frontier(p, command);
}

/* Commands up to an epoch have been issued on queue q: raises the queue's own epoch, in what it
 * knows, up to the first slow command that may still run. */
static fs_status go_on_in_order(waits_pass *p, uint32_t q, uint32_t issued) {
  const fs_sync *y = p->y;
  fs_clock *clock = &p->queue_clock[q];
  if (p->slow.any) { /* an epoch tells of quick commands alone */
    bool quick = !fs_item_slow(p->s, y->command_item[y->queue_command0[q] + issued - 1]);
    return quick ? fs_clock_raise(&p->clocks, clock, q, issued) : FSCHED_OK;
  }
  uint32_t before = fs_clock_get(&p->clocks, *clock, q), epoch = before;
  while (epoch < issued && !fs_item_slow(p->s, y->command_item[y->queue_command0[q] + epoch])) {
    epoch++;
  }
  return epoch > before ? fs_clock_raise(&p->clocks, clock, q, epoch) : FSCHED_OK;
}

/* `over`: what is complete with the command, which is what its queue knows when it starts, and the
 * queue up to its epoch. */
static fs_status file_command(waits_pass *p, uint32_t position, uint32_t q, uint32_t command,
                              fs_clock *over) {
  if (p->stores) {
    FS_TRY(store_frontier(p, q, command, over));
  }
  if (p->before.successors[position] > 0) {
    FS_TRY(fs_clock_merge(&p->clocks, &p->item_clock[position], *over));
  }
  if (p->member_clock != NULL && p->before.successors[position] > 0) {
    p->member_clock[command] = fs_clock_share(&p->clocks, *over);
  }
  return FSCHED_OK;
}

static fs_status issue_command(waits_pass *p, uint32_t position, uint32_t member, uint32_t q) {
  uint32_t command = p->y->item_command[p->y->item_command0[p->s->order[position]] + member];
  fs_clock_entry own = fs_slow_entry(&p->slow, command, q);
  FS_TRY(find_waits(p, position, member, q, command, &p->queue_clock[q]));
  FS_TRY(go_on_in_order(p, q, command_epoch(p, command, q)));
  if (fs_clock_get(&p->clocks, p->queue_clock[q], own.axis) == own.epoch) {
    return file_command(p, position, q, command, &p->queue_clock[q]);
  }
  fs_clock over = fs_clock_share(&p->clocks, p->queue_clock[q]);
  FS_TRY(fs_clock_raise(&p->clocks, &over, own.axis, own.epoch));
  FS_TRY(file_command(p, position, q, command, &over));
  fs_clock_drop(&p->clocks, over);
  return FSCHED_OK;
}

/* Nobody comes after the item at a position any more. */
static void drop_clocks(waits_pass *p, uint32_t position) {
  uint32_t item = p->s->order[position];
  const fs_sync *y = p->y;
  fs_clock_drop(&p->clocks, p->item_clock[position]);
  for (uint32_t i = y->item_command0[item];
       p->member_clock != NULL && i < y->item_command0[item + 1]; i++) {
    fs_clock_drop(&p->clocks, p->member_clock[y->item_command[i]]);
  }
}

static fs_status issue_item(waits_pass *p, uint32_t position) {
  uint32_t item = p->s->order[position];
  uint32_t n;
  const uint32_t *queues = fs_item_queues(p->s, item, &n);
  for (uint32_t m = 0; m < n; m++) {
    FS_TRY(issue_command(p, position, m, queues[m]));
  }
  for (uint32_t i = p->before.pred0[position]; i < p->before.pred0[position + 1]; i++) {
    if (--p->before.successors[p->before.pred.at[i]] == 0) {
      drop_clocks(p, p->before.pred.at[i]);
    }
  }
  return FSCHED_OK;
}

/* Makes the clocks of queues, and room for the frontiers. */
static fs_status begin_walk(waits_pass *p) {
  fs_sync *y = p->y;
  y->n_signals = y->frontier_largest = y->frontier_tainted = 0;
  FS_TRY(fs_new_zero(p->scratch, &p->queue_clock, p->s->n_queues));
  FS_TRY(fs_new(p->scratch, &p->frontier_at, y->n_commands));
  FS_TRY(fs_new(p->scratch, &p->n_frontier, y->n_commands));
  FS_TRY(fs_new(&y->arena, &y->tainted, y->n_commands));
  FS_TRY(fs_slow_find(p->scratch, y, fs_sync_has_barriers(y->kind), &p->slow));
  FS_TRY(fs_clocks_init(p->ctx, &p->clocks, fs_slow_count_axes(&p->slow)));
  p->storer = (fs_storer){.ctx = p->ctx,
                          .s = p->s,
                          .sync = y,
                          .clocks = &p->clocks,
                          .slow = &p->slow,
                          .capacity = fs_max(p->s->graph->target.frontier_capacity, 1)};
  return fs_storer_init(&p->storer, p->scratch);
}

static fs_status walk(waits_pass *p) {
  FS_TRY(begin_walk(p));
  FS_TRY(fs_new_zero(p->scratch, &p->item_clock, p->s->n_items));
  if (p->before.lags.lag != NULL) {
    FS_TRY(fs_new_zero(p->scratch, &p->member_clock, p->y->n_commands));
  }
  FS_TRY(fs_new(p->scratch, &p->wait_at, p->y->n_commands));
  FS_TRY(fs_new(p->scratch, &p->n_waits, p->y->n_commands));
  FS_TRY(fs_new_zero(p->scratch, &p->queue_asked, p->s->n_queues));
  FS_TRY(fs_clocks_init(p->ctx, &p->asked, p->y->n_axes));
  for (uint32_t i = 0; i < p->s->n_items; i++) {
    FS_TRY(issue_item(p, i));
  }
  assert(p->y->waits_edges == p->y->waits_same_queue + p->y->waits_dominated + p->y->waits_emitted);
  return FSCHED_OK;
}

/* Results */

/* Makes a CSR in order of commands from lists in order of the walk. */
static fs_status file_lists(waits_pass *p, const fs_wait *list, const uint32_t *at,
                            const uint32_t *n, size_t total, uint32_t **out0, fs_wait **out) {
  fs_sync *y = p->y;
  if (total > UINT32_MAX) {
    return fs_fail(p->ctx, FSCHED_SYSTEM, FS_DIAG_INTERNAL, FS_NOWHERE, NULL,
                   "more than 2^32 frontier entries; a smaller frontier capacity would do");
  }
  FS_TRY(fs_new(&y->arena, out0, (size_t)y->n_commands + 1));
  FS_TRY(fs_new(&y->arena, out, total));
  uint32_t fill = 0;
  for (uint32_t c = 0; c < y->n_commands; c++) {
    (*out0)[c] = fill;
    if (n[c] > 0) {
      memcpy(*out + fill, list + at[c], n[c] * sizeof *list);
    }
    fill += n[c];
  }
  (*out0)[y->n_commands] = fill;
  assert(fill == total);
  return FSCHED_OK;
}

static fs_scope scope_between(const fs_schedule *s, uint32_t a, uint32_t b) {
  const fs_target *t = &s->graph->target;
  if (a >= t->n_queues || b >= t->n_queues) {
    return FS_SCOPE_DEVICE; /* implicit queues are all on one */
  }
  if (t->queue[a].machine != t->queue[b].machine) {
    return FS_SCOPE_SYSTEM;
  }
  return t->queue[a].device == t->queue[b].device ? FS_SCOPE_DEVICE : FS_SCOPE_DEVICE_GROUP;
}

/* `own`: the wait is for the axis of the waiting queue itself. */
static void mark(waits_pass *p, uint32_t command, uint32_t queue, uint32_t waiter, bool own) {
  FS_ASSERT_SLOW(command < p->y->n_commands);
  fs_sync *y = p->y;
  fs_scope scope = own ? FS_SCOPE_QUEUE : scope_between(p->s, queue, waiter);
  y->n_signals += !y->signal[command];
  y->signal[command] = 1;
  y->scope[command] = scope > y->scope[command] ? (uint8_t)scope : y->scope[command];
}

/* Marks the commands whose ends are awaited.  gang_item: items by gang and epoch. */
static void mark_signals(waits_pass *p, const uint32_t *gang_item0, const uint32_t *gang_item) {
  const fs_sync *y = p->y;
  for (uint32_t q = 0; q < p->s->n_queues; q++) {
    for (uint32_t w = y->wait0[y->queue_command0[q]]; w < y->wait0[y->queue_command0[q + 1]]; w++) {
      uint32_t axis = y->wait[w].axis;
      uint32_t epoch = y->wait[w].epoch;
      if (axis < p->s->n_queues) {
        mark(p, y->queue_command0[axis] + epoch - 1, axis, q, axis == q);
        continue;
      }
      uint32_t item = gang_item[gang_item0[axis - p->s->n_queues] + epoch - 1];
      uint32_t n;
      const uint32_t *queues = fs_item_queues(p->s, item, &n);
      for (uint32_t m = 0; m < n; m++) {
        mark(p, y->item_command[y->item_command0[item] + m], queues[m], q, false);
      }
    }
  }
}

static fs_status find_signals(waits_pass *p) {
  fs_sync *y = p->y;
  FS_TRY(fs_new_zero(&y->arena, &y->signal, y->n_commands));
  FS_TRY(fs_new_zero(&y->arena, &y->scope, y->n_commands));
  uint32_t *item0;
  uint32_t *items;
  FS_TRY(fs_sync_gang_ops(y, p->scratch, &item0, &items));
  mark_signals(p, item0, items);
  return FSCHED_OK;
}

static fs_status find_all_waits(waits_pass *p) {
  fs_sync *y = p->y;
  y->waits_edges = y->waits_same_queue = y->waits_dominated = y->waits_emitted = 0;
  y->waits_dominated_exact = 0;
  FS_TRY(number_commands(p));
  FS_TRY(fs_before_collect(p->ctx, p->scratch, y, &p->before));
  FS_TRY(walk(p));
  return file_lists(p, p->wait.at, p->wait_at, p->n_waits, p->wait.n, &y->wait0, &y->wait);
}

static fs_status file_frontiers(waits_pass *p) {
  return file_lists(p, p->frontier.at, p->frontier_at, p->n_frontier, p->frontier.n,
                    &p->y->frontier0, &p->y->frontier);
}

static fs_status run_waits_pass(waits_pass *p) {
  p->stores = true;
  FS_TRY(find_all_waits(p));
  FS_TRY(file_frontiers(p));
  return find_signals(p);
}

/* Frontiers from barriers and from stops */

/* *clock: what is known before the command starts.  The clocks of the producers are merged once per
 * barrier, not once per command that waits for it.  Commands that update several are in no
 * barrier's clock (parts.h). */
static fs_status learn_barriers(waits_pass *p, uint32_t command, fs_clock *clock) {
  const fs_sync *y = p->y;
  for (uint32_t i = y->barrier_wait0[command]; i < y->barrier_wait0[command + 1]; i++) {
    uint32_t barrier = y->barrier_wait[i];
    assert(p->waits_left[barrier] > 0);
    FS_TRY(fs_clock_merge(&p->clocks, clock, p->barrier_clock[barrier]));
    if (--p->waits_left[barrier] == 0) {
      fs_clock_drop(&p->clocks, p->barrier_clock[barrier]);
      p->barrier_clock[barrier] = 0;
    }
  }
  FS_TRY(fs_parts_learn(&p->parts, command, clock));
  for (uint32_t i = y->barrier_wait0[command]; i < y->barrier_wait0[command + 1]; i++) {
    if (p->waits_left[y->barrier_wait[i]] == 0) {
      fs_parts_forget(&p->parts, y->barrier_wait[i]);
    }
  }
  return FSCHED_OK;
}

static fs_status tell_barriers(waits_pass *p, uint32_t command, fs_clock clock) {
  const fs_sync *y = p->y;
  for (uint32_t i = y->barrier_update0[command]; i < y->barrier_update0[command + 1]; i++) {
    FS_TRY(fs_clock_merge(&p->clocks, &p->barrier_clock[y->barrier_update[i]], clock));
  }
  return fs_parts_hand_on(&p->parts, command);
}

/* The command is over; its queue knows that only if it is quick. */
static fs_status end_with_barriers(waits_pass *p, uint32_t q, uint32_t command, fs_clock *clock) {
  fs_clock_entry own = fs_slow_entry(&p->slow, command, q);
  bool slow = own.axis != q;
  fs_clock over = slow ? fs_clock_share(&p->clocks, *clock) : 0, *to = slow ? &over : clock;
  FS_TRY(fs_clock_raise(&p->clocks, to, own.axis, own.epoch));
  FS_TRY(store_frontier(p, q, command, to));
  if (!fs_parts_split(p->y, command)) {
    FS_TRY(tell_barriers(p, command, *to));
  }
  fs_clock_drop(&p->clocks, over);
  return FSCHED_OK;
}

static fs_status issue_with_barriers(waits_pass *p, uint32_t item) {
  const fs_sync *y = p->y;
  uint32_t n;
  const uint32_t *queues = fs_item_queues(p->s, item, &n);
  for (uint32_t m = 0; m < n; m++) {
    uint32_t q = queues[m];
    uint32_t command = y->item_command[y->item_command0[item] + m];
    fs_clock *clock = &p->queue_clock[q];
    FS_TRY(learn_barriers(p, command, clock));
    if (fs_parts_split(y, command)) { /* one of its barriers alone tells only that it has begun */
      FS_TRY(tell_barriers(p, command, *clock));
    }
    FS_TRY(end_with_barriers(p, q, command, clock));
  }
  return FSCHED_OK;
}

static fs_status walk_barriers(waits_pass *p) {
  const fs_sync *y = p->y;
  FS_TRY(fs_new_zero(p->scratch, &p->barrier_clock, y->n_barriers));
  FS_TRY(fs_new_zero(p->scratch, &p->waits_left, y->n_barriers));
  FS_TRY(fs_parts_init(&p->parts, p->ctx, p->scratch, &p->slow, &p->clocks));
  for (uint32_t i = 0; i < y->barrier_wait0[y->n_commands]; i++) {
    p->waits_left[y->barrier_wait[i]]++;
  }
  for (uint32_t i = 0; i < p->s->n_items; i++) {
    FS_TRY(issue_with_barriers(p, p->s->order[i]));
  }
  return FSCHED_OK;
}

static fs_status walk_stops(waits_pass *p) {
  const fs_sync *y = p->y;
  fs_issue issue;
  fs_told told;
  FS_TRY(fs_sync_issue(y, p->scratch, &issue));
  FS_TRY(fs_told_init(&told, p->scratch, &p->storer, &p->clocks));
  for (uint32_t i = 0; i < y->n_commands; i++) {
    uint32_t command = issue.command[i];
    FS_TRY(fs_told_issue(&told, command, issue.queue[command]));
    FS_TRY(file_frontier(p, command));
  }
  return FSCHED_OK;
}

static fs_status walk_sync(waits_pass *p) {
  switch (p->y->kind) {
    case FS_SYNC_TIMELINE: /* whose frontiers are made with its waits */
      break;
    case FS_SYNC_BARRIER:
      return walk_barriers(p);
    case FS_SYNC_BLOCK:
      return walk_stops(p);
  }
  return FSCHED_OK;
}

static fs_status run_frontiers(waits_pass *p) {
  fs_sync *y = p->y;
  FS_TRY(begin_walk(p));
  FS_TRY(walk_sync(p));
  FS_TRY(file_frontiers(p));
  FS_TRY(fs_new_zero(&y->arena, &y->signal, y->n_commands));
  return fs_new_zero(&y->arena, &y->scope, y->n_commands);
}

static fs_status run_with(fsched_context *ctx, const fs_schedule *s, fs_sync *sync,
                          fs_status (*walk_all)(waits_pass *)) {
  FS_SCRATCH(scratch, ctx);
  waits_pass p = {.ctx = ctx,
                  .s = s,
                  .y = sync,
                  .clocks = {.ctx = ctx},
                  .asked = {.ctx = ctx},
                  .before = {.ctx = ctx},
                  .storer = {.ctx = ctx},
                  .scratch = &scratch};
  fs_status status = walk_all(&p);
  fs_parts_release(&p.parts);
  fs_clocks_release(&p.clocks);
  fs_clocks_release(&p.asked);
  fs_storer_release(&p.storer);
  fs_before_release(&p.before);
  fs_vec_free(ctx, &p.wait);
  fs_vec_free(ctx, &p.key);
  fs_vec_free(ctx, &p.frontier);
  return status;
}

fs_status fs_waits_run(fsched_context *ctx, const fs_schedule *s, fs_sync *sync) {
  assert(sync->position != NULL || s->n_items == 0);
  return run_with(ctx, s, sync, run_waits_pass);
}

fs_status fs_waits_run_alone(fsched_context *ctx, const fs_schedule *s, fs_sync *sync) {
  assert(sync->position != NULL || s->n_items == 0);
  return run_with(ctx, s, sync, find_all_waits);
}

fs_status fs_frontiers_run(fsched_context *ctx, const fs_schedule *s, fs_sync *sync) {
  assert(sync->queue_command0 != NULL && !fs_sync_has_waits(sync->kind));
  return run_with(ctx, s, sync, run_frontiers);
}
