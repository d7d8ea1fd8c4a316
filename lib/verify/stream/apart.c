/* SPDX-License-Identifier: Apache-2.0 */
/* Slow commands on the barrier machine.
 *
 * A barrier tells of the ends of its producers and of nobody else.  So it may be known that a
 * command is complete while a slow one before it on its queue still runs, and an epoch of a queue
 * does not say what is known.  Clocks have more axes then, behind those of the queues and of split
 * barriers (stream/parts.c):
 *
 *   a queue's        its quick commands up to the epoch are complete: each starts only when those
 *                    before it are, so knowing one is knowing these;
 *   a slow command's it is complete, if the epoch is 1;
 *   a queue's count  so many of its first slow commands are known: nobody has to look at them
 * again.
 *
 * A queue's next command knows what its slow one knew, and nothing of its end.  Entries of
 * frontiers are of epochs that are reached: all commands up to there are known, slow or not. */
#include "base/context.h"
#include "verify/stream/walk.h"

static uint32_t count_axis(const fs_vs *v, uint32_t queue) {
  return v->first_apart + v->n_apart + queue;
}

fs_status fs_vapart_prepare(fs_vs *v, uint32_t first, uint32_t *n_axes) {
  const fs_stream *s = v->s;
  uint32_t n = 0;
  *n_axes = first;
  if (!v->apart) {
    return FSCHED_OK;
  }
  v->first_apart = first;
  FS_TRY(fs_new_none(&v->arena, &v->slow_axis, s->n_commands));
  FS_TRY(fs_new(&v->arena, &v->slow0, (size_t)s->n_queues + 1));
  FS_TRY(fs_new(&v->arena, &v->slow, s->n_commands));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    v->slow0[q] = n;
    for (uint32_t i = 0; i < s->queues[q].n_commands; i++) {
      uint32_t c = s->queues[q].command0 + i;
      if (fs_vs_slow(v, c)) {
        v->slow_axis[c] = first + n;
        v->slow[n++] = c;
      }
    }
  }
  v->slow0[s->n_queues] = n;
  v->n_apart = n;
  *n_axes = first + n + s->n_queues;
  return FSCHED_OK;
}

void fs_vapart_over(const fs_vs *v, fs_vdense *known, uint32_t command) {
  assert(command < v->s->n_commands);
  if (v->apart && v->slow_axis[command] != FS_NONE) {
    fs_vdense_raise(known, v->slow_axis[command], 1);
  } else {
    fs_vdense_raise(known, v->command_queue[command], v->s->commands[command].epoch);
  }
}

void fs_vapart_settle(fs_vs *v) {
  assert(v->apart);
  for (uint32_t q = 0; q < v->s->n_queues; q++) {
    uint32_t n = v->slow0[q + 1] - v->slow0[q], k = v->now.epoch[count_axis(v, q)];
    while (k < n && v->now.epoch[v->slow_axis[v->slow[v->slow0[q] + k]]] != 0) {
      k++;
    }
    fs_vdense_raise(&v->now, count_axis(v, q), k);
  }
}

/* The epoch up to which all commands of a queue are known. */
static uint32_t known_up_to(const fs_vs *v, uint32_t queue) {
  const fs_stream_queue *q = &v->s->queues[queue];
  uint32_t first_unknown = v->slow0[queue] + v->now.epoch[count_axis(v, queue)];
  uint32_t epoch = v->now.epoch[queue], limit = q->n_commands;
  if (first_unknown < v->slow0[queue + 1]) {
    limit = v->slow[first_unknown] - q->command0;
  }
  while (epoch < limit && fs_vs_slow(v, q->command0 + epoch)) {
    epoch++;
  }
  return (uint32_t)fs_min(epoch, limit);
}

/* Whether all commands that an entry stands for are known, or are up to the command itself.  Notes
 * in `other` what it says of queues. */
static bool entry_known(fs_vs *v, uint32_t command, const fs_stream_wait *f) {
  bool known = true;
  if (f->axis < v->s->n_queues) {
    fs_vdense_raise(&v->other, f->axis, f->epoch);
    return f->axis == v->command_queue[command] ? f->epoch == v->s->commands[command].epoch
                                                : known_up_to(v, f->axis) >= f->epoch;
  }
  uint32_t occ = v->occ0[f->axis] + f->epoch - 1;
  for (uint32_t k = v->occ_command0[occ]; k < v->occ_command0[occ + 1]; k++) {
    uint32_t c = v->occ_command[k], q = v->command_queue[c], epoch = v->s->commands[c].epoch;
    fs_vdense_raise(&v->other, q, epoch);
    known = known && known_up_to(v, q) >= epoch;
  }
  return known;
}

const char *fs_vapart_frontier(fs_vs *v, uint32_t command) {
  assert(v->apart && command < v->s->n_commands);
  const fs_stream_command *c = &v->s->commands[command];
  const fs_stream_wait *f = v->s->frontiers + c->frontier0;
  uint32_t own = v->command_queue[command];
  fs_vdense_clear(&v->other);
  for (uint32_t i = 0; i < c->n_frontier; i++) {
    if (!entry_known(v, command, &f[i])) {
      return "names what is not known to be complete";
    }
  }
  if (v->other.epoch[own] != c->epoch) {
    return "lacks its own epoch";
  }
  for (uint32_t q = 0; q < v->s->n_queues && !c->tainted; q++) {
    if (q != own && v->other.epoch[q] < known_up_to(v, q)) {
      return "leaves something out and is not tainted";
    }
  }
  return NULL;
}
