/* SPDX-License-Identifier: Apache-2.0 */
/* Frontiers where nothing but syncs orders the queues (sync.h: stops).
 *
 * One sequencer issues everything, so the commands that a stop has waited for are known to be over
 * to every later command, on any queue.  So the exact clock of a command is what the stops before
 * it have told, and its own epoch: one clock for all queues is enough. */
#ifndef FS_TOLD_H
#define FS_TOLD_H

#include "waits/stored.h"

typedef struct fs_told {
  fs_storer *storer;
  fs_clocks *clocks;
  uint32_t *issued; /* per queue: commands so far */
  uint32_t *epoch;  /* per queue: the commands that stops have waited for */
  uint32_t n;       /* queues whose commands stops have waited for */
  /* Queues that were issued to after the latest full stop: a list, and whether each is on it. */
  uint32_t *since, n_since;
  bool *is_since;
  uint32_t next;  /* stop */
  fs_clock clock; /* with gangs: the clock of all that stops have waited for */
  fs_wait *most;  /* without: as many of it as a frontier holds, the largest keys, by axis */
  uint32_t n_most, room;
} fs_told;

/* Uses a storer and clocks that are ready; arrays in `arena`.  Requires a storer and clocks that
 * are ready, and stops with an order of issue.  Errors: FSCHED_SYSTEM. */
fs_status fs_told_init(fs_told *t, fs_arena *arena, fs_storer *storer,
                       fs_clocks *clocks) FS_MUST_USE;

/* The next command in the order of issue, with the stops before it: its frontier is then the
 * storer's.  Requires the command that comes next on the queue and in the order of issue.
 * Complexity: O(entries of the frontier + commands since the latest full stop) and for each of
 * these what putting it among the `most` takes, or with gangs O(queues). */
fs_status fs_told_issue(fs_told *t, uint32_t command, uint32_t queue) FS_MUST_USE;

#endif
