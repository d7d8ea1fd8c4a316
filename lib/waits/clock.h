/* SPDX-License-Identifier: Apache-2.0 */
/* Exact vector clocks: per queue axis the epoch up to which everything is known to be complete.
 *
 * A clock is a tree of nodes of at most 64 words with shared, reference-counted parts; absent parts
 * are zero.  So a clock costs what is new in it, however many queues there are, and two clocks that
 * share a part are compared there in one step.  Id 0 is the clock that knows nothing. */
#ifndef FS_CLOCK_H
#define FS_CLOCK_H

#include "base/context.h"
#include "base/mem.h"

typedef uint32_t fs_clock;

typedef struct fs_clocks {
  fsched_context *ctx;
  uint32_t width;  /* words of a node: axes of a leaf, children of an inner node */
  uint32_t shift;  /* log2(width) */
  uint32_t levels; /* 1: the root is a leaf */
  uint32_t free_node;
  uint32_t n_nodes; /* ever used, node 0 included */
  FS_VEC(uint32_t *) block;
} fs_clocks;

/* Requires fewer than 2^32 - 1 axes. */
fs_status fs_clocks_init(fsched_context *ctx, fs_clocks *c, uint32_t n_axes) FS_MUST_USE;
void fs_clocks_release(fs_clocks *c); /* with all clocks */

/* The node after a free one in the list from c->free_node; 0 at its end.  Requires a node. */
uint32_t fs_clocks_next_free(const fs_clocks *c, uint32_t node);

/* A clock variable owns one reference.  Requires a clock that is referred to. */
fs_clock fs_clock_share(fs_clocks *c, fs_clock clock);
/* Requires a clock that is referred to. */
void fs_clock_drop(fs_clocks *c, fs_clock clock);

/* Requires a clock that is referred to. */
uint32_t fs_clock_get(const fs_clocks *c, fs_clock clock, uint32_t axis);
/* Component maximum with {axis: epoch}; *clock changes.  Requires an epoch above 0.  O(width *
 * levels). */
fs_status fs_clock_raise(fs_clocks *c, fs_clock *clock, uint32_t axis, uint32_t epoch) FS_MUST_USE;
/* Component maximum with `other`; *clock changes.  Requires clocks that are referred to.  O(parts
 * that differ). */
fs_status fs_clock_merge(fs_clocks *c, fs_clock *clock, fs_clock other) FS_MUST_USE;

/* Calls fn for every axis with an epoch of at least *floor, ascending; fn may raise the floor.
 * Sets *left_out if there are lower epochs.  O(parts that reach the floor). */
typedef struct fs_clock_entry {
  uint32_t axis, epoch;
} fs_clock_entry;
typedef fs_status (*fs_clock_fn)(void *user, fs_clock_entry entry);
/* Requires a floor that stays while this runs. */
fs_status fs_clock_each(const fs_clocks *c, fs_clock clock, const uint32_t *floor, fs_clock_fn fn,
                        void *user, bool *left_out) FS_MUST_USE;

#endif
