/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs made by calls, for tests of the builder.  Include this behind all other headers, as its
 * names are short. */
#ifndef FS_TEST_BUILDER_KIT_H
#define FS_TEST_BUILDER_KIT_H

#include "fsched/graph.h"
#include "model/graph.h"

#include "kit/context.h"

static inline fsched_builder *make(void) {
  fsched_builder *b;
  ck_assert_int_eq(fsched_builder_create(ctx, "g", &b), FSCHED_OK);
  return b;
}

static inline uint32_t add_memory(fsched_builder *b, const char *name, uint64_t capacity) {
  uint32_t id;
  fsched_memory_desc d = {.size = sizeof d, .name = name, .capacity = capacity};
  ck_assert_int_eq(fsched_builder_memory(b, &d, &id), FSCHED_OK);
  return id;
}

static inline uint32_t add_queue(fsched_builder *b, const char *name, const char *class_name) {
  uint32_t id;
  fsched_queue_desc d = {.size = sizeof d, .name = name, .queue_class = class_name};
  ck_assert_int_eq(fsched_builder_queue(b, &d, &id), FSCHED_OK);
  return id;
}

static inline uint32_t add_buffer(fsched_builder *b, const char *name, uint64_t size,
                                  fsched_io io) {
  uint32_t id;
  fsched_buffer_desc d = {.size = sizeof d, .name = name, .bytes = size, .io = io};
  ck_assert_int_eq(fsched_builder_buffer(b, &d, &id), FSCHED_OK);
  return id;
}

static inline uint32_t add_op(fsched_builder *b, const char *name, const char *on) {
  uint32_t id;
  fsched_op_desc d = {.size = sizeof d, .name = name, .on = on, .time = 1};
  ck_assert_int_eq(fsched_builder_op(b, &d, &id), FSCHED_OK);
  return id;
}

static inline fs_status add_arg(fsched_builder *b, uint32_t op, fsched_tag tag, uint32_t buffer) {
  fsched_arg_desc d = {.size = sizeof d, .tag = tag, .buffer = buffer};
  return fsched_builder_arg(b, op, &d);
}

static inline fsched_graph *finish(fsched_builder *b) {
  fsched_graph *g = NULL;
  ck_assert_msg(fsched_builder_finish(b, &g) == FSCHED_OK, "%s",
                fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "");
  fsched_builder_destroy(b);
  return g;
}

#endif
