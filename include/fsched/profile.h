/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: profiles, that is what the ops and copies of a program took when it ran.
 *
 * A profile is made from measured times or read from a file (fsched-profile(5)).  A graph can take
 * its times over, so that the next compilation plans with them; and a report says how far the plan
 * is from what was measured.
 *
 * Measured times are nanoseconds, planned ones ticks.  A profile belongs to its context and does
 * not change. */
#ifndef FSCHED_PROFILE_H
#define FSCHED_PROFILE_H

#include "fsched/graph.h"
#include "fsched/program.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fsched_profile fsched_profile;

/** Several measurements of one thing. */
typedef struct fsched_duration {
  uint64_t count;                     /* 0: not measured */
  uint64_t min_ns, median_ns, max_ns; /* of an even number the lower one of the two in the middle */
} fsched_duration;

/** Of `n` times, which it sorts. */
FSCHED_API fsched_duration fsched_duration_of(uint64_t *ns, size_t n);

typedef struct fsched_measurement {
  size_t size;
  const char *on;   /* the back end; NULL: "cpu" */
  uint64_t tick_ns; /* how long a tick was; 0: as the time unit says (ns, us, ms, s) */
  /** One for each command of the program, queue by queue in the order of the epochs. */
  const fsched_duration *command;
  size_t n_commands;
  fsched_duration makespan; /* of the invocations; count 0: not measured */
} fsched_measurement;

/** What was measured of a program, which is not needed afterwards.  Of a gang the member that took
 *  least counts: the others may have waited for it.
 *  Errors: FSCHED_USAGE when there are more or fewer durations than commands, or a duration whose
 *  median is outside of its minimum and maximum. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_profile_make(fsched_context *ctx,
                                                             const fsched_program *program,
                                                             const fsched_measurement *measured,
                                                             fsched_profile **out);
/** Reads the JSON form; `name` is used in diagnostics.  Errors: FSCHED_BAD_INPUT. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_profile_parse(fsched_context *ctx, const char *name,
                                                              const char *text, size_t length,
                                                              fsched_profile **out);
/** The same from a file ("-": standard input), which the graphs that take the profile over then
 *  name among the files that were read. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_profile_read(fsched_context *ctx, const char *path,
                                                             fsched_profile **out);
FSCHED_API void fsched_profile_destroy(fsched_profile *p);
/** The JSON form; released with fsched_text_free. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_profile_json(fsched_context *ctx,
                                                             const fsched_profile *p, char **text,
                                                             size_t *length);

/** What became of a profile. */
typedef struct fsched_profile_use {
  size_t size;
  uint32_t ops;      /* whose times were taken over; the others keep theirs */
  uint32_t memories; /* whose costs of copies were fitted */
  uint32_t copies;   /* measured copies that went into them */
  uint32_t unknown;  /* entries for what the graph does not have: warnings of the class "profile" */
} fsched_profile_use;

/** Takes measured times over into a graph: the median of each op as its time, in ticks, rounded up;
 *  and for each memory and direction of which copies were measured, the fixed cost and the rate
 *  that fit their medians (with the least sum of absolute errors, where the largest has at least
 *  twice the bytes of the smallest; else the planned costs, scaled).  The rest stays as it is.
 *  Schedules that were made of the graph before no longer agree with it.  `use` may be NULL.
 *  A tick is as long as the profile says, if its time unit is the graph's; else as the unit of the
 *  graph says (ns, us, ms, s); else as the profile says.
 *  Errors: FSCHED_BAD_INPUT, the graph unchanged, when nothing says how long a tick is, when a time
 *  is above FSCHED_MAX_TIME, when the graph gives starts of ops, or when warnings are errors;
 *  FSCHED_SYSTEM for memory. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_graph_apply_profile(fsched_context *ctx,
                                                                    fsched_graph *graph,
                                                                    const fsched_profile *p,
                                                                    fsched_profile_use *use);

typedef enum fsched_report_format { FSCHED_REPORT_TEXT, FSCHED_REPORT_JSON } fsched_report_format;

typedef struct fsched_report_options {
  size_t size;
  fsched_report_format format;
  int all; /* all ops and copies; without it the 10 that differ most, if they do */
} fsched_report_options;

/** Planned against measured: the makespan, how busy each queue was, the ops and copies that differ
 *  most from their plan, and what would help.  `options` may be NULL.  The text is released with
 *  fsched_text_free.  Errors: FSCHED_USAGE for bad options. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_profile_report(fsched_context *ctx,
                                                               const fsched_profile *p,
                                                               const fsched_report_options *options,
                                                               char **text, size_t *length);

#ifdef __cplusplus
}
#endif
#endif
