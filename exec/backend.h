/* SPDX-License-Identifier: Apache-2.0 */
/* Between a stream and what executes it.
 *
 * An instance is one in-flight slot of a program: memory, timelines, and threads (or streams of a
 * device) of its own.  It is prepared once and run any number of times.  Its timelines are never
 * reset: invocation k (from 0) of an axis with n epochs uses the values k * n + 1 .. k * n + n, so
 * that a wait of one invocation cannot be satisfied by another, and the next run simply continues.
 * An instance runs one invocation at a time; several instances of a program are independent.
 *
 * Ownership: the stream, the config and what they point to must outlive the instance.
 * Threads: one thread at a time calls these functions for an instance. */
#ifndef FS_EXEC_BACKEND_H
#define FS_EXEC_BACKEND_H

#include "context.h"
#include "stream.h"

/* What the last invocation of a run leaves behind; NULL: not wanted. */
typedef struct fs_record {
  uint64_t *digest;      /* per op: of what it wrote */
  uint64_t *begin, *end; /* per command: ns since the invocation's begin; both or none */
} fs_record;

typedef struct fs_backend_config {
  uint64_t pace_ns;    /* a command takes at least (end - start) * pace_ns; 0: as it comes */
  uint64_t timeout_ms; /* above 0 */
  uint32_t memory_limit_log2;
  bool empty; /* commands only: no memory, no kernels, no copies */
  fs_record record;
} fs_backend_config;

typedef struct fs_backend_times {
  uint64_t total_ns;   /* sum over the invocations of a run, without what lies between them */
  uint64_t minimum_ns; /* the quickest of them */
} fs_backend_times;

typedef struct fs_instance fs_instance; /* the back end's own */

typedef struct fs_backend {
  const char *name;
  /* Checks that the stream, which fs_stream_check has accepted, can be executed here (FSCHED_REPLAY
   * for a missing kernel) and takes what it needs (FSCHED_SYSTEM). */
  fs_status (*prepare)(fsched_context *ctx, const fs_stream *s, const fs_backend_config *config,
                       fs_instance **out);
  /* Invocations `first` to `first + count - 1`, count above 0, one after the other; before each,
   * given content is put in place, state being what the invocation before has kept.  FSCHED_REPLAY
   * when stuck (reported); the instance can then only be destroyed. */
  fs_status (*run)(fs_instance *instance, uint64_t first, uint64_t count, fs_backend_times *times);
  /* Copies the kept bytes of a version out, after a run that was not `empty`. */
  fs_status (*read_kept)(fs_instance *instance, uint32_t version, void *bytes);
  void (*destroy)(fs_instance *instance); /* NULL is ignored */
} fs_backend;

extern const fs_backend fs_backend_cpu;

#endif
