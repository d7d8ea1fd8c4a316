/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: instances in the formats of other tools, as graph files, and their solutions back.
 *
 * An import makes the text of a graph file (fsched-graph(5)) out of the text of an instance; an
 * export makes the usual form of a solution out of a schedule of such a graph.  fsched-import(1)
 * and fsched-export(1) describe the formats. */
#ifndef FSCHED_IMPORT_H
#define FSCHED_IMPORT_H

#include "fsched/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fsched_format {
  FSCHED_FORMAT_PATTERSON, /* a project: jobs, precedence, resources */
  FSCHED_FORMAT_PSPLIB,    /* the same, another form */
  FSCHED_FORMAT_STRIP,     /* rectangles in a strip */
  FSCHED_FORMAT_MEMORY     /* buffers with given lifetimes in one memory */
} fsched_format;

/** The formats, by fsched_format from 0 to fsched_format_count() - 1; beyond it names and summaries
 *  are NULL. */
FSCHED_API uint32_t fsched_format_count(void);
FSCHED_API const char *fsched_format_name(uint32_t index);
FSCHED_API const char *fsched_format_summary(uint32_t index);

typedef struct fsched_import_options {
  size_t size;
  const char *graph_name; /* NULL: the last part of the file's name, without its suffix */
  /** FSCHED_FORMAT_MEMORY: bytes of the memory; 0: the sum of all sizes, in which every order of
   *  placement fits. */
  uint64_t capacity;
} fsched_import_options;

/** The graph file of an instance; `name` is its file's, for diagnostics.  `options` may be NULL.
 *  The text is released with fsched_text_free.  Time and memory: linear in the length of the text
 *  whatever it claims to hold; of FSCHED_FORMAT_MEMORY O(rows log rows).
 *  Errors: FSCHED_USAGE for the options or an unknown format; FSCHED_BAD_INPUT when the text is not
 *  of the format; FSCHED_INFEASIBLE when it is and the instance has no solution: a job uses more
 *  than there is, a rectangle is wider than the strip, buffers that live at one time exceed the
 *  memory; FSCHED_SYSTEM for memory. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_import(fsched_context *ctx, fsched_format format,
                                                       const char *name, const char *text,
                                                       size_t length,
                                                       const fsched_import_options *options,
                                                       char **yaml, size_t *yaml_length);

/** The solution that a schedule is, in the form of the format.  The schedule is not verified here.
 *  The text is released with fsched_text_free.  O(ops + residencies).
 *  Errors: FSCHED_BAD_INPUT when its graph has what the format does not know, or the schedule is
 *  none (infeasible); FSCHED_USAGE for an unknown format; FSCHED_SYSTEM for memory. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_export(fsched_context *ctx, fsched_format format,
                                                       const fsched_schedule *schedule, char **text,
                                                       size_t *length);

#ifdef __cplusplus
}
#endif
#endif
