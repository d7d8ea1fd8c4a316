/* SPDX-License-Identifier: Apache-2.0 */
/* What is bound to an invocation: inputs that come late or never, outputs that are ready early,
 * data that change their owner, and values; also everything that is refused. */
#include "exec/context/exec_kit.h"
#include "kit/replay_maker.h"

#include "kit/context.h"

static fsched_device *device;
static fsched_exec *x;
static fsched_program *program;
static fsched_entry *entry;

/* Timelines of this test: a fence of each at 1. */
enum { WAIT, SIGNAL, A, B, X, Y, LINES };
static fsched_semaphore *line[LINES];
static fsched_fence *fence[LINES];

/* x = a + 1 on one queue, y = b + 2 on another; nothing reads `u`. */
static const char graph[] =
    "fsched: 1\n"
    "target: {queues: [{name: p}, {name: q}]}\n"
    "buffers: [{name: a, size: 8, io: input}, {name: b, size: 8, io: input},\n"
    "  {name: u, size: 16, io: input}, {name: k, size: 8, io: constant},\n"
    "  {name: x, size: 8, io: output}, {name: y, size: 8, io: output},\n"
    "  {name: z, size: 8, io: output}, {name: s, size: 8, io: state}]\n"
    "ops:\n"
    "  - {name: left, on: p, args: [{in: a}, {value: 1}, {out: x}], " KIT_KERNEL("fail") "}\n"
    "  - {name: right, on: q, args: [{in: b}, {value: 2}, {out: y}], " KIT_KERNEL("add") "}\n"
    "  - {name: more, on: p, args: [{in: k}, {out: t, size: 8}, {out: z}], " KIT_KERNEL("add") "}\n"
    "  - {name: keep, on: p, args: [{inout: s}], " KIT_KERNEL("add") "}\n";

/* Returns a + 1, or fails with the cause `value` where that is above 1. */
static int fail_above(const fsched_kernel_call *call) {
  return kit_value(call) > 1 ? (int)kit_value(call) : kit_add(call);
}

static const kit_kernel kernels[] = {{"add", kit_add}, {"fail", fail_above}, {NULL, NULL}};

static void set_up(void) {
  fs_test_begin();
  device = kit_device(ctx, kernels);
  x = kit_exec(ctx, device, NULL, 2);
  program = kit_compile(ctx, graph);
  fsched_diag_clear(ctx); /* warnings */
  entry = kit_load(ctx, x, program);
  for (uint32_t i = 0; i < LINES; i++) {
    line[i] = kit_timeline();
    fence[i] = kit_fence(ctx, line[i], 1);
  }
}

static void tear_down(void) {
  fsched_exec_destroy(x);
  fsched_program_destroy(program);
  fsched_device_release(device);
  for (uint32_t i = 0; i < LINES; i++) {
    fsched_fence_release(fence[i]);
    fsched_semaphore_release(line[i]);
  }
  fs_test_end();
}

static void restart(fsched_pool *pool, uint32_t in_flight) {
  fsched_exec_destroy(x);
  x = kit_exec(ctx, device, pool, in_flight);
  entry = kit_load(ctx, x, program);
}

static bool settled(uint32_t i, fsched_cause cause) {
  return fsched_fence_wait(fence[i], KIT_LIMIT) == cause;
}

static bool pending(uint32_t i) { return fsched_fence_wait(fence[i], 0) == FSCHED_CAUSE_TIMEOUT; }

/* Owned data count how often they were released. */
typedef struct owned {
  uint64_t word;
  _Atomic uint32_t releases;
} owned;

static void released(void *user, void *data) {
  owned *o = user;
  o->releases += data == &o->word ? 1 : 1000;
}

static fsched_binding owned_input(const char *buffer, owned *o, fsched_fence *wait) {
  return (fsched_binding){.buffer = buffer,
                          .data = &o->word,
                          .bytes = 8,
                          .wait = wait,
                          .release = released,
                          .release_user = o};
}

static void invoke(const fsched_binding *bindings, uint32_t n, fsched_fence *wait,
                   const fsched_parameter *parameters, uint32_t n_parameters) {
  fsched_invocation v = {.size = sizeof v,
                         .wait = wait,
                         .signal = fence[SIGNAL],
                         .bindings = bindings,
                         .n_bindings = n,
                         .parameters = parameters,
                         .n_parameters = n_parameters};
  ck_fs(ctx, fsched_invoke(ctx, entry, &v));
}

/* While b is missing, everything that does not read it is done, and its results can be used. */
START_TEST(only_the_readers_wait)
{
  uint64_t a = 10, b = 0, to_x = 0, to_y = 0;
  const fsched_binding bind[] = {{.buffer = "a", .data = &a, .bytes = 8, .wait = fence[A]},
                                 {.buffer = "y", .data = &to_y, .bytes = 8, .signal = fence[Y]},
                                 {.buffer = "b", .data = &b, .bytes = 8, .wait = fence[B]},
                                 {.buffer = "x", .data = &to_x, .bytes = 8, .signal = fence[X]}};
  kit_publish(line[A], 1); /* before the invocation is made */
  invoke(bind, 4, NULL, NULL, 0);
  ck_assert(settled(X, FSCHED_CAUSE_NONE));
  ck_assert_uint_eq(to_x, 11);
  ck_assert(pending(Y) && pending(SIGNAL));
  b = 20;
  kit_publish(line[B], 1);
  ck_assert(settled(Y, FSCHED_CAUSE_NONE));
  ck_assert_uint_eq(to_y, 22);
  ck_assert(settled(SIGNAL, FSCHED_CAUSE_NONE));
}
END_TEST

/* Inputs' fences are reached before the wait fence, or after it in either order. */
START_TEST(fences_in_any_order)
{
  for (uint32_t order = 0; order < 27; order++) {
    const uint32_t which[] = {order % 3, order / 3 % 3, order / 9};
    if (which[0] == which[1] || which[1] == which[2] || which[0] == which[2]) {
      continue;
    }
    fsched_semaphore *s[3], *done = kit_timeline();
    fsched_fence *f[3], *signal = kit_fence(ctx, done, 1);
    uint64_t a = 1, b = 1, to_x = 0, to_y = 0;
    for (uint32_t i = 0; i < 3; i++) {
      s[i] = kit_timeline();
      f[i] = kit_fence(ctx, s[i], 1);
    }
    const fsched_binding bind[] = {{.buffer = "a", .data = &a, .bytes = 8, .wait = f[0]},
                                   {.buffer = "b", .data = &b, .bytes = 8, .wait = f[1]},
                                   {.buffer = "x", .data = &to_x, .bytes = 8},
                                   {.buffer = "y", .data = &to_y, .bytes = 8}};
    fsched_invocation v = {
        .size = sizeof v, .wait = f[2], .signal = signal, .bindings = bind, .n_bindings = 4};
    ck_fs(ctx, fsched_invoke(ctx, entry, &v));
    for (uint32_t i = 0; i < 3; i++) {
      ck_assert_int_eq(fsched_fence_wait(signal, 0), FSCHED_CAUSE_TIMEOUT);
      kit_publish(s[which[i]], 1);
    }
    ck_assert_int_eq(fsched_fence_wait(signal, KIT_LIMIT), FSCHED_CAUSE_NONE);
    ck_assert_uint_eq(to_x * 100 + to_y, 203);
    for (uint32_t i = 0; i < 3; i++) {
      fsched_fence_release(f[i]);
      fsched_semaphore_release(s[i]);
    }
    fsched_fence_release(signal);
    fsched_semaphore_release(done);
  }
}
END_TEST

/* An input fails while the invocation runs: results that were there stay, the rest fails with that
 * cause. */
START_TEST(input_fails_while_it_runs)
{
  uint64_t word = 1, to_x = 0, to_y = 7;
  char text[200];
  const fsched_binding bind[] = {{.buffer = "a", .data = &word, .bytes = 8},
                                 {.buffer = "b", .data = &word, .bytes = 8, .wait = fence[B]},
                                 {.buffer = "x", .data = &to_x, .bytes = 8, .signal = fence[X]},
                                 {.buffer = "y", .data = &to_y, .bytes = 8, .signal = fence[Y]}};
  invoke(bind, 4, NULL, NULL, 0);
  ck_assert(settled(X, FSCHED_CAUSE_NONE));
  (void)fsched_semaphore_fail(line[B], 31);
  ck_assert(settled(SIGNAL, 31) && settled(Y, 31) && settled(X, FSCHED_CAUSE_NONE));
  ck_assert_uint_eq(to_x, 2);
  ck_assert_uint_eq(to_y, 7);
  ck_assert_uint_gt(fsched_exec_failure(x, text, sizeof text), 0);
  ck_assert_str_eq(text, "the fence of input 'b' had failed");
  ck_assert_uint_eq(fsched_exec_failure(x, text, 4), 33);
  ck_assert_str_eq(text, "the");
  fsched_exec_reset(x);
  ck_assert_uint_eq(fsched_exec_failure(x, NULL, 0), 0);
}
END_TEST

/* An input fails while the invocation waits for its fence, which is never reached; while it waits
 * for memory; and before the invocation was made. */
START_TEST(input_fails_before_it_runs)
{
  uint64_t word = 1;
  fsched_pool *pool;
  fsched_allocation *all;
  fsched_pool_stats stats = {.size = sizeof stats};
  const fsched_binding bind = {.buffer = "b", .data = &word, .bytes = 8, .wait = fence[B]};
  invoke(&bind, 1, fence[WAIT], NULL, 0);
  (void)fsched_semaphore_fail(line[B], 32);
  ck_assert(settled(SIGNAL, 32));
  ck_fs(ctx, fsched_pool_create(ctx, device, 4096, &pool));
  ck_fs(ctx, fsched_pool_alloc(ctx, pool, 4096, NULL, NULL, &all));
  restart(pool, 2); /* the last slot is not given to one that waits */
  for (uint32_t before = 0; before < 2; before++) {
    fsched_semaphore *late = kit_timeline(), *done = kit_timeline();
    fsched_fence *wait = kit_fence(ctx, late, 1), *signal = kit_fence(ctx, done, 1);
    const fsched_binding b = {.buffer = "b", .data = &word, .bytes = 8, .wait = wait};
    fsched_invocation v = {.size = sizeof v, .signal = signal, .bindings = &b, .n_bindings = 1};
    if (before) {
      (void)fsched_semaphore_fail(late, 33);
    }
    ck_fs(ctx, fsched_invoke(ctx, entry, &v));
    fsched_pool_get_stats(pool, &stats);
    ck_assert_uint_eq(stats.waiting, before == 0);
    (void)fsched_semaphore_fail(late, 33);
    ck_assert_int_eq(fsched_fence_wait(signal, KIT_LIMIT), 33);
    fsched_fence_release(wait), fsched_fence_release(signal);
    fsched_semaphore_release(late), fsched_semaphore_release(done);
  }
  restart(NULL, 1);
  ck_fs(ctx, fsched_pool_free(ctx, all, NULL));
  fsched_pool_destroy(pool);
}
END_TEST

/* The first of four invocations has the only slot: of those that wait for it the first, one in the
 * middle and the last end without getting it. */
START_TEST(input_fails_before_there_is_a_slot)
{
  uint64_t word = 1;
  fsched_program *p = kit_compile(ctx, KIT_ONE("add")); /* without state */
  restart(NULL, 1);
  fsched_entry *e = kit_load(ctx, x, p);
  for (uint32_t which = 1; which < 4; which++) {
    fsched_semaphore *late[4], *done[4];
    fsched_fence *wait[4], *signal[4];
    for (uint32_t i = 0; i < 4; i++) {
      late[i] = kit_timeline(), done[i] = kit_timeline();
      wait[i] = kit_fence(ctx, late[i], 1), signal[i] = kit_fence(ctx, done[i], 1);
      const fsched_binding b = {.buffer = "in", .data = &word, .bytes = 8, .wait = wait[i]};
      fsched_invocation v = {
          .size = sizeof v, .signal = signal[i], .bindings = &b, .n_bindings = 1};
      ck_fs(ctx, fsched_invoke(ctx, e, &v));
    }
    (void)fsched_semaphore_fail(late[which], 34);
    ck_assert_int_eq(fsched_fence_wait(signal[which], KIT_LIMIT), 34);
    for (uint32_t i = 0; i < 4; i++) {
      ck_assert_int_eq(fsched_fence_wait(signal[i], 0), i == which ? 34 : FSCHED_CAUSE_TIMEOUT);
      kit_publish(late[i], 1);
      ck_assert_int_eq(fsched_fence_wait(signal[i], KIT_LIMIT), i == which ? 34 : 0);
    }
    for (uint32_t i = 0; i < 4; i++) {
      fsched_fence_release(wait[i]), fsched_fence_release(signal[i]);
      fsched_semaphore_release(late[i]), fsched_semaphore_release(done[i]);
    }
  }
  restart(NULL, 1);
  fsched_program_destroy(p);
}
END_TEST

/* An invocation with state waits for its turn, and has two failures: it fails with the first. */
START_TEST(first_failure_counts)
{
  uint64_t word = 1;
  fsched_fence *two = kit_fence(ctx, line[X], 1), *one = kit_fence(ctx, line[Y], 1);
  const fsched_binding first = {.buffer = "b", .data = &word, .bytes = 8, .wait = fence[WAIT]};
  const fsched_binding bad[] = {{.buffer = "a", .data = &word, .bytes = 8, .wait = fence[A]},
                                {.buffer = "b", .data = &word, .bytes = 8, .wait = fence[B]}};
  fsched_invocation v = {.size = sizeof v, .signal = one, .bindings = &first, .n_bindings = 1};
  ck_fs(ctx, fsched_invoke(ctx, entry, &v));
  v = (fsched_invocation){.size = sizeof v, .signal = two, .bindings = bad, .n_bindings = 2};
  ck_fs(ctx, fsched_invoke(ctx, entry, &v));
  (void)fsched_semaphore_fail(line[B], 36);
  (void)fsched_semaphore_fail(line[A], 35);
  ck_assert(pending(X));
  kit_publish(line[WAIT], 1);
  ck_assert(settled(Y, FSCHED_CAUSE_NONE) && settled(X, 36));
  fsched_fence_release(two), fsched_fence_release(one);
}
END_TEST

/* Nothing reads u, so its fence does not matter. */
START_TEST(unread_input_does_not_matter)
{
  uint64_t u[2] = {0};
  const fsched_binding bind = {.buffer = "u", .data = u, .bytes = 16, .wait = fence[A]};
  invoke(&bind, 1, NULL, NULL, 0);
  ck_assert(settled(SIGNAL, FSCHED_CAUSE_NONE));
  (void)fsched_semaphore_fail(line[A], 3);
}
END_TEST

/* Inputs and constants that are not bound have the same content every time; outputs that are not
 * bound are dropped. */
START_TEST(what_is_not_bound)
{
  uint64_t z[3] = {0}, own = 5;
  for (uint32_t i = 0; i < 3; i++) {
    fsched_semaphore *done = kit_timeline();
    fsched_fence *f = kit_fence(ctx, done, 1);
    const fsched_binding bind[] = {{.buffer = "z", .data = &z[i], .bytes = 8},
                                   {.buffer = "k", .data = &own, .bytes = 8}};
    fsched_invocation v = {
        .size = sizeof v, .signal = f, .bindings = bind, .n_bindings = 1 + (i == 2)};
    (void)v;
    ck_fs(ctx, fsched_invoke(ctx, entry, &v));
    ck_assert_int_eq(fsched_fence_wait(f, KIT_LIMIT), FSCHED_CAUSE_NONE);
    fsched_fence_release(f);
    fsched_semaphore_release(done);
  }
  ck_assert_uint_eq(z[0], z[1]);
  ck_assert_uint_eq(z[2], 0); /* `more` writes only t, its first output */
  ck_fs(ctx, fsched_invoke(ctx, entry, NULL));
}
END_TEST

START_TEST(values_by_parameter)
{
  const fsched_parameter value[] = {{"right", 1, 5}, {"right", 1, 40}, {"left", 1, -3}};
  uint64_t a = 10, b = 10, to_x = 0, to_y = 0;
  const fsched_binding bind[] = {{.buffer = "a", .data = &a, .bytes = 8},
                                 {.buffer = "b", .data = &b, .bytes = 8},
                                 {.buffer = "x", .data = &to_x, .bytes = 8},
                                 {.buffer = "y", .data = &to_y, .bytes = 8}};
  invoke(bind, 4, NULL, value, 3);
  ck_assert(settled(SIGNAL, FSCHED_CAUSE_NONE));
  ck_assert_uint_eq(to_x, 7);
  ck_assert_uint_eq(to_y, 50); /* the last value counts */
  /* The others, and this one afterwards, have the graph's own value. */
  for (uint32_t n = 0; n < 2; n++) {
    fsched_fence *next = kit_fence(ctx, line[SIGNAL], 2 + n);
    fsched_invocation v = {.size = sizeof v,
                           .signal = next,
                           .bindings = bind,
                           .n_bindings = 4,
                           .parameters = &value[2],
                           .n_parameters = n};
    ck_fs(ctx, fsched_invoke(ctx, entry, &v));
    ck_assert_int_eq(fsched_fence_wait(next, KIT_LIMIT), FSCHED_CAUSE_NONE);
    ck_assert_uint_eq(to_x * 100 + to_y, n == 0 ? 1112 : 712);
    fsched_fence_release(next);
  }
}
END_TEST

/* Ownership */

START_TEST(released_when_it_was_read)
{
  owned a = {.word = 1}, b = {.word = 1};
  uint64_t to_x;
  const fsched_binding bind[] = {owned_input("a", &a, NULL),
                                 owned_input("b", &b, fence[B]),
                                 {.buffer = "x", .data = &to_x, .bytes = 8, .signal = fence[X]}};
  invoke(bind, 3, NULL, NULL, 0);
  ck_assert(settled(X, FSCHED_CAUSE_NONE));
  ck_assert_uint_eq(a.releases, 1); /* before the end */
  ck_assert_uint_eq(b.releases, 0);
  kit_publish(line[B], 1);
  ck_assert(settled(SIGNAL, FSCHED_CAUSE_NONE));
  ck_assert_uint_eq(a.releases, 1);
  ck_assert_uint_eq(b.releases, 1);
}
END_TEST

/* After the failure of a kernel, b is released only when nothing can still be writing it. */
START_TEST(released_after_a_failure)
{
  owned a = {.word = 1}, b = {.word = 1};
  owned u = {.word = 1};
  fsched_parameter bad = {"left", 1, 9};
  fsched_binding bind[] = {owned_input("a", &a, NULL), owned_input("b", &b, fence[B]),
                           owned_input("k", &u, NULL)};
  invoke(bind, 3, NULL, &bad, 1);
  ck_assert(settled(SIGNAL, 9));
  ck_assert_uint_eq(a.releases, 1);
  ck_assert_uint_eq(u.releases, 1);
  ck_assert_uint_eq(b.releases, 0);
  kit_publish(line[B], 1);
  ck_assert_uint_eq(b.releases, 1);
}
END_TEST

/* Inputs that nobody reads are released at the end, and not before their fence is reached. */
START_TEST(released_unread)
{
  owned u[2] = {{.word = 1}, {.word = 1}};
  for (uint64_t late = 0; late < 2; late++) {
    fsched_semaphore *done = kit_timeline();
    fsched_fence *f = kit_fence(ctx, done, 1);
    fsched_binding bind = owned_input("u", &u[late], late ? fence[A] : NULL);
    bind.bytes = 16;
    fsched_invocation v = {.size = sizeof v, .signal = f, .bindings = &bind, .n_bindings = 1};
    ck_fs(ctx, fsched_invoke(ctx, entry, &v));
    ck_assert_int_eq(fsched_fence_wait(f, KIT_LIMIT), FSCHED_CAUSE_NONE);
    ck_assert_uint_eq(u[late].releases, 1 - late);
    fsched_fence_release(f);
    fsched_semaphore_release(done);
  }
  (void)fsched_semaphore_fail(line[A], 4); /* a failure releases them, too */
  ck_assert_uint_eq(u[1].releases, 1);
}
END_TEST

/* Data are released when the wait fence failed, and when destruction cancelled the call before and
 * after its own end; a refused call does not release them. */
START_TEST(released_when_it_never_ran)
{
  owned o[5] = {{.word = 1}, {.word = 1}, {.word = 1}, {.word = 1}, {.word = 1}};
  fsched_binding bind[] = {owned_input("a", &o[0], NULL), owned_input("b", &o[1], fence[B])};
  invoke(bind, 2, fence[WAIT], NULL, 0);
  (void)fsched_semaphore_fail(line[WAIT], 6);
  ck_assert(settled(SIGNAL, 6));
  ck_assert_uint_eq(o[0].releases, 1);
  ck_assert_uint_eq(o[1].releases, 0);
  const fsched_binding two[] = {owned_input("a", &o[2], NULL), owned_input("b", &o[3], fence[B])};
  fsched_invocation v = {.size = sizeof v, .wait = fence[A], .bindings = two, .n_bindings = 2};
  ck_fs(ctx, fsched_invoke(ctx, entry, &v));
  const fsched_binding refused[] = {owned_input("a", &o[4], NULL), {.buffer = "nobody"}};
  v.bindings = refused;
  kit_refused(ctx, fsched_invoke(ctx, entry, &v), FSCHED_USAGE, "exec", "no buffer 'nobody'");
  restart(NULL, 1);
  for (uint32_t i = 0; i < 4; i++) {
    ck_assert_uint_eq(o[i].releases, 1);
  }
  ck_assert_uint_eq(o[4].releases, 0);
}
END_TEST

/* Commands alone run: no data moves, and no input is waited for. */
START_TEST(empty_context)
{
  fsched_exec_options o = {.size = sizeof o, .device = device, .pace_ns = 5000000, .empty = 1};
  fsched_exec_destroy(x);
  ck_fs(ctx, fsched_exec_create(ctx, &o, &x));
  entry = kit_load(ctx, x, program);
  owned b = {.word = 1};
  uint64_t a = 0, to_x = 5;
  const fsched_binding bind[] = {owned_input("b", &b, fence[B]),
                                 {.buffer = "a", .data = &a, .bytes = 8, .wait = fence[A]},
                                 {.buffer = "x", .data = &to_x, .bytes = 8, .signal = fence[X]}};
  invoke(bind, 3, NULL, NULL, 0);
  kit_publish(line[A], 1); /* while the invocation runs */
  ck_assert(settled(SIGNAL, FSCHED_CAUSE_NONE) && settled(X, FSCHED_CAUSE_NONE));
  ck_assert_uint_eq(to_x, 5);
  ck_assert_uint_eq(b.releases, 0);
  kit_publish(line[B], 1);
  ck_assert_uint_eq(b.releases, 1);
}
END_TEST

/* An input has a place that no command touches, as a compiler may leave it; here it is made by
 * hand. */
START_TEST(untouched_input_does_not_matter)
{
  static maker m;
  mk_init(&m, ctx);
  uint32_t mem = mk_memory(&m, "ddr", 100), q = mk_queue(&m, "q");
  uint32_t in = (mk_buffer(&m, "in", 8, FSCHED_IO_INPUT), mk_version(&m, mem, 0));
  uint32_t out = (mk_buffer(&m, "out", 8, FSCHED_IO_OUTPUT), mk_version(&m, mem, 8));
  mk_given(&m, in, mem, 0), mk_kept(&m, out, mem, 8);
  (void)mk_op(&m, "op"), mk_arg(&m, FSCHED_OUT, out);
  (void)mk_run(&m, q, 0);
  fsched_entry *e = kit_load(ctx, x, &m.program);
  owned o = {.word = 1};
  const fsched_binding bind = owned_input("in", &o, fence[A]);
  fsched_invocation v = {
      .size = sizeof v, .signal = fence[SIGNAL], .bindings = &bind, .n_bindings = 1};
  (void)fsched_semaphore_fail(line[A], 3);
  ck_fs(ctx, fsched_invoke(ctx, e, &v));
  ck_assert(settled(SIGNAL, FSCHED_CAUSE_NONE));
  ck_assert_uint_eq(o.releases, 1);
  restart(NULL, 1);
}
END_TEST

/* Refusals */

static void refuse(const fsched_binding *bind, uint32_t n, const char *text) {
  fsched_invocation v = {
      .size = sizeof v, .bindings = bind, .n_bindings = n, .signal = fence[SIGNAL]};
  kit_refused(ctx, fsched_invoke(ctx, entry, &v), FSCHED_USAGE, "exec", text);
  ck_assert(pending(SIGNAL)); /* nothing has happened */
}

START_TEST(bad_bindings)
{
  uint64_t word[2] = {0};
  owned o;
  fsched_binding b = {.buffer = "none", .data = word, .bytes = 8};
  refuse(&b, 1, "the program has no buffer 'none'");
  b.buffer = NULL;
  refuse(&b, 1, "the program has no buffer ''");
  b.buffer = "t";
  refuse(&b, 1, "buffer 't' is neither input, constant nor output");
  b.buffer = "s";
  refuse(&b, 1, "buffer 's' is neither input, constant nor output");
  b.buffer = "a", b.bytes = 7;
  refuse(&b, 1, "buffer 'a' has 8 bytes, what is bound to it has 7");
  b.bytes = 8, b.data = NULL;
  refuse(&b, 1, "no data are bound to buffer 'a'");
  b.data = word, b.signal = fence[X];
  refuse(&b, 1, "buffer 'a' is no output, and only those signal");
  b.buffer = "x", b.signal = NULL, b.wait = fence[A];
  refuse(&b, 1, "buffer 'x' is an output, which neither waits nor is released");
  b.wait = NULL, b.release = released, b.release_user = &o;
  refuse(&b, 1, "buffer 'x' is an output, which neither waits nor is released");
  b.release = NULL;
  refuse((fsched_binding[]){b, b}, 2, "buffer 'x' is bound twice");
  b.buffer = "a";
  refuse((fsched_binding[]){b, b}, 2, "buffer 'a' is bound twice");
  b.buffer = "u", b.bytes = 16;
  refuse((fsched_binding[]){b, b}, 2, "buffer 'u' is bound twice");
  refuse(NULL, 1, "the invocation has bindings, but no array of them");
}
END_TEST

START_TEST(bad_parameters)
{
  fsched_invocation v = {.size = sizeof v, .n_parameters = 1};
  kit_refused(ctx, fsched_invoke(ctx, entry, &v), FSCHED_USAGE, "exec",
              "the invocation has parameters, but no array of them");
  fsched_parameter p = {"wrong", 0, 0};
  v.parameters = &p;
  kit_refused(ctx, fsched_invoke(ctx, entry, &v), FSCHED_USAGE, "exec",
              "the program has no op 'wrong'");
  p.op = NULL;
  kit_refused(ctx, fsched_invoke(ctx, entry, &v), FSCHED_USAGE, "exec", "no op ''");
  p.op = "left";
  kit_refused(ctx, fsched_invoke(ctx, entry, &v), FSCHED_USAGE, "exec",
              "arg 0 of op 'left' is no value");
  p.arg = 3;
  kit_refused(ctx, fsched_invoke(ctx, entry, &v), FSCHED_USAGE, "exec",
              "arg 3 of op 'left' is no value");
  v.size = 8;
  kit_refused(ctx, fsched_invoke(ctx, entry, &v), FSCHED_USAGE, "bad-argument",
              "fsched_invocation");
}
END_TEST

START_TEST(bad_contexts)
{
  fsched_exec *none = x;
  fsched_device *other = kit_device(ctx, kernels), *bad = other;
  fsched_pool *pool;
  ck_fs(ctx, fsched_pool_create(ctx, other, 1000, &pool));
  fsched_exec_options o = {.size = sizeof o};
  kit_refused(ctx, fsched_exec_create(ctx, NULL, &none), FSCHED_USAGE, "exec", "wants a device");
  ck_assert_ptr_null(none);
  kit_refused(ctx, fsched_exec_create(ctx, &o, &none), FSCHED_USAGE, "exec", "wants a device");
  o.device = device, o.in_flight = 1025;
  kit_refused(ctx, fsched_exec_create(ctx, &o, &none), FSCHED_USAGE, "exec",
              "'in_flight' is at most 1024");
  o.in_flight = 1, o.pool = pool;
  kit_refused(ctx, fsched_exec_create(ctx, &o, &none), FSCHED_USAGE, "exec",
              "the pool is of another device");
  o.size = 1;
  kit_refused(ctx, fsched_exec_create(ctx, &o, &none), FSCHED_USAGE, "bad-argument",
              "fsched_exec_options");
  fsched_device_options d = {.size = sizeof d, .kind = "abacus"};
  kit_refused(ctx, fsched_device_create(ctx, &d, &bad), FSCHED_USAGE, "device",
              "there is no kind of device called 'abacus'");
  ck_assert_ptr_null(bad);
  d.size = 2;
  kit_refused(ctx, fsched_device_create(ctx, &d, &bad), FSCHED_USAGE, "bad-argument",
              "fsched_device_options");
  fsched_pool_destroy(pool);
  fsched_device_release(other);
  fsched_device_release(NULL);
}
END_TEST

START_TEST(kernel_that_is_not_there)
{
  fsched_program *p = kit_compile(ctx, KIT_ONE("nowhere"));
  fsched_entry *e = entry;
  kit_refused(ctx, fsched_exec_load(ctx, x, p, &e), FSCHED_REPLAY, "replay-kernel",
              "op 'f': module 'kit' is not opened: modules are code, and none is allowed");
  ck_assert_ptr_null(e);
  fsched_program_destroy(p);
}
END_TEST

START_TEST(device_says_what_it_is)
{
  fsched_device *d;
  fsched_device_options o = {.size = sizeof o, .kind = "auto", .driver = "/nonexistent/libcuda"};
  ck_assert_str_eq(fsched_device_kind(device), "cpu");
  ck_assert_str_eq(fsched_device_note(device), "the processors of this machine");
  ck_fs(ctx, fsched_device_create(ctx, &o, &d));
  ck_assert_str_eq(fsched_device_kind(d), "cpu");
  ck_assert(strncmp(fsched_device_note(d), "the processors of this machine: ", 32) == 0);
  ck_assert_uint_eq(fsched_diag_errors(ctx), 0);
  fsched_device_retain(d);
  fsched_device_release(d);
  fsched_device_release(d);
}
END_TEST

FS_SUITE(exec_bind, s) {
  TCase *t = fs_case(s, NULL);
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, set_up, tear_down);
  FS_TESTS(t, only_the_readers_wait, fences_in_any_order, input_fails_while_it_runs,
           input_fails_before_it_runs, input_fails_before_there_is_a_slot, first_failure_counts,
           unread_input_does_not_matter, what_is_not_bound, values_by_parameter,
           released_when_it_was_read, released_after_a_failure, released_unread,
           released_when_it_never_ran, empty_context, untouched_input_does_not_matter, bad_bindings,
           bad_parameters, bad_contexts, kernel_that_is_not_there, device_says_what_it_is);
}
