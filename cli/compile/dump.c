/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/compile/dump.h"

#include <stdio.h>

#include "base/files/file.h"
#include "base/text/columns.h"
#include "cli/common/progress.h"

static uint32_t find_pass(const char *name) {
  for (uint32_t i = 0; i < fsched_pass_count(); i++) {
    if (strcmp(name, fsched_pass_name(i)) == 0) {
      return i;
    }
  }
  return FS_NONE;
}

static fs_status no_pass(fs_cli *cli, const char *name) {
  fs_text all;
  fs_text_init(&all, cli->ctx);
  fs_text_puts(&all, "all");
  for (uint32_t i = 0; i < fsched_pass_count(); i++) {
    fs_text_printf(&all, "|%s", fsched_pass_name(i));
  }
  fs_text_add(&all, "", 1);
  const char *hint = all.failed ? NULL : fs_nearest_hint(&cli->arena, all.at, name);
  fs_text_drop(&all);
  return fs_usage(cli->ctx, hint == NULL ? "fsched compile --print-passes lists them" : hint,
                  "there is no pass '%s' to dump after", name);
}

static fs_status parse_one(fs_cli *cli, const char *value, fs_dump *out) {
  size_t n = strcspn(value, "=");
  const char *name = fs_arena_strndup(&cli->arena, value, n);
  if (name == NULL) {
    return FSCHED_SYSTEM;
  }
  uint32_t pass = find_pass(name);
  bool all = strcmp(name, "all") == 0;
  if (pass == FS_NONE && !all) {
    return no_pass(cli, name);
  }
  if (!all && strcmp(name, "verify") == 0 && !fs_args_has(&cli->args, FS_OPTION_CHECK_RESULT)) {
    return fs_usage(cli->ctx, "add --verify", "the pass 'verify' does not run without --verify");
  }
  out->passes = all ? ((uint64_t)1 << fsched_pass_count()) - 1 : (uint64_t)1 << pass;
  out->path = value[n] == '=' ? value + n + 1 : NULL;
  if (out->path != NULL && *out->path == '\0') {
    return fs_usage(cli->ctx, NULL, "--dump-after %s names no file", value);
  }
  if (out->path == NULL && fs_cli_diagnostics_json(cli)) {
    return fs_usage(cli->ctx, "name a file: --dump-after PASS=FILE",
                    "a dump and diagnostics in JSON would both be written to standard error");
  }
  fs_text_init(&out->text, cli->ctx);
  return FSCHED_OK;
}

fs_status fs_dumps_parse(fs_cli *cli, fs_dumps *out) {
  const char *const *values;
  size_t n;
  *out = (fs_dumps){.cli = cli};
  FS_TRY(fs_args_all(&cli->arena, &cli->args, FS_OPTION_DUMP_AFTER, &values, &n));
  FS_TRY(fs_new_zero(&cli->arena, &out->at, n));
  for (; out->n < n; out->n++) {
    FS_TRY(parse_one(cli, values[out->n], &out->at[out->n]));
  }
  return FSCHED_OK;
}

static void put_dump(const fs_dumps *dumps, fs_text *t, uint32_t pass, const char *text,
                     size_t length) {
  fs_text_printf(t, "%s== %s of ", t->n == 0 ? "" : "\n", fsched_pass_name(pass));
  fs_text_visible(t, dumps->graph);
  fs_text_puts(t, "\n");
  fs_text_add(t, text, length);
}

static void show(const fs_dumps *dumps, uint32_t pass, const char *text, size_t length) {
  fs_text t;
  fs_text_init(&t, dumps->cli->ctx);
  put_dump(dumps, &t, pass, text, length);
  fs_text_puts(&t, "\n");
  fs_cli_progress_clear(dumps->cli);
  if (!t.failed) {
    (void)!fwrite(t.at, 1, t.n, stderr);
  }
  fs_text_drop(&t);
}

static void take_dump(void *user, uint32_t pass, const char *text, size_t length) {
  fs_dumps *dumps = user;
  bool shown = false;
  for (size_t i = 0; i < dumps->n; i++) {
    fs_dump *d = &dumps->at[i];
    if ((d->passes >> pass & 1) != 0 && d->path != NULL) {
      put_dump(dumps, &d->text, pass, text, length);
    } else if ((d->passes >> pass & 1) != 0 && !shown) {
      show(dumps, pass, text, length);
      shown = true;
    }
  }
}

void fs_dumps_ask(fs_dumps *dumps, fsched_compile_options *o) {
  for (size_t i = 0; i < dumps->n; i++) {
    o->dump_after |= dumps->at[i].passes;
  }
  o->dump = take_dump;
  o->dump_user = dumps;
}

fs_status fs_dumps_write(fs_dumps *dumps) {
  for (size_t i = 0; i < dumps->n; i++) {
    fs_dump *d = &dumps->at[i];
    if (d->text.failed) {
      return FSCHED_SYSTEM;
    }
    if (d->path != NULL) {
      FS_TRY(fs_file_write(dumps->cli->ctx, d->path, d->text.at, d->text.n));
    }
  }
  return FSCHED_OK;
}

void fs_dumps_drop(fs_dumps *dumps) {
  for (size_t i = 0; i < dumps->n; i++) {
    fs_text_drop(&dumps->at[i].text);
  }
}

fs_status fs_cli_print_passes(fs_cli *cli) {
  fs_text t;
  fs_text_init(&t, cli->ctx);
  fs_columns c;
  fs_columns_init(&c, cli->ctx, 2);
  for (uint32_t i = 0; i < fsched_pass_count(); i++) {
    fs_text_puts(&c.text, fsched_pass_name(i));
    fs_columns_cell(&c, FS_LEFT);
    fs_text_puts(&c.text, fsched_pass_summary(i));
    fs_columns_cell(&c, FS_LEFT);
  }
  fs_status status = fs_columns_finish(&c, "", &t);
  if (status != FSCHED_OK) {
    fs_text_drop(&t);
    return status;
  }
  return fs_cli_print(cli->ctx, &t);
}
