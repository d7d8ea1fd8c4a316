/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs with one loop, as text: rings of given and open depth, values carried and on entry,
 * ranges and strided views that move, orders across iterations, latencies, resources, scratch, and
 * ops before and behind.  Outputs are y and z. */
#ifndef FS_TEST_LOOP_GEN_H
#define FS_TEST_LOOP_GEN_H

#include "base/context.h"
#include "base/mem.h"
#include "kit/gen.h"

enum { FS_LOOP_GEN_Y = 4000, FS_LOOP_GEN_Z = 64 }; /* bytes of the outputs */

/* Appends a random shape to the range of an arg, up to 90 bytes from its first byte to its last, or
 * up to 800. */
void fs_loop_gen_view(fs_rng *rng, bool small, fs_text *t);

/* Appends the graph of a seed to a text.  Not every one is legal: an unrolled compilation says. */
void fs_loop_gen(uint64_t seed, fs_text *t);
/* The same for a target of block syncs, of which some queues can be counted; without latencies. */
void fs_loop_gen_syncs(uint64_t seed, fs_text *t);
/* Makes such a target of a graph's that is all of the text. */
void fs_loop_gen_use_syncs(uint64_t seed, fs_text *t);
/* The same for a target of barriers, with few slots or many; without latencies. */
void fs_loop_gen_barriers(uint64_t seed, fs_text *t);
/* Makes such a target of a graph's that is all of the text. */
void fs_loop_gen_use_barriers(uint64_t seed, fs_text *t);

#endif
