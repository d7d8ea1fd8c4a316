/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of the host, where workers are processes: their tasks run in this process. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exec/dynamic/calls_program.h"
#include "exec/dynamic/forks.h"
#include "fsched/dynamic.h"

static int n_calls; /* of this process */
static int count_call(const fsched_kernel_call *call) {
  int said[2] = {(int)getpid(), ++n_calls};
  memcpy(call->args[call->n_args - 1].data, said, sizeof said);
  return 0;
}
static int die(const fsched_kernel_call *call) {
  (void)call;
  abort();
}
static fsched_kernel_fn find_count(void *user, const char *module, const char *function) {
  (void)user;
  (void)module;
  return strcmp(function, "die") == 0 ? die : count_call;
}

/* Two queues of the host, and one between them. */
static fsched_builder *host_target(void) {
  fsched_builder *b;
  fsched_memory_desc ddr = {.size = sizeof ddr, .name = "ddr"};
  ck_fs(ctx, fsched_builder_create(ctx, "hosts", &b));
  for (int q = 0; q < 3; q++) {
    char queue[] = {'q', (char)('0' + q), '\0'};
    fsched_queue_desc desc = {.size = sizeof desc,
                              .name = queue,
                              .queue_class = q == 1 ? "compute" : "host",
                              .host = q != 1};
    ck_fs(ctx, fsched_builder_queue(b, &desc, NULL));
  }
  ck_fs(ctx, fsched_builder_memory(b, &ddr, NULL));
  return b;
}

/* Submits a task that writes to memory of workers, which it returns, and follows the one before. */
static int *submit_count(fsched_dynamic *d, uint32_t callable, uint32_t *before) {
  void *at;
  uint32_t buffer;
  char name[] = {'b', (char)('0' + callable), '\0'};
  ck_fs(ctx, fsched_dynamic_memory(d, 2 * sizeof(int), &at));
  fsched_submit_import_desc i = {.size = sizeof i,
                                 .name = name,
                                 .bytes = 2 * sizeof(int),
                                 .io = FSCHED_IO_OUTPUT,
                                 .address = at};
  ck_fs(ctx, fsched_dynamic_import(d, &i, &buffer));
  fsched_submit_arg a[] = {arg(FSCHED_IN, *before), arg(FSCHED_OUT, buffer)};
  fsched_submit_task_desc t = {.size = sizeof t,
                               .callable = callable,
                               .args = callable == 0 ? a + 1 : a,
                               .n_args = callable == 0 ? 1 : 2};
  ck_fs(ctx, fsched_dynamic_task(d, &t, NULL));
  *before = buffer;
  return at;
}

/* What those of other queues, in their processes, do to other memory is lost.  _i: processes. */
START_TEST(host_tasks_run_in_this_process)
{
  static const char *const on[] = {"q0", "q1", "host", "compute", "q2"};
  enum { TASKS = sizeof on / sizeof on[0] };
  bool processes = _i == 1 && workers_fork();
  fsched_dynamic_options o = {.size = sizeof o,
                              .heap_bytes = 8192,
                              .memory_bytes = 4096,
                              .find = find_count,
                              .processes = processes};
  fsched_dynamic *d;
  ck_fs(ctx, fsched_dynamic_create(host_target(), &o, &d));
  for (int i = 0; i < TASKS; i++) {
    fsched_kernel_desc k = {.size = sizeof k, .module = "test", .function = "count"};
    fsched_submit_callable_desc c = {.size = sizeof c, .name = on[i], .kernel = &k, .on = on[i]};
    ck_fs(ctx, fsched_dynamic_callable(d, &c, NULL));
  }
  ck_fs(ctx, fsched_dynamic_open(d));
  int *said[TASKS], n_host = 0;
  uint32_t before = 0;
  for (uint32_t i = 0; i < TASKS; i++) {
    said[i] = submit_count(d, i, &before);
  }
  ck_fs(ctx, fsched_dynamic_close(d));
  ck_fs(ctx, fsched_dynamic_drain(d));
  for (int i = 0; i < TASKS; i++) {
    bool host = i % 2 == 0;
    n_host += host;
    ck_assert_int_eq(said[i][0] == (int)getpid(), host || !processes);
    ck_assert_int_eq(said[i][1], !processes ? i + 1 : host ? n_host : (i + 1) / 2);
  }
  ck_assert_int_eq(n_calls, processes ? n_host : TASKS);
  fsched_dynamic_destroy(d);
}
END_TEST

/* A task that no worker is left for is refused, and the run goes on. */
START_TEST(lost_workers_are_named)
{
  static const char *const function[] = {"die", "count"};
  fsched_dynamic_options o = {
      .size = sizeof o, .heap_bytes = 1024, .find = find_count, .processes = 1};
  fsched_dynamic *d;
  if (!workers_fork()) {
    return;
  }
  ck_fs(ctx, fsched_dynamic_create(host_target(), &o, &d));
  for (int i = 0; i < 2; i++) {
    fsched_kernel_desc k = {.size = sizeof k, .module = "test", .function = function[i]};
    fsched_submit_callable_desc c = {
        .size = sizeof c, .name = function[i], .kernel = &k, .on = "q1"};
    ck_fs(ctx, fsched_dynamic_callable(d, &c, NULL));
  }
  fsched_submit_task_desc t = {.size = sizeof t, .name = "doomed"};
  ck_fs(ctx, fsched_dynamic_open(d));
  ck_fs(ctx, fsched_dynamic_task(d, &t, NULL));
  ck_fs(ctx, fsched_dynamic_close(d));
  ck_assert_int_eq(fsched_dynamic_drain(d), FSCHED_REPLAY);
  ck_fs(ctx, fsched_dynamic_open(d));
  (void)fs_test_diags(ctx);
  t = (fsched_submit_task_desc){.size = sizeof t, .callable = 1};
  ck_assert_int_eq(fsched_dynamic_task(d, &t, NULL), FSCHED_REPLAY);
  ck_assert_str_eq(fs_test_diags(ctx),
                   "queue 'q1' has no worker any more: task 'doomed': its "
                   "worker has been killed by signal 6");
  ck_fs(ctx, fsched_dynamic_close(d));
  ck_fs(ctx, fsched_dynamic_drain(d));
  fsched_dynamic_destroy(d);
}
END_TEST

enum { BYTES_OF_WORKERS = 4096 };

/* Bytes of an allocator that gives no zeros. */
static void *give_dirty(void *user, void *memory, size_t old_size, size_t new_size) {
  (void)user;
  unsigned char *to = realloc(memory, new_size > 0 ? new_size : 1);
  if (new_size == 0) {
    free(to);
    return NULL;
  }
  if (to != NULL && new_size > old_size) {
    memset(to + old_size, 0xAB, new_size - old_size);
  }
  return to;
}

/* _i: processes; of a target with queues of the host alone they are threads, too. */
START_TEST(memory_of_workers_is_zero_at_first)
{
  fsched_context_options c = {.size = sizeof c, .reallocate = give_dirty};
  fsched_dynamic_options o = {
      .size = sizeof o, .heap_bytes = 1024, .memory_bytes = BYTES_OF_WORKERS, .processes = _i};
  fsched_queue_desc q = {.size = sizeof q, .name = "q", .host = _i};
  fsched_context *own;
  fsched_builder *b;
  fsched_dynamic *r;
  unsigned char *at;
  ck_assert_int_eq(fsched_context_create(&c, &own), FSCHED_OK);
  ck_fs(own, fsched_builder_create(own, "zero", &b));
  ck_fs(own, fsched_builder_queue(b, &q, NULL));
  ck_fs(own, fsched_dynamic_create(b, &o, &r));
  ck_fs(own, fsched_dynamic_open(r));
  ck_fs(own, fsched_dynamic_memory(r, BYTES_OF_WORKERS, (void **)&at));
  for (uint32_t i = 0; i < BYTES_OF_WORKERS; i++) {
    ck_assert_uint_eq(at[i], 0);
  }
  fsched_dynamic_destroy(r);
  fsched_context_destroy(own);
}
END_TEST

FS_SUITE(dynamic_hosts, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, lost_workers_are_named);
  FS_LOOPS(t, 0, 2, host_tasks_run_in_this_process, memory_of_workers_is_zero_at_first);
}
