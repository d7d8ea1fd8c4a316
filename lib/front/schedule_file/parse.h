/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of fsched_schedule_parse: schedule_file/parse.c reads the JSON, schedule_file/link.c
 * finds the residency of each access and copy, schedule_file/loop.c compares the bodies of loops.
 */
#ifndef FS_SCHEDULE_PARSE_H
#define FS_SCHEDULE_PARSE_H

#include "base/text/fields.h"
#include "model/schedule.h"

typedef struct fs_sparse {
  fs_fields f;
  const fsched_graph *g;
  fs_schedule *s;
  fs_arena arena; /* scratch */
  fs_names ops, buffers, memories, queues;
  uint32_t *member0, *member; /* CSR per op: the queues of gangs */
  uint32_t *listed;           /* items as they were listed */
  uint32_t *item_node;        /* per item: its node, for positions */
  uint32_t *listed_index;     /* per item: its place in listed */
} fs_sparse;

/* Fills arg_residency, scratch_residency, copy_residency and copy_store.  Requires items and
 * residencies, these by begin.  O((args + copies) log residencies), and for each residency of
 * scratch the scratch entries of its op. */
fs_status fs_schedule_link(fs_sparse *p) FS_MUST_USE;

/* Compares what a file says of the body of a loop that stays one with the plan of the graph, and
 * reports the first difference.  `loop`: of the graph's rolled ones; FS_NONE: the op is none.
 * Complexity: that of the body.  Errors: FSCHED_WRONG, FSCHED_BAD_INPUT. */
fs_status fs_schedule_compare_loop(const fs_sparse *p, uint32_t node, uint32_t loop) FS_MUST_USE;

#endif
