/* SPDX-License-Identifier: Apache-2.0 */
/* Runs an invocation by streams and events.
 *
 * Items are issued in the order of the plan.  An item whose content is late is left for a later
 * pass, and so are its successors.  Before an item, its lane waits for the events of the item's
 * predecessors on other lanes.  All of these events have been recorded by then: the driver would
 * ignore a wait for an event that was never recorded.  The lane of a queue of the host is a thread,
 * which gets steps in place of all that (cuda/threads.h).
 *
 * Content comes in on a stream of its own and goes out on another, so that it does not delay the
 * lanes:
 *
 *   in      given -> place, event
 *   lanes   wait, item, event, ...
 *   out     wait for the writers, place -> host, event
 *
 * A store is in the host's memory already: its content is written before the items that read it are
 * issued, and read when the items that write it are complete. */
#include "exec/cuda/cuda.h"

static fs_cu_address host_address(const fs_instance *x, uint64_t offset) {
  return (fs_cu_address)(uintptr_t)(x->pinned + offset);
}

static uint8_t *place_in_store(const fs_instance *x, const fs_io_item *item) {
  return (uint8_t *)(uintptr_t)fs_cuda_at(x, item->memory, item->address);
}

/* Content made from a name is made once: its staging room still holds it at the next invocation.  A
 * store may have been overwritten, so its content is made each time. */
bool fs_cuda_put(fs_instance *x, uint32_t item, fs_cu_stream stream) {
  assert(item < x->io->n_given);
  const fs_io_item *g = &x->io->given[item];
  const fs_work *work = x->work;
  bool store = x->io->store[g->memory], made = work->given == NULL || work->given[item] == NULL;
  uint8_t *to = store ? place_in_store(x, g) : x->pinned + x->staged_given[item];
  if (!made && g->size > 0) {
    memcpy(to, work->given[item], g->size);
  } else if (made && (store || !x->given_made[item])) {
    fs_fill_given(fs_stream_string(x->s, x->s->buffers[g->buffer].name), to, g->size);
  }
  x->given_made[item] = made;
  x->given_there[item] = 1;
  if (work->given_taken != NULL) {
    work->given_taken(work->user, item);
  }
  return store || g->size == 0 ||
         FS_CUDA_DO(x, cuMemcpyAsync,
                    (fs_cuda_at(x, g->memory, g->address), host_address(x, x->staged_given[item]),
                     g->size, stream));
}

static bool fetch(fs_instance *x, uint32_t item, fs_cu_stream stream) {
  const fs_io_item *k = &x->io->kept[item];
  return x->io->store[k->memory] || k->size == 0 ||
         FS_CUDA_DO(x, cuMemcpyAsync,
                    (host_address(x, x->staged_kept[item]), fs_cuda_at(x, k->memory, k->address),
                     k->size, stream));
}

void fs_cuda_hand_over(fs_instance *x, uint32_t item) {
  assert(item < x->io->n_kept);
  const fs_io_item *k = &x->io->kept[item];
  const fs_work *work = x->work;
  const uint8_t *from =
      x->io->store[k->memory] ? place_in_store(x, k) : x->pinned + x->staged_kept[item];
  if (k->size > 0) {
    memcpy(work->kept[item], from, k->size);
  }
  if (work->kept_there != NULL) {
    work->kept_there(work->user, item);
  }
}

bool fs_cuda_launch_on(fs_instance *x, const fs_cuda_launch *l, fs_cu_stream stream) {
  assert(l->function != NULL);
  return FS_CUDA_DO(x, cuLaunchKernel,
                    (l->function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                     l->block[2], l->shared_bytes, stream, l->params, NULL));
}

bool fs_cuda_pace_launch(const fs_instance *x, uint32_t item, uint64_t *ns, void **params,
                         fs_cuda_launch *out) {
  assert(item < x->program->plan.n_items);
  *ns = fs_cuda_pace_ns(x, item);
  *params = ns;
  *out = (fs_cuda_launch){
      .function = x->machine->device.pace, .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = params};
  return *ns > 0;
}

bool fs_cuda_digest_launch(fs_instance *x, uint32_t item, void **params, fs_cuda_launch *out) {
  assert(item < x->program->plan.n_items);
  fs_cuda_work *w = &x->todo[item];
  params[0] = &w->call;
  params[1] = &x->built.block;
  *out = (fs_cuda_launch){.function = x->machine->device.digest,
                          .grid = {1, 1, 1},
                          .block = {FS_CUDA_BLOCK, 1, 1},
                          .params = params};
  return x->built.digests && w->call != 0;
}

/* Puts the item, which is no loop, behind the steps of a thread. */
static bool put_task(fs_instance *x, uint32_t item, fs_cuda_line line) {
  uint64_t ns = fs_cuda_pace_ns(x, item);
  if (ns > 0 && !fs_cuda_step_put(x, line, (fs_cuda_step){.kind = FS_CUDA_HOLD, .value = ns})) {
    return false;
  }
  fs_cuda_step run = {.kind = FS_CUDA_RUN, .task = fs_cuda_host_item(x, item)};
  return fs_cuda_step_put(x, line, run);
}

/* Issues the item's kernel or copy on its lane; of a loop, what all of its parts do. */
static bool issue_effect(fs_instance *x, uint32_t item) {
  const fs_cuda_work *w = &x->todo[item];
  uint32_t command = x->program->plan.item[item].command;
  fs_cuda_line line = fs_cuda_line_of(x, x->program->plan.item[item].lane);
  fs_cuda_launch extra;
  uint64_t ns;
  void *params[2];
  if (fs_cuda_is_loop(x, command)) {
    return fs_cuda_loop_issue(x, item);
  }
  if (w->host) {
    return put_task(x, item, line);
  }
  fs_cu_stream lane = x->lane[line];
  if (fs_cuda_pace_launch(x, item, &ns, params, &extra) && !fs_cuda_launch_on(x, &extra, lane)) {
    return false;
  }
  if (w->launch.function != NULL && !fs_cuda_launch_on(x, &w->launch, lane)) {
    return false;
  }
  return w->size == 0 || FS_CUDA_DO(x, cuMemcpyAsync, (w->to, w->from, w->size, lane));
}

fs_cuda_point fs_cuda_point_of(const fs_instance *x, uint32_t item) {
  const fs_cuda_item *t = &x->program->plan.item[item];
  assert(x->issued[item]);
  if (x->threads.n > 0) {
    return x->threads.over[item];
  }
  return (fs_cuda_point){.line = fs_cuda_line_of(x, t->lane), .event = x->event[t->event]};
}

static bool wait_for_items(fs_instance *x, const fs_cuda_item *t, fs_cuda_line line) {
  const fs_cuda_plan *plan = &x->program->plan;
  for (uint32_t i = t->after0; i < t->after0 + t->n_after; i++) {
    const fs_cuda_item *before = &plan->item[plan->after[i]];
    if (before->lane == t->lane) {
      continue;
    }
    fs_cuda_point point = fs_cuda_point_of(x, plan->after[i]);
    if (!fs_cuda_line_wait(x, line, &point)) {
      return false;
    }
  }
  return true;
}

/* Notes a time where the line is. */
static bool put_time(fs_instance *x, fs_cuda_line line, uint32_t time) {
  if (fs_cuda_line_is_thread(x, line)) {
    fs_cuda_step note = {.kind = FS_CUDA_NOTE, .time = &x->threads.time[time]};
    return fs_cuda_step_put(x, line, note);
  }
  return FS_CUDA_DO(x, cuEventRecord, (x->time[time], x->lane[line]));
}

/* Puts given content in its place, by the stream for that. */
static bool put_content(fs_instance *x, uint32_t given) {
  fs_cuda_point point;
  bool threads = x->threads.n > 0;
  if (!fs_cuda_put(x, given, x->lane[fs_cuda_in(x)]) ||
      !fs_cuda_line_mark(x, fs_cuda_in(x), x->given_event[given], threads, &point)) {
    return false;
  }
  if (threads) {
    x->threads.given_mark[given] = point.mark;
  }
  return true;
}

/* Puts content that the item touches in its place at the first touch, and makes the lane wait for
 * it once. */
static bool wait_for_content(fs_instance *x, uint32_t command, uint32_t lane) {
  const fs_io *io = x->io;
  for (uint32_t i = io->given0[command]; i < io->given0[command + 1]; i++) {
    uint32_t g = io->command_given[i];
    if (io->store[io->given[g].memory]) {
      if (!x->given_there[g] && !fs_cuda_put(x, g, NULL)) {
        return false;
      }
      continue;
    }
    if (!x->given_there[g] && !put_content(x, g)) {
      return false;
    }
    fs_cuda_point there = {.line = fs_cuda_in(x),
                           .event = x->given_event[g],
                           .mark = x->threads.n > 0 ? x->threads.given_mark[g] : 0};
    uint8_t *waited = &x->given_waited[(size_t)g * x->program->plan.n_lanes + lane];
    if (!*waited && !fs_cuda_line_wait(x, fs_cuda_line_of(x, lane), &there)) {
      return false;
    }
    *waited = 1;
  }
  return true;
}

/* Takes a kept item out once the last of its writers is issued. */
static bool fetch_when_written(fs_instance *x, uint32_t k) {
  const fs_cuda_program *p = x->program;
  if (--x->kept_left[k] > 0 || !fs_cuda_wanted(x, k)) {
    return true;
  }
  fs_cu_stream out = x->lane[fs_cuda_out(x)];
  for (uint32_t i = p->kept0[k]; i < p->kept0[k + 1]; i++) {
    fs_cuda_point written = fs_cuda_point_of(x, p->kept_writer[i]);
    if (!fs_cuda_line_wait(x, fs_cuda_out(x), &written)) {
      return false;
    }
  }
  x->kept_order[x->n_coming++] = k;
  return fetch(x, k, out) && FS_CUDA_DO(x, cuEventRecord, (x->kept_event[k], out));
}

static bool writes_wanted(const fs_instance *x, uint32_t command) {
  const fs_io *io = x->io;
  for (uint32_t i = io->kept0[command]; i < io->kept0[command + 1]; i++) {
    if (fs_cuda_wanted(x, io->command_kept[i])) {
      return true;
    }
  }
  return false;
}

/* What comes before the effect of an item, or of the loop that it is a part of, on its lane. */
static bool begin_item(fs_instance *x, uint32_t item) {
  const fs_cuda_item *t = &x->program->plan.item[item];
  fs_cuda_line line = fs_cuda_line_of(x, t->lane);
  return wait_for_items(x, t, line) &&
         (x->config.empty || wait_for_content(x, t->command, t->lane)) &&
         (!x->built.timed || put_time(x, line, 2 * item));
}

/* Marks where the item is over, for those that wait for it. */
static bool mark_item(fs_instance *x, uint32_t item, fs_cuda_line line) {
  const fs_cuda_item *t = &x->program->plan.item[item];
  bool recorded =
      t->joins || x->program->watched || (!x->config.empty && writes_wanted(x, t->command));
  bool stream = !fs_cuda_line_is_thread(x, line);
  fs_cuda_point point;
  if (!fs_cuda_line_mark(x, line, stream && recorded ? x->event[t->event] : NULL, t->tells,
                         &point)) {
    return false;
  }
  if (x->threads.n > 0) {
    x->threads.over[item] = point;
  }
  return true;
}

/* What comes behind it. */
static bool end_item(fs_instance *x, uint32_t item) {
  fs_cuda_line line = fs_cuda_line_of(x, x->program->plan.item[item].lane);
  fs_cuda_launch digest;
  void *params[2];
  if (x->built.timed && !put_time(x, line, 2 * item + 1)) {
    return false;
  }
  if (fs_cuda_digest_launch(x, item, params, &digest) &&
      !fs_cuda_launch_on(x, &digest, x->lane[line])) {
    return false;
  }
  if (!mark_item(x, item, line)) {
    return false;
  }
  x->issued[item] = 1;
  x->n_issued++;
  atomic_fetch_add_explicit(&x->moves, 1, memory_order_relaxed);
  return true;
}

/* Issues an item, or with the first part of an op all of its parts: of a loop as a whole. */
static bool issue_item(fs_instance *x, uint32_t item) {
  const fs_cuda_item *t = &x->program->plan.item[item];
  const fs_io *io = x->io;
  for (uint32_t i = item; i < item + t->parts; i++) {
    if (!begin_item(x, i)) {
      return false;
    }
  }
  bool loop = fs_cuda_is_loop(x, t->command);
  for (uint32_t i = item; i < item + (loop ? 1 : t->parts); i++) {
    if (!issue_effect(x, i)) {
      return false;
    }
  }
  for (uint32_t i = item; i < item + t->parts; i++) {
    if (!end_item(x, i)) {
      return false;
    }
  }
  uint32_t last = x->config.empty ? 0 : io->kept0[t->command + 1];
  for (uint32_t i = io->kept0[t->command]; i < last; i++) {
    if (!fetch_when_written(x, io->command_kept[i])) {
      return false;
    }
  }
  return true;
}

/* A given item of the command whose content is late, or FS_NONE. */
static uint32_t late_content(const fs_instance *x, uint32_t command) {
  for (uint32_t i = x->io->given0[command]; i < x->io->given0[command + 1]; i++) {
    uint32_t g = x->io->command_given[i];
    if (!x->given_there[g] && atomic_load(&x->given_ready[g]) == 0) {
      return g;
    }
  }
  return FS_NONE;
}

/* Whether an item, or a part of a loop, comes after one that is not issued.  Predecessors of parts
 * are one after the other. */
static bool after_unissued(const fs_instance *x, const fs_cuda_item *t) {
  const fs_cuda_item *last = t + t->parts - 1;
  for (uint32_t i = t->after0; i < last->after0 + last->n_after; i++) {
    if (!x->issued[x->program->plan.after[i]]) {
      return true;
    }
  }
  return false;
}

/* AHEAD: the number of issued items, over all slots, that may be unfinished in programs with
 * kernels of modules; a slot may have LEAST_AHEAD of them in any case.  The driver has room for a
 * limited number of launches; a launch beyond that blocks, and does so for ever behind a kernel
 * that hangs. */
enum { AHEAD = 512, LEAST_AHEAD = 16 };

bool fs_cuda_issue(fs_instance *x, uint32_t *wants) {
  const fs_cuda_plan *plan = &x->program->plan;
  uint32_t ahead = (uint32_t)fs_max(AHEAD / x->config.slots, LEAST_AHEAD);
  *wants = FS_NONE;
  for (uint32_t i = 0; i < plan->n_items && !fs_cuda_poisoned(x); i += plan->item[i].parts) {
    const fs_cuda_item *t = &plan->item[i];
    if (x->issued[i] || after_unissued(x, t)) {
      continue;
    }
    uint32_t late = x->config.empty ? FS_NONE : late_content(x, t->command);
    if (late != FS_NONE) {
      if (*wants == FS_NONE) {
        *wants = late;
        atomic_store(&x->waits_item, i);
      }
    } else if (!fs_cuda_await_room(x, ahead) || !issue_item(x, i)) {
      return false;
    }
  }
  return !fs_cuda_poisoned(x);
}

bool fs_cuda_issue_end(fs_instance *x) {
  const fs_cuda_plan *plan = &x->program->plan;
  const fs_io *io = x->io;
  for (uint32_t l = 1; l < plan->n_streams && !x->graph; l++) {
    fs_cu_event last = x->event[plan->item[plan->lane_last[l]].event];
    if (!FS_CUDA_DO(x, cuStreamWaitEvent, (x->lane[0], last, 0))) {
      return false;
    }
  }
  for (uint32_t k = 0; k < io->n_kept && !x->config.empty; k++) {
    if (fs_cuda_at_end(x, k) && !fetch(x, k, x->lane[0])) {
      return false;
    }
  }
  uint64_t bytes = (x->s->n_ops + x->loops.n_calls + x->s->n_members) * 8;
  if (x->built.digests && bytes > 0 &&
      !FS_CUDA_DO(
          x, cuMemcpyAsync,
          (host_address(x, x->staged_aux + x->digests), x->aux + x->digests, bytes, x->lane[0]))) {
    return false;
  }
  return FS_CUDA_DO(x, cuEventRecord, (x->done, x->lane[0]));
}
