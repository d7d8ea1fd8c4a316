/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of loops whose runs are joined (stream.h): which of them a queue goes on from before they
 * are over. */
#ifndef FS_STREAM_SLOW_PARTS_H
#define FS_STREAM_SLOW_PARTS_H

#include "model/stream/stream.h"

/* Whether the part is slow that a queue has of the runs of a loop.  Requires one of loop_queues, of
 * a loop whose runs are joined.  Complexity: O((args of the loop + waits) * args of the queue's
 * slow ops). */
bool fs_stream_part_slow(const fs_stream *s, uint32_t loop, uint32_t loop_queue);

/* The same of a command in a loop: whether its queue goes on before it is over, as it runs a slow
 * op or such a part.  Requires one of loop_commands, which is one of that queue. */
bool fs_stream_loop_command_slow(const fs_stream *s, uint32_t queue, uint32_t loop_command);

#endif
