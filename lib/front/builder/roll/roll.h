/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that stay loops: each becomes one op, the innermost ones first.
 *
 *   pairs.c     makes one buffer of pairs in place
 *   limit.c     makes a resource of the limit of ops at a time
 *   written.c   sees that what is read was written before
 *   members.c   sees that members of an op do not meet
 *   roll.c      looks at a sample of few iterations
 *   plan.c      plans the bodies found in that
 *   attempt.c   makes plans of one, and the loops of these
 *   deeper.c    chooses depths by what a loop takes
 *   spans.c     times the plans
 *   beside.c    counts what lies in memory beside a loop
 *   behind.c    tells what is found of what a loop has left
 *   left.c      tells what a loop may leave as it is
 *   depths.c    tells how many slots rings have
 *   chain.c     places the slots of loops that hand values on to each other
 *   joined.c    tells which loops in a loop may have their runs joined
 *   contract.c  puts ops in the place of loops
 *   begins.c    tells which args begin a buffer then
 *   bounds.c    finds lower bounds of what loops mean
 *   body.c      tells what the body of such an op is */
#ifndef FS_BUILDER_ROLL_ROLL_H
#define FS_BUILDER_ROLL_ROLL_H

#include "front/builder/bodies.h"
#include "model/issued.h"
#include "model/loop_body.h"
#include "modulo/parts.h"

/* A buffer whose versions a loop begins.  With several slots it becomes as large as these, and ops
 * outside of the loop use the slot before (of the value on entry) or behind (of the last one).
 * Several loops may begin it: then each has slots of its own number, the buffer as many as the
 * deepest one, and an op outside uses those of the last loop before it.  Where values go on from
 * loop to loop, though, all of them find and leave one in the same place, in which ops outside use
 * it: the slots of each loop lie around that. */
typedef struct fs_ring_buffer {
  uint32_t loop; /* FS_NONE: none; if several do, one of them */
  bool shared;   /* several do */
  bool single;   /* several do, and some need what others leave: it has one slot */
  bool
      chained; /* so, but some read values of earlier iterations: before and behind are one place */
  uint64_t slot;
  uint32_t depth;
  uint64_t before, behind; /* offsets; if several begin it, 0, but for chained ones */
  uint64_t end;            /* of chained ones: of all slots */
} fs_ring_buffer;

typedef struct fs_roller {
  fsched_builder *b;
  fs_arena *scratch;
  fs_bodies in;
  uint32_t level;               /* how many loops are around the ops of those at hand */
  uint64_t steps;               /* of the search for each plan */
  bool *counting;               /* per queue; syncs can count its commands */
  fs_issued_time issued;        /* of the last loop planned, with syncs */
  fs_rolled **rolled;           /* per loop; NULL: it has no iterations */
  uint64_t **scratch_use;       /* per loop, then memory: the bytes of its scratch */
  uint64_t **use;               /* per loop, then resource: the units that it takes */
  fs_ring_buffer *ring;         /* per buffer */
  uint32_t *first_op, *last_op; /* per buffer: the ops that access it first and last */
  uint64_t *below, *above;   /* per buffer: bytes that the sample's has more, before and behind */
  FS_VEC(uint64_t) existing; /* loop and buffer: its body writes in slots what it would begin */
  FS_VEC(uint64_t) begun;    /* while ops are put in the place of loops: it begins it so far */
} fs_roller;

/* What of an op's arg moves with the loop around it; NULL: nothing.  Requires an arg of the op. */
const fs_moving_draft *fs_roller_moving(const fs_roller *r, uint32_t op, uint32_t arg);
/* The step of an arg, in bytes an iteration of the loop at hand. */
int64_t fs_roller_step(const fs_roller *r, const fs_moving_draft *m);
/* Whether an arg moves down with some loop around the one at hand, or with that. */
bool fs_roller_falls(const fs_roller *r, uint32_t op, uint32_t arg, bool own);
/* Whether two args move alike with the loops around the one at hand. */
bool fs_roller_moves_alike(const fs_roller *r, const fs_moving_draft *a, const fs_moving_draft *b);
/* The bytes that an arg touches in all of `trip` iterations together: [low, high).  If it falls
 * with loops around, they may pass the end of the buffer, which does not cut them off later. */
void fs_roller_hull(const fs_roller *r, uint32_t op, uint32_t arg, uint64_t trip, uint64_t *low,
                    uint64_t *high);

/* A loop without iterations is nothing, and neither is what is in it. */
static inline bool fs_roller_runs(const fs_roller *r, uint32_t loop) {
  while (loop != FS_NONE && r->in.trip[loop] > 0 && r->in.loop_count[loop] > 0) {
    loop = fs_loop_at(r->b, loop)->parent;
  }
  return loop == FS_NONE;
}
static inline bool fs_roller_op_runs(const fs_roller *r, uint32_t op) {
  FS_ASSERT_SLOW(op < r->in.n_ops);
  return r->in.loop_of[op] == FS_NONE || fs_roller_runs(r, r->in.loop_of[op]);
}
/* Whether it may run less often than it is planned for. */
static inline bool fs_roller_varies(const fs_roller *r, uint32_t loop) {
  return r->in.least[loop] < r->in.trip[loop];
}
/* Whether what the last iteration of a loop at hand has begun is used behind the end of an
 * iteration of a loop around it, where ops find the value that is there on entry.  With `entry` the
 * loop itself does. */
bool fs_roller_flows_around(const fs_roller *r, uint32_t loop, uint32_t buffer, bool entry);
/* Whether so, or by an op behind the loop. */
bool fs_roller_is_read_behind(const fs_roller *r, uint32_t loop, uint32_t buffer, bool entry);
/* Whether the first op of a loop that uses a buffer finds there what was before. */
bool fs_roller_finds_first(const fs_roller *r, uint32_t loop, uint32_t buffer);
/* Whether what the last iteration has begun is used behind the loop, or kept. */
bool fs_roller_is_left(const fs_roller *r, uint32_t loop, uint32_t buffer);
/* Whether an op reads what a loop at hand has written of a buffer from outside: one behind it, or
 * one in a loop around it. */
bool fs_roller_is_read_later(const fs_roller *r, uint32_t loop, uint32_t buffer);
typedef struct fs_left_bytes {
  uint64_t low, high; /* nothing if low >= high */
} fs_left_bytes;
/* The bytes that a loop at hand may leave as they are, with fewer iterations than it is planned
 * for, and that were there before: of those that it writes by args which move like one of an op of
 * it. `there`: something is in the buffer before the loop.  Others that it may leave must not be
 * read behind it, which is reported. Complexity: O(args).  Errors: FSCHED_BAD_INPUT. */
fs_status fs_roller_left(fs_roller *r, uint32_t loop, uint32_t op, uint32_t arg,
                         fs_left_bytes written, bool there, fs_left_bytes *out) FS_MUST_USE;
/* Whether a loop at hand writes the bytes, however seldom it runs, by args that move like one of an
 * op of it.  Gaps between ranges count as written. */
bool fs_roller_writes_all(const fs_roller *r, uint32_t loop, uint32_t op, uint32_t arg,
                          uint64_t low, uint64_t high);
/* Whether a loop at hand writes all of the bytes, however seldom it runs, by args that move like
 * one of an op of it, without gaps; false also where that is not seen.  Complexity: O(args). */
bool fs_roller_fills(const fs_roller *r, uint32_t loop, uint32_t op, uint32_t arg, uint64_t low,
                     uint64_t high);
/* Whether it is one of those at hand. */
static inline bool fs_roller_stays(const fs_roller *r, uint32_t loop) {
  return r->b->loop.at[loop].depth == r->level && fs_roller_runs(r, loop);
}
/* Whether the body of a loop at hand begins the buffer. */
static inline bool fs_roller_begins(const fs_roller *r, uint32_t loop, uint32_t buffer) {
  FS_ASSERT_SLOW(buffer < r->b->buffer_size.n);
  return r->ring[buffer].shared ? fs_bodies_begin(&r->in, loop, buffer)
                                : r->ring[buffer].loop == loop;
}
/* Which of its rings that is.  Requires a buffer that it begins. */
uint32_t fs_roller_ring(const fs_roller *r, uint32_t loop, uint32_t buffer);
/* Whether an arg ends behind its buffer, or would in some iteration if it were whole there. */
bool fs_roller_passes_end(const fs_roller *r, uint32_t op, uint32_t arg);
/* Whether the loops that begin a buffer do so before they use it, in each iteration of as many as
 * they are planned for, and nothing of the loops around finds what they leave before they run
 * again: then each may have slots of its own.  Complexity: O(ops + args) for each loop. */
bool fs_roller_slots_apart(const fs_roller *r, uint32_t buffer);
/* Whether a buffer has several slots. */
static inline bool fs_roller_has_slots(const fs_roller *r, uint32_t buffer) {
  FS_ASSERT_SLOW(buffer < r->b->buffer_size.n);
  return r->ring[buffer].loop != FS_NONE && r->ring[buffer].depth > 1;
}
/* The slots of a loop in a chained buffer that has several. */
typedef struct fs_slots_range {
  uint64_t offset, length;
} fs_slots_range;
fs_slots_range fs_roller_chain_slots(const fs_roller *r, uint32_t loop, uint32_t buffer);
/* Finds the place of each chained buffer that has slots.  Requires that loops are planned.
 * Complexity: O(loops * rings) for each. */
void fs_roller_place_chains(fs_roller *r);
/* Where in a buffer with slots the value lies that an op outside of its loops uses; that of one
 * behind all is what is kept.  Requires plans of the loops at hand. */
uint64_t fs_roller_slot_at(const fs_roller *r, uint32_t op, uint32_t buffer);
/* What is given and kept of a buffer lies in slots of it.  Requires one that has slots, and sizes
 * as they are without. */
fs_status fs_roller_put_io_in_slots(fs_roller *r, uint32_t buffer) FS_MUST_USE;
/* Whether what a loop leaves of a buffer has to lie where it would find a value: it does find one
 * in a later run, or what is behind takes one for the other.  `entry`: the loop reads what it
 * finds.
 */
bool fs_roller_closes(const fs_roller *r, uint32_t loop, uint32_t buffer, bool entry);
/* Reports that a buffer has no value behind a loop that does not run.  Requires both. */
fs_status fs_roller_begins_nothing(fs_roller *r, uint32_t loop, uint32_t buffer) FS_MUST_USE;
/* Reports that this version does not have a loop as one.  Requires a loop. */
fs_status fs_roller_unsupported(fs_roller *r, uint32_t loop, const char *what) FS_MUST_USE;
/* Adds, per memory, the bytes that lie there in any case while a loop at hand runs, and that it
 * does not touch.  Requires the sample of all loops, and its index. Complexity: O((ops + edges) *
 * loops + accesses).  Errors: FSCHED_SYSTEM. */
fs_status fs_roller_count_beside(const fs_roller *r, const fsched_graph *g,
                                 const fs_loop_index *index, uint32_t loop,
                                 uint64_t *held) FS_MUST_USE;
/* Finds lower bounds of the graph as it was described, whose loops are right, for the one that is
 * finished.  Complexity: that of unrolling it and of its bounds, if there are not more than about
 * 1,000 instances; else of one iteration of each loop.  Errors: FSCHED_SYSTEM, FSCHED_BAD_INPUT. */
fs_status fs_roller_bounds(fsched_builder *b, const fsched_builder *described) FS_MUST_USE;
/* Checks that all that is read was written before; what is not is reported.  Requires the loops as
 * they are described.  Errors: FSCHED_SYSTEM, FSCHED_BAD_INPUT. */
fs_status fs_roller_written(fs_roller *r) FS_MUST_USE;
/* Checks that members of ops in bodies do not access what another one writes; what does is
 * reported. Requires the loops as they are described.  Complexity: O(args^2) for each op with
 * members. Errors: FSCHED_BAD_INPUT. */
fs_status fs_roller_members(const fs_roller *r) FS_MUST_USE;
/* Refuses ops of loops that use more of a resource, or have more scratch in a memory, than there
 * is.  Requires the tables of the builder at hand.  Complexity: O(uses + scratch).
 * Errors: FSCHED_INFEASIBLE, reported. */
fs_status fs_roller_check_needs(fs_roller *r) FS_MUST_USE;
/* Plans the loops, whose samples are in the graph.  Requires the graph of a sample of all loops.
 * Errors: FSCHED_SYSTEM, FSCHED_BAD_INPUT, FSCHED_INFEASIBLE. */
fs_status fs_roller_plan(fs_roller *r, const fsched_graph *g) FS_MUST_USE;
/* Makes a resource of the limit of ops at a time, of which each op uses one unit, as a loop uses
 * several at a time; a limit that no ops can exceed is left out.  Complexity: O(ops).  Errors:
 * FSCHED_SYSTEM. */
fs_status fs_roller_limit_ops(fsched_builder *b) FS_MUST_USE;
/* Makes one buffer of the two of pairs in place, in bodies as they are described, where that takes
 * no plan away; the pair is then forgotten, and else has a fault.
 * Complexity: O(ops + args + pairs), and for the pairs 2^24 steps at most.  Errors: FSCHED_SYSTEM.
 */
fs_status fs_roller_merge_pairs(fsched_builder *b) FS_MUST_USE;
/* Notes that a pair of a buffer with itself is used in a loop that stays one, and tells it. */
void fs_roller_keep_pair(fs_item_draft *pair);
bool fs_roller_pair_kept(const fs_item_draft *pair);
/* Why a pair that is left is not used.  Requires one that fs_roller_merge_pairs has seen, and that
 * is not kept. */
const char *fs_roller_pair_fault(const fs_item_draft *pair);
/* Whether an op of the graph as it is now is a loop. */
static inline bool fs_roller_is_loop(const fs_roller *r, uint32_t op) {
  return op < r->b->op_rolled.n && r->b->op_rolled.at[op] != NULL;
}
/* Lets an arg that begins a value write over what the buffer has there, as it does in a slot.  The
 * kernel of an op, if it is no loop, sees that it begins it. */
void fs_roller_write_over(fs_arg_draft *a, bool loop);
/* Whether an op of a body, not of a loop inside, reads what an earlier iteration had in a buffer.
 * O(args of the loop). */
bool fs_roller_is_carried(const fs_roller *r, uint32_t loop, uint32_t buffer);
/* An arg that begins a buffer in the body of a loop does so if it is the first one there: others
 * write over that.  `around`: the loop, FS_NONE for none; `loop`: the arg is one of a loop, too.
 * Errors: FSCHED_SYSTEM, FSCHED_BAD_INPUT. */
fs_status fs_roller_begin_once(fs_roller *r, uint32_t around, bool loop,
                               fs_arg_draft *a) FS_MUST_USE;
/* In the body of `around`, a loop begins a buffer in slots that lie in what is there.  Errors:
 * FSCHED_SYSTEM, FSCHED_BAD_INPUT. */
fs_status fs_roller_begin_in_slots(fs_roller *r, uint32_t around, uint32_t buffer) FS_MUST_USE;
/* An op that began a buffer by an arg of that tag, which is `a` now, writes in a slot instead, or
 * begins it still, if no other one has before.  Errors: FSCHED_SYSTEM, FSCHED_BAD_INPUT. */
fs_status fs_roller_keep_begin(fs_roller *r, uint32_t op, unsigned tag,
                               fs_arg_draft *a) FS_MUST_USE;
/* The buffer, as described, of a value.  Complexity: that of a name. */
uint32_t fs_roller_buffer_of(const fs_roller *r, const fs_body_value *value);
/* How many versions a ring of a loop at hand may hold: those of a run, or of all runs in one of the
 * loop around, if they may be joined: these are counted as they flow. */
uint64_t fs_roller_versions(const fs_roller *r, uint32_t loop);
/* How many iterations ago versions of a value that are read were begun, at most. */
uint64_t fs_roller_farthest_back(const fs_loop_body *body, const fs_body_value *value);
/* The slots that the values take which are read, if they are read as they were begun.  `in_place`:
 * the writer begins a value in the place of one that it reads. */
uint64_t fs_roller_slots_read(const fs_loop_body *body, const fs_body_value *value, bool in_place);
/* No more slots are of use than there are versions, and what there is on entry. */
uint64_t fs_roller_most_slots(uint64_t versions, const fs_loop_body *body,
                              const fs_body_value *value);
/* Sets depths before the plan: content that comes from outside, or stays there, has one place.
 * Errors: FSCHED_SYSTEM, FSCHED_BAD_INPUT. */
fs_status fs_roller_set_depths(fs_roller *r, uint32_t loop, fs_loop_body *body) FS_MUST_USE;
/* Whether runs of a loop that is planned may be joined for all that is known of itself. Complexity:
 * O(ops). */
bool fs_roller_may_go_on(const fs_rolled *x);
/* Finds the members of a body that are loops whose runs may be joined, with their parts and times;
 * NULL: there are none.  The array is in the scratch.
 * Complexity: O(2^14 waits) each, and O(args^2) for each other member.  Errors: FSCHED_SYSTEM. */
fs_status fs_roller_find_joined(fs_roller *r, const fsched_graph *g, const fs_loop_body *body,
                                fs_modulo_joined **out) FS_MUST_USE;
/* Tells of a loop, which is planned, what its ops touch.  Errors: FSCHED_SYSTEM,
 * FSCHED_BAD_INPUT. */
fs_status fs_roller_fill_body(fs_roller *r, uint32_t loop) FS_MUST_USE;
/* Puts ops in the place of loops, which are planned.  Errors: FSCHED_SYSTEM, FSCHED_BAD_INPUT. */
fs_status fs_roller_contract(fs_roller *r) FS_MUST_USE;

#endif
