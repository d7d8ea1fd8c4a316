/* SPDX-License-Identifier: Apache-2.0 */
/* The list scheduler's entry, and the schedule of a run.
 *
 * What was repaired in the published loop (Kundeti, the feasible schedule generator): it goes on
 * while anything is active, spilled or in flight; it starts with all sources; spill reads are
 * scheduled like any item; fresh ops may start beside resident buffers; outputs are written back
 * once; the makespan is the largest end.  A published run evicts least recently used versions; the
 * default evicts the one whose next use is farthest in the planned order. */
#include <stdio.h>

#include "listsched/trials.h"

static fs_status fill_items(fs_schedule *s, const fs_engine *e) {
  assert(e->order.n == s->graph->n_ops + e->copy.n);
  uint32_t n_ops = s->graph->n_ops;
  FS_TRY(fs_schedule_make_items(s, (uint32_t)e->copy.n));
  for (uint32_t i = 0; i < n_ops; i++) {
    s->start[i] = e->op_start[i];
    s->end[i] = e->op_end[i];
    s->queue[i] = e->op_queue[i];
  }
  for (uint32_t c = 0; c < s->n_copies; c++) {
    s->start[n_ops + c] = e->copy_start.at[c];
    s->end[n_ops + c] = e->copy_end.at[c];
    s->queue[n_ops + c] = e->copy_queue.at[c];
    s->copy_kind[c] = e->copy.at[c].kind;
    s->copy_version[c] = e->copy.at[c].version;
    s->copy_residency[c] = e->copy.at[c].residency;
    s->copy_store[c] = e->copy.at[c].store;
  }
  assert(e->order.n == s->n_items);
  if (s->n_items > 0) {
    memcpy(s->order, e->order.at, s->n_items * sizeof *s->order);
  }
  return FSCHED_OK;
}

static fs_status fill_residencies(fs_schedule *s, const fs_engine *e) {
  uint32_t n = (uint32_t)e->residency.n;
  FS_TRY(fs_schedule_make_residencies(s, n));
  for (uint32_t r = 0; r < n; r++) {
    const fs_residency_record *from = &e->residency.at[r];
    s->res_version[r] = from->version;
    s->res_op[r] = from->op;
    s->res_memory[r] = from->memory;
    s->res_address[r] = from->address;
    s->res_size[r] = from->size;
    s->res_begin[r] = from->begin;
    s->res_end[r] = from->end == FS_TICK_NONE ? s->makespan : from->end;
  }
  uint32_t n_scratch = s->graph->op_scratch0[s->graph->n_ops];
  memcpy(s->arg_residency, e->arg_residency, s->graph->n_args * sizeof *s->arg_residency);
  memcpy(s->scratch_residency, e->scratch_residency, n_scratch * sizeof *s->scratch_residency);
  return FSCHED_OK;
}

static fs_status fill_queues(fs_schedule *s, const fs_engine *e) {
  assert(s->graph->target.implicit_queues || e->n_queues == s->graph->target.n_queues);
  s->n_queues = e->n_queues;
  FS_TRY(fs_new(&s->arena, &s->queue_name, s->n_queues));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    if (!s->graph->target.implicit_queues) {
      s->queue_name[q] = s->graph->target.queue[q].name;
      continue;
    }
    char name[16];
    int n = snprintf(name, sizeof name, "q%u", (unsigned)q);
    s->queue_name[q] = fs_arena_strndup(&s->arena, name, (size_t)n);
    if (s->queue_name[q] == NULL) {
      return FSCHED_SYSTEM;
    }
  }
  return FSCHED_OK;
}

static fs_status fill_all(fs_schedule *s, const fs_engine *e) {
  FS_TRY(fill_items(s, e));
  FS_TRY(fill_residencies(s, e));
  FS_TRY(fill_queues(s, e));
  return e->op_member0 == NULL ? FSCHED_OK : fs_schedule_set_gangs(s, e->op_member0, e->op_member);
}

fs_status fs_engine_schedule(fsched_context *ctx, const fs_engine *e, fs_tick makespan,
                             fs_schedule **out) {
  assert(e->n_done == e->g->n_ops);
  fs_schedule *s;
  FS_TRY(fs_schedule_create(ctx, e->g, &s));
  s->makespan = makespan;
  s->status = FS_SCHEDULE_FEASIBLE;
  fs_status status = fill_all(s, e);
  if (status != FSCHED_OK) {
    fs_schedule_destroy(s);
    return status;
  }
  *out = s;
  return FSCHED_OK;
}

static fs_status run_trials(fsched_context *ctx, const fsched_graph *g,
                            const fs_listsched_options *options, fs_schedule **out) {
  fs_trials t = {.ctx = ctx, .g = g, .options = options};
  fs_status status = fs_trials_run(&t);
  if (status != FSCHED_OK) {
    fs_schedule_destroy(t.schedule);
    return status;
  }
  *out = t.schedule;
  return t.schedule == NULL ? FSCHED_INFEASIBLE : FSCHED_OK;
}

static bool has_parts(const fsched_graph *g) {
  bool found = false;
  for (uint32_t op = 0; op < g->n_ops && g->n_rolled > 0 && !found; op++) {
    found = fs_op_parts(g, op) != NULL;
  }
  return found;
}

/* Runs the trials with loops that take their queues as a whole, too, and keeps the better schedule:
 * so that what queues do on their own makes none longer, as it may where each choice is greedy. */
static fs_status run_both(fsched_context *ctx, const fsched_graph *g,
                          const fs_listsched_options *options, fs_schedule **out) {
  fs_listsched_options o = *options;
  fs_schedule *whole = NULL, *apart = NULL;
  o.whole_loops = o.silent = true;
  fs_status status = run_trials(ctx, g, &o, &whole);
  if (status == FSCHED_OK && whole->makespan <= o.lower_bound) {
    *out = whole;
    return status;
  }
  if (status == FSCHED_OK || status == FSCHED_INFEASIBLE) {
    o.whole_loops = false;
    o.silent = options->silent || whole != NULL;
    status = run_trials(ctx, g, &o, &apart);
  }
  if (status != FSCHED_OK && status != FSCHED_INFEASIBLE) {
    fs_schedule_destroy(whole);
    return status;
  }
  bool shorter = apart != NULL && (whole == NULL || apart->makespan <= whole->makespan);
  fs_schedule *other = shorter ? whole : apart;
  *out = shorter ? apart : whole;
  if (other != NULL) {
    (*out)->trial_runs += other->trial_runs;
    (*out)->trial_steps += other->trial_steps;
  }
  fs_schedule_destroy(other);
  return *out == NULL ? FSCHED_INFEASIBLE : FSCHED_OK;
}

fs_status fs_listsched_run(fsched_context *ctx, const fsched_graph *g,
                           const fs_listsched_options *options, fs_schedule **out) {
  assert(g->topo != NULL || g->n_ops == 0);
  assert(options->effort <= FS_EFFORT_MOST);
  bool both = !options->whole_loops && options->stop == NULL && has_parts(g);
  return both ? run_both(ctx, g, options, out) : run_trials(ctx, g, options, out);
}
