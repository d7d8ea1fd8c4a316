/* SPDX-License-Identifier: Apache-2.0 */
/* The reference that a replay is compared with: it evaluates the ops one after the other in program
 * order (reference_order.h), with each buffer version in memory of its own, and without schedule
 * and addresses.
 *
 * Undefined bytes (never written, or computed from undefined bytes) are not compared, and neither
 * are digests of ops that read them.
 * Requires a program without races.  Complexity: O(bytes accessed) per invocation; each version
 * takes memory from its first access to its last. */
#ifndef FS_EXEC_REFERENCE_H
#define FS_EXEC_REFERENCE_H

#include "exec/host/host.h"
#include "fsched/exec.h"

typedef struct fs_reference_counts {
  uint64_t ops;   /* number of digests compared */
  uint64_t bytes; /* number of bytes of kept versions compared */
} fs_reference_counts;

typedef struct fs_reference_run {
  uint64_t invocations;
  const uint64_t *digest;   /* per op: its digest in the last invocation */
  const void *const *given; /* per version: content that was bound; NULL: made from the name */
  const void *const *kept;  /* per version: what the last invocation has kept; NULL: not compared */
  const fsched_device_options *options; /* where the user's kernels are; NULL: there are none */
  const fsched_parameter *parameters;   /* the parameters of the invocations */
  uint32_t n_parameters;
  const fsched_trips *trips; /* those of the invocations */
  uint32_t n_trips;
} fs_reference_run;

/* Compares the last invocation; earlier ones are evaluated only for programs with state.
 * FSCHED_REPLAY with a diagnostic for each op and each kept buffer that differs, or for missing
 * kernels.  Requires at least one invocation. */
fs_status fs_reference_compare(fsched_context *ctx, const fs_stream *s, const fs_reference_run *run,
                               fs_reference_counts *counts) FS_MUST_USE;

#endif
