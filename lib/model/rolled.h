/* SPDX-License-Identifier: Apache-2.0 */
/* A loop that stays a loop: what each queue does in one step, and waits that name a command and a
 * distance.  Its size does not depend on how often it runs.
 *
 * A command runs the instances of one op of the body: with `copies` u those of the iterations i
 * with i mod u = copy.  Each queue that takes part runs steps t = 0, 1, 2, ..., and in each its
 * commands in order: in step t a command runs iteration
 *
 *     i = (t - shift) * u + copy
 *
 * if that is one of 0 .. n - 1, where n is how often the loop runs.  Else it passes as complete: so
 * prologue, epilogue and few trips need no cases of their own.  The steps of a queue end when no
 * command of it has an iteration left.
 *
 * A wait (target, distance) holds iteration i of its command until iteration i - distance of the
 * target, and all that its queue has before that, are over.  Where i - distance is below 0 there is
 * nothing to wait for.  The target is of the copy (copy - distance) mod u.
 *
 * Queues start their commands in order.  A command is over before the next one of its queue starts,
 * unless it is slow.  The commands of a gang's op, one on each of its queues, start together; those
 * of an op that is a loop whose runs are joined (stream.h) do not, and are over one by one.
 *
 * On targets of block syncs the loop is `issued`: one sequencer issues the commands of all queues,
 * step by step, and those of a step in the order of their places; shifts count steps of all queues.
 * In each step it waits at stops: before the command at place `at` until all that was issued is
 * over, or, of one queue, all but the last `keep` commands.  What passes counts as issued, and as
 * over when what its queue has before that is.  Waits are then what the stops have to say, of which
 * each is said by one; no stop lies between the commands of a gang.
 *
 * On targets of barriers the loop is `guarded`.  A guard of depth D stands for D barriers;
 * iteration i of its producers, which are ops, uses barrier i mod D.  When all of these are over,
 * that barrier completes its phase i div D; before its first phase none is complete.  A check
 * (guard, distance) holds iteration i of its command until phase (i - distance) div D of barrier (i
 * - distance) mod D is complete, which it sees by the phase's parity alone; where i - distance is
 * below 0 there is nothing to check.  So no phase may be completed twice by one of its producers,
 * and phase k + 1 only when all that check phase k have seen it: as its parity is that of phase k -
 * 1, a command that comes too late would wait without end.  Waits are then what checks have to say,
 * of which each is said by one.  Each run of the loop begins with barriers that are set anew; where
 * runs are joined, all of those in one run of the loop around do, and iterations are counted on.
 *
 * A ring of depth D keeps the version that iteration i makes in slot i mod D.  A reader of an
 * earlier iteration than the first reads what is there on entry, which lies in slot D - 1, as the
 * version of iteration -1 would.  Where trips are a parameter, or later runs look for it there,
 * whoever runs the loop moves the last version of such a ring back to slot D - 1 in the end, so
 * that ops behind find it wherever.  A reader that is the writer may take the slot that it reads:
 * it works in place. */
#ifndef FS_ROLLED_H
#define FS_ROLLED_H

#include "base/mem.h"

typedef struct fs_rolled_wait {
  uint32_t command;  /* the target */
  uint32_t distance; /* iterations */
} fs_rolled_wait;

typedef struct fs_rolled_command {
  uint32_t member; /* op of the body */
  uint32_t copy, shift;
  uint32_t wait0, n_waits;
  uint32_t check0, n_checks; /* ascending by guard, then distance */
  uint32_t issue;            /* its place in a step, where the loop is issued; else 0 */
  bool slow;                 /* the queue goes on before the op is over */
  /* Of an op that is a loop whose runs are joined, the part that it has on this queue: as planned,
   * it begins so long behind the first one of the run, lasts so long (else 0), and keeps the queue
   * so long; and so long after a run begins does the next one, at least. */
  uint64_t behind, lasts, keeps, again;
} fs_rolled_command;

typedef struct fs_rolled_stop {
  uint32_t at;
  uint32_t queue; /* of the target; FS_NONE: a full sync */
  uint32_t keep;
} fs_rolled_stop;

typedef struct fs_rolled_guard {
  uint32_t depth; /* barriers, at least 1 */
  uint32_t producer0, n_producers;
  bool part;      /* its producers are loops whose runs are joined: only their parts on `queue` */
  uint32_t queue; /* of the target */
} fs_rolled_guard;

typedef struct fs_rolled_check {
  uint32_t guard, distance;
} fs_rolled_check;

typedef struct fs_rolled_reader {
  uint32_t member;
  uint32_t back; /* iteration i reads the version of iteration i - back */
} fs_rolled_reader;

typedef struct fs_rolled_ring {
  uint32_t writer; /* member */
  uint32_t depth;  /* slots, at least 1 */
  uint32_t reader0, n_readers;
} fs_rolled_ring;

typedef struct fs_rolled_loop {
  uint32_t copies; /* at least 1 */
  uint32_t n_queues;
  uint32_t *queue;    /* ids of the target's queues that take part, ascending */
  uint32_t *command0; /* CSR per queue of these: its commands, in the order of a step */
  uint32_t n_commands;
  fs_rolled_command *command;
  uint32_t n_waits;
  fs_rolled_wait *wait;
  uint32_t n_rings;
  fs_rolled_ring *ring;
  fs_rolled_reader *reader;
  bool issued;
  uint32_t n_stops;
  fs_rolled_stop *stop; /* ascending by place, full ones first, then by queue */
  bool guarded;
  uint32_t n_guards, n_checks;
  fs_rolled_guard *guard;
  uint32_t *producer; /* members */
  fs_rolled_check *check;
} fs_rolled_loop;

/* The starts of a run that is followed. */
typedef struct fs_rolled_starts {
  uint64_t *first; /* per command: where its iterations begin in `start`; and their end */
  uint64_t *start; /* ticks from the begin of the run */
  uint64_t end;    /* when all are over */
  bool locks_up;   /* some never start */
} fs_rolled_starts;

/* Follows all of `trip` iterations, each command of which starts as soon as it can; the parts of a
 * run of a loop inside that is joined, as soon as all of them can as they were planned.  time and
 * latency are of members.  What locks up does not start, and has a start of 0.  Requires some
 * iterations.  What it finds is in the arena.
 * Complexity: O(iterations * waits), and for gangs as much for each of their queues.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_rolled_follow(fs_arena *arena, const fs_rolled_loop *r, const uint64_t *time,
                           const uint64_t *latency, uint64_t trip,
                           fs_rolled_starts *out) FS_MUST_USE;

/* What a queue has of a run: from its first start until it is free, or all is over, in ticks from
 * the run's begin; and how long its commands keep it. */
typedef struct fs_rolled_part {
  uint64_t begin, free, end, work;
} fs_rolled_part;

/* Finds the parts of a run, per queue that takes part, of which those of `slow` are slow; and when,
 * after a run begins, a next one could that is joined to it, as it is planned.  *known is false
 * where it runs too often to be followed, and does not repeat itself.  time and latency are of
 * members. Requires copies that divide `trip` above 0. Complexity: O(2^14 waits).  Errors:
 * FSCHED_SYSTEM. */
fs_status fs_rolled_parts(fsched_context *ctx, const fs_rolled_loop *r, const uint64_t *time,
                          const uint64_t *latency, uint64_t trip, const bool *slow,
                          fs_rolled_part *part, uint64_t *again, bool *known) FS_MUST_USE;

/* How many waits a run of `trip` iterations has: each in those in which there is something to wait
 * for.  O(waits). */
uint64_t fs_rolled_waits(const fs_rolled_loop *r, uint64_t trip);

/* From where on a run repeats itself, what comes after so many iterations is so many ticks later.
 */
typedef struct fs_rolled_period {
  uint64_t iterations, later; /* a multiple of the copies; ticks */
} fs_rolled_period;

/* Finds the period of a run that was followed, if its second half repeats itself for long enough
 * that it does so for ever.  Complexity: O(n^2) at worst for n starts, O(n) where there is a period
 * that is short. */
bool fs_rolled_repeats(const fs_rolled_loop *r, const fs_rolled_starts *starts,
                       fs_rolled_period *out);

/* How long `trip` iterations take when each command starts as soon as it can, from the first start
 * to the last end.  Of many iterations the first 2^14 / commands are followed, and the others come
 * as these repeat themselves; where they do not, they take `ii_num / ii_den` ticks each.  time and
 * latency are of members.  *span is UINT64_MAX of a loop that locks up.
 * Complexity: O(2^14 waits) at most.  Errors: FSCHED_SYSTEM. */
fs_status fs_rolled_span(fsched_context *ctx, const fs_rolled_loop *r, const uint64_t *time,
                         const uint64_t *latency, uint64_t trip, uint64_t ii_num, uint64_t ii_den,
                         uint64_t *span) FS_MUST_USE;

/* The body of a graph's loop that stays a loop, as it was described.  The loop is one op, of the
 * graph or of the body of the loop around it, whose args, scratch and queues are what all
 * iterations together touch.  What is told of a loop in a loop is of its run in iteration 0 of
 * those around it: in others, what lies in an arg of its op moves with that. */

/* An arg of iteration i: bytes of a buffer of the graph from offset + step * i on, as far as the
 * buffer goes; or, with a ring, of the value that iteration i - back has begun.  Offsets on rings
 * are within a version.  A strided view is never cut off. */
typedef struct fs_body_arg {
  uint64_t offset, length;
  int64_t step, value;
  uint32_t tag;        /* fsched_tag */
  uint32_t buffer;     /* FS_NONE for a value */
  uint32_t ring, back; /* ring: FS_NONE, or of the loop */
  uint32_t own;        /* which arg of the loop's own op it moves with; FS_NONE for a value */
  uint32_t view;       /* of the graph's; FS_NONE: a range */
  uint32_t member;     /* of an op whose members have args of their own: whose it is; else 0 */
  bool begins;         /* as arg_begins of graph.h */
} fs_body_arg;

/* Iteration i comes after iteration i - distance of another op of the body. */
typedef struct fs_body_after {
  uint32_t op, distance;
} fs_body_after;

typedef struct fs_body_scratch {
  uint32_t memory, copy;
  uint64_t offset, size; /* offset: within the loop's scratch in this memory */
} fs_body_scratch;

/* Lanes of a resource, which are an op's own while it runs: units of it from `first` on. */
typedef struct fs_body_lane {
  uint32_t resource, copy;
  uint64_t first, n;
} fs_body_lane;

typedef struct fs_body_op {
  const char *name;
  uint64_t time, latency;
  uint32_t kernel;    /* of the graph, or FS_NONE */
  uint32_t loop;      /* the loop that it is, of the graph's rolled ones, or FS_NONE */
  uint32_t slots;     /* of a barrier, that each of its commands takes */
  uint32_t n_members; /* of a gang whose members have args of their own; else 0 */
  bool by_class;      /* it could run on other queues of its class; no loop could */
  uint32_t arg0, n_args, after0, n_afters, scratch0, n_scratches, lane0, n_lanes;
} fs_body_op;

/* Slots of a ring: in the graph they are one buffer. */
typedef struct fs_body_slots {
  uint64_t size, slot; /* bytes of a version; from one slot to the next */
  uint32_t buffer;
  uint32_t own;   /* which arg of the loop's own op has them */
  uint32_t least; /* the fewest that the loop could have */
  bool entry;     /* there is a value on entry, which lies in the last slot */
  bool leaves;    /* there is none on entry, and the last one is moved there, as trips vary */
  bool returns;   /* the last one is moved there, though trips do not vary (stream/stream.h) */
} fs_body_slots;

struct fs_loop_report;
typedef struct fs_rolled {
  uint32_t op;          /* of the graph; of the body of the loop that it is in */
  uint32_t within;      /* the loop that it is in, of the graph's rolled ones, or FS_NONE */
  uint64_t trip, least; /* trip: the most; the least is below that if a parameter says so */
  const char *param;    /* gives the trips with each invocation; NULL: none does */
  bool joined;          /* of one in a loop: its runs are, as fs_stream_loop (stream.h) says */
  uint32_t n_ops, n_args, n_afters, n_scratches, n_lanes;
  fs_body_op *body; /* in program order */
  fs_body_arg *arg;
  fs_body_after *after;
  fs_body_scratch *scratch;
  fs_body_lane *lane;
  fs_body_slots *slots; /* per ring of the loop */
  fs_rolled_loop loop;
  struct fs_loop_report *report;
  /* Per queue that takes part, what it has of a run, of a loop in no other that was planned so;
   * NULL: each queue counts as taken for all of it. */
  const fs_rolled_part *part;
  /* While loops are being found: per op, the loop that it is, or NULL; and `loop` as it is where
   * its runs are joined, of a loop in a loop, or NULL; and whether some ring has more slots than
   * are of use if they are not; and whether iterations of ops with scratch come one after the
   * other, whichever queues they are on; and whether other depths might make it shorter. */
  struct fs_rolled **inner;
  const fs_rolled_loop *whole;
  bool wide, scratch_in_order, loose;
} fs_rolled;

#endif
