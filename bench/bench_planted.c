/* SPDX-License-Identifier: Apache-2.0 */
/* How near to its bound `--refine search` comes where memories are short and have no store.
 *
 *      bench_planted [SECONDS [GRAPHS [FIRST [OPS]]]]
 *
 * Graphs of 40 to 700 ops.  A schedule is planted: capacities are between what some order of ops
 * that run one at a time holds and what the list schedule without any limit does, so there is a
 * schedule by amounts, and where the capacity is the latter, one that is as short as that list
 * schedule.  Every schedule is verified.  With FIRST, each graph has a line of its own, from that
 * seed on; with OPS, graphs of so many ops alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "model/handle.h"
#include "search/plant.h"

enum { CASES = 4 };

static void fail(const char *what) {
  fprintf(stderr, "bench_planted: %s\n", what);
  exit(EXIT_FAILURE);
}

static void need(fsched_context *ctx, fsched_status status) {
  if (status != FSCHED_OK) {
    fail(fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "a call failed");
  }
}

/* NULL: there is none. */
static fsched_schedule *compile(fsched_context *ctx, const fsched_graph *g, fsched_refine refine,
                                double seconds) {
  fsched_schedule *s = NULL;
  fsched_compile_options o = {
      .size = sizeof o, .verify = 1, .refine = refine, .time_limit_ms = (uint64_t)(1000 * seconds)};
  fsched_status status = fsched_compile(ctx, g, &o, &s, NULL);
  need(ctx, status == FSCHED_INFEASIBLE ? FSCHED_OK : status);
  return s;
}

typedef struct planted_set {
  uint32_t ops;
  bool counted;
  uint32_t graphs, none, proven;
  double list, found; /* logarithms of makespans over bounds, sums */
} planted_set;

static void measure(planted_set *sum, uint64_t seed, double seconds, bool tells) {
  static const uint32_t queues[] = {2, 3, 5, 8};
  static const double parts[CASES] = {0, 0.05, 0.15, 0.4};
  fsched_context *ctx;
  fsched_graph *g;
  fs_gen_params p = {.seed = seed,
                     .n_ops = sum->ops,
                     .n_queues = queues[seed / 4 % 4] + 1,
                     .n_classes = 1 + (uint32_t)(seed / 2 % 2),
                     .n_memories = sum->counted ? 2 : 1 + (uint32_t)(seed / 4 % 2),
                     .max_size = 1000,
                     .window = 8u << seed % 3,
                     .short_share = 2,
                     .near = true,
                     .counted = sum->counted,
                     .io = true,
                     .inouts = seed % 2 == 0,
                     .inplace = seed % 3 == 0,
                     .scratch = seed % 4 == 0,
                     .gangs = seed % 5 == 0};
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    fail("no context");
  }
  need(ctx, fs_gen_graph(ctx, &p, &g));
  need(ctx, fs_plant(ctx, g, parts[seed % CASES]));
  fsched_schedule *list = compile(ctx, g, FSCHED_REFINE_NONE, 0);
  fsched_schedule *found = compile(ctx, g, FSCHED_REFINE_SEARCH, seconds);
  sum->graphs++;
  if (found == NULL || list == NULL) {
    sum->none++;
  } else {
    const fs_schedule *a = list->schedule, *b = found->schedule;
    double bound = (double)b->lower_bound;
    sum->proven += b->makespan == b->lower_bound;
    sum->list += log((double)a->makespan / bound);
    sum->found += log((double)b->makespan / bound);
    if (tells) {
      printf("seed %llu: %u ops, list %llu, found %llu, bound %llu, %llu nodes\n",
             (unsigned long long)seed, p.n_ops, (unsigned long long)a->makespan,
             (unsigned long long)b->makespan, (unsigned long long)b->lower_bound,
             (unsigned long long)b->search_nodes);
      fflush(stdout);
    }
  }
  fsched_schedule_destroy(list);
  fsched_schedule_destroy(found);
  fsched_graph_destroy(g);
  fsched_context_destroy(ctx);
}

int main(int argc, char **argv) {
  static const uint32_t ops[] = {40, 80, 120, 200, 400, 700};
  double seconds = argc > 1 ? atof(argv[1]) : 1;
  uint32_t graphs = argc > 2 ? (uint32_t)atoi(argv[2]) : 5;
  uint64_t first = argc > 3 ? (uint64_t)atoll(argv[3]) : 0;
  printf("short memories without a store, %g s each; over the bound\n%-12s %7s %6s %7s %8s %8s\n",
         seconds, "ops", "graphs", "none", "proven", "list", "search");
  uint32_t only = argc > 4 ? (uint32_t)atoi(argv[4]) : 0;
  for (size_t k = 0; k < 2 * sizeof ops / sizeof ops[0]; k++) {
    if (only != 0 && ops[k / 2] != only) {
      continue;
    }
    planted_set s = {.ops = ops[k / 2], .counted = k % 2 != 0};
    for (uint64_t seed = first; s.graphs < graphs; seed++) {
      measure(&s, seed, seconds, argc > 3);
    }
    char name[32];
    uint32_t n = s.graphs - s.none;
    (void)snprintf(name, sizeof name, "%u%s", s.ops, s.counted ? ", counted" : "");
    printf("%-12s %7u %6u %7u %6.1f %% %6.1f %%\n", name, s.graphs, s.none, s.proven,
           n == 0 ? 0 : 100 * (exp(s.list / n) - 1), n == 0 ? 0 : 100 * (exp(s.found / n) - 1));
    fflush(stdout);
  }
  return 0;
}
