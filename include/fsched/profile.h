/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: profiles, which are measured times of a program's ops and copies.
 *
 * A profile is made from measured times or read from a file (fsched-profile(5)).  A graph can take
 * its times over, so that the next compilation plans with them; and a report compares the plan with
 * the measured times.
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

/** Several measurements of one duration. */
typedef struct fsched_duration {
  uint64_t count;                     /* 0: not measured */
  uint64_t min_ns, median_ns, max_ns; /* of an even count the lower middle time is the median */
} fsched_duration;

/** Count, minimum, median and maximum of `n` times; sorts `ns`. */
FSCHED_API fsched_duration fsched_duration_of(uint64_t *ns, size_t n);

typedef struct fsched_measurement {
  size_t size;
  const char *on;   /* the back end; NULL: "cpu" */
  uint64_t tick_ns; /* length of a tick in the run; 0: as the time unit says (ns, us, ms, s) */
  /** One for each command of the program, queue by queue in the order of the epochs. */
  const fsched_duration *command;
  size_t n_commands;
  fsched_duration makespan; /* of the invocations; count 0: not measured */
  uint64_t tick_ps;         /* the same as tick_ns in picoseconds, in its place; 0: tick_ns */
  int simulated;            /* the times are those of a simulation */
  int in_ticks; /* nothing says how long a tick is: the times count one as a microsecond */
} fsched_measurement;

/** Makes a profile of a measured program, which is not needed afterwards.  For a gang the shortest
 *  duration of a member counts, as the other members may have waited for that one; for a loop the
 *  longest, as its queues enter and leave it on their own.
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
/** The same from a file ("-": standard input), whose name is then among the files
 *  (fsched_graph_file) of each graph that takes the profile over. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_profile_read(fsched_context *ctx, const char *path,
                                                             fsched_profile **out);
FSCHED_API void fsched_profile_destroy(fsched_profile *p);
/** The JSON form; released with fsched_text_free. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_profile_json(fsched_context *ctx,
                                                             const fsched_profile *p, char **text,
                                                             size_t *length);

/** Sets the length of a tick, in picoseconds, for all that is done with the profile from now on; it
 *  comes before time units.  Errors: FSCHED_USAGE for 0 and above 2^40 ns. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_profile_set_tick(fsched_context *ctx,
                                                                 fsched_profile *p,
                                                                 uint64_t tick_ps);

/** How much of a profile a graph took over. */
typedef struct fsched_profile_use {
  size_t size;
  uint32_t ops;      /* ops that got a measured time; the others keep theirs */
  uint32_t memories; /* memories whose copy costs were fitted */
  uint32_t copies;   /* measured copies that the fits used */
  uint32_t unknown;  /* entries that match nothing in the graph; each is a warning, "profile" */
} fsched_profile_use;

/** Takes measured times over into a graph: the time of each op becomes its median, in ticks,
 *  rounded up; and each memory and direction with measured copies gets the fixed cost and the rate
 *  that fit their medians.  If the largest copy has at least twice the bytes of the smallest, the
 *  fit has the least sum of absolute errors; else it is the planned costs, scaled.  Everything else
 *  stays.  Schedules made from the graph before no longer match it.  `use` may be NULL.  The length
 *  of a tick is the profile's, if it has the graph's time unit; else that of the graph's time unit
 *  (ns, us, ms, s); else the profile's.
 *  Errors: FSCHED_BAD_INPUT, the graph unchanged, when the length of a tick is unknown, when a time
 *  is above FSCHED_MAX_TIME, when the graph prescribes starts of ops, or when a warning is an
 *  error; FSCHED_SYSTEM for memory. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_graph_apply_profile(fsched_context *ctx,
                                                                    fsched_graph *graph,
                                                                    const fsched_profile *p,
                                                                    fsched_profile_use *use);

typedef enum fsched_report_format { FSCHED_REPORT_TEXT, FSCHED_REPORT_JSON } fsched_report_format;

typedef struct fsched_report_options {
  size_t size;
  fsched_report_format format;
  int all; /* all ops and copies; without it at most the 10 that differ most */
} fsched_report_options;

/** Compares planned with measured times: the makespan, how busy each queue was, the ops and copies
 *  that differ most from their plan, and suggestions.  `options` may be NULL.  The text is released
 *  with fsched_text_free.  Errors: FSCHED_USAGE for bad options. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_profile_report(fsched_context *ctx,
                                                               const fsched_profile *p,
                                                               const fsched_report_options *options,
                                                               char **text, size_t *length);

#ifdef __cplusplus
}
#endif
#endif
