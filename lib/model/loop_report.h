/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the loops of a graph when its schedule is made: how often an iteration can
 * begin, at best. */
#ifndef FS_LOOP_REPORT_H
#define FS_LOOP_REPORT_H

#include "model/graph.h"

/* A number of ticks; without common divisors. */
typedef struct fs_loop_ticks {
  uint64_t num, den;
} fs_loop_ticks;

typedef struct fs_loop_slots {
  const char *buffer; /* its name, as described */
  uint32_t depth;     /* slots that the plan takes */
  uint32_t
      prefetch;   /* iterations that who fills them has begun ahead, at least, when one is used */
  uint64_t bytes; /* of each */
  bool given;     /* the depth was */
} fs_loop_slots;

typedef struct fs_loop_report {
  uint32_t loop;    /* of the graph, if it was unrolled */
  const char *name; /* of the loop */
  uint64_t trip, runs;
  uint64_t least;      /* trips that a parameter may give; trip: the most */
  const char *param;   /* which one; NULL: none does */
  uint64_t span;       /* ticks from the first start to the last end of the schedule's last run */
  const char *why_not; /* there is no plan, and what follows is empty, but for the bound if it is
                        * known; NULL: there is */
  fs_loop_ticks ii;    /* an iteration begins every so often, at best */
  fs_loop_ticks bound; /* no plan can do with less */
  bool proven;         /* nor with less than ii */
  uint32_t copies;     /* of the body, which have queues and times of their own */
  uint64_t makespan;   /* of one iteration, rounded up */
  fs_loop_limit limited_by;
  const char *limit; /* which queue, resource, op, buffer or memory that is; NULL: none alone */
  uint32_t n_slots;
  fs_loop_slots *slots;
  uint32_t waits;          /* of a loop that stays one, without block syncs: those of its body */
  uint64_t executed;       /* what these come to in a run, of those that are joined the first one */
  bool joined;             /* its runs are, of a loop in a loop */
  uint64_t steps;          /* block syncs: of a run; else 0 */
  uint32_t full, counting; /* syncs in each step */
} fs_loop_report;

#endif
