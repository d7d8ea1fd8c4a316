/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers in problems where the least number is known: it is found, it is used when it is given,
 * and nothing is refused that is possible, as trying all programs shows.
 *
 * Of n items that start at one time, each with one that waits for it, no two barriers follow each
 * other; between blocks of such pairs one item waits for all, and all items of the next block wait
 * for it:
 *
 *     all wait for z     p1 -> c1 \
 *                    z ->  ...     -> z'      n barriers of pairs, that of z, and that of all c
 *                       pn -> cn /
 *
 * FSCHED_KNOWN=N in the environment asks for N instances of each kind. */
#include <stdlib.h>

#include "barrier/barrier_machine.h"

#include "kit/context.h"

enum { ITEMS = 5, PAIRS = 24, BLOCKS = 8 };

static uint64_t wanted(uint64_t usual) {
  const char *text = getenv("FSCHED_KNOWN");
  uint64_t n = text == NULL ? 0 : strtoull(text, NULL, 10);
  return n == 0 ? usual : n;
}

static void expect_fine(const fs_bm *m, const fs_barriers *b, uint64_t seed) {
  fs_rng r = {seed};
  const char *fault = fs_bm_check(&m->p, b);
  fault = fault == NULL ? fs_bm_run(&m->p, b, FS_BM_ANY, &r) : fault;
  ck_assert_msg(fault == NULL, "seed %llu, bound %u: %s", (unsigned long long)seed, m->p.bound,
                fault);
}

/* ---- blocks of pairs */

static uint32_t add_pairs(fs_bm *m, fs_rng *r, uint32_t n, uint32_t before) {
  uint32_t first = m->n_items;
  for (uint32_t i = 0; i < n; i++) {
    fs_bm_item_add(m, 1 + i, fs_rng_below(r, 4), 1);
    fs_bm_link_add(m, before, first + i);
  }
  for (uint32_t i = 0; i < n; i++) {
    fs_bm_item_add(m, 1 + PAIRS + i, fs_rng_below(r, 4), 1);
    fs_bm_link_add(m, first + i, first + n + i);
  }
  uint32_t last = fs_bm_item_add(m, 0, fs_rng_below(r, 3), 1);
  for (uint32_t i = 0; i < n; i++) {
    fs_bm_link_add(m, first + n + i, last);
  }
  return last;
}

/* Makes a problem of blocks, and returns its least number of barriers. */
static uint32_t make_blocks(fs_bm *m, uint64_t seed) {
  fs_rng r = {seed};
  uint32_t most = 0, last, blocks = 1 + fs_rng_below(&r, BLOCKS);
  fs_bm_init(m, 1 + 2 * PAIRS, 1000);
  last = fs_bm_item_add(m, 0, fs_rng_below(&r, 3), 1);
  for (uint32_t i = 0; i < blocks; i++) {
    uint32_t n = 2 + fs_rng_below(&r, fs_rng_one_in(&r, 4) ? PAIRS - 1 : 4);
    last = add_pairs(m, &r, n, last);
    most = (uint32_t)fs_max(most, n);
  }
  return most + 2;
}

static void check_blocks(uint64_t seed) {
  fs_bm m;
  fs_arena arena;
  fs_barriers b;
  fs_arena_init(&arena, ctx);
  uint32_t least = make_blocks(&m, seed);
  ck_assert_int_eq(fs_barriers_assign(ctx, &arena, fs_bm_plan(&m, FS_NONE), &b), FSCHED_OK);
  expect_fine(&m, &b, seed);
  ck_assert_msg(b.used == least && b.least == least && b.n_added == 0 && b.n_gates == 0,
                "seed %llu: %u used, %u called the least, %u are", (unsigned long long)seed, b.used,
                b.least, least);
  fs_tick makespan = b.makespan;
  ck_assert_int_eq(fs_barriers_assign(ctx, &arena, fs_bm_plan(&m, least), &b), FSCHED_OK);
  ck_assert(b.used == least && b.makespan == makespan && b.n_added == 0 && b.n_gates == 0);
  ck_assert_int_eq(fs_barriers_assign(ctx, &arena, fs_bm_plan(&m, least - 1), &b), FSCHED_OK);
  expect_fine(&m, &b, seed);
  ck_assert(b.used < least && b.n_added + b.n_gates > 0);
  fs_arena_release(&arena);
  fs_bm_free(&m);
}

START_TEST(least_of_blocks)
{
  for (uint64_t seed = 0; seed < wanted(60); seed++) {
    check_blocks(seed);
  }
}
END_TEST

/* ---- slots of one item */

/* The item takes as many barriers as its slots need, and the others wait for it alone. */
START_TEST(needs_of_one_item)
{
  for (uint64_t seed = 0; seed < wanted(300); seed++) {
    fs_rng r = {seed};
    fs_bm m;
    fs_arena arena;
    fs_barriers b;
    uint32_t n_slots = 1 + fs_rng_below(&r, 9), need = 2 + fs_rng_below(&r, 9);
    fs_arena_init(&arena, ctx);
    fs_bm_init(&m, 4, n_slots);
    fs_bm_item_add(&m, 0, 1, (need - 1) * n_slots + 1 + fs_rng_below(&r, n_slots));
    for (uint32_t i = 1 + fs_rng_below(&r, 6); i > 0; i--) {
      fs_bm_link_add(&m, 0, fs_bm_item_add(&m, 1 + fs_rng_below(&r, 3), 1, 1));
    }
    ck_assert_int_eq(fs_barriers_assign(ctx, &arena, fs_bm_plan(&m, need - 1), &b),
                     FSCHED_INFEASIBLE);
    ck_assert(b.short_item == 0 && b.short_need == need);
    ck_assert_int_eq(fs_barriers_assign(ctx, &arena, fs_bm_plan(&m, need), &b), FSCHED_OK);
    expect_fine(&m, &b, seed);
    ck_assert_uint_eq(b.used, need);
    fs_arena_release(&arena);
    fs_bm_free(&m);
  }
}
END_TEST

/* ---- all programs */

typedef struct barrier_known_held { /* a physical barrier's use */
  uint32_t producers, left;
  bool consumed, there;
} barrier_known_held;

typedef struct barrier_known_trial {
  const fs_bm *m;
  uint32_t bound, pred[ITEMS], knows[ITEMS], queue_last[FS_BM_QUEUES];
} barrier_known_trial;

static bool go_on(barrier_known_trial *t, uint32_t started, barrier_known_held *at);

/* Gives up any of the barriers that some item has waited for. */
static bool give_up(barrier_known_trial *t, uint32_t started, barrier_known_held *at,
                    uint32_t from) {
  if (from == t->bound) {
    return go_on(t, started, at);
  }
  if (give_up(t, started, at, from + 1)) {
    return true;
  }
  if (!at[from].there || !at[from].consumed) {
    return false;
  }
  barrier_known_held was = at[from];
  at[from] = (barrier_known_held){0};
  bool done = give_up(t, started, at, from + 1);
  at[from] = was;
  return done;
}

/* Lets item u update no barrier, one that nobody has waited for yet, or a new one. */
static bool update(barrier_known_trial *t, uint32_t started, barrier_known_held *at, uint32_t u) {
  if (give_up(t, started, at, 0)) {
    return true;
  }
  for (uint32_t i = 0; i < t->bound; i++) {
    barrier_known_held was = at[i];
    if (was.there ? was.consumed || was.left == 0 : t->m->n_slots == 0) {
      continue;
    }
    at[i] = (barrier_known_held){was.producers | 1u << u,
                                 (was.there ? was.left : (uint32_t)t->m->n_slots) - 1, false, true};
    bool done = give_up(t, started, at, 0);
    at[i] = was;
    if (done) {
      return true;
    }
  }
  return false;
}

/* Lets item u wait for the barriers of `set`, and start if it then knows what it has to. */
static bool start(barrier_known_trial *t, uint32_t started, const barrier_known_held *at,
                  uint32_t u, uint32_t set) {
  barrier_known_held next[ITEMS] = {{0}};
  uint32_t q = t->m->item[u].queue[0], last = t->queue_last[q];
  uint32_t knows = last == FS_NONE ? 0 : t->knows[last] | 1u << last;
  for (uint32_t i = 0; i < t->bound; i++) {
    next[i] = at[i];
    if (set >> i & 1) {
      next[i].consumed = true;
      for (uint32_t v = 0; v < t->m->n_items; v++) {
        knows |= at[i].producers >> v & 1 ? t->knows[v] | 1u << v : 0;
      }
    }
    if ((set >> i & 1) && !at[i].there) {
      return false;
    }
  }
  if ((t->pred[u] & ~knows) != 0) {
    return false;
  }
  t->knows[u] = knows;
  t->queue_last[q] = u;
  bool done = update(t, started | 1u << u, next, u);
  t->queue_last[q] = last;
  return done;
}

static bool go_on(barrier_known_trial *t, uint32_t started, barrier_known_held *at) {
  if (started == (1u << t->m->n_items) - 1) {
    return true;
  }
  uint32_t looked_at = 0; /* queues */
  for (uint32_t u = 0; u < t->m->n_items; u++) {
    uint32_t q = t->m->item[u].queue[0];
    if ((started >> u & 1) || (looked_at >> q & 1)) {
      continue;
    }
    looked_at |= 1u << q;
    for (uint32_t set = 0; set < 1u << t->bound && (t->pred[u] & ~started) == 0; set++) {
      if (start(t, started, at, u, set)) {
        return true;
      }
    }
  }
  return false;
}

static bool possible(const fs_bm *m, uint32_t bound) {
  barrier_known_held at[ITEMS] = {{0}};
  barrier_known_trial t = {.m = m, .bound = bound};
  memset(t.queue_last, 0xFF, sizeof t.queue_last);
  for (uint32_t i = 0; i < m->n_links; i++) {
    t.pred[m->link[i][1]] |= 1u << m->link[i][0];
  }
  return go_on(&t, 0, at);
}

static void random_items(fs_bm *m, uint64_t seed) {
  fs_rng r = {seed};
  uint32_t n_queues = 2 + fs_rng_below(&r, 2);
  fs_bm_init(m, n_queues, fs_rng_one_in(&r, 2) ? 1 + fs_rng_below(&r, 2) : 100);
  for (uint32_t i = 0; i < ITEMS; i++) {
    uint32_t time = fs_rng_below(&r, 3);
    fs_bm_item_add(m, fs_rng_below(&r, n_queues), time, 1);
    for (uint32_t v = 0; v < i; v++) {
      if (fs_rng_one_in(&r, 3)) {
        fs_bm_link_add(m, v, i);
      }
    }
  }
}

/* With one barrier, what is impossible is refused, and what is possible is done, or the answer is
 * that no way was found; two barriers are enough. */
START_TEST(one_barrier)
{
  unsigned refused = 0, taken = 0, open = 0;
  for (uint64_t seed = 0; seed < wanted(600); seed++) {
    fs_bm m;
    fs_arena arena;
    fs_barriers b;
    fs_arena_init(&arena, ctx);
    random_items(&m, seed);
    fs_status status = fs_barriers_assign(ctx, &arena, fs_bm_plan(&m, 1), &b);
    bool can = possible(&m, 1);
    ck_assert_msg(can || status != FSCHED_OK, "seed %llu: one barrier cannot do",
                  (unsigned long long)seed);
    ck_assert_msg(!can || status == FSCHED_OK || b.short_held > 0,
                  "seed %llu: what is possible is called proven not to be",
                  (unsigned long long)seed);
    taken += status == FSCHED_OK;
    refused += !can;
    open += can && status != FSCHED_OK;
    ck_assert_int_eq(fs_barriers_assign(ctx, &arena, fs_bm_plan(&m, 2), &b), FSCHED_OK);
    ck_assert(possible(&m, 2));
    fs_arena_release(&arena);
    fs_bm_free(&m);
  }
  ck_assert_msg(refused >= 30 && taken >= 200 && open >= 30, "refused %u, taken %u, open %u",
                refused, taken, open);
}
END_TEST

FS_SUITE(barrier_known, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, getenv("FSCHED_KNOWN") == NULL ? 60 : 36000);
  FS_TESTS(t, least_of_blocks, needs_of_one_item, one_barrier);
}
