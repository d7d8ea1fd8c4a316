/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a schedule.  Values that later stages compute (control edges, waits, signals,
 * frontiers) are null for a schedule that was read from a file. */
#include "draw/stats.h"

#include "base/text/columns.h"

#include "base/text/fields.h"
#include "draw/loops.h"
#include "draw/reuse.h"
#include "model/bounds/bounds.h"
#include "model/width.h"

typedef struct fs_stats {
  fs_text *t;
  const fs_schedule *s;
  const fs_sync *sync; /* NULL if the schedule was read from a file */
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

static void put_number(fs_stats *o, const char *name, uint64_t value) {
  key(o, name);
  fs_text_u64(o->t, value);
}

static void put_u64(fs_text *t, const char *prefix, uint64_t value) {
  fs_text_puts(t, prefix);
  fs_text_u64(t, value);
}

/* spill_writes and spill_reads count all copies of each kind; loads and stores count those among
 * them that no lack of room has caused. */
static fs_status spills(fs_stats *o, fs_arena *arena) {
  const fs_schedule *s = o->s;
  uint64_t role_count[FS_ROLES] = {0};
  uint8_t *role;
  FS_TRY(fs_schedule_copy_roles(s, arena, &role));
  uint64_t count[2] = {0}, bytes = 0;
  for (uint32_t c = 0; c < s->n_copies; c++) {
    count[s->copy_kind[c]]++;
    bytes += fs_version_size(s->graph, s->copy_version[c]);
    role_count[role[c]]++;
  }
  put_number(o, "spill_writes", count[FS_SPILL_WRITE]);
  put_number(o, "spill_reads", count[FS_SPILL_READ]);
  put_number(o, "spill_bytes", bytes);
  put_number(o, "loads", role_count[FS_ROLE_LOAD]);
  put_number(o, "stores", role_count[FS_ROLE_STORE]);
  return FSCHED_OK;
}

static fs_status memories(fs_stats *o, fs_arena *arena) {
  const fs_target *target = &o->s->graph->target;
  uint64_t *peak, *extent, *bound;
  FS_TRY(fs_new_zero(arena, &peak, target->n_memories));
  FS_TRY(fs_new_zero(arena, &extent, target->n_memories));
  FS_TRY(fs_new_zero(arena, &bound, target->n_memories));
  FS_TRY(fs_schedule_peaks(o->t->ctx, o->s, peak));
  fs_schedule_extents(o->s, extent);
  FS_TRY(fs_memory_lower_bounds(o->t->ctx, o->s->graph, bound));
  key(o, "memories");
  fs_text_puts(o->t, "{");
  for (uint32_t m = 0; m < target->n_memories; m++) {
    fs_text_puts(o->t, m == 0 ? "\n" : ",\n");
    fs_text_puts(o->t, o->indent);
    fs_text_puts(o->t, "  ");
    fs_text_quoted(o->t, target->memory[m].name);
    bool bounded = fs_memory_bounded(&target->memory[m]);
    if (bounded) {
      put_u64(o->t, ": {\"capacity\": ", target->memory[m].capacity);
    } else {
      fs_text_puts(o->t, ": {\"capacity\": null");
    }
    put_u64(o->t, ", \"peak\": ", peak[m]);
    if (fs_placement_has_addresses(target->memory[m].placement)) {
      put_u64(o->t, ", \"extent\": ", extent[m]);
    } else {
      fs_text_puts(o->t, ", \"extent\": null");
    }
    put_u64(o->t, ", \"lower_bound\": ", bounded ? bound[m] : 0);
    fs_text_puts(o->t, "}");
  }
  fs_text_puts(o->t, "}");
  return FSCHED_OK;
}

static void waits(fs_stats *o) {
  const fs_sync *sync = o->sync;
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
  put_number(o, "signals", sync->n_signals);
}

static void frontier(fs_stats *o) {
  const fs_sync *sync = o->sync;
  key(o, "frontier");
  if (sync == NULL) {
    fs_text_puts(o->t, "null");
    return;
  }
  put_u64(o->t, "{\"largest\": ", sync->frontier_largest);
  put_u64(o->t, ", \"tainted\": ", sync->frontier_tainted);
  fs_text_puts(o->t, "}");
}

/* Writes a / b, rounded to four decimals; integer arithmetic gives the same on every machine. */
static void ratio(fs_text *t, uint64_t a, uint64_t b) {
  if (a == 0) {
    fs_text_puts(t, "0");
    return;
  }
  for (; b >> 48 != 0; b >>= 1) { /* keeps the products below within 64 bits */
    a >>= 1;
  }
  uint64_t whole = a / b;
  uint64_t part = (a % b * 10000 + b / 2) / b;
  fs_text_printf(t, "%llu.%04llu", (unsigned long long)(whole + part / 10000),
                 (unsigned long long)(part % 10000));
}

/* Writes (makespan - lower bound) / lower bound. */
static void gap(fs_text *t, uint64_t makespan, uint64_t bound) {
  bool none = bound == 0 || makespan <= bound;
  ratio(t, none ? 0 : makespan - bound, none ? 1 : bound);
}

/* Writes a number; FS_NONE (unlimited, or not computed) becomes null. */
static void put_known(fs_text *t, const char *prefix, uint32_t value) {
  fs_text_puts(t, prefix);
  if (value == FS_NONE) {
    fs_text_puts(t, "null");
  } else {
    fs_text_u64(t, value);
  }
}

/* The ticks that the target's kind of synchronisation adds to the makespan. */
static uint64_t added_makespan(const fs_sync *sync) {
  uint64_t makespan = sync->schedule->makespan;
  return makespan - fs_min(makespan, sync->makespan_before);
}

/* Writes how many barriers a command waits for on average, over commands that wait for any. */
static void wait_list(fs_text *t, const fs_sync *sync) {
  uint32_t commands = 0;
  for (uint32_t c = 0; c < sync->n_commands; c++) {
    commands += sync->barrier_wait0[c] != sync->barrier_wait0[c + 1];
  }
  ratio(t, commands == 0 ? 0 : sync->barrier_wait0[sync->n_commands], fs_max(commands, 1));
}

static fs_status barriers(fs_stats *o, fs_arena *arena) {
  const fs_sync *sync = o->sync;
  key(o, "barriers");
  if (sync == NULL || !fs_sync_has_barriers(sync->kind)) {
    fs_text_puts(o->t, "{\"bound\": null, \"used\": null, \"width\": null}");
    return FSCHED_OK;
  }
  uint32_t width;
  FS_TRY(fs_graph_width(o->t->ctx, o->s->graph, arena, &width, NULL));
  put_known(o->t, "{\"bound\": ", sync->barrier_bound);
  put_u64(o->t, ", \"used\": ", sync->barriers_used);
  put_u64(o->t, ", \"width\": ", width);
  put_known(o->t, ", \"slots\": ", sync->barrier_slots);
  put_u64(o->t, ", \"virtual\": ", sync->n_barriers);
  bool at_most = sync->barriers_least != FS_NONE && !sync->least_proven;
  put_known(o->t, ", \"least\": ", at_most ? FS_NONE : sync->barriers_least);
  if (at_most) {
    put_known(o->t, ", \"least_at_most\": ", sync->barriers_least);
  }
  put_u64(o->t, ", \"added_edges\": ", sync->barrier_added);
  put_u64(o->t, ", \"gates\": ", sync->barrier_gates);
  put_u64(o->t, ", \"added_makespan\": ", added_makespan(sync));
  fs_text_puts(o->t, ", \"wait_list\": ");
  wait_list(o->t, sync);
  fs_text_puts(o->t, "}");
  return FSCHED_OK;
}

static void syncs(fs_stats *o) {
  const fs_sync *sync = o->sync;
  key(o, "syncs");
  if (sync == NULL || !fs_sync_has_stops(sync->kind)) {
    fs_text_puts(o->t, "null");
    return;
  }
  put_u64(o->t, "{\"full\": ", sync->n_full);
  put_u64(o->t, ", \"counting\": ", sync->n_stops - sync->n_full);
  put_u64(o->t, ", \"stacks\": ", sync->n_stacks);
  put_u64(o->t, ", \"added_makespan\": ", added_makespan(sync));
  fs_sync_counts executed = fs_sync_executed(sync);
  fs_tick cost = o->s->graph->target.sync_cost;
  put_u64(o->t, ", \"cost\": ", cost);
  put_u64(o->t, ", \"total\": ", fs_sync_total(o->s->makespan, executed.full, cost));
  put_u64(o->t, ", \"executed\": {\"full\": ", executed.full);
  put_u64(o->t, ", \"counting\": ", executed.counting);
  fs_text_puts(o->t, "}");
  fs_text_puts(o->t, "}");
}

/* Writes the lower bounds on the makespan, each of which holds for every schedule. */
static void bounds(fs_stats *o) {
  const fs_schedule *s = o->s;
  key(o, "bounds");
  if (!s->has_bounds) {
    fs_text_puts(o->t, "null");
    return;
  }
  put_u64(o->t, "{\"critical_path\": ", s->bounds.critical_path);
  put_u64(o->t, ", \"queues\": ", s->bounds.queue_work);
  put_u64(o->t, ", \"resources\": ", s->bounds.resource_work);
  put_u64(o->t, ", \"copies\": ", s->bounds.copy_work);
  put_u64(o->t, ", \"series\": ", s->bounds.series);
  put_u64(o->t, ", \"memory\": ", s->bounds.memory_work);
  if (s->relaxation == 0) {
    fs_text_puts(o->t, ", \"relaxation\": null}");
  } else {
    put_u64(o->t, ", \"relaxation\": ", s->relaxation);
    fs_text_puts(o->t, "}");
  }
}

static void views(fs_stats *o) {
  const fsched_graph *g = o->s->graph;
  uint64_t n = 0, coarse = 0;
  for (uint32_t a = 0; a < g->n_args && g->n_views > 0; a++) {
    n += fs_arg_view(g, a) != NULL;
    coarse += fs_arg_coarse(g, a);
  }
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    for (uint32_t a = 0; a < g->rolled[l].n_args; a++) {
      uint32_t view = g->rolled[l].arg[a].view;
      fs_view_runs runs = view == FS_NONE ? fs_view_range(0, 0) : fs_view_runs_of(&g->view[view]);
      n += view != FS_NONE;
      coarse += !fs_view_fine(&runs);
    }
  }
  if (n > 0) {
    key(o, "views");
    put_u64(o->t, "{\"args\": ", n);
    put_u64(o->t, ", \"coarse\": ", coarse);
    fs_text_puts(o->t, "}");
  }
}

/* Gangs whose members have args of their own. */
static void members(fs_stats *o) {
  const fsched_graph *g = o->s->graph;
  uint64_t ops = 0, n = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    ops += fs_op_members(g, op) > 0;
    n += fs_op_members(g, op);
  }
  if (ops > 0) {
    key(o, "groups");
    put_u64(o->t, "{\"ops\": ", ops);
    put_u64(o->t, ", \"members\": ", n);
    fs_text_puts(o->t, "}");
  }
}

static fs_status control_edges(fs_stats *o) {
  if (o->sync == NULL) {
    key(o, "control_edges");
    fs_text_puts(o->t, "null");
    key(o, "reuse");
    fs_text_puts(o->t, "null");
    return FSCHED_OK;
  }
  put_number(o, "control_edges", o->sync->n_control);
  key(o, "reuse");
  return fs_reuse_put(o->t, o->s, o->sync, o->indent);
}

static fs_status put_stats(fs_stats *o, fs_arena *arena) {
  const fs_schedule *s = o->s;
  fs_text_puts(o->t, "{");
  put_number(o, "ops", s->graph->n_ops);
  put_number(o, "edges", s->graph->n_edges);
  FS_TRY(control_edges(o));
  FS_TRY(spills(o, arena));
  FS_TRY(memories(o, arena));
  waits(o);
  FS_TRY(barriers(o, arena));
  syncs(o);
  frontier(o);
  bounds(o);
  views(o);
  members(o);
  if (s->n_loops > 0) {
    key(o, "loops");
    fs_loops_put_json(o->t, s);
  }
  key(o, "search");
  put_u64(o->t, "{\"nodes\": ", s->search_nodes);
  fs_text_puts(o->t, ", \"gap\": ");
  gap(o->t, s->makespan, s->lower_bound);
  fs_text_puts(o->t, "}\n");
  fs_text_puts(o->t, o->indent);
  fs_text_puts(o->t, "}");
  return FSCHED_OK;
}

fs_status fs_stats_put(fs_text *t, const fsched_schedule *s, const char *indent) {
  fs_stats o = {.t = t, .s = s->schedule, .sync = s->sync, .indent = indent, .first = true};
  FS_SCRATCH(arena, t->ctx);
  return put_stats(&o, &arena);
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

void fs_stats_put_peaks(fs_text *t, const fs_schedule *s, const char *indent) {
  assert(indent != NULL);
  const fs_target *target = &s->graph->target;
  uint64_t *extent, *peak;
  FS_SCRATCH(arena, t->ctx);
  if (fs_new_zero(&arena, &extent, target->n_memories) != FSCHED_OK ||
      fs_new_zero(&arena, &peak, target->n_memories) != FSCHED_OK ||
      fs_schedule_peaks(t->ctx, s, peak) != FSCHED_OK) {
    t->failed = true;
    return;
  }
  fs_schedule_extents(s, extent);
  for (uint32_t m = 0; m < target->n_memories; m++) {
    const fs_memory *memory = &target->memory[m];
    if (fs_memory_bounded(memory)) {
      fs_text_printf(t, "%smemory ", indent);
      fs_text_visible(t, memory->name);
      fs_text_printf(t, ": peak %llu", (unsigned long long)peak[m]);
      if (fs_placement_has_addresses(memory->placement)) {
        fs_text_printf(t, ", extent %llu", (unsigned long long)extent[m]);
      }
      fs_text_printf(t, " of %llu\n", (unsigned long long)memory->capacity);
    }
  }
}
