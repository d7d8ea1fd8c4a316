/* SPDX-License-Identifier: Apache-2.0 */
/* Eviction: which versions leave, so that a need of a claim fits.
 *
 * Victims are offered clean ones first, then dirty ones, each in the policy's order.  Pinned
 * versions never go, and where the policy looks ahead, none whose next use is the claiming op or
 * comes before it.
 *
 * Counted memories: one victim after the other until the amount is there.  Contiguous memories:
 * victims at scattered addresses make no contiguous room, so each of the first few victims grows a
 * window over its neighbours (free and leaving room costs nothing, and of two neighbours the one
 * that comes first in the policy's order goes first) until the need fits, and the cheapest window
 * wins.  Its cost is the sum, over what it evicts, of copy time per distance to the next use.
 * O(CANDIDATES * window) per need.
 */
#include "listsched/claim.h"

enum { CANDIDATES = 2, WINDOW_LIMIT = 64 };

static uint64_t victim_key(fs_engine *e, uint32_t version) {
  FS_ASSERT_SLOW(version < e->g->n_versions);
  switch (e->policy->evict) {
    case FSCHED_EVICT_FARTHEST:
      return UINT32_MAX - fs_engine_next_use(e, version);
    case FSCHED_EVICT_LRU:
      return e->v_last_use[version];
  }
  return 0;
}

void fs_engine_withhold(fs_engine *e, uint32_t version) {
  FS_ASSERT_SLOW(e->v_memory[version] != FS_NONE);
  if (e->v_counted_evictable[version]) {
    e->v_counted_evictable[version] = 0;
    e->evictable[e->v_memory[version]] -= e->v_size[version];
  }
}

static bool may_leave(const fs_engine *e, uint32_t version) {
  return e->v_state[version] == FS_V_IN && e->v_pins[version] == 0 &&
         e->v_writers_running[version] == 0;
}

fs_status fs_engine_offer(fs_engine *e, uint32_t version) {
  FS_ASSERT_SLOW(e->v_memory[version] != FS_NONE);
  uint32_t m = e->v_memory[version];
  if (!may_leave(e, version) || !fs_memory_spills(&e->g->target.memory[m])) {
    return FSCHED_OK;
  }
  if (!e->v_counted_evictable[version]) {
    e->v_counted_evictable[version] = 1;
    e->evictable[m] += e->v_size[version];
  }
  fs_heap *h = e->v_dirty[version] ? &e->victims_dirty[m] : &e->victims_clean[m];
  return fs_heap_push(e->ctx, h, victim_key(e, version), version);
}

/* Is the version needed sooner than the op that claims? */
static bool needed_sooner(fs_engine *e, uint32_t version, const fs_claim *c) {
  FS_ASSERT_SLOW(c->position < e->g->n_ops);
  return !c->last_resort && fs_evict_looks_ahead(e->policy->evict) &&
         fs_engine_next_use(e, version) <= c->position;
}

uint32_t fs_engine_next_victim(fs_engine *e, uint32_t memory, const fs_claim *c) {
  assert(memory < e->g->target.n_memories && e->places[memory].ctx != NULL);
  for (int dirty = 0; dirty < 2; dirty++) {
    fs_heap *h = dirty ? &e->victims_dirty[memory] : &e->victims_clean[memory];
    while (h->n > 0) {
      uint32_t v = h->at[0].id;
      bool stale = !may_leave(e, v) || e->v_dirty[v] != dirty || h->at[0].key != victim_key(e, v);
      if (!stale && needed_sooner(e, v, c)) {
        break;
      }
      (void)fs_heap_pop(h);
      if (!stale) {
        return v;
      }
    }
  }
  return FS_NONE;
}

fs_status fs_engine_keep_store(fs_engine *e, uint32_t version, bool *room) {
  assert(fs_memory_spills(fs_engine_memory_of(e, version)));
  *room = true;
  const fs_memory *m = fs_engine_memory_of(e, version);
  const fs_memory *store = &e->g->target.memory[m->backing];
  if (!fs_memory_bounded(store) || !e->v_dirty[version] || e->v_store_place[version] != FS_NONE) {
    return FSCHED_OK;
  }
  uint64_t size = fs_align_up(fs_version_size(e->g, version), store->align);
  FS_TRY(fs_places_reserve_now(&e->places[m->backing], size, true, &e->v_store_place[version]));
  *room = e->v_store_place[version] != FS_NONE;
  return FSCHED_OK;
}

fs_status fs_engine_expel(fs_engine *e, uint32_t version) {
  assert(e->v_state[version] == FS_V_IN && e->v_place[version] != FS_NONE);
  fs_engine_withhold(e, version);
  e->v_state[version] = FS_V_LEAVING;
  FS_TRY(fs_vec_push(e->ctx, &e->victims, version));
  return fs_places_leave(&e->places[e->v_memory[version]], e->v_place[version]);
}

static fs_status evict_counted(fs_engine *e, const fs_claim *c, const fs_need *n, uint32_t *place) {
  assert(e->places[n->memory].counted && *place == FS_NONE);
  fs_places *p = &e->places[n->memory];
  for (uint32_t v; *place == FS_NONE && (v = fs_engine_next_victim(e, n->memory, c)) != FS_NONE;) {
    bool room;
    FS_TRY(fs_engine_keep_store(e, v, &room));
    if (room) {
      FS_TRY(fs_engine_expel(e, v));
      FS_TRY(fs_places_reserve_future(p, n->size, false, place));
    }
  }
  return FSCHED_OK;
}

/* A growing window: segments first .. last, their size, and what evicting in it costs. */
typedef struct evict_window {
  uint32_t first, last;
  uint64_t size, cost;
} evict_window;

/* The version that occupies a segment and may leave for the claim, or FS_NONE. */
static uint32_t occupant(fs_engine *e, const fs_places *p, uint32_t segment, const fs_claim *c) {
  const fs_segment *s = &p->segment.at[segment];
  if (s->promised == FS_NONE || s->promised != s->here) {
    return FS_NONE;
  }
  uint32_t owner = p->place.at[s->promised].owner;
  uint32_t v = owner / 2;
  bool version = owner != FS_NONE && owner % 2 == 0;
  return version && may_leave(e, v) && !needed_sooner(e, v, c) ? v : FS_NONE;
}

/* The cost of an eviction: copy time per distance to the next use, scaled.  A write that has to be
 * made anyway costs nothing. */
static uint64_t eviction_cost(fs_engine *e, uint32_t v, const fs_claim *c) {
  assert(e->v_state[v] == FS_V_IN);
  const fs_memory *m = fs_engine_memory_of(e, v);
  uint64_t size = fs_version_size(e->g, v);
  uint32_t next = fs_engine_next_use(e, v);
  bool kept = fs_version_kept(e->g, v) && e->v_writers_left[v] == 0;
  uint64_t time = (e->v_dirty[v] && !kept ? fs_spill_write_time(m, size) : 0) +
                  (next < e->g->n_ops ? fs_spill_read_time(m, size) : 0);
  uint64_t distance = next > c->position ? next - c->position : 1;
  return (time + 1) * 1024 / distance;
}

/* Takes in the free and leaving segments beyond both ends. */
static void absorb(const fs_places *p, evict_window *w) {
  assert(w->first < p->segment.n && w->last < p->segment.n);
  for (uint32_t i;
       (i = p->segment.at[w->first].previous) != FS_NONE && p->segment.at[i].promised == FS_NONE;
       w->first = i) {
    w->size += p->segment.at[i].size;
  }
  for (uint32_t i;
       (i = p->segment.at[w->last].next) != FS_NONE && p->segment.at[i].promised == FS_NONE;
       w->last = i) {
    w->size += p->segment.at[i].size;
  }
}

/* Grows until `size` fits; false if it cannot. */
static bool grow(fs_engine *e, const fs_places *p, const fs_claim *c, uint64_t size,
                 evict_window *w) {
  assert(w->first != FS_NONE && w->last != FS_NONE);
  absorb(p, w);
  for (int steps = 0; w->size < size; steps++) {
    e->steps++;
    uint32_t left = p->segment.at[w->first].previous, right = p->segment.at[w->last].next;
    uint32_t left_v = left == FS_NONE ? FS_NONE : occupant(e, p, left, c);
    uint32_t right_v = right == FS_NONE ? FS_NONE : occupant(e, p, right, c);
    if ((left_v == FS_NONE && right_v == FS_NONE) || (steps >= WINDOW_LIMIT && !c->last_resort)) {
      return false;
    }
    bool go_left = right_v == FS_NONE ||
                   (left_v != FS_NONE && victim_key(e, left_v) <= victim_key(e, right_v));
    w->cost += eviction_cost(e, go_left ? left_v : right_v, c);
    w->size += p->segment.at[go_left ? left : right].size;
    *(go_left ? &w->first : &w->last) = go_left ? left : right;
    absorb(p, w);
  }
  return true;
}

static fs_status expel_window(fs_engine *e, const fs_claim *c, const fs_places *p,
                              const evict_window *w, uint32_t *leaving) {
  *leaving = FS_NONE;
  for (uint32_t i = w->first;; i = p->segment.at[i].next) {
    uint32_t v = occupant(e, p, i, c);
    if (v != FS_NONE) {
      bool room;
      FS_TRY(fs_engine_keep_store(e, v, &room));
      if (!room) {
        *leaving = FS_NONE;
        return FSCHED_OK;
      }
      FS_TRY(fs_engine_expel(e, v));
      *leaving = e->v_place[v];
    }
    if (i == w->last) {
      return FSCHED_OK;
    }
  }
}

/* The cheapest window around one of the first victims; the first window that fits, where the policy
 * does not look ahead. */
static fs_status best_window(fs_engine *e, const fs_claim *c, const fs_need *n,
                             evict_window *best) {
  const fs_places *p = &e->places[n->memory];
  uint32_t tried[CANDIDATES * 2];
  uint32_t n_tried = 0, limit = CANDIDATES;
  best->first = FS_NONE;
  for (uint32_t v; n_tried < limit && (v = fs_engine_next_victim(e, n->memory, c)) != FS_NONE;) {
    tried[n_tried++] = v;
    uint32_t first = p->place.at[e->v_place[v]].first;
    if (first == FS_NONE) {
      continue;
    }
    evict_window w = {first, first, p->segment.at[first].size, eviction_cost(e, v, c)};
    if (grow(e, p, c, n->size, &w) && (best->first == FS_NONE || w.cost < best->cost)) {
      *best = w;
      if (!fs_evict_looks_ahead(e->policy->evict)) {
        break;
      }
    }
    limit += best->first == FS_NONE && limit < CANDIDATES * 2 ? 1 : 0;
  }
  for (uint32_t i = 0; i < n_tried; i++) {
    FS_TRY(fs_engine_offer(e, tried[i]));
  }
  return FSCHED_OK;
}

fs_status fs_engine_evict_for(fs_engine *e, const fs_claim *c, const fs_need *n, bool high,
                              uint32_t *place) {
  assert(*place == FS_NONE && n->size > 0);
  if (e->places[n->memory].counted) {
    return evict_counted(e, c, n, place);
  }
  evict_window w;
  FS_TRY(best_window(e, c, n, &w));
  if (w.first == FS_NONE) {
    return FSCHED_OK;
  }
  uint32_t leaving;
  FS_TRY(expel_window(e, c, &e->places[n->memory], &w, &leaving));
  return leaving == FS_NONE
             ? FSCHED_OK
             : fs_places_reserve_around(&e->places[n->memory], leaving, n->size, high, place);
}
