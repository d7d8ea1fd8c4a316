/* SPDX-License-Identifier: Apache-2.0 */
/* Loops with fewer iterations that leave as much to each other as before: those in the middle,
 * which are like their neighbours, are left out, and with them the bytes that only they touch. */
#ifndef FS_SHORTER_H
#define FS_SHORTER_H

#include "front/builder/bodies.h"

typedef struct fs_shorter {
  uint64_t *trip;    /* per loop: the iterations that are left */
  uint64_t *removed; /* per loop: so many are left out */
  bool whole;        /* none are */
  bool unknown;      /* no shorter loops are known that do: the builder is as it was */
} fs_shorter;

/* Makes the loops of a builder shorter, which has `trip` iterations of each, so that at most `most`
 * instances of ops are left, or two iterations of each loop.  Where bytes of a buffer are not passed
 * alike by all loops that are cut, or loops are very many, there are none.  Requires loops without faults, and a
 * builder without parameters. Complexity: O((args + ops)^2 + loops^2), whatever the trips are.
 * Errors: FSCHED_SYSTEM. */
fs_status fs_builder_shorten(fsched_builder *b, const uint64_t *trip, uint64_t most,
                             fs_arena *scratch, fs_shorter *out) FS_MUST_USE;

#endif
