/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: replays a program as `fsched run` does: makes an exec, loads one program, invokes it some
 * times, and checks and measures what happened.  Applications use exec.h instead.
 *
 * On the CPU one thread per queue walks its commands in order; commands wait on one timeline (an
 * atomic epoch counter) per axis.  Each memory is one area with buffers at the compiled addresses,
 * and spill copies are real copies.  In every invocation, inputs and constants that are not bound
 * have content made from their names, and state is what the invocation before left.  The op of a
 * gang runs once: its members meet, and the last one to arrive runs it; no program relies on their
 * meeting.  The queues of a loop do not meet: each begins and ends its part on its own.
 *
 * Kernels: mix (the default of an op without a kernel), nop, copy (the one `in` arg to the one
 * `out` arg), and functions of modules.
 *
 * Memory: the extents of all memories for each slot (pages are allocated when touched), and with
 * `check` also the versions that are live at one time in program order.  Time: that of the kernels
 * and copies, plus a few nanoseconds for each command. */
#ifndef FSCHED_REPLAY_H
#define FSCHED_REPLAY_H

#include "fsched/exec.h"
#include "fsched/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a trace shows besides the measured times: nothing; or the planned times, with the same time
 *  0 and ticks as long as pace_ns says, else as the time unit says (fsched_trace_options.tick_ns);
 *  or the planned times, scaled to the duration of the invocation. */
typedef enum fsched_trace_plan {
  FSCHED_TRACE_PLAN_NONE,
  FSCHED_TRACE_PLAN_TICKS,
  FSCHED_TRACE_PLAN_FIT
} fsched_trace_plan;

typedef struct fsched_replay_options {
  size_t size;
  uint64_t repeat;     /* invocations, one after the other; 0: 1 */
  int check;           /* compare the last invocation with a sequential evaluation */
  uint64_t pace_ns;    /* ops, their instances in loops, and copies take at least planned time *
                          pace_ns; 0: no minimum */
  uint64_t timeout_ms; /* watchdog: this long without progress is a failure; 0: 10,000 */
  int trace;           /* keep begin and end of every command of the last invocation, and of what
                          a trace shows of loops */
  int empty_kernels;   /* runs the commands without kernels, copies and memory */
  uint32_t memory_limit_log2;     /* refuse to reserve more than 2^n bytes; 0: the
                                     default of fsched_device_options.memory_limit */
  int trace_plan;                 /* fsched_trace_plan; with `trace` only */
  fsched_device *device;          /* NULL: the CPU */
  uint32_t in_flight;             /* invocations that may overlap; 0: 1 */
  uint64_t pool_bytes;            /* reserve memory from a pool of that size; 0: no pool */
  const fsched_binding *bindings; /* used by every invocation (data and bytes only); outputs hold
                                     the result of the last one */
  uint32_t n_bindings;
  uint32_t n_parameters;
  const fsched_parameter *parameters;
  uint32_t profile; /* number of last invocations to measure, at most 1,000; 0: none */
  int verify;       /* verify the program first (see fsched_exec_options), as `fsched run` does */
  uint32_t threads; /* without `device`: as in fsched_device_options */
  uint64_t tick_ps; /* picoseconds of a tick, also in the trace and the profile: as in
                       fsched_exec_options */
  uint32_t n_trips;
  const fsched_trips *trips; /* of every invocation */
} fsched_replay_options;

typedef struct fsched_replay_result {
  size_t size;
  uint64_t commands;    /* executed in one invocation */
  uint64_t elapsed_ns;  /* sum over all invocations, without the time between them */
  uint64_t minimum_ns;  /* fastest invocation */
  uint64_t checked_ops; /* ops whose digests were compared; those that read bytes never written are
                           left out */
  uint64_t checked_bytes; /* bytes of outputs and kept state compared */
  char *trace_json; /* a Perfetto trace when `trace` is set, also when check finds a difference */
  size_t trace_length;     /* release with fsched_text_free(ctx, trace_json, trace_length) */
  uint64_t wall_ns;        /* from the first call to the last fence; never simulated */
  uint64_t pool_peak;      /* bytes */
  fsched_profile *profile; /* when `profile` is set; release with fsched_profile_destroy */
  /** NULL, or the caller's array of one element per command, queue by queue, which is filled when
   *  `profile` is set. */
  fsched_duration *command;
} fsched_replay_result;

/** `options` and `result` may be NULL.  `result` is filled as far as the replay came.  Without
 *  `verify` the replay relies on the program to be correct.
 *  Errors: FSCHED_WRONG when `verify` refutes it; FSCHED_REPLAY when a wait is stuck (the
 *  diagnostic names queue, op, axis, epoch wanted and reached), when check finds a difference, or
 *  when a kernel is missing; FSCHED_SYSTEM for memory and threads; FSCHED_USAGE for check of a
 *  program with races (hazards: raw), which are listed, with empty_kernels, or with kernels that
 *  this process cannot call; FSCHED_INFEASIBLE when the program needs more memory than the pool
 *  has. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_replay(fsched_context *ctx,
                                                       const fsched_program *program,
                                                       const fsched_replay_options *options,
                                                       fsched_replay_result *result);
/** The same on the CPU; ignores `device` of the options. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_replay_cpu(fsched_context *ctx,
                                                           const fsched_program *program,
                                                           const fsched_replay_options *options,
                                                           fsched_replay_result *result);

#ifdef __cplusplus
}
#endif
#endif
