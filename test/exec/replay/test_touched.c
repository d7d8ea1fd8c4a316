/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a replay takes: the bytes that its commands touch, not what a stream of a few
 * hundred bytes declares; and how much memory the machine has. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec/host/kernel.h"
#include "exec/host/machine_memory.h"
#include "fsched/compile.h"
#include "fsched/graph.h"
#include "fsched/replay.h"
#include "kit/temp_dir.h"

#include "kit/context.h"

/* A sanitizer's shadow takes memory of its own, and its allocator ignores limits. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* The most memory that this process, which is the test's own, has used, in KiB. */
static uint64_t most_resident(void) {
  struct rusage usage;
  ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
  return (uint64_t)usage.ru_maxrss;
}

static fsched_program *compile(const char *text) {
  fsched_schedule *schedule;
  fsched_program *program;
  fsched_compile_options o = {.size = sizeof o};
  fsched_graph *graph = fs_parse(text);
  ck_assert_int_eq(fsched_compile(ctx, graph, &o, &schedule, &program), FSCHED_OK);
  fsched_schedule_destroy(schedule);
  fsched_graph_destroy(graph);
  return program;
}

/* 16 bytes of 2 GiB are read, written and kept of an input, an output and a state. */
static const char huge[] =
    "fsched: 1\n"
    "buffers:\n"
    "  - {name: i, size: 2GiB, io: input}\n"
    "  - {name: s, size: 2GiB, io: state}\n"
    "  - {name: o, size: 2GiB, io: output}\n"
    "ops:\n"
    "  - name: a\n"
    "    time: 1\n"
    "    args: [{in: i, at: [1073741829, 16]}, {inout: s, at: [24, 16]}, "
    "{out_existing: o, at: [7, 16]}]\n";

START_TEST(only_what_is_touched)
{
  static const char *const kinds[] = {"cpu", "sim"};
  enum { MOST_KIB = 256 << 10 };
  fsched_program *program = compile(huge);
  size_t size;
  (void)fsched_program_bytes(program, &size);
  ck_assert_uint_lt(size, 4096);
  fsched_device_options d = {
      .size = sizeof d, .kind = kinds[_i], .memory_limit = UINT64_C(1) << 40};
  fsched_replay_options o = {.size = sizeof o, .check = 1, .repeat = 3};
  fsched_replay_result result = {.size = sizeof result};
  uint64_t before = most_resident();
  ck_assert_int_eq(fsched_device_create(ctx, &d, &o.device), FSCHED_OK);
  fsched_status status = fsched_replay(ctx, program, &o, &result);
  ck_assert_msg(status == FSCHED_OK, "%s",
                fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "");
  ck_assert_uint_eq(result.checked_ops, 1);
  ck_assert_uint_eq(result.checked_bytes, 32);
  uint64_t after = most_resident();
  ck_assert_msg(SANITIZED || after < before + MOST_KIB, "%llu KiB before, %llu after",
                (unsigned long long)before, (unsigned long long)after);
  fsched_device_release(o.device);
  fsched_program_destroy(program);
}
END_TEST

/* A range has the same bytes as that part of the whole. */
START_TEST(ranges_are_of_the_whole)
{
  uint8_t whole[100], part[100];
  fs_fill_given("name", whole, sizeof whole);
  for (uint64_t begin = 0; begin <= sizeof whole; begin++) {
    for (uint64_t end = begin; end <= sizeof whole; end++) {
      memset(part, 0, sizeof part);
      fs_fill_given_range("name", part, begin, end);
      ck_assert(memcmp(part + begin, whole + begin, end - begin) == 0);
      for (uint64_t i = 0; i < sizeof part; i++) {
        ck_assert(part[i] == 0 || (i >= begin && i < end));
      }
    }
  }
}
END_TEST

/* A replay beyond the limit is refused, and the message has the need, the limit and its origin. */
START_TEST(limit_is_named)
{
  fsched_program *program = compile(huge);
  fsched_device_options d = {.size = sizeof d, .memory_limit = 1000000};
  fsched_replay_options o = {.size = sizeof o};
  ck_assert_int_eq(fsched_device_create(ctx, &d, &o.device), FSCHED_OK);
  ck_assert_int_eq(fsched_replay(ctx, program, &o, NULL), FSCHED_SYSTEM);
  const fsched_diag *diag = fsched_diag_get(ctx, 0);
  ck_assert_str_eq(diag->code, "replay-memory");
  ck_assert_ptr_nonnull(strstr(diag->message, "the limit is 1000000; the machine has "));
  ck_assert_ptr_nonnull(strstr(diag->hint, "--memory-limit"));
  fsched_device_release(o.device);
  fsched_program_destroy(program);
}
END_TEST

/* Without a limit of the caller's the machine's memory is the limit: here a limit of this process,
 * which is the test's own, makes that less than the stream needs. */
START_TEST(limit_is_the_machines)
{
  static const char *const kinds[] = {"cpu", "sim", NULL};
  struct rlimit most = {(rlim_t)1 << 30, (rlim_t)1 << 30};
  fsched_program *program = compile(
      "fsched: 1\n"
      "buffers: [{name: t, size: 8GiB}]\n"
      "ops: [{name: a, args: [{out: t}]}, {name: b, args: [{in: t}]}]\n");
  fsched_device_options d = {.size = sizeof d, .kind = kinds[_i]};
  fsched_replay_options o = {.size = sizeof o};
  char limit[100];
  ck_assert_int_eq(setrlimit(RLIMIT_DATA, &most), 0);
  (void)snprintf(limit, sizeof limit, "the limit is %llu; ",
                 (unsigned long long)fs_machine_memory());
  if (d.kind != NULL) { /* otherwise the replay uses its own device */
    ck_assert_int_eq(fsched_device_create(ctx, &d, &o.device), FSCHED_OK);
  }
  ck_assert_int_eq(fsched_replay(ctx, program, &o, NULL), FSCHED_SYSTEM);
  const char *message = fsched_diag_get(ctx, 0)->message;
  ck_assert_msg(strstr(message, limit) != NULL, "%s", message);
  fsched_device_release(o.device);
  fsched_program_destroy(program);
}
END_TEST

/* Machines */

static void make_file(const char *root, const char *path, const char *text) {
  char full[4096];
  (void)snprintf(full, sizeof full, "%s%s", root, path);
  for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
    *at = '\0';
    (void)mkdir(full, 0700);
    *at = '/';
  }
  FILE *f = fopen(full, "w");
  ck_assert_ptr_nonnull(f);
  fputs(text, f);
  fclose(f);
}

START_TEST(least_of_machine_and_groups)
{
  fs_temp_dir root;
  fs_temp_dir_make(root);
  uint64_t unknown = fs_machine_memory_at(root);
  ck_assert_uint_le(unknown, UINT64_C(1) << 36); /* this is less where the process has limits */
  make_file(root, "/proc/meminfo", "MemFree: 1 kB\nMemTotal:     64 kB\n");
  ck_assert_uint_eq(fs_machine_memory_at(root), 65536);
  make_file(root, "/proc/self/cgroup", "4:cpu,memory:/a/b\n0::/x/y/z\n");
  ck_assert_uint_eq(fs_machine_memory_at(root), 65536);
  make_file(root, "/sys/fs/cgroup/x/y/z/memory.max", "max\n");
  ck_assert_uint_eq(fs_machine_memory_at(root), 65536);
  make_file(root, "/sys/fs/cgroup/x/memory.max", "40960\n");
  ck_assert_uint_eq(fs_machine_memory_at(root), 40960);
  make_file(root, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "8192\n");
  ck_assert_uint_eq(fs_machine_memory_at(root), 8192);
  make_file(root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  ck_assert_uint_eq(fs_machine_memory_at(root), 8192);
  make_file(root, "/sys/fs/cgroup/memory.max", "4096\n");
  ck_assert_uint_eq(fs_machine_memory_at(root), 4096);
  fs_temp_dir_drop(root);
}
END_TEST

START_TEST(own_limits_count)
{
  struct rlimit limit;
  ck_assert_int_eq(getrlimit(RLIMIT_DATA, &limit), 0);
  limit.rlim_cur = (rlim_t)3 << 30;
  ck_assert_int_eq(setrlimit(RLIMIT_DATA, &limit), 0);
  ck_assert_uint_eq(fs_machine_memory_at("/no/such/root"), UINT64_C(3) << 30);
  ck_assert_uint_le(fs_machine_memory(), UINT64_C(3) << 30);
}
END_TEST

FS_SUITE(touched, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 2, only_what_is_touched);
  FS_TESTS(t, ranges_are_of_the_whole, limit_is_named, least_of_machine_and_groups);
  if (!SANITIZED) {
    FS_TESTS(t, own_limits_count);
    FS_LOOPS(t, 0, 3, limit_is_the_machines);
  }
}
