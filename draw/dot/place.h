/* SPDX-License-Identifier: Apache-2.0 */
/* Places for the nodes of a picture that has too many nodes or edges for Graphviz to place. */
#ifndef FS_DOT_PLACE_H
#define FS_DOT_PLACE_H

#include "draw/dot/picture.h"

/* In points; y grows upwards. */
typedef struct fs_pic_box {
  int64_t left, low, right, high;
} fs_pic_box;

typedef struct fs_pic_places {
  int64_t *x, *y;   /* centres, per node */
  fs_pic_box *lane; /* per cluster; one without nodes is as long as the others */
  int64_t low;      /* of everything */
} fs_pic_places;

enum { FS_PLACE_HEIGHT = 44, FS_PLACE_LABEL = 16 }; /* of nodes; of a lane's label above them */

/* A lane per cluster, from top to bottom, and one for what is in none.  From left to right:
 * a node begins behind the one before it on its lane, to the right of where everything begins that
 * had ended when it starts, and with its centre to the right of those that edges come from. `width`
 * is per node.  Requires a width for every node.  O(nodes log nodes + edges).  Errors:
 * FSCHED_SYSTEM. */
fs_status fs_place_in_time(fs_picture *p, const int64_t *width, fs_pic_places *out) FS_MUST_USE;

/* A row or more per level of the order that edges make, from top to bottom, and a column per
 * cluster, the last for what is in none.  Requires a width for every node.  O((nodes + edges) log
 * nodes).  Errors: FSCHED_SYSTEM. levels.c */
fs_status fs_place_in_levels(fs_picture *p, const int64_t *width, fs_pic_places *out) FS_MUST_USE;
/* What Graphviz's own layout would have to deal with: the nodes, and the parts of edges from one
 * level to the next.  O(nodes + edges).  Errors: FSCHED_SYSTEM. */
fs_status fs_place_effort(fs_picture *p, uint64_t *effort) FS_MUST_USE;

#endif
