/* SPDX-License-Identifier: Apache-2.0 */
/* What pictures and traces show of a loop that stays one: the instances of the first steps, of two
 * periods in the middle and of the last steps, with their planned times.  The others are counted.
 *
 * A period is the least number of iterations after which a run repeats itself.  At each end as many
 * steps are shown as the shifts span, and a period more; a loop that has hardly more steps is shown
 * in full.  So what is shown does not grow with the trips. */
#ifndef FS_SHOWN_H
#define FS_SHOWN_H

#include "model/graph.h"

/* An instance, or, with a command of FS_NONE, `iteration` instances that are not shown, between the
 * instances around them.  Times are ticks from the begin of the loop's run. */
typedef struct fs_shown_part {
  uint32_t command;
  uint64_t iteration;
  uint64_t begin, free, end; /* free: the queue goes on then; the end, or before it */
  uint64_t run; /* if it is a loop: when its run begins, on whichever queue that does first */
} fs_shown_part;

typedef struct fs_shown {
  uint32_t *part0; /* CSR per queue of the loop: its parts, in their order there */
  fs_shown_part *part;
  uint32_t *slot;    /* per part: where its times are among those of a run on its queue, and behind
                        it those of the run that it may be, if that is shown; FS_NONE: it is none */
  uint32_t *n_slots; /* per queue of the loop: times of a run there */
} fs_shown;

typedef struct fs_shown_loop {
  fs_rolled_loop loop;
  const char *title; /* its name */
  uint32_t n_members;
  const char **name;        /* per member */
  uint64_t *time, *latency; /* per member */
  uint32_t *inner;          /* per member: the loop that it is, in the same list, or FS_NONE */
  uint64_t trip;
  uint64_t span; /* of a run, as planned */
  uint32_t op;   /* of the graph, or FS_NONE: it is in a loop */
  bool open;     /* its instances are shown; else, as they were too many, it is shown as one */
  fs_shown shown;
} fs_shown_loop;

/* Finds what is shown of loops whose other fields are known; loops come before those in them.  All
 * of a loop that is in no other has at most 2^14 parts, but for its own; of a loop with more
 * commands than that, or with a shift above 2^12, nothing is shown.  Loops may lock up.  What it
 * finds is in the arena. Complexity: O(2^20 waits) at most for each loop.  Errors: FSCHED_SYSTEM.
 */
fs_status fs_shown_find(fs_arena *arena, fs_shown_loop *loop, uint32_t n) FS_MUST_USE;

/* The place of a queue among those of the loop; their number if it has no part in it. */
static inline uint32_t fs_shown_queue(const fs_shown_loop *x, uint32_t queue) {
  uint32_t q = 0;
  while (q < x->loop.n_queues && x->loop.queue[q] != queue) {
    q++;
  }
  return q;
}

/* Times of what is shown, as they were measured in one execution of a stream. */
typedef struct fs_shown_times {
  const fs_shown_loop *loop; /* per loop of the stream, with the trips of the execution */
  const uint32_t *slot0; /* per part of a queue in a loop of the stream, in their order: its first
                            time; FS_NONE: the loop is in another one */
  uint32_t n;
  uint64_t *begin,
      *end; /* ns from the begin of the execution; a begin of FS_NEVER: it did not run */
} fs_shown_times;
#define FS_NEVER UINT64_MAX

/* A queue on its way through a run of a loop, which it goes through in the order of its parts. */
typedef struct fs_shown_walk {
  const fs_shown_loop *loop; /* NULL: nothing of the run is shown */
  uint32_t slot;             /* of the run */
  uint32_t part, end;        /* parts that are still to come */
} fs_shown_walk;

/* Begins a run, of a loop in no other with a slot of its part, else with the one behind that of the
 * instance that the run is.  With FS_NONE, where that is not shown, and without times (NULL)
 * nothing of the run is.  Requires a loop of the stream, and one of its queues. */
fs_shown_walk fs_shown_begin(const fs_shown_times *t, uint32_t loop, uint32_t queue, uint32_t slot);
/* The slot of an instance that runs now; FS_NONE: it is not shown.  `command` is counted from the
 * first one of the loop.  Of each instance this is asked once.  O(1). */
uint32_t fs_shown_take(fs_shown_walk *w, uint32_t command, uint64_t iteration);

/* Makes the list of a graph's loops, and finds what is shown of them.  Errors: FSCHED_SYSTEM. */
fs_status fs_shown_of_graph(fs_arena *arena, const fsched_graph *g,
                            fs_shown_loop **out) FS_MUST_USE;

#endif
