/* SPDX-License-Identifier: Apache-2.0 */
/* Which orderings a stream needs, and why: those between ops from their tags, in program order, and
 * those from the places of the commands, in an order in which these could run:
 *   - an op after those whose data it reads, and (hazards: sequential) after those that read or
 *     wrote what it overwrites; after those that its `after` names;
 *   - a copy, or what follows one, by the bytes of the version that both touch;
 *   - an op after those that access other bytes of a version that a counted memory holds as a whole
 *     (hazards: sequential), unless both only read;
 *   - whoever takes bytes, units of a counted memory or of a resource, or a slot, after those that
 *     had them last.
 * An item is what runs at once: a command, or all members of a gang; it is called by the first of
 * its commands in `order`.
 *
 * What the compiler wants (lib/waits/waits.h) is among these or follows from them; there may be
 * more here, since the compiler leaves out early what other orderings give.
 *
 * Requires a stream that fs_stream_check has accepted (of a wrong one, the result is safe to use
 * and may hold orderings against the order of the commands).
 * Complexity: expected O((places + args + orderings) log). */
#ifndef FS_STREAM_WANTS_H
#define FS_STREAM_WANTS_H

#include "model/stream/order.h"

/* By what explains a start best. */
typedef enum fs_want_why {
  FS_WANT_DATA,      /* reads what the other wrote */
  FS_WANT_OVERWRITE, /* writes over what the other reads */
  FS_WANT_REWRITE,   /* writes over what the other wrote */
  FS_WANT_UNITS,     /* other bytes of a version whose units both hold as a whole */
  FS_WANT_AFTER,     /* the op's `after` */
  FS_WANT_REUSE,     /* takes its bytes, or its units of a counted memory */
  FS_WANT_RESOURCE,
  FS_WANT_CONCURRENCY
} fs_want_why;

typedef struct fs_want {
  uint32_t from;      /* the item that comes before */
  uint32_t version;   /* of the later one; FS_NONE: scratch, resource, slot, after */
  uint32_t old;       /* REUSE: what the earlier one has there; FS_NONE: scratch */
  uint32_t index;     /* memory, resource; FS_NONE where no place says so */
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
