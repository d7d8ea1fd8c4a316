/* SPDX-License-Identifier: Apache-2.0 */
/* Proves of an outermost loop and all loops in it that what they read of a buffer was written
 * before, at a cost that does not depend on how often they run: see loops/shift.c. */
#ifndef FS_VERIFY_STREAM_LOOPS_SHIFT_H
#define FS_VERIFY_STREAM_LOOPS_SHIFT_H

#include "base/mem.h"
#include "model/stream/views.h"

/* How a loop moves an access: by bytes, or to slots of a ring. */
typedef struct fs_vmove {
  uint32_t loop;
  uint32_t op;         /* of loop_ops: the op of its body that the access is of, or in */
  int64_t step;        /* bytes; 0 with a ring */
  uint32_t ring, back; /* FS_NONE, 0: no ring */
} fs_vmove;

/* What an op of a body touches: it begins at `at` in iteration 0 of all loops, in slots 0. */
typedef struct fs_vnest_access {
  uint32_t n;                      /* loops around it; 0: what is there when the nest begins */
  fs_vmove move[FSCHED_MAX_LOOPS]; /* the outermost first */
  int64_t at, length;              /* bytes */
  fs_view_runs runs;               /* which of these it has, as they lie from byte 0 on */
  int64_t within, limit; /* where it begins in what it is cut off with: a version, or the buffer;
                          * and where that ends, in bytes */
  uint32_t inside;       /* the loops from here on move it in that */
  bool reads, writes;
  bool elsewhere; /* where it lies depends on other things */
  bool first;     /* of its innermost loop the first iteration alone has to be looked at */
} fs_vnest_access;
typedef FS_VEC(fs_vnest_access) fs_vnest_accesses;

/* Appends what a run of an outermost loop reads and writes of a buffer, in program order, behind
 * what its op reads.  Left out are reads of versions of rings that an op begins as a whole, as the
 * records' shape shows them to be written by then, unless it is what is there on entry; and writes
 * that may be cut off with a version, or that lie in slots of loops whose runs are joined, which
 * only their own reads look for.
 * Requires an outermost loop of a stream whose loops have a right shape.  O(args of its nest). */
fs_status fs_vnest_list(fsched_context *ctx, const fs_stream *s, uint32_t loop, uint32_t buffer,
                        fs_vnest_accesses *out) FS_MUST_USE;

/* *shown: whether it is shown that all that a run of the loop reads of a buffer was written before,
 * for all numbers of trips that its parameters may have.  If not, it may be so nevertheless.
 * *steps: the work, as a number that does not depend on the machine, at most FS_VNEST_STEPS.
 * Requires an outermost loop of a stream whose loops have a right shape. */
#define FS_VNEST_STEPS (UINT64_C(1) << 20)
fs_status fs_vnest_prove(fsched_context *ctx, const fs_stream *s, uint32_t loop, uint32_t buffer,
                         uint64_t *steps, bool *shown) FS_MUST_USE;

#endif
