/* SPDX-License-Identifier: Apache-2.0 */
/* The sweep of "An ILP for Generating Optimal Schedules with Resource Constraints" over a disjoint
 * interval set, with the set kept disjoint when a rectangle meets several (spans.c). */
#include "ctrledge/sweep.h"

#include <stdlib.h>

#include "ctrledge/spans.h"

static int compare_rects(const void *a, const void *b) {
  const fs_rect *x = a;
  const fs_rect *y = b;
  if (x->space != y->space) {
    return x->space < y->space ? -1 : 1;
  }
  if (x->begin != y->begin) {
    return x->begin < y->begin ? -1 : 1;
  }
  if (x->end != y->end) {
    return x->end < y->end ? -1 : 1;
  }
  return x->id < y->id ? -1 : x->id > y->id;
}

typedef struct sweep {
  fs_contact_fn fn;
  void *user;
  uint32_t *met; /* per rectangle: the last one that it was reported with */
  uint32_t later;
} sweep;

static fs_status meet(void *user, uint32_t earlier) {
  sweep *w = user;
  if (w->met[earlier] == w->later) {
    return FSCHED_OK;
  }
  w->met[earlier] = w->later;
  return w->fn(w->user, earlier, w->later);
}

static fs_status run(const fs_rect *rects, uint32_t n, fs_spans *spans, sweep *w) {
  for (uint32_t i = 0; i < n; i++) {
    const fs_rect *r = &rects[i];
    if (i > 0 && r->space != rects[i - 1].space) {
      fs_spans_clear(spans);
    }
    if (r->low < r->high) {
      w->later = r->id;
      FS_TRY(fs_spans_take(spans, r->low, r->high, r->id, meet, w));
    }
  }
  return FSCHED_OK;
}

fs_status fs_sweep_contacts(fsched_context *ctx, fs_rect *rects, uint32_t n, fs_contact_fn fn,
                            void *user) {
  bool sorted = true; /* mostly they are */
  for (uint32_t i = 1; i < n && sorted; i++) {
    sorted = compare_rects(&rects[i - 1], &rects[i]) < 0;
  }
  if (!sorted) {
    qsort(rects, n, sizeof *rects, compare_rects);
  }
  fs_arena scratch;
  fs_arena_init(&scratch, ctx);
  fs_spans spans;
  sweep w = {fn, user, NULL, 0};
  fs_status status = fs_spans_init(ctx, &spans);
  if (status == FSCHED_OK) {
    status = fs_new_none(&scratch, &w.met, n);
  }
  if (status == FSCHED_OK) {
    status = run(rects, n, &spans, &w);
  }
  fs_spans_release(&spans);
  fs_arena_release(&scratch);
  return status;
}
