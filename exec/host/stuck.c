/* SPDX-License-Identifier: Apache-2.0 */
/* The blame: starting at the stuck command that was planned first, follow "waits for the axis of"
 * from queue to queue.  The path ends at a queue that waits for an epoch which no queue will reach
 * any more: that queue is the culprit.  Or the path becomes a ring: then the culprit is the command
 * of the ring that was planned first.
 *
 * From a wait for a barrier, follow the queues that the physical barrier waits for: the producers
 * that are left of its present use, then the consumers of that.  From a sync (sync: block), follow
 * the queues that have commands which are issued and not over. */
#include "exec/host/stuck.h"

#include <stdio.h>

#include "base/clock.h"
#include "model/stream/order.h"

static fs_stuck look_at_queue(const fs_stuck_view *v, uint32_t queue) {
  return v->queue(v->x, queue);
}

static const fs_stream_command *command_at(const fs_stuck_view *v, uint32_t queue, uint32_t at) {
  return &v->s->commands[v->s->queues[queue].command0 + at];
}

static bool is_stuck(const fs_stuck_view *v, uint32_t queue) {
  return look_at_queue(v, queue).at != FS_NONE;
}

/* Whether queue a's stuck command was planned before that of queue b; ties go by queue, and FS_NONE
 * is last. */
static bool earlier(const fs_stuck_view *v, uint32_t a, uint32_t b) {
  fs_stuck x = look_at_queue(v, a),
           y = b == FS_NONE ? (fs_stuck){.at = FS_NONE} : look_at_queue(v, b);
  if (x.at == FS_NONE || y.at == FS_NONE) {
    return y.at == FS_NONE;
  }
  uint64_t start_a = command_at(v, a, x.at)->start, start_b = command_at(v, b, y.at)->start;
  return start_a != start_b ? start_a < start_b : a < b;
}

/* Whether the stuck queue `m` still has to bring about the epoch of `wait`.  It does not when it
 * has passed the command without a signal, or when it is at that very gang and waits for the other
 * members too. */
static bool holds_epoch(const fs_stuck_view *v, uint32_t m, const fs_stuck *wait) {
  fs_stuck own = look_at_queue(v, m);
  if (!fs_axis_has_members(v->s->axes[wait->axis].kind)) {
    return m == wait->axis && own.at < wait->epoch;
  }
  bool meets = own.kind == FS_STUCK_EPOCH && own.axis == wait->axis && own.epoch == wait->epoch;
  for (uint32_t i = 0; i < v->s->queues[m].n_commands; i++) {
    const fs_stream_command *c = command_at(v, m, i);
    if (c->gang_axis == wait->axis && c->gang_epoch == wait->epoch) {
      return i >= own.at + meets;
    }
  }
  return false;
}

static bool updates(const fs_stream *s, const fs_stream_command *c, uint32_t barrier) {
  for (uint32_t i = 0; i < c->n_barrier_updates; i++) {
    if (s->barrier_updates[c->barrier_update0 + i].barrier == barrier) {
      return true;
    }
  }
  return false;
}

static bool waits(const fs_stream *s, const fs_stream_command *c, uint32_t barrier) {
  for (uint32_t i = 0; i < c->n_barrier_waits; i++) {
    if (s->barrier_waits[c->barrier_wait0 + i] == barrier) {
      return true;
    }
  }
  return false;
}

static bool holds_barrier(const fs_stuck_view *v, uint32_t m, const fs_stuck *wait) {
  uint32_t physical = v->physicals->of[wait->barrier], at = look_at_queue(v, m).at;
  fs_stuck_barrier now = v->barrier(v->x, physical);
  if (now.use >= fs_physical_uses(v->physicals, physical)) {
    return false;
  }
  uint32_t barrier = fs_physical_barrier(v->physicals, physical, now.use);
  for (uint32_t i = at; i < v->s->queues[m].n_commands; i++) {
    const fs_stream_command *c = command_at(v, m, i);
    if (now.producers > 0 ? updates(v->s, c, barrier) : waits(v->s, c, barrier)) {
      return true;
    }
  }
  return false;
}

static bool holds_issue(const fs_stuck_view *v, uint32_t m, const fs_stuck *wait) {
  const fs_stream_stop *stop = &v->s->stops[wait->stop];
  return (stop->queue == FS_NONE || stop->queue == m) && look_at_queue(v, m).kind != FS_STUCK_ISSUE;
}

/* The queue of a command of a loop. */
static uint32_t queue_of(const fs_stream *s, uint32_t loop_command) {
  uint32_t q = 0;
  while (q + 1 < s->n_loop_queues &&
         loop_command - s->loop_queues[q].command0 >= s->loop_queues[q].n_commands) {
    q++;
  }
  return s->loop_queues[q].queue;
}

static const char *name_of(const fs_stream *s, uint32_t loop_command) {
  return fs_stream_string(s, s->loop_ops[s->loop_commands[loop_command].op].name);
}

/* Whether it is in a loop. */
static bool in_loop(const fs_stuck *wait) {
  switch (wait->kind) {
    case FS_STUCK_LOOP:
    case FS_STUCK_PHASE:
      return true;
    case FS_STUCK_EPOCH:
    case FS_STUCK_CONTENT:
    case FS_STUCK_MAPPED:
    case FS_STUCK_COMPLETE:
    case FS_STUCK_ISSUE:
      break;
  }
  return false;
}

/* The instance that waits. */
static const fs_stuck_level *innermost(const fs_stuck *wait) {
  assert(in_loop(wait) && wait->depth > 0 && wait->depth <= FS_LOOP_NEST);
  return &wait->level[wait->depth - 1];
}

/* Whether the queue has a member of the gang, and does not wait for the others, too. */
static bool holds_gang(const fs_stuck_view *v, uint32_t m, const fs_stuck *wait) {
  const fs_stream *s = v->s;
  const fs_stuck_level *at = innermost(wait);
  const fs_stream_loop_command *of = &s->loop_commands[at->command];
  fs_stuck own = look_at_queue(v, m);
  if (own.kind == FS_STUCK_LOOP && own.on.command == FS_NONE &&
      innermost(&own)->iteration == at->iteration &&
      s->loop_commands[innermost(&own)->command].op == of->op) {
    return false;
  }
  for (uint32_t c = 0; c < s->n_loop_commands; c++) {
    const fs_stream_loop_command *k = &s->loop_commands[c];
    if (k->op == of->op && k->copy == of->copy && queue_of(s, c) == m) {
      return true;
    }
  }
  return false;
}

/* Whether a queue whose stuck command is `at` is behind its member of the gang of `wait`. */
static bool is_behind(const fs_stuck_view *v, uint32_t m, uint64_t at, const fs_stuck *wait) {
  uint64_t n = fs_min(at, v->s->queues[m].n_commands);
  for (uint32_t i = 0; i < n && wait->axis != FS_NONE; i++) {
    const fs_stream_command *c = command_at(v, m, i);
    if (c->gang_axis == wait->axis && c->gang_epoch == wait->epoch) {
      return true;
    }
  }
  return false;
}

/* Whether a queue that waits there has passed, or not come to, the run of a loop whose runs are
 * joined, in which the instance is that `wait` waits for: above 0 and below it, else 0. */
static int place_of_run(const fs_stuck_view *v, const fs_stuck *own, const fs_stuck *wait,
                        uint32_t queue) {
  const fs_stream *s = v->s;
  uint32_t around = wait->depth - 2;
  const fs_stuck_level *at = &wait->level[around];
  uint32_t op = s->loop_commands[at->command].op, q = 0, c = 0;
  while (s->loop_queues[q].queue != queue ||
         c - s->loop_queues[q].command0 >= s->loop_queues[q].n_commands ||
         s->loop_commands[c].op != op) {
    bool inside = c + 1 - s->loop_queues[q].command0 < s->loop_queues[q].n_commands;
    q += !inside;
    c = inside ? c + 1 : s->loop_queues[q].command0;
  }
  uint64_t step = at->iteration - wait->earlier + s->loop_commands[c].shift;
  uint64_t place = step * s->loop_queues[q].n_commands + (c - s->loop_queues[q].command0) + 1;
  uint64_t now = own->level[around].place;
  return (now > place) - (now < place);
}

/* Whether the runs of the loop are joined in which an instance waits. */
static bool waits_in_joined(const fs_stream *s, const fs_stuck *wait) {
  uint32_t around = wait->depth < 2 ? FS_NONE : wait->level[wait->depth - 2].command;
  uint32_t inner = around == FS_NONE ? FS_NONE : s->loop_ops[s->loop_commands[around].op].loop;
  return inner != FS_NONE && s->loops[inner].joined != 0;
}

/* Whether the queue has an instance, of the run of the loop in which another one waits, still to
 * run.  It does not when it has passed that without a signal, or has left the loop: then it is
 * behind that or, in the loop around it, waits for the others to leave, too. */
static bool has_instance(const fs_stuck_view *v, uint32_t m, const fs_stuck *wait,
                         const fs_stuck_level *on) {
  if (queue_of(v->s, on->command) != m) {
    return false;
  }
  fs_stuck own = look_at_queue(v, m);
  bool waits_there = own.axis == wait->axis && own.epoch == wait->epoch;
  bool left = is_behind(v, m, own.at, wait);
  bool passed = false;
  if (in_loop(&own) && waits_there && waits_in_joined(v->s, wait)) {
    int run = own.depth + 1 < wait->depth ? -1 : place_of_run(v, &own, wait, m);
    bool inside = run == 0 && own.depth >= wait->depth;
    passed = run > 0 || (inside && own.level[wait->depth - 1].place > on->place);
  } else if (in_loop(&own) && waits_there) {
    passed = own.depth < wait->depth || own.level[wait->depth - 1].place > on->place;
  }
  return !left && !passed;
}

static bool holds_loop(const fs_stuck_view *v, uint32_t m, const fs_stuck *wait) {
  return wait->on.command == FS_NONE ? holds_gang(v, m, wait) : has_instance(v, m, wait, &wait->on);
}

/* The loop whose guard this is. */
static const fs_stream_loop *loop_of_guard(const fs_stream *s, uint32_t guard) {
  uint32_t l = 0;
  while (guard - s->loops[l].guard0 >= s->loops[l].n_guards) {
    l++;
    assert(l < s->n_loops);
  }
  return &s->loops[l];
}

static bool updates_guard(const fs_stream *s, const fs_stuck *wait, uint32_t loop_command) {
  const fs_stream_guard *g = &s->guards[wait->guard];
  const fs_stream_loop_command *k = &s->loop_commands[loop_command];
  bool found = false;
  if (!fs_guard_has_queue(g, queue_of(s, loop_command))) {
    return false;
  }
  for (uint32_t i = g->producer0; i < g->producer0 + g->n_producers && !found; i++) {
    found = s->producers[i] == k->op && k->copy == wait->of % loop_of_guard(s, wait->guard)->copies;
  }
  return found;
}

/* Whether one of the queue's commands is still to arrive at the barrier. */
static bool holds_phase(const fs_stuck_view *v, uint32_t m, const fs_stuck *wait) {
  const fs_stream *s = v->s;
  const fs_stream_loop *l = loop_of_guard(s, wait->guard);
  for (uint32_t i = l->queue0; i < l->queue0 + l->n_queues; i++) {
    const fs_stream_loop_queue *q = &s->loop_queues[i];
    for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
      uint64_t step = wait->iteration / l->copies + s->loop_commands[c].shift;
      fs_stuck_level on = {c, wait->iteration, step * q->n_commands + (c - q->command0) + 1};
      if (updates_guard(s, wait, c) && has_instance(v, m, wait, &on)) {
        return true;
      }
    }
  }
  return false;
}

static bool holds_up(const fs_stuck_view *v, uint32_t m, const fs_stuck *wait) {
  if (!is_stuck(v, m)) {
    return false;
  }
  switch (wait->kind) {
    case FS_STUCK_EPOCH:
      return holds_epoch(v, m, wait);
    case FS_STUCK_MAPPED:
    case FS_STUCK_COMPLETE:
      return holds_barrier(v, m, wait);
    case FS_STUCK_LOOP:
      return holds_loop(v, m, wait);
    case FS_STUCK_PHASE:
      return holds_phase(v, m, wait);
    case FS_STUCK_ISSUE:
      return holds_issue(v, m, wait);
    case FS_STUCK_CONTENT:
      break;
  }
  return false;
}

/* The stuck queue that `queue` waits for; FS_NONE when that is none. */
static uint32_t waits_for(const fs_stuck_view *v, uint32_t queue) {
  fs_stuck wait = look_at_queue(v, queue);
  if (wait.at == FS_NONE || wait.kind == FS_STUCK_CONTENT) {
    return FS_NONE;
  }
  for (uint32_t m = 0; m < v->s->n_queues; m++) {
    if (holds_up(v, m, &wait)) {
      return m;
    }
  }
  return FS_NONE;
}

/* The queue to blame; FS_NONE when no queue is stuck (any more). */
static uint32_t find_culprit(const fs_stuck_view *v) {
  uint32_t q = FS_NONE;
  for (uint32_t i = 0; i < v->s->n_queues; i++) {
    if (is_stuck(v, i) && earlier(v, i, q)) {
      q = i;
    }
  }
  for (uint32_t i = 0; q != FS_NONE && i < v->s->n_queues; i++) {
    uint32_t next = waits_for(v, q);
    if (next == FS_NONE) {
      return q;
    }
    q = next;
  }
  /* After as many steps as there are queues, q lies on a ring, unless things have moved. */
  uint32_t first = q, steps = 0;
  for (uint32_t p = q == FS_NONE ? FS_NONE : waits_for(v, q);
       p != FS_NONE && p != q && steps < v->s->n_queues; p = waits_for(v, p), steps++) {
    first = earlier(v, p, first) ? p : first;
  }
  return first;
}

/* Says which use a physical barrier has, and why it keeps it. */
static void say_barrier(const fs_stuck_view *v, uint32_t barrier, char *text, size_t room) {
  const fs_physicals *p = v->physicals;
  uint32_t index = p->of[barrier], physical = v->s->barriers[barrier].physical;
  fs_stuck_barrier now = v->barrier(v->x, index);
  if (now.use >= fs_physical_uses(p, index)) {
    (void)snprintf(text, room, "physical barrier %u has no more uses", physical);
    return;
  }
  bool producers = now.producers > 0;
  const fs_stream_barrier *b = &v->s->barriers[fs_physical_barrier(p, index, now.use)];
  (void)snprintf(text, room, "physical barrier %u is in use %u, of which %u of %u %s", physical,
                 now.use, producers ? now.producers : now.consumers,
                 producers ? b->n_producers : b->n_consumers,
                 producers ? "producers are not over" : "consumers have not started");
}

enum { INSTANCE_TEXT = 160 + FS_LOOP_NEST * 22 + 1 };

/* Writes the name of an instance: "op[3][0]". */
static void name_instance(const fs_stream *s, const fs_stuck *wait, const fs_stuck_level *at,
                          uint64_t earlier, char text[INSTANCE_TEXT]) {
  int n = snprintf(text, INSTANCE_TEXT, "%.160s", name_of(s, at->command));
  for (uint32_t i = 0; i < wait->depth; i++) {
    const fs_stuck_level *around = i + 1 < wait->depth ? &wait->level[i] : at;
    n += snprintf(text + n, INSTANCE_TEXT - (size_t)n, "[%llu]",
                  (unsigned long long)(around->iteration - (i + 2 == wait->depth ? earlier : 0)));
  }
}

static void say_loop(const fs_stream *s, const fs_stuck *wait, char *text, size_t room) {
  char own[INSTANCE_TEXT], on[INSTANCE_TEXT];
  name_instance(s, wait, innermost(wait), 0, own);
  if (wait->on.command == FS_NONE) {
    (void)snprintf(text, room, "its '%s' waits for that op's other queues", own);
  } else {
    name_instance(s, wait, &wait->on, wait->earlier, on);
    (void)snprintf(text, room, "its '%s' waits for '%s' of '%.100s'", own, on,
                   fs_stream_string(s, s->queues[queue_of(s, wait->on.command)].name));
  }
}

/* Names the first of the ops that update a barrier, on its first queue. */
static void say_phase(const fs_stream *s, const fs_stuck *wait, char *text, size_t room) {
  const fs_stream_guard *g = &s->guards[wait->guard];
  char own[INSTANCE_TEXT], on[INSTANCE_TEXT], more[40] = "";
  uint32_t slot = (uint32_t)(wait->of % g->depth), command = 0;
  while (s->loop_commands[command].op != s->producers[g->producer0] ||
         !updates_guard(s, wait, command)) {
    command++;
    assert(command < s->n_loop_commands);
  }
  name_instance(s, wait, innermost(wait), 0, own);
  name_instance(s, wait, &(fs_stuck_level){.command = command, .iteration = wait->iteration},
                wait->earlier, on);
  if (g->n_producers > 1) {
    (void)snprintf(more, sizeof more, " and %u more", g->n_producers - 1);
  }
  (void)snprintf(text, room,
                 "its '%s' waits for '%s' of '%.100s'%s: for phase %llu of physical barrier %u "
                 "(slot %u of %u), of which %llu %s complete",
                 own, on, fs_stream_string(s, s->queues[queue_of(s, command)].name), more,
                 (unsigned long long)(wait->of / g->depth), g->physical + slot, slot, g->depth,
                 (unsigned long long)wait->complete, wait->complete == 1 ? "is" : "are");
}

/* Says what a queue waits for, as the end of a sentence. */
static void say_wait(const fs_stuck_view *v, const fs_stuck *wait, char *text, size_t room) {
  const fs_stream *s = v->s;
  char now[160];
  switch (wait->kind) {
    case FS_STUCK_CONTENT:
      (void)snprintf(text, room,
                     "it waits for the content of '%.200s', whose fence has not been signalled",
                     fs_stream_string(s, s->buffers[v->io->given[wait->item].buffer].name));
      break;
    case FS_STUCK_EPOCH:
      (void)snprintf(text, room, "it waits for epoch %llu of '%.200s', which has reached %llu",
                     (unsigned long long)wait->epoch, fs_stream_string(s, s->axes[wait->axis].name),
                     (unsigned long long)v->reached(v->x, wait->axis));
      break;
    case FS_STUCK_MAPPED:
    case FS_STUCK_COMPLETE:
      say_barrier(v, wait->barrier, now, sizeof now);
      (void)snprintf(text, room, "it %s barrier %u (use %u of physical barrier %u), and %s",
                     wait->kind == FS_STUCK_MAPPED ? "updates" : "waits for", wait->barrier,
                     s->barriers[wait->barrier].use, s->barriers[wait->barrier].physical, now);
      break;
    case FS_STUCK_LOOP:
      say_loop(s, wait, text, room);
      break;
    case FS_STUCK_PHASE:
      say_phase(s, wait, text, room);
      break;
    case FS_STUCK_ISSUE: {
      const fs_stream_stop *stop = &s->stops[wait->stop];
      bool full = stop->queue == FS_NONE;
      (void)snprintf(text, room, "it is issued after sync %u, which waits for %s%.200s%s",
                     wait->stop, full ? "all that was issued before" : "queue '",
                     full ? "" : fs_stream_string(s, s->queues[stop->queue].name), full ? "" : "'");
      break;
    }
  }
}

static void report_queue(const fs_stuck_view *v, fsched_context *ctx, uint32_t q,
                         fsched_severity severity) {
  const fs_stream *s = v->s;
  fs_stuck wait = look_at_queue(v, q);
  char text[2 * INSTANCE_TEXT + 400];
  if (wait.at == FS_NONE) {
    return;
  }
  const fs_stream_command *c = command_at(v, q, wait.at);
  say_wait(v, &wait, text, sizeof text);
  fs_report(ctx, severity, FS_DIAG_REPLAY_STUCK, FS_NOWHERE, NULL,
            "queue '%s' is stuck at command %u (%s '%s'): %s",
            fs_stream_string(s, s->queues[q].name), c->epoch, fs_words_target[c->kind],
            fs_command_target_name(s, c), text);
}

void fs_stuck_report(fsched_context *ctx, const fs_stuck_view *v) {
  uint32_t culprit = find_culprit(v);
  if (culprit == FS_NONE) {
    return;
  }
  report_queue(v, ctx, culprit, FSCHED_ERROR);
  for (uint32_t i = 0; i < v->s->n_queues; i++) {
    if (i != culprit && is_stuck(v, i)) {
      report_queue(v, ctx, i, FSCHED_NOTE);
    }
  }
}

const char *fs_stuck_queue(const fs_stream *s, uint32_t command) {
  assert(command < s->n_commands);
  uint32_t low = 0, high = s->n_queues; /* finds the last queue that begins no later than the
                                           command: queues tile the commands */
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    *(s->queues[middle].command0 <= command ? &low : &high) = middle;
  }
  return fs_stream_string(s, s->queues[low].name);
}

static unsigned long long ms_between(uint64_t begin_ns, uint64_t end_ns) {
  return end_ns < begin_ns ? 0 : (end_ns - begin_ns) / 1000000;
}

/* Writes the text ", iteration 3 of 'x'"; in loops in loops "iteration 2.3". */
static void name_iteration(const fs_stream *s, const fs_running *what, char *at, size_t size) {
  int n = snprintf(at, size, ", iteration ");
  for (uint32_t i = what->depth; i-- > 0;) {
    n += snprintf(at + n, size - (size_t)n, "%llu%s", (unsigned long long)what->iteration[i],
                  i > 0 ? "." : "");
  }
  (void)snprintf(at + n, size - (size_t)n, " of '%.64s'",
                 fs_stream_string(s, s->loop_ops[what->loop_op].name));
}

const char *fs_running_queue(const fs_stream *s, const fs_running *what) {
  assert(what->command < s->n_commands);
  return what->queue < s->n_queues ? fs_stream_string(s, s->queues[what->queue].name)
                                   : fs_stuck_queue(s, what->command);
}

/* The command of what runs on its queue; FS_NONE: it has none, as it was planned for others. */
static uint32_t command_there(const fs_stream *s, const fs_running *what) {
  if (what->queue >= s->n_queues) {
    return what->command;
  }
  const fs_stream_queue *q = &s->queues[what->queue];
  uint32_t op = fs_command_op(&s->commands[what->command]), at = q->command0;
  while (at < q->command0 + q->n_commands && fs_command_op(&s->commands[at]) != op) {
    at++;
  }
  return at < q->command0 + q->n_commands ? at : FS_NONE;
}

void fs_stuck_report_kernel(fsched_context *ctx, const fs_stream *s, const fs_running *what,
                            uint64_t since_ns, uint64_t begin_ns) {
  assert(what->command < s->n_commands);
  const fs_stream_op *op = &s->ops[s->commands[what->command].target];
  bool in_loop = what->loop_op != FS_NONE;
  const fs_stream_kernel *k = &s->kernels[in_loop ? s->loop_ops[what->loop_op].kernel : op->kernel];
  uint32_t own = command_there(s, what);
  char at[300] = "", number[32] = "";
  if (in_loop) {
    name_iteration(s, what, at, sizeof at);
  }
  if (own != FS_NONE) {
    (void)snprintf(number, sizeof number, " at command %u", s->commands[own].epoch);
  }
  fs_report(ctx, FSCHED_ERROR, FS_DIAG_REPLAY_STUCK, FS_NOWHERE,
            "a kernel that takes longer wants a longer timeout",
            "queue '%s' is stuck%s (op '%s'%s): its kernel, function '%s' of module '%s', "
            "has not returned for %llu ms, since %llu ms after the begin of the invocation",
            fs_running_queue(s, what), number, fs_stream_string(s, op->name), at,
            fs_stream_string(s, k->function), fs_stream_string(s, k->module),
            ms_between(since_ns, fs_now_ns()), ms_between(begin_ns, since_ns));
}
