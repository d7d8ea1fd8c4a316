/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs in which loops, one after the other, hand a value on.  Buffers x (input), y and z
 * (outputs) are those of kit/loop_gen.h. */
#ifndef FS_CHAIN_GEN_H
#define FS_CHAIN_GEN_H

#include "kit/loop_gen.h"

/* Appends the text of a graph file. */
void fs_chain_gen(uint64_t seed, fs_text *t);

#endif
