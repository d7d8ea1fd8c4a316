/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the verifier of loops: its parts; see verify/loop/loop.h. */
#ifndef FS_VERIFY_LOOP_PARTS_H
#define FS_VERIFY_LOOP_PARTS_H

#include "base/mem.h"
#include "verify/loop/loop.h"

#define FS_LOOP_FAR (INT64_MAX / 2) /* no distance is known */

/* Returns the least number of the class of `value` modulo `copies` that is neither below it nor
 * below `floor`.  Requires copies > 0. */
static inline int64_t fs_loop_raise(int64_t value, int64_t floor, int64_t copies) {
  assert(copies > 0);
  int64_t over = (value - floor) % copies;
  return value >= floor ? value : floor + (over < 0 ? over + copies : over);
}

/* Checks the form of the loop and the rules; sets kind and `what` of *fault. */
fs_status fs_loop_shape(fsched_context *ctx, const fs_rolled_loop *r, const fs_loop_rules *rules,
                        fs_loop_fault *fault) FS_MUST_USE;

/* Ops are numbered: member * copies + copy. */
typedef struct fs_loop_links {
  const fs_rolled_loop *r;
  int64_t trips; /* iterations, at most INT64_MAX of them */
  uint32_t n_ops;
  uint32_t *queue;     /* per command: its queue */
  const uint32_t *one; /* as in the rules */
  bool joined;
} fs_loop_links;

/* Iteration j of `from` has started before iteration i of `to` starts, if i - j is at least `lag`
 * and i at least `since`. */
typedef struct fs_loop_link {
  uint32_t from, to; /* ops */
  int64_t lag, since;
  int64_t own; /* the lag within one run */
  bool over;   /* it is even over before */
} fs_loop_link;

/* Requires (unchecked: O(commands)) a loop that is not malformed. */
fs_status fs_loop_links_make(fs_arena *arena, const fs_rolled_loop *r, const fs_loop_rules *rules,
                             fs_loop_links *out) FS_MUST_USE;
/* Visits all links, always in the same order.  O(commands) a command and wait. */
void fs_loop_links_walk(const fs_loop_links *links,
                        void (*visit)(void *user, const fs_loop_link *link), void *user);

typedef struct fs_loop_before {
  uint32_t n;
  int64_t *least; /* [from op * n + to op], or FS_LOOP_FAR */
  uint32_t stuck; /* an op that waits for itself, and the rest is empty; FS_NONE: none does */
  uint64_t steps;
} fs_loop_before;

/* Finds the least distances, in `arena`. */
fs_status fs_loop_before_find(fsched_context *ctx, fs_arena *arena, const fs_loop_links *links,
                              fs_loop_before *out) FS_MUST_USE;

/* An instance of an op. */
typedef struct fs_op_instance {
  uint32_t op;
  int64_t trip;
} fs_op_instance;

/* Is `first` over before `then` starts, or has it started before, where `start` is set, by chains
 * through iterations from 0 to that of the later one?  Requires ops of the links, and `place` with
 * room for a number of each op; and (unchecked: O(n^3)) that there is no deadlock. */
bool fs_loop_within(const fs_loop_links *links, fs_op_instance first, fs_op_instance then,
                    bool start, int64_t *place);

typedef struct fs_loop_judge {
  const fs_rolled_loop *r;
  const fs_loop_rules *rules;
  fs_loop_links links;
  fs_loop_before before;
  int64_t *place; /* per op, for fs_loop_within */
  fs_loop_fault *fault;
} fs_loop_judge;

/* Iterations of `from` from `since` on are over before `to` starts `distance` iterations later. */
typedef struct fs_loop_needed {
  uint32_t from;
  int64_t since;
  uint32_t to;
  int64_t distance;
} fs_loop_needed;

/* The instance of a member's iteration, which is not below 0. */
fs_op_instance fs_loop_instance_of(const fs_loop_judge *j, uint32_t member, int64_t trip);
/* Is `first` over before `then` starts?  Then the same holds for those whole rounds of copies
 * later, and if `then` is not the earlier iteration, for `first` whole rounds of copies earlier.
 * *all says that the latter holds in any case. */
bool fs_loop_keeps(fs_loop_judge *j, fs_op_instance first, fs_op_instance then, bool *all);
/* Does `first` start before `then` does, or with it?  The same holds for those whole rounds of
 * copies later. */
bool fs_loop_starts(fs_loop_judge *j, fs_op_instance first, fs_op_instance then);
/* Sets the fault, of members, and returns false. */
bool fs_loop_refuse(fs_loop_judge *j, fs_loop_fault_kind kind, uint32_t which, uint32_t from,
                    uint32_t to, int64_t distance);
/* Whether iterations are in order, as far as there are such; else sets the fault. */
bool fs_loop_needs(fs_loop_judge *j, fs_loop_fault_kind kind, uint32_t which,
                   fs_loop_needed needed);
/* Whether the guards say what the waits do, and keep their phases apart; else sets the fault. */
bool fs_loop_guards(fs_loop_judge *j);

#endif
