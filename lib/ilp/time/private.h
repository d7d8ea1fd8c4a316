/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the time-indexed model; see time/model.c. */
#ifndef FS_ILP_TIME_PRIVATE_H
#define FS_ILP_TIME_PRIVATE_H

#include <stdio.h>

#include "ilp/time/model.h"

/* How an item's start is modelled.  The last item, which takes no time, is the sink. */
typedef enum fs_time_role {
  FS_TIME_FREE,  /* variables of its own, one per class and start */
  FS_TIME_FIXED, /* a constant */
  FS_TIME_RIGID  /* starts at est + k when the shift is max_shift - k */
} fs_time_role;

typedef struct fs_time_item {
  uint8_t role;
  uint32_t n_choices; /* number of classes that are open; 1 for gangs and known classes */
  uint32_t var0;      /* (class, start): var0 + class * (lst - est + 1) + start - est; FS_NONE */
  uint32_t known;     /* the class if only one is left; FS_NONE for gangs */
  fs_tick est, lst;   /* earliest and latest start */
  fs_tick time;
} fs_time_item;

/* The life of a residency, from `begin` to the last of `end`.  Whether it lives is known outside of
 * [may0, may1) (no) and within [sure0, sure1) (yes).  With several ends, "live at t" is variable
 * var0 + t - var_t0 for t >= var_t0. */
typedef struct fs_time_life {
  uint32_t begin; /* item that begins it; FS_NONE: it lives from time 0 */
  uint32_t end0, end1;
  uint32_t var0;
  fs_tick var_t0, var_t1;
  fs_tick may0, may1, sure0, sure1;
  bool instant; /* its length may be 0: "began before t, ends after t" has variables, too */
  uint32_t over0;
  fs_tick over_t0, over_t1;
  bool touched; /* it may live at the times [from, to) of the model */
} fs_time_life;

/* Two residencies of which one has to lie above the other while both live. */
typedef struct fs_time_pair {
  uint32_t a, b, below, above, same; /* residencies; variables; same FS_NONE: none */
} fs_time_pair;

struct fs_time_model {
  const fs_problem *p;
  fs_time_options o;
  fs_arena arena;
  fs_model m;
  bool full;       /* more than o.max_terms */
  bool impossible; /* some window is empty */

  uint32_t n;         /* items without the sink, which is item n */
  fs_time_item *item; /* n + 1 */
  uint64_t *reach;    /* per item: a bit per item that it precedes; NULL: too many items */
  size_t words;
  bool rigid;        /* some items move together */
  uint32_t shift0;   /* max_shift + 1 variables */
  fs_tick max_shift; /* at most o.max_shift */
  fs_tick from, to;  /* rows are needed at times in [from, to) */
  uint32_t *near;    /* items that may run in [from, to], ascending */
  uint32_t n_near;

  fs_time_life *life; /* per residency */
  FS_VEC(uint32_t) life_end;
  uint8_t *same;    /* per coinciding pair: fs_time_same */
  uint8_t *reduces; /* per coinciding pair: memories that are amounts count it once */
  uint32_t *near_pair, n_near_pair; /* pairs that may share their place near [from, to] */
  uint32_t *same_var;               /* per coinciding pair: variable; for FS_TIME_PAIRS */
  uint64_t *unit;                   /* per memory: a number that divides all addresses */
  uint32_t *address_var;            /* per residency: variable; for FS_TIME_PAIRS */
  uint32_t *position_var0;          /* per residency: first variable; for FS_TIME_POSITIONS */
  FS_VEC(uint32_t) owner;           /* per variable: its set, of which only one is 1; or FS_NONE */
  FS_VEC(fs_time_pair) pair;
  uint32_t n_covers; /* number of sets of residencies that exclude each other; for FS_TIME_GIVEN */
};

/* Whether the two of a coinciding pair share their place. */
typedef enum fs_time_same {
  FS_SAME_NO,  /* they do not: they are treated as any two */
  FS_SAME_YES, /* they share their place while the op runs */
  FS_SAME_OPEN /* variable same_var decides */
} fs_time_same;

/* time/items.c: roles and windows; variables of starts, and the rows that concern starts alone. */
fs_status fs_time_items(fs_time_model *t) FS_MUST_USE;
/* Requires what fs_time_items makes. */
fs_status fs_time_starts(fs_time_model *t) FS_MUST_USE;
/* Does `a` end before `b` starts, whatever happens?  Requires two items, of which one may be the
 * sink. */
bool fs_time_before(const fs_time_model *t, uint32_t a, uint32_t b);

/* time/terms.c: terms of the open row. */
/* Adds coef * (1 if the item starts in [lo, hi] on the class, else 0); the class is an index among
 * its choices, or FS_NONE for any.  Requires an open row, an item or the sink, and one of its
 * choices or any. */
fs_status fs_time_add_start(fs_time_model *t, uint32_t item, uint32_t choice, fs_tick lo,
                            fs_tick hi, int64_t coef) FS_MUST_USE;
/* Adds coef * (start of the item).  Requires an open row, and an item or the sink. */
fs_status fs_time_add_time(fs_time_model *t, uint32_t item, int64_t coef) FS_MUST_USE;
/* Adds coef * (1 if the item runs in slot [at, at + 1), or, with `inside`, if it began before `at`
 * and ends after it; else 0).  Requires an open row, and an item or the sink. */
fs_status fs_time_add_active(fs_time_model *t, uint32_t item, uint32_t choice, fs_tick at,
                             bool inside, int64_t coef) FS_MUST_USE;
/* Requires that no row is open. */
fs_status fs_time_add_var(fs_time_model *t, fs_var_kind kind, int64_t high, int64_t cost,
                          uint32_t owner, const char *name, uint32_t *var) FS_MUST_USE;
/* Ends a row of the form `<= capacity` and drops it when it cannot be broken.  *kept says whether
 * the row was kept.  Requires an open row. */
fs_status fs_time_end_row(fs_time_model *t, bool *kept) FS_MUST_USE;
/* Drops the rows of a sequence that their neighbour implies. */
void fs_time_drop_weaker(fs_time_model *t, bool *before, bool kept);

/* time/amounts.c: resources, concurrency and classes of queues. */
fs_status fs_time_amounts(fs_time_model *t) FS_MUST_USE;

/* time/lives.c: lives of residencies, and memories as amounts. */
fs_status fs_time_lives(fs_time_model *t) FS_MUST_USE;
/* Requires lives. */
fs_status fs_time_memories(fs_time_model *t) FS_MUST_USE;
/* Adds coef * (1 if the residency lives in slot [at, at + 1), or, with `inside`, if it began before
 * `at` and ends after it; else 0).  Requires an open row, and a residency. */
fs_status fs_time_add_live(fs_time_model *t, uint32_t residency, fs_tick at, bool inside,
                           int64_t coef) FS_MUST_USE;

/* True when the residency is in a contiguous memory and has bytes.  Requires a residency. */
bool fs_time_placed(const fs_time_model *t, uint32_t residency);
/* Do the two residencies form a pair that may share its place?  Requires two residencies. */
bool fs_time_coincide(const fs_time_model *t, uint32_t a, uint32_t b);

/* time/positions.c, time/pairs.c, time/given.c: addresses.  Requires lives. */
fs_status fs_time_positions(fs_time_model *t) FS_MUST_USE;
/* Requires lives. */
fs_status fs_time_pairs(fs_time_model *t) FS_MUST_USE;
/* Requires lives, and addresses. */
fs_status fs_time_given(fs_time_model *t) FS_MUST_USE;

#endif
