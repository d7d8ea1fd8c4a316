/* SPDX-License-Identifier: Apache-2.0 */
/* Spill copies: wanted by claims (evictions and reads), by kept versions (the write-back), or
 * started ahead of need when room and a copy queue are free (prefetch).
 *
 * A write may run beside readers once no writer runs; the place is given up when write and readers
 * have ended.  A read starts when its place is free, the version has left its old place, and the
 * store holds it.  Entries of the heaps are checked again when they are taken out. */
#include "listsched/engine.h"

static uint32_t spill_domain(const fs_engine *e, uint32_t version) {
  return fs_engine_memory_of(e, version)->spill_domain;
}

fs_status fs_engine_want_write(fs_engine *e, uint32_t version, uint32_t position) {
  assert(fs_memory_spills(fs_engine_memory_of(e, version)));
  fs_engine_wake(e, spill_domain(e, version));
  return fs_heap_push(e->ctx, &e->copies[spill_domain(e, version)], position,
                      version * 2 + FS_SPILL_WRITE);
}

fs_status fs_engine_want_read(fs_engine *e, uint32_t version) {
  uint32_t entry = version * 2 + FS_SPILL_READ;
  if (!fs_engine_copy_valid(e, entry)) {
    return FSCHED_OK;
  }
  uint32_t domain = spill_domain(e, version);
  fs_engine_wake(e, domain);
  return fs_heap_push(e->ctx, &e->copies[domain], e->v_read_for[version], entry);
}

bool fs_engine_copy_valid(const fs_engine *e, uint32_t entry) {
  FS_ASSERT_SLOW(e->v_memory[entry / 2] != FS_NONE);
  uint32_t v = entry / 2;
  if (entry % 2 == FS_SPILL_WRITE) {
    bool kept = fs_version_kept(e->g, v) && e->v_writers_left[v] == 0;
    return e->v_dirty[v] && !e->v_writing[v] && e->v_writers_running[v] == 0 &&
           (e->v_state[v] == FS_V_LEAVING || (kept && e->v_state[v] == FS_V_IN));
  }
  uint32_t place = e->v_promised_place[v];
  return place != FS_NONE && e->v_state[v] == FS_V_PROMISED && e->v_content[v] && e->v_stored[v] &&
         !e->v_writing[v] && e->places[e->v_memory[v]].place.at[place].blocked == 0;
}

/* The store copy in a bounded backing store begins with the first write; it may find no room. */
static fs_status begin_store(fs_engine *e, uint32_t version, bool *room) {
  const fs_memory *memory = fs_engine_memory_of(e, version);
  const fs_memory *store = &e->g->target.memory[memory->backing];
  *room = true;
  if (!fs_memory_bounded(store) || e->v_store_residency[version] != FS_NONE) {
    return FSCHED_OK;
  }
  fs_places *p = &e->places[memory->backing];
  uint32_t *place = &e->v_store_place[version];
  if (*place == FS_NONE) {
    uint64_t size = fs_align_up(fs_version_size(e->g, version), store->align);
    FS_TRY(fs_places_reserve_now(p, size, true, place));
  }
  if (*place == FS_NONE) {
    *room = false;
    e->no_room = true;
    e->no_room_version = version;
    return FSCHED_OK;
  }
  fs_places_occupy(p, *place);
  return fs_engine_new_residency(e, version, FS_NONE, memory->backing, *place,
                                 &e->v_store_residency[version]);
}

fs_status fs_engine_start_copy(fs_engine *e, uint32_t entry, uint32_t queue) {
  assert(e->v_memory[entry / 2] != FS_NONE && queue <= e->n_queues);
  uint32_t v = entry / 2;
  uint8_t kind = (uint8_t)(entry % 2);
  uint32_t m = e->v_memory[v];
  const fs_memory *memory = &e->g->target.memory[m];
  uint64_t size = fs_version_size(e->g, v);
  fs_tick time =
      kind == FS_SPILL_WRITE ? fs_spill_write_time(memory, size) : fs_spill_read_time(memory, size);
  if (kind == FS_SPILL_WRITE) {
    bool room;
    FS_TRY(begin_store(e, v, &room));
    if (!room) {
      return FSCHED_OK;
    }
    e->v_writing[v] = 1;
  } else {
    uint32_t place = e->v_promised_place[v];
    fs_places_occupy(&e->places[m], place);
    e->v_place[v] = place;
    e->v_promised_place[v] = FS_NONE;
    e->v_read_for[v] = FS_NONE;
    e->v_state[v] = FS_V_FILLING;
    FS_TRY(fs_engine_new_residency(e, v, FS_NONE, m, place, &e->v_residency[v]));
  }
  e->steps += 4;
  uint32_t id = (uint32_t)e->copy.n;
  fs_copy_record record = {v, e->v_residency[v], e->v_store_residency[v], kind};
  FS_TRY(fs_vec_push(e->ctx, &e->copy, record));
  FS_TRY(fs_vec_push(e->ctx, &e->copy_start, e->now));
  FS_TRY(fs_vec_push(e->ctx, &e->copy_end, e->now + time));
  FS_TRY(fs_vec_push(e->ctx, &e->copy_queue, queue));
  FS_TRY(fs_vec_push(e->ctx, &e->order, e->g->n_ops + id));
  fs_tick end = e->now + time, reached = end;
  FS_TRY(fs_engine_occupy(e, queue, end, end, &reached));
  FS_TRY(fs_vec_push(e->ctx, &e->copy_reached, reached));
  e->queue_op.at[queue] = FS_NONE;
  FS_TRY(reached > end ? fs_engine_free_at(e, queue, end) : FSCHED_OK);
  return fs_heap_push(e->ctx, &e->ends, reached, e->g->n_ops + id);
}

fs_status fs_engine_end_copy(fs_engine *e, uint32_t copy) {
  assert(copy < e->copy.n && e->copy_reached.at[copy] == e->now);
  uint32_t v = e->copy.at[copy].version;
  e->v_last_end[v] = fs_max(e->v_last_end[v], e->copy_end.at[copy]);
  if (e->copy.at[copy].kind == FS_SPILL_WRITE) {
    e->v_writing[v] = 0;
    e->v_dirty[v] = 0;
    e->v_stored[v] = 1;
    return fs_engine_settle(e, v);
  }
  e->v_state[v] = FS_V_IN;
  FS_TRY(fs_engine_arrived(e, v));
  return fs_engine_settle(e, v);
}

/* A user or copy has ended, or the version was expelled: does it leave now? */
fs_status fs_engine_settle(fs_engine *e, uint32_t v) {
  FS_ASSERT_SLOW(e->v_memory[v] != FS_NONE);
  if (e->v_users[v] > 0 || e->v_writing[v]) {
    return FSCHED_OK;
  }
  bool leaving = e->v_state[v] == FS_V_LEAVING;
  if ((leaving && (!e->v_dirty[v] || fs_engine_dies(e, v))) ||
      (e->v_state[v] == FS_V_IN && fs_engine_dies(e, v))) {
    return fs_engine_depart(e, v);
  }
  return fs_engine_offer(e, v);
}

/* Drops the copy in a bounded backing store, which no read needs any more. */
fs_status fs_engine_drop_store(fs_engine *e, uint32_t v) {
  assert(e->v_memory[v] != FS_NONE);
  uint32_t residency = e->v_store_residency[v];
  if (residency == FS_NONE || fs_version_kept(e->g, v)) {
    return FSCHED_OK;
  }
  uint32_t backing = fs_engine_memory_of(e, v)->backing;
  e->residency.at[residency].end = e->now;
  e->v_store_residency[v] = FS_NONE;
  FS_TRY(fs_places_depart(&e->places[backing], e->v_store_place[v]));
  e->v_store_place[v] = FS_NONE;
  return fs_engine_unblock(e, backing);
}

fs_status fs_engine_depart(fs_engine *e, uint32_t v) {
  assert(e->v_users[v] == 0 && !e->v_writing[v]);
  assert(e->v_place[v] != FS_NONE && e->v_residency[v] != FS_NONE);
  uint32_t m = e->v_memory[v];
  if (e->v_counted_evictable[v]) {
    e->v_counted_evictable[v] = 0;
    e->evictable[m] -= e->places[m].place.at[e->v_place[v]].size;
  }
  e->residency.at[e->v_residency[v]].end = e->v_last_end[v];
  e->supply += e->places[m].place.at[e->v_place[v]].size;
  FS_TRY(fs_places_depart(&e->places[m], e->v_place[v]));
  e->v_place[v] = FS_NONE;
  e->v_residency[v] = FS_NONE;
  if (e->v_promised_place[v] != FS_NONE) {
    e->v_state[v] = FS_V_PROMISED;
    FS_TRY(fs_engine_want_read(e, v));
  } else if (e->v_left[v] == 0) {
    e->v_state[v] = FS_V_DEAD;
    FS_TRY(fs_engine_drop_store(e, v));
  } else {
    e->v_state[v] = FS_V_ABSENT;
    fs_engine_absent(e, v);
  }
  return fs_engine_unblock(e, m);
}

/* Something has departed: tells the owners of the reservations that this set free. */
fs_status fs_engine_unblock(fs_engine *e, uint32_t memory) {
  assert(memory < e->g->target.n_memories);
  fs_places *p = &e->places[memory];
  fs_engine_wake_memory(e, memory);
  for (size_t i = 0; i < p->unblocked.n; i++) {
    uint32_t owner = p->place.at[p->unblocked.at[i]].owner;
    if (owner % 2 == 1) {
      FS_TRY(fs_engine_lack_less(e, owner / 2));
    } else {
      FS_TRY(fs_engine_want_read(e, owner / 2));
    }
  }
  p->unblocked.n = 0;
  return FSCHED_OK;
}

uint64_t fs_engine_own_room(const fs_engine *e, uint32_t op, uint32_t memory) {
  FS_ASSERT_SLOW(memory < e->g->target.n_memories);
  const fsched_graph *g = e->g;
  uint64_t sum = 0;
  FS_ENGINE_EACH_VERSION(e, op, a, v) {
    if (e->v_memory[v] == memory && !e->v_content[v]) {
      sum += e->v_size[v];
    }
  }
  for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
    if (g->scratch_memory[i] == memory) {
      sum += fs_align_up(g->scratch_size[i], g->target.memory[memory].align);
    }
  }
  return sum;
}
