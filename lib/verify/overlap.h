/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of places of one command that overlap, although one of the two is written and they belong
 * to different versions.
 *
 * Most commands have no such pair, even if many of their places overlap: usually the overlapping
 * places belong to one version, or are only read.  These pairs are therefore not visited one by
 * one.
 * Complexity: O(places log) and, for each place that overlaps one of another version while one of
 * the two is written, O(places that overlap it). */
#ifndef FS_VERIFY_OVERLAP_H
#define FS_VERIFY_OVERLAP_H

#include "base/mem.h"
#include "model/stream/stream.h"

/* The latest end among the places met so far, with its owner, and the latest end among the places
 * of all other owners. */
typedef struct fs_voverlap_ends {
  uint64_t owner[2], end[2];
} fs_voverlap_ends;

typedef struct fs_voverlap {
  const fs_stream_place **sorted, **open;
  uint32_t n_open;
  fs_voverlap_ends all, written;
} fs_voverlap;

/* Makes room in `arena` for the places of any command of the stream, and of its loops.  Errors:
 * FSCHED_SYSTEM. */
fs_status fs_voverlap_init(fs_arena *arena, const fs_stream *s, fs_voverlap *o) FS_MUST_USE;

/* Decides whether two places may overlap; `b` does not begin before `a`. */
typedef bool (*fs_voverlap_may)(void *x, const fs_stream_place *a, const fs_stream_place *b);

/* Finds the first pair, by the begin of the later place, that overlaps and that `may` refuses;
 * false if there is none.  `may` is not called for two places of one version in a memory, nor for
 * two that are only read there.  Requires (unchecked: the program was opened) addresses and sizes
 * as fsched_program_open accepts them.  Requires as many places as a command of the stream may
 * have. */
bool fs_voverlap_find(fs_voverlap *o, const fs_stream_place *place, uint32_t n, fs_voverlap_may may,
                      void *x, const fs_stream_place **a, const fs_stream_place **b);

#endif
