/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: common types of the public interface, the context, and diagnostics.
 *
 * Units: times are ticks (uint64_t), sizes and addresses are bytes (uint64_t), everything starts
 * at 0 and every interval is half-open [begin, end).
 * Threads: a context, and every object made from it, is used by one thread at a time; different
 * contexts are independent.  Programs (program.h) are immutable and may be shared.
 * Errors: every function that can fail returns fsched_status.  The place that finds a fault in the
 * user's input reports it once as a diagnostic to the context; callers read it with
 * fsched_diag_get.
 * Outputs: a function that makes an object (a context, builder, graph, schedule or program) stores
 * NULL when it fails; its other outputs are then unchanged, unless its comment says otherwise.
 * Options, descriptors and results start with their own size, sizeof of the struct as the caller
 * knows it.  A function fails with FSCHED_USAGE when the size of its options or result is below
 * that of the first version, and with FSCHED_BAD_INPUT when a builder's descriptor does not reach
 * over the required members. */
#ifndef FSCHED_FSCHED_H
#define FSCHED_FSCHED_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FSCHED_API __attribute__((visibility("default")))
#define FSCHED_MUST_USE __attribute__((warn_unused_result))
#else
#define FSCHED_API
#define FSCHED_MUST_USE
#endif

/** The numbers are the exit codes of the command line. */
typedef enum fsched_status {
  FSCHED_OK = 0,
  FSCHED_BAD_INPUT = 1,  /* a graph, target, schedule or stream file is bad */
  FSCHED_USAGE = 2,      /* the caller's options or arguments are bad */
  FSCHED_INFEASIBLE = 3, /* failed precondition, use over capacity, or no schedule found */
  FSCHED_WRONG = 4,      /* verification failed: the input is well-formed but wrong */
  FSCHED_SYSTEM = 5,     /* a file, memory or a device failed */
  FSCHED_REPLAY = 6      /* a replay failed or timed out */
} fsched_status;

/** The id that means "none". */
#define FSCHED_NONE UINT32_MAX
/** Capacity of a memory without limit. */
#define FSCHED_UNBOUNDED UINT64_MAX

typedef struct fsched_context fsched_context;

/** Zero means the default for every member but the first. */
typedef struct fsched_context_options {
  size_t size;
  /** The allocator, realloc and free in one (new_size 0 frees and returns NULL).  NULL: the C
   *  library's, which is asked for large pages for blocks of 1 MiB and more, where the system gives
   *  these on request. */
  void *(*reallocate)(void *user, void *block, size_t old_size, size_t new_size);
  void *user;
  uint32_t max_errors; /* errors that are stored, of all that are found; default 20 */
} fsched_context_options;

/** Makes a context.  `options` may be NULL.  Errors, without a diagnostic: FSCHED_USAGE (options),
 *  FSCHED_SYSTEM (no memory). */
FSCHED_API FSCHED_MUST_USE fsched_status
fsched_context_create(const fsched_context_options *options, fsched_context **out);
/** Call it after everything that was made with the context is destroyed.  NULL is ignored. */
FSCHED_API void fsched_context_destroy(fsched_context *ctx);

typedef enum fsched_severity { FSCHED_ERROR, FSCHED_WARNING, FSCHED_NOTE } fsched_severity;

/** One message.  Strings belong to the context and live until it is cleared or destroyed.
 *  `line` and `column` count from 1 (column in bytes); 0 means "no position". */
typedef struct fsched_diag {
  fsched_severity severity;
  const char *code;    /* stable, e.g. "unknown-key"; listed in lib/base/diag.def */
  const char *message; /* one line */
  const char *file;    /* or NULL */
  uint32_t line;
  uint32_t column;
  uint32_t length;         /* bytes to underline, at least 1 */
  const char *source_line; /* the text of the line without its newline, or NULL */
  const char *hint;        /* or NULL */
} fsched_diag;

/** The number of diagnostics that the context stores. */
FSCHED_API uint32_t fsched_diag_count(const fsched_context *ctx);
/** The diagnostics in the order in which they were reported, by index from 0; NULL for an index
 *  that is not below fsched_diag_count(). */
FSCHED_API const fsched_diag *fsched_diag_get(const fsched_context *ctx, uint32_t index);
/** The number of errors found, including those beyond max_errors, which are not stored. */
FSCHED_API uint32_t fsched_diag_errors(const fsched_context *ctx);
/** Removes all diagnostics, and counts errors from 0 again. */
FSCHED_API void fsched_diag_clear(fsched_context *ctx);

/* Warnings come in classes, each named like the code of its diagnostics.  A context has each class
 * off, on, or as an error: the diagnostics of such a class are errors, and the call that finds one
 * fails with FSCHED_BAD_INPUT.  In a new context the classes of FSCHED_WARNINGS_DEFAULT are on.  A
 * class that is off costs no time. */
typedef enum fsched_warning_level {
  FSCHED_WARNING_OFF,
  FSCHED_WARNING_ON,
  FSCHED_WARNING_AS_ERROR
} fsched_warning_level;
/** The groups of classes: on by default, switched by -Wall, and switched by -Wextra on the command
 *  line. */
typedef enum fsched_warning_group {
  FSCHED_WARNINGS_DEFAULT,
  FSCHED_WARNINGS_ALL,
  FSCHED_WARNINGS_EXTRA
} fsched_warning_group;

/** Errors: FSCHED_USAGE, reported, when there is no class of this name. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_warning_set(fsched_context *ctx, const char *name,
                                                            fsched_warning_level level);
/** The classes, by index from 0 to fsched_warning_count() - 1; of a larger index the name and the
 *  summary are NULL, and the level is off. */
FSCHED_API fsched_warning_level fsched_warning_get(const fsched_context *ctx, uint32_t index);
FSCHED_API uint32_t fsched_warning_count(void);
FSCHED_API const char *fsched_warning_name(uint32_t index);
FSCHED_API const char *fsched_warning_summary(uint32_t index);
FSCHED_API fsched_warning_group fsched_warning_group_of(uint32_t index);

/** Called now and then during long work: `done` of `total` units of `what` ("read", a pass of
 *  fsched_compile, "verify", "replay") are complete; units count work, not time.  Each piece of
 *  work begins with done 0 and, unless it fails, ends with done equal to total; in between, done
 *  never falls, but total may change as more becomes known.  The callback runs on the thread that
 *  called the library; it may not use this context or any object made from it, and has no influence
 *  on results. */
typedef void (*fsched_progress_fn)(void *user, const char *what, uint64_t done, uint64_t total);
/** Sets the callback; NULL, the default, is no callback. */
FSCHED_API void fsched_progress_set(fsched_context *ctx, fsched_progress_fn progress, void *user);

/** The library's version, "MAJOR.MINOR.PATCH". */
FSCHED_API const char *fsched_version(void);

#ifdef __cplusplus
}
#endif
#endif
