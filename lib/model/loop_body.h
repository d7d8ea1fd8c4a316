/* SPDX-License-Identifier: Apache-2.0 */
/* What the iterations of a loop that was unrolled owe each other, found in the graph of their ops:
 * edges with distances in iterations, and values that live in slots.
 *
 * The edges into the last iteration of the last run are those of all iterations, as far as these
 * have predecessors, if those into the iteration before it are the same.  They are when tags, steps
 * and rings order iterations alike; a step that makes ranges overlap in a few iterations alone does
 * not, and then there is no body. */
#ifndef FS_LOOP_BODY_H
#define FS_LOOP_BODY_H

#include "model/graph.h"

typedef struct fs_body_edge {
  uint32_t from, to; /* members */
  uint64_t distance; /* `to` of iteration i comes after `from` of iteration i - distance */
} fs_body_edge;

/* A version that a member begins, and that lives until its last reader is over. */
typedef struct fs_body_value {
  uint32_t writer; /* member */
  uint32_t memory;
  uint64_t size;    /* aligned */
  const char *name; /* of its buffer, as described */
  uint32_t n_name;  /* bytes of the name */
  uint64_t depth;   /* slots that were given; 0: none were */
  uint32_t most;    /* of a depth that was not given: the largest; 0: any */
  uint64_t closes; /* 0, or the iterations of a run, which are to be whole turns of a few slots more
                    * than the plan has, so that the last value lies where that on entry does */
  uint32_t every;  /* that are given back at once, in loops that stay loops; 0 as 1 */
  uint32_t ahead;  /* one more than the prefetch that was given for such a loop; 0: none was */
  bool in_place;   /* the writer works, in such a loop, in place of the version of `depth`
                    * iterations ago, and in the first ones of what is there on entry */
  uint32_t reader0, n_readers;
} fs_body_value;

typedef struct fs_body_reader {
  uint32_t member;
  uint64_t back; /* of iteration i reads the version of iteration i - back */
} fs_body_reader;

typedef struct fs_loop_body {
  uint32_t n;   /* members: the body's ops */
  uint32_t *op; /* per member: its instance in the last iteration */
  uint64_t trip, runs;
  uint64_t versions; /* how many of them are worth slots: trip, or more where runs may be joined */
  bool periodic;     /* else what follows is empty */
  uint32_t n_edges;
  fs_body_edge *edge; /* ascending in `to`, then `from`, then distance; no repeats */
  uint32_t n_values;
  fs_body_value *value;
  fs_body_reader *reader;
  uint64_t *held; /* per memory: bytes of versions from outside that the loop touches, aligned */
} fs_loop_body;

/* What is found once for all loops of a graph. */
typedef struct fs_loop_index {
  bool *inner;            /* per loop: no loop is in it, and it has ops that run twice or more */
  uint32_t *body0, *body; /* CSR per loop: its own body ops */
  uint32_t *op0, *op;     /* CSR per body op: its instances, ascending */
  uint32_t *nth;          /* per op: which instance it is, from 0 */
  uint32_t *member;       /* per body op: which of its loop's own, from 0 */
  uint64_t *depth;  /* per arg of a body op's first instance, from value0: slots given, or 0 */
  uint32_t *value0; /* per body op */
} fs_loop_index;

/* Makes the index in `arena`.  Complexity: O(ops + loops + rings).  Errors: FSCHED_SYSTEM. */
fs_status fs_loop_index_make(fs_arena *arena, const fsched_graph *g,
                             fs_loop_index *out) FS_MUST_USE;

/* Finds the body of a loop that is `inner`; its arrays are in `arena`.  Complexity: O(n log n) in
 * members, edges and args of two iterations.  Errors: FSCHED_SYSTEM. */
fs_status fs_loop_body_find(fsched_context *ctx, fs_arena *arena, const fsched_graph *g,
                            const fs_loop_index *index, uint32_t loop,
                            fs_loop_body *out) FS_MUST_USE;

/* How many characters of a buffer's name are the one that it was described with: in an unrolled
 * graph, a version that became a buffer has its number behind that. */
uint32_t fs_described_name(const fsched_graph *g, uint32_t buffer);

#endif
