/* SPDX-License-Identifier: Apache-2.0 */
/* How the driver's functions are found, and what is common to all calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda/fake_call.h"

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t fake_let_go_now = PTHREAD_COND_INITIALIZER;
object the_context;
static __attribute__((tls_model(
    "initial-exec"))) _Thread_local uint32_t entered; /* contexts on this thread's stack */

bool move_context(int by) {
  if (by < 0 && entered == 0) {
    return false;
  }
  entered += (uint32_t)by;
  return true;
}

static __attribute__((tls_model("initial-exec"))) _Thread_local uint32_t in_host;

bool in_host_function(int by) {
  in_host += (uint32_t)by;
  return in_host > 0;
}

void lock_driver(const char *name) {
  if (in_host_function(0)) {
    (void)fprintf(stderr, "%s: called by a function of the host\n", name);
    abort();
  }
  pthread_mutex_lock(&fake_lock);
}

static const driver_function *function_at(uint32_t i) {
  uint32_t n = 0;
  for (const driver_function *f = plain_functions; f->name != NULL; f++, n++) {
    if (n == i) {
      return f;
    }
  }
  for (const driver_function *f = graph_functions; f->name != NULL; f++, n++) {
    if (n == i) {
      return f;
    }
  }
  return NULL;
}

static uint32_t function_index(const char *name) {
  enum { MANY = 100 };
  if (fake.counts == NULL) {
    fake.counts = calloc(MANY, sizeof *fake.counts);
  }
  uint32_t i = 0;
  while (function_at(i) != NULL && strcmp(function_at(i)->name, name) != 0) {
    i++;
  }
  if (function_at(i) == NULL) {
    abort();
  }
  return i;
}

/* Counts a call, and returns the error with which it has to end. */
static result count_call(const char *name) {
  uint32_t i = function_index(name);
  fake.calls++;
  fake.counts[i]++;
  if (fake.controls.stub) {
    return STUB_LIBRARY;
  }
  bool all = strcmp(fake.fail, "*") == 0;
  uint64_t n = all ? fake.calls : fake.counts[i];
  bool named = all || strcmp(fake.fail, name) == 0;
  return named && n == fake.controls.fail_at ? fake.controls.fail_with : OK;
}

result begin_call(const char *name, bool in_context, bool executes) {
  result error = count_call(name);
  bool any_time = strcmp(name, "cuInit") == 0 || strncmp(name, "cuGetError", 10) == 0;
  if (error == OK && !fake.initialized && !any_time) {
    error = NOT_INITIALIZED;
  }
  if (error == OK && in_context && (entered == 0 || fake.retained == 0)) {
    note_fault("%s: no context is current", name);
    error = INVALID_CONTEXT;
  }
  return error == OK && executes ? fake.sticky : error;
}

/* Accepts only the exact version, so that no other signature is taken for it. */
__attribute__((visibility("default"))) result cuGetProcAddress_v2(const char *symbol, void **out,
                                                                  int version,
                                                                  unsigned long long flags,
                                                                  unsigned *status) {
  *out = NULL;
  const driver_function *f;
  for (uint32_t i = 0; (f = function_at(i)) != NULL && flags == 0; i++) {
    if (strcmp(f->name, symbol) == 0 && f->version == version && strcmp(fake.lacks, symbol) != 0 &&
        version <= fake.controls.version) {
      memcpy(out, &f->call, sizeof *out);
    }
  }
  if (status != NULL) {
    *status = *out == NULL;
  }
  return *out == NULL ? NOT_FOUND : OK;
}

__attribute__((visibility("default"))) uint64_t fake_cuda_calls(const char *name) {
  uint64_t n = strcmp(name, "*") == 0 ? 0 : function_index(name);
  return strcmp(name, "*") == 0 ? fake.calls : fake.counts[n];
}

__attribute__((visibility("default"))) const char *fake_cuda_function(uint32_t i) {
  const driver_function *f = function_at(i);
  return f == NULL ? NULL : f->name;
}
