/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: running programs, many times, overlapping, as part of a larger application.
 *
 *   device    what executes: the processors of this machine, a CUDA device, a simulation
 *   pool      memory of a device, from which invocations and the user reserve, first come first
 *             served
 *   exec      a context of execution: mutable state, slots, the programs loaded in it
 *   entry     a program loaded in an exec: one of its entry points
 *   timeline  a fsched_semaphore: a value that only rises
 *   fence     a set of points {timeline, value}: reached when all are, failed when one has; NULL
 *             is a fence that is reached
 *
 * fsched_invoke never blocks.  An invocation starts when its wait fence is reached, one of its
 * entry's slots is idle, and the pool has room; its signal fence is signalled when it is complete.
 * Nothing else orders invocations: those with no fence between them run in any order, and overlap
 * where there are slots.  Only programs with `state` buffers are ordered among themselves, by an
 * inner timeline of the exec, in the order in which they were invoked.
 *
 * Early starts: an invocation that waits for nothing but inputs of its own (fsched_binding.wait)
 * may start before they are there; only the ops that read them wait then, and it holds its slot and
 * its memory meanwhile.  The last idle slot of an exec, and the last memory of a pool, are not for
 * such a one, unless all that it waits for is signalled by invocations of the exec that have theirs
 * and wait for no others.  So all ends that can: in whatever order invocations are asked for, with
 * one slot as with many, each ends whose waits are no circle (those with state also wait for those
 * before them).  With one slot nothing starts before its inputs are there.  The memory that is left
 * does for the largest program that was loaded with the pool, and the largest allocation that was
 * asked for, when the invocation started; larger ones that come later must not be what its inputs
 * wait for.
 *
 * Memory: an invocation reserves the extents of its program's memories, those that back others
 * excepted (each slot has these of its own), when it starts, and gives them back when it is
 * complete, before its fences are signalled.  Reservations of a pool are served strictly in the
 * order in which invocations became able to start, so none starves; early starts come after all
 * others.  Without a pool each slot has memory of its own.
 *
 * Failure: a failed wait fence, a failed fence of an input that is read, a kernel that fails or a
 * device that fails makes the invocation fail: its signal fences fail with that cause, the first
 * one that was met, and so do all who wait for them.  An invocation that has not started then ends
 * at once, whatever else it waits for, but for its turn among those with state.  The ops that have
 * not begun by then are left out.  What an output's own fence has signalled before stays.  After a
 * failure of an invocation with state those invoked later fail with the same cause until
 * fsched_exec_reset; the state is what the last success has left.
 *
 * A timeline fails as a whole, with the first failure.  A wait for 3 is over at 3 or at anything
 * above it, so nobody can say whether an invocation is still to signal 3 or 4, or whether the one
 * that was to signal 5 and has failed would have done for them: if the failure held from 5 on only,
 * those might wait for ever.  Hence, of invocations that share a timeline, one that succeeds after
 * another has failed reaches its point no more: who waits for it is told of the failure, though its
 * own callback says success.  What was reached before stays, whoever asks and whenever. Invocations
 * that are not to fail one another signal a timeline each; who wants several joins their fences.
 *
 * Frontiers: what is signalled carries what is known to be complete by then (frontier.h), as far as
 * frontier_capacity does; fsched_fence_learn reads it.  Every load gives each of its slots an axis
 * for invocations (domain collective: it stands for all queues of the slot) and one for each output
 * (epilogue), every pool has one (host); their numbers are never used again in this process.  An
 * epoch is a success, counted from 1 on its axis.
 *   an invocation's signal   its own epoch, those of outputs that it has signalled by themselves,
 *                            and what it has waited for: the wait fence, inputs' fences, the one
 *                            before it among those with state
 *   an output's signal       its own epoch, and what the invocation had waited for by then
 *   an allocation's signal   its own epoch in the pool, and what it has waited for (16 entries)
 * What a wait brings is that of the value that was waited for, as it was when it was reached. Where
 * it is not known, because somebody outside has signalled (fsched_fence_signal, a value above a
 * timeline's watermark) or entries or history had no room, the frontier is tainted, and so is all
 * that comes after it.  A failure carries nothing.  A timeline that n slots signal wants a
 * frontier_capacity of n and more.  After 2^40 numbers signals of further loads and pools are
 * tainted and have no epoch of their own.
 *
 * Fork: in a child, what its parent has made is refused, since the threads that work for it are not
 * there: calls that report say FSCHED_USAGE, fsched_fence_wait FSCHED_CAUSE_SYSTEM, all others do
 * nothing and return at once; destroying and releasing too, so the memory stays until exec or the
 * end.  The child may make devices, execs, pools and semaphores of its own, but of a CUDA device
 * only if the parent had none; the parent does not notice.  A child that a kernel on the host makes
 * may do as much, exec or end; where the kernel returns in it, it ends at once, by _exit with
 * FSCHED_REPLAY, and so does not answer for its parent (kernel_runs is told before).
 *
 * Threads: every function may be called from any thread, with a fsched_context of the caller's own
 * for diagnostics, except that an object is released or destroyed once, when nobody uses it any
 * more.  Callbacks (of invocations, and `release` of bindings) run without any lock, in a thread of
 * the library, whose stack may be small (256 KiB), or of who let them go: a call that signals a
 * fence, gives memory back or invokes may run them before it returns.  They may call everything
 * here but the destruction of their own exec or pool, and should be short; they may not wait for
 * what the same exec has still to do (fences of its invocations, its state), as they hold it up.
 * Chains (of invocations, allocations and frees that let one another go, or fail one another) are
 * followed by a loop: of any length, they need no stack.  What a callback's own call lets go has
 * come about when that call returns, as far as that needs no other thread; callbacks that call
 * callbacks so nest.  What the call that a callback runs in has let go may come after the callback;
 * the functions here that wait see to it first.
 * Memory of the objects comes from the allocator of the fsched_context with which each is made,
 * that of invocations from the exec's; it must outlive them and be safe to call from any thread, as
 * the default is.
 *
 * Time: an invocation costs O(buffers + bindings * log buffers), and with parameters O(args), to
 * ask for, O(slots + memories + inputs + outputs) to start and to end, beside its commands.
 *
 * Example: a program whose input x and output y are of 64 doubles, applied n times to its own
 * result; all of it is asked for at once, and nothing is copied but by the invocations.
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

/* Fences: immutable once made, with references. */

typedef struct fsched_fence fsched_fence;

typedef struct fsched_fence_point {
  fsched_semaphore *timeline;
  uint64_t value;
} fsched_fence_point;

/** A fence of these points; it holds references to the timelines, which are not queue-local ones,
 *  as any thread may use a fence.  Of several points of one timeline the highest value counts.  The
 *  new fence has one reference.  O(n log n).  Errors: FSCHED_USAGE (a point without a timeline, or
 *  with a queue-local one), FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_fence_create(fsched_context *ctx,
                                                             const fsched_fence_point *points,
                                                             uint32_t n, fsched_fence **out);
/** The union: reached when all of these are.  NULLs among them count as reached.  It keeps the
 *  timelines, not the fences.  O(n log n) in the points.  Errors: FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_fence_join(fsched_context *ctx,
                                                           fsched_fence *const *fences, uint32_t n,
                                                           fsched_fence **out);
/** NULL is ignored, here and below. */
FSCHED_API void fsched_fence_retain(fsched_fence *fence);
FSCHED_API void fsched_fence_release(fsched_fence *fence);
/** The points, one for each timeline, in no order that means anything; valid as long as the fence.
 *  Returns how many there are. */
FSCHED_API uint32_t fsched_fence_points(const fsched_fence *fence,
                                        const fsched_fence_point **points);
/** Raises every timeline of the fence to at least its value, any number of times; or fails them,
 *  with a cause other than 0.  Signalled plainly, the values are tainted (semaphore.h), as it is
 * not said what else is complete, but for those that were reached before.  Published, they carry
 *  `known`, which is copied; NULL says that there is nothing that anybody had to wait for.  What
 *  waits may go on before it returns; where that may release the last reference, the caller keeps
 *  one of its own till then.  Errors: FSCHED_BAD_INPUT (`known` is not valid; nothing has
 * happened), FSCHED_SYSTEM, with system-wide timelines only; the others are raised even then. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_fence_signal(fsched_fence *fence);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_fence_publish(fsched_fence *fence,
                                                              const fsched_frontier *known);
FSCHED_API void fsched_fence_fail(fsched_fence *fence, fsched_cause cause);
/** Sleeps.  FSCHED_CAUSE_NONE when it is reached within timeout_ns (0: looks only),
 *  FSCHED_CAUSE_TIMEOUT when not, else why it will never be: the failure of one point ends it at
 *  once.  FSCHED_CAUSE_SYSTEM also when there is no memory, which fences of more than 32 points
 *  need. */
FSCHED_API fsched_cause fsched_fence_wait(fsched_fence *fence, uint64_t timeout_ns);
/** Merges what a wait for the fence brings into `into`, which becomes tainted when that is less
 * than is true.  Errors: FSCHED_INFEASIBLE (the fence is not reached; nothing has happened),
 *  FSCHED_BAD_INPUT (`into` is not valid). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_fence_learn(fsched_fence *fence,
                                                            fsched_frontier *into);

/* Devices */

typedef struct fsched_device fsched_device;

/** How long the commands of a simulation take.  Each invocation of a slot draws anew. */
typedef enum fsched_durations {
  FSCHED_DURATIONS_PLANNED,
  FSCHED_DURATIONS_RANDOM,      /* from the seed: 0 to 4 times the planned time */
  FSCHED_DURATIONS_ADVERSARIAL, /* from the seed: one command longer than all others; queues, or
                                   ops, nearly nothing or very long; ... */
  FSCHED_DURATIONS_MEASURED     /* the medians of a profile; what it does not have as planned */
} fsched_durations;

struct fsched_profile; /* profile.h */

/** A kernel of a module that a thread is about to run. */
typedef struct fsched_kernel_run {
  const char *op, *module, *function;
  const char *queue; /* NULL: in the comparison of fsched_replay */
} fsched_kernel_run;

/** Zero means the default for every member but the first. */
typedef struct fsched_device_options {
  size_t size;
  /** "cpu" (default), "sim", "cuda", "cuda-graph"; "auto": a CUDA device if there is one, else the
   *  CPU (fsched_device_note says why). */
  const char *kind;
  uint32_t ordinal;   /* CUDA: which device */
  const char *driver; /* CUDA: path of the driver's library; default libcuda.so.1 */
  /** Directory of modules: those that lie in it or below, after all links, may be opened, and by a
   *  name relative to it; default: none, unless trust_modules.  A module is code, which runs in
   *  this process (PTX, cubins and fatbins: on the device), and its name is the stream's choice.
   *  Others are refused, with FSCHED_REPLAY when a program is loaded, but for "sim": where it may
   *  open none, the built-in mix stands in for their functions, in the comparison of fsched_replay
   *  too. */
  const char *modules;
  int pin; /* CPU: the i-th thread runs on the i-th processor (modulo their number)
                            alone: that of the i-th queue that has commands where each has its own
            */
  /** Bytes that one slot may reserve.  Default: what the machine has, or, where that is less, the
   *  limits of the process (RLIMIT_AS, RLIMIT_DATA) and of its control groups; on a CUDA device
   *  not less than 2^36, as the device refuses by itself. */
  uint64_t memory_limit;
  /** CPU: a function for a kernel, asked before the module is opened; NULL from it: not mine. */
  fsched_kernel_fn (*find)(void *find_user, const char *module, const char *function);
  void *find_user;
  fsched_durations durations;           /* sim */
  uint64_t seed;                        /* sim */
  const struct fsched_profile *profile; /* sim, with measured durations: to outlive the device */
  /** Of the axes of this device's execs and pools (above): default FSCHED_SESSION_LOCAL, not 1; at
   *  most 255.  Processes that read each other's frontiers have a session and machine each. */
  uint32_t session, machine;
  /** CPU: threads that the slots of a loaded program have together, at most, but one for each slot;
   *  at most 65,536; default 512.  Where a slot has fewer threads than queues that have commands,
   *  the queues are dealt out, and a thread runs one until its next command has to wait, then
   *  another: so a kernel must not wait for another kernel of its invocation, and holds up the
   *  queues that share its thread.  Where the machine refuses some of the threads, those that there
   *  are do all the work. */
  uint32_t threads;
  /** CPU, sim: called before a kernel of a module (or of `find`) in the thread that runs it, and
   *  after it with NULL, in a child process by fork too, which ends then; for those who want to say
   *  which kernel has crashed, as the library itself handles no signals.  `run` lasts till then. */
  void (*kernel_runs)(void *runs_user, const fsched_kernel_run *run);
  void *runs_user;
  int trust_modules; /* any module may be opened, by any name; relative ones count from `modules`,
                        by default the current directory */
} fsched_device_options;

/* "sim" runs the commands in virtual time, in one thread for each slot: a command begins when its
 * waits are over and its queue is free.  Kernels and copies are executed, in the order of their
 * ends.  Recorded times and the time that an invocation took are virtual; a tick is pace_ns long,
 * else as long as the time unit says (ns, us, ms, s), else 1 us.  An input counts as there from the
 * begin, whenever its fence is signalled.  When a command touches what another one changes
 * meanwhile, which a right program allows at no durations, the invocation fails with
 * FSCHED_CAUSE_WRONG and fsched_exec_failure names the command and the buffer. */

/** Errors: FSCHED_USAGE (options), FSCHED_SYSTEM (no such device: one diagnostic says why). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_device_create(fsched_context *ctx,
                                                              const fsched_device_options *options,
                                                              fsched_device **out);
FSCHED_API void fsched_device_retain(fsched_device *device);
/** NULL is ignored. */
FSCHED_API void fsched_device_release(fsched_device *device);
/** The kind that it is ("auto" never), and a line for people: the device's name, or why "auto" has
 *  not taken another. */
FSCHED_API const char *fsched_device_kind(const fsched_device *device);
FSCHED_API const char *fsched_device_note(const fsched_device *device);
/** Whether a kernel that does not return was given up on it (fsched_exec_wait), and may still run
 *  there: 1 or 0.  A process then ends best by _exit, as what exit runs takes away what the kernel
 *  may use (its module's destructors), or may wait for it (the CUDA driver's); the end of the
 *  process ends the kernel. */
FSCHED_API int fsched_device_lost(const fsched_device *device);

/* Pools */

typedef struct fsched_pool fsched_pool;
typedef struct fsched_allocation fsched_allocation;

typedef struct fsched_pool_stats {
  size_t size;
  uint64_t bytes;   /* of the pool */
  uint64_t used;    /* reserved now */
  uint64_t peak;    /* reserved at once so far */
  uint64_t served;  /* reservations so far */
  uint32_t waiting; /* reservations that wait for room */
} fsched_pool_stats;

/** `bytes` of the device's memory, taken at once.  What is reserved counts in multiples of 256, so
 *  of another size the end is nobody's.  Errors: FSCHED_USAGE (0 bytes), FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_pool_create(fsched_context *ctx,
                                                            fsched_device *device, uint64_t bytes,
                                                            fsched_pool **out);
/** After the execs that use it are gone.  What is still waited for is cancelled: signal fences of
 *  allocations that have not been served fail with FSCHED_CAUSE_CANCELLED, and all handles and data
 *  are gone.  NULL is ignored. */
FSCHED_API void fsched_pool_destroy(fsched_pool *pool);
FSCHED_API void fsched_pool_get_stats(fsched_pool *pool, fsched_pool_stats *stats);
/** Stream-ordered: reserves when `wait` is reached and there is room, in the queue of all who do,
 *  then signals `signal`, from when on the data may be used.  Never blocks.  When `wait` fails,
 *  `signal` fails with its cause and the allocation has no data; it is to be freed all the same.
 *  Errors: FSCHED_INFEASIBLE (more than the pool has: need and have), FSCHED_USAGE (0 bytes),
 *  FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_pool_alloc(fsched_context *ctx, fsched_pool *pool,
                                                           uint64_t bytes, fsched_fence *wait,
                                                           fsched_fence *signal,
                                                           fsched_allocation **out);
/** An address in the device's memory; NULL before it was reserved.  Aligned to 256. */
FSCHED_API void *fsched_allocation_data(const fsched_allocation *allocation);
/** Stream-ordered: gives the bytes back when `wait` is reached or has failed.  Never blocks; the
 *  handle is gone.  When that comes before they were reserved, they never are, and `signal` of the
 *  allocation fails with FSCHED_CAUSE_CANCELLED.  Errors: FSCHED_SYSTEM; the handle is then still
 *  there. */
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
  uint32_t in_flight; /* slots of an entry, and invocations that run at once in the exec;
                         default 1, at most 1024 */
  uint64_t pace_ns;   /* ops and copies take at least planned time * pace_ns; 0: as it comes;
                         sim: virtual ns of a tick */
  int empty;          /* the commands alone: no kernels, no copies, no memory */
  int verify;         /* fsched_exec_load verifies programs; 0: they are taken to be right */
  uint32_t frontier_capacity; /* entries of what a signal carries; default 8, at most 1024 */
} fsched_exec_options;

/** Errors: FSCHED_USAGE, FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_exec_create(fsched_context *ctx,
                                                            const fsched_exec_options *options,
                                                            fsched_exec **out);
/** Shutdown: what has not started is cancelled (FSCHED_CAUSE_CANCELLED), what runs leaves its
 *  remaining ops out and fails with that cause; kernels that run are waited for, but for those that
 *  fsched_exec_wait has given up.  All fences and
 *  callbacks have come when it returns, and all owned data are released, though fences of inputs
 *  may be open.  Callbacks that ask for more are refused meanwhile (FSCHED_USAGE).  NULL is
 *  ignored. */
FSCHED_API void fsched_exec_destroy(fsched_exec *exec);

/** Makes the program, which must outlive the exec, ready to run: its slots take threads or
 *  streams, kernels are looked up, state buffers are joined by name with those of the programs
 *  loaded before.  Others may be running meanwhile.  The entry lives as long as the exec.  After
 *  an error nothing of the program is left.
 *  A program was checked for its form when it came from bytes or a file; that it is also right
 *  (fsched/verify.h) is proven here when the exec's options want it, once, at about the cost of
 *  compiling it, and else relied on: one that is wrong may compute wrong results, other ones each
 *  time, or wait for ever, which fsched_exec_wait reports, but it stays in its own memory.
 *  Errors: FSCHED_WRONG (refuted, with the diagnostics of fsched_verify_program), FSCHED_REPLAY (a
 *  kernel that is not there), FSCHED_USAGE (state of another size), FSCHED_INFEASIBLE (more memory
 * than the pool has: need and have), FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_exec_load(fsched_context *ctx, fsched_exec *exec,
                                                          const fsched_program *program,
                                                          fsched_entry **out);
/** Bytes that an invocation reserves from a pool. */
FSCHED_API uint64_t fsched_entry_bytes(const fsched_entry *entry);

/** State by name, between invocations: blocks until those with state that have been invoked so
 *  far are complete, and those invoked later wait for it.  A state's first content is made from
 *  its name.  After a failure it is what the last success has left.  Errors: FSCHED_USAGE (no
 *  such state, another size). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_exec_read_state(fsched_context *ctx,
                                                                fsched_exec *exec, const char *name,
                                                                void *data, uint64_t bytes);
FSCHED_API FSCHED_MUST_USE fsched_status fsched_exec_write_state(fsched_context *ctx,
                                                                 fsched_exec *exec,
                                                                 const char *name, const void *data,
                                                                 uint64_t bytes);
/** After a failure: invocations with state may succeed again, those too that wait for their turn;
 *  and fsched_exec_failure begins anew. */
FSCHED_API void fsched_exec_reset(fsched_exec *exec);

/* Invocations */

/** A graph's input or constant, or output, at an invocation.  What is not bound: inputs and
 *  constants have content made from their names, outputs are dropped.  On the host (cpu, sim) bytes
 * of an output that no command writes stay as they are in `data`. */
typedef struct fsched_binding {
  const char *buffer;
  void *data; /* host memory, of the buffer's size; an input is only read */
  uint64_t bytes;
  fsched_fence *wait;   /* inputs: data may be read; only what reads them waits for it, and nobody
                           when nothing does */
  fsched_fence *signal; /* outputs: data are complete, perhaps before the invocation is */
  /** Inputs: NULL, or ownership passes with fsched_invoke, and this is called once when the data
   *  are no longer needed: when they have been read, else at the end, but not before `wait` is
   *  reached or has failed, as they may be written till then (fsched_exec_destroy does not wait for
   *  that); also after a failure; not when fsched_invoke itself fails. */
  void (*release)(void *release_user, void *data);
  void *release_user;
} fsched_binding;

/** Another value for a `value` arg; the last one for an arg counts. */
typedef struct fsched_parameter {
  const char *op;
  uint32_t arg; /* position among the op's args, from 0 */
  int64_t value;
} fsched_parameter;

typedef struct fsched_invocation {
  size_t size;
  fsched_fence *wait, *signal;
  const fsched_binding *bindings;
  uint32_t n_bindings;
  uint32_t n_parameters;
  const fsched_parameter *parameters;
  /** Exactly once, after `signal`; not when fsched_invoke itself fails.  `cause` is 0 or that of
   *  the failure. */
  void (*callback)(void *user, fsched_cause cause);
  void *user;
} fsched_invocation;

/** Asks for an invocation; never blocks.  The descriptor and its arrays are copied, fences
 *  retained; bound memory is the library's until the fence of the binding, or of the invocation,
 *  is signalled or has failed.  The same data may be bound to inputs of many invocations at once,
 *  not to outputs.  `invocation` may be NULL.  Errors (nothing has happened then): FSCHED_USAGE
 *  (no such buffer or parameter, another size, bound twice, the exec is being destroyed),
 *  FSCHED_SYSTEM. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_invoke(fsched_context *ctx, fsched_entry *entry,
                                                       const fsched_invocation *invocation);

/** Waits for a fence and watches the exec: when an invocation that runs makes no progress for
 *  stuck_ns (FSCHED_FOREVER: does not watch), it is reported (queue, op, the wait, epochs wanted
 *  and reached, the chain that blocks; or the input whose fence is not signalled) and fails with
 *  FSCHED_CAUSE_TIMEOUT; its slot can be used again.  A kernel of a module (or of `find`) that runs
 *  for stuck_ns while nothing else moves is reported too (op, queue, function, since when).  If it
 *  then still does not return, it is given up, as a thread cannot be ended from outside: the
 *  invocation fails with FSCHED_CAUSE_TIMEOUT, what is bound to it is its owner's again, and its
 *  slot is lost, so the exec has one less; when it has none left, invocations fail with that cause.
 *  The thread, sleeping for ever should the kernel return, its slot's memory (or its pool's) and
 *  the kernels' modules are never released, also not with the exec; the program must not be
 *  destroyed while such a kernel looks at the name of its op.
 *
 *  On CUDA devices a kernel of a module runs since all that its op comes after was seen to be over,
 *  and is given up in the same way; built-in kernels and copies are progress, however long they
 *  take, while none of a module runs.  The driver lets nobody free memory, unload code or leave the
 *  device while a kernel runs there, so then the device is never closed and nothing of it is ever
 *  freed: slots, pools and programs, of other execs too, leave behind what they have of it.  What
 *  takes something of it is refused (FSCHED_SYSTEM): pools, loading programs, and invocations that
 *  want a graph for another place in a pool.  Other invocations in slots that there are go on, as
 *  far as the kernel leaves them room; those that get none are reported and given up like it.
 *  Before a kernel is given up, calls that load programs or make or destroy pools, execs and
 *  devices may wait for it, so they are not for the only thread that watches.  What else uses the
 *  CUDA context of the process, or makes another device of it, may wait for ever.
 *
 *  While none runs, the first of those that have not started as inputs of theirs are not
 *  there is reported and fails in the same way.  *cause (if not NULL) as of fsched_fence_wait.
 *  Errors: FSCHED_REPLAY, reported, when the fence has failed, with what is known of the cause; or
 *  was not reached within timeout_ns, with how many invocations wait for what. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_exec_wait(fsched_context *ctx, fsched_exec *exec,
                                                          fsched_fence *fence, uint64_t timeout_ns,
                                                          uint64_t stuck_ns, fsched_cause *cause);
/** What is known of the first failure in this exec since it was made or reset, as a line; "" when
 *  there was none.  Returns the length of all of it, without the zero byte; what does not fit is
 *  cut (room 0: nothing is written). */
FSCHED_API size_t fsched_exec_failure(fsched_exec *exec, char *text, size_t room);

#ifdef __cplusplus
}
#endif
#endif
