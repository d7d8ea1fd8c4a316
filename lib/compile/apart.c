/* SPDX-License-Identifier: Apache-2.0 */
/* What is found is compared with what there is by the orders that come of both: fewer orders count
 * first, then fewer waits. */
#include "compile/apart.h"

#include "ctrledge/ctrledge.h"
#include "spread/spread.h"
#include "waits/waits.h"

typedef struct apart_counts {
  uint64_t orders, waits;
} apart_counts;

static fs_status count_all(fs_schedule *s, fs_sync *sync, apart_counts *out) {
  FS_TRY(fs_ctrledge_run(s->ctx, s, NULL, sync));
  FS_TRY(fs_waits_run_alone(s->ctx, s, sync));
  out->waits = sync->waits_emitted;
  return fs_spread_count(s->ctx, s, sync, &out->orders);
}

static fs_status count_orders(fs_schedule *s, fs_sync_kind kind, apart_counts *out) {
  fs_sync *sync;
  FS_TRY(fs_sync_create(s, kind, &sync));
  fs_status status = count_all(s, sync, out);
  fs_sync_destroy(sync);
  return status;
}

static bool is_fewer(const apart_counts *a, const apart_counts *b) {
  return a->orders != b->orders ? a->orders < b->orders : a->waits < b->waits;
}

fs_status fs_schedule_apart(fs_schedule *s, fs_sync_kind kind) {
  assert(s->n_items == s->graph->n_ops + s->n_copies);
  FS_SCRATCH(scratch, s->ctx);
  apart_counts before, after;
  uint64_t *address, *former = s->res_address;
  bool found;
  FS_TRY(fs_new(&scratch, &address, s->n_residencies));
  FS_TRY(fs_spread_run(s->ctx, s, kind, address, &found));
  if (!found) {
    return FSCHED_OK;
  }
  FS_TRY(count_orders(s, kind, &before));
  s->res_address = address;
  fs_status status = count_orders(s, kind, &after);
  s->res_address = former;
  if (status == FSCHED_OK && is_fewer(&after, &before)) {
    memcpy(s->res_address, address, s->n_residencies * sizeof *address);
  }
  return status;
}
