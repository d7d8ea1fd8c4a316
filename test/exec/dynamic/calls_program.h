/* SPDX-License-Identifier: Apache-2.0 */
/* A program of submits that is captured, compiled and replayed, or run dynamically. */
#ifndef FS_TEST_CALLS_PROGRAM_H
#define FS_TEST_CALLS_PROGRAM_H

#include "fsched/compile.h"
#include "fsched/dynamic.h"
#include "fsched/replay.h"

#include "kit/context.h"

enum { BYTES = 64 };

static inline fsched_builder *two_queues(fsched_context *c) {
  fsched_builder *b;
  fsched_queue_desc q0 = {.size = sizeof q0, .name = "q0"}, q1 = {.size = sizeof q1, .name = "q1"};
  fsched_memory_desc ddr = {.size = sizeof ddr, .name = "ddr"};
  if (fsched_builder_create(c, "calls", &b) != FSCHED_OK) {
    return NULL;
  }
  if (fsched_builder_queue(b, &q0, NULL) != FSCHED_OK ||
      fsched_builder_queue(b, &q1, NULL) != FSCHED_OK ||
      fsched_builder_memory(b, &ddr, NULL) != FSCHED_OK ||
      fsched_builder_resource(b, "power", 3, NULL) != FSCHED_OK) {
    fsched_builder_destroy(b);
    return NULL;
  }
  return b;
}

static inline fsched_submit_arg arg(fsched_tag tag, uint32_t buffer) {
  return (fsched_submit_arg){.size = sizeof(fsched_submit_arg), .tag = tag, .buffer = buffer};
}

/* What both kinds of runs are given. */
typedef struct program_calls {
  void *of;
  fs_status (*import)(void *of, const fsched_submit_import_desc *desc, uint32_t *id);
  fs_status (*task)(void *of, const fsched_submit_task_desc *desc, uint32_t *id);
  fs_status (*begin)(void *of);
  fs_status (*end)(void *of);
} program_calls;

#define CALLS(kind, type)                                                                         \
  static inline fs_status kind##_import(void *of, const fsched_submit_import_desc *i,             \
                                        uint32_t *id) {                                           \
    return fsched_##kind##_import((type *)of, i, id);                                             \
  }                                                                                               \
  static inline fs_status kind##_task(void *of, const fsched_submit_task_desc *t, uint32_t *id) { \
    return fsched_##kind##_task((type *)of, t, id);                                               \
  }                                                                                               \
  static inline fs_status kind##_begin(void *of) {                                                \
    return fsched_##kind##_begin_scope((type *)of, NULL);                                         \
  }                                                                                               \
  static inline fs_status kind##_end(void *of) { return fsched_##kind##_end_scope((type *)of); }
CALLS(submit, fsched_submitter)
CALLS(dynamic, fsched_dynamic)

/* x goes through 100 scopes, each with two buffers of its own, and ends in y. */
static inline void chain(const program_calls *c, const uint8_t *x, const uint8_t *y) {
  uint32_t in, out;
  const uint64_t shape = BYTES;
  fsched_submit_import_desc
      i = {.size = sizeof i, .name = "x", .bytes = BYTES, .io = FSCHED_IO_INPUT, .address = x},
      o = {.size = sizeof o, .name = "y", .bytes = BYTES, .io = FSCHED_IO_OUTPUT, .address = y};
  ck_fs(ctx, c->import(c->of, &i, &in));
  ck_fs(ctx, c->import(c->of, &o, &out));
  for (int k = 0; k < 100; k++) {
    fsched_submit_alloc_desc own = {.size = sizeof own, .element = 1, .n_dims = 1, .shape = &shape};
    uint32_t made[2];
    ck_fs(ctx, c->begin(c->of));
    for (int m = 0; m < 2; m++) {
      fsched_submit_arg a[] = {arg(FSCHED_IN, in), arg(FSCHED_OUT, 0)};
      a[1].alloc = &own;
      a[1].allocated = &made[m];
      fsched_submit_task_desc t = {.size = sizeof t, .args = a, .n_args = 2};
      ck_fs(ctx, c->task(c->of, &t, NULL));
    }
    fsched_submit_arg a[] = {arg(FSCHED_IN, made[0]), arg(FSCHED_IN, made[1]),
                             arg(k == 0 ? FSCHED_OUT : FSCHED_INOUT, out)};
    fsched_submit_task_desc t = {.size = sizeof t, .args = a, .n_args = 3};
    ck_fs(ctx, c->task(c->of, &t, NULL));
    ck_fs(ctx, c->end(c->of));
  }
}

static inline void replay_chain(uint8_t *x, uint8_t *y) {
  fsched_submitter *s;
  fsched_graph *g;
  fsched_program *program;
  fsched_submit_callable_desc mix = {.size = sizeof mix, .name = "mix"};
  fsched_binding binding[] = {{.buffer = "x", .data = x, .bytes = BYTES},
                              {.buffer = "y", .data = y, .bytes = BYTES}};
  fsched_replay_options r = {.size = sizeof r, .check = 1, .bindings = binding, .n_bindings = 2};
  ck_fs(ctx, fsched_submit_create(two_queues(ctx), &s));
  ck_fs(ctx, fsched_submit_callable(s, &mix, NULL));
  program_calls c = {s, submit_import, submit_task, submit_begin, submit_end};
  chain(&c, x, y);
  ck_fs(ctx, fsched_submit_finish(s, &g));
  fsched_submit_destroy(s);
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &program));
  ck_fs(ctx, fsched_replay(ctx, program, &r, NULL));
  fsched_program_destroy(program);
  fsched_graph_destroy(g);
}

#endif
