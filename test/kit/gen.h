/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs for property tests and benchmarks, made through the builder API.  The same
 * parameters give the same graph on every machine.
 *
 * Shape: ops in program order read one to three recent buffers (now and then an old one, or given
 * content) and write one new buffer; the options add the rest of the format.  Memories are "m0",
 * "m1", ... (bounded) and "store" (unbounded, their backing).  Queues are "q0", "q1", ... in
 * classes "c0", "c1", ...; where there are two or more, the last queue is alone in class "copy",
 * and runs the copies and the ops that load.  Cost: O(n_ops), about 1 us per op. */
#ifndef FS_TEST_GEN_H
#define FS_TEST_GEN_H

#include "base/base.h"
#include "fsched/graph.h"

/* splitmix64 */
typedef struct fs_rng {
  uint64_t state;
} fs_rng;

static inline uint64_t fs_rng_next(fs_rng *r) {
  uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
/* Returns a number uniform in [0, n), n > 0. */
static inline uint32_t fs_rng_below(fs_rng *r, uint32_t n) {
  return (uint32_t)((fs_rng_next(r) >> 32) * n >> 32);
}
/* Returns true once in n times on average. */
static inline bool fs_rng_one_in(fs_rng *r, uint32_t n) { return fs_rng_below(r, n) == 0; }

typedef struct fs_gen_params {
  uint64_t seed;
  uint32_t n_ops;
  uint32_t n_queues;   /* 0: implicit queues */
  uint32_t n_classes;  /* of the compute queues; 0: 1 */
  uint32_t n_memories; /* bounded ones; 0: all buffers are in the unbounded one */
  uint64_t align;      /* 0: 1 */
  uint32_t max_size;   /* largest buffer; 0: 100 */
  uint32_t max_time;   /* 0: 10 */
  uint32_t window;     /* how many recent buffers are read from; 0: 32 */
  /* Capacity divided by the least legal one, which is the largest need of one op with `backing`,
   * else the sum of all versions (at which a schedule always exists). 1.0 is the tightest; 0 stands
   * for 1.0. */
  double tightness;
  bool backing; /* bounded memories have a backing store, to which they spill */
  bool counted; /* every other bounded memory is counted */
  bool gangs;   /* one op in ten, if there are three queues or more */
  bool scratch;
  bool inplace;
  bool resources;   /* two resources */
  bool concurrency; /* a limit on how many ops run at once */
  bool inouts;      /* inout and out_existing args */
  bool ats;         /* byte ranges */
  bool zero_times, zero_sizes;
  bool io;       /* inputs, constants, outputs, some state */
  bool near;     /* nothing is read that is older than the window, so what lives does not grow */
  bool raw;      /* hazards: raw */
  bool versions; /* some `out` args start a further version of an old buffer */
  bool no_deps;  /* no_dep and value args */
  bool afters;   /* edges without data */
  bool
      states; /* as many state buffers as inputs; some are overwritten before anything reads them */
  /* Where zero, the members below change nothing of the graph. */
  fsched_sync sync;
  uint32_t n_slots;     /* slots of a barrier: the target states them, and ops take up to: */
  uint32_t most_demand; /* slots of an op, 0: 1 */
  bool counting;        /* every other queue counts, for FSCHED_SYNC_BLOCK */
  bool views;           /* most byte ranges become strided views of some of their bytes */
  bool class_gangs;     /* half of the gangs, and some other ops, take any queues of a class */
  bool members;         /* the members of every other gang have args of their own; none conflict */
  double short_share;   /* without `backing`: the capacity as a part of all versions; there may be
                           no schedule */
  bool latencies;       /* about one op in three is complete later than its queues go on */
} fs_gen_params;

fs_status fs_gen_graph(fsched_context *ctx, const fs_gen_params *params,
                       fsched_graph **out) FS_MUST_USE;
/* Draws parameters from a seed: small graphs with any mix of the options, for property tests.
 * `backing` is always on, `raw` off. */
fs_gen_params fs_gen_any(uint64_t seed, uint32_t max_ops);
/* Draws small graphs in which what is rare elsewhere is usual: gangs whose slots fill several
 * barriers, ops and buffers of size and time 0, counted memories with hardly any room, state,
 * ranges, outputs in an input's place, scratch, resources and limits on ops at once, in any mix. */
fs_gen_params fs_gen_odd(uint64_t seed, uint32_t max_ops);
/* Everything that touches memory at once, with room for little more than one op. */
fs_gen_params fs_gen_tight(uint64_t seed, uint32_t n_ops);
/* All kinds of ops and args on two classes of queues of unlike load, with one memory that spills;
 * `near`: as above. */
fs_gen_params fs_gen_mixed(uint64_t seed, uint32_t n_ops, bool near);

#endif
