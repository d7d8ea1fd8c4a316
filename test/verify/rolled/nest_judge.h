/* SPDX-License-Identifier: Apache-2.0 */
/* Loops in loops of a stream, by unrolling them: written from the comments of model/rolled.h and
 * model/stream/stream.h alone. */
#ifndef FS_TEST_ROLLED_NEST_JUDGE_H
#define FS_TEST_ROLLED_NEST_JUDGE_H

#include "model/stream/stream.h"

/* Returns what is wrong with loops whose records can be followed, or NULL: a deadlock, two
 * instances of which one writes what the other touches, or that share scratch or units, in no
 * order; an `after` that is not kept; an instance that leaves what the loop's op has.  If there is
 * nothing, all runs find the same bytes.  Bodies of up to 6 ops, 8 queues and 40 trips. */
const char *fs_judge_nests(const fs_stream *s);

#endif
