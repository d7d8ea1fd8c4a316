/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>

#include "base/files/file.h"
#include "base/text/columns.h"
#include "cli/common/cli.h"
#include "cli/common/profile.h"
#include "fsched/compile.h"

fs_status fs_cli_print(fsched_context *ctx, fs_text *t) {
  char *text = NULL;
  size_t length = 0;
  FS_TRY(fs_text_take(t, &text, &length));
  fs_status status = fs_file_write(ctx, "-", text, length);
  fsched_text_free(ctx, text, length);
  return status;
}

const char *fs_cli_with_suffix(fs_cli *cli, const char *path, const char *old, const char *suffix) {
  assert(path != NULL && suffix != NULL);
  const char *slash = strrchr(path, '/');
  const char *name = slash == NULL ? path : slash + 1;
  const char *dot = strrchr(name, '.');
  size_t n = strlen(path);
  if (dot != NULL && dot > name && (old == NULL || strcmp(dot, old) == 0)) {
    n = (size_t)(dot - path);
  }
  size_t suffix_length = strlen(suffix);
  char *out = fs_arena_alloc(&cli->arena, n + suffix_length + 1);
  if (out != NULL) {
    memcpy(out, path, n);
    memcpy(out + n, suffix, suffix_length + 1);
  }
  return out;
}

bool fs_cli_is_std(const char *path) {
  assert(path != NULL);
  return strcmp(path, "-") == 0;
}

const char *fs_cli_shown(const char *input) {
  assert(input != NULL);
  return fs_cli_is_std(input) ? "<stdin>" : input;
}

bool fs_cli_json(const fs_cli *cli) {
  const char *form = fs_args_last(&cli->args, FS_OPTION_FORMAT);
  return form != NULL && strcmp(form, "json") == 0;
}

bool fs_cli_diagnostics_json(const fs_cli *cli) {
  const char *form = fs_args_last(&cli->args, FS_OPTION_DIAGNOSTICS);
  return form != NULL && strcmp(form, "json") == 0;
}

void fs_cli_say(fs_text *t) {
  if (!t->failed && t->n > 0) {
    (void)!fwrite(t->at, 1, t->n, stderr);
  }
  fs_text_drop(t);
}

void fs_cli_put_wrote(const fs_cli *cli, fs_text *t, const char *path) {
  assert(path != NULL);
  if (fs_cli_is_std(path)) {
    return;
  }
  bool json = fs_cli_diagnostics_json(cli);
  fs_text_puts(t, json ? "{\"wrote\": " : "  wrote ");
  if (json) {
    fs_text_json_string(t, path);
  } else {
    fs_text_visible(t, path);
  }
  fs_text_puts(t, json ? "}\n" : "\n");
}

fs_status fs_cli_tick(fs_cli *cli, uint64_t *ps) {
  const char *text = fs_args_last(&cli->args, FS_OPTION_TICK);
  *ps = 0;
  return text == NULL || fs_parse_length(text, ps)
             ? FSCHED_OK
             : fs_usage(cli->ctx, "lengths are like 1us, 2.5ns or 0.714ns, of 1ps at least",
                        "--tick wants a length, not '%s'", text);
}

fs_status fs_cli_effort(fs_cli *cli, uint32_t *effort) {
  const char *value = fs_args_last(&cli->args, FS_OPTION_EFFORT);
  uint64_t level = 0;
  *effort = cli->file_effort;
  if (value == NULL) {
    return FSCHED_OK;
  }
  if (!fs_parse_u64(value, &level) || level > FSCHED_EFFORT_MOST) {
    return fs_usage(cli->ctx, NULL, "--effort wants a number from 0 to %d, not '%s'",
                    FSCHED_EFFORT_MOST, value);
  }
  *effort = FSCHED_EFFORT(level);
  return FSCHED_OK;
}

static fs_status read_overrides(fs_cli *cli, fsched_read_options *o) {
  uint64_t tick;
  FS_TRY(fs_cli_tick(cli, &tick)); /* checked, whether or not it is used */
  *o = (fsched_read_options){.size = sizeof *o,
                             .untrusted = fs_args_has(&cli->args, FS_OPTION_UNTRUSTED),
                             .targets = fs_args_last(&cli->args, FS_OPTION_TARGETS),
                             .unroll = fs_args_has(&cli->args, FS_OPTION_UNROLL)};
  FS_TRY(fs_cli_effort(cli, &o->effort));
  FS_TRY(fs_args_all(&cli->arena, &cli->args, FS_OPTION_SET_PARAM, &o->params, &o->n_params));
  FS_TRY(fs_args_all(&cli->arena, &cli->args, FS_OPTION_MEMORY, &o->memory_overrides,
                     &o->n_memory_overrides));
  return fs_args_all(&cli->arena, &cli->args, FS_OPTION_SET, &o->target_overrides,
                     &o->n_target_overrides);
}

/* Applies --profile; destroys a graph that cannot take it. */
static fs_status with_profile(fs_cli *cli, fsched_graph **graph) {
  fs_status status = fs_cli_apply_profile(cli, *graph);
  if (status != FSCHED_OK) {
    fsched_graph_destroy(*graph);
    *graph = NULL;
  }
  return status;
}

fs_status fs_cli_read_graph(fs_cli *cli, const char *path, fsched_graph **out) {
  assert(path != NULL);
  fsched_read_options o;
  FS_TRY(fs_cli_check_graph(cli, path));
  FS_TRY(fs_cli_check_profile(cli));
  FS_TRY(read_overrides(cli, &o));
  FS_TRY(fsched_graph_read(cli->ctx, path, &o, out));
  return with_profile(cli, out);
}

static fs_status parse_graph(fs_cli *cli, const char *name, const char *text, size_t length,
                             bool unplanned, uint32_t most_at_once, fsched_graph **out) {
  fsched_read_options o;
  FS_TRY(fs_cli_check_profile(cli));
  FS_TRY(read_overrides(cli, &o));
  o.unplanned = unplanned;
  o.most_at_once = most_at_once;
  FS_TRY(fsched_graph_parse(cli->ctx, name, text, length, &o, out));
  return with_profile(cli, out);
}

fs_status fs_cli_parse_graph(fs_cli *cli, const char *name, const char *text, size_t length,
                             fsched_graph **out) {
  assert(name != NULL && (text != NULL || length == 0));
  return parse_graph(cli, name, text, length, false, 0, out);
}

fs_status fs_cli_parse_unplanned(fs_cli *cli, const char *name, const char *text, size_t length,
                                 uint32_t most_at_once, fsched_graph **out) {
  assert(name != NULL && (text != NULL || length == 0));
  return parse_graph(cli, name, text, length, true, most_at_once, out);
}

fs_status fs_cli_create_device(fs_cli *cli, const fsched_device_options *options,
                               fsched_device **out) {
  sigset_t all, old;
  sigfillset(&all);
  bool held = pthread_sigmask(SIG_BLOCK, &all, &old) == 0;
  fs_status status = fsched_device_create(cli->ctx, options, out);
  if (held) {
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
  }
  return status;
}

static fs_status write_of(fs_cli *cli, const fsched_program *program, fs_text_of_program make,
                          const char *output) {
  char *text = NULL;
  size_t length = 0;
  FS_TRY(make(cli, program, &text, &length));
  fs_status status = fs_file_write(cli->ctx, output, text, length);
  fsched_text_free(cli->ctx, text, length);
  return status;
}

fs_status fs_cli_write_of_program(fs_cli *cli, fs_text_of_program make) {
  assert(make != NULL && cli->args.n_operands > 0);
  fsched_program *program = NULL;
  const char *input = cli->args.operand[0];
  const char *output = fs_args_last(&cli->args, FS_OPTION_OUTPUT);
  output = output == NULL ? "-" : output;
  FS_TRY(fs_cli_check_input(cli, input, &output, 1));
  FS_TRY(fs_cli_check_results(cli, &output, 1));
  FS_TRY(fs_cli_open_program(cli, input, &program));
  fs_status status = write_of(cli, program, make, output);
  fsched_program_destroy(program);
  return status;
}
