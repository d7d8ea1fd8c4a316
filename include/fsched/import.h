/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: imports instances in the formats of other tools, and exports their solutions.
 *
 * An import makes the text of a graph file (fsched-graph(5)) from the text of an instance; an
 * export makes a solution in the usual form from a schedule of such a graph.  fsched-import(1) and
 * fsched-export(1) describe the formats. */
#ifndef FSCHED_IMPORT_H
#define FSCHED_IMPORT_H

#include "fsched/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fsched_format {
  FSCHED_FORMAT_PATTERSON, /* a project: jobs, precedence, resources */
  FSCHED_FORMAT_PSPLIB,    /* a project, in the form of PSPLIB */
  FSCHED_FORMAT_STRIP,     /* rectangles in a strip */
  FSCHED_FORMAT_MEMORY,    /* buffers with given lifetimes in one memory */
  FSCHED_FORMAT_JOBSHOP    /* jobs, each of which visits machines in an order of its own */
} fsched_format;

/** The formats; `index` is a fsched_format, from 0 to fsched_format_count() - 1.  Of a larger index
 *  name and summary are NULL. */
FSCHED_API uint32_t fsched_format_count(void);
FSCHED_API const char *fsched_format_name(uint32_t index);
FSCHED_API const char *fsched_format_summary(uint32_t index);

typedef struct fsched_import_options {
  size_t size;
  const char *graph_name; /* NULL: the last part of the file's name, without its suffix */
  /** FSCHED_FORMAT_MEMORY: bytes of the memory; 0: the sum of all sizes, which is enough for any
   *  placement. */
  uint64_t capacity;
} fsched_import_options;

/** Makes the graph file of an instance; `name` is the name of the instance's file, for diagnostics.
 *  `options` may be NULL.  The text is released with fsched_text_free.  Time and memory: linear in
 *  the length of the text, whatever numbers it declares; for FSCHED_FORMAT_MEMORY O(rows log rows).
 *  Errors: FSCHED_USAGE for the options or an unknown format; FSCHED_BAD_INPUT when the text is not
 *  of the format; FSCHED_INFEASIBLE when the instance has no solution: a job uses more of a
 *  resource than there is, a rectangle is wider than the strip, or buffers that are live at the
 *  same time exceed the memory; FSCHED_SYSTEM for memory. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_import(fsched_context *ctx, fsched_format format,
                                                       const char *name, const char *text,
                                                       size_t length,
                                                       const fsched_import_options *options,
                                                       char **yaml, size_t *yaml_length);

/** Writes a schedule as a solution in the format.  The schedule is not verified here.
 *  The text is released with fsched_text_free.  O(ops + residencies).
 *  Errors: FSCHED_BAD_INPUT when the schedule's graph has a feature that the format cannot express,
 *  or when the schedule says that it is infeasible; FSCHED_USAGE for an unknown format;
 *  FSCHED_SYSTEM for memory. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_export(fsched_context *ctx, fsched_format format,
                                                       const fsched_schedule *schedule, char **text,
                                                       size_t *length);

#ifdef __cplusplus
}
#endif
#endif
