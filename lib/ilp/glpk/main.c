/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fsched-glpk [--time-limit SECONDS] [--node-limit N] [--start START] MODEL.mps */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper.h"

static const char help[] =
    "usage: fsched-glpk [OPTION...] MODEL\n"
    "Solves an integer linear program with GLPK, for fsched --refine.\n"
    "\n"
    "  --time-limit SECONDS  ends the search after that time\n"
    "  --node-limit N        ends the search after N nodes\n"
    "  --start FILE          a solution to begin with: lines NAME VALUE\n"
    "  --help                prints this\n"
    "  --version             prints the versions of this program and of GLPK\n";

static const char version[] = "fsched-glpk " FSCHED_VERSION
                              "\n"
                              "GLPK %s\n"
                              "Licence GPL-3.0-or-later: GNU GPL version 3 or later "
                              "<https://gnu.org/licenses/gpl.html>.\n"
                              "There is no warranty, to the extent permitted by law.\n";

typedef struct arguments {
  const char *time_limit, *node_limit, *start, *model;
} arguments;

_Noreturn static void wrong_usage(const char *what, const char *of) {
  fprintf(stderr, "fsched-glpk: %s%s (--help says more)\n", what, of);
  exit(2);
}

/* The value of option `name` at argv[*i], after '=' or in the next word; NULL: another option. */
static const char *value_of(const char *name, int argc, char **argv, int *i) {
  size_t n = strlen(name);
  const char *word = argv[*i];
  if (strncmp(word, name, n) != 0 || (word[n] != '\0' && word[n] != '=')) {
    return NULL;
  }
  if (word[n] == '=') {
    return word + n + 1;
  }
  if (*i + 1 == argc) {
    wrong_usage("a value is missing for ", name);
  }
  return argv[++*i];
}

static arguments parse(int argc, char **argv) {
  arguments a = {0};
  for (int i = 1; i < argc; i++) {
    const char *v;
    if (strcmp(argv[i], "--help") == 0) {
      fputs(help, stdout);
      exit(fflush(stdout) != 0);
    } else if (strcmp(argv[i], "--version") == 0) {
      printf(version, glp_version());
      exit(fflush(stdout) != 0);
    } else if ((v = value_of("--time-limit", argc, argv, &i)) != NULL) {
      a.time_limit = v;
    } else if ((v = value_of("--node-limit", argc, argv, &i)) != NULL) {
      a.node_limit = v;
    } else if ((v = value_of("--start", argc, argv, &i)) != NULL) {
      a.start = v;
    } else if (argv[i][0] == '-') {
      wrong_usage("no such option: ", argv[i]);
    } else if (a.model != NULL) {
      wrong_usage("one model at a time, not also ", argv[i]);
    } else {
      a.model = argv[i];
    }
  }
  if (a.model == NULL) {
    wrong_usage("no model is given", "");
  }
  return a;
}

static double seconds(const char *text) {
  char *end;
  double v = strtod(text, &end);
  if (end == text || *end != '\0' || !isfinite(v) || v < 0.0) {
    wrong_usage("not a number of seconds: ", text);
  }
  return v;
}

static long count(const char *text) {
  char *end;
  errno = 0;
  long v = strtol(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || v < 1) {
    wrong_usage("not a number of nodes: ", text);
  }
  return v;
}

/* Ends this program with the process that started it, if that reads its output through a pipe. */
static void end_with_the_reader(void) {
  struct stat st;
  if (fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode)) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
}

int main(int argc, char **argv) {
  double began = now();
  arguments a = parse(argc, argv);
  task t = {.deadline = -1.0};
  if (a.time_limit != NULL) {
    t.deadline = began + seconds(a.time_limit);
  }
  t.node_limit = a.node_limit == NULL ? 0 : count(a.node_limit);
  end_with_the_reader();
  hush();
  t.lp = read_model(a.model);
  t.integral = whole_objective(t.lp);
  t.start = a.start == NULL ? NULL : read_start(t.lp, a.start);
  static const char *const word[] = {
      [OPTIMAL] = "optimal", [INFEASIBLE] = "infeasible", [LIMIT] = "limit"};
  say_status(word[search(&t)]);
  _exit(0); /* the system frees a large model faster than free() does */
}
