/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of a graph's loops that stay loops, as records of the stream. */
#ifndef FS_CODEGEN_LOOPS_H
#define FS_CODEGEN_LOOPS_H

#include "codegen/draft.h"
#include "model/sync.h"

/* Sets the counts of the sections.  O(bodies). */
void fs_loops_count(const fsched_graph *g, fs_draft *d);
/* The bytes of their strings. */
uint64_t fs_loops_string_bytes(const fsched_graph *g);
/* Writes the records.  Requires a draft with the ops, their args, and their commands with places;
 * that the kernels' strings were the last ones; and command0: the first command of each item. */
void fs_loops_write(const fsched_graph *g, const fs_sync *sync, fs_draft *d);

#endif
