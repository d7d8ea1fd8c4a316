/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that a sequencer issues: unrolling shows that syncs keep all waits, and that none of them
 * can be left out or keep more; how long they take is what a walk over all of it says. */
#include <stdio.h>

#include "kit/issue_judge.h"
#include "kit/shared_facts.h"
#include "kit/turn.h"
#include "model/issued.h"
#include "modulo/body_gen.h"
#include "modulo/modulo.h"
#include "modulo/rolled.h"

#include "kit/context.h"

enum { TRIPS = 9 };

typedef struct issued_case {
  fs_body b;
  fs_modulo_plan plan;
  fs_rolled_loop loop;
  bool counting[FS_BODY_QUEUES], possible;
} issued_case;

static void make_case(issued_case *x, uint64_t seed) {
  fs_body_params g = {.seed = seed, .n = 2 + (uint32_t)(seed % 8), .whole = true};
  fs_rng rng = {seed};
  g.lanes = seed % 4 == 0;
  g.gangs = seed % 3 == 0;
  fs_body_draw(&g, &x->b);
  for (uint32_t q = 0; q < FS_BODY_QUEUES; q++) {
    x->counting[q] = fs_rng_one_in(&rng, 2);
  }
  x->possible = false;
  const fs_modulo_options o = {.steps = 1 << 16};
  ck_fs(ctx, fs_modulo_schedule(ctx, &own_arena, &x->b.p, &o, &x->plan));
  if (x->plan.found.is == FS_YES) {
    ck_fs(ctx, fs_modulo_issued(ctx, &own_arena, &x->b.p, &x->plan, x->counting, &x->loop,
                                &x->possible));
  }
}

/* Without one sync, or where one keeps one more, some wait is not kept. */
static void check_needed(issued_case *x, uint64_t seed) {
  fs_rolled_stop *stop = x->loop.stop;
  for (uint32_t i = 0; i < x->loop.n_stops; i++) {
    fs_rolled_stop kept = stop[i];
    if (kept.queue != FS_NONE) {
      stop[i].keep++;
      ck_assert_msg(!fs_issue_is_right(&x->loop, TRIPS + 16), "seed %lu: sync %u may keep more",
                    (unsigned long)seed, i);
      stop[i].keep = 1 << 20;
    } else {
      stop[i] = (fs_rolled_stop){0, UINT32_MAX - 1, 0}; /* of no queue */
    }
    ck_assert_msg(!fs_issue_is_right(&x->loop, TRIPS + 16), "seed %lu: sync %u is not needed",
                  (unsigned long)seed, i);
    stop[i] = kept;
  }
}

/* When an instance is over, by looking at all that was issued before it. */
typedef struct walked {
  uint64_t over[4096];
  uint32_t queue[4096];
  uint32_t n;
} walked;

static uint64_t latest(const walked *w, uint32_t queue, uint64_t keep) {
  uint64_t most = 0, n = 0;
  for (uint32_t i = w->n; i-- > 0;) {
    if (w->queue[i] == queue && n++ >= keep) {
      most = fs_max(most, w->over[i]);
    }
  }
  return most;
}

static const fs_rolled_command *at_place(const fs_rolled_loop *r, uint32_t place, uint32_t *q) {
  for (*q = 0; *q < r->n_queues; ++*q) {
    for (uint32_t c = r->command0[*q]; c < r->command0[*q + 1]; c++) {
      if (r->command[c].issue == place) {
        return &r->command[c];
      }
    }
  }
  ck_abort_msg("no command has place %u", place);
}

/* Gangs are left out. */
static uint64_t walk(const issued_case *x, uint64_t trip) {
  static walked w;
  const fs_rolled_loop *r = &x->loop;
  uint64_t now = 0, end = 0;
  w.n = 0;
  for (uint64_t t = 0; t < trip + 32; t++) {
    for (uint32_t place = 0, q; place < r->n_commands; place++) {
      for (uint32_t i = 0; i < r->n_stops; i++) {
        for (uint32_t k = 0; k < r->n_queues && r->stop[i].at == place; k++) {
          bool counts = r->stop[i].queue == FS_NONE || r->stop[i].queue == r->queue[k];
          now = counts ? fs_max(now, latest(&w, k, r->stop[i].keep)) : now;
        }
      }
      const fs_rolled_command *c = at_place(r, place, &q);
      bool runs = t >= c->shift && (t - c->shift) * r->copies + c->copy < trip;
      uint64_t start = fs_max(now, latest(&w, q, 0));
      w.queue[w.n] = q;
      w.over[w.n++] = runs ? start + x->b.time[c->member] : latest(&w, q, 0);
      end = fs_max(end, w.over[w.n - 1]);
    }
  }
  return end;
}

START_TEST(syncs)
{
  static issued_case x;
  uint32_t full = 0, counting = 0, several = 0, gangs = 0;
  for (uint64_t k = 0; k < 150; k++) {
    uint64_t seed = (fs_turn() * 10 + (uint64_t)_i) * 150 + k;
    make_case(&x, seed);
    if (x.possible) {
      ck_assert_msg(fs_issue_is_right(&x.loop, TRIPS), "seed %lu", (unsigned long)seed);
      check_needed(&x, seed);
      several += x.loop.copies > 1;
      gangs += x.loop.n_commands > x.loop.copies * x.b.p.n;
    }
    for (uint32_t i = 0; x.possible && i < x.loop.n_stops; i++) {
      full += x.loop.stop[i].queue == FS_NONE;
      counting += x.loop.stop[i].queue != FS_NONE;
    }
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(full, 20);
  fs_assert_seen(counting, 20);
  fs_assert_seen(several, 0);
  fs_assert_seen(gangs, 10);
}
END_TEST

START_TEST(times)
{
  static issued_case x;
  uint32_t n = 0, quicker = 0;
  for (uint64_t k = 0; k < 60; k++) {
    uint64_t seed = (fs_turn() * 10 + (uint64_t)_i) * 60 + k;
    make_case(&x, seed);
    if (x.possible && seed % 3 != 0) {
      fs_issued_time t;
      uint64_t trip = 1 + seed % 30;
      ck_fs(ctx, fs_issued_run(ctx, &x.loop, x.b.time, x.b.latency, trip, &t));
      ck_assert_uint_eq(t.span, walk(&x, trip));
      /* Copies are planned in order; where that is not proven to lose nothing, a run may gain. */
      bool less = t.num * (uint64_t)x.plan.ii.den < (uint64_t)x.plan.ii.num * t.den;
      ck_assert_msg(!less || !x.plan.proven, "seed %lu: a run has a lesser interval than is proven",
                    (unsigned long)seed);
      quicker += less;
      n++;
    }
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(n, 20);
  ck_assert_uint_le(quicker, 2);
}
END_TEST

/* --- facts --- */

/* A load and a use, P steps later, with slots D. */
static void load_and_use(uint32_t depth, uint32_t prefetch, fs_rolled_loop *out) {
  static const bool counting[] = {true, true};
  const fs_tick time[] = {4, 4};
  const uint32_t eligible0[] = {0, 1, 2}, eligible[] = {0, 1}, reader0[] = {0, 1};
  const fs_modulo_edge edge = {0, 1, 0};
  const fs_modulo_ring ring = {.writer = 0, .memory = FS_NONE, .size = 1, .depth = depth};
  const fs_modulo_reader reader = {.op = 1};
  const fs_modulo_problem p = {.n = 2,
                               .n_queues = 2,
                               .n_edges = 1,
                               .n_rings = 1,
                               .time = time,
                               .latency = time,
                               .eligible0 = eligible0,
                               .eligible = eligible,
                               .edge = &edge,
                               .ring = &ring,
                               .reader0 = reader0,
                               .reader = &reader};
  int64_t start[] = {0, 8 * (int64_t)prefetch + 4};
  uint32_t shift[] = {0, prefetch}, queue[] = {0, 1};
  const fs_modulo_plan plan = {.found = {.is = FS_YES},
                               .copies = 1,
                               .scale = 1,
                               .period = 8,
                               .start = start,
                               .shift = shift,
                               .queue = queue,
                               .depth = &depth};
  bool possible;
  ck_fs(ctx, fs_modulo_issued(ctx, &own_arena, &p, &plan, counting, out, &possible));
  ck_assert(possible);
  ck_assert(fs_issue_is_right(out, 3 * depth));
}

/* The sync for a queue; it stands in front of the load, but if that is what it waits for. */
static uint32_t keep_of(const fs_rolled_loop *r, uint32_t queue, uint32_t place) {
  ck_assert_uint_eq(r->n_stops, 2);
  const fs_rolled_stop *s = r->stop[0].queue == queue ? &r->stop[0] : &r->stop[1];
  ck_assert_uint_eq(s->queue, queue);
  ck_assert_uint_eq(s->at, place);
  return s->keep;
}

START_TEST(facts)
{
  FILE *file = fs_shared_facts("circular_vectors.txt");
  char line[4096], kind[32];
  uint32_t seen = 0, depth, prefetch, keep;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    fs_rolled_loop loop;
    if (sscanf(line, "wait kind=%31s D=%u P=%u keep=%u", kind, &depth, &prefetch, &keep) == 4) {
      bool uses = strcmp(kind, "computeWAR") == 0;
      load_and_use(depth, prefetch, &loop);
      ck_assert_uint_eq(keep_of(&loop, uses, !uses && prefetch == 0), keep);
      seen++;
    }
    fs_arena_release(&own_arena);
  }
  if (file != NULL) {
    (void)fclose(file);
    ck_assert_uint_eq(seen, 7);
  }
}
END_TEST

/* Appends "3@0" for iteration 3 in slot 0; "-" stands for none. */
static void put_slot(char *text, size_t room, uint32_t i, uint32_t slots) {
  size_t n = strcmp(text, "-") == 0 ? 0 : strlen(text);
  (void)snprintf(text + n, room - n, "%s%u@%u", n == 0 ? "" : ",", i, i % slots);
}

/* Steps without uses are the prologue, those without loads the epilogue. */
START_TEST(trips)
{
  FILE *file = fs_shared_facts("circular_vectors.txt");
  char line[4096], want[2][256];
  uint32_t seen = 0, trip, depth, prefetch, pro, all, epi;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    fs_rolled_loop r;
    if (sscanf(line, "trip N=%u D=%u P=%u pro=%u main=%u epi=%u loads=%255s uses=%255s", &trip,
               &depth, &prefetch, &pro, &all, &epi, want[0], want[1]) != 8) {
      continue;
    }
    load_and_use(depth, prefetch, &r);
    char got[2][256] = {"-", "-"};
    uint32_t steps[4] = {0, 0, 0, 0};
    for (uint32_t t = 0; t < trip + prefetch; t++) {
      uint32_t which = 0;
      for (uint32_t place = 0; place < 2; place++) {
        const fs_rolled_command *c = &r.command[r.command[0].issue == place ? 0 : 1];
        if (t >= c->shift && t - c->shift < trip) {
          which |= 1u << c->member;
          put_slot(got[c->member], sizeof *got, t - c->shift, trip < depth ? trip : depth);
        }
      }
      steps[which]++;
    }
    ck_assert_uint_eq(steps[1], pro);
    ck_assert_uint_eq(steps[3], all);
    ck_assert_uint_eq(steps[2], epi);
    ck_assert_str_eq(got[0], want[0]);
    ck_assert_str_eq(got[1], want[1]);
    fs_arena_release(&own_arena);
    seen++;
  }
  if (file != NULL) {
    (void)fclose(file);
    ck_assert_uint_eq(seen, 6);
  }
}
END_TEST

START_TEST(keeps)
{
  for (uint32_t depth = 2; depth < 12; depth++) {
    for (uint32_t prefetch = 0; prefetch < depth; prefetch++) {
      fs_rolled_loop loop;
      load_and_use(depth, prefetch, &loop);
      ck_assert_uint_eq(keep_of(&loop, 0, prefetch == 0), prefetch == 0 ? 0 : prefetch - 1);
      ck_assert_uint_eq(keep_of(&loop, 1, 0), depth - prefetch - 1);
      fs_arena_release(&own_arena);
    }
  }
}
END_TEST

/* Of a long run as much is followed as shows its period, if it has one: the rest takes what
 * following it says. */
START_TEST(long_runs)
{
  static issued_case x;
  fs_rolled_period period;
  uint32_t n = 0;
  for (uint64_t k = 0; k < 60; k++) {
    uint64_t seed = (fs_turn() * 10 + (uint64_t)_i) * 60 + k, trip = 2500 + 97 * k;
    make_case(&x, seed);
    if (x.possible) {
      fs_issued_time t;
      fs_rolled_starts all;
      ck_fs(ctx, fs_issued_run(ctx, &x.loop, x.b.time, x.b.latency, trip, &t));
      ck_fs(ctx, fs_issued_follow(&own_arena, &x.loop, x.b.time, x.b.latency, 200, &all));
      bool repeats = fs_rolled_repeats(&x.loop, &all, &period);
      ck_fs(ctx, fs_issued_follow(&own_arena, &x.loop, x.b.time, x.b.latency, trip, &all));
      ck_assert_msg(!repeats || t.span == all.end, "seed %lu: %lu, not %lu", (unsigned long)seed,
                    (unsigned long)t.span, (unsigned long)all.end);
      n += repeats;
    }
    fs_arena_release(&own_arena);
  }
  fs_assert_seen(n, 30);
}
END_TEST

FS_SUITE(issued, s) {
  TCase *t = fs_case(s, fs_test_arena);
  FS_LOOPS(t, 0, 4, syncs, times, long_runs);
  FS_TESTS(t, facts, trips, keeps);
}
