/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stream/physicals.h"

#include "base/radix.h"
#include "base/saturate.h"

fs_status fs_stream_physicals(fsched_context *ctx, const fs_stream_barrier *barriers,
                              uint32_t n_barriers, const fs_stream_guard *guards, uint32_t n_guards,
                              uint64_t *out) {
  FS_SCRATCH(scratch, ctx);
  uint64_t *range, end = 0; /* range: first barrier << 32 | depth; end: of those that are counted */
  *out = 0;
  for (uint32_t b = 0; b < n_barriers; b++) {
    *out += barriers[b].use == 0;
  }
  FS_TRY(fs_new(&scratch, &range, 2 * (size_t)n_guards));
  for (uint32_t g = 0; g < n_guards; g++) {
    range[g] = (uint64_t)guards[g].physical << 32 | guards[g].depth;
  }
  fs_radix_sort_block(range, n_guards);
  for (uint32_t g = 0; g < n_guards; g++) {
    uint64_t low = range[g] >> 32, high = low + (range[g] & UINT32_MAX);
    *out += high > end ? high - fs_max(end, low) : 0;
    end = fs_max(end, high);
  }
  return FSCHED_OK;
}
