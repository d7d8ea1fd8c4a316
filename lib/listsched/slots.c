/* SPDX-License-Identifier: Apache-2.0 */
/* Which slot has the best candidate: a heap of those that have one, since slots can be as many as
 * ops.  A slot is woken when its key may have become less, or one of its queues free.  Keys in the
 * heap may be too low, as copies become stale and queues busy; they are made exact at the top. */
#include "listsched/engine.h"

/* Has the slot's domain a free queue?  Slots of gangs and of implicit queues count as open. */
static bool slot_open(const fs_engine *e, uint32_t slot) {
  FS_ASSERT_SLOW(slot < e->n_slots);
  const fs_target *t = &e->g->target;
  return slot >= t->n_domains || t->implicit_queues || e->slot_free[slot] > 0;
}

/* The key of the better of a slot's first op and first copy; copies win ties.  UINT64_MAX: none. */
static uint64_t slot_key(const fs_engine *e, uint32_t s) {
  if (!slot_open(e, s)) {
    return UINT64_MAX;
  }
  uint64_t key = e->copies[s].n > 0 ? e->copies[s].at[0].key * 2 : UINT64_MAX;
  bool op = e->runnable[s].n > 0 && !e->slot_closed[s];
  return op ? fs_min(key, e->runnable[s].at[0].key * 2 + 1) : key;
}

/* Drops stale copies until the best valid one of a domain is on top, or the heap is empty. */
static void drop_stale_copies(fs_engine *e, uint32_t domain) {
  FS_ASSERT_SLOW(domain < e->g->target.n_domains);
  while (e->copies[domain].n > 0 && !fs_engine_copy_valid(e, e->copies[domain].at[0].id)) {
    (void)fs_heap_pop(&e->copies[domain]);
  }
}

fs_status fs_engine_init_slots(fs_engine *e) {
  FS_TRY(fs_new_zero(e->scratch, &e->slot_woken, e->n_slots));
  FS_TRY(fs_new(e->scratch, &e->woken, e->n_slots));
  FS_TRY(fs_new(e->scratch, &e->slot_listed, e->n_slots));
  for (uint32_t s = 0; s < e->n_slots; s++) {
    e->slot_listed[s] = UINT64_MAX;
  }
  return FSCHED_OK;
}

void fs_engine_wake(fs_engine *e, uint32_t slot) {
  FS_ASSERT_SLOW(slot < e->n_slots);
  if (!e->slot_woken[slot]) {
    e->slot_woken[slot] = 1;
    e->woken[e->n_woken++] = slot;
  }
}

static fs_status list(fs_engine *e, uint32_t slot, uint64_t key) {
  FS_ASSERT_SLOW(slot < e->n_slots);
  if (key == UINT64_MAX || key == e->slot_listed[slot]) {
    return FSCHED_OK;
  }
  e->slot_listed[slot] = key;
  return fs_heap_push(e->ctx, &e->listed, key, slot);
}

static fs_status list_woken(fs_engine *e) {
  while (e->n_woken > 0) {
    uint32_t slot = e->woken[--e->n_woken];
    e->slot_woken[slot] = 0;
    FS_TRY(list(e, slot, slot_key(e, slot)));
  }
  return FSCHED_OK;
}

fs_status fs_engine_best_slot(fs_engine *e, uint32_t *slot, bool *copy) {
  FS_ASSERT_SLOW(e->slot_listed != NULL);
  *slot = FS_NONE;
  FS_TRY(list_woken(e));
  bool full = e->g->target.implicit_queues && e->n_busy >= e->queue_limit;
  while (!full && e->listed.n > 0) {
    uint64_t listed = e->listed.at[0].key, key = UINT64_MAX;
    uint32_t s = e->listed.at[0].id;
    if (listed == e->slot_listed[s]) {
      *copy = listed % 2 == 0;
      if (*copy && slot_open(e, s)) {
        drop_stale_copies(e, s);
      }
      key = slot_key(e, s);
      if (key == listed) {
        *slot = s;
        return FSCHED_OK;
      }
      e->slot_listed[s] = UINT64_MAX;
    }
    (void)fs_heap_pop(&e->listed);
    FS_TRY(list(e, s, key));
  }
  return FSCHED_OK;
}
