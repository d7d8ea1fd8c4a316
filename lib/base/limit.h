/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of questions that are too large to be decided.
 *
 * Some questions (is there a schedule as short as this? are there addresses?) are searched up to a
 * problem size, or for a number of steps.  Beyond that the answer is "not decided", which differs
 * from "no": it proves nothing, raises no bound and refuses nothing.  Such an answer is therefore
 * an fs_decision, a type that cannot be used as a condition or a number by accident.  Bounds that
 * are found without a search only become weaker.
 *
 * The limits belong to the context, where tests make them small.  All other contexts have the same
 * limits, as results depend on them. */
#ifndef FS_LIMIT_H
#define FS_LIMIT_H

#include "base/base.h"

typedef struct fs_limits {
#define FS_LIMIT(name, most, what) uint64_t name;
#include "base/limits.def"
#undef FS_LIMIT
} fs_limits;

/* The largest value of each limit, for the sizes of arrays. */
enum {
#define FS_LIMIT(name, most, what) fs_most_##name = most,
#include "base/limits.def"
#undef FS_LIMIT
};

extern const fs_limits fs_limits_usual;
const fs_limits *fs_limits_of(const fsched_context *ctx);
/* For tests.  `limits` must outlive the context.  Requires limits of which none is above the usual
 * one. */
void fs_limits_set(fsched_context *ctx, const fs_limits *limits);

/* Steps of trials that every graph is given at the usual effort (listsched/trials.c).  Nothing is
 * left undecided by them, so this is no limit of the kind above; tests that need a schedule, not a
 * short one, make it small. */
uint64_t fs_trial_steps_of(const fsched_context *ctx);
/* For tests.  Requires at most FS_TRIAL_STEPS. */
void fs_trial_steps_set(fsched_context *ctx, uint64_t steps);
enum { FS_TRIAL_STEPS = 3000000 };

typedef enum fs_decided { FS_NOT_DECIDED, FS_YES, FS_NO } fs_decided;
typedef struct fs_decision {
  fs_decided is;
} fs_decision;

static inline fs_decision fs_not_decided(void) { return (fs_decision){FS_NOT_DECIDED}; }
static inline fs_decision fs_decided_by(bool yes) { return (fs_decision){yes ? FS_YES : FS_NO}; }

#endif
