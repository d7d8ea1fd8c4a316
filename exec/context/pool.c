/* SPDX-License-Identifier: Apache-2.0 */
/* Pools: one stretch of device memory, an allocator of blocks over it, and a queue of waiting
 * reservations.
 *
 * Only complete work gives memory back, so free bytes have no death frontier to wait for: blocks
 * are returned as if they had never been used.  A thread that gives bytes back serves the queue
 * from its head while the head fits.  The head waits for one long free run; no other reservation
 * overtakes it, so it is granted in the end.
 *
 * Early reservations keep their memory until others have got theirs, and have a queue of their own.
 * When the last of them was granted, a run of free bytes was left that suffices for the largest
 * reservation to be expected.  Since then no early reservation has taken any of these bytes, and
 * all others end by themselves.  So the run becomes free again, and the head of the other queue
 * gets its memory.
 *
 * An allocation of the user's has a way in (its wait fence, then its reservation; it ends when the
 * signal fence is settled) and a way out (its handle, then the wait fence of the free).  Each holds
 * a reference, and the last drop frees the allocation.  A free that comes before the way in has
 * ended cuts it short. */
#include "exec/context/pool.h"

#include <pthread.h>

#include "exec/context/device.h"
#include "exec/context/fence.h"

enum { ALIGN = 256, CAPACITY = 16 };

struct fsched_pool {
  fs_allocator allocator;
  fsched_device *device;
  pthread_mutex_t lock;
  fsched_blocks *blocks;
  uint8_t *memory;
  uint64_t bytes;
  struct {
    fs_reservation *first, *last;
  } queue, early;    /* waiting reservations */
  uint64_t expected; /* the largest reservation that is not early */
  fsched_pool_stats stats;
  fsched_allocation *all;
  uint64_t n_allocations; /* allocations that exist */
  pthread_cond_t fewer;
  bool closing, lost;
  uint64_t birth; /* birth of the process that has made it */
  /* The axis and epoch of allocations, counted in the order in which they get their memory.
   * Without an axis their signals are tainted. */
  fsched_axis axis;
  bool numbered;
  uint64_t epoch;
};

struct fsched_allocation {
  fsched_pool *pool;
  fsched_allocation *next, *previous; /* in the pool's list */
  fs_reservation reservation;
  fs_fence_wait wait, free_wait;
  fsched_fence *signal;
  _Atomic(void *) data;
  /* Under the pool's lock. */
  enum { PENDING, QUEUED, HELD, GONE } state;
  bool leaving; /* the handle is gone */
  bool freed;   /* the right to the bytes is gone, too */
  uint32_t references;
  fsched_frontier known; /* what `signal` carries: the frontiers of its waits, and its own epoch */
  fsched_frontier_entry entries[CAPACITY];
};

fsched_device *fs_pool_device(const fsched_pool *pool) { return pool->device; }

/* Creation */

static fs_status make_blocks(fsched_context *ctx, fsched_pool *p) {
  fsched_blocks_options o = {.size = sizeof o,
                             .reallocate = p->allocator.reallocate,
                             .user = p->allocator.user,
                             .bytes = fs_max(p->bytes, ALIGN), /* a part at the end is unused */
                             .align = ALIGN};
  return fsched_blocks_create(&o, &p->blocks) == FSCHED_OK ? FSCHED_OK
                                                           : fs_no_memory(ctx, sizeof o);
}

static fs_status make_locks(fsched_context *ctx, fsched_pool *p) {
  if (pthread_mutex_init(&p->lock, NULL) != 0) {
    return fs_no_memory(ctx, sizeof p->lock);
  }
  if (pthread_cond_init(&p->fewer, NULL) != 0) {
    (void)pthread_mutex_destroy(&p->lock);
    return fs_no_memory(ctx, sizeof p->fewer);
  }
  return FSCHED_OK;
}

/* Gives the pool an axis.  Cannot fail, as a pool works without one too. */
static void number_pool(fsched_pool *p) {
  const fsched_device *d = p->device;
  fsched_axis_parts parts = {d->axis_session, d->axis_machine, FSCHED_AXIS_HOST, 0};
  p->numbered = fs_ordinals_take(d->ordinals, 1, &parts.ordinal) &&
                fsched_axis_make(parts, &p->axis) == FSCHED_OK;
}

fsched_status fsched_pool_create(fsched_context *ctx, fsched_device *device, uint64_t bytes,
                                 fsched_pool **out) {
  *out = NULL;
  if (device == NULL || bytes == 0 || bytes > UINT64_MAX / 4) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL,
                   device == NULL ? "a pool is of a device"
                                  : "a pool has at least one byte, and not more than there can be");
  }
  FS_TRY(fs_refuse_inherited(ctx, device->birth));
  fs_allocator a = fs_allocator_of(ctx);
  fsched_pool *p = fs_allocator_new(a, sizeof *p);
  if (p == NULL) {
    return fs_no_memory(ctx, sizeof *p);
  }
  *p = (fsched_pool){.allocator = a, .device = device, .bytes = bytes, .birth = fs_process_birth()};
  p->stats = (fsched_pool_stats){.size = sizeof p->stats, .bytes = bytes};
  void *memory = NULL;
  fs_status status = make_blocks(ctx, p);
  if (status == FSCHED_OK) {
    status = device->backend->take(ctx, device->machine, fs_align_up(bytes, ALIGN), &memory);
  }
  p->memory = memory;
  status = status == FSCHED_OK ? make_locks(ctx, p) : status;
  if (status != FSCHED_OK) {
    if (memory != NULL) {
      device->backend->give(device->machine, memory, fs_align_up(bytes, ALIGN));
    }
    fsched_blocks_destroy(p->blocks);
    fs_allocator_free(a, p, sizeof *p);
    return status;
  }
  number_pool(p);
  fsched_device_retain(device);
  *out = p;
  return FSCHED_OK;
}

void fsched_pool_get_stats(fsched_pool *pool, fsched_pool_stats *stats) {
  size_t size = fs_min(stats->size, sizeof *stats);
  fsched_pool_stats now = {0};
  if (!fs_process_inherited(pool->birth)) {
    pthread_mutex_lock(&pool->lock);
    now = pool->stats;
    pthread_mutex_unlock(&pool->lock);
  }
  now.size = size;
  memcpy(stats, &now, size);
}

/* Reservations */

fs_status fs_pool_check(fsched_context *ctx, const fsched_pool *pool, uint64_t bytes) {
  assert(pool != NULL);
  bytes = bytes > UINT64_MAX - ALIGN ? UINT64_MAX : fs_align_up(bytes, ALIGN);
  if (bytes <= pool->bytes) {
    return FSCHED_OK;
  }
  return fs_fail(ctx, FSCHED_INFEASIBLE, FS_DIAG_POOL, FS_NOWHERE, NULL,
                 "%llu bytes of memory are needed at once, the pool has %llu",
                 (unsigned long long)bytes, (unsigned long long)pool->bytes);
}

void fs_pool_expect(fsched_pool *pool, uint64_t bytes) {
  pthread_mutex_lock(&pool->lock);
  pool->expected = fs_max(pool->expected, fs_align_up(bytes, ALIGN));
  pthread_mutex_unlock(&pool->lock);
}

/* With the lock. */
static fs_reserved try_take(fsched_pool *p, fs_reservation *r) {
  fsched_blocks_result result;
  r->cancelled = r->cancelled || p->closing; /* a closing pool grants nothing more */
  if (r->cancelled) {
    return FS_RESERVE_CANCELLED;
  }
  if (fsched_blocks_take(p->blocks, r->bytes, NULL, FSCHED_BLOCKS_TIGHTEST, &r->block, NULL,
                         &result) != FSCHED_OK) {
    /* The next release tries again; without memory in use there will be none, so it fails. */
    return p->stats.used > 0 ? FS_RESERVE_LATER : FS_RESERVE_FAILED;
  }
  if (r->block.id == 0) {
    return FS_RESERVE_LATER;
  }
  if (r->early && fsched_blocks_longest(p->blocks) < p->expected) {
    fs_status status = fsched_blocks_return(p->blocks, &r->block);
    assert(status == FSCHED_OK);
    (void)status;
    return FS_RESERVE_LATER;
  }
  r->data = p->memory + r->block.offset;
  p->stats.served++;
  p->stats.used += r->block.bytes;
  p->stats.peak = fs_max(p->stats.peak, p->stats.used);
  return FS_RESERVED;
}

/* With the lock. */
static void enqueue(fsched_pool *p, fs_reservation *r) {
  fs_reservation **first = r->early ? &p->early.first : &p->queue.first;
  fs_reservation **last = r->early ? &p->early.last : &p->queue.last;
  r->waiting = true;
  r->next = NULL;
  r->previous = *first == NULL ? NULL : *last;
  *(*first == NULL ? first : &(*last)->next) = r;
  *last = r;
  p->stats.waiting++;
}

/* With the lock. */
static void dequeue(fsched_pool *p, fs_reservation *r) {
  fs_reservation **first = r->early ? &p->early.first : &p->queue.first;
  fs_reservation **last = r->early ? &p->early.last : &p->queue.last;
  *(r->previous == NULL ? first : &r->previous->next) = r->next;
  *(r->next == NULL ? last : &r->next->previous) = r->previous;
  r->waiting = false;
  p->stats.waiting--;
}

fs_reserved fs_pool_reserve(fsched_pool *p, fs_reservation *r) {
  assert(r->bytes > 0 && !r->waiting && r->granted != NULL);
  pthread_mutex_lock(&p->lock);
  bool behind = p->queue.first != NULL || (r->early && p->early.first != NULL);
  fs_reserved result = behind && !r->cancelled ? FS_RESERVE_LATER : try_take(p, r);
  if (result == FS_RESERVE_LATER) {
    enqueue(p, r);
  }
  pthread_mutex_unlock(&p->lock);
  return result;
}

fsched_cause fs_reserved_cause(fs_reserved reserved) {
  assert(reserved != FS_RESERVE_LATER);
  return reserved == FS_RESERVED            ? FSCHED_CAUSE_NONE
         : reserved == FS_RESERVE_CANCELLED ? FSCHED_CAUSE_CANCELLED
                                            : FSCHED_CAUSE_SYSTEM;
}

/* With the lock: takes the reservations whose turn has come from the queues, as a list. */
static fs_reservation *serve(fsched_pool *p) {
  fs_reservation *served = NULL, **end = &served;
  for (fs_reservation *r; (r = p->queue.first != NULL ? p->queue.first : p->early.first) != NULL;) {
    fs_reserved result = try_take(p, r);
    if (result == FS_RESERVE_LATER) {
      break;
    }
    r->data = result == FS_RESERVED ? r->data : NULL;
    r->cause = fs_reserved_cause(result);
    dequeue(p, r);
    r->next = NULL;
    *end = r;
    end = &r->next;
  }
  return served;
}

static void call_granted(fs_step *step) {
  fs_reservation *r = (fs_reservation *)(void *)((char *)step - offsetof(fs_reservation, step));
  r->granted(r, r->cause);
}

static void grant(fs_reservation *served) {
  while (served != NULL) {
    fs_reservation *next = served->next; /* read before the step, which may free the reservation */
    served->step.run = call_granted;
    fs_step_run(&served->step);
    served = next;
  }
}

void fs_pool_release(fsched_pool *p, fs_reservation *r) {
  assert(!r->waiting && r->data != NULL);
  pthread_mutex_lock(&p->lock);
  fs_status status = fsched_blocks_return(p->blocks, &r->block);
  assert(status == FSCHED_OK);
  (void)status;
  p->stats.used -= r->block.bytes;
  fs_reservation *served = serve(p);
  pthread_mutex_unlock(&p->lock);
  grant(served);
}

bool fs_pool_cancel(fsched_pool *p, fs_reservation *r) {
  pthread_mutex_lock(&p->lock);
  bool waiting = r->waiting;
  fs_reservation *served = NULL;
  r->cancelled = true;
  if (waiting) {
    dequeue(p, r);
    served = serve(p);
  }
  pthread_mutex_unlock(&p->lock);
  grant(served);
  return waiting;
}

void fs_pool_hurry(fsched_pool *p, fs_reservation *r) {
  assert(r != NULL);
  pthread_mutex_lock(&p->lock);
  bool moves = r->early && r->waiting;
  if (moves) {
    dequeue(p, r);
  }
  r->early = false;
  if (moves) {
    enqueue(p, r);
  }
  fs_reservation *served = moves ? serve(p) : NULL;
  pthread_mutex_unlock(&p->lock);
  grant(served);
}

/* Allocations of the user's */

/* With the lock. */
static void enlist(fsched_pool *p, fsched_allocation *a) {
  a->next = p->all;
  if (p->all != NULL) {
    p->all->previous = a;
  }
  p->all = a;
  p->n_allocations++;
}

/* With the lock. */
static void strike_off(fsched_pool *p, fsched_allocation *a) {
  *(a->previous == NULL ? &p->all : &a->previous->next) = a->next;
  if (a->next != NULL) {
    a->next->previous = a->previous;
  }
}

/* Drops a reference; the pool stays until its last allocation is freed. */
static void drop_allocation(fsched_allocation *a) {
  fsched_pool *p = a->pool;
  pthread_mutex_lock(&p->lock);
  bool last = --a->references == 0;
  if (last) {
    strike_off(p, a);
  }
  pthread_mutex_unlock(&p->lock);
  if (last) {
    fs_fence_wait_free(&a->wait);
    fs_fence_wait_free(&a->free_wait);
    fsched_fence_release(a->signal);
    fs_allocator_free(p->allocator, a, sizeof *a);
    pthread_mutex_lock(&p->lock);
    p->n_allocations--;
    pthread_cond_broadcast(&p->fewer);
    pthread_mutex_unlock(&p->lock);
  }
}

/* Settles the signal of an allocation, and drops the reference that counted until then. */
static void settle_allocation(fsched_allocation *a, fsched_cause cause) {
  fs_fence_settle(a->signal, cause, &a->known);
  drop_allocation(a);
}

/* Under the lock: the allocation has its memory.  Its data are set before its epoch counts, as a
 * frontier with a later epoch allows its use without a wait. */
static void arrive(fsched_allocation *a, void *data) {
  fsched_pool *p = a->pool;
  atomic_store(&a->data, data);
  if (!p->numbered ||
      fsched_frontier_raise(&a->known, (fsched_frontier_entry){p->axis, ++p->epoch}, NULL)) {
    a->known.tainted = 1;
  }
}

static void enter_state(fsched_allocation *a, int state) {
  pthread_mutex_lock(&a->pool->lock);
  a->state = state;
  pthread_mutex_unlock(&a->pool->lock);
}

static void granted(fs_reservation *r, fsched_cause cause) {
  fsched_allocation *a = r->user;
  pthread_mutex_lock(&a->pool->lock);
  bool freed = a->freed;
  a->state = cause == FSCHED_CAUSE_NONE && !freed ? HELD : GONE;
  if (a->state == HELD) {
    arrive(a, r->data);
  }
  pthread_mutex_unlock(&a->pool->lock);
  if (cause == FSCHED_CAUSE_NONE && freed) { /* freed while the memory was on its way here */
    fs_pool_release(a->pool, r);
    cause = FSCHED_CAUSE_CANCELLED;
  }
  settle_allocation(a, cause);
}

static void may_take(fs_fence_wait *wait, fsched_cause cause) {
  fsched_allocation *a =
      (fsched_allocation *)(void *)((char *)wait - offsetof(fsched_allocation, wait));
  pthread_mutex_lock(&a->pool->lock);
  cause = cause == FSCHED_CAUSE_NONE && a->freed ? FSCHED_CAUSE_CANCELLED : cause;
  a->state = cause == FSCHED_CAUSE_NONE ? QUEUED : GONE;
  if (cause == FSCHED_CAUSE_NONE) {
    fs_fence_wait_learnt(&a->wait, &a->known);
  }
  pthread_mutex_unlock(&a->pool->lock);
  if (cause != FSCHED_CAUSE_NONE) {
    settle_allocation(a, cause);
    return;
  }
  fs_reserved result = fs_pool_reserve(a->pool, &a->reservation);
  if (result != FS_RESERVE_LATER) {
    granted(&a->reservation, fs_reserved_cause(result));
  }
}

fsched_status fsched_pool_alloc(fsched_context *ctx, fsched_pool *pool, uint64_t bytes,
                                fsched_fence *wait, fsched_fence *signal, fsched_allocation **out) {
  *out = NULL;
  if (bytes == 0) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_EXEC, FS_NOWHERE, NULL,
                   "an allocation has at least one byte");
  }
  FS_TRY(fs_refuse_inherited(ctx, pool->birth));
  FS_TRY(fs_pool_check(ctx, pool, bytes));
  fsched_allocation *a = fs_allocator_new(pool->allocator, sizeof *a);
  if (a == NULL) {
    return fs_no_memory(ctx, sizeof *a);
  }
  *a = (fsched_allocation){.pool = pool,
                           .reservation = {.bytes = bytes, .granted = granted, .user = a},
                           .signal = signal,
                           .state = PENDING,
                           .references = 3}; /* for the way in, the way out, and this call */
  atomic_init(&a->data, NULL);
  a->known = (fsched_frontier){.entry = a->entries, .capacity = CAPACITY};
  fs_status status = fs_fence_wait_init_learning(ctx, pool->allocator, &a->wait, wait,
                                                 signal != NULL ? CAPACITY : 0);
  if (status != FSCHED_OK) {
    fs_allocator_free(pool->allocator, a, sizeof *a);
    return status;
  }
  if (signal != NULL) {
    fsched_fence_retain(signal);
  }
  a->wait.callback = may_take;
  pthread_mutex_lock(&pool->lock);
  enlist(pool, a);
  pool->expected = fs_max(pool->expected, fs_align_up(bytes, ALIGN));
  pthread_mutex_unlock(&pool->lock);
  *out = a;
  fs_fence_wait_begin(&a->wait);
  drop_allocation(a);
  return FSCHED_OK;
}

void *fsched_allocation_data(const fsched_allocation *allocation) {
  return atomic_load(&allocation->data);
}

/* Ends the way out: the memory will not be used any more. */
static void leave_allocation(fsched_allocation *a) {
  pthread_mutex_lock(&a->pool->lock);
  int state = a->state;
  a->freed = true;
  a->state = state == HELD ? GONE : state;
  pthread_mutex_unlock(&a->pool->lock);
  if (state == HELD) {
    fs_pool_release(a->pool, &a->reservation);
  } else if (state == QUEUED && fs_pool_cancel(a->pool, &a->reservation)) {
    enter_state(a, GONE);
    settle_allocation(a, FSCHED_CAUSE_CANCELLED);
  } else if (state == PENDING) {
    fs_fence_wait_cancel(&a->wait, FSCHED_CAUSE_CANCELLED);
  }
  drop_allocation(a);
}

static void may_free(fs_fence_wait *wait, fsched_cause cause) {
  (void)cause; /* the bytes are free with or without a cause */
  leave_allocation(
      (fsched_allocation *)(void *)((char *)wait - offsetof(fsched_allocation, free_wait)));
}

fsched_status fsched_pool_free(fsched_context *ctx, fsched_allocation *allocation,
                               fsched_fence *wait) {
  fsched_pool *p = allocation->pool;
  FS_TRY(fs_refuse_inherited(ctx, p->birth));
  FS_TRY(fs_fence_wait_init(ctx, p->allocator, &allocation->free_wait, wait));
  allocation->free_wait.callback = may_free;
  pthread_mutex_lock(&p->lock);
  allocation->leaving = true;
  allocation->references++; /* for this call */
  pthread_mutex_unlock(&p->lock);
  fs_fence_wait_begin(&allocation->free_wait);
  drop_allocation(allocation);
  return FSCHED_OK;
}

/* Destruction */

/* Ends the allocation's waits: for memory, and for the fence of its free, if that was asked for;
 * else frees it now.  The caller has a reference. */
static void expel(fsched_allocation *a, bool leaving) {
  fs_fence_wait_cancel(&a->wait, FSCHED_CAUSE_CANCELLED);
  if (leaving) {
    fs_fence_wait_cancel(&a->free_wait, FSCHED_CAUSE_CANCELLED);
  } else {
    leave_allocation(a);
  }
}

/* Expels all allocations.  A reference keeps each one's place in the list while it is looked at. */
static void expel_all(fsched_pool *p) {
  pthread_mutex_lock(&p->lock);
  p->closing = true;
  fsched_allocation *a = p->all;
  if (a != NULL) {
    a->references++;
  }
  while (a != NULL) {
    bool leaving = a->leaving;
    pthread_mutex_unlock(&p->lock);
    expel(a, leaving);
    pthread_mutex_lock(&p->lock);
    fsched_allocation *next = a->next;
    if (next != NULL) {
      next->references++;
    }
    pthread_mutex_unlock(&p->lock);
    drop_allocation(a);
    pthread_mutex_lock(&p->lock);
    a = next;
  }
  pthread_mutex_unlock(&p->lock);
  fs_steps_help();
  pthread_mutex_lock(&p->lock);
  while (p->n_allocations > 0) {
    pthread_cond_wait(&p->fewer, &p->lock);
  }
  pthread_mutex_unlock(&p->lock);
}

void fs_pool_lose(fsched_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  pool->lost = true;
  pthread_mutex_unlock(&pool->lock);
}

void fsched_pool_destroy(fsched_pool *pool) {
  if (pool == NULL || fs_process_inherited(pool->birth)) {
    return;
  }
  expel_all(pool);
  assert(pool->queue.first == NULL && pool->early.first == NULL);
  assert(pool->stats.used == 0 || pool->lost);
  if (!pool->lost) {
    pool->device->backend->give(pool->device->machine, pool->memory,
                                fs_align_up(pool->bytes, ALIGN));
  }
  fsched_blocks_destroy(pool->blocks);
  fsched_device_release(pool->device);
  (void)pthread_cond_destroy(&pool->fewer);
  (void)pthread_mutex_destroy(&pool->lock);
  fs_allocator_free(pool->allocator, pool, sizeof *pool);
}
