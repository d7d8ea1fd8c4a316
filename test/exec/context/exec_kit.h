/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of contexts of execution have in common: programs from graph files in C strings,
 * kernels that meet each other and the test, and timelines and fences in one line.  Nothing sleeps;
 * waits have a limit that only a failing test reaches. */
#ifndef FS_TEST_EXEC_KIT_H
#define FS_TEST_EXEC_KIT_H

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "kit/quick.h"

#include "fsched/compile.h"
#include "fsched/exec.h"
#include "fsched/graph.h"
#include "fsched/program.h"
#include "fsched/verify.h"
#include "kit/budget.h"
#include "kit/status.h"

#define KIT_LIMIT UINT64_C(60000000000) /* ns */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { KIT_SLOW = 1 };
#else
enum { KIT_SLOW = 0 };
#endif

/* Checks that there is one error, of that status, code and text, and clears it. */
#define kit_refused(ctx, expr, status, which, text)                                              \
  do {                                                                                           \
    ck_assert_int_eq((expr), (status));                                                          \
    ck_assert_uint_eq(fsched_diag_errors(ctx), 1);                                               \
    ck_assert_str_eq(fsched_diag_get((ctx), 0)->code, (which));                                  \
    ck_assert_msg(strstr(fsched_diag_get((ctx), 0)->message, (text)) != NULL, "'%s' lacks '%s'", \
                  fsched_diag_get((ctx), 0)->message, (text));                                   \
    fsched_diag_clear(ctx);                                                                      \
  } while (0)

/* Timelines and fences */

static inline fsched_semaphore *kit_timeline(void) {
  fsched_semaphore *s;
  ck_assert_int_eq(fsched_semaphore_create(NULL, &s), FSCHED_OK);
  return s;
}

static inline fsched_fence *kit_fence(fsched_context *ctx, fsched_semaphore *s, uint64_t value) {
  fsched_fence *f;
  ck_fs(ctx, fsched_fence_create(ctx, &(fsched_fence_point){s, value}, 1, &f));
  return f;
}

/* Signals from any thread; a signal without a frontier is never refused. */
static inline void kit_publish(fsched_semaphore *s, uint64_t value) {
  fsched_status status = fsched_semaphore_publish(s, value, NULL);
  (void)status;
}

static inline fsched_cause kit_await(fsched_semaphore *s, uint64_t value) {
  fsched_wait_point p = {.semaphore = s, .value = value};
  fsched_wait_result r;
  return fsched_semaphore_wait_many(&p, 1, FSCHED_WAIT_ALL, KIT_LIMIT, &r) == FSCHED_OK
             ? r.cause
             : FSCHED_CAUSE_SYSTEM;
}

/* A counter in the form of a timeline: each call adds one and publishes the count. */
typedef struct kit_count {
  fsched_semaphore *timeline;
  pthread_mutex_t lock;
  uint64_t n;
} kit_count;

static inline void kit_count_open(kit_count *c) {
  c->timeline = kit_timeline();
  ck_assert_int_eq(pthread_mutex_init(&c->lock, NULL), 0);
  c->n = 0;
}

static inline void kit_count_close(kit_count *c) {
  fsched_semaphore_release(c->timeline);
  (void)pthread_mutex_destroy(&c->lock);
}

static inline uint64_t kit_count_one(kit_count *c) {
  pthread_mutex_lock(&c->lock);
  uint64_t n = ++c->n;
  pthread_mutex_unlock(&c->lock);
  kit_publish(c->timeline, n);
  return n;
}

/* Programs */

static inline fsched_program *kit_compile(fsched_context *ctx, const char *text) {
  fsched_graph *graph;
  fsched_program *program;
  ck_fs(ctx, fsched_graph_parse(ctx, "test.yaml", text, strlen(text), NULL, &graph));
  ck_fs(ctx, fsched_compile(ctx, graph, &fs_quick, NULL, &program));
  ck_fs(ctx, fsched_verify_program(ctx, program, graph));
  fsched_graph_destroy(graph);
  return program;
}

/* A graph in -> f -> out, with buffers of 8 bytes and a `value` for f. */
#define KIT_ONE(function)                                                         \
  "fsched: 1\n"                                                                   \
  "buffers: [{name: in, size: 8, io: input}, {name: out, size: 8, io: output}]\n" \
  "ops:\n"                                                                        \
  "  - {name: f, args: [{in: in}, {value: 1}, {out: out}],\n"                     \
  "     kernel: {module: kit, function: " function ", grid: [1, 1, 1], block: [1, 1, 1]}}\n"

#define KIT_KERNEL(function) \
  "kernel: {module: kit, function: " function ", grid: [1, 1, 1], block: [1, 1, 1]}"

/* A kernel of the test's own for a device of the CPU. */
typedef struct kit_kernel {
  const char *name;
  fsched_kernel_fn function;
} kit_kernel;

static inline fsched_kernel_fn kit_find(void *user, const char *module, const char *function) {
  (void)module;
  for (const kit_kernel *k = user; k->name != NULL; k++) {
    if (strcmp(k->name, function) == 0) {
      return k->function;
    }
  }
  return NULL;
}

static inline fsched_device *kit_device(fsched_context *ctx, const kit_kernel *kernels) {
  fsched_device_options o = {.size = sizeof o, .find = kit_find, .find_user = (void *)kernels};
  fsched_device *d;
  ck_fs(ctx, fsched_device_create(ctx, &o, &d));
  return d;
}

static inline fsched_exec *kit_exec(fsched_context *ctx, fsched_device *device, fsched_pool *pool,
                                    uint32_t in_flight) {
  fsched_exec_options o = {
      .size = sizeof o, .device = device, .pool = pool, .in_flight = in_flight};
  fsched_exec *x;
  ck_fs(ctx, fsched_exec_create(ctx, &o, &x));
  return x;
}

static inline fsched_entry *kit_load(fsched_context *ctx, fsched_exec *x,
                                     const fsched_program *program) {
  fsched_entry *e;
  ck_fs(ctx, fsched_exec_load(ctx, x, program, &e));
  return e;
}

/* Args of a kernel's call, as words. */
static inline const fsched_kernel_arg *kit_arg(const fsched_kernel_call *call, uint32_t tag) {
  for (uint32_t i = 0; i < call->n_args; i++) {
    if (call->args[i].tag == tag) {
      return &call->args[i];
    }
  }
  return NULL;
}

static inline uint64_t kit_get(const fsched_kernel_arg *arg) {
  uint64_t word = 0;
  if (arg != NULL) {
    memcpy(&word, arg->data, sizeof word);
  }
  return word;
}

static inline int64_t kit_value(const fsched_kernel_call *call) {
  const fsched_kernel_arg *v = kit_arg(call, FSCHED_VALUE);
  return v == NULL ? 0 : v->value;
}

static inline void kit_put(const fsched_kernel_arg *arg, uint64_t word) {
  if (arg != NULL) {
    memcpy(arg->data, &word, sizeof word);
  }
}

/* out = in + value */
static inline int kit_add(const fsched_kernel_call *call) {
  kit_put(kit_arg(call, FSCHED_OUT), kit_get(kit_arg(call, FSCHED_IN)) + (uint64_t)kit_value(call));
  return 0;
}

/* Fails with `value` as the cause, unless it is 0. */
static inline int kit_fail(const fsched_kernel_call *call) {
  int64_t cause = kit_value(call);
  return cause != 0 ? (int)cause : kit_add(call);
}

#endif
