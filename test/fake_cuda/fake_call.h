/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver's functions have in common, and the tables in which they are found. */
#ifndef FAKE_CUDA_CALL_H
#define FAKE_CUDA_CALL_H

#include <pthread.h>

#include "fake_cuda/fake_private.h"

typedef unsigned long long address;

/* The version from which a function has the signature used here; before, it had another one. */
typedef struct driver_function {
  const char *name;
  int version;
  void (*call)(void);
} driver_function;
#define F(name, version) \
  { #name, version, (void (*)(void))name }
extern const driver_function plain_functions[], graph_functions[]; /* end with a NULL name */

extern pthread_mutex_t fake_lock;
extern pthread_cond_t fake_let_go_now;
extern object the_context;
/* Enters or leaves a context of this thread; false: there is none. */
bool move_context(int by);

/* Enters or leaves a function of the host, in this thread; whether it is in one. */
bool in_host_function(int by);
/* Takes the lock; a function of the host that calls the driver ends the process. */
void lock_driver(const char *name);
result begin_call(const char *name, bool in_context, bool executes);

/* This begins every function.  `failed` is the error that was asked for or that an execution left;
 * functions that free things free them nevertheless. */
#define CALL(in_context, executes) \
  lock_driver(__func__);           \
  result failed = begin_call(__func__, in_context, executes)
#define END(value)                    \
  do {                                \
    result end_ = (value);            \
    pthread_mutex_unlock(&fake_lock); \
    return end_;                      \
  } while (0)
#define TRY             \
  do {                  \
    if (failed != OK) { \
      END(failed);      \
    }                   \
  } while (0)
#define OBJECT(type, name, handle, kind)                 \
  type *name = check_object((handle), (kind), __func__); \
  if (name == NULL) {                                    \
    END(INVALID_HANDLE);                                 \
  }

#endif
