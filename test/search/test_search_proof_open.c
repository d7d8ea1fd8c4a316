/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs that the search writes of graphs whose memories are short, with open copies: what the
 * search proves they show; no schedule of other seeds is shorter, nor one that a search through all
 * states finds; and no damaged proof shows a time more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "ilp/spill_search.h"
#include "kit/exhaust.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "model/handle.h"
#include "search/tiny_spills.h"
#include "verify/proof/written_proof.h"

#include "kit/context.h"

enum { GRAPHS = 80, SEEDS = 6, TINY = 80, DAMAGES = 120, MOST_TOKENS = 4 };

static bool is_open(const fs_written_proof *p) {
  return p->n > 0 && strstr(p->text, "\nopen\n") != NULL;
}

static fs_gen_params draw_short(uint64_t seed, bool store) {
  fs_rng r = {seed};
  return (fs_gen_params){.seed = seed,
                         .n_ops = 3 + fs_rng_below(&r, 10),
                         .n_queues = 1 + fs_rng_below(&r, 4),
                         .n_classes = 1 + fs_rng_below(&r, 2),
                         .n_memories = 1 + fs_rng_below(&r, 2),
                         .max_size = 100,
                         .window = 4 << fs_rng_below(&r, 3),
                         .tightness = 1 + 0.5 * fs_rng_below(&r, 3),
                         .backing = store,
                         .short_share = store ? 0 : 0.4 + 0.1 * fs_rng_below(&r, 5),
                         .counted = fs_rng_one_in(&r, 3),
                         .io = true,
                         .inouts = fs_rng_one_in(&r, 2),
                         .ats = fs_rng_one_in(&r, 4),
                         .versions = fs_rng_one_in(&r, 3),
                         .inplace = fs_rng_one_in(&r, 2),
                         .scratch = fs_rng_one_in(&r, 4),
                         .gangs = fs_rng_one_in(&r, 4)};
}

static fsched_schedule *compile_with(const fsched_graph *g, uint64_t seed, fsched_refine refine) {
  fsched_schedule *s = NULL;
  fsched_compile_options o = {
      .size = sizeof o, .seed = seed, .refine = refine, .node_limit = 4000, .verify = 1};
  fsched_status status = fsched_compile(ctx, g, &o, &s, NULL);
  ck_assert(status == FSCHED_OK || status == FSCHED_INFEASIBLE);
  fsched_diag_clear(ctx);
  return s;
}

/* No schedule of the list scheduler is shorter than what is shown. */
static void compare_schedules(const fsched_graph *g, uint64_t shown) {
  for (uint64_t k = 0; k < SEEDS; k++) {
    fsched_schedule *s = compile_with(g, k, FSCHED_REFINE_NONE);
    ck_assert(s == NULL || fsched_schedule_makespan(s) >= shown);
    fsched_schedule_destroy(s);
  }
}

START_TEST(optimal_ones)
{
  unsigned optimal = 0, proven = 0, open = 0;
  for (unsigned k = 0; k < GRAPHS; k++) {
    uint64_t seed = fs_turn() << 16 | k, shown;
    fs_gen_params params = draw_short(seed, _i == 0);
    fsched_graph *g;
    fsched_status status = fs_gen_graph(ctx, &params, &g);
    fsched_diag_clear(ctx);
    fsched_schedule *s = status == FSCHED_OK ? compile_with(g, k, FSCHED_REFINE_SEARCH) : NULL;
    if (s != NULL) {
      fs_written_proof p = fs_write_proof(g, k, 4000);
      ck_fs(ctx, fsched_verify_proof(ctx, g, p.text, p.n, "p", &shown));
      ck_assert_uint_eq(shown, p.bound);
      ck_assert_uint_le(shown, p.makespan);
      compare_schedules(g, shown);
      bool best = fsched_schedule_makespan(s) == fsched_schedule_lower_bound(s);
      ck_assert_uint_le(shown, fsched_schedule_makespan(s));
      ck_assert(!best || p.makespan >= fsched_schedule_makespan(s));
      optimal += best;
      proven += best && shown == fsched_schedule_makespan(s);
      open += is_open(&p);
      fsched_text_free(ctx, p.text, p.n);
    }
    fsched_schedule_destroy(s);
    fsched_graph_destroy(status == FSCHED_OK ? g : NULL);
  }
  fs_assert_seen(open, _i == 0 ? 12 : 3);
  fs_assert_seen(optimal, GRAPHS / 3);
  fs_assert_seen(10 * proven, 9 * optimal);
}
END_TEST

/* ---- damages */

typedef struct damaged_text {
  char *at;
  size_t n;
} damaged_text;

/* Where the k-th number of the text begins. */
static size_t find_number(const damaged_text *t, size_t from) {
  size_t i = from;
  while (i < t->n && !(t->at[i] >= '0' && t->at[i] <= '9')) {
    i++;
  }
  return i;
}

static void splice(damaged_text *t, size_t from, size_t to, const char *by) {
  size_t n = strlen(by);
  memmove(t->at + from + n, t->at + to, t->n - to + 1);
  memcpy(t->at + from, by, n);
  t->n = t->n - (to - from) + n;
}

/* Changes a number a little, drops or adds a mark, turns a sign, swaps a rule, or leaves a word or
 * a line out; of the last line nothing. */
static void damage_token(damaged_text *t, fs_rng *r, size_t last) {
  size_t at = fs_rng_below(r, (uint32_t)last);
  char number[32];
  if (fs_rng_one_in(r, 3)) { /* the header is short, and matters */
    const char *begin = strstr(t->at, "\nbegin\n");
    at = begin == NULL ? at : fs_rng_below(r, (uint32_t)(begin - t->at));
  }
  if (fs_rng_one_in(r, 2)) {
    size_t from = find_number(t, at), to = from;
    while (to < t->n && t->at[to] >= '0' && t->at[to] <= '9') {
      to++;
    }
    if (to < last) {
      unsigned long long value = strtoull(t->at + from, NULL, 10);
      unsigned by = 1 + fs_rng_below(r, 3);
      (void)snprintf(number, sizeof number, "%llu",
                     fs_rng_one_in(r, 2) ? value + by : value - (value < by ? value : by));
      splice(t, from, to, number);
    }
    return;
  }
  size_t from = at;
  while (from > 0 && t->at[from] != ' ' && t->at[from] != '\n') {
    from--;
  }
  size_t to = from + 1;
  while (to < last && t->at[to] != ' ' && t->at[to] != '\n') {
    to++;
  }
  switch (fs_rng_below(r, 5)) {
    case 0:
      splice(t, from, to, ""); /* a word */
      break;
    case 1:
      if (t->at[from + 1] == '?') {
        splice(t, from + 1, from + 2, "");
      } else {
        splice(t, from + 1, from + 1, "?");
      }
      break;
    case 2: { /* a line */
      const char *begin = t->at + at, *end = strchr(t->at + at, '\n');
      while (begin > t->at && begin[-1] != '\n') {
        begin--;
      }
      if (end != NULL && (size_t)(end - t->at) < last) {
        splice(t, (size_t)(begin - t->at), (size_t)(end + 1 - t->at), "");
      }
      break;
    }
    case 3: {
      char *sign = strpbrk(t->at + at, "<>");
      if (sign != NULL && (size_t)(sign - t->at) < last) {
        *sign = *sign == '<' ? '>' : '<';
      }
      break;
    }
    default: {
      static const char rules[] = "pcoxtzsefbaln";
      char *line = strchr(t->at + at, '\n');
      if (line != NULL && (size_t)(line - t->at) + 1 < last) {
        line[1] = rules[fs_rng_below(r, sizeof rules - 1)];
      }
    }
  }
}

/* A proof of the least makespan, that claims a tick more.  Returns how many were looked at behind
 * their header. */
static unsigned claim_more(const fsched_graph *g, const fs_written_proof *p, fs_rng *r) {
  unsigned steps = 0;
  damaged_text t = {malloc(2 * p->n + 4096), 0};
  for (unsigned k = 0; k < DAMAGES; k++) {
    uint64_t shown;
    char end[32];
    memcpy(t.at, p->text, p->n);
    t.at[t.n = p->n] = '\0';
    for (unsigned i = 1 + fs_rng_below(r, MOST_TOKENS); i-- > 0;) {
      size_t last = t.n - 1;
      while (last > 0 && t.at[last - 1] != '\n') {
        last--;
      }
      damage_token(&t, r, last);
    }
    size_t last = t.n - 1;
    while (last > 0 && t.at[last - 1] != '\n') {
      last--;
    }
    (void)snprintf(end, sizeof end, "end %llu\n", (unsigned long long)p->bound + 1);
    splice(&t, last, t.n, end);
    fsched_status status = fsched_verify_proof(ctx, g, t.at, t.n, "p", &shown);
    ck_assert_msg(status != FSCHED_OK, "%.*s", (int)t.n, t.at);
    steps += status == FSCHED_WRONG;
    fsched_diag_clear(ctx);
  }
  free(t.at);
  return steps;
}

/* Brute force knows the least makespan of these. */
START_TEST(least_makespans)
{
  static tiny_script script;
  unsigned known = 0, proven = 0, open = 0, steps = 0;
  for (unsigned k = 0; k < TINY; k++) {
    uint32_t states;
    uint64_t seed = (fs_turn() * 2 + (uint64_t)_i) << 16 | k, shown;
    fs_rng r = {seed};
    fsched_graph *g = fs_tiny_graph(&script, seed);
    fs_tick least = g == NULL ? FS_TICK_NONE : fs_spill_search(g, &states);
    if (least != FS_TICK_NONE) {
      fs_written_proof p = fs_write_proof(g, k, 2000);
      ck_fs(ctx, fsched_verify_proof(ctx, g, p.text, p.n, "p", &shown));
      ck_assert_uint_eq(shown, p.bound);
      ck_assert_msg(shown <= least, "seed %llu", (unsigned long long)seed);
      known++;
      proven += shown == least;
      open += is_open(&p);
      steps += is_open(&p) && shown == least ? claim_more(g, &p, &r) : 0;
      fsched_text_free(ctx, p.text, p.n);
    }
    fsched_graph_destroy(g);
  }
  fs_assert_seen(known, TINY * 3 / 4);
  fs_assert_seen(100 * proven, 97 * known);
  fs_assert_seen(open, TINY / 6);
  fs_assert_seen(steps, TINY * DAMAGES / 8);
}
END_TEST

/* Eight buffers that fill 6 at all times, and fit in no way, so that one of them is copied: GLPK
 * proves the same least makespans.  The proof says that there are no addresses. */
START_TEST(no_addresses)
{
  static const struct {
    unsigned copy;
    uint64_t least;
  } eight[] = {{2, 8}, {3, 10}};
  char text[TINY_TEXT];
  fsched_graph *g;
  uint64_t shown;
  fs_rng r = {fs_turn()};
  (void)snprintf(
      text, sizeof text,
      "fsched: 1\nname: eight\ntarget:\n  queues: [{name: q}, {name: c, class: copy}]\n  "
      "memories:\n"
      "    - {name: m, capacity: 6, backing: far, spill: {on: copy, write: {fixed: %u}, "
      "read: {fixed: %u}}}\n    - {name: far}\n"
      "buffers: [{name: a, size: 4}, {name: b, size: 2}, {name: c, size: 3}, {name: d, size: 1}, "
      "{name: e, size: 1}, {name: f, size: 2}, {name: g, size: 3}, {name: h, size: 4}]\nops:\n"
      "  - {name: t0, on: q, time: 1, args: [{out: a}, {out: b}]}\n"
      "  - {name: t1, on: q, time: 1, after: [t0], args: [{out: c}, {out: d}]}\n"
      "  - {name: t2, on: q, time: 1, after: [t1], args: [{out: e}, {out: f}]}\n"
      "  - {name: t3, on: q, time: 1, after: [t2], args: [{in: b}, {in: e}]}\n"
      "  - {name: t4, on: q, time: 1, after: [t3], args: [{in: d}, {out: g}]}\n"
      "  - {name: t5, on: q, time: 1, after: [t4], args: [{in: f}, {out: h}]}\n",
      eight[_i].copy, eight[_i].copy);
  ck_fs(ctx, fsched_graph_parse(ctx, "t", text, strlen(text), NULL, &g));
  fs_written_proof p = fs_write_proof(g, 0, 20000);
  ck_fs(ctx, fsched_verify_proof(ctx, g, p.text, p.n, "p", &shown));
  ck_assert_uint_eq(p.makespan, eight[_i].least);
  ck_assert_uint_eq(shown, eight[_i].least);
  ck_assert_ptr_nonnull(strstr(p.text, "\nn 0 "));
  (void)claim_more(g, &p, &r);
  fsched_text_free(ctx, p.text, p.n);
  fsched_graph_destroy(g);
}
END_TEST

/* Copies may run on any queue of a class on which an op has its own: where it is known that they
 * run on some, they are known to be there. */
START_TEST(queues_of_copies)
{
  static const char *const texts[] = {
      "target: {queues: [{name: q0}, {name: q1}, {name: q2}], memories: [{name: m, capacity: 10, "
      "backing: h, spill: {on: compute, read: {fixed: 2}, write: {fixed: 1}}}, {name: h}]}\n"
      "buffers: [{name: b0, size: 4, memory: m, io: output}, "
      "{name: b2, size: 5, memory: m, io: input}]\nops:\n"
      "  - {name: o0, on: q2, time: 2, args: [{out: b0}]}\n"
      "  - {name: o2, on: compute, time: 1, args: [{out: b0}]}\n"
      "  - {name: o3, on: compute, time: 1, args: [{in: b2}]}\n",
      "target: {queues: [{name: q0}, {name: q1}, {name: q2}], memories: [{name: m, capacity: 12, "
      "align: 4, backing: h, spill: {on: compute, read: {fixed: 1}, write: {fixed: 1}}, "
      "placement: counted}, {name: h}], concurrency: 2}\n"
      "buffers: [{name: b0, size: 4, memory: m, io: input}, {name: b1, size: 4, memory: m}, "
      "{name: b2, size: 4, memory: m, io: state}, {name: b3, size: 5, memory: m}, "
      "{name: b4, size: 4, memory: m}, {name: b5, size: 4, memory: m}]\nops:\n"
      "  - {name: o0, on: compute, time: 1, args: [{out: b4}]}\n"
      "  - {name: o1, on: compute, time: 1, args: [{inout: b0}, {out: b3}], after: [o0]}\n"
      "  - {name: o2, on: compute, time: 3, args: [{out: b4}, {out: b5}]}\n"
      "  - {name: o3, on: q1, time: 2, args: [{in: b3}], after: [o2]}\n"
      "  - {name: o4, on: q1, time: 1, args: [{out_existing: b3, at: [0, 2]}]}\n"
      "  - {name: o5, on: compute, time: 1, args: [{out: b1}]}\n"};
  char text[TINY_TEXT];
  fsched_graph *g;
  uint64_t shown;
  (void)snprintf(text, sizeof text, "fsched: 1\nname: queues\n%s", texts[_i]);
  ck_fs(ctx, fsched_graph_parse(ctx, "t", text, strlen(text), NULL, &g));
  fs_written_proof p = fs_write_proof(g, 0, 20000);
  ck_assert_ptr_nonnull(strstr(p.text, "\non "));
  ck_fs(ctx, fsched_verify_proof(ctx, g, p.text, p.n, "p", &shown));
  ck_assert_uint_eq(shown, p.makespan);
  fsched_text_free(ctx, p.text, p.n);
  fsched_graph_destroy(g);
}
END_TEST

/* Damages of larger proofs. */
START_TEST(larger_damages)
{
  unsigned steps = 0;
  for (unsigned k = 0; k < GRAPHS; k++) {
    fs_rng r = {fs_turn() << 16 | k};
    fs_gen_params params = draw_short(r.state, k % 2 == 0);
    fsched_graph *g;
    fsched_status status = fs_gen_graph(ctx, &params, &g);
    fsched_diag_clear(ctx);
    fsched_schedule *s = status == FSCHED_OK ? compile_with(g, 0, FSCHED_REFINE_NONE) : NULL;
    if (s != NULL) {
      fs_written_proof p = fs_write_proof(g, k, 1000);
      bool best = p.bound == p.makespan && is_open(&p) && p.n < 200000;
      steps += best ? claim_more(g, &p, &r) : 0;
      fsched_text_free(ctx, p.text, p.n);
    }
    fsched_schedule_destroy(s);
    fsched_graph_destroy(status == FSCHED_OK ? g : NULL);
  }
  fs_assert_seen(steps, 500);
}
END_TEST

FS_SUITE(search_proof_open, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 240);
  FS_LOOPS(t, 0, 2, optimal_ones, least_makespans, no_addresses, queues_of_copies);
  FS_TESTS(t, larger_damages);
}
