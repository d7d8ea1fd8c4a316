/* SPDX-License-Identifier: Apache-2.0 */
/* What compiling costs, from a graph made by calls to a program, over three orders of magnitude:
 * seconds per pass, the verifier separately, peak memory, and the exponent of time over n.
 *
 *   bench_compile [LARGEST [TIGHTNESS]]
 *
 * LARGEST is the number of ops to stop at (1,000,000), TIGHTNESS the capacity over the largest need
 * of an op (1000).  It is the same at every size, so pressure, and copies per op, grow with n.
 *
 * Each size runs in a child process, so that its peak memory (VmHWM: graph, schedule, program and
 * what made them) is its own.  The machine may be shared, so CPU time is measured, as the minimum
 * and median of several runs; it is divided among the passes by their wall time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fsched/verify.h"
#include "kit/gen.h"
#include "model/handle.h"

/* Up to PORTFOLIO ops the list scheduler runs several plans, so each side has a fit of its own. */
enum { MAX_RUNS = 9, MAX_PASSES = 16, MIN_OPS = 1000, LIMIT_OPS = 100000, PORTFOLIO = 20000 };

typedef struct run {
  double cpu, wall, verify_cpu, verify_wall;
  double pass[MAX_PASSES]; /* wall, then its share of the CPU time */
} run;

typedef struct bench_compile_result {
  uint32_t n_ops, n_edges, n_copies, n_control, n_waits, n_runs;
  uint64_t need_copies; /* copies that no schedule avoids */
  double build_wall;    /* for the graph, including drawing it twice */
  long peak_kib, peak_verify_kib;
  run run[MAX_RUNS];
} bench_compile_result;

static void fail(const char *what) {
  fprintf(stderr, "bench_compile: %s\n", what);
  exit(EXIT_FAILURE);
}

static void need(fsched_context *ctx, fsched_status status) {
  if (status != FSCHED_OK) {
    fail(fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "a call failed");
  }
}

static double now(clockid_t clock) {
  struct timespec t;
  (void)clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The largest resident size so far, in KiB. */
static long peak(void) {
  char line[256];
  long kib = 0;
  FILE *f = fopen("/proc/self/status", "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL) {
    (void)sscanf(line, "VmHWM: %ld", &kib);
  }
  if (f != NULL) {
    (void)fclose(f);
  }
  return kib;
}

static fs_gen_params params(uint32_t n_ops, double tightness) {
  return (fs_gen_params){.seed = 1,
                         .n_ops = n_ops,
                         .n_queues = 64,
                         .n_classes = 4,
                         .n_memories = 1,
                         .align = 64,
                         .max_size = 10000,
                         .max_time = 10,
                         .window = 256,
                         .tightness = tightness,
                         .backing = true,
                         .io = true};
}

/* Counts the first reads of given content that is used, and the write-backs of what is kept. */
static uint64_t needed_copies(const fsched_graph *g) {
  uint64_t n = 0;
  for (uint32_t v = 0; v < g->n_versions; v++) {
    const fs_memory *m = &g->target.memory[fs_version_memory(g, v)];
    bool used = g->version_access0[v] < g->version_access0[v + 1];
    bool given = fs_version_given(g, v);
    n += fs_memory_bounded(m) && used ? given + (fs_version_kept(g, v) && !given) : 0;
  }
  return n;
}

static void one_run(fsched_context *ctx, const fsched_graph *g, bench_compile_result *out) {
  run *r = &out->run[out->n_runs];
  fsched_compile_options o = {.size = sizeof o, .pass_seconds = r->pass};
  fsched_schedule *s;
  fsched_program *p;
  double cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
  need(ctx, fsched_compile(ctx, g, &o, &s, &p));
  r->cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  r->wall = now(CLOCK_MONOTONIC) - wall;
  for (uint32_t i = 0; i < fsched_pass_count(); i++) {
    r->pass[i] *= r->cpu / r->wall;
  }
  if (out->n_runs == 0) {
    out->peak_kib = peak();
  }
  cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  wall = now(CLOCK_MONOTONIC);
  need(ctx, fsched_verify_schedule(ctx, g, s));
  need(ctx, fsched_verify_program(ctx, p, g));
  r->verify_cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  r->verify_wall = now(CLOCK_MONOTONIC) - wall;
  out->peak_verify_kib = peak();
  out->n_copies = s->schedule->n_copies;
  out->n_control = s->sync->n_control;
  out->n_waits = s->sync->waits_emitted;
  fsched_schedule_destroy(s);
  fsched_program_destroy(p);
}

static void measure(const fs_gen_params *p, bench_compile_result *out) {
  fsched_context *ctx;
  fsched_graph *g;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    fail("no context");
  }
  double wall = now(CLOCK_MONOTONIC);
  need(ctx, fs_gen_graph(ctx, p, &g));
  out->build_wall = now(CLOCK_MONOTONIC) - wall;
  out->n_ops = g->n_ops;
  out->n_edges = g->n_edges;
  out->need_copies = needed_copies(g);
  uint32_t runs = p->n_ops <= 30000 ? MAX_RUNS : p->n_ops <= 100000 ? 5 : 3;
  for (out->n_runs = 0; out->n_runs < runs; out->n_runs++) {
    one_run(ctx, g, out);
  }
  fsched_graph_destroy(g);
  fsched_context_destroy(ctx);
}

static bench_compile_result in_child(const fs_gen_params *p) {
  int fd[2];
  bench_compile_result r = {0};
  (void)fflush(stdout);
  if (pipe(fd) != 0) {
    fail("no pipe");
  }
  pid_t child = fork();
  if (child == 0) {
    measure(p, &r);
    bool ok = write(fd[1], &r, sizeof r) == (ssize_t)sizeof r; /* fits a pipe's buffer */
    _exit(ok ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  (void)close(fd[1]);
  if (child < 0 || read(fd[0], &r, sizeof r) != (ssize_t)sizeof r) {
    fail("a size failed");
  }
  (void)close(fd[0]);
  (void)waitpid(child, NULL, 0);
  return r;
}

/* ---- tables */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* Minimum and median, over the runs, of the double at `offset` in each. */
static double least(const bench_compile_result *r, size_t offset, double *median) {
  double x[MAX_RUNS];
  for (uint32_t i = 0; i < r->n_runs; i++) {
    memcpy(&x[i], (const char *)&r->run[i] + offset, sizeof x[i]);
  }
  qsort(x, r->n_runs, sizeof x[0], ascending);
  if (median != NULL) {
    *median = x[r->n_runs / 2];
  }
  return x[0];
}

static void head(void) {
  printf("%9s %9s %9s %9s", "ops", "copies", "control", "waits");
  for (uint32_t p = 0; p + 1 < fsched_pass_count(); p++) {
    printf(" %9s", fsched_pass_name(p));
  }
  printf(" | %9s %9s %9s %9s %7s | %9s %9s %7s | %6s %6s\n", "cpu min", "cpu med", "wall min",
         "wall med", "us/op", "verify", "median", "ratio", "MB", "MB ver");
}

static void row(const bench_compile_result *r) {
  double cpu_median, wall_median, verify_median, pass_median;
  double cpu = least(r, offsetof(run, cpu), &cpu_median);
  double wall = least(r, offsetof(run, wall), &wall_median);
  double verify = least(r, offsetof(run, verify_cpu), &verify_median);
  printf("%9u %9u %9u %9u", r->n_ops, r->n_copies, r->n_control, r->n_waits);
  for (uint32_t p = 0; p + 1 < fsched_pass_count(); p++) {
    (void)least(r, offsetof(run, pass) + p * sizeof(double), &pass_median);
    printf(" %9.4f", pass_median);
  }
  printf(" | %9.4f %9.4f %9.4f %9.4f %7.2f | %9.4f %9.4f %7.2f | %6.0f %6.0f\n", cpu, cpu_median,
         wall, wall_median, 1e6 * cpu / r->n_ops, verify, verify_median, verify / cpu,
         (double)r->peak_kib / 1024, (double)r->peak_verify_kib / 1024);
  (void)fflush(stdout);
}

/* Fits log(time / divisor) over log(n) by least squares, for sizes first .. end - 1. */
static double exponent(const bench_compile_result *r, uint32_t first, uint32_t end, size_t offset,
                       bool by_log) {
  double n = end - first, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (uint32_t i = first; i < end; i++) {
    double ops = r[i].n_ops, x = log(ops);
    double median;
    (void)least(&r[i], offset, &median);
    double y = log(median / (by_log ? log2(ops) : 1));
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

static void fit_one(const char *name, const bench_compile_result *r, uint32_t n, size_t offset) {
  uint32_t split = 0;
  while (split < n && r[split].n_ops <= PORTFOLIO) {
    split++;
  }
  const uint32_t range[3][2] = {{0, split}, {split, n}, {0, n}};
  printf("  %-10s", name);
  for (int i = 0; i < 3; i++) {
    if (range[i][1] - range[i][0] >= 2) {
      printf("   %6.3f %6.3f", exponent(r, range[i][0], range[i][1], offset, false),
             exponent(r, range[i][0], range[i][1], offset, true));
    } else {
      printf("   %6s %6s", "-", "-");
    }
  }
  printf("\n");
}

static void fits(const bench_compile_result *r, uint32_t n) {
  printf(
      "\nexponent of time over n, and after dividing by log n: least squares over the medians\n");
  printf("  %-10s   %13s   %13s   %13s\n", "", "up to 20,000", "from there on", "all");
  fit_one("compile", r, n, offsetof(run, cpu));
  for (uint32_t i = 0; i + 1 < fsched_pass_count(); i++) {
    fit_one(fsched_pass_name(i), r, n, offsetof(run, pass) + i * sizeof(double));
  }
  fit_one("verify", r, n, offsetof(run, verify_cpu));
}

static void describe(const fs_gen_params *p) {
  printf(
      "random graphs (seed %llu): %u queues (the last copies) in %u classes, 1 memory, align "
      "%llu, buffers of 1 to %u bytes, ops of 1 to %u ticks reading 1 to 3 of the last %u "
      "buffers, given content and outputs\n"
      "seconds of CPU (wall where it says so); passes: medians, split by wall time; MB: peak "
      "after the first compile, and after verify\n",
      (unsigned long long)p->seed, p->n_queues, p->n_classes, (unsigned long long)p->align,
      p->max_size, p->max_time, p->window);
}

static void load(void) {
  double average[3] = {0};
  (void)getloadavg(average, 3);
  printf("load average %.2f\n", average[0]);
}

/* Compiles the same graph under other pressures. */
static void pressures(void) {
  static const double other[] = {4000, 100, 8};
  printf("\n%d ops, capacity 4000, 100 and 8 times the largest need of an op\n", (int)LIMIT_OPS);
  head();
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
    fs_gen_params p = params(LIMIT_OPS, other[i]);
    bench_compile_result r = in_child(&p);
    row(&r);
  }
}

int main(int argc, char **argv) {
  static const uint32_t sizes[] = {1, 3, 10, 30, 100, 300, 1000}; /* in thousands */
  enum { N = sizeof sizes / sizeof *sizes };
  static bench_compile_result r[N];
  uint32_t largest = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000, n = 0;
  double tightness = argc > 2 ? strtod(argv[2], NULL) : 1000;
  fs_gen_params p = params(MIN_OPS, tightness);
  describe(&p);
  load();
  printf("\ncapacity %g times the largest need of an op\n", tightness);
  head();
  for (; n < N && sizes[n] * MIN_OPS <= largest; n++) {
    p = params(sizes[n] * MIN_OPS, tightness);
    r[n] = in_child(&p);
    row(&r[n]);
  }
  printf("of the copies, no schedule avoids");
  for (uint32_t i = 0; i < n; i++) {
    printf(" %llu", (unsigned long long)r[i].need_copies);
  }
  if (n > 0) {
    printf("\nedges per op %.2f; building the graph %.2f us/op\n",
           (double)r[n - 1].n_edges / r[n - 1].n_ops, 1e6 * r[n - 1].build_wall / r[n - 1].n_ops);
    fits(r, n);
  }
  if (largest >= LIMIT_OPS) {
    pressures();
  }
  load();
  return EXIT_SUCCESS;
}
