/* SPDX-License-Identifier: Apache-2.0 */
/* Searches by several threads: the same bytes each time, also while other searches run beside them;
 * their proofs; and how they end, by a stop, without memory, and with options that are wrong. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/fail_each.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "search/small_case.h"

#include "kit/context.h"

/* ---- graphs of each kind */

enum { TEXT = 40000 };

/* Ops that share two resources, in some order. */
static fsched_graph *make_project(fsched_context *own, uint64_t seed, uint32_t n) {
  fs_rng r = {seed};
  char text[TEXT];
  int at = snprintf(text, sizeof text,
                    "fsched: 1\nname: p\ntarget: {resources: [{name: r, capacity: 9}, "
                    "{name: s, capacity: 7}]}\nops:\n");
  for (uint32_t i = 0; i < n; i++) {
    at += snprintf(text + at, sizeof text - (size_t)at,
                   "  - {name: o%u, time: %u, uses: {r: %u, s: %u}", i, 1 + fs_rng_below(&r, 10),
                   1 + fs_rng_below(&r, 5), fs_rng_below(&r, 5));
    if (i > 2) {
      uint32_t a = fs_rng_below(&r, i), b = fs_rng_below(&r, i);
      at += snprintf(text + at, sizeof text - (size_t)at,
                     a == b ? ", after: [o%u]" : ", after: [o%u, o%u]", a, b);
    }
    at += snprintf(text + at, sizeof text - (size_t)at, "}\n");
  }
  fsched_graph *g;
  ck_fs(own, fsched_graph_parse(own, "p", text, (size_t)at, NULL, &g));
  return g;
}

/* Jobs that each visit all machines, in orders at random. */
static fsched_graph *make_shop(fsched_context *own, uint64_t seed, uint32_t n) {
  enum { MACHINES = 5 };
  fs_rng r = {seed};
  char text[TEXT];
  int at = snprintf(text, sizeof text,
                    "fsched: 1\nname: s\ntarget: {queues: [{name: m0}, {name: m1}, {name: m2}, "
                    "{name: m3}, {name: m4}]}\nops:\n");
  for (uint32_t j = 0; j < n; j++) {
    uint32_t machine[MACHINES] = {0, 1, 2, 3, 4};
    for (uint32_t k = 0; k < MACHINES; k++) {
      uint32_t other = k + fs_rng_below(&r, MACHINES - k), m = machine[other];
      machine[other] = machine[k];
      machine[k] = m;
      at += snprintf(text + at, sizeof text - (size_t)at, "  - {name: j%u_%u, on: m%u, time: %u", j,
                     k, m, 5 + fs_rng_below(&r, 40));
      at +=
          k == 0 ? 0 : snprintf(text + at, sizeof text - (size_t)at, ", after: [j%u_%u]", j, k - 1);
      at += snprintf(text + at, sizeof text - (size_t)at, "}\n");
    }
  }
  fsched_graph *g;
  ck_fs(own, fsched_graph_parse(own, "s", text, (size_t)at, NULL, &g));
  return g;
}

/* Rectangles that nothing orders. */
static fsched_graph *make_strip(fsched_context *own, uint64_t seed, uint32_t n) {
  fs_rng r = {seed};
  char text[TEXT];
  int at = snprintf(text, sizeof text,
                    "fsched: 1\nname: t\ntarget: {memories: [{name: m, capacity: 40}]}\nops:\n");
  for (uint32_t i = 0; i < n; i++) {
    at += snprintf(text + at, sizeof text - (size_t)at,
                   "  - {name: o%u, time: %u, scratch: {m: %u}}\n", i, 3 + fs_rng_below(&r, 20),
                   2 + fs_rng_below(&r, 25));
  }
  fsched_graph *g;
  ck_fs(own, fsched_graph_parse(own, "t", text, (size_t)at, NULL, &g));
  return g;
}

static fsched_graph *make_random(fsched_context *own, const fs_gen_params *p) {
  fsched_graph *g;
  ck_fs(own, fs_gen_graph(own, p, &g));
  return g;
}

static fsched_graph *make_short(fsched_context *own, uint64_t seed, uint32_t n) {
  fs_gen_params p = {.seed = seed,
                     .n_ops = n,
                     .n_queues = 3,
                     .n_memories = 1,
                     .tightness = 1.5,
                     .backing = true,
                     .io = true};
  return make_random(own, &p);
}

static fsched_graph *make_queueless(fsched_context *own, uint64_t seed, uint32_t n) {
  fs_gen_params p = {.seed = seed,
                     .n_ops = n,
                     .n_memories = 1,
                     .tightness = 2,
                     .backing = true,
                     .concurrency = true};
  return make_random(own, &p);
}

static fsched_graph *make_any(fsched_context *own, uint64_t seed, uint32_t n) {
  fs_gen_params p = fs_gen_any(seed, n);
  return make_random(own, &p);
}

static const struct {
  fsched_graph *(*make)(fsched_context *own, uint64_t seed, uint32_t n);
  uint32_t n, graphs;
  uint64_t nodes;
} kinds[] = {
    {make_project, 30, 2, 1000},  {make_project, 90, 1, 500}, {make_shop, 8, 2, 1000},
    {make_strip, 25, 2, 200},     {make_short, 25, 2, 500},   {make_short, 250, 1, 100},
    {make_queueless, 30, 2, 300}, {make_any, 40, 5, 200},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- the same bytes */

typedef struct jobs_case {
  unsigned kind;
  uint64_t seed;
  uint32_t jobs;
  fsched_status status;
  uint64_t makespan, bound, hash; /* the latter of the program's bytes */
} jobs_case;

static uint64_t hash_of(const fsched_program *p) {
  size_t n;
  const unsigned char *at = fsched_program_bytes(p, &n);
  uint64_t hash = n;
  for (size_t k = 0; k < n; k++) {
    hash = (hash ^ at[k]) * UINT64_C(0x100000001b3);
  }
  return hash;
}

/* In a context of its own, as it may run on any thread; the result is verified. */
static void *run_case(void *user) {
  jobs_case *c = user;
  fsched_context *own = fs_new_context();
  fsched_graph *g = kinds[c->kind].make(own, c->seed, kinds[c->kind].n);
  fsched_schedule *s;
  fsched_program *p;
  fsched_compile_options o = {.size = sizeof o,
                              .verify = 1,
                              .effort = FSCHED_EFFORT(0),
                              .refine = FSCHED_REFINE_SEARCH,
                              .node_limit = kinds[c->kind].nodes,
                              .jobs = c->jobs};
  c->status = fsched_compile(own, g, &o, &s, &p);
  if (c->status == FSCHED_OK) {
    c->makespan = fsched_schedule_makespan(s);
    c->bound = fsched_schedule_lower_bound(s);
    c->hash = hash_of(p);
  }
  fsched_program_destroy(p);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_context_destroy(own);
  return NULL;
}

static void assert_same(const jobs_case *a, const jobs_case *b) {
  bool same = a->status == b->status && a->makespan == b->makespan && a->bound == b->bound &&
              a->hash == b->hash;
  ck_assert_msg(same, "kind %u, seed %llu, -j %u and %u: %d %d, %llu %llu, %llu %llu", a->kind,
                (unsigned long long)a->seed, a->jobs, b->jobs, a->status, b->status,
                (unsigned long long)a->makespan, (unsigned long long)b->makespan,
                (unsigned long long)a->bound, (unsigned long long)b->bound);
}

/* Alone, and twice beside each other. */
static jobs_case run_thrice(jobs_case c) {
  jobs_case beside[2] = {c, c};
  pthread_t thread;
  (void)run_case(&c);
  ck_assert_int_eq(pthread_create(&thread, NULL, run_case, &beside[1]), 0);
  (void)run_case(&beside[0]);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  assert_same(&c, &beside[0]);
  assert_same(&c, &beside[1]);
  return c;
}

START_TEST(same_bytes)
{
  for (uint32_t k = 0; k < kinds[_i].graphs; k++) {
    jobs_case one = {.kind = (unsigned)_i, .seed = fs_turn() << 16 | k}, first = one, two = one,
              four = one;
    first.jobs = 1;
    two.jobs = 2;
    four.jobs = 4;
    (void)run_case(&one);
    (void)run_case(&first);
    assert_same(&one, &first);
    two = run_thrice(two);
    four = run_thrice(four);
    ck_assert_int_eq(two.status, one.status);
    ck_assert_int_eq(four.status, one.status);
  }
}
END_TEST

/* ---- proofs */

static fsched_compile_options proving(char **text, size_t *n, uint32_t jobs, uint64_t nodes) {
  return (fsched_compile_options){.size = sizeof(fsched_compile_options),
                                  .verify = 1,
                                  .refine = FSCHED_REFINE_SEARCH,
                                  .node_limit = nodes,
                                  .proof = text,
                                  .proof_length = n,
                                  .jobs = jobs};
}

/* The proof of one member shows the bound; no bound is above the least makespan. */
START_TEST(proofs)
{
  unsigned proven = 0;
  for (unsigned k = 0; k < 40; k++) {
    fs_rng r = {fs_turn() << 16 | k};
    search_case c = fs_small_case(&r, MOST_OPS, 6);
    fsched_graph *g = k % 4 == 0 ? make_shop(ctx, r.state, 5) : fs_small_graph(&c);
    uint64_t least = k % 4 == 0 ? UINT64_MAX : fs_small_least(&c) * c.tick, shown;
    char *text[2] = {0};
    size_t n[2];
    for (unsigned i = 0; i < 2 && least > 0; i++) {
      fsched_compile_options o = proving(&text[i], &n[i], 2 + k % 3, k % 3 == 0 ? 3 : 1000);
      fsched_schedule *s;
      ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
      ck_fs(ctx, fsched_verify_proof(ctx, g, text[i], n[i], "p", &shown));
      ck_assert_uint_eq(shown, fsched_schedule_lower_bound(s));
      ck_assert_uint_le(shown, least);
      proven += shown == fsched_schedule_makespan(s);
      fsched_schedule_destroy(s);
    }
    if (least > 0) {
      ck_assert_uint_eq(n[0], n[1]);
      ck_assert_mem_eq(text[0], text[1], n[0]);
      fsched_text_free(ctx, text[0], n[0]);
      fsched_text_free(ctx, text[1], n[1]);
    }
    fsched_graph_destroy(g);
  }
  fs_assert_seen(proven, 30);
}
END_TEST

/* What members know of memories is in no proof. */
START_TEST(proof_beside_memories)
{
  fsched_graph *g = make_short(ctx, 1, 30);
  char *text[2];
  size_t n[2];
  for (unsigned i = 0; i < 2; i++) {
    fsched_compile_options o = proving(&text[i], &n[i], 3, 100);
    fsched_schedule *s;
    uint64_t shown;
    ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
    ck_fs(ctx, fsched_verify_proof(ctx, g, text[i], n[i], "p", &shown));
    ck_assert_uint_eq(shown, fsched_schedule_lower_bound(s));
    fsched_schedule_destroy(s);
  }
  ck_assert_uint_eq(n[0], n[1]);
  ck_assert_mem_eq(text[0], text[1], n[0]);
  fsched_text_free(ctx, text[0], n[0]);
  fsched_text_free(ctx, text[1], n[1]);
  fsched_graph_destroy(g);
}
END_TEST

/* Why there is none is reported once, whichever member finds it. */
START_TEST(no_proof)
{
  fsched_graph *g = fs_parse(
      "fsched: 1\nname: g\ntarget: {queues: [{name: q, class: c}, {name: r, class: c}]}\n"
      "ops: [{name: a, on: {class: c, count: 1}, time: 3}, {name: b, on: r, time: 3}]\n");
  char *text;
  size_t n;
  fsched_compile_options o = proving(&text, &n, 3, 10);
  ck_assert_int_eq(fsched_compile(ctx, g, &o, NULL, NULL), FSCHED_USAGE);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  ck_assert_ptr_null(text);
  fsched_graph_destroy(g);
}
END_TEST

/* ---- ends */

typedef struct stop_news {
  pthread_t caller;
  unsigned n;
  volatile int stop;
} stop_news;

static void stop_at_once(void *user, const fsched_refine_state *state) {
  stop_news *news = user;
  ck_assert_uint_ge(state->size, sizeof *state);
  ck_assert(pthread_equal(pthread_self(), news->caller));
  ck_assert_uint_le(state->bound, state->incumbent);
  news->n++;
  __atomic_store_n(&news->stop, 1, __ATOMIC_RELAXED);
}

START_TEST(stops)
{
  stop_news news = {.caller = pthread_self()};
  fsched_graph *g = _i == 0 ? make_project(ctx, 7, 100) : make_short(ctx, 7, 60);
  fsched_schedule *s;
  fsched_compile_options o = {.size = sizeof o,
                              .verify = 1,
                              .effort = FSCHED_EFFORT(0),
                              .refine = FSCHED_REFINE_SEARCH,
                              .node_limit = UINT64_MAX / 2,
                              .stop = &news.stop,
                              .refine_news = stop_at_once,
                              .refine_user = &news,
                              .jobs = 3};
  ck_fs(ctx, fsched_compile(ctx, g, &o, &s, NULL));
  ck_assert_uint_ge(news.n, 1);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

static fsched_status compile_with(fsched_context *own, fs_budget *budget, long left,
                                  fsched_graph *g, uint32_t jobs) {
  fsched_compile_options o = {.size = sizeof o,
                              .effort = FSCHED_EFFORT(0),
                              .refine = FSCHED_REFINE_SEARCH,
                              .node_limit = 20,
                              .jobs = jobs};
  fsched_schedule *s;
  budget->left = left;
  fsched_status status = fsched_compile(own, g, &o, &s, NULL);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  return status;
}

static fsched_status project_with(fsched_context *own, fs_budget *budget, long left) {
  return compile_with(own, budget, left, make_project(own, 3, 12), 2);
}

static fsched_status short_with(fsched_context *own, fs_budget *budget, long left) {
  fs_few_trials(own);
  return compile_with(own, budget, left, make_short(own, 4, 10), 3);
}

START_TEST(without_memory)
{
  fs_fail_each(project_with, 7);
  fs_fail_each(short_with, 61);
}
END_TEST

/* An allocator that is called by one thread at a time. */
typedef struct lone_allocator {
  _Atomic unsigned inside, met;
} lone_allocator;

static void *reallocate_alone(void *user, void *block, size_t old_size, size_t new_size) {
  lone_allocator *a = user;
  (void)old_size;
  a->met += atomic_fetch_add(&a->inside, 1) != 0;
  void *p = NULL;
  if (new_size == 0) {
    free(block);
  } else {
    p = realloc(block, new_size);
  }
  atomic_fetch_sub(&a->inside, 1);
  return p;
}

START_TEST(allocator_of_one_thread)
{
  lone_allocator a = {0};
  fsched_context_options with = {.size = sizeof with, .reallocate = reallocate_alone, .user = &a};
  fsched_context *own;
  ck_assert_int_eq(fsched_context_create(&with, &own), FSCHED_OK);
  fsched_graph *g = make_project(own, 5, 60);
  fsched_compile_options o = {
      .size = sizeof o, .refine = FSCHED_REFINE_SEARCH, .node_limit = 200, .jobs = 4};
  ck_fs(own, fsched_compile(own, g, &o, NULL, NULL));
  ck_assert_uint_eq(a.met, 0);
  fsched_graph_destroy(g);
  fsched_context_destroy(own);
}
END_TEST

/* ---- options */

START_TEST(wrong_options)
{
  fsched_graph *g = make_project(ctx, 1, 5);
  fsched_compile_options o = {.size = sizeof o, .jobs = FSCHED_MOST_JOBS + 1};
  ck_assert_int_eq(fsched_compile(ctx, g, &o, NULL, NULL), FSCHED_USAGE);
  o.size = offsetof(fsched_compile_options, jobs); /* of a caller that does not know of jobs */
  ck_fs(ctx, (fsched_diag_clear(ctx), fsched_compile(ctx, g, &o, NULL, NULL)));
  o = (fsched_compile_options){.size = sizeof o, .refine = FSCHED_REFINE_ILP, .jobs = 2};
  ck_assert_int_eq(fsched_compile(ctx, g, &o, NULL, NULL), FSCHED_USAGE);
  o.refine = FSCHED_REFINE_NONE;
  ck_fs(ctx, (fsched_diag_clear(ctx), fsched_compile(ctx, g, &o, NULL, NULL)));
  o.refine = FSCHED_REFINE_AUTO;
  o.jobs = FSCHED_MOST_JOBS;
  ck_fs(ctx, fsched_compile(ctx, g, &o, NULL, NULL));
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(search_jobs, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 300);
  FS_LOOPS(t, 0, KINDS, same_bytes);
  FS_LOOPS(t, 0, 2, stops);
  FS_TESTS(t, proofs, proof_beside_memories, no_proof, without_memory, allocator_of_one_thread,
           wrong_options);
}
