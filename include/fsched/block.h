/* SPDX-License-Identifier: Apache-2.0 */
/* fsched: blocks of memory with death frontiers, for allocators.
 *
 * A set of blocks manages a range of bytes [0, bytes), of which blocks are taken and given back.
 * Free bytes keep a death frontier, which must be complete before they may be written again: the
 * component maximum over all last accesses of the block that they were part of.  So memory can be
 * given back while the device still uses it, and the next user waits only for accesses that it does
 * not know to be complete.
 *
 *   - Try before you fence: taking looks for bytes whose death frontier is dominated by the user's
 *     frontier.  Only when there are none does it return other bytes, together with exactly the
 *     waits that are missing.
 *   - Neighbouring free bytes with different death frontiers are kept as separate pieces.  A block
 *     that spans several pieces has the component maximum; when a piece is cut, both parts keep its
 *     death frontier.
 *   - A death frontier becomes tainted when an access is tainted or the entries exceed its
 *     capacity: it has lost requirements, so no frontier dominates it and no list of waits is
 *     enough.  Such bytes cannot be taken until fsched_blocks_idle says that their use is over.
 *
 * An access is given as a point {axis: epoch}, or as the frontier of its command.  The point is
 * enough: a user that knows a command to be complete knows the same of everything before it.
 *
 * Structure: the pieces are in a list, and in a tree by address whose nodes know the longest free
 * run below them.  With p pieces, taking, giving and returning cost O(log p) expected for each
 * piece of the block; taking tries no further place once it has looked at `effort` pieces, at
 * O(entries) each.  The same calls always give the same blocks.
 * Threads: a set of blocks is used by one thread at a time.  Errors are returned as a status,
 * without a diagnostic.
 * Source: the pool of IREE's causal dependency tracking.  Corrected: both halves of a cut piece
 * keep its death frontier; a block that joins fresh and used bytes does not make the fresh ones
 * wait. */
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
  uint32_t capacity; /* the most entries of a death frontier; default 16 */
  uint32_t effort;   /* the most pieces that taking looks at; FSCHED_NONE: all; default 256 */
} fsched_blocks_options;

/** Makes a set of blocks in which all bytes are fresh: free, and never used.  Bytes past the last
 *  multiple of `align` are not used.  Errors: FSCHED_USAGE (options), FSCHED_SYSTEM (no memory);
 *  *out is then NULL. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_blocks_create(const fsched_blocks_options *options,
                                                              fsched_blocks **out);
/** NULL is ignored. */
FSCHED_API void fsched_blocks_destroy(fsched_blocks *b);

/** A taken block.  It is a value that may be copied, and is invalid once the block is given back or
 *  returned. */
typedef struct fsched_block {
  uint64_t offset, bytes; /* bytes: rounded up to the alignment */
  uint32_t id;
} fsched_block;

typedef enum fsched_blocks_fit {
  FSCHED_BLOCKS_FEWEST_WAITS, /* of equal ones the shortest free run, then the lowest offset */
  FSCHED_BLOCKS_TIGHTEST /* at the beginning of the shortest free run, whatever waits it needs */
} fsched_blocks_fit;

typedef enum fsched_blocks_result {
  FSCHED_BLOCKS_FRESH,     /* taken: never used, or all use is known to be complete */
  FSCHED_BLOCKS_DOMINATED, /* taken: the user's frontier dominates the death frontier */
  FSCHED_BLOCKS_WAITS,     /* taken: the user must wait before the first access */
  FSCHED_BLOCKS_BUSY, /* not taken: there are free bytes, but those looked at are tainted or need
                         more waits than the caller has room for */
  FSCHED_BLOCKS_FULL  /* not taken: no free run is long enough */
} fsched_blocks_result;

/** Takes `bytes` for a user that knows `user` to be complete (NULL: nothing).  block->id is 0 when
 *  no block is taken.  `waits` receives the entries that `user` lacks, for which the user must
 *  wait; NULL: takes only bytes that need no waits.  Bytes whose waits exceed its capacity count as
 *  busy, so it is never tainted.
 *  Errors: FSCHED_USAGE (0 bytes), FSCHED_SYSTEM (no memory); nothing is then taken. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_blocks_take(
    fsched_blocks *b, uint64_t bytes, const fsched_frontier *user, fsched_blocks_fit fit,
    fsched_block *block, fsched_frontier *waits, fsched_blocks_result *result);
/** The same for the bytes at `offset`, for callers that choose offsets themselves; `effort` does
 *  not matter.
 *  Errors: FSCHED_USAGE also for an offset that is not aligned, or bytes outside. */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_blocks_take_at(
    fsched_blocks *b, uint64_t offset, uint64_t bytes, const fsched_frontier *user,
    fsched_block *block, fsched_frontier *waits, fsched_blocks_result *result);

/** Adds an access of a taken block to its death frontier; any number of accesses make one frontier.
 *  The first access replaces the death frontier that the block had when it was taken, as the user
 *  has waited for that.  Errors: FSCHED_USAGE (the block is not taken). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_blocks_touch(fsched_blocks *b,
                                                             const fsched_block *block,
                                                             const fsched_frontier *access);
/** Gives a block back.  `death` adds its last accesses to those of fsched_blocks_touch; NULL: there
 *  are no more.  An untouched block with NULL keeps the death frontier it had; with an empty
 *  frontier it counts as used, with all its use complete.
 *  Errors: FSCHED_USAGE (the block is not taken). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_blocks_give(fsched_blocks *b,
                                                            const fsched_block *block,
                                                            const fsched_frontier *death);
/** Returns a block that has not been touched, as if it had never been taken.
 *  Errors: FSCHED_USAGE (the block is not taken, or has been touched). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_blocks_return(fsched_blocks *b,
                                                              const fsched_block *block);
/** Stores in `death` the death frontier of a taken block: before the first touch that of its bytes,
 *  then that of its accesses so far.  `death` is tainted when that frontier is, or when the
 *  capacity of `death` is too small.  O(log p), O(entries) for each of its pieces.  Errors:
 *  FSCHED_USAGE (the block is not taken). */
FSCHED_API FSCHED_MUST_USE fsched_status fsched_blocks_death(const fsched_blocks *b,
                                                             const fsched_block *block,
                                                             fsched_frontier *death);

/** Says that everything in `progress` is complete: death frontiers lose these entries, but stay
 *  tainted.  O(p * (entries + log p)). */
FSCHED_API void fsched_blocks_reached(fsched_blocks *b, const fsched_frontier *progress);
/** The present moment: the number of blocks given back so far. */
FSCHED_API uint64_t fsched_blocks_stamp(const fsched_blocks *b);
/** Says that all use of the blocks given back up to the moment `stamp` is complete (a fence behind
 *  them was reached, or the device was idle): their bytes are fresh again, tainted or not.  O(p log
 *  p). */
FSCHED_API void fsched_blocks_idle(fsched_blocks *b, uint64_t stamp);

/** The number of free bytes, and the length of the longest free run.  O(1). */
FSCHED_API uint64_t fsched_blocks_free_bytes(const fsched_blocks *b);
FSCHED_API uint64_t fsched_blocks_longest(const fsched_blocks *b);
/** The number of pieces, taken ones included; neighbouring fresh bytes are one piece.  O(1). */
FSCHED_API uint32_t fsched_blocks_pieces(const fsched_blocks *b);

#ifdef __cplusplus
}
#endif
#endif
