/* SPDX-License-Identifier: Apache-2.0 */
/* CPU back end: threads, which live as long as the instance and share out its queues. */
#include "exec/cpu/cpu.h"

#include <sched.h>

#include "base/clock.h"

/* Stacks are small, so that hundreds of threads take little memory: 256 KiB for kernels, the rest
 * for thread-local data of the program. */
enum { STACK_BYTES = 320 << 10 };

static void cpu_destroy(fs_instance *x) {
  if (x == NULL) {
    return;
  }
  atomic_store(&x->stop, 1);
  bool lost = false;
  for (uint32_t i = 0; i < x->n_started; i++) {
    if (atomic_load(&x->worker[i].hand.count) == FS_HAND_LOST) {
      lost = true; /* its kernel may still touch memory, code and args */
      continue;
    }
    fs_timeline_wake(x->go);
    (void)pthread_join(x->worker[i].thread, NULL);
  }
  if (lost) {
    return;
  }
  for (uint32_t i = 0; i < x->n_locks; i++) {
    (void)pthread_mutex_destroy(&x->timeline[i].lock);
  }
  fs_memories_release(&x->memories);
  fs_kernels_release(&x->kernels);
  fs_arena arena = x->arena; /* the arena holds x itself */
  fs_arena_release(&arena);
}

/* Binds a thread to one of the processors that this process may use; a refusal costs only speed. */
static void pin(pthread_t thread, uint32_t index) {
  cpu_set_t may, one;
  if (sched_getaffinity(0, sizeof may, &may) != 0 || CPU_COUNT(&may) == 0) {
    return;
  }
  int nth = (int)(index % (uint32_t)CPU_COUNT(&may));
  int cpu = 0;
  while (!CPU_ISSET(cpu, &may) || nth-- > 0) {
    cpu++;
  }
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  (void)pthread_setaffinity_np(thread, sizeof one, &one);
}

/* Starts as many threads as possible; returns 0, or the error number that prevented more. */
static int start_threads(fs_instance *x) {
  pthread_attr_t attr;
  int error = pthread_attr_init(&attr);
  if (error == 0) {
    error = pthread_attr_setstacksize(&attr, STACK_BYTES);
    while (error == 0 && x->n_started < x->n_workers) {
      fs_worker *w = &x->worker[x->n_started];
      error = pthread_create(&w->thread, &attr, fs_cpu_worker, w);
      if (error == 0 && x->options->pin) {
        pin(w->thread, x->n_started);
      }
      x->n_started += error == 0;
    }
    (void)pthread_attr_destroy(&attr);
  }
  return error;
}

/* Makes the locks that timelines need for parked lanes. */
static fs_status make_locks(fsched_context *ctx, fs_instance *x) {
  while (fs_cpu_shared(x) && x->n_locks < x->n_timelines) {
    if (pthread_mutex_init(&x->timeline[x->n_locks].lock, NULL) != 0) {
      return fs_no_memory(ctx, sizeof(pthread_mutex_t));
    }
    x->n_locks++;
  }
  return FSCHED_OK;
}

/* Starts the workers.  One thread is enough for all lanes, so the threads that could be started
 * take the lanes of the missing ones. */
static fs_status start_workers(fsched_context *ctx, fs_instance *x) {
  int error = start_threads(x);
  if (x->n_started == 0) {
    return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_THREAD, FS_NOWHERE, NULL,
                   "no thread could be started: %s", strerror(error));
  }
  x->n_workers = x->n_started;
  fs_cpu_deal(x);
  return make_locks(ctx, x);
}

static fs_status cpu_prepare(fsched_context *ctx, fsched_context *own, fs_machine *machine,
                             const fs_stream *s, const fs_io *io, const fs_backend_config *config,
                             fs_instance **out) {
  fs_arena arena;
  fs_arena_init(&arena, own);
  unsigned char *raw = fs_arena_zalloc(&arena, sizeof(fs_instance) + FS_LINE);
  if (raw == NULL) {
    return FSCHED_SYSTEM;
  }
  fs_instance *x = (fs_instance *)(void *)(raw + (FS_LINE - (uintptr_t)raw % FS_LINE) % FS_LINE);
  x->ctx = own;
  x->stream = s;
  x->io = io;
  x->config = *config;
  x->options = fs_host_options(machine);
  x->arena = arena;
  fs_status status = fs_cpu_decode(ctx, x);
  if (status == FSCHED_OK) {
    status = start_workers(ctx, x);
  }
  if (status != FSCHED_OK) {
    cpu_destroy(x);
    return status;
  }
  *out = x;
  return FSCHED_OK;
}

static void cpu_ready(fs_instance *x, uint32_t item) {
  fs_timeline_publish(x->arrival[item].ready, x->next);
}

static void cpu_start(fs_instance *x, const fs_work *work) {
  x->work = work;
  x->next++;
  fs_cpu_set_trips(x);
  atomic_store_explicit(&x->poisoned, 0, memory_order_relaxed);
  atomic_store_explicit(&x->cause, FSCHED_CAUSE_NONE, memory_order_relaxed);
  if (!x->config.empty) {
    if (x->config.pooled) {
      fs_memories_use(&x->memories, work->memory);
    }
    for (uint32_t i = 0; i < x->io->n_given; i++) {
      if (work->late == NULL || !work->late[i]) {
        cpu_ready(x, i);
      }
    }
    for (uint32_t i = 0; i < x->io->n_kept; i++) {
      atomic_store_explicit(&x->kept_left[i], x->io->kept[i].touches, memory_order_relaxed);
    }
  }
  x->begin_ns = fs_now_ns();
  fs_timeline_publish(x->go, x->next);
}

const fs_backend fs_backend_cpu = {.on_host = true,
                                   .open = fs_host_open,
                                   .close = fs_host_close,
                                   .describe = fs_host_describe,
                                   .take = fs_host_take_pool,
                                   .give = fs_host_give_pool,
                                   .prepare = cpu_prepare,
                                   .start = cpu_start,
                                   .ready = cpu_ready,
                                   .poison = fs_cpu_poison,
                                   .progress = fs_cpu_progress,
                                   .report = fs_cpu_report,
                                   .give_up = fs_cpu_give_up,
                                   .destroy = cpu_destroy};
