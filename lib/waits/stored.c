/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the entries of the exact clock.  Those of a gang's members are replaced by one entry of
 * its collective axis where that says exactly the same.  Beyond the capacity, the smallest epochs
 * are dropped (of equal ones the highest axes first), but never the command's own entry, and the
 * result is tainted. */
#include "waits/stored.h"

enum { ENTRIES_FIRST = 64 };

fs_status fs_storer_init(fs_storer *t, fs_arena *arena) {
  assert(t->s != NULL && t->sync != NULL && t->capacity > 0);
  FS_TRY(fs_new_none(arena, &t->replaced, t->s->n_queues));
  return fs_new_zero(arena, &t->least, t->s->n_queues);
}

void fs_storer_release(fs_storer *t) {
  fs_vec_free(t->ctx, &t->entry);
  fs_vec_free(t->ctx, &t->key);
}

/* The key of rank `rank` (from 0) in descending order.  Expected O(n). */
static uint64_t select_key(uint64_t *keys, size_t n, size_t rank) {
  FS_ASSERT_SLOW(rank < n);
  size_t low = 0;
  size_t high = n - 1;
  while (low < high) {
    uint64_t pivot = keys[low + (high - low) / 2];
    size_t i = low;
    size_t j = high;
    while (i <= j) {
      while (keys[i] > pivot) {
        i++;
      }
      while (keys[j] < pivot) {
        j--;
      }
      if (i <= j) {
        uint64_t swap = keys[i];
        keys[i++] = keys[j];
        keys[j] = swap;
        if (j == 0) {
          break;
        }
        j--;
      }
    }
    if (rank <= j && j < high) {
      high = j;
    } else if (rank >= i) {
      low = i;
    } else {
      break;
    }
  }
  return keys[rank];
}

/* Keeps the `room` largest keys, in their order.  Raises the floor. */
static fs_status evict(fs_storer *t, size_t room) {
  size_t n = t->entry.n;
  if (n <= room) {
    return FSCHED_OK;
  }
  t->tainted = true;
  assert(n > room);
  if (room == 0) {
    t->entry.n = 0;
    t->floor = UINT32_MAX;
    return FSCHED_OK;
  }
  FS_TRY(fs_vec_reserve(t->ctx, &t->key, n));
  for (size_t i = 0; i < n; i++) {
    t->key.at[i] = fs_entry_key(t->entry.at[i]);
  }
  uint64_t least = select_key(t->key.at, n, room - 1);
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (fs_entry_key(t->entry.at[i]) >= least) {
      t->entry.at[kept++] = t->entry.at[i];
    }
  }
  assert(kept == room);
  t->entry.n = kept;
  t->floor = (uint32_t)(least >> 32);
  return FSCHED_OK;
}

static fs_status collect_entry(void *user, fs_clock_entry e) {
  FS_ASSERT_SLOW(e.epoch > 0);
  fs_storer *t = user;
  if (e.axis == t->own_queue) {
    return FSCHED_OK;
  }
  FS_TRY(fs_vec_push(t->ctx, &t->entry, ((fs_wait){e.axis, e.epoch})));
  /* Without collectives what is evicted early stays evicted, and the clock's low parts need not be
   * looked at. */
  if (t->s->n_gangs == 0 && t->entry.n >= ENTRIES_FIRST && t->entry.n / 2 >= t->capacity) {
    FS_TRY(evict(t, (size_t)(t->capacity - 1)));
    /* The axes that are still to come are higher: with the least epoch that stayed they would leave
     * again. */
    t->worth = t->floor < UINT32_MAX ? t->floor + 1 : t->floor;
  }
  return FSCHED_OK;
}

/* Is `e` the entry of a gang's first member, and are the other members known just as far? */
static bool stands_for_gang(const fs_storer *t, fs_clock clock, fs_wait e, uint32_t *item) {
  FS_ASSERT_SLOW(e.epoch > 0);
  const fs_sync *y = t->sync;
  *item = y->command_item[y->queue_command0[e.axis] + e.epoch - 1];
  uint32_t n;
  const uint32_t *queues = fs_item_queues(t->s, *item, &n);
  if (n < 2 || queues[0] != e.axis) {
    return false;
  }
  for (uint32_t i = 0; i < n; i++) {
    uint32_t command = y->item_command[y->item_command0[*item] + i];
    uint32_t epoch = command - y->queue_command0[queues[i]] + 1;
    if (queues[i] == t->own_queue || fs_slow_known(t->slow, t->clocks, clock, queues[i]) != epoch) {
      return false;
    }
  }
  return true;
}

static fs_status name_collectives(fs_storer *t, fs_clock clock) {
  size_t n = t->entry.n;
  for (size_t i = 0; i < n; i++) {
    uint32_t item;
    if (!stands_for_gang(t, clock, t->entry.at[i], &item)) {
      continue;
    }
    uint32_t members;
    const uint32_t *queues = fs_item_queues(t->s, item, &members);
    for (uint32_t m = 0; m < members; m++) {
      t->replaced[queues[m]] = t->command;
    }
    fs_wait e = {t->s->n_queues + t->s->op_gang[item], t->sync->item_gang_epoch[item]};
    FS_TRY(fs_vec_push(t->ctx, &t->entry, e));
    for (size_t j = t->entry.n - 1; j > n && t->entry.at[j - 1].axis > e.axis; j--) {
      t->entry.at[j] = t->entry.at[j - 1];
      t->entry.at[j - 1] = e;
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < t->entry.n; i++) {
    if (i >= n || t->replaced[t->entry.at[i].axis] != t->command) {
      t->entry.at[kept++] = t->entry.at[i];
    }
  }
  t->entry.n = kept;
  return FSCHED_OK;
}

/* Where commands are slow, the entries are for all commands up to an epoch. */
static fs_status collect_known(fs_storer *t, fs_clock clock) {
  for (uint32_t q = 0; q < t->s->n_queues; q++) {
    uint32_t epoch = fs_slow_known(t->slow, t->clocks, clock, q);
    if (epoch > 0 && q != t->own_queue) {
      FS_TRY(fs_vec_push(t->ctx, &t->entry, ((fs_wait){q, epoch})));
    }
  }
  return FSCHED_OK;
}

static fs_status collect_entries(fs_storer *t, fs_clock clock) {
  if (t->slow->any) {
    return collect_known(t, clock);
  }
  bool left_out;
  FS_TRY(fs_clock_each(t->clocks, clock, &t->worth, collect_entry, t, &left_out));
  assert(!left_out || t->tainted);
  (void)left_out;
  return FSCHED_OK;
}

fs_status fs_storer_make(fs_storer *t, uint32_t command, uint32_t queue, fs_clock clock) {
  assert(queue < t->s->n_queues && command >= t->sync->queue_command0[queue]);
  assert(command < t->sync->queue_command0[queue + 1]);
  t->entry.n = 0;
  t->command = command;
  t->own_queue = queue;
  /* A queue's knowledge only grows: an entry dropped once, and all lower ones, would be dropped
   * again. */
  t->floor = t->s->n_gangs == 0 && !t->slow->any ? t->least[queue] : 0;
  t->tainted = t->floor > 0;
  t->worth = t->floor;
  FS_TRY(collect_entries(t, clock));
  if (t->s->n_gangs > 0) {
    FS_TRY(name_collectives(t, clock));
  }
  size_t room = t->capacity - 1 < SIZE_MAX ? (size_t)(t->capacity - 1) : SIZE_MAX;
  FS_TRY(evict(t, room));
  fs_wait own = {queue, command - t->sync->queue_command0[queue] + 1};
  FS_TRY(fs_vec_push(t->ctx, &t->entry, own));
  for (size_t i = t->entry.n - 1; i > 0 && t->entry.at[i - 1].axis > queue; i--) {
    t->entry.at[i] = t->entry.at[i - 1];
    t->entry.at[i - 1] = own;
  }
  t->least[queue] = t->floor;
  return FSCHED_OK;
}
