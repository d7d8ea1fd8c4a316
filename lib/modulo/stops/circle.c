/* SPDX-License-Identifier: Apache-2.0 */
/* The circle is unrolled twice.  latest[a] is the earliest end of an arc that begins at place a or
 * behind it: if a sync stands before a, the next one stands before that, or no arc needs one. */
#include "modulo/stops/circle.h"

#include "base/context.h"

/* Finds latest[0 .. 2 n]; UINT64_MAX where no arc ends.  Returns whether any arc is short. */
static bool find_latest(uint32_t n, const fs_circle_arc *arc, uint32_t n_arcs, uint64_t *latest) {
  bool any = false;
  for (uint32_t a = 0; a <= 2 * n; a++) {
    latest[a] = UINT64_MAX;
  }
  for (uint32_t i = 0; i < n_arcs; i++) {
    assert(arc[i].from < n && arc[i].length > 0);
    for (uint64_t from = arc[i].from; arc[i].length < n && from < 2 * (uint64_t)n; from += n) {
      uint64_t end = from + arc[i].length;
      latest[from] = end < latest[from] ? end : latest[from];
      any = true;
    }
  }
  for (uint32_t a = 2 * n; a-- > 0;) {
    latest[a] = latest[a + 1] < latest[a] ? latest[a + 1] : latest[a];
  }
  return any;
}

/* The last place that meets an arc. */
static uint32_t end_of(uint32_t n, const fs_circle_arc *arc) {
  return (uint32_t)((arc->from + arc->length) % n);
}

/* Puts syncs one after the other, the first before `first`, until that comes again; gives up at
 * `most`. */
static uint32_t stab_from(uint32_t n, const uint64_t *latest, uint32_t first, uint32_t most,
                          uint32_t *out) {
  uint32_t k = 0;
  for (uint64_t at = first; at < first + (uint64_t)n && k < most; at = latest[at]) {
    out[k++] = (uint32_t)(at % n);
  }
  return k;
}

static void sort_places(uint32_t *place, uint32_t n) {
  uint32_t first = 0; /* they ascend from the least on, around the circle */
  for (uint32_t i = 1; i < n; i++) {
    first = place[i] < place[first] ? i : first;
  }
  for (uint32_t turns = 0; turns < first; turns++) {
    uint32_t moved = place[0];
    memmove(place, place + 1, (n - 1) * sizeof *place);
    place[n - 1] = moved;
  }
}

fs_status fs_circle_stab(fsched_context *ctx, uint32_t n, const fs_circle_arc *arc, uint32_t n_arcs,
                         uint32_t *out, uint32_t *n_out) {
  assert(n > 0);
  uint64_t *latest;
  uint32_t *tried;
  FS_SCRATCH(scratch, ctx);
  FS_TRY(fs_new(&scratch, &latest, 2 * (size_t)n + 1));
  FS_TRY(fs_new(&scratch, &tried, n));
  bool any = find_latest(n, arc, n_arcs, latest);
  *n_out = n_arcs == 0 ? 0 : 1;
  out[0] = n_arcs == 0 ? 0 : end_of(n, &arc[0]);
  for (uint32_t i = 0, best = n + 1; any && i < n_arcs; i++) {
    uint32_t k = stab_from(n, latest, end_of(n, &arc[i]), fs_min(best, n), tried);
    if (k < best) {
      memcpy(out, tried, k * sizeof *out);
      *n_out = best = k;
    }
  }
  sort_places(out, *n_out);
  return FSCHED_OK;
}
