/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: timeline semaphores that carry frontiers.
 *
 * A semaphore has a value that only rises.  Each signal raises it and attaches a frontier, which
 * says what is known to be complete when the value is reached.  A wait for V ends when the value is
 * V or more, and learns the frontier of the first signal that reached V, never that of a later one;
 * so a late waiter learns the same as the first.  History: the options say how many frontiers are
 * kept; a wait whose signal is older learns nothing and gets a tainted frontier, which is
 * incomplete but not wrong.
 *
 * Trust: values up to the watermark were signalled with complete frontiers.  A value above it is
 * tainted: it was advanced from outside, so its frontier is incomplete, and no wait for it may be
 * elided.  The next untainted signal raises the watermark, which ends the taint.
 *
 * Failure: a failure is permanent, and the first one counts.  Every wait, present or future, for a
 * value not reached before the failure fails with its cause; values reached before it stay reached.
 * The value can still be raised afterwards, but no wait succeeds by that.  A failure concerns the
 * whole semaphore and not one value: a wait for V also ends at any value above V, and it is unknown
 * whether a value not yet reached will still be signalled (exec.h).  Destroying is a failure with
 * FSCHED_CAUSE_CANCELLED.
 *
 * Order: the callbacks that one call releases run in the order of their registration, in the thread
 * of that call and without any lock.  A callback may call every function of this header, for every
 * semaphore, including its own.  When a callback signals, the callbacks that this releases run
 * before the signalling call returns (the callback may rely on that, and wait for their results);
 * so callbacks that signal nest, and each needs some hundred bytes of stack besides its own.  Links
 * are followed by a loop, so a chain of any length needs no stack.
 *
 * Threads: all functions may be called from any thread at any time while the caller has a
 * reference, except that a queue-local semaphore, which takes no lock, is used by one thread at a
 * time.  A timepoint is registered by one thread at a time.
 *
 * Cost: a signal that releases k of w waiters is O(k log w) amortised; the other waiters cost
 * nothing.  Reading takes no lock, nor does a wait for a value already reached that does not ask
 * for its frontier.  After creation only links allocate.
 *
 * Source: IREE's asynchronous semaphores (causal dependency tracking).  Corrected: waits learn the
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

/** Who can signal or wait.  The compiler gives each command of a program the narrowest scope that
 *  includes all its waiters. */
typedef enum fsched_scope {
  FSCHED_SCOPE_DEFAULT, /* process-local */
  FSCHED_SCOPE_QUEUE,   /* one thread at a time */
  FSCHED_SCOPE_DEVICE,
  FSCHED_SCOPE_DEVICE_GROUP,
  FSCHED_SCOPE_PROCESS,
  FSCHED_SCOPE_SYSTEM /* several processes, by export and import */
} fsched_scope;

/** Zero means the default for every member but the first. */
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
/** Releasing the last reference destroys the semaphore: all waiters are called with
 *  FSCHED_CAUSE_CANCELLED, and links from it fail their targets with that cause.  Links hold no
 *  reference; a link to a destroyed semaphore does nothing.  A system-wide semaphore is destroyed
 *  in this process only, and the call waits for its watching thread (below), including a callback
 *  that runs on it; so the caller must not hold a lock that such a callback takes.  Only when the
 *  call comes from a callback on a watching thread does it not wait, and a callback on another
 *  watching thread may still be running.  NULL is ignored. */
FSCHED_API void fsched_semaphore_release(fsched_semaphore *s);

/* Reading */

FSCHED_API uint64_t fsched_semaphore_value(const fsched_semaphore *s);
/** FSCHED_CAUSE_NONE: it has not failed. */
FSCHED_API fsched_cause fsched_semaphore_cause(const fsched_semaphore *s);
/** 1 if `value` was reached, and before any failure; else 0. */
FSCHED_API int fsched_semaphore_reached(const fsched_semaphore *s, uint64_t value);
FSCHED_API fsched_scope fsched_semaphore_scope(const fsched_semaphore *s);
/** The watermark: values up to it are trusted.  It begins at the initial value. */
FSCHED_API uint64_t fsched_semaphore_untainted(const fsched_semaphore *s);
FSCHED_API int fsched_semaphore_tainted(const fsched_semaphore *s, uint64_t value);
/** The component maximum of everything ever attached or merged, within the capacity.  Returns its
 *  number of entries, and stores the first `room` of them in `out` (NULL if `room` is 0) and in
 *  *lossy (if not NULL) whether entries were lost.  For a system-wide semaphore it includes what
 *  other processes attached, and is lossy when such a frontier left the history before this process
 *  saw it.  O(n + signals since the last look). */
FSCHED_API uint32_t fsched_semaphore_frontier(fsched_semaphore *s, fsched_frontier_entry *out,
                                              uint32_t room, int *lossy);
/** Merges the frontier that a wait for `value` learns into `into`, which becomes tainted when that
 *  frontier is incomplete: the signal is older than the history, came from outside, or had too many
 *  entries.  FSCHED_INFEASIBLE: the value is not reached; FSCHED_BAD_INPUT: `into` is not valid.
 *  O(log history + n); for a system-wide semaphore O(signals since that of the value + n), at most
 *  O(history + n). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_semaphore_learn(fsched_semaphore *s, uint64_t value,
                                                                fsched_frontier *into);

/* Raising.  `known` is NULL, or the frontier to attach, which is copied.  FSCHED_BAD_INPUT: the
 * frontier is not valid; FSCHED_SYSTEM, system-wide only: thousands of attempts failed because
 * other processes changed the page meanwhile, or one stopped for a second in the middle of a
 * change.  Nothing has happened then. */

/** Raises the value to `value` and attaches `known`; leaves the watermark.  FSCHED_USAGE: `value`
 *  is not above the present one. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_semaphore_signal(fsched_semaphore *s,
                                                                 uint64_t value,
                                                                 const fsched_frontier *known);
/** The same, and raises the watermark to `value`, unless `known` is tainted or does not fit the
 *  capacity together with all that was attached before. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_semaphore_signal_untainted(
    fsched_semaphore *s, uint64_t value, const fsched_frontier *known);
/** Raises the value to at least `value`, untainted; may be repeated.  When `value` is that of an
 *  earlier signal in the history, `known` is merged into the frontier of that signal. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_semaphore_publish(fsched_semaphore *s,
                                                                  uint64_t value,
                                                                  const fsched_frontier *known);
/** Raises the value to at least `value`, as from outside: without a frontier and without the
 *  watermark.  Where a signal would return FSCHED_SYSTEM, the semaphore fails with
 *  FSCHED_CAUSE_SYSTEM; so does the target of a link. */
FSCHED_API void fsched_semaphore_advance_external(fsched_semaphore *s, uint64_t value);
/** Lowers the watermark to `value` if it is higher, and returns the watermark. */
FSCHED_API uint64_t fsched_semaphore_taint_above(fsched_semaphore *s, uint64_t value);
/** Adds `known` to the frontier of the next signal of this process, and to
 *  fsched_semaphore_frontier.  Returns 1; 0 if `known` does not fit or is not valid, and nothing
 *  has happened. */
FSCHED_API FSCHED_MUST_USE int fsched_semaphore_merge(fsched_semaphore *s,
                                                      const fsched_frontier *known);
/** Makes the semaphore fail; a cause of 0 counts as FSCHED_CAUSE_SYSTEM.  Returns 1 if this is the
 *  first failure, else 0. */
FSCHED_API int fsched_semaphore_fail(fsched_semaphore *s, fsched_cause cause);

/* Waiting */

typedef struct fsched_timepoint fsched_timepoint;
/** Belongs to the caller, who zeroes it before its first use and sets the first members; it stays
 *  in place until its callback has begun or cancel has returned 1.  The callback may free it or
 *  register it anew. */
struct fsched_timepoint {
  void (*callback)(fsched_timepoint *t, fsched_cause cause); /* FSCHED_CAUSE_NONE: reached */
  void *user;
  /** NULL, or the frontier into which the wait merges what it learns, before the callback runs;
   *  that is fixed when the value is reached, even if the history loses it before the callback
   *  runs.  The caller does not touch it while the timepoint is pending. */
  fsched_frontier *known;
  struct { /* the semaphore's */
    fsched_waiter node;
    void *batch;
    uint32_t kind;
    int learnt;
  } inner;
};

/** Registers a wait for `value`.  When the value is already reached, or can no longer be reached,
 *  the callback is called before the function returns, and *pending (if not NULL) becomes 0.
 *  Otherwise *pending becomes 1, and a later call releases the callback; another thread may have
 *  done so by the time the function returns.  Errors (the callback is never called): FSCHED_USAGE
 *  (no callback, the timepoint is pending), FSCHED_SYSTEM (system-wide: no thread to watch
 *  with). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_semaphore_await(fsched_semaphore *s, uint64_t value,
                                                                fsched_timepoint *t, int *pending);
/** 1: the callback was pending; it will not be called, and the timepoint belongs to the caller
 *  again.  0: the callback has begun, can no longer be prevented, or was not pending. */
FSCHED_API int fsched_semaphore_cancel(fsched_semaphore *s, fsched_timepoint *t);

/** One of several points to wait for.  The caller sets the first three members and zeroes the
 *  rest. */
typedef struct fsched_wait_point {
  fsched_semaphore *semaphore;
  uint64_t value;
  fsched_frontier *known; /* as in fsched_timepoint; no two points share one */
  fsched_timepoint inner;
} fsched_wait_point;

typedef enum fsched_wait_mode { FSCHED_WAIT_ALL, FSCHED_WAIT_ANY } fsched_wait_mode;

typedef struct fsched_wait_result {
  fsched_cause cause; /* FSCHED_CAUSE_NONE: the wait succeeded */
  uint32_t index; /* ANY: the point that was reached; or the one that failed; else FSCHED_NONE */
} fsched_wait_result;

#define FSCHED_FOREVER UINT64_MAX

/** Sleeps until all or any of the points are reached, or one has failed, or timeout_ns of the
 *  monotonic clock have passed (FSCHED_CAUSE_TIMEOUT; 0: only looks).  ALL: the failure of one
 *  point ends the wait at once, whatever points are reached.  ANY: a point that is reached counts
 *  before one that has failed.  Of several such points the one with the lowest index counts,
 *  whichever came first.  The frontiers of the points learn when the wait succeeds: of all points
 *  for ALL; for ANY of the point that was reached, and perhaps of others.  A semaphore may be named
 *  by several points.  Allocates nothing.  Errors: FSCHED_USAGE (a point without a semaphore, ANY
 *  without points), FSCHED_SYSTEM (system-wide: no thread to watch with). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_semaphore_wait_many(fsched_wait_point *points,
                                                                    uint32_t n,
                                                                    fsched_wait_mode mode,
                                                                    uint64_t timeout_ns,
                                                                    fsched_wait_result *result);

/* Links */

typedef struct fsched_link fsched_link;
/** When `from` reaches `value`, `to` is published or (if the value is tainted) raised to at least
 *  `to_value`, with the frontier that a wait for `value` learns.  When `from` fails or is destroyed
 *  before that, `to` fails with its cause.  *out must be passed to fsched_semaphore_unlink, before
 *  or after that; `out` may be NULL.  Errors: FSCHED_SYSTEM (no memory, no thread to watch
 *  with). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_semaphore_link(fsched_semaphore *from,
                                                               uint64_t value, fsched_semaphore *to,
                                                               uint64_t to_value,
                                                               fsched_link **out);
/** Releases the link.  1: the link has had no effect and will have none.  NULL is ignored. */
FSCHED_API int fsched_semaphore_unlink(fsched_link *link);

/* System-wide semaphores, on Linux.  The state is in a page of shared memory: value, failure, and
 * the frontiers of the last `history_limit` signals (including signals without effect, because
 * another process raised the value first).  Every process signals and waits as with a semaphore of
 * its own.  A signal of another process is untainted here when it is untainted there and its
 * frontier is still in the page; each process has its own watermark.
 *
 * Noticing signals of other processes: fsched_semaphore_wait_many on one system-wide semaphore
 * sleeps on the page itself.  For callbacks, links and waits on several semaphores a thread of the
 * library watches the page, from the first such wait until the semaphore is destroyed; it runs the
 * callbacks that signals of other processes release.  fsched_semaphore_poll does the same at once.
 * All sleepers look at the page ten times a second on their own: if a process dies between raising
 * the value and waking them, they notice within a tenth of a second.
 *
 * A process that dies at any moment leaves the page consistent: at worst one slot of the history is
 * lost, and what the process had not yet published.  The library does not notice its death; the
 * application that does (waitpid, a pidfd) makes the semaphore fail.  A page with corrupt content
 * gives wrong values, but no crash: sizes are checked once, entries each time, all loops are
 * bounded, and the file cannot be truncated.
 *
 * Axes of FSCHED_SESSION_LOCAL are not stored in the page, as the same numbers mean other axes in
 * other processes.  There a signal with such entries has only its other entries and is tainted.
 *
 * Fork: a child process cannot use the semaphores that it inherits, of any scope: their state may
 * be inconsistent, and the threads that would signal or watch do not exist in the child.  It may
 * read the value, the cause and the watermark, and may export a system-wide semaphore and import
 * the result; all other functions do nothing there (FSCHED_USAGE, 0, a frontier without entries),
 * including release, so the memory stays until the child calls exec or ends. */

/** Stores in *fd a descriptor to pass to the other process (fork, SCM_RIGHTS); the caller closes
 *  it.  Errors: FSCHED_USAGE (not system-wide), FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_semaphore_export(fsched_semaphore *s, int *fd);
/** Makes a semaphore of an exported descriptor, which stays the caller's.  Of the options (NULL:
 *  defaults) only the allocator is used.  Errors: FSCHED_BAD_INPUT (not made by export),
 *  FSCHED_USAGE, FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status
fsched_semaphore_import(const fsched_semaphore_options *options, int fd, fsched_semaphore **out);
/** Calls the callbacks that signals of other processes have released.  Does nothing for other
 *  scopes than FSCHED_SCOPE_SYSTEM. */
FSCHED_API void fsched_semaphore_poll(fsched_semaphore *s);

#ifdef __cplusplus
}
#endif
#endif
