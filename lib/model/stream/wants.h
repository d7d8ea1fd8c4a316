/* SPDX-License-Identifier: Apache-2.0 */
/* The orderings that a stream needs, and their reasons: orderings between ops follow from their
 * tags, in program order; others from the places of the commands, in an order in which these could
 * run:
 *   - an op comes after the ops whose data it reads, after those that its `after` names, and
 *     (hazards: sequential) after those that read or wrote bytes that it overwrites;
 *   - copies, and the accesses after them, are ordered by the bytes of the version that both touch;
 *   - an op comes after those that access other bytes of a version that a counted memory holds as a
 *     whole (hazards: sequential), unless both only read;
 *   - an item that takes bytes, units of a counted memory or of a resource, or a slot comes after
 *     the items that had them last.
 * An item is a command, or all members of a gang, which run at once; its id is the first of its
 * commands in `order`.
 *
 * The compiler's wanted orderings (lib/waits/waits.h) are among these or follow from them; there
 * may be more here, since the compiler drops early the orderings that others imply.
 *
 * Requires a stream that fs_stream_check has accepted (for an invalid stream the result is safe to
 * use and may hold orderings against the order of the commands).
 * Complexity: expected O((places + args + orderings) log). */
#ifndef FS_STREAM_WANTS_H
#define FS_STREAM_WANTS_H

#include "model/stream/order.h"

/* In the order of how well each explains a start. */
typedef enum fs_want_why {
  FS_WANT_DATA,      /* reads bytes that the other wrote */
  FS_WANT_OVERWRITE, /* overwrites bytes that the other reads */
  FS_WANT_REWRITE,   /* overwrites bytes that the other wrote */
  FS_WANT_UNITS,     /* other bytes of a version whose units both hold as a whole */
  FS_WANT_AFTER,     /* the op's `after` */
  FS_WANT_REUSE,     /* takes its bytes, or its units of a counted memory */
  FS_WANT_RESOURCE,
  FS_WANT_CONCURRENCY
} fs_want_why;

typedef struct fs_want {
  uint32_t from;      /* the item that comes before */
  uint32_t version;   /* of the later one; FS_NONE: scratch, resource, slot, after */
  uint32_t old;       /* REUSE: the version of the earlier item there; FS_NONE: scratch */
  uint32_t index;     /* memory or resource; FS_NONE where the want has no place */
  uint64_t low, high; /* REUSE, RESOURCE, CONCURRENCY: bytes or units that both have */
  uint8_t why;        /* fs_want_why */
  uint8_t space;      /* fs_space */
} fs_want;

typedef struct fs_wants {
  uint32_t *position;        /* per command: its index in the order */
  uint32_t *item;            /* per command */
  uint32_t *n_members;       /* per item: its commands, which follow each other in the order */
  uint32_t *want0, *n_wants; /* per item */
  fs_want *want;             /* of an item: later `from` first, then by why */
} fs_wants;

/* The arrays live in `arena`.  Errors: FSCHED_SYSTEM. */
fs_status fs_stream_wants_find(fs_arena *arena, const fs_stream *s, const fs_stream_order *order,
                               fs_wants *out) FS_MUST_USE;

#endif
