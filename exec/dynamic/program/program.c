/* SPDX-License-Identifier: Apache-2.0 */
/* An instance has a thread that submits, and a worker for each queue.  An invocation begins when
 * all of its content is there, and what is kept is taken out at its end.  After `poison` the run is
 * cancelled: what has not started never does. */
#include "exec/dynamic/program/program.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/saturate.h"
#include "exec/dynamic/process/children.h"
#include "exec/host/stuck.h"

enum { STACK_BYTES = 320 << 10 };

void fs_program_poison(fs_instance *x, fsched_cause cause) {
  assert(cause != FSCHED_CAUSE_NONE);
  fsched_cause none = FSCHED_CAUSE_NONE;
  (void)atomic_compare_exchange_strong(&x->cause, &none, cause);
  atomic_store(&x->shared->poisoned, 1);
  fs_futex_wake_all_shared(&x->shared->poisoned);
  fs_workers_cancel(x->workers, "the invocation has failed");
  (void)pthread_mutex_lock(&x->lock);
  (void)pthread_cond_signal(&x->news);
  (void)pthread_mutex_unlock(&x->lock);
}

/* ---- an invocation */

/* Waits until all content may be read; false: the invocation is poisoned. */
static bool await_content(fs_instance *x) {
  (void)pthread_mutex_lock(&x->lock);
  while (x->n_missing > 0 && !fs_program_poisoned(x)) {
    atomic_store(&x->waits, true);
    (void)pthread_cond_wait(&x->news, &x->lock);
  }
  atomic_store(&x->waits, false);
  (void)pthread_mutex_unlock(&x->lock);
  return !fs_program_poisoned(x);
}

static void give_item(fs_instance *x, uint32_t item) {
  const fs_io_item *g = &x->io->given[item];
  const fs_work *work = x->work;
  uint8_t *place = x->own[g->version] + (g->address - g->base);
  const uint8_t *from = work->given == NULL ? NULL : work->given[item];
  for (uint32_t i = g->range0; i < g->range0 + g->n_ranges; i++) {
    fs_byte_range r = x->io->range[i];
    if (from == NULL) {
      fs_fill_given_range(fs_stream_string(x->stream, x->stream->buffers[g->buffer].name), place,
                          r.begin, r.end);
    } else {
      memcpy(place + r.begin, from + r.begin, r.end - r.begin);
    }
  }
  if (work->given_taken != NULL) {
    work->given_taken(work->user, item);
  }
}

static void keep_item(fs_instance *x, uint32_t item) {
  const fs_io_item *k = &x->io->kept[item];
  const fs_work *work = x->work;
  if (work->kept == NULL || work->kept[item] == NULL) {
    return;
  }
  const uint8_t *place = x->own[k->version] + (k->address - k->base);
  for (uint32_t i = k->range0; i < k->range0 + k->n_ranges; i++) {
    fs_byte_range r = x->io->range[i];
    memcpy((uint8_t *)work->kept[item] + r.begin, place + r.begin, r.end - r.begin);
  }
  if (work->kept_there != NULL) {
    work->kept_there(work->user, item);
  }
}

/* Says what has gone wrong in a call of the workers. */
static void fail_run(fs_instance *x) {
  const fsched_diag *d =
      fsched_diag_count(x->ctx) > 0 ? fsched_diag_get(x->ctx, fsched_diag_count(x->ctx) - 1) : NULL;
  fsched_cause cause = atomic_load(&x->shared->cause);
  cause = cause == FSCHED_CAUSE_NONE ? FSCHED_CAUSE_SYSTEM : cause;
  if (!fs_program_poisoned(x)) {
    if (x->work->failed != NULL) {
      x->work->failed(x->work->user, cause, d == NULL ? NULL : d->message);
    }
    fs_program_poison(x, cause);
  }
}

/* What workers see of an invocation, while none runs. */
static void begin_records(fs_instance *x) {
  const fs_record *r = &x->work->record;
  x->shared->digests = r->digest != NULL;
  x->shared->times = r->begin != NULL;
  atomic_store(&x->shared->broken, 0);
  atomic_store(&x->shared->cause, FSCHED_CAUSE_NONE);
  for (uint32_t i = 0; i < x->stream->n_ops && r->digest != NULL; i++) {
    atomic_store_explicit(&x->digest[i], 0, memory_order_relaxed);
  }
  for (uint32_t i = 0; i < x->stream->n_commands && r->begin != NULL; i++) {
    atomic_store_explicit(&x->begin[i], UINT64_MAX, memory_order_relaxed);
    atomic_store_explicit(&x->end[i], 0, memory_order_relaxed);
  }
}

/* Members of a gang have a command each, with times of its own if it has args of its own. */
static void end_records(fs_instance *x) {
  const fs_stream *s = x->stream;
  const fs_record *r = &x->work->record;
  if (r->tasks != NULL) {
    *r->tasks = fs_workers_times(x->workers);
  }
  for (uint32_t op = 0; op < s->n_ops && r->digest != NULL; op++) {
    r->digest[op] = atomic_load_explicit(&x->digest[op], memory_order_relaxed);
  }
  for (uint32_t c = 0; c < s->n_commands && r->begin != NULL; c++) {
    uint32_t op = fs_command_op(&s->commands[c]);
    uint32_t of = op == FS_NONE || s->ops[op].n_members > 0 ? c : x->command[op];
    uint64_t begin = atomic_load_explicit(&x->begin[of], memory_order_relaxed);
    r->begin[c] = begin == UINT64_MAX ? 0 : begin;
    r->end[c] = atomic_load_explicit(&x->end[of], memory_order_relaxed);
  }
}

/* A member has failed, or its worker is gone; called under the lock of the workers. */
static void break_gangs(void *user) {
  fs_instance *x = user;
  atomic_store(&x->shared->broken, 1);
  atomic_fetch_add(&x->shared->gang_news, 1);
  fs_futex_wake_all_shared(&x->shared->gang_news);
}

static void run_invocation(fs_instance *x) {
  bool works = !x->config.empty;
  if (works && !await_content(x)) {
    return;
  }
  for (uint32_t i = 0; i < x->io->n_given && works; i++) {
    give_item(x, i);
  }
  fs_status status = fs_workers_finish(x->workers); /* the run before has ended, or was cancelled */
  (void)status;
  fs_workers_trace(x->workers, x->work->record.tasks != NULL);
  begin_records(x);
  atomic_store(&x->walks, true);
  status = fs_program_poisoned(x) ? FSCHED_OK : fs_program_walk(x->ctx, x, x->work->trips, NULL);
  atomic_store(&x->walks, false);
  if (status != FSCHED_OK) {
    fail_run(x);
  }
  if (fs_workers_end(x->workers) != FSCHED_OK) {
    fail_run(x);
  }
  end_records(x);
  for (uint32_t i = 0; i < x->io->n_kept && works && !fs_program_poisoned(x); i++) {
    keep_item(x, i);
  }
}

static void *submit_all(void *instance) {
  fs_instance *x = instance;
  for (uint64_t k = 0;; k++) {
    (void)pthread_mutex_lock(&x->lock);
    while (x->next == k && !x->stop) {
      (void)pthread_cond_wait(&x->news, &x->lock);
    }
    bool over = x->next == k;
    (void)pthread_mutex_unlock(&x->lock);
    if (over) {
      return NULL;
    }
    run_invocation(x);
    const fs_work *work = x->work;
    uint64_t ns = fs_now_ns() - x->shared->begin_ns;
    work->done(work->user, atomic_load(&x->cause), ns);
  }
}

static void program_start(fs_instance *x, const fs_work *work) {
  (void)pthread_mutex_lock(&x->lock);
  x->work = work;
  atomic_store(&x->shared->poisoned, 0);
  atomic_store(&x->cause, FSCHED_CAUSE_NONE);
  x->n_missing = 0;
  for (uint32_t i = 0; i < x->io->n_given; i++) {
    x->ready[i] = work->late == NULL || !work->late[i];
    x->n_missing += !x->ready[i];
  }
  x->shared->begin_ns = fs_now_ns();
  x->next++;
  (void)pthread_cond_signal(&x->news);
  (void)pthread_mutex_unlock(&x->lock);
}

static void program_ready(fs_instance *x, uint32_t item) {
  (void)pthread_mutex_lock(&x->lock);
  x->n_missing -= !x->ready[item];
  x->ready[item] = true;
  (void)pthread_cond_signal(&x->news);
  (void)pthread_mutex_unlock(&x->lock);
}

/* ---- the watchdog */

static uint64_t program_progress(fs_instance *x, bool *idle) {
  uint64_t moves = atomic_load(&x->shared->moves);
  bool busy = false;
  for (uint32_t i = 0; i < x->n_hands; i++) {
    uint64_t count = fs_hand_look(&x->hand[i]);
    moves += count;
    busy = busy || fs_hand_busy(count);
  }
  *idle = atomic_load(&x->waits) || (busy && atomic_load(&x->shared->n_builtin) == 0);
  return moves;
}

static fs_stuck look_at_queue(const fs_instance *x, uint32_t queue) {
  fs_stuck stuck = {.at = FS_NONE};
  const fs_stream_queue *q = &x->stream->queues[queue];
  for (uint32_t c = q->command0; c < q->command0 + q->n_commands && stuck.at == FS_NONE; c++) {
    for (uint32_t i = x->io->given0[c]; i < x->io->given0[c + 1]; i++) {
      if (!x->ready[x->io->command_given[i]]) {
        stuck = (fs_stuck){
            .at = c - q->command0, .kind = FS_STUCK_CONTENT, .item = x->io->command_given[i]};
        break;
      }
    }
  }
  return stuck;
}

static uint64_t reached(const fs_instance *x, uint32_t axis) {
  (void)x;
  (void)axis;
  return 0;
}

static void program_report(fs_instance *x, fsched_context *ctx) {
  bool kernels = false;
  for (uint32_t i = 0; i < x->n_hands; i++) {
    kernels = fs_hand_report(ctx, x->stream, &x->hand[i], x->shared->begin_ns) || kernels;
  }
  if (!kernels && atomic_load(&x->waits)) {
    fs_stuck_view view = {
        .s = x->stream, .io = x->io, .x = x, .queue = look_at_queue, .reached = reached};
    (void)pthread_mutex_lock(&x->lock);
    fs_stuck_report(ctx, &view);
    (void)pthread_mutex_unlock(&x->lock);
  }
}

/* The run is cancelled, so once the walk has ended nothing else than kernels is under way. */
static bool program_give_up(fs_instance *x) {
  if (atomic_load(&x->walks) || atomic_load(&x->waits) || atomic_load(&x->shared->n_builtin) > 0) {
    return false;
  }
  bool lost = false, all = true;
  for (uint32_t i = 0; i < x->n_hands; i++) {
    fs_hand *hand = &x->hand[i];
    uint64_t count = atomic_load(&hand->count);
    bool gone = count == FS_HAND_LOST || fs_hand_give_up(hand, count);
    lost = lost || gone;
    all = all && (gone || !fs_hand_busy(count));
  }
  return lost && all;
}

/* ---- instances */

static void program_destroy(fs_instance *x) {
  if (x == NULL) {
    return;
  }
  for (uint32_t i = 0; i < x->n_hands && x->hand != NULL; i++) {
    if (atomic_load(&x->hand[i].count) == FS_HAND_LOST) {
      return; /* its kernel may still touch memory, code and args */
    }
  }
  if (x->has_thread) {
    (void)pthread_mutex_lock(&x->lock);
    x->stop = true;
    (void)pthread_cond_signal(&x->news);
    (void)pthread_mutex_unlock(&x->lock);
    (void)pthread_join(x->thread, NULL);
  }
  fs_workers_destroy(x->workers);
  if (x->has_lock) {
    (void)pthread_cond_destroy(&x->news);
    (void)pthread_mutex_destroy(&x->lock);
  }
  fs_program_unplan(x);
  fs_kernels_release(&x->kernels);
  fs_arena arena = x->arena; /* holds x itself */
  fs_arena_release(&arena);
}

/* Functions of the application are only in processes that are forked. */
static fs_status check_kernel(fsched_context *ctx, const fs_instance *x, uint32_t kernel) {
  const fs_stream *s = x->stream;
  if (kernel == FS_NONE || x->options->find == NULL) {
    return FSCHED_OK;
  }
  const char *module = fs_stream_string(s, s->kernels[kernel].module);
  const char *function = fs_stream_string(s, s->kernels[kernel].function);
  return function == NULL || x->options->find(x->options->find_user, module, function) == NULL
             ? FSCHED_OK
             : fs_fail(ctx, FSCHED_USAGE, FS_DIAG_REPLAY_OPTIONS, FS_NOWHERE,
                       "workers are forked while the process has one thread",
                       "kernel '%s' is a function of the application, which only forked workers "
                       "have",
                       function);
}

/* Whether spawned workers can run all ops that come to them. */
static fs_status check_spawned(fsched_context *ctx, fs_instance *x) {
  const fs_stream *s = x->stream;
  uint8_t *op, *loop_op;
  FS_TRY(fs_program_find_away(x, &op, &loop_op));
  for (uint32_t i = 0; i < s->n_ops; i++) {
    FS_TRY(op[i] == 0 ? FSCHED_OK : check_kernel(ctx, x, s->ops[i].kernel));
  }
  for (uint32_t i = 0; i < s->n_loop_ops; i++) {
    FS_TRY(loop_op[i] == 0 ? FSCHED_OK : check_kernel(ctx, x, s->loop_ops[i].kernel));
  }
  return FSCHED_OK;
}

static fs_status start_workers(fs_instance *x) {
  const fs_task_kernel kernel = {
      .function = fs_program_run, .user = x, .name = x->spawns ? FS_PROGRAM_KERNEL : NULL};
  const fs_stream *s = x->stream;
  fs_workers_options o = {.n_kernels = 1,
                          .kernel = &kernel,
                          .failed = break_gangs,
                          .user = x,
                          .kind = x->processes ? FS_WORKERS_PROCESSES : FS_WORKERS_THREADS,
                          .host = x->host,
                          .shared_size = x->processes ? x->block_bytes : 0,
                          .process = {.spawns = x->spawns, .program = x->options->worker}};
  if (x->spawns) {
    o.shared_size = fs_add_most(o.shared_size, fs_program_share_bytes(x));
  }
  o.engine = (fs_dynamic_options){.n_queues = x->n_queues,
                                  .class_of = x->class_of,
                                  .queue_name = x->queue_name,
                                  .heap = x->room,
                                  .n_heaps = x->n_heaps,
                                  .timeout = UINT64_C(1) << 62, /* the watchdog is the core's */
                                  .n_resources = s->n_resources,
                                  .capacity = x->capacity,
                                  .concurrency = s->meta->concurrency,
                                  .hazards = fs_program_hazards(s),
                                  .undefined = true};
  FS_TRY(fs_workers_create(x->ctx, &o, &x->workers));
  FS_TRY(x->spawns ? fs_program_share(x) : FSCHED_OK);
  return x->processes ? fs_program_move_own(x) : FSCHED_OK;
}

static fs_status start_threads(fsched_context *ctx, fs_instance *x) {
  pthread_attr_t attr;
  if (pthread_mutex_init(&x->lock, NULL) != 0) {
    return fs_no_memory(ctx, sizeof x->lock);
  }
  if (pthread_cond_init(&x->news, NULL) != 0) {
    (void)pthread_mutex_destroy(&x->lock);
    return fs_no_memory(ctx, sizeof x->news);
  }
  x->has_lock = true;
  if (start_workers(x) != FSCHED_OK) {
    uint32_t n = fsched_diag_count(x->ctx);
    return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_THREAD, FS_NOWHERE, NULL,
                   "the %u workers of a dynamic run could not be started%s%s", x->stream->n_queues,
                   n == 0 ? "" : ": ", n == 0 ? "" : fsched_diag_get(x->ctx, n - 1)->message);
  }
  int error = pthread_attr_init(&attr);
  if (error == 0) {
    error = pthread_attr_setstacksize(&attr, STACK_BYTES);
    error = error == 0 ? pthread_create(&x->thread, &attr, submit_all, x) : error;
    (void)pthread_attr_destroy(&attr);
  }
  x->has_thread = error == 0;
  return error == 0 ? FSCHED_OK
                    : fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_THREAD, FS_NOWHERE, NULL,
                              "the thread that submits could not be started: %s", strerror(error));
}

static fs_status program_prepare(fsched_context *ctx, fsched_context *own, fs_machine *machine,
                                 const fs_stream *s, const fs_io *io,
                                 const fs_backend_config *config, fs_instance **out) {
  fs_arena arena;
  fs_arena_init(&arena, own);
  fs_instance *x;
  *out = NULL;
  FS_TRY(fs_new_zero(&arena, &x, 1));
  x->ctx = own;
  x->stream = s;
  x->io = io;
  x->config = *config;
  x->options = fs_host_options(machine);
  x->processes = x->options->processes != 0;
  x->spawns = x->processes && (x->options->spawn != 0 || !fs_child_can_fork());
  x->arena = arena;
  fs_status status = fs_program_plan(ctx, x);
  status = status == FSCHED_OK && x->spawns ? check_spawned(ctx, x) : status;
  if (status == FSCHED_OK) {
    status = start_threads(ctx, x);
  }
  if (status != FSCHED_OK) {
    program_destroy(x);
    return status;
  }
  *out = x;
  return FSCHED_OK;
}

const fs_backend fs_backend_dynamic = {.on_host = true,
                                       .open = fs_host_open,
                                       .close = fs_host_close,
                                       .describe = fs_host_describe,
                                       .take = fs_host_take_pool,
                                       .give = fs_host_give_pool,
                                       .prepare = program_prepare,
                                       .start = program_start,
                                       .ready = program_ready,
                                       .poison = fs_program_poison,
                                       .progress = program_progress,
                                       .report = program_report,
                                       .give_up = program_give_up,
                                       .destroy = program_destroy};
