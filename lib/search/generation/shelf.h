/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses for lives, for schedules of which each differs little from one before.
 *
 * Lives are placed where they were, as far as nothing else is there while they last; then the
 * others, each at the lowest address that is free, or at the place of an input that it may take
 * over.  One for which there is none becomes the first of the order, is not bound to where it was
 * any more, and all are placed anew, some times.  The first order is from low to high.
 *
 * Source: Joslin and Clements, Squeaky wheel optimization (1999), for the rounds. */
#ifndef FS_SEARCH_SHELF_H
#define FS_SEARCH_SHELF_H

#include "search/generation/lives.h"

typedef struct fs_shelved {
  uint64_t low, high; /* addresses */
  fs_tick begin, end;
  uint32_t life;
} fs_shelved;

typedef struct fs_shelf {
  const fs_lives *lives;
  uint64_t *kept;  /* per life: its address in the schedule before */
  uint32_t *order; /* lives by kept address, each memory on its own, from life0 on */

  /* Results, per life. */
  uint64_t *address;

  /* Of a search. */
  uint32_t *trial;    /* as order */
  uint64_t *hint;     /* per life: as kept, or UINT64_MAX */
  uint32_t *left;     /* places in the order of lives that are not where they were */
  uint64_t *key;      /* room for 2 per life */
  fs_shelved *placed; /* by address */
  uint32_t n_placed;
  uint32_t *partner0, *partner; /* CSR per life: pairs that it is in */
  uint32_t *pair_item;          /* per pair */

  /* Of a search from scratch: rectangles, and pairs of them. */
  uint64_t *size;
  fs_tick *begin, *end, *pair_from, *pair_to;
  uint32_t *pair_a, *pair_b;
} fs_shelf;

/* Refers to the lives. */
fs_status fs_shelf_init(fs_shelf *s, const fs_lives *lives, fs_arena *arena) FS_MUST_USE;
/* Keeps these addresses, per life.  Requires one for each life in a memory with addresses. */
void fs_shelf_keep(fs_shelf *s, const uint64_t *address);
/* Looks for addresses for the lives of the last pass, which went forward and did not fail, in so
 * many rounds.  O(rounds * lives^2) at worst. */
bool fs_shelf_find(fs_shelf *s, const fs_passed *of, uint32_t rounds);
/* The same from scratch (placement.h), by so much work: as often as it is asked whether to stop. */
fs_status fs_shelf_search(fs_shelf *s, const fs_passed *of, uint64_t work, bool *found) FS_MUST_USE;

#endif
