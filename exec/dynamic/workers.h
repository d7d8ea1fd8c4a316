/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic runs with workers: the engine, its heaps, and a carrier (carrier.h) with a
 * worker for each queue.
 *
 * A task names a kernel of a table.  It may start as soon as it is submitted; whoever submits, or
 * takes in that a member has returned, also hands out what may start next.  The engine is used by
 * whoever has the baton (carrier/baton.h); kernels run without it.
 *
 * Threads: one thread at a time calls the functions here, kernels call none of them.  The
 * allocator of the context must be safe to call from any thread.
 * Errors: as those of the engine (engine.h), reported to the context.  Units: bytes. */
#ifndef FS_DYNAMIC_WORKERS_H
#define FS_DYNAMIC_WORKERS_H

#include "exec/dynamic/engine.h"
#include "exec/dynamic/process/mixed.h"
#include "exec/dynamic/times.h"

typedef struct fs_workers fs_workers;

/* A number among the args of a member; it has no bytes, so the engine does not know it. */
typedef struct fs_task_value {
  uint32_t member, at; /* its place among the args of the kernel's call */
  int64_t value;
} fs_task_value;

typedef struct fs_workers_task {
  const char *name;                 /* copied */
  fs_dynamic_submission submission; /* its `user` is overwritten */
  uint32_t kernel;                  /* of all members: an index into the table */
  uint32_t n_values;
  const fs_task_value *value; /* by ascending member and place */
  bool group;                 /* calls tell of which member they are, and of how many */
  bool once;                  /* the first member is called for all, while their queues are taken */
  /* Its grid, block, shared_bytes and params (copied, at most FSCHED_MAX_PARAMS bytes) are those of
   * the kernel's calls; NULL: 1, 1, 0 and none. */
  const fsched_kernel_call *shape;
} fs_workers_task;

/* Called when a member is given to a worker, in the baton: it calls nothing of this header. */
typedef void fs_workers_started(void *user, const fsched_kernel_call *call, uint32_t member,
                                uint32_t queue);

typedef enum fs_workers_kind { FS_WORKERS_THREADS, FS_WORKERS_PROCESSES } fs_workers_kind;

typedef struct fs_workers_options {
  fs_dynamic_options engine; /* its clock and `wait` are not used: a full heap waits for workers */
  uint32_t n_kernels;
  const fs_task_kernel *kernel; /* the table, copied */
  fs_workers_started *started;  /* or NULL */
  void (*failed)(void *user);   /* or NULL: called like it when a member has failed */
  void *user;                   /* of the two */
  fs_workers_kind kind;
  const bool *host; /* per queue: its worker is a thread, whatever others are; NULL: none; copied */
  bool traces;      /* keep when members run */
  uint64_t shared_size; /* bytes that fs_workers_memory can give, in all */
  fs_process_options process;
} fs_workers_options;

/* Starts the workers.  Of an arg of a kernel's call, `data` is the first byte of its view, and
 * `length` what the view spans; all members have the task's scratch.  Errors: FSCHED_USAGE (also as
 * fs_carrier_processes says); FSCHED_REPLAY: a kernel that cannot be opened; FSCHED_SYSTEM (no
 * memory, no threads, no processes). */
fs_status fs_workers_create(fsched_context *ctx, const fs_workers_options *options,
                            fs_workers **out) FS_MUST_USE;
/* Cancels what has not started, and waits for what runs.  NULL is ignored. */
void fs_workers_destroy(fs_workers *w);

/* Whether some workers are processes that do not have the application's functions. */
bool fs_workers_spawned(const fs_workers *w);

/* Memory that the workers reach, whatever they are, until fs_workers_destroy; aligned to 64, and 0
 * at first.  `out_ptr`: of any pointer.  Errors: FSCHED_INFEASIBLE,
 * reported with need and have. */
fs_status fs_workers_memory(fs_workers *w, uint64_t size, void *out_ptr) FS_MUST_USE;

/* As those of the engine; memory that worker processes do not reach is refused. */
fs_status fs_workers_import(fs_workers *w, void *data, uint64_t size, bool readable, bool writable,
                            fs_dynamic_buffer *out) FS_MUST_USE;
fs_status fs_workers_declare(fs_workers *w, uint64_t size, fs_dynamic_buffer *out) FS_MUST_USE;
fs_status fs_workers_alloc(fs_workers *w, uint32_t n_dims, const uint64_t *shape, uint64_t element,
                           fs_dynamic_buffer *out, fs_dynamic_task *task) FS_MUST_USE;
fs_status fs_workers_make(fs_workers *w, uint32_t heap, uint64_t size, fs_dynamic_buffer *out,
                          fs_dynamic_task *task) FS_MUST_USE;
fs_status fs_workers_forget(fs_workers *w, fs_dynamic_buffer buffer) FS_MUST_USE;
fs_status fs_workers_hold(fs_workers *w, fs_dynamic_buffer buffer,
                          fs_dynamic_task *task) FS_MUST_USE;
fs_status fs_workers_release(fs_workers *w, fs_dynamic_task task) FS_MUST_USE;
fs_status fs_workers_scope_begin(fs_workers *w) FS_MUST_USE;
fs_status fs_workers_scope_end(fs_workers *w) FS_MUST_USE;
/* Errors besides: FSCHED_BAD_INPUT: no such kernel, values out of place, too large a block of
 * parameters. */
fs_status fs_workers_submit(fs_workers *w, fs_workers_task *task, fs_dynamic_task *out) FS_MUST_USE;
/* This one may be called by any thread, at any time. */
void fs_workers_cancel(fs_workers *w, const char *cause);

/* As those of the engine: the first run is open. */
fs_status fs_workers_open(fs_workers *w) FS_MUST_USE;
fs_status fs_workers_close(fs_workers *w) FS_MUST_USE;
/* Whether tasks can be submitted.  Errors: FSCHED_REPLAY, reported with the first cause: the run
 * has failed; FSCHED_USAGE: it is closed. */
fs_status fs_workers_accept(fs_workers *w) FS_MUST_USE;
/* Waits until all tasks have ended.  Errors: FSCHED_REPLAY, reported with the first cause: the run
 * has failed. */
fs_status fs_workers_drain(fs_workers *w) FS_MUST_USE;
/* Of the present run; these two may be called by any thread.  The cause, NULL if nothing has
 * failed, stays until the next run begins. */
fs_dynamic_run fs_workers_run_state(fs_workers *w);
const char *fs_workers_run_cause(fs_workers *w);
/* When the members of the present run ran, with `traces`.  Requires that the run is over, or not
 * begun: nobody has the baton. */
const fs_task_times *fs_workers_times(const fs_workers *w);
/* What a run waits for. */
typedef enum fs_workers_wait {
  FS_WAITS_NOT,
  FS_WAITS_FOR_WORKER, /* a member that runs */
  FS_WAITS_FOR_HEAP,   /* a call waits for memory */
  FS_WAITS_FOR_GROUP,  /* a group is ready, and some of its workers are not idle */
  FS_WAITS_FOR_CLOSE   /* nothing runs, and the run is open */
} fs_workers_wait;
typedef struct fs_workers_look {
  fs_workers_wait wait;
  uint64_t moves; /* raised by all that happens */
  uint32_t queue; /* of the worker; FS_NONE: it is of none */
  char name[64];  /* of the task or group, cut off; empty: it is of none */
} fs_workers_look;
/* May be called by any thread, also while another one waits in a call. */
fs_workers_look fs_workers_look_at(fs_workers *w);
/* Calls `look` with the engine, in the baton; it looks, and changes nothing.  By any thread. */
void fs_workers_inspect(fs_workers *w, void (*look)(void *user, fs_dynamic *e), void *user);
/* Closes the run, if it is open, and drains it.  Errors: as fs_workers_drain. */
fs_status fs_workers_end(fs_workers *w) FS_MUST_USE;
/* Whether it is kept when members run, from now on.  Requires that there are no tasks. */
void fs_workers_trace(fs_workers *w, bool traces);
/* Closes the run, if it is open, drains it, and begins the next one.  Errors: as
 * fs_workers_drain. */
fs_status fs_workers_finish(fs_workers *w) FS_MUST_USE;

#endif
