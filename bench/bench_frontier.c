/* SPDX-License-Identifier: Apache-2.0 */
/* Frontier operations, the tracker, and a long stress of the tracker.
 *
 *   bench_frontier [--stress OPERATIONS]
 *
 * The stress ends with three rounds of batches for each ten OPERATIONS (three million by default):
 * of two axes, six waiters for both, and two threads.
 *
 * Each number is the time of one operation, called through a loop over one input (fixed) or over
 * 128 different ones (random): the least and the median of many short runs, taken in turns with the
 * same operation of the reference (frontier_reference.h), so that a busy machine disturbs both
 * alike.  The ratio is that of the two least, and the last column the median of the ratios of
 * turns.  Operations that change their target restore it by a memcpy of their own, which is
 * counted on both sides.  Below the rows stand, for each number of entries, the geometric mean of
 * the ratios and the largest of the rows in which ours takes more than a call's cost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "frontier/tracker/tracker_stress.h"
#include "frontier_reference.h"
#include "fsched/frontier.h"
#include "fsched/tracker.h"
#include "kit/gen.h"

enum { LARGEST = 64, VARIANTS = 128, RUNS = 61, RUN_NS = 100000, UNIT = 8 };

/* A row in which ours takes less is a call, on both sides. */
static const double call_ns = 3;

typedef fsched_frontier_entry entry;

/* Two frontiers of n entries, and the target's first state. */
typedef struct bench_frontier_pair {
  entry *fresh, *at, *other;
  fsched_frontier target, source;
  fs_usual *ref_target, *ref_source; /* the same for the reference */
  entry one;                         /* to insert or raise */
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
LOOP(run_lacking, fsched_frontier_satisfied(&p->source, &p->target))

static void restore_reference(bench_frontier_pair *p, uint32_t n) {
  memcpy(p->ref_target->entry, p->fresh, n * sizeof(entry));
  p->ref_target->n = n;
}

LOOP(ref_compare, fs_usual_compare(p->ref_target, p->ref_source))
LOOP(ref_merge, fs_usual_merge(p->ref_target, p->ref_source))
LOOP(ref_merge_reset, (restore_reference(p, in->n), fs_usual_merge(p->ref_target, p->ref_source)))
LOOP(ref_raise, fs_usual_raise(p->ref_target, p->one))
LOOP(ref_raise_reset, (restore_reference(p, in->n), fs_usual_raise(p->ref_target, p->one)))
LOOP(ref_undominated, fs_usual_undominated(p->ref_target, p->ref_source, output.to))
LOOP(ref_satisfied, fs_usual_satisfied(p->ref_target, p->ref_source))
LOOP(ref_lacking, fs_usual_satisfied(p->ref_source, p->ref_target))

/* Inputs */

typedef enum bench_frontier_shape {
  SAME,       /* same axes, same epochs */
  RAISED,     /* same axes, all of the source's epochs larger */
  LATER,      /* LATER: the same axes, any epochs */
  DISJOINT,   /* all of the target's axes below the source's */
  INTERLEAVED /* alternating; random: any mix of axes */
} bench_frontier_shape;

typedef enum bench_frontier_place { HIT, MIDDLE, TAIL } bench_frontier_place;

/* The entries of many pairs, one kind after the other, so that those of a small n stay in the
 * nearest cache: then the input is random, but not the time of a load.  The gaps keep the addresses
 * of the kinds of the first pair, and of the output, different in their last 12 bits: a load that
 * agrees in these with a store in flight waits for it. */
typedef struct bench_frontier_pool {
  entry fresh[VARIANTS * LARGEST], gap[LARGEST];
  entry other[VARIANTS * LARGEST], gap2[LARGEST];
  entry at[VARIANTS * 2 * LARGEST], gap3[2 * LARGEST];
  /* Of the reference, with its heads. */
  entry ref_other[VARIANTS * (LARGEST + 1)], gap4[LARGEST];
  entry ref_at[VARIANTS * (2 * LARGEST + 1)], gap5[2 * LARGEST];
} bench_frontier_pool;

_Static_assert(sizeof(fs_usual) == sizeof(entry), "");

/* All pairs that are restored before each use share one target. */
static void place_pair(bench_frontier_pair *p, bench_frontier_pool *o, uint32_t which, uint32_t n,
                       bool restored) {
  p->fresh = o->fresh + (size_t)which * n;
  p->other = o->other + (size_t)which * n;
  p->at = o->at + (restored ? 0 : (size_t)which * 2 * n);
  p->ref_source = (void *)(o->ref_other + (size_t)which * (n + 1));
  p->ref_target = (void *)(o->ref_at + (restored ? 0 : (size_t)which * (2 * n + 1)));
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
  p->ref_target->capacity = 2 * n;
  p->ref_source->n = p->ref_source->capacity = n;
  memcpy(p->ref_source->entry, p->other, n * sizeof(entry));
  restore_reference(p, n);
}

typedef struct row {
  const char *name;
  void (*run)(const input *, uint64_t);
  void (*reference)(const input *, uint64_t);
  bool restored;
  bench_frontier_shape shape;
  bench_frontier_place place;
} row;

static const row rows[] = {
    {"compare identical", run_compare, ref_compare, false, SAME, HIT},
    {"compare raised", run_compare, ref_compare, false, RAISED, HIT},
    {"compare any epochs", run_compare, ref_compare, false, LATER, HIT},
    {"compare disjoint", run_compare, ref_compare, false, DISJOINT, HIT},
    {"compare interleaved", run_compare, ref_compare, false, INTERLEAVED, HIT},
    {"merge same axes", run_merge, ref_merge, false, RAISED, HIT},
    {"merge same axes + reset", run_merge_reset, ref_merge_reset, true, RAISED, HIT},
    {"merge any epochs + reset", run_merge_reset, ref_merge_reset, true, LATER, HIT},
    {"merge disjoint + reset", run_merge_reset, ref_merge_reset, true, DISJOINT, HIT},
    {"merge interleaved + reset", run_merge_reset, ref_merge_reset, true, INTERLEAVED, HIT},
    {"raise hit", run_raise, ref_raise, false, SAME, HIT},
    {"insert middle + reset", run_raise_reset, ref_raise_reset, true, SAME, MIDDLE},
    {"insert tail + reset", run_raise_reset, ref_raise_reset, true, SAME, TAIL},
    {"undominated same axes", run_undominated, ref_undominated, false, LATER, HIT},
    {"undominated interleaved", run_undominated, ref_undominated, false, INTERLEAVED, HIT},
    {"satisfied", run_satisfied, ref_satisfied, false, SAME, HIT},
    {"satisfied, first lacks", run_lacking, ref_lacking, false, RAISED, HIT},
    {"satisfied, any epochs", run_lacking, ref_lacking, false, LATER, HIT},
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
  if (i == 0) { /* finds how many operations make a run */
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

/* Returns the ratio of the two least, negative where it is that of calls. */
static double report_row(const row *w, const char *kind, uint32_t n, const timing *t,
                         const timing *reference) {
  timing ours = *t, theirs = *reference, turns = *t;
  for (uint32_t i = 0; i < RUNS; i++) {
    turns.run[i] = t->run[i] / reference->run[i];
  }
  sort(&ours);
  sort(&theirs);
  sort(&turns);
  double ratio = ours.run[0] / theirs.run[0];
  printf("%-28s %-6s %4u %8.2f %8.2f %9.2f %9.2f %7.2f %7.2f%s\n", w->name, kind, n, ours.run[0],
         ours.run[RUNS / 2], theirs.run[0], theirs.run[RUNS / 2], ratio, turns.run[RUNS / 2],
         ratio <= 1              ? ""
         : ours.run[0] < call_ns ? "  a call"
                                 : "  above 1");
  return ours.run[0] < call_ns && ratio > 1 ? -ratio : ratio;
}

static void measure(uint32_t n, bool random) {
  static bench_frontier_pair pairs[ROWS][VARIANTS];
  static _Alignas(4096) bench_frontier_pool pools[ROWS];
  static timing t[ROWS], reference[ROWS];
  const char *kind = random ? "random" : "fixed";
  input in[ROWS];
  fs_rng r = {n + (random ? 1000 : 0)};
  for (uint32_t k = 0; k < ROWS; k++) {
    in[k] = (input){pairs[k], random ? VARIANTS : 1, n};
    for (uint32_t v = 0; v < in[k].variants; v++) {
      place_pair(&pairs[k][v], &pools[k], v, n, rows[k].restored);
      fill(&pairs[k][v], rows[k].shape, rows[k].place, n, &r, random);
    }
  }
  for (uint32_t i = 0; i < RUNS; i++) {
    for (uint32_t k = 0; k < ROWS; k++) {
      take(&t[k], i, rows[k].run, &in[k]);
      take(&reference[k], i, rows[k].reference, &in[k]);
    }
  }
  double logs = 0, largest = 0;
  for (uint32_t k = 0; k < ROWS; k++) {
    double ratio = report_row(&rows[k], kind, n, &t[k], &reference[k]);
    logs += log(fabs(ratio));
    largest = fmax(largest, ratio);
  }
  printf("%-28s %-6s %4u %45.2f, largest %.2f\n", "geometric mean of ratios", kind, n,
         exp(logs / ROWS), largest);
}

/* Tracker */

enum { UNRELATED = 4096, OTHERS = 8 };

/* Where the unrelated waiters stand. */
typedef enum bench_frontier_crowd { NOWHERE, OTHER_AXES, SAME_AXIS } bench_frontier_crowd;

typedef struct scene {
  const char *name;
  bench_frontier_crowd crowd;
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

static void report(const char *name, const timing *t, double unit_ns) {
  printf("%-28s %20.2f %8.2f %9.2f\n", name, t->run[0], t->run[RUNS / 2], t->run[0] / unit_ns);
}

static bool measure_tracker(void) {
  static scene scenes[] = {{
                               .name = "advance, no waiters",
                           },
                           {.name = "advance, 4096 on others", .crowd = OTHER_AXES},
                           {.name = "advance, 4096 far ones", .crowd = SAME_AXIS}};
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
  report("memcpy of 8 entries", &copy, copy.run[0]);
  for (uint32_t k = 0; k < SCENES; k++) {
    sort(&scenes[k].timing);
    report(scenes[k].name, &scenes[k].timing, copy.run[0]);
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
  printf("%-28s %-6s %4s %8s %8s %9s %9s %7s %7s\n", "operation", "input", "n", "ns min", "median",
         "reference", "median", "ratio", "median");
  for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    measure(sizes[i], false);
    measure(sizes[i], true);
  }
  printf("%-28s %20s %8s %9s\n", "tracker", "ns min", "median", "x memcpy");
  return measure_tracker() && (operations == 0 || stress_all(operations)) ? EXIT_SUCCESS
                                                                          : EXIT_FAILURE;
}
