/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of the program.  GLPK prints to the terminal, too, and calls abort() when it is used
 * wrongly or is out of memory: both are caught here, and GLPK's last line is the text of the
 * fault. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "helper.h"

static char last_line[160]; /* GLPK's last line */

/* Ends the program when the reader of its output is gone. */
static void flush(void) {
  if (fflush(stdout) != 0) {
    _exit(1);
  }
}

void say_bound(double value) {
  printf("bound %.15g\n", value);
  flush();
}

void say_nodes(long n) {
  printf("nodes %ld\n", n);
  flush();
}

void say_incumbent(glp_prob *lp, double objective, const double *x) {
  printf("incumbent %.15g\n", objective);
  for (int j = 1; j <= glp_get_num_cols(lp); j++) {
    if (x[j] != 0.0) {
      printf("%s %.15g\n", glp_get_col_name(lp, j), x[j]);
    }
  }
  printf("end\n");
  flush();
}

void say_status(const char *word) {
  printf("status %s\n", word);
  flush();
}

void fault(const char *format, ...) {
  va_list args;
  va_start(args, format);
  printf("status error ");
  vprintf(format, args);
  printf("\n");
  va_end(args);
  flush();
  _exit(1);
}

/* Keeps GLPK's messages, which come in pieces.  A line that names the place in GLPK is left out. */
static int keep_line(void *info, const char *text) {
  (void)info;
  static bool complete = true;
  static size_t n;
  if (strncmp(text, "Error detected in file", 22) == 0) {
    return 1;
  }
  n = complete ? 0 : n;
  size_t length = strcspn(text, "\n");
  for (size_t i = 0; i < length && n + 1 < sizeof last_line; i++) {
    last_line[n++] = text[i];
  }
  last_line[n] = '\0';
  complete = text[length] == '\n';
  return 1;
}

const char *glpk_said(void) { return last_line; }

static void on_error(void *info) {
  (void)info;
  fault("GLPK: %s", last_line);
}

void hush(void) {
  glp_term_hook(keep_line, NULL);
  glp_error_hook(on_error, NULL);
}

void *allocate(size_t n, size_t size) {
  void *p = calloc(n == 0 ? 1 : n, size);
  if (p == NULL) {
    fault("out of memory");
  }
  return p;
}

double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
