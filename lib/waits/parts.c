/* SPDX-License-Identifier: Apache-2.0 */
/* A split command becomes known to be over when the last of its barriers becomes known to be
 * complete.  So only the barriers that a queue learns of are looked at, and their parts tested
 * against the list of the queue; barriers that have left the list have no part to be tested. */
#include "waits/parts.h"

#include "base/group.h"

static fs_status list_parts(fs_parts *t, fs_arena *arena) {
  const fs_sync *y = t->sync;
  FS_TRY(fs_new_zero(arena, &t->part0, (size_t)y->n_barriers + 2));
  FS_TRY(fs_new(arena, &t->part, y->barrier_update0[y->n_commands]));
  for (uint32_t c = 0; c < y->n_commands; c++) {
    for (uint32_t i = y->barrier_update0[c]; i < y->barrier_update0[c + 1]; i++) {
      t->part0[y->barrier_update[i] + 2] += fs_parts_split(y, c);
    }
  }
  fs_group_sum(t->part0, y->n_barriers);
  for (uint32_t c = 0; c < y->n_commands; c++) {
    for (uint32_t i = y->barrier_update0[c]; i < y->barrier_update0[c + 1]; i++) {
      if (fs_parts_split(y, c)) {
        t->part[t->part0[y->barrier_update[i] + 1]++] = c;
      }
    }
  }
  return FSCHED_OK;
}

fs_status fs_parts_init(fs_parts *t, fsched_context *ctx, fs_arena *arena, const fs_slow_axes *slow,
                        fs_clocks *clocks) {
  const fs_sync *sync = slow->sync;
  uint32_t n_queues = slow->n_queues;
  assert(sync->barrier_update0 != NULL && sync->queue_command0 != NULL);
  *t = (fs_parts){.ctx = ctx, .sync = sync, .clocks = clocks, .slow = slow};
  FS_TRY(fs_new_zero(arena, &t->known, n_queues));
  t->n_queues = n_queues;
  FS_TRY(fs_new_zero(arena, &t->brought, sync->n_barriers));
  FS_TRY(fs_new_zero(arena, &t->mark, sync->n_barriers));
  FS_TRY(fs_new(arena, &t->queue, sync->n_commands));
  for (uint32_t q = 0; q < n_queues; q++) {
    for (uint32_t c = sync->queue_command0[q]; c < sync->queue_command0[q + 1]; c++) {
      t->queue[c] = q;
    }
  }
  return list_parts(t, arena);
}

void fs_parts_release(fs_parts *t) {
  for (uint32_t q = 0; q < t->n_queues; q++) {
    fs_vec_free(t->ctx, &t->known[q]);
  }
  for (uint32_t b = 0; t->brought != NULL && b < t->sync->n_barriers; b++) {
    fs_vec_free(t->ctx, &t->brought[b]);
  }
}

void fs_parts_forget(fs_parts *t, uint32_t barrier) {
  assert(barrier < t->sync->n_barriers);
  fs_vec_free(t->ctx, &t->brought[barrier]);
}

/* --- lists without repeats --- */

static void mark_all(fs_parts *t, const fs_part_list *list) {
  t->stamp++;
  for (size_t i = 0; i < list->n; i++) {
    t->mark[list->at[i]] = t->stamp;
  }
}

static fs_status add_barrier(fs_parts *t, fs_part_list *list, uint32_t barrier) {
  assert(barrier < t->sync->n_barriers);
  if (t->mark[barrier] == t->stamp) {
    return FSCHED_OK;
  }
  t->mark[barrier] = t->stamp;
  return fs_vec_push(t->ctx, list, barrier);
}

static fs_status add_all(fs_parts *t, fs_part_list *list, const fs_part_list *from) {
  for (size_t i = 0; i < from->n; i++) {
    FS_TRY(add_barrier(t, list, from->at[i]));
  }
  return FSCHED_OK;
}

/* --- learning --- */

static bool is_over(const fs_parts *t, fs_clock clock, uint32_t command) {
  assert(command < t->sync->n_commands);
  fs_clock_entry e = fs_slow_entry(t->slow, command, t->queue[command]);
  return fs_clock_get(t->clocks, clock, e.axis) >= e.epoch;
}

/* Is every barrier of the command on the list of the present queue, whose barriers are marked? */
static bool all_complete(const fs_parts *t, uint32_t command) {
  const fs_sync *y = t->sync;
  for (uint32_t i = y->barrier_update0[command]; i < y->barrier_update0[command + 1]; i++) {
    if (t->mark[y->barrier_update[i]] != t->stamp) {
      return false;
    }
  }
  return true;
}

static fs_status raise_parts(const fs_parts *t, uint32_t barrier, fs_clock *clock) {
  for (uint32_t k = t->part0[barrier]; k < t->part0[barrier + 1]; k++) {
    uint32_t c = t->part[k];
    if (!is_over(t, *clock, c) && all_complete(t, c)) {
      fs_clock_entry e = fs_slow_entry(t->slow, c, t->queue[c]);
      FS_TRY(fs_clock_raise(t->clocks, clock, e.axis, e.epoch));
    }
  }
  return FSCHED_OK;
}

static bool settled(const fs_parts *t, uint32_t barrier, fs_clock clock) {
  bool over = true;
  for (uint32_t k = t->part0[barrier]; k < t->part0[barrier + 1] && over; k++) {
    over = is_over(t, clock, t->part[k]);
  }
  return over;
}

static void drop_settled(const fs_parts *t, fs_part_list *known, fs_clock clock) {
  size_t n = 0;
  for (size_t i = 0; i < known->n; i++) {
    if (!settled(t, known->at[i], clock)) {
      known->at[n++] = known->at[i];
    }
  }
  known->n = n;
}

fs_status fs_parts_learn(fs_parts *t, uint32_t command, fs_clock *clock) {
  assert(command < t->sync->n_commands);
  const fs_sync *y = t->sync;
  fs_part_list *known = &t->known[t->queue[command]];
  size_t before = known->n;
  mark_all(t, known);
  for (uint32_t i = y->barrier_wait0[command]; i < y->barrier_wait0[command + 1]; i++) {
    uint32_t b = y->barrier_wait[i];
    if (t->part0[b] < t->part0[b + 1]) {
      FS_TRY(add_barrier(t, known, b));
    }
    FS_TRY(add_all(t, known, &t->brought[b]));
  }
  for (size_t i = before; i < known->n; i++) {
    FS_TRY(raise_parts(t, known->at[i], clock));
  }
  if (y->barrier_wait0[command] < y->barrier_wait0[command + 1]) {
    drop_settled(t, known, *clock);
  }
  return FSCHED_OK;
}

fs_status fs_parts_hand_on(fs_parts *t, uint32_t command) {
  assert(command < t->sync->n_commands);
  const fs_sync *y = t->sync;
  const fs_part_list *known = &t->known[t->queue[command]];
  for (uint32_t i = y->barrier_update0[command]; i < y->barrier_update0[command + 1]; i++) {
    if (known->n > 0) {
      mark_all(t, &t->brought[y->barrier_update[i]]);
      FS_TRY(add_all(t, &t->brought[y->barrier_update[i]], known));
    }
  }
  return FSCHED_OK;
}
