/* SPDX-License-Identifier: Apache-2.0 */
/* Evolution of orders: a population of linear extensions, each justified twice (pass.h); children
 * take a part of their order from one parent and the rest from the other.
 *
 * Determinism: a function of problem and seed; a step is one child.
 *
 * Source: Hartmann, A competitive genetic algorithm for resource-constrained project scheduling
 * (1998), for the crossover of two points; Valls, Ballestin, Quintanilla, A hybrid genetic
 * algorithm (2008), for justified children. */
#ifndef FS_SEARCH_EVOLVE_H
#define FS_SEARCH_EVOLVE_H

#include "search/generation/pass.h"

typedef struct fs_evolution {
  fs_passes passes;
  const fs_packed_form *form;
  uint64_t random;
  uint32_t size, filled; /* of the population */
  uint64_t made;         /* individuals so far */
  uint32_t *order;       /* per individual: an order */
  fs_tick *makespan;     /* per individual */
  uint64_t *mark;        /* per individual: tells alike ones */
  fs_passed now, back, best;
  uint32_t *child, *ready, *missing;
  uint32_t *seen, turn; /* per item: the last child that has it */
} fs_evolution;

/* Refers to the form.  `size`: of the population, at least 2. */
fs_status fs_evolution_init(fs_evolution *e, const fs_packed_form *form, uint32_t size,
                            uint64_t seed, fs_arena *arena) FS_MUST_USE;
/* Adds an individual that starts items in this order, a linear extension. */
void fs_evolution_add(fs_evolution *e, const uint32_t *order);
/* Are these starts, with their ways, the best so far?  Then e->best has them. */
void fs_evolution_keep(fs_evolution *e, const fs_passed *p);
/* Makes one individual: at random until the population is full, then a child.  e->best has the best
 * starts so far. */
void fs_evolution_step(fs_evolution *e);

#endif
