/* SPDX-License-Identifier: Apache-2.0 */
/* What a replay is compared with: the ops one after the other in program order, every buffer
 * version in memory of its own, no schedule, no addresses.
 *
 * Bytes that the graph leaves open (never written, or computed from such) are not compared, nor are
 * digests of ops that read them.
 * Requires: a program without races.  Complexity: O(bytes accessed) per invocation; memory for the
 * versions between their first and last access. */
#ifndef FS_EXEC_REFERENCE_H
#define FS_EXEC_REFERENCE_H

#include "backend.h"

typedef struct fs_reference_counts {
  uint64_t ops;   /* digests compared */
  uint64_t bytes; /* of kept versions, compared */
} fs_reference_counts;

/* Compares the last of `invocations` with the digests and with what the instance has kept.  Only
 * state needs the ones before.  FSCHED_REPLAY with a diagnostic for each op and each kept buffer
 * that differs. */
fs_status fs_reference_compare(fsched_context *ctx, const fs_stream *s, uint64_t invocations,
                               const uint64_t *digest, const fs_backend *backend,
                               fs_instance *instance, fs_reference_counts *counts) FS_MUST_USE;

#endif
