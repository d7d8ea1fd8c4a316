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

typedef enum fsched_evict { FSCHED_EVICT_FARTHEST, FSCHED_EVICT_LRU } fsched_evict;

/** FSCHED_BARRIERS_PUBLISHED is for comparison, for targets with a number of barriers: it refuses
 *  (FSCHED_INFEASIBLE) what would deadlock, as most graphs of several queues. */
typedef enum fsched_barrier_method {
  FSCHED_BARRIERS_BEST,
  FSCHED_BARRIERS_PUBLISHED
} fsched_barrier_method;

/** What a pass (index as of fsched_pass_name) has made, as text for people, which is not a stable
 *  format; it ends with a newline and a zero byte, `length` counts without the latter.  The text is
 *  the library's and valid during the call, which may not use the context. */
typedef void (*fsched_dump_fn)(void *user, uint32_t pass, const char *text, size_t length);

/** How the heuristic schedule is improved: not at all, by time-indexed models, or by strip packing
 *  models; these two run a solver in a process of its own (fsched-solver(7)). */
typedef enum fsched_refine {
  FSCHED_REFINE_NONE,
  FSCHED_REFINE_ILP,
  FSCHED_REFINE_PACK
} fsched_refine;

/** How far a refinement has come.  Times in ticks: no schedule is shorter than `bound`. */
typedef struct fsched_refine_state {
  size_t size;
  uint64_t incumbent, bound;
  uint64_t nodes;
  double seconds;
} fsched_refine_state;
/** Called on the thread that called the library when something new is known, and at least every
 *  half second; it may use no function of the context. */
typedef void (*fsched_refine_fn)(void *user, const fsched_refine_state *state);

typedef struct fsched_compile_options {
  size_t size;
  fsched_evict evict;
  uint64_t seed;
  int verify; /* also run the verifier on schedule and program */
  /** Seconds per pass are added here when not NULL; see fsched_pass_count. */
  double *pass_seconds;
  /** After each pass that runs and whose bit, 1 << index, is set, `dump` is called with
   * `dump_user`; it may not be NULL then. */
  uint64_t dump_after;
  fsched_dump_fn dump;
  void *dump_user;
  /** Physical barriers; makes the target one of FSCHED_SYNC_BARRIER.  0: as the target says.
   *  FSCHED_BARRIERS_AUTO: the least known number that orders nothing that was not ordered
   *  before. */
  uint32_t barriers;
  fsched_barrier_method barrier_method;
  fsched_refine refine;
  /** Of the refinement.  Limits of 0: no limit of time, and FSCHED_NODE_LIMIT nodes.  Without a
   *  limit of time a solver is run 1000 times at most, 100 of them to ask for one makespan after
   *  the other, so that the refinement ends by itself, and every run gives the same result, if the
   *  solver keeps node_limit; a time limit is kept within 0.2 s. */
  uint64_t time_limit_ms, node_limit;
  /** The solver's command: words, the first looked for in PATH.  NULL: fsched-glpk, where it was
   *  installed, else in PATH. */
  const char *solver_cmd;
  /** NULL, or what somebody else (a signal handler) sets to end the refinement: the best schedule
   *  so far is the result. */
  const volatile int *stop;
  /** The solution of the model (fsched_compile_model) by another solver, taken in place of running
   *  one; `solution_name` is for diagnostics.  NULL: none. */
  const char *solution, *solution_name;
  size_t solution_length;
  fsched_refine_fn refine_news; /* or NULL */
  void *refine_user;
} fsched_compile_options;
/** Nodes of one model's search at most when neither limit is given; large models get fewer. */
#define FSCHED_NODE_LIMIT 1000
/** A century. */
#define FSCHED_MOST_TIME_LIMIT_MS 3155760000000u

/** The main job.  Either output may be NULL.  The schedule refers to the graph, which must outlive
 *  it; the program is independent of both.
 *  Errors: FSCHED_USAGE for bad options, FSCHED_INFEASIBLE when no schedule is found, FSCHED_WRONG
 *  when asked to verify and the result is refuted (a fault of fsched), FSCHED_SYSTEM for memory. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_compile(fsched_context *ctx,
                                                        const fsched_graph *graph,
                                                        const fsched_compile_options *options,
                                                        fsched_schedule **schedule,
                                                        fsched_program **program);
typedef enum fsched_model_format { FSCHED_MODEL_LP, FSCHED_MODEL_MPS } fsched_model_format;

/** The model that a refinement with these options begins with (that of FSCHED_REFINE_ILP if they
 *  say none), as CPLEX LP or free MPS; text for fsched_text_free.  Any solver may solve it: its
 *  solution is taken by `solution` of the options.  The list schedule is made for it.
 *  Errors: FSCHED_USAGE; FSCHED_INFEASIBLE when every model is too large; FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_compile_model(fsched_context *ctx,
                                                              const fsched_graph *graph,
                                                              const fsched_compile_options *options,
                                                              fsched_model_format format,
                                                              char **text, size_t *length);
FSCHED_API void fsched_schedule_destroy(fsched_schedule *s);
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
 *  What is too small to be seen is drawn together with its neighbours and counted in their tooltip:
 *  each map, and the rows of the queues, have at most 5,000 shapes of ops, copies or residencies
 *  (with labels and hatching below 1.5 KB each), whatever the size of the graph; the amounts have
 *  at most four points per pixel.  O((ops + copies + residencies) log) for each panel.
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

/** The passes in their order; `index` is below fsched_pass_count(). */
FSCHED_API uint32_t fsched_pass_count(void);
FSCHED_API const char *fsched_pass_name(uint32_t index);
FSCHED_API const char *fsched_pass_summary(uint32_t index);

#ifdef __cplusplus
}
#endif
#endif
