/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of the lower bounds share. */
#ifndef FS_BOUNDS_PRIVATE_H
#define FS_BOUNDS_PRIVATE_H

#include "base/limit.h"
#include "base/saturate.h"
#include "model/schedule.h"

/* Work that lies between a head and a tail: ticks times an amount. */
typedef struct fs_bounds_job {
  fs_tick head, tail, work;
} fs_bounds_job;

/* A gap between two ops of a version, in which it is held or leaves: a trade of amounts times ticks
 * for ticks of queues.  It lies in the windows whose head is from `after` to `head` and whose tail
 * is at most `tail`. */
typedef struct fs_bounds_gap {
  fs_tick after, head, tail;
  fs_tick saved, copies; /* what is not held, and what the copies take at least, if it leaves */
} fs_bounds_gap;

/* The amounts that a memory holds in every schedule (memory.c). */
typedef struct fs_bounds_memory {
  uint64_t capacity; /* less the amount that is always held */
  uint32_t n_held;   /* amounts held while an op runs, one per op */
  uint32_t *held_op;
  uint64_t *held_amount;
  uint32_t n_jobs; /* the other amounts */
  fs_bounds_job *job;
  uint32_t n_gaps; /* by what is saved for a tick of the queues, the most first */
  fs_bounds_gap *gap;
} fs_bounds_memory;

typedef struct fs_bounds_use { /* use of a resource */
  uint32_t op;
  uint64_t amount;
} fs_bounds_use;

typedef struct fs_bounds {
  fsched_context *ctx;
  const fsched_graph *g;
  fs_arena *arena;
  uint32_t first, last;            /* the part: topological positions [first, last) */
  bool copies;                     /* count unavoidable copies */
  uint32_t *position;              /* per op: its index in topological order */
  fs_tick *head, *tail;            /* per op, within the part */
  const uint64_t *runs;            /* per op: how often, whenever that is; NULL: once */
  uint32_t *slot0, *slot_op;       /* CSR: ops of the part by domain, then by gang */
  uint32_t *copy0, *copy;          /* CSR: versions with unavoidable copies by domain */
  uint32_t *first0, *first_domain; /* CSR: domains by their first queue; domains without queues come
                                    * last */
  uint32_t *gang0, *gang;          /* CSR: gangs by queue */
  uint64_t *share;                 /* per gang: 0 between uses */
  fs_bounds_use *use_of;           /* uses of resources in topological order of their ops */
  uint32_t *use0, *use;            /* CSR: indices of these by resource */
  uint32_t n_parts, *part_of;      /* per resource: the last part that has looked at it */
  fs_bounds_memory *memory;        /* per memory; NULL: not yet known */
  uint32_t *version0, *version;    /* CSR: versions by memory; known with these */
  uint32_t *held0, *held;          /* CSR: memories that hold something while an op runs, by op */
  uint32_t *memory_part;           /* per memory: the last part that has looked at it */
  FS_VEC(fs_bounds_job) jobs;
} fs_bounds;

/* Requires an op of the graph. */
static inline bool fs_bounds_inside(const fs_bounds *b, uint32_t op) {
  FS_ASSERT_SLOW(op < b->g->n_ops);
  return b->position[op] >= b->first && b->position[op] < b->last;
}

/* Whether every schedule needs the first read of given content, or the write-back of kept content.
 * Requires a version of the graph. */
bool fs_bounds_read_needed(const fsched_graph *g, uint32_t v);
/* Requires a version of the graph. */
bool fs_bounds_write_needed(const fsched_graph *g, uint32_t v);
/* Requires a version of the graph, of a memory that spills. */
fs_tick fs_bounds_read_time(const fsched_graph *g, uint32_t v);
/* Requires a version of the graph, of a memory that spills. */
fs_tick fs_bounds_write_time(const fsched_graph *g, uint32_t v);

fs_status fs_bounds_add_job(fs_bounds *b, fs_tick head, fs_tick tail, fs_tick work) FS_MUST_USE;
/* Raises *out to the best window over the collected jobs, and empties their list. */
fs_status fs_bounds_windows(fs_bounds *b, uint64_t capacity, fs_tick *out) FS_MUST_USE;

/* Finds the amounts that each memory holds, from heads and tails of the whole graph, including
 * copies.
 * Requires positions in topological order. */
fs_status fs_bounds_find_memories(fs_bounds *b) FS_MUST_USE;
/* Stores the gaps of a memory, sorted.  trades.c */
fs_status fs_bounds_keep_gaps(fs_bounds *b, const fs_bounds_gap *gap, uint32_t n,
                              fs_bounds_memory *m) FS_MUST_USE;
/* Collects the ops and copies that run on the queues of a domain as jobs; *queues is the number of
 * queues, 0: there is no limit.  Raises *most to the largest share that an op has of them. */
fs_status fs_bounds_add_domain(fs_bounds *b, uint32_t d, uint64_t *queues,
                               uint64_t *most) FS_MUST_USE;
/* Raises *out by the trades of each memory, of the whole graph.  Requires that
 * fs_bounds_find_memories was called.  trades.c */
fs_status fs_bounds_trades(fs_bounds *b, fs_tick *out) FS_MUST_USE;
/* Raises *out by what is read behind a moment, or written before one, of the whole graph.  Requires
 * that fs_bounds_find_memories was called.
 * behind.c */
fs_status fs_bounds_behind(fs_bounds *b, fs_tick *out) FS_MUST_USE;
/* Raises *out by the part's bound of each memory.  Requires that fs_bounds_find_memories was
 * called. */
fs_status fs_bounds_memories(fs_bounds *b, fs_tick *out) FS_MUST_USE;

#endif
