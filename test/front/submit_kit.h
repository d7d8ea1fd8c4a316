/* SPDX-License-Identifier: Apache-2.0 */
/* A submitter for tests, anew for each, with a callable, and the calls in short.  Include this
 * behind all other headers, as its names are short. */
#ifndef FS_TEST_SUBMIT_KIT_H
#define FS_TEST_SUBMIT_KIT_H

#include <string.h>

#include "fsched/submit.h"

#include "kit/context.h"

static fsched_submitter *s;
static uint32_t f; /* a callable */

static inline fsched_builder *make_target(fsched_context *c) {
  fsched_builder *b;
  fsched_queue_desc q0 = {.size = sizeof q0, .name = "q0"}, q1 = {.size = sizeof q1, .name = "q1"};
  fsched_memory_desc fast = {.size = sizeof fast, .name = "fast", .capacity = 4096},
                     ddr = {.size = sizeof ddr, .name = "ddr"};
  if (fsched_builder_create(c, "submit", &b) != FSCHED_OK) {
    return NULL;
  }
  if (fsched_builder_queue(b, &q0, NULL) != FSCHED_OK ||
      fsched_builder_queue(b, &q1, NULL) != FSCHED_OK ||
      fsched_builder_memory(b, &fast, NULL) != FSCHED_OK ||
      fsched_builder_memory(b, &ddr, NULL) != FSCHED_OK ||
      fsched_builder_resource(b, "power", 3, NULL) != FSCHED_OK) {
    fsched_builder_destroy(b);
    return NULL;
  }
  return b;
}

static inline void begin(void) {
  fsched_submit_callable_desc d = {.size = sizeof d, .name = "f"};
  ck_fs(ctx, fsched_submit_create(make_target(ctx), &s));
  ck_fs(ctx, fsched_submit_callable(s, &d, &f));
}

static inline void submit_begin(void) {
  fs_test_begin();
  begin();
}

static inline void submit_end(void) {
  fsched_submit_destroy(s);
  fs_test_end();
}

static inline void fixture(TCase *t) { tcase_add_checked_fixture(t, submit_begin, submit_end); }

/* The call was refused with one diagnostic of this code, whose message is this. */
static inline void refused_as(fs_status status, const char *code, const char *message) {
  ck_assert_int_eq(status, FSCHED_BAD_INPUT);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, code);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message, message);
  fsched_diag_clear(ctx);
}

static inline uint32_t import(const char *name, uint64_t bytes, fsched_io io, unsigned access) {
  uint32_t id = FS_NONE;
  fsched_submit_import_desc d = {
      .size = sizeof d, .name = name, .bytes = bytes, .memory = "ddr", .io = io, .access = access};
  ck_fs(ctx, fsched_submit_import(s, &d, &id));
  return id;
}

static inline uint32_t alloc(const char *name, uint64_t bytes) {
  uint32_t id = FS_NONE;
  fsched_submit_alloc_desc d = {
      .size = sizeof d, .element = 1, .n_dims = 1, .shape = &bytes, .name = name};
  ck_fs(ctx, fsched_submit_alloc(s, &d, &id));
  return id;
}

static inline fsched_submit_arg arg_of(fsched_tag tag, uint32_t buffer) {
  return (fsched_submit_arg){.size = sizeof(fsched_submit_arg), .tag = tag, .buffer = buffer};
}

static inline fs_status import_at(const char *name, const char *at, uint64_t bytes,
                                  const char *queue) {
  fsched_submit_import_desc d = {.size = sizeof d,
                                 .name = name,
                                 .bytes = bytes,
                                 .memory = "ddr",
                                 .io = FSCHED_IO_INPUT,
                                 .address = at,
                                 .queue = queue};
  return fsched_submit_import(s, &d, NULL);
}

static inline fs_status submit_args(const char *name, const fsched_submit_arg *arg, uint32_t n) {
  fsched_submit_task_desc d = {
      .size = sizeof d, .callable = f, .args = arg, .n_args = n, .name = name};
  return fsched_submit_task(s, &d, NULL);
}

static inline fs_status submit_one(const char *name, fsched_tag tag, uint32_t buffer) {
  fsched_submit_arg arg = arg_of(tag, buffer);
  return submit_args(name, &arg, 1);
}

static inline fs_status submit_view(fsched_tag tag, uint32_t buffer, uint64_t offset,
                                    uint64_t length) {
  fsched_submit_view v = {.size = sizeof v, .offset = offset, .length = length};
  fsched_submit_arg arg = arg_of(tag, buffer);
  arg.view = &v;
  return submit_args("t", &arg, 1);
}

static inline fsched_graph *finish(void) {
  fsched_graph *g = NULL;
  ck_fs(ctx, fsched_submit_finish(s, &g));
  return g;
}

#endif
