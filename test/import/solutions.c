/* SPDX-License-Identifier: Apache-2.0 */
#include "import/solutions.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static uint64_t number(const char **at) {
  char *end;
  uint64_t value = strtoull(*at, &end, 10);
  *at = end;
  return value;
}

static bool word(const char **at, const char *text) {
  size_t n = strlen(text);
  *at += strspn(*at, " \n");
  bool is = strncmp(*at, text, n) == 0;
  *at += is ? n : 0;
  return is;
}

static bool ended(const char *at) { return at[strspn(at, " \n")] == '\0'; }

/* ---- projects */

enum { MOST = 1000 };

typedef struct solutions_project {
  uint64_t jobs, resources;
  uint64_t capacity[MOST], time[MOST], start[MOST];
  uint64_t *use; /* per job and resource */
} solutions_project;

static const char *read_starts(solutions_project *p, const char *at, uint64_t *reached) {
  if (!word(&at, "makespan ")) {
    return "there is no makespan";
  }
  *reached = number(&at);
  uint64_t last = 0;
  for (uint64_t j = 0; j < p->jobs; j++) {
    if (number(&at) != j + 1) {
      return "the jobs are not in order";
    }
    p->start[j] = number(&at);
    last = last > p->start[j] + p->time[j] ? last : p->start[j] + p->time[j];
  }
  return last != *reached ? "the makespan is not the last end" : !ended(at) ? "more follows" : NULL;
}

static const char *check_amounts(const solutions_project *p, uint64_t makespan) {
  for (uint64_t t = 0; t < makespan; t++) {
    for (uint64_t k = 0; k < p->resources; k++) {
      uint64_t sum = 0;
      for (uint64_t j = 0; j < p->jobs; j++) {
        bool runs = p->start[j] <= t && t < p->start[j] + p->time[j];
        sum += runs ? p->use[j * p->resources + k] : 0;
      }
      if (sum > p->capacity[k]) {
        return "a resource is used beyond its capacity";
      }
    }
  }
  return NULL;
}

const char *fs_check_project(const char *instance, const char *solution, uint64_t *reached) {
  solutions_project p;
  p.jobs = number(&instance);
  p.resources = number(&instance);
  if (p.jobs > MOST || p.resources > MOST) {
    return "the instance is too large for this check";
  }
  p.use = calloc(p.jobs * p.resources + 1, sizeof *p.use);
  for (uint64_t k = 0; k < p.resources; k++) {
    p.capacity[k] = number(&instance);
  }
  const char *jobs = instance;
  for (uint64_t j = 0; j < p.jobs; j++) {
    p.time[j] = number(&instance);
    for (uint64_t k = 0; k < p.resources; k++) {
      p.use[j * p.resources + k] = number(&instance);
    }
    for (uint64_t n = number(&instance); n > 0; n--) {
      (void)number(&instance);
    }
  }
  const char *wrong = read_starts(&p, solution, reached);
  for (uint64_t j = 0; j < p.jobs && wrong == NULL; j++) {
    for (uint64_t k = 0; k <= p.resources; k++) {
      (void)number(&jobs);
    }
    for (uint64_t n = number(&jobs); n > 0; n--) {
      uint64_t next = number(&jobs) - 1;
      wrong = p.start[next] < p.start[j] + p.time[j] ? "a job starts before one that it follows"
                                                     : wrong;
    }
  }
  wrong = wrong == NULL ? check_amounts(&p, *reached) : wrong;
  free(p.use);
  return wrong;
}

/* ---- rectangles */

typedef struct solutions_rectangle {
  uint64_t x, y, w, h;
} solutions_rectangle;

static bool overlap(const solutions_rectangle *a, const solutions_rectangle *b) {
  return a->x < b->x + b->w && b->x < a->x + a->w && a->y < b->y + b->h && b->y < a->y + a->h;
}

static const char *check_overlap(const solutions_rectangle *r, size_t n) {
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < i; k++) {
      if (overlap(&r[i], &r[k])) {
        return "two places overlap";
      }
    }
  }
  return NULL;
}

const char *fs_check_strip(const char *instance, const char *solution, uint64_t *reached) {
  solutions_rectangle *r = calloc(strlen(instance) + 1, sizeof *r);
  const char *wrong = NULL;
  size_t n = 0;
  if (!word(&instance, "strip ") || !word(&solution, "strip ")) {
    wrong = "there is no strip";
  }
  uint64_t width = number(&instance), height = 0;
  (void)number(&instance);
  wrong = number(&solution) != width ? "the width is another" : wrong;
  *reached = number(&solution);
  for (; wrong == NULL && !ended(instance); n++) {
    uint64_t w = number(&instance), h = number(&instance);
    r[n].x = number(&solution);
    r[n].y = number(&solution);
    r[n].w = number(&solution);
    r[n].h = number(&solution);
    height = height > r[n].y + h ? height : r[n].y + h;
    wrong = r[n].w != w || r[n].h != h ? "the sides of a rectangle are others"
            : r[n].x + w > width       ? "a rectangle leaves the strip"
                                       : wrong;
  }
  wrong = wrong != NULL        ? wrong
          : !ended(solution)   ? "more follows"
          : height != *reached ? "the height is not the highest end"
                               : check_overlap(r, n);
  free(r);
  return wrong;
}

/* Reads one line of each at the same time; the solution adds the offset. */
static const char *read_buffer(const char **instance, const char **solution,
                               solutions_rectangle *r) {
  size_t n = strcspn(*instance, "\r\n");
  if (strncmp(*instance, *solution, n) != 0 || (*solution)[n] != ',') {
    return "a row is not that of the instance and an offset";
  }
  const char *at = strchr(*instance, ',') + 1;
  r->x = number(&at);
  at++;
  r->w = number(&at) - r->x;
  at++;
  r->h = number(&at);
  *instance += n;
  *instance += strspn(*instance, "\r\n");
  *solution += n + 1;
  r->y = number(solution);
  if (**solution != '\n') {
    return "something follows an offset";
  }
  ++*solution;
  return NULL;
}

const char *fs_check_memory(const char *instance, const char *solution, uint64_t *reached) {
  static const char head[] = "id,lower,upper,size,offset\n";
  solutions_rectangle *r = calloc(strlen(instance) + 1, sizeof *r);
  const char *wrong = strncmp(solution, head, sizeof head - 1) != 0 ? "the head is another" : NULL;
  size_t n = 0;
  solution += wrong == NULL ? sizeof head - 1 : 0;
  instance = strchr(instance, '\n') + 1;
  *reached = 0;
  for (; wrong == NULL && !ended(instance); n++) {
    wrong = read_buffer(&instance, &solution, &r[n]);
    *reached = *reached > r[n].y + r[n].h ? *reached : r[n].y + r[n].h;
  }
  wrong = wrong != NULL ? wrong : !ended(solution) ? "more follows" : check_overlap(r, n);
  free(r);
  return wrong;
}

/* ---- job shops */

typedef struct solutions_operation {
  uint64_t machine, start, end;
} solutions_operation;

static const char *check_machines(const solutions_operation *op, size_t n) {
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < i; k++) {
      if (op[i].machine == op[k].machine && op[i].start < op[k].end && op[k].start < op[i].end) {
        return "a machine does two operations at once";
      }
    }
  }
  return NULL;
}

const char *fs_check_jobshop(const char *instance, const char *solution, uint64_t *reached) {
  uint64_t jobs = number(&instance), machines = number(&instance), last = 0;
  if (jobs > MOST || machines > MOST) {
    return "the instance is too large for this check";
  }
  if (!word(&solution, "makespan ")) {
    return "there is no makespan";
  }
  *reached = number(&solution);
  solutions_operation *op = calloc(jobs * machines + 1, sizeof *op);
  const char *wrong = op == NULL ? "no memory" : NULL;
  for (uint64_t i = 0; i < jobs * machines && wrong == NULL; i++) {
    op[i].machine = number(&instance);
    op[i].start = number(&solution);
    op[i].end = op[i].start + number(&instance);
    last = last > op[i].end ? last : op[i].end;
    bool follows = i % machines != 0;
    wrong = follows && op[i].start < op[i - 1].end ? "an operation starts before the one before it"
                                                   : NULL;
  }
  wrong = wrong != NULL      ? wrong
          : last != *reached ? "the makespan is not the last end"
          : !ended(solution) ? "more follows"
                             : check_machines(op, (size_t)(jobs * machines));
  free(op);
  return wrong;
}
