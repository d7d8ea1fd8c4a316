/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of placement: one set of rectangles connected by overlapping lifetimes. */
#ifndef FS_PLACEMENT_PRIVATE_H
#define FS_PLACEMENT_PRIVATE_H

#include "placement/placement.h"

/* Rectangles that conflict, or may: their lifetimes overlap. */
typedef struct fs_parcel {
  fsched_context *ctx;
  fs_arena *arena;
  uint32_t n;
  const uint64_t *size;
  const uint64_t *begin, *end; /* in half ticks: a lifetime of zero length has one */
  const uint64_t *given;       /* FS_UNBOUNDED: open */
  /* CSR: the conflicts of each rectangle, and whether the two may have the same address; other0 is
   * NULL where they are too many. */
  uint32_t *other0, *other;
  uint8_t *together;
  bool any_given, any_together;
  uint64_t bound;           /* a lower bound of the peak */
  bool (*stop)(void *user); /* or NULL */
  void *user;
} fs_parcel;

/* The index of the first of n ascending values that is at least `value`; n: there is none. */
static inline uint32_t fs_parcel_first_from(const uint64_t *at, uint32_t n, uint64_t value) {
  uint32_t low = 0, high = n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (at[middle] < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Greedy placements in several orders, and with `improve` in many others, until one has a peak of
 * at most `enough`, or its steps are used up; the best is in address[] and *peak (FS_UNBOUNDED:
 * there is none, because of given addresses).  Requires at least one rectangle.  placement/greedy.c
 */
fs_status fs_parcel_greedy(const fs_parcel *p, uint64_t enough, bool improve, uint64_t *address,
                           uint64_t *peak) FS_MUST_USE;

/* *fits: is there a placement below or at the capacity?  Uses up *nodes.  Requires at least one
 * rectangle, all of them open, and none that may share.  placement/niche.c */
fs_status fs_parcel_niches(const fs_parcel *p, uint64_t capacity, uint64_t *nodes,
                           uint64_t *address, fs_decision *fits) FS_MUST_USE;

/* The same for any rectangles.  placement/search.c */
fs_status fs_parcel_search(const fs_parcel *p, uint64_t capacity, uint64_t *nodes,
                           uint64_t *address, fs_decision *fits) FS_MUST_USE;

#endif
