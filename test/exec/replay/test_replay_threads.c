/* SPDX-License-Identifier: Apache-2.0 */
/* Replay on the CPU with fewer threads than queues, down to none. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "fsched/replay.h"

#include "kit/replay_kit.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* Lets this process get no more threads; returns false where such a filter is refused. */
static bool refuse_threads(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {sizeof code / sizeof code[0], code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

START_TEST(no_thread_at_all)
{
  const char *fork = getenv("CK_FORK");
  if (SANITIZED || (fork != NULL && strcmp(fork, "no") == 0) || !refuse_threads()) {
    return; /* the leak checker needs a thread, and the filter stays until the process ends */
  }
  make_ping_pong(m, 4, 2);
  ck_assert_int_eq(replay(), FSCHED_SYSTEM);
  assert_diag("thread", "no thread could be started");
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
}
END_TEST

/* Every command waits for one on another queue, of the same thread or of another; a lost hand-over
 * would be stuck. */
START_TEST(few_threads_hand_over)
{
  enum { QUEUES = 16 };
  make_ping_pong(m, 48, QUEUES);
  options.repeat = SANITIZED ? 100 : 500;
  for (uint32_t threads = 1; threads <= 5; threads++) {
    options.threads = threads;
    options.check = threads % 2;
    options.empty_kernels = !options.check;
    assert_ok();
    ck_assert_uint_eq(result.commands, 48);
  }
  options.threads = 65537;
  ck_assert_int_eq(replay(), FSCHED_USAGE);
  assert_diag("replay-options", "'threads' is at most 65536, not 65537");
}
END_TEST

START_TEST(few_threads_are_watched)
{
  make_ping_pong(m, 6, 3);
  m->commands[2].signal = 0; /* q1, command 1, op1 */
  options.timeout_ms = 20;
  for (uint32_t threads = 1; threads <= 2; threads++) {
    options.threads = threads;
    ck_assert_int_eq(replay(), FSCHED_REPLAY);
    assert_diag("replay-stuck",
                "queue 'q2' is stuck at command 1 (op 'op2'): it waits for epoch 1 of 'q1', which "
                "has reached 0");
    ck_assert_uint_eq(fsched_diag_count(ctx), 3);
    fsched_diag_clear(ctx);
  }
}
END_TEST

static double number_after(const char *text, const char *key) {
  const char *at = strstr(text, key);
  ck_assert_msg(at != NULL, "no %s in %s", key, text);
  return strtod(at + strlen(key), NULL);
}

/* One thread runs both queues at their times: the second command begins before the first ends. */
START_TEST(one_thread_paces_two_queues)
{
  for (uint32_t q = 0; q < 2; q++) {
    (void)mk_queue(m, q == 0 ? "a" : "b");
    (void)mk_op(m, q == 0 ? "A" : "B");
  }
  for (uint32_t q = 0; q < 2; q++) {
    mk_run(m, q, q)->end = 1000;
  }
  options.check = 0;
  options.threads = 1;
  options.trace = 1;
  options.pace_ns = 300000;
  assert_ok();
  const char *a = strstr(result.trace_json, "\"ph\":\"X\"");
  const char *b = a == NULL ? NULL : strstr(a + 1, "\"ph\":\"X\"");
  ck_assert(a != NULL && b != NULL); /* in the order of queues */
  ck_assert_double_ge(number_after(a, "\"dur\":"), 300000.0);
  ck_assert_double_ge(number_after(b, "\"dur\":"), 300000.0);
  ck_assert_double_lt(number_after(b, "\"ts\":"),
                      number_after(a, "\"ts\":") + number_after(a, "\"dur\":"));
}
END_TEST

FS_SUITE(replay_threads, s) {
  TCase *t = fs_case(s, fs_test_replay);
  FS_TESTS(t, no_thread_at_all, few_threads_hand_over, few_threads_are_watched,
           one_thread_paces_two_queues);
}
