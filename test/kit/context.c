/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "kit/context.h"

fsched_context *ctx;
fs_arena own_arena;
fs_temp_dir own_dir;

void fs_few_trials(fsched_context *own) {
  enum { FEW_STEPS = 20000 };
  fs_trial_steps_set(own, FEW_STEPS);
}

fsched_context *fs_new_context(void) {
  fsched_context *new;
  ck_assert_int_eq(fsched_context_create(NULL, &new), FSCHED_OK);
  fs_few_trials(new);
  return new;
}

void fs_test_begin(void) { ctx = fs_new_context(); }
void fs_test_end(void) { fsched_context_destroy(ctx); }

void fs_test_context(TCase *t) { tcase_add_checked_fixture(t, fs_test_begin, fs_test_end); }

static void begin_many_errors(void) {
  const fsched_context_options o = {.size = sizeof o, .max_errors = 200};
  ck_assert_int_eq(fsched_context_create(&o, &ctx), FSCHED_OK);
  fs_few_trials(ctx);
}

void fs_test_many_errors(TCase *t) { tcase_add_checked_fixture(t, begin_many_errors, fs_test_end); }

static void silent_end(void) {
  ck_assert_uint_eq(fsched_diag_count(ctx), 0);
  fs_test_end();
}

void fs_test_silent(TCase *t) { tcase_add_checked_fixture(t, fs_test_begin, silent_end); }

static void arena_begin(void) {
  fs_test_begin();
  fs_arena_init(&own_arena, ctx);
}

static void arena_end(void) {
  fs_arena_release(&own_arena);
  fs_test_end();
}

void fs_test_arena(TCase *t) { tcase_add_checked_fixture(t, arena_begin, arena_end); }

static void dir_begin(void) {
  fs_test_begin();
  fs_temp_dir_make(own_dir);
  ck_assert_int_eq(chdir(own_dir), 0);
}

static void dir_end(void) {
  fs_test_end();
  ck_assert_int_eq(chdir("/"), 0);
  fs_temp_dir_drop(own_dir);
}

void fs_test_in_dir(TCase *t) { tcase_add_checked_fixture(t, dir_begin, dir_end); }

fsched_graph *fs_parse(const char *text) {
  fsched_graph *g;
  ck_fs(ctx, fsched_graph_parse(ctx, "g.yaml", text, strlen(text), NULL, &g));
  return g;
}
