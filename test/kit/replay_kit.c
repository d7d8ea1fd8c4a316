/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/replay_kit.h"

#include <stdlib.h>

maker *m;
fsched_replay_options options;
fsched_replay_result result;

static void maker_begin(void) {
  fs_test_begin();
  m = malloc(sizeof *m);
  ck_assert_ptr_nonnull(m);
  mk_init(m, ctx);
}

static void maker_end(void) {
  free(m);
  fs_test_end();
}

void fs_test_maker(TCase *t) { tcase_add_checked_fixture(t, maker_begin, maker_end); }

static void replay_begin(void) {
  maker_begin();
  options = (fsched_replay_options){.size = sizeof options, .check = 1, .timeout_ms = 60000};
  result = (fsched_replay_result){.size = sizeof result};
}

static void replay_end(void) {
  fsched_text_free(ctx, result.trace_json, result.trace_length);
  maker_end();
}

void fs_test_replay(TCase *t) { tcase_add_checked_fixture(t, replay_begin, replay_end); }

fs_status replay(void) {
  fsched_text_free(ctx, result.trace_json, result.trace_length);
  result = (fsched_replay_result){.size = sizeof result};
  return (options.device == NULL ? fsched_replay_cpu : fsched_replay)(ctx, &m->program, &options,
                                                                      &result);
}

void assert_diag(const char *code, const char *text) {
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    const fsched_diag *d = fsched_diag_get(ctx, i);
    if (strcmp(d->code, code) == 0) {
      ck_assert_msg(strstr(d->message, text) != NULL, "'%s' lacks '%s'", d->message, text);
      return;
    }
  }
  ck_abort_msg("no diagnostic '%s'", code);
}

void assert_ok(void) {
  fs_status status = replay();
  ck_assert_msg(status == FSCHED_OK, "status %d: %s", status,
                fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "");
}
