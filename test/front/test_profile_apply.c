/* SPDX-License-Identifier: Apache-2.0 */
/* Measured times in a graph: which of them are used, and the costs of copies that fit them. */
#include "front/profile/copy_fit.h"
#include "front/profile/profile.h"
#include "kit/gen.h"
#include "kit/golden_case.h"

#include "kit/context.h"

static fsched_profile *parsed(const char *text) {
  fsched_profile *p;
  ck_fs(ctx, fsched_profile_parse(ctx, "p.json", text, strlen(text), &p));
  return p;
}

static const char plain[] =
    "fsched: 1\nname: g\ntarget:\n  time_unit: us\n  queues: [{name: q}, {name: d, class: copy}]\n"
    "  memories:\n    - {name: m, capacity: 1000, backing: far, "
    "spill: {on: copy, write: {fixed: 3, rate: 10}, read: {fixed: 1}}}\n    - {name: far}\n"
    "buffers: [{name: x, size: 100, memory: m, io: input}, {name: y, size: 400, memory: m, io: "
    "output}]\n"
    "ops:\n  - {name: a, time: 5, args: [{in: x}, {out: z, size: 50, memory: m}]}\n"
    "  - {name: b, time: 6, args: [{in: z}, {out: y}]}\n";

static fsched_profile_use apply(fsched_graph *g, const char *ops) {
  char text[1024];
  (void)snprintf(text, sizeof text, "{\"fsched_profile\": 1, \"ops\": [%s]}", ops);
  fsched_profile *p = parsed(text);
  fsched_profile_use use = {.size = sizeof use};
  ck_fs(ctx, fsched_graph_apply_profile(ctx, g, p, &use));
  fsched_profile_destroy(p);
  return use;
}

START_TEST(takes_times)
{
  fsched_graph *g = fs_parse(plain);
  fsched_profile_use use = apply(g, "{\"name\": \"b\", \"median_ns\": 8001}");
  ck_assert_uint_eq(use.ops, 1);
  ck_assert_uint_eq(use.memories, 0);
  ck_assert_uint_eq(g->op_time[0], 5); /* the profile does not name it: as planned */
  ck_assert_uint_eq(g->op_time[1], 9); /* rounded up */
  ck_assert_uint_eq(g->target.memory[0].write_rate, 10);
  (void)apply(g, "{\"name\": \"b\", \"median_ns\": 8000}, {\"name\": \"a\", \"median_ns\": 0}");
  ck_assert_uint_eq(g->op_time[0], 0);
  ck_assert_uint_eq(g->op_time[1], 8);
  /* Copies of one size were measured: reads cost what they took, writes keep the ratio of their
   * rate. */
  use = apply(g,
              "{\"kind\": \"spill_read\", \"buffer\": \"x\", \"version\": 0, \"median_ns\": 7000}"
              ",{\"kind\": \"spill_write\", \"buffer\": \"y\", \"version\": 0, \"median_ns\": "
              "86000}");
  ck_assert_uint_eq(use.memories, 1);
  ck_assert_uint_eq(use.copies, 2);
  const fs_memory *m = &g->target.memory[0];
  ck_assert_uint_eq(m->read_fixed, 7);
  ck_assert_uint_eq(m->read_rate, 0);
  ck_assert_uint_eq(m->write_rate, 5); /* 3 + 40 ticks became 86: half the rate */
  ck_assert_uint_eq(m->write_fixed, 6);
  ck_assert_uint_eq(fs_spill_write_time(m, 400), 86);
  fsched_graph_destroy(g);
}
END_TEST

/* The length of a tick follows rules, in the order of their priority. */
static const struct {
  const char *graph_unit, *profile;
  uint64_t ticks; /* of 6,000,000 ns; FS_TICK_NONE: refused */
} ticks[] = {
    {"us", "", 6000},
    {"ms", "", 6},
    {"us", "\"time_unit\": \"us\",", 6000},
    {"us", "\"time_unit\": \"us\", \"tick_ns\": 500,", 12000}, /* as in the measured run */
    {"ms", "\"time_unit\": \"us\", \"tick_ns\": 500,", 6},     /* the unit has changed since then */
    {"cycles", "\"time_unit\": \"cycles\", \"tick_ns\": 2,", 3000000},
    {"cycles", "\"tick_ns\": 2,", 3000000},
    {"cycles", "\"time_unit\": \"us\",", 6000},
    {"cycles", "\"time_unit\": \"cycles\",", FS_TICK_NONE},
    {"cycles", "", FS_TICK_NONE},
    {"cycles", "\"tick_ps\": 2500,", 2400000},
    {"us", "\"time_unit\": \"us\", \"tick_ps\": 750,", 8000000},
};

START_TEST(lengths_of_ticks)
{
  char text[512];
  (void)snprintf(text, sizeof text,
                 "fsched: 1\ntarget: {time_unit: %s}\nops: [{name: a, time: 5}]\n",
                 ticks[_i].graph_unit);
  fsched_graph *g = fs_parse(text);
  (void)snprintf(text, sizeof text,
                 "{\"fsched_profile\": 1, %s \"ops\": [{\"name\": \"a\", \"median_ns\": 6000000}]}",
                 ticks[_i].profile);
  fsched_profile *p = parsed(text);
  fsched_status status = fsched_graph_apply_profile(ctx, g, p, NULL);
  if (ticks[_i].ticks == FS_TICK_NONE) {
    ck_assert_int_eq(status, FSCHED_BAD_INPUT);
    ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "profile-graph");
    ck_assert_str_eq(fsched_diag_get(ctx, 0)->message,
                     "nothing says how long a tick of graph 'g' is");
    ck_assert_uint_eq(g->op_time[0], 5);
  } else {
    ck_fs(ctx, status);
    ck_assert_uint_eq(g->op_time[0], ticks[_i].ticks);
  }
  fsched_profile_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

/* A length that is set comes before all of them. */
START_TEST(length_that_is_set)
{
  fsched_graph *g = fs_parse("fsched: 1\ntarget: {time_unit: us}\nops: [{name: a, time: 5}]\n");
  fsched_profile *p = parsed(
      "{\"fsched_profile\": 1, \"time_unit\": \"ms\", \"tick_ns\": 7, \"ops\": "
      "[{\"name\": \"a\", \"median_ns\": 10}]}");
  ck_assert_int_eq(fsched_profile_set_tick(ctx, p, 0), FSCHED_USAGE);
  ck_assert_int_eq(fsched_profile_set_tick(ctx, p, (UINT64_C(1) << 40) * 1000 + 1), FSCHED_USAGE);
  ck_fs(ctx, fsched_profile_set_tick(ctx, p, 714));
  ck_fs(ctx, fsched_graph_apply_profile(ctx, g, p, NULL));
  ck_assert_uint_eq(g->op_time[0], 15); /* 10 ns are 14.006 ticks */
  fsched_profile_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

/* A graph that cannot take a profile is as it was. */
static void refused(const char *graph, const char *profile, const char *code, const char *message) {
  fsched_graph *g = fs_parse(graph);
  fsched_profile *p = parsed(profile);
  fs_tick time = g->op_time[0];
  uint64_t fixed = g->target.n_memories == 0 ? 0 : g->target.memory[0].read_fixed;
  fsched_diag_clear(ctx);
  fsched_profile_use use = {.size = sizeof use, .ops = 77};
  ck_assert_int_eq(fsched_graph_apply_profile(ctx, g, p, &use), FSCHED_BAD_INPUT);
  ck_assert_uint_eq(use.ops, 77);
  ck_assert_str_eq(fsched_diag_get(ctx, fsched_diag_count(ctx) - 1)->code, code);
  ck_assert_str_eq(fsched_diag_get(ctx, fsched_diag_count(ctx) - 1)->message, message);
  ck_assert_uint_eq(g->op_time[0], time);
  ck_assert_uint_eq(g->n_files, 0);
  ck_assert(g->target.n_memories == 0 || g->target.memory[0].read_fixed == fixed);
  fsched_profile_destroy(p);
  fsched_graph_destroy(g);
}

START_TEST(refuses)
{
  refused("fsched: 1\ntarget: {time_unit: ns}\nops: [{name: a, start: 4}]\n",
          "{\"fsched_profile\": 1, \"ops\": [{\"name\": \"a\", \"median_ns\": 6}]}",
          "profile-graph", "the start of op 'a' is given, which measured times would contradict");
  refused("fsched: 1\ntarget: {time_unit: ns}\nops: [{name: a}, {name: b}]\n",
          "{\"fsched_profile\": 1, \"ops\": [{\"name\": \"a\", \"median_ns\": 6},"
          "{\"name\": \"b\", \"median_ns\": 1099511627777}]}",
          "profile-value", "'b' took more than 2^40 ticks of 1000 ps");
  ck_fs(ctx, fsched_warning_set(ctx, "profile", FSCHED_WARNING_AS_ERROR));
  refused(plain,
          "{\"fsched_profile\": 1, \"ops\": [{\"name\": \"a\", \"median_ns\": 6},{\"name\": \"c\", "
          "\"median_ns\": 6},{\"kind\": \"spill_read\", \"buffer\": \"x\", \"version\": 0, "
          "\"median_ns\": 70000}]}",
          "profile", "the graph has no op 'c' of the profile");
  fsched_profile_use use = {.size = 3};
  fsched_graph *g = fs_parse(plain);
  fsched_profile *p = parsed("{\"fsched_profile\": 1, \"ops\": []}");
  ck_assert_int_eq(fsched_graph_apply_profile(ctx, g, p, &use), FSCHED_USAGE);
  fsched_profile_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

static const struct {
  const char *profile, *message, *hint;
  uint32_t line, warnings;
} warned[] = {
    {"\"graph\": \"h\",\n \"ops\": [", "the profile is of graph 'h', not of 'g'", NULL, 1, 1},
    {"\"ops\": [\n{\"name\": \"bb\", \"median_ns\": 1}", "the graph has no op 'bb' of the profile",
     "did you mean 'b'?", 2, 1},
    {"\"ops\": [\n{\"name\": \"other\", \"median_ns\": 1}, {\"name\": \"more\", \"median_ns\": 1}",
     "the graph has no op 'other' of the profile, nor 1 more of its entries", NULL, 2, 1},
    {"\"ops\": [\n{\"kind\": \"spill_write\", \"buffer\": \"x\", \"version\": 1, \"median_ns\": 1}",
     "the graph cannot copy version 1 of 'x' of the profile", NULL, 2, 1},
    {"\"ops\": [\n{\"kind\": \"spill_read\", \"buffer\": \"w\", \"version\": 0, \"median_ns\": 1}",
     "the graph cannot copy version 0 of 'w' of the profile", NULL, 2, 1},
    {"\"graph\": \"g\", \"ops\": [{\"name\": \"a\", \"median_ns\": 1}", NULL, NULL, 0, 0},
};

START_TEST(warns)
{
  char text[512];
  fsched_graph *g = fs_parse(plain);
  (void)snprintf(text, sizeof text, "{\"fsched_profile\": 1, %s]}", warned[_i].profile);
  fsched_profile *p = parsed(text);
  ck_fs(ctx, fsched_graph_apply_profile(ctx, g, p, NULL));
  ck_assert_uint_eq(fsched_diag_count(ctx), warned[_i].warnings);
  for (uint32_t i = 0; i < warned[_i].warnings; i++) {
    const fsched_diag *d = fsched_diag_get(ctx, i);
    ck_assert_int_eq(d->severity, FSCHED_WARNING);
    ck_assert_str_eq(d->code, "profile");
    ck_assert_str_eq(d->message, warned[_i].message);
    ck_assert_str_eq(d->file, "p.json");
    ck_assert_uint_eq(d->line, warned[_i].line);
    ck_assert_pstr_eq(d->hint, warned[_i].hint);
  }
  fsched_profile_destroy(p);
  fsched_diag_clear(ctx);
  ck_fs(ctx, fsched_warning_set(ctx, "profile", FSCHED_WARNING_OFF));
  p = parsed(text);
  ck_fs(ctx, fsched_graph_apply_profile(ctx, g, p, NULL));
  ck_assert_uint_eq(fsched_diag_count(ctx), 0);
  fsched_profile_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

/* A profile that was read from a file is one of the files that the graph depends on. */
START_TEST(names_its_file)
{
  char path[] = "/tmp/fsched-test-XXXXXX";
  int fd = mkstemp(path);
  ck_assert_int_ge(fd, 0);
  static const char text[] = "{\"fsched_profile\": 1, \"ops\": []}";
  FILE *f = fdopen(fd, "w");
  ck_assert_int_ge(fputs(text, f), 0);
  ck_assert_int_eq(fclose(f), 0);
  fsched_graph *g = fs_parse(plain);
  fsched_profile *p;
  ck_fs(ctx, fsched_profile_read(ctx, path, &p));
  (void)remove(path);
  ck_fs(ctx, fsched_graph_apply_profile(ctx, g, p, NULL));
  fsched_profile_destroy(p);
  ck_assert_uint_eq(fsched_graph_files(g), 1);
  ck_assert_str_eq(fsched_graph_file(g, 0), path);
  fsched_graph_destroy(g);
}
END_TEST

/* ---- costs of copies */

static fs_copy_cost fit(fs_copy_point *point, size_t n, fs_copy_cost planned) {
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  ck_fs(ctx, fs_copy_fit(&arena, point, n, &planned));
  fs_arena_release(&arena);
  return planned;
}

static uint64_t off(uint64_t a, uint64_t b) { return a < b ? b - a : a - b; }

/* Copies that follow a cost exactly are fitted almost exactly, in any order; with one outlier in
 * ten the fit is good. */
START_TEST(fits_what_follows_a_line)
{
  fs_rng rng = {(uint64_t)_i};
  for (int k = 0; k < 50; k++) {
    enum { MOST = 60 };
    fs_copy_cost real = {fs_rng_below(&rng, 1000), fs_rng_below(&rng, 200)};
    fs_copy_point p[MOST], given[MOST];
    size_t n = 2 + fs_rng_below(&rng, MOST - 2);
    for (size_t i = 0; i < n; i++) {
      p[i].size = i == 0 ? 100 : i == 1 ? 100000 : 100 + fs_rng_below(&rng, 99900);
      p[i].ticks = fs_copy_cost_of(real, p[i].size);
      if (n >= 10 && i % 10 == 9) {
        p[i].ticks *= 50;
      }
      given[i] = p[i];
    }
    fs_copy_cost found = fit(p, n, (fs_copy_cost){1, 1});
    uint64_t largest = fs_copy_cost_of(real, 100000);
    for (size_t i = 0; i < n; i++) {
      uint64_t want = fs_copy_cost_of(real, given[i].size);
      uint64_t got = fs_copy_cost_of(found, given[i].size);
      if (off(want, got) > 2 + (n < 10 ? want / 20 : want / 10 + largest / 40)) {
        ck_abort_msg(
            "seed %d, case %d: %llu bytes take %llu, not %llu (fixed %llu rate %llu; really %llu, "
            "%llu, n %zu)",
            _i, k, (unsigned long long)given[i].size, (unsigned long long)got,
            (unsigned long long)want, (unsigned long long)found.fixed,
            (unsigned long long)found.rate, (unsigned long long)real.fixed,
            (unsigned long long)real.rate, n);
      }
    }
  }
}
END_TEST

/* For any measurements costs are in their range, and, with two sizes or more, no worse than a
 * constant. */
START_TEST(fits_anything)
{
  fs_rng rng = {(uint64_t)_i};
  for (int k = 0; k < 500; k++) {
    fs_copy_point p[12], given[12];
    size_t n = 1 + fs_rng_below(&rng, 12);
    uint64_t most_size = (uint64_t)1 << fs_rng_below(&rng, 49);
    uint64_t most_ticks = (uint64_t)1 << fs_rng_below(&rng, 41);
    uint64_t smallest = UINT64_MAX, largest = 0;
    for (size_t i = 0; i < n; i++) {
      p[i] = (fs_copy_point){fs_rng_next(&rng) % (most_size + 1),
                             fs_rng_next(&rng) % (most_ticks + 1)};
      given[i] = p[i];
      smallest = fs_min(smallest, p[i].size);
      largest = fs_max(largest, p[i].size);
    }
    fs_copy_cost planned = {fs_rng_next(&rng) & FSCHED_MAX_TIME,
                            fs_rng_next(&rng) % FSCHED_MAX_TIME};
    fs_copy_cost found = fit(p, n, planned);
    if (found.fixed > FSCHED_MAX_TIME || found.rate > FSCHED_MAX_TIME) {
      ck_abort_msg("seed %d, case %d: out of range", _i, k);
    }
    if (n == 1 && fs_copy_cost_of(found, given[0].size) != given[0].ticks) {
      ck_abort_msg("seed %d, case %d: the only copy is missed", _i, k);
    }
    if (n == 2 && smallest < largest && largest >= 2 * smallest) {
      uint64_t constant = off(given[0].ticks, given[1].ticks);
      uint64_t line = off(fs_copy_cost_of(found, given[0].size), given[0].ticks) +
                      off(fs_copy_cost_of(found, given[1].size), given[1].ticks);
      if (line > constant) {
        ck_abort_msg("seed %d, case %d: worse than a constant", _i, k);
      }
    }
  }
}
END_TEST

static const struct {
  fs_copy_point point[4];
  size_t n;
  fs_copy_cost planned, fitted;
} costs[] = {
    {{{100, 20}, {1000, 110}}, 2, {1, 1}, {10, 10}},
    {{{1000, 110}, {100, 20}, {100, 22}, {100, 2000}}, 4, {1, 1}, {10, 10}}, /* the median of 100 */
    {{{100, 20}, {1000, 20}}, 2, {1, 1}, {20, 0}},
    {{{100, 20}, {1000, 10}}, 2, {1, 1}, {10, 0}},   /* a larger copy is not quicker */
    {{{1, 100}, {2, 200}}, 2, {1, 1}, {99, 1}},      /* a byte takes more than a tick */
    {{{1000, 100}, {2000, 400}}, 2, {1, 1}, {0, 5}}, /* the fixed cost is not below 0 */
    {{{100, 20}, {199, 110}}, 2, {0, 10}, {0, 5}},   /* too much alike: the first, twice as slow */
    {{{100, 40}}, 1, {10, 10}, {20, 5}},
    {{{100, 5}}, 1, {0, 10}, {0, 20}},
    {{{100, 7}}, 1, {5, 0}, {7, 0}},
    {{{100, 0}}, 1, {5, 10}, {0, 0}},
    {{{0, 9}}, 1, {5, 10}, {9, 10}},
    {{{100, 1000}}, 1, {0, 10}, {900, 1}},
    {{{100, 1}}, 1, {200, 1}, {0, 300}},
};

START_TEST(fits_by_hand)
{
  fs_copy_point p[4];
  memcpy(p, costs[_i].point, sizeof p);
  fs_copy_cost found = fit(p, costs[_i].n, costs[_i].planned);
  ck_assert_msg(found.fixed == costs[_i].fitted.fixed && found.rate == costs[_i].fitted.rate,
                "fixed %llu, rate %llu", (unsigned long long)found.fixed,
                (unsigned long long)found.rate);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof(table)[0])

FS_SUITE(profile_apply, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, takes_times, refuses, names_its_file);
  FS_LOOPS(t, 0, ROWS(ticks), lengths_of_ticks);
  FS_TESTS(t, length_that_is_set);
  FS_LOOPS(t, 0, ROWS(warned), warns);
  FS_LOOPS(t, 0, 10, fits_what_follows_a_line, fits_anything);
  FS_LOOPS(t, 0, ROWS(costs), fits_by_hand);
}
