/* SPDX-License-Identifier: Apache-2.0 */
/* Simulation: a thread for each instance, which runs its invocations in virtual time, one after the
 * other, and the answers to calls from other threads. */
#include "exec/sim/sim.h"

#include <stdio.h>

#include "base/clock.h"
#include "exec/host/machine.h"
#include "exec/host/stuck.h"

enum { STACK_BYTES = 320 << 10 }; /* kernels run on 256 KiB of it */

/* ---- the machine */

static fs_status sim_open(fsched_context *ctx, const fsched_device_options *o, fs_machine **out) {
  static const char *const names[] = {"planned", "random", "adversarial", "measured"};
  enum { MODES = sizeof names / sizeof *names };
  if ((unsigned)o->durations >= MODES ||
      (o->durations == FSCHED_DURATIONS_MEASURED) != (o->profile != NULL)) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_REPLAY_OPTIONS, FS_NOWHERE, NULL,
                   (unsigned)o->durations >= MODES ? "'durations' is no fsched_durations"
                   : o->profile == NULL            ? "measured durations want a 'profile'"
                                                   : "a 'profile' is for measured durations");
  }
  FS_TRY(fs_host_open(ctx, o, out));
  char *note = (*out)->note;
  if (o->durations == FSCHED_DURATIONS_RANDOM || o->durations == FSCHED_DURATIONS_ADVERSARIAL) {
    (void)snprintf(note, sizeof(*out)->note, "%s durations, seed %llu", names[o->durations],
                   (unsigned long long)o->seed);
  } else {
    (void)snprintf(note, sizeof(*out)->note, "%s durations", names[o->durations]);
  }
  return FSCHED_OK;
}

/* ---- news for the thread */

void fs_sim_await_news(fs_instance *x) {
  pthread_mutex_lock(&x->lock);
  while (x->n_taken == atomic_load(&x->n_arrived) && !atomic_load(&x->poisoned)) {
    x->waiting = true;
    pthread_cond_wait(&x->news, &x->lock);
  }
  x->waiting = false;
  pthread_mutex_unlock(&x->lock);
}

fsched_cause fs_sim_cause(fs_instance *x) {
  pthread_mutex_lock(&x->lock);
  fsched_cause cause = x->cause;
  pthread_mutex_unlock(&x->lock);
  return cause;
}

void fs_sim_poison(fs_instance *x, fsched_cause cause) {
  assert(cause != FSCHED_CAUSE_NONE);
  pthread_mutex_lock(&x->lock);
  x->cause = x->cause == FSCHED_CAUSE_NONE ? cause : x->cause;
  atomic_store(&x->poisoned, true);
  pthread_cond_signal(&x->news);
  pthread_mutex_unlock(&x->lock);
}

static void sim_ready(fs_instance *x, uint32_t item) {
  pthread_mutex_lock(&x->lock);
  if (!x->config.empty && !atomic_load(&x->ready[item])) {
    atomic_store(&x->ready[item], true);
    uint32_t n = atomic_load(&x->n_arrived);
    x->arrived[n] = item;
    atomic_store(&x->n_arrived, n + 1);
    pthread_cond_signal(&x->news);
  }
  pthread_mutex_unlock(&x->lock);
}

static void sim_start(fs_instance *x, const fs_work *work) {
  pthread_mutex_lock(&x->lock);
  x->work = work;
  x->cause = FSCHED_CAUSE_NONE;
  atomic_store(&x->poisoned, false);
  atomic_store(&x->n_arrived, 0);
  x->n_taken = 0;
  if (x->config.pooled && !x->config.empty) {
    fs_memories_use(&x->memories, work->memory);
  }
  for (uint32_t i = 0; i < x->io->n_given && !x->config.empty; i++) {
    atomic_store(&x->ready[i], work->late == NULL || !work->late[i]);
  }
  x->begin_ns = fs_now_ns();
  x->next++;
  pthread_cond_signal(&x->news);
  pthread_mutex_unlock(&x->lock);
}

static void *sim_thread(void *instance) {
  fs_instance *x = instance;
  for (uint64_t k = 0;; k++) {
    pthread_mutex_lock(&x->lock);
    while (x->next == k && !x->stop) {
      pthread_cond_wait(&x->news, &x->lock);
    }
    bool over = x->next == k;
    pthread_mutex_unlock(&x->lock);
    if (over) {
      return NULL;
    }
    fsched_cause cause = fs_sim_run(x, k);
    const fs_work *work = x->work;
    work->done(work->user, cause, x->makespan / x->times.per_ns);
  }
}

/* ---- instances */

static void sim_destroy(fs_instance *x) {
  if (x == NULL) {
    return;
  }
  if (atomic_load(&x->hand.count) == FS_HAND_LOST) {
    return; /* its kernel may still touch memory, code and args */
  }
  if (x->has_thread) {
    pthread_mutex_lock(&x->lock);
    x->stop = true;
    pthread_cond_signal(&x->news);
    pthread_mutex_unlock(&x->lock);
    (void)pthread_join(x->thread, NULL);
  }
  if (x->has_lock) {
    (void)pthread_cond_destroy(&x->news);
    (void)pthread_mutex_destroy(&x->lock);
  }
  fs_sim_loops_free(x);
  fs_vec_free(x->ctx, &x->running);
  fs_memories_release(&x->memories);
  fs_kernels_release(&x->kernels);
  fs_arena arena = x->arena; /* holds x itself */
  fs_arena_release(&arena);
}

static fs_status start_thread(fsched_context *ctx, fs_instance *x) {
  pthread_attr_t attr;
  if (pthread_mutex_init(&x->lock, NULL) != 0) {
    return fs_no_memory(ctx, sizeof x->lock);
  }
  if (pthread_cond_init(&x->news, NULL) != 0) {
    (void)pthread_mutex_destroy(&x->lock);
    return fs_no_memory(ctx, sizeof x->news);
  }
  x->has_lock = true;
  int error = pthread_attr_init(&attr);
  if (error == 0) {
    error = pthread_attr_setstacksize(&attr, STACK_BYTES);
    error = error == 0 ? pthread_create(&x->thread, &attr, sim_thread, x) : error;
    (void)pthread_attr_destroy(&attr);
  }
  x->has_thread = error == 0;
  return error == 0
             ? FSCHED_OK
             : fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_THREAD, FS_NOWHERE, NULL,
                       "the thread of a simulation could not be started: %s", strerror(error));
}

static fs_status sim_prepare(fsched_context *ctx, fsched_context *own, fs_machine *machine,
                             const fs_stream *s, const fs_io *io, const fs_backend_config *config,
                             fs_instance **out) {
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
  x->arena = arena;
  fs_status status = fs_sim_decode(ctx, x);
  if (status == FSCHED_OK) {
    status = start_thread(ctx, x);
  }
  if (status != FSCHED_OK) {
    sim_destroy(x);
    return status;
  }
  *out = x;
  return FSCHED_OK;
}

/* ---- reports of stuck commands */

/* The caller holds the lock. */
static bool is_stuck(const fs_instance *x) {
  return x->waiting && x->n_taken == atomic_load(&x->n_arrived) && !atomic_load(&x->poisoned);
}

static uint64_t sim_progress(fs_instance *x, bool *idle) {
  pthread_mutex_lock(&x->lock);
  uint64_t kernels = fs_hand_look(&x->hand);
  *idle = is_stuck(x) || fs_hand_busy(kernels);
  pthread_mutex_unlock(&x->lock);
  return kernels + atomic_load_explicit(&x->moves, memory_order_relaxed);
}

/* Finds the first thing that the command waits for, while no command runs. */
static void find_wait(const fs_instance *x, uint32_t command, fs_stuck *stuck) {
  const fs_stream *s = x->stream;
  const fs_stream_command *c = &s->commands[command];
  for (uint32_t w = c->wait0; w < c->wait0 + c->n_waits; w++) {
    if (x->reached[s->waits[w].axis] < s->waits[w].epoch) {
      stuck->axis = s->waits[w].axis;
      stuck->epoch = s->waits[w].epoch;
      return;
    }
  }
  if (fs_sim_sync_stuck(x, command, stuck)) {
    return;
  }
  if (fs_sim_loop_stuck(x, command, stuck)) {
    return;
  }
  bool gang = fs_sim_is_gang(c) && fs_sim_loop_of(x, command) == FS_NONE;
  const fs_sim_meeting *m = gang ? fs_sim_meeting_of(x, c) : NULL;
  if (gang && (m->arrived < s->axes[c->gang_axis].n_members || m->last != command)) {
    stuck->axis = c->gang_axis;
    stuck->epoch = c->gang_epoch;
    return;
  }
  for (uint32_t i = x->io->given0[command]; !x->config.empty && i < x->io->given0[command + 1];
       i++) {
    if (!x->there[x->io->command_given[i]]) {
      stuck->kind = FS_STUCK_CONTENT;
      stuck->item = x->io->command_given[i];
      return;
    }
  }
}

static fs_stuck look_at_queue(const fs_instance *x, uint32_t queue) {
  const fs_stream_queue *q = &x->stream->queues[queue];
  fs_stuck stuck = {.at = FS_NONE};
  if (x->at[queue] < q->n_commands) {
    stuck.at = x->at[queue];
    find_wait(x, q->command0 + stuck.at, &stuck);
  }
  return stuck;
}

static fs_stuck_barrier barrier(const fs_instance *x, uint32_t physical) {
  const fs_sim_physical *p = &x->physical[physical];
  return (fs_stuck_barrier){p->use, p->producers, p->consumers};
}

static uint64_t reached(const fs_instance *x, uint32_t axis) { return x->reached[axis]; }

static void sim_report(fs_instance *x, fsched_context *ctx) {
  fs_stuck_view view = {x->stream, x->io, &x->physicals, x, look_at_queue, reached, barrier};
  pthread_mutex_lock(&x->lock);
  if (!fs_hand_report(ctx, x->stream, &x->hand, x->begin_ns) && is_stuck(x)) {
    fs_stuck_report(ctx, &view);
  }
  pthread_mutex_unlock(&x->lock);
}

static bool sim_give_up(fs_instance *x) {
  return fs_hand_give_up(&x->hand, atomic_load(&x->hand.count));
}

const fs_backend fs_backend_sim = {.on_host = true,
                                   .open = sim_open,
                                   .close = fs_host_close,
                                   .describe = fs_host_describe,
                                   .take = fs_host_take_pool,
                                   .give = fs_host_give_pool,
                                   .prepare = sim_prepare,
                                   .start = sim_start,
                                   .ready = sim_ready,
                                   .poison = fs_sim_poison,
                                   .progress = sim_progress,
                                   .report = sim_report,
                                   .give_up = sim_give_up,
                                   .destroy = sim_destroy};
