/* SPDX-License-Identifier: Apache-2.0 */
/* The syncs of a loop whose commands a sequencer issues: the fewest full ones that its order of
 * issue needs, then the fewest counting ones of each queue for what these leave. */
#ifndef FS_MODULO_STOPS_H
#define FS_MODULO_STOPS_H

#include "model/rolled.h"
#include "modulo/stops/circle.h"

/* What a sync has to wait for. */
typedef struct fs_stop_arc {
  fs_circle_arc arc; /* of nodes */
  uint32_t queue;    /* of the loop's queues, whose commands can be counted; FS_NONE */
} fs_stop_arc;

/* The order of issue: nodes, which are commands or gangs of them. */
typedef struct fs_stop_order {
  uint32_t n;
  const uint32_t *command; /* per place of a node: the place of its first command */
  const uint32_t *queue0;  /* CSR per queue of the loop: the places of its nodes, ascending */
  const uint32_t *queue;
} fs_stop_order;

/* Makes the stops of a loop, which has its queues and commands, in `arena`.  A counting sync stands
 * in front of the command that needs it, or before commands of its own queue there, as these come
 * behind what it waits for anyway; and it keeps as many as all that need it allow:
 *
 *     |keep P - 1| load i+P, use i        |keep D - P - 1| load i+P        of uses, slots D
 *
 * Requires arcs from nodes of their queues.
 * Complexity: O(queues * (arcs * places of stops + n)).  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_stops(fsched_context *ctx, fs_arena *arena, const fs_stop_order *order,
                          const fs_stop_arc *arc, uint32_t n_arcs,
                          fs_rolled_loop *loop) FS_MUST_USE;

#endif
