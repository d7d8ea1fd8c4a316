/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs of ops and loops in turn, on up to four queues, in which ops read what single
 * stages of a loop write, and stages what single ops do. */
#ifndef FS_TEST_LAG_GEN_H
#define FS_TEST_LAG_GEN_H

#include "kit/loop_gen.h"

/* Appends the text of a graph, which ends with a zero. */
void fs_lag_gen(uint64_t seed, fs_text *t);

#endif
