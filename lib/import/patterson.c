/* SPDX-License-Identifier: Apache-2.0 */
/* Patterson's format: numbers, separated by blanks or line ends.  First come the numbers of jobs
 * and resources, then the capacities, then for each job its duration, its demands, the number of
 * its successors and the successors.  A word that is no number ends the reading, as the meaning of
 * the next words is unknown then; a number out of range does so only where it says how many numbers
 * follow. */
#include "fsched/graph.h"
#include "import/project.h"

/* The numbers of jobs and resources, without which nothing can be read. */
static bool read_counts(fs_import *in, fs_project *p, fs_text_span *rest) {
  return fs_import_next(in, rest, (fs_wanted){"number of jobs", NULL, 0}, 1, INT32_MAX,
                        &p->n_jobs) &&
         fs_import_next(in, rest, (fs_wanted){"number of resources", NULL, 0}, 0, INT32_MAX,
                        &p->n_resources);
}

static bool read_capacities(fs_import *in, fs_project *p, fs_text_span *rest, fs_status *status) {
  for (uint64_t k = 0; k < p->n_resources && *status == FSCHED_OK; k++) {
    fs_placed capacity;
    if (!fs_project_number(in, rest, (fs_wanted){"capacity", "resource", k + 1}, FSCHED_MAX_TIME,
                           &capacity)) {
      return false;
    }
    *status = fs_vec_push(in->ctx, &p->capacity, capacity.value);
  }
  return *status == FSCHED_OK;
}

static bool read_demands(fs_import *in, fs_project *p, uint64_t job, fs_text_span *rest,
                         fs_status *status) {
  for (uint64_t k = 0; k < p->n_resources && *status == FSCHED_OK; k++) {
    fs_placed demand;
    if (!fs_project_number(in, rest, (fs_wanted){"demand", "job", job + 1}, FSCHED_MAX_TIME,
                           &demand)) {
      return false;
    }
    *status = fs_vec_push(in->ctx, &p->demand, demand);
  }
  return *status == FSCHED_OK;
}

static bool read_successors(fs_import *in, fs_project *p, uint64_t job, fs_text_span *rest,
                            fs_status *status) {
  uint64_t n;
  if (!fs_import_next(in, rest, (fs_wanted){"number of successors", "job", job + 1}, 0, INT32_MAX,
                      &n)) {
    return false;
  }
  for (uint64_t k = 0; k < n; k++) {
    if (!fs_project_successor(in, p, job, rest, status)) {
      return false;
    }
  }
  *status = fs_vec_push(in->ctx, &p->successor_end, p->successor.n);
  return *status == FSCHED_OK;
}

static bool read_job(fs_import *in, fs_project *p, uint64_t job, fs_text_span *rest,
                     fs_status *status) {
  fs_placed time;
  if (!fs_project_number(in, rest, (fs_wanted){"duration", "job", job + 1}, FSCHED_MAX_TIME,
                         &time)) {
    return false;
  }
  *status = fs_vec_push(in->ctx, &p->time, time.value);
  return *status == FSCHED_OK && read_demands(in, p, job, rest, status) &&
         read_successors(in, p, job, rest, status);
}

static fs_status read_project(fs_import *in, fs_project *p) {
  fs_text_span rest = fs_import_all(in);
  fs_status status = FSCHED_OK;
  if (!read_counts(in, p, &rest) || !read_capacities(in, p, &rest, &status)) {
    return status;
  }
  for (uint64_t job = 0; job < p->n_jobs; job++) {
    if (!read_job(in, p, job, &rest, &status)) {
      return status;
    }
  }
  fs_text_span word = fs_import_word(in, &rest);
  if (!fs_span_empty(word)) {
    fs_import_syntax(in, word, NULL, "nothing may follow job %llu, the last one",
                     (unsigned long long)p->n_jobs);
  }
  return in->status == FSCHED_OK ? fs_project_write(in, p, "Project in Patterson's format")
                                 : FSCHED_OK;
}

fs_status fs_import_patterson(fs_import *in) {
  fs_project p = {0};
  fs_status status = read_project(in, &p);
  fs_project_free(in, &p);
  return status;
}
