/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the search share. */
#ifndef FS_SEARCH_PRIVATE_H
#define FS_SEARCH_PRIVATE_H

#include "search/search.h"

typedef struct fs_search_state {
  fsched_context *ctx;
  const fsched_graph *g;
  const fs_search_options *o;
  fs_schedule *best; /* NULL: none is known */
  fs_tick bound;
  uint64_t begin_ns, deadline_ns, told_ns; /* deadline 0: none */
  uint64_t nodes, most_nodes;              /* most_nodes 0: no limit */
  uint64_t before_trials, most_trials;     /* nodes; runs */
  fs_tick told_makespan, told_bound;
} fs_search_state;

/* Is the search at an end, by a limit or the caller?  `user` is its state. */
bool fs_search_over(void *user);
/* The caller hears of the shortest makespan and the bound, where they have changed or after a
 * while.
 */
void fs_search_tell(fs_search_state *s, fs_tick makespan);
/* FS_TICK_NONE: none is known. */
fs_tick fs_search_best(const fs_search_state *s);
/* Takes ownership of the schedule, which may be NULL. */
void fs_search_offer(fs_search_state *s, fs_schedule *found);
/* Searches a graph whose memories may be short.  short.c */
fs_status fs_search_short(fs_search_state *s) FS_MUST_USE;

#endif
