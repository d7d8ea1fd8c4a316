/* SPDX-License-Identifier: Apache-2.0 */
/* Reservations of a pool: served strictly first come, first served. */
#ifndef FS_EXEC_POOL_H
#define FS_EXEC_POOL_H

#include <stdbool.h>

#include "base/steps.h"
#include "fsched/block.h"
#include "fsched/exec.h"

typedef struct fs_reservation fs_reservation;
struct fs_reservation {
  uint64_t bytes; /* above 0, at most the pool's bytes */
  /* Called without locks when a reservation that had to wait has got its memory, in the thread that
   * made room, as a step (steps.h).  Cause FSCHED_CAUSE_SYSTEM: it has got none, as there was no
   * host memory for the pool's accounts. */
  void (*granted)(fs_reservation *r, fsched_cause cause);
  void *user;
  void *data; /* its memory, once it is granted */
  fsched_block block;
  fs_reservation *next, *previous;
  fs_step step;
  fsched_cause cause; /* of the step */
  bool waiting, cancelled;
  bool early; /* see fs_pool_reserve */
};

typedef enum fs_reserved {
  FS_RESERVED,
  FS_RESERVE_LATER,
  FS_RESERVE_FAILED,
  FS_RESERVE_CANCELLED /* cancelled before it was asked for */
} fs_reserved;

/* FSCHED_INFEASIBLE, reported with need and have, when the pool can never serve it.  Requires a
 * pool. */
fsched_status fs_pool_check(fsched_context *ctx, const fsched_pool *pool, uint64_t bytes);
/* Asks for memory.  LATER: `granted` comes, unless fs_pool_cancel says that it does not.  An early
 * reservation is one whose owner will wait for others while it holds the memory.  It stands apart:
 * other reservations do not queue behind it.  It is granted only while no other reservation waits,
 * and if the largest size told to fs_pool_expect is then still free in one piece, so that those
 * others get their memory.  Requires a reservation of some bytes that does not wait. */
fs_reserved fs_pool_reserve(fsched_pool *pool, fs_reservation *r);
/* The cause that belongs to an answer.  Requires an answer other than LATER. */
fsched_cause fs_reserved_cause(fs_reserved reserved);
/* The owner waits for no others any more: from now on the reservation queues like all.  It may be
 * in any state.  Requires a reservation. */
void fs_pool_hurry(fsched_pool *pool, fs_reservation *r);
/* From now on a reservation that is not early may ask for this many bytes. */
void fs_pool_expect(fsched_pool *pool, uint64_t bytes);
/* Gives the memory back, and serves the queues.  Requires a reservation that was granted. */
void fs_pool_release(fsched_pool *pool, fs_reservation *r);
/* True: the reservation had to wait, and `granted` will not come.  Serves those behind it.  A
 * reservation that was not asked for yet will be refused. */
bool fs_pool_cancel(fsched_pool *pool, fs_reservation *r);
/* Some reserved memory will never be given back: memory that may still be written is left behind
 * when the pool is destroyed. */
void fs_pool_lose(fsched_pool *pool);
fsched_device *fs_pool_device(const fsched_pool *pool);

#endif
