/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/sim/sim_kit.h"

#include "fsched/verify.h"
#include "kit/mutate/mutate.h"
#include "kit/quick.h"

void sim_open(conf *c, fs_conformance *sim, fsched_durations durations, uint64_t seed) {
  *sim = (fs_conformance){.device = {.kind = "sim", .durations = durations, .seed = seed}};
  conf_open(c, sim);
}

fs_gen_params sim_params(uint64_t seed) {
  return (fs_gen_params){.seed = seed,
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
}

fsched_program *sim_compile(const conf *c, const fs_gen_params *params) {
  fsched_graph *g;
  fsched_program *p;
  conf_ok(c, fs_gen_graph(c->ctx, params, &g), "generate");
  conf_ok(c, fsched_compile(c->ctx, g, &fs_quick, NULL, &p), "compile");
  fsched_graph_destroy(g);
  return p;
}

fsched_program *sim_drop_wait(const fsched_program *p, uint32_t wait) {
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

bool sim_goes_wrong(const conf *c, const fsched_program *p, uint32_t n, bool *by_guard) {
  rig r;
  bool wrong = false;
  rig_open(&r, c, &p->view, (rig_options){0});
  for (uint32_t k = 0; k < n && !wrong; k++) {
    rig_fill(&r, k);
    rig_start(&r);
    fsched_cause cause = rig_await(&r);
    ck_assert(cause == FSCHED_CAUSE_NONE || cause == FSCHED_CAUSE_WRONG);
    *by_guard = cause == FSCHED_CAUSE_WRONG;
    wrong = *by_guard || rig_compare(&r) != FSCHED_OK;
    fsched_diag_clear(c->ctx);
  }
  rig_close(&r);
  return wrong;
}

void sim_judge(const conf *c, const fsched_program *mutant, uint32_t n, sim_counts *counts) {
  if (fsched_verify_program(c->ctx, mutant, NULL) == FSCHED_WRONG) {
    bool by_guard = false;
    fsched_diag_clear(c->ctx);
    counts->needed++;
    counts->caught += sim_goes_wrong(c, mutant, n, &by_guard);
    counts->by_guard += by_guard;
  }
  fsched_diag_clear(c->ctx);
}

void sim_check_counts(const sim_counts *n, uint32_t least_needed, uint32_t least_percent) {
  ck_assert_uint_gt(n->needed, least_needed);
  ck_assert_msg(100 * n->caught >= least_percent * n->needed,
                "of %u dropped %u are needed, %u of these are found, %u as they happen", n->dropped,
                n->needed, n->caught, n->by_guard);
  ck_assert_uint_gt(n->by_guard, 0);
}
