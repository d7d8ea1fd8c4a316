/* SPDX-License-Identifier: Apache-2.0 */
/* Loops by calls of the builder, what these refuse, and known answers. */
#include <stdio.h>
#include <string.h>

#include "kit/golden_case.h"

#include "front/same_graph.h"
#include "kit/shared_facts.h"

#include "kit/context.h"

/* Which depths and prefetches go together, as nvFuser counts them; one slot is possible here. */
START_TEST(prefetches_count_as_known)
{
  FILE *facts = fs_shared_facts("circular_vectors.txt");
  char line[512];
  int n = 0;
  while (facts != NULL && fgets(line, sizeof line, facts) != NULL) {
    int stage, prefetch, ok;
    char rest[64], text[512];
    if (sscanf(line, "opt stage=%d prefetch_in=%d %63s ok=%d", &stage, &prefetch, rest, &ok) != 4 ||
        stage == 1) {
      continue;
    }
    (void)snprintf(text, sizeof text,
                   "fsched: 1\nops:\n  - loop: k\n    trip: 8\n"
                   "    buffers: {a: {depth: %d, prefetch: %d}}\n"
                   "    ops: [{name: p, args: [{out: a, size: 1}]}]\n",
                   stage, prefetch);
    fsched_read_options o = {.size = sizeof o, .unroll = 1};
    fsched_graph *g;
    fs_status status = fsched_graph_parse(ctx, "ring", text, strlen(text), &o, &g);
    ck_assert_msg(status == (ok ? FSCHED_OK : FSCHED_BAD_INPUT), "%s", line);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
    n++;
  }
  if (facts != NULL) {
    ck_assert_int_gt(n, 10);
    (void)fclose(facts);
  }
}
END_TEST

static void add_load(fsched_builder *b, uint32_t x, uint32_t tile) {
  static const int64_t step[] = {512, -64};
  fsched_op_desc load = {.size = sizeof load, .name = "load"};
  fsched_arg_desc in = {.size = sizeof in,
                        .buffer = x,
                        .has_at = 1,
                        .offset = 256,
                        .length = 64,
                        .step = step,
                        .n_steps = 2};
  fsched_arg_desc out = {.size = sizeof out, .tag = FSCHED_OUT, .buffer = tile};
  uint32_t op;
  ck_fs(ctx, fsched_builder_op(b, &load, &op));
  ck_fs(ctx, fsched_builder_arg(b, op, &in));
  ck_fs(ctx, fsched_builder_arg(b, op, &out));
}

static uint32_t add_sum(fsched_builder *b, uint32_t tile, uint32_t acc) {
  fsched_op_desc sum = {.size = sizeof sum, .name = "sum"};
  fsched_arg_desc arg[] = {{.size = sizeof arg[0], .buffer = tile},
                           {.size = sizeof arg[0], .buffer = acc, .distance = 1},
                           {.size = sizeof arg[0], .tag = FSCHED_OUT, .buffer = acc}};
  uint32_t op;
  ck_fs(ctx, fsched_builder_op(b, &sum, &op));
  for (int i = 0; i < 3; i++) {
    ck_fs(ctx, fsched_builder_arg(b, op, &arg[i]));
  }
  return op;
}

static uint32_t begin(fsched_builder *b, fsched_loop_desc d) {
  uint32_t id = FS_NONE;
  d.size = sizeof d;
  ck_fs(ctx, fsched_builder_begin_loop(b, &d, &id));
  return id;
}

static uint32_t add_buffer(fsched_builder *b, fsched_buffer_desc d) {
  uint32_t id;
  d.size = sizeof d;
  ck_fs(ctx, fsched_builder_buffer(b, &d, &id));
  return id;
}

/* By calls, as a stranger makes them: the graph is that of the text. */
START_TEST(calls_make_the_same_graph)
{
  fsched_builder *b;
  fsched_graph *g;
  ck_fs(ctx, fsched_builder_create(ctx, "calls", &b));
  uint32_t x =
      add_buffer(b, (fsched_buffer_desc){.name = "x", .bytes = 2048, .io = FSCHED_IO_INPUT});
  uint32_t tile = add_buffer(b, (fsched_buffer_desc){.name = "tile", .bytes = 64});
  uint32_t acc = add_buffer(b, (fsched_buffer_desc){.name = "acc", .bytes = 64});
  fsched_op_desc zero = {.size = sizeof zero, .name = "zero"},
                 end = {.size = sizeof end, .name = "end"};
  fsched_arg_desc out = {.size = sizeof out, .tag = FSCHED_OUT, .buffer = acc};
  uint32_t op, last;
  ck_fs(ctx, fsched_builder_op(b, &zero, &op));
  ck_fs(ctx, fsched_builder_arg(b, op, &out));
  uint32_t i = begin(b, (fsched_loop_desc){.name = "i", .trip = 3});
  uint32_t j = begin(b, (fsched_loop_desc){.name = "j", .param = "n", .max = 4});
  ck_assert_uint_eq(j, i + 1);
  add_load(b, x, tile);
  uint32_t sum = add_sum(b, tile, acc);
  ck_fs(ctx, fsched_builder_after_at(b, sum, sum - 1, 1));
  ck_fs(ctx, fsched_builder_end_loop(b));
  ck_fs(ctx, fsched_builder_end_loop(b));
  fsched_ring_desc ring = {
      .size = sizeof ring, .buffer = tile, .depth = 2, .has_prefetch = 1, .prefetch = -1};
  ck_fs(ctx, fsched_builder_ring(b, j, &ring));
  ck_fs(ctx, fsched_builder_op(b, &end, &last));
  ck_fs(ctx, fsched_builder_after_loop(b, last, j, 0));
  ck_fs(ctx, fsched_builder_param(b, "n", 4));
  ck_fs(ctx, fsched_builder_param(b, "n", 2)); /* the last one holds */
  ck_fs(ctx, fsched_builder_unroll(b));
  ck_fs(ctx, fsched_builder_finish(b, &g));
  fsched_builder_destroy(b);
  static const char text[] =
      "fsched: 1\nname: calls\n"
      "buffers: [{name: x, size: 2048, io: input}, {name: tile, size: 64}, {name: acc, size: 64}]\n"
      "ops:\n"
      "  - {name: zero, args: [{out: acc}]}\n"
      "  - loop: i\n"
      "    trip: 3\n"
      "    ops:\n"
      "      - loop: j\n"
      "        trip: {param: n, max: 4}\n"
      "        buffers: {tile: {depth: 2, prefetch: -1}}\n"
      "        ops:\n"
      "          - name: load\n"
      "            args: [{in: x, at: {offset: 256, length: 64, step: [512, -64]}}, {out: tile}]\n"
      "          - name: sum\n"
      "            args: [{in: tile}, {in: acc, distance: 1}, {out: acc}]\n"
      "            after: [{op: load, distance: 1}]\n"
      "  - {name: end, after: [j]}\n";
  const char *params[] = {"n=2"};
  fsched_read_options o = {.size = sizeof o, .unroll = 1, .params = params, .n_params = 1};
  fsched_graph *want;
  ck_fs(ctx, fsched_graph_parse(ctx, "calls", text, sizeof text - 1, &o, &want));
  ck_assert_uint_eq(want->n_ops, 14);
  ck_assert_str_eq(want->op_name[12], "sum[2][1]");
  assert_same(g, want, text);
  fsched_graph_destroy(g);
  fsched_graph_destroy(want);
}
END_TEST

static void refused(fs_status status, const char *code) {
  ck_assert_int_eq(status, FSCHED_BAD_INPUT);
  ck_assert_msg(has_diag(code), "not %s", code);
  fsched_diag_clear(ctx);
}

/* Calls in a wrong order, and ids that are none. */
START_TEST(wrong_calls_are_refused)
{
  fsched_builder *b;
  fsched_graph *g;
  ck_fs(ctx, fsched_builder_create(ctx, "wrong", &b));
  uint32_t buffer = add_buffer(b, (fsched_buffer_desc){.name = "x", .bytes = 8});
  fsched_op_desc d = {.size = sizeof d, .name = "a"};
  uint32_t op;
  refused(fsched_builder_end_loop(b), "bad-argument");
  ck_fs(ctx, fsched_builder_op(b, &d, &op));
  refused(fsched_builder_after_at(b, op + 1, op, 0), "bad-argument");
  refused(fsched_builder_after_loop(b, op + 1, 0, 0), "bad-argument");
  refused(fsched_builder_after_at(b, op, op, UINT64_MAX), "out-of-range");
  fsched_ring_desc ring = {.size = sizeof ring, .buffer = buffer};
  refused(fsched_builder_ring(b, 0, &ring), "bad-argument");
  uint32_t loop = begin(b, (fsched_loop_desc){.name = "k", .trip = 2});
  fsched_loop_desc same = {.size = sizeof same, .name = "k"}, none = {.size = sizeof none};
  fsched_loop_desc small = {.size = 1, .name = "small"}, huge = {.size = sizeof huge, .name = "h"};
  huge.trip = FSCHED_MAX_TIME + 1;
  refused(fsched_builder_begin_loop(b, &none, NULL), "bad-argument");
  refused(fsched_builder_begin_loop(b, &small, NULL), "bad-argument");
  refused(fsched_builder_begin_loop(b, &huge, NULL), "out-of-range");
  refused(fsched_builder_begin_loop(b, &same, NULL), "repeated-name");
  ck_fs(ctx, fsched_builder_end_loop(b)); /* the repeated one is there */
  ring.buffer = 7;
  refused(fsched_builder_ring(b, loop, &ring), "bad-argument");
  ring.buffer = buffer;
  ck_fs(ctx, fsched_builder_ring(b, loop, &ring));
  refused(fsched_builder_param(b, "", 1), "bad-argument");
  ck_fs(ctx, fsched_builder_unroll(b));
  refused(fsched_builder_finish(b, &g), "bad-argument"); /* k is not ended */
  ck_assert_ptr_null(g);
  fsched_builder_destroy(b);
}
END_TEST

/* Args belong to the last op, which may be in no loop, or in another one, than the one that is
 * open; steps need a range, and without steps there are none. */
START_TEST(args_are_of_their_op)
{
  static const int64_t step[] = {1, 2};
  fsched_builder *b;
  fsched_graph *g;
  ck_fs(ctx, fsched_builder_create(ctx, "args", &b));
  uint32_t x = add_buffer(b, (fsched_buffer_desc){.name = "x", .bytes = 64, .io = FSCHED_IO_INPUT});
  fsched_arg_desc past = {.size = sizeof past, .buffer = x, .distance = 1};
  fsched_arg_desc moves = {
      .size = sizeof moves, .buffer = x, .has_at = 1, .length = 1, .step = step, .n_steps = 1};
  fsched_arg_desc value = {
      .size = sizeof value, .tag = FSCHED_VALUE, .has_at = 1, .step = step, .n_steps = 1};
  fsched_op_desc d = {.size = sizeof d, .name = "before"};
  uint32_t op;
  ck_fs(ctx, fsched_builder_op(b, &d, &op));
  (void)begin(b, (fsched_loop_desc){.name = "k", .trip = 2});
  refused(fsched_builder_arg(b, op, &past), "bad-loop");
  refused(fsched_builder_arg(b, op, &moves), "bad-loop");
  d.name = "outer";
  ck_fs(ctx, fsched_builder_op(b, &d, &op));
  (void)begin(b, (fsched_loop_desc){.name = "l", .trip = 2});
  moves.n_steps = 2;
  refused(fsched_builder_arg(b, op, &moves), "bad-loop");
  d.name = "inner";
  ck_fs(ctx, fsched_builder_op(b, &d, &op));
  ck_fs(ctx, fsched_builder_end_loop(b));
  ck_fs(ctx, fsched_builder_arg(b, op, &moves)); /* behind the end of its loop */
  refused(fsched_builder_arg(b, op, &value), "bad-loop");
  moves.has_at = 0;
  refused(fsched_builder_arg(b, op, &moves), "bad-loop");
  moves.tag = FSCHED_OUT;
  refused(fsched_builder_arg(b, op, &moves), "bad-loop");
  moves = (fsched_arg_desc){.size = sizeof moves, .buffer = x, .n_steps = 7};
  ck_fs(ctx, fsched_builder_arg(b, op, &moves)); /* no steps are given */
  ck_fs(ctx, fsched_builder_end_loop(b));
  ck_fs(ctx, fsched_builder_unroll(b));
  ck_assert_int_eq(fsched_builder_finish(b, &g), FSCHED_BAD_INPUT);
  fsched_builder_destroy(b);
}
END_TEST

/* A loop that runs not at all leaves no trace, however often the loops in it would run; and what
 * its ops would do is still looked at. */
START_TEST(loops_without_trips)
{
  static const char text[] =
      "fsched: 1\nops:\n  - {name: a, args: [{out: x, size: 8}]}\n"
      "  - loop: k\n    trip: 0\n    ops:\n"
      "      - {loop: l, trip: 1099511627776, ops: [{name: b, args: [{in: x, "
      "distance: 4}, {out: x}]}]}\n"
      "      - {loop: m, trip: 3, ops: []}\n"
      "  - {loop: e, trip: 1099511627776, ops: []}\n"
      "  - {name: c, args: [{in: x}], after: [k, l, m, e, b]}\n";
  fsched_read_options o = {.size = sizeof o, .unroll = 1};
  fsched_graph *g;
  ck_fs(ctx, fsched_graph_parse(ctx, "zero", text, sizeof text - 1, &o, &g));
  ck_assert_uint_eq(g->n_ops, 2);
  ck_assert_uint_eq(g->n_edges, 1);
  fsched_graph_destroy(g);
}
END_TEST

static fs_status unroll_text(fsched_context *c, const void *text) {
  const char *params[] = {"n=3"};
  fsched_read_options o = {.size = sizeof o, .unroll = 1, .params = params, .n_params = 1};
  fsched_graph *g = NULL;
  fs_status status = fsched_graph_parse(c, "t", text, strlen(text), &o, &g);
  fsched_graph_destroy(g);
  return status;
}

/* With all that an unrolling has: values that are carried, of versions that are old too, steps,
 * races, results that are lost, and `after` of both kinds. */
START_TEST(every_allocation_may_fail)
{
  static const char text[] =
      "fsched: 1\nhazards: raw\nbuffers: [{name: y, size: 8, io: state}]\n"
      "ops:\n"
      "  - {name: zero, args: [{out: a, size: 8}]}\n"
      "  - loop: i\n    trip: 2\n    ops:\n"
      "      - loop: j\n        trip: {param: n, max: 4}\n"
      "        buffers: {a: {depth: 4}}\n        ops:\n"
      "          - {name: b, args: [{in: a, distance: 1}, {in: a, distance: 3}, {out: a}]}\n"
      "          - {name: c, args: [{in: a, distance: 1}, {out_existing: y, at: {length: 1, step: "
      "[1, "
      "1]}}], after: [{op: b, distance: 1}]}\n"
      "          - {name: d, args: [{out: w, size: 1}]}\n"
      "  - {name: e, after: [i, c]}\n";
  fs_budget budget;
  fsched_context *c = fs_budget_context(&budget);
  /* Races are looked for all the same, but not told before the failure. */
  ck_assert_int_eq(fsched_warning_set(c, "race", FSCHED_WARNING_OFF), FSCHED_OK);
  fs_fail_each_allocation(c, &budget, unroll_text, text);
  fsched_context_destroy(c);
  ck_assert_int_eq(budget.held, 0);
}
END_TEST

FS_SUITE(loop_calls, s) {
  TCase *t = fs_case(s, fs_test_arena);
  FS_TESTS(t, prefetches_count_as_known, calls_make_the_same_graph, wrong_calls_are_refused,
           args_are_of_their_op, loops_without_trips, every_allocation_may_fail);
}
