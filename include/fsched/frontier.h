/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: axes and frontiers, sparse vector clocks over them.
 *
 * An axis is a timeline on which events complete in order: a queue, a collective, the host.  An
 * epoch is a position on an axis, from 1.  A frontier {axis: epoch} says that on each of its axes
 * all events up to the epoch are complete; an axis that it does not name counts as epoch 0.
 *
 * Entries are strictly ascending by axis, epochs are positive.  A frontier has a fixed capacity.
 * On overflow the entry with the smallest epoch (of equal ones the one with the highest axis) is
 * evicted, and the frontier becomes tainted: it has lost entries.  Answers stay conservative: what
 * a tainted frontier still holds is true, but as a requirement it is incomplete, so no frontier
 * dominates it.
 *
 * No function here allocates; the entries belong to the caller.  Threads: there is no shared
 * state. */
#ifndef FSCHED_FRONTIER_H
#define FSCHED_FRONTIER_H

#include "fsched/fsched.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fsched_axis_domain {
  FSCHED_AXIS_QUEUE = 0,
  FSCHED_AXIS_COLLECTIVE = 1,
  FSCHED_AXIS_EPILOGUE = 2,
  FSCHED_AXIS_HOST = 3
} fsched_axis_domain;

/** An axis as a number, most significant first: session 8 bits, machine 8, domain 8, ordinal 40.
 *  Never reused within a session. */
typedef uint64_t fsched_axis;
typedef struct fsched_axis_parts {
  uint32_t session, machine, domain;
  uint64_t ordinal;
} fsched_axis_parts;
#define FSCHED_AXIS_MAX_ORDINAL (((uint64_t)1 << 40) - 1)
/** Reserved sessions: that of the axes in compiled programs, which every program numbers from 0;
 *  and that of axes known to this process alone.  The latter are never passed to other processes
 *  (semaphore.h), which may use the same numbers for other axes. */
#define FSCHED_SESSION_PROGRAM 1
#define FSCHED_SESSION_LOCAL 255

/** Packs the parts of an axis.  Errors: FSCHED_USAGE when a part is out of range; *axis is then
 *  unchanged. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_axis_make(fsched_axis_parts parts,
                                                          fsched_axis *axis);
/** The axis of a queue, for callers who number the queues of each device themselves: the ordinal is
 *  device (8 bits), then queue (8 bits), then 24 zero bits.  Compiled programs do not use it: there
 *  the ordinal is the number of the queue in the target, or of the collective axis, from 0, and the
 *  session is FSCHED_SESSION_PROGRAM.  Signals of invocations use other axes, which belong to a
 *  load (exec.h). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_axis_queue(uint32_t session, uint32_t machine,
                                                           uint32_t device, uint32_t queue,
                                                           fsched_axis *axis);
FSCHED_API fsched_axis_parts fsched_axis_split(fsched_axis axis);
/** "SESSION.MACHINE.DOMAIN.ORDINAL", e.g. "1.0.queue.5"; a domain without a name is its number.  As
 *  snprintf does, writes at most `size` bytes, the final NUL included, to `text` (which may be NULL
 *  when size is 0), and returns the length of the whole text.  Does not depend on the locale. */
FSCHED_API size_t fsched_axis_print(fsched_axis axis, char *text, size_t size);

typedef struct fsched_frontier_entry {
  fsched_axis axis;
  uint64_t epoch;
} fsched_frontier_entry;

typedef struct fsched_frontier {
  fsched_frontier_entry *entry;
  uint32_t n, capacity;
  int tainted;
} fsched_frontier;

typedef enum fsched_frontier_order {
  FSCHED_FRONTIER_EQUAL,
  FSCHED_FRONTIER_BEFORE, /* the second is known to hold all of the first and more */
  FSCHED_FRONTIER_AFTER,
  FSCHED_FRONTIER_CONCURRENT /* neither is known to hold the other */
} fsched_frontier_order;

/** FSCHED_OK if the entries are strictly ascending by axis, have no epoch 0, and are at most
 *  `capacity`; else FSCHED_BAD_INPUT.  All other functions except fsched_frontier_print require
 *  valid frontiers (asserted in debug builds).  O(n). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_frontier_validate(const fsched_frontier *f);
/** 1 if everything in `b` is known to be complete when everything in `a` is, else 0; always 0 when
 *  `b` is tainted.  O(n + m). */
FSCHED_API int fsched_frontier_dominates(const fsched_frontier *a, const fsched_frontier *b);
/** Compares by fsched_frontier_dominates in both directions, so two tainted frontiers are
 *  concurrent. */
FSCHED_API fsched_frontier_order fsched_frontier_compare(const fsched_frontier *a,
                                                         const fsched_frontier *b);
/** Stores the component maximum in `target`, which becomes tainted when `source` is, or when the
 *  capacity is too small.  The elements of target->entry from index n to the capacity are undefined
 *  afterwards.  O(n + m). */
FSCHED_API void fsched_frontier_merge(fsched_frontier *target, const fsched_frontier *source);
/** Component maximum with one entry, whose epoch is above 0.  Returns 1 when an entry was evicted,
 *  which may be the new one, and stores it in *evicted when that is not NULL.  O(n), of which the
 *  search is O(log n). */
FSCHED_API int fsched_frontier_raise(fsched_frontier *f, fsched_frontier_entry entry,
                                     fsched_frontier_entry *evicted);
/** Does fsched_frontier_merge, and returns whether `source` dominated `target` before; if so, the
 *  target had no entry that the source did not cover. */
FSCHED_API int fsched_frontier_merge_dominated(fsched_frontier *target,
                                               const fsched_frontier *source);
/** 1 if all entries of `wanted` are reached, where `progress` holds the epoch that each axis has
 *  reached; always 0 when `wanted` is tainted.  The same as fsched_frontier_dominates(progress,
 *  wanted). */
FSCHED_API int fsched_frontier_satisfied(const fsched_frontier *wanted,
                                         const fsched_frontier *progress);
/** Returns the number of entries of `wanted` that `known` does not cover, and stores the first
 *  `room` of them in `out`; the elements of `out` behind them are undefined.  Entries that a
 *  tainted `wanted` has lost are missing here too.  O(n + m). */
FSCHED_API uint32_t fsched_frontier_undominated(const fsched_frontier *known,
                                                const fsched_frontier *wanted,
                                                fsched_frontier_entry *out, uint32_t room);
/** Prints "AXIS:EPOCH AXIS:EPOCH", or "-" for an empty frontier, followed by " tainted" if it is
 *  tainted.  Size and result as of fsched_axis_print. */
FSCHED_API size_t fsched_frontier_print(const fsched_frontier *f, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
