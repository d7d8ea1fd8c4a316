/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: timeline semaphores that carry frontiers.
 *
 * A semaphore has a value that only rises.  Each signal raises it and attaches a frontier: what is
 * known to be complete when the value is reached.  A wait for V is over when the value is V or
 * more, and learns the frontier of the first signal that reached V, never that of a later one; so
 * the latest of waiters learns the same as the first.  History: as many frontiers are kept as the
 * options say; of a value whose signal is older nothing is learnt (the frontier that learns is then
 * tainted), which is less than is true but not wrong.
 *
 * Trust: all up to the watermark was signalled by those who track what they do.  A value above it
 * is tainted: somebody outside has advanced it, the frontier does not say all, and no wait for it
 * may be elided.  The next untainted signal passes the watermark and ends that.
 *
 * Failure: sticky, the first one counts.  It reaches all who wait and will wait for a value that
 * had not been reached; a value that was reached before the failure stays reached, whoever asks
 * and whenever.  The value can still be raised afterwards, but no wait succeeds by that: a failure
 * is the whole semaphore's and not that of a value, as a wait for V is over at anything above V,
 * too, and nobody knows whether somebody is still to signal what was not reached (exec.h).
 * Destroying is a failure with FSCHED_CAUSE_CANCELLED.
 *
 * Order: what one call lets go is called in the order of registration.  Callbacks run without any
 * lock, in the thread whose call let them go, and may call anything here for any semaphore, this
 * one too.  What a callback lets go is called before its own call returns (a callback may rely on
 * it, and wait for what comes of it), so callbacks that signal nest: some hundred bytes of stack
 * each, next to their own.  Links are followed by a loop: a chain of any length needs no stack.
 *
 * Threads: all functions, from any thread at any time, while the caller has a reference; but a
 * queue-local semaphore is used by one thread at a time, and takes no lock.  A timepoint is
 * registered by one thread at a time.
 *
 * Cost: a signal that lets k of w waiters go is O(k log w) amortised, the others cost nothing;
 * reading, and waiting for a value already reached without wanting its frontier, take no lock.
 * After creation only links allocate.
 *
 * Source: IREE's asynchronous semaphores (causal dependency tracking).  Corrected: waits import the
 * frontier of their own value, as its documents say but its code does not; links forward frontiers;
 * a frontier published for the present value is kept; a value reached before a failure succeeds;
 * callbacks come in order of registration. */
#ifndef FSCHED_SEMAPHORE_H
#define FSCHED_SEMAPHORE_H

#include "fsched/cause.h"
#include "fsched/frontier.h"
#include "fsched/tracker.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fsched_semaphore fsched_semaphore;

/** Who can signal or wait; the compiler gives each command of a program the narrowest that serves,
 *  from who waits where. */
typedef enum fsched_scope {
  FSCHED_SCOPE_DEFAULT, /* process-local */
  FSCHED_SCOPE_QUEUE,   /* one thread at a time */
  FSCHED_SCOPE_DEVICE,
  FSCHED_SCOPE_DEVICE_GROUP,
  FSCHED_SCOPE_PROCESS,
  FSCHED_SCOPE_SYSTEM /* several processes, by export and import */
} fsched_scope;

/** Zero means the default for every member but the first value. */
typedef struct fsched_semaphore_options {
  size_t size;
  /** Memory: as in fsched_context_options.  Called under the semaphore's lock. */
  void *(*reallocate)(void *user, void *block, size_t old_size, size_t new_size);
  void *user;
  uint64_t initial;           /* the value at the beginning */
  uint32_t frontier_capacity; /* entries of each frontier kept; default 8, at most 1024 */
  uint32_t history_limit;     /* frontiers kept; default 32, at most 65536 */
  fsched_scope scope;
} fsched_semaphore_options;

/** `options` may be NULL.  Errors: FSCHED_USAGE (options), FSCHED_SYSTEM (no memory); *out is then
 *  NULL.  The new semaphore has one reference. */
FSCHED_API FSCHED_MUST_USE fsched_status
fsched_semaphore_create(const fsched_semaphore_options *options, fsched_semaphore **out);
FSCHED_API void fsched_semaphore_retain(fsched_semaphore *s);
/** The last reference destroys: all who wait are called with FSCHED_CAUSE_CANCELLED, links from
 *  here fail their targets with it.  Links hold no reference; one to a semaphore destroyed does
 *  nothing.  A system-wide semaphore is destroyed in this process only, and its watching thread
 *  (below) waited for, with the callback that it may be in; the caller has no lock that such a
 *  callback takes.  A callback on a watching thread, however, waits for no such thread: one that
 *  releases leaves a callback that is under way in another.  NULL is ignored. */
FSCHED_API void fsched_semaphore_release(fsched_semaphore *s);

/* Reading */

FSCHED_API uint64_t fsched_semaphore_value(const fsched_semaphore *s);
/** FSCHED_CAUSE_NONE: it has not failed. */
FSCHED_API fsched_cause fsched_semaphore_cause(const fsched_semaphore *s);
/** Whether `value` was reached, and not after a failure. */
FSCHED_API int fsched_semaphore_reached(const fsched_semaphore *s, uint64_t value);
FSCHED_API fsched_scope fsched_semaphore_scope(const fsched_semaphore *s);
/** The watermark: values up to it are trusted.  At the beginning the initial value. */
FSCHED_API uint64_t fsched_semaphore_untainted(const fsched_semaphore *s);
FSCHED_API int fsched_semaphore_tainted(const fsched_semaphore *s, uint64_t value);
/** All that was ever attached or merged, as far as the capacity did: how many entries; the first
 *  `room` of them (of none: `out` may be NULL) are stored, and to *lossy (if not NULL) whether
 * entries have been lost.  Of a system-wide one with what other processes have attached; lossy when
 * it has left the history before this process saw it.  O(n + signals since the last look). */
FSCHED_API uint32_t fsched_semaphore_frontier(fsched_semaphore *s, fsched_frontier_entry *out,
                                              uint32_t room, int *lossy);
/** Merges what a wait for `value` learns into `into`, which becomes tainted when that is less than
 *  is true: the signal is older than the history, came from outside, or had too many entries.
 *  FSCHED_INFEASIBLE: the value is not reached; FSCHED_BAD_INPUT: `into` is not valid.
 *  O(log history + n); system-wide O(signals since the value's + n), at most O(history + n). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_semaphore_learn(fsched_semaphore *s, uint64_t value,
                                                                fsched_frontier *into);

/* Raising.  `known` is NULL, or the frontier to attach, which is copied.  FSCHED_BAD_INPUT: the
 * frontier is not valid; FSCHED_SYSTEM, system-wide only: other processes have changed the page
 * under thousands of attempts, or one has stopped in the middle of a change for a second.  Nothing
 * has happened then. */

/** FSCHED_USAGE: `value` is not above the present one.  Does not touch the watermark. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_semaphore_signal(fsched_semaphore *s,
                                                                 uint64_t value,
                                                                 const fsched_frontier *known);
/** The same, and the watermark rises to the value; but not when `known` is tainted or does not fit
 *  with all that was attached before. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_semaphore_signal_untainted(
    fsched_semaphore *s, uint64_t value, const fsched_frontier *known);
/** At least `value`, untainted; any number of times.  For the value of an earlier signal in the
 *  history the frontier is merged into that signal's. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_semaphore_publish(fsched_semaphore *s,
                                                                  uint64_t value,
                                                                  const fsched_frontier *known);
/** At least `value`, from outside: no frontier, above the watermark.  Where that is FSCHED_SYSTEM,
 *  as for signals, the semaphore fails with FSCHED_CAUSE_SYSTEM; so does a link's target. */
FSCHED_API void fsched_semaphore_advance_external(fsched_semaphore *s, uint64_t value);
/** Lowers the watermark to `value` if it is higher; returns it. */
FSCHED_API uint64_t fsched_semaphore_taint_above(fsched_semaphore *s, uint64_t value);
/** Adds to the frontier of the next signal (of this process), and to the whole.  0: refused, it
 *  does not fit or is not valid; nothing has happened then. */
FSCHED_API FSCHED_MUST_USE int fsched_semaphore_merge(fsched_semaphore *s,
                                                      const fsched_frontier *known);
/** A cause of 0 counts as FSCHED_CAUSE_SYSTEM.  1: this is the failure that counts. */
FSCHED_API int fsched_semaphore_fail(fsched_semaphore *s, fsched_cause cause);

/* Waiting */

typedef struct fsched_timepoint fsched_timepoint;
/** Belongs to the caller, who zeroes it before its first use and sets the first members; it stays
 *  in place until its callback has begun or cancel has returned 1.  The callback may free it or
 *  register it anew. */
struct fsched_timepoint {
  void (*callback)(fsched_timepoint *t, fsched_cause cause); /* FSCHED_CAUSE_NONE: reached */
  void *user;
  /** NULL, or what the wait learns is merged here before the callback, exactly as it was when the
   *  value was reached, whatever happens to the history before the callback has its turn.  Nobody
   *  else touches it while the timepoint is pending. */
  fsched_frontier *known;
  struct { /* the semaphore's */
    fsched_waiter node;
    void *batch;
    uint32_t kind;
    int learnt;
  } inner;
};

/** When the value is reached, or cannot be any more, the callback is called before the function
 *  returns.  *pending (if not NULL) becomes 0 then, and 1 when the callback was left to others, who
 *  may have called it by now.  Errors (the callback is never called): FSCHED_USAGE (no callback,
 *  the timepoint is pending), FSCHED_SYSTEM (system-wide: no thread to watch with). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_semaphore_await(fsched_semaphore *s, uint64_t value,
                                                                fsched_timepoint *t, int *pending);
/** 1: the callback was pending; it will not be called, and the timepoint is the caller's again.
 *  0: it has begun, or can no longer be kept from it, or was never to come. */
FSCHED_API int fsched_semaphore_cancel(fsched_semaphore *s, fsched_timepoint *t);

/** One of several things to wait for.  The caller sets the first three members, zeroes the rest. */
typedef struct fsched_wait_point {
  fsched_semaphore *semaphore;
  uint64_t value;
  fsched_frontier *known; /* as of a timepoint; no two points have the same */
  fsched_timepoint inner;
} fsched_wait_point;

typedef enum fsched_wait_mode { FSCHED_WAIT_ALL, FSCHED_WAIT_ANY } fsched_wait_mode;

typedef struct fsched_wait_result {
  fsched_cause cause; /* FSCHED_CAUSE_NONE: what was waited for has come */
  uint32_t index;     /* ANY: the point that came; or the one that failed; else FSCHED_NONE */
} fsched_wait_result;

#define FSCHED_FOREVER UINT64_MAX

/** Sleeps until all or any of the points are reached, or one has failed, or timeout_ns of the
 *  monotonic clock have passed (FSCHED_CAUSE_TIMEOUT; 0 looks only).  ALL: the failure of one point
 *  ends it at once, whatever others have reached.  ANY: a point that is reached counts before one
 *  that has failed.  Of several the lowest index counts, whichever came first.  The points'
 *  frontiers learn what was reached: ALL, when all are; ANY, of the point that came; others may
 *  have learnt too.  The same semaphore may be named repeatedly.  Allocates nothing.  Errors:
 *  FSCHED_USAGE (no semaphore, ANY of nothing), FSCHED_SYSTEM (system-wide: no thread to watch
 *  with). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_semaphore_wait_many(fsched_wait_point *points,
                                                                    uint32_t n,
                                                                    fsched_wait_mode mode,
                                                                    uint64_t timeout_ns,
                                                                    fsched_wait_result *result);

/* Links */

typedef struct fsched_link fsched_link;
/** When `from` reaches `value`, `to` is published or (if the value is tainted) raised to at least
 *  `to_value`, with the frontier that a wait for `value` learns.  When `from` fails or is destroyed
 *  before, `to` fails with its cause.  *out (NULL: not wanted) is to be given to
 *  fsched_semaphore_unlink, before or after.  Errors: FSCHED_SYSTEM (no memory, no thread to watch
 *  with). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_semaphore_link(fsched_semaphore *from,
                                                               uint64_t value, fsched_semaphore *to,
                                                               uint64_t to_value,
                                                               fsched_link **out);
/** Gives the link back.  1: it has not come to anything, and will not.  NULL is ignored. */
FSCHED_API int fsched_semaphore_unlink(fsched_link *link);

/* Across processes, Linux.  The state of a system-wide semaphore lies in a page of shared memory:
 * value, failure, and the frontiers of the last `history_limit` signals (those included that
 * another process overtook, and which came to nothing).  Every process signals and waits as with
 * its own.  What another process has signalled is untainted when it was so there and its frontier
 * is still in the page; the watermark itself is each process' own.
 *
 * Who notices: fsched_semaphore_wait_many on one system-wide semaphore sleeps on the page itself.
 * For callbacks, links and waits on several semaphores a thread of the library watches the page,
 * from the first such wait on until the semaphore is destroyed; callbacks for what other processes
 * signal come from it.  fsched_semaphore_poll does the same at once.  All sleepers look by
 * themselves ten times a second: the signal of a process that dies between raising the value and
 * waking them is noticed after a tenth of a second at the latest.
 *
 * A process that dies at any moment leaves the page in order: at worst one slot of its history is
 * lost, and what it had not yet published.  Its death is not noticed; who sees it (waitpid, a
 * pidfd) fails the semaphore.  A page with nonsense in it gives nonsense values, but no fault:
 * sizes are checked once, entries each time, all loops are bounded, and the file cannot be cut
 * short.
 *
 * Axes of FSCHED_SESSION_LOCAL do not get into the page: to other processes the same numbers are
 * something else.  What is signalled with such entries is tainted there and has the others.
 *
 * Fork: a child cannot use the semaphores that it inherits, of whatever scope, as they were in
 * whatever state and threads that would signal or watch are not there.  It may read value, cause
 * and the watermark, and of a system-wide one export, and import what it has exported; all else
 * does nothing there (FSCHED_USAGE, 0, a frontier without entries), releasing too: the memory stays
 * until exec or the end. */

/** *fd: for the other process (fork, SCM_RIGHTS); the caller closes it.  Errors: FSCHED_USAGE (not
 *  system-wide), FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_semaphore_export(fsched_semaphore *s, int *fd);
/** `fd` stays the caller's.  Of the options (NULL: defaults) only the allocator counts.  Errors:
 *  FSCHED_BAD_INPUT (not made by export), FSCHED_USAGE, FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status
fsched_semaphore_import(const fsched_semaphore_options *options, int fd, fsched_semaphore **out);
/** Calls what other processes have let go.  Nothing for other scopes. */
FSCHED_API void fsched_semaphore_poll(fsched_semaphore *s);

#ifdef __cplusplus
}
#endif
#endif
