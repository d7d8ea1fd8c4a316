/* SPDX-License-Identifier: Apache-2.0 */
/* The blame: starting at the stuck command that was planned first, follow "waits for the axis of"
 * from queue to queue.  That ends at a wait for a queue that will not reach the epoch any more, the
 * culprit, or goes round; then the command of the ring that was planned first is named. */
#include "stuck.h"

static fs_stuck look(const fs_stuck_view *v, uint32_t queue) { return v->queue(v->x, queue); }

static const fs_stream_command *command_at(const fs_stuck_view *v, uint32_t queue, uint32_t at) {
  return &v->s->commands[v->s->queues[queue].command0 + at];
}

static bool is_stuck(const fs_stuck_view *v, uint32_t queue) {
  return look(v, queue).at != FS_NONE;
}

/* Planned earlier, ties by queue; FS_NONE is last of all. */
static bool earlier(const fs_stuck_view *v, uint32_t a, uint32_t b) {
  fs_stuck x = look(v, a), y = b == FS_NONE ? (fs_stuck){.at = FS_NONE} : look(v, b);
  if (x.at == FS_NONE || y.at == FS_NONE) {
    return y.at == FS_NONE;
  }
  uint64_t start_a = command_at(v, a, x.at)->start, start_b = command_at(v, b, y.at)->start;
  return start_a != start_b ? start_a < start_b : a < b;
}

/* Whether the stuck queue `m` has still to do what `wait` is for: not when it is past it without a
 * signal, nor when it is at that very gang and waits for the others too. */
static bool holds_up(const fs_stuck_view *v, uint32_t m, const fs_stuck *wait) {
  fs_stuck own = look(v, m);
  if (own.at == FS_NONE) {
    return false;
  }
  if (v->s->axes[wait->axis].kind == FS_AXIS_QUEUE) {
    return own.at < wait->epoch;
  }
  bool meets = own.item == FS_NONE && own.axis == wait->axis && own.epoch == wait->epoch;
  for (uint32_t i = 0; i < own.at + meets; i++) {
    const fs_stream_command *c = command_at(v, m, i);
    if (c->gang_axis == wait->axis && c->gang_epoch == wait->epoch) {
      return false;
    }
  }
  return true;
}

/* The stuck queue that `queue` waits for; FS_NONE when that is none. */
static uint32_t waits_for(const fs_stuck_view *v, uint32_t queue) {
  fs_stuck wait = look(v, queue);
  if (wait.at == FS_NONE || wait.item != FS_NONE) {
    return FS_NONE;
  }
  const fs_stream_axis *axis = &v->s->axes[wait.axis];
  if (axis->kind == FS_AXIS_QUEUE) {
    return holds_up(v, wait.axis, &wait) ? wait.axis : FS_NONE;
  }
  for (uint32_t i = 0; i < axis->n_members; i++) {
    uint32_t m = v->s->axis_members[axis->member0 + i];
    if (holds_up(v, m, &wait)) {
      return m;
    }
  }
  return FS_NONE;
}

/* FS_NONE when nobody is stuck (any more). */
static uint32_t find_culprit(const fs_stuck_view *v) {
  uint32_t q = FS_NONE;
  for (uint32_t i = 0; i < v->s->n_queues; i++) {
    if (is_stuck(v, i) && earlier(v, i, q)) {
      q = i;
    }
  }
  for (uint32_t i = 0; q != FS_NONE && i < v->s->n_queues; i++) {
    uint32_t next = waits_for(v, q);
    if (next == FS_NONE) {
      return q;
    }
    q = next;
  }
  /* After as many steps as there are queues, q lies on a ring, unless things have moved. */
  uint32_t first = q, steps = 0;
  for (uint32_t p = q == FS_NONE ? FS_NONE : waits_for(v, q);
       p != FS_NONE && p != q && steps < v->s->n_queues; p = waits_for(v, p), steps++) {
    first = earlier(v, p, first) ? p : first;
  }
  return first;
}

static const char *command_target(const fs_stream *s, const fs_stream_command *c) {
  bool run = c->kind == FS_COMMAND_RUN;
  return fs_stream_string(
      s, run ? s->ops[c->target].name : s->buffers[s->versions[c->target].buffer].name);
}

static void report_queue(const fs_stuck_view *v, fsched_context *ctx, uint32_t q,
                         fsched_severity severity) {
  const fs_stream *s = v->s;
  fs_stuck wait = look(v, q);
  if (wait.at == FS_NONE) {
    return;
  }
  const fs_stream_command *c = command_at(v, q, wait.at);
  const char *queue = fs_stream_string(s, s->queues[q].name);
  const char *kind = c->kind == FS_COMMAND_RUN ? "op" : "copy of";
  if (wait.item != FS_NONE) {
    fs_report(
        ctx, severity, FS_DIAG_REPLAY_STUCK, FS_NOWHERE, NULL,
        "queue '%s' is stuck at command %u (%s '%s'): it waits for the content of '%s', whose "
        "fence has not been signalled",
        queue, c->epoch, kind, command_target(s, c),
        fs_stream_string(s, s->buffers[v->io->given[wait.item].buffer].name));
    return;
  }
  fs_report(ctx, severity, FS_DIAG_REPLAY_STUCK, FS_NOWHERE, NULL,
            "queue '%s' is stuck at command %u (%s '%s'): it waits for epoch %llu of '%s', which "
            "has reached %llu",
            queue, c->epoch, kind, command_target(s, c), (unsigned long long)wait.epoch,
            fs_stream_string(s, s->axes[wait.axis].name),
            (unsigned long long)v->reached(v->x, wait.axis));
}

void fs_stuck_report(fsched_context *ctx, const fs_stuck_view *v) {
  uint32_t culprit = find_culprit(v);
  if (culprit == FS_NONE) {
    return;
  }
  report_queue(v, ctx, culprit, FSCHED_ERROR);
  for (uint32_t i = 0; i < v->s->n_queues; i++) {
    if (i != culprit && is_stuck(v, i)) {
      report_queue(v, ctx, i, FSCHED_NOTE);
    }
  }
}
