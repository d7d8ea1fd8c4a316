/* SPDX-License-Identifier: Apache-2.0 */
/* Replay: options, the invocations, the comparison, the trace.
 *
 * At most WINDOW invocations (or twice the number in flight, if that is more) are asked for ahead
 * of the complete ones, which a timeline counts. */
#include "fsched/replay.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/progress.h"
#include "base/text/ticks.h"
#include "draw/trace/tasks.h"
#include "draw/trace/trace.h"
#include "exec/context/core.h"
#include "exec/dynamic/times.h"
#include "exec/host/instances.h"
#include "exec/replay/reference.h"
#include "exec/replay/samples.h"
#include "fsched/graph.h"
#include "model/stream/shown_loops.h"

enum { DEFAULT_TIMEOUT_MS = 10000, WINDOW = 64 };
static const uint64_t ns_per_ms = 1000000;

typedef struct replay {
  fsched_context *ctx;
  const fsched_program *program;
  const fs_stream *s;
  fsched_replay_options options;
  fsched_replay_result result;
  fs_arena *arena;
  fsched_device_options device_options; /* options of a device that the replay opens */
  fsched_device *device;
  fsched_pool *pool;
  fsched_exec *exec;
  fsched_entry *entry;
  fsched_semaphore *complete; /* counts complete invocations */
  uint64_t invocations, timeout_ns;
  fs_record record;              /* of the last invocation */
  fs_shown_times instances;      /* of the same, for a trace */
  const fs_task_times *tasks;    /* of back ends that submit, for a trace; NULL: not known */
  fs_samples samples;            /* of the last invocations */
  fsched_binding *bindings;      /* the caller's, then those for outputs that are compared */
  uint32_t n_inputs, n_bindings; /* bindings of every invocation; bindings of the last one */
  const void **given, **kept;    /* per version, for the comparison */
  pthread_mutex_t lock;
  uint64_t n_complete;
} replay;

static void report_race(const replay *r, const fs_stream_race *race) {
  const fs_stream *s = r->s;
  fs_report(r->ctx, FSCHED_NOTE, FS_DIAG_REPLAY_RACES, FS_NOWHERE, NULL,
            "ops '%s' and '%s' access buffer '%s' in no order",
            fs_stream_string(s, s->ops[race->op_a].name),
            fs_stream_string(s, s->ops[race->op_b].name),
            fs_stream_string(s, s->buffers[s->versions[race->version].buffer].name));
}

static void report_loop_race(const replay *r, const fs_stream_loop_race *race) {
  const fs_stream *s = r->s;
  char distance[40] = "";
  if (race->distance != FS_NO_DISTANCE) {
    (void)snprintf(distance, sizeof distance, " at distance %llu",
                   (unsigned long long)race->distance);
  }
  fs_report(r->ctx, FSCHED_NOTE, FS_DIAG_REPLAY_RACES, FS_NOWHERE, NULL,
            "ops '%s' and '%s'%s access buffer '%s' in no order", fs_stream_string(s, race->op_a),
            fs_stream_string(s, race->op_b), distance, fs_stream_string(s, race->buffer));
}

static fs_status refuse_races(const replay *r) {
  const fs_stream *s = r->s;
  fs_report(r->ctx, FSCHED_ERROR, FS_DIAG_REPLAY_RACES, FS_NOWHERE,
            "use 'hazards: sequential', or order the ops with 'after'",
            "the result of a graph with races cannot be checked; it has %llu",
            (unsigned long long)s->n_races + s->n_loop_races);
  for (uint32_t i = 0; i < s->n_races; i++) {
    report_race(r, &s->races[i]);
  }
  for (uint32_t i = 0; i < s->n_loop_races; i++) {
    report_loop_race(r, &s->loop_races[i]);
  }
  return FSCHED_USAGE;
}

static fs_status check_options(const replay *r) {
  if (r->options.tick_ps > FS_TICK_MOST_PS) {
    return fs_fail(r->ctx, FSCHED_USAGE, FS_DIAG_REPLAY_OPTIONS, FS_NOWHERE, NULL,
                   "'tick_ps' is above 2^40 ns");
  }
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
  if (r->options.profile > FS_MOST_SAMPLES) {
    return fs_fail(r->ctx, FSCHED_USAGE, FS_DIAG_REPLAY_OPTIONS, FS_NOWHERE, NULL,
                   "at most %d invocations are measured, not %u", FS_MOST_SAMPLES,
                   r->options.profile);
  }
  if (r->options.empty_kernels && r->options.n_bindings > 0) {
    return fs_fail(r->ctx, FSCHED_USAGE, FS_DIAG_REPLAY_OPTIONS, FS_NOWHERE, NULL,
                   "nothing can be bound when kernels are left out");
  }
  if (r->options.check && (r->s->n_races > 0 || r->s->n_loop_races > 0)) {
    return refuse_races(r);
  }
  return FSCHED_OK;
}

static fs_status open_device(replay *r) {
  uint32_t log2 = r->options.memory_limit_log2;
  r->device_options =
      (fsched_device_options){.size = sizeof r->device_options,
                              .memory_limit = log2 == 0 ? 0 : UINT64_C(1) << fs_min(log2, 62),
                              .threads = r->options.threads};
  if (r->options.device != NULL) {
    r->device = r->options.device;
    fsched_device_retain(r->device);
    return FSCHED_OK;
  }
  return fsched_device_create(r->ctx, &r->device_options, &r->device);
}

static fs_status open_exec(replay *r) {
  fsched_exec_options o = {.size = sizeof o,
                           .in_flight = r->options.in_flight,
                           .pace_ns = r->options.pace_ns,
                           .tick_ps = r->options.tick_ps,
                           .empty = r->options.empty_kernels,
                           .verify = r->options.verify};
  FS_TRY(open_device(r));
  o.device = r->device;
  if (r->options.pool_bytes > 0) {
    FS_TRY(fsched_pool_create(r->ctx, r->device, r->options.pool_bytes, &r->pool));
    o.pool = r->pool;
  }
  FS_TRY(fsched_exec_create(r->ctx, &o, &r->exec));
  FS_TRY(fsched_exec_load(r->ctx, r->exec, r->program, &r->entry));
  return fsched_semaphore_create(NULL, &r->complete) == FSCHED_OK
             ? FSCHED_OK
             : fs_no_memory(r->ctx, sizeof(void *));
}

static const fsched_binding *bound_to(const replay *r, const char *name) {
  for (uint32_t i = 0; i < r->options.n_bindings; i++) {
    if (r->options.bindings[i].buffer != NULL && strcmp(r->options.bindings[i].buffer, name) == 0) {
      return &r->options.bindings[i];
    }
  }
  return NULL;
}

/* Makes room for an output that the caller has not bound. */
static fs_status bind_output(replay *r, uint32_t version) {
  const fs_stream_buffer *b = &r->s->buffers[r->s->versions[version].buffer];
  uint8_t *room;
  FS_TRY(fs_new(r->arena, &room, b->io_size));
  r->kept[version] = room;
  r->bindings[r->n_bindings++] = (fsched_binding){
      .buffer = fs_stream_string(r->s, b->name), .data = room, .bytes = b->io_size};
  return FSCHED_OK;
}

/* Binds all outputs, as the comparison needs each to be kept somewhere. */
static fs_status bind_all(replay *r) {
  const fs_stream *s = r->s;
  FS_TRY(fs_new_zero(r->arena, &r->given, s->n_versions));
  FS_TRY(fs_new_zero(r->arena, &r->kept, s->n_versions));
  for (uint32_t v = 0; v < s->n_versions; v++) {
    const fs_stream_buffer *b = &s->buffers[s->versions[v].buffer];
    const fsched_binding *bound = bound_to(r, fs_stream_string(s, b->name));
    if (bound != NULL && s->versions[v].given_memory != FS_NONE && !fs_io_is_output(b->io)) {
      r->given[v] = bound->data;
    }
    if (s->versions[v].kept_memory == FS_NONE || fs_io_carried(b->io)) {
      continue;
    }
    if (bound != NULL) {
      r->kept[v] = bound->data;
    } else if (fs_io_is_output(b->io)) {
      FS_TRY(bind_output(r, v));
    }
  }
  return FSCHED_OK;
}

static bool is_output(const replay *r, const char *name) {
  const fs_stream *s = r->s;
  for (uint32_t b = 0; b < s->n_buffers && name != NULL; b++) {
    if (strcmp(fs_stream_string(s, s->buffers[b].name), name) == 0) {
      return fs_io_is_output(s->buffers[b].io);
    }
  }
  return false;
}

/* Puts outputs last, as only the last invocation has them: several invocations at once would write
 * to the same memory. */
static void sort_bindings(replay *r) {
  for (int outputs = 0; outputs <= 1; outputs++) {
    for (uint32_t i = 0; i < r->options.n_bindings; i++) {
      const fsched_binding *b = &r->options.bindings[i];
      if (is_output(r, b->buffer) == (outputs != 0)) {
        r->bindings[r->n_bindings++] = *b;
        r->n_inputs += outputs == 0;
      }
    }
  }
}

/* Makes room for the times of what a trace shows of loops. */
static fs_status record_instances(replay *r) {
  const fsched_replay_options *o = &r->options;
  if (!o->trace || r->s->n_loops == 0) {
    return FSCHED_OK;
  }
  uint64_t *trips;
  FS_TRY(fs_new(r->arena, &trips, r->s->n_loops));
  FS_TRY(fs_loops_trips(r->ctx, r->s, o->trips, o->n_trips, trips));
  FS_TRY(fs_shown_times_make(r->arena, r->s, trips, &r->instances));
  r->record.instances = &r->instances;
  return FSCHED_OK;
}

static fs_status set_up(replay *r) {
  const fsched_replay_options *o = &r->options;
  r->invocations = o->repeat == 0 ? 1 : o->repeat;
  uint64_t ms = o->timeout_ms == 0 ? DEFAULT_TIMEOUT_MS : o->timeout_ms;
  r->timeout_ns = ms > UINT64_MAX / ns_per_ms ? UINT64_MAX : ms * ns_per_ms;
  r->result.minimum_ns = UINT64_MAX;
  FS_TRY(open_exec(r));
  FS_TRY(fs_new(r->arena, &r->bindings, (size_t)o->n_bindings + r->s->n_versions));
  sort_bindings(r);
  if (o->check) {
    FS_TRY(bind_all(r));
    FS_TRY(fs_new_zero(r->arena, &r->record.digest, r->s->n_ops));
  }
  uint64_t samples = fs_min(r->invocations, fs_max(o->profile, o->trace != 0));
  FS_TRY(fs_samples_make(r->arena, r->s, (uint32_t)samples, &r->samples));
  if (samples > 0) {
    r->record.tasks = o->trace ? &r->tasks : NULL;
    r->record.begin = r->samples.record[samples - 1].begin;
    r->record.end = r->samples.record[samples - 1].end;
  }
  return record_instances(r);
}

/* Called by threads of the library. */
static void measured(void *user, uint64_t index, uint64_t ns) {
  replay *r = user;
  uint64_t first = r->invocations - r->samples.n;
  pthread_mutex_lock(&r->lock);
  if (index >= first) {
    r->samples.ns[index - first] = ns;
  }
  r->result.elapsed_ns += ns;
  r->result.minimum_ns = fs_min(r->result.minimum_ns, ns);
  pthread_mutex_unlock(&r->lock);
}

static void complete(void *user, fsched_cause cause) {
  replay *r = user;
  if (cause != FSCHED_CAUSE_NONE) {
    (void)fsched_semaphore_fail(r->complete, cause);
    return;
  }
  pthread_mutex_lock(&r->lock);
  uint64_t n = ++r->n_complete;
  pthread_mutex_unlock(&r->lock);
  /* Two threads may get here in the other order: then the higher count is published first, and the
   * lower one changes nothing. */
  fs_status status = fsched_semaphore_publish(r->complete, n, NULL);
  assert(status == FSCHED_OK); /* only a frontier could be refused, and there is none */
  (void)status;
}

static fs_status await_complete(replay *r, uint64_t n) {
  fsched_fence *fence;
  FS_TRY(fsched_fence_create(r->ctx, &(fsched_fence_point){r->complete, n}, 1, &fence));
  fs_status status = fsched_exec_wait(r->ctx, r->exec, fence, FSCHED_FOREVER, r->timeout_ns, NULL);
  fsched_fence_release(fence);
  return status;
}

static fs_status invoke(replay *r, uint64_t index) {
  bool last = index + 1 == r->invocations;
  uint64_t first = r->invocations - r->samples.n;
  fs_measure measure = {.measured = measured, .user = r, .index = index};
  if (last) {
    measure.record = r->record;
  } else if (index >= first) {
    measure.record = r->samples.record[index - first];
  }
  fsched_invocation i = {.size = sizeof i,
                         .bindings = r->bindings,
                         .n_bindings = last ? r->n_bindings : r->n_inputs,
                         .parameters = r->options.parameters,
                         .n_parameters = r->options.n_parameters,
                         .trips = r->options.trips,
                         .n_trips = r->options.n_trips,
                         .callback = complete,
                         .user = r};
  return fs_exec_invoke(r->ctx, r->entry, &i, &measure);
}

/* Asks for invocations up to `window` ahead of the `complete` ones. */
static fs_status ask(replay *r, uint64_t complete, uint64_t window, uint64_t *asked) {
  while (*asked < r->invocations && *asked < complete + window) {
    FS_TRY(invoke(r, *asked));
    (*asked)++;
  }
  return FSCHED_OK;
}

/* Runs all invocations in steps, which are smaller if progress is reported. */
static fs_status run_all(replay *r) {
  enum { PARTS = 100 };
  uint64_t window = fs_max(WINDOW, 2 * (uint64_t)r->options.in_flight), begin = fs_now_ns();
  uint64_t part = fs_ceil_div(r->invocations, PARTS), asked = 0;
  uint64_t step = fs_progress_heard(r->ctx) ? fs_min(part, window / 2) : window / 2;
  fs_status status = FSCHED_OK;
  fs_progress_begin(r->ctx, "replay", r->invocations);
  for (uint64_t n = 0; n < r->invocations && status == FSCHED_OK;) {
    status = ask(r, n, window, &asked);
    n = fs_min(n + step, r->invocations);
    if (status == FSCHED_OK) {
      status = await_complete(r, n);
      fs_progress_at(r->ctx, n);
    }
  }
  r->result.wall_ns = fs_now_ns() - begin;
  fs_progress_end(r->ctx, status);
  return status;
}

/* The length of a tick that the options give; 0: none. */
static uint64_t tick_ps(const replay *r) {
  const fsched_replay_options *o = &r->options;
  return o->tick_ps != 0 ? o->tick_ps : fs_multiply_most(o->pace_ns, 1000);
}

/* What a command's time is in a simulation where nothing says how long a tick is. */
static bool counts_ticks(const replay *r) {
  const fsched_device_options *host = r->device->host;
  bool measured = host != NULL && host->durations == FSCHED_DURATIONS_MEASURED;
  return fs_backend_kind_of(fsched_device_kind(r->device))->simulates && !measured &&
         tick_ps(r) == 0 && fs_tick_ps(fs_stream_string(r->s, r->s->meta->time_unit)) == 0;
}

static const char *measured_name(const replay *r) {
  bool simulates = fs_backend_kind_of(fsched_device_kind(r->device))->simulates;
  return counts_ticks(r) ? "simulated, 1 tick = 1 us" : simulates ? "simulated" : "measured";
}

/* Writes the trace of what was submitted, of which there is no plan. */
static fs_status write_submitted(replay *r) {
  const fs_stream *s = r->s;
  const fs_task_times *of = r->tasks;
  fs_trace_task *task;
  const char **queue;
  uint32_t n = of == NULL ? 0 : (uint32_t)fs_min(of->begun.n, FS_NONE - 1);
  FS_TRY(fs_new(r->arena, &task, n));
  FS_TRY(fs_new(r->arena, &queue, s->n_queues));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    queue[q] = fs_stream_string(s, s->queues[q].name);
  }
  for (uint32_t i = 0; i < n; i++) {
    const fs_task_time *t = &of->begun.at[i];
    task[i] =
        (fs_trace_task){of->names.at + t->name, t->queue, t->member, t->group, t->begin, t->end};
  }
  fs_trace_task_list list = {fs_stream_string(s, s->meta->name), s->n_queues, n, queue, task};
  return fs_trace_tasks(r->ctx, &list, &r->result.trace_json, &r->result.trace_length);
}

/* Writes the trace: the measured times, and before them the planned ones if they are wanted. */
static fs_status write_trace(replay *r) {
  const fs_record *record = &r->record;
  if (fs_backend_kind_of(fsched_device_kind(r->device))->submits) {
    return write_submitted(r);
  }
  fs_trace_run runs[2];
  uint32_t n = 0;
  uint64_t last = 0;
  for (uint32_t c = 0; c < r->s->n_commands; c++) {
    last = fs_max(last, record->end[c]);
  }
  switch (r->options.trace_plan) {
    case FSCHED_TRACE_PLAN_NONE:
      break;
    case FSCHED_TRACE_PLAN_TICKS:
      FS_TRY(fs_trace_plan(r->arena, r->s, tick_ps(r), &runs[n++]));
      break;
    case FSCHED_TRACE_PLAN_FIT:
      FS_TRY(fs_trace_plan_fit(r->arena, r->s, last, &runs[n++]));
      break;
  }
  runs[n++] =
      (fs_trace_run){measured_name(r), record->begin, record->end, false, record->instances};
  return fs_trace_write(r->ctx, r->s, runs, n, &r->result.trace_json, &r->result.trace_length);
}

/* Compares kept state in place, without a copy: of a large one, commands may have touched only a
 * few bytes. */
static void compare_state(replay *r) {
  const fs_stream *s = r->s;
  for (uint32_t v = 0; v < s->n_versions; v++) {
    uint32_t buffer = s->versions[v].buffer;
    if (s->versions[v].kept_memory != FS_NONE && fs_io_carried(s->buffers[buffer].io)) {
      r->kept[v] = fs_entry_kept_state(r->entry, buffer);
    }
  }
}

static fs_status compare(replay *r) {
  fs_reference_counts counts = {0};
  fs_reference_run run = {.invocations = r->invocations,
                          .digest = r->record.digest,
                          .given = r->given,
                          .kept = r->kept,
                          .options = r->device->host,
                          .parameters = r->options.parameters,
                          .n_parameters = r->options.n_parameters,
                          .trips = r->options.trips,
                          .n_trips = r->options.n_trips};
  compare_state(r);
  fs_status status = fs_reference_compare(r->ctx, r->s, &run, &counts);
  r->result.checked_ops = counts.ops;
  r->result.checked_bytes = counts.bytes;
  return status;
}

static fs_status run_replay(replay *r) {
  r->result.commands = r->s->n_commands;
  FS_TRY(run_all(r));
  if (r->options.trace) { /* first, as it helps to understand a difference */
    FS_TRY(write_trace(r));
  }
  if (r->options.profile > 0) {
    fs_samples_of of = {.on = fsched_device_kind(r->device),
                        .simulated = fs_backend_kind_of(of.on)->simulates,
                        .in_ticks = counts_ticks(r),
                        .tick_ps = counts_ticks(r) ? FS_TICK_UNKNOWN_PS : tick_ps(r)};
    FS_TRY(fs_samples_profile(r->arena, r->program, &r->samples, &of, r->result.command,
                              &r->result.profile));
  }
  return r->options.check ? compare(r) : FSCHED_OK;
}

static fs_status replay_all(replay *r) {
  FS_TRY(check_options(r));
  if (pthread_mutex_init(&r->lock, NULL) != 0) {
    return fs_no_memory(r->ctx, sizeof r->lock);
  }
  fs_status status = set_up(r);
  if (status == FSCHED_OK) {
    status = run_replay(r);
  }
  if (r->exec != NULL) {
    fs_exec_close(r->ctx, r->exec, r->timeout_ns);
  }
  fsched_exec_destroy(r->exec);
  if (r->pool != NULL) {
    fsched_pool_stats stats = {.size = sizeof stats};
    fsched_pool_get_stats(r->pool, &stats);
    r->result.pool_peak = stats.peak;
  }
  fsched_pool_destroy(r->pool);
  fsched_device_release(r->device);
  fsched_semaphore_release(r->complete);
  (void)pthread_mutex_destroy(&r->lock);
  r->result.minimum_ns = r->result.minimum_ns == UINT64_MAX ? 0 : r->result.minimum_ns;
  return status;
}

fsched_status fsched_replay(fsched_context *ctx, const fsched_program *program,
                            const fsched_replay_options *options, fsched_replay_result *result) {
  FS_SCRATCH(arena, ctx);
  replay r = {.ctx = ctx, .program = program, .s = &program->view, .arena = &arena};
  if (result != NULL) {
    FS_TRY(fs_check_options(ctx, "fsched_replay_result", result->size,
                            FS_SIZE_UP_TO(fsched_replay_result, trace_length)));
    if (result->size >= FS_SIZE_UP_TO(fsched_replay_result, command)) {
      r.result.command = result->command;
    }
  }
  if (options != NULL) {
    FS_TRY(fs_check_options(ctx, "fsched_replay_options", options->size,
                            FS_SIZE_UP_TO(fsched_replay_options, memory_limit_log2)));
    memcpy(&r.options, options, fs_min(options->size, sizeof r.options));
  }
  fs_status status = replay_all(&r);
  if (result != NULL) {
    r.result.size = fs_min(result->size, sizeof r.result);
    memcpy(result, &r.result, r.result.size);
  } else {
    (void)fs_realloc(ctx, r.result.trace_json, r.result.trace_length + 1, 0);
  }
  if (result == NULL || result->size < FS_SIZE_UP_TO(fsched_replay_result, profile)) {
    fsched_profile_destroy(r.result.profile); /* after a failure the caller does not get it */
  }
  return status;
}

fsched_status fsched_replay_cpu(fsched_context *ctx, const fsched_program *program,
                                const fsched_replay_options *options,
                                fsched_replay_result *result) {
  fsched_replay_options o = {.size = sizeof o};
  if (options == NULL || options->size <= offsetof(fsched_replay_options, device)) {
    return fsched_replay(ctx, program, options, result);
  }
  memcpy(&o, options, fs_min(options->size, sizeof o));
  o.device = NULL;
  return fsched_replay(ctx, program, &o, result);
}
