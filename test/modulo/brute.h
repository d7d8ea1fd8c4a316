/* SPDX-License-Identifier: Apache-2.0 */
/* Modulo scheduling by trying everything, and plans by running them.  Both are written from the
 * comment of modulo/problem/problem.h alone. */
#ifndef FS_TEST_MODULO_BRUTE_H
#define FS_TEST_MODULO_BRUTE_H

#include "modulo/problem/problem.h"

enum { FS_BRUTE_OPS = 8 };

/* What a plan shall have. */
typedef struct fs_brute_wish {
  fs_modulo_ratio ii;
  bool less;        /* an interval below ii; else at most ii */
  int64_t makespan; /* at most so many 1 / ii.den ticks; -1: any */
  uint64_t bytes;   /* of all rings, at most; FS_UNBOUNDED: any */
  uint32_t ops; /* of an iteration, where the body is several: op c * ops + i is copy c of op i */
  const bool *turns; /* per op of an iteration: its copies on one queue are in order; NULL: none */
} fs_brute_wish;

/* Is there such a plan of one copy, of a body of up to FS_BRUTE_OPS ops and one memory at most? */
bool fs_modulo_brute(const fs_modulo_problem *p, const fs_brute_wish *wish);

/* Checks a plan: its starts, tracks, depths and bytes, that what is at a bound is proven, and that
 * commands which start as soon as they can take `ii` an iteration in the long run.  Fails the test
 * otherwise. */
void fs_modulo_check(const fs_modulo_problem *p, const fs_modulo_plan *plan);

#endif
