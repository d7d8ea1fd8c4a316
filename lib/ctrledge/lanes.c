/* SPDX-License-Identifier: Apache-2.0 */
/* The units form chunks, in a list by address.  Each chunk belongs to the holder that has it or had
 * it last; a holder's chunks form a list too.  Holders that are over and still own chunks are
 * listed in the order in which they ended, and by the queue of their last item.
 *
 *     address   |--h3--|-h1-|---h4---|-h1-|--never used--|
 *     over:     h1 (2 chunks) ...            at work: h3, h4
 *
 * Taking a part of a chunk splits it, and a holder's adjacent chunks are joined, so an allotment
 * adds at most one chunk.  When there are many more chunks than holders at work, one allotment
 * takes units in order of address instead, which joins adjacent chunks. */
#include "ctrledge/lanes.h"

#include "base/heap.h"
#include "base/radix.h"

enum { RING_STEPS = 128, CHUNKS_SPARE = 64, PRED_STEPS = 64 };

typedef struct chunk {
  uint64_t low, high;
  uint32_t owner;
  uint32_t above, below;   /* neighbours by address; `above` also links free records */
  uint32_t next, previous; /* the other chunks of its owner */
} chunk;

typedef struct owner {
  uint32_t chunks;
  bool over;                         /* the holder has ended, so its chunks may be taken */
  uint32_t next_over, previous_over; /* in order of ends; only while it is over and has chunks */
  uint32_t next_on_queue, previous_on_queue;
  uint32_t next_by_tail; /* holders with the same last item */
  uint32_t met;          /* the last holder that took chunks of this one */
} owner;

typedef struct allotter {
  fsched_context *ctx;
  const fs_schedule *s;
  const fs_accesses *acc;
  const fs_holder *holder;
  const fs_lane_sink *sink;
  owner *own;         /* per holder; [n]: the units that had no holder yet */
  uint32_t *by_tail;  /* per item: holders that ended with it */
  uint32_t *on_queue; /* per queue: ended holders whose last item ran there, latest first */
  uint32_t n, first_over, last_over;
  uint32_t *rank, *ranked; /* holders in order of last_use, and back */
  fs_heap ends;            /* ranks of holders at work, by end */
  FS_VEC(chunk) chunk;
  uint32_t free_chunk, n_chunks, n_working;
  uint32_t bottom;        /* the chunk at address 0 */
  FS_VEC(uint32_t) taken; /* chunks of the holder that is being served */
} allotter;

static fs_status new_chunk(allotter *a, uint32_t *out) {
  if (a->free_chunk != FS_NONE) {
    *out = a->free_chunk;
    a->free_chunk = a->chunk.at[*out].above;
  } else {
    *out = (uint32_t)a->chunk.n;
    FS_TRY(fs_vec_push(a->ctx, &a->chunk, (chunk){0}));
  }
  a->n_chunks++;
  return FSCHED_OK;
}

static void give_chunk(allotter *a, uint32_t c, uint32_t h) {
  FS_ASSERT_SLOW(h <= a->n);
  chunk *k = &a->chunk.at[c];
  k->owner = h;
  k->previous = FS_NONE;
  k->next = a->own[h].chunks;
  if (k->next != FS_NONE) {
    a->chunk.at[k->next].previous = c;
  }
  a->own[h].chunks = c;
}

static uint32_t queue_of(const allotter *a, uint32_t item) {
  return item != FS_NONE && fs_item_plain(a->s, item) ? a->s->queue[item] : FS_NONE;
}

static void file_over(allotter *a, uint32_t h) {
  assert(a->own[h].chunks != FS_NONE && !a->own[h].over);
  owner *o = &a->own[h];
  o->over = true;
  o->next_over = FS_NONE;
  o->previous_over = a->last_over;
  if (a->last_over == FS_NONE) {
    a->first_over = h;
  } else {
    a->own[a->last_over].next_over = h;
  }
  a->last_over = h;
  uint32_t q = queue_of(a, a->holder[h].tail);
  if (q != FS_NONE) {
    o->previous_on_queue = FS_NONE;
    o->next_on_queue = a->on_queue[q];
    if (o->next_on_queue != FS_NONE) {
      a->own[o->next_on_queue].previous_on_queue = h;
    }
    a->on_queue[q] = h;
  }
}

/* Unlists a holder that is over and has no chunks any more. */
static void unfile_over(allotter *a, uint32_t h) {
  assert(a->own[h].over && a->own[h].chunks == FS_NONE);
  owner *o = &a->own[h];
  *(o->previous_over == FS_NONE ? &a->first_over : &a->own[o->previous_over].next_over) =
      o->next_over;
  *(o->next_over == FS_NONE ? &a->last_over : &a->own[o->next_over].previous_over) =
      o->previous_over;
  uint32_t q = queue_of(a, a->holder[h].tail);
  if (q != FS_NONE) {
    *(o->previous_on_queue == FS_NONE ? &a->on_queue[q]
                                      : &a->own[o->previous_on_queue].next_on_queue) =
        o->next_on_queue;
    if (o->next_on_queue != FS_NONE) {
      a->own[o->next_on_queue].previous_on_queue = o->previous_on_queue;
    }
  }
}

static void leave_owner(allotter *a, uint32_t c) {
  FS_ASSERT_SLOW(a->chunk.at[c].owner <= a->n);
  chunk *k = &a->chunk.at[c];
  if (k->next != FS_NONE) {
    a->chunk.at[k->next].previous = k->previous;
  }
  if (k->previous != FS_NONE) {
    a->chunk.at[k->previous].next = k->next;
    return;
  }
  a->own[k->owner].chunks = k->next;
  if (k->next == FS_NONE && k->owner != a->n && a->own[k->owner].over) {
    unfile_over(a, k->owner);
  }
}

/* Takes up to *need units of chunk `c` for holder h, from its low end. */
static fs_status take_chunk(allotter *a, uint32_t c, uint32_t h, uint64_t *need) {
  assert(*need > 0);
  uint32_t from = a->chunk.at[c].owner;
  assert(from == a->n || a->own[from].over);
  uint64_t size = a->chunk.at[c].high - a->chunk.at[c].low;
  uint32_t got = c;
  if (size > *need) {
    FS_TRY(new_chunk(a, &got));
    chunk *rest = &a->chunk.at[c];
    chunk *part = &a->chunk.at[got];
    *part = (chunk){.low = rest->low, .high = rest->low + *need, .above = c, .below = rest->below};
    rest->low = part->high;
    rest->below = got;
    *(part->below == FS_NONE ? &a->bottom : &a->chunk.at[part->below].above) = got;
    size = *need;
  } else {
    leave_owner(a, c);
  }
  a->chunk.at[got].owner = h;
  *need -= size;
  FS_TRY(fs_vec_push(a->ctx, &a->taken, got));
  if (from == a->n || a->own[from].met == h) {
    return FSCHED_OK;
  }
  a->own[from].met = h;
  return a->sink->contact(a->sink->user, from, h);
}

static fs_status take_from(allotter *a, uint32_t from, uint32_t h, uint64_t *need) {
  for (uint32_t c; *need > 0 && (c = a->own[from].chunks) != FS_NONE;) {
    FS_TRY(take_chunk(a, c, h, need));
  }
  return FSCHED_OK;
}

/* Takes units of holders whose last items are in pred[begin, end), before h's first item. */
static fs_status take_from_preds(allotter *a, const uint32_t *pred, uint32_t begin, uint32_t end,
                                 uint32_t h, uint64_t *need) {
  uint32_t stop = end - begin > PRED_STEPS ? begin + PRED_STEPS : end;
  for (uint32_t i = begin; i<stop && * need> 0; i++) {
    for (uint32_t f = a->by_tail[pred[i]]; f != FS_NONE && *need > 0; f = a->own[f].next_by_tail) {
      if (a->own[f].over) {
        FS_TRY(take_from(a, f, h, need));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status take_ordered(allotter *a, uint32_t h, uint64_t *need) {
  uint32_t head = a->holder[h].head;
  uint32_t q = queue_of(a, head);
  for (uint32_t f; q != FS_NONE && *need > 0 && (f = a->on_queue[q]) != FS_NONE;) {
    FS_TRY(take_from(a, f, h, need));
  }
  if (head == FS_NONE) {
    return FSCHED_OK;
  }
  const fs_accesses *acc = a->acc;
  FS_TRY(take_from_preds(a, acc->data, acc->data0[head], acc->data0[head + 1], h, need));
  if (fs_item_is_copy(a->s, head)) {
    return FSCHED_OK;
  }
  const fsched_graph *g = a->s->graph;
  return take_from_preds(a, g->pred, g->pred0[head], g->pred0[head + 1], h, need);
}

/* Takes units by address, from the ones given back earliest on, in a bounded number of steps. */
static fs_status take_ring(allotter *a, uint32_t h, uint64_t *need) {
  if (a->first_over == FS_NONE) {
    return FSCHED_OK;
  }
  uint32_t at = a->own[a->first_over].chunks;
  for (uint32_t steps = 0; steps<RING_STEPS && * need> 0; steps++) {
    uint32_t c = at;
    at = a->chunk.at[c].above == FS_NONE ? a->bottom : a->chunk.at[c].above;
    uint32_t from = a->chunk.at[c].owner;
    if (from == h) {
      break; /* the search has come round */
    }
    if (from == a->n || a->own[from].over) {
      FS_TRY(take_chunk(a, c, h, need));
    }
  }
  return FSCHED_OK;
}

static void sort_taken(allotter *a) {
  uint32_t *t = a->taken.at;
  for (size_t gap = a->taken.n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11) {
    for (size_t i = gap; i < a->taken.n; i++) {
      uint32_t c = t[i];
      size_t j = i;
      for (; j >= gap && a->chunk.at[t[j - gap]].low > a->chunk.at[c].low; j -= gap) {
        t[j] = t[j - gap];
      }
      t[j] = c;
    }
  }
}

/* Joins `upper` to `lower`, at whose end it begins. */
static void join_chunks(allotter *a, uint32_t lower, uint32_t upper) {
  chunk *l = &a->chunk.at[lower];
  chunk *u = &a->chunk.at[upper];
  assert(l->above == upper);
  l->high = u->high;
  l->above = u->above;
  if (u->above != FS_NONE) {
    a->chunk.at[u->above].below = lower;
  }
  u->above = a->free_chunk;
  a->free_chunk = upper;
  a->n_chunks--;
}

static fs_status settle_taken(allotter *a, uint32_t h) {
  sort_taken(a);
  size_t n = 0;
  for (size_t i = 0; i < a->taken.n; i++) {
    uint32_t c = a->taken.at[i];
    if (n > 0 && a->chunk.at[a->taken.at[n - 1]].high == a->chunk.at[c].low) {
      join_chunks(a, a->taken.at[n - 1], c);
    } else {
      a->taken.at[n++] = c;
    }
  }
  for (size_t i = 0; i < n; i++) {
    const chunk *k = &a->chunk.at[a->taken.at[i]];
    FS_TRY(a->sink->piece(a->sink->user, (fs_lane_piece){h, k->low, k->high}));
  }
  while (n > 0) {
    give_chunk(a, a->taken.at[--n], h); /* the lowest chunk becomes the first one */
  }
  a->taken.n = 0;
  return FSCHED_OK;
}

/* Ends the holders that are over before `next` begins.  A holder that ends at that instant is over
 * if its last item comes earlier in the order of issue. */
static void end_holders(allotter *a, const fs_holder *next) {
  while (a->ends.n > 0) {
    uint32_t h = a->ranked[a->ends.at[0].id];
    const fs_holder *o = &a->holder[h];
    if (o->end > next->begin || (o->end == next->begin && o->last_use >= next->turn)) {
      break;
    }
    (void)fs_heap_pop(&a->ends);
    assert(a->n_working > 0);
    a->n_working--;
    file_over(a, h);
  }
}

static fs_status take_all(allotter *a, uint32_t h) {
  uint64_t need = a->holder[h].amount;
  if (a->n_chunks > 4 * (a->n_working + CHUNKS_SPARE)) {
    FS_TRY(take_ring(a, h, &need));
  }
  FS_TRY(take_ordered(a, h, &need));
  FS_TRY(take_from(a, a->n, h, &need));
  while (need > 0 && a->first_over != FS_NONE) {
    FS_TRY(take_from(a, a->first_over, h, &need));
  }
  if (need > 0) {
    return fs_fail(a->ctx, FSCHED_SYSTEM, FS_DIAG_INTERNAL, FS_NOWHERE, NULL,
                   "the schedule needs %llu more of a counted amount than there is",
                   (unsigned long long)need);
  }
  return FSCHED_OK;
}

static fs_status allot(allotter *a, uint32_t h) {
  assert(h < a->n && a->holder[h].amount > 0);
  assert(h == 0 || a->holder[h - 1].begin <= a->holder[h].begin);
  const fs_holder *o = &a->holder[h];
  end_holders(a, o);
  FS_TRY(take_all(a, h));
  FS_TRY(settle_taken(a, h));
  if (o->tail != FS_NONE) {
    a->own[h].next_by_tail = a->by_tail[o->tail];
    a->by_tail[o->tail] = h;
  }
  a->n_working++;
  return fs_heap_push(a->ctx, &a->ends, o->end, a->rank[h]);
}

static fs_status rank_holders(allotter *a, fs_arena *scratch) {
  uint64_t *keys;
  FS_TRY(fs_new(scratch, &keys, 2 * (size_t)a->n));
  FS_TRY(fs_new(scratch, &a->rank, a->n));
  FS_TRY(fs_new(scratch, &a->ranked, a->n));
  for (uint32_t h = 0; h < a->n; h++) {
    keys[h] = (uint64_t)a->holder[h].last_use << 32 | h;
  }
  fs_radix_sort(keys, keys + a->n, a->n);
  for (uint32_t i = 0; i < a->n; i++) {
    a->ranked[i] = (uint32_t)keys[i];
    a->rank[a->ranked[i]] = i;
  }
  return FSCHED_OK;
}

static fs_status allot_lanes(allotter *a, fs_arena *scratch, uint64_t capacity) {
  FS_TRY(fs_new_none(scratch, &a->own, (size_t)a->n + 1));
  FS_TRY(fs_new_none(scratch, &a->by_tail, a->s->n_items));
  FS_TRY(fs_new_none(scratch, &a->on_queue, a->s->n_queues));
  FS_TRY(rank_holders(a, scratch));
  for (uint32_t h = 0; h <= a->n; h++) {
    a->own[h].over = false;
  }
  FS_TRY(new_chunk(a, &a->bottom));
  a->chunk.at[a->bottom] = (chunk){.high = capacity, .above = FS_NONE, .below = FS_NONE};
  give_chunk(a, a->bottom, a->n);
  for (uint32_t h = 0; h < a->n; h++) {
    FS_TRY(allot(a, h));
  }
  return FSCHED_OK;
}

fs_status fs_lanes_allot(fsched_context *ctx, const fs_schedule *s, const fs_accesses *acc,
                         uint64_t capacity, const fs_holder *holder, uint32_t n,
                         const fs_lane_sink *sink) {
  assert(n == 0 || (holder != NULL && capacity > 0));
  allotter a = {.ctx = ctx,
                .s = s,
                .acc = acc,
                .holder = holder,
                .sink = sink,
                .n = n,
                .first_over = FS_NONE,
                .last_over = FS_NONE,
                .free_chunk = FS_NONE};
  FS_SCRATCH(scratch, ctx);
  fs_status status = allot_lanes(&a, &scratch, capacity);
  fs_vec_free(ctx, &a.ends);
  fs_vec_free(ctx, &a.chunk);
  fs_vec_free(ctx, &a.taken);
  return status;
}
