/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the cases of orchestrator_vectors.txt among the shared facts against the engine of dynamic
 * runs (exec L3) and its heaps (exec RING), on a clock of their own.
 *
 * An edit says where something else holds than the file has: in a case, the first line from the
 * last edit on that equals `from` is replaced by `to`, which may be several lines or none. */
#ifndef FS_TEST_DYNAMIC_SCRIPT_H
#define FS_TEST_DYNAMIC_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "fsched/graph.h"

typedef struct fs_script_edit {
  const char *id, *from, *to;
} fs_script_edit;

typedef struct fs_script_counts {
  uint32_t cases, rings; /* that were run: of L3, and of RING */
  uint32_t statements;   /* of them, without `from` and `note` */
  uint32_t errors;       /* statements that had to fail */
  uint32_t edits;        /* that were made */
} fs_script_counts;

/* Runs all cases with the edits of two lists (each ends with a NULL id), the second upon what the
 * first leaves.  Any difference fails the test.  False, with a message: there is no such file. */
bool fs_script_run_all(fsched_hazards hazards, const fs_script_edit *first,
                       const fs_script_edit *second, fs_script_counts *counts);

#endif
