/* SPDX-License-Identifier: Apache-2.0 */
/* Claims: an op whose predecessors are all issued gets its inputs pinned and places promised for
 * everything it lacks, all or nothing.
 *
 * Room is looked for in three steps: what is free now; what is leaving anyway (dying inputs,
 * evictions under way); and by evicting (evict.c).  Victims whose room was not needed stay.
 *
 * The last resort, for an op that nothing in flight can help: its own inputs may leave too, the
 * smallest first, and are read back at other addresses.  With all of them gone the memory is empty
 * and everything is packed from address 0, so the precondition suffices. */
#include "listsched/claim.h"

/* Of the op's other versions that are in the need's memory, is the first below its middle? */
static bool input_is_low(const fs_engine *e, const fs_claim *c, const fs_need *n) {
  const fs_places *p = &e->places[n->memory];
  FS_ENGINE_EACH_VERSION(e, c->op, i, v) {
    if (v != n->version && e->v_memory[v] == n->memory && e->v_place[v] != FS_NONE) {
      const fs_place *at = &p->place.at[e->v_place[v]];
      return at->address + at->size / 2 < p->capacity / 2;
    }
  }
  return false;
}

/* Places long-lived versions at the high end, short-lived ones and scratch at the low end; or each
 * output away from its input, so that versions that die next leave one large hole. */
static bool goes_high(const fs_engine *e, const fs_claim *c, const fs_need *n) {
  if (n->version == FS_NONE || c->last_resort) {
    return false;
  }
  if (e->policy->opposite) {
    return input_is_low(e, c, n);
  }
  uint32_t last = e->v_use[e->v_use0[n->version + 1] - 1];
  return last > c->position + e->policy->near * (e->n_queues + 1);
}

/* Packs a need right behind the place that was reserved last in its memory. */
static fs_status pack_behind(fs_engine *e, const fs_claim *c, const fs_need *n, uint32_t *place) {
  *place = FS_NONE;
  for (size_t i = c->reserved.n; i-- > 0;) {
    if (c->needs.at[i].memory == n->memory) {
      return fs_places_reserve_behind(&e->places[n->memory], c->reserved.at[i], n->size, place);
    }
  }
  return FSCHED_OK;
}

static fs_status find_room(fs_engine *e, const fs_claim *c, const fs_need *n, uint32_t *place) {
  fs_places *p = &e->places[n->memory];
  bool high = goes_high(e, c, n);
  *place = FS_NONE;
  FS_TRY(c->pack ? pack_behind(e, c, n, place) : fs_places_reserve_now(p, n->size, high, place));
  if (*place == FS_NONE) {
    FS_TRY(fs_places_reserve_future(p, n->size, high, place));
  }
  if (*place == FS_NONE && c->pack) {
    FS_TRY(fs_places_reserve_now(p, n->size, high, place));
  }
  return *place == FS_NONE ? fs_engine_evict_for(e, c, n, high, place) : FSCHED_OK;
}

/* Does the version need a place for the claim? */
static bool needs_place(const fs_engine *e, uint32_t version) {
  FS_ASSERT_SLOW(e->v_memory[version] != FS_NONE);
  return e->v_promised_place[version] == FS_NONE && e->v_inplace[version] == FS_NONE &&
         (e->v_state[version] == FS_V_ABSENT || e->v_state[version] == FS_V_LEAVING);
}

/* A leaving version stays after all: nobody has been promised its room, and it has not itself been
 * promised another place, where a claim waits for it. */
static bool rescue(fs_engine *e, uint32_t version) {
  bool stays = e->v_state[version] == FS_V_LEAVING && e->v_promised_place[version] == FS_NONE &&
               fs_places_rescue(&e->places[e->v_memory[version]], e->v_place[version]);
  if (stays) {
    e->v_state[version] = FS_V_IN;
  }
  return stays;
}

/* Pins the op's versions; leaving ones stay if they can. */
static void pin_versions(fs_engine *e, uint32_t op) {
  FS_ASSERT_SLOW(e->op_phase[op] < FS_OP_CLAIMED);
  FS_ENGINE_EACH_VERSION(e, op, a, v) {
    e->v_pins[v]++;
    fs_engine_withhold(e, v);
    (void)rescue(e, v);
  }
}

/* In-place outputs take over their input's place; no two have the same input. */
static void plan_inplace(fs_engine *e, uint32_t op) {
  const fsched_graph *g = e->g;
  for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
    uint32_t out = g->arg_version[g->inplace_out[i]];
    uint32_t in = g->arg_version[g->inplace_in[i]];
    bool bounded = e->v_memory[in] != FS_NONE;
    const fs_memory *m = bounded ? fs_engine_memory_of(e, in) : NULL;
    bool legal = bounded && fs_placement_has_addresses(m->placement) && !e->v_content[out] &&
                 e->v_state[out] == FS_V_ABSENT && e->v_left[in] == 1 &&
                 !fs_version_stays(e->g, in) && !fs_version_kept(g, in);
    if (legal && e->v_inplace[out] == FS_NONE) {
      e->v_inplace[out] = in;
    }
  }
}

static void drop_inplace(fs_engine *e, uint32_t op) {
  const fsched_graph *g = e->g;
  for (uint32_t i = g->op_inplace0[op]; i < g->op_inplace0[op + 1]; i++) {
    e->v_inplace[g->arg_version[g->inplace_out[i]]] = FS_NONE;
  }
}

static fs_status add_need(fs_engine *e, fs_claim *c, fs_need n) {
  FS_ASSERT_SLOW(n.memory != FS_NONE && (n.version == FS_NONE) != (n.scratch == FS_NONE));
  /* Largest first; ties in order of args. */
  FS_TRY(fs_vec_push(e->ctx, &c->needs, n));
  size_t i = c->needs.n - 1;
  for (; i > 0 && c->needs.at[i - 1].size < n.size; i--) {
    c->needs.at[i] = c->needs.at[i - 1];
  }
  c->needs.at[i] = n;
  return FSCHED_OK;
}

static fs_status collect_needs(fs_engine *e, fs_claim *c) {
  const fsched_graph *g = e->g;
  FS_ENGINE_EACH_VERSION(e, c->op, a, v) {
    if (needs_place(e, v)) {
      FS_TRY(add_need(e, c, (fs_need){e->v_size[v], e->v_memory[v], v, FS_NONE}));
    }
  }
  for (uint32_t i = g->op_scratch0[c->op]; i < g->op_scratch0[c->op + 1]; i++) {
    const fs_memory *m = &g->target.memory[g->scratch_memory[i]];
    if (fs_memory_bounded(m)) {
      uint64_t size = fs_align_up(g->scratch_size[i], m->align);
      FS_TRY(add_need(e, c, (fs_need){size, g->scratch_memory[i], FS_NONE, i}));
    }
  }
  return FSCHED_OK;
}

/* Is the claim hopeless: are more bytes missing than are free, leaving or evictable? */
static bool hopeless(const fs_engine *e, const fs_claim *c) {
  bool none = false;
  for (size_t i = 0; i < c->needs.n; i++) {
    e->asked[c->needs.at[i].memory] += c->needs.at[i].size;
  }
  for (size_t i = 0; i < c->needs.n; i++) {
    uint32_t m = c->needs.at[i].memory;
    none = none || e->asked[m] > e->places[m].free + e->places[m].leaving_free + e->evictable[m];
    e->asked[m] = 0;
  }
  return none;
}

/* Evicts everything that may leave the memories of the needs. */
static fs_status expel_all(fs_engine *e, const fs_claim *c) {
  for (size_t i = 0; i < c->needs.n; i++) {
    for (uint32_t v; (v = fs_engine_next_victim(e, c->needs.at[i].memory, c)) != FS_NONE;) {
      bool room;
      FS_TRY(fs_engine_keep_store(e, v, &room));
      if (room) {
        FS_TRY(fs_engine_expel(e, v));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status place_needs(fs_engine *e, fs_claim *c, bool *placed) {
  if (c->pack) {
    FS_TRY(expel_all(e, c));
  }
  *placed = true;
  for (size_t i = 0; *placed && i < c->needs.n; i++) {
    uint32_t place;
    FS_TRY(find_room(e, c, &c->needs.at[i], &place));
    *placed = place != FS_NONE;
    if (*placed) {
      FS_TRY(fs_vec_push(e->ctx, &c->reserved, place));
    }
  }
  return FSCHED_OK;
}

static void unreserve(fs_engine *e, uint32_t memory, uint32_t place) {
  fs_places_unreserve(&e->places[memory], place);
  fs_engine_wake_memory(e, memory);
}

/* Keeps the victims that may stay; the others start to leave. */
static fs_status settle_victims(fs_engine *e, const fs_claim *c) {
  for (size_t i = 0; i < e->victims.n; i++) {
    uint32_t v = e->victims.at[i];
    uint32_t m = e->v_memory[v];
    if (rescue(e, v)) {
      if (e->v_store_place[v] != FS_NONE && e->v_store_residency[v] == FS_NONE) {
        unreserve(e, e->g->target.memory[m].backing, e->v_store_place[v]);
        e->v_store_place[v] = FS_NONE;
      }
      FS_TRY(fs_engine_offer(e, v));
    }
  }
  /* Departures set reservations free, so they come after all of the above. */
  for (size_t i = 0; i < e->victims.n; i++) {
    uint32_t v = e->victims.at[i];
    if (e->v_state[v] == FS_V_LEAVING) {
      FS_TRY(e->v_dirty[v] ? fs_engine_want_write(e, v, c->position) : fs_engine_settle(e, v));
    }
  }
  e->victims.n = 0;
  return FSCHED_OK;
}

static fs_status undo(fs_engine *e, fs_claim *c) {
  for (size_t i = 0; i < c->reserved.n; i++) {
    unreserve(e, c->needs.at[i].memory, c->reserved.at[i]);
  }
  c->reserved.n = 0;
  return settle_victims(e, c);
}

static fs_status unpin(fs_engine *e, const fs_claim *c) {
  uint32_t op = c->op;
  uint64_t lacking = 0;
  for (size_t i = 0; i < c->needs.n; i++) {
    lacking += c->needs.at[i].size;
  }
  drop_inplace(e, op);
  FS_ENGINE_EACH_VERSION(e, op, a, v) {
    e->v_pins[v]--;
    FS_TRY(fs_engine_offer(e, v));
  }
  /* Until part of what is lacking has been given up, another try would fail, too. */
  e->op_retry[op] = e->supply + lacking / 2;
  return FSCHED_OK;
}

/* The op waits until the version is in. */
static fs_status await(fs_engine *e, uint32_t op, uint32_t version) {
  uint32_t w = e->free_waiter;
  if (w != FS_NONE) {
    e->free_waiter = e->waiter.at[w].next;
  } else {
    w = (uint32_t)e->waiter.n;
    fs_waiter empty = {FS_NONE, FS_NONE};
    FS_TRY(fs_vec_push(e->ctx, &e->waiter, empty));
  }
  e->waiter.at[w] = (fs_waiter){op, e->v_waiters[version]};
  e->v_waiters[version] = w;
  e->op_lacks[op]++;
  return FSCHED_OK;
}

/* Hands the reserved places to the needs.  The owner of a place is version * 2 if a read fills it,
 * else op * 2 + 1; that of an output becomes version * 2 when the op starts. */
static fs_status commit(fs_engine *e, fs_claim *c) {
  for (size_t i = 0; i < c->needs.n; i++) {
    const fs_need *n = &c->needs.at[i];
    fs_place *place = &e->places[n->memory].place.at[c->reserved.at[i]];
    bool read = n->version != FS_NONE && e->v_content[n->version];
    place->owner = read ? n->version * 2 : c->op * 2 + 1;
    if (n->version == FS_NONE) {
      e->scratch_place[n->scratch] = c->reserved.at[i];
    } else {
      e->v_promised_place[n->version] = c->reserved.at[i];
      if (e->v_state[n->version] == FS_V_ABSENT) {
        e->v_state[n->version] = FS_V_PROMISED;
        if (read) {
          fs_engine_wanted(e, n->version);
        }
      }
    }
    if (read) {
      e->v_read_for[n->version] = c->position;
    } else if (place->blocked > 0) {
      e->op_lacks[c->op]++;
    }
  }
  FS_ENGINE_EACH_VERSION(e, c->op, a, v) {
    bool own = e->v_promised_place[v] != FS_NONE && !e->v_content[v] &&
               e->places[e->v_memory[v]].place.at[e->v_promised_place[v]].owner == c->op * 2 + 1;
    bool reading = e->v_content[v] && e->v_promised_place[v] != FS_NONE;
    if (reading) {
      e->v_read_for[v] = (uint32_t)fs_min(e->v_read_for[v], c->position);
      FS_TRY(fs_engine_want_read(e, v));
    }
    if (!own && e->v_state[v] != FS_V_IN && e->v_inplace[v] == FS_NONE) {
      FS_TRY(await(e, c->op, v));
    }
  }
  return FSCHED_OK;
}

/* The op's own inputs that are in and may leave, smallest first. */
static fs_status collect_own(fs_engine *e, fs_claim *c) {
  FS_ENGINE_EACH_VERSION(e, c->op, a, v) {
    if (e->v_state[v] == FS_V_IN && fs_memory_spills(fs_engine_memory_of(e, v))) {
      FS_TRY(fs_vec_push(e->ctx, &c->own, v));
      size_t i = c->own.n - 1;
      for (; i > 0 && e->v_size[c->own.at[i - 1]] > e->v_size[v]; i--) {
        c->own.at[i] = c->own.at[i - 1];
      }
      c->own.at[i] = v;
    }
  }
  return FSCHED_OK;
}

/* The first `k` of the op's own inputs leave, too. */
static fs_status expel_own(fs_engine *e, const fs_claim *c, size_t k, bool *possible) {
  *possible = true;
  for (size_t i = 0; i < k && *possible; i++) {
    FS_TRY(fs_engine_keep_store(e, c->own.at[i], possible));
    if (*possible) {
      FS_TRY(fs_engine_expel(e, c->own.at[i]));
    }
  }
  return FSCHED_OK;
}

static fs_status attempt(fs_engine *e, fs_claim *c, size_t own, bool *placed) {
  c->needs.n = 0;
  *placed = false;
  bool possible;
  FS_TRY(expel_own(e, c, own, &possible));
  if (possible) {
    plan_inplace(e, c->op);
    FS_TRY(collect_needs(e, c));
    if (c->last_resort || !hopeless(e, c)) {
      FS_TRY(place_needs(e, c, placed));
    }
  }
  return *placed ? FSCHED_OK : undo(e, c);
}

/* Keeps own inputs where they are if their room was not promised. */
static void keep_own(fs_engine *e, fs_claim *c) {
  size_t kept = 0;
  for (size_t i = 0; i < c->needs.n; i++) {
    const fs_need *n = &c->needs.at[i];
    if (n->version != FS_NONE && rescue(e, n->version)) {
      unreserve(e, n->memory, c->reserved.at[i]);
    } else {
      c->needs.at[kept] = *n;
      c->reserved.at[kept++] = c->reserved.at[i];
    }
  }
  c->needs.n = c->reserved.n = kept;
}

static fs_status claim_with(fs_engine *e, fs_claim *c, bool *done) {
  FS_TRY(attempt(e, c, 0, done));
  if (!*done && c->last_resort) {
    FS_TRY(collect_own(e, c));
    for (size_t own = 1; own < c->own.n && !*done; own *= 2) {
      FS_TRY(attempt(e, c, own, done));
    }
    if (!*done) {
      c->pack = true;
      FS_TRY(attempt(e, c, c->own.n, done));
    }
  }
  if (!*done) {
    return FSCHED_OK;
  }
  keep_own(e, c);
  FS_TRY(commit(e, c));
  return settle_victims(e, c);
}

fs_status fs_engine_claim(fs_engine *e, uint32_t op, bool last_resort, bool *done) {
  assert(e->op_phase[op] == FS_OP_SOON);
  fs_claim *c = &e->claim;
  c->op = op;
  c->position = e->position[op];
  c->last_resort = last_resort;
  c->pack = false;
  e->steps += 2 + 2 * (e->touch0[op + 1] - e->touch0[op]);
  c->needs.n = c->reserved.n = c->own.n = 0;
  pin_versions(e, op);
  FS_TRY(claim_with(e, c, done));
  return *done ? FSCHED_OK : unpin(e, c);
}

fs_status fs_engine_arrived(fs_engine *e, uint32_t version) {
  while (e->v_waiters[version] != FS_NONE) {
    uint32_t w = e->v_waiters[version];
    uint32_t op = e->waiter.at[w].op;
    e->v_waiters[version] = e->waiter.at[w].next;
    e->waiter.at[w].next = e->free_waiter;
    e->free_waiter = w;
    FS_TRY(fs_engine_lack_less(e, op));
  }
  return FSCHED_OK;
}
