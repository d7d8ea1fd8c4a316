/* SPDX-License-Identifier: Apache-2.0 */
/* A graph with short memories as a problem in which the copies are open: which are made, and when.
 *
 * A version in a memory that is short has users, the ops that access it.  Each user has its content
 * in a stay (a residency), which begins with the first of its users: with a read of its own, or,
 * where it overwrites everything or nothing is there yet, alone.  Each user may begin a stay, or be
 * in that of another one, so there are as many stays and reads as users, of which some are not
 * there.  What a writer leaves is written to the store once, if a later stay begins with it, or if
 * it is kept.
 *
 *      writer      reader      reader
 *        |--stay----| - - - - - - ->         the second reader is in the writer's stay,
 *         \write       \read |--stay--|      or begins its own
 *
 * A stay is in its memory from the start of its read, or of its user, to its end, which is no
 * earlier than the ends of its users and of the writes from it.
 *
 * In a short memory without a store a version has one stay, which is always there: from its first
 * writer, or from before all ops where it is given, to the end of its last user or, where it is
 * kept, of all ops.  Where ops write over all of it (fs_version_rests), it has stays as above, but
 * without reads and writes: only users that need nothing of what was there begin one.  Given and
 * kept content of that kind is not covered.
 *
 * Of two stays of a version that overlap, the second one is part of the first, without its read: so
 * nothing is lost by not forbidding it.  The same holds for the other rules: a user is no earlier
 * than the one that begins its stay; a content is written once, and only if it is read or kept; all
 * of a memory that is not short stays there.
 *
 * Everything is in the problem's arena.  Times are ticks.
 *
 * Source: DESIGN.md, section 10, "Spills"; beyond it, that a user is told by the one that begins
 * its stay, so that the stays of a version need no order. */
#ifndef FS_PROBLEM_SPILLING_H
#define FS_PROBLEM_SPILLING_H

#include "problem/problem.h"

/* The end of a stay is a node behind those of the items' starts: n_items + stay. */
typedef struct fs_stay {
  uint32_t version, user; /* the user that begins it */
  uint32_t begin;         /* the item that it begins with: a read, or the user's op; FS_NONE: it is
                           * there from before all ops */
  uint32_t only_if;       /* the boolean by which it is there; FS_NONE: always */
} fs_stay;

/* The node `to` is at least `from` and the lag, if the boolean holds (FS_NONE: always).  What is
 * there only if some boolean holds is there if this one does. */
typedef struct fs_spill_link {
  uint32_t from, to, only_if;
  int64_t lag;
} fs_spill_link;

/* Longer than any schedule of a graph that is covered. */
#define FS_BEFORE_ALL (-((int64_t)1 << 58))

/* Takes so many bytes of a memory, from a node and `delay` on to a node and `length`. */
typedef struct fs_memory_use {
  uint32_t memory, from, to, only_if;
  int64_t delay; /* FS_BEFORE_ALL: before all ops, whichever node */
  fs_tick length;
  uint64_t bytes;
} fs_memory_use;

/* A time of an item or a stay: from a node and `delay` on to a node and `length`. */
typedef struct fs_spill_span {
  uint32_t from, to, only_if;
  int64_t delay;
  fs_tick length;
} fs_spill_span;

/* A user of a version. */
typedef struct fs_spill_user {
  uint32_t op;
  bool writes;
  uint32_t writer; /* the last one that writes before it: a user, or FS_NONE */
  uint32_t stay;   /* that begins with it; FS_NONE: none does */
  uint32_t read;   /* the item with which it begins; FS_NONE: it begins alone */
  uint32_t write;  /* the item that writes what it leaves to the store; FS_NONE: none does */
  uint32_t in0;    /* of `member`: per user of the version, the boolean by which it is in that one's
                    * stay; FS_NONE: it cannot be */
} fs_spill_user;

/* A boolean that others tell: it holds where both do; with y FS_NONE, where x does not. */
typedef struct fs_told_bool {
  uint32_t boolean, x, y;
} fs_told_bool;

typedef struct fs_spilling {
  uint32_t n_bools;
  uint32_t n_told;
  fs_told_bool *told;
  uint32_t *item_if;   /* per item: the boolean by which it is there; FS_NONE: it always is */
  uint32_t *choice_if; /* per entry of problem.choice: the boolean by which the item takes that
                        * class; FS_NONE: it takes it if it is there */
  uint32_t n_stays, n_links, n_uses, n_clauses;
  fs_stay *stay;
  fs_spill_link *link;
  fs_memory_use *use;
  uint32_t *clause0, *clause; /* CSR: 2 * boolean, + 1 where it does not hold */
  /* What follows for memories: sets of ops of which no two run at once, and pairs of spans, each
   * two in a row, of which one ends before the other one begins if both are there. */
  uint32_t n_turns, n_apart;
  uint32_t *turn0, *turn; /* CSR: ops */
  fs_spill_span *apart;   /* 2 * n_apart */
  /* Per version: its users in topological order (CSR); none of those in memories that are not
   * short. */
  uint32_t *user0;
  fs_spill_user *user;
  uint32_t *member;
  uint32_t *copy0; /* per version: where its copies begin */
  uint32_t *held;  /* per version: its stay in a short memory without a store; FS_NONE: none */
  /* In-place pairs: the boolean by which the output takes the place of the input. */
  uint32_t n_pairs;
  uint32_t *pair_op, *pair_in, *pair_out, *pair_if;
} fs_spilling;

/* Makes the problem; its copies are all that may be made.  *out is NULL where no memory is short
 * and no item chooses among queues that are not alike, and for graphs that it does not cover: more
 * than limits.spilling_ops ops, or 32 of one version in a short memory that spills; memories whose
 * store is bounded; ops without length in short memories; given starts, a wait between queues,
 * loops, races, writers of a version in a short memory that nothing orders, and given content there
 * of which a part may be overwritten before it is read, when others have read theirs.  `horizon`,
 * `lower_bound`: as of fs_problem_from_graph.  Requires an ordered graph.
 * O(ops^2 / 64 + users^3) */
fs_status fs_problem_spilling(fsched_context *ctx, const fsched_graph *g, fs_tick horizon,
                              fs_tick lower_bound, fs_problem **out) FS_MUST_USE;

/* Can proofs be written of it: is all that it says of the graph what fsched-proof(5) says, too?
 * Requires a problem that fs_problem_spilling made.  O(ops^2 / 64 + users^2).  provable.c */
fs_status fs_spilling_provable(const fs_problem *p, bool *provable) FS_MUST_USE;

/* A solution of it: the start of each item, and what each boolean is. */
typedef struct fs_spill_point {
  fs_tick *start;
  uint8_t *holds;
} fs_spill_point;

/* The problem with the copies of a point alone, and an answer to it: the starts of its items, and
 * their classes.  In the arena of the new problem. */
typedef struct fs_spill_fixed {
  fs_problem *problem;
  fs_answer answer;
  uint32_t *stay;   /* per residency: its stay, the first of those that overlap; FS_NONE: another */
  uint32_t *joined; /* per stay: the one that it is part of, itself, or FS_NONE: it is not there */
} fs_spill_fixed;
/* Requires a point that all links and clauses allow.  O(copies * users^2).  fixed.c */
fs_status fs_spilling_fix(const fs_problem *p, const fs_spill_point *point,
                          fs_spill_fixed *out) FS_MUST_USE;
/* What the booleans are in a schedule of the graph, or nearly so where it has copies that the
 * problem does not know.  Requires room for them.  point.c */
void fs_spilling_holds(const fs_problem *p, const fs_schedule *s, uint8_t *holds);

/* The node's item or stay. */
static inline uint32_t fs_spilling_end(const fs_problem *p, uint32_t stay) {
  return p->n_items + stay;
}

#endif
