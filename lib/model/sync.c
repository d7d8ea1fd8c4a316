/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sync.h"

#include "base/group.h"

fs_status fs_sync_create(const fs_schedule *s, fs_sync_kind kind, fs_sync **out) {
  fs_sync *y = fs_realloc(s->ctx, NULL, 0, sizeof *y);
  if (y == NULL) {
    return FSCHED_SYSTEM;
  }
  *y = (fs_sync){.schedule = s, .kind = kind};
  fs_arena_init(&y->arena, s->ctx);
  *out = y;
  return FSCHED_OK;
}

void fs_sync_destroy(fs_sync *y) {
  if (y == NULL) {
    return;
  }
  fs_arena_release(&y->arena);
  (void)fs_realloc(y->schedule->ctx, y, sizeof *y, 0);
}

fs_status fs_sync_gang_ops(const fs_sync *y, fs_arena *arena, uint32_t **op0, uint32_t **op) {
  const fs_schedule *s = y->schedule;
  uint32_t n_ops = s->graph->n_ops;
  assert(y->item_gang_epoch != NULL || n_ops == 0);
  FS_TRY(fs_new_zero(arena, op0, (size_t)s->n_gangs + 1));
  FS_TRY(fs_new(arena, op, n_ops));
  for (uint32_t i = 0; i < n_ops; i++) {
    if (s->op_gang[i] != FS_NONE) {
      (*op0)[s->op_gang[i] + 1]++;
    }
  }
  fs_group_starts(*op0, s->n_gangs);
  assert((*op0)[s->n_gangs] <= n_ops);
  for (uint32_t i = 0; i < n_ops; i++) {
    if (s->op_gang[i] != FS_NONE) {
      (*op)[(*op0)[s->op_gang[i]] + y->item_gang_epoch[i] - 1] = i;
    }
  }
  return FSCHED_OK;
}

fs_status fs_sync_issue(const fs_sync *y, fs_arena *arena, fs_issue *out) {
  FS_TRY(fs_new(arena, &out->command, y->n_commands));
  FS_TRY(fs_new(arena, &out->queue, y->n_commands));
  for (uint32_t q = 0; q < y->schedule->n_queues; q++) {
    for (uint32_t c = y->queue_command0[q]; c < y->queue_command0[q + 1]; c++) {
      out->command[y->issue[c]] = c;
      out->queue[c] = q;
    }
  }
  return FSCHED_OK;
}

/* Most commands have no stop since the one before them on their queue and are passed over. */
typedef struct teller {
  const fs_sync *y;
  uint32_t n_queues;
  fs_issue issue;
  uint32_t *issued;  /* per queue */
  uint32_t *told;    /* per queue: the epoch that stops have waited for */
  uint32_t *told_at; /* per queue: the stop that was the last to raise it, from 1 */
  uint32_t *heard;   /* per queue: how many stops there were at its latest command */
} teller;

static void raise_told(const teller *t, uint32_t queue, uint32_t epoch, uint32_t stop) {
  assert(queue < t->n_queues);
  if (epoch > t->told[queue]) {
    t->told[queue] = epoch;
    t->told_at[queue] = stop;
  }
}

static void tell_stop(const teller *t, uint32_t index) {
  fs_stop stop = t->y->stop[index];
  if (stop.queue != FS_NONE) {
    assert(stop.queue < t->n_queues && stop.keep <= t->issued[stop.queue]);
    raise_told(t, stop.queue, t->issued[stop.queue] - stop.keep, index + 1);
    return;
  }
  for (uint32_t q = 0; q < t->n_queues; q++) {
    raise_told(t, q, t->issued[q], index + 1);
  }
}

/* Returns the number of points of the command, and writes them to `out` unless it is NULL. */
static uint32_t tell_command(const teller *t, uint32_t command, uint32_t stops, fs_wait *out) {
  uint32_t queue = t->issue.queue[command], n = 0;
  for (uint32_t q = 0; t->heard[queue] < stops && q < t->n_queues; q++) {
    if (q != queue && t->told_at[q] > t->heard[queue]) {
      if (out != NULL) {
        out[n] = (fs_wait){q, t->told[q]};
      }
      n++;
    }
  }
  t->heard[queue] = stops;
  t->issued[queue]++;
  return n;
}

/* One walk: with `point` NULL it writes the number of points of command c to first[c + 1], else the
 * points. */
static fs_status tell_all(teller *t, fs_arena *arena, uint32_t *first, fs_wait *point) {
  const fs_sync *y = t->y;
  FS_TRY(fs_new_zero(arena, &t->issued, t->n_queues));
  FS_TRY(fs_new_zero(arena, &t->told, t->n_queues));
  FS_TRY(fs_new_zero(arena, &t->told_at, t->n_queues));
  FS_TRY(fs_new_zero(arena, &t->heard, t->n_queues));
  for (uint32_t i = 0, stops = 0; i < y->n_commands; i++) {
    for (; stops < y->n_stops && y->stop[stops].at <= i; stops++) {
      tell_stop(t, stops);
    }
    uint32_t c = t->issue.command[i];
    assert(c < y->n_commands);
    uint32_t n = tell_command(t, c, stops, point == NULL ? NULL : point + first[c]);
    if (point == NULL) {
      first[c + 1] = n;
    }
  }
  return FSCHED_OK;
}

fs_status fs_sync_points(const fs_sync *y, fs_arena *arena, uint32_t **point0, fs_wait **point) {
  assert(y->issue != NULL || y->n_commands == 0);
  teller t = {.y = y, .n_queues = y->schedule->n_queues};
  FS_TRY(fs_sync_issue(y, arena, &t.issue));
  FS_TRY(fs_new_zero(arena, point0, (size_t)y->n_commands + 1));
  FS_TRY(tell_all(&t, arena, *point0, NULL));
  fs_group_starts(*point0, y->n_commands);
  FS_TRY(fs_new(arena, point, (*point0)[y->n_commands]));
  return tell_all(&t, arena, *point0, *point);
}

fs_sync_counts fs_sync_executed(const fs_sync *y) {
  fs_sync_counts n = {y->n_full, y->n_stops - y->n_full};
  for (uint32_t i = 0; i < y->schedule->n_loops; i++) {
    const fs_loop_report *r = &y->schedule->loop[i];
    uint64_t steps = fs_multiply_most(r->steps, r->runs);
    n.full = fs_add_most(n.full, fs_multiply_most(steps, r->full));
    n.counting = fs_add_most(n.counting, fs_multiply_most(steps, r->counting));
  }
  return n;
}
