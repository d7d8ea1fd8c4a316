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
 * Each line is measured BENCH_RUNS times, the contenders by turns, so that a disturbed moment meets
 * all of them; minimum and median are shown.  A run is the quickest of BENCH_REPEAT invocations. */
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dags.h"
#include "fsched/replay.h"

enum { CHAIN_OPS = 100000, HOPS = 20000 };

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
  for (uint64_t i = 1; i <= 1 + BENCH_REPEAT * (HOPS / 2); i++) {
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
    bench_fail("no thread");
  }
  /* Both threads are there after this one. */
  atomic_store_explicit(&b.mine, 1, memory_order_release);
  spin_until(&b.other, 1);
  double best = 0;
  for (uint64_t k = 0, i = 2; k < BENCH_REPEAT; k++) {
    double begin = bench_now_ns();
    for (uint64_t end = i + HOPS / 2; i < end; i++) {
      atomic_store_explicit(&b.mine, i, memory_order_release);
      spin_until(&b.other, i);
    }
    best = bench_quicker(best, bench_now_ns() - begin);
  }
  (void)pthread_join(thread, NULL);
  return best / HOPS;
}

static void bench_chain(fsched_context *ctx) {
  bench_dag s = bench_dag_chain("one queue", CHAIN_OPS, 1);
  fsched_program *p = bench_dag_compile(ctx, &s, 0);
  bench_series ours;
  for (int run = 0; run < BENCH_RUNS; run++) {
    ours.ns[run] = bench_dag_replay(ctx, p, s.n_ops);
  }
  (void)bench_row("command on one queue", &ours);
  fsched_program_destroy(p);
  free(s.before);
}

static void bench_waits(fsched_context *ctx) {
  bench_dag s = bench_dag_chain("ping-pong", HOPS, 2);
  fsched_program *p = bench_dag_compile(ctx, &s, 0);
  bench_series ours, bare_pair;
  for (int run = 0; run < BENCH_RUNS; run++) {
    bare_pair.ns[run] = hand_off();
    ours.ns[run] = bench_dag_replay(ctx, p, s.n_ops);
  }
  double b = bench_row("bare hand-off between two threads", &bare_pair);
  double o = bench_row("wait for another queue, its command included", &ours);
  printf("%-44s %10.2f\n", "  ratio", o / b);
  fsched_program_destroy(p);
  free(s.before);
}

static void compare_dag(fsched_context *ctx, bench_dag s) {
  fsched_program *p = bench_dag_compile(ctx, &s, 0);
  bench_series ours, tasks;
  char name[64];
  for (int run = 0; run < BENCH_RUNS; run++) {
    tasks.ns[run] = bench_dag_openmp(&s);
    ours.ns[run] = bench_dag_replay(ctx, p, s.n_ops);
  }
  (void)snprintf(name, sizeof name, "%s: OpenMP tasks", s.name);
  double t = bench_row(name, &tasks);
  (void)snprintf(name, sizeof name, "%s: replay", s.name);
  double o = bench_row(name, &ours);
  printf("%-44s %10.2f\n", "  OpenMP / replay", t / o);
  fsched_program_destroy(p);
  free(s.before);
}

/* Measures the same graph with timelines, and with as many barriers as need no new order. */
static void bench_barriers(fsched_context *ctx, bench_dag s) {
  fsched_program *p = bench_dag_compile(ctx, &s, 0),
                 *q = bench_dag_compile(ctx, &s, FSCHED_BARRIERS_AUTO);
  bench_series timelines, barriers;
  char name[64];
  for (int run = 0; run < BENCH_RUNS; run++) {
    timelines.ns[run] = bench_dag_replay(ctx, p, s.n_ops);
    barriers.ns[run] = bench_dag_replay(ctx, q, s.n_ops);
  }
  (void)snprintf(name, sizeof name, "%s: timelines", s.name);
  double t = bench_row(name, &timelines);
  (void)snprintf(name, sizeof name, "%s: barriers", s.name);
  double b = bench_row(name, &barriers);
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
  bench_need(ctx, fsched_fence_create(ctx, &(fsched_fence_point){timeline, value}, 1, &c.fence));
  return c;
}

static void invoke(fsched_context *ctx, fsched_entry *entry, fsched_fence *signal) {
  fsched_invocation i = {.size = sizeof i, .signal = signal};
  bench_need(ctx, fsched_invoke(ctx, entry, &i));
}

/* Returns the ns per invocation. */
static double queued(fsched_context *ctx, fsched_entry *entry) {
  enum { AT_ONCE = 1000 };
  fsched_semaphore *timeline;
  bench_need(ctx, fsched_semaphore_create(NULL, &timeline));
  double best = 0;
  for (uint64_t k = 1; k <= BENCH_REPEAT; k++) {
    counter c = make_counter(ctx, timeline, k);
    double begin = bench_now_ns();
    for (int i = 0; i < AT_ONCE; i++) {
      invoke(ctx, entry, i + 1 == AT_ONCE ? c.fence : NULL);
    }
    if (fsched_fence_wait(c.fence, FSCHED_FOREVER) != FSCHED_CAUSE_NONE) {
      bench_fail("an invocation failed");
    }
    best = bench_quicker(best, bench_now_ns() - begin);
    fsched_fence_release(c.fence);
  }
  fsched_semaphore_release(timeline);
  return best / AT_ONCE;
}

static double one_at_a_time(fsched_context *ctx, fsched_entry *entry) {
  fsched_semaphore *timeline;
  bench_need(ctx, fsched_semaphore_create(NULL, &timeline));
  double best = 0;
  for (uint64_t k = 1; k <= 1000; k++) {
    counter c = make_counter(ctx, timeline, k);
    double begin = bench_now_ns();
    invoke(ctx, entry, c.fence);
    if (fsched_fence_wait(c.fence, FSCHED_FOREVER) != FSCHED_CAUSE_NONE) {
      bench_fail("an invocation failed");
    }
    best = bench_quicker(best, bench_now_ns() - begin);
    fsched_fence_release(c.fence);
  }
  fsched_semaphore_release(timeline);
  return best;
}

static void bench_invocations(fsched_context *ctx) {
  bench_dag s = bench_dag_chain("one op", 1, 1);
  fsched_program *p = bench_dag_compile(ctx, &s, 0);
  fsched_device *device;
  fsched_exec *exec;
  fsched_entry *entry;
  bench_need(ctx, fsched_device_create(ctx, NULL, &device));
  fsched_exec_options o = {.size = sizeof o, .device = device, .empty = 1};
  bench_need(ctx, fsched_exec_create(ctx, &o, &exec));
  bench_need(ctx, fsched_exec_load(ctx, exec, p, &entry));
  bench_series many, single;
  for (int run = 0; run < BENCH_RUNS; run++) {
    many.ns[run] = queued(ctx, entry);
    single.ns[run] = one_at_a_time(ctx, entry);
  }
  (void)bench_row("invocation, 1,000 asked for at once", &many);
  (void)bench_row("invocation, asked for and waited for", &single);
  fsched_exec_destroy(exec);
  fsched_device_release(device);
  fsched_program_destroy(p);
  free(s.before);
}

static void bench_hand_overs(fsched_context *ctx, uint32_t queues) {
  bench_waits(ctx);
  bench_barriers(ctx, bench_dag_chain("ping-pong", HOPS, 2));
  bench_barriers(ctx, bench_dag_layers(queues));
}

int main(int argc, char **argv) {
  uint32_t queues = (uint32_t)omp_get_max_threads();
  fsched_context *ctx;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    bench_fail("no context");
  }
  printf("replay with empty kernels, ns per command, %u queues for the DAGs of %d ops\n", queues,
         BENCH_DAG_OPS);
  printf("%-44s %10s %10s\n", "", "minimum", "median");
  if (argc > 1 && strcmp(argv[1], "barriers") == 0) {
    bench_hand_overs(ctx, queues);
    fsched_context_destroy(ctx);
    return EXIT_SUCCESS;
  }
  bench_chain(ctx);
  bench_invocations(ctx);
  compare_dag(ctx, bench_dag_chain("chain", BENCH_DAG_OPS, 1));
  compare_dag(ctx, bench_dag_make("independent", BENCH_DAG_OPS, queues, 0));
  compare_dag(ctx, bench_dag_layers(queues));
  bench_hand_overs(ctx, queues);
  omp_set_num_threads(1);
  printf("OpenMP on one thread, replay on one queue\n");
  compare_dag(ctx, bench_dag_chain("chain", BENCH_DAG_OPS, 1));
  compare_dag(ctx, bench_dag_make("independent", BENCH_DAG_OPS, 1, 0));
  compare_dag(ctx, bench_dag_layers(1));
  printf("OpenMP makes its tasks in every invocation; compiling, done once, is not counted here\n");
  fsched_context_destroy(ctx);
  return EXIT_SUCCESS;
}
