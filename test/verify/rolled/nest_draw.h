/* SPDX-License-Identifier: Apache-2.0 */
/* Random records of loops in an outermost loop that use one buffer, as streams have them: the
 * parts of a stream that tell which bytes are read and written, and no others. */
#ifndef FS_TEST_NEST_DRAW_H
#define FS_TEST_NEST_DRAW_H

#include "base/mem.h"
#include "kit/gen.h"
#include "model/stream/stream.h"

enum { FS_NEST_LOOPS = 12, FS_NEST_OPS = 32, FS_NEST_ARGS = 24, FS_NEST_SIZE = 1 << 14 };
enum { FS_NEST_PARAMS = 2 }; /* string 1 + k is the name of parameter k */

typedef struct fs_nest_draw {
  fs_stream s;
  fs_stream_op op;
  fs_stream_buffer buffer;
  fs_stream_arg arg[4];
  fs_stream_loop loop[FS_NEST_LOOPS];
  fs_stream_loop_op loop_op[FS_NEST_OPS];
  fs_stream_loop_arg loop_arg[FS_NEST_OPS * FS_NEST_ARGS]; /* FS_NEST_ARGS for each op */
  fs_stream_ring ring[FS_NEST_LOOPS];
  uint64_t least[FS_NEST_PARAMS], most[FS_NEST_PARAMS]; /* of the parameters */
} fs_nest_draw;

typedef struct fs_nest_style {
  const uint32_t *trips; /* to choose from */
  uint32_t n_trips;
  uint32_t most_runs; /* of the innermost ops, roughly */
  bool params, rings;
} fs_nest_style;

/* The same seed gives the same nest. */
void fs_nest_draw_random(uint64_t seed, const fs_nest_style *style, fs_nest_draw *out);
/* Changes an offset, length, step, tag or the order of two args. */
void fs_nest_draw_change(fs_nest_draw *n, fs_rng *rng);
/* Whether all args begin in the buffer, or their version, in all iterations. */
bool fs_nest_draw_fits(const fs_nest_draw *n);
/* For messages. */
void fs_nest_draw_print(const fs_nest_draw *n, fs_text *t);

#endif
