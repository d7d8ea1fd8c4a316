/* SPDX-License-Identifier: Apache-2.0 */
/* Right programs for machines with barriers or with stops, made from right ones with timelines: so
 * that the verifier is tested without the passes that make such programs.  Sizes up to 64 commands.
 */
#ifndef FS_TEST_SYNC_MAKER_H
#define FS_TEST_SYNC_MAKER_H

#include "gen.h"
#include "stream.h"

/* `copy` is of fs_mutant_copy.  One barrier per point that is waited for; then, at random, some are
 * joined, split over slots, and laid on one physical barrier where nothing waits in a circle. */
void fs_make_barriers(fsched_program *copy, fs_rng *rng);
/* A stop before each command that waits for what no earlier one did; new planned times. */
void fs_make_block(fsched_program *copy, fs_rng *rng);

#endif
