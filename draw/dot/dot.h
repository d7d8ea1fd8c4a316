/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures in the language of Graphviz, written with its library cgraph, which is therefore part of
 * the program alone and not of libfsched.
 *
 * Queues are clusters, ops boxes, copies cylinders, buffers ellipses, barriers diamonds; the
 * critical path is bold. There are no ports or records, and one table: the legend.  Pictures of
 * more than FS_DOT_LARGE nodes are made smaller first (see `collapse`), and what Graphviz would
 * need long for carries the places of its nodes, which costs next to nothing to render.  The label
 * says what was put together and what is not drawn. Determinism: the same input gives the same
 * bytes.
 *
 * cgraph does not survive a failed allocation, so it works in a process of its own (apart.h), and
 * when that dies there was no memory.  It takes its memory from the C library, not by the context's
 * allocator. */
#ifndef FS_DOT_H
#define FS_DOT_H

#include "base/base.h"
#include "model/sync.h"

/* Numbers of nodes.  Beyond PLACED, a schedule or program is placed in time, not by Graphviz.
 * Beyond LARGE, chains become one node each.  Where more than MOST are then left, they are put
 * together until GROUPS are left (of a schedule or program: LARGE). */
enum { FS_DOT_PLACED = 150, FS_DOT_LARGE = 1500, FS_DOT_MOST = 3000, FS_DOT_GROUPS = 150 };
/* A picture is placed here, too, where the parts of its edges between neighbouring levels are more
 * than EFFORT with its nodes.  Of the edges of what is placed some are left out if there are more
 * than EDGES.  More clusters than QUEUES (LARGE, if nothing may be collapsed) are merged. */
enum { FS_DOT_EFFORT = 2600, FS_DOT_EDGES = 15000, FS_DOT_QUEUES = 100 };

typedef enum fs_dot_collapse {
  FS_DOT_AUTO,   /* as ALWAYS if there are more than FS_DOT_LARGE nodes */
  FS_DOT_ALWAYS, /* chains, then groups if more than FS_DOT_MOST nodes are left */
  FS_DOT_NEVER
} fs_dot_collapse;

typedef struct fs_dot_options {
  size_t size;
  fs_dot_collapse collapse;
  bool full_names;
  bool buffers;  /* of a graph: inputs, constants and outputs are nodes, too */
  bool barriers; /* of a schedule or program: barriers are nodes, up to FS_DOT_LARGE of them */
} fs_dot_options;

/* The text is released with fsched_text_free.  O(n log n) in what is drawn.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_dot_graph(fsched_context *ctx, const fsched_graph *g, const fs_dot_options *options,
                       char **text, size_t *length) FS_MUST_USE;
/* The schedule that was synchronised. */
fs_status fs_dot_schedule(fsched_context *ctx, const fs_sync *sync, const fs_dot_options *options,
                          char **text, size_t *length) FS_MUST_USE;
fs_status fs_dot_program(fsched_context *ctx, const fsched_program *program,
                         const fs_dot_options *options, char **text, size_t *length) FS_MUST_USE;

#endif
