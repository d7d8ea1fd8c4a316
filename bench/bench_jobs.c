/* SPDX-License-Identifier: Apache-2.0 */
/* The search by several threads beside the same by one, for the same time: the geometric mean of
 * the ratio of their makespans, on public instances and on random graphs whose memories are short.
 * Every schedule is verified.
 *
 * FSCHED_SHARED names the folder with the instances (default ../shared), FSCHED_JOBS the threads
 * (default 2), FSCHED_SEARCH_SECONDS the limit of each search (default 1), FSCHED_SEARCH_EVERY n
 * takes every n-th instance (default 8), FSCHED_JOBS_SETS letters of sets (default all, 6ajm).
 * FSCHED_JOBS_NODES limits the nodes of each thread instead, which gives the same on every machine,
 * and FSCHED_JOBS_EACH=1 shows each instance.  "cpus" are those that one and all threads had: where
 * others use the machine they are fewer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "fsched/compile.h"
#include "fsched/import.h"
#include "kit/gen.h"

#define BENCH_NAME "bench_jobs"
#include "instances.h"

typedef struct bench_jobs_set {
  char letter;
  const char *folder, *suffix; /* folder NULL: random graphs */
  fsched_format format;
} bench_jobs_set;

typedef struct bench_jobs_setup {
  double seconds;
  uint64_t nodes; /* 0: seconds count */
  unsigned every, jobs;
} bench_jobs_setup;

typedef struct bench_jobs_tally {
  unsigned n, better, worse, proven_one, proven_all;
  double log_ratio, cpu_one, wall_one, cpu, wall, most_late;
} bench_jobs_tally;

static double cpu_now(void) {
  struct rusage u;
  (void)getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static fsched_context *new_context(void) {
  fsched_context *ctx;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    fail("no context");
  }
  return ctx;
}

/* ---- comparisons */

static uint64_t compile(fsched_context *ctx, const fsched_graph *g, const bench_jobs_setup *setup,
                        unsigned jobs, bool *proven) {
  fsched_compile_options o = {.size = sizeof o,
                              .verify = 1,
                              .refine = FSCHED_REFINE_SEARCH,
                              .jobs = jobs,
                              .node_limit = setup->nodes};
  o.time_limit_ms = setup->nodes != 0 ? 0 : (uint64_t)(setup->seconds * 1000);
  fsched_schedule *s;
  need(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  uint64_t makespan = fsched_schedule_makespan(s);
  *proven = makespan == fsched_schedule_lower_bound(s);
  fsched_schedule_destroy(s);
  return makespan;
}

static void compare(fsched_context *ctx, const char *name, const fsched_graph *g,
                    const bench_jobs_setup *setup, bench_jobs_tally *t) {
  bool proven_one, proven_all;
  double begin = now(), cpu = cpu_now();
  uint64_t one = compile(ctx, g, setup, 1, &proven_one);
  t->cpu_one += cpu_now() - cpu;
  t->wall_one += now() - begin;
  begin = now();
  cpu = cpu_now();
  uint64_t all = compile(ctx, g, setup, setup->jobs, &proven_all);
  double seconds = now() - begin;
  t->cpu += cpu_now() - cpu;
  t->wall += seconds;
  t->most_late = fmax(t->most_late, setup->nodes != 0 ? 0 : seconds - setup->seconds);
  t->n++;
  t->better += all < one;
  t->worse += all > one;
  t->proven_one += proven_one;
  t->proven_all += proven_all;
  t->log_ratio += one == 0 ? 0 : log((double)all / (double)one);
  if (getenv("FSCHED_JOBS_EACH") != NULL) {
    printf("  %-12s %10llu %10llu\n", name, (unsigned long long)one, (unsigned long long)all);
  }
}

/* ---- instances */

static void compare_instance(const bench_jobs_set *set, const char *name,
                             const bench_jobs_setup *setup, bench_jobs_tally *t) {
  fsched_context *ctx = new_context();
  fsched_graph *g;
  char file[80], *yaml;
  size_t n, m;
  (void)snprintf(file, sizeof file, "%s%s", name, set->suffix);
  char *text = read_shared(ctx, set->folder, file, &n);
  if (text == NULL) {
    fail(file);
  }
  need(ctx, fsched_import(ctx, set->format, name, text, n, NULL, &yaml, &m));
  need(ctx, fsched_graph_parse(ctx, name, yaml, m, NULL, &g));
  compare(ctx, name, g, setup, t);
  fsched_text_free(ctx, yaml, m);
  (void)fs_realloc(ctx, text, n + 1, 0);
  fsched_graph_destroy(g);
  fsched_context_destroy(ctx);
}

static void compare_folder(const bench_jobs_set *set, const bench_jobs_setup *setup,
                           bench_jobs_tally *t) {
  fsched_context *ctx = new_context();
  size_t n;
  unsigned k = 0;
  char *list = read_shared(ctx, set->folder, "best_known.csv", &n);
  for (char *line = list; line != NULL; line = strchr(line + 1, '\n')) {
    char name[40];
    unsigned long long least, best;
    if (sscanf(line, "\n%39[^,],%llu,%llu", name, &least, &best) == 3 && k++ % setup->every == 0) {
      name[strcspn(name, ".")] = '\0';
      compare_instance(set, name, setup, t);
    }
  }
  if (list != NULL) {
    (void)fs_realloc(ctx, list, n + 1, 0);
  }
  fsched_context_destroy(ctx);
}

/* Graphs of 30 to 200 ops on up to 4 queues, with memories for a part of what is alive. */
static void compare_random(const bench_jobs_setup *setup, bench_jobs_tally *t) {
  enum { GRAPHS = 96 };
  static const double tightness[] = {1.5, 2, 4};
  for (unsigned i = 0; i < GRAPHS; i += setup->every) {
    fsched_context *ctx = new_context();
    fsched_graph *g;
    char name[16];
    fs_rng rng = {i};
    fs_gen_params p = {.seed = i,
                       .n_ops = 30 + fs_rng_below(&rng, 171),
                       .n_queues = 2 + i % 4,
                       .n_classes = 1,
                       .n_memories = 1,
                       .max_size = 1000,
                       .window = 4 << fs_rng_below(&rng, 4),
                       .tightness = tightness[i % 3],
                       .backing = true,
                       .io = true};
    need(ctx, fs_gen_graph(ctx, &p, &g));
    (void)snprintf(name, sizeof name, "random %u", i);
    compare(ctx, name, g, setup, t);
    fsched_graph_destroy(g);
    fsched_context_destroy(ctx);
  }
}

static void run(const bench_jobs_set *set, const bench_jobs_setup *setup) {
  bench_jobs_tally t = {0};
  const char *name = set->folder == NULL ? "random" : set->folder;
  if (set->folder == NULL) {
    compare_random(setup, &t);
  } else {
    compare_folder(set, setup, &t);
  }
  if (t.n == 0) {
    printf("%-12s skipped, no instances\n", name);
  } else {
    printf("%-12s %4u %9.5f %7u %6u %7u %7u %6.2f %6.2f %8.2f %8.2f %7.3f\n", name, t.n,
           exp(t.log_ratio / t.n), t.better, t.worse, t.proven_one, t.proven_all,
           t.cpu_one / t.wall_one, t.cpu / t.wall, t.wall_one, t.wall, t.most_late);
  }
  (void)fflush(stdout);
}

int main(void) {
  static const bench_jobs_set sets[] = {
      {'6', "rcpsp/j60", ".rcp", FSCHED_FORMAT_PATTERSON},
      {'a', "rcpsp/j120", ".rcp", FSCHED_FORMAT_PATTERSON},
      {'j', "jobshop", ".txt", FSCHED_FORMAT_JOBSHOP},
      {'m', NULL, NULL, FSCHED_FORMAT_PATTERSON},
  };
  bench_jobs_setup setup = {.seconds = setting("FSCHED_SEARCH_SECONDS", 1),
                            .nodes = (uint64_t)setting("FSCHED_JOBS_NODES", 0),
                            .every = (unsigned)fmax(1, setting("FSCHED_SEARCH_EVERY", 8)),
                            .jobs = (unsigned)fmax(1, setting("FSCHED_JOBS", 2))};
  const char *letters = getenv("FSCHED_JOBS_SETS");
  printf("--refine search -j %u beside -j 1, %g %s each, every %u. instance\n", setup.jobs,
         setup.nodes != 0 ? (double)setup.nodes : setup.seconds, setup.nodes != 0 ? "nodes" : "s",
         setup.every);
  printf("%-12s %4s %9s %7s %6s %7s %7s %6s %6s %8s %8s %7s\n", "", "n", "ratio", "better", "worse",
         "proven", "by all", "cpus", "of all", "wall s", "of all", "late s");
  for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
    if (letters == NULL || strchr(letters, sets[i].letter) != NULL) {
      run(&sets[i], &setup);
    }
  }
  return EXIT_SUCCESS;
}
