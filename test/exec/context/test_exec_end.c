/* SPDX-License-Identifier: Apache-2.0 */
/* How invocations end when something fails: kernels that fail, with all that wait for them, waits
 * that are stuck, shutdown at every stage, and memory that runs out. */
#include "kit/replay_maker.h"

#include "exec/context/exec_case.h"

static void invoke(fsched_entry *e, fsched_fence *wait, fsched_fence *signal) {
  fsched_invocation v = {.size = sizeof v, .wait = wait, .signal = signal};
  ck_fs(ctx, fsched_invoke(ctx, e, &v));
}

/* The kernel of `bad` fails; `after` and `other` would run after it, `beside` need not. */
static const char broken[] =
    "fsched: 1\n"
    "target: {queues: [{name: p}, {name: q}]}\n"
    "buffers: [{name: o, size: 8, io: output}]\n"
    "ops:\n"
    "  - {name: bad, on: p, args: [{value: 9}, {out: x, size: 8}], " KIT_KERNEL("fail") "}\n"
    "  - {name: after, on: q, args: [{in: x}, {out: y, size: 8}], " KIT_KERNEL("count") "}\n"
    "  - {name: other, on: p, args: [{in: y}, {out: o}], " KIT_KERNEL("count") "}\n";

START_TEST(ops_that_have_not_begun_are_left_out)
{
  fsched_program *p = kit_compile(ctx, broken);
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  fsched_entry *e = kit_load(ctx, x, p);
  uint64_t o = 5;
  for (uint64_t i = 0; i < 30; i++) { /* the slot is as good as new afterwards */
    fsched_semaphore *done = kit_timeline(), *kept = kit_timeline();
    fsched_fence *f = kit_fence(ctx, done, 1), *g = kit_fence(ctx, kept, 1);
    const fsched_parameter ok = {"bad", 0, 0};
    const fsched_binding b = {.buffer = "o", .data = &o, .bytes = 8, .signal = g};
    bool good = i % 3 == 2;
    fsched_invocation v = {.size = sizeof v,
                           .signal = f,
                           .bindings = &b,
                           .n_bindings = 1,
                           .parameters = &ok,
                           .n_parameters = good};
    ck_fs(ctx, fsched_invoke(ctx, e, &v));
    ck_assert_int_eq(fsched_fence_wait(f, KIT_LIMIT), good ? 0 : 9);
    ck_assert_int_eq(fsched_fence_wait(g, KIT_LIMIT), good ? 0 : 9);
    ck_assert_uint_eq(entered.n, (i + 1) / 3 * 2);
    fsched_fence_release(f), fsched_fence_release(g);
    fsched_semaphore_release(done), fsched_semaphore_release(kept);
  }
  fsched_exec_destroy(x);
  fsched_program_destroy(p);
}
END_TEST

/* A chain passes through two contexts, and its first link fails. */
START_TEST(failure_passes_from_context_to_context)
{
  enum { N = 1000 };
  fsched_program *bad = kit_compile(ctx, broken), *p = kit_compile(ctx, KIT_ONE("count"));
  fsched_exec *x[] = {kit_exec(ctx, device, NULL, 1), kit_exec(ctx, device, NULL, 2)};
  fsched_entry *first = kit_load(ctx, x[0], bad);
  fsched_entry *e[] = {kit_load(ctx, x[0], p), kit_load(ctx, x[1], p)};
  fsched_fence *f[N + 1], *start = kit_fence(ctx, line, 1);
  for (uint32_t i = 0; i <= N; i++) {
    fsched_semaphore *s = kit_timeline();
    f[i] = kit_fence(ctx, s, 1);
    fsched_semaphore_release(s);
  }
  invoke(first, start, f[0]);
  for (uint32_t i = 0; i < N; i++) {
    invoke(e[i % 2], f[i], f[i + 1]);
  }
  kit_publish(line, 1);
  ck_assert_int_eq(fsched_fence_wait(f[N], KIT_LIMIT), 9);
  ck_assert_uint_eq(entered.n, 0);
  fsched_exec_destroy(x[0]);
  fsched_exec_destroy(x[1]);
  for (uint32_t i = 0; i <= N; i++) {
    ck_assert_int_eq(fsched_fence_wait(f[i], 0), 9);
    fsched_fence_release(f[i]);
  }
  fsched_fence_release(start);
  fsched_program_destroy(bad);
  fsched_program_destroy(p);
}
END_TEST

typedef struct told_of {
  fsched_semaphore *called;
  fsched_cause cause;
} told_of;

static void tell(void *user, fsched_cause cause) {
  told_of *t = user;
  t->cause = cause;
  kit_publish(t->called, 1);
}

/* Invokes once for all of these points, with a failure of that cause if there is one, and waits for
 * the end. */
static void invoke_for(fsched_entry *e, const fsched_fence_point *points, uint32_t n, int64_t cause,
                       told_of *told) {
  const fsched_parameter value = {"f", 1, cause};
  fsched_fence *f;
  ck_fs(ctx, fsched_fence_create(ctx, points, n, &f));
  fsched_invocation v = {.size = sizeof v,
                         .signal = f,
                         .parameters = &value,
                         .n_parameters = 1,
                         .callback = tell,
                         .user = told};
  ck_fs(ctx, fsched_invoke(ctx, e, &v));
  fsched_fence_release(f);
  ck_assert_int_eq(kit_await(told->called, 1), FSCHED_CAUSE_NONE);
  fsched_semaphore_release(told->called);
}

/* A timeline fails as a whole: what was reached stays, but later points are of no use even if their
 * invocations succeed.  Invocations with timelines of their own do not notice. */
START_TEST(shared_timelines_fail_together)
{
  fsched_program *p = kit_compile(ctx, KIT_ONE("fail"));
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  fsched_entry *e = kit_load(ctx, x, p);
  fsched_semaphore *own[2] = {kit_timeline(), kit_timeline()};
  told_of told[3];
  for (int i = 0; i < 3; i++) {
    told[i] = (told_of){kit_timeline(), 99};
  }
  invoke_for(e, (fsched_fence_point[]){{line, 1}, {own[0], 1}}, 2, 0, &told[0]);
  invoke_for(e, (fsched_fence_point[]){{line, 5}}, 1, 9, &told[1]);
  invoke_for(e, (fsched_fence_point[]){{line, 3}, {own[1], 1}}, 2, 0, &told[2]);
  ck_assert_int_eq(told[0].cause, FSCHED_CAUSE_NONE);
  ck_assert_int_eq(told[1].cause, 9);
  ck_assert_int_eq(told[2].cause, FSCHED_CAUSE_NONE); /* it has not failed ... */
  ck_assert_int_eq(kit_await(own[1], 1), FSCHED_CAUSE_NONE);
  ck_assert_int_eq(kit_await(line, 3), 9); /* ... but nobody hears of that here */
  ck_assert_int_eq(kit_await(line, 2), 9);
  ck_assert_int_eq(kit_await(line, 1), FSCHED_CAUSE_NONE);
  const fsched_fence_point both[] = {{own[0], 1}, {own[1], 1}};
  fsched_fence *f;
  ck_fs(ctx, fsched_fence_create(ctx, both, 2, &f));
  ck_assert_int_eq(fsched_fence_wait(f, 0), FSCHED_CAUSE_NONE);
  fsched_fence_release(f);
  fsched_exec_destroy(x);
  fsched_program_destroy(p);
  fsched_semaphore_release(own[0]), fsched_semaphore_release(own[1]);
}
END_TEST

/* Waiting for an exec tells what is known about failures. */
START_TEST(failures_are_explained)
{
  fsched_program *p = kit_compile(ctx, broken), *n = kit_compile(ctx, KIT_ONE("negative"));
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  fsched_entry *e = kit_load(ctx, x, p), *g = kit_load(ctx, x, n);
  fsched_semaphore *s = kit_timeline();
  fsched_fence *f = kit_fence(ctx, end, 1), *h = kit_fence(ctx, s, 1);
  fsched_cause cause = 5;
  ck_fs(ctx, fsched_exec_wait(ctx, x, NULL, 0, FSCHED_FOREVER, &cause));
  ck_assert_int_eq(cause, FSCHED_CAUSE_NONE);
  invoke(e, NULL, f);
  kit_refused(
      ctx, fsched_exec_wait(ctx, x, f, FSCHED_FOREVER, FSCHED_FOREVER, &cause), FSCHED_REPLAY,
      "replay-failed",
      "an invocation failed with cause 9 (a kernel's or user's): op 'bad': its kernel failed");
  ck_assert_int_eq(cause, 9);
  invoke(g, NULL, h); /* this has another cause, so the first failure does not explain it */
  kit_refused(ctx, fsched_exec_wait(ctx, x, h, FSCHED_FOREVER, FSCHED_FOREVER, NULL), FSCHED_REPLAY,
              "replay-failed",
              "an invocation failed with cause -4 (the machine failed): op 'f': its kernel failed");
  fsched_semaphore *other = kit_timeline();
  fsched_fence *o = kit_fence(ctx, other, 1);
  fsched_fence_fail(o, 55); /* no invocation failed here */
  kit_refused(ctx, fsched_exec_wait(ctx, x, o, FSCHED_FOREVER, FSCHED_FOREVER, NULL), FSCHED_REPLAY,
              "replay-failed", "the fence has failed with cause 55 (a kernel's or user's)");
  fsched_fence_release(o);
  fsched_semaphore_release(other);
  fsched_exec_destroy(x);
  fsched_fence_release(f), fsched_fence_release(h);
  fsched_semaphore_release(s);
  fsched_program_destroy(p);
  fsched_program_destroy(n);
}
END_TEST

/* Waits in vain, and checks the text, which names the kernel that runs meanwhile. */
static void expect_late(fsched_exec *x, fsched_fence *f, uint64_t timeout_ns, fsched_cause *cause,
                        const char *text) {
  ck_assert_int_eq(fsched_exec_wait(ctx, x, f, timeout_ns, FSCHED_FOREVER, cause), FSCHED_REPLAY);
  ck_assert_uint_eq(fsched_diag_errors(ctx), 2);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "replay-failed");
  ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 0)->message, text));
  ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 1)->message, "gate"));
  fsched_diag_clear(ctx);
}

/* A wait that times out tells how many invocations wait for what. */
START_TEST(timeouts_are_explained)
{
  fsched_program *p = kit_compile(ctx, KIT_ONE("gate"));
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  fsched_entry *e = kit_load(ctx, x, p);
  fsched_fence *never = kit_fence(ctx, line, 1), *f = kit_fence(ctx, end, 1);
  fsched_cause cause = 0;
  invoke(e, never, f);
  invoke(e, NULL, NULL);
  invoke(e, NULL, NULL);
  ck_assert_int_eq(kit_await(entered.timeline, 1), FSCHED_CAUSE_NONE);
  expect_late(
      x, f, 3000000, &cause,
      "the fence was not reached within 3 ms; invocations that wait for their fence: 1, for an "
      "earlier one with state: 0, for inputs of theirs: 0, for a slot: 1, for memory: 0; that run: "
      "1");
  ck_assert_int_eq(cause, FSCHED_CAUSE_TIMEOUT);
  expect_late(x, f, 0, NULL, "within 0 ms");
  kit_publish(open_at, 1);
  kit_publish(line, 1);
  ck_fs(ctx, fsched_exec_wait(ctx, x, f, KIT_LIMIT, KIT_LIMIT, &cause));
  ck_assert_int_eq(cause, FSCHED_CAUSE_NONE);
  fsched_fence_release(never), fsched_fence_release(f);
  fsched_exec_destroy(x);
  fsched_program_destroy(p);
}
END_TEST

/* Watchdog */

static const uint64_t soon_ns = 20000000;

static void assert_stuck(uint32_t index, fsched_severity severity, const char *text) {
  const fsched_diag *d = fsched_diag_get(ctx, index);
  ck_assert_str_eq(d->code, "replay-stuck");
  ck_assert_int_eq(d->severity, severity);
  ck_assert_str_eq(d->message, text);
}

/* A stream lacks a signal that something waits for.  The second invocation counts its epochs
 * anew. */
START_TEST(stuck_wait_is_named)
{
  static maker m;
  char text[200];
  mk_init(&m, ctx);
  make_ping_pong(&m, 6, 3);
  m.commands[2].signal = 0; /* q1, command 1, op1 */
  fsched_program *good = kit_compile(ctx, KIT_ONE("count"));
  fsched_exec *x = kit_exec(ctx, device, NULL, 2);
  fsched_entry *e = kit_load(ctx, x, &m.program), *g = kit_load(ctx, x, good);
  for (uint64_t i = 0; i < 2; i++) {
    fsched_semaphore *s = kit_timeline(), *t = kit_timeline();
    fsched_fence *f = kit_fence(ctx, s, 1), *other = kit_fence(ctx, t, 1);
    fsched_cause cause = 0;
    invoke(e, NULL, f);
    invoke(g, NULL, other); /* this one runs beside it */
    ck_assert_int_eq(fsched_fence_wait(other, KIT_LIMIT), FSCHED_CAUSE_NONE);
    ck_assert_int_eq(fsched_exec_wait(ctx, x, f, KIT_LIMIT, soon_ns, &cause), FSCHED_REPLAY);
    ck_assert_int_eq(cause, FSCHED_CAUSE_TIMEOUT);
    ck_assert_uint_eq(fsched_diag_count(ctx), 3);
    assert_stuck(0, FSCHED_ERROR,
                 "queue 'q2' is stuck at command 1 (op 'op2'): it waits for epoch 1 of 'q1', which "
                 "has reached 0");
    assert_stuck(1, FSCHED_NOTE,
                 "queue 'q0' is stuck at command 2 (op 'op3'): it waits for epoch 1 of 'q2', which "
                 "has reached 0");
    assert_stuck(2, FSCHED_NOTE,
                 "queue 'q1' is stuck at command 2 (op 'op4'): it waits for epoch 2 of 'q0', which "
                 "has reached 1");
    fsched_diag_clear(ctx);
    (void)fsched_exec_failure(x, text, sizeof text);
    ck_assert(strncmp(text, "queue 'q2' is stuck at command 1", 32) == 0);
    fsched_exec_reset(x);
    fsched_fence_release(f), fsched_fence_release(other);
    fsched_semaphore_release(s), fsched_semaphore_release(t);
  }
  fsched_exec_destroy(x);
  fsched_program_destroy(good);
}
END_TEST

/* Nobody signals the input's fence: it is named, and the slot works afterwards.  A wait with a
 * limit of its own tells this too, while the invocation goes on. */
START_TEST(unsignalled_input_is_named)
{
  fsched_program *p = kit_compile(ctx, KIT_ONE("add"));
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  fsched_entry *e = kit_load(ctx, x, p);
  fsched_fence *late = kit_fence(ctx, line, 1), *f = kit_fence(ctx, end, 1);
  uint64_t in = 1, out = 0;
  const fsched_binding b[] = {{.buffer = "in", .data = &in, .bytes = 8, .wait = late},
                              {.buffer = "out", .data = &out, .bytes = 8}};
  fsched_invocation v = {.size = sizeof v, .signal = f, .bindings = b, .n_bindings = 2};
  static const char text[] = "it waits for the content of 'in', whose fence has not been signalled";
  fsched_cause cause = 0;
  ck_fs(ctx, fsched_invoke(ctx, e, &v));
  ck_assert_int_eq(fsched_exec_wait(ctx, x, f, KIT_LIMIT, soon_ns, &cause), FSCHED_REPLAY);
  ck_assert_int_eq(cause, FSCHED_CAUSE_TIMEOUT);
  ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 0)->message, text));
  fsched_diag_clear(ctx);
  kit_publish(line, 1); /* too late */
  fsched_semaphore *s = kit_timeline(), *t = kit_timeline();
  fsched_fence *again = kit_fence(ctx, s, 1), *then = kit_fence(ctx, t, 1);
  fsched_binding c[] = {b[0], b[1]};
  c[0].wait = then;
  v.bindings = c, v.signal = again;
  ck_fs(ctx, fsched_invoke(ctx, e, &v));
  ck_assert_int_eq(fsched_exec_wait(ctx, x, again, soon_ns, FSCHED_FOREVER, &cause), FSCHED_REPLAY);
  ck_assert_int_eq(cause, FSCHED_CAUSE_TIMEOUT);
  ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 0)->message, "for inputs of theirs: 1"));
  fsched_diag_clear(ctx);
  kit_publish(t, 1);
  ck_assert_int_eq(fsched_fence_wait(again, KIT_LIMIT), FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(out, 2);
  fsched_fence_release(late), fsched_fence_release(f);
  fsched_fence_release(again), fsched_fence_release(then);
  fsched_semaphore_release(s), fsched_semaphore_release(t);
  fsched_exec_destroy(x);
  fsched_program_destroy(p);
}
END_TEST

/* Shutdown */

typedef struct guest {
  fsched_entry *entry;
  fsched_fence *signal;
  _Atomic uint32_t calls, refused;
  _Atomic fsched_cause cause;
} guest;

/* At shutdown this makes another invocation, and opens the gate. */
static void leave(void *user, fsched_cause cause) {
  guest *g = user;
  fsched_context *c;
  g->cause = cause;
  if (fsched_context_create(NULL, &c) == FSCHED_OK) {
    g->refused += fsched_invoke(c, g->entry, NULL) == FSCHED_USAGE &&
                  strstr(fsched_diag_get(c, 0)->message, "is being destroyed") != NULL;
    fsched_context_destroy(c);
  }
  g->calls++;
  kit_publish(open_at, 1);
}

static const char with_state[] =
    "fsched: 1\n"
    "buffers: [{name: in, size: 8, io: input}, {name: s, size: 8, io: state}]\n"
    "ops:\n"
    "  - {name: f, args: [{in: in}, {value: 1}, {out: s}], " KIT_KERNEL("gate") "}\n"
    "  - {name: g, args: [{in: in}, {value: 1}, {out: t, size: 8}], " KIT_KERNEL("count") "}\n";

/* There is one invocation at every stage: one runs, and others wait for memory, a slot, their turn,
 * their fence, or an input. */
START_TEST(destroyed_at_every_stage)
{
  enum { WAITS, ORDERED, RUNS, RESERVES, READY, LATE, GUESTS };
  fsched_program *p = kit_compile(ctx, KIT_ONE("gate")), *q = kit_compile(ctx, with_state);
  for (uint32_t turn = 0; turn < (KIT_SLOW ? 10 : 50); turn++) {
    fsched_pool *pool;
    fsched_allocation *most;
    ck_fs(ctx, fsched_pool_create(ctx, device, 1 << 16, &pool));
    fsched_exec *x = kit_exec(ctx, device, pool, 2);
    fsched_entry *e = kit_load(ctx, x, p), *s = kit_load(ctx, x, q);
    guest g[GUESTS];
    fsched_semaphore *never = kit_timeline();
    fsched_fence *wait = kit_fence(ctx, never, 1);
    ck_fs(ctx, fsched_pool_alloc(ctx, pool, (1 << 16) - fsched_entry_bytes(e), NULL, NULL, &most));
    fsched_semaphore_release(open_at);
    open_at = kit_timeline();
    kit_count_close(&entered);
    kit_count_open(&entered);
    uint64_t in = 1;
    for (uint32_t i = 0; i < GUESTS; i++) {
      fsched_semaphore *own = kit_timeline();
      g[i] = (guest){.signal = kit_fence(ctx, own, 1), .entry = e};
      fsched_semaphore_release(own);
      const fsched_binding late = {.buffer = "in", .data = &in, .bytes = 8, .wait = wait};
      fsched_invocation v = {.size = sizeof v,
                             .wait = i == WAITS || i == LATE ? wait : NULL,
                             .signal = g[i].signal,
                             .bindings = &late,
                             .n_bindings = i == LATE,
                             .callback = leave,
                             .user = &g[i]};
      fsched_entry *to = i == WAITS || i == ORDERED ? s : e;
      ck_fs(ctx, fsched_invoke(ctx, to, &v));
    }
    ck_assert_int_eq(kit_await(entered.timeline, 1), FSCHED_CAUSE_NONE);
    fsched_pool_stats stats = {.size = sizeof stats};
    fsched_pool_get_stats(pool, &stats);
    ck_assert_uint_eq(stats.waiting, 1);
    fsched_exec_destroy(x);
    ck_assert_uint_eq(entered.n, 1);
    for (uint32_t i = 0; i < GUESTS; i++) {
      if (g[i].calls != 1 || g[i].refused != 1 ||
          (g[i].cause != FSCHED_CAUSE_CANCELLED && i != RUNS) ||
          fsched_fence_wait(g[i].signal, 0) != g[i].cause) {
        ck_abort_msg("stage %u: %u calls, %u refused, cause %d", i, g[i].calls, g[i].refused,
                     g[i].cause);
      }
      fsched_fence_release(g[i].signal);
    }
    ck_fs(ctx, fsched_pool_free(ctx, most, NULL));
    fsched_pool_destroy(pool);
    fsched_fence_release(wait);
    fsched_semaphore_release(never);
  }
  fsched_program_destroy(p);
  fsched_program_destroy(q);
}
END_TEST

/* A running invocation ends between two ops. */
START_TEST(destroyed_between_two_ops)
{
  static const char two[] =
      "fsched: 1\n"
      "buffers: [{name: out, size: 8, io: output}]\n"
      "ops:\n"
      "  - {name: f, args: [{value: 1}, {out: x, size: 8}], " KIT_KERNEL("gate") "}\n"
      "  - {name: g, args: [{in: x}, {value: 1}, {out: out}], " KIT_KERNEL("count") "}\n";
  fsched_program *p = kit_compile(ctx, two);
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  fsched_entry *e = kit_load(ctx, x, p);
  guest waits = {.signal = kit_fence(ctx, line, 1), .entry = e};
  fsched_fence *f = kit_fence(ctx, end, 1);
  fsched_invocation v = {.size = sizeof v, .wait = waits.signal, .callback = leave, .user = &waits};
  /* This is cancelled after the other, and then opens the gate. */
  ck_fs(ctx, fsched_invoke(ctx, e, &v));
  invoke(e, NULL, f);
  ck_assert_int_eq(kit_await(entered.timeline, 1), FSCHED_CAUSE_NONE);
  fsched_exec_destroy(x);
  ck_assert_int_eq(fsched_fence_wait(f, 0), FSCHED_CAUSE_CANCELLED);
  ck_assert_uint_eq(entered.n, 1);
  fsched_fence_release(f);
  fsched_fence_release(waits.signal);
  fsched_program_destroy(p);
}
END_TEST

/* Memory runs out */

static void count_calls(void *user, fsched_cause cause) { *(fsched_cause *)user += 1000 + cause; }
static void count_releases(void *user, void *data) {
  (void)data;
  ++*(uint32_t *)user;
}

/* Does everything once; what was made is destroyed, whatever fails. */
static fsched_status all_once(fsched_context *tight, const fsched_program *p, bool pooled) {
  fsched_device_options d = {.size = sizeof d, .find = kit_find, .find_user = (void *)kernels};
  fsched_device *dev = NULL;
  fsched_pool *pool = NULL;
  fsched_exec *x = NULL;
  fsched_entry *e = NULL;
  fsched_semaphore *s = kit_timeline(), *t = kit_timeline();
  fsched_fence *f = kit_fence(ctx, s, 1), *late = kit_fence(ctx, t, 1);
  uint64_t in = 1, out = 0;
  uint32_t releases = 0;
  fsched_cause calls = 0;
  fsched_status status = fsched_device_create(tight, &d, &dev);
  if (status == FSCHED_OK && pooled) {
    status = fsched_pool_create(tight, dev, 4096, &pool);
  }
  fsched_exec_options o = {.size = sizeof o, .device = dev, .pool = pool, .in_flight = 2};
  status = status == FSCHED_OK ? fsched_exec_create(tight, &o, &x) : status;
  status = status == FSCHED_OK ? fsched_exec_load(tight, x, p, &e) : status;
  if (status == FSCHED_OK) {
    const fsched_parameter value = {"f", 1, 5};
    const fsched_binding b[] = {{.buffer = "in",
                                 .data = &in,
                                 .bytes = 8,
                                 .wait = late,
                                 .release = count_releases,
                                 .release_user = &releases},
                                {.buffer = "out", .data = &out, .bytes = 8}};
    fsched_invocation v = {.size = sizeof v,
                           .wait = late,
                           .signal = f,
                           .bindings = b,
                           .n_bindings = 2,
                           .parameters = &value,
                           .n_parameters = 1,
                           .callback = count_calls,
                           .user = &calls};
    status = fsched_invoke(tight, e, &v);
    kit_publish(t, 1);
    if (status == FSCHED_OK) { /* the pool's own records can still lack memory */
      fsched_cause cause = fsched_fence_wait(f, KIT_LIMIT);
      ck_assert(cause == FSCHED_CAUSE_NONE || (pooled && cause == FSCHED_CAUSE_SYSTEM));
      ck_assert_uint_eq(out, cause == FSCHED_CAUSE_NONE ? 6 : 0);
      status = cause == FSCHED_CAUSE_NONE ? FSCHED_OK : FSCHED_INFEASIBLE;
    }
  }
  bool ran = status == FSCHED_OK || status == FSCHED_INFEASIBLE;
  fsched_exec_destroy(x);
  ck_assert_uint_eq(releases, ran);
  ck_assert_int_eq(calls, status == FSCHED_OK ? 1000 : ran ? 1000 + FSCHED_CAUSE_SYSTEM : 0);
  fsched_pool_destroy(pool);
  fsched_device_release(dev);
  fsched_fence_release(f), fsched_fence_release(late);
  fsched_semaphore_release(s), fsched_semaphore_release(t);
  return status;
}

START_TEST(nth_allocation_fails)
{
  fsched_program *p = kit_compile(ctx, KIT_ONE("add"));
  for (int pooled = 0; pooled < 2; pooled++) {
    fsched_status status = FSCHED_SYSTEM;
    long n = 0;
    for (; status != FSCHED_OK; n++) {
      fs_budget budget = {.left = n + 1};
      fsched_context_options o = {
          .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
      fsched_context *tight;
      if (fsched_context_create(&o, &tight) != FSCHED_OK) {
        continue;
      }
      status = all_once(tight, p, pooled != 0);
      ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM || status == FSCHED_INFEASIBLE);
      ck_assert_uint_eq(fsched_diag_errors(tight), status == FSCHED_SYSTEM);
      fsched_context_destroy(tight);
      ck_assert_int_eq(budget.blocks, 0);
      ck_assert_int_eq(budget.held, 0);
    }
    ck_assert_int_gt(n, 10);
  }
  fsched_program_destroy(p);
}
END_TEST

FS_SUITE(exec_end, s) {
  TCase *t = fs_case(s, fs_test_device);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, ops_that_have_not_begun_are_left_out, failure_passes_from_context_to_context,
           shared_timelines_fail_together, failures_are_explained, timeouts_are_explained,
           stuck_wait_is_named, unsignalled_input_is_named, destroyed_at_every_stage,
           destroyed_between_two_ops, nth_allocation_fails);
}
