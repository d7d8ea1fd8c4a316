/* SPDX-License-Identifier: Apache-2.0 */
/* One arena per memory of a stream, at the compiled addresses.  fs_stream_check has proven every
 * place, given and kept address to lie within its memory's extent. */
#ifndef FS_EXEC_MEMORIES_H
#define FS_EXEC_MEMORIES_H

#include "context.h"
#include "mem.h"
#include "stream.h"

typedef struct fs_memories {
  uint32_t n;
  uint8_t **base; /* per memory; mapped, at least a page */
  size_t *size;
} fs_memories;

/* Reserves address space (the table of it in the arena); pages are zero and taken when they are
 * touched.  FSCHED_SYSTEM when the extents exceed 2^limit_log2 bytes together or the machine
 * refuses. */
fs_status fs_memories_reserve(fs_arena *arena, const fs_stream *s, uint32_t limit_log2,
                              fs_memories *m) FS_MUST_USE;
void fs_memories_release(fs_memories *m); /* after a failed reserve and for {0} too */

static inline uint8_t *fs_memories_at(const fs_memories *m, uint32_t memory, uint64_t address) {
  return m->base[memory] + address;
}

#endif
