/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over all commands in an order that queue order and syncs allow.
 *
 * A queue's head runs when each of its waits is complete (for barriers and stops see
 * stream/barrier.c and stream/block.c).  A gang's members run at once here, when the last of them
 * is at the head of its queue, so that a machine on which they meet also gets to the end.  If the
 * walk gets to the end, no execution can deadlock: a command that can run stays able to (progress
 * only grows), so another choice of order gets there too.
 *
 * Clocks: the commands that are complete before a command are those that were complete before its
 * queue's last command, that command itself, and for each wait the same two of the command waited
 * for; members of one gang add nothing to each other's clocks.  Queues share clocks: a command
 * without waits knows what its predecessor knew, plus the predecessor.  A clock is kept while some
 * command will wait for it.
 *
 * A slow command lets its queue go on before it is complete.  Then queue order says that a quick
 * command is complete before the next one (fs_vs_before), but nothing of slow ones, and an epoch,
 * which stands for all commands up to it, is known by order up to the first slow one alone:
 * in_order.  A wait for an epoch tells of all of them, on the command's own queue as well.  Where
 * no op is slow, a command's epoch less one is always known.  Barriers tell of no epochs
 * (stream/apart.c). */
#include <stdio.h>

#include "base/context.h"
#include "base/progress.h"
#include "verify/stream/walk.h"

/* --- commands that a wait stands for --- */

static uint32_t point_occ(const fs_vs *v, const fs_stream_wait *w) {
  return v->occ0[w->axis] + w->epoch - 1;
}
static bool is_queue(const fs_vs *v, uint32_t axis) { return axis < v->s->n_queues; }
static uint32_t queue_command(const fs_vs *v, uint32_t queue, uint32_t epoch) {
  return v->s->queues[queue].command0 + epoch - 1;
}

static bool point_complete(const fs_vs *v, const fs_stream_wait *w) {
  return v->progress[w->axis] >= w->epoch;
}

static void drop_occ(fs_vs *v, uint32_t occ) {
  if (v->occ_clock[occ] != NULL && --v->occ_refs[occ] == 0) {
    fs_vclock_release(&v->clocks, v->occ_clock[occ]);
    v->occ_clock[occ] = NULL;
  }
}

static void drop_point(fs_vs *v, const fs_stream_wait *w) {
  if (!is_queue(v, w->axis)) {
    drop_occ(v, point_occ(v, w));
    return;
  }
  uint32_t c = queue_command(v, w->axis, w->epoch);
  if (--v->snapshot_refs[c] == 0) {
    fs_vclock_release(&v->clocks, v->snapshot[c]);
    v->snapshot[c] = NULL;
  }
}

/* Whether the clock holds all commands that the point stands for.  (Clocks are closed, so the
 * commands themselves suffice.) */
static bool point_known(const fs_vs *v, const fs_vdense *d, const fs_stream_wait *w) {
  if (is_queue(v, w->axis)) {
    return d->epoch[w->axis] >= w->epoch;
  }
  uint32_t occ = point_occ(v, w);
  for (uint32_t k = v->occ_command0[occ]; k < v->occ_command0[occ + 1]; k++) {
    uint32_t c = v->occ_command[k];
    if (d->epoch[v->command_queue[c]] < v->s->commands[c].epoch) {
      return false;
    }
  }
  return true;
}

/* --- one command --- */

/* Whether a run is planned to take its op's time, or, if that is slow, more; of a loop, all of its
 * commands together. */
static bool is_its_time(const fs_vs *v, uint32_t command) {
  const fs_stream_command *c = &v->s->commands[command];
  uint64_t time = v->s->ops[c->target].time, end = c->end, start = c->start;
  if (c->gang_axis != FS_NONE && fs_vs_is_loop(v, c->target)) {
    start = v->s->commands[fs_vs_first_of(v, v->command_occ[command])].start;
    end = v->s->commands[fs_vs_last_of(v, v->command_occ[command])].end;
  }
  return fs_vs_slow(v, command) ? end - start > time : end - start == time;
}

/* The planned time at which all commands that the point stands for, and those before them on their
 * queues, have ended. */
static uint64_t point_reached(const fs_vs *v, const fs_stream_wait *w) {
  if (is_queue(v, w->axis)) {
    return v->reached[queue_command(v, w->axis, w->epoch)];
  }
  uint64_t latest = 0;
  uint32_t occ = point_occ(v, w);
  for (uint32_t k = v->occ_command0[occ]; k < v->occ_command0[occ + 1]; k++) {
    latest = fs_max(latest, v->reached[v->occ_command[k]]);
  }
  return latest;
}

static void check_plan(fs_vwalk *walk, uint32_t command) {
  fs_vs *v = walk->v;
  const fs_stream_command *c = &v->s->commands[command];
  char name[FS_VNAME], other[FS_VNAME];
  if (c->start > c->end || (fs_command_has_op(c) && !is_its_time(v, command))) {
    FS_WRONG(v, FS_DIAG_VERIFY_PLAN, "%s is planned at %llu to %llu, which is not its time",
             fs_vs_command_name(v, command, name), (unsigned long long)c->start,
             (unsigned long long)c->end);
  }
  if (c->epoch > 1 && (fs_vs_slow(v, command - 1) ? c[-1].start + v->s->ops[c[-1].target].time
                                                  : c[-1].end) > c->start) {
    FS_WRONG(v, FS_DIAG_VERIFY_PLAN, "%s is planned before the end of the command before it",
             fs_vs_command_name(v, command, name));
  }
  for (uint32_t i = 0; i < c->n_waits; i++) {
    const fs_stream_wait *w = &v->s->waits[c->wait0 + i];
    uint32_t target = is_queue(v, w->axis) ? queue_command(v, w->axis, w->epoch)
                                           : fs_vs_last_of(v, point_occ(v, w));
    if (v->s->commands[target].end > c->start) {
      FS_WRONG(v, FS_DIAG_VERIFY_PLAN, "%s is planned before the end of %s, for which it waits",
               fs_vs_command_name(v, command, name), fs_vs_command_name(v, target, other));
    } else if (v->any_slow && point_reached(v, w) > c->start) {
      FS_WRONG(v, FS_DIAG_VERIFY_PLAN,
               "%s is planned before %llu, when epoch %u of %s is reached, for which it waits",
               fs_vs_command_name(v, command, name), (unsigned long long)point_reached(v, w),
               w->epoch, fs_vs_string(v, v->s->axes[w->axis].name));
    }
  }
  if (fs_sync_has_barriers(v->kind)) {
    fs_vbarrier_plan(walk, command);
  }
}

static void report_superfluous(fs_vs *v, uint32_t command, const fs_stream_wait *w) {
  char name[FS_VNAME];
  FS_WRONG(v, FS_DIAG_VERIFY_SUPERFLUOUS,
           "%s waits for epoch %u of %s, which queue order and its other waits give",
           fs_vs_command_name(v, command, name), w->epoch,
           fs_vs_string(v, v->s->axes[w->axis].name));
}

/* Raises `now` by an epoch that a source (a wait's index, FS_NONE: the queue) gives.  `other`
 * keeps, per queue, the best epoch from a source other than that of `now`. */
static void raise_from(fs_vs *v, uint32_t queue, uint32_t epoch, uint32_t source) {
  uint32_t best = v->now.epoch[queue];
  if (epoch > best) {
    if (best > 0 && v->source[queue] != source) {
      fs_vdense_raise(&v->other, queue, best);
    }
    fs_vdense_raise(&v->now, queue, epoch);
    v->source[queue] = source;
  } else if (v->source[queue] != source) {
    fs_vdense_raise(&v->other, queue, epoch);
  }
}

/* Whether the sources except this one give (queue, epoch). */
static bool known_without(const fs_vs *v, uint32_t queue, uint32_t epoch, uint32_t source) {
  bool own = v->source[queue] == source;
  return (own ? v->other.epoch[queue] : v->now.epoch[queue]) >= epoch;
}

static bool implied(const fs_vs *v, const fs_stream_wait *w, uint32_t source) {
  if (is_queue(v, w->axis)) {
    return known_without(v, w->axis, w->epoch, source);
  }
  uint32_t occ = point_occ(v, w);
  for (uint32_t k = v->occ_command0[occ]; k < v->occ_command0[occ + 1]; k++) {
    uint32_t c = v->occ_command[k];
    if (!known_without(v, v->command_queue[c], v->s->commands[c].epoch, source)) {
      return false;
    }
  }
  return true;
}

/* Joins the waits of a command into `now`, which holds the knowledge of its queue, and reports each
 * wait that the queue and the other waits imply. */
static void join_waits(fs_vs *v, uint32_t command) {
  const fs_stream_command *c = &v->s->commands[command];
  const fs_stream_wait *w = v->s->waits + c->wait0;
  fs_vdense_clear(&v->other);
  for (uint32_t i = 0; i < v->now.n; i++) {
    v->source[v->now.touched[i]] = FS_NONE;
  }
  for (uint32_t i = 0; i < c->n_waits; i++) {
    const fs_vclock *known = is_queue(v, w[i].axis)
                                 ? v->snapshot[queue_command(v, w[i].axis, w[i].epoch)]
                                 : v->occ_clock[point_occ(v, &w[i])];
    for (uint32_t k = 0; known != NULL && k < known->n; k++) {
      raise_from(v, known->at[k].queue, known->at[k].epoch, i);
    }
    if (is_queue(v, w[i].axis)) {
      raise_from(v, w[i].axis, w[i].epoch, i);
    }
  }
  for (uint32_t i = 0; i < c->n_waits; i++) {
    if (implied(v, &w[i], i)) {
      report_superfluous(v, command, &w[i]);
    }
  }
  for (uint32_t i = 0; i < c->n_waits; i++) {
    drop_point(v, &w[i]);
  }
}

static void report_frontier(fs_vs *v, uint32_t command, const char *fault) {
  char name[FS_VNAME];
  if (v->s->commands[command].n_frontier > v->s->meta[0].frontier_capacity) {
    fault = "is over capacity";
  }
  if (fault != NULL) {
    FS_WRONG(v, FS_DIAG_VERIFY_FRONTIER, "the frontier of %s %s",
             fs_vs_command_name(v, command, name), fault);
  }
}

/* Checks the frontier: `now` with the command's own epoch is the exact clock after the command. */
static void check_frontier(fs_vs *v, uint32_t command) {
  const fs_stream_command *c = &v->s->commands[command];
  const fs_stream_wait *f = v->s->frontiers + c->frontier0;
  const char *fault = NULL;
  bool own = false;
  fs_vdense_clear(&v->other);
  for (uint32_t i = 0; i < c->n_frontier; i++) {
    own = own || (f[i].axis == v->command_queue[command] && f[i].epoch == c->epoch);
    if (!point_complete(v, &f[i]) && !(f[i].axis == v->command_queue[command])) {
      fault = "names what is not complete";
    } else if (!point_known(v, &v->now, &f[i])) {
      fault = "names what is not known to be complete";
    } else if (is_queue(v, f[i].axis)) {
      fs_vdense_raise(&v->other, f[i].axis, f[i].epoch);
    } else {
      fs_vdense_join(&v->other, v->occ_clock[point_occ(v, &f[i])]);
    }
    if (!is_queue(v, f[i].axis)) {
      drop_occ(v, point_occ(v, &f[i]));
    }
  }
  for (uint32_t i = 0; i < v->now.n && !c->tainted && fault == NULL; i++) {
    uint32_t q = v->now.touched[i];
    bool left_out = is_queue(v, q) && v->other.epoch[q] < v->now.epoch[q];
    fault = left_out ? "leaves something out and is not tainted" : NULL;
  }
  report_frontier(v, command, !own ? "lacks its own epoch" : fault);
}

/* Adds the knowledge that the command's sync gives its queue to `now` and to the queue's base. */
static fs_status learn(fs_vwalk *walk, uint32_t command) {
  fs_vs *v = walk->v;
  const fs_stream_command *c = &v->s->commands[command];
  uint32_t q = v->command_queue[command];
  fs_vclock *base = NULL;
  switch (v->kind) {
    case FS_SYNC_TIMELINE:
      if (c->n_waits > 0) {
        join_waits(v, command);
        FS_TRY(fs_vclock_make(&v->clocks, &v->now, q, &base));
      }
      break;
    case FS_SYNC_BARRIER:
      if (c->n_barrier_waits > 0) {
        fs_vbarrier_join(walk, command);
        if (v->apart) {
          fs_vapart_settle(v);
        }
        FS_TRY(fs_vclock_make(&v->clocks, &v->now, q, &base));
      }
      break;
    case FS_SYNC_BLOCK:
      base = v->snapshot[command]; /* the sequencer's clock at its issue, which holds the queue's */
      v->snapshot[command] = NULL;
      if (base != NULL) {
        fs_vdense_join(&v->now, base == v->base[q] ? NULL : base);
      }
      break;
  }
  if (base == NULL) {
    return FSCHED_OK;
  }
  fs_vclock_release(&v->clocks, v->base[q]);
  v->base[q] = base;
  return FSCHED_OK;
}

/* The epoch before `limit` up to which all commands of queue q are complete, if they are up to
 * `epoch` and the queue goes on in order. */
static uint32_t known_by_order(const fs_vs *v, uint32_t q, uint32_t epoch, uint32_t limit) {
  uint32_t slow = v->next_slow[v->s->queues[q].command0 + epoch];
  return epoch + 1 >= limit ? epoch : fs_min(slow - 1, limit - 1);
}

/* After a command that is slow, or after one that still may run: `now`, which is what is complete
 * after the command, becomes what is complete before it. */
static void step_back(fs_vs *v, uint32_t command) {
  uint32_t q = v->command_queue[command];
  fs_vdense_clear(&v->now);
  fs_vdense_join(&v->now, v->base[q]);
  fs_vdense_raise(&v->now, q, v->in_order[q]);
  v->now_queue = FS_NONE;
}

/* Runs one command, and leaves in `now` the commands that are complete before it; its own epoch may
 * be there, too. */
static fs_status one_command(fs_vwalk *walk, uint32_t command) {
  fs_vs *v = walk->v;
  const fs_stream_command *c = &v->s->commands[command];
  uint32_t q = v->command_queue[command];
  if (v->now_queue != q) { /* else `now` is the clock after the command before it */
    fs_vdense_clear(&v->now);
    fs_vdense_join(&v->now, v->base[q]);
    fs_vdense_raise(&v->now, q, v->any_slow && !v->apart ? v->in_order[q] : c->epoch - 1);
    v->now_queue = q;
  }
  check_plan(walk, command);
  FS_TRY(learn(walk, command));
  if (v->any_slow && !v->apart) {
    v->in_order[q] = known_by_order(v, q, v->now.epoch[q], c->epoch);
  }
  if (v->snapshot_refs[command] > 0 && v->base[q] != NULL) {
    v->snapshot[command] = v->base[q];
    v->base[q]->refs++;
  }
  if (v->apart) { /* a slow one is not among what its queue knows afterwards */
    report_frontier(v, command, fs_vapart_frontier(v, command));
    v->now_queue = fs_vs_slow(v, command) ? FS_NONE : q;
    fs_vdense_raise(&v->now, q, c->epoch - fs_vs_slow(v, command));
    return FSCHED_OK;
  }
  bool in_order = !v->any_slow || v->in_order[q] == c->epoch - 1;
  fs_vdense_raise(&v->now, q, c->epoch);
  check_frontier(v, command);
  if (!in_order || fs_vs_slow(v, command)) {
    step_back(v, command);
  } else if (v->any_slow) {
    v->in_order[q] = c->epoch;
  }
  return FSCHED_OK;
}

/* --- one item --- */

/* Reduces `meet` to the knowledge that all of a gang's members share.  A member's knowledge of its
 * own epoch does no harm, since only the item itself has that epoch. */
static void meet_now(fs_vs *v, fs_vdense *meet, bool first) {
  if (first) {
    fs_vdense_clear(meet);
    for (uint32_t i = 0; i < v->now.n; i++) {
      fs_vdense_raise(meet, v->now.touched[i], v->now.epoch[v->now.touched[i]]);
    }
    return;
  }
  uint32_t n = 0;
  for (uint32_t i = 0; i < meet->n; i++) {
    uint32_t q = meet->touched[i];
    meet->epoch[q] = (uint32_t)fs_min(meet->epoch[q], v->now.epoch[q]);
    if (meet->epoch[q] > 0) {
      meet->touched[n++] = q;
    }
  }
  meet->n = n;
}

/* The same for quick commands, of which a member knows by order all that come before it on its
 * queue. */
static void meet_by_order(fs_vs *v, uint32_t command, bool first) {
  fs_vdense_raise(&v->now, v->command_queue[command], v->s->commands[command].epoch);
  meet_now(v, &v->by_order, first);
  v->now_queue = FS_NONE;
}

static fs_status make_occ_clock(fs_vs *v, uint32_t occ) {
  if (v->occ_refs[occ] == 0) {
    return FSCHED_OK;
  }
  v->now_queue = FS_NONE;
  fs_vdense_clear(&v->now);
  for (uint32_t k = v->occ_command0[occ]; k < v->occ_command0[occ + 1]; k++) {
    uint32_t c = v->occ_command[k];
    fs_vdense_join(&v->now, v->base[v->command_queue[c]]);
    fs_vdense_raise(&v->now, v->command_queue[c], v->s->commands[c].epoch);
  }
  return fs_vclock_make(&v->clocks, &v->now, FS_NONE, &v->occ_clock[occ]);
}

static fs_status one_item(fs_vwalk *walk, const uint32_t *commands, uint32_t n) {
  fs_vs *v = walk->v;
  const fs_stream_command *c = &v->s->commands[commands[0]];
  for (uint32_t i = 0; i < n; i++) {
    FS_TRY(one_command(walk, commands[i]));
    if (n > 1) {
      meet_now(v, &v->meet, i == 0);
    }
    if (n > 1 && v->any_slow && !v->apart) {
      meet_by_order(v, commands[i], i == 0);
    }
  }
  v->is_gang = n > 1;
  v->one_queue = v->command_queue[commands[0]];
  v->one_epoch = c->epoch;
  const fs_vdense *known = n > 1 ? &v->meet : &v->now;
  if (fs_command_has_op(c)) {
    fs_vs_edges(v, commands, n, known);
    fs_vs_guards_begin(v, c->target, known);
  }
  FS_TRY(fs_vs_access(v, commands, n, known));
  if (c->gang_axis != FS_NONE) {
    FS_TRY(make_occ_clock(v, v->command_occ[commands[0]]));
    v->progress[c->gang_axis]++;
  }
  return FSCHED_OK;
}

/* --- the walk --- */

/* The event that the queue's head waits for, or FS_NONE when all of its waits are complete. */
static uint32_t timeline_lacks(fs_vwalk *w, uint32_t q) {
  const fs_vs *v = w->v;
  const fs_stream_command *c = &v->s->commands[w->head[q]];
  for (; w->next_wait[q] < c->n_waits; w->next_wait[q]++) {
    const fs_stream_wait *p = &v->s->waits[c->wait0 + w->next_wait[q]];
    if (!point_complete(v, p)) {
      return is_queue(v, p->axis) ? queue_command(v, p->axis, p->epoch)
                                  : v->s->n_commands + point_occ(v, p);
    }
  }
  return FS_NONE;
}

static uint32_t lacks(fs_vwalk *w, uint32_t q) {
  switch (w->v->kind) {
    case FS_SYNC_TIMELINE:
      return timeline_lacks(w, q);
    case FS_SYNC_BARRIER:
      return fs_vbarrier_lacks(w, q);
    case FS_SYNC_BLOCK:
      return fs_vblock_lacks(w, q);
  }
  return FS_NONE;
}

void fs_vwalk_wake(fs_vwalk *w, uint32_t event) {
  for (uint32_t q = w->waiter[event]; q != FS_NONE; q = w->next[q]) {
    w->ready[w->n_ready++] = q;
  }
  w->waiter[event] = FS_NONE;
}

static void count_done(fs_vwalk *w, uint32_t n) {
  enum { STEP = 1024 };
  uint32_t before = w->n_done;
  w->n_done += n;
  if (before / STEP != w->n_done / STEP) {
    fs_progress_at(w->v->ctx, FS_VS_PARTS * fs_vs_part_work(w->v->s) + w->n_done);
  }
}

static void timeline_ran(fs_vwalk *w, const uint32_t *commands, uint32_t n) {
  const fs_vs *v = w->v;
  for (uint32_t i = 0; i < n; i++) {
    fs_vwalk_wake(w, commands[i]);
  }
  if (v->command_occ[commands[0]] != FS_NONE) {
    fs_vwalk_wake(w, v->s->n_commands + v->command_occ[commands[0]]);
  }
}

static fs_status run_item(fs_vwalk *w, const uint32_t *commands, uint32_t n) {
  fs_vs *v = w->v;
  FS_TRY(one_item(w, commands, n));
  count_done(w, n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t q = v->command_queue[commands[i]];
    w->head[q]++;
    w->next_wait[q] = 0;
    v->progress[q]++;
    w->ready[w->n_ready++] = q;
  }
  switch (v->kind) {
    case FS_SYNC_TIMELINE:
      timeline_ran(w, commands, n);
      break;
    case FS_SYNC_BARRIER:
      return fs_vbarrier_ran(w, commands, n);
    case FS_SYNC_BLOCK: /* the next issue checks which commands are over */
      break;
  }
  return FSCHED_OK;
}

static fs_status try_queue(fs_vwalk *w, uint32_t q) {
  fs_vs *v = w->v;
  const fs_stream_queue *x = &v->s->queues[q];
  uint32_t c = w->head[q];
  if (c >= x->command0 + x->n_commands) {
    return FSCHED_OK;
  }
  uint32_t event = lacks(w, q);
  if (event != FS_NONE) {
    if (event != FS_VEVENT_ISSUE) {
      w->next[q] = w->waiter[event];
      w->waiter[event] = q;
    }
    return FSCHED_OK;
  }
  uint32_t occ = v->command_occ[c];
  if (occ == FS_NONE) {
    return run_item(w, &c, 1);
  }
  uint32_t first = v->occ_command0[occ], n = v->occ_command0[occ + 1] - first;
  if (++w->arrived[occ] < n) {
    return FSCHED_OK;
  }
  return run_item(w, v->occ_command + first, n);
}

static void timeline_stuck(fs_vwalk *w, uint32_t q, const char *name) {
  fs_vs *v = w->v;
  const fs_stream_command *c = &v->s->commands[w->head[q]];
  const fs_stream_wait *p = &v->s->waits[c->wait0 + w->next_wait[q]];
  FS_WRONG(v, FS_DIAG_VERIFY_DEADLOCK, "%s waits for epoch %u of %s, which stops at %u", name,
           p->epoch, fs_vs_string(v, v->s->axes[p->axis].name), v->progress[p->axis]);
}

static void report_stuck(fs_vwalk *w, uint32_t q) {
  fs_vs *v = w->v;
  uint32_t event = lacks(w, q);
  char name[FS_VNAME];
  fs_vs_command_name(v, w->head[q], name);
  if (event == FS_NONE) {
    FS_WRONG(v, FS_DIAG_VERIFY_DEADLOCK, "%s waits for the other members of its gang", name);
    return;
  }
  switch (v->kind) {
    case FS_SYNC_TIMELINE:
      timeline_stuck(w, q, name);
      break;
    case FS_SYNC_BARRIER:
      fs_vbarrier_stuck(w, q, event);
      break;
    case FS_SYNC_BLOCK: /* fs_vblock_stuck has reported all queues */
      break;
  }
}

/* Counts the readers of each clock: waits of a timeline, and all frontiers. */
static void count_refs(fs_vs *v) {
  const fs_stream *s = v->s;
  for (uint32_t i = 0; i < s->n_waits && fs_sync_has_waits(v->kind); i++) {
    const fs_stream_wait *p = &s->waits[i];
    if (is_queue(v, p->axis)) {
      v->snapshot_refs[queue_command(v, p->axis, p->epoch)]++;
    } else {
      v->occ_refs[point_occ(v, p)]++;
    }
  }
  for (uint32_t i = 0; i < s->n_frontiers; i++) {
    if (!is_queue(v, s->frontiers[i].axis)) {
      v->occ_refs[point_occ(v, &s->frontiers[i])]++;
    }
  }
}

/* The number of events that queues can wait for in fs_vwalk.waiter. */
static size_t count_events(const fs_vs *v) {
  switch (v->kind) {
    case FS_SYNC_TIMELINE:
      return (size_t)v->s->n_commands + v->n_occ;
    case FS_SYNC_BARRIER:
      return 2 * (size_t)v->s->n_barriers;
    case FS_SYNC_BLOCK:
      break;
  }
  return 0;
}

static fs_status prepare_sync(fs_vwalk *w) {
  switch (w->v->kind) {
    case FS_SYNC_TIMELINE:
      break;
    case FS_SYNC_BARRIER:
      return fs_vbarrier_prepare(w);
    case FS_SYNC_BLOCK:
      return fs_vblock_prepare(w);
  }
  return FSCHED_OK;
}

/* Lists what is needed where ops are slow. */
static fs_status prepare_slow(fs_vs *v) {
  const fs_stream *s = v->s;
  for (uint32_t op = 0; op < s->n_ops; op++) {
    v->any_slow = v->any_slow || s->ops[op].slow != 0;
  }
  v->apart = v->any_slow && fs_sync_has_barriers(v->kind);
  if (!v->any_slow) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_none(&v->arena, &v->next_slow, (size_t)s->n_commands + 1));
  FS_TRY(fs_new_zero(&v->arena, &v->in_order, s->n_queues));
  FS_TRY(fs_new_zero(&v->arena, &v->reached, s->n_commands));
  FS_TRY(fs_vdense_init(&v->arena, &v->by_order, s->n_queues));
  for (uint32_t q = 0; q < s->n_queues; q++) {
    uint32_t first = s->queues[q].command0, n = s->queues[q].n_commands, slow = FS_NONE;
    for (uint32_t i = n; i-- > 0;) {
      slow = fs_vs_slow(v, first + i) ? i + 1 : slow;
      v->next_slow[first + i] = slow;
    }
    for (uint32_t i = 0; i < n; i++) {
      uint64_t before = i == 0 ? 0 : v->reached[first + i - 1];
      v->reached[first + i] = fs_max(before, s->commands[first + i].end);
    }
  }
  return FSCHED_OK;
}

static fs_status prepare_walk(fs_vs *v, fs_vwalk *w) {
  const fs_stream *s = v->s;
  uint32_t n_axes;
  v->clocks.arena = &v->arena;
  FS_TRY(fs_new_zero(&v->arena, &v->base, s->n_queues));
  FS_TRY(fs_new_zero(&v->arena, &v->snapshot, s->n_commands));
  FS_TRY(fs_new_zero(&v->arena, &v->snapshot_refs, s->n_commands));
  FS_TRY(fs_new_zero(&v->arena, &v->occ_clock, v->n_occ));
  FS_TRY(fs_new_zero(&v->arena, &v->occ_refs, v->n_occ));
  FS_TRY(fs_new_zero(&v->arena, &v->progress, s->n_axes));
  FS_TRY(fs_sync_has_barriers(v->kind) ? fs_vparts_prepare(w) : FSCHED_OK);
  FS_TRY(prepare_slow(v));
  FS_TRY(fs_vapart_prepare(v, s->n_queues + w->n_split, &n_axes));
  FS_TRY(fs_vdense_init(&v->arena, &v->now, n_axes));
  FS_TRY(fs_vdense_init(&v->arena, &v->meet, n_axes));
  FS_TRY(fs_vdense_init(&v->arena, &v->other, n_axes));
  FS_TRY(fs_new(&v->arena, &v->source, s->n_queues));
  FS_TRY(fs_new(&v->arena, &w->head, s->n_queues));
  FS_TRY(fs_new_zero(&v->arena, &w->next_wait, s->n_queues));
  FS_TRY(fs_new(&v->arena, &w->ready, s->n_queues));
  FS_TRY(fs_new_zero(&v->arena, &w->arrived, v->n_occ));
  FS_TRY(fs_new_none(&v->arena, &w->waiter, count_events(v)));
  FS_TRY(fs_new(&v->arena, &w->next, s->n_queues));
  FS_TRY(fs_vs_edges_begin(v));
  count_refs(v);
  return prepare_sync(w);
}

static fs_status run_all(fs_vwalk *w) {
  do {
    while (w->n_ready > 0) {
      FS_TRY(try_queue(w, w->ready[--w->n_ready]));
    }
    if (fs_sync_has_stops(w->v->kind)) {
      FS_TRY(fs_vblock_issue(w));
    }
  } while (w->n_ready > 0);
  return FSCHED_OK;
}

fs_status fs_vs_walk(fs_vs *v) {
  assert(v->command_queue != NULL || v->s->n_commands == 0);
  fs_vwalk w = {.v = v};
  FS_TRY(prepare_walk(v, &w));
  for (uint32_t q = v->s->n_queues; q-- > 0;) {
    w.head[q] = v->s->queues[q].command0;
    w.ready[w.n_ready++] = q;
  }
  v->now_queue = FS_NONE;
  FS_TRY(fs_vs_access_begin(v));
  FS_TRY(run_all(&w));
  if (w.n_done == v->s->n_commands) {
    return fs_vs_access_end(v);
  }
  if (fs_sync_has_stops(v->kind)) {
    fs_vblock_stuck(&w);
  }
  for (uint32_t q = 0; q < v->s->n_queues; q++) {
    if (w.head[q] < v->s->queues[q].command0 + v->s->queues[q].n_commands) {
      report_stuck(&w, q);
    }
  }
  return FSCHED_OK;
}
