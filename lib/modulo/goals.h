/* SPDX-License-Identifier: Apache-2.0 */
/* Among plans of one period: a short makespan, then little memory. */
#ifndef FS_MODULO_GOALS_H
#define FS_MODULO_GOALS_H

#include "modulo/fixed.h"

typedef struct fs_modulo_goals {
  const fs_modulo_body *body;
  bool memory;    /* capacities hold */
  uint64_t steps; /* at most */
  uint64_t taken;
} fs_modulo_goals;

/* Improves choices, and the plan that was settled from them, and says what of it is proven.
 * Requires a plan that was found.  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_improve(fsched_context *ctx, fs_arena *arena, fs_modulo_goals *goals,
                            fs_modulo_choice *best, fs_modulo_plan *plan) FS_MUST_USE;

#endif
