/* SPDX-License-Identifier: Apache-2.0 */
/* Greedy by right end: of the hazards that no sync meets yet, the one that ends first needs a sync
 * by its end, and its very end is the best place, since a sync there meets all others that have
 * begun:
 *
 *     (2,6)      |-------s
 *     (3,7)         |----s--|
 *     (5,9)               s |-----|            s: before 6
 *
 * Exchange argument: in any solution the sync that meets the hazard that ends first can be moved to
 * its end, and still meets every hazard that it met. */
#include "block/stab.h"

#include "base/radix.h"

static uint32_t stab_spans(const uint64_t *key, uint32_t n, const uint32_t *existing,
                           uint32_t n_existing, uint32_t *out) {
  uint32_t n_out = 0;
  uint32_t next = 0;   /* index into `existing` */
  uint32_t latest = 0; /* the latest sync so far; no hazard is met by one at 0 */
  for (uint32_t i = 0; i < n; i++) {
    uint32_t first = (uint32_t)(key[i] >> 32);
    uint32_t last = (uint32_t)key[i];
    for (; next < n_existing && existing[next] <= first; next++) {
      latest = existing[next] > latest ? existing[next] : latest;
    }
    if (latest <= last) {
      latest = out[n_out++] = first;
    }
  }
  return n_out;
}

fs_status fs_block_stab(fsched_context *ctx, const fs_hazard_span *span, uint32_t n,
                        const uint32_t *existing, uint32_t n_existing, uint32_t *out,
                        uint32_t *n_out) {
  assert(n == 0 || (span[0].last < span[0].first && out != NULL));
  FS_SCRATCH(scratch, ctx);
  uint64_t *key;
  FS_TRY(fs_new(&scratch, &key, 2 * (size_t)n));
  for (uint32_t i = 0; i < n; i++) {
    assert(span[i].last < span[i].first);
    key[i] = (uint64_t)span[i].first << 32 | span[i].last;
  }
  fs_radix_sort(key, key + n, n);
  *n_out = stab_spans(key, n, existing, n_existing, out);
  return FSCHED_OK;
}
