/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps, each used as a ring: what was taken first is given back to the ring first.
 *
 *     0      tail            top          size          tail       top
 *     |-free-|####in use#####|----free----|        or   ###|--free--|####|gap|
 *
 * A piece never lies across the end; what is skipped there comes back with the piece before it.  A
 * piece that its user has given back is reclaimed once all older ones are; pieces without bytes
 * keep their turn as well.  Full and empty are told apart by the number of pieces, so a piece may
 * fit exactly.  An empty ring goes on where it is, and begins anew at 0 only when a request does
 * not fit otherwise.
 *
 * Units: bytes; times are nanoseconds of a clock of the caller.  One thread at a time. */
#ifndef FS_DYNAMIC_RINGS_H
#define FS_DYNAMIC_RINGS_H

#include "base/mem.h"

/* FS_HEAP_RINGS: those of tasks that name none, by the depth of scopes. */
enum { FS_HEAP_RINGS = 4, FS_HEAP_ALIGN = 1024 };

typedef struct fs_heap_piece {
  uint64_t serial; /* from 0, in the order in which they were taken */
  uint64_t offset; /* 0 if it has no bytes */
  uint64_t bytes;  /* a multiple of the ring's alignment */
  uint32_t ring;
  uint32_t owner;            /* whatever the user says */
  uint32_t next, next_bytes; /* of the ring, and of those with bytes */
  bool given;                /* back */
  /* How the ring was before, for fs_heap_undo. */
  uint32_t last, last_bytes;
  uint64_t top, tail;
} fs_heap_piece;

/* A list of pieces, FS_NONE where it has none. */
typedef struct fs_piece_list {
  uint32_t first, last;
} fs_piece_list;

/* Bytes: of a heap, and what its pieces are aligned to; and what messages call it (NULL: by its
 * number), which outlives it. */
typedef struct fs_heap_room {
  uint64_t size, align;
  const char *name;
} fs_heap_room;

typedef struct fs_heap_ring {
  fs_heap_room room;
  uint64_t top, tail;               /* where the next piece goes, and where the oldest begins */
  fs_piece_list pieces, with_bytes; /* in order of age */
  uint64_t n_reclaimed;             /* so far */
} fs_heap_ring;

typedef struct fs_heap_rings {
  fsched_context *ctx;
  fs_heap_ring *ring;
  uint32_t n;
  FS_VEC(fs_heap_piece) piece;
  uint32_t unused;      /* linked by `next` */
  uint64_t next_serial; /* of the next piece */
  uint64_t n_active;    /* pieces that are not reclaimed */
} fs_heap_rings;

/* How to wait for pieces to come back.  The functions may give pieces back, and take none. */
typedef struct fs_heap_waiting {
  void *user;
  uint64_t timeout; /* without any reclaim in the ring that is full */
  uint64_t (*now)(void *user);
  /* Returns when something has been given back, or at the time `until`.  False: give up. */
  bool (*wait)(void *user, uint64_t until);
  /* Whether a piece of this owner cannot come back while the caller waits. */
  bool (*is_stuck)(void *user, uint32_t owner);
} fs_heap_waiting;

/* `room` has one for each of the n rings.  Requires a context, and alignments of at least 1.
 * Errors: FSCHED_SYSTEM; it can be released all the same. */
fs_status fs_heap_rings_init(fs_heap_rings *r, fsched_context *ctx, uint32_t n,
                             const fs_heap_room *room) FS_MUST_USE;
void fs_heap_rings_release(fs_heap_rings *r);
/* The ring of tasks in so many open scopes. */
static inline uint32_t fs_heap_ring_of(uint32_t n_scopes) {
  return n_scopes == 0 ? 0 : (uint32_t)fs_min(n_scopes - 1, FS_HEAP_RINGS - 1);
}
/* What a request takes of a ring; saturating.  Requires an alignment of at least 1. */
static inline uint64_t fs_heap_rounded(uint64_t bytes, uint64_t align) {
  assert(align >= 1);
  if (bytes == 0) {
    return 0;
  }
  return bytes > UINT64_MAX - align ? UINT64_MAX / align * align
                                    : (bytes + align - 1) / align * align;
}

/* Takes a piece, and waits for room if the ring is full.  Requires one of the rings.
 * Errors: FSCHED_INFEASIBLE, reported with limit, need and have: the request is larger than the
 * ring; the oldest piece is stuck; or nothing was reclaimed for the time-out, which begins anew
 * with each reclaim.  FSCHED_SYSTEM: no memory, reported.  FSCHED_REPLAY: `wait` gave up, not
 * reported.  O(1) and what `wait` takes. */
fs_status fs_heap_take(fs_heap_rings *r, uint32_t ring, uint64_t bytes, const fs_heap_waiting *w,
                       uint32_t *piece) FS_MUST_USE;
/* Reports that a request does not fit, and why; returns FSCHED_INFEASIBLE.  Requires one of
 * the rings. */
fs_status fs_heap_full(fs_heap_rings *r, uint32_t ring, uint64_t bytes, const char *why);
/* Requires a piece that was taken and not given back since.  Its id is then used again at some
 * time.  O(1) amortised. */
void fs_heap_give(fs_heap_rings *r, uint32_t piece);
/* Takes back what the last call of fs_heap_take has done.  Requires its piece, and that no piece
 * was given back since.  O(1). */
void fs_heap_undo(fs_heap_rings *r, uint32_t piece);
/* Begins anew, serials too.  Errors: FSCHED_USAGE, reported: not all pieces have come back. */
fs_status fs_heap_reset(fs_heap_rings *r) FS_MUST_USE;

#endif
