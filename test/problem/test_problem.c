/* SPDX-License-Identifier: Apache-2.0 */
/* Problems of graphs and of schedules: what begins and ends residencies, which copies there are,
 * the classes of queues, and whether every schedule is a solution. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/budget.h"
#include "kit/gen.h"
#include "listsched/listsched.h"
#include "problem/problem.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

typedef struct problem_fixture {
  fsched_context *ctx;
  fsched_graph *g;
  fs_problem *p;
} problem_fixture;

/* The problem of a graph file whose first lines are left out here; NULL where it does not fit. */
static problem_fixture make(const char *body) {
  problem_fixture f;
  char text[4096];
  (void)snprintf(text, sizeof text, "fsched: 1\nname: f\n%s", body);
  f.ctx = fs_new_context();
  fs_status status = fsched_graph_parse(f.ctx, "test.yaml", text, strlen(text), NULL, &f.g);
  ck_assert_msg(status == FSCHED_OK, "%s",
                fsched_diag_count(f.ctx) > 0 ? fsched_diag_get(f.ctx, 0)->message : "");
  ck_assert_int_eq(fs_problem_from_graph(f.ctx, f.g, 1000, 0, &f.p), FSCHED_OK);
  return f;
}

static void drop(problem_fixture *f) {
  fs_problem_destroy(f->p);
  fsched_graph_destroy(f->g);
  fsched_context_destroy(f->ctx);
}

static bool has_edge(const fs_problem *p, uint32_t from, uint32_t to) {
  for (uint32_t e = p->pred0[to]; e < p->pred0[to + 1]; e++) {
    if (p->pred[e] == from) {
      return true;
    }
  }
  return false;
}

static uint32_t n_ends(const fs_problem *p, uint32_t r) {
  return p->res_end0[r + 1] - p->res_end0[r];
}

#define SPILLING                                                                          \
  "target:\n  memories:\n    - {name: m, capacity: 100, align: 8, backing: s,\n"          \
  "       spill: {on: compute, write: {fixed: 2, rate: 0}, read: {fixed: 3, rate: 0}}}\n" \
  "    - {name: s}\n"

/* A read comes before everything that touches the version, a write after everything that writes it;
 * the longest path contains both. */
START_TEST(copies_of_a_graph)
{
  problem_fixture f =
      make(SPILLING
           "buffers: [{name: x, size: 9, io: input}, {name: y, size: 4, io: output}]\n"
           "ops:\n  - {name: a, time: 4, args: [{in: x}, {out: y}]}\n"
           "  - {name: b, time: 5, args: [{in: x}, {inout: y}]}\n"
           "  - {name: c, args: [{in: y}]}\n");
  const fs_problem *p = f.p;
  ck_assert_uint_eq(p->n_copies, 2);
  ck_assert_uint_eq(p->n_items, 5);
  uint32_t read = p->copy_kind[0] == FS_SPILL_READ ? 3 : 4, write = 7 - read;
  ck_assert_uint_eq(p->copy_kind[write - 3], FS_SPILL_WRITE);
  ck_assert_uint_eq(p->time[read], 3);
  ck_assert_uint_eq(p->time[write], 2);
  ck_assert(has_edge(p, read, 0) && has_edge(p, read, 1));
  ck_assert(has_edge(p, 1, write) && has_edge(p, 0, write));
  ck_assert(!has_edge(p, 2, write) && !has_edge(p, write, 2));
  ck_assert_uint_eq(p->head[2], 12);
  ck_assert_uint_eq(p->tail[0], 7);
  ck_assert_uint_eq(p->tail[read], 11);
  ck_assert_uint_eq(p->n_residencies, 2);
  uint32_t x = p->arg_residency[0], y = p->arg_residency[1];
  ck_assert_uint_eq(p->res_size[x], 16);
  ck_assert_uint_eq(p->res_begin_item[x], read);
  ck_assert_uint_eq(n_ends(p, x), 1); /* b comes after a */
  ck_assert_uint_eq(p->res_begin_item[y], 0);
  ck_assert_uint_eq(n_ends(p, y), 2); /* c, and the write */
  ck_assert(p->exact && p->least);
  drop(&f);
}
END_TEST

/* Given content without a store is there from 0 on, and what is kept stays to the end. */
START_TEST(without_a_store)
{
  problem_fixture f = make(
      "target: {memories: [{name: m, capacity: 40}]}\n"
      "buffers: [{name: x, size: 9, io: input}, {name: y, size: 4, io: output},\n"
      "  {name: z, size: 7, io: state}, {name: u, size: 3, io: constant}]\n"
      "ops:\n  - {name: a, args: [{in: x}, {out: y}]}\n");
  const fs_problem *p = f.p;
  ck_assert_uint_eq(p->n_copies, 0);
  ck_assert_uint_eq(p->n_residencies, 3); /* u, which nobody reads, has none */
  for (uint32_t r = 0; r < 3; r++) {
    bool input = p->res_size[r] == 9, state = p->res_size[r] == 7;
    ck_assert_uint_eq(p->res_begin_item[r], input || state ? FS_NONE : 0);
    ck_assert_uint_eq(p->res_to_end[r], !input);
  }
  ck_assert(p->exact);
  drop(&f);
  f = make(
      "target: {memories: [{name: m, capacity: 15}]}\n" /* always full of state */
      "buffers: [{name: z, size: 7, io: state}]\n"
      "ops: [{name: a, size: 9, time: 2}]\n");
  ck_assert_ptr_null(f.p);
  drop(&f);
  f = make(
      "target: {memories: [{name: m, capacity: 15}]}\n"
      "buffers: [{name: z, size: 7, io: input}, {name: w, size: 9, io: input}]\n"
      "ops: [{name: a, time: 2, args: [{in: z}]}, {name: b, time: 2, args: [{in: w}]}]\n");
  ck_assert_ptr_null(f.p); /* both begin at 0 */
  drop(&f);
}
END_TEST

/* Content that a first access overwrites need not be read; content that it overwrites in part
 * does. */
START_TEST(overwritten_content)
{
  static const char *const bodies[] = {
      SPILLING
      "buffers: [{name: x, size: 8, io: state}]\n"
      "ops: [{name: a, args: [{out_existing: x}]}, {name: b, args: [{in: x}]}]\n",
      SPILLING
      "buffers: [{name: x, size: 8, io: state}]\n"
      "ops: [{name: a, args: [{out_existing: x, at: [0, 4]}]}, {name: b, args: [{in: "
      "x}]}]\n",
      SPILLING
      "buffers: [{name: x, size: 8, io: state}]\n"
      "ops: [{name: a, args: [{in: x}]}, {name: b, args: [{out_existing: x}]}]\n"};
  for (int k = 0; k < 3; k++) {
    problem_fixture f = make(bodies[k]);
    const fs_problem *p = f.p;
    ck_assert_uint_eq(p->n_copies, k == 0 ? 1 : 2);
    ck_assert_uint_eq(p->res_begin_item[p->arg_residency[0]], k == 0 ? 0 : 2);
    fs_tick start[4] = {k == 0 ? 0 : 3, k == 0 ? 1 : 4, k == 0 ? 2 : 0, 5};
    fs_answer a = {.start = start};
    fs_schedule *s;
    const char *why;
    ck_assert_int_eq(fs_answer_schedule(f.p, &a, &s, &why), FSCHED_OK);
    ck_assert_msg(s != NULL, "%d: %s", k, why);
    ck_assert_int_eq(fs_verify_schedule(f.ctx, f.g, s, NULL), FSCHED_OK);
    fs_schedule_destroy(s);
    drop(&f);
  }
}
END_TEST

/* Parts may be written in any order: the first one that is written begins the residency. */
START_TEST(several_may_begin)
{
  problem_fixture f = make(
      "target: {memories: [{name: m, capacity: 40}]}\n"
      "buffers: [{name: x, size: 8}]\n"
      "ops:\n  - {name: a, time: 2, args: [{out_existing: x, at: [0, 4]}]}\n"
      "  - {name: b, time: 2, args: [{out_existing: x, at: [4, 4]}]}\n"
      "  - {name: c, time: 2, args: [{in: x}]}\n");
  const fs_problem *p = f.p;
  ck_assert_uint_eq(p->res_begin0[1], 2);
  ck_assert_uint_eq(n_ends(p, 0), 1);
  for (int first = 0; first < 2; first++) {
    fs_tick start[3] = {first ? 1 : 0, first ? 0 : 1, 3};
    fs_answer a = {.start = start};
    fs_schedule *s;
    const char *why;
    ck_assert_int_eq(fs_answer_schedule(f.p, &a, &s, &why), FSCHED_OK);
    ck_assert_msg(s != NULL, "%s", why);
    ck_assert_uint_eq(s->res_begin[0], 0);
    ck_assert_uint_eq(s->res_end[0], 5);
    fs_schedule_destroy(s);
  }
  drop(&f);
}
END_TEST

/* The store copy of given content is there from 0 to the end of its read, that of kept content to
 * the end. */
START_TEST(bounded_stores)
{
  problem_fixture f = make(
      "target:\n  memories:\n    - {name: m, capacity: 30, backing: s,\n"
      "       spill: {on: compute, write: {fixed: 2, rate: 0}, read: {fixed: 3, rate: 0}}}\n"
      "    - {name: s, capacity: 30}\n"
      "buffers: [{name: x, size: 9, io: input}, {name: y, size: 4, io: output}, {name: z, size: 5, "
      "io: state}]\n"
      "ops:\n  - {name: a, time: 4, args: [{in: x}, {out: y}, {inout: z}]}\n");
  const fs_problem *p = f.p;
  ck_assert_uint_eq(p->n_copies, 4);
  ck_assert_uint_eq(p->n_residencies, 6);
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    if (p->res_memory[r] == 1) {
      uint64_t size = p->res_size[r];
      ck_assert_uint_eq(p->res_to_end[r], size != 9);
      ck_assert_uint_eq(p->res_begin_item[r] == FS_NONE, size != 4);
      ck_assert_uint_eq(n_ends(p, r), 1); /* x ends with the read, y and z with the write */
    }
  }
  fs_listsched_options o = {0};
  fs_schedule *s, *t;
  fs_answer *a;
  const char *why;
  ck_assert_int_eq(fs_listsched_run(f.ctx, f.g, &o, &s), FSCHED_OK);
  ck_assert_int_eq(fs_answer_of_schedule(f.p, s, &a), FSCHED_OK);
  ck_assert_ptr_nonnull(a);
  for (int found = 0; found < 2; found++) {
    ck_assert_int_eq(fs_answer_schedule(f.p, a, &t, &why), FSCHED_OK);
    ck_assert_msg(t != NULL, "%s", why);
    ck_assert_uint_eq(t->makespan, s->makespan);
    fs_schedule_destroy(t);
    a->address = NULL;
  }
  fs_schedule_destroy(s);
  drop(&f);
}
END_TEST

/* Domains and gangs cut the queues into classes. */
START_TEST(classes_of_queues)
{
  problem_fixture f = make(
      "target: {queues: [{name: q0}, {name: q1}, {name: q2}, {name: q3, class: k},\n"
      "  {name: q4, class: k}, {name: q5, class: idle}]}\n"
      "ops:\n  - {name: a}\n  - {name: g, on: [q2, q3]}\n  - {name: b, on: k}\n"
      "  - {name: c, on: q1}\n");
  const fs_problem *p = f.p;
  ck_assert_uint_eq(p->n_classes, 5); /* {q0} {q1} {q2} {q3} {q4} */
  ck_assert_uint_eq(p->choice0[1] - p->choice0[0], 3);
  ck_assert_uint_eq(p->choice0[2] - p->choice0[1], 2);
  ck_assert(p->gang[1] && !p->gang[0]);
  ck_assert_uint_eq(p->choice0[4] - p->choice0[3], 1);
  drop(&f);
  f = make("target: {queues: [{name: q0}, {name: q1}, {name: q2}]}\nops: [{name: a}, {name: b}]\n");
  ck_assert_uint_eq(f.p->n_classes, 1);
  ck_assert_uint_eq(f.p->class_size[0], 3);
  drop(&f);
  f = make(
      "target: {concurrency: 2, resources: [{name: r, capacity: 5}]}\n"
      "ops: [{name: a, uses: {r: 3}}, {name: b}, {name: c}]\n");
  ck_assert_uint_eq(f.p->class_size[0], 2);
  ck_assert_uint_eq(f.p->n_amounts, 2);
  ck_assert_uint_eq(f.p->use0[1], 2);
  ck_assert_uint_eq(f.p->amount_capacity[1], 2);
  drop(&f);
}
END_TEST

START_TEST(pairs_and_scratch)
{
  static const char body[] =
      "target: {memories: [{name: m, capacity: 20%s}]}\n"
      "ops:\n  - {name: a, size: 6}\n"
      "  - {name: b, args: [{in: a}, {out: x, size: 6}], inplace: {x: a}, scratch: {m: 3}}\n";
  for (int counted = 0; counted < 2; counted++) {
    char text[512];
    (void)snprintf(text, sizeof text, body, counted ? ", placement: counted" : "");
    problem_fixture f = make(text);
    const fs_problem *p = f.p;
    ck_assert_uint_eq(p->n_coincide, !counted);
    ck_assert_uint_eq(p->n_residencies, 3);
    uint32_t r = p->scratch_residency[0];
    ck_assert_uint_eq(p->res_op[r], 1);
    ck_assert_uint_eq(p->res_size[r], 3);
    ck_assert_uint_eq(p->res_begin_item[r], 1);
    if (!counted) {
      ck_assert_uint_eq(p->coincide_op[0], 1);
      ck_assert_uint_eq(p->coincide_in[0], p->arg_residency[1]);
      ck_assert_uint_eq(p->coincide_out[0], p->arg_residency[2]);
    }
    drop(&f);
  }
}
END_TEST

/* In 15 bytes the output has to take the input's place. */
START_TEST(output_in_place)
{
  problem_fixture f = make(
      "target: {memories: [{name: m, capacity: 15}]}\n"
      "ops:\n  - {name: a, size: 6}\n  - {name: c, size: 6}\n"
      "  - {name: b, args: [{in: a}, {out: x, size: 6}], inplace: {x: a}, scratch: "
      "{m: 3}}\n"
      "  - {name: d, args: [{in: c}]}\n");
  fs_tick start[4] = {0, 0, 1, 2};
  fs_answer a = {.start = start};
  fs_schedule *s;
  const char *why;
  ck_assert_int_eq(fs_answer_schedule(f.p, &a, &s, &why), FSCHED_OK);
  ck_assert_msg(s != NULL, "%s", why);
  ck_assert_uint_eq(s->makespan, 3);
  fs_schedule_destroy(s);
  f.p->n_coincide = 0;
  ck_assert_int_eq(fs_answer_schedule(f.p, &a, &s, &why), FSCHED_OK);
  ck_assert_ptr_null(s);
  ck_assert_str_eq(why, "no addresses were found in memory m: there are none");
  drop(&f);
}
END_TEST

/* Given starts are heads; what follows starts later. */
START_TEST(given_starts)
{
  problem_fixture f = make(
      "target: {queues: [{name: q}]}\n"
      "ops: [{name: a, time: 2, start: 7}, {name: b, after: [a]}]\n");
  ck_assert_uint_eq(f.p->fixed[0], 7);
  ck_assert_uint_eq(f.p->fixed[1], FS_TICK_NONE);
  ck_assert_uint_eq(f.p->head[0], 7);
  ck_assert_uint_eq(f.p->head[1], 9);
  drop(&f);
}
END_TEST

/* A memory that spills may be too full: then spills may help, and the problem is not exact. */
START_TEST(exactness)
{
#define TWO "ops: [{name: a, size: 60}, {name: b, size: %d}]\n"
  for (int size = 40; size <= 48; size += 8) {
    char text[1024];
    (void)snprintf(text, sizeof text, SPILLING TWO, size);
    problem_fixture f = make(text);
    bool fits = size == 32 || 64 + size <= 100;
    ck_assert_uint_eq(f.p->exact, fits);
    ck_assert(f.p->least);
    ck_assert_uint_eq(f.p->tight[0], !fits);
    drop(&f);
    (void)snprintf(text, sizeof text, "target: {memories: [{name: m, capacity: 100}]}\n" TWO, size);
    f = make(text);
    ck_assert(f.p->exact);
    drop(&f);
  }
}
END_TEST

/* A schedule that spills has copies that its graph's problem does not have. */
START_TEST(spills_of_a_schedule)
{
  uint32_t more = 0, same = 0;
  for (unsigned long seed = 1; seed <= 60; seed++) {
    fs_gen_params q = fs_gen_tight(seed, 12);
    fsched_graph *g;
    fs_schedule *s = NULL;
    fs_listsched_options o = {0};
    fs_problem *p, *of_graph;
    ck_assert_int_eq(fs_gen_graph(ctx, &q, &g), FSCHED_OK);
    ck_assert_int_eq(fs_listsched_run(ctx, g, &o, &s), FSCHED_OK);
    ck_assert_int_eq(fs_problem_from_schedule(ctx, s, &p), FSCHED_OK);
    ck_assert_int_eq(fs_problem_from_graph(ctx, g, s->makespan, 0, &of_graph), FSCHED_OK);
    ck_assert_uint_eq(p->n_copies, s->n_copies);
    ck_assert_uint_eq(p->n_residencies, s->n_residencies);
    ck_assert_uint_eq(p->horizon, s->makespan);
    for (uint32_t i = 0; i < p->n_items; i++) { /* the schedule respects all orders */
      ck_assert_uint_ge(s->start[i], p->head[i]);
      for (uint32_t e = p->pred0[i]; e < p->pred0[i + 1]; e++) {
        ck_assert_uint_le(s->end[p->pred[e]], s->start[i]);
      }
    }
    for (uint32_t a = 0; a < g->n_args; a++) { /* writers before the write of their residency */
      for (uint32_t c = 0; c < p->n_copies && p->arg_residency[a] != FS_NONE; c++) {
        uint32_t op = 0;
        while (g->op_arg0[op + 1] <= a) {
          op++;
        }
        if (p->copy_kind[c] == FS_SPILL_WRITE && p->copy_residency[c] == p->arg_residency[a] &&
            g->arg_tag[a] == FSCHED_OUT) {
          ck_assert(has_edge(p, op, g->n_ops + c));
        }
      }
    }
    if (of_graph != NULL) {
      ck_assert(p->n_copies >= of_graph->n_copies);
      ck_assert(p->least == (p->n_copies == of_graph->n_copies) || !p->least);
      more += p->n_copies > of_graph->n_copies;
      same += p->least;
    }
    fs_problem_destroy(of_graph);
    fs_problem_destroy(p);
    fs_schedule_destroy(s);
    fsched_graph_destroy(g);
  }
  ck_assert_uint_gt(more, 20);
  (void)same;
}
END_TEST

/* Ten thousand ops become a problem, and their answer a schedule again. */
START_TEST(large_graphs)
{
  fs_gen_params q = {.seed = 3,
                     .n_ops = 10000,
                     .n_queues = 6,
                     .n_classes = 2,
                     .n_memories = 2,
                     .backing = true,
                     .counted = true,
                     .gangs = true,
                     .scratch = true,
                     .io = true,
                     .tightness = 3};
  fsched_graph *g;
  fs_schedule *s, *t;
  fs_listsched_options o = {0};
  fs_problem *p;
  fs_answer *a;
  const char *why;
  ck_assert_int_eq(fs_gen_graph(ctx, &q, &g), FSCHED_OK);
  ck_assert_int_eq(fs_listsched_run(ctx, g, &o, &s), FSCHED_OK);
  ck_assert_int_eq(fs_problem_from_schedule(ctx, s, &p), FSCHED_OK);
  ck_assert_int_eq(fs_answer_of_schedule(p, s, &a), FSCHED_OK);
  ck_assert_ptr_nonnull(a);
  ck_assert_int_eq(fs_answer_schedule(p, a, &t, &why), FSCHED_OK);
  ck_assert_msg(t != NULL, "%s", why);
  ck_assert_uint_eq(t->makespan, s->makespan);
  fs_schedule_destroy(t);
  fs_problem_destroy(p);
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* The n-th allocation fails, anywhere between the problem and the schedule. */
static fs_status there_and_back(fsched_context *own, const fs_schedule *s) {
  fs_problem *p, *q = NULL;
  fs_answer *a = NULL;
  fs_schedule *t = NULL;
  const char *why;
  fs_status status = fs_problem_from_schedule(own, s, &p);
  if (status != FSCHED_OK) {
    return status;
  }
  status = fs_problem_from_graph(own, s->graph, s->makespan, 0, &q);
  status = status == FSCHED_OK ? fs_answer_of_schedule(p, s, &a) : status;
  if (status == FSCHED_OK) {
    ck_assert_ptr_nonnull(a);
    a->choice = NULL;
    a->address = NULL;
    status = fs_answer_schedule(p, a, &t, &why);
  }
  fs_schedule_destroy(t);
  fs_problem_destroy(q);
  fs_problem_destroy(p);
  return status;
}

START_TEST(memory_fails_cleanly)
{
  fs_gen_params q = fs_gen_any(14, 20);
  for (long left = 1, failed = 0;; left++) {
    fs_budget budget = {.left = 100000000};
    fsched_context_options co = {
        .size = sizeof co, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *own;
    fsched_graph *g;
    fs_schedule *s;
    fs_listsched_options o = {0};
    ck_assert_int_eq(fsched_context_create(&co, &own), FSCHED_OK);
    ck_assert_int_eq(fs_gen_graph(own, &q, &g), FSCHED_OK);
    ck_assert_int_eq(fs_listsched_run(own, g, &o, &s), FSCHED_OK);
    budget.left = left;
    fs_status status = there_and_back(own, s);
    ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
    ck_assert_uint_eq(fsched_diag_errors(own), status != FSCHED_OK);
    failed += status != FSCHED_OK;
    fs_schedule_destroy(s);
    fsched_graph_destroy(g);
    fsched_context_destroy(own);
    ck_assert_int_eq(budget.blocks, 0);
    if (status == FSCHED_OK) {
      ck_assert_int_gt(failed, 10);
      break;
    }
  }
}
END_TEST

FS_SUITE(problem, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, copies_of_a_graph, without_a_store, overwritten_content, several_may_begin,
           bounded_stores, classes_of_queues, pairs_and_scratch, output_in_place, given_starts,
           exactness, spills_of_a_schedule, large_graphs, memory_fails_cleanly);
}
