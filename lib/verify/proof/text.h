/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of the words of a proof: words with one space between them, in lines. */
#ifndef FS_VERIFY_PROOF_TEXT_H
#define FS_VERIFY_PROOF_TEXT_H

#include "base/context.h"

typedef struct fs_vtext {
  fsched_context *ctx;
  const char *name, *at; /* at: of the whole text */
  size_t length;         /* of the part that is read */
  size_t all;            /* of the whole text */
  size_t pos;            /* what is read next */
} fs_vtext;

/* A number that is no more than this can be added to one that is not, without an overflow. */
#define FS_VTEXT_MOST ((uint64_t)INT64_MAX - 1)

/* Reports a fault at a place, with its line and column; returns `status`.  Requires a place in the
 * text, or its end. */
fs_status fs_vtext_fault(fs_vtext *t, size_t place, fs_status status, fs_diag_code code,
                         const char *format, ...) __attribute__((format(printf, 5, 6))) FS_MUST_USE;
#define fs_vtext_syntax(t, place, ...) \
  fs_vtext_fault((t), (place), FSCHED_BAD_INPUT, FS_DIAG_PROOF_SYNTAX, __VA_ARGS__)
/* The form is right, and what it says is not. */
#define fs_vtext_wrong(t, place, ...) \
  fs_vtext_fault((t), (place), FSCHED_WRONG, FS_DIAG_VERIFY_PROOF, __VA_ARGS__)

/* The next byte; 0 at the end. */
static inline char fs_vtext_peek(const fs_vtext *t) {
  return t->pos < t->length ? t->at[t->pos] : '\0';
}
/* Takes a byte, if it is the next one. */
static inline bool fs_vtext_takes(fs_vtext *t, char c) {
  bool is = t->pos < t->length && t->at[t->pos] == c;
  t->pos += is;
  return is;
}
/* Takes a number of at most FS_VTEXT_MOST. */
fs_status fs_vtext_number(fs_vtext *t, const char *what, uint64_t *value) FS_MUST_USE;
/* Takes the words, if they are what comes next. */
bool fs_vtext_word(fs_vtext *t, const char *words);
/* Takes the end of a line. */
fs_status fs_vtext_line_end(fs_vtext *t) FS_MUST_USE;
/* Takes a space and the number behind it. */
static inline fs_status fs_vtext_next(fs_vtext *t, const char *what, uint64_t *value) {
  if (!fs_vtext_takes(t, ' ')) {
    return fs_vtext_syntax(t, t->pos, "here should be a space, and %s", what);
  }
  return fs_vtext_number(t, what, value);
}

#endif
