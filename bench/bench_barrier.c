/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs to have no timelines: the same graphs are compiled for targets with b barriers, and
 * with nothing but full syncs.
 *
 *   bench_barrier [LARGEST]
 *
 * The first table is about schedules: the makespan with b barriers over the one with timelines, as
 * a geometric mean over several graphs of a kind, with everything that sharing, gates and new
 * orders cost.  "published" is the published construction with 32 barriers, which refuses what
 * would deadlock; the last column is the number of graphs that were compiled.  The second is about
 * time: seconds of CPU up to LARGEST ops (100,000), beside the same compilation with timelines in
 * the same run, and the exponent over the sizes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kit/gen.h"
#include "model/handle.h"

enum { GRAPHS = 12, KINDS = 4, OPS = 400, QUEUES = 12, RUNS = 3, SLOTS = 16, PUBLISHED = 32 };

typedef struct bench_barrier_outcome {
  bool compiled;
  fs_tick makespan;
  uint32_t barriers, used, added, gates, full;
  double cpu, pass; /* pass: the time of the pass that replaces waits */
} bench_barrier_outcome;

static void need(fsched_context *ctx, fsched_status status) {
  if (status != FSCHED_OK) {
    fprintf(stderr, "bench_barrier: %s\n",
            fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "a call failed");
    exit(EXIT_FAILURE);
  }
}

static double cpu_now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- graphs without memory: only their shape orders them */

typedef struct bench_barrier_maker {
  fsched_context *ctx;
  fsched_builder *b;
  fs_rng rng;
  uint32_t n_queues, n_ops;
} bench_barrier_maker;

static uint32_t add_op(bench_barrier_maker *m, uint32_t queue, uint64_t ticks) {
  char name[16], on[16];
  uint32_t id;
  (void)snprintf(name, sizeof name, "o%u", m->n_ops++);
  (void)snprintf(on, sizeof on, "q%u", queue % m->n_queues);
  fsched_op_desc d = {.size = sizeof d, .name = name, .on = on, .has_time = 1, .time = ticks};
  need(m->ctx, fsched_builder_op(m->b, &d, &id));
  return id;
}

static void begin(bench_barrier_maker *m, fsched_context *ctx, uint64_t seed, uint32_t n_queues,
                  fsched_sync sync) {
  *m = (bench_barrier_maker){.ctx = ctx, .rng = {seed}, .n_queues = n_queues};
  need(ctx, fsched_builder_create(ctx, "bench", &m->b));
  need(ctx, fsched_builder_sync(m->b, sync));
  need(ctx, fsched_builder_barriers(m->b, 0, SLOTS));
  for (uint32_t q = 0; q < n_queues; q++) {
    char name[16];
    uint32_t id;
    (void)snprintf(name, sizeof name, "q%u", q);
    fsched_queue_desc d = {.size = sizeof d, .name = name};
    need(ctx, fsched_builder_queue(m->b, &d, &id));
  }
}

static uint64_t ticks(bench_barrier_maker *m) { return 1 + fs_rng_below(&m->rng, 20); }

/* Makes ops on any queue that come after up to three of the last 40. */
static void random_ops(bench_barrier_maker *m, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    uint64_t time = ticks(m);
    uint32_t op = add_op(m, fs_rng_below(&m->rng, m->n_queues), time);
    for (uint32_t k = fs_rng_below(&m->rng, 4); k > 0 && i > 0; k--) {
      uint32_t back = 1 + fs_rng_below(&m->rng, i < 40 ? i : 40);
      need(m->ctx, fsched_builder_after(m->b, op, op - back));
    }
  }
}

/* Makes layers as wide as there are queues; each op comes after two of the layer before. */
static void layers(bench_barrier_maker *m, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t op = add_op(m, i, ticks(m));
    for (uint32_t k = 0; k < 2 && i >= m->n_queues; k++) {
      uint32_t first = i / m->n_queues * m->n_queues - m->n_queues;
      need(m->ctx,
           fsched_builder_after(m->b, op, op - i + first + fs_rng_below(&m->rng, m->n_queues)));
    }
  }
}

/* Makes producers on one half of the queues, each with a consumer on the other half. */
static void pairs(bench_barrier_maker *m, uint32_t n) {
  uint32_t half = m->n_queues / 2;
  for (uint32_t i = 0; i + 1 < n; i += 2) {
    uint32_t u = add_op(m, i / 2 % half, ticks(m));
    uint64_t time = ticks(m);
    uint32_t v = add_op(m, half + fs_rng_below(&m->rng, half), time);
    need(m->ctx, fsched_builder_after(m->b, v, u));
  }
}

/* Makes one op, a fan of as many ops as there are queues, and so on. */
static void forks(bench_barrier_maker *m, uint32_t n) {
  uint32_t width = m->n_queues, join = FS_NONE;
  for (uint32_t i = 0; i + width + 1 <= n; i += width + 1) {
    uint32_t first = FS_NONE;
    for (uint32_t k = 0; k < width; k++) {
      uint32_t op = add_op(m, k, ticks(m));
      first = k == 0 ? op : first;
      if (join != FS_NONE) {
        need(m->ctx, fsched_builder_after(m->b, op, join));
      }
    }
    uint64_t time = ticks(m);
    join = add_op(m, fs_rng_below(&m->rng, width), time);
    for (uint32_t k = 0; k < width; k++) {
      need(m->ctx, fsched_builder_after(m->b, join, first + k));
    }
  }
}

static const struct {
  const char *name;
  void (*make)(bench_barrier_maker *m, uint32_t n);
} kinds[KINDS] = {{"random", random_ops}, {"layers", layers}, {"pairs", pairs}, {"forks", forks}};

static fsched_graph *make_graph(fsched_context *ctx, uint32_t kind, uint64_t seed, uint32_t n,
                                uint32_t n_queues, fsched_sync sync) {
  bench_barrier_maker m;
  fsched_graph *g;
  begin(&m, ctx, seed, n_queues, sync);
  kinds[kind].make(&m, n);
  need(ctx, fsched_builder_finish(m.b, &g));
  fsched_builder_destroy(m.b);
  return g;
}

/* --- compiling --- */

static uint32_t pass_called(const char *name) {
  for (uint32_t i = 0; i < fsched_pass_count(); i++) {
    if (strcmp(fsched_pass_name(i), name) == 0) {
      return i;
    }
  }
  return 0;
}

static bench_barrier_outcome compile(fsched_context *ctx, const fsched_graph *g, uint32_t barriers,
                                     fsched_barrier_method method) {
  double pass[32] = {0};
  fsched_compile_options o = {
      .size = sizeof o, .pass_seconds = pass, .barriers = barriers, .barrier_method = method};
  fsched_schedule *s = NULL;
  fsched_program *p = NULL;
  double cpu = cpu_now();
  fsched_status status = fsched_compile(ctx, g, &o, &s, &p);
  bench_barrier_outcome r = {.compiled = status == FSCHED_OK, .cpu = cpu_now() - cpu};
  if (r.compiled) {
    const fs_sync *y = s->sync;
    r.makespan = s->schedule->makespan;
    r.barriers = y->n_barriers;
    r.used = y->barriers_used;
    r.added = y->barrier_added;
    r.gates = y->barrier_gates;
    r.full = y->n_full;
    r.pass = pass[pass_called(y->kind == FS_SYNC_BLOCK ? "block" : "barrier")];
  } else if (status != FSCHED_INFEASIBLE) {
    need(ctx, status);
  }
  fsched_schedule_destroy(s);
  fsched_program_destroy(p);
  fsched_diag_clear(ctx);
  return r;
}

/* --- schedules --- */

typedef struct bench_barrier_sums {
  double log_ratio;
  uint32_t n, barriers, used, added, gates, full;
} bench_barrier_sums;

static void add(bench_barrier_sums *t, const bench_barrier_outcome *o, fs_tick timeline) {
  if (o->compiled) {
    t->log_ratio += log((double)o->makespan / (double)timeline);
    t->n++;
    t->barriers += o->barriers;
    t->used += o->used;
    t->added += o->added;
    t->gates += o->gates;
    t->full += o->full;
  }
}

static double mean(const bench_barrier_sums *t, uint32_t sum) {
  return t->n == 0 ? 0 : (double)sum / t->n;
}

static void print_sums(const char *what, const bench_barrier_sums *t) {
  printf("  %-14s %9.3f %9.1f %6.1f %7.1f %7.1f %7.1f   %u of %d\n", what,
         t->n == 0 ? 0.0 : exp(t->log_ratio / t->n), mean(t, t->barriers), mean(t, t->used),
         mean(t, t->added), mean(t, t->gates), mean(t, t->full), t->n, GRAPHS);
  (void)fflush(stdout);
}

static void schedules_of(fsched_context *ctx, uint32_t kind) {
  static const uint32_t bounds[] = {2, 4, 8, 16, 32, FSCHED_BARRIERS_AUTO};
  enum { BOUNDS = sizeof bounds / sizeof *bounds };
  bench_barrier_sums best[BOUNDS] = {{0}}, published = {0}, block = {0};
  for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
    fsched_graph *g = make_graph(ctx, kind, seed, OPS, QUEUES, FSCHED_SYNC_TIMELINE);
    fs_tick timeline = compile(ctx, g, 0, FSCHED_BARRIERS_BEST).makespan;
    for (uint32_t i = 0; i < BOUNDS; i++) {
      bench_barrier_outcome o = compile(ctx, g, bounds[i], FSCHED_BARRIERS_BEST);
      add(&best[i], &o, timeline);
    }
    bench_barrier_outcome o = compile(ctx, g, PUBLISHED, FSCHED_BARRIERS_PUBLISHED);
    add(&published, &o, timeline);
    fsched_graph_destroy(g);
    g = make_graph(ctx, kind, seed, OPS, QUEUES, FSCHED_SYNC_BLOCK);
    o = compile(ctx, g, 0, FSCHED_BARRIERS_BEST);
    add(&block, &o, timeline);
    fsched_graph_destroy(g);
  }
  printf("\n%s: %d ops on %d queues\n", kinds[kind].name, OPS, QUEUES);
  printf("  %-14s %9s %9s %6s %7s %7s %7s   %s\n", "", "makespan", "barriers", "used", "added",
         "gates", "syncs", "compiled");
  char what[32];
  for (uint32_t i = 0; i < BOUNDS; i++) {
    bool automatic = bounds[i] == FSCHED_BARRIERS_AUTO;
    (void)snprintf(what, sizeof what, automatic ? "auto" : "b = %u", bounds[i]);
    print_sums(what, &best[i]);
  }
  (void)snprintf(what, sizeof what, "published, %d", PUBLISHED);
  print_sums(what, &published);
  print_sums("block", &block);
}

/* --- time --- */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double median(double *x) {
  qsort(x, RUNS, sizeof *x, ascending);
  return x[RUNS / 2];
}

typedef struct bench_barrier_times {
  double timeline, all, pass;
} bench_barrier_times;

static bench_barrier_times measure(fsched_context *ctx, uint32_t n, uint32_t n_queues,
                                   uint32_t barriers, fsched_sync sync) {
  double timeline[RUNS], all[RUNS], pass[RUNS];
  fsched_graph *plain = make_graph(ctx, 0, 1, n, n_queues, FSCHED_SYNC_TIMELINE);
  fsched_graph *g = make_graph(ctx, 0, 1, n, n_queues, sync);
  for (uint32_t i = 0; i < RUNS; i++) {
    timeline[i] = compile(ctx, plain, 0, FSCHED_BARRIERS_BEST).cpu;
    bench_barrier_outcome o = compile(ctx, g, barriers, FSCHED_BARRIERS_BEST);
    all[i] = o.cpu;
    pass[i] = o.pass;
  }
  fsched_graph_destroy(plain);
  fsched_graph_destroy(g);
  return (bench_barrier_times){median(timeline), median(all), median(pass)};
}

static void sizes(fsched_context *ctx, const char *what, uint32_t n_queues, uint32_t barriers,
                  fsched_sync sync, uint32_t largest) {
  double first = 0, last = 0;
  uint32_t n_first = 0, n_last = 0;
  for (uint32_t n = 1000; n <= largest; n *= 10) {
    bench_barrier_times t = measure(ctx, n, n_queues, barriers, sync);
    printf("  %-22s %8u %7u %10.4f %10.4f %10.4f %7.2f\n", what, n, n_queues, t.timeline, t.all,
           t.pass, t.all / t.timeline);
    (void)fflush(stdout);
    if (n_first == 0) {
      first = t.all;
      n_first = n;
    }
    last = t.all;
    n_last = n;
  }
  if (n_last > n_first) {
    printf("  %-22s exponent %.2f\n", "", log(last / first) / log((double)n_last / n_first));
  }
}

int main(int argc, char **argv) {
  uint32_t largest = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100000;
  fsched_context *ctx;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    return EXIT_FAILURE;
  }
  printf(
      "makespan over that with timelines (geometric mean), and means of: barriers, physical ones "
      "used,\nnew orders, gates, full syncs; %d producer slots\n",
      SLOTS);
  for (uint32_t kind = 0; kind < KINDS; kind++) {
    schedules_of(ctx, kind);
  }
  printf("\nseconds of CPU, median of %d: timelines, this kind, its own pass; ratio\n", RUNS);
  printf("  %-22s %8s %7s %10s %10s %10s %7s\n", "", "ops", "queues", "timelines", "all", "pass",
         "ratio");
  sizes(ctx, "b = 8", 8, 8, FSCHED_SYNC_TIMELINE, largest);
  sizes(ctx, "b = 8", 64, 8, FSCHED_SYNC_TIMELINE, largest);
  sizes(ctx, "auto", 8, FSCHED_BARRIERS_AUTO, FSCHED_SYNC_TIMELINE, largest);
  sizes(ctx, "block", 8, 0, FSCHED_SYNC_BLOCK, largest);
  fsched_context_destroy(ctx);
  return EXIT_SUCCESS;
}
