/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic runs with workers of each kind: random programs leave the bytes that the same tasks leave
 * one after the other; failures, cancelling and full heaps end in an error, and never in a hang. */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "exec/dynamic/workers_kit.h"
#include "kit/budget.h"
#include "kit/context.h"
#include "kit/turn.h"

/* The kind of a test's number; threads, where there are none of the kind. */
static worker_kind kind_of(int number) {
  worker_kind kind = (worker_kind)(number % WORKER_KINDS);
  return has_kind(kind) ? kind : THREADS;
}

START_TEST(as_one_after_the_other)
{
  plain_program p;
  fs_rng rng = {fs_turn() * 32 + (uint64_t)_i};
  begin_plain(&p, start_workers(kind_of(_i), 1 << 20));
  for (uint32_t run = 0; run < 4; run++) {
    ck_fs(ctx, submit_random(&p, &rng, TASKS));
    ck_fs(ctx, fs_workers_finish(p.w));
    ck_plain(&p);
  }
  fs_workers_destroy(p.w);
}
END_TEST

/* The arg of count_call; access to it is not ordered. */
static fs_dynamic_arg count_in(fs_workers *w, _Atomic uint32_t **calls) {
  fs_dynamic_arg a = {.tag = FSCHED_NO_DEP};
  *calls = import_shared(w, sizeof **calls, &a.buffer);
  return a;
}

/* Through a heap that holds a few tasks at a time, all get their turn. */
START_TEST(full_heaps_wait)
{
  const uint32_t n = kind_of(_i) == THREADS ? 100000 : 20000;
  _Atomic uint32_t *calls;
  fs_workers *w = start_workers(kind_of(_i), 8 << 10);
  fs_dynamic_arg a[2] = {count_in(w, &calls), {.tag = FSCHED_OUT}};
  for (uint32_t i = 0; i < n; i++) {
    fs_dynamic_task t;
    fs_dynamic_member m = {2, a};
    fs_workers_task task = {.name = "t",
                            .submission = {.n_members = 1, .member = &m, .class_ = i % 2},
                            .kernel = KERNEL_count_call};
    if (fs_workers_declare(w, 1000, &a[1].buffer) != FSCHED_OK ||
        fs_workers_submit(w, &task, &t) != FSCHED_OK ||
        fs_workers_forget(w, a[1].buffer) != FSCHED_OK) {
      ck_abort_msg("task %u: %s", i, fs_test_diags(ctx));
    }
  }
  ck_fs(ctx, fs_workers_finish(w));
  ck_assert_uint_eq(*calls, n);
  fs_workers_destroy(w);
}
END_TEST

/* Tasks whose memory is a ring of 1 MiB, FSCHED_TASKS of them; each adds 1 to a counter, and
 * depends on the one before it in every fourth. */
START_TEST(many_through_a_ring)
{
  const char *text = getenv("FSCHED_TASKS");
  const uint64_t n = text == NULL ? 100000 : strtoull(text, NULL, 10);
  _Atomic uint32_t *calls;
  fs_dynamic_buffer link;
  fs_workers *w = start_workers(THREADS, 1 << 20);
  (void)import_shared(w, 64, &link);
  fs_dynamic_arg a[3] = {
      count_in(w, &calls), {.tag = FSCHED_OUT}, {.tag = FSCHED_INOUT, .buffer = link}};
  for (uint64_t i = 0; i < n; i++) {
    fs_dynamic_task t;
    fs_dynamic_member m = {i % 4 == 0 ? 3 : 2, a};
    fs_workers_task task = {.name = "t",
                            .submission = {.n_members = 1, .member = &m, .class_ = i % 2},
                            .kernel = KERNEL_count_call};
    if (fs_workers_declare(w, 1000, &a[1].buffer) != FSCHED_OK ||
        fs_workers_submit(w, &task, &t) != FSCHED_OK ||
        fs_workers_forget(w, a[1].buffer) != FSCHED_OK) {
      ck_abort_msg("task %llu: %s", (unsigned long long)i, fs_test_diags(ctx));
    }
  }
  ck_fs(ctx, fs_workers_finish(w));
  ck_assert_uint_eq(*calls, n);
  printf("%llu tasks\n", (unsigned long long)n);
  fs_workers_destroy(w);
}
END_TEST

/* Those that wait for a failed task do not run; the next run is as if nothing had been. */
START_TEST(failures_are_of_one_run)
{
  _Atomic uint32_t *calls;
  fs_workers *w = start_workers(kind_of(_i), 1024);
  fs_dynamic_buffer b;
  (void)import_shared(w, 8, &b);
  fs_dynamic_arg a[2] = {count_in(w, &calls), {.tag = FSCHED_INOUT, .buffer = b}};
  fs_dynamic_member m = {2, a};
  fs_dynamic_task t;
  fs_workers_task task = {
      .name = "broken", .submission = {.n_members = 1, .member = &m}, .kernel = KERNEL_fail_call};
  ck_fs(ctx, fs_workers_submit(w, &task, &t));
  task.name = "next";
  task.kernel = KERNEL_count_call;
  fs_status status = FSCHED_OK;
  for (uint32_t i = 0; i < 10; i++) { /* the failure may be known by then */
    status = status == FSCHED_OK ? fs_workers_submit(w, &task, &t) : status;
  }
  ck_assert(status == FSCHED_OK || status == FSCHED_REPLAY);
  ck_assert_int_eq(fs_workers_finish(w), FSCHED_REPLAY);
  ck_assert_str_eq(fs_test_diags(ctx), "task 'broken' has returned 7");
  ck_assert_uint_eq(*calls, 0);
  ck_fs(ctx, fs_workers_submit(w, &task, &t));
  ck_fs(ctx, fs_workers_finish(w));
  ck_assert_uint_eq(*calls, 1);
  fs_workers_destroy(w);
}
END_TEST

/* A heap that nothing will ever free is an error at once, and so is what is cancelled. */
START_TEST(nothing_hangs)
{
  _Atomic uint32_t *calls;
  fs_workers *w = start_workers(kind_of(_i), 1024);
  fs_dynamic_buffer b, other;
  fs_dynamic_task t;
  uint64_t size = 1000;
  ck_fs(ctx, fs_workers_alloc(w, 1, &size, 1, &b, &t));
  ck_assert_int_eq(fs_workers_alloc(w, 1, &size, 1, &other, &t), FSCHED_INFEASIBLE);
  fs_dynamic_arg a = count_in(w, &calls);
  fs_dynamic_member m = {1, &a};
  fs_workers_task task = {
      .name = "t", .submission = {.n_members = 1, .member = &m}, .kernel = KERNEL_count_call};
  for (uint32_t i = 0; i < 100; i++) {
    ck_fs(ctx, fs_workers_submit(w, &task, &t));
  }
  fs_workers_cancel(w, "enough");
  ck_assert_int_eq(fs_workers_submit(w, &task, &t), FSCHED_REPLAY);
  ck_assert_int_eq(fs_workers_finish(w), FSCHED_REPLAY);
  ck_assert_str_eq(fs_test_diags(ctx), "enough");
  for (uint32_t i = 0; i < 100; i++) { /* what is under way ends with the workers */
    ck_fs(ctx, fs_workers_submit(w, &task, &t));
  }
  fs_workers_destroy(w);
}
END_TEST

/* Another thread may cancel between two calls: what it has ended is no fault of the caller. */
START_TEST(calls_of_a_cancelled_run)
{
  fs_workers *w = start_workers(kind_of(_i), 1024);
  fs_dynamic_buffer b;
  fs_dynamic_task t, held;
  uint64_t size = 1000;
  ck_fs(ctx, fs_workers_scope_begin(w));
  ck_fs(ctx, fs_workers_alloc(w, 1, &size, 1, &b, &t));
  ck_fs(ctx, fs_workers_hold(w, b, &held));
  fs_workers_cancel(w, "enough");
  fs_status status[] = {fs_workers_scope_begin(w), fs_workers_scope_end(w),
                        fs_workers_hold(w, b, &t), fs_workers_release(w, held)};
  for (uint32_t i = 0; i < 4; i++) {
    ck_assert_int_eq(status[i], FSCHED_REPLAY);
  }
  ck_assert_str_eq(fs_test_diags(ctx), "enough");
  ck_assert_int_eq(fs_workers_finish(w), FSCHED_REPLAY);
  ck_assert_int_eq(fs_workers_scope_end(w), FSCHED_USAGE);
  fs_workers_destroy(w);
}
END_TEST

typedef struct waker {
  fs_workers *w;
  _Atomic uint32_t *word;
} waker;

/* Lets a task go on when the submitting thread waits for memory. */
static void *wake_when_full(void *user) {
  const waker *k = user;
  while (fs_workers_look_at(k->w).wait != FS_WAITS_FOR_HEAP) {
    (void)sched_yield();
  }
  atomic_store(k->word, 1);
  return NULL;
}

/* A task on a queue that takes memory, and waits for the word if it gets one. */
static fs_status submit_taker(fs_workers *w, uint32_t queue, const fs_dynamic_buffer *word) {
  fs_dynamic_arg a[2] = {{.tag = FSCHED_NO_DEP}, {.tag = FSCHED_OUT}};
  fs_dynamic_member m = {2, a};
  fs_dynamic_task t;
  fs_workers_task task = {.name = "taker", .kernel = KERNEL_wait_for_word};
  task.submission =
      (fs_dynamic_submission){.n_members = 1, .member = &m, .n_queues = 1, .queue = &queue};
  a[0].buffer = *word;
  ck_fs(ctx, fs_workers_declare(w, 1000, &a[1].buffer));
  fs_status status = fs_workers_submit(w, &task, &t);
  ck_fs(ctx, fs_workers_forget(w, a[1].buffer));
  return status;
}

/* Who waits for memory goes on when some is there, whatever else runs.  Without that the second
 * task would wait for ever. */
START_TEST(memory_wakes)
{
  fs_workers_options o = worker_options(kind_of(_i), 2048);
  fs_workers *w;
  fs_dynamic_buffer first, second;
  pthread_t thread;
  o.engine.timeout = UINT64_C(1) << 62;
  ck_fs(ctx, fs_workers_create(ctx, &o, &w));
  for (uint32_t round = 0; round < 20; round++) {
    _Atomic uint32_t *words[2] = {import_shared(w, 64, &first), import_shared(w, 64, &second)};
    waker k = {w, words[0]};
    ck_fs(ctx, submit_taker(w, 0, &first));
    ck_fs(ctx, submit_taker(w, 1, &second));
    ck_assert_int_eq(pthread_create(&thread, NULL, wake_when_full, &k), 0);
    ck_fs(ctx, submit_taker(w, 0, &first));
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    atomic_store(words[1], 1);
    ck_fs(ctx, fs_workers_finish(w));
  }
  fs_workers_destroy(w);
}
END_TEST

/* And so it does when a task has failed, of which it hears at once. */
START_TEST(failures_wake)
{
  fs_workers_options o = worker_options(kind_of(_i), 2048);
  fs_workers *w;
  fs_dynamic_buffer first, second;
  pthread_t thread;
  o.engine.timeout = UINT64_C(1) << 62;
  ck_fs(ctx, fs_workers_create(ctx, &o, &w));
  _Atomic uint32_t *word = import_shared(w, 64, &first), *other = import_shared(w, 64, &second);
  waker k = {w, word};
  ck_fs(ctx, submit_taker(w, 0, &second));
  ck_fs(ctx, submit_taker(w, 1, &second));
  ck_fs(ctx, submit_simple(w, "waits", KERNEL_wait_for_word, 2, FSCHED_INOUT, first, 0));
  ck_fs(ctx, submit_simple(w, "broken", KERNEL_fail_call, 2, FSCHED_INOUT, first, 0));
  ck_assert_int_eq(pthread_create(&thread, NULL, wake_when_full, &k), 0);
  ck_assert_int_eq(submit_taker(w, 3, &first), FSCHED_REPLAY);
  ck_assert_str_eq(fs_test_diags(ctx), "task 'broken' has returned 7");
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  atomic_store(other, 1);
  ck_assert_int_eq(fs_workers_finish(w), FSCHED_REPLAY);
  fs_workers_destroy(w);
}
END_TEST

/* Args, values, views, parameters and shape arrive as they were given. */
START_TEST(kernels_are_told)
{
  fs_workers *w = start_workers(kind_of(_i), 1024);
  fs_dynamic_buffer b, c;
  fs_dynamic_task t;
  uint8_t *bytes = import_shared(w, 64, &b);
  bytes[8 + 4] = 9;
  ck_fs(ctx, fs_workers_declare(w, 4, &c));
  fs_dynamic_arg first[2] = {{FSCHED_IN, b, true, {4, 1, 2, {2, 3}, {8, 1}}},
                             {.tag = FSCHED_OUT, .buffer = c}};
  fs_dynamic_arg second = {FSCHED_INOUT, b, true, {30, 2, 1, {3}, {2}}};
  fs_dynamic_member m[2] = {{2, first}, {1, &second}};
  fs_task_value values[] = {{0, 0, -1}, {0, 2, 2}, {1, 1, INT64_MIN}, {1, 2, 3}};
  fsched_kernel_call shape = {
      .grid = {2, 3, 4}, .block = {5, 6, 7}, .shared_bytes = 77, .params = "args", .n_params = 4};
  fs_workers_task task = {.name = "told",
                          .submission = {.n_members = 2, .member = m},
                          .kernel = KERNEL_check_told,
                          .n_values = 4,
                          .value = values,
                          .shape = &shape};
  ck_fs(ctx, fs_workers_submit(w, &task, &t));
  ck_fs(ctx, fs_workers_finish(w));
  fs_workers_destroy(w);
}
END_TEST

static void refuses(fs_workers *w, fs_workers_task *task, const char *why) {
  fs_dynamic_task t;
  ck_assert_int_eq(fs_workers_submit(w, task, &t), FSCHED_BAD_INPUT);
  ck_assert_str_eq(fs_test_diags(ctx), why);
}

START_TEST(wrong_tasks)
{
  fs_workers *w = start_workers(kind_of(_i), 1024);
  fs_dynamic_member m[2] = {{0, NULL}, {0, NULL}};
  static const fs_task_value far[] = {{0, 1, 1}}, other[] = {{2, 0, 1}},
                             twice[] = {{0, 0, 1}, {0, 0, 1}}, back[] = {{1, 0, 1}, {0, 0, 1}};
  static const fs_task_value *const wrong[] = {far, other, twice, back};
  static const uint32_t n_wrong[] = {1, 1, 2, 2};
  fs_workers_task task = {.name = "t", .submission = {.n_members = 2, .member = m}};
  for (uint32_t i = 0; i < 4; i++) {
    task.n_values = n_wrong[i];
    task.value = wrong[i];
    refuses(w, &task, "task 't': a number is out of place");
  }
  task.n_values = 0;
  fsched_kernel_call shape = {.params = wrong, .n_params = 1025};
  task.shape = &shape;
  refuses(w, &task, "task 't': 1025 bytes of parameters, of at most 1024");
  task.kernel = KERNELS;
  refuses(w, &task, "task 't' names kernel 10 of 10");
  ck_fs(ctx, fs_workers_finish(w));
  fs_workers_destroy(w);
}
END_TEST

START_TEST(without_memory)
{
  worker_kind kind = kind_of(_i); /* asked once: threads that have ended may be seen for a while */
  fs_status status = FSCHED_SYSTEM;
  long n = 0;
  for (; status != FSCHED_OK; n++) {
    fs_budget budget = {.left = 1000};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *own;
    ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
    budget.left = n;
    fs_workers_options d = worker_options(kind, 4096);
    d.engine.n_queues = 2;
    d.engine.class_of = NULL;
    fs_dynamic_member m = {0, NULL};
    fs_dynamic_task t;
    plain_task nothing = {.n_members = 1};
    fs_task_value value = {0, 0, 0};
    fsched_kernel_call shape = {.params = &nothing, .n_params = sizeof nothing};
    fs_workers_task task = {.name = "t",
                            .submission = {.n_members = 1, .member = &m},
                            .kernel = KERNEL_run_task,
                            .n_values = 1,
                            .value = &value,
                            .shape = &shape};
    fs_workers *w;
    status = fs_workers_create(own, &d, &w);
    status = status == FSCHED_OK ? fs_workers_submit(w, &task, &t) : status;
    status = status == FSCHED_OK ? fs_workers_finish(w) : status;
    ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
    fs_workers_destroy(w);
    fsched_context_destroy(own);
    ck_assert_int_eq(budget.blocks, 0);
  }
  ck_assert_int_gt(n, 10);
}
END_TEST

typedef struct started_members {
  uint32_t n, on[64];
} started_members;

static void note_started(void *user, const fsched_kernel_call *call, uint32_t member,
                         uint32_t queue) {
  started_members *s = user;
  ck_assert_str_eq(call->op, "t");
  ck_assert_uint_eq(member, 0);
  s->on[s->n++] = queue;
}

/* Heaps of several sizes and alignments, with versions and scratch side by side, whose bytes stay
 * as they are; and the user hears of each start. */
START_TEST(heaps_of_their_own)
{
  enum { ROUNDS = 12 };
  static const fs_heap_room room[FS_HEAP_RINGS] = {
      {700, 1, NULL}, {2048, 256, NULL}, {4096, 4096, NULL}, {168, 8, NULL}};
  static const uint64_t scratch[] = {5, 64};
  started_members heard = {0};
  fs_workers_options o = worker_options(kind_of(_i), 0);
  o.engine.n_queues = 2;
  o.engine.class_of = NULL;
  o.engine.heap = room;
  o.started = note_started;
  o.user = &heard;
  fs_workers *w;
  ck_fs(ctx, fs_workers_create(ctx, &o, &w));
  uint8_t *result[ROUNDS];
  for (uint32_t i = 0; i < ROUNDS; i++) {
    fs_dynamic_buffer own, to;
    fs_dynamic_task t;
    ck_fs(ctx, fs_workers_declare(w, 20, &own));
    result[i] = import_shared(w, 20, &to);
    fs_dynamic_arg a[2] = {{.tag = FSCHED_OUT, .buffer = own}, {.tag = FSCHED_OUT, .buffer = to}};
    fs_dynamic_member m = {1, a};
    uint32_t queue = i % 2;
    fs_task_value value = {0, 1, i + 1};
    fs_workers_task task = {
        .name = "t", .kernel = KERNEL_spoil_scratch, .n_values = 1, .value = &value};
    task.submission = (fs_dynamic_submission){.n_members = 1,
                                              .member = &m,
                                              .n_queues = 1,
                                              .queue = &queue,
                                              .n_scratch = 2,
                                              .scratch = scratch,
                                              .heap = i % 4 == 2 ? 2 : 1 + i % 4};
    ck_fs(ctx, fs_workers_scope_begin(w));
    ck_fs(ctx, fs_workers_submit(w, &task, &t));
    m.arg = &a[1]; /* once more, into the user's memory */
    ck_fs(ctx, fs_workers_submit(w, &task, &t));
    ck_fs(ctx, fs_workers_scope_end(w));
  }
  ck_fs(ctx, fs_workers_finish(w));
  for (uint32_t i = 0; i < ROUNDS; i++) {
    for (uint32_t k = 0; k < 20; k++) {
      ck_assert_uint_eq(result[i][k], i + 1);
    }
  }
  ck_assert_uint_eq(heard.n, 2 * ROUNDS);
  uint32_t on[2] = {0};
  for (uint32_t i = 0; i < heard.n; i++) {
    on[heard.on[i]]++;
  }
  ck_assert_uint_eq(on[0], on[1]);
  fs_workers_destroy(w);
}
END_TEST

FS_SUITE(dynamic_workers, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, many_through_a_ring);
  tcase_set_timeout(t, getenv("FSCHED_TASKS") != NULL ? 0 : 60);
  FS_LOOPS(t, 0, 4 * WORKER_KINDS, as_one_after_the_other);
  FS_LOOPS(t, 0, WORKER_KINDS, full_heaps_wait, failures_are_of_one_run, nothing_hangs,
           memory_wakes, failures_wake, calls_of_a_cancelled_run, kernels_are_told,
           heaps_of_their_own, wrong_tasks, without_memory);
}
