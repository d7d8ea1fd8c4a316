/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/dynamic/process/serve.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/futex.h"
#include "exec/dynamic/process/message.h"

enum { GUARD_STACK = 64 << 10 };

static void ring_bell(const fs_worker_post *post) {
  const uint64_t one = 1;
  while (write(post->bell, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

_Noreturn void fs_worker_give_up(const fs_worker_post *post, const char *why) {
  fs_mailbox_say(fs_mapping_outbox(&post->mapping, post->worker), why);
  _exit(FS_WORKER_UNREADY);
}

_Noreturn void fs_worker_lack_kernel(const fs_worker_post *post, const char *why) {
  atomic_store_explicit(&fs_mapping_outbox(&post->mapping, post->worker)->ready, 2,
                        memory_order_release);
  fs_worker_give_up(post, why);
}

static bool fail_settle(const fs_worker_post *post, const char *what) {
  char text[FS_MAILBOX_TEXT];
  (void)snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
  fs_mailbox_say(fs_mapping_outbox(&post->mapping, post->worker), text);
  return false;
}

static void reset_signals(void) {
  sigset_t none;
  for (int number = 1; number < NSIG; number++) {
    struct sigaction a = {.sa_handler = SIG_DFL};
    (void)sigaction(number, &a, NULL); /* two cannot be changed, and some do not exist */
  }
  (void)sigemptyset(&none);
  (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
}

/* Workers are as many as there should be at work; libraries shall not multiply them. */
static void limit_threads(void) {
  static const char *const variables[] = {
      "OMP_NUM_THREADS",     "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",       "BLIS_NUM_THREADS",
      "NUMEXPR_NUM_THREADS", "GOTO_NUM_THREADS",     "VECLIB_MAXIMUM_THREADS"};
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
    (void)setenv(variables[i], "1", 0);
  }
}

/* Waits for the end of the host, and ends this process whatever it is at. */
static void *watch_host(void *user) {
  struct pollfd host = {(int)(intptr_t)user, POLLIN, 0};
  while (poll(&host, 1, -1) <= 0) {
  }
  _exit(0);
}

static bool start_guard(int host) {
  pthread_attr_t attr;
  pthread_t guard;
  sigset_t all, old;
  if (pthread_attr_init(&attr) != 0) {
    return false;
  }
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &old);
  bool started = pthread_attr_setstacksize(&attr, GUARD_STACK) == 0 &&
                 pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0 &&
                 pthread_create(&guard, &attr, watch_host, (void *)(intptr_t)host) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
  (void)pthread_attr_destroy(&attr);
  return started;
}

bool fs_worker_settle(const fs_worker_post *post) {
  assert(post->worker < post->mapping.at.n_workers);
  reset_signals();
  limit_threads();
  fs_descriptors_close_others(&post->bell, 1);
  if (!fs_mapping_confine(&post->mapping, post->worker)) {
    return fail_settle(post, "its memory cannot be confined");
  }
  int host = (int)syscall(SYS_pidfd_open, (pid_t)post->host, 0);
  if (host < 0) {
    return fail_settle(post, "no descriptor of its host");
  }
  if (getppid() != (pid_t)post->host) {
    _exit(0); /* it has ended meanwhile, and its id may be another process's */
  }
  return start_guard(host) || fail_settle(post, "no thread that watches its host");
}

static void answer(const fs_worker_post *post, uint32_t serial, fs_mailbox_end end, int value) {
  fs_mailbox_out *out = fs_mapping_outbox(&post->mapping, post->worker);
  atomic_store_explicit(&out->end, end, memory_order_relaxed);
  atomic_store_explicit(&out->answer, value, memory_order_relaxed);
  atomic_store_explicit(&out->serial, serial, memory_order_release);
  ring_bell(post);
}

static void run_message(const fs_worker_post *post, const fs_opened_kernels *kernels,
                        fs_message_room *room, uint32_t serial) {
  const fs_mailbox_in *in = fs_mapping_inbox(&post->mapping, post->worker);
  fs_started_member m;
  const char *wrong = fs_message_get(&post->mapping, in->message, in->bytes, room, &m);
  if (wrong != NULL) {
    fs_mailbox_say(fs_mapping_outbox(&post->mapping, post->worker), wrong);
    answer(post, serial, FS_MEMBER_REFUSED, 0);
    return;
  }
  answer(post, serial, FS_MEMBER_ANSWERED, fs_opened_kernel_run(kernels, &m));
}

_Noreturn void fs_worker_serve(fsched_context *ctx, const fs_worker_post *post,
                               const fs_opened_kernels *kernels) {
  assert(post->worker < post->mapping.at.n_workers);
  const fs_mailbox_in *in = fs_mapping_inbox(&post->mapping, post->worker);
  fs_message_room room;
  if (fs_message_room_make(ctx, &room) != FSCHED_OK) {
    fs_worker_give_up(post, "out of memory");
  }
  atomic_store_explicit(&fs_mapping_outbox(&post->mapping, post->worker)->ready, 1,
                        memory_order_release);
  ring_bell(post);
  for (uint32_t done = 0;;) {
    uint32_t now = atomic_load_explicit(&in->serial, memory_order_acquire);
    if (now == done) {
      fs_futex_wait_shared(&in->serial, done, UINT64_MAX);
    } else if (now == fs_mailbox_next(done)) {
      run_message(post, kernels, &room, now);
      done = now;
    } else {
      _exit(now == FS_MAILBOX_END ? 0 : FS_WORKER_DAMAGED);
    }
  }
}
