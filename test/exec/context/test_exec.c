/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts of execution: what invocations promise to an application, on threads of the CPU. */
#include "fsched/exec.h"

#include "fsched/replay.h"
#include "kit/mutate/mutate.h"

#include "exec/context/exec_case.h"

/* Invokes with one input word and one output word. */
static void invoke(fsched_entry *e, fsched_fence *wait, fsched_fence *signal, const uint64_t *in,
                   uint64_t *out) {
  fsched_binding b[] = {{.buffer = "in", .data = (void *)in, .bytes = sizeof *in},
                        {.buffer = "out", .data = out, .bytes = sizeof *out}};
  fsched_invocation i = {
      .size = sizeof i, .wait = wait, .signal = signal, .bindings = b, .n_bindings = 2};
  ck_fs(ctx, fsched_invoke(ctx, e, &i));
}

/* Starts when `line` reaches `wait` (0: at once); then `end` gets `signal`. */
static void invoke_at(fsched_entry *e, uint64_t wait, uint64_t signal, const uint64_t *in,
                      uint64_t *out) {
  fsched_fence *w = wait == 0 ? NULL : kit_fence(ctx, line, wait), *s = kit_fence(ctx, end, signal);
  invoke(e, w, s, in, out);
  fsched_fence_release(w);
  fsched_fence_release(s);
}

/* Each invocation waits for one of the other context. */
START_TEST(two_contexts_of_one_program)
{
  enum { N = 50 };
  fsched_program *p = kit_compile(ctx, KIT_ONE("meet"));
  fsched_exec *x[2] = {kit_exec(ctx, device, NULL, 1), kit_exec(ctx, device, NULL, 1)};
  fsched_entry *e[2] = {kit_load(ctx, x[0], p), kit_load(ctx, x[1], p)};
  fsched_semaphore *done[2] = {kit_timeline(), kit_timeline()};
  uint64_t in[2][N], out[2][N];
  for (uint64_t i = 0; i < 2 * N; i++) {
    uint64_t c = i % 2, k = i / 2;
    fsched_fence *w = kit_fence(ctx, done[c], k), *s = kit_fence(ctx, done[c], k + 1);
    in[c][k] = 1000 * i;
    invoke(e[c], w, s, &in[c][k], &out[c][k]);
    fsched_fence_release(w);
    fsched_fence_release(s);
  }
  for (uint32_t c = 0; c < 2; c++) {
    ck_assert_int_eq(kit_await(done[c], N), FSCHED_CAUSE_NONE);
    for (uint64_t k = 0; k < N; k++) {
      ck_assert_uint_eq(out[c][k], in[c][k] + 1);
    }
    fsched_exec_destroy(x[c]);
    fsched_semaphore_release(done[c]);
  }
  fsched_program_destroy(p);
}
END_TEST

START_TEST(invoke_is_asynchronous)
{
  fsched_program *p = kit_compile(ctx, KIT_ONE("gate"));
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  fsched_entry *e = kit_load(ctx, x, p);
  uint64_t in = 5, out = 0;
  invoke_at(e, 1, 1, &in, &out);
  ck_assert_uint_eq(entered.n, 0);
  in = 6; /* the input is not read before the fence */
  kit_publish(line, 1);
  ck_assert_int_eq(kit_await(entered.timeline, 1), FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(fsched_semaphore_value(end), 0);
  ck_assert_uint_eq(out, 0);
  kit_publish(open_at, 1);
  ck_assert_int_eq(kit_await(end, 1), FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(out, 7);
  fsched_exec_destroy(x);
  fsched_program_destroy(p);
}
END_TEST

/* A graph of the built-in kernel with several queues and spills. */
static const char busy_graph[] =
    "fsched: 1\n"
    "target:\n"
    "  queues: [{name: q0}, {name: q1}, {name: dma, class: copy}]\n"
    "  memories:\n"
    "    - {name: near, capacity: 112, backing: far,\n"
    "       spill: {on: copy, write: {fixed: 1, rate: 0}, read: {fixed: 1, rate: 0}}}\n"
    "    - {name: far}\n"
    "buffers: [{name: in, size: 24, io: input}, {name: out, size: 40, io: output}]\n"
    "ops:\n"
    "  - {name: a, args: [{in: in}, {out: x, size: 40}]}\n"
    "  - {name: b, args: [{in: in}, {out: y, size: 48}]}\n"
    "  - {name: c, args: [{in: y}, {out: z, size: 32}]}\n"
    "  - {name: d, args: [{in: x}, {in: z}, {out: w, size: 16}]}\n"
    "  - {name: e, args: [{in: y}, {in: w}, {out: out}]}\n";

enum { QUEUED = 1000, IN = 24, OUT = 40 };

static void completed(void *user, fsched_cause cause) {
  if (cause == FSCHED_CAUSE_NONE) {
    (void)kit_count_one(user);
  }
}

static void invoke_busy(fsched_entry *e, fsched_fence *wait, uint64_t i, uint8_t *out) {
  static uint8_t data[QUEUED][IN];
  for (uint32_t k = 0; k < IN; k++) {
    data[i][k] = (uint8_t)(i * 7 + k);
  }
  fsched_binding b[] = {{.buffer = "in", .data = data[i], .bytes = IN},
                        {.buffer = "out", .data = out, .bytes = OUT}};
  fsched_invocation v = {.size = sizeof v,
                         .wait = wait,
                         .bindings = b,
                         .n_bindings = 2,
                         .callback = completed,
                         .user = &entered};
  ck_fs(ctx, fsched_invoke(ctx, e, &v));
}

/* All invocations are made before the first may start; their results are the same as one by one. */
START_TEST(thousand_queued)
{
  static uint8_t one[QUEUED][OUT], all[QUEUED][OUT];
  fsched_program *p = kit_compile(ctx, busy_graph);
  fsched_exec *x = kit_exec(ctx, device, NULL, 1), *y = kit_exec(ctx, device, NULL, 3);
  fsched_entry *e = kit_load(ctx, x, p), *f = kit_load(ctx, y, p);
  fsched_fence *start = kit_fence(ctx, line, 1);
  for (uint64_t i = 0; i < QUEUED; i++) {
    invoke_busy(e, NULL, i, one[i]);
    ck_assert_int_eq(kit_await(entered.timeline, i + 1), FSCHED_CAUSE_NONE);
  }
  for (uint64_t i = 0; i < QUEUED; i++) {
    invoke_busy(f, start, i, all[i]);
  }
  ck_assert_uint_eq(entered.n, QUEUED);
  kit_publish(line, 1);
  ck_assert_int_eq(kit_await(entered.timeline, 2 * QUEUED), FSCHED_CAUSE_NONE);
  ck_assert_int_eq(memcmp(one, all, sizeof one), 0);
  for (uint64_t i = 1; i < QUEUED; i++) { /* the inputs repeat after 256 */
    ck_assert((memcmp(one[0], one[i], OUT) == 0) == (i % 256 == 0));
  }
  fsched_fence_release(start);
  fsched_exec_destroy(x);
  fsched_exec_destroy(y);
  fsched_program_destroy(p);
}
END_TEST

/* Each invocation reads what the one before has written, and all are made before the first may
 * start. */
START_TEST(thousand_chained)
{
  static uint64_t word[QUEUED + 1];
  fsched_program *p = kit_compile(ctx, KIT_ONE("add"));
  fsched_exec *x = kit_exec(ctx, device, NULL, 4);
  fsched_entry *e = kit_load(ctx, x, p);
  for (uint64_t i = 0; i < QUEUED; i++) {
    fsched_fence *w = kit_fence(ctx, line, i + 1), *s = kit_fence(ctx, line, i + 2);
    invoke(e, w, s, &word[i], &word[i + 1]);
    fsched_fence_release(w);
    fsched_fence_release(s);
  }
  word[0] = 100;
  kit_publish(line, 1);
  ck_assert_int_eq(kit_await(line, QUEUED + 1), FSCHED_CAUSE_NONE);
  for (uint64_t i = 0; i <= QUEUED; i++) {
    ck_assert_uint_eq(word[i], 100 + i);
  }
  fsched_exec_destroy(x);
  fsched_program_destroy(p);
}
END_TEST

START_TEST(fork_and_join_of_five)
{
  static const char join_graph[] =
      "fsched: 1\n"
      "buffers: [{name: a, size: 8, io: input}, {name: b, size: 8, io: input},\n"
      "  {name: c, size: 8, io: input}, {name: d, size: 8, io: input},\n"
      "  {name: e, size: 8, io: input}, {name: out, size: 8, io: output}]\n"
      "ops:\n"
      "  - {name: s, args: [{in: a}, {in: b}, {in: c}, {in: d}, {in: e}, {out: out}],\n"
      "     " KIT_KERNEL("sum") "}\n";
  fsched_program *one = kit_compile(ctx, KIT_ONE("add")), *five = kit_compile(ctx, join_graph);
  fsched_exec *x = kit_exec(ctx, device, NULL, 5);
  fsched_entry *e = kit_load(ctx, x, one), *j = kit_load(ctx, x, five);
  uint64_t in = 10, forked = 0, leaf[5], total = 0;
  fsched_semaphore *s[5];
  fsched_fence *f[5], *fork = kit_fence(ctx, line, 2), *join, *start = kit_fence(ctx, line, 1);
  static const char *const names[] = {"a", "b", "c", "d", "e"};
  fsched_binding b[6] = {[5] = {.buffer = "out", .data = &total, .bytes = 8}};
  for (uint64_t i = 0; i < 5; i++) {
    s[i] = kit_timeline();
    f[i] = kit_fence(ctx, s[i], 1);
    b[i] = (fsched_binding){.buffer = names[i], .data = &leaf[i], .bytes = 8};
    fsched_parameter value = {.op = "f", .arg = 1, .value = (int64_t)(100 * i)};
    fsched_binding io[] = {{.buffer = "in", .data = &forked, .bytes = 8},
                           {.buffer = "out", .data = &leaf[i], .bytes = 8}};
    fsched_invocation v = {.size = sizeof v,
                           .wait = fork,
                           .signal = f[i],
                           .bindings = io,
                           .n_bindings = 2,
                           .parameters = &value,
                           .n_parameters = 1};
    ck_fs(ctx, fsched_invoke(ctx, e, &v));
  }
  ck_fs(ctx, fsched_fence_join(ctx, f, 5, &join));
  fsched_fence *over = kit_fence(ctx, end, 1);
  fsched_invocation v = {
      .size = sizeof v, .wait = join, .signal = over, .bindings = b, .n_bindings = 6};
  ck_fs(ctx, fsched_invoke(ctx, j, &v));
  invoke(e, start, fork, &in, &forked);
  ck_assert_uint_eq(total, 0);
  kit_publish(line, 1);
  ck_assert_int_eq(fsched_fence_wait(over, KIT_LIMIT), FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(total, 5 * 11 + 1000);
  for (uint32_t i = 0; i < 5; i++) {
    fsched_fence_release(f[i]);
    fsched_semaphore_release(s[i]);
  }
  fsched_fence_release(start), fsched_fence_release(fork);
  fsched_fence_release(join), fsched_fence_release(over);
  fsched_exec_destroy(x);
  fsched_program_destroy(one);
  fsched_program_destroy(five);
}
END_TEST

/* Two invocations without fences run at once in a context with two slots, whether of one entry or
 * of two. */
START_TEST(unfenced_ones_meet)
{
  fsched_program *p = kit_compile(ctx, KIT_ONE("meet"));
  fsched_exec *x = kit_exec(ctx, device, NULL, 2);
  fsched_entry *e[2] = {kit_load(ctx, x, p), kit_load(ctx, x, p)};
  for (uint64_t i = 0; i < 20; i++) {
    uint64_t in[2] = {i, 2 * i}, out[2] = {0};
    fsched_semaphore *done[2] = {kit_timeline(), kit_timeline()};
    for (uint64_t k = 0; k < 2; k++) {
      fsched_fence *f = kit_fence(ctx, done[k], 1);
      invoke(e[k * (i % 2)], NULL, f, &in[k], &out[k]);
      fsched_fence_release(f);
    }
    for (uint64_t k = 0; k < 2; k++) {
      ck_assert_int_eq(kit_await(done[k], 1), FSCHED_CAUSE_NONE);
      ck_assert_uint_eq(out[k], in[k] + 1);
      fsched_semaphore_release(done[k]);
    }
  }
  fsched_exec_destroy(x);
  fsched_program_destroy(p);
}
END_TEST

/* As many invocations run as there are slots, and no more, in the order in which they became
 * ready. */
START_TEST(in_flight_is_a_limit)
{
  enum { N = 30, K = 3 };
  fsched_program *p = kit_compile(ctx, KIT_ONE("gate"));
  fsched_exec *x = kit_exec(ctx, device, NULL, K);
  fsched_entry *e[2] = {kit_load(ctx, x, p), kit_load(ctx, x, p)};
  uint64_t in = 1, out[N];
  fsched_semaphore *done[N];
  for (uint64_t i = 0; i < N; i++) {
    done[i] = kit_timeline();
    fsched_fence *f = kit_fence(ctx, done[i], 1);
    fsched_parameter value = {.op = "f", .arg = 1, .value = (int64_t)(i / K + 1)};
    fsched_binding b[] = {{.buffer = "in", .data = &in, .bytes = 8},
                          {.buffer = "out", .data = &out[i], .bytes = 8}};
    fsched_invocation v = {.size = sizeof v,
                           .signal = f,
                           .bindings = b,
                           .n_bindings = 2,
                           .parameters = &value,
                           .n_parameters = 1};
    ck_fs(ctx, fsched_invoke(ctx, e[i % 2], &v));
    fsched_fence_release(f);
  }
  for (uint64_t i = 0; i < N; i += K) {
    ck_assert_int_eq(kit_await(entered.timeline, i + K), FSCHED_CAUSE_NONE);
    ck_assert_uint_eq(entered.n, i + K);
    kit_publish(open_at, i / K + 1);
    for (uint64_t k = i; k < i + K; k++) { /* the first ones that were made run first */
      ck_assert_int_eq(kit_await(done[k], 1), FSCHED_CAUSE_NONE);
    }
  }
  ck_assert_int_eq(most_running, K);
  fsched_exec_destroy(x);
  for (uint32_t i = 0; i < N; i++) {
    fsched_semaphore_release(done[i]);
  }
  fsched_program_destroy(p);
}
END_TEST

/* Memory */

#define BIG(megabytes)                                                               \
  "fsched: 1\n"                                                                      \
  "buffers: [{name: in, size: 8, io: input}, {name: out, size: 8, io: output}]\n"    \
  "ops:\n"                                                                           \
  "  - {name: f, args: [{in: in}, {value: 1}, {out: out}, {out: t, size: " megabytes \
  "000000}],\n     " KIT_KERNEL("gate") "}\n"

static fsched_pool_stats stats(fsched_pool *pool) {
  fsched_pool_stats s = {.size = sizeof s};
  fsched_pool_get_stats(pool, &s);
  return s;
}

START_TEST(too_large_together_runs_one_by_one)
{
  fsched_pool *pool;
  fsched_program *p = kit_compile(ctx, BIG("400")), *huge = kit_compile(ctx, BIG("600"));
  ck_fs(ctx, fsched_pool_create(ctx, device, 512000000, &pool));
  fsched_exec *x = kit_exec(ctx, device, pool, 2);
  fsched_entry *e = kit_load(ctx, x, p), *none = e;
  uint64_t in = 3, out[2] = {0};
  invoke_at(e, 0, 1, &in, &out[0]);
  invoke_at(e, 0, 2, &in, &out[1]);
  ck_assert_int_eq(kit_await(entered.timeline, 1), FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(stats(pool).waiting, 1);
  kit_refused(ctx, fsched_exec_load(ctx, x, huge, &none), FSCHED_INFEASIBLE, "pool",
              "600000256 bytes of memory are needed at once, the pool has 512000000");
  ck_assert_ptr_null(none);
  ck_assert_uint_eq(entered.n, 1);
  kit_publish(open_at, 1);
  ck_assert_int_eq(kit_await(end, 2), FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(out[0], 4);
  ck_assert_uint_eq(out[1], 4);
  ck_assert_int_eq(most_running, 1);
  ck_assert_uint_eq(stats(pool).peak, fsched_entry_bytes(e));
  ck_assert_uint_eq(stats(pool).used, 0);
  fsched_exec_destroy(x);
  fsched_pool_destroy(pool);
  fsched_program_destroy(p);
  fsched_program_destroy(huge);
}
END_TEST

/* All invocations could be in flight, but the fences allow one at a time: none takes memory before
 * it needs it. */
START_TEST(chain_peaks_at_one_invocation)
{
  enum { N = 100 };
  static uint64_t word[N + 1];
  fsched_pool *pool;
  fsched_program *p = kit_compile(ctx, KIT_ONE("add"));
  ck_fs(ctx, fsched_pool_create(ctx, device, 1 << 20, &pool));
  fsched_exec *x = kit_exec(ctx, device, pool, 8);
  fsched_entry *e = kit_load(ctx, x, p);
  for (uint64_t i = 0; i < N; i++) {
    fsched_fence *w = kit_fence(ctx, line, i + 1), *s = kit_fence(ctx, line, i + 2);
    invoke(e, w, s, &word[i], &word[i + 1]);
    fsched_fence_release(w);
    fsched_fence_release(s);
  }
  ck_assert_uint_eq(stats(pool).used, 0);
  kit_publish(line, 1);
  ck_assert_int_eq(kit_await(line, N + 1), FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(word[N], N);
  ck_assert_uint_eq(stats(pool).served, N);
  ck_assert_uint_eq(stats(pool).peak, fsched_entry_bytes(e));
  ck_assert_uint_gt(stats(pool).peak, 0);
  fsched_exec_destroy(x);
  fsched_pool_destroy(pool);
  fsched_program_destroy(p);
}
END_TEST

/* An allocation of the user's and two contexts share a pool, and are served in the order of their
 * requests. */
START_TEST(pool_is_shared)
{
  fsched_pool *pool;
  fsched_allocation *a;
  fsched_program *p = kit_compile(ctx, KIT_ONE("add"));
  ck_fs(ctx, fsched_pool_create(ctx, device, 1024, &pool));
  fsched_exec *x = kit_exec(ctx, device, pool, 4), *y = kit_exec(ctx, device, pool, 4);
  fsched_entry *e = kit_load(ctx, x, p), *f = kit_load(ctx, y, p);
  uint64_t in[4] = {1, 2, 3, 4}, out[4] = {0};
  ck_assert_uint_gt(fsched_entry_bytes(e), 0);
  ck_fs(ctx, fsched_pool_alloc(ctx, pool, 1024, NULL, NULL, &a));
  for (uint64_t i = 0; i < 4; i++) {
    fsched_binding b[] = {{.buffer = "in", .data = &in[i], .bytes = 8},
                          {.buffer = "out", .data = &out[i], .bytes = 8}};
    fsched_invocation v = {
        .size = sizeof v, .bindings = b, .n_bindings = 2, .callback = completed, .user = &entered};
    ck_fs(ctx, fsched_invoke(ctx, i % 2 == 0 ? e : f, &v));
  }
  ck_assert_uint_eq(stats(pool).waiting, 4);
  ck_fs(ctx, fsched_pool_free(ctx, a, NULL));
  ck_assert_int_eq(kit_await(entered.timeline, 4), FSCHED_CAUSE_NONE);
  fsched_exec_destroy(x);
  fsched_exec_destroy(y);
  for (uint64_t i = 0; i < 4; i++) {
    ck_assert_uint_eq(out[i], in[i] + 1);
  }
  ck_assert_uint_eq(stats(pool).served, 5);
  fsched_pool_destroy(pool);
  fsched_program_destroy(p);
}
END_TEST

/* Callbacks */

typedef struct told {
  fsched_fence *signal;
  kit_count *all;
  _Atomic uint32_t times, early;
  _Atomic fsched_cause cause;
  bool opens;
} told;

static void tell(void *user, fsched_cause cause) {
  told *t = user;
  t->early += fsched_fence_wait(t->signal, 0) != cause;
  t->cause = cause;
  t->times++;
  (void)kit_count_one(t->all);
  if (t->opens) {
    kit_publish(open_at, 9);
  }
}

/* The callback comes once: after success, after failure of a kernel or of the wait fence, and after
 * destruction before and during the run. */
START_TEST(callback_comes_once_after_the_fence)
{
  enum { OK, KERNEL, WAIT, WAITS, RUNS, CASES };
  static const fsched_cause causes[] = {0, 9, 8, FSCHED_CAUSE_CANCELLED, FSCHED_CAUSE_CANCELLED};
  fsched_program *p[] = {kit_compile(ctx, KIT_ONE("add")), kit_compile(ctx, KIT_ONE("fail")),
                         kit_compile(ctx, KIT_ONE("gate"))};
  fsched_exec *x = kit_exec(ctx, device, NULL, 2);
  fsched_entry *e[] = {kit_load(ctx, x, p[0]), kit_load(ctx, x, p[1]), kit_load(ctx, x, p[2])};
  fsched_entry *const which[] = {e[0], e[1], e[0], e[0], e[2]};
  fsched_semaphore *failed = kit_timeline(), *s[CASES];
  fsched_fence *bad = kit_fence(ctx, failed, 1), *never = kit_fence(ctx, line, 1);
  told t[CASES] = {{0}};
  kit_count count;
  kit_count_open(&count);
  (void)fsched_semaphore_fail(failed, 8);
  for (uint32_t i = 0; i < CASES; i++) {
    s[i] = kit_timeline();
    t[i].signal = kit_fence(ctx, s[i], 1);
    t[i].all = &count;
    fsched_parameter value = {.op = "f", .arg = 1, .value = 9};
    fsched_invocation v = {.size = sizeof v,
                           .wait = i == WAIT    ? bad
                                   : i == WAITS ? never
                                                : NULL,
                           .signal = t[i].signal,
                           .callback = tell,
                           .user = &t[i],
                           .parameters = &value,
                           .n_parameters = 1};
    ck_fs(ctx, fsched_invoke(ctx, which[i], &v));
  }
  ck_assert_int_eq(kit_await(count.timeline, 3), FSCHED_CAUSE_NONE);
  ck_assert_int_eq(kit_await(entered.timeline, 1), FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(t[RUNS].times + t[WAITS].times, 0);
  t[WAITS].opens = true; /* this opens the gate; by then the running one has been told to end */
  fsched_exec_destroy(x);
  for (uint32_t i = 0; i < CASES; i++) {
    if (t[i].times != 1 || t[i].early != 0 || t[i].cause != causes[i]) {
      ck_abort_msg("case %u: %u times, %u early, cause %d", i, t[i].times, t[i].early, t[i].cause);
    }
    fsched_fence_release(t[i].signal);
    fsched_semaphore_release(s[i]);
  }
  kit_count_close(&count);
  fsched_fence_release(bad), fsched_fence_release(never);
  fsched_semaphore_release(failed);
  for (uint32_t i = 0; i < 3; i++) {
    fsched_program_destroy(p[i]);
  }
}
END_TEST

/* A callback makes the next invocation, many times over.  Where the wait fence has failed the next
 * callback comes at once, and the calls must not pile up on the stack. */
typedef struct again {
  fsched_context *ctx;
  fsched_entry *entry;
  fsched_fence *wait;
  uint64_t left;
  fsched_semaphore *done;
} again;

static void once_more(void *user, fsched_cause cause) {
  again *a = user;
  (void)cause;
  if (a->left-- == 0) {
    kit_publish(a->done, 1);
    return;
  }
  fsched_invocation v = {.size = sizeof v, .wait = a->wait, .callback = once_more, .user = a};
  if (fsched_invoke(a->ctx, a->entry, &v) != FSCHED_OK) {
    (void)fsched_semaphore_fail(a->done, 1);
  }
}

START_TEST(callbacks_invoke)
{
  fsched_program *p = kit_compile(ctx, KIT_ONE("add"));
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  fsched_entry *e = kit_load(ctx, x, p);
  fsched_fence *f = kit_fence(ctx, line, 1);
  (void)fsched_semaphore_fail(line, 5);
  for (uint32_t fails = 0; fails < 2; fails++) {
    again a = {.ctx = ctx,
               .entry = e,
               .wait = fails ? f : NULL,
               .left = fails ? 100000 : 1000,
               .done = kit_timeline()};
    once_more(&a, 0);
    ck_assert_int_eq(kit_await(a.done, 1), FSCHED_CAUSE_NONE);
    fsched_semaphore_release(a.done);
  }
  fsched_fence_release(f);
  fsched_exec_destroy(x);
  fsched_program_destroy(p);
}
END_TEST

/* A program without its waits is used with and without the proof, in an exec and in a replay.  Its
 * kernels touch nothing, so what the proof would have found is no race of the test. */
START_TEST(wrong_programs)
{
  fsched_program *p =
      kit_compile(ctx,
                  "fsched: 1\ntarget: {queues: [{name: p}, {name: q}]}\nops:\n"
                  "  - {name: a, on: p, kernel: {builtin: nop}, args: [{out: x, size: 8}]}\n"
                  "  - {name: b, on: q, kernel: {builtin: nop}, args: [{in: x}]}\n");
  fsched_program *wrong = fs_mutant_copy(p);
  for (uint32_t i = 0; i < wrong->view.n_commands; i++) {
    ((fs_stream_command *)(uintptr_t)wrong->view.commands)[i].n_waits = 0;
  }
  for (int verify = 0; verify <= 1; verify++) {
    fsched_exec_options o = {.size = sizeof o, .device = device, .verify = verify};
    fsched_replay_options r = {.size = sizeof r, .verify = verify};
    fsched_status want = verify ? FSCHED_WRONG : FSCHED_OK;
    fsched_exec *x;
    fsched_entry *e = NULL;
    ck_fs(ctx, fsched_exec_create(ctx, &o, &x));
    ck_fs(ctx, fsched_exec_load(ctx, x, p, &e));
    ck_fs(ctx, fsched_replay_cpu(ctx, p, &r, NULL));
    ck_assert_int_eq(fsched_exec_load(ctx, x, wrong, &e), want);
    ck_assert_int_eq(e == NULL, verify);
    ck_assert_int_eq(fsched_replay_cpu(ctx, wrong, &r, NULL), want);
    ck_assert_int_eq(fsched_diag_errors(ctx) > 0, verify);
    fsched_diag_clear(ctx);
    fsched_exec_destroy(x);
  }
  fs_mutant_free(wrong);
  fsched_program_destroy(p);
}
END_TEST

FS_SUITE(exec, s) {
  TCase *t = fs_case(s, fs_test_device);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, two_contexts_of_one_program, invoke_is_asynchronous, thousand_queued,
           thousand_chained, fork_and_join_of_five, unfenced_ones_meet, in_flight_is_a_limit,
           too_large_together_runs_one_by_one, chain_peaks_at_one_invocation, pool_is_shared,
           callback_comes_once_after_the_fence, callbacks_invoke, wrong_programs);
}
