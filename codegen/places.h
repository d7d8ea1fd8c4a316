/* SPDX-License-Identifier: Apache-2.0 */
/* The places that each item touches, as places of the stream (lib/model/stream/stream.h,
 * fs_stream_place). */
#ifndef FS_PLACES_H
#define FS_PLACES_H

#include "codegen/layout.h"
#include "model/stream/stream.h"
#include "model/sync.h"

typedef struct fs_command_places {
  const fs_schedule *s;
  const fs_sync *sync;
  const fs_layout *layout;
  /* CSR of lane ids: per residency (counted memories) and per item (resources, concurrency). */
  uint32_t *res_lane0, *res_lane;
  uint32_t *item_lane0, *item_lane;
  /* Scratch: the residency's first interval in the list that is being made, valid where res_seen is
   * the number of that list. */
  uint32_t *res_seen, *res_at;
  uint32_t list;
} fs_command_places;

/* Requires the lanes of the schedule. */
fs_status fs_places_make(fs_arena *arena, const fs_schedule *s, const fs_sync *sync,
                         const fs_layout *layout, fs_command_places *out) FS_MUST_USE;
/* Writes the places of an item to `out` and returns their number; where `out` is NULL, only counts
 * them.  Requires an item of the schedule. */
uint32_t fs_places_of(fs_command_places *p, uint32_t item, fs_stream_place *out);

#endif
