/* SPDX-License-Identifier: Apache-2.0 */
/* A picture as DOT text, by cgraph. */
#ifndef FS_DOT_WRITE_H
#define FS_DOT_WRITE_H

#include "picture.h"

typedef enum fs_layout {
  FS_LAYOUT_FULL,    /* Graphviz takes the time it needs */
  FS_LAYOUT_LIMITED, /* with limits on its effort, and straight edges */
  FS_LAYOUT_PLACED /* nodes have places; of edges, waits, queues and the critical path are drawn */
} fs_layout;

/* FS_LAYOUT_PLACED is for schedules and programs, and takes edges out of the picture.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_dot_write(fs_picture *p, fs_layout layout, bool full_names, fs_text *out) FS_MUST_USE;

#endif
