/* SPDX-License-Identifier: Apache-2.0 */
/* --refine search on the public instances: how far it is from the best known makespans, and how
 * many it proves, beside the list schedule at its usual effort.
 *
 * FSCHED_SHARED names the folder with the instances (default ../shared), FSCHED_SEARCH_SECONDS the
 * limit of each search (default 1), FSCHED_SEARCH_EVERY n takes every n-th instance (default 4).
 * Seconds are of the clock, of the whole compilation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fsched/compile.h"
#include "fsched/import.h"

#define BENCH_NAME "bench_search"
#include "instances.h"

typedef struct bench_search_set {
  const char *folder, *suffix;
  fsched_format format;
} bench_search_set;

typedef struct bench_search_tally {
  unsigned n, proven, best, wrong;
  double list, gap, seconds, longest;
} bench_search_tally;

static uint64_t compile(fsched_context *ctx, const fsched_graph *g, fsched_refine refine,
                        double seconds, uint64_t *bound) {
  fsched_compile_options o = {.size = sizeof o, .verify = 1, .refine = refine};
  o.time_limit_ms = refine == FSCHED_REFINE_NONE ? 0 : (uint64_t)(seconds * 1000);
  fsched_schedule *s;
  need(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  uint64_t makespan = fsched_schedule_makespan(s);
  *bound = fsched_schedule_lower_bound(s);
  fsched_schedule_destroy(s);
  return makespan;
}

static void one(const bench_search_set *set, const char *name, uint64_t least, uint64_t best,
                double limit, bench_search_tally *t) {
  fsched_context *ctx;
  fsched_graph *g;
  char file[80], *yaml;
  size_t n, m;
  uint64_t bound;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    fail("no context");
  }
  (void)snprintf(file, sizeof file, "%s%s", name, set->suffix);
  char *text = read_shared(ctx, set->folder, file, &n);
  if (text == NULL) {
    fail(file);
  }
  need(ctx, fsched_import(ctx, set->format, name, text, n, NULL, &yaml, &m));
  need(ctx, fsched_graph_parse(ctx, name, yaml, m, NULL, &g));
  t->list += 100.0 * ((double)compile(ctx, g, FSCHED_REFINE_NONE, 0, &bound) / (double)best - 1);
  double begin = now();
  uint64_t makespan = compile(ctx, g, FSCHED_REFINE_SEARCH, limit, &bound);
  double seconds = now() - begin;
  t->n++;
  t->seconds += seconds;
  t->longest = seconds > t->longest ? seconds : t->longest;
  t->gap += 100.0 * ((double)makespan / (double)best - 1);
  t->proven += makespan == bound;
  t->best += makespan <= best;
  t->wrong += makespan < least || bound > best;
  fsched_text_free(ctx, yaml, m);
  (void)fs_realloc(ctx, text, n + 1, 0);
  fsched_graph_destroy(g);
  fsched_context_destroy(ctx);
}

static void run(const bench_search_set *set, double limit, unsigned every) {
  fsched_context *ctx;
  size_t n;
  unsigned k = 0;
  bench_search_tally t = {0};
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    fail("no context");
  }
  char *list = read_shared(ctx, set->folder, "best_known.csv", &n);
  for (char *line = list; line != NULL; line = strchr(line + 1, '\n')) {
    char name[40];
    unsigned long long least, best;
    if (sscanf(line, "\n%39[^,],%llu,%llu", name, &least, &best) == 3 && k++ % every == 0) {
      name[strcspn(name, ".")] = '\0';
      one(set, name, least, best, limit, &t);
    }
  }
  if (t.n == 0) {
    printf("%-12s skipped, no instances\n", set->folder);
  } else {
    printf("%-12s %4u %8.2f %8.2f %6u %7.1f %6u %8.3f %8.3f\n", set->folder, t.n, t.list / t.n,
           t.gap / t.n, t.best, 100.0 * t.proven / t.n, t.wrong, t.seconds / t.n, t.longest);
  }
  fflush(stdout);
  if (list != NULL) {
    (void)fs_realloc(ctx, list, n + 1, 0);
  }
  fsched_context_destroy(ctx);
}

int main(void) {
  static const bench_search_set sets[] = {
      {"rcpsp/j30", ".rcp", FSCHED_FORMAT_PATTERSON},
      {"rcpsp/j60", ".rcp", FSCHED_FORMAT_PATTERSON},
      {"rcpsp/j120", ".rcp", FSCHED_FORMAT_PATTERSON},
      {"jobshop", ".txt", FSCHED_FORMAT_JOBSHOP},
  };
  double limit = setting("FSCHED_SEARCH_SECONDS", 1);
  unsigned every = (unsigned)setting("FSCHED_SEARCH_EVERY", 4);
  printf("--refine search, %g s each, every %u. instance; gaps over the best known, %%\n", limit,
         every);
  printf("%-12s %4s %8s %8s %6s %7s %6s %8s %8s\n", "", "n", "list", "search", "best", "proven",
         "wrong", "mean s", "most s");
  for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
    run(&sets[i], limit, every == 0 ? 1 : every);
  }
  return EXIT_SUCCESS;
}
