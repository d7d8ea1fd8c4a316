/* SPDX-License-Identifier: Apache-2.0 */
/* Serial schedule generation where memories are short and content stays where it is: one item after
 * the other starts as early as its predecessors, its queues and amounts (pass.h), and the memories
 * let it.
 *
 * Memories count by amounts.  What an item brings into one takes its room from the item's start on,
 * for ever, until the last one that accesses it is placed: then to the end of all of these.  So
 * from some moment on what is taken is what the items before hold if they run one at a time, and
 * an order that fits that way has a schedule.  An item that does not fit waits for later ones of
 * the order; where nothing fits any more, there is none.
 *
 *      order  a: writes x      b: reads x      c: writes y, which fits beside x at no time
 *      x      |---------------------> for ever, as long as b is not placed
 *             |--------------|        to the end of b, from then on
 *      y                     |------>
 *
 * Lives are the same backward in time, where the last that accesses comes first.  A schedule is
 * never longer after it was justified twice, as in pass.h, where each item has one way to run: what
 * is held when an item is placed is held in the known schedule, too, when it starts there.
 *
 * An output may take over the place of an input that nothing else needs any more. */
#ifndef FS_SEARCH_LIVES_H
#define FS_SEARCH_LIVES_H

#include "search/generation/levels.h"
#include "search/generation/pass.h"

/* Of a residency in a short memory. */
typedef struct fs_kept_life {
  uint64_t size;
  uint32_t memory; /* of the short ones */
  uint32_t residency;
  uint32_t n;              /* items that access it */
  bool from_begin, to_end; /* it is there before all items, or behind them */
} fs_kept_life;

typedef struct fs_life_state {
  uint32_t left; /* items that access it and are not placed */
  bool there;
  fs_tick begin, end; /* end: of those that are placed */
} fs_life_state;

/* An output that may take over the place of an input. */
typedef struct fs_life_pair {
  uint32_t input, output;
} fs_life_pair;

/* What an item needs of a memory. */
typedef struct fs_life_need {
  uint32_t memory;
  uint64_t stays, leaves; /* bytes for ever, and while it runs */
  uint64_t limit;         /* of what may be taken then */
} fs_life_need;

enum { FS_LIFE_PARTS = 64 }; /* of a memory */

typedef struct fs_lives {
  fs_passes passes;
  uint32_t n_lives, n_memories;
  fs_kept_life *life;
  fs_memory_levels *levels; /* per short memory */
  uint32_t *life0;          /* per short memory: its lives, which follow each other */
  uint8_t *has_addresses;   /* per short memory */
  uint32_t *touch0, *touch; /* CSR per item: lives */
  uint32_t *pair0;          /* CSR per item */
  fs_life_pair *pair;
  uint32_t parts; /* of memories with addresses that a pass takes, beyond what items need one at a
                   * time: the fewer, the sooner addresses are found */

  /* Of a pass. */
  fs_life_state *state;
  uint64_t *base; /* per short memory: what is there for ever from the begin on */
  fs_life_need *need;
  uint32_t n_needs;
  uint32_t *from; /* per life: the one whose place it takes over, itself where it shares the place
                   * of one that begins, or FS_NONE */
  uint32_t *waiting, n_waiting;
  uint8_t *placed;
} fs_lives;

/* Are there residencies in short memories, and does this know all of the problem?  Items without
 * a length it does not. */
bool fs_lives_know(const fs_problem *p);
/* Refers to the form.  Requires a problem that fs_lives_know. */
fs_status fs_lives_init(fs_lives *l, const fs_packed_form *form, fs_arena *arena) FS_MUST_USE;
/* Places the items, in about this order: forward a linear extension, backward the reverse of one.
 * The order becomes that in which they were placed.  False: there is no room for some.
 * O(items * (moments + items that wait)). */
bool fs_lives_pass(fs_lives *l, bool backward, uint32_t *order, fs_passed *out);
/* Do the items fit in this order, one at a time?  Requires a linear extension. */
bool fs_lives_fit(fs_lives *l, const uint32_t *order);

#endif
