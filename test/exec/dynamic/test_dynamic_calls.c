/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls of dynamic runs, as their users see them: what a program leaves beside the same
 * one captured, compiled and replayed; runs; and what is refused. */
#include "fsched/dynamic.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exec/dynamic/calls_program.h"
#include "exec/dynamic/forks.h"
#include "exec/dynamic/surroundings.h"
#include "kit/budget.h"

#include "kit/context.h"

enum { MEMORY = 4096 };

static fsched_dynamic *d;

/* Kernels of the application. */
static int fail_seven(const fsched_kernel_call *call) {
  (void)call;
  return 7;
}
static int die(const fsched_kernel_call *call) {
  (void)call;
  abort();
}
/* Writes which member of how many it is, its grid, the first byte of its block, and its value. */
static int tell(const fsched_kernel_call *call) {
  uint8_t *out = call->args[0].data;
  out[0] = (uint8_t)call->member;
  out[1] = (uint8_t)call->n_members;
  out[2] = (uint8_t)call->grid[0];
  out[3] = call->n_params > 0 ? *(const uint8_t *)call->params : 0;
  out[4] = call->n_args > 1 ? (uint8_t)call->args[1].value : 0;
  out[5] = (uint8_t)call->n_scratch;
  return 0;
}

/* Two that only end when both run at once. */
static sem_t has_read;
static int write_late(const fsched_kernel_call *call) {
  (void)call;
  return sem_wait(&has_read);
}
static int read_early(const fsched_kernel_call *call) {
  (void)call;
  return sem_post(&has_read);
}

enum { MIX, FAIL, DIE, TELL, WRITE_LATE, READ_EARLY, N_NAMES = READ_EARLY };
static const char *const name[N_NAMES] = {"fail", "die", "tell", "write_late", "read_early"};

static fsched_kernel_fn find(void *user, const char *module, const char *function) {
  (void)user;
  (void)module;
  static const fsched_kernel_fn kernel[] = {fail_seven, die, tell, write_late, read_early};
  for (int i = 0; i < N_NAMES; i++) {
    if (strcmp(function, name[i]) == 0) {
      return kernel[i];
    }
  }
  return NULL;
}

static fs_status add_callables(fsched_dynamic *to) {
  const fsched_submit_amount use = {0, 2}, scratch = {0, 100};
  const uint8_t block = 5;
  fsched_submit_callable_desc mix = {.size = sizeof mix, .name = "mix"};
  FS_TRY(fsched_dynamic_callable(to, &mix, NULL));
  for (int i = 0; i < N_NAMES; i++) {
    fsched_kernel_desc k = {.size = sizeof k,
                            .module = "test",
                            .function = name[i],
                            .grid = {3},
                            .params = &block,
                            .n_params = 1};
    fsched_submit_callable_desc c = {.size = sizeof c,
                                     .name = name[i],
                                     .kernel = &k,
                                     .uses = &use,
                                     .n_uses = i < 3,
                                     .scratch = &scratch,
                                     .n_scratch = 1};
    FS_TRY(fsched_dynamic_callable(to, &c, NULL));
  }
  return FSCHED_OK;
}

static fsched_dynamic_options usual_options(void) {
  return (fsched_dynamic_options){.size = sizeof(fsched_dynamic_options),
                                  .heap_bytes = 8192,
                                  .memory_bytes = MEMORY,
                                  .find = find};
}

static void start(bool processes) {
  fsched_dynamic_options o = usual_options();
  o.processes = processes;
  ck_fs(ctx, fsched_dynamic_create(two_queues(ctx), &o, &d));
  ck_fs(ctx, add_callables(d));
  ck_fs(ctx, fsched_dynamic_open(d));
}

static void calls_begin(void) {
  fs_test_begin();
  start(false);
}

static void calls_end(void) {
  fsched_dynamic_destroy(d);
  fs_test_end();
}

static void calls_fixture(TCase *t) { tcase_add_checked_fixture(t, calls_begin, calls_end); }

static void refused(fs_status status, fs_status wanted, const char *code, const char *part) {
  ck_assert_int_eq(status, wanted);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, code);
  ck_assert_msg(strstr(fsched_diag_get(ctx, 0)->message, part) != NULL, "%s",
                fsched_diag_get(ctx, 0)->message);
  fsched_diag_clear(ctx);
}

static uint8_t *memory_of(uint64_t bytes) {
  void *at;
  ck_fs(ctx, fsched_dynamic_memory(d, bytes, &at));
  return at;
}

static fs_status import(const char *buffer, const void *at, fsched_io io, uint32_t *id) {
  fsched_submit_import_desc i = {
      .size = sizeof i, .name = buffer, .bytes = BYTES, .io = io, .address = at};
  return fsched_dynamic_import(d, &i, id);
}

static fs_status alloc(uint64_t bytes, uint32_t *id) {
  fsched_submit_alloc_desc a = {.size = sizeof a, .element = 1, .n_dims = 1, .shape = &bytes};
  return fsched_dynamic_alloc(d, &a, id);
}

static fs_status task(uint32_t callable, const fsched_submit_arg *a, uint32_t n) {
  fsched_submit_task_desc t = {.size = sizeof t, .callable = callable, .args = a, .n_args = n};
  return fsched_dynamic_task(d, &t, NULL);
}

static fs_status write_one(uint32_t callable, uint32_t buffer) {
  fsched_submit_arg a = arg(FSCHED_OUT, buffer);
  return task(callable, &a, 1);
}

/* ---- the same program, twice */

/* The heap has room for two scopes, so the ring is full most of the time.  _i: processes, where
 * they can be forked. */
START_TEST(a_program_leaves_what_its_compiled_replay_leaves)
{
  uint8_t plain[BYTES] = {0};
  fsched_dynamic_destroy(d);
  start(_i == 1 && workers_fork());
  uint8_t *x = memory_of(BYTES), *y = memory_of(BYTES);
  for (int i = 0; i < BYTES; i++) {
    x[i] = (uint8_t)(i * 37);
  }
  for (int run = 0; run < 3; run++) {
    program_calls c = {d, dynamic_import, dynamic_task, dynamic_begin, dynamic_end};
    memset(y, 0, BYTES);
    chain(&c, x, y);
    ck_fs(ctx, fsched_dynamic_close(d));
    ck_fs(ctx, fsched_dynamic_drain(d));
    ck_assert_int_eq(fsched_dynamic_run_state(d), FSCHED_DYNAMIC_DONE);
    replay_chain(x, plain);
    ck_assert_mem_eq(y, plain, BYTES);
    ck_fs(ctx, fsched_dynamic_open(d));
  }
}
END_TEST

/* Which member a call is of, the callable's shape and the task's block arrive.  _i: processes,
 * where they can be forked. */
START_TEST(kernels_see_members_shape_and_params)
{
  static const char *const queues[] = {"q0", "q1"};
  fsched_dynamic_destroy(d);
  start(_i == 1 && workers_fork());
  uint8_t *memory = memory_of(BYTES);
  uint32_t id;
  ck_fs(ctx, import("m", memory, FSCHED_IO_OUTPUT, &id));
  fsched_submit_view half[] = {{.size = sizeof *half, .offset = 0, .length = 8},
                               {.size = sizeof *half, .offset = 8, .length = 8},
                               {.size = sizeof *half, .offset = 16, .length = 8}};
  fsched_submit_arg a[] = {arg(FSCHED_OUT, id), arg(FSCHED_VALUE, 0), arg(FSCHED_OUT, id),
                           arg(FSCHED_OUT, id)};
  a[0].view = &half[0];
  a[1].value = 9;
  a[2].view = &half[1];
  a[3].view = &half[2];
  fsched_submit_member members[] = {{a, 2}, {&a[2], 1}};
  const uint8_t block = 6;
  fsched_submit_group_desc g = {.size = sizeof g,
                                .callable = TELL,
                                .queues = queues,
                                .members = members,
                                .n_members = 2,
                                .params = &block,
                                .n_params = 1};
  ck_fs(ctx, fsched_dynamic_group(d, &g, NULL));
  ck_fs(ctx, task(TELL, &a[3], 1));
  ck_fs(ctx, fsched_dynamic_drain(d));
  ck_assert_mem_eq(memory, ((uint8_t[]){0, 2, 3, 6, 9, 1}), 6);
  ck_assert_mem_eq(memory + 8, ((uint8_t[]){1, 2, 3, 6, 0, 1}), 6);
  ck_assert_mem_eq(memory + 16, ((uint8_t[]){0, 0, 3, 5, 0, 1}), 6);
}
END_TEST

/* ---- runs */

START_TEST(calls_answer_by_the_state_of_the_run)
{
  uint32_t id;
  void *at;
  fsched_dynamic *fresh;
  ck_fs(ctx, fsched_dynamic_create(two_queues(ctx), NULL, &fresh));
  ck_assert_int_eq(fsched_dynamic_run_state(fresh), FSCHED_DYNAMIC_NONE);
  ck_assert_ptr_null(fsched_dynamic_run_cause(fresh));
  refused(fsched_dynamic_close(fresh), FSCHED_USAGE, "dynamic-call", "no run was opened");
  refused(fsched_dynamic_drain(fresh), FSCHED_USAGE, "dynamic-call", "no run was opened");
  refused(fsched_dynamic_end_scope(fresh), FSCHED_USAGE, "dynamic-call", "no run was opened");
  refused(fsched_dynamic_memory(fresh, 1, &at), FSCHED_USAGE, "dynamic-call", "no run was opened");
  fsched_dynamic_cancel(fresh, "nothing");
  fsched_dynamic_destroy(fresh);
  fsched_dynamic_destroy(NULL);

  fsched_submit_callable_desc late = {.size = sizeof late, .name = "late"};
  refused(fsched_dynamic_callable(d, &late, NULL), FSCHED_USAGE, "dynamic-call",
          "before the first");
  ck_assert_int_eq(fsched_dynamic_run_state(d), FSCHED_DYNAMIC_OPEN);
  refused(fsched_dynamic_open(d), FSCHED_USAGE, "dynamic-call", "the last run is not over");
  ck_fs(ctx, fsched_dynamic_drain(d));
  ck_fs(ctx, fsched_dynamic_close(d));
  ck_assert_int_eq(fsched_dynamic_run_state(d), FSCHED_DYNAMIC_DONE);
  refused(fsched_dynamic_close(d), FSCHED_USAGE, "dynamic-call", "no run is open");
  refused(alloc(1, &id), FSCHED_USAGE, "dynamic-call", "no run is open for tasks");
  refused(write_one(MIX, 0), FSCHED_USAGE, "dynamic-call", "no run is open for tasks");
  ck_fs(ctx, fsched_dynamic_open(d));
  refused(write_one(MIX, 0), FSCHED_BAD_INPUT, "bad-argument", "there is no buffer 0");
}
END_TEST

/* The first cause is the answer of all that adds to the run.  _i: processes, in which a kernel may
 * even crash, where they can be forked. */
START_TEST(after_a_failure_calls_answer_with_its_cause)
{
  uint32_t id, other;
  fsched_dynamic_destroy(d);
  bool dies = _i == 1 && workers_fork();
  const char *part = dies ? "signal" : "7";
  start(dies);
  ck_fs(ctx, alloc(BYTES, &id));
  ck_fs(ctx, write_one(dies ? DIE : FAIL, id));
  refused(fsched_dynamic_drain(d), FSCHED_REPLAY, "dynamic-run", part);
  ck_assert_int_eq(fsched_dynamic_run_state(d), FSCHED_DYNAMIC_FAILING);
  ck_assert_ptr_nonnull(strstr(fsched_dynamic_run_cause(d), part));
  refused(write_one(MIX, id), FSCHED_REPLAY, "dynamic-run", part);
  refused(alloc(1, &other), FSCHED_REPLAY, "dynamic-run", part);
  refused(fsched_dynamic_begin_scope(d, NULL), FSCHED_REPLAY, "dynamic-run", part);
  refused(fsched_dynamic_hold(d, id), FSCHED_REPLAY, "dynamic-run", part);
  refused(fsched_dynamic_release(d, id), FSCHED_REPLAY, "dynamic-run", part);
  ck_fs(ctx, fsched_dynamic_close(d));
  ck_assert_int_eq(fsched_dynamic_run_state(d), FSCHED_DYNAMIC_FAILED);
  ck_fs(ctx, fsched_dynamic_open(d));
  ck_assert_ptr_null(fsched_dynamic_run_cause(d));
  ck_fs(ctx, alloc(BYTES, &id));
  ck_assert_uint_eq(id, 0);
  ck_fs(ctx, write_one(MIX, id));
  ck_fs(ctx, fsched_dynamic_drain(d));
}
END_TEST

START_TEST(a_run_can_be_cancelled)
{
  uint32_t id;
  ck_fs(ctx, fsched_dynamic_begin_scope(d, NULL));
  ck_fs(ctx, alloc(BYTES, &id));
  fsched_dynamic_cancel(d, "enough");
  fsched_dynamic_cancel(d, "more");
  ck_assert_str_eq(fsched_dynamic_run_cause(d), "enough");
  ck_assert_int_eq(fsched_dynamic_run_state(d), FSCHED_DYNAMIC_FAILED);
  refused(fsched_dynamic_end_scope(d), FSCHED_REPLAY, "dynamic-run", "enough");
  refused(fsched_dynamic_drain(d), FSCHED_REPLAY, "dynamic-run", "enough");
  ck_fs(ctx, fsched_dynamic_open(d));
  refused(fsched_dynamic_end_scope(d), FSCHED_BAD_INPUT, "bad-scope", "no scope to end");
}
END_TEST

/* ---- what is refused */

START_TEST(memory_that_cannot_be_used_is_refused)
{
  uint8_t own[BYTES];
  uint32_t id = 77;
  void *at;
  refused(import("x", NULL, FSCHED_IO_INPUT, &id), FSCHED_BAD_INPUT, "dynamic-arg",
          "import 'x' has no address");
  fsched_submit_import_desc device = {
      .size = sizeof device, .name = "x", .bytes = BYTES, .address = own, .queue = "q0"};
  refused(fsched_dynamic_import(d, &device, &id), FSCHED_BAD_INPUT, "dynamic-arg", "queue 'q0'");
  ck_assert_uint_eq(id, 77);
  ck_fs(ctx, import("x", own, FSCHED_IO_INPUT, &id));
  refused(import("y", own + 1, FSCHED_IO_INPUT, &id), FSCHED_BAD_INPUT, "imports-overlap",
          "63 bytes in common");
  refused(write_one(MIX, id + 1), FSCHED_BAD_INPUT, "bad-argument", "there is no buffer 1");
  refused(fsched_dynamic_memory(d, MEMORY + 1, &at), FSCHED_INFEASIBLE, "dynamic-heap",
          "4097 bytes of shared memory");
  fsched_dynamic_destroy(d);
  if (!workers_fork()) {
    start(false);
    return;
  }
  start(true);
  refused(import("x", own, FSCHED_IO_INPUT, &id), FSCHED_BAD_INPUT, "dynamic-arg",
          "outside of what they share");
}
END_TEST

START_TEST(what_has_gone_is_refused_and_what_is_held_is_not)
{
  uint32_t gone, held;
  ck_fs(ctx, fsched_dynamic_begin_scope(d, NULL));
  ck_fs(ctx, alloc(BYTES, &gone));
  ck_fs(ctx, alloc(BYTES, &held));
  ck_fs(ctx, fsched_dynamic_hold(d, held));
  ck_fs(ctx, write_one(MIX, gone));
  ck_fs(ctx, write_one(MIX, held));
  ck_fs(ctx, fsched_dynamic_end_scope(d));
  ck_fs(ctx, fsched_dynamic_drain(d));
  fsched_submit_arg a = arg(FSCHED_IN, gone);
  refused(task(MIX, &a, 1), FSCHED_BAD_INPUT, "buffer-gone", "has gone with scope");
  a.buffer = held;
  ck_fs(ctx, task(MIX, &a, 1));
  ck_fs(ctx, fsched_dynamic_release(d, held));
  refused(task(MIX, &a, 1), FSCHED_BAD_INPUT, "buffer-gone", "has gone with scope");
  refused(fsched_dynamic_release(d, held), FSCHED_BAD_INPUT, "bad-scope", "is not held");
}
END_TEST

/* The heap has 8 KiB: a request above it, and one that an open scope keeps from it. */
START_TEST(a_heap_that_cannot_become_free_is_an_error)
{
  uint32_t id = 77;
  refused(alloc(8193, &id), FSCHED_INFEASIBLE, "dynamic-heap", "8192");
  ck_fs(ctx, fsched_dynamic_begin_scope(d, NULL));
  ck_fs(ctx, alloc(6000, &id));
  refused(alloc(6000, &id), FSCHED_INFEASIBLE, "dynamic-heap", "8192");
  const uint64_t shape = 6000;
  fsched_submit_alloc_desc own = {.size = sizeof own, .element = 1, .n_dims = 1, .shape = &shape};
  fsched_submit_arg a = arg(FSCHED_OUT, 0);
  uint32_t made = 77;
  a.alloc = &own;
  a.allocated = &made;
  refused(task(MIX, &a, 1), FSCHED_INFEASIBLE, "dynamic-heap", "8192");
  ck_assert_uint_eq(made, 77);
  ck_fs(ctx, fsched_dynamic_end_scope(d));
  ck_fs(ctx, task(MIX, &a, 1)); /* its name and number are those of the one that was refused */
  ck_assert_uint_eq(made, 1);
}
END_TEST

START_TEST(targets_options_and_kernels_that_are_wrong)
{
  fsched_builder *b;
  fsched_dynamic *none;
  ck_fs(ctx, fsched_builder_create(ctx, "bare", &b));
  refused(fsched_dynamic_create(b, NULL, &none), FSCHED_BAD_INPUT, "no-queue", "has none");
  ck_assert_ptr_null(none);
  fsched_dynamic_options o = {.size = 1};
  refused(fsched_dynamic_create(two_queues(ctx), &o, &none), FSCHED_BAD_INPUT, "bad-argument",
          "'size' of fsched_dynamic_options");
  fsched_kernel_desc k = {.size = sizeof k, .module = "m", .function = "f"};
  fsched_submit_callable_desc c = {.size = sizeof c, .name = "c", .kernel = &k};
  ck_fs(ctx, fsched_dynamic_create(two_queues(ctx), NULL, &none));
  refused(fsched_dynamic_callable(none, &c, NULL), FSCHED_REPLAY, "replay-kernel", "m");
  fsched_dynamic_destroy(none);
}
END_TEST

/* ---- kernels of modules */

enum { ON_THREADS, FORKED_HERE, SPAWNED_HERE, WAYS };

/* Begins with one callable, the function of a module; how far that came. */
static fs_status start_module(int way, const char *directory, bool trusted, const char *module,
                              const char *function) {
  static char program[4096], path[4096];
  fsched_dynamic_options o = {.size = sizeof o,
                              .processes = way != ON_THREADS,
                              .spawn = way == SPAWNED_HERE,
                              .worker = beside_runner("../fsched-worker", program),
                              .memory_bytes = MEMORY,
                              .trust_modules = trusted};
  o.modules = directory == NULL ? NULL : beside_runner(directory, path);
  fsched_kernel_desc k = {.size = sizeof k, .module = module, .function = function};
  fsched_submit_callable_desc c = {.size = sizeof c, .name = "c", .kernel = &k};
  fsched_dynamic_destroy(d);
  ck_fs(ctx, fsched_dynamic_create(two_queues(ctx), &o, &d));
  FS_TRY(fsched_dynamic_callable(d, &c, NULL));
  return fsched_dynamic_open(d);
}

/* The kernel is called in the process that it should be. */
static void ck_surroundings(int way) {
  surroundings here;
  uint32_t id;
  uint8_t *memory = memory_of(sizeof here);
  fsched_submit_import_desc i = {.size = sizeof i,
                                 .name = "here",
                                 .bytes = sizeof here,
                                 .io = FSCHED_IO_OUTPUT,
                                 .address = memory};
  ck_fs(ctx, fsched_dynamic_import(d, &i, &id));
  ck_fs(ctx, write_one(0, id));
  ck_fs(ctx, fsched_dynamic_drain(d));
  memcpy(&here, memory, sizeof here);
  ck_assert((here.pid == getpid()) == (way == ON_THREADS));
  ck_assert(way == ON_THREADS || here.parent == getpid());
}

/* _i: the way in which workers are made. */
START_TEST(modules_are_opened_by_the_rules_of_trust)
{
  static char all[4096];
  fsched_dynamic_destroy(d);
  d = NULL;
  int way = _i == FORKED_HERE && !workers_fork() ? SPAWNED_HERE : _i;
  const char *path = beside_runner("exec/dynamic/kernels.so", all);
  ck_fs(ctx, start_module(way, "exec/dynamic", false, "kernels", "look_around"));
  ck_surroundings(way);
  ck_fs(ctx, start_module(way, NULL, true, path, "look_around"));
  ck_surroundings(way);
  refused(start_module(way, NULL, false, path, "look_around"), FSCHED_REPLAY, "replay-kernel",
          "kernels.so");
  refused(start_module(way, "exec/replay", false, path, "look_around"), FSCHED_REPLAY,
          "replay-kernel", "kernels.so");
  refused(start_module(way, "exec/replay", false, "../dynamic/kernels", "look_around"),
          FSCHED_REPLAY, "replay-kernel", "kernels");
  refused(start_module(way, "exec/dynamic", false, "kernels", "nothing"), FSCHED_REPLAY,
          "replay-kernel", "there is no function 'nothing'");
}
END_TEST

/* Writes its arg, and has not returned before a task that reads it has: in a manual scope, the tag
 * does not make that one wait. */
START_TEST(tags_of_a_manual_scope_give_no_order)
{
  fsched_submit_scope_desc manual = {.size = sizeof manual, .manual = 1};
  uint32_t a;
  ck_assert_int_eq(sem_init(&has_read, 0, 0), 0);
  ck_fs(ctx, fsched_dynamic_begin_scope(d, &manual));
  ck_fs(ctx, alloc(BYTES, &a));
  ck_fs(ctx, write_one(WRITE_LATE, a));
  fsched_submit_arg read = arg(FSCHED_IN, a);
  ck_fs(ctx, task(READ_EARLY, &read, 1));
  ck_fs(ctx, fsched_dynamic_end_scope(d));
  ck_fs(ctx, fsched_dynamic_drain(d));
  ck_assert_int_eq(sem_destroy(&has_read), 0);
}
END_TEST

/* With the predecessor of its tag a task of a manual scope reads what it reads elsewhere. */
START_TEST(predecessors_of_a_manual_scope_give_the_order)
{
  uint8_t *seen = memory_of(BYTES), first[BYTES];
  for (int manual = 0; manual < 2; manual++) {
    fsched_submit_scope_desc scope = {.size = sizeof scope, .manual = manual};
    uint32_t a, b, writer;
    ck_fs(ctx, import("seen", seen, FSCHED_IO_OUTPUT, &b));
    ck_fs(ctx, fsched_dynamic_begin_scope(d, &scope));
    ck_fs(ctx, alloc(BYTES, &a));
    fsched_submit_arg out = arg(FSCHED_OUT_EXISTING, a);
    fsched_submit_task_desc t = {.size = sizeof t, .args = &out, .n_args = 1};
    ck_fs(ctx, fsched_dynamic_task(d, &t, &writer));
    fsched_submit_predecessor after = {writer, 1, 1};
    fsched_submit_arg both[] = {arg(FSCHED_IN, a), arg(FSCHED_OUT, b)};
    fsched_submit_task_desc u = {
        .size = sizeof u, .args = both, .n_args = 2, .predecessors = &after, .n_predecessors = 1};
    ck_fs(ctx, fsched_dynamic_task(d, &u, NULL));
    ck_fs(ctx, fsched_dynamic_end_scope(d));
    ck_fs(ctx, fsched_dynamic_close(d));
    ck_fs(ctx, fsched_dynamic_drain(d));
    ck_assert(manual == 0 || memcmp(seen, first, BYTES) == 0);
    memcpy(first, seen, BYTES);
    memset(seen, 0, BYTES);
    ck_fs(ctx, fsched_dynamic_open(d));
  }
}
END_TEST

/* ---- the watchdog */

static uint64_t show_time(void *user) { return *(const uint64_t *)user; }

enum { STALL = 1000 };

static void start_watched(uint64_t *time) {
  fsched_dynamic_options o = usual_options();
  o.stall_ns = STALL;
  o.now = show_time;
  o.now_user = time;
  fsched_dynamic_destroy(d);
  ck_fs(ctx, fsched_dynamic_create(two_queues(ctx), &o, &d));
  ck_fs(ctx, add_callables(d));
  ck_fs(ctx, fsched_dynamic_open(d));
  ck_assert_int_eq(sem_init(&has_read, 0, 0), 0);
}

/* Nothing is stalled before the time is over, and then something of this class. */
static fsched_dynamic_stall ck_stall(uint64_t *time, fsched_stall kind) {
  fsched_dynamic_stall stall = {.size = sizeof stall};
  ck_assert_int_eq(fsched_dynamic_watch(d, NULL), FSCHED_STALL_NONE);
  *time += STALL - 1;
  ck_assert_int_eq(fsched_dynamic_watch(d, NULL), FSCHED_STALL_NONE);
  *time += 1;
  ck_assert_int_eq(fsched_dynamic_watch(d, &stall), kind);
  ck_assert_int_eq(stall.kind, kind);
  ck_assert_uint_eq(stall.still_ns, STALL);
  return stall;
}

START_TEST(the_watchdog_tells_the_class_of_a_stall)
{
  static const char *const queues[] = {"q0", "q1"};
  uint64_t time = 5;
  start_watched(&time);
  uint32_t a, b;
  ck_fs(ctx, alloc(BYTES, &a));
  ck_fs(ctx, alloc(BYTES, &b));
  fsched_dynamic_stall stall = ck_stall(&time, FSCHED_STALL_OPEN);
  ck_assert_ptr_null(stall.queue);
  ck_assert_str_eq(stall.task, "");
  fsched_submit_arg out = arg(FSCHED_OUT, a);
  fsched_submit_task_desc late = {
      .size = sizeof late, .callable = WRITE_LATE, .args = &out, .n_args = 1, .on = "q1"};
  ck_fs(ctx, fsched_dynamic_task(d, &late, NULL));
  stall = ck_stall(&time, FSCHED_STALL_WORKER);
  ck_assert_str_eq(stall.queue, "q1");
  ck_assert_str_eq(stall.task, "write_late#0");
  fsched_submit_arg m = arg(FSCHED_OUT, b);
  fsched_submit_member members[] = {{&m, 1}, {NULL, 0}};
  fsched_submit_group_desc g = {
      .size = sizeof g, .queues = queues, .members = members, .n_members = 2, .name = "both"};
  ck_fs(ctx, fsched_dynamic_group(d, &g, NULL));
  stall = ck_stall(&time, FSCHED_STALL_GROUP);
  ck_assert_str_eq(stall.task, "both");
  ck_assert_int_eq(sem_post(&has_read), 0);
  ck_fs(ctx, fsched_dynamic_drain(d));
  (void)ck_stall(&time, FSCHED_STALL_OPEN);
  ck_fs(ctx, fsched_dynamic_close(d));
  ck_assert_int_eq(fsched_dynamic_watch(d, NULL), FSCHED_STALL_NONE);
}
END_TEST

/* Looks until a full heap stalls, and then lets the task end that has its memory. */
static void *watch_heap(void *user) {
  uint64_t *time = user;
  while (fsched_dynamic_watch(d, NULL) != FSCHED_STALL_HEAP) {
    *time += STALL;
    (void)sched_yield();
  }
  (void)sem_post(&has_read);
  return NULL;
}

START_TEST(the_watchdog_tells_of_a_full_heap)
{
  uint64_t time = 0;
  pthread_t watcher;
  start_watched(&time);
  const uint64_t shape = 6000;
  fsched_submit_alloc_desc own = {.size = sizeof own, .element = 1, .n_dims = 1, .shape = &shape};
  fsched_submit_arg a = arg(FSCHED_OUT, 0);
  a.alloc = &own;
  ck_fs(ctx, fsched_dynamic_begin_scope(d, NULL));
  ck_fs(ctx, task(WRITE_LATE, &a, 1));
  ck_fs(ctx, fsched_dynamic_end_scope(d));
  ck_assert_int_eq(pthread_create(&watcher, NULL, watch_heap, &time), 0);
  uint32_t id;
  ck_fs(ctx, alloc(6000, &id)); /* waits for the task */
  ck_assert_int_eq(pthread_join(watcher, NULL), 0);
}
END_TEST

/* ---- memory */

/* A short program with all kinds of calls; the first status that is not good. */
static fs_status short_program(fsched_context *own, uint8_t *memory) {
  static const char *const queues[] = {"q0", "q1"};
  fsched_dynamic_options o = usual_options();
  fsched_dynamic *x;
  uint32_t in, a, b;
  const uint64_t shape[] = {8, 8};
  fsched_builder *target = two_queues(own);
  if (target == NULL) {
    return FSCHED_SYSTEM;
  }
  FS_TRY(fsched_dynamic_create(target, &o, &x));
  fs_status status = add_callables(x);
  status = status == FSCHED_OK ? fsched_dynamic_open(x) : status;
  for (int run = 0; run < 2 && status == FSCHED_OK; run++) {
    fsched_submit_import_desc i = {
        .size = sizeof i, .name = "x", .bytes = BYTES, .io = FSCHED_IO_INPUT, .address = memory};
    fsched_submit_alloc_desc own_desc = {
        .size = sizeof own_desc, .element = 1, .n_dims = 2, .shape = shape};
    fsched_submit_arg args[3] = {{.size = sizeof *args}};
    status = fsched_dynamic_import(x, &i, &in);
    status = status == FSCHED_OK ? fsched_dynamic_begin_scope(x, NULL) : status;
    status = status == FSCHED_OK ? fsched_dynamic_alloc(x, &own_desc, &a) : status;
    if (status == FSCHED_OK) {
      args[0] = arg(FSCHED_IN, in);
      args[1] = arg(FSCHED_OUT, a);
      args[2] = arg(FSCHED_OUT, 0);
      args[2].alloc = &own_desc;
      args[2].allocated = &b;
      fsched_submit_task_desc t = {.size = sizeof t, .args = args, .n_args = 3};
      status = fsched_dynamic_task(x, &t, NULL);
    }
    status = status == FSCHED_OK ? fsched_dynamic_hold(x, b) : status;
    if (status == FSCHED_OK) {
      fsched_submit_view tile = {.size = sizeof tile,
                                 .n_dims = 2,
                                 .shape = (const uint64_t[]){4, 2},
                                 .strides = (const uint64_t[]){8, 2}};
      fsched_submit_arg m[] = {arg(FSCHED_IN, a), arg(FSCHED_INOUT, b)};
      m[1].view = &tile;
      fsched_submit_member members[] = {{m, 1}, {&m[1], 1}};
      fsched_submit_group_desc g = {
          .size = sizeof g, .queues = queues, .members = members, .n_members = 2};
      status = fsched_dynamic_group(x, &g, NULL);
    }
    status = status == FSCHED_OK ? fsched_dynamic_end_scope(x) : status;
    status = status == FSCHED_OK ? fsched_dynamic_release(x, b) : status;
    status = status == FSCHED_OK ? fsched_dynamic_close(x) : status;
    status = status == FSCHED_OK ? fsched_dynamic_drain(x) : status;
    status = status == FSCHED_OK ? fsched_dynamic_open(x) : status;
  }
  fsched_dynamic_destroy(x);
  return status;
}

/* Each allocation fails once, and nothing is left. */
START_TEST(memory_may_run_out_anywhere)
{
  uint8_t memory[BYTES] = {0};
  fs_budget budget = {0};
  fs_status status = FSCHED_SYSTEM;
  long n = 0;
  for (; status != FSCHED_OK; n++) {
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *own;
    budget.left = n;
    status = fsched_context_create(&o, &own);
    if (status == FSCHED_OK) {
      status = short_program(own, memory);
      fsched_context_destroy(own);
    }
    ck_assert_msg(status == FSCHED_OK || status == FSCHED_SYSTEM, "%d after %ld", (int)status, n);
    ck_assert_int_eq(budget.blocks, 0);
    ck_assert_int_eq(budget.held, 0);
  }
  ck_assert_int_gt(n, 50);
}
END_TEST

FS_SUITE(dynamic_calls, s) {
  TCase *t = fs_case(s, calls_fixture);
  FS_LOOPS(t, 0, 2, a_program_leaves_what_its_compiled_replay_leaves);
  FS_LOOPS(t, 0, 2, kernels_see_members_shape_and_params);
  FS_TESTS(t, calls_answer_by_the_state_of_the_run);
  FS_LOOPS(t, 0, 2, after_a_failure_calls_answer_with_its_cause);
  FS_TESTS(t, a_run_can_be_cancelled);
  FS_TESTS(t, memory_that_cannot_be_used_is_refused);
  FS_TESTS(t, what_has_gone_is_refused_and_what_is_held_is_not);
  FS_TESTS(t, a_heap_that_cannot_become_free_is_an_error);
  FS_TESTS(t, targets_options_and_kernels_that_are_wrong);
  FS_LOOPS(t, 0, WAYS, modules_are_opened_by_the_rules_of_trust);
  FS_TESTS(t, tags_of_a_manual_scope_give_no_order);
  FS_TESTS(t, predecessors_of_a_manual_scope_give_the_order);
  FS_TESTS(t, the_watchdog_tells_the_class_of_a_stall);
  FS_TESTS(t, the_watchdog_tells_of_a_full_heap);
  FS_TESTS(t, memory_may_run_out_anywhere);
}
