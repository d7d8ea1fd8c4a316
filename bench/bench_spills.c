/* SPDX-License-Identifier: Apache-2.0 */
/* How many small graphs whose memories are short are solved to a proven optimum by
 * `--refine search` within a time each, and how far the others are from their bounds.
 *
 *      bench_spills [SECONDS [GRAPHS [FIRST]]]
 *
 * Graphs of 8 to 12 and of 13 to 20 ops with all that the generator knows beside views, ranges and
 * loops; capacities from the least that is legal to four times that; and such graphs whose memories
 * have no store, as far as they have a schedule.  Every schedule is verified.
 * With FIRST, each graph has a line of its own, from that seed on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "fsched/verify.h"
#include "model/handle.h"
#include "spill_graphs.h"

static void fail(const char *what) {
  fprintf(stderr, "bench_spills: %s\n", what);
  exit(EXIT_FAILURE);
}

static void need(fsched_context *ctx, fsched_status status) {
  if (status != FSCHED_OK) {
    fail(fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "a call failed");
  }
}

typedef struct graph_set {
  uint32_t least, most; /* ops */
  bool store;
  uint32_t graphs, proven, open;
  double gap, list_gap, seconds, longest; /* gap: of those that are open; sums */
} graph_set;

/* NULL: there is no schedule. */
static fsched_schedule *compile(fsched_context *ctx, const fsched_graph *g, fsched_refine refine,
                                double seconds) {
  fsched_schedule *s = NULL;
  fsched_compile_options o = {
      .size = sizeof o, .verify = 1, .refine = refine, .time_limit_ms = (uint64_t)(1000 * seconds)};
  fsched_status status = fsched_compile(ctx, g, &o, &s, NULL);
  need(ctx, status == FSCHED_INFEASIBLE ? FSCHED_OK : status);
  return s;
}

static double gap_of(const fsched_schedule *s) {
  return (double)s->schedule->makespan / (double)s->schedule->lower_bound - 1;
}

static void measure(graph_set *sum, uint64_t seed, double seconds, int tells) {
  fsched_context *ctx;
  fsched_graph *g;
  fs_gen_params p = fs_spill_graph(seed, sum->least, sum->most, sum->store);
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    fail("no context");
  }
  fsched_status status = fs_gen_graph(ctx, &p, &g);
  if (status == FSCHED_INFEASIBLE) {
    fsched_context_destroy(ctx);
    return;
  }
  need(ctx, status);
  fsched_schedule *list = compile(ctx, g, FSCHED_REFINE_NONE, 0);
  if (list == NULL) {
    fsched_graph_destroy(g);
    fsched_context_destroy(ctx);
    return;
  }
  uint64_t begin = fs_now_ns();
  fsched_schedule *found = compile(ctx, g, FSCHED_REFINE_SEARCH, seconds);
  double took = 1e-9 * (double)(fs_now_ns() - begin);
  bool proven = found->schedule->makespan == found->schedule->lower_bound;
  sum->graphs++;
  sum->proven += proven;
  sum->open += !proven;
  sum->gap += proven ? 0 : gap_of(found);
  sum->list_gap += (double)list->schedule->makespan / (double)found->schedule->makespan - 1;
  sum->seconds += took;
  sum->longest = fmax(sum->longest, took);
  if (tells) {
    printf("seed %llu: %u ops, list %llu, found %llu, bound %llu, %s, %llu nodes, %.2f s\n",
           (unsigned long long)seed, p.n_ops, (unsigned long long)list->schedule->makespan,
           (unsigned long long)found->schedule->makespan,
           (unsigned long long)found->schedule->lower_bound, proven ? "proven" : "open",
           (unsigned long long)found->schedule->search_nodes, took);
    fflush(stdout);
  }
  fsched_schedule_destroy(list);
  fsched_schedule_destroy(found);
  fsched_graph_destroy(g);
  fsched_context_destroy(ctx);
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 1;
  uint32_t graphs = argc > 2 ? (uint32_t)atoi(argv[2]) : 40;
  uint64_t first = argc > 3 ? (uint64_t)atoll(argv[3]) : 0;
  graph_set sums[] = {{.least = 8, .most = 12, .store = true},
                      {.least = 13, .most = 20, .store = true},
                      {.least = 8, .most = 12},
                      {.least = 13, .most = 20}};
  printf("short memories, %g s each\n%-14s %7s %7s %10s %12s %9s %9s\n", seconds, "ops, store", "graphs",
         "proven", "gap, open", "list over", "mean s", "most s");
  for (size_t k = 0; k < sizeof sums / sizeof sums[0]; k++) {
    graph_set *s = &sums[k];
    for (uint64_t seed = first; s->graphs < graphs; seed++) {
      measure(s, seed, seconds, argc > 3);
    }
    char name[32];
    (void)snprintf(name, sizeof name, "%u to %u%s", s->least, s->most, s->store ? "" : ", -");
    printf("%-14s %7u %5.1f %% %8.1f %% %10.1f %% %9.3f %9.3f\n", name, s->graphs,
           100.0 * s->proven / s->graphs, s->open == 0 ? 0 : 100 * s->gap / s->open,
           100 * s->list_gap / s->graphs, s->seconds / s->graphs, s->longest);
  }
  return 0;
}
