/* SPDX-License-Identifier: Apache-2.0 */
/* What of an ordering is for one command.  Where a loop stays one, its queues enter and leave it on
 * their own: an ordering for bytes of a buffer is one of those queues alone whose commands touch
 * the buffer (lib/model/lags.h).  Where barriers or syncs order commands, or some are slow, it is
 * one of all members. */
#include "draw/explain/explain.h"
#include "model/sync.h"

/* The outermost loop that a command runs, or NULL. */
static const fs_stream_loop *loop_of(const fs_explain *e, uint32_t command) {
  uint32_t op = fs_command_op(&e->s->commands[command]);
  const fs_stream_loop *found = NULL;
  for (uint32_t l = 0; l < e->s->n_loops && op != FS_NONE && found == NULL; l++) {
    const fs_stream_loop *x = &e->s->loops[l];
    found = x->within == FS_NONE && x->op == op ? x : NULL;
  }
  return found;
}

static bool queue_touches(const fs_stream *s, const fs_stream_loop_queue *q, uint32_t buffer) {
  for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
    const fs_stream_loop_op *o = &s->loop_ops[s->loop_commands[c].op];
    for (uint32_t a = o->arg0; a < o->arg0 + o->n_args; a++) {
      if (s->loop_args[a].buffer == buffer) {
        return true;
      }
    }
  }
  return false;
}

static bool command_touches(const fs_explain *e, uint32_t command, uint32_t buffer) {
  const fs_stream_loop *l = loop_of(e, command);
  bool own = l == NULL, any = false;
  for (uint32_t k = 0; l != NULL && k < l->n_rings; k++) { /* by the queue that is over last */
    const fs_stream_ring *r = &e->s->rings[l->ring0 + k];
    own = own || (fs_ring_moves(l, r) && e->s->args[r->arg].buffer == buffer);
  }
  for (uint32_t k = 0; l != NULL && k < l->n_queues; k++) {
    const fs_stream_loop_queue *q = &e->s->loop_queues[l->queue0 + k];
    bool here = queue_touches(e->s, q, buffer);
    own = own || (here && q->queue == e->order.queue[command]);
    any = any || here;
  }
  return own || !any;
}

/* The buffer that an ordering is for, where members count that touch it; FS_NONE: all do, as before
 * and behind copies. */
static uint32_t buffer_of(const fs_explain *e, const fs_want *w, uint32_t later) {
  bool ops =
      fs_command_has_op(&e->s->commands[w->from]) && fs_command_has_op(&e->s->commands[later]);
  bool by_buffer = w->why == FS_WANT_DATA || w->why == FS_WANT_OVERWRITE ||
                   w->why == FS_WANT_REWRITE || w->why == FS_WANT_UNITS;
  bool some = ops && e->s->n_loops > 0 && fs_sync_has_waits(e->s->meta->sync) && !e->any_slow;
  return some && by_buffer && w->version != FS_NONE ? e->s->versions[w->version].buffer : FS_NONE;
}

static bool concerns(const fs_explain *e, const fs_want *w, uint32_t later, uint32_t command) {
  assert(command < e->s->n_commands);
  uint32_t buffer = buffer_of(e, w, later);
  return buffer == FS_NONE || command_touches(e, command, buffer);
}

/* Whether some of the orderings, which all are after one item, are of these two commands. */
static bool is_needed(const fs_explain *e, const fs_want *w, uint32_t n, uint32_t command,
                      uint32_t member) {
  bool needed = false;
  for (uint32_t i = 0; i < n && !needed; i++) {
    needed = concerns(e, &w[i], command, command) && concerns(e, &w[i], command, member);
  }
  return needed;
}

static bool has_point(const fs_explain *e, uint32_t command, fs_stream_wait done) {
  const fs_points *p = &e->order.points;
  bool found = false;
  for (uint32_t w = p->point0[command]; w < p->point0[command + 1] && !found; w++) {
    found = p->point[w].axis == done.axis && p->point[w].epoch == done.epoch;
  }
  return found;
}

fs_needed_of fs_explain_need(const fs_explain *e, uint32_t command, const fs_want *w, uint32_t n) {
  assert(n > 0);
  uint32_t n_members, n_needed = 0;
  const uint32_t *member = fs_explain_members(e, w->from, &n_members);
  fs_stream_wait all = fs_explain_complete(e, w->from);
  fs_needed_of need = {.done = all, .own = true, .waited = true};
  for (uint32_t i = 0; i < n_members; i++) {
    uint32_t queue = e->order.queue[member[i]];
    fs_stream_wait done = {queue, e->s->commands[member[i]].epoch};
    if (!is_needed(e, w, n, command, member[i])) {
      continue;
    }
    n_needed++;
    bool own = queue == e->order.queue[command];
    bool waited = own || has_point(e, command, done) || has_point(e, command, all);
    if (n_needed == 1 || (need.waited && !waited)) { /* the first that is not waited for */
      need.done = done;
    }
    need.own = need.own && own;
    need.waited = need.waited && waited;
  }
  need.all = n_needed == n_members;
  need.none = n_needed == 0;
  need.done = need.all ? all : need.done;
  return need;
}

uint64_t fs_explain_until(const fs_explain *e, uint32_t item, const fs_want *w) {
  uint32_t n;
  const uint32_t *member = fs_explain_members(e, w->from, &n);
  uint64_t end = 0, enter = UINT64_MAX, start = fs_explain_start(e, item);
  for (uint32_t i = 0; i < n; i++) {
    bool counts = concerns(e, w, item, member[i]);
    end = counts ? fs_max(end, e->s->commands[member[i]].end) : end;
  }
  member = fs_explain_members(e, item, &n);
  for (uint32_t i = 0; i < n; i++) {
    bool counts = concerns(e, w, item, member[i]);
    enter = counts ? fs_min(enter, e->s->commands[member[i]].start - start) : enter;
  }
  return fs_max(end - fs_min(end, enter), fs_explain_start(e, w->from));
}
