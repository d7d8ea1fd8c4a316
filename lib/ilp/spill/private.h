/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the spill model: spill/facts.c finds windows and classes, spill/model.c and
 * spill/rows.c write the model down, spill/point.c reads schedules, spill/lives.c and
 * spill/schedule.c make them, spill/forbid.c rules points out.
 *
 * Times in here are in units: the greatest common divisor of all durations and given starts.
 * Rounding all times of a schedule down to multiples of it leaves a schedule: durations are
 * multiples, order stays, and intervals that overlap afterwards overlapped before. */
#ifndef FS_ILP_SPILL_PRIVATE_H
#define FS_ILP_SPILL_PRIVATE_H

#include "ilp/spill/model.h"

/* A binary per time in [from, to) and class: the one of (t, k) is var + (t - from) * classes + k.
 * The span is empty when from >= to. */
typedef struct fs_start_span {
  uint32_t var, classes;
  int64_t from, to;
} fs_start_span;

enum fs_spill_use {
  FS_SPILL_MODIFIES = 1,
  FS_SPILL_BEGINS =
      2 /* may be the first writer: needs no content, and a residency begins with it */
};

typedef struct fs_spill_version {
  uint32_t memory, user0, user1; /* users: CSR; in op order, each once */
  uint64_t size;                 /* aligned */
  bool used;                     /* in a bounded memory, and has users or is kept */
  bool spills, given, kept;
  bool tracked; /* `stored` says when the store holds the content */
  bool bounded_store;
  int64_t write_time, read_time;
  uint32_t n_modify, n_begin, begin_op; /* begin_op: the only op that may begin it, or FS_NONE */
  fs_start_span in;                     /* in memory during [t, t+1) */
  fs_start_span
      begin; /* a residency begins with the first writer; only if several ops may be first */
  fs_start_span write, read;
  fs_start_span stored; /* the store holds the present content at t; has to + 1 values */
} fs_spill_version;

/* An in-place pair: the output takes the input's place when the op starts at t. */
typedef struct fs_spill_pair {
  uint32_t op, in, out; /* versions */
  uint64_t size;
  fs_start_span taken;
} fs_spill_pair;

/* Variable o_k: a and b are in memory at one time.  They are versions, or, from n_versions on, the
 * scratch of ops. */
typedef struct fs_spill_meet {
  uint32_t a, b, var;
} fs_spill_meet;

struct fs_spill_model {
  fs_arena arena;
  fsched_context *ctx;
  const fsched_graph *g;
  fs_model model;
  size_t max_terms;
  bool large, refused; /* too large, or refused: there is no model */
  fs_tick unit, lower_bound;
  int64_t horizon, bound; /* of the makespan */
  uint32_t n_cuts;

  int64_t *time, *head, *tail;
  uint32_t *ancestors;  /* per op: a bit per op that comes before it */
  fs_start_span *start; /* per op */
  fs_start_span late;   /* the makespan is above t, for t in [bound, horizon) */

  uint32_t n_classes;
  uint32_t *class_size;                 /* per class: number of queues; FS_NONE: unlimited */
  uint32_t *class_of;                   /* per queue: its class */
  uint32_t *choice0, *choice;           /* CSR per op: its classes, of which a gang takes all */
  uint32_t *copy_choice0, *copy_choice; /* CSR per memory: the classes of its copies */

  fs_spill_version *version;
  uint32_t *user_op;
  uint8_t *user_how;
  uint64_t *memory_unit; /* per memory: a number that divides all sizes in it */
  uint8_t *memory_roomy; /* per memory: it holds everything at once */
  uint32_t n_pairs;
  fs_spill_pair *pair;
  FS_VEC(fs_spill_meet) meet;
};

/* Units, windows, classes, versions; horizon in ticks.  spill/facts.c says when t->refused is set.
 * Requires an ordered graph.
 * O(ops * (ops + queues) + ops * memories * versions) */
fs_status fs_spill_facts(fs_spill_model *t, fs_tick horizon) FS_MUST_USE;
/* Rows of versions and memories.  spill/rows.c */
fs_status fs_spill_rows(fs_spill_model *t) FS_MUST_USE;
/* True when the user is the last op that modifies the version.  Requires a user of the version. */
bool fs_spill_last_writer(const fs_spill_model *t, const fs_spill_version *v, uint32_t user);

/* ---- a schedule in the making */

typedef struct fs_spill_life { /* a residency */
  uint32_t version, op;        /* a version, or the op of a scratch; the other is FS_NONE */
  uint32_t memory;
  uint64_t size;
  int64_t begin, end;
  uint32_t fill, users; /* fill: the copy that begins it, or FS_NONE; users: their number */
  uint32_t joined;      /* the earlier life that it was merged into, or FS_NONE */
  bool used;
} fs_spill_life;

typedef struct fs_spill_copy {
  uint32_t version, choice, life, store; /* choice: index of its class in its memory's choices */
  int64_t start, end;
  uint8_t kind; /* fs_copy_kind */
  bool used, dropped;
} fs_spill_copy;

typedef struct fs_spill_draft {
  fsched_context *ctx;
  fs_arena arena;
  FS_VEC(fs_spill_life) life;
  FS_VEC(fs_spill_copy) copy;
  uint32_t *user_life, *scratch_life; /* per user of the model; per scratch of the graph */
  int64_t makespan;
  bool wrong; /* the point is not a schedule */
} fs_spill_draft;

fs_status fs_spill_draft_begin(const fs_spill_model *t, fs_spill_draft *d) FS_MUST_USE;
void fs_spill_draft_end(fs_spill_draft *d);
/* Makes the residencies and copies of a point.  spill/lives.c */
fs_status fs_spill_lives(const fs_spill_model *t, const int64_t *value, bool merge,
                         fs_spill_draft *d) FS_MUST_USE;

/* Finds addresses of the lives that are of use in one memory; does nothing unless it is contiguous.
 * *exists is FS_NO if it is proven that there are none.  Requires a memory of the target.
 * spill/places.c */
fs_status fs_spill_place(const fs_spill_model *t, const fs_spill_draft *d, uint32_t memory,
                         uint64_t *address, fs_decision *exists) FS_MUST_USE;

/* Requires a time within the span, and one of its classes. */
static inline uint32_t fs_span_var(const fs_start_span *s, int64_t t, uint32_t k) {
  assert(t >= s->from && t < s->to && k < s->classes);
  return s->var + (uint32_t)(t - s->from) * s->classes + k;
}
/* The sum over times in [from, to] and all classes. */
static inline int64_t fs_span_sum(const fs_start_span *s, const int64_t *value, int64_t from,
                                  int64_t to) {
  int64_t sum = 0;
  for (int64_t t = from < s->from ? s->from : from; t <= to && t < s->to; t++) {
    for (uint32_t k = 0; k < s->classes; k++) {
      sum += value[fs_span_var(s, t, k)];
    }
  }
  return sum;
}
/* The first time whose value is 1, from `from` on; s->to when there is none. */
static inline int64_t fs_span_next(const fs_start_span *s, const int64_t *value, int64_t from) {
  int64_t t = from < s->from ? s->from : from;
  while (t < s->to && fs_span_sum(s, value, t, t) == 0) {
    t++;
  }
  return t < s->to ? t : (s->from < s->to ? s->to : INT64_MAX);
}

/* Adds to the row coef times the sum over the starts in [from, to] of one class, or of all
 * (FS_NONE).  Requires an open row. */
fs_status fs_spill_add(fs_spill_model *t, const fs_start_span *s, int64_t from, int64_t to,
                       uint32_t k, int64_t coef) FS_MUST_USE;
/* As fs_spill_add, for one time. */
static inline fs_status fs_spill_add_at(fs_spill_model *t, const fs_start_span *s, int64_t at,
                                        int64_t coef) {
  return fs_spill_add(t, s, at, at, FS_NONE, coef);
}

#endif
