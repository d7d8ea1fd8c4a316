/* SPDX-License-Identifier: Apache-2.0 */
/* The walk on a machine whose only syncs are stops.
 *
 * One sequencer issues all commands in one order, and waits at stops; a queue runs the commands
 * that are issued to it.  The walk lets all issued commands run, then lets the sequencer go on as
 * far as its stops allow.  A stop waits for a fixed set of commands, so a stop that can be passed
 * stays passable, as in stream/walk.c.  Without gangs a stop can always be passed; a member of a
 * gang that is issued behind a stop which waits for another member never starts.
 *
 * Clocks: a command knows the commands that the stops before it in the order of issue have waited
 * for, and its queue's earlier commands, where these are quick (stream/walk.c).  A stop waits for a
 * queue's first commands; their knowledge comes from stops too, which the sequencer has passed. */
#include "verify/stream/walk.h"

#include "base/context.h"

uint32_t fs_vblock_lacks(const fs_vwalk *w, uint32_t q) {
  assert(q < w->v->s->n_queues && w->head[q] < w->v->s->n_commands);
  return w->v->s->commands[w->head[q]].issue < w->n_issued ? FS_NONE : FS_VEVENT_ISSUE;
}

/* The number of a queue's commands that the stop waits for. */
static uint32_t awaited(const fs_vwalk *w, const fs_stream_stop *stop, uint32_t q) {
  if (stop->queue == FS_NONE) {
    return w->issued[q];
  }
  return q == stop->queue && w->issued[q] > stop->keep ? w->issued[q] - stop->keep : 0;
}

/* A queue that keeps the stop waiting; FS_NONE: none. */
static uint32_t held_by(const fs_vwalk *w, const fs_stream_stop *stop) {
  if (stop->queue != FS_NONE) {
    bool held = w->v->progress[stop->queue] < awaited(w, stop, stop->queue);
    return held ? stop->queue : FS_NONE;
  }
  if (w->n_done == w->n_issued) {
    return FS_NONE;
  }
  uint32_t q = 0;
  while (w->v->progress[q] >= w->issued[q]) {
    q++;
  }
  return q;
}

static void pass(fs_vwalk *w, const fs_stream_stop *stop) {
  const fs_stream *s = w->v->s;
  fs_tick end = w->longest_end;
  uint32_t by = w->longest_end_by, first = 0, last = s->n_queues;
  if (stop->queue != FS_NONE) {
    first = stop->queue;
    last = first + 1;
    uint32_t n = awaited(w, stop, first);
    by = n == 0 ? FS_NONE : s->queues[first].command0 + n - 1;
    end = n == 0 ? 0 : w->v->any_slow ? w->v->reached[by] : s->commands[by].end;
  }
  if (by != FS_NONE && end > w->issue_time) {
    w->issue_time = end;
    w->issue_time_by = by;
  }
  for (uint32_t q = first; q < last; q++) {
    fs_vdense_raise(&w->known, q, awaited(w, stop, q));
  }
  fs_vclock_release(&w->v->clocks, w->known_clock);
  w->known_clock = NULL;
}

static fs_status issue_command(fs_vwalk *w, uint32_t command) {
  assert(command < w->v->s->n_commands);
  fs_vs *v = w->v;
  const fs_stream_command *c = &v->s->commands[command];
  uint32_t q = v->command_queue[command];
  if (c->start < w->issue_time) {
    char name[FS_VNAME], other[FS_VNAME];
    FS_WRONG(v, FS_DIAG_VERIFY_PLAN,
             "%s is planned before the end of %s, for which a sync before it waits",
             fs_vs_command_name(v, command, name), fs_vs_command_name(v, w->issue_time_by, other));
  }
  if (c->end > w->longest_end || w->longest_end_by == FS_NONE) {
    w->longest_end = c->end;
    w->longest_end_by = command;
  }
  if (w->known.n > 0) {
    if (w->known_clock == NULL) {
      FS_TRY(fs_vclock_make(&v->clocks, &w->known, FS_NONE, &w->known_clock));
    }
    v->snapshot[command] = w->known_clock;
    w->known_clock->refs++;
  }
  w->issued[q]++;
  w->n_issued++;
  if (w->head[q] == command) {
    w->ready[w->n_ready++] = q;
  }
  return FSCHED_OK;
}

fs_status fs_vblock_issue(fs_vwalk *w) {
  assert(fs_sync_has_stops(w->v->kind));
  const fs_stream *s = w->v->s;
  while (w->n_issued < s->n_commands) {
    const fs_stream_stop *stop = &s->stops[w->stop];
    if (w->stop == s->n_stops || stop->at > w->n_issued) {
      FS_TRY(issue_command(w, w->v->issue_command[w->n_issued]));
    } else if (w->n_ready > 0 || held_by(w, stop) != FS_NONE) {
      return FSCHED_OK;
    } else {
      pass(w, stop);
      w->stop++;
    }
  }
  return FSCHED_OK;
}

void fs_vblock_stuck(fs_vwalk *w) {
  fs_vs *v = w->v;
  if (w->n_issued == v->s->n_commands) {
    return;
  }
  char name[FS_VNAME], other[FS_VNAME];
  uint32_t q = held_by(w, &v->s->stops[w->stop]);
  FS_WRONG(v, FS_DIAG_VERIFY_DEADLOCK, "the sync before %s waits for %s, which cannot start",
           fs_vs_command_name(v, v->issue_command[w->n_issued], name),
           fs_vs_command_name(v, w->head[q], other));
}

fs_status fs_vblock_prepare(fs_vwalk *w) {
  assert(fs_sync_has_stops(w->v->kind));
  w->issue_time_by = w->longest_end_by = FS_NONE;
  FS_TRY(fs_new_zero(&w->v->arena, &w->issued, w->v->s->n_queues));
  return fs_vdense_init(&w->v->arena, &w->known, w->v->s->n_queues);
}
