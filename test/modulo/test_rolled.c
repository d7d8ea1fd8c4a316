/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as loops that stay loops: the verifier, which shares nothing with this, proves them right;
 * nearly no wait can be left out; the time of a run is what a formula says. */
#include "kit/turn.h"
#include "modulo/body_gen.h"
#include "modulo/modulo.h"
#include "modulo/plain.h"
#include "modulo/rolled.h"
#include "verify/loop/loop.h"

#include "kit/context.h"

typedef struct made_loop {
  fs_body b;
  fs_modulo_plan plan;
  fs_rolled_loop loop;
  bool possible;
  fs_loop_rules rules;
  fs_loop_order order[FS_BODY_EDGES];
  fs_rolled_reader reader[FS_BODY_READERS + FS_BODY_OPS];
  uint32_t lane0[2 * 3 * FS_BODY_OPS + 1], lane[4 * 3 * FS_BODY_OPS];
} made_loop;

/* The members of each lane, of any copy. */
static void list_lanes(made_loop *m) {
  const fs_modulo_problem *p = &m->b.p;
  for (uint32_t k = 0; k < p->n_resources; k++) {
    for (uint32_t l = 0; l < p->lanes[k]; l++) {
      uint32_t n = m->lane0[m->rules.n_lanes];
      for (uint32_t x = 0; x < m->plan.copies * p->n; x++) {
        uint32_t at = m->plan.lane0[x], op = x % p->n;
        for (uint32_t u = p->use0[op]; u < p->use0[op + 1]; u++) {
          for (uint32_t i = 0; i < p->use[u].amount; i++, at++) {
            if (p->use[u].resource == k && m->plan.lane[at] == l) {
              m->lane[n++] = op;
            }
          }
        }
      }
      m->lane0[++m->rules.n_lanes] = n;
    }
  }
  m->rules.lane0 = m->lane0;
  m->rules.lane = m->lane;
}

/* Writers in place read, too. */
static void add_readers(made_loop *m) {
  uint32_t n = 0;
  for (uint32_t r = 0; r < m->loop.n_rings; r++) {
    fs_rolled_ring *ring = &m->loop.ring[r];
    uint32_t first = n;
    for (uint32_t i = ring->reader0; i < ring->reader0 + ring->n_readers; i++) {
      m->reader[n++] = m->loop.reader[i];
    }
    if (m->b.p.ring[r].in_place) {
      m->reader[n++] = (fs_rolled_reader){ring->writer, ring->depth};
    }
    ring->reader0 = first;
    ring->n_readers = n - first;
  }
  m->loop.reader = m->reader;
}

/* Makes a loop of a random body; `o` NULL: of the plan without a search. */
static void make_loop(made_loop *m, const fs_body_params *g, const fs_modulo_options *o) {
  memset(&m->rules, 0, sizeof m->rules);
  m->lane0[0] = 0;
  fs_body_draw(g, &m->b);
  if (o == NULL) {
    m->plan = (fs_modulo_plan){0};
    ck_fs(ctx, fs_modulo_plain(&own_arena, &m->b.p, &m->plan));
  } else {
    ck_fs(ctx, fs_modulo_schedule(ctx, &own_arena, &m->b.p, o, &m->plan));
  }
  m->possible = false;
  if (m->plan.found.is != FS_YES) {
    return;
  }
  m->b.p.held_back = true; /* waits are for epochs, as the verifier takes them */
  ck_fs(ctx, fs_modulo_rolled(ctx, &own_arena, &m->b.p, &m->plan, &m->loop, &m->possible));
  if (m->possible) {
    add_readers(m);
  }
  m->rules.n_members = g->n;
  m->rules.n_orders = m->b.p.n_edges;
  for (uint32_t e = 0; e < m->b.p.n_edges; e++) {
    m->order[e] = (fs_loop_order){m->b.edge[e].from, m->b.edge[e].to, m->b.edge[e].distance};
  }
  m->rules.order = m->order;
  if (m->plan.copies == 1) { /* else an op's copies have lanes of their own */
    list_lanes(m);
  }
}

static fs_loop_fault fault_of(const made_loop *m) {
  fs_loop_fault fault;
  ck_fs(ctx, fs_verify_loop(ctx, &m->loop, &m->rules, &fault));
  return fault;
}

/* Takes one wait out; what the verifier says then. */
static fs_loop_fault fault_without(made_loop *m, uint32_t wait) {
  fs_rolled_loop kept = m->loop;
  fs_rolled_command *command = calloc(kept.n_commands, sizeof *command);
  fs_rolled_wait *waits = calloc(kept.n_waits, sizeof *waits);
  memcpy(command, kept.command, kept.n_commands * sizeof *command);
  for (uint32_t w = 0, n = 0; w < kept.n_waits; w++) {
    waits[n] = kept.wait[w];
    n += w != wait;
  }
  for (uint32_t c = 0; c < kept.n_commands; c++) {
    bool own = wait >= command[c].wait0 && wait < command[c].wait0 + command[c].n_waits;
    command[c].n_waits -= own;
    command[c].wait0 -= command[c].wait0 > wait;
  }
  m->loop.command = command;
  m->loop.wait = waits;
  m->loop.n_waits--;
  fs_loop_fault fault = fault_of(m);
  m->loop = kept;
  free(command);
  free(waits);
  return fault;
}

static void check_right(made_loop *m, uint64_t seed) {
  fs_loop_fault fault = fault_of(m);
  ck_assert_msg(fault.kind == FS_LOOP_RIGHT, "seed %lu: fault %d, %s, %u to %u at %ld",
                (unsigned long)seed, fault.kind, fault.what == NULL ? "" : fault.what, fault.from,
                fault.to, (long)fault.distance);
}

/* Of a long run as much is followed as shows its period, if it has one: the rest takes what
 * following it says, whatever the interval that is given. */
static bool check_long_run(const made_loop *m, uint64_t seed) {
  uint64_t trip = 2500 + seed % 2000, span;
  fs_rolled_starts all;
  fs_rolled_period period;
  ck_fs(ctx, fs_rolled_follow(&own_arena, &m->loop, m->b.time, m->b.latency, 360, &all));
  bool repeats = fs_rolled_repeats(&m->loop, &all, &period);
  ck_fs(ctx, fs_rolled_span(ctx, &m->loop, m->b.time, m->b.latency, trip, 1000, 1, &span));
  ck_fs(ctx, fs_rolled_follow(&own_arena, &m->loop, m->b.time, m->b.latency, trip, &all));
  ck_assert(!all.locks_up);
  ck_assert_msg(!repeats || span == all.end, "seed %lu: %lu, not %lu", (unsigned long)seed,
                (unsigned long)span, (unsigned long)all.end);
  return repeats;
}

START_TEST(are_right)
{
  static made_loop m;
  uint32_t several = 0, lanes = 0, in_place = 0, repeat = 0;
  for (uint64_t k = 0; k < 150; k++) {
    fs_body_params g = {.seed = (fs_turn() * 10 + (uint64_t)_i) * 150 + k, .n = 2 + k % 11};
    g.lanes = k % 4 == 0;
    g.open = k % 3 == 0;
    g.held_back = k % 2 == 0;
    g.gangs = k % 7 == 0;
    g.in_place = !g.open && k % 5 < 2;
    make_loop(&m, &g, &(fs_modulo_options){.steps = 1 << 18});
    if (m.possible) {
      check_right(&m, g.seed);
      repeat += check_long_run(&m, g.seed);
      in_place += g.in_place && m.plan.copies > 1;
      several += m.plan.copies > 1;
      lanes += m.rules.n_lanes > 0;
    }
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(several, 0);
  fs_assert_seen(in_place, 0);
  fs_assert_seen(lanes, 0);
  fs_assert_seen(repeat, 40);
}
END_TEST

START_TEST(plain_ones_are_right)
{
  static made_loop m;
  for (uint64_t k = 0; k < 60; k++) {
    fs_body_params g = {.seed = (fs_turn() * 10 + (uint64_t)_i) * 60 + k, .n = 2 + k % 40};
    g.lanes = k % 2 == 0;
    g.open = k % 3 == 0;
    g.gangs = k % 5 == 0;
    make_loop(&m, &g, NULL);
    ck_assert(m.possible);
    check_right(&m, g.seed);
    fs_arena_release(&own_arena);
  }
}
END_TEST

START_TEST(few_waits_are_superfluous)
{
  static made_loop m;
  uint32_t waits = 0, superfluous = 0;
  for (uint64_t k = 0; k < 60; k++) {
    fs_body_params g = {.seed = (fs_turn() * 10 + (uint64_t)_i) * 60 + k, .n = 2 + k % 7};
    g.held_back = k % 2 == 0;
    make_loop(&m, &g, &(fs_modulo_options){.steps = 1 << 18, .copies = 1});
    for (uint32_t w = 0; m.possible && w < m.loop.n_waits; w++, waits++) {
      superfluous += fault_without(&m, w).kind == FS_LOOP_RIGHT;
    }
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(waits, 100);
  ck_assert_uint_lt(superfluous * 50, waits);
}
END_TEST

START_TEST(larger_bodies_are_right)
{
  static made_loop m;
  for (uint64_t k = 0; k < 3; k++) {
    fs_body_params g = {.seed = fs_turn() * 3 + k, .n = 40 + (uint32_t)k * 30, .held_back = true};
    make_loop(&m, &g, &(fs_modulo_options){.steps = 1 << 20, .copies = 1, .quick = true});
    if (m.possible) {
      check_right(&m, g.seed);
    }
    fs_arena_release(&own_arena);
  }
}
END_TEST

/* A load and a use on queues of their own, with a ring of D between them.  The time of N iterations
 * is max(L + C + (N - 1) m, (q + 1) (L + C) + r m), with m = max(b, C) and q, r of (N - 1) / D. */
static uint64_t formula(uint64_t latency, uint64_t busy, uint64_t use, uint64_t n, uint64_t depth) {
  uint64_t m = fs_max(busy, use), q = (n - 1) / depth, rest = (n - 1) % depth;
  return fs_max(latency + use + (n - 1) * m, (q + 1) * (latency + use) + rest * m);
}

/* The interval that is given is none: it counts where no period is seen alone. */
static void check_formula(uint64_t busy, uint64_t use, uint64_t n, uint64_t depth) {
  fs_rolled_command command[] = {{.n_waits = 1}, {.member = 1, .wait0 = 1, .n_waits = 1}};
  fs_rolled_wait wait[] = {{1, 0}, {0, 0}};
  uint32_t queue[] = {0, 1}, command0[] = {0, 1, 2};
  fs_rolled_loop loop = {.copies = 1, .n_queues = 2, .queue = queue, .command0 = command0};
  uint64_t time[] = {busy, use}, latency[] = {busy + 3, use}, span;
  loop.n_commands = loop.n_waits = 2;
  loop.command = command;
  loop.wait = wait;
  wait[0].distance = (uint32_t)depth;
  command[0].slow = true;
  ck_fs(ctx, fs_rolled_span(ctx, &loop, time, latency, n, 1000, 1, &span));
  ck_assert_msg(span == formula(busy + 3, busy, use, n, depth), "%lu of %lu slots", (unsigned long)n,
                (unsigned long)depth);
}

START_TEST(spans)
{
  for (uint32_t x = 0; x < 5 * 12 * 12; x++) {
    check_formula(1 + x / 144, 2, 1 + x % 12, 1 + x / 12 % 12);
  }
}
END_TEST

/* A period is seen in a few iterations, and in more of them where slots are many. */
START_TEST(periods)
{
  static const uint64_t trip[] = {511, 512, 513, 600, 5000, 8192, 8193, 1000000, UINT64_C(1) << 40};
  static const uint64_t depth[] = {1, 2, 3, 7, 100, 200, 300, 500, 1000, 2000};
  for (uint32_t n = 0; n < sizeof trip / sizeof *trip; n++) {
    for (uint32_t d = 0; d < sizeof depth / sizeof *depth; d++) {
      check_formula(1, 2, trip[n], depth[d]);
      check_formula(5, 2, trip[n], depth[d]);
    }
  }
}
END_TEST

/* Beyond what is followed, iterations come as the interval says. */
START_TEST(long_spans)
{
  uint32_t queue[] = {0}, command0[] = {0, 1};
  fs_rolled_command command[] = {{0}};
  fs_rolled_loop loop = {.copies = 1, .n_queues = 1, .queue = queue, .command0 = command0};
  loop.n_commands = 1;
  loop.command = command;
  uint64_t time[] = {3}, span, n = UINT64_C(1) << 40;
  ck_fs(ctx, fs_rolled_span(ctx, &loop, time, time, n, 3, 1, &span));
  ck_assert_uint_eq(span, 3 * n);
}
END_TEST

/* Members of a gang start together, each in its own step; a queue may have nothing to do.  On a, x
 * of 2 ticks stands before the gang g of 3; on b, g alone, a step later. */
START_TEST(gangs_and_idle_queues)
{
  uint32_t queue[] = {0, 1, 2}, command0[] = {0, 2, 2, 3};
  fs_rolled_command command[] = {{.member = 0}, {.member = 1}, {.member = 1, .shift = 1}};
  fs_rolled_loop loop = {.copies = 1, .n_queues = 3, .queue = queue, .command0 = command0};
  loop.n_commands = 3;
  loop.command = command;
  uint64_t time[] = {2, 3}, span;
  fs_rolled_starts x;
  ck_fs(ctx, fs_rolled_follow(&own_arena, &loop, time, time, 4, &x));
  ck_assert_uint_eq(x.end, 20);
  for (uint64_t i = 0; i < 4; i++) {
    ck_assert_uint_eq(x.start[x.first[0] + i], 5 * i);
    ck_assert_uint_eq(x.start[x.first[1] + i], 5 * i + 2);
    ck_assert_uint_eq(x.start[x.first[2] + i], 5 * i + 2);
  }
  ck_fs(ctx, fs_rolled_span(ctx, &loop, time, time, 1000000, 5, 1, &span));
  ck_assert_uint_eq(span, 5000000);
}
END_TEST

FS_SUITE(rolled, s) {
  TCase *t = fs_case(s, fs_test_arena);
  FS_LOOPS(t, 0, 4, are_right, plain_ones_are_right, few_waits_are_superfluous);
  FS_TESTS(t, larger_bodies_are_right, spans, periods, long_spans, gangs_and_idle_queues);
}
