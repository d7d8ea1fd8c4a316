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
  uint64_t bytes; /* above 0, at most the pool's */
  /* Called without locks when a reservation that had to wait has got its memory, in the thread that
   * gave room, as a step (steps.h); cause FSCHED_CAUSE_SYSTEM: it has not, there was no memory to
   * keep account of it. */
  void (*granted)(fs_reservation *r, fsched_cause cause);
  void *user;
  void *data; /* once it is granted */
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
  FS_RESERVE_CANCELLED /* before it was asked for */
} fs_reserved;

/* FSCHED_INFEASIBLE, reported with need and have, when the pool can never serve it.  Requires a
 * pool. */
fsched_status fs_pool_check(fsched_context *ctx, const fsched_pool *pool, uint64_t bytes);
/* LATER: `granted` comes, or fs_pool_cancel says that it does not.  One that is early, as it will
 * wait for others when it has the memory, stands apart: nobody queues behind it, and it is granted
 * only while nobody else waits and what is left in one piece does for whatever fs_pool_expect was
 * told, so that those others come to theirs.  Requires some bytes, and that it does not wait. */
fs_reserved fs_pool_reserve(fsched_pool *pool, fs_reservation *r);
/* Of all but LATER.  Requires an answer other than LATER. */
fsched_cause fs_reserved_cause(fs_reserved reserved);
/* It waits for nobody any more: from now on it queues like all.  In any state of the reservation.
 * Requires a reservation. */
void fs_pool_hurry(fsched_pool *pool, fs_reservation *r);
/* So many bytes may be reserved from now on, by one that is not early. */
void fs_pool_expect(fsched_pool *pool, uint64_t bytes);
/* Gives it back, and serves who waits.  Requires a reservation that was granted. */
void fs_pool_release(fsched_pool *pool, fs_reservation *r);
/* True: it had to wait, and `granted` will not come.  Serves who waits behind it.  When it has not
 * been asked for yet, it will be refused. */
bool fs_pool_cancel(fsched_pool *pool, fs_reservation *r);
/* Something that is reserved is never given back: what may still be written to is left behind when
 * the pool is destroyed. */
void fs_pool_lose(fsched_pool *pool);
fsched_device *fs_pool_device(const fsched_pool *pool);

#endif
