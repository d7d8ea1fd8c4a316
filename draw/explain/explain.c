/* SPDX-License-Identifier: Apache-2.0 */
/* Explains commands of a stream from the stream alone.  The orderings that a command needs are
 * derived from tags and places (stream/wants.c); what it knows to be complete is found by following
 * waits and queues backwards (stream/known.c).  Each ordering then holds by the queue, by a wait,
 * or by something that was waited for before.
 *
 * A start is explained by a chain of predecessors, in which each link goes to the predecessor that
 * ends last.  With a tight plan that is at the very start; ticks between the two are gaps that
 * nothing in the stream explains.  Starts that the graph gives are not in the stream; with the
 * graph they are told. */
#include "draw/explain/explain.h"

#include <stdlib.h>

#include "base/context.h"
#include "fsched/program.h"
#include "model/sync.h"

/* ---- how one command is ordered */

static fs_status ask(fs_explain *e, uint32_t command, const fs_stream_wait *w) {
  uint32_t *latest = &e->asked[w->axis];
  if (*latest != FS_NONE && e->asked_at.at[*latest].epoch >= w->epoch) {
    return FSCHED_OK;
  }
  fs_asked a = {w->epoch, command, *latest};
  *latest = (uint32_t)e->asked_at.n;
  return fs_vec_push(e->ctx, &e->asked_at, a);
}

fs_status fs_explain_look_at(fs_explain *e, uint32_t command) {
  assert(command < e->s->n_commands && e->wants.item != NULL);
  const fs_stream *s = e->s;
  const fs_points *p = &e->order.points;
  e->command = command;
  e->asked_at.n = 0;
  memset(e->asked, 0xFF, s->n_axes * sizeof *e->asked);
  for (uint32_t c = s->queues[e->order.queue[command]].command0; c <= command; c++) {
    for (uint32_t w = p->point0[c]; w < p->point0[c + 1]; w++) {
      FS_TRY(ask(e, c, &p->point[w]));
    }
  }
  return fs_known_find(e->ctx, &e->known, command);
}

fs_stream_wait fs_explain_complete(const fs_explain *e, uint32_t item) {
  assert(item < e->s->n_commands);
  const fs_stream_command *c = &e->s->commands[item];
  if (c->gang_axis != FS_NONE) {
    return (fs_stream_wait){c->gang_axis, c->gang_epoch};
  }
  return (fs_stream_wait){e->order.queue[item], c->epoch};
}

uint32_t fs_explain_awaited(const fs_explain *e, const fs_stream_wait *w) {
  assert(w->axis < e->s->n_axes && w->epoch > 0);
  return e->wants.item[fs_stream_source(e->s, &e->order, w, FS_NONE)];
}

const uint32_t *fs_explain_members(const fs_explain *e, uint32_t item, uint32_t *n) {
  assert(item < e->s->n_commands && e->wants.item[item] == item);
  *n = e->wants.n_members[item];
  return e->order.order + e->wants.position[item];
}

uint64_t fs_explain_start(const fs_explain *e, uint32_t item) {
  assert(item < e->s->n_commands);
  uint32_t n;
  const uint32_t *members = fs_explain_members(e, item, &n);
  uint64_t start = UINT64_MAX;
  for (uint32_t i = 0; i < n; i++) {
    start = fs_min(start, e->s->commands[members[i]].start);
  }
  return start;
}

uint64_t fs_explain_end(const fs_explain *e, uint32_t item) {
  assert(item < e->s->n_commands);
  uint32_t n;
  const uint32_t *members = fs_explain_members(e, item, &n);
  uint64_t end = 0;
  for (uint32_t i = 0; i < n; i++) {
    end = fs_max(end, e->s->commands[members[i]].end);
  }
  return end;
}

/* Whether the item runs on this queue only, and keeps it until it is complete. */
static bool alone_on(const fs_explain *e, uint32_t item, uint32_t queue) {
  uint32_t n;
  const uint32_t *members = fs_explain_members(e, item, &n);
  return n == 1 && e->order.queue[members[0]] == queue &&
         !fs_command_slow(e->s, &e->s->commands[item]);
}

static bool has_point(const fs_explain *e, uint32_t command, fs_stream_wait done) {
  const fs_points *p = &e->order.points;
  for (uint32_t w = p->point0[command]; w < p->point0[command + 1]; w++) {
    if (p->point[w].axis == done.axis && p->point[w].epoch == done.epoch) {
      return true;
    }
  }
  return false;
}

/* Whether the command waits for the item.  Without timelines there are no waits for collective
 * axes; then it must wait for each member on another queue. */
static bool waits_for(const fs_explain *e, uint32_t command, uint32_t item) {
  uint32_t n, own = e->order.queue[command];
  const uint32_t *member = fs_explain_members(e, item, &n);
  if (fs_sync_has_waits(e->s->meta->sync)) {
    return has_point(e, command, fs_explain_complete(e, item));
  }
  for (uint32_t i = 0; i < n; i++) {
    fs_stream_wait done = {e->order.queue[member[i]], e->s->commands[member[i]].epoch};
    if (done.axis != own && !has_point(e, command, done)) {
      return false;
    }
  }
  return true;
}

fs_because fs_explain_tier(const fs_explain *e, const fs_want *want, uint32_t n) {
  assert(n > 0 && e->command != FS_NONE);
  uint32_t from = want->from;
  fs_needed_of need = fs_explain_need(e, e->command, want, n);
  fs_stream_wait done = need.done;
  fs_because b = {.tier = FS_TIER_SAME_QUEUE,
                  .by = FS_NONE,
                  .hop = FS_NONE,
                  .none = need.none,
                  .all = need.all,
                  .done = done};
  if (need.all ? alone_on(e, from, e->order.queue[e->command]) : need.own) {
    b.tier = from < e->command || !need.all ? FS_TIER_SAME_QUEUE : FS_TIER_NONE;
    return b;
  }
  if (need.all ? waits_for(e, e->command, from) : need.waited) {
    b.tier = FS_TIER_WAIT;
    return b;
  }
  uint32_t at = e->asked[done.axis];
  if (at != FS_NONE && e->asked_at.at[at].epoch >= done.epoch) {
    for (uint32_t before = e->asked_at.at[at].previous;
         before != FS_NONE && e->asked_at.at[before].epoch >= done.epoch;
         before = e->asked_at.at[before].previous) {
      at = before;
    }
    b.tier = FS_TIER_EXACT;
    b.by = e->asked_at.at[at].by;
    b.to = e->asked_at.at[at].epoch;
    return b;
  }
  b.hop =
      need.all ? fs_known_item(&e->known, from) : fs_known_hop(&e->known, done.axis, done.epoch);
  b.tier = b.hop == FS_NONE ? FS_TIER_NONE : FS_TIER_FRONTIER;
  return b;
}

uint32_t fs_explain_run(const fs_explain *e, uint32_t item, uint32_t at) {
  assert(item < e->s->n_commands && at < e->wants.n_wants[item]);
  const fs_want *want = e->wants.want + e->wants.want0[item];
  uint32_t end = at + 1;
  while (end < e->wants.n_wants[item] && want[end].from == want[at].from) {
    end++;
  }
  return end;
}

const fs_want *fs_explain_reasons(const fs_explain *e, uint32_t item, uint32_t from, uint32_t *n) {
  assert(item < e->s->n_commands && from < e->s->n_commands);
  const fs_want *want = e->wants.want + e->wants.want0[item];
  const uint32_t *position = e->wants.position;
  uint32_t low = 0, high = e->wants.n_wants[item];
  while (low < high) { /* orderings after later items come first */
    uint32_t middle = low + (high - low) / 2;
    if (position[want[middle].from] > position[from]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  bool found = low < e->wants.n_wants[item] && want[low].from == from;
  *n = found ? fs_explain_run(e, item, low) - low : 0;
  return want + low;
}

/* ---- why an item starts when it does */

typedef struct chooser {
  const fs_explain *e;
  uint32_t item, rank;
  fs_link link;
} chooser;

/* A link that holds until the end of `before`. */
static fs_link link_after(const fs_explain *e, fs_hold_why hold, const fs_want *want,
                          uint32_t before) {
  return (fs_link){hold, want, before, FS_NONE, fs_explain_end(e, before), 0};
}

static void offer(chooser *c, fs_link link, uint32_t rank) {
  const uint32_t *position = c->e->wants.position;
  uint64_t start = fs_explain_start(c->e, c->item);
  if (position[link.before] >= position[c->item] || link.until > start) {
    return; /* only a wrong stream has such an ordering */
  }
  link.gap = start - link.until;
  bool better =
      c->link.hold == FS_HOLD_START || link.gap < c->link.gap ||
      (link.gap == c->link.gap &&
       (rank < c->rank || (rank == c->rank && position[link.before] > position[c->link.before])));
  if (better) {
    c->link = link;
    c->rank = rank;
  }
}

/* Offers the barriers or syncs of a member's command.  The waits of a stream with timelines are not
 * offered, as they all serve wanted orderings. */
static void offer_sync(chooser *c, uint32_t command) {
  const fs_explain *e = c->e;
  const fs_points *p = &e->order.points;
  if (fs_sync_has_waits(e->s->meta->sync)) {
    return;
  }
  for (uint32_t w = p->point0[command]; w < p->point0[command + 1]; w++) {
    uint32_t from = fs_explain_awaited(e, &p->point[w]);
    offer(c, link_after(e, FS_HOLD_SYNC, NULL, from), FS_WANT_CONCURRENCY + 2);
  }
  for (uint32_t g = p->gate0[command]; g < p->gate0[command + 1]; g++) {
    uint32_t from = e->wants.item[p->gate[g]];
    fs_link gate = link_after(e, FS_HOLD_GATE, NULL, from);
    gate.until = fs_explain_start(e, from);
    offer(c, gate, FS_WANT_CONCURRENCY + 3);
  }
}

/* Offers the slow command that holds back the epoch of a wanted item, if one does. */
static void offer_slow(chooser *c, const fs_want *want) {
  const fs_explain *e = c->e;
  const fs_stream_command *k = e->s->commands;
  uint32_t n;
  const uint32_t *members = fs_explain_members(e, want->from, &n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t queue = e->order.queue[members[i]], last = members[i];
    for (uint32_t m = e->s->queues[queue].command0; m < members[i]; m++) {
      last = k[m].end > k[last].end ? m : last;
    }
    bool told = fs_sync_has_waits(e->s->meta->sync) || k[last].end == fs_explain_start(e, c->item);
    if (last != members[i] && told) { /* barriers tell of an end alone */
      fs_link link = link_after(e, FS_HOLD_QUEUE, NULL, e->wants.item[last]);
      link.queue = queue;
      link.until = k[last].end;
      offer(c, link, FS_WANT_CONCURRENCY + 1);
    }
  }
}

/* Offers the item before a member on its queue, if there is one.  A loop may enter the queue later
 * than it starts: then that item holds it as long as it would if it did not. */
static void offer_queue(chooser *c, uint32_t member, bool alone) {
  const fs_explain *e = c->e;
  uint32_t queue = e->order.queue[member];
  if (member == e->s->queues[queue].command0) {
    return;
  }
  uint32_t before = e->wants.item[member - 1];
  uint64_t enter = e->s->commands[member].start - fs_explain_start(e, c->item);
  uint64_t until = fs_command_free(e->s, &e->s->commands[member - 1]);
  fs_link link = link_after(e, alone ? FS_HOLD_QUEUE : FS_HOLD_GANG, NULL, before);
  link.queue = queue;
  link.until = fs_max(until - fs_min(until, enter), fs_explain_start(e, before));
  offer(c, link, FS_WANT_CONCURRENCY + 1);
}

/* The start that the graph gives an op, or FS_TICK_NONE. */
static fs_tick given_start(const fsched_graph *g, uint32_t op) {
  return g->op_start == NULL ? FS_TICK_NONE : g->op_start[op];
}

bool fs_explain_given(const fs_explain *e, uint32_t item) {
  assert(item < e->s->n_commands);
  uint32_t op = fs_command_op(&e->s->commands[item]);
  return e->g != NULL && op != FS_NONE && given_start(e->g, op) != FS_TICK_NONE;
}

fs_link fs_explain_link(const fs_explain *e, uint32_t item) {
  assert(item < e->s->n_commands && e->wants.item[item] == item);
  uint64_t start = fs_explain_start(e, item);
  chooser c = {
      e, item, 0, {.hold = FS_HOLD_START, .before = FS_NONE, .queue = FS_NONE, .gap = start}};
  if (start == 0) {
    return c.link;
  }
  const fs_want *want = e->wants.want + e->wants.want0[item];
  for (uint32_t i = 0; i < e->wants.n_wants[item]; i++) {
    fs_link link = link_after(e, FS_HOLD_WANT, &want[i], want[i].from);
    link.until = fs_explain_until(e, item, &want[i]);
    offer(&c, link, want[i].why);
    if (e->any_slow) {
      offer_slow(&c, &want[i]);
    }
  }
  uint32_t n;
  const uint32_t *members = fs_explain_members(e, item, &n);
  for (uint32_t i = 0; i < n; i++) {
    offer_queue(&c, members[i], n == 1);
    offer_sync(&c, members[i]);
  }
  return c.link;
}

/* ---- the summary of the whole program */

/* A total order, as each queue occurs once. */
static int compare_queues(const void *a, const void *b) {
  const fs_queue_waits *x = a, *y = b;
  if (x->waits != y->waits) {
    return x->waits > y->waits ? -1 : 1;
  }
  return x->queue < y->queue ? -1 : x->queue > y->queue;
}

/* Counts the tiers of one command's orderings; `asked` has the waits of its queue so far. */
static void count_command(const fs_explain *e, uint32_t command, const uint32_t *asked,
                          fs_summary *out) {
  uint32_t item = e->wants.item[command], queue = e->order.queue[command];
  const fs_want *want = e->wants.want + e->wants.want0[item];
  for (uint32_t i = 0, end; i < e->wants.n_wants[item]; i = end) {
    end = fs_explain_run(e, item, i);
    fs_needed_of need = fs_explain_need(e, command, &want[i], end - i);
    uint32_t from = want[i].from;
    bool own = need.all ? alone_on(e, from, queue) : need.own;
    bool waited = need.all ? waits_for(e, command, from) : need.waited;
    fs_tier tier = own                                        ? FS_TIER_SAME_QUEUE
                   : waited                                   ? FS_TIER_WAIT
                   : asked[need.done.axis] >= need.done.epoch ? FS_TIER_EXACT
                                                              : FS_TIER_FRONTIER;
    out->wanted[tier] += !need.none;
  }
}

static void count_reasons(const fs_explain *e, uint32_t command, fs_summary *out) {
  const fs_points *p = &e->order.points;
  for (uint32_t w = p->point0[command]; w < p->point0[command + 1]; w++) {
    uint32_t n;
    const fs_want *r =
        fs_explain_reasons(e, e->wants.item[command], fs_explain_awaited(e, &p->point[w]), &n);
    out->waits[n == 0 ? FS_WANT_CONCURRENCY + 1 : r->why]++;
  }
}

static void count_queue(const fs_explain *e, uint32_t queue, uint32_t *asked, fs_summary *out) {
  const fs_stream_queue *q = &e->s->queues[queue];
  const fs_points *p = &e->order.points;
  for (uint32_t i = q->command0; i < q->command0 + q->n_commands; i++) {
    for (uint32_t w = p->point0[i]; w < p->point0[i + 1]; w++) {
      const fs_stream_wait *wait = &p->point[w];
      asked[wait->axis] = (uint32_t)fs_max(asked[wait->axis], wait->epoch);
    }
    out->queue[queue].waits += p->point0[i + 1] - p->point0[i];
    count_command(e, i, asked, out);
    count_reasons(e, i, out);
  }
  for (uint32_t i = q->command0; i < q->command0 + q->n_commands; i++) {
    for (uint32_t w = p->point0[i]; w < p->point0[i + 1]; w++) {
      asked[p->point[w].axis] = 0;
    }
  }
}

static uint32_t last_item(const fs_explain *e) {
  uint32_t last = FS_NONE;
  for (uint32_t i = 0; i < e->s->n_commands; i++) {
    uint32_t item = e->wants.item[e->order.order[i]];
    if (last == FS_NONE || fs_explain_end(e, item) > fs_explain_end(e, last)) {
      last = item;
    }
  }
  return last;
}

fs_status fs_explain_summary(fs_explain *e, fs_summary *out) {
  uint32_t *asked;
  *out = (fs_summary){.last = last_item(e)};
  FS_TRY(fs_new_zero(&e->arena, &asked, e->s->n_axes));
  FS_TRY(fs_new_zero(&e->arena, &out->queue, e->s->n_queues));
  for (uint32_t q = 0; q < e->s->n_queues; q++) {
    out->queue[q].queue = q;
    count_queue(e, q, asked, out);
  }
  qsort(out->queue, e->s->n_queues, sizeof *out->queue, compare_queues);
  return FSCHED_OK;
}

/* ---- fsched_program_explain */

void fs_explain_init(fs_explain *e, fsched_context *ctx, const fs_stream *s) {
  assert(ctx != NULL && s->n_meta == 1);
  *e = (fs_explain){.ctx = ctx, .s = s, .command = FS_NONE};
  fs_arena_init(&e->arena, ctx);
}

static const char of_which[] = "name the graph that the stream was compiled from";

static fs_status check_ops(const fs_explain *e) {
  const fs_stream *s = e->s;
  if (e->g->n_ops != s->n_ops) {
    return fs_fail(e->ctx, FSCHED_WRONG, FS_DIAG_VERIFY_GRAPH, FS_NOWHERE, of_which,
                   "the stream has %u ops, and the graph %u", s->n_ops, e->g->n_ops);
  }
  for (uint32_t op = 0; op < s->n_ops; op++) {
    const char *name = fs_explain_string(e, s->ops[op].name);
    if (strcmp(e->g->op_name[op], name) != 0) {
      return fs_fail(e->ctx, FSCHED_WRONG, FS_DIAG_VERIFY_GRAPH, FS_NOWHERE, of_which,
                     "an op of the stream is '%.80s', and that of the graph '%.80s'", name,
                     e->g->op_name[op]);
    }
  }
  return FSCHED_OK;
}

/* Are the graph's ops those of the stream, and the starts that it gives the planned ones? */
static fs_status check_graph(const fs_explain *e) {
  FS_TRY(check_ops(e));
  for (uint32_t c = 0; c < e->s->n_commands; c++) {
    const fs_stream_command *k = &e->s->commands[c];
    if (fs_explain_given(e, c) && k->start != given_start(e->g, fs_command_op(k))) {
      return fs_fail(e->ctx, FSCHED_WRONG, FS_DIAG_VERIFY_GRAPH, FS_NOWHERE, of_which,
                     "op '%.80s' starts at %llu, and the graph gives it the start %llu",
                     e->g->op_name[k->target], (unsigned long long)k->start,
                     (unsigned long long)given_start(e->g, k->target));
    }
  }
  return FSCHED_OK;
}

fs_status fs_explain_prepare(fs_explain *e) {
  FS_TRY(e->g == NULL ? FSCHED_OK : check_graph(e));
  FS_TRY(fs_stream_order_find(&e->arena, e->s, &e->order));
  if (e->order.n_runnable < e->s->n_commands) {
    return fs_fail(e->ctx, FSCHED_WRONG, FS_DIAG_VERIFY_DEADLOCK, FS_NOWHERE,
                   "fsched verify says which ones", "%u commands wait for each other",
                   e->s->n_commands - e->order.n_runnable);
  }
  FS_TRY(fs_stream_wants_find(&e->arena, e->s, &e->order, &e->wants));
  e->any_slow = fs_stream_has_slow(e->s);
  FS_TRY(fs_new_none(&e->arena, &e->asked, e->s->n_axes));
  return fs_known_init(&e->arena, e->s, &e->order, &e->wants, &e->known);
}

void fs_explain_release(fs_explain *e) {
  fs_known_release(e->ctx, &e->known);
  fs_vec_free(e->ctx, &e->asked_at);
  fs_vec_free(e->ctx, &e->item);
  fs_vec_free(e->ctx, &e->explained);
  fs_arena_release(&e->arena);
}

static fs_status explain(fs_explain *e, const char *const *names, size_t n, bool json) {
  FS_TRY(fs_explain_prepare(e));
  FS_TRY(fs_explain_names(e, names, n));
  return json ? fs_explain_json(e) : fs_explain_text(e);
}

fs_status fsched_program_explain(fsched_context *ctx, const fsched_program *p,
                                 const fsched_explain_options *options, const char *const *names,
                                 size_t n, char **text, size_t *length) {
  fsched_explain_options o = {0};
  if (options != NULL) {
    FS_TRY(fs_check_options(ctx, "fsched_explain_options", options->size,
                            FS_SIZE_UP_TO(fsched_explain_options, all)));
    memcpy(&o, options, fs_min(options->size, sizeof o));
  }
  if (o.format != FSCHED_EXPLAIN_TEXT && o.format != FSCHED_EXPLAIN_JSON) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "there is no such format of explanations");
  }
  fs_text out;
  fs_text_init(&out, ctx);
  fs_explain e;
  fs_explain_init(&e, ctx, &p->view);
  e.all = o.all != 0;
  e.g = o.graph;
  e.t = &out;
  fs_status status = explain(&e, names, n, o.format == FSCHED_EXPLAIN_JSON);
  fs_explain_release(&e);
  if (status != FSCHED_OK) {
    fs_text_drop(&out);
    return status;
  }
  return fs_text_take(&out, text, length);
}
