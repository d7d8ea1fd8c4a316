/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "exec/dynamic/script_driver.h"

static void *make(const fs_script_settings *s) {
  static const uint32_t class_of[SCRIPT_QUEUES] = {0, 0, 0, 0, 1, 1};
  fs_dynamic_options o = {.n_queues = SCRIPT_QUEUES,
                          .class_of = class_of,
                          .heap_size = s->heap,
                          .timeout = s->timeout,
                          .hazards = s->hazards,
                          .user = s->user,
                          .now = s->now,
                          .wait = s->wait};
  fs_dynamic *e;
  ck_assert_int_eq(fs_dynamic_create(s->ctx, &o, &e), FSCHED_OK);
  return e;
}

static void drop(void *of) { fs_dynamic_destroy(of); }

static fs_status import(void *of, const char *name, const fs_dynamic_import *d, uint64_t *buffer) {
  (void)name;
  return fs_dynamic_import_buffer(of, d, buffer);
}

static fs_status alloc(void *of, uint32_t n_dims, uint64_t bytes, uint64_t *buffer,
                       uint64_t *task) {
  return fs_dynamic_alloc(of, n_dims, &bytes, 1, buffer, task);
}

static fs_status scope(void *of, bool begins) {
  return begins ? fs_dynamic_scope_begin(of) : fs_dynamic_scope_end(of);
}

static fs_status submit(void *of, const fs_script_task *t, uint64_t *task) {
  fs_dynamic_submission s = {.n_members = t->n_members,
                             .member = t->member,
                             .n_queues = t->n_queues,
                             .queue = t->queue,
                             .class_ = t->sub};
  return fs_dynamic_submit(of, &s, task, NULL);
}

static bool run(void *of, uint64_t task) {
  fs_dynamic_start start;
  return fs_dynamic_claim(of, task, &start);
}

static void end(void *of, uint64_t task, uint32_t member, const char *cause) {
  if (cause == NULL) {
    fs_dynamic_complete(of, task, member);
  } else {
    fs_dynamic_fail(of, task, member, cause);
  }
}

static fs_status close_run(void *of) { return fs_dynamic_close(of); }
static void cancel(void *of, const char *cause) { fs_dynamic_cancel(of, cause); }
static fs_dynamic_run state(void *of) { return fs_dynamic_run_state(of); }
static fs_status drain(void *of) { return state(of) == FS_RUN_DONE ? FSCHED_OK : FSCHED_REPLAY; }

static void inspect(void *of, void (*look)(void *user, fs_dynamic *e), void *user) {
  look(user, of);
}

static fs_dynamic_task task_of(void *of, uint64_t task) {
  (void)of;
  return task;
}

static fs_dynamic_buffer buffer_of(void *of, uint64_t buffer) {
  (void)of;
  return buffer;
}

const fs_script_driver fs_script_engine = {.make = make,
                                           .drop = drop,
                                           .import = import,
                                           .alloc = alloc,
                                           .scope = scope,
                                           .submit = submit,
                                           .run = run,
                                           .end = end,
                                           .close = close_run,
                                           .cancel = cancel,
                                           .drain = drain,
                                           .state = state,
                                           .inspect = inspect,
                                           .task_of = task_of,
                                           .buffer_of = buffer_of};
