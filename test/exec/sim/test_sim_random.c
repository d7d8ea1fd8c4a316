/* SPDX-License-Identifier: Apache-2.0 */
/* A stream is right whatever the durations, and one that lacks a wait is not.
 *
 * Random graphs are compiled and run with planned, random and adversarial durations: every digest
 * and every output must be that of the sequential evaluation.  Then one wait is taken away, and if
 * the verifier says that it was needed, some durations must show it. */
#include "exec/sim/sim_kit.h"
#include "kit/mutate/mutate.h"
#include "kit/quick.h"
#include "kit/suite.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 30, INVOCATIONS = 4, STREAMS = 6 };
#else
enum { GRAPHS = 120, INVOCATIONS = 12, STREAMS = 25 };
#endif
/* This is in percent of the streams that lack a wait. */
enum { LEAST_CAUGHT = 99 };

static fs_conformance sim;
static conf c;

/* The loop's number is the kind of durations. */
START_TEST(right_for_all_durations)
{
  sim_open(&c, &sim, (fsched_durations)_i, (uint64_t)_i);
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

/* These graphs are larger, with room for little more than one op. */
START_TEST(right_in_tight_memory)
{
  sim_open(&c, &sim, FSCHED_DURATIONS_ADVERSARIAL, 1);
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
                            .gangs = seed % 2 == 0,
                            .members = seed % 4 == 0};
    fsched_graph *g;
    fsched_program *p;
    rig r;
    conf_ok(&c, fs_gen_graph(c.ctx, &params, &g), "generate");
    conf_ok(&c, fsched_compile(c.ctx, g, &fs_quick, NULL, &p), "compile");
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

START_TEST(missing_waits_are_found)
{
  sim_counts n = {0};
  sim_open(&c, &sim, FSCHED_DURATIONS_ADVERSARIAL, 0);
  for (uint64_t seed = 1; seed <= STREAMS; seed++) {
    fs_gen_params params = sim_params(seed);
    fsched_program *p = sim_compile(&c, &params);
    uint32_t invocations = 4 * p->view.n_commands;
    bool by_guard;
    if (p->view.n_commands <= 64) {
      ck_assert(!sim_goes_wrong(&c, p, invocations, &by_guard));
      n.dropped += p->view.n_waits;
      for (uint32_t w = 0; w < p->view.n_waits; w++) {
        fsched_program *mutant = sim_drop_wait(p, w);
        sim_judge(&c, mutant, invocations, &n);
        fs_mutant_free(mutant);
      }
    }
    fsched_program_destroy(p);
  }
  conf_close(&c);
  sim_check_counts(&n, 4 * STREAMS, LEAST_CAUGHT);
}
END_TEST

FS_SUITE(sim_random, s) {
  TCase *t = fs_case(s, NULL);
  FS_LOOPS(t, FSCHED_DURATIONS_PLANNED, FSCHED_DURATIONS_ADVERSARIAL + 1, right_for_all_durations);
  FS_TESTS(t, right_in_tight_memory, missing_waits_are_found);
}
