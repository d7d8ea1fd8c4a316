/* SPDX-License-Identifier: Apache-2.0 */
/* The sweep of "An ILP for Generating Optimal Schedules with Resource Constraints" over a set of
 * disjoint intervals, which stays disjoint when a rectangle meets several (spans.c). */
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

/* The rectangles are mostly in order but for equal begins, so this is an insertion sort; after too
 * many moves it leaves the rest to qsort. */
static void sort_rects(fs_rect *rects, uint32_t n) {
  uint64_t moves = 8 * (uint64_t)n;
  for (uint32_t i = 1; i < n; i++) {
    fs_rect r = rects[i];
    uint32_t j = i;
    for (; j > 0 && moves > 0 && compare_rects(&r, &rects[j - 1]) < 0; j--, moves--) {
      rects[j] = rects[j - 1];
    }
    rects[j] = r;
  }
  if (moves == 0) {
    qsort(rects, n, sizeof *rects, compare_rects);
  }
}

typedef struct contact_sweep {
  fs_contact_fn fn;
  void *user;
  uint32_t *met; /* per id: the last rectangle that its contact was reported with */
  uint32_t later;
} contact_sweep;

static fs_status meet_rect(void *user, uint32_t earlier) {
  FS_ASSERT_SLOW(earlier != ((const contact_sweep *)user)->later);
  contact_sweep *w = user;
  if (w->met[earlier] == w->later) {
    return FSCHED_OK;
  }
  w->met[earlier] = w->later;
  return w->fn(w->user, earlier, w->later);
}

static fs_status sweep_rects(const fs_rect *rects, uint32_t n, fs_spans *spans, contact_sweep *w) {
  for (uint32_t i = 0; i < n; i++) {
    const fs_rect *r = &rects[i];
    FS_ASSERT_SLOW(i == 0 || compare_rects(&rects[i - 1], r) < 0);
    if (i > 0 && r->space != rects[i - 1].space) {
      fs_spans_clear(spans);
    }
    if (r->low < r->high) {
      w->later = r->id;
      FS_TRY(fs_spans_take(spans, r->low, r->high, r->id, meet_rect, w));
    }
  }
  return FSCHED_OK;
}

fs_status fs_sweep_contacts(fsched_context *ctx, fs_rect *rects, uint32_t n, uint32_t n_ids,
                            fs_contact_fn fn, void *user) {
  assert(n <= n_ids && fn != NULL);
  sort_rects(rects, n);
  FS_SCRATCH(scratch, ctx);
  fs_spans spans;
  contact_sweep w = {fn, user, NULL, 0};
  fs_status status = fs_spans_init(ctx, &spans);
  if (status == FSCHED_OK) {
    status = fs_new_none(&scratch, &w.met, n_ids);
  }
  if (status == FSCHED_OK) {
    status = sweep_rects(rects, n, &spans, &w);
  }
  fs_spans_release(&spans);
  return status;
}
