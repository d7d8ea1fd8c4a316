/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier of loops that stay loops: known loops, and random ones beside unrolled ones. */
#include "kit/budget.h"
#include "kit/turn.h"
#include "verify/loop/brute.h"
#include "verify/loop/draw.h"

#include "kit/context.h"

/* The first thing that is wrong with up to `most` trips, or NULL. */
static const char *unrolled(const fs_rolled_loop *r, const fs_loop_rules *rules, uint32_t most) {
  const char *what = NULL;
  for (uint32_t n = 0; n <= most && what == NULL; n++) {
    what = fs_loop_brute(r, rules, n);
  }
  return what;
}

/* The verdict, which the unrolled loop has to share. */
static fs_loop_fault judged(const fs_rolled_loop *r, const fs_loop_rules *rules) {
  fs_loop_fault fault;
  ck_fs(ctx, fs_verify_loop(ctx, r, rules, &fault));
  ck_assert_int_ne(fault.kind, FS_LOOP_MALFORMED);
  ck_assert((fault.kind == FS_LOOP_RIGHT) == (unrolled(r, rules, 24) == NULL));
  return fault;
}

static fs_loop_fault_kind kind_of(const fs_rolled_loop *r, const fs_loop_rules *rules) {
  return judged(r, rules).kind;
}

/* --- known loops --- */

/* A load on one queue and its use on another, with a full and an empty wait. */
typedef struct load_use {
  fs_rolled_loop r;
  fs_loop_rules rules;
  uint32_t queue[2], command0[3];
  fs_rolled_command command[2];
  fs_rolled_wait wait[2];
  fs_rolled_ring ring;
  fs_rolled_reader reader;
} load_use;

static void make_load_use(load_use *l, uint32_t depth, uint32_t empty) {
  *l = (load_use){.queue = {1, 4}, .command0 = {0, 1, 2}, .reader = {1, 0}};
  l->command[0] = (fs_rolled_command){.member = 0, .wait0 = 0, .n_waits = 1};
  l->command[1] = (fs_rolled_command){.member = 1, .wait0 = 1, .n_waits = 1};
  l->wait[0] = (fs_rolled_wait){1, empty};
  l->wait[1] = (fs_rolled_wait){0, 0};
  l->ring = (fs_rolled_ring){0, depth, 0, 1};
  l->r = (fs_rolled_loop){.copies = 1,
                          .n_queues = 2,
                          .queue = l->queue,
                          .command0 = l->command0,
                          .n_commands = 2,
                          .command = l->command,
                          .n_waits = 2,
                          .wait = l->wait,
                          .n_rings = 1,
                          .ring = &l->ring,
                          .reader = &l->reader};
  l->rules = (fs_loop_rules){.n_members = 2};
}

START_TEST(loads_and_uses)
{
  load_use l;
  make_load_use(&l, 3, 3);
  ck_assert_int_eq(kind_of(&l.r, &l.rules), FS_LOOP_RIGHT);
  make_load_use(&l, 3, 1);
  ck_assert_int_eq(kind_of(&l.r, &l.rules), FS_LOOP_RIGHT);
  make_load_use(&l, 3, 4); /* too late */
  fs_loop_fault fault = judged(&l.r, &l.rules);
  ck_assert(fault.kind == FS_LOOP_RING && fault.from == 1 && fault.to == 0 && fault.distance == 3);
  make_load_use(&l, 3, 3);
  l.command[0].n_waits = 0; /* no empty wait */
  ck_assert_int_eq(kind_of(&l.r, &l.rules), FS_LOOP_RING);
  make_load_use(&l, 3, 3);
  l.command[1].n_waits = 0; /* no full wait */
  fault = judged(&l.r, &l.rules);
  ck_assert(fault.kind == FS_LOOP_RING && fault.from == 0 && fault.to == 1 && fault.distance == 0);
  make_load_use(&l, 3, 3);
  l.command[0].slow = true; /* the wait tells it, but versions of a slot still come in order */
  ck_assert_int_eq(kind_of(&l.r, &l.rules), FS_LOOP_RIGHT);
}
END_TEST

START_TEST(deadlocks)
{
  load_use l;
  make_load_use(&l, 3, 0);
  ck_assert_int_eq(kind_of(&l.r, &l.rules), FS_LOOP_DEADLOCK);
  make_load_use(&l, 3, 3);
  l.wait[1].command = 1; /* itself */
  ck_assert_int_eq(kind_of(&l.r, &l.rules), FS_LOOP_DEADLOCK);
  make_load_use(&l, 3, 1);
  l.wait[1].distance = 1;
  l.ring.n_readers = 0;
  l.r.n_rings = 0;
  ck_assert_int_eq(kind_of(&l.r, &l.rules), FS_LOOP_RIGHT);
}
END_TEST

/* One op that adds to what it finds in its slot. */
START_TEST(works_in_place)
{
  uint32_t queue[] = {0}, command0[] = {0, 1};
  fs_rolled_command command = {.member = 0};
  fs_rolled_wait wait = {0, 2};
  fs_rolled_ring ring = {0, 2, 0, 1};
  fs_rolled_reader reader = {0, 2};
  fs_rolled_loop r = {.copies = 1,
                      .n_queues = 1,
                      .queue = queue,
                      .command0 = command0,
                      .n_commands = 1,
                      .command = &command,
                      .n_waits = 1,
                      .wait = &wait,
                      .n_rings = 1,
                      .ring = &ring,
                      .reader = &reader};
  fs_loop_rules rules = {.n_members = 1};
  ck_assert_int_eq(kind_of(&r, &rules), FS_LOOP_RIGHT);
  command.slow = true;
  ck_assert_int_eq(kind_of(&r, &rules), FS_LOOP_RING);
  command.n_waits = 1; /* orders iterations 0 and 2, but 0 reads what 1 overwrites */
  ck_assert_int_eq(kind_of(&r, &rules), FS_LOOP_RING);
  ring.depth = reader.back = wait.distance = 1;
  ck_assert_int_eq(kind_of(&r, &rules), FS_LOOP_RIGHT);
  reader.back = 0; /* it would read what it is about to make */
  ck_assert_int_eq(kind_of(&r, &rules), FS_LOOP_RING);
}
END_TEST

/* Member 0 on one queue; on the other 1, and 2, which is two iterations behind. */
typedef struct behind {
  fs_rolled_loop r;
  fs_loop_rules rules;
  uint32_t queue[2], command0[3];
  fs_rolled_command command[3];
  fs_rolled_wait wait[3];
  fs_rolled_ring ring;
  fs_rolled_reader reader;
} behind;

static void make_behind(behind *b) {
  *b = (behind){.queue = {0, 1}, .command0 = {0, 1, 3}};
  for (uint32_t m = 0; m < 3; m++) {
    b->command[m] = (fs_rolled_command){.member = m, .shift = m == 2 ? 2 : 0};
  }
  b->r = (fs_rolled_loop){.copies = 1,
                          .n_queues = 2,
                          .queue = b->queue,
                          .command0 = b->command0,
                          .n_commands = 3,
                          .command = b->command,
                          .n_waits = 3,
                          .wait = b->wait,
                          .n_rings = 0,
                          .ring = &b->ring,
                          .reader = &b->reader};
  b->rules = (fs_loop_rules){.n_members = 3};
}

/* What is waited for on behalf of an earlier iteration is not, once the loop runs out. */
START_TEST(last_iterations)
{
  behind b;
  fs_loop_order order = {0, 2, 0};
  make_behind(&b);
  b.rules.n_orders = 1;
  b.rules.order = &order;
  b.wait[0] = (fs_rolled_wait){0, 2};
  b.command[1].n_waits =
      1; /* 2 of iteration i starts behind 1 of iteration i + 2, if there is one */
  ck_assert_int_eq(kind_of(&b.r, &b.rules), FS_LOOP_ORDER);
  b.wait[0].distance = 0;
  ck_assert_int_eq(kind_of(&b.r, &b.rules), FS_LOOP_RIGHT);
}
END_TEST

/* The first iterations read what was there on entry, and the wait that keeps the others does not
 * keep them. */
START_TEST(versions_on_entry)
{
  behind b;
  make_behind(&b);
  b.r.n_rings = 1;
  b.ring = (fs_rolled_ring){0, 3, 0, 1};
  b.reader = (fs_rolled_reader){1, 2};
  b.wait[0] = (fs_rolled_wait){2, 3};
  b.wait[1] = (fs_rolled_wait){0, 2};
  b.command[0].n_waits = 1;
  b.command[1].wait0 = 1;
  b.command[1].n_waits = 1;
  fs_loop_fault fault = judged(&b.r, &b.rules);
  ck_assert(fault.kind == FS_LOOP_RING && fault.from == 1 && fault.to == 0);
  b.wait[0] = (fs_rolled_wait){1, 1};
  ck_assert_int_eq(kind_of(&b.r, &b.rules), FS_LOOP_RIGHT);
}
END_TEST

START_TEST(lanes)
{
  behind b;
  uint32_t lane0[] = {0, 2}, lane[] = {1, 2};
  make_behind(&b);
  b.rules.n_lanes = 1;
  b.rules.lane0 = lane0;
  b.rules.lane = lane;
  ck_assert_int_eq(kind_of(&b.r, &b.rules), FS_LOOP_RIGHT); /* one queue */
  b.command[2].slow = true;
  ck_assert_int_eq(kind_of(&b.r, &b.rules), FS_LOOP_LANE);
  b.command[2].slow = false;
  lane[0] = 0; /* two queues */
  ck_assert_int_eq(kind_of(&b.r, &b.rules), FS_LOOP_LANE);
  b.wait[0] = (fs_rolled_wait){0, 0};
  b.wait[1] = (fs_rolled_wait){2, 1};
  b.command[2].n_waits = 1;
  b.command[0].wait0 = 1;
  b.command[0].n_waits = 1; /* in turns */
  b.command[2].shift = 0;
  ck_assert_int_eq(kind_of(&b.r, &b.rules), FS_LOOP_RIGHT);
}
END_TEST

/* A slow op and a quick one are on a queue, and a third op elsewhere waits for the quick one.  That
 * an epoch is reached tells of the slow one, too; a barrier does not. */
START_TEST(a_barrier_tells_of_one_end)
{
  uint32_t queue[] = {0, 1}, command0[] = {0, 2, 3}, producer[] = {1, 0};
  fs_rolled_command command[] = {
      {.member = 0, .slow = true}, {.member = 1}, {.member = 2, .n_waits = 1}};
  fs_rolled_wait wait[] = {{1, 0}, {0, 0}};
  fs_rolled_guard guard[] = {{.depth = 1, .n_producers = 1},
                             {.depth = 1, .producer0 = 1, .n_producers = 1}};
  fs_rolled_check check[] = {{0, 0}, {1, 0}};
  fs_rolled_loop r = {.n_queues = 2,
                      .queue = queue,
                      .copies = 1,
                      .n_commands = 3,
                      .command0 = command0,
                      .command = command,
                      .n_waits = 1,
                      .wait = wait};
  fs_loop_order order = {0, 2, 0};
  fs_loop_rules rules = {.trip = 1, .n_members = 3, .n_orders = 1, .order = &order};
  ck_assert_int_eq(kind_of(&r, &rules), FS_LOOP_RIGHT);
  r.guarded = true;
  r.n_guards = r.n_checks = command[2].n_checks = 1;
  r.guard = guard;
  r.producer = producer;
  r.check = check;
  fs_loop_fault fault = judged(&r, &rules);
  ck_assert(fault.kind == FS_LOOP_ORDER && fault.from == 0 && fault.to == 2);
  command[0].slow = false;
  ck_assert_int_eq(kind_of(&r, &rules), FS_LOOP_RIGHT);
  command[0].slow = true;
  r.n_waits = r.n_guards = r.n_checks = command[2].n_waits = command[2].n_checks = 2;
  ck_assert_int_eq(kind_of(&r, &rules), FS_LOOP_RIGHT);
}
END_TEST

/* --- what does not matter, and what is no loop --- */

static uint64_t steps_of(const uint32_t depth[3], uint64_t trip) {
  fs_loop_fault fault;
  fs_rolled_command command[6];
  fs_rolled_wait wait[6];
  uint32_t queue[] = {0, 1}, command0[] = {0, 3, 6};
  fs_rolled_ring ring[3];
  fs_rolled_reader reader[3];
  for (uint32_t k = 0; k < 3; k++) {
    command[k] = (fs_rolled_command){.member = k, .wait0 = k, .n_waits = 1};
    command[3 + k] = (fs_rolled_command){.member = 3 + k, .wait0 = 3 + k, .n_waits = 1};
    wait[k] = (fs_rolled_wait){3 + k, depth[k]};
    wait[3 + k] = (fs_rolled_wait){k, 0};
    ring[k] = (fs_rolled_ring){k, depth[k], k, 1};
    reader[k] = (fs_rolled_reader){3 + k, 0};
  }
  fs_rolled_loop r = {.copies = 1,
                      .n_queues = 2,
                      .queue = queue,
                      .command0 = command0,
                      .n_commands = 6,
                      .command = command,
                      .n_waits = 6,
                      .wait = wait,
                      .n_rings = 3,
                      .ring = ring,
                      .reader = reader};
  fs_loop_rules rules = {.n_members = 6, .trip = trip};
  ck_fs(ctx, fs_verify_loop(ctx, &r, &rules, &fault));
  ck_assert_int_eq(fault.kind, FS_LOOP_RIGHT);
  return fault.steps;
}

/* Depths without a common divisor are no more work, and neither are more iterations. */
START_TEST(depths_and_trips_do_not_matter)
{
  static const uint64_t trip[] = {0, 16, 1000000, UINT64_C(1) << 40};
  uint64_t steps = steps_of((uint32_t[]){7, 7, 7}, 10);
  ck_assert_uint_gt(steps, 0);
  for (uint32_t i = 0; i < sizeof trip / sizeof *trip; i++) {
    ck_assert_uint_eq(steps_of((uint32_t[]){7, 7, 7}, trip[i]), steps);
    ck_assert_uint_eq(steps_of((uint32_t[]){7, 11, 13}, trip[i]), steps);
  }
  ck_assert_uint_eq(steps_of((uint32_t[]){1000003, 1 << 30, 7}, 0), steps);
}
END_TEST

static void must_be_malformed(const load_use *l, const char *what) {
  fs_loop_fault fault;
  ck_fs(ctx, fs_verify_loop(ctx, &l->r, &l->rules, &fault));
  ck_assert_int_eq(fault.kind, FS_LOOP_MALFORMED);
  ck_assert_str_eq(fault.what, what);
}

#define MALFORMED(l, edit, what)   \
  do {                             \
    make_load_use(&(l), 3, 3);     \
    edit;                          \
    must_be_malformed(&(l), what); \
  } while (0)

START_TEST(malformed)
{
  static const char of_command[] = "a command's member, copy, shift or waits out of range";
  static const char of_wait[] = "a wait's target or distance out of range";
  static const char lacks[] = "a member without a command for each copy";
  fs_loop_order order = {0, 2, 0};
  uint32_t lane0[] = {0, 1}, lane[] = {2}, first[] = {0}, copy[] = {1};
  load_use l;
  MALFORMED(l, l.r.copies = 0, "no copies");
  MALFORMED(l, l.r.n_commands = FS_LOOP_COMMANDS + 1, "too many commands");
  MALFORMED(l, l.r.copies = 2, lacks);
  MALFORMED(l, l.command[1].member = 0, lacks);
  MALFORMED(l, l.rules.n_members = 3, lacks);
  MALFORMED(l, l.r.n_queues = 0, "commands without a queue");
  MALFORMED(l, l.command0[2] = 1, "commands in no queue");
  MALFORMED(l, l.command0[1] = 3, "a queue's commands out of range");
  MALFORMED(l, l.queue[1] = 1, "queues out of order");
  MALFORMED(l, l.command[0].member = 2, of_command);
  MALFORMED(l, l.command[0].copy = 1, of_command);
  MALFORMED(l, l.command[0].shift = FS_LOOP_NUMBER + 1u, of_command);
  MALFORMED(l, l.command[0].n_waits = 3, of_command);
  MALFORMED(l, l.command[0].wait0 = 3, of_command);
  MALFORMED(l, l.wait[0].command = 2, of_wait);
  MALFORMED(l, l.wait[0].distance = FS_LOOP_NUMBER + 1u, of_wait);
  MALFORMED(l, (l.command[1].member = 0, l.rules.n_members = 1, l.command0[1] = 2),
            "two commands for one copy on one queue");
  MALFORMED(
      l,
      (l.r.copies = 2, l.command[1] = l.command[0], l.command[1].copy = 1, l.rules.n_members = 1),
      "a wait's target of another copy");
  MALFORMED(l, l.ring.writer = 2, "a ring's writer or depth out of range");
  MALFORMED(l, l.ring.depth = 0, "a ring's writer or depth out of range");
  MALFORMED(l, l.reader.member = 2, "a ring's reader out of range");
  MALFORMED(l, (l.rules.n_orders = 1, l.rules.order = &order), "an order out of range");
  MALFORMED(l, (l.rules.n_lanes = 1, l.rules.lane0 = lane0, l.rules.lane = lane),
            "a lane's member out of range");
  MALFORMED(
      l,
      (l.rules.n_lanes = 1, l.rules.lane0 = lane0, l.rules.lane = first, l.rules.lane_copy = copy),
      "a lane's member out of range");
}
END_TEST

START_TEST(nothing)
{
  uint32_t command0[] = {0};
  fs_rolled_loop r = {.copies = 1, .command0 = command0};
  fs_loop_rules rules = {0};
  ck_assert_int_eq(kind_of(&r, &rules), FS_LOOP_RIGHT);
}
END_TEST

START_TEST(memory_runs_out)
{
  fs_status status = FSCHED_SYSTEM;
  long n = 0;
  for (; status != FSCHED_OK; n++) {
    fs_budget budget = {.left = n + 1};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *own;
    load_use l;
    fs_loop_fault fault;
    make_load_use(&l, 3, 3);
    if (fsched_context_create(&o, &own) == FSCHED_OK) {
      status = fs_verify_loop(own, &l.r, &l.rules, &fault);
      ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
      fsched_context_destroy(own);
    }
    ck_assert_int_eq(budget.blocks, 0);
  }
  ck_assert_int_gt(n, 3);
}
END_TEST

/* --- random loops --- */

typedef struct loop_tally {
  uint32_t right, accepted, refused;
  uint32_t of_kind[FS_LOOP_LANE + 1];
} loop_tally;

static void judge_drawn(uint64_t seed, loop_tally *t) {
  static fs_loop_draw d;
  fs_loop_fault fault;
  fs_loop_draw_any(seed, &d);
  ck_fs(ctx, fs_verify_loop(ctx, &d.r, &d.rules, &fault));
  const char *wrong = unrolled(&d.r, &d.rules, d.trips);
  const char *last = fs_loop_brute(&d.r, &d.rules, d.trips);
  bool accepted = fault.kind == FS_LOOP_RIGHT, stuck = fault.kind == FS_LOOP_DEADLOCK;
  ck_assert_int_ne(fault.kind, FS_LOOP_MALFORMED);
  if (accepted && wrong != NULL) {
    ck_abort_msg("seed %llu: accepted, but unrolled: %s", (unsigned long long)seed, wrong);
  }
  if (stuck != (last != NULL && strcmp(last, "deadlock") == 0)) {
    ck_abort_msg("seed %llu: a deadlock is found: %d", (unsigned long long)seed, stuck);
  }
  /* Only lanes are refused without need. */
  if (!accepted && wrong == NULL && fault.kind != FS_LOOP_LANE) {
    ck_abort_msg("seed %llu: refused, but right", (unsigned long long)seed);
  }
  t->of_kind[fault.kind]++;
  t->right += wrong == NULL;
  t->refused += !accepted && wrong == NULL;
}

START_TEST(as_unrolled)
{
  enum { DRAWS = 800 };
  loop_tally t = {0};
  for (uint64_t k = 0; k < DRAWS; k++) {
    judge_drawn((fs_turn() * DRAWS + k) * 10 + (uint64_t)_i, &t);
  }
  fs_assert_seen(t.right, DRAWS / 2);
  ck_assert_uint_lt(t.refused, DRAWS / 100);
  static const fs_loop_fault_kind kinds[] = {FS_LOOP_DEADLOCK, FS_LOOP_ORDER, FS_LOOP_RING,
                                             FS_LOOP_LANE}; /* none is guarded */
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    fs_assert_seen(t.of_kind[kinds[k]], 0);
  }
}
END_TEST

/* Where the number of trips is known, that one alone has to be right; and lanes may be of some
 * copies. */
START_TEST(known_trips)
{
  enum { DRAWS = 500, MOST = 9 };
  static fs_loop_draw d;
  uint32_t accepted = 0, alone = 0, refused = 0, copied = 0;
  for (uint64_t k = 0; k < DRAWS; k++) {
    fs_loop_fault fault;
    fs_rng rng = {(fs_turn() * DRAWS + k) * 10 + (uint64_t)_i};
    fs_loop_draw_any(rng.state, &d);
    uint32_t copy[2] = {fs_rng_below(&rng, d.r.copies), fs_rng_below(&rng, d.r.copies)};
    d.rules.lane_copy = fs_rng_one_in(&rng, 2) ? copy : NULL;
    copied += d.rules.n_lanes > 0 && d.rules.lane_copy != NULL;
    ck_fs(ctx, fs_verify_loop(ctx, &d.r, &d.rules, &fault));
    bool always = fault.kind == FS_LOOP_RIGHT;
    for (d.rules.trip = 1; d.rules.trip <= MOST; d.rules.trip++) {
      ck_fs(ctx, fs_verify_loop(ctx, &d.r, &d.rules, &fault));
      const char *wrong = fs_loop_brute(&d.r, &d.rules, (uint32_t)d.rules.trip);
      bool mine = fault.kind == FS_LOOP_RIGHT;
      ck_assert_msg(!mine || wrong == NULL, "seed %llu, %u trips: accepted, but: %s",
                    (unsigned long long)k, (uint32_t)d.rules.trip, wrong);
      ck_assert(mine || !always);
      accepted += mine;
      alone += mine && !always;
      refused += !mine && wrong == NULL;
    }
  }
  fs_assert_seen(accepted, DRAWS);
  fs_assert_seen(alone, 0);
  fs_assert_seen(copied, 0);
  ck_assert_uint_lt(refused, DRAWS * MOST / 5);
}
END_TEST

/* Runs that are joined: what is accepted is right, however long they are. */
START_TEST(joined_as_unrolled)
{
  enum { DRAWS = 1500, LONGEST = 6 };
  static fs_loop_draw d;
  uint32_t accepted = 0, refused = 0, alone = 0;
  for (uint64_t k = 0; k < DRAWS; k++) {
    fs_loop_fault fault;
    uint64_t seed = (fs_turn() * DRAWS + k) * 10 + (uint64_t)_i;
    fs_loop_draw_any(seed, &d);
    ck_fs(ctx, fs_verify_loop(ctx, &d.r, &d.rules, &fault));
    bool single = fault.kind == FS_LOOP_RIGHT;
    d.rules.joined = true;
    ck_fs(ctx, fs_verify_loop(ctx, &d.r, &d.rules, &fault));
    bool mine = fault.kind == FS_LOOP_RIGHT;
    const char *wrong = NULL;
    for (uint32_t run = d.r.copies; run <= LONGEST && wrong == NULL; run += d.r.copies) {
      wrong = fs_loop_brute_joined(&d.r, &d.rules, d.trips, run);
      ck_assert_msg(!mine || wrong == NULL, "seed %llu, runs of %u: accepted, but: %s",
                    (unsigned long long)seed, run, wrong);
    }
    accepted += mine;
    refused += !mine && single && wrong == NULL;
    alone += single && wrong != NULL;
  }
  fs_assert_seen(accepted, DRAWS / 10);
  fs_assert_seen(alone, 0); /* right in one run, wrong in several */
  ck_assert_uint_lt(refused, DRAWS / 20);
}
END_TEST

/* Loops that are wrong for rare reasons: descending chains that end above 1 - copies, waits at a
 * distance within such chains, and rings that only readers of a few later versions break. */
START_TEST(rare_loops)
{
  static const uint64_t seed[] = {121094, 382011, 351716, 367806, 54886, 120430};
  loop_tally t = {0};
  for (uint32_t k = 0; k < sizeof seed / sizeof *seed; k++) {
    judge_drawn(seed[k], &t);
  }
  ck_assert_uint_eq(t.right, 0);
}
END_TEST

FS_SUITE(verify_loop, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, loads_and_uses, deadlocks, works_in_place, last_iterations, versions_on_entry, lanes,
           a_barrier_tells_of_one_end, depths_and_trips_do_not_matter, malformed, nothing,
           memory_runs_out, rare_loops);
  FS_LOOPS(t, 0, 10, as_unrolled);
  FS_LOOPS(t, 0, 4, known_trips, joined_as_unrolled);
}
