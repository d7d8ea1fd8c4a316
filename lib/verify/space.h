/* SPDX-License-Identifier: Apache-2.0 */
/* The last accesses to every interval: cells behind the intervals of verify/map.h.
 *
 * A cell knows the accesses of its interval that a later access has to be ordered after: the last
 * writers (several where they are members of one gang, or race), the readers since, and the content
 * of the bytes.  Lists are nodes in one pool. */
#ifndef FS_VERIFY_SPACE_H
#define FS_VERIFY_SPACE_H

#include "verify/map.h"

typedef struct fs_vnode {
  uint32_t who;     /* op or command */
  uint32_t version; /* the version that was accessed */
  uint32_t next;
} fs_vnode;

typedef struct fs_vcell {
  uint32_t writers, readers; /* lists of nodes */
  uint32_t version;          /* version whose bytes lie here; FS_NONE: of none */
  uint32_t stamp;            /* op that wrote these bytes */
  uint64_t base;             /* address where byte 0 of the version would lie */
} fs_vcell;

typedef struct fs_vpool {
  fsched_context *ctx;
  fs_arena *arena; /* of the maps */
  FS_VEC(fs_vnode) node;
  FS_VEC(fs_vcell) cell;
  uint32_t free_node, free_cell;
} fs_vpool;

/* Requires a context and an arena. */
void fs_vpool_init(fs_vpool *p, fsched_context *ctx, fs_arena *arena);
void fs_vpool_free(fs_vpool *p);

/* Cuts the map at lo and hi, so that [lo, hi) is a run of whole intervals; cells and their lists
 * are copied.  *at is the breakpoint at lo.  Requires lo < hi. */
fs_status fs_vpool_cut(fs_vpool *p, fs_vmap *map, uint64_t lo, uint64_t hi,
                       fs_vmap_cursor *at) FS_MUST_USE;
/* Gets the cell of an interval, and makes it when there is none. */
fs_status fs_vpool_cell(fs_vpool *p, fs_vmap *map, fs_vmap_cursor at, uint32_t *cell) FS_MUST_USE;
/* Makes [first, hi), whose two ends were cut before, one interval with one empty cell.  Requires a
 * breakpoint of the map, below `hi`. */
fs_status fs_vpool_assign(fs_vpool *p, fs_vmap *map, fs_vmap_cursor first, uint64_t hi,
                          uint32_t *cell) FS_MUST_USE;
/* Prepends a reader to the cell's list.  Requires a cell. */
fs_status fs_vpool_push_reader(fs_vpool *p, uint32_t cell, uint32_t who,
                               uint32_t version) FS_MUST_USE;
/* Prepends a writer to the cell's list.  Requires a cell. */
fs_status fs_vpool_push_writer(fs_vpool *p, uint32_t cell, uint32_t who,
                               uint32_t version) FS_MUST_USE;
/* Empties a list. */
void fs_vpool_drop(fs_vpool *p, uint32_t *head);

#endif
