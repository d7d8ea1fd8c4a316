/* SPDX-License-Identifier: Apache-2.0 */
/* The command fsched run, which verifies and replays a program. */
#include "cli/run/run.h"

#include <sched.h>

#include "base/files/file.h"
#include "base/text/columns.h"
#include "base/text/plural.h"
#include "base/text/size_text.h"
#include "base/text/ticks.h"
#include "cli/common/progress.h"
#include "cli/run/crash.h"
#include "exec/host/backends.h"
#include "fsched/compile.h"
#include "fsched/verify.h"
#include "model/graph.h"
#include "model/stream/stream.h"

/* The times of a result: of the machine, or simulated; in ticks where nothing says how long a tick
 * of the simulation is. */
typedef struct run_clock {
  bool simulates, in_ticks;
} run_clock;

static run_clock clock_of(const fs_run *run) {
  bool simulates = fs_backend_kind_of(fsched_device_kind(run->replay.device))->simulates;
  return (run_clock){simulates, simulates && run->tick_ps == 0 && run->measured == NULL};
}

/* Writes ticks, which a simulation counts as FS_TICK_UNKNOWN_PS, with three decimals if it drew a
 * part of one. */
static void put_ticks(fs_text *t, uint64_t ns) {
  uint64_t per_tick = FS_TICK_UNKNOWN_PS / 1000;
  fs_text_u64(t, ns / per_tick);
  if (ns % per_tick != 0) {
    fs_text_printf(t, ".%03llu", (unsigned long long)(ns % per_tick));
  }
}

static void put_time(fs_text *t, run_clock c, uint64_t ns) {
  if (c.in_ticks) {
    put_ticks(t, ns);
    fs_text_puts(t, ns == FS_TICK_UNKNOWN_PS / 1000 ? " tick" : " ticks");
  } else if (c.simulates && ns < 1000000) { /* exact, however short */
    fs_text_printf(t, "%llu ns", (unsigned long long)ns);
  } else {
    fs_text_printf(t, "%.3f ms", (double)ns * 1e-6);
  }
}

static void text_result(fs_text *t, const char *name, const char *on, const fs_run *run,
                        const fsched_replay_result *r) {
  const fsched_replay_options *o = &run->replay;
  run_clock clock = clock_of(run);
  uint64_t runs = fs_max(o->repeat, 1);
  fs_text_printf(t, "%s: %llu command%s on %s, %llu run%s in ", name,
                 (unsigned long long)r->commands, fs_plural_s(r->commands), on,
                 (unsigned long long)runs, fs_plural_s(runs));
  put_time(t, clock, r->elapsed_ns);
  fs_text_puts(t, clock.simulates ? " simulated, fastest " : ", fastest ");
  put_time(t, clock, r->minimum_ns);
  fs_text_puts(t, "\n");
  if (o->in_flight > 1) {
    fs_text_printf(t, "%s: up to %u at once: %.3f ms%s from the first begin to the last end\n",
                   name, o->in_flight, (double)r->wall_ns * 1e-6,
                   clock.simulates ? " of real time" : "");
  }
  if (o->pool_bytes > 0) {
    char peak[FS_SIZE_TEXT], pool[FS_SIZE_TEXT];
    fs_text_printf(t, "%s: at most %s bytes of the pool's %s were reserved\n", name,
                   fs_size_text(peak, r->pool_peak), fs_size_text(pool, o->pool_bytes));
  }
  if (o->check) {
    fs_text_printf(t, "%s: checked: %llu op%s and %llu output byte%s are equal\n", name,
                   (unsigned long long)r->checked_ops, fs_plural_s(r->checked_ops),
                   (unsigned long long)r->checked_bytes, fs_plural_s(r->checked_bytes));
  }
}

static void json_time(fs_text *t, run_clock c, const char *key, uint64_t ns) {
  fs_text_printf(t, ", \"%s_%s\": ", key, c.in_ticks ? "ticks" : "ns");
  if (c.in_ticks) {
    put_ticks(t, ns);
  } else {
    fs_text_u64(t, ns);
  }
}

static void json_result(fs_text *t, const char *name, const char *on, const fs_run *run,
                        const fsched_replay_result *r) {
  const fsched_replay_options *o = &run->replay;
  run_clock clock = clock_of(run);
  fs_text_puts(t, "{\"fsched_run\": 1, \"file\": ");
  fs_text_json_string(t, name);
  fs_text_printf(t, ", \"on\": \"%s\", \"device\": ", on);
  fs_text_json_string(t, fsched_device_note(o->device));
  fs_text_printf(t, "%s, \"commands\": %llu, \"runs\": %llu",
                 clock.simulates ? ", \"simulated\": true" : "", (unsigned long long)r->commands,
                 (unsigned long long)fs_max(o->repeat, 1));
  json_time(t, clock, "elapsed", r->elapsed_ns);
  json_time(t, clock, "minimum", r->minimum_ns);
  if (o->in_flight > 0) {
    fs_text_printf(t, ", \"in_flight\": %u, \"wall_ns\": %llu", o->in_flight,
                   (unsigned long long)r->wall_ns);
  }
  if (o->pool_bytes > 0) {
    fs_text_printf(t, ", \"pool_bytes\": %llu, \"pool_peak\": %llu",
                   (unsigned long long)o->pool_bytes, (unsigned long long)r->pool_peak);
  }
  if (o->check) {
    fs_text_printf(t, ", \"checked_ops\": %llu, \"checked_bytes\": %llu",
                   (unsigned long long)r->checked_ops, (unsigned long long)r->checked_bytes);
  }
}

/* Points out that plan and run differ so much in length that, drawn from the same time 0, one of
 * them can hardly be seen. */
static void scale_advice(fs_text *t, const char *name, const fsched_program *program,
                         const fs_run *of, const fsched_replay_result *r) {
  enum { UNLIKE = 10 };
  const fsched_replay_options *o = &of->replay;
  uint64_t tick = of->tick_ps != 0 ? of->tick_ps : FS_TICK_UNKNOWN_PS;
  double plan = (double)program->view.meta->makespan * (double)tick * 1e-3;
  double run = (double)r->elapsed_ns / (double)fs_max(o->repeat, 1);
  double ratio = plan < run ? run / plan : plan / run;
  if (o->trace_plan == FSCHED_TRACE_PLAN_TICKS && plan > 0 && run > 0 && ratio >= UNLIKE) {
    fs_text_printf(t, "%s: the trace shows the plan %.0f times %s than the run; see %s\n", name,
                   ratio, plan < run ? "shorter" : "longer",
                   plan < run ? "--with-plan=fit and --pace" : "--with-plan=fit");
  }
}

/* Adds the comparison of planned and measured times. */
static fs_status add_report(const fs_cli *cli, fs_text *t, const fsched_profile *profile) {
  fsched_report_options o = {.size = sizeof o,
                             .format = fs_cli_json(cli) ? FSCHED_REPORT_JSON : FSCHED_REPORT_TEXT,
                             .all = cli->verbose};
  char *text = NULL;
  size_t length = 0;
  FS_TRY(fsched_profile_report(cli->ctx, profile, &o, &text, &length));
  if (fs_cli_json(cli)) {
    fs_text_puts(t, ", \"profile\": ");
    length -= length > 0 && text[length - 1] == '\n';
  }
  fs_text_add(t, text, length);
  fsched_text_free(cli->ctx, text, strlen(text));
  return FSCHED_OK;
}

static fs_status print_result(const fs_cli *cli, const char *name, const char *on,
                              const fsched_program *program, const fs_run *run,
                              const fsched_replay_result *r) {
  fs_text t;
  fs_status status = FSCHED_OK;
  fs_text_init(&t, cli->ctx);
  if (fs_cli_json(cli)) {
    json_result(&t, name, on, run, r);
  } else if (!cli->quiet) {
    if (cli->verbose || strcmp(run->device.kind, "auto") == 0) {
      fs_text_printf(&t, "%s: on %s: %s\n", name, on, fsched_device_note(run->replay.device));
    }
    text_result(&t, name, on, run, r);
    scale_advice(&t, name, program, run, r);
  }
  if (r->profile != NULL && (fs_cli_json(cli) || !cli->quiet)) {
    status = add_report(cli, &t, r->profile);
  }
  if (fs_cli_json(cli)) {
    fs_text_puts(&t, "}\n");
  }
  if (status != FSCHED_OK) {
    fs_text_drop(&t);
    return status;
  }
  return fs_cli_print(cli->ctx, &t);
}

static fs_status write_profile(fs_cli *cli, const char *path, const fsched_profile *profile) {
  char *text = NULL;
  size_t length = 0;
  FS_TRY(fsched_profile_json(cli->ctx, profile, &text, &length));
  fs_status status = fs_file_write(cli->ctx, path, text, length);
  fsched_text_free(cli->ctx, text, length);
  return status;
}

static fs_status write_results(fs_cli *cli, const fs_run *run, const fsched_replay_result *r) {
  if (run->trace != NULL) {
    FS_TRY(fs_file_write(cli->ctx, run->trace, r->trace_json, r->trace_length));
  }
  if (run->profile != NULL) {
    FS_TRY(write_profile(cli, run->profile, r->profile));
  }
  return fs_run_write_files(cli, run);
}

/* For -v: lists the files that were written. */
static void print_written(const fs_cli *cli, const fs_run *run) {
  const char *path[] = {run->trace, run->profile};
  uint32_t n = sizeof path / sizeof path[0], outputs = run->n_files - run->n_inputs;
  fs_text t;
  fs_text_init(&t, cli->ctx);
  for (uint32_t i = 0; i < n + outputs; i++) {
    const char *p = i < n ? path[i] : run->file[run->n_inputs + i - n].path;
    if (p != NULL) {
      fs_cli_put_wrote(cli, &t, p);
    }
  }
  fs_cli_say(&t);
}

static fs_status replay_on(fs_cli *cli, const char *name, const fsched_program *program,
                           const fs_run *run, fsched_replay_result *r) {
  const char *on = fsched_device_kind(run->replay.device);
  fs_context_subject(cli->ctx, name);
  fs_status status = fsched_replay(cli->ctx, program, &run->replay, r);
  fs_context_subject(cli->ctx, NULL);
  fs_cli_progress_clear(cli);
  FS_TRY(status);
  FS_TRY(write_results(cli, run, r));
  fs_cli_reports(cli);
  FS_TRY(print_result(cli, name, on, program, run, r));
  if (cli->verbose) {
    print_written(cli, run);
  }
  return FSCHED_OK;
}

static fs_status replay(fs_cli *cli, const fsched_program *program, fs_run *run) {
  fsched_replay_result r = {.size = sizeof r};
  fsched_profile *measured = NULL;
  FS_TRY(fs_run_set_tick(cli, program, run));
  FS_TRY(fs_run_read_files(cli, program, run));
  if (run->measured != NULL) {
    FS_TRY(fs_cli_check_profile_kind(cli, run->measured));
    FS_TRY(fsched_profile_read(cli->ctx, run->measured, &measured));
    run->device.profile = measured;
    run->device.durations = FSCHED_DURATIONS_MEASURED;
  }
  fs_crash_watch(fs_cli_diagnostics_json(cli));
  run->device.kernel_runs = fs_crash_kernel; /* a crash of a worker process is not seen here */
  fs_status status = fs_cli_create_device(cli, &run->device, &run->replay.device);
  if (status == FSCHED_OK) {
    status = replay_on(cli, fs_cli_shown(run->input), program, run, &r);
    cli->lost = fsched_device_lost(run->replay.device) != 0;
    fsched_device_release(run->replay.device);
  }
  fsched_profile_destroy(measured);
  if (r.trace_json != NULL) {
    fsched_text_free(cli->ctx, r.trace_json, r.trace_length);
  }
  fsched_profile_destroy(r.profile);
  return status;
}

/* Verifies the program before files are read for it, or a device is used. */
static fs_status verify(fs_cli *cli, const char *name, const fsched_program *program) {
  fs_context_subject(cli->ctx, name);
  fs_status status = fsched_verify_program(cli->ctx, program, NULL);
  fs_context_subject(cli->ctx, NULL);
  fs_cli_progress_clear(cli);
  if (status == FSCHED_WRONG) {
    fs_cli_refuted(cli, name);
  }
  return status;
}

/* Gives each heap what its memory has, unless an option says how much; the ones of options count,
 * as they come last. */
static fs_status set_heaps(fs_cli *cli, const fsched_graph *graph, fsched_device_options *d) {
  const fs_target *t = &graph->target;
  fsched_heap_size *heap;
  uint32_t n = 0;
  FS_TRY(fs_new(&cli->arena, &heap, (size_t)t->n_memories + d->n_heaps));
  for (uint32_t m = 0; m < t->n_memories && d->heap_bytes == 0; m++) {
    if (t->memory[m].described == 0) { /* a target without memories has one without limit */
      continue;
    }
    const char *name = t->memory[m].name;
    heap[n] = (fsched_heap_size){fs_arena_strndup(&cli->arena, name, strlen(name)),
                                 t->memory[m].described};
    FS_TRY(heap[n].memory == NULL ? FSCHED_SYSTEM : FSCHED_OK);
    n++;
  }
  for (uint32_t i = 0; i < d->n_heaps; i++) {
    heap[n++] = d->heaps[i];
  }
  d->heaps = heap;
  d->n_heaps = n;
  return FSCHED_OK;
}

/* Those that this program may use. */
static uint32_t count_processors(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

/* Makes the program that has the ops of a graph; its plan, of which only the order is used, knows
 * of no limit of memories. */
static fs_status compile_graph(fs_cli *cli, fs_run *run, const char *bytes, size_t size,
                               fsched_program **out) {
  const char *name = fs_cli_shown(run->input);
  const fsched_compile_options least = {.size = sizeof least, .effort = FSCHED_EFFORT(0)};
  fsched_graph *graph;
  FS_TRY(fs_cli_parse_unplanned(cli, name, bytes, size, count_processors(), &graph));
  fs_context_subject(cli->ctx, name);
  fs_status status = set_heaps(cli, graph, &run->device);
  status = status == FSCHED_OK ? fsched_compile(cli->ctx, graph, &least, NULL, out) : status;
  fs_context_subject(cli->ctx, NULL);
  fs_cli_progress_clear(cli);
  fsched_graph_destroy(graph);
  return status;
}

/* Opens a program, or makes that of a graph. */
static fs_status open_either(fs_cli *cli, fs_run *run, fsched_program **out) {
  const char *name = fs_cli_shown(run->input);
  char *bytes = NULL;
  size_t size = 0;
  FS_TRY(fs_file_read(cli->ctx, run->input, &bytes, &size));
  fs_kind kind = fs_cli_kind(bytes, size);
  fs_status status;
  if (kind == FS_KIND_GRAPH || (kind == FS_KIND_OTHER && memchr(bytes, 0, size) == NULL)) {
    status = compile_graph(cli, run, bytes, size, out);
    run->replay.n_trips = 0; /* the graph has them */
  } else if (fs_args_has(&cli->args, FS_OPTION_MEMORY) || fs_args_has(&cli->args, FS_OPTION_SET)) {
    status = fs_usage(cli->ctx, "a stream holds the target that it was compiled for",
                      "--memory and --set are for graphs, and %s is none", name);
  } else {
    status = fs_cli_load_program(cli, name, bytes, size, out);
  }
  (void)fs_realloc(cli->ctx, bytes, size + 1, 0);
  return status;
}

fs_status fs_cli_run(fs_cli *cli) {
  fs_run run;
  FS_TRY(fs_run_read_options(cli, &run));
  fsched_program *program = NULL;
  const fs_backend_kind *kind = fs_backend_kind_of(run.device.kind);
  FS_TRY(kind != NULL && kind->submits ? open_either(cli, &run, &program)
                                       : fs_cli_open_program(cli, run.input, &program));
  fs_status status = fs_args_has(&cli->args, FS_OPTION_NO_VERIFY)
                         ? FSCHED_OK
                         : verify(cli, fs_cli_shown(run.input), program);
  status = status == FSCHED_OK ? replay(cli, program, &run) : status;
  fsched_program_destroy(program);
  return status;
}
