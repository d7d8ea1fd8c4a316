/* SPDX-License-Identifier: Apache-2.0 */
/* How good schedules are, without regard to the time they take to make: the makespan over a bound
 * that no schedule goes below, and the bytes copied, of 100 random graphs under memory pressure,
 * beside the naive schedule that spills everything around each op; and how many of the shared
 * scenarios, copied in parallel and in sequence, reach their bound.  Every schedule is verified.
 * The figures are the same on every machine.  FSCHED_SHARED names the folder with the scenarios
 * (default ../shared).
 *   bench_quality search SECONDS [EVERY [FIRST]]
 * has every EVERY-th of the random graphs, from FIRST on, with so long a search.
 *   bench_quality optimum SECONDS [GRAPHS [OPS]]
 * has graphs of OPS (10) to OPS + 4 ops of the same generator, with so long a search each, and says
 * what part of the ratio is the bound's: what no schedule goes below. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/naive.h"
#include "model/bounds/bounds.h"
#include "model/handle.h"

enum { SEEDS = 4, SCENARIOS_MAX = 64 };

static void fail(const char *what) {
  fprintf(stderr, "bench_quality: %s\n", what);
  exit(EXIT_FAILURE);
}

static void need(fsched_context *ctx, fsched_status status) {
  if (status != FSCHED_OK) {
    fail(fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "a call failed");
  }
}

/* ---- random graphs */

typedef enum way { FARTHEST, LRU, NAIVE, WAYS } way;

typedef struct group {
  uint32_t graphs;
  /* log_ratio is over the best of the three bounds, log_bound is that of FARTHEST over all. */
  double log_ratio[WAYS], log_bound;
  double bytes[WAYS], bytes_needed, ops;
} group;

static uint64_t copy_bytes(const fs_schedule *s) {
  uint64_t sum = 0;
  for (uint32_t c = 0; c < s->n_copies; c++) {
    sum += fs_version_size(s->graph, s->copy_version[c]);
  }
  return sum;
}

/* Counts the first reads of given content that is used, and the write-backs of what is produced and
 * kept. */
static uint64_t needed_bytes(const fsched_graph *g) {
  uint64_t sum = 0;
  for (uint32_t v = 0; v < g->n_versions; v++) {
    bool bounded = fs_memory_bounded(&g->target.memory[fs_version_memory(g, v)]);
    bool used = g->version_access0[v] < g->version_access0[v + 1], given = fs_version_given(g, v);
    sum += bounded && used && (given || fs_version_kept(g, v)) ? fs_version_size(g, v) : 0;
  }
  return sum;
}

static fsched_schedule *schedule(fsched_context *ctx, const fsched_graph *g, way w) {
  fsched_schedule *s;
  if (w == NAIVE) {
    fs_schedule *naive;
    need(ctx, fs_naive_schedule(ctx, g, &naive));
    need(ctx, fs_handle_create(naive, NULL, &s));
    need(ctx, fsched_verify_schedule(ctx, g, s));
    return s;
  }
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  o.evict = w == LRU ? FSCHED_EVICT_LRU : FSCHED_EVICT_FARTHEST;
  need(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  return s;
}

/* Adds one graph to its groups. */
static void measure(fsched_context *ctx, const fs_gen_params *p, group *const groups[3]) {
  fsched_graph *g;
  fs_lower_bounds b;
  need(ctx, fs_gen_graph(ctx, p, &g));
  need(ctx, fs_graph_lower_bounds(ctx, g, &b));
  double bound = (double)fs_max(fs_max(b.critical_path, b.queue_work), b.copy_work);
  for (way w = FARTHEST; w < WAYS; w++) {
    fsched_schedule *s = schedule(ctx, g, w);
    for (int i = 0; i < 3; i++) {
      groups[i]->log_ratio[w] += log((double)s->schedule->makespan / bound);
      groups[i]->bytes[w] += (double)copy_bytes(s->schedule);
      if (w == FARTHEST) {
        groups[i]->log_bound += log((double)s->schedule->makespan / (double)b.all);
      }
    }
    fsched_schedule_destroy(s);
  }
  for (int i = 0; i < 3; i++) {
    groups[i]->graphs++;
    groups[i]->ops += g->n_ops;
    groups[i]->bytes_needed += (double)needed_bytes(g);
  }
  fsched_graph_destroy(g);
}

static void row(const char *name, const group *g) {
  double n = g->graphs;
  printf("%-14s %6u", name, g->graphs);
  for (way w = FARTHEST; w < WAYS; w++) {
    printf(" %8.3f", exp(g->log_ratio[w] / n));
  }
  for (way w = FARTHEST; w < WAYS; w++) {
    printf(" %9.0f", g->bytes[w] / g->ops);
  }
  printf(" %9.2f\n", exp((g->log_ratio[NAIVE] - g->log_ratio[FARTHEST]) / n));
}

static const double tightness[] = {1, 1.5, 2, 4, 8};
static const uint32_t n_queues_of[] = {1, 2, 3, 5, 8};
enum { T = sizeof tightness / sizeof *tightness, Q = sizeof n_queues_of / sizeof *n_queues_of };

/* The i-th graph, once those before it are drawn. */
static fs_gen_params draw(fs_rng *rng, uint32_t i) {
  uint32_t q = i / T % Q;
  return (fs_gen_params){.seed = i,
                         .n_ops = 200 + fs_rng_below(rng, 500),
                         .n_queues = n_queues_of[q] + 1,
                         .n_classes = 1 + n_queues_of[q] / 4,
                         .n_memories = 1 + i / (T * Q) % 2,
                         .max_size = 1000,
                         .window = 4 << fs_rng_below(rng, 4),
                         .tightness = tightness[i % T],
                         .backing = true,
                         .io = true,
                         .inouts = fs_rng_one_in(rng, 2),
                         .inplace = fs_rng_one_in(rng, 2),
                         .scratch = fs_rng_one_in(rng, 4),
                         .gangs = fs_rng_one_in(rng, 4)};
}

/* ---- the search */

/* *proven: no schedule is shorter. */
static fs_tick makespan_of(fsched_context *ctx, const fsched_graph *g, uint64_t seconds,
                           bool *proven) {
  fsched_schedule *s;
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  o.refine = seconds == 0 ? FSCHED_REFINE_NONE : FSCHED_REFINE_SEARCH;
  o.time_limit_ms = 1000 * seconds;
  need(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  fs_tick makespan = s->schedule->makespan;
  *proven = makespan == s->schedule->lower_bound;
  fsched_schedule_destroy(s);
  return makespan;
}

/* Every so many of the random graphs with so many seconds of the search, beside the list schedule:
 * makespans over the bound. */
static void searched_graphs(uint64_t seconds, uint32_t every, uint32_t first) {
  double log_list = 0, log_search = 0;
  uint32_t n = 0;
  fs_rng rng = {1};
  printf("%5s %5s %6s %9s %8s %8s %8s\n", "graph", "ops", "queues", "tightness", "bound", "list",
         "search");
  for (uint32_t i = 0; i < T * Q * SEEDS; i++) {
    fs_gen_params p = draw(&rng, i);
    if (i % every != first) {
      continue;
    }
    fsched_context *ctx;
    fsched_graph *g;
    fs_lower_bounds b;
    if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
      fail("no context");
    }
    need(ctx, fs_gen_graph(ctx, &p, &g));
    need(ctx, fs_graph_lower_bounds(ctx, g, &b));
    bool proven;
    double list = (double)makespan_of(ctx, g, 0, &proven) / (double)b.all;
    double search = (double)makespan_of(ctx, g, seconds, &proven) / (double)b.all;
    printf("%5u %5u %6u %9g %8llu %8.3f %8.3f\n", i, g->n_ops, p.n_queues, p.tightness,
           (unsigned long long)b.all, list, search);
    (void)fflush(stdout);
    log_list += log(list);
    log_search += log(search);
    n++;
    fsched_graph_destroy(g);
    fsched_context_destroy(ctx);
  }
  printf("geometric mean over the bound, %u graphs: list %.4f, search %.4f\n", n, exp(log_list / n),
         exp(log_search / n));
}

/* ---- optima */

typedef struct optima {
  uint32_t graphs, proven;
  double log_list, log_best, log_over; /* of those that are proven */
} optima;

static void add_optimum(fsched_context *ctx, const fs_gen_params *p, uint64_t seconds, optima *o) {
  fsched_graph *g;
  fs_lower_bounds b;
  need(ctx, fs_gen_graph(ctx, p, &g));
  need(ctx, fs_graph_lower_bounds(ctx, g, &b));
  double bound = (double)fs_max(fs_max(b.critical_path, b.queue_work), b.copy_work);
  bool proven;
  double list = (double)makespan_of(ctx, g, 0, &proven);
  double best = (double)makespan_of(ctx, g, seconds, &proven);
  o->graphs++;
  if (proven) {
    o->proven++;
    o->log_list += log(list / bound);
    o->log_best += log(best / bound);
    o->log_over += log(list / best);
  }
  fsched_graph_destroy(g);
}

/* So many graphs, of each tightness as many. */
static void small_graphs(uint64_t seconds, uint32_t graphs, uint32_t ops) {
  optima of[T] = {0};
  fs_rng rng = {1};
  for (uint32_t i = 0; i < graphs; i++) {
    fs_gen_params p = draw(&rng, i);
    fsched_context *ctx;
    p.n_ops = ops + i / (T * Q) % 5;
    if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
      fail("no context");
    }
    add_optimum(ctx, &p, seconds, &of[i % T]);
    fsched_context_destroy(ctx);
  }
  printf(
      "%u to %u ops, %llu s each; geometric means of those that are proven\n%-14s %6s %6s %12s "
      "%12s %12s\n",
      ops, ops + 4, (unsigned long long)seconds, "", "graphs", "proven", "list/bound",
      "least/bound", "list/least");
  for (int t = 0; t < T; t++) {
    double n = of[t].proven;
    char name[32];
    (void)snprintf(name, sizeof name, "tightness %g", tightness[t]);
    printf("%-14s %6u %6u %12.3f %12.3f %12.3f\n", name, of[t].graphs, of[t].proven,
           exp(of[t].log_list / n), exp(of[t].log_best / n), exp(of[t].log_over / n));
  }
}

/* ---- all of them */

static void random_graphs(void) {
  group by_tightness[T] = {0}, by_queues[Q] = {0}, all = {0};
  fs_rng rng = {1};
  for (uint32_t i = 0; i < T * Q * SEEDS; i++) {
    uint32_t t = i % T, q = i / T % Q;
    fs_gen_params p = draw(&rng, i);
    fsched_context *ctx;
    if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
      fail("no context");
    }
    measure(ctx, &p, (group *const[3]){&by_tightness[t], &by_queues[q], &all});
    fsched_context_destroy(ctx);
  }
  printf(
      "%u random graphs of 200 to 699 ops, 1 or 2 memories, copies of 1 + 1 to 4 ticks beside "
      "ops of 1 to 10\nratio: geometric mean of makespan over the largest of critical path, "
      "queue work, unavoidable copy work\n\n",
      all.graphs);
  printf("%-14s %6s %26s %29s %9s\n", "", "", "ratio", "bytes copied per op", "makespan");
  printf("%-14s %6s %8s %8s %8s %9s %9s %9s %9s\n", "", "graphs", "farthest", "lru", "naive",
         "farthest", "lru", "naive", "naive/our");
  char name[32];
  for (int t = 0; t < T; t++) {
    (void)snprintf(name, sizeof name, "tightness %g", tightness[t]);
    row(name, &by_tightness[t]);
  }
  for (int q = 0; q < Q; q++) {
    (void)snprintf(name, sizeof name, "queues %u + 1", n_queues_of[q]);
    row(name, &by_queues[q]);
  }
  row("all", &all);
  printf("\nbytes copied in all: farthest %.0f, lru %.0f, naive %.0f; no schedule avoids %.0f\n",
         all.bytes[FARTHEST], all.bytes[LRU], all.bytes[NAIVE], all.bytes_needed);
  printf("farthest over the best bound known (ops and copies of a queue together): %.3f\n\n",
         exp(all.log_bound / all.graphs));
}

/* ---- scenarios: lanes of copies, in each lane one after the other */

/* Returns a name that selects the domain: a class with just these queues, or else its only
 * queue. */
static const char *domain_name(const fs_target *t, uint32_t domain) {
  uint32_t first = t->domain_queue[t->domain_queue0[domain]];
  uint32_t n = 0;
  for (uint32_t q = 0; q < t->n_queues; q++) {
    n += t->queue[q].class_id == t->queue[first].class_id;
  }
  return n == t->domain_queue0[domain + 1] - t->domain_queue0[domain]
             ? t->class_name[t->queue[first].class_id]
             : t->queue[first].name;
}

static uint32_t op_id(const fsched_graph *g, uint32_t steps, uint32_t lane, uint32_t step,
                      uint32_t op) {
  return (lane * steps + step) * g->n_ops + op;
}

static void emit_copy(fsched_context *ctx, const fsched_graph *g, fsched_builder *b, uint32_t steps,
                      uint32_t lane, uint32_t step) {
  for (uint32_t op = 0; op < g->n_ops; op++) {
    char name[160];
    uint32_t id;
    (void)snprintf(name, sizeof name, "%.100s.%u.%u", g->op_name[op], lane, step);
    fsched_op_desc d = {.size = sizeof d, .name = name, .has_time = 1, .time = g->op_time[op]};
    d.on = domain_name(&g->target, g->op_domain[op]);
    need(ctx, fsched_builder_op(b, &d, &id));
    for (uint32_t i = g->pred0[op]; i < g->pred0[op + 1]; i++) {
      need(ctx, fsched_builder_after(b, id, op_id(g, steps, lane, step, g->pred[i])));
    }
    bool source = g->pred0[op] == g->pred0[op + 1];
    for (uint32_t end = 0; source && step > 0 && end < g->n_ops; end++) {
      if (g->succ0[end] == g->succ0[end + 1]) {
        need(ctx, fsched_builder_after(b, id, op_id(g, steps, lane, step - 1, end)));
      }
    }
  }
}

static fsched_graph *scaled(fsched_context *ctx, const fsched_graph *g, uint32_t lanes,
                            uint32_t steps) {
  fsched_builder *b;
  fsched_graph *out;
  need(ctx, fsched_builder_create(ctx, g->name, &b));
  for (uint32_t q = 0; q < g->target.n_queues; q++) {
    fsched_queue_desc d = {.size = sizeof d,
                           .name = g->target.queue[q].name,
                           .queue_class = g->target.class_name[g->target.queue[q].class_id]};
    need(ctx, fsched_builder_queue(b, &d, NULL));
  }
  for (uint32_t lane = 0; lane < lanes; lane++) {
    for (uint32_t step = 0; step < steps; step++) {
      emit_copy(ctx, g, b, steps, lane, step);
    }
  }
  need(ctx, fsched_builder_finish(b, &out));
  fsched_builder_destroy(b);
  return out;
}

/* Longest paths before and after each op. */
static void heads_and_tails(const fsched_graph *g, fs_tick *head, fs_tick *tail) {
  for (uint32_t i = 0; i < g->n_ops; i++) {
    uint32_t op = g->topo[i];
    head[op] = 0;
    for (uint32_t p = g->pred0[op]; p < g->pred0[op + 1]; p++) {
      head[op] = fs_max(head[op], head[g->pred[p]] + g->op_time[g->pred[p]]);
    }
  }
  for (uint32_t i = g->n_ops; i-- > 0;) {
    uint32_t op = g->topo[i];
    tail[op] = 0;
    for (uint32_t p = g->succ0[op]; p < g->succ0[op + 1]; p++) {
      tail[op] = fs_max(tail[op], tail[g->succ[p]] + g->op_time[g->succ[p]]);
    }
  }
}

/* Returns the largest h + work / queues + t over sets of ops of one class with heads and tails of
 * at least h and t, which covers what the library's bound leaves out: a class that waits at the
 * beginning and at the end.  O(ops^3) at worst. */
static fs_tick window_bound(const fsched_graph *g) {
  fs_tick *head = calloc(2 * (size_t)g->n_ops, sizeof *head), *tail = head + g->n_ops, best = 0;
  if (head == NULL) {
    fail("out of memory");
  }
  heads_and_tails(g, head, tail);
  const fs_target *t = &g->target;
  for (uint32_t a = 0; a < g->n_ops; a++) {
    uint32_t d = g->op_domain[a];
    uint32_t queues = t->domain_queue0[d + 1] - t->domain_queue0[d];
    for (uint32_t b = 0; b < g->n_ops; b++) {
      fs_tick work = 0;
      for (uint32_t op = 0; g->op_domain[b] == d && op < g->n_ops; op++) {
        bool inside = g->op_domain[op] == d && head[op] >= head[a] && tail[op] >= tail[b];
        work += inside ? g->op_time[op] : 0;
      }
      best = work > 0 ? fs_max(best, head[a] + fs_ceil_div(work, queues) + tail[b]) : best;
    }
  }
  free(head);
  return best;
}

typedef struct bench_quality_tally {
  uint32_t n, reached, reached_window;
  double log_ratio, worst;
} bench_quality_tally;

static void one_scaled(fsched_context *ctx, const fsched_graph *g, uint32_t lanes, uint32_t steps,
                       bench_quality_tally *t) {
  fsched_graph *big = scaled(ctx, g, lanes, steps);
  fs_lower_bounds b;
  need(ctx, fs_graph_lower_bounds(ctx, big, &b));
  fsched_schedule *s = schedule(ctx, big, FARTHEST);
  fs_tick window = fs_max(b.all, window_bound(big));
  if (s->schedule->makespan < window) {
    fail("a makespan below its bound");
  }
  double ratio = (double)s->schedule->makespan / (double)window;
  t->n++;
  t->reached += s->schedule->makespan == b.all;
  t->reached_window += s->schedule->makespan == window;
  t->log_ratio += log(ratio);
  t->worst = ratio > t->worst ? ratio : t->worst;
  fsched_schedule_destroy(s);
  fsched_graph_destroy(big);
}

/* parallel: 2 to 4 lanes of one; sequence: one lane of 4 to 8; both: 2 to 4 lanes of 4 to 8. */
enum { PARALLEL, SEQUENCE, BOTH, FAMILIES };

static void one_scenario(const char *path, bench_quality_tally *t) {
  fsched_context *ctx;
  fsched_graph *g;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    fail("no context");
  }
  need(ctx, fsched_graph_read(ctx, path, NULL, &g));
  if (g->n_args > 0 || g->target.implicit_queues) {
    fail("a scenario with buffers or without queues");
  }
  for (uint32_t lanes = 1; lanes <= 4; lanes++) {
    for (uint32_t steps = 1; steps <= 8; steps++) {
      int family = steps == 1 ? PARALLEL : lanes == 1 ? SEQUENCE : BOTH;
      if ((steps == 1 && lanes > 1) || steps >= 4) {
        one_scaled(ctx, g, lanes, steps, &t[family]);
      }
    }
  }
  fsched_graph_destroy(g);
  fsched_context_destroy(ctx);
}

static void family_rows(const bench_quality_tally *t, const char *end) {
  for (int f = 0; f < FAMILIES; f++) {
    printf("   %3u %3u of %3u, %5.3f", t[f].reached, t[f].reached_window, t[f].n, t[f].worst);
  }
  printf("%s", end);
}

static int is_yaml(const struct dirent *e) {
  const char *dot = strrchr(e->d_name, '.');
  return dot != NULL && strcmp(dot, ".yaml") == 0;
}

static void scenarios(void) {
  const char *shared = getenv("FSCHED_SHARED");
  char folder[400], path[800];
  (void)snprintf(folder, sizeof folder, "%s/data/scenarios", shared == NULL ? "../shared" : shared);
  struct dirent **entry;
  int n = scandir(folder, &entry, is_yaml, alphasort);
  if (n <= 0) {
    printf("scaled scenarios: skipped, none in %s\n", folder);
    return;
  }
  bench_quality_tally all[FAMILIES] = {0};
  printf(
      "scaled scenarios that reach the library's bound, and a bound with heads and tails; the "
      "worst ratio to it\n%-24s   %-21s   %-21s   %-21s\n",
      "", "2 to 4 in parallel", "4 to 8 in sequence", "both");
  for (int i = 0; i < n; i++) {
    bench_quality_tally t[FAMILIES] = {0};
    (void)snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
    one_scenario(path, t);
    printf("%-24.24s", entry[i]->d_name);
    family_rows(t, "\n");
    for (int f = 0; f < FAMILIES; f++) {
      all[f].n += t[f].n;
      all[f].reached += t[f].reached;
      all[f].reached_window += t[f].reached_window;
      all[f].log_ratio += t[f].log_ratio;
      all[f].worst = fmax(all[f].worst, t[f].worst);
    }
    free(entry[i]);
  }
  free(entry);
  printf("%-24s", "all");
  family_rows(all, "\n\n");
  static const char *const name[] = {"in parallel", "in sequence", "both"};
  for (int f = 0; f < FAMILIES; f++) {
    printf(
        "%-12s %5.1f %% reach the library's bound, %5.1f %% that with heads and tails; mean "
        "over it %.4f (90 %% wanted)\n",
        name[f], 100.0 * all[f].reached / all[f].n, 100.0 * all[f].reached_window / all[f].n,
        exp(all[f].log_ratio / all[f].n));
  }
}

int main(int argc, char **argv) {
  if (argc > 2 && strcmp(argv[1], "search") == 0) {
    uint32_t every = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1;
    searched_graphs(strtoul(argv[2], NULL, 10), every == 0 ? 1 : every,
                    argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0);
    return EXIT_SUCCESS;
  }
  if (argc > 2 && strcmp(argv[1], "optimum") == 0) {
    small_graphs(strtoul(argv[2], NULL, 10),
                 argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 5 * T * Q,
                 argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 10);
    return EXIT_SUCCESS;
  }
  random_graphs();
  scenarios();
  return EXIT_SUCCESS;
}
