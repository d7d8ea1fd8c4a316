/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a loop to be repeated every `ii` ticks, and its plan.
 *
 * An op starts once in each iteration: start(i) = floor((start + i * ii) in ticks).  Its queue is
 * busy for `time` from its start; its result is there, and its places are free, after `latency`.
 * Queue, lanes and the offset of the start are the same in every iteration.  With copies the body
 * is `copies` iterations, and each copy of an op has choices of its own.
 *
 * What a plan keeps:
 * - An edge: start(to, i + distance) >= start(from, i) + latency(from).
 * - A ring: the version that its writer makes in iteration i is read by a reader in iteration
 *   i + back, and its place is written again in iteration i + depth; so there is an edge from each
 *   reader to the writer with distance depth - back, and from the writer to itself with distance
 *   depth.  That readers wait for the writer is said by edges.
 * - A ring with every g > 1 has g copies of the body, or a multiple: where i - depth is a multiple
 * of g, the writer of iteration i comes after the readers of the version of iteration i - depth + g
 * - 1, too; iterations have their turns in order on a queue, so those of the next g - 1 need not
 * wait for theirs.
 * - A ring whose writer works in place, of the version of iteration i - depth: in the first
 * iterations that is what is there on entry, which lies in the last slot.  So iteration depth - 1
 * of the writer, which writes over it, comes after those before; and as all iterations of a copy
 * are alike, so does every one of its copy after as many as there are copies, at most depth - 1.
 * - A ring whose writer is P ahead: where another op, on its queue, reads the version of its own
 *   iteration i, the writer of iteration i + P comes before that, and no later one does.
 * - A tie: start(to, i + distance) >= start(from, i) + delay, which what the ops are sees to, so
 * that nobody waits for it.
 * - A queue: the ops of all iterations on it do not overlap.  Their order is that of the starts.
 * - A resource of capacity c has c lanes; an op that uses n of them has n lanes, which are its own
 *   for its latency.
 * - held_back: who waits for an op waits for all commands before it on its queues, too.  A waits
 *   for B where an edge, a ring or the order of a lane says so, unless both share a queue and the
 *   time of B is its latency.
 * - A memory holds depth * size of each of its rings. */
#ifndef FS_MODULO_PROBLEM_H
#define FS_MODULO_PROBLEM_H

#include "base/limit.h"
#include "base/mem.h"

/* A number of ticks; den > 0, without common divisors. */
typedef struct fs_modulo_ratio {
  int64_t num, den;
} fs_modulo_ratio;

typedef struct fs_modulo_edge {
  uint32_t from, to; /* ops */
  uint32_t distance; /* iterations */
} fs_modulo_edge;

/* Where there are some, the body has one copy. */
typedef struct fs_modulo_tie {
  uint32_t from, to; /* ops */
  int64_t distance;  /* iterations; may be negative */
  int64_t delay;     /* ticks */
} fs_modulo_tie;

typedef struct fs_modulo_reader {
  uint32_t op;
  uint32_t back; /* iterations since the version was written */
} fs_modulo_reader;

typedef struct fs_modulo_ring {
  uint32_t writer; /* op */
  uint32_t memory; /* FS_NONE: its bytes do not count */
  uint64_t size;   /* bytes of a version, aligned */
  uint32_t depth;  /* versions that have a place, at least each reader's `back`; 0: to be chosen */
  uint32_t most;   /* of a depth that is to be chosen: the largest, as at least; 0: any */
  uint32_t every;  /* readers give so many slots back at once, at most depth; 0 as 1 */
  uint32_t ahead;  /* one more than the iterations that the writer is ahead of a reader that it
                    * shares a queue with; 0: to be chosen */
  bool in_place;   /* the writer works in place of the version of `depth` iterations ago, which its
                    * readers leave out; of given depth */
  bool inside;     /* what lies in its slots is in order by the inside of its writer */
} fs_modulo_ring;

typedef struct fs_modulo_use {
  uint32_t resource, amount; /* amount > 0 */
} fs_modulo_use;

typedef struct fs_modulo_problem {
  uint32_t n; /* ops */
  uint32_t n_queues, n_edges, n_ties, n_rings, n_memories, n_resources;
  const fs_tick *time;       /* per op: > 0 */
  const fs_tick *latency;    /* per op: >= time */
  const uint32_t *eligible0; /* CSR per op: queues, ascending; not empty */
  const uint32_t *eligible;
  const bool *gang; /* per op: it occupies all of these queues, not one; NULL: none does */
  const fs_modulo_edge *edge;
  const fs_modulo_tie *tie;
  const fs_modulo_ring *ring;
  const uint32_t *reader0; /* CSR per ring */
  const fs_modulo_reader *reader;
  const uint64_t *capacity;           /* per memory: bytes; FS_UNBOUNDED */
  const uint64_t *capacity_of_copies; /* the same where several copies are tried; NULL: as above */
  const uint32_t *lanes;              /* per resource */
  const uint32_t *use0;               /* CSR per op; NULL: none */
  const fs_modulo_use *use;
  bool held_back;
  uint64_t trip; /* iterations: what more of them would owe each other is not waited for; 0: any */
} fs_modulo_problem;

/* What keeps the interval from being shorter. */
typedef enum fs_modulo_limit {
  FS_MODULO_BY_QUEUES,     /* work of a set of queues; `index`: the first of them */
  FS_MODULO_BY_RESOURCE,   /* work of a resource's lanes */
  FS_MODULO_BY_RECURRENCE, /* a cycle of edges; `index`: an op of it */
  FS_MODULO_BY_RING,       /* a cycle through a ring of given, or largest, depth */
  FS_MODULO_BY_ROLES,      /* ops have whole queues: `index` is the first queue of the set */
  FS_MODULO_BY_ORDER,      /* none of these alone */
  FS_MODULO_BY_MEMORY      /* rings would have to be deeper than the memory allows */
} fs_modulo_limit;

typedef struct fs_modulo_bounds {
  fs_modulo_ratio resource, recurrence; /* ticks an iteration */
  fs_modulo_ratio roles; /* of one copy: whole ops divided among queues; 0 where not known */
  fs_modulo_limit resource_by, recurrence_by, roles_by;
  uint32_t resource_index, recurrence_index, roles_index;
} fs_modulo_bounds;

typedef struct fs_modulo_options {
  uint64_t steps;  /* of the search; 0: the usual number.  About 10^8 a second */
  uint32_t copies; /* the most that are tried, up to 4; 0: 4; more where rings want more */
  uint32_t ops;    /* times copies, beyond which nothing is decided; 0: the usual number */
  bool quick; /* the interval alone: neither a short makespan nor little memory is looked for */
} fs_modulo_options;

/* The times are in units of 1 / scale ticks. */
typedef struct fs_modulo_plan {
  fs_decision found;  /* a plan; FS_NO: none can be; not decided: too large, or nothing found */
  uint32_t copies;    /* of the body */
  fs_modulo_ratio ii; /* ticks an iteration */
  bool proven;        /* no plan of as many copies as are tried has a lesser ii, whatever depths
                       * fit; where rings want copies: none of so many */
  fs_modulo_bounds bounds;
  fs_modulo_limit limited_by;
  uint32_t limited_index;
  int64_t scale, period; /* period: copies * ii */
  /* per copy * n + op: */
  int64_t *start;  /* >= 0; the least is 0 */
  uint32_t *shift; /* start div period */
  uint32_t *queue; /* of a gang the first */
  uint32_t *lane0; /* CSR */
  uint32_t *lane;  /* within its resource, in the order of the uses */
  /* of one iteration: */
  int64_t makespan;  /* from the first start to the last latency's end, the longest of all copies */
  bool shortest;     /* no plan of this ii and so many copies has a shorter one */
  uint32_t *depth;   /* per ring */
  uint64_t *bytes;   /* per memory */
  bool least_memory; /* no plan of this ii and makespan has fewer bytes in all */
  uint64_t steps;    /* taken */
} fs_modulo_plan;

static inline int64_t fs_floor_div(int64_t a, int64_t b) {
  FS_ASSERT_SLOW(b > 0);
  return a / b - (a % b < 0);
}
static inline int64_t fs_ceiling_div(int64_t a, int64_t b) { return -fs_floor_div(-a, b); }

/* Requires den > 0. */
static inline fs_modulo_ratio fs_modulo_ratio_of(int64_t num, int64_t den) {
  assert(den > 0);
  int64_t a = (int64_t)fs_common_divisor((uint64_t)(num < 0 ? -num : num), (uint64_t)den);
  return (fs_modulo_ratio){num / a, den / a};
}
/* The copies of the body that rings want: the least common multiple of what they give back at once;
 * at most FS_MODULO_COPIES + 1, which stands for more.  Complexity: O(rings). */
enum { FS_MODULO_COPIES = 64 };
static inline uint32_t fs_modulo_unit(const fs_modulo_problem *p) {
  uint64_t unit = 1;
  for (uint32_t r = 0; r < p->n_rings && unit <= FS_MODULO_COPIES; r++) {
    uint64_t every = p->ring[r].every > 0 ? p->ring[r].every : 1;
    unit *= every / fs_common_divisor(unit, every);
  }
  return unit <= FS_MODULO_COPIES ? (uint32_t)unit : FS_MODULO_COPIES + 1;
}
/* The least depth of a ring: no fewer slots than what keeps a version, and those that are given
 * back with it, until an iteration that comes before its reader's, or is the reader's own, if that
 * would have to wait for itself.  Starts may allow that, but no wait could say it.
 * Complexity: O(readers). */
static inline uint32_t fs_modulo_least_depth(const fs_modulo_problem *p, uint32_t ring) {
  uint32_t every = p->ring[ring].every > 1 ? p->ring[ring].every : 1, least = every;
  for (uint32_t k = p->reader0[ring]; k < p->reader0[ring + 1]; k++) {
    bool itself = every > 1 && p->reader[k].op == p->ring[ring].writer;
    uint32_t own = p->reader[k].back + every - 1 + itself;
    least = own > least ? own : least;
  }
  return least;
}
/* The copy of a writer in place that comes after what reads the value on entry, and how many
 * iterations right before its own that is.  Requires a depth. */
static inline uint32_t fs_modulo_entry_copy(uint32_t depth, uint32_t copies) {
  assert(depth > 0 && copies > 0);
  return (depth - 1) % copies;
}
static inline uint32_t fs_modulo_entries(uint32_t depth, uint32_t copies) {
  return depth - 1 < copies ? depth - 1 : copies;
}
/* By how many periods a copy of the writer is ahead of one of a reader that it shares a queue with,
 * of so many.  Requires a ring that says so. */
static inline int64_t fs_modulo_ahead(const fs_modulo_ring *ring, uint32_t writer, uint32_t reader,
                                      uint32_t copies) {
  assert(ring->ahead > 0 && copies > 0);
  return fs_floor_div((int64_t)reader + ring->ahead - 1 - writer, copies);
}
/* Compares without overflow: by whole parts first, then by the turned fractions. */
static inline bool fs_modulo_less(fs_modulo_ratio a, fs_modulo_ratio b) {
  for (;;) {
    int64_t whole_a = fs_floor_div(a.num, a.den), whole_b = fs_floor_div(b.num, b.den);
    if (whole_a != whole_b) {
      return whole_a < whole_b;
    }
    int64_t rest_a = a.num - whole_a * a.den, rest_b = b.num - whole_b * b.den;
    if (rest_a == 0 || rest_b == 0) {
      return rest_a == 0 && rest_b != 0;
    }
    fs_modulo_ratio turned = {a.den, rest_a};
    a = (fs_modulo_ratio){b.den, rest_b};
    b = turned;
  }
}
static inline fs_modulo_ratio fs_modulo_greater(fs_modulo_ratio a, fs_modulo_ratio b) {
  return fs_modulo_less(a, b) ? b : a;
}

#endif
