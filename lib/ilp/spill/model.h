/* SPDX-License-Identifier: Apache-2.0 */
/* The time-indexed model in which it is open which residency is spilled and when: a binary per
 * buffer version and interval says whether it is in memory, others when it is written and read.
 * For graphs of few ops (limit.h).  Contiguous memories are dealt with by amounts; the
 * addresses are found afterwards. */
#ifndef FS_ILP_SPILL_MODEL_H
#define FS_ILP_SPILL_MODEL_H

#include "ilp/model/model.h"
#include "ilp/problem/problem.h"

typedef struct fs_spill_model fs_spill_model;

/* Minimises the makespan, at most `horizon`.  Its bounds hold for every schedule of the graph.
 * *out is NULL when the graph has too many ops or the model more than max_terms terms (0: no
 * limit), when no schedule is within the horizon, and for what it does not deal with: ops without
 * length that touch a bounded memory, copies that take no time, races in a bounded memory. */
fs_status fs_spill_model_build(fsched_context *ctx, const fsched_graph *g, fs_tick horizon,
                               size_t max_terms, fs_spill_model **out) FS_MUST_USE;
const fs_model *fs_spill_model_of(const fs_spill_model *t);
void fs_spill_model_destroy(fs_spill_model *t);
/* The point that a schedule of the graph is. */
fs_status fs_spill_model_point(const fs_spill_model *t, const fs_schedule *s, int64_t *value,
                               bool *fits) FS_MUST_USE;
/* A verified schedule from a point.  *out is NULL when no addresses are found (or the point is no
 * schedule); *exists is FS_NO then where it is proven that there are none for these times (then a
 * no-good row may be added without a loss). */
fs_status fs_spill_model_schedule(const fs_spill_model *t, const int64_t *value, fs_schedule **out,
                                  fs_decision *exists) FS_MUST_USE;
/* Adds rows that no longer allow this point: for points without addresses.  Exact when that is
 * proven: no schedule is lost.  The model gets further variables, so values must be made anew; what
 * was proven of the model before holds for the graph as well.  Requires that no row is open. */
fs_status fs_spill_model_forbid(fs_spill_model *t, const int64_t *value) FS_MUST_USE;

#endif
