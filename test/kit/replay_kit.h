/* SPDX-License-Identifier: Apache-2.0 */
/* Programs made by hand and their replay, on the CPU unless a device is given, anew for each test.
 * Include this behind all other headers, as its names are short. */
#ifndef FS_TEST_REPLAY_KIT_H
#define FS_TEST_REPLAY_KIT_H

#include "fsched/replay.h"
#include "kit/replay_maker.h"

#include "kit/context.h"

extern maker *m;
extern fsched_replay_options options; /* checked, with a time limit of a minute */
extern fsched_replay_result result;   /* of the last replay() */

/* Sets up the context and the maker m. */
void fs_test_maker(TCase *t);
/* Sets up everything: the context, the maker, options and results. */
void fs_test_replay(TCase *t);

fs_status replay(void);
void assert_ok(void);
/* Checks that the first diagnostic of that code contains this text. */
void assert_diag(const char *code, const char *text);

#endif
