/* SPDX-License-Identifier: Apache-2.0 */
/* Tabu search on the disjunctive graph, for problems whose items take turns on queues, one queue
 * each, and have orders, of any shape, besides: job shops and the like.
 *
 * A solution is an order of the items of each queue; items start as early as it lets them.  The
 * longest path behind it is the makespan.  Its blocks are its items that follow each other on one
 * queue; a shorter solution has an item of some block before the block's first or behind its last
 * one.  A move takes the item at one end of a stretch of a block to the stretch's other end, where
 * the stretch begins or ends the block (N7):
 *
 *      [ a b c d ] -> [ b c d a ]  [ b c a d ]  [ a c d b ]  ...
 *
 * The best move, by an estimate from the heads and tails of the stretch alone, is made even if the
 * makespan grows.  What the stretch was is tabu for a while, so that it does not come back.  A run
 * that has not improved for long ends; runs that ended best are the elite, and orders between two
 * of it begin new runs.
 *
 * Determinism: a function of problem, seed and offers; a step is one move.  A move takes O(n), and
 * what is looked at for it O(length^2) for each block, as far as MOST_STRETCH.
 *
 * Sources: Nowicki, Smutnicki, A fast taboo search algorithm for the job shop problem (1996);
 * Balas, Vazacopoulos, Guided local search with shifting bottleneck for job shop scheduling (1998),
 * for moves that keep the order free of cycles, and their estimate; Zhang, Li, Guan, Rao, A tabu
 * search algorithm with a new neighborhood structure for the job shop scheduling problem (2007),
 * for N7; Peng, Lu, Cheng, A tabu search/path relinking algorithm to solve the job shop scheduling
 * problem (2015).  Changed there: orders between two of the elite are those on a path of exchanges
 * of neighbours in linear extensions, which never has a cycle, so nothing is repaired. */
#ifndef FS_SEARCH_TABU_H
#define FS_SEARCH_TABU_H

#include "problem/problem.h"

/* `head`: the start.  `tail`: from the start to the end of the longest path behind it.  `ready` and
 * `rest`: the same by orders alone, without the queue; rest is without the item itself. */
typedef struct fs_tabu_node {
  fs_tick time, head, tail, ready, rest;
  uint32_t before, after; /* on the queue; n: none */
  uint32_t pred0, succ0;  /* in pred[] and succ[]; they end where those of the next node begin */
  uint32_t place, rank;   /* in the order of all, and on the queue */
} fs_tabu_node;

typedef struct fs_tabu_arc {
  fs_tick lag; /* from the end of the one to the start of the other */
  uint32_t item;
} fs_tabu_arc;

/* The disjunctive graph, with the queues in order (graph.c). */
typedef struct fs_tabu_graph {
  uint32_t n, n_queues, n_sinks;
  fs_tabu_node *node; /* n and one more, which is none */
  fs_tabu_arc *pred, *succ;
  uint32_t *queue; /* per item: the queue whose turns it takes; n_queues: none */
  uint32_t *sink;  /* the items without successors */
  uint32_t *order; /* all items, a linear extension of the graph */
  fs_tick makespan;
  uint64_t mark; /* tells orders of queues apart */
  /* Room. */
  uint32_t *last, *count, *put;
  uint32_t *seen, turn;
} fs_tabu_graph;

/* Items u and v of one queue, u before v: u goes right behind v, or v right before u. */
typedef struct fs_tabu_move {
  uint32_t u, v;
  bool forward;
  fs_tick estimate;
} fs_tabu_move;

typedef struct fs_tabu_entry {
  uint64_t mark, until;
} fs_tabu_entry;

typedef struct fs_tabu {
  fs_tabu_graph g;
  uint64_t random;
  uint64_t moves, work; /* so far; work: items that were looked at */

  fs_tick best_makespan; /* of all runs; FS_TICK_NONE: none yet */
  fs_tick *best_start;   /* per item */

  /* The run. */
  bool runs;
  uint32_t of;          /* the elite that it searches again; FS_NONE: it is a new one */
  fs_tick run_makespan; /* its best */
  uint64_t run_mark;
  uint32_t *run_order;
  uint64_t idle; /* moves since it became better */
  uint64_t tenure;
  uint32_t n_moves;
  fs_tabu_move *move;
  fs_tabu_entry *tabu;    /* by mark */
  fs_tabu_entry *visited; /* by mark of whole orders: how often, in `until` */
  uint32_t *path, *room;
  fs_tick *head;

  /* The elite. */
  uint32_t size, filled;
  uint32_t *elite; /* per member: an order */
  fs_tick *elite_makespan;
  uint64_t *elite_mark;
  uint8_t *elite_raw; /* offered, not searched yet */
} fs_tabu;

/* Are turns on queues, and orders, all there is to the problem? */
bool fs_tabu_knows(const fs_problem *p);
/* Requires a problem that fs_tabu_knows. */
fs_status fs_tabu_init(fs_tabu *t, const fs_problem *p, uint64_t seed, fs_arena *arena) FS_MUST_USE;
/* Offers an order, a linear extension, to begin a run with. */
void fs_tabu_offer(fs_tabu *t, const uint32_t *order);
/* Makes so many moves, fewer where a makespan of at most `bound` is found or `stop` says so.
 * best_makespan and the starts are then the best so far. */
void fs_tabu_run(fs_tabu *t, uint64_t moves, fs_tick bound, bool (*stop)(void *), void *user);

/* graph.c */
fs_status fs_tabu_graph_make(const fs_problem *p, fs_arena *arena, fs_tabu_graph *g) FS_MUST_USE;
/* Starts all items in this order, a linear extension. */
void fs_tabu_graph_take(fs_tabu_graph *g, const uint32_t *order);
/* False, and nothing is done: the move would close a cycle. */
bool fs_tabu_graph_move(fs_tabu_graph *g, const fs_tabu_move *m);
/* The mark of the item on the rank of its queue. */
static inline uint64_t fs_tabu_mark(uint32_t item, uint32_t rank) {
  uint64_t z = ((uint64_t)item << 32 | rank) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 32) * UINT64_C(0xd1342543de82ef95);
  return z ^ z >> 29;
}

/* moves.c: the moves of a longest path, with their estimates, in move[]. */
void fs_tabu_list_moves(fs_tabu *t);

/* elite.c */
/* Ends the run: its best may join the elite. */
void fs_tabu_end_run(fs_tabu *t);
/* Begins a run: of an order that was offered, of a random one, or of one between two members of the
 * elite. */
void fs_tabu_begin_run(fs_tabu *t);

#endif
