/* SPDX-License-Identifier: Apache-2.0 */
/* The shortest schedule of a tiny graph with spills, by a search through all states of its memory.
 */
#ifndef FS_TEST_SPILL_SEARCH_H
#define FS_TEST_SPILL_SEARCH_H

#include "model/schedule.h"

/* *states counts the states that were looked at; the result is FS_TICK_NONE if there were too many,
 * or if there is no schedule.  The graph may have one memory, the first bounded one, with a store
 * that is unbounded or counted; no ops or copies without length; times up to 6, and copies up to
 * 3. */
fs_tick fs_spill_search(const fsched_graph *g, uint32_t *states);

#endif
