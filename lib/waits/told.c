/* SPDX-License-Identifier: Apache-2.0 */
/* Epochs only grow, and so do the keys by which a full frontier chooses its entries (stored.c).  So
 * an entry that is not among the largest stays out until it grows itself, and the largest can be
 * kept along: as many as a frontier holds, from which each command leaves out its own queue, or
 * else the least, to make room for its own epoch.
 *
 * Gangs: a frontier names a collective where the epochs of all members fit, which is seen only with
 * all entries at hand; so there each command has a clock, and the storer looks through it. */
#include "waits/told.h"

fs_status fs_told_init(fs_told *t, fs_arena *arena, fs_storer *storer, fs_clocks *clocks) {
  assert(storer->replaced != NULL && clocks->levels > 0);
  uint32_t n = storer->s->n_queues;
  *t = (fs_told){.storer = storer, .clocks = clocks, .room = (uint32_t)fs_min(storer->capacity, n)};
  FS_TRY(fs_new_zero(arena, &t->issued, n));
  FS_TRY(fs_new_zero(arena, &t->epoch, n));
  FS_TRY(fs_new(arena, &t->since, n));
  FS_TRY(fs_new_zero(arena, &t->is_since, n));
  return fs_new(arena, &t->most, t->room);
}

static bool has_gangs(const fs_told *t) { return t->storer->s->n_gangs > 0; }

/* --- the largest entries --- */

/* The index of the axis in `most`, or the one at which it would be inserted. */
static uint32_t place_of(const fs_told *t, uint32_t axis) {
  uint32_t low = 0, high = t->n_most;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (t->most[middle].axis < axis) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static uint32_t place_of_least(const fs_told *t) {
  assert(t->n_most > 0);
  uint32_t least = 0;
  for (uint32_t i = 1; i < t->n_most; i++) {
    least = fs_entry_key(t->most[i]) < fs_entry_key(t->most[least]) ? i : least;
  }
  return least;
}

static void put_among_most(fs_told *t, fs_wait e) {
  assert(t->room > 0);
  uint32_t at = place_of(t, e.axis);
  if (at < t->n_most && t->most[at].axis == e.axis) {
    t->most[at] = e;
    return;
  }
  if (t->n_most == t->room) {
    uint32_t least = place_of_least(t);
    if (fs_entry_key(e) < fs_entry_key(t->most[least])) {
      return;
    }
    memmove(t->most + least, t->most + least + 1, (t->n_most - least - 1) * sizeof e);
    t->n_most--;
    at -= least < at;
  }
  memmove(t->most + at + 1, t->most + at, (t->n_most - at) * sizeof e);
  t->most[at] = e;
  t->n_most++;
}

/* --- stops --- */

static fs_status tell_queue(fs_told *t, uint32_t queue, uint32_t epoch) {
  assert(queue < t->storer->s->n_queues);
  if (epoch <= t->epoch[queue]) {
    return FSCHED_OK;
  }
  t->n += t->epoch[queue] == 0;
  t->epoch[queue] = epoch;
  if (has_gangs(t)) {
    return fs_clock_raise(t->clocks, &t->clock, queue, epoch);
  }
  put_among_most(t, (fs_wait){queue, epoch});
  return FSCHED_OK;
}

static fs_status pass_stop(fs_told *t, fs_stop stop) {
  if (stop.queue != FS_NONE) {
    assert(stop.keep <= t->issued[stop.queue]);
    return tell_queue(t, stop.queue, t->issued[stop.queue] - stop.keep);
  }
  for (uint32_t i = 0; i < t->n_since; i++) {
    uint32_t q = t->since[i];
    t->is_since[q] = false;
    FS_TRY(tell_queue(t, q, t->issued[q]));
  }
  t->n_since = 0;
  return FSCHED_OK;
}

/* --- frontiers --- */

static fs_status store(fs_told *t, fs_wait own) {
  fs_storer *storer = t->storer;
  uint64_t others = t->n - (t->epoch[own.axis] > 0);
  uint32_t at = place_of(t, own.axis), out = FS_NONE;
  if (at < t->n_most && t->most[at].axis == own.axis) {
    out = at;
  } else if (t->n_most >= storer->capacity) {
    out = place_of_least(t);
  }
  storer->tainted = others >= storer->capacity;
  storer->entry.n = 0;
  for (uint32_t i = 0; i <= t->n_most; i++) {
    if (i == at) {
      FS_TRY(fs_vec_push(storer->ctx, &storer->entry, own));
    }
    if (i < t->n_most && i != out) {
      FS_TRY(fs_vec_push(storer->ctx, &storer->entry, t->most[i]));
    }
  }
  return FSCHED_OK;
}

static fs_status store_with_gangs(fs_told *t, uint32_t command, fs_wait own) {
  fs_clock clock = fs_clock_share(t->clocks, t->clock);
  FS_TRY(fs_clock_raise(t->clocks, &clock, own.axis, own.epoch));
  FS_TRY(fs_storer_make(t->storer, command, own.axis, clock));
  fs_clock_drop(t->clocks, clock);
  return FSCHED_OK;
}

fs_status fs_told_issue(fs_told *t, uint32_t command, uint32_t queue) {
  assert(command == t->storer->sync->queue_command0[queue] + t->issued[queue]);
  const fs_sync *y = t->storer->sync;
  for (; t->next < y->n_stops && y->stop[t->next].at <= y->issue[command]; t->next++) {
    FS_TRY(pass_stop(t, y->stop[t->next]));
  }
  fs_wait own = {queue, ++t->issued[queue]};
  FS_TRY(has_gangs(t) ? store_with_gangs(t, command, own) : store(t, own));
  if (!t->is_since[queue]) {
    t->is_since[queue] = true;
    t->since[t->n_since++] = queue;
  }
  return FSCHED_OK;
}
