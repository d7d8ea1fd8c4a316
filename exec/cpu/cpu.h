/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the CPU back end, shared by its files:
 *   cpu/prepare.c  decodes the stream into steps and takes memory,
 *   cpu/worker.c   is the loop of a thread, which executes the commands of its queues,
 *   cpu/lanes.c    switches a thread between several queues,
 *   cpu/rolled.c   decodes loops that stay loops,
 *   cpu/loops.c    runs them,
 *   cpu/barrier.c  counts producers and consumers of barriers,
 *   cpu/guards.c   drives the barriers of loops,
 *   cpu/watch.c    finds what is stuck,
 *   cpu.c          starts and ends instances. */
#ifndef FS_EXEC_CPU_H
#define FS_EXEC_CPU_H

#include <pthread.h>

#include "base/text/ticks.h"
#include "exec/host/guards.h"
#include "exec/host/host.h"
#include "exec/host/loops.h"
#include "exec/host/physicals.h"
#include "exec/host/timeline.h"

/* A command in the worker's form: 16 bytes, and the worker reads nothing else for a command that
 * does not wait, signal or work. */
typedef struct fs_cpu_step {
  uint32_t command;
  uint32_t meeting; /* of a gang's member: its meeting; FS_NONE */
  uint32_t wait0;
  uint32_t n_waits : 31, signal : 1;
} fs_cpu_step;

typedef struct fs_step_wait {
  fs_timeline *timeline;
  uint64_t period; /* epochs of the axis in one invocation */
  uint32_t axis, epoch;
} fs_step_wait;

/* A command of a loop in the worker's form: it runs in `count` steps of the loop, from step `from`
 * on.  In step from + j it runs iteration j * copies + copy. */
typedef struct fs_loop_step {
  uint64_t from, count;
  uint32_t command, copy; /* command: of loop_commands */
  uint32_t gang;          /* of loop_gang; FS_NONE */
  uint32_t inner, part;   /* the loop that its op is, and this queue's part in it; FS_NONE */
  uint32_t wait0;         /* of loop_wait; where it is guarded, of the stream's guard_checks */
  uint32_t n_waits : 31, signal : 1;
  bool alone;   /* it neither waits nor signals, and is in no gang */
  bool guarded; /* it checks or updates barriers, instead of waits and signals */
} fs_loop_step;

/* A wait of a command of a loop: in step t of run k for the value k * period + t * stride + offset,
 * from step `from` on; `offset` may be below 0, as unsigned numbers wrap around.  Where runs are
 * joined, it is in earlier steps for what an earlier run has. */
typedef struct fs_loop_wait {
  fs_timeline *timeline;
  uint64_t from, period, stride, offset;
  uint32_t axis;
  bool joined;
} fs_loop_wait;

/* What a queue does in a loop.  Its timeline counts commands, as cpu/rolled.c says.  Runs of a loop
 * are counted over all invocations: those of a loop in a loop in the order in which the queues come
 * to them, and as many as are possible for each run of the loop around it. */
typedef struct fs_loop_part {
  fs_timeline *timeline;
  uint64_t n_rounds, period; /* steps of the loop; values of the timeline in a run */
  uint64_t count;            /* of a loop in a loop: runs in this run of the loop around */
  uint64_t full, full_end;   /* in these steps every command has an iteration */
  const fs_loop_step *steps; /* the commands of each step */
  uint32_t n_commands, copies, axis;
} fs_loop_part;

/* The members of a gang's op in a loop.  Iteration j of the op's copy, of n in a run at most, is
 * over at k * n + j + 1. */
typedef struct fs_loop_gang {
  uint64_t period;          /* n */
  uint64_t begin, end;      /* ns, of the last iteration; written by the runner before `over` */
  _Atomic uint32_t arrived; /* in this iteration */
  uint32_t members, axis;
  fs_timeline *over;
} fs_loop_gang;

/* A barrier of loops (exec/host/guards.h).  Its timeline counts phases over all runs: a run begins
 * with an even number, so that the parity of the timeline tells that of the phases. */
typedef struct fs_loop_barrier {
  _Alignas(FS_LINE) _Atomic uint32_t arrived; /* in this phase, if it takes several arrivals */
  uint32_t axis;
  fs_timeline *phase;
  _Atomic uint64_t base; /* of `phase`, when the run began */
} fs_loop_barrier;

typedef struct fs_cpu_loop {
  const fs_stream_loop *loop;
  uint64_t trips;    /* of this invocation */
  fs_timeline *open; /* k + 1: its members may begin */
  fs_loop_part *parts;
  uint32_t axis;           /* of `open` */
  _Atomic uint64_t left;   /* members that have ended their part, over all invocations; of a loop in
                            * a loop, in this run */
  _Atomic uint64_t digest; /* of this invocation */

  /* Of a loop in a loop: */
  _Atomic uint32_t arrived; /* members, before this run */
  fs_timeline *over;        /* k + 1: the run is over */
  uint32_t over_axis;
} fs_cpu_loop;

/* How far a lane is with a command that is a loop. */
typedef enum fs_inner_part {
  FS_INNER_WAITS,   /* its waits are not over, or it has not arrived */
  FS_INNER_ARRIVED, /* others have not */
  FS_INNER_RUNS,
  FS_INNER_LEFT /* its part is over, and others' are not */
} fs_inner_part;

/* A run of a loop, as far as a lane takes part in it. */
typedef struct fs_loop_frame {
  const fs_cpu_loop *in;
  fs_loop_part *part;
  uint64_t run, round; /* round: step of the loop */
  uint32_t place;      /* command of the step */
  fs_inner_part inner; /* of that command */
  fs_loop_instance at; /* what that command runs */
  fs_shown_walk shown; /* through what is recorded of the run */
  uint32_t slot;       /* of that command's instance; FS_NONE: it is not recorded */
  uint64_t begin, end; /* ns, of the same, if it is recorded or has a pace */
} fs_loop_frame;

/* The members of one gang op.  They meet here, and the last one to arrive runs the op.  Back ends
 * are free to make them meet; programs are right even if each member starts on its own, as those of
 * a loop do (cpu/loops.c). */
typedef struct fs_meeting {
  _Atomic uint64_t arrived;  /* arrivals over all invocations */
  uint32_t members, member0; /* CSR into fs_instance.member; only with barriers */
  fs_step_wait over;         /* on the collective axis: the op is over */
  uint64_t begin, end;       /* ns, of the last invocation; written by the runner before `over`; not
                                of loops, whose members have their own */
  fs_cpu_loop *loop;         /* NULL: the op is none; a loop in no gang has a meeting, too, with
                                one member and without `over` */
  bool apart;                /* each member runs args of its own, once its own waits are over */
} fs_meeting;

/* A physical barrier.  Its timeline tells its present use, counted from 0 over all invocations:
 * 2 * use + 1 is published when the barrier is mapped to the use (unless nobody waits for that, see
 * cpu/barrier.c), 2 * use + 2 when all producers of the use are over. */
typedef struct fs_physical {
  _Alignas(FS_LINE) _Atomic uint32_t producers, consumers; /* of its present use, still to come */
  fs_timeline *phase;
  uint64_t period; /* values of `phase` in one invocation: 2 for each use */
} fs_physical;

/* The physical barrier of a stream's barrier, and the barrier that uses it next. */
typedef struct fs_turn {
  fs_physical *physical;
  uint64_t value; /* of `phase` when it is mapped, within the invocation; one more when complete */
  uint32_t next;  /* barrier; after the last use the first one, of the next invocation */
  bool sole_producer, sole_consumer; /* then they are not counted */
  bool known;        /* every producer knows without waiting that the barrier is mapped */
  uint32_t consumer; /* command: the only consumer, FS_NONE where there are several */
} fs_turn;

/* What the end of a command does to a barrier that it updates: it publishes that the barrier is
 * complete, at once or as the last of several producers. */
typedef struct fs_cpu_update {
  fs_timeline *phase;
  uint64_t period, value; /* of `phase`: in one invocation; when the barrier is complete */
  fs_physical *counted;   /* NULL: the command is the only producer */
} fs_cpu_update;

/* How far a lane is with its step, on threads that have several lanes.  In a loop it has MET
 * another member that opens the loop, or puts CONTENT in place to open it; or it runs its part. */
typedef enum fs_part {
  FS_PART_WAITS,
  FS_PART_MET,
  FS_PART_CONTENT,
  FS_PART_PACE,
  FS_PART_LOOP
} fs_part;

/* A queue, and how far it is.  The watchdog reads the first part, and a worker writes it only when
 * it has to wait. */
typedef struct fs_cpu_lane {
  _Alignas(FS_LINE) _Atomic uint64_t blocked; /* counts up: odd while it waits */
  _Atomic uint32_t at;                    /* the step that waits; FS_NONE: between invocations */
  _Atomic uint32_t axis;                  /* index of a timeline at all times */
  _Atomic uint64_t value;                 /* the value awaited on the axis's timeline */
  _Atomic uint32_t depth;                 /* if that is inside a loop: levels */
  _Atomic uint64_t in_loop[FS_LOOP_NEST]; /* of each: the value of its own command there, */
  _Atomic uint32_t in_part[FS_LOOP_NEST]; /* and its part there */
  _Atomic uint32_t in_check; /* if it waits for a barrier of a loop: which of guard_checks */

  struct fs_worker *worker;
  uint32_t queue, n_steps;
  const fs_cpu_step *steps;
  fs_timeline *timeline; /* of the queue's axis */

  /* Where the lane goes on, if its worker has several. */
  fs_part part;
  uint32_t step, next_wait;  /* next_wait: index among the step's waits, or among its given items */
  uint64_t begin_ns, end_ns; /* begin of the command, and its end with its pace */
  fs_parked waiter;          /* used while the lane is parked */
  struct fs_cpu_lane *next;  /* next one in its worker's inbox, or among its ready lanes */

  /* Inside a loop; and in loops inside that. */
  fs_loop_frame frame[FS_LOOP_NEST];
  uint64_t digest; /* sum over the instances that it has run */
  bool met;        /* it has arrived at the gang of the present command */
  bool ran;        /* it has run the present command, whose pace is not over */
} fs_cpu_lane;

/* A thread and its lanes.  A worker with one lane sleeps on the timeline that the lane waits for.
 * A worker with several runs one until that has to wait and is parked.  A thread that publishes the
 * awaited value puts the lane into the inbox and rings the bell.  No bell is missed: the worker
 * sets `asleep` and then reads the inbox, the publisher fills the inbox and then reads `asleep`,
 * all sequentially consistent. */
typedef struct fs_worker {
  _Alignas(FS_LINE) fs_hand hand; /* the kernel that it runs */
  struct fs_instance *instance;
  fs_cpu_lane *lane; /* the first; the others follow at a stride of instance.n_workers */
  uint32_t n_lanes;
  fs_effect_room room;
  pthread_t thread;
  fs_cpu_lane *ready, *last_ready; /* lanes that can run, first come, first served */
  fs_parked *paced;                /* lanes, by the time when their command's pace is over */
  _Alignas(FS_LINE) _Atomic(fs_cpu_lane *) inbox; /* lanes that were woken, the latest first */
  _Atomic uint32_t asleep, bell;                  /* bell: futex word */
} fs_worker;

/* A given item in the slot: the first worker that needs it claims it and puts it in its place. */
typedef struct fs_arrival {
  fs_timeline *ready, *there; /* k + 1: content may be read; content is in place */
  _Atomic uint64_t claimed;   /* k + 1 */
} fs_arrival;

struct fs_instance {
  fsched_context *ctx; /* the instance's own */
  const fs_stream *stream;
  const fs_io *io;
  fs_backend_config config;
  const fsched_device_options *options;
  fs_arena arena;
  fs_memories memories;
  fs_kernels kernels;
  fs_effects effects;

  /* Timelines of the axes; then `go`; then `ready` of each given item; then `there` of each; then
   * `phase` of each physical barrier; then `open` of each loop; then those of the parts of loops;
   * then those of gangs in loops; then `over` of each loop; then those of barriers of loops. */
  fs_timeline *timeline;
  uint32_t n_timelines;
  uint64_t *period;   /* per axis: epochs in one invocation */
  fs_cpu_step *step;  /* per command, in the order of the stream */
  fs_step_wait *wait; /* CSR by step */
  fs_meeting *meeting;
  uint32_t *member; /* CSR by meeting: commands */
  fs_physicals physicals;
  fs_physical *physical;    /* one per distinct physical barrier of the stream */
  fs_turn *turn;            /* per barrier of the stream */
  uint32_t *start0, *start; /* CSR by command: barriers that change when the command starts */
  uint32_t *update0;        /* CSR by command */
  fs_cpu_update *update;
  fs_arrival *arrival; /* per given item */
  fs_cpu_loop *loop;
  fs_loop_part *loop_part; /* per loop_queue */
  fs_loop_step *loop_step; /* per loop_command */
  fs_loop_wait *loop_wait;
  fs_loop_gang *loop_gang;
  fs_guards guards;
  fs_loop_barrier *loop_barrier;         /* per barrier of guards */
  uint32_t *loop_at;                     /* per op: its loop; FS_NONE; NULL: there are none */
  uint32_t *loop_gang_of, *loop_part_of; /* per loop_command; FS_NONE: in no gang */
  uint32_t n_loop_gangs, n_loop_axes;    /* axes: timelines of loops */
  uint32_t n_alone;                      /* commands that are loops and in no gang */
  _Atomic uint32_t *kept_left;           /* per kept item: writers that have not run */

  uint32_t n_lanes; /* one per queue that has commands; at least one */
  fs_cpu_lane *lane;
  uint32_t *queue_lane; /* per queue: its lane; FS_NONE: the queue is empty */
  uint32_t n_workers;   /* the least of n_lanes, the threads allowed, and the threads that could be
                           started */
  uint32_t n_started;
  fs_worker *worker;
  uint32_t n_locks; /* timelines that have a lock: all, or none where no lane is ever parked */
  uint32_t spins;   /* spins before a worker sleeps */

  /* These are set before `go` is published. */
  const fs_work *work;
  uint64_t begin_ns;
  uint64_t next; /* invocations so far */

  fs_timeline *go;                             /* k + 1: invocation k may start */
  _Alignas(FS_LINE) _Atomic uint32_t poisoned; /* futex word; 1: leave effects and waits out */
  _Atomic fsched_cause cause;                  /* why it is poisoned */
  _Atomic uint32_t stop;                       /* 1: threads end when they wait for `go` */
  _Alignas(FS_LINE) _Atomic uint64_t arrived;  /* workers at the end of an invocation */
};

/* Indices of timelines beyond the axes.  Requires a given item, or their number. */
static inline uint32_t fs_cpu_ready(const fs_instance *x, uint32_t item) {
  FS_ASSERT_SLOW(item <= x->io->n_given);
  return x->stream->n_axes + 1 + item;
}
/* Requires a given item. */
static inline uint32_t fs_cpu_there(const fs_instance *x, uint32_t item) {
  FS_ASSERT_SLOW(item < x->io->n_given);
  return x->stream->n_axes + 1 + x->io->n_given + item;
}

/* Requires a physical barrier, or their number. */
static inline uint32_t fs_cpu_phase(const fs_instance *x, uint32_t physical) {
  FS_ASSERT_SLOW(physical <= x->physicals.n);
  return x->stream->n_axes + 1 + 2 * x->io->n_given + physical;
}

/* The part of a queue in a loop: a loop_queue.  Requires one of the loop's queues. */
static inline uint32_t fs_cpu_loop_part(const fs_instance *x, const fs_stream_loop *loop,
                                        uint32_t queue) {
  assert(loop->queue0 + loop->n_queues <= x->stream->n_loop_queues);
  uint32_t part = loop->queue0, last = loop->queue0 + loop->n_queues - 1;
  while (part < last && x->stream->loop_queues[part].queue != queue) {
    part++;
  }
  assert(x->stream->loop_queues[part].queue == queue);
  return part;
}

static inline bool fs_cpu_poisoned(const fs_instance *x) {
  return atomic_load_explicit(&x->poisoned, memory_order_relaxed) != 0;
}

/* Whether the use after this one is mapped without being published.  Requires a turn of the
 * instance. */
static inline bool fs_cpu_next_is_known(const fs_instance *x, const fs_turn *t) {
  FS_ASSERT_SLOW(t->next < x->stream->n_barriers);
  return x->turn[t->next].known && x->stream->barriers[t->next].use != 0;
}

/* cpu/prepare.c: makes all of the instance but its threads; reports errors to ctx.  Requires the
 * stream and its fs_io. */
fs_status fs_cpu_decode(fsched_context *ctx, fs_instance *x) FS_MUST_USE;
/* Deals the lanes out among the workers that were started, before the first invocation.  Requires
 * workers that were started. */
void fs_cpu_deal(fs_instance *x);
/* cpu/rolled.c.  Counts the timelines and meetings that loops need; makes the loops, when there are
 * timelines; and the meetings, of which those from `meeting` on are left for loops that have no
 * gang.  Require a stream, timelines, and meetings. */
fs_status fs_cpu_count_loops(fs_instance *x) FS_MUST_USE;
fs_status fs_cpu_decode_loops(fs_instance *x) FS_MUST_USE;
/* Before an invocation: loops run as often as this one says.  O(commands of loops with others than
 * before).  Requires that no lane runs. */
void fs_cpu_set_trips(fs_instance *x);
void fs_cpu_meet_for_loops(fs_instance *x, uint64_t meeting);
/* cpu/loops.c: the step of a lane whose op is a loop, once its waits are over.  False: the lane is
 * parked.  Requires a step whose meeting is a loop's. */
bool fs_cpu_meet_loop(fs_cpu_lane *lane, const fs_cpu_step *step, uint64_t k, uint32_t at);
/* cpu/worker.c */
void *fs_cpu_worker(void *worker);
/* Waits for a value in step `at`.  False: the lane, one of several of its thread, is parked. */
bool fs_cpu_await_value(fs_cpu_lane *lane, fs_timeline *t, uint64_t value, uint32_t at,
                        uint32_t axis);
static inline bool fs_cpu_await(fs_cpu_lane *l, const fs_step_wait *wait, uint64_t k, uint32_t at) {
  uint64_t value = k * wait->period + wait->epoch;
  return fs_timeline_reached(wait->timeline, value) ||
         fs_cpu_await_value(l, wait->timeline, value, at, wait->axis);
}
/* Whether this member is the last to arrive. */
bool fs_cpu_arrive(fs_instance *x, fs_meeting *m, uint64_t k);
/* What comes before the effects of a command, and what comes after them.  False: the lane is
 * parked, and its part says where. */
bool fs_cpu_op_begin(fs_cpu_lane *lane, uint32_t command, uint64_t k, uint32_t at);
bool fs_cpu_op_end(fs_cpu_lane *lane, uint32_t command);
/* The two halves of the latter: the pace, which is over then; and content that is taken out. */
bool fs_cpu_op_pace(fs_cpu_lane *lane, uint32_t command);
void fs_cpu_op_keep(fs_instance *x, uint32_t command);
/* Waits until the clock shows `lane->end_ns`.  False: the lane is parked until then. */
bool fs_cpu_await_pace(fs_cpu_lane *lane);
/* When what takes so many ticks may end, which has begun at `begin` (ns). */
static inline uint64_t fs_cpu_paced_end(const fs_instance *x, uint64_t ticks, uint64_t begin) {
  return begin + fs_min(fs_ticks_ns(ticks, x->config.pace_ps), UINT64_MAX / 2);
}
/* Goes on with a lane of a worker that has several, in invocation k; false: it is parked. */
bool fs_cpu_go_on(fs_cpu_lane *lane, uint64_t k);
/* cpu/lanes.c.  The lane begins an invocation; the lane rests after the k-th. */
void fs_cpu_begin(fs_cpu_lane *lane);
void fs_cpu_rest(fs_cpu_lane *lane, uint64_t k);
static inline bool fs_cpu_shared(const fs_instance *x) { return x->n_lanes > x->n_workers; }
/* Runs the worker's lanes in invocation k.  Requires lanes. */
void fs_cpu_run_lanes(fs_worker *w, uint64_t k);
/* Parks the lane until the timeline has the value.  False: not parked, as the value is reached or
 * the instance is poisoned.  Requires an axis of the stream, or a timeline beyond them. */
bool fs_cpu_park(fs_cpu_lane *lane, fs_timeline *t, uint64_t value, uint32_t axis);
/* Parks the lane until the clock shows `lane->end_ns`. */
void fs_cpu_park_paced(fs_cpu_lane *lane);
/* Effects and waits are left out from now on; the first cause counts.  Requires a cause. */
void fs_cpu_poison(fs_instance *x, fsched_cause cause);
/* cpu/barrier.c.  A command of invocation k starts, as all of its waits are over; the command is
 * over.  Requires a command. */
void fs_cpu_barrier_start(fs_instance *x, uint32_t command, uint64_t k);
/* Requires a command. */
void fs_cpu_barrier_end(fs_instance *x, uint32_t command, uint64_t k);
/* Sets the barriers to their state before invocation k, while no thread looks at them. */
void fs_cpu_barrier_set(fs_instance *x, uint64_t k);
/* cpu/guards.c.  Gives the barriers of loops their timelines, when there are these. */
void fs_cpu_make_guards(fs_instance *x);
/* A run of a loop begins: sets its barriers anew, while no thread looks at them. */
void fs_cpu_guards_set(const fs_instance *x, const fs_stream_loop *loop);
/* The barrier that a check of an iteration looks at, at least the check's distance. */
fs_loop_barrier *fs_cpu_guard_checked(const fs_instance *x, const fs_stream_guard_check *c,
                                      uint64_t iteration);
/* An iteration of a command of loops is over.  Requires a command. */
void fs_cpu_guards_end(const fs_instance *x, uint32_t loop_command, uint64_t iteration);
/* cpu/watch.c */
uint64_t fs_cpu_progress(fs_instance *x, bool *idle);
bool fs_cpu_give_up(fs_instance *x);
void fs_cpu_report(fs_instance *x, fsched_context *ctx);

#endif
