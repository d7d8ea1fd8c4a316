/* SPDX-License-Identifier: Apache-2.0 */
/* A stream is right whatever the durations, and one that lacks a wait is not.
 *
 * Random graphs are compiled and run with planned, random and adversarial durations: every digest
 * and every output must be that of the sequential evaluation.  Then one wait is taken away, and if
 * the verifier says that it was needed, some durations must show it. */
#include "conformance_kit.h"
#include "fsched/verify.h"
#include "mutate.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 30, INVOCATIONS = 4, STREAMS = 6 };
#else
enum { GRAPHS = 120, INVOCATIONS = 12, STREAMS = 25 };
#endif
/* In percent of the streams that lack a wait. */
enum { LEAST_CAUGHT = 99 };

static fs_conformance sim;
static conf c;

static void open_sim(fsched_durations durations, uint64_t seed) {
  sim = (fs_conformance){.device = {.kind = "sim", .durations = durations, .seed = seed}};
  conf_open(&c, &sim);
}

/* The loop's number is the kind of durations. */
START_TEST(right_for_all_durations)
{
  open_sim((fsched_durations)_i, (uint64_t)_i);
  for (uint64_t seed = 1000; seed < 1000 + GRAPHS; seed++) {
    rig r;
    fsched_program *p = conf_compile(&c, seed);
    rig_open(&r, &c, &p->view, (rig_options){.timed = true});
    for (uint32_t k = 0; k < (_i == 0 ? 1 : INVOCATIONS); k++) {
      rig_run(&r, k);
    }
    rig_close(&r);
    fsched_program_destroy(p);
  }
  conf_close(&c);
}
END_TEST

/* Larger ones, in room for little more than one op. */
START_TEST(right_in_tight_memory)
{
  open_sim(FSCHED_DURATIONS_ADVERSARIAL, 1);
  for (uint64_t seed = 1; seed <= GRAPHS / 5; seed++) {
    fs_gen_params params = {.seed = seed,
                            .n_ops = 100,
                            .n_queues = 2 + (uint32_t)(seed % 4),
                            .n_memories = 1 + (uint32_t)(seed % 2),
                            .backing = true,
                            .scratch = true,
                            .inplace = true,
                            .inouts = true,
                            .ats = true,
                            .io = true,
                            .versions = true,
                            .gangs = seed % 2 == 0};
    fsched_graph *g;
    fsched_program *p;
    rig r;
    conf_ok(&c, fs_gen_graph(c.ctx, &params, &g), "generate");
    conf_ok(&c, fsched_compile(c.ctx, g, NULL, NULL, &p), "compile");
    rig_open(&r, &c, &p->view, (rig_options){0});
    for (uint32_t k = 0; k < INVOCATIONS; k++) {
      rig_run(&r, k);
    }
    rig_close(&r);
    fsched_program_destroy(p);
    fsched_graph_destroy(g);
  }
  conf_close(&c);
}
END_TEST

/* ---- streams that lack a wait */

static fsched_program *drop_wait(const fsched_program *p, uint32_t wait) {
  fsched_program *copy = fs_mutant_copy(p);
  fs_stream *s = &copy->view;
  fs_stream_wait *waits = (fs_stream_wait *)(uintptr_t)s->waits;
  fs_stream_command *commands = (fs_stream_command *)(uintptr_t)s->commands;
  memmove(waits + wait, waits + wait + 1, (s->n_waits - wait - 1) * sizeof *waits);
  for (uint32_t i = 0; i < s->n_commands; i++) {
    if (commands[i].wait0 <= wait && wait < commands[i].wait0 + commands[i].n_waits) {
      commands[i].n_waits--;
    } else if (commands[i].wait0 > wait) {
      commands[i].wait0--;
    }
  }
  s->n_waits--;
  fs_mutant_repair(copy);
  return copy;
}

/* Whether one of `n` invocations goes wrong; *by_guard: because two touched the same at once. */
static bool goes_wrong(const fsched_program *p, uint32_t n, bool *by_guard) {
  rig r;
  bool wrong = false;
  rig_open(&r, &c, &p->view, (rig_options){0});
  for (uint32_t k = 0; k < n && !wrong; k++) {
    rig_fill(&r, k);
    rig_start(&r);
    fsched_cause cause = rig_await(&r);
    ck_assert(cause == FSCHED_CAUSE_NONE || cause == FSCHED_CAUSE_WRONG);
    *by_guard = cause == FSCHED_CAUSE_WRONG;
    wrong = *by_guard || rig_compare(&r) != FSCHED_OK;
    fsched_diag_clear(c.ctx);
  }
  rig_close(&r);
  return wrong;
}

typedef struct counts {
  uint32_t needed, caught, by_guard;
} counts;

static void drop_each(const fsched_program *p, counts *n) {
  for (uint32_t w = 0; w < p->view.n_waits; w++) {
    fsched_program *mutant = drop_wait(p, w);
    if (fsched_verify_program(c.ctx, mutant, NULL) == FSCHED_WRONG) {
      bool by_guard = false;
      fsched_diag_clear(c.ctx);
      n->needed++;
      n->caught += goes_wrong(mutant, 4 * p->view.n_commands, &by_guard);
      n->by_guard += by_guard;
    }
    fsched_diag_clear(c.ctx);
    fs_mutant_free(mutant);
  }
}

/* Only memory orders the ops, so that all that a wait is for is seen in bytes. */
START_TEST(missing_waits_are_found)
{
  counts n = {0};
  open_sim(FSCHED_DURATIONS_ADVERSARIAL, 0);
  for (uint64_t seed = 1; seed <= STREAMS; seed++) {
    fs_gen_params params = {.seed = seed,
                            .n_ops = 16,
                            .n_queues = 2 + (uint32_t)(seed % 3),
                            .n_memories = (uint32_t)(seed % 3),
                            .backing = true,
                            .scratch = seed % 2 == 0,
                            .inplace = true,
                            .inouts = true,
                            .ats = seed % 4 == 0,
                            .io = true,
                            .versions = seed % 5 == 0};
    fsched_graph *g;
    fsched_program *p;
    bool by_guard;
    conf_ok(&c, fs_gen_graph(c.ctx, &params, &g), "generate");
    conf_ok(&c, fsched_compile(c.ctx, g, NULL, NULL, &p), "compile");
    if (p->view.n_commands <= 64) {
      ck_assert(!goes_wrong(p, 4 * p->view.n_commands, &by_guard));
      drop_each(p, &n);
    }
    fsched_program_destroy(p);
    fsched_graph_destroy(g);
  }
  conf_close(&c);
  ck_assert_uint_gt(n.needed, 4 * STREAMS);
  ck_assert_msg(100 * n.caught >= LEAST_CAUGHT * n.needed, "%u of %u are found, %u as they happen",
                n.caught, n.needed, n.by_guard);
  ck_assert_uint_gt(n.by_guard, 0);
}
END_TEST

Suite *fs_suite_sim_random(void) {
  Suite *s = suite_create("sim_random");
  TCase *t = tcase_create("sim_random");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, right_for_all_durations, FSCHED_DURATIONS_PLANNED,
                      FSCHED_DURATIONS_ADVERSARIAL + 1);
  tcase_add_test(t, right_in_tight_memory);
  tcase_add_test(t, missing_waits_are_found);
  suite_add_tcase(s, t);
  return s;
}
