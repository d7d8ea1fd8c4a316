/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of graphs that differ in how many edges they have and how far these reach: what it costs
 * to write them, and what Graphviz needs to render them, if it is installed.  Times are seconds of
 * wall time of one run each. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "fsched/compile.h"
#include "kit/gen.h"

enum { LAYERED = UINT32_MAX };

typedef struct fs_dot_case {
  const char *what;
  uint32_t n, preds, reach; /* reach 0: any op before; LAYERED: all ops of the layer before */
} fs_dot_case;

static const fs_dot_case cases[] = {
    {"3 random predecessors", 2000, 3, 0},
    {"5 random", 2000, 5, 0},
    {"8 random", 2000, 8, 0},
    {"15 random", 2000, 15, 0},
    {"3 of the last 40", 2000, 3, 40},
    {"5 of the last 40", 2000, 5, 40},
    {"8 of the last 40", 2000, 8, 40},
    {"40 full layers of 50", 2000, 50, LAYERED},
    {"3 of the last 40", 1400, 3, 40},
    {"4 random", 800, 4, 0},
    {"8 random", 150, 8, 0},
    {"2 of the last 40", 500, 2, 40},
    {"a chain", 1400, 1, 1},
};

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void put_predecessors(fs_text *t, fs_rng *rng, const fs_dot_case *c, uint32_t i) {
  uint32_t first = 0, n = i;
  if (c->reach == LAYERED) {
    first = i < c->preds ? 0 : i / c->preds * c->preds - c->preds;
    n = i < c->preds ? 0 : c->preds;
  } else if (c->reach > 0) {
    first = i > c->reach ? i - c->reach : 0;
    n = i - first;
  }
  for (uint32_t k = 0; k < n; k++) { /* each with a probability that makes `preds` of n */
    if (c->reach == LAYERED || fs_rng_below(rng, n) < c->preds) {
      fs_text_printf(t, "o%u, ", first + k);
    }
  }
}

static void write_graph(fs_text *t, const fs_dot_case *c, const char *path) {
  fs_rng rng = {1};
  t->n = 0;
  fs_text_puts(t, "fsched: 1\nname: bench\nops:\n");
  for (uint32_t i = 0; i < c->n; i++) {
    fs_text_printf(t, "  - {name: o%u, time: %u, after: [", i, 1 + fs_rng_below(&rng, 9));
    put_predecessors(t, &rng, c, i);
    fs_text_puts(t, "]}\n");
  }
  FILE *file = fopen(path, "w");
  if (t->failed || file == NULL || fwrite(t->at, 1, t->n, file) != t->n || fclose(file) != 0) {
    fprintf(stderr, "bench_dot: cannot write %s\n", path);
    exit(EXIT_FAILURE);
  }
}

static double seconds(const char *command) {
  double start = now();
  return system(command) == 0 ? now() - start : -1;
}

/* The program fsched is beside the directory of this one. */
int main(int argc, char **argv) {
  fsched_context *ctx;
  fs_text t;
  char dir[] = "/tmp/fsched-bench-XXXXXX", path[64], command[1024];
  const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
  int own = slash == NULL ? 0 : (int)(slash - argv[0]);
  if (slash == NULL || mkdtemp(dir) == NULL || fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    return EXIT_FAILURE;
  }
  bool dot = system("dot -V >/dev/null 2>&1") == 0;
  fs_text_init(&t, ctx);
  (void)snprintf(path, sizeof path, "%s/g.yaml", dir);
  printf("%6s  %-24s %12s %12s\n", "ops", "edges", "fsched dot", "dot -Tsvg");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    write_graph(&t, &cases[i], path);
    (void)snprintf(command, sizeof command, "'%.*s/../fsched' dot %s -o %s/g.dot", own, argv[0],
                   path, dir);
    printf("%6u  %-24s %10.2f s", cases[i].n, cases[i].what, seconds(command));
    (void)snprintf(command, sizeof command, "timeout 120 dot -Tsvg %s/g.dot -o %s/g.svg", dir, dir);
    if (dot) {
      printf(" %10.2f s\n", seconds(command));
    } else {
      printf(" %12s\n", "no dot");
    }
    (void)fflush(stdout);
  }
  (void)snprintf(command, sizeof command, "rm -r %s", dir);
  fs_text_drop(&t);
  fsched_context_destroy(ctx);
  return system(command) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
