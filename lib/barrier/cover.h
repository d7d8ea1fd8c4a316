/* SPDX-License-Identifier: Apache-2.0 */
/* The least number of physical barriers that a set of barriers needs without any new order: a
 * minimum chain cover of B1 < B2 ("every consumer of B1 is before every producer of B2").
 *
 * Source: Dilworth's theorem and Kuhn's matching on the comparable pairs, which are not listed but
 * computed from this: per barrier and queue, the first command from which on all are after all of
 * its consumers. */
#ifndef FS_BARRIER_COVER_H
#define FS_BARRIER_COVER_H

#include "base/context.h"
#include "base/mem.h"

typedef struct fs_cover_problem {
  uint32_t n_queues, n_commands, n_barriers;
  const uint32_t *queue_command0; /* commands of queue q in FIFO order; n_queues + 1 */
  const uint32_t *order;          /* all commands; predecessors come earlier */
  const uint32_t *pred0, *pred; /* CSR per command: commands that are over before it starts, beyond
                                   queue order */
  /* CSR per barrier: commands, at least one of each; every producer is before every consumer. */
  const uint32_t *producer0, *producer;
  const uint32_t *consumer0, *consumer;
  const bool *slow;    /* per command: its queue goes on before it is over; NULL: none does */
  uint64_t most_steps; /* of the searches together; 0: 2^24 */
} fs_cover_problem;

/* Finds *n_chains, and per barrier its chain (below *n_chains) and its index in the chain.  Chains
 * are numbered by their first barrier; barriers of a chain are in the order <.  *proven: no cover
 * has fewer.  Else the searches have come to their limit, and from there on each barrier took the
 * first free one after it.  Once there are more than `enough` chains, the call may end early with
 * *n_chains > enough and the arrays undefined (FS_NONE: never).  Arrays live in `arena`.
 * Deterministic.  Requires that every barrier has a producer and a consumer.
 * Errors: FSCHED_SYSTEM.
 * Complexity: time O(commands + preds) * queues / 16 + barriers * (queues / 16 + chains) where
 * barriers far apart in the order are mostly comparable (100,000 commands on 64 queues: 0.2 to
 * 0.4 s, on 1,000: about 1 s), more where many of thousands of queues are live at once, up to the
 * limit of steps; memory at most barriers * queues bytes, and less where little or all is reached.
 * When `enough` is less than what is live at once in the order: O(commands + ends). */
fs_status fs_barrier_cover(fsched_context *ctx, fs_arena *arena, const fs_cover_problem *p,
                           uint32_t enough, uint32_t *n_chains, bool *proven, uint32_t **chain,
                           uint32_t **index) FS_MUST_USE;

#endif
