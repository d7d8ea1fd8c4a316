/* SPDX-License-Identifier: Apache-2.0 */
/* The tracker's calls that release no waiters: making it, registering, reading, and the fast half
 * of advancing.
 *
 * A waiter is in the heap of one axis at a time, the first of its frontier that it has not found
 * reached (tracker/wait.c).  So an advance looks at no frontier that does not wait for this axis
 * now, and at none at all while its epoch is below `wanted`:
 *
 *     writer:  epoch = e;    compiler barrier;   if (e >= wanted) take the lock, look
 *     waiter:  (locked)  wanted = w, if lower;   heavy fence;   read epoch again, go if reached
 *
 * Why no wake-up is lost: the heavy fence puts a full barrier into the writer's thread at some
 * moment.  If that is after the writer's store, the store is visible to the waiter's second read.
 * If it is before, so is it before the load that follows the store, and the load finds the lower
 * `wanted`.  A waiter that need not lower `wanted` needs no fence of its own, once the fence of the
 * one that lowered it has passed: each advance that could be missed from then on finds `wanted`.
 * Until then it shares that fence, and reads the epoch again after it as well (`lowered`).  Raising
 * `wanted` needs no fence: an advance that matters to any waiter in the heap is at or above both
 * values.  Without membarrier all four accesses are sequentially consistent, so one of the two
 * sides comes second in their total order and sees the other; release and acquire alone would allow
 * both to miss.
 *
 * Ending an axis publishes `life` the same way before it reads the epoch at which it ends, so a
 * reader who sees an epoch that came too late sees that the axis is ending too, and asks under the
 * lock. */
#include "fsched/tracker.h"

#include "base/context.h"
#include "frontier/tracker/fence.h"
#include "frontier/tracker/private.h"

/* Making */

static bool check_options(const fsched_tracker_options *o) {
  return o != NULL && o->size >= FS_SIZE_UP_TO(fsched_tracker_options, max_axes);
}

static uint32_t table_bits(uint32_t max_axes) {
  uint32_t bits = 1;
  while ((uint64_t)1 << bits < (uint64_t)max_axes * 2) {
    bits++;
  }
  return bits;
}

static bool heavy_fence(fsched_tracker *t) {
  (void)t;
  return fs_heavy_fence();
}

/* Replaces the fence: all accesses, including the waiters', are then sequentially consistent. */
static bool no_fence(fsched_tracker *t) {
  (void)t;
  return true;
}

static fs_status make_tracker(fsched_tracker *t) {
  uint32_t bits = table_bits(t->max_axes);
  t->shift = 64 - bits;
  FS_TRY(fs_new_zero(&t->arena, &t->table, (size_t)1 << bits));
  unsigned char *raw;
  FS_TRY(fs_new_zero(&t->arena, &raw, ((size_t)t->max_axes + 1) * sizeof *t->axis));
  t->axis = (fsched_tracked *)(void *)(raw + (-(uintptr_t)raw & (FS_TRACKED_ALIGN - 1)));
  t->fenced = !fs_heavy_fence_prepare();
  t->fence = t->fenced ? no_fence : heavy_fence;
  return pthread_mutex_init(&t->lock, NULL) == 0 ? FSCHED_OK : FSCHED_SYSTEM;
}

static void release(fsched_tracker *t) {
  fsched_context *ctx = t->ctx;
  fs_arena_release(&t->arena);
  (void)fs_realloc(ctx, t, sizeof *t, 0);
  fsched_context_destroy(ctx);
}

fsched_status fsched_tracker_create(const fsched_tracker_options *options, fsched_tracker **out) {
  *out = NULL;
  if (!check_options(options)) {
    return FSCHED_USAGE;
  }
  fsched_context_options o = {
      .size = sizeof o, .reallocate = options->reallocate, .user = options->user};
  fsched_context *ctx;
  FS_TRY(fsched_context_create(&o, &ctx));
  fsched_tracker *t = fs_realloc(ctx, NULL, 0, sizeof *t);
  if (t == NULL) {
    fsched_context_destroy(ctx);
    return FSCHED_SYSTEM;
  }
  *t = (fsched_tracker){.ctx = ctx, .max_axes = options->max_axes};
  t->pending.next = t->pending.previous = &t->pending;
  fs_arena_init(&t->arena, ctx);
  fs_status status = make_tracker(t);
  if (status != FSCHED_OK) {
    release(t);
    return status;
  }
  *out = t;
  return FSCHED_OK;
}

void fs_tracker_use_fences(fsched_tracker *t) {
  assert(t->n_axes == 0);
  t->fenced = true;
  t->fence = no_fence;
}

void fsched_tracker_destroy(fsched_tracker *t) {
  if (t == NULL) {
    return;
  }
  fs_tracker_close(t);
  (void)pthread_mutex_destroy(&t->lock);
  release(t);
}

/* Axes */

static uint64_t home_of(const fsched_tracker *t, fsched_axis axis) {
  return axis * 0x9e3779b97f4a7c15u >> t->shift;
}

/* The axis' place, or the empty one where it would be; *found is the axis there, or NULL.  Readers
 * need no lock: the release store and the acquire load hand the axis' first state over. */
static uint64_t place_of(const fsched_tracker *t, fsched_axis axis, fsched_tracked **found) {
  uint64_t mask = UINT64_MAX >> t->shift;
  for (uint64_t i = home_of(t, axis);; i = (i + 1) & mask) {
    *found = atomic_load_explicit(&t->table[i], memory_order_acquire);
    if (*found == NULL || atomic_load(&(*found)->axis) == axis) {
      return i;
    }
  }
}

/* An axis that is not found may have been moved during the search. */
fsched_tracked *fsched_tracker_find(const fsched_tracker *t, fsched_axis axis) {
  for (;;) {
    uint64_t moves = atomic_load(&t->moves);
    fsched_tracked *a;
    (void)place_of(t, axis, &a);
    if (a != NULL || (moves % 2 == 0 && atomic_load(&t->moves) == moves)) {
      return a;
    }
  }
}

/* Empties the place and moves later ones, up to the next empty one, that searches would no longer
 * find; each is in two places for a moment, never in none. */
static void clear_place(fsched_tracker *t, uint64_t hole) {
  uint64_t mask = UINT64_MAX >> t->shift;
  atomic_fetch_add(&t->moves, 1);
  for (uint64_t i = (hole + 1) & mask;; i = (i + 1) & mask) {
    fsched_tracked *a = atomic_load(&t->table[i]);
    if (a == NULL) {
      break;
    }
    uint64_t from_home = (i - home_of(t, atomic_load(&a->axis))) & mask;
    if (from_home >= ((i - hole) & mask)) {
      atomic_store(&t->table[hole], a);
      hole = i;
    }
  }
  atomic_store(&t->table[hole], NULL);
  atomic_fetch_add(&t->moves, 1);
}

/* Returns memory for one more axis; NULL when there is none. */
static fsched_tracked *take_free(fsched_tracker *t) {
  assert(t->n_axes <= t->max_axes);
  fsched_tracked *a = t->free;
  if (a != NULL) {
    t->free = a->next_free;
  } else if (t->n_axes < t->max_axes) {
    a = &t->axis[t->n_axes++];
  }
  return a;
}

static fs_status add_axis(fsched_tracker *t, fsched_axis axis, fsched_tracked **out) {
  fsched_tracked *a;
  uint64_t place = place_of(t, axis, &a);
  if (a != NULL) {
    return FSCHED_USAGE;
  }
  a = take_free(t);
  if (a == NULL) {
    return FSCHED_INFEASIBLE;
  }
  a->tracker = t;
  a->fenced = t->fenced;
  a->lowered = false;
  a->end = 0;
  a->cause = FSCHED_CAUSE_NONE;
  atomic_store(&a->epoch, 0);
  atomic_store(&a->wanted, UINT64_MAX);
  atomic_store(&a->life, FS_ALIVE);
  atomic_store(&a->axis, axis);
  atomic_store_explicit(&t->table[place], a, memory_order_release);
  *out = a;
  return FSCHED_OK;
}

fsched_status fsched_tracker_register(fsched_tracker *t, fsched_axis axis, fsched_tracked **out) {
  (void)pthread_mutex_lock(&t->lock);
  fs_status status = add_axis(t, axis, out);
  (void)pthread_mutex_unlock(&t->lock);
  return status;
}

fsched_status fsched_tracker_forget(fsched_tracked *a) {
  fsched_tracker *t = a->tracker;
  (void)pthread_mutex_lock(&t->lock);
  bool ended = atomic_load(&a->life) != FS_ALIVE;
  if (ended) {
    assert(a->waiters == NULL);
    fsched_tracked *found;
    uint64_t place = place_of(t, atomic_load(&a->axis), &found);
    assert(found == a);
    clear_place(t, place);
    a->next_free = t->free;
    t->free = a;
  }
  (void)pthread_mutex_unlock(&t->lock);
  return ended ? FSCHED_OK : FSCHED_USAGE;
}

/* Advancing and reading */

uint32_t fsched_tracker_advance(fsched_tracked *a, uint64_t epoch) {
  if (epoch <= atomic_load_explicit(&a->epoch, memory_order_relaxed)) {
    return 0;
  }
  uint64_t wanted;
  if (a->fenced) {
    atomic_store(&a->epoch, epoch);
    wanted = atomic_load(&a->wanted);
  } else {
    atomic_store_explicit(&a->epoch, epoch, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    wanted = atomic_load_explicit(&a->wanted, memory_order_relaxed);
  }
  return epoch < wanted ? 0 : fs_tracker_deliver(a);
}

int fsched_tracker_reached(const fsched_tracked *a, uint64_t epoch) {
  /* In this order, and sequentially consistent: see the end of the head of this file. */
  if (atomic_load(&a->epoch) < epoch) {
    return 0;
  }
  if (atomic_load(&a->life) == FS_ALIVE) {
    return 1;
  }
  fsched_tracker *t = a->tracker;
  (void)pthread_mutex_lock(&t->lock);
  int reached = epoch <= a->end;
  (void)pthread_mutex_unlock(&t->lock);
  return reached;
}

int fsched_tracker_satisfied(const fsched_tracker *t, const fsched_frontier *f) {
  if (f->tainted) {
    return 0;
  }
  for (uint32_t i = 0; i < f->n; i++) {
    const fsched_tracked *a = fsched_tracker_find(t, f->entry[i].axis);
    if (a == NULL || !fsched_tracker_reached(a, f->entry[i].epoch)) {
      return 0;
    }
  }
  return 1;
}
