/* SPDX-License-Identifier: Apache-2.0 */
/* How good schedules are, times aside: the makespan over what no schedule goes below, and the
 * bytes copied, of 100 random graphs under memory pressure, beside the naive schedule that spills
 * everything around each op; and how many of the shared scenarios, copied in parallel and in
 * sequence, reach their bound.  Every schedule is verified.  The figures are the same on every
 * machine.  FSCHED_SHARED names the folder with the scenarios (default ../shared). */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fsched/verify.h"
#include "gen.h"
#include "naive.h"
#include "schedule.h"

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
  uint32_t graphs, copies_needed;
  double log_ratio[WAYS], log_bound; /* over the three bounds; FARTHEST over all bounds */
  double bytes[WAYS], ops;
} group;

static uint64_t copy_bytes(const fsched_schedule *s) {
  uint64_t sum = 0;
  for (uint32_t c = 0; c < s->n_copies; c++) {
    sum += fs_version_size(s->graph, s->copy_version[c]);
  }
  return sum;
}

static fsched_schedule *schedule(fsched_context *ctx, const fsched_graph *g, way w) {
  fsched_schedule *s;
  if (w == NAIVE) {
    need(ctx, fs_naive_schedule(ctx, g, &s));
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
      groups[i]->log_ratio[w] += log((double)s->makespan / bound);
      groups[i]->bytes[w] += (double)copy_bytes(s);
      if (w == FARTHEST) {
        groups[i]->log_bound += log((double)s->makespan / (double)b.all);
      }
    }
    fsched_schedule_destroy(s);
  }
  for (int i = 0; i < 3; i++) {
    groups[i]->graphs++;
    groups[i]->ops += g->n_ops;
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

static void random_graphs(void) {
  static const double tightness[] = {1, 1.5, 2, 4, 8};
  static const uint32_t queues[] = {1, 2, 3, 5, 8};
  enum { T = sizeof tightness / sizeof *tightness, Q = sizeof queues / sizeof *queues };
  group by_tightness[T] = {0}, by_queues[Q] = {0}, all = {0};
  fs_rng rng = {1};
  for (uint32_t i = 0; i < T * Q * SEEDS; i++) {
    uint32_t t = i % T, q = i / T % Q;
    fs_gen_params p = {.seed = i,
                       .n_ops = 200 + fs_rng_below(&rng, 500),
                       .n_queues = queues[q] + 1,
                       .n_classes = 1 + queues[q] / 4,
                       .n_memories = 1 + i / (T * Q) % 2,
                       .max_size = 1000,
                       .window = 4 << fs_rng_below(&rng, 4),
                       .tightness = tightness[t],
                       .backing = true,
                       .io = true,
                       .inouts = fs_rng_one_in(&rng, 2),
                       .inplace = fs_rng_one_in(&rng, 2),
                       .scratch = fs_rng_one_in(&rng, 4),
                       .gangs = fs_rng_one_in(&rng, 4)};
    fsched_context *ctx;
    if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
      fail("no context");
    }
    measure(ctx, &p, (group *const[3]){&by_tightness[t], &by_queues[q], &all});
    fsched_context_destroy(ctx);
  }
  printf("%u random graphs of 200 to 699 ops, 1 or 2 memories, copies of 1 + 1 to 4 ticks beside "
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
    (void)snprintf(name, sizeof name, "queues %u + 1", queues[q]);
    row(name, &by_queues[q]);
  }
  row("all", &all);
  printf("\nbytes copied in all: farthest %.0f, lru %.0f (%.3f of it), naive %.0f (%.3f)\n",
         all.bytes[FARTHEST], all.bytes[LRU], all.bytes[FARTHEST] / all.bytes[LRU],
         all.bytes[NAIVE], all.bytes[FARTHEST] / all.bytes[NAIVE]);
  printf("farthest over the best bound known (ops and copies of a queue together): %.3f\n\n",
         exp(all.log_bound / all.graphs));
}

/* ---- scenarios: lanes of copies, in each lane one after the other */

/* A name that selects the domain: a class with just these queues, else its only queue. */
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

static void emit_copy(fsched_context *ctx, const fsched_graph *g, fsched_builder *b,
                      uint32_t steps, uint32_t lane, uint32_t step) {
  for (uint32_t op = 0; op < g->n_ops; op++) {
    char name[160];
    uint32_t id;
    (void)snprintf(name, sizeof name, "%.100s.%u.%u", g->op_name[op], lane, step);
    fsched_op_desc d = {.size = sizeof d, .name = name, .time = g->op_time[op]};
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

typedef struct tally {
  uint32_t n, reached;
  double log_ratio, worst;
  char worst_name[96];
} tally;

static void one_scenario(const char *path, const char *name, tally *t) {
  fsched_context *ctx;
  fsched_graph *g;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    fail("no context");
  }
  need(ctx, fsched_graph_read(ctx, path, NULL, &g));
  if (g->n_args > 0 || g->target.implicit_queues) {
    fail("a scenario with buffers or without queues");
  }
  for (uint32_t lanes = 2; lanes <= 4; lanes++) {
    for (uint32_t steps = 4; steps <= 8; steps++) {
      fsched_graph *big = scaled(ctx, g, lanes, steps);
      fs_lower_bounds b;
      need(ctx, fs_graph_lower_bounds(ctx, big, &b));
      fsched_schedule *s = schedule(ctx, big, FARTHEST);
      double ratio = (double)s->makespan / (double)b.all;
      t->n++;
      t->reached += s->makespan == b.all;
      t->log_ratio += log(ratio);
      if (ratio > t->worst) {
        t->worst = ratio;
        (void)snprintf(t->worst_name, sizeof t->worst_name, "%.40s, %u in parallel, %u in sequence",
                       name, lanes, steps);
      }
      fsched_schedule_destroy(s);
      fsched_graph_destroy(big);
    }
  }
  fsched_graph_destroy(g);
  fsched_context_destroy(ctx);
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
  tally all = {0};
  for (int i = 0; i < n; i++) {
    tally t = {0};
    (void)snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
    one_scenario(path, entry[i]->d_name, &t);
    if (t.reached < t.n) {
      printf("  %-24s %2u of %2u reach the bound, mean %.3f, worst %.3f (%s)\n", entry[i]->d_name,
             t.reached, t.n, exp(t.log_ratio / t.n), t.worst, t.worst_name);
    }
    all.n += t.n;
    all.reached += t.reached;
    all.log_ratio += t.log_ratio;
    free(entry[i]);
  }
  free(entry);
  printf("scaled scenarios (%d files, 2 to 4 in parallel, 4 to 8 in sequence): %u of %u reach the "
         "bound (%.1f %%, at least 90 wanted), mean %.4f\n",
         n, all.reached, all.n, 100.0 * all.reached / all.n, exp(all.log_ratio / all.n));
}

int main(void) {
  random_graphs();
  scenarios();
  return EXIT_SUCCESS;
}
