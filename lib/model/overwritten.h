/* SPDX-License-Identifier: Apache-2.0 */
/* Given content that no op needs, since each byte of it that is read, or kept, is overwritten
 * before that: by whole versions or by parts of them, of one op or of several, in any order. */
#ifndef FS_OVERWRITTEN_H
#define FS_OVERWRITTEN_H

#include "model/graph.h"

/* Given content of a spilling memory that a schedule reads from its store: some op accesses it, and
 * a byte of it is wanted (fsched_graph.buffer_wanted).  Else its first residency begins with
 * whichever op comes first, as that of content that is not given does.  This is so with raw
 * hazards, too: who reads a byte depends on the op that program order has write it last, so a
 * reader is never first.  Requires a version of the graph.  O(1). */
bool fs_version_load_needed(const fsched_graph *g, uint32_t version);
/* Needed, but a schedule may do without where ops race: with raw hazards what overwrites bytes may
 * come before who reads them, though it stands behind him.  Requires a version of the graph.
 * O(accesses of the version). */
bool fs_version_load_races(const fsched_graph *g, uint32_t version);

#endif
