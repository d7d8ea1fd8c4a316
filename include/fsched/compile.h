/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: from a graph to a schedule and a program.
 *
 * Determinism: the same graph, options and version give the same schedule and the same program
 * bytes on every machine. */
#ifndef FSCHED_COMPILE_H
#define FSCHED_COMPILE_H

#include "graph.h"
#include "program.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fsched_schedule fsched_schedule;

typedef enum fsched_evict { FSCHED_EVICT_FARTHEST, FSCHED_EVICT_LRU } fsched_evict;

typedef struct fsched_compile_options {
  size_t size;
  fsched_evict evict;
  uint64_t seed;
  int verify; /* also run the verifier on schedule and program */
  /** Seconds per pass are added here when not NULL; see fsched_pass_count. */
  double *pass_seconds;
} fsched_compile_options;

/** The main job.  Either output may be NULL.  The schedule refers to the graph, which must outlive
 *  it; the program is independent of both.
 *  Errors: FSCHED_USAGE for bad options, FSCHED_INFEASIBLE when no schedule is found, FSCHED_WRONG
 *  when asked to verify and the result is refuted (a fault of fsched), FSCHED_SYSTEM for memory. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_compile(fsched_context *ctx,
                                                        const fsched_graph *graph,
                                                        const fsched_compile_options *options,
                                                        fsched_schedule **schedule,
                                                        fsched_program **program);
FSCHED_API void fsched_schedule_destroy(fsched_schedule *s);
FSCHED_API uint64_t fsched_schedule_makespan(const fsched_schedule *s);
FSCHED_API uint64_t fsched_schedule_lower_bound(const fsched_schedule *s);

/** Writers of the textual results.  The text is allocated with the context's allocator and
 *  released with fsched_text_free. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_schedule_json(fsched_context *ctx,
                                                              const fsched_schedule *s,
                                                              char **text, size_t *length);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_schedule_stats_json(fsched_context *ctx,
                                                                    const fsched_schedule *s,
                                                                    char **text, size_t *length);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_schedule_table(fsched_context *ctx,
                                                               const fsched_schedule *s,
                                                               char **text, size_t *length);
FSCHED_API void fsched_text_free(fsched_context *ctx, char *text, size_t length);

/** Reads schedule JSON made for this graph (by fsched or by another scheduler). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_schedule_parse(fsched_context *ctx,
                                                               const fsched_graph *graph,
                                                               const char *name, const char *text,
                                                               size_t length,
                                                               fsched_schedule **out);

/** The passes in their order, for time reports. */
FSCHED_API uint32_t fsched_pass_count(void);
FSCHED_API const char *fsched_pass_name(uint32_t index);
FSCHED_API const char *fsched_pass_summary(uint32_t index);

#ifdef __cplusplus
}
#endif
#endif
