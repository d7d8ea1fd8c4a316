/* SPDX-License-Identifier: Apache-2.0 */
/* One lock for all.  A worker sleeps on a condition of its own until it gets a member to run; the
 * submitting thread sleeps on another one, while a heap is full or until the run is over.  What a
 * kernel has written is seen by the next one, as the lock lies between them. */
#include "exec/dynamic/workers.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/mem.h"
#include "base/saturate.h"
#include "exec/dynamic/rings.h"

/* A task that is submitted and has not ended: one block with its calls, args and name. */
typedef struct worker_job {
  struct worker_job *next, *previous;
  size_t bytes;
  fs_workers_kernel kernel;
  void *user;
  fs_dynamic_task task;
  fsched_kernel_call *call; /* of each member */
} worker_job;

typedef struct worker_thread {
  fs_workers *of;
  pthread_t thread;
  pthread_cond_t wakes;
  worker_job *job; /* NULL: it is idle */
  uint32_t member;
} worker_thread;

struct fs_workers {
  fsched_context *ctx;
  fs_dynamic *e;
  uint64_t heap_size;
  unsigned char *heap, *block; /* of all four, aligned; and as it was allocated */
  pthread_mutex_t lock;
  pthread_cond_t ends; /* a member has returned */
  uint32_t n_threads, n_conditions, n_queues, n_running;
  worker_thread *thread;
  worker_job *jobs;
  bool has_lock, has_ends, stops;
};

enum { WORKER_STACK = 256 << 10 };

static size_t block_bytes(const fs_workers *w) {
  return FS_HEAP_RINGS * w->heap_size + FS_HEAP_ALIGN;
}

static void drop_job(fs_workers *w, worker_job *job) {
  *(job->previous == NULL ? &w->jobs : &job->previous->next) = job->next;
  if (job->next != NULL) {
    job->next->previous = job->previous;
  }
  (void)fs_realloc(w->ctx, job, job->bytes, 0);
}

static bool has_ended(const fs_workers *w, fs_dynamic_task task) {
  switch (fs_dynamic_task_get(w->e, task).state) {
    case FS_TASK_FREE:
    case FS_TASK_BUILDING:
    case FS_TASK_PENDING:
    case FS_TASK_READY:
    case FS_TASK_RUNNING:
      break;
    case FS_TASK_COMPLETED:
    case FS_TASK_FAILED:
    case FS_TASK_CONSUMED:
      return true;
  }
  return false;
}

/* Frees the tasks that have ended without running: those that were poisoned or cancelled. */
static void drop_ended(fs_workers *w) {
  for (worker_job *job = w->jobs, *next; job != NULL; job = next) {
    next = job->next;
    if (has_ended(w, job->task)) {
      drop_job(w, job);
    }
  }
}

/* Hands out what may start. */
static void hand_out(fs_workers *w) {
  fs_dynamic_start s;
  while (fs_dynamic_next(w->e, &s)) {
    for (uint32_t m = 0; m < s.n_members; m++) {
      worker_thread *t = &w->thread[s.queue[m]];
      t->job = (worker_job *)(uintptr_t)s.user;
      t->member = m;
      w->n_running++;
      (void)pthread_cond_signal(&t->wakes);
    }
  }
}

/* Runs the member that a worker has got; the lock is open meanwhile. */
static void run_member(fs_workers *w, worker_thread *t) {
  worker_job *job = t->job;
  fs_dynamic_task task = job->task;
  (void)pthread_mutex_unlock(&w->lock);
  int answer = job->kernel(&job->call[t->member], t->member, job->user);
  (void)pthread_mutex_lock(&w->lock);
  t->job = NULL;
  w->n_running--;
  if (answer == 0) {
    fs_dynamic_complete(w->e, task, t->member);
  } else {
    char cause[200];
    (void)snprintf(cause, sizeof cause, "task '%s' has returned %d", job->call[0].op, answer);
    fs_dynamic_fail(w->e, task, t->member, cause);
  }
  if (has_ended(w, task)) {
    drop_job(w, job);
  }
  hand_out(w);
  (void)pthread_cond_signal(&w->ends);
}

static void *work_on_queue(void *user) {
  worker_thread *t = user;
  fs_workers *w = t->of;
  (void)pthread_mutex_lock(&w->lock);
  while (!w->stops) {
    if (t->job == NULL) {
      (void)pthread_cond_wait(&t->wakes, &w->lock);
    } else {
      run_member(w, t);
    }
  }
  (void)pthread_mutex_unlock(&w->lock);
  return NULL;
}

static uint64_t read_now(void *user) {
  (void)user;
  return fs_now_ns();
}

/* Sleeps until a member returns.  One runs: else all tasks would have ended, and a piece that is
 * not given back then is held by the caller, for which the engine does not wait. */
static bool wait_for_member(void *user, uint64_t until) {
  fs_workers *w = user;
  struct timespec at = {(time_t)(until / FS_NS_PER_S), (long)(until % FS_NS_PER_S)};
  assert(w->n_running > 0);
  (void)pthread_cond_timedwait(&w->ends, &w->lock, &at);
  return true;
}

static bool make_condition(pthread_cond_t *c) {
  pthread_condattr_t attr;
  if (pthread_condattr_init(&attr) != 0) {
    return false;
  }
  bool made =
      pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 && pthread_cond_init(c, &attr) == 0;
  (void)pthread_condattr_destroy(&attr);
  return made;
}

static bool start_thread(worker_thread *t) {
  pthread_attr_t attr;
  if (pthread_attr_init(&attr) != 0) {
    return false;
  }
  bool started = pthread_attr_setstacksize(&attr, WORKER_STACK) == 0 &&
                 pthread_create(&t->thread, &attr, work_on_queue, t) == 0;
  (void)pthread_attr_destroy(&attr);
  return started;
}

static fs_status start_threads(fs_workers *w) {
  w->has_lock = pthread_mutex_init(&w->lock, NULL) == 0;
  w->has_ends = w->has_lock && make_condition(&w->ends);
  while (w->has_ends && w->n_conditions < w->n_queues &&
         make_condition(&w->thread[w->n_conditions].wakes)) {
    w->n_conditions++;
  }
  while (w->n_conditions == w->n_queues && w->n_threads < w->n_queues) {
    w->thread[w->n_threads].of = w;
    if (!start_thread(&w->thread[w->n_threads])) {
      break;
    }
    w->n_threads++;
  }
  return w->n_threads == w->n_queues ? FSCHED_OK
                                     : fs_fail(w->ctx, FSCHED_SYSTEM, FS_DIAG_THREAD, FS_NOWHERE,
                                               NULL, "no thread for a worker could be started");
}

static fs_status make_workers(fs_workers *w, const fs_dynamic_options *options) {
  fs_dynamic_options o = *options;
  o.user = w;
  o.now = read_now;
  o.wait = wait_for_member;
  FS_TRY(fs_dynamic_create(w->ctx, &o, &w->e));
  w->n_queues = o.n_queues;
  w->heap_size = fs_min(fs_heap_rounded(o.heap_size), FSCHED_MAX_SIZE);
  w->thread = fs_realloc(w->ctx, NULL, 0, w->n_queues * sizeof *w->thread);
  if (w->thread == NULL) {
    return FSCHED_SYSTEM;
  }
  memset(w->thread, 0, w->n_queues * sizeof *w->thread);
  w->block = fs_realloc(w->ctx, NULL, 0, block_bytes(w));
  if (w->block == NULL) {
    return FSCHED_SYSTEM;
  }
  w->heap = w->block + (FS_HEAP_ALIGN - (uintptr_t)w->block % FS_HEAP_ALIGN) % FS_HEAP_ALIGN;
  return start_threads(w);
}

fs_status fs_workers_create(fsched_context *ctx, const fs_dynamic_options *options,
                            fs_workers **out) {
  *out = NULL;
  fs_workers *w = fs_realloc(ctx, NULL, 0, sizeof *w);
  if (w == NULL) {
    return FSCHED_SYSTEM;
  }
  *w = (fs_workers){.ctx = ctx};
  fs_status status = make_workers(w, options);
  if (status != FSCHED_OK) {
    fs_workers_destroy(w);
    return status;
  }
  *out = w;
  return FSCHED_OK;
}

static void lock_workers(fs_workers *w) { (void)pthread_mutex_lock(&w->lock); }
static fs_status unlock_workers(fs_workers *w, fs_status status) {
  (void)pthread_mutex_unlock(&w->lock);
  return status;
}

static void wait_for_all(fs_workers *w) {
  while (w->n_running > 0) {
    (void)pthread_cond_wait(&w->ends, &w->lock);
  }
}

static void stop_threads(fs_workers *w) {
  lock_workers(w);
  fs_dynamic_cancel(w->e, "the workers are stopped");
  wait_for_all(w);
  drop_ended(w);
  w->stops = true;
  for (uint32_t i = 0; i < w->n_threads; i++) {
    (void)pthread_cond_signal(&w->thread[i].wakes);
  }
  (void)unlock_workers(w, FSCHED_OK);
  for (uint32_t i = 0; i < w->n_threads; i++) {
    (void)pthread_join(w->thread[i].thread, NULL);
  }
}

void fs_workers_destroy(fs_workers *w) {
  if (w == NULL) {
    return;
  }
  if (w->has_lock) {
    stop_threads(w);
    (void)pthread_mutex_destroy(&w->lock);
  }
  for (uint32_t i = 0; i < w->n_conditions; i++) {
    (void)pthread_cond_destroy(&w->thread[i].wakes);
  }
  if (w->has_ends) {
    (void)pthread_cond_destroy(&w->ends);
  }
  fs_dynamic_destroy(w->e);
  (void)fs_realloc(w->ctx, w->block, block_bytes(w), 0);
  (void)fs_realloc(w->ctx, w->thread, w->n_queues * sizeof *w->thread, 0);
  (void)fs_realloc(w->ctx, w, sizeof *w, 0);
}

fs_status fs_workers_import(fs_workers *w, void *data, uint64_t size, bool readable, bool writable,
                            fs_dynamic_buffer *out) {
  fs_dynamic_import d = {size, (uintptr_t)data, readable, writable, false};
  lock_workers(w);
  return unlock_workers(w, fs_dynamic_import_buffer(w->e, &d, out));
}

fs_status fs_workers_declare(fs_workers *w, uint64_t size, fs_dynamic_buffer *out) {
  lock_workers(w);
  return unlock_workers(w, fs_dynamic_declare(w->e, size, out));
}

fs_status fs_workers_alloc(fs_workers *w, uint32_t n_dims, const uint64_t *shape, uint64_t element,
                           fs_dynamic_buffer *out, fs_dynamic_task *task) {
  lock_workers(w);
  return unlock_workers(w, fs_dynamic_alloc(w->e, n_dims, shape, element, out, task));
}

fs_status fs_workers_forget(fs_workers *w, fs_dynamic_buffer buffer) {
  lock_workers(w);
  return unlock_workers(w, fs_dynamic_forget(w->e, buffer));
}

fs_status fs_workers_hold(fs_workers *w, fs_dynamic_buffer buffer, fs_dynamic_task *task) {
  lock_workers(w);
  return unlock_workers(w, fs_dynamic_hold(w->e, buffer, task));
}

fs_status fs_workers_release(fs_workers *w, fs_dynamic_task task) {
  lock_workers(w);
  return unlock_workers(w, fs_dynamic_release(w->e, task));
}

fs_status fs_workers_scope_begin(fs_workers *w) {
  lock_workers(w);
  return unlock_workers(w, fs_dynamic_scope_begin(w->e));
}

fs_status fs_workers_scope_end(fs_workers *w) {
  lock_workers(w);
  return unlock_workers(w, fs_dynamic_scope_end(w->e));
}

static uint32_t count_args(const fs_dynamic_submission *s) {
  uint32_t n = 0;
  for (uint32_t m = 0; m < s->n_members; m++) {
    n += s->member[m].n_args;
  }
  return n;
}

/* Makes the block of a task; `where`, behind the args, has room for what the engine tells. */
static worker_job *make_job(fs_workers *w, const fs_workers_task *task, fs_dynamic_where **where) {
  const fs_dynamic_submission *s = &task->submission;
  uint32_t n_args = count_args(s);
  size_t length = strlen(task->name) + 1, calls = s->n_members * sizeof(fsched_kernel_call);
  size_t args = n_args * sizeof(fsched_kernel_arg), places = n_args * sizeof **where;
  size_t bytes = sizeof(worker_job) + calls + args + places + length;
  unsigned char *block = fs_realloc(w->ctx, NULL, 0, bytes);
  if (block == NULL) {
    return NULL;
  }
  worker_job *job = (worker_job *)(void *)block;
  fsched_kernel_call *call = (fsched_kernel_call *)(void *)(block + sizeof *job);
  fsched_kernel_arg *arg = (fsched_kernel_arg *)(void *)(block + sizeof *job + calls);
  char *name = (char *)block + sizeof *job + calls + args + places;
  *where = (fs_dynamic_where *)(void *)(block + sizeof *job + calls + args);
  *job = (worker_job){.bytes = bytes, .kernel = task->kernel, .user = task->user, .call = call};
  memcpy(name, task->name, length);
  for (uint32_t m = 0; m < s->n_members; m++) {
    call[m] = (fsched_kernel_call){.size = sizeof *call,
                                   .op = name,
                                   .args = arg,
                                   .n_args = s->member[m].n_args,
                                   .grid = {1, 1, 1},
                                   .block = {1, 1, 1}};
    arg += s->member[m].n_args;
  }
  return job;
}

/* Where the args of a job are, once it is submitted. */
static void fill_args(fs_workers *w, const fs_dynamic_submission *s, worker_job *job,
                      const fs_dynamic_where *where) {
  fsched_kernel_arg *out = (fsched_kernel_arg *)(void *)(job->call + s->n_members);
  for (uint32_t m = 0; m < s->n_members; m++) {
    for (uint32_t i = 0; i < s->member[m].n_args; i++, where++, out++) {
      const fs_dynamic_arg *a = &s->member[m].arg[i];
      fs_dynamic_extent x = fs_dynamic_arg_extent(w->e, a);
      unsigned char *base = where->heap == FS_NONE
                                ? (unsigned char *)(uintptr_t)x.address
                                : w->heap + where->heap * w->heap_size + where->offset;
      *out = (fsched_kernel_arg){.data = base + x.offset, .length = x.length, .tag = a->tag};
    }
  }
}

fs_status fs_workers_submit(fs_workers *w, const fs_workers_task *task, fs_dynamic_task *out) {
  fs_dynamic_where *where;
  lock_workers(w);
  worker_job *job = make_job(w, task, &where);
  if (job == NULL) {
    return unlock_workers(w, FSCHED_SYSTEM);
  }
  fs_dynamic_submission s = task->submission;
  s.user = (uintptr_t)job;
  fs_status status = fs_dynamic_submit(w->e, &s, &job->task, where);
  if (status != FSCHED_OK) {
    (void)fs_realloc(w->ctx, job, job->bytes, 0);
    return unlock_workers(w, status);
  }
  fill_args(w, &s, job, where);
  job->next = w->jobs;
  if (job->next != NULL) {
    job->next->previous = job;
  }
  w->jobs = job;
  *out = job->task;
  hand_out(w);
  return unlock_workers(w, FSCHED_OK);
}

void fs_workers_cancel(fs_workers *w, const char *cause) {
  lock_workers(w);
  fs_dynamic_cancel(w->e, cause);
  (void)unlock_workers(w, FSCHED_OK);
}

fs_status fs_workers_finish(fs_workers *w) {
  fs_status status = FSCHED_OK;
  lock_workers(w);
  if (fs_dynamic_is_open(w->e)) {
    fs_status closed = fs_dynamic_close(w->e);
    assert(closed == FSCHED_OK);
    (void)closed;
  }
  wait_for_all(w);
  drop_ended(w);
  assert(w->jobs == NULL);
  const char *cause = fs_dynamic_run_cause(w->e);
  if (cause != NULL) {
    status = fs_fail(w->ctx, FSCHED_REPLAY, FS_DIAG_DYNAMIC_RUN, FS_NOWHERE, NULL, "%s", cause);
  }
  fs_status opened = fs_dynamic_open(w->e);
  assert(opened == FSCHED_OK);
  (void)opened;
  return unlock_workers(w, status);
}
