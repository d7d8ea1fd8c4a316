/* SPDX-License-Identifier: Apache-2.0 */
/* Programs made by hand and their replay, on the CPU where no device is given, anew for each test.
 * To be included behind all others, as the names are short. */
#ifndef FS_TEST_REPLAY_KIT_H
#define FS_TEST_REPLAY_KIT_H

#include "fsched/replay.h"
#include "kit/replay_maker.h"

#include "kit/context.h"

extern maker *m;
extern fsched_replay_options options; /* checked, with a limit of a minute */
extern fsched_replay_result result;   /* of the last replay() */

/* The context and m. */
void fs_test_maker(TCase *t);
/* All of it. */
void fs_test_replay(TCase *t);

fs_status replay(void);
void assert_ok(void);
/* The first diagnostic of that code has this text in it. */
void assert_diag(const char *code, const char *text);

#endif
