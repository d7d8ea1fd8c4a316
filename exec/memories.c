/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas are mapped rather than allocated: address space is reserved for the whole extent, and the
 * system gives zero pages where they are touched. */
#include "memories.h"

#include <sys/mman.h>

enum { PAGE = 4096 };

static fs_status check_limit(fsched_context *ctx, const fs_stream *s, uint32_t limit_log2) {
  uint64_t have = limit_log2 < 63 ? UINT64_C(1) << limit_log2 : UINT64_C(1) << 63;
  uint64_t need = 0;
  for (uint32_t i = 0; i < s->n_memories; i++) {
    uint64_t extent = s->memories[i].extent;
    need = extent > UINT64_MAX - need ? UINT64_MAX : need + extent;
  }
  if (need <= have && need <= SIZE_MAX / 2) {
    return FSCHED_OK;
  }
  return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_REPLAY_MEMORY, FS_NOWHERE, NULL,
                 "replay needs %llu bytes of memory, the limit is %llu", (unsigned long long)need,
                 (unsigned long long)have);
}

/* At least a page, so that a place of size 0 has a valid address too. */
static fs_status map_one(fsched_context *ctx, fs_memories *m, uint64_t extent) {
  size_t size = extent == 0 ? PAGE : (size_t)extent;
  void *base =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return fs_fail(ctx, FSCHED_SYSTEM, FS_DIAG_REPLAY_MEMORY, FS_NOWHERE, NULL,
                   "the machine refuses %llu bytes of memory", (unsigned long long)size);
  }
  m->base[m->n] = base;
  m->size[m->n++] = size;
  return FSCHED_OK;
}

fs_status fs_memories_reserve(fs_arena *arena, const fs_stream *s, uint32_t limit_log2,
                              fs_memories *m) {
  *m = (fs_memories){0};
  FS_TRY(check_limit(arena->ctx, s, limit_log2));
  FS_TRY(fs_new(arena, &m->base, s->n_memories));
  FS_TRY(fs_new(arena, &m->size, s->n_memories));
  for (uint32_t i = 0; i < s->n_memories; i++) {
    FS_TRY(map_one(arena->ctx, m, s->memories[i].extent));
  }
  return FSCHED_OK;
}

void fs_memories_release(fs_memories *m) {
  for (uint32_t i = 0; i < m->n; i++) {
    (void)munmap(m->base[i], m->size[i]);
  }
  *m = (fs_memories){0};
}
