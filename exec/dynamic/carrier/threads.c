/* SPDX-License-Identifier: Apache-2.0 */
/* A thread for each worker.  When its member has ended it reports that at once, if it gets the
 * baton; else it leaves it as news, and if nobody takes it in soon, tries to get the baton again.
 * A worker without a member looks for a while whether there is another one, and then sleeps; only
 * so many look as there are processors beside the submitting thread's.  What a kernel has written
 * is seen by the next one, as the news and the baton lie between them. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/context.h"
#include "base/futex.h"
#include "base/mem.h"
#include "exec/dynamic/carrier/kernels.h"

typedef struct thread_carrier thread_carrier;

typedef struct worker_thread {
  _Alignas(64) fs_news news; /* that its member has ended; the first member */
  fs_bed bed;
  fs_started_member member;
  int answer;
  thread_carrier *of;
  pthread_t thread;
} worker_thread;

struct thread_carrier {
  fs_carrier carrier;
  fsched_context *ctx;
  fs_carrier_options options;
  fs_opened_kernels kernels;
  unsigned char *block, *threads; /* of the memory and the workers, as they were allocated */
  worker_thread *worker;
  uint32_t n_threads;
  uint32_t most_looking;
  _Atomic uint32_t n_looking; /* workers that look for a member */
};

/* LOOKS: of a worker, some microseconds; PATIENCE: of these, for which its news waits for somebody
 * who is about to have the baton. */
enum { WORKER_STACK = 256 << 10, WORKER_ALIGN = 64, LOOKS = 256, PATIENCE = 64 };

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
  assert(worker < c->options.n_workers && member->kernel < c->options.n_kernels);
  t->member = *member;
  fs_bed_give(&t->bed, FS_BED_GIVEN);
}

/* The member of a worker has ended.  Requires the baton. */
static void report_end(const thread_carrier *c, const worker_thread *t) {
  char cause[FS_CARRIER_CAUSE];
  if (t->answer != 0) {
    (void)snprintf(cause, sizeof cause, "task '%s' has returned %d", t->member.call->op, t->answer);
  }
  c->options.returned(c->options.user, (uint32_t)(t - c->worker), t->answer == 0 ? NULL : cause);
}

static void hear_ends(fs_carrier *carrier, fs_news *news) {
  while (news != NULL) {
    const worker_thread *t = (const worker_thread *)(const void *)news;
    news = news->next;
    report_end((const thread_carrier *)carrier, t);
  }
}

/* Whether who had the baton last will soon have it again. */
static bool someone_returns(const thread_carrier *c) {
  return atomic_load_explicit(&c->options.baton->returns, memory_order_relaxed);
}

/* Reports an end at once, if nobody has the baton or is about to; else it is news. */
static void end_member(const thread_carrier *c, worker_thread *t) {
  fs_bed_clear(&t->bed);
  if (!someone_returns(c) && fs_baton_try(c->options.baton)) {
    report_end(c, t);
    c->options.leave(c->options.user);
  } else {
    fs_baton_tell(c->options.baton, &t->news);
  }
}

/* Tries to get the baton, in which all news is heard. */
static void try_baton(const thread_carrier *c) {
  if (fs_baton_try(c->options.baton)) {
    c->options.leave(c->options.user);
  }
}

/* Looks for a member, for a while; FS_BED_IDLE: there is none. */
static fs_bed_state look_for_member(const thread_carrier *c, worker_thread *t, int looks) {
  fs_baton *baton = c->options.baton;
  fs_bed_state state = fs_bed_look(&t->bed);
  for (int i = 0; i < looks && state == FS_BED_IDLE; i++) {
    if ((i >= PATIENCE || !someone_returns(c)) && fs_baton_has_news(baton)) {
      atomic_store_explicit(&baton->returns, false, memory_order_relaxed);
      try_baton(c);
    } else {
      fs_pause();
    }
    state = fs_bed_look(&t->bed);
  }
  return state;
}

/* The next member; a worker that sleeps has left no news that nobody is about to hear. */
static fs_bed_state await_member(thread_carrier *c, worker_thread *t) {
  fs_bed_state at_once = fs_bed_look(&t->bed);
  if (at_once != FS_BED_IDLE) {
    return at_once;
  }
  uint32_t looking = atomic_fetch_add_explicit(&c->n_looking, 1, memory_order_relaxed);
  fs_bed_state state = look_for_member(c, t,
                                       looking < c->most_looking ? LOOKS
                                       : looking == 0            ? PATIENCE
                                                                 : 1);
  (void)atomic_fetch_sub_explicit(&c->n_looking, 1, memory_order_relaxed);
  if (state == FS_BED_IDLE && fs_baton_has_news(c->options.baton)) {
    try_baton(c);
  }
  return state == FS_BED_IDLE ? fs_bed_sleep(&t->bed) : state;
}

static void *work(void *user) {
  worker_thread *t = user;
  thread_carrier *c = t->of;
  while (await_member(c, t) == FS_BED_GIVEN) {
    t->answer = fs_opened_kernel_run(&c->kernels, &t->member);
    end_member(c, t);
  }
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
  while (c->n_threads < n) {
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

static size_t threads_bytes(const thread_carrier *c) {
  return c->options.n_workers * sizeof *c->worker + WORKER_ALIGN;
}

static fs_status make_workers(thread_carrier *c) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  c->most_looking = processors > 1 ? (uint32_t)processors - 1 : 0;
  c->threads = fs_realloc(c->ctx, NULL, 0, threads_bytes(c));
  if (c->threads == NULL) {
    return FSCHED_SYSTEM;
  }
  memset(c->threads, 0, threads_bytes(c));
  unsigned char *at =
      c->threads + (WORKER_ALIGN - (uintptr_t)c->threads % WORKER_ALIGN) % WORKER_ALIGN;
  c->worker = (worker_thread *)(void *)at;
  return start_threads(c);
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
  memset(c->carrier.shared, 0, o->shared_bytes);
  return make_workers(c);
}

static void destroy_threads(fs_carrier *carrier) {
  thread_carrier *c = (thread_carrier *)carrier;
  for (uint32_t i = 0; i < c->n_threads; i++) {
    fs_bed_give(&c->worker[i].bed, FS_BED_STOP);
  }
  for (uint32_t i = 0; i < c->n_threads; i++) {
    (void)pthread_join(c->worker[i].thread, NULL);
  }
  (void)fs_realloc(c->ctx, c->threads, threads_bytes(c), 0);
  (void)fs_realloc(c->ctx, c->block, block_bytes(c), 0);
  fs_opened_kernels_close(c->ctx, &c->kernels);
  (void)fs_realloc(c->ctx, c, sizeof *c, 0);
}

fs_status fs_carrier_threads(fsched_context *ctx, const fs_carrier_options *options,
                             fs_carrier **out) {
  static const fs_carrier_functions functions = {accept_call, start_member, hear_ends,
                                                 destroy_threads};
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
