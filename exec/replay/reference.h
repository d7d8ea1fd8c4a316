/* SPDX-License-Identifier: Apache-2.0 */
/* What a replay is compared with: the ops one after the other in program order
 * (reference_order.h), every buffer version in memory of its own, no schedule, no addresses.
 *
 * Bytes that the graph leaves open (never written, or computed from such) are not compared, nor are
 * digests of ops that read them.
 * Requires a program without races.  Complexity: O(bytes accessed) per invocation; memory for the
 * versions between their first and last access. */
#ifndef FS_EXEC_REFERENCE_H
#define FS_EXEC_REFERENCE_H

#include "exec/host/host.h"
#include "fsched/exec.h"

typedef struct fs_reference_counts {
  uint64_t ops;   /* digests compared */
  uint64_t bytes; /* of kept versions, compared */
} fs_reference_counts;

typedef struct fs_reference_run {
  uint64_t invocations;
  const uint64_t *digest;   /* per op, of the last invocation */
  const void *const *given; /* per version: content that was bound; NULL: made from the name */
  const void *const *kept;  /* per version: what the last invocation has kept; NULL: not compared */
  const fsched_device_options *options; /* where kernels of the user's are; NULL: there are none */
  const fsched_parameter *parameters;   /* other values; as the invocations had them */
  uint32_t n_parameters;
} fs_reference_run;

/* Only state needs the invocations before the last.  FSCHED_REPLAY with a diagnostic for each op
 * and each kept buffer that differs, or for kernels that are not there.  Requires an invocation at
 * least. */
fs_status fs_reference_compare(fsched_context *ctx, const fs_stream *s, const fs_reference_run *run,
                               fs_reference_counts *counts) FS_MUST_USE;

#endif
