/* SPDX-License-Identifier: Apache-2.0 */
/* One ring, filled by one queue and read by another, in a loop that stays a loop, and unrolled:
 * compiled and simulated, it takes what the formula of DESIGN.md (section 7) says.  With loads of
 * latency L that occupy their queue for b <= L ticks, uses of C ticks, N iterations, D slots, m =
 * max(b, C), and N - 1 = q D + r:
 *
 *     max(L + C + (N - 1) m,  (q + 1) (L + C) + r m)
 *
 * In a loop around, which has no other op, its runs are joined: then N is the iterations of all. */
#include <stdlib.h>

#include "exec/conformance/conformance_kit.h"
#include "kit/quick.h"
#include "kit/shared_facts.h"

#include "kit/context.h"

enum { SLOT = 40, ALIGN = 64, MOST = 12 };

typedef struct ring_case {
  uint64_t n, depth, every, latency, occupied, use;
  bool stays;    /* a loop */
  uint64_t runs; /* of the loop, in one around it; 0: there is none */
} ring_case;

static fs_conformance sim;
static conf c;

static uint64_t most_of(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t formula(const ring_case *x) {
  uint64_t n = x->n * most_of(x->runs, 1);
  if (n == 0) {
    return 0;
  }
  uint64_t m = most_of(x->occupied, x->use), both = x->latency + x->use;
  uint64_t q = (n - 1) / x->depth, r = (n - 1) % x->depth;
  return most_of(both + (n - 1) * m, (q + 1) * both + r * m);
}

/* `bounded`: the memory has room for the slots and for nothing else. */
static fsched_program *compile_ring(const ring_case *x, bool bounded) {
  char text[1024], capacity[64] = "", around[64] = "";
  if (x->runs > 0) {
    (void)snprintf(around, sizeof around, "- loop: o\n  trip: %llu\n  ops:\n",
                   (unsigned long long)x->runs);
  }
  const char *in = x->runs > 0 ? "  " : "";
  if (bounded) {
    uint64_t slots = x->n < x->depth ? x->n : x->depth;
    (void)snprintf(capacity, sizeof capacity, ", capacity: %llu",
                   (unsigned long long)(ALIGN * most_of(slots, 1)));
  }
  (void)snprintf(
      text, sizeof text,
      "fsched: 1\ntarget:\n  queues: [{name: dma}, {name: mma}]\n"
      "  memories: [{name: m, align: %d%s}]\n"
      "ops:\n%s%s- loop: l\n%s  trip: %llu\n%s  buffers: {x: {depth: %llu, every: %llu}}\n"
      "%s  ops:\n"
      "%s  - {name: load, on: dma, time: %llu, latency: %llu, args: [{out: x, size: %d}]}\n"
      "%s  - {name: use, on: mma, time: %llu, args: [{in: x}]}\n",
      ALIGN, capacity, around, in, in, (unsigned long long)x->n, in, (unsigned long long)x->depth,
      (unsigned long long)x->every, in, in, (unsigned long long)x->occupied,
      (unsigned long long)x->latency, SLOT, in, (unsigned long long)x->use);
  fsched_read_options o = {.size = sizeof o, .unroll = !x->stays};
  fsched_graph *g;
  fsched_program *p;
  conf_ok(&c, fsched_graph_parse(c.ctx, "ring", text, strlen(text), &o, &g), text);
  conf_ok(&c, fsched_compile(c.ctx, g, &fs_quick, NULL, &p), text);
  fsched_graph_destroy(g);
  return p;
}

static uint64_t simulated(const fsched_program *p) {
  rig r;
  rig_open(&r, &c, &p->view, (rig_options){.timed = true});
  rig_run(&r, 1);
  uint64_t ns = r.ns;
  rig_close(&r);
  return ns / 1000; /* ticks without a unit are of a microsecond */
}

/* The waits that commands have, those of loops in each iteration in which there is something to
 * wait for. */
static uint64_t executed_waits(const fs_stream *s) {
  uint64_t n = s->n_waits;
  for (uint32_t j = 0; j < s->n_loop_commands; j++) {
    const fs_stream_loop_command *k = &s->loop_commands[j];
    for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
      for (uint64_t i = k->copy; i < s->loops[0].trip; i += s->loops[0].copies) {
        n += i >= s->loop_waits[w].distance;
      }
    }
  }
  return n;
}

/* The same where runs are joined, in which a distance reaches back into earlier runs. */
static uint64_t executed_by_all(const fs_stream *s, uint64_t n) {
  uint64_t all = 0;
  for (uint32_t w = 0; w < s->n_loop_waits; w++) {
    all += n > s->loop_waits[w].distance ? n - s->loop_waits[w].distance : 0;
  }
  return all;
}

/* Loads keep their queue for their latency. */
static void check_runs(const ring_case *x) {
  fsched_program *p = compile_ring(x, false);
  uint64_t n = x->n * x->runs, ticks = simulated(p);
  ck_assert_uint_eq(p->view.n_loops, 2);
  ck_assert_uint_eq(p->view.loops[1].joined, 1);
  if (p->view.meta->makespan != formula(x) || ticks != formula(x) ||
      executed_by_all(&p->view, n) != n + (n > x->depth ? n - x->depth : 0)) {
    ck_abort_msg("%llu runs of %llu, D %llu, L %llu, C %llu: %llu ticks, simulated %llu, not %llu",
                 (unsigned long long)x->runs, (unsigned long long)x->n,
                 (unsigned long long)x->depth, (unsigned long long)x->latency,
                 (unsigned long long)x->use, (unsigned long long)p->view.meta->makespan,
                 (unsigned long long)ticks, (unsigned long long)formula(x));
  }
  fsched_program_destroy(p);
}

static void check_ring(const ring_case *x) {
  fsched_program *p = compile_ring(x, false);
  uint64_t empty = x->n > x->depth ? (x->n - x->depth + x->every - 1) / x->every : 0;
  uint64_t waits = executed_waits(&p->view), ticks = simulated(p);
  ck_assert_uint_eq(p->view.n_loops, x->stays && x->n > 0);
  if (p->view.meta->makespan != formula(x) || ticks != formula(x) || waits != x->n + empty) {
    ck_abort_msg(
        "N %llu, D %llu, every %llu, L %llu, b %llu, C %llu: %llu ticks, simulated %llu, "
        "not %llu; %llu waits",
        (unsigned long long)x->n, (unsigned long long)x->depth, (unsigned long long)x->every,
        (unsigned long long)x->latency, (unsigned long long)x->occupied, (unsigned long long)x->use,
        (unsigned long long)p->view.meta->makespan, (unsigned long long)ticks,
        (unsigned long long)formula(x), (unsigned long long)waits);
  }
  fsched_program_destroy(p);
}

/* The slots are enough. */
static void check_in_its_slots(const ring_case *x) {
  fsched_program *p = compile_ring(x, true);
  ck_assert_uint_eq(p->view.meta->makespan, formula(x));
  for (uint32_t i = 0; i < p->view.n_commands; i++) { /* nothing is spilled */
    ck_assert_int_eq(p->view.commands[i].kind, FS_COMMAND_RUN);
  }
  fsched_program_destroy(p);
}

static void open_sim(void) {
  sim = (fs_conformance){.device = {.kind = "sim", .durations = FSCHED_DURATIONS_PLANNED}};
  conf_open(&c, &sim);
}

/* All trips and depths. */
START_TEST(makespan_and_waits)
{
  static const uint64_t times[][3] = {/* latency, occupied, use */
                                      {4, 4, 2}, {2, 2, 4}, {3, 3, 3}, {5, 5, 1}, {9, 1, 2},
                                      {9, 4, 2}, {8, 2, 4}, {7, 6, 3}, {3, 1, 5}, {12, 3, 3}};
  open_sim();
  for (uint64_t depth = 1; depth <= MOST; depth++) {
    for (unsigned t = 0; t < sizeof times / sizeof *times; t++) {
      ring_case x = {.n = (uint64_t)_i,
                     .depth = depth,
                     .every = 1,
                     .latency = times[t][0],
                     .occupied = times[t][1],
                     .use = times[t][2]};
      check_ring(&x);
      check_in_its_slots(&x);
    }
  }
  conf_close(&c);
}
END_TEST

/* A loop in a loop: as if it ran as often as all of its runs together. */
START_TEST(joined_runs)
{
  open_sim();
  for (uint64_t n = 2; n <= 5; n++) {
    for (uint64_t depth = 2; depth <= (uint64_t)_i * n && depth <= 12; depth++) {
      for (uint64_t latency = 1; latency <= 7; latency += 2) {
        for (uint64_t use = 1; use <= 5; use += 2) {
          ring_case x = {.runs = (uint64_t)_i,
                         .n = n,
                         .depth = depth,
                         .every = 1,
                         .latency = latency,
                         .occupied = latency,
                         .use = use,
                         .stays = true};
          check_runs(&x);
        }
      }
    }
  }
  conf_close(&c);
}
END_TEST

/* Loads whose queue is free before they are over: it goes on to the next run then.  Plans hold the
 * parts of a run together, so they may be longer, but runs take what all iterations in one would.
 */
START_TEST(joined_runs_of_slow_loads)
{
  uint32_t joined = 0, all = 0;
  open_sim();
  for (uint64_t n = 2; n <= 4; n++) {
    for (uint64_t depth = 2; depth <= (uint64_t)_i * n; depth++) {
      for (uint64_t latency = 3; latency <= 9; latency += 3) {
        for (uint64_t occupied = 1; occupied < latency; occupied += 2) {
          ring_case x = {.runs = (uint64_t)_i,
                         .n = n,
                         .depth = depth,
                         .every = 1,
                         .latency = latency,
                         .occupied = occupied,
                         .use = 4,
                         .stays = true};
          fsched_program *p = compile_ring(&x, false);
          uint64_t ticks = simulated(p);
          all++;
          if (p->view.loops[1].joined != 0) {
            ck_assert_uint_eq(ticks, formula(&x));
            ck_assert_uint_ge(p->view.meta->makespan, ticks);
            joined++;
          }
          fsched_program_destroy(p);
        }
      }
    }
  }
  conf_close(&c);
  ck_assert_uint_gt(joined, all / 2);
}
END_TEST

/* The same of a loop in the stream, which waits as often. */
START_TEST(loop_that_stays)
{
  open_sim();
  for (uint64_t depth = 1; depth <= MOST; depth++) {
    for (uint64_t latency = 1; latency <= 9; latency += 2) {
      for (uint64_t occupied = 1; occupied <= latency; occupied += 1 + latency / 4) {
        for (uint64_t use = 1; use <= 10; use += 3) {
          ring_case x = {(uint64_t)_i, depth, 1, latency, occupied, use, .stays = true};
          check_ring(&x);
          check_in_its_slots(&x);
        }
      }
    }
  }
  conf_close(&c);
}
END_TEST

/* A long loop, of which the planner follows the begin, comes in bursts of as many iterations as
 * there are slots. */
START_TEST(long_loop)
{
  open_sim();
  for (uint64_t depth = 1; depth <= MOST; depth++) {
    ring_case x = {20000 + (uint64_t)_i, depth, 1, 9, 1, 2, .stays = true};
    check_ring(&x);
  }
  conf_close(&c);
}
END_TEST

/* Slots that are given back several at a time: fewer waits. */
START_TEST(waits_of_groups)
{
  open_sim();
  for (uint64_t depth = 1; depth <= MOST; depth++) {
    for (uint64_t every = 2; every <= depth; every++) {
      ring_case x = {
          .n = (uint64_t)_i, .depth = depth, .every = every, .latency = 4, .occupied = 4, .use = 2};
      fsched_program *p = compile_ring(&x, false);
      uint64_t empty = x.n > depth ? (x.n - depth + every - 1) / every : 0;
      ck_assert_uint_eq(p->view.n_waits, x.n + empty);
      ck_assert_uint_eq(simulated(p), p->view.meta->makespan);
      fsched_program_destroy(p);
    }
  }
  conf_close(&c);
}
END_TEST

START_TEST(span_facts)
{
  FILE *file = fs_shared_facts("circular_vectors.txt");
  if (file == NULL) {
    return;
  }
  char line[4096];
  int n = 0;
  open_sim();
  while (fgets(line, sizeof line, file) != NULL) {
    unsigned long long trip, depth, latency, occupied, use, makespan, slots, full, empty;
    if (sscanf(line,
               "span N=%llu D=%llu lat=%llu occ=%llu C=%llu makespan=%llu peak_slots=%llu "
               "full_waits=%llu empty_waits=%llu",
               &trip, &depth, &latency, &occupied, &use, &makespan, &slots, &full, &empty) != 9) {
      continue;
    }
    for (int stays = 0; stays < 2; stays++) {
      ring_case x = {trip, depth, 1, latency, occupied, use, .stays = stays};
      ck_assert_uint_eq(formula(&x), makespan);
      fsched_program *p = compile_ring(&x, true);
      ck_assert_uint_eq(p->view.meta->makespan, makespan);
      fsched_program_destroy(p);
      check_ring(&x);
    }
    ck_assert_uint_eq(slots, trip < depth ? trip : depth);
    ck_assert_uint_eq(full + empty, trip + (trip > depth ? trip - depth : 0));
    n++;
  }
  (void)fclose(file);
  conf_close(&c);
  ck_assert_int_ge(n, 6);
}
END_TEST

/* Whatever trips, depths and prefetches go together elsewhere: all compile, and do as many loads
 * and uses as there are iterations, in their order. */
START_TEST(loop_facts)
{
  FILE *file = fs_shared_facts("circular_vectors.txt");
  if (file == NULL) {
    return;
  }
  char line[4096];
  int n = 0;
  open_sim();
  while (fgets(line, sizeof line, file) != NULL) {
    unsigned long long trip, depth, prefetch;
    if (sscanf(line, "loop N=%llu D=%llu P=%llu", &trip, &depth, &prefetch) != 3 &&
        sscanf(line, "trip N=%llu D=%llu P=%llu", &trip, &depth, &prefetch) != 3) {
      continue;
    }
    ring_case x = {trip, depth, 1, 4, 4, 2, false, 0};
    fsched_program *p = compile_ring(&x, true);
    ck_assert_uint_eq(p->view.n_commands, 2 * trip);
    uint64_t last[2] = {0, 0}, count[2] = {0, 0};
    for (uint32_t i = 0; i < p->view.n_commands; i++) { /* the commands of a queue, in its order */
      const char *name = fs_stream_string(&p->view, p->view.ops[p->view.commands[i].target].name);
      bool use = strncmp(name, "use[", 4) == 0;
      uint64_t index = strtoull(strchr(name, '[') + 1, NULL, 10);
      ck_assert(count[use] == 0 ? index == 0 : index == last[use] + 1);
      last[use] = index;
      count[use]++;
    }
    ck_assert_uint_eq(count[0], trip);
    ck_assert_uint_eq(count[1], trip);
    ck_assert_uint_eq(simulated(p), formula(&x));
    fsched_program_destroy(p);
    n++;
  }
  (void)fclose(file);
  conf_close(&c);
  ck_assert_int_ge(n, 20);
}
END_TEST

FS_SUITE(sim_rings, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, MOST + 1, makespan_and_waits, loop_that_stays, long_loop, waits_of_groups);
  FS_LOOPS(t, 2, 5, joined_runs, joined_runs_of_slow_loads);
  FS_TESTS(t, span_facts, loop_facts);
}
