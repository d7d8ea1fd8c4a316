/* SPDX-License-Identifier: Apache-2.0 */
/* Serial schedule generation: one item after the other takes the earliest start at which its
 * predecessors are over and all that it takes is free until it ends.
 *
 * Passes go forward, or backward (from the end of time, over successors): a schedule whose items
 * are moved as late as they go, last ends first, and then as early as they go, is never longer, and
 * mostly shorter (double justification).
 *
 * The free amounts are kept between moments at which they change, so the length of time counts
 * nothing.
 *
 * Source: Kolisch, Serial and parallel resource-constrained project scheduling methods revisited
 * (1996); Valls, Ballestin, Quintanilla, Justification and RCPSP (2005). */
#ifndef FS_SEARCH_PASS_H
#define FS_SEARCH_PASS_H

#include "search/generation/form.h"

typedef struct fs_passes {
  const fs_packed_form *form;
  uint64_t *cell; /* the profile: per moment its time, then what is free from then on */
  uint32_t n_cells;
  uint32_t *rank;           /* room for sorting */
  uint64_t *key;            /* room for 2 n keys */
  uint64_t passes;          /* so far */
  bool (*stop)(void *user); /* asked within long passes: true ends them; NULL: never */
  void *user;
} fs_passes;

/* The starts that a pass gives, from the begin of time in its direction; and the ways. */
typedef struct fs_passed {
  fs_tick *start; /* per item */
  uint32_t *way;  /* per item, counted over all items */
  fs_tick makespan;
} fs_passed;

fs_status fs_passes_init(fs_passes *s, const fs_packed_form *form, fs_arena *arena) FS_MUST_USE;
fs_status fs_passed_init(const fs_packed_form *form, fs_arena *arena, fs_passed *out) FS_MUST_USE;
/* Places the items in this order: forward a linear extension, backward the reverse of one.  Gives
 * up, with makespan FS_TICK_NONE, as soon as one ends behind `limit`, and when it is stopped.  O(n
 * * moments). */
void fs_pass_forward(fs_passes *s, const uint32_t *order, fs_tick limit, fs_passed *out);
void fs_pass_backward(fs_passes *s, const uint32_t *order, fs_tick limit, fs_passed *out);
/* The parts of a pass, for those that look at more than queues and amounts (lives.h): the begin;
 * when all that comes before an item is over, where nothing waits; the first start from t on at
 * which there is room in a way for some time; and that it is taken, with what such a search gave.
 */
void fs_pass_begin(fs_passes *s);
fs_tick fs_pass_ready(const fs_passes *s, bool backward, uint32_t item, const fs_passed *out);
fs_tick fs_pass_find(const fs_passes *s, uint32_t way, fs_tick t, fs_tick time);
void fs_pass_take(fs_passes *s, uint32_t way, fs_tick start, fs_tick time);
/* Sorts the order of a pass by starts; what starts together stays in order.  Requires a pass that
 * was not given up, and its order. */
void fs_pass_by_start(fs_passes *s, const fs_passed *from, uint32_t *order);
/* Makes the order of a pass that of one in the other direction, last ends first.  Requires a pass
 * that was not given up, and its order. */
void fs_pass_turn(fs_passes *s, const fs_passed *from, uint32_t *order);

#endif
