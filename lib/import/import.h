/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of other tools' formats share.
 *
 * A reader walks over the text once and writes the graph file.  Memory is sized by what the text
 * holds, never by the numbers that it claims.  A fault is reported where it stands and makes the
 * import fail; the reader goes on as long as the rest can be understood, so that one import reports
 * several faults. */
#ifndef FS_IMPORT_H
#define FS_IMPORT_H

#include "base/context.h"
#include "base/mem.h"
#include "fsched/import.h"

typedef struct fs_import {
  fsched_context *ctx;
  fs_arena arena; /* scratch of the import */
  fsched_format format;
  fsched_import_options options;
  const char *name, *text;
  size_t length;
  uint32_t file;
  fs_status status; /* the status that the faults so far lead to */
  fs_text out;
} fs_import;

/* Bytes [at, end) of the text. */
typedef struct fs_text_span {
  size_t at, end;
} fs_text_span;
/* Requires a part of a text. */
static inline bool fs_span_empty(fs_text_span s) {
  assert(s.at <= s.end);
  return s.at == s.end;
}

/* What a number is, for messages: "the duration of job 7"; with `of` NULL only the first part is
 * shown. */
typedef struct fs_wanted {
  const char *what, *of;
  uint64_t number;
} fs_wanted;

/* ---- reader.c */

/* Registers the text; one that is not UTF-8, holds a zero byte or has no words is reported,
 * FSCHED_BAD_INPUT.  Requires a name, and a text unless it has no bytes. */
fs_status fs_import_begin(fs_import *in) FS_MUST_USE;
/* The whole text, less a byte order mark. */
fs_text_span fs_import_all(const fs_import *in);
/* Takes the next line off `rest`, without its line end; false when no line is left.  Requires a
 * part of the text. */
bool fs_import_line(const fs_import *in, fs_text_span *rest, fs_text_span *line);
/* Takes off the next word between blanks and returns it; when no word is left, returns an empty
 * span behind the last word.  Requires a part of the text. */
fs_text_span fs_import_word(const fs_import *in, fs_text_span *rest);
/* The word that begins at `at`.  Requires a place in the text. */
fs_text_span fs_import_word_at(const fs_import *in, size_t at);
/* Requires a part of the text. */
bool fs_import_is(const fs_import *in, fs_text_span word, const char *text);
/* Does the word consist of digits?  *value is UINT64_MAX for all larger numbers.  Requires a part
 * of the text. */
bool fs_import_digits(const fs_import *in, fs_text_span word, uint64_t *value);
/* The word as a number in [least, most]; else reports it and returns false.  Requires least <=
 * most. */
bool fs_import_number(fs_import *in, fs_text_span word, fs_wanted wanted, uint64_t least,
                      uint64_t most, uint64_t *value);
/* Takes the next word off and reads it as fs_import_number does.  Requires least <= most. */
bool fs_import_next(fs_import *in, fs_text_span *rest, fs_wanted wanted, uint64_t least,
                    uint64_t most, uint64_t *value);
/* The number of the line on which a byte stands, from 1.  Requires a place in the text. */
uint32_t fs_import_line_of(const fs_import *in, size_t at);

/* Reports a fault; when there are several, FSCHED_BAD_INPUT prevails over FSCHED_INFEASIBLE.  An
 * empty span stands behind the last word.  Requires a status that says that the import fails. */
void fs_import_fault(fs_import *in, fs_status status, fs_diag_code code, fs_text_span at,
                     const char *hint, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
#define fs_import_syntax(in, at, hint, ...) \
  fs_import_fault((in), FSCHED_BAD_INPUT, FS_DIAG_IMPORT_SYNTAX, (at), (hint), __VA_ARGS__)
#define fs_import_value(in, at, hint, ...) \
  fs_import_fault((in), FSCHED_BAD_INPUT, FS_DIAG_IMPORT_VALUE, (at), (hint), __VA_ARGS__)
#define fs_import_reference(in, at, hint, ...) \
  fs_import_fault((in), FSCHED_BAD_INPUT, FS_DIAG_IMPORT_REFERENCE, (at), (hint), __VA_ARGS__)
#define fs_import_infeasible(in, at, hint, ...) \
  fs_import_fault((in), FSCHED_INFEASIBLE, FS_DIAG_IMPORT_VALUE, (at), (hint), __VA_ARGS__)

/* A part of the text as messages show it: "%.*s" of fs_import_shown and fs_import_at, at most
 * FS_SHOWN bytes. */
enum { FS_SHOWN = 40 };
/* Requires a part of the text. */
int fs_import_shown(const fs_import *in, fs_text_span s);
/* Requires a part of the text. */
static inline const char *fs_import_at(const fs_import *in, fs_text_span s) {
  assert(s.at <= s.end && s.end <= in->length);
  return in->text + s.at;
}

/* ---- writer.c */

/* "fsched: 1" and the name, after the comments that the reader has written. */
void fs_import_head(fs_import *in);
/* Adds a name as YAML: plain where YAML allows it, else in quotes. */
void fs_import_name(fs_text *t, const char *name);
/* Adds a number and a noun: "1 job", "3 jobs". */
void fs_import_count(fs_text *t, uint64_t n, const char *what, const char *many);

/* ---- readers: each writes the graph file to in->out, unless in->status says that it failed.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_import_patterson(fs_import *in) FS_MUST_USE;
fs_status fs_import_psplib(fs_import *in) FS_MUST_USE;
fs_status fs_import_strip(fs_import *in) FS_MUST_USE;
fs_status fs_import_jobshop(fs_import *in) FS_MUST_USE;
fs_status fs_import_memory(fs_import *in) FS_MUST_USE;

#endif
