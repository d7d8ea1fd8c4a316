/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA back ends: waiting for the device, and kernels that hang there.
 *
 * A kernel that never returns cannot be ended from outside, and most calls of the driver that
 * synchronise, free or load wait for it.  So the thread of a slot only queries the state of events
 * and streams while it waits, and it can be given up wherever it waits.  Its states:
 *
 *   WORKS   it has the invocation in its hands
 *   WAITS   it looks whether the device is as far as it wants, and sleeps between two looks
 *   CALLS   it is in a call of the driver, which may block, too
 *   LOST    it was given up in WAITS or CALLS: it sleeps for ever and touches nothing any more
 *
 * In a program with kernels of modules each item has an event behind it.  With each look the thread
 * notes which item each lane of the plan is at.  If that item is a kernel of a module and all of
 * its predecessors are over, it counts as running, from then on or from the end of its pace.  It
 * hangs when the watchdog's caller sees no move for longer than it allows.  Kernels in loops on
 * streams have events of their own (cuda/loops/watch.c), and what a thread runs it has in hand. */
#include "exec/cuda/cuda.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"

enum {
  QUERIES = 64,    /* looks before the thread begins to sleep between looks */
  LEAST_NS = 5000, /* sleeps grow with the time that has passed */
  MOST_NS = 200000,
  PART_OF_PASSED = 32
};

/* Takes the thread back to WORKS; a thread that was given up sleeps here for ever. */
static void take_back(fs_instance *x, uint32_t from) {
  if (!atomic_compare_exchange_strong(&x->hold, &from, FS_CUDA_WORKS)) {
    for (;;) {
      (void)pause();
    }
  }
}

void fs_cuda_enter_driver(fs_instance *x) { atomic_store(&x->hold, FS_CUDA_CALLS); }

fs_cu_result fs_cuda_leave_driver(fs_instance *x, fs_cu_result result) {
  take_back(x, FS_CUDA_CALLS);
  atomic_fetch_add_explicit(&x->moves, 1, memory_order_relaxed);
  return result;
}

/* What the thread sees */

void fs_cuda_watch_reset(fs_instance *x) {
  const fs_cuda_program *p = x->program;
  memset(x->over, 0, p->plan.n_items);
  x->n_over = 0;
  for (uint32_t l = 0; l < p->plan.n_lanes; l++) {
    x->at[l].item = p->lane_first[l];
    atomic_store(&x->at[l].runs, FS_NONE);
  }
  fs_cuda_loops_watch_reset(x);
}

static bool may_begin(const fs_instance *x, uint32_t item) {
  const fs_cuda_plan *plan = &x->program->plan;
  const fs_cuda_item *t = &plan->item[item];
  for (uint32_t i = t->after0; i < t->after0 + t->n_after; i++) {
    if (!x->over[plan->after[i]]) {
      return false;
    }
  }
  return true;
}

/* Whether an item that was issued is over, as the device or a thread says. */
static fs_cu_result query_item(const fs_instance *x, uint32_t item) {
  if (x->graph) {
    return x->machine->device.cuda.api.cuEventQuery(x->event[x->program->plan.item[item].event]);
  }
  fs_cuda_point point = fs_cuda_point_of(x, item);
  return fs_cuda_point_query(x, &point);
}

/* Notes that the lane's item, which is not over, runs, if it does.  What a thread runs it has in
 * hand. */
static void note_running(fs_instance *x, fs_cuda_position *at) {
  const fs_cuda_program *p = x->program;
  if (p->plan.item[at->item].lane >= p->plan.n_streams) {
    return;
  }
  if (atomic_load(&at->runs) == FS_NONE && p->foreign[at->item] && may_begin(x, at->item)) {
    atomic_store(&at->since_ns, fs_now_ns() + fs_cuda_pace_ns(x, at->item));
    atomic_store(&at->runs, at->item);
  }
}

/* Notes which items of the lane are over.  Success, or the failure of a query. */
static fs_cu_result look_at_lane(fs_instance *x, fs_cuda_position *at) {
  const fs_cuda_program *p = x->program;
  while (at->item != FS_NONE && x->issued[at->item]) {
    fs_cu_result result = query_item(x, at->item);
    if (result != FS_CU_SUCCESS) {
      note_running(x, at);
      return result == FS_CU_NOT_READY ? FS_CU_SUCCESS : result;
    }
    atomic_store(&at->runs, FS_NONE);
    x->over[at->item] = 1;
    x->n_over++;
    at->item = p->lane_next[at->item];
    atomic_fetch_add_explicit(&x->moves, 1, memory_order_relaxed);
  }
  return FS_CU_SUCCESS;
}

static fs_cu_result look_at_lanes(fs_instance *x) {
  fs_cu_result result = FS_CU_SUCCESS;
  for (uint32_t l = 0; l < x->program->plan.n_lanes && x->program->watched; l++) {
    result = result == FS_CU_SUCCESS ? look_at_lane(x, &x->at[l]) : result;
  }
  if (result == FS_CU_SUCCESS && x->program->watched) {
    result = fs_cuda_loops_look(x);
  }
  atomic_fetch_add(&x->looks, 1);
  return result;
}

bool fs_cuda_look(fs_instance *x) { return fs_cuda_ok(x, "cuEventQuery", look_at_lanes(x)); }

/* Waiting.  Meanwhile the thread does not touch the work, the stream and fs_io: they may be
 * gone. */

void fs_cuda_rest(fs_instance *x, uint32_t turn, uint64_t ns) {
  atomic_store(&x->hold, FS_CUDA_WAITS);
  fs_futex_wait(&x->turn, turn, ns);
  take_back(x, FS_CUDA_WAITS);
}

static void rest(fs_instance *x, uint64_t begin_ns, uint32_t look) {
  if (look < QUERIES) {
    fs_pause();
    return;
  }
  uint64_t part = (fs_now_ns() - begin_ns) / PART_OF_PASSED;
  uint32_t turn = atomic_load(&x->turn);
  fs_futex_wait(&x->turn, turn, fs_min(fs_max(part, LEAST_NS), MOST_NS));
}

static bool is_lost(const fs_instance *x) { return atomic_load(&x->hold) == FS_CUDA_LOST; }

bool fs_cuda_await_event(fs_instance *x, fs_cu_event event) {
  const fs_cuda_api *api = &x->machine->device.cuda.api;
  uint64_t begin = fs_now_ns();
  fs_cu_result result, seen = FS_CU_SUCCESS;
  atomic_store(&x->hold, FS_CUDA_WAITS);
  for (uint32_t i = 0; (result = api->cuEventQuery(event)) == FS_CU_NOT_READY && !is_lost(x) &&
                       (seen = look_at_lanes(x)) == FS_CU_SUCCESS;
       i++) {
    rest(x, begin, i);
  }
  take_back(x, FS_CUDA_WAITS);
  return fs_cuda_ok(x, "cuEventQuery", seen != FS_CU_SUCCESS ? seen : result);
}

bool fs_cuda_await_stream(fs_instance *x, fs_cu_stream stream) {
  const fs_cuda_api *api = &x->machine->device.cuda.api;
  uint64_t begin = fs_now_ns();
  fs_cu_result result, seen = FS_CU_SUCCESS;
  atomic_store(&x->hold, FS_CUDA_WAITS);
  for (uint32_t i = 0; (result = api->cuStreamQuery(stream)) == FS_CU_NOT_READY && !is_lost(x) &&
                       (seen = look_at_lanes(x)) == FS_CU_SUCCESS;
       i++) {
    rest(x, begin, i);
  }
  take_back(x, FS_CUDA_WAITS);
  return fs_cuda_ok(x, "cuStreamQuery", seen != FS_CU_SUCCESS ? seen : result);
}

/* Whether the device is as it should be. */
static fs_cu_result look_at_device(const fs_instance *x) {
  fs_cu_result result = x->machine->device.cuda.api.cuStreamQuery(x->lane[0]);
  return result == FS_CU_NOT_READY ? FS_CU_SUCCESS : result;
}

bool fs_cuda_await_point(fs_instance *x, const fs_cuda_point *point, bool stops) {
  uint64_t begin = fs_now_ns();
  fs_cu_result result, seen = FS_CU_SUCCESS;
  atomic_store(&x->hold, FS_CUDA_WAITS);
  for (uint32_t i = 0;
       (result = fs_cuda_point_query(x, point)) == FS_CU_NOT_READY && !is_lost(x) &&
       !(stops && fs_cuda_poisoned(x)) && (seen = look_at_device(x)) == FS_CU_SUCCESS &&
       (seen = look_at_lanes(x)) == FS_CU_SUCCESS;
       i++) {
    rest(x, begin, i);
  }
  take_back(x, FS_CUDA_WAITS);
  result = result == FS_CU_NOT_READY ? FS_CU_SUCCESS : result;
  return fs_cuda_ok(x, "cuStreamQuery", seen != FS_CU_SUCCESS ? seen : result);
}

bool fs_cuda_await_room(fs_instance *x, uint32_t ahead) {
  uint64_t begin = fs_now_ns();
  fs_cu_result result = FS_CU_SUCCESS;
  if (!x->program->watched || x->n_issued - x->n_over < ahead) {
    return true;
  }
  atomic_store(&x->hold, FS_CUDA_WAITS);
  for (uint32_t i = 0; (result = look_at_lanes(x)) == FS_CU_SUCCESS && !is_lost(x) &&
                       x->n_issued - x->n_over >= ahead && !fs_cuda_poisoned(x);
       i++) {
    rest(x, begin, i);
  }
  take_back(x, FS_CUDA_WAITS);
  return fs_cuda_ok(x, "cuEventQuery", result) && !fs_cuda_poisoned(x);
}

/* What the watchdog's thread sees */

/* Whether the slot waits for running kernels of modules, or for a device that has lost a kernel. */
static bool hangs(const fs_instance *x) {
  uint64_t now = fs_now_ns();
  bool some =
      atomic_load(&x->machine->lost) != 0 || fs_cuda_loops_hang(x) || fs_cuda_threads_hang(x);
  for (uint32_t l = 0; l < x->program->plan.n_lanes; l++) {
    if (atomic_load(&x->at[l].runs) != FS_NONE) {
      some = true;
      if (now < atomic_load(&x->at[l].since_ns)) {
        return false; /* a pace is no hang */
      }
    }
  }
  return some;
}

/* The slot is idle only if its thread, too, has looked since the last call. */
uint64_t fs_cuda_progress(fs_instance *x, bool *idle) {
  uint32_t hold = atomic_load(&x->hold);
  uint64_t looks = atomic_load(&x->looks);
  bool seen = hold == FS_CUDA_CALLS || looks != x->seen_looks;
  bool waits = hold == FS_CUDA_WAITS || hold == FS_CUDA_CALLS;
  x->seen_looks = looks;
  fs_cuda_threads_look(x);
  *idle = atomic_load(&x->waits_given) != FS_NONE || (waits && seen && hangs(x));
  return atomic_load(&x->moves);
}

bool fs_cuda_report_hanging(fs_instance *x, fsched_context *ctx) {
  if (!hangs(x)) {
    return false;
  }
  uint64_t begin = atomic_load(&x->begin_ns);
  bool named = false;
  for (uint32_t l = 0; l < x->program->plan.n_lanes; l++) {
    uint32_t item = atomic_load(&x->at[l].runs);
    if (item != FS_NONE) {
      fs_running what = {
          .command = x->program->plan.item[item].command, .loop_op = FS_NONE, .queue = FS_NONE};
      fs_stuck_report_kernel(ctx, x->s, &what, atomic_load(&x->at[l].since_ns), begin);
      named = true;
    }
  }
  for (uint32_t i = 0; i < x->loops.n_streams; i++) {
    fs_running what;
    uint64_t since;
    if (fs_cuda_loops_running(x, i, &what, &since)) {
      fs_stuck_report_kernel(ctx, x->s, &what, since, begin);
      named = true;
    }
  }
  named = fs_cuda_threads_report(x, ctx) || named;
  if (!named) {
    fs_report(ctx, FSCHED_ERROR, FS_DIAG_REPLAY_STUCK, FS_NOWHERE, NULL,
              "the device does not get on, as a kernel that does not return was given up on it");
  }
  x->told = atomic_load(&x->moves);
  return true;
}

/* Gives up only a slot that was reported and has not moved since. */
bool fs_cuda_give_up(fs_instance *x) {
  uint32_t hold = atomic_load(&x->hold);
  if ((hold != FS_CUDA_WAITS && hold != FS_CUDA_CALLS) || atomic_load(&x->moves) != x->told ||
      !hangs(x)) {
    return false;
  }
  if (!fs_cuda_host_close(x) || !atomic_compare_exchange_strong(&x->hold, &hold, FS_CUDA_LOST)) {
    return false;
  }
  atomic_store(&x->machine->lost, 1);
  fs_cuda_wake(x);
  return true;
}
