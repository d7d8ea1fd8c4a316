/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: programs, that is compiled command streams.
 *
 * A program is immutable and may be shared by threads once it is made.  Its binary form is
 * versioned, checksummed and little-endian, and is used in place; fsched_program_load,
 * fsched_program_open and fsched_program_map check it in full (O(size)) before anything of it is
 * used. */
#ifndef FSCHED_PROGRAM_H
#define FSCHED_PROGRAM_H

#include "fsched/fsched.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fsched_program fsched_program;

/** Copies `bytes`.  Errors: FSCHED_BAD_INPUT with a diagnostic for anything malformed. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_load(fsched_context *ctx, const char *name,
                                                             const void *bytes, size_t size,
                                                             fsched_program **out);
/** Uses `bytes` in place, without a copy: they stay valid and unchanged for as long as the program.
 *  For streams in C source (fsched_program_c) and in memory that the caller has mapped.  The check
 *  is that of fsched_program_load.  Errors: FSCHED_USAGE when `bytes` is not aligned to 8. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_borrow(fsched_context *ctx,
                                                               const char *name, const void *bytes,
                                                               size_t size, fsched_program **out);
/** Reads the file ("-": standard input) into memory of the program's own: what becomes of the file
 *  later does not matter.  Errors: those of fsched_program_load; FSCHED_SYSTEM, also for the file.
 */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_open(fsched_context *ctx, const char *path,
                                                             fsched_program **out);
/** Maps the file in place of reading it, which saves the copy of a large one, and its memory where
 *  several processes map it.  The file has to stay as it is for as long as the program: what is
 *  written to it may change the program after it was checked, and the process gets SIGBUS where the
 *  file was cut.  (A file that is replaced under its name, as fsched replaces its results, is
 *  another one; the mapped one stays.)  What cannot be mapped (a pipe, "-") is read.  Errors: those
 *  of fsched_program_open. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_map(fsched_context *ctx, const char *path,
                                                            fsched_program **out);
FSCHED_API void fsched_program_destroy(fsched_program *p);
/** The binary form; valid as long as the program. */
FSCHED_API const void *fsched_program_bytes(const fsched_program *p, size_t *size);

/** Disassembly and assembly; texts are released with fsched_text_free. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_text(fsched_context *ctx,
                                                             const fsched_program *p, char **text,
                                                             size_t *length);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_json(fsched_context *ctx,
                                                             const fsched_program *p, char **text,
                                                             size_t *length);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_assemble(fsched_context *ctx,
                                                                 const char *name, const char *text,
                                                                 size_t length,
                                                                 fsched_program **out);

typedef struct fsched_c_options {
  size_t size;
  const char *symbol; /* what the bytes are called; NULL: the program's name and "_program" */
} fsched_c_options;

/** The program as C source and header.  The source needs no other file, is C99 and C++, and defines
 *    const struct SYMBOL_bytes SYMBOL;    the bytes, aligned for fsched_program_borrow
 *    const size_t SYMBOL_size;
 *  which the header declares.  `options` may be NULL, and so may `source` or `header` (and then its
 *  length) where it is not wanted.  The same program and symbol give the same texts; they are
 *  released with fsched_text_free.
 *  Errors: FSCHED_USAGE for a symbol that C or C++ does not allow, FSCHED_SYSTEM for memory. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_c(fsched_context *ctx,
                                                          const fsched_program *p,
                                                          const fsched_c_options *options,
                                                          char **source, size_t *source_length,
                                                          char **header, size_t *header_length);

typedef struct fsched_trace_options {
  size_t size;
  uint64_t tick_ns; /* how long a tick is drawn; 0: as the time unit says (ns, us, ms, s), else
                       1000.  Shortened, by tenths, where the plan would exceed 2^53 ns. */
} fsched_trace_options;

/** The planned times as a trace for Perfetto (JSON): a track per queue with a slice per command,
 *  arrows for waits for other queues, a counter of the bytes in use per bounded memory.  `options`
 *  may be NULL.  The text is released with fsched_text_free. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_trace(fsched_context *ctx,
                                                              const fsched_program *p,
                                                              const fsched_trace_options *options,
                                                              char **text, size_t *length);

typedef enum fsched_explain_format {
  FSCHED_EXPLAIN_TEXT,
  FSCHED_EXPLAIN_JSON
} fsched_explain_format;

typedef struct fsched_explain_options {
  size_t size;
  fsched_explain_format format;
  int all; /* text: without it, of each list only the first 20 are shown */
} fsched_explain_options;

/** Explains commands: what each waits for and why, which orderings need no wait and what implies
 *  them, through which chain of waits each entry of its frontier was learnt, and why it starts when
 *  it does, as a chain back to 0.  A name is an op's, QUEUE:EPOCH, or "read BUFFER" or "write
 *  BUFFER" for copies; without names the program as a whole is explained.  `options` may be NULL.
 *  The program should be one that fsched_verify_program accepts; of others the text may be wrong,
 *  and says so where an ordering is missing.  The text is released with fsched_text_free.
 *  Complexity: expected O(size of the program * log), and O(commands + waits) more per command.
 *  Errors: FSCHED_USAGE for unknown names, all reported, and bad options, FSCHED_WRONG for a
 *  program that deadlocks, FSCHED_SYSTEM for memory. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_explain(
    fsched_context *ctx, const fsched_program *p, const fsched_explain_options *options,
    const char *const *names, size_t n, char **text, size_t *length);

#ifdef __cplusplus
}
#endif
#endif
