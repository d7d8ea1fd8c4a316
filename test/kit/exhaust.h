/* SPDX-License-Identifier: Apache-2.0 */
/* The best schedule of a small graph, found by trying every start, queue and address.  It is
 * written apart from the passes, the models and the verifier, from the graph and the format alone.
 *
 * Of the format it knows precedence, latencies (but not that epochs are told in order), given
 * starts, queues and gangs, the target's wait, resources, concurrency, contiguous and counted
 * memories without a backing store, scratch, in-place outputs, and given and kept buffers. */
#ifndef FS_TEST_EXHAUST_H
#define FS_TEST_EXHAUST_H

#include "model/graph.h"

enum { FS_EXHAUST_OPS = 8 };

typedef struct fs_exhaust {
  bool known;   /* whether the answer is known: the steps allowed were enough */
  bool found;   /* there is a schedule of at most the makespan that was asked for */
  fs_tick best; /* the makespan of the shortest one */
  fs_tick start[FS_EXHAUST_OPS];
} fs_exhaust;

/* Looks for a schedule of makespan `least`, then `least` + 1, and so on up to `most`. */
fs_exhaust fs_exhaust_search(const fsched_graph *g, fs_tick least, fs_tick most, uint64_t steps);

#endif
