/* SPDX-License-Identifier: Apache-2.0 */
/* Gangs on any queues of a class in loops: what is told of the interval holds for every choice of
 * queues, each of which is planned by itself here. */
#include <string.h>

#include "fsched/graph.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "model/graph.h"
#include "model/loop_report.h"

#include "kit/context.h"

enum { QUEUES = 3, MOST_OPS = 4, GRAPHS = 60 };

/* The queues of an op: any `count` of all, and those of a choice, as bits. */
typedef struct choice_op {
  uint32_t time, count, chosen;
  bool carried;
} choice_op;

static void put_graph(const choice_op *op, uint32_t n, bool chosen, fs_text *t) {
  fs_text_puts(t,
               "fsched: 1\ntarget: {queues: [{name: q0}, {name: q1}, {name: q2}]}\n"
               "ops:\n  - loop: lp\n    trip: 50\n    ops:\n");
  for (uint32_t i = 0; i < n; i++) {
    fs_text_printf(t, "      - {name: o%u, time: %u, on: ", i, op[i].time);
    if (chosen) {
      const char *comma = "[";
      for (uint32_t q = 0; q < QUEUES; q++) {
        if ((op[i].chosen >> q & 1) != 0) {
          fs_text_printf(t, "%sq%u", comma, q);
          comma = ", ";
        }
      }
      fs_text_puts(t, "]");
    } else {
      fs_text_printf(t, "{class: compute, count: %u}", op[i].count);
    }
    fs_text_printf(t, ", args: [%s{out: b%u, size: 8}]}\n", op[i].carried ? "{in: b0}, " : "", i);
  }
}

static fs_loop_report plan(const choice_op *op, uint32_t n, bool chosen) {
  fsched_graph *g;
  fs_text t;
  fsched_read_options o = {.size = sizeof o};
  fs_text_init(&t, ctx);
  put_graph(op, n, chosen, &t);
  fs_text_add(&t, "", 1);
  ck_assert(!t.failed);
  fs_status status = fsched_graph_parse(ctx, "choices.yaml", t.at, strlen(t.at), &o, &g);
  ck_assert_msg(status == FSCHED_OK, "%s\n%s", fsched_diag_get(ctx, 0)->message, t.at);
  ck_assert_uint_eq(g->n_rolled, 1);
  fs_loop_report r = *g->rolled[0].report;
  fsched_graph_destroy(g);
  fs_text_drop(&t);
  return r;
}

static bool is_less(fs_loop_ticks a, fs_loop_ticks b) { return a.num * b.den < b.num * a.den; }

/* The least interval over all choices. */
static fs_loop_ticks try_all(choice_op *op, uint32_t n) {
  fs_loop_ticks least = {UINT32_MAX, 1};
  for (uint32_t all = 0; all < 1u << (QUEUES * n); all++) {
    bool right = true;
    for (uint32_t i = 0; i < n && right; i++) {
      op[i].chosen = all >> (QUEUES * i) & ((1u << QUEUES) - 1);
      right = (uint32_t)__builtin_popcount(op[i].chosen) == op[i].count;
    }
    if (right) {
      fs_loop_report r = plan(op, n, true);
      least = is_less(r.ii, least) ? r.ii : least;
    }
  }
  return least;
}

START_TEST(bounds_hold)
{
  uint32_t equal = 0;
  for (uint32_t k = 0; k < GRAPHS; k++) {
    fs_rng rng = {fs_turn() * GRAPHS + k};
    choice_op op[MOST_OPS];
    uint32_t n = 2 + fs_rng_below(&rng, 2);
    for (uint32_t i = 0; i < n; i++) {
      op[i] = (choice_op){.time = 1 + fs_rng_below(&rng, 6),
                          .count = 1 + fs_rng_below(&rng, QUEUES - 1),
                          .carried = i > 0 && fs_rng_one_in(&rng, 2)};
    }
    fs_loop_report open = plan(op, n, false);
    fs_loop_ticks least = try_all(op, n);
    ck_assert_msg(!is_less(least, open.bound), "seed %u: %llu/%llu below the bound", k,
                  (unsigned long long)least.num, (unsigned long long)least.den);
    ck_assert_msg(!open.proven || !is_less(least, open.ii), "seed %u: proven, but not least", k);
    equal += !is_less(least, open.ii);
  }
  fs_assert_seen(equal, GRAPHS * 9 / 10);
}
END_TEST

/* What fills all queues cannot be planned better. */
START_TEST(full_is_proven)
{
  choice_op op[] = {{.time = 4, .count = 2}, {.time = 4, .count = 1}};
  fs_loop_report r = plan(op, 2, false);
  ck_assert(r.proven);
  ck_assert_uint_eq(r.ii.num, 4 * r.ii.den);
  op[1].time = 3;
  r = plan(op, 2, false);
  ck_assert(!r.proven);
}
END_TEST

FS_SUITE(loop_choices, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, bounds_hold, full_is_proven);
}
