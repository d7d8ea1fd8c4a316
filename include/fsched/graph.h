/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: graphs of operations, built call by call or read from a graph file (fsched-graph(5)).
 *
 * A builder collects a target (queues, memories, resources), buffers and ops in program order;
 * fsched_builder_finish derives versions and edges from the argument tags, checks everything that
 * a graph file is checked for, and freezes the result.  Names are copied.  Ids count from 0 in
 * order of creation, per kind.  Names and other texts are UTF-8.
 *
 * Errors: a call whose argument is bad reports a diagnostic and returns FSCHED_BAD_INPUT; the
 * builder stays usable, so that several errors can be found in one run, but finish then fails.
 * After finish, failed or not, the builder can only be destroyed: other calls may still be
 * accepted, but have no effect.  A failed call leaves its output id unchanged, unless its only
 * fault is a repeated name or a repeated queue of a gang.
 * Complexity: O(1) amortised per call; finish O((ops + args + edges) log args). */
#ifndef FSCHED_GRAPH_H
#define FSCHED_GRAPH_H

#include "fsched/fsched.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fsched_graph fsched_graph;
typedef struct fsched_builder fsched_builder;

/** What orders ops that access the same bytes: program order, or only the dependences that their
 *  tags give. */
typedef enum fsched_hazards { FSCHED_HAZARDS_SEQUENTIAL, FSCHED_HAZARDS_RAW } fsched_hazards;
/** How a memory holds buffers: each in one piece, at an address; or only as a sum of sizes, without
 *  addresses; or, for FSCHED_SYNC_BLOCK only, in one piece with addresses from a stack that frees
 *  memory at syncs. */
typedef enum fsched_placement { FSCHED_CONTIGUOUS, FSCHED_COUNTED, FSCHED_STACK } fsched_placement;
/** What orders commands of different queues: epochs of timelines; a limited number of barriers; or
 *  syncs that stop everything. */
typedef enum fsched_sync {
  FSCHED_SYNC_TIMELINE,
  FSCHED_SYNC_BARRIER,
  FSCHED_SYNC_BLOCK
} fsched_sync;
/** What is given and what is kept of a buffer: nothing; inputs and constants are given; outputs are
 *  kept; state is both, and what one run keeps is given to the next one. */
typedef enum fsched_io {
  FSCHED_IO_NONE,
  FSCHED_IO_INPUT,
  FSCHED_IO_CONSTANT,
  FSCHED_IO_OUTPUT,
  FSCHED_IO_STATE
} fsched_io;
/** What an op does with an arg (fsched-graph(5)): reads it; writes all of it anew; reads and writes
 *  it; writes a part, and the rest stays; accesses it without an order; or it is a number. */
typedef enum fsched_tag {
  FSCHED_IN,
  FSCHED_OUT,
  FSCHED_INOUT,
  FSCHED_OUT_EXISTING,
  FSCHED_NO_DEP,
  FSCHED_VALUE
} fsched_tag;

/* Limits: every time, rate and amount is at most FSCHED_MAX_TIME, the ticks of a rate (write_per
 * and read_per) are at most FSCHED_MAX_PER, every size and capacity is at most FSCHED_MAX_SIZE, and
 * ids fit 31 bits. */
#define FSCHED_MAX_TIME ((uint64_t)1 << 40)
#define FSCHED_MAX_PER 1000
#define FSCHED_MAX_SIZE ((uint64_t)1 << 48)
/* The largest device and machine number of a queue; the machine is a part of the queue's axis
 * (frontier.h). */
#define FSCHED_MAX_DEVICE 65535u
#define FSCHED_MAX_MACHINE 255u

/* Descriptors start with their own size, which must reach over the names and sizes that are
 * required; members beyond it count as zero.  Zero is the default of every member, and means the
 * same as a key left out of a graph file; for example, fsched_queue_desc d = {.size = sizeof d,
 * .name = "dma"}.  Where 0 is a value too (an op's time and start, an arg's range), has_... says
 * that it is given. */
typedef struct fsched_queue_desc {
  size_t size;
  const char *name;
  const char *queue_class; /* NULL: "compute" */
  uint32_t device;         /* at most FSCHED_MAX_DEVICE */
  uint32_t machine;        /* at most FSCHED_MAX_MACHINE */
  int counting; /* FSCHED_SYNC_BLOCK: a sync can wait for all but the last few commands of this
                   queue */
  int host; /* a thread of the host on every back end: on a device with memory of its own its ops
               run kernels of the host, and touch host memories and backing stores alone */
} fsched_queue_desc;

typedef struct fsched_memory_desc {
  size_t size;
  const char *name;
  uint64_t capacity; /* bytes; 0 or FSCHED_UNBOUNDED: no limit */
  uint64_t align;    /* a power of two; 0: 1 */
  fsched_placement placement;
  const char *backing;  /* name of another memory, which may be described later; NULL: none */
  const char *spill_on; /* queue name or class that runs the copies; NULL: no spilling */
  uint64_t write_fixed, write_rate; /* ticks; bytes per tick, 0: fixed only */
  uint64_t read_fixed, read_rate;
  uint64_t write_per, read_per; /* rates are bytes in so many ticks; at most FSCHED_MAX_PER; 0: 1 */
  int host; /* memory of the host that a device reaches, too; on CUDA it is pinned */
} fsched_memory_desc;

typedef struct fsched_buffer_desc {
  size_t size;
  const char *name;
  uint64_t bytes;
  const char *memory; /* name of a memory described before; NULL: the first bounded memory, else the
                         first one */
  fsched_io io;
} fsched_buffer_desc;

typedef struct fsched_kernel_desc {
  size_t size;
  const char *builtin; /* "mix", "nop" or "copy"; or NULL */
  /** A file, given together with `function`.  The back end completes a name without a suffix: with
   *  .so on the CPU; on a CUDA device with the first of .cubin, .fatbin and .ptx that exists. */
  const char *module;
  const char *function;
  uint32_t grid[3], block[3];
  uint64_t shared_bytes;
  /** A block of up to FSCHED_MAX_PARAMS bytes, which is copied: the kernel gets it as it is
   * (kernel.h; on a CUDA device as its last parameter, by value), and what `mix` writes depends on
   * it.  NULL with n_params 0: none. */
  const void *params;
  size_t n_params;
} fsched_kernel_desc;
#define FSCHED_MAX_PARAMS 1024

typedef struct fsched_op_desc {
  size_t size;
  const char *name;
  const char *on;          /* queue name, else class; NULL: "compute"; ignored for a gang */
  const char *const *gang; /* distinct queue names, or NULL; each queue starts its part on its own,
                              and the op ends when all parts have ended */
  uint32_t n_gang;         /* 1 or more when gang is given */
  int has_time;            /* time is given, even if it is 0 */
  uint64_t time;           /* ticks; 0 without has_time: 1 */
  int has_start;           /* start is given */
  uint64_t start;
  uint32_t slots; /* producer slots of a barrier, taken by the op or each gang member; 0: 1 */
  /** Ticks from the start until the op is complete, at least its time: its queues go on after the
   *  time, while its result, and what it holds, are free only then.  0: as long as its time. */
  uint64_t latency;
  /** A gang on any gang_count queues of the class, which the schedule chooses for each op: 1 to the
   *  number of its queues.  NULL with gang_count 0: none.  Not together with `gang`. */
  const char *gang_class;
  uint32_t gang_count;
  /** For a gang whose members have args of their own: how many members there are: n_gang, and
   *  member i is that of gang[i], where the queues are named in the order in which they were added;
   *  or gang_count, and member i is on the i-th of the queues that are chosen.
   *  All reads of a group find what was there before it.  Members that conflict, as one writes
   * bytes that another one accesses, are an error, or with FSCHED_HAZARDS_RAW a race.  0: the op
   * has one list of args and runs once. */
  uint32_t members;
} fsched_op_desc;

typedef struct fsched_arg_desc {
  size_t size;
  fsched_tag tag;
  uint32_t buffer; /* id; ignored for FSCHED_VALUE */
  int has_at;      /* offset and length are given */
  uint64_t offset, length;
  int64_t value; /* for FSCHED_VALUE */
  /** For FSCHED_IN in a loop: the value at the end of so many iterations of the loop around the op
   *  before this one, or, where there were none, the value on entry to the loop.  0: as ever. */
  uint64_t distance;
  /** With has_at in a loop: how many bytes the range moves on with each iteration of the loops
   *  around the op, outermost first, all of them; of either sign.  What passes the end of the
   * buffer is cut off, and a range that begins outside is an error.  NULL: it stays. */
  const int64_t *step;
  uint32_t n_steps;
  /** With has_at, a strided view instead of a range: elements at the points of a lattice of n_dims
   *  dimensions, which begins at `offset`; `length` is ignored.  Dimension i has shape[i] points,
   *  strides[i] bytes apart.  No element of a view that is written overlaps another one, so a
   *  stride of 0 is for reading.  `strides`
   *  NULL: elements lie side by side, the last dimension innermost.  The arrays are copied. */
  uint32_t n_dims;
  const uint64_t *shape, *strides;
  uint64_t element; /* bytes; 0: 1 */
  /** The member whose arg it is, where members have args of their own: the args of member 0 come
   *  first, then those of member 1, and so on; a member may have none.  Else 0. */
  uint32_t member;
} fsched_arg_desc;

/** The most dimensions of a view. */
#define FSCHED_MAX_DIMS 5

/** A loop means its unrolling: what its body says, once for each iteration, in program order. */
typedef struct fsched_loop_desc {
  size_t size;
  const char *name;  /* of no other loop, and of no op */
  uint64_t trip;     /* iterations, at most FSCHED_MAX_TIME; not with `param` */
  const char *param; /* a parameter that gives the trips; NULL: none */
  uint64_t min, max; /* of the parameter */
} fsched_loop_desc;

/** The deepest nest of loops. */
#define FSCHED_MAX_LOOPS 8

/** How the versions of a buffer that a loop's body starts, by an `out`, share slots: version i is
 * in slot i mod depth, and `prefetch` says how many iterations the ops that start it run ahead.
 * Where a loop is unrolled, a depth orders the ops as slots would (fsched-graph(5)), and the
 * prefetch is checked alone. */
typedef struct fsched_ring_desc {
  size_t size;
  uint32_t buffer;
  uint64_t depth;   /* slots; 0: the compiler chooses */
  int has_prefetch; /* prefetch is given */
  int64_t prefetch; /* below depth; a negative one counts from the depth: -1 is depth - 1 */
  uint64_t every;   /* uses give slots back so many at a time; at most depth; 0: 1 */
} fsched_ring_desc;

/** Makes a builder for a graph of this name. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_create(fsched_context *ctx,
                                                               const char *name,
                                                               fsched_builder **out);
/** NULL is ignored.  The graph that fsched_builder_finish made stays. */
FSCHED_API void fsched_builder_destroy(fsched_builder *b);

/* Target and graph-wide settings. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_hazards(fsched_builder *b,
                                                                fsched_hazards hazards);
/** What a tick is, as a text; ns, us, ms and s also say how long it is. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_time_unit(fsched_builder *b,
                                                                  const char *unit);
/** The most ops that may run at one time; 0, the default: no limit. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_concurrency(fsched_builder *b,
                                                                    uint64_t ops);
/** What the machine adds to a command on a queue of the class (NULL: of every class without a
 * launch of its own): ops and copies are planned to take that many ticks more, a gang as many as
 * the largest of its members.  Default 0. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_launch(fsched_builder *b,
                                                               const char *queue_class,
                                                               uint64_t ticks);
/** How many ticks after the end of a predecessor on other queues an op can start, as far as the
 *  plan goes; so queues are chosen such that ops meet what they need.  Not with FSCHED_SYNC_BLOCK,
 *  where nothing waits for another queue.  Default 0. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_wait(fsched_builder *b, uint64_t ticks);
/** The most entries that a stored frontier keeps; at least 1, default 16. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_frontier(fsched_builder *b,
                                                                 uint64_t capacity);
/** The target's kind of sync; default FSCHED_SYNC_TIMELINE. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_sync(fsched_builder *b, fsched_sync sync);
/** For FSCHED_SYNC_BLOCK: the ticks that a full sync costs the machine, at most FSCHED_MAX_TIME;
 *  default 1.  The compiler minimises the makespan and this much for each full sync; planned times
 *  do not contain it. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_sync_cost(fsched_builder *b,
                                                                  uint64_t ticks);
/** A number of barriers that the compiler chooses: the least it knows to add no ordering between
 *  ops. */
#define FSCHED_BARRIERS_AUTO UINT32_MAX
/** For FSCHED_SYNC_BARRIER: how many physical barriers there are (at most INT32_MAX, or
 *  FSCHED_BARRIERS_AUTO), and how many producer slots each has.  0: not given; the slots are then
 *  without limit, and the count must come from the compile options. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_barriers(fsched_builder *b, uint64_t count,
                                                                 uint64_t slots);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_queue(fsched_builder *b,
                                                              const fsched_queue_desc *desc,
                                                              uint32_t *id);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_memory(fsched_builder *b,
                                                               const fsched_memory_desc *desc,
                                                               uint32_t *id);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_resource(fsched_builder *b,
                                                                 const char *name,
                                                                 uint64_t capacity, uint32_t *id);

/* Buffers and ops.  Ops are added in program order; args of an op in the order of the kernel's
 * parameters, before the next op is begun. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_buffer(fsched_builder *b,
                                                               const fsched_buffer_desc *desc,
                                                               uint32_t *id);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_op(fsched_builder *b,
                                                           const fsched_op_desc *desc,
                                                           uint32_t *id);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_arg(fsched_builder *b, uint32_t op,
                                                            const fsched_arg_desc *desc);
/** `before` may be the id of an op that is added later. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_after(fsched_builder *b, uint32_t op,
                                                              uint32_t before);
/** In loops `before` is the op of the same iteration of the loops around both, and the last one of
 *  those around `before` alone.  fsched_builder_after_at names the one `distance` iterations
 * earlier of the innermost loop around both; where there were not that many, nothing is waited for.
 */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_after_at(fsched_builder *b, uint32_t op,
                                                                 uint32_t before,
                                                                 uint64_t distance);
/** The same for all ops of a loop that is not around the op.  `loop` may be the id of a loop that
 * is added later. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_after_loop(fsched_builder *b, uint32_t op,
                                                                   uint32_t loop,
                                                                   uint64_t distance);
/** Begins a loop: what is added until fsched_builder_end_loop is its body.  Loops nest. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_begin_loop(fsched_builder *b,
                                                                   const fsched_loop_desc *desc,
                                                                   uint32_t *id);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_end_loop(fsched_builder *b);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_ring(fsched_builder *b, uint32_t loop,
                                                             const fsched_ring_desc *desc);
/** Lets finish unroll all loops: the graph has an op for each iteration, with the name of the op
 * and the iterations of the loops around it, outermost first: "load[2][0]".  The ids of its ops
 * count these in program order.  Otherwise a loop stays a loop, and is one op of the graph, with
 * its name; ids count it where its first op was added, and ops behind it from there on.  This
 * version has that with some limits (fsched-graph(5)).  Where a loop is beyond them, all loops are
 * unrolled if their trips are known and that gives at most 65536 ops, with a warning ("unrolled");
 * else it is FSCHED_BAD_INPUT ("unsupported"). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_unroll(fsched_builder *b);
/** How long plans of loops that stay loops are looked for, as the member of fsched_compile_options
 *  says it; 0, the default: the usual time.  Above FSCHED_EFFORT(FSCHED_EFFORT_MOST) it is
 *  FSCHED_BAD_INPUT. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_effort(fsched_builder *b, uint32_t effort);
/** Gives a parameter its value; the last one holds. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_param(fsched_builder *b, const char *name,
                                                              uint64_t value);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_use(fsched_builder *b, uint32_t op,
                                                            uint32_t resource, uint64_t amount);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_scratch(fsched_builder *b, uint32_t op,
                                                                uint32_t memory, uint64_t bytes);
/** The op's output buffer `out` may take the place of its input buffer `in`. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_inplace(fsched_builder *b, uint32_t op,
                                                                uint32_t out, uint32_t in);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_kernel(fsched_builder *b, uint32_t op,
                                                               const fsched_kernel_desc *desc);
/** Derives versions and edges, checks the graph, and freezes it.  The builder may then only be
 *  destroyed.  Errors: FSCHED_BAD_INPUT; FSCHED_INFEASIBLE when the only faults are a failed
 *  precondition or uses over capacity. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_builder_finish(fsched_builder *b,
                                                               fsched_graph **out);

typedef struct fsched_read_options {
  size_t size;
  /** NAME=CAPACITY and KEY=VALUE overrides of the target, in order (command line --memory, --set).
   */
  const char *const *memory_overrides;
  size_t n_memory_overrides;
  const char *const *target_overrides;
  size_t n_target_overrides;
  /** The graph comes from an author who must not make fsched read arbitrary files: a target given
   *  by path must be in the graph file's directory or below it, after links are resolved (for text
   *  from memory or standard input: in the directory of its name), and no diagnostic shows its
   *  text: of a fault in it only the kind and the place are told, and "*" stands for the names that
   *  it declares, in all diagnostics of the context from then on.  Declarations without a fault
   *  become part of the graph, so results have them. */
  int untrusted;
  /** With `untrusted`: a directory in which, or below which, the target may be, too; NULL: none. */
  const char *targets;
  /** fsched_builder_unroll, and NAME=N of fsched_builder_param (command line --unroll,
   *  --set-param). */
  int unroll;
  const char *const *params;
  size_t n_params;
  uint32_t effort; /* fsched_builder_effort */
  /** The graph is for runs that do not use a plan (exec.h, "dynamic"): all loops are unrolled, as
   *  often as they may run where no parameter says how often, and only ops, their order, queues,
   *  resources and concurrency count: memories have no limit, no backing store and no placement,
   *  and starts that are given, and the kind of sync, do not matter. */
  int unplanned;
  /** With `unplanned`, of a graph that has no queues and says no concurrency: so many ops run at
   * once at most, and there are as many queues; 0: no limit. */
  uint32_t most_at_once;
} fsched_read_options;

/** Reads a graph file ("-": standard input); a target given by path is read relative to it. Errors:
 *  as fsched_builder_finish; FSCHED_SYSTEM also when the target's file cannot be read, which is
 *  reported where the graph names it. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_graph_read(fsched_context *ctx, const char *path,
                                                           const fsched_read_options *options,
                                                           fsched_graph **out);
/** The same from memory; `name` is used in diagnostics and as the base of relative paths. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_graph_parse(fsched_context *ctx, const char *name,
                                                            const char *text, size_t length,
                                                            const fsched_read_options *options,
                                                            fsched_graph **out);
FSCHED_API void fsched_graph_destroy(fsched_graph *g);
/** The name, and the numbers of ops and of edges, which are the dependences between ops.  Texts
 *  belong to the graph. */
FSCHED_API const char *fsched_graph_name(const fsched_graph *g);
FSCHED_API uint32_t fsched_graph_ops(const fsched_graph *g);
/** Memories of the target, in the order in which it has them. */
FSCHED_API uint32_t fsched_graph_memories(const fsched_graph *g);
FSCHED_API uint32_t fsched_graph_edges(const fsched_graph *g);
/** The exact size of a maximum antichain: the largest number of ops of which no two are ordered by
 *  edges (data, hazards and `after`; not queues or memory).
 *  Complexity: memory O(ops + edges), time O(ops * edges) at worst; 100,000 ops with 3 to 5
 *  predecessors each take well under a second.
 *  Errors: FSCHED_SYSTEM, reported to ctx, when out of memory; *width is then undefined.
 *  Source: Dilworth's theorem; a minimum flow in which every op carries at least one unit. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_graph_width(fsched_context *ctx,
                                                            const fsched_graph *g, uint32_t *width);
/** The files that were read, for depfiles: their number, 0 for a graph made by calls, and their
 *  names, NULL for an index that is not below that number. */
FSCHED_API uint32_t fsched_graph_files(const fsched_graph *g);
FSCHED_API const char *fsched_graph_file(const fsched_graph *g, uint32_t index);

#ifdef __cplusplus
}
#endif
#endif
