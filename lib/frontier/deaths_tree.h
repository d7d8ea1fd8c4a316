/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces of a range of bytes: a tree by offset, of which each node knows the free runs of its
 * subtree, and a list in the same order.  Pieces tile the range.  Id 0 means no piece.
 *
 * Source: Adelson-Velsky and Landis, "An algorithm for the organization of information", 1962.
 * Whatever the offsets, the tree and the recursion are at most 1.45 log2(n + 2) deep. */
#ifndef FS_BLOCK_TREE_H
#define FS_BLOCK_TREE_H

#include "base/mem.h"

typedef struct fs_piece {
  uint64_t offset, bytes;
  /* Of the subtree: all bytes, the free ones at its begin and end, the longest free run in it. */
  uint64_t span, prefix, suffix, longest;
  uint64_t stamp;          /* the latest give that contributed to its death */
  uint32_t left, right;    /* subtrees */
  uint32_t previous, next; /* neighbours; `next` also links unused ids */
  uint32_t block;          /* first piece of the block to which it belongs; 0: it is free */
  uint32_t last;           /* of a block's first piece: its last one */
  uint32_t n;              /* entries of the death */
  bool tainted, touched;
  uint8_t height; /* of the subtree; a leaf: 1, piece 0: 0 */
} fs_piece;

typedef struct fs_pieces {
  FS_VEC(fs_piece) piece; /* by id */
  uint32_t root, unused, n;
} fs_pieces;

/* Reserves ids, so that the next n calls of fs_piece_new cannot fail.  Requires that the number of
 * pieces stays below 2^32 - 1. */
fs_status fs_pieces_reserve(fsched_context *ctx, fs_pieces *t, uint32_t n) FS_MUST_USE;
/* Requires a reserved id.  The new piece is in neither tree nor list. */
uint32_t fs_piece_new(fs_pieces *t);
/* Requires a piece that is in neither tree nor list. */
void fs_piece_drop(fs_pieces *t, uint32_t id);

/* Insert a piece into the tree and remove it; the caller maintains the list.  Requires a piece with
 * bytes that is not in the tree.  O(log n). */
void fs_pieces_insert(fs_pieces *t, uint32_t id);
/* Requires a piece of the tree. */
void fs_pieces_remove(fs_pieces *t, uint32_t id);
/* Updates the tree after a change of a piece's `block` or `bytes`.  Requires a piece of the tree.
 * O(log n). */
void fs_pieces_update(fs_pieces *t, uint32_t id);
/* The piece that holds a byte.  Requires a byte of the range.  O(log n). */
uint32_t fs_pieces_at(const fs_pieces *t, uint64_t offset);
/* The first free run of at least `bytes` that begins at `from` or later: its first piece and its
 * length; or 0.  Requires bytes > 0.  Requires (unchecked: O(log n)) that no free run lies across
 * `from`.  O(log n). */
uint32_t fs_pieces_run(const fs_pieces *t, uint64_t bytes, uint64_t from, uint64_t *length);

#endif
