/* SPDX-License-Identifier: Apache-2.0 */
/* Whoever has the baton uses the engine: a thread that calls the functions here, or a worker that
 * has found nobody to tell that its member has ended.  Before it is given away the ends that are
 * known are taken in, and what may start is handed out.  The submitting thread rests while a heap
 * is full, and until the run is over. */
#include "exec/dynamic/crew.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/mem.h"

static void drop_job(fs_workers *w, fs_task_job *job) {
  *(job->previous == NULL ? &w->jobs : &job->previous->next) = job->next;
  if (job->next != NULL) {
    job->next->previous = job->previous;
  }
  fs_task_job_drop(&w->pool, job);
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
  for (fs_task_job *job = w->jobs, *next; job != NULL; job = next) {
    next = job->next;
    if (has_ended(w, job->task)) {
      drop_job(w, job);
    }
  }
}

/* Notes that a member is given to the worker of a queue. */
static void note_begin(fs_workers *w, const fs_task_job *job, uint32_t member, uint32_t queue) {
  if (w->traces) {
    fs_task_time span = {.name = job->traced,
                         .queue = queue,
                         .member = member,
                         .group = job->group,
                         .begin = fs_now_ns()};
    w->queue[queue].span = fs_times_begin(&w->spans, span);
  }
}

static void start_member(fs_workers *w, fs_task_job *job, uint32_t member, uint32_t queue) {
  fs_crew_queue *q = &w->queue[queue];
  q->job = job;
  q->member = member;
  note_begin(w, job, member, queue);
  w->n_running++;
  w->moves++;
  if (job->once && member > 0) {
    return;
  }
  if (w->started != NULL) {
    w->started(w->user, &job->call[member], member, queue);
  }
  fs_started_member started = {&job->call[member], job->kernel, member, queue};
  w->carrier->functions->start(w->carrier, queue, &started);
}

/* Hands out what may start. */
static void hand_out(fs_workers *w) {
  fs_dynamic_start s;
  w->changed = false;
  while (fs_dynamic_next(w->e, &s)) {
    fs_task_job *job = (fs_task_job *)(uintptr_t)s.user;
    for (uint32_t m = 0; m < s.n_members; m++) {
      start_member(w, job, m, s.queue[m]);
    }
  }
}

/* Whether tasks can be submitted may be different now. */
static void note_state(fs_workers *w) {
  bool accepts = fs_dynamic_is_open(w->e) && fs_dynamic_run_cause(w->e) == NULL;
  if (accepts != atomic_load_explicit(&w->accepts, memory_order_relaxed)) {
    atomic_store_explicit(&w->accepts, accepts, memory_order_release);
  }
}

/* The member of a queue has ended. */
static void end_member(fs_workers *w, uint32_t queue, const char *cause) {
  fs_crew_queue *q = &w->queue[queue];
  fs_dynamic_task task = q->job->task;
  q->job = NULL;
  if (w->traces) {
    w->spans.begun.at[q->span].end = fs_now_ns();
  }
  w->n_running--;
  w->moves++;
  if (cause == NULL) {
    fs_dynamic_complete(w->e, task, q->member);
  } else {
    fs_dynamic_fail(w->e, task, q->member, cause);
  }
}

/* The members for which another one was called have ended with it. */
static void end_others(fs_workers *w, const fs_task_job *job) {
  for (uint32_t q = 0; q < w->n_queues; q++) {
    if (w->queue[q].job == job) {
      end_member(w, q, NULL);
    }
  }
}

/* A member has ended; for the carrier. */
void fs_crew_take_back(void *user, uint32_t worker, const char *cause) {
  fs_workers *w = user;
  fs_task_job *job = w->queue[worker].job;
  assert(job != NULL);
  w->changed = true;
  if (cause != NULL && w->failed != NULL) {
    w->failed(w->user);
  }
  end_member(w, worker, cause);
  if (job->once && job->n_members > 1) {
    end_others(w, job);
  }
  if (cause != NULL) {
    note_state(w);
  }
  if (job->n_members == 1 || has_ended(w, job->task)) {
    drop_job(w, job);
  }
}

/* A worker is gone; for the carrier. */
void fs_crew_lose(void *user, uint32_t worker, const char *cause) {
  fs_workers *w = user;
  if (w->queue[worker].job == NULL) {
    fs_dynamic_retire_idle(w->e, worker, cause);
  } else {
    fs_dynamic_retire(w->e, worker, cause);
  }
  note_state(w);
  drop_ended(w);
  w->changed = true;
  w->moves++;
}

/* Takes in the ends that are known, and hands out what may start. */
static void take_news(void *user) {
  fs_workers *w = user;
  fs_news *news = fs_baton_hear(&w->baton);
  if (news != NULL) {
    w->carrier->functions->hear(w->carrier, news);
  }
  if (w->changed) {
    hand_out(w);
  }
  switch (w->sleeps) {
    case FS_SLEEPS_NOT:
      break;
    case FS_SLEEPS_FOR_HEAP:
      if (w->moves != w->slept_at || w->n_running == 0) {
        fs_baton_call(&w->baton);
      }
      break;
    case FS_SLEEPS_FOR_ALL:
      if (w->n_running == 0) {
        fs_baton_call(&w->baton);
      }
      break;
  }
}

void fs_crew_leave(void *user) {
  fs_workers *w = user;
  fs_baton_leave(&w->baton, take_news, w);
}

/* Gives the baton away, and sleeps until what it waits for may be there, or the clock says `until`.
 */
static void sleep_for(fs_workers *w, fs_crew_sleep reason, uint64_t until) {
  uint64_t now = until == UINT64_MAX ? 0 : fs_now_ns();
  w->sleeps = reason;
  w->slept_at = w->moves;
  atomic_store_explicit(&w->baton.returns, false, memory_order_relaxed);
  fs_baton_rest(&w->baton, take_news, w,
                until == UINT64_MAX ? UINT64_MAX
                : until > now       ? until - now
                                    : 0);
  w->sleeps = FS_SLEEPS_NOT;
}

/* Sleeps until a member returns.  One runs: else all tasks would have ended, and a piece that is
 * not given back then is held by the caller, for which the engine does not wait. */
bool fs_crew_wait(void *user, uint64_t until) {
  fs_workers *w = user;
  assert(w->n_running > 0);
  sleep_for(w, FS_SLEEPS_FOR_HEAP, until);
  return true;
}

static void lock_workers(fs_workers *w) { fs_baton_take(&w->baton); }
static fs_status unlock_workers(fs_workers *w, fs_status status) {
  note_state(w);
  fs_crew_leave(w);
  return status;
}

static void wait_for_all(fs_workers *w) {
  take_news(w);
  while (w->n_running > 0) {
    sleep_for(w, FS_SLEEPS_FOR_ALL, UINT64_MAX);
  }
}

void fs_crew_stop(fs_workers *w) {
  assert(w->carrier != NULL);
  lock_workers(w);
  fs_dynamic_cancel(w->e, "the workers are stopped");
  wait_for_all(w);
  drop_ended(w);
  (void)unlock_workers(w, FSCHED_OK);
  w->carrier->functions->destroy(w->carrier);
}

/* Whether the workers reach memory of the user. */
static bool is_reached(const fs_workers *w, const void *data, uint64_t size) {
  uintptr_t shared = (uintptr_t)w->carrier->shared, at = (uintptr_t)data;
  switch (w->kind) {
    case FS_WORKERS_THREADS:
      break;
    case FS_WORKERS_PROCESSES:
      return at >= shared && at - shared <= w->shared_used &&
             size <= w->shared_used - (at - shared);
  }
  return true;
}

fs_status fs_workers_import(fs_workers *w, void *data, uint64_t size, bool readable, bool writable,
                            fs_dynamic_buffer *out) {
  fs_dynamic_import d = {size, (uintptr_t)data, readable, writable, false};
  if (!is_reached(w, data, size)) {
    return fs_fail(w->ctx, FSCHED_BAD_INPUT, FS_DIAG_DYNAMIC_ARG, FS_NOWHERE, NULL,
                   "imported memory of worker processes lies outside of what they share");
  }
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

fs_status fs_workers_make(fs_workers *w, uint32_t heap, uint64_t size, fs_dynamic_buffer *out,
                          fs_dynamic_task *task) {
  lock_workers(w);
  return unlock_workers(w, fs_dynamic_make(w->e, heap, size, out, task, NULL));
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

/* Room for what the engine tells of the args of a task, and its scratch. */
static fs_status reserve_where(fs_workers *w, const fs_dynamic_submission *s) {
  size_t n = s->n_scratch;
  for (uint32_t m = 0; m < s->n_members; m++) {
    n += s->member[m].n_args;
  }
  return n <= w->where.cap ? FSCHED_OK : fs_vec_reserve(w->ctx, &w->where, n);
}

static fs_status submit_job(fs_workers *w, const fs_workers_task *task, fs_task_job *job) {
  const fs_dynamic_submission *s = &task->submission;
  for (uint32_t m = 0; m < (job->once ? 1 : s->n_members); m++) {
    FS_TRY(w->carrier->functions->accepts(w->carrier, job->kernel, &job->call[m]));
  }
  FS_TRY(reserve_where(w, s));
  FS_TRY(fs_dynamic_submit(w->e, s, &job->task, w->where.at));
  fs_task_job_fill(job, task, w->heap, w->where.at);
  return FSCHED_OK;
}

static fs_status submit_traced(fs_workers *w, const fs_workers_task *task, fs_task_job *job) {
  uint32_t n = task->submission.n_members;
  if (!w->traces) {
    return submit_job(w, task, job);
  }
  FS_TRY(fs_times_reserve(w->ctx, &w->spans, task->name, n, &job->traced));
  fs_status status = submit_job(w, task, job);
  if (status != FSCHED_OK) {
    fs_times_withdraw(&w->spans, n, job->traced);
  }
  return status;
}

fs_status fs_workers_submit(fs_workers *w, fs_workers_task *task, fs_dynamic_task *out) {
  if (task->kernel >= w->n_kernels) {
    return fs_fail(w->ctx, FSCHED_BAD_INPUT, FS_DIAG_DYNAMIC_ARG, FS_NOWHERE, NULL,
                   "task '%s' names kernel %" PRIu32 " of %" PRIu32, task->name, task->kernel,
                   w->n_kernels);
  }
  lock_workers(w);
  fs_task_job *job;
  fs_status status = fs_task_job_make(&w->pool, task, &job);
  if (status != FSCHED_OK) {
    return unlock_workers(w, status);
  }
  task->submission.user = (uintptr_t)job;
  status = submit_traced(w, task, job);
  if (status != FSCHED_OK) {
    fs_task_job_drop(&w->pool, job);
    return unlock_workers(w, status);
  }
  job->next = w->jobs;
  if (job->next != NULL) {
    job->next->previous = job;
  }
  w->jobs = job;
  *out = job->task;
  w->moves++;
  w->changed = true;
  if (!atomic_load_explicit(&w->baton.returns, memory_order_relaxed)) {
    atomic_store_explicit(&w->baton.returns, true, memory_order_relaxed);
  }
  fs_crew_leave(w);
  return FSCHED_OK;
}

void fs_workers_cancel(fs_workers *w, const char *cause) {
  lock_workers(w);
  fs_dynamic_cancel(w->e, cause);
  fs_baton_call(&w->baton); /* who waits for memory */
  (void)unlock_workers(w, FSCHED_OK);
}

fs_status fs_workers_open(fs_workers *w) {
  lock_workers(w);
  fs_status status = fs_dynamic_open(w->e);
  if (status == FSCHED_OK) {
    fs_times_clear(&w->spans);
  }
  return unlock_workers(w, status);
}

const fs_task_times *fs_workers_times(const fs_workers *w) {
  assert(w->n_running == 0);
  return &w->spans;
}

fs_status fs_workers_close(fs_workers *w) {
  lock_workers(w);
  return unlock_workers(w, fs_dynamic_close(w->e));
}

fs_status fs_workers_accept(fs_workers *w) {
  if (atomic_load_explicit(&w->accepts, memory_order_acquire)) {
    return FSCHED_OK;
  }
  lock_workers(w);
  return unlock_workers(w, fs_dynamic_accept(w->e));
}

/* Requires the baton. */
static fs_status drain(fs_workers *w) {
  wait_for_all(w);
  drop_ended(w);
  assert(w->jobs == NULL);
  const char *cause = fs_dynamic_run_cause(w->e);
  return cause == NULL
             ? FSCHED_OK
             : fs_fail(w->ctx, FSCHED_REPLAY, FS_DIAG_DYNAMIC_RUN, FS_NOWHERE, NULL, "%s", cause);
}

fs_status fs_workers_drain(fs_workers *w) {
  lock_workers(w);
  return unlock_workers(w, drain(w));
}

fs_dynamic_run fs_workers_run_state(fs_workers *w) {
  lock_workers(w);
  fs_dynamic_run state = fs_dynamic_run_state(w->e);
  (void)unlock_workers(w, FSCHED_OK);
  return state;
}

const char *fs_workers_run_cause(fs_workers *w) {
  lock_workers(w);
  const char *cause = fs_dynamic_run_cause(w->e);
  (void)unlock_workers(w, FSCHED_OK);
  return cause;
}

static fs_status end_run(fs_workers *w) {
  if (fs_dynamic_is_open(w->e)) {
    fs_status closed = fs_dynamic_close(w->e);
    assert(closed == FSCHED_OK);
    (void)closed;
  }
  return drain(w);
}

fs_status fs_workers_end(fs_workers *w) {
  lock_workers(w);
  return unlock_workers(w, end_run(w));
}

void fs_workers_trace(fs_workers *w, bool traces) {
  assert(w->jobs == NULL); /* so that nobody holds the lock */
  lock_workers(w);
  w->traces = traces;
  (void)unlock_workers(w, FSCHED_OK);
}

fs_status fs_workers_finish(fs_workers *w) {
  lock_workers(w);
  fs_status status = end_run(w);
  fs_status opened = fs_dynamic_open(w->e);
  assert(opened == FSCHED_OK);
  (void)opened;
  fs_times_clear(&w->spans);
  return unlock_workers(w, status);
}
