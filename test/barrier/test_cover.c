/* SPDX-License-Identifier: Apache-2.0 */
/* The least number of physical barriers without a new order, compared with the relation written
 * out. */
#include <stdlib.h>
#include <string.h>

#include "barrier/cover.h"
#include "kit/budget.h"
#include "kit/gen.h"

#include "kit/context.h"

enum {
  MOST_COMMANDS = 800,
  WORDS = MOST_COMMANDS / 64 + 1,
  MOST_BARRIERS = 400,
  MOST_PREDS = 64,
  MOST_ENDS = 8,
  LITTLE_WORK = 300
};

typedef struct cover_list {
  uint32_t at0, at[MOST_PREDS];
} cover_list;

/* A problem while it is drawn; it is large, so it is on the heap. */
typedef struct cover_draft {
  uint32_t n_queues, n_commands, n_barriers;
  uint64_t most_steps;
  uint32_t queue_command0[MOST_COMMANDS + 1], order[MOST_COMMANDS], position[MOST_COMMANDS];
  cover_list pred[MOST_COMMANDS];
  bool slow[MOST_COMMANDS];
  cover_list producer[MOST_BARRIERS], consumer[MOST_BARRIERS];
  uint64_t before[MOST_COMMANDS][WORDS]; /* bits: what starts when the command is over */
  uint64_t begun[MOST_COMMANDS][WORDS];  /* bits: what starts when it has started */
  bool less[MOST_BARRIERS][MOST_BARRIERS];
} cover_draft;

typedef struct csr {
  uint32_t *at0, *at;
} csr;

static bool has(const cover_list *l, uint32_t id) {
  for (uint32_t i = 0; i < l->at0; i++) {
    if (l->at[i] == id) {
      return true;
    }
  }
  return false;
}

static void put(cover_list *l, uint32_t id) {
  if (!has(l, id) && l->at0 < MOST_PREDS) {
    l->at[l->at0++] = id;
  }
}

/* Draws queues of random lengths, and a random merge of them. */
static void draw_order(cover_draft *d, fs_rng *r, uint32_t n_queues, uint32_t n_commands) {
  uint32_t length[MOST_COMMANDS] = {0}, done[MOST_COMMANDS] = {0};
  d->n_queues = n_queues;
  d->n_commands = n_commands;
  for (uint32_t i = 0; i < n_commands; i++) {
    length[fs_rng_below(r, n_queues)]++;
  }
  d->queue_command0[0] = 0;
  for (uint32_t q = 0; q < n_queues; q++) {
    d->queue_command0[q + 1] = d->queue_command0[q] + length[q];
  }
  for (uint32_t i = 0; i < n_commands; i++) {
    uint32_t q = fs_rng_below(r, n_queues);
    while (done[q] == length[q]) {
      q = (q + 1) % n_queues;
    }
    d->order[i] = d->queue_command0[q] + done[q]++;
    d->position[d->order[i]] = i;
  }
}

/* Draws a barrier whose ends are near each other in the order, with all producers before all
 * consumers. */
static void draw_barrier(cover_draft *d, fs_rng *r, uint32_t window, uint32_t most_ends) {
  uint32_t b = d->n_barriers;
  uint32_t middle = 1 + fs_rng_below(r, d->n_commands - 1);
  uint32_t low = middle > window ? middle - window : 0;
  uint32_t high = (uint32_t)fs_min(middle + window, d->n_commands);
  d->producer[b].at0 = d->consumer[b].at0 = 0;
  for (uint32_t k = 1 + fs_rng_below(r, most_ends); k > 0; k--) {
    put(&d->producer[b], d->order[low + fs_rng_below(r, middle - low)]);
  }
  for (uint32_t k = 1 + fs_rng_below(r, most_ends); k > 0; k--) {
    uint32_t v = d->order[middle + fs_rng_below(r, high - middle)];
    if (d->pred[v].at0 + MOST_ENDS <= MOST_PREDS) {
      put(&d->consumer[b], v);
    }
  }
  for (uint32_t i = 0; i < d->consumer[b].at0; i++) {
    for (uint32_t k = 0; k < d->producer[b].at0; k++) {
      put(&d->pred[d->consumer[b].at[i]], d->producer[b].at[k]);
    }
  }
  d->n_barriers += d->consumer[b].at0 > 0;
}

static bool is_before(const cover_draft *d, uint32_t u, uint32_t v) {
  return d->before[u][v / 64] >> v % 64 & 1;
}

static void join(uint64_t *to, const uint64_t *from) {
  for (uint32_t w = 0; w < WORDS; w++) {
    to[w] |= from[w];
  }
}

/* Command v starts after another one is over, or has started, whose bits are `of`. */
static void start_after(const cover_draft *d, uint64_t *of, uint32_t v) {
  of[v / 64] |= (uint64_t)1 << v % 64;
  join(of, d->begun[v]);
}

static void write_out_before(cover_draft *d) {
  memset(d->before, 0, sizeof d->before);
  memset(d->begun, 0, sizeof d->begun);
  for (uint32_t i = d->n_commands; i-- > 0;) { /* what precedes a later command is complete */
    uint32_t u = d->order[i];
    for (uint32_t v = 0; v < d->n_commands; v++) {
      if (has(&d->pred[v], u)) {
        start_after(d, d->before[u], v);
      }
    }
    for (uint32_t q = 0; q < d->n_queues; q++) {
      if (u >= d->queue_command0[q] && u + 1 < d->queue_command0[q + 1]) {
        start_after(d, d->slow[u] ? d->begun[u] : d->before[u], u + 1);
      }
    }
    join(d->begun[u], d->before[u]);
  }
}

/* Writes out which barrier is less than which, by the header's definition. */
static void write_out(cover_draft *d) {
  write_out_before(d);
  for (uint32_t a = 0; a < d->n_barriers; a++) {
    for (uint32_t b = 0; b < d->n_barriers; b++) {
      d->less[a][b] = true;
      for (uint32_t i = 0; i < d->consumer[a].at0; i++) {
        for (uint32_t k = 0; k < d->producer[b].at0; k++) {
          d->less[a][b] &= is_before(d, d->consumer[a].at[i], d->producer[b].at[k]);
        }
      }
    }
  }
}

static void draw(cover_draft *d, uint64_t seed, uint32_t n_queues, uint32_t n_commands,
                 uint32_t n_barriers, uint32_t window, uint32_t most_ends) {
  fs_rng r = {seed};
  draw_order(d, &r, n_queues, n_commands);
  for (uint32_t c = 0; c < n_commands; c++) {
    d->pred[c].at0 = 0;
    d->slow[c] = seed % 2 == 0 && fs_rng_one_in(&r, 3);
    uint32_t i = d->position[c];
    if (i > 0 && fs_rng_one_in(&r, 4)) {
      put(&d->pred[c], d->order[i - 1 - fs_rng_below(&r, (uint32_t)fs_min(i, window))]);
    }
  }
  for (d->n_barriers = 0; d->n_barriers < n_barriers;) {
    draw_barrier(d, &r, window, most_ends);
  }
  write_out(d);
}

static csr pack(const cover_list *l, uint32_t n) {
  csr c = {calloc(n + 1, sizeof *c.at0), calloc((size_t)n * MOST_PREDS + 1, sizeof *c.at)};
  for (uint32_t i = 0; i < n; i++) {
    c.at0[i + 1] = c.at0[i] + l[i].at0;
    memcpy(c.at + c.at0[i], l[i].at, l[i].at0 * sizeof *c.at);
  }
  return c;
}

static fs_status cover(fsched_context *own, fs_arena *arena, const cover_draft *d, uint32_t enough,
                       uint32_t *n, uint32_t **chain, uint32_t **index) {
  csr pred = pack(d->pred, d->n_commands);
  csr producer = pack(d->producer, d->n_barriers);
  csr consumer = pack(d->consumer, d->n_barriers);
  fs_cover_problem p = {.n_queues = d->n_queues,
                        .n_commands = d->n_commands,
                        .n_barriers = d->n_barriers,
                        .queue_command0 = d->queue_command0,
                        .order = d->order,
                        .pred0 = pred.at0,
                        .pred = pred.at,
                        .producer0 = producer.at0,
                        .producer = producer.at,
                        .consumer0 = consumer.at0,
                        .consumer = consumer.at,
                        .slow = d->slow,
                        .most_steps = d->most_steps};
  bool proven = false;
  fs_status status = fs_barrier_cover(own, arena, &p, enough, n, &proven, chain, index);
  ck_assert(status != FSCHED_OK || proven || d->most_steps > 0);
  free(pred.at0);
  free(pred.at);
  free(producer.at0);
  free(producer.at);
  free(consumer.at0);
  free(consumer.at);
  return status;
}

/* Finds the largest antichain by trying: barriers from `at` on beside those in `with`. */
static uint32_t antichain(const cover_draft *d, uint32_t at, uint32_t *with, uint32_t n_with) {
  if (at == d->n_barriers) {
    return n_with;
  }
  uint32_t best = antichain(d, at + 1, with, n_with);
  for (uint32_t i = 0; i < n_with; i++) {
    if (d->less[with[i]][at] || d->less[at][with[i]]) {
      return best;
    }
  }
  with[n_with] = at;
  return (uint32_t)fs_max(best, antichain(d, at + 1, with, n_with + 1));
}

/* Finds the least chain cover by Kuhn's matching. */
static bool augment(const cover_draft *d, uint32_t a, uint32_t *prev, bool *seen) {
  for (uint32_t b = 0; b < d->n_barriers; b++) {
    if (d->less[a][b] && !seen[b]) {
      seen[b] = true;
      if (prev[b] == FS_NONE || augment(d, prev[b], prev, seen)) {
        prev[b] = a;
        return true;
      }
    }
  }
  return false;
}

static uint32_t kuhn(const cover_draft *d) {
  uint32_t prev[MOST_BARRIERS], n = d->n_barriers;
  memset(prev, 0xFF, sizeof prev);
  for (uint32_t a = 0; a < d->n_barriers; a++) {
    bool seen[MOST_BARRIERS] = {false};
    n -= augment(d, a, prev, seen);
  }
  return n;
}

/* Checks that chains are numbered by their first barriers, that every index is there once, and that
 * neighbours are in order. */
static void check_chains(const cover_draft *d, uint32_t n, const uint32_t *chain,
                         const uint32_t *index) {
  static uint32_t at[MOST_BARRIERS][MOST_BARRIERS];
  uint32_t length[MOST_BARRIERS] = {0}, new_chain = 0;
  memset(at, 0xFF, sizeof at);
  for (uint32_t b = 0; b < d->n_barriers; b++) {
    if (chain[b] >= n || index[b] >= d->n_barriers || at[chain[b]][index[b]] != FS_NONE) {
      ck_abort_msg("barrier %u is %u of chain %u", b, index[b], chain[b]);
    }
    at[chain[b]][index[b]] = b;
    length[chain[b]]++;
    if (index[b] == 0 && chain[b] != new_chain++) {
      ck_abort_msg("chain %u begins before chain %u", chain[b], new_chain - 1);
    }
  }
  ck_assert_uint_eq(new_chain, n);
  for (uint32_t k = 0; k < n; k++) {
    for (uint32_t i = 0; i < length[k]; i++) {
      if (at[k][i] == FS_NONE || (i > 0 && !d->less[at[k][i - 1]][at[k][i]])) {
        ck_abort_msg("chain %u is broken at %u", k, i);
      }
    }
  }
}

/* Tries every `enough` near the least number. */
static void check_enough(const cover_draft *d, uint32_t least) {
  fs_arena arena;
  uint32_t n, *chain, *index;
  fs_arena_init(&arena, ctx);
  for (uint32_t enough = least > 3 ? least - 3 : 0; enough <= least + 1; enough++) {
    ck_assert_int_eq(cover(ctx, &arena, d, enough, &n, &chain, &index), FSCHED_OK);
    if (enough < least ? n <= enough : n != least) {
      ck_abort_msg("%u chains where %u are least and %u enough", n, least, enough);
    }
    if (n <= enough) {
      check_chains(d, n, chain, index);
    }
  }
  fs_arena_release(&arena);
  fsched_diag_clear(ctx);
}

static uint32_t least_of(const cover_draft *d) {
  fs_arena arena;
  uint32_t n, *chain, *index;
  fs_arena_init(&arena, ctx);
  ck_assert_int_eq(cover(ctx, &arena, d, FS_NONE, &n, &chain, &index), FSCHED_OK);
  check_chains(d, n, chain, index);
  fs_arena_release(&arena);
  fsched_diag_clear(ctx);
  return n;
}

START_TEST(small_against_trying)
{
  cover_draft *d = calloc(1, sizeof *d);
  for (uint32_t seed = 0; seed < 4000; seed++) {
    fs_rng r = {seed};
    uint32_t with[MOST_BARRIERS];
    uint32_t n_queues = 1 + fs_rng_below(&r, 6), n_commands = 2 + fs_rng_below(&r, 28);
    uint32_t most_ends = 1 + fs_rng_below(&r, 3), window = 1 + fs_rng_below(&r, 30);
    draw(d, seed, n_queues, n_commands, fs_rng_below(&r, 13), window, most_ends);
    uint32_t least = least_of(d), wanted = antichain(d, 0, with, 0);
    if (least != wanted) {
      ck_abort_msg("seed %u: %u chains, an antichain of %u", seed, least, wanted);
    }
  }
  free(d);
}
END_TEST

/* Queues are long, so positions differ on several axes. */
START_TEST(larger_against_kuhn)
{
  static const uint32_t queues[] = {1, 2, 3, 5, 8, 20, 60, 200};
  static const uint32_t windows[] = {3, 12, 60, 800};
  cover_draft *d = calloc(1, sizeof *d);
  uint32_t beyond = 0;
  for (uint32_t i = 0; i < 8 * 4 * 3; i++) {
    draw(d, i, queues[i % 8], MOST_COMMANDS, 60 + 150 * (i / 32), windows[i / 8 % 4], 1 + i / 32);
    uint32_t least = least_of(d), wanted = kuhn(d);
    if (least != wanted) {
      ck_abort_msg("case %u: %u chains, Kuhn %u", i, least, wanted);
    }
    beyond += least > queues[i % 8];
  }
  ck_assert_uint_gt(beyond, 10);
  free(d);
}
END_TEST

START_TEST(enough)
{
  cover_draft *d = calloc(1, sizeof *d);
  for (uint32_t seed = 0; seed < 60; seed++) {
    draw(d, seed, 1 + seed % 9, 120, 50, 20, 1 + seed % 3);
    check_enough(d, kuhn(d));
  }
  free(d);
}
END_TEST

/* Beyond the limit of work there are more chains, which are chains all the same, and the least
 * number is not said to be proven. */
START_TEST(limit_of_work)
{
  cover_draft *d = calloc(1, sizeof *d);
  uint32_t more = 0;
  for (uint32_t i = 0; i < 40; i++) {
    draw(d, i, 3 + i % 40, MOST_COMMANDS, 200, 40, 1 + i % 3);
    uint32_t wanted = kuhn(d);
    d->most_steps = LITTLE_WORK;
    uint32_t n = least_of(d);
    d->most_steps = 0;
    ck_assert_uint_ge(n, wanted);
    more += n > wanted;
  }
  ck_assert_uint_gt(more, 5);
  free(d);
}
END_TEST

START_TEST(nothing)
{
  cover_draft *d = calloc(1, sizeof *d);
  ck_assert_uint_eq(least_of(d), 0);
  d->n_queues = d->n_commands = 1;
  d->queue_command0[1] = 1;
  ck_assert_uint_eq(least_of(d), 0);
  free(d);
}
END_TEST

/* Each barrier has two producers and two consumers; a command that has only started is not over. */
START_TEST(known_cases)
{
  cover_draft *d = calloc(1, sizeof *d);
  d->n_queues = 2;
  d->n_commands = 6; /* a0 a1 a2, b0 b1 b2 */
  memcpy(d->queue_command0, (uint32_t[]){0, 3, 6}, 3 * sizeof(uint32_t));
  memcpy(d->order, (uint32_t[]){0, 3, 1, 4, 2, 5}, 6 * sizeof(uint32_t));
  d->n_barriers = 2;
  put(&d->producer[0], 0), put(&d->producer[0], 3);
  put(&d->consumer[0], 1), put(&d->consumer[0], 4);
  put(&d->pred[1], 3), put(&d->pred[4], 0);
  put(&d->producer[1], 1);
  put(&d->consumer[1], 5);
  put(&d->pred[5], 1);
  write_out(d);
  ck_assert_uint_eq(least_of(d), 2); /* a1 consumes the first and produces for the second */
  d->producer[1].at[0] = 2;
  d->pred[5].at[0] = 2;
  write_out(d);
  ck_assert_uint_eq(least_of(d), 2); /* a2 is not after b1 */
  put(&d->pred[2], 4);
  write_out(d);
  ck_assert_uint_eq(least_of(d), 1);
  free(d);
}
END_TEST

/* Makes n queues of a chain of `length` commands each, with a barrier between neighbours. */
static uint32_t chains(fsched_context *own, uint32_t n, uint32_t length, bool crossed) {
  fs_arena arena;
  uint32_t *queue0, *order, *pred0, *pred, *producer0, *producer, *consumer, least, *chain, *index;
  uint32_t commands = n * length, barriers = n * (length - 1), n_pred = 0;
  fs_arena_init(&arena, own);
  if (fs_new(&arena, &queue0, n + 1) != FSCHED_OK ||
      fs_new(&arena, &order, commands) != FSCHED_OK ||
      fs_new(&arena, &pred0, commands + 1) != FSCHED_OK ||
      fs_new(&arena, &pred, commands) != FSCHED_OK ||
      fs_new(&arena, &producer0, barriers + 1) != FSCHED_OK ||
      fs_new(&arena, &producer, barriers) != FSCHED_OK ||
      fs_new(&arena, &consumer, barriers) != FSCHED_OK) {
    ck_abort_msg("no memory");
  }
  for (uint32_t i = 0; i < commands; i++) {
    uint32_t q = i % n, k = i / n; /* in the order of the problem */
    order[i] = q * length + k;
  }
  for (uint32_t c = 0; c < commands; c++) {
    uint32_t q = c / length, k = c % length;
    pred0[c] = n_pred;
    if (k > 0) {
      pred[n_pred++] = (crossed ? (q + 1) % n : q) * length + k - 1;
      uint32_t b = q * (length - 1) + k - 1;
      producer0[b] = b;
      producer[b] = pred[n_pred - 1];
      consumer[b] = c;
    }
  }
  pred0[commands] = n_pred;
  producer0[barriers] = barriers;
  for (uint32_t q = 0; q <= n; q++) {
    queue0[q] = q * length;
  }
  fs_cover_problem p = {n,         commands, barriers,  queue0,   order, pred0, pred,
                        producer0, producer, producer0, consumer, NULL,  0};
  bool proven;
  ck_assert_int_eq(fs_barrier_cover(own, &arena, &p, FS_NONE, &least, &proven, &chain, &index),
                   FSCHED_OK);
  fs_arena_release(&arena);
  return least;
}

/* Neighbours on a queue hand over only every second barrier, so each queue needs 2.  Many queues
 * must not take memory for each pair of them. */
START_TEST(many_queues_in_little_memory)
{
  fs_budget budget = {.left = 1L << 40};
  fsched_context_options o = {
      .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
  fsched_context *own;
  ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
  ck_assert_uint_eq(chains(own, 10000, 10, false), 20000);
  ck_assert_uint_eq(chains(own, 3, 4000, false), 6);
  ck_assert_uint_eq(chains(own, 3, 4000, true), 6);
  ck_assert_int_lt(budget.peak, 150L << 20);
  fsched_context_destroy(own);
  ck_assert_int_eq(budget.blocks, 0);
}
END_TEST

START_TEST(out_of_memory)
{
  cover_draft *d = calloc(1, sizeof *d);
  draw(d, 7, 4, 200, 80, 30, 3);
  long n = 0;
  for (fs_status status = FSCHED_SYSTEM; status != FSCHED_OK; n++) {
    fs_budget budget = {.left = 1L << 40};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *own;
    fs_arena arena;
    uint32_t least, *chain, *index;
    ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
    fs_arena_init(&arena, own);
    budget.left = n;
    status = cover(own, &arena, d, FS_NONE, &least, &chain, &index);
    ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
    budget.left = 1L << 40;
    fs_arena_release(&arena);
    fsched_context_destroy(own);
    ck_assert_int_eq(budget.blocks, 0);
  }
  ck_assert_int_gt(n, 5);
  free(d);
}
END_TEST

FS_SUITE(cover, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, small_against_trying, larger_against_kuhn, enough, limit_of_work, nothing,
           known_cases, many_queues_in_little_memory, out_of_memory);
}
