/* SPDX-License-Identifier: Apache-2.0 */
/* The watchdog: nothing has moved between two looks that are far enough apart. */
#include "base/clock.h"
#include "exec/dynamic/calls/private.h"

/* Of a look, where the caller has given no other. */
#define STALL_NS ((uint64_t)10 * FS_NS_PER_S)

static fsched_stall class_of(fs_workers_wait wait) {
  switch (wait) {
    case FS_WAITS_NOT:
      return FSCHED_STALL_NONE;
    case FS_WAITS_FOR_WORKER:
      return FSCHED_STALL_WORKER;
    case FS_WAITS_FOR_HEAP:
      return FSCHED_STALL_HEAP;
    case FS_WAITS_FOR_GROUP:
      return FSCHED_STALL_GROUP;
    case FS_WAITS_FOR_CLOSE:
      return FSCHED_STALL_OPEN;
  }
  return FSCHED_STALL_NONE;
}

/* For how long nothing has moved, as far as the looks tell. */
static uint64_t still_for(fsched_dynamic *d, uint64_t moves, uint64_t now) {
  (void)pthread_mutex_lock(&d->watching);
  if (!d->has_seen || d->seen_moves != moves || now < d->seen_since) {
    d->has_seen = true;
    d->seen_moves = moves;
    d->seen_since = now;
  }
  uint64_t ns = now - d->seen_since;
  (void)pthread_mutex_unlock(&d->watching);
  return ns;
}

fsched_stall fsched_dynamic_watch(fsched_dynamic *d, fsched_dynamic_stall *out) {
  fsched_dynamic_stall stall = {.size = sizeof stall};
  if (d->workers != NULL) {
    fs_workers_look look = fs_workers_look_at(d->workers);
    uint64_t now = d->options.now == NULL ? fs_now_ns() : d->options.now(d->options.now_user);
    uint64_t limit = d->options.stall_ns == 0 ? STALL_NS : d->options.stall_ns;
    stall.still_ns = still_for(d, look.moves, now);
    if (stall.still_ns >= limit) {
      stall.kind = class_of(look.wait);
      memcpy(stall.task, look.name, sizeof stall.task);
    }
    if (stall.kind == FSCHED_STALL_WORKER) {
      stall.queue = fs_builder_names(fs_submit_target(d->s), FS_KIND_QUEUE)->text.at[look.queue];
    }
  }
  if (out != NULL) {
    size_t size = out->size < sizeof stall ? out->size : sizeof stall;
    stall.size = out->size;
    memcpy(out, &stall, size);
  }
  return stall.kind;
}
