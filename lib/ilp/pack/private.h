/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the strip packing model: pack/model.c makes the variables of time, pack/order.c the
 * binaries between two spans, pack/places.c the rows of contiguous memories, pack/amounts.c those
 * of queues, amounts and counted memories.  pack/symmetry.c says which form of a solution may be
 * assumed, pack/form.c gives a known solution that form, and pack/point.c converts an answer to a
 * point and back. */
#ifndef FS_ILP_PACK_PRIVATE_H
#define FS_ILP_PACK_PRIVATE_H

#include "base/limit.h"
#include "ilp/pack/model.h"

/* A variable plus a known amount, or the amount alone (var FS_NONE); and the range of the sum. */
typedef struct fs_pack_expr {
  uint32_t var;
  int64_t add;
  int64_t low, high;
} fs_pack_expr;

typedef enum fs_pack_length { FS_PACK_ZERO, FS_PACK_MAYBE_ZERO, FS_PACK_POSITIVE } fs_pack_length;

/* A span of time from `begin` to `end`: span i < n_items is item i, span n_items + r is residency
 * r.  Moments with equal `begin_ref` or `end_ref` are the same: the ref is the item's id where the
 * start or end of one item is the moment, else the span's own id. */
typedef struct fs_pack_span {
  fs_pack_expr begin, end;
  uint32_t begin_ref, end_ref;
  uint8_t length; /* fs_pack_length */
} fs_pack_span;

/* How the value of a variable follows from those before it, for pack/point.c. */
typedef enum fs_pack_kind {
  FS_PACK_AFTER,    /* 0 when x + add <= y holds, else 1; 1 in any case when binary `other` is 0 */
  FS_PACK_NOW,      /* 1 when x + add <= y holds, else 0 */
  FS_PACK_ALL,      /* 1 when none of x, y and other is 0 */
  FS_PACK_MINUS,    /* x - y + add */
  FS_PACK_ABSOLUTE, /* |x| */
  FS_PACK_NEGATIVE, /* 1 when x < 0 */
  FS_PACK_NOT_ZERO  /* 1 when x != 0 */
} fs_pack_kind;

typedef struct fs_pack_def {
  uint32_t var;
  uint8_t kind;         /* fs_pack_kind */
  uint32_t x, y, other; /* variables; FS_NONE: none, counts as 0 */
  int64_t add;
} fs_pack_def;

/* The truth of "span a has ended when span b begins": known, or that binary `var` is 0. */
typedef enum fs_pack_truth { FS_PACK_NO, FS_PACK_YES, FS_PACK_OPEN } fs_pack_truth;
typedef struct fs_pack_order {
  fs_pack_truth truth;
  uint32_t var;
} fs_pack_order;

/* Item `item` starts at `start` with its rectangle at `place` (units). */
typedef struct fs_pack_position {
  uint32_t item;
  int64_t start, place;
} fs_pack_position;

struct fs_pack_model {
  fsched_context *ctx;
  const fs_problem *p;
  fs_pack_options options;
  fs_model model;
  fs_arena arena;
  bool large; /* the model passed max_terms or another limit and was given up */

  uint32_t n_spans;
  fs_pack_span *span;
  uint32_t *self; /* 0, 1, 2, ...: the lists of items that begin and end an item's span */
  fs_pack_expr makespan;
  fs_pack_expr later; /* the negated shift of the items that move together; never above 0 */
  uint32_t peak;      /* variable, or FS_NONE */

  uint64_t *reach; /* a bit per pair of items: there is a path from one to the other */
  size_t reach_words;

  uint64_t *unit;      /* per memory: a number that divides all addresses */
  int64_t *room;       /* per memory: its capacity in units */
  fs_pack_expr *place; /* per residency, in units */
  uint32_t *pick;      /* per entry of p->choice: its binary, or FS_NONE where the class is known */

  /* What may be assumed of a solution; see pack/symmetry.c. */
  uint32_t *low_half;  /* per memory: the residency in its lower half, or FS_NONE */
  bool strip;          /* see fs_problem_is_strip */
  uint32_t early_half; /* the item in the first half of a strip, or FS_NONE */
  uint32_t *alike;     /* per item of a strip: the next one of the same size, or FS_NONE */

  /* The positions of the model by positions: each has a binary, from variable position_var on. */
  FS_VEC(fs_pack_position) position;
  uint32_t position_var;

  FS_VEC(fs_pack_def) def;
  uint64_t *slot; /* hash table (open addressing) from pairs of moments to binaries */
  uint32_t *slot_var;
  size_t n_slots, n_used;
};

/* --- pack/model.c --- */

/* Requires a span. */
static inline const uint32_t *fs_pack_begins(const fs_pack_model *t, uint32_t span, uint32_t *n) {
  assert(span < t->n_spans);
  const fs_problem *p = t->p;
  uint32_t r = span - p->n_items;
  *n = span < p->n_items ? 1 : p->res_begin0[r + 1] - p->res_begin0[r];
  return span < p->n_items ? &t->self[span] : &p->res_begin[p->res_begin0[r]];
}
/* Requires a span. */
static inline const uint32_t *fs_pack_ends(const fs_pack_model *t, uint32_t span, uint32_t *n) {
  assert(span < t->n_spans);
  const fs_problem *p = t->p;
  uint32_t r = span - p->n_items;
  *n = span < p->n_items ? 1 : p->res_end0[r + 1] - p->res_end0[r];
  return span < p->n_items ? &t->self[span] : &p->res_end[p->res_end0[r]];
}
/* Requires two items. */
static inline bool fs_pack_reaches(const fs_pack_model *t, uint32_t from, uint32_t to) {
  assert(from < t->p->n_items && to < t->p->n_items);
  return (t->reach[from * t->reach_words + to / 64] >> to % 64 & 1) != 0;
}
/* Adds coef * e to the row that is open.  Requires an open row. */
fs_status fs_pack_add(fs_pack_model *t, fs_pack_expr e, int64_t coef) FS_MUST_USE;
/* Adds the row x + add <= y, which need not hold where binary `unless` (or FS_NONE) is 1; O(1).
 * Requires that no row is open. */
fs_status fs_pack_row_before(fs_pack_model *t, fs_pack_expr x, int64_t add, fs_pack_expr y,
                             uint32_t unless, const char *name, uint32_t a, uint32_t b) FS_MUST_USE;
/* Adds a binary whose value follows from other variables.  Requires that no row is open. */
fs_status fs_pack_binary(fs_pack_model *t, fs_pack_def def, uint32_t *var, const char *name,
                         uint32_t a, uint32_t b) FS_MUST_USE;
fs_pack_expr fs_pack_known(int64_t value);
/* Is the difference of x and y known? */
static inline bool fs_pack_same_var(fs_pack_expr x, fs_pack_expr y) { return x.var == y.var; }
/* Adds an integer variable, or gives the number where the range has only one.  With an empty range
 * the model has no solution.  The id is appended to the name unless it is FS_NONE.  Requires that
 * no row is open. */
fs_status fs_pack_number(fs_pack_model *t, int64_t low, int64_t high, int64_t cost,
                         fs_pack_expr *out, const char *name, uint32_t id) FS_MUST_USE;
/* Is the model beyond its limit?  Sets `large` if so. */
bool fs_pack_full(fs_pack_model *t);

/* --- pack/order.c --- */
/* Has span a ended when b begins?  A binary for the answer is made on first use.  Requires two
 * spans. */
fs_status fs_pack_left(fs_pack_model *t, uint32_t a, uint32_t b, fs_pack_order *out) FS_MUST_USE;
/* What is known of fs_pack_left without a binary.  Requires two spans. */
fs_pack_truth fs_pack_left_truth(const fs_pack_model *t, uint32_t a, uint32_t b);
/* Does span i begin at least `gap` after j begins?  Where `ended` says that i has ended by then,
 * the binary is 1, which demands nothing.  Requires two spans. */
fs_pack_truth fs_pack_late_truth(const fs_pack_model *t, uint32_t i, uint32_t j, int64_t gap);
/* Requires two spans. */
fs_status fs_pack_late(fs_pack_model *t, uint32_t i, uint32_t j, int64_t gap, fs_pack_order ended,
                       fs_pack_order *out) FS_MUST_USE;
/* Adds rows that keep spans a and b from overlapping.  Requires two different spans, each pair
 * once. */
fs_status fs_pack_apart(fs_pack_model *t, uint32_t a, uint32_t b) FS_MUST_USE;
/* Adds coef * (1 when the order does not hold, else 0) to the open row.  Requires an open row. */
fs_status fs_pack_add_not(fs_pack_model *t, fs_pack_order o, int64_t coef) FS_MUST_USE;
void fs_pack_order_free(fs_pack_model *t);

/* --- pack/places.c --- */
uint64_t fs_pack_divisor(uint64_t a, uint64_t b); /* the greatest common; of 0 and a: a */
fs_status fs_pack_units(fs_pack_model *t) FS_MUST_USE;
/* Requires units. */
fs_status fs_pack_places(fs_pack_model *t) FS_MUST_USE; /* makes the variables */
/* Requires places. */
fs_status fs_pack_pairs(fs_pack_model *t) FS_MUST_USE; /* makes the rows */
/* The in-place declaration that lets two residencies coincide, or FS_NONE.  Requires two
 * residencies. */
uint32_t fs_pack_declared(const fs_problem *p, uint32_t a, uint32_t b);
/* Requires a residency. */
static inline bool fs_pack_placed(const fs_pack_model *t, uint32_t r) {
  assert(r < t->p->n_residencies);
  const fs_memory *m = &t->p->graph->target.memory[t->p->res_memory[r]];
  return fs_placement_has_addresses(m->placement) && t->p->res_size[r] > 0;
}
/* Requires a residency. */
static inline int64_t fs_pack_size(const fs_pack_model *t, uint32_t r) {
  assert(r < t->p->n_residencies);
  return (int64_t)(t->p->res_size[r] / t->unit[t->p->res_memory[r]]);
}

/* --- pack/positions.c --- */
/* Adds the rows and binaries of positions, which replace those of pairs.  Requires a problem that
 * fs_pack_has_positions accepts. */
fs_status fs_pack_positions(fs_pack_model *t) FS_MUST_USE;
bool fs_pack_has_positions(const fs_problem *p);
/* The first residency of a strip's item, or FS_NONE.  Requires an item. */
static inline uint32_t fs_pack_rectangle(const fs_problem *p, uint32_t item) {
  assert(item < p->n_items);
  uint32_t r = 0;
  while (r < p->n_residencies && p->res_begin[p->res_begin0[r]] != item) {
    r++;
  }
  return r < p->n_residencies ? r : FS_NONE;
}

/* --- pack/amounts.c --- */
fs_status fs_pack_amounts(fs_pack_model *t) FS_MUST_USE;

/* --- pack/symmetry.c --- */
fs_status fs_pack_symmetry_find(fs_pack_model *t) FS_MUST_USE;
/* The latest start that a solution needs for an item; INT64_MAX where there is no strip.  Requires
 * an item. */
int64_t fs_pack_latest(const fs_pack_model *t, uint32_t item);
/* The highest address, in units, that a solution needs for a residency.  Requires a residency. */
int64_t fs_pack_highest(const fs_pack_model *t, uint32_t residency);
/* Lists the *n normal starts of an item in ascending order and says whether there are any; not
 * decided where there are too many to enumerate.  `out` has room for the whole strip.  Requires an
 * item of a strip. */
fs_decision fs_pack_list_starts(const fs_pack_model *t, uint32_t item, int64_t *out,
                                uint32_t *n) FS_MUST_USE;
/* Does the same for the addresses (units) of a residency.  Requires a residency of a strip. */
fs_decision fs_pack_list_places(const fs_pack_model *t, uint32_t residency, int64_t *out,
                                uint32_t *n) FS_MUST_USE;
fs_status fs_pack_symmetry_rows(fs_pack_model *t) FS_MUST_USE;

/* --- pack/form.c --- */
/* Turns a solution (starts, and addresses in bytes) into an equally good one of the form that the
 * model assumes.  O(residencies^2) a round. */
fs_status fs_pack_form(const fs_pack_model *t, int64_t *start, int64_t *address) FS_MUST_USE;

/* --- pack/point.c --- */
/* Fills the point that has exactly these starts and addresses (in bytes); false: the model has no
 * such point. */
bool fs_pack_fill(const fs_pack_model *t, const int64_t *start, const int64_t *address,
                  const uint32_t *choice, int64_t *value);
/* The begin and end of a residency, and the makespan, that follow from the starts.  Requires a
 * residency. */
void fs_pack_times(const fs_pack_model *t, const int64_t *start, uint32_t residency, int64_t *begin,
                   int64_t *end);
int64_t fs_pack_total(const fs_pack_model *t, const int64_t *start);

#endif
