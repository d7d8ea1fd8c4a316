/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the stream verifier (stream/stream.c says what is proven and why that suffices).
 *
 * An item is what the walk executes in one step: one command, or all members of one gang command
 * (an occurrence of a collective axis). */
#ifndef FS_VERIFY_STREAM_H
#define FS_VERIFY_STREAM_H

#include "base/findings.h"
#include "model/graph.h"
#include "model/stream/views.h"
#include "model/sync.h"
#include "verify/clock.h"
#include "verify/space.h"

enum { FS_VNAME = 192 };             /* bytes of a description in a message */
#define FS_STAMP_GIVEN (FS_NONE - 1) /* content that was there before the first command */

typedef struct fs_vspaces { /* fs_vmap per index of a space */
  fs_vmap *at;
} fs_vspaces;

/* The right content of a version's bytes: that of one op, or a map of op ids. */
typedef struct fs_vtruth {
  uint32_t stamp; /* of all bytes when map is NULL; FS_NONE: undefined */
  fs_vmap *map;   /* offset to op id */
} fs_vtruth;

typedef struct fs_vpiece { /* content that a copy moves */
  uint64_t lo, hi, base;
  uint32_t version, stamp;
} fs_vpiece;

/* A command that updates a barrier, and the slots of the barrier that it takes. */
typedef struct fs_vproducer {
  uint32_t command, slots;
} fs_vproducer;

typedef struct fs_vguard {
  uint32_t op, low, high;
} fs_vguard;

typedef struct fs_vs {
  fsched_context *ctx;
  const fs_stream *s;
  fs_arena arena;
  fs_findings found; /* reported at the end, causes first */

  /* stream/shape.c */
  uint32_t *command_queue;
  uint32_t *op_command0, *op_command; /* CSR: the commands that run an op */
  uint32_t *axis_count;               /* largest epoch of an axis */
  uint32_t *occ0;                     /* CSR per axis: its occurrences */
  uint32_t n_occ;
  uint32_t *occ_command0, *occ_command; /* CSR: members in order of the axis' queues */
  uint32_t *command_occ;                /* or FS_NONE */

  /* stream/sync.c: FS_SYNC_BARRIER, per barrier */
  fs_sync_kind kind;
  uint32_t *producer0; /* CSR: in order of commands */
  fs_vproducer *producer;
  uint32_t *consumer0, *consumer;    /* CSR: commands, ascending */
  uint32_t *use_before, *use_behind; /* previous and next barrier of its physical one; FS_NONE */
  uint32_t *issue_command;           /* FS_SYNC_BLOCK: the commands in order of issue */

  /* loops/guards.c: stretches of the barriers of loops, the first barrier of each, and the loop (op
   * of the stream) that was walked last of those that have it, or have a loop in them that has it;
   * and the stretches [low, high) of each guard, by the op. */
  uint32_t n_stretches, *stretch_first, *stretch_op;
  uint32_t n_nest_guards;
  fs_vguard *nest_guard;

  /* stream/deps.c: predecessors of ops, from tags */
  uint32_t *pred0;
  FS_VEC(uint32_t) pred;
  uint64_t *race; /* (op_a << 32 | op_b) in both directions, sorted */
  uint32_t n_race;

  /* stream/walk.c */
  fs_vclock **base;        /* per queue: known commands of other queues */
  fs_vclock **snapshot;    /* per command that others wait for: its queue's base then */
  uint32_t *snapshot_refs; /* per command: number of waits to come */
  fs_vclock **occ_clock;   /* per occurrence: clocks of all members */
  uint32_t *occ_refs;      /* per occurrence: number of its readers to come */
  uint32_t *progress;      /* per axis: epochs complete */
  /* Where ops are slow (stream/walk.c), and barriers tell of each end apart (stream/apart.c): */
  bool any_slow, apart;
  uint32_t first_apart, n_apart; /* axes of slow commands */
  uint32_t *slow_axis;           /* per command: its axis, or FS_NONE */
  uint32_t *slow0, *slow;        /* CSR per queue: its slow commands, ascending */
  uint32_t *next_slow; /* per command: the epoch of the first slow command of its queue from this
                        * one on, FS_NONE: none */
  uint32_t *in_order;  /* per queue: the epoch up to which its next command knows it by order */
  uint64_t *reached;   /* per command: the planned time at which its epoch is reached */
  uint32_t one_queue, one_epoch; /* of the item at hand, if it is one command */
  fs_vdense by_order;            /* if it is a gang: what all members know of quick commands */
  bool is_gang;
  fs_vdense now, meet, other;
  /* stream/edges.c, of the loops of which each command counts for the buffers that it touches
   * alone, which are the first ones: CSR of these, as (buffer << 32 | queue), ascending; and the
   * commands at hand, and what they know. */
  uint32_t n_parted, *touched0, *some;
  uint64_t *touched;
  fs_vdense some_known;
  uint32_t noted, *noted_at; /* an edge; per version the last one at which it was accessed, */
  uint8_t *noted_writes;     /* and written */
  uint32_t now_queue;        /* queue whose clock `now` is; FS_NONE: none */
  uint32_t *source;          /* per queue: the wait that gave its entry of `now` */
  fs_vclocks clocks;

  /* stream/places.c */
  fs_vpool pool;
  fs_vspaces memory, counted, resource, concurrency;
  fs_vtruth *truth;      /* per version */
  uint8_t *has_units;    /* per version: had units of the counted memory that it is used in */
  uint8_t *in_loop_part; /* per loop arg: the same */
  /* loops/written.c, per buffer: the outermost loop that was walked last, or FS_NONE; whether all
   * that it reads was written.  NULL: none was walked. */
  uint32_t *nest_walked;
  uint8_t *nest_written;
  uint8_t *in_part; /* per arg: its op is a loop that may write over a part of it; NULL: none is */
  FS_VEC(fs_vpiece) piece;

  /* stream/hold.c: owners of the places of given and kept content, per memory */
  fs_vspaces hold;
  uint8_t *held, *begun; /* per version: FS_HELD_*; its content has been in a held place */
  bool any_held;
} fs_vs;

enum { FS_HELD_GIVEN = 1, FS_HELD_KEPT = 2 };

#define FS_WRONG(v, code, ...) fs_findings_add(&(v)->found, (code), NULL, __VA_ARGS__)

static inline bool fs_vs_in_range(uint32_t first, uint32_t n, uint32_t limit) {
  return first <= limit && n <= limit - first;
}
/* Requires a string of the stream, or FS_NONE. */
static inline const char *fs_vs_string(const fs_vs *v, uint32_t offset) {
  assert(offset == FS_NONE || offset < v->s->n_strings);
  return offset == FS_NONE ? "" : v->s->strings + offset;
}
/* Writes "command 3 of dma (run A)"; returns `text`.  Requires a command. */
const char *fs_vs_command_name(const fs_vs *v, uint32_t command, char text[FS_VNAME]);
/* Writes "x.2", for version 2 of buffer x; returns `text`.  Requires a version. */
const char *fs_vs_version_name(const fs_vs *v, uint32_t version, char text[FS_VNAME]);
/* Requires an op. */
static inline const char *fs_vs_op_name(const fs_vs *v, uint32_t op) {
  assert(op < v->s->n_ops);
  return fs_vs_string(v, v->s->ops[op].name);
}
static inline bool fs_vs_counted(const fs_stream_memory *m) {
  return !fs_placement_has_addresses(m->placement) && m->capacity != FS_UNBOUNDED;
}
static inline bool fs_vs_contiguous(const fs_stream_memory *m) {
  return fs_placement_has_addresses(m->placement) && m->capacity != FS_UNBOUNDED;
}
/* Whether the arg is all of its buffer, and no view. */
static inline bool fs_vs_whole(const fs_stream_arg *a) { return a->has_at == 0; }

/* The runs of bytes of an arg, in turn: fs_vs_run moves on to [low, high), false: there are no
 * more. */
typedef struct fs_vs_runs {
  uint64_t low, high;
  bool plain, over; /* plain: one run, which is over, or not yet */
  fs_view_runs view;
  fs_view_walk walk;
} fs_vs_runs;
/* From `base` on where byte 0 of the buffer lies.  Requires an arg that names a buffer. */
fs_vs_runs fs_vs_runs_of(const fs_vs *v, uint32_t arg, uint64_t base);
bool fs_vs_run(fs_vs_runs *r);

/* Whether an op of the stream is a loop, whose commands have times of their own.  O(log loops). */
bool fs_vs_is_loop(const fs_vs *v, uint32_t op);
/* The command of an occurrence that is planned to start first, and that is planned to end last.
 * Requires an occurrence. */
uint32_t fs_vs_first_of(const fs_vs *v, uint32_t occ);
uint32_t fs_vs_last_of(const fs_vs *v, uint32_t occ);
/* Whether the command may still run when the next one of its queue starts.  Requires a command. */
static inline bool fs_vs_slow(const fs_vs *v, uint32_t command) {
  assert(command < v->s->n_commands);
  const fs_stream_command *c = &v->s->commands[command];
  return fs_command_has_op(c) && v->s->ops[c->target].slow != 0;
}
/* Whether a command is complete before each member of the item at hand.  Requires a command. */
static inline bool fs_vs_before(const fs_vs *v, const fs_vdense *before, uint32_t command) {
  assert(command < v->s->n_commands);
  uint32_t q = v->command_queue[command], epoch = v->s->commands[command].epoch;
  if (v->apart && fs_vs_slow(v, command)) {
    return before->epoch[v->slow_axis[command]] != 0;
  }
  if (before->epoch[q] >= epoch) {
    return true;
  }
  if (v->apart || !v->any_slow || fs_vs_slow(v, command)) {
    return false;
  }
  return v->is_gang ? v->by_order.epoch[q] >= epoch : q == v->one_queue && epoch < v->one_epoch;
}

/* Whether what is ordered after a command is so after an earlier one, too: both are of one queue,
 * and the earlier one is not slow, or else both are and epochs tell of their ends.  Requires
 * commands. */
static inline bool fs_vs_stands_for(const fs_vs *v, uint32_t command, uint32_t earlier) {
  FS_ASSERT_SLOW(command < v->s->n_commands && earlier < v->s->n_commands);
  return v->command_queue[command] == v->command_queue[earlier] &&
         (!fs_vs_slow(v, earlier) || (!v->apart && fs_vs_slow(v, command)));
}

/* Each part reports its findings and returns FSCHED_OK, or FSCHED_SYSTEM. */
fs_status fs_vs_shape(fs_vs *v) FS_MUST_USE; /* records make sense; builds the indices */
/* Requires the indices that fs_vs_shape makes. */
fs_status fs_vs_sync(fs_vs *v) FS_MUST_USE;   /* records of the kind of sync */
fs_status fs_vs_places(fs_vs *v) FS_MUST_USE; /* each command's places are its op's */
/* loops/: loops that stay loops.  Their records make sense; and their bodies keep what they have
 * to, within the places of their ops. */
fs_status fs_vs_loops_shape(fs_vs *v) FS_MUST_USE;
/* Looks at the args that begin values in slots.  Requires the indices that fs_vs_shape makes, and
 * loops whose shape is right. */
fs_status fs_vs_loops_begins(fs_vs *v) FS_MUST_USE;
/* Requires the indices that fs_vs_shape makes. */
fs_status fs_vs_loops(fs_vs *v) FS_MUST_USE;
/* loops/guards.c, in the walk: a loop begins, of which `known` is complete before; those that have
 * barriers of it must be over.  Requires an op. */
void fs_vs_guards_begin(fs_vs *v, uint32_t op, const fs_vdense *known);
fs_status fs_vs_deps(fs_vs *v) FS_MUST_USE;  /* versions and predecessors from tags */
fs_status fs_vs_races(fs_vs *v) FS_MUST_USE; /* the list of races */
/* members.c: members of gangs with args of their own do not conflict.  Requires one meta record. */
fs_status fs_vs_members(fs_vs *v) FS_MUST_USE;
/* Whether the members' args are those of their op, in order.  Requires one meta record. */
bool fs_vs_members_tile(const fs_stream *s, const fs_stream_op *o);
/* The member of an op whose arg it is; 0 where all have one list.  Requires an op and an arg. */
uint32_t fs_vs_member(const fs_vs *v, uint32_t op, uint32_t arg);
/* Requires the indices that fs_vs_shape makes. */
fs_status fs_vs_walk(fs_vs *v) FS_MUST_USE; /* order, clocks, syncs, frontiers */
/* Requires the indices that fs_vs_shape makes. */
fs_status fs_vs_graph(fs_vs *v, const fsched_graph *g) FS_MUST_USE;

/* loops/graph.c: loops are those of the graph.  Requires as many loops as the graph has. */
void fs_vs_loops_graph(fs_vs *v, const fsched_graph *g);
/* NULL: a range. */
bool fs_vs_same_view(const fs_stream_view *a, const fs_view *b);
/* Requires a kernel of the graph, or FS_NONE. */
bool fs_vs_same_kernel(const fs_vs *v, const fsched_graph *g, uint32_t mine, uint32_t graphs);

/* stream/edges.c */
fs_status fs_vs_edges_begin(fs_vs *v) FS_MUST_USE;
/* The order of an item that runs an op after the op's predecessors; `known` as for fs_vs_access.
 * Requires an item that is not empty. */
void fs_vs_edges(fs_vs *v, const uint32_t *commands, uint32_t n, const fs_vdense *known);
/* Whether the op is a loop of which some commands may touch what others don't.  O(log loops). */
bool fs_vs_parted(const fs_vs *v, uint32_t op);
/* Those commands of an item that touch a buffer, and what is complete before each of these. */
typedef struct fs_vs_some {
  const uint32_t *commands;
  uint32_t n;
  const fs_vdense *known;
} fs_vs_some;
/* Valid until the next call; `known` is complete before each command.  Requires an item that is not
 * empty. */
fs_vs_some fs_vs_at_buffer(fs_vs *v, const uint32_t *commands, uint32_t n, uint32_t buffer,
                           const fs_vdense *known);

/* stream/access.c: the accesses of an item of which commands[0] is a member.  `before` holds the
 * commands that are complete before each member, and may hold the item's own epochs. */
fs_status fs_vs_access_begin(fs_vs *v) FS_MUST_USE;
/* Requires an item that is not empty. */
fs_status fs_vs_access(fs_vs *v, const uint32_t *commands, uint32_t n,
                       const fs_vdense *before) FS_MUST_USE;
fs_status fs_vs_access_end(fs_vs *v) FS_MUST_USE;
/* stream/units.c, called at the end: (*right)[version] tells whether the version has its units
 * where it is kept. */
fs_status fs_vs_units_end(fs_vs *v, bool **right) FS_MUST_USE;
/* stream/hold.c, called by the functions of stream/access.c. */
fs_status fs_vs_hold_begin(fs_vs *v) FS_MUST_USE;
/* Requires an item that is not empty. */
fs_status fs_vs_hold(fs_vs *v, const uint32_t *commands, uint32_t n,
                     const fs_vdense *before) FS_MUST_USE;
/* At the end: whether the version owns all of the place where it is kept.  Requires a version. */
bool fs_vs_hold_kept(const fs_vs *v, uint32_t version);
/* Whether the order of two ops is one that raw hazards leave open.  Requires ops of the stream. */
bool fs_vs_race(const fs_vs *v, uint32_t op_a, uint32_t op_b);

/* The units of progress that fsched_verify_program counts: the commands in the walk, and for the
 * other parts as many units as their share of the time, roughly. */
uint64_t fs_verify_program_work(const fsched_program *program);
static inline uint64_t fs_vs_part_work(const fs_stream *s) { return s->n_commands / 16 + 1; }
enum { FS_VS_PARTS = 5 }; /* parts before the walk */

#endif
