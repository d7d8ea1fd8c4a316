/* SPDX-License-Identifier: Apache-2.0 */
/* Which rectangles (time by address) follow each other directly at some address.
 *
 * Rectangle b contacts a when a was the last one before b over an interval of positive height:
 * they touch, or nothing lies between them.  Rectangles of height 0 have no contacts; those of no
 * duration take part like others.  Where a rectangle starts before another at the same place has
 * ended (an in-place output over its input), the later one follows the earlier one.
 * Order: begin, then end, then id.  Each pair is reported once, ascending by the later rectangle.
 * Complexity: O((n + contacts) log n). */
#ifndef FS_SWEEP_H
#define FS_SWEEP_H

#include "base/context.h"
#include "base/mem.h"

typedef struct fs_rect {
  fs_tick begin, end;
  uint64_t low, high; /* addresses [low, high) */
  uint32_t space;     /* only rectangles of one space meet */
  uint32_t id;        /* distinct */
} fs_rect;

typedef fs_status (*fs_contact_fn)(void *user, uint32_t earlier, uint32_t later);

/* Sorts `rects`.  Requires distinct ids below n_ids.  Errors: FSCHED_SYSTEM, or what `fn`
 * returns. */
fs_status fs_sweep_contacts(fsched_context *ctx, fs_rect *rects, uint32_t n, uint32_t n_ids,
                            fs_contact_fn fn, void *user) FS_MUST_USE;

#endif
