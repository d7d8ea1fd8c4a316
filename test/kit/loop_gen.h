/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs with one loop, as text: rings of given and open depth, values carried and on entry,
 * ranges and strided views that move, orders across iterations, latencies, resources, scratch, now
 * and then more of these than there is, and ops before and behind.  Outputs are y and z. */
#ifndef FS_TEST_LOOP_GEN_H
#define FS_TEST_LOOP_GEN_H

#include "base/context.h"
#include "base/mem.h"
#include "kit/gen.h"

enum { FS_LOOP_GEN_Y = 4000, FS_LOOP_GEN_Z = 64 }; /* bytes of the outputs */

/* Appends a random shape to the range of an arg, up to 90 bytes from its first byte to its last, or
 * up to 800. */
void fs_loop_gen_view(fs_rng *rng, bool small, fs_text *t);

/* Appends queues of a gang, named or any of a class, and returns how many it takes. */
uint32_t fs_loop_gen_gang(fs_rng *rng, uint32_t n_queues, const uint32_t *class_of, fs_text *t);
/* Begins the args of an op; true: of the first of as many members, with args of their own. */
bool fs_loop_gen_members(fs_rng *rng, uint32_t queues, fs_text *t);
/* Ends the args of the second one of so many members, with those behind it, or of an op without. */
void fs_loop_gen_end(uint32_t members, fs_text *t);

enum { FS_LOOP_GEN_SELDOM = 8, FS_LOOP_GEN_OFTEN = 2 }; /* one op of so many is a gang */

/* Appends the graph of a seed to a text.  Not every one is legal: an unrolled compilation says. */
void fs_loop_gen(uint64_t seed, fs_text *t);
/* The same with many gangs, of which some have a block of parameters. */
void fs_loop_gen_gangs(uint64_t seed, fs_text *t);
/* The same for a target of block syncs, of which some queues can be counted. */
void fs_loop_gen_syncs(uint64_t seed, fs_text *t);
/* Makes such a target of a graph's that is all of the text. */
void fs_loop_gen_use_syncs(uint64_t seed, fs_text *t);
/* The same for a target of barriers, with few slots or many. */
void fs_loop_gen_barriers(uint64_t seed, fs_text *t);
/* Makes such a target of a graph's that is all of the text. */
void fs_loop_gen_use_barriers(uint64_t seed, fs_text *t);
/* Makes some of the buffers with slots of such a graph, of chains or of nests outputs, state
 * or inputs, now and then in a memory with a backing store. */
void fs_loop_gen_keep(uint64_t seed, fs_text *t);

#endif
