/* SPDX-License-Identifier: Apache-2.0 */
/* The content that enters a program's memories from outside and leaves them, and when: computed
 * once for a stream, used by all back ends.
 *
 * A given item is a version whose content must lie at its given place before the first command
 * that touches that place; a kept item is a version whose content is final at its kept place once
 * all commands that write there have run.  State items are taken out only at the end of the
 * invocation, because the state's earlier content may be needed until then.
 *
 * Memories that back other memories (stores), and those of the host, belong to the slot, and are
 * host memory where the device has memory of its own.  All other memories are pooled: they share
 * one block, in which each has an offset. */
#ifndef FS_EXEC_IO_H
#define FS_EXEC_IO_H

#include "base/mem.h"
#include "exec/host/byteset.h"
#include "model/stream/stream.h"

typedef struct fs_io_item {
  uint32_t version, buffer, memory;
  uint64_t base;          /* address of the version there */
  uint64_t address, size; /* of the item: all of the version, or a slot */
  uint32_t state; /* index among the state buffers, which are in order of buffers; FS_NONE */
  uint32_t given; /* kept: the given item that lies at this very place; FS_NONE */
  uint32_t range0, n_ranges; /* in fs_io.range: the bytes that commands touch; of kept items that
                                are not given in place, the bytes that commands write */
  uint32_t touches; /* given: number of commands that want it; kept: number of commands that must
                       have run, 0: taken out at the end of the invocation (a gang counts as one) */
} fs_io_item;

typedef struct fs_io {
  uint32_t n_given, n_kept, n_states;
  fs_io_item *given, *kept;
  uint32_t *state; /* buffer of each state */
  /* CSR by command: the given items that it touches, and the kept items that it writes. */
  uint32_t *given0, *kept0; /* n_commands + 1 */
  uint32_t *command_given, *command_kept;
  fs_byte_range *range; /* offsets from the item's begin; ascending and disjoint for each item */
  /* Memories. */
  bool *store;      /* per memory: it backs another one, or is the host's */
  uint64_t *offset; /* per memory: offset in the pooled block, or in the block of stores */
  uint64_t *gap_end, *gap_bytes; /* per memory: see fs_io_at */
  uint64_t pooled_bytes, store_bytes;
} fs_io;

enum { FS_IO_ALIGN = 256 };

/* The offset of a memory's address in its block.  The longest range of addresses that no place
 * uses, such as the gap between places at either end, takes no memory. */
static inline uint64_t fs_io_at(const fs_io *io, uint32_t memory, uint64_t address) {
  uint64_t skipped = address >= io->gap_end[memory] ? io->gap_bytes[memory] : 0;
  return io->offset[memory] + address - skipped;
}

/* Makes all of it in the arena.  Requires a stream that fs_stream_check has accepted.  O(places *
 * log + versions * log). */
fs_status fs_io_make(fs_arena *arena, const fs_stream *s, fs_io *io) FS_MUST_USE;

#endif
