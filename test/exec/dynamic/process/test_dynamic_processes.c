/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that are processes: what they are like, how they die, and what becomes of their tasks. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/dynamic/workers_kit.h"
#include "kit/context.h"
#include "kit/turn.h"

/* The kind of processes of a test's number. */
static worker_kind kind_of(int number) {
  return number % 2 == 0 && has_kind(FORKED) ? FORKED : SPAWNED;
}

static void finishes_with(fs_workers *w, const char *cause) {
  ck_assert_int_eq(fs_workers_finish(w), FSCHED_REPLAY);
  ck_assert_str_eq(fs_test_diags(ctx), cause);
}

static surroundings *look_at(fs_workers *w, uint32_t queue) {
  fs_dynamic_buffer b;
  surroundings *s = import_shared(w, sizeof *s, &b);
  ck_fs(ctx, submit_simple(w, "look", KERNEL_look_around, queue, FSCHED_OUT_EXISTING, b, 0));
  ck_fs(ctx, fs_workers_finish(w));
  return s;
}

/* Waits until a child has been waited for by the workers. */
static void await_buried(int32_t pid) {
  while (kill(pid, 0) == 0) {
    (void)sched_yield();
  }
}

/* A task whose worker dies fails with the cause, and so does who waits for it; the queue goes on
 * with a new worker, or without. */
START_TEST(deaths_have_causes)
{
  static const int how[] = {SIGKILL, SIGSEGV, DIES_BY_EXIT + 3, DIES_BY_EXIT};
  static const char *const cause[] = {"task 'doomed': its worker has been killed by signal 9",
                                      "task 'doomed': its worker has been killed by signal 11",
                                      "task 'doomed': its worker has exited with status 3",
                                      "task 'doomed': its worker has exited with status 0"};
  worker_kind kind = kind_of(_i);
  fs_workers *w = start_workers(kind, 1024);
  fs_dynamic_buffer bytes, counter;
  (void)import_shared(w, 8, &bytes);
  uint32_t *count = import_shared(w, sizeof *count, &counter);
  ck_fs(ctx, submit_simple(w, "doomed", KERNEL_die, 1, FSCHED_INOUT, bytes, how[_i / 2]));
  (void)submit_simple(w, "next", KERNEL_count_call, 0, FSCHED_INOUT, bytes, 0);
  finishes_with(w, cause[_i / 2]);
  ck_fs(ctx, submit_simple(w, "other", KERNEL_count_call, 0, FSCHED_INOUT, counter, 0));
  fs_status status = submit_simple(w, "again", KERNEL_count_call, 1, FSCHED_INOUT, counter, 0);
  ck_assert_int_eq(status, kind == FORKED ? FSCHED_REPLAY : FSCHED_OK);
  if (kind == FORKED) {
    const char *said = fs_test_diags(ctx);
    ck_assert_msg(strstr(said, "queue 1 has no worker any more: ") == said &&
                      strstr(said, cause[_i / 2]) != NULL,
                  "%s", said);
  }
  ck_fs(ctx, fs_workers_finish(w));
  ck_assert_uint_eq(*count, kind == FORKED ? 1 : 2);
  fs_workers_destroy(w);
}
END_TEST

/* An idle worker that dies is replaced where it was spawned. */
START_TEST(idle_deaths)
{
  fs_workers *w = start_workers(SPAWNED, 1024);
  int32_t first = look_at(w, 1)->pid;
  ck_assert_int_eq(kill(first, SIGKILL), 0);
  await_buried(first);
  int32_t second = look_at(w, 1)->pid;
  ck_assert_int_ne(first, second);
  ck_assert_int_ne(second, getpid());
  fs_workers_destroy(w);
}
END_TEST

/* Once a forked worker is gone, what waits and needs it fails, and the rest goes on. */
START_TEST(what_none_can_run_fails)
{
  if (!has_kind(FORKED)) {
    return;
  }
  fs_workers *w = start_workers(FORKED, 1024);
  int32_t victim = look_at(w, 1)->pid;
  fs_dynamic_buffer word, after, counter;
  _Atomic uint32_t *go = import_shared(w, sizeof *go, &word);
  (void)import_shared(w, 8, &after);
  uint32_t *count = import_shared(w, sizeof *count, &counter);
  ck_fs(ctx, submit_simple(w, "holds", KERNEL_wait_for_word, 0, FSCHED_INOUT, word, 0));
  fs_dynamic_arg a[2] = {{.tag = FSCHED_INOUT, .buffer = after},
                         {.tag = FSCHED_IN, .buffer = word}};
  fs_dynamic_member m[2] = {{2, a}, {0, NULL}};
  fs_workers_task group = {
      .name = "group", .submission = {.n_members = 2, .member = m}, .kernel = KERNEL_count_call};
  fs_dynamic_task t;
  ck_fs(ctx, fs_workers_submit(w, &group, &t)); /* of class 0, which then has one worker */
  ck_fs(ctx, submit_simple(w, "named", KERNEL_count_call, 1, FSCHED_INOUT, word, 0));
  ck_fs(ctx, submit_simple(w, "other", KERNEL_count_call, 2, FSCHED_INOUT, counter, 0));
  ck_assert_int_eq(kill(victim, SIGKILL), 0);
  await_buried(victim);
  ck_assert_int_eq(submit_simple(w, "late", KERNEL_count_call, 2, FSCHED_INOUT, counter, 0),
                   FSCHED_REPLAY);
  ck_assert_str_eq(fs_test_diags(ctx), "the worker of queue 1 has been killed by signal 9");
  *go = 1;
  finishes_with(w, "the worker of queue 1 has been killed by signal 9");
  ck_assert_uint_eq(*count, 1);
  ck_assert_uint_eq(*go, 1); /* "named" would have counted */
  ck_assert_int_eq(submit_simple(w, "named", KERNEL_count_call, 1, FSCHED_INOUT, word, 0),
                   FSCHED_REPLAY);
  ck_assert_str_eq(fs_test_diags(ctx),
                   "queue 1 has no worker any more: the worker of queue 1 has "
                   "been killed by signal 9");
  ck_assert_int_eq(fs_workers_submit(w, &group, &t), FSCHED_REPLAY);
  ck_assert_str_eq(fs_test_diags(ctx),
                   "2 members need a worker each, and the class of queue 1 has "
                   "1 left: the worker of queue 1 has been killed by signal 9");
  ck_fs(ctx, fs_workers_finish(w)); /* that is a failure of no run */
  fs_workers_destroy(w);
}
END_TEST

enum { KILLS = 10 };

/* Workers are killed at random points of random programs: all bytes are right, or an error says
 * what has happened; with new workers the next program goes well. */
START_TEST(killed_at_random)
{
  worker_kind kind = kind_of(_i);
  fs_rng rng = {fs_turn() * 32 + (uint64_t)_i};
  fs_workers *w = NULL;
  uint32_t failed = 0;
  for (uint32_t n = 0; n < KILLS; n++) {
    if (w == NULL) {
      w = start_workers(kind, 1 << 20);
    }
    plain_program p;
    begin_plain(&p, w);
    p.victim = look_at(w, fs_rng_below(&rng, QUEUES))->pid;
    p.kill_at = 1 + fs_rng_below(&rng, 100);
    fs_status submitted = submit_random(&p, &rng, 100);
    fs_status finished = fs_workers_finish(w);
    if (submitted == FSCHED_OK && finished == FSCHED_OK) {
      ck_plain(&p);
    } else {
      failed++;
      ck_assert_ptr_nonnull(strstr(fs_test_diags(ctx), "worker"));
    }
    if (kind == FORKED) {
      fs_workers_destroy(w);
      w = NULL;
    } else {
      await_buried(p.victim);
      begin_plain(&p, w);
      ck_fs(ctx, submit_random(&p, &rng, 100));
      ck_fs(ctx, fs_workers_finish(w));
      ck_plain(&p);
    }
  }
  ck_assert_uint_gt(failed, 0);
  fs_workers_destroy(w);
}
END_TEST

/* ---- what is left */

static uint32_t count_descriptors(void) {
  DIR *d = opendir("/proc/self/fd");
  ck_assert_ptr_nonnull(d);
  uint32_t n = 0;
  while (readdir(d) != NULL) {
    n++;
  }
  (void)closedir(d);
  return n;
}

/* Descriptors, and mappings of shared memory, of this process. */
static uint32_t count_kept(void) {
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "r");
  ck_assert_ptr_nonnull(maps);
  uint32_t n = 0;
  while (fgets(line, sizeof line, maps) != NULL) {
    n += strstr(line, "memfd:") != NULL;
  }
  (void)fclose(maps);
  return n + count_descriptors();
}

START_TEST(nothing_is_left)
{
  uint32_t before = count_kept();
  for (uint32_t n = 0; n < 3; n++) {
    fs_workers *w = start_workers(kind_of(_i), 1024);
    fs_dynamic_buffer b;
    (void)import_shared(w, 8, &b);
    ck_assert_uint_gt(count_kept(), before + 4);
    ck_fs(ctx, submit_simple(w, "t", KERNEL_die, n, FSCHED_INOUT, b, SIGKILL));
    ck_assert_int_eq(fs_workers_finish(w), FSCHED_REPLAY);
    fs_workers_destroy(w);
    ck_assert_uint_eq(count_kept(), before);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
  }
}
END_TEST

/* The same where workers cannot begin. */
START_TEST(bad_beginnings)
{
  static const fs_task_kernel wrong = {.module = "/nowhere/kernels.so", .name = "f"};
  uint32_t before = count_kept();
  fs_workers *w;
  fs_workers_options o = worker_options(SPAWNED, 1024);
  o.process.program = "/nowhere/fsched-worker";
  ck_assert_int_eq(fs_workers_create(ctx, &o, &w), FSCHED_SYSTEM);
  ck_assert_str_eq(
      fs_test_diags(ctx),
      "no process for a worker could be started: /nowhere/fsched-worker: No such file or "
      "directory");
  o = worker_options(SPAWNED, 1024);
  o.n_kernels = 1;
  o.kernel = &wrong;
  for (int spawns = 1; spawns >= 0; spawns--) {
    o.process.spawns = spawns == 1;
    ck_assert_int_eq(fs_workers_create(ctx, &o, &w), FSCHED_REPLAY);
    ck_assert_ptr_nonnull(strstr(fs_test_diags(ctx), "cannot open module '/nowhere/kernels.so'"));
  }
  ck_assert_ptr_null(w);
  (void)fs_test_diags(ctx);
  ck_assert_uint_eq(count_kept(), before);
  ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

/* ---- what they are like */

static void ignore_signal(int number) { (void)number; }

START_TEST(settled)
{
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  ck_assert_int_eq(setenv("OMP_NUM_THREADS", "3", 1), 0);
  ck_assert_int_eq(unsetenv("OPENBLAS_NUM_THREADS"), 0);
  sigset_t mask;
  (void)sigemptyset(&mask);
  (void)sigaddset(&mask, SIGUSR1);
  ck_assert_int_eq(sigprocmask(SIG_BLOCK, &mask, NULL), 0);
  ck_assert(signal(SIGUSR2, ignore_signal) != SIG_ERR && signal(SIGPIPE, SIG_IGN) != SIG_ERR);
  fs_workers *w = start_workers(kind_of(_i), 1024);
  for (uint32_t q = 0; q < QUEUES; q++) {
    const surroundings *s = look_at(w, q);
    ck_assert_int_eq(s->parent, getpid());
    ck_assert_int_ne(s->pid, getpid());
    ck_assert_uint_eq(s->n_files, 0);
    ck_assert_uint_eq(s->n_handlers, 0);
    ck_assert_str_eq(s->omp, "3");
    ck_assert_str_eq(s->openblas, "1");
  }
  fs_workers_destroy(w);
}
END_TEST

/* Workers reach nothing but what is shared. */
START_TEST(private_imports)
{
  uint8_t own[64];
  fs_dynamic_buffer b;
  fs_workers *w = start_workers(kind_of(_i), 1024);
  uint8_t *at = import_shared(w, 64, &b);
  const uint8_t *const wrong[] = {own, at - 1, at + 1, at + 64};
  for (uint32_t i = 0; i < 4; i++) {
    ck_assert_int_eq(fs_workers_import(w, (void *)(uintptr_t)wrong[i], 64, true, true, &b),
                     FSCHED_BAD_INPUT);
    ck_assert_str_eq(fs_test_diags(ctx),
                     "imported memory of worker processes lies outside of what they share");
  }
  ck_assert_int_eq(fs_workers_memory(w, SHARED_SIZE, &at), FSCHED_INFEASIBLE);
  ck_assert_str_eq(fs_test_diags(ctx),
                   "1048576 bytes of shared memory are needed, and 1048512 of "
                   "1048576 are left");
  ck_fs(ctx, fs_workers_memory(w, SHARED_SIZE - 64, &at));
  fs_workers_destroy(w);
}
END_TEST

static void *wait_for_go(void *user) {
  (void)pthread_mutex_lock(user);
  (void)pthread_mutex_unlock(user);
  return NULL;
}

/* Beside a second thread nothing is forked. */
START_TEST(with_threads)
{
  pthread_mutex_t go = PTHREAD_MUTEX_INITIALIZER;
  pthread_t other;
  (void)pthread_mutex_lock(&go);
  ck_assert_int_eq(pthread_create(&other, NULL, wait_for_go, &go), 0);
  fs_workers *w;
  fs_workers_options o = worker_options(FORKED, 1024);
  ck_assert_int_eq(fs_workers_create(ctx, &o, &w), FSCHED_USAGE);
  ck_assert_str_eq(fs_test_diags(ctx),
                   "kernel 0 is a function of the application, which only forked workers have");
  o = worker_options(SPAWNED, 1024);
  o.process.spawns = false;
  ck_fs(ctx, fs_workers_create(ctx, &o, &w));
  int32_t pid = look_at(w, 0)->pid;
  ck_assert_int_eq(kill(pid, SIGKILL), 0);
  await_buried(pid);
  (void)look_at(w, 0); /* there is a new one, so it was spawned */
  fs_workers_destroy(w);
  (void)pthread_mutex_unlock(&go);
  ck_assert_int_eq(pthread_join(other, NULL), 0);
}
END_TEST

/* What a worker writes into its mailbox costs nobody but its own task; it cannot write others'. */
START_TEST(hostile_workers)
{
  static const char damaged[] = "task 'bad': its worker has damaged its mailbox",
                    killed[] = "task 'bad': its worker has been killed by signal 11";
  const char *const cause[SCRIBBLES] = {damaged, damaged, killed};
  fs_workers *w = start_workers(kind_of(_i), 1024);
  fs_dynamic_buffer b, counter;
  (void)import_shared(w, 8, &b);
  uint32_t *count = import_shared(w, sizeof *count, &counter);
  ck_fs(ctx, submit_simple(w, "bad", KERNEL_scribble, 1, FSCHED_INOUT, b, _i / 2));
  finishes_with(w, cause[_i / 2]);
  ck_fs(ctx, submit_simple(w, "t", KERNEL_count_call, 0, FSCHED_INOUT, counter, 0));
  ck_fs(ctx, submit_simple(w, "t", KERNEL_count_call, 2, FSCHED_INOUT, counter, 0));
  ck_fs(ctx, fs_workers_finish(w));
  ck_assert_uint_eq(*count, 2);
  fs_workers_destroy(w);
}
END_TEST

START_TEST(large_messages)
{
  fs_workers *w = start_workers(kind_of(_i), 1024);
  fs_dynamic_buffer counter;
  uint32_t *count = import_shared(w, sizeof *count, &counter);
  fs_task_value *values = calloc(7000, sizeof *values);
  for (uint32_t i = 0; i < 7000; i++) {
    values[i] = (fs_task_value){0, i + 1, 0};
  }
  fs_dynamic_arg a = {.tag = FSCHED_INOUT, .buffer = counter};
  fs_dynamic_member m = {1, &a};
  fs_workers_task task = {.name = "many",
                          .submission = {.n_members = 1, .member = &m},
                          .kernel = KERNEL_look_around,
                          .n_values = 7000,
                          .value = values};
  fs_dynamic_task t;
  ck_assert_int_eq(fs_workers_submit(w, &task, &t), FSCHED_INFEASIBLE);
  ck_assert_ptr_nonnull(strstr(fs_test_diags(ctx), "and a mailbox 196608"));
  task.n_values = 6000;
  task.kernel = KERNEL_fail_call;
  ck_fs(ctx, fs_workers_submit(w, &task, &t));
  finishes_with(w, "task 'many' has returned 7");
  ck_assert_uint_eq(*count, 0);
  free(values);
  fs_workers_destroy(w);
}
END_TEST

/* ---- the host is killed */

typedef struct doomed_host {
  worker_kind kind;
  bool busy; /* its workers are at something without end */
  int to;    /* where the ids of its workers go */
} doomed_host;

static void *start_and_tell(void *user) {
  const doomed_host *h = user;
  fs_workers *w = start_workers(h->kind, 1024);
  int32_t pid[QUEUES];
  for (uint32_t q = 0; q < QUEUES; q++) {
    pid[q] = look_at(w, q)->pid;
  }
  for (uint32_t q = 0; q < QUEUES; q++) {
    fs_dynamic_buffer word;
    (void)import_shared(w, 8, &word);
    if (h->busy) {
      ck_fs(ctx, submit_simple(w, "endless", KERNEL_wait_for_word, q, FSCHED_INOUT, word, 0));
    }
  }
  ck_assert_int_eq(write(h->to, pid, sizeof pid), sizeof pid);
  return NULL;
}

/* The host, whose workers are made by its first thread or by one that has ended. */
static _Noreturn void be_doomed(doomed_host *h) {
  if (h->kind == FORKED) {
    (void)start_and_tell(h);
  } else {
    pthread_t maker;
    ck_assert_int_eq(pthread_create(&maker, NULL, start_and_tell, h), 0);
    (void)pthread_join(maker, NULL);
  }
  for (;;) {
    (void)pause();
  }
}

/* Whose orphans become children of this process, by which their end is seen. */
START_TEST(the_host_is_killed)
{
  int ends[2];
  doomed_host h = {.kind = kind_of(_i), .busy = _i / 2 % 2 == 0};
  int32_t pid[QUEUES];
  ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
  ck_assert_int_eq(pipe(ends), 0);
  h.to = ends[1];
  pid_t host = fork();
  if (host == 0) {
    be_doomed(&h);
  }
  ck_assert_int_eq(read(ends[0], pid, sizeof pid), sizeof pid);
  for (uint32_t q = 0; q < QUEUES; q++) {
    ck_assert_int_eq(kill(pid[q], 0), 0);
  }
  ck_assert_int_eq(kill(host, SIGKILL), 0);
  ck_assert_int_eq(waitpid(host, NULL, 0), host);
  for (uint32_t q = 0; q < QUEUES; q++) {
    ck_assert_int_eq(waitpid(pid[q], NULL, 0), pid[q]);
  }
  ck_assert_int_eq(waitpid(-1, NULL, 0), -1);
}
END_TEST

/* A child in which a kernel of a worker returns ends there, and answers nobody; the program that is
 * a worker says so. */
START_TEST(a_child_returns)
{
  worker_kind kind = kind_of(_i);
  FILE *said = tmpfile();
  int old = dup(STDERR_FILENO);
  char text[300] = "";
  ck_assert_ptr_nonnull(said);
  ck_assert_int_ge(dup2(fileno(said), STDERR_FILENO), 0);
  fs_workers *w = start_workers(kind, 1024);
  fs_dynamic_buffer bytes, counter;
  const int *status = import_shared(w, sizeof *status, &bytes);
  uint32_t *count = import_shared(w, sizeof *count, &counter);
  ck_fs(ctx, submit_simple(w, "parent", KERNEL_fork_child, 1, FSCHED_INOUT, bytes, 0));
  ck_fs(ctx, submit_simple(w, "next", KERNEL_count_call, 1, FSCHED_INOUT, counter, 0));
  fs_status finished = fs_workers_finish(w);
  ck_assert_int_ge(dup2(old, STDERR_FILENO), 0);
  (void)close(old);
  ck_fs(ctx, finished);
  ck_assert(WIFEXITED(*status) && WEXITSTATUS(*status) == FSCHED_REPLAY);
  ck_assert_uint_eq(*count, 1);
  fs_workers_destroy(w);
  rewind(said);
  (void)!fread(text, 1, sizeof text - 1, said);
  (void)fclose(said);
  ck_assert_str_eq(
      text, kind == FORKED ? ""
                           : "fsched-worker: error: task 'parent': its kernel returned in a child "
                             "process made by fork, which ends here [replay-failed]\n");
}
END_TEST

FS_SUITE(dynamic_processes, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 8, deaths_have_causes);
  FS_LOOPS(t, 0, 20, killed_at_random, the_host_is_killed);
  FS_LOOPS(t, 0, 2, a_child_returns, nothing_is_left, settled, private_imports, large_messages);
  FS_LOOPS(t, 0, 2 * SCRIBBLES, hostile_workers);
  FS_TESTS(t, idle_deaths, what_none_can_run_fails, bad_beginnings, with_threads);
}
