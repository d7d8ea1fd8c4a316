/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a picture as DOT text, by cgraph. */
#ifndef FS_DOT_WRITE_H
#define FS_DOT_WRITE_H

#include "draw/dot/picture.h"

typedef enum fs_dot_layout {
  FS_LAYOUT_FULL,  /* Graphviz lays out the picture, however long it takes */
  FS_LAYOUT_PLACED /* nodes have positions, and edges are straight */
} fs_dot_layout;

/* Requires nodes.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_dot_write(fs_picture *p, fs_dot_layout layout, bool full_names,
                       fs_text *out) FS_MUST_USE;

#endif
