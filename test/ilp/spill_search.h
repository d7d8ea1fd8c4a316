/* SPDX-License-Identifier: Apache-2.0 */
/* The shortest schedule of a tiny graph with spills, by a search through all states of its memory.
 */
#ifndef FS_TEST_SPILL_SEARCH_H
#define FS_TEST_SPILL_SEARCH_H

#include "model/schedule.h"

/* *states counts what was looked at; FS_TICK_NONE: too much (or no schedule).  One memory,
 * the first bounded one, with a store that is unbounded or counted; no ops or copies without
 * length; times up to 6, copies up to 3. */
fs_tick fs_spill_search(const fsched_graph *g, uint32_t *states);

#endif
