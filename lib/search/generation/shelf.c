/* SPDX-License-Identifier: Apache-2.0 */
#include "search/generation/shelf.h"

#include "base/radix.h"
#include "placement/placement.h"

static void count_partners(fs_shelf *s, bool fills) {
  const fs_lives *l = s->lives;
  for (uint32_t item = 0; item < l->passes.form->n; item++) {
    for (uint32_t i = l->pair0[item]; i < l->pair0[item + 1]; i++) {
      uint32_t of[] = {l->pair[i].input, l->pair[i].output};
      s->pair_item[i] = item;
      for (int k = 0; k < 2; k++) {
        if (fills) {
          s->partner[s->partner0[of[k]]++] = i;
        } else {
          s->partner0[of[k] + 1]++;
        }
      }
    }
  }
}

static fs_status list_partners(fs_shelf *s, fs_arena *arena) {
  const fs_lives *l = s->lives;
  uint32_t pairs = l->pair0[l->passes.form->n];
  FS_TRY(fs_new(arena, &s->pair_a, pairs));
  FS_TRY(fs_new(arena, &s->pair_b, pairs));
  FS_TRY(fs_new(arena, &s->pair_from, pairs));
  FS_TRY(fs_new(arena, &s->pair_to, pairs));
  FS_TRY(fs_new(arena, &s->size, l->n_lives));
  FS_TRY(fs_new(arena, &s->begin, l->n_lives));
  FS_TRY(fs_new(arena, &s->end, l->n_lives));
  FS_TRY(fs_new(arena, &s->pair_item, pairs));
  FS_TRY(fs_new_zero(arena, &s->partner0, (size_t)l->n_lives + 2));
  FS_TRY(fs_new(arena, &s->partner, 2 * (size_t)pairs));
  count_partners(s, false);
  for (uint32_t k = 0; k < l->n_lives; k++) {
    s->partner0[k + 1] += s->partner0[k];
  }
  count_partners(s, true);
  memmove(s->partner0 + 1, s->partner0, l->n_lives * sizeof *s->partner0);
  s->partner0[0] = 0;
  return FSCHED_OK;
}

fs_status fs_shelf_init(fs_shelf *s, const fs_lives *lives, fs_arena *arena) {
  *s = (fs_shelf){.lives = lives};
  FS_TRY(fs_new(arena, &s->order, lives->n_lives));
  FS_TRY(fs_new(arena, &s->trial, lives->n_lives));
  FS_TRY(fs_new_zero(arena, &s->address, lives->n_lives));
  FS_TRY(fs_new(arena, &s->key, 2 * (size_t)lives->n_lives));
  FS_TRY(fs_new(arena, &s->placed, lives->n_lives));
  FS_TRY(fs_new(arena, &s->left, lives->n_lives));
  FS_TRY(fs_new(arena, &s->hint, lives->n_lives));
  FS_TRY(fs_new(arena, &s->kept, lives->n_lives));
  for (uint32_t k = 0; k < lives->n_lives; k++) {
    s->order[k] = k;
  }
  return list_partners(s, arena);
}

static void sort_memory(fs_shelf *s, uint32_t memory, const uint64_t *address) {
  const fs_lives *l = s->lives;
  uint32_t first = l->life0[memory], n = l->life0[memory + 1] - first, shift = 0;
  while (l->levels[memory].capacity >> shift >> 32 != 0) {
    shift++;
  }
  for (uint32_t k = 0; k < n; k++) {
    s->key[k] = address[s->order[first + k]] >> shift << 32 | k;
    s->trial[first + k] = s->order[first + k];
  }
  fs_radix_sort_block(s->key, n);
  for (uint32_t k = 0; k < n; k++) {
    s->order[first + k] = s->trial[first + (uint32_t)s->key[k]];
  }
}

void fs_shelf_keep(fs_shelf *s, const uint64_t *address) {
  assert(address != NULL);
  for (uint32_t m = 0; m < s->lives->n_memories; m++) {
    if (s->lives->has_addresses[m]) {
      uint32_t first = s->lives->life0[m], n = s->lives->life0[m + 1] - first;
      memcpy(s->kept + first, address + first, n * sizeof *s->kept);
      sort_memory(s, m, address);
    }
  }
}

static fs_shelved shelved_of(const fs_shelf *s, const fs_passed *of, uint32_t life) {
  const fs_life_state *x = &s->lives->state[life];
  return (fs_shelved){
      .begin = x->begin, .end = s->lives->life[life].to_end ? of->makespan : x->end, .life = life};
}

/* May two lives have one place, as the one ends with an item that the other begins with? */
static bool may_share(const fs_shelf *s, const fs_passed *of, uint32_t a, uint32_t b) {
  const fs_lives *l = s->lives;
  for (uint32_t i = s->partner0[a]; i < s->partner0[a + 1]; i++) {
    fs_life_pair pair = l->pair[s->partner[i]];
    uint32_t item = s->pair_item[s->partner[i]];
    if ((pair.input == a && pair.output == b) || (pair.input == b && pair.output == a)) {
      fs_tick start = of->start[item], end = start + l->passes.form->p->time[item];
      return !l->life[pair.input].to_end && l->state[pair.input].end <= end &&
             l->state[pair.output].begin >= start;
    }
  }
  return false;
}

static bool shelved_meet(const fs_shelved *a, const fs_shelved *b) {
  return a->begin < b->end && b->begin < a->end;
}

/* The place of one that it may share, if nothing else is there; UINT64_MAX: none. */
static uint64_t shared_place(const fs_shelf *s, const fs_passed *of, const fs_shelved *x,
                             uint64_t size) {
  if (s->partner0[x->life] == s->partner0[x->life + 1]) {
    return UINT64_MAX;
  }
  for (uint32_t k = 0; k < s->n_placed; k++) {
    uint64_t low = s->placed[k].low;
    bool free = may_share(s, of, x->life, s->placed[k].life);
    for (uint32_t i = 0; i < s->n_placed && free; i++) {
      const fs_shelved *y = &s->placed[i];
      free = !shelved_meet(x, y) || y->high <= low || y->low >= low + size ||
             (y->low == low && may_share(s, of, x->life, y->life));
    }
    if (free) {
      return low;
    }
  }
  return UINT64_MAX;
}

static uint64_t lowest_place(const fs_shelf *s, const fs_shelved *x, uint64_t size) {
  uint64_t low = 0;
  for (uint32_t k = 0; k < s->n_placed; k++) {
    const fs_shelved *y = &s->placed[k];
    if (shelved_meet(x, y)) {
      if (y->low >= low + size) {
        break;
      }
      low = fs_max(low, y->high);
    }
  }
  return low;
}

static void put_on_shelf(fs_shelf *s, fs_shelved x) {
  uint32_t k = s->n_placed++;
  for (; k > 0 && s->placed[k - 1].low > x.low; k--) {
    s->placed[k] = s->placed[k - 1];
  }
  s->placed[k] = x;
  s->address[x.life] = x.low;
}

/* Is the address free while the life lasts? */
static bool is_free(const fs_shelf *s, const fs_passed *of, const fs_shelved *x, uint64_t size,
                    uint64_t low) {
  bool free = true;
  for (uint32_t k = 0; k < s->n_placed && s->placed[k].low < low + size && free; k++) {
    const fs_shelved *y = &s->placed[k];
    free = !shelved_meet(x, y) || y->high <= low ||
           (y->low == low && may_share(s, of, x->life, y->life));
  }
  return free;
}

/* Places the life at an address, or, where that is UINT64_MAX, at the lowest that is free. */
static bool place_life(fs_shelf *s, const fs_passed *of, uint32_t life, uint64_t at,
                       uint64_t capacity) {
  fs_shelved x = shelved_of(s, of, life);
  uint64_t size = s->lives->life[life].size;
  uint64_t low = at != UINT64_MAX ? at : shared_place(s, of, &x, size);
  x.low = low != UINT64_MAX ? low : lowest_place(s, &x, size);
  x.high = x.low + size;
  bool free = x.high <= capacity && (at == UINT64_MAX || is_free(s, of, &x, size, at));
  if (free) {
    put_on_shelf(s, x);
  }
  return free;
}

/* Places the lives of the order where they were, as far as that is free, then the others; returns
 * one that has no room, by its index, or n. */
static uint32_t place_all(fs_shelf *s, const fs_passed *of, const uint32_t *order, uint32_t n,
                          uint64_t capacity) {
  uint32_t left = 0;
  s->n_placed = 0;
  for (uint32_t k = 0; k < n; k++) {
    if (!place_life(s, of, order[k], s->hint[order[k]], capacity)) {
      s->left[left++] = k;
    }
  }
  for (uint32_t i = 0; i < left; i++) {
    if (!place_life(s, of, order[s->left[i]], UINT64_MAX, capacity)) {
      return s->left[i];
    }
  }
  return n;
}

static bool find_in_memory(fs_shelf *s, const fs_passed *of, uint32_t memory, uint32_t rounds) {
  const fs_lives *l = s->lives;
  uint32_t first = l->life0[memory], n = l->life0[memory + 1] - first;
  uint32_t *order = s->trial + first;
  memcpy(order, s->order + first, n * sizeof *order);
  memcpy(s->hint + first, s->kept + first, n * sizeof *s->hint);
  for (uint32_t round = 0; round < rounds; round++) {
    uint32_t k = place_all(s, of, order, n, l->levels[memory].capacity);
    if (k == n) {
      return true;
    }
    uint32_t life = order[k];
    memmove(order + 1, order, k * sizeof *order);
    order[0] = life;
    s->hint[life] = UINT64_MAX;
  }
  return false;
}

bool fs_shelf_find(fs_shelf *s, const fs_passed *of, uint32_t rounds) {
  bool found = true;
  for (uint32_t m = 0; m < s->lives->n_memories && found; m++) {
    found = !s->lives->has_addresses[m] || find_in_memory(s, of, m, rounds);
  }
  return found;
}

/* ---- from scratch */

/* Pairs that share a place while their item runs. */
static uint32_t list_shared(fs_shelf *s, uint32_t memory, const fs_passed *of) {
  const fs_lives *l = s->lives;
  uint32_t n = 0, first = l->life0[memory];
  for (uint32_t i = 0; i < l->pair0[l->passes.form->n]; i++) {
    uint32_t in = l->pair[i].input, out = l->pair[i].output, item = s->pair_item[i];
    if (l->life[in].memory == memory && may_share(s, of, in, out)) {
      s->pair_a[n] = in - first;
      s->pair_b[n] = out - first;
      s->pair_from[n] = of->start[item];
      s->pair_to[n++] = of->start[item] + l->passes.form->p->time[item];
    }
  }
  return n;
}

/* Ends a search for addresses after some time, counted in questions, or as the caller says. */
typedef struct shelf_watch {
  const fs_passes *passes;
  uint64_t asked, most;
} shelf_watch;

static bool is_enough(void *user) {
  shelf_watch *w = user;
  const fs_passes *s = w->passes;
  return ++w->asked > w->most || (s->stop != NULL && s->stop(s->user));
}

static fs_status search_memory(fs_shelf *s, uint32_t memory, const fs_passed *of, uint64_t work,
                               bool *found) {
  const fs_lives *l = s->lives;
  uint32_t first = l->life0[memory], n = l->life0[memory + 1] - first;
  for (uint32_t k = first; k < first + n; k++) {
    fs_shelved x = shelved_of(s, of, k);
    s->size[k] = l->life[k].size;
    s->begin[k] = x.begin;
    s->end[k] = x.end;
  }
  shelf_watch watch = {.passes = &l->passes, .most = work};
  fs_placement q = {.n = n,
                    .size = s->size + first,
                    .begin = s->begin + first,
                    .end = s->end + first,
                    .n_pairs = list_shared(s, memory, of),
                    .pair_a = s->pair_a,
                    .pair_b = s->pair_b,
                    .pair_from = s->pair_from,
                    .pair_to = s->pair_to,
                    .capacity = l->levels[memory].capacity,
                    .nodes = UINT32_MAX,
                    .stop = is_enough,
                    .user = &watch};
  uint64_t peak;
  fs_decision exists;
  bool least;
  FS_TRY(fs_placement_run(l->passes.form->p->ctx, &q, false, s->address + first, &peak, &exists,
                          &least));
  *found = exists.is == FS_YES;
  return FSCHED_OK;
}

fs_status fs_shelf_search(fs_shelf *s, const fs_passed *of, uint64_t work, bool *found) {
  *found = true;
  for (uint32_t m = 0; m < s->lives->n_memories && *found; m++) {
    FS_TRY(s->lives->has_addresses[m] ? search_memory(s, m, of, work, found) : FSCHED_OK);
  }
  return FSCHED_OK;
}
