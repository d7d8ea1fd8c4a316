/* SPDX-License-Identifier: Apache-2.0 */
/* Strided views of the bytes of a buffer: elements of one size, at the points of a lattice of up to
 * FS_VIEW_DIMS dimensions.  Whether two share bytes, or one has all of another's, is told exactly,
 * from the runs of consecutive bytes that they are made of:
 *
 *     offset 0, shape 2 x 2, strides 64 and 4, element 4:   [0, 8) [64, 72)
 *
 * Runs are looked up from both sides in turn, each search skipping what lies before the other's
 * run, so tiles of like strides cost no more than the rows that they share.  Lattices that
 * interleave in many places may take long: after MOST steps the answer is FS_OVERLAP_PARTIAL, which
 * is said of views of which nothing is known; never FS_OVERLAP_NONE or FS_OVERLAP_COVERED. */
#ifndef FS_VIEW_H
#define FS_VIEW_H

#include "base/base.h"

enum { FS_VIEW_DIMS = 5, FS_VIEW_STEPS = 65536 };

/* Sizes, offsets and strides are of bytes.  A stride of 0 repeats the same bytes. */
typedef struct fs_view {
  uint64_t offset;
  uint64_t element; /* at least 1 */
  uint32_t n_dims;  /* 0: one element */
  uint64_t shape[FS_VIEW_DIMS], stride[FS_VIEW_DIMS];
} fs_view;

/* A view as its runs of bytes.  Dimensions are by descending stride; steps that leave no gap are
 * part of the run, steps that go on with those of another dimension are part of that one. */
typedef struct fs_view_runs {
  uint64_t offset, run; /* bytes of a run; 0: the view is empty */
  uint32_t n_dims;
  uint64_t shape[FS_VIEW_DIMS], stride[FS_VIEW_DIMS];
  uint64_t extent[FS_VIEW_DIMS + 1]; /* of what dimensions from this one on span, in bytes */
} fs_view_runs;

typedef enum fs_overlap { FS_OVERLAP_NONE, FS_OVERLAP_PARTIAL, FS_OVERLAP_COVERED } fs_overlap;

/* Whether a view has no more dimensions than there may be, an element, and an end below 2^63.
 * Complexity: O(dimensions). */
bool fs_view_valid(const fs_view *v);
/* Behind its last byte; its offset if it is empty.  Requires a valid view. */
uint64_t fs_view_end(const fs_view *v);
/* How many elements it has, saturating; each place counts as often as it is one.  Requires a valid
 * view. */
uint64_t fs_view_elements(const fs_view *v);
/* Whether two of its elements share bytes, as far as FS_VIEW_STEPS tell; then it may not be
 * written. Requires a valid view. */
bool fs_view_overlaps_itself(const fs_view *v);

/* Requires a valid view.  Complexity: O(dimensions^2). */
fs_view_runs fs_view_runs_of(const fs_view *v);
/* Whether there are so few runs (FS_VIEW_STEPS) that each is looked at.  Else a view counts as all
 * bytes from its first to its last one, as fs_view_pieces_of says. */
static inline bool fs_view_fine(const fs_view_runs *v) {
  uint64_t runs = 1;
  for (uint32_t d = 0; d < v->n_dims; d++) {
    runs = v->shape[d] > FS_VIEW_STEPS ? UINT64_MAX : runs * v->shape[d];
    runs = runs > FS_VIEW_STEPS ? (uint64_t)FS_VIEW_STEPS + 1 : runs;
  }
  return runs <= FS_VIEW_STEPS;
}
/* The runs, or one that has them all if they are not few.  Requires a valid view. */
fs_view_runs fs_view_pieces_of(const fs_view *v);
/* One run of n bytes. */
static inline fs_view_runs fs_view_range(uint64_t offset, uint64_t n) {
  return (fs_view_runs){.offset = offset, .run = n, .extent = {n}};
}
/* The first run that ends behind `from`: [*low, *high); false: none does.  *steps grows by the
 * places that were looked at.  Complexity: O(dimensions) where no two rows interleave. */
bool fs_view_next(const fs_view_runs *v, uint64_t from, uint64_t *low, uint64_t *high,
                  uint32_t *steps);

/* All runs in turn, without repeats:
 *
 *     for (fs_view_walk w = {.at = 0}; fs_view_walk_on(&runs, &w);) {  ... [w.low, w.high) ...  }
 */
typedef struct fs_view_walk {
  uint64_t at, low, high;
} fs_view_walk;
bool fs_view_walk_on(const fs_view_runs *v, fs_view_walk *w);

/* Whether one view is a box of the elements of another, which has strides and dimensions like its
 * own: then `entry` has all bytes of `part`, however many they are.  False tells nothing.
 * Complexity: O(dimensions). */
bool fs_view_has_box(const fs_view_runs *entry, const fs_view_runs *part);
/* How the bytes of `probe` lie to those of `entry`: FS_OVERLAP_COVERED if it has all of them,
 * FS_OVERLAP_NONE if they share none.  Nothing is covered by everything.  *gave_up (may be NULL)
 * tells that FS_VIEW_STEPS were not enough, which they always are for a box.  Complexity: O(runs of
 * the one with fewer, and of the other's that lie between them). */
fs_overlap fs_view_overlap(const fs_view_runs *probe, const fs_view_runs *entry, bool *gave_up);

#endif
