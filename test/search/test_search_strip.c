/* SPDX-License-Identifier: Apache-2.0 */
/* Strips: which graphs they are; packings that are known to exist are found, by the search alone
 * and by compile, which calls them optimal; and what is found is verified. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/fail_each.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "search/strip/strip.h"

#include "kit/context.h"

enum { TEXT = 20000, MOST = 40 };

typedef struct strip_sample {
  uint32_t n;
  uint64_t width, height, w[MOST], h[MOST];
} strip_sample;

/* Cuts a strip into rectangles, of which `less` are left out: there is a packing within the height
 * (and none below, where nothing is left out). */
static void cut(strip_sample *s, uint64_t seed, uint32_t n, uint64_t width, uint64_t height,
                uint32_t less) {
  fs_rng r = {seed * 31 + 5};
  *s = (strip_sample){.n = 1, .width = width, .height = height, .w = {width}, .h = {height}};
  while (s->n < n) {
    uint32_t i = fs_rng_below(&r, s->n);
    bool upright = fs_rng_one_in(&r, 2);
    uint64_t *size = upright ? s->w : s->h;
    if (size[i] >= 2) {
      uint64_t part = 1 + fs_rng_below(&r, (uint32_t)size[i] - 1);
      s->w[s->n] = s->w[i];
      s->h[s->n] = s->h[i];
      size[s->n++] = size[i] - part;
      size[i] = part;
    }
  }
  s->n -= less;
}

static void put_text(const strip_sample *s, char *text, const char *last) {
  int n = snprintf(text, TEXT,
                   "fsched: 1\nname: s\ntarget:\n  memories: [{name: m, capacity: %llu}]\nops:\n",
                   (unsigned long long)(3 * s->width));
  for (uint32_t i = 0; i < s->n; i++) {
    n += snprintf(text + n, TEXT - (size_t)n, "  - {name: o%u, time: %llu, scratch: {m: %llu}%s}\n",
                  i, (unsigned long long)s->h[i], (unsigned long long)(3 * s->w[i]),
                  i + 1 == s->n ? last : "");
  }
}

static fs_problem *problem_of(fsched_context *own, const fsched_graph *g) {
  fs_problem *p;
  ck_assert_int_eq(fs_problem_from_graph(own, g, 1 << 20, 1, &p), FSCHED_OK);
  ck_assert_ptr_nonnull(p);
  return p;
}

static const struct {
  const char *what, *text;
  bool strip;
} which[] = {
    {"a strip", "{name: a, time: 2, scratch: {m: 3}}, {name: b, time: 1, scratch: {m: 4}}", true},
    {"one holds nothing", "{name: a, time: 2, scratch: {m: 3}}, {name: b, time: 1}", true},
    {"an order", "{name: a, time: 2, scratch: {m: 3}}, {name: b, time: 1, after: [a]}", false},
    {"a given start", "{name: a, time: 2, start: 0, scratch: {m: 3}}, {name: b, time: 1}", false},
    {"no length", "{name: a, time: 2, scratch: {m: 3}}, {name: b, time: 0, scratch: {m: 4}}",
     false},
    {"another memory", "{name: a, time: 2, scratch: {m: 3}}, {name: b, time: 1, scratch: {k: 4}}",
     false},
    {"two parts", "{name: a, time: 2, scratch: {m: 3, k: 1}}, {name: b, time: 1}", false},
    {"a resource", "{name: a, time: 2, scratch: {m: 3}, uses: {r: 1}}, {name: b, time: 1}", false},
    {"a buffer", "{name: a, time: 2, scratch: {m: 3}, args: [{out: v, size: 2}]}", false},
    {"no memory", "{name: a, time: 2}, {name: b, time: 1}", false},
};

START_TEST(which_are_strips)
{
  char text[TEXT];
  (void)snprintf(text, sizeof text,
                 "fsched: 1\nname: s\ntarget:\n  memories: [{name: m, capacity: 9}, {name: k, "
                 "capacity: 9}]\n  resources: [{name: r, capacity: 1}]\nops: [%s]\n",
                 which[_i].text);
  fsched_graph *g = fs_parse(text);
  fs_problem *p = problem_of(ctx, g);
  ck_assert_msg(fs_strip_knows(p) == which[_i].strip, "%s", which[_i].what);
  fs_problem_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

/* What is said to be found must be a schedule within the height. */
static bool pack(fsched_context *own, const fsched_graph *g, fs_tick height, uint64_t seed,
                 uint64_t *nodes) {
  fs_arena arena;
  fs_answer answer;
  fs_schedule *s;
  const char *why;
  bool found;
  fs_problem *p = problem_of(own, g);
  ck_assert(fs_strip_knows(p));
  fs_strip_search o = {.problem = p, .height = height, .nodes = 2000, .seed = seed};
  *nodes = 0;
  fs_arena_init(&arena, own);
  ck_assert_int_eq(fs_strip_run(&o, &arena, &answer, nodes, &found), FSCHED_OK);
  ck_assert_uint_le(*nodes, o.nodes);
  if (found) {
    ck_assert_uint_le(answer.makespan, height);
    ck_assert_int_eq(fs_answer_schedule(p, &answer, &s, &why), FSCHED_OK);
    ck_assert_msg(s != NULL, "%s", why);
    ck_assert_uint_eq(s->makespan, answer.makespan);
    fs_schedule_destroy(s);
  }
  fs_arena_release(&arena);
  fs_problem_destroy(p);
  return found;
}

START_TEST(packings_are_found)
{
  char text[TEXT];
  uint32_t found = 0, n = 0;
  for (uint64_t k = 0; k < 120; k++, n++) {
    strip_sample s;
    uint64_t nodes, again;
    cut(&s, fs_turn() * 1000 + k, 4 + (uint32_t)(k % 24), 12 + k % 9, 10 + k % 13, 0);
    put_text(&s, text, "");
    fsched_graph *g = fs_parse(text);
    bool it = pack(ctx, g, s.height, k, &nodes);
    ck_assert(it == pack(ctx, g, s.height, k, &again) && nodes == again);
    ck_assert(!pack(ctx, g, s.height - 1, k, &again)); /* the area does not fit */
    found += it;
    fsched_graph_destroy(g);
  }
  ck_assert_uint_gt(found, n - 6);
}
END_TEST

START_TEST(compile_packs)
{
  char text[TEXT];
  uint32_t optimal = 0;
  for (uint64_t k = 0; k < 40; k++) {
    strip_sample s;
    cut(&s, fs_turn() * 1000 + k, 6 + (uint32_t)(k % 20), 15, 14, k % 3 == 0 ? 2 : 0);
    put_text(&s, text, "");
    fsched_graph *g = fs_parse(text);
    uint64_t makespan[2];
    for (int i = 0; i < 2; i++) {
      fsched_compile_options o = {
          .size = sizeof o, .verify = 1, .refine = FSCHED_REFINE_SEARCH, .node_limit = 3000};
      fsched_schedule *schedule;
      ck_fs(ctx, fsched_compile(ctx, g, &o, &schedule, NULL));
      makespan[i] = fsched_schedule_makespan(schedule);
      ck_assert_uint_le(fsched_schedule_lower_bound(schedule), s.height);
      optimal += i == 0 && makespan[i] == fsched_schedule_lower_bound(schedule);
      fsched_schedule_destroy(schedule);
    }
    ck_assert_uint_eq(makespan[0], makespan[1]);
    fsched_graph_destroy(g);
  }
  ck_assert_uint_gt(optimal, 34);
}
END_TEST

static fsched_status pack_with(fsched_context *own, fs_budget *budget, long left) {
  char text[TEXT];
  strip_sample s;
  fsched_graph *g;
  fsched_schedule *schedule = NULL;
  cut(&s, 3, 9, 12, 10, 0);
  put_text(&s, text, "");
  ck_assert_int_eq(fsched_graph_parse(own, "s", text, strlen(text), NULL, &g), FSCHED_OK);
  fsched_compile_options o = {.size = sizeof o, .refine = FSCHED_REFINE_SEARCH, .node_limit = 100};
  budget->left = left;
  fsched_status status = fsched_compile(own, g, &o, &schedule, NULL);
  if (status == FSCHED_OK) {
    ck_assert_uint_eq(fsched_schedule_makespan(schedule), 10);
    fsched_schedule_destroy(schedule);
  }
  fsched_graph_destroy(g);
  return status;
}

START_TEST(packs_without_memory)
{ fs_fail_each(pack_with, 1); }
END_TEST

FS_SUITE(search_strip, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_LOOPS(t, 0, sizeof which / sizeof which[0], which_are_strips);
  FS_TESTS(t, packings_are_found, compile_packs, packs_without_memory);
}
