/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stream/slow_parts.h"

#include "model/kinds.h"

/* Whether the loop's ops write a buffer from outside. */
static bool is_written(const fs_stream *s, const fs_stream_loop *l, uint32_t buffer) {
  bool written = false;
  for (uint32_t op = l->op0; op < l->op0 + l->n_ops && !written; op++) {
    const fs_stream_loop_op *o = &s->loop_ops[op];
    for (uint32_t a = o->arg0; a < o->arg0 + o->n_args; a++) {
      const fs_stream_loop_arg *x = &s->loop_args[a];
      written = written || (x->buffer == buffer && x->ring == FS_NONE && fs_tag_writes(x->tag));
    }
  }
  return written;
}

/* Whether a command of the queue that is not slow waits for this one in its iteration. */
static bool is_awaited(const fs_stream *s, const fs_stream_loop_queue *q, uint32_t command) {
  bool awaited = false;
  for (uint32_t c = q->command0; c < q->command0 + q->n_commands && !awaited; c++) {
    const fs_stream_loop_command *k = &s->loop_commands[c];
    const fs_stream_loop_op *o = &s->loop_ops[k->op];
    for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits && o->latency == o->time; w++) {
      awaited = awaited || (s->loop_waits[w].command == command && s->loop_waits[w].distance == 0);
    }
  }
  return awaited;
}

bool fs_stream_part_slow(const fs_stream *s, uint32_t loop, uint32_t loop_queue) {
  const fs_stream_loop *l = &s->loops[loop];
  const fs_stream_loop_queue *q = &s->loop_queues[loop_queue];
  bool any = false, alone = true;
  assert(l->joined != 0 && loop_queue - l->queue0 < l->n_queues);
  for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
    const fs_stream_loop_op *o = &s->loop_ops[s->loop_commands[c].op];
    bool slow = o->latency > o->time;
    any = any || (slow && !is_awaited(s, q, c));
    for (uint32_t a = o->arg0; a < o->arg0 + o->n_args && slow; a++) {
      const fs_stream_loop_arg *x = &s->loop_args[a];
      alone = alone && (x->buffer == FS_NONE || x->ring != FS_NONE || !fs_tag_accesses(x->tag) ||
                        !is_written(s, l, x->buffer));
    }
  }
  return any && alone;
}

bool fs_stream_loop_command_slow(const fs_stream *s, uint32_t queue, uint32_t loop_command) {
  assert(loop_command < s->n_loop_commands);
  const fs_stream_loop_op *o = &s->loop_ops[s->loop_commands[loop_command].op];
  if (o->loop == FS_NONE || s->loops[o->loop].joined == 0) {
    return o->latency > o->time;
  }
  const fs_stream_loop *l = &s->loops[o->loop];
  uint32_t part = l->queue0;
  while (part + 1 < l->queue0 + l->n_queues && s->loop_queues[part].queue != queue) {
    part++;
  }
  return fs_stream_part_slow(s, o->loop, part);
}
