/* SPDX-License-Identifier: Apache-2.0 */
/* What the effort of the scheduler gives, in makespans over the lower bound.
 *
 *   bench_effort             short forms of all that follows
 *   bench_effort plain       a plain graph of 10,000 to 1,000,000 ops on four queues with one
 *                            scratchpad, at every effort that ends within minutes
 *   bench_effort pipelines [MORE]
 *                            20 random pipelines of 40 ops: the default effort beside one that
 *                            takes 2^MORE times as many steps (10)
 *   bench_effort sizes [LARGEST]
 *                            four families over sizes from 100 to LARGEST (100,000) in steps of a
 *                            fifth, means of five seeds: does the gap rise from a size to the next?
 *                            In the fourth the content that is still to be read grows with the
 * graph and the memory does not, so that its spills, which the bound does not know, grow as well
 *
 * Every schedule is verified.  All but the seconds is the same on every machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kit/gen.h"
#include "listsched/listsched.h"
#include "model/bounds/bounds.h"
#include "verify/schedule/verify.h"

enum { SEEDS = 5, PIPELINES = 20, NAME = 32 };

static void need(fsched_context *ctx, fsched_status status) {
  if (status != FSCHED_OK) {
    fprintf(stderr, "bench_effort: %s\n",
            fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "a call failed");
    exit(EXIT_FAILURE);
  }
}

static double cpu_seconds(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- families of graphs */

typedef struct effort_maker {
  fsched_context *ctx;
  fsched_builder *b;
  fs_rng rng;
} effort_maker;

static void add_queue(effort_maker *m, const char *name, const char *class) {
  fsched_queue_desc d = {.size = sizeof d, .name = name, .queue_class = class};
  need(m->ctx, fsched_builder_queue(m->b, &d, NULL));
}

/* A scratchpad that spills to a store, at `rate` bytes per tick. */
static void add_memories(effort_maker *m, uint64_t capacity, uint64_t rate) {
  fsched_memory_desc pad = {.size = sizeof pad,
                            .name = "pad",
                            .capacity = capacity,
                            .align = 64,
                            .backing = "store",
                            .spill_on = "copy",
                            .write_fixed = 1,
                            .write_rate = rate,
                            .read_fixed = 1,
                            .read_rate = rate};
  fsched_memory_desc store = {.size = sizeof store, .name = "store"};
  need(m->ctx, fsched_builder_memory(m->b, &pad, NULL));
  need(m->ctx, fsched_builder_memory(m->b, &store, NULL));
}

static uint32_t add_buffer(effort_maker *m, char kind, uint32_t i, uint64_t bytes, fsched_io io) {
  char name[NAME];
  uint32_t id;
  (void)snprintf(name, sizeof name, "%c%u", kind, i);
  fsched_buffer_desc d = {
      .size = sizeof d, .name = name, .bytes = bytes, .memory = "pad", .io = io};
  need(m->ctx, fsched_builder_buffer(m->b, &d, &id));
  return id;
}

static uint32_t add_op(effort_maker *m, uint32_t i, const char *on, uint64_t time) {
  char name[NAME];
  uint32_t id;
  (void)snprintf(name, sizeof name, "o%u", i);
  fsched_op_desc d = {.size = sizeof d, .name = name, .on = on, .has_time = 1, .time = time};
  need(m->ctx, fsched_builder_op(m->b, &d, &id));
  return id;
}

static void add_arg(effort_maker *m, uint32_t op, fsched_tag tag, uint32_t buffer) {
  fsched_arg_desc d = {.size = sizeof d, .tag = tag, .buffer = buffer};
  need(m->ctx, fsched_builder_arg(m->b, op, &d));
}

static uint32_t between(effort_maker *m, uint32_t low, uint32_t high) {
  return low + fs_rng_below(&m->rng, high - low + 1);
}

static const char *const queue_names[] = {"q0", "q1", "q2", "q3"};

/* Every op reads two of the results of the 400 ops before it; queues in turn. */
static void plain(effort_maker *m, uint32_t n) {
  enum { BACK = 400, CAPACITY = 512 * 1024, RATE = 256 };
  for (int q = 0; q < 4; q++) {
    add_queue(m, queue_names[q], NULL);
  }
  add_queue(m, "dma", "copy");
  add_memories(m, CAPACITY, RATE);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t out = add_buffer(m, 'b', i, between(m, 64, 4096), FSCHED_IO_NONE);
    uint32_t op = add_op(m, i, queue_names[i % 4], between(m, 1, 70));
    uint32_t back = i < BACK ? i : BACK, first = back == 0 ? 0 : i - between(m, 1, back);
    if (back > 0) {
      add_arg(m, op, FSCHED_IN, first);
      uint32_t second = i - between(m, 1, back);
      if (second != first) {
        add_arg(m, op, FSCHED_IN, second);
      }
    }
    add_arg(m, op, FSCHED_OUT, out);
  }
}

/* Items pass through five stages on three queues, with weights that come from the store; there is
 * room for the weights and so many of the largest buffers. */
static void items(effort_maker *m, uint32_t n, uint32_t room) {
  enum { STAGES = 5 };
  uint32_t time[STAGES], bytes[STAGES], weights[STAGES], largest = 0, all = 0;
  for (int q = 0; q < 3; q++) {
    add_queue(m, queue_names[q], NULL);
  }
  add_queue(m, "dma", "copy");
  for (uint32_t s = 0; s < STAGES; s++) {
    time[s] = between(m, 5, 40);
    bytes[s] = between(m, 1, 16) * 1024;
    weights[s] = between(m, 4, 32) * 1024;
    largest = bytes[s] > largest ? bytes[s] : largest;
    all += weights[s];
  }
  add_memories(m, all + (uint64_t)largest * room, 2048);
  uint32_t weight[STAGES];
  for (uint32_t s = 0; s < STAGES; s++) {
    weight[s] = add_buffer(m, 'w', s, weights[s], FSCHED_IO_CONSTANT);
  }
  uint32_t before = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t s = i % STAGES;
    if (s == 0) {
      before = add_buffer(m, 'x', i, bytes[0], FSCHED_IO_INPUT);
    }
    uint32_t out =
        add_buffer(m, 'b', i, bytes[s], s == STAGES - 1 ? FSCHED_IO_OUTPUT : FSCHED_IO_NONE);
    uint32_t op = add_op(m, i, queue_names[s % 3], time[s] + between(m, 0, 4));
    add_arg(m, op, FSCHED_IN, before);
    add_arg(m, op, FSCHED_IN, weight[s]);
    add_arg(m, op, FSCHED_OUT, out);
    before = out;
  }
}

static void pipeline(effort_maker *m, uint32_t n) { items(m, n, 8); }
static void tight_pipeline(effort_maker *m, uint32_t n) { items(m, n, 3); }

static fsched_graph *made(effort_maker *m, void (*family)(effort_maker *, uint32_t), uint32_t n) {
  fsched_graph *g;
  need(m->ctx, fsched_builder_create(m->ctx, "effort", &m->b));
  family(m, n);
  need(m->ctx, fsched_builder_finish(m->b, &g));
  fsched_builder_destroy(m->b);
  return g;
}

static fsched_graph *make_plain(fsched_context *ctx, uint32_t n, uint64_t seed) {
  effort_maker m = {.ctx = ctx, .rng = {seed}};
  return made(&m, plain, n);
}

static fsched_graph *make_pipeline(fsched_context *ctx, uint32_t n, uint64_t seed) {
  effort_maker m = {.ctx = ctx, .rng = {seed}};
  return made(&m, pipeline, n);
}

static fsched_graph *make_tight(fsched_context *ctx, uint32_t n, uint64_t seed) {
  effort_maker m = {.ctx = ctx, .rng = {seed}};
  return made(&m, tight_pipeline, n);
}

/* What the property tests compile: all kinds of ops and args, in two classes.  `near`: what is read
 * is among the last 64 buffers. */
static fsched_graph *mixed(fsched_context *ctx, uint32_t n, uint64_t seed, bool near) {
  fs_gen_params p = fs_gen_mixed(seed, n, near);
  fsched_graph *g;
  need(ctx, fs_gen_graph(ctx, &p, &g));
  return g;
}

static fsched_graph *make_mixed(fsched_context *ctx, uint32_t n, uint64_t seed) {
  return mixed(ctx, n, seed, true);
}

static fsched_graph *make_growing(fsched_context *ctx, uint32_t n, uint64_t seed) {
  return mixed(ctx, n, seed, false);
}

typedef struct effort_family {
  const char *name;
  fsched_graph *(*make)(fsched_context *ctx, uint32_t n, uint64_t seed);
} effort_family;

static const effort_family families[] = {{"plain", make_plain},
                                         {"pipeline", make_pipeline},
                                         {"mixed", make_mixed},
                                         {"growing", make_growing}};
enum { FAMILIES = sizeof families / sizeof *families };

/* ---- measuring */

typedef struct effort_result {
  fs_tick makespan, bound;
  uint32_t copies;
  uint64_t runs, steps;
  double seconds; /* of the scheduler, CPU */
} effort_result;

static effort_result measure(fsched_context *ctx, const fsched_graph *g, uint32_t effort) {
  effort_result r = {0};
  fs_lower_bounds b;
  fs_schedule *s;
  need(ctx, fs_graph_lower_bounds(ctx, g, &b));
  fs_listsched_options o = {.effort = effort, .lower_bound = b.all};
  double begin = cpu_seconds();
  need(ctx, fs_listsched_run(ctx, g, &o, &s));
  r.seconds = cpu_seconds() - begin;
  need(ctx, fs_verify_schedule(ctx, g, s, NULL));
  r.makespan = s->makespan;
  r.bound = b.all;
  r.copies = s->n_copies;
  r.runs = s->trial_runs;
  r.steps = s->trial_steps;
  fs_schedule_destroy(s);
  return r;
}

static double gap_percent(const effort_result *r) {
  return 100.0 * (double)(r->makespan - r->bound) / (double)r->bound;
}

static fsched_context *new_context(void) {
  fsched_context *ctx;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    exit(EXIT_FAILURE);
  }
  return ctx;
}

static void plain_graphs(uint32_t largest) {
  static const uint32_t sizes[] = {10000, 12000, 20000, 40000, 100000, 1000000};
  printf(
      "plain graphs: each op reads two of the 400 results before it; four queues, a scratchpad\n"
      "%9s %6s %10s %10s %7s %8s %5s %9s %8s\n",
      "ops", "effort", "bound", "makespan", "gap %", "copies", "runs", "Msteps", "seconds");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= largest; i++) {
    fsched_context *ctx = new_context();
    fsched_graph *g = make_plain(ctx, sizes[i], 1);
    for (uint32_t effort = 0; effort <= (sizes[i] <= 100000 ? 5 : 3);
         effort += effort == 0 ? 3 : 1) {
      effort_result r = measure(ctx, g, effort);
      printf("%9u %6u %10llu %10llu %7.2f %8u %5llu %9.2f %8.3f\n", sizes[i], effort,
             (unsigned long long)r.bound, (unsigned long long)r.makespan, gap_percent(&r), r.copies,
             (unsigned long long)r.runs, 1e-6 * (double)r.steps, r.seconds);
    }
    fsched_graph_destroy(g);
    fsched_context_destroy(ctx);
  }
  printf("\n");
}

static void pipelines(uint32_t more) {
  double ratio = 0, seconds = 0, ratio0 = 0;
  printf(
      "pipelines of 40 ops: the default effort beside 2^%u times its steps\n"
      "%4s %8s %8s %8s %8s %6s %8s %8s\n",
      more, "seed", "bound", "effort 0", "effort 3", "best", "ratio", "runs", "seconds");
  for (uint32_t seed = 0; seed < PIPELINES; seed++) {
    fsched_context *ctx = new_context();
    fsched_graph *g = make_tight(ctx, 40, seed);
    effort_result none = measure(ctx, g, 0), usual = measure(ctx, g, 3);
    effort_result most = measure(ctx, g, 3 + more);
    double r = (double)usual.makespan / (double)most.makespan;
    printf("%4u %8llu %8llu %8llu %8llu %6.3f %8llu %8.3f\n", seed, (unsigned long long)usual.bound,
           (unsigned long long)none.makespan, (unsigned long long)usual.makespan,
           (unsigned long long)most.makespan, r, (unsigned long long)usual.runs, usual.seconds);
    ratio += r / PIPELINES;
    ratio0 += (double)none.makespan / (double)most.makespan / PIPELINES;
    seconds += usual.seconds / PIPELINES;
    fsched_graph_destroy(g);
    fsched_context_destroy(ctx);
  }
  printf("mean ratio %.4f (at most 1.02 wanted; effort 0: %.3f), %.3f s\n\n", ratio, ratio0,
         seconds);
}

static void sizes(uint32_t largest) {
  double before[FAMILIES] = {0}, worst[FAMILIES] = {0};
  printf("gap over the bound in %%, mean of %d seeds; runs and seconds: means\n%9s", SEEDS, "ops");
  for (int f = 0; f < FAMILIES; f++) {
    printf(" %10s %7s %7s %8s", families[f].name, "change", "runs", "seconds");
  }
  printf("\n");
  for (double size = 100; size <= 1.001 * largest; size *= 1.2) {
    printf("%9.0f", size);
    for (int f = 0; f < FAMILIES; f++) {
      double gap = 0, runs = 0, seconds = 0;
      for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        fsched_context *ctx = new_context();
        fsched_graph *g = families[f].make(ctx, (uint32_t)size, seed);
        effort_result r = measure(ctx, g, 3);
        gap += gap_percent(&r) / SEEDS;
        runs += (double)r.runs / SEEDS;
        seconds += r.seconds / SEEDS;
        fsched_graph_destroy(g);
        fsched_context_destroy(ctx);
      }
      double change = size == 100 ? 0 : gap - before[f];
      worst[f] = change > worst[f] ? change : worst[f];
      before[f] = gap;
      printf(" %10.2f %+7.2f %7.0f %8.4f", gap, change, runs, seconds);
      (void)fflush(stdout);
    }
    printf("\n");
  }
  printf("largest rise from a size to the next (at most 2 wanted):");
  for (int f = 0; f < FAMILIES; f++) {
    printf(" %s %.2f", families[f].name, worst[f]);
  }
  printf("\n\n");
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  uint32_t n = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
  if (*what == '\0' || strcmp(what, "plain") == 0) {
    plain_graphs(*what == '\0' ? 20000 : n != 0 ? n : 1000000);
  }
  if (*what == '\0' || strcmp(what, "pipelines") == 0) {
    pipelines(*what == '\0' ? 3 : n != 0 ? n : 10);
  }
  if (*what == '\0' || strcmp(what, "sizes") == 0) {
    sizes(*what == '\0' ? 1000 : n != 0 ? n : 100000);
  }
  return EXIT_SUCCESS;
}
