/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of places of one command that overlap, although one of the two is written and they are not
 * of one version.
 *
 * Most commands have none, however many of their places overlap: those of one version do, and those
 * that are only read.  So these are not looked at one by one.
 * Complexity: O(places log) and, for each place that overlaps one of another version while one of
 * the two is written, O(places that overlap it). */
#ifndef FS_VERIFY_OVERLAP_H
#define FS_VERIFY_OVERLAP_H

#include "base/mem.h"
#include "model/stream/stream.h"

/* Which end last of the places met so far: of those of one version, and of all other versions. */
typedef struct fs_voverlap_ends {
  uint64_t owner[2], end[2];
} fs_voverlap_ends;

typedef struct fs_voverlap {
  const fs_stream_place **sorted, **open;
  uint32_t n_open;
  fs_voverlap_ends all, written;
} fs_voverlap;

/* Room for any command of the stream, in `arena`.  Errors: FSCHED_SYSTEM. */
fs_status fs_voverlap_init(fs_arena *arena, const fs_stream *s, fs_voverlap *o) FS_MUST_USE;

/* Whether two places may overlap; `a` begins no later. */
typedef bool (*fs_voverlap_may)(void *x, const fs_stream_place *a, const fs_stream_place *b);

/* The first pair, by the begin of the later one, that overlaps and of which `may` says no; false:
 * there is none.  `may` is not asked about two of one version in a memory, nor of two that are only
 * read there.  Requires (unchecked: the program was opened) addresses and sizes as
 * fsched_program_open accepts them.  Requires as many places as a command of the stream may
 * have. */
bool fs_voverlap_find(fs_voverlap *o, const fs_stream_place *place, uint32_t n, fs_voverlap_may may,
                      void *x, const fs_stream_place **a, const fs_stream_place **b);

#endif
