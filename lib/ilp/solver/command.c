/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a command into words as a shell does, without the expansions of a shell. */
#include <stdlib.h>

#include "base/files/beside.h"
#include "ilp/solver/solver.h"

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

/* Copies the word at `s` to *to and ends it with NUL; returns the text behind it, or NULL if quotes
 * are not closed. */
static const char *take_word(const char *s, char **to) {
  char quote = '\0';
  for (; *s != '\0' && (quote != '\0' || !is_blank(*s)); s++) {
    if (*s == quote) {
      quote = '\0';
    } else if (quote == '\0' && (*s == '\'' || *s == '"')) {
      quote = *s;
    } else if (*s == '\\' && quote != '\'' && s[1] != '\0') {
      *(*to)++ = *++s;
    } else {
      *(*to)++ = *s;
    }
  }
  *(*to)++ = '\0';
  return quote == '\0' ? s : NULL;
}

fs_status fs_solver_words(fs_arena *arena, const char *command, size_t more, char ***words,
                          size_t *n_words) {
  assert(command != NULL);
  size_t length = strlen(command);
  char *text;
  *n_words = 0;
  FS_TRY(fs_new(arena, &text, length + 2));
  FS_TRY(fs_new_zero(arena, words, length / 2 + 2 + more));
  size_t n = 0;
  for (const char *s = command;; n++) {
    while (is_blank(*s)) {
      s++;
    }
    if (*s == '\0') {
      break;
    }
    (*words)[n] = text;
    s = take_word(s, &text);
    if (s == NULL) {
      return FSCHED_OK;
    }
  }
  *n_words = n;
  return FSCHED_OK;
}

const char *fs_solver_default(fs_arena *arena) {
  static const char name[] = "fsched-glpk";
  char *path = fs_arena_alloc(arena, FS_BESIDE_PATH);
  char *quoted = fs_arena_alloc(arena, (size_t)2 * FS_BESIDE_PATH);
  if (path == NULL || quoted == NULL) {
    return NULL;
  }
  if (!fs_file_beside(name, path)) {
    return name;
  }
  char *to = quoted;
  for (const char *s = path; *s != '\0'; s++) {
    if (is_blank(*s) || *s == '\\' || *s == '\'' || *s == '"') {
      *to++ = '\\';
    }
    *to++ = *s;
  }
  *to = '\0';
  return quoted;
}
