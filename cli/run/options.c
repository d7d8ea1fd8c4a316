/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `fsched run`. */
#include <stdlib.h>

#include "base/text/size_text.h"
#include "base/text/ticks.h"
#include "cli/run/run.h"
#include "exec/host/backends.h"
#include "model/stream/stream.h"

enum { MEASURED = 32, MOST_IN_FLIGHT = 1024, MOST_THREADS = 65536 };

static fs_status read_number(fs_cli *cli, fs_option option, uint64_t least, uint64_t most,
                             uint64_t *value) {
  const char *text = fs_args_last(&cli->args, option);
  if (text == NULL) {
    return FSCHED_OK;
  }
  if (!fs_parse_u64(text, value) || *value < least || *value > most) {
    return most == UINT64_MAX
               ? fs_usage(cli->ctx, NULL, "--%s wants a number above %llu, not '%s'",
                          fs_option_table[option].long_name, (unsigned long long)least - 1, text)
               : fs_usage(cli->ctx, NULL, "--%s wants a number from %llu to %llu, not '%s'",
                          fs_option_table[option].long_name, (unsigned long long)least,
                          (unsigned long long)most, text);
  }
  return FSCHED_OK;
}

static fs_status read_plan(fs_cli *cli, fsched_replay_options *o) {
  const char *plan = fs_args_last(&cli->args, FS_OPTION_WITH_PLAN);
  if (plan == NULL) {
    return FSCHED_OK;
  }
  if (!o->trace) {
    return fs_usage(cli->ctx, "add --trace FILE", "--with-plan is a part of a trace");
  }
  if (*plan != '\0' && strcmp(plan, "fit") != 0) {
    return fs_usage(cli->ctx, NULL, "--with-plan takes fit or no value, not '%s'", plan);
  }
  o->trace_plan = *plan == '\0' ? FSCHED_TRACE_PLAN_TICKS : FSCHED_TRACE_PLAN_FIT;
  return FSCHED_OK;
}

static fs_status read_times(fs_cli *cli, fsched_replay_options *o) {
  const fs_args *args = &cli->args;
  const char *pace = fs_args_last(args, FS_OPTION_PACE);
  const char *timeout = fs_args_last(args, FS_OPTION_TIMEOUT);
  if (pace != NULL && *pace != '\0' &&
      (!fs_parse_u64(pace, &o->pace_ns) || o->pace_ns == 0 || o->pace_ns > FSCHED_MAX_TIME)) {
    return fs_usage(cli->ctx, NULL, "--pace wants nanoseconds from 1 to 2^40, not '%s'", pace);
  }
  FS_TRY(fs_cli_tick(cli, &o->tick_ps));
  if (o->pace_ns != 0 && o->tick_ps != 0) {
    return fs_usage(cli->ctx, "leave the number out: --pace --tick LENGTH",
                    "--pace=%s and --tick both say how long a tick is", pace);
  }
  if (timeout != NULL && !fs_parse_milliseconds(timeout, &o->timeout_ms)) {
    return fs_usage(cli->ctx, NULL, "--timeout wants seconds above 0, like 10 or 0.5, not '%s'",
                    timeout);
  }
  return FSCHED_OK;
}

static fs_status wrong_size(const fs_cli *cli, fs_option option, const char *text) {
  return fs_usage(cli->ctx, "sizes are like 4096, 64KiB, 2MiB, 1GiB",
                  "--%s wants a size from 1 byte to 256 TiB, not '%s'",
                  fs_option_table[option].long_name, text);
}

static fs_status read_size(fs_cli *cli, fs_option option, uint64_t *bytes) {
  const char *text = fs_args_last(&cli->args, option);
  if (text != NULL && (!fs_size_parse(text, FSCHED_MAX_SIZE, bytes) || *bytes == 0)) {
    return wrong_size(cli, option, text);
  }
  return FSCHED_OK;
}

static fs_status read_counts(fs_cli *cli, fsched_replay_options *o) {
  uint64_t in_flight = 0;
  if (fs_args_has(&cli->args, FS_OPTION_REPEAT) &&
      (fs_args_has(&cli->args, FS_OPTION_INVOCATIONS) ||
       fs_args_has(&cli->args, FS_OPTION_IN_FLIGHT))) {
    return fs_usage(cli->ctx, "--repeat N is --invocations N, without --in-flight",
                    "--repeat does not go together with --invocations and --in-flight");
  }
  FS_TRY(read_number(cli, FS_OPTION_REPEAT, 1, UINT64_MAX, &o->repeat));
  FS_TRY(read_number(cli, FS_OPTION_INVOCATIONS, 1, UINT64_MAX, &o->repeat));
  FS_TRY(read_number(cli, FS_OPTION_IN_FLIGHT, 1, MOST_IN_FLIGHT, &in_flight));
  o->in_flight = (uint32_t)in_flight;
  return read_size(cli, FS_OPTION_POOL, &o->pool_bytes);
}

/* Splits NAME=REST at its first '=' in the arena, as names may not contain one. */
static fs_status split_option(fs_cli *cli, fs_option option, const char *text, const char **name,
                              const char **rest) {
  const char *equals = strchr(text, '=');
  if (equals == NULL || equals == text || equals[1] == '\0') {
    return fs_usage(cli->ctx, NULL, "--%s wants %s, not '%s'", fs_option_table[option].long_name,
                    fs_option_table[option].argument, text);
  }
  *name = fs_arena_strndup(&cli->arena, text, (size_t)(equals - text));
  *rest = equals + 1;
  return *name == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

static fs_status read_file_names(fs_cli *cli, fs_run *run) {
  const char *const *in, *const *out;
  size_t n_in, n_out;
  FS_TRY(fs_args_all(&cli->arena, &cli->args, FS_OPTION_INPUT, &in, &n_in));
  FS_TRY(fs_args_all(&cli->arena, &cli->args, FS_OPTION_RESULT, &out, &n_out));
  FS_TRY(fs_new_zero(&cli->arena, &run->file, n_in + n_out));
  for (size_t i = 0; i < n_in + n_out; i++) {
    bool input = i < n_in;
    FS_TRY(split_option(cli, input ? FS_OPTION_INPUT : FS_OPTION_RESULT,
                        input ? in[i] : out[i - n_in], &run->file[i].name, &run->file[i].path));
  }
  run->n_inputs = (uint32_t)n_in;
  run->n_files = (uint32_t)(n_in + n_out);
  return FSCHED_OK;
}

static bool parse_i64(const char *text, int64_t *value) {
  bool negative = *text == '-';
  uint64_t magnitude;
  uint64_t most = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
  if (!fs_parse_u64(text + negative, &magnitude) || magnitude > most) {
    return false;
  }
  *value = negative ? (int64_t)(~magnitude + 1) : (int64_t)magnitude;
  return true;
}

static fs_status read_value(fs_cli *cli, const char *text, fsched_parameter *p) {
  const char *name, *number;
  uint64_t arg;
  FS_TRY(split_option(cli, FS_OPTION_VALUE, text, &name, &number));
  char *colon = strrchr(name, ':');
  if (colon == NULL || colon == name || !fs_parse_u64(colon + 1, &arg) || arg > UINT32_MAX ||
      !parse_i64(number, &p->value)) {
    return fs_usage(cli->ctx, NULL, "--value wants OP:ARG=N, not '%s'", text);
  }
  p->op = fs_arena_strndup(&cli->arena, name, (size_t)(colon - name));
  p->arg = (uint32_t)arg;
  return p->op == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

static fs_status read_values(fs_cli *cli, fs_run *run) {
  const char *const *value;
  size_t n;
  FS_TRY(fs_args_all(&cli->arena, &cli->args, FS_OPTION_VALUE, &value, &n));
  FS_TRY(fs_new_zero(&cli->arena, &run->parameters, n));
  for (size_t i = 0; i < n; i++) {
    FS_TRY(read_value(cli, value[i], &run->parameters[i]));
  }
  run->replay.parameters = run->parameters;
  run->replay.n_parameters = (uint32_t)n;
  return FSCHED_OK;
}

static fs_status read_trips(fs_cli *cli, fs_run *run) {
  const char *const *text;
  size_t n;
  FS_TRY(fs_args_all(&cli->arena, &cli->args, FS_OPTION_SET_PARAM, &text, &n));
  FS_TRY(fs_new_zero(&cli->arena, &run->trips, n));
  for (size_t i = 0; i < n; i++) {
    const char *number;
    FS_TRY(split_option(cli, FS_OPTION_SET_PARAM, text[i], &run->trips[i].param, &number));
    if (!fs_parse_u64(number, &run->trips[i].trips)) {
      return fs_usage(cli->ctx, NULL, "--set-param wants NAME=N, not '%s'", text[i]);
    }
  }
  run->replay.trips = run->trips;
  run->replay.n_trips = (uint32_t)n;
  return FSCHED_OK;
}

/* The directory of the program's file. */
static const char *beside(fs_cli *cli, const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL   ? "."
         : slash == path ? "/"
                         : fs_arena_strndup(&cli->arena, path, (size_t)(slash - path));
}

static fs_status read_workers(fs_cli *cli, fsched_device_options *d) {
  const char *workers = fs_args_last(&cli->args, FS_OPTION_WORKERS);
  d->spawn = workers != NULL && strcmp(workers, "spawned") == 0;
  d->processes = d->spawn || (workers != NULL && strcmp(workers, "processes") == 0);
  return workers == NULL || d->processes || strcmp(workers, "threads") == 0
             ? FSCHED_OK
             : fs_usage(cli->ctx, "workers are threads, processes or spawned", "--workers %s",
                        workers);
}

/* Refuses options that the back end would ignore. */
static fs_status check_device(fs_cli *cli, const fs_run *run, const char *durations) {
  const fs_args *args = &cli->args;
  const char *name = run->device.kind;
  const fs_backend_kind *kind = fs_backend_kind_of(name); /* NULL for auto */
  bool seed = fs_args_has(args, FS_OPTION_SIM_SEED);
  if ((kind == NULL || !kind->simulates) && (durations != NULL || run->measured != NULL || seed)) {
    return fs_usage(cli->ctx, "add --on sim",
                    "--durations, --measured and --seed are for simulations");
  }
  if (durations != NULL && run->measured != NULL) {
    return fs_usage(cli->ctx, NULL, "--durations and --measured exclude each other");
  }
  if (seed && (durations == NULL || strcmp(durations, "planned") == 0)) {
    return fs_usage(cli->ctx, "add --durations random, or adversarial",
                    "--seed is for durations that are drawn");
  }
  if (fs_args_has(args, FS_OPTION_PIN) && kind != NULL && !kind->threads) {
    return fs_usage(cli->ctx, NULL, "--pin is for processors, not for --on %s", name);
  }
  if (fs_args_has(args, FS_OPTION_DEVICE) && kind != NULL && !kind->number) {
    return fs_usage(cli->ctx, "add --on " FS_BACKENDS_NUMBERED "or auto",
                    "--device is for devices with a number, not for --on %s", name);
  }
  if ((kind == NULL || !kind->submits) &&
      (fs_args_has(args, FS_OPTION_HEAP) || fs_args_has(args, FS_OPTION_WORKERS) ||
       fs_args_has(args, FS_OPTION_MEMORY) || fs_args_has(args, FS_OPTION_SET))) {
    return fs_usage(cli->ctx, "add --on dynamic",
                    "--heap, --workers, --memory and --set are for dynamic runs");
  }
  if (kind != NULL && kind->submits && fs_args_has(args, FS_OPTION_WITH_PLAN)) {
    return fs_usage(cli->ctx, NULL, "--with-plan is not for --on %s, which uses no plan", name);
  }
  if (kind != NULL && kind->submits && fs_args_has(args, FS_OPTION_POOL)) {
    return fs_usage(cli->ctx, NULL, "--pool is not for --on %s, which has heaps", name);
  }
  if (fs_args_has(args, FS_OPTION_THREADS) && kind != NULL && !kind->threads) {
    return fs_usage(cli->ctx, NULL, "--threads is for processors, not for --on %s", name);
  }
  return FSCHED_OK;
}

/* Reads --heap SIZE, of all memories, and --heap NAME=SIZE, of one. */
static fs_status read_heaps(fs_cli *cli, fsched_device_options *d) {
  const char *const *text;
  size_t n;
  fsched_heap_size *heap;
  FS_TRY(fs_args_all(&cli->arena, &cli->args, FS_OPTION_HEAP, &text, &n));
  FS_TRY(fs_new(&cli->arena, &heap, n));
  d->heaps = heap;
  for (size_t i = 0; i < n; i++) {
    const char *equals = strrchr(text[i], '='), *name = NULL;
    uint64_t bytes = 0;
    if (equals != NULL) {
      name = fs_arena_strndup(&cli->arena, text[i], (size_t)(equals - text[i]));
      FS_TRY(name == NULL ? FSCHED_SYSTEM : FSCHED_OK);
    }
    const char *size = equals == NULL ? text[i] : equals + 1;
    if (equals == text[i] || !fs_size_parse(size, FSCHED_MAX_SIZE, &bytes) || bytes == 0) {
      return wrong_size(cli, FS_OPTION_HEAP, text[i]);
    }
    if (name == NULL) {
      d->heap_bytes = bytes;
    } else {
      heap[d->n_heaps++] = (fsched_heap_size){name, bytes};
    }
  }
  return FSCHED_OK;
}

static fs_status read_device(fs_cli *cli, fs_run *run) {
  const fs_args *args = &cli->args;
  fsched_device_options *d = &run->device;
  uint64_t ordinal = 0, threads = 0;
  const char *kind = fs_args_last(args, FS_OPTION_ON);
  const char *durations = fs_args_last(args, FS_OPTION_DURATIONS);
  *d = (fsched_device_options){.size = sizeof *d, .kind = kind == NULL ? "cpu" : kind};
  FS_TRY(read_number(cli, FS_OPTION_DEVICE, 0, UINT32_MAX, &ordinal));
  FS_TRY(read_number(cli, FS_OPTION_SIM_SEED, 0, UINT64_MAX - 1, &d->seed));
  FS_TRY(read_number(cli, FS_OPTION_THREADS, 1, MOST_THREADS, &threads));
  d->ordinal = (uint32_t)ordinal;
  d->threads = (uint32_t)threads;
  d->pin = fs_args_has(args, FS_OPTION_PIN);
  d->modules = fs_args_last(args, FS_OPTION_MODULES);
  d->trust_modules = fs_args_has(args, FS_OPTION_TRUST_MODULES);
  if (d->modules == NULL && d->trust_modules) {
    d->modules = beside(cli, run->input);
    FS_TRY(d->modules == NULL ? FSCHED_SYSTEM : FSCHED_OK);
  }
  d->driver = getenv("FSCHED_CUDA_DRIVER");
  FS_TRY(read_size(cli, FS_OPTION_MEMORY_LIMIT, &d->memory_limit));
  FS_TRY(read_heaps(cli, d));
  FS_TRY(read_workers(cli, d));
  FS_TRY(check_device(cli, run, durations));
  if (durations != NULL) {
    d->durations =
        (fsched_durations)fs_choice_index(fs_option_table[FS_OPTION_DURATIONS].argument, durations);
  }
  return FSCHED_OK;
}

/* Checks that no result replaces another one, or an input. */
static fs_status check_files(fs_cli *cli, const fs_run *run) {
  const char **output;
  uint32_t n = 0;
  bool prints = fs_cli_json(cli) || !cli->quiet;
  FS_TRY(fs_new(&cli->arena, &output, (size_t)run->n_files + 3));
  if (run->trace != NULL) {
    output[n++] = run->trace;
  }
  if (run->profile != NULL) {
    output[n++] = run->profile;
  }
  for (uint32_t i = run->n_inputs; i < run->n_files; i++) {
    output[n++] = run->file[i].path;
  }
  for (uint32_t i = 0; i < n && prints; i++) {
    if (fs_cli_is_std(output[i])) {
      return fs_usage(cli->ctx, "add -q, or name a file",
                      "the %s and the result would both be written to standard output",
                      output[i] == run->trace     ? "trace"
                      : output[i] == run->profile ? "profile"
                                                  : "data");
    }
  }
  output[n] = "-"; /* standard output, which may be one of these files too */
  FS_TRY(fs_cli_check_outputs(cli, output, prints ? n + 1 : n));
  bool standard = fs_cli_is_std(run->input);
  if (run->measured != NULL) {
    if (standard && fs_cli_is_std(run->measured)) {
      return fs_usage(cli->ctx, NULL, "standard input can be read only once");
    }
    standard = standard || fs_cli_is_std(run->measured);
  }
  for (uint32_t i = 0; i < run->n_inputs; i++) {
    FS_TRY(fs_cli_check_input(cli, run->file[i].path, output, n));
    if (standard && fs_cli_is_std(run->file[i].path)) {
      return fs_usage(cli->ctx, NULL, "standard input can be read only once");
    }
    standard = standard || fs_cli_is_std(run->file[i].path);
  }
  FS_TRY(fs_cli_check_input(cli, run->input, output, n));
  return fs_cli_check_results(cli, output, n);
}

fs_status fs_run_read_options(fs_cli *cli, fs_run *run) {
  const fs_args *args = &cli->args;
  *run = (fs_run){.input = args->operand[0],
                  .trace = fs_args_last(args, FS_OPTION_TRACE),
                  .profile = fs_args_last(args, FS_OPTION_PROFILE_OUT),
                  .measured = fs_args_last(args, FS_OPTION_MEASURED)};
  run->replay = (fsched_replay_options){.size = sizeof run->replay,
                                        .check = fs_args_has(args, FS_OPTION_CHECK),
                                        .trace = run->trace != NULL,
                                        .profile = run->profile != NULL ? MEASURED : 0};
  FS_TRY(read_times(cli, &run->replay));
  FS_TRY(read_counts(cli, &run->replay));
  FS_TRY(read_plan(cli, &run->replay));
  FS_TRY(read_device(cli, run));
  FS_TRY(read_file_names(cli, run));
  FS_TRY(read_values(cli, run));
  FS_TRY(read_trips(cli, run));
  return check_files(cli, run);
}

fs_status fs_run_set_tick(fs_cli *cli, const fsched_program *program, fs_run *run) {
  fsched_replay_options *o = &run->replay;
  const char *unit = fs_stream_string(&program->view, program->view.meta->time_unit);
  run->tick_ps = o->tick_ps != 0 ? o->tick_ps : o->pace_ns * 1000;
  run->tick_ps = run->tick_ps != 0 ? run->tick_ps : fs_tick_ps(unit);
  if (!fs_args_has(&cli->args, FS_OPTION_PACE) || o->pace_ns != 0) {
    return FSCHED_OK;
  }
  if (run->tick_ps == 0) {
    return fs_usage(cli->ctx, "add --tick LENGTH, such as 1us",
                    "--pace needs to know how long a tick is, which the time unit %s%s%s does not "
                    "say",
                    unit == NULL ? "of the graph" : "'", unit == NULL ? "" : unit,
                    unit == NULL ? "" : "'");
  }
  o->tick_ps = run->tick_ps;
  o->pace_ns = 1; /* with tick_ps it only asks for pace */
  return FSCHED_OK;
}
