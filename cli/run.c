/* SPDX-License-Identifier: Apache-2.0 */
/* fsched run. */
#include "cli.h"
#include "file.h"
#include "fsched/compile.h"
#include "fsched/replay.h"
#include "progress.h"
#include "stream.h"
#include "ticks.h"

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

static fs_status read_options(fs_cli *cli, fsched_replay_options *o) {
  const fs_args *args = &cli->args;
  const char *pace = fs_args_last(args, FS_OPTION_PACE);
  const char *repeat = fs_args_last(args, FS_OPTION_REPEAT);
  const char *timeout = fs_args_last(args, FS_OPTION_TIMEOUT);
  const char *trace = fs_args_last(args, FS_OPTION_TRACE);
  *o = (fsched_replay_options){
      .size = sizeof *o, .check = fs_args_has(args, FS_OPTION_CHECK), .trace = trace != NULL};
  if (pace != NULL && *pace != '\0' && (!fs_parse_u64(pace, &o->pace_ns) || o->pace_ns == 0)) {
    return fs_usage(cli->ctx, NULL, "--pace wants nanoseconds above 0, not '%s'", pace);
  }
  if (repeat != NULL && (!fs_parse_u64(repeat, &o->repeat) || o->repeat == 0)) {
    return fs_usage(cli->ctx, NULL, "--repeat wants a number above 0, not '%s'", repeat);
  }
  if (timeout != NULL && !fs_parse_milliseconds(timeout, &o->timeout_ms)) {
    return fs_usage(cli->ctx, NULL, "--timeout wants seconds above 0, not '%s'", timeout);
  }
  return read_plan(cli, o);
}

static fs_status check_trace(fs_cli *cli, const char *input) {
  const char *trace = fs_args_last(&cli->args, FS_OPTION_TRACE);
  bool prints = fs_cli_json(cli) || !cli->quiet;
  if (trace == NULL) {
    return FSCHED_OK;
  }
  if (fs_cli_is_std(trace) && prints) {
    return fs_usage(cli->ctx, "add -q, or name a file",
                    "the trace and the result would both be written to standard output");
  }
  const char *output[] = {trace, "-"};
  FS_TRY(fs_cli_check_outputs(cli, output, prints ? 2 : 1));
  return fs_cli_check_input(cli, input, output, 1);
}

static void text_result(fs_text *t, const char *name, const fsched_replay_options *o,
                        const fsched_replay_result *r) {
  uint64_t runs = fs_max(o->repeat, 1);
  fs_text_printf(t, "%s: %llu commands on cpu, %llu run%s in %.3f ms, fastest %.3f ms\n", name,
                 (unsigned long long)r->commands, (unsigned long long)runs, runs == 1 ? "" : "s",
                 (double)r->elapsed_ns * 1e-6, (double)r->minimum_ns * 1e-6);
  if (o->check) {
    fs_text_printf(t, "%s: checked: %llu ops and %llu output bytes are equal\n", name,
                   (unsigned long long)r->checked_ops, (unsigned long long)r->checked_bytes);
  }
}

static void json_result(fs_text *t, const char *name, const fsched_replay_options *o,
                        const fsched_replay_result *r) {
  fs_text_puts(t, "{\"fsched_run\": 1, \"file\": ");
  fs_text_json_string(t, name);
  fs_text_printf(t,
                 ", \"on\": \"cpu\", \"commands\": %llu, \"runs\": %llu, \"elapsed_ns\": %llu, "
                 "\"minimum_ns\": %llu",
                 (unsigned long long)r->commands, (unsigned long long)fs_max(o->repeat, 1),
                 (unsigned long long)r->elapsed_ns, (unsigned long long)r->minimum_ns);
  if (o->check) {
    fs_text_printf(t, ", \"checked_ops\": %llu, \"checked_bytes\": %llu",
                   (unsigned long long)r->checked_ops, (unsigned long long)r->checked_bytes);
  }
  fs_text_puts(t, "}\n");
}

/* A plan and a run of very unlike lengths, from one 0 on: one of them is hardly to be seen. */
static void scale_advice(fs_text *t, const char *name, const fsched_program *program,
                         const fsched_replay_options *o, const fsched_replay_result *r) {
  enum { UNLIKE = 10 };
  const fs_stream_meta *meta = program->view.meta;
  uint64_t tick = fs_tick_ns(fs_stream_string(&program->view, meta->time_unit));
  tick = o->pace_ns != 0 ? o->pace_ns : tick != 0 ? tick : 1000;
  double plan = (double)meta->makespan * (double)tick;
  double run = (double)r->elapsed_ns / (double)fs_max(o->repeat, 1);
  double ratio = plan < run ? run / plan : plan / run;
  if (o->trace_plan == FSCHED_TRACE_PLAN_TICKS && plan > 0 && run > 0 && ratio >= UNLIKE) {
    fs_text_printf(t, "%s: the trace shows the plan %.0f times %s than the run; see %s\n", name,
                   ratio, plan < run ? "shorter" : "longer",
                   plan < run ? "--with-plan=fit and --pace" : "--with-plan=fit");
  }
}

static fs_status print_result(const fs_cli *cli, const char *name, const fsched_program *program,
                              const fsched_replay_options *o, const fsched_replay_result *r) {
  fs_text t;
  fs_text_init(&t, cli->ctx);
  if (fs_cli_json(cli)) {
    json_result(&t, name, o, r);
  } else if (!cli->quiet) {
    text_result(&t, name, o, r);
    scale_advice(&t, name, program, o, r);
  }
  return fs_cli_print(cli->ctx, &t);
}

static fs_status replay(fs_cli *cli, const char *name, const fsched_program *program,
                        fsched_replay_options *o) {
  fsched_replay_result r = {.size = sizeof r};
  if (fs_args_has(&cli->args, FS_OPTION_PACE) && o->pace_ns == 0) {
    o->pace_ns =
        fs_max(fs_tick_ns(fs_stream_string(&program->view, program->view.meta->time_unit)), 1);
  }
  fs_context_subject(cli->ctx, name);
  fs_status status = fsched_replay_cpu(cli->ctx, program, o, &r);
  fs_context_subject(cli->ctx, NULL);
  fs_cli_progress_clear(cli);
  const char *trace = fs_args_last(&cli->args, FS_OPTION_TRACE);
  if (status == FSCHED_OK && trace != NULL) {
    status = fs_file_write(cli->ctx, trace, r.trace_json, r.trace_length);
  }
  if (r.trace_json != NULL) {
    fsched_text_free(cli->ctx, r.trace_json, r.trace_length);
  }
  FS_TRY(status);
  fs_cli_reports(cli);
  return print_result(cli, name, program, o, &r);
}

fs_status fs_cli_run(fs_cli *cli) {
  const char *input = cli->args.operand[0];
  fsched_replay_options o;
  FS_TRY(read_options(cli, &o));
  FS_TRY(check_trace(cli, input));
  fsched_program *program = NULL;
  FS_TRY(fs_cli_open_program(cli, input, &program));
  fs_status status = replay(cli, fs_cli_shown(input), program, &o);
  fsched_program_destroy(program);
  return status;
}
