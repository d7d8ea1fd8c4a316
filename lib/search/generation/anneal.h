/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated annealing over orders of items, for problems whose memories are short and without
 * copies to choose (lives.h).
 *
 * A neighbour changes an order about a block: an item that starts as another one ends, which no
 * edge orders, on a chain of such from the begin to the end of the schedule; or about two items at
 * random.  One goes in front of the other, with all that it needs, or behind it, with all that
 * needs it; over half of the way where the items would not fit one at a time any more.  Its
 * schedule is justified twice, and its order becomes that of the starts.  Cycles go from warm to
 * cold, each twice as long as the one before and from the best schedule so far, so it may end at
 * any time.
 *
 * Memories count by amounts.  A schedule that is shorter than the best one gets addresses
 * (shelf.h): from those of the best one, which cost little, or from scratch, by work that is in
 * proportion to the neighbours.  Where some in a row get none, orders may take fewer parts of the
 * memories, and addresses more work; what gets some gives a part back.
 *
 * Determinism: a function of problem, schedules given, and seed; a step is one neighbour.
 *
 * Source: Kirkpatrick, Gelatt, Vecchi, Optimization by simulated annealing (1983); van Laarhoven,
 * Aarts, Lenstra, Job shop scheduling by simulated annealing (1992), for blocks. */
#ifndef FS_SEARCH_ANNEAL_H
#define FS_SEARCH_ANNEAL_H

#include "search/generation/shelf.h"

/* An order that was evaluated. */
typedef struct fs_annealed {
  uint32_t *order;
  fs_passed passed;
  uint64_t cost;
} fs_annealed;

/* Two items of which the second starts as the first ends. */
typedef struct fs_block {
  uint32_t first, second;
} fs_block;

typedef struct fs_annealing {
  fs_lives lives;
  fs_shelf shelf;
  uint64_t random, made;  /* made: orders that were evaluated */
  fs_annealed now, other; /* the present order, and room for its neighbour */
  fs_annealed best;       /* the shortest that has addresses */
  uint64_t *address;      /* per life, of the best */
  fs_passed back;
  bool any;            /* there is a present order */
  uint32_t time_shift; /* costs count times without so many bits */

  /* The cycle. */
  uint64_t usual, temperature; /* the mean cost of an item; in 1/256 of a unit of cost */
  uint64_t length, left;       /* neighbours of a stage of this cycle, and left of this one */
  uint32_t stage;

  /* Addresses. */
  uint32_t parts, step;    /* of the memories that orders may take; that the next ones give up */
  uint32_t in_vain;        /* schedules in a row that got none from scratch */
  uint64_t finds;          /* from those that are known, so far */
  uint64_t searches, work; /* from scratch, so far; of the next one */
  bool tried;              /* some schedule of this cycle was shorter than the best */
  bool stale;              /* the present order was evaluated with other parts */

  /* Room for neighbours. */
  uint32_t *seen, turn, *moved, *position;
  fs_block *block;   /* of the present order */
  uint32_t n_blocks; /* FS_NONE: they are not listed yet */
} fs_annealing;

/* Refers to the form.  Requires a problem that fs_lives_know. */
fs_status fs_annealing_init(fs_annealing *a, const fs_packed_form *form, uint64_t seed,
                            fs_arena *arena) FS_MUST_USE;
/* Goes on from a schedule, if it is shorter than the best one: starts, a linear extension in which
 * they ascend, and addresses per life.  Requires (unchecked: the caller's schedule is verified)
 * that it is one. */
fs_status fs_annealing_offer(fs_annealing *a, const fs_passed *known, const uint32_t *order,
                             const uint64_t *address) FS_MUST_USE;
/* Tries a neighbour.  Requires a present order. */
fs_status fs_annealing_step(fs_annealing *a) FS_MUST_USE;

#endif
