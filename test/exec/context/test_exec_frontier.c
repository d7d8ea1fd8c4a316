/* SPDX-License-Identifier: Apache-2.0 */
/* What signals of invocations and pools carry, case by case: their own epochs, what they have
 * waited for, taint where that is not known, and nothing after a failure; and axes that nobody else
 * has. */
#include <stdlib.h>

#include "exec/context/device.h"

#include "exec/context/exec_case.h"

enum { ROOM = 64 };

typedef struct exec_frontier_known {
  fsched_frontier f;
  fsched_frontier_entry entries[ROOM];
} exec_frontier_known;

static fsched_exec *x;
static fsched_program *program;
static fsched_entry *entry;

static void set_up(void) {
  x = kit_exec(ctx, device, NULL, 1);
  program = kit_compile(ctx, KIT_ONE("fail"));
  entry = kit_load(ctx, x, program);
}

static void tear_down(void) {
  fsched_exec_destroy(x);
  fsched_program_destroy(program);
}

/* Signals `value` of `signal` after the fence; with a cause the kernel fails. */
static void invoke(fsched_entry *e, fsched_fence *wait, fsched_semaphore *signal, uint64_t value,
                   int64_t cause) {
  const fsched_parameter p = {"f", 1, cause};
  fsched_fence *f = kit_fence(ctx, signal, value);
  fsched_invocation v = {
      .size = sizeof v, .wait = wait, .signal = f, .parameters = &p, .n_parameters = 1};
  ck_fs(ctx, fsched_invoke(ctx, e, &v));
  fsched_fence_release(f);
}

static void invoke_after(fsched_entry *e, fsched_semaphore *wait, uint64_t at,
                         fsched_semaphore *signal, uint64_t value) {
  fsched_fence *f = kit_fence(ctx, wait, at);
  invoke(e, f, signal, value, 0);
  fsched_fence_release(f);
}

/* Waits for the value, and takes the frontier that it brings. */
static void learn(fsched_semaphore *s, uint64_t value, exec_frontier_known *k) {
  ck_assert_int_eq(kit_await(s, value), FSCHED_CAUSE_NONE);
  k->f = (fsched_frontier){.entry = k->entries, .capacity = ROOM};
  ck_assert_int_eq(fsched_semaphore_learn(s, value, &k->f), FSCHED_OK);
}

static const fsched_frontier_entry *own(const exec_frontier_known *k,
                                        const exec_frontier_known *before) {
  static fsched_frontier_entry found[ROOM];
  ck_assert_uint_eq(fsched_frontier_undominated(&before->f, &k->f, found, ROOM), 1);
  return &found[0];
}

START_TEST(carries_its_own_epoch)
{
  exec_frontier_known k[3], nothing = {0};
  for (uint64_t i = 0; i < 3; i++) {
    invoke(entry, NULL, end, i + 1, 0);
    learn(end, i + 1, &k[i]);
    ck_assert_int_eq(k[i].f.tainted, 0);
    ck_assert_uint_eq(k[i].f.n, 1);
    ck_assert_uint_eq(k[i].entries[0].epoch, i + 1);
    ck_assert_uint_eq(k[i].entries[0].axis, k[0].entries[0].axis);
    /* Otherwise code that elides waits would race. */
    ck_assert_int_eq(fsched_frontier_dominates(&nothing.f, &k[i].f), 0);
  }
  ck_assert_uint_eq(fsched_axis_split(k[0].entries[0].axis).session, FSCHED_SESSION_LOCAL);
  ck_assert_uint_eq(fsched_semaphore_untainted(end), 3);
}
END_TEST

/* A wait for a value learns what that value brought, however late, and nothing that came after. */
START_TEST(waits_are_imported)
{
  fsched_entry *other = kit_load(ctx, x, program);
  fsched_semaphore *all = kit_timeline();
  exec_frontier_known first, second, late, early;
  invoke(entry, NULL, all, 1, 0);
  learn(all, 1, &first);
  invoke(entry, NULL, all, 2, 0);
  learn(all, 2, &second);
  invoke_after(other, all, 1, end, 1);
  learn(end, 1, &late);
  ck_assert_int_eq(fsched_frontier_dominates(&late.f, &first.f), 1);
  ck_assert_int_eq(fsched_frontier_dominates(&late.f, &second.f), 0);
  ck_assert_uint_eq(own(&late, &first)->epoch, 1);
  invoke_after(other, line, 1, end, 2); /* before there is anything to learn */
  ck_assert_int_eq(fsched_semaphore_publish(line, 1, &second.f), FSCHED_OK);
  learn(end, 2, &early);
  ck_assert_int_eq(fsched_frontier_dominates(&early.f, &second.f), 1);
  ck_assert_uint_eq(own(&early, &second)->epoch, 2);
  ck_assert_int_eq(early.f.tainted, 0);
  fsched_semaphore_release(all);
}
END_TEST

/* An output that is signalled by itself has an epoch of its own, which the end's frontier
 * contains. */
START_TEST(outputs_of_their_own)
{
  exec_frontier_known nothing = {0}, out, all;
  uint64_t in = 1, word = 0;
  for (uint64_t i = 1; i <= 3; i++) {
    fsched_fence *there = kit_fence(ctx, line, i), *over = kit_fence(ctx, end, i);
    const fsched_binding b[] = {
        {.buffer = "in", .data = &in, .bytes = 8},
        {.buffer = "out", .data = &word, .bytes = 8, .signal = i == 2 ? NULL : there}};
    const fsched_parameter p = {"f", 1, 0};
    fsched_invocation v = {.size = sizeof v,
                           .signal = over,
                           .bindings = b,
                           .n_bindings = 2,
                           .parameters = &p,
                           .n_parameters = 1};
    ck_fs(ctx, fsched_invoke(ctx, entry, &v));
    learn(end, i, &all);
    ck_assert_uint_eq(all.f.n, i == 2 ? 1 : 2);
    if (i != 2) {
      learn(line, i, &out);
      ck_assert_uint_eq(own(&out, &nothing)->epoch, (i + 1) / 2);
      ck_assert_uint_eq(fsched_axis_split(out.entries[0].axis).domain, FSCHED_AXIS_EPILOGUE);
      ck_assert_int_eq(fsched_frontier_dominates(&all.f, &out.f), 1);
      ck_assert_uint_eq(own(&all, &out)->epoch, i);
    }
    fsched_fence_release(there);
    fsched_fence_release(over);
  }
}
END_TEST

static const char counter[] =
    "fsched: 1\n"
    "buffers: [{name: s, size: 8, io: state}]\n"
    "ops:\n"
    "  - {name: f, args: [{inout: s}, {value: 1}], " KIT_KERNEL("add") "}\n";

/* Invocations with state wait for one another, whichever programs they are of. */
START_TEST(state_is_a_wait)
{
  fsched_program *p = kit_compile(ctx, counter);
  fsched_entry *e[] = {kit_load(ctx, x, p), kit_load(ctx, x, p)};
  exec_frontier_known k[4];
  uint64_t word;
  for (uint64_t i = 0; i < 4; i++) {
    invoke(e[i % 2], NULL, end, i + 1, 0);
    learn(end, i + 1, &k[i]);
    ck_assert_int_eq(k[i].f.tainted, 0);
    ck_assert(i == 0 || fsched_frontier_dominates(&k[i].f, &k[i - 1].f));
    ck_assert_uint_eq(k[i].f.n, i == 0 ? 1 : 2);
    ck_fs(ctx, fsched_exec_read_state(ctx, x, "s", &word, 8)); /* waits for nothing else */
  }
  fsched_exec_destroy(x);
  x = NULL;
  fsched_program_destroy(p);
}
END_TEST

/* A signal from outside states what the signaller knows, or else is tainted. */
START_TEST(what_is_not_known_is_tainted)
{
  enum { WAYS = 5 };
  const bool tainted[WAYS] = {true, false, true, true, false};
  for (uint64_t i = 0; i < WAYS; i++) {
    fsched_semaphore *s = kit_timeline();
    fsched_fence *f = kit_fence(ctx, s, 1);
    exec_frontier_known k, n;
    if (i == 0) {
      ck_fs(ctx, fsched_fence_signal(f));
    } else if (i == 1) {
      ck_fs(ctx, fsched_fence_publish(f, NULL));
    } else if (i == 2) {
      fsched_semaphore_advance_external(s, 1);
    } else if (i == 3) {
      ck_assert_int_eq(fsched_semaphore_signal(s, 1, NULL), FSCHED_OK);
    } else {
      kit_publish(s, 1);
      ck_fs(ctx, fsched_fence_signal(f)); /* the point was reached before, so nothing changes */
    }
    n.f = (fsched_frontier){.entry = n.entries, .capacity = ROOM};
    ck_fs(ctx, fsched_fence_learn(f, &n.f));
    ck_assert_int_eq(n.f.tainted, tainted[i]);
    ck_assert_uint_eq(n.f.n, 0);
    for (int early = 0; early < 2; early++) { /* the fence was reached, or is on the way */
      invoke(entry, f, end, 2 * i + 1 + (uint64_t)early, 0);
      learn(end, 2 * i + 1 + (uint64_t)early, &k);
      ck_assert_int_eq(k.f.tainted, tainted[i]);
      ck_assert_uint_eq(k.f.n, 1);
    }
    fsched_fence_release(f);
    fsched_semaphore_release(s);
  }
}
END_TEST

START_TEST(fences_are_read_and_published)
{
  exec_frontier_known k = {0}, two = {0};
  fsched_frontier_entry e[] = {{5, 1}, {7, 2}};
  fsched_frontier f = {.entry = e, .n = 2, .capacity = 2},
                  bad = {.entry = e, .n = 2, .capacity = 1};
  fsched_fence *both;
  const fsched_fence_point points[] = {{line, 3}, {end, 1}};
  k.f = (fsched_frontier){.entry = k.entries, .capacity = ROOM};
  two.f = (fsched_frontier){.entry = two.entries, .capacity = 1};
  ck_fs(ctx, fsched_fence_create(ctx, points, 2, &both));
  ck_fs(ctx, fsched_fence_learn(NULL, &k.f));
  ck_fs(ctx, fsched_fence_publish(NULL, &f));
  ck_assert_int_eq(fsched_fence_publish(both, &bad), FSCHED_BAD_INPUT);
  ck_assert_int_eq(fsched_fence_learn(both, &bad), FSCHED_BAD_INPUT);
  ck_assert_uint_eq(fsched_semaphore_value(line), 0);
  ck_assert_int_eq(fsched_semaphore_publish(line, 3, &f), FSCHED_OK);
  ck_assert_int_eq(fsched_fence_learn(both, &k.f), FSCHED_INFEASIBLE);
  ck_assert_uint_eq(k.f.n, 0);
  ck_fs(ctx, fsched_fence_publish(both, &f));
  ck_fs(ctx, fsched_fence_learn(both, &k.f));
  ck_assert_int_eq(fsched_frontier_compare(&k.f, &f), FSCHED_FRONTIER_EQUAL);
  ck_fs(ctx, fsched_fence_learn(both, &two.f));
  ck_assert_int_eq(two.f.tainted, 1);
  fsched_fence_release(both);
}
END_TEST

/* A failure has no epoch, and nobody learns of it; the next success takes the next epoch. */
START_TEST(failures_carry_nothing)
{
  fsched_semaphore *s = kit_timeline();
  exec_frontier_known k;
  k.f = (fsched_frontier){.entry = k.entries, .capacity = ROOM};
  invoke(entry, NULL, end, 1, 0);
  ck_assert_int_eq(kit_await(end, 1), FSCHED_CAUSE_NONE);
  invoke(entry, NULL, s, 1, 9);
  ck_assert_int_eq(kit_await(s, 1), 9);
  ck_assert_uint_eq(fsched_semaphore_frontier(s, NULL, 0, NULL), 0);
  ck_assert_int_eq(fsched_semaphore_learn(s, 1, &k.f), FSCHED_INFEASIBLE);
  invoke_after(entry, s, 1, line, 1); /* never starts */
  ck_assert_int_eq(kit_await(line, 1), 9);
  ck_assert_uint_eq(fsched_semaphore_frontier(line, NULL, 0, NULL), 0);
  invoke(entry, NULL, end, 2, 0);
  learn(end, 2, &k);
  ck_assert_uint_eq(k.f.n, 1);
  ck_assert_uint_eq(k.entries[0].epoch, 2);
  fsched_semaphore_release(s);
}
END_TEST

START_TEST(pools_have_an_axis)
{
  fsched_pool *pool;
  fsched_allocation *a, *b, *c;
  fsched_fence *first = kit_fence(ctx, end, 1), *second = kit_fence(ctx, end, 2);
  fsched_fence *wait = kit_fence(ctx, line, 1);
  exec_frontier_known k[2], waited;
  fsched_frontier_entry e = {5, 1};
  ck_fs(ctx, fsched_pool_create(ctx, device, 512, &pool));
  ck_fs(ctx, fsched_pool_alloc(ctx, pool, 256, NULL, first, &a));
  learn(end, 1, &k[0]);
  ck_assert_uint_eq(k[0].f.n, 1);
  ck_assert_uint_eq(k[0].entries[0].epoch, 1);
  ck_fs(ctx, fsched_pool_alloc(ctx, pool, 256, wait, second, &b));
  ck_fs(ctx, fsched_pool_alloc(ctx, pool, 256, wait, NULL, &c)); /* has to wait for room */
  waited.f = (fsched_frontier){.entry = &e, .n = 1, .capacity = 1};
  ck_assert_int_eq(fsched_semaphore_publish(line, 1, &waited.f), FSCHED_OK);
  learn(end, 2, &k[1]);
  ck_assert_int_eq(k[1].f.tainted, 0);
  ck_assert_uint_eq(k[1].f.n, 2);
  ck_assert_int_eq(fsched_frontier_dominates(&k[1].f, &waited.f), 1);
  ck_assert_int_eq(fsched_frontier_dominates(&k[1].f, &k[0].f), 1);
  ck_fs(ctx, fsched_pool_free(ctx, a, NULL));
  ck_fs(ctx, fsched_pool_free(ctx, b, NULL));
  ck_fs(ctx, fsched_pool_free(ctx, c, NULL));
  fsched_pool_destroy(pool);
  fsched_fence_release(first), fsched_fence_release(second), fsched_fence_release(wait);
}
END_TEST

/* Axes */

enum { THREADS = 4, LOADS = 12, SLOTS = 3, AXES = THREADS * LOADS * SLOTS };

typedef struct exec_frontier_loader {
  pthread_t thread;
  uint32_t number;
  fsched_axis axis[LOADS * SLOTS];
} exec_frontier_loader;

/* Meets the others of its load, so that all slots are in use. */
static kit_count inside[THREADS];
static int meet(const fsched_kernel_call *call) {
  kit_count *c = &inside[kit_value(call)];
  uint64_t n = kit_count_one(c);
  return kit_await(c->timeline, (n + SLOTS - 1) / SLOTS * SLOTS) != FSCHED_CAUSE_NONE;
}

static const kit_kernel meeting[] = {{"meet", meet}, {NULL, NULL}};

static void use_slots(fsched_context *own_ctx, fsched_entry *e, uint32_t thread,
                      fsched_axis *axis) {
  const fsched_parameter p = {"f", 1, thread};
  fsched_semaphore *s[SLOTS];
  for (uint32_t i = 0; i < SLOTS; i++) {
    s[i] = kit_timeline();
    fsched_fence *f;
    ck_fs(own_ctx, fsched_fence_create(own_ctx, &(fsched_fence_point){s[i], 1}, 1, &f));
    fsched_invocation v = {.size = sizeof v, .signal = f, .parameters = &p, .n_parameters = 1};
    ck_fs(own_ctx, fsched_invoke(own_ctx, e, &v));
    fsched_fence_release(f);
  }
  for (uint32_t i = 0; i < SLOTS; i++) {
    exec_frontier_known k;
    learn(s[i], 1, &k);
    ck_assert_uint_eq(k.f.n, 1);
    axis[i] = k.entries[0].axis;
    fsched_semaphore_release(s[i]);
  }
}

static void *load_often(void *user) {
  exec_frontier_loader *l = user;
  fsched_context *own_ctx;
  fsched_device *d;
  const char *kind = l->number % 2 == 0 ? "cpu" : "sim";
  ck_assert_int_eq(fsched_context_create(NULL, &own_ctx), FSCHED_OK);
  fsched_device_options o = {
      .size = sizeof o, .kind = kind, .find = kit_find, .find_user = (void *)meeting};
  ck_fs(own_ctx, fsched_device_create(own_ctx, &o, &d));
  fsched_program *p = kit_compile(own_ctx, KIT_ONE("meet"));
  for (uint32_t i = 0; i < LOADS; i++) {
    fsched_exec *mine = kit_exec(own_ctx, d, NULL, SLOTS);
    use_slots(own_ctx, kit_load(own_ctx, mine, p), l->number, &l->axis[i * SLOTS]);
    fsched_exec_destroy(mine);
  }
  fsched_program_destroy(p);
  fsched_device_release(d);
  fsched_context_destroy(own_ctx);
  return NULL;
}

static int by_number(const void *a, const void *b) {
  const fsched_axis *s = a, *t = b;
  return *s < *t ? -1 : *s > *t;
}

/* No two slots, loads, contexts, devices and threads have the same axis, even when one of the two
 * is gone. */
START_TEST(axes_are_nobody_elses)
{
  exec_frontier_loader l[THREADS];
  fsched_axis all[AXES];
  for (uint32_t i = 0; i < THREADS; i++) {
    kit_count_open(&inside[i]);
    l[i].number = i;
    ck_assert_int_eq(pthread_create(&l[i].thread, NULL, load_often, &l[i]), 0);
  }
  for (uint32_t i = 0; i < THREADS; i++) {
    ck_assert_int_eq(pthread_join(l[i].thread, NULL), 0);
    memcpy(all + (size_t)i * LOADS * SLOTS, l[i].axis, sizeof l[i].axis);
    kit_count_close(&inside[i]);
  }
  qsort(all, AXES, sizeof *all, by_number);
  for (uint32_t i = 0; i + 1 < AXES; i++) {
    ck_assert_uint_lt(all[i], all[i + 1]);
  }
}
END_TEST

/* When no numbers are left everything goes on, without what elision would need. */
START_TEST(ordinals_are_used_up)
{
  const uint64_t all = FSCHED_AXIS_MAX_ORDINAL + 1;
  fs_ordinals few = {all - 5};
  uint64_t first = 0;
  ck_assert(!fs_ordinals_take(&few, 6, &first));
  ck_assert(!fs_ordinals_take(&few, UINT64_MAX, &first));
  ck_assert(fs_ordinals_take(&few, 3, &first));
  ck_assert_uint_eq(first, all - 5);
  device->ordinals = &few; /* a load with one slot and one output takes the last two */
  fsched_entry *last = kit_load(ctx, x, program), *without = kit_load(ctx, x, program);
  fsched_fence *f = kit_fence(ctx, end, 3);
  fsched_pool *pool;
  fsched_allocation *a;
  exec_frontier_known k;
  invoke(last, NULL, end, 1, 0);
  learn(end, 1, &k);
  ck_assert_int_eq(k.f.tainted, 0);
  ck_assert_uint_eq(fsched_axis_split(k.entries[0].axis).ordinal, FSCHED_AXIS_MAX_ORDINAL - 1);
  invoke_after(without, end, 1, end, 2);
  learn(end, 2, &k);
  ck_assert_int_eq(k.f.tainted, 1);
  ck_assert_uint_eq(k.f.n, 1); /* the entry that it has waited for */
  ck_fs(ctx, fsched_pool_create(ctx, device, 256, &pool));
  ck_fs(ctx, fsched_pool_alloc(ctx, pool, 1, NULL, f, &a));
  learn(end, 3, &k);
  ck_assert_int_eq(k.f.tainted, 1);
  ck_assert_uint_eq(k.f.n, 0);
  ck_fs(ctx, fsched_pool_free(ctx, a, NULL));
  fsched_pool_destroy(pool);
  fsched_fence_release(f);
}
END_TEST

/* A given session is part of the axes and gets into shared pages; the process' own session does
 * not. */
START_TEST(sessions)
{
  const struct {
    uint32_t session, machine;
    const char *text;
  } bad[] = {{1, 0, "session 1"}, {256, 0, "'session'"}, {2, 256, "'machine'"}};
  fsched_device *d;
  for (int i = 0; i < 3; i++) {
    fsched_device_options o = {
        .size = sizeof o, .session = bad[i].session, .machine = bad[i].machine};
    kit_refused(ctx, fsched_device_create(ctx, &o, &d), FSCHED_USAGE, "exec", bad[i].text);
  }
  for (uint32_t session = 0; session < 8; session += 7) {
    fsched_device_options o = {.size = sizeof o,
                               .find = kit_find,
                               .find_user = (void *)kernels,
                               .session = session,
                               .machine = 3};
    fsched_semaphore_options shared = {.size = sizeof shared, .scope = FSCHED_SCOPE_SYSTEM};
    fsched_semaphore *s;
    exec_frontier_known k;
    ck_fs(ctx, fsched_device_create(ctx, &o, &d));
    ck_assert_int_eq(fsched_semaphore_create(&shared, &s), FSCHED_OK);
    fsched_exec *mine = kit_exec(ctx, d, NULL, 1);
    fsched_entry *e = kit_load(ctx, mine, program);
    invoke(e, NULL, s, 1, 0);
    learn(s, 1, &k);
    ck_assert_int_eq(k.f.tainted, session == 0);
    ck_assert_uint_eq(k.f.n, session != 0);
    ck_assert_int_eq(fsched_semaphore_tainted(s, 1), session == 0);
    invoke(entry, NULL, line, 1 + session, 0); /* more for the value that is there */
    learn(line, 1 + session, &k);
    ck_assert_int_eq(fsched_semaphore_publish(s, 1, &k.f), FSCHED_OK);
    learn(s, 1, &k);
    ck_assert_int_eq(k.f.tainted, 1);
    ck_assert_uint_eq(k.f.n, session != 0);
    if (session != 0) {
      fsched_axis_parts parts = fsched_axis_split(k.entries[0].axis);
      ck_assert_uint_eq(parts.session, 7);
      ck_assert_uint_eq(parts.machine, 3);
    }
    fsched_exec_destroy(mine);
    fsched_semaphore_release(s);
    fsched_device_release(d);
  }
}
END_TEST

/* Entries that do not fit are dropped, and the frontier says so. */
START_TEST(capacity)
{
  fsched_exec_options o = {.size = sizeof o, .device = device, .frontier_capacity = 1025};
  fsched_exec *small;
  exec_frontier_known k;
  fsched_frontier_entry e = {5, 9};
  const fsched_frontier f = {.entry = &e, .n = 1, .capacity = 1};
  kit_refused(ctx, fsched_exec_create(ctx, &o, &small), FSCHED_USAGE, "exec",
              "'frontier_capacity' is at most 1024");
  o.frontier_capacity = 1;
  ck_fs(ctx, fsched_exec_create(ctx, &o, &small));
  fsched_entry *one = kit_load(ctx, small, program);
  invoke(one, NULL, end, 1, 0);
  learn(end, 1, &k);
  ck_assert_int_eq(k.f.tainted, 0);
  ck_assert_int_eq(fsched_semaphore_publish(line, 1, &f), FSCHED_OK);
  invoke_after(one, line, 1, end, 2);
  learn(end, 2, &k);
  ck_assert_int_eq(k.f.tainted, 1);
  ck_assert_uint_eq(k.f.n, 1);
  fsched_exec_destroy(small);
}
END_TEST

FS_SUITE(exec_frontier, s) {
  TCase *t = fs_case(s, fs_test_device);
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, set_up, tear_down);
  FS_TESTS(t, carries_its_own_epoch, waits_are_imported, outputs_of_their_own, state_is_a_wait,
           what_is_not_known_is_tainted, fences_are_read_and_published, failures_carry_nothing,
           pools_have_an_axis, axes_are_nobody_elses, ordinals_are_used_up, sessions, capacity);
}
