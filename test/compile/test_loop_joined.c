/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of loops in loops that are joined, on barriers: they are where waits would join them, and
 * take as long; and where there are too few barriers for that, runs follow one another. */
#include <stdio.h>
#include <string.h>

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/nest_gen.h"
#include "kit/quick.h"
#include "kit/turn.h"
#include "model/stream/stream.h"

#include "kit/context.h"

static fs_status compile(const char *text, fsched_program **p) {
  fsched_read_options o = {.size = sizeof o};
  fsched_graph *g;
  *p = NULL;
  fs_status status = fsched_graph_parse(ctx, "joined", text, strlen(text), &o, &g);
  if (status == FSCHED_OK) {
    status = fsched_compile(ctx, g, &fs_quick, NULL, p);
    fsched_graph_destroy(g);
  }
  return status;
}

static uint32_t count_joined(const fs_stream *s) {
  uint32_t n = 0;
  for (uint32_t l = 0; l < s->n_loops; l++) {
    n += s->loops[l].joined;
  }
  return n;
}

/* The outermost loop's. */
static uint64_t time_of(const fs_stream *s) { return s->ops[s->loops[0].op].time; }

/* NULL: it has slow ops, of whose ends waits and barriers tell different things, or is refused. */
static fsched_program *compile_drawn(uint64_t seed, bool barriers) {
  fsched_program *p = NULL;
  fs_text t;
  fs_text_init(&t, ctx);
  fs_nest_gen_joined(seed, &t);
  if (barriers) {
    fs_loop_gen_use_barriers(0, &t); /* of any number, and slots */
  }
  fs_text_add(&t, "", 1);
  ck_assert(!t.failed);
  if (strstr(t.at, "latency:") == NULL && compile(t.at, &p) != FSCHED_OK) {
    p = NULL;
  }
  fs_text_drop(&t);
  fsched_diag_clear(ctx);
  return p;
}

START_TEST(as_with_waits)
{
  enum { GRAPHS = 200 };
  uint32_t same = 0, longer = 0, joined = 0;
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = (fs_turn() * 4 + (uint64_t)_i) * GRAPHS + k;
    fsched_program *waits = compile_drawn(seed, false), *barriers = compile_drawn(seed, true);
    if (waits != NULL && barriers != NULL && barriers->view.n_loops > 0) {
      const fs_stream *a = &waits->view, *b = &barriers->view;
      ck_assert_msg(count_joined(a) == count_joined(b), "seed %llu", (unsigned long long)seed);
      ck_assert_msg(time_of(b) >= time_of(a), "seed %llu", (unsigned long long)seed);
      ck_fs(ctx, fsched_verify_program(ctx, barriers, NULL));
      joined += count_joined(b) > 0;
      same += time_of(a) == time_of(b);
      longer += time_of(a) < time_of(b);
    }
    fsched_program_destroy(waits);
    fsched_program_destroy(barriers);
  }
  fs_assert_seen(joined, GRAPHS / 20);
  ck_assert_uint_le(longer, same / 20);
}
END_TEST

/* --- too few barriers --- */

static const struct {
  const char *count;
  uint32_t depth;
  uint64_t makespan;
  bool joined;
  uint32_t used;
} few[] = {
    {"auto", 2, 51, true, 4}, {"4", 2, 51, true, 4},   {"auto", 8, 51, true, 16},
    {"16", 8, 51, true, 16},  {"15", 8, 60, false, 4}, {"4", 8, 60, false, 4},
};

static fs_status compile_few(const char *count, uint32_t depth, fsched_program **p) {
  char text[1024];
  (void)snprintf(text, sizeof text,
                 "fsched: 1\ntarget:\n  sync: barrier\n  barriers: {count: %s}\n"
                 "  queues: [{name: dma}, {name: mac}]\n"
                 "  memories: [{name: ddr}, {name: m, capacity: 4096}]\n"
                 "buffers:\n- {name: A, size: 1024, memory: ddr, io: input}\n"
                 "- {name: C, size: 1024, memory: ddr, io: output}\n"
                 "ops:\n- loop: tiles\n  trip: 4\n  ops:\n"
                 "  - loop: k\n    trip: 4\n    buffers: {a: {depth: %u}}\n    ops:\n"
                 "    - {name: load, on: dma, time: 3, args: [{in: A, at: {length: 64, step: [256, "
                 "64]}}, {out: a, size: 64, memory: m}]}\n"
                 "    - {name: use, on: mac, time: 3, args: [{in: a}, {out_existing: C, at: "
                 "{length: 64, step: [256, 64]}}]}\n",
                 count, depth);
  return compile(text, p);
}

/* Runs of four iterations need a barrier for each load of one, or two of them for each slot. */
START_TEST(few_barriers)
{
  fsched_program *p;
  ck_fs(ctx, compile_few(few[_i].count, few[_i].depth, &p));
  uint32_t used = 0;
  for (uint32_t g = 0; g < p->view.n_guards; g++) {
    used += p->view.guards[g].depth;
  }
  ck_assert_uint_eq(p->view.loops[1].joined, few[_i].joined);
  ck_assert_uint_eq(p->view.meta->makespan, few[_i].makespan);
  ck_assert_uint_eq(used, few[_i].used);
  ck_fs(ctx, fsched_verify_program(ctx, p, NULL));
  fsched_program_destroy(p);
}
END_TEST

START_TEST(too_few_barriers)
{
  fsched_program *p;
  ck_assert_int_eq(compile_few("3", 8, &p), FSCHED_INFEASIBLE);
  ck_assert_str_eq(fsched_diag_get(ctx, fsched_diag_count(ctx) - 1)->message,
                   "the loops need 4 barriers, 3 given");
  fsched_diag_clear(ctx);
}
END_TEST

FS_SUITE(loop_joined, s) {
  TCase *t = fs_case(s, fs_test_silent);
  FS_LOOPS(t, 0, 4, as_with_waits);
  FS_LOOPS(t, 0, sizeof few / sizeof *few, few_barriers);
  FS_TESTS(t, too_few_barriers);
}
