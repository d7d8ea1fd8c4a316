/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of help and version.  The help of a command is, word for word, the section OPTIONS of its
 * page in the manual: both are made from one table. */
#include <stdlib.h>
#include <yaml.h>

#include "cli/commands/helpers.h"
#include "cli/common/describe.h"
#include "exec/host/backends.h"
#include "fsched/exec.h"

enum { WIDTH = 80, INDENT = 4 };

/* Adds words, broken at WIDTH, with each line indented; the first line starts at `column`. */
static void wrap(fs_text *t, const char *words, size_t indent, size_t column) {
  while (*words != '\0') {
    size_t n = strcspn(words, " ");
    if (column > 0 && column + 1 + n > WIDTH) {
      fs_text_puts(t, "\n");
      column = 0;
    }
    if (column == 0) {
      fs_text_printf(t, "%*s", (int)indent, "");
      column = indent;
    } else {
      fs_text_puts(t, " ");
      column++;
    }
    fs_text_add(t, words, n);
    column += n;
    words += n + (words[n] == ' ');
  }
  fs_text_puts(t, "\n");
}

/* Writes a word that an argument may be, in a column of its own, and its meaning. */
static void word_text(fs_text *t, const fs_word *word, size_t indent, size_t width) {
  size_t column = indent + width + 2;
  fs_text_printf(t, "%*s%-*s ", (int)indent, "", (int)width, word->name);
  wrap(t, word->what, column, column - 1);
}

static void option_words(fs_text *t, fs_option option) {
  fs_word word;
  size_t width = 0;
  for (uint32_t k = 0; fs_option_word(option, k, &word); k++) {
    width = fs_max(width, strlen(word.name));
  }
  for (uint32_t k = 0; fs_option_word(option, k, &word); k++) {
    word_text(t, &word, INDENT + 2, width);
  }
}

static void command_words(fs_text *t, fs_cmd command) {
  fs_word word;
  size_t width = 0;
  for (uint32_t k = 0; fs_command_word(command, k, &word); k++) {
    width = fs_max(width, strlen(word.name));
    fs_text_puts(t, k == 0 ? "\nKIND is one of\n" : "");
  }
  for (uint32_t k = 0; fs_command_word(command, k, &word); k++) {
    word_text(t, &word, 2, width);
  }
}

static void option_text(fs_text *t, fs_option option) {
  const fs_option_info *o = &fs_option_table[option];
  const char *argument = o->argument == NULL ? "" : o->argument;
  const char *space = o->argument == NULL || argument[0] == '[' ? "" : " ";
  fs_text_puts(t, "\n  ");
  if (o->short_name != NULL) {
    fs_text_printf(t, "-%s", o->short_name);
  }
  if (o->long_name != NULL) {
    fs_text_printf(t, "%s--%s", o->short_name == NULL ? "" : ", ", o->long_name);
  }
  fs_text_printf(t, "%s%s\n", space, argument);
  wrap(t, o->help, INDENT, 0);
  option_words(t, option);
}

static void command_text(fs_text *t, fs_cmd command) {
  const fs_cmd_info *info = &fs_cmd_table[command];
  fs_text_printf(t, "usage: fsched %s [OPTION...]%s%s\n\n", info->name,
                 *info->operands == '\0' ? "" : " ", info->operands);
  fs_describe_command(t, command);
  fs_text_puts(t, "\n");
  command_words(t, command);
  for (int o = 0; o < FS_OPTION_COUNT; o++) {
    if (fs_option_is_on((fs_option)o, command)) {
      option_text(t, (fs_option)o);
    }
  }
}

void fs_help_text(fs_text *t, fs_cmd command) {
  assert(command <= FS_CMD_COUNT);
  if (command != FS_CMD_COUNT) {
    command_text(t, command);
    return;
  }
  fs_text_puts(t,
               "usage: fsched COMMAND [OPTION...] ...\n\n"
               "A static schedule compiler for graphs of operations.\n\nCommands:\n");
  for (int c = 0; c < FS_CMD_COUNT; c++) {
    fs_text_printf(t, "  %-9s %s\n", fs_cmd_table[c].name, fs_cmd_table[c].summary);
  }
  fs_text_puts(t,
               "\nfsched help COMMAND explains its options; fsched --version shows versions.\n"
               "\"-\" is standard input or output. Exit status: 0 done, 1 bad input, 2 bad\n"
               "command line, 3 infeasible, 4 refuted, 5 the machine failed, 6 replay failed.\n");
}

/* Whether this machine has such a device; tried in a separate context, whose reports are
 * dropped. */
static bool can_use(const char *kind) {
  fsched_context *ctx;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    return false;
  }
  fsched_device_options o = {
      .size = sizeof o, .kind = kind, .driver = getenv("FSCHED_CUDA_DRIVER")};
  fsched_device *device;
  bool can = fsched_device_create(ctx, &o, &device) == FSCHED_OK;
  fsched_device_release(device);
  fsched_context_destroy(ctx);
  return can;
}

void fs_version_text(fs_text *t) {
  fs_text_printf(t, "fsched %s\nlibyaml %s\nlibcgraph %s\nback ends:", fsched_version(),
                 yaml_get_version_string(), FS_CGRAPH_VERSION);
  for (size_t i = 0; i < FS_N_BACKENDS; i++) {
    if (can_use(fs_backend_kinds[i].name)) {
      fs_text_printf(t, "%s %s", i == 0 ? "" : ",", fs_backend_kinds[i].name);
    }
  }
  fs_text_puts(t, "\nhelpers: ");
  fs_helpers_version(t);
  fs_text_puts(t, "\n");
}

fs_status fs_cli_help(fs_cli *cli) {
  fs_cmd about = FS_CMD_COUNT;
  if (cli->args.n_operands == 1) {
    about = fs_args_command(cli->ctx, &cli->arena, cli->args.operand[0]);
    if (about == FS_CMD_COUNT) {
      return FSCHED_USAGE;
    }
  }
  fs_text t;
  fs_text_init(&t, cli->ctx);
  fs_help_text(&t, about);
  return fs_cli_print(cli->ctx, &t);
}
