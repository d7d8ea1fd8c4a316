/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the checker of proofs (proof/proof.c), whose steps are those of fsched-proof(5). */
#ifndef FS_VERIFY_PROOF_H
#define FS_VERIFY_PROOF_H

#include "base/keyed.h"
#include "base/mem.h"
#include "model/graph.h"
#include "verify/proof/text.h"

typedef enum fs_vset_kind {
  FS_VSET_QUEUES,
  FS_VSET_RESOURCE,
  FS_VSET_CONCURRENCY,
  FS_VSET_MEMORY,
  FS_VSET_STAYS, /* of a memory, where copies are open */
  FS_VSET_TURNS  /* ops of which any two touch more of some memory than it has */
} fs_vset_kind;
typedef struct fs_vset {
  fs_vset_kind kind;
  uint32_t resource;
  uint64_t capacity;
  uint32_t *of;    /* of queues: what ops take, per domain, then per gang */
  uint64_t *bytes; /* of a memory: per op, what it alone holds there while it runs */
  bool *in;        /* of queues: per queue; of turns: per op */
} fs_vset;

/* Versions of a memory that count as one, as they may share a place (lives.c). */
typedef struct fs_vgroup {
  uint64_t size;    /* rounded up */
  bool given, kept; /* it lies there from 0; at the end */
  bool stays;       /* it is there between the ops that access it */
} fs_vgroup;
typedef struct fs_vlives {
  uint32_t memory, n_groups;
  fs_vgroup *group;
  uint32_t *group_of; /* per version; FS_NONE: of another memory, or of slots */
  uint64_t always;    /* bytes of what lies there from 0 to the end */
} fs_vlives;

/* What a proof claims. */
typedef enum fs_vclaim_kind {
  FS_VCLAIM_MAKESPAN, /* that no schedule ends before `value` */
  FS_VCLAIM_NONE,     /* that there is none */
  FS_VCLAIM_PEAK      /* that none takes less than `value` bytes of the memory */
} fs_vclaim_kind;
typedef struct fs_vclaim {
  fs_vclaim_kind kind;
  uint32_t memory;
  uint64_t value;
} fs_vclaim;

typedef enum fs_vform {
  FS_VFORM_FROM,    /* id: an op, which starts at `bound` or later */
  FS_VFORM_UNTIL,   /* or earlier */
  FS_VFORM_FORWARD, /* id: a pair, whose first op is over when the second one starts */
  FS_VFORM_BACKWARD /* or the second one when the first one starts */
} fs_vform;
typedef struct fs_vliteral {
  int64_t bound;
  uint32_t id;
  fs_vform form;
  bool own; /* it holds, too, if the op, a thing that may not be there, is not */
} fs_vliteral;

/* A copy that no schedule does without.  Its number is behind those of the ops; all that is said
 * of ops below holds for copies, too. */
typedef struct fs_vcopy {
  bool write;
  uint32_t version;
  uint64_t ticks;
  size_t op0, op1; /* in copy_op[]: the ops that start behind a read, or end before a write */
} fs_vcopy;

/* Ops that exclude each other; first < second. */
typedef struct fs_vpair {
  uint32_t first, second;
  bool whole; /* by what is not a queue: the one is complete when the other one starts */
  bool known; /* the order is `order` */
  fs_vform order;
} fs_vpair;

/* Clauses, one behind the other, each behind an entry of its own, whose bound is its length. */
typedef struct fs_vclauses {
  FS_VEC(fs_vliteral) literal;
  FS_VEC(size_t) begin; /* per clause: where that entry is; SIZE_MAX: deleted */
  size_t waste;         /* entries and literals of those that are deleted */
} fs_vclauses;

typedef struct fs_vstays fs_vstays; /* stays/stays.h */

typedef struct fs_vproof {
  fsched_context *ctx;
  const fsched_graph *g;
  fs_arena arena;   /* what lives as long as the check */
  fs_arena scratch; /* of a step */
  fs_vtext text;
  fs_vclaim claim;
  uint64_t unit;
  FS_VEC(fs_vcopy) copy;
  fs_ids copy_op;
  uint32_t n_items; /* ops and copies */
  uint64_t *time;   /* per op until it is complete, in units, as are all times below */
  uint64_t *busy;   /* per op, for how long it takes its queues; no more than that */
  uint64_t horizon;
  uint64_t *given; /* per op: its only start, UINT64_MAX: any; NULL: none has one */
  FS_VEC(fs_vset) set;
  FS_VEC(fs_vlives) lives; /* of the memories that were asked for */
  fs_vstays *stays;        /* NULL: no copies are open */
  uint32_t n_nodes;        /* items, and what is numbered behind them */
  uint32_t *owner;         /* per node: the boolean by which it is there; FS_NONE: it always is */

  /* The windows of starts that what is assumed leaves.  Of ops that nothing was assumed of they are
   * 0, or the given start, and horizon - time, or that start.  Those of what may not be there hold
   * if it is. */
  int64_t *lb, *ub;
  bool *named;
  fs_ids op;      /* those that are named; for a rule, the items of them that are there */
  size_t n_named; /* for a rule, how many are named: these, and what follows in op[] */
  bool empty;     /* some op that is named has no start, or some pair no order */
  FS_VEC(fs_vpair) pair;
  uint32_t *slot; /* hash table of pairs, FS_NONE: free */
  uint32_t n_slots;
  fs_arena slots;             /* holds it */
  fs_ids ordered;             /* pairs whose order is known */
  FS_VEC(fs_vliteral) clause; /* of the step */
  fs_ids things;              /* that it names beside */
  fs_vclauses lemmas, axioms;
} fs_vproof;

/* ---- header.c */
/* Reads the lines up to the first "begin". */
fs_status fs_vproof_header(fs_vproof *p) FS_MUST_USE;
/* Reports, with its place, a number that is not one of a bounded memory. */
fs_status fs_vproof_take_memory(fs_vproof *p, uint64_t id, size_t place,
                                uint32_t *memory) FS_MUST_USE;

/* ---- copies.c */
/* Reads the lines that name copies. */
fs_status fs_vproof_copies(fs_vproof *p) FS_MUST_USE;
/* Reads a buffer and a version. */
fs_status fs_vproof_version(fs_vproof *p, uint32_t *version) FS_MUST_USE;
uint64_t fs_vcopy_ticks(const fsched_graph *g, const fs_vcopy *c);
/* Requires an item behind the ops. */
const fs_vcopy *fs_vproof_copy(const fs_vproof *p, uint32_t item);

/* The size, rounded up to the memory's alignment. */
static inline uint64_t fs_vsize_aligned(const fs_memory *m, uint64_t size) {
  return (size > UINT64_MAX - m->align ? UINT64_MAX : size + m->align - 1) & ~(m->align - 1);
}
/* What the memory has for certain: its capacity, or less where the claim is that less is not
 * enough; rounded down.  Requires a bounded one. */
uint64_t fs_vproof_capacity(const fs_vproof *p, uint32_t memory);

/* ---- lives.c */
/* Does what is there for sure at some moment take more of the memory than it has?  O(n log n) for n
 * args of the ops that are named; once per memory, O(versions).  Requires a bounded one. */
fs_status fs_vproof_overfull(fs_vproof *p, uint32_t memory, bool *over) FS_MUST_USE;

/* ---- sets.c */
/* Adds a set of queues.  Requires queues of the target, each once. */
fs_status fs_vset_add_queues(fs_vproof *p, const uint32_t *queue, uint32_t n) FS_MUST_USE;
/* Adds the set of a memory.  Requires a bounded one of the target. */
fs_status fs_vset_add_memory(fs_vproof *p, uint32_t memory) FS_MUST_USE;
/* Where copies are open: what stays and scratch take of such a memory; ops of which each two are
 * apart. */
fs_status fs_vset_add_stays(fs_vproof *p, uint32_t memory) FS_MUST_USE;
fs_status fs_vset_add_turns(fs_vproof *p, const uint32_t *op, uint32_t n) FS_MUST_USE;
/* What the op takes of the set.  Requires a set, and an op of the graph. */
uint64_t fs_vset_take(const fs_vproof *p, uint32_t set, uint32_t op);
/* The same with what is assumed: of an op that runs on some queues, or others. */
uint64_t fs_vset_taken(const fs_vproof *p, uint32_t set, uint32_t op);
/* For how long it takes that. */
static inline uint64_t fs_vset_time(const fs_vproof *p, uint32_t set, uint32_t op) {
  return (p->set.at[set].kind == FS_VSET_QUEUES ? p->busy : p->time)[op];
}
/* Do the ops take more than the capacity of some set together?  *whole: of one that is not of
 * queues.  O(sets).  Requires ops of the graph. */
bool fs_vproof_exclude(const fs_vproof *p, uint32_t a, uint32_t b, bool *whole);

/* ---- state.c */
/* Takes memory for windows; nothing is assumed.  Requires times and a horizon. */
fs_status fs_vproof_begin(fs_vproof *p) FS_MUST_USE;
/* Forgets what was assumed.  O(what was). */
void fs_vproof_forget(fs_vproof *p);
/* The id of a pair; FS_NONE: they do not exclude each other.  Requires two ops of the graph, the
 * lower id first. */
fs_status fs_vproof_pair(fs_vproof *p, uint32_t a, uint32_t b, uint32_t *id) FS_MUST_USE;
/* Is the node there for sure?  And for sure not? */
static inline bool fs_vproof_there(const fs_vproof *p, uint32_t node) {
  return p->owner[node] == FS_NONE || p->lb[p->owner[node]] > 0;
}
static inline bool fs_vproof_gone(const fs_vproof *p, uint32_t node) {
  return p->owner[node] != FS_NONE && p->ub[p->owner[node]] < 1;
}
bool fs_vproof_fails(const fs_vproof *p, const fs_vliteral *l);
bool fs_vproof_holds(const fs_vproof *p, const fs_vliteral *l);
/* Assumes a literal, and names its ops. */
fs_status fs_vproof_assume(fs_vproof *p, const fs_vliteral *l) FS_MUST_USE;
/* Requires a number that can be negated: 0 to FS_VTEXT_MOST. */
fs_vliteral fs_vliteral_negation(const fs_vliteral *l);

/* ---- rules.c */
/* Does an edge of the graph lead from the one op to the other?  Requires ops of the graph.  O(log
 * of its edges). */
bool fs_vgraph_has_edge(const fsched_graph *g, uint32_t from, uint32_t to);
typedef struct fs_vstep {
  char rule;
  uint32_t set; /* of the rules that name one; or the memory */
  uint32_t op;  /* of those that name one */
  uint32_t other;
  const uint32_t *thing; /* of the rule that names several, in a memory: `set` */
  uint32_t n;
} fs_vstep;
/* Is the rule violated for sure by the ops that are named?  O(n log n) for n of these; of
 * precedence O(their edges), or less.  Requires that nothing is empty. */
fs_status fs_vproof_violated(fs_vproof *p, const fs_vstep *step, bool *violated) FS_MUST_USE;

/* ---- clauses.c */
fs_status fs_vclauses_add(fsched_context *ctx, fs_vclauses *c, const fs_vliteral *literal,
                          size_t n) FS_MUST_USE;
/* Is there a clause of that number, from 1? */
static inline bool fs_vclauses_has(const fs_vclauses *c, uint64_t number) {
  return number >= 1 && number <= c->begin.n && c->begin.at[number - 1] != SIZE_MAX;
}
/* The literals of a clause, and how many.  Requires one that is there. */
const fs_vliteral *fs_vclauses_get(const fs_vclauses *c, uint64_t number, size_t *n);
/* Deletes a clause; its memory is used again.  Requires one that is there. */
void fs_vclauses_delete(fs_vclauses *c, uint64_t number);
void fs_vclauses_clear(fs_vclauses *c);
void fs_vclauses_free(fsched_context *ctx, fs_vclauses *c);

/* ---- replay.c */
/* Reads and checks the steps, of which the last one is a lemma without literals. */
fs_status fs_vproof_replay(fs_vproof *p) FS_MUST_USE;

#endif
