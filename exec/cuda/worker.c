/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a slot:
 *
 *   for every invocation:  build, unless that is done
 *     issue what can be issued; while content is late, wait for it and hand over what is there
 *     issue the end, hand over what comes, wait for the rest, tell the core
 *
 * When the invocation is poisoned, no further item is issued; the thread waits for the issued ones,
 * so that the streams are empty when the core is told.  From within `done` the core may start the
 * next invocation, so the thread does not touch the old one after that. */
#include "base/clock.h"
#include "base/futex.h"
#include "exec/cuda/cuda.h"

enum {
  SPINS = 1000,    /* looks for an invocation before the thread sleeps */
  POLL_NS = 100000 /* time between looks at the device while content is late */
};

void fs_cuda_wake(fs_instance *x) {
  atomic_fetch_add(&x->turn, 1);
  fs_futex_wake_all(&x->turn);
}

void fs_cuda_poison(fs_instance *x, fsched_cause cause) {
  assert(cause != FSCHED_CAUSE_NONE);
  fsched_cause none = FSCHED_CAUSE_NONE;
  (void)atomic_compare_exchange_strong(&x->cause, &none, cause);
  atomic_store(&x->poisoned, 1);
  fs_cuda_wake(x);
  fs_cuda_threads_wake(x);
}

static void move_on(fs_instance *x) {
  atomic_fetch_add_explicit(&x->moves, 1, memory_order_relaxed);
}

static void reset(fs_instance *x) {
  x->n_issued = x->n_coming = x->n_come = 0;
  atomic_store(&x->waits_given, FS_NONE);
  memset(x->issued, 0, x->program->plan.n_items);
  memset(x->given_there, 0, x->io->n_given);
  fs_cuda_watch_reset(x);
  fs_cuda_loops_reset(x);
  fs_cuda_host_begin(x);
  fs_cuda_threads_reset(x);
  if (!x->graph) {
    memset(x->given_waited, 0, (size_t)x->io->n_given * x->program->plan.n_lanes);
  }
  for (uint32_t k = 0; k < x->io->n_kept; k++) {
    x->kept_left[k] = x->io->kept[k].touches;
  }
  move_on(x);
}

/* FS_CU_NOT_READY is no failure. */
static bool query(fs_instance *x, const char *call, fs_cu_result result, bool *ready) {
  *ready = result == FS_CU_SUCCESS;
  return result == FS_CU_NOT_READY || fs_cuda_ok(x, call, result);
}

/* Kept items leave by one stream, so they come in the order in which they were issued. */
static bool hand_over_first(fs_instance *x) {
  fs_cuda_hand_over(x, x->kept_order[x->n_come++]);
  move_on(x);
  return true;
}

/* Hands over what has arrived, without waiting; *busy: the device has still something to do. */
static bool look_around(fs_instance *x, bool *busy) {
  bool ready = true;
  while (x->n_come < x->n_coming && ready) {
    fs_cu_event event = x->kept_event[x->kept_order[x->n_come]];
    if (!query(x, "cuEventQuery", x->machine->device.cuda.api.cuEventQuery(event), &ready) ||
        (ready && !hand_over_first(x))) {
      return false;
    }
  }
  *busy = x->n_come < x->n_coming || !fs_cuda_threads_idle(x);
  for (uint32_t i = 0; i < x->n_streams && !*busy; i++) {
    if (!query(x, "cuStreamQuery", x->machine->device.cuda.api.cuStreamQuery(x->lane[i]), &ready)) {
      return false;
    }
    *busy = !ready;
  }
  return true;
}

/* Waits until `turn` has changed. */
static bool await_content(fs_instance *x, uint32_t turn, uint32_t given) {
  while (atomic_load(&x->turn) == turn) {
    bool busy;
    if (!look_around(x, &busy) || !fs_cuda_look(x)) {
      return false;
    }
    atomic_store(&x->waits_given, busy ? FS_NONE : given);
    fs_cuda_rest(x, turn, busy ? POLL_NS : UINT64_MAX);
  }
  atomic_store(&x->waits_given, FS_NONE);
  move_on(x);
  return !fs_cuda_poisoned(x);
}

/* Puts content in place that no command touches but that is kept where it was given. */
static bool put_the_rest(fs_instance *x, uint32_t *wants) {
  for (uint32_t k = 0; k < x->io->n_kept && !x->config.empty; k++) {
    uint32_t g = x->io->kept[k].given;
    if (x->io->kept[k].touches > 0 || g == FS_NONE || x->given_there[g] || !fs_cuda_wanted(x, k)) {
      continue;
    }
    if (atomic_load(&x->given_ready[g]) == 0) {
      *wants = g;
      atomic_store(&x->waits_item, FS_NONE);
      return true;
    }
    if (!fs_cuda_put(x, g, x->lane[0])) {
      return false;
    }
  }
  return true;
}

static bool issue_all(fs_instance *x) {
  for (;;) {
    uint32_t turn = atomic_load(&x->turn), wants = FS_NONE;
    if (x->n_issued < x->program->plan.n_items &&
        !(x->graph ? fs_cuda_graph_launch(x, &wants) : fs_cuda_issue(x, &wants))) {
      return false;
    }
    if (wants == FS_NONE && !put_the_rest(x, &wants)) {
      return false;
    }
    if (wants == FS_NONE) {
      return fs_cuda_issue_end(x);
    }
    if (!await_content(x, turn, wants)) {
      return false;
    }
  }
}

bool fs_cuda_time_of(fs_instance *x, fs_cu_event event, uint64_t *ns) {
  float ms;
  assert(x->built.timed && event != NULL);
  if (!FS_CUDA_DO(x, cuEventElapsedTime, (&ms, x->time[2 * x->program->plan.n_items], event))) {
    return false;
  }
  *ns = ms > 0 ? (uint64_t)((double)ms * 1e6) : 0;
  return true;
}

static bool is_on_thread(const fs_instance *x, uint32_t item) {
  return x->program->plan.item[item].lane >= x->program->plan.n_streams;
}

static bool read_times(fs_instance *x) {
  const fs_cuda_plan *plan = &x->program->plan;
  for (uint32_t c = 0; c < x->s->n_commands; c++) {
    uint32_t item = plan->item_of[c];
    bool noted = is_on_thread(x, item);
    for (unsigned i = 0; i < 2; i++) {
      uint64_t ns = noted ? x->threads.time[2 * item + i] : 0;
      if (!noted && !fs_cuda_time_of(x, x->time[2 * item + i], &ns)) {
        return false;
      }
      (i == 0 ? x->work->record.begin : x->work->record.end)[c] = ns;
    }
  }
  return !x->built.instances || fs_cuda_times_read(x);
}

/* The digest of an op whose members have args of their own is the sum of theirs; those of the
 * host's members are there. */
static void sum_members(fs_instance *x) {
  const fs_stream *s = x->s;
  const fs_cuda_host_ops *hosts = &x->program->hosts;
  const unsigned char *words =
      x->pinned + x->staged_aux + x->digests + (s->n_ops + x->loops.n_calls) * 8;
  for (uint32_t op = 0; op < s->n_ops && s->n_members > 0; op++) {
    const fs_stream_op *o = &s->ops[op];
    uint64_t word, *sum = &x->work->record.digest[op];
    *sum = o->n_members > 0 && hosts->op[op] == 0 ? 0 : *sum;
    for (uint32_t m = o->member0; m < o->member0 + o->n_members; m++) {
      memcpy(&word, words + (uint64_t)m * 8, sizeof word);
      *sum += hosts->member[m] == 0 ? word : 0;
    }
  }
}

static bool collect_results(fs_instance *x) {
  while (x->n_come < x->n_coming) {
    if (!fs_cuda_await_event(x, x->kept_event[x->kept_order[x->n_come]]) || !hand_over_first(x)) {
      return false;
    }
  }
  if (!fs_cuda_await_event(x, x->done) || !fs_cuda_await_threads(x) ||
      (x->built.timed && !read_times(x))) {
    return false;
  }
  if (x->built.digests && x->s->n_ops > 0) {
    memcpy(x->work->record.digest, x->pinned + x->staged_aux + x->digests, (size_t)x->s->n_ops * 8);
    fs_cuda_host_digests(x, x->work->record.digest);
    fs_cuda_loops_end(x, x->work->record.digest);
    sum_members(x);
  }
  /* Whether the invocation has failed is decided here: state is taken out as a whole or not at
   * all. */
  if (fs_cuda_poisoned(x)) {
    return false;
  }
  for (uint32_t k = 0; k < x->io->n_kept && !x->config.empty; k++) {
    if (fs_cuda_at_end(x, k)) {
      fs_cuda_hand_over(x, k);
    }
  }
  return true;
}

/* Where threads note times, too, both clocks begin when the device is there. */
static bool begin_time(fs_instance *x) {
  fs_cu_event begin = x->time[2 * x->program->plan.n_items];
  if (!x->built.timed) {
    return true;
  }
  if (!FS_CUDA_DO(x, cuEventRecord, (begin, x->lane[0]))) {
    return false;
  }
  if (x->threads.n == 0) {
    return true;
  }
  bool there = fs_cuda_await_event(x, begin);
  atomic_store(&x->begin_ns, fs_now_ns());
  return there;
}

/* Waits until the streams are empty, and the threads have nothing to do.  The results do not
 * matter: after a failure of the device nothing runs there any more. */
static void drain(fs_instance *x) {
  bool failed = false;
  for (uint32_t i = 0; i < x->n_streams; i++) {
    failed = !fs_cuda_await_stream(x, x->lane[i]) || failed;
  }
  fs_cuda_drain_threads(x, failed);
}

static fsched_cause run_invocation(fs_instance *x) {
  const fs_cuda *d = &x->machine->device.cuda;
  if (!FS_CUDA_DO(x, cuCtxPushCurrent, (d->context))) {
    return atomic_load(&x->cause);
  }
  bool built = fs_cuda_build_for(x);
  atomic_store(&x->begin_ns, fs_now_ns()); /* builds are not timed: they serve many invocations */
  bool over = built && begin_time(x) && issue_all(x) && collect_results(x);
  if (!over) {
    drain(x);
  }
  fs_cuda_leave(d);
  return over ? FSCHED_CAUSE_NONE : atomic_load(&x->cause);
}

/* Waits for invocation k; false: the slot is being destroyed. */
static bool await_start(fs_instance *x, uint64_t k) {
  for (unsigned i = 0; i < SPINS && atomic_load(&x->go) <= k; i++) {
    fs_pause();
  }
  for (;;) {
    uint32_t turn = atomic_load(&x->turn);
    if (atomic_load(&x->go) > k) {
      return true;
    }
    if (atomic_load(&x->stop) != 0) {
      return false;
    }
    fs_futex_wait(&x->turn, turn, UINT64_MAX);
  }
}

void *fs_cuda_worker(void *instance) {
  fs_instance *x = instance;
  for (uint64_t k = 0; await_start(x, k); k++) {
    reset(x);
    fsched_cause cause = run_invocation(x);
    const fs_work *work = x->work;
    work->done(work->user, cause, fs_now_ns() - x->begin_ns);
  }
  return NULL;
}
