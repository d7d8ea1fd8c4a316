/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/replay/rings.h"

/* The byte of content that nothing has written. */
enum { UNDEFINED = 0xA5 };

static void count_kept(const fs_stream *s, const fs_stream_loop *loop, fs_ring_values *rings) {
  for (uint32_t o = loop->op0; o < loop->op0 + loop->n_ops; o++) {
    const fs_stream_loop_op *op = &s->loop_ops[o];
    for (uint32_t i = op->arg0; i < op->arg0 + op->n_args; i++) {
      const fs_stream_loop_arg *a = &s->loop_args[i];
      if (a->ring != FS_NONE) {
        fs_ring_values *ring = &rings[a->ring - loop->ring0];
        ring->kept = (uint32_t)fs_max(ring->kept, (uint64_t)a->back + 1);
      }
    }
  }
}

fs_status fs_rings_make(fs_arena *arena, const fs_stream *s, const fs_stream_loop *loop,
                        fs_ring_values **out) {
  assert(loop->ring0 + loop->n_rings <= s->n_rings);
  fs_ring_values *rings;
  FS_TRY(fs_new_zero(arena, &rings, loop->n_rings));
  *out = rings;
  count_kept(s, loop, rings);
  for (uint32_t k = 0; k < loop->n_rings; k++) {
    rings[k].size = s->rings[loop->ring0 + k].size;
    FS_TRY(fs_new_zero(arena, &rings[k].at, (size_t)rings[k].kept + 1));
    for (uint32_t i = 0; i <= rings[k].kept; i++) {
      FS_TRY(fs_new(arena, &rings[k].at[i].bytes, rings[k].size));
    }
  }
  fs_rings_clear(loop, rings);
  return FSCHED_OK;
}

void fs_rings_release(fsched_context *ctx, const fs_stream_loop *loop, fs_ring_values *rings) {
  for (uint32_t k = 0; rings != NULL && k < loop->n_rings; k++) {
    for (uint32_t i = 0; rings[k].at != NULL && i <= rings[k].kept; i++) {
      fs_vec_free(ctx, &rings[k].at[i].defined);
    }
  }
}

static void clear_value(fs_ring_value *v, uint64_t size) {
  memset(v->bytes, UNDEFINED, size);
  v->defined.n = 0;
}

void fs_rings_clear(const fs_stream_loop *loop, fs_ring_values *rings) {
  for (uint32_t k = 0; k < loop->n_rings; k++) {
    for (uint32_t i = 0; i <= rings[k].kept; i++) {
      clear_value(&rings[k].at[i], rings[k].size);
    }
  }
}

fs_ring_value *fs_ring_begin(fs_ring_values *ring, uint64_t iteration) {
  fs_ring_value *v = &ring->at[iteration % ring->kept];
  clear_value(v, ring->size);
  return v;
}

fs_ring_value *fs_ring_look(fs_ring_values *ring, uint64_t iteration, uint32_t back) {
  assert(back < ring->kept);
  return &ring->at[iteration < back ? ring->kept : (iteration - back) % ring->kept];
}
