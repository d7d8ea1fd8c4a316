/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands of a replay cost without kernels: on one queue, per wait for another queue
 * (beside a bare hand-off between two threads), per invocation, and for whole DAGs beside OpenMP
 * tasks; and for DAGs with barriers beside the same ones with timelines. bench_taskflow measures
 * the same DAGs where Taskflow is installed.
 *
 *   bench_replay [barriers]
 *
 * With the word it measures hand-overs between queues alone: waits and barriers.
 *
 * Each line is measured RUNS times, the contenders by turns, so that a disturbed moment meets all
 * of them; minimum and median are shown.  A run is the quickest of REPEAT invocations. */
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fsched/compile.h"
#include "fsched/replay.h"

enum { RUNS = 15, REPEAT = 10, WIDTH = 64, DAG_OPS = 4096, CHAIN_OPS = 100000, HOPS = 20000 };

typedef struct bench_replay_series {
  double ns[RUNS]; /* per item */
} bench_replay_series;

static void fail(const char *what) {
  fprintf(stderr, "bench_replay: %s\n", what);
  exit(EXIT_FAILURE);
}

static void need(fsched_context *ctx, fsched_status status) {
  if (status != FSCHED_OK) {
    fail(fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "a call failed");
  }
}

static double now_ns(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* 0 stands for nothing measured yet. */
static double quicker(double best, double took) { return best == 0 || took < best ? took : best; }

/* ---- graphs: op i comes after before[i][0..1] (UINT32_MAX: none) */

typedef struct bench_replay_shape {
  const char *name;
  uint32_t n_ops, n_queues;
  int alternate; /* op i on queue i % n_queues, else on any */
  uint32_t (*before)[2];
} bench_replay_shape;

static bench_replay_shape make_shape(const char *name, uint32_t n_ops, uint32_t n_queues,
                                     int alternate) {
  bench_replay_shape s = {name, n_ops, n_queues, alternate, NULL};
  s.before = malloc(n_ops * sizeof *s.before);
  if (s.before == NULL) {
    fail("out of memory");
  }
  for (uint32_t i = 0; i < n_ops; i++) {
    s.before[i][0] = s.before[i][1] = UINT32_MAX;
  }
  return s;
}

static bench_replay_shape make_chain(const char *name, uint32_t n_ops, uint32_t n_queues) {
  bench_replay_shape s = make_shape(name, n_ops, n_queues, 1);
  for (uint32_t i = 1; i < n_ops; i++) {
    s.before[i][0] = i - 1;
  }
  return s;
}

/* Makes layers of WIDTH ops with two inputs each from the layer before. */
static bench_replay_shape make_layers(uint32_t n_queues) {
  bench_replay_shape s = make_shape("layered, 2 inputs, width 64", DAG_OPS, n_queues, 0);
  for (uint32_t i = WIDTH; i < DAG_OPS; i++) {
    uint32_t layer = i - i % WIDTH - WIDTH;
    s.before[i][0] = layer + i % WIDTH;
    s.before[i][1] = layer + (i * 7 + 3) % WIDTH;
    if (s.before[i][1] == s.before[i][0]) {
      s.before[i][1] = layer + (i + 1) % WIDTH;
    }
  }
  return s;
}

static void add_op(fsched_context *ctx, fsched_builder *b, const bench_replay_shape *s,
                   uint32_t i) {
  char name[32], queue[32];
  (void)snprintf(name, sizeof name, "op%u", i);
  (void)snprintf(queue, sizeof queue, "q%u", i % s->n_queues);
  fsched_op_desc op = {.size = sizeof op, .name = name, .time = 1};
  op.on = s->alternate ? queue : NULL;
  uint32_t id;
  need(ctx, fsched_builder_op(b, &op, &id));
  for (uint32_t k = 0; k < 2; k++) {
    if (s->before[i][k] != UINT32_MAX) {
      need(ctx, fsched_builder_after(b, id, s->before[i][k]));
    }
  }
}

/* `barriers` is 0, or as in the options. */
static fsched_program *compile_for(fsched_context *ctx, const bench_replay_shape *s,
                                   uint32_t barriers) {
  fsched_compile_options o = {.size = sizeof o, .barriers = barriers};
  fsched_builder *b;
  fsched_graph *graph;
  fsched_program *program;
  need(ctx, fsched_builder_create(ctx, s->name, &b));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    char name[32];
    uint32_t id;
    (void)snprintf(name, sizeof name, "q%u", q);
    fsched_queue_desc desc = {.size = sizeof desc, .name = name};
    need(ctx, fsched_builder_queue(b, &desc, &id));
  }
  for (uint32_t i = 0; i < s->n_ops; i++) {
    add_op(ctx, b, s, i);
  }
  need(ctx, fsched_builder_finish(b, &graph));
  need(ctx, fsched_compile(ctx, graph, &o, NULL, &program));
  fsched_graph_destroy(graph);
  fsched_builder_destroy(b);
  return program;
}

static fsched_program *compile(fsched_context *ctx, const bench_replay_shape *s) {
  return compile_for(ctx, s, 0);
}

/* Returns the ns per op. */
static double replay(fsched_context *ctx, const fsched_program *program, uint32_t n_ops) {
  fsched_replay_options o = {.size = sizeof o, .repeat = REPEAT, .empty_kernels = 1};
  fsched_replay_result r = {.size = sizeof r};
  need(ctx, fsched_replay_cpu(ctx, program, &o, &r));
  return (double)r.minimum_ns / n_ops;
}

/* ---- a bare hand-off: two threads, a counter each on a line of its own */

typedef struct bare {
  _Alignas(128) atomic_uint_fast64_t mine;
  _Alignas(128) atomic_uint_fast64_t other;
} bare;

static void spin_until(const atomic_uint_fast64_t *counter, uint64_t value) {
  while (atomic_load_explicit(counter, memory_order_acquire) < value) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

static void *bare_other(void *arg) {
  bare *b = arg;
  for (uint64_t i = 1; i <= 1 + REPEAT * (HOPS / 2); i++) {
    spin_until(&b->mine, i);
    atomic_store_explicit(&b->other, i, memory_order_release);
  }
  return NULL;
}

/* Returns the ns per hand-off. */
static double hand_off(void) {
  bare b;
  pthread_t thread;
  atomic_init(&b.mine, 0);
  atomic_init(&b.other, 0);
  if (pthread_create(&thread, NULL, bare_other, &b) != 0) {
    fail("no thread");
  }
  /* Both threads are there after this one. */
  atomic_store_explicit(&b.mine, 1, memory_order_release);
  spin_until(&b.other, 1);
  double best = 0;
  for (uint64_t k = 0, i = 2; k < REPEAT; k++) {
    double begin = now_ns();
    for (uint64_t end = i + HOPS / 2; i < end; i++) {
      atomic_store_explicit(&b.mine, i, memory_order_release);
      spin_until(&b.other, i);
    }
    best = quicker(best, now_ns() - begin);
  }
  (void)pthread_join(thread, NULL);
  return best / HOPS;
}

/* ---- the same DAG as OpenMP tasks */

static void omp_tasks(const bench_replay_shape *s, char *token) {
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
static double openmp(const bench_replay_shape *s) {
  char *token = calloc(s->n_ops, 1);
  if (token == NULL) {
    fail("out of memory");
  }
  double best = 0;
#pragma omp parallel
#pragma omp single
  for (int k = 0; k < REPEAT; k++) {
    double begin = now_ns();
    omp_tasks(s, token);
#pragma omp taskwait
    best = quicker(best, now_ns() - begin);
  }
  free(token);
  return best / s->n_ops;
}

/* ---- the table */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double row(const char *name, bench_replay_series *s) {
  qsort(s->ns, RUNS, sizeof s->ns[0], ascending);
  printf("%-44s %10.1f %10.1f\n", name, s->ns[0], s->ns[RUNS / 2]);
  return s->ns[0];
}

static void bench_chain(fsched_context *ctx) {
  bench_replay_shape s = make_chain("one queue", CHAIN_OPS, 1);
  fsched_program *p = compile(ctx, &s);
  bench_replay_series ours;
  for (int run = 0; run < RUNS; run++) {
    ours.ns[run] = replay(ctx, p, s.n_ops);
  }
  (void)row("command on one queue", &ours);
  fsched_program_destroy(p);
  free(s.before);
}

static void bench_waits(fsched_context *ctx) {
  bench_replay_shape s = make_chain("ping-pong", HOPS, 2);
  fsched_program *p = compile(ctx, &s);
  bench_replay_series ours, bare_pair;
  for (int run = 0; run < RUNS; run++) {
    bare_pair.ns[run] = hand_off();
    ours.ns[run] = replay(ctx, p, s.n_ops);
  }
  double b = row("bare hand-off between two threads", &bare_pair);
  double o = row("wait for another queue, its command included", &ours);
  printf("%-44s %10.2f\n", "  ratio", o / b);
  fsched_program_destroy(p);
  free(s.before);
}

static void bench_dag(fsched_context *ctx, bench_replay_shape s) {
  fsched_program *p = compile(ctx, &s);
  bench_replay_series ours, tasks;
  char name[64];
  for (int run = 0; run < RUNS; run++) {
    tasks.ns[run] = openmp(&s);
    ours.ns[run] = replay(ctx, p, s.n_ops);
  }
  (void)snprintf(name, sizeof name, "%s: OpenMP tasks", s.name);
  double t = row(name, &tasks);
  (void)snprintf(name, sizeof name, "%s: replay", s.name);
  double o = row(name, &ours);
  printf("%-44s %10.2f\n", "  OpenMP / replay", t / o);
  fsched_program_destroy(p);
  free(s.before);
}

/* Measures the same graph with timelines, and with as many barriers as need no new order. */
static void bench_barriers(fsched_context *ctx, bench_replay_shape s) {
  fsched_program *p = compile(ctx, &s), *q = compile_for(ctx, &s, FSCHED_BARRIERS_AUTO);
  bench_replay_series timelines, barriers;
  char name[64];
  for (int run = 0; run < RUNS; run++) {
    timelines.ns[run] = replay(ctx, p, s.n_ops);
    barriers.ns[run] = replay(ctx, q, s.n_ops);
  }
  (void)snprintf(name, sizeof name, "%s: timelines", s.name);
  double t = row(name, &timelines);
  (void)snprintf(name, sizeof name, "%s: barriers", s.name);
  double b = row(name, &barriers);
  printf("%-44s %10.2f\n", "  barriers / timelines", b / t);
  fsched_program_destroy(p);
  fsched_program_destroy(q);
  free(s.before);
}

/* ---- invocations of a program of one op, many queued and one at a time */

typedef struct counter {
  fsched_semaphore *timeline;
  fsched_fence *fence;
} counter;

static counter make_counter(fsched_context *ctx, fsched_semaphore *timeline, uint64_t value) {
  counter c = {timeline, NULL};
  need(ctx, fsched_fence_create(ctx, &(fsched_fence_point){timeline, value}, 1, &c.fence));
  return c;
}

static void invoke(fsched_context *ctx, fsched_entry *entry, fsched_fence *signal) {
  fsched_invocation i = {.size = sizeof i, .signal = signal};
  need(ctx, fsched_invoke(ctx, entry, &i));
}

/* Returns the ns per invocation. */
static double queued(fsched_context *ctx, fsched_entry *entry) {
  enum { AT_ONCE = 1000 };
  fsched_semaphore *timeline;
  need(ctx, fsched_semaphore_create(NULL, &timeline));
  double best = 0;
  for (uint64_t k = 1; k <= REPEAT; k++) {
    counter c = make_counter(ctx, timeline, k);
    double begin = now_ns();
    for (int i = 0; i < AT_ONCE; i++) {
      invoke(ctx, entry, i + 1 == AT_ONCE ? c.fence : NULL);
    }
    if (fsched_fence_wait(c.fence, FSCHED_FOREVER) != FSCHED_CAUSE_NONE) {
      fail("an invocation failed");
    }
    best = quicker(best, now_ns() - begin);
    fsched_fence_release(c.fence);
  }
  fsched_semaphore_release(timeline);
  return best / AT_ONCE;
}

static double one_at_a_time(fsched_context *ctx, fsched_entry *entry) {
  fsched_semaphore *timeline;
  need(ctx, fsched_semaphore_create(NULL, &timeline));
  double best = 0;
  for (uint64_t k = 1; k <= 1000; k++) {
    counter c = make_counter(ctx, timeline, k);
    double begin = now_ns();
    invoke(ctx, entry, c.fence);
    if (fsched_fence_wait(c.fence, FSCHED_FOREVER) != FSCHED_CAUSE_NONE) {
      fail("an invocation failed");
    }
    best = quicker(best, now_ns() - begin);
    fsched_fence_release(c.fence);
  }
  fsched_semaphore_release(timeline);
  return best;
}

static void bench_invocations(fsched_context *ctx) {
  bench_replay_shape s = make_chain("one op", 1, 1);
  fsched_program *p = compile(ctx, &s);
  fsched_device *device;
  fsched_exec *exec;
  fsched_entry *entry;
  need(ctx, fsched_device_create(ctx, NULL, &device));
  fsched_exec_options o = {.size = sizeof o, .device = device, .empty = 1};
  need(ctx, fsched_exec_create(ctx, &o, &exec));
  need(ctx, fsched_exec_load(ctx, exec, p, &entry));
  bench_replay_series many, single;
  for (int run = 0; run < RUNS; run++) {
    many.ns[run] = queued(ctx, entry);
    single.ns[run] = one_at_a_time(ctx, entry);
  }
  (void)row("invocation, 1,000 asked for at once", &many);
  (void)row("invocation, asked for and waited for", &single);
  fsched_exec_destroy(exec);
  fsched_device_release(device);
  fsched_program_destroy(p);
  free(s.before);
}

static void bench_hand_overs(fsched_context *ctx, uint32_t queues) {
  bench_waits(ctx);
  bench_barriers(ctx, make_chain("ping-pong", HOPS, 2));
  bench_barriers(ctx, make_layers(queues));
}

int main(int argc, char **argv) {
  uint32_t queues = (uint32_t)omp_get_max_threads();
  fsched_context *ctx;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    fail("no context");
  }
  printf("replay with empty kernels, ns per command, %u queues for the DAGs of %d ops\n", queues,
         DAG_OPS);
  printf("%-44s %10s %10s\n", "", "minimum", "median");
  if (argc > 1 && strcmp(argv[1], "barriers") == 0) {
    bench_hand_overs(ctx, queues);
    fsched_context_destroy(ctx);
    return EXIT_SUCCESS;
  }
  bench_chain(ctx);
  bench_invocations(ctx);
  bench_dag(ctx, make_chain("chain", DAG_OPS, 1));
  bench_dag(ctx, make_shape("independent", DAG_OPS, queues, 0));
  bench_dag(ctx, make_layers(queues));
  bench_hand_overs(ctx, queues);
  omp_set_num_threads(1);
  printf("OpenMP on one thread, replay on one queue\n");
  bench_dag(ctx, make_chain("chain", DAG_OPS, 1));
  bench_dag(ctx, make_shape("independent", DAG_OPS, 1, 0));
  bench_dag(ctx, make_layers(1));
  printf("OpenMP makes its tasks in every invocation; compiling, done once, is not counted here\n");
  fsched_context_destroy(ctx);
  return EXIT_SUCCESS;
}
