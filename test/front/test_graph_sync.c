/* SPDX-License-Identifier: Apache-2.0 */
/* What a target may state about synchronisation, in a graph file, by overrides and by calls; and
 * how many barriers a compilation then has. */
#include <stdio.h>

#include "kit/budget.h"
#include "model/graph.h"

#include "front/builder_kit.h"

START_TEST(kinds_of_sync)
{
  static const struct {
    const char *target;
    fs_sync_kind sync;
    uint32_t count, slots;
    fs_tick cost;
  } cases[] = {
      {"{}", FS_SYNC_TIMELINE, 0, FS_NONE, 1},
      {"{sync: timeline, barriers: {count: 3, slots: 1}}", FS_SYNC_TIMELINE, 3, 1, 1},
      {"{sync: barrier, barriers: {count: 8, slots: 256}}", FS_SYNC_BARRIER, 8, 256, 1},
      {"{sync: barrier, barriers: {count: 2147483647}}", FS_SYNC_BARRIER, INT32_MAX, FS_NONE, 1},
      {"{sync: barrier, barriers: {count: auto, slots: 2}}", FS_SYNC_BARRIER, FS_BARRIERS_AUTO, 2,
       1},
      {"{sync: barrier, barriers: {slots: 2147483647}}", FS_SYNC_BARRIER, 0, INT32_MAX, 1},
      {"{sync: barrier}", FS_SYNC_BARRIER, 0, FS_NONE, 1},
      {"{sync: block}", FS_SYNC_BLOCK, 0, FS_NONE, 1},
      {"{sync: block, sync_cost: 0}", FS_SYNC_BLOCK, 0, FS_NONE, 0},
      {"{sync: block, sync_cost: 1099511627776}", FS_SYNC_BLOCK, 0, FS_NONE, FSCHED_MAX_TIME},
      {"{sync_cost: 25}", FS_SYNC_TIMELINE, 0, FS_NONE, 25},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[200];
    (void)snprintf(text, sizeof text, "fsched: 1\ntarget: %s\nops: [{name: a}, {name: b}]\n",
                   cases[i].target);
    fsched_graph *g = fs_parse(text);
    ck_assert_int_eq(g->target.sync, cases[i].sync);
    ck_assert_uint_eq(g->target.barrier_count, cases[i].count);
    ck_assert_uint_eq(g->target.barrier_slots, cases[i].slots);
    ck_assert_uint_eq(g->target.sync_cost, cases[i].cost);
    ck_assert_ptr_null(g->op_slots);
    fsched_graph_destroy(g);
  }
}
END_TEST

START_TEST(block_targets)
{
  fsched_graph *g = fs_parse(
      "fsched: 1\n"
      "target:\n"
      "  queues: [{name: dpu, counting: false}, {name: dma, counting: true}, {name: act}]\n"
      "  memories: [{name: s, capacity: 64, placement: stack}, {name: c, capacity: 64}]\n"
      "  sync: block\n"
      "ops: [{name: a, slots: 1}, {name: b, slots: 2147483647}]\n");
  const fs_target *t = &g->target;
  ck_assert(!t->queue[0].counting && t->queue[1].counting && !t->queue[2].counting);
  ck_assert_int_eq(t->memory[0].placement, FSCHED_CONTIGUOUS);
  ck_assert(t->memory[0].stack && !t->memory[1].stack);
  ck_assert_uint_eq(g->op_slots[0], 1);
  ck_assert_uint_eq(g->op_slots[1], INT32_MAX);
  fsched_graph_destroy(g);
}
END_TEST

/* These overrides are those of the command line for a graph of timelines. */
START_TEST(sync_by_overrides)
{
  static const char text[] =
      "fsched: 1\n"
      "target:\n"
      "  queues: [{name: dpu}, {name: dma}]\n"
      "  memories: [{name: cmx, capacity: 64}]\n"
      "ops: [{name: a}]\n";
  static const char *const set[] = {
      "sync=block",          "queues.dma.counting=true", "memories.cmx.placement=stack",
      "barriers.count=auto", "barriers.slots=9",         "sync_cost=7"};
  fsched_read_options o = {.size = sizeof o, .target_overrides = set, .n_target_overrides = 6};
  fsched_graph *g;
  ck_assert_int_eq(fsched_graph_parse(ctx, "t", text, strlen(text), &o, &g), FSCHED_OK);
  ck_assert_int_eq(g->target.sync, FS_SYNC_BLOCK);
  ck_assert(g->target.queue[1].counting && !g->target.queue[0].counting);
  ck_assert(g->target.memory[0].stack && g->sync_override);
  ck_assert_uint_eq(g->target.barrier_count, FS_BARRIERS_AUTO);
  ck_assert_uint_eq(g->target.barrier_slots, 9);
  ck_assert_uint_eq(g->target.sync_cost, 7);
  fsched_graph_destroy(g);
}
END_TEST

/* --- the number of barriers of a compilation --- */

START_TEST(barriers_without_a_number)
{
  static const char text[] = "fsched: 1\ntarget: {sync: barrier}\nops: [{name: a}]\n";
  fsched_graph *g = fs_parse(text);
  uint32_t bound;
  ck_assert_int_eq(fs_graph_barriers(ctx, g, 0, &bound), FSCHED_BAD_INPUT);
  const fsched_diag *d = fsched_diag_get(ctx, 0);
  ck_assert_str_eq(d->code, "missing-key");
  ck_assert_str_eq(d->file, "g.yaml");
  ck_assert_uint_eq(d->line, 2);
  ck_assert_uint_eq(d->column, 16);
  ck_assert_ptr_nonnull(strstr(d->hint, "barriers: {count: N}"));
  ck_assert_ptr_nonnull(strstr(d->hint, "--barriers auto"));
  fsched_context *other;
  ck_assert_int_eq(fsched_context_create(NULL, &other), FSCHED_OK);
  fsched_graph *theirs; /* a file of the other context, in which the position is not */
  ck_assert_int_eq(fsched_graph_parse(other, "u", text, strlen(text), NULL, &theirs), FSCHED_OK);
  ck_assert_int_eq(fs_graph_barriers(other, g, 0, &bound), FSCHED_BAD_INPUT);
  ck_assert_ptr_null(fsched_diag_get(other, 0)->file);
  fsched_graph_destroy(theirs);
  fsched_context_destroy(other);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
  static const char *const set = "sync=barrier";
  fsched_read_options o = {.size = sizeof o, .target_overrides = &set, .n_target_overrides = 1};
  ck_assert_int_eq(fsched_graph_parse(ctx, "t", text, strlen(text), &o, &g), FSCHED_OK);
  ck_assert_int_eq(fs_graph_barriers(ctx, g, 0, &bound), FSCHED_USAGE);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->file, "command line");
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(number_of_barriers)
{
  static const struct {
    const char *target;
    uint32_t option, bound;
    const char *fault, *hint;
    uint32_t column;
  } cases[] = {
      {"{}", 0, 0, NULL, NULL, 0},
      {"{barriers: {count: 3}}", 0, 0, NULL, NULL, 0},
      {"{sync: block}", 0, 0, NULL, NULL, 0},
      {"{sync: barrier, barriers: {count: 3}}", 0, 3, NULL, NULL, 0},
      {"{sync: barrier, barriers: {count: auto}}", 0, FS_BARRIERS_AUTO, NULL, NULL, 0},
      {"{}", 5, 5, NULL, NULL, 0},
      {"{sync: barrier}", 5, 5, NULL, NULL, 0},
      {"{sync: barrier, barriers: {count: 3}}", FS_BARRIERS_AUTO, FS_BARRIERS_AUTO, NULL, NULL, 0},
      {"{sync: block, queues: [{name: q, counting: false}]}", 5, 5, NULL, NULL, 0},
      {"{sync: block, queues: [{name: p}, {name: q, counting: true}]}", 0, 0, NULL, NULL, 0},
      {"{sync: block, queues: [{name: p}, {name: q, counting: true}]}", 5, 5, "'q' is counting",
       "counting: false", 63},
      {"{sync: block, memories: [{name: m, placement: stack}]}", 5, 5, "'m' is a stack",
       "contiguous", 55},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[200];
    uint32_t bound = 99;
    (void)snprintf(text, sizeof text, "fsched: 1\ntarget: %s\nops: [{name: a}]\n", cases[i].target);
    fsched_graph *g = fs_parse(text);
    ck_assert_int_eq(fs_graph_barriers(ctx, g, cases[i].option, &bound),
                     cases[i].fault == NULL ? FSCHED_OK : FSCHED_USAGE);
    ck_assert_uint_eq(bound, cases[i].bound);
    if (cases[i].fault != NULL) {
      ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "sync-kind");
      ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 0)->message, cases[i].fault));
      ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 0)->hint, cases[i].hint));
      ck_assert_uint_eq(fsched_diag_get(ctx, 0)->line, 2);
      ck_assert_uint_eq(fsched_diag_get(ctx, 0)->column, cases[i].column);
    }
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
}
END_TEST

/* --- by calls --- */

START_TEST(built_barrier_targets)
{
  static const struct {
    uint64_t count, slots;
    uint32_t stored_count, stored_slots;
  } cases[] = {{8, 256, 8, 256},
               {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX},
               {FSCHED_BARRIERS_AUTO, 0, FS_BARRIERS_AUTO, FS_NONE},
               {0, 1, 0, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fsched_builder *b = make();
    ck_assert_int_eq(fsched_builder_sync(b, FSCHED_SYNC_BARRIER), FSCHED_OK);
    ck_assert_int_eq(fsched_builder_barriers(b, 1, 1), FSCHED_OK); /* the last call counts */
    ck_assert_int_eq(fsched_builder_barriers(b, cases[i].count, cases[i].slots), FSCHED_OK);
    add_op(b, "a", NULL);
    fsched_op_desc d = {.size = sizeof d, .name = "b", .slots = INT32_MAX};
    ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
    fsched_graph *g = finish(b);
    ck_assert_int_eq(g->target.sync, FS_SYNC_BARRIER);
    ck_assert_uint_eq(g->target.barrier_count, cases[i].stored_count);
    ck_assert_uint_eq(g->target.barrier_slots, cases[i].stored_slots);
    ck_assert_uint_eq(g->op_slots[0], 1);
    ck_assert_uint_eq(g->op_slots[1], INT32_MAX);
    fsched_graph_destroy(g);
  }
}
END_TEST

/* The kind of sync may be set after the parts that need it. */
static void add_block_parts(fsched_builder *b) {
  fsched_queue_desc q = {.size = sizeof q, .name = "dma", .counting = 7};
  ck_assert_int_eq(fsched_builder_queue(b, &q, NULL), FSCHED_OK);
  add_queue(b, "dpu", NULL);
  fsched_memory_desc m = {
      .size = sizeof m, .name = "cmx", .capacity = 64, .placement = FSCHED_STACK};
  ck_assert_int_eq(fsched_builder_memory(b, &m, NULL), FSCHED_OK);
  add_op(b, "a", NULL);
}

START_TEST(built_block_targets)
{
  fsched_builder *b = make();
  add_block_parts(b);
  ck_assert_int_eq(fsched_builder_sync(b, FSCHED_SYNC_BLOCK), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_sync_cost(b, FSCHED_MAX_TIME), FSCHED_OK);
  fsched_graph *g = finish(b);
  ck_assert_int_eq(g->target.sync, FS_SYNC_BLOCK);
  ck_assert_uint_eq(g->target.sync_cost, FSCHED_MAX_TIME);
  ck_assert(g->target.queue[0].counting && !g->target.queue[1].counting);
  ck_assert(g->target.memory[0].stack);
  ck_assert_int_eq(g->target.memory[0].placement, FSCHED_CONTIGUOUS);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(parts_of_another_sync)
{
  fsched_builder *b = make();
  add_block_parts(b);
  ck_assert_int_eq(fsched_builder_sync(b, FSCHED_SYNC_BARRIER), FSCHED_OK);
  fsched_graph *g;
  ck_assert_int_eq(fsched_builder_finish(b, &g), FSCHED_BAD_INPUT);
  ck_assert_uint_eq(fsched_diag_errors(ctx), 2);
  for (uint32_t i = 0; i < 2; i++) {
    ck_assert_str_eq(fsched_diag_get(ctx, i)->code, "sync-kind");
    ck_assert_ptr_null(fsched_diag_get(ctx, i)->file);
  }
  ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 0)->message, "queue 'dma' is counting"));
  ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 1)->message, "memory 'cmx' is a stack"));
  fsched_builder_destroy(b);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
  static const char text[] =
      "fsched: 1\n"
      "target:\n"
      "  queues: [{name: dpu}, {name: dma, counting: true}]\n"
      "  memories: [{name: s, capacity: 64, placement: stack}]\n"
      "  barriers: {count: auto, slots: 2}\n"
      "  sync: block\n"
      "ops: [{name: a}, {name: b, slots: 2}]\n";
  bool done = false;
  for (long n = 1; !done; n++) {
    fs_budget x = {.left = n};
    fsched_context_options o = {.size = sizeof o, .reallocate = fs_budget_reallocate, .user = &x};
    fsched_context *c;
    fsched_graph *g = NULL;
    if (fsched_context_create(&o, &c) == FSCHED_OK) {
      fs_status status = fsched_graph_parse(c, "t", text, strlen(text), NULL, &g);
      done = x.left >= 0;
      ck_assert_int_eq(status, done ? FSCHED_OK : FSCHED_SYSTEM);
      fsched_graph_destroy(g);
      fsched_context_destroy(c);
    }
    ck_assert_int_eq(x.held, 0);
    ck_assert_int_lt(n, 5000);
  }
}
END_TEST

FS_SUITE(graph_sync, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, kinds_of_sync, block_targets, sync_by_overrides, barriers_without_a_number,
           number_of_barriers, built_barrier_targets, built_block_targets, parts_of_another_sync,
           every_allocation_may_fail);
}
