/* SPDX-License-Identifier: Apache-2.0 */
/* A problem in the form that generation works on: what an item takes, of queues and of amounts, is
 * packed into fields of 64-bit words, so that one subtraction tells whether all of it is free.
 *
 *      word    | 0 amount b | 0 amount a | 0 class 0 |      a guard bit in front of each field:
 *      free    | 1    5     | 1    2     | 1    1    |      (free + guard) - need has it where the
 *      need    |      3     |      1     |      1    |      need fits
 *
 * Fields that can never be short are left out; amounts are divided by their common divisor.  What
 * still has more bits than a field may have is rounded, up for needs: then some schedules are not
 * made, but no wrong ones.
 *
 * An item has one or several ways to run: the classes of queues that it may choose from (of a gang:
 * all of its classes at once).
 *
 * Source of the idea: guard bits, as of Fredman and Willard, Surpassing the information theoretic
 * bound with fusion trees (1993); serial generation with packed resources is ours. */
#ifndef FS_SEARCH_FORM_H
#define FS_SEARCH_FORM_H

#include "problem/problem.h"

typedef struct fs_packed_form {
  const fs_problem *p;
  uint32_t n, words;
  uint64_t *capacity;  /* per word: what is free at first, with the guard bits */
  uint64_t *guard;     /* per word: the guard bits */
  uint32_t *way0;      /* CSR per item: its ways, at least one */
  uint32_t *way_class; /* per way: its class; FS_NONE: a gang's */
  uint64_t *need;      /* per way: its words */
} fs_packed_form;

/* In the arena; refers to the problem.  Requires a complete problem. */
fs_status fs_form_make(const fs_problem *p, fs_arena *arena, fs_packed_form *out) FS_MUST_USE;

#endif
