/* SPDX-License-Identifier: Apache-2.0 */
/* The time-indexed model with a solver: on random tiny problems the makespan is that of an
 * exhaustive search, what is found solves the problem, and where there is no solution the answer
 * says so.  The tests are skipped, with a message, where there is no fsched-glpk. */
#include <unistd.h>

#include "ilp/solver/solver.h"
#include "ilp/time/ilp_time_kit.h"

#include "kit/context.h"

enum { PROBLEMS = 60 };

/* Finds fsched-glpk in the folder above this program's. */
static bool helper(char *path, size_t size) {
  ssize_t n = readlink("/proc/self/exe", path, size - 32);
  for (int up = 0; up < 2 && n > 0; up++) {
    do {
      n--;
    } while (n > 0 && path[n] != '/');
  }
  if (n >= 0) {
    (void)snprintf(path + n, 32, "/fsched-glpk");
  }
  return n >= 0 && access(path, X_OK) == 0;
}

/* Makes items on queues of two classes, with an amount, and residencies. */
static void random_problem(tiny *k, fsched_context *own, fs_rng *rng, bool scratch) {
  uint32_t n = 2 + fs_rng_below(rng, 3);
  tiny_begin(k, own, n, 3 + fs_rng_below(rng, 3));
  k->p.n_amounts = 1;
  k->capacity[0] = 3;
  k->p.n_classes = 2;
  k->class_size[0] = 1 + fs_rng_below(rng, 2);
  k->class_size[1] = 1;
  for (uint32_t i = 0; i < n; i++) {
    k->time[i] = fs_rng_below(rng, 4);
    k->demand[i][0] = fs_rng_below(rng, 3);
    uint32_t c = fs_rng_below(rng, 2);
    k->may[i][c] = true;
    k->may[i][!c] = fs_rng_one_in(rng, 4);
    k->gang[i] = fs_rng_one_in(rng, 8);
    for (uint32_t j = i + 1; j < n; j++) {
      k->edge[i][j] = fs_rng_one_in(rng, 4);
    }
  }
  for (uint32_t r = 0; r < 2 + (uint32_t)scratch && r < n; r++) {
    uint32_t begin = scratch ? r : fs_rng_below(rng, n), ends = 1u << begin;
    for (uint32_t i = begin + 1; i < n && !scratch; i++) {
      bool reads = fs_rng_one_in(rng, 2);
      ends |= reads ? 1u << i : 0;
      k->edge[begin][i] = k->edge[begin][i] || reads;
    }
    k->res_op[r] = begin;
    tiny_residency(k, 1 + fs_rng_below(rng, 3), begin, ends);
  }
  tiny_finish(k);
}

static bool queues_somehow(const tiny *k, const fs_tick *start) {
  fs_tick pick[TINY_ITEMS] = {0};
  do {
    uint32_t choice[TINY_ITEMS];
    bool legal = true;
    for (uint32_t i = 0; i < k->p.n_items; i++) {
      choice[i] = (uint32_t)pick[i];
      legal = legal && (k->gang[i] || k->may[i][pick[i]]);
    }
    if (legal && tiny_queues(k, start, choice)) {
      return true;
    }
  } while (tiny_next(pick, k->p.n_items, 1));
  return false;
}

static bool places_somehow(const tiny *k, const fs_tick *start) {
  fs_tick step[TINY_RESIDENCIES] = {0};
  do {
    uint64_t address[TINY_RESIDENCIES] = {0};
    for (uint32_t r = 0; r < k->p.n_residencies; r++) {
      address[r] = step[r];
    }
    if (tiny_places(k, start, address)) {
      return true;
    }
  } while (tiny_next(step, k->p.n_residencies, k->memory.capacity - 1));
  return false;
}

static bool solves(const tiny *k, const fs_tick *start) {
  bool counted = k->memory.placement == FSCHED_COUNTED;
  return tiny_orders(k, start) && tiny_amounts(k, start) &&
         (counted ? tiny_memory_sum(k, start) : places_somehow(k, start)) &&
         queues_somehow(k, start);
}

/* Returns FS_TICK_NONE when there is no solution. */
static fs_tick exhaustive(const tiny *k) {
  fs_tick start[TINY_ITEMS] = {0}, best = FS_TICK_NONE;
  do {
    fs_tick makespan = tiny_makespan(k, start);
    if (makespan < best && solves(k, start)) {
      best = makespan;
    }
  } while (tiny_next(start, k->p.n_items, k->p.horizon));
  return best;
}

static void check_answer(tiny *k, const fs_time_model *t, const int64_t *value, fs_tick best) {
  fs_answer *a;
  ck_fs(k->p.ctx, fs_time_model_answer(t, &k->p, value, &a));
  ck_assert_uint_eq(a->makespan, best);
  ck_assert(solves(k, a->start));
  ck_assert(tiny_queues(k, a->start, a->choice));
  ck_assert(a->address == NULL || k->memory.placement == FSCHED_COUNTED ||
            tiny_places(k, a->start, a->address));
  /* The answer leads back to a point, which has no choice of its own. */
  int64_t again[TINY_POINTS];
  bool fits;
  ck_fs(k->p.ctx, fs_time_model_point(t, a, again, &fits));
  ck_assert(fits);
  ck_assert_int_eq(fs_model_objective(fs_time_model_of(t), again), (int64_t)best);
}

static void compare(tiny *k, const fs_time_options *o, const char *command, uint64_t seed) {
  fs_tick best = exhaustive(k);
  fs_time_model *t;
  ck_fs(k->p.ctx, fs_time_model_build(&k->p, o, &t));
  const fs_model *m = fs_time_model_of(t);
  ck_assert_uint_lt(m->var.n, TINY_POINTS);
  if (m->contradiction) {
    ck_assert_msg(best == FS_TICK_NONE, "seed %d", (int)seed);
  } else {
    int64_t value[TINY_POINTS];
    fs_solver_result result;
    fs_solver_options so = {.command = command};
    ck_fs(k->p.ctx, fs_solver_run(k->p.ctx, m, &so, false, value, &result));
    ck_assert_msg(
        result.status == (best == FS_TICK_NONE ? FS_SOLVER_INFEASIBLE : FS_SOLVER_OPTIMAL),
        "seed %d: status %d, %s", (int)seed, (int)result.status, result.reason);
    if (best != FS_TICK_NONE) {
      ck_assert_msg(result.objective == (int64_t)best, "seed %d: %d, not %d", (int)seed,
                    (int)result.objective, (int)best);
      check_answer(k, t, value, best);
    }
  }
  fs_time_model_destroy(t);
}

/* Memory is modelled by amounts, positions, or pairs. */
START_TEST(test_optimal)
{
  char command[400];
  if (!helper(command, sizeof command)) {
    fprintf(stderr, "ilp_time_solver: skipped, no fsched-glpk\n");
    return;
  }
  for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
    fs_rng rng = {seed};
    tiny k;
    fs_time_options o = {.places = (fs_time_places)_i, .disaggregated = seed & 1};
    random_problem(&k, ctx, &rng, o.places == FS_TIME_POSITIONS);
    k.memory.placement = o.places == FS_TIME_AMOUNTS ? FSCHED_COUNTED : FSCHED_CONTIGUOUS;
    compare(&k, &o, command, seed);
    tiny_end(&k);
  }
}
END_TEST

FS_SUITE(ilp_time_solver, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 300);
  FS_LOOPS(t, FS_TIME_AMOUNTS, FS_TIME_PAIRS + 1, test_optimal);
}
