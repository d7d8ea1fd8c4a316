/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: blocks of memory with death frontiers, for allocators.
 *
 * A range of bytes [0, bytes), of which blocks are taken and given back.  Free bytes remember what
 * must be complete before anybody may write there: the death frontier, the component maximum over
 * all last accesses of the block they were part of.  So memory can be given back while the device
 * still works on it, and who takes it next waits only for what he does not know to be complete.
 *
 *   - Try before you fence: taking looks for bytes whose death the user's frontier dominates; only
 *     when there are none does it answer with bytes and the waits that are missing, no others.
 *   - Free neighbours with unlike deaths stay apart inside: a block over several of them has the
 *     component maximum, a part of one has its death, on both sides of the cut.
 *   - A death that was tainted or does not fit the capacity is tainted: it has lost requirements,
 *     so no frontier dominates it and no list of waits is enough.  Such bytes are taken by nobody
 *     until fsched_blocks_idle says that they are dead.
 *
 * An access counts by a point {axis: epoch}, or by the frontier of the command that made it; the
 * point does, as who knows a command to be complete knows all that came before it.
 *
 * Structure: the pieces in a tree by address, with the longest free run below each node, and in a
 * list.  With p pieces, taking, giving and returning cost O(log p) expected for each piece of the
 * block; taking begins with no further place once it has looked at `effort` pieces, each
 * O(entries).  Nothing depends on addresses of memory or on chance: the same calls give the same
 * blocks.
 * Threads: a set of blocks is used by one thread at a time.  Errors come by status alone.
 * Source: the pool of IREE's causal dependency tracking.  Corrected: both halves of a cut keep the
 * death; a block that joins fresh and used bytes does not make the fresh ones wait. */
#ifndef FSCHED_BLOCK_H
#define FSCHED_BLOCK_H

#include "fsched/frontier.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fsched_blocks fsched_blocks;

/** Zero means the default for every member but the first and `bytes`. */
typedef struct fsched_blocks_options {
  size_t size;
  /** Memory: as in fsched_context_options. */
  void *(*reallocate)(void *user, void *block, size_t old_size, size_t new_size);
  void *user;
  uint64_t bytes;
  uint64_t align;    /* a power of two: all offsets and sizes are multiples of it; default 1 */
  uint32_t capacity; /* entries of a death frontier; default 16 */
  uint32_t effort;   /* pieces that taking looks at, FSCHED_NONE: all; default 256 */
} fsched_blocks_options;

/** All bytes are fresh: free, and never used.  Bytes past the last multiple of `align` do not
 *  count.  Errors: FSCHED_USAGE (options), FSCHED_SYSTEM (no memory); *out is then NULL. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_blocks_create(const fsched_blocks_options *options,
                                                              fsched_blocks **out);
/** NULL is ignored. */
FSCHED_API void fsched_blocks_destroy(fsched_blocks *b);

/** A block that is taken.  A value: it may be copied, and is no longer valid once it is given back
 *  or returned. */
typedef struct fsched_block {
  uint64_t offset, bytes; /* bytes: rounded up to the alignment */
  uint32_t id;
} fsched_block;

typedef enum fsched_blocks_fit {
  FSCHED_BLOCKS_FEWEST_WAITS, /* then in the shortest free run, then the lowest */
  FSCHED_BLOCKS_TIGHTEST      /* the shortest free run, at its begin, whatever the waits */
} fsched_blocks_fit;

typedef enum fsched_blocks_result {
  FSCHED_BLOCKS_FRESH,     /* taken: nobody has used these bytes, or all is long complete */
  FSCHED_BLOCKS_DOMINATED, /* taken: the user's frontier dominates the death */
  FSCHED_BLOCKS_WAITS,     /* taken: before the first access the user must wait */
  FSCHED_BLOCKS_BUSY,      /* not taken: free, but what was looked at is tainted or needs waits that
                              the caller has no room for */
  FSCHED_BLOCKS_FULL       /* not taken: no free run is long enough */
} fsched_blocks_result;

/** Takes `bytes` for a user who knows `user` to be complete (NULL: nothing).  block->id is 0 when
 *  none is taken.
 *  `waits` becomes what the user must still wait for, as entries that `user` lacks; NULL: only take
 *  what needs no waits.  Waits that exceed its capacity make the bytes busy: it is never tainted.
 *  Errors: FSCHED_USAGE (0 bytes), FSCHED_SYSTEM (no memory); nothing is then taken. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_blocks_take(
    fsched_blocks *b, uint64_t bytes, const fsched_frontier *user, fsched_blocks_fit fit,
    fsched_block *block, fsched_frontier *waits, fsched_blocks_result *result);
/** The same for the bytes at `offset`, for who plans the places himself; `effort` has no say here.
 *  Errors: FSCHED_USAGE also for an offset that is not aligned, or bytes outside. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_blocks_take_at(
    fsched_blocks *b, uint64_t offset, uint64_t bytes, const fsched_frontier *user,
    fsched_block *block, fsched_frontier *waits, fsched_blocks_result *result);

/** An access of a taken block, which its death will hold: one death frontier, however many read
 *  it.  From the first one on what the block died of before is forgotten: the user has waited for
 *  it.  Errors: FSCHED_USAGE (the block is not taken). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_blocks_touch(fsched_blocks *b,
                                                             const fsched_block *block,
                                                             const fsched_frontier *access);
/** Gives a block back with its last accesses, in addition to those of fsched_blocks_touch; NULL:
 *  there are no more.  A block that nobody has touched keeps the death it had.  An empty frontier
 *  for an untouched block says that it was used and that all of that is complete.
 *  Errors: FSCHED_USAGE (the block is not taken). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_blocks_give(fsched_blocks *b,
                                                            const fsched_block *block,
                                                            const fsched_frontier *death);
/** Declines a block that has not been touched: everything is as if it had not been taken.
 *  Errors: FSCHED_USAGE (the block is not taken, or has been touched). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_blocks_return(fsched_blocks *b,
                                                              const fsched_block *block);
/** What the bytes of a taken block died of or, once it is touched, will die of, into `death`; it is
 *  tainted when that is, or when its capacity does not do.  O(log p), O(entries) for each of its
 *  pieces.  Errors: FSCHED_USAGE (the block is not taken). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_blocks_death(const fsched_blocks *b,
                                                             const fsched_block *block,
                                                             fsched_frontier *death);

/** All that `progress` holds is complete: deaths lose these entries.  Taint stays.
 *  O(p * (entries + log p)). */
FSCHED_API void fsched_blocks_reached(fsched_blocks *b, const fsched_frontier *progress);
/** A moment: how many blocks have been given back so far. */
FSCHED_API uint64_t fsched_blocks_stamp(const fsched_blocks *b);
/** All use of blocks given back up to the moment `stamp` is complete (a fence that was put behind
 *  them was reached, the device was idle): their bytes are fresh again, tainted or not.  O(p log
 * p). */
FSCHED_API void fsched_blocks_idle(fsched_blocks *b, uint64_t stamp);

/** Bytes that are free, and the longest run of them.  O(1). */
FSCHED_API uint64_t fsched_blocks_free_bytes(const fsched_blocks *b);
FSCHED_API uint64_t fsched_blocks_longest(const fsched_blocks *b);
/** Pieces, taken ones included: fresh neighbours are one.  O(1). */
FSCHED_API uint32_t fsched_blocks_pieces(const fsched_blocks *b);

#ifdef __cplusplus
}
#endif
#endif
