/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the simulation, shared by its files:
 *   sim/prepare.c    turns the stream into the tables that a run reads, and takes memory,
 *   sim/durations.c  says how long a command takes,
 *   sim/guard.c      notices when two commands touch the same bytes at once,
 *   sim/run.c        runs one invocation,
 *   sim/sync.c       holds commands back where there are no timelines: barriers, or a sequencer,
 *   sim/loops/       what is inside of loops,
 *   sim.c            starts and ends instances, and answers calls from outside. */
#ifndef FS_EXEC_SIM_H
#define FS_EXEC_SIM_H

#include <pthread.h>

#include "base/heap.h"
#include "exec/host/host.h"
#include "exec/host/instances.h"
#include "exec/host/physicals.h"

struct fs_stuck;
struct fs_sim_loops;

/* How the durations of one invocation are drawn. */
typedef struct fs_sim_draw {
  uint64_t salt;
  uint32_t strategy, victim; /* adversarial */
} fs_sim_draw;

/* Virtual time is counted in nanoseconds, or in picoseconds where a tick is no whole number of
 * nanoseconds; what is recorded is nanoseconds. */
typedef struct fs_sim_times {
  fsched_durations mode;
  uint64_t seed, tick;
  uint64_t per_ns;      /* units of virtual time in a nanosecond: 1 or 1000 */
  uint64_t total, mean; /* sum and mean of the planned durations, at least a tick; of a loop, those
                           of its instances count */
  uint32_t n_victims, *victim; /* commands that are no loops, and n_commands + those of their bodies
                                  that are none */
  uint64_t *measured;          /* per command; UINT64_MAX: not measured; or NULL */
  fs_sim_draw draw;
} fs_sim_times;

/* Here the members of a gang op meet before it starts, which back ends are free to demand.  The
 * last member to arrive starts the op for all. */
typedef struct fs_sim_meeting {
  uint32_t arrived, last; /* members; `next_member` leads from the last one to the first */
  uint64_t from;
} fs_sim_meeting;

/* A physical barrier in virtual time. */
typedef struct fs_sim_physical {
  uint32_t use; /* index among its uses in fs_physicals; their number: none is left */
  uint32_t producers, consumers; /* of this use, still to come */
  uint64_t complete_at, free_at; /* latest end of a producer, latest start of a consumer, so far */
} fs_sim_physical;

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
  fs_effect_room room;
  fs_hand hand;
  uint64_t begin_ns; /* of the invocation, in real time */
  bool guarded;

  /* A slot is an epoch of an axis: the slots of axis a are slot0[a] .. slot0[a + 1] - 1.  The slots
   * of all axes are followed by two for each barrier: the barrier is mapped, and it is complete. */
  uint32_t *slot0;
  uint32_t *waiter0, *waiter; /* per slot: the commands that wait for it */
  uint32_t *queue;            /* per command */
  uint8_t *touch;             /* per place: see sim/guard.c */
  fs_physicals physicals;
  uint32_t *by_issue; /* sync: block: the commands in the order of issue; else NULL */
  fs_sim_times times;

  /* Of the running invocation; used by the simulation's own thread alone. */
  uint32_t *left;    /* per command: open waits, plus one until its turn on its queue */
  uint64_t *from;    /* per command: when the last of these was over; then its begin */
  uint32_t *reached; /* per axis: the epoch that it has reached */
  uint32_t *at;      /* per queue: number of commands up to which all are over */
  /* Where ops are slow, else NULL: per command: its end, though ones before it may not be over, or
   * UINT64_MAX; per queue: the latest end of the commands up to `at`, and how many commands have
   * let it go on; per meeting: members whose epochs are reached, and when the last one was. */
  uint64_t *over, *reached_at;
  uint32_t *gone_on;
  fs_sim_meeting *passed;
  fs_sim_meeting *meeting;        /* per slot of a collective axis, from slot0[n_queues] on */
  uint32_t *next_member;          /* per command */
  uint32_t *kept_left;            /* per kept item: writers that have not run */
  bool *there;                    /* per given item: its content is in place */
  uint32_t *parked, *next_parked; /* per given item, per command: list of the commands that wait for
                                     the content */
  uint64_t *seen;                 /* per place of a running command: hash of the place's bytes */
  fs_heap running; /* running commands by their end; n_commands + queue: it goes on, by the time;
                      then events in loops */
  struct fs_sim_loops *loops; /* sim/loops/loops.h; NULL: the stream has none */
  uint32_t n_left;            /* commands */
  uint64_t makespan;
  fs_sim_physical *physical; /* sync: barrier */
  uint32_t *freed, n_freed;  /* stack of physical barriers that can be mapped to their next use */
  uint32_t n_issued, next_stop;  /* sync: block: commands issued; the first sync that is not over */
  uint64_t issue_at;             /* when the last sync that is over was over */
  uint32_t n_over, *n_issued_of; /* commands that are over; per queue: commands that were issued */
  uint64_t *over_at; /* per command: when it and those before it on its queue were over */

  pthread_t thread;
  bool has_lock, has_thread;
  pthread_mutex_t lock;
  pthread_cond_t news;
  /* Under the lock. */
  const fs_work *work;
  uint64_t next;      /* invocations so far */
  bool stop, waiting; /* waiting: no command can go on without news */
  fsched_cause cause;
  uint32_t *arrived; /* given items in the order in which their content was there */
  /* Written under the lock, and also read without it. */
  _Atomic bool *ready; /* per given item: its content may be read */
  _Atomic uint32_t n_arrived;
  _Atomic bool poisoned;
  _Atomic uint64_t moves;
  uint32_t n_taken; /* items of `arrived` that the thread has taken */
};

/* sim/prepare.c: makes all of the instance but its lock and thread; reports errors to ctx.
 * Requires the stream and its fs_io. */
fs_status fs_sim_decode(fsched_context *ctx, fs_instance *x) FS_MUST_USE;

/* sim/durations.c */
fs_status fs_sim_times_make(fs_instance *x) FS_MUST_USE;
/* Draws the durations of the k-th invocation. */
void fs_sim_times_begin(fs_instance *x, uint64_t k);
/* Requires a command. */
uint64_t fs_sim_duration(const fs_instance *x, uint32_t command);
/* How long a command keeps its queue when it takes that duration: at most as long, and less only if
 * it is slow.  Requires a command. */
uint64_t fs_sim_occupancy(const fs_instance *x, uint32_t command, uint64_t duration);
/* The same of an instance in a loop, of an op that is none. */
uint64_t fs_sim_instance_duration(const fs_instance *x, const fs_loop_instance *at);
uint64_t fs_sim_instance_occupancy(const fs_instance *x, const fs_loop_instance *at,
                                   uint64_t duration);
/* When a loop is over whose instances are over at `time`: with measured durations, not before the
 * time that it took.  Requires a command. */
uint64_t fs_sim_loop_end(const fs_instance *x, uint32_t command, uint64_t begin, uint64_t time);

/* sim/guard.c */
fs_status fs_sim_guard_make(fs_instance *x) FS_MUST_USE;
/* Requires a command. */
void fs_sim_guard_begin(fs_instance *x, uint32_t command);
/* False, reported to work->failed, when another command has written to the bytes that this one
 * touches.  Requires a command. */
bool fs_sim_guard_end(fs_instance *x, uint32_t command);
/* The same of an instance in a loop, which is that of a flight. */
void fs_sim_guard_begin_flight(fs_instance *x, uint32_t flight);
bool fs_sim_guard_end_flight(fs_instance *x, uint32_t flight);

/* sim/sync.c: the part of barriers and syncs in fs_sim_decode, and in the begin of an
 * invocation. */
fs_status fs_sim_sync_make(fs_instance *x) FS_MUST_USE;
void fs_sim_sync_begin(fs_instance *x);
/* A command starts, or is over.  Each other member of its gang has a call of its own.  Requires a
 * command. */
void fs_sim_sync_start(fs_instance *x, uint32_t command, uint64_t time);
/* Requires a command. */
void fs_sim_sync_end(fs_instance *x, uint32_t command, uint64_t time);
/* All commands up to this one of its queue are over; `time` is when the last of them was.  Requires
 * a command that is over. */
void fs_sim_sync_reach(fs_instance *x, uint32_t command, uint64_t time);
/* Lets the commands go on that the calls above have freed. */
void fs_sim_sync_go_on(fs_instance *x);
/* Whether a barrier or sync holds the command back; *stuck says which.  Requires a command. */
bool fs_sim_sync_stuck(const fs_instance *x, uint32_t command, struct fs_stuck *stuck);

/* sim/run.c */
/* The command, or every command that waits for the slot, has one thing less to wait for, which was
 * over at `time`.  Requires a command that still waits for something. */
void fs_sim_release(fs_instance *x, uint32_t command, uint64_t time);
void fs_sim_release_slot(fs_instance *x, uint32_t slot, uint64_t time);
/* Lets an event happen at `time`.  Requires room for it, which prepare has made, or fs_sim_loops.
 */
void fs_sim_push(fs_instance *x, uint64_t time, uint32_t event);
/* Runs the k-th invocation; the cause with which it ends. */
fsched_cause fs_sim_run(fs_instance *x, uint64_t k);
fsched_cause fs_sim_cause(fs_instance *x);
/* sim/loops/runs.c: the part of loops in fs_sim_decode, in the end of the instance, and in the
 * begin of an invocation. */
fs_status fs_sim_loops_make(fsched_context *ctx, fs_instance *x) FS_MUST_USE;
void fs_sim_loops_free(fs_instance *x);
void fs_sim_loops_begin(fs_instance *x);
/* The loop that a command's op is, or FS_NONE.  Requires a command. */
uint32_t fs_sim_loop_of(const fs_instance *x, uint32_t command);
/* A command begins whose op is a loop: its queue enters it.  The first one to do so opens it. */
void fs_sim_loop_begin(fs_instance *x, uint32_t command, uint64_t time);
/* An event happens.  Returns the command of the queue that leaves its loop with it; else FS_NONE.
 * Requires an event of loops. */
uint32_t fs_sim_loop_happens(fs_instance *x, uint32_t event, uint64_t time);
/* Whether the last queue has left the loop that a command's op is, if it is one; and the first of
 * its commands that has begun, or the command itself. */
bool fs_sim_loop_over(const fs_instance *x, uint32_t command);
uint32_t fs_sim_loop_first(const fs_instance *x, uint32_t command);
/* Whether the command's loop goes on and its queue is in it; *stuck says what it waits for there.
 * Requires a command. */
bool fs_sim_loop_stuck(const fs_instance *x, uint32_t command, struct fs_stuck *stuck);

/* sim.c: the first cause counts.  Requires a cause. */
void fs_sim_poison(fs_instance *x, fsched_cause cause);
/* Waits until there is content that has not been taken, or the instance is poisoned. */
void fs_sim_await_news(fs_instance *x);

static inline bool fs_sim_poisoned(const fs_instance *x) {
  return atomic_load_explicit(&x->poisoned, memory_order_relaxed);
}
/* Requires a barrier. */
static inline uint32_t fs_sim_mapped(const fs_instance *x, uint32_t barrier) {
  assert(barrier < x->stream->n_barriers);
  return x->slot0[x->stream->n_axes] + 2 * barrier;
}
static inline uint32_t fs_sim_complete(const fs_instance *x, uint32_t barrier) {
  return fs_sim_mapped(x, barrier) + 1;
}
/* Events: a command ends, a queue goes on, a loop in a loop ends, the part of a queue in a loop
 * goes on or leaves, an instance in a loop ends. */
static inline uint32_t fs_sim_queue_event(const fs_instance *x, uint32_t queue) {
  return x->stream->n_commands + queue;
}
static inline uint32_t fs_sim_loop_event(const fs_instance *x, uint32_t loop) {
  return fs_sim_queue_event(x, x->stream->n_queues) + loop;
}
static inline uint32_t fs_sim_part_event(const fs_instance *x, uint32_t part) {
  return fs_sim_loop_event(x, x->stream->n_loops) + part;
}
static inline uint32_t fs_sim_flight_event(const fs_instance *x, uint32_t flight) {
  return fs_sim_part_event(x, x->stream->n_loop_queues) + flight;
}
/* The most events that are to come at once: one command ends on each queue, or, where ops are slow,
 * any number, and as many as there are queues go on; and so in loops. */
static inline size_t fs_sim_most_events(const fs_instance *x, size_t flights) {
  const fs_stream *s = x->stream;
  return (fs_stream_has_slow(s) ? s->n_commands : 0) + (size_t)s->n_queues + s->n_loops +
         s->n_loop_queues + flights;
}
static inline bool fs_sim_is_gang(const fs_stream_command *c) { return c->gang_axis != FS_NONE; }
/* Requires a command of a gang. */
static inline fs_sim_meeting *fs_sim_meeting_of(const fs_instance *x, const fs_stream_command *c) {
  assert(fs_sim_is_gang(c));
  return &x->meeting[x->slot0[c->gang_axis] - x->slot0[x->stream->n_queues] + c->gang_epoch - 1];
}

#endif
