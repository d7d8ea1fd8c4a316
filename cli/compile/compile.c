/* SPDX-License-Identifier: Apache-2.0 */
/* The command fsched compile.  Everything is computed before anything is written, and the stream is
 * written last, so that a build tool that finds it also finds the other results. */
#include "fsched/compile.h"

#include "base/clock.h"
#include "base/files/file.h"
#include "base/text/columns.h"
#include "base/text/plural.h"
#include "cli/common/progress.h"
#include "cli/common/times.h"
#include "cli/compile/depfile.h"
#include "cli/compile/dump.h"
#include "cli/compile/emit.h"
#include "cli/compile/refine.h"
#include "compile/passes.h"
#include "draw/loops.h"
#include "draw/stats.h"
#include "model/bounds/bounds.h"
#include "model/handle.h"

typedef struct fs_job {
  const char *input, *output, *depfile, *proof_path; /* the last two: NULL if none is wanted */
  char *proof;
  size_t proof_length;
  fs_emit *emit;
  size_t n_emits;
  fs_dumps dumps;
  fsched_compile_options options;
  fs_cli_refinement refinement;
  const char **result; /* the names of all files to write */
  size_t n_results;
  size_t n_products; /* the first of them: the stream and those of --emit, which a depfile names */
  fsched_graph *graph;
  fsched_schedule *schedule;
  fsched_program *program;
  uint64_t read_ns, write_ns;
  double *pass_seconds;
} fs_job;

static fs_status name_files(fs_cli *cli, fs_job *job) {
  job->input = cli->args.operand[0];
  job->output = fs_args_last(&cli->args, FS_OPTION_OUTPUT);
  if (job->output == NULL) {
    job->output =
        fs_cli_is_std(job->input) ? "-" : fs_cli_with_suffix(cli, job->input, NULL, ".fsb");
  }
  job->proof_path = fs_args_last(&cli->args, FS_OPTION_PROOF);
  return job->output == NULL ? FSCHED_SYSTEM : fs_depfile_name(cli, job->output, &job->depfile);
}

/* Checks that no two results go to one file, and that none replaces an input. */
static fs_status check_files(fs_cli *cli, fs_job *job) {
  FS_TRY(fs_new(&cli->arena, &job->result, 2 * job->n_emits + job->dumps.n + 3));
  job->result[job->n_results++] = job->output;
  for (size_t i = 0; i < job->n_emits; i++) {
    job->result[job->n_results++] = job->emit[i].path;
    if (job->emit[i].header != NULL) {
      job->result[job->n_results++] = job->emit[i].header;
    }
  }
  if (job->proof_path != NULL) {
    job->result[job->n_results++] = job->proof_path;
  }
  job->n_products = job->n_results;
  for (size_t i = 0; i < job->dumps.n; i++) {
    if (job->dumps.at[i].path != NULL) {
      job->result[job->n_results++] = job->dumps.at[i].path;
    }
  }
  if (job->depfile != NULL) {
    job->result[job->n_results++] = job->depfile;
  }
  FS_TRY(fs_cli_check_terminal(cli, job->output));
  FS_TRY(fs_cli_check_outputs(cli, job->result, job->n_results));
  /* A stream given by mistake in place of its graph has the same name as the result. */
  FS_TRY(fs_cli_check_graph(cli, job->input));
  return fs_cli_check_input(cli, job->input, job->result, job->n_results);
}

/* Checks that no result replaces a file that the graph names; these are known once it is read, and
 * are told from other graphs and targets. */
static fs_status check_targets(fs_cli *cli, const fs_job *job) {
  for (uint32_t i = 0; i < fsched_graph_files(job->graph); i++) {
    const char *name = fsched_graph_file(job->graph, i);
    if (fs_depfile_is_file(name)) {
      FS_TRY(fs_cli_check_input(cli, name, job->result, job->n_results));
    }
  }
  return fs_cli_check_results(cli, job->result, job->n_results);
}

/* Whether a pass runs: some are only for one kind of sync, or run only on request. */
static bool pass_runs(const fs_job *job, fs_pass pass) {
  const fsched_compile_options *o = &job->options;
  fs_sync_kind sync = o->barriers != 0 ? FS_SYNC_BARRIER : job->graph->target.sync;
  switch (pass) {
    case FS_PASS_BOUNDS:
    case FS_PASS_LISTSCHED:
    case FS_PASS_SPREAD:
    case FS_PASS_CTRLEDGE:
    case FS_PASS_WAITS:
    case FS_PASS_CODEGEN:
    case FS_PASS_COUNT:
      break;
    case FS_PASS_LOOPS:
      return job->graph->n_loops > 0;
    case FS_PASS_REFINE:
      return fs_refine_improves(o->refine);
    case FS_PASS_BARRIER:
      return fs_sync_has_barriers(sync);
    case FS_PASS_BLOCK:
      return fs_sync_has_stops(sync);
    case FS_PASS_VERIFY:
      return o->verify != 0;
  }
  return true;
}

/* Refuses dumps of passes that do not run, for which nothing would be shown. */
static fs_status check_dumps(fs_cli *cli, const fs_job *job) {
  for (size_t i = 0; i < job->dumps.n; i++) {
    for (uint32_t pass = 0; pass < fsched_pass_count(); pass++) {
      if (job->dumps.at[i].passes == (uint64_t)1 << pass && !pass_runs(job, (fs_pass)pass)) {
        return fs_usage(cli->ctx, fsched_pass_summary(pass),
                        "the pass '%s' does not run for this target", fsched_pass_name(pass));
      }
    }
  }
  return FSCHED_OK;
}

/* Refuses --barrier-method without barriers, where it has no effect. */
static fs_status check_method(fs_cli *cli, const fs_job *job) {
  const fs_target *t = &job->graph->target;
  if (!fs_args_has(&cli->args, FS_OPTION_BARRIER_METHOD)) {
    return FSCHED_OK;
  }
  if (job->options.barriers == 0 && !fs_sync_has_barriers(t->sync)) {
    return fs_usage(cli->ctx, "add --barriers N, or give the target 'sync: barrier'",
                    "--barrier-method is for targets with barriers");
  }
  uint32_t bound = job->options.barriers != 0 ? job->options.barriers : t->barrier_count;
  if (bound == FSCHED_BARRIERS_AUTO && fs_barrier_method_published(job->options.barrier_method)) {
    return fs_usage(cli->ctx, "add --barriers N",
                    "--barrier-method published needs to know how many barriers there are");
  }
  return FSCHED_OK;
}

/* Reads --barriers; 0 if it is not given. */
static fs_status read_barriers(fs_cli *cli, uint32_t *barriers) {
  const char *value = fs_args_last(&cli->args, FS_OPTION_BARRIERS);
  uint64_t n = 0;
  *barriers = 0;
  if (value == NULL) {
    return FSCHED_OK;
  }
  if (strcmp(value, "auto") == 0) {
    *barriers = FSCHED_BARRIERS_AUTO;
    return FSCHED_OK;
  }
  bool read = fs_parse_u64(value, &n);
  if (!read || n < 1 || n > INT32_MAX) {
    return fs_usage(
        cli->ctx,
        read && n == 0 ? "without --barriers the target's own kind of sync is used" : NULL,
        "--barriers wants a number from 1 to %d, or auto, not '%s'", INT32_MAX, value);
  }
  *barriers = (uint32_t)n;
  return FSCHED_OK;
}

static fs_status read_options(fs_cli *cli, fs_job *job) {
  const char *seed = fs_args_last(&cli->args, FS_OPTION_SEED);
  FS_TRY(fs_new_zero(&cli->arena, &job->pass_seconds, (size_t)fsched_pass_count() + 1));
  job->options = (fsched_compile_options){
      .size = sizeof job->options,
      .evict = (fsched_evict)fs_args_choice(&cli->args, FS_OPTION_EVICT, FSCHED_EVICT_FARTHEST),
      .verify = fs_args_has(&cli->args, FS_OPTION_CHECK_RESULT),
      .pass_seconds = job->pass_seconds,
      .barrier_method = (fsched_barrier_method)fs_args_choice(&cli->args, FS_OPTION_BARRIER_METHOD,
                                                              FSCHED_BARRIERS_BEST),
  };
  if (seed != NULL) {
    (void)fs_parse_u64(seed, &job->options.seed);
  }
  FS_TRY(read_barriers(cli, &job->options.barriers));
  FS_TRY(fs_cli_effort(cli, &job->options.effort));
  return fs_cli_refine_options(cli, &job->options);
}

/* There is no schedule; what may be written is a proof of that. */
static fs_status write_none(fs_cli *cli, const fs_job *job) {
  if (job->proof == NULL) {
    return FSCHED_INFEASIBLE;
  }
  fs_status status = fs_file_write(cli->ctx, job->proof_path, job->proof, job->proof_length);
  return status == FSCHED_OK ? FSCHED_INFEASIBLE : status;
}

static fs_status compute(fs_cli *cli, fs_job *job) {
  uint64_t begin = fs_now_ns();
  FS_TRY(fs_cli_read_graph(cli, job->input, &job->graph));
  FS_TRY(check_targets(cli, job));
  FS_TRY(check_dumps(cli, job));
  FS_TRY(check_method(cli, job));
  job->read_ns = fs_now_ns() - begin;
  job->dumps.graph = fsched_graph_name(job->graph);
  fs_dumps_ask(&job->dumps, &job->options);
  fs_emit_source source = {.graph = job->graph, .options = &job->options};
  FS_TRY(fs_emit_before(cli, job->emit, job->n_emits, &source));
  if (job->proof_path != NULL) {
    job->options.proof = &job->proof;
    job->options.proof_length = &job->proof_length;
  }
  FS_TRY(fs_cli_refine_begin(cli, &job->options, &job->refinement));
  fs_status status =
      fsched_compile(cli->ctx, job->graph, &job->options, &job->schedule, &job->program);
  fs_cli_refine_end(cli, &job->refinement);
  return status == FSCHED_INFEASIBLE ? write_none(cli, job) : status;
}

/* Writes all results.  The depfile comes first: if a build tool found the others without it, it
 * would consider them up to date for ever. */
static fs_status write_all(fs_cli *cli, fs_job *job) {
  fs_emit_source source = {job->graph, &job->options, job->schedule, job->program};
  if (job->depfile != NULL) {
    FS_TRY(fs_depfile_write(cli, job->depfile, job->result, job->n_products, job->graph,
                            job->refinement.path));
  }
  for (size_t i = 0; i < job->n_emits; i++) {
    FS_TRY(fs_emit_write(cli, &job->emit[i], &source));
  }
  if (job->proof_path != NULL) {
    FS_TRY(fs_file_write(cli->ctx, job->proof_path, job->proof, job->proof_length));
  }
  FS_TRY(fs_dumps_write(&job->dumps));
  size_t size;
  const void *bytes = fsched_program_bytes(job->program, &size);
  return fs_file_write(cli->ctx, job->output, bytes, size);
}

/* Counts the copies by purpose. */
static void count_copies(fs_text *t, const fs_schedule *s, uint32_t count[FS_ROLES]) {
  uint8_t *role;
  FS_SCRATCH(arena, t->ctx);
  memset(count, 0, FS_ROLES * sizeof *count);
  if (fs_schedule_copy_roles(s, &arena, &role) == FSCHED_OK) {
    for (uint32_t c = 0; c < s->n_copies; c++) {
      count[role[c]]++;
    }
  }
}

/* Writes the number of copies by purpose; only spills are caused by a lack of room. */
static void put_copies(fs_text *t, const fs_schedule *s) {
  uint32_t count[FS_ROLES];
  count_copies(t, s, count);
  uint32_t spills = count[FS_ROLE_SPILL_WRITE] + count[FS_ROLE_SPILL_READ];
  fs_text_count(t, count[FS_ROLE_LOAD], "load");
  fs_text_puts(t, ", ");
  fs_text_count(t, count[FS_ROLE_STORE], "store");
  fs_text_puts(t, ", ");
  fs_text_count(t, spills, "spill");
}

static void put_next_count(fs_text *t, const char *before, uint32_t n, const char *what) {
  fs_text_puts(t, before);
  fs_text_count(t, n, what);
}

static uint32_t count_stacks(const fs_target *target) {
  uint32_t n = 0;
  for (uint32_t m = 0; m < target->n_memories; m++) {
    n += target->memory[m].stack;
  }
  return n;
}

static void put_ticks(fs_text *t, fs_tick ticks, const char *unit) {
  fs_text_u64(t, ticks);
  fs_text_puts(t, unit == NULL ? "" : " ");
  fs_text_visible(t, unit == NULL ? "" : unit);
}

/* Writes what full syncs cost, and the makespan with that. */
static void put_total(fs_text *t, const fs_sync *sync, const char *unit) {
  const fs_schedule *s = sync->schedule;
  fs_tick cost = s->graph->target.sync_cost;
  uint64_t n_full = fs_sync_has_stops(sync->kind) ? fs_sync_executed(sync).full : 0;
  if (n_full == 0 || cost == 0) {
    return;
  }
  fs_text_puts(t, "; ");
  put_ticks(t, fs_sync_total(s->makespan, n_full, cost), unit);
  fs_text_puts(t, " with ");
  put_ticks(t, cost, unit);
  fs_text_puts(t, " for each full sync");
}

/* Writes how many syncs the steps of loops have together. */
static void put_loop_syncs(fs_text *t, const fs_sync *sync) {
  fs_sync_counts all = fs_sync_executed(sync);
  uint64_t full = all.full - sync->n_full, counting = all.counting - (sync->n_stops - sync->n_full);
  if (full + counting > 0) {
    fs_text_printf(t, ", in loops %llu full, %llu counting", (unsigned long long)full,
                   (unsigned long long)counting);
  }
}

/* Writes the cost of the target's kind of sync, for barriers or syncs. */
static void put_sync(fs_text *t, const fs_sync *sync, const char *unit) {
  const fs_schedule *s = sync->schedule;
  if (fs_sync_has_waits(sync->kind)) {
    return;
  }
  if (fs_sync_has_stops(sync->kind)) {
    fs_text_printf(t, "  syncs: %u full, %u counting", sync->n_full, sync->n_stops - sync->n_full);
    put_loop_syncs(t, sync);
    uint32_t stacks = count_stacks(&s->graph->target);
    if (stacks != 0) {
      fs_text_printf(t, ", %u of", sync->n_stacks);
      put_next_count(t, " ", stacks, "stack");
    }
  } else if (sync->barrier_bound == FS_BARRIERS_AUTO) {
    fs_text_printf(t, "  barriers: %u", sync->barriers_used);
    fs_text_puts(t, sync->least_proven
                        ? ", the least known that add no order or gate; "
                        : "; at most that many are needed to add no order or gate; ");
    put_next_count(t, "", sync->n_barriers, "use");
  } else {
    fs_text_printf(t, "  barriers: %u of %u", sync->barriers_used, sync->barrier_bound);
    put_next_count(t, " used, ", sync->n_barriers, "use");
    put_next_count(t, ", ", sync->barrier_added, "order");
    fs_text_puts(t, " added");
    if (sync->barrier_gates != 0) {
      put_next_count(t, ", ", sync->barrier_gates, "gate");
    }
  }
  if (s->makespan > sync->makespan_before) {
    fs_text_puts(t, ", makespan +");
    put_ticks(t, s->makespan - sync->makespan_before, unit);
  }
  put_total(t, sync, unit);
  fs_text_puts(t, "\n");
}

/* Writes what memories take if all starts are given: then the makespan is of no interest, and
 * addresses are the result. */
static void put_memories(fs_text *t, const fs_schedule *s) {
  const fsched_graph *g = s->graph;
  uint64_t *extent, *peak, *bound;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    if (g->op_start == NULL || g->op_start[op] == FS_TICK_NONE) {
      return;
    }
  }
  FS_SCRATCH(arena, t->ctx);
  if (fs_new_zero(&arena, &extent, g->target.n_memories) == FSCHED_OK &&
      fs_new_zero(&arena, &peak, g->target.n_memories) == FSCHED_OK &&
      fs_schedule_peaks(t->ctx, s, peak) == FSCHED_OK &&
      fs_new_zero(&arena, &bound, g->target.n_memories) == FSCHED_OK &&
      fs_memory_lower_bounds(t->ctx, g, bound) == FSCHED_OK) {
    fs_schedule_extents(s, extent);
    for (uint32_t m = 0; m < g->target.n_memories; m++) {
      const fs_memory *memory = &g->target.memory[m];
      if (fs_memory_bounded(memory)) {
        bool placed = fs_placement_has_addresses(memory->placement);
        uint64_t taken = placed ? extent[m] : peak[m];
        fs_text_puts(t, placed ? ", extent of " : ", peak of ");
        fs_text_visible(t, memory->name);
        fs_text_printf(t, " %llu, lower bound %llu%s", (unsigned long long)taken,
                       (unsigned long long)bound[m], taken == bound[m] ? " (optimal)" : "");
      }
    }
  }
}

/* Which limit ended a refinement that may have had something left to gain; NULL: none. */
static const char *refine_ended_by(fs_refine_end end) {
  static const char *const why[FS_N_REFINE_ENDS] = {
      [FS_REFINE_END_STOPPED] = "an interrupt",
      [FS_REFINE_END_TIME] = "the time limit",
      [FS_REFINE_END_NODES] = "the node limit (--node-limit or --time-limit gives it more)",
      [FS_REFINE_END_SEARCHES] = "the number of searches (--time-limit gives it more)",
      [FS_REFINE_END_SIZE] = "the size of the graph: every model is too large, or gains nothing",
      [FS_REFINE_END_WAIT] =
          "the target's wait: the one model that knows it is too large, or gains nothing",
      [FS_REFINE_END_COPIES] = "the models, which keep the heuristic's copies and give no less",
      [FS_REFINE_END_WINDOWS] = "the size of the graph: it is improved in windows, and none gains",
      [FS_REFINE_END_GANGS] = "the models, which keep the queues that were chosen for gangs",
      [FS_REFINE_END_FAULT] = "a failure of the solver",
  };
  return why[end];
}

static void put_refine_end(fs_text *t, fs_refine_end end) {
  if (refine_ended_by(end) != NULL) {
    fs_text_printf(t, "  refinement ended by %s\n", refine_ended_by(end));
  }
}

static void put_summary(fs_text *t, const fs_cli *cli, const fs_job *job) {
  const fs_schedule *s = job->schedule->schedule;
  const fs_sync *sync = job->schedule->sync;
  const char *unit = job->graph->target.time_unit;
  fs_text_visible(t, fsched_graph_name(job->graph));
  uint32_t ops = fsched_graph_ops(job->graph);
  fs_text_puts(t, ": ");
  fs_text_count(t, ops, "op");
  fs_text_puts(t, ", ");
  put_copies(t, s);
  fs_text_printf(t, ", makespan %llu", (unsigned long long)s->makespan);
  if (unit != NULL) {
    fs_text_puts(t, " ");
    fs_text_visible(t, unit);
  }
  if (s->refined_from > s->makespan) {
    fs_text_printf(t, " (%llu before --refine)", (unsigned long long)s->refined_from);
  }
  fs_text_printf(t, ", lower bound %llu%s", (unsigned long long)s->lower_bound,
                 s->status == FS_SCHEDULE_OPTIMAL ? " (optimal)" : "");
  put_memories(t, s);
  if (fs_sync_has_waits(sync->kind)) {
    put_next_count(t, ", ", sync->waits_emitted, "wait");
  }
  if (fs_args_has(&cli->args, FS_OPTION_PROFILE)) {
    fs_text_printf(t, ", times of %u of %u ops and %u cop%s from the profile", cli->profile.ops,
                   ops, cli->profile.copies, fs_plural_ies(cli->profile.copies));
  }
  if (!fs_cli_is_std(job->output)) {
    fs_text_puts(t, " -> ");
    fs_text_visible(t, job->output);
  }
  fs_text_puts(t, "\n");
  put_refine_end(t, s->refine_end);
  fs_loops_put(t, job->graph, s->loop, s->n_loops, true);
  put_sync(t, sync, unit);
}

/* Writes the lower bound on the makespan that each method proves. */
static void put_bounds(fs_text *t, const fs_schedule *s) {
  const fs_lower_bounds *b = &s->bounds;
  fs_text_printf(t, "  bounds: critical path %llu, queues %llu, resources %llu, copies %llu",
                 (unsigned long long)b->critical_path, (unsigned long long)b->queue_work,
                 (unsigned long long)b->resource_work, (unsigned long long)b->copy_work);
  fs_text_printf(t, ", memory %llu, series %llu", (unsigned long long)b->memory_work,
                 (unsigned long long)b->series);
  if (s->relaxation != 0) {
    fs_text_printf(t, ", relaxation %llu", (unsigned long long)s->relaxation);
  }
  fs_text_printf(t, "; lower bound %llu", (unsigned long long)s->lower_bound);
  if (s->search_nodes != 0) {
    put_next_count(t, "; ", (uint32_t)fs_min(s->search_nodes, UINT32_MAX), "node");
  }
  fs_text_puts(t, "\n");
}

/* Writes how much the heuristic has tried. */
static void put_trials(fs_text *t, const fs_job *job) {
  const fs_schedule *s = job->schedule->schedule;
  uint32_t effort = job->options.effort;
  if (s->trial_runs == 0) {
    return;
  }
  fs_text_printf(t, "  effort %u: ", effort == 0 ? FSCHED_EFFORT_USUAL : effort - 1);
  fs_text_count(t, (uint32_t)fs_min(s->trial_runs, UINT32_MAX), "run");
  fs_text_printf(t, ", %llu steps\n", (unsigned long long)s->trial_steps);
}

static void put_times(const fs_cli *cli, fs_text *t, const fs_job *job) {
  fs_times times = {0};
  fs_times_add(&times, "read", "The graph file.", job->read_ns);
  for (uint32_t i = 0; i < fsched_pass_count(); i++) {
    if (pass_runs(job, (fs_pass)i)) {
      fs_times_add(&times, fsched_pass_name(i), fsched_pass_summary(i),
                   (uint64_t)(job->pass_seconds[i] * 1e9));
    }
  }
  fs_times_add(&times, "write", "All results.", job->write_ns);
  fs_times_put(&times, fs_cli_diagnostics_json(cli), t);
}

static void put_written(const fs_cli *cli, fs_text *t, const fs_job *job) {
  for (size_t i = 1; i <= job->n_results; i++) { /* the stream is the first, and is written last */
    fs_cli_put_wrote(cli, t, job->result[i % job->n_results]);
  }
}

/* ---- the same for --diagnostics json: an object a line */

static void json_key(fs_text *t, const char *key, uint64_t value) {
  fs_text_printf(t, ", \"%s\": %llu", key, (unsigned long long)value);
}

static void json_text(fs_text *t, const char *key, const char *value) {
  if (value != NULL) {
    fs_text_printf(t, ", \"%s\": ", key);
    fs_text_json_string(t, value);
  }
}

static void json_memories(fs_text *t, const fs_schedule *s) {
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
  fs_text_puts(t, ", \"memories\": {");
  for (uint32_t m = 0, n = 0; m < target->n_memories; m++) {
    if (fs_memory_bounded(&target->memory[m])) {
      fs_text_puts(t, n++ == 0 ? "" : ", ");
      fs_text_json_string(t, target->memory[m].name);
      fs_text_printf(t, ": {\"peak\": %llu", (unsigned long long)peak[m]);
      if (fs_placement_has_addresses(target->memory[m].placement)) {
        json_key(t, "extent", extent[m]);
      }
      fs_text_puts(t, "}");
    }
  }
  fs_text_puts(t, "}");
}

static void json_sync(fs_text *t, const fs_sync *sync) {
  if (fs_sync_has_waits(sync->kind)) {
    json_key(t, "waits", sync->waits_emitted);
  } else if (fs_sync_has_stops(sync->kind)) {
    json_key(t, "full_syncs", sync->n_full);
    json_key(t, "counting_syncs", sync->n_stops - sync->n_full);
  } else {
    json_key(t, "barriers", sync->barriers_used);
    json_key(t, "barrier_uses", sync->n_barriers);
    json_key(t, "orders_added", sync->barrier_added);
    json_key(t, "gates", sync->barrier_gates);
  }
  if (!fs_sync_has_waits(sync->kind)) {
    json_key(t, "makespan_before", sync->makespan_before);
  }
}

static void json_summary(fs_text *t, const fs_cli *cli, const fs_job *job) {
  const fs_schedule *s = job->schedule->schedule;
  uint32_t count[FS_ROLES];
  fs_text_puts(t, "{\"summary\": \"compile\"");
  json_text(t, "graph", fsched_graph_name(job->graph));
  json_key(t, "ops", fsched_graph_ops(job->graph));
  count_copies(t, s, count);
  json_key(t, "loads", count[FS_ROLE_LOAD]);
  json_key(t, "stores", count[FS_ROLE_STORE]);
  json_key(t, "spills", count[FS_ROLE_SPILL_WRITE] + count[FS_ROLE_SPILL_READ]);
  json_key(t, "makespan", s->makespan);
  json_text(t, "time_unit", job->graph->target.time_unit);
  if (s->refined_from > s->makespan) {
    json_key(t, "refined_from", s->refined_from);
  }
  json_key(t, "lower_bound", s->lower_bound);
  fs_text_printf(t, ", \"optimal\": %s", s->status == FS_SCHEDULE_OPTIMAL ? "true" : "false");
  json_text(t, "refinement_ended_by", refine_ended_by(s->refine_end));
  json_sync(t, job->schedule->sync);
  json_memories(t, s);
  if (s->n_loops > 0) {
    fs_text_puts(t, ", \"loops\": ");
    fs_loops_put_json(t, s);
  }
  if (fs_args_has(&cli->args, FS_OPTION_PROFILE)) {
    json_key(t, "profile_ops", cli->profile.ops);
    json_key(t, "profile_copies", cli->profile.copies);
  }
  json_text(t, "output", fs_cli_is_std(job->output) ? NULL : job->output);
  fs_text_puts(t, "}\n");
}

static void json_bounds(fs_text *t, const fs_schedule *s) {
  const fs_lower_bounds *b = &s->bounds;
  fs_text_printf(t, "{\"bounds\": {\"critical_path\": %llu", (unsigned long long)b->critical_path);
  json_key(t, "queues", b->queue_work);
  json_key(t, "resources", b->resource_work);
  json_key(t, "copies", b->copy_work);
  json_key(t, "memory", b->memory_work);
  json_key(t, "series", b->series);
  json_key(t, "relaxation", s->relaxation);
  json_key(t, "all", s->lower_bound);
  fs_text_puts(t, "}");
  json_key(t, "nodes", s->search_nodes);
  fs_text_puts(t, "}\n");
}

static void json_trials(fs_text *t, const fs_job *job) {
  const fs_schedule *s = job->schedule->schedule;
  uint32_t effort = job->options.effort;
  fs_text_printf(t, "{\"effort\": %u", effort == 0 ? FSCHED_EFFORT_USUAL : effort - 1);
  json_key(t, "runs", s->trial_runs);
  json_key(t, "steps", s->trial_steps);
  fs_text_puts(t, "}\n");
}

static void print_report(fs_cli *cli, const fs_job *job) {
  bool json = fs_cli_diagnostics_json(cli);
  fs_cli_reports(cli);
  fs_text t;
  fs_text_init(&t, cli->ctx);
  if (!cli->quiet) {
    (json ? json_summary : put_summary)(&t, cli, job);
  }
  if (cli->verbose) {
    (json ? json_bounds : put_bounds)(&t, job->schedule->schedule);
    (json ? json_trials : put_trials)(&t, job);
    if (!json) { /* the summary has it */
      fs_stats_put_peaks(&t, job->schedule->schedule, "  ");
    }
  }
  if (cli->verbose || fs_args_has(&cli->args, FS_OPTION_TIME_REPORT)) {
    put_times(cli, &t, job);
  }
  if (cli->verbose) {
    put_written(cli, &t, job);
  }
  fs_cli_say(&t);
}

static fs_status run_job(fs_cli *cli, fs_job *job) {
  FS_TRY(read_options(cli, job));
  FS_TRY(fs_emit_parse(cli, &job->emit, &job->n_emits));
  FS_TRY(fs_dumps_parse(cli, &job->dumps));
  FS_TRY(name_files(cli, job));
  FS_TRY(check_files(cli, job));
  FS_TRY(compute(cli, job));
  fs_cli_progress_clear(cli); /* a result may go to the terminal */
  uint64_t begin = fs_now_ns();
  FS_TRY(write_all(cli, job));
  job->write_ns = fs_now_ns() - begin;
  print_report(cli, job);
  return FSCHED_OK;
}

fs_status fs_cli_compile(fs_cli *cli) {
  if (fs_args_has(&cli->args, FS_OPTION_PRINT_PASSES)) {
    return fs_cli_print_passes(cli);
  }
  fs_job job = {0};
  fs_status status = run_job(cli, &job);
  fs_emit_drop(cli, job.emit, job.n_emits);
  fs_dumps_drop(&job.dumps);
  fsched_program_destroy(job.program);
  fsched_text_free(cli->ctx, job.proof, job.proof_length);
  fsched_schedule_destroy(job.schedule);
  fsched_graph_destroy(job.graph);
  return status;
}
