/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts the barriers by their physical barrier, then by use. */
#include "exec/host/physicals.h"

#include <stdlib.h>

typedef struct physical_use {
  uint32_t physical, use, barrier;
} physical_use;

/* No two entries are equal, as each barrier occurs once. */
static int by_use(const void *a, const void *b) {
  const physical_use *x = a, *y = b;
  return x->physical != y->physical ? (x->physical > y->physical) - (x->physical < y->physical)
         : x->use != y->use         ? (x->use > y->use) - (x->use < y->use)
                                    : (x->barrier > y->barrier) - (x->barrier < y->barrier);
}

fs_status fs_physicals_make(fs_arena *arena, const fs_stream *s, fs_physicals *out) {
  assert(s->n_meta == 1);
  uint32_t n = s->n_barriers;
  physical_use *sorted;
  *out = (fs_physicals){0};
  if (n == 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(arena, &out->use, n));
  FS_TRY(fs_new(arena, &out->of, n));
  FS_TRY(fs_new(arena, &out->use0, (size_t)n + 1));
  fs_arena_mark mark = fs_arena_set_mark(arena);
  FS_TRY(fs_new(arena, &sorted, n));
  for (uint32_t b = 0; b < n; b++) {
    sorted[b] = (physical_use){s->barriers[b].physical, s->barriers[b].use, b};
  }
  qsort(sorted, n, sizeof *sorted, by_use);
  for (uint32_t i = 0; i < n; i++) {
    if (i == 0 || sorted[i].physical != sorted[i - 1].physical) {
      out->use0[out->n++] = i;
    }
    assert(sorted[i].use == i - out->use0[out->n - 1]);
    out->use[i] = sorted[i].barrier;
    out->of[sorted[i].barrier] = out->n - 1;
  }
  out->use0[out->n] = n;
  fs_arena_reset(arena, mark);
  return FSCHED_OK;
}
