/* SPDX-License-Identifier: Apache-2.0 */
/* A project as it is read: jobs with durations, demands for renewable resources, and successors.
 * Jobs and resources are numbered from 1 in files and messages, from 0 here. */
#ifndef FS_IMPORT_PROJECT_H
#define FS_IMPORT_PROJECT_H

#include "import/import.h"

/* A number, and where it stands. */
typedef struct fs_placed {
  uint64_t value;
  size_t at;
} fs_placed;

typedef struct fs_project {
  uint64_t n_jobs, n_resources; /* as the file claims; the lists hold what was read */
  FS_VEC(uint64_t) capacity;    /* per resource */
  FS_VEC(uint64_t) time;        /* per job */
  FS_VEC(fs_placed) demand;     /* per job: n_resources numbers */
  FS_VEC(fs_placed) successor;  /* ids, ordered by job */
  FS_VEC(size_t) successor_end; /* per job */
} fs_project;

void fs_project_free(fs_import *in, fs_project *p);
/* Takes the next number off.  A number outside [0, most] is reported and counts as 0.  Returns
 * false when the next word is no number, which is reported too. */
bool fs_project_number(fs_import *in, fs_text_span *rest, fs_wanted wanted, uint64_t most,
                       fs_placed *out);
/* Takes the next successor of a job off; a number that is no job's, or is the job's own, is
 * reported.  Returns false when the word is no number, or *status is not FSCHED_OK.  Requires a job
 * of the project. */
bool fs_project_successor(fs_import *in, fs_project *p, uint64_t job, fs_text_span *rest,
                          fs_status *status);
/* Writes the graph file of a project that was read without a fault; reports cycles, and demands
 * that can never be met.  `title` begins the comment of the file.  Requires that no fault was
 * found.  O(jobs * resources + successors). */
fs_status fs_project_write(fs_import *in, const fs_project *p, const char *title) FS_MUST_USE;

#endif
