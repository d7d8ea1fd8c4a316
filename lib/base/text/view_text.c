/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/view_text.h"

static void put_dims(fs_text *t, const char *before, const uint64_t *dim, uint32_t n) {
  for (uint32_t d = 0; d < n; d++) {
    fs_text_puts(t, d == 0 ? before : "x");
    fs_text_u64(t, dim[d]);
  }
}

void fs_text_view(fs_text *t, const uint64_t *shape, const uint64_t *stride, uint32_t n,
                  uint64_t element) {
  assert(n == 0 || (shape != NULL && stride != NULL));
  put_dims(t, "", shape, n);
  if (element != 1) {
    fs_text_puts(t, " of ");
    fs_text_u64(t, element);
  }
  put_dims(t, " by ", stride, n);
}
