/* SPDX-License-Identifier: Apache-2.0 */
/* Local search over orders of ops, for graphs that spill: each order is decoded to a schedule
 * (decoder.h), and orders whose schedules are shorter, or copy less, are kept.
 *
 * A neighbour brings two uses of a version between which it was read again next to each other, with
 * the ops that have to lie before or behind; or two ops at random; or it has a version take the
 * other end of free room.  Simulated annealing decides, in cycles from warm to cold, each twice as
 * long as the one before and from the best order so far, so it may end at any time.
 *
 * The first cycle is one of volumes (volume.h), as orders that copy little are found much sooner
 * that way; the next one goes on from its end.
 *
 * What comes before a change is decoded once, and a neighbour is decoded from there: most are given
 * up soon behind the change, as the schedule is longer there than the known one by more than would
 * be accepted.  What is not is decoded anew as a whole.
 *
 * How much of the memories stays free (decoder.h) is part of an order, too: what is best is looked
 * for as each cycle begins, and changed now and then.
 *
 * A search by amounts (decoder.h) finds short schedules sooner, of which not all get addresses.
 * Where its best one gets none, orders take fewer parts of the memories; where it gets some, one
 * part more.
 *
 * Determinism: a function of graph, seed, offers and work.  A decoded op is a unit of work, an op
 * of a volume a part of it.
 *
 * Sources: Kirkpatrick, Gelatt, Vecchi, Optimization by simulated annealing (1983); Belady, A study
 * of replacement algorithms for a virtual-storage computer (1966), for what leaves. */
#ifndef FS_ORDERS_SEARCH_H
#define FS_ORDERS_SEARCH_H

#include "search/orders/volume.h"

/* An order that was decoded as a whole. */
typedef struct fs_decoded_order {
  uint32_t *order;
  char *saved;       /* states of the run, at every stride-th place */
  uint64_t *reached; /* per place: the cost of what is before it */
  uint64_t cost;
  fs_order_return *returned;
  uint32_t n_returned;
} fs_decoded_order;

typedef struct fs_order_search {
  fs_decoder d;
  uint64_t random, work;
  uint32_t stride;
  fs_decoded_order now, other; /* the present order, and room for its neighbour */
  uint32_t *seen, turn, *moved;
  uint32_t parts; /* of the memories that orders take by amounts; 0: orders have addresses */
  uint64_t usual; /* the mean cost of an op */
  bool any;       /* there is a present order */
  fs_volume volume;
  bool coarse; /* the cycle is one of volumes: costs are times of copies */

  /* The cycle. */
  uint64_t temperature; /* in 1/256 of a unit of cost */
  uint32_t stage;
  uint64_t length, left; /* neighbours of a stage of this cycle, and of this stage */

  fs_tick best_makespan; /* FS_TICK_NONE: none was found */
  uint32_t *best;
  uint8_t *best_opposite;
  uint32_t best_reserve;
} fs_order_search;

/* Requires a graph that fs_decoder_knows. */
fs_status fs_order_search_init(fs_order_search *o, const fsched_graph *g, uint64_t seed,
                               bool amounts, fs_arena *arena) FS_MUST_USE;
/* Requires a linear extension of the graph. */
void fs_order_search_offer(fs_order_search *o, const uint32_t *order);
/* Searches until so much work is done, a makespan of at most `bound` is found, or `stop` says so.
 */
void fs_order_search_run(fs_order_search *o, uint64_t work, fs_tick bound, bool (*stop)(void *),
                         void *user);
/* The schedule of the best order, which by amounts may take fewer parts; *out is NULL if there is
 * none that is shorter than `known`. */
fs_status fs_order_search_schedule(fs_order_search *o, fsched_context *ctx, fs_tick known,
                                   fs_schedule **out) FS_MUST_USE;

#endif
