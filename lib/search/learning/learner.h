/* SPDX-License-Identifier: Apache-2.0 */
/* A solver that learns clauses over bounds of starts (lazy clause generation).
 *
 * A variable has two sides: its lower bound, and its upper bound with the sign turned, so that both
 * only grow.  A literal is a side and a value, and holds once the side has reached the value:
 *
 *      x >= k       (2 x,     k)
 *      x <= k       (2 x + 1, -k)         the negation of (side, value) is (side ^ 1, 1 - value)
 *
 * Every growth of a side is an event on the trail, with why it happened, from which a conflict is
 * traced back to a clause.  Only literals of clauses are made, and have an id; those of one side
 * are kept by value, so a growth visits just the literals that it decides.
 *
 * Times are counted in their common divisor, which is one of given starts, too: items that start as
 * early as their neighbours let them start at multiples of it.
 *
 * Items that take turns, as on one machine, have for each pair a variable of their order: 1 where
 * the first comes before the second, 0 where it comes behind.
 *
 * Rules: orders (edges), time tables of what is taken, and pairs of items that cannot run at one
 * time.  An item without a length takes what it takes at its one moment, beside items that began
 * before and end behind it.
 *
 * Where copies are open (problem/spilling) there are two more kinds of variables: ends of
 * residencies, and booleans, which are 0 or 1.  The presence of an optional item or residency is a
 * boolean, and what is known of its times holds if it is there: bounds that would cross say that it
 * is not.  So a rule about its own times does not have its presence as a premise, and what it says
 * of others does.  Orders and tasks may hold only if a boolean does.
 *
 * Sources: Schutt, Feydy, Stuckey, Wallace, Explaining the cumulative propagator (2011), with
 * explanations at one moment each; Moskewicz et al., Chaff (2001), for watches, activities and
 * first points of implication.  Corrected there: a literal of a learnt clause is left out only if
 * it follows from literals that came true before it, as "follows from others" goes in circles where
 * bounds of one variable imply each other. */
#ifndef FS_SEARCH_LEARNER_H
#define FS_SEARCH_LEARNER_H

#include "base/limit.h"
#include "problem/problem.h"

/* The most items that are worth a search, and of which pairs are looked at. */
enum { FS_LEARNER_MOST = 1000 };

typedef int64_t fs_side_value;

typedef enum fs_cause {
  FS_BY_DECISION, /* or, at the root, by the limit, or a clause of one literal */
  FS_BY_CLAUSE,   /* reason: the clause */
  FS_BY_EDGE,     /* reason: the item at the other end */
  FS_BY_TABLE,    /* reason: the task; at: the moment at which too much would be taken */
  FS_BY_MOMENT,   /* the same of an item without a length; at: its bound before */
  FS_BY_PAIR,     /* reason: the other item; at: the latest start of the one that comes first */
  FS_BY_ORDER,    /* reason: the other item; at: the side of the order that is decided */
  FS_BY_STARTS,   /* of an order; at: the latest start of the item that comes first */
  FS_BY_SET,      /* reason: the set that it comes behind */
  FS_BY_LINK,     /* reason: the link; of its condition `at` is the latest time of its end */
  FS_BY_APART,    /* reason: the span that comes behind the other; at: the latest begin of that */
  FS_BY_CROSS     /* of a presence; reason: the growth that would have crossed the bound `at` */
} fs_cause;

typedef struct fs_growth {
  uint32_t side, before; /* the growth of the side before; FS_NONE: its root */
  fs_side_value value, old, at;
  uint32_t reason;
  fs_cause cause;
} fs_growth;

typedef struct fs_literal {
  uint32_t side;
  fs_side_value value;
} fs_literal;

typedef struct fs_clause_watch {
  uint32_t clause; /* its offset */
  uint32_t other;  /* the id of a literal of it that may hold */
} fs_clause_watch;

/* A literal of a side. */
typedef struct fs_side_literal {
  fs_side_value value;
  uint32_t id;
} fs_side_literal;

/* A literal of clauses; the one of id ^ 1 is its negation. */
typedef struct fs_known_literal {
  fs_literal l;
  FS_VEC(fs_clause_watch) watch;
} fs_known_literal;

/* What is taken from `item` + delay to `end` + length: of an item from its start to its end. */
typedef struct fs_learner_task {
  uint32_t item, end; /* variables */
  uint32_t table;
  uint32_t only_if; /* a boolean; FS_NONE: always */
  fs_side_value delay, length, amount;
} fs_learner_task;

/* What heights need of a task, which takes its amount from the start of its item on. */
typedef struct fs_plain_task {
  fs_side_value length, amount;
  uint32_t item, task, table;
} fs_plain_task;

/* `to` is at least `from` and the lag.  What is there only if some boolean holds is there if
 * `only_if` holds. */
typedef struct fs_learner_link {
  uint32_t from, to, only_if; /* variables; only_if FS_NONE: always */
  fs_side_value lag;
} fs_learner_link;

/* What was found of a growth while a conflict was traced. */
typedef struct fs_growth_mark {
  uint64_t conflict;
  fs_side_value value;
  bool follows; /* as far as the value it follows from what is needed; else not even so far */
} fs_growth_mark;

/* What a clause is made of: its number of literals, its lemma in the log, the levels that its
 * literals were of when it was learnt, its activity, and the ids of its literals. */
typedef union fs_clause_part {
  uint32_t n;
  float activity;
} fs_clause_part;

enum { FS_CLAUSE_LENGTH, FS_CLAUSE_LEMMA, FS_CLAUSE_LEVELS, FS_CLAUSE_ACTIVITY, FS_CLAUSE_HEAD };

typedef struct fs_proof_log fs_proof_log; /* learning/log.h */

typedef struct fs_learner_table {
  fs_side_value capacity, most; /* the most that a task takes */
  uint32_t field; /* of the problem: its class, or behind the classes its amount; FS_NONE: none */
  uint32_t open;  /* without one: the memory, or behind the memories the set of turns */
  uint32_t task0, task1;
  bool waits;  /* is in the list of those to look at */
  bool turns;  /* its tasks take turns: sets are looked at in place of heights */
  bool queues; /* it is of queues, which items may leave before they are complete */
  /* Per time what surely runs takes; NULL: that is found at each look.  Then, since the last look:
   * between which times it has grown to where some task may have no room. */
  fs_side_value *height, cells, grown_from, grown_to;
} fs_learner_table;

/* The items of a table that begin at `begin` or later and end by `end`, of which those from `from`
 * on are over last (sets.c). */
typedef struct fs_learner_set {
  uint32_t table;
  fs_side_value begin, end, from;
} fs_learner_set;

typedef struct fs_step_of_table {
  fs_side_value time, height;
} fs_step_of_table;

/* Where the sure parts leave some task no room. */
typedef struct fs_full_part {
  fs_side_value from, to, height;
} fs_full_part;

typedef struct fs_learner {
  fsched_context *ctx;
  fs_arena *arena;
  const fs_problem *p;
  /* Items; variables: items, ends of residencies, booleans, orders; sides of them. */
  uint32_t n, n_ends, n_bools, n_sides;
  fs_tick unit;        /* all times are multiples of it, and so are the starts that matter */
  fs_side_value *time; /* per item, in units */
  fs_side_value *busy; /* per item, for how long it takes its queues; may be `time` */

  fs_side_value *value; /* per side */
  uint32_t *latest;     /* per side: its last growth; FS_NONE: none since the root */
  FS_VEC(fs_growth) trail;
  FS_VEC(uint32_t) level; /* where each level begins on the trail */
  size_t visited;         /* growths that rules have seen */
  bool conflict;
  FS_VEC(fs_literal) clash; /* what cannot all hold */
  /* The growth that would have crossed the other side; with side FS_NONE: a clause of which all
   * fails, or (`reason`) a table that is too high, or a set of a table that takes too long. */
  fs_growth crossed;
  fs_proof_log *log; /* NULL: none */
  bool edges_first;  /* tables wait until energy was looked at */
  bool bare;         /* windows are what the rules show, as in a proof, not the problem's */

  /* Literals. */
  FS_VEC(fs_known_literal) literal;
  FS_VEC(fs_side_literal) * of_side; /* per side, by value */
  uint32_t *held, *decided; /* per side: how many of these hold; by growths that rules have seen */
  FS_VEC(uint8_t) truth;    /* per literal: does it hold */
  FS_VEC(double) activity;  /* per pair of literals */
  FS_VEC(uint8_t) phase;    /* per pair: does its first one hold, when it was decided last */
  FS_VEC(uint32_t) place;   /* per pair: where it is in the heap; FS_NONE */
  FS_VEC(uint32_t) heap;    /* pairs, the most active first */
  double bump;
  /* Per item: its start in a schedule that is known; NULL: none.  What is decided is decided as it
   * is there (Demirovic, Chu, Stuckey, Solution-based phase saving for CP, 2018; beyond it: also
   * what no clause has a literal of). */
  fs_side_value *guide, *guide_room;
  uint8_t *bool_guide; /* per boolean; counts with a guide */

  FS_VEC(fs_clause_part) clause; /* by offset */
  FS_VEC(uint32_t) learnt;       /* offsets */
  float clause_bump;
  uint32_t most_learnt;

  /* Rules. */
  uint32_t n_tables, n_tasks;
  fs_learner_table *table;
  fs_learner_task *task;
  uint32_t *task0, *task_of;            /* CSR per variable: its tasks */
  uint32_t *pair0, *pair;               /* CSR per item: those that it cannot run beside */
  uint32_t *pair_order;                 /* per pair: its order; FS_NONE: it has none */
  bool *pair_whole;                     /* per pair: by what is not queues */
  uint32_t n_orders, n_turn_orders;     /* the first ones are of tables that take turns */
  uint32_t *order_first, *order_second; /* per order: items, the one of the least id first */
  FS_VEC(uint32_t) waiting;             /* tables to look at */
  FS_VEC(fs_learner_set) set;           /* of growths on the trail */
  uint32_t *owner;                      /* per variable: the boolean of its presence, or FS_NONE */
  uint32_t *owned0, *owned;             /* CSR per boolean: variables */
  uint32_t n_links;
  fs_learner_link *link;
  fs_learner_task *apart;      /* spans, each two in a row apart from each other */
  uint32_t *apart0, *apart_of; /* CSR per variable: pairs of spans; NULL: there are none */
  uint32_t *link0, *link_of;   /* CSR per variable: links that it is in */
  FS_VEC(fs_growth) crossing;  /* of growths on the trail */
  uint32_t
      *in_order; /* per table that takes turns: its items by begin, in both directions of time */
  fs_step_of_table *step;
  fs_full_part *full;            /* of one table, in order */
  bool has_heights;              /* they were made of the tables that are for it */
  bool any_heights, all_heights; /* some table has them; each one */
  uint8_t *is_moved;             /* per item in moved[]: 1 at its lower side, 2 at the upper one */
  uint32_t *moved, n_moved;      /* items to look at */
  /* With heights: tasks; those of each table, the largest amounts first; those of task_of[]. */
  fs_plain_task *plain, *by_amount, *of_item;

  /* Tracing of conflicts. */
  fs_side_value *needed; /* per side */
  uint32_t *where;       /* per side: the growth that made it hold; FS_NONE: not needed */
  uint8_t *listed;       /* per side: is it in the list of those involved */
  FS_VEC(uint32_t) involved;
  FS_VEC(fs_literal) premise;
  FS_VEC(fs_literal) found;
  uint32_t found_levels;       /* the number of levels of found[] */
  FS_VEC(fs_growth_mark) mark; /* per growth */
  FS_VEC(uint64_t)
  level_seen; /* per level, from 1 on: twice the conflict that needs it, or 1 more */
  FS_VEC(uint32_t) ids;

  uint64_t conflicts, decisions;
  uint64_t work;      /* that the rules had: items, tasks and pairs that were looked at */
  uint64_t most_work; /* at the root, with which rules stop before their fixpoint; 0: none */
  uint64_t pause, next_restart; /* conflicts between restarts; at the next one */
  fs_status status;             /* memory ran out */
} fs_learner;

/* Requires a problem that fs_learner_knows. */
fs_status fs_learner_init(fs_learner *s, const fs_problem *p, fs_arena *arena) FS_MUST_USE;
void fs_learner_release(fs_learner *s);
/* Is everything of the problem in the rules?  Then what is refuted has no schedule. */
bool fs_learner_knows(const fs_problem *p);

/* learner.c */
/* Leaves of the windows only what the rules show, which is what a proof can show.  Requires a
 * learner that has done nothing yet.  O(items + edges). */
void fs_learner_strip(fs_learner *s);
/* No schedule may be longer than this from now on; at the root.  False: there is none. */
bool fs_learner_limit(fs_learner *s, fs_tick makespan);
typedef enum fs_learned { FS_LEARNED_NOTHING, FS_LEARNED_SCHEDULE, FS_LEARNED_NONE } fs_learned;
/* The schedule of these starts, in ticks, guides decisions from now on.  O(items). */
void fs_learner_guide(fs_learner *s, const fs_tick *start);
/* So do these booleans.  Requires a guide.  O(booleans). */
void fs_learner_guide_bools(fs_learner *s, const uint8_t *holds);
/* What was found is no schedule: these do not all hold in one.  The search goes on from there.
 * Requires literals that hold, after a schedule was found. */
void fs_learner_refuse(fs_learner *s, const fs_literal *at, size_t n);
/* Searches until a schedule is found (fs_learner_start has the starts), none exists, `conflicts`
 * more have been met, or `stop` says so. */
fs_learned fs_learner_search(fs_learner *s, uint64_t conflicts, bool (*stop)(void *), void *user);
/* Back to the root. */
void fs_learner_reset(fs_learner *s);
/* Is a limit refuted without any decision?  By rules up to a fixpoint, and energy: what must lie
 * between two times; where there are many items, by a part of that.  O(n^2) beside the rules.
 * root.c */
bool fs_learner_refutes(fs_learner *s, fs_tick makespan);

/* trail.c */
/* The side reaches the value, which is more than it has. */
void fs_learner_grow_more(fs_learner *s, uint32_t side, fs_side_value value, fs_cause cause,
                          uint32_t reason, fs_side_value at);
/* The side reaches the value. */
static inline void fs_learner_grow(fs_learner *s, uint32_t side, fs_side_value value,
                                   fs_cause cause, uint32_t reason, fs_side_value at) {
  if (s->value[side] < value) {
    fs_learner_grow_more(s, side, value, cause, reason, at);
  }
}
void fs_learner_undo(fs_learner *s, size_t length);
uint32_t fs_learner_literal(fs_learner *s, fs_literal l);
/* The place in of_side of the first literal of the side with at least this value. */
size_t fs_learner_place(const fs_learner *s, uint32_t side, fs_side_value value);
uint32_t fs_learner_growth(const fs_learner *s, uint32_t side, fs_side_value value);
void fs_learner_bump(fs_learner *s, uint32_t id);
/* The most active pair of literals that is not decided; FS_NONE: none. */
uint32_t fs_learner_choose(fs_learner *s);
/* The literals of a variable may be decided from now on. */
void fs_learner_open(fs_learner *s, uint32_t variable);

/* clauses.c */
/* The number of the clause's lemma in the log. */
uint32_t fs_learner_lemma(const fs_learner *s, uint32_t clause);
/* What the growth of a side decides: clauses. */
void fs_learner_visit(fs_learner *s, const fs_growth *g);
/* Adds the clause of found[], whose first literal is made to hold. */
void fs_learner_learn(fs_learner *s);
void fs_learner_forget(fs_learner *s);
/* The clause took part in a conflict. */
void fs_learner_credit(fs_learner *s, uint32_t clause);
/* Adds a clause of the problem, which is never forgotten; at the root.  Requires literals. */
void fs_learner_add_clause(fs_learner *s, const fs_literal *at, size_t n);
/* The premises of a clause for its first literal: appended to premise[]. */
void fs_learner_clause_premises(fs_learner *s, uint32_t clause);

/* analyze.c: traces the clash to a clause in found[], empty where it needs no decision; returns the
 * level to go back to. */
uint32_t fs_learner_trace(fs_learner *s);

/* pairs.c: lists the pairs of items that cannot run at one time.  Requires tables and tasks. */
fs_status fs_learner_make_pairs(fs_learner *s) FS_MUST_USE;

/* open.c: what there is where copies are open. */
/* Requires variables, and tasks of classes and amounts. */
fs_status fs_learner_open_links(fs_learner *s) FS_MUST_USE;
/* At the root. */
void fs_learner_open_clauses(fs_learner *s);
/* What follows from a growth of the variable for its links. */
void fs_learner_follow_links(fs_learner *s, uint32_t variable);
/* The same for spans that are apart. */
void fs_learner_follow_apart(fs_learner *s, uint32_t variable);
void fs_learner_explain_apart(fs_learner *s, const fs_growth *g, fs_side_value value);
void fs_learner_explain_link(fs_learner *s, const fs_growth *g, fs_side_value value);

/* rules.c */
/* Grows the earliest starts along edges, in place of those that the problem gives. */
void fs_learner_grow_heads(fs_learner *s);
/* Applies all rules up to a fixpoint, or a clash. */
void fs_learner_propagate(fs_learner *s);
/* tables.c: what follows from what is taken of a table that does not take turns. */
void fs_learner_look_at_table(fs_learner *s, const fs_learner_table *table);
void fs_learner_explain_table(fs_learner *s, const fs_growth *g, fs_side_value value);
/* At the moment more is taken than there is. */
void fs_learner_clash_at(fs_learner *s, const fs_learner_table *table, fs_side_value t);
void fs_learner_explain_moment(fs_learner *s, const fs_growth *g, fs_side_value value);
/* heights.c: the same where times are few. */
/* Requires a learner without a limit; the makespan is the latest end. */
fs_status fs_learner_make_heights(fs_learner *s, fs_tick makespan) FS_MUST_USE;
/* A growth of an item was made, or is about to be undone. */
void fs_learner_raise(fs_learner *s, const fs_growth *g);
void fs_learner_lower(fs_learner *s, const fs_growth *g);
/* The premises of some tasks that run at the time for sure and take more than `room`, but for one.
 */
void fs_learner_explain_heights(fs_learner *s, const fs_learner_table *table, fs_side_value at,
                                fs_side_value room, uint32_t but);
void fs_learner_look_at_heights(fs_learner *s, fs_learner_table *table);
/* Looks at the last item that has moved.  Requires one. */
void fs_learner_look_at_moved(fs_learner *s);
/* Nothing is to be looked at: no table waits, and no item has moved. */
void fs_learner_rest(fs_learner *s);
/* sets.c: what follows for sets of items of a table that takes turns. */
void fs_learner_look_at_sets(fs_learner *s, const fs_learner_table *table);
void fs_learner_explain_set(fs_learner *s, const fs_growth *g);
/* The premises of a growth, as far as the value needs them. */
void fs_learner_explain(fs_learner *s, const fs_growth *g, fs_side_value value);

/* The first error stays. */
static inline void fs_learner_note(fs_learner *s, fs_status status) {
  s->status = s->status == FSCHED_OK ? status : s->status;
}
/* What is explained needs the side to have the value, or the boolean to hold. */
static inline void fs_learner_premise(fs_learner *s, uint32_t side, fs_side_value value) {
  fs_literal l = {side, value};
  fs_learner_note(s, fs_vec_push(s->ctx, &s->premise, l));
}
static inline void fs_learner_condition(fs_learner *s, uint32_t boolean) {
  if (boolean != FS_NONE) {
    fs_learner_premise(s, 2 * boolean, 1);
  }
}
static inline uint32_t fs_first_bool(const fs_learner *s) { return s->n + s->n_ends; }
static inline uint32_t fs_first_order(const fs_learner *s) { return s->n + s->n_ends + s->n_bools; }
/* The side that, once it has grown, says that the first item of the order comes before the second;
 * the other one says that it comes behind. */
static inline uint32_t fs_order_side(const fs_learner *s, uint32_t order) {
  assert(order < s->n_orders);
  return 2 * (fs_first_order(s) + order);
}
/* The literal that such a side holds. */
static inline fs_literal fs_order_literal(uint32_t side) {
  return (fs_literal){side, (side & 1) == 0};
}
/* Is the boolean known to hold, or not to?  FS_NONE holds. */
static inline bool fs_is_true(const fs_learner *s, uint32_t boolean) {
  return boolean == FS_NONE || s->value[2 * boolean] > 0;
}
static inline bool fs_is_false(const fs_learner *s, uint32_t boolean) {
  return boolean != FS_NONE && s->value[2 * boolean + 1] == 0;
}
/* The variables of the k-th end and boolean of problem/spilling. */
static inline uint32_t fs_end_variable(const fs_learner *s, uint32_t k) {
  assert(k < s->n_ends);
  return s->n + k;
}
static inline uint32_t fs_bool_variable(const fs_learner *s, uint32_t k) {
  assert(k < s->n_bools);
  return fs_first_bool(s) + k;
}
static inline fs_literal fs_negated(fs_literal l) { return (fs_literal){l.side ^ 1, 1 - l.value}; }
static inline bool fs_holds(const fs_learner *s, fs_literal l) {
  return s->value[l.side] >= l.value;
}
static inline bool fs_fails(const fs_learner *s, fs_literal l) {
  return s->value[l.side ^ 1] >= 1 - l.value;
}
static inline fs_side_value fs_earliest(const fs_learner *s, uint32_t item) {
  return s->value[2 * item];
}
/* Where the item starts, in ticks.  Requires that a schedule was found. */
static inline fs_tick fs_learner_start(const fs_learner *s, uint32_t item) {
  assert(item < s->n);
  return (fs_tick)s->value[2 * item] * s->unit;
}
/* For how long the item takes of the table. */
static inline fs_side_value fs_learner_takes(const fs_learner *s, const fs_learner_table *table,
                                             uint32_t item) {
  return (table->queues ? s->busy : s->time)[item];
}
static inline fs_side_value fs_least_value(fs_side_value a, fs_side_value b) {
  return a < b ? a : b;
}
static inline fs_side_value fs_most_value(fs_side_value a, fs_side_value b) {
  return a > b ? a : b;
}
static inline fs_side_value fs_latest(const fs_learner *s, uint32_t item) {
  return -s->value[2 * item + 1];
}

#endif
