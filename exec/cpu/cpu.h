/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the CPU back end, shared by its files:
 *   cpu/prepare.c  decodes the stream into steps and takes memory,
 *   cpu/worker.c   is what every thread does: the commands of a queue,
 *   cpu/lanes.c    lets a thread go on with one of several queues,
 *   cpu/barrier.c  counts producers and consumers of barriers,
 *   cpu/watch.c    finds out what is stuck,
 *   cpu.c          starts and ends. */
#ifndef FS_EXEC_CPU_H
#define FS_EXEC_CPU_H

#include <pthread.h>

#include "exec/host/host.h"
#include "exec/host/physicals.h"
#include "exec/host/timeline.h"

/* A command as the worker wants it: 16 bytes, and nothing else is touched for a command that
 * neither waits, signals nor works. */
typedef struct fs_cpu_step {
  uint32_t command;
  uint32_t meeting; /* of a gang, FS_NONE */
  uint32_t wait0;
  uint32_t n_waits : 31, signal : 1;
} fs_cpu_step;

typedef struct fs_step_wait {
  fs_timeline *timeline;
  uint64_t period; /* epochs of the axis in one invocation */
  uint32_t axis, epoch;
} fs_step_wait;

/* The members of one gang op.  They meet here, as a back end may, and the last one to arrive runs
 * it; programs are right even if each starts on its own. */
typedef struct fs_meeting {
  _Atomic uint64_t arrived;  /* over all invocations */
  uint32_t members, member0; /* fs_instance.member; with barriers alone */
  fs_step_wait over;         /* the collective axis */
  uint64_t begin, end;       /* ns, of the last invocation; written by the runner before `over` */
} fs_meeting;

/* A physical barrier.  Its timeline says what it is: of the uses of all invocations, counted from
 * 0, 2 * use + 1 is published when it is that one, 2 * use + 2 when all producers of that are over.
 */
typedef struct fs_physical {
  _Alignas(FS_LINE) _Atomic uint32_t producers, consumers; /* left, of the use that it is */
  fs_timeline *phase;
  uint64_t period; /* values in one invocation: 2 for each use */
} fs_physical;

/* What a barrier of the stream is, and who has its physical one next. */
typedef struct fs_turn {
  fs_physical *physical;
  uint64_t value; /* when it is mapped, within the invocation; when complete one more */
  uint32_t next;  /* barrier; after the last the first, of the next invocation */
} fs_turn;

/* How far a lane is with its step; on threads that have several. */
typedef enum fs_part { FS_PART_WAITS, FS_PART_MET, FS_PART_CONTENT, FS_PART_PACE } fs_part;

/* A queue, and how far it is.  The first part is read by the watchdog, and written only by a worker
 * that has nothing better to do. */
typedef struct fs_cpu_lane {
  _Alignas(FS_LINE) _Atomic uint64_t blocked; /* counts up: odd while it waits */
  _Atomic uint32_t at;                        /* step waited before; FS_NONE: between invocations */
  _Atomic uint32_t axis;                      /* index of a timeline at all times */
  _Atomic uint64_t value;                     /* on the axis's timeline */

  struct fs_worker *worker;
  uint32_t queue, n_steps;
  const fs_cpu_step *steps;
  fs_timeline *timeline; /* of the queue's axis */

  /* Where it goes on, if its worker has others, too. */
  fs_part part;
  uint32_t step, next_wait;  /* of the step's waits, or of its content */
  uint64_t begin_ns, end_ns; /* of the command; the end is paced */
  fs_parked waiter;          /* parked */
  struct fs_cpu_lane *next;  /* in its worker's inbox, or of its ready lanes */
} fs_cpu_lane;

/* A thread and its lanes.  With one lane it sleeps on what that waits for.  With several it runs
 * one until that has to wait and is parked; who publishes what a lane waits for puts it in the
 * inbox and rings.  No bell is missed: the worker says that it sleeps and then looks into the
 * inbox, the other fills the inbox and then looks whether it sleeps, all sequentially consistent.
 */
typedef struct fs_worker {
  _Alignas(FS_LINE) fs_hand hand; /* the kernel that it runs */
  struct fs_instance *instance;
  fs_cpu_lane *lane; /* the first; the others follow, every instance.n_workers */
  uint32_t n_lanes;
  fs_effect_room room;
  pthread_t thread;
  fs_cpu_lane *ready, *last_ready;                /* first come, first served */
  fs_parked *paced;                               /* lanes, by when their command's time is over */
  _Alignas(FS_LINE) _Atomic(fs_cpu_lane *) inbox; /* the latest first */
  _Atomic uint32_t asleep, bell;                  /* bell: futex word */
} fs_worker;

/* A given item in the slot: the first worker that wants it claims it and puts it in its place. */
typedef struct fs_arrival {
  fs_timeline *ready, *there; /* k + 1: content may be read; content is in its place */
  _Atomic uint64_t claimed;   /* k + 1 */
} fs_arrival;

struct fs_instance {
  fsched_context *ctx; /* of its own */
  const fs_stream *stream;
  const fs_io *io;
  fs_backend_config config;
  const fsched_device_options *options;
  fs_arena arena;
  fs_memories memories;
  fs_kernels kernels;
  fs_effects effects;

  /* Per axis; then go; then ready and there of each given item; then of each physical barrier. */
  fs_timeline *timeline;
  uint32_t n_timelines;
  uint64_t *period;   /* per axis: epochs in one invocation */
  fs_cpu_step *step;  /* per command, in the order of the stream */
  fs_step_wait *wait; /* CSR by step */
  fs_meeting *meeting;
  uint32_t *member; /* CSR by meeting: commands */
  fs_physicals physicals;
  fs_physical *physical;       /* as many as the stream has of them, no more */
  fs_turn *turn;               /* per barrier of the stream */
  fs_arrival *arrival;         /* per given item */
  _Atomic uint32_t *kept_left; /* per kept item: writers that have not run */

  uint32_t n_lanes; /* one per queue that has commands, at least one */
  fs_cpu_lane *lane;
  uint32_t *queue_lane; /* FS_NONE for an empty queue */
  uint32_t n_workers;   /* as many, or as many threads as there may be, or can be started */
  uint32_t n_started;
  fs_worker *worker;
  uint32_t n_locks; /* timelines that have one: all, or none where no lane is parked */
  uint32_t spins;   /* before a worker sleeps */

  /* Set before `go` is published. */
  const fs_work *work;
  uint64_t begin_ns;
  uint64_t next; /* invocations so far */

  fs_timeline *go;                             /* k + 1: invocation k may start */
  _Alignas(FS_LINE) _Atomic uint32_t poisoned; /* futex word; 1: leave effects and waits out */
  _Atomic fsched_cause cause;                  /* why */
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

/* cpu/prepare.c: all of the instance but its threads; ctx is told what is wrong.  Requires a
 * stream, and what comes in and goes out of it. */
fs_status fs_cpu_decode(fsched_context *ctx, fs_instance *x) FS_MUST_USE;
/* The lanes among the workers that were started; before the first invocation.  Requires workers
 * that were started. */
void fs_cpu_deal(fs_instance *x);
/* cpu/worker.c */
void *fs_cpu_worker(void *worker);
/* Goes on with a lane of a worker that has several, in invocation k; false: it is parked. */
bool fs_cpu_go_on(fs_cpu_lane *lane, uint64_t k);
/* cpu/lanes.c.  A lane's begin in an invocation, and that it rests after the k-th. */
void fs_cpu_begin(fs_cpu_lane *lane);
void fs_cpu_rest(fs_cpu_lane *lane, uint64_t k);
static inline bool fs_cpu_shared(const fs_instance *x) { return x->n_lanes > x->n_workers; }
/* Invocation k, or the worker's part of it.  Requires lanes. */
void fs_cpu_run_lanes(fs_worker *w, uint64_t k);
/* Whether the lane is parked until the timeline has the value; else it is there, or poisoned.
 * Requires an axis of the stream, or a timeline beyond them. */
bool fs_cpu_park(fs_cpu_lane *lane, fs_timeline *t, uint64_t value, uint32_t axis);
/* Until the clock shows `lane->end_ns`. */
void fs_cpu_park_paced(fs_cpu_lane *lane);
/* Effects and waits are left out from now on; the first cause counts.  Requires a cause. */
void fs_cpu_poison(fs_instance *x, fsched_cause cause);
/* cpu/barrier.c.  A command of invocation k starts, all that it waits for is there; it is over.
 * Requires a command. */
void fs_cpu_barrier_start(fs_instance *x, uint32_t command, uint64_t k);
/* Requires a command. */
void fs_cpu_barrier_end(fs_instance *x, uint32_t command, uint64_t k);
/* While nobody looks at them: as they are before invocation k. */
void fs_cpu_barrier_set(fs_instance *x, uint64_t k);
/* cpu/watch.c */
uint64_t fs_cpu_progress(fs_instance *x, bool *idle);
bool fs_cpu_give_up(fs_instance *x);
void fs_cpu_report(fs_instance *x, fsched_context *ctx);

#endif
