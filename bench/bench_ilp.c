/* SPDX-License-Identifier: Apache-2.0 */
/* What the time-indexed model and the solver prove about the shared instances with 30 jobs: the
 * list schedule's makespan and its bound, and the result of `--refine ilp` within a limit of time,
 * beside the best known makespan.
 *
 * FSCHED_SHARED names the folder with the instances (default ../shared), FSCHED_ILP_SECONDS the
 * limit (default 5), FSCHED_ILP_EVERY n takes every n-th instance (default 4), FSCHED_SOLVER the
 * solver's command (default the fsched-glpk of this build).  With FSCHED_ILP_FORMS=1 two forms of
 * the model are solved on their own, too. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ilp/solver/solver.h"
#include "ilp/time/model.h"
#include "kit/gen.h"
#include "model/handle.h"

#define BENCH_NAME "bench_ilp"
#include "instances.h"

typedef struct bench_ilp_setting {
  const char *folder, *solver;
  double seconds;
  unsigned every;
} bench_ilp_setting;

/* --- instances --- */

static unsigned number(FILE *f) {
  unsigned n;
  if (fscanf(f, "%u", &n) != 1) {
    fail("not an instance");
  }
  return n;
}

static void add_job(fsched_context *ctx, fsched_builder *b, FILE *f, unsigned job,
                    unsigned resources) {
  char name[32];
  uint32_t id;
  (void)snprintf(name, sizeof name, "j%u", job);
  fsched_op_desc d = {.size = sizeof d, .name = name, .has_time = 1, .time = number(f)};
  need(ctx, fsched_builder_op(b, &d, &id));
  for (unsigned r = 0; r < resources; r++) {
    unsigned amount = number(f);
    if (amount > 0) {
      need(ctx, fsched_builder_use(b, id, r, amount));
    }
  }
}

static fsched_graph *read_instance(fsched_context *ctx, const char *path) {
  FILE *f = fopen(path, "r");
  fsched_builder *b;
  fsched_graph *g;
  if (f == NULL) {
    fail(path);
  }
  need(ctx, fsched_builder_create(ctx, "instance", &b));
  unsigned jobs = number(f), resources = number(f), (*edge)[2] = NULL, edges = 0;
  for (unsigned r = 0; r < resources; r++) {
    char name[32];
    (void)snprintf(name, sizeof name, "r%u", r);
    need(ctx, fsched_builder_resource(b, name, number(f), NULL));
  }
  edge = malloc((size_t)jobs * jobs * sizeof *edge);
  for (unsigned j = 0; j < jobs && edge != NULL; j++) {
    add_job(ctx, b, f, j, resources);
    for (unsigned n = number(f); n > 0; n--) {
      edge[edges][0] = j;
      edge[edges++][1] = number(f) - 1;
    }
  }
  for (unsigned e = 0; e < edges; e++) {
    need(ctx, fsched_builder_after(b, edge[e][1], edge[e][0]));
  }
  free(edge);
  (void)fclose(f);
  need(ctx, fsched_builder_finish(b, &g));
  fsched_builder_destroy(b);
  return g;
}

static unsigned best_known(const bench_ilp_setting *s, const char *file) {
  char path[800], line[200];
  (void)snprintf(path, sizeof path, "%s/best_known.csv", s->folder);
  FILE *f = fopen(path, "r");
  unsigned lower, best = 0;
  size_t n = strlen(file);
  while (f != NULL && fgets(line, sizeof line, f) != NULL) {
    if (strncmp(line, file, n) == 0 && sscanf(line + n, ",%u,%u", &lower, &best) == 2) {
      break;
    }
  }
  if (f != NULL) {
    (void)fclose(f);
  }
  return best;
}

/* --- one form of the model by itself --- */

typedef struct bench_ilp_form {
  const char *name;
  bool disaggregated;
  unsigned solved, variables, rows, terms, instances;
  double seconds;
} bench_ilp_form;

static void solve_form(fsched_context *ctx, const fsched_graph *g, const bench_ilp_setting *s,
                       fs_tick horizon, fs_tick bound, bench_ilp_form *f) {
  fs_problem *p;
  fs_time_model *t;
  fs_decision possible;
  need(ctx, fs_problem_from_graph(ctx, g, horizon, bound, &p));
  if (p == NULL) {
    fail("no problem");
  }
  double begin = now();
  need(ctx, fs_problem_tighten(p, &possible));
  f->instances++;
  if (possible.is == FS_NO) {
    f->solved++;
    fs_problem_destroy(p);
    return;
  }
  fs_time_options o = {.disaggregated = f->disaggregated};
  need(ctx, fs_time_model_build(p, &o, &t));
  const fs_model *m = fs_time_model_of(t);
  f->variables += (unsigned)m->var.n;
  f->rows += (unsigned)m->row.n;
  f->terms += (unsigned)m->term.n;
  int64_t *value = calloc(m->var.n + 1, sizeof *value);
  struct timespec at;
  (void)clock_gettime(CLOCK_MONOTONIC, &at);
  fs_solver_options so = {.command = s->solver};
  so.deadline_ns =
      (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec + (uint64_t)(s->seconds * 1e9);
  fs_solver_result r = {0};
  need(ctx, fs_solver_run(ctx, m, &so, false, value, &r));
  bool solved = r.status == FS_SOLVER_OPTIMAL || r.status == FS_SOLVER_INFEASIBLE;
  f->solved += solved;
  f->seconds += now() - begin;
  free(value);
  fs_time_model_destroy(t);
  fs_problem_destroy(p);
}

/* --- all --- */

typedef struct bench_ilp_tally {
  unsigned n, optimal, proven, heuristic, wrong;
  double seconds;
} bench_ilp_tally;

static fsched_schedule *refine(fsched_context *ctx, const fsched_graph *g,
                               const bench_ilp_setting *s) {
  fsched_schedule *out;
  fsched_compile_options o = {.size = sizeof o,
                              .verify = 1,
                              .refine = FSCHED_REFINE_ILP,
                              .time_limit_ms = (uint64_t)(s->seconds * 1000),
                              .solver_cmd = s->solver};
  need(ctx, fsched_compile(ctx, g, &o, &out, NULL));
  return out;
}

static void one(const bench_ilp_setting *s, const char *file, bench_ilp_tally *t,
                bench_ilp_form *forms, size_t n_forms) {
  char path[800];
  fsched_context *ctx;
  fsched_schedule *list;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    fail("no context");
  }
  (void)snprintf(path, sizeof path, "%s/%s", s->folder, file);
  fsched_graph *g = read_instance(ctx, path);
  fsched_compile_options o = {.size = sizeof o};
  need(ctx, fsched_compile(ctx, g, &o, &list, NULL));
  double begin = now();
  fsched_schedule *best = refine(ctx, g, s);
  double seconds = now() - begin;
  unsigned known = best_known(s, file);
  bool proven = best->schedule->makespan == best->schedule->lower_bound;
  printf("%-14s %6llu %6llu %8llu %6llu %6u  %-8s %6.2f\n", file,
         (unsigned long long)list->schedule->makespan,
         (unsigned long long)list->schedule->lower_bound,
         (unsigned long long)best->schedule->makespan,
         (unsigned long long)best->schedule->lower_bound, known, proven ? "proven" : "", seconds);
  t->n++;
  t->heuristic += list->schedule->makespan == list->schedule->lower_bound;
  t->proven += proven;
  t->optimal += best->schedule->makespan == known;
  t->wrong += best->schedule->makespan < known || (proven && best->schedule->makespan != known) ||
              best->schedule->lower_bound > known ||
              best->schedule->makespan > list->schedule->makespan;
  t->seconds += seconds;
  for (size_t i = 0; i < n_forms && list->schedule->makespan > list->schedule->lower_bound; i++) {
    solve_form(ctx, g, s, list->schedule->makespan - 1, list->schedule->lower_bound, &forms[i]);
  }
  fflush(stdout);
  fsched_schedule_destroy(list);
  fsched_schedule_destroy(best);
  fsched_graph_destroy(g);
  fsched_context_destroy(ctx);
}

static int is_instance(const struct dirent *e) {
  const char *dot = strrchr(e->d_name, '.');
  return dot != NULL && strcmp(dot, ".rcp") == 0;
}

static double setting_number(const char *name, double fallback) {
  const char *text = getenv(name);
  return text == NULL || *text == '\0' ? fallback : atof(text);
}

static void run(const bench_ilp_setting *s) {
  struct dirent **entry;
  int n = scandir(s->folder, &entry, is_instance, alphasort);
  if (n <= 0) {
    printf("30 jobs: skipped, no instances in %s\n", s->folder);
    return;
  }
  bench_ilp_tally t = {0};
  bench_ilp_form forms[] = {{.name = "aggregated"},
                            {.name = "disaggregated", .disaggregated = true}};
  size_t n_forms = getenv("FSCHED_ILP_FORMS") == NULL ? 0 : sizeof forms / sizeof *forms;
  printf(
      "30 jobs, every %u. instance, %g s each\n%-14s %13s %15s %6s\n%-14s %6s %6s %8s %6s %6s %9s "
      "%6s\n",
      s->every, s->seconds, "", "list", "--refine ilp", "best", "", "", "bound", "", "bound",
      "known", "", "s");
  for (int i = 0; i < n; i++) {
    if ((unsigned)i % s->every == 0) {
      one(s, entry[i]->d_name, &t, forms, n_forms);
    }
    free(entry[i]);
  }
  free(entry);
  printf(
      "\n%u instances: the heuristic's own bound proves %u, proven %u (%.1f %%), best known "
      "makespan %u; "
      "%u contradict what is known; mean %.2f s\n",
      t.n, t.heuristic, t.proven, 100.0 * t.proven / t.n, t.optimal, t.wrong, t.seconds / t.n);
  for (size_t i = 0; i < n_forms; i++) {
    const bench_ilp_form *f = &forms[i];
    unsigned m = f->instances == 0 ? 1 : f->instances;
    printf(
        "%-14s better than the list schedule, or that there is none: %u of %u; mean of %u "
        "variables, %u rows, %u terms; %.2f s\n",
        f->name, f->solved, f->instances, f->variables / m, f->rows / m, f->terms / m,
        f->seconds / m);
  }
}

/* Returns the fsched-glpk of the build to which this program belongs; NULL: it is looked for in
 * PATH. */
static const char *built_solver(const char *program, char path[400]) {
  const char *slash = strrchr(program, '/');
  int n = slash == NULL ? 0 : (int)(slash - program) + 1;
  (void)snprintf(path, 400, "%.*s../fsched-glpk", n, program);
  return access(path, X_OK) == 0 ? path : NULL;
}

int main(int argc, char **argv) {
  const char *shared = getenv("FSCHED_SHARED"), *solver = getenv("FSCHED_SOLVER");
  char folder[400], path[400];
  (void)snprintf(folder, sizeof folder, "%s/data/rcpsp/j30", shared == NULL ? "../shared" : shared);
  bench_ilp_setting s = {
      .folder = folder,
      .solver = solver != NULL ? solver : built_solver(argc > 0 ? argv[0] : "", path),
      .seconds = setting_number("FSCHED_ILP_SECONDS", 5),
      .every = (unsigned)setting_number("FSCHED_ILP_EVERY", 4)};
  s.every = s.every == 0 ? 1 : s.every;
  run(&s);
  return EXIT_SUCCESS;
}
