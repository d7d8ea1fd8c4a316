/* SPDX-License-Identifier: Apache-2.0 */
/* Three shapes of DAGs, compiled, and as OpenMP tasks; and a table of what they cost. */
#include "dags.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fsched/replay.h"

void bench_fail(const char *what) {
  fprintf(stderr, "bench: %s\n", what);
  exit(EXIT_FAILURE);
}

void bench_need(fsched_context *ctx, fsched_status status) {
  if (status != FSCHED_OK) {
    bench_fail(fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "a call failed");
  }
}

double bench_now_ns(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* 0 stands for nothing measured yet. */
double bench_quicker(double best, double took) { return best == 0 || took < best ? took : best; }

/* ---- graphs: op i comes after before[i][0..1] (UINT32_MAX: none) */

bench_dag bench_dag_make(const char *name, uint32_t n_ops, uint32_t n_queues, int alternate) {
  bench_dag s = {name, n_ops, n_queues, alternate, NULL};
  s.before = malloc(n_ops * sizeof *s.before);
  if (s.before == NULL) {
    bench_fail("out of memory");
  }
  for (uint32_t i = 0; i < n_ops; i++) {
    s.before[i][0] = s.before[i][1] = UINT32_MAX;
  }
  return s;
}

bench_dag bench_dag_chain(const char *name, uint32_t n_ops, uint32_t n_queues) {
  bench_dag s = bench_dag_make(name, n_ops, n_queues, 1);
  for (uint32_t i = 1; i < n_ops; i++) {
    s.before[i][0] = i - 1;
  }
  return s;
}

/* Makes layers of BENCH_WIDTH ops with two inputs each from the layer before. */
bench_dag bench_dag_layers(uint32_t n_queues) {
  bench_dag s = bench_dag_make("layered, 2 inputs, width 64", BENCH_DAG_OPS, n_queues, 0);
  for (uint32_t i = BENCH_WIDTH; i < BENCH_DAG_OPS; i++) {
    uint32_t layer = i - i % BENCH_WIDTH - BENCH_WIDTH;
    s.before[i][0] = layer + i % BENCH_WIDTH;
    s.before[i][1] = layer + (i * 7 + 3) % BENCH_WIDTH;
    if (s.before[i][1] == s.before[i][0]) {
      s.before[i][1] = layer + (i + 1) % BENCH_WIDTH;
    }
  }
  return s;
}

static void add_op(fsched_context *ctx, fsched_builder *b, const bench_dag *s, uint32_t i) {
  char name[32], queue[32];
  (void)snprintf(name, sizeof name, "op%u", i);
  (void)snprintf(queue, sizeof queue, "q%u", i % s->n_queues);
  fsched_op_desc op = {.size = sizeof op, .name = name, .time = 1};
  op.on = s->alternate ? queue : NULL;
  uint32_t id;
  bench_need(ctx, fsched_builder_op(b, &op, &id));
  for (uint32_t k = 0; k < 2; k++) {
    if (s->before[i][k] != UINT32_MAX) {
      bench_need(ctx, fsched_builder_after(b, id, s->before[i][k]));
    }
  }
}

/* `barriers` is 0, or as in the options. */
fsched_program *bench_dag_compile(fsched_context *ctx, const bench_dag *s, uint32_t barriers) {
  fsched_compile_options o = {.size = sizeof o, .barriers = barriers};
  fsched_builder *b;
  fsched_graph *graph;
  fsched_program *program;
  bench_need(ctx, fsched_builder_create(ctx, s->name, &b));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    char name[32];
    uint32_t id;
    (void)snprintf(name, sizeof name, "q%u", q);
    fsched_queue_desc desc = {.size = sizeof desc, .name = name};
    bench_need(ctx, fsched_builder_queue(b, &desc, &id));
  }
  for (uint32_t i = 0; i < s->n_ops; i++) {
    add_op(ctx, b, s, i);
  }
  bench_need(ctx, fsched_builder_finish(b, &graph));
  bench_need(ctx, fsched_compile(ctx, graph, &o, NULL, &program));
  fsched_graph_destroy(graph);
  fsched_builder_destroy(b);
  return program;
}

/* Returns the ns per op. */
double bench_dag_replay(fsched_context *ctx, const fsched_program *program, uint32_t n_ops) {
  fsched_replay_options o = {.size = sizeof o, .repeat = BENCH_REPEAT, .empty_kernels = 1};
  fsched_replay_result r = {.size = sizeof r};
  bench_need(ctx, fsched_replay_cpu(ctx, program, &o, &r));
  return (double)r.minimum_ns / n_ops;
}

/* ---- the same DAG as OpenMP tasks */

static void omp_tasks(const bench_dag *s, char *token) {
  (void)token; /* only its addresses are used */
  for (uint32_t i = 0; i < s->n_ops; i++) {
    uint32_t a = s->before[i][0], b = s->before[i][1];
    b = b == UINT32_MAX ? a : b;
    if (a == UINT32_MAX) {
#pragma omp task depend(out : token[i])
      { atomic_signal_fence(memory_order_seq_cst); }
    } else {
#pragma omp task depend(in : token[a], token[b]) depend(out : token[i])
      { atomic_signal_fence(memory_order_seq_cst); }
    }
  }
}

/* Returns the ns per op; making the tasks is included, as it is part of every use. */
double bench_dag_openmp(const bench_dag *s) {
  char *token = calloc(s->n_ops, 1);
  if (token == NULL) {
    bench_fail("out of memory");
  }
  double best = 0;
#pragma omp parallel
#pragma omp single
  for (int k = 0; k < BENCH_REPEAT; k++) {
    double begin = bench_now_ns();
    omp_tasks(s, token);
#pragma omp taskwait
    best = bench_quicker(best, bench_now_ns() - begin);
  }
  free(token);
  return best / s->n_ops;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

double bench_row(const char *name, bench_series *s) {
  qsort(s->ns, BENCH_RUNS, sizeof s->ns[0], ascending);
  printf("%-44s %10.1f %10.1f\n", name, s->ns[0], s->ns[BENCH_RUNS / 2]);
  return s->ns[0];
}
