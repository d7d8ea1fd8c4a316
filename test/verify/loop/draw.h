/* SPDX-License-Identifier: Apache-2.0 */
/* Random loops that stay loops.  Most are made from a plan with times, and wait where that needs
 * it, but now and then too little or too late; the others are wild. */
#ifndef FS_TEST_LOOP_DRAW_H
#define FS_TEST_LOOP_DRAW_H

#include "kit/gen.h"
#include "verify/loop/loop.h"

enum {
  FS_DRAW_MEMBERS = 6,
  FS_DRAW_QUEUES = 3,
  FS_DRAW_COPIES = 3,
  FS_DRAW_COMMANDS = FS_DRAW_MEMBERS * FS_DRAW_QUEUES * FS_DRAW_COPIES,
  FS_DRAW_WAITS = 1024
};

typedef struct fs_loop_draw {
  fs_rolled_loop r;
  fs_loop_rules rules;
  uint32_t trips; /* so many show its faults */
  uint32_t queue[FS_DRAW_QUEUES], command0[FS_DRAW_QUEUES + 1];
  fs_rolled_command command[FS_DRAW_COMMANDS];
  fs_rolled_wait wait[FS_DRAW_WAITS];
  fs_rolled_ring ring[2];
  fs_rolled_reader reader[8];
  fs_loop_order order[4];
  uint32_t lane0[2], lane[2];
} fs_loop_draw;

void fs_loop_draw_any(uint64_t seed, fs_loop_draw *d);

#endif
