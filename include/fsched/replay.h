/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: replay of a program, start to end, as `fsched run` does: an exec, one program, some
 * invocations, and a look at what they did.  exec.h is the interface for applications.
 *
 * On the CPU one thread per queue walks its commands in order; a timeline (atomic epoch counter)
 * per axis carries the waits.  Memories are arenas at the compiled addresses, spill copies are real
 * copies.  In every invocation, given content is bytes made from the buffer's name, if nothing is
 * bound; state is what the invocation before has kept.  The ops of a gang run once: here
 * its members meet, which no program relies on, and the last one there runs it.
 *
 * Kernels: mix (also of ops without one), nop, copy (the one `in` arg to the one `out` arg), and
 * those of modules.
 *
 * Memory: the extents of all memories for each slot (pages are taken when touched), and with
 * `check` that of the versions alive at once in program order.  Time: that of the kernels and
 * copies, and a few nanoseconds for each command. */
#ifndef FSCHED_REPLAY_H
#define FSCHED_REPLAY_H

#include "fsched/exec.h"
#include "fsched/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a trace shows beside the measured times: the planned ones, from the same 0 on, a tick as
 *  long as pace_ns says, else the time unit (fsched_trace_options.tick_ns); or drawn as long as the
 *  invocation took. */
typedef enum fsched_trace_plan {
  FSCHED_TRACE_PLAN_NONE,
  FSCHED_TRACE_PLAN_TICKS,
  FSCHED_TRACE_PLAN_FIT
} fsched_trace_plan;

typedef struct fsched_replay_options {
  size_t size;
  uint64_t repeat;     /* invocations, one after the other; 0: 1 */
  int check;           /* compare with a sequential evaluation; the last invocation */
  uint64_t pace_ns;    /* ops and copies take at least planned time * pace_ns; 0: as it comes */
  uint64_t timeout_ms; /* watchdog: no progress for so long is a failure; 0: 10,000 */
  int trace;           /* keep begin and end of every command of the last invocation */
  int empty_kernels;   /* skip kernels and copies, reserve no memory: the commands alone */
  uint32_t memory_limit_log2;     /* refuse to reserve more than 2^n bytes; 0: the
                                     default of fsched_device_options.memory_limit */
  int trace_plan;                 /* fsched_trace_plan; with `trace` only */
  fsched_device *device;          /* NULL: the CPU */
  uint32_t in_flight;             /* invocations that may overlap; 0: 1 */
  uint64_t pool_bytes;            /* reserve memory from a pool of that size; 0: no pool */
  const fsched_binding *bindings; /* for every invocation: data and bytes; outputs are those of the
                                     last */
  uint32_t n_bindings;
  uint32_t n_parameters;
  const fsched_parameter *parameters;
  uint32_t profile; /* measure the last so many invocations, at most 1,000; 0: none */
  int verify;       /* first verify the program, as fsched_exec_options says; `fsched run` does */
  uint32_t threads; /* without `device`: as in fsched_device_options */
} fsched_replay_options;

typedef struct fsched_replay_result {
  size_t size;
  uint64_t commands;       /* executed in one invocation */
  uint64_t elapsed_ns;     /* all invocations, without what lies between them */
  uint64_t minimum_ns;     /* fastest invocation */
  uint64_t checked_ops;    /* digests compared; not of ops that read bytes nobody has written */
  uint64_t checked_bytes;  /* bytes of outputs and kept state compared */
  char *trace_json;        /* Perfetto trace when asked for, also when check finds a difference */
  size_t trace_length;     /* release with fsched_text_free(ctx, trace_json, trace_length) */
  uint64_t wall_ns;        /* from the first call to the last fence; never simulated */
  uint64_t pool_peak;      /* bytes */
  fsched_profile *profile; /* when asked for; fsched_profile_destroy */
  /** The caller's, NULL or room for one per command, queue by queue: filled when a profile is asked
   *  for. */
  fsched_duration *command;
} fsched_replay_result;

/** `options` and `result` may be NULL.  `result` is filled as far as the replay came.  A program
 *  that is not verified, here or by fsched_verify_program before, is taken to be right.
 *  Errors: FSCHED_WRONG when `verify` refutes it; FSCHED_REPLAY when a wait is stuck (the
 * diagnostic names queue, op, axis, epoch wanted and reached), when check finds a difference, or
 * when a kernel is not there; FSCHED_SYSTEM for memory and threads; FSCHED_USAGE for check of a
 * program with races (hazards: raw), which are listed, or without kernels, or for kernels that this
 * process cannot call; FSCHED_INFEASIBLE for more memory than the pool has. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_replay(fsched_context *ctx,
                                                       const fsched_program *program,
                                                       const fsched_replay_options *options,
                                                       fsched_replay_result *result);
/** The same on the CPU, whatever the options say of a device. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_replay_cpu(fsched_context *ctx,
                                                           const fsched_program *program,
                                                           const fsched_replay_options *options,
                                                           fsched_replay_result *result);

#ifdef __cplusplus
}
#endif
#endif
