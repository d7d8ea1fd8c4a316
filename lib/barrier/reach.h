/* SPDX-License-Identifier: Apache-2.0 */
/* For each barrier, the commands that are after all of its consumers (over before they start).
 *
 * Queues are FIFO, so on each queue these are all commands from some position on.  A queue is cut
 * into segments, here called axes, so that a position fits a byte; axes are numbered by when they
 * begin in the order of all commands.  A row holds one position per axis, in blocks; rows with
 * equal blocks share them.
 * Memory: at most a byte for each barrier and axis, and far less where few or nearly all positions
 * are reached; one word for each barrier and block. */
#ifndef FS_BARRIER_REACH_H
#define FS_BARRIER_REACH_H

#include "barrier/cover.h"

enum { FS_NEVER = 255 };

typedef struct fs_reach {
  uint32_t n_axes;
  uint32_t *command_axis;
  uint8_t *command_at; /* position within its axis, below FS_NEVER */
  uint32_t shift;      /* log2 of the positions in a block */
  uint32_t n_dir;      /* blocks of a row */
  uint32_t *dir;       /* per barrier: its blocks */
  FS_VEC(uint8_t) byte;
  FS_VEC(uint32_t) ref; /* per block: number of rows that have it */
} fs_reach;

/* The arrays of `r` live in `arena`, except the growing ones, which fs_reach_release frees (after a
 * failure too).  Requires `r` zeroed.  Errors: FSCHED_SYSTEM.
 * Complexity: O((commands + preds + consumers) * axes) byte operations at most. */
fs_status fs_reach_find(fsched_context *ctx, fs_arena *arena, const fs_cover_problem *p,
                        fs_reach *r) FS_MUST_USE;
void fs_reach_release(fsched_context *ctx, fs_reach *r);

/* Per axis, the first position that is after all consumers of the barrier; FS_NEVER: none.  `row`
 * has room for n_dir whole blocks.  Requires a barrier for which fs_reach_find has found a row. */
static inline void fs_reach_row(const fs_reach *r, uint32_t barrier, uint8_t *row) {
  assert(r->dir != NULL);
  size_t width = (size_t)1 << r->shift;
  for (uint32_t k = 0; k < r->n_dir; k++) {
    uint32_t block = r->dir[(size_t)barrier * r->n_dir + k];
    memcpy(row + k * width, r->byte.at + block * width, width);
  }
}

#endif
