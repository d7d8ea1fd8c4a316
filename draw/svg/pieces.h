/* SPDX-License-Identifier: Apache-2.0 */
/* Turns boxes into pieces: boxes that are too small to be seen alone are merged with their
 * neighbours, so that a picture has a bounded number of shapes, and the outlines of tiny neighbours
 * do not run into each other. */
#ifndef FS_SVG_PIECES_H
#define FS_SVG_PIECES_H

#include "draw/svg/text.h"

/* A box within a panel, half-open in both directions: 0 <= x, y < 2^20. */
typedef struct fs_svg_box {
  fs_cent x0, x1, y0, y1;
  uint32_t id;
} fs_svg_box;

/* One box as it is, or the bounding box of several. */
typedef struct fs_svg_piece {
  fs_svg_box box;      /* id: that of the largest member by area, the first of several */
  uint32_t member0, n; /* ids of its boxes: pieces.member[member0 .. member0 + n) */
} fs_svg_piece;

typedef struct fs_svg_pieces {
  fs_svg_piece *piece;
  uint32_t *member;
  uint32_t n;
  fs_cent grain_x, grain_y; /* smaller boxes were merged, if they had neighbours */
} fs_svg_pieces;

enum { FS_SVG_PIECES_MOST = 5000 };

/* Makes at most FS_SVG_PIECES_MOST pieces, which live in the arena; every box is a member of one
 * piece.  Pieces of one box come in the order of their boxes.  A merged piece extends beyond the
 * area of its boxes by less than four grains in one direction, and one grain in the other.  With
 * grow_y both grains are doubled together; without, that of y only after that of x has grown to
 * `width`.  Requires boxes that are not empty, and a width.  O(n log n).  Errors: FSCHED_SYSTEM. */
fs_status fs_svg_merge(fs_arena *arena, const fs_svg_box *box, uint32_t n, fs_cent width,
                       bool grow_y, fs_svg_pieces *out) FS_MUST_USE;

#endif
