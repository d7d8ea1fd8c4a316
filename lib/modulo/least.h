/* SPDX-License-Identifier: Apache-2.0 */
/* The least period of a body, by questions of fixed periods. */
#ifndef FS_MODULO_LEAST_H
#define FS_MODULO_LEAST_H

#include "modulo/fixed.h"

typedef struct fs_modulo_least {
  const fs_modulo_body *body;
  fs_modulo_ratio lower; /* no plan has a lesser period */
  fs_modulo_ratio upper; /* only lesser ones are looked for; den 0: any */
  bool memory;           /* capacities hold */
  uint64_t steps;        /* at most */
  /* results: */
  fs_decision found; /* FS_NO: no plan, or none below `upper` */
  bool proven;       /* what was found is the least */
  uint64_t taken;    /* steps */
} fs_modulo_least;

/* Looks for choices of the least period, and gives the exact period and starts of the best.
 * Requires a lower bound above 0, and choices with room.  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_least_period(fsched_context *ctx, fs_modulo_least *least,
                                 fs_modulo_choice *best) FS_MUST_USE;

#endif
