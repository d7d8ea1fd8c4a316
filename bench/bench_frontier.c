/* SPDX-License-Identifier: Apache-2.0 */
/* Frontier operations, the tracker, and a long stress of the tracker.
 *
 *   bench_frontier [--stress OPERATIONS]
 *
 * The stress ends with three rounds of batches for each ten OPERATIONS (three million by default):
 * of two axes, six waiters for both, and two threads.
 *
 * Each number is the time of one operation, called through a loop over one input (fixed) or over
 * 128 different ones (random): the least and the median of many short runs, taken in turns, so that
 * a busy machine disturbs all alike.  `x memcpy` is the least in units of the least of a memcpy of
 * 8 entries of a length known at run time only.  `reference` is IREE's C code in that unit;
 * operations that change their target restore it by a memcpy of their own, which is counted, there
 * as here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "frontier/tracker/tracker_stress.h"
#include "fsched/frontier.h"
#include "fsched/tracker.h"
#include "kit/gen.h"

enum { LARGEST = 64, VARIANTS = 128, RUNS = 61, RUN_NS = 100000, UNIT = 8 };

typedef fsched_frontier_entry entry;

/* Two frontiers of n entries, and the target's first state. */
typedef struct bench_frontier_pair {
  entry *fresh, *at, *other;
  fsched_frontier target, source;
  entry one; /* to insert or raise */
} bench_frontier_pair;

typedef struct input {
  bench_frontier_pair *p;
  uint32_t variants; /* a power of two */
  uint32_t n;
} input;

static double now_ns(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Results go here, so that nothing is optimised away. */
static volatile uint64_t sink;

/* Operations: each a loop of its own. */

static void restore(bench_frontier_pair *p, uint32_t n) {
  memcpy(p->at, p->fresh, n * sizeof(entry));
  p->target.n = n;
}

#define LOOP(name, expression)                                                      \
  __attribute__((aligned(64))) static void name(const input *in, uint64_t rounds) { \
    uint64_t sum = 0;                                                               \
    uint32_t mask = in->variants - 1;                                               \
    for (uint64_t i = 0; i < rounds; i++) {                                         \
      bench_frontier_pair *p = &in->p[i & mask];                                    \
      sum += (uint64_t)(expression);                                                \
    }                                                                               \
    sink = sum;                                                                     \
  }

static struct {
  _Alignas(4096) entry gap[3 * LARGEST];
  entry to[LARGEST];
} output;
static volatile uint32_t unit = UNIT;

LOOP(run_memcpy, (memcpy(output.to, p->other, unit * sizeof(entry)), 0))
LOOP(run_compare, fsched_frontier_compare(&p->target, &p->source))
LOOP(run_merge, (fsched_frontier_merge(&p->target, &p->source), 0))
LOOP(run_merge_reset, (restore(p, in->n), fsched_frontier_merge(&p->target, &p->source), 0))
LOOP(run_raise, fsched_frontier_raise(&p->target, p->one, NULL))
LOOP(run_raise_reset, (restore(p, in->n), fsched_frontier_raise(&p->target, p->one, NULL)))
LOOP(run_undominated, fsched_frontier_undominated(&p->target, &p->source, output.to, LARGEST))
LOOP(run_satisfied, fsched_frontier_satisfied(&p->target, &p->source))

/* Inputs */

typedef enum bench_frontier_shape {
  SAME,       /* same axes, same epochs */
  RAISED,     /* same axes, all of the source's epochs larger */
  LATER,      /* same axes, any epochs */
  DISJOINT,   /* all of the target's axes below the source's */
  INTERLEAVED /* in turns; random: any mix of axes */
} bench_frontier_shape;

typedef enum bench_frontier_place { HIT, MIDDLE, TAIL } bench_frontier_place;

/* The entries of many pairs, a kind after the other, so that those of a small n stay in the nearest
 * cache: what is random is then the input, not the time of a load.  The gaps keep the kinds of the
 * first pair, and the output, apart in the last 12 bits of their addresses: a load that has them in
 * common with a store in flight waits for it. */
typedef struct bench_frontier_pool {
  entry fresh[VARIANTS * LARGEST], gap[LARGEST];
  entry other[VARIANTS * LARGEST], gap2[LARGEST];
  entry at[VARIANTS * 2 * LARGEST], gap3[2 * LARGEST];
} bench_frontier_pool;

/* All pairs that are restored before each use share one target. */
static void place_pair(bench_frontier_pair *p, bench_frontier_pool *o, uint32_t which, uint32_t n,
                       bool restored) {
  p->fresh = o->fresh + (size_t)which * n;
  p->other = o->other + (size_t)which * n;
  p->at = o->at + (restored ? 0 : (size_t)which * 2 * n);
}

static void fill(bench_frontier_pair *p, bench_frontier_shape s, bench_frontier_place at,
                 uint32_t n, fs_rng *r, bool random) {
  uint64_t gap = s == INTERLEAVED ? 2 : 1;
  uint64_t a = 10;
  uint64_t b = s == DISJOINT ? 10000 : s == INTERLEAVED ? 11 : 10;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t step = random ? 2 * (1 + fs_rng_below(r, 4)) : 2 * gap;
    uint64_t epoch = random ? 1 + fs_rng_below(r, 1000) : 100 + i;
    p->fresh[i] = (entry){a, epoch};
    epoch += s == RAISED ? 1 + i : 0;
    p->other[i] =
        (entry){b, s == LATER || (random && s > RAISED) ? 1 + fs_rng_below(r, 1000) : epoch};
    a += step;
    b += s == INTERLEAVED && random ? 2 * (1 + fs_rng_below(r, 4)) : step;
    b += s == INTERLEAVED && random && fs_rng_one_in(r, 4) && b % 2 == 1;
  }
  uint32_t which = random ? fs_rng_below(r, n) : n / 2;
  p->one = (entry){at == TAIL ? a + 1000 : p->fresh[which].axis + (at == MIDDLE), 5000};
  p->target = (fsched_frontier){.entry = p->at, .n = n, .capacity = 2 * n};
  p->source = (fsched_frontier){.entry = p->other, .n = n, .capacity = n};
  restore(p, n);
}

typedef struct row {
  const char *name;
  void (*run)(const input *, uint64_t);
  bool restored;
  bench_frontier_shape shape;
  bench_frontier_place place;
  double reference; /* in units, at 8 entries; 0: none */
} row;

static const row rows[] = {
    {"compare identical", run_compare, false, SAME, HIT, 3.8},
    {"compare disjoint", run_compare, false, DISJOINT, HIT, 0},
    {"compare interleaved", run_compare, false, INTERLEAVED, HIT, 4.7},
    {"merge same axes", run_merge, false, RAISED, HIT, 2.7},
    {"merge same axes + reset", run_merge_reset, true, RAISED, HIT, 0},
    {"merge disjoint + reset", run_merge_reset, true, DISJOINT, HIT, 0},
    {"merge interleaved + reset", run_merge_reset, true, INTERLEAVED, HIT, 11.9},
    {"raise hit", run_raise, false, SAME, HIT, 0},
    {"insert middle + reset", run_raise_reset, true, SAME, MIDDLE, 5.2},
    {"insert tail + reset", run_raise_reset, true, SAME, TAIL, 0},
    {"undominated same axes", run_undominated, false, LATER, HIT, 0},
    {"undominated interleaved", run_undominated, false, INTERLEAVED, HIT, 6.0},
    {"satisfied", run_satisfied, false, SAME, HIT, 0},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Timing */

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct timing {
  double run[RUNS];
  uint64_t rounds;
} timing;

static void take(timing *t, uint32_t i, void (*run)(const input *, uint64_t), const input *in) {
  if (i == 0) { /* how many make a run */
    t->rounds = 256;
    double spent = 0;
    while (spent < RUN_NS) {
      t->rounds *= 2;
      double begin = now_ns();
      run(in, t->rounds);
      spent = now_ns() - begin;
    }
  }
  double begin = now_ns();
  run(in, t->rounds);
  t->run[i] = (now_ns() - begin) / (double)t->rounds;
}

static void sort(timing *t) { qsort(t->run, RUNS, sizeof *t->run, by_value); }

static void report(const char *name, const char *kind, uint32_t n, const timing *t, double unit_ns,
                   double reference) {
  double multiple = t->run[0] / unit_ns;
  printf("%-28s %-6s %4u %8.2f %8.2f %9.2f", name, kind, n, t->run[0], t->run[RUNS / 2], multiple);
  if (reference > 0) {
    printf(" %10.1f %6.2f%s", reference, multiple / reference,
           multiple / reference <= 0.7 ? "" : "  above 0.7");
  }
  printf("\n");
}

static void measure(uint32_t n, bool random) {
  static bench_frontier_pair pairs[ROWS + 1][VARIANTS];
  static _Alignas(4096) bench_frontier_pool pools[ROWS + 1];
  static timing t[ROWS + 1];
  input in[ROWS + 1];
  fs_rng r = {n + (random ? 1000 : 0)};
  for (uint32_t k = 0; k <= ROWS; k++) {
    const row *w = k < ROWS ? &rows[k] : &rows[0];
    in[k] = (input){pairs[k], random ? VARIANTS : 1, n};
    for (uint32_t v = 0; v < in[k].variants; v++) {
      place_pair(&pairs[k][v], &pools[k], v, n, w->restored);
      fill(&pairs[k][v], w->shape, w->place, n, &r, random);
    }
  }
  for (uint32_t i = 0; i < RUNS; i++) {
    for (uint32_t k = 0; k <= ROWS; k++) {
      take(&t[k], i, k < ROWS ? rows[k].run : run_memcpy, &in[k]);
    }
  }
  for (uint32_t k = 0; k <= ROWS; k++) {
    sort(&t[k]);
  }
  double unit_ns = t[ROWS].run[0];
  report("memcpy of 8 entries", random ? "random" : "fixed", UNIT, &t[ROWS], unit_ns, 0);
  for (uint32_t k = 0; k < ROWS; k++) {
    report(rows[k].name, random ? "random" : "fixed", n, &t[k], unit_ns,
           n == UNIT ? rows[k].reference : 0);
  }
}

/* Tracker */

enum { UNRELATED = 4096, OTHERS = 8 };

/* Where the unrelated waiters stand. */
typedef enum bench_frontier_crowd { NOWHERE, OTHER_AXES, SAME_AXIS } bench_frontier_crowd;

typedef struct scene {
  const char *name;
  bench_frontier_crowd crowd;
  double reference;
  fsched_tracker *t;
  fsched_tracked *axis;
  uint64_t epoch;
  fsched_waiter waiter[UNRELATED];
  entry wants[UNRELATED];
  timing timing;
} scene;

static void never(fsched_waiter *w, fsched_cause cause) {
  if (cause != FSCHED_CAUSE_CANCELLED) {
    fprintf(stderr, "a waiter for a far epoch was called: %p\n", (void *)w);
    exit(EXIT_FAILURE);
  }
}

static bool set_scene(scene *s) {
  fsched_tracker_options o = {.size = sizeof o, .max_axes = 1 + OTHERS};
  fsched_tracked *other;
  if (fsched_tracker_create(&o, &s->t) != FSCHED_OK ||
      fsched_tracker_register(s->t, 0, &s->axis) != FSCHED_OK) {
    return false;
  }
  for (uint64_t i = 1; i <= OTHERS; i++) {
    if (fsched_tracker_register(s->t, i, &other) != FSCHED_OK) {
      return false;
    }
  }
  for (uint32_t i = 0; i < UNRELATED && s->crowd != NOWHERE; i++) {
    fsched_axis axis = s->crowd == OTHER_AXES ? 1 + i % OTHERS : 0;
    s->wants[i] = (entry){axis, ((uint64_t)1 << 60) + i * 7919 % UNRELATED};
    s->waiter[i].callback = never;
    fsched_frontier f = {.entry = &s->wants[i], .n = 1, .capacity = 1};
    if (fsched_tracker_wait(s->t, &f, &s->waiter[i], NULL) != FSCHED_OK) {
      return false;
    }
  }
  return true;
}

static void run_advance(scene *s, uint64_t rounds) {
  uint64_t called = 0;
  for (uint64_t i = 0; i < rounds; i++) {
    called += fsched_tracker_advance(s->axis, ++s->epoch);
  }
  sink = called;
}

static double time_advance(scene *s) {
  enum { ROUNDS = 40000 };
  double begin = now_ns();
  run_advance(s, ROUNDS);
  return (now_ns() - begin) / ROUNDS;
}

static bool measure_tracker(void) {
  static scene scenes[] = {
      {.name = "advance, no waiters", .reference = 2.6},
      {.name = "advance, 4096 on others", .crowd = OTHER_AXES, .reference = 3190},
      {.name = "advance, 4096 far ones", .crowd = SAME_AXIS, .reference = 3190}};
  enum { SCENES = sizeof scenes / sizeof *scenes };
  static bench_frontier_pair p;
  static _Alignas(4096) bench_frontier_pool entries;
  static timing copy;
  fs_rng r = {1};
  place_pair(&p, &entries, 0, UNIT, false);
  fill(&p, SAME, HIT, UNIT, &r, false);
  const input in = {&p, 1, UNIT};
  for (uint32_t k = 0; k < SCENES; k++) {
    if (!set_scene(&scenes[k])) {
      return false;
    }
  }
  for (uint32_t i = 0; i < RUNS; i++) {
    take(&copy, i, run_memcpy, &in);
    for (uint32_t k = 0; k < SCENES; k++) {
      scenes[k].timing.run[i] = time_advance(&scenes[k]);
    }
  }
  sort(&copy);
  report("memcpy of 8 entries", "fixed", UNIT, &copy, copy.run[0], 0);
  for (uint32_t k = 0; k < SCENES; k++) {
    sort(&scenes[k].timing);
    report(scenes[k].name, "fixed", 1, &scenes[k].timing, copy.run[0], scenes[k].reference);
    fsched_tracker_destroy(scenes[k].t);
  }
  return true;
}

static bool stress(const char *name, fs_status status, const fs_stress_result *r, double begin) {
  if (status != FSCHED_OK) {
    return false;
  }
  printf(
      "%-28s %9lu advances, %8lu waits, %8lu cancels, %6lu ends in %.1f s: lost %lu, "
      "called twice %lu, untruthful %lu\n",
      name, (unsigned long)r->advances, (unsigned long)r->waits, (unsigned long)r->cancels,
      (unsigned long)r->ends, (now_ns() - begin) / 1e9, (unsigned long)r->lost,
      (unsigned long)r->doubled, (unsigned long)r->untruthful);
  return r->lost + r->doubled + r->untruthful == 0;
}

static bool stress_all(uint64_t operations) {
  fs_stress_result r;
  bool good = true;
  for (int fenced = 0; fenced < 2; fenced++) {
    uint64_t n = fenced ? operations / 10 : operations;
    double begin = now_ns();
    fs_status status = fs_tracker_stress(n, 3, 1, fenced, &r);
    good &= stress(fenced ? "stress, fences" : "stress, membarrier", status, &r, begin);
    begin = now_ns();
    status = fs_tracker_duel(operations / 50, 1, fenced, &r);
    good &= stress(fenced ? "duel, fences" : "duel, membarrier", status, &r, begin);
  }
  double begin = now_ns();
  fs_status status = fs_tracker_batches(operations / 10 * 3, 1, &r);
  return stress("batches, membarrier", status, &r, begin) && good;
}

int main(int argc, char **argv) {
  uint64_t operations = 10000000;
  if (argc == 3 && strcmp(argv[1], "--stress") == 0) {
    operations = strtoull(argv[2], NULL, 10);
  }
  static const uint32_t sizes[] = {1, 4, 8, 16, 64};
  printf("%-28s %-6s %4s %8s %8s %9s %10s %6s\n", "operation", "input", "n", "ns min", "median",
         "x memcpy", "reference", "ratio");
  for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    measure(sizes[i], false);
    measure(sizes[i], true);
  }
  return measure_tracker() && (operations == 0 || stress_all(operations)) ? EXIT_SUCCESS
                                                                          : EXIT_FAILURE;
}
