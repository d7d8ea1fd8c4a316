/* SPDX-License-Identifier: Apache-2.0 */
/* The course of an invocation.
 *
 * Each event of an invocation (its fence is reached, it is complete, it has its memory) is handled
 * in the thread that causes it.  That thread changes the exec under its lock and then turns the
 * pump, which starts invocations as long as one may have a slot (choose.c).  Only one thread pumps
 * at a time; another thread asks it to go round again, so that callbacks never nest in the pump. */
#include "exec/context/core.h"

#include <stdio.h>
#include <time.h>

#include "exec/context/known.h"

static void lock(fsched_exec *x) { pthread_mutex_lock(&x->lock); }
static void unlock(fsched_exec *x) { pthread_mutex_unlock(&x->lock); }

static bool has_state(const fs_invocation *v) { return v->entry->io.n_states > 0; }

/* Telling the outcome, without the lock */

static void settle_bound(fs_bound *b, fsched_cause cause, const fsched_frontier *known) {
  if (b->release != NULL) {
    void (*release)(void *user, void *data) = b->release;
    b->release = NULL;
    fs_steps here;
    fs_steps_enter(&here);
    release(b->release_user, b->data);
    fs_steps_leave(&here);
  }
  if (b->signal != NULL && !b->settled) { /* `signal` stays: others may look at it */
    b->settled = true;
    fs_fence_settle(b->signal, cause, known);
  }
}

/* Whether an input is left to its fence: the data may still be written, so they are released when
 * the fence is reached or fails. */
static bool leave_to_wait(fsched_exec *x, fs_bound *b) {
  lock(x);
  bool left = b->waits && b->release != NULL && !x->closing;
  b->left = left;
  unlock(x);
  return left;
}

static void settle_all(fs_invocation *v) {
  fsched_exec *x = v->entry->exec;
  for (uint32_t i = 0; i < v->n_bound; i++) {
    fs_bound *b = &v->bound[i];
    if (!b->late || !leave_to_wait(x, b)) {
      settle_bound(b, v->cause, &v->known);
    }
  }
}

/* Stops the waits for inputs that the invocation does not want any more; with left_too, as the exec
 * goes, also those that release data.  The caller has a reference. */
static void stop_waiting(fs_invocation *v, bool left_too) {
  for (uint32_t i = 0; i < v->n_bound; i++) {
    fs_bound *b = &v->bound[i];
    if (!b->late) {
      continue;
    }
    lock(v->entry->exec);
    bool waits = b->waits && (left_too || !b->left);
    unlock(v->entry->exec);
    if (waits) {
      fs_fence_wait_cancel(&b->wait, FSCHED_CAUSE_CANCELLED);
    }
  }
}

/* Tells the outcome of a DONE invocation, which does not use its slot and memory any more. */
static void tell_end(fs_invocation *v) {
  if (v->measure.measured != NULL && v->cause == FSCHED_CAUSE_NONE) {
    v->measure.measured(v->measure.user, v->measure.index, v->ns);
  }
  settle_all(v);
  fs_fence_settle(v->signal, v->cause, &v->known);
  if (v->callback != NULL) {
    fs_steps here;
    fs_steps_enter(&here);
    v->callback(v->user, v->cause);
    fs_steps_leave(&here);
  }
  stop_waiting(v, false);
  fs_invocation_drop(v);
}

/* With the lock */

static void note_failure(fsched_exec *x, fsched_cause cause, const char *what) {
  if (x->first_cause == FSCHED_CAUSE_NONE) {
    x->first_cause = cause;
    (void)snprintf(x->failure, sizeof x->failure, "%s", what == NULL ? "" : what);
  }
}

/* Gives the invocation a cause of failure; the first one counts. */
static void blame(fs_invocation *v, fsched_cause cause) {
  cause = cause == FSCHED_CAUSE_NONE && v->entry->exec->closing ? FSCHED_CAUSE_CANCELLED : cause;
  v->cause = v->cause == FSCHED_CAUSE_NONE ? cause : v->cause;
}

/* Admits invocations with state, one at a time, in their order. */
static void admit(fsched_exec *x) {
  fs_invocation *v = x->ordered.first;
  if (v != NULL && v->stage == FS_ORDERED && v->turn == x->turn) {
    if (x->state_cause != FSCHED_CAUSE_NONE && v->cause == FSCHED_CAUSE_NONE) {
      v->cause = x->state_cause;
    }
    fs_known_admitted(v);
    fs_exec_line_up(v);
  }
}

static void end(fs_invocation *v) {
  fsched_exec *x = v->entry->exec;
  v->stage = FS_DONE;
  x->moves++;
  if (v->list != NULL) {
    fs_list_remove(v);
  }
  if (v->slot != FS_NONE) {
    v->entry->slot[v->slot].running = NULL;
    x->n_working--;
  }
  if (has_state(v)) {
    x->turn++;
    if (x->state_cause == FSCHED_CAUSE_NONE) {
      x->state_cause = v->cause;
    }
    pthread_cond_broadcast(&x->quiet);
  }
}

static uint32_t idle_slot(const fsched_entry *e) {
  uint32_t i = 0;
  while (e->slot[i].running != NULL || e->slot[i].lost) {
    i++;
    assert(i < e->n_slots);
  }
  return i;
}

static void start_invocation(fs_invocation *v) {
  fs_exec_slot *slot = &v->entry->slot[v->slot];
  v->stage = FS_RUNNING;
  v->safe |= v->n_open == 0;
  v->work.memory = v->reservation.data;
  slot->watch = (fs_watch){0};
  slot->stuck = false;
  v->entry->exec->device->backend->start(slot->instance, &v->work);
}

static void memory_granted(fs_reservation *r, fsched_cause cause);

/* Under the lock, which it gives up meanwhile: reserves memory for an invocation with a slot. */
static void reserve(fs_invocation *v) {
  fsched_exec *x = v->entry->exec;
  uint64_t bytes = fsched_entry_bytes(v->entry);
  if (x->options.pool == NULL || bytes == 0) {
    start_invocation(v);
    return;
  }
  v->reservation =
      (fs_reservation){.bytes = bytes, .granted = memory_granted, .user = v, .early = !v->safe};
  v->stage = FS_RESERVING;
  unlock(x);
  fs_reserved result = fs_pool_reserve(x->options.pool, &v->reservation);
  if (result != FS_RESERVE_LATER) {
    memory_granted(&v->reservation, fs_reserved_cause(result));
  }
  lock(x);
}

static void take_slot(fs_invocation *v) {
  fsched_exec *x = v->entry->exec;
  fs_list_remove(v);
  fs_list_append(&x->working, v);
  v->slot = idle_slot(v->entry);
  v->entry->slot[v->slot].running = v;
  x->n_working++;
  x->moves++;
}

/* The next invocation that can start or end; NULL: none. */
static fs_invocation *next_to_go(fsched_exec *x) {
  if (x->failed.first != NULL) {
    return x->failed.first;
  }
  if (x->n_lost < x->options.in_flight) {
    return fs_exec_choose(x);
  }
  fs_invocation *v = x->ready.first != NULL ? x->ready.first : x->early.first;
  if (v != NULL) { /* it cannot start, as no slot will become idle any more */
    blame(v, FSCHED_CAUSE_TIMEOUT);
  }
  return v;
}

/* Called under the lock, and gives it up. */
void fs_exec_pump(fsched_exec *x) {
  if (x->pumping) {
    x->again = true;
    unlock(x);
    return;
  }
  x->pumping = true;
  do {
    x->again = false;
    admit(x);
    for (fs_invocation *v; (v = next_to_go(x)) != NULL;) {
      if (v->cause != FSCHED_CAUSE_NONE) {
        end(v);
        admit(x);
        unlock(x);
        tell_end(v);
        lock(x);
      } else {
        take_slot(v);
        reserve(v);
      }
    }
  } while (x->again);
  x->pumping = false;
  pthread_cond_broadcast(&x->quiet);
  unlock(x);
}

/* Without the lock.  Memory is given back before the slot, so that there are never more invocations
 * with memory than slots; and before the outcome is told, so that the caller finds room. */
static void give_memory_back(fs_invocation *v) {
  if (v->reservation.data != NULL) {
    fs_pool_release(v->entry->exec->options.pool, &v->reservation);
  }
}

/* Under the lock, which it gives up: frees the slot after the end of an invocation. */
static void leave_invocation(fsched_exec *x, fs_invocation *v) {
  x->n_busy++;
  unlock(x);
  tell_end(v);
  lock(x);
  x->n_busy--;
  fs_exec_pump(x);
}

/* The memory of the invocation stays reserved. */
void fs_exec_lose(fsched_exec *x, fs_exec_slot *slot) {
  assert(slot->running != NULL && !slot->lost);
  fs_invocation *v = slot->running;
  slot->running = NULL;
  slot->lost = true;
  x->n_lost++;
  atomic_store(&x->device->lost, 1);
  v->slot = FS_NONE;
  if (v->reservation.data != NULL) {
    fs_pool_lose(x->options.pool);
  }
  blame(v, FSCHED_CAUSE_TIMEOUT);
  end(v);
  leave_invocation(x, v); /* the pump fails those that wait for a slot, if all slots are lost */
}

/* Called by the pool and by reserve, without locks. */
static void memory_granted(fs_reservation *r, fsched_cause cause) {
  fs_invocation *v = r->user;
  fsched_exec *x = v->entry->exec;
  lock(x);
  blame(v, cause);
  if (v->cause == FSCHED_CAUSE_NONE) {
    start_invocation(v);
    unlock(x);
    return;
  }
  unlock(x);
  give_memory_back(v);
  lock(x);
  end(v);
  leave_invocation(x, v);
}

/* Calls from the back end, without locks */

static void given_taken(void *user, uint32_t item) {
  fs_invocation *v = user;
  if (v->given_bound[item] != FS_NONE) {
    settle_bound(&v->bound[v->given_bound[item]], FSCHED_CAUSE_NONE, NULL);
  }
}

static void kept_there(void *user, uint32_t item) {
  fs_invocation *v = user;
  fs_bound *b = v->kept_bound[item] == FS_NONE ? NULL : &v->bound[v->kept_bound[item]];
  if (b == NULL || b->signal == NULL || b->settled) {
    return;
  }
  lock(v->entry->exec);
  fs_known_output(v, b);
  unlock(v->entry->exec);
  settle_bound(b, FSCHED_CAUSE_NONE, &b->known);
}

static void failed(void *user, fsched_cause cause, const char *what) {
  fsched_exec *x = ((fs_invocation *)user)->entry->exec;
  lock(x);
  note_failure(x, cause, what);
  x->last_cause = cause;
  (void)snprintf(x->last, sizeof x->last, "%s", what);
  unlock(x);
}

static void done(void *user, fsched_cause cause, uint64_t ns) {
  fs_invocation *v = user;
  fsched_exec *x = v->entry->exec;
  give_memory_back(v);
  lock(x);
  v->cause = cause;
  v->ns = ns;
  if (cause != FSCHED_CAUSE_NONE) {
    note_failure(x, cause, NULL);
  } else {
    fs_known_complete(v);
  }
  end(v);
  leave_invocation(x, v);
}

/* Fences */

static void may_start(fs_fence_wait *wait, fsched_cause cause) {
  fs_invocation *v = (fs_invocation *)(void *)((char *)wait - offsetof(fs_invocation, wait));
  fsched_exec *x = v->entry->exec;
  lock(x);
  if (cause != FSCHED_CAUSE_NONE && v->cause == FSCHED_CAUSE_NONE && !x->closing) {
    note_failure(x, cause, "its wait fence had failed");
  }
  blame(v, cause);
  if (cause == FSCHED_CAUSE_NONE) {
    fs_known_waited(v);
  }
  if (has_state(v)) { /* the pump admits it */
    v->stage = FS_ORDERED;
  } else {
    fs_exec_line_up(v);
  }
  fs_exec_pump(x);
}

/* Ends an invocation, without the lock; `stage` is its stage, which was read under the lock. */
static void cancel(fsched_exec *x, fs_invocation *v, fs_stage stage, fsched_cause cause) {
  if (stage == FS_WAITING) {
    fs_fence_wait_cancel(&v->wait, cause);
  } else if (stage == FS_RESERVING && fs_pool_cancel(x->options.pool, &v->reservation)) {
    lock(x);
    blame(v, cause);
    end(v);
    leave_invocation(x, v);
  }
}

/* Ends an invocation that waits for a slot, if it still does. */
static void cancel_ready(fsched_exec *x, fs_invocation *v) {
  lock(x);
  if (v->stage != FS_READY) {
    unlock(x);
    return;
  }
  end(v);
  leave_invocation(x, v);
}

/* With the lock. */
static void input_failed(fsched_exec *x, fs_invocation *v, const fs_bound *b, fsched_cause cause) {
  const fs_stream *s = v->entry->stream;
  char what[sizeof x->failure];
  (void)snprintf(what, sizeof what, "the fence of input '%.400s' had failed",
                 fs_stream_string(s, s->buffers[b->buffer].name));
  if (!x->closing) { /* while the exec closes, inputs are cancelled, which is no failure */
    note_failure(x, cause, what);
  }
  if (v->stage == FS_RUNNING) {
    x->device->backend->poison(v->entry->slot[v->slot].instance, cause);
  } else {
    blame(v, cause);
  }
}

/* Under the lock: notes that an input has come or failed.  Returns the stage in which the failure
 * met the invocation, else DONE. */
static fs_stage note_input(fsched_exec *x, fs_invocation *v, fs_bound *b, fsched_cause cause) {
  b->waits = false;
  v->n_open -= b->item != FS_NONE;
  x->moves++;
  if (b->item == FS_NONE || v->stage == FS_DONE) {
    return FS_DONE;
  }
  if (cause != FSCHED_CAUSE_NONE) {
    input_failed(x, v, b, cause);
    return v->stage;
  }
  b->reached = true;
  if (v->stage == FS_RUNNING) { /* the back end owns `late` by now */
    x->device->backend->ready(v->entry->slot[v->slot].instance, b->item);
  } else {
    v->late[b->item] = false;
  }
  return FS_DONE;
}

/* Under the lock, which it gives up: goes on after one input less is open, perhaps none. */
static void go_on(fsched_exec *x, fs_invocation *v) {
  bool hurry = v->n_open == 0 && v->stage == FS_RESERVING && !v->safe;
  if (v->n_open == 0 && v->stage == FS_RUNNING) {
    v->safe = true;
  } else if (v->list == &x->early && v->n_open == 0) {
    fs_exec_line_up(v);
  }
  if (hurry) { /* it becomes safe only when it is in the queue, so that all that wait for it come
                  after */
    unlock(x);
    fs_pool_hurry(x->options.pool, &v->reservation);
    lock(x);
    v->safe = true;
  }
  fs_exec_pump(x);
}

static void input_ready(fs_fence_wait *wait, fsched_cause cause) {
  fs_bound *b = (fs_bound *)(void *)((char *)wait - offsetof(fs_bound, wait));
  fs_invocation *v = b->invocation;
  fsched_exec *x = v->entry->exec;
  lock(x);
  fs_stage stage = note_input(x, v, b, cause);
  bool left = b->left;
  if (stage == FS_DONE && v->stage != FS_DONE) {
    go_on(x, v);
  } else {
    unlock(x);
  }
  if (stage == FS_READY) {
    cancel_ready(x, v);
  } else {
    cancel(x, v, stage, cause);
  }
  if (left) {
    settle_bound(b, FSCHED_CAUSE_NONE, NULL);
  }
  fs_invocation_drop(v);
}

/* Requests */

static const fs_work calls = {
    .given_taken = given_taken, .kept_there = kept_there, .failed = failed, .done = done};

static void prepare_work(fs_invocation *v) {
  v->work = calls;
  v->work.user = v;
  v->work.given = v->given;
  v->work.late = v->late;
  v->work.kept = v->kept;
  v->work.values = v->values;
  v->work.trips = v->trips;
  v->work.record = v->measure.record;
}

/* Under the lock: lets the invocation take its course. */
static void enter_invocation(fsched_exec *x, fs_invocation *v) {
  uint32_t waits = 0;
  for (uint32_t i = 0; i < v->n_bound; i++) {
    waits += v->bound[i].late;
    v->n_open += v->bound[i].late && v->bound[i].item != FS_NONE;
    v->bound[i].wait.callback = input_ready;
  }
  v->wait.callback = may_start;
  v->references = 2 + waits; /* for its course, for this call, and for each wait */
  v->next = x->all;
  if (x->all != NULL) {
    x->all->previous = v;
  }
  x->all = v;
  x->n_live++;
  x->moves++;
  if (has_state(v)) {
    v->turn = x->turns++;
    fs_list_append(&x->ordered, v);
  }
}

fs_status fs_exec_invoke(fsched_context *ctx, fsched_entry *entry,
                         const fsched_invocation *descriptor, const fs_measure *measure) {
  fsched_exec *x = entry->exec;
  fs_invocation *v;
  FS_TRY(fs_refuse_inherited(ctx, x->birth));
  FS_TRY(fs_invocation_make(ctx, entry, descriptor, measure, &v));
  prepare_work(v);
  lock(x);
  if (x->closing) {
    unlock(x);
    fs_invocation_unmake(v);
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL,
                   "the context of execution is being destroyed");
  }
  enter_invocation(x, v);
  unlock(x);
  for (uint32_t i = 0; i < v->n_bound; i++) {
    if (v->bound[i].late) {
      fs_fence_wait_begin(&v->bound[i].wait);
    }
  }
  fs_fence_wait_begin(&v->wait);
  fs_invocation_drop(v);
  return FSCHED_OK;
}

fsched_status fsched_invoke(fsched_context *ctx, fsched_entry *entry,
                            const fsched_invocation *invocation) {
  return fs_exec_invoke(ctx, entry, invocation, NULL);
}

/* Shutdown */

void fs_exec_cancel_all(fsched_exec *x) {
  lock(x);
  x->closing = true;
  fs_invocation *v = x->all;
  if (v != NULL) {
    v->references++; /* so that it keeps its place in the list */
  }
  while (v != NULL) {
    fs_stage stage = v->stage;
    if (stage == FS_RUNNING) {
      x->device->backend->poison(v->entry->slot[v->slot].instance, FSCHED_CAUSE_CANCELLED);
    } else if (stage != FS_DONE) {
      blame(v, FSCHED_CAUSE_CANCELLED);
    }
    if (stage == FS_READY) {
      fs_exec_line_up(v);
    }
    unlock(x);
    cancel(x, v, stage, FSCHED_CAUSE_CANCELLED);
    stop_waiting(v, true);
    lock(x);
    fs_invocation *next = v->next;
    if (next != NULL) {
      next->references++;
    }
    unlock(x);
    fs_invocation_drop(v);
    lock(x);
    v = next;
  }
  fs_exec_pump(x);
  fs_steps_help();
}

static bool is_quiet(const fsched_exec *x) {
  return x->n_live == 0 && x->n_busy == 0 && !x->pumping;
}

bool fs_exec_await_quiet(fsched_exec *x, uint64_t timeout_ns) {
  enum { NS = 1000000000 };
  struct timespec until;
  (void)clock_gettime(CLOCK_REALTIME, &until); /* the clock of the condition */
  uint64_t ns = (uint64_t)until.tv_nsec + timeout_ns % NS;
  until.tv_sec += (time_t)(timeout_ns / NS + ns / NS);
  until.tv_nsec = (long)(ns % NS);
  int error = 0;
  lock(x);
  while (!is_quiet(x) && error == 0) {
    error = timeout_ns == UINT64_MAX ? pthread_cond_wait(&x->quiet, &x->lock)
                                     : pthread_cond_timedwait(&x->quiet, &x->lock, &until);
  }
  bool quiet = is_quiet(x);
  unlock(x);
  return quiet;
}
