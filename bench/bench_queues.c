/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs that there are many queues, for every kind of synchronisation.
 *
 *   bench_queues [OPS]
 *
 * The graph has OPS ops (100,000) in layers of as many ops as there are queues.  Op i of a layer
 * comes after op i, and after a random one, of the layer before; it runs on queue i ("given"), or
 * on any queue of a class with that many ("chosen").  Each row is a process of its own that makes
 * the graph and compiles it to a program: the makespan; the waits, barriers or full syncs; seconds
 * of the pass that finds them; seconds of CPU time and of wall time, and the most memory, of the
 * process. A star stands behind what is above 2 s of CPU time or 500 MB. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit/gen.h"
#include "model/handle.h"

enum { MOST_MILLISECONDS = 2000, MOST_KB = 500 * 1000 };

typedef struct bench_queues_kind {
  const char *name, *pass;
  fsched_sync sync;
  uint32_t barriers;
} bench_queues_kind;

static const bench_queues_kind kinds[] = {
    {"timeline", "waits", FSCHED_SYNC_TIMELINE, 0},
    {"barrier, b = 8", "barrier", FSCHED_SYNC_TIMELINE, 8},
    {"barrier, auto", "barrier", FSCHED_SYNC_TIMELINE, FSCHED_BARRIERS_AUTO},
    {"block", "block", FSCHED_SYNC_BLOCK, 0}};

static void need(fsched_context *ctx, fsched_status status) {
  if (status != FSCHED_OK) {
    fprintf(stderr, "bench_queues: %s\n",
            fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "a call failed");
    exit(EXIT_FAILURE);
  }
}

/* --- the graph --- */

static void add_queues(fsched_context *ctx, fsched_builder *b, uint32_t n_queues) {
  for (uint32_t q = 0; q < n_queues; q++) {
    char name[16];
    uint32_t id;
    (void)snprintf(name, sizeof name, "q%u", q);
    fsched_queue_desc d = {.size = sizeof d, .name = name};
    need(ctx, fsched_builder_queue(b, &d, &id));
  }
}

static fsched_graph *make_graph(fsched_context *ctx, uint32_t n, uint32_t n_queues, bool given,
                                fsched_sync sync) {
  fsched_builder *b;
  fsched_graph *g;
  fs_rng rng = {1};
  need(ctx, fsched_builder_create(ctx, "bench", &b));
  need(ctx, fsched_builder_sync(b, sync));
  add_queues(ctx, b, n_queues);
  for (uint32_t i = 0; i < n; i++) {
    char name[16], queue[16];
    uint32_t id;
    (void)snprintf(name, sizeof name, "o%u", i);
    (void)snprintf(queue, sizeof queue, "q%u", i % n_queues);
    fsched_op_desc d = {.size = sizeof d,
                        .name = name,
                        .on = given ? queue : "compute",
                        .has_time = 1,
                        .time = 1 + fs_rng_below(&rng, 20)};
    need(ctx, fsched_builder_op(b, &d, &id));
    uint32_t other = i / n_queues * n_queues - n_queues + fs_rng_below(&rng, n_queues);
    if (i >= n_queues) {
      need(ctx, fsched_builder_after(b, id, i - n_queues));
    }
    if (i >= n_queues && other != i - n_queues) {
      need(ctx, fsched_builder_after(b, id, other));
    }
  }
  need(ctx, fsched_builder_finish(b, &g));
  fsched_builder_destroy(b);
  return g;
}

/* --- a row --- */

static double pass_seconds(const double *pass, const char *name) {
  for (uint32_t i = 0; i < fsched_pass_count(); i++) {
    if (strcmp(fsched_pass_name(i), name) == 0) {
      return pass[i];
    }
  }
  return 0;
}

/* The process of a row: it prints the row's beginning. */
static void compile(uint32_t n, uint32_t n_queues, bool given, const bench_queues_kind *kind) {
  double pass[32] = {0};
  fsched_context *ctx;
  fsched_schedule *s;
  fsched_program *p;
  fsched_compile_options o = {.size = sizeof o, .pass_seconds = pass, .barriers = kind->barriers};
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    exit(EXIT_FAILURE);
  }
  fsched_graph *g = make_graph(ctx, n, n_queues, given, kind->sync);
  need(ctx, fsched_compile(ctx, g, &o, &s, &p));
  const fs_sync *y = s->sync;
  uint32_t count = kind->sync == FSCHED_SYNC_BLOCK ? y->n_full
                   : kind->barriers > 0            ? y->barriers_used
                                                   : (uint32_t)y->waits_emitted;
  printf("  %7u  %-7s %-15s %9llu %9u %9.3f", n_queues, given ? "given" : "chosen", kind->name,
         (unsigned long long)s->schedule->makespan, count, pass_seconds(pass, kind->pass));
  (void)fflush(stdout);
  fsched_schedule_destroy(s);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
  fsched_context_destroy(ctx);
}

static double seconds_now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_of(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

static void row(uint32_t n, uint32_t n_queues, bool given, const bench_queues_kind *kind) {
  double begin = seconds_now();
  pid_t child = fork();
  if (child == 0) {
    compile(n, n_queues, given, kind);
    exit(EXIT_SUCCESS);
  }
  int status = 0;
  struct rusage used;
  if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) {
    fprintf(stderr, "bench_queues: a row failed\n");
    exit(EXIT_FAILURE);
  }
  double cpu = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  bool most = cpu * 1000 > MOST_MILLISECONDS || used.ru_maxrss > MOST_KB;
  printf(" %9.3f %9.3f %6ld%s\n", cpu, seconds_now() - begin, used.ru_maxrss / 1000,
         most ? " *" : "");
  (void)fflush(stdout);
}

int main(int argc, char **argv) {
  uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100000;
  printf("%u ops in layers of as many as there are queues\n", n);
  printf("  %7s  %-7s %-15s %9s %9s %9s %9s %9s %6s\n", "queues", "on", "sync", "makespan", "count",
         "its pass", "CPU s", "wall s", "MB");
  (void)fflush(stdout);
  for (uint32_t n_queues = 1; n_queues <= 1000 && n_queues <= n; n_queues *= 10) {
    for (uint32_t k = 0; k < 2 * sizeof kinds / sizeof *kinds; k++) {
      row(n, n_queues, k % 2 == 0, &kinds[k / 2]);
    }
  }
  return EXIT_SUCCESS;
}
