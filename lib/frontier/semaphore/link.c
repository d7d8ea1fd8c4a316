/* SPDX-License-Identifier: Apache-2.0 */
/* Links, and the thread that watches the page of a system-wide semaphore.
 *
 * A link is a timepoint at its source with room for the frontier that it forwards and for the batch
 * of its target.  It has two references, the source's and the handle's, and holds the memory of
 * both semaphores, but keeps neither from being destroyed: two semaphores that are linked to each
 * other can still be freed. */
#include <signal.h>

#include "base/context.h"
#include "frontier/semaphore/private.h"

/* Links */

static fsched_link *allocate_link(fsched_semaphore *from) {
  size_t size = sizeof(fsched_link) + from->capacity * sizeof(fsched_frontier_entry);
  fs_sem_lock(from);
  fsched_link *link = fs_realloc(from->ctx, NULL, 0, size);
  fs_sem_unlock(from);
  if (link != NULL) {
    *link = (fsched_link){.from = from, .size_bytes = size};
  }
  return link;
}

void fs_link_drop(fsched_link *link) {
  assert(atomic_load(&link->references) > 0);
  if (atomic_fetch_sub_explicit(&link->references, 1, memory_order_acq_rel) != 1) {
    return;
  }
  fsched_semaphore *from = link->from;
  fsched_semaphore *to = link->to;
  fs_sem_lock(from);
  (void)fs_realloc(from->ctx, link, link->size_bytes, 0);
  fs_sem_unlock(from);
  fs_sem_drop(to);
  fs_sem_drop(from);
}

void fs_link_relay(fsched_link *link, fsched_cause cause) {
  assert(atomic_load(&link->references) > 0);
  fsched_semaphore *to = link->to;
  fs_batch *b = &link->batch;
  fs_sem_lock(to);
  if (to->released) { /* the link does nothing: other processes may use its page */
    fs_sem_unlock(to);
    return;
  }
  if (cause != FSCHED_CAUSE_NONE) {
    (void)fs_sem_fail_all(to, cause, b);
  } else {
    fs_raise r = {.value = link->to_value, .known = &link->known, .trusted = link->trusted};
    bool stuck = fs_sem_raise(to, &r, b) == FSCHED_SYSTEM;
    if (stuck && fs_sem_outcome(to, r.value, &cause) == FS_OPEN) { /* waiters are told */
      (void)fs_sem_fail_all(to, FSCHED_CAUSE_SYSTEM, b);
    }
  }
  fs_sem_unlock(to);
}

/* The link's timepoint waits at the source, or is chosen at once. */
static fs_status start_link(fsched_link *link, fs_batch *b) {
  fsched_semaphore *from = link->from;
  if (from->shared.page != NULL) {
    fs_sem_sync(from, b);
    FS_TRY(fs_sem_watch(from));
  }
  fs_sem_add(from, link->value, &link->point, FS_KIND_LINK);
  fsched_cause cause;
  fs_outcome outcome = fs_sem_outcome(from, link->value, &cause);
  if (outcome == FS_REACHED) {
    fs_sem_collect(from, link->value, b);
  } else if (outcome == FS_BROKEN) {
    fs_sem_break(from, cause, b);
  }
  return FSCHED_OK;
}

fsched_status fsched_semaphore_link(fsched_semaphore *from, uint64_t value, fsched_semaphore *to,
                                    uint64_t to_value, fsched_link **out) {
  if (out != NULL) {
    *out = NULL;
  }
  if (fs_sem_foreign(from) || fs_sem_foreign(to)) {
    return FSCHED_USAGE;
  }
  fsched_link *link = allocate_link(from);
  if (link == NULL) {
    return FSCHED_SYSTEM;
  }
  link->to = to;
  link->value = value;
  link->to_value = to_value;
  link->known = (fsched_frontier){.entry = link->entry, .capacity = from->capacity};
  link->point.known = &link->known;
  fs_sem_begin(&link->batch, to);
  link->batch.link = link;
  atomic_init(&link->references, 2);
  fs_sem_hold(from);
  fs_sem_hold(to);
  fs_batch b;
  fs_sem_begin(&b, from);
  fs_sem_lock(from);
  fs_status status = start_link(link, &b);
  fs_sem_deliver_and_unlock(&b);
  if (status != FSCHED_OK) {
    fs_link_drop(link);
    fs_link_drop(link);
  } else if (out != NULL) {
    *out = link;
  } else {
    fs_link_drop(link);
  }
  return status;
}

int fsched_semaphore_unlink(fsched_link *link) {
  if (link == NULL || fs_sem_foreign(link->from)) {
    return 0;
  }
  int removed = fsched_semaphore_cancel(link->from, &link->point);
  if (removed) {
    fs_link_drop(link);
  }
  fs_link_drop(link);
  return removed;
}

/* Watching */

/* Whether this thread is a watcher.  A thread that releases a semaphore waits for its watcher, so
 * that no callback runs on, but a watcher must not wait for another one. */
static _Thread_local bool is_watcher;

static void *watch(void *user) {
  fsched_semaphore *s = user;
  is_watcher = true;
  for (;;) {
    uint32_t turn = fs_shared_turn(&s->shared);
    if (atomic_load(&s->stop) != 0) {
      break;
    }
    fsched_semaphore_poll(s);
    fs_shared_sleep(&s->shared, turn, UINT64_MAX);
  }
  fs_sem_drop(s);
  return NULL;
}

fs_status fs_sem_watch(fsched_semaphore *s) {
  if (s->shared.page == NULL || s->watched) {
    return FSCHED_OK;
  }
  sigset_t all;
  sigset_t old;
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &old); /* signals go to the user's threads */
  fs_sem_hold(s);
  s->watched = pthread_create(&s->watcher, NULL, watch, s) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (!s->watched) {
    fs_sem_drop(s); /* not the last hold */
  }
  return s->watched ? FSCHED_OK : FSCHED_SYSTEM;
}

void fs_sem_unwatch(fsched_semaphore *s) {
  if (!s->watched) {
    return;
  }
  atomic_store(&s->stop, 1);
  fs_shared_wake(&s->shared);
  if (is_watcher) { /* two watchers that released each other's semaphores would wait for ever */
    (void)pthread_detach(s->watcher);
  } else {
    (void)pthread_join(s->watcher, NULL);
  }
}
