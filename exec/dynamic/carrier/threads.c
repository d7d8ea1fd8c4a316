/* SPDX-License-Identifier: Apache-2.0 */
/* A thread for each worker, which sleeps on a condition of its own until it gets a member.  What a
 * kernel has written is seen by the next one, as the user's lock lies between them. */
#include <stdio.h>

#include "base/context.h"
#include "base/mem.h"
#include "exec/dynamic/carrier/kernels.h"

typedef struct thread_carrier thread_carrier;

typedef struct worker_thread {
  thread_carrier *of;
  pthread_t thread;
  pthread_cond_t wakes;
  fs_started_member member;
  bool busy;
} worker_thread;

struct thread_carrier {
  fs_carrier carrier;
  fsched_context *ctx;
  fs_carrier_options options;
  fs_opened_kernels kernels;
  unsigned char *block; /* of the memory, as it was allocated */
  worker_thread *worker;
  uint32_t n_conditions, n_threads;
  bool stops;
};

enum { WORKER_STACK = 256 << 10 };

static size_t block_bytes(const thread_carrier *c) {
  return c->options.heap_bytes + c->options.shared_bytes + 2 * (size_t)FS_CARRIER_ALIGN;
}

static unsigned char *align(unsigned char *at) {
  return at + (FS_CARRIER_ALIGN - (uintptr_t)at % FS_CARRIER_ALIGN) % FS_CARRIER_ALIGN;
}

static fs_status accept_call(fs_carrier *carrier, uint32_t kernel, const fsched_kernel_call *call) {
  thread_carrier *c = (thread_carrier *)carrier;
  return fs_opened_kernel_accepts(c->ctx, &c->kernels, kernel, call);
}

static void start_member(fs_carrier *carrier, uint32_t worker, const fs_started_member *member) {
  thread_carrier *c = (thread_carrier *)carrier;
  worker_thread *t = &c->worker[worker];
  assert(worker < c->options.n_workers && !t->busy && member->kernel < c->options.n_kernels);
  t->member = *member;
  t->busy = true;
  (void)pthread_cond_signal(&t->wakes);
}

/* Runs the member that a worker has got; the lock is open meanwhile. */
static void run_member(thread_carrier *c, worker_thread *t) {
  const fs_started_member *m = &t->member;
  char cause[FS_CARRIER_CAUSE];
  (void)pthread_mutex_unlock(c->options.lock);
  int answer = fs_opened_kernel_run(&c->kernels, m->kernel, m->call, m->member);
  (void)pthread_mutex_lock(c->options.lock);
  if (answer != 0) {
    (void)snprintf(cause, sizeof cause, "task '%s' has returned %d", m->call->op, answer);
  }
  t->busy = false;
  c->options.returned(c->options.user, (uint32_t)(t - c->worker), answer == 0 ? NULL : cause);
}

static void *work(void *user) {
  worker_thread *t = user;
  thread_carrier *c = t->of;
  (void)pthread_mutex_lock(c->options.lock);
  while (!c->stops) {
    if (t->busy) {
      run_member(c, t);
    } else {
      (void)pthread_cond_wait(&t->wakes, c->options.lock);
    }
  }
  (void)pthread_mutex_unlock(c->options.lock);
  return NULL;
}

static bool start_thread(worker_thread *t) {
  pthread_attr_t attr;
  if (pthread_attr_init(&attr) != 0) {
    return false;
  }
  bool started = pthread_attr_setstacksize(&attr, WORKER_STACK) == 0 &&
                 pthread_create(&t->thread, &attr, work, t) == 0;
  (void)pthread_attr_destroy(&attr);
  return started;
}

static fs_status start_threads(thread_carrier *c) {
  uint32_t n = c->options.n_workers;
  while (c->n_conditions < n && pthread_cond_init(&c->worker[c->n_conditions].wakes, NULL) == 0) {
    c->n_conditions++;
  }
  while (c->n_conditions == n && c->n_threads < n) {
    c->worker[c->n_threads].of = c;
    if (!start_thread(&c->worker[c->n_threads])) {
      break;
    }
    c->n_threads++;
  }
  return c->n_threads == n ? FSCHED_OK
                           : fs_fail(c->ctx, FSCHED_SYSTEM, FS_DIAG_THREAD, FS_NOWHERE, NULL,
                                     "no thread for a worker could be started");
}

static fs_status make_threads(thread_carrier *c) {
  const fs_carrier_options *o = &c->options;
  FS_TRY(fs_opened_kernels_open(c->ctx, o->n_kernels, o->kernel, true, &c->kernels));
  c->block = fs_realloc(c->ctx, NULL, 0, block_bytes(c));
  if (c->block == NULL) {
    return FSCHED_SYSTEM;
  }
  c->carrier.heap = align(c->block);
  c->carrier.shared = align(c->carrier.heap + o->heap_bytes);
  c->worker = fs_realloc(c->ctx, NULL, 0, o->n_workers * sizeof *c->worker);
  if (c->worker == NULL) {
    return FSCHED_SYSTEM;
  }
  memset(c->worker, 0, o->n_workers * sizeof *c->worker);
  return start_threads(c);
}

static void destroy_threads(fs_carrier *carrier) {
  thread_carrier *c = (thread_carrier *)carrier;
  (void)pthread_mutex_lock(c->options.lock);
  c->stops = true;
  for (uint32_t i = 0; i < c->n_threads; i++) {
    (void)pthread_cond_signal(&c->worker[i].wakes);
  }
  (void)pthread_mutex_unlock(c->options.lock);
  for (uint32_t i = 0; i < c->n_threads; i++) {
    (void)pthread_join(c->worker[i].thread, NULL);
  }
  for (uint32_t i = 0; i < c->n_conditions; i++) {
    (void)pthread_cond_destroy(&c->worker[i].wakes);
  }
  (void)fs_realloc(c->ctx, c->worker, c->options.n_workers * sizeof *c->worker, 0);
  (void)fs_realloc(c->ctx, c->block, block_bytes(c), 0);
  fs_opened_kernels_close(c->ctx, &c->kernels);
  (void)fs_realloc(c->ctx, c, sizeof *c, 0);
}

fs_status fs_carrier_threads(fsched_context *ctx, const fs_carrier_options *options,
                             fs_carrier **out) {
  static const fs_carrier_functions functions = {accept_call, start_member, destroy_threads};
  thread_carrier *c = fs_realloc(ctx, NULL, 0, sizeof *c);
  *out = NULL;
  if (c == NULL) {
    return FSCHED_SYSTEM;
  }
  *c = (thread_carrier){.carrier = {.functions = &functions}, .ctx = ctx, .options = *options};
  fs_status status = make_threads(c);
  if (status != FSCHED_OK) {
    destroy_threads(&c->carrier);
    return status;
  }
  *out = &c->carrier;
  return FSCHED_OK;
}
