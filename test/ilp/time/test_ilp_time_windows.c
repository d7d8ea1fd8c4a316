/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of a schedule in the time-indexed model, with items that are fixed, items that are free,
 * and items that move together.  Random tiny problems that have a solution are made, and all other
 * starts in these roles tried; the model accepts each exactly when it solves the problem. */
#include "ilp/time/ilp_time_kit.h"

#include "kit/context.h"

/* --- windows: what is fixed, what is free, what moves as one --- */

static bool solves(const tiny *k, const fs_tick *start, const uint64_t *address) {
  static const uint32_t zero[TINY_ITEMS] = {0};
  return tiny_orders(k, start) && tiny_amounts(k, start) && tiny_queues(k, start, zero) &&
         tiny_places(k, start, address);
}

static bool random_solution(tiny *k, fsched_context *own, fs_rng *rng, fs_tick *start,
                            uint64_t *address) {
  tiny_random_places(k, own, rng);
  k->p.horizon = 6;
  k->p.n_amounts = 1;
  k->capacity[0] = 2;
  k->p.n_classes = 1;
  k->class_size[0] = 2;
  for (uint32_t i = 0; i < k->p.n_items; i++) {
    k->demand[i][0] = fs_rng_below(rng, 3);
    k->may[i][0] = true;
  }
  memset(k->head, 0, sizeof k->head);
  memset(k->tail, 0, sizeof k->tail);
  memset(k->pred0, 0, sizeof k->pred0);
  memset(k->succ0, 0, sizeof k->succ0);
  tiny_finish(k);
  for (int attempt = 0; attempt < 2000; attempt++) {
    for (uint32_t i = 0; i < k->p.n_items; i++) {
      start[i] = fs_rng_below(rng, 6);
    }
    if (tiny_orders(k, start) && tiny_pack(k, start, address) && solves(k, start, address)) {
      return true;
    }
  }
  return false;
}

/* An item is fixed at its start, free, or moves to the left as far as the others of its kind. */
typedef struct roles {
  fs_tick rigid[TINY_ITEMS];
  fs_tick shift; /* the largest shift */
  bool any;
} roles;

static void random_roles(tiny *k, fs_rng *rng, const fs_tick *given, roles *r) {
  fs_tick cut = fs_rng_below(rng, 4), later = cut + fs_rng_below(rng, 3);
  *r = (roles){.shift = fs_rng_below(rng, 4)};
  for (uint32_t i = 0; i < k->p.n_items; i++) {
    k->fixed[i] = given[i] < cut ? given[i] : FS_TICK_NONE;
    r->rigid[i] = given[i] >= later && given[i] >= cut ? given[i] : FS_TICK_NONE;
    r->any = r->any || r->rigid[i] != FS_TICK_NONE;
  }
  k->p.fixed = k->fixed;
}

/* Do the starts suit the roles? *shift says by how much the items moved that move together. */
static bool in_roles(const tiny *k, const roles *r, const fs_tick *start, fs_tick *shift) {
  bool known = false;
  *shift = 0;
  for (uint32_t i = 0; i < k->p.n_items; i++) {
    if (k->fixed[i] != FS_TICK_NONE && start[i] != k->fixed[i]) {
      return false;
    }
    if (r->rigid[i] != FS_TICK_NONE) {
      if (start[i] > r->rigid[i] || (known && r->rigid[i] - start[i] != *shift)) {
        return false;
      }
      *shift = r->rigid[i] - start[i];
      known = true;
    }
  }
  return *shift <= r->shift;
}

/* What the model makes of these starts, by a point that comes from an answer. */
static bool takes(tiny *k, const fs_time_model *t, fs_tick *start, uint64_t *address,
                  fs_tick makespan, int64_t *objective) {
  const fs_model *m = fs_time_model_of(t);
  uint32_t choice[TINY_ITEMS] = {0};
  int64_t value[TINY_POINTS];
  bool fits;
  fs_answer a = {.start = start, .choice = choice, .address = address, .makespan = makespan};
  ck_fs(k->p.ctx, fs_time_model_point(t, &a, value, &fits));
  *objective = fits ? fs_model_objective(m, value) : 0;
  return fits && tiny_says(k, t, value, start);
}

static fs_tick roles_makespan(const tiny *k, const roles *r, const fs_tick *given, fs_tick shift) {
  fs_tick end = 0;
  for (uint32_t i = 0; i < k->p.n_items; i++) {
    bool counts = r->rigid[i] != FS_TICK_NONE || k->fixed[i] != FS_TICK_NONE;
    end = counts ? fs_max(end, given[i] + k->time[i]) : end;
  }
  return end - fs_min(end, shift);
}

START_TEST(test_windows)
{
  uint32_t taken = 0, moved = 0;
  for (uint64_t seed = 0; seed < 600; seed++) {
    fs_rng rng = {seed};
    tiny k;
    fs_tick given[TINY_ITEMS], start[TINY_ITEMS] = {0};
    uint64_t address[TINY_RESIDENCIES];
    if (random_solution(&k, ctx, &rng, given, address)) {
      roles r;
      random_roles(&k, &rng, given, &r);
      fs_time_options o = {.places = FS_TIME_GIVEN,
                           .address = address,
                           .disaggregated = seed & 1,
                           .rigid = r.any ? r.rigid : NULL,
                           .max_shift = r.shift};
      fs_time_model *t = tiny_build(&k, &o);
      do {
        fs_tick shift, makespan = tiny_makespan(&k, start);
        bool wanted = in_roles(&k, &r, start, &shift) && solves(&k, start, address);
        /* Items that are free end before those that move together. */
        wanted = wanted && (!r.any || makespan <= roles_makespan(&k, &r, given, shift));
        makespan = r.any && wanted ? roles_makespan(&k, &r, given, shift) : makespan;
        int64_t objective;
        bool got = takes(&k, t, start, address, makespan, &objective);
        if (wanted != got || (got && objective != (int64_t)makespan)) {
          tiny_complain(&k, seed, start, wanted, got);
        }
        taken += got;
        moved += got && shift > 0;
      } while (tiny_next(start, k.p.n_items, 6));
      fs_time_model_destroy(t);
    }
    tiny_end(&k);
  }
  ck_assert_uint_gt(taken, 1000);
  ck_assert_uint_gt(moved, 100);
}
END_TEST

/* There are queues of two classes; those of items that are fixed or move together are known, or
 * open. */
static void compare_classes(tiny *k, uint64_t seed, const fs_tick *given, const uint32_t *chosen,
                            const roles *r, bool known) {
  fs_time_options o = {
      .rigid = r->any ? r->rigid : NULL, .max_shift = r->shift, .choice = known ? chosen : NULL};
  fs_time_model *t = tiny_build(k, &o);
  fs_tick start[TINY_ITEMS] = {0};
  do {
    fs_tick shift, pick[TINY_ITEMS] = {0}, makespan = tiny_makespan(k, start);
    bool ordered = tiny_orders(k, start) && in_roles(k, r, start, &shift) &&
                   (!r->any || makespan <= roles_makespan(k, r, given, shift));
    makespan = r->any && ordered ? roles_makespan(k, r, given, shift) : makespan;
    do {
      uint32_t choice[TINY_ITEMS];
      bool legal = true, same = true;
      for (uint32_t i = 0; i < k->p.n_items; i++) {
        choice[i] = (uint32_t)pick[i];
        legal = legal && k->may[i][pick[i]];
        bool still = k->fixed[i] != FS_TICK_NONE || r->rigid[i] != FS_TICK_NONE;
        same = same && (!known || !still || choice[i] == chosen[i]);
      }
      if (!legal || !same) {
        continue;
      }
      int64_t value[TINY_POINTS];
      bool fits, wanted = ordered && tiny_queues(k, start, choice);
      fs_answer a = {.start = start, .choice = choice, .makespan = makespan}, *back;
      ck_fs(k->p.ctx, fs_time_model_point(t, &a, value, &fits));
      if (fits && k->p.n_items > 0) {
        fs_arena_mark mark = fs_arena_set_mark(&k->p.arena);
        ck_fs(k->p.ctx, fs_time_model_answer(t, &k->p, value, &back));
        fits = memcmp(back->start, start, k->p.n_items * sizeof *start) == 0 &&
               memcmp(back->choice, choice, k->p.n_items * sizeof *choice) == 0;
        fs_arena_reset(&k->p.arena, mark);
      }
      if (wanted != fits) {
        tiny_complain(k, seed, start, wanted, fits);
      }
    } while (tiny_next(pick, k->p.n_items, 1));
  } while (tiny_next(start, k->p.n_items, k->p.horizon));
  fs_time_model_destroy(t);
}

START_TEST(test_windows_of_classes)
{
  uint32_t compared = 0;
  for (uint64_t seed = 0; seed < 60; seed++) {
    fs_rng rng = {seed};
    tiny k;
    tiny_begin(&k, ctx, 3 + fs_rng_below(&rng, 2), 4);
    k.p.n_classes = 2;
    k.class_size[0] = 1 + fs_rng_below(&rng, 2);
    k.class_size[1] = 1;
    for (uint32_t i = 0; i < k.p.n_items; i++) {
      k.time[i] = fs_rng_below(&rng, 3);
      uint32_t c = fs_rng_below(&rng, 2);
      k.may[i][c] = true;
      k.may[i][!c] = fs_rng_one_in(&rng, 2);
    }
    tiny_random_edges(&k, &rng, 5);
    tiny_finish(&k);
    memset(k.head, 0, sizeof k.head);
    memset(k.tail, 0, sizeof k.tail);
    for (int attempt = 0; attempt < 200; attempt++) {
      fs_tick given[TINY_ITEMS];
      uint32_t chosen[TINY_ITEMS];
      bool legal = true;
      for (uint32_t i = 0; i < k.p.n_items; i++) {
        given[i] = fs_rng_below(&rng, 4);
        chosen[i] = fs_rng_below(&rng, 2);
        legal = legal && k.may[i][chosen[i]];
      }
      if (legal && tiny_orders(&k, given) && tiny_queues(&k, given, chosen)) {
        roles r;
        random_roles(&k, &rng, given, &r);
        compare_classes(&k, seed, given, chosen, &r, seed & 1);
        compared++;
        break;
      }
    }
    tiny_end(&k);
  }
  ck_assert_uint_gt(compared, 30);
}
END_TEST

/* A tail longer than the path behind an item separates its end from the makespan, unless something
 * is tied to the item's time: then tails are relative to the horizon. */
START_TEST(test_tails)
{
  for (int tied = 0; tied < 2; tied++) {
    tiny k;
    tiny_begin(&k, ctx, 2, 6);
    k.tail[0] = 2;
    k.p.fixed = tied ? k.fixed : NULL;
    tiny_finish(&k);
    fs_time_options o = {0};
    fs_time_model *t = tiny_build(&k, &o);
    int64_t objective;
    fs_tick start[] = {1, 0};
    for (fs_tick sink = 0; sink <= 6; sink++) {
      ck_assert_int_eq(takes(&k, t, start, NULL, sink, &objective), sink >= (tied ? 2 : 4));
    }
    ck_assert(!takes(&k, t, (fs_tick[]){4, 0}, NULL, 6, &objective)); /* windows hold for both */
    fs_time_model_destroy(t);
    tiny_end(&k);
  }
}
END_TEST

/* The window lies within a long chain, and the model is only as large as the window. */
START_TEST(test_window_of_a_large_problem)
{
  enum { N = 4000, FROM = 2000, WIDTH = 6 };
  tiny k;
  tiny_begin(&k, ctx, 1, 2 * N);
  tiny_finish(&k);
  fs_arena *arena = &k.p.arena;
  fs_problem *p = &k.p;
  fs_tick *rigid;
  p->n_items = N;
  p->n_edges = N - 1;
  ck_fs(ctx, fs_new(arena, &p->time, N));
  ck_fs(ctx, fs_new_zero(arena, &p->head, N));
  ck_fs(ctx, fs_new_zero(arena, &p->tail, N));
  ck_fs(ctx, fs_new(arena, &p->fixed, N));
  ck_fs(ctx, fs_new(arena, &rigid, N));
  ck_fs(ctx, fs_new(arena, &p->topo, N));
  ck_fs(ctx, fs_new(arena, &p->pred0, N + 1));
  ck_fs(ctx, fs_new(arena, &p->pred, N));
  ck_fs(ctx, fs_new(arena, &p->succ0, N + 1));
  ck_fs(ctx, fs_new(arena, &p->succ, N));
  ck_fs(ctx, fs_new_zero(arena, &p->use0, N + 1));
  ck_fs(ctx, fs_new_zero(arena, &p->choice0, N + 1));
  ck_fs(ctx, fs_new_zero(arena, &p->gang, N));
  ck_fs(ctx, fs_new(arena, &k.g.op_name, N));
  k.g.n_ops = N;
  for (uint32_t i = 0; i < N; i++) { /* each starts one tick later than it has to */
    k.g.op_name[i] = "op";
    p->time[i] = 1;
    p->topo[i] = i;
    p->pred0[i] = i == 0 ? 0 : i - 1;
    p->pred[i] = i;
    p->succ0[i] = i;
    p->succ[i] = i + 1;
    p->fixed[i] = i < FROM ? 2 * (fs_tick)i : FS_TICK_NONE;
    rigid[i] = i >= FROM + WIDTH ? 2 * (fs_tick)i : FS_TICK_NONE;
  }
  p->pred0[N] = p->succ0[N] = N - 1;
  p->succ0[N - 1] = N - 1;
  fs_time_options o = {.rigid = rigid, .max_shift = 20};
  fs_time_model *t = tiny_build(&k, &o);
  const fs_model *m = fs_time_model_of(t);
  ck_assert_uint_lt(m->var.n, 100);
  ck_assert_uint_lt(m->row.n, 20);
  fs_time_model_destroy(t);
  tiny_end(&k);
}
END_TEST

FS_SUITE(ilp_time_windows, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, test_windows, test_windows_of_classes, test_tails, test_window_of_a_large_problem);
}
