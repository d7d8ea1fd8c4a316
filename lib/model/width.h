/* SPDX-License-Identifier: Apache-2.0 */
/* The width of a graph: the size of a maximum antichain of its ops, that is, of the largest set of
 * ops no two of which are ordered by edges (of data, hazards and `after`; queues and memory do not
 * count).  The result is exact: by Dilworth's theorem it is the size of a minimum path cover of the
 * closure.  Without building the closure, the cover is found as a minimum flow in which every op
 * carries at least one unit. */
#ifndef FS_WIDTH_H
#define FS_WIDTH_H

#include "model/graph.h"

/* Also gives one such antichain, ascending ids, when `antichain` is not NULL (in `arena`).
 * Complexity: O(flow), see width.c.  Errors: FSCHED_SYSTEM. */
fs_status fs_graph_width(fsched_context *ctx, const fsched_graph *g, fs_arena *arena,
                         uint32_t *width, uint32_t **antichain) FS_MUST_USE;

#endif
