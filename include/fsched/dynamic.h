/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: tagged submits that are executed at once.
 *
 * The calls and descriptors are those of submit.h, and mean the same; but a task starts as soon as
 * what it depends on is complete and a worker is idle, and nothing is compiled.  There is a worker
 * for each queue of the target: a thread, or a process.
 *
 *   fsched_builder *target;                   describe queues and memories by graph.h
 *   fsched_dynamic *d;
 *   fsched_dynamic_create(target, NULL, &d);
 *   fsched_dynamic_callable(d, &matmul, &mm); all of them
 *   fsched_dynamic_open(d);                   begins a run
 *   fsched_dynamic_import(d, &weights, &w);   memory of the user
 *   fsched_dynamic_task(d, &task, &id);       once for each task, in program order
 *   fsched_dynamic_close(d);
 *   fsched_dynamic_drain(d);                  now the outputs are there
 *
 * Runs.  A run is a program of its own: its buffers, tasks and scopes begin and end with it, their
 * ids and numbers count from 0, and nothing of a run waits for another one.  Callables last.  A run
 * is open for submits until it is closed or cancelled; it is over when, besides, none of its tasks
 * is left.  Then the next one can be opened.
 *
 * Results.  A program that is captured, compiled and replayed leaves the same bytes: names, and so
 * what `mix` writes, are those of submit.h.  Differences:
 *  - imports need an address.  What an input, a constant or a state holds when its first reader is
 *    submitted is what is read; outputs and state are in their memory after the run;
 *  - tags in a manual scope give no order, so two tasks of it that conflict, without a predecessor
 *    that orders them, are a race;
 *  - names of tasks are not kept: one that was there already is no error;
 *  - memory of devices cannot be imported, as all workers are of the host.
 *
 * Memory.  What is allocated, and scratch, comes from four heaps: tasks and allocations in no scope
 * and in one scope use the first, those in two scopes the second, those in four or more the last. A
 * heap is a ring: it is given back in the order in which it was taken, in pieces that are multiples
 * of 1,024 bytes.  A version, and what a task allocated, is given back when its scope has ended and
 * its users are done; what is of no scope stays until an `out` renews it, or to the end of the run.
 * A submit that finds its heap full waits for tasks to end, for as long as something comes back
 * within the time-out.  FSCHED_INFEASIBLE, with need and have: a request is larger than its heap;
 * the oldest piece is of an open scope or is held, so that waiting cannot help; or the time-out.
 * Using what has gone is FSCHED_BAD_INPUT at the call, as in submit.h.
 *
 * Failure.  A kernel that fails, or a worker process that dies, fails its task and all that wait
 * for it; the others go on.  The first cause counts: from then on calls that add to the run answer
 * FSCHED_REPLAY with it, and so does drain.
 *
 * Errors are reported as diagnostics to the builder's context.  A call that fails has no other
 * effect, except that after FSCHED_SYSTEM (memory ran out) calls that submit keep failing.
 *   FSCHED_BAD_INPUT   a descriptor, as in submit.h; memory that the workers do not reach
 *   FSCHED_USAGE       the run is not in the state that the call needs
 *   FSCHED_INFEASIBLE  memory of a heap
 *   FSCHED_REPLAY      the run has failed; of a task alone, the forked workers that it needs have
 *                      died, also in an earlier run (the message says of what), and the run goes
 *                      on; at open, a kernel that is not there
 *   FSCHED_SYSTEM      no memory, no threads, no processes
 *
 * Threads: one thread at a time uses a fsched_dynamic, with its context, except where a function
 * says otherwise.  Kernels run in threads of the library or in processes, several at once, and call
 * nothing of this header.  The context's allocator must be safe to call from any thread.
 * Complexity: a task takes what fsched_submit_task takes, and O(log n) per arg to find the tasks
 * that it waits for, n the accesses of its buffer by tasks that are not done; O(args^2) comparisons
 * of args of one buffer.  A run keeps 8 bytes for each task and some 200 for each buffer.
 * Source: the rules of the orchestrator of hw-native-sys/simpler. */
#ifndef FSCHED_DYNAMIC_H
#define FSCHED_DYNAMIC_H

#include "fsched/kernel.h"
#include "fsched/submit.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fsched_dynamic fsched_dynamic;

/** Texts are copied. */
typedef struct fsched_dynamic_options {
  size_t size;
  /** Workers are processes, but those of host queues, which are threads of this one: what a kernel
   *  in a process does to other memory than its args is lost, and one that crashes fails its task
   *  alone.  A child that a kernel makes by fork ends where the kernel returns, with the status
   *  FSCHED_REPLAY; the program fsched-worker says so on standard error.  Workers are forked if the
   *  process has one thread when the first run is opened; else each is the program fsched-worker,
   *  which has the built-in kernels and those of modules. */
  int processes;
  const char *worker; /* path of that program; NULL: beside this program, or in PATH */
  int spawn;          /* it is used also where workers could be forked */
  /** Bytes of each of the four heaps.  0: as many as the target's bounded memories have together,
   *  or 64 MiB if none is bounded.  They are reserved when the first run is opened. */
  uint64_t heap_bytes;
  uint64_t memory_bytes; /* that fsched_dynamic_memory can give, in all */
  uint64_t timeout_ns;   /* of a full heap, in ns; 0: 10 s */
  /** Where modules of kernels may be, as in fsched_device_options (exec.h): NULL and 0: nowhere.
   *  They are found and judged by fsched_dynamic_callable, and opened by who runs them: this
   * process for threads and forked workers, each spawned worker for itself. */
  const char *modules;
  int trust_modules;
  /** Returns the function of a kernel with a module, or NULL; called by fsched_dynamic_callable,
   *  before the module is looked for.  Worker processes have it only if they are forked.  Where
   * they are not, a run can be opened with such a kernel only if its callable is for queues of the
   * host alone, and a task of it that may run on another queue is FSCHED_BAD_INPUT. */
  fsched_kernel_fn (*find)(void *find_user, const char *module, const char *function);
  void *find_user;
  uint64_t stall_ns;               /* for fsched_dynamic_watch, in ns; 0: 10 s */
  uint64_t (*now)(void *now_user); /* its clock, in ns, called by the threads that watch; NULL: a
                                      monotonic one */
  void *now_user;
  int trace; /* keep when the members of tasks ran, for fsched_dynamic_trace: some 50 bytes and its
                name for each task */
} fsched_dynamic_options;

/** Makes a dynamic run time for the target and the settings of a builder, as fsched_submit_create
 *  does: hazards, concurrency and resources hold when tasks start.  The target names its queues.
 *  The builder belongs to the run time from then on, whatever the result.  `options` may be NULL.
 *  Errors: FSCHED_BAD_INPUT, FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_dynamic_create(
    fsched_builder *target, const fsched_dynamic_options *options, fsched_dynamic **out);
/** Cancels what has not started, waits for what runs, and ends the workers.  NULL is ignored. */
FSCHED_API void fsched_dynamic_destroy(fsched_dynamic *d);

/** As fsched_submit_callable.  The kernels of all callables are opened with the first run; after
 *  that a further callable is FSCHED_USAGE. */
FSCHED_API FSCHED_MUST_USE fsched_status
fsched_dynamic_callable(fsched_dynamic *d, const fsched_submit_callable_desc *desc, uint32_t *id);

/* Runs */

typedef enum fsched_dynamic_state {
  FSCHED_DYNAMIC_NONE,    /* no run was opened yet */
  FSCHED_DYNAMIC_OPEN,    /* tasks can be submitted */
  FSCHED_DYNAMIC_CLOSED,  /* some tasks are not over */
  FSCHED_DYNAMIC_FAILING, /* a task has failed or the run was cancelled; it may be open */
  FSCHED_DYNAMIC_DONE,    /* all tasks are complete */
  FSCHED_DYNAMIC_FAILED   /* nothing of it runs any more */
} fsched_dynamic_state;

/** Begins a run; the first time the workers start.  Errors: FSCHED_USAGE: the last run is not over,
 *  or functions of the application are needed in processes that are not forked; FSCHED_REPLAY: a
 *  kernel that is not there; FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_dynamic_open(fsched_dynamic *d);
/** Ends the submits of a run, and its scopes and holds.  Does not wait.  Errors: FSCHED_USAGE: none
 *  is open. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_dynamic_close(fsched_dynamic *d);
/** Waits until all tasks that were submitted have ended; a run that is open stays so.  Errors:
 *  FSCHED_REPLAY, with the first cause: the run has failed; FSCHED_USAGE: there is no run. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_dynamic_drain(fsched_dynamic *d);
/** Fails all tasks that have not started, and closes the run.  `cause` is copied, up to 255 bytes;
 *  that of an earlier failure stays.  Nothing happens to a run that is over.  May be called by any
 *  thread, from the first open to destroy. */
FSCHED_API void fsched_dynamic_cancel(fsched_dynamic *d, const char *cause);
/** Of the last run.  May be called by any thread, from the first open to destroy. */
FSCHED_API fsched_dynamic_state fsched_dynamic_run_state(fsched_dynamic *d);
/** The first cause of the last run, as a text that stays until the next open; NULL: nothing has
 *  failed.  Threads: as fsched_dynamic_run_state. */
FSCHED_API const char *fsched_dynamic_run_cause(fsched_dynamic *d);

/** What holds a run up. */
typedef enum fsched_stall {
  FSCHED_STALL_NONE,
  FSCHED_STALL_WORKER, /* a kernel that does not return */
  FSCHED_STALL_HEAP,   /* a submit that waits for memory of a full heap */
  FSCHED_STALL_GROUP,  /* a group is ready, and some of its workers are not idle */
  FSCHED_STALL_OPEN    /* all tasks have ended, and the run was never closed */
} fsched_stall;

typedef struct fsched_dynamic_stall {
  size_t size;
  fsched_stall kind;
  uint64_t still_ns; /* for so long nothing was submitted, has begun or ended; below stall_ns there
                        is no stall */
  const char *queue; /* of FSCHED_STALL_WORKER: the first such; it belongs to the run time */
  char task[64];     /* the task that runs, or the group, its name cut off; else empty */
} fsched_dynamic_stall;

/** Looks whether a run is stalled: whether nothing has moved since a look stall_ns or more ago. So
 *  it is called again and again, more often than that.  Returns the class, and tells more in *out,
 *  which may be NULL.  Nothing is changed: whoever finds a stall may cancel the run, close it, or
 *  wait on.  May be called by any thread, from the first open to destroy, also while another one
 *  waits in a call. */
FSCHED_API fsched_stall fsched_dynamic_watch(fsched_dynamic *d, fsched_dynamic_stall *out);

/** A trace of the last run for Perfetto, in the form of those of replays: a thread for each queue,
 *  and on it a slice for each member of a task that has run, from the moment in which it was given
 *  to its worker to that in which its end was known.  Those of groups say which member they are.
 *  *json is text of *length bytes, to be released with fsched_text_free; NULL after an error.
 *  Errors: FSCHED_USAGE: the options did not ask for it, no run was opened, or it is not over;
 *  FSCHED_SYSTEM.  Complexity: O(members). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_dynamic_trace(fsched_dynamic *d, char **json,
                                                              size_t *length);

/* The program of a run; see submit.h */

/** Memory that workers reach, whatever they are; aligned to 64, and 0 at first.  It stays to the
 *  end, also over runs; there are memory_bytes of it.  Errors: FSCHED_INFEASIBLE with need and
 *  have; FSCHED_USAGE: no run was opened. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_dynamic_memory(fsched_dynamic *d, uint64_t bytes,
                                                               void **out);
/** Errors: as fsched_submit_import, and: no address; of worker processes, memory that
 *  fsched_dynamic_memory has not given. */
FSCHED_API FSCHED_MUST_USE fsched_status
fsched_dynamic_import(fsched_dynamic *d, const fsched_submit_import_desc *desc, uint32_t *buffer);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_dynamic_alloc(fsched_dynamic *d,
                                                              const fsched_submit_alloc_desc *desc,
                                                              uint32_t *buffer);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_dynamic_task(fsched_dynamic *d,
                                                             const fsched_submit_task_desc *desc,
                                                             uint32_t *task);
/** A group starts when the workers of all its queues are idle; the one that has been ready longest
 *  keeps its workers from younger tasks. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_dynamic_group(fsched_dynamic *d,
                                                              const fsched_submit_group_desc *desc,
                                                              uint32_t *task);
FSCHED_API FSCHED_MUST_USE fsched_status
fsched_dynamic_begin_scope(fsched_dynamic *d, const fsched_submit_scope_desc *desc);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_dynamic_end_scope(fsched_dynamic *d);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_dynamic_hold(fsched_dynamic *d, uint32_t buffer);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_dynamic_release(fsched_dynamic *d, uint32_t buffer);

#ifdef __cplusplus
}
#endif
#endif
