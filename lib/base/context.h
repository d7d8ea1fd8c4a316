/* SPDX-License-Identifier: Apache-2.0 */
/* The context: allocator and diagnostics.  Codes live in diag.def (X-macro FS_DIAG(id, "code",
 * "what it means")). */
#ifndef FS_CONTEXT_H
#define FS_CONTEXT_H

#include <stdarg.h>

#include "base/base.h"

typedef enum fs_diag_code {
#define FS_DIAG(id, code, summary) FS_DIAG_##id,
#include "base/diag.def"
#undef FS_DIAG
  FS_DIAG_COUNT
} fs_diag_code;

/* A position in the user's text.  With file FS_NONE there is no position. */
typedef struct fs_pos {
  uint32_t file;                 /* from fs_context_add_file */
  uint32_t line, column, length; /* from 1; bytes */
} fs_pos;
#define FS_NOWHERE ((fs_pos){FS_NONE, 0, 0, 0})

/* Requires a code of diag.def. */
const char *fs_diag_code_name(fs_diag_code code);

/* Registers a source text, of which diagnostics may show lines; it is copied.  Requires a name, and
 * a text unless `length` is 0. */
fs_status fs_context_add_file(fsched_context *ctx, const char *name, const char *text,
                              size_t length, uint32_t *id) FS_MUST_USE;

/* The same with a text from fs_realloc, of length + 1 bytes, which the context owns from now on,
 * whatever the result.  Requires a name and a text. */
fs_status fs_context_take_file(fsched_context *ctx, const char *name, char *text, size_t length,
                               uint32_t *id) FS_MUST_USE;

/* Whether the contents of files registered from now on are secret from the reader of diagnostics,
 * which then tell only the kind and the position of faults. */
void fs_context_hide_files(fsched_context *ctx, bool hide);

/* No message shows this word, which comes from such a file: "*" stands for it, and hints that have
 * it are left out.  It holds for as long as the context.  Requires a word without NUL inside. */
fs_status fs_context_hide_word(fsched_context *ctx, const char *word, size_t length) FS_MUST_USE;

/* Reports a diagnostic.  `hint` may be NULL.  Requires a code of diag.def and a format.  Errors
 * beyond the limit are counted, not stored; notes and warnings are stored while there is room.  The
 * level of a warning's class applies (warnings.h). */
void fs_report(fsched_context *ctx, fsched_severity severity, fs_diag_code code, fs_pos pos,
               const char *hint, const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Where diagnostics are: those that are reported behind a mark can be taken back.  Requires, for
 * that, a mark set since they were last cleared.  What an exhausted memory has reported stays. */
typedef struct fs_diag_mark {
  size_t n;
  uint32_t errors, warning_errors;
} fs_diag_mark;
fs_diag_mark fs_context_mark(const fsched_context *ctx);
void fs_context_rewind(fsched_context *ctx, fs_diag_mark mark);
/* Whether reports and progress are dropped, as those of an attempt are; returns whether they were
 * before. */
bool fs_context_mute(fsched_context *ctx, bool mute);
/* The number of further errors that will be stored; any beyond it are only counted. */
uint32_t fs_context_error_room(const fsched_context *ctx);
/* Sets the file that is being verified or replayed, which errors without a position name; NULL for
 * none. */
void fs_context_subject(fsched_context *ctx, const char *name);
/* Whether files that are written are flushed to the disk before they get their name (file.h); true
 * in a new context. */
void fs_context_set_durable(fsched_context *ctx, bool durable);
bool fs_context_durable(const fsched_context *ctx);
/* Has memory run out since the diagnostics were last cleared? */
bool fs_context_out_of_memory(const fsched_context *ctx);
/* Checks the size of a call's options, which must have at least the members of the first version.
 * Errors: FSCHED_USAGE, reported.  Requires a type's name and a least size above 0. */
fs_status fs_check_options(fsched_context *ctx, const char *type, size_t size,
                           size_t least) FS_MUST_USE;
/* The bytes of a struct up to and with a member. */
#define FS_SIZE_UP_TO(type, member) (offsetof(type, member) + sizeof(((type *)NULL)->member))

/* Sorts the diagnostics from index `first` on by position, files in the order in which they were
 * registered; diagnostics without a position come last.  The sort is stable.  Requires an index up
 * to the number of diagnostics. */
void fs_context_sort(fsched_context *ctx, uint32_t first);
/* fs_report of an error, then returns `status`. */
#define fs_fail(ctx, status, code, pos, hint, ...) \
  (fs_report((ctx), FSCHED_ERROR, (code), (pos), (hint), __VA_ARGS__), (status))

#endif
