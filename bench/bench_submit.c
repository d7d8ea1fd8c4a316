/* SPDX-License-Identifier: Apache-2.0 */
/* What capture costs: submits, and the frozen graph of them.
 *
 *   bench_submit [TASKS]
 *
 * TASKS (1,000,000) tasks with four args each: two reads of whole buffers, a tile that is changed
 * in place, and a whole `out`, over 1,024 buffers of 4 KiB; the same with the names of the tasks
 * given.  CPU time of the process, user and system; the least of three. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fsched/submit.h"

enum { BUFFERS = 1024, TILES = 64, RUNS = 3, NS = 1000000000 };

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / NS;
}

static void need(fsched_status status) {
  if (status != FSCHED_OK) {
    fprintf(stderr, "bench_submit: a call failed\n");
    exit(EXIT_FAILURE);
  }
}

static fsched_submitter *begin(fsched_context *ctx, uint32_t *callable) {
  fsched_builder *b;
  fsched_submitter *s;
  fsched_submit_callable_desc k = {.size = sizeof k, .name = "task"};
  const uint64_t shape = 4096;
  fsched_submit_alloc_desc d = {.size = sizeof d, .element = 1, .n_dims = 1, .shape = &shape};
  need(fsched_builder_create(ctx, "bench", &b));
  need(fsched_submit_create(b, &s));
  need(fsched_submit_callable(s, &k, callable));
  for (uint32_t i = 0; i < BUFFERS; i++) {
    fsched_submit_arg out = {.size = sizeof out, .tag = FSCHED_OUT};
    fsched_submit_task_desc t = {
        .size = sizeof t, .callable = *callable, .args = &out, .n_args = 1};
    need(fsched_submit_alloc(s, &d, &out.buffer));
    need(fsched_submit_task(s, &t, NULL));
  }
  return s;
}

static void submit(fsched_submitter *s, uint32_t callable, uint32_t i, int named) {
  char name[24];
  uint32_t to = i % BUFFERS, tile = i * 5 % TILES;
  fsched_submit_view v = {.size = sizeof v, .offset = tile * 64, .length = 64};
  fsched_submit_arg arg[] = {
      {.size = sizeof *arg, .tag = FSCHED_IN, .buffer = (to + BUFFERS - 1) % BUFFERS},
      {.size = sizeof *arg, .tag = FSCHED_IN, .buffer = (to + 511) % BUFFERS},
      {.size = sizeof *arg, .tag = FSCHED_INOUT, .buffer = (to + 7) % BUFFERS, .view = &v},
      {.size = sizeof *arg, .tag = FSCHED_OUT, .buffer = to}};
  fsched_submit_task_desc t = {.size = sizeof t, .callable = callable, .args = arg, .n_args = 4};
  if (named) {
    (void)snprintf(name, sizeof name, "layer%u.%u", i / 100, i % 100);
    t.name = name;
  }
  need(fsched_submit_task(s, &t, NULL));
}

int main(int argc, char **argv) {
  uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
  printf("%u tasks of 4 args\n%-24s %10s %10s %10s %12s\n", n, "seconds of CPU", "submits",
         "finish", "both", "edges");
  for (int named = 0; named < 2; named++) {
    double calls = 1e9, whole = 1e9;
    uint32_t edges = 0;
    for (int run = 0; run < RUNS; run++) {
      fsched_context *ctx;
      fsched_graph *g;
      uint32_t callable;
      need(fsched_context_create(NULL, &ctx));
      fsched_submitter *s = begin(ctx, &callable);
      double start = now();
      for (uint32_t i = 0; i < n; i++) {
        submit(s, callable, i, named);
      }
      double submitted = now();
      need(fsched_submit_finish(s, &g));
      double end = now();
      calls = submitted - start < calls ? submitted - start : calls;
      whole = end - start < whole ? end - start : whole;
      edges = fsched_graph_edges(g);
      fsched_submit_destroy(s);
      fsched_graph_destroy(g);
      fsched_context_destroy(ctx);
    }
    printf("%-24s %10.3f %10.3f %10.3f %12u\n", named ? "with names of their own" : "numbered",
           calls, whole - calls, whole, edges);
  }
  return EXIT_SUCCESS;
}
