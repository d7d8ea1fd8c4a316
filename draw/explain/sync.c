/* SPDX-License-Identifier: Apache-2.0 */
/* Explains synchronisation without waits: the barriers of a command, or the syncs between it and
 * the previous command of its queue. */
#include "model/sync.h"
#include "base/text/columns.h"
#include "base/text/fields.h"
#include "draw/explain/explain.h"

enum { SHOWN = 20, NAMED = 8 }; /* rows; commands of a row */

static void put(const fs_explain *e, const char *text) { fs_text_puts(e->t, text); }

static void put_u64(const fs_explain *e, const char *before, uint64_t value) {
  put(e, before);
  fs_text_u64(e->t, value);
}

/* ---- barriers and syncs of a command */

/* Whether the command updates the barrier, or, if `updates` is false, waits for it. */
static bool concerns(const fs_stream *s, uint32_t command, uint32_t barrier, bool updates) {
  const fs_stream_command *c = &s->commands[command];
  uint32_t n = updates ? c->n_barrier_updates : c->n_barrier_waits;
  for (uint32_t i = 0; i < n; i++) {
    if (barrier == (updates ? s->barrier_updates[c->barrier_update0 + i].barrier
                            : s->barrier_waits[c->barrier_wait0 + i])) {
      return true;
    }
  }
  return false;
}

/* The barrier that uses the same physical barrier just before; FS_NONE: none does. */
static uint32_t before_it(const fs_stream *s, uint32_t barrier) {
  const fs_stream_barrier *r = &s->barriers[barrier];
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    if (s->barriers[b].physical == r->physical && s->barriers[b].use + 1 == r->use) {
      return b;
    }
  }
  return FS_NONE;
}

/* Finds the syncs between the command and the previous one of its queue: from *first up to the end
 * that is returned. */
static uint32_t stops_before(const fs_explain *e, uint32_t command, uint32_t *first) {
  const fs_stream *s = e->s;
  bool begins = command == s->queues[e->order.queue[command]].command0;
  uint32_t end = 0;
  *first = 0;
  for (uint32_t i = 0; i < s->n_stops && s->stops[i].at <= s->commands[command].issue; i++) {
    *first += !begins && s->stops[i].at <= s->commands[command - 1].issue;
    end++;
  }
  return end;
}

/* ---- for people */

static void put_visible(const fs_explain *e, uint32_t string) {
  fs_text_visible(e->t, fs_explain_string(e, string));
}

static void put_command(const fs_explain *e, uint32_t command) {
  put_visible(e, e->s->queues[e->order.queue[command]].name);
  put_u64(e, ":", e->s->commands[command].epoch);
}

static void put_barrier(const fs_explain *e, const char *before, uint32_t barrier) {
  put_u64(e, before, barrier);
  put_u64(e, " (physical ", e->s->barriers[barrier].physical);
  put_u64(e, ", use ", e->s->barriers[barrier].use);
  put(e, ")");
}

/* Writes "dpu:1, dma:2 and 3 more". */
static void put_sides(const fs_explain *e, uint32_t barrier, bool updates) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < e->s->n_commands; c++) {
    if (!concerns(e->s, c, barrier, updates)) {
      continue;
    }
    if (e->all || n < NAMED) {
      put(e, n == 0 ? "" : ", ");
      put_command(e, c);
    }
    n++;
  }
  if (!e->all && n > NAMED) {
    put_u64(e, " and ", n - NAMED);
    put(e, " more");
  }
}

static void put_wait(const fs_explain *e, uint32_t barrier) {
  put_barrier(e, "    waits for barrier ", barrier);
  put(e, ": producers ");
  put_sides(e, barrier, true);
  put(e, "\n");
}

static void put_update(const fs_explain *e, const fs_stream_update *u) {
  uint32_t before = before_it(e->s, u->barrier);
  put_barrier(e, "    updates barrier ", u->barrier);
  if (before == FS_NONE) {
    put(e, ": free from the beginning\n");
    return;
  }
  put_u64(e, ": free when the consumers of barrier ", before);
  put(e, " have started: ");
  put_sides(e, before, false);
  put(e, "\n");
}

static void put_more(const fs_explain *e, uint32_t more) {
  if (more > 0) {
    put_u64(e, "    and ", more);
    put(e, " more\n");
  }
}

static void put_barriers(const fs_explain *e, uint32_t command) {
  const fs_stream_command *c = &e->s->commands[command];
  uint32_t waits = e->all ? c->n_barrier_waits : (uint32_t)fs_min(c->n_barrier_waits, SHOWN);
  uint32_t updates = e->all ? c->n_barrier_updates : (uint32_t)fs_min(c->n_barrier_updates, SHOWN);
  put(e, c->n_barrier_waits + c->n_barrier_updates == 0 ? "  barriers: none\n" : "  barriers\n");
  for (uint32_t i = 0; i < waits; i++) {
    put_wait(e, e->s->barrier_waits[c->barrier_wait0 + i]);
  }
  put_more(e, c->n_barrier_waits - waits);
  for (uint32_t i = 0; i < updates; i++) {
    put_update(e, &e->s->barrier_updates[c->barrier_update0 + i]);
  }
  put_more(e, c->n_barrier_updates - updates);
}

static void put_stops(const fs_explain *e, uint32_t command) {
  uint32_t first, end = stops_before(e, command, &first);
  uint32_t shown = e->all ? end - first : (uint32_t)fs_min(end - first, SHOWN);
  put_u64(e, "  issued at ", e->s->commands[command].issue);
  put(e, first == end ? ", no sync since its queue's command before\n"
                      : ", after these syncs since its queue's command before\n");
  for (uint32_t i = first; i < first + shown; i++) {
    const fs_stream_stop *stop = &e->s->stops[i];
    put_u64(e, stop->queue == FS_NONE ? "    full sync before issue " : "    sync before issue ",
            stop->at);
    if (stop->queue != FS_NONE) {
      put(e, " of ");
      put_visible(e, e->s->queues[stop->queue].name);
      if (stop->keep > 0) {
        put_u64(e, " but its last ", stop->keep);
      }
    }
    put(e, "\n");
  }
  put_more(e, end - first - shown);
}

void fs_explain_sync_text(const fs_explain *e, uint32_t command) {
  assert(command < e->s->n_commands);
  switch (fs_stream_sync(e->s)) {
    case FS_SYNC_TIMELINE: /* the lists of waits explain these */
      break;
    case FS_SYNC_BARRIER:
      put_barriers(e, command);
      break;
    case FS_SYNC_BLOCK:
      put_stops(e, command);
      break;
  }
}

/* ---- JSON */

static const char *comma(uint32_t index) { return index == 0 ? "" : ", "; }

static void put_name(const fs_explain *e, const char *before, uint32_t string) {
  put(e, before);
  fs_text_quoted(e->t, fs_explain_string(e, string));
}

static void json_sides(const fs_explain *e, const char *key, uint32_t barrier, bool updates) {
  uint32_t n = 0;
  put(e, key);
  for (uint32_t c = 0; barrier != FS_NONE && c < e->s->n_commands; c++) {
    if (concerns(e->s, c, barrier, updates)) {
      put(e, comma(n++));
      put_name(e, "{\"axis\": ", e->s->queues[e->order.queue[c]].name);
      put_u64(e, ", \"epoch\": ", e->s->commands[c].epoch);
      put(e, "}");
    }
  }
  put(e, "]");
}

static void json_barrier(const fs_explain *e, uint32_t index, uint32_t barrier) {
  put_u64(e, index == 0 ? "\n     {\"barrier\": " : ",\n     {\"barrier\": ", barrier);
  put_u64(e, ", \"physical\": ", e->s->barriers[barrier].physical);
  put_u64(e, ", \"use\": ", e->s->barriers[barrier].use);
}

static void json_barriers(const fs_explain *e, uint32_t command) {
  const fs_stream_command *c = &e->s->commands[command];
  put(e, ",\n    \"barrier_waits\": [");
  for (uint32_t i = 0; i < c->n_barrier_waits; i++) {
    uint32_t barrier = e->s->barrier_waits[c->barrier_wait0 + i];
    json_barrier(e, i, barrier);
    json_sides(e, ", \"producers\": [", barrier, true);
    put(e, "}");
  }
  put(e, "],\n    \"barrier_updates\": [");
  for (uint32_t i = 0; i < c->n_barrier_updates; i++) {
    const fs_stream_update *u = &e->s->barrier_updates[c->barrier_update0 + i];
    json_barrier(e, i, u->barrier);
    put_u64(e, ", \"slots\": ", u->slots);
    json_sides(e, ", \"after_start_of\": [", before_it(e->s, u->barrier), false);
    put(e, "}");
  }
  put(e, "]");
}

static void json_stops(const fs_explain *e, uint32_t command) {
  uint32_t first, end = stops_before(e, command, &first);
  put_u64(e, ",\n    \"issue\": ", e->s->commands[command].issue);
  put(e, ", \"stops\": [");
  for (uint32_t i = first; i < end; i++) {
    const fs_stream_stop *stop = &e->s->stops[i];
    put(e, comma(i - first));
    put_u64(e, "{\"at\": ", stop->at);
    put(e, stop->queue == FS_NONE ? ", \"kind\": \"full\"" : ", \"kind\": \"count\"");
    if (stop->queue != FS_NONE) {
      put_name(e, ", \"queue\": ", e->s->queues[stop->queue].name);
      put_u64(e, ", \"keep\": ", stop->keep);
    }
    put(e, "}");
  }
  put(e, "]");
}

void fs_explain_sync_json(const fs_explain *e, uint32_t command) {
  assert(command < e->s->n_commands);
  switch (fs_stream_sync(e->s)) {
    case FS_SYNC_TIMELINE: /* the lists of waits explain these */
      break;
    case FS_SYNC_BARRIER:
      json_barriers(e, command);
      break;
    case FS_SYNC_BLOCK:
      json_stops(e, command);
      break;
  }
}
