/* SPDX-License-Identifier: Apache-2.0 */
/* Job shops: "JOBS MACHINES", then for each job a line of MACHINES pairs "machine time", machines
 * counted from 0, in the order in which the job visits them.  Lines that begin with '#' are
 * comments.  Machines are queues, and a job is a chain of ops. */
#include "fsched/graph.h"
#include "import/import.h"

/* More would be no instance, and their pairs would be lines of gigabytes. */
enum { MOST_MACHINES = 65535 };

typedef struct shop {
  uint64_t jobs, machines;
  FS_VEC(uint64_t) pair; /* per op: machine, time */
} shop;

static void refuse_more(fs_import *in, fs_text_span *rest, const char *what) {
  fs_text_span word = fs_import_word(in, rest);
  if (!fs_span_empty(word)) {
    fs_import_syntax(in, word, NULL, "%s, and '%.*s' is one word too many", what,
                     fs_import_shown(in, word), fs_import_at(in, word));
  }
}

static bool read_shop_head(fs_import *in, shop *s, fs_text_span *line) {
  if (!fs_import_next(in, line, (fs_wanted){"number of jobs", NULL, 0}, 1, UINT32_MAX, &s->jobs) ||
      !fs_import_next(in, line, (fs_wanted){"number of machines", NULL, 0}, 1, MOST_MACHINES,
                      &s->machines)) {
    return false;
  }
  refuse_more(in, line, "a job shop has a number of jobs and one of machines");
  return true;
}

static fs_status read_job(fs_import *in, shop *s, uint64_t number, fs_text_span line) {
  for (uint64_t k = 0; k < s->machines; k++) {
    uint64_t machine, time;
    if (!fs_import_next(in, &line, (fs_wanted){"machine of an operation", "job", number}, 0,
                        s->machines - 1, &machine) ||
        !fs_import_next(in, &line, (fs_wanted){"time of an operation", "job", number}, 0,
                        FSCHED_MAX_TIME, &time)) {
      return FSCHED_OK;
    }
    FS_TRY(fs_vec_push(in->ctx, &s->pair, machine));
    FS_TRY(fs_vec_push(in->ctx, &s->pair, time));
  }
  refuse_more(in, &line, "a job has a machine and a time for each machine");
  return FSCHED_OK;
}

static void put_op_name(fs_text *t, uint64_t job, uint64_t k) {
  fs_text_puts(t, "j");
  fs_text_u64(t, job + 1);
  fs_text_puts(t, "_");
  fs_text_u64(t, k + 1);
}

static void put_op(fs_text *t, const shop *s, uint64_t job, uint64_t k) {
  const uint64_t *pair = &s->pair.at[2 * (job * s->machines + k)];
  fs_text_puts(t, "  - {name: ");
  put_op_name(t, job, k);
  fs_text_puts(t, ", on: m");
  fs_text_u64(t, pair[0]);
  fs_text_puts(t, ", time: ");
  fs_text_u64(t, pair[1]);
  if (k > 0) {
    fs_text_puts(t, ", after: [");
    put_op_name(t, job, k - 1);
    fs_text_puts(t, "]");
  }
  fs_text_puts(t, "}\n");
}

static void put_shop(fs_import *in, const shop *s) {
  fs_text *t = &in->out;
  fs_text_puts(t, "# Job shop: ");
  fs_import_count(t, s->jobs, "job", "jobs");
  fs_text_puts(t, " on ");
  fs_import_count(t, s->machines, "machine", "machines");
  fs_text_puts(t, "\n");
  fs_import_head(in);
  fs_text_puts(t, "target:\n  queues:\n");
  for (uint64_t m = 0; m < s->machines; m++) {
    fs_text_puts(t, "    - {name: m");
    fs_text_u64(t, m);
    fs_text_puts(t, "}\n");
  }
  fs_text_puts(t, "ops:\n");
  for (uint64_t job = 0; job < s->jobs; job++) {
    for (uint64_t k = 0; k < s->machines; k++) {
      put_op(t, s, job, k);
    }
  }
}

static void check_jobs(fs_import *in, const shop *s, bool head, uint64_t jobs) {
  fs_text_span end = {in->length, in->length};
  if (!head) {
    fs_import_syntax(in, fs_import_word(in, &end), NULL, "there are no jobs");
  } else if (jobs < s->jobs) {
    fs_import_syntax(in, fs_import_word(in, &end), NULL, "of %llu jobs, %llu %s missing",
                     (unsigned long long)s->jobs, (unsigned long long)(s->jobs - jobs),
                     s->jobs - jobs == 1 ? "is" : "are");
  }
}

static fs_status read_shop(fs_import *in, shop *s) {
  fs_text_span rest = fs_import_all(in), line;
  uint64_t number = 0;
  bool head = false;
  while (fs_import_line(in, &rest, &line)) {
    fs_text_span words = line, word = fs_import_word(in, &words);
    if (fs_span_empty(word) || *fs_import_at(in, word) == '#') {
      continue;
    }
    if (!head) {
      head = true;
      if (!read_shop_head(in, s, &line)) {
        return FSCHED_OK;
      }
    } else if (number == s->jobs) {
      fs_import_syntax(in, word, NULL, "there are more than %llu jobs",
                       (unsigned long long)s->jobs);
      return FSCHED_OK;
    } else {
      FS_TRY(read_job(in, s, ++number, line));
    }
  }
  check_jobs(in, s, head, number);
  if (in->status == FSCHED_OK) {
    put_shop(in, s);
  }
  return FSCHED_OK;
}

fs_status fs_import_jobshop(fs_import *in) {
  shop s = {0};
  fs_status status = read_shop(in, &s);
  fs_vec_free(in->ctx, &s.pair);
  return status;
}
