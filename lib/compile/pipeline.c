/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler as the list of its passes. */
#include <stdio.h>

#include "barrier/pass.h"
#include "base/clock.h"
#include "base/progress.h"
#include "base/text/plural.h"
#include "base/warnings.h"
#include "block/block.h"
#include "codegen/codegen.h"
#include "compile/apart.h"
#include "compile/loops.h"
#include "compile/passes.h"
#include "compile/synchronise.h"
#include "ctrledge/ctrledge.h"
#include "draw/dump.h"
#include "draw/loops.h"
#include "fsched/verify.h"
#include "ilp/refine/refine.h"
#include "listsched/listsched.h"
#include "model/bounds/bounds.h"
#include "model/handle.h"
#include "model/lags.h"
#include "problem/settled/settled.h"
#include "search/search.h"
#include "verify/schedule/verify.h"
#include "verify/stream/stream.h"
#include "waits/waits.h"

static const char *const pass_names[] = {
#define FS_PASS(id, name, summary) name,
#include "compile/passes.def"
#undef FS_PASS
};
static const char *const pass_summaries[] = {
#define FS_PASS(id, name, summary) summary,
#include "compile/passes.def"
#undef FS_PASS
};

uint32_t fsched_pass_count(void) { return FS_PASS_COUNT; }
const char *fsched_pass_name(uint32_t index) { return pass_names[index]; }
const char *fsched_pass_summary(uint32_t index) { return pass_summaries[index]; }

typedef struct pipeline {
  fsched_context *ctx;
  const fsched_graph *graph;
  fsched_compile_options options;
  fs_sync_kind kind; /* and the numbers of barriers and slots: the target's or the options' */
  uint32_t barriers, slots;
  fs_lower_bounds bounds;
  fs_tick as_ops; /* a lower bound where loops that stay loops are ops, for searches */
  fs_arena arena; /* of the plans of loops */
  fs_loop_plans loops;
  fs_schedule *schedule;
  fs_schedule *apart; /* while another one is refined, of loops that take their queues as a whole */
  fs_sync *sync;
  fsched_program *program;
} pipeline;

static fs_status pass_bounds(pipeline *p) {
  FS_TRY(fs_graph_lower_bounds(p->ctx, p->graph, &p->bounds));
  p->as_ops = p->bounds.all;
  return p->graph->n_rolled == 0 ? FSCHED_OK
                                 : fs_graph_unrolled_bounds(p->ctx, p->graph, &p->bounds);
}

static void set_status(fs_schedule *s) {
  s->status = s->makespan == s->lower_bound ? FS_SCHEDULE_OPTIMAL : FS_SCHEDULE_FEASIBLE;
}

static uint32_t effort_of(const pipeline *p) {
  return p->options.effort == 0 ? FSCHED_EFFORT_USUAL : p->options.effort - 1;
}

/* A search makes better use of the time of trials. */
static uint32_t trial_effort(const pipeline *p) {
  bool searches = fs_refine_searches(p->options.refine);
  return p->options.effort == 0 && searches ? 0 : effort_of(p);
}

static fs_status pass_loops(pipeline *p) {
  return fs_loops_plan(p->ctx, &p->arena, p->graph, effort_of(p), fs_sync_has_waits(p->kind),
                       &p->loops);
}

/* A bound where loops are ops does not hold where these overlap with what is before and behind. */
static fs_status list_bound(const pipeline *p, bool whole_loops, fs_tick *out) {
  fs_lags lags;
  FS_SCRATCH(scratch, p->ctx);
  FS_TRY(fs_lags_find(&scratch, p->graph, &lags));
  *out = whole_loops || lags.lag == NULL ? p->as_ops : fs_min(p->as_ops, p->bounds.all);
  return FSCHED_OK;
}

static fs_status list_schedule(pipeline *p, bool silent, bool whole_loops) {
  fs_tick lower_bound;
  FS_TRY(list_bound(p, whole_loops, &lower_bound));
  fs_listsched_options o = {.evict = p->options.evict,
                            .seed = p->options.seed,
                            .lower_bound = lower_bound,
                            .effort = trial_effort(p),
                            .position = p->loops.position,
                            .silent = silent,
                            .whole_loops = whole_loops};
  FS_TRY(fs_listsched_run(p->ctx, p->graph, &o, &p->schedule));
  p->schedule->lower_bound = p->bounds.all;
  set_status(p->schedule);
  return FSCHED_OK;
}

static bool asked_to_stop(void *user) {
  const pipeline *p = user;
  return p->options.stop != NULL && __atomic_load_n(p->options.stop, __ATOMIC_RELAXED) != 0;
}

/* Where all starts are given, addresses are found for all at once. */
static fs_status settle(pipeline *p) {
  FS_SCRATCH(arena, p->ctx);
  fs_settled settled;
  fs_settling o = {.lower_bound = p->as_ops,
                   .nodes = fs_limits_of(p->ctx)->settle_first_nodes,
                   .stop = asked_to_stop,
                   .user = p};
  fs_status status = fs_settle(p->ctx, p->graph, &o, &arena, &settled);
  if (status == FSCHED_OK && settled.found) {
    status = fs_settled_schedule(&settled, &p->schedule);
  }
  fs_settled_release(&settled);
  if (status == FSCHED_OK && p->schedule != NULL) {
    p->schedule->lower_bound = p->bounds.all;
    set_status(p->schedule);
  }
  return status;
}

/* If the heuristic finds no schedule, this reports nothing where another way may still find one. */
static fs_status pass_listsched(pipeline *p) {
  bool refine = fs_refine_improves(p->options.refine), settles = fs_settles(p->graph);
  fs_status status = list_schedule(p, refine || settles, false);
  if (status == FSCHED_INFEASIBLE && settles) {
    FS_TRY(settle(p));
    status = p->schedule != NULL ? FSCHED_OK : refine ? status : list_schedule(p, false, false);
  }
  return refine && status == FSCHED_INFEASIBLE ? FSCHED_OK : status;
}

static fs_status search_schedule(pipeline *p) {
  const fsched_compile_options *o = &p->options;
  fs_text proof;
  fs_text_init(&proof, p->ctx);
  fs_search_options s = {.time_limit_ns = o->time_limit_ms * 1000000,
                         .node_limit = o->node_limit,
                         .seed = o->seed,
                         .evict = o->evict,
                         .jobs = o->jobs,
                         .stop = o->stop,
                         .news = o->refine_news,
                         .user = o->refine_user,
                         .proof = o->proof == NULL ? NULL : &proof};
  fs_status status = fs_search_run(p->ctx, p->graph, &s, p->as_ops, &p->schedule);
  bool none = proof.n == 0 && !proof.failed; /* nor of that there is no schedule */
  if (status == FSCHED_OK && o->proof != NULL && !none) {
    return fs_text_take(&proof, o->proof, o->proof_length);
  }
  fs_text_drop(&proof);
  return status;
}

static fs_status solve_models(pipeline *p) {
  const fsched_compile_options *o = &p->options;
  fs_refine_options r = {.refine = o->refine,
                         .solver = o->solver_cmd,
                         .time_limit_ns = o->time_limit_ms * 1000000,
                         .node_limit = o->node_limit,
                         .stop = o->stop,
                         .solution = o->solution,
                         .solution_name = o->solution_name,
                         .solution_length = o->solution_length,
                         .news = o->refine_news,
                         .user = o->refine_user};
  return fs_refine_run(p->ctx, p->graph, &r, p->as_ops, &p->schedule);
}

/* Puts a schedule aside in which queues enter or leave a loop on their own, for one that can be
 * refined. */
static fs_status list_whole(pipeline *p) {
  bool any = false;
  for (uint32_t op = 0; op < p->graph->n_ops && p->graph->n_rolled > 0 && !any; op++) {
    any = fs_op_parts(p->graph, op) != NULL;
  }
  if (!any || p->schedule == NULL) {
    return FSCHED_OK;
  }
  p->apart = p->schedule;
  p->schedule = NULL;
  fs_status status = list_schedule(p, true, true);
  return status == FSCHED_INFEASIBLE ? FSCHED_OK : status;
}

/* Takes the schedule that was put aside, if nothing better was found. */
static void take_shorter(pipeline *p) {
  fs_schedule *apart = p->apart, *refined = p->schedule;
  if (apart == NULL) {
    return;
  }
  fs_tick before = apart->makespan;
  if (refined != NULL) {
    apart->refine_end = refined->refine_end;
    apart->search_nodes = refined->search_nodes;
    refined->refined_from = before;
  }
  apart->refined_from = before;
  bool better = refined != NULL && refined->makespan <= before;
  p->schedule = better ? refined : apart;
  p->apart = better ? apart : refined;
}

static fs_status pass_refine(pipeline *p) {
  FS_TRY(list_whole(p));
  FS_TRY(fs_refine_has_models(p->options.refine) ? solve_models(p) : search_schedule(p));
  take_shorter(p);
  if (p->schedule == NULL) { /* once more, to report the reason */
    FS_TRY(list_schedule(p, false, false));
  }
  if (p->graph->n_rolled > 0) { /* what was proven holds for loops that are ops */
    p->schedule->lower_bound = fs_min(p->schedule->lower_bound, p->bounds.all);
  }
  set_status(p->schedule);
  return FSCHED_OK;
}

/* Where all starts are given, the lowest addresses are what was looked for. */
static fs_status pass_spread(pipeline *p) {
  return fs_settles(p->graph) ? FSCHED_OK : fs_schedule_apart(p->schedule, p->kind, &p->sync);
}

/* From here on the schedule is final, but for the passes that replace waits.  The pass before may
 * have found the control edges. */
static fs_status pass_ctrledge(pipeline *p) {
  p->schedule->bounds = p->bounds;
  p->schedule->has_bounds = true;
  if (p->sync != NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_sync_create(p->schedule, p->kind, &p->sync));
  return fs_ctrledge_run(p->ctx, p->schedule, NULL, p->sync);
}

/* The warning points to the op of the first command whose frontier is cut. */
static void warn_tainted(const pipeline *p) {
  const fs_sync *sync = p->sync;
  const fsched_graph *g = p->graph;
  uint32_t command = 0;
  if (sync->frontier_tainted == 0) {
    return;
  }
  while (!sync->tainted[command]) {
    command++;
  }
  uint32_t item = sync->command_item[command];
  uint64_t capacity = g->target.frontier_capacity;
  char hint[96];
  (void)snprintf(hint, sizeof hint, "a frontier capacity of %u keeps all of any frontier",
                 sync->n_axes);
  fs_report(p->ctx, FSCHED_WARNING, FS_DIAG_TAINTED,
            item < g->n_ops ? fs_op_pos(p->ctx, g, item) : FS_NOWHERE, hint,
            "the frontiers of %u of %u commands are cut to %llu entr%s", sync->frontier_tainted,
            sync->n_commands, (unsigned long long)capacity, fs_plural_ies(capacity));
}

static bool is_dumped(const pipeline *p, fs_pass pass) {
  return (p->options.dump_after >> pass & 1) != 0;
}

/* Where something replaces the waits, it has frontiers of its own; those of the waits are only for
 * a dump. */
static fs_status pass_waits(pipeline *p) {
  bool stays = fs_sync_has_waits(p->kind);
  FS_TRY(stays || is_dumped(p, FS_PASS_WAITS) ? fs_waits_run(p->ctx, p->schedule, p->sync)
                                              : fs_waits_run_alone(p->ctx, p->schedule, p->sync));
  if (stays && fs_warn_on(p->ctx, FS_WARN_TAINTED)) {
    warn_tainted(p);
  }
  return FSCHED_OK;
}

/* Runs after a pass that has replaced waits: the schedule may have new times.  The counts of waits
 * stay those of the orders that the pass was asked for. */
static fs_status replaced_waits(pipeline *p) {
  set_status(p->schedule);
  FS_TRY(fs_frontiers_run(p->ctx, p->schedule, p->sync));
  if (fs_warn_on(p->ctx, FS_WARN_TAINTED)) {
    warn_tainted(p);
  }
  return FSCHED_OK;
}

static fs_status pass_barrier(pipeline *p) {
  fs_barrier_options o = {.bound = p->barriers,
                          .slots = p->slots,
                          .published = fs_barrier_method_published(p->options.barrier_method)};
  FS_TRY(fs_barrier_run(p->ctx, p->schedule, &o, p->sync));
  return replaced_waits(p);
}

static fs_status pass_block(pipeline *p) {
  FS_TRY(fs_block_run(p->ctx, p->schedule, p->sync, fs_sync_again));
  return replaced_waits(p);
}

static fs_status pass_codegen(pipeline *p) {
  return fs_codegen_run(p->ctx, p->schedule, p->sync, &p->program);
}

static fs_status pass_verify(pipeline *p) {
  FS_TRY(fs_verify_schedule(p->ctx, p->graph, p->schedule, p->sync));
  return fsched_verify_program(p->ctx, p->program, p->graph);
}

/* The pass's units of progress; a pass that does not count its progress is one unit. */
static uint64_t pass_work(const pipeline *p, fs_pass pass) {
  switch (pass) {
    case FS_PASS_LISTSCHED:
      return p->graph->n_ops;
    case FS_PASS_VERIFY:
      return fs_verify_schedule_work(p->schedule) + fs_verify_program_work(p->program);
    case FS_PASS_BOUNDS:
    case FS_PASS_LOOPS:
    case FS_PASS_REFINE:
    case FS_PASS_SPREAD:
    case FS_PASS_CTRLEDGE:
    case FS_PASS_WAITS:
    case FS_PASS_BARRIER:
    case FS_PASS_BLOCK:
    case FS_PASS_CODEGEN:
    case FS_PASS_COUNT:
      break;
  }
  return 1;
}

static fs_status put_dump(const pipeline *p, fs_pass pass, fs_text *t) {
  switch (pass) {
    case FS_PASS_BOUNDS:
      return fs_dump_bounds(t, p->graph, &p->bounds);
    case FS_PASS_LOOPS:
      fs_loops_put(t, p->graph, p->loops.report, p->loops.n, false);
      return FSCHED_OK;
    case FS_PASS_LISTSCHED:
    case FS_PASS_REFINE:
    case FS_PASS_SPREAD:
      if (p->schedule == NULL) {
        fs_text_puts(t, "no schedule was found\n");
        return FSCHED_OK;
      }
      return fs_dump_schedule(t, p->schedule);
    case FS_PASS_CTRLEDGE:
      return fs_dump_control(t, p->sync);
    case FS_PASS_WAITS:
      return fs_dump_waits(t, p->sync);
    case FS_PASS_BARRIER:
      return fs_dump_barriers(t, p->sync);
    case FS_PASS_BLOCK:
      return fs_dump_block(t, p->sync);
    case FS_PASS_CODEGEN:
      return fs_dump_program(t, p->program);
    case FS_PASS_VERIFY:
      fs_dump_verified(t, p->schedule, p->program);
      return FSCHED_OK;
    case FS_PASS_COUNT:
      break;
  }
  return FSCHED_OK;
}

static fs_status dump_pass(const pipeline *p, fs_pass pass) {
  fs_text t;
  fs_text_init(&t, p->ctx);
  fs_status status = put_dump(p, pass, &t);
  fs_text_add(&t, "", 1);
  if (status == FSCHED_OK && t.failed) {
    status = FSCHED_SYSTEM;
  }
  if (status == FSCHED_OK) {
    p->options.dump(p->options.dump_user, pass, t.at, t.n - 1);
  }
  fs_text_drop(&t);
  return status;
}

typedef struct mark {
  uint32_t warned;
  bool exhausted;
} mark;

static mark mark_now(const pipeline *p) {
  return (mark){fs_warn_errors(p->ctx), fs_context_out_of_memory(p->ctx)};
}

/* A pass that has reported a warning as an error since `before` has failed, and so has one that had
 * no memory for the text of a report. */
static fs_status since(const pipeline *p, mark before) {
  mark now = mark_now(p);
  return now.exhausted && !before.exhausted ? FSCHED_SYSTEM
         : now.warned != before.warned      ? FSCHED_BAD_INPUT
                                            : FSCHED_OK;
}

static fs_status run_pass(pipeline *p, fs_pass pass, fs_status (*run)(pipeline *)) {
  uint64_t begin_ns = p->options.pass_seconds == NULL ? 0 : fs_now_ns();
  mark before = mark_now(p);
  fs_progress_begin(p->ctx, pass_names[pass], pass_work(p, pass));
  fs_status status = run(p);
  if (status == FSCHED_OK) {
    status = since(p, before);
  }
  fs_progress_end(p->ctx, status);
  if (p->options.pass_seconds != NULL) {
    p->options.pass_seconds[pass] += 1e-9 * (double)(fs_now_ns() - begin_ns);
  }
  return status == FSCHED_OK && is_dumped(p, pass) ? dump_pass(p, pass) : status;
}

/* Replaces waits by the barriers or syncs that the kind of sync has, if any. */
static fs_status replace_waits(pipeline *p) {
  switch (p->kind) {
    case FS_SYNC_TIMELINE:
      break;
    case FS_SYNC_BARRIER:
      return run_pass(p, FS_PASS_BARRIER, pass_barrier);
    case FS_SYNC_BLOCK:
      return run_pass(p, FS_PASS_BLOCK, pass_block);
  }
  return FSCHED_OK;
}

static fs_status run_passes(pipeline *p) {
  FS_TRY(run_pass(p, FS_PASS_BOUNDS, pass_bounds));
  if (p->graph->n_loops > 0) {
    FS_TRY(run_pass(p, FS_PASS_LOOPS, pass_loops));
  }
  FS_TRY(run_pass(p, FS_PASS_LISTSCHED, pass_listsched));
  if (fs_refine_improves(p->options.refine)) {
    FS_TRY(run_pass(p, FS_PASS_REFINE, pass_refine));
  }
  FS_TRY(run_pass(p, FS_PASS_SPREAD, pass_spread));
  FS_TRY(run_pass(p, FS_PASS_CTRLEDGE, pass_ctrledge));
  FS_TRY(run_pass(p, FS_PASS_WAITS, pass_waits));
  FS_TRY(replace_waits(p));
  FS_TRY(fs_loops_keep(p->ctx, &p->loops, p->schedule));
  FS_TRY(run_pass(p, FS_PASS_CODEGEN, pass_codegen));
  return p->options.verify ? run_pass(p, FS_PASS_VERIFY, pass_verify) : FSCHED_OK;
}

static fs_status bad_option(const pipeline *p, const char *text) {
  return fs_fail(p->ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL, "%s", text);
}

static fs_status bad_enum(const pipeline *p, const char *field, int value, const char *type) {
  return fs_fail(p->ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL, "'%s' is %d, no %s",
                 field, value, type);
}

static fs_status check_barriers(const pipeline *p) {
  const fsched_compile_options *o = &p->options;
  if (!fs_barrier_method_known((unsigned)o->barrier_method)) {
    return bad_enum(p, "barrier_method", (int)o->barrier_method, "fsched_barrier_method");
  }
  if (o->barriers > INT32_MAX && o->barriers != FSCHED_BARRIERS_AUTO) {
    return bad_option(p, "'barriers' is above 2147483647");
  }
  return FSCHED_OK;
}

/* The time-indexed model knows the target's wait, the strip packing model does not; and where the
 * number of queues is open, it is open which ops could share one. */
static fs_status check_waits(const pipeline *p, bool models) {
  const fs_target *t = &p->graph->target;
  bool strips = fs_refine_packs(p->options.refine);
  if (!models || fs_graph_wait(p->graph) == 0 || !(strips || t->implicit_queues)) {
    return FSCHED_OK;
  }
  return fs_fail(p->ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE,
                 strips ? "refine with ilp, or give the target no wait: --set wait=0"
                        : "name its queues, or give it no wait: --set wait=0",
                 strips ? "the strip packing model does not know the target's 'wait' of %llu"
                        : "no model knows the 'wait' of %llu of a target without queues",
                 (unsigned long long)t->wait);
}

/* No model knows that an op may be complete after its queues have gone on. */
static fs_status check_latencies(const pipeline *p, bool models) {
  uint32_t op = models ? fs_graph_first_slow(p->graph) : FS_NONE;
  return op == FS_NONE ? FSCHED_OK
                       : fs_fail(p->ctx, FSCHED_USAGE, FS_DIAG_UNSUPPORTED,
                                 fs_op_pos(p->ctx, p->graph, op), "leave the refinement out",
                                 "no model knows the latency of op '%s'", p->graph->op_name[op]);
}

static fs_status check_refine(const pipeline *p) {
  const fsched_compile_options *o = &p->options;
  if (!fs_refine_known((unsigned)o->refine)) {
    return bad_enum(p, "refine", (int)o->refine, "fsched_refine");
  }
  if (o->time_limit_ms > FSCHED_MOST_TIME_LIMIT_MS) {
    return bad_option(p, "'time_limit_ms' is above FSCHED_MOST_TIME_LIMIT_MS");
  }
  if ((o->proof == NULL) != (o->proof_length == NULL)) {
    return bad_option(p, "'proof' and 'proof_length' go together");
  }
  if (o->proof != NULL && !fs_refine_searches(o->refine)) {
    return bad_option(p, "'proof' is for FSCHED_REFINE_SEARCH: other refinements write none");
  }
  if (o->jobs > FSCHED_MOST_JOBS) {
    return bad_option(p, "'jobs' is above FSCHED_MOST_JOBS");
  }
  if (o->jobs > 1 && fs_refine_has_models(o->refine)) {
    return bad_option(p, "'jobs' is for FSCHED_REFINE_SEARCH: a solver has its own threads");
  }
  if (o->solution != NULL && !fs_refine_has_models(o->refine)) {
    return bad_option(p, "'solution' is set, and 'refine' says of no model");
  }
  return FSCHED_OK;
}

static fs_status take_options(pipeline *p, const fsched_compile_options *options) {
  if (options == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_check_options(p->ctx, "fsched_compile_options", options->size,
                          FS_SIZE_UP_TO(fsched_compile_options, pass_seconds)));
  memcpy(&p->options, options, fs_min(options->size, sizeof p->options));
  if (!fs_evict_known((unsigned)p->options.evict)) {
    return bad_enum(p, "evict", (int)p->options.evict, "fsched_evict");
  }
  if (p->options.effort > FSCHED_EFFORT(FSCHED_EFFORT_MOST)) {
    return bad_option(p, "'effort' is above FSCHED_EFFORT(FSCHED_EFFORT_MOST)");
  }
  if (fs_refine_is_open(p->options.refine)) {
    bool few = p->graph->n_ops <= FSCHED_AUTO_OPS;
    p->options.refine = few ? FSCHED_REFINE_SEARCH : FSCHED_REFINE_NONE;
    if (!few && p->options.proof != NULL) {
      return fs_fail(p->ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                     "no proof is written: a graph of more than %d ops is not refined",
                     FSCHED_AUTO_OPS);
    }
  }
  FS_TRY(check_refine(p));
  FS_TRY(check_waits(p, fs_refine_has_models(p->options.refine)));
  FS_TRY(check_latencies(p, fs_refine_has_models(p->options.refine)));
  if (p->options.dump_after != 0 && p->options.dump == NULL) {
    return bad_option(p, "'dump_after' is set, and 'dump' is not");
  }
  if (p->options.dump_after >> FS_PASS_COUNT != 0) {
    return bad_option(p, "'dump_after' has a bit that stands for no pass");
  }
  return check_barriers(p);
}

/* 'sync: barrier' may have been forgotten, unless the caller has overridden the kind of sync. */
static void warn_unused_barriers(const pipeline *p) {
  const fsched_graph *g = p->graph;
  static const char hint[] = "add 'sync: barrier', or --barriers N";
  if (g->sync_override) {
    return;
  }
  if (g->target.barrier_count != 0 || g->target.barrier_slots != FS_NONE) {
    fs_report(p->ctx, FSCHED_WARNING, FS_DIAG_BARRIERS, fs_graph_pos(p->ctx, g, g->barriers_at),
              hint, "the target describes barriers, and its kind of sync has none");
    return;
  }
  for (uint32_t op = 0; g->op_slots != NULL && op < g->n_ops; op++) {
    if (g->op_slots[op] != 1) {
      fs_report(p->ctx, FSCHED_WARNING, FS_DIAG_BARRIERS, fs_op_pos(p->ctx, g, op), hint,
                "op '%s' takes %u slots of barriers, and the target's kind of sync has none",
                g->op_name[op], g->op_slots[op]);
      return;
    }
  }
}

/* Chooses the kind of sync: barriers where the options ask for them, else the target's kind. */
static fs_status choose_sync(pipeline *p) {
  p->kind = p->graph->target.sync;
  FS_TRY(fs_graph_barriers(p->ctx, p->graph, p->options.barriers, &p->barriers));
  if (p->barriers == 0) {
    if (fs_barrier_method_published(p->options.barrier_method)) {
      return bad_option(p, "the published barrier method is for targets with barriers");
    }
    mark before = mark_now(p);
    warn_unused_barriers(p);
    return since(p, before);
  }
  if (p->graph->n_rolled > 0 && !p->graph->rolled[0].loop.guarded) {
    return fs_fail(p->ctx, FSCHED_USAGE, FS_DIAG_UNSUPPORTED, FS_NOWHERE,
                   "give the target 'sync: barrier' (--set sync=barrier), or --unroll "
                   "(fsched_builder_unroll)",
                   "loop '%s' stays a loop with the target's own kind of sync alone",
                   p->graph->op_name[p->graph->rolled[0].op]);
  }
  p->kind = FS_SYNC_BARRIER;
  p->slots = p->graph->target.barrier_slots;
  if (p->barriers == FS_BARRIERS_AUTO && fs_barrier_method_published(p->options.barrier_method)) {
    return bad_option(p, "the published barrier method needs a number of barriers");
  }
  return FSCHED_OK;
}

/* Makes the handle of the schedule and its synchronisation; the handle then owns both. */
static fs_status hand_out(pipeline *p, fsched_schedule **out) {
  FS_TRY(fs_handle_create(p->schedule, p->sync, out));
  p->schedule = NULL;
  p->sync = NULL;
  return FSCHED_OK;
}

static void drop(pipeline *p) {
  fs_sync_destroy(p->sync);
  fs_schedule_destroy(p->schedule);
  fs_schedule_destroy(p->apart);
  fsched_program_destroy(p->program);
  fs_arena_release(&p->arena);
}

/* A pass behind the one that has written it failed; not where it says that there is no schedule. */
static void take_proof_back(const pipeline *p) {
  if (p->options.proof != NULL) {
    fsched_text_free(p->ctx, *p->options.proof, *p->options.proof_length);
    *p->options.proof = NULL;
    *p->options.proof_length = 0;
  }
}

fsched_status fsched_compile(fsched_context *ctx, const fsched_graph *graph,
                             const fsched_compile_options *options, fsched_schedule **schedule,
                             fsched_program **program) {
  pipeline p = {.ctx = ctx, .graph = graph};
  fs_arena_init(&p.arena, ctx);
  if (schedule != NULL) {
    *schedule = NULL;
  }
  if (program != NULL) {
    *program = NULL;
  }
  FS_TRY(take_options(&p, options));
  FS_TRY(choose_sync(&p));
  if (p.options.proof != NULL) {
    *p.options.proof = NULL;
    *p.options.proof_length = 0;
  }
  fs_status status = run_passes(&p);
  if (status == FSCHED_OK && schedule != NULL) {
    status = hand_out(&p, schedule);
  }
  if (status == FSCHED_OK && program != NULL) {
    *program = p.program;
    p.program = NULL;
  }
  if (status != FSCHED_OK && (status != FSCHED_INFEASIBLE || p.schedule != NULL)) {
    take_proof_back(&p);
  }
  drop(&p);
  return status;
}

static fs_status make_model(pipeline *p, fsched_model_format format, char **text, size_t *length) {
  FS_TRY(pass_bounds(p));
  fs_status status = list_schedule(p, true, true);
  if (status != FSCHED_OK && status != FSCHED_INFEASIBLE) {
    return status;
  }
  fsched_refine refine =
      fs_refine_has_models(p->options.refine) ? p->options.refine : FSCHED_REFINE_ILP;
  return fs_refine_model(p->ctx, p->graph, p->schedule, p->bounds.all, refine,
                         format == FSCHED_MODEL_MPS, text, length);
}

fsched_status fsched_compile_model(fsched_context *ctx, const fsched_graph *graph,
                                   const fsched_compile_options *options,
                                   fsched_model_format format, char **text, size_t *length) {
  pipeline p = {.ctx = ctx, .graph = graph};
  fs_arena_init(&p.arena, ctx);
  FS_TRY(take_options(&p, options));
  FS_TRY(check_waits(&p, true));
  FS_TRY(check_latencies(&p, true));
  if ((unsigned)format > FSCHED_MODEL_MPS) {
    return bad_enum(&p, "format", (int)format, "fsched_model_format");
  }
  fs_status status = make_model(&p, format, text, length);
  drop(&p);
  return status;
}
