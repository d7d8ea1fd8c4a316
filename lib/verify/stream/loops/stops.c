/* SPDX-License-Identifier: Apache-2.0 */
/* Loops whose commands a sequencer issues: each wait is kept by a sync.
 *
 * In step t, n commands of a queue that has m in each step have been issued before place a:
 * t * m and those before a in the step.  A sync there has waited for all of these, or all but
 * `keep`.  A command is behind the sync of its own step if that stands at its place or before it,
 * else behind that of the step before.  Command and target of a wait are so many steps apart as
 * distance, copies and shifts say; all counts from the step of the command, so what holds in one
 * step holds in each.  In steps before the first one nothing is waited for, and no target is there.
 *
 * Syncs wait for what is issued before them, so there is no deadlock by them, as long as none
 * stands between the commands of a gang, which start together.  If these have shifts of their own,
 * all syncs of the steps between theirs do. */
#include "verify/stream/loops/parts.h"

/* The loop_queue that has a command. */
static const fs_stream_loop_queue *queue_of(const fs_vloop *x, uint32_t command) {
  const fs_stream_loop_queue *q = &x->v->s->loop_queues[x->l->queue0];
  while (command - q->command0 >= q->n_commands) {
    q++;
  }
  return q;
}

/* The number of a queue's commands that are issued before a place of a step, in it. */
static uint32_t issued_before(const fs_vloop *x, const fs_stream_loop_queue *q, uint32_t at) {
  const fs_stream_loop_command *m = &x->v->s->loop_commands[q->command0];
  uint32_t n = 0;
  while (n < q->n_commands && m[n].issue < at) {
    n++;
  }
  return n;
}

/* How many commands of a queue are over when a command starts that is behind a sync: from the first
 * one of the command's own step on, so less than 0 are steps before. */
static int64_t known_over(const fs_vloop *x, const fs_stream_stop *stop,
                          const fs_stream_loop_queue *q, uint32_t place) {
  int64_t steps = stop->at <= place ? 0 : -1;
  return steps * q->n_commands + issued_before(x, q, stop->at) - (int64_t)stop->keep;
}

static bool is_kept(const fs_vloop *x, const fs_stream_loop_command *m,
                    const fs_stream_loop_wait *w) {
  const fs_stream *s = x->v->s;
  const fs_stream_loop_command *target = &s->loop_commands[w->command];
  const fs_stream_loop_queue *q = queue_of(x, w->command);
  int64_t apart = (int64_t)m->copy - target->copy - (int64_t)w->distance; /* a multiple */
  int64_t steps = apart / x->l->copies + (int64_t)target->shift - (int64_t)m->shift;
  int64_t number = steps * q->n_commands + (int64_t)(w->command - q->command0) + 1;
  bool kept = false;
  for (uint32_t i = x->l->stop0; i < x->l->stop0 + x->l->n_stops && !kept; i++) {
    const fs_stream_stop *stop = &s->loop_stops[i];
    kept = (stop->queue == FS_NONE || stop->queue == q->queue) &&
           number <= known_over(x, stop, q, m->issue);
  }
  return kept;
}

/* Whether the sequencer issues one command before another in the same iterations of one op. */
static bool is_issued_before(const fs_stream_loop_command *m, const fs_stream_loop_command *k) {
  return m->shift != k->shift ? m->shift < k->shift : m->issue < k->issue;
}

/* The command of a gang that is issued last, of the gang of a command. */
static const fs_stream_loop_command *last_of_gang(const fs_vloop *x,
                                                  const fs_stream_loop_command *m) {
  const fs_stream *s = x->v->s;
  const fs_stream_loop_command *last = m;
  for (uint32_t c = x->command0; c < x->command0 + x->n_commands; c++) {
    const fs_stream_loop_command *k = &s->loop_commands[c];
    if (k->op == m->op && k->copy == m->copy && is_issued_before(last, k)) {
      last = k;
    }
  }
  return last;
}

/* Whether a sync at a place stands behind a command and before another one, in some step. */
static bool stands_between(uint32_t at, const fs_stream_loop_command *m,
                           const fs_stream_loop_command *last) {
  uint64_t first_step = (uint64_t)m->shift + (at <= m->issue);
  uint64_t end_step = (uint64_t)last->shift + (at <= last->issue);
  return first_step < end_step;
}

static void check_gang(fs_vloop *x, uint32_t command) {
  const fs_stream *s = x->v->s;
  const fs_stream_loop_command *m = &s->loop_commands[command], *last = last_of_gang(x, m);
  for (uint32_t i = x->l->stop0; i < x->l->stop0 + x->l->n_stops; i++) {
    if (stands_between(s->loop_stops[i].at, m, last)) {
      FS_LOOP_WRONG(x, FS_DIAG_VERIFY_DEADLOCK,
                    "loop %.60s: a sync stands between the commands of op %.60s", x->name,
                    fs_vloop_op_name(x, fs_vloop_member(x, command)));
      return;
    }
  }
}

fs_status fs_vloop_stops(fs_vloop *x) {
  assert(fs_sync_has_stops(x->v->kind));
  const fs_stream *s = x->v->s;
  for (uint32_t c = x->command0; c < x->command0 + x->n_commands; c++) {
    const fs_stream_loop_command *m = &s->loop_commands[c];
    check_gang(x, c);
    for (uint32_t w = m->wait0; w < m->wait0 + m->n_waits; w++) {
      if (!is_kept(x, m, &s->loop_waits[w])) {
        uint32_t target = fs_vloop_member(x, s->loop_waits[w].command);
        FS_LOOP_WRONG(x, FS_DIAG_VERIFY_WAIT,
                      "loop %.60s: no sync keeps the wait of op %.60s for op %.60s, %u iterations "
                      "back",
                      x->name, fs_vloop_op_name(x, fs_vloop_member(x, c)),
                      fs_vloop_op_name(x, target), s->loop_waits[w].distance);
      }
    }
  }
  return FSCHED_OK;
}
