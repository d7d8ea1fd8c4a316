/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: axes and frontiers, sparse vector clocks over them.
 *
 * An axis is a line of time on which things complete in order: a queue, a collective, the host.  An
 * epoch is a position on it, from 1.  A frontier {axis: epoch} says that on each of its axes all up
 * to the epoch is complete; an axis that it does not name counts as epoch 0.
 *
 * Entries are strictly ascending by axis, epochs are positive.  A frontier has a fixed capacity:
 * what does not fit leaves, the smallest epoch first (of equal ones the highest axis), and the
 * frontier is tainted: it holds less than is true.  Answers stay conservative: a tainted frontier
 * still vouches for what it holds, but as a requirement it has lost entries, so nothing dominates
 * it.
 *
 * Nothing here allocates; the entries belong to the caller.  Threads: no state of its own. */
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
/** Sessions with a meaning: that of the axes in compiled programs, which every program numbers from
 *  0; and that of axes which this process alone knows: they never get into what other processes
 *  read (semaphore.h), as another may have the same numbers. */
#define FSCHED_SESSION_PROGRAM 1
#define FSCHED_SESSION_LOCAL 255

/** Errors: FSCHED_USAGE when a part is out of range; *axis is then unchanged. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_axis_make(fsched_axis_parts parts,
                                                          fsched_axis *axis);
/** Compiled programs do not use this: the ordinal of a queue is there its number in the target,
 * from 0, that of a collective axis its number, and the session is FSCHED_SESSION_PROGRAM; what
 * their invocations signal has other axes, of each load its own (exec.h).  It is for callers who
 * number the queues of each device for themselves: the ordinal is device (8 bits), then queue
 * (8 bits), then 24 zero bits. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_axis_queue(uint32_t session, uint32_t machine,
                                                           uint32_t device, uint32_t queue,
                                                           fsched_axis *axis);
FSCHED_API fsched_axis_parts fsched_axis_split(fsched_axis axis);
/** "SESSION.MACHINE.DOMAIN.ORDINAL", e.g. "1.0.queue.5"; a domain without a name is its number.
 *  As snprintf: at most `size` bytes with the final NUL are written to `text` (which may be NULL
 *  when size is 0), and the length of the whole is returned.  No locale changes it. */
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
  FSCHED_FRONTIER_BEFORE, /* the second is known to hold all of the first, and more */
  FSCHED_FRONTIER_AFTER,
  FSCHED_FRONTIER_CONCURRENT /* neither is known to hold the other */
} fsched_frontier_order;

/** Strictly ascending, no epoch 0, at most `capacity` entries: FSCHED_OK, else FSCHED_BAD_INPUT.
 *  All other functions but fsched_frontier_print require it (asserted in debug builds).  O(n). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_frontier_validate(const fsched_frontier *f);
/** Is all of `b` known to be complete when `a` is?  Never when `b` is tainted.  O(n + m). */
FSCHED_API int fsched_frontier_dominates(const fsched_frontier *a, const fsched_frontier *b);
/** By fsched_frontier_dominates in both directions, so two tainted ones are concurrent. */
FSCHED_API fsched_frontier_order fsched_frontier_compare(const fsched_frontier *a,
                                                         const fsched_frontier *b);
/** Component maximum, into `target`.  Tainted when either was, or when the capacity did not do.
 *  What lies behind the n entries, up to the capacity, is undefined then.  O(n + m). */
FSCHED_API void fsched_frontier_merge(fsched_frontier *target, const fsched_frontier *source);
/** Component maximum with one entry, epoch above 0.  Returns 1 when an entry had to leave, which
 *  may be the new one; it is stored to *evicted when that is not NULL.  O(n), the search O(log n).
 */
FSCHED_API int fsched_frontier_raise(fsched_frontier *f, fsched_frontier_entry entry,
                                     fsched_frontier_entry *evicted);
/** fsched_frontier_merge, and whether `source` dominated `target` as it was before: then the target
 *  holds nothing that the source did not. */
FSCHED_API int fsched_frontier_merge_dominated(fsched_frontier *target,
                                               const fsched_frontier *source);
/** Is all that is `wanted` reached, where `progress` holds the epoch that each axis has reached?
 *  Never when `wanted` is tainted.  The same as fsched_frontier_dominates(progress, wanted). */
FSCHED_API int fsched_frontier_satisfied(const fsched_frontier *wanted,
                                         const fsched_frontier *progress);
/** The entries of `wanted` that `known` does not cover: how many; the first `room` of them are
 *  stored (what is behind them in `out` is undefined).  A tainted `wanted` has lost entries, which
 *  are missing here too.  O(n + m). */
FSCHED_API uint32_t fsched_frontier_undominated(const fsched_frontier *known,
                                                const fsched_frontier *wanted,
                                                fsched_frontier_entry *out, uint32_t room);
/** "AXIS:EPOCH AXIS:EPOCH", "-" when it is empty, with " tainted" at the end when it is.  As
 *  fsched_axis_print. */
FSCHED_API size_t fsched_frontier_print(const fsched_frontier *f, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
