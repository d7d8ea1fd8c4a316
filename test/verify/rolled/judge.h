/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of a stream, by unrolling them: written from the comments of model/rolled.h and
 * model/stream/stream.h alone. */
#ifndef FS_TEST_ROLLED_JUDGE_H
#define FS_TEST_ROLLED_JUDGE_H

#include "model/stream/stream.h"

/* Returns what is wrong with a loop whose records can be followed, or NULL: an order that some
 * durations break, a byte that is not the right one, a place that is not the loop's.  Up to 6 ops,
 * 8 queues and 20 trips, and two memories of up to 128 KiB. */
const char *fs_judge_loop(const fs_stream *s, const fs_stream_loop *l);

/* Returns which instances of a loop are over before which start (fs_loop_brute_before), for free();
 * NULL: a deadlock. */
bool *fs_judge_before(const fs_stream *s, const fs_stream_loop *l);

#endif
