/* SPDX-License-Identifier: Apache-2.0 */
/* Small problems of which all schedules can be listed, and a prover for them.  Both are written
 * from the format alone, and share nothing with the checker. */
#ifndef FS_TEST_SMALL_PROOF_H
#define FS_TEST_SMALL_PROOF_H

#include "base/mem.h"
#include "fsched/graph.h"
#include "kit/gen.h"

enum { SMALL_OPS = 6, SMALL_QUEUES = 3, SMALL_SETS = 9 };

typedef struct small_proof {
  unsigned n, n_queues;
  unsigned time[SMALL_OPS];    /* in units */
  unsigned latency[SMALL_OPS]; /* until the op is complete; 0: as its time */
  unsigned queues[SMALL_OPS];  /* a bit for each that the op may run on, or takes */
  bool gang[SMALL_OPS];        /* it takes all of them */
  unsigned pred[SMALL_OPS];    /* a bit for each */
  unsigned use[SMALL_OPS], capacity, concurrency; /* 0: no limit */
  unsigned unit;
} small_proof;

/* `mixed`: ops that name a queue of a class, and gangs, beside ops on any queue of that class. Then
 * sets of queues may say less than the queues do. */
small_proof fs_small_proof(fs_rng *r, unsigned most_ops, unsigned most_time, bool mixed);
/* Gives some ops latencies. */
void fs_small_latencies(small_proof *c, fs_rng *r);
/* An op takes no time, and fits beside each other op, but not beside two. */
small_proof fs_small_moments(fs_rng *r);
fsched_graph *fs_small_proof_graph(const small_proof *c);
/* Adds the lines up to "begin".  Sets 0 to fs_small_proof_sets() - 1: each set of queues, then the
 * resource and the concurrency, where there are. */
void fs_small_proof_head(const small_proof *c, fs_text *t);
unsigned fs_small_proof_sets(const small_proof *c);

/* Is it a schedule?  Starts are in units. */
bool fs_small_proof_right(const small_proof *c, const unsigned *start);
/* How long it is until the op is complete. */
static inline unsigned fs_small_whole(const small_proof *c, unsigned op) {
  return c->latency[op] > c->time[op] ? c->latency[op] : c->time[op];
}
/* Do the ops take more of something than there is: *whole: of what is not queues? */
bool fs_small_exclude(const small_proof *c, unsigned a, unsigned b, bool *whole);
static inline unsigned fs_small_proof_end(const small_proof *c, const unsigned *start) {
  unsigned end = 0;
  for (unsigned op = 0; op < c->n; op++) {
    unsigned own = start[op] + fs_small_whole(c, op);
    end = own > end ? own : end;
  }
  return end;
}
/* The next starts of which no op ends behind the horizon; false behind the last ones.  The first
 * ones are 0. */
bool fs_small_proof_next(const small_proof *c, unsigned horizon, unsigned *start);

/* Tries to add steps that refute all schedules of up to `horizon` units, which takes a search over
 * starts and orders; false: it has found one that its rules cannot refute. */
bool fs_small_proof_refute(const small_proof *c, fs_rng *r, unsigned horizon, fs_text *t);

#endif
