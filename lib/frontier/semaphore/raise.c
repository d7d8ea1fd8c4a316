/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores: raising and failing them, and the frontiers that came with values.
 *
 * The history is a ring, ascending by value.  A wait for V learns the frontier of the first signal
 * at or above V, found by binary search.
 *
 * A system-wide semaphore has its history in the page (semaphore/page.c), and its own value here
 * follows that of the page: a thread that notices a change raises it under the lock (fs_sem_sync),
 * which releases the waiters of this process. */
#include "frontier/semaphore/private.h"
#include "fsched/semaphore.h"

/* History */

static fs_past *past_at(const fsched_semaphore *s, uint32_t i) {
  assert(i < s->n_past);
  return &s->past[(uint32_t)(((uint64_t)s->oldest + i) % s->limit)];
}

/* The first signal at or above the value; NULL when the history has none. */
static fs_past *find_past(const fsched_semaphore *s, uint64_t value) {
  uint32_t low = 0;
  uint32_t high = s->n_past;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (past_at(s, middle)->value < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return value <= s->forgotten || low == s->n_past ? NULL : past_at(s, low);
}

static fs_past *push_past(fsched_semaphore *s, uint64_t value) {
  assert(s->limit > 0 && s->n_past <= s->limit);
  if (s->n_past == s->limit) {
    s->forgotten = past_at(s, 0)->value;
    s->oldest = (s->oldest + 1) % s->limit;
  } else {
    s->n_past++;
  }
  fs_past *p = past_at(s, s->n_past - 1);
  p->value = value;
  p->known.n = 0;
  p->known.tainted = 0;
  return p;
}

void fs_sem_learn(fsched_semaphore *s, uint64_t value, fsched_frontier *into) {
  FS_ASSERT_SLOW(fsched_frontier_validate(into) == FSCHED_OK);
  if (value <= s->initial) {
    return;
  }
  const fsched_frontier *known = NULL;
  if (s->shared.page != NULL) {
    fs_shared_signal signal = {.known = s->scratch};
    known = fs_shared_find(&s->shared, value, &signal) ? &signal.known : NULL;
    if (known != NULL) {
      fsched_frontier_merge(into, known);
    }
  } else {
    const fs_past *p = find_past(s, value);
    known = p == NULL ? NULL : &p->known;
    if (known != NULL) {
      fsched_frontier_merge(into, known);
    }
  }
  into->tainted |= known == NULL;
}

fsched_status fsched_semaphore_learn(fsched_semaphore *s, uint64_t value, fsched_frontier *into) {
  if (fsched_frontier_validate(into) != FSCHED_OK) {
    return FSCHED_BAD_INPUT;
  }
  if (fs_sem_foreign(s)) {
    return FSCHED_USAGE;
  }
  fsched_semaphore_poll(s);
  fs_sem_lock(s);
  fsched_cause cause;
  bool reached = fs_sem_outcome(s, value, &cause) == FS_REACHED;
  if (reached) {
    fs_sem_learn(s, value, into);
  }
  fs_sem_unlock(s);
  return reached ? FSCHED_OK : FSCHED_INFEASIBLE;
}

/* Raising */

/* Adds a frontier to `whole`.  False: it does not fit, or has lost entries itself. */
static bool add_to_whole(fsched_semaphore *s, const fsched_frontier *known) {
  fsched_frontier_merge(&s->whole, known);
  bool exact = !s->whole.tainted;
  s->lossy |= !exact;
  s->whole.tainted = 0;
  return exact;
}

/* Does the union fit? */
static bool union_fits(const fsched_frontier *f, const fsched_frontier *more) {
  uint32_t shared = 0;
  for (uint32_t i = 0, k = 0; i < f->n && k < more->n;) {
    shared += f->entry[i].axis == more->entry[k].axis;
    bool left = f->entry[i].axis <= more->entry[k].axis;
    bool right = more->entry[k].axis <= f->entry[i].axis;
    i += left;
    k += right;
  }
  return (uint64_t)f->n + more->n - shared <= f->capacity;
}

/* Drops axes of this process alone, which mean others in other processes.  Their session is the
 * last one, so they are at the end. */
static void drop_local(fsched_frontier *f) {
  while (f->n > 0 && fsched_axis_split(f->entry[f->n - 1].axis).session == FSCHED_SESSION_LOCAL) {
    f->n--;
    f->tainted = 1;
  }
}

/* Composes the frontier of a signal in an empty one: entries merged before, and its own.  Returns
 * whether it is complete and fits into `whole`. */
static bool compose(const fsched_semaphore *s, const fs_raise *r, fsched_frontier *into) {
  into->n = 0;
  into->tainted = r->external;
  if (r->external) {
    return false;
  }
  fsched_frontier_merge(into, &s->next);
  if (r->known != NULL) {
    fsched_frontier_merge(into, r->known);
  }
  if (s->shared.page != NULL) {
    drop_local(into);
  }
  return !into->tainted && (r->known == NULL || union_fits(&s->whole, r->known));
}

/* Concludes a signal that has succeeded: its entries go to `whole`, and `next`, which it took, is
 * emptied. */
static void conclude(fsched_semaphore *s, const fs_raise *r) {
  if (r->known != NULL) {
    (void)add_to_whole(s, r->known);
  }
  if (!r->external) {
    s->next.n = 0;
  }
}

static void trust(fsched_semaphore *s, uint64_t value) {
  if (value > atomic_load(&s->untainted)) {
    atomic_store(&s->untainted, value);
  }
}

static void raise_local(fsched_semaphore *s, const fs_raise *r, fs_batch *b) {
  assert(r->value > atomic_load(&s->value));
  fs_past *p = push_past(s, r->value);
  if (compose(s, r, &p->known) && r->trusted) {
    trust(s, r->value);
  }
  conclude(s, r);
  atomic_store(&s->value, r->value);
  fs_sem_collect(s, r->value, b);
}

/* For a reached value: adds the known frontier to the signal of exactly that value. */
static fs_status amend(fsched_semaphore *s, const fs_raise *r) {
  bool exact = r->known == NULL || (!r->known->tainted && union_fits(&s->whole, r->known));
  if (r->known != NULL && s->shared.page != NULL) {
    fs_shared_signal more = {.value = r->value, .known = *r->known};
    drop_local(&more.known);
    exact = exact && !more.known.tainted;
    more.trusted = r->trusted && exact;
    if (fs_shared_amend(&s->shared, &more, &s->scratch) == FS_STUCK) {
      return FSCHED_SYSTEM;
    }
  } else if (r->known != NULL) {
    fs_past *p = find_past(s, r->value);
    if (p != NULL && p->value == r->value) {
      fsched_frontier_merge(&p->known, r->known);
    }
  }
  if (r->known != NULL) {
    (void)add_to_whole(s, r->known);
  }
  if (exact && r->trusted) {
    trust(s, r->value);
  }
  return FSCHED_OK;
}

/* Raises the page first; its state is then adopted here. */
static fs_change raise_shared(fsched_semaphore *s, const fs_raise *r, fs_batch *b) {
  assert(s->shared.page != NULL);
  if (r->value <= fs_shared_value(&s->shared)) {
    return FS_NO_CHANGE;
  }
  fs_shared_signal signal = {.value = r->value, .known = s->scratch};
  signal.trusted = compose(s, r, &signal.known) && r->trusted;
  fs_change change = fs_shared_raise(&s->shared, &signal);
  if (change == FS_CHANGED) {
    conclude(s, r);
    if (signal.trusted) {
      trust(s, r->value);
    }
  }
  fs_sem_sync(s, b);
  return change;
}

static fs_change raise_here(fsched_semaphore *s, const fs_raise *r, fs_batch *b) {
  if (s->shared.page != NULL) {
    return raise_shared(s, r, b);
  }
  if (r->value <= atomic_load(&s->value)) {
    return FS_NO_CHANGE;
  }
  raise_local(s, r, b);
  return FS_CHANGED;
}

fs_status fs_sem_raise(fsched_semaphore *s, const fs_raise *r, fs_batch *b) {
  assert(b->s == s);
  switch (raise_here(s, r, b)) {
    case FS_CHANGED:
      return FSCHED_OK;
    case FS_STUCK:
      return FSCHED_SYSTEM;
    case FS_NO_CHANGE:
      break;
  }
  if (r->strict) {
    return FSCHED_USAGE;
  }
  return r->external ? FSCHED_OK : amend(s, r);
}

static fs_status raise_checked(fsched_semaphore *s, const fs_raise *r) {
  if (r->known != NULL && fsched_frontier_validate(r->known) != FSCHED_OK) {
    return FSCHED_BAD_INPUT;
  }
  if (fs_sem_foreign(s)) {
    return FSCHED_USAGE;
  }
  fs_batch b;
  fs_sem_begin(&b, s);
  fs_sem_lock(s);
  fs_status status = fs_sem_raise(s, r, &b);
  if (status == FSCHED_SYSTEM && r->external) { /* waiters are told */
    (void)fs_sem_fail_all(s, FSCHED_CAUSE_SYSTEM, &b);
  }
  fs_sem_deliver_and_unlock(&b);
  return status;
}

fsched_status fsched_semaphore_signal(fsched_semaphore *s, uint64_t value,
                                      const fsched_frontier *known) {
  return raise_checked(s, &(fs_raise){.value = value, .known = known, .strict = true});
}

fsched_status fsched_semaphore_signal_untainted(fsched_semaphore *s, uint64_t value,
                                                const fsched_frontier *known) {
  return raise_checked(
      s, &(fs_raise){.value = value, .known = known, .strict = true, .trusted = true});
}

fsched_status fsched_semaphore_publish(fsched_semaphore *s, uint64_t value,
                                       const fsched_frontier *known) {
  return raise_checked(s, &(fs_raise){.value = value, .known = known, .trusted = true});
}

void fsched_semaphore_advance_external(fsched_semaphore *s, uint64_t value) {
  (void)!raise_checked(s, &(fs_raise){.value = value, .external = true});
}

uint64_t fsched_semaphore_taint_above(fsched_semaphore *s, uint64_t value) {
  if (fs_sem_foreign(s)) {
    return fs_min(value, atomic_load(&s->untainted));
  }
  fs_sem_lock(s);
  uint64_t mark = fs_min(value, atomic_load(&s->untainted));
  atomic_store(&s->untainted, mark);
  fs_sem_unlock(s);
  return mark;
}

int fsched_semaphore_merge(fsched_semaphore *s, const fsched_frontier *known) {
  if (known->tainted || fsched_frontier_validate(known) != FSCHED_OK || fs_sem_foreign(s)) {
    return 0;
  }
  fs_sem_lock(s);
  bool fit = union_fits(&s->whole, known) && union_fits(&s->next, known);
  if (fit) {
    fsched_frontier_merge(&s->next, known);
    fsched_frontier_merge(&s->whole, known);
  }
  fs_sem_unlock(s);
  return fit;
}

/* Failing */

bool fs_sem_fail(fsched_semaphore *s, fsched_cause cause, uint64_t end, fs_batch *b) {
  assert(b->s == s && cause != FSCHED_CAUSE_NONE);
  if (atomic_load(&s->cause) != FSCHED_CAUSE_NONE) {
    return false;
  }
  s->end = end;
  atomic_store(&s->cause, cause);
  fs_sem_break(s, cause, b);
  return true;
}

bool fs_sem_fail_all(fsched_semaphore *s, fsched_cause cause, fs_batch *b) {
  assert(b->s == s);
  cause = cause == FSCHED_CAUSE_NONE ? FSCHED_CAUSE_SYSTEM : cause;
  if (s->shared.page == NULL) {
    return fs_sem_fail(s, cause, atomic_load(&s->value), b);
  }
  bool first = fs_shared_fail(&s->shared, cause);
  fs_sem_sync(s, b);
  return first;
}

int fsched_semaphore_fail(fsched_semaphore *s, fsched_cause cause) {
  if (fs_sem_foreign(s)) {
    return 0;
  }
  fs_batch b;
  fs_sem_begin(&b, s);
  fs_sem_lock(s);
  bool first = fs_sem_fail_all(s, cause, &b);
  fs_sem_deliver_and_unlock(&b);
  return first;
}

/* Other processes */

/* Follows the signals in the page up to the value: all goes into the whole, and the watermark rises
 * with them while they are trusted. */
static void follow(fsched_semaphore *s, uint64_t value, bool patient) {
  assert(s->shared.page != NULL);
  fs_shared_signal signal = {.known = s->scratch};
  uint64_t mark = atomic_load(&s->untainted);
  uint64_t old = s->walk.value;
  bool gap = false;
  fs_shared_resume(&s->shared, &s->walk, patient);
  for (uint32_t i = 0; i < s->limit && fs_shared_next(&s->shared, &s->walk, value, &signal, &gap);
       i++) {
    bool exact = add_to_whole(s, &signal.known);
    if (exact && signal.trusted && signal.value > old && signal.previous <= mark) {
      mark = fs_max(mark, signal.value);
    }
    s->lossy |= gap;
  }
  s->lossy |= gap || fs_shared_lossy(&s->shared);
  trust(s, mark);
}

void fs_sem_sync(fsched_semaphore *s, fs_batch *b) {
  assert(b->s == s);
  /* The failure is read first: the value read after it is not below its end. */
  uint64_t end = UINT64_MAX;
  fsched_cause cause = fs_shared_cause(&s->shared, &end);
  uint64_t old = atomic_load(&s->value);
  uint64_t value = fs_max(old, fs_shared_value(&s->shared));
  follow(s, value, value > old);
  /* First the values up to the end, then the failure, then the rest: no reader takes later values
   * for reached.  Values found reached here stay so, even where a signal and the failure came
   * together. */
  end = fs_min(fs_max(old, end), value);
  atomic_store(&s->value, end);
  fs_sem_collect(s, end, b);
  if (cause != FSCHED_CAUSE_NONE) {
    (void)fs_sem_fail(s, cause, end, b);
  }
  atomic_store(&s->value, value);
}

void fsched_semaphore_poll(fsched_semaphore *s) {
  if (s->shared.page == NULL || fs_sem_foreign(s)) {
    return;
  }
  fs_batch b;
  fs_sem_begin(&b, s);
  fs_sem_lock(s);
  fs_sem_sync(s, &b);
  fs_sem_deliver_and_unlock(&b);
}
