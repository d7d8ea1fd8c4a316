/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that a sequencer issues, by unrolling them: written from the comment of model/rolled.h. */
#ifndef FS_TEST_ISSUE_JUDGE_H
#define FS_TEST_ISSUE_JUDGE_H

#include "model/rolled.h"
#include "model/stream/stream.h"

/* Whether in each of `trip` iterations what the wait of a command is for is over by a sync that
 * stands before the command. */
bool fs_issue_keeps(const fs_rolled_loop *r, uint64_t trip, uint32_t command,
                    const fs_rolled_wait *wait);
/* Whether each wait is kept like that, and no sync stands between commands of a gang. */
bool fs_issue_is_right(const fs_rolled_loop *r, uint64_t trip);
/* The same of all loops of a stream, as if each ran 20 times more than what its waits go back; a
 * loop has up to 1,024 commands. */
bool fs_issue_stream_is_right(const fs_stream *s);

#endif
