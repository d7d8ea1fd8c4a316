/* SPDX-License-Identifier: Apache-2.0 */
/* What statistics and dumps say of barriers and syncs; the schedule is small, and its sync is
 * filled by hand. */
#include <stdio.h>
#include "kit/quick.h"

#include "draw/dump.h"
#include "kit/budget.h"
#include "kit/golden_case.h"
#include "kit/suite.h"
#include "model/handle.h"

static fs_budget budget;
static fsched_context *ctx;
static fsched_graph *graph;
static fsched_schedule *schedule;

/* Commands: dpu b, g; dma a, g. */
enum { B, G_DPU, A, G_DMA, COMMANDS };
static const char text[] =
    "fsched: 1\n"
    "target:\n"
    "  time_unit: us\n"
    "  queues: [{name: dpu}, {name: dma, class: copy}]\n"
    "ops:\n"
    "  - {name: a, on: dma, time: 2, size: 4}\n"
    "  - {name: b, args: [{in: a}, {out: b, size: 4}]}\n"
    "  - {name: g, on: [dpu, dma], args: [{in: b}, {out: c, size: 4}]}\n";

static void setup(void) {
  fsched_context_options o = {
      .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
  budget.left = 1 << 30;
  ck_assert_int_eq(fsched_context_create(&o, &ctx), FSCHED_OK);
  ck_fs(ctx, fsched_graph_parse(ctx, "t.yaml", text, strlen(text), NULL, &graph));
  ck_fs(ctx, fsched_compile(ctx, graph, &fs_quick, &schedule, NULL));
  const fs_sync *sync = schedule->sync;
  ck_assert_uint_eq(sync->n_commands, COMMANDS);
  ck_assert_uint_eq(sync->command_item[A], 0);
  ck_assert_uint_eq(sync->command_item[B], 1);
  ck_assert_uint_eq(sync->command_item[G_DMA], 2);
}

static void teardown(void) {
  budget.left = 1 << 30;
  fsched_schedule_destroy(schedule);
  fsched_graph_destroy(graph);
  fsched_context_destroy(ctx);
  ck_assert_int_eq(budget.held, 0);
}

static struct {
  uint32_t physical[2], use[2];
  uint32_t wait0[COMMANDS + 1], wait[3];
  uint32_t update0[COMMANDS + 1], update[3], slots[3];
} barriers;

/* Barrier 0: a, which takes 3 slots, before b and the gang's second member; barrier 1: b and the
 * gang's first member before that second one. */
static fs_sync *with_barriers(void) {
  static const uint32_t wait0[] = {0, 1, 1, 1, 3}, update0[] = {0, 1, 2, 3, 3};
  barriers.physical[0] = barriers.physical[1] = 5;
  barriers.use[0] = 0;
  barriers.use[1] = 1;
  memcpy(barriers.wait0, wait0, sizeof wait0);
  memcpy(barriers.update0, update0, sizeof update0);
  memcpy(barriers.wait, ((uint32_t[]){0, 0, 1}), sizeof barriers.wait);
  memcpy(barriers.update, ((uint32_t[]){1, 1, 0}), sizeof barriers.update);
  memcpy(barriers.slots, ((uint32_t[]){1, 1, 3}), sizeof barriers.slots);
  fs_sync *s = schedule->sync;
  s->kind = FS_SYNC_BARRIER;
  s->barrier_bound = 8;
  s->barrier_slots = 4;
  s->n_barriers = 2;
  s->barriers_used = 1;
  s->barriers_least = 2;
  s->least_proven = true;
  s->barrier_physical = barriers.physical;
  s->barrier_use = barriers.use;
  s->barrier_wait0 = barriers.wait0;
  s->barrier_wait = barriers.wait;
  s->barrier_update0 = barriers.update0;
  s->barrier_update = barriers.update;
  s->barrier_update_slots = barriers.slots;
  s->barrier_added = 7;
  s->barrier_gates = 6;
  s->makespan_before = schedule->schedule->makespan - 1;
  return s;
}

static fs_sync *with_syncs(void) {
  static uint32_t issue[] = {[A] = 0, [B] = 1, [G_DPU] = 2, [G_DMA] = 3};
  static fs_stop stop[] = {{1, FS_NONE, 0}, {2, 0, 0}, {2, 1, 3}};
  fs_sync *s = schedule->sync;
  s->kind = FS_SYNC_BLOCK;
  s->issue = issue;
  s->stop = stop;
  s->n_stops = 3;
  s->n_full = 1;
  s->n_stacks = 1;
  s->makespan_before = schedule->schedule->makespan - 2;
  return s;
}

/* Checks that this is a line, or a part of a line, of the statistics. */
static void stats_say(const char *what) {
  char *json;
  size_t n;
  ck_fs(ctx, fsched_schedule_stats_json(ctx, schedule, &json, &n));
  ck_assert_msg(strstr(json, what) != NULL, "no %s in:\n%s", what, json);
  fsched_text_free(ctx, json, n);
}

START_TEST(stats_of_timelines)
{
  stats_say(
      " \"barriers\": {\"bound\": null, \"used\": null, \"width\": null},\n"
      " \"syncs\": null,\n");
}
END_TEST

START_TEST(stats_of_barriers)
{
  fs_sync *s = with_barriers();
  stats_say(
      " \"barriers\": {\"bound\": 8, \"used\": 1, \"width\": 1, \"slots\": 4, "
      "\"virtual\": 2, \"least\": 2, \"added_edges\": 7, \"gates\": 6, "
      "\"added_makespan\": 1, \"wait_list\": 1.5000},\n"
      " \"syncs\": null,\n");
  s->least_proven = false;
  stats_say("\"least\": null, \"least_at_most\": 2, \"added_edges\": 7, ");
  s->barrier_bound = s->barrier_slots = s->barriers_least = FS_NONE;
  s->makespan_before = schedule->schedule->makespan + 1;
  stats_say(
      "{\"bound\": null, \"used\": 1, \"width\": 1, \"slots\": null, \"virtual\": 2, "
      "\"least\": null, ");
  stats_say("\"added_makespan\": 0, ");
  memset(barriers.wait0, 0, sizeof barriers.wait0);
  stats_say("\"wait_list\": 0}");
}
END_TEST

START_TEST(stats_of_syncs)
{
  (void)with_syncs();
  stats_say(
      " \"barriers\": {\"bound\": null, \"used\": null, \"width\": null},\n"
      " \"syncs\": {\"full\": 1, \"counting\": 2, \"stacks\": 1, \"added_makespan\": 2, "
      "\"cost\": 1, \"total\": 5, "
      "\"executed\": {\"full\": 1, \"counting\": 2}},\n");
}
END_TEST

static void dump_is(fs_status (*dump)(fs_text *, const fs_sync *), const char *wanted) {
  fs_text t;
  fs_text_init(&t, ctx);
  ck_fs(ctx, dump(&t, schedule->sync));
  fs_text_add(&t, "", 1);
  ck_assert(!t.failed);
  ck_assert_str_eq(t.at, wanted);
  fs_text_drop(&t);
}

START_TEST(dump_of_barriers)
{
  fs_sync *s = with_barriers();
  dump_is(fs_dump_barriers,
          "barriers 2, physical 1 of 8, waits 3, orders added 7, gates 6; makespan 4, without "
          "them 3\n\n"
          "barrier  physical  use  updated by  waited for by\n"
          "      0         5    0  a x3        b, g@dma\n"
          "      1         5    1  b, g@dpu    g@dma\n");
  s->barrier_bound = FS_BARRIERS_AUTO;
  s->n_barriers = 0;
  memset(barriers.wait0, 0, sizeof barriers.wait0);
  dump_is(fs_dump_barriers,
          "barriers 0, physical 1, waits 0, orders added 7, gates 6; makespan 4, without them 3\n");
}
END_TEST

START_TEST(dump_of_syncs)
{
  fs_sync *s = with_syncs();
  dump_is(fs_dump_block,
          "full syncs 1, counting 2, cost of a full one 1; makespan 4, without them 2\n\n"
          "order  queue  command\n"
          "    0  dma    a\n"
          "       (all)  sync\n"
          "    1  dpu    b\n"
          "       dpu    sync\n"
          "       dma    sync, all but the last 3\n"
          "    2  dpu    g\n"
          "    3  dma    g\n");
  s->n_stops = s->n_full = 0;
  dump_is(fs_dump_block,
          "full syncs 0, counting 0, cost of a full one 1; makespan 4, without them 2\n\n"
          "order  queue  command\n"
          "    0  dma    a\n"
          "    1  dpu    b\n"
          "    2  dpu    g\n"
          "    3  dma    g\n");
}
END_TEST

static fs_status put_all(void) {
  char *json = NULL;
  size_t n = 0;
  fs_text t;
  fs_text_init(&t, ctx);
  schedule->sync->kind = FS_SYNC_BARRIER;
  fs_status status = fsched_schedule_stats_json(ctx, schedule, &json, &n);
  if (status == FSCHED_OK) {
    fsched_text_free(ctx, json, n);
    status = fs_dump_barriers(&t, schedule->sync);
  }
  if (status == FSCHED_OK) {
    schedule->sync->kind = FS_SYNC_BLOCK;
    status = fs_dump_block(&t, schedule->sync);
  }
  if (status == FSCHED_OK && t.failed) {
    status = FSCHED_SYSTEM;
  }
  fs_text_drop(&t);
  return status;
}

START_TEST(every_allocation_may_fail)
{
  (void)with_barriers();
  (void)with_syncs();
  bool done = false;
  for (long n = 0; !done; n++) {
    long held = budget.held;
    budget.left = n;
    fs_status status = put_all();
    done = budget.left >= 0;
    ck_assert_int_eq(status, done ? FSCHED_OK : FSCHED_SYSTEM);
    budget.left = 1 << 30;
    fsched_diag_clear(ctx);
    /* The context may keep memory for its reports. */
    ck_assert_int_le(budget.held, held + (1 << 16));
    ck_assert_int_lt(n, 5000);
  }
}
END_TEST

FS_SUITE(sync_text, s) {
  TCase *t = fs_case(s, NULL);
  tcase_add_checked_fixture(t, setup, teardown);
  FS_TESTS(t, stats_of_timelines, stats_of_barriers, stats_of_syncs, dump_of_barriers,
           dump_of_syncs, every_allocation_may_fail);
}
