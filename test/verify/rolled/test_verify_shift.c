/* SPDX-License-Identifier: Apache-2.0 */
/* The proof that what nests read was written: what it shows is so when they are unrolled, and it
 * shows most of what is so. */
#include <string.h>

#include "kit/turn.h"
#include "verify/rolled/nest_draw.h"
#include "verify/rolled/written_judge.h"
#include "verify/stream/loops/shift.h"

#include "kit/context.h"

typedef struct shift_tally {
  uint32_t right, shown, wrong;
} shift_tally;

static bool is_shown(const fs_nest_draw *n) {
  uint64_t steps;
  bool shown;
  ck_fs(ctx, fs_vnest_prove(ctx, &n->s, 0, 0, &steps, &shown));
  ck_assert_uint_le(steps, FS_VNEST_STEPS + FSCHED_MAX_LOOPS);
  return shown;
}

/* Whether it reads nothing with some values of the parameters. */
static bool reads_nothing(const fs_nest_draw *n) {
  bool missing = false;
  for (uint64_t a = n->least[0]; a <= n->most[0] && !missing; a++) {
    for (uint64_t b = n->least[1]; b <= n->most[1] && !missing; b++) {
      uint64_t trips[FS_NEST_LOOPS];
      for (uint32_t l = 0; l < n->s.n_loops; l++) {
        uint32_t param = n->loop[l].param;
        trips[l] = param == FS_NONE ? n->loop[l].trip : param == 1 ? a : b;
      }
      missing = fs_nest_reads_nothing(&n->s, 0, 0, trips);
    }
  }
  return missing;
}

static void judge(uint64_t seed, const fs_nest_draw *n, shift_tally *tally) {
  bool shown = is_shown(n), missing = reads_nothing(n);
  if (shown && missing) {
    fs_text t;
    fs_text_init(&t, ctx);
    fs_nest_draw_print(n, &t);
    fs_text_add(&t, "", 1);
    ck_abort_msg("seed %llu is shown\n%s", (unsigned long long)seed, t.at);
  }
  tally->right += !missing;
  tally->shown += shown;
  tally->wrong += missing;
}

/* Random nests, and changes of each. */
static shift_tally judge_all(const fs_nest_style *style, uint64_t first, uint32_t n_nests) {
  static fs_nest_draw n;
  shift_tally tally = {0};
  for (uint64_t seed = first; seed < first + n_nests; seed++) {
    fs_rng rng = {seed + 1};
    fs_nest_draw_random(seed, style, &n);
    ck_assert(fs_nest_draw_fits(&n));
    judge(seed, &n, &tally);
    for (uint32_t k = 0; k < 4; k++) {
      fs_nest_draw changed = n; /* its view is of the other one */
      fs_nest_draw_change(&n, &rng);
      if (fs_nest_draw_fits(&n)) {
        judge(seed, &n, &tally);
      }
      n = changed;
    }
  }
  return tally;
}

static void must_show_most(const shift_tally *n, uint32_t n_nests) {
  fs_assert_seen(n->right, n_nests / 2);
  fs_assert_seen(n->wrong, n_nests / 2);
  fs_assert_seen(n->shown + 8, n->right - n->right / 10); /* small samples vary */
}

/* With and without rings; the same below. */
START_TEST(as_unrolled)
{
  enum { NESTS = 600 };
  static const uint32_t trips[] = {1, 2, 3, 4, 6, 9, 14, 25};
  fs_nest_style style = {trips, 8, 800, false, _i % 2 == 1};
  shift_tally n = judge_all(&style, (fs_turn() * 2 + (uint64_t)_i) * NESTS, NESTS);
  must_show_most(&n, NESTS);
}
END_TEST

START_TEST(with_parameters)
{
  enum { NESTS = 300 };
  static const uint32_t trips[] = {1, 2, 3, 4, 6, 9};
  fs_nest_style style = {trips, 6, 100, true, _i % 2 == 1};
  shift_tally n = judge_all(&style, (fs_turn() * 2 + (uint64_t)_i) * NESTS, NESTS);
  must_show_most(&n, NESTS);
}
END_TEST

START_TEST(of_many_iterations)
{
  enum { NESTS = 100 };
  static const uint32_t trips[] = {2, 5, 40, 200, 500};
  fs_nest_style style = {trips, 5, 5000, false, _i % 2 == 1};
  shift_tally n = judge_all(&style, (fs_turn() * 2 + (uint64_t)_i) * NESTS, NESTS);
  must_show_most(&n, NESTS);
}
END_TEST

/* --- known nests --- */

typedef struct known_nest {
  uint64_t trip[2 + 2];      /* of two loops around, of one that writes, and of one that reads */
  int64_t write[5], read[5]; /* offset, length, and steps */
  int64_t off;               /* by so much more it reads what is not written */
  int64_t there[4];          /* two ranges that the loops find: offset and length */
  bool param[4];             /* of the loops */
  uint64_t least;            /* of these */
} known_nest;

static void make_known(const known_nest *k, fs_nest_draw *n) {
  *n = (fs_nest_draw){.buffer = {.size = UINT64_C(1) << 48}};
  n->s = (fs_stream){.loops = n->loop,
                     .n_loops = 4,
                     .loop_ops = n->loop_op,
                     .n_loop_ops = 5,
                     .loop_args = n->loop_arg,
                     .n_loop_args = 7,
                     .ops = &n->op,
                     .n_ops = 1,
                     .args = n->arg,
                     .n_args = 3,
                     .buffers = &n->buffer,
                     .n_buffers = 1};
  n->op = (fs_stream_op){.n_args = 3};
  n->arg[0] = (fs_stream_arg){.tag = FSCHED_OUT_EXISTING, .length = n->buffer.size};
  for (uint32_t i = 0; i < 2; i++) {
    n->arg[1 + i] = (fs_stream_arg){.tag = FSCHED_IN,
                                    .offset = (uint64_t)k->there[2 * i],
                                    .length = (uint64_t)k->there[2 * i + 1]};
  }
  for (uint32_t i = 0; i < 4; i++) {
    n->loop[i] = (fs_stream_loop){.trip = k->trip[i],
                                  .least = k->param[i] ? k->least : k->trip[i],
                                  .most = k->trip[i],
                                  .param = k->param[i] ? 1 : FS_NONE,
                                  .within = i == 0   ? FS_NONE
                                            : i == 1 ? 0
                                                     : 1,
                                  .op = i == 0 ? 0 : i - 1,
                                  .op0 = i == 0   ? 0
                                         : i == 1 ? 1
                                                  : i + 1,
                                  .n_ops = i == 1 ? 2 : 1};
  }
  /* ops: 0 is loop 1, 1 and 2 are loops 2 and 3, 3 and 4 are those in them */
  for (uint32_t op = 0; op < 5; op++) {
    n->loop_op[op] = (fs_stream_loop_op){
        .loop = op < 3 ? op + 1 : FS_NONE, .arg0 = op == 0 ? 0 : op + 1, .n_args = op == 0 ? 2 : 1};
  }
  for (uint32_t i = 0; i < 6; i++) { /* of op 0: two; of op 1 + i: 2 + i */
    const int64_t *of = i % 2 == 0 ? k->write : k->read;
    n->loop_arg[i] = (fs_stream_loop_arg){.offset = (uint64_t)of[0],
                                          .length = (uint64_t)of[1],
                                          .step = of[i < 2   ? 2
                                                     : i < 4 ? 3
                                                             : 4],
                                          .tag = i % 2 == 0 ? FSCHED_OUT_EXISTING : FSCHED_IN,
                                          .ring = FS_NONE,
                                          .own = i < 2 ? 0 : i - 2};
  }
}

static bool proves(const known_nest *k, uint64_t *steps) {
  static fs_nest_draw n;
  bool shown;
  make_known(k, &n);
  ck_fs(ctx, fs_vnest_prove(ctx, &n.s, 0, 0, steps, &shown));
  return shown;
}

/* One loop writes between gaps, and the other reads it. */
START_TEST(large_nests)
{
  enum { MANY = 1 << 20 };
  static const known_nest right[] = {
      {{1000, 1000, 10, 10}, {0, 4, 80000, 80, 8}, {0, 4, 80000, 80, 8}, .off = 4},
      {{1000, 1000, 10, 10}, {72, 4, 80000, 80, -8}, {0, 4, 80000, 80, 8}, .off = 4},
      {{1000, 1000, 10, 10},
       {1 << 30, 4, -80000, -80, -8},
       {1 << 30, 4, -80000, -80, -8},
       .off = 1},
      {{MANY, MANY, MANY, MANY}, {0, 4, 0, 0, 8}, {0, 4, 0, 0, 8}, .off = 1},
      {{MANY, MANY, MANY, MANY}, {8 * (MANY - 1), 4, 16, 0, -8}, {0, 4, 16, 0, 8}, .off = 4},
      {{MANY, MANY, MANY, MANY / 2}, {0, 12, 64, 32, 16}, {4, 4, 64, 32, 32}, .off = 8},
      {{MANY, MANY, MANY / 8, MANY}, {0, 64, 8, 0, 64}, {0, 8, 8, 0, 8}, .off = 1},
      {{MANY, MANY, MANY, MANY / 8}, {0, 8, 8, 0, 8}, {0, 64, 8, 0, 64}, .off = 1},
      {{MANY, MANY, 1, MANY}, {0, 8 * MANY, 8, 8, 0}, {0, 8, 8, 8, 8}, .off = 1},
  };
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    known_nest more = right[i], wrong = right[i];
    uint64_t steps, steps_of_more;
    wrong.read[0] += wrong.off;
    more.trip[0] *= 100;
    more.trip[1] *= 10;
    ck_assert_msg(proves(&right[i], &steps), "nest %zu", i);
    ck_assert_msg(proves(&more, &steps_of_more), "nest %zu, with more trips", i);
    ck_assert_uint_eq(steps, steps_of_more);
    ck_assert_uint_lt(steps, 1000);
    ck_assert_msg(!proves(&wrong, &steps), "nest %zu is off", i);
  }
}
END_TEST

/* What holds in the iterations that are looked at, and not in all for which they stand. */
START_TEST(shifts_too_far)
{
  static const known_nest wrong[] = {
      /* what reads is quicker than what writes, so (0, 2) reads what (0, 3) writes */
      {{1, 4, 1, 1}, {8, 8, 0, 8, 0}, {0, 8, 0, 16, 0}, .there = {0, 8, 48, 8}},
      /* what reads moves with another loop, so (0, 2) reads what (1, 0) writes */
      {{2, 4, 1, 1}, {16, 8, 8, 0, 0}, {8, 8, 0, 8, 0}, .there = {8, 8, 32, 8}},
  };
  static const known_nest few[] = {
      /* iteration 2 reads what iteration 3 of the other loop writes, if it has that */
      {{1, 1, 4, 4},
       {8, 8, 0, 0, 8},
       {0, 8, 0, 0, 16},
       .there = {0, 8, 48, 8},
       .param = {false, false, true, true}},
      /* so does (2, 0) with iteration 1 */
      {{1, 4, 4, 4},
       {8, 8, 0, 0, 8},
       {0, 8, 0, 8, 0},
       .there = {0, 8, 24, 8},
       .param = {false, false, true, true}},
      /* and so iteration 2 with iteration 2, of which there are but two for sure */
      {{1, 1, 4, 4},
       {0, 8, 0, 0, 8},
       {0, 8, 0, 0, 8},
       .there = {24, 8},
       .param = {false, false, true, false},
       .least = 2},
  };
  uint64_t steps;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ck_assert_msg(!proves(&wrong[i], &steps), "nest %zu is shown", i);
  }
  for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
    known_nest most = few[i];
    memset(most.param, 0, sizeof most.param);
    ck_assert_msg(proves(&most, &steps), "nest %zu of most trips", i);
    ck_assert_msg(!proves(&few[i], &steps), "nest %zu is shown of few trips", i);
  }
}
END_TEST

FS_SUITE(verify_shift, s) {
  TCase *t = fs_case(s, fs_test_silent);
  FS_LOOPS(t, 0, 2, as_unrolled, with_parameters, of_many_iterations);
  FS_TESTS(t, large_nests, shifts_too_far);
}
