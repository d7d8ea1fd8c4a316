/* SPDX-License-Identifier: Apache-2.0 */
/* Callables that are gangs on any queues of a class, in dynamic runs. */
#include <semaphore.h>

#include "exec/dynamic/calls/private.h"
#include "exec/dynamic/calls_program.h"

#include "kit/context.h"

static fsched_dynamic *d;
static sem_t may_end;

/* Counts its calls, and waits. */
static int count_late(const fsched_kernel_call *call) {
  ++*(uint8_t *)call->args[0].data;
  return sem_wait(&may_end);
}

static fsched_kernel_fn find(void *user, const char *module, const char *function) {
  (void)user;
  (void)module;
  (void)function;
  return count_late;
}

enum { MIX, GANG };

static void gangs_begin(void) {
  fs_test_begin();
  fsched_dynamic_options o = {
      .size = sizeof o, .heap_bytes = 8192, .memory_bytes = 4096, .find = find};
  fsched_kernel_desc k = {.size = sizeof k, .module = "test", .function = "count_late"};
  fsched_submit_callable_desc mix = {.size = sizeof mix, .name = "mix"};
  fsched_submit_callable_desc gang = {
      .size = sizeof gang, .name = "gang", .kernel = &k, .gang_class = "compute", .gang_count = 2};
  ck_fs(ctx, fsched_dynamic_create(two_queues(ctx), &o, &d));
  ck_fs(ctx, fsched_dynamic_callable(d, &mix, NULL));
  ck_fs(ctx, fsched_dynamic_callable(d, &gang, NULL));
  ck_fs(ctx, fsched_dynamic_open(d));
  ck_assert_int_eq(sem_init(&may_end, 0, 0), 0);
}

static void gangs_end(void) {
  fsched_dynamic_destroy(d);
  (void)sem_destroy(&may_end);
  fs_test_end();
}

static void gangs_fixture(TCase *t) { tcase_add_checked_fixture(t, gangs_begin, gangs_end); }

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

static fs_status task(uint32_t callable, fsched_submit_arg a) {
  fsched_submit_task_desc t = {.size = sizeof t, .callable = callable, .args = &a, .n_args = 1};
  return fsched_dynamic_task(d, &t, NULL);
}

typedef struct task_look {
  fs_dynamic_task task;
  fs_dynamic_state state;
} task_look;

static void look_at_task(void *user, fs_dynamic *e) {
  task_look *look = user;
  look->state = fs_dynamic_task_get(e, look->task).state;
}

/* It is called once, and keeps other tasks from all its queues. */
START_TEST(a_gang_takes_its_queues)
{
  uint8_t *memory = memory_of(2 * BYTES);
  uint32_t count, other;
  ck_fs(ctx, import("count", memory, FSCHED_IO_STATE, &count));
  ck_fs(ctx, import("other", memory + BYTES, FSCHED_IO_OUTPUT, &other));
  for (int run = 1; run < 4; run++) {
    ck_fs(ctx, task(GANG, arg(FSCHED_INOUT, count)));
    ck_fs(ctx, task(MIX, arg(FSCHED_OUT, other)));
    task_look gang = {.task = d->task.at[d->task.n - 2]},
              next = {.task = d->task.at[d->task.n - 1]};
    fs_workers_inspect(d->workers, look_at_task, &gang);
    fs_workers_inspect(d->workers, look_at_task, &next);
    ck_assert_int_eq(gang.state, FS_TASK_RUNNING);
    ck_assert_int_eq(next.state, FS_TASK_READY);
    ck_assert_int_eq(sem_post(&may_end), 0);
    ck_fs(ctx, fsched_dynamic_drain(d));
    ck_assert_uint_eq(memory[0], run);
  }
}
END_TEST

/* Members of a group are on any queues of its callable's gang, all at once. */
START_TEST(a_group_has_a_gang)
{
  uint8_t *memory = memory_of(2 * BYTES);
  uint32_t id[2];
  ck_fs(ctx, import("a", memory, FSCHED_IO_STATE, &id[0]));
  ck_fs(ctx, import("b", memory + BYTES, FSCHED_IO_STATE, &id[1]));
  fsched_submit_arg a[] = {arg(FSCHED_INOUT, id[0]), arg(FSCHED_INOUT, id[1])};
  const fsched_submit_member members[] = {{&a[0], 1}, {&a[1], 1}};
  fsched_submit_group_desc g = {
      .size = sizeof g, .callable = GANG, .members = members, .n_members = 2};
  ck_fs(ctx, fsched_dynamic_group(d, &g, NULL));
  ck_assert_int_eq(sem_post(&may_end), 0);
  ck_assert_int_eq(sem_post(&may_end), 0);
  ck_fs(ctx, fsched_dynamic_drain(d));
  ck_assert_uint_eq(memory[0], 1);
  ck_assert_uint_eq(memory[BYTES], 1);
  g.n_members = 1;
  ck_assert_int_eq(fsched_dynamic_group(d, &g, NULL), FSCHED_BAD_INPUT);
  ck_assert_str_eq(fs_test_diags(ctx),
                   "task 'gang#1' has 1 member, and the gang of its callable 2");
}
END_TEST

FS_SUITE(dynamic_gangs, s) {
  TCase *t = fs_case(s, gangs_fixture);
  FS_TESTS(t, a_gang_takes_its_queues, a_group_has_a_gang);
}
