/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: the frontier tracker, which calls back when everything that a frontier names is complete.
 *
 * Axes are registered; the owner of an axis advances it, and ends it by failing or retiring it.  A
 * waiter names a frontier: its callback is called exactly once, when every axis has reached its
 * entry's epoch, or when one of the axes has ended below it.
 *
 * Order: the callbacks that one call of advance, fail, retire or destroy releases run in the order
 * of their registration.  When a callback advances, fails or retires an axis, the callbacks which
 * that releases run after it, in the outer call and behind those that the outer call has already
 * released; so a chain of any length, in which each callback advances the next axis, needs no
 * stack.  A wait for something already reached calls its own callback at once, also inside another
 * callback (so repeated waits nest), and then those which that callback releases; it calls no
 * others.
 *
 * Failure: an axis that has ended is noticed at once, whatever the other axes have reached.  An
 * epoch reached before the end stays reached; advancing an axis after its end has no effect.  If
 * several of the wanted axes have ended when the wait begins, the cause is that of a failed one
 * before that of a retired one, and among equals that of the lowest axis.
 *
 * Threads: all functions may be called from any thread at any time, with three rules.  An axis is
 * advanced by one thread at a time (its writer; passing this role on needs ordinary
 * synchronisation).  Destroying does not wait for other threads: none may be inside a call.  A
 * waiter is registered by one thread at a time.  Callbacks run without any lock, in the thread
 * whose call released them, and may call every function of the tracker except destroy, for the same
 * axes and waiters too.
 *
 * Cost: advancing an axis that releases no waiter is one store and one load, without a lock, a
 * fence or an atomic read-modify-write, however many waiters there are.  Releasing k of w waiters
 * is O(k log w) amortised; waiting is O(n) for a frontier of n entries, and now and then one
 * membarrier(2); failing and retiring are O(w log n).  Waiting allocates nothing, so it cannot fail
 * for lack of memory.
 *
 * Source: the frontier tracker of IREE's causal dependency tracking.  Corrected: an epoch that was
 * reached before a failure succeeds; a failed axis is noticed even when an axis before it in the
 * frontier is not yet reached; callbacks run in order; a tainted frontier is refused, as it has
 * lost requirements; the result of cancelling says whether the callback can still run. */
#ifndef FSCHED_TRACKER_H
#define FSCHED_TRACKER_H

#include "fsched/cause.h"
#include "fsched/frontier.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fsched_tracker fsched_tracker;
/** A registered axis.  Lives until it is forgotten, at most as long as its tracker. */
typedef struct fsched_tracked fsched_tracked;

typedef struct fsched_tracker_options {
  size_t size;
  /** Memory: as in fsched_context_options; only create and destroy call it. */
  void *(*reallocate)(void *user, void *block, size_t old_size, size_t new_size);
  void *user;
  /** The most axes registered at a time, including ended ones until they are forgotten.  Each takes
   *  about 150 bytes, allocated when the tracker is made. */
  uint32_t max_axes;
} fsched_tracker_options;

/** Errors: FSCHED_USAGE (options), FSCHED_SYSTEM (no memory); *out is then NULL. */
FSCHED_API FSCHED_MUST_USE fsched_status
fsched_tracker_create(const fsched_tracker_options *options, fsched_tracker **out);
/** Destroys the tracker and calls all waiters with FSCHED_CAUSE_CANCELLED; their callbacks cannot
 *  wait again.  NULL is ignored. */
FSCHED_API void fsched_tracker_destroy(fsched_tracker *t);

/** Registers an axis, at epoch 0.  Errors: FSCHED_USAGE (it is registered already),
 *  FSCHED_INFEASIBLE (max_axes axes are); *out is then unchanged. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_tracker_register(fsched_tracker *t,
                                                                 fsched_axis axis,
                                                                 fsched_tracked **out);
/** The handle of a registered axis, or NULL.  O(1), without a lock. */
FSCHED_API fsched_tracked *fsched_tracker_find(const fsched_tracker *t, fsched_axis axis);

/** Says that all events of the axis up to `epoch` are complete; memory that its writer wrote before
 *  is visible to the callbacks.  Does nothing when the axis has already reached `epoch`, or has
 *  ended.  Returns the number of callbacks called; 0 inside a callback of this tracker (see
 *  Order). */
FSCHED_API uint32_t fsched_tracker_advance(fsched_tracked *a, uint64_t epoch);
/** Ends the axis at the epoch it has reached: waiters for a later epoch are called with the cause
 *  (0: FSCHED_CAUSE_SYSTEM).  Any thread may call it.  Does nothing when the axis has ended
 *  already.  Returns what advance returns. */
FSCHED_API uint32_t fsched_tracker_fail(fsched_tracked *a, fsched_cause cause);
/** The same for an axis that ends in order (cause 0: FSCHED_CAUSE_RETIRED). */
FSCHED_API uint32_t fsched_tracker_retire(fsched_tracked *a, fsched_cause cause);
/** Releases an axis that has ended, so that another one can be registered in its place.  From then
 *  on the axis counts as never registered (waits that began before are not affected), and the
 *  handle is invalid; no other thread may be using it.  The axis must never be registered again: an
 *  older wait that has not looked at it since would take the new registration for the old one.
 *  FSCHED_USAGE: the axis has not ended. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_tracker_forget(fsched_tracked *a);
/** 1 if the axis reached the epoch before it ended, else 0.  Takes no lock while the axis has not
 *  ended. */
FSCHED_API int fsched_tracker_reached(const fsched_tracked *a, uint64_t epoch);
/** 1 if all entries of the frontier are reached, else 0; also 0 if an axis is not registered or the
 *  frontier is tainted. */
FSCHED_API int fsched_tracker_satisfied(const fsched_tracker *t, const fsched_frontier *f);

typedef struct fsched_waiter fsched_waiter;
typedef struct fsched_waiter_link {
  struct fsched_waiter_link *next, *previous;
} fsched_waiter_link;

/** A waiter belongs to the caller, who zeroes it before its first use and sets the first two
 *  members.  It must stay in place until its callback has begun or cancel has returned 1.  The
 *  callback may free it or register it again. */
struct fsched_waiter {
  void (*callback)(fsched_waiter *w, fsched_cause cause); /* FSCHED_CAUSE_NONE: all is reached */
  void *user;
  struct { /* the tracker's */
    fsched_waiter_link link;
    fsched_waiter *child, *sibling, *back;
    fsched_tracker *tracker;
    fsched_tracked *on;
    const fsched_frontier_entry *entry;
    uint64_t epoch, sequence;
    uint32_t n, at;
    fsched_cause cause;
    uint32_t state;
  } inner;
};

/** Registers a wait until all entries of `f` are reached.  When they already are (as of an empty
 *  frontier), or can no longer be, the callback is called before the function returns, and *pending
 *  (if not NULL) becomes 0.  Otherwise *pending becomes 1, and a later call releases the callback;
 *  another thread may have done so by the time the function returns.  The entries of `f` must stay
 *  unchanged while the waiter is pending; the struct `f` itself is not kept.  If membarrier(2)
 *  fails, the cause is FSCHED_CAUSE_SYSTEM.
 *  Errors (the callback is never called): FSCHED_BAD_INPUT (`f` is not valid or tainted, or an axis
 *  is not registered), FSCHED_USAGE (no callback, the waiter is pending, the tracker is being
 *  destroyed). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_tracker_wait(fsched_tracker *t,
                                                             const fsched_frontier *f,
                                                             fsched_waiter *w, int *pending);
/** 1: the callback was pending; it will not be called, and the waiter belongs to the caller again.
 *  0: the callback has begun, can no longer be prevented, or was not pending; the tracker does not
 *  access the waiter after its callback has begun.  A callback that an advance has already released
 *  can be cancelled until its turn comes, also by the callbacks before it.  O(log w) amortised. */
FSCHED_API int fsched_tracker_cancel(fsched_tracker *t, fsched_waiter *w);

#ifdef __cplusplus
}
#endif
#endif
