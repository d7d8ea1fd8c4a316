/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic runs on threads: random programs leave the bytes that the same tasks leave one after the
 * other; failures, cancelling and full heaps end in an error, and never in a hang. */
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "exec/dynamic/workers.h"
#include "kit/budget.h"
#include "kit/context.h"
#include "kit/gen.h"
#include "kit/turn.h"

enum {
  QUEUES = 4,
  SHARED = 4, /* imported buffers */
  LOCAL = 4,  /* declared ones */
  BUFFERS = SHARED + LOCAL,
  BYTES = 256,
  TASKS = 400,
  MOST_ARGS = 4,
  MEMBERS = 2
};

static const uint32_t class_of[QUEUES] = {0, 0, 1, 1};

/* A task: the same description is for the workers and for the plain loop. */
typedef struct plain_arg {
  fsched_tag tag;
  uint32_t buffer, begin, end; /* begin 0 and end BYTES: all */
} plain_arg;

typedef struct plain_task {
  uint64_t seed;
  uint32_t n_members, n_args[MEMBERS];
  plain_arg arg[MEMBERS][MOST_ARGS];
} plain_task;

/* What a member does: it reads all that it reads, and then writes. */
static void compute(const plain_task *t, uint32_t member, uint8_t *const *at) {
  uint64_t sum = t->seed * 31 + member;
  for (uint32_t i = 0; i < t->n_args[member]; i++) {
    const plain_arg *a = &t->arg[member][i];
    for (uint32_t k = a->begin; k < a->end && (a->tag == FSCHED_IN || a->tag == FSCHED_INOUT);
         k++) {
      sum = (sum ^ at[i][k - a->begin]) * 0x100000001b3u;
    }
  }
  for (uint32_t i = 0; i < t->n_args[member]; i++) {
    const plain_arg *a = &t->arg[member][i];
    for (uint32_t k = a->begin; k < a->end && a->tag != FSCHED_IN; k++) {
      sum = sum * 0x9e3779b97f4a7c15u + k;
      at[i][k - a->begin] = (uint8_t)(sum >> 56);
    }
  }
}

/* The parameters are the description. */
static int run_task(const fsched_kernel_call *call, uint32_t member, void *user) {
  (void)user;
  plain_task t;
  uint8_t *at[MOST_ARGS];
  if (call->n_params != sizeof t) {
    return 2;
  }
  memcpy(&t, call->params, sizeof t);
  for (uint32_t i = 0; i < call->n_args; i++) {
    at[i] = call->args[i].data;
    if (call->args[i].length != t.arg[member][i].end - t.arg[member][i].begin ||
        call->args[i].tag != (uint32_t)t.arg[member][i].tag) {
      return 1;
    }
  }
  compute(&t, member, at);
  return 0;
}

/* Counts its calls in its first arg, and fills the others. */
static int count_call(const fsched_kernel_call *call, uint32_t member, void *user) {
  (void)member;
  (void)user;
  atomic_fetch_add((_Atomic uint32_t *)call->args[0].data, 1);
  for (uint32_t i = 1; i < call->n_args; i++) {
    memset(call->args[i].data, 1, call->args[i].length);
  }
  return 0;
}

static int fail_call(const fsched_kernel_call *call, uint32_t member, void *user) {
  (void)call;
  (void)member;
  (void)user;
  return 7;
}

/* Compares what it is told with what `check_call` has submitted. */
static int check_told(const fsched_kernel_call *call, uint32_t member, void *user) {
  const fsched_kernel_arg *a = call->args;
  const fsched_kernel_view *v = call->views;
  bool right = user == NULL && member < 2 && strcmp(call->op, "told") == 0;
  right = right && call->size == sizeof *call && call->n_scratch == 0 && call->shared_bytes == 77;
  for (uint32_t i = 0; i < 3; i++) {
    right = right && call->grid[i] == 2 + i && call->block[i] == 5 + i;
  }
  right = right && call->n_params == 4 && memcmp(call->params, "args", 4) == 0;
  if (!right || call->n_args != 4 - member) {
    return 1;
  }
  if (member == 1) { /* inout, value, value */
    return a[0].tag == FSCHED_INOUT && a[0].length == 6 && a[1].tag == FSCHED_VALUE &&
                   a[1].value == INT64_MIN && a[2].value == 3 && a[1].data == NULL &&
                   v[0].n_dims == 0 && v[1].n_dims == 0
               ? 0
               : 2;
  }
  /* value, in, value, out */
  return a[0].value == -1 && a[0].tag == FSCHED_VALUE && a[1].tag == FSCHED_IN &&
                 a[1].length == 11 && a[2].value == 2 && a[3].length == 4 && v[0].n_dims == 0 &&
                 v[1].n_dims == 2 && v[1].element == 1 && v[1].shape[0] == 2 &&
                 v[1].shape[1] == 3 && v[1].strides[0] == 8 && v[1].strides[1] == 1 &&
                 v[1].shape[2] == 0 && ((uint8_t *)a[1].data)[8] == 9
             ? 0
             : 3;
}

/* Writes its out arg, and spoils all of its scratch. */
static int spoil_scratch(const fsched_kernel_call *call, uint32_t member, void *user) {
  (void)member;
  (void)user;
  memset(call->args[0].data, (int)call->args[1].value, call->args[0].length);
  for (uint32_t i = 0; i < call->n_scratch; i++) {
    memset(call->scratch[i].data, 0xee, call->scratch[i].length);
  }
  return call->n_scratch == 2 && call->scratch[0].length == 5 && call->scratch[1].length == 64 ? 0
                                                                                               : 1;
}

enum { RUN_TASK, COUNT_CALL, FAIL_CALL, CHECK_TOLD, SPOIL, KERNELS };
static const fs_task_kernel table[KERNELS] = {{run_task, NULL},
                                              {count_call, NULL},
                                              {fail_call, NULL},
                                              {check_told, NULL},
                                              {spoil_scratch, NULL}};

/* Draws a task that no two members of fight over: member m uses the buffers with number m modulo 2
 * alone, if there are two.  `written`: which buffers have content. */
static void draw_task(fs_rng *rng, plain_task *t, bool *written) {
  static const fsched_tag tags[] = {FSCHED_IN, FSCHED_IN, FSCHED_OUT, FSCHED_INOUT,
                                    FSCHED_OUT_EXISTING};
  *t = (plain_task){.seed = fs_rng_next(rng), .n_members = fs_rng_one_in(rng, 5) ? MEMBERS : 1};
  for (uint32_t m = 0; m < t->n_members; m++) {
    bool used[BUFFERS] = {false};
    for (uint32_t k = fs_rng_below(rng, MOST_ARGS + 1); k > 0; k--) {
      plain_arg a = {.tag = tags[fs_rng_below(rng, 5)], .buffer = fs_rng_below(rng, BUFFERS)};
      if (used[a.buffer] || (t->n_members == MEMBERS && a.buffer % MEMBERS != m)) {
        continue;
      }
      used[a.buffer] = true;
      a.tag = written[a.buffer] ? a.tag : FSCHED_OUT;
      a.begin = 0;
      a.end = BYTES;
      if (written[a.buffer] && fs_rng_one_in(rng, 2)) {
        a.begin = fs_rng_below(rng, BYTES - 1);
        a.end = a.begin + 1 + fs_rng_below(rng, BYTES - a.begin - 1);
      }
      written[a.buffer] = true;
      t->arg[m][t->n_args[m]++] = a;
    }
  }
}

typedef struct plain_program {
  fs_workers *w;
  fs_dynamic_buffer buffer[BUFFERS];
  uint8_t memory[SHARED][BYTES], plain[BUFFERS][BYTES];
  plain_task task[TASKS + LOCAL];
  uint32_t n, full;
} plain_program;

static void run_plainly(plain_program *p, const plain_task *t) {
  for (uint32_t m = 0; m < t->n_members; m++) {
    uint8_t *at[MOST_ARGS];
    for (uint32_t i = 0; i < t->n_args[m]; i++) {
      at[i] = p->plain[t->arg[m][i].buffer] + t->arg[m][i].begin;
    }
    compute(t, m, at);
  }
}

static fs_status submit_plain(plain_program *p, const plain_task *t, fs_rng *rng) {
  fs_dynamic_arg arg[MEMBERS][MOST_ARGS];
  fs_dynamic_member member[MEMBERS];
  uint32_t queue[MEMBERS], first = fs_rng_below(rng, QUEUES);
  for (uint32_t m = 0; m < t->n_members; m++) {
    member[m] = (fs_dynamic_member){t->n_args[m], arg[m]};
    queue[m] = (first + m) % QUEUES;
    for (uint32_t i = 0; i < t->n_args[m]; i++) {
      const plain_arg *a = &t->arg[m][i];
      bool all = a->begin == 0 && a->end == BYTES;
      arg[m][i] = (fs_dynamic_arg){
          a->tag, p->buffer[a->buffer], !all, {a->begin, 1, 1, {a->end - a->begin}, {1}}};
    }
  }
  fsched_kernel_call shape = {.params = t, .n_params = sizeof *t};
  fs_workers_task w = {.name = "task", .kernel = RUN_TASK, .shape = &shape};
  w.submission = (fs_dynamic_submission){.n_members = t->n_members, .member = member};
  if (fs_rng_one_in(rng, 2)) {
    w.submission.n_queues = t->n_members;
    w.submission.queue = queue;
  } else {
    w.submission.class_ = fs_rng_below(rng, 2);
  }
  fs_dynamic_task out;
  return fs_workers_submit(p->w, &w, &out);
}

/* One task after the other is evaluated plainly as it is drawn, and submitted. */
static void run_random(plain_program *p, fs_rng *rng, uint32_t n) {
  bool written[BUFFERS] = {true, true, true, true};
  ck_fs(ctx, fs_workers_scope_begin(p->w));
  for (uint32_t i = 0; i < n; i++) {
    plain_task *t = &p->task[i];
    draw_task(rng, t, written);
    run_plainly(p, t);
    ck_fs(ctx, submit_plain(p, t, rng));
  }
  /* What is in declared buffers is seen by copying it. */
  for (uint32_t i = 0; i < LOCAL; i++) {
    plain_task *t = &p->task[n + i];
    *t = (plain_task){.seed = i, .n_members = 1, .n_args = {2}};
    t->arg[0][0] = (plain_arg){FSCHED_IN, SHARED + i, 0, BYTES};
    t->arg[0][1] = (plain_arg){FSCHED_INOUT, i, 0, BYTES};
    if (written[SHARED + i]) {
      run_plainly(p, t);
      ck_fs(ctx, submit_plain(p, t, rng));
    }
  }
  ck_fs(ctx, fs_workers_scope_end(p->w));
  ck_fs(ctx, fs_workers_finish(p->w));
}

static fs_workers *start_workers(uint64_t heap_size) {
  fs_workers_options o = {
      .engine = {.n_queues = QUEUES, .class_of = class_of, .heap_size = heap_size},
      .n_kernels = KERNELS,
      .kernel = table};
  fs_workers *w;
  ck_fs(ctx, fs_workers_create(ctx, &o, &w));
  return w;
}

START_TEST(as_one_after_the_other)
{
  plain_program *p = calloc(1, sizeof *p);
  fs_rng rng = {fs_turn() * 16 + (uint64_t)_i};
  p->w = start_workers(1 << 20);
  for (uint32_t i = 0; i < SHARED; i++) {
    ck_fs(ctx, fs_workers_import(p->w, p->memory[i], BYTES, true, true, &p->buffer[i]));
  }
  for (uint32_t run = 0; run < 4; run++) { /* declared buffers have no content at first */
    for (uint32_t i = SHARED; i < BUFFERS; i++) {
      ck_fs(ctx, fs_workers_declare(p->w, BYTES, &p->buffer[i]));
    }
    run_random(p, &rng, TASKS);
    ck_assert_mem_eq(p->memory, p->plain, sizeof p->memory);
    for (uint32_t i = SHARED; i < BUFFERS; i++) {
      ck_fs(ctx, fs_workers_forget(p->w, p->buffer[i]));
    }
  }
  fs_workers_destroy(p->w);
  free(p);
}
END_TEST

/* The arg of count_call; access to it is not ordered. */
static fs_dynamic_arg count_in(fs_workers *w, _Atomic uint32_t *calls) {
  fs_dynamic_arg a = {.tag = FSCHED_NO_DEP};
  ck_fs(ctx, fs_workers_import(w, calls, sizeof *calls, true, true, &a.buffer));
  return a;
}

/* Through a heap that holds a few tasks at a time, all get their turn. */
START_TEST(full_heaps_wait)
{
  enum { N = 20000 };
  _Atomic uint32_t calls = 0;
  fs_workers *w = start_workers(8 << 10);
  fs_dynamic_arg a[2] = {count_in(w, &calls), {.tag = FSCHED_OUT}};
  for (uint32_t i = 0; i < N; i++) {
    fs_dynamic_task t;
    fs_dynamic_member m = {2, a};
    fs_workers_task task = {.name = "t",
                            .submission = {.n_members = 1, .member = &m, .class_ = i % 2},
                            .kernel = COUNT_CALL};
    if (fs_workers_declare(w, 1000, &a[1].buffer) != FSCHED_OK ||
        fs_workers_submit(w, &task, &t) != FSCHED_OK ||
        fs_workers_forget(w, a[1].buffer) != FSCHED_OK) {
      ck_abort_msg("task %u: %s", i, fs_test_diags(ctx));
    }
  }
  ck_fs(ctx, fs_workers_finish(w));
  ck_assert_uint_eq(calls, N);
  fs_workers_destroy(w);
}
END_TEST

/* Those that wait for a failed task do not run; the next run is as if nothing had been. */
START_TEST(failures_are_of_one_run)
{
  uint8_t bytes[8] = {0};
  _Atomic uint32_t calls = 0;
  fs_workers *w = start_workers(1024);
  fs_dynamic_buffer b;
  ck_fs(ctx, fs_workers_import(w, bytes, sizeof bytes, true, true, &b));
  fs_dynamic_arg a[2] = {count_in(w, &calls), {.tag = FSCHED_INOUT, .buffer = b}};
  fs_dynamic_member m = {2, a};
  fs_dynamic_task t;
  fs_workers_task task = {
      .name = "broken", .submission = {.n_members = 1, .member = &m}, .kernel = FAIL_CALL};
  ck_fs(ctx, fs_workers_submit(w, &task, &t));
  task.name = "next";
  task.kernel = COUNT_CALL;
  fs_status status = FSCHED_OK;
  for (uint32_t i = 0; i < 10; i++) { /* the failure may be known by then */
    status = status == FSCHED_OK ? fs_workers_submit(w, &task, &t) : status;
  }
  ck_assert(status == FSCHED_OK || status == FSCHED_REPLAY);
  ck_assert_int_eq(fs_workers_finish(w), FSCHED_REPLAY);
  ck_assert_str_eq(fs_test_diags(ctx), "task 'broken' has returned 7");
  ck_assert_uint_eq(calls, 0);
  ck_fs(ctx, fs_workers_submit(w, &task, &t));
  ck_fs(ctx, fs_workers_finish(w));
  ck_assert_uint_eq(calls, 1);
  fs_workers_destroy(w);
}
END_TEST

/* A heap that nothing will ever free is an error at once, and so is what is cancelled. */
START_TEST(nothing_hangs)
{
  _Atomic uint32_t calls = 0;
  fs_workers *w = start_workers(1024);
  fs_dynamic_buffer b, other;
  fs_dynamic_task t;
  uint64_t size = 1000;
  ck_fs(ctx, fs_workers_alloc(w, 1, &size, 1, &b, &t));
  ck_assert_int_eq(fs_workers_alloc(w, 1, &size, 1, &other, &t), FSCHED_INFEASIBLE);
  fs_dynamic_arg a = count_in(w, &calls);
  fs_dynamic_member m = {1, &a};
  fs_workers_task task = {
      .name = "t", .submission = {.n_members = 1, .member = &m}, .kernel = COUNT_CALL};
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

/* Args, values, views, parameters and shape arrive as they were given. */
START_TEST(kernels_are_told)
{
  uint8_t bytes[64] = {[8 + 4] = 9};
  fs_workers *w = start_workers(1024);
  fs_dynamic_buffer b, c;
  fs_dynamic_task t;
  ck_fs(ctx, fs_workers_import(w, bytes, sizeof bytes, true, true, &b));
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
                          .kernel = CHECK_TOLD,
                          .n_values = 4,
                          .value = values,
                          .shape = &shape};
  ck_fs(ctx, fs_workers_submit(w, &task, &t));
  ck_fs(ctx, fs_workers_finish(w));
  fs_workers_destroy(w);
}
END_TEST

static void refuses(fs_workers *w, const fs_workers_task *task, const char *why) {
  fs_dynamic_task t;
  ck_assert_int_eq(fs_workers_submit(w, task, &t), FSCHED_BAD_INPUT);
  ck_assert_str_eq(fs_test_diags(ctx), why);
}

START_TEST(wrong_tasks)
{
  fs_workers *w = start_workers(1024);
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
  refuses(w, &task, "task 't' names kernel 5 of 5");
  ck_fs(ctx, fs_workers_finish(w));
  fs_workers_destroy(w);
}
END_TEST

START_TEST(without_memory)
{
  fs_status status = FSCHED_SYSTEM;
  long n = 0;
  for (; status != FSCHED_OK; n++) {
    fs_budget budget = {.left = 1000};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *own;
    ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
    budget.left = n;
    fs_workers_options d = {
        .engine = {.n_queues = 2, .heap_size = 4096}, .n_kernels = KERNELS, .kernel = table};
    fs_dynamic_member m = {0, NULL};
    fs_dynamic_task t;
    plain_task nothing = {.n_members = 1};
    fsched_kernel_call shape = {.params = &nothing, .n_params = sizeof nothing};
    fs_workers_task task = {.name = "t",
                            .submission = {.n_members = 1, .member = &m},
                            .kernel = RUN_TASK,
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
  static const fs_heap_room room[FS_HEAP_RINGS] = {{700, 1}, {2048, 256}, {4096, 4096}, {168, 8}};
  static const uint64_t scratch[] = {5, 64};
  started_members heard = {0};
  fs_workers_options o = {.engine = {.n_queues = 2, .heap = room},
                          .n_kernels = KERNELS,
                          .kernel = table,
                          .started = note_started,
                          .user = &heard};
  fs_workers *w;
  ck_fs(ctx, fs_workers_create(ctx, &o, &w));
  uint8_t result[ROUNDS][20];
  for (uint32_t i = 0; i < ROUNDS; i++) {
    fs_dynamic_buffer own, to;
    fs_dynamic_task t;
    ck_fs(ctx, fs_workers_declare(w, 20, &own));
    ck_fs(ctx, fs_workers_import(w, result[i], 20, true, true, &to));
    fs_dynamic_arg a[2] = {{.tag = FSCHED_OUT, .buffer = own}, {.tag = FSCHED_OUT, .buffer = to}};
    fs_dynamic_member m = {1, a};
    uint32_t queue = i % 2;
    fs_task_value value = {0, 1, i + 1};
    fs_workers_task task = {.name = "t", .kernel = SPOIL, .n_values = 1, .value = &value};
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
  FS_LOOPS(t, 0, 8, as_one_after_the_other);
  FS_TESTS(t, full_heaps_wait, failures_are_of_one_run, nothing_hangs, kernels_are_told,
           heaps_of_their_own, wrong_tasks, without_memory);
}
