/* SPDX-License-Identifier: Apache-2.0 */
/* The values of the rings of a loop, for an evaluation that knows no slots: the value that each
 * iteration has begun, as many of the last ones as an arg may look back to, and the one on entry.
 * Each value says which of its bytes are defined. */
#ifndef FS_EXEC_RINGS_H
#define FS_EXEC_RINGS_H

#include "exec/host/byteset.h"
#include "model/stream/stream.h"

typedef struct fs_ring_value {
  uint8_t *bytes;
  fs_byteset defined;
} fs_ring_value;

typedef struct fs_ring_values {
  uint64_t size;
  uint32_t kept;     /* values that are kept: one more than the most that an arg looks back */
  fs_ring_value *at; /* the value of iteration i at i mod kept; at[kept]: the one on entry */
} fs_ring_values;

/* Makes the values of all rings of the loop, with no byte of them defined; the arrays live in
 * `arena`.  They have to be released even after a failure.  Requires a loop of the stream.
 * Complexity: O(bytes of the values + args of the loop). */
fs_status fs_rings_make(fs_arena *arena, const fs_stream *s, const fs_stream_loop *loop,
                        fs_ring_values **out) FS_MUST_USE;
void fs_rings_release(fsched_context *ctx, const fs_stream_loop *loop, fs_ring_values *rings);

/* Makes all values undefined, as for a run of the loop that begins. */
void fs_rings_clear(const fs_stream_loop *loop, fs_ring_values *rings);
/* The iteration begins a value, of which nothing is defined. */
fs_ring_value *fs_ring_begin(fs_ring_values *ring, uint64_t iteration);
/* The value that iteration - back has begun; below iteration 0, the one on entry.  Requires a back
 * of an arg of the loop. */
fs_ring_value *fs_ring_look(fs_ring_values *ring, uint64_t iteration, uint32_t back);

#endif
