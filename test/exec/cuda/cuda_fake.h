/* SPDX-License-Identifier: Apache-2.0 */
/* The fake CUDA driver, for tests in C.  Its library lies beside the runner.  With
 * FS_TEST_CUDA=real in the environment the machine's own driver is used, and tests that need the
 * fake one are left out. */
#ifndef CUDA_FAKE_H
#define CUDA_FAKE_H

#include <check.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_cuda/fake.h"

typedef struct cuda_fake {
  char path[4096];
  fake_cuda_reset_fn *reset;
  fake_cuda_calls_fn *calls;
  fake_cuda_executed_fn *executed;
  fake_cuda_fault_fn *fault;
  fake_cuda_left_fn *left;
  fake_cuda_let_go_fn *let_go;
  fake_cuda_hanging_fn *hanging;
  fake_cuda_function_fn *function;
  fake_cuda_log_fn *log;
} cuda_fake;

static inline bool cuda_is_real(void) {
  const char *which = getenv("FS_TEST_CUDA");
  return which != NULL && strcmp(which, "real") == 0;
}

static inline void cuda_fake_symbol(void *library, const char *name, void *out) {
  void *address = dlsym(library, name);
  ck_assert_msg(address != NULL, "the fake driver lacks %s", name);
  memcpy(out, &address, sizeof address);
}

static inline void cuda_fake_load(cuda_fake *f) {
  ssize_t n = readlink("/proc/self/exe", f->path, sizeof f->path - 64);
  ck_assert_int_gt(n, 0);
  f->path[n] = '\0';
  (void)strcpy(strrchr(f->path, '/'), "/fake_cuda/libcuda.so.1");
  void *library = dlopen(f->path, RTLD_NOW | RTLD_LOCAL);
  ck_assert_msg(library != NULL, "%s", dlerror());
  cuda_fake_symbol(library, "fake_cuda_reset", &f->reset);
  cuda_fake_symbol(library, "fake_cuda_calls", &f->calls);
  cuda_fake_symbol(library, "fake_cuda_executed", &f->executed);
  cuda_fake_symbol(library, "fake_cuda_fault", &f->fault);
  cuda_fake_symbol(library, "fake_cuda_left", &f->left);
  cuda_fake_symbol(library, "fake_cuda_let_go", &f->let_go);
  cuda_fake_symbol(library, "fake_cuda_hanging", &f->hanging);
  cuda_fake_symbol(library, "fake_cuda_function", &f->function);
  cuda_fake_symbol(library, "fake_cuda_log", &f->log);
}

/* Checks that no call was wrong and that everything was given back. */
static inline void cuda_fake_clean(const cuda_fake *f) {
  ck_assert_str_eq(f->fault(), "");
  ck_assert_str_eq(f->left(), "");
}

#endif
