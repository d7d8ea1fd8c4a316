/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler as the list of its passes. */
#include <time.h>

#include "codegen/codegen.h"
#include "ctrledge/ctrledge.h"
#include "frontier/waits.h"
#include "fsched/verify.h"
#include "listsched/listsched.h"

typedef enum fs_pass {
#define FS_PASS(id, name, summary) FS_PASS_##id,
#include "passes.def"
#undef FS_PASS
  FS_PASS_COUNT
} fs_pass;

static const char *const pass_names[] = {
#define FS_PASS(id, name, summary) name,
#include "passes.def"
#undef FS_PASS
};
static const char *const pass_summaries[] = {
#define FS_PASS(id, name, summary) summary,
#include "passes.def"
#undef FS_PASS
};

uint32_t fsched_pass_count(void) { return FS_PASS_COUNT; }
const char *fsched_pass_name(uint32_t index) { return pass_names[index]; }
const char *fsched_pass_summary(uint32_t index) { return pass_summaries[index]; }

typedef struct pipeline {
  fsched_context *ctx;
  const fsched_graph *graph;
  fsched_compile_options options;
  fs_lower_bounds bounds;
  fsched_schedule *schedule;
  fs_sync *sync;
  fsched_program *program;
} pipeline;

static fs_status pass_bounds(pipeline *p) {
  return fs_graph_lower_bounds(p->ctx, p->graph, &p->bounds);
}

static fs_status pass_listsched(pipeline *p) {
  fs_listsched_options o = {
      .evict = p->options.evict, .seed = p->options.seed, .lower_bound = p->bounds.all};
  FS_TRY(fs_listsched_run(p->ctx, p->graph, &o, &p->schedule));
  fsched_schedule *s = p->schedule;
  s->lower_bound = p->bounds.all;
  s->status = s->makespan == s->lower_bound ? FS_SCHEDULE_OPTIMAL : FS_SCHEDULE_FEASIBLE;
  return fs_sync_create(s, &p->sync);
}

static fs_status pass_ctrledge(pipeline *p) {
  return fs_ctrledge_run(p->ctx, p->schedule, p->sync);
}

static fs_status pass_waits(pipeline *p) { return fs_waits_run(p->ctx, p->schedule, p->sync); }

static fs_status pass_codegen(pipeline *p) {
  return fs_codegen_run(p->ctx, p->schedule, p->sync, &p->program);
}

static fs_status pass_verify(pipeline *p) {
  if (!p->options.verify) {
    return FSCHED_OK;
  }
  FS_TRY(fsched_verify_schedule(p->ctx, p->graph, p->schedule));
  return fsched_verify_program(p->ctx, p->program, p->graph);
}

static double seconds_now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static fs_status run_pass(pipeline *p, fs_pass pass, fs_status (*run)(pipeline *)) {
  if (p->options.pass_seconds == NULL) {
    return run(p);
  }
  double begin = seconds_now();
  fs_status status = run(p);
  p->options.pass_seconds[pass] += seconds_now() - begin;
  return status;
}

static fs_status run_passes(pipeline *p) {
  FS_TRY(run_pass(p, FS_PASS_BOUNDS, pass_bounds));
  FS_TRY(run_pass(p, FS_PASS_LISTSCHED, pass_listsched));
  FS_TRY(run_pass(p, FS_PASS_CTRLEDGE, pass_ctrledge));
  FS_TRY(run_pass(p, FS_PASS_WAITS, pass_waits));
  FS_TRY(run_pass(p, FS_PASS_CODEGEN, pass_codegen));
  FS_TRY(run_pass(p, FS_PASS_VERIFY, pass_verify));
  return FSCHED_OK;
}

static fs_status take_options(pipeline *p, const fsched_compile_options *options) {
  if (options == NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_check_options(p->ctx, "fsched_compile_options", options->size,
                          FS_SIZE_UP_TO(fsched_compile_options, pass_seconds)));
  memcpy(&p->options, options, fs_min(options->size, sizeof p->options));
  if ((unsigned)p->options.evict > FSCHED_EVICT_LRU) {
    return fs_fail(p->ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "'evict' is %d, no fsched_evict", (int)p->options.evict);
  }
  return FSCHED_OK;
}

fsched_status fsched_compile(fsched_context *ctx, const fsched_graph *graph,
                             const fsched_compile_options *options, fsched_schedule **schedule,
                             fsched_program **program) {
  pipeline p = {.ctx = ctx, .graph = graph};
  if (schedule != NULL) {
    *schedule = NULL;
  }
  if (program != NULL) {
    *program = NULL;
  }
  FS_TRY(take_options(&p, options));
  fs_status status = run_passes(&p);
  if (status == FSCHED_OK && schedule != NULL) {
    *schedule = p.schedule;
    p.schedule = NULL;
  }
  if (status == FSCHED_OK && program != NULL) {
    *program = p.program;
    p.program = NULL;
  }
  fsched_schedule_destroy(p.schedule);
  fsched_program_destroy(p.program);
  return status;
}
