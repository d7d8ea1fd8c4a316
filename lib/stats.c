/* SPDX-License-Identifier: Apache-2.0 */
/* What comes from later stages (control edges, waits, signals, frontiers) is null in a schedule
 * that was read from a file. */
#include "stats.h"

#include "fields.h"

typedef struct fs_stats {
  fs_text *t;
  const fsched_schedule *s;
  const char *indent;
  bool first;
} fs_stats;

static void key(fs_stats *o, const char *name) {
  fs_text_puts(o->t, o->first ? "\n" : ",\n");
  fs_text_puts(o->t, o->indent);
  fs_text_puts(o->t, " ");
  fs_text_json_string(o->t, name);
  fs_text_puts(o->t, ": ");
  o->first = false;
}

static void number(fs_stats *o, const char *name, uint64_t value) {
  key(o, name);
  fs_text_u64(o->t, value);
}

static void put_u64(fs_text *t, const char *prefix, uint64_t value) {
  fs_text_puts(t, prefix);
  fs_text_u64(t, value);
}

/* spill_writes and spill_reads are all copies of their kind; loads and stores are those among them
 * that come from no lack of room. */
static fs_status spills(fs_stats *o, fs_arena *arena) {
  const fsched_schedule *s = o->s;
  uint64_t role_count[FS_ROLES] = {0};
  uint8_t *role;
  FS_TRY(fs_schedule_copy_roles(s, arena, &role));
  uint64_t count[2] = {0}, bytes = 0;
  for (uint32_t c = 0; c < s->n_copies; c++) {
    count[s->copy_kind[c]]++;
    bytes += fs_version_size(s->graph, s->copy_version[c]);
    role_count[role[c]]++;
  }
  number(o, "spill_writes", count[FS_SPILL_WRITE]);
  number(o, "spill_reads", count[FS_SPILL_READ]);
  number(o, "spill_bytes", bytes);
  number(o, "loads", role_count[FS_ROLE_LOAD]);
  number(o, "stores", role_count[FS_ROLE_STORE]);
  return FSCHED_OK;
}

static fs_status memories(fs_stats *o, fs_arena *arena) {
  const fs_target *target = &o->s->graph->target;
  uint64_t *peak, *bound;
  FS_TRY(fs_new_zero(arena, &peak, target->n_memories));
  FS_TRY(fs_new_zero(arena, &bound, target->n_memories));
  FS_TRY(fs_schedule_peaks(o->t->ctx, o->s, peak));
  FS_TRY(fs_memory_lower_bounds(o->t->ctx, o->s->graph, bound));
  key(o, "memories");
  fs_text_puts(o->t, "{");
  for (uint32_t m = 0; m < target->n_memories; m++) {
    fs_text_puts(o->t, m == 0 ? "\n" : ",\n");
    fs_text_puts(o->t, o->indent);
    fs_text_puts(o->t, "  ");
    fs_text_quoted(o->t, target->memory[m].name);
    if (fs_memory_bounded(&target->memory[m])) {
      put_u64(o->t, ": {\"capacity\": ", target->memory[m].capacity);
    } else {
      fs_text_puts(o->t, ": {\"capacity\": null");
    }
    put_u64(o->t, ", \"peak\": ", peak[m]);
    put_u64(o->t, ", \"lower_bound\": ", bound[m]);
    fs_text_puts(o->t, "}");
  }
  fs_text_puts(o->t, "}");
  return FSCHED_OK;
}

static void waits(fs_stats *o) {
  const fs_sync *sync = o->s->sync;
  key(o, "waits");
  if (sync == NULL) {
    fs_text_puts(o->t, "null");
    key(o, "signals");
    fs_text_puts(o->t, "null");
    return;
  }
  put_u64(o->t, "{\"edges\": ", sync->waits_edges);
  put_u64(o->t, ", \"same_queue\": ", sync->waits_same_queue);
  put_u64(o->t, ", \"dominated\": ", sync->waits_dominated);
  put_u64(o->t, ", \"dominated_exact\": ", sync->waits_dominated_exact);
  put_u64(o->t, ", \"dominated_frontier\": ", sync->waits_dominated - sync->waits_dominated_exact);
  put_u64(o->t, ", \"emitted\": ", sync->waits_emitted);
  fs_text_puts(o->t, "}");
  number(o, "signals", sync->n_signals);
}

static void frontier(fs_stats *o) {
  const fs_sync *sync = o->s->sync;
  key(o, "frontier");
  if (sync == NULL) {
    fs_text_puts(o->t, "null");
    return;
  }
  put_u64(o->t, "{\"largest\": ", sync->frontier_largest);
  put_u64(o->t, ", \"tainted\": ", sync->frontier_tainted);
  fs_text_puts(o->t, "}");
}

/* (makespan - lower bound) / lower bound, rounded to four decimals, in integers so that every
 * machine prints the same. */
static void gap(fs_text *t, uint64_t makespan, uint64_t bound) {
  if (bound == 0 || makespan <= bound) {
    fs_text_puts(t, "0");
    return;
  }
  uint64_t excess = makespan - bound;
  for (; bound >> 48 != 0; bound >>= 1) { /* keeps what follows within 64 bits */
    excess >>= 1;
  }
  uint64_t whole = excess / bound;
  uint64_t part = (excess % bound * 10000 + bound / 2) / bound;
  fs_text_printf(t, "%llu.%04llu", (unsigned long long)(whole + part / 10000),
                 (unsigned long long)(part % 10000));
}

static fs_status put(fs_stats *o, fs_arena *arena) {
  const fsched_schedule *s = o->s;
  fs_text_puts(o->t, "{");
  number(o, "ops", s->graph->n_ops);
  number(o, "edges", s->graph->n_edges);
  if (s->sync == NULL) {
    key(o, "control_edges");
    fs_text_puts(o->t, "null");
  } else {
    number(o, "control_edges", s->sync->n_control);
  }
  FS_TRY(spills(o, arena));
  FS_TRY(memories(o, arena));
  waits(o);
  key(o, "barriers");
  fs_text_puts(o->t, "{\"bound\": null, \"used\": null, \"width\": null}");
  frontier(o);
  key(o, "search");
  fs_text_puts(o->t, "{\"nodes\": 0, \"gap\": ");
  gap(o->t, s->makespan, s->lower_bound);
  fs_text_puts(o->t, "}\n");
  fs_text_puts(o->t, o->indent);
  fs_text_puts(o->t, "}");
  return FSCHED_OK;
}

fs_status fs_stats_put(fs_text *t, const fsched_schedule *s, const char *indent) {
  fs_stats o = {.t = t, .s = s, .indent = indent, .first = true};
  fs_arena arena;
  fs_arena_init(&arena, t->ctx);
  fs_status status = put(&o, &arena);
  fs_arena_release(&arena);
  return status;
}

fs_status fsched_schedule_stats_json(fsched_context *ctx, const fsched_schedule *s, char **text,
                                     size_t *length) {
  fs_text t;
  fs_text_init(&t, ctx);
  fs_status status = fs_stats_put(&t, s, "");
  if (status != FSCHED_OK) {
    fs_text_drop(&t);
    return status;
  }
  fs_text_puts(&t, "\n");
  return fs_text_take(&t, text, length);
}
