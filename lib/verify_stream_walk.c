/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over all commands in an order that queue order and waits allow.
 *
 * A queue's head runs when each of its waits is complete; a gang's members run together, when the
 * last of them is there.  If the walk gets to the end, no execution can deadlock: what can run
 * never stops being able to (progress only grows), so another choice of order gets there too.
 *
 * Clocks: what is complete before a command is what was complete before its queue's last command,
 * that command, and for each wait the same of the command waited for; members of one gang give
 * each other nothing.  Queues share clocks: a command without waits knows what its predecessor
 * knew, plus it.  A clock is kept while somebody will wait for it. */
#include <stdio.h>

#include "context.h"
#include "progress.h"
#include "verify_stream.h"

/* --- clocks --- */

fs_status fs_vdense_init(fs_arena *arena, fs_vdense *d, uint32_t n) {
  d->n = 0;
  FS_TRY(fs_new_zero(arena, &d->epoch, n));
  return fs_new(arena, &d->touched, n);
}

static void dense_clear(fs_vdense *d) {
  for (uint32_t i = 0; i < d->n; i++) {
    d->epoch[d->touched[i]] = 0;
  }
  d->n = 0;
}

static void dense_raise(fs_vdense *d, uint32_t queue, uint32_t epoch) {
  uint32_t old = d->epoch[queue];
  if (epoch > old) {
    if (old == 0) {
      d->touched[d->n++] = queue;
    }
    d->epoch[queue] = epoch;
  }
}

static void dense_join(fs_vdense *d, const fs_vclock *c) {
  for (uint32_t i = 0; c != NULL && i < c->n; i++) {
    dense_raise(d, c->at[i].queue, c->at[i].epoch);
  }
}

static void clock_release(fs_vs *v, fs_vclock *c) {
  if (c != NULL && --c->refs == 0) {
    memcpy(c->at, &v->free_clock[c->size_class], sizeof(void *));
    v->free_clock[c->size_class] = c;
  }
}

/* A clock of all entries of `d` but the one of queue `without`. */
static fs_status clock_make(fs_vs *v, const fs_vdense *d, uint32_t without, fs_vclock **out) {
  uint32_t size_class = 1;
  while (((uint32_t)1 << size_class) < d->n) {
    size_class++;
  }
  fs_vclock *c = v->free_clock[size_class];
  if (c != NULL) {
    memcpy(&v->free_clock[size_class], c->at, sizeof(void *));
  } else {
    c = fs_arena_alloc(&v->arena, sizeof *c + (sizeof c->at[0] << size_class));
    if (c == NULL) {
      return FSCHED_SYSTEM;
    }
  }
  *c = (fs_vclock){.refs = 1, .size_class = size_class};
  for (uint32_t i = 0; i < d->n; i++) {
    if (d->touched[i] != without) {
      c->at[c->n++] = (fs_vclock_entry){d->touched[i], d->epoch[d->touched[i]]};
    }
  }
  *out = c;
  return FSCHED_OK;
}

/* --- what a wait stands for --- */

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
    clock_release(v, v->occ_clock[occ]);
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
    clock_release(v, v->snapshot[c]);
    v->snapshot[c] = NULL;
  }
}

/* Does the clock hold all that the point stands for?  (Clocks are closed, so the commands
 * themselves suffice.) */
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

static void check_plan(fs_vs *v, uint32_t command) {
  const fs_stream_command *c = &v->s->commands[command];
  char name[FS_VNAME], other[FS_VNAME];
  if (c->start > c->end ||
      (c->kind == FS_COMMAND_RUN && c->end - c->start != v->s->ops[c->target].time)) {
    FS_WRONG(v, FS_DIAG_VERIFY_PLAN, "%s is planned at %llu to %llu, which is not its time",
             fs_vs_command_name(v, command, name), (unsigned long long)c->start,
             (unsigned long long)c->end);
  }
  if (c->epoch > 1 && c[-1].end > c->start) {
    FS_WRONG(v, FS_DIAG_VERIFY_PLAN, "%s is planned before the end of the command before it",
             fs_vs_command_name(v, command, name));
  }
  for (uint32_t i = 0; i < c->n_waits; i++) {
    const fs_stream_wait *w = &v->s->waits[c->wait0 + i];
    uint32_t target = is_queue(v, w->axis) ? queue_command(v, w->axis, w->epoch)
                                           : v->occ_command[v->occ_command0[point_occ(v, w)]];
    if (v->s->commands[target].end > c->start) {
      FS_WRONG(v, FS_DIAG_VERIFY_PLAN, "%s is planned before the end of %s, for which it waits",
               fs_vs_command_name(v, command, name), fs_vs_command_name(v, target, other));
    }
  }
}

static void report_superfluous(fs_vs *v, uint32_t command, const fs_stream_wait *w) {
  char name[FS_VNAME];
  FS_WRONG(v, FS_DIAG_VERIFY_SUPERFLUOUS,
           "%s waits for epoch %u of %s, which queue order and its other waits give",
           fs_vs_command_name(v, command, name), w->epoch,
           fs_vs_string(v, v->s->axes[w->axis].name));
}

/* What `now` knows from source (a wait's index, FS_NONE: the queue).  `other` keeps, per queue, the
 * best that a source other than that of `now` gives. */
static void raise_from(fs_vs *v, uint32_t queue, uint32_t epoch, uint32_t source) {
  uint32_t best = v->now.epoch[queue];
  if (epoch > best) {
    if (best > 0 && v->source[queue] != source) {
      dense_raise(&v->other, queue, best);
    }
    dense_raise(&v->now, queue, epoch);
    v->source[queue] = source;
  } else if (v->source[queue] != source) {
    dense_raise(&v->other, queue, epoch);
  }
}

/* Do the sources but this one give (queue, epoch)? */
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

/* Joins the waits of a command into `now`, which holds what its queue knows, and reports each wait
 * that queue and other waits imply. */
static void join_waits(fs_vs *v, uint32_t command) {
  const fs_stream_command *c = &v->s->commands[command];
  const fs_stream_wait *w = v->s->waits + c->wait0;
  dense_clear(&v->other);
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

/* `now` with the command's own epoch is the exact clock after it. */
static void check_frontier(fs_vs *v, uint32_t command) {
  const fs_stream_command *c = &v->s->commands[command];
  const fs_stream_wait *f = v->s->frontiers + c->frontier0;
  const char *fault = NULL;
  bool own = false;
  dense_clear(&v->other);
  for (uint32_t i = 0; i < c->n_frontier; i++) {
    own = own || (f[i].axis == v->command_queue[command] && f[i].epoch == c->epoch);
    if (!point_complete(v, &f[i]) && !(f[i].axis == v->command_queue[command])) {
      fault = "names what is not complete";
    } else if (!point_known(v, &v->now, &f[i])) {
      fault = "names what is not known to be complete";
    } else if (is_queue(v, f[i].axis)) {
      dense_raise(&v->other, f[i].axis, f[i].epoch);
    } else {
      dense_join(&v->other, v->occ_clock[point_occ(v, &f[i])]);
    }
    if (!is_queue(v, f[i].axis)) {
      drop_occ(v, point_occ(v, &f[i]));
    }
  }
  for (uint32_t i = 0; i < v->now.n && !c->tainted && fault == NULL; i++) {
    uint32_t q = v->now.touched[i];
    fault = v->other.epoch[q] < v->now.epoch[q] ? "leaves something out and is not tainted" : NULL;
  }
  fault = !own ? "lacks its own epoch" : fault;
  fault = c->n_frontier > v->s->meta[0].frontier_capacity ? "is over capacity" : fault;
  if (fault != NULL) {
    char name[FS_VNAME];
    FS_WRONG(v, FS_DIAG_VERIFY_FRONTIER, "the frontier of %s %s",
             fs_vs_command_name(v, command, name), fault);
  }
}

/* Leaves in `now` what is complete after the command. */
static fs_status one_command(fs_vs *v, uint32_t command) {
  const fs_stream_command *c = &v->s->commands[command];
  uint32_t q = v->command_queue[command];
  if (v->now_queue != q) { /* else `now` is as the command before it left it */
    dense_clear(&v->now);
    dense_join(&v->now, v->base[q]);
    dense_raise(&v->now, q, c->epoch - 1);
    v->now_queue = q;
  }
  check_plan(v, command);
  if (c->n_waits > 0) {
    join_waits(v, command);
    fs_vclock *base;
    FS_TRY(clock_make(v, &v->now, q, &base));
    clock_release(v, v->base[q]);
    v->base[q] = base;
  }
  if (v->snapshot_refs[command] > 0 && v->base[q] != NULL) {
    v->snapshot[command] = v->base[q];
    v->base[q]->refs++;
  }
  dense_raise(&v->now, q, c->epoch);
  check_frontier(v, command);
  return FSCHED_OK;
}

/* --- one item --- */

/* `meet` becomes what is known to all of a gang's members.  That a member knows of its own epoch
 * does not matter: only the item itself has it. */
static void meet_now(fs_vs *v, bool first) {
  if (first) {
    dense_clear(&v->meet);
    for (uint32_t i = 0; i < v->now.n; i++) {
      dense_raise(&v->meet, v->now.touched[i], v->now.epoch[v->now.touched[i]]);
    }
    return;
  }
  uint32_t n = 0;
  for (uint32_t i = 0; i < v->meet.n; i++) {
    uint32_t q = v->meet.touched[i];
    v->meet.epoch[q] = (uint32_t)fs_min(v->meet.epoch[q], v->now.epoch[q]);
    if (v->meet.epoch[q] > 0) {
      v->meet.touched[n++] = q;
    }
  }
  v->meet.n = n;
}

static void check_edges(fs_vs *v, uint32_t op, const fs_vdense *known) {
  for (uint32_t i = v->pred0[op]; i < v->pred0[op + 1]; i++) {
    uint32_t pred = v->pred.at[i];
    for (uint32_t k = v->op_command0[pred]; k < v->op_command0[pred + 1]; k++) {
      uint32_t c = v->op_command[k];
      if (known->epoch[v->command_queue[c]] < v->s->commands[c].epoch) {
        char name[FS_VNAME];
        FS_WRONG(v, FS_DIAG_VERIFY_EDGE, "op %s depends on op %s and is not ordered after %s",
                 fs_vs_op_name(v, op), fs_vs_op_name(v, pred), fs_vs_command_name(v, c, name));
        break;
      }
    }
  }
}

static fs_status make_occ_clock(fs_vs *v, uint32_t occ) {
  if (v->occ_refs[occ] == 0) {
    return FSCHED_OK;
  }
  v->now_queue = FS_NONE;
  dense_clear(&v->now);
  for (uint32_t k = v->occ_command0[occ]; k < v->occ_command0[occ + 1]; k++) {
    uint32_t c = v->occ_command[k];
    dense_join(&v->now, v->base[v->command_queue[c]]);
    dense_raise(&v->now, v->command_queue[c], v->s->commands[c].epoch);
  }
  return clock_make(v, &v->now, FS_NONE, &v->occ_clock[occ]);
}

static fs_status one_item(fs_vs *v, const uint32_t *commands, uint32_t n) {
  const fs_stream_command *c = &v->s->commands[commands[0]];
  for (uint32_t i = 0; i < n; i++) {
    FS_TRY(one_command(v, commands[i]));
    if (n > 1) {
      meet_now(v, i == 0);
    }
  }
  const fs_vdense *known = n > 1 ? &v->meet : &v->now;
  if (c->kind == FS_COMMAND_RUN) {
    check_edges(v, c->target, known);
  }
  FS_TRY(fs_vs_access(v, commands, n, known));
  if (c->gang_axis != FS_NONE) {
    FS_TRY(make_occ_clock(v, v->command_occ[commands[0]]));
    v->progress[c->gang_axis]++;
  }
  return FSCHED_OK;
}

/* --- the walk --- */

typedef struct walk {
  fs_vs *v;
  uint32_t *head;           /* per queue: its next command */
  uint32_t *next_wait;      /* per queue: first wait of the head not known to be complete */
  uint32_t *ready, n_ready; /* queues to look at */
  uint32_t *arrived;        /* per occurrence: members at the head of their queue */
  uint32_t *waiter;         /* per command: a list of queues whose head waits for it */
  uint32_t *occ_waiter;     /* per occurrence the same */
  uint32_t *next;           /* per queue: the next one of its list */
  uint32_t n_done;          /* commands */
} walk;

/* Looks at the waits of the queue's head; false when one is not complete (the queue is then on the
 * list of what it waits for). */
static bool waits_complete(walk *w, uint32_t q) {
  const fs_vs *v = w->v;
  const fs_stream_command *c = &v->s->commands[w->head[q]];
  for (; w->next_wait[q] < c->n_waits; w->next_wait[q]++) {
    const fs_stream_wait *p = &v->s->waits[c->wait0 + w->next_wait[q]];
    if (!point_complete(v, p)) {
      uint32_t *list = is_queue(v, p->axis) ? &w->waiter[queue_command(v, p->axis, p->epoch)]
                                            : &w->occ_waiter[point_occ(v, p)];
      w->next[q] = *list;
      *list = q;
      return false;
    }
  }
  return true;
}

static void wake(walk *w, uint32_t list) {
  for (uint32_t q = list; q != FS_NONE; q = w->next[q]) {
    w->ready[w->n_ready++] = q;
  }
}

static void count_done(walk *w, uint32_t n) {
  enum { STEP = 1024 };
  uint32_t before = w->n_done;
  w->n_done += n;
  if (before / STEP != w->n_done / STEP) {
    fs_progress_at(w->v->ctx, FS_VS_PARTS * fs_vs_part_work(w->v->s) + w->n_done);
  }
}

static fs_status run_item(walk *w, const uint32_t *commands, uint32_t n) {
  fs_vs *v = w->v;
  FS_TRY(one_item(v, commands, n));
  count_done(w, n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t q = v->command_queue[commands[i]];
    w->head[q]++;
    w->next_wait[q] = 0;
    v->progress[q]++;
    w->ready[w->n_ready++] = q;
  }
  for (uint32_t i = 0; i < n; i++) {
    wake(w, w->waiter[commands[i]]);
  }
  if (v->command_occ[commands[0]] != FS_NONE) {
    wake(w, w->occ_waiter[v->command_occ[commands[0]]]);
  }
  return FSCHED_OK;
}

static fs_status try_queue(walk *w, uint32_t q) {
  fs_vs *v = w->v;
  const fs_stream_queue *x = &v->s->queues[q];
  uint32_t c = w->head[q];
  if (c >= x->command0 + x->n_commands || !waits_complete(w, q)) {
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

static void report_stuck(walk *w, uint32_t q) {
  fs_vs *v = w->v;
  uint32_t head = w->head[q];
  const fs_stream_command *c = &v->s->commands[head];
  char name[FS_VNAME];
  fs_vs_command_name(v, head, name);
  if (w->next_wait[q] < c->n_waits) {
    const fs_stream_wait *p = &v->s->waits[c->wait0 + w->next_wait[q]];
    FS_WRONG(v, FS_DIAG_VERIFY_DEADLOCK, "%s waits for epoch %u of %s, which stops at %u", name,
             p->epoch, fs_vs_string(v, v->s->axes[p->axis].name), v->progress[p->axis]);
  } else {
    FS_WRONG(v, FS_DIAG_VERIFY_DEADLOCK, "%s waits for the other members of its gang", name);
  }
}

static fs_status prepare(fs_vs *v, walk *w) {
  const fs_stream *s = v->s;
  FS_TRY(fs_new_zero(&v->arena, &v->base, s->n_queues));
  FS_TRY(fs_new_zero(&v->arena, &v->snapshot, s->n_commands));
  FS_TRY(fs_new_zero(&v->arena, &v->snapshot_refs, s->n_commands));
  FS_TRY(fs_new_zero(&v->arena, &v->occ_clock, v->n_occ));
  FS_TRY(fs_new_zero(&v->arena, &v->occ_refs, v->n_occ));
  FS_TRY(fs_new_zero(&v->arena, &v->progress, s->n_axes));
  FS_TRY(fs_vdense_init(&v->arena, &v->now, s->n_queues));
  FS_TRY(fs_vdense_init(&v->arena, &v->meet, s->n_queues));
  FS_TRY(fs_vdense_init(&v->arena, &v->other, s->n_queues));
  FS_TRY(fs_new(&v->arena, &v->source, s->n_queues));
  FS_TRY(fs_new(&v->arena, &w->head, s->n_queues));
  FS_TRY(fs_new_zero(&v->arena, &w->next_wait, s->n_queues));
  FS_TRY(fs_new(&v->arena, &w->ready, s->n_queues));
  FS_TRY(fs_new_zero(&v->arena, &w->arrived, v->n_occ));
  FS_TRY(fs_new_none(&v->arena, &w->waiter, s->n_commands));
  FS_TRY(fs_new_none(&v->arena, &w->occ_waiter, v->n_occ));
  FS_TRY(fs_new(&v->arena, &w->next, s->n_queues));
  for (uint32_t i = 0; i < s->n_waits; i++) {
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
  return FSCHED_OK;
}

fs_status fs_vs_walk(fs_vs *v) {
  walk w = {.v = v};
  FS_TRY(prepare(v, &w));
  for (uint32_t q = v->s->n_queues; q-- > 0;) {
    w.head[q] = v->s->queues[q].command0;
    w.ready[w.n_ready++] = q;
  }
  v->now_queue = FS_NONE;
  FS_TRY(fs_vs_access_begin(v));
  while (w.n_ready > 0) {
    FS_TRY(try_queue(&w, w.ready[--w.n_ready]));
  }
  bool stuck = false;
  for (uint32_t q = 0; q < v->s->n_queues; q++) {
    if (w.head[q] < v->s->queues[q].command0 + v->s->queues[q].n_commands) {
      report_stuck(&w, q);
      stuck = true;
    }
  }
  return stuck ? FSCHED_OK : fs_vs_access_end(v);
}
