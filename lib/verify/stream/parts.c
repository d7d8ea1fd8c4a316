/* SPDX-License-Identifier: Apache-2.0 */
/* Commands whose slots are split over several barriers.
 *
 * Each barrier stands for a part of such a command, and the parts may end one by one: a complete
 * barrier shows that the command has begun, and all of its barriers together that it is over.  A
 * command that knows that a barrier is complete also knows what the barrier's producers knew when
 * they began, including complete barriers.  So clocks have an axis for each barrier that has a part
 * of some command.  When the last barrier of a command becomes known, the command does too.  A
 * barrier all of whose split commands are known to be over adds no knowledge any more, and its axis
 * is dropped, so that clocks stay small. */
#include "base/context.h"
#include "verify/stream/walk.h"

static bool is_split(const fs_vs *v, uint32_t command) {
  return v->s->commands[command].n_barrier_updates > 1;
}

static bool same_updates(const fs_vs *v, uint32_t a, uint32_t b) {
  const fs_stream_command *x = &v->s->commands[a], *y = &v->s->commands[b];
  bool same = x->n_barrier_updates == y->n_barrier_updates;
  for (uint32_t i = 0; i < x->n_barrier_updates && same; i++) {
    same = v->s->barrier_updates[x->barrier_update0 + i].barrier ==
           v->s->barrier_updates[y->barrier_update0 + i].barrier;
  }
  return same;
}

/* Lists the split commands of a barrier.  Of a queue's commands that update the same barriers, the
 * last one stands for the others. */
static void list_parts(fs_vwalk *w, uint32_t barrier, uint32_t *n) {
  const fs_vs *v = w->v;
  uint32_t first = *n;
  for (uint32_t k = v->producer0[barrier]; k < v->producer0[barrier + 1]; k++) {
    uint32_t c = v->producer[k].command;
    if (!is_split(v, c)) {
      continue;
    }
    bool again = *n > first && v->command_queue[w->part[*n - 1]] == v->command_queue[c] &&
                 same_updates(v, w->part[*n - 1], c);
    *n -= again;
    w->part[(*n)++] = c;
  }
}

fs_status fs_vparts_prepare(fs_vwalk *w) {
  fs_vs *v = w->v;
  uint32_t n = v->s->n_barriers, n_parts = 0;
  FS_TRY(fs_new_none(&v->arena, &w->split, n));
  FS_TRY(fs_new_zero(&v->arena, &w->part0, (size_t)n + 1));
  FS_TRY(fs_new(&v->arena, &w->part, v->producer0[n]));
  for (uint32_t b = 0; b < n; b++) {
    w->part0[w->n_split] = n_parts;
    list_parts(w, b, &n_parts);
    if (n_parts > w->part0[w->n_split]) {
      w->split[b] = v->s->n_queues + w->n_split++;
    }
  }
  w->part0[w->n_split] = n_parts;
  return FSCHED_OK;
}

/* Whether `now` knows that the command is over. */
static bool is_over(const fs_vs *v, uint32_t command) {
  return v->apart && v->slow_axis[command] != FS_NONE
             ? v->now.epoch[v->slow_axis[command]] != 0
             : v->now.epoch[v->command_queue[command]] >= v->s->commands[command].epoch;
}

static bool all_complete(const fs_vwalk *w, uint32_t command) {
  const fs_stream_command *c = &w->v->s->commands[command];
  for (uint32_t i = 0; i < c->n_barrier_updates; i++) {
    uint32_t b = w->v->s->barrier_updates[c->barrier_update0 + i].barrier;
    if (w->v->now.epoch[w->split[b]] == 0) {
      return false;
    }
  }
  return true;
}

static void learn_parts(fs_vwalk *w, uint32_t axis) {
  fs_vs *v = w->v;
  uint32_t i = axis - v->s->n_queues;
  for (uint32_t k = w->part0[i]; k < w->part0[i + 1]; k++) {
    uint32_t c = w->part[k];
    if (!is_over(v, c) && all_complete(w, c)) {
      fs_vapart_over(v, &v->now, c);
    }
  }
}

static bool says_nothing(const fs_vwalk *w, uint32_t axis) {
  uint32_t i = axis - w->v->s->n_queues;
  bool over = true;
  for (uint32_t k = w->part0[i]; k < w->part0[i + 1] && over; k++) {
    over = is_over(w->v, w->part[k]);
  }
  return over;
}

static bool is_split_axis(const fs_vwalk *w, uint32_t axis) {
  return axis - w->v->s->n_queues < w->n_split; /* wraps around for a queue's */
}

void fs_vparts_settle(fs_vwalk *w, uint32_t first) {
  fs_vdense *now = &w->v->now;
  uint32_t n = 0;
  if (w->n_split == 0) {
    return;
  }
  for (uint32_t i = first; i < now->n; i++) { /* learn_parts adds queues */
    if (is_split_axis(w, now->touched[i])) {
      learn_parts(w, now->touched[i]);
    }
  }
  for (uint32_t i = 0; i < now->n; i++) {
    uint32_t axis = now->touched[i];
    if (is_split_axis(w, axis) && says_nothing(w, axis)) {
      now->epoch[axis] = 0;
    } else {
      now->touched[n++] = axis;
    }
  }
  now->n = n;
}
