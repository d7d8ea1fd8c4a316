/* SPDX-License-Identifier: Apache-2.0 */
/* Explanations as JSON: the same content as the text, never cut, with each record on a line. */
#include "base/text/fields.h"
#include "draw/explain/explain.h"

static void put(const fs_explain *e, const char *text) { fs_text_puts(e->t, text); }

static void put_u64(const fs_explain *e, const char *before, uint64_t value) {
  put(e, before);
  fs_text_u64(e->t, value);
}

static void put_name(const fs_explain *e, const char *before, uint32_t string) {
  put(e, before);
  fs_text_quoted(e->t, fs_explain_string(e, string));
}

static const char *comma(uint64_t index) { return index == 0 ? "" : ", "; }
static const char *line(uint64_t index) { return index == 0 ? "\n     " : ",\n     "; }

static void put_epoch(const fs_explain *e, const char *before, fs_stream_wait w) {
  put_name(e, before, e->s->axes[w.axis].name);
  put_u64(e, ", \"epoch\": ", w.epoch);
}

static fs_stream_wait epoch_of(const fs_explain *e, uint32_t command) {
  return (fs_stream_wait){e->order.queue[command], e->s->commands[command].epoch};
}

static void put_version(const fs_explain *e, const char *before, uint32_t version) {
  put_name(e, before, e->s->buffers[e->s->versions[version].buffer].name);
  put_u64(e, ", \"version\": ", e->s->versions[version].index);
}

/* Writes "kind": "run", "op": ...; as in the stream's JSON. */
static void put_what(const fs_explain *e, uint32_t item) {
  const fs_stream_command *c = &e->s->commands[item];
  put(e, ", \"kind\": \"");
  put(e, fs_words_entry[c->kind]);
  switch (fs_command_kind_of(c)) {
    case FS_COMMAND_RUN:
      put_name(e, "\", \"op\": ", e->s->ops[c->target].name);
      break;
    case FS_COMMAND_COPY:
      put_version(e, "\", \"buffer\": ", c->target);
      put(e, ", \"direction\": \"");
      put(e, fs_words_copy[c->direction]);
      put(e, "\"");
      break;
  }
}

static void put_range(const fs_explain *e, const fs_want *w) {
  put_u64(e, ", \"begin\": ", w->low);
  put_u64(e, ", \"end\": ", w->high);
}

static void put_reuse(const fs_explain *e, const fs_want *w) {
  put_name(e, ", \"memory\": ", e->s->memories[w->index].name);
  put(e, fs_space_has_units(w->space) ? ", \"units\": true" : "");
  put_range(e, w);
  if (w->old != FS_NONE) {
    put_version(e, ", \"buffer\": ", w->old);
  } else {
    put(e, ", \"scratch\": true");
  }
}

static const char *const why_words[] = {
    [FS_WANT_DATA] = "data",         [FS_WANT_OVERWRITE] = "overwrite",
    [FS_WANT_REWRITE] = "rewrite",   [FS_WANT_UNITS] = "units",
    [FS_WANT_AFTER] = "after",       [FS_WANT_REUSE] = "reuse",
    [FS_WANT_RESOURCE] = "resource", [FS_WANT_CONCURRENCY] = "concurrency"};

static void put_reason(const fs_explain *e, const fs_want *w) {
  put(e, "{\"why\": \"");
  put(e, why_words[w->why]);
  put(e, "\"");
  switch ((fs_want_why)w->why) {
    case FS_WANT_DATA:
    case FS_WANT_OVERWRITE:
    case FS_WANT_REWRITE:
    case FS_WANT_UNITS:
      put_version(e, ", \"buffer\": ", w->version);
      break;
    case FS_WANT_AFTER:
      break;
    case FS_WANT_REUSE:
      put_reuse(e, w);
      break;
    case FS_WANT_RESOURCE:
      put_name(e, ", \"resource\": ", e->s->resources[w->index].name);
      put_range(e, w);
      break;
    case FS_WANT_CONCURRENCY:
      put_range(e, w);
      break;
  }
  put(e, "}");
}

static void put_reasons(const fs_explain *e, const fs_want *w, uint32_t n) {
  put(e, ", \"reasons\": [");
  for (uint32_t i = 0; i < n; i++) {
    put(e, comma(i));
    put_reason(e, &w[i]);
  }
  put(e, "]");
}

/* Writes the waits that lead from the current command to the hop, in this order. */
static fs_status put_chain(const fs_explain *e, uint32_t hop) {
  FS_SCRATCH(scratch, e->ctx);
  uint32_t *step, n = hop == FS_NONE ? 0 : e->known.hop.at[hop].level;
  FS_TRY(fs_new(&scratch, &step, (size_t)n + 1));
  for (uint32_t i = n, at = hop; i > 0; i--) {
    step[i] = at;
    at = fs_known_before(&e->known, at);
  }
  put(e, ", \"chain\": [");
  for (uint32_t i = 1; i <= n; i++) {
    const fs_hop *h = &e->known.hop.at[step[i]];
    put(e, comma(i - 1));
    put_epoch(e, "{\"axis\": ", epoch_of(e, h->by));
    put_epoch(e, ", \"waits_for\": {\"axis\": ", e->order.points.point[h->wait]);
    put(e, "}}");
  }
  put(e, "]");
  return FSCHED_OK;
}

static void put_waits(const fs_explain *e, uint32_t command) {
  const fs_points *p = &e->order.points;
  put(e, ",\n    \"waits\": [");
  for (uint32_t i = 0; i < p->point0[command + 1] - p->point0[command]; i++) {
    const fs_stream_wait *w = &p->point[p->point0[command] + i];
    uint32_t n, item = fs_explain_awaited(e, w);
    const fs_want *why = fs_explain_reasons(e, e->wants.item[command], item, &n);
    put(e, line(i));
    put_epoch(e, "{\"axis\": ", *w);
    put_what(e, item);
    put_reasons(e, why, n);
    put(e, "}");
  }
  put(e, "]");
}

static fs_status put_elided_one(const fs_explain *e, fs_because b) {
  static const char *const tier[] = {"same_queue", "wait", "exact", "frontier", "missing"};
  put(e, ", \"implied_by\": \"");
  put(e, tier[b.tier]);
  put(e, "\"");
  if (b.tier == FS_TIER_EXACT) {
    put_epoch(e, ", \"chain\": [{\"axis\": ", epoch_of(e, b.by));
    put_epoch(e, ", \"waits_for\": {\"axis\": ", (fs_stream_wait){b.done.axis, b.to});
    put(e, "}}]");
  }
  return b.tier == FS_TIER_FRONTIER ? put_chain(e, b.hop) : FSCHED_OK;
}

static fs_status put_elided(const fs_explain *e, uint32_t command) {
  uint32_t item = e->wants.item[command], rows = 0;
  const fs_want *want = e->wants.want + e->wants.want0[item];
  put(e, ",\n    \"elided\": [");
  for (uint32_t i = 0, end; i < e->wants.n_wants[item]; i = end) {
    end = fs_explain_run(e, item, i);
    fs_because b = fs_explain_tier(e, &want[i], end - i);
    if (b.tier != FS_TIER_WAIT && !b.none) {
      put(e, line(rows++));
      put_epoch(e, "{\"axis\": ", b.done);
      put_what(e, want[i].from);
      put_reasons(e, &want[i], end - i);
      FS_TRY(put_elided_one(e, b));
      put(e, "}");
    }
  }
  put(e, "]");
  return FSCHED_OK;
}

static fs_status put_frontier(const fs_explain *e, uint32_t command) {
  const fs_stream_command *c = &e->s->commands[command];
  put(e, ",\n    \"tainted\": ");
  put(e, c->tainted ? "true" : "false");
  put(e, ", \"frontier\": [");
  for (uint32_t i = 0; i < c->n_frontier; i++) {
    const fs_stream_wait *w = &e->s->frontiers[c->frontier0 + i];
    uint32_t item = fs_explain_awaited(e, w);
    put(e, line(i));
    put_epoch(e, "{\"axis\": ", *w);
    put_what(e, item);
    FS_TRY(put_chain(e, fs_axis_has_members(e->s->axes[w->axis].kind)
                            ? fs_known_item(&e->known, item)
                            : fs_known_hop(&e->known, w->axis, w->epoch)));
    put(e, "}");
  }
  put(e, "]");
  return FSCHED_OK;
}

static void put_times(const fs_explain *e, uint32_t item) {
  put_u64(e, ", \"start\": ", fs_explain_start(e, item));
  put_u64(e, ", \"end\": ", fs_explain_end(e, item));
  if (fs_command_slow(e->s, &e->s->commands[item])) {
    put_u64(e, ", \"free\": ", fs_command_free(e->s, &e->s->commands[item]));
  }
}

static void put_links(const fs_explain *e, uint32_t item) {
  static const char *const hold[] = {"", "queue", "gang", "sync", "gate", "start"};
  put(e, "[");
  for (uint32_t at = item, i = 0; at != FS_NONE; i++) {
    fs_link k = fs_explain_link(e, at);
    put(e, line(i));
    put_epoch(e, "{\"axis\": ", fs_explain_complete(e, at));
    put_what(e, at);
    put_times(e, at);
    put(e, ", \"held_by\": ");
    if (k.hold == FS_HOLD_WANT) {
      put_reason(e, k.want);
    } else {
      put(e, "{\"why\": \"");
      put(e, hold[k.hold]);
      put(e, "\"");
      if (k.hold == FS_HOLD_QUEUE || k.hold == FS_HOLD_GANG) {
        put_name(e, ", \"queue\": ", e->s->queues[k.queue].name);
      }
      put(e, "}");
    }
    put_u64(e, ", \"gap\": ", k.gap);
    put(e, fs_explain_given(e, at) ? ", \"given\": true}" : "}");
    at = k.before;
  }
  put(e, "]");
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
    put(e, ", \"parts\": ");
    fs_text_quoted(e->t, parts);
  }
  return FSCHED_OK;
}

static fs_status put_item(fs_explain *e, uint32_t item) {
  uint32_t n;
  const uint32_t *members = fs_explain_members(e, item, &n);
  put_epoch(e, "{\"axis\": ", fs_explain_complete(e, item));
  put_what(e, item);
  put_times(e, item);
  FS_TRY(put_parts(e, item));
  put(e, ",\n   \"commands\": [");
  for (uint32_t i = 0; i < n; i++) {
    FS_TRY(fs_explain_look_at(e, members[i]));
    put(e, i == 0 ? "\n   " : ",\n   ");
    put_epoch(e, "{\"axis\": ", epoch_of(e, members[i]));
    if (fs_command_members(e->s, &e->s->commands[members[i]]) > 0) {
      put_u64(e, ", \"member\": ", fs_stream_member_of(e->s, members[i]));
    }
    put_waits(e, members[i]);
    fs_explain_sync_json(e, members[i]);
    FS_TRY(put_elided(e, members[i]));
    FS_TRY(put_frontier(e, members[i]));
    put(e, "}");
  }
  put(e, "],\n   \"chain\": ");
  put_links(e, item);
  put(e, "}");
  return FSCHED_OK;
}

static fs_status put_summary(fs_explain *e) {
  static const char *const unwanted[] = {
      [FS_SYNC_TIMELINE] = "unknown", [FS_SYNC_BARRIER] = "barrier", [FS_SYNC_BLOCK] = "sync"};
  fs_summary s;
  FS_TRY(fs_explain_summary(e, &s));
  put_u64(e, ",\n \"orderings\": {\"same_queue\": ", s.wanted[FS_TIER_SAME_QUEUE]);
  put_u64(e, ", \"exact\": ", s.wanted[FS_TIER_EXACT]);
  put_u64(e, ", \"frontier\": ", s.wanted[FS_TIER_FRONTIER]);
  put_u64(e, ", \"waits\": ", s.wanted[FS_TIER_WAIT]);
  put_u64(e, "},\n \"waits\": {\"all\": ", e->order.points.point0[e->s->n_commands]);
  for (uint32_t i = 0; i < FS_WANT_CONCURRENCY + 2; i++) {
    put(e, ", \"");
    put(e, i <= FS_WANT_CONCURRENCY ? why_words[i] : unwanted[e->s->meta->sync]);
    put_u64(e, "\": ", s.waits[i]);
  }
  put(e, "},\n \"queues\": [");
  for (uint32_t i = 0; i < e->s->n_queues; i++) {
    const fs_stream_queue *q = &e->s->queues[s.queue[i].queue];
    put_name(e, i == 0 ? "\n  {\"name\": " : ",\n  {\"name\": ", q->name);
    put_u64(e, ", \"commands\": ", q->n_commands);
    put_u64(e, ", \"waits\": ", s.queue[i].waits);
    put(e, "}");
  }
  put(e, "],\n \"chain\": ");
  if (s.last == FS_NONE) {
    put(e, "[]");
  } else {
    put_links(e, s.last);
  }
  return FSCHED_OK;
}

fs_status fs_explain_json(fs_explain *e) {
  put_name(e, "{\"fsched_explain\": 1,\n \"program\": ", e->s->meta->name);
  if (e->s->meta->time_unit != FS_NONE) {
    put_name(e, ", \"time_unit\": ", e->s->meta->time_unit);
  }
  put_u64(e, ", \"makespan\": ", e->s->meta->makespan);
  if (e->item.n == 0 && e->explained.n == 0) {
    FS_TRY(put_summary(e));
  } else {
    put(e, ",\n \"items\": [");
    for (size_t i = 0; i < e->item.n; i++) {
      put(e, i == 0 ? "\n  " : ",\n  ");
      FS_TRY(put_item(e, e->item.at[i]));
    }
    put(e, "]");
  }
  for (size_t i = 0; i < e->explained.n; i++) {
    put(e, i == 0 ? ",\n \"iterations\": [\n  " : ",\n  ");
    fs_explain_instance_json(e, &e->explained.at[i]);
  }
  put(e, e->explained.n > 0 ? "]}\n" : "}\n");
  return FSCHED_OK;
}
