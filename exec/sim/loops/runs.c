/* SPDX-License-Identifier: Apache-2.0 */
/* Simulation: runs loops.
 *
 * What happens in a loop happens in the order of virtual time: all of it follows from its begin,
 * and the heap has what comes next.  So a part that waits need not know when what it waits for was
 * over: it goes on when that is told.
 *
 * An event for each flight that leads says that its instance is over, one for the part of a slow
 * one that its queue goes on, or, once it has no command left, that it leaves a loop that is in no
 * other, and one for a loop in a loop that all of its parts are over.  None of these calls another,
 * so that the depth of calls is that of loops in loops.
 * Complexity: O((instances + waits) log queues), plus the cost of the effects. */
#include "exec/sim/loops/loops.h"

#include "base/saturate.h"
#include "model/sync.h"

/* Flights */

/* FS_NONE, and the invocation is poisoned: there is no memory. */
static uint32_t new_flight(fs_instance *x) {
  fs_sim_loops *l = x->loops;
  uint32_t flight = l->free;
  if (flight != FS_NONE) {
    l->free = l->flight.at[flight].next;
    return flight;
  }
  size_t n = l->flight.n, seen = x->config.empty ? 0 : (n + 1) * l->n_places;
  if (n >= FS_NONE - fs_sim_flight_event(x, 0) ||
      fs_vec_reserve(x->ctx, &l->flight, n + 1) != FSCHED_OK ||
      fs_vec_reserve(x->ctx, &l->seen, seen) != FSCHED_OK ||
      fs_vec_reserve(x->ctx, &x->running, fs_sim_most_events(x, n + 1)) != FSCHED_OK) {
    fs_sim_poison(x, FSCHED_CAUSE_SYSTEM);
    return FS_NONE;
  }
  l->flight.n++;
  return (uint32_t)n;
}

static void free_flight(fs_sim_loops *l, uint32_t flight) {
  l->flight.at[flight].next = l->free;
  l->free = flight;
}

/* Parts */

static void move_on(const fs_instance *x, uint32_t part) {
  fs_sim_part *p = &x->loops->part[part];
  p->next_wait = 0;
  if (++p->at == fs_sim_queue_of(x, part)->n_commands) {
    p->at = 0;
    p->step++;
  }
}

/* Goes on with the parts of a list. */
static void wake(fs_instance *x, uint32_t *waiter, uint64_t time);

/* A command of a flight is over, and arrives at the barriers that it updates: so commands see in
 * its own time each phase that it completes, and none that has passed. */
static void arrive(fs_instance *x, uint32_t command, uint64_t iteration, uint64_t time) {
  const fs_guards *g = &x->loops->guards;
  for (uint32_t i = g->update0[command]; i < g->update0[command + 1]; i++) {
    uint32_t guard = g->update[i];
    fs_sim_loop_barrier *b = &x->loops->barrier[fs_guard_barrier(g, x->stream, guard, iteration)];
    if (++b->arrived == g->arrivals[guard]) {
      b->arrived = 0;
      b->complete++;
      wake(x, &b->waiter, time);
    }
  }
}

/* The iterations of runs that a part's is joined to. */
static uint64_t before_run(const fs_instance *x, const fs_sim_part *p) {
  const fs_stream_loop *loop = &x->stream->loops[p->loop];
  return fs_loop_before(loop, &p->around, fs_sim_trips_of(x, loop));
}

/* Whether all checks of the present command have passed, of which each is made once; else the part
 * is in the list of the barrier that the next one looks at. */
static bool checks_over(fs_instance *x, uint32_t part, uint64_t iteration) {
  fs_sim_part *p = &x->loops->part[part];
  uint64_t nth = iteration + before_run(x, p);
  const fs_stream_loop_command *k = &x->stream->loop_commands[fs_sim_present(x, part)];
  for (; p->next_wait < k->n_checks; p->next_wait++) {
    const fs_stream_guard_check *c = &x->stream->guard_checks[k->check0 + p->next_wait];
    if (nth < c->distance) {
      continue;
    }
    uint64_t of = nth - c->distance;
    fs_sim_loop_barrier *b =
        &x->loops->barrier[fs_guard_barrier(&x->loops->guards, x->stream, c->guard, of)];
    if (!fs_guard_passes(x->stream, c->guard, of, b->complete)) {
      p->next = b->waiter;
      b->waiter = part;
      return false;
    }
  }
  return true;
}

/* Whether all waits of the present command are over; else the part is in the list of the command
 * that it waits for. */
static bool waits_over(fs_instance *x, uint32_t part, uint64_t iteration) {
  fs_sim_part *p = &x->loops->part[part];
  const fs_stream_loop_command *k = &x->stream->loop_commands[fs_sim_present(x, part)];
  for (; p->next_wait < k->n_waits; p->next_wait++) {
    const fs_stream_loop_wait *w = &x->stream->loop_waits[k->wait0 + p->next_wait];
    fs_sim_member *target = &x->loops->member[w->command];
    uint64_t nth = iteration + before_run(x, p);
    if (w->distance <= nth &&
        target->done <= (nth - w->distance) / x->stream->loops[p->loop].copies) {
      p->next = target->waiter;
      target->waiter = part;
      return false;
    }
  }
  return true;
}

/* The part has no command left of a run that is joined to others: that is over once no flight of it
 * is left, and if the part is slow its queue goes on. */
static void leave_joined(fs_instance *x, uint32_t part, uint64_t time) {
  fs_sim_loops *l = x->loops;
  fs_sim_part *p = &l->part[part];
  uint32_t outer = p->flight, on = l->flight.at[outer].part;
  p->is = FS_SIM_PART_LEFT;
  if (p->last != FS_NONE && l->flight.at[p->last].outer == outer) {
    l->flight.at[p->last].ends = true;
  } else {
    fs_sim_push(x, time, fs_sim_flight_event(x, outer));
  }
  if (l->member[l->flight.at[outer].command].slow) {
    fs_sim_push(x, time, fs_sim_part_event(x, on));
  }
}

/* The part is over, once no flight of it is left. */
static void leave_part(fs_instance *x, uint32_t part, uint64_t time) {
  fs_sim_part *p = &x->loops->part[part];
  fs_sim_loop_run *run = &x->loops->run[p->loop];
  if (p->is == FS_SIM_PART_OVER && x->stream->loops[p->loop].joined != 0) {
    leave_joined(x, part, time);
    return;
  }
  if (p->is != FS_SIM_PART_OVER || p->first != FS_NONE) {
    return;
  }
  p->is = FS_SIM_PART_LEFT;
  if (p->flight == FS_NONE) {
    fs_sim_push(x, fs_sim_loop_end(x, p->command, p->begin, time), fs_sim_part_event(x, part));
    return;
  }
  if (--run->left > 0) {
    return;
  }
  fs_sim_push(x, time, fs_sim_loop_event(x, p->loop));
}

static void begin_run(fs_instance *x, uint32_t loop, const fs_loop_instance *around, uint64_t time);
static void begin_joined(fs_instance *x, uint32_t loop, const fs_loop_instance *around,
                         uint32_t flight, uint64_t time);

/* Adds a flight to a part, for its present command; FS_NONE: there is no memory. */
static uint32_t add_flight(fs_instance *x, uint32_t part, uint64_t iteration, uint64_t time) {
  fs_sim_loops *l = x->loops;
  uint32_t flight = new_flight(x);
  if (flight == FS_NONE) {
    return FS_NONE;
  }
  fs_sim_part *p = &l->part[part];
  uint32_t first = fs_sim_queue_of(x, x->stream->loops[p->loop].queue0)->command0;
  l->flight.at[flight] =
      (fs_sim_flight){.command = fs_sim_present(x, part),
                      .part = part,
                      .next = FS_NONE,
                      .next_member = FS_NONE,
                      .slot = fs_shown_take(&p->shown, fs_sim_present(x, part) - first, iteration),
                      .iteration = iteration,
                      .turn = x->loops->part[part].over,
                      .begin = time,
                      .outer = p->flight,
                      .around = p->around};
  if (p->first == FS_NONE) {
    p->first = flight;
  } else {
    l->flight.at[p->last].next = flight;
  }
  p->last = flight;
  p->is = FS_SIM_PART_RUNS;
  return flight;
}

/* What an instance does between its begin and its end. */
static void start_flight(fs_instance *x, uint32_t flight, uint64_t time) {
  fs_sim_loops *l = x->loops;
  fs_loop_instance at = fs_sim_instance_of(x, flight);
  const fs_stream_loop_op *op = &x->stream->loop_ops[at.op];
  if (op->loop != FS_NONE && x->stream->loops[op->loop].joined != 0) {
    begin_joined(x, op->loop, &at, flight, time);
    return;
  }
  if (op->loop != FS_NONE) {
    fs_sim_loop_run *run = &l->run[op->loop];
    assert(!run->goes_on);
    run->flight = flight;
    run->command = at.command;
    begin_run(x, op->loop, &at, time);
    return;
  }
  fs_sim_guard_begin_flight(x, flight);
  uint64_t duration = fs_sim_instance_duration(x, &at);
  fs_sim_push(x, fs_add_most(time, duration), fs_sim_flight_event(x, flight));
  if (!l->member[at.loop_command].slow) {
    return;
  }
  uint64_t free = fs_add_most(time, fs_sim_instance_occupancy(x, &at, duration));
  for (uint32_t m = flight; m != FS_NONE; m = l->flight.at[m].next_member) {
    fs_sim_push(x, free, fs_sim_part_event(x, l->flight.at[m].part));
  }
}

/* All members of the present command's gang are there. */
static void begin_gang(fs_instance *x, fs_sim_member *leader, uint64_t iteration, uint64_t time) {
  fs_sim_loops *l = x->loops;
  uint32_t first = FS_NONE, last = FS_NONE, next;
  for (uint32_t part = leader->met; part != FS_NONE; part = next) {
    next = l->part[part].next;
    uint32_t flight = add_flight(x, part, iteration, time);
    if (flight == FS_NONE) {
      return;
    }
    if (first == FS_NONE) {
      first = flight;
    } else {
      l->flight.at[last].next_member = flight;
    }
    last = flight;
  }
  leader->arrived = 0;
  leader->met = FS_NONE;
  start_flight(x, first, time);
}

/* Goes on with a part that runs no command, until it has to wait or runs one. */
static void go_on(fs_instance *x, uint32_t part, uint64_t time) {
  fs_sim_loops *l = x->loops;
  fs_sim_part *p = &l->part[part];
  for (; p->step < p->steps; move_on(x, part), p->over++) {
    uint64_t iteration;
    if (l->by_issue != NULL && p->over == p->issued) {
      p->is = FS_SIM_PART_UNISSUED;
      return;
    }
    if (!fs_sim_has_iteration(x, part, &iteration)) {
      continue;
    }
    p->is = FS_SIM_PART_WAITS;
    if (l->by_issue == NULL &&
        !(fs_sync_has_barriers(x->stream->meta->sync) ? checks_over(x, part, iteration)
                                                      : waits_over(x, part, iteration))) {
      return;
    }
    fs_sim_member *leader = &l->member[l->member[fs_sim_present(x, part)].leader];
    p->is = FS_SIM_PART_MEETS;
    p->next = leader->met;
    leader->met = part;
    if (++leader->arrived == leader->members) {
      begin_gang(x, leader, iteration, time);
    }
    return;
  }
  p->is = FS_SIM_PART_OVER;
  leave_part(x, part, time);
}

/* The sequencer */

/* How many commands of a part are over up to the first one that is not. */
static uint64_t over_in_order(const fs_instance *x, uint32_t part) {
  const fs_sim_part *p = &x->loops->part[part];
  return p->first == FS_NONE ? p->over : x->loops->flight.at[p->first].turn;
}

static bool stop_over(const fs_instance *x, const fs_stream_loop *loop, uint32_t stop) {
  const fs_sim_part *part = x->loops->part;
  uint32_t only = x->loops->stop_part[stop];
  if (only != FS_NONE) {
    return part[only].issued - over_in_order(x, only) <= x->stream->loop_stops[stop].keep;
  }
  for (uint32_t q = loop->queue0; q < loop->queue0 + loop->n_queues; q++) {
    if (over_in_order(x, q) < part[q].issued) {
      return false;
    }
  }
  return true;
}

/* Issues commands of a loop until a sync is not over. */
static void issue_commands(fs_instance *x, uint32_t loop, uint64_t time) {
  fs_sim_loops *l = x->loops;
  fs_sim_loop_run *run = &l->run[loop];
  const fs_stream_loop *of = &x->stream->loops[loop];
  const fs_stream_loop_queue *last = fs_sim_queue_of(x, of->queue0 + of->n_queues - 1);
  uint32_t first = fs_sim_queue_of(x, of->queue0)->command0,
           n = last->command0 + last->n_commands - first;
  while (run->step < run->steps) {
    for (; run->stop < of->n_stops; run->stop++) {
      const fs_stream_stop *stop = &x->stream->loop_stops[of->stop0 + run->stop];
      if (stop->at > run->place) {
        break;
      }
      if (!stop_over(x, of, of->stop0 + run->stop)) {
        return;
      }
    }
    uint32_t part = l->member[l->by_issue[first + run->place]].part;
    l->part[part].issued++;
    if (++run->place == n) {
      run->place = run->stop = 0;
      run->step++;
    }
    if (l->part[part].is == FS_SIM_PART_UNISSUED) {
      go_on(x, part, time);
    }
  }
}

/* Runs of loops */

/* The steps until a part's commands have no iteration left. */
static uint64_t steps_of(const fs_instance *x, uint32_t part) {
  const fs_stream_loop_queue *q = fs_sim_queue_of(x, part);
  const fs_stream_loop *loop = &x->stream->loops[x->loops->part[part].loop];
  uint64_t steps = 0, trips = fs_sim_trips_of(x, loop);
  for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
    const fs_stream_loop_command *k = &x->stream->loop_commands[c];
    if (trips > k->copy) {
      steps = fs_max(steps, (trips - k->copy - 1) / loop->copies + 1 + k->shift);
    }
  }
  return steps;
}

/* Where the times of a run are on the queue of a part; FS_NONE: it is not recorded. */
static uint32_t slot_of_run(const fs_instance *x, uint32_t part) {
  const fs_sim_loops *l = x->loops;
  uint32_t m = l->part[part].flight;
  if (m == FS_NONE) {
    return x->work->record.instances->slot0[part];
  }
  while (m != FS_NONE &&
         fs_sim_queue_of(x, l->flight.at[m].part)->queue != fs_sim_queue_of(x, part)->queue) {
    m = l->flight.at[m].next_member;
  }
  return m == FS_NONE || l->flight.at[m].slot == FS_NONE ? FS_NONE : l->flight.at[m].slot + 1;
}

static void walk_shown(const fs_instance *x, uint32_t part) {
  const fs_shown_times *t = x->work->record.instances;
  fs_sim_part *p = &x->loops->part[part];
  uint32_t slot = t == NULL ? FS_NONE : slot_of_run(x, part);
  p->shown = fs_shown_begin(t, p->loop, fs_sim_queue_of(x, part)->queue, slot);
}

static void reset_members(fs_instance *x, const fs_stream_loop_queue *q) {
  for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
    fs_sim_member *m = &x->loops->member[c];
    m->waiter = m->met = FS_NONE;
    m->arrived = 0;
    m->done = 0;
  }
}

static void set_barriers(fs_instance *x, const fs_stream_loop *loop) {
  const fs_guards *of = &x->loops->guards;
  for (uint32_t g = loop->guard0; g < loop->guard0 + loop->n_guards; g++) {
    for (uint32_t i = 0; i < of->used[g]; i++) {
      x->loops->barrier[of->first[g] + i] = (fs_sim_loop_barrier){.waiter = FS_NONE};
    }
  }
}

uint32_t fs_sim_part_on(const fs_instance *x, uint32_t loop, uint32_t queue) {
  assert(loop < x->stream->n_loops);
  uint32_t part = x->stream->loops[loop].queue0;
  while (fs_sim_queue_of(x, part)->queue != queue) {
    part++;
    assert(part < x->stream->loops[loop].queue0 + x->stream->loops[loop].n_queues);
  }
  return part;
}

/* The instances of runs that are joined are counted from the begin of the run around. */
static void reset_joined(fs_instance *x, const fs_stream_loop_queue *q) {
  for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
    uint32_t inner = x->stream->loop_ops[x->stream->loop_commands[c].op].loop;
    if (inner != FS_NONE && x->stream->loops[inner].joined != 0) {
      uint32_t part = fs_sim_part_on(x, inner, q->queue);
      reset_members(x, fs_sim_queue_of(x, part));
      x->loops->part[part].first = x->loops->part[part].last = FS_NONE;
    }
  }
}

/* Makes a part of a run, whose op has the instance `around` in `flight`, or is in no loop. */
static void reset_part(fs_instance *x, uint32_t part, const fs_loop_instance *around,
                       uint32_t flight) {
  fs_sim_part *p = &x->loops->part[part];
  const fs_stream_loop_queue *q = fs_sim_queue_of(x, part);
  uint32_t first = p->first, last = p->last; /* a slow part may have some of a run before */
  bool joined = x->stream->loops[p->loop].joined != 0;
  *p = (fs_sim_part){.loop = p->loop,
                     .flight = flight,
                     .first = joined ? first : FS_NONE,
                     .last = joined && first != FS_NONE ? last : FS_NONE};
  p->around = around == NULL ? (fs_loop_instance){0} : *around;
  p->steps = q->n_commands == 0 ? 0 : steps_of(x, part);
  walk_shown(x, part);
  if (!joined) {
    reset_members(x, q);
    reset_joined(x, q);
  }
}

/* Makes a run of a loop whose `command` and `flight` are set, in which no part has begun.  The
 * sequencer, if there is one, goes by steps of all parts. */
static void make_run(fs_instance *x, uint32_t loop, const fs_loop_instance *around) {
  fs_sim_loop_run *run = &x->loops->run[loop];
  const fs_stream_loop *of = &x->stream->loops[loop];
  fs_sim_part *part = &x->loops->part[of->queue0];
  run->goes_on = true;
  run->left = of->n_queues;
  run->step = run->steps = run->place = run->stop = 0;
  set_barriers(x, of);
  for (uint32_t op = of->op0; op < of->op0 + of->n_ops; op++) {
    uint32_t inner = x->stream->loop_ops[op].loop;
    if (inner != FS_NONE && x->stream->loops[inner].joined != 0) {
      set_barriers(x, &x->stream->loops[inner]); /* they count all runs */
    }
  }
  for (uint32_t q = 0; q < of->n_queues; q++) {
    reset_part(x, of->queue0 + q, around, run->flight);
    run->steps = fs_max(run->steps, part[q].steps);
  }
  for (uint32_t q = 0; q < of->n_queues; q++) {
    part[q].steps = x->loops->by_issue == NULL ? part[q].steps : run->steps;
  }
}

/* A run begins of a loop in a loop. */
static void begin_run(fs_instance *x, uint32_t loop, const fs_loop_instance *around,
                      uint64_t time) {
  const fs_stream_loop *of = &x->stream->loops[loop];
  uint32_t outermost = fs_sim_loop_of(x, x->loops->run[loop].command);
  make_run(x, loop, around);
  for (uint32_t q = of->queue0; q < of->queue0 + of->n_queues; q++) {
    uint32_t part = fs_sim_part_on(x, outermost, fs_sim_queue_of(x, q)->queue);
    x->loops->part[q].command = x->loops->part[part].command;
  }
  for (uint32_t q = 0; q < of->n_queues; q++) {
    go_on(x, of->queue0 + q, time);
  }
  if (x->loops->by_issue != NULL) {
    issue_commands(x, loop, time);
  }
}

/* A part begins of a loop in a loop whose runs are joined. */
static void begin_joined(fs_instance *x, uint32_t loop, const fs_loop_instance *around,
                         uint32_t flight, uint64_t time) {
  uint32_t part =
      fs_sim_part_on(x, loop, fs_sim_queue_of(x, x->loops->flight.at[flight].part)->queue);
  reset_part(x, part, around, flight);
  x->loops->part[part].command = around->command;
  go_on(x, part, time);
}

/* The first command of a loop that begins makes its run. */
static void open_loop(fs_instance *x, uint32_t loop, uint32_t command) {
  fs_sim_loop_run *run = &x->loops->run[loop];
  run->command = command;
  run->flight = FS_NONE;
  run->digest = 0;
  make_run(x, loop, NULL);
  fs_sim_guard_begin(x, command);
}

void fs_sim_loop_begin(fs_instance *x, uint32_t command, uint64_t time) {
  uint32_t loop = fs_sim_loop_of(x, command);
  assert(loop != FS_NONE);
  if (!x->loops->run[loop].goes_on) {
    open_loop(x, loop, command);
  }
  uint32_t part = fs_sim_part_on(x, loop, x->queue[command]);
  x->loops->part[part].command = command;
  x->loops->part[part].begin = time;
  go_on(x, part, time);
  if (x->loops->by_issue != NULL) {
    issue_commands(x, loop, time);
  }
}

bool fs_sim_loop_over(const fs_instance *x, uint32_t command) {
  uint32_t loop = fs_sim_loop_of(x, command);
  return loop == FS_NONE || !x->loops->run[loop].goes_on;
}

uint32_t fs_sim_loop_first(const fs_instance *x, uint32_t command) {
  uint32_t loop = fs_sim_loop_of(x, command);
  return loop == FS_NONE ? command : x->loops->run[loop].command;
}

/* Events */

static void wake(fs_instance *x, uint32_t *waiter, uint64_t time) {
  fs_sim_part *part = x->loops->part;
  uint32_t p = *waiter, next;
  *waiter = FS_NONE;
  for (; p != FS_NONE; p = next) {
    next = part[p].next;
    go_on(x, p, time);
  }
}

/* Ends the first flights of a part, as far as they are over: so the instances before each of them
 * are, too. */
static void settle(fs_instance *x, uint32_t part, uint64_t time) {
  fs_sim_loops *l = x->loops;
  fs_sim_part *p = &l->part[part];
  while (p->first != FS_NONE && l->flight.at[p->first].over) {
    uint32_t flight = p->first, command = l->flight.at[flight].command;
    uint32_t ended = l->flight.at[flight].ends ? l->flight.at[flight].outer : FS_NONE;
    p->first = l->flight.at[flight].next;
    p->last = p->first == FS_NONE ? FS_NONE : p->last;
    free_flight(l, flight);
    if (ended != FS_NONE) {
      fs_sim_push(x, time, fs_sim_flight_event(x, ended));
    }
    if (x->stream->loop_commands[command].signal) {
      l->member[command].done++;
      wake(x, &l->member[command].waiter, time);
    }
  }
  leave_part(x, part, time);
}

/* The queue of a part goes on behind its present command. */
static void pass_on(fs_instance *x, uint32_t part, uint64_t time) {
  move_on(x, part);
  x->loops->part[part].over++;
  go_on(x, part, time);
}

/* An instance is over; of a gang, on the queues of all members. */
static void end_flight(fs_instance *x, uint32_t flight, uint64_t time) {
  fs_sim_loops *l = x->loops;
  bool slow = l->member[l->flight.at[flight].command].slow;
  uint32_t loop = l->part[l->flight.at[flight].part].loop;
  fs_loop_instance at = fs_sim_instance_of(x, flight);
  uint64_t nth = at.before + at.iteration;
  for (uint32_t m = flight; m != FS_NONE; m = l->flight.at[m].next_member) {
    l->flight.at[m].over = true;
    if (l->flight.at[m].slot != FS_NONE) {
      fs_shown_times *t = x->work->record.instances;
      t->begin[l->flight.at[m].slot] = l->flight.at[m].begin / x->times.per_ns;
      t->end[l->flight.at[m].slot] = time / x->times.per_ns;
    }
  }
  for (uint32_t m = flight, next; m != FS_NONE; m = next) {
    uint32_t part = l->flight.at[m].part;
    next = l->flight.at[m].next_member;
    arrive(x, l->flight.at[m].command, nth, time);
    settle(x, part, time);
    if (!slow) {
      pass_on(x, part, time);
    }
  }
  if (l->by_issue != NULL) {
    issue_commands(x, loop, time);
  }
}

/* What the instance of a flight does, at its end. */
static void run_flight(fs_instance *x, uint32_t flight) {
  fs_loop_instance at = fs_sim_instance_of(x, flight);
  uint32_t outer = x->loops->part[x->loops->flight.at[flight].part].loop;
  while (x->stream->loops[outer].within != FS_NONE) {
    outer = x->stream->loops[outer].within;
  }
  fsched_cause cause =
      !fs_sim_guard_end_flight(x, flight)
          ? FSCHED_CAUSE_WRONG
          : fs_loop_run_instance(&x->effects, &x->room, x->work, &at, &x->loops->run[outer].digest);
  if (cause != FSCHED_CAUSE_NONE) {
    fs_sim_poison(x, cause);
  }
}

static void end_run(fs_instance *x, uint32_t loop) {
  fs_sim_loop_run *run = &x->loops->run[loop];
  const fs_stream_loop *of = &x->stream->loops[loop];
  run->goes_on = false;
  if (!x->config.empty) {
    const fs_sim_part *part = &x->loops->part[of->queue0]; /* all have the same around them */
    fs_loop_leave(&x->effects, of, fs_sim_trips_of(x, of), run->command,
                  run->flight == FS_NONE ? NULL : &part->around);
  }
}

/* A part leaves a loop that is in no other; returns its command. */
static uint32_t leave_loop(fs_instance *x, uint32_t part) {
  fs_sim_part *p = &x->loops->part[part];
  fs_sim_loop_run *run = &x->loops->run[p->loop];
  if (--run->left == 0) {
    end_run(x, p->loop);
    if (!x->config.empty && x->work->record.digest != NULL) {
      x->work->record.digest[x->stream->commands[p->command].target] = run->digest;
    }
  }
  return p->command;
}

uint32_t fs_sim_loop_happens(fs_instance *x, uint32_t event, uint64_t time) {
  assert(event >= fs_sim_loop_event(x, 0));
  if (event >= fs_sim_flight_event(x, 0)) {
    uint32_t flight = event - fs_sim_flight_event(x, 0);
    uint32_t op = x->stream->loop_commands[x->loops->flight.at[flight].command].op;
    if (!x->config.empty && x->stream->loop_ops[op].loop == FS_NONE) {
      run_flight(x, flight);
    }
    end_flight(x, flight, time);
    return FS_NONE;
  }
  if (event >= fs_sim_part_event(x, 0)) {
    uint32_t part = event - fs_sim_part_event(x, 0);
    if (x->loops->part[part].is == FS_SIM_PART_LEFT) {
      return leave_loop(x, part);
    }
    pass_on(x, part, time);
    return FS_NONE;
  }
  uint32_t loop = event - fs_sim_loop_event(x, 0);
  end_run(x, loop);
  end_flight(x, x->loops->run[loop].flight, time);
  return FS_NONE;
}

void fs_sim_loops_begin(fs_instance *x) {
  if (x->loops == NULL) {
    return;
  }
  x->loops->free = FS_NONE;
  x->loops->flight.n = 0;
  for (uint32_t i = 0; i < x->stream->n_loops; i++) {
    x->loops->run[i].goes_on = false;
  }
}

uint32_t fs_sim_loop_of(const fs_instance *x, uint32_t command) {
  assert(command < x->stream->n_commands);
  const fs_stream_command *c = &x->stream->commands[command];
  return x->loops == NULL || !fs_command_has_op(c) ? FS_NONE : x->loops->of.of[c->target];
}
