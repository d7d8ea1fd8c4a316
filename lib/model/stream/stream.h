/* SPDX-License-Identifier: Apache-2.0 */
/* The command stream: records as they lie in a .fsb file (little-endian, 8-byte aligned), used in
 * place.  codegen/ writes them; dis, verify and exec read them.  Every reference is an index into a
 * section; names are offsets into the string section (NUL-terminated).  FS_NONE is "none".
 *
 * File: fs_stream_header, then the sections in the order of fs_stream_section, each padded to 8
 * bytes.  fs_stream_check (codegen/load/check.c) proves every index, count, enum and string to be
 * in range and every CSR range to tile its section before an fs_stream is handed out. */
#ifndef FS_STREAM_H
#define FS_STREAM_H

#include "base/base.h"
#include "fsched/graph.h"
#include "fsched/program.h"
#include "model/kinds.h"

#define FS_STREAM_MAGIC "fsched\x1a\n" /* 8 bytes */
#define FS_STREAM_VERSION 15u

/* X(id, record type): the sections in file order. */
#define FS_STREAM_SECTIONS(X)              \
  X(meta, fs_stream_meta)                  \
  X(axes, fs_stream_axis)                  \
  X(axis_members, uint32_t)                \
  X(queues, fs_stream_queue)               \
  X(memories, fs_stream_memory)            \
  X(resources, fs_stream_resource)         \
  X(buffers, fs_stream_buffer)             \
  X(versions, fs_stream_version)           \
  X(ops, fs_stream_op)                     \
  X(args, fs_stream_arg)                   \
  X(members, fs_stream_member)             \
  X(views, fs_stream_view)                 \
  X(uses, fs_stream_use)                   \
  X(scratches, fs_stream_scratch)          \
  X(afters, uint32_t)                      \
  X(kernels, fs_stream_kernel)             \
  X(races, fs_stream_race)                 \
  X(commands, fs_stream_command)           \
  X(waits, fs_stream_wait)                 \
  X(frontiers, fs_stream_wait)             \
  X(places, fs_stream_place)               \
  X(barriers, fs_stream_barrier)           \
  X(barrier_waits, uint32_t)               \
  X(barrier_updates, fs_stream_update)     \
  X(stops, fs_stream_stop)                 \
  X(params, fs_stream_param)               \
  X(loops, fs_stream_loop)                 \
  X(loop_queues, fs_stream_loop_queue)     \
  X(loop_ops, fs_stream_loop_op)           \
  X(loop_afters, fs_stream_loop_after)     \
  X(loop_args, fs_stream_loop_arg)         \
  X(loop_members, fs_stream_member)        \
  X(loop_views, fs_stream_view)            \
  X(rings, fs_stream_ring)                 \
  X(loop_commands, fs_stream_loop_command) \
  X(loop_waits, fs_stream_loop_wait)       \
  X(loop_stops, fs_stream_stop)            \
  X(guards, fs_stream_guard)               \
  X(producers, uint32_t)                   \
  X(guard_checks, fs_stream_guard_check)   \
  X(loop_places, fs_stream_place)          \
  X(loop_races, fs_stream_loop_race)       \
  X(strings, char)

typedef struct fs_stream_meta { /* exactly one */
  uint32_t name, time_unit;     /* string; time_unit FS_NONE */
  uint32_t hazards;             /* fsched_hazards */
  uint32_t sync;                /* fs_sync_kind */
  uint64_t makespan, lower_bound;
  uint64_t concurrency; /* 0: no limit */
  uint64_t frontier_capacity;
  /* FS_SYNC_BARRIER: physical barriers that the machine has (FS_NONE: unknown), and producer slots
   * of each (FS_NONE: without limit).  Else 0. */
  uint32_t barrier_count, barrier_slots;
} fs_stream_meta;

typedef struct fs_stream_axis { /* queue axes first, in order of queues; then collectives */
  uint64_t id; /* session 8 | machine 8 | domain 8 | ordinal 40, most significant first */
  uint32_t name, kind;
  uint32_t member0, n_members; /* collective: queues, ascending, in axis_members */
} fs_stream_axis;

typedef struct fs_stream_queue {
  uint32_t name, class_name, device, machine;
  uint32_t command0, n_commands; /* epochs 1 .. n_commands in order */
  uint32_t counting;             /* FS_SYNC_BLOCK: 0/1 */
  uint32_t host;                 /* 0/1: a thread of the host; devices do not run its commands */
} fs_stream_queue;

typedef struct fs_stream_memory {
  uint64_t capacity, align; /* FS_UNBOUNDED for no limit */
  uint64_t extent;          /* bytes that replay needs: past the highest address in use */
  uint32_t name, placement; /* FSCHED_CONTIGUOUS or FSCHED_COUNTED */
  uint32_t backing, stack;  /* stack: 0/1, the graph's placement is FSCHED_STACK */
  uint32_t host, reserved;  /* host: 0/1, memory of the host on every back end */
} fs_stream_memory;

typedef struct fs_stream_resource {
  uint64_t capacity;
  uint32_t name, reserved;
} fs_stream_resource;

/* What is given and kept of a buffer is io_size bytes: of its version 0 those from `given` on, and
 * of the last one those from `kept` on.  That is all of it, unless a loop has slots for it, of
 * which one is given, or kept. */
typedef struct fs_stream_buffer {
  uint64_t size;
  uint64_t io_size, given, kept;
  uint32_t name, memory, io; /* fsched_io */
  uint32_t version0, n_versions, reserved;
} fs_stream_buffer;

/* The place of given content before the first command (in its store, or where its version lies at
 * time 0), and the place of a kept version after the last one.  A memory of FS_NONE means not
 * given, or not kept.  After an invocation the kept version of a state buffer is copied to the
 * place of its version 0. */
typedef struct fs_stream_version {
  uint64_t given_address, kept_address;
  uint32_t given_memory, kept_memory;
  uint32_t buffer, index;
} fs_stream_version;

typedef struct fs_stream_op { /* program order */
  uint64_t time;
  uint32_t name, kernel; /* FS_NONE: mix */
  uint32_t arg0, n_args, use0, n_uses, scratch0, n_scratches, after0, n_afters;
  uint32_t slots;    /* producer slots that each of its commands takes of a barrier */
  uint16_t slow;     /* 0/1; timelines alone: `time` is how long its commands keep their queues, and
                      * they end later; else they end after `time` */
  uint16_t by_class; /* 0/1: its commands could as well be on other queues of their class; else only
                      * on those that it names, or that are all of the class */
  uint32_t member0, n_members; /* of a gang whose members have args of their own; else 0 of them */
} fs_stream_op;

/* The args of a gang's member, which are a part of its op's: member i runs them on the i-th queue
 * of the gang's axis.  (In loops, whichever of its queues comes last runs all of them in turn.)
 * Members share no byte that one of them writes, but for races.  The op's other places are all
 * members', and its commands have the places of all args. */
typedef struct fs_stream_member { /* the members of an op tile its args */
  uint32_t arg0, n_args;
} fs_stream_member;

typedef struct fs_stream_arg {
  uint64_t offset, length; /* whole buffer without `at` */
  int64_t value;
  uint32_t tag, buffer; /* fsched_tag; FS_NONE for a value */
  uint32_t version;     /* as derived by the graph; verify derives it again */
  uint16_t has_at;
  uint16_t begins; /* 0/1: an out_existing of a slot of a ring, in which the op begins a value; its
                    * kernel sees `out` */
} fs_stream_arg;

/* A strided view, ascending in args (or in loop_args, of those): the arg's offset is where it
 * begins, and offset and length go from its first byte to its last one.  The kernel gets its
 * elements in the order of the dimensions, the last one innermost. */
typedef struct fs_stream_view {
  uint64_t element;                                         /* bytes */
  uint64_t shape[FSCHED_MAX_DIMS], stride[FSCHED_MAX_DIMS]; /* bytes; 0 behind the last dimension */
  uint32_t arg, n_dims;
} fs_stream_view;

typedef struct fs_stream_use {
  uint64_t amount;
  uint32_t resource, reserved;
} fs_stream_use;

typedef struct fs_stream_scratch {
  uint64_t size; /* not aligned */
  uint32_t memory, reserved;
} fs_stream_scratch;

typedef struct fs_stream_kernel {
  uint64_t shared_bytes;
  uint32_t builtin, module, function; /* strings or FS_NONE */
  uint32_t grid[3], block[3];
  uint32_t params; /* string of hexadecimal digits in lower case, or FS_NONE */
} fs_stream_kernel;

typedef struct fs_stream_race {
  uint32_t op_a, op_b, version, reserved;
} fs_stream_race;

/* A race of what the loops of a graph with raw hazards mean, which are done in program order: the
 * ops, perhaps one and the same, as described, that of the earlier instance first. */
typedef struct fs_stream_loop_race {
  uint64_t distance;                     /* FS_NO_DISTANCE: no loop is around both */
  uint32_t op_a, op_b, buffer, reserved; /* strings */
} fs_stream_loop_race;

/* Only commands of FS_SYNC_TIMELINE have waits, signal and scope; elsewhere these are empty and 0.
 */
typedef struct fs_stream_command {
  uint64_t start, end; /* planned */
  uint32_t target;     /* RUN: op; COPY: version */
  uint32_t epoch;
  uint32_t gang_axis, gang_epoch; /* FS_NONE, 0: no gang */
  uint8_t kind;                   /* fs_command_kind */
  uint8_t direction;              /* COPY: fs_copy_kind (0 write to the store, 1 read from it) */
  uint8_t signal, scope;          /* 0/1; fs_scope of sync.h (0 queue .. 4 system) */
  uint8_t tainted, reserved[3];
  uint32_t wait0, n_waits, frontier0, n_frontier, place0, n_places;
  /* FS_SYNC_BARRIER: into barrier_waits and barrier_updates. */
  uint32_t barrier_wait0, n_barrier_waits, barrier_update0, n_barrier_updates;
  uint32_t issue; /* FS_SYNC_BLOCK: place in the one order of issue, from 0; else 0 */
  uint32_t reserved2;
} fs_stream_command;

/* A barrier, and the physical one that it is while it is in use.  A physical barrier serves its
 * uses in the order of `use`; the next begins when all consumers of the previous use have started.
 * Producers are the commands that update the barrier, consumers those that wait for it. */
typedef struct fs_stream_barrier {
  uint32_t physical, use; /* use: 0, 1, ... on each physical barrier */
  uint32_t n_producers, n_consumers;
} fs_stream_barrier;

typedef struct fs_stream_update { /* ascending by barrier within a command */
  uint32_t barrier, slots;
} fs_stream_update;

/* See fs_stop in sync.h. */
typedef struct fs_stream_stop {
  uint32_t at, queue; /* queue FS_NONE: full */
  uint32_t keep, reserved;
} fs_stream_stop;

typedef struct fs_stream_wait { /* ascending by axis */
  uint32_t axis, epoch;
} fs_stream_wait;

enum { FS_MODE_R = 1, FS_MODE_W = 2, FS_MODE_RW = 3 };
/* The mode of the place of an arg; with no_dep the content may be read. */
static inline uint8_t fs_tag_mode(unsigned tag) {
  unsigned mode = (fs_tag_reads(tag) ? FS_MODE_R : 0) | (fs_tag_writes(tag) ? FS_MODE_W : 0);
  return (uint8_t)(mode == 0 ? FS_MODE_R : mode);
}

/* The places that a command touches.  A RUN: for every buffer arg in order one MEMORY place
 * (address of the accessed bytes, so `at` included; in unbounded and counted memories every version
 * has bytes of its own), then scratch in contiguous bounded memories (version FS_NONE, mode w),
 * then COUNTED intervals of the residencies touched (mode as the access; scratch w), then RESOURCE
 * and CONCURRENCY intervals (mode w).  A COPY: source (r), destination (w), COUNTED intervals (w
 * for a read from the store, r for a write).  Members of a gang have the same places. */
typedef struct fs_stream_place {
  uint64_t address, size;
  uint32_t index;
  uint32_t version; /* FS_NONE for scratch, resource, concurrency */
  uint32_t arg;     /* arg id, or scratch id for scratch; FS_NONE else */
  uint8_t space, mode, reserved[2];
} fs_stream_place;

/* Loops of the graph take their trips from it.  It is there also where none of them is in the
 * stream, since they hold no op or are in one that never runs: invocations may give it all the
 * same. */
typedef struct fs_stream_param {
  uint64_t least, most; /* in the ranges of all these loops */
  uint32_t name, reserved;
} fs_stream_param;

#define FS_LOOP_COPIES 64u /* the most copies of a loop */
#define FS_LOOP_NEST 8u    /* the most loops around an op of a body */

/* A loop that stays a loop (lib/model/rolled.h, which says what its commands and waits mean) is an
 * op: of the stream, or of the body of the loop that it is in.  That op's args, places and queues
 * are what all iterations together touch, and its commands on all of its queues are one gang's.  In
 * the stream these need not meet: each queue begins its part of the loop once the waits of its own
 * command are over, and goes on behind the loop when its own part is.  So with waits (and no slow
 * ops) a command of an outermost loop has those that the ops of its queue need, and others may wait
 * for it alone.  In a body they do meet, before
 * the inner loop and behind it, unless its runs are joined.  Instead of a kernel it runs the ops of
 * its body, `trip` times. loop_ops, loop_queues and rings of a loop are consecutive, and so are the
 * loop_commands of its queues.
 *
 * Where an op of a body is a loop, each of its iterations runs that loop anew: nothing that the
 * inner loop counts goes on from one run to the next, unless its runs are joined.  Its records are
 * those of a run in iteration 0 of all loops around it; in others, all that lies in an arg of its
 * op moves with that arg.
 *
 * Where the runs of a loop in a loop are joined, its queues do not meet: each begins its part of a
 * run once the waits of its own command in the outer loop are over, and that command is over when
 * the part is.  A part is slow if it has slow ops, of which none accesses bytes from outside that
 * the loop writes, and not for each a quick one of the queue waits in its iteration: then its queue
 * goes on when its last op has kept it for its time, so that ops of the run before may be under way
 * while the next one begins.  A run in iteration j of the loop around begins with iteration f = j *
 * trip of all runs, where trip is how often the loop runs there: waits at a distance reach back
 * into runs before, and slots are those of f.  Iterations, steps and names are still those of the
 * run.  Barriers are set when a run of the loop around begins, and f decides which one and which
 * phase an iteration uses.  Such a loop has waits or barriers (no FS_SYNC_BLOCK), no loops inside,
 * and a trip that does not vary and is a multiple of its copies, if it has several, and of the
 * depths of rings that have a value on entry or are read back, by one; and the loop around is not
 * joined itself.
 *
 * A trip that is a parameter may be given with each invocation, within least .. most, which are
 * those of the parameter; what is planned, ranges and places are those of `most` iterations. */
typedef struct fs_stream_loop { /* those that are in no loop come first; ascending by op */
  uint64_t trip;                /* if no other one is given: the most */
  uint64_t least, most;         /* without a parameter both are `trip` */
  uint32_t param;               /* of params; FS_NONE: none */
  uint32_t within;              /* the loop that it is in, which comes before it, or FS_NONE */
  uint32_t op;                  /* of the stream's ops; of loop_ops if it is in a loop */
  uint32_t copies;
  uint32_t queue0, n_queues; /* loop_queues; ascending by queue: those of the op */
  uint32_t op0, n_ops;       /* loop_ops, in program order */
  uint32_t ring0, n_rings;
  uint32_t stop0,
      n_stops; /* FS_SYNC_BLOCK: loop_stops, those of each step; `at` is a place in it */
  uint32_t guard0, n_guards; /* FS_SYNC_BARRIER */
  uint32_t joined;           /* 0/1: its runs are, and its queues do not meet */
  uint32_t reserved;
} fs_stream_loop;

typedef struct fs_stream_loop_queue {
  uint32_t queue, command0, n_commands, reserved; /* loop_commands, in the order of a step */
} fs_stream_loop_queue;

typedef struct fs_stream_loop_op {
  uint64_t time, latency; /* latency: at least the time; a command is slow where it is more */
  uint32_t name, kernel;  /* the name of an instance is NAME[i][j], with its iterations of all loops
                           * around it, the outermost first; kernel FS_NONE: mix */
  uint32_t arg0, n_args, after0, n_afters;
  uint32_t loop;               /* the loop that it is, or FS_NONE */
  uint32_t slots;              /* producer slots that each of its commands takes of a barrier */
  uint32_t member0, n_members; /* as in fs_stream_op, of loop_members; no loop has some */
  uint32_t by_class;           /* 0/1: as in fs_stream_op; 0 of a loop */
  uint32_t reserved;
} fs_stream_loop_op;

/* Iteration i of the op comes after iteration i - distance of another op of the loop. */
typedef struct fs_stream_loop_after {
  uint32_t op, distance; /* op: of loop_ops */
} fs_stream_loop_after;

/* An arg of iteration i.  Without a ring it is `length` bytes of the buffer from offset + step * i
 * on, as far as the buffer goes.  With a ring it is `length` bytes, from `offset` on, of the value
 * that iteration i - back has begun; below iteration 0, of the one that was there on entry.
 *
 * A view (loop_views) is never cut off: it lies in the buffer in all iterations.
 *
 * `own` is an arg of the op that the loop is, of the same buffer, and no view.  If that op is in a
 * loop, the arg moves with it: by its steps, and to the slots of its ring.  Offsets are then within
 * a version of that ring, which ends where the version does. */
typedef struct fs_stream_loop_arg {
  uint64_t offset, length;
  int64_t step, value;
  uint32_t tag, buffer; /* buffer: of the stream; FS_NONE for a value */
  uint32_t ring, back;  /* FS_NONE, 0: no ring */
  uint32_t own;         /* of args, or of loop_args if the loop is in one; FS_NONE for a value */
  uint32_t begins;      /* 0/1: as in fs_stream_arg, of a ring of the loop, or of one inside */
} fs_stream_loop_arg;

/* The versions that an op of the body begins of a buffer, one in each iteration: that of iteration
 * i lies in slot i mod depth, at slot * (i mod depth) of the place of the loop's own arg.  The
 * value that is there on entry, if there is one, lies in slot depth - 1, as that of iteration -1;
 * the one of the last iteration is what is there behind the loop.  If there is one on entry, and
 * the loop may run in different numbers (least < most), or the ring says so, it is moved to slot
 * depth - 1 when a run is over, so that it lies where that on entry did, which it is if there were
 * no iterations; or so that it lies in one place, however often the loop runs. */
typedef enum fs_ring_entry {
  FS_RING_EMPTY,   /* there is no value on entry */
  FS_RING_ENTRY,   /* there is one */
  FS_RING_RETURNS, /* there is one, and the last one is moved; of trips that do not vary */
  FS_RING_LEAVES,  /* there is none, and the last one is moved; of trips that vary, from 1 on */
} fs_ring_entry;
typedef struct fs_stream_ring {
  uint64_t size, slot;   /* bytes of a version; from one slot to the next */
  uint32_t arg;          /* of the op that the loop is: of args, or of loop_args */
  uint32_t writer;       /* of loop_ops */
  uint32_t depth, entry; /* entry: fs_ring_entry */
} fs_stream_ring;

/* Its places are those of iteration 0 (of slot 0 where they have a ring), in the order of the op's
 * args, then scratch, then lanes of resources, numbered within the loop; `arg` is of loop_args. */
typedef struct fs_stream_loop_command {
  uint32_t op, copy, shift; /* op: of loop_ops */
  uint32_t wait0, n_waits, place0, n_places;
  uint32_t signal;           /* 0/1: some wait names it */
  uint32_t issue, reserved;  /* FS_SYNC_BLOCK: place in a step's order of issue, from 0; else 0 */
  uint32_t check0, n_checks; /* FS_SYNC_BARRIER: guard_checks */
} fs_stream_loop_command;

/* With barriers or block syncs, what its checks, or the stops of the loop, tell a command that
 * needs it. */
typedef struct fs_stream_loop_wait { /* ascending by command, then distance */
  uint32_t command, distance;        /* command: of loop_commands, of the same loop */
} fs_stream_loop_wait;

/* Barriers of a loop (model/rolled.h), one after the other from `physical` on; they belong to the
 * loop while it runs, and to others that are in no loop with it and stand before or behind it. */
typedef struct fs_stream_guard {
  uint32_t physical, depth;
  uint32_t producer0, n_producers; /* into producers: of loop_ops, ascending */
  uint32_t queue; /* FS_NONE; or its producers are loops whose runs are joined, and only their parts
                   * on this queue update it */
  uint32_t reserved;
} fs_stream_guard;

typedef struct fs_stream_guard_check { /* ascending by guard, then distance */
  uint32_t guard, distance;
} fs_stream_guard_check;

typedef struct fs_stream_header {
  char magic[8];
  uint32_t version;
  uint32_t header_size; /* sizeof(fs_stream_header) */
  uint64_t file_size;
  uint32_t checksum; /* CRC-32C of the file with this field 0 */
  uint32_t n_sections;
#define FS_SECTION_COUNT_(id, type) +1
  struct {
    uint64_t offset, count; /* bytes from the start of the file; records */
  } section[0 FS_STREAM_SECTIONS(FS_SECTION_COUNT_)];
} fs_stream_header;

/* Fields of a checked stream, as values of their enumerations. */
static inline fs_command_kind fs_command_kind_of(const fs_stream_command *c) {
  return (fs_command_kind)c->kind;
}
static inline fs_copy_kind fs_command_direction(const fs_stream_command *c) {
  return (fs_copy_kind)c->direction;
}
/* Whether the last value of a ring is moved when a run of its loop is over. */
static inline bool fs_ring_moves(const fs_stream_loop *loop, const fs_stream_ring *r) {
  return r->entry == FS_RING_RETURNS || r->entry == FS_RING_LEAVES ||
         (r->entry == FS_RING_ENTRY && loop->least < loop->most);
}
/* Whether a ring has a value on entry. */
static inline bool fs_ring_entered(const fs_stream_ring *r) {
  return r->entry == FS_RING_ENTRY || r->entry == FS_RING_RETURNS;
}
static inline fs_space fs_place_space(const fs_stream_place *p) { return (fs_space)p->space; }

/* Is the target of the command an op? */
static inline bool fs_command_has_op(const fs_stream_command *c) { return fs_kind_has_op(c->kind); }
static inline bool fs_command_has_version(const fs_stream_command *c) {
  return fs_kind_has_version(c->kind);
}
/* The op, or FS_NONE. */
static inline uint32_t fs_command_op(const fs_stream_command *c) {
  return fs_command_has_op(c) ? c->target : FS_NONE;
}

/* The view of a stream that all code uses: pointers into the file. */
typedef struct fs_stream {
#define FS_SECTION_VIEW_(id, type) \
  const type *id;                  \
  uint32_t n_##id;
  FS_STREAM_SECTIONS(FS_SECTION_VIEW_)
} fs_stream;

static inline fs_sync_kind fs_stream_sync(const fs_stream *s) {
  return (fs_sync_kind)s->meta->sync;
}

static inline const char *fs_stream_string(const fs_stream *s, uint32_t offset) {
  return offset == FS_NONE ? NULL : s->strings + offset;
}

/* Does the command end after its queue goes on, and when does that go on?  Requires a command of
 * the stream. */
static inline bool fs_command_slow(const fs_stream *s, const fs_stream_command *c) {
  FS_ASSERT_SLOW(!fs_command_has_op(c) || c->target < s->n_ops);
  return fs_command_has_op(c) && s->ops[c->target].slow != 0;
}
static inline uint64_t fs_command_free(const fs_stream *s, const fs_stream_command *c) {
  return fs_command_slow(s, c) ? c->start + s->ops[c->target].time : c->end;
}
/* Is some op slow?  O(ops). */
static inline bool fs_stream_has_slow(const fs_stream *s) {
  uint32_t op = 0;
  while (op < s->n_ops && s->ops[op].slow == 0) {
    op++;
  }
  return op < s->n_ops;
}

/* The name of the target: the op's, or that of the version's buffer. */
static inline const char *fs_command_target_name(const fs_stream *s, const fs_stream_command *c) {
  switch (fs_command_kind_of(c)) {
    case FS_COMMAND_RUN:
      return fs_stream_string(s, s->ops[c->target].name);
    case FS_COMMAND_COPY:
      return fs_stream_string(s, s->buffers[s->versions[c->target].buffer].name);
  }
  return NULL;
}
/* The number of possible targets for a command of this kind. */
static inline uint32_t fs_stream_targets(const fs_stream *s, fs_command_kind kind) {
  switch (kind) {
    case FS_COMMAND_RUN:
      return s->n_ops;
    case FS_COMMAND_COPY:
      return s->n_versions;
  }
  return 0;
}

/* The program behind the public handle. */
struct fsched_program {
  fsched_context *ctx;
  void *bytes;
  size_t size;
  bool mapped;   /* released by munmap, else by fs_realloc to 0 */
  bool borrowed; /* the memory is the caller's and is not released */
  fs_stream view;
};

#endif
