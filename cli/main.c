/* SPDX-License-Identifier: Apache-2.0 */
/* The program fsched: parses the command line, runs the command, prints the reports. */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text/diag_format.h"
#include "cli/common/cli.h"
#include "cli/common/progress.h"
#include "cli/common/warnings.h"

typedef fs_status (*fs_cmd_run)(fs_cli *cli);
static const fs_cmd_run commands[FS_CMD_COUNT] = {
    [FS_CMD_COMPILE] = fs_cli_compile, [FS_CMD_RUN] = fs_cli_run,
    [FS_CMD_VERIFY] = fs_cli_verify,   [FS_CMD_DIS] = fs_cli_dis,
    [FS_CMD_ASM] = fs_cli_asm,         [FS_CMD_DOT] = fs_cli_dot,
    [FS_CMD_EXPLAIN] = fs_cli_explain, [FS_CMD_CALIBRATE] = fs_cli_calibrate,
    [FS_CMD_IMPORT] = fs_cli_import,   [FS_CMD_EXPORT] = fs_cli_export,
    [FS_CMD_HELP] = fs_cli_help,
};

/* Prints what -h or --version in place of a command asks for. */
static fs_status print_about(fsched_context *ctx, bool version) {
  fs_text t;
  fs_text_init(&t, ctx);
  if (version) {
    fs_version_text(&t);
  } else {
    fs_help_text(&t, FS_CMD_COUNT);
  }
  return fs_cli_print(ctx, &t);
}

/* Reads -q and -v, of which the last one counts. */
static void read_loudness(fs_cli *cli) {
  for (uint32_t i = 0; i < cli->args.n_given; i++) {
    fs_option o = cli->args.given[i].option;
    if (o == FS_OPTION_QUIET || o == FS_OPTION_VERBOSE) {
      cli->quiet = o == FS_OPTION_QUIET;
      cli->verbose = o == FS_OPTION_VERBOSE;
    }
  }
}

/* Answers a command line without a command with the help of the program, on standard error. */
static fs_status no_command(fsched_context *ctx) {
  fs_text t;
  fs_text_init(&t, ctx);
  fs_help_text(&t, FS_CMD_COUNT);
  if (!t.failed) {
    (void)!fwrite(t.at, 1, t.n, stderr);
  }
  fs_text_drop(&t);
  return FSCHED_USAGE;
}

/* Reports an option in place of a command. */
static fs_status no_option(fs_cli *cli, const char *word) {
  const char *hint = fs_nearest_hint(&cli->arena, "--version|--help", word);
  return fs_usage(cli->ctx, hint == NULL ? "options follow the command" : hint,
                  "a command must come before %s", word);
}

static fs_status run_command(fs_cli *cli, int argc, char **argv) {
  if (argc < 2) {
    return no_command(cli->ctx);
  }
  const char *word = argv[1];
  if (strcmp(word, "--version") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
    return print_about(cli->ctx, strcmp(word, "--version") == 0);
  }
  if (word[0] == '-' && word[1] != '\0') {
    return no_option(cli, word);
  }
  fs_cmd command = fs_args_command(cli->ctx, &cli->arena, word);
  if (command == FS_CMD_COUNT) {
    return FSCHED_USAGE;
  }
  FS_TRY(fs_args_parse(cli->ctx, &cli->arena, command, argc - 2, argv + 2, &cli->args));
  cli->parsed = true;
  read_loudness(cli);
  if (fs_args_has(&cli->args, FS_OPTION_HELP)) {
    fs_text t;
    fs_text_init(&t, cli->ctx);
    fs_help_text(&t, command);
    return fs_cli_print(cli->ctx, &t);
  }
  fs_context_set_durable(cli->ctx, !fs_args_has(&cli->args, FS_OPTION_NO_SYNC));
  FS_TRY(fs_cli_warnings(cli));
  FS_TRY(fs_cli_progress_start(cli));
  fs_status status = commands[command](cli);
  fs_cli_progress_clear(cli);
  return status;
}

/* Ends the process without exit, whose handlers may destroy what a kernel still uses that was given
 * up, or wait for that kernel. */
static void leave_behind(fs_status status) {
  bool written = fflush(stdout) == 0;
  _exit(written || status != FSCHED_OK ? (int)status : FSCHED_SYSTEM);
}

/* Large blocks go back to the system when they are freed.  Left to itself, the C library keeps up
 * to 32 MiB of each from the first that was freed on, so that what one pass has freed stands beside
 * what the next one takes. */
static void return_large_blocks(void) {
#ifdef M_MMAP_THRESHOLD
  enum { LARGE = 1 << 20 };
  (void)mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
}

int main(int argc, char **argv) {
  return_large_blocks();
  (void)signal(SIGPIPE, SIG_IGN); /* a closed pipe becomes a failed write, with its own status */
  fs_cli cli = {0};
  if (fsched_context_create(NULL, &cli.ctx) != FSCHED_OK) {
    fprintf(stderr, "fsched: error: out of memory\n");
    return FSCHED_SYSTEM;
  }
  fs_arena_init(&cli.arena, cli.ctx);
  fs_status status = run_command(&cli, argc, argv);
  if (!cli.parsed && argc > 1 &&
      fs_args_forms(&cli.arena, argc - 1, argv + 1, &cli.args) != FSCHED_OK) {
    cli.args = (fs_args){0}; /* out of memory: the report is text without colours */
  }
  fs_cli_reports(&cli);
  if (cli.lost) {
    leave_behind(status);
  }
  fs_arena_release(&cli.arena);
  fsched_context_destroy(cli.ctx);
  return (int)status;
}
