/* SPDX-License-Identifier: Apache-2.0 */
/* What comes into a program's memories from outside and what leaves them, and when: computed once
 * for a stream, used by all back ends.
 *
 * A given item is a version whose content must lie at its given place before the first command
 * that touches that place; a kept item is a version whose content is final at its kept place once
 * all commands that write there have run.  State items are taken out at the end of the invocation
 * only, because its earlier content may be wanted by then.
 *
 * Memories that back others (stores) belong to the slot and are host memory where the device has
 * memory of its own; the others are pooled: one block, in which each has an offset. */
#ifndef FS_EXEC_IO_H
#define FS_EXEC_IO_H

#include "base/mem.h"
#include "exec/host/byteset.h"
#include "model/stream/stream.h"

typedef struct fs_io_item {
  uint32_t version, buffer, memory;
  uint64_t address, size;
  uint32_t state;            /* index among the state buffers, in order of buffers; FS_NONE */
  uint32_t given;            /* kept: the given item that lies at this very place; FS_NONE */
  uint32_t range0, n_ranges; /* in fs_io.range: what commands touch of it; of kept items that are
                                not given in place, what they write */
  uint32_t touches; /* given: commands that want it; kept: commands that must have run (a gang is
                       one), 0: taken out at the end of the invocation */
} fs_io_item;

typedef struct fs_io {
  uint32_t n_given, n_kept, n_states;
  fs_io_item *given, *kept;
  uint32_t *state; /* buffer of each state */
  /* Per command: given items it touches, and kept items it is one of the writers of. */
  uint32_t *given0, *kept0; /* n_commands + 1 */
  uint32_t *command_given, *command_kept;
  fs_byte_range *range; /* counted from the item's begin; ascending and apart for each item */
  /* Memories. */
  bool *store;                   /* per memory: backs another */
  uint64_t *offset;              /* per memory: in the pooled block, or among the stores */
  uint64_t *gap_end, *gap_bytes; /* per memory: see fs_io_at */
  uint64_t pooled_bytes, store_bytes;
} fs_io;

enum { FS_IO_ALIGN = 256 };

/* Where an address of a memory lies in its block: the longest range of addresses that nothing uses,
 * as between what is placed from one end and from the other, takes no memory. */
static inline uint64_t fs_io_at(const fs_io *io, uint32_t memory, uint64_t address) {
  uint64_t skipped = address >= io->gap_end[memory] ? io->gap_bytes[memory] : 0;
  return io->offset[memory] + address - skipped;
}

/* Everything in the arena.  Requires a stream that fs_stream_check has accepted.  O(places * log +
 * versions * log). */
fs_status fs_io_make(fs_arena *arena, const fs_stream *s, fs_io *io) FS_MUST_USE;

#endif
