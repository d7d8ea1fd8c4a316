/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that has nothing to do, or waits for another thread, sleeps on `turn` until someone
 * wakes it.  A stream cannot wake it, so while it waits for one it looks again after a while, which
 * grows with the time that has passed.  A thread of a slot that was given up sleeps for ever where
 * it next looks. */
#include "exec/cuda/threads.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "exec/cuda/cuda.h"

enum {
  SPINS = 2000,    /* looks before a thread sleeps */
  LEAST_NS = 2000, /* sleeps grow with the time that has passed */
  MOST_NS = 100000,
  PART_OF_PASSED = 16,
  HOLD_SPIN_NS = 60000 /* the end of a hold, as a sleep may overshoot by that much */
};

/* Words */

static _Atomic uint64_t *word_of(const fs_instance *x, fs_cuda_line line) {
  assert(x->pinned != NULL && x->threads.n > 0);
  return (_Atomic uint64_t *)(void *)(x->pinned + x->threads.words +
                                      (uint64_t)line * FS_CUDA_WORD_BYTES);
}

static fs_cu_address word_address(const fs_instance *x, fs_cuda_line line) {
  return (fs_cu_address)(uintptr_t)word_of(x, line);
}

bool fs_cuda_line_is_thread(const fs_instance *x, fs_cuda_line line) {
  assert(line < x->n_streams + x->threads.n);
  return line >= x->n_streams;
}

fs_cuda_line fs_cuda_line_of(const fs_instance *x, uint32_t lane) {
  uint32_t n = x->program->plan.n_streams;
  assert(lane < x->program->plan.n_lanes);
  return lane < n ? lane : x->n_streams + (lane - n);
}

void fs_cuda_threads_wake(fs_instance *x) {
  fs_cuda_threads *t = &x->threads;
  atomic_fetch_add(&t->turn, 1);
  if (atomic_load(&t->sleepers) > 0) {
    fs_futex_wake_all(&t->turn);
  }
}

/* A thread's side */

static void rest(fs_cuda_threads *t, uint32_t turn, uint64_t ns) {
  atomic_fetch_add(&t->sleepers, 1);
  fs_futex_wait(&t->turn, turn, ns);
  atomic_fetch_sub(&t->sleepers, 1);
}

static void sleep_if_lost(const fs_instance *x) {
  while (atomic_load(&x->hold) == FS_CUDA_LOST) {
    (void)pause();
  }
}

static void await_word(fs_cuda_thread *own, const fs_cuda_step *step) {
  fs_instance *x = own->x;
  bool stream = step->word < word_of(x, x->n_streams);
  uint64_t begin = 0;
  for (uint32_t i = 0;; i++) {
    uint32_t turn = atomic_load(&x->threads.turn);
    if (atomic_load(step->word) >= step->value ||
        (stream && atomic_load(&x->threads.broken) != 0)) {
      return;
    }
    if (i < SPINS) {
      fs_pause();
      continue;
    }
    begin = begin == 0 ? fs_now_ns() : begin;
    uint64_t part = (fs_now_ns() - begin) / PART_OF_PASSED;
    rest(&x->threads, turn, stream ? fs_min(fs_max(part, LEAST_NS), MOST_NS) : UINT64_MAX);
    sleep_if_lost(x);
  }
}

static void hold(fs_cuda_thread *own, uint64_t ns) {
  fs_instance *x = own->x;
  uint64_t now, until = fs_now_ns() + ns;
  for (;;) {
    uint32_t turn = atomic_load(&x->threads.turn);
    now = fs_now_ns();
    if (now >= until || fs_cuda_poisoned(x)) {
      return;
    }
    if (until - now > 2 * HOLD_SPIN_NS) {
      rest(&x->threads, turn, until - now - HOLD_SPIN_NS);
    } else {
      fs_pause();
    }
    sleep_if_lost(x);
  }
}

static void do_step(fs_cuda_thread *own, const fs_cuda_step *step) {
  switch (step->kind) {
    case FS_CUDA_AWAIT:
      await_word(own, step);
      break;
    case FS_CUDA_HOLD:
      hold(own, step->value);
      break;
    case FS_CUDA_NOTE:
      *step->time = fs_now_ns() - atomic_load(&own->x->begin_ns);
      break;
    case FS_CUDA_MOVE:
      if (!fs_cuda_poisoned(own->x)) {
        memmove(step->to, step->from, step->value);
      }
      break;
    case FS_CUDA_RUN:
      fs_cuda_host_run(step->task);
      break;
  }
}

/* Waits for step k; false: the slot is being destroyed. */
static bool await_step(fs_cuda_thread *own, uint64_t k) {
  fs_cuda_threads *t = &own->x->threads;
  for (uint32_t i = 0;; i++) {
    uint32_t turn = atomic_load(&t->turn);
    if (atomic_load(&own->ready) > k) {
      return true;
    }
    if (atomic_load(&t->stop) != 0) {
      return false;
    }
    if (i < SPINS) {
      fs_pause();
    } else {
      rest(t, turn, UINT64_MAX);
      sleep_if_lost(own->x);
    }
  }
}

static void *run_thread(void *thread) {
  fs_cuda_thread *own = thread;
  fs_instance *x = own->x;
  _Atomic uint64_t *word = word_of(x, x->n_streams + own->number);
  for (uint64_t k = 0; await_step(own, k); k++) {
    do_step(own, &own->step[k % FS_CUDA_STEPS]);
    sleep_if_lost(x);
    atomic_fetch_add_explicit(&x->moves, 1, memory_order_relaxed);
    atomic_store(word, k + 1);
    fs_cuda_threads_wake(x);
  }
  return NULL;
}

/* A slot's threads */

static bool is_in_loops(const fs_stream *s) {
  bool some = false;
  for (uint32_t i = 0; i < s->n_loop_queues && !some; i++) {
    some = s->queues[s->loop_queues[i].queue].host != 0;
  }
  return some;
}

fs_status fs_cuda_threads_make(fs_instance *x) {
  fs_cuda_threads *t = &x->threads;
  const fs_cuda_plan *plan = &x->program->plan;
  t->n = plan->n_lanes - plan->n_streams;
  if (t->n == 0) {
    return FSCHED_OK;
  }
  uint32_t n_streams = fs_cuda_count_streams(x);
  t->in_loops = is_in_loops(x->s);
  FS_TRY(fs_new_zero(&x->arena, &t->at, t->n));
  FS_TRY(fs_new_zero(&x->arena, &t->told, n_streams));
  FS_TRY(fs_new_zero(&x->arena, &t->teller, n_streams));
  FS_TRY(fs_new_zero(&x->arena, &t->over, plan->n_items));
  FS_TRY(fs_new_zero(&x->arena, &t->given_mark, x->io->n_given));
  FS_TRY(fs_new_zero(&x->arena, &t->time, 2 * (size_t)plan->n_items));
  FS_TRY(fs_new_none(&x->arena, &t->of, x->s->n_queues));
  for (uint32_t i = 0; i < plan->n_items; i++) {
    if (plan->item[i].lane >= plan->n_streams) {
      uint32_t number = plan->item[i].lane - plan->n_streams;
      t->of[plan->item[i].queue] = number;
      t->at[number].queue = plan->item[i].queue;
    }
  }
  for (uint32_t i = 0; i < t->n; i++) {
    t->at[i].x = x;
    t->at[i].number = i;
    FS_TRY(fs_new_zero(&x->arena, &t->at[i].step, FS_CUDA_STEPS));
  }
  return FSCHED_OK;
}

uint64_t fs_cuda_threads_bytes(const fs_instance *x) {
  assert(x->threads.n == 0 || x->threads.at != NULL);
  return x->threads.n == 0
             ? 0
             : ((uint64_t)fs_cuda_count_streams(x) + x->threads.n) * FS_CUDA_WORD_BYTES;
}

fs_status fs_cuda_threads_begin(fsched_context *ctx, fs_instance *x) {
  fs_cuda_threads *t = &x->threads;
  assert(t->n == 0 || x->n_streams == fs_cuda_count_streams(x));
  for (uint32_t i = 0; t->n > 0 && i < x->n_streams + t->n; i++) {
    atomic_init(word_of(x, i), 0);
    if (i < x->n_streams) {
      t->teller[i] = (fs_cuda_teller){x, word_of(x, i)};
    }
  }
  for (uint32_t i = 0; i < t->n; i++) {
    int error = pthread_create(&t->at[i].thread, NULL, run_thread, &t->at[i]);
    if (error != 0) {
      return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_THREAD, FS_NOWHERE, NULL,
                     "the thread of a queue of the host could not be started: %s", strerror(error));
    }
    t->at[i].started = true;
  }
  return FSCHED_OK;
}

void fs_cuda_threads_end(fs_instance *x) {
  fs_cuda_threads *t = &x->threads;
  assert(atomic_load(&x->hold) != FS_CUDA_LOST);
  atomic_store(&t->stop, 1);
  fs_cuda_threads_wake(x);
  for (uint32_t i = 0; i < t->n && t->at != NULL && t->at[i].started; i++) {
    (void)pthread_join(t->at[i].thread, NULL);
    t->at[i].started = false;
  }
}

void fs_cuda_threads_reset(fs_instance *x) {
  assert(fs_cuda_threads_idle(x));
  atomic_store(&x->threads.broken, 0);
}

bool fs_cuda_threads_idle(const fs_instance *x) {
  bool idle = true;
  for (uint32_t i = 0; i < x->threads.n && idle; i++) {
    idle = atomic_load(word_of(x, x->n_streams + i)) >= x->threads.at[i].put;
  }
  return idle;
}

/* The watchdog's side */

void fs_cuda_threads_look(fs_instance *x) {
  assert(x->threads.n == 0 || x->hosts.hand != NULL);
  for (uint32_t i = 0; i < x->threads.n; i++) {
    (void)fs_hand_look(&x->hosts.hand[x->threads.at[i].queue]);
  }
}

bool fs_cuda_threads_hang(const fs_instance *x) {
  bool some = false;
  for (uint32_t i = 0; i < x->threads.n && !some; i++) {
    some = fs_hand_busy(atomic_load(&x->hosts.hand[x->threads.at[i].queue].count));
  }
  return some;
}

bool fs_cuda_threads_report(fs_instance *x, fsched_context *ctx) {
  bool some = false;
  for (uint32_t i = 0; i < x->threads.n; i++) {
    const fs_hand *hand = &x->hosts.hand[x->threads.at[i].queue];
    some = fs_hand_report(ctx, x->s, hand, atomic_load(&x->begin_ns)) || some;
  }
  return some;
}

/* The side of the slot's thread */

bool fs_cuda_await_thread(fs_instance *x, uint32_t thread, uint64_t mark) {
  fs_cuda_point point = {.line = x->n_streams + thread, .mark = mark};
  assert(thread < x->threads.n && mark <= x->threads.at[thread].put);
  return fs_cuda_await_point(x, &point, true) && !fs_cuda_poisoned(x);
}

bool fs_cuda_await_threads(fs_instance *x) {
  bool over = true;
  for (uint32_t i = 0; i < x->threads.n && over; i++) {
    fs_cuda_point point = {.line = x->n_streams + i, .mark = x->threads.at[i].put};
    over = fs_cuda_await_point(x, &point, false);
  }
  return over;
}

void fs_cuda_drain_threads(fs_instance *x, bool broken) {
  if (broken) {
    atomic_store(&x->threads.broken, 1);
    fs_cuda_threads_wake(x);
  }
  if (!fs_cuda_await_threads(x)) { /* the device has failed just now */
    atomic_store(&x->threads.broken, 1);
    fs_cuda_threads_wake(x);
    while (!fs_cuda_threads_idle(x)) {
      fs_cuda_rest(x, atomic_load(&x->turn), LEAST_NS);
    }
  }
}

bool fs_cuda_step_put(fs_instance *x, fs_cuda_line line, fs_cuda_step step) {
  assert(fs_cuda_line_is_thread(x, line));
  fs_cuda_thread *t = &x->threads.at[line - x->n_streams];
  if (t->put - atomic_load(word_of(x, line)) >= FS_CUDA_STEPS &&
      !fs_cuda_await_thread(x, t->number, t->put - FS_CUDA_STEPS + 1)) {
    return false;
  }
  t->step[t->put % FS_CUDA_STEPS] = step;
  atomic_store(&t->ready, ++t->put);
  fs_cuda_threads_wake(x);
  return true;
}

/* Lines */

/* A function that a driver without words calls when a stream is so far.  It waits for nothing. */
static void tell(void *teller) {
  fs_cuda_teller *t = teller;
  atomic_fetch_add(t->word, 1);
  fs_cuda_threads_wake(t->x);
}

static bool tell_threads(fs_instance *x, fs_cuda_line line) {
  fs_cuda_threads *t = &x->threads;
  uint64_t next = t->told[line] + 1;
  bool told = x->machine->device.cuda.words
                  ? FS_CUDA_DO(x, cuStreamWriteValue64,
                               (x->lane[line], word_address(x, line), next, FS_CU_WRITE_BEHIND_ALL))
                  : FS_CUDA_DO(x, cuLaunchHostFunc, (x->lane[line], tell, &t->teller[line]));
  t->told[line] += told;
  return told;
}

bool fs_cuda_line_mark(fs_instance *x, fs_cuda_line line, fs_cu_event event, bool tells,
                       fs_cuda_point *out) {
  *out = (fs_cuda_point){.line = line, .event = event};
  if (fs_cuda_line_is_thread(x, line)) {
    out->mark = x->threads.at[line - x->n_streams].put;
    return true;
  }
  if ((event != NULL && !FS_CUDA_DO(x, cuEventRecord, (event, x->lane[line]))) ||
      (tells && !tell_threads(x, line))) {
    return false;
  }
  out->mark = tells ? x->threads.told[line] : 0;
  return true;
}

bool fs_cuda_line_wait(fs_instance *x, fs_cuda_line line, const fs_cuda_point *p) {
  bool own = line == p->line, thread = fs_cuda_line_is_thread(x, p->line);
  assert(own || thread || (fs_cuda_line_is_thread(x, line) ? p->mark > 0 : p->event != NULL));
  if (own) {
    return true;
  }
  if (fs_cuda_line_is_thread(x, line)) {
    fs_cuda_step wait = {.kind = FS_CUDA_AWAIT, .value = p->mark, .word = word_of(x, p->line)};
    return fs_cuda_step_put(x, line, wait);
  }
  if (!thread) {
    return FS_CUDA_DO(x, cuStreamWaitEvent, (x->lane[line], p->event, 0));
  }
  if (!x->machine->device.cuda.words) {
    return fs_cuda_await_thread(x, p->line - x->n_streams, p->mark);
  }
  return FS_CUDA_DO(x, cuStreamWaitValue64,
                    (x->lane[line], word_address(x, p->line), p->mark, FS_CU_WAIT_AT_LEAST));
}

fs_cu_result fs_cuda_point_query(const fs_instance *x, const fs_cuda_point *p) {
  if (!fs_cuda_line_is_thread(x, p->line)) {
    return x->machine->device.cuda.api.cuEventQuery(p->event);
  }
  return atomic_load(word_of(x, p->line)) >= p->mark ? FS_CU_SUCCESS : FS_CU_NOT_READY;
}
