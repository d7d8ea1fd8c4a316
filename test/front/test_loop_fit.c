/* SPDX-License-Identifier: Apache-2.0 */
/* Depths that are chosen have a schedule where any depths have one, also where room is in pieces;
 * and of given ones that have none it is told which would. */
#include <stdio.h>
#include <string.h>

#include "fsched/compile.h"
#include "kit/gen.h"
#include "kit/quick.h"
#include "kit/status.h"
#include "kit/turn.h"
#include "model/graph.h"
#include "model/loop_report.h"

#include "kit/context.h"

static fsched_status compile_text(const char *text, fsched_graph **g) {
  fsched_compile_options o = {.size = sizeof o, .effort = FS_QUICK, .verify = 1};
  fsched_schedule *s = NULL;
  *g = NULL;
  fsched_status status = fsched_graph_parse(ctx, "fit.yaml", text, strlen(text), NULL, g);
  if (status == FSCHED_OK) {
    status = fsched_compile(ctx, *g, &o, &s, NULL);
  }
  fsched_schedule_destroy(s);
  return status;
}

/* Each line fills the memory, so u's place is that of p and f, f's that of x and a, and w's that of
 * a and q: p, x and w lie in this order.  In the end 3 bytes are free on one side of x and 9 on the
 * other: a slot takes 3. */
static const char pieces[] =
    "fsched: 1\n"
    "target:\n"
    "  queues: [{name: dma}, {name: mac}]\n"
    "  memories: [{name: m, capacity: 15, placement: contiguous, align: 1}]\n"
    "ops:\n"
    "- {name: zero, on: mac, args: [{out: acc, size: 1, memory: m}]}\n"
    "- {name: makeu, on: dma, args: [{out: u, size: 7, memory: m}, {inout: acc}]}\n"
    "- {name: makeq, on: dma, args: [{out: q, size: 7, memory: m}, {inout: acc}]}\n"
    "- {name: takeu, on: mac, args: [{in: u}, {inout: acc}]}\n"
    "- {name: makep, on: mac, args: [{out: p, size: 3, memory: m}, {inout: acc}]}\n"
    "- {name: makef, on: dma, args: [{out: f, size: 4, memory: m}, {inout: acc}]}\n"
    "- {name: takef, on: mac, args: [{in: f}, {inout: acc}]}\n"
    "- {name: makex, on: mac, args: [{out: x, size: 2, memory: m}, {inout: acc}]}\n"
    "- {name: makea, on: mac, args: [{out: a, size: 2, memory: m}, {inout: acc}]}\n"
    "- {name: takeq, on: mac, args: [{in: a}, {in: q}, {inout: acc}]}\n"
    "- {name: makew, on: mac, args: [{out: w, size: 9, memory: m}, {inout: acc}]}\n"
    "- {name: takew, on: mac, args: [{in: p}, {in: w}, {inout: acc}]}\n"
    "- loop: k\n"
    "  trip: 8\n"
    "  buffers: {t: {depth: %s}}\n"
    "  ops:\n"
    "  - {name: load, on: dma, latency: %u, args: [{out: t, size: 3, memory: m}]}\n"
    "  - {name: use, on: mac, args: [{in: t}, {inout: acc}]}\n"
    "- {name: takex, on: mac, args: [{in: x}, {inout: acc}]}\n";

START_TEST(pieces_are_known)
{
  char text[2048];
  fsched_graph *g;
  (void)snprintf(text, sizeof text, pieces, "auto", 6);
  ck_fs(ctx, compile_text(text, &g));
  const fs_loop_report *r = g->rolled[0].report;
  ck_assert_uint_eq(r->slots[0].depth, 3);
  ck_assert(!r->slots[0].given && !r->proven);
  ck_assert_int_eq(r->limited_by, FS_LOOP_BY_MEMORY);
  ck_assert_str_eq(r->limit, "m");
  ck_assert_uint_eq(r->ii.num, 7); /* the slot is used for 6 ticks and one */
  ck_assert_uint_eq(r->ii.den, 3);
  ck_assert_uint_eq(r->bound.num, 1); /* what no memory limits */
  ck_assert_uint_eq(fsched_diag_count(ctx), 0);
  fsched_graph_destroy(g);
}
END_TEST

/* Fewer slots do not matter where as many as have room hold the interval. */
START_TEST(room_that_does_limits_nothing)
{
  char text[2048];
  fsched_graph *g;
  (void)snprintf(text, sizeof text, pieces, "auto", 2);
  ck_fs(ctx, compile_text(text, &g));
  const fs_loop_report *r = g->rolled[0].report;
  ck_assert_uint_eq(r->slots[0].depth, 3);
  ck_assert_int_eq(r->limited_by, FS_LOOP_BY_QUEUE);
  ck_assert(r->proven);
  fsched_graph_destroy(g);
}
END_TEST

static bool says_depth(void) {
  const char *hint = fsched_diag_get(ctx, 0)->hint;
  return hint != NULL && strstr(hint, "would fit") != NULL;
}

START_TEST(refusals_say_what_fits)
{
  char text[2048];
  fsched_graph *g;
  (void)snprintf(text, sizeof text, pieces, "4", 6); /* its bytes would do */
  ck_assert_int_eq(compile_text(text, &g), FSCHED_INFEASIBLE);
  fsched_graph_destroy(g);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message,
                   "no schedule was found: memory 'm' has no room for op 'k': 12 more bytes "
                   "needed, 12 of 15 free");
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->hint, "a depth of 3 of 't' would fit");
  fsched_diag_clear(ctx);
  (void)snprintf(text, sizeof text, pieces, "5", 6); /* they would not */
  ck_assert_int_eq(compile_text(text, &g), FSCHED_INFEASIBLE);
  fsched_graph_destroy(g);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message,
                   "loop 'k' does not fit memory 'm': needed 18, available 15");
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->hint, "a depth of 3 of 't' would fit");
  fsched_diag_clear(ctx);
  (void)snprintf(text, sizeof text, pieces, "5, every: 4", 6); /* no depth below 4 may be given */
  ck_assert_int_eq(compile_text(text, &g), FSCHED_INFEASIBLE);
  fsched_graph_destroy(g);
  ck_assert(!says_depth());
  fsched_diag_clear(ctx);
  (void)snprintf(text, sizeof text, pieces, "5, prefetch: -1", 6); /* this follows the depth */
  ck_assert_int_eq(compile_text(text, &g), FSCHED_INFEASIBLE);
  fsched_graph_destroy(g);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->hint, "a depth of 3 of 't' would fit");
  fsched_diag_clear(ctx);
  (void)snprintf(text, sizeof text, pieces, "5, prefetch: 4", 6);
  ck_assert_int_eq(compile_text(text, &g), FSCHED_INFEASIBLE);
  fsched_graph_destroy(g);
  ck_assert(!says_depth());
}
END_TEST

/* What an attempt warns of is told once. */
START_TEST(warnings_are_told_once)
{
  char text[2048];
  fsched_graph *g;
  int n = snprintf(text, sizeof text, pieces, "auto", 6);
  (void)snprintf(text + n, sizeof text - (size_t)n,
                 "- {name: none, on: mac, args: [{in: acc}]}\n"
                 "buffers: [{name: unused, size: 1}]\n");
  ck_fs(ctx, fsched_warning_set(ctx, "unused", FSCHED_WARNING_ON));
  ck_fs(ctx, compile_text(text, &g));
  ck_assert_uint_eq(g->rolled[0].report->slots[0].depth, 3);
  uint32_t warned = 0;
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    warned += strstr(fsched_diag_get(ctx, i)->message, "'unused'") != NULL;
  }
  ck_assert_uint_eq(warned, 1);
  fsched_graph_destroy(g);
}
END_TEST

/* --- random graphs --- */

enum { MOST_RINGS = 4, MOST_DEPTH = 4, MOST_BESIDE = 4 };

typedef struct fit_case {
  uint32_t n;                /* rings */
  uint32_t most[MOST_RINGS]; /* depths to be tried */
  const uint32_t *depth;     /* per ring; NULL: auto */
} fit_case;

/* Puts the slots of the next ring. */
static void put_depth(fit_case *c, uint32_t most, fs_text *t) {
  fs_text_printf(t, "t%u: ", c->n);
  c->most[c->n] = most < MOST_DEPTH ? most : MOST_DEPTH;
  if (c->depth == NULL) {
    fs_text_puts(t, "{depth: auto}");
  } else {
    fs_text_printf(t, "{depth: %u}", c->depth[c->n]);
  }
  c->n++;
}

/* Ops of a ring: one that fills slots, and one that uses them, and perhaps something from outside.
 */
static void put_ring(fs_rng *r, uint32_t ring, const char *indent, int touched, fs_text *t) {
  uint32_t latency = 1 + fs_rng_below(r, 12), size = 1 + fs_rng_below(r, 3);
  fs_text_printf(t, "%s- {name: load%u, on: dma, latency: %u, ", indent, ring, latency);
  fs_text_printf(t, "args: [{out: t%u, size: %u, memory: m}]}\n", ring, size);
  fs_text_printf(t, "%s- {name: use%u, on: mac, latency: %u, args: [{in: t%u}, {inout: acc}",
                 indent, ring, 1 + fs_rng_below(r, 4), ring);
  if (touched >= 0) {
    fs_text_printf(t, ", {in: x%d}", touched);
  }
  fs_text_puts(t, "]}\n");
}

/* One or two rings, or one with a loop in the loop that has another. */
static void put_loop(fs_rng *r, uint32_t l, int touched, fit_case *c, fs_text *t) {
  uint32_t trip = 2 + fs_rng_below(r, 8), inner = 2 + fs_rng_below(r, 4), first = c->n;
  bool two = fs_rng_one_in(r, 2), nest = two && fs_rng_one_in(r, 3);
  fs_text_printf(t, "- loop: k%u\n  trip: %u\n  buffers: {", l, trip);
  put_depth(c, trip, t);
  if (two && !nest) {
    fs_text_puts(t, ", ");
    put_depth(c, trip, t);
  }
  fs_text_puts(t, "}\n  ops:\n");
  put_ring(r, first, "  ", touched, t);
  if (nest) {
    fs_text_printf(t, "  - loop: i%u\n    trip: %u\n    buffers: {", l, inner);
    put_depth(c, inner, t);
    fs_text_puts(t, "}\n    ops:\n");
  }
  if (two) {
    put_ring(r, first + 1, nest ? "    " : "  ", touched, t);
  }
}

/* Loops, and content from before one of them to behind another that lies in no order, with as much
 * memory as all of that needs, and a little more or less. */
static void draw_graph(uint64_t seed, fit_case *c, fs_text *t) {
  fs_rng state = {seed}, *r = &state;
  uint32_t n_loops = 1 + fs_rng_below(r, 2), n = 1 + fs_rng_below(r, MOST_BESIDE);
  uint32_t from[MOST_BESIDE], to[MOST_BESIDE], size[MOST_BESIDE], room = 2 + fs_rng_below(r, 12);
  for (uint32_t x = 0; x < n; x++) {
    size[x] = 1 + fs_rng_below(r, 5);
    room += size[x];
    from[x] = fs_rng_below(r, n_loops + 1);
    to[x] = from[x] + fs_rng_below(r, n_loops + 1 - from[x]);
  }
  room -= fs_rng_below(r, 4) < room - 3 ? fs_rng_below(r, 2) : 0;
  c->n = 0;
  fs_text_printf(t,
                 "fsched: 1\ntarget:\n  queues: [{name: dma}, {name: mac}]\n"
                 "  memories: [{name: m, capacity: %u, placement: %s}]\nops:\n"
                 "- {name: zero, on: mac, args: [{out: acc, size: 1, memory: m}]}\n",
                 room, fs_rng_one_in(r, 5) ? "counted" : "contiguous");
  for (uint32_t l = 0; l <= n_loops; l++) {
    for (uint32_t x = 0; x < n; x++) {
      if (from[x] == l) {
        fs_text_printf(t, "- {name: make%u, on: %s, args: [{out: x%u, size: %u, memory: m}%s]}\n",
                       x, fs_rng_one_in(r, 2) ? "dma" : "mac", x, size[x],
                       fs_rng_one_in(r, 2) ? "" : ", {inout: acc}");
      }
    }
    for (uint32_t x = 0; x < n; x++) {
      if (to[x] == l) {
        fs_text_printf(t, "- {name: take%u, on: mac, args: [{in: x%u}%s]}\n", x, x,
                       fs_rng_one_in(r, 2) ? "" : ", {inout: acc}");
      }
    }
    if (l < n_loops) {
      uint32_t x = fs_rng_below(r, n + 1);
      put_loop(r, l, x < n && from[x] <= l && l < to[x] ? (int)x : -1, c, t);
    }
  }
}

typedef struct fit_result {
  bool fits;
  double cost; /* what all iterations take, each loop at its interval */
  uint32_t n;
  uint32_t most[MOST_RINGS];
  char hint[160]; /* where it does not fit */
} fit_result;

static fit_result run_case(uint64_t seed, const uint32_t *depth) {
  fit_case c = {.depth = depth};
  fit_result out = {0};
  fs_text text;
  fsched_graph *g;
  fs_text_init(&text, ctx);
  draw_graph(seed, &c, &text);
  fs_text_add(&text, "", 1);
  ck_assert(!text.failed);
  fsched_status status = compile_text(text.at, &g);
  ck_assert_msg(status == FSCHED_OK || status == FSCHED_INFEASIBLE, "seed %lu: %s\n%s",
                (unsigned long)seed, fs_test_diags(ctx), text.at);
  out.fits = status == FSCHED_OK;
  out.n = c.n;
  memcpy(out.most, c.most, sizeof out.most);
  for (uint32_t l = 0; out.fits && l < g->n_rolled; l++) {
    const fs_loop_report *r = g->rolled[l].report;
    out.cost += (double)r->ii.num * (double)(r->trip * r->runs) / (double)r->ii.den;
  }
  if (!out.fits) {
    const char *hint = fsched_diag_get(ctx, fsched_diag_count(ctx) - 1)->hint;
    (void)snprintf(out.hint, sizeof out.hint, "%s", hint == NULL ? "" : hint);
  }
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
  fs_text_drop(&text);
  return out;
}

/* The next depths in the order of numbers whose digits they are. */
static bool next_depths(const fit_result *c, uint32_t *depth) {
  uint32_t i = 0;
  while (i < c->n && depth[i] == c->most[i]) {
    depth[i++] = 1;
  }
  if (i < c->n) {
    depth[i]++;
  }
  return i < c->n;
}

enum { GRAPHS = 24, CASES = 10 };

/* All depths up to a few are tried. */
START_TEST(chosen_depths_are_the_best_that_fit)
{
  uint32_t fit = 0, longer = 0;
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = (fs_turn() * CASES + (uint64_t)_i) * GRAPHS + k;
    uint32_t depth[MOST_RINGS] = {1, 1, 1, 1};
    fit_result chosen = run_case(seed, NULL);
    double best = -1;
    do {
      fit_result given = run_case(seed, depth);
      best = given.fits && (best < 0 || given.cost < best) ? given.cost : best;
    } while (next_depths(&chosen, depth));
    ck_assert_msg(chosen.fits || best < 0, "seed %lu: other depths fit", (unsigned long)seed);
    fit += best >= 0;
    longer += best >= 0 && chosen.cost > best * 1.0001;
  }
  fs_assert_seen(fit, GRAPHS / 2);
  ck_assert_uint_le(longer, 4); /* it is a search that is cut off */
}
END_TEST

/* Takes "a depth of 3 of 't0' would fit" over, or the same of several. */
static bool take_hint(const char *hint, uint32_t *depth) {
  bool any = false;
  for (const char *at = strstr(hint, " of 't"); at != NULL; at = strstr(at + 1, " of 't")) {
    uint32_t ring = (uint32_t)(at[6] - '0'), said = (uint32_t)(at[-1] - '0');
    ck_assert_msg(ring < MOST_RINGS && said < depth[ring], "%s", hint);
    depth[ring] = said;
    any = true;
  }
  return any;
}

/* What a hint says fits, and where there is none, depths of 1 do not, either. */
START_TEST(hints_fit)
{
  uint32_t hints = 0;
  for (uint64_t k = 0; k < GRAPHS * 4; k++) {
    uint64_t seed = (fs_turn() * CASES + (uint64_t)_i) * GRAPHS * 4 + k;
    uint32_t depth[MOST_RINGS] = {6, 6, 6, 6}, one[MOST_RINGS] = {1, 1, 1, 1};
    fit_result given = run_case(seed, depth);
    if (given.fits) {
      continue;
    }
    if (!take_hint(given.hint, depth)) {
      ck_assert_msg(!run_case(seed, one).fits, "seed %lu: depths of 1 fit", (unsigned long)seed);
      continue;
    }
    fit_result said = run_case(seed, depth);
    ck_assert_msg(said.fits, "seed %lu: '%s': %s", (unsigned long)seed, given.hint, said.hint);
    hints++;
  }
  fs_assert_seen(hints, GRAPHS / 2);
}
END_TEST

FS_SUITE(loop_fit, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, pieces_are_known, room_that_does_limits_nothing, refusals_say_what_fits,
           warnings_are_told_once);
  FS_LOOPS(t, 0, CASES, chosen_depths_are_the_best_that_fit, hints_fit);
}
