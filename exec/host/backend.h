/* SPDX-License-Identifier: Apache-2.0 */
/* The interface between the core and the back ends, which execute streams.
 *
 * A back end opens a machine, which holds what its instances share.  An instance is one in-flight
 * slot of a program: memory, timelines, and threads (or streams of a device) of its own.  It is
 * prepared once and works any number of times, one invocation at a time; several instances are
 * independent.  Its timelines are never reset: invocation k (from 0) uses the values
 * k * n + 1 .. k * n + n of an axis with n epochs, so that a wait of one invocation cannot be
 * satisfied by another.
 *
 * The course of an invocation: the core calls `start`, which does not block; the back end puts
 * given content in place before the first command that touches it (fs_io says which commands these
 * are), executes, takes kept content out, and finally calls `done`.  For content that is late
 * (fs_work.late), the core calls `ready` once it is there.  After `poison` effects are left out,
 * but everything ends as before, and quickly: waits are over at once.  A failure comes from the
 * core, through `poison`, or from the back end itself; the first cause counts.
 *
 * Ownership: stream, io and config must outlive the instance; the work must last until `done`.
 * Threads: `prepare` and `destroy` are called while the instance does not run; `start` by one
 * thread at a time, also from within `done`; `ready`, `poison`, `progress`, `report` and `give_up`
 * from any thread, under a lock of the core that excludes `start` and the end of `done`.  None of
 * these calls back. */
#ifndef FS_EXEC_BACKEND_H
#define FS_EXEC_BACKEND_H

#include <stdatomic.h>

#include "base/context.h"
#include "exec/host/backends.h"
#include "exec/host/io.h"
#include "fsched/cause.h"
#include "fsched/exec.h"
#include "model/shown.h"
#include "model/stream/stream.h"

/* What an invocation records; NULL: not wanted. */
typedef struct fs_record {
  uint64_t *digest;      /* per op: digest of the bytes that it wrote */
  uint64_t *begin, *end; /* per command: ns since the invocation's begin; both arrays or neither */
  fs_shown_times *instances; /* of what is shown of loops; with those two alone */
  /* Of back ends that submit: set to when members of tasks ran, in ns of the clock; they are
   * the instance's, until its next invocation begins. */
  const struct fs_task_times **tasks;
} fs_record;

typedef struct fs_backend_config {
  uint64_t pace_ps;      /* a command takes at least (end - start) * pace_ps; 0: no minimum */
  uint64_t tick_ps;      /* a tick in virtual time; 0: as the time unit says */
  uint64_t memory_limit; /* bytes that an instance may take */
  bool empty;            /* commands only: no memory, no kernels, no copies */
  bool pooled;           /* memory comes from fs_work.memory; else from the instance */
  uint32_t slots;        /* instances that may work at once */
} fs_backend_config;

/* One invocation.  The arrays belong to the core and last until `done`. */
typedef struct fs_work {
  void *memory;             /* if config.pooled: device memory for the memories that fs_io pools */
  const void *const *given; /* per given item: host content; NULL: made from the buffer's name */
  const bool *late;      /* per given item: not to be read before `ready`; NULL: no item is late */
  void *const *kept;     /* per kept item: host memory to copy it to; NULL: not wanted */
  const int64_t *values; /* per arg of the stream; NULL: the stream's own */
  const uint64_t *trips; /* per loop of the stream: how often it runs; NULL: as it says itself */
  fs_record record;

  /* Calls to the core, from any thread and without locks, in this order.  Calls per item come at
   * most once for each item. */
  void (*given_taken)(void *user, uint32_t item); /* the content is no longer needed; or never */
  void (*kept_there)(void *user, uint32_t item);  /* only for items that are wanted; or never */
  /* Says what has failed.  NULL: the cause alone is told. */
  void (*failed)(void *user, fsched_cause cause, const char *what);
  void (*done)(void *user, fsched_cause cause, uint64_t ns); /* exactly once, as the last call */
  void *user;
} fs_work;

typedef struct fs_machine fs_machine;   /* the back end's own */
typedef struct fs_instance fs_instance; /* the back end's own */

typedef struct fs_backend {
  bool on_host; /* the machine is that of host.h: kernels are functions of this process */
  /* Opens a machine.  FSCHED_SYSTEM with one diagnostic when the host has no such machine. */
  fs_status (*open)(fsched_context *ctx, const fsched_device_options *options, fs_machine **out);
  void (*close)(fs_machine *machine);
  /* One line about the machine, which lives as long as it does. */
  const char *(*describe)(const fs_machine *machine);
  /* Device memory for pools, aligned to 256. */
  fs_status (*take)(fsched_context *ctx, fs_machine *machine, uint64_t bytes, void **out);
  void (*give)(fs_machine *machine, void *memory, uint64_t bytes);
  /* Checks that the stream, which fs_stream_check has accepted, can be executed here (FSCHED_REPLAY
   * for a missing kernel) and takes the resources that it needs (FSCHED_SYSTEM).  `ctx` is for this
   * call only; `own` belongs to the instance for its life and is used by one thread at a time. */
  fs_status (*prepare)(fsched_context *ctx, fsched_context *own, fs_machine *machine,
                       const fs_stream *s, const fs_io *io, const fs_backend_config *config,
                       fs_instance **out);
  void (*start)(fs_instance *instance, const fs_work *work);
  void (*ready)(fs_instance *instance, uint32_t item);
  void (*poison)(fs_instance *instance, fsched_cause cause);
  /* A number that changes whenever the instance makes progress.  *idle is false when the instance
   * cannot tell, or has work in hand other than a kernel of a module: how long such a kernel may
   * take is for the caller to decide. */
  uint64_t (*progress)(fs_instance *instance, bool *idle);
  /* Reports, as errors and notes, what is stuck, if anything still is. */
  void (*report)(fs_instance *instance, fsched_context *ctx);
  /* After `poison`, under the same lock: whether only kernels that have not returned are left of
   * the invocation.  They are given up then: `done` does not come, the work is not touched any
   * more, and `destroy` leaves behind what the kernels may still touch, such as the instance's
   * memory and context.  NULL: kernels are never given up. */
  bool (*give_up)(fs_instance *instance);
  void (*destroy)(fs_instance *instance); /* NULL is ignored */
} fs_backend;

#define FS_BACKEND_EXTERN_(id, ...) extern const fs_backend fs_backend_##id;
FS_BACKEND_KINDS(FS_BACKEND_EXTERN_)

#endif
