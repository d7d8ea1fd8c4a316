/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes into pieces: what is too small to be seen alone is merged with its neighbours, so that a
 * picture has a bounded number of shapes and tiny neighbours don't become a smear of outlines. */
#ifndef FS_SVG_PIECES_H
#define FS_SVG_PIECES_H

#include "draw/svg/text.h"

/* Half-open in both directions, within a panel: 0 <= x, y < 2^20. */
typedef struct fs_svg_box {
  fs_cent x0, x1, y0, y1;
  uint32_t id;
} fs_svg_box;

/* One box as it is, or the bounding box of several. */
typedef struct fs_svg_piece {
  fs_svg_box box;      /* id: the box with the largest area, the first of such */
  uint32_t member0, n; /* ids: pieces.member[member0 .. member0 + n) */
} fs_svg_piece;

typedef struct fs_svg_pieces {
  fs_svg_piece *piece;
  uint32_t *member;
  uint32_t n;
  fs_cent grain_x, grain_y; /* what is narrower or lower was merged, if it had neighbours */
} fs_svg_pieces;

enum { FS_SVG_PIECES_MOST = 5000 };

/* At most FS_SVG_PIECES_MOST pieces; every box is a member of one.  Pieces of one box come in the
 * order of their boxes.  A merged piece sticks out of what it covers by less than four grains in
 * one direction, one in the other.
 * grow_y: the grains are doubled together; else that of y only after x has grown to `width`. Lives
 * in the arena.  Requires boxes that are not empty, and a width.  O(n log n).  Errors:
 * FSCHED_SYSTEM. */
fs_status fs_svg_merge(fs_arena *arena, const fs_svg_box *box, uint32_t n, fs_cent width,
                       bool grow_y, fs_svg_pieces *out) FS_MUST_USE;

#endif
