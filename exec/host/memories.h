/* SPDX-License-Identifier: Apache-2.0 */
/* The memories of a stream on the host, at the compiled addresses: a block of stores, which belongs
 * to the slot, and a pooled block, which may differ in each invocation.  fs_stream_check has proven
 * that every place, given and kept address lies within its memory's extent. */
#ifndef FS_EXEC_MEMORIES_H
#define FS_EXEC_MEMORIES_H

#include "base/context.h"
#include "exec/host/io.h"

typedef struct fs_memories {
  const fs_io *io;
  uint8_t **base; /* per memory: the block it lies in */
  uint32_t n;
  uint8_t *stores, *own; /* mapped; own is NULL when the pooled block comes from elsewhere */
} fs_memories;

/* Host memory: pages are zero, and are taken when they are first touched.  FSCHED_SYSTEM when the
 * machine refuses.  Requires a place for the answer. */
fs_status fs_host_take(fsched_context *ctx, uint64_t bytes, void **out) FS_MUST_USE;
/* Reports that `who` would take more than the limit, with the need, the limit and the machine's
 * memory.  Returns FSCHED_SYSTEM. */
fs_status fs_refuse_memory(fsched_context *ctx, const char *who, uint64_t need,
                           uint64_t limit) FS_MUST_USE;
void fs_host_give(void *memory, uint64_t bytes); /* NULL is ignored */

/* Takes the stores and, unless `pooled`, the other memories too; the table is in the arena.
 * FSCHED_SYSTEM when they exceed `limit` bytes together or the machine refuses.  Requires the
 * stream's fs_io. */
fs_status fs_memories_take(fsched_context *ctx, fs_arena *arena, const fs_stream *s,
                           const fs_io *io, uint64_t limit, bool pooled,
                           fs_memories *m) FS_MUST_USE;
/* Requires a block, if anything is pooled. */
void fs_memories_use(fs_memories *m, void *block); /* the block has io->pooled_bytes */
void fs_memories_release(fs_memories *m);          /* after a failed take and for {0} too */

/* Requires a memory of the stream. */
static inline uint8_t *fs_memories_at(const fs_memories *m, uint32_t memory, uint64_t address) {
  FS_ASSERT_SLOW(memory < m->n);
  return m->base[memory] + fs_io_at(m->io, memory, address);
}

#endif
