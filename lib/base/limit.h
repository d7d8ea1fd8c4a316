/* SPDX-License-Identifier: Apache-2.0 */
/* What is too large to be decided.
 *
 * Some questions (is there a schedule as short as this? are there addresses?) are looked into up to
 * a size, or for so many steps.  Beyond that the answer is "not decided", which is no "no": nothing
 * is proven by it, no bound rises and nothing is refused.  So such an answer is an fs_decision, a
 * type that neither a condition nor a number takes by accident.  Bounds that are found without a
 * search just become weaker.
 *
 * The limits hang on the context, where tests make them small.  They are the same for everybody
 * else: results depend on them. */
#ifndef FS_LIMIT_H
#define FS_LIMIT_H

#include "base/base.h"

typedef struct fs_limits {
#define FS_LIMIT(name, most, what) uint64_t name;
#include "base/limits.def"
#undef FS_LIMIT
} fs_limits;

/* The largest that a limit may be: for arrays. */
enum {
#define FS_LIMIT(name, most, what) fs_most_##name = most,
#include "base/limits.def"
#undef FS_LIMIT
};

extern const fs_limits fs_limits_usual;
const fs_limits *fs_limits_of(const fsched_context *ctx);
/* For tests.  `limits` outlives the context.  Requires limits of which none is above the usual
 * one. */
void fs_limits_set(fsched_context *ctx, const fs_limits *limits);

typedef enum fs_decided { FS_NOT_DECIDED, FS_YES, FS_NO } fs_decided;
typedef struct fs_decision {
  fs_decided is;
} fs_decision;

static inline fs_decision fs_not_decided(void) { return (fs_decision){FS_NOT_DECIDED}; }
static inline fs_decision fs_decided_by(bool yes) { return (fs_decision){yes ? FS_YES : FS_NO}; }

#endif
