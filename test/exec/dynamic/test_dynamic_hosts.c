/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of the host, where workers are processes: their tasks run in this process. */
#include <stdio.h>
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

/* ---- spawned workers, which do not have this program's functions */

static fsched_status add_callable(fsched_dynamic *d, const char *name, const char *on,
                                  const char *function) {
  fsched_kernel_desc k = {.size = sizeof k, .module = "test", .function = function};
  fsched_submit_callable_desc c = {
      .size = sizeof c, .name = name, .kernel = function == NULL ? NULL : &k, .on = on};
  return fsched_dynamic_callable(d, &c, NULL);
}

static fsched_dynamic *start_spawned(void) {
  static char program[4096];
  fsched_dynamic_options o = {.size = sizeof o,
                              .heap_bytes = 8192,
                              .memory_bytes = 4096,
                              .find = find_count,
                              .processes = 1,
                              .spawn = 1,
                              .worker = beside_runner("../fsched-worker", program)};
  fsched_dynamic *d;
  ck_fs(ctx, fsched_dynamic_create(host_target(), &o, &d));
  return d;
}

/* Between two functions of this program, on a queue and on a class of the host, a process runs a
 * built-in kernel. */
START_TEST(functions_of_this_program_beside_spawned_workers)
{
  fsched_dynamic *d = start_spawned();
  ck_fs(ctx, add_callable(d, "on a queue", "q0", "count"));
  ck_fs(ctx, add_callable(d, "built in", "q1", NULL));
  ck_fs(ctx, add_callable(d, "on a class", "host", "count"));
  ck_fs(ctx, fsched_dynamic_open(d));
  uint32_t before = 0;
  const int *first = submit_count(d, 0, &before), *mixed = submit_count(d, 1, &before),
            *last = submit_count(d, 2, &before);
  fsched_submit_arg in = arg(FSCHED_IN, before);
  fsched_submit_task_desc t = {
      .size = sizeof t, .name = "away", .on = "q1", .args = &in, .n_args = 1};
  ck_assert_int_eq(fsched_dynamic_task(d, &t, NULL), FSCHED_BAD_INPUT);
  ck_assert_str_eq(fs_test_diags(ctx),
                   "task 'away': its kernel is a function of the application, and the worker of "
                   "queue 'q1' was spawned");
  t.on = "compute";
  ck_assert_int_eq(fsched_dynamic_task(d, &t, NULL), FSCHED_BAD_INPUT);
  (void)fs_test_diags(ctx);
  ck_fs(ctx, fsched_dynamic_close(d));
  ck_fs(ctx, fsched_dynamic_drain(d));
  ck_assert_int_eq(first[0], (int)getpid());
  ck_assert_int_eq(last[0], (int)getpid());
  ck_assert(mixed[0] != 0 && mixed[0] != (int)getpid());
  ck_assert_int_eq(n_calls, 2);
  fsched_dynamic_destroy(d);
}
END_TEST

START_TEST(functions_that_spawned_workers_would_need)
{
  fsched_dynamic *d = start_spawned();
  ck_fs(ctx, add_callable(d, "on a queue", "q0", "count"));
  ck_fs(ctx, add_callable(d, "away", "q1", "count"));
  ck_assert_int_eq(fsched_dynamic_open(d), FSCHED_USAGE);
  ck_assert_str_eq(fs_test_diags(ctx),
                   "kernel 1 is a function of the application, which only forked workers have");
  fsched_dynamic_destroy(d);
}
END_TEST

/* _i: the op of the function is not on the host, but on a queue, or on a class. */
START_TEST(functions_of_programs_beside_spawned_workers)
{
  static const char text[] =
      "fsched: 1\n"
      "target: {queues: [{name: h, class: host, host: true}, {name: q}, {name: p}]}\n"
      "buffers: [{name: a, size: 8}, {name: b, size: 8, io: output}]\n"
      "ops:\n"
      "  - {name: x, on: %s, kernel: {module: m, function: count}, args: [{out: a}]}\n"
      "  - {name: y, on: p, args: [{in: a}, {out: b}]}\n";
  static const char *const on[] = {"h", "host", "q", "compute"};
  char graph[512], worker[4096];
  fsched_graph *g;
  fsched_program *program;
  (void)snprintf(graph, sizeof graph, text, on[_i]);
  ck_fs(ctx, fsched_graph_parse(ctx, "hosts", graph, strlen(graph), NULL, &g));
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &program));
  fsched_device_options device = {.size = sizeof device,
                                  .kind = "dynamic",
                                  .find = find_count,
                                  .processes = 1,
                                  .spawn = 1,
                                  .worker = beside_runner("../fsched-worker", worker)};
  fsched_replay_options o = {.size = sizeof o};
  fsched_replay_result result = {.size = sizeof result};
  ck_fs(ctx, fsched_device_create(ctx, &device, &o.device));
  fs_status status = fsched_replay(ctx, program, &o, &result);
  if (_i < 2) {
    ck_fs(ctx, status);
    ck_assert_int_eq(n_calls, 1);
  } else {
    ck_assert_int_eq(status, FSCHED_USAGE);
    ck_assert_str_eq(fs_test_diags(ctx),
                     "kernel 'count' is a function of the application, which "
                     "only forked workers have");
    ck_assert_int_eq(n_calls, 0);
  }
  fsched_device_release(o.device);
  fsched_program_destroy(program);
  fsched_graph_destroy(g);
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
  FS_TESTS(t, lost_workers_are_named, functions_of_this_program_beside_spawned_workers,
           functions_that_spawned_workers_would_need);
  FS_LOOPS(t, 0, 4, functions_of_programs_beside_spawned_workers);
  FS_LOOPS(t, 0, 2, host_tasks_run_in_this_process, memory_of_workers_is_zero_at_first);
}
