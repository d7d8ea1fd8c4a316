/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: programs, which are compiled command streams.
 *
 * A program is immutable and may be shared by threads once it is made.  Its binary form is
 * versioned, checksummed and little-endian, and is used in place; fsched_program_load,
 * fsched_program_open and fsched_program_map check all of it (O(size)) before any part is used. */
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
/** Uses `bytes` in place, without a copy: they must stay valid and unchanged for as long as the
 *  program exists.  For streams in C source (fsched_program_c) and in memory that the caller has
 *  mapped.  The check is that of fsched_program_load.  Errors: those of fsched_program_load;
 *  FSCHED_USAGE when `bytes` is not aligned to 8. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_borrow(fsched_context *ctx,
                                                               const char *name, const void *bytes,
                                                               size_t size, fsched_program **out);
/** Reads the file ("-": standard input) into memory of the program's own: later changes of the file
 *  have no effect.  Errors: those of fsched_program_load; FSCHED_SYSTEM, also when the file cannot
 *  be read. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_open(fsched_context *ctx, const char *path,
                                                             fsched_program **out);
/** Maps the file instead of reading it, which saves copying a large file, and memory where several
 *  processes map it.  The file must not change for as long as the program exists: a write may
 *  change the program after the check, and the process gets SIGBUS if the file is truncated.
 *  (Replacing the file under its name, as fsched replaces its results, is safe: the mapping keeps
 *  the old file.)  A file that cannot be mapped (a pipe, "-") is read.  Errors: those of
 *  fsched_program_open. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_map(fsched_context *ctx, const char *path,
                                                            fsched_program **out);
/** NULL is ignored. */
FSCHED_API void fsched_program_destroy(fsched_program *p);
/** The binary form; valid for as long as the program exists. */
FSCHED_API const void *fsched_program_bytes(const fsched_program *p, size_t *size);

/** A parameter that gives loops their trips. */
typedef struct fsched_param_range {
  const char *name;  /* not empty, and of no other of the program's; lives as long as that */
  uint64_t min, max; /* iterations that may be given, at most FSCHED_MAX_TIME (graph.h) */
} fsched_param_range;

/** The parameters to which an invocation may give values (fsched_trips in exec.h): their number,
 *  and each by index from 0, in the order in which the graph's loops name them first; for an index
 *  that is not below that number the name is NULL, and the range 0 to 0.  A parameter of several
 *  loops has the range that all of them allow.  One that the graph has a value for
 *  (fsched_builder_param, --set-param) is not among them; one whose loops are not in the program,
 *  as they hold no op or never run, is.  O(1). */
FSCHED_API uint32_t fsched_program_params(const fsched_program *p);
FSCHED_API fsched_param_range fsched_program_param(const fsched_program *p, uint32_t index);

/** The program as text for people, and as JSON from which fsched_program_assemble makes the same
 *  bytes again (fsched-stream(5)).  The texts are released with fsched_text_free.  `name` is used
 * in diagnostics.  Errors: FSCHED_BAD_INPUT for JSON that is malformed, FSCHED_SYSTEM for memory.
 */
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
  const char *symbol; /* the C name of the bytes; NULL: the program's name and "_program" */
} fsched_c_options;

/** The program as C source and header.  The source needs no other file, is C99 and C++, and defines
 *    const struct SYMBOL_bytes SYMBOL;    the bytes, aligned for fsched_program_borrow
 *    const size_t SYMBOL_size;
 *  which the header declares.  `options` may be NULL, and so may `source` or `header`, with its
 *  length, when it is not wanted.  The same program and symbol give the same texts; they are
 *  released with fsched_text_free.
 *  Errors: FSCHED_USAGE for a symbol that C or C++ does not allow, FSCHED_SYSTEM for memory. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_c(fsched_context *ctx,
                                                          const fsched_program *p,
                                                          const fsched_c_options *options,
                                                          char **source, size_t *source_length,
                                                          char **header, size_t *header_length);

typedef struct fsched_trace_options {
  size_t size;
  uint64_t tick_ns; /* length of a tick in the trace; 0: as the time unit says (ns, us, ms, s), else
                       1000.  Divided by 10 until the plan is at most 2^53 ns long. */
  uint64_t tick_ps; /* the same in picoseconds, in place of tick_ns; at most 2^40 ns; 0: tick_ns */
} fsched_trace_options;

/** The planned times as a trace for Perfetto (JSON): a track per queue with a slice per command,
 *  arrows for waits for other queues, a counter of the bytes in use per bounded memory.  In the
 * slice of a loop lie the instances of its first and last steps and of two periods in the middle,
 * as "op[i][j]"; the others are counted.  `options` may be NULL.  The text is released with
 * fsched_text_free. */
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
  int all; /* text: shows lists in full; without it only the first 20 entries of each */
  const struct fsched_graph *graph; /* the stream's graph, whose given starts are then named; NULL:
                                       not known, as the stream does not tell them */
} fsched_explain_options;

/** Explains commands: what each waits for and why; which orderings need no wait, and what implies
 *  them; the chain of waits through which each entry of its frontier was learnt; and the chain of
 *  commands back to time 0 that explains its start.  A name is an op's, QUEUE:EPOCH, or "read
 *  BUFFER" or "write BUFFER" for copies; without names the program as a whole is explained.
 *  `options` may be NULL.  The program should be one that fsched_verify_program accepts; for other
 *  programs the text may be wrong, and says so where an ordering is missing.  The text is released
 *  with fsched_text_free.
 *  Complexity: expected O(size of the program * log), plus O(commands + waits) for each command
 *  explained.
 *  Errors: FSCHED_USAGE for unknown names, each of which is reported, and bad options, FSCHED_WRONG
 *  for a program that deadlocks, or whose ops or given starts are not the graph's, FSCHED_SYSTEM
 * for memory. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_program_explain(
    fsched_context *ctx, const fsched_program *p, const fsched_explain_options *options,
    const char *const *names, size_t n, char **text, size_t *length);

#ifdef __cplusplus
}
#endif
#endif
