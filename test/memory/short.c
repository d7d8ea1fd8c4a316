/* SPDX-License-Identifier: Apache-2.0 */
/* A library, to be preloaded, that lets memory run out: it fails the SHORT_AT-th call by which a
 * program, or any library in it, asks for memory or for a thread, in any thread; with SHORT_ON also
 * all calls that follow.  SHORT_COUNT names a file into which the number of calls is written at the
 * end.  The driver in test/fake_cuda stands for a device: what it asks for is not counted and does
 * not fail, as its faults are errors of its calls. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* These are glibc's own names, so nothing has to be looked up before the first call. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t align, size_t size);

static atomic_ullong calls;
static unsigned long long fail_at; /* 0: no call fails, as before main */
static bool fail_on;

__attribute__((constructor)) static void begin(void) {
  const char *at = getenv("SHORT_AT");
  fail_on = getenv("SHORT_ON") != NULL;
  atomic_store(&calls, 0);
  fail_at = at == NULL ? 0 : strtoull(at, NULL, 10);
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("SHORT_COUNT");
  int fd = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd >= 0) {
    char text[32];
    int n = snprintf(text, sizeof text, "%llu\n", (unsigned long long)atomic_load(&calls));
    (void)!write(fd, text, (size_t)n);
    (void)close(fd);
  }
}

/* Is the caller at this address in the driver? */
static bool in_driver(const void *caller) {
  Dl_info found;
  return dladdr(caller, &found) != 0 && found.dli_fname != NULL &&
         strstr(found.dli_fname, "/fake_cuda/") != NULL;
}

static bool fails(const void *caller) {
  if (in_driver(caller)) {
    return false;
  }
  unsigned long long n = atomic_fetch_add(&calls, 1) + 1;
  return fail_at != 0 && (n == fail_at || (fail_on && n > fail_at));
}

#define FAILS() fails(__builtin_return_address(0))

static void *none(void) {
  errno = ENOMEM;
  return NULL;
}

void *malloc(size_t size) { return FAILS() ? none() : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return FAILS() ? none() : __libc_calloc(n, size); }
void *realloc(void *block, size_t size) { return FAILS() ? none() : __libc_realloc(block, size); }
void *memalign(size_t align, size_t size) {
  return FAILS() ? none() : __libc_memalign(align, size);
}
void *aligned_alloc(size_t align, size_t size) {
  return FAILS() ? none() : __libc_memalign(align, size);
}
int posix_memalign(void **out, size_t align, size_t size) {
  void *block = FAILS() ? NULL : __libc_memalign(align, size);
  if (block == NULL) {
    return ENOMEM;
  }
  *out = block;
  return 0;
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
  if (FAILS()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*main_of)(void *),
                   void *user) {
  static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (FAILS()) {
    return EAGAIN;
  }
  if (next == NULL) {
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&next, &found, sizeof next);
  }
  return next(thread, attr, main_of, user);
}
