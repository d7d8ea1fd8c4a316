/* SPDX-License-Identifier: Apache-2.0 */
#include "fsched/replay.h"
#include "fsched/verify.h"
#include "fuzz/kit.h"
#include "model/graph.h"
#include "model/stream/stream.h"

enum { OK_ONLY = FS_FUZZ_MAY(FSCHED_OK), TIMEOUT_MS = 60000 };

typedef struct text {
  char *at;
  size_t n;
} text;

static void release(fs_fuzz *f, text *t) {
  fsched_text_free(f->ctx, t->at, t->n);
  *t = (text){NULL, 0};
}

/* Writes JSON, and makes the same bytes of it again. */
static void there_and_back(fs_fuzz *f, const fsched_program *program) {
  text json = {NULL, 0};
  if (!fs_fuzz_met(f, fsched_program_json(f->ctx, program, &json.at, &json.n), OK_ONLY, "JSON")) {
    return;
  }
  fsched_program *again = NULL;
  fsched_status status = fsched_program_assemble(f->ctx, "json", json.at, json.n, &again);
  if (fs_fuzz_met(f, status, OK_ONLY, "assembling what was disassembled")) {
    size_t n, m;
    const void *a = fsched_program_bytes(program, &n), *b = fsched_program_bytes(again, &m);
    fs_fuzz_must(n == m && memcmp(a, b, n) == 0, "assembling gives other bytes");
  }
  fsched_program_destroy(again);
  release(f, &json);
}

static void explain(fs_fuzz *f, const fsched_program *program, fsched_explain_format format) {
  fsched_explain_options o = {.size = sizeof o, .format = format, .all = 1};
  text t = {NULL, 0};
  fsched_status status = fsched_program_explain(f->ctx, program, &o, NULL, 0, &t.at, &t.n);
  (void)fs_fuzz_met(f, status, OK_ONLY | FS_FUZZ_MAY(FSCHED_BAD_INPUT) | FS_FUZZ_MAY(FSCHED_WRONG),
                    "explain");
  release(f, &t);
}

static void show(fs_fuzz *f, const fsched_program *program) {
  text t = {NULL, 0}, header = {NULL, 0};
  (void)fs_fuzz_met(f, fsched_program_text(f->ctx, program, &t.at, &t.n), OK_ONLY, "text");
  release(f, &t);
  (void)fs_fuzz_met(f, fsched_program_trace(f->ctx, program, NULL, &t.at, &t.n),
                    OK_ONLY | FS_FUZZ_MAY(FSCHED_BAD_INPUT), "trace");
  release(f, &t);
  (void)fs_fuzz_met(f, fsched_program_c(f->ctx, program, NULL, &t.at, &t.n, &header.at, &header.n),
                    OK_ONLY, "C");
  release(f, &t);
  release(f, &header);
  explain(f, program, FSCHED_EXPLAIN_TEXT);
  explain(f, program, FSCHED_EXPLAIN_JSON);
}

/* Whether a program is small, and has no code of its own. */
static bool may_replay(const fs_stream *s) {
  for (uint32_t i = 0; i < s->n_kernels; i++) {
    if (s->kernels[i].module != FS_NONE) {
      return false;
    }
  }
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < s->n_memories; i++) {
    if (s->memories[i].extent >> FS_FUZZ_MEMORY_LOG2 != 0) {
      return false;
    }
    bytes += s->memories[i].extent;
  }
  return bytes >> FS_FUZZ_MEMORY_LOG2 == 0 && s->n_commands <= 4 * FS_FUZZ_OPS &&
         s->n_queues <= FS_FUZZ_QUEUES;
}

static void replay(fs_fuzz *f, const fsched_program *program, const fsched_device_options *on) {
  fsched_device *device = NULL;
  if (!fs_fuzz_met(f, fsched_device_create(f->ctx, on, &device), OK_ONLY, "device")) {
    return;
  }
  fsched_replay_options o = {.size = sizeof o,
                             .check = program->view.n_races == 0,
                             .timeout_ms = TIMEOUT_MS,
                             .memory_limit_log2 = FS_FUZZ_MEMORY_LOG2 + 2,
                             .device = device};
  fsched_replay_result result = {.size = sizeof result};
  /* FSCHED_SYSTEM means that buffers of memories without limit need more memory than the limit. */
  (void)fs_fuzz_met(f, fsched_replay(f->ctx, program, &o, &result),
                    OK_ONLY | FS_FUZZ_MAY(FSCHED_SYSTEM), on->kind);
  fsched_text_free(f->ctx, result.trace_json, result.trace_length);
  fsched_device_release(device);
}

bool fs_fuzz_program(fs_fuzz *f, const fsched_program *program) {
  show(f, program);
  there_and_back(f, program);
  fsched_status status = fsched_verify_program(f->ctx, program, NULL);
  if (!fs_fuzz_met(f, status, OK_ONLY | FS_FUZZ_MAY(FSCHED_BAD_INPUT) | FS_FUZZ_MAY(FSCHED_WRONG),
                   "verify")) {
    return false;
  }
  if (may_replay(&program->view)) {
    replay(f, program,
           &(fsched_device_options){.size = sizeof(fsched_device_options), .kind = "cpu"});
    replay(f, program,
           &(fsched_device_options){.size = sizeof(fsched_device_options),
                                    .kind = "sim",
                                    .durations = FSCHED_DURATIONS_ADVERSARIAL,
                                    .seed = program->size});
  }
  return true;
}

/* Tries the writers of a schedule, and reads the schedule again. */
static void show_schedule(fs_fuzz *f, const fsched_graph *graph, const fsched_schedule *schedule) {
  text t = {NULL, 0};
  (void)fs_fuzz_met(f, fsched_schedule_stats_json(f->ctx, schedule, &t.at, &t.n), OK_ONLY, "stats");
  release(f, &t);
  (void)fs_fuzz_met(f, fsched_schedule_table(f->ctx, schedule, &t.at, &t.n), OK_ONLY, "table");
  release(f, &t);
  (void)fs_fuzz_met(f, fsched_schedule_svg(f->ctx, schedule, NULL, &t.at, &t.n), OK_ONLY, "svg");
  release(f, &t);
  if (fs_fuzz_met(f, fsched_schedule_json(f->ctx, schedule, &t.at, &t.n), OK_ONLY, "schedule")) {
    fsched_schedule *again = NULL;
    if (fs_fuzz_met(f, fsched_schedule_parse(f->ctx, graph, "json", t.at, t.n, &again), OK_ONLY,
                    "reading a schedule that was written")) {
      (void)fs_fuzz_met(f, fsched_verify_schedule(f->ctx, graph, again), OK_ONLY,
                        "verifying a schedule that was read");
    }
    fsched_schedule_destroy(again);
  }
  release(f, &t);
}

void fs_fuzz_compile(fs_fuzz *f, const fsched_graph *graph, const fsched_compile_options *options) {
  fsched_schedule *schedule = NULL;
  fsched_program *program = NULL;
  unsigned may = OK_ONLY | FS_FUZZ_MAY(FSCHED_INFEASIBLE);
  /* Barriers know neither loops nor latencies. */
  if (options->barriers != 0 && (graph->n_rolled > 0 || fs_graph_first_slow(graph) != FS_NONE)) {
    may |= FS_FUZZ_MAY(FSCHED_USAGE);
  }
  /* A target may leave the number of barriers to the options. */
  if (graph->target.sync == FS_SYNC_BARRIER && graph->target.barrier_count == 0 &&
      options->barriers == 0) {
    may |= FS_FUZZ_MAY(FSCHED_BAD_INPUT);
  }
  if (fs_fuzz_met(f, fsched_compile(f->ctx, graph, options, &schedule, &program), may, "compile")) {
    show_schedule(f, graph, schedule);
    (void)fs_fuzz_met(f, fsched_verify_program(f->ctx, program, graph), OK_ONLY,
                      "verifying what was compiled");
    fs_fuzz_must(fs_fuzz_program(f, program), "what was compiled is refused");
  }
  fsched_program_destroy(program);
  fsched_schedule_destroy(schedule);
}
