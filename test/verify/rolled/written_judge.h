/* SPDX-License-Identifier: Apache-2.0 */
/* What streams with loops read, by unrolling these: byte by byte, in program order. */
#ifndef FS_TEST_WRITTEN_JUDGE_H
#define FS_TEST_WRITTEN_JUDGE_H

#include "model/stream/stream.h"

/* Of the streams at hand. */
enum { FS_JUDGE_BUFFERS = 32, FS_JUDGE_SIZE = 1 << 14 };

/* Whether some byte is read that nothing has written.  What a loop's op writes counts as written
 * behind it: that this is so is the graph's to say.  `trips`: of each loop, or NULL for the most.
 */
bool fs_reads_nothing(const fs_stream *s, const uint64_t *trips);
/* The same of a buffer, and of what an outermost loop does: what its op reads is there. */
bool fs_nest_reads_nothing(const fs_stream *s, uint32_t loop, uint32_t buffer,
                           const uint64_t *trips);

#endif
