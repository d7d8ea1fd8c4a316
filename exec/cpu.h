/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the CPU back end, shared by its files:
 *   cpu_prepare.c  decodes the stream into steps and takes memory,
 *   cpu_worker.c   is what every thread does,
 *   cpu_barrier.c  counts producers and consumers of barriers,
 *   cpu_watch.c    finds out what is stuck,
 *   cpu.c          starts and ends. */
#ifndef FS_EXEC_CPU_H
#define FS_EXEC_CPU_H

#include <pthread.h>

#include "host.h"
#include "physicals.h"
#include "timeline.h"

/* A command as the worker wants it: 16 bytes, and nothing else is touched for a command that
 * neither waits, signals nor works. */
typedef struct fs_step {
  uint32_t command;
  uint32_t meeting; /* of a gang, FS_NONE */
  uint32_t wait0;
  uint32_t n_waits : 31, signal : 1;
} fs_step;

typedef struct fs_step_wait {
  fs_timeline *timeline;
  uint64_t period; /* epochs of the axis in one invocation */
  uint32_t axis, epoch;
} fs_step_wait;

/* The members of one gang op; the last one to arrive runs it. */
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

/* One thread and its queue.  The first part is read by the watchdog, and written only by a worker
 * that has nothing better to do. */
typedef struct fs_worker {
  _Alignas(FS_LINE) _Atomic uint64_t blocked; /* counts up: odd while it waits */
  _Atomic uint32_t at;                        /* step waited before; FS_NONE: between invocations */
  _Atomic uint32_t axis;                      /* index of a timeline at all times */
  _Atomic uint64_t value;                     /* on the axis's timeline */

  struct fs_instance *instance;
  uint32_t queue, n_steps;
  const fs_step *steps;
  fs_timeline *timeline; /* of the queue's axis */
  fs_effect_room room;
  pthread_t thread;
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
  fs_step *step;      /* per command, in the order of the stream */
  fs_step_wait *wait; /* CSR by step */
  fs_meeting *meeting;
  uint32_t *member; /* CSR by meeting: commands */
  fs_physicals physicals;
  fs_physical *physical;       /* as many as the stream has of them, no more */
  fs_turn *turn;               /* per barrier of the stream */
  fs_arrival *arrival;         /* per given item */
  _Atomic uint32_t *kept_left; /* per kept item: writers that have not run */

  uint32_t n_workers; /* one per queue that has commands, at least one */
  uint32_t n_started;
  fs_worker *worker;
  uint32_t *queue_worker; /* FS_NONE for an empty queue */
  uint32_t spins;         /* before a worker sleeps */

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

/* Indices of timelines beyond the axes. */
static inline uint32_t fs_cpu_ready(const fs_instance *x, uint32_t item) {
  return x->stream->n_axes + 1 + item;
}
static inline uint32_t fs_cpu_there(const fs_instance *x, uint32_t item) {
  return x->stream->n_axes + 1 + x->io->n_given + item;
}

static inline uint32_t fs_cpu_phase(const fs_instance *x, uint32_t physical) {
  return x->stream->n_axes + 1 + 2 * x->io->n_given + physical;
}

/* cpu_prepare.c: all of the instance but its threads; ctx is told what is wrong. */
fs_status fs_cpu_decode(fsched_context *ctx, fs_instance *x) FS_MUST_USE;
/* cpu_worker.c */
void *fs_cpu_worker(void *worker);
/* cpu_barrier.c.  A command of invocation k starts, all that it waits for is there; it is over. */
void fs_cpu_barrier_start(fs_instance *x, uint32_t command, uint64_t k);
void fs_cpu_barrier_end(fs_instance *x, uint32_t command, uint64_t k);
/* While nobody looks at them: as they are before invocation k. */
void fs_cpu_barrier_set(fs_instance *x, uint64_t k);
/* The first cause counts. */
void fs_cpu_poison(fs_instance *x, fsched_cause cause);
/* cpu_watch.c */
uint64_t fs_cpu_progress(fs_instance *x, bool *idle);
void fs_cpu_report(fs_instance *x, fsched_context *ctx);

#endif
