/* SPDX-License-Identifier: Apache-2.0 */
/* Simulation: one invocation.
 *
 * A command has as many things to wait for as it has waits, and one more: its turn on its queue.
 * When the last of them is over, the command begins at that virtual time; a gang begins when that
 * is so for all of its members.  Running commands lie in a heap by their end.  The earliest end is
 * next: the command has its effect, its epoch is reached if it signals, which may let others begin,
 * and the next command of its queue has its turn.  Barriers and syncs (sim/sync.c) add things to
 * wait for: one for each barrier, and one for being issued.
 *
 * A slow command lets its queue go on before it is over, so more than one runs on a queue.  Epochs
 * are reached in their order all the same: that of a command waits for all commands before it.
 *
 * The commands of a loop are a gang that does not meet: each begins and ends on its own, and what
 * is left to do for the op is done with the last one (sim/loops/loops.h).
 *
 * Virtual times follow from the stream and the durations alone.  A command whose input is not there
 * yet in real time is put aside while the others go on, and begins, when the input comes, at the
 * virtual time at which it could have begun.  So the run may meet ends out of order, but never
 * before the ends that they depend on.
 * Complexity: O((commands + waits) log queues), plus the cost of the effects. */
#include "base/saturate.h"
#include "exec/sim/sim.h"

static void reset(fs_instance *x) {
  const fs_stream *s = x->stream;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    x->left[c] = 1 + s->commands[c].n_barrier_waits + s->commands[c].n_barrier_updates +
                 (x->by_issue != NULL);
    x->from[c] = 0;
    for (uint32_t w = s->commands[c].wait0; w < s->commands[c].wait0 + s->commands[c].n_waits;
         w++) {
      x->left[c] += s->waits[w].epoch > 0;
    }
  }
  memset(x->reached, 0, s->n_axes * sizeof *x->reached);
  memset(x->at, 0, s->n_queues * sizeof *x->at);
  uint32_t n_meetings = x->slot0[s->n_axes] - x->slot0[s->n_queues];
  for (uint32_t i = 0; i < n_meetings; i++) {
    x->meeting[i] = (fs_sim_meeting){.last = FS_NONE};
  }
  if (x->over != NULL) {
    memset(x->over, 0xFF, s->n_commands * sizeof *x->over);
    memset(x->gone_on, 0, s->n_queues * sizeof *x->gone_on);
    memset(x->reached_at, 0, s->n_queues * sizeof *x->reached_at);
    memset(x->passed, 0, n_meetings * sizeof *x->passed);
  }
  for (uint32_t i = 0; !x->config.empty && i < x->io->n_given; i++) {
    x->there[i] = false;
    x->parked[i] = FS_NONE;
  }
  for (uint32_t i = 0; !x->config.empty && i < x->io->n_kept; i++) {
    x->kept_left[i] = x->io->kept[i].touches;
  }
  x->running.n = 0;
  x->n_left = s->n_commands;
  x->makespan = 0;
  fs_sim_sync_begin(x);
  fs_sim_loops_begin(x);
}

/* Puts a given item's content in place.  False: the content may not be read yet. */
static bool put_in_place(fs_instance *x, uint32_t item) {
  if (x->there[item]) {
    return true;
  }
  if (!atomic_load_explicit(&x->ready[item], memory_order_acquire)) {
    return false;
  }
  x->there[item] = true;
  fs_effect_give(&x->effects, x->work, item);
  return true;
}

/* Whether the command starts and ends with others. */
static bool meets(const fs_instance *x, uint32_t command) {
  return fs_sim_is_gang(&x->stream->commands[command]) && fs_sim_loop_of(x, command) == FS_NONE;
}

/* Tells sim/sync.c that the command, or every member of its gang, starts. */
static void start_command(fs_instance *x, uint32_t command) {
  if (!meets(x, command)) {
    fs_sim_sync_start(x, command, x->from[command]);
    return;
  }
  for (uint32_t m = command; m != FS_NONE; m = x->next_member[m]) {
    fs_sim_sync_start(x, m, x->from[command]);
  }
}

void fs_sim_push(fs_instance *x, uint64_t time, uint32_t event) {
  assert(x->running.n < x->running.cap);
  fs_status status = fs_heap_push(x->ctx, &x->running, time, event);
  assert(status == FSCHED_OK);
  (void)status;
}

/* Begins a command whose waits are all over. */
static void begin(fs_instance *x, uint32_t command) {
  const fs_io *io = x->io;
  for (uint32_t i = io->given0[command]; !x->config.empty && i < io->given0[command + 1]; i++) {
    uint32_t item = io->command_given[i];
    if (!put_in_place(x, item)) {
      x->next_parked[command] = x->parked[item];
      x->parked[item] = command;
      return;
    }
  }
  start_command(x, command);
  if (fs_sim_loop_of(x, command) != FS_NONE) {
    fs_sim_loop_begin(x, command, x->from[command]);
    return;
  }
  fs_sim_guard_begin(x, command);
  uint64_t duration = fs_sim_duration(x, command);
  fs_sim_push(x, fs_add_most(x->from[command], duration), command);
  if (!fs_command_slow(x->stream, &x->stream->commands[command])) {
    return;
  }
  uint64_t free = fs_add_most(x->from[command], fs_sim_occupancy(x, command, duration));
  if (!fs_sim_is_gang(&x->stream->commands[command])) {
    fs_sim_push(x, free, fs_sim_queue_event(x, x->queue[command]));
    return;
  }
  for (uint32_t m = command; m != FS_NONE; m = x->next_member[m]) {
    fs_sim_push(x, free, fs_sim_queue_event(x, x->queue[m]));
  }
}

void fs_sim_release(fs_instance *x, uint32_t command, uint64_t time) {
  assert(command < x->stream->n_commands && x->left[command] > 0);
  const fs_stream_command *c = &x->stream->commands[command];
  x->from[command] = fs_max(x->from[command], time);
  if (--x->left[command] != 0) {
    return;
  }
  if (!meets(x, command)) {
    begin(x, command);
    return;
  }
  fs_sim_meeting *m = fs_sim_meeting_of(x, c);
  m->from = fs_max(m->from, x->from[command]);
  x->next_member[command] = m->last;
  m->last = command;
  if (++m->arrived == x->stream->axes[c->gang_axis].n_members) {
    x->from[command] = m->from;
    begin(x, command);
  }
}

void fs_sim_release_slot(fs_instance *x, uint32_t slot, uint64_t time) {
  for (uint32_t i = x->waiter0[slot]; i < x->waiter0[slot + 1]; i++) {
    fs_sim_release(x, x->waiter[i], time);
  }
}

static void reach(fs_instance *x, uint32_t axis, uint32_t epoch, uint64_t time) {
  while (x->reached[axis] < epoch) {
    fs_sim_release_slot(x, x->slot0[axis] + x->reached[axis]++, time);
  }
}

/* Where ops are slow: the epoch of a command is reached, as all those before it are over, too.  The
 * epoch of a gang is when those of all members are. */
static void pass_command(fs_instance *x, uint32_t command) {
  const fs_stream_command *c = &x->stream->commands[command];
  uint32_t q = x->queue[command];
  uint64_t time = x->reached_at[q] = fs_max(x->reached_at[q], x->over[command]);
  fs_sim_sync_reach(x, command, time);
  if (c->signal) {
    reach(x, q, c->epoch, time);
  }
  if (!fs_sim_is_gang(c)) {
    return;
  }
  fs_sim_meeting *m = &x->passed[fs_sim_meeting_of(x, c) - x->meeting];
  m->from = fs_max(m->from, time);
  if (++m->arrived == x->stream->axes[c->gang_axis].n_members) {
    reach(x, c->gang_axis, c->gang_epoch, m->from);
  }
}

/* Where ops are slow: a command is over, and with it all epochs that it held back. */
static void leave_in_any_order(fs_instance *x, uint32_t command, uint64_t to) {
  uint32_t queue = x->queue[command];
  const fs_stream_queue *q = &x->stream->queues[queue];
  x->over[command] = to;
  fs_sim_sync_end(x, command, to);
  while (x->at[queue] < q->n_commands && x->over[q->command0 + x->at[queue]] != UINT64_MAX) {
    pass_command(x, q->command0 + x->at[queue]++);
  }
}

/* Where ops are slow: the queue goes on after its latest command. */
static void go_on(fs_instance *x, uint32_t queue, uint64_t time) {
  const fs_stream_queue *q = &x->stream->queues[queue];
  uint32_t next = ++x->gone_on[queue];
  if (next < q->n_commands) {
    fs_sim_release(x, q->command0 + next, time);
  }
}

/* A command is over on its queue; of a gang, each member is over on its own queue. */
static void leave_command(fs_instance *x, uint32_t command, uint64_t from, uint64_t to) {
  const fs_stream_command *c = &x->stream->commands[command];
  const fs_stream_queue *q = &x->stream->queues[x->queue[command]];
  if (x->work->record.begin != NULL) {
    x->work->record.begin[command] = from / x->times.per_ns;
    x->work->record.end[command] = to / x->times.per_ns;
  }
  x->n_left--;
  if (x->over != NULL) {
    leave_in_any_order(x, command, to);
    if (!fs_command_slow(x->stream, c)) {
      go_on(x, x->queue[command], to);
    }
    return;
  }
  uint32_t at = ++x->at[x->queue[command]];
  if (c->signal) {
    reach(x, x->queue[command], at, to);
  }
  fs_sim_sync_end(x, command, to);
  fs_sim_sync_reach(x, command, to);
  if (at < q->n_commands) {
    fs_sim_release(x, q->command0 + at, to);
  }
}

/* Runs all members with their own args, one after the other. */
static fsched_cause run_members(fs_instance *x, uint32_t command) {
  fsched_cause cause = FSCHED_CAUSE_NONE;
  for (uint32_t m = command; m != FS_NONE && cause == FSCHED_CAUSE_NONE; m = x->next_member[m]) {
    cause = fs_effect_run(&x->effects, &x->room, x->work, m);
  }
  uint64_t sum = 0, *digest = x->work->record.digest;
  for (uint32_t m = digest == NULL ? FS_NONE : command; m != FS_NONE; m = x->next_member[m]) {
    sum += fs_effect_member_digest(&x->effects, &x->room, x->work, m);
  }
  if (digest != NULL) {
    digest[x->stream->commands[command].target] = sum;
  }
  return cause;
}

/* What a command does, but for what is done inside a loop. */
static void effect(fs_instance *x, uint32_t command) {
  const fs_io *io = x->io;
  bool members = fs_command_members(x->stream, &x->stream->commands[command]) > 0;
  fsched_cause cause = !fs_sim_guard_end(x, command)           ? FSCHED_CAUSE_WRONG
                       : fs_sim_loop_of(x, command) != FS_NONE ? FSCHED_CAUSE_NONE
                       : members                               ? run_members(x, command)
                                 : fs_effect_run(&x->effects, &x->room, x->work, command);
  if (cause != FSCHED_CAUSE_NONE) {
    fs_sim_poison(x, cause);
    return;
  }
  for (uint32_t i = io->kept0[command]; i < io->kept0[command + 1]; i++) {
    if (--x->kept_left[io->command_kept[i]] == 0) {
      fs_effect_keep(&x->effects, x->work, io->command_kept[i]);
    }
  }
}

static void end(fs_instance *x, uint32_t command, uint64_t time) {
  const fs_stream_command *c = &x->stream->commands[command];
  uint64_t from = x->from[command];
  bool over = fs_sim_loop_over(x, command);
  if (!x->config.empty && over) {
    effect(x, fs_sim_loop_first(x, command));
  }
  x->makespan = fs_max(x->makespan, time);
  if (!meets(x, command)) {
    leave_command(x, command, from, time);
  }
  for (uint32_t m = meets(x, command) ? command : FS_NONE, next; m != FS_NONE; m = next) {
    next = x->next_member[m];
    leave_command(x, m, from, time);
  }
  if (fs_sim_is_gang(c) && over && x->over == NULL) {
    reach(x, c->gang_axis, c->gang_epoch, time);
  }
  fs_sim_sync_go_on(x);
}

/* Begins the commands whose content has come. */
static void take_news(fs_instance *x) {
  while (x->n_taken < atomic_load_explicit(&x->n_arrived, memory_order_acquire)) {
    uint32_t item = x->arrived[x->n_taken++];
    uint32_t c = x->parked[item], next;
    for (x->parked[item] = FS_NONE; c != FS_NONE; c = next) {
      next = x->next_parked[c];
      begin(x, c);
    }
    fs_sim_sync_go_on(x);
  }
}

static bool at_end(const fs_instance *x, uint32_t item) {
  return x->io->kept[item].touches == 0 && x->work->kept != NULL && x->work->kept[item] != NULL;
}

/* Keeps the content that no command touches.  Whether the invocation has failed is decided once all
 * of that content is there: state is taken out as a whole or not at all. */
static fsched_cause keep_rest(fs_instance *x) {
  for (uint32_t i = 0; i < x->io->n_kept; i++) {
    uint32_t given = x->io->kept[i].given;
    while (at_end(x, i) && given != FS_NONE && !fs_sim_poisoned(x) && !put_in_place(x, given)) {
      fs_sim_await_news(x);
      take_news(x);
    }
  }
  fsched_cause cause = fs_sim_cause(x);
  for (uint32_t i = 0; i < x->io->n_kept && cause == FSCHED_CAUSE_NONE; i++) {
    if (at_end(x, i)) {
      fs_effect_keep(&x->effects, x->work, i);
    }
  }
  return cause;
}

static void happen(fs_instance *x, uint32_t event, uint64_t time) {
  if (event >= fs_sim_loop_event(x, 0)) {
    event = fs_sim_loop_happens(x, event, time);
    if (event == FS_NONE || fs_sim_poisoned(x)) {
      return;
    }
  }
  if (event < x->stream->n_commands) {
    end(x, event, time);
  } else {
    go_on(x, event - fs_sim_queue_event(x, 0), time);
  }
}

fsched_cause fs_sim_run(fs_instance *x, uint64_t k) {
  reset(x);
  fs_sim_times_begin(x, k);
  for (uint32_t q = 0; q < x->stream->n_queues; q++) {
    if (x->stream->queues[q].n_commands > 0) {
      fs_sim_release(x, x->stream->queues[q].command0, 0);
    }
  }
  fs_sim_sync_go_on(x);
  while (x->n_left > 0 && !fs_sim_poisoned(x)) {
    take_news(x);
    if (x->running.n == 0) {
      fs_sim_await_news(x);
      continue;
    }
    fs_heap_entry e = fs_heap_pop(&x->running);
    happen(x, e.id, e.key);
    uint64_t moves = atomic_load_explicit(&x->moves, memory_order_relaxed);
    atomic_store_explicit(&x->moves, moves + 1, memory_order_relaxed);
  }
  return x->config.empty ? fs_sim_cause(x) : keep_rest(x);
}
