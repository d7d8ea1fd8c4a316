/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of buffers in an unrolled graph, where iterations hand them on or they share slots. */
#ifndef FS_BUILDER_CARRIED_H
#define FS_BUILDER_CARRIED_H

#include "front/builder/private.h"

typedef struct fs_carried_version {
  uint32_t buffer, number; /* number: within the buffer, from 0 */
  uint32_t writes;         /* in place, so far */
  uint32_t last_read;      /* the last op that reads it when it is old; FS_NONE: none does */
  uint32_t last_arg;       /* the arg by which it does */
  uint32_t begun;          /* by this op; FS_NONE: given */
  uint32_t renamed;        /* its own buffer, or FS_NONE */
} fs_carried_version;

/* Adds an `after` for each pair of ops that a ring of given depth orders: who begins a version
 * comes after all who use the one whose slot it takes.  Requires an unrolled graph, n versions in
 * the order in which they are begun, and for each arg its version or FS_NONE.  Complexity: O(ops +
 * args
 * + versions + pairs).  Errors: FSCHED_SYSTEM, FSCHED_BAD_INPUT (a use comes too late, or more
 * pairs than a graph may have entries). */
fs_status fs_builder_ring_orders(fsched_builder *b, const fs_carried_version *version, uint32_t n,
                                 const uint32_t *arg_version) FS_MUST_USE;

#endif
