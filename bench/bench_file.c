/* SPDX-License-Identifier: Apache-2.0 */
/* What a large graph costs from file to file.
 *
 *   bench_file [OPS [PROGRAM]]
 *
 * Writes a graph file of OPS ops (1,000,000) in a temporary directory: four queues of which one
 * copies, one memory of 1 MiB that spills, ops that read one to three of the last 30 buffers and
 * write one.  Then PROGRAM (that of the build which this program belongs to) compiles it three
 * times: CPU seconds, of the user and of the system, and peak resident size, of the whole process.
 * Between these runs the library reads the same file in a process of its own.  The least counts, as
 * the machine may be shared. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fsched/graph.h"
#include "kit/gen.h"

enum { RUNS = 3, ROOM = 4096 };

typedef struct bench_file_cost {
  double user, system, peak_mb;
} bench_file_cost;

static void fail(const char *what) {
  fprintf(stderr, "bench_file: %s\n", what);
  exit(EXIT_FAILURE);
}

static void write_graph(const char *path, uint32_t n) {
  fs_rng rng = {1};
  FILE *f = fopen(path, "w");
  if (f == NULL) {
    fail("cannot write the graph file");
  }
  fputs(
      "fsched: 1\ntarget:\n"
      "  queues: [{name: q0}, {name: q1}, {name: q2}, {name: dma, class: copy}]\n"
      "  memories:\n    - {name: cmx, capacity: 1MiB, backing: ddr, spill: {on: copy}}\n"
      "    - {name: ddr}\nops:\n",
      f);
  for (uint32_t i = 0; i < n; i++) {
    fprintf(f, "  - name: op%u\n    on: compute\n    time: %u\n    args: [", i,
            1 + fs_rng_below(&rng, 20));
    uint32_t last = i; /* reads descend, so that none is repeated */
    for (uint32_t k = 1 + fs_rng_below(&rng, 3); k > 0 && last > 0; k--) {
      last -= 1 + fs_rng_below(&rng, last < 10 ? last : 10);
      fprintf(f, "{in: b%u}, ", last);
    }
    fprintf(f, "{out: b%u, size: %u, memory: cmx}]\n", i, 1 + fs_rng_below(&rng, 9000));
  }
  if (fclose(f) != 0) {
    fail("cannot write the graph file");
  }
}

static int read_graph(const char *path) {
  fsched_context *ctx;
  fsched_graph *g;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK ||
      fsched_graph_read(ctx, path, NULL, &g) != FSCHED_OK) {
    return EXIT_FAILURE;
  }
  fsched_graph_destroy(g);
  fsched_context_destroy(ctx);
  return EXIT_SUCCESS;
}

/* Compiles with the program, or without one only reads, in a child. */
static bench_file_cost run(const char *program, const char *graph, const char *out) {
  (void)fflush(stdout);
  pid_t child = fork();
  if (child == 0 && program == NULL) {
    _exit(read_graph(graph));
  } else if (child == 0) {
    (void)execl(program, program, "compile", "-q", graph, "-o", out, (char *)NULL);
    _exit(EXIT_FAILURE);
  }
  int status;
  struct rusage use;
  if (child < 0 || wait4(child, &status, 0, &use) != child || status != 0) {
    fail(program == NULL ? "the graph cannot be read" : "the program failed");
  }
  return (bench_file_cost){(double)use.ru_utime.tv_sec + 1e-6 * (double)use.ru_utime.tv_usec,
                           (double)use.ru_stime.tv_sec + 1e-6 * (double)use.ru_stime.tv_usec,
                           (double)use.ru_maxrss / 1024};
}

static void row(const char *name, const bench_file_cost *c) {
  uint32_t best = 0;
  double peak = c[0].peak_mb;
  for (uint32_t i = 1; i < RUNS; i++) {
    best = c[i].user + c[i].system < c[best].user + c[best].system ? i : best;
    peak = c[i].peak_mb > peak ? c[i].peak_mb : peak;
  }
  printf("%-32s %8.2f %8.2f %8.2f %8.0f\n", name, c[best].user, c[best].system,
         c[best].user + c[best].system, peak);
}

int main(int argc, char **argv) {
  char directory[] = "/tmp/bench_file.XXXXXX", graph[ROOM], out[ROOM], beside[ROOM];
  uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
  const char *slash = strrchr(argv[0], '/');
  (void)snprintf(beside, sizeof beside, "%.*s../fsched",
                 slash == NULL ? 0 : (int)(slash - argv[0] + 1), argv[0]);
  const char *program = argc > 2 ? argv[2] : beside;
  if (mkdtemp(directory) == NULL) {
    fail("no temporary directory");
  }
  (void)snprintf(graph, sizeof graph, "%s/graph.yaml", directory);
  (void)snprintf(out, sizeof out, "%s/out.fsb", directory);
  write_graph(graph, n);
  bench_file_cost all[RUNS], reading[RUNS];
  for (uint32_t i = 0; i < RUNS; i++) {
    all[i] = run(program, graph, out);
    reading[i] = run(NULL, graph, out);
  }
  struct stat text, stream;
  if (stat(graph, &text) != 0 || stat(out, &stream) != 0) {
    fail("no file");
  }
  printf("%u ops, %.0f MB of text, %.0f MB of program\n", n, (double)text.st_size / 1e6,
         (double)stream.st_size / 1e6);
  printf("%-32s %8s %8s %8s %8s\n", "seconds of CPU", "user", "system", "both", "peak MB");
  row("file to file, the program", all);
  row("reading alone, the library", reading);
  (void)unlink(graph);
  (void)unlink(out);
  (void)rmdir(directory);
  return EXIT_SUCCESS;
}
