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
} fs_shown_part;

typedef struct fs_shown {
  uint32_t *part0; /* CSR per queue of the loop: its parts, in their order there */
  fs_shown_part *part;
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

/* Makes the list of a graph's loops, and finds what is shown of them.  Errors: FSCHED_SYSTEM. */
fs_status fs_shown_of_graph(fs_arena *arena, const fsched_graph *g,
                            fs_shown_loop **out) FS_MUST_USE;

#endif
