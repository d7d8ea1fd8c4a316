/* SPDX-License-Identifier: Apache-2.0 */
/* Finish: given depths that loops do not take.
 *
 * A depth is clamped by the iterations of the loop and of all loops around it, and one more where
 * the value on entry is read, as more slots could not hold anything.  A ring may still have fewer:
 * where runs of a loop in a loop are not joined, or joined ones have no room or are no quicker, it
 * has those of one run; where something outside of the loop would have to know of slots, it may
 * have one.  The bytes are the same, and who gave the depth might wonder.  Complexity: O(rings *
 * given rings). */
#include <inttypes.h>

#include "base/saturate.h"
#include "base/warnings.h"
#include "front/builder/private.h"
#include "model/loop_report.h"

/* Whether values of earlier iterations are read of a ring. */
static bool is_carried(const fs_rolled *x, uint32_t ring) {
  bool carried = false;
  for (uint32_t a = 0; a < x->n_args && !carried; a++) {
    carried = x->arg[a].ring == ring && x->arg[a].back > 0;
  }
  return carried;
}

/* The slots that could hold values: a value for each iteration, and the one on entry, if that is
 * read. */
static uint64_t most_slots(const fsched_graph *g, const fs_rolled *x, uint32_t ring) {
  uint64_t all = x->trip;
  for (uint32_t l = x->within; l != FS_NONE; l = g->rolled[l].within) {
    all = fs_multiply_most(all, g->rolled[l].trip);
  }
  return fs_add_most(all, is_carried(x, ring));
}

/* Where a ring was described, if its depth is given and of use. */
static const fs_ring_draft *find_draft(const fs_ring_draft *given, size_t n, const fsched_graph *g,
                                       const fs_rolled *x, uint32_t ring) {
  const fs_ring_draft *found = NULL;
  for (size_t i = 0; i < n && found == NULL; i++) {
    const fs_ring_draft *d = &given[i];
    bool here = d->loop == x->report->loop && d->buffer == x->slots[ring].buffer;
    bool less = fs_min(d->depth, most_slots(g, x, ring)) > x->loop.ring[ring].depth;
    found = here && less ? d : NULL;
  }
  return found;
}

void fs_builder_warn_depths(const fsched_graph *g, const fs_ring_draft *given, size_t n_given) {
  uint32_t n = 0;
  assert(n_given == 0 || given != NULL);
  if (!fs_warn_on(g->ctx, FS_WARN_DEPTH)) {
    return;
  }
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    const fs_rolled *x = &g->rolled[l];
    for (uint32_t v = 0; v < x->loop.n_rings; v++) {
      const fs_ring_draft *d = find_draft(given, n_given, g, x, v);
      if (d == NULL || n++ >= FS_WARNINGS_SHOWN) {
        continue;
      }
      bool run = x->within != FS_NONE && !x->joined &&
                 x->loop.ring[v].depth >= fs_add_most(x->trip, is_carried(x, v));
      fs_report(g->ctx, FSCHED_WARNING, FS_DIAG_DEPTH, d->at,
                run ? "its runs follow one another, and each has no use for more" : NULL,
                "loop '%s' takes %" PRIu64 " of the %" PRIu64 " slots that are given for '%s'",
                x->report->name, (uint64_t)x->loop.ring[v].depth, d->depth,
                g->buffer_name[x->slots[v].buffer]);
    }
  }
  if (n > FS_WARNINGS_SHOWN) {
    fs_report(g->ctx, FSCHED_WARNING, FS_DIAG_DEPTH, FS_NOWHERE, NULL,
              "%u more rings have fewer slots than are given", n - FS_WARNINGS_SHOWN);
  }
}
