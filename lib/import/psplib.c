/* SPDX-License-Identifier: Apache-2.0 */
/* PSPLIB's format (.sm): a head with the numbers of jobs and resources, then sections, which begin
 * with a line in capitals: PRECEDENCE RELATIONS (job, modes, number of successors, successors),
 * REQUESTS/DURATIONS (job, mode, duration, demands) and RESOURCEAVAILABILITIES.  A job stands on
 * one line, and jobs stand in order.  Lines of stars or hyphens and the titles of columns say
 * nothing.
 *
 * Resources that are not renewable are accepted as long as no job uses them; a job has one mode. */
#include "fsched/graph.h"
#include "import/project.h"

typedef enum section { HEAD, INFORMATION, PRECEDENCE, REQUESTS, AVAILABLE, SECTIONS } section;
static const char *const section_name[SECTIONS] = {"", "PROJECT INFORMATION",
                                                   "PRECEDENCE RELATIONS", "REQUESTS/DURATIONS",
                                                   "RESOURCEAVAILABILITIES"};

typedef struct psplib {
  fs_project p;
  section in;
  bool seen[SECTIONS];
  uint64_t others; /* number of resources that are not renewable; they follow the renewable ones */
  uint64_t rows;   /* rows read in this section */
} psplib;

static bool begins(const fs_import *in, fs_text_span s, const char *word) {
  size_t n = strlen(word);
  return s.end - s.at >= n && memcmp(in->text + s.at, word, n) == 0;
}

/* Reports words that are left on the line. */
static void no_more(fs_import *in, fs_text_span *rest, const char *what, uint64_t number) {
  fs_text_span word = fs_import_word(in, rest);
  if (!fs_span_empty(word)) {
    fs_import_syntax(in, word, NULL, "the line should end behind the %s %llu, not with '%.*s'",
                     what, (unsigned long long)number, fs_import_shown(in, word),
                     fs_import_at(in, word));
  }
}

/* ---- head */

/* Returns false when the rest makes no sense: a number is faulty, or there are several projects. */
static bool read_head(fs_import *in, psplib *s, fs_text_span line) {
  uint64_t projects = 1, others = 0;
  const struct {
    const char *key, *what;
    uint64_t least, *value;
  } keys[] = {{"projects", "number of projects", 0, &projects},
              {"jobs", "number of jobs", 1, &s->p.n_jobs},
              {"- renewable", "number of renewable resources", 0, &s->p.n_resources},
              {"- nonrenewable", "number of nonrenewable resources", 0, &others},
              {"- doubly constrained", "number of doubly constrained resources", 0, &others}};
  fs_text_span words = line, word;
  line.at = fs_import_word(in, &words).at;
  const char *colon = memchr(in->text + line.at, ':', line.end - line.at);
  for (size_t i = 0; colon != NULL && i < sizeof keys / sizeof keys[0]; i++) {
    if (begins(in, line, keys[i].key)) {
      words = (fs_text_span){(size_t)(colon + 1 - in->text), line.end};
      word = fs_import_word(in, &words);
      if (!fs_import_number(in, word, (fs_wanted){keys[i].what, NULL, 0}, keys[i].least, INT32_MAX,
                            keys[i].value)) {
        return false;
      }
      if (projects != 1) {
        fs_import_value(in, word, NULL, "there are %llu projects here, one can be imported",
                        (unsigned long long)projects);
        return false;
      }
    }
  }
  s->others += others;
  return true;
}

/* ---- sections */

/* Checks that the first word of a row is the number of the next job. */
static bool read_job(fs_import *in, psplib *s, fs_text_span *line) {
  fs_text_span word = fs_import_word(in, line);
  uint64_t job;
  if (!fs_import_digits(in, word, &job)) {
    fs_import_syntax(in, word, NULL, "job %llu should stand here, not '%.*s'",
                     (unsigned long long)s->rows + 1, fs_import_shown(in, word),
                     fs_import_at(in, word));
    return false;
  }
  if (job == 0 || job > s->p.n_jobs) {
    fs_import_reference(in, word, NULL, "there is no job %.*s: the last one is %llu",
                        fs_import_shown(in, word), fs_import_at(in, word),
                        (unsigned long long)s->p.n_jobs);
    return false;
  }
  if (job != s->rows + 1) {
    fs_import_syntax(in, word, NULL, "job %llu should stand here, not job %llu",
                     (unsigned long long)s->rows + 1, (unsigned long long)job);
  }
  s->rows = job;
  return true;
}

/* Returns false when the job has several modes: then the rest cannot be read. */
static bool read_mode(fs_import *in, uint64_t job, const char *what, fs_text_span *line) {
  fs_text_span word = fs_import_word(in, line);
  uint64_t modes = 1;
  if (fs_import_number(in, word, (fs_wanted){what, "job", job}, 1, INT32_MAX, &modes) &&
      modes != 1) {
    fs_import_value(in, word, "fsched chooses starts, not how a job is done",
                    "job %llu has several modes: such projects (.mm) cannot be imported",
                    (unsigned long long)job);
    return false;
  }
  return true;
}

static bool read_precedence(fs_import *in, psplib *s, fs_text_span line, fs_status *status) {
  uint64_t n = 0;
  if (!read_job(in, s, &line)) {
    return true;
  }
  if (!read_mode(in, s->rows, "number of modes", &line)) {
    return false;
  }
  if (fs_import_next(in, &line, (fs_wanted){"number of successors", "job", s->rows}, 0, INT32_MAX,
                     &n)) {
    uint64_t k = 0;
    while (k < n && fs_project_successor(in, &s->p, s->rows - 1, &line, status)) {
      k++;
    }
    if (k == n) {
      no_more(in, &line, "last successor of job", s->rows);
    }
  }
  if (*status == FSCHED_OK) {
    *status = fs_vec_push(in->ctx, &s->p.successor_end, s->p.successor.n);
  }
  return *status == FSCHED_OK;
}

/* Reports a job that uses a resource that is not renewable. */
static bool read_others(fs_import *in, const psplib *s, fs_text_span *line) {
  for (uint64_t k = 0; k < s->others; k++) {
    fs_placed demand;
    if (!fs_project_number(in, line, (fs_wanted){"demand", "job", s->rows}, FSCHED_MAX_TIME,
                           &demand)) {
      return false;
    }
    if (demand.value > 0) {
      fs_import_value(in, fs_import_word_at(in, demand.at), NULL,
                      "job %llu uses a resource that is not renewable: such projects cannot be "
                      "imported",
                      (unsigned long long)s->rows);
    }
  }
  return true;
}

static bool read_request(fs_import *in, psplib *s, fs_text_span line, fs_status *status) {
  fs_placed time, demand;
  if (!read_job(in, s, &line)) {
    return true;
  }
  if (!read_mode(in, s->rows, "mode", &line)) {
    return false;
  }
  if (!fs_project_number(in, &line, (fs_wanted){"duration", "job", s->rows}, FSCHED_MAX_TIME,
                         &time)) {
    return true;
  }
  *status = fs_vec_push(in->ctx, &s->p.time, time.value);
  for (uint64_t k = 0; k < s->p.n_resources && *status == FSCHED_OK; k++) {
    if (!fs_project_number(in, &line, (fs_wanted){"demand", "job", s->rows}, FSCHED_MAX_TIME,
                           &demand)) {
      return true;
    }
    *status = fs_vec_push(in->ctx, &s->p.demand, demand);
  }
  if (*status == FSCHED_OK && read_others(in, s, &line)) {
    no_more(in, &line, "last demand of job", s->rows);
  }
  return *status == FSCHED_OK;
}

static bool read_capacities(fs_import *in, psplib *s, fs_text_span line, fs_status *status) {
  fs_text_span words = line;
  char first = in->text[fs_import_word(in, &words).at];
  if (s->rows == 0 && (first == 'R' || first == 'N' || first == 'D')) {
    return true; /* the names of the columns */
  }
  if (s->rows++ > 0) {
    fs_import_syntax(in, fs_import_word(in, &line), NULL, "nothing may follow the capacities");
    return false;
  }
  for (uint64_t k = 0; k < s->p.n_resources + s->others && *status == FSCHED_OK; k++) {
    fs_placed capacity;
    if (!fs_project_number(in, &line, (fs_wanted){"capacity", "resource", k + 1}, FSCHED_MAX_TIME,
                           &capacity)) {
      return true;
    }
    if (k < s->p.n_resources) {
      *status = fs_vec_push(in->ctx, &s->p.capacity, capacity.value);
    }
  }
  no_more(in, &line, "capacity of resource", s->p.n_resources + s->others);
  return *status == FSCHED_OK;
}

/* ---- lines */

/* Reports what the section lacks, where another section begins or the file ends. */
static void end_section(fs_import *in, const psplib *s, fs_text_span at) {
  bool of_jobs = s->in == PRECEDENCE || s->in == REQUESTS;
  uint64_t wanted = of_jobs ? s->p.n_jobs : s->in == AVAILABLE && s->p.n_resources > 0;
  if (s->rows < wanted && of_jobs) {
    fs_import_syntax(in, at, NULL, "%s ends before job %llu, the last one is %llu",
                     section_name[s->in], (unsigned long long)s->rows + 1,
                     (unsigned long long)wanted);
  } else if (s->rows < wanted) {
    fs_import_syntax(in, at, NULL, "the capacities are missing");
  }
}

/* Returns false when the section cannot begin here. */
static bool begin_section(fs_import *in, psplib *s, section next, fs_text_span line) {
  fs_text_span words = line, word = fs_import_word(in, &words);
  end_section(in, s, word);
  if (next > INFORMATION && s->p.n_jobs == 0) {
    fs_import_syntax(in, word, NULL, "the number of jobs should have come before");
    return false;
  }
  if (s->seen[next]) {
    fs_import_syntax(in, word, NULL, "there is another section %s", section_name[next]);
    return false;
  }
  s->seen[next] = true;
  s->in = next;
  s->rows = 0;
  return true;
}

static bool says_nothing(const fs_import *in, fs_text_span word) {
  return fs_span_empty(word) || begins(in, word, "*") || begins(in, word, "--") ||
         begins(in, word, "jobnr");
}

/* Returns false when nothing more can be read. */
static bool read_line(fs_import *in, psplib *s, fs_text_span line, fs_status *status) {
  fs_text_span words = line, word = fs_import_word(in, &words);
  if (says_nothing(in, word)) {
    return true;
  }
  for (int next = INFORMATION; next < SECTIONS; next++) {
    if (begins(in, (fs_text_span){word.at, line.end}, section_name[next])) {
      return begin_section(in, s, (section)next, line);
    }
  }
  switch (s->in) {
    case PRECEDENCE:
      return read_precedence(in, s, line, status);
    case REQUESTS:
      return read_request(in, s, line, status);
    case AVAILABLE:
      return read_capacities(in, s, line, status);
    case HEAD:
      return read_head(in, s, line);
    case INFORMATION:
    case SECTIONS:
      break;
  }
  return true;
}

static fs_status read_project(fs_import *in, psplib *s) {
  fs_text_span rest = fs_import_all(in), line;
  fs_status status = FSCHED_OK;
  while (fs_import_line(in, &rest, &line)) {
    if (!read_line(in, s, line, &status)) {
      return status;
    }
  }
  rest = (fs_text_span){in->length, in->length};
  fs_text_span end = fs_import_word(in, &rest);
  end_section(in, s, end);
  for (int n = PRECEDENCE; n < SECTIONS; n++) {
    if (!s->seen[n] &&
        (n == PRECEDENCE || s->in >= PRECEDENCE)) { /* if all are missing, one report does */
      fs_import_syntax(in, end, NULL, "there is no section %s", section_name[n]);
    }
  }
  return in->status == FSCHED_OK ? fs_project_write(in, &s->p, "Project in PSPLIB's format")
                                 : FSCHED_OK;
}

fs_status fs_import_psplib(fs_import *in) {
  psplib s = {.in = HEAD};
  fs_status status = read_project(in, &s);
  fs_project_free(in, &s.p);
  return status;
}
