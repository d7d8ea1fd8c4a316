/* SPDX-License-Identifier: Apache-2.0 */
/* Memory is mapped rather than allocated: address space is reserved for the whole extent, and the
 * system gives zero pages where they are touched. */
#include "exec/host/memories.h"

#include "exec/host/machine_memory.h"

#include <sys/mman.h>

enum { PAGE = 4096 };

/* The size of a mapping: at least a page, so that a place of size 0 has a valid address too. */
static size_t mapped_size(uint64_t bytes) { return (size_t)fs_max(bytes, PAGE); }

fs_status fs_host_take(fsched_context *ctx, uint64_t bytes, void **out) {
  assert(out != NULL);
  void *base = MAP_FAILED;
  if (bytes <= SIZE_MAX / 2) {
    base = mmap(NULL, mapped_size(bytes), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  if (base == MAP_FAILED) {
    return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_REPLAY_MEMORY, FS_NOWHERE, NULL,
                   "the machine refuses %llu bytes of memory", (unsigned long long)bytes);
  }
  *out = base;
  return FSCHED_OK;
}

void fs_host_give(void *memory, uint64_t bytes) {
  if (memory != NULL) {
    (void)munmap(memory, mapped_size(bytes));
  }
}

fs_status fs_refuse_memory(fsched_context *ctx, const char *who, uint64_t need, uint64_t limit) {
  return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_REPLAY_MEMORY, FS_NOWHERE,
                 "run --memory-limit, or memory_limit of the device's options, is another limit",
                 "%s needs %llu bytes of memory, the limit is %llu; the machine has %llu", who,
                 (unsigned long long)need, (unsigned long long)limit,
                 (unsigned long long)fs_machine_memory());
}

static fs_status check_limit(fsched_context *ctx, const fs_io *io, uint64_t limit, bool pooled) {
  uint64_t need = io->store_bytes + (pooled ? 0 : io->pooled_bytes);
  if (need <= limit) {
    return FSCHED_OK;
  }
  return fs_refuse_memory(ctx, "replay", need, limit);
}

void fs_memories_use(fs_memories *m, void *block) {
  assert(block != NULL || m->io->pooled_bytes == 0);
  for (uint32_t i = 0; i < m->n; i++) {
    m->base[i] = m->io->store[i] ? m->stores : block;
  }
}

fs_status fs_memories_take(fsched_context *ctx, fs_arena *arena, const fs_stream *s,
                           const fs_io *io, uint64_t limit, bool pooled, fs_memories *m) {
  assert(io->offset != NULL || s->n_memories == 0);
  *m = (fs_memories){.io = io};
  FS_TRY(check_limit(ctx, io, limit, pooled));
  FS_TRY(fs_new(arena, &m->base, s->n_memories));
  void *block;
  FS_TRY(fs_host_take(ctx, io->store_bytes, &block));
  m->stores = block;
  m->n = s->n_memories;
  if (!pooled) {
    FS_TRY(fs_host_take(ctx, io->pooled_bytes, &block));
    m->own = block;
    fs_memories_use(m, m->own);
  }
  return FSCHED_OK;
}

void fs_memories_release(fs_memories *m) {
  if (m->io != NULL) {
    fs_host_give(m->stores, m->io->store_bytes);
    fs_host_give(m->own, m->io->pooled_bytes);
  }
  *m = (fs_memories){0};
}
