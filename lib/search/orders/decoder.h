/* SPDX-License-Identifier: Apache-2.0 */
/* An order of ops to a schedule with spills, by serial generation: what the list scheduler does in
 * the order of time is done here in the given order, whatever time it takes place at.
 *
 * Each op takes its places, reads what is not there, and starts as early as its inputs, places and
 * queues allow; where its places do not fit, versions leave: those whose copies take least time per
 * distance to their next use, in neighbouring segments.  Copies and ops go into gaps of their
 * queues, so reads are as early as the room they need, and writes as the content they write.  What
 * is kept is written when its room is wanted, or at the end.
 *
 * A part of each memory may be a reserve: versions leave until so much stays free beside each op,
 * so that reads are early.
 *
 * By amounts, memories have no addresses while an order is decoded, and may be taken by a part
 * alone; addresses are looked for when all times are known, and not always found.
 *
 * Determinism: a function of graph, order, amounts, parts and reserve.  O(args * (segments + gaps))
 * for an order. */
#ifndef FS_ORDERS_DECODER_H
#define FS_ORDERS_DECODER_H

#include "model/schedule.h"
#include "search/orders/queue.h"
#include "search/orders/room.h"

/* A version in a bounded memory that an op touches. */
typedef struct fs_order_touch {
  uint32_t version;
  uint32_t from; /* the version whose place it takes over, if that ends here; FS_NONE: none */
  bool writes;
} fs_order_touch;

/* What does not change from order to order. */
typedef struct fs_order_version {
  uint32_t memory; /* FS_NONE: unbounded */
  uint32_t use0;   /* its uses, in use[] */
  uint32_t n_writers;
  uint64_t size; /* aligned */
  fs_tick read, write;
  bool load, kept;
} fs_order_version;

typedef struct fs_order_state {
  uint32_t segment; /* FS_NONE: it is not there */
  uint32_t next;    /* the next of its uses, in use[] */
  uint32_t writers_left;
  uint32_t turn;      /* the last op that touches it, by its place in the order, + 1 */
  uint32_t residency; /* its present one */
  fs_tick ready;      /* its residency has begun with a write, or the read has ended */
  fs_tick end;        /* of all that uses the residency */
  fs_tick written;    /* of its last writer so far */
  fs_tick stored;     /* of its last write to the store */
  bool dirty, content;
} fs_order_state;

/* What an op lacks room for. */
typedef struct fs_order_need {
  uint64_t size;
  uint32_t memory;
  uint32_t touch, scratch; /* one of them FS_NONE */
  uint32_t segment;
} fs_order_need;

/* A version that was read again: between its uses at two places of the order. */
typedef struct fs_order_return {
  uint32_t from, to;
} fs_order_return;

/* How far a run has come, beside rooms, queues, states and ends, with which it lies in one block.
 */
typedef struct fs_order_run {
  fs_tick makespan, copy_time;
  uint32_t n_copies, n_residencies, n_returns;
} fs_order_run;

enum { FS_ORDER_PARTS = 64 };

/* A version that takes over the place of another one while an op runs. */
typedef struct fs_order_handing {
  uint32_t from, to; /* residencies */
  fs_tick begin, end;
} fs_order_handing;

typedef struct fs_decoder {
  const fsched_graph *g;
  uint32_t *touch0;
  fs_order_touch *touch;
  fs_order_version *version;
  uint32_t most_needs;

  uint32_t reserve; /* of FS_ORDER_PARTS of a memory: what is to stay free */

  /* Of the order at hand. */
  const uint32_t *op_at;
  uint32_t *use, *use_end; /* places in the order that touch a version, ascending */
  uint8_t *opposite;       /* per version: it goes to the other end of free room */
  fs_order_state *fresh;
  fs_order_need *need;
  uint32_t n_needs;
  fs_order_return *returned;
  fs_tick *op_start;

  /* The block. */
  size_t block_size;
  fs_order_run *run;
  fs_order_room *room;
  fs_order_queue *timeline; /* per queue */
  fs_order_state *state;
  fs_tick *op_end;

  /* The schedule to be filled, or NULL. */
  fs_schedule *s;
  uint32_t *listed, n_listed; /* its items, as they were decided */
  uint32_t *scratch_residency;
  fs_order_handing *handed;
  uint32_t n_handed;
} fs_decoder;

/* Does the decoder know all of the graph?  Its bounded memories have addresses and spill to
 * unbounded ones, and there is nothing to it but queues, gangs and precedence. */
bool fs_decoder_knows(const fsched_graph *g);
/* Requires a graph that fs_decoder_knows. */
fs_status fs_decoder_init(fs_decoder *d, const fsched_graph *g, fs_arena *arena) FS_MUST_USE;
/* Memories are taken by amounts from the next run on, so many of FS_ORDER_PARTS of each, or more
 * by an op that needs more.  Requires 1 to FS_ORDER_PARTS. */
void fs_decoder_use_amounts(fs_decoder *d, uint32_t parts);
/* Begins a run.  Requires a linear extension of the graph, which stays until the run is over. */
void fs_decoder_begin(fs_decoder *d, const uint32_t *op_at);
/* Goes on with a run that came to the same place with another order, which is the same before that
 * place: but for what was decided there by later uses, it is as if the run had begun with this
 * order.  Requires what fs_decoder_save has saved. */
void fs_decoder_resume(fs_decoder *d, const uint32_t *op_at, const void *saved);
/* Requires room for block_size bytes. */
void fs_decoder_save(const fs_decoder *d, void *to);
/* Decides the op at this place; false: it has no room.  Requires that those before are decided. */
bool fs_decoder_step(fs_decoder *d, uint32_t at);
/* Writes what is kept and was not written yet.  Requires that all ops are decided. */
void fs_decoder_finish(fs_decoder *d);
/* A whole run; false: some op has no room.  Requires a linear extension of the graph. */
bool fs_decoder_run(fs_decoder *d, const uint32_t *op_at);
/* The schedule of an order; *out is NULL if it has none, or no addresses are found for it, or it is
 * not right (the verifier says).  Requires a linear extension of the graph. */
fs_status fs_decoder_schedule(fs_decoder *d, fsched_context *ctx, const uint32_t *op_at,
                              fs_schedule **out) FS_MUST_USE;

/* evict.c: versions leave, until there is room of that size.  False: there is none.  Requires a
 * bounded memory. */
bool fs_decoder_make_room(fs_decoder *d, uint32_t memory, uint64_t size, uint32_t at);
/* evict.c: versions leave, until so many bytes are free.  False: none may leave any more.  Requires
 * a bounded memory. */
bool fs_decoder_free_bytes(fs_decoder *d, uint32_t memory, uint64_t size, uint32_t at);
/* decoder.c: the version leaves its place, written first if it has to be.  Requires a version that
 * is there. */
void fs_decoder_expel(fs_decoder *d, uint32_t version);

/* result.c: what is decided, for the schedule that is filled. */
void fs_decoder_note_copy(fs_decoder *d, uint32_t version, fs_copy_kind kind, uint32_t queue,
                          fs_tick start, fs_tick end);
void fs_decoder_note_begin(fs_decoder *d, uint32_t version, uint32_t op, uint32_t memory,
                           uint32_t segment, fs_tick begin, uint32_t *residency);
void fs_decoder_note_end(fs_decoder *d, uint32_t residency, fs_tick end);
void fs_decoder_note_handing(fs_decoder *d, uint32_t from, uint32_t to, fs_tick begin, fs_tick end);
void fs_decoder_note_args(fs_decoder *d, uint32_t op);
void fs_decoder_note_op(fs_decoder *d, uint32_t op, uint32_t queue);

/* The place in the order of the version's next use; n_ops: there is none. */
static inline uint32_t fs_decoder_next_use(const fs_decoder *d, uint32_t v) {
  uint32_t next = d->state[v].next;
  return next < d->use_end[v] ? d->use[next] : d->g->n_ops;
}

#endif
