/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmarks of run times share: DAGs of ops, as programs and as OpenMP tasks, and lines
 * of tables.  Functions end the process when a call fails.  Times are nanoseconds. */
#ifndef BENCH_DAGS_H
#define BENCH_DAGS_H

#include <stdint.h>

#include "fsched/compile.h"

enum { BENCH_RUNS = 15, BENCH_REPEAT = 10, BENCH_WIDTH = 64, BENCH_DAG_OPS = 4096 };

/* What was measured BENCH_RUNS times, per item. */
typedef struct bench_series {
  double ns[BENCH_RUNS];
} bench_series;

/* Op i comes after before[i][0..1] (UINT32_MAX: none). */
typedef struct bench_dag {
  const char *name;
  uint32_t n_ops, n_queues;
  int alternate; /* op i on queue i % n_queues, else on any */
  uint32_t (*before)[2];
} bench_dag;

void bench_fail(const char *what);
void bench_need(fsched_context *ctx, fsched_status status);
double bench_now_ns(void);
/* 0 stands for nothing measured yet. */
double bench_quicker(double best, double took);

/* Without edges.  The caller frees `before`. */
bench_dag bench_dag_make(const char *name, uint32_t n_ops, uint32_t n_queues, int alternate);
bench_dag bench_dag_chain(const char *name, uint32_t n_ops, uint32_t n_queues);
/* Layers of BENCH_WIDTH ops with two inputs each from the layer before. */
bench_dag bench_dag_layers(uint32_t n_queues);
/* `barriers` is 0, or as in the options. */
fsched_program *bench_dag_compile(fsched_context *ctx, const bench_dag *s, uint32_t barriers);
/* Per op, with empty kernels: the quickest of BENCH_REPEAT. */
double bench_dag_replay(fsched_context *ctx, const fsched_program *program, uint32_t n_ops);
/* Per op; making the tasks is included, as it is part of every use. */
double bench_dag_openmp(const bench_dag *s);

/* Prints minimum and median, and returns the minimum; the series is sorted. */
double bench_row(const char *name, bench_series *s);

#endif
