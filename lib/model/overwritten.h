/* SPDX-License-Identifier: Apache-2.0 */
/* Content that no op needs: given content, since each byte that is read or kept is overwritten
 * before that, by whole versions or by parts of them, by one op or several, in any order; and any
 * content between its last reader and an op that writes over all of it. */
#ifndef FS_OVERWRITTEN_H
#define FS_OVERWRITTEN_H

#include "model/graph.h"

/* Does a schedule read this given content of a spilling memory from its store?  It does if some op
 * accesses the content and a byte of it is wanted (fsched_graph.buffer_wanted).  Otherwise its
 * first residency begins with whichever op comes first, as for content that is not given.  This
 * holds with raw hazards, too: a reader of a byte depends on its last writer in program order, so a
 * reader is never first.  Requires a version of the graph.  O(1). */
bool fs_version_load_needed(const fsched_graph *g, uint32_t version);
/* Is the content needed, although a schedule may do without it where ops race?  With raw hazards,
 * an op that overwrites bytes may run before their reader, although program order puts it later.
 * Requires a version of the graph.  O(accesses of the version). */
bool fs_version_load_races(const fsched_graph *g, uint32_t version);
/* May a version of a memory without a store have several residencies there?  It may where an op
 * writes over all of it, and reads none: before that its place may be another's for a while, as
 * long as nobody reads it.  With raw hazards, where parts are written over, at times that no order
 * tells. Requires a version of the graph.  O(accesses of the version). */
bool fs_version_rests(const fsched_graph *g, uint32_t version);

#endif
