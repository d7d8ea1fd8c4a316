/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "front/graph_checks.h"
#include "fsched/compile.h"
#include "fsched/replay.h"
#include "kit/budget.h"
#include "kit/gen.h"
#include "model/graph.h"

#include "front/builder_kit.h"

START_TEST(domains_and_gangs)
{
  fsched_builder *b = make();
  add_queue(b, "a0", "a");
  add_queue(b, "a1", "a");
  add_queue(b, "x", "y");
  add_op(b, "class", "a");
  add_op(b, "alone", "a1");
  add_op(b, "only_one_of_its_class", "x");
  add_op(b, "its_class", "y");
  const char *first[] = {"x", "a0"};
  const char *second[] = {"a0", "x"};
  fsched_op_desc d = {.size = sizeof d, .name = "gang", .gang = first, .n_gang = 2};
  ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  d.name = "same_gang";
  d.gang = second;
  ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  fsched_graph *g = finish(b);
  ck_assert_uint_eq(g->target.n_domains, 3);
  ck_assert_uint_eq(g->op_domain[0], 0);
  ck_assert_uint_eq(g->op_domain[1], 2);
  ck_assert_uint_eq(g->op_domain[2], 1);
  ck_assert_uint_eq(g->op_domain[3], 1);
  ck_assert_uint_eq(g->target.domain_queue0[1] - g->target.domain_queue0[0], 2);
  ck_assert_uint_eq(g->target.domain_queue[g->target.domain_queue0[2]], 1);
  ck_assert_uint_eq(g->op_domain[4], FS_NONE);
  ck_assert_uint_eq(g->n_gangs, 1);
  ck_assert_uint_eq(g->op_gang[5], 0);
  ck_assert_uint_eq(g->gang_queue[0], 0);
  ck_assert_uint_eq(g->gang_queue[1], 2);
  fsched_graph_destroy(g);
}
END_TEST

/* Any two of a class, twice one gang, and all of it; the queues may come later. */
START_TEST(gangs_of_a_class)
{
  fsched_builder *b = make();
  fsched_op_desc d = {.size = sizeof d, .name = "two", .gang_class = "a", .gang_count = 2};
  ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  d.name = "two_again";
  ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  d.name = "three";
  d.gang_count = 3;
  ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  add_queue(b, "a0", "a");
  add_queue(b, "x", "y");
  add_queue(b, "a1", "a");
  add_queue(b, "a2", "a");
  fsched_graph *g = finish(b);
  ck_assert_uint_eq(g->n_gangs, 2);
  ck_assert_uint_eq(g->op_gang[0], 0);
  ck_assert_uint_eq(g->op_gang[1], 0);
  ck_assert_uint_eq(g->op_gang[2], 1);
  ck_assert_uint_eq(g->op_domain[0], FS_NONE);
  for (uint32_t k = 0; k < 2; k++) {
    ck_assert_uint_eq(g->gang_queue0[k + 1] - g->gang_queue0[k], 3);
    ck_assert_uint_eq(g->gang_queue[3 * k], 0);
    ck_assert_uint_eq(g->gang_queue[3 * k + 1], 2);
    ck_assert_uint_eq(g->gang_queue[3 * k + 2], 3);
    ck_assert_uint_eq(g->gang_members[k], 2 + k);
    ck_assert_int_eq(fs_gang_open(g, k), k == 0);
  }
  ck_assert(g->gangs_open);
  fsched_graph_destroy(g);
}
END_TEST

/* The code of the error that a gang of a class gives when the graph is finished. */
static void refuse_gang(const char *class_name, uint32_t count, const char *code) {
  fsched_builder *b = make();
  add_queue(b, "a0", "a");
  add_queue(b, "a1", "a");
  fsched_op_desc d = {.size = sizeof d, .name = "o", .gang_class = class_name, .gang_count = count};
  ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  fsched_graph *g = NULL;
  ck_assert_int_eq(fsched_builder_finish(b, &g), FSCHED_BAD_INPUT);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, code);
  fsched_diag_clear(ctx);
  fsched_builder_destroy(b);
}

START_TEST(gangs_of_a_class_are_checked)
{
  refuse_gang("a", 3, "out-of-range");
  refuse_gang("a", UINT32_MAX, "out-of-range");
  refuse_gang("nonsense", 1, "no-queue");
  refuse_gang("a0", 1, "no-queue");
  fsched_builder *b = make();
  add_queue(b, "a0", "a");
  const char *queues[] = {"a0"};
  const fsched_op_desc wrong[] = {{.size = sizeof *wrong, .name = "o", .gang_class = "a"},
                                  {.size = sizeof *wrong, .name = "o", .gang_count = 1},
                                  {.size = sizeof *wrong,
                                   .name = "o",
                                   .gang = queues,
                                   .n_gang = 1,
                                   .gang_class = "a",
                                   .gang_count = 1}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ck_assert_int_eq(fsched_builder_op(b, &wrong[i], NULL), FSCHED_BAD_INPUT);
    ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "bad-argument");
    fsched_diag_clear(ctx);
  }
  fsched_builder_destroy(b);
}
END_TEST

START_TEST(implicit_queues_ignore_on)
{
  fsched_builder *b = make();
  add_op(b, "a", "nonsense");
  const char *gang[] = {"p", "q"};
  fsched_op_desc d = {.size = sizeof d, .name = "b", .gang = gang, .n_gang = 2};
  ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  fsched_op_desc any = {.size = sizeof any, .name = "c", .gang_class = "p", .gang_count = 9};
  ck_assert_int_eq(fsched_builder_op(b, &any, NULL), FSCHED_OK);
  fsched_graph *g = finish(b);
  ck_assert(g->target.implicit_queues);
  ck_assert_uint_eq(g->op_domain[2], 0);
  ck_assert_uint_eq(g->op_gang[2], FS_NONE);
  ck_assert_uint_eq(g->target.n_domains, 1);
  ck_assert_uint_eq(g->op_domain[0], 0);
  ck_assert_uint_eq(g->op_domain[1], 0);
  ck_assert_uint_eq(g->op_gang[1], FS_NONE);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(default_memory_is_the_first_bounded)
{
  fsched_builder *b = make();
  add_memory(b, "ddr", FSCHED_UNBOUNDED);
  add_memory(b, "cmx", 100);
  add_buffer(b, "x", 5, FSCHED_IO_INPUT);
  fsched_graph *g = finish(b);
  ck_assert_uint_eq(g->buffer_memory[0], 1);
  fsched_graph_destroy(g);
  b = make();
  add_buffer(b, "x", 5, FSCHED_IO_INPUT);
  g = finish(b);
  ck_assert_uint_eq(g->target.n_memories, 1);
  ck_assert(!fs_memory_bounded(&g->target.memory[0]));
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(given_and_kept)
{
  fsched_builder *b = make();
  uint32_t in = add_buffer(b, "in", 1, FSCHED_IO_INPUT);
  uint32_t st = add_buffer(b, "st", 1, FSCHED_IO_STATE);
  uint32_t out = add_buffer(b, "out", 1, FSCHED_IO_OUTPUT);
  for (int i = 0; i < 2; i++) {
    uint32_t op = add_op(b, i == 0 ? "a" : "b", NULL);
    ck_assert_int_eq(add_arg(b, op, FSCHED_IN, in), FSCHED_OK);
    ck_assert_int_eq(add_arg(b, op, FSCHED_OUT, st), FSCHED_OK);
    ck_assert_int_eq(add_arg(b, op, FSCHED_OUT, out), FSCHED_OK);
  }
  fsched_graph *g = finish(b);
  static const bool given[] = {1, 1, 0, 0, 0, 0};
  static const bool kept[] = {0, 0, 0, 1, 0, 1};
  ck_assert_uint_eq(g->n_versions, 6);
  for (uint32_t v = 0; v < 6; v++) {
    ck_assert_int_eq(fs_version_given(g, v), given[v]);
    ck_assert_int_eq(fs_version_kept(g, v), kept[v]);
  }
  fsched_graph_destroy(g);
}
END_TEST

/* An `in` beside an `out` of one buffer reads the old version; the `out` depends on nothing of
 * it. */
START_TEST(lookups_before_inserts)
{
  fsched_builder *b = make();
  uint32_t x = add_buffer(b, "x", 8, FSCHED_IO_NONE);
  uint32_t a = add_op(b, "a", NULL);
  ck_assert_int_eq(add_arg(b, a, FSCHED_OUT, x), FSCHED_OK);
  uint32_t both = add_op(b, "both", NULL);
  ck_assert_int_eq(add_arg(b, both, FSCHED_OUT, x), FSCHED_OK);
  ck_assert_int_eq(add_arg(b, both, FSCHED_IN, x), FSCHED_OK);
  ck_assert_int_eq(add_arg(b, both, FSCHED_IN, x), FSCHED_OK);
  uint32_t fresh = add_op(b, "fresh", NULL);
  ck_assert_int_eq(add_arg(b, fresh, FSCHED_OUT, x), FSCHED_OK);
  fsched_graph *g = finish(b);
  ck_assert_uint_eq(g->n_edges, 1);
  ck_assert_uint_eq(g->arg_version[1], 1);
  ck_assert_uint_eq(g->arg_version[2], 0);
  ck_assert_uint_eq(g->arg_version[4], 2);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(items_in_any_order)
{
  fsched_builder *b = make();
  uint32_t r;
  ck_assert_int_eq(fsched_builder_resource(b, "r", 10, &r), FSCHED_OK);
  uint32_t m = add_memory(b, "m", 100);
  uint32_t first = add_op(b, "first", NULL);
  uint32_t second = add_op(b, "second", NULL);
  ck_assert_int_eq(fsched_builder_use(b, second, r, 2), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_use(b, first, r, 1), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_scratch(b, second, m, 0), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_scratch(b, first, m, 7), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_after(b, first, second), FSCHED_OK);
  fsched_graph *g = finish(b);
  ck_assert_uint_eq(g->use_amount[g->op_use0[0]], 1);
  ck_assert_uint_eq(g->use_amount[g->op_use0[1]], 2);
  ck_assert_uint_eq(g->op_scratch0[1], 1);
  ck_assert_uint_eq(g->op_scratch0[2], 1);
  ck_assert_uint_eq(g->topo[0], second);
  ck_assert_uint_eq(g->topo[1], first);
  fsched_graph_destroy(g);
}
END_TEST

static void expect_code(fs_status got, const char *code) {
  ck_assert_int_eq(got, FSCHED_BAD_INPUT);
  ck_assert_uint_gt(fsched_diag_count(ctx), 0);
  ck_assert_str_eq(fsched_diag_get(ctx, fsched_diag_count(ctx) - 1)->code, code);
  fsched_diag_clear(ctx);
}

/* Calls for other ops may come between. */
START_TEST(an_op_uses_a_thing_once)
{
  for (int scratch = 0; scratch < 2; scratch++) {
    fsched_builder *b = make();
    fsched_status (*call)(fsched_builder *, uint32_t, uint32_t, uint64_t) =
        scratch ? fsched_builder_scratch : fsched_builder_use;
    uint32_t id;
    ck_assert_int_eq(fsched_builder_resource(b, "r", 10, &id), FSCHED_OK);
    id = scratch ? add_memory(b, "m", 100) : id;
    uint32_t first = add_op(b, "first", NULL);
    uint32_t second = add_op(b, "second", NULL);
    ck_assert_int_eq(call(b, first, id, 6), FSCHED_OK);
    ck_assert_int_eq(call(b, second, id, 6), FSCHED_OK);
    expect_code(call(b, second, id, 6), "bad-argument");
    ck_assert_int_eq(call(b, first, id, 6), FSCHED_OK);
    fsched_graph *g;
    expect_code(fsched_builder_finish(b, &g), "bad-argument");
    fsched_builder_destroy(b);
  }
}
END_TEST

START_TEST(misuse_is_reported)
{
  fsched_builder *b = make();
  fsched_queue_desc q = {.size = sizeof q};
  expect_code(fsched_builder_queue(b, &q, NULL), "bad-argument");
  fsched_memory_desc m = {.size = sizeof m, .name = "m", .align = 3};
  expect_code(fsched_builder_memory(b, &m, NULL), "out-of-range");
  m = (fsched_memory_desc){.size = sizeof m, .name = "m", .capacity = FSCHED_MAX_SIZE + 1};
  expect_code(fsched_builder_memory(b, &m, NULL), "out-of-range");
  fsched_buffer_desc d = {.size = sizeof d, .name = "x", .memory = "n"};
  expect_code(fsched_builder_buffer(b, &d, NULL), "unknown-name");
  expect_code(fsched_builder_use(b, 0, 0, 1), "bad-argument");
  expect_code(fsched_builder_frontier(b, 0), "out-of-range");
  uint32_t x = add_buffer(b, "x", 4, FSCHED_IO_NONE);
  uint32_t first = add_op(b, "first", NULL);
  uint32_t second = add_op(b, "second", NULL);
  expect_code(add_arg(b, first, FSCHED_OUT, x), "bad-argument");
  expect_code(add_arg(b, second, FSCHED_OUT, 9), "bad-argument");
  fsched_kernel_desc k = {.size = sizeof k, .module = "m.so"};
  expect_code(fsched_builder_kernel(b, second, &k), "bad-argument");
  ck_assert_int_eq(fsched_builder_after(b, second, 99), FSCHED_OK);
  fsched_graph *g;
  expect_code(fsched_builder_finish(b, &g), "bad-argument");
  expect_code(fsched_builder_finish(b, &g), "bad-argument");
  fsched_builder_destroy(b);
}
END_TEST

START_TEST(short_descriptors_have_zeros_behind)
{
  fsched_builder *b = make();
  fsched_op_desc d = {.size = offsetof(fsched_op_desc, time), .name = "a", .time = 77};
  ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  /* The descriptor has the size from before there were kinds of sync. */
  d = (fsched_op_desc){.size = offsetof(fsched_op_desc, slots), .name = "b", .slots = 9};
  ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  d = (fsched_op_desc){.size = offsetof(fsched_op_desc, latency), .name = "c", .latency = 9};
  ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  fsched_queue_desc q = {.size = offsetof(fsched_queue_desc, counting), .name = "q", .counting = 1};
  ck_assert_int_eq(fsched_builder_queue(b, &q, NULL), FSCHED_OK);
  fsched_graph *g = finish(b);
  ck_assert_uint_eq(g->op_time[0], 1);
  ck_assert_ptr_null(g->op_slots);
  ck_assert_ptr_null(g->op_latency);
  ck_assert(!g->target.queue[0].counting);
  fsched_graph_destroy(g);
}
END_TEST

/* A latency of the time is none; launches are added to both. */
START_TEST(latencies_are_at_least_the_times)
{
  fsched_builder *b = make();
  const fsched_op_desc op[] = {
      {.size = sizeof *op, .name = "a", .latency = 1},
      {.size = sizeof *op, .name = "b", .has_time = 1, .latency = 3},
      {.size = sizeof *op, .name = "c", .time = 4, .latency = 9},
      {.size = sizeof *op, .name = "d", .time = 4},
  };
  const fs_tick time[] = {3, 2, 6, 6}, latency[] = {3, 5, 11, 6};
  ck_assert_int_eq(fsched_builder_launch(b, NULL, 2), FSCHED_OK);
  for (uint32_t i = 0; i < 4; i++) {
    ck_assert_int_eq(fsched_builder_op(b, &op[i], NULL), FSCHED_OK);
  }
  fsched_graph *g = finish(b);
  for (uint32_t i = 0; i < 4; i++) {
    ck_assert_uint_eq(g->op_time[i], time[i]);
    ck_assert_uint_eq(fs_op_latency(g, i), latency[i]);
    ck_assert_int_eq(fs_op_slow(g, i), latency[i] > time[i]);
  }
  fsched_graph_destroy(g);
}
END_TEST

/* Members that are left out of a descriptor mean what keys left out of a graph file mean. */
START_TEST(zero_is_the_default)
{
  fsched_builder *b = make();
  ck_assert_int_eq(
      fsched_builder_memory(
          b, &(fsched_memory_desc){.size = sizeof(fsched_memory_desc), .name = "far"}, NULL),
      FSCHED_OK);
  add_memory(b, "near", 64);
  add_buffer(b, "x", 8, FSCHED_IO_NONE);
  fsched_buffer_desc y = {.size = sizeof y, .name = "y", .bytes = 8, .memory = "far"};
  ck_assert_int_eq(fsched_builder_buffer(b, &y, NULL), FSCHED_OK);
  fsched_op_desc d = {.size = sizeof d, .name = "default"};
  ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  d = (fsched_op_desc){.size = sizeof d, .name = "none", .has_time = 1};
  ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  d = (fsched_op_desc){.size = sizeof d, .name = "some", .time = 7};
  ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  fsched_graph *g = finish(b);
  ck_assert(g->target.memory[0].capacity == FSCHED_UNBOUNDED);
  ck_assert_uint_eq(g->target.memory[0].align, 1);
  ck_assert_uint_eq(g->buffer_memory[0], 1);
  ck_assert_uint_eq(g->buffer_memory[1], 0);
  ck_assert_uint_eq(g->op_time[0], 1);
  ck_assert_uint_eq(g->op_time[1], 0);
  ck_assert_uint_eq(g->op_time[2], 7);
  ck_assert_int_eq(g->target.sync, FS_SYNC_TIMELINE);
  ck_assert_uint_eq(g->target.barrier_count, 0);
  ck_assert_uint_eq(g->target.barrier_slots, FS_NONE);
  fsched_graph_destroy(g);
}
END_TEST

/* Checks that the last diagnostic has this code and text, and clears all. */
static void said(const char *code, const char *text) {
  ck_assert_uint_gt(fsched_diag_count(ctx), 0);
  const fsched_diag *d = fsched_diag_get(ctx, fsched_diag_count(ctx) - 1);
  ck_assert_str_eq(d->code, code);
  ck_assert_msg(strstr(d->message, text) != NULL, "%s", d->message);
  fsched_diag_clear(ctx);
}

START_TEST(sizes_are_required)
{
  fsched_builder *b = make();
  uint32_t id = 99;
  ck_assert_int_eq(fsched_builder_queue(b, &(fsched_queue_desc){.name = "q"}, &id),
                   FSCHED_BAD_INPUT);
  said("bad-argument", "'size' of fsched_queue_desc is 0, at least 16");
  ck_assert_int_eq(fsched_builder_memory(b, &(fsched_memory_desc){.name = "m"}, &id),
                   FSCHED_BAD_INPUT);
  said("bad-argument", "'size' of fsched_memory_desc is 0");
  ck_assert_int_eq(fsched_builder_buffer(b, &(fsched_buffer_desc){.size = 8, .name = "x"}, &id),
                   FSCHED_BAD_INPUT);
  said("bad-argument", "'size' of fsched_buffer_desc is 8");
  ck_assert_int_eq(fsched_builder_op(b, &(fsched_op_desc){.name = "a"}, &id), FSCHED_BAD_INPUT);
  said("bad-argument", "'size' of fsched_op_desc is 0");
  ck_assert_uint_eq(id, 99);
  add_op(b, "a", NULL);
  ck_assert_int_eq(fsched_builder_arg(b, 0, &(fsched_arg_desc){.tag = FSCHED_VALUE}),
                   FSCHED_BAD_INPUT);
  said("bad-argument", "'size' of fsched_arg_desc is 0");
  ck_assert_int_eq(fsched_builder_kernel(b, 0, &(fsched_kernel_desc){.builtin = "mix"}),
                   FSCHED_BAD_INPUT);
  said("bad-argument", "'size' of fsched_kernel_desc is 0");
  fsched_graph *g = (fsched_graph *)&id;
  ck_assert_int_eq(fsched_builder_finish(b, &g), FSCHED_BAD_INPUT);
  ck_assert_ptr_null(g);
  fsched_builder_destroy(b);
  fsched_context *c = ctx;
  ck_assert_int_eq(fsched_context_create(&(fsched_context_options){.size = 0}, &c), FSCHED_USAGE);
  ck_assert_ptr_null(c);
}
END_TEST

START_TEST(values_are_checked)
{
  fsched_builder *b = make();
  ck_assert_int_eq(fsched_builder_hazards(b, (fsched_hazards)2), FSCHED_BAD_INPUT);
  said("bad-argument", "'hazards' is 2");
  fsched_memory_desc m = {.size = sizeof m, .name = "m", .placement = (fsched_placement)7};
  ck_assert_int_eq(fsched_builder_memory(b, &m, NULL), FSCHED_BAD_INPUT);
  said("bad-argument", "'placement' is 7");
  ck_assert_int_eq(fsched_builder_sync(b, (fsched_sync)3), FSCHED_BAD_INPUT);
  said("bad-argument", "'sync' is 3");
  ck_assert_int_eq(fsched_builder_sync(b, (fsched_sync)-1), FSCHED_BAD_INPUT);
  said("bad-argument", "'sync' is -1");
  ck_assert_int_eq(fsched_builder_sync_cost(b, FSCHED_MAX_TIME + 1), FSCHED_BAD_INPUT);
  said("out-of-range", "the cost of a sync is 1099511627777");
  ck_assert_int_eq(fsched_builder_barriers(b, (uint64_t)INT32_MAX + 1, 1), FSCHED_BAD_INPUT);
  said("out-of-range", "the number of barriers is 2147483648");
  ck_assert_int_eq(fsched_builder_barriers(b, 1, FSCHED_BARRIERS_AUTO), FSCHED_BAD_INPUT);
  said("out-of-range", "number of slots is 4294967295");
  fsched_op_desc o = {.size = sizeof o, .name = "o", .slots = (uint32_t)INT32_MAX + 1};
  ck_assert_int_eq(fsched_builder_op(b, &o, NULL), FSCHED_BAD_INPUT);
  said("out-of-range", "the number of slots is 2147483648");
  o = (fsched_op_desc){.size = sizeof o, .name = "o", .latency = FSCHED_MAX_TIME + 1};
  ck_assert_int_eq(fsched_builder_op(b, &o, NULL), FSCHED_BAD_INPUT);
  said("out-of-range", "the latency is 1099511627777");
  o = (fsched_op_desc){.size = sizeof o, .name = "o", .time = 5, .latency = 4};
  ck_assert_int_eq(fsched_builder_op(b, &o, NULL), FSCHED_BAD_INPUT);
  said("out-of-range", "the latency of op 'o' is 4, less than its time of 5");
  fsched_buffer_desc x = {.size = sizeof x, .name = "x", .io = (fsched_io)5};
  ck_assert_int_eq(fsched_builder_buffer(b, &x, NULL), FSCHED_BAD_INPUT);
  said("bad-argument", "'io' is 5");
  add_op(b, "a", NULL);
  fsched_arg_desc a = {.size = sizeof a, .tag = (fsched_tag)-1};
  ck_assert_int_eq(fsched_builder_arg(b, 0, &a), FSCHED_BAD_INPUT);
  said("bad-argument", "'tag' is -1");
  fsched_queue_desc q = {.size = sizeof q, .name = "q", .device = 65536};
  ck_assert_int_eq(fsched_builder_queue(b, &q, NULL), FSCHED_BAD_INPUT);
  said("out-of-range", "the device is 65536");
  q = (fsched_queue_desc){.size = sizeof q, .name = "q", .machine = 256};
  ck_assert_int_eq(fsched_builder_queue(b, &q, NULL), FSCHED_BAD_INPUT);
  said("out-of-range", "the machine is 256");
  q = (fsched_queue_desc){.size = sizeof q, .name = "q", .queue_class = "\xFF"};
  ck_assert_int_eq(fsched_builder_queue(b, &q, NULL), FSCHED_BAD_INPUT);
  said("bad-argument", "a queue's class is not UTF-8");
  ck_assert_int_eq(fsched_builder_resource(b, "a\xC0z", 1, NULL), FSCHED_BAD_INPUT);
  said("bad-argument", "a name is not UTF-8");
  fsched_kernel_desc k = {.size = sizeof k, .builtin = "mx"};
  ck_assert_int_eq(fsched_builder_kernel(b, 0, &k), FSCHED_BAD_INPUT);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->hint, "did you mean 'mix'?");
  said("unknown-value", "there is no built-in kernel 'mx'");
  fsched_builder_destroy(b);
  ck_assert_int_eq(fsched_builder_create(ctx, "\x80", &b), FSCHED_BAD_INPUT);
  ck_assert_ptr_null(b);
}
END_TEST

START_TEST(options_are_checked)
{
  fsched_builder *b = make();
  add_op(b, "a", NULL);
  fsched_graph *g = finish(b);
  fsched_schedule *s = (fsched_schedule *)g;
  fsched_program *p = (fsched_program *)g;
  fsched_compile_options o = {.evict = FSCHED_EVICT_LRU};
  ck_assert_int_eq(fsched_compile(ctx, g, &o, &s, &p), FSCHED_USAGE);
  ck_assert(s == NULL && p == NULL);
  said("bad-argument", "'size' of fsched_compile_options is 0");
  o = (fsched_compile_options){.size = sizeof o, .evict = (fsched_evict)99};
  ck_assert_int_eq(fsched_compile(ctx, g, &o, &s, &p), FSCHED_USAGE);
  said("bad-argument", "'evict' is 99");
  ck_assert_int_eq(fsched_compile(ctx, g, NULL, NULL, &p), FSCHED_OK);
  fsched_replay_options r = {.repeat = 3};
  ck_assert_int_eq(fsched_replay_cpu(ctx, p, &r, NULL), FSCHED_USAGE);
  said("bad-argument", "'size' of fsched_replay_options is 0");
  fsched_replay_result result = {.size = 0};
  ck_assert_int_eq(fsched_replay_cpu(ctx, p, NULL, &result), FSCHED_USAGE);
  said("bad-argument", "'size' of fsched_replay_result is 0");
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
  fsched_read_options read = {.size = 0};
  g = (fsched_graph *)&read;
  ck_assert_int_eq(fsched_graph_parse(ctx, "g", "", 0, &read, &g), FSCHED_USAGE);
  said("bad-argument", "'size' of fsched_read_options is 0");
  ck_assert_ptr_null(g);
}
END_TEST

/* Every function that makes an object stores NULL when it fails. */
START_TEST(outputs_are_null_on_error)
{
  fsched_graph *g = (fsched_graph *)ctx;
  ck_assert_int_eq(fsched_graph_read(ctx, "test/bad/nope.yaml", NULL, &g), FSCHED_SYSTEM);
  ck_assert_ptr_null(g);
  g = (fsched_graph *)ctx;
  ck_assert_int_eq(fsched_graph_parse(ctx, "g", "fsched: 2", 9, NULL, &g), FSCHED_BAD_INPUT);
  ck_assert_ptr_null(g);
  fsched_program *p = (fsched_program *)ctx;
  ck_assert_int_eq(fsched_program_load(ctx, "p", "", 0, &p), FSCHED_BAD_INPUT);
  ck_assert_ptr_null(p);
  p = (fsched_program *)ctx;
  ck_assert_int_eq(fsched_program_open(ctx, "test/bad/nope.yaml", &p), FSCHED_SYSTEM);
  ck_assert_ptr_null(p);
  p = (fsched_program *)ctx;
  ck_assert_int_eq(fsched_program_open(ctx, "test/bad/cycle.yaml", &p), FSCHED_BAD_INPUT);
  ck_assert_ptr_null(p);
  p = (fsched_program *)ctx;
  ck_assert_int_eq(fsched_program_assemble(ctx, "p", "{}", 2, &p), FSCHED_BAD_INPUT);
  ck_assert_ptr_null(p);
}
END_TEST

/* One buffer's 50,000 tiles are written, read and written again; this would take minutes if the
 * cost of an access grew with the number of tiles. */
START_TEST(many_tiles)
{
  enum { TILES = 50000, TILE = 16 };
  fsched_builder *b = make();
  uint32_t x = add_buffer(b, "x", TILES * TILE, FSCHED_IO_INPUT);
  fs_rng rng = {7};
  uint32_t op = 0;
  for (int round = 0; round < 3; round++) {
    for (uint32_t i = 0; i < TILES; i++) {
      char name[32];
      snprintf(name, sizeof name, "o%u", op);
      add_op(b, name, NULL);
      fsched_arg_desc d = {.size = sizeof d, .buffer = x, .has_at = 1, .length = TILE};
      d.tag = round == 1 ? FSCHED_IN : FSCHED_INOUT;
      d.offset = (uint64_t)fs_rng_below(&rng, TILES) * TILE;
      ck_assert_int_eq(fsched_builder_arg(b, op++, &d), FSCHED_OK);
    }
  }
  add_op(b, "all", NULL);
  ck_assert_int_eq(add_arg(b, op, FSCHED_INOUT, x), FSCHED_OK);
  fsched_graph *g = finish(b);
  ck_assert_uint_gt(g->n_edges, 2 * TILES);
  check_topo(g);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(large_graph)
{
  fs_gen_params p = {.seed = 3,
                     .n_ops = 50000,
                     .n_queues = 64,
                     .n_classes = 4,
                     .n_memories = 2,
                     .backing = true,
                     .io = true,
                     .inouts = true,
                     .tightness = 4};
  fsched_graph *g;
  ck_assert_int_eq(fs_gen_graph(ctx, &p, &g), FSCHED_OK);
  ck_assert_uint_eq(g->n_ops, p.n_ops);
  check_transpose(g);
  check_topo(g);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
  fs_gen_params p = fs_gen_any(11, 40);
  p.class_gangs = true;
  p.raw = p.gangs = p.inplace = p.ats = p.inouts = p.io = p.resources = p.scratch = true;
  p.n_queues = 5;
  p.n_ops = 40;
  bool done = false;
  for (long n = 1; !done; n++) {
    fs_budget x = {.left = n};
    fsched_context_options o = {.size = sizeof o, .reallocate = fs_budget_reallocate, .user = &x};
    fsched_context *c;
    fsched_graph *g = NULL;
    if (fsched_context_create(&o, &c) == FSCHED_OK) {
      fs_status status = fs_gen_graph(c, &p, &g);
      done = status == FSCHED_OK;
      ck_assert(done || status == FSCHED_SYSTEM);
      uint32_t last = fsched_diag_count(c) - 1; /* warnings may come before it */
      ck_assert(done || strcmp(fsched_diag_get(c, last)->code, "out-of-memory") == 0);
      fsched_graph_destroy(g);
      fsched_context_destroy(c);
    }
    ck_assert_int_eq(x.held, 0);
    ck_assert_int_lt(n, 5000);
  }
}
END_TEST

FS_SUITE(builder, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, domains_and_gangs, gangs_of_a_class, gangs_of_a_class_are_checked,
           implicit_queues_ignore_on, default_memory_is_the_first_bounded, given_and_kept,
           lookups_before_inserts, zero_is_the_default, items_in_any_order, an_op_uses_a_thing_once,
           misuse_is_reported, short_descriptors_have_zeros_behind,
           latencies_are_at_least_the_times, sizes_are_required, values_are_checked,
           options_are_checked, outputs_are_null_on_error, many_tiles, large_graph,
           every_allocation_may_fail);
}
