/* SPDX-License-Identifier: Apache-2.0 */
/* Measured times for a graph.  All times are found first and then taken over at once, so that a
 * graph is never left half changed.  For the fit, copies are grouped by memory m and direction: 2m
 * is the index of its costs of writes, 2m + 1 that of its costs of reads. */
#include <stdio.h>

#include "base/group.h"
#include "base/names.h"
#include "base/text/plural.h"
#include "base/text/ticks.h"
#include "base/warnings.h"
#include "front/profile/copy_fit.h"
#include "front/profile/profile.h"
#include "model/graph.h"

typedef struct applier {
  fsched_context *ctx;
  const fsched_graph *g;
  const fsched_profile *p;
  fs_arena *arena; /* scratch */
  fs_names ops, buffers;
  uint64_t tick_ps;
  fs_tick *op_time, *op_latency; /* op_latency: NULL where the graph has none */
  uint32_t *costs0, *costs;      /* CSR of points; per item: index of its costs, or FS_NONE */
  fs_copy_point *point;
  fs_copy_cost *cost;
  uint32_t first_unknown; /* first item that the graph does not have */
  fsched_profile_use use;
} applier;

static fs_pos seen_from(const applier *a, fs_pos at) {
  return a->p->ctx == a->ctx ? at : FS_NOWHERE;
}

static bool same_text(const char *x, const char *y) {
  return x == NULL || y == NULL ? x == y : strcmp(x, y) == 0;
}

static fs_status find_tick(applier *a) {
  const char *unit = a->g->target.time_unit;
  uint64_t of_unit = fs_tick_ps(unit), of_profile = fs_profile_tick_ps(a->p);
  bool first = a->p->tick_given || of_unit == 0 || same_text(unit, a->p->time_unit);
  a->tick_ps = of_profile != 0 && first ? of_profile : of_unit;
  if (a->tick_ps == 0) {
    return fs_fail(a->ctx, FSCHED_BAD_INPUT, FS_DIAG_PROFILE_GRAPH, seen_from(a, a->p->graph_at),
                   "add --tick LENGTH, or give the target a time_unit (ns, us, ms, s)",
                   "nothing says how long a tick of graph '%s' is", a->g->name);
  }
  return FSCHED_OK;
}

static fs_status check_starts(const applier *a) {
  for (uint32_t op = 0; a->g->op_start != NULL && op < a->g->n_ops; op++) {
    if (a->g->op_start[op] != FS_TICK_NONE) {
      return fs_fail(a->ctx, FSCHED_BAD_INPUT, FS_DIAG_PROFILE_GRAPH, fs_op_pos(a->ctx, a->g, op),
                     "leave the start out",
                     "the start of op '%s' is given, which measured times would contradict",
                     a->g->op_name[op]);
    }
  }
  return FSCHED_OK;
}

/* Converts a time to ticks, rounded up so that any time above 0 is at least one tick. */
static fs_status to_ticks(const applier *a, const fs_profile_item *item, fs_tick *out) {
  *out = fs_ticks_of_ns(item->took.median_ns, a->tick_ps);
  if (*out > FSCHED_MAX_TIME) {
    return fs_fail(a->ctx, FSCHED_BAD_INPUT, FS_DIAG_PROFILE_VALUE, seen_from(a, item->at), NULL,
                   "'%s' took more than 2^40 ticks of %llu ps", item->name,
                   (unsigned long long)a->tick_ps);
  }
  return FSCHED_OK;
}

/* The index of the costs that a copy belongs to; FS_NONE: the graph does not have the copy. */
static uint32_t find_costs(const applier *a, const fs_profile_item *item, uint32_t buffer) {
  const fsched_graph *g = a->g;
  if (buffer == FS_NONE ||
      item->version >= g->buffer_version0[buffer + 1] - g->buffer_version0[buffer]) {
    return FS_NONE;
  }
  uint32_t memory = g->buffer_memory[buffer];
  const fs_memory *m = &g->target.memory[memory];
  bool copied = fs_memory_bounded(m) && fs_memory_spills(m);
  return copied ? 2 * memory + (item->kind == FS_PROFILE_READ) : FS_NONE;
}

/* What the target adds to an op; what was measured does not contain it. */
static fs_tick launch_of(const fsched_graph *g, uint32_t op) {
  bool gang = g->op_gang[op] != FS_NONE && !g->target.implicit_queues;
  return gang ? fs_gang_launch(g, g->op_gang[op]) : fs_domain_launch(&g->target, g->op_domain[op]);
}

/* What is measured is when the op was complete.  A slow op then keeps its queue no longer than
 * that. */
static void take_time(applier *a, uint32_t op, fs_tick ticks) {
  if (fs_op_slow(a->g, op)) {
    a->op_latency[op] = ticks;
    a->op_time[op] = fs_min(a->op_time[op], ticks);
    return;
  }
  a->op_time[op] = ticks;
  if (a->op_latency != NULL) {
    a->op_latency[op] = ticks;
  }
}

static fs_status take_item(applier *a, uint32_t i) {
  const fs_profile_item *item = &a->p->item[i];
  bool is_op = item->kind == FS_PROFILE_OP;
  uint32_t id = fs_names_find(is_op ? &a->ops : &a->buffers, item->name, strlen(item->name));
  fs_tick ticks;
  a->costs[i] = is_op ? FS_NONE : find_costs(a, item, id);
  if (is_op ? id == FS_NONE : a->costs[i] == FS_NONE) {
    a->first_unknown = a->use.unknown++ == 0 ? i : a->first_unknown;
    return FSCHED_OK;
  }
  FS_TRY(to_ticks(a, item, &ticks));
  if (is_op) {
    take_time(a, id, ticks + launch_of(a->g, id));
    a->use.ops++;
  } else {
    a->use.copies++;
  }
  return FSCHED_OK;
}

static fs_status know_names(fs_names *table, const char *const *name, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t id;
    bool repeated;
    FS_TRY(fs_names_add(table, name[i], strlen(name[i]), &id, &repeated));
  }
  return FSCHED_OK;
}

static fs_status take_items(applier *a) {
  const fsched_graph *g = a->g;
  FS_TRY(know_names(&a->ops, g->op_name, g->n_ops));
  FS_TRY(know_names(&a->buffers, g->buffer_name, g->n_buffers));
  FS_TRY(fs_new(a->arena, &a->op_time, g->n_ops));
  FS_TRY(fs_new(a->arena, &a->costs, a->p->n_items));
  memcpy(a->op_time, g->op_time, g->n_ops * sizeof *a->op_time);
  if (g->op_latency != NULL) {
    FS_TRY(fs_new(a->arena, &a->op_latency, g->n_ops));
    memcpy(a->op_latency, g->op_latency, g->n_ops * sizeof *a->op_latency);
  }
  for (uint32_t i = 0; i < a->p->n_items; i++) {
    FS_TRY(take_item(a, i));
  }
  return FSCHED_OK;
}

static void planned_cost(const fs_memory *m, uint32_t costs, fs_copy_cost *out) {
  bool write = costs % 2 == 0;
  uint64_t rate = write ? m->write_rate : m->read_rate, per = write ? m->write_per : m->read_per;
  *out =
      (fs_copy_cost){write ? m->write_fixed : m->read_fixed, rate == 0 ? 0 : fs_max(rate / per, 1)};
}

static void note_cost(const applier *a, uint32_t costs, fs_copy_cost planned) {
  const fs_copy_cost *c = &a->cost[costs];
  uint32_t n = a->costs0[costs + 1] - a->costs0[costs];
  fs_report(a->ctx, FSCHED_NOTE, FS_DIAG_PROFILE, FS_NOWHERE, NULL,
            "%s of memory '%s': fixed %llu, rate %llu by %u measured cop%s; planned %llu and %llu",
            costs % 2 == 0 ? "writes" : "reads", a->g->target.memory[costs / 2].name,
            (unsigned long long)c->fixed, (unsigned long long)c->rate, n, fs_plural_ies(n),
            (unsigned long long)planned.fixed, (unsigned long long)planned.rate);
}

static fs_status fit_costs(applier *a) {
  const fs_target *t = &a->g->target;
  uint32_t n = 2 * t->n_memories, *copy;
  FS_TRY(fs_group(a->arena, a->costs, a->p->n_items, n, &a->costs0, &copy));
  FS_TRY(fs_new(a->arena, &a->cost, n));
  FS_TRY(fs_new(a->arena, &a->point, a->use.copies));
  for (uint32_t k = 0; k < n; k++) {
    planned_cost(&t->memory[k / 2], k, &a->cost[k]);
  }
  for (uint32_t i = 0; i < a->use.copies; i++) {
    const fs_profile_item *item = &a->p->item[copy[i]];
    uint32_t buffer = fs_names_find(&a->buffers, item->name, strlen(item->name));
    a->point[i] = (fs_copy_point){a->g->buffer_size[buffer],
                                  fs_ticks_of_ns(item->took.median_ns, a->tick_ps)};
  }
  for (uint32_t k = 0; k < n; k++) {
    uint32_t points = a->costs0[k + 1] - a->costs0[k];
    if (points > 0) {
      fs_copy_cost planned = a->cost[k];
      FS_TRY(fs_copy_fit(a->arena, a->point + a->costs0[k], points, &a->cost[k]));
      note_cost(a, k, planned);
    }
  }
  return FSCHED_OK;
}

static void warn_unknown(const applier *a) {
  const fs_profile_item *item = &a->p->item[a->first_unknown];
  char others[48] = "", hint[128];
  if (a->use.unknown > 1) {
    (void)snprintf(others, sizeof others, ", nor %u more of its entries", a->use.unknown - 1);
  }
  if (item->kind == FS_PROFILE_OP) {
    const char *near = fs_nearest(item->name, a->g->op_name, a->g->n_ops);
    (void)snprintf(hint, sizeof hint, "did you mean '%.100s'?", near == NULL ? "" : near);
    fs_report(a->ctx, FSCHED_WARNING, FS_DIAG_PROFILE, seen_from(a, item->at),
              near == NULL ? NULL : hint, "the graph has no op '%s' of the profile%s", item->name,
              others);
  } else {
    fs_report(a->ctx, FSCHED_WARNING, FS_DIAG_PROFILE, seen_from(a, item->at), NULL,
              "the graph cannot copy version %u of '%s' of the profile%s", item->version,
              item->name, others);
  }
}

static fs_status warn(const applier *a) {
  if (!fs_warn_on(a->ctx, FS_WARN_PROFILE)) {
    return FSCHED_OK;
  }
  uint32_t errors = fs_warn_errors(a->ctx);
  if (a->p->graph != NULL && strcmp(a->p->graph, a->g->name) != 0) {
    fs_report(a->ctx, FSCHED_WARNING, FS_DIAG_PROFILE, seen_from(a, a->p->graph_at), NULL,
              "the profile is of graph '%s', not of '%s'", a->p->graph, a->g->name);
  }
  if (a->use.unknown > 0) {
    warn_unknown(a);
  }
  return fs_warn_errors(a->ctx) == errors ? FSCHED_OK : FSCHED_BAD_INPUT;
}

/* A copy of the memories with the costs that were found. */
static fs_status cost_memories(applier *a, fs_memory **out) {
  const fs_target *t = &a->g->target;
  FS_TRY(fs_new(a->arena, out, t->n_memories));
  for (uint32_t k = 0; k < t->n_memories; k++) {
    fs_memory *m = &(*out)[k];
    const fs_copy_cost *cost = &a->cost[2 * (size_t)k];
    *m = t->memory[k];
    fs_tick launch = m->spill_domain == FS_NONE ? 0 : fs_domain_launch(t, m->spill_domain);
    if (a->costs0[2 * k + 1] > a->costs0[2 * k]) {
      m->write_fixed = cost[0].fixed + launch, m->write_rate = cost[0].rate, m->write_per = 1;
    }
    if (a->costs0[2 * k + 2] > a->costs0[2 * k + 1]) {
      m->read_fixed = cost[1].fixed + launch, m->read_rate = cost[1].rate, m->read_per = 1;
    }
    a->use.memories += a->costs0[2 * k + 2] > a->costs0[2 * k];
  }
  return FSCHED_OK;
}

static fs_status apply(applier *a, fsched_graph *graph) {
  fs_memory *memory;
  FS_TRY(find_tick(a));
  FS_TRY(check_starts(a));
  FS_TRY(take_items(a));
  FS_TRY(fit_costs(a));
  FS_TRY(warn(a));
  FS_TRY(cost_memories(a, &memory));
  return fs_graph_become_measured(graph, a->op_time, a->op_latency, memory, a->p->file);
}

fsched_status fsched_graph_apply_profile(fsched_context *ctx, fsched_graph *graph,
                                         const fsched_profile *p, fsched_profile_use *use) {
  if (use != NULL) {
    FS_TRY(fs_check_options(ctx, "fsched_profile_use", use->size,
                            FS_SIZE_UP_TO(fsched_profile_use, unknown)));
  }
  FS_SCRATCH(arena, ctx);
  applier a = {.ctx = ctx, .g = graph, .p = p, .use = {.size = sizeof a.use}, .arena = &arena};
  fs_names_init(&a.ops, &arena);
  fs_names_init(&a.buffers, &arena);
  fs_status status = apply(&a, graph);
  fs_names_free(&a.ops);
  fs_names_free(&a.buffers);
  if (status == FSCHED_OK && use != NULL) {
    a.use.size = fs_min(use->size, sizeof a.use);
    memcpy(use, &a.use, a.use.size);
  }
  return status;
}
