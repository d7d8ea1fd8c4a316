/* SPDX-License-Identifier: Apache-2.0 */
/* Computes positions for the nodes of a picture that is too large for Graphviz to lay out. */
#ifndef FS_DOT_PLACE_H
#define FS_DOT_PLACE_H

#include "draw/dot/picture.h"

/* A rectangle in points; y grows upwards. */
typedef struct fs_pic_box {
  int64_t left, low, right, high;
} fs_pic_box;

typedef struct fs_pic_places {
  int64_t *x, *y;   /* per node: its centre */
  fs_pic_box *lane; /* per cluster; in time all have one length, even without nodes */
  int64_t low;      /* lowest y of everything */
} fs_pic_places;

enum { FS_PLACE_HEIGHT = 44, FS_PLACE_LABEL = 16 }; /* of nodes; of a lane's label above them */

/* Lays out a picture in time: from top to bottom a lane per cluster, and one for nodes in none;
 * from left to right, each node is behind the previous node of its lane, no further left than any
 * node that has ended when it starts, and has its centre right of the sources of its edges.
 * `width` is per node.  Requires a width for every node.  O(nodes log nodes + edges).  Errors:
 * FSCHED_SYSTEM. */
fs_status fs_place_in_time(fs_picture *p, const int64_t *width, fs_pic_places *out) FS_MUST_USE;

/* Lays out a picture in levels of the order that edges make: from top to bottom one or more rows
 * per level, and a column per cluster, the last for nodes in none.  Requires a width for every
 * node.  O((nodes + edges) log nodes).  Errors: FSCHED_SYSTEM.  Defined in levels.c. */
fs_status fs_place_in_levels(fs_picture *p, const int64_t *width, fs_pic_places *out) FS_MUST_USE;
/* The size of the problem for Graphviz's own layout: the number of nodes, and of the parts of edges
 * from one level to the next.  O(nodes + edges).  Errors: FSCHED_SYSTEM. */
fs_status fs_place_effort(fs_picture *p, uint64_t *effort) FS_MUST_USE;

#endif
