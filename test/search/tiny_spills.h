/* SPDX-License-Identifier: Apache-2.0 */
/* Tiny graphs with one short memory, all of whose states can be searched (ilp/spill_search.h). */
#ifndef FS_TEST_TINY_SPILLS_H
#define FS_TEST_TINY_SPILLS_H

#include "fsched/graph.h"
#include "kit/gen.h"

enum { TINY_OPS = 5, TINY_BUFFERS = 6, TINY_TEXT = 4096 };

typedef struct tiny_script {
  fs_rng rng;
  char text[TINY_TEXT];
  size_t n;
  uint32_t n_in, n_ops, size[TINY_BUFFERS], capacity;
  uint32_t arg[TINY_OPS][3], n_args[TINY_OPS]; /* buffers that an op accesses beside its own */
  unsigned tag[TINY_OPS][3];
  uint32_t scratch[TINY_OPS];
} tiny_script;

/* NULL: more than 14 units of addresses, which the search through states does not count.  The text
 * of the graph is in the script. */
fsched_graph *fs_tiny_graph(tiny_script *s, uint64_t seed);

#endif
