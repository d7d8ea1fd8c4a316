/* SPDX-License-Identifier: Apache-2.0 */
/* Fences: an array of points, one for each timeline, in the order of the timelines' addresses, so
 * that equal timelines meet when fences are joined; the order has no influence on anything else. */
#include "exec/context/fence.h"

#include <stdlib.h>

#include "base/context.h"
#include "base/futex.h"

/* Points that compare equal are equal in every member.  A timeline is found by its address; a fence
 * promises no order among its timelines. */
static int by_timeline(const void *a, const void *b) {
  const fsched_fence_point *x = a, *y = b;
  uintptr_t s = (uintptr_t)x->timeline, t = (uintptr_t)y->timeline;
  if (s != t) {
    return s < t ? -1 : 1;
  }
  return x->value < y->value ? -1 : x->value > y->value;
}

static size_t fence_size(uint32_t n) {
  return sizeof(fsched_fence) + n * sizeof(fsched_fence_point);
}

static fs_status allocate_fence(fsched_context *ctx, uint64_t n, fsched_fence **out) {
  *out = NULL;
  if (n > UINT32_MAX / 64) {
    return fs_no_memory(ctx, SIZE_MAX);
  }
  fs_allocator a = fs_allocator_of(ctx);
  fsched_fence *f = fs_allocator_new(a, fence_size((uint32_t)n));
  if (f == NULL) {
    return fs_no_memory(ctx, fence_size((uint32_t)n));
  }
  f->allocator = a;
  f->room = (uint32_t)n;
  f->n = 0;
  atomic_init(&f->references, 1);
  *out = f;
  return FSCHED_OK;
}

/* Keeps the highest point of each timeline. */
static void tidy(fsched_fence *f) {
  uint32_t kept = 0;
  qsort(f->points, f->n, sizeof *f->points, by_timeline);
  for (uint32_t i = 0; i < f->n; i++) {
    bool last = i + 1 == f->n || f->points[i + 1].timeline != f->points[i].timeline;
    if (last) {
      f->points[kept++] = f->points[i];
    }
  }
  f->n = kept;
  for (uint32_t i = 0; i < kept; i++) {
    fsched_semaphore_retain(f->points[i].timeline);
  }
}

fsched_status fsched_fence_create(fsched_context *ctx, const fsched_fence_point *points, uint32_t n,
                                  fsched_fence **out) {
  *out = NULL;
  if (points == NULL && n > 0) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL,
                   "a fence of %u points was given no array of them", n);
  }
  for (uint32_t i = 0; i < n; i++) {
    bool none = points[i].timeline == NULL;
    if (none || fsched_semaphore_scope(points[i].timeline) == FSCHED_SCOPE_QUEUE) {
      return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL,
                     "point %u of a fence has %s", i,
                     none ? "no timeline" : "a queue-local timeline");
    }
  }
  FS_TRY(allocate_fence(ctx, n, out));
  for (uint32_t i = 0; i < n; i++) {
    (*out)->points[i] = points[i];
  }
  (*out)->n = n;
  tidy(*out);
  return FSCHED_OK;
}

fsched_status fsched_fence_join(fsched_context *ctx, fsched_fence *const *fences, uint32_t n,
                                fsched_fence **out) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < n; i++) {
    total += fences[i] == NULL ? 0 : fences[i]->n;
  }
  FS_TRY(allocate_fence(ctx, total, out));
  for (uint32_t i = 0; i < n; i++) {
    if (fences[i] != NULL) {
      memcpy((*out)->points + (*out)->n, fences[i]->points,
             fences[i]->n * sizeof *fences[i]->points);
      (*out)->n += fences[i]->n;
    }
  }
  tidy(*out);
  return FSCHED_OK;
}

void fsched_fence_retain(fsched_fence *fence) {
  if (fence != NULL) {
    atomic_fetch_add_explicit(&fence->references, 1, memory_order_relaxed);
  }
}

void fsched_fence_release(fsched_fence *fence) {
  if (fence == NULL ||
      atomic_fetch_sub_explicit(&fence->references, 1, memory_order_acq_rel) != 1) {
    return;
  }
  for (uint32_t i = 0; i < fence->n; i++) {
    fsched_semaphore_release(fence->points[i].timeline);
  }
  fs_allocator_free(fence->allocator, fence, fence_size(fence->room));
}

uint32_t fsched_fence_points(const fsched_fence *fence, const fsched_fence_point **points) {
  *points = fence == NULL ? NULL : fence->points;
  return fence == NULL ? 0 : fence->n;
}

/* Raises all points, even if one fails, as there may be waiters for the others. */
static fs_status raise_all(fsched_fence *fence, const fsched_frontier *known,
                           fs_status (*raise)(const fsched_fence_point *point,
                                              const fsched_frontier *known)) {
  fs_status status = FSCHED_OK;
  if (fence == NULL) {
    return status;
  }
  fsched_fence_retain(fence); /* a waiter may release it as soon as the last point is signalled */
  for (uint32_t i = 0; i < fence->n; i++) {
    fs_status one = raise(&fence->points[i], known);
    status = status == FSCHED_OK ? one : status;
  }
  fsched_fence_release(fence);
  return status;
}

/* Signals a point.  A value that is reached already keeps its frontier. */
static fs_status raise_plainly(const fsched_fence_point *p, const fsched_frontier *known) {
  fs_status status = fsched_semaphore_signal(p->timeline, p->value, known);
  bool before = status == FSCHED_USAGE && fsched_semaphore_value(p->timeline) >= p->value;
  return before ? FSCHED_OK : status;
}

fsched_status fsched_fence_signal(fsched_fence *fence) {
  return raise_all(fence, &(fsched_frontier){.tainted = 1}, raise_plainly);
}

static fs_status raise_known(const fsched_fence_point *p, const fsched_frontier *known) {
  return fsched_semaphore_publish(p->timeline, p->value, known);
}

fsched_status fsched_fence_publish(fsched_fence *fence, const fsched_frontier *known) {
  if (known != NULL && fsched_frontier_validate(known) != FSCHED_OK) {
    return FSCHED_BAD_INPUT;
  }
  return raise_all(fence, known, raise_known);
}

/* Checks first that all points are reached, so that an unreached fence leaves `into` unchanged. */
fsched_status fsched_fence_learn(fsched_fence *fence, fsched_frontier *into) {
  fs_status status = fsched_frontier_validate(into);
  for (uint32_t i = 0; status == FSCHED_OK && fence != NULL && i < fence->n; i++) {
    const fsched_fence_point *p = &fence->points[i];
    status = fsched_semaphore_reached(p->timeline, p->value) ? FSCHED_OK : FSCHED_INFEASIBLE;
  }
  for (uint32_t i = 0; status == FSCHED_OK && fence != NULL && i < fence->n; i++) {
    const fsched_fence_point *p = &fence->points[i];
    status = fsched_semaphore_learn(p->timeline, p->value, into);
    into->tainted |= status == FSCHED_OK && fsched_semaphore_tainted(p->timeline, p->value);
  }
  return status;
}

void fsched_fence_fail(fsched_fence *fence, fsched_cause cause) {
  if (fence == NULL) {
    return;
  }
  fsched_fence_retain(fence);
  for (uint32_t i = 0; i < fence->n; i++) {
    (void)fsched_semaphore_fail(fence->points[i].timeline, cause);
  }
  fsched_fence_release(fence);
}

void fs_fence_settle(fsched_fence *fence, fsched_cause cause, const fsched_frontier *known) {
  if (cause == FSCHED_CAUSE_NONE) {
    cause =
        fsched_fence_publish(fence, known) == FSCHED_OK ? FSCHED_CAUSE_NONE : FSCHED_CAUSE_SYSTEM;
  }
  if (cause != FSCHED_CAUSE_NONE) {
    fsched_fence_fail(fence, cause);
  }
}

fsched_cause fs_fence_failed(const fsched_fence *fence) {
  for (uint32_t i = 0; fence != NULL && i < fence->n; i++) {
    const fsched_fence_point *p = &fence->points[i];
    fsched_cause cause = fsched_semaphore_cause(p->timeline);
    if (cause != FSCHED_CAUSE_NONE && !fsched_semaphore_reached(p->timeline, p->value)) {
      return cause;
    }
  }
  return FSCHED_CAUSE_NONE;
}

bool fs_fence_promises(const fsched_fence *fence, const fsched_semaphore *s, uint64_t value) {
  assert(s != NULL);
  uint32_t low = 0, high = fence == NULL ? 0 : fence->n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if ((uintptr_t)fence->points[middle].timeline < (uintptr_t)s) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return fence != NULL && low < fence->n && fence->points[low].timeline == s &&
         fence->points[low].value >= value;
}

static fsched_cause wait_with(const fsched_fence *fence, fsched_wait_point *points,
                              uint64_t timeout_ns) {
  for (uint32_t i = 0; i < fence->n; i++) {
    points[i] = (fsched_wait_point){.semaphore = fence->points[i].timeline,
                                    .value = fence->points[i].value};
  }
  fsched_wait_result result;
  return fsched_semaphore_wait_many(points, fence->n, FSCHED_WAIT_ALL, timeout_ns, &result) ==
                 FSCHED_OK
             ? result.cause
             : FSCHED_CAUSE_SYSTEM;
}

/* Waits for all points at once, so that the first failure ends the wait. */
fsched_cause fsched_fence_wait(fsched_fence *fence, uint64_t timeout_ns) {
  enum { ON_STACK = 32 };
  if (fence == NULL || fence->n == 0) {
    return FSCHED_CAUSE_NONE;
  }
  if (fence->n <= ON_STACK) {
    fsched_wait_point points[ON_STACK];
    return wait_with(fence, points, timeout_ns);
  }
  size_t size = fence->n * sizeof(fsched_wait_point);
  fsched_wait_point *points = fs_allocator_new(fence->allocator, size);
  fsched_cause cause = points == NULL ? FSCHED_CAUSE_SYSTEM : wait_with(fence, points, timeout_ns);
  fs_allocator_free(fence->allocator, points, size);
  return cause;
}

/* Waiting by callback
 *
 * The count starts at one more than there are points, so that the callback does not come before all
 * are registered.  The thread that meets the first failure takes the other points back and counts
 * itself last: until then the wait stays in place.  A point may be registered after the failing
 * thread has passed it by.  The registering thread looks for a failure afterwards, and takes the
 * point back itself. */

static void call_back(fs_step *step) {
  fs_fence_wait *wait = (fs_fence_wait *)(void *)((char *)step - offsetof(fs_fence_wait, step));
  wait->callback(wait, atomic_load(&wait->cause));
}

static void arrive(fs_fence_wait *wait) {
  if (atomic_fetch_sub(&wait->left, 1) == 1) {
    wait->step.run = call_back;
    fs_step_run(&wait->step);
  }
}

static void take_back(fs_fence_wait *wait, uint32_t i) {
  if (fsched_semaphore_cancel(wait->fence->points[i].timeline, &wait->parts[i].timepoint)) {
    arrive(wait);
  }
}

static void give_up(fs_fence_wait *wait, fsched_cause cause) {
  fsched_cause none = FSCHED_CAUSE_NONE;
  if (atomic_compare_exchange_strong(&wait->cause, &none, cause)) {
    for (uint32_t i = 0; i < wait->n; i++) {
      take_back(wait, i);
    }
  }
}

static void settle_wait(fs_fence_wait *wait, fsched_cause cause) {
  if (cause != FSCHED_CAUSE_NONE) {
    give_up(wait, cause);
  }
  arrive(wait);
}

void fs_fence_wait_cancel(fs_fence_wait *wait, fsched_cause cause) {
  assert(cause != FSCHED_CAUSE_NONE);
  uint32_t left = atomic_load(&wait->left);
  do {
    if (left == 0) {
      return;
    }
  } while (!atomic_compare_exchange_weak(&wait->left, &left, left + 1));
  settle_wait(wait, cause);
}

/* A value above the watermark was signalled without a complete frontier. */
static void point_reached(fsched_timepoint *t, fsched_cause cause) {
  fs_steps_own();
  fs_fence_wait *wait = t->user;
  fs_fence_part *part = (fs_fence_part *)(void *)t;
  if (cause == FSCHED_CAUSE_NONE && t->known != NULL) {
    const fsched_fence_point *p = &wait->fence->points[part - wait->parts];
    part->known.tainted |= fsched_semaphore_tainted(p->timeline, p->value);
  }
  settle_wait(wait, cause);
}

static size_t wait_size(const fs_fence_wait *wait) {
  return wait->n * (sizeof *wait->parts + wait->capacity * sizeof(fsched_frontier_entry));
}

fs_status fs_fence_wait_init_learning(fsched_context *ctx, fs_allocator allocator,
                                      fs_fence_wait *wait, fsched_fence *fence, uint32_t capacity) {
  wait->n = fence == NULL ? 0 : fence->n;
  wait->fence = fence;
  wait->allocator = allocator;
  wait->capacity = capacity;
  wait->parts = NULL;
  atomic_init(&wait->left, wait->n + 1);
  atomic_init(&wait->cause, FSCHED_CAUSE_NONE);
  if (wait->n > 0) {
    wait->parts = fs_allocator_new(wait->allocator, wait_size(wait));
    if (wait->parts == NULL) {
      return fs_no_memory(ctx, wait_size(wait));
    }
    memset(wait->parts, 0, wait->n * sizeof *wait->parts);
    fsched_fence_retain(fence);
  }
  return FSCHED_OK;
}

fs_status fs_fence_wait_init(fsched_context *ctx, fs_allocator allocator, fs_fence_wait *wait,
                             fsched_fence *fence) {
  return fs_fence_wait_init_learning(ctx, allocator, wait, fence, 0);
}

static void begin_point(fs_fence_wait *wait, uint32_t i) {
  fs_fence_part *part = &wait->parts[i];
  fsched_timepoint *t = &part->timepoint;
  fsched_fence_point *point = &wait->fence->points[i];
  fsched_frontier_entry *entries = (fsched_frontier_entry *)(void *)(wait->parts + wait->n);
  if (wait->capacity > 0) {
    part->known = (fsched_frontier){.entry = entries + (size_t)i * wait->capacity,
                                    .capacity = wait->capacity};
    t->known = &part->known;
  }
  t->callback = point_reached;
  t->user = wait;
  if (fsched_semaphore_await(point->timeline, point->value, t, NULL) != FSCHED_OK) {
    settle_wait(wait, FSCHED_CAUSE_SYSTEM);
  } else if (atomic_load(&wait->cause) != FSCHED_CAUSE_NONE) {
    take_back(wait, i);
  }
}

void fs_fence_wait_begin(fs_fence_wait *wait) {
  assert(wait->callback != NULL);
  for (uint32_t i = 0; i < wait->n; i++) {
    begin_point(wait, i);
  }
  arrive(wait);
}

void fs_fence_wait_learnt(const fs_fence_wait *wait, fsched_frontier *into) {
  for (uint32_t i = 0; i < wait->n && wait->capacity > 0; i++) {
    fsched_frontier_merge(into, &wait->parts[i].known);
  }
}

void fs_fence_wait_free(fs_fence_wait *wait) {
  if (wait->n > 0 && wait->parts != NULL) {
    fs_allocator_free(wait->allocator, wait->parts, wait_size(wait));
    fsched_fence_release(wait->fence);
  }
  wait->parts = NULL;
}
