/* SPDX-License-Identifier: Apache-2.0 */
/* The naive reference scheduler, a yardstick for benchmarks: ops run one at a time in the graph's
 * topological order, and everything is spilled around each.  Inputs are read from the store to
 * addresses packed from 0, the op runs, what it wrote and is wanted later is written to the store,
 * and all places are given up.  At any time one item runs.
 *
 * Ensures: what fsched_verify_schedule checks.
 * Errors: FSCHED_INFEASIBLE (not reported) where a version is in a bounded memory without an
 * unbounded store to spill to, or where a given start cannot be met; FSCHED_SYSTEM.
 * Complexity: O(args + edges), and per op the square of its args. */
#ifndef FS_TEST_NAIVE_H
#define FS_TEST_NAIVE_H

#include "model/schedule.h"

fs_status fs_naive_schedule(fsched_context *ctx, const fsched_graph *g,
                            fs_schedule **out) FS_MUST_USE;

#endif
