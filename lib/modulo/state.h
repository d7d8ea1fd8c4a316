/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the search at a fixed interval.  All that is undone lies in one array of cells.
 * Times are in units of 1 / period.den ticks. */
#ifndef FS_MODULO_STATE_H
#define FS_MODULO_STATE_H

#include "modulo/fixed.h"

#define FS_MODULO_FAR (INT64_MIN / 4) /* no path */

/* Of a pair: not decided; without a common track; else it is the number of rounds k (periods, times
 * the turn of the group) by which start(b) + k * round comes next after start(a). */
#define FS_MODULO_OPEN INT64_MIN
#define FS_MODULO_APART (INT64_MIN + 1)

/* Two claims, of a and b, that may be on a common track. */
typedef struct fs_modulo_pair {
  uint32_t claim_a, claim_b, a, b; /* a <= b; equal where an op needs two tracks */
  uint32_t next;                   /* another one of a and b */
  bool shared;                     /* their ops have a track in common, whichever it is */
  bool given;                      /* a ring gives the order on a common track: */
  int64_t low, high;               /* of k */
} fs_modulo_pair;

typedef struct fs_modulo_undo {
  uint32_t cell;
  int64_t old;
} fs_modulo_undo;

typedef struct fs_modulo_state {
  fsched_context *ctx;
  fs_arena arena;
  const fs_modulo_body *b;
  const fs_modulo_question *q;
  uint32_t n;
  int64_t period, scale;
  /* cells: n * n longest paths, then those below */
  int64_t *cell;
  uint32_t domain0;     /* per claim: the tracks that are left */
  uint32_t load0;       /* per track: what is held of it */
  uint32_t pair0;       /* per pair */
  uint32_t low0, high0; /* per open ring: its depth; high may be INT64_MAX */
  FS_VEC(fs_modulo_undo) trail;
  uint32_t n_pairs;
  fs_modulo_pair *pair;
  uint32_t *first_pair; /* a * n + b */
  uint32_t *of0, *of;   /* CSR per claim: pairs */
  uint32_t *weight;     /* per pair, then per claim, then per ring: failures */
  uint32_t *waiting;    /* pairs to be looked at again */
  uint32_t n_waiting;
  bool *is_waiting;
  uint32_t *row, *column; /* for insertion of arcs */
  uint32_t *part;         /* per op */
  uint64_t *room;         /* per memory: what rings of given depth leave */
  bool overfull;          /* they leave less than nothing */
  bool rings_wait;        /* an open ring is to be looked at again */
  uint64_t steps;
  fs_status status; /* sticky */
} fs_modulo_state;

/* Depths above this are not told apart from it. */
enum { FS_MODULO_DEPTHS = 1 << 16 };

/* The length of so many periods. */
static inline int64_t fs_modulo_lasting(const fs_modulo_state *s, int64_t periods) {
  FS_ASSERT_SLOW(periods <= 2 * (int64_t)FS_MODULO_DEPTHS);
  return periods * s->period;
}
/* After so long a claim's op starts on the same track again. */
static inline int64_t fs_modulo_round(const fs_modulo_state *s, uint32_t claim) {
  return s->period * s->b->turn[s->b->claim[claim].group];
}
static inline int64_t fs_modulo_path(const fs_modulo_state *s, uint32_t from, uint32_t to) {
  return s->cell[from * s->n + to];
}
static inline uint64_t fs_modulo_domain(const fs_modulo_state *s, uint32_t claim) {
  return (uint64_t)s->cell[s->domain0 + claim];
}
static inline bool fs_modulo_single(uint64_t domain) { return (domain & (domain - 1)) == 0; }

/* Prepares a state.  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_state_make(fsched_context *ctx, const fs_modulo_body *b,
                               const fs_modulo_question *q, fs_modulo_state *s) FS_MUST_USE;
void fs_modulo_state_drop(fs_modulo_state *s);

/* Sets a cell so that it can be undone; false if memory runs out.  Requires (unchecked: it is
 * called for each path) a cell. */
bool fs_modulo_set(fs_modulo_state *s, uint32_t cell, int64_t value);
/* Takes back all that was set since the trail was so long.  Requires a length it had. */
void fs_modulo_undo_to(fs_modulo_state *s, size_t length);

/* start(to) >= start(from) + weight, and what follows for all longest paths; false if there is a
 * cycle that is longer than 0, or memory runs out.  Requires ops. */
bool fs_modulo_insert(fs_modulo_state *s, uint32_t from, uint32_t to, int64_t weight);
/* Puts in the arcs of the body, and the limit of the makespan, and finds the parts.  False: there
 * is no plan.  Requires a state that is new. */
bool fs_modulo_root(fs_modulo_state *s);

/* Orders of a pair's ops on a common track, as said at FS_MODULO_OPEN; none if low > high. */
typedef struct fs_modulo_window {
  int64_t low, high;
} fs_modulo_window;
/* The orders that paths allow.  If no path connects the two, k is 0 without loss: one of them, and
 * all that is connected with it, can be moved by whole periods.  Requires a pair. */
fs_modulo_window fs_modulo_pair_window(const fs_modulo_state *s, uint32_t pair);

/* Decisions.  False: they contradict what is known, or memory runs out.  Requires an id. */
bool fs_modulo_put_pair(fs_modulo_state *s, uint32_t pair, int64_t k);
bool fs_modulo_put_domain(fs_modulo_state *s, uint32_t claim, uint64_t domain);
/* A claim that has one track from the beginning takes it. */
bool fs_modulo_begin_claim(fs_modulo_state *s, uint32_t claim);
bool fs_modulo_put_depth(fs_modulo_state *s, uint32_t open, int64_t low, int64_t high);
/* Finds all that follows; false on contradiction.  Requires that the root was made. */
bool fs_modulo_propagate(fs_modulo_state *s);
/* The same for open rings alone, which paths and capacities limit. */
bool fs_modulo_propagate_rings(fs_modulo_state *s);
/* Do ops that exclude each other, by their tracks or by paths, fit into the period?  Requires that
 * all was propagated. */
bool fs_modulo_cliques_fit(fs_modulo_state *s);
/* Do the largest depths of all open rings fit? */
bool fs_modulo_depths_fit(const fs_modulo_state *s);

/* Held-back waits: what follows from a pair that has been decided, a claim that has got its track,
 * and a ring whose largest depth has become less. */
bool fs_modulo_hold_pair(fs_modulo_state *s, uint32_t pair);
bool fs_modulo_hold_claim(fs_modulo_state *s, uint32_t claim);
bool fs_modulo_hold_ring(fs_modulo_state *s, uint32_t open);

#endif
