/* SPDX-License-Identifier: Apache-2.0 */
/* Who accesses which bytes: for each place (a buffer, or a buffer on one queue) the accesses of
 * tasks that still matter, writes apart from reads.
 *
 * A write takes out what it covers exactly: an access all of whose bytes it writes is never found
 * again, as whoever comes later is ordered after the write.  An access stays until then, or until
 * its task is dropped.
 *
 * Each place has two interval trees of the spans of its accesses, so what lies apart by its span
 * costs nothing; views whose spans overlap are compared run by run (base/view.h), and count as
 * overlapping where FS_VIEW_STEPS do not tell.  One thread at a time. */
#ifndef FS_DYNAMIC_ACCESSES_H
#define FS_DYNAMIC_ACCESSES_H

#include "base/mem.h"
#include "base/ranges.h"
#include "base/view.h"

typedef struct fs_task_access {
  uint64_t low, high; /* its span, [low, high) */
  uint64_t order;     /* of insertion */
  uint32_t task, place;
  uint32_t previous, next; /* of the task; `next` links unused ids as well */
  bool reads;              /* it does not write */
  bool strided; /* its runs are those in `strided` of the map, by its id; else it is one */
} fs_task_access;

typedef struct fs_access_place {
  uint32_t writes, reads; /* sets of `spans` */
} fs_access_place;

typedef struct fs_access_order {
  uint64_t order;
  uint32_t access;
} fs_access_order;

typedef struct fs_access_map {
  fsched_context *ctx;
  fs_ranges spans;
  FS_VEC(fs_task_access) access;
  FS_VEC(fs_view_runs) strided;
  FS_VEC(fs_access_place) place;
  FS_VEC(uint32_t) of_task;      /* the last access of each task, or FS_NONE */
  fs_ids near;                   /* scratch: what spans have found */
  FS_VEC(fs_access_order) found; /* what fs_accesses_find has found, in order of insertion */
  uint32_t unused;
  uint32_t n; /* accesses */
  uint64_t next_order;
} fs_access_map;

/* Requires a context. */
void fs_accesses_init(fs_access_map *m, fsched_context *ctx);
void fs_accesses_release(fs_access_map *m);
/* Makes `n` places; *first is the first one's id. */
fs_status fs_accesses_places(fs_access_map *m, uint32_t n, uint32_t *first) FS_MUST_USE;
/* Makes room, so that the next n insertions for tasks below `n_tasks` cannot fail; `strided`: some
 * of them have more than one run.  Requires that there are fewer than 2^32 - 1 accesses. */
fs_status fs_accesses_reserve(fs_access_map *m, uint32_t n, uint32_t n_tasks,
                              bool strided) FS_MUST_USE;

/* Sets m->found to the writes, and with `reads` to the reads as well, that share bytes with the
 * runs.  Requires a place.  O((log n + 1) (k + 1)) steps for k accesses whose spans overlap. */
fs_status fs_accesses_find(fs_access_map *m, uint32_t place, const fs_view_runs *runs,
                           bool reads) FS_MUST_USE;
/* Adds an access for which there is room; without bytes it is none.  A write takes out what it
 * covers.  Requires a place.  Cost: as fs_accesses_find. */
void fs_accesses_insert(fs_access_map *m, uint32_t place, uint32_t task, const fs_view_runs *runs,
                        bool reads);
/* Takes out all accesses of a task.  Requires a task for which there was room.  O(log n) each. */
void fs_accesses_drop_task(fs_access_map *m, uint32_t task);
/* Takes out all accesses of a place.  Requires a place.  O(log n) each. */
void fs_accesses_drop_place(fs_access_map *m, uint32_t place);

#endif
