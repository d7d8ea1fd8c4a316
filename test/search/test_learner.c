/* SPDX-License-Identifier: Apache-2.0 */
/* What the learning solver learns, against all schedules: a clause that one of them breaks is
 * wrong, whether or not it leads to a wrong claim.  The solver is led to many conflicts by
 * literals, and activities, at random; the makespan may be the least one or one more, so there are
 * schedules to break clauses. */
#include "search/learning/learner.h"

#include "search/small_case.h"

#include "kit/context.h"
#include "kit/turn.h"

enum { CASES = 300, ROUNDS = 60, CONFLICTS = 20, MOST_TIME = 5 };

typedef struct learner_judge {
  const search_case *c;
  fs_learner *l;
  unsigned limit, start[MOST_OPS];
  uint64_t schedules, clauses;
  const char *wrong;
} learner_judge;

static bool is_right(const learner_judge *j, fs_literal l) {
  uint32_t var = l.side / 2;
  if (var >= j->l->n) {
    uint32_t order = var - j->l->n;
    uint32_t a = j->l->order_first[order], b = j->l->order_second[order];
    bool first = j->start[a] + j->c->time[a] <= j->start[b];
    return (l.side & 1) == 0 ? l.value <= 0 || first : l.value < 0 || !first;
  }
  fs_side_value at = j->start[var];
  return ((l.side & 1) == 0 ? at : -at) >= l.value;
}

/* All clauses, and what holds at the root, for one schedule. */
static void judge_schedule(learner_judge *j) {
  j->schedules++;
  for (uint32_t side = 0; side < 2 * j->l->n; side++) {
    if (!is_right(j, (fs_literal){side, j->l->value[side]})) {
      j->wrong = "the root";
    }
  }
  for (size_t k = 0; k < j->l->learnt.n; k++) {
    const fs_clause_part *clause = &j->l->clause.at[j->l->learnt.at[k]];
    bool right = false;
    for (uint32_t i = 0; i < clause[FS_CLAUSE_LENGTH].n && !right; i++) {
      right = is_right(j, j->l->literal.at[clause[FS_CLAUSE_HEAD + i].n].l);
    }
    j->clauses++;
    j->wrong = right ? j->wrong : "a clause";
  }
}

/* Does op fit beside those before it? */
static bool fits(const learner_judge *j, uint32_t op) {
  for (unsigned t = j->start[op]; t < j->start[op] + j->c->time[op]; t++) {
    for (unsigned f = 0; f < FIELDS; f++) {
      unsigned sum = 0;
      for (uint32_t i = 0; i <= op; i++) {
        bool runs = j->start[i] <= t && t < j->start[i] + j->c->time[i];
        sum += runs ? j->c->need[i][f] : 0;
      }
      if (sum > j->c->capacity[f]) {
        return false;
      }
    }
  }
  return true;
}

static void judge_all(learner_judge *j, uint32_t op) {
  if (op == j->c->n) {
    if (j->l == NULL) {
      j->wrong = "there is one";
    } else {
      judge_schedule(j);
    }
    return;
  }
  unsigned from = 0;
  for (uint32_t b = 0; b < op; b++) {
    unsigned end = j->start[b] + j->c->time[b];
    from = j->c->after[op][b] && end > from ? end : from;
  }
  for (unsigned t = from; t + j->c->time[op] <= j->limit && j->wrong == NULL; t++) {
    j->start[op] = t;
    if (fits(j, op)) {
      judge_all(j, op + 1);
    }
  }
}

static unsigned least_makespan(const search_case *c) {
  learner_judge j = {.c = c};
  while (j.wrong == NULL) {
    j.limit++;
    judge_all(&j, 0);
  }
  return j.limit;
}

/* Makes some literals, and some of all more active. */
static void stir(fs_learner *l, fs_rng *r, unsigned limit) {
  for (unsigned k = 0; k < 4; k++) {
    fs_literal at = {2 * fs_rng_below(r, l->n), fs_rng_below(r, limit + 1)};
    fs_learner_bump(l, fs_learner_literal(l, at));
    if (l->n_orders > 0) {
      uint32_t side = fs_order_side(l, fs_rng_below(r, l->n_orders));
      fs_learner_bump(l, fs_learner_literal(l, fs_order_literal(side)));
    }
    fs_learner_bump(l, fs_rng_below(r, (uint32_t)l->literal.n));
  }
  for (size_t k = 0; k < l->phase.n; k++) {
    l->phase.at[k] = (uint8_t)fs_rng_below(r, 2);
  }
}

/* What decisions are guided by need not be a schedule. */
static void guide_at_random(fs_learner *l, fs_rng *r, unsigned limit) {
  fs_tick start[MOST_OPS];
  for (uint32_t i = 0; i < l->n; i++) {
    start[i] = fs_rng_below(r, limit + 2);
  }
  fs_learner_guide(l, start);
}

/* Where rules have come to their end the first place of a task, and its last one, have room; where
 * heights are kept.  Returns the number of times of these places. */
static uint64_t check_places(const fs_learner *l) {
  uint64_t n = 0;
  bool full = false;
  for (uint32_t k = 0; k < l->n_tasks; k++) {
    const fs_learner_task *a = &l->task[k];
    const fs_learner_table *t = &l->table[a->table];
    fs_side_value first = fs_earliest(l, a->item), last = fs_latest(l, a->item), from, to;
    if (t->height == NULL || first >= last) {
      continue;
    }
    to = fs_least_value(first + a->length, last);
    from = fs_most_value(first + a->length, last);
    for (fs_side_value at = first; at < last + a->length; at++) {
      if (at < to || at >= from) {
        full = full || t->height[at] + a->amount > t->capacity;
        n++;
      }
    }
  }
  ck_assert(!full);
  return n;
}

static void check_truth(const fs_learner *l) {
  bool wrong = false;
  for (size_t id = 0; id < l->literal.n; id++) {
    wrong = wrong || l->truth.at[id] != fs_holds(l, l->literal.at[id].l);
  }
  ck_assert(!wrong);
}

/* Moves some items at one side, one after the other, by a part of what they can. */
static void decide_some(fs_learner *l, fs_rng *r, uint64_t *places) {
  fs_learner_propagate(l);
  for (uint32_t k = 0; k < 3 * l->n && !l->conflict; k++) {
    uint32_t item = (uint32_t)fs_rng_below(r, l->n);
    if (fs_earliest(l, item) < fs_latest(l, item)) {
      ck_fs(ctx, fs_vec_push(ctx, &l->level, (uint32_t)l->trail.n));
      uint32_t side = 2 * item + (uint32_t)fs_rng_below(r, 2);
      uint32_t most = (uint32_t)(-l->value[side ^ 1] - l->value[side]);
      fs_side_value to = l->value[side] + 1 + fs_rng_below(r, most);
      fs_learner_grow(l, side, to, FS_BY_DECISION, FS_NONE, 0);
      fs_learner_propagate(l);
    }
    if (!l->conflict) {
      *places += check_places(l);
      check_truth(l);
    }
  }
}

static void learn_much(fs_learner *l, fs_rng *r, unsigned limit, uint64_t *places) {
  for (unsigned round = 0; round < ROUNDS; round++) {
    stir(l, r, limit);
    if (round >= ROUNDS / 2) {
      guide_at_random(l, r, limit);
    }
    if (fs_learner_search(l, CONFLICTS, NULL, NULL) == FS_LEARNED_NONE) {
      return; /* the judge says whether there is one */
    }
    fs_learner_reset(l);
    decide_some(l, r, places);
    fs_learner_reset(l);
  }
}

/* What is kept per time is what surely runs then; returns the number of times. */
static uint64_t check_heights(const fs_learner *l) {
  uint64_t n = 0;
  for (uint32_t k = 0; k < l->n_tables; k++) {
    const fs_learner_table *t = &l->table[k];
    for (fs_side_value at = 0; t->height != NULL && at < t->cells; at++, n++) {
      fs_side_value sum = 0;
      for (uint32_t i = t->task0; i < t->task1; i++) {
        const fs_learner_task *a = &l->task[i];
        bool runs = fs_latest(l, a->item) <= at && at < fs_earliest(l, a->item) + a->length;
        sum += runs ? a->amount : 0;
      }
      ck_assert_int_eq(t->height[at], sum);
    }
  }
  return n;
}

/* Where times are many no heights are kept, so every other case does without. */
static void judge_case(uint64_t seed, uint64_t *conflicts, uint64_t *clauses, uint64_t *heights,
                       uint64_t *places) {
  fs_rng r = {seed};
  search_case c = fs_small_case(&r, MOST_OPS, MOST_TIME);
  c.tick = c.unit = 1;
  c.time[0] |= 1; /* so that the unit of time is a tick */
  fsched_graph *g = fs_small_graph(&c);
  fs_problem *p;
  fs_learner l;
  ck_fs(ctx, fs_problem_from_graph(ctx, g, 1000, 0, &p));
  ck_assert_ptr_nonnull(p);
  ck_fs(ctx, fs_learner_init(&l, p, &own_arena));
  l.has_heights = seed % 2 != 0; /* made already */
  learner_judge j = {.c = &c, .l = &l, .limit = least_makespan(&c) + fs_rng_below(&r, 2)};
  bool possible = l.unit == 1 && fs_learner_limit(&l, j.limit);
  if (possible) {
    learn_much(&l, &r, j.limit, places);
    ck_fs(ctx, l.status);
    *heights += check_heights(&l);
    judge_all(&j, 0);
    ck_assert_msg(j.wrong == NULL, "seed %llu: %s is wrong", (unsigned long long)seed, j.wrong);
    *conflicts += l.conflicts;
    *clauses += j.clauses;
  }
  fs_learner_release(&l);
  fs_problem_destroy(p);
  fsched_graph_destroy(g);
}

START_TEST(clauses_hold)
{
  uint64_t conflicts = 0, clauses = 0, heights = 0, places = 0;
  for (uint64_t i = 0; i < CASES; i++) {
    judge_case(fs_turn() << 16 | i, &conflicts, &clauses, &heights, &places);
  }
  fs_assert_seen(conflicts, CASES / 2);
  fs_assert_seen(clauses, 10 * CASES);
  fs_assert_seen(heights, CASES);
  fs_assert_seen(places, CASES / 4);
}
END_TEST

static bool stop_now(void *user) {
  (*(unsigned *)user)++;
  return true;
}

/* A search that meets no conflict is asked, too, whether it has to end. */
START_TEST(stops_between_decisions)
{
  fs_gen_params params = {.seed = 3, .n_ops = 200, .resources = true};
  fsched_graph *g;
  fs_problem *p;
  fs_learner l;
  unsigned asked = 0;
  ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
  ck_fs(ctx, fs_problem_from_graph(ctx, g, 100000, 0, &p));
  ck_fs(ctx, fs_learner_init(&l, p, &own_arena));
  ck_assert(fs_learner_limit(&l, 100000));
  ck_assert_int_eq(fs_learner_search(&l, 1, stop_now, &asked), FS_LEARNED_NOTHING);
  ck_assert_uint_eq(asked, 1);
  ck_assert_uint_eq(l.conflicts, 0);
  ck_assert_int_eq(fs_learner_search(&l, 1000, NULL, NULL), FS_LEARNED_SCHEDULE);
  fs_learner_release(&l);
  fs_problem_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

enum { GUIDED_OPS = 60 };

/* Starts of a short schedule, whose makespan is returned. */
static fs_tick find_short(const fs_problem *p, fs_tick *start) {
  fs_learner l;
  fs_tick makespan = 100000;
  ck_fs(ctx, fs_learner_init(&l, p, &own_arena));
  while (fs_learner_limit(&l, makespan - 1) &&
         fs_learner_search(&l, 300, NULL, NULL) == FS_LEARNED_SCHEDULE) {
    makespan = 0;
    for (uint32_t i = 0; i < p->n_items; i++) {
      start[i] = fs_learner_start(&l, i);
      makespan = fs_max(makespan, start[i] + p->time[i]);
    }
    fs_learner_reset(&l);
  }
  fs_learner_release(&l);
  return makespan;
}

/* The conflicts on the way to a schedule of at most that makespan. */
static uint64_t count_conflicts(const fs_problem *p, fs_tick makespan, const fs_tick *guide) {
  fs_learner l;
  ck_fs(ctx, fs_learner_init(&l, p, &own_arena));
  ck_assert(fs_learner_limit(&l, makespan));
  if (guide != NULL) {
    fs_learner_guide(&l, guide);
  }
  fs_learned found = fs_learner_search(&l, 2000, NULL, NULL);
  ck_assert_int_ne(found, FS_LEARNED_NONE);
  ck_assert(guide == NULL || found == FS_LEARNED_SCHEDULE);
  uint64_t conflicts = l.conflicts;
  fs_learner_release(&l);
  return conflicts;
}

/* A schedule that guides decisions is found again soon. */
START_TEST(follows_its_guide)
{
  uint64_t guided = 0, alone = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    fs_gen_params params = {.seed = seed, .n_ops = GUIDED_OPS, .resources = true};
    fsched_graph *g;
    fs_problem *p;
    fs_tick start[GUIDED_OPS];
    ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
    ck_fs(ctx, fs_problem_from_graph(ctx, g, 100000, 0, &p));
    ck_assert(p->n_items == GUIDED_OPS && fs_learner_knows(p));
    fs_tick makespan = find_short(p, start);
    guided += count_conflicts(p, makespan, start);
    alone += count_conflicts(p, makespan, NULL);
    fs_problem_destroy(p);
    fsched_graph_destroy(g);
  }
  ck_assert_uint_gt(alone, 100);
  ck_assert_msg(guided < alone / 2, "%llu conflicts, without a guide %llu",
                (unsigned long long)guided, (unsigned long long)alone);
}
END_TEST

FS_SUITE(learner, s) {
  TCase *t = fs_case(s, fs_test_arena);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, clauses_hold, stops_between_decisions, follows_its_guide);
}
