/* SPDX-License-Identifier: Apache-2.0 */
/* CPU back end: one thread per queue, which lives as long as the instance; the calling thread is
 * the watchdog. */
#include "cpu.h"

/* Stacks are small, so that thousands of queues can have threads; kernels need little. */
enum { STACK_BYTES = 256 << 10 };
/* The watchdog looks four times in the timeout, but not more rarely than that. */
static const uint64_t look_ns = 250000000, ns_per_ms = 1000000;

static void stop(fs_instance *x) {
  atomic_store(&x->stop, 1);
  fs_futex_wake_all(&x->stop);
  for (uint32_t i = 0; i < x->stream->n_axes + 2; i++) {
    fs_timeline_wake(&x->timeline[i]);
  }
}

static void cpu_destroy(fs_instance *x) {
  if (x == NULL) {
    return;
  }
  if (x->n_started > 0) {
    stop(x);
  }
  for (uint32_t i = 0; i < x->n_started; i++) {
    (void)pthread_join(x->worker[i].thread, NULL);
  }
  fs_memories_release(&x->memories);
  fs_arena arena = x->arena; /* holds x itself */
  fs_arena_release(&arena);
}

static fs_status start_workers(fs_instance *x) {
  pthread_attr_t attr;
  int error = pthread_attr_init(&attr);
  if (error == 0) {
    error = pthread_attr_setstacksize(&attr, STACK_BYTES);
    while (error == 0 && x->n_started < x->n_workers) {
      fs_worker *w = &x->worker[x->n_started];
      error = pthread_create(&w->thread, &attr, fs_cpu_worker, w);
      x->n_started += error == 0;
    }
    (void)pthread_attr_destroy(&attr);
  }
  return error == 0 ? FSCHED_OK
                    : fs_fail(x->ctx, FSCHED_SYSTEM, FS_DIAG_THREAD, FS_NOWHERE, NULL,
                              "thread %u of %u, one for each queue, could not be started: %s",
                              x->n_started + 1, x->n_workers, strerror(error));
}

static fs_status cpu_prepare(fsched_context *ctx, const fs_stream *s,
                             const fs_backend_config *config, fs_instance **out) {
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  unsigned char *raw = fs_arena_zalloc(&arena, sizeof(fs_instance) + FS_LINE);
  if (raw == NULL) {
    return FSCHED_SYSTEM;
  }
  fs_instance *x = (fs_instance *)(void *)(raw + (FS_LINE - (uintptr_t)raw % FS_LINE) % FS_LINE);
  x->ctx = ctx;
  x->stream = s;
  x->config = *config;
  x->arena = arena;
  fs_status status = fs_cpu_decode(x);
  if (status == FSCHED_OK) {
    status = start_workers(x);
  }
  if (status != FSCHED_OK) {
    cpu_destroy(x);
    return status;
  }
  *out = x;
  return FSCHED_OK;
}

static fs_status cpu_run(fs_instance *x, uint64_t first, uint64_t count, fs_backend_times *times) {
  assert(count > 0 && atomic_load(&x->go->epoch) == first);
  if (!x->config.empty) {
    if (first > 0) {
      fs_cpu_carry(x);
    }
    fs_cpu_give(x, first == 0);
  }
  x->last = first + count - 1;
  x->times = (fs_backend_times){.minimum_ns = UINT64_MAX};
  x->begin_ns = fs_now_ns();
  if (x->n_workers == 0) {
    *times = (fs_backend_times){0};
    return FSCHED_OK;
  }
  fs_timeline_publish(x->go, first + 1);
  uint64_t timeout_ns =
      x->config.timeout_ms > UINT64_MAX / ns_per_ms ? UINT64_MAX : x->config.timeout_ms * ns_per_ms;
  fs_watch watch = {0};
  while (!fs_timeline_sleep(x->complete, x->last + 1, &x->stop, fs_min(timeout_ns / 4, look_ns))) {
    if (fs_cpu_stuck(x, timeout_ns, &watch)) {
      return fs_cpu_report_stuck(x);
    }
  }
  *times = x->times;
  return FSCHED_OK;
}

static fs_status cpu_read_kept(fs_instance *x, uint32_t version, void *bytes) {
  const fs_stream *s = x->stream;
  const fs_stream_version *v = &s->versions[version];
  assert(v->kept_memory != FS_NONE && !x->config.empty);
  memcpy(bytes, fs_memories_at(&x->memories, v->kept_memory, v->kept_address),
         s->buffers[v->buffer].size);
  return FSCHED_OK;
}

const fs_backend fs_backend_cpu = {"cpu", cpu_prepare, cpu_run, cpu_read_kept, cpu_destroy};
