/* SPDX-License-Identifier: Apache-2.0 */
/* Places of one bounded memory: who occupies which bytes now, and which are promised to whom.
 *
 * A place is reserved, then occupied, then leaving, then gone.  A leaving place is still
 * physically there (a running reader, a spill write), but its room may already be promised: a
 * reservation on top of leaving places is blocked until they have gone.  Contiguous memories are
 * tiled by segments in address order; free ones are kept in bins by size (best fit within a bin,
 * O(1) to the next bin).  Counted memories keep amounts only.
 *
 * Sizes are multiples of the memory's alignment, so every address is aligned.
 * Complexity: O(1) amortised per call, plus the segments a place covers; a search among leaving
 * places is linear in their number, which is bounded by what is in flight. */
#ifndef FS_PLACES_H
#define FS_PLACES_H

#include "base/mem.h"

/* Eight bins for each power of two up to the largest capacity. */
enum { FS_BINS = 384 };

typedef enum fs_place_state {
  FS_PLACE_GONE,
  FS_PLACE_RESERVED,
  FS_PLACE_OCCUPIED,
  FS_PLACE_LEAVING
} fs_place_state;

typedef struct fs_place {
  uint64_t address, size;
  uint64_t blocked; /* bytes of a reservation that leaving places still hold */
  uint32_t first;   /* segment; FS_NONE in counted memories and for size 0 */
  uint32_t owner;   /* for the caller, who alone reads it */
  uint32_t slot;    /* index in leaving, for a leaving place */
  uint8_t state;
} fs_place;

typedef struct fs_segment {
  uint64_t address, size;
  uint32_t previous, next;         /* by address */
  uint32_t bin_previous, bin_next; /* free segments */
  uint32_t here;                   /* place that is physically here */
  uint32_t promised;               /* place that holds or has reserved this */
} fs_segment;

typedef struct fs_places {
  fsched_context *ctx;
  bool counted;
  uint64_t capacity;
  uint64_t free;         /* bytes neither occupied nor reserved */
  uint64_t leaving_free; /* bytes of leaving places that are not promised */
  FS_VEC(fs_place) place;
  FS_VEC(fs_segment) segment;
  FS_VEC(uint32_t) place_pool;
  FS_VEC(uint32_t) segment_pool;
  FS_VEC(uint32_t) leaving;   /* places */
  FS_VEC(uint32_t) waiting;   /* counted: blocked reservations, oldest first */
  FS_VEC(uint32_t) unblocked; /* reservations that the last fs_places_depart set free */
  uint64_t bin_map[FS_BINS / 64];
  uint32_t bin[FS_BINS];
} fs_places;

/* Requires a bounded capacity. */
fs_status fs_places_init(fs_places *p, fsched_context *ctx, uint64_t capacity,
                         bool counted) FS_MUST_USE;
/* Begins anew, with the memory of the lists so far.  Requires places that were made, and a bounded
 * capacity. */
fs_status fs_places_empty(fs_places *p, uint64_t capacity, bool counted) FS_MUST_USE;
void fs_places_release(fs_places *p);

/* Each of these functions sets *place to FS_NONE when there is no room. `high`: from the high end.
 */
fs_status fs_places_reserve_now(fs_places *p, uint64_t size, bool high,
                                uint32_t *place) FS_MUST_USE;
/* Reserves in free room or on top of leaving places. */
fs_status fs_places_reserve_future(fs_places *p, uint64_t size, bool high,
                                   uint32_t *place) FS_MUST_USE;
/* Reserves in the run of free and leaving room around one leaving place.  Requires a leaving place.
 */
fs_status fs_places_reserve_around(fs_places *p, uint32_t leaving, uint64_t size, bool high,
                                   uint32_t *place) FS_MUST_USE;
/* Reserves in free and leaving room right behind a reservation.  Requires a reservation. */
fs_status fs_places_reserve_behind(fs_places *p, uint32_t before, uint64_t size,
                                   uint32_t *place) FS_MUST_USE;
/* Requires a reservation. */
void fs_places_unreserve(fs_places *p, uint32_t place);
/* Requires a reservation that is not blocked. */
void fs_places_occupy(fs_places *p, uint32_t place);
/* Requires an occupied place. */
fs_status fs_places_leave(fs_places *p, uint32_t place) FS_MUST_USE;
/* A leaving place stays after all, if nothing of it has been promised.  Requires a leaving
 * place. */
bool fs_places_rescue(fs_places *p, uint32_t place);
/* Has any of a leaving place been promised?  Requires a leaving place. */
bool fs_places_promised(const fs_places *p, uint32_t place);
/* An occupied or leaving place is given up; p->unblocked lists the reservations it set free.
 * Requires an occupied or a leaving place. */
fs_status fs_places_depart(fs_places *p, uint32_t place) FS_MUST_USE;

#endif
