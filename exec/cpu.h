/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the CPU back end, shared by its files:
 *   cpu_prepare.c  decodes the stream into steps and takes memory,
 *   cpu_worker.c   is what every thread does,
 *   cpu_watch.c    finds out what is stuck,
 *   cpu.c          starts, runs, ends. */
#ifndef FS_EXEC_CPU_H
#define FS_EXEC_CPU_H

#include <pthread.h>

#include "backend.h"
#include "kernel.h"
#include "mem.h"
#include "memories.h"
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
  _Atomic uint64_t arrived; /* over all invocations */
  uint32_t members;
  fs_step_wait over;   /* the collective axis */
  uint64_t begin, end; /* ns, of the last invocation; written by the runner before `over` */
} fs_meeting;

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
  fs_kernel_arg *args;   /* room for the largest op */
  fs_kernel_arg *scratch;
  pthread_t thread;
} fs_worker;

/* State that is carried from one invocation to the next. */
typedef struct fs_carry {
  uint32_t from, to; /* versions: kept, given */
  uint64_t size;
  uint8_t *bytes; /* on the way */
} fs_carry;

struct fs_instance {
  fsched_context *ctx;
  const fs_stream *stream;
  fs_backend_config config;
  fs_arena arena;
  fs_memories memories;

  fs_timeline *timeline; /* per axis; then go, complete */
  uint64_t *period;      /* per axis: epochs in one invocation */
  fs_step *step;         /* per command, in the order of the stream */
  fs_step_wait *wait;    /* per wait of the stream */
  fs_meeting *meeting;
  uint8_t *kernel; /* fs_builtin per kernel of the stream */
  uint32_t n_carries;
  fs_carry *carry;

  uint32_t n_workers; /* one per queue that has commands */
  uint32_t n_started;
  fs_worker *worker;
  uint32_t *queue_worker; /* FS_NONE for an empty queue */
  uint32_t spins;         /* before a worker sleeps */

  /* Set before `go` is published, by the main thread or by the last worker of an invocation. */
  uint64_t last; /* invocation with which the run ends */
  uint64_t begin_ns;
  fs_backend_times times;

  fs_timeline *go;       /* k + 1: invocation k may start */
  fs_timeline *complete; /* k + 1: the run that ends with invocation k is done */
  _Alignas(FS_LINE) _Atomic uint64_t arrived; /* workers at the end of an invocation */
  _Atomic uint32_t stop;                      /* futex word; 1: give up everything */
};

/* cpu_prepare.c: all of the instance but its threads. */
fs_status fs_cpu_decode(fs_instance *x) FS_MUST_USE;
/* cpu_worker.c */
void *fs_cpu_worker(void *worker);
/* Given content; state only before the first invocation, later fs_cpu_carry moves it. */
void fs_cpu_give(fs_instance *x, bool first);
void fs_cpu_carry(fs_instance *x);
/* cpu_watch.c: whether nobody can go on, and nobody could when `*before` was taken; updates it. */
typedef struct fs_watch {
  uint64_t moves; /* sum of the workers' `blocked` */
  uint64_t since_ns;
  bool idle;
} fs_watch;
bool fs_cpu_stuck(const fs_instance *x, uint64_t timeout_ns, fs_watch *watch);
fs_status fs_cpu_report_stuck(fs_instance *x);

#endif
