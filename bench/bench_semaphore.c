/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores: nanoseconds per operation, the least and the median of many runs.
 *
 *   signal            with a frontier of two entries, nobody waiting
 *   signal, 4096      the same while 4,096 timepoints wait for values far away
 *   await and signal  a timepoint with its frontier is registered and let go
 *   satisfied wait    wait_many for a value that is reached
 *   learn             the frontier of a value in the history
 *   hand-off          between two threads that sleep in wait_many, one way
 *   look at 32768     a system-wide handle that polls for as many signals of another one, each
 *
 * Then a stress with every callback counted, of 10 million operations, or --stress N (0: none). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "frontier/semaphore/semaphore_stress.h"
#include "fsched/semaphore.h"

enum { RUNS = 41, ROUNDS = 20000, HANDS = 2000, UNRELATED = 4096 };

typedef struct bench_semaphore_bench {
  fsched_semaphore *s, *back;
  uint64_t value;
  fsched_timepoint *unrelated;
} bench_semaphore_bench;

static double now_ns(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void need(bool good) {
  if (!good) {
    (void)fprintf(stderr, "bench_semaphore: a call failed\n");
    exit(EXIT_FAILURE);
  }
}

static void nothing(fsched_timepoint *t, fsched_cause cause) {
  (void)t;
  (void)cause;
}

static void raise_once(bench_semaphore_bench *b) {
  fsched_frontier_entry e[2] = {{1, ++b->value}, {2, b->value}};
  fsched_frontier f = {.entry = e, .n = 2, .capacity = 2};
  need(fsched_semaphore_signal_untainted(b->s, b->value, &f) == FSCHED_OK);
}

static void run_signal(bench_semaphore_bench *b) {
  for (uint32_t i = 0; i < ROUNDS; i++) {
    raise_once(b);
  }
}

static void run_await(bench_semaphore_bench *b) {
  fsched_frontier_entry e[4];
  for (uint32_t i = 0; i < ROUNDS; i++) {
    fsched_frontier known = {.entry = e, .capacity = 4};
    fsched_timepoint t = {.callback = nothing, .known = &known};
    need(fsched_semaphore_await(b->s, b->value + 1, &t, NULL) == FSCHED_OK);
    raise_once(b);
  }
}

static void run_satisfied(bench_semaphore_bench *b) {
  fsched_wait_point p = {.semaphore = b->s, .value = b->value};
  fsched_wait_result r;
  for (uint32_t i = 0; i < ROUNDS; i++) {
    need(fsched_semaphore_wait_many(&p, 1, FSCHED_WAIT_ALL, FSCHED_FOREVER, &r) == FSCHED_OK);
  }
}

static void run_learn(bench_semaphore_bench *b) {
  fsched_frontier_entry e[4];
  for (uint32_t i = 0; i < ROUNDS; i++) {
    fsched_frontier known = {.entry = e, .capacity = 4};
    need(fsched_semaphore_learn(b->s, b->value - i % 8, &known) == FSCHED_OK);
  }
}

static void wait_for(fsched_semaphore *s, uint64_t value) {
  fsched_wait_point p = {.semaphore = s, .value = value};
  fsched_wait_result r;
  need(fsched_semaphore_wait_many(&p, 1, FSCHED_WAIT_ALL, FSCHED_FOREVER, &r) == FSCHED_OK);
}

static void *answer(void *user) {
  bench_semaphore_bench *b = user;
  uint64_t begin = fsched_semaphore_value(b->back);
  for (uint64_t i = 1; i <= HANDS / 2; i++) {
    wait_for(b->s, begin + i);
    need(fsched_semaphore_signal(b->back, begin + i, NULL) == FSCHED_OK);
  }
  return NULL;
}

static void run_hand_off(bench_semaphore_bench *b) {
  uint64_t begin = fsched_semaphore_value(b->back);
  pthread_t thread;
  need(pthread_create(&thread, NULL, answer, b) == 0);
  for (uint64_t i = 1; i <= HANDS / 2; i++) {
    need(fsched_semaphore_signal(b->s, begin + i, NULL) == FSCHED_OK);
    wait_for(b->back, begin + i);
  }
  need(pthread_join(thread, NULL) == 0);
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

static void start(bench_semaphore_bench *b, fsched_scope scope, uint32_t unrelated) {
  fsched_semaphore_options o = {.size = sizeof o, .scope = scope};
  *b = (bench_semaphore_bench){0};
  need(fsched_semaphore_create(&o, &b->s) == FSCHED_OK);
  need(fsched_semaphore_create(&o, &b->back) == FSCHED_OK);
  b->unrelated = calloc(unrelated + 1, sizeof *b->unrelated);
  need(b->unrelated != NULL);
  for (uint32_t i = 0; i < unrelated; i++) {
    b->unrelated[i].callback = nothing;
    uint64_t far = UINT64_MAX - (i * 7919) % UNRELATED;
    need(fsched_semaphore_await(b->s, far, &b->unrelated[i], NULL) == FSCHED_OK);
  }
}

static void measure(const char *name, void (*run)(bench_semaphore_bench *), uint32_t rounds,
                    fsched_scope scope, uint32_t unrelated) {
  bench_semaphore_bench b;
  start(&b, scope, unrelated);
  if (run == run_learn) {
    run_signal(&b);
  }
  double ns[RUNS];
  for (uint32_t i = 0; i < RUNS; i++) {
    double begin = now_ns();
    run(&b);
    ns[i] = (now_ns() - begin) / rounds;
  }
  qsort(ns, RUNS, sizeof *ns, by_value);
  printf("%-18s %-10s %10.1f %10.1f\n", name,
         scope == FSCHED_SCOPE_SYSTEM  ? "system"
         : scope == FSCHED_SCOPE_QUEUE ? "queue"
                                       : "process",
         ns[0], ns[RUNS / 2]);
  fsched_semaphore_release(b.s);
  fsched_semaphore_release(b.back);
  free(b.unrelated);
}

/* Measures a handle that has slept through the whole history of another one. */
static void measure_look(void) {
  enum { LONG = 32768, LOOKS = 5 };
  double ns[LOOKS];
  for (uint32_t i = 0; i < LOOKS; i++) {
    fsched_semaphore_options o = {
        .size = sizeof o, .scope = FSCHED_SCOPE_SYSTEM, .history_limit = LONG};
    bench_semaphore_bench b = {0};
    int fd;
    need(fsched_semaphore_create(&o, &b.s) == FSCHED_OK);
    need(fsched_semaphore_export(b.s, &fd) == FSCHED_OK);
    need(fsched_semaphore_import(NULL, fd, &b.back) == FSCHED_OK);
    (void)close(fd);
    for (uint32_t k = 0; k < LONG; k++) {
      raise_once(&b);
    }
    double begin = now_ns();
    fsched_semaphore_poll(b.back);
    ns[i] = (now_ns() - begin) / LONG;
    need(fsched_semaphore_untainted(b.back) == LONG);
    fsched_semaphore_release(b.s);
    fsched_semaphore_release(b.back);
  }
  qsort(ns, LOOKS, sizeof *ns, by_value);
  printf("%-18s %-10s %10.1f %10.1f\n", "look at 32768", "system", ns[0], ns[LOOKS / 2]);
}

static bool stress(const char *name, fsched_status status, const fs_sem_stress_result *r,
                   double begin) {
  need(status == FSCHED_OK);
  printf(
      "%-16s %9lu signals, %8lu waits, %8lu cancels, %8lu waits for several, %5lu failures in "
      "%.1f s: lost %lu, called twice %lu, untruthful %lu\n",
      name, (unsigned long)r->signals, (unsigned long)r->waits, (unsigned long)r->cancels,
      (unsigned long)r->many, (unsigned long)r->failures, (now_ns() - begin) / 1e9,
      (unsigned long)r->lost, (unsigned long)r->doubled, (unsigned long)r->untruthful);
  return r->lost + r->doubled + r->untruthful == 0;
}

static bool stress_all(uint64_t operations) {
  fs_sem_stress_result r;
  bool good = true;
  for (int wide = 0; wide < 2; wide++) {
    fsched_scope scope = wide ? FSCHED_SCOPE_SYSTEM : FSCHED_SCOPE_PROCESS;
    double begin = now_ns();
    fsched_status status =
        fs_semaphore_stress(wide ? operations / 10 : operations, 3, 1, scope, &r);
    good &= stress(wide ? "stress, system" : "stress, process", status, &r, begin);
    begin = now_ns();
    status = fs_semaphore_duel(operations / 50, 1, scope, &r);
    good &= stress(wide ? "duel, system" : "duel, process", status, &r, begin);
  }
  return good;
}

int main(int argc, char **argv) {
  bool given = argc == 3 && strcmp(argv[1], "--stress") == 0;
  uint64_t operations = given ? strtoull(argv[2], NULL, 10) : 10000000;
  static const fsched_scope scopes[] = {FSCHED_SCOPE_QUEUE, FSCHED_SCOPE_PROCESS,
                                        FSCHED_SCOPE_SYSTEM};
  printf("%-18s %-10s %10s %10s\n", "operation", "scope", "ns min", "median");
  for (uint32_t i = 0; i < 3; i++) {
    measure("signal", run_signal, ROUNDS, scopes[i], 0);
    if (scopes[i] != FSCHED_SCOPE_SYSTEM) { /* with that scope a thread watches as well */
      measure("signal, 4096", run_signal, ROUNDS, scopes[i], UNRELATED);
      measure("await and signal", run_await, ROUNDS, scopes[i], 0);
    }
    measure("satisfied wait", run_satisfied, ROUNDS, scopes[i], 0);
    measure("learn", run_learn, ROUNDS, scopes[i], 0);
    if (scopes[i] != FSCHED_SCOPE_QUEUE) {
      measure("hand-off", run_hand_off, HANDS, scopes[i], 0);
    }
  }
  measure_look();
  bool good = operations == 0 || stress_all(operations);
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
