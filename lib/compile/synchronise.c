/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/synchronise.h"

#include "ctrledge/ctrledge.h"
#include "waits/waits.h"

fs_status fs_schedule_synchronise(fsched_schedule *handle) {
  fs_schedule *s = handle->schedule;
  assert(handle->sync == NULL);
  FS_TRY(fs_sync_create(s, FS_SYNC_TIMELINE, &handle->sync));
  const fs_reuse reuse = {.plain_ends = true};
  FS_TRY(fs_ctrledge_run(s->ctx, s, &reuse, handle->sync));
  return fs_waits_run(s->ctx, s, handle->sync);
}

fs_status fs_sync_again(fs_schedule *s, fs_sync *y, const fs_reuse *reuse) {
  assert(y->position != NULL && y->wait0 != NULL);
  y->waits_edges = y->waits_same_queue = y->waits_dominated = y->waits_emitted = 0;
  y->waits_dominated_exact = y->n_signals = y->frontier_largest = y->frontier_tainted = 0;
  FS_TRY(fs_ctrledge_run(s->ctx, s, reuse, y));
  return fs_waits_run_alone(s->ctx, s, y);
}
