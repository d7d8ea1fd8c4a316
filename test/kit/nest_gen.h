/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs with loops in loops, of which the smaller part is refused: some read what nothing
 * has written.  Buffers x (input), y and z (outputs) are those of kit/loop_gen.h. */
#ifndef FS_NEST_GEN_H
#define FS_NEST_GEN_H

#include "kit/loop_gen.h"

/* Appends the text of a graph file. */
void fs_nest_gen(uint64_t seed, fs_text *t);
/* The same with many gangs. */
void fs_nest_gen_gangs(uint64_t seed, fs_text *t);
/* Loops in a loop of a few queues, whose rings are their own: most of them have runs that may be
 * joined, as planned. */
void fs_nest_gen_joined(uint64_t seed, fs_text *t);
/* The same for a target of barriers. */
void fs_nest_gen_joined_barriers(uint64_t seed, fs_text *t);
/* Loops in loops as the first ones, for a target of block syncs. */
void fs_nest_gen_syncs(uint64_t seed, fs_text *t);
/* Such for a target of barriers. */
void fs_nest_gen_barriers(uint64_t seed, fs_text *t);

#endif
