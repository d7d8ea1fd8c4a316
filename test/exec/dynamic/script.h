/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the cases of orchestrator_vectors.txt among the shared facts against a driver (exec L3) and
 * the engine's heaps (exec RING), on a clock of their own.
 *
 * An edit says where something else holds than the file has: in a case, the first line from the
 * last edit on that equals `from` is replaced by `to`, which may be several lines or none.  Without
 * `from` the case is left out. */
#ifndef FS_TEST_DYNAMIC_SCRIPT_H
#define FS_TEST_DYNAMIC_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/dynamic/script_driver.h"

typedef struct fs_script_edit {
  const char *id, *from, *to;
} fs_script_edit;

typedef struct fs_script_counts {
  uint32_t cases, rings; /* that were run: of L3, and of RING */
  uint32_t statements;   /* of them, without `from` and `note` */
  uint32_t errors;       /* statements that had to fail */
  uint32_t edits;        /* that were made */
  uint32_t cases_left_out;
  uint32_t left_out; /* statements about states that the driver does not know */
} fs_script_counts;

enum { FS_SCRIPT_EDITS = 3 };

typedef struct fs_script_run {
  const fs_script_driver *driver;
  fsched_hazards hazards;
  const fs_script_edit *edits[FS_SCRIPT_EDITS]; /* each upon what the one before leaves, or NULL */
} fs_script_run;

/* Runs all cases; those of heaps for the engine alone.  A list of edits ends with a NULL id.  Any
 * difference fails the test.  False, with a message: there is no such file. */
bool fs_script_run_all(const fs_script_run *run, fs_script_counts *counts);

#endif
