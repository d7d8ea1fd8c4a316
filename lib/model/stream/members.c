/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stream/members.h"

/* The queue of a command. */
static uint32_t queue_of(const fs_stream *s, uint32_t command) {
  uint32_t low = 0, high = s->n_queues;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (s->queues[middle].command0 <= command) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

uint32_t fs_stream_member_of(const fs_stream *s, uint32_t command) {
  assert(command < s->n_commands && fs_command_members(s, &s->commands[command]) > 0);
  const fs_stream_axis *a = &s->axes[s->commands[command].gang_axis];
  uint32_t queue = queue_of(s, command), low = 0, high = a->n_members;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (s->axis_members[a->member0 + middle] <= queue) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

fs_stream_member fs_stream_args_of(const fs_stream *s, uint32_t command) {
  assert(command < s->n_commands && fs_command_has_op(&s->commands[command]));
  const fs_stream_op *o = &s->ops[s->commands[command].target];
  return fs_op_call_args(s, o, o->n_members == 0 ? 0 : fs_stream_member_of(s, command));
}
