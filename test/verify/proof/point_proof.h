/* SPDX-License-Identifier: Apache-2.0 */
/* What a schedule is to a proof with open copies: the times of what its header names, by the words
 * of fsched-proof(5) and the schedule alone. */
#ifndef FS_TEST_POINT_PROOF_H
#define FS_TEST_POINT_PROOF_H

#include "model/schedule.h"

enum { POINT_MOST = 1200 };

typedef struct point_thing {
  char word[8];
  uint32_t at[8]; /* the numbers of the line */
  int n;
  bool there, boolean;
  uint32_t owner;     /* the boolean that tells if it is there; FS_NONE: it always is */
  fs_tick value, end; /* in ticks; of a boolean 0 or 1 */
} point_thing;

typedef struct point_proof {
  const fsched_graph *g;
  const fs_schedule *s;
  uint32_t n, n_items; /* nodes: ops, and things; items */
  uint32_t n_ends;
  uint64_t unit;
  uint32_t n_sets;
  point_thing thing[POINT_MOST]; /* of ops, too */
  const char *head;              /* up to "begin" */
  size_t head_length;
} point_proof;

/* False: too many things. */
bool fs_point_read(point_proof *x, const fsched_graph *g, const char *proof);
/* Fills in the schedule.  False: its times are no multiples of the unit. */
bool fs_point_take(point_proof *x, const fs_schedule *s);

#endif
