/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: the frontier tracker, which calls back when everything that a frontier names is complete.
 *
 * Axes are registered; the owner of an axis advances it, and ends it by failing or retiring it.  A
 * waiter names a whole frontier: its callback is called exactly once, when every axis has reached
 * the entry's epoch, or when one of the axes has ended below it.
 *
 * Order: what one call of advance, fail, retire or destroy lets go is called in the order in which
 * it was registered.  What a callback lets go is called after it, by the call that it runs in,
 * behind what that call has let go before; so a chain of any length, each callback advancing the
 * next axis, needs no stack.  A wait calls no callback but its own, at once, in a callback too
 * (where one that waits anew for what is reached nests), and what that one lets go.  Failure: an
 * axis that has ended is seen at once, whatever the other axes have reached; an epoch that was
 * reached before the end stays reached, and what is advanced after it counts no more.  Where
 * several of the wanted axes have ended when the wait begins, a failed one counts before a retired
 * one, then the lowest.
 *
 * Threads: all functions may be called from any thread at any time, but for three rules.  An axis
 * is advanced by one thread at a time (its writer; handing it on needs an ordinary hand-over).
 * Destroying waits for nobody: no other thread may be inside of a call.  A waiter is registered
 * by one thread at a time.  Callbacks run without any lock, in the thread whose call let them go,
 * and may call anything of the tracker but destroy, for the same axes and waiters too.
 *
 * Cost: advancing an axis that lets nobody go is one store and one load, without a lock, a fence or
 * an atomic read-modify-write, however many waiters there are.  Letting k of w waiters go is
 * O(k log w) amortised, waiting O(n) for a frontier of n and now and then one membarrier(2), fail
 * and retire O(w log n).  Waiting allocates nothing and fails for no lack of memory.
 *
 * Source: the frontier tracker of IREE's causal dependency tracking.  Corrected: an epoch that was
 * reached before a failure succeeds; a failed axis is seen behind one not yet reached; callbacks
 * come in order; a tainted frontier is refused, as it has lost requirements; cancelling says
 * truthfully what can still run. */
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
  /** How many can be registered at a time, ended ones included until they are forgotten; about 150
   *  bytes each, all made at once. */
  uint32_t max_axes;
} fsched_tracker_options;

/** Errors: FSCHED_USAGE (options), FSCHED_SYSTEM (no memory); *out is then NULL. */
FSCHED_API FSCHED_MUST_USE fsched_status
fsched_tracker_create(const fsched_tracker_options *options, fsched_tracker **out);
/** Calls what waits with FSCHED_CAUSE_CANCELLED; these callbacks can not wait anew.  NULL is
 *  ignored. */
FSCHED_API void fsched_tracker_destroy(fsched_tracker *t);

/** At epoch 0.  Errors: FSCHED_USAGE (registered already), FSCHED_INFEASIBLE (max_axes are);
 *  *out is then unchanged. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_tracker_register(fsched_tracker *t,
                                                                 fsched_axis axis,
                                                                 fsched_tracked **out);
/** NULL: not registered.  O(1), no lock. */
FSCHED_API fsched_tracked *fsched_tracker_find(const fsched_tracker *t, fsched_axis axis);

/** All of the axis up to `epoch` is complete; what its writer wrote before is visible to the
 *  callbacks.  Nothing happens when it has reached that already, or has ended.  Returns how many
 *  callbacks it has called; 0 in a callback of this tracker, see above. */
FSCHED_API uint32_t fsched_tracker_advance(fsched_tracked *a, uint64_t epoch);
/** Ends the axis at the epoch it has reached: waits for more are called with the cause (0:
 *  FSCHED_CAUSE_SYSTEM).
 *  Any thread.  Nothing happens when it has ended already.  Returns as advance. */
FSCHED_API uint32_t fsched_tracker_fail(fsched_tracked *a, fsched_cause cause);
/** The same for an axis that ends in order (cause 0: FSCHED_CAUSE_RETIRED). */
FSCHED_API uint32_t fsched_tracker_retire(fsched_tracked *a, fsched_cause cause);
/** Gives the room of an axis that has ended back to another one.  From then on the axis counts as
 *  one never registered (waits that began before are not touched), and the handle must not be used
 *  any more: not by another thread at this moment either.  As axes are never reused, it is not to
 * be registered again: a wait that has not looked at it since would take the new one for it.
 *  FSCHED_USAGE: it has not ended. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_tracker_forget(fsched_tracked *a);
/** Whether the axis has reached the epoch (before it ended).  No lock while it has not ended. */
FSCHED_API int fsched_tracker_reached(const fsched_tracked *a, uint64_t epoch);
/** Whether all of the frontier is reached; 0 too for an axis not registered and for a tainted
 *  frontier. */
FSCHED_API int fsched_tracker_satisfied(const fsched_tracker *t, const fsched_frontier *f);

typedef struct fsched_waiter fsched_waiter;
typedef struct fsched_waiter_link {
  struct fsched_waiter_link *next, *previous;
} fsched_waiter_link;

/** Belongs to the caller, who zeroes it before its first use and sets the first two members; it
 *  stays in place until its callback has begun or cancel has returned 1.  The callback may free it
 *  or register it anew. */
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

/** Waits until all of `f` is reached.  When it is (an empty frontier is), or cannot be any more,
 *  the callback is called before the function returns.  *pending (if not NULL) becomes 0 then, and
 *  1 when the callback was left to others, who may have called it by now.  The entries of `f` stay
 *  unchanged as long as the waiter is pending; the struct `f` itself is not kept.  Should the
 *  kernel refuse the barrier that it has promised, the cause is FSCHED_CAUSE_SYSTEM.
 *  Errors (the callback is never called): FSCHED_BAD_INPUT (not valid, tainted, an axis not
 *  registered), FSCHED_USAGE (no callback, the waiter is pending, the tracker is being
 *  destroyed). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_tracker_wait(fsched_tracker *t,
                                                             const fsched_frontier *f,
                                                             fsched_waiter *w, int *pending);
/** 1: the callback was pending; it will not be called, and the waiter is the caller's again.
 *  0: it has begun, or can no longer be kept from it, or was never to come; the tracker does not
 *  touch the waiter after its callback has begun.  A callback that an advance has already chosen
 *  can be cancelled until its turn comes, by the callbacks before it too.  O(log w) amortised. */
FSCHED_API int fsched_tracker_cancel(fsched_tracker *t, fsched_waiter *w);

#ifdef __cplusplus
}
#endif
#endif
