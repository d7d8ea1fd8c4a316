/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of the body of a loop, and what is told of it. */
#ifndef FS_MODULO_PLANNED_H
#define FS_MODULO_PLANNED_H

#include "model/loop_report.h"
#include "modulo/loop.h"
#include "modulo/modulo.h"
#include "modulo/parts.h"

typedef struct fs_planned_loop {
  fs_modulo_loop loop;
  fs_modulo_plan *plan;   /* NULL: there is none, and the report says why */
  fs_modulo_split *split; /* NULL: none of its ops has parts */
  bool unfit;             /* its slots do not fit the memories, however it is planned */
  fs_loop_report report;
} fs_planned_loop;

typedef struct fs_planned_options {
  uint64_t steps; /* of the search, at most */
  bool held_back; /* as in the problem */
  bool always;    /* where the search finds no plan, iterations run one after the other */
  bool single;    /* one copy */
  const fs_modulo_joined *joined; /* per member, with `single`; NULL: none has parts */
  const fs_modulo_tie *tie;       /* of the parts, besides those that they have */
  uint32_t n_ties;
} fs_planned_options;

/* Plans the body of a loop of a graph; of bodies of more than 64 ops only the interval is looked
 * for, in fewer steps, since these take longer.
 * All is in `arena`.  Errors: FSCHED_SYSTEM. */
fs_status fs_planned_loop_make(fsched_context *ctx, fs_arena *arena, const fsched_graph *g,
                               const fs_loop_body *body, const fs_planned_options *options,
                               fs_planned_loop *out) FS_MUST_USE;

#endif
