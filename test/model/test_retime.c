/* SPDX-License-Identifier: Apache-2.0 */
/* New times for schedules: whatever delays occur, the result is a schedule that the verifier
 * accepts, and the stream made of it is right. */
#include <stdlib.h>

#include "codegen/codegen.h"
#include "fsched/verify.h"
#include "kit/budget.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "kit/suite.h"
#include "kit/sync_kit.h"
#include "model/retime.h"

/* A graph, its list schedule, and the orders that hold for any times. */
typedef struct retime_subject {
  fsched_context *ctx;
  fsched_graph *g;
  fsched_schedule *made;
  fs_schedule *s; /* the schedule of the graph, as `y` is its sync */
  fs_sync *y;
  fs_tick *start;
  uint32_t *order;
} retime_subject;

static bool synchronise(retime_subject *t) {
  fs_status status = fs_kit_synchronised(t->ctx, t->g, FS_SYNC_BARRIER, &t->made);
  if (status == FSCHED_INFEASIBLE) {
    return false;
  }
  ck_fs(t->ctx, status);
  t->s = t->made->schedule;
  t->y = t->made->sync;
  t->start = malloc(t->s->n_items * sizeof *t->start);
  t->order = malloc(t->s->n_items * sizeof *t->order);
  return true;
}

static bool open_params(retime_subject *t, const fs_gen_params *params) {
  *t = (retime_subject){0};
  ck_assert_int_eq(fsched_context_create(NULL, &t->ctx), FSCHED_OK);
  ck_fs(t->ctx, fs_gen_graph(t->ctx, params, &t->g));
  return synchronise(t);
}

static void open_text(retime_subject *t, const char *yaml) {
  *t = (retime_subject){0};
  ck_assert_int_eq(fsched_context_create(NULL, &t->ctx), FSCHED_OK);
  ck_fs(t->ctx, fsched_graph_parse(t->ctx, "text.yaml", yaml, strlen(yaml), NULL, &t->g));
  ck_assert(synchronise(t));
}

static void close_subject(retime_subject *t) {
  fsched_schedule_destroy(t->made);
  fsched_graph_destroy(t->g);
  fsched_context_destroy(t->ctx);
  free(t->start);
  free(t->order);
}

/* When everything is over that must be over before an item starts; *control is the first edge to
 * it. */
static fs_tick ready(const retime_subject *t, const fs_tick *queue_end, uint32_t item,
                     uint32_t *control) {
  const fs_schedule *s = t->s;
  const fs_sync *y = t->y;
  const fsched_graph *g = t->g;
  fs_tick at = 0;
  uint32_t n;
  const uint32_t *queues = fs_item_queues(s, item, &n);
  for (uint32_t i = 0; i < n; i++) {
    at = fs_max(at, queue_end[queues[i]]);
  }
#define AFTER(other) at = fs_max(at, t->start[other] + (s->end[other] - s->start[other]))
  for (uint32_t i = item < g->n_ops ? g->pred0[item] : 0; item < g->n_ops && i < g->pred0[item + 1];
       i++) {
    AFTER(g->pred[i]);
  }
  for (uint32_t i = y->data0[item]; i < y->data0[item + 1]; i++) {
    AFTER(y->data[i]);
  }
  for (; *control < y->n_control && y->control_to[*control] == item; ++*control) {
    AFTER(y->control_from[*control]);
  }
#undef AFTER
  return at;
}

static bool later(const retime_subject *t, uint32_t x, uint32_t y) {
  const uint32_t *position = t->y->position;
  return t->start[x] > t->start[y] || (t->start[x] == t->start[y] && position[x] > position[y]);
}

static void sort_by_start(retime_subject *t) {
  memcpy(t->order, t->s->order, t->s->n_items * sizeof *t->order);
  for (uint32_t i = 1; i < t->s->n_items; i++) {
    uint32_t item = t->order[i], j = i;
    for (; j > 0 && later(t, t->order[j - 1], item); j--) {
      t->order[j] = t->order[j - 1];
    }
    t->order[j] = item;
  }
}

/* One item in `often` is late by up to `most`; all start as soon as they otherwise can, but not
 * before their planned start when `planned`. */
static void plan(retime_subject *t, fs_rng *r, uint32_t often, uint32_t most, bool planned) {
  fs_tick *queue_end = calloc(t->s->n_queues, sizeof *queue_end);
  uint32_t control = 0;
  for (uint32_t i = 0; i < t->s->n_items; i++) {
    uint32_t item = t->s->order[i];
    fs_tick at = ready(t, queue_end, item, &control);
    at = fs_max(at, planned ? t->s->start[item] : 0);
    at += often > 0 && fs_rng_one_in(r, often) ? fs_rng_below(r, most) : 0;
    t->start[item] = at;
    uint32_t n;
    const uint32_t *queues = fs_item_queues(t->s, item, &n);
    for (uint32_t k = 0; k < n; k++) {
      queue_end[queues[k]] = at + (t->s->end[item] - t->s->start[item]);
    }
  }
  free(queue_end);
  sort_by_start(t);
}

#define NEED(seed, what) \
  if (!(what))           \
  ck_abort_msg("seed %llu: %s", (unsigned long long)(seed), #what)

static void check_control(const retime_subject *t, uint64_t seed) {
  const fs_schedule *s = t->s;
  const fs_sync *y = t->y;
  for (uint32_t i = 0; i < s->n_items; i++) {
    NEED(seed, s->start[s->order[i]] == t->start[s->order[i]]);
    NEED(seed, y->position[s->order[i]] == i);
    NEED(seed, i == 0 || s->start[s->order[i - 1]] <= s->start[s->order[i]]);
  }
  for (uint32_t i = 0; i < y->n_control; i++) {
    uint32_t from = y->control_from[i], to = y->control_to[i];
    NEED(seed, s->end[from] <= s->start[to]);
    NEED(seed, y->position[from] < y->position[to]);
    NEED(seed, i == 0 || y->position[y->control_to[i - 1]] < y->position[to] ||
                   (y->control_to[i - 1] == to &&
                    y->position[y->control_from[i - 1]] < y->position[from]));
  }
}

/* Residencies are in order of begin, and lanes of memories belong to residencies in them. */
static void check_residencies(const retime_subject *t, uint64_t seed) {
  const fs_schedule *s = t->s;
  const fs_sync *y = t->y;
  for (uint32_t r = 1; r < s->n_residencies; r++) {
    NEED(seed, s->res_begin[r - 1] <= s->res_begin[r]);
  }
  uint64_t *units = calloc((size_t)s->n_residencies + 1, sizeof *units);
  for (uint32_t i = 0; i < y->n_lanes; i++) {
    const fs_lane *l = &y->lane[i], *k = i == 0 ? NULL : l - 1;
    if (l->kind == FS_LANE_MEMORY) {
      NEED(seed, s->res_memory[l->owner] == l->index);
      units[l->owner] += l->end - l->begin;
    }
    NEED(seed, k == NULL || k->kind < l->kind || (k->kind == l->kind && k->index < l->index) ||
                   (k->kind == l->kind && k->index == l->index &&
                    (k->owner < l->owner || (k->owner == l->owner && k->begin < l->begin))));
  }
  for (uint32_t r = 0; r < s->n_residencies; r++) {
    bool counted = t->g->target.memory[s->res_memory[r]].placement == FSCHED_COUNTED;
    NEED(seed, !counted || units[r] == s->res_size[r]);
  }
  free(units);
}

/* The stream of the current schedule is right; it has timelines, as everything is made after
 * retiming. */
static void check_stream(retime_subject *t) {
  fs_sync *y = t->y;
  fsched_program *program;
  y->kind = FS_SYNC_TIMELINE;
  ck_fs(t->ctx, fs_waits_run(t->ctx, t->s, y));
  ck_fs(t->ctx, fs_codegen_run(t->ctx, t->s, y, &program));
  ck_fs(t->ctx, fsched_verify_program(t->ctx, program, t->g));
  fsched_program_destroy(program);
  y->kind = FS_SYNC_BARRIER;
}

static void set_status(fs_schedule *s) {
  s->lower_bound = 0;
  s->status = s->makespan == 0 ? FS_SCHEDULE_OPTIMAL : FS_SCHEDULE_FEASIBLE;
}

static void retime(retime_subject *t, uint64_t seed) {
  fs_tick last = 0;
  for (uint32_t i = 0; i < t->s->n_items; i++) {
    last = fs_max(last, t->start[i] + (t->s->end[i] - t->s->start[i]));
  }
  ck_fs(t->ctx, fs_retime(t->ctx, t->s, t->y, t->start, t->order));
  NEED(seed, t->s->makespan == last);
  set_status(t->s);
  fs_status status = fsched_verify_schedule(t->ctx, t->g, t->made);
  ck_assert_msg(status == FSCHED_OK, "seed %llu: %s", (unsigned long long)seed,
                fs_test_diags(t->ctx));
  check_control(t, seed);
  check_residencies(t, seed);
  check_stream(t);
}

/* Items are late, then as early as possible, then late again. */
static void retime_often(retime_subject *t, uint64_t seed) {
  fs_rng r = {seed};
  uint32_t most = 1 + fs_rng_below(&r, 60);
  plan(t, &r, 1 + fs_rng_below(&r, 6), most, true);
  retime(t, seed);
  plan(t, &r, 0, 0, false);
  retime(t, seed);
  fs_tick least = t->s->makespan;
  plan(t, &r, 2, 30, false);
  retime(t, seed);
  NEED(seed, t->s->makespan >= least);
}

START_TEST(random_graphs)
{
  uint32_t schedules = 0;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    fs_gen_params p = seed % 3 == 0 ? fs_gen_tight(seed, 40) : fs_gen_any(seed, 50);
    p.class_gangs = seed % 4 == 0;
    retime_subject t;
    if (open_params(&t, &p)) {
      schedules++;
      retime_often(&t, seed);
    }
    close_subject(&t);
  }
  ck_assert_uint_gt(schedules, 250);
}
END_TEST

/* There are no copies: what is given and kept is there from 0 to the makespan. */
START_TEST(random_graphs_without_a_store)
{
  uint32_t schedules = 0;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    fs_gen_params p = fs_gen_any(seed, 40);
    p.backing = false;
    p.io = true;
    p.tightness = 1.0;
    retime_subject t;
    if (open_params(&t, &p)) {
      schedules++;
      retime_often(&t, seed);
    }
    close_subject(&t);
  }
  ck_assert_uint_gt(schedules, 150);
}
END_TEST

/* With the same starts nothing changes. */
START_TEST(nothing_moves)
{
  for (uint64_t seed = 1; seed <= 100; seed++) {
    fs_gen_params p = fs_gen_any(seed, 50);
    retime_subject t;
    if (open_params(&t, &p)) {
      const fs_schedule *s = t.s;
      size_t n = s->n_residencies;
      fs_tick *times = malloc((2 * n + 1) * sizeof *times);
      memcpy(times, s->res_begin, n * sizeof *times);
      memcpy(times + n, s->res_end, n * sizeof *times);
      memcpy(t.start, s->start, s->n_items * sizeof *t.start);
      memcpy(t.order, s->order, s->n_items * sizeof *t.order);
      retime(&t, seed);
      NEED(seed, memcmp(times, s->res_begin, n * sizeof *times) == 0);
      NEED(seed, memcmp(times + n, s->res_end, n * sizeof *times) == 0);
      NEED(seed, memcmp(t.order, s->order, s->n_items * sizeof *t.order) == 0);
      free(times);
    }
    close_subject(&t);
  }
}
END_TEST

/* In a bounded store a copy lives as long as it is used there, or wanted later. */
static const char bounded_store[] =
    "fsched: 1\n"
    "name: bounded-store\n"
    "target:\n"
    "  queues: [{name: c}, {name: d, class: copy}]\n"
    "  memories:\n"
    "    - {name: near, capacity: 10, backing: far,\n"
    "       spill: {on: copy, write: {fixed: 2}, read: {fixed: 3}}}\n"
    "    - {name: far, capacity: 30}\n"
    "buffers: [{name: x, size: 5, io: input}, {name: z, size: 5, io: output},\n"
    "          {name: unused, size: 5, io: constant}]\n"
    "ops:\n"
    "  - {name: a, time: 3, args: [{in: x}, {out: u, size: 5}]}\n"
    "  - {name: b, time: 3, after: [a], args: [{out: v, size: 5}, {out: w, size: 5}]}\n"
    "  - {name: e, time: 4, args: [{in: v}, {in: w}]}\n"
    "  - {name: f, time: 4, args: [{in: u}, {out: z}], after: [e]}\n";

START_TEST(a_bounded_store)
{
  retime_subject t;
  open_text(&t, bounded_store);
  uint32_t in_store = 0;
  for (uint32_t r = 0; r < t.s->n_residencies; r++) {
    in_store += t.s->res_memory[r] == 1;
  }
  ck_assert_uint_ge(in_store, 4); /* x, unused, z, and what was spilled */
  for (uint64_t seed = 1; seed <= 50; seed++) {
    retime_often(&t, seed);
  }
  close_subject(&t);
}
END_TEST

START_TEST(a_given_start_is_kept)
{
  static const char yaml[] =
      "fsched: 1\n"
      "name: given\n"
      "target: {queues: [{name: c}]}\n"
      "ops: [{name: a, time: 2, start: 3}, {name: b, after: [a]}]\n";
  retime_subject t;
  open_text(&t, yaml);
  fs_rng r = {1};
  plan(&t, &r, 0, 0, true);
  t.start[1] += 5;
  retime(&t, 0);
  ck_assert_uint_eq(t.s->makespan, 11);
  t.start[0] += 1;
  ck_assert_int_eq(fs_retime(t.ctx, t.s, t.y, t.start, t.order), FSCHED_INFEASIBLE);
  ck_assert_str_eq(fs_test_diags(t.ctx),
                   "no schedule was found: op 'a' has the given start 3, and its syncs hold it "
                   "back until 4");
  ck_assert_uint_eq(t.s->start[0], 3);
  close_subject(&t);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
  fs_gen_params p = fs_gen_tight(7, 40);
  fs_budget budget = {.left = 1L << 40};
  fsched_context_options o = {
      .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
  retime_subject t = {0};
  ck_assert_int_eq(fsched_context_create(&o, &t.ctx), FSCHED_OK);
  ck_fs(t.ctx, fs_gen_graph(t.ctx, &p, &t.g));
  ck_assert(synchronise(&t));
  fs_rng r = {1};
  plan(&t, &r, 2, 50, true);
  long blocks = budget.blocks;
  uint32_t failures = 0;
  for (fs_status status = FSCHED_SYSTEM; status != FSCHED_OK; failures++) {
    budget.left = failures;
    status = fs_retime(t.ctx, t.s, t.y, t.start, t.order);
    budget.left = 1L << 40;
    ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
    ck_assert_int_eq(budget.blocks, blocks);
  }
  ck_assert_uint_gt(failures, 3);
  close_subject(&t);
  ck_assert_int_eq(budget.blocks, 0);
}
END_TEST

FS_SUITE(retime, s) {
  TCase *t = fs_case(s, NULL);
  FS_TESTS(t, random_graphs, random_graphs_without_a_store, nothing_moves, a_bounded_store,
           a_given_start_is_kept, every_allocation_may_fail);
}
