/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that overlap with what is before and behind them: with planned durations the simulation is
 * never later than the plan; and a program that waits for less than some queue needs goes wrong, or
 * the verifier knows that it does not. */
#include "exec/sim/sim_kit.h"
#include "fsched/verify.h"
#include "kit/lag_gen.h"
#include "kit/mutate/mutate.h"
#include "kit/quick.h"
#include "kit/turn.h"

#include "kit/context.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 20, INVOCATIONS = 40 };
#else
enum { GRAPHS = 150, INVOCATIONS = 40 };
#endif

static fs_conformance sim;
static conf c;

/* NULL: the graph does not fit. */
static fsched_program *compile_random(uint64_t seed) {
  fsched_read_options o = {.size = sizeof o};
  fsched_graph *g;
  fsched_program *p = NULL;
  fs_text t;
  fs_text_init(&t, c.ctx);
  fs_lag_gen(seed, &t);
  ck_assert(!t.failed);
  if (fsched_graph_parse(c.ctx, "random", t.at, t.n - 1, &o, &g) == FSCHED_OK) {
    fs_status status = fsched_compile(c.ctx, g, &fs_quick, NULL, &p);
    ck_assert_msg(status != FSCHED_WRONG && status != FSCHED_SYSTEM, "seed %llu: %s\n%s",
                  (unsigned long long)seed, fs_test_diags(c.ctx), t.at);
    p = status == FSCHED_OK ? p : NULL;
    status = p == NULL ? FSCHED_OK : fsched_verify_program(c.ctx, p, g);
    ck_assert_msg(status == FSCHED_OK, "seed %llu: %s\n%s", (unsigned long long)seed,
                  fs_test_diags(c.ctx), t.at);
    fsched_graph_destroy(g);
  }
  fsched_diag_clear(c.ctx);
  fs_text_drop(&t);
  return p;
}

/* The loop whose command a wait is for, of one queue alone; FS_NONE: it is for no such command. */
static uint32_t loop_awaited(const fs_stream *s, uint32_t wait) {
  const fs_stream_wait *w = &s->waits[wait];
  if (w->axis >= s->n_queues) {
    return FS_NONE;
  }
  const fs_stream_command *k = &s->commands[s->queues[w->axis].command0 + w->epoch - 1];
  return k->gang_axis == FS_NONE ? FS_NONE : fs_command_op(k);
}

/* Whether the members of some gang wait for different things. */
static bool members_differ(const fs_stream *s) {
  for (uint32_t i = 0; i < s->n_commands; i++) {
    for (uint32_t k = i + 1; k < s->n_commands; k++) {
      const fs_stream_command *a = &s->commands[i], *b = &s->commands[k];
      if (a->gang_axis != FS_NONE && a->gang_axis == b->gang_axis &&
          a->gang_epoch == b->gang_epoch && a->n_waits != b->n_waits) {
        return true;
      }
    }
  }
  return false;
}

START_TEST(never_later_than_planned)
{
  uint32_t left = 0, entered = 0;
  sim_open(&c, &sim, FSCHED_DURATIONS_PLANNED, 0);
  for (uint64_t k = 0; k < GRAPHS; k++) {
    fsched_program *p = compile_random(fs_turn() * GRAPHS + k);
    bool some = false;
    rig r;
    if (p == NULL) {
      continue;
    }
    rig_open(&r, &c, &p->view, (rig_options){.timed = true});
    rig_run(&r, 1);
    for (uint32_t i = 0; i < p->view.n_commands; i++) {
      ck_assert_msg(r.record.end[i] <= p->view.commands[i].end * 1000, "graph %llu: command %u",
                    (unsigned long long)k, i);
    }
    for (uint32_t w = 0; w < p->view.n_waits; w++) {
      some = some || loop_awaited(&p->view, w) != FS_NONE;
    }
    left += some;
    entered += members_differ(&p->view);
    rig_close(&r);
    fsched_program_destroy(p);
  }
  conf_close(&c);
  fs_assert_seen(left, GRAPHS / 10);
  fs_assert_seen(entered, GRAPHS / 5);
}
END_TEST

/* What a program that lacks something does: it goes wrong for some durations, unless the verifier
 * says that it lacks nothing; then it never does. */
static void judge(const fsched_program *p, uint64_t seed, sim_counts *n) {
  bool by_guard = false;
  bool needed = fsched_verify_program(c.ctx, p, NULL) != FSCHED_OK;
  fsched_diag_clear(c.ctx);
  bool wrong = sim_goes_wrong(&c, p, INVOCATIONS, &by_guard);
  ck_assert_msg(needed || !wrong, "seed %llu: it verifies, and goes wrong",
                (unsigned long long)seed);
  n->dropped++;
  n->needed += needed;
  n->caught += wrong;
  n->by_guard += wrong && by_guard;
}

START_TEST(dropped_waits_are_caught)
{
  sim_counts n = {0};
  sim_open(&c, &sim, FSCHED_DURATIONS_ADVERSARIAL, fs_turn());
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = (fs_turn() + 500) * GRAPHS + k;
    fsched_program *p = compile_random(seed);
    for (uint32_t w = 0; p != NULL && w < p->view.n_waits; w++) {
      fsched_program *q = sim_drop_wait(p, w);
      judge(q, seed, &n);
      fs_mutant_free(q);
    }
    fsched_program_destroy(p);
  }
  conf_close(&c);
  ck_assert_uint_ge(n.needed * 10, n.dropped * 9); /* places are handed on by whole loops */
  sim_check_counts(&n, GRAPHS, 60);
}
END_TEST

/* Puts another point of the same gang in the place of a wait: of the whole gang one of its queues,
 * of one queue another.  False: there is none. */
static bool wait_for_another(fsched_program *p, uint32_t wait, fs_rng *rng) {
  fs_stream *s = &p->view;
  fs_stream_wait *w = (fs_stream_wait *)(uintptr_t)&s->waits[wait];
  uint32_t member[64], n = 0;
  for (uint32_t i = 0; i < s->n_commands && n < 64; i++) {
    const fs_stream_command *k = &s->commands[i];
    uint32_t loop = loop_awaited(s, wait);
    bool same = w->axis < s->n_queues ? fs_command_op(k) == loop
                                      : k->gang_axis == w->axis && k->gang_epoch == w->epoch;
    member[n] = i;
    n += same;
  }
  if (n < 2) {
    return false;
  }
  uint32_t to = member[fs_rng_below(rng, n)], queue = 0;
  while (to >= s->queues[queue].command0 + s->queues[queue].n_commands) {
    queue++;
  }
  *w = (fs_stream_wait){queue, s->commands[to].epoch};
  fs_mutant_repair(p);
  return true;
}

START_TEST(waits_for_other_queues_are_caught)
{
  sim_counts n = {0};
  sim_open(&c, &sim, FSCHED_DURATIONS_ADVERSARIAL, fs_turn());
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = (fs_turn() + 1000) * GRAPHS + k;
    fs_rng rng = {seed};
    fsched_program *p = compile_random(seed);
    for (uint32_t w = 0; p != NULL && w < p->view.n_waits; w++) {
      fsched_program *q = fs_mutant_copy(p);
      if (wait_for_another(q, w, &rng)) {
        judge(q, seed, &n);
      }
      fs_mutant_free(q);
    }
    fsched_program_destroy(p);
  }
  conf_close(&c);
  sim_check_counts(&n, GRAPHS / 5, 30);
}
END_TEST

FS_SUITE(sim_lags, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, never_later_than_planned, dropped_waits_are_caught,
           waits_for_other_queues_are_caught);
}
