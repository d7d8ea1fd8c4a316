/* SPDX-License-Identifier: Apache-2.0 */
/* Replay: options, one instance of a back end, the comparison, the trace. */
#include "fsched/replay.h"

#include "backend.h"
#include "fsched/graph.h"
#include "mem.h"
#include "progress.h"
#include "reference.h"
#include "trace.h"

enum { DEFAULT_TIMEOUT_MS = 10000, DEFAULT_LIMIT_LOG2 = 36 };

typedef struct replay {
  fsched_context *ctx;
  const fs_stream *s;
  const fs_backend *backend;
  fsched_replay_options options;
  fsched_replay_result result;
  fs_arena arena;
  fs_backend_config config;
} replay;

static void report_race(const replay *r, const fs_stream_race *race) {
  const fs_stream *s = r->s;
  fs_report(r->ctx, FSCHED_NOTE, FS_DIAG_REPLAY_RACES, FS_NOWHERE, NULL,
            "ops '%s' and '%s' access buffer '%s' in no order",
            fs_stream_string(s, s->ops[race->op_a].name),
            fs_stream_string(s, s->ops[race->op_b].name),
            fs_stream_string(s, s->buffers[s->versions[race->version].buffer].name));
}

static fs_status check_options(const replay *r) {
  if ((unsigned)r->options.trace_plan > FSCHED_TRACE_PLAN_FIT ||
      (r->options.trace_plan != FSCHED_TRACE_PLAN_NONE && !r->options.trace)) {
    return fs_fail(r->ctx, FSCHED_USAGE, FS_DIAG_REPLAY_OPTIONS, FS_NOWHERE, NULL,
                   r->options.trace ? "'trace_plan' is %d, no fsched_trace_plan"
                                    : "'trace_plan' is %d, and no trace is wanted",
                   r->options.trace_plan);
  }
  if (r->options.check && r->options.empty_kernels) {
    return fs_fail(r->ctx, FSCHED_USAGE, FS_DIAG_REPLAY_OPTIONS, FS_NOWHERE, NULL,
                   "nothing can be checked when kernels are left out");
  }
  if (r->options.check && r->s->n_races > 0) {
    fs_report(r->ctx, FSCHED_ERROR, FS_DIAG_REPLAY_RACES, FS_NOWHERE,
              "use 'hazards: sequential', or order the ops with 'after'",
              "the result of a graph with races cannot be checked; it has %u", r->s->n_races);
    for (uint32_t i = 0; i < r->s->n_races; i++) {
      report_race(r, &r->s->races[i]);
    }
    return FSCHED_USAGE;
  }
  return FSCHED_OK;
}

static fs_status set_up(replay *r) {
  const fsched_replay_options *o = &r->options;
  r->config = (fs_backend_config){
      .pace_ns = o->pace_ns,
      .timeout_ms = o->timeout_ms == 0 ? DEFAULT_TIMEOUT_MS : o->timeout_ms,
      .memory_limit_log2 = o->memory_limit_log2 == 0 ? DEFAULT_LIMIT_LOG2 : o->memory_limit_log2,
      .empty = o->empty_kernels != 0,
  };
  if (o->check) {
    FS_TRY(fs_new_zero(&r->arena, &r->config.record.digest, r->s->n_ops));
  }
  if (o->trace) {
    FS_TRY(fs_new_zero(&r->arena, &r->config.record.begin, r->s->n_commands));
    FS_TRY(fs_new_zero(&r->arena, &r->config.record.end, r->s->n_commands));
  }
  return FSCHED_OK;
}

/* In parts, so that one who listens hears about the progress. */
static fs_status run_all(replay *r, fs_instance *instance, uint64_t invocations) {
  enum { PARTS = 100 };
  uint64_t part = fs_progress_heard(r->ctx) ? fs_ceil_div(invocations, PARTS) : invocations;
  fs_status status = FSCHED_OK;
  fs_progress_begin(r->ctx, "replay", invocations);
  for (uint64_t done = 0; done < invocations && status == FSCHED_OK;) {
    fs_backend_times times = {0};
    uint64_t count = fs_min(part, invocations - done);
    status = r->backend->run(instance, done, count, &times);
    if (status == FSCHED_OK) {
      r->result.elapsed_ns += times.total_ns;
      r->result.minimum_ns =
          done == 0 ? times.minimum_ns : fs_min(r->result.minimum_ns, times.minimum_ns);
      done += count;
      fs_progress_at(r->ctx, done);
    }
  }
  fs_progress_end(r->ctx, status);
  return status;
}

/* The measured times, before them the planned ones if they are wanted. */
static fs_status write_trace(replay *r) {
  const fs_record *record = &r->config.record;
  fs_trace_run runs[2];
  uint32_t n = 0;
  uint64_t last = 0;
  for (uint32_t c = 0; c < r->s->n_commands; c++) {
    last = fs_max(last, record->end[c]);
  }
  if (r->options.trace_plan == FSCHED_TRACE_PLAN_TICKS) {
    FS_TRY(fs_trace_plan(&r->arena, r->s, r->options.pace_ns, &runs[n++]));
  } else if (r->options.trace_plan == FSCHED_TRACE_PLAN_FIT) {
    FS_TRY(fs_trace_plan_fit(&r->arena, r->s, last, &runs[n++]));
  }
  runs[n++] = (fs_trace_run){"measured", record->begin, record->end};
  return fs_trace_write(r->ctx, r->s, runs, n, &r->result.trace_json, &r->result.trace_length);
}

static fs_status run(replay *r, fs_instance *instance) {
  uint64_t invocations = r->options.repeat == 0 ? 1 : r->options.repeat;
  r->result.commands = r->s->n_commands;
  FS_TRY(run_all(r, instance, invocations));
  if (r->options.trace) { /* first: it helps to understand a difference */
    FS_TRY(write_trace(r));
  }
  if (r->options.check) {
    fs_reference_counts counts;
    fs_status status = fs_reference_compare(r->ctx, r->s, invocations, r->config.record.digest,
                                            r->backend, instance, &counts);
    r->result.checked_ops = counts.ops;
    r->result.checked_bytes = counts.bytes;
    return status;
  }
  return FSCHED_OK;
}

static fs_status replay_all(replay *r) {
  fs_instance *instance;
  FS_TRY(check_options(r));
  FS_TRY(set_up(r));
  FS_TRY(r->backend->prepare(r->ctx, r->s, &r->config, &instance));
  fs_status status = run(r, instance);
  r->backend->destroy(instance);
  return status;
}

fsched_status fsched_replay_cpu(fsched_context *ctx, const fsched_program *program,
                                const fsched_replay_options *options,
                                fsched_replay_result *result) {
  replay r = {.ctx = ctx, .s = &program->view, .backend = &fs_backend_cpu};
  if (result != NULL) {
    FS_TRY(fs_check_options(ctx, "fsched_replay_result", result->size,
                            FS_SIZE_UP_TO(fsched_replay_result, trace_length)));
  }
  if (options != NULL) {
    FS_TRY(fs_check_options(ctx, "fsched_replay_options", options->size,
                            FS_SIZE_UP_TO(fsched_replay_options, memory_limit_log2)));
    memcpy(&r.options, options, fs_min(options->size, sizeof r.options));
  }
  fs_arena_init(&r.arena, ctx);
  fs_status status = replay_all(&r);
  fs_arena_release(&r.arena);
  if (result != NULL) {
    r.result.size = fs_min(result->size, sizeof r.result);
    memcpy(result, &r.result, r.result.size);
  } else {
    (void)fs_realloc(ctx, r.result.trace_json, r.result.trace_length + 1, 0);
  }
  return status;
}
