/* SPDX-License-Identifier: Apache-2.0 */
/* Is there a plan of a given interval?  A search with propagation. */
#ifndef FS_MODULO_FIXED_H
#define FS_MODULO_FIXED_H

#include "modulo/body.h"

typedef struct fs_modulo_question {
  fs_modulo_ratio period; /* copies * ii */
  int64_t makespan;       /* at most, in 1 / period.den ticks; -1: any */
  bool memory;            /* capacities hold */
  uint64_t bytes;         /* of all open rings together at most; FS_UNBOUNDED: any */
  uint64_t steps;         /* at most */
} fs_modulo_question;

/* Choices that make a plan, and starts that show it. */
typedef struct fs_modulo_choice {
  fs_modulo_ratio period;
  int64_t *start;  /* per op of the body, in 1 / period.den ticks; may be negative */
  uint32_t *track; /* per claim, within its group */
  uint32_t *part;  /* per op: ops of different parts lie on no common cycle of arcs */
  uint32_t *depth; /* per open ring: at most; FS_NONE where nothing limits it */
} fs_modulo_choice;

/* Makes room for choices.  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_choice_new(fs_arena *arena, const fs_modulo_body *b,
                               fs_modulo_choice *out) FS_MUST_USE;
/* Copies all.  Requires choices with room. */
void fs_modulo_choice_copy(const fs_modulo_body *b, fs_modulo_choice *to,
                           const fs_modulo_choice *from);

/* Answers the question; with FS_YES `out` has choices.  They keep arcs between ops of one part, and
 * queues and lanes; where the makespan is limited, all is one part.  Adds the steps that were taken
 * to *steps.  FS_NOT_DECIDED when they, or the numbers, become too many.
 * Requires a period above 0, and choices with room.
 * Deterministic.  Complexity: O(ops^2) a decision.  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_fixed(fsched_context *ctx, const fs_modulo_body *b, const fs_modulo_question *q,
                          fs_modulo_choice *out, fs_decision *found, uint64_t *steps) FS_MUST_USE;

#endif
