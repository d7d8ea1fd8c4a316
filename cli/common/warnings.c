/* SPDX-License-Identifier: Apache-2.0 */
/* The combined meaning of the -W options: an option about one class overrides options about all
 * classes, in any order; of options that contradict each other otherwise, the last one counts.
 *
 *   -Wrace -Wno-race                 the class is on, off
 *   -Wall -Wextra, -Wno-all ...      the classes of a group are on, off, unless named themselves
 *   -Werror -Wno-error               warnings that are on are errors, are not
 *   -Werror=race -Wno-error=race     the same for one class; the first also switches it on
 *   -w                               all classes are off */
#include "cli/common/warnings.h"

#include <stdio.h>

enum { UNSAID, NO, YES };

typedef struct wishes {
  uint8_t *on, *error; /* per class: UNSAID, NO or YES */
  bool group[3];       /* per fsched_warning_group */
  bool all_errors;
} wishes;

static bool take_prefix(const char **word, const char *prefix) {
  size_t n = strlen(prefix);
  if (strncmp(*word, prefix, n) != 0) {
    return false;
  }
  *word += n;
  return true;
}

static uint32_t find_class(const char *name) {
  for (uint32_t i = 0; i < fsched_warning_count(); i++) {
    if (strcmp(name, fsched_warning_name(i)) == 0) {
      return i;
    }
  }
  return FS_NONE;
}

static fs_status no_class(fs_cli *cli, const char *name, bool groups) {
  fs_text all;
  fs_text_init(&all, cli->ctx);
  for (uint32_t i = 0; i < fsched_warning_count(); i++) {
    fs_text_printf(&all, "%s%s", i == 0 ? "" : "|", fsched_warning_name(i));
  }
  fs_text_puts(&all, groups ? "|all|extra|error" : "");
  fs_text_add(&all, "", 1);
  const char *hint = all.failed ? NULL : fs_nearest_hint(&cli->arena, all.at, name);
  fs_text_drop(&all);
  return fs_usage(cli->ctx, hint == NULL ? "fsched help compile lists them" : hint,
                  "there is no class of warnings '%s'", name);
}

/* Applies one -W option, given without the "W". */
static fs_status take_word(fs_cli *cli, wishes *w, const char *word) {
  uint8_t yes = take_prefix(&word, "no-") ? NO : YES;
  if (strcmp(word, "error") == 0) {
    w->all_errors = yes == YES;
  } else if (strcmp(word, "all") == 0) {
    w->group[FSCHED_WARNINGS_ALL] = yes == YES;
  } else if (strcmp(word, "extra") == 0) {
    w->group[FSCHED_WARNINGS_EXTRA] = yes == YES;
  } else {
    bool error = take_prefix(&word, "error=");
    uint32_t k = find_class(word);
    if (k == FS_NONE) {
      return no_class(cli, word, !error);
    }
    if (error) {
      w->error[k] = yes;
    }
    if (!error || yes == YES) {
      w->on[k] = yes;
    }
  }
  return FSCHED_OK;
}

static fsched_warning_level level_of(const wishes *w, uint32_t k) {
  bool on = w->on[k] == UNSAID ? w->group[fsched_warning_group_of(k)] : w->on[k] == YES;
  bool error = w->error[k] == UNSAID ? w->all_errors : w->error[k] == YES;
  return !on ? FSCHED_WARNING_OFF : error ? FSCHED_WARNING_AS_ERROR : FSCHED_WARNING_ON;
}

fs_status fs_cli_warnings(fs_cli *cli) {
  wishes w = {.group = {[FSCHED_WARNINGS_DEFAULT] = true}};
  const char *const *word;
  size_t n;
  FS_TRY(fs_args_all(&cli->arena, &cli->args, FS_OPTION_WARN, &word, &n));
  FS_TRY(fs_new_zero(&cli->arena, &w.on, fsched_warning_count()));
  FS_TRY(fs_new_zero(&cli->arena, &w.error, fsched_warning_count()));
  for (size_t i = 0; i < n; i++) {
    FS_TRY(take_word(cli, &w, word[i]));
  }
  bool none = fs_args_has(&cli->args, FS_OPTION_NO_WARNINGS);
  for (uint32_t k = 0; k < fsched_warning_count(); k++) {
    fsched_warning_level level = none ? FSCHED_WARNING_OFF : level_of(&w, k);
    FS_TRY(fsched_warning_set(cli->ctx, fsched_warning_name(k), level));
  }
  return FSCHED_OK;
}
