/* SPDX-License-Identifier: Apache-2.0 */
/* Slots of loops that stay loops have to do with what other content leaves of a memory. */
#include <stdio.h>
#include <string.h>

#include "fsched/compile.h"
#include "kit/gen.h"
#include "kit/quick.h"
#include "kit/status.h"
#include "kit/turn.h"
#include "model/graph.h"
#include "model/handle.h"
#include "model/loop_report.h"

#include "kit/context.h"

static fsched_status compile_text(const char *text, fsched_graph **g) {
  fsched_compile_options o = {.size = sizeof o, .effort = FS_QUICK, .verify = 1};
  fsched_schedule *s = NULL;
  fsched_status status = fsched_graph_parse(ctx, "beside.yaml", text, strlen(text), NULL, g);
  if (status == FSCHED_OK) {
    status = fsched_compile(ctx, *g, &o, &s, NULL);
  }
  fsched_schedule_destroy(s);
  return status;
}

/* A loop that wants ten slots of a byte, and holds `acc`, a byte, of the 12 that there are. */
static const char frame[] =
    "fsched: 1\n"
    "target:\n"
    "  queues: [{name: dma}, {name: mac}, {name: vec}]\n"
    "  memories: [{name: m, capacity: %u%s}, {name: n}]\n"
    "buffers: [{name: acc, size: 1, memory: m, io: output}, {name: x, size: 4, memory: m%s}]\n"
    "ops:\n"
    "- {name: zero, on: mac, args: [{out: acc}]}\n"
    "%s"
    "- loop: k\n"
    "  trip: 20\n"
    "  buffers: {t: {depth: %s}}\n"
    "  ops:\n"
    "  - {name: load, on: dma, latency: 9, args: [{out: t, size: 1, memory: m}]}\n"
    "  - {name: use, on: mac, args: [{in: t}, {inout: acc}]}\n"
    "%s";

#define MAKE "- {name: make, on: vec, args: [{out: x}]}\n"
#define LATE "- {name: make, on: vec, args: [{out: x}, {in: acc}]}\n"
#define FIRST "- {name: first, on: mac, args: [{in: x}, {inout: acc}]}\n" /* by `acc` */
#define LAST "- {name: last, on: mac, args: [{in: x}, {inout: acc}]}\n"
#define READ "- {name: read, on: vec, args: [{in: x}]}\n"
#define COPIES ", backing: n, spill: {on: vec, write: {fixed: 1}, read: {fixed: 1}}"

/* What lies beside the loop: 4 bytes, or nothing. */
typedef struct beside_case {
  const char *memory, *io, *before, *behind;
  uint32_t depth; /* that the loop has */
} beside_case;

static const beside_case beside[] = {
    {"", "", MAKE FIRST, LAST, 7},
    {"", "", MAKE FIRST, "", 10},
    /* It begins when it can, or behind the loop. */
    {"", "", MAKE, LAST, 10},
    {"", "", "", MAKE LAST, 10},
    {"", "", "", LATE LAST, 10},
    /* Nothing says that it is there behind the loop. */
    {"", "", MAKE, READ, 10},
    {"", "", MAKE FIRST, READ, 10},
    /* Given content is there from the beginning, what is kept to the end. */
    {"", ", io: constant", "", LAST, 7},
    {"", ", io: constant", FIRST, "", 10},
    {"", ", io: constant", FIRST, READ, 10},
    {"", ", io: output", MAKE FIRST, "", 7},
    {"", ", io: state", FIRST, "", 7},
    /* It can leave. */
    {COPIES, "", MAKE FIRST, LAST, 10},
};

START_TEST(rest_is_for_slots)
{
  const beside_case *c = &beside[_i];
  char text[2048];
  fsched_graph *g;
  (void)snprintf(text, sizeof text, frame, 12, c->memory, c->io, c->before, "auto", c->behind);
  ck_fs(ctx, compile_text(text, &g));
  ck_assert_uint_eq(g->n_rolled, 1);
  ck_assert_uint_eq(g->rolled[0].report->slots[0].depth, c->depth);
  ck_assert_int_eq(g->rolled[0].report->limited_by,
                   c->depth == 10 ? FS_LOOP_BY_QUEUE : FS_LOOP_BY_MEMORY);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(refusal_says_what_fits)
{
  char text[2048];
  fsched_graph *g;
  (void)snprintf(text, sizeof text, frame, 12, "", "", MAKE FIRST, "9", LAST);
  ck_assert_int_eq(compile_text(text, &g), FSCHED_INFEASIBLE);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message,
                   "loop 'k' does not fit memory 'm': needed 14, available 12");
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->hint, "a depth of 7 of 't' would fit");
  fsched_diag_clear(ctx);
  (void)snprintf(text, sizeof text, frame, 12, "", "", MAKE FIRST, "7", LAST);
  ck_fs(ctx, compile_text(text, &g));
  fsched_graph_destroy(g);
}
END_TEST

/* --- random graphs --- */

/* Loops one after the other, each with a ring that would take as much as there is, and content from
 * before one of them to behind another, in a memory with room for all of it and a slot. */
static void draw_graph(fs_rng *r, bool open, fs_text *t) {
  uint32_t n_loops = 1 + fs_rng_below(r, 3), n_beside = fs_rng_below(r, 4);
  uint32_t from[4], to[4], size[4], room = 3 + fs_rng_below(r, 12);
  for (uint32_t x = 0; x < n_beside; x++) {
    size[x] = 1 + fs_rng_below(r, 4);
    room += size[x];
    from[x] = fs_rng_below(r, n_loops + 1);
    to[x] = from[x] + fs_rng_below(r, n_loops + 1 - from[x]);
  }
  fs_text_printf(t,
                 "fsched: 1\ntarget:\n  queues: [{name: dma}, {name: mac}]\n"
                 "  memories: [{name: m, capacity: %u, placement: counted}]\nops:\n"
                 "- {name: zero, on: mac, args: [{out: acc, size: 1, memory: m}]}\n",
                 room);
  for (uint32_t l = 0; l <= n_loops; l++) {
    for (uint32_t x = 0; x < n_beside; x++) {
      if (from[x] == l) {
        fs_text_printf(t, "- {name: make%u, on: mac, args: [{out: x%u, size: %u, memory: m}%s]}\n",
                       x, x, size[x], fs_rng_one_in(r, 4) ? "" : ", {inout: acc}");
      }
    }
    for (uint32_t x = 0; x < n_beside; x++) {
      if (to[x] == l) {
        fs_text_printf(t, "- {name: take%u, on: mac, args: [{in: x%u}%s]}\n", x, x,
                       fs_rng_one_in(r, 4) ? "" : ", {inout: acc}");
      }
    }
    if (l < n_loops) {
      uint32_t trip = 1 + fs_rng_below(r, 9), latency = 1 + fs_rng_below(r, 12);
      uint32_t touched = fs_rng_below(r, n_beside + 1), slot = 1 + fs_rng_below(r, 2);
      bool in = touched < n_beside && from[touched] <= l && l < to[touched];
      fs_text_printf(t, "- loop: k%u\n  trip: %u\n  buffers: {t%u: {depth: %s}}\n  ops:\n", l, trip,
                     l, open ? "auto" : "1");
      fs_text_printf(t, "  - {name: load%u, on: dma, latency: %u, ", l, latency);
      fs_text_printf(t, "args: [{out: t%u, size: %u, memory: m}]}\n", l, slot);
      fs_text_printf(t, "  - {name: use%u, on: mac, args: [{in: t%u}, {inout: acc}", l, l);
      if (in) {
        fs_text_printf(t, ", {in: x%u}", touched);
      }
      fs_text_printf(t, "]}\n");
    }
  }
}

/* The ticks of a graph's loops, each on its own; 0: it does not fit. */
static uint64_t span_of(uint64_t seed, bool open) {
  fs_rng r = {seed};
  fs_text text;
  fsched_compile_options o = {.size = sizeof o, .effort = FS_QUICK, .verify = 1};
  fsched_graph *g = NULL;
  fsched_schedule *s = NULL;
  fs_text_init(&text, ctx);
  draw_graph(&r, open, &text);
  fs_text_add(&text, "", 1);
  ck_assert(!text.failed);
  fsched_status status = fsched_graph_parse(ctx, "beside.yaml", text.at, text.n - 1, NULL, &g);
  if (status == FSCHED_OK) {
    status = fsched_compile(ctx, g, &o, &s, NULL);
  }
  ck_assert_msg(status == FSCHED_OK || status == FSCHED_INFEASIBLE, "seed %lu: %s\n%s",
                (unsigned long)seed, fs_test_diags(ctx), text.at);
  uint64_t span = 0;
  for (uint32_t l = 0; status == FSCHED_OK && l < s->schedule->n_loops; l++) {
    span += s->schedule->loop[l].span;
  }
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
  fs_text_drop(&text);
  return span;
}

/* Depths that are chosen fit, and loops take no longer with them than with depths of 1.  (All may,
 * as loops that take less room may begin before those before them are over.) */
START_TEST(chosen_depths_fit)
{
  uint32_t shorter = 0;
  for (uint64_t k = 0; k < 100; k++) {
    uint64_t seed = (fs_turn() * 10 + (uint64_t)_i) * 100 + k;
    uint64_t one = span_of(seed, false), chosen = span_of(seed, true);
    ck_assert_msg(chosen > 0 && chosen <= one, "seed %lu: %lu, and %lu with 1", (unsigned long)seed,
                  (unsigned long)chosen, (unsigned long)one);
    shorter += chosen < one;
  }
  fs_assert_seen(shorter, 20);
}
END_TEST

FS_SUITE(loop_beside, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, (int)(sizeof beside / sizeof beside[0]), rest_is_for_slots);
  FS_TESTS(t, refusal_says_what_fits);
  FS_LOOPS(t, 0, 10, chosen_depths_fit);
}
