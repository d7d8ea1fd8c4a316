/* SPDX-License-Identifier: Apache-2.0 */
/* The time-indexed model that chooses which residencies are spilled and when: a binary per buffer
 * version and interval says whether the version is in memory, others say when it is written and
 * read.  It is for graphs of few ops (limit.h).  Contiguous memories are modelled as amounts; the
 * addresses are found afterwards. */
#ifndef FS_ILP_SPILL_MODEL_H
#define FS_ILP_SPILL_MODEL_H

#include "ilp/model/model.h"
#include "problem/problem.h"

typedef struct fs_spill_model fs_spill_model;

/* Minimises the makespan, at most `horizon`.  Its bounds hold for every schedule of the graph.
 * *out is NULL when the graph has too many ops or the model more than max_terms terms (0: no
 * limit), when no schedule is within the horizon, and for graphs that the model cannot express:
 * those with ops without length that touch a bounded memory, copies that take no time, races in a
 * bounded memory. */
fs_status fs_spill_model_build(fsched_context *ctx, const fsched_graph *g, fs_tick horizon,
                               size_t max_terms, fs_spill_model **out) FS_MUST_USE;
const fs_model *fs_spill_model_of(const fs_spill_model *t);
void fs_spill_model_destroy(fs_spill_model *t);
/* The point of the model that stands for a schedule of the graph. */
fs_status fs_spill_model_point(const fs_spill_model *t, const fs_schedule *s, int64_t *value,
                               bool *fits) FS_MUST_USE;
/* Makes a verified schedule from a point.  *out is NULL when no addresses are found (or the point
 * is no schedule); *exists is FS_NO then if it is proven that these times have no addresses (so
 * that a no-good row loses no schedule). */
fs_status fs_spill_model_schedule(const fs_spill_model *t, const int64_t *value, fs_schedule **out,
                                  fs_decision *exists) FS_MUST_USE;
/* Adds rows that forbid this point, which has no addresses.  No schedule is lost if it is proven
 * that it has none.  The model gets further variables, so values must be made anew; bounds that
 * were proven of the model before hold for the graph as well.  Requires that no row is open. */
fs_status fs_spill_model_forbid(fs_spill_model *t, const int64_t *value) FS_MUST_USE;

#endif
