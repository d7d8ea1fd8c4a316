/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores: making, destroying and reading them.
 *
 * All changes are made under the semaphore's lock, which orders signals, failures and
 * registrations.  Readers take no lock: they read the value, then the cause, both sequentially
 * consistent.  If the value suffices and there is no cause yet, it was reached before any failure;
 * if there is a cause, `end`, written before it, says which values were reached.  A signal writes
 * history and watermark before the value, so a reader that has seen the value finds them. */
#include "fsched/semaphore.h"

#include "base/context.h"
#include "frontier/semaphore/private.h"
#include "model/sync.h"

_Static_assert((int)FSCHED_SCOPE_QUEUE == (int)FS_SCOPE_QUEUE + 1 &&
                   (int)FSCHED_SCOPE_SYSTEM == (int)FS_SCOPE_SYSTEM + 1,
               "the scopes of the compiler, after the default");

enum { DEFAULT_CAPACITY = 8, DEFAULT_HISTORY = 32 };

/* Locks and memory */

void fs_sem_lock(fsched_semaphore *s) {
  if (s->scope != FSCHED_SCOPE_QUEUE) {
    (void)pthread_mutex_lock(&s->lock);
  }
}

void fs_sem_unlock(fsched_semaphore *s) {
  if (s->scope != FSCHED_SCOPE_QUEUE) {
    (void)pthread_mutex_unlock(&s->lock);
  }
}

static void free_memory(fsched_semaphore *s) {
  fsched_context *ctx = s->ctx;
  fs_shared_close(&s->shared);
  fs_arena_release(&s->arena);
  (void)fs_realloc(ctx, s, sizeof *s, 0);
  fsched_context_destroy(ctx);
}

void fs_sem_hold(fsched_semaphore *s) {
  (void)atomic_fetch_add_explicit(&s->holds, 1, memory_order_relaxed);
}

void fs_sem_drop(fsched_semaphore *s) {
  if (atomic_fetch_sub_explicit(&s->holds, 1, memory_order_acq_rel) == 1) {
    (void)pthread_mutex_destroy(&s->lock);
    free_memory(s);
  }
}

/* Making */

static fs_status check_options(const fsched_semaphore_options *o) {
  bool good = o->size >= FS_SIZE_UP_TO(fsched_semaphore_options, scope) &&
              o->frontier_capacity <= FS_PAGE_MAX_CAPACITY &&
              o->history_limit <= FS_PAGE_MAX_SLOTS && (unsigned)o->scope <= FSCHED_SCOPE_SYSTEM;
  return good ? FSCHED_OK : FSCHED_USAGE;
}

static fs_status make_frontier(fsched_semaphore *s, fsched_frontier *f) {
  f->capacity = s->capacity;
  return fs_new(&s->arena, &f->entry, s->capacity);
}

static fs_status make_parts(fsched_semaphore *s) {
  FS_TRY(make_frontier(s, &s->whole));
  FS_TRY(make_frontier(s, &s->next));
  FS_TRY(make_frontier(s, &s->scratch));
  if (s->shared.page != NULL) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(&s->arena, &s->past, s->limit));
  fsched_frontier_entry *entry;
  FS_TRY(fs_new(&s->arena, &entry, (size_t)s->limit * s->capacity));
  for (uint32_t i = 0; i < s->limit; i++) {
    s->past[i].known =
        (fsched_frontier){.entry = entry + (size_t)i * s->capacity, .capacity = s->capacity};
  }
  return FSCHED_OK;
}

/* Allocates an empty semaphore; its sizes and first value are still to be set. */
static fs_status allocate_semaphore(const fsched_semaphore_options *o, fsched_semaphore **out) {
  fsched_context_options c = {.size = sizeof c, .reallocate = o->reallocate, .user = o->user};
  fsched_context *ctx;
  FS_TRY(fsched_context_create(&c, &ctx));
  fsched_semaphore *s = fs_realloc(ctx, NULL, 0, sizeof *s);
  if (s == NULL) {
    fsched_context_destroy(ctx);
    return FSCHED_SYSTEM;
  }
  *s = (fsched_semaphore){.ctx = ctx, .birth = fs_process_birth(), .scope = o->scope};
  atomic_init(&s->references, 1);
  atomic_init(&s->holds, 1);
  fs_arena_init(&s->arena, ctx);
  *out = s;
  return FSCHED_OK;
}

static fs_status finish_semaphore(fsched_semaphore *s, fs_status status, fsched_semaphore **out) {
  atomic_init(&s->value, s->initial);
  atomic_init(&s->untainted, s->initial);
  s->forgotten = s->walk.value = s->initial;
  status = status == FSCHED_OK ? make_parts(s) : status;
  if (status == FSCHED_OK && pthread_mutex_init(&s->lock, NULL) != 0) {
    status = FSCHED_SYSTEM;
  }
  if (status != FSCHED_OK) {
    free_memory(s);
    return status;
  }
  *out = s;
  return FSCHED_OK;
}

/* The caller's options with the defaults filled in. */
static fs_status read_options(const fsched_semaphore_options *options,
                              fsched_semaphore_options *o) {
  *o = (fsched_semaphore_options){.size = sizeof *o};
  if (options != NULL) {
    FS_TRY(check_options(options));
    memcpy(o, options, options->size < sizeof *o ? options->size : sizeof *o);
  }
  o->frontier_capacity = o->frontier_capacity == 0 ? DEFAULT_CAPACITY : o->frontier_capacity;
  o->history_limit = o->history_limit == 0 ? DEFAULT_HISTORY : o->history_limit;
  o->scope = o->scope == FSCHED_SCOPE_DEFAULT ? FSCHED_SCOPE_PROCESS : o->scope;
  return FSCHED_OK;
}

fsched_status fsched_semaphore_create(const fsched_semaphore_options *options,
                                      fsched_semaphore **out) {
  *out = NULL;
  fsched_semaphore_options o;
  fsched_semaphore *s;
  FS_TRY(read_options(options, &o));
  FS_TRY(allocate_semaphore(&o, &s));
  s->initial = o.initial;
  s->capacity = o.frontier_capacity;
  s->limit = o.history_limit;
  fs_status status = FSCHED_OK;
  if (o.scope == FSCHED_SCOPE_SYSTEM) {
    status = fs_shared_create(&s->shared, o.initial, s->capacity, s->limit);
  }
  return finish_semaphore(s, status, out);
}

fsched_status fsched_semaphore_import(const fsched_semaphore_options *options, int fd,
                                      fsched_semaphore **out) {
  *out = NULL;
  fsched_semaphore_options o;
  fsched_semaphore *s;
  FS_TRY(read_options(options, &o));
  FS_TRY(allocate_semaphore(&o, &s));
  s->scope = FSCHED_SCOPE_SYSTEM;
  fs_status status = fs_shared_open(&s->shared, fd);
  s->initial = s->shared.initial;
  s->capacity = s->shared.capacity;
  s->limit = s->shared.slots;
  FS_TRY(finish_semaphore(s, status, out));
  fsched_semaphore_poll(s);
  return FSCHED_OK;
}

fsched_status fsched_semaphore_export(fsched_semaphore *s, int *fd) {
  return s->shared.page == NULL ? FSCHED_USAGE : fs_shared_dup(&s->shared, fd);
}

void fsched_semaphore_retain(fsched_semaphore *s) {
  (void)atomic_fetch_add_explicit(&s->references, 1, memory_order_relaxed);
}

void fsched_semaphore_release(fsched_semaphore *s) {
  if (s == NULL || fs_sem_foreign(s) ||
      atomic_fetch_sub_explicit(&s->references, 1, memory_order_acq_rel) != 1) {
    return;
  }
  fs_batch b;
  fs_sem_begin(&b, s);
  fs_sem_lock(s);
  s->released = true;
  (void)fs_sem_fail(s, FSCHED_CAUSE_CANCELLED, atomic_load(&s->value), &b);
  if (s->shared.page != NULL) {
    fs_shared_wake(&s->shared); /* threads of this process that sleep on it */
  }
  fs_sem_deliver_and_unlock(&b);
  fs_sem_unwatch(s); /* last: a callback that it is running may wait for the waiters just
                      * cancelled */
  fs_sem_drop(s);
}

/* Reading */

uint64_t fsched_semaphore_value(const fsched_semaphore *s) {
  uint64_t value = atomic_load(&s->value);
  return s->shared.page == NULL ? value : fs_max(value, fs_shared_value(&s->shared));
}

fsched_cause fsched_semaphore_cause(const fsched_semaphore *s) {
  fsched_cause cause = atomic_load(&s->cause);
  uint64_t end;
  return cause != FSCHED_CAUSE_NONE || s->shared.page == NULL ? cause
                                                              : fs_shared_cause(&s->shared, &end);
}

fs_outcome fs_sem_outcome(const fsched_semaphore *s, uint64_t value, fsched_cause *cause) {
  bool reached = value <= atomic_load(&s->value);
  *cause = atomic_load(&s->cause);
  if (*cause != FSCHED_CAUSE_NONE) {
    return value <= s->end ? FS_REACHED : FS_BROKEN;
  }
  return reached ? FS_REACHED : FS_OPEN;
}

int fsched_semaphore_reached(const fsched_semaphore *s, uint64_t value) {
  fsched_cause cause;
  fs_outcome outcome = fs_sem_outcome(s, value, &cause);
  if (outcome != FS_OPEN || s->shared.page == NULL) {
    return outcome == FS_REACHED;
  }
  /* Reads the page in the same order. */
  uint64_t end = UINT64_MAX;
  bool reached = value <= fs_shared_value(&s->shared);
  return reached && (fs_shared_cause(&s->shared, &end) == FSCHED_CAUSE_NONE || value <= end);
}

fsched_scope fsched_semaphore_scope(const fsched_semaphore *s) { return s->scope; }

uint64_t fsched_semaphore_untainted(const fsched_semaphore *s) {
  return atomic_load(&s->untainted);
}

int fsched_semaphore_tainted(const fsched_semaphore *s, uint64_t value) {
  return value > atomic_load(&s->untainted);
}

uint32_t fsched_semaphore_frontier(fsched_semaphore *s, fsched_frontier_entry *out, uint32_t room,
                                   int *lossy) {
  if (fs_sem_foreign(s)) {
    if (lossy != NULL) {
      *lossy = 1;
    }
    return 0;
  }
  fsched_semaphore_poll(s);
  fs_sem_lock(s);
  uint32_t n = s->whole.n;
  if (n > 0 && room > 0) { /* `out` may be NULL without room */
    memcpy(out, s->whole.entry, (n < room ? n : room) * sizeof *out);
  }
  if (lossy != NULL) {
    *lossy = s->lossy;
  }
  fs_sem_unlock(s);
  return n;
}
