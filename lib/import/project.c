/* SPDX-License-Identifier: Apache-2.0 */
/* Projects list successors, graph files predecessors: the lists are inverted by counting.  Jobs
 * without open predecessors are taken away, again and again.  If jobs are left, they contain a
 * cycle: each of them has a predecessor that is left too, so walking back along predecessors finds
 * a cycle. */
#include "import/project.h"

void fs_project_free(fs_import *in, fs_project *p) {
  fs_vec_free(in->ctx, &p->capacity);
  fs_vec_free(in->ctx, &p->time);
  fs_vec_free(in->ctx, &p->demand);
  fs_vec_free(in->ctx, &p->successor);
  fs_vec_free(in->ctx, &p->successor_end);
}

bool fs_project_number(fs_import *in, fs_text_span *rest, fs_wanted wanted, uint64_t most,
                       fs_placed *out) {
  fs_text_span word = fs_import_word(in, rest);
  uint64_t digits;
  *out = (fs_placed){0, word.at};
  if (fs_import_number(in, word, wanted, 0, most, &out->value)) {
    return true;
  }
  out->value = 0;
  return fs_import_digits(in, word, &digits);
}

bool fs_project_successor(fs_import *in, fs_project *p, uint64_t job, fs_text_span *rest,
                          fs_status *status) {
  assert(job < p->n_jobs);
  fs_text_span word = fs_import_word(in, rest);
  uint64_t id;
  if (!fs_import_digits(in, word, &id)) {
    (void)fs_import_number(in, word, (fs_wanted){"successor", "job", job + 1}, 1, p->n_jobs, &id);
    return false;
  }
  if (id == job + 1) {
    fs_import_reference(in, word, NULL, "job %llu follows itself", (unsigned long long)id);
  } else if (id < 1 || id > p->n_jobs) {
    fs_import_reference(in, word, NULL, "there is no job %.*s: the last one is %llu",
                        fs_import_shown(in, word), fs_import_at(in, word),
                        (unsigned long long)p->n_jobs);
  } else {
    *status = fs_vec_push(in->ctx, &p->successor, ((fs_placed){id - 1, word.at}));
  }
  return *status == FSCHED_OK;
}

/* ---- predecessors */

typedef struct turned {
  uint32_t n_jobs;
  size_t *pred0; /* CSR; the predecessors of a job ascend */
  uint32_t *pred;
  size_t *pred_at; /* per predecessor: where the text names it */
} turned;

static size_t successor_begin(const fs_project *p, uint32_t job) {
  return job == 0 ? 0 : p->successor_end.at[job - 1];
}

static fs_status turn(fs_import *in, const fs_project *p, turned *t) {
  t->n_jobs = (uint32_t)p->time.n;
  FS_TRY(fs_new_zero(&in->arena, &t->pred0, (size_t)t->n_jobs + 2));
  FS_TRY(fs_new(&in->arena, &t->pred, p->successor.n));
  FS_TRY(fs_new(&in->arena, &t->pred_at, p->successor.n));
  for (size_t i = 0; i < p->successor.n; i++) {
    t->pred0[p->successor.at[i].value + 2]++;
  }
  for (uint32_t j = 0; j < t->n_jobs; j++) {
    t->pred0[j + 2] += t->pred0[j + 1];
  }
  for (uint32_t job = 0; job < t->n_jobs; job++) {
    for (size_t i = successor_begin(p, job); i < p->successor_end.at[job]; i++) {
      size_t to = t->pred0[p->successor.at[i].value + 1]++;
      t->pred[to] = job;
      t->pred_at[to] = p->successor.at[i].at;
    }
  }
  return FSCHED_OK;
}

/* Leaves the number of open predecessors of each job in open[]; returns the number of jobs that
 * have none in the end. */
static uint32_t take_away(const fs_project *p, const turned *t, size_t *open, uint32_t *queue) {
  uint32_t n = 0;
  for (uint32_t j = 0; j < t->n_jobs; j++) {
    open[j] = t->pred0[j + 1] - t->pred0[j];
    if (open[j] == 0) {
      queue[n++] = j;
    }
  }
  for (uint32_t k = 0; k < n; k++) {
    uint32_t job = queue[k];
    for (size_t i = successor_begin(p, job); i < p->successor_end.at[job]; i++) {
      uint32_t next = (uint32_t)p->successor.at[i].value;
      if (--open[next] == 0) {
        queue[n++] = next;
      }
    }
  }
  return n;
}

/* The edge from a job that is left to a predecessor that is left, too. */
static size_t open_edge(const turned *t, const size_t *open, uint32_t job) {
  size_t e = t->pred0[job];
  while (open[t->pred[e]] == 0) {
    e++;
  }
  return e;
}

/* Walks back until a job comes again, then around the cycle once.  The message lists the cycle from
 * its first job on, and points to where that job is named as a successor. */
static void report_circle(fs_import *in, const turned *t, const size_t *open, uint32_t *before) {
  enum { SHOWN = 12 };
  uint32_t at = 0, length = 1;
  while (open[at] == 0) {
    at++;
  }
  memset(before, 0xFF, t->n_jobs * sizeof *before);
  for (; before[at] == FS_NONE; at = before[at]) {
    before[at] = t->pred[open_edge(t, open, at)];
  }
  uint32_t first = at;
  for (uint32_t job = before[at]; job != at; job = before[job]) {
    first = job < first ? job : first;
    length++;
  }
  fs_text path;
  fs_text_init(&path, in->ctx);
  uint32_t job = first;
  for (uint32_t i = 0; i < length && i < SHOWN; i++, job = before[job]) {
    fs_text_printf(&path, "%u after ", job + 1);
  }
  fs_text_printf(&path, "%s%u", length > SHOWN ? "... " : "", first + 1);
  fs_text_add(&path, "", 1);
  fs_text_span where = fs_import_word_at(in, t->pred_at[open_edge(t, open, first)]);
  fs_import_reference(in, where, NULL, "%u jobs wait in a circle: %s", length,
                      path.failed ? "" : path.at);
  fs_text_drop(&path);
}

static fs_status check_circles(fs_import *in, const fs_project *p, const turned *t) {
  size_t *open;
  uint32_t *queue;
  FS_TRY(fs_new(&in->arena, &open, t->n_jobs));
  FS_TRY(fs_new(&in->arena, &queue, t->n_jobs));
  if (take_away(p, t, open, queue) < t->n_jobs) {
    report_circle(in, t, open, queue);
  }
  return FSCHED_OK;
}

static void check_demands(fs_import *in, const fs_project *p) {
  for (size_t i = 0; i < p->demand.n; i++) {
    uint64_t have = p->capacity.at[i % p->n_resources];
    if (p->demand.at[i].value > have) {
      fs_import_infeasible(in, fs_import_word_at(in, p->demand.at[i].at), NULL,
                           "job %llu uses %llu of r%llu, which has %llu",
                           (unsigned long long)(i / p->n_resources + 1),
                           (unsigned long long)p->demand.at[i].value,
                           (unsigned long long)(i % p->n_resources + 1), (unsigned long long)have);
    }
  }
}

/* ---- the graph file */

enum { LINE = 100, LONGEST_ITEM = 24 };

/* Adds what stands before an item of a list: ", ", and a line end where the line is full. */
static void put_separator(fs_text *t, bool first, size_t *line) {
  static const char indent[] = "\n     ";
  if (!first) {
    fs_text_puts(t, ",");
    if (t->n - *line >= LINE - LONGEST_ITEM) {
      *line = t->n + 1;
      fs_text_puts(t, indent);
    }
    fs_text_puts(t, " ");
  }
}

static void put_after(fs_text *t, const turned *r, uint32_t job, size_t *line) {
  uint32_t last = FS_NONE;
  for (size_t e = r->pred0[job]; e < r->pred0[job + 1]; e++) {
    if (r->pred[e] != last) { /* a predecessor that is named twice counts once */
      fs_text_puts(t, last == FS_NONE ? ", after: [" : "");
      put_separator(t, last == FS_NONE, line);
      fs_text_puts(t, "j");
      fs_text_u64(t, (uint64_t)r->pred[e] + 1);
      last = r->pred[e];
    }
  }
  fs_text_puts(t, last == FS_NONE ? "" : "]");
}

static void put_uses(fs_text *t, const fs_project *p, uint32_t job, size_t *line) {
  bool first = true;
  for (uint64_t k = 0; k < p->n_resources; k++) {
    uint64_t amount = p->demand.at[job * p->n_resources + k].value;
    if (amount > 0) {
      fs_text_puts(t, first ? ", uses: {" : "");
      put_separator(t, first, line);
      fs_text_puts(t, "r");
      fs_text_u64(t, k + 1);
      fs_text_puts(t, ": ");
      fs_text_u64(t, amount);
      first = false;
    }
  }
  fs_text_puts(t, first ? "" : "}");
}

static void put_job(fs_text *t, const fs_project *p, const turned *r, uint32_t job) {
  size_t line = t->n;
  fs_text_puts(t, "  - {name: j");
  fs_text_u64(t, (uint64_t)job + 1);
  fs_text_puts(t, ", time: ");
  fs_text_u64(t, p->time.at[job]);
  put_after(t, r, job, &line);
  put_uses(t, p, job, &line);
  fs_text_puts(t, "}\n");
}

static void put_graph(fs_import *in, const fs_project *p, const turned *r, const char *title) {
  fs_text *t = &in->out;
  fs_text_puts(t, "# ");
  fs_text_puts(t, title);
  fs_text_puts(t, ": ");
  fs_import_count(t, r->n_jobs, "job", "jobs");
  fs_text_puts(t, ", ");
  fs_import_count(t, p->n_resources, "resource", "resources");
  fs_text_puts(t, ", ");
  fs_import_count(t, p->successor.n, "precedence", "precedences");
  fs_text_puts(t, "\n");
  fs_import_head(in);
  fs_text_puts(t, p->n_resources == 0 ? "" : "target:\n  resources:\n");
  for (uint64_t k = 0; k < p->n_resources; k++) {
    fs_text_puts(t, "    - {name: r");
    fs_text_u64(t, k + 1);
    fs_text_puts(t, ", capacity: ");
    fs_text_u64(t, p->capacity.at[k]);
    fs_text_puts(t, "}\n");
  }
  fs_text_puts(t, "ops:\n");
  for (uint32_t job = 0; job < r->n_jobs; job++) {
    put_job(t, p, r, job);
  }
}

fs_status fs_project_write(fs_import *in, const fs_project *p, const char *title) {
  assert(in->status == FSCHED_OK);
  turned t = {0};
  FS_TRY(turn(in, p, &t));
  FS_TRY(check_circles(in, p, &t));
  check_demands(in, p);
  if (in->status == FSCHED_OK) {
    put_graph(in, p, &t, title);
  }
  return FSCHED_OK;
}
