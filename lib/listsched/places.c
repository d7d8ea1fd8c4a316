/* SPDX-License-Identifier: Apache-2.0 */
/* Places: see places.h.
 *
 * Segment states, by (here, promised):
 *   free      (none, none)     in a bin, never beside another free one
 *   occupied  (r, r)
 *   leaving   (r, none)        available to reservations
 *   reserved  (none, r)        usable
 *   blocked   (q, r)           r waits for q to go
 * Bins: by the position of the highest bit and the three bits below it. */
#include "listsched/places.h"

#include "fsched/graph.h"

static bool available(const fs_segment *s) {
  /* A segment promised to nobody is free or leaving: occupied ones are promised to themselves. */
  return s->promised == FS_NONE;
}

_Static_assert(FSCHED_MAX_SIZE == (uint64_t)1 << 48 && FS_BINS > (48 - 2) * 8 + 7 &&
                   FS_BINS % 64 == 0,
               "every size has a bin");

static uint32_t bin_of(uint64_t size) {
  assert(size > 0 && size <= FSCHED_MAX_SIZE);
  uint32_t high = 63u - (uint32_t)__builtin_clzll(size);
  return high < 3 ? (uint32_t)size : (high - 2) * 8 + (uint32_t)((size >> (high - 3)) & 7);
}

static void bin_insert(fs_places *p, uint32_t id) {
  FS_ASSERT_SLOW(p->segment.at[id].here == FS_NONE && p->segment.at[id].promised == FS_NONE);
  fs_segment *s = &p->segment.at[id];
  uint32_t b = bin_of(s->size);
  s->bin_previous = FS_NONE;
  s->bin_next = p->bin[b];
  if (s->bin_next != FS_NONE) {
    p->segment.at[s->bin_next].bin_previous = id;
  }
  p->bin[b] = id;
  p->bin_map[b / 64] |= (uint64_t)1 << (b % 64);
}

static void bin_remove(fs_places *p, uint32_t id) {
  fs_segment *s = &p->segment.at[id];
  uint32_t b = bin_of(s->size);
  if (s->bin_next != FS_NONE) {
    p->segment.at[s->bin_next].bin_previous = s->bin_previous;
  }
  if (s->bin_previous != FS_NONE) {
    p->segment.at[s->bin_previous].bin_next = s->bin_next;
  } else {
    p->bin[b] = s->bin_next;
    if (s->bin_next == FS_NONE) {
      p->bin_map[b / 64] &= ~((uint64_t)1 << (b % 64));
    }
  }
}

/* The first bin from b on that is not empty, or FS_BINS. */
static uint32_t next_bin(const fs_places *p, uint32_t b) {
  while (b < FS_BINS) {
    uint64_t word = p->bin_map[b / 64] >> (b % 64);
    if (word != 0) {
      return b + (uint32_t)__builtin_ctzll(word);
    }
    b = (b / 64 + 1) * 64;
  }
  return FS_BINS;
}

/* Best fit in the first bin that has one; ties to the address nearest to the wanted end. */
static uint32_t best_fit(const fs_places *p, uint64_t size, bool high) {
  enum { LOOK = 64 }; /* a long bin is not searched to its end */
  for (uint32_t b = next_bin(p, bin_of(size)); b < FS_BINS; b = next_bin(p, b + 1)) {
    uint32_t best = FS_NONE;
    int looked = 0;
    for (uint32_t i = p->bin[b]; i != FS_NONE && looked < LOOK; i = p->segment.at[i].bin_next) {
      const fs_segment *s = &p->segment.at[i];
      looked++;
      if (s->size < size) {
        continue;
      }
      const fs_segment *o = best == FS_NONE ? NULL : &p->segment.at[best];
      if (o == NULL || s->size < o->size ||
          (s->size == o->size && (s->address < o->address) != high)) {
        best = i;
      }
    }
    if (best != FS_NONE) {
      return best;
    }
  }
  return FS_NONE;
}

static fs_status new_segment(fs_places *p, uint32_t *id) {
  if (p->segment_pool.n > 0) {
    *id = p->segment_pool.at[--p->segment_pool.n];
    return FSCHED_OK;
  }
  *id = (uint32_t)p->segment.n;
  FS_TRY(fs_vec_reserve(p->ctx, &p->segment_pool, p->segment.n + 1)); /* see join_left */
  fs_segment empty = {0};
  return fs_vec_push(p->ctx, &p->segment, empty);
}

static fs_status new_place(fs_places *p, uint64_t size, uint32_t *id) {
  /* Room for the later lists is made now, so that giving up cannot fail. */
  FS_TRY(fs_vec_reserve(p->ctx, &p->leaving, p->place.n + 1));
  FS_TRY(fs_vec_reserve(p->ctx, &p->waiting, p->place.n + 1));
  FS_TRY(fs_vec_reserve(p->ctx, &p->unblocked, p->place.n + 1));
  FS_TRY(fs_vec_reserve(p->ctx, &p->place_pool, p->place.n + 1));
  if (p->place_pool.n > 0) {
    *id = p->place_pool.at[--p->place_pool.n];
  } else {
    *id = (uint32_t)p->place.n;
    fs_place empty = {0};
    FS_TRY(fs_vec_push(p->ctx, &p->place, empty));
  }
  p->place.at[*id] = (fs_place){.size = size,
                                .first = FS_NONE,
                                .owner = FS_NONE,
                                .slot = FS_NONE,
                                .state = FS_PLACE_RESERVED};
  return FSCHED_OK;
}

static void drop_place(fs_places *p, uint32_t id) {
  FS_ASSERT_SLOW(p->place.at[id].state != FS_PLACE_GONE);
  FS_ASSERT_SLOW(p->place_pool.n < p->place_pool.cap);
  p->place.at[id].state = FS_PLACE_GONE;
  p->place_pool.at[p->place_pool.n++] = id; /* reserved in new_place */
}

fs_status fs_places_init(fs_places *p, fsched_context *ctx, uint64_t capacity, bool counted) {
  assert(capacity != FS_UNBOUNDED);
  *p = (fs_places){.ctx = ctx};
  return fs_places_empty(p, capacity, counted);
}

fs_status fs_places_empty(fs_places *p, uint64_t capacity, bool counted) {
  assert(capacity != FS_UNBOUNDED && p->ctx != NULL);
  p->counted = counted;
  p->capacity = p->free = capacity;
  p->leaving_free = 0;
  p->place.n = p->segment.n = p->place_pool.n = p->segment_pool.n = 0;
  p->leaving.n = p->waiting.n = p->unblocked.n = 0;
  memset(p->bin_map, 0, sizeof p->bin_map);
  memset(p->bin, 0xFF, sizeof p->bin);
  if (!counted && capacity > 0) {
    uint32_t id;
    FS_TRY(new_segment(p, &id));
    p->segment.at[id] = (fs_segment){.size = capacity,
                                     .previous = FS_NONE,
                                     .next = FS_NONE,
                                     .here = FS_NONE,
                                     .promised = FS_NONE};
    bin_insert(p, id);
  }
  return FSCHED_OK;
}

void fs_places_release(fs_places *p) {
  fs_vec_free(p->ctx, &p->place);
  fs_vec_free(p->ctx, &p->segment);
  fs_vec_free(p->ctx, &p->place_pool);
  fs_vec_free(p->ctx, &p->segment_pool);
  fs_vec_free(p->ctx, &p->leaving);
  fs_vec_free(p->ctx, &p->waiting);
  fs_vec_free(p->ctx, &p->unblocked);
}

/* Cuts a segment so that it ends at `address`; the rest becomes a new one of the same state. */
static fs_status cut(fs_places *p, uint32_t id, uint64_t address) {
  assert(p->segment.at[id].address < address);
  assert(address < p->segment.at[id].address + p->segment.at[id].size);
  uint32_t rest;
  FS_TRY(new_segment(p, &rest));
  fs_segment *s = &p->segment.at[id];
  fs_segment *r = &p->segment.at[rest];
  bool is_free = s->here == FS_NONE && s->promised == FS_NONE;
  if (is_free) {
    bin_remove(p, id);
  }
  *r = *s;
  r->address = address;
  r->size = s->address + s->size - address;
  r->previous = id;
  s->size = address - s->address;
  s->next = rest;
  if (r->next != FS_NONE) {
    p->segment.at[r->next].previous = rest;
  }
  if (is_free) {
    bin_insert(p, id);
    bin_insert(p, rest);
  }
  return FSCHED_OK;
}

/* Removes `id`, whose room its left neighbour takes. */
static void join_left(fs_places *p, uint32_t id) {
  assert(p->segment.at[id].previous != FS_NONE);
  fs_segment *s = &p->segment.at[id];
  fs_segment *left = &p->segment.at[s->previous];
  assert(left->address + left->size == s->address);
  left->size += s->size;
  left->next = s->next;
  if (s->next != FS_NONE) {
    p->segment.at[s->next].previous = s->previous;
  }
  p->segment_pool.at[p->segment_pool.n++] = id;
}

/* A segment that has become free joins its free neighbours. */
static void make_free(fs_places *p, uint32_t id) {
  fs_segment *s = &p->segment.at[id];
  s->here = s->promised = FS_NONE;
  if (s->next != FS_NONE && p->segment.at[s->next].here == FS_NONE &&
      p->segment.at[s->next].promised == FS_NONE) {
    bin_remove(p, s->next);
    join_left(p, s->next);
  }
  if (s->previous != FS_NONE && p->segment.at[s->previous].here == FS_NONE &&
      p->segment.at[s->previous].promised == FS_NONE) {
    uint32_t left = s->previous;
    bin_remove(p, left);
    join_left(p, id);
    id = left;
  }
  bin_insert(p, id);
}

static void forget_waiting(fs_places *p, uint32_t place) {
  size_t kept = 0;
  for (size_t i = 0; i < p->waiting.n; i++) {
    p->waiting.at[kept] = p->waiting.at[i];
    kept += p->waiting.at[i] != place;
  }
  p->waiting.n = kept;
}

/* Reserves [address, address + size), which begins inside segment `id` and is available. */
static fs_status take_range(fs_places *p, uint32_t id, uint64_t address, uint64_t size,
                            uint32_t *place) {
  assert(size > 0 && p->segment.at[id].address <= address);
  assert(address < p->segment.at[id].address + p->segment.at[id].size);
  FS_TRY(new_place(p, size, place));
  if (p->segment.at[id].address < address) {
    FS_TRY(cut(p, id, address));
    id = p->segment.at[id].next;
  }
  fs_place *r = &p->place.at[*place];
  r->address = address;
  r->first = id;
  for (uint64_t end = address + size;; id = p->segment.at[id].next) {
    assert(id != FS_NONE && available(&p->segment.at[id]));
    if (p->segment.at[id].address + p->segment.at[id].size > end) {
      FS_TRY(cut(p, id, end));
    }
    fs_segment *s = &p->segment.at[id];
    if (s->here == FS_NONE) {
      bin_remove(p, id);
      p->free -= s->size;
    } else {
      r->blocked += s->size;
      p->leaving_free -= s->size;
    }
    s->promised = *place;
    if (s->address + s->size == end) {
      return FSCHED_OK;
    }
  }
}

static fs_status take_counted(fs_places *p, uint64_t size, uint32_t *place) {
  assert(size <= p->free + p->leaving_free);
  FS_TRY(new_place(p, size, place));
  uint64_t now = fs_min(size, p->free);
  p->free -= now;
  p->leaving_free -= size - now;
  p->place.at[*place].blocked = size - now;
  if (size > now) {
    p->waiting.at[p->waiting.n++] = *place;
  }
  return FSCHED_OK;
}

fs_status fs_places_reserve_now(fs_places *p, uint64_t size, bool high, uint32_t *place) {
  *place = FS_NONE;
  assert(p->free <= p->capacity);
  if (size == 0) {
    return new_place(p, 0, place);
  }
  if (size > p->free) {
    return FSCHED_OK;
  }
  if (p->counted) {
    return take_counted(p, size, place);
  }
  uint32_t id = best_fit(p, size, high);
  if (id == FS_NONE) {
    return FSCHED_OK;
  }
  const fs_segment *s = &p->segment.at[id];
  return take_range(p, id, high ? s->address + s->size - size : s->address, size, place);
}

/* Finds the run of available segments around one of them; returns its size. */
static uint64_t run_around(const fs_places *p, uint32_t id, uint32_t *first, uint32_t *last) {
  uint64_t size = p->segment.at[id].size;
  *first = *last = id;
  for (uint32_t i; (i = p->segment.at[*first].previous) != FS_NONE && available(&p->segment.at[i]);
       *first = i) {
    size += p->segment.at[i].size;
  }
  for (uint32_t i; (i = p->segment.at[*last].next) != FS_NONE && available(&p->segment.at[i]);
       *last = i) {
    size += p->segment.at[i].size;
  }
  return size;
}

static fs_status take_in_run(fs_places *p, uint32_t first, uint32_t last, uint64_t size, bool high,
                             uint32_t *place) {
  assert(first != FS_NONE && last != FS_NONE);
  uint64_t begin = p->segment.at[first].address;
  uint64_t end = p->segment.at[last].address + p->segment.at[last].size;
  assert(end - begin >= size);
  uint64_t address = high ? end - size : begin;
  uint32_t id = first;
  while (p->segment.at[id].address + p->segment.at[id].size <= address) {
    id = p->segment.at[id].next;
  }
  return take_range(p, id, address, size, place);
}

fs_status fs_places_reserve_around(fs_places *p, uint32_t leaving, uint64_t size, bool high,
                                   uint32_t *place) {
  assert(leaving < p->place.n && p->place.at[leaving].state == FS_PLACE_LEAVING);
  *place = FS_NONE;
  const fs_place *q = &p->place.at[leaving];
  if (p->counted) {
    return size <= p->free + p->leaving_free ? take_counted(p, size, place) : FSCHED_OK;
  }
  uint64_t covered = 0;
  for (uint32_t id = q->first; covered < q->size; id = p->segment.at[id].next) {
    covered += p->segment.at[id].size;
    if (available(&p->segment.at[id])) {
      uint32_t first, last;
      if (run_around(p, id, &first, &last) >= size) {
        return take_in_run(p, first, last, size, high, place);
      }
    }
  }
  return FSCHED_OK;
}

fs_status fs_places_reserve_behind(fs_places *p, uint32_t before, uint64_t size, uint32_t *place) {
  assert(before < p->place.n && p->place.at[before].state == FS_PLACE_RESERVED);
  *place = FS_NONE;
  const fs_place *q = &p->place.at[before];
  if (q->first == FS_NONE || size == 0) {
    return FSCHED_OK;
  }
  uint32_t first = q->first;
  for (uint64_t covered = 0; covered < q->size && first != FS_NONE;) {
    covered += p->segment.at[first].size;
    first = p->segment.at[first].next;
  }
  uint64_t room = 0;
  for (uint32_t id = first; id != FS_NONE && available(&p->segment.at[id]);
       id = p->segment.at[id].next) {
    room += p->segment.at[id].size;
    if (room >= size) {
      return take_range(p, first, p->segment.at[first].address, size, place);
    }
  }
  return FSCHED_OK;
}

fs_status fs_places_reserve_future(fs_places *p, uint64_t size, bool high, uint32_t *place) {
  *place = FS_NONE;
  if (size > p->free + p->leaving_free) {
    return FSCHED_OK;
  }
  if (p->counted || size == 0) {
    return size == 0 ? new_place(p, 0, place) : take_counted(p, size, place);
  }
  enum { LOOK = 8, LIMIT = 128 }; /* after LOOK places the first that fits will do */
  uint64_t best = UINT64_MAX;
  uint32_t best_first = FS_NONE, best_last = FS_NONE;
  for (size_t i = 0; i < p->leaving.n && (i < LOOK || best == UINT64_MAX) && i < LIMIT; i++) {
    const fs_place *q = &p->place.at[p->leaving.at[i]];
    uint64_t covered = 0;
    for (uint32_t id = q->first; covered < q->size; id = p->segment.at[id].next) {
      covered += p->segment.at[id].size;
      uint32_t first, last;
      if (!available(&p->segment.at[id])) {
        continue;
      }
      uint64_t run = run_around(p, id, &first, &last);
      if (run >= size && (run < best || (run == best && p->segment.at[first].address <
                                                            p->segment.at[best_first].address))) {
        best = run;
        best_first = first;
        best_last = last;
      }
    }
  }
  return best == UINT64_MAX ? FSCHED_OK : take_in_run(p, best_first, best_last, size, high, place);
}

void fs_places_unreserve(fs_places *p, uint32_t place) {
  fs_place *r = &p->place.at[place];
  assert(r->state == FS_PLACE_RESERVED);
  if (p->counted) {
    p->free += r->size - r->blocked;
    p->leaving_free += r->blocked;
    forget_waiting(p, place);
  } else {
    uint64_t covered = 0;
    for (uint32_t id = r->first, next; covered < r->size; id = next) {
      fs_segment *s = &p->segment.at[id];
      next = s->next;
      covered += s->size;
      s->promised = FS_NONE;
      if (s->here == FS_NONE) {
        p->free += s->size;
        make_free(p, id);
      } else {
        p->leaving_free += s->size;
      }
    }
  }
  drop_place(p, place);
}

void fs_places_occupy(fs_places *p, uint32_t place) {
  fs_place *r = &p->place.at[place];
  assert(r->state == FS_PLACE_RESERVED && r->blocked == 0);
  r->state = FS_PLACE_OCCUPIED;
  if (r->first == FS_NONE) {
    return;
  }
  p->segment.at[r->first].here = place;
  while (p->segment.at[r->first].size < r->size) {
    join_left(p, p->segment.at[r->first].next);
  }
}

fs_status fs_places_leave(fs_places *p, uint32_t place) {
  fs_place *r = &p->place.at[place];
  assert(r->state == FS_PLACE_OCCUPIED);
  r->state = FS_PLACE_LEAVING;
  r->slot = (uint32_t)p->leaving.n;
  p->leaving_free += r->size;
  if (r->first != FS_NONE) {
    p->segment.at[r->first].promised = FS_NONE;
  }
  return fs_vec_push(p->ctx, &p->leaving, place);
}

static void forget_leaving(fs_places *p, fs_place *r) {
  assert(r->slot < p->leaving.n);
  uint32_t last = p->leaving.at[--p->leaving.n];
  p->leaving.at[r->slot] = last;
  p->place.at[last].slot = r->slot;
}

bool fs_places_promised(const fs_places *p, uint32_t place) {
  assert(p->place.at[place].state == FS_PLACE_LEAVING);
  const fs_place *r = &p->place.at[place];
  if (p->counted) {
    return p->leaving_free < r->size;
  }
  uint64_t covered = 0;
  for (uint32_t id = r->first; covered < r->size; id = p->segment.at[id].next) {
    covered += p->segment.at[id].size;
    if (p->segment.at[id].promised != FS_NONE) {
      return true;
    }
  }
  return false;
}

bool fs_places_rescue(fs_places *p, uint32_t place) {
  fs_place *r = &p->place.at[place];
  assert(r->state == FS_PLACE_LEAVING);
  if (fs_places_promised(p, place)) {
    return false;
  }
  forget_leaving(p, r);
  r->state = FS_PLACE_OCCUPIED;
  p->leaving_free -= r->size;
  if (r->first != FS_NONE) {
    p->segment.at[r->first].promised = place;
    while (p->segment.at[r->first].size < r->size) {
      join_left(p, p->segment.at[r->first].next);
    }
  }
  return true;
}

/* Hands `size` bytes to the blocked reservations, oldest first; what is left becomes free. */
static void depart_counted(fs_places *p, uint64_t size) {
  size_t kept = 0;
  for (size_t i = 0; i < p->waiting.n; i++) {
    fs_place *r = &p->place.at[p->waiting.at[i]];
    uint64_t paid = fs_min(size, r->blocked);
    size -= paid;
    r->blocked -= paid;
    if (r->blocked == 0) {
      p->unblocked.at[p->unblocked.n++] = p->waiting.at[i];
    } else {
      p->waiting.at[kept++] = p->waiting.at[i];
    }
  }
  p->waiting.n = kept;
  p->leaving_free -= size;
  p->free += size;
  assert(p->free <= p->capacity);
}

fs_status fs_places_depart(fs_places *p, uint32_t place) {
  assert(p->place.at[place].state >= FS_PLACE_OCCUPIED);
  if (p->place.at[place].state == FS_PLACE_OCCUPIED) {
    FS_TRY(fs_places_leave(p, place));
  }
  fs_place *r = &p->place.at[place];
  assert(r->state == FS_PLACE_LEAVING);
  p->unblocked.n = 0;
  forget_leaving(p, r);
  if (p->counted) {
    depart_counted(p, r->size);
  } else {
    uint64_t covered = 0;
    for (uint32_t id = r->first, next; covered < r->size; id = next) {
      fs_segment *s = &p->segment.at[id];
      next = s->next;
      covered += s->size;
      s->here = FS_NONE;
      if (s->promised == FS_NONE) {
        p->leaving_free -= s->size;
        p->free += s->size;
        make_free(p, id);
        continue;
      }
      fs_place *q = &p->place.at[s->promised];
      q->blocked -= s->size;
      if (q->blocked == 0) {
        p->unblocked.at[p->unblocked.n++] = s->promised;
      }
    }
  }
  drop_place(p, place);
  return FSCHED_OK;
}
