/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of workers, for workers.c, which runs tasks, and crew.c, where workers come and go. */
#ifndef FS_DYNAMIC_CREW_H
#define FS_DYNAMIC_CREW_H

#include "exec/dynamic/jobs.h"
#include "exec/dynamic/rings.h"
#include "exec/dynamic/workers.h"

/* What a queue's worker runs. */
typedef struct fs_crew_queue {
  fs_task_job *job; /* NULL: it is idle */
  uint32_t member;
  size_t span;
} fs_crew_queue;

/* What the submitting thread sleeps for. */
typedef enum fs_crew_sleep { FS_SLEEPS_NOT, FS_SLEEPS_FOR_HEAP, FS_SLEEPS_FOR_ALL } fs_crew_sleep;

struct fs_workers {
  fsched_context *ctx;
  fs_dynamic *e;
  fs_carrier *carrier;
  unsigned char **heap; /* where each begins */
  uint32_t n_heaps;
  uint64_t shared_size, shared_used;
  fs_workers_kind kind;
  fs_workers_started *started;
  void (*failed)(void *user);
  void *user;
  fs_baton baton;
  bool changed;         /* something may start */
  fs_crew_sleep sleeps; /* of the submitting thread, which is called when it may go on */
  uint64_t slept_at;    /* what `moves` was then */
  _Atomic bool accepts; /* the run is open and has not failed */
  uint32_t n_queues, n_kernels, n_running;
  fs_crew_queue *queue;
  fs_task_job *jobs;
  fs_task_jobs pool;
  FS_VEC(fs_dynamic_where) where; /* of the task in hand */
  uint64_t moves; /* tasks that were submitted, members that have begun or ended, lost workers */
  bool traces;
  fs_task_times spans;
};

/* For the carrier, and the engine: a member has ended, a worker is gone, the baton is left; until a
 * member returns, or the clock says `until`. */
void fs_crew_take_back(void *user, uint32_t worker, const char *cause);
void fs_crew_lose(void *user, uint32_t worker, const char *cause);
void fs_crew_leave(void *user);
bool fs_crew_wait(void *user, uint64_t until);
/* Cancels what has not started, waits for what runs, and ends the workers.  Requires a carrier. */
void fs_crew_stop(fs_workers *w);

#endif
