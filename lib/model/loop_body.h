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
  bool periodic; /* else what follows is empty */
  uint32_t n_edges;
  fs_body_edge *edge; /* ascending in `to`, then `from`, then distance; no repeats */
  uint32_t n_values;
  fs_body_value *value;
  fs_body_reader *reader;
  uint64_t *held; /* per memory: bytes of versions from outside that the loop touches, aligned */
} fs_loop_body;

/* Is there no loop in it, and does it hold ops that run twice or more in a run?  Requires a loop of
 * the graph. */
bool fs_loop_is_inner(const fsched_graph *g, uint32_t loop);

/* Finds the body of such a loop; its arrays are in `arena`.  Complexity: O((ops + edges + accesses
 * of two iterations) log) and O(ops) once.  Errors: FSCHED_SYSTEM. */
fs_status fs_loop_body_find(fsched_context *ctx, fs_arena *arena, const fsched_graph *g,
                            uint32_t loop, fs_loop_body *out) FS_MUST_USE;

#endif
