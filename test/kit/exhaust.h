/* SPDX-License-Identifier: Apache-2.0 */
/* The best schedule of a small graph by trying all: every start, queue and address.  Written apart
 * from the passes, the models and the verifier; from the graph and SPEC.md alone.
 *
 * Of what the format has it knows: precedence, queues and gangs, resources, concurrency, contiguous
 * and counted memories without a backing store, scratch, in-place outputs, given and kept buffers.
 */
#ifndef FS_TEST_EXHAUST_H
#define FS_TEST_EXHAUST_H

#include "model/graph.h"

enum { FS_EXHAUST_OPS = 8 };

typedef struct fs_exhaust {
  bool known;   /* the answer is: not more steps were needed than were allowed */
  bool found;   /* there is a schedule of at most the makespan that was asked for */
  fs_tick best; /* the shortest one's */
  fs_tick start[FS_EXHAUST_OPS];
} fs_exhaust;

/* Looks for a schedule of makespan `least`, then `least` + 1, and so on up to `most`. */
fs_exhaust fs_exhaust_search(const fsched_graph *g, fs_tick least, fs_tick most, uint64_t steps);

#endif
