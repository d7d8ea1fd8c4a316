/* SPDX-License-Identifier: Apache-2.0 */
/* Between a stream and what executes it.
 *
 * A back end opens a machine: what its instances share.  An instance is one in-flight slot of a
 * program: memory, timelines, and threads (or streams of a device) of its own.  It is prepared once
 * and works any number of times, one invocation at a time; several instances are independent.  Its
 * timelines are never reset: its invocation k (from 0) of an axis with n epochs uses the values
 * k * n + 1 .. k * n + n, so that a wait of one invocation cannot be satisfied by another.
 *
 * The course of an invocation: the core calls `start`, which does not block; the back end makes
 * given content be in place before the first command that touches it (fs_io says which commands
 * these are), executes, takes kept content out, and calls `done` at last.  When content is not
 * there yet (fs_work.late), the core calls `ready` for it later.  After `poison` effects are left
 * out but everything ends as before, and quickly: waits are over at once.  Whoever fails, the core
 * through `poison` or the back end itself, the first cause counts.
 *
 * Ownership: stream, io and config must outlive the instance, the work lasts until `done`.
 * Threads: `prepare` and `destroy` while nothing runs; `start` by one thread at a time, also from
 * within `done`; `ready`, `poison`, `stuck` and `report` from any thread, under a lock of the core
 * that excludes `start` and the end of `done`.  None of these calls back. */
#ifndef FS_EXEC_BACKEND_H
#define FS_EXEC_BACKEND_H

#include <stdatomic.h>

#include "base/context.h"
#include "exec/host/backends.h"
#include "exec/host/io.h"
#include "fsched/cause.h"
#include "fsched/exec.h"
#include "model/stream/stream.h"

/* What an invocation leaves behind; NULL: not wanted. */
typedef struct fs_record {
  uint64_t *digest;      /* per op: of what it wrote */
  uint64_t *begin, *end; /* per command: ns since the invocation's begin; both or none */
} fs_record;

typedef struct fs_backend_config {
  uint64_t pace_ns;      /* a command takes at least (end - start) * pace_ns; 0: as it comes */
  uint64_t memory_limit; /* bytes that an instance may take */
  bool empty;            /* commands only: no memory, no kernels, no copies */
  bool pooled;           /* fs_work.memory is given; else the instance has it of its own */
  uint32_t slots;        /* instances that may work at once */
} fs_backend_config;

/* One invocation.  Arrays are the core's and last until `done`. */
typedef struct fs_work {
  void *memory;             /* device memory for what fs_io says is pooled; if config.pooled */
  const void *const *given; /* per given item: host content; NULL: made from the buffer's name */
  const bool *late;         /* per given item: not before `ready`; NULL: none */
  void *const *kept;        /* per kept item: host room for it; NULL: not wanted */
  const int64_t *values;    /* per arg of the stream; NULL: the stream's own */
  fs_record record;

  /* Calls to the core, from any thread and without locks.  In this order, each at most once. */
  void (*given_taken)(void *user, uint32_t item); /* the content is no longer needed; or never */
  void (*kept_there)(void *user, uint32_t item);  /* items that are wanted; or never */
  /* NULL: what fails is known by the cause alone. */
  void (*failed)(void *user, fsched_cause cause, const char *what);
  void (*done)(void *user, fsched_cause cause, uint64_t ns); /* exactly once, the last */
  void *user;
} fs_work;

typedef struct fs_machine fs_machine;   /* the back end's own */
typedef struct fs_instance fs_instance; /* the back end's own */

typedef struct fs_backend {
  bool on_host; /* the machine is that of host.h: kernels are functions of this process */
  /* FSCHED_SYSTEM with one diagnostic when there is no such machine here. */
  fs_status (*open)(fsched_context *ctx, const fsched_device_options *options, fs_machine **out);
  void (*close)(fs_machine *machine);
  /* One line about it, that lives as long as the machine. */
  const char *(*describe)(const fs_machine *machine);
  /* Device memory for pools, aligned to 256. */
  fs_status (*take)(fsched_context *ctx, fs_machine *machine, uint64_t bytes, void **out);
  void (*give)(fs_machine *machine, void *memory, uint64_t bytes);
  /* Checks that the stream, which fs_stream_check has accepted, can be executed here (FSCHED_REPLAY
   * for a missing kernel) and takes what it needs (FSCHED_SYSTEM).  ctx: for this call only;
   * `own`: the instance's for its life, used under the rules of one thread at a time. */
  fs_status (*prepare)(fsched_context *ctx, fsched_context *own, fs_machine *machine,
                       const fs_stream *s, const fs_io *io, const fs_backend_config *config,
                       fs_instance **out);
  void (*start)(fs_instance *instance, const fs_work *work);
  void (*ready)(fs_instance *instance, uint32_t item);
  void (*poison)(fs_instance *instance, fsched_cause cause);
  /* Changes whenever the instance gets on; with *idle false when it cannot tell or has work in its
   * hands other than a kernel of a module: how long those may take, who looks decides. */
  uint64_t (*progress)(fs_instance *instance, bool *idle);
  /* Reports what is stuck, as errors and notes, if it is still stuck. */
  void (*report)(fs_instance *instance, fsched_context *ctx);
  /* After `poison`, under the same lock: whether all that is left of the invocation are kernels
   * that have not returned.  They are given up then: `done` does not come, nothing of the work is
   * touched, and `destroy` leaves behind what they may still touch, the instance's memory and
   * context among it.  NULL: never. */
  bool (*give_up)(fs_instance *instance);
  void (*destroy)(fs_instance *instance); /* NULL is ignored */
} fs_backend;

#define FS_BACKEND_EXTERN_(id, ...) extern const fs_backend fs_backend_##id;
FS_BACKEND_KINDS(FS_BACKEND_EXTERN_)

#endif
