/* SPDX-License-Identifier: Apache-2.0 */
/* Each ring has two lists of its pieces by age: all of them, and those with bytes.  The free bytes
 * are those from the top to the oldest piece with bytes, the end left out where they go around it;
 * so the tail is always that piece's offset, and what lies between it and the piece reclaimed
 * before (the gap at the end) is free at once. */
#include "exec/dynamic/rings.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/context.h"

static const fs_piece_list no_pieces = {FS_NONE, FS_NONE};

fs_status fs_heap_rings_init(fs_heap_rings *r, fsched_context *ctx, uint32_t n,
                             const fs_heap_room *room) {
  assert(ctx != NULL);
  *r = (fs_heap_rings){.ctx = ctx, .unused = FS_NONE};
  r->ring = fs_realloc(ctx, NULL, 0, n * sizeof *r->ring);
  if (r->ring == NULL) {
    return FSCHED_SYSTEM;
  }
  r->n = n;
  for (uint32_t i = 0; i < n; i++) {
    assert(room[i].align >= 1);
    r->ring[i] = (fs_heap_ring){room[i], .pieces = no_pieces, .with_bytes = no_pieces};
  }
  return FSCHED_OK;
}

void fs_heap_rings_release(fs_heap_rings *r) {
  fs_vec_free(r->ctx, &r->piece);
  r->ring = fs_realloc(r->ctx, r->ring, r->n * sizeof *r->ring, 0);
}

/* The longest runs of free bytes: at the top, and from 0 on if that is behind the end. */
typedef struct heap_room {
  uint64_t at_top, at_begin;
} heap_room;

static heap_room find_room(const fs_heap_ring *h) {
  uint64_t size = h->room.size;
  if (h->with_bytes.first == FS_NONE) {
    return (heap_room){size - h->top, size};
  }
  return h->top > h->tail ? (heap_room){size - h->top, h->tail} : (heap_room){h->tail - h->top, 0};
}

static void append_piece(fs_heap_rings *r, fs_heap_ring *h, uint32_t id) {
  fs_heap_piece *p = &r->piece.at[id];
  p->next = p->next_bytes = FS_NONE;
  if (h->pieces.last != FS_NONE) {
    r->piece.at[h->pieces.last].next = id;
  }
  h->pieces.last = id;
  h->pieces.first = h->pieces.first == FS_NONE ? id : h->pieces.first;
  if (p->bytes > 0) {
    if (h->with_bytes.last != FS_NONE) {
      r->piece.at[h->with_bytes.last].next_bytes = id;
    }
    h->with_bytes.last = id;
    h->with_bytes.first = h->with_bytes.first == FS_NONE ? id : h->with_bytes.first;
  }
}

/* Takes a piece for which there is room; false: there is none now. */
static bool try_take(fs_heap_rings *r, uint32_t ring, uint64_t bytes, uint32_t id) {
  fs_heap_ring *h = &r->ring[ring];
  heap_room room = find_room(h);
  if (bytes > 0 && bytes > room.at_top && bytes > room.at_begin) {
    return false;
  }
  uint64_t offset = bytes == 0 ? 0 : bytes <= room.at_top ? h->top : 0;
  fs_heap_piece *p = &r->piece.at[id];
  r->unused = p->next;
  *p = (fs_heap_piece){.serial = r->next_serial++,
                       .offset = offset,
                       .bytes = bytes,
                       .ring = ring,
                       .owner = FS_NONE,
                       .last = h->pieces.last,
                       .last_bytes = h->with_bytes.last,
                       .top = h->top,
                       .tail = h->tail};
  if (bytes > 0 && h->with_bytes.first == FS_NONE) {
    h->tail = offset;
  }
  h->top = bytes > 0 ? offset + bytes : h->top;
  append_piece(r, h, id);
  r->n_active++;
  return true;
}

/* What a request could get at most. */
static uint64_t find_have(const fs_heap_rings *r, uint32_t ring) {
  heap_room room = find_room(&r->ring[ring]);
  return fs_max(room.at_top, room.at_begin);
}

fs_status fs_heap_full(fs_heap_rings *r, uint32_t ring, uint64_t bytes, const char *why) {
  assert(ring < r->n);
  char number[16];
  (void)snprintf(number, sizeof number, "%" PRIu32, ring);
  const char *name = r->ring[ring].room.name;
  return fs_fail(
      r->ctx, FSCHED_INFEASIBLE, FS_DIAG_DYNAMIC_HEAP, FS_NOWHERE,
      name == NULL ? NULL
                   : "run --heap NAME=SIZE, or heaps of the device's options, give it a size",
      "heap %s of %" PRIu64 " bytes: %" PRIu64 " are needed, %" PRIu64 " are free in a row; %s",
      name == NULL ? number : name, r->ring[ring].room.size, bytes, find_have(r, ring), why);
}

static fs_status make_unused_piece(fs_heap_rings *r) {
  if (r->unused == FS_NONE) {
    FS_TRY(fs_vec_push(r->ctx, &r->piece, (fs_heap_piece){.next = FS_NONE}));
    r->unused = (uint32_t)r->piece.n - 1;
  }
  return FSCHED_OK;
}

fs_status fs_heap_take(fs_heap_rings *r, uint32_t ring, uint64_t bytes, const fs_heap_waiting *w,
                       uint32_t *piece) {
  assert(ring < r->n);
  bytes = fs_heap_rounded(bytes, r->ring[ring].room.align);
  if (bytes > r->ring[ring].room.size) {
    return fs_heap_full(r, ring, bytes, "more than the heap has");
  }
  FS_TRY(make_unused_piece(r));
  uint32_t id = r->unused;
  uint64_t begin = 0, reclaimed = UINT64_MAX;
  while (!try_take(r, ring, bytes, id)) {
    uint64_t now = w->now(w->user);
    const fs_heap_ring *h = &r->ring[ring];
    begin = reclaimed == h->n_reclaimed ? begin : now;
    reclaimed = h->n_reclaimed;
    if (w->is_stuck(w->user, r->piece.at[h->pieces.first].owner)) {
      return fs_heap_full(r, ring, bytes,
                          h->room.name == NULL
                              ? "and the oldest piece is held by an open scope, or a hold"
                              : "and what lies there is used by ops that come later");
    }
    if (now - begin >= w->timeout) {
      return fs_heap_full(r, ring, bytes, "and nothing has come back until the time-out");
    }
    if (!w->wait(w->user, begin + w->timeout)) {
      return FSCHED_REPLAY;
    }
    id = r->unused;
  }
  *piece = id;
  return FSCHED_OK;
}

static void reclaim_oldest(fs_heap_rings *r, fs_heap_ring *h) {
  uint32_t id = h->pieces.first;
  fs_heap_piece *p = &r->piece.at[id];
  h->pieces.first = p->next;
  h->pieces.last = p->next == FS_NONE ? FS_NONE : h->pieces.last;
  if (p->bytes > 0) {
    assert(h->with_bytes.first == id);
    h->with_bytes.first = p->next_bytes;
    if (p->next_bytes == FS_NONE) {
      h->with_bytes.last = FS_NONE;
      h->tail = p->offset + p->bytes;
    } else {
      h->tail = r->piece.at[p->next_bytes].offset;
    }
  }
  p->next = r->unused;
  r->unused = id;
  r->n_active--;
  h->n_reclaimed++;
}

void fs_heap_give(fs_heap_rings *r, uint32_t piece) {
  assert(piece < r->piece.n && !r->piece.at[piece].given);
  fs_heap_ring *h = &r->ring[r->piece.at[piece].ring];
  r->piece.at[piece].given = true;
  while (h->pieces.first != FS_NONE && r->piece.at[h->pieces.first].given) {
    reclaim_oldest(r, h);
  }
}

/* A list without its last piece, behind which nothing comes; `last` is then the last one. */
static void drop_last(fs_piece_list *l, uint32_t last) {
  l->last = last;
  l->first = last == FS_NONE ? FS_NONE : l->first;
}

void fs_heap_undo(fs_heap_rings *r, uint32_t piece) {
  fs_heap_piece *p = &r->piece.at[piece];
  fs_heap_ring *h = &r->ring[p->ring];
  assert(h->pieces.last == piece && p->serial + 1 == r->next_serial && !p->given);
  drop_last(&h->pieces, p->last);
  if (p->last != FS_NONE) {
    r->piece.at[p->last].next = FS_NONE;
  }
  if (p->bytes > 0) {
    drop_last(&h->with_bytes, p->last_bytes);
    if (p->last_bytes != FS_NONE) {
      r->piece.at[p->last_bytes].next_bytes = FS_NONE;
    }
  }
  h->top = p->top;
  h->tail = p->tail;
  p->next = r->unused;
  r->unused = piece;
  r->n_active--;
  r->next_serial--;
}

fs_status fs_heap_reset(fs_heap_rings *r) {
  if (r->n_active > 0) {
    return fs_fail(r->ctx, FSCHED_USAGE, FS_DIAG_DYNAMIC_CALL, FS_NOWHERE, NULL,
                   "%" PRIu64 " pieces of the heaps are still in use", r->n_active);
  }
  for (uint32_t i = 0; i < r->n; i++) {
    r->ring[i].top = r->ring[i].tail = 0;
  }
  r->next_serial = 0;
  return FSCHED_OK;
}
