/* SPDX-License-Identifier: Apache-2.0 */
/* The frozen graph: structure of arrays, ids, CSR adjacency.  Made by lib/front/builder/builder.c
 * alone; every later stage only reads it, and its arrays are never written again: measured times
 * make another graph behind the same handle (fs_graph_become_measured).  A CSR index array X0 has
 * one entry more than its owner count: the items of owner i are X0[i] .. X0[i+1]-1. */
#ifndef FS_GRAPH_H
#define FS_GRAPH_H

#include "base/base.h"
#include "base/context.h"
#include "base/mem.h"
#include "base/view.h"
#include "fsched/graph.h"
#include "model/kinds.h"
#include "model/rolled.h"

typedef struct fs_queue {
  const char *name;
  uint32_t class_id; /* into target.class_name */
  uint32_t device, machine;
  bool counting; /* sync: block: a sync may let the last few commands of this queue continue */
  bool host;     /* a thread of the host on every back end */
} fs_queue;

typedef struct fs_memory {
  const char *name;
  uint64_t capacity;          /* FS_UNBOUNDED for no limit */
  uint64_t align;             /* power of two, at least 1 */
  fsched_placement placement; /* FSCHED_STACK is contiguous with `stack` set */
  bool stack;                 /* sync: block: addresses come from a stack that shrinks at syncs */
  uint32_t backing;           /* memory id or FS_NONE */
  uint32_t spill_domain;      /* queues that may run the copies; FS_NONE: no spilling */
  /* A copy takes fixed + ceil(size * per / rate) ticks; with rate 0 the fixed ones alone. */
  uint64_t write_fixed, write_rate, read_fixed, read_rate;
  uint64_t write_per, read_per; /* 1 to FSCHED_MAX_PER */
  bool host;                    /* memory of the host on every back end */
  uint64_t described; /* of a graph that is read without a plan: its capacity, which is FS_UNBOUNDED
                       * then; else 0 */
} fs_memory;

typedef struct fs_kernel {
  const char *builtin, *module, *function; /* or NULL */
  uint32_t grid[3], block[3];
  uint64_t shared_bytes;
  const char *params; /* hexadecimal digits in lower case; or NULL */
} fs_kernel;

#define FS_BARRIERS_AUTO FS_NONE /* as many barriers as need no new order */

typedef struct fs_target {
  const char *time_unit; /* or NULL */
  bool implicit_queues;  /* no queues given: any op runs on any queue, and the schedule makes the
                          * queues it needs */
  uint32_t n_queues, n_classes, n_memories, n_resources;
  fs_queue *queue;
  const char **class_name;
  fs_memory *memory;
  const char **resource_name;
  uint64_t *resource_capacity;
  uint64_t concurrency; /* 0: no limit */
  uint64_t frontier_capacity;
  fs_sync_kind sync;
  fs_tick sync_cost; /* sync: block: what a full sync counts beside the makespan */
  /* Physical barriers (at least 1, or FS_BARRIERS_AUTO; 0: not given, so the compile options must
   * give them), and producer slots of each (at least 1; FS_NONE: without limit).  They may be given
   * with any kind of sync; only FS_SYNC_BARRIER uses them. */
  uint32_t barrier_count, barrier_slots;
  /* A domain is a set of eligible queues, ascending: one per class and one per queue that is named
   * on its own.  With implicit queues there is one domain without members. */
  uint32_t n_domains;
  uint32_t *domain_queue0, *domain_queue;
  /* What the machine adds to a command, per class of queues; launch with implicit queues.  The
   * times of ops and the fixed costs of copies contain it. */
  fs_tick launch, *class_launch;
  /* By this time an op is planned later than the end of a predecessor on other queues. */
  fs_tick wait;
} fs_target;

/* A parameter that invocations give, with the range of all loops that take their trips from it. */
typedef struct fs_graph_param {
  const char *name;
  uint64_t least, most;
} fs_graph_param;

/* Two ops of a graph with loops that stay loops, or one, of which two instances are unordered and
 * touch the same bytes, at least one of them writing.  Names are as described: the op of the
 * earlier of the two instances that are the fewest iterations apart, and of the later one. */
typedef struct fs_graph_race {
  const char *op_a, *op_b, *buffer;
  uint64_t distance; /* in iterations of the loops around both, those of the inner ones counted
                        through all runs, with the most trips; FS_NO_DISTANCE: there is none */
} fs_graph_race;

/* A loop that was unrolled.  Loops come before those inside them. */
typedef struct fs_graph_loop {
  const char *name;
  uint32_t parent; /* the loop around it, or FS_NONE */
  uint64_t trip;   /* of each run */
} fs_graph_loop;

/* Slots that were given for the versions that a body op begins by one of its args. */
typedef struct fs_graph_ring {
  uint32_t body_op, arg; /* arg: within the op's */
  uint64_t depth;        /* 0: not given */
  uint64_t every;
} fs_graph_ring;

/* The bytes of a buffer that are given (of its version 0), and kept (of the last one): `size` from
 * an offset on.  All of it, unless a loop has slots for it. */
typedef struct fs_buffer_slot {
  uint64_t size, given, kept;
} fs_buffer_slot;

struct fsched_graph {
  fs_arena arena;
  fsched_context *ctx;
  const char *name;
  fsched_hazards hazards;
  fs_target target;
  fs_pos sync_at;     /* position of the kind of sync, of ctx; or FS_NOWHERE */
  bool sync_override; /* the caller's options set the kind */
  /* More positions, of ctx or FS_NOWHERE: of `barriers`, of `counting` per queue, of `placement`
   * (or else the name) per memory. */
  fs_pos barriers_at, *counting_at, *placement_at;
  uint32_t n_files; /* names of the files that were read */
  const char **file;

  uint32_t n_buffers;
  const char **buffer_name;
  uint32_t *buffer_memory;
  uint64_t *buffer_size;
  uint8_t *buffer_io;          /* fsched_io */
  fs_buffer_slot *buffer_slot; /* what is given and kept of each; NULL: all bytes of all */
  uint32_t *buffer_version0; /* CSR: versions of a buffer are consecutive, version k is first + k */
  uint8_t *buffer_wanted;    /* given content: some op reads a byte of it that no op earlier in
                              * program order overwrites, or a byte that none overwrites is kept */

  uint32_t n_versions;
  uint32_t *version_buffer;
  /* Accesses of a version in program order.  access_arg is an arg id, access_op its op. A
   * FSCHED_NO_DEP arg is no access. */
  uint32_t *version_access0, *access_op, *access_arg;

  uint32_t n_ops;
  const char **op_name;
  fs_tick *op_time;    /* how long an op keeps its queues */
  fs_tick *op_latency; /* when it is complete after its start: at least the time; NULL when it is
                        * the time for all.  An op is slow when it is more (fs_op_slow) */
  uint32_t *op_domain; /* eligible queues; FS_NONE for a gang */
  uint32_t *op_gang;   /* gang id or FS_NONE; one id for gangs that are described alike */
  uint32_t *op_slots;  /* producer slots of a barrier per member command; NULL: all 1 */
  fs_tick *op_start;   /* given start or FS_TICK_NONE; NULL when no op has one */
  uint32_t *op_kernel; /* into kernel, FS_NONE: mix */
  fs_pos *op_at;       /* where each op is described, of ctx; NULL in a graph made by calls */
  uint32_t n_kernels;
  fs_kernel *kernel;
  /* A gang is a set of queues, and how many of them an op occupies together: all, or fewer, which
   * the schedule chooses.  A choice is among the queues of a class. */
  uint32_t n_gangs;
  uint32_t *gang_queue0, *gang_queue; /* ascending queue ids, 1 or more */
  uint32_t *gang_members;             /* 1 to the number of its queues */
  bool gangs_open;                    /* some gang has fewer members than queues */

  uint32_t n_args;
  uint32_t *op_arg0;                 /* CSR */
  uint8_t *arg_tag;                  /* fsched_tag */
  uint32_t *arg_buffer;              /* FS_NONE for a value */
  uint32_t *arg_version;             /* the version read and/or written; FS_NONE for a value */
  uint64_t *arg_offset, *arg_length; /* the whole buffer without `at` */
  /* A strided view, of an arg or of one of a body (fs_body_arg): its offset is 0, the arg's offset
   * is where it begins, and offset and length go from its first byte to its last one. */
  uint32_t n_views;
  fs_view *view;
  uint32_t *arg_view; /* FS_NONE: a range; NULL: all are */
  int64_t *arg_value;
  /* Gangs whose members have args of their own, one member's behind the other's: per op the number
   * of members, else 0; per arg the member, else 0.  NULL: no op has some. */
  uint32_t *op_members, *arg_member;
  bool *arg_begins; /* per arg: an `out_existing` of a slot, in which the op begins a value; to its
                     * kernel it is the `out` that was described.  NULL: no arg */

  uint32_t *op_use0, *use_resource; /* CSR, distinct resources per op, amounts above 0 */
  uint64_t *use_amount;
  uint32_t *op_scratch0, *scratch_memory;           /* CSR, distinct memories per op */
  uint64_t *scratch_size;                           /* not aligned */
  uint32_t *op_inplace0, *inplace_out, *inplace_in; /* CSR of arg ids; only legal pairs: both are
                                                     * whole buffers of equal size and memory; the
                                                     * op does not write the input version, and all
                                                     * other ops that read or write it are its
                                                     * ancestors; with raw hazards, ops that write
                                                     * the output as `out_existing` are its
                                                     * successors.  Other pairs are dropped */
  bool *arg_open; /* per arg: an output whose pair was dropped as checking it took too long */
  uint32_t *op_after0, *after_op; /* CSR: `after` as given, for the stream */

  /* Edges, without repeats: `after`, data by tags, and hazards. */
  uint32_t n_edges;
  uint32_t *pred0, *pred; /* ascending ids per op */
  uint32_t *succ0, *succ;
  uint32_t *topo; /* ops in a topological order: program order where possible */

  /* What was unrolled; without loops there is nothing.  A body op is an op as it was described; its
   * ops are its instances, in program order: of a run of its loop, as many as the loop has trips.
   */
  uint32_t n_loops;
  fs_graph_loop *loop;
  uint32_t n_body_ops;
  uint32_t *body_op_loop; /* per body op: the innermost loop around it; FS_NONE: none */
  uint32_t *op_body_op;   /* per op */
  uint32_t n_rings;
  fs_graph_ring *ring;
  uint32_t n_params;
  fs_graph_param *param;
  uint32_t n_rolled; /* loops that stay loops: by op; behind them those that are in these, ... */
  fs_rolled *rolled;
  uint32_t effort;         /* with which plans of loops were looked for: of fsched_builder_effort */
  const char *depths_hint; /* which depths fit, where those that were given do not; or NULL */
  struct fs_lower_bounds *unrolled; /* of what they mean (schedule.h); NULL: not known */
  uint32_t n_named; /* buffers from here on are versions of others, with a number behind the name */

  uint32_t n_races; /* hazards: raw: pairs of unordered ops, with the version */
  uint32_t *race_a, *race_b, *race_version;
  uint32_t n_loop_races; /* hazards: raw, and loops stay loops: all pairs of what these mean.  In
                          * the loops themselves they are ordered, as with sequential hazards */
  fs_graph_race *loop_race;
  bool loop_races_unknown; /* they were not found */
};

/* When the op is complete after its start, and whether its queues go on before that: then queue
 * order does not imply its end.  Requires an op of the graph. */
static inline fs_tick fs_op_latency(const fsched_graph *g, uint32_t op) {
  FS_ASSERT_SLOW(op < g->n_ops);
  return g->op_latency == NULL ? g->op_time[op] : g->op_latency[op];
}
static inline bool fs_op_slow(const fsched_graph *g, uint32_t op) {
  FS_ASSERT_SLOW(op < g->n_ops);
  return g->op_latency != NULL && g->op_latency[op] > g->op_time[op];
}
static inline bool fs_memory_bounded(const fs_memory *m) { return m->capacity != FS_UNBOUNDED; }
/* Can versions leave this memory?  It then has a backing store and queues that copy. */
static inline bool fs_memory_spills(const fs_memory *m) {
  return m->backing != FS_NONE && m->spill_domain != FS_NONE;
}
/* Version 0 of an input, constant or state buffer exists before the first op.  Requires a version
 * of the graph. */
bool fs_version_given(const fsched_graph *g, uint32_t version);
/* The last version of an output or state buffer is kept after the last op.  Requires a version of
 * the graph. */
bool fs_version_kept(const fsched_graph *g, uint32_t version);
/* Does the version keep its place in its own memory after the last op?  It does if it cannot leave
 * and is kept.  What a state begins with need not: it is put there again for the next run. */
bool fs_version_stays(const fsched_graph *g, uint32_t version);
/* Where an op is described; FS_NOWHERE when that is unknown, or unknown to this context.  Requires
 * an op of the graph. */
fs_pos fs_op_pos(const fsched_context *ctx, const fsched_graph *g, uint32_t op);
/* The same for a position that the graph stores. */
static inline fs_pos fs_graph_pos(const fsched_context *ctx, const fsched_graph *g, fs_pos pos) {
  return g->ctx == ctx ? pos : FS_NOWHERE;
}
/* Puts another graph behind the handle, which differs in the times and latencies of ops, in the
 * memories (costs of copies), and in one more name of a file that was read (or NULL).  The arrays
 * of the former graph are not written, and live as long as the handle.  Errors: FSCHED_SYSTEM; then
 * nothing has changed.
 */
fs_status fs_graph_become_measured(fsched_graph *g, const fs_tick *op_time,
                                   const fs_tick *op_latency, const fs_memory *memory,
                                   const char *file) FS_MUST_USE;
/* The arg's view, or NULL: a range.  Requires an arg of the graph. */
static inline const fs_view *fs_arg_view(const fsched_graph *g, uint32_t arg) {
  FS_ASSERT_SLOW(arg < g->n_args);
  return g->arg_view == NULL || g->arg_view[arg] == FS_NONE ? NULL : &g->view[g->arg_view[arg]];
}
/* How many arg lists the op has for its members; 0: one list for all.  Requires an op of the
 * graph. */
static inline uint32_t fs_op_members(const fsched_graph *g, uint32_t op) {
  FS_ASSERT_SLOW(op < g->n_ops);
  return g->op_members == NULL ? 0 : g->op_members[op];
}
/* The member whose arg it is; 0 where all have one list.  Requires an arg of the graph. */
static inline uint32_t fs_arg_member(const fsched_graph *g, uint32_t arg) {
  FS_ASSERT_SLOW(arg < g->n_args);
  return g->arg_member == NULL ? 0 : g->arg_member[arg];
}
/* Whether the arg is a range that is the whole buffer.  Requires an arg that names a buffer. */
static inline bool fs_arg_whole(const fsched_graph *g, uint32_t arg) {
  FS_ASSERT_SLOW(arg < g->n_args && g->arg_buffer[arg] != FS_NONE);
  return g->arg_offset[arg] == 0 && g->arg_length[arg] == g->buffer_size[g->arg_buffer[arg]] &&
         fs_arg_view(g, arg) == NULL;
}
/* The runs of bytes that an access is of (base/view.h); a buffer without bytes counts as one byte.
 * Requires an arg that names a buffer. */
fs_view_runs fs_arg_pieces(const fsched_graph *g, uint32_t arg);
/* Whether the arg has so many runs of bytes that they count as one: then it may share bytes with
 * all that lies between its first and its last one, but covers none of it.  Requires an arg of the
 * graph. */
bool fs_arg_coarse(const fsched_graph *g, uint32_t arg);
/* Whether plans count on each end alone: the target has barriers, which tell of it.  Else an end
 * counts when the epoch is reached, behind those of all items before on its queues.  (A target with
 * timelines can be compiled for barriers, too; its plans are then as for timelines.) */
static inline bool fs_graph_ends_alone(const fsched_graph *g) {
  return fs_sync_has_barriers(g->target.sync);
}
/* The first slow op (fs_op_slow); FS_NONE: queue order implies the end of every op.  O(ops). */
uint32_t fs_graph_first_slow(const fsched_graph *g);
/* The number of barriers that a compilation may use, from its option (0: as the target says): at
 * least 1 or FS_BARRIERS_AUTO; 0 for kinds of sync other than FS_SYNC_BARRIER.
 * Errors, reported: neither the target nor the option gives a number, or the option removes a
 * property that the target has for FS_SYNC_BLOCK.  The status is FSCHED_BAD_INPUT, or FSCHED_USAGE
 * when the fault is in the options. */
fs_status fs_graph_barriers(fsched_context *ctx, const fsched_graph *g, uint32_t option,
                            uint32_t *bound) FS_MUST_USE;
/* The ticks by which an op starts after the end of a predecessor on other queues, unless its start
 * is given; 0 where that counts nothing: all syncs stop everything, or all starts are given.
 * Requires a frozen graph. */
fs_tick fs_graph_wait(const fsched_graph *g);
/* The index of a version within its buffer.  Requires a version of the graph. */
static inline uint32_t fs_version_index(const fsched_graph *g, uint32_t version) {
  FS_ASSERT_SLOW(version < g->n_versions);
  return version - g->buffer_version0[g->version_buffer[version]];
}
/* What is given and kept of a buffer.  Requires a buffer of the graph. */
static inline fs_buffer_slot fs_buffer_slot_of(const fsched_graph *g, uint32_t buffer) {
  FS_ASSERT_SLOW(buffer < g->n_buffers);
  return g->buffer_slot == NULL ? (fs_buffer_slot){.size = g->buffer_size[buffer]}
                                : g->buffer_slot[buffer];
}
/* Requires a version of the graph. */
static inline uint64_t fs_version_size(const fsched_graph *g, uint32_t version) {
  FS_ASSERT_SLOW(version < g->n_versions);
  return g->buffer_size[g->version_buffer[version]];
}
/* Requires a version of the graph. */
static inline uint32_t fs_version_memory(const fsched_graph *g, uint32_t version) {
  FS_ASSERT_SLOW(version < g->n_versions);
  return g->buffer_memory[g->version_buffer[version]];
}
static inline const fs_memory *fs_version_home(const fsched_graph *g, uint32_t version) {
  return &g->target.memory[fs_version_memory(g, version)];
}
/* Is the version's own memory bounded, and can the version leave it? */
static inline bool fs_version_spills(const fsched_graph *g, uint32_t version) {
  const fs_memory *m = fs_version_home(g, version);
  return fs_memory_bounded(m) && fs_memory_spills(m);
}
/* The loop that stays one which an op is, of the graph's rolled ones; FS_NONE: it is none.
 * O(log loops).  Requires an op of the graph. */
uint32_t fs_op_rolled(const fsched_graph *g, uint32_t op);
/* What each queue of an op has of it, where they enter and leave on their own: of a loop that stays
 * one, in the order of its queues; NULL: all are taken from its start on, for its time.  O(log
 * loops).  Requires an op of the graph. */
const fs_rolled_part *fs_op_parts(const fsched_graph *g, uint32_t op);
/* The slots of all rings of a version: of one that a loop in a loop begins, those of all levels. 0:
 * no loop that stays one begins it.  O(rings).  Requires a version of the graph. */
uint64_t fs_version_slots(const fsched_graph *g, uint32_t version);
/* Has the gang fewer members than queues?  Requires a gang of the graph. */
static inline bool fs_gang_open(const fsched_graph *g, uint32_t gang) {
  FS_ASSERT_SLOW(gang < g->n_gangs);
  return g->gang_members[gang] < g->gang_queue0[gang + 1] - g->gang_queue0[gang];
}
/* Could an op run on other queues of a class than those it takes?  No loop could.  O(log loops).
 * Requires an op of the graph. */
static inline bool fs_op_by_class(const fsched_graph *g, uint32_t op) {
  FS_ASSERT_SLOW(op < g->n_ops);
  const fs_target *t = &g->target;
  if (fs_op_rolled(g, op) != FS_NONE) {
    return false;
  }
  if (g->op_gang[op] != FS_NONE) {
    return fs_gang_open(g, g->op_gang[op]);
  }
  uint32_t d = g->op_domain[op];
  return t->implicit_queues || t->domain_queue0[d + 1] - t->domain_queue0[d] > 1;
}
/* Where the queues of each op begin in a list of those of all ops: a gang's op has as many as the
 * gang has members, any other op has none.  The last of the n_ops + 1 entries is their number.
 * O(ops). */
fs_status fs_graph_members(const fsched_graph *g, fs_arena *arena, uint32_t **member0) FS_MUST_USE;
/* The launch of a command on a queue of the domain; the largest one of a gang's members.  Requires
 * a domain, or a gang, of the graph. */
fs_tick fs_domain_launch(const fs_target *t, uint32_t domain);
fs_tick fs_gang_launch(const fsched_graph *g, uint32_t gang);
/* Ticks of a copy: fixed + ceil(size * per / rate), with the size before alignment. */
fs_tick fs_spill_write_time(const fs_memory *m, uint64_t size);
fs_tick fs_spill_read_time(const fs_memory *m, uint64_t size);

#endif
