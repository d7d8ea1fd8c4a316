/* SPDX-License-Identifier: Apache-2.0 */
/* Gates are counted where a hand-over can hold a producer back; this is compared with the closure
 * of queue order and waits, command by command.  And with `auto` no barrier could be saved at no
 * cost. */
#include <string.h>

#include "barrier/barrier_machine.h"

#include "kit/context.h"

enum { GRAPHS = 600, MOST = 128 };

static void join(const fs_barrier_problem *p, bool (*over)[MOST]) {
  for (uint32_t via = 0; via < p->n_commands; via++) {
    for (uint32_t c = 0; c < p->n_commands; c++) {
      for (uint32_t d = 0; over[c][via] && d < p->n_commands; d++) {
        over[c][d] = over[c][d] || over[via][d];
      }
    }
  }
}

/* over[c][d] says that command c is over before d starts. */
static void close_orders(const fs_barrier_problem *p, bool (*over)[MOST]) {
  for (uint32_t q = 0; q < p->n_queues; q++) {
    for (uint32_t c = p->queue_command0[q]; c + 1 < p->queue_command0[q + 1]; c++) {
      over[c][c + 1] = true;
    }
  }
  for (uint32_t c = 0; c < p->n_commands; c++) {
    for (uint32_t k = p->pred0[c]; k < p->pred0[c + 1]; k++) {
      uint32_t u = p->pred[k];
      for (uint32_t i = p->item_command0[u]; i < p->item_command0[u + 1]; i++) {
        over[p->item_command[i]][c] = true;
      }
    }
  }
  join(p, over);
}

static bool waits_for(const fs_barriers *b, uint32_t c, uint32_t barrier) {
  bool waits = false;
  for (uint32_t k = b->wait0[c]; k < b->wait0[c + 1]; k++) {
    waits = waits || b->wait[k] == barrier;
  }
  return waits;
}

static bool updates(const fs_barriers *b, uint32_t c, uint32_t barrier) {
  bool found = false;
  for (uint32_t k = b->update0[c]; k < b->update0[c + 1]; k++) {
    found = found || b->update[k] == barrier;
  }
  return found;
}

/* A command that waits for one of several barriers of an op knows only that this member has
 * started. */
static void tell_starts(const fs_barrier_problem *p, const fs_barriers *b, bool (*over)[MOST]) {
  for (uint32_t member = 0; member < p->n_commands; member++) {
    for (uint32_t k = b->update0[member]; k < b->update0[member + 1]; k++) {
      for (uint32_t d = 0; d < p->n_commands; d++) {
        for (uint32_t c = 0; waits_for(b, d, b->update[k]) && c < p->n_commands; c++) {
          over[c][d] = over[c][d] || over[c][member];
        }
      }
    }
  }
  join(p, over);
}

/* Can a producer of `later` be held back until a consumer of `earlier` has started? */
static bool holds_back(const fs_barrier_problem *p, const fs_barriers *b, bool (*over)[MOST],
                       uint32_t earlier, uint32_t later) {
  for (uint32_t c = 0; c < p->n_commands; c++) {
    for (uint32_t d = 0; waits_for(b, c, earlier) && d < p->n_commands; d++) {
      if (updates(b, d, later) && !over[c][d]) {
        return true;
      }
    }
  }
  return false;
}

static uint32_t count_gates(const fs_barrier_problem *p, const fs_barriers *b) {
  static bool over[MOST][MOST];
  memset(over, 0, sizeof over);
  close_orders(p, over);
  for (int i = 0; i < 4; i++) { /* what one round finds may lead to more */
    tell_starts(p, b, over);
  }
  uint32_t n = 0;
  for (uint32_t later = 0; later < b->n; later++) {
    for (uint32_t earlier = 0; earlier < b->n; earlier++) {
      n += b->physical[earlier] == b->physical[later] && b->use[earlier] + 1 == b->use[later] &&
           holds_back(p, b, over, earlier, later);
    }
  }
  return n;
}

/* Does a command wait for one that need not be over before it starts? */
static bool waits_for_more(const fs_barrier_problem *p, const fs_barriers *b) {
  static bool over[MOST][MOST];
  memset(over, 0, sizeof over);
  close_orders(p, over);
  for (uint32_t barrier = 0; barrier < b->n; barrier++) {
    for (uint32_t m = 0; m < p->n_commands; m++) {
      for (uint32_t c = 0; updates(b, m, barrier) && c < p->n_commands; c++) {
        if (waits_for(b, c, barrier) && !over[m][c]) {
          return true;
        }
      }
    }
  }
  return false;
}

typedef struct barrier_gates_tally {
  uint32_t counted, gates, free;
  uint32_t more; /* gates that in fact cannot hold back, as parts of gangs tell enough */
} barrier_gates_tally;

/* Assigns with a bound, and returns whether that is free of cost.  Where no order is new, the gates
 * are those of the closure. */
static bool within(fs_bm *m, uint32_t bound, barrier_gates_tally *t) {
  fs_barrier_problem *p = fs_bm_plan(m, bound);
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  fs_barriers b;
  bool free = fs_barriers_assign(ctx, &arena, p, &b) == FSCHED_OK && b.n_added == 0;
  if (free) {
    uint32_t gates = count_gates(p, &b);
    ck_assert_uint_ge(b.n_gates, gates);
    t->more += b.n_gates - gates;
    t->counted++;
    t->gates += b.n_gates;
    free = b.n_gates == 0 && !waits_for_more(p, &b);
  }
  fs_arena_release(&arena);
  return free;
}

static void one_graph(uint64_t seed, barrier_gates_tally *t) {
  fs_rng r = {seed * 0x9E3779B97F4A7C15u + 1};
  fs_bm m;
  uint32_t n_slots = 1 + fs_rng_below(&r, 3), most_demand = n_slots * (1 + fs_rng_below(&r, 3));
  uint32_t n_items = 4 + fs_rng_below(&r, 24);
  uint32_t n_edges = 1 + fs_rng_below(&r, 3), n_queues = 2 + fs_rng_below(&r, 4);
  fs_bm_random(&m, &r, n_items, n_queues, n_edges, most_demand, n_slots, true);
  fs_barrier_problem *p = fs_bm_plan(&m, FS_NONE);
  ck_assert_uint_le(p->n_commands, MOST);
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  fs_barriers b;
  ck_assert_int_eq(fs_barriers_assign(ctx, &arena, p, &b), FSCHED_OK);
  ck_assert(b.n_added == 0 && b.n_gates == 0 && b.least == b.used);
  ck_assert_uint_eq(count_gates(p, &b), 0);
  ck_assert(!waits_for_more(p, &b));
  const char *fault = fs_bm_check(p, &b);
  fault = fault != NULL ? fault : fs_bm_run(p, &b, FS_BM_ANY, &r);
  ck_assert_msg(fault == NULL, "seed %llu: %s", (unsigned long long)seed, fault);
  uint32_t used = b.used;
  fs_arena_release(&arena);
  if (used > 1) {
    t->free += within(&m, used - 1, t);
  }
  for (uint32_t bound = 2; bound < used; bound += 3) {
    (void)within(&m, bound, t);
  }
  fs_bm_free(&m);
}

START_TEST(gates_are_what_holds_back)
{
  barrier_gates_tally t = {0};
  for (uint64_t seed = 0; seed < GRAPHS; seed++) {
    one_graph(seed, &t);
  }
  ck_assert_uint_gt(t.counted, 50);
  ck_assert_uint_gt(t.gates, 50);
  ck_assert_uint_le(t.more * 20, t.gates);
  ck_assert_uint_eq(t.free, 0);
}
END_TEST

FS_SUITE(barrier_gates, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, gates_are_what_holds_back);
}
