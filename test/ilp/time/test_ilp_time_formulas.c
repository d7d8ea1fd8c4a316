/* SPDX-License-Identifier: Apache-2.0 */
/* The formulas of the time-indexed model, compared with their meaning.  On tiny instances (up to 4
 * ops, horizon 6, capacity 4) all starts are tried, and the model accepts exactly those that solve
 * the problem.  Other tests show what goes wrong with the formulas as they were published. */
#include "ilp/time/ilp_time_kit.h"

#include "kit/context.h"

enum { HORIZON = 6 };

/* Are these starts, with the sink at the given time, a point of the model? */
static bool takes(tiny *k, const fs_time_model *t, const fs_tick *start, const uint32_t *choice,
                  fs_tick makespan, int64_t *objective) {
  const fs_model *m = fs_time_model_of(t);
  static const uint32_t none[TINY_ITEMS] = {0};
  int64_t value[TINY_POINTS];
  if (m->contradiction) {
    return false;
  }
  tiny_point(k, m, start, choice == NULL ? none : choice, makespan, value);
  *objective = fs_model_objective(m, value);
  return tiny_says(k, t, value, start) && fs_model_broken(m, value) == FS_NONE;
}

typedef bool (*meaning)(const tiny *k, const fs_tick *start);

static bool by_amounts(const tiny *k, const fs_tick *start) {
  return tiny_orders(k, start) && tiny_amounts(k, start);
}

/* Tries all starts: the model accepts those that solve the problem, with the makespan as the
 * objective and no shorter one. */
static void compare(tiny *k, const fs_time_options *o, meaning right) {
  fs_time_model *t = tiny_build(k, o);
  fs_tick start[TINY_ITEMS] = {0};
  uint32_t n = k->p.n_items;
  do {
    int64_t objective = 0;
    fs_tick makespan = tiny_makespan(k, start);
    bool wanted = right(k, start), got = takes(k, t, start, NULL, makespan, &objective);
    bool counted = !got || objective == (int64_t)makespan;
    bool shorter = wanted && makespan > 0 && takes(k, t, start, NULL, makespan - 1, &objective) &&
                   objective < (int64_t)makespan;
    if (wanted != got || !counted || shorter) {
      ck_abort_msg("starts %d %d %d %d: solve it: %d, taken: %d", (int)start[0], (int)start[1],
                   (int)start[2], (int)start[3], wanted, got);
    }
  } while (tiny_next(start, n, k->p.horizon));
  fs_time_model_destroy(t);
}

/* Makes instance number `code`: times 0..2, demands 0..4 of 4, and edges; false: there are no
 * more. */
static bool instance(tiny *k, fsched_context *own, uint32_t n, uint64_t code) {
  tiny_begin(k, own, n, n < 4 ? HORIZON : 4);
  k->p.n_amounts = 1;
  k->capacity[0] = 4;
  for (uint32_t i = 0; i < n; i++) {
    k->time[i] = code % 3;
    code /= 3;
    k->demand[i][0] = code % 5;
    code /= 5;
    for (uint32_t j = i + 1; j < n; j++) {
      k->edge[i][j] = code & 1;
      code /= 2;
    }
  }
  tiny_finish(k);
  return code == 0;
}

static void all_instances(uint32_t n, uint64_t step, bool disaggregated) {
  fs_time_options o = {.disaggregated = disaggregated};
  tiny k;
  for (uint64_t code = 0; instance(&k, ctx, n, code); code += step) {
    compare(&k, &o, by_amounts);
    tiny_end(&k);
  }
  tiny_end(&k);
  fsched_diag_clear(ctx);
}

START_TEST(test_orders_and_amounts)
{
  for (uint32_t n = 0; n <= 2; n++) {
    all_instances(n, 1, false);
    all_instances(n, 1, true);
  }
}
END_TEST

START_TEST(test_orders_and_amounts_of_three)
{ all_instances(3, 61, _i != 0); }
END_TEST

START_TEST(test_orders_and_amounts_of_four)
{ all_instances(4, 20011, _i != 0); }
END_TEST

/* Tries every 0/1 point of the model, not only those with one start for each item: any that
 * satisfies the rows is a solution with the sink at or behind its end. */
START_TEST(test_every_point)
{
  for (uint64_t code = 0; code < 450; code++) {
    tiny k;
    (void)instance(&k, ctx, 2, code);
    k.p.horizon = 3;
    fs_time_options o = {.disaggregated = code & 1};
    fs_time_model *t = tiny_build(&k, &o);
    const fs_model *m = fs_time_model_of(t);
    ck_assert_uint_lt(m->var.n, 16);
    for (uint32_t bits = 0; bits < 1u << m->var.n && !m->contradiction; bits++) {
      int64_t value[16];
      for (uint32_t v = 0; v < m->var.n; v++) {
        value[v] = bits >> v & 1;
      }
      if (fs_model_broken(m, value) != FS_NONE) {
        continue;
      }
      fs_answer *a;
      ck_assert_int_eq(fs_time_model_answer(t, &k.p, value, &a), FSCHED_OK);
      if (!tiny_says(&k, t, value, a->start) || !by_amounts(&k, a->start) ||
          fs_model_objective(m, value) < (int64_t)tiny_makespan(&k, a->start)) {
        ck_abort_msg("instance %d: point %x is no solution", (int)code, bits);
      }
    }
    fs_time_model_destroy(t);
    tiny_end(&k);
  }
}
END_TEST

/* --- contiguous memory by positions --- */

/* Makes scratch of `size` cells for each op, in a memory of 4. */
static void scratch(tiny *k, fsched_context *own, uint32_t n, fs_tick horizon, const fs_tick *time,
                    const uint64_t *size) {
  tiny_begin(k, own, n, horizon);
  k->memory.placement = FSCHED_CONTIGUOUS;
  for (uint32_t i = 0; i < n; i++) {
    k->time[i] = time[i];
    k->res_op[i] = i;
    tiny_residency(k, size[i], i, 1u << i);
  }
}

static bool takes_places(tiny *k, const fs_time_model *t, const fs_tick *start,
                         const uint64_t *address, uint64_t unit) {
  const fs_model *m = fs_time_model_of(t);
  static const uint32_t none[TINY_ITEMS] = {0};
  int64_t value[TINY_POINTS];
  if (m->contradiction) {
    return false;
  }
  tiny_point(k, m, start, none, tiny_makespan(k, start), value);
  for (uint32_t r = 0; r < k->p.n_residencies; r++) {
    bool there = tiny_set(m, value, 1, "p_%u_%llu_%llu", r, (unsigned long long)start[r],
                          (unsigned long long)(address[r] / unit));
    if (!there && k->res_size[r] > 0) {
      return false;
    }
  }
  return tiny_says(k, t, value, start) && fs_model_broken(m, value) == FS_NONE;
}

/* Tries all starts and all addresses. */
static void compare_places(tiny *k, uint64_t unit) {
  fs_time_options o = {.places = FS_TIME_POSITIONS};
  fs_time_model *t = tiny_build(k, &o);
  fs_tick start[TINY_ITEMS] = {0}, step[TINY_ITEMS] = {0};
  uint64_t address[TINY_ITEMS];
  uint32_t n = k->p.n_items;
  do {
    do {
      for (uint32_t r = 0; r < n; r++) {
        address[r] = k->res_size[r] == 0 ? 0 : step[r] * unit;
      }
      bool wanted = tiny_orders(k, start) && tiny_places(k, start, address);
      bool got = takes_places(k, t, start, address, unit);
      if (wanted != got) {
        ck_abort_msg("starts %d %d %d at %d %d %d: solve it: %d, taken: %d", (int)start[0],
                     (int)start[1], (int)start[2], (int)address[0], (int)address[1],
                     (int)address[2], wanted, got);
      }
    } while (tiny_next(step, n, (k->memory.capacity - 1) / unit));
  } while (tiny_next(start, n, k->p.horizon));
  fs_time_model_destroy(t);
}

START_TEST(test_positions_of_two)
{
  for (uint32_t code = 0; code < 9 * 25; code++) {
    const fs_tick time[] = {code % 3, code / 3 % 3};
    const uint64_t size[] = {code / 9 % 5, code / 45};
    tiny k;
    scratch(&k, ctx, 2, 4, time, size);
    k.edge[0][1] = code % 4 == 0;
    tiny_finish(&k);
    bool even = size[0] % 2 == 0 && size[1] % 2 == 0, four = size[0] % 4 == 0 && size[1] % 4 == 0;
    bool some = size[0] + size[1] > 0;
    uint64_t three = size[0] % 3 == 0 && size[1] % 3 == 0 ? 3 : 1;
    compare_places(&k, !some ? 1 : four ? 4 : even ? 2 : three);
    tiny_end(&k);
  }
}
END_TEST

START_TEST(test_positions_of_three)
{
  fs_rng rng = {1};
  for (int round = 0; round < 5; round++) {
    const fs_tick time[] = {fs_rng_below(&rng, 4), fs_rng_below(&rng, 3), fs_rng_below(&rng, 3)};
    const uint64_t size[] = {1, 1 + fs_rng_below(&rng, 3), fs_rng_below(&rng, 3)};
    tiny k;
    scratch(&k, ctx, 3, 4, time, size);
    k.edge[0][2] = round % 4 == 0;
    tiny_finish(&k);
    compare_places(&k, 1);
    tiny_end(&k);
  }
}
END_TEST

/* --- the published forms --- */

/* The published objective is min sum x[sink,t], which is 1 for every solution. */
START_TEST(test_published_objective_is_constant)
{
  tiny k;
  (void)instance(&k, ctx, 2, 1 + 15 * 2); /* the ops have one tick each, no demands and no edge */
  fs_time_options o = {0};
  fs_time_model *t = tiny_build(&k, &o);
  const fs_model *m = fs_time_model_of(t);
  fs_tick start[2] = {0};
  int64_t least = INT64_MAX, most = 0;
  do {
    int64_t objective, value[TINY_POINTS], printed = 0;
    fs_tick makespan = tiny_makespan(&k, start);
    if (takes(&k, t, start, NULL, makespan, &objective)) {
      static const uint32_t none[TINY_ITEMS] = {0};
      tiny_point(&k, m, start, none, makespan, value);
      for (size_t v = 0; v < m->var.n; v++) {
        printed += m->var.at[v].cost != 0 ? value[v] : 0;
      }
      ck_assert_int_eq(printed, 1);
      least = objective < least ? objective : least;
      most = objective > most ? objective : most;
    }
  } while (tiny_next(start, 2, HORIZON));
  ck_assert_int_eq(least, k.time[0] > k.time[1] ? (int64_t)k.time[0] : (int64_t)k.time[1]);
  ck_assert_int_eq(most, HORIZON);
  fs_time_model_destroy(t);
  tiny_end(&k);
}
END_TEST

/* Does an item of d ticks and r cells, at q from s on, take cell p at t? As published, the sum over
 * positions begins at min(0, p - r), and with `spans` false the one over starts has only the
 * start. */
static bool takes_cell(fs_tick s, fs_tick d, int q, int r, fs_tick t, int p, bool printed_position,
                       bool spans) {
  int first = printed_position ? (p - r < 0 ? p - r : 0) : (p - r + 1 > 0 ? p - r + 1 : 0);
  bool then = spans ? s <= t && t < s + d : s == t;
  return then && first <= q && q <= p;
}

/* Two ops of two cells each lie in a memory of four, at 0 and 2, at the same time. */
START_TEST(test_published_position_sum_counts_what_lies_below)
{
  const fs_tick time[] = {1, 1}, start[] = {0, 0};
  const uint64_t size[] = {2, 2}, address[] = {0, 2};
  bool clash = false;
  for (int p = 0; p < 4; p++) {
    clash = clash ||
            (takes_cell(0, 1, 0, 2, 0, p, true, true) && takes_cell(0, 1, 2, 2, 0, p, true, true));
    ck_assert(!takes_cell(0, 1, 0, 2, 0, p, false, true) ||
              !takes_cell(0, 1, 2, 2, 0, p, false, true));
  }
  ck_assert_msg(clash, "the printed sum would do");
  tiny k;
  scratch(&k, ctx, 2, 1, time, size);
  tiny_finish(&k);
  fs_time_options o = {.places = FS_TIME_POSITIONS};
  fs_time_model *t = tiny_build(&k, &o);
  ck_assert(takes_places(&k, t, start, address, 2));
  fs_time_model_destroy(t);
  tiny_end(&k);
}
END_TEST

/* An op runs two ticks from 0 on, another one from 1 on, in the same cells. */
START_TEST(test_published_cells_do_not_span_the_duration)
{
  const fs_tick time[] = {2, 1}, start[] = {0, 1};
  const uint64_t size[] = {3, 3}, address[] = {0, 0};
  for (int p = 0; p < 4; p++) {
    ck_assert(!takes_cell(0, 2, 0, 3, 1, p, false, false) ||
              !takes_cell(1, 1, 0, 3, 1, p, false, false));
  }
  ck_assert(takes_cell(0, 2, 0, 3, 1, 0, false, true) && takes_cell(1, 1, 0, 3, 1, 0, false, true));
  tiny k;
  scratch(&k, ctx, 2, 3, time, size);
  tiny_finish(&k);
  fs_time_options o = {.places = FS_TIME_POSITIONS};
  fs_time_model *t = tiny_build(&k, &o);
  ck_assert(!takes_places(&k, t, start, address, 3));
  ck_assert(takes_places(&k, t, (const fs_tick[]){0, 2}, address, 3));
  fs_time_model_destroy(t);
  tiny_end(&k);
}
END_TEST

/* "a[i,t] = sum(...) x = 1" for every t demands that an item runs all the time: one tick of work
 * within a horizon of two then has no solution. */
START_TEST(test_published_active_as_a_row)
{
  tiny k;
  tiny_begin(&k, ctx, 1, 2);
  tiny_finish(&k);
  fs_time_options o = {0};
  fs_time_model *t = tiny_build(&k, &o);
  for (fs_tick s = 0; s < 2; s++) {
    int64_t objective;
    bool printed = true;
    for (fs_tick at = 0; at < 2; at++) {
      printed = printed && s <= at && at < s + 1;
    }
    ck_assert(!printed);
    ck_assert(takes(&k, t, &s, NULL, s + 1, &objective));
  }
  fs_time_model_destroy(t);
  tiny_end(&k);
}
END_TEST

/* Without such a row an item need not start at all: what it holds is free, and so is what comes
 * after it. */
START_TEST(test_published_missing_start_rows)
{
  tiny k;
  tiny_begin(&k, ctx, 2, 3);
  k.p.n_amounts = 1;
  k.capacity[0] = 1;
  k.demand[0][0] = k.demand[1][0] = 1;
  tiny_finish(&k);
  fs_time_options o = {0};
  fs_time_model *t = tiny_build(&k, &o);
  const fs_model *m = fs_time_model_of(t);
  int64_t value[TINY_POINTS] = {0};
  ck_assert(tiny_set(m, value, 1, "x_0_0") && tiny_set(m, value, 1, "x_sink_1"));
  uint32_t broken = 0;
  for (uint32_t r = 0; r < m->row.n; r++) {
    int64_t sum = 0;
    for (size_t i = m->row.at[r].term0; i < fs_model_row_end(m, r); i++) {
      sum += m->term.at[i].coef * value[m->term.at[i].var];
    }
    bool holds = m->row.at[r].low <= sum && sum <= m->row.at[r].high;
    broken += !holds;
    ck_assert_msg(holds || strcmp(m->row.at[r].name, "one_1_0") == 0, "row %s", m->row.at[r].name);
  }
  ck_assert_uint_eq(broken, 1);
  fs_time_model_destroy(t);
  tiny_end(&k);
}
END_TEST

/* Two ops run side by side: a sink behind the first alone would give 1 where 3 is right. */
START_TEST(test_published_sink_is_not_behind_all)
{
  tiny k;
  tiny_begin(&k, ctx, 2, 4);
  k.time[1] = 3;
  tiny_finish(&k);
  fs_time_options o = {0};
  fs_time_model *t = tiny_build(&k, &o);
  int64_t objective;
  for (fs_tick sink = 0; sink <= 4; sink++) {
    ck_assert_int_eq(takes(&k, t, (const fs_tick[]){0, 0}, NULL, sink, &objective), sink >= 3);
  }
  fs_time_model_destroy(t);
  tiny_end(&k);
}
END_TEST

FS_SUITE(ilp_time_formulas, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, test_orders_and_amounts, test_every_point, test_positions_of_two,
           test_positions_of_three, test_published_objective_is_constant,
           test_published_position_sum_counts_what_lies_below,
           test_published_cells_do_not_span_the_duration, test_published_active_as_a_row,
           test_published_missing_start_rows, test_published_sink_is_not_behind_all);
  FS_LOOPS(t, 0, 2, test_orders_and_amounts_of_three, test_orders_and_amounts_of_four);
}
