/* SPDX-License-Identifier: Apache-2.0 */
#include "model/handle.h"

fs_status fs_handle_create(fs_schedule *schedule, fs_sync *sync, fsched_schedule **out) {
  fsched_schedule *h = fs_realloc(schedule->ctx, NULL, 0, sizeof *h);
  if (h == NULL) {
    return FSCHED_SYSTEM;
  }
  *h = (fsched_schedule){schedule, sync};
  *out = h;
  return FSCHED_OK;
}

void fsched_schedule_destroy(fsched_schedule *s) {
  if (s == NULL) {
    return;
  }
  fsched_context *ctx = s->schedule->ctx;
  fs_sync_destroy(s->sync);
  fs_schedule_destroy(s->schedule);
  (void)fs_realloc(ctx, s, sizeof *s, 0);
}

uint64_t fsched_schedule_makespan(const fsched_schedule *s) { return s->schedule->makespan; }
uint64_t fsched_schedule_lower_bound(const fsched_schedule *s) { return s->schedule->lower_bound; }
