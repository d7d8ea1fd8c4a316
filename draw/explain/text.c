/* SPDX-License-Identifier: Apache-2.0 */
/* Explanations for people: tables, of which 20 rows are shown unless all are wanted. */
#include "draw/explain/explain.h"
#include "draw/explain/rows.h"
#include "model/sync.h"

enum { REASONS = 3 };

static void put_u64(fs_text *t, const char *before, uint64_t value) {
  fs_text_puts(t, before);
  fs_text_u64(t, value);
}

static void put_name(const fs_explain *e, fs_text *t, uint32_t string) {
  fs_text_visible(t, fs_explain_string(e, string));
}

static void put_unit(const fs_explain *e, fs_text *t) {
  if (e->s->meta->time_unit != FS_NONE) {
    fs_text_puts(t, " ");
    put_name(e, t, e->s->meta->time_unit);
  }
}

static void put_epoch(const fs_explain *e, fs_text *t, fs_stream_wait w) {
  put_name(e, t, e->s->axes[w.axis].name);
  put_u64(t, ":", w.epoch);
}

static void put_command(const fs_explain *e, fs_text *t, uint32_t command) {
  put_epoch(e, t, (fs_stream_wait){e->order.queue[command], e->s->commands[command].epoch});
}

static void put_version(const fs_explain *e, fs_text *t, uint32_t version) {
  const fs_stream_version *v = &e->s->versions[version];
  put_name(e, t, e->s->buffers[v->buffer].name);
  if (v->index != 0) {
    put_u64(t, ".", v->index);
  }
}

/* Writes "run C", "read A_in". */
static void put_what(const fs_explain *e, fs_text *t, uint32_t item) {
  const fs_stream_command *c = &e->s->commands[item];
  switch (fs_command_kind_of(c)) {
    case FS_COMMAND_RUN:
      fs_text_puts(t, "run ");
      put_name(e, t, e->s->ops[c->target].name);
      break;
    case FS_COMMAND_COPY:
      fs_text_printf(t, "%s ", fs_words_copy[c->direction]);
      put_version(e, t, c->target);
      break;
  }
}

static void put_interval(fs_text *t, uint64_t low, uint64_t high) {
  put_u64(t, "[", low);
  put_u64(t, ",", high);
  fs_text_puts(t, ")");
}

static void put_reuse(const fs_explain *e, fs_text *t, const fs_want *w) {
  fs_text_puts(t, "reuse of ");
  put_name(e, t, e->s->memories[w->index].name);
  fs_text_puts(t, fs_space_has_units(w->space) ? " units" : "");
  put_interval(t, w->low, w->high);
  fs_text_puts(t, " after ");
  if (w->old == FS_NONE) {
    fs_text_puts(t, "its scratch");
  } else {
    put_version(e, t, w->old);
  }
}

static void put_reason(const fs_explain *e, fs_text *t, const fs_want *w) {
  switch ((fs_want_why)w->why) {
    case FS_WANT_DATA:
      fs_text_puts(t, "data of ");
      put_version(e, t, w->version);
      return;
    case FS_WANT_OVERWRITE:
      fs_text_puts(t, "overwrites ");
      put_version(e, t, w->version);
      fs_text_puts(t, ", read there");
      return;
    case FS_WANT_REWRITE:
      fs_text_puts(t, "overwrites ");
      put_version(e, t, w->version);
      return;
    case FS_WANT_UNITS:
      fs_text_puts(t, "shares the units of ");
      put_version(e, t, w->version);
      return;
    case FS_WANT_AFTER:
      fs_text_puts(t, "its after");
      return;
    case FS_WANT_REUSE:
      put_reuse(e, t, w);
      return;
    case FS_WANT_RESOURCE:
      put_name(e, t, e->s->resources[w->index].name);
      break;
    case FS_WANT_CONCURRENCY:
      fs_text_puts(t, "slot");
      break;
  }
  put_interval(t, w->low, w->high);
}

/* The reason of a wait that is for no wanted ordering of the command. */
static const char *unwanted(const fs_explain *e) {
  switch (fs_stream_sync(e->s)) {
    case FS_SYNC_BARRIER:
      return "nothing else than a barrier that others need";
    case FS_SYNC_BLOCK:
      return "nothing else than a sync that others need";
    case FS_SYNC_TIMELINE:
      break;
  }
  return "nothing that the stream tells";
}

static void put_reasons(const fs_explain *e, fs_text *t, const fs_want *w, uint32_t n) {
  uint32_t shown = e->all || n <= REASONS + 1 ? n : REASONS;
  for (uint32_t i = 0; i < shown; i++) {
    fs_text_puts(t, i == 0 ? "" : "; ");
    put_reason(e, t, &w[i]);
  }
  if (shown < n) {
    put_u64(t, "; ", n - shown);
    fs_text_puts(t, " more");
  }
  fs_text_puts(t, n == 0 ? unwanted(e) : "");
}

/* ---- chains of waits */

/* Writes one step of a chain: what `hop` waited for, by a command that the previous step led to. */
static void put_step(const fs_explain *e, fs_text *t, uint32_t hop, uint32_t before) {
  const fs_hop *h = &e->known.hop.at[hop];
  const fs_hop *b = &e->known.hop.at[before];
  if (b->by == FS_NONE) {
    if (h->by == e->command) {
      fs_text_puts(t, "waits for ");
    } else {
      put_command(e, t, h->by);
      fs_text_puts(t, " waited for ");
    }
  } else if (e->s->commands[h->by].epoch != b->epoch) {
    fs_text_puts(t, ", after ");
    put_command(e, t, h->by);
    fs_text_puts(t, ", which had waited for ");
  } else if (fs_axis_has_members(e->s->axes[e->order.points.point[b->wait].axis].kind)) {
    fs_text_puts(t, ", whose ");
    put_command(e, t, h->by);
    fs_text_puts(t, " had waited for ");
  } else {
    fs_text_puts(t, ", which had waited for ");
  }
  put_epoch(e, t, e->order.points.point[h->wait]);
}

static fs_status put_chain(const fs_explain *e, fs_text *t, uint32_t hop, uint32_t queue,
                           uint32_t epoch) {
  const fs_hop *last = &e->known.hop.at[hop];
  uint32_t *step;
  if (last->by == FS_NONE) {
    fs_text_puts(t, epoch == last->epoch ? "itself" : "same queue");
    return FSCHED_OK;
  }
  FS_SCRATCH(scratch, e->ctx);
  FS_TRY(fs_new(&scratch, &step, (size_t)last->level + 1));
  for (uint32_t i = last->level, at = hop;; i--) {
    step[i] = at;
    if (i == 0) {
      break;
    }
    at = fs_known_before(&e->known, at);
  }
  for (uint32_t i = 1; i <= last->level; i++) {
    put_step(e, t, step[i], step[i - 1]);
  }
  if (epoch < last->epoch) {
    fs_text_puts(t, ", after ");
    put_epoch(e, t, (fs_stream_wait){queue, epoch});
  }
  return FSCHED_OK;
}

/* Writes the chain to an item: to the member that was learnt last. */
static fs_status put_chain_of_item(const fs_explain *e, fs_text *t, uint32_t item) {
  uint32_t hop = fs_known_item(&e->known, item);
  if (hop == FS_NONE) {
    fs_text_puts(t, "nothing: the stream is wrong");
    return FSCHED_OK;
  }
  uint32_t n, queue = e->known.hop.at[hop].queue;
  const uint32_t *members = fs_explain_members(e, item, &n);
  while (e->order.queue[*members] != queue) {
    members++;
  }
  return put_chain(e, t, hop, queue, e->s->commands[*members].epoch);
}

/* ---- how one command is ordered */

static fs_status put_waits(fs_explain *e, uint32_t command) {
  const fs_points *p = &e->order.points;
  if (p->point0[command] == p->point0[command + 1]) {
    fs_text_puts(e->t, "  waits for nothing\n");
    return FSCHED_OK;
  }
  fs_text_puts(e->t, "  waits for\n");
  fs_explain_rows l;
  fs_explain_begin_rows(e, &l, 3);
  for (uint32_t w = p->point0[command]; w < p->point0[command + 1]; w++) {
    if (!fs_explain_row(&l)) {
      continue;
    }
    uint32_t n, item = fs_explain_awaited(e, &p->point[w]);
    const fs_want *why = fs_explain_reasons(e, e->wants.item[command], item, &n);
    put_epoch(e, &l.c.text, p->point[w]);
    fs_explain_cell(&l);
    put_what(e, &l.c.text, item);
    fs_explain_cell(&l);
    fs_text reasons;
    fs_text_init(&reasons, e->ctx);
    put_reasons(e, &reasons, why, n);
    fs_explain_tall(&l, 2, &reasons, 1);
  }
  return fs_explain_end_rows(e, &l);
}

static fs_status put_tier(fs_explain *e, fs_text *t, uint32_t from, fs_because b) {
  if (b.tier == FS_TIER_SAME_QUEUE) {
    fs_text_puts(t, "same queue");
  } else if (b.tier == FS_TIER_EXACT) {
    if (b.by == e->command) {
      fs_text_puts(t, "waits for ");
    } else {
      put_command(e, t, b.by);
      fs_text_puts(t, " waited for ");
    }
    put_epoch(e, t, (fs_stream_wait){b.done.axis, b.to});
  } else if (b.all || b.hop == FS_NONE) {
    return put_chain_of_item(e, t, from);
  } else {
    return put_chain(e, t, b.hop, b.done.axis, b.done.epoch);
  }
  return FSCHED_OK;
}

static fs_status put_elided_row(fs_explain *e, fs_explain_rows *l, const fs_want *why, uint32_t n,
                                fs_because b) {
  put_epoch(e, &l->c.text, b.done);
  fs_explain_cell(l);
  put_what(e, &l->c.text, why->from);
  fs_explain_cell(l);
  fs_text cells[2];
  fs_text_init(&cells[0], e->ctx);
  fs_text_init(&cells[1], e->ctx);
  put_reasons(e, &cells[0], why, n);
  fs_status status = put_tier(e, &cells[1], why->from, b);
  fs_explain_tall(l, 2, cells, 2);
  return status;
}

static fs_status put_elided(fs_explain *e, uint32_t command) {
  static const char *const title[] = {"after", "command", "for", "implied by"};
  uint32_t item = e->wants.item[command], rows = 0;
  const fs_want *want = e->wants.want + e->wants.want0[item];
  fs_explain_rows l;
  fs_explain_begin_rows(e, &l, 4);
  fs_explain_heads(&l, title, 4, 0);
  fs_status status = FSCHED_OK;
  for (uint32_t i = 0, end; status == FSCHED_OK && i < e->wants.n_wants[item]; i = end) {
    end = fs_explain_run(e, item, i);
    fs_because b = fs_explain_tier(e, &want[i], end - i);
    if (b.tier != FS_TIER_WAIT && !b.none) {
      rows++;
      status = fs_explain_row(&l) ? put_elided_row(e, &l, &want[i], end - i, b) : FSCHED_OK;
    }
  }
  if (status != FSCHED_OK || rows == 0) {
    fs_explain_drop_rows(e, &l);
    return status;
  }
  fs_text_puts(e->t, "  ordered without a wait\n");
  return fs_explain_end_rows(e, &l);
}

static fs_status put_learnt(fs_explain *e, fs_text *t, const fs_stream_wait *w, uint32_t item) {
  if (fs_axis_has_members(e->s->axes[w->axis].kind)) {
    return put_chain_of_item(e, t, item);
  }
  uint32_t hop = fs_known_hop(&e->known, w->axis, w->epoch);
  if (hop == FS_NONE) {
    fs_text_puts(t, "nothing: the stream is wrong");
    return FSCHED_OK;
  }
  return put_chain(e, t, hop, w->axis, w->epoch);
}

static fs_status put_frontier(fs_explain *e, uint32_t command) {
  const fs_stream_command *c = &e->s->commands[command];
  fs_text_puts(e->t, c->tainted ? "  frontier when complete (tainted: cut to the capacity of "
                                : "  frontier when complete\n");
  if (c->tainted) {
    fs_text_u64(e->t, e->s->meta->frontier_capacity);
    fs_text_puts(e->t, ", more is known)\n");
  }
  fs_explain_rows l;
  fs_explain_begin_rows(e, &l, 3);
  fs_status status = FSCHED_OK;
  for (uint32_t i = c->frontier0; status == FSCHED_OK && i < c->frontier0 + c->n_frontier; i++) {
    if (!fs_explain_row(&l)) {
      continue;
    }
    const fs_stream_wait *w = &e->s->frontiers[i];
    uint32_t item = fs_explain_awaited(e, w);
    put_epoch(e, &l.c.text, *w);
    fs_explain_cell(&l);
    put_what(e, &l.c.text, item);
    fs_explain_cell(&l);
    fs_text chain;
    fs_text_init(&chain, e->ctx);
    status = put_learnt(e, &chain, w, item);
    fs_explain_tall(&l, 2, &chain, 1);
  }
  fs_status finished = fs_explain_end_rows(e, &l);
  return status == FSCHED_OK ? finished : status;
}

/* ---- why an item starts when it does */

/* Writes what the stream tells of the reason, if it tells any. */
static void put_known_hold(const fs_explain *e, fs_text *t, uint32_t item, const fs_link *k) {
  switch (k->hold) {
    case FS_HOLD_WANT:
      put_reason(e, t, k->want);
      break;
    case FS_HOLD_QUEUE:
      fs_text_puts(t, "queue ");
      put_name(e, t, e->s->queues[k->queue].name);
      break;
    case FS_HOLD_GANG:
      fs_text_puts(t, "gang: queue ");
      put_name(e, t, e->s->queues[k->queue].name);
      break;
    case FS_HOLD_SYNC:
      fs_text_puts(t, fs_sync_has_barriers(e->s->meta->sync) ? "a barrier" : "a sync");
      break;
    case FS_HOLD_GATE:
      fs_text_puts(t, "a barrier that is free when that starts");
      break;
    case FS_HOLD_START:
      fs_text_puts(t, fs_explain_start(e, item) == 0 ? "the beginning" : "nothing");
      break;
  }
}

static void put_hold(const fs_explain *e, fs_text *t, uint32_t item, const fs_link *k) {
  bool given = fs_explain_given(e, item);
  if (given && k->before == FS_NONE && k->gap > 0) {
    fs_text_puts(t, "the start that the graph gives");
    return;
  }
  put_known_hold(e, t, item, k);
  if (k->gap > 0) {
    put_u64(t, given ? ", then the start that the graph gives, after " : ", then nothing for ",
            k->gap);
  } else if (given) {
    fs_text_puts(t, ", and the start that the graph gives");
  }
}

static void put_link(const fs_explain *e, fs_explain_rows *l, uint32_t item, const fs_link *k) {
  fs_text_u64(&l->c.text, fs_explain_start(e, item));
  fs_columns_cell(&l->c, FS_RIGHT);
  fs_text_u64(&l->c.text, fs_explain_end(e, item));
  fs_columns_cell(&l->c, FS_RIGHT);
  put_epoch(e, &l->c.text, fs_explain_complete(e, item));
  fs_explain_cell(l);
  put_what(e, &l->c.text, item);
  fs_explain_cell(l);
  put_hold(e, &l->c.text, item, k);
  fs_explain_cell(l);
}

typedef struct shares { /* ticks before a start: in ops, in copies, in gaps */
  uint64_t ops, copies, gaps;
} shares;

static void add_share(const fs_explain *e, shares *s, uint32_t item, uint64_t until) {
  uint64_t start = fs_explain_start(e, item);
  switch (fs_command_kind_of(&e->s->commands[item])) {
    case FS_COMMAND_RUN:
      s->ops += until - start;
      break;
    case FS_COMMAND_COPY:
      s->copies += until - start;
      break;
  }
}

static fs_status put_links(const fs_explain *e, uint32_t item, shares *s) {
  static const char *const title[] = {"start", "end", "command", "", "held by"};
  fs_explain_rows l;
  fs_explain_begin_rows(e, &l, 5);
  fs_explain_heads(&l, title, 5, 2);
  *s = (shares){0};
  for (uint32_t at = item; at != FS_NONE;) {
    fs_link k = fs_explain_link(e, at);
    if (fs_explain_row(&l)) {
      put_link(e, &l, at, &k);
    }
    s->gaps += k.gap;
    at = k.before;
    if (at != FS_NONE && k.hold != FS_HOLD_GATE) {
      add_share(e, s, at, k.until);
    }
  }
  return fs_explain_end_rows(e, &l);
}

static void put_shares(const fs_explain *e, const char *what, const shares *s) {
  put_u64(e->t, what, s->ops + s->copies + s->gaps);
  put_u64(e->t, " = ops ", s->ops);
  put_u64(e->t, " + copies ", s->copies);
  put_u64(e->t, " + gaps ", s->gaps);
  fs_text_puts(e->t, "\n");
}

static fs_status put_start(const fs_explain *e, uint32_t item) {
  shares s;
  if (fs_explain_start(e, item) == 0) {
    fs_text_puts(e->t, "  starts at the beginning\n");
    return FSCHED_OK;
  }
  put_u64(e->t, "  starts at ", fs_explain_start(e, item));
  fs_text_puts(e->t, " and not before: each line is held by the one below it\n");
  FS_TRY(put_links(e, item, &s));
  put_shares(e, "    ", &s);
  return FSCHED_OK;
}

/* ---- items, and the whole program */

static void put_item_head(const fs_explain *e, uint32_t item) {
  const fs_stream_command *c = &e->s->commands[item];
  put_what(e, e->t, item);
  fs_text_puts(e->t, ": ");
  put_epoch(e, e->t, fs_explain_complete(e, item));
  put_u64(e->t, ", planned from ", fs_explain_start(e, item));
  put_u64(e->t, " to ", fs_explain_end(e, item));
  put_unit(e, e->t);
  if (fs_command_slow(e->s, c)) {
    put_u64(e->t, ", queue free at ", fs_command_free(e->s, c));
  }
  if (c->gang_axis != FS_NONE) {
    uint32_t n;
    const uint32_t *members = fs_explain_members(e, item, &n);
    fs_text_puts(e->t, ", on ");
    for (uint32_t i = 0; i < n; i++) {
      fs_text_puts(e->t, i == 0 ? "" : " ");
      if (i == FS_EXPLAIN_SHOWN && !e->all) {
        put_u64(e->t, "and ", n - i);
        fs_text_puts(e->t, " more");
        break;
      }
      put_command(e, e->t, members[i]);
    }
  }
  fs_text_puts(e->t, "\n");
}

/* What else there is to say of an op (draw/parts.h). */
static fs_status put_parts(const fs_explain *e, uint32_t item) {
  FS_SCRATCH(scratch, e->ctx);
  const fs_stream_command *c = &e->s->commands[item];
  const char *parts = NULL;
  if (fs_command_has_op(c)) {
    FS_TRY(fs_parts_of_stream(&scratch, e->s, c->target, &parts));
  }
  if (parts != NULL) {
    fs_text_puts(e->t, "  ");
    fs_text_visible(e->t, parts);
    fs_text_puts(e->t, "\n");
  }
  return FSCHED_OK;
}

static fs_status put_item(fs_explain *e, uint32_t item) {
  uint32_t n;
  const uint32_t *members = fs_explain_members(e, item, &n);
  put_item_head(e, item);
  FS_TRY(put_parts(e, item));
  for (uint32_t i = 0; i < n; i++) {
    if (i == FS_EXPLAIN_SHOWN && !e->all) {
      fs_text_printf(e->t, "and %u members more\n", n - i);
      break;
    }
    if (e->s->commands[item].gang_axis != FS_NONE) {
      fs_text_puts(e->t, " member ");
      put_command(e, e->t, members[i]);
      if (fs_command_members(e->s, &e->s->commands[members[i]]) > 0) {
        fs_text_printf(e->t, " (number %u, with args of its own)",
                       fs_stream_member_of(e->s, members[i]));
      }
      fs_text_puts(e->t, "\n");
    }
    FS_TRY(fs_explain_look_at(e, members[i]));
    FS_TRY(put_waits(e, members[i]));
    fs_explain_sync_text(e, members[i]);
    FS_TRY(put_elided(e, members[i]));
    FS_TRY(put_frontier(e, members[i]));
  }
  return put_start(e, item);
}

static void put_count(fs_explain_rows *l, const char *what, uint64_t n) {
  fs_text_puts(&l->c.text, what);
  fs_explain_cell(l);
  fs_text_u64(&l->c.text, n);
  fs_columns_cell(&l->c, FS_RIGHT);
}

static fs_status put_tiers(const fs_explain *e, const fs_summary *s) {
  static const char *const tier[] = {"in queue order", "waits", "waited for before",
                                     "known through waits"};
  uint64_t all = 0;
  for (uint32_t i = 0; i < FS_TIER_NONE; i++) {
    all += s->wanted[i];
  }
  put_u64(e->t, "  orderings needed: ", all);
  fs_text_puts(e->t, "\n");
  fs_explain_rows l;
  fs_explain_begin_rows(e, &l, 2);
  static const fs_tier order[] = {FS_TIER_SAME_QUEUE, FS_TIER_EXACT, FS_TIER_FRONTIER,
                                  FS_TIER_WAIT};
  for (uint32_t i = 0; i < FS_TIER_NONE; i++) {
    put_count(&l, tier[order[i]], s->wanted[order[i]]);
  }
  return fs_explain_end_rows(e, &l);
}

static fs_status put_whys(const fs_explain *e, const fs_summary *s) {
  const char *const why[] = {"data",
                             "overwriting after a read",
                             "overwriting after a write",
                             "units of a version",
                             "named in after",
                             "reuse of memory",
                             "resource",
                             "concurrency",
                             unwanted(e)};
  uint32_t n = e->order.points.point0[e->s->n_commands];
  put_u64(e->t, "  waits: ", n);
  fs_text_puts(e->t, n == 0 ? "\n" : ", by their first reason\n");
  fs_explain_rows l;
  fs_explain_begin_rows(e, &l, 2);
  for (uint32_t i = 0; i < FS_WANT_CONCURRENCY + 2; i++) {
    if (s->waits[i] > 0) {
      put_count(&l, why[i], s->waits[i]);
    }
  }
  return fs_explain_end_rows(e, &l);
}

static fs_status put_queues(const fs_explain *e, const fs_summary *s) {
  static const char *const title[] = {"queue", "commands", "waits"};
  fs_text_puts(e->t, "  queues, those that wait most first\n");
  fs_explain_rows l;
  fs_explain_begin_rows(e, &l, 3);
  for (uint32_t i = 0; i < 3; i++) {
    fs_text_puts(&l.c.text, title[i]);
    fs_columns_cell(&l.c, i == 0 ? FS_LEFT : FS_RIGHT);
  }
  for (uint32_t i = 0; i < e->s->n_queues; i++) {
    const fs_stream_queue *q = &e->s->queues[s->queue[i].queue];
    if (!fs_explain_row(&l)) {
      continue;
    }
    put_name(e, &l.c.text, q->name);
    fs_explain_cell(&l);
    fs_text_u64(&l.c.text, q->n_commands);
    fs_columns_cell(&l.c, FS_RIGHT);
    fs_text_u64(&l.c.text, s->queue[i].waits);
    fs_columns_cell(&l.c, FS_RIGHT);
  }
  return fs_explain_end_rows(e, &l);
}

static fs_status put_summary(fs_explain *e) {
  fs_summary s;
  FS_TRY(fs_explain_summary(e, &s));
  fs_text_puts(e->t, "program ");
  put_name(e, e->t, e->s->meta->name);
  put_u64(e->t, ": commands ", e->s->n_commands);
  put_u64(e->t, ", queues ", e->s->n_queues);
  put_u64(e->t, ", makespan ", e->s->meta->makespan);
  put_unit(e, e->t);
  fs_text_puts(e->t, "\n");
  FS_TRY(put_tiers(e, &s));
  FS_TRY(put_whys(e, &s));
  FS_TRY(put_queues(e, &s));
  if (s.last == FS_NONE) {
    return FSCHED_OK;
  }
  shares share;
  fs_text_puts(e->t, "  what makes the makespan: each line is held by the one below it\n");
  FS_TRY(put_links(e, s.last, &share));
  add_share(e, &share, s.last, fs_explain_end(e, s.last));
  put_shares(e, "    ", &share);
  return FSCHED_OK;
}

fs_status fs_explain_text(fs_explain *e) {
  if (e->item.n == 0 && e->explained.n == 0) {
    return put_summary(e);
  }
  for (size_t i = 0; i < e->item.n; i++) {
    fs_text_puts(e->t, i == 0 ? "" : "\n");
    FS_TRY(put_item(e, e->item.at[i]));
  }
  for (size_t i = 0; i < e->explained.n; i++) {
    fs_text_puts(e->t, i == 0 && e->item.n == 0 ? "" : "\n");
    fs_explain_instance_text(e, &e->explained.at[i]);
  }
  return FSCHED_OK;
}
