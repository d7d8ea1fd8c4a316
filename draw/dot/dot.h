/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures in the language of Graphviz, written with its library cgraph, which is therefore part of
 * the program only and not of libfsched.
 *
 * Queues are clusters, ops boxes, copies cylinders, buffers ellipses, barriers diamonds; the
 * critical path is bold.  There are no ports or records, and one table: the legend.  Pictures of
 * more than FS_DOT_LARGE nodes are made smaller first (see `collapse`).  A picture that would take
 * Graphviz long to lay out gives the positions of its nodes, so that it is rendered quickly.  The
 * label says which nodes were merged and what is not drawn.  Determinism: the same input gives the
 * same bytes.
 *
 * cgraph does not survive a failed allocation, so it works in a separate process (apart.h), and
 * when that process dies, this counts as out of memory.  cgraph takes its memory from the C
 * library, not from the context's allocator. */
#ifndef FS_DOT_H
#define FS_DOT_H

#include "base/base.h"
#include "model/sync.h"

/* Numbers of nodes.  With more than PLACED, a schedule or program is laid out in time, not by
 * Graphviz.  With more than LARGE, chains become one node each.  If more than MOST are left, they
 * are merged into at most GROUPS nodes (of a schedule or program: LARGE). */
enum { FS_DOT_PLACED = 150, FS_DOT_LARGE = 1500, FS_DOT_MOST = 3000, FS_DOT_GROUPS = 150 };
/* A picture is also laid out here if the number of its nodes and of the parts of its edges between
 * neighbouring levels is more than EFFORT.  If a picture laid out here has more than EDGES edges,
 * some are left out.  If there are more than QUEUES clusters (LARGE with FS_DOT_NEVER), they are
 * merged. */
enum { FS_DOT_EFFORT = 2600, FS_DOT_EDGES = 15000, FS_DOT_QUEUES = 100 };

typedef enum fs_dot_collapse {
  FS_DOT_AUTO,   /* like ALWAYS if there are more than FS_DOT_LARGE nodes */
  FS_DOT_ALWAYS, /* merges chains, then groups if more than FS_DOT_MOST nodes are left */
  FS_DOT_NEVER
} fs_dot_collapse;

typedef struct fs_dot_options {
  size_t size;
  fs_dot_collapse collapse;
  bool full_names;
  bool buffers;  /* of a graph: inputs, constants and outputs are nodes too */
  bool barriers; /* of a schedule or program: barriers are nodes, up to FS_DOT_LARGE of them */
} fs_dot_options;

/* The text is released with fsched_text_free.  O(n log n) in the size of what is drawn, and the
 * cost of finding data and of leaving out edges (picture.h).  Errors: FSCHED_SYSTEM. */
fs_status fs_dot_graph(fsched_context *ctx, const fsched_graph *g, const fs_dot_options *options,
                       char **text, size_t *length) FS_MUST_USE;
/* Draws the schedule of `sync`, which holds its synchronisation. */
fs_status fs_dot_schedule(fsched_context *ctx, const fs_sync *sync, const fs_dot_options *options,
                          char **text, size_t *length) FS_MUST_USE;
fs_status fs_dot_program(fsched_context *ctx, const fsched_program *program,
                         const fs_dot_options *options, char **text, size_t *length) FS_MUST_USE;

#endif
