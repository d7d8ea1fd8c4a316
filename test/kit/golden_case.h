/* SPDX-License-Identifier: Apache-2.0 */
/* A graph and a schedule from test/golden, made into a program: test/golden/NAME.yaml and
 * NAME.by-hand.json, through control edges, waits and codegen. */
#ifndef FS_TEST_GOLDEN_CASE_H
#define FS_TEST_GOLDEN_CASE_H

#include "codegen/codegen.h"
#include "compile/synchronise.h"
#include "kit/golden.h"
#include "kit/status.h"
#include "model/handle.h"

typedef struct fs_golden_case {
  fsched_context *ctx;
  fsched_graph *graph;
  fsched_schedule *schedule;
  fsched_program *program;
} fs_golden_case;

/* Returns a context whose allocator keeps to the budget; nothing fails so far. */
static inline fsched_context *fs_budget_context(fs_budget *budget) {
  fsched_context_options o = {.size = sizeof o, .reallocate = fs_budget_reallocate, .user = budget};
  fsched_context *ctx;
  *budget = (fs_budget){.left = 1 << 30};
  ck_assert_int_eq(fsched_context_create(&o, &ctx), FSCHED_OK);
  return ctx;
}

/* Lets every allocation of `work` fail once, and checks that the failure is reported and that
 * nothing is left behind.  The budget is the context's (fs_budget_context). */
typedef fsched_status (*fs_test_work)(fsched_context *ctx, const void *user);
static inline void fs_fail_each_allocation(fsched_context *ctx, fs_budget *budget,
                                           fs_test_work work, const void *user) {
  fsched_status status = FSCHED_SYSTEM;
  for (long allowed = 0; status != FSCHED_OK; allowed++) {
    ck_assert_int_lt(allowed, 3000);
    fsched_diag_clear(ctx);
    long before = budget->blocks;
    budget->left = allowed;
    status = work(ctx, user);
    budget->left = 1 << 30;
    if (status != FSCHED_OK) {
      ck_assert_int_eq(status, FSCHED_SYSTEM);
      ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "out-of-memory");
    }
    fsched_diag_clear(ctx);
    ck_assert_msg(budget->blocks <= before + 4, "%ld blocks left by allocation %ld",
                  budget->blocks - before, allowed);
  }
}

static inline fsched_graph *fs_golden_graph(fsched_context *ctx, const char *name) {
  char file[64];
  size_t n;
  (void)snprintf(file, sizeof file, "%s.yaml", name);
  char *text = fs_golden_read(file, &n);
  ck_assert_msg(text != NULL, "no test/golden/%s", file);
  fsched_graph *graph;
  ck_fs(ctx, fsched_graph_parse(ctx, file, text, n, NULL, &graph));
  free(text);
  return graph;
}

/* What the pipeline does after scheduling. */
static inline fs_status fs_test_program(fsched_schedule *s, fsched_program **program) {
  FS_TRY(fs_schedule_synchronise(s));
  return fs_codegen_run(s->schedule->ctx, s->schedule, s->sync, program);
}

static inline void fs_golden_open(fs_golden_case *c, fsched_context *ctx, const char *name) {
  char file[64];
  size_t n;
  c->ctx = ctx;
  c->graph = fs_golden_graph(ctx, name);
  (void)snprintf(file, sizeof file, "%s.by-hand.json", name);
  char *text = fs_golden_read(file, &n);
  ck_assert_msg(text != NULL, "no test/golden/%s", file);
  ck_fs(ctx, fsched_schedule_parse(ctx, c->graph, file, text, n, &c->schedule));
  free(text);
  ck_fs(ctx, fs_test_program(c->schedule, &c->program));
}

static inline void fs_golden_close(fs_golden_case *c) {
  fsched_program_destroy(c->program);
  fsched_schedule_destroy(c->schedule);
  fsched_graph_destroy(c->graph);
}

#endif
