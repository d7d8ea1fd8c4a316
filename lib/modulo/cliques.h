/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that exclude each other: whatever is chosen, each two of them have a queue or a lane in
 * common.  One comes after the other, so what each keeps the next one away adds up within a
 * period. */
#ifndef FS_MODULO_CLIQUES_H
#define FS_MODULO_CLIQUES_H

#include "modulo/body.h"

enum { FS_MODULO_CLIQUE_OPS = 128 }; /* of more, none are looked at */

/* Ops, and gap[from * n + to]: so much later than `from` the next start of `to` comes at least; 0,
 * for both directions, where the two do not exclude each other.  From an op to itself: 0, or how
 * much later it starts again in another iteration at least. */
typedef struct fs_modulo_gaps {
  uint32_t n;
  int64_t *gap;
} fs_modulo_gaps;

typedef struct fs_modulo_clique {
  int64_t worth; /* a period is at least that; 0: there is none */
  uint32_t n;    /* of the ops */
  uint32_t *op;
} fs_modulo_clique;

/* The gaps that the tracks of a body give, in ticks.  `again`: only of ops that exclude
 * themselves in other iterations, so that it holds for any number of copies.  Requires up to
 * FS_MODULO_CLIQUE_OPS ops. Complexity: O(claims^2).  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_gaps_make(fs_arena *arena, const fs_modulo_body *b, bool again,
                              fs_modulo_gaps *out) FS_MUST_USE;

/* The ops that exclude each other and are worth most, as far as *steps of a search show, of which
 * it takes what it needs.  Requires up to FS_MODULO_CLIQUE_OPS ops.  Deterministic.
 * Complexity: O(n^2) a step.  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_clique_find(fs_arena *arena, const fs_modulo_gaps *g, uint64_t *steps,
                                fs_modulo_clique *out) FS_MUST_USE;

/* The bound of such ops for the period of a body.  `again` as above.  *by, *index: what they share,
 * of the kinds in problem.h.  0 where there are too many ops.  Errors: FSCHED_SYSTEM. */
fs_status fs_modulo_clique_bound(fsched_context *ctx, const fs_modulo_body *b, bool again,
                                 int64_t *worth, fs_modulo_limit *by, uint32_t *index) FS_MUST_USE;

#endif
