/* SPDX-License-Identifier: Apache-2.0 */
/* A problem made ready for search: copies are ops of their own, rings of known depth are arcs, and
 * queues and lanes are tracks. */
#ifndef FS_MODULO_BODY_H
#define FS_MODULO_BODY_H

#include "modulo/problem/problem.h"

enum { FS_MODULO_TRACKS = 64 }; /* of a group */

/* start(to) + distance * period >= start(from) + delay */
typedef struct fs_modulo_arc {
  uint32_t from, to;
  int64_t distance; /* may be negative where a ring is read long after it is written */
  uint32_t ring;    /* of the problem, or FS_NONE */
  bool tie;         /* nobody waits; else the delay is the latency of `from` */
  bool entry;       /* with other copies there are other arcs: it is no bound of these */
  int64_t delay;    /* ticks; of a tie it may be negative */
} fs_modulo_arc;

/* An op's need of one track.  Tracks that ops choose between form a group, in which they are
 * bits. */
typedef struct fs_modulo_claim {
  uint32_t op, group;
  uint64_t domain;
  int64_t hold; /* ticks: time on a queue, latency on a lane */
} fs_modulo_claim;

typedef struct fs_modulo_body {
  const fs_modulo_problem *p;
  uint32_t n, copies; /* op copy * p->n + i is op i of the problem */
  bool held_back;     /* commands that are slow hold waits back */
  bool in_order;      /* the copies of an op start in the order of their iterations */
  int64_t *time, *latency;
  uint32_t n_arcs;
  fs_modulo_arc *arc;
  uint32_t *out0, *out; /* CSR per op: arcs from it */
  uint32_t *in0, *in;   /* CSR per op: arcs to it */
  uint32_t n_claims;
  uint32_t *claim0; /* CSR per op: claims; those of queues come first */
  fs_modulo_claim *claim;
  uint32_t n_queue_groups, n_groups, n_tracks;
  uint32_t *track0; /* per group: its first track */
  uint32_t *turn;   /* per group: so many iterations go round all its tracks, of which ops then have
                     * the first; 1: each op keeps its own (turns.h) */
  uint32_t *name;   /* per track: the queue, or its first lane within its resource */
  uint64_t *unit;   /* per resource: lanes that a track stands for */
  uint32_t *alike;  /* per track: the first one that the same ops may take */
  int64_t *sure;    /* per track: ticks, held by claims that have no other */
  uint32_t *member0, *member; /* CSR per group: claims */
  /* rings whose depth is to be chosen, of a body of one copy or in order: */
  uint32_t n_open;
  uint32_t *open;    /* rings of the problem */
  int64_t total;     /* ticks: sum of all latencies */
  int64_t distances; /* sum of all distances, without signs */
} fs_modulo_body;

/* Whether plans of several copies need not let an iteration of an op start before an earlier one.
 *
 * Let the n-th start of each op be that of iteration n.  Where start(b, i + d) >= start(a, i) + x
 * for all i, b has started by any time t in no more than d iterations more than a has by t - x, so
 * that it holds of the n-th starts, too; and queues and lanes stay with the starts that have them.
 * So whatever is the same in all iterations is kept: edges, rings, the makespan of an iteration.
 * What is not: slots that are given back several at once, orders of ops that share a queue in some
 * iterations alone, writers in place, which wait for others in some iterations alone, and waits
 * that slow commands of just that queue hold back.
 *
 * In this order a ring of some depth has what it would need with more slots, too, so a depth may
 * be left open as it is in a body of one copy.  Complexity: O(ops + readers). */
bool fs_modulo_in_order(const fs_modulo_problem *p);

/* Makes the body of so many copies.  `depth`: per ring of the problem a depth to be taken instead
 * of its own; FS_NONE: none, the ring does not limit; NULL: their own, and those without stay open.
 * *decided: FS_NOT_DECIDED if it is too large (numbers, or queues of a group), else FS_YES.
 * Requires 1 to FS_MODULO_COPIES copies, and depths unless there is one copy, or the iterations are
 * in order; what rings give back at once counts where the copies are a multiple of it.  Complexity:
 * O(size * copies). Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_body_make(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                              uint32_t copies, const uint32_t *depth, fs_modulo_body *out,
                              fs_decision *decided) FS_MUST_USE;

/* The copy that an iteration of an op of the problem is, and how many periods after that of copy 0
 * to copies - 1.  Requires an op. */
static inline uint32_t fs_modulo_node(const fs_modulo_body *b, uint32_t op, int64_t iteration,
                                      int64_t *periods) {
  FS_ASSERT_SLOW(op < b->p->n);
  int64_t u = b->copies;
  *periods = fs_floor_div(iteration, u);
  return (uint32_t)(iteration - *periods * u) * b->p->n + op;
}

/* The same with copies in any order, among which there may be plans that are found sooner.
 * Requires depths. */
fs_status fs_modulo_body_make_free(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                                   uint32_t copies, const uint32_t *depth, fs_modulo_body *out,
                                   fs_decision *decided) FS_MUST_USE;

/* Is there a wait between two ops of which the second comes after the first, if they share a queue
 * or not?  Requires an op. */
static inline bool fs_modulo_waits(const fs_modulo_body *b, uint32_t from, bool share) {
  FS_ASSERT_SLOW(from < b->n);
  return !share || b->latency[from] > b->time[from];
}

#endif
