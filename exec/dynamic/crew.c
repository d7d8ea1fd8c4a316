/* SPDX-License-Identifier: Apache-2.0 */
/* How workers come and go: their heaps, which lie in one block of the carrier's memory, the memory
 * that they share with the user, the carrier; and what a run waits for, for who watches it. */
#include "exec/dynamic/crew.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/mem.h"
#include "base/saturate.h"

enum { SHARED_ALIGN = 64 };

static uint64_t read_now(void *user) {
  (void)user;
  return fs_now_ns();
}

/* How many bytes the heaps take, each aligned to FS_HEAP_ALIGN, or more if its pieces are, and what
 * all are aligned to; `begin` (may be NULL) is where each begins. */
typedef struct heap_layout {
  uint64_t end, align;
} heap_layout;

static uint32_t count_heaps(const fs_dynamic_options *o) {
  return o->heap == NULL || o->n_heaps == 0 ? FS_HEAP_RINGS : o->n_heaps;
}

static heap_layout lay_out_heaps(const fs_dynamic_options *o, uint64_t *begin) {
  heap_layout l = {.align = FS_HEAP_ALIGN};
  for (uint32_t i = 0; i < count_heaps(o); i++) {
    fs_heap_room room =
        o->heap == NULL ? (fs_heap_room){o->heap_size, FS_HEAP_ALIGN, NULL} : o->heap[i];
    uint64_t align = fs_max(room.align, FS_HEAP_ALIGN), at = fs_heap_rounded(l.end, align);
    if (begin != NULL) {
      begin[i] = at;
    }
    l.end = fs_add_most(at, room.size);
    l.align = fs_max(l.align, align);
  }
  l.end = fs_min(fs_add_most(l.end, l.align), FSCHED_MAX_SIZE);
  return l;
}

static fs_status place_heaps(fs_workers *w, const fs_dynamic_options *o) {
  FS_SCRATCH(arena, w->ctx);
  uint64_t *begin;
  w->n_heaps = count_heaps(o);
  FS_TRY(fs_new(&arena, &begin, w->n_heaps));
  w->heap = fs_realloc(w->ctx, NULL, 0, w->n_heaps * sizeof *w->heap);
  if (w->heap == NULL) {
    return FSCHED_SYSTEM;
  }
  heap_layout l = lay_out_heaps(o, begin);
  unsigned char *heap = w->carrier->heap;
  heap += (l.align - (uintptr_t)heap % l.align) % l.align;
  for (uint32_t i = 0; i < w->n_heaps; i++) {
    w->heap[i] = heap + begin[i];
  }
  return FSCHED_OK;
}

static fs_status start_carrier(fs_workers *w, const fs_carrier_options *o,
                               const fs_process_options *process) {
  switch (w->kind) {
    case FS_WORKERS_THREADS:
      return fs_carrier_threads(w->ctx, o, &w->carrier);
    case FS_WORKERS_PROCESSES:
      return fs_carrier_mixed(w->ctx, o, process, &w->carrier);
  }
  return FSCHED_SYSTEM;
}

static fs_status make_carrier(fs_workers *w, const fs_workers_options *options) {
  heap_layout l = lay_out_heaps(&options->engine, NULL);
  fs_carrier_options o = {.n_workers = w->n_queues,
                          .host = options->host,
                          .heap_bytes = l.end,
                          .align = l.align,
                          .shared_bytes = w->shared_size,
                          .n_kernels = w->n_kernels,
                          .kernel = options->kernel,
                          .baton = &w->baton,
                          .user = w,
                          .leave = fs_crew_leave,
                          .returned = fs_crew_take_back,
                          .lost = fs_crew_lose};
  FS_TRY(start_carrier(w, &o, &options->process));
  return place_heaps(w, &options->engine);
}

static fs_status make_workers(fs_workers *w, const fs_workers_options *options) {
  fs_dynamic_options o = options->engine;
  o.user = w;
  o.now = read_now;
  o.wait = fs_crew_wait;
  FS_TRY(fs_dynamic_create(w->ctx, &o, &w->e));
  w->n_queues = o.n_queues;
  w->started = options->started;
  w->failed = options->failed;
  w->user = options->user;
  w->n_kernels = options->n_kernels;
  w->kind = options->kind;
  w->traces = options->traces;
  w->shared_size = fs_min(options->shared_size, FSCHED_MAX_SIZE);
  w->queue = fs_realloc(w->ctx, NULL, 0, w->n_queues * sizeof *w->queue);
  if (w->queue == NULL) {
    return FSCHED_SYSTEM;
  }
  memset(w->queue, 0, w->n_queues * sizeof *w->queue);
  w->accepts = true; /* the first run is open */
  return make_carrier(w, options);
}

fs_status fs_workers_create(fsched_context *ctx, const fs_workers_options *options,
                            fs_workers **out) {
  *out = NULL;
  fs_workers *w = fs_realloc(ctx, NULL, 0, sizeof *w);
  if (w == NULL) {
    return FSCHED_SYSTEM;
  }
  *w = (fs_workers){.ctx = ctx, .pool.ctx = ctx};
  fs_status status = make_workers(w, options);
  if (status != FSCHED_OK) {
    fs_workers_destroy(w);
    return status;
  }
  *out = w;
  return FSCHED_OK;
}

void fs_workers_destroy(fs_workers *w) {
  if (w == NULL) {
    return;
  }
  if (w->carrier != NULL) {
    fs_crew_stop(w);
  }
  fs_dynamic_destroy(w->e);
  fs_times_release(w->ctx, &w->spans);
  (void)fs_realloc(w->ctx, w->heap, w->n_heaps * sizeof *w->heap, 0);
  fs_task_jobs_release(&w->pool);
  fs_vec_free(w->ctx, &w->where);
  (void)fs_realloc(w->ctx, w->queue, w->n_queues * sizeof *w->queue, 0);
  (void)fs_realloc(w->ctx, w, sizeof *w, 0);
}

bool fs_workers_spawned(const fs_workers *w) { return w->carrier->spawned; }

fs_status fs_workers_memory(fs_workers *w, uint64_t size, void *out_ptr) {
  uint64_t have = w->shared_size - w->shared_used;
  uint64_t need = size > have ? size : (size + SHARED_ALIGN - 1) / SHARED_ALIGN * SHARED_ALIGN;
  if (size > have) {
    return fs_fail(w->ctx, FSCHED_INFEASIBLE, FS_DIAG_DYNAMIC_HEAP, FS_NOWHERE, NULL,
                   "%" PRIu64 " bytes of shared memory are needed, and %" PRIu64 " of %" PRIu64
                   " are left",
                   size, have, w->shared_size);
  }
  unsigned char *at = w->carrier->shared + w->shared_used;
  w->shared_used += fs_min(need, have);
  memcpy(out_ptr, &at, sizeof at);
  return FSCHED_OK;
}

static void name_job(fs_workers_look *look, const fs_task_job *job) {
  (void)snprintf(look->name, sizeof look->name, "%s", job->call[0].op);
}

/* The first queue that runs something; FS_NONE. */
static uint32_t busy_queue(const fs_workers *w) {
  for (uint32_t q = 0; q < w->n_queues; q++) {
    if (w->queue[q].job != NULL) {
      return q;
    }
  }
  return FS_NONE;
}

fs_workers_look fs_workers_look_at(fs_workers *w) {
  fs_workers_look look = {.queue = FS_NONE};
  uint64_t user;
  fs_baton_take(&w->baton);
  uint32_t busy = busy_queue(w);
  look.moves = w->moves;
  if (w->sleeps == FS_SLEEPS_FOR_HEAP) {
    look.wait = FS_WAITS_FOR_HEAP;
  } else if (fs_dynamic_waiting_group(w->e, &user) != FS_DYNAMIC_NO_TASK) {
    look.wait = FS_WAITS_FOR_GROUP;
    name_job(&look, (const fs_task_job *)(uintptr_t)user);
  } else if (busy != FS_NONE) {
    look.wait = FS_WAITS_FOR_WORKER;
    look.queue = busy;
    name_job(&look, w->queue[busy].job);
  } else if (fs_dynamic_is_open(w->e)) {
    look.wait = FS_WAITS_FOR_CLOSE;
  }
  fs_crew_leave(w);
  return look;
}

void fs_workers_inspect(fs_workers *w, void (*look)(void *user, fs_dynamic *e), void *user) {
  fs_baton_take(&w->baton);
  look(user, w->e);
  fs_crew_leave(w);
}
