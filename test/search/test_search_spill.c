/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that the learner chooses: on tiny graphs the least makespan, which a search through all
 * states of the memory finds too; on others what the integer programs prove, and a schedule that
 * the verifier accepts. */
#include "ilp/spill_search.h"
#include "kit/fail_each.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "model/handle.h"
#include "search/spill/spill.h"
#include "search/tiny_spills.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

typedef struct least_found {
  bool known, proven;
  fs_tick least;
  uint64_t conflicts, refused;
} least_found;

/* Searches from a horizon down to the proof that nothing is shorter. */
static least_found solve(const fsched_graph *g, fs_tick horizon, uint64_t conflicts) {
  fs_arena own;
  fs_problem *p;
  fs_spills s = {0};
  least_found out = {.least = horizon + 1};
  fs_arena_init(&own, ctx);
  ck_fs(ctx, fs_problem_spilling(ctx, g, horizon, 0, &p));
  out.known = p != NULL && fs_spills_know(p);
  if (out.known) {
    ck_fs(ctx, fs_spills_init(&s, p, &own));
    while (!out.proven && s.l.conflicts < conflicts) {
      fs_spill_turn turn = {
          .conflicts = conflicts - s.l.conflicts, .work = UINT64_MAX, .best = out.least};
      ck_fs(ctx, fs_spills_run(&s, &turn));
      out.proven = turn.none;
      if (turn.found != NULL) {
        ck_assert_uint_lt(turn.found->makespan, out.least);
        ck_fs(ctx, fs_verify_schedule(ctx, g, turn.found, NULL));
        out.least = turn.found->makespan;
        fs_schedule_destroy(turn.found);
      }
    }
    out.conflicts = s.l.conflicts;
    out.refused = s.refused;
  }
  fs_spills_release(&s);
  fs_problem_destroy(p);
  fs_arena_release(&own);
  return out;
}

START_TEST(as_all_states)
{
  static tiny_script script;
  uint32_t known = 0, refused = 0;
  for (uint64_t i = 0; i < 100; i++) {
    uint64_t seed = fs_turn() << 16 | i;
    uint32_t states;
    fsched_graph *g = fs_tiny_graph(&script, seed);
    fs_tick least = g == NULL ? FS_TICK_NONE : fs_spill_search(g, &states);
    if (least != FS_TICK_NONE) {
      least_found s = solve(g, 4 * least, 100000);
      ck_assert_msg(!s.known || (s.proven && s.least == least),
                    "seed %llu: %llu, but %llu is least, after %llu conflicts\n%s",
                    (unsigned long long)seed, (unsigned long long)s.least,
                    (unsigned long long)least, (unsigned long long)s.conflicts, script.text);
      known += s.known;
      refused += s.refused > 0;
    }
    fsched_graph_destroy(g);
  }
  fs_assert_seen(known, 40);
  fs_assert_seen(refused, 1);
}
END_TEST

FS_SUITE(search_spill, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, as_all_states);
}
