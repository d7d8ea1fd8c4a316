/* SPDX-License-Identifier: Apache-2.0 */
/* What a proof says of open copies: which copies there are, and when, is for a schedule to choose.
 *
 *   lines        the lines that name things, in the order of their numbers       stays/lines.c
 *   users        ops of each version, and how they find its content              stays/users.c
 *   facts        what holds of things: links, clauses, what is taken             stays/facts.c
 *   rules        axioms of these                                                 stays/rules.c
 *   places       the axiom that there are no addresses                           stays/places.c
 *
 * Things are nodes, numbered behind the ops: copies, ends of stays, booleans (0 or 1).
 *
 * Why nothing is lost.  Take a schedule of the graph.  Of a version in a memory that spills keep
 * the residencies there in which some op accesses it: the stays.  No two are there at one time, and
 * an op takes time, so each user is in one.  The first user is the one that starts first.
 *
 *   - A stay is filled by a write of its first user, when it begins with it, or by a read, which is
 *     over before any of its users starts.  A user that writes and reads nothing, all of the
 * version or what has no content yet, begins alone: a read before it is left out.  No other user
 * can, as it would find no content, or old one.  (Given content is "lost" where a part of it is
 *     overwritten before it was read.  Where that would be legal, the graph is refused.)
 *   - Writers of a version are ordered with its other users by the graph, so a user has a last
 *     writer before it, or none.  If it finds content in a stay, that is this writer's, or given.
 *     If the writer came behind the first user of the stay, it is in the stay, too.
 *   - Content that a read brings was written to the store before, once its writer was over, and
 *     first from the writer's stay, which lasted until then; the next writer starts behind that.
 *     Keep the first write of each content that a read brings, or that is kept; drop all others.
 *   - A stay ends behind its users, and the writes from it.  Shorten it to that.
 *   - A version of a memory that does not spill has one residency, as only a write of all of it, or
 *     of what has no content yet, could begin another one.  Where there is such a user that is not
 *     the first of all, it has stays, too: those whose first users begin alone, as there are no
 *     reads.  (Of content that is given or kept, the graph is refused then.)
 *   - The output of an op is in the place of an input only if its residency begins with the op, and
 *     the input's ends no later than the op does.
 *
 * So there are times for all things that are there, and what is said of them holds.  For times in
 * units, keep of them what orders: each link whose condition holds, with its lag; that of items and
 * of stays that were not in progress at one time; that the first user of a stay starts no later
 * than the others.  These are differences of times by multiples of the unit, which the schedule
 * solves, so they have a least solution from 0 on; it is of such multiples, and none is later. What
 * meets in it has met before (proof.c), so sums of bytes, and pairs that cannot be at one time, are
 * no other; and ends are no earlier than what they wait for.
 *
 * A memory that is not short is not spoken of: of its versions only the first read and the last
 * write, as in proofs without open copies, where the first read comes before all ops that access
 * the version if one of them reads what was given: such an op comes before all others that write
 * it. */
#ifndef FS_VERIFY_STAYS_H
#define FS_VERIFY_STAYS_H

#include "verify/proof/proof.h"

/* More would take more than a moment: there is a bit per pair of ops, and a word per pair of users.
 */
enum { FS_VSTAYS_OPS = 20000, FS_VSTAYS_USERS = 256 };

/* How an op uses a version. */
typedef struct fs_vuser {
  uint32_t op;
  bool reads, writes, whole;
  bool alone;      /* its stay begins without a read */
  bool always;     /* it is the first of its stay in every schedule */
  uint32_t writer; /* the last one before it: a user, FS_NONE: there is none */
  uint32_t first, end, read, write, stored; /* things; FS_NONE: not named */
  uint32_t in0; /* of in[]: per user of the version, the boolean by which it is in the stay that
                 * begins with that one; FS_NONE: not named */
} fs_vuser;

typedef enum fs_vcontent {
  FS_VCONTENT_UNKNOWN,
  FS_VCONTENT_SPILLS,
  FS_VCONTENT_HELD, /* one stay */
  FS_VCONTENT_RESTS /* stays without reads */
} fs_vcontent;
/* Has the version stays that come and go? */
static inline bool fs_vcontent_goes(fs_vcontent how) {
  return how == FS_VCONTENT_SPILLS || how == FS_VCONTENT_RESTS;
}
typedef struct fs_vversion {
  fs_vcontent how;
  uint32_t user0, users; /* of user[] */
  uint32_t end;          /* held: the thing */
  bool kept;             /* its last content is written to the store, or held to the end */
  bool outer[2];         /* its first read, and last write, are named */
} fs_vversion;

typedef enum fs_vkind {
  FS_VTHING_READ,
  FS_VTHING_WRITE,
  FS_VTHING_END,
  FS_VTHING_FIRST,
  FS_VTHING_IN,
  FS_VTHING_STORED,
  FS_VTHING_PLACE,
  FS_VTHING_BOTH,
  FS_VTHING_NOT,
  FS_VTHING_ON
} fs_vkind;
typedef struct fs_vthing {
  fs_vkind kind;
  uint32_t version, user; /* user: within the version's; FS_NONE: none is named */
  uint32_t x, y;          /* in: x the leader; both, not: things; on: x the item;
                           * place: x the op, user the version of the input, version of the output */
  size_t queue0, queue1;  /* on: of queue[] */
} fs_vthing;

/* The node `to` is at least `from` and the lag if the boolean holds (FS_NONE: always); then both
 * are there. */
typedef struct fs_vlink {
  uint32_t from, to, only_if;
  int64_t lag; /* units */
} fs_vlink;

#define FS_VBEFORE_ALL (-((int64_t)1 << 62))
/* Bytes that are taken from a node and `delay` on to a node and `length`, if the boolean holds. */
typedef struct fs_vuse {
  uint32_t memory, from, to, only_if;
  int64_t delay, length;
  uint64_t bytes;
} fs_vuse;

struct fs_vstays {
  uint32_t n_ends, n_bools;
  FS_VEC(fs_vthing) thing; /* the k-th is node n_ops + k */
  fs_ids queue;
  fs_vversion *version;
  FS_VEC(fs_vuser) user;
  fs_ids in;
  uint64_t *after; /* a bit per pair of ops: the second one comes behind the first, by edges */
  size_t row;
  FS_VEC(fs_vlink) link;
  uint32_t *link0, *link_of; /* CSR per node: those from it */
  FS_VEC(fs_vuse) use;
  fs_ids clause0, clause;   /* 2 * node, + 1 where it does not hold */
  uint32_t *of0, *of;       /* CSR per node: clauses with it */
  uint32_t *owned0, *owned; /* CSR per node: what is there only if it holds */
  uint32_t *on0, *on;       /* CSR per item: things that tell its queues */
};

/* ---- lines.c: reads the lines of things, behind "open". */
fs_status fs_vstays_lines(fs_vproof *p) FS_MUST_USE;

/* ---- users.c */
/* Takes room for versions, and finds which op comes behind which.  O(ops * edges / 64). */
fs_status fs_vstays_begin(fs_vproof *p) FS_MUST_USE;
/* Looks at a version, once.  NULL, or why its stays are not covered. */
fs_status fs_vstays_look(fs_vproof *p, uint32_t version, const char **why) FS_MUST_USE;
/* The user that an op is of a version that was looked at; FS_NONE: none. */
uint32_t fs_vstays_user(const fs_vproof *p, uint32_t version, uint32_t op);
static inline bool fs_vstays_follows(const fs_vstays *s, uint32_t later, uint32_t earlier) {
  return (s->after[earlier * s->row + later / 64] >> later % 64 & 1) != 0;
}
/* Can the user be in a stay that another one begins? */
bool fs_vstays_joins(const fs_vproof *p, const fs_vversion *v, uint32_t user, uint32_t leader);
/* Is what the user leaves written to the store in every schedule? */
bool fs_vstays_writes(const fs_vproof *p, const fs_vversion *v, uint32_t user);
uint64_t fs_vmemory_aligned(const fsched_graph *g, uint32_t memory, uint64_t size);

/* ---- facts.c: lists what holds.  Requires times in units. */
fs_status fs_vstays_facts(fs_vproof *p) FS_MUST_USE;

/* ---- rules.c: is the rule violated by what is assumed? */
bool fs_vstays_link_violated(const fs_vproof *p);
bool fs_vstays_clause_violated(const fs_vproof *p);
bool fs_vstays_apart_violated(const fs_vproof *p, uint32_t x, uint32_t y);
fs_status fs_vstays_table_violated(fs_vproof *p, uint32_t memory, bool *violated) FS_MUST_USE;
/* Have the things, ends of stays and ops with scratch in the memory, no addresses there together,
 * as they surely meet?  places.c: O(2^20 * n) for n of them.  Errors: FSCHED_SYSTEM. */
fs_status fs_vstays_unplaced(fs_vproof *p, uint32_t memory, const uint32_t *thing, uint32_t n,
                             bool *violated) FS_MUST_USE;
/* The begin at the latest and the end at the earliest of a stay, by its end, or of an op; false: it
 * is not known to be there.  Of an output in the place of an input: from its op's end on; *op is
 * then the op, and FS_NONE else. */
bool fs_vstays_surely(const fs_vproof *p, uint32_t thing, int64_t *begin, int64_t *end,
                      uint32_t *op);
/* The version whose stay ends with the node; FS_NONE: it is no end. */
uint32_t fs_vstays_version(const fs_vproof *p, uint32_t node);
/* Do the two ops together touch more of some memory than it has?  Requires two ops. */
bool fs_vstays_ops_apart(const fs_vproof *p, uint32_t a, uint32_t b);
/* Does some boolean that is assumed to hold say that the item runs on queues of the set alone? */
bool fs_vstays_runs_on(const fs_vproof *p, const fs_vset *set, uint32_t item);

#endif
