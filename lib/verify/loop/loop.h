/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier of a loop that stays a loop: is it right however often it runs, whatever its
 * commands take?  It unrolls nothing.
 *
 * What is known.  An op is a member and a copy; its commands, one on each of its queues, start
 * together and are over together.  For two ops a and b let `least` be the least distance d, also
 * below 0, of which it is shown that for every n
 *
 *     iteration i - d of a is over before iteration i of b starts, if both are in 0 .. n - 1,
 *
 * and that the same holds for all distances above d.  Distances from a to b are of one class
 * modulo the copies.  `least` comes from links, which are of two kinds:
 *
 * 1. Queue order.  Iteration j of x comes before iteration i of b in a queue of both, so has
 *    started before it, and, unless it is slow there, is over, exactly if i - j is at least
 *    copies * (shift of x - shift of b + [x stands at or behind b]) + copy of b - copy of x.
 *    This lag may be negative.
 * 2. Waits.  A wait of b at distance w tells that iteration i - w of its target is over, and all
 *    that stands before that in its queue: iteration j of x, if i - j is at least w plus the lag
 *    from x to the target.  But where i is below w there is no wait.  Iteration j of x is 0 or
 *    above, so all is well where i - j is at least w, too.  In a loop with guards barriers tell of
 *    the target's own end: of a slow x before it, a wait says only that it has started.
 *
 * Each holds at all distances from its lag on.  A chain of links holds if the iterations within it
 * are in 0 .. n - 1, and there are two cases in which they always are:
 *
 * - Ascending: no link goes back.  A link whose lag is below 0, or, of a wait, below w, is taken at
 *   the least distance of its class that is not.  Then all iterations of the chain lie between
 *   those of its ends.  The first link of a chain tells that a is over, all others only need to say
 *   that one starts before the other, as what starts before b starts is preceded by what was over
 *   before that.  Shortest paths give the least distance; all greater ones hold since the first
 *   link holds at all greater distances.
 * - Descending: no link goes forth, and none is of a wait with a distance.  The chain gets from a
 *   at iteration j to b at iteration j - e; where it goes on below j - e, it is held in the u
 *   iterations from there on, each op in the one of its class.  Two neighbours that are both held
 *   there are at least their lag apart, as they are less than u apart and of its class.  None of
 *   these is above j if e is at least u - 1.  So it gives all distances from its sum to 1 - u, and
 *   is of use if an ascending chain or one link gives those above.
 *
 * Where these do not show an order, it is decided for two instances: is a at iteration j over
 * before b at iteration i starts, in a loop of just the iterations 0 .. max(i, j)?  Then so it is
 * for all instances a whole number of rounds of copies later and in longer loops, since the chain
 * can be moved with them and its waits stay.  And if not, that loop is wrong.  So orders are
 * accepted exactly if they are right, and so are rings, but that where a reader's `back` is above
 * the depth only FS_LOOP_TRIED readers of the version on entry are tried so.  Lanes need distances
 * without end, so there the above must show them: a right loop is refused, rarely, if that takes a
 * chain which goes forth, back and forth again, or another chain in the first or last iterations
 * than in the others.
 *
 * Deadlock.  Commands that pass as complete wait for nothing, so some n gets stuck only if
 * instances of ops wait in a circle.  Along it the lags, each as it is, add up to 0 or less.  If on
 * the other hand a circle of links adds up to 0 or less, one link can be taken at a greater
 * distance so that the sum is 0, and a loop that runs often enough has all its instances and waits.
 * So there is no deadlock exactly if all circles add up to more than 0.
 *
 * Rings.  Version f, of iteration f of the writer, is in slot f mod depth.  Version -1 is what was
 * there on entry.  A reader's iteration i reads version max(i - back, -1).  A slot is right if
 * - the writer is over before the version's readers start: least(writer, reader) <= back;
 * - they are over before the slot is written again: least(reader, writer) <= depth - back, unless
 *   that is the same instance, which works in place;
 * - versions of a slot are written one after the other: least(writer, writer) <= depth;
 * - readers of version -1, iterations below back, are over before version depth - 1 is begun.
 * All later versions of the slot follow by the third, as all iterations between two exist.  Readers
 * may meet.
 *
 * Runs that are joined.  If the loop runs again and again, each queue does all of a run before the
 * next one, and iterations are counted over all runs.  Then queue order is what it was within a
 * run; and of two iterations of different runs the earlier one comes first, so that a lag of queue
 * order holds which is raised to 0, or, from a wait, to its distance, and nothing is said at
 * distances below 0.  What waits for what never lies in a later run, so a circle of waits is within
 * one run.
 *
 * Members that are one.  What a loop inside does on each of its queues may be members of their own,
 * of which none can end before all have begun.  They are one op where circles are looked for, so
 * no circle goes through what they do inside; and of their own for all else.
 *
 * How often it runs.  All of this is for any n.  If n is known, waits at n and above hold nothing
 * and are no links, and nothing is asked of iterations that there are not.  The rest stays as it
 * is, so such a loop may be refused although only a longer one is wrong.
 *
 * Guards.  A check of (guard, distance) looks at the parity of a barrier, of which it knows no
 * more. It passes exactly when what it is for is over, if of each barrier of a guard of depth B
 * - producers arrive phase by phase: least(p, q) <= B for all producers p and q;
 * - phase k + 1 is not complete before all that check phase k have started, which is where they are
 *   behind the check: for a check of b at distance d, iteration i + d of b starts before iteration
 *   i + B of some producer does, unless it is that one;
 * - phase k - 1 is complete when phase k is checked, as its parity is that of k - 2 else: the same
 *   command has checked it, B being a multiple of the copies; or the command of the iteration B
 *   before has, in front of this one on its queue, with a check at the same distance.
 * Nothing is asked of phases that there are not.  Then a loop with checks does what one with waits
 * would, if each wait is said by a check of its command for a guard that its target is a producer
 * of, and each check is, for all producers, a wait: so there is no deadlock either.  The first two
 * are decided exactly as orders are, and are needed, but for the order of several producers of
 * phases that nobody checks; for the third, other reasons are not looked for.  Where runs are
 * joined, iterations are those of all runs, as for all else, and so nothing changes at the end of
 * one; what a queue does within a run stands for all others, as of two runs the earlier one is
 * first.
 *
 * Lanes.  Members of a lane never run at the same time.  If the distance x from a to b is at least
 * least(a, b), or -x at least least(b, a), they do not.  What is between these meets. */
#ifndef FS_VERIFY_LOOP_H
#define FS_VERIFY_LOOP_H

#include "model/rolled.h"

/* Iteration i - distance of `from` has to be over before iteration i of `to` starts. */
typedef struct fs_loop_order {
  uint32_t from, to; /* members */
  uint32_t distance;
} fs_loop_order;

/* What a loop has to keep, besides its rings. */
typedef struct fs_loop_rules {
  uint64_t trip; /* how often it runs; 0: any number of times */
  uint32_t n_members;
  uint32_t n_orders;
  const fs_loop_order *order;
  uint32_t n_lanes;
  const uint32_t *lane0, *lane; /* CSR per lane: members; lane0 may be NULL where n_lanes is 0 */
  const uint32_t *lane_copy;    /* of each of these: its copy, FS_NONE for all; NULL: all of all */
  bool joined; /* it runs several times, one after the other on each queue, and `trip` and distances
                  count the iterations of all runs */
  const uint32_t *one; /* per member: a member that none of those which name it can get by before
                          all of them have started; NULL: each names itself */
} fs_loop_rules;

typedef enum fs_loop_fault_kind {
  FS_LOOP_RIGHT,     /* no fault */
  FS_LOOP_MALFORMED, /* `what` says why */
  FS_LOOP_DEADLOCK,  /* `from` waits for itself */
  FS_LOOP_ORDER,     /* order `which` is not shown */
  FS_LOOP_SAID,      /* a wait of `to` for `from` is not what its checks say */
  FS_LOOP_GUARD,     /* of guard `which`: `from` has to come before `to`, which is not shown */
  FS_LOOP_TURN,      /* of guard `which`: a check of `to` may come before one of a phase before */
  FS_LOOP_RING,      /* of ring `which`: `from` has to come before `to`, which is not shown */
  FS_LOOP_LANE       /* of lane `which`: `from` and `to` may meet */
} fs_loop_fault_kind;

typedef struct fs_loop_fault {
  fs_loop_fault_kind kind;
  const char *what; /* a constant, or NULL */
  uint32_t which;
  uint32_t from, to; /* members */
  int64_t distance;  /* from iteration i - distance of `from` to iteration i of `to` */
  uint64_t steps;    /* sums of distances that were compared */
} fs_loop_fault;

enum {
  FS_LOOP_COMMANDS = 1 << 14,       /* of a loop, at most */
  FS_LOOP_NUMBER = (1u << 31) - 1u, /* shift, distance, depth and back, at most */
  FS_LOOP_TRIED = 16                /* iterations that are tried one by one, at most */
};

/* Proves that the loop keeps its rings and the rules for all durations, and for every number of
 * trips or for the one that the rules tell (kind FS_LOOP_RIGHT), or puts the first fault that it
 * finds into *fault.  It is malformed if
 * - an id or a range is out of range, or a number is above the limits here;
 * - a member lacks a command for a copy, or has two for one copy on one queue;
 * - a wait's target is of another copy than (copy - distance) mod copies;
 * - a loop that is not guarded has guards or checks.
 * Deterministic.  Complexity: O(c^3) time and O(c^2) memory in the c pairs of member and copy,
 * O(commands) a wait, O(copies^2) a pair of a lane; an order decided for two instances takes up to
 * c * commands * (commands + waits).  Distances, shifts and depths don't matter.  Errors:
 * FSCHED_SYSTEM. */
fs_status fs_verify_loop(fsched_context *ctx, const fs_rolled_loop *r, const fs_loop_rules *rules,
                         fs_loop_fault *fault) FS_MUST_USE;

#endif
