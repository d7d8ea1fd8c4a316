/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: from a graph to a schedule and a program.
 *
 * Determinism: the same graph, options and version give the same schedule and the same program
 * bytes on every machine. */
#ifndef FSCHED_COMPILE_H
#define FSCHED_COMPILE_H

#include "fsched/graph.h"
#include "fsched/program.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fsched_schedule fsched_schedule;

/** Which buffer leaves a full memory first: the one whose next use is farthest away, or the least
 *  recently used one. */
typedef enum fsched_evict { FSCHED_EVICT_FARTHEST, FSCHED_EVICT_LRU } fsched_evict;

/** FSCHED_BARRIERS_PUBLISHED is the published method, for comparison, on targets with a number of
 *  barriers: it refuses graphs that would deadlock (FSCHED_INFEASIBLE), which are most graphs with
 *  several queues. */
typedef enum fsched_barrier_method {
  FSCHED_BARRIERS_BEST,
  FSCHED_BARRIERS_PUBLISHED
} fsched_barrier_method;

/** Receives the result of a pass (index as of fsched_pass_name) as text for people, which is not a
 *  stable format.  The text ends with a newline and a zero byte, which `length` does not count; it
 *  belongs to the library and is valid during the call.  The callback may not use the context. */
typedef void (*fsched_dump_fn)(void *user, uint32_t pass, const char *text, size_t length);

/** How the heuristic schedule is improved: not at all, by time-indexed models, by strip packing
 *  models, or by fsched's own search.  Both kinds of models run a solver in a process of its own
 *  (fsched-solver(7)); the search runs in this one.  FSCHED_REFINE_AUTO chooses by counts, never by
 *  time or by what is installed: the search for graphs of up to FSCHED_AUTO_OPS ops, and nothing
 * for larger ones, in which 50 schedules would take longer and longer. */
typedef enum fsched_refine {
  FSCHED_REFINE_NONE,
  FSCHED_REFINE_ILP,
  FSCHED_REFINE_PACK,
  FSCHED_REFINE_SEARCH,
  FSCHED_REFINE_AUTO
} fsched_refine;
#define FSCHED_AUTO_OPS 40000

/** How far a refinement has come: `incumbent` is the makespan of the best schedule so far, and no
 *  schedule is shorter than `bound`, both in ticks. */
typedef struct fsched_refine_state {
  size_t size;
  uint64_t incumbent, bound;
  uint64_t nodes; /* searched so far, in all models */
  double seconds; /* since the refinement began */
} fsched_refine_state;
/** Called on the thread that called the library, when the state has changed and at least every half
 *  second; it may not use the context. */
typedef void (*fsched_refine_fn)(void *user, const fsched_refine_state *state);

typedef struct fsched_compile_options {
  size_t size;
  fsched_evict evict;
  uint64_t seed; /* breaks ties between equally urgent ops at random; 0: by program order */
  int verify;    /* also run the verifier on schedule and program */
  /** NULL, or an array of fsched_pass_count() elements, to which the seconds of each pass are
   *  added. */
  double *pass_seconds;
  /** `dump` is called with `dump_user` after each pass that runs and whose bit, 1 << index, is set
   *  here; `dump` may not be NULL if any bit is set. */
  uint64_t dump_after;
  fsched_dump_fn dump;
  void *dump_user;
  /** The number of physical barriers; makes the target one of FSCHED_SYNC_BARRIER.  0: as the
   *  target says.  FSCHED_BARRIERS_AUTO: the least number known to add no ordering between ops. */
  uint32_t barriers;
  fsched_barrier_method barrier_method;
  fsched_refine refine;
  /** Limits of the refinement.  0: no time limit, and FSCHED_NODE_LIMIT nodes.  Without a time
   *  limit a solver is run at most 1000 times, at most 100 of them to ask for one makespan after
   *  the other: so the refinement ends by itself, and always with the same result, provided that
   *  the solver keeps node_limit.  A time limit is kept within 0.2 s.
   *  Of FSCHED_REFINE_SEARCH a node is a schedule that is made, or 8 of them where they take turns
   *  with conflicts, a conflict, or 64 moves; without limits there are FSCHED_SEARCH_NODES, or
   *  fewer in graphs of more than 100 ops. */
  uint64_t time_limit_ms, node_limit;
  /** The solver's command: words separated by spaces, of which the first is looked up in PATH.
   *  NULL: fsched-glpk, where it was installed, else in PATH. */
  const char *solver_cmd;
  /** NULL, or a flag that a signal handler or another thread sets to end the refinement; the result
   *  is then the best schedule so far. */
  const volatile int *stop;
  /** NULL, or another solver's solution of the model (fsched_compile_model), which is used instead
   *  of running a solver; `solution_name` is for diagnostics. */
  const char *solution, *solution_name;
  size_t solution_length;
  fsched_refine_fn refine_news; /* or NULL */
  void *refine_user;
  /** How many plans the heuristic tries.  0: the usual effort.  FSCHED_EFFORT(level): level 0 is
   * one run, and each of the levels above, up to FSCHED_EFFORT_MOST, about doubles the work of the
   * one before and never gives a longer schedule; the usual one is FSCHED_EFFORT_USUAL. */
  uint32_t effort;
  /** NULL, or gets a proof of the schedule's lower bound, in the form of fsched-proof(5); released
   *  with fsched_text_free.  With FSCHED_REFINE_SEARCH alone, or where FSCHED_REFINE_AUTO
   *  chooses it.  The lower bound is then the greatest one that has a proof.  With
   *  FSCHED_INFEASIBLE: a proof that there is no schedule, or NULL if none is found.  NULL after
   * any other error.  FSCHED_USAGE of graphs of which none can be written. */
  char **proof;
  size_t *proof_length;
  /** How many threads FSCHED_REFINE_SEARCH takes, also where FSCHED_REFINE_AUTO chooses it; at most
   *  FSCHED_MOST_JOBS.  0: 1, which is the thread of the caller.  Each of them has the limit of
   *  nodes for itself.  Without a time limit the result is the same for the same number, however
   *  fast each thread is; other numbers may give others.  The context's allocator is called by one
   *  thread at a time.  1 at most with models. */
  uint32_t jobs;
} fsched_compile_options;
#define FSCHED_MOST_JOBS 64
#define FSCHED_EFFORT_USUAL 3
#define FSCHED_EFFORT_MOST 9
/** So that a member that is left out, 0, is not the lowest level. */
#define FSCHED_EFFORT(level) ((uint32_t)(level) + 1)
/** The most nodes in the search of one model when neither limit is given; large models get
 *  fewer. */
#define FSCHED_NODE_LIMIT 1000
#define FSCHED_SEARCH_NODES 20000
/** The largest time limit: a century. */
#define FSCHED_MOST_TIME_LIMIT_MS 3155760000000u

/** Compiles a graph.  Either output may be NULL.  The schedule refers to the graph, which must
 *  outlive it; the program is independent of both.
 *  Errors: FSCHED_USAGE for bad options, FSCHED_INFEASIBLE when no schedule is found, FSCHED_WRONG
 *  when `verify` is set and refutes the result (a fault of fsched), FSCHED_SYSTEM when memory runs
 *  out. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_compile(fsched_context *ctx,
                                                        const fsched_graph *graph,
                                                        const fsched_compile_options *options,
                                                        fsched_schedule **schedule,
                                                        fsched_program **program);
typedef enum fsched_model_format { FSCHED_MODEL_LP, FSCHED_MODEL_MPS } fsched_model_format;

/** The model that a refinement with these options begins with (FSCHED_REFINE_ILP if the options ask
 *  for no refinement), as CPLEX LP or free MPS; the text is released with fsched_text_free.  Any
 *  solver may solve it, and its solution is passed as `solution` in the options.  The function
 *  makes the list schedule first, as the model depends on it.
 *  Errors: FSCHED_USAGE; FSCHED_INFEASIBLE when every model is too large; FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_compile_model(fsched_context *ctx,
                                                              const fsched_graph *graph,
                                                              const fsched_compile_options *options,
                                                              fsched_model_format format,
                                                              char **text, size_t *length);
/** NULL is ignored. */
FSCHED_API void fsched_schedule_destroy(fsched_schedule *s);
/** The end of the last op or copy, and a makespan below which no schedule of the graph is; both in
 *  ticks. */
FSCHED_API uint64_t fsched_schedule_makespan(const fsched_schedule *s);
FSCHED_API uint64_t fsched_schedule_lower_bound(const fsched_schedule *s);

/** Writers of the textual results.  The text is allocated with the context's allocator and
 *  released with fsched_text_free. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_schedule_json(fsched_context *ctx,
                                                              const fsched_schedule *s, char **text,
                                                              size_t *length);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_schedule_stats_json(fsched_context *ctx,
                                                                    const fsched_schedule *s,
                                                                    char **text, size_t *length);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_schedule_table(fsched_context *ctx,
                                                               const fsched_schedule *s,
                                                               char **text, size_t *length);
typedef struct fsched_svg_options {
  size_t size;
  uint32_t width; /* pixels, 400 to 10,000; 0: 1400 */
} fsched_svg_options;

/** The schedule as a picture (SVG 1.1, UTF-8, without scripts or references): a row per queue with
 *  its ops and copies and, on the same time axis, a map per contiguous memory (time by address, a
 *  rectangle per residency) and the amounts held of counted memories, resources and concurrency.
 *  Any schedule can be drawn, verified or not.  `options` may be NULL.
 *  Shapes too small to be seen are merged with their neighbours and counted in the tooltip: each
 *  map, and all the rows of the queues together, have at most 5,000 shapes of ops, copies or
 *  residencies (below 1.5 KB each with labels and hatching), whatever the size of the graph; the
 *  amounts have at most four points per pixel.  O((ops + copies + residencies) log) for each panel.
 *  Errors: FSCHED_USAGE for the options, FSCHED_SYSTEM for memory. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_schedule_svg(fsched_context *ctx,
                                                             const fsched_schedule *s,
                                                             const fsched_svg_options *options,
                                                             char **text, size_t *length);
FSCHED_API void fsched_text_free(fsched_context *ctx, char *text, size_t length);

/** Reads schedule JSON made for this graph (by fsched or by another scheduler). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_schedule_parse(fsched_context *ctx,
                                                               const fsched_graph *graph,
                                                               const char *name, const char *text,
                                                               size_t length,
                                                               fsched_schedule **out);
/** The effort that the head of a schedule's JSON says, for fsched_read_options: with it the graph
 * of the schedule has the loops, and the plans of loops, that it was compiled with.  0 where the
 * text does not say it, whatever else it may be. */
FSCHED_API uint32_t fsched_schedule_effort(const char *text, size_t length);

/** The passes in their order; `index` is below fsched_pass_count(). */
FSCHED_API uint32_t fsched_pass_count(void);
FSCHED_API const char *fsched_pass_name(uint32_t index);
FSCHED_API const char *fsched_pass_summary(uint32_t index);

#ifdef __cplusplus
}
#endif
#endif
