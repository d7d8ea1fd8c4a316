/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: running programs many times, with overlap, as part of a larger application.
 *
 *   device    what executes: the processors of this machine, a CUDA device, a simulation
 *   pool      memory of a device, from which invocations and the user reserve, first come first
 *             served
 *   exec      a context of execution: mutable state, slots, the programs loaded in it
 *   entry     a program loaded in an exec, ready to be invoked
 *   timeline  a fsched_semaphore: a value that only rises
 *   fence     a set of points {timeline, value}: reached when all are, failed when one has; NULL
 *             is a fence that is reached
 *
 * fsched_invoke never blocks.  An invocation starts when its wait fence is reached, one of its
 * entry's slots is idle, and the pool has room; its signal fence is signalled when it is complete.
 * Nothing else orders invocations: those with no fence between them run in any order, and overlap
 * where there are slots.  The one exception: invocations of programs with `state` buffers run in
 * the order in which they were invoked, by an inner timeline of the exec.
 *
 * Early starts: an invocation that waits only for its own inputs (fsched_binding.wait) may start
 * before they are ready; then only the ops that read them wait, and the invocation holds its slot
 * and memory meanwhile.  An early start may not take the last idle slot of an exec or the last
 * memory of a pool, unless all its inputs will be signalled by invocations of the exec that have a
 * slot and memory and wait for no others.  This avoids deadlock: with any number of slots and in
 * any order of invoking, every invocation ends whose waits are not cyclic (invocations with state
 * also wait for those before them).  With one slot nothing starts before its inputs are ready.  The
 * memory left free is enough for the largest program loaded with the pool, and the largest
 * allocation requested, at the time of the early start; its inputs must not depend on a larger one
 * that is requested later.
 *
 * Memory: when an invocation starts, it reserves the extents of its program's memories, except
 * backing memories, of which each slot has its own; it gives them back when it is complete, before
 * its fences are signalled.  Reservations of a pool are served strictly in the order in which
 * invocations became able to start, so none starves; early starts are served after all others.
 * Without a pool each slot has memory of its own.
 *
 * Failure: a failed wait fence, a failed fence of an input that is read, a kernel that fails or a
 * device that fails makes the invocation fail: its signal fences fail with the first cause that was
 * met, and so does everything that waits for them.  If it has not started, it ends at once,
 * whatever else it waits for, except that an invocation with state still takes its turn.  If it
 * runs, ops that have not begun are skipped.  An output's own fence that was signalled before the
 * failure stays signalled.  After a failure of an invocation with state, those invoked later fail
 * with the same cause until fsched_exec_reset; the state is the one that the last success left.
 *
 * A timeline fails as a whole, with the first failure.  A wait for 3 ends at 3 or at any higher
 * value.  So when the invocation that should have signalled 5 fails, the library cannot know
 * whether another one will still signal 3 or 4: if the failure held only from 5 on, waits for 3
 * might never end.  Hence, when invocations share a timeline and one of them fails, a later success
 * no longer reaches its point: a wait for that point reports the failure, although the callback of
 * the successful invocation reports success.  Points reached before the failure stay reached.
 * Invocations that must not make one another fail each signal a timeline of their own; to wait for
 * several, join their fences.
 *
 * Frontiers: a signal carries a frontier: what is known to be complete at that time (frontier.h),
 * within frontier_capacity entries; fsched_fence_learn reads it.  Every load gives each of its
 * slots one axis for invocations (domain collective: it represents all queues of the slot) and one
 * for each output (domain epilogue); every pool has one axis (domain host).  The numbers of axes
 * are never used again in this process.  The epochs of an axis count its successes, from 1.
 *   an invocation's signal   its own epoch, those of outputs that it has signalled by themselves,
 *                            and what it has waited for: the wait fence, inputs' fences, the one
 *                            before it among those with state
 *   an output's signal       its own epoch, and what the invocation had waited for by then
 *   an allocation's signal   its own epoch in the pool, and what it has waited for (16 entries)
 * A wait learns the frontier of the value that it waited for, as of the moment when the value was
 * reached.  A frontier is tainted when it is incomplete: because the signal came from outside
 * (fsched_fence_signal, a value above a timeline's watermark), or because entries or history had no
 * room.  All frontiers derived from a tainted one are tainted.  A failure carries no frontier.  A
 * timeline signalled by n slots needs a frontier_capacity of at least n.  Once all 2^40 axis
 * numbers are used, signals of further loads and pools are tainted and have no epoch of their own.
 *
 * Fork: a child process cannot use objects that its parent made, since their threads do not exist
 * in the child: functions that return a status fail with FSCHED_USAGE, fsched_fence_wait returns
 * FSCHED_CAUSE_SYSTEM, and all others do nothing and return at once, including those that destroy
 * and release, so the memory stays until the child calls exec or ends.  The child may make devices,
 * execs, pools and semaphores of its own, but a CUDA device only if the parent had none; the parent
 * is not affected.  A child made by a kernel on the host may do the same, call exec, or end.  If
 * the kernel returns in the child, the child ends at once, by _exit with FSCHED_REPLAY, so that it
 * does not report the result of the invocation in place of its parent; kernel_runs is called
 * before that.
 *
 * Threads: every function may be called from any thread, with a fsched_context of the caller's own
 * for diagnostics, except that an object is released or destroyed once, when nobody uses it any
 * more.  Callbacks (of invocations, and `release` of bindings) hold no lock.  They run in a thread
 * of the library, whose stack may be small (256 KiB), or in the caller's thread: a call that
 * signals a fence, gives memory back or invokes may run callbacks before it returns.  A callback
 * may call every function of this header except the destruction of its own exec or pool, and should
 * be short.  It may not wait for unfinished work of the same exec (fences of its invocations, its
 * state), because it holds that work up.  Chains of invocations, allocations and frees that start
 * or fail one another are followed by a loop, so a chain of any length needs no stack.  When a
 * callback makes a call that lets others start, they have started when the call returns, as far as
 * that needs no other thread; so callbacks that cause callbacks nest.  Effects of the outer call,
 * in which the callback runs, may come after the callback; the functions of this header that wait
 * complete them first.  Objects are allocated by the allocator of the fsched_context with which
 * they are made, invocations by the exec's; the allocator must outlive them and be safe to call
 * from any thread, as the default one is.
 *
 * Time: invoking costs O(buffers + bindings * log buffers), and O(args) more with parameters,
 * O(loops * trips given) more with trips;
 * starting and ending an invocation costs O(slots + memories + inputs + outputs), besides its
 * commands.
 *
 * Example: a program whose input x and output y are of 64 doubles, applied n times to its own
 * result.  All n invocations are requested at once, and only the invocations copy data.
 *
 *   fsched_status repeat(fsched_context *ctx, const fsched_program *program, double (*rows)[64],
 *                        uint64_t n) {
 *     fsched_device *device = NULL;
 *     fsched_exec *exec = NULL;
 *     fsched_entry *entry;
 *     fsched_semaphore *done = NULL;
 *     fsched_fence *last = NULL;
 *     fsched_status status = fsched_device_create(ctx, NULL, &device);
 *     fsched_exec_options options = {.size = sizeof options, .device = device};
 *     if (status == FSCHED_OK) status = fsched_exec_create(ctx, &options, &exec);
 *     if (status == FSCHED_OK) status = fsched_exec_load(ctx, exec, program, &entry);
 *     if (status == FSCHED_OK) status = fsched_semaphore_create(NULL, &done);
 *     for (uint64_t i = 0; i < n && status == FSCHED_OK; i++) {
 *       fsched_fence *next = NULL;
 *       status = fsched_fence_create(ctx, &(fsched_fence_point){done, i + 1}, 1, &next);
 *       fsched_binding io[] = {{.buffer = "x", .data = rows[i], .bytes = sizeof rows[i]},
 *                              {.buffer = "y", .data = rows[i + 1], .bytes = sizeof rows[i]}};
 *       fsched_invocation invocation = {.size = sizeof invocation, .wait = last, .signal = next,
 *                                       .bindings = io, .n_bindings = 2};
 *       if (status == FSCHED_OK) status = fsched_invoke(ctx, entry, &invocation);
 *       fsched_fence_release(last);
 *       last = next;
 *     }
 *     if (status == FSCHED_OK) {
 *       status = fsched_exec_wait(ctx, exec, last, FSCHED_FOREVER, FSCHED_FOREVER, NULL);
 *     }
 *     fsched_exec_destroy(exec);
 *     fsched_fence_release(last);
 *     fsched_semaphore_release(done);
 *     fsched_device_release(device);
 *     return status;
 *   }
 *
 * Source: IREE's invocation model (asynchronous invocations, timelines, fences). */
#ifndef FSCHED_EXEC_H
#define FSCHED_EXEC_H

#include "fsched/kernel.h"
#include "fsched/program.h"
#include "fsched/semaphore.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fences are immutable once made, and reference-counted. */

typedef struct fsched_fence fsched_fence;

typedef struct fsched_fence_point {
  fsched_semaphore *timeline;
  uint64_t value;
} fsched_fence_point;

/** A fence of these points.  It holds references to the timelines, which may not be queue-local, as
 *  any thread may use a fence.  If several points name one timeline, the highest value counts.  The
 *  new fence has one reference.  O(n log n).  Errors: FSCHED_USAGE (a point without a timeline, or
 *  with a queue-local one), FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_fence_create(fsched_context *ctx,
                                                             const fsched_fence_point *points,
                                                             uint32_t n, fsched_fence **out);
/** The union: reached when all the given fences are; NULL counts as reached.  It holds references
 *  to the timelines, not to the fences.  O(n log n) in the points.  Errors: FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_fence_join(fsched_context *ctx,
                                                           fsched_fence *const *fences, uint32_t n,
                                                           fsched_fence **out);
/** NULL is ignored, here and below. */
FSCHED_API void fsched_fence_retain(fsched_fence *fence);
FSCHED_API void fsched_fence_release(fsched_fence *fence);
/** The points, one for each timeline, in an unspecified order; valid for as long as the fence
 *  exists.  Returns their number. */
FSCHED_API uint32_t fsched_fence_points(const fsched_fence *fence,
                                        const fsched_fence_point **points);
/** Signalling and publishing raise every timeline of the fence to at least its value, and may be
 *  repeated; failing makes the timelines fail, with a cause other than 0.  Values that
 *  fsched_fence_signal newly reaches are tainted (semaphore.h), since it does not say what else is
 *  complete.  Values that fsched_fence_publish reaches carry `known`, which is copied; NULL is the
 *  empty frontier.  Waiters may go on before the call returns; if one of them may release the last
 *  reference, the caller keeps a reference during the call.  Errors: FSCHED_BAD_INPUT (`known` is
 *  not valid; nothing has happened), FSCHED_SYSTEM, with system-wide timelines only; the other
 *  timelines are raised even then. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_fence_signal(fsched_fence *fence);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_fence_publish(fsched_fence *fence,
                                                              const fsched_frontier *known);
FSCHED_API void fsched_fence_fail(fsched_fence *fence, fsched_cause cause);
/** Sleeps until the fence is reached or has failed.  Returns FSCHED_CAUSE_NONE when it is reached
 *  within timeout_ns (0: only looks), FSCHED_CAUSE_TIMEOUT when it is not, or the cause of its
 *  failure; the failure of one point ends the wait at once.  A wait for more than 32 points
 *  allocates memory, and returns FSCHED_CAUSE_SYSTEM when there is none. */
FSCHED_API fsched_cause fsched_fence_wait(fsched_fence *fence, uint64_t timeout_ns);
/** Merges the frontier that a wait for the fence learns into `into`, which becomes tainted when
 *  that frontier is incomplete.  Errors: FSCHED_INFEASIBLE (the fence is not reached; nothing has
 *  happened), FSCHED_BAD_INPUT (`into` is not valid). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_fence_learn(fsched_fence *fence,
                                                            fsched_frontier *into);

/* Devices */

typedef struct fsched_device fsched_device;

/** How long the commands of a simulation take.  Random durations are drawn anew for each invocation
 *  of a slot. */
typedef enum fsched_durations {
  FSCHED_DURATIONS_PLANNED,
  FSCHED_DURATIONS_RANDOM,      /* from the seed: 0 to 4 times the planned time */
  FSCHED_DURATIONS_ADVERSARIAL, /* from the seed, extreme cases: one command longer than all others;
                                   queues or ops that take nearly no time or very long; ... */
  FSCHED_DURATIONS_MEASURED     /* the medians of a profile; the planned times where it has none */
} fsched_durations;

struct fsched_profile; /* profile.h */

/** A kernel of a module that a thread is about to run. */
typedef struct fsched_kernel_run {
  const char *op, *module, *function;
  const char *queue; /* NULL: in the comparison of fsched_replay */
} fsched_kernel_run;

/** How many bytes the heap of a memory has, in dynamic runs. */
typedef struct fsched_heap_size {
  const char *memory; /* its name */
  uint64_t bytes;
} fsched_heap_size;

/** Zero means the default for every member but the first. */
typedef struct fsched_device_options {
  size_t size;
  /** "cpu" (default), "sim", "dynamic", "cuda", "cuda-graph"; "auto": a CUDA device if there is
   * one, else the CPU (fsched_device_note says why). */
  const char *kind;
  uint32_t ordinal;   /* CUDA: which device */
  const char *driver; /* CUDA: path of the driver's library; default libcuda.so.1 */
  /** Directory of modules: only modules in it or below, after links are resolved, may be opened, by
   *  names relative to it; default: none, unless trust_modules.  A module is code that runs in this
   *  process (PTX, cubins and fatbins: on the device), and the stream chooses its name.  Loading a
   *  program with another module fails with FSCHED_REPLAY. "sim" differs: where it may open no
   *  modules, it runs the built-in kernel mix in place of their functions, in the comparison of
   *  fsched_replay too. */
  const char *modules;
  /** CPU: binds the i-th thread of a slot to the i-th processor (modulo their number).  Where every
   *  queue has a thread of its own, the i-th one is that of the i-th queue that has commands. */
  int pin;
  /** The most bytes that one slot may reserve.  Default: the machine's memory or the limit of the
   *  process (RLIMIT_AS, RLIMIT_DATA) or of its control groups, whichever is least; on a CUDA
   *  device at least 2^36, as the device itself refuses what it does not have. */
  uint64_t memory_limit;
  /** CPU, and queues of the host on CUDA: returns the function of a kernel, or NULL; called before
   *  the module is opened, which happens only if it returns NULL. */
  fsched_kernel_fn (*find)(void *find_user, const char *module, const char *function);
  void *find_user;
  fsched_durations durations;           /* sim */
  uint64_t seed;                        /* sim: what random durations are drawn from */
  const struct fsched_profile *profile; /* sim, for measured durations; must outlive the device */
  /** Session and machine in the axes of this device's execs and pools (see Frontiers above), each
   *  at most 255.  The session is not 1; 0 means FSCHED_SESSION_LOCAL.  Processes that read each
   *  other's frontiers need a session and machine each. */
  uint32_t session, machine;
  /** CPU: the most threads that the slots of a loaded program have together, though every slot has
   *  at least one; at most 65,536; default 512.  If a slot has fewer threads than queues with
   *  commands, the queues are dealt out among the threads: a thread runs one queue until its next
   *  command has to wait, then another.  So a kernel must not wait for another kernel of its
   *  invocation, and it holds up the queues that share its thread.  If the machine refuses some of
   *  the threads, the others do all the work. */
  uint32_t threads;
  /** CPU, sim, and queues of the host on CUDA: called in the thread that runs a kernel of a module
   *  (or of `find`), before the kernel, and after it with NULL; also called with NULL when the
   * kernel returns in a child process, before the child ends.  An application can use it to tell
   * which kernel crashed, as the library itself handles no signals.  `run` stays valid until the
   * call with NULL. */
  void (*kernel_runs)(void *runs_user, const fsched_kernel_run *run);
  void *runs_user;
  int trust_modules; /* any module may be opened, by any name; relative names start at `modules`, by
                        default the current directory */
  uint64_t heap_bytes; /* dynamic: of each heap that `heaps` does not name; 0: as many as its memory
                          has */
  int processes; /* dynamic: workers of queues that are not the host's are processes: what a kernel
                    does to other memory than its args is lost, and one that crashes fails the
                    invocation alone.  They are forked, if the process has one thread when an
                    invocation is made ready */
  const fsched_heap_size *heaps; /* dynamic: of the heaps of these memories; must outlive the
                                    device; of several of one name the last one counts */
  uint32_t n_heaps;
  int spawn; /* dynamic: worker processes are programs of their own, fsched-worker, as they are
                where the process has several threads when an invocation is made ready; they have
                no functions of `find`, which then only ops on queues of the host can use */
  const char *worker; /* path of that program; NULL: beside this program, or in PATH */
} fsched_device_options;

/* "sim" runs the commands in virtual time, in one thread for each slot: a command begins when its
 * waits are over and its queue is free.  Kernels and copies are executed, in the order of their
 * ends.  Recorded times and the times of invocations are virtual; a tick is tick_ps long, else
 * pace_ns, else as long as the time unit says (ns, us, ms, s), else counted as 1 us.  In virtual
 * time an input is ready from the beginning, whenever its fence is signalled.  When a command
 * accesses bytes that another command changes at the same virtual time, which a correct program
 * never does, whatever the durations, the invocation fails with FSCHED_CAUSE_WRONG and
 * fsched_exec_failure names the command and the buffer. */

/* "dynamic" executes the ops and not the plan: they are submitted in program order, one by one, and
 * each starts once what it depends on is complete, on the queues that it names, or on idle ones of
 * the class that it names, one thread for each.  Commands, waits and copies are not used,
 * and loops are unrolled.  What resources and concurrency allow holds when ops start.  What is
 * given or kept lies in memory of its own; what ops pass on, and scratch, comes from the
 * heap of the memory that it is in, a ring that is given back in the order of submission.  Nothing
 * is spilled: loading a program fails with FSCHED_INFEASIBLE if a heap is too small.  Memory of
 * pools is not used. */

/** Errors: FSCHED_USAGE (options), FSCHED_SYSTEM (no such device: one diagnostic says why). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_device_create(fsched_context *ctx,
                                                              const fsched_device_options *options,
                                                              fsched_device **out);
FSCHED_API void fsched_device_retain(fsched_device *device);
/** NULL is ignored. */
FSCHED_API void fsched_device_release(fsched_device *device);
/** The kind of the device, which is never "auto"; and a line for people: the device's name, or why
 *  "auto" did not choose another kind. */
FSCHED_API const char *fsched_device_kind(const fsched_device *device);
FSCHED_API const char *fsched_device_note(const fsched_device *device);
/** 1 if a kernel that did not return was given up on this device (fsched_exec_wait) and may still
 *  run there, else 0.  The process should then end by _exit: exit runs destructors of the kernel's
 *  module, whose data the kernel may still use, and those of the CUDA driver, which may wait for
 *  the kernel.  The end of the process ends the kernel. */
FSCHED_API int fsched_device_lost(const fsched_device *device);

/* Pools */

typedef struct fsched_pool fsched_pool;
typedef struct fsched_allocation fsched_allocation;

typedef struct fsched_pool_stats {
  size_t size;
  uint64_t bytes;   /* of the pool */
  uint64_t used;    /* reserved now */
  uint64_t peak;    /* the most reserved at one time so far */
  uint64_t served;  /* reservations so far */
  uint32_t waiting; /* reservations that wait for room */
} fsched_pool_stats;

/** Makes a pool of `bytes` of the device's memory, allocated at once.  Reservations are multiples
 *  of 256 bytes, so if `bytes` is not one, the rest is never used.  Errors: FSCHED_USAGE (0 bytes),
 *  FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_pool_create(fsched_context *ctx,
                                                            fsched_device *device, uint64_t bytes,
                                                            fsched_pool **out);
/** Call it after the execs that use the pool are destroyed.  Waiting allocations are cancelled:
 *  their signal fences fail with FSCHED_CAUSE_CANCELLED.  All handles and data become invalid.
 *  NULL is ignored. */
FSCHED_API void fsched_pool_destroy(fsched_pool *pool);
FSCHED_API void fsched_pool_get_stats(fsched_pool *pool, fsched_pool_stats *stats);
/** Stream-ordered: reserves when `wait` is reached and there is room, in turn with all other
 *  reservations, then signals `signal`; after that the data may be used.  Never blocks.  When
 *  `wait` fails, `signal` fails with its cause and the allocation has no data, but must still be
 *  freed.
 *  Errors: FSCHED_INFEASIBLE (`bytes` is more than the pool has; the diagnostic says both numbers),
 *  FSCHED_USAGE (0 bytes), FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_pool_alloc(fsched_context *ctx, fsched_pool *pool,
                                                           uint64_t bytes, fsched_fence *wait,
                                                           fsched_fence *signal,
                                                           fsched_allocation **out);
/** An address in the device's memory; NULL until the memory is reserved.  Aligned to 256. */
FSCHED_API void *fsched_allocation_data(const fsched_allocation *allocation);
/** Stream-ordered: gives the bytes back when `wait` is reached or has failed.  Never blocks; the
 *  handle becomes invalid.  If that happens before the bytes were reserved, they never are, and the
 *  allocation's `signal` fails with FSCHED_CAUSE_CANCELLED.  Errors: FSCHED_SYSTEM; the handle is
 *  then still valid. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_pool_free(fsched_context *ctx,
                                                          fsched_allocation *allocation,
                                                          fsched_fence *wait);

/* Contexts of execution */

typedef struct fsched_exec fsched_exec;
typedef struct fsched_entry fsched_entry;

/** Zero means the default for every member but the first and `device`. */
typedef struct fsched_exec_options {
  size_t size;
  fsched_device *device;
  fsched_pool *pool;  /* of the same device; NULL: each slot has memory of its own */
  uint32_t in_flight; /* slots of each entry, and the most invocations that run at once in the exec;
                         default 1, at most 1024 */
  uint64_t pace_ns;   /* ops and copies take at least planned time * pace_ns; 0: no minimum */
  int empty;          /* runs the commands without kernels, copies and memory */
  int verify;         /* fsched_exec_load verifies programs; 0: it relies on them to be correct */
  uint32_t frontier_capacity; /* entries of a signal's frontier; default 8, at most 1024 */
  uint64_t tick_ps; /* picoseconds of a tick, in place of pace_ns, which then only asks for pace,
                       and of the time unit; at most 2^40 ns; 0: as these say */
} fsched_exec_options;

/** Errors: FSCHED_USAGE, FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_exec_create(fsched_context *ctx,
                                                            const fsched_exec_options *options,
                                                            fsched_exec **out);
/** Shuts the exec down: invocations that have not started are cancelled (FSCHED_CAUSE_CANCELLED);
 *  running ones skip their remaining ops and fail with that cause.  It waits for running kernels,
 *  except those that fsched_exec_wait gave up.  When it returns, all fences have been signalled or
 *  have failed, all callbacks have been called, and all owned data are released, even if fences of
 *  inputs are not reached.  A callback that invokes meanwhile gets FSCHED_USAGE.  NULL is
 *  ignored. */
FSCHED_API void fsched_exec_destroy(fsched_exec *exec);

/** Makes the program, which must outlive the exec, ready to run: gives its slots threads or
 *  streams, looks up its kernels, and joins its state buffers by name with those of the programs
 *  loaded before.  Other programs may run meanwhile.  The entry lives as long as the exec.  An
 *  error leaves the exec as it was before.  The form of a program was checked when it was loaded
 *  from bytes or a file.  Whether it is also correct (fsched/verify.h) is proven here, once, if the
 *  exec's option `verify` is set, at about the cost of compiling it.  Without that, an incorrect
 *  program may compute wrong results, different ones each time, or wait for ever, which
 *  fsched_exec_wait reports; it never accesses memory other than its own.
 *  Errors: FSCHED_WRONG (refuted, with the diagnostics of fsched_verify_program), FSCHED_REPLAY (a
 *  kernel is missing), FSCHED_USAGE (a state buffer has another size in a program loaded before; or
 *  on "cuda-graph" a loop's number of trips is a parameter, or loops have more than 16384 instances
 *  of their ops),
 *  FSCHED_INFEASIBLE (the program needs more memory than the pool has; the diagnostic says both
 *  numbers), FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_exec_load(fsched_context *ctx, fsched_exec *exec,
                                                          const fsched_program *program,
                                                          fsched_entry **out);
/** Bytes that an invocation reserves from a pool. */
FSCHED_API uint64_t fsched_entry_bytes(const fsched_entry *entry);

/** Reads or writes state by name, between invocations: blocks until the invocations with state that
 *  were invoked before are complete; those invoked later wait for this call.  A state's first
 *  content is made from its name.  After a failure the state is the one that the last success left.
 *  Errors: FSCHED_USAGE (no such state, another size). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_exec_read_state(fsched_context *ctx,
                                                                fsched_exec *exec, const char *name,
                                                                void *data, uint64_t bytes);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_exec_write_state(fsched_context *ctx,
                                                                 fsched_exec *exec,
                                                                 const char *name, const void *data,
                                                                 uint64_t bytes);
/** After a failure: lets invocations with state succeed again, including those that wait for their
 *  turn, and clears fsched_exec_failure. */
FSCHED_API void fsched_exec_reset(fsched_exec *exec);

/* Invocations */

/** The data of a graph's input, constant or output at an invocation.  Inputs and constants that are
 *  not bound have content made from their names; outputs that are not bound are dropped.  On the
 *  host (cpu, sim) bytes of an output that no command writes keep their content in `data`. */
typedef struct fsched_binding {
  const char *buffer;
  void *data; /* host memory, of the buffer's size; an input is only read */
  uint64_t bytes;
  fsched_fence *wait; /* inputs: NULL, or reached when the data may be read; only ops that read them
                         wait for it */
  fsched_fence *signal; /* outputs: NULL, or signalled when the data are complete, perhaps before
                           the invocation is */
  /** Inputs: NULL, or fsched_invoke takes ownership of the data, and this is called once, when they
   *  are no longer needed: when they have been read, else at the end of the invocation, also after
   *  a failure.  It is not called before `wait` is reached or has failed, as the data may be
   *  written until then (fsched_exec_destroy does not wait for that).  When fsched_invoke itself
   *  fails, ownership does not pass and this is not called. */
  void (*release)(void *release_user, void *data);
  void *release_user;
} fsched_binding;

/** Replaces the value of a `value` arg; if several name the same arg, the last one counts. */
typedef struct fsched_parameter {
  const char *op;
  uint32_t arg; /* position among the op's args, from 0 */
  int64_t value;
} fsched_parameter;

/** How often the loops run that take their trips from a parameter; of one that is not given, as
 * often as it allows.  If several name the same parameter, the last one counts. */
typedef struct fsched_trips {
  const char *param; /* its name in the graph */
  uint64_t trips;    /* iterations, within the range of fsched_program_param */
} fsched_trips;

typedef struct fsched_invocation {
  size_t size;
  fsched_fence *wait, *signal;
  const fsched_binding *bindings;
  uint32_t n_bindings;
  uint32_t n_parameters;
  const fsched_parameter *parameters;
  /** Called exactly once, after `signal`; not called when fsched_invoke itself fails.  `cause` is
   *  0, or the cause of the failure. */
  void (*callback)(void *user, fsched_cause cause);
  void *user;
  uint32_t n_trips;
  const fsched_trips *trips;
} fsched_invocation;

/** Requests an invocation; never blocks.  The descriptor and its arrays are copied, and fences are
 *  retained.  The library uses bound memory until the fence of the binding, or of the invocation,
 *  is signalled or has failed.  The same data may be bound to inputs of many invocations at once,
 *  but not to outputs.  `invocation` may be NULL.  Errors (nothing has happened then): FSCHED_USAGE
 *  (no such buffer or parameter, trips out of their range, a wrong size, a buffer bound twice, the
 * exec is being destroyed), FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_invoke(fsched_context *ctx, fsched_entry *entry,
                                                       const fsched_invocation *invocation);

/** Waits for a fence and watches the exec.  When a running invocation makes no progress for
 *  stuck_ns (FSCHED_FOREVER: does not watch), it is reported (queue, op, the wait, epochs wanted
 *  and reached, the chain that blocks; or the input whose fence is not signalled) and fails with
 *  FSCHED_CAUSE_TIMEOUT; its slot can be used again.  A kernel of a module (or of `find`) that runs
 *  for stuck_ns while nothing else makes progress is reported too (op, queue, function, since
 *  when).  If it then still does not return, it is given up, as a thread cannot be ended from
 *  outside: the invocation fails with FSCHED_CAUSE_TIMEOUT, bound data belong to their owner again,
 *  and the exec has one slot less; when no slot is left, invocations fail with that cause.  The
 *  kernel's thread (which sleeps for ever if the kernel returns after all), the memory of its slot
 *  or pool, and the kernels' modules are never released, not even with the exec; the program must
 *  not be destroyed while such a kernel reads the name of its op.
 *
 *  On a CUDA device the running time of a module's kernel counts from the moment when all
 *  predecessors of its op were seen to be complete, and the kernel is given up in the same way.
 *  While no kernel of a module runs, built-in kernels and copies count as progress, however long
 *  they take.  The driver cannot free memory, unload code or close the device while a kernel runs
 *  there, so after a kernel was given up the device is never closed and none of its memory is
 *  freed, including that of slots, pools and programs of other execs.  Calls that need new memory
 *  or code on it fail with FSCHED_SYSTEM: making pools, loading programs, and invocations that need
 *  a graph for another address in a pool.  Other invocations in existing slots go on, as far as the
 *  kernel leaves them room; those that get none are reported and given up as well.  Before a kernel
 *  is given up, calls that load programs, or make or destroy pools, execs and devices, may wait for
 *  it, so the only thread that watches must not make such calls.  Other users of the CUDA context
 *  of the process, and a second device made in it, may wait for ever.
 *
 *  While no invocation runs, the first one that has not started because its inputs are not ready is
 *  reported and fails in the same way.  *cause (if not NULL) is set as fsched_fence_wait returns
 *  it.  Errors: FSCHED_REPLAY, when the fence has failed, reported with what is known of the cause;
 *  or when it was not reached within timeout_ns, reported with the numbers of invocations and what
 *  they wait for. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_exec_wait(fsched_context *ctx, fsched_exec *exec,
                                                          fsched_fence *fence, uint64_t timeout_ns,
                                                          uint64_t stuck_ns, fsched_cause *cause);
/** Writes what is known of the first failure in this exec since it was made or reset, as one line;
 *  "" when there was none.  Returns the length of the whole line, without the zero byte; the text
 *  is cut to `room` bytes with the zero byte (room 0: nothing is written). */
FSCHED_API size_t fsched_exec_failure(fsched_exec *exec, char *text, size_t room);

#ifdef __cplusplus
}
#endif
#endif
