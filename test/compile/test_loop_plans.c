/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of loops in compiled graphs: known intervals, what limits them, and orders of all ops that
 * the list scheduler can take. */
#include <stdio.h>
#include <string.h>

#include "compile/loops.h"
#include "kit/gen.h"
#include "kit/quick.h"
#include "kit/shared_facts.h"
#include "kit/turn.h"
#include "model/handle.h"
#include "model/loop_report.h"

#include "kit/context.h"

static fsched_graph *parse(const char *text) {
  fsched_read_options o = {.size = sizeof o, .unroll = 1};
  fsched_graph *g;
  fs_status status = fsched_graph_parse(ctx, "loops", text, strlen(text), &o, &g);
  ck_assert_msg(status == FSCHED_OK, "%s\n%s", fs_test_diags(ctx), text);
  return g;
}

/* Compiles, and checks the report of the first loop. */
static fs_loop_report compile_loop(const char *text, fsched_graph **g, fsched_schedule **s) {
  fsched_compile_options o = {.size = sizeof o, .effort = FS_QUICK, .verify = 1};
  *g = parse(text);
  ck_fs(ctx, fsched_compile(ctx, *g, &o, s, NULL));
  ck_assert_uint_ge((*s)->schedule->n_loops, 1);
  return (*s)->schedule->loop[0];
}

typedef struct known_loop {
  const char *target, *body; /* `buffers` and `ops` of the loop */
  uint64_t num, den;         /* of the least interval */
  fs_loop_limit by;
  const char *limit;
  uint32_t copies;
} known_loop;

static const char two_queues[] = "queues: [{name: dma}, {name: mma}]";
static const char load_use[] =
    "  ops:\n  - {name: load, on: dma, time: 4, args: [{out: x, size: 64}]}\n"
    "  - {name: use, on: mma, time: 3, args: [{in: x}]}\n";

static const known_loop known[] = {
    {two_queues, load_use, 4, 1, FS_LOOP_BY_QUEUE, "dma", 1},
    /* One slot: the load waits for the use. */
    {two_queues,
     "  buffers: {x: {depth: 1}}\n"
     "  ops:\n  - {name: load, on: dma, time: 4, args: [{out: x, size: 64}]}\n"
     "  - {name: use, on: mma, time: 3, args: [{in: x}]}\n",
     7, 1, FS_LOOP_BY_SLOTS, "x", 1},
    /* Memory for one slot says the same. */
    {"queues: [{name: dma}, {name: mma}], memories: [{name: m, capacity: 100}]", load_use, 7, 1,
     FS_LOOP_BY_MEMORY, "m", 1},
    /* What takes no time keeps no one waiting. */
    {two_queues,
     "  ops:\n  - {name: a, on: dma, time: 5, args: [{in: s, distance: 2}, {out: t, size: 8}]}\n"
     "  - {name: b, on: dma, time: 0, args: [{in: t}, {out: u, size: 8}]}\n"
     "  - {name: d, on: mma, time: 6, args: [{in: u}, {out: s, size: 8}]}\n",
     6, 1, FS_LOOP_BY_QUEUE, "mma", 1},
    {two_queues, "  ops: [{name: a, on: dma, time: 0}, {name: b, on: mma, time: 0}]\n", 0, 1,
     FS_LOOP_BY_QUEUE, "dma", 1},
    /* A sum of steps of 5, handed on two iterations later. */
    {two_queues,
     "  ops:\n  - {name: add, on: dma, time: 5, args: [{in: s, distance: 2}, {out: s, size: 8}]}\n"
     "  - {name: more, on: mma, time: 2, args: [{in: s}]}\n",
     5, 1, FS_LOOP_BY_QUEUE, "dma", 1},
    {two_queues,
     "  ops:\n  - {name: add, on: dma, time: 5, args: [{in: s, distance: 2}, {out: t, size: 8}]}\n"
     "  - {name: more, on: mma, time: 6, args: [{in: t}, {out: s, size: 8}]}\n",
     6, 1, FS_LOOP_BY_QUEUE, "mma", 1},
    {two_queues,
     "  ops:\n  - {name: add, on: dma, time: 5, args: [{in: s, distance: 1}, {out: t, size: 8}]}\n"
     "  - {name: more, on: mma, time: 6, args: [{in: t}, {out: s, size: 8}]}\n",
     11, 1, FS_LOOP_BY_RECURRENCE, "more", 1},
    /* Three ops, each on one of two queues: two copies of the body need three rounds. */
    {"queues: [{name: q0, class: c}, {name: q1, class: c}]",
     "  ops:\n  - {name: a, on: c}\n  - {name: b, on: c}\n  - {name: d, on: c}\n", 3, 2,
     FS_LOOP_BY_QUEUE, "q0", 2},
    /* One op at a time. */
    {"queues: [{name: dma}, {name: mma}], resources: [{name: bus, capacity: 2}]",
     "  ops:\n  - {name: a, on: dma, time: 2, uses: {bus: 2}}\n"
     "  - {name: b, on: mma, time: 3, uses: {bus: 2}}\n",
     5, 1, FS_LOOP_BY_RESOURCE, "bus", 1},
    {"queues: [{name: dma}, {name: mma}], concurrency: 1",
     "  ops:\n  - {name: a, on: dma, time: 2}\n  - {name: b, on: mma, time: 3}\n", 5, 1,
     FS_LOOP_BY_RESOURCE, "concurrency", 1},
    /* Units that are used in hundreds. */
    {"queues: [{name: dma}, {name: mma}], resources: [{name: bus, capacity: 599}]",
     "  ops:\n  - {name: a, on: dma, time: 2, uses: {bus: 300}}\n"
     "  - {name: b, on: mma, time: 3, uses: {bus: 300}}\n",
     5, 1, FS_LOOP_BY_RESOURCE, "bus", 1},
    /* Amounts unlike each other. */
    {"queues: [{name: dma}, {name: mma}], resources: [{name: bus, capacity: 2}]",
     "  ops:\n  - {name: a, on: dma, time: 3, uses: {bus: 1}}\n"
     "  - {name: b, on: mma, time: 2, uses: {bus: 2}}\n",
     5, 1, FS_LOOP_BY_RESOURCE, "bus", 1},
    /* Two instances of one op at a time, on units of their own. */
    {"queues: [{name: q0, class: c}, {name: q1, class: c}], resources: [{name: bus, capacity: 2}]",
     "  ops:\n  - {name: a, on: c, time: 3, uses: {bus: 1}}\n", 3, 2, FS_LOOP_BY_QUEUE, "q0", 2},
    {"queues: [{name: q0, class: c}, {name: q1, class: c}], concurrency: 3",
     "  ops:\n  - {name: a, on: c, time: 3}\n", 3, 2, FS_LOOP_BY_QUEUE, "q0", 2},
    /* Copies whose values need more slots than those of one. */
    {"queues: [{name: q0, class: c}, {name: q1, class: c}, {name: q2, class: c}],\n"
     "  memories: [{name: m, capacity: 1GiB}]",
     "  ops:\n  - {name: a, on: c, time: 6, args: [{out: x, size: 32}]}\n"
     "  - {name: b, on: c, time: 1, args: [{in: x}]}\n",
     7, 3, FS_LOOP_BY_QUEUE, "q0", 3},
    /* Scratch for one instance at a time. */
    {"queues: [{name: q0, class: c}, {name: q1, class: c}], memories: [{name: m, capacity: 64}]",
     "  ops:\n  - {name: a, on: c, time: 3, scratch: {m: 40}}\n", 3, 1, FS_LOOP_BY_ROLES, "q0", 1},
    /* Scratch for one instance on each queue. */
    {"queues: [{name: q0, class: c}, {name: q1, class: c}], memories: [{name: m, capacity: 80}]",
     "  ops:\n  - {name: a, on: c, scratch: {m: 40}}\n  - {name: b, on: c, scratch: {m: 8}}\n"
     "  - {name: d, on: c, scratch: {m: 40}}\n",
     3, 2, FS_LOOP_BY_QUEUE, "q0", 2},
    /* The same beside an op that does not keep its queue. */
    {"queues: [{name: q0, class: c}, {name: q1, class: c}], memories: [{name: m, capacity: 88}]",
     "  ops:\n  - {name: a, on: c, scratch: {m: 40}}\n  - {name: b, on: c, scratch: {m: 40}}\n"
     "  - {name: d, on: c, latency: 2, scratch: {m: 8}}\n",
     3, 2, FS_LOOP_BY_QUEUE, "q0", 2},
};

static void check_known(const known_loop *x) {
  char text[1024];
  (void)snprintf(text, sizeof text,
                 "fsched: 1\ntarget: {%s}\nops:\n"
                 "- {name: z, on: dma, args: [{out: s, size: 8}]}\n"
                 "- loop: outer\n  trip: 2\n  ops:\n  - loop: l\n    trip: 9\n",
                 x->target);
  if (strstr(x->target, "class: c") != NULL) { /* it has no dma */
    (void)snprintf(text, sizeof text,
                   "fsched: 1\ntarget: {%s}\nops:\n- loop: outer\n  trip: 2\n  ops:\n"
                   "  - loop: l\n    trip: 9\n",
                   x->target);
  }
  for (const char *line = x->body; *line != '\0';) { /* two steps further in */
    size_t n = strcspn(line, "\n") + 1;
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), "  %.*s", (int)n, line);
    line += n;
  }
  fsched_graph *g;
  fsched_schedule *s;
  fs_loop_report r = compile_loop(text, &g, &s);
  ck_assert_msg(r.why_not == NULL, "%s:\n%s", r.why_not, text);
  bool proven = strstr(x->target, "capacity: 64}") == NULL; /* else scratch of copies has no room */
  ck_assert_msg(
      r.ii.num == x->num && r.ii.den == x->den && r.proven == proven && r.copies == x->copies,
      "%llu / %llu, %d, %u copies:\n%s", (unsigned long long)r.ii.num, (unsigned long long)r.ii.den,
      (int)r.proven, r.copies, text);
  ck_assert_msg(r.limited_by == x->by && strcmp(r.limit, x->limit) == 0, "by %s %s:\n%s",
                fs_words_loop_limit[r.limited_by], r.limit, text);
  ck_assert_uint_eq(r.trip, 9);
  ck_assert_uint_eq(r.runs, 2);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}

START_TEST(known_intervals)
{ check_known(&known[_i]); }
END_TEST

/* Loads that take `latency` and occupy their queue for `occupied` ticks; depth 0: not given. */
static fs_loop_report plan_ring(unsigned latency, unsigned occupied, unsigned use, unsigned depth,
                                uint32_t *chosen) {
  char text[1024], given[64] = "";
  if (depth > 0) {
    (void)snprintf(given, sizeof given, "  buffers: {x: {depth: %u}}\n", depth);
  }
  (void)snprintf(text, sizeof text,
                 "fsched: 1\ntarget: {queues: [{name: dma}, {name: mma}]}\nops:\n"
                 "- loop: l\n  trip: 20\n%s  ops:\n"
                 "  - {name: load, on: dma, time: %u, latency: %u, args: [{out: x, size: 64}]}\n"
                 "  - {name: use, on: mma, time: %u, args: [{in: x}]}\n",
                 given, occupied, latency, use);
  fsched_graph *g;
  fsched_schedule *s;
  fs_loop_report r = compile_loop(text, &g, &s);
  ck_assert(r.why_not == NULL && r.proven);
  ck_assert_uint_eq(r.n_slots, 1);
  *chosen = r.slots[0].depth;
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  return r;
}

/* The least interval with a depth, and the least depth for the least interval of all. */
START_TEST(mod_facts)
{
  FILE *file = fs_shared_facts("circular_vectors.txt");
  if (file == NULL) {
    return;
  }
  char line[4096];
  int n = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    unsigned latency, occupied, use, depth, num, den, least;
    if (sscanf(line, "mod lat=%u occ=%u C=%u D=%u II_num=%u II_den=%u D_min=%u", &latency,
               &occupied, &use, &depth, &num, &den, &least) != 7) {
      continue;
    }
    uint32_t chosen;
    fs_loop_report r = plan_ring(latency, occupied, use, depth, &chosen);
    ck_assert_msg(r.ii.num == num && r.ii.den == den, "%llu / %llu: %s",
                  (unsigned long long)r.ii.num, (unsigned long long)r.ii.den, line);
    ck_assert_uint_eq(chosen, depth);
    r = plan_ring(latency, occupied, use, 0, &chosen);
    ck_assert_uint_eq(r.ii.num, occupied > use ? occupied : use);
    ck_assert_uint_eq(r.ii.den, 1);
    ck_assert_msg(chosen == least, "%u slots: %s", chosen, line);
    n++;
  }
  (void)fclose(file);
  ck_assert_int_ge(n, 12);
}
END_TEST

/* --- ops of no time --- */

static uint32_t below(fs_rng *rng, uint32_t n) { return fs_rng_below(rng, n); }

/* A body of ops that come after each other at distances, some of which take no time. */
static void put_body(fs_rng *rng, uint32_t trip, fs_text *t) {
  uint32_t n = 2 + below(rng, 4);
  fs_text_printf(t,
                 "fsched: 1\ntarget: {queues: [{name: q0, class: c}, {name: q1, class: c}]}\n"
                 "buffers: [{name: z, size: 64, io: output}]\nops:\n- loop: l\n  trip: %u\n"
                 "  ops:\n",
                 trip);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t time = below(rng, 2) * below(rng, 6);
    fs_text_printf(t, "  - {name: o%u, on: %s, time: %u, latency: %u, after: [", i,
                   below(rng, 3) == 0   ? "c"
                   : below(rng, 2) == 0 ? "q0"
                                        : "q1",
                   time, time + below(rng, 2) * below(rng, 4));
    for (uint32_t k = 0; k < n; k++) {
      if (below(rng, 3) == 0) {
        fs_text_printf(t, "{op: o%u, distance: %u}, ", k, (k >= i) + below(rng, 3));
      }
    }
    fs_text_printf(t, "], args: [{out_existing: z, at: {offset: %u, length: 8}}]}\n", 8 * i);
  }
  fs_text_add(t, "", 1);
}

/* Compiles the loop as one; its report. */
static fs_loop_report roll(uint64_t seed, uint32_t trip) {
  fs_text t;
  fs_rng rng = {seed};
  fsched_read_options o = {.size = sizeof o};
  fsched_graph *g;
  fs_text_init(&t, ctx);
  put_body(&rng, trip, &t);
  fs_status status = fsched_graph_parse(ctx, "body", t.at, t.n - 1, &o, &g);
  ck_assert_msg(status == FSCHED_OK, "seed %llu: %s", (unsigned long long)seed, fs_test_diags(ctx));
  fs_loop_report r = *g->rolled[0].report;
  r.limit = NULL; /* the graph's */
  fsched_graph_destroy(g);
  fs_text_drop(&t);
  return r;
}

/* The interval is that at which iterations go on when each op starts as soon as it can, which is
 * followed so far. */
START_TEST(no_time)
{
  enum { FEW = 100, MORE = 420 };
  uint32_t proven = 0;
  for (uint64_t k = 0; k < 100; k++) {
    uint64_t seed = fs_turn() * 100 + k;
    fs_loop_report few = roll(seed, FEW), many = roll(seed, FEW + MORE);
    ck_assert(few.ii.num == many.ii.num && few.ii.den == many.ii.den);
    ck_assert_uint_eq(MORE % few.ii.den, 0);
    ck_assert_uint_eq((many.span - few.span) * few.ii.den, MORE * few.ii.num);
    proven += few.proven;
  }
  fs_assert_seen(proven, 95);
}
END_TEST

/* What there is no plan for. */
/* A use waits for its load, and a load, from that of the first slot that is taken again on, for a
 * use. */
START_TEST(executed_waits)
{
  for (uint64_t depth = 1; depth <= 12; depth++) {
    for (uint64_t trip = 2; trip <= 14; trip++) {
      char text[512];
      fsched_graph *g;
      fsched_schedule *s;
      (void)snprintf(text, sizeof text,
                     "fsched: 1\ntarget: {%s, memories: [{name: m}]}\nops:\n- loop: l\n"
                     "  trip: %llu\n  buffers: {x: {depth: %llu}}\n%s",
                     two_queues, (unsigned long long)trip, (unsigned long long)depth, load_use);
      g = fs_parse(text); /* the loop stays one */
      ck_fs(ctx, fsched_compile(ctx, g, &fs_quick, &s, NULL));
      ck_assert_uint_eq(s->schedule->n_loops, 1);
      fs_loop_report r = s->schedule->loop[0];
      ck_assert_uint_eq(r.executed, trip + (trip > depth ? trip - depth : 0));
      ck_assert_uint_ge(r.waits, trip > depth ? 2 : 1);
      ck_assert_uint_le(r.waits, 2);
      fsched_schedule_destroy(s);
      fsched_graph_destroy(g);
    }
  }
}
END_TEST

START_TEST(no_plan)
{
  static const struct {
    const char *text, *why;
  } cases[] = {
      {"fsched: 1\nops:\n- {loop: l, trip: 3, ops: [{name: a}]}\n", "the target names no queues"},
      {"fsched: 1\ntarget: {queues: [{name: q}, {name: r}], memories: [{name: m, capacity: 64}]}\n"
       "ops:\n- loop: l\n  trip: 3\n  ops:\n  - {name: a, on: q, scratch: {m: 40}}\n"
       "  - {name: b, on: r, scratch: {m: 40}}\n",
       "the scratch of its ops does not fit"},
      {"fsched: 1\ntarget: {queues: [{name: q}]}\nops:\n"
       "- {loop: l, trip: 3, ops: [{name: a, on: q, time: 0}, {name: b, on: q, time: "
       "1000000000000}]}\n",
       "an op takes no time, and others take very long"},
      {"fsched: 1\ntarget: {queues: [{name: q}]}\nbuffers: [{name: y, size: 1000, io: output}]\n"
       "ops:\n- loop: l\n  trip: 5\n  ops:\n"
       "  - {name: a, on: q, args: [{out_existing: y, at: {length: 10, step: 10}}]}\n"
       "  - {name: b, on: q, args: [{out_existing: y, at: {offset: 200, length: 10, step: "
       "-40}}]}\n",
       "its iterations are ordered unlike each other"},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    fsched_graph *g;
    fsched_schedule *s;
    fs_loop_report r = compile_loop(cases[i].text, &g, &s);
    ck_assert(r.why_not != NULL);
    ck_assert_str_eq(r.why_not, cases[i].why);
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
  }
}
END_TEST

/* Where there is no room for the slots that copies would need, their plan fits, or is not taken. */
START_TEST(copies_fit)
{
  for (unsigned capacity = 32; capacity <= 160; capacity += 32) {
    char text[512];
    (void)snprintf(text, sizeof text,
                   "fsched: 1\ntarget:\n"
                   "  queues: [{name: q0, class: c}, {name: q1, class: c}, {name: q2, class: c}]\n"
                   "  memories: [{name: m, capacity: %u}]\n"
                   "ops:\n- loop: l\n  trip: 9\n  ops:\n"
                   "  - {name: a, on: c, time: 6, args: [{out: x, size: 32}]}\n"
                   "  - {name: b, on: c, time: 1, args: [{in: x}]}\n",
                   capacity);
    fsched_graph *g;
    fsched_schedule *s;
    fs_loop_report r = compile_loop(text, &g, &s);
    ck_assert(r.why_not == NULL);
    ck_assert_uint_eq(r.n_slots, 1);
    ck_assert_uint_le(r.slots[0].depth * r.slots[0].bytes, capacity);
    ck_assert(capacity < 160 || r.ii.num * 3 == 7 * r.ii.den);
    ck_assert(capacity > 32 || r.ii.num == 7 * r.ii.den);
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
  }
}
END_TEST

/* Amounts of very many units are rounded up: the plan is right, and what equals the bound, which is
 * of the amounts as they are, is proven. */
static void check_many_units(unsigned amount, uint64_t interval) {
  char text[512];
  (void)snprintf(text, sizeof text,
                 "fsched: 1\ntarget: {queues: [{name: q}, {name: r}],\n"
                 "  resources: [{name: bus, capacity: 1000}]}\n"
                 "ops:\n- loop: l\n  trip: 5\n  ops:\n"
                 "  - {name: a, on: q, time: 2, uses: {bus: %u}}\n"
                 "  - {name: b, on: r, time: 3, uses: {bus: 7}}\n",
                 amount);
  fsched_graph *g;
  fsched_schedule *s;
  fs_loop_report r = compile_loop(text, &g, &s);
  ck_assert(r.why_not == NULL && r.proven);
  ck_assert_uint_eq(r.ii.num, interval);
  ck_assert_uint_eq(r.bound.num, interval);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}

START_TEST(many_units)
{
  check_many_units(999, 5); /* they exclude each other */
  check_many_units(1, 3);
}
END_TEST

/* A random body of two to five ops that use a resource of 17 to 300 units. */
static void put_uses(uint64_t seed, uint32_t trip, char *text, size_t n) {
  fs_rng r = {seed};
  uint32_t capacity = 17 + fs_rng_below(&r, 284), ops = 2 + fs_rng_below(&r, 4);
  int at = snprintf(text, n,
                    "fsched: 1\n"
                    "target: {queues: [{name: p}, {name: q}, {name: r}],"
                    " resources: [{name: bus, capacity: %u}]}\n"
                    "ops:\n- loop: l\n  trip: %u\n  ops:\n",
                    (unsigned)capacity, (unsigned)trip);
  for (uint32_t i = 0; i < ops; i++) {
    uint32_t time = 1 + fs_rng_below(&r, 9), amount = 1 + fs_rng_below(&r, capacity);
    at += snprintf(text + at, n - (size_t)at, "  - {name: o%u, time: %u, uses: {bus: %u}}\n",
                   (unsigned)i, (unsigned)time, (unsigned)amount);
  }
}

/* The makespan of a list schedule of so many iterations. */
static uint64_t unrolled_makespan(uint64_t seed, uint32_t trip) {
  char text[1024];
  fsched_graph *g;
  fsched_schedule *s;
  put_uses(seed, trip, text, sizeof text);
  fsched_compile_options o = {.size = sizeof o, .effort = FS_QUICK};
  g = parse(text);
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  uint64_t makespan = s->schedule->makespan;
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  return makespan;
}

/* Bounds hold for iterations that are scheduled freely, and nearly no plan is worse than one
 * iteration after the other. */
START_TEST(amounts_as_unrolled)
{
  enum { BODIES = 12, TRIP = 20 };
  uint32_t worse = 0, bounded = 0;
  for (uint64_t k = 0; k < BODIES; k++) {
    char text[1024];
    fsched_read_options o = {.size = sizeof o, .effort = FS_QUICK};
    fsched_graph *g;
    uint64_t seed = fs_turn() * BODIES + k;
    put_uses(seed, 1000, text, sizeof text);
    ck_fs(ctx, fsched_graph_parse(ctx, "uses", text, strlen(text), &o, &g));
    const fs_loop_report *r = g->rolled[0].report;
    uint64_t all = unrolled_makespan(seed, TRIP), one = unrolled_makespan(seed, 1);
    ck_assert_msg(r->bound.num * TRIP <= all * r->bound.den, "seed %lu: bound above a schedule",
                  (unsigned long)seed);
    ck_assert(r->ii.num * r->bound.den >= r->bound.num * r->ii.den);
    bool equal = r->ii.num == r->bound.num && r->ii.den == r->bound.den;
    ck_assert(r->proven || !equal);
    worse += r->ii.num > one * r->ii.den;
    bounded += equal;
    fsched_graph_destroy(g);
  }
  ck_assert_uint_lt(2 * worse, BODIES);
  fs_assert_seen(bounded, 0);
}
END_TEST

/* 9 and 8 of 17 units run at a time; of 99 a bound is known. */
START_TEST(amounts_without_divisor)
{
  static const char format[] =
      "fsched: 1\ntarget: {queues: [{name: q0}, {name: q1}], resources: [{name: p, capacity: "
      "%d}]}\n"
      "ops:\n- loop: l\n  trip: 50\n  ops:\n  - {name: a, time: 3, uses: {p: %d}}\n"
      "  - {name: b, time: 5, uses: {p: %d}}\n  - {name: c, time: 4, uses: {p: %d}}\n";
  static const int amount[][4] = {{17, 9, 8, 10}, {99, 50, 49, 60}};
  for (uint32_t i = 0; i < 2; i++) {
    char text[512];
    fsched_read_options o = {.size = sizeof o};
    fsched_graph *g;
    (void)snprintf(text, sizeof text, format, amount[i][0], amount[i][1], amount[i][2],
                   amount[i][3]);
    ck_fs(ctx, fsched_graph_parse(ctx, "amounts", text, strlen(text), &o, &g));
    const fs_loop_report *r = g->rolled[0].report;
    ck_assert_uint_eq(r->bound.num, 7 * r->bound.den); /* a and c, or c and b at half their times */
    ck_assert_uint_le(r->ii.num, (i == 0 ? 8 : 10) * r->ii.den);
    fsched_graph_destroy(g);
  }
}
END_TEST

/* The order is a linear extension, in which iterations overlap. */
START_TEST(orders)
{
  static const char text[] =
      "fsched: 1\ntarget: {queues: [{name: dma}, {name: mma}, {name: cut}]}\nops:\n"
      "- {name: z, on: dma, args: [{out: s, size: 8}]}\n"
      "- loop: outer\n  trip: 3\n  ops:\n"
      "  - {name: between, on: mma, args: [{in: s}, {out: t, size: 8}]}\n"
      "  - loop: l\n    trip: 6\n    ops:\n"
      "    - {name: load, on: dma, time: 3, args: [{in: t}, {out: x, size: 64}]}\n"
      "    - {name: half, on: cut, time: 3, args: [{in: x}, {out: y, size: 64}]}\n"
      "    - {name: use, on: mma, time: 3, args: [{in: y}, {in: s, distance: 1}, {out: s}]}\n"
      "- {name: end, on: dma, args: [{in: s}]}\n";
  fsched_graph *g = parse(text);
  fs_loop_plans plans;
  ck_fs(ctx, fs_loops_plan(ctx, &own_arena, g, 3, true, &plans));
  ck_assert_uint_eq(plans.n, 1);
  ck_assert(plans.position != NULL);
  bool *taken;
  ck_fs(ctx, fs_new_zero(&own_arena, &taken, g->n_ops));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    ck_assert_uint_lt(plans.position[op], g->n_ops);
    ck_assert(!taken[plans.position[op]]);
    taken[plans.position[op]] = true;
    for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
      ck_assert_uint_lt(plans.position[g->pred[e]], plans.position[op]);
    }
  }
  uint32_t ahead = 0; /* loads that come before a use of an earlier iteration */
  for (uint32_t op = 0; op + 1 < g->n_ops; op++) {
    ahead += strncmp(g->op_name[op], "use", 3) == 0 &&
             strncmp(g->op_name[op + 1], "load", 4) == 0 &&
             plans.position[op + 1] < plans.position[op];
  }
  ck_assert_uint_eq(ahead, 3 * 5);
  fsched_graph_destroy(g);
}
END_TEST

/* Values that are begun in the place of those of d iterations ago: each iteration follows the one d
 * before, not the one before, as in the unrolled graph. */
START_TEST(chains_in_place)
{
  static const uint64_t most[] = {78,
                                  52}; /* all iterations at the interval of the unrolled graph */
  for (uint32_t d = 2; d <= 3; d++) {
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "fsched: 1\n"
                   "target: {queues: [{name: q0, class: c}, {name: q1, class: c}, "
                   "{name: q2, class: c}]}\n"
                   "buffers: [{name: s, size: 64}, {name: y, size: 1024, io: output}]\n"
                   "ops:\n- {name: zero, on: c, args: [{out: s}]}\n"
                   "- loop: l\n  trip: 12\n  buffers: {s: {depth: %u}}\n  ops:\n"
                   "  - {name: add, on: c, time: 12, args: [{in: s, distance: %u}, {out: s}],"
                   " inplace: {s: s}}\n"
                   "  - {name: put, on: c, args: [{in: s}, {out_existing: y,"
                   " at: {offset: 0, length: 64, step: 64}}]}\n",
                   (unsigned)d, (unsigned)d);
    fsched_compile_options o = {.size = sizeof o, .effort = FS_QUICK, .verify = 1};
    fsched_schedule *s;
    fsched_graph *g = fs_parse(text);
    ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
    const fs_loop_report *r = &s->schedule->loop[0];
    ck_assert_uint_eq(r->ii.num, 13);
    ck_assert_uint_eq(r->ii.den, d);
    ck_assert(r->proven);
    ck_assert_uint_lt(r->span, most[d - 2] + 15); /* one chain begins later */
    fsched_schedule_destroy(s);
    fsched_graph_destroy(g);
  }
}
END_TEST

/* A graph that had no loops has no reports. */
START_TEST(no_loops)
{
  fsched_graph *g = fs_parse("fsched: 1\nops: [{name: a}, {name: b}]\n");
  fsched_schedule *s;
  ck_fs(ctx, fsched_compile(ctx, g, &fs_quick, &s, NULL));
  ck_assert_uint_eq(s->schedule->n_loops, 0);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(loop_plans, s) {
  TCase *t = fs_case(s, fs_test_arena);
  FS_LOOPS(t, 0, sizeof known / sizeof *known, known_intervals);
  FS_TESTS(t, mod_facts, executed_waits, no_time, copies_fit, many_units, amounts_as_unrolled,
           amounts_without_divisor, no_plan, orders, chains_in_place, no_loops);
}
