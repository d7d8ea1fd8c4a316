/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that kernels start get a stack for signals, too, so that an overflow of their own stack
 * can be reported.  Modules call pthread_create and thrd_create, and dynamic linkers look for these
 * in the program before they look in libraries; so the two functions here are called, which call
 * those of the system.  The new thread copies what it is to do from the stack of its creator, which
 * waits for that.  Sanitizers have such functions of their own, which are left alone. */
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <threads.h>

#include "cli/run/crash.h"

#if !defined(__has_feature)
#define __has_feature(x) 0
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

#define PUBLIC __attribute__((visibility("default")))

typedef struct thread_start {
  void *(*work)(void *);
  thrd_start_t task;
  void *user;
  sem_t copied;
} thread_start;

static thread_start copy_start(void *user) {
  thread_start *start = user, mine = *start;
  (void)sem_post(&start->copied);
  fs_crash_thread();
  return mine;
}

static void *begin_work(void *user) {
  thread_start mine = copy_start(user);
  return mine.work(mine.user);
}

static int begin_task(void *user) {
  thread_start mine = copy_start(user);
  return mine.task(mine.user);
}

static void wait_copied(thread_start *start, bool started) {
  while (started && sem_wait(&start->copied) != 0) {
    assert(errno == EINTR);
  }
  (void)sem_destroy(&start->copied);
}

/* Sets *function to the one of that name in the libraries; returns whether there is one. */
static bool find_next(const char *name, void *function, size_t size) {
  void *found = dlsym(RTLD_NEXT, name);
  assert(size == sizeof found);
  memcpy(function, &found, size); /* C has no conversion of the one to the other */
  return found != NULL;
}

PUBLIC int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*work)(void *), void *user) {
  int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  thread_start start = {.work = work, .user = user};
  if (!find_next("pthread_create", &next, sizeof next) || sem_init(&start.copied, 0, 0) != 0) {
    return EAGAIN;
  }
  int error = next(thread, attributes, begin_work, &start);
  wait_copied(&start, error == 0);
  return error;
}

PUBLIC int thrd_create(thrd_t *thread, thrd_start_t task, void *user) {
  int (*next)(thrd_t *, thrd_start_t, void *);
  thread_start start = {.task = task, .user = user};
  if (!find_next("thrd_create", &next, sizeof next) || sem_init(&start.copied, 0, 0) != 0) {
    return thrd_error;
  }
  int result = next(thread, begin_task, &start);
  wait_copied(&start, result == thrd_success);
  return result;
}

#endif
