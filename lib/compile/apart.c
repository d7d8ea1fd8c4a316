/* SPDX-License-Identifier: Apache-2.0 */
/* What is found is compared with what there is by the orders that come of both: fewer orders count
 * first, then fewer waits. */
#include "compile/apart.h"

#include "ctrledge/ctrledge.h"
#include "spread/spread.h"
#include "waits/waits.h"

/* A schedule with addresses of one kind. */
typedef struct apart_side {
  uint64_t *address;
  fs_sync *sync;
} apart_side;

typedef struct apart_run {
  fs_schedule *s;
  fs_sync_kind kind;
  fs_ctrledge_basis basis;
  apart_side before, after;
} apart_run;

static fs_status find_edges(apart_run *r, apart_side *side) {
  fs_schedule *s = r->s;
  FS_TRY(fs_sync_create(s, r->kind, &side->sync));
  s->res_address = side->address;
  fs_status status = fs_ctrledge_run_on(s->ctx, s, NULL, &r->basis, side->sync);
  s->res_address = r->before.address;
  return status;
}

/* The waits of a side, whose control edges are known. */
static fs_status count_waits(const apart_run *r, const apart_side *side, uint32_t *waits) {
  fs_sync y = *side->sync; /* what waits add goes with this arena */
  fs_arena_init(&y.arena, r->s->ctx);
  fs_status status = fs_waits_run_alone(r->s->ctx, r->s, &y);
  *waits = y.waits_emitted;
  fs_arena_release(&y.arena);
  return status;
}

/* Whether the new addresses are better, where there are orders to save. */
static fs_status compare_sides(apart_run *r, uint64_t orders_before, bool *fewer) {
  fs_schedule *s = r->s;
  uint64_t orders_after;
  uint32_t before, after;
  FS_TRY(find_edges(r, &r->after));
  FS_TRY(fs_spread_count(s->ctx, s, r->after.sync, orders_before, &orders_after));
  *fewer = orders_after < orders_before;
  if (orders_after == orders_before) {
    FS_TRY(count_waits(r, &r->before, &before));
    FS_TRY(count_waits(r, &r->after, &after));
    *fewer = after < before;
  }
  return FSCHED_OK;
}

static fs_status run_apart(apart_run *r, fs_sync **sync) {
  fs_schedule *s = r->s;
  FS_SCRATCH(scratch, s->ctx);
  uint64_t orders;
  bool found = false, fewer = false;
  FS_TRY(fs_ctrledge_prepare(s->ctx, s, r->kind, NULL, &r->basis));
  FS_TRY(find_edges(r, &r->before));
  FS_TRY(fs_spread_count(s->ctx, s, r->before.sync, UINT64_MAX, &orders));
  FS_TRY(fs_new(&scratch, &r->after.address, s->n_residencies));
  if (orders > 0) {
    FS_TRY(fs_spread_run(s->ctx, s, &r->basis.acc, r->after.address, &found));
  }
  if (found) {
    FS_TRY(compare_sides(r, orders, &fewer));
  }
  if (fewer) {
    memcpy(s->res_address, r->after.address, s->n_residencies * sizeof *s->res_address);
  }
  apart_side *side = fewer ? &r->after : &r->before;
  *sync = side->sync;
  side->sync = NULL;
  fs_ctrledge_hand_over(&r->basis, *sync);
  return FSCHED_OK;
}

fs_status fs_schedule_apart(fs_schedule *s, fs_sync_kind kind, fs_sync **sync) {
  assert(s->n_items == s->graph->n_ops + s->n_copies);
  apart_run r = {.s = s, .kind = kind, .before = {.address = s->res_address}};
  bool may;
  *sync = NULL;
  FS_TRY(fs_spread_may(s->ctx, s, kind, &may));
  if (!may) {
    return FSCHED_OK;
  }
  fs_status status = run_apart(&r, sync);
  fs_sync_destroy(r.before.sync);
  fs_sync_destroy(r.after.sync);
  fs_ctrledge_release(&r.basis);
  return status;
}
