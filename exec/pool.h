/* SPDX-License-Identifier: Apache-2.0 */
/* Reservations of a pool: served strictly first come, first served. */
#ifndef FS_EXEC_POOL_H
#define FS_EXEC_POOL_H

#include <stdbool.h>

#include "fsched/block.h"
#include "fsched/exec.h"

typedef struct fs_reservation fs_reservation;
struct fs_reservation {
  uint64_t bytes; /* above 0, at most the pool's */
  /* Called without locks when a reservation that had to wait has got its memory; cause
   * FSCHED_CAUSE_SYSTEM: it has not, there was no memory to keep account of it. */
  void (*granted)(fs_reservation *r, fsched_cause cause);
  void *user;
  void *data; /* once it is granted */
  fsched_block block;
  fs_reservation *next;
  bool waiting;
};

typedef enum fs_reserved { FS_RESERVED, FS_RESERVE_LATER, FS_RESERVE_FAILED } fs_reserved;

/* FSCHED_INFEASIBLE, reported with need and have, when the pool can never serve it. */
fsched_status fs_pool_check(fsched_context *ctx, const fsched_pool *pool, uint64_t bytes);
/* LATER: `granted` comes. */
fs_reserved fs_pool_reserve(fsched_pool *pool, fs_reservation *r);
/* Gives it back, and serves who waits. */
void fs_pool_release(fsched_pool *pool, fs_reservation *r);
/* True: it had to wait, and `granted` will not come.  Serves who waits behind it. */
bool fs_pool_cancel(fsched_pool *pool, fs_reservation *r);
fsched_device *fs_pool_device(const fsched_pool *pool);

#endif
