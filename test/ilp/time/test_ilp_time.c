/* SPDX-License-Identifier: Apache-2.0 */
/* The time-indexed model: queues and gangs, lifetimes of residencies and their addresses in three
 * forms, limits, and memory that runs out.  Random tiny problems are made, and all starts (and
 * addresses) tried; the model accepts each exactly when it solves the problem. */
#include "ilp/time/ilp_time_kit.h"
#include "kit/budget.h"

#include "kit/context.h"

enum { PAIRS = 8 };

static bool holds(tiny *k, const fs_time_model *t, const fs_tick *start, const uint32_t *choice) {
  static const uint32_t none[TINY_ITEMS] = {0};
  const fs_model *m = fs_time_model_of(t);
  int64_t value[TINY_POINTS];
  if (m->contradiction) {
    return false;
  }
  tiny_point(k, m, start, choice == NULL ? none : choice, tiny_makespan(k, start), value);
  return tiny_says(k, t, value, start) && fs_model_broken(m, value) == FS_NONE;
}

/* --- queues --- */

/* Tries each vector of starts with each choice of classes. */
static void compare_queues(tiny *k, uint64_t seed) {
  fs_time_options o = {.disaggregated = seed & 1};
  fs_time_model *t = tiny_build(k, &o);
  fs_tick start[TINY_ITEMS] = {0};
  do {
    fs_tick pick[TINY_ITEMS] = {0};
    do {
      uint32_t choice[TINY_ITEMS];
      bool legal = true;
      for (uint32_t i = 0; i < k->p.n_items; i++) {
        choice[i] = (uint32_t)pick[i];
        legal = legal && (k->gang[i] ? pick[i] == 0 : k->may[i][pick[i]]);
      }
      if (!legal) {
        continue;
      }
      bool wanted = tiny_orders(k, start) && tiny_queues(k, start, choice);
      bool got = holds(k, t, start, choice);
      if (wanted != got) {
        tiny_complain(k, seed, start, wanted, got);
      }
    } while (tiny_next(pick, k->p.n_items, k->p.n_classes - 1));
  } while (tiny_next(start, k->p.n_items, k->p.horizon));
  fs_time_model_destroy(t);
}

START_TEST(test_queues)
{
  for (uint64_t seed = 0; seed < 120; seed++) {
    fs_rng rng = {seed};
    tiny k;
    tiny_begin(&k, ctx, 3, 4);
    k.p.n_classes = 2;
    k.class_size[0] = 1 + fs_rng_below(&rng, 2);
    k.class_size[1] = 1;
    for (uint32_t i = 0; i < 3; i++) {
      k.time[i] = fs_rng_below(&rng, 4);
      uint32_t c = fs_rng_below(&rng, 2);
      k.may[i][c] = true;
      k.may[i][!c] = fs_rng_one_in(&rng, 3);
      k.gang[i] = fs_rng_one_in(&rng, 5);
    }
    tiny_random_edges(&k, &rng, 5);
    tiny_finish(&k);
    compare_queues(&k, seed);
    tiny_end(&k);
  }
}
END_TEST

/* --- memories by amounts --- */

START_TEST(test_memory_sums)
{
  for (uint64_t seed = 0; seed < 300; seed++) {
    fs_rng rng = {seed};
    tiny k;
    tiny_random_memory(&k, ctx, &rng, 4);
    tiny_finish(&k);
    fs_time_options o = {.disaggregated = seed & 1};
    fs_time_model *t = tiny_build(&k, &o);
    fs_tick start[TINY_ITEMS] = {0};
    do {
      bool wanted = tiny_orders(&k, start) && tiny_memory_sum(&k, start);
      if (wanted != holds(&k, t, start, NULL)) {
        tiny_complain(&k, seed, start, wanted, !wanted);
      }
    } while (tiny_next(start, k.p.n_items, 4));
    fs_time_model_destroy(t);
    tiny_end(&k);
  }
}
END_TEST

/* Two residencies that are there from the beginning do not fit, although both are gone when the
 * first item ends. */
START_TEST(test_memory_before_the_first_item)
{
  for (uint64_t size = 2; size <= 3; size++) {
    tiny k;
    tiny_begin(&k, ctx, 1, 4);
    k.time[0] = 0;
    k.head[0] = 2;
    tiny_residency(&k, size, FS_NONE, 1);
    tiny_residency(&k, size, FS_NONE, 1);
    tiny_finish(&k);
    fs_time_options o = {0};
    fs_time_model *t = tiny_build(&k, &o);
    fs_tick start = 2;
    ck_assert_int_eq(holds(&k, t, &start, NULL), size == 2);
    fs_time_model_destroy(t);
    tiny_end(&k);
  }
}
END_TEST

/* --- addresses --- */

/* Is there a value of the addresses' binaries with which the point holds? All values are tried. */
static bool holds_somehow(tiny *k, const fs_time_model *t, const fs_tick *start,
                          const uint64_t *address, uint64_t unit) {
  static const uint32_t none[TINY_ITEMS] = {0};
  const fs_model *m = fs_time_model_of(t);
  int64_t value[TINY_POINTS];
  uint32_t open[3 * PAIRS], n = 0;
  if (m->contradiction) {
    return false;
  }
  tiny_point(k, m, start, none, tiny_makespan(k, start), value);
  for (uint32_t v = 0; v < m->var.n; v++) {
    const char *name = m->var.at[v].name;
    unsigned r;
    if (strncmp(name, "below", 5) == 0 || strncmp(name, "above", 5) == 0 ||
        strncmp(name, "same", 4) == 0) {
      ck_assert_uint_lt(n, 3 * PAIRS);
      open[n++] = v;
    } else if (sscanf(name, "address_%u", &r) == 1) {
      value[v] = (int64_t)(address[r] / unit);
    }
  }
  if (!tiny_says(k, t, value, start)) {
    return false;
  }
  for (uint32_t bits = 0; bits < 1u << n; bits++) {
    for (uint32_t i = 0; i < n; i++) {
      value[open[i]] = bits >> i & 1;
    }
    if (fs_model_broken(m, value) == FS_NONE) {
      return true;
    }
  }
  return false;
}

/* The greatest common divisor of the sizes that are not 0. */
static uint64_t unit_of(const tiny *k) {
  uint64_t unit = 0;
  for (uint32_t r = 0; r < k->p.n_residencies; r++) {
    for (uint64_t a = k->res_size[r]; a != 0;) {
      uint64_t b = unit == 0 ? 0 : unit % a;
      unit = a;
      a = b;
    }
  }
  return unit == 0 ? 1 : unit;
}

START_TEST(test_pairs)
{
  for (uint64_t seed = 0; seed < 60; seed++) {
    fs_rng rng = {seed};
    tiny k;
    tiny_random_places(&k, ctx, &rng);
    fs_time_options o = {.places = FS_TIME_PAIRS};
    fs_time_model *t = tiny_build(&k, &o);
    fs_tick start[TINY_ITEMS] = {0};
    uint64_t unit = unit_of(&k);
    do {
      if (!tiny_orders(&k, start)) {
        ck_assert(!holds(&k, t, start, NULL));
        continue;
      }
      fs_tick step[TINY_RESIDENCIES] = {0};
      do {
        uint64_t address[TINY_RESIDENCIES];
        for (uint32_t r = 0; r < k.p.n_residencies; r++) {
          address[r] = k.res_size[r] == 0 ? 0 : step[r] * unit;
        }
        bool wanted = tiny_places(&k, start, address);
        bool got = holds_somehow(&k, t, start, address, unit);
        if (wanted != got) {
          tiny_complain(&k, seed, start, wanted, got);
        }
      } while (tiny_next(step, k.p.n_residencies, (k.memory.capacity - 1) / unit));
    } while (tiny_next(start, k.p.n_items, 3));
    fs_time_model_destroy(t);
    tiny_end(&k);
  }
}
END_TEST

/* The addresses come from some schedule; this checks which other starts go with them. */
START_TEST(test_given_addresses)
{
  uint32_t compared = 0, shared = 0;
  for (uint64_t seed = 0; seed < 400; seed++) {
    fs_rng rng = {seed};
    tiny k;
    fs_tick start[TINY_ITEMS] = {0};
    uint64_t address[TINY_RESIDENCIES];
    tiny_random_places(&k, ctx, &rng);
    bool found = false;
    do {
      found = tiny_orders(&k, start) && fs_rng_one_in(&rng, 8) && tiny_pack(&k, start, address);
    } while (!found && tiny_next(start, k.p.n_items, 3));
    if (found) {
      fs_time_options o = {.places = FS_TIME_GIVEN, .address = address};
      fs_time_model *t = tiny_build(&k, &o);
      memset(start, 0, sizeof start);
      do {
        bool wanted = tiny_orders(&k, start) && tiny_places(&k, start, address);
        if (wanted != holds(&k, t, start, NULL)) {
          tiny_complain(&k, seed, start, wanted, !wanted);
        }
        compared++;
        shared += wanted && k.p.n_coincide > 0 &&
                  tiny_share(&k, start, address, k.coincide_in[0], k.coincide_out[0]);
      } while (tiny_next(start, k.p.n_items, 3));
      fs_time_model_destroy(t);
    }
    tiny_end(&k);
  }
  ck_assert_uint_gt(compared, 1000);
  ck_assert_uint_gt(shared, 10);
}
END_TEST

/* --- limits, and memory that runs out --- */

START_TEST(test_limit_of_terms)
{
  fs_rng rng = {3};
  tiny k;
  tiny_random_memory(&k, ctx, &rng, 5);
  k.memory.placement = FSCHED_CONTIGUOUS;
  for (uint32_t r = 0; r < k.p.n_residencies; r++) {
    k.res_size[r] = 3;
  }
  tiny_finish(&k);
  for (fs_time_places places = FS_TIME_AMOUNTS; places <= FS_TIME_PAIRS; places++) {
    fs_time_options o = {.places = places};
    fs_time_model *t;
    ck_fs(ctx, fs_time_model_build(&k.p, &o, &t));
    if (t == NULL) {
      ck_assert_int_eq(places, FS_TIME_POSITIONS); /* not only scratch has addresses */
      continue;
    }
    size_t terms = fs_time_model_of(t)->term.n;
    fs_time_model_destroy(t);
    for (o.max_terms = 1; o.max_terms < 2 * terms; o.max_terms += 3) {
      ck_fs(ctx, fs_time_model_build(&k.p, &o, &t));
      ck_assert_msg(t == NULL || fs_time_model_of(t)->term.n <= o.max_terms, "%zu terms",
                    o.max_terms);
      ck_assert_int_eq(t == NULL || o.max_terms >= terms, 1);
      fs_time_model_destroy(t);
    }
  }
  tiny_end(&k);
}
END_TEST

/* Windows are 2^62 ticks wide, and ids are the only limit. */
START_TEST(test_huge_windows)
{
  tiny k;
  tiny_begin(&k, ctx, 2, (fs_tick)1 << 62);
  k.p.n_amounts = 1;
  k.capacity[0] = UINT64_MAX;
  k.demand[0][0] = k.demand[1][0] = UINT64_MAX;
  tiny_finish(&k);
  for (uint32_t max_terms = 0; max_terms <= 1000; max_terms += 1000) {
    fs_time_options o = {.max_terms = max_terms};
    fs_time_model *t;
    ck_fs(ctx, fs_time_model_build(&k.p, &o, &t));
    ck_assert_ptr_null(t);
  }
  tiny_end(&k);
}
END_TEST

static fsched_status build_all(fsched_context *own, const void *user) {
  fs_status status = FSCHED_OK;
  (void)user;
  for (fs_time_places places = FS_TIME_AMOUNTS; places <= FS_TIME_GIVEN; places++) {
    static const uint64_t address[TINY_RESIDENCIES] = {0};
    fs_rng rng = {5};
    tiny k;
    tiny_random_memory(&k, own, &rng, 4);
    k.memory.placement = FSCHED_CONTIGUOUS;
    for (uint32_t r = 0; r < k.p.n_residencies; r++) {
      k.res_size[r] = 3;
      if (places == FS_TIME_POSITIONS) { /* this form is for scratch alone */
        k.res_begin[r] = r;
        k.res_end0[r + 1] = 0;
        k.res_to_end[r] = 0;
      }
    }
    tiny_finish(&k);
    fs_time_options o = {.places = places, .address = address};
    fs_time_model *t = NULL;
    status = fs_time_model_build(&k.p, &o, &t);
    ck_assert(status != FSCHED_OK || t != NULL);
    if (status == FSCHED_OK) {
      int64_t value[TINY_POINTS] = {0};
      fs_tick start[TINY_ITEMS] = {0, 1, 2, 3};
      uint64_t zero[TINY_RESIDENCIES] = {0};
      fs_answer a = {.start = start, .address = zero, .makespan = 4}, *back;
      bool fits;
      status = fs_time_model_point(t, &a, value, &fits);
      status = status == FSCHED_OK && fits ? fs_time_model_answer(t, &k.p, value, &back) : status;
    }
    fs_time_model_destroy(t);
    tiny_end(&k);
    if (status != FSCHED_OK) {
      break;
    }
  }
  return status;
}

START_TEST(test_out_of_memory)
{
  fs_budget budget = {.left = 1 << 30};
  fsched_context_options o = {
      .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
  fsched_context *own;
  ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
  fs_fail_each_allocation(own, &budget, build_all, NULL);
  fsched_context_destroy(own);
}
END_TEST

FS_SUITE(ilp_time, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, test_queues, test_memory_sums, test_memory_before_the_first_item, test_pairs,
           test_given_addresses, test_limit_of_terms, test_huge_windows, test_out_of_memory);
}
