/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the reports of the context on standard error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/diag_format.h"
#include "base/text/plural.h"
#include "cli/common/cli.h"

static bool wants_color(const fs_cli *cli) {
  const char *color = fs_args_last(&cli->args, FS_OPTION_COLOR);
  if (color != NULL && strcmp(color, "auto") != 0) {
    return strcmp(color, "always") == 0;
  }
  const char *term = getenv("TERM");
  const char *no_color = getenv("NO_COLOR");
  return isatty(STDERR_FILENO) && (no_color == NULL || *no_color == '\0') && term != NULL &&
         strcmp(term, "dumb") != 0;
}

/* With -q only errors are shown; notes are shown with -v only. */
static bool is_shown(const fs_cli *cli, const fsched_diag *d) {
  return d->severity == FSCHED_ERROR || (d->severity == FSCHED_WARNING && !cli->quiet) ||
         cli->verbose;
}

static void put_report(const fs_cli *cli, const fsched_diag *d, fs_text *t) {
  if (fs_cli_diagnostics_json(cli)) {
    fs_diag_format_json(d, t);
  } else {
    fs_diag_format(d, wants_color(cli), t);
  }
}

/* Says how many errors are not shown; the context stores a limited number and counts the others. */
static void put_rest(const fs_cli *cli, uint32_t n, fs_text *t) {
  char message[64];
  (void)snprintf(message, sizeof message, "%u more error%s not shown", n,
                 fs_plural(n, " is", "s are"));
  fsched_diag d = {
      .severity = FSCHED_NOTE, .code = fs_diag_code_name(FS_DIAG_MORE_ERRORS), .message = message};
  put_report(cli, &d, t);
}

void fs_cli_reports(fs_cli *cli) {
  fs_text t;
  fs_text_init(&t, cli->ctx);
  for (; cli->n_reported < fsched_diag_count(cli->ctx); cli->n_reported++) {
    const fsched_diag *d = fsched_diag_get(cli->ctx, cli->n_reported);
    cli->n_errors += d->severity == FSCHED_ERROR;
    if (is_shown(cli, d)) {
      put_report(cli, d, &t);
    }
  }
  if (fsched_diag_errors(cli->ctx) > cli->n_errors) {
    put_rest(cli, fsched_diag_errors(cli->ctx) - cli->n_errors, &t);
    cli->n_errors = fsched_diag_errors(cli->ctx);
  }
  if (t.failed) { /* out of memory for the text: at least report that */
    fputs(fs_cli_diagnostics_json(cli) ? "{\"severity\": \"error\", \"code\": \"out-of-memory\", "
                                         "\"message\": \"out of memory\"}\n"
                                       : "fsched: error: out of memory\n",
          stderr);
  } else if (t.n > 0) {
    (void)!fwrite(t.at, 1, t.n, stderr);
  }
  fs_text_drop(&t);
}

void fs_cli_refuted(fs_cli *cli, const char *name) {
  uint32_t n = fsched_diag_errors(cli->ctx);
  fs_cli_reports(cli); /* the violations come first */
  fs_text t;
  fs_text_init(&t, cli->ctx);
  if (!cli->quiet && fs_cli_diagnostics_json(cli)) {
    fs_text_puts(&t, "{\"summary\": \"verify\", \"file\": ");
    fs_text_json_string(&t, name);
    fs_text_printf(&t, ", \"ok\": false, \"violations\": %u}\n", n);
  } else if (!cli->quiet) {
    fs_text_printf(&t, "%s: refuted, %u violation%s\n", name, n, fs_plural_s(n));
  }
  fs_cli_say(&t);
}
