/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates the order of the stream: queues that can proceed are in a heap by the planned start of
 * their next command; a queue that waits is linked to the command it waits for and comes back when
 * that has run; a gang runs when its last member has arrived. */
#include "model/stream/order.h"

#include "base/heap.h"
#include "fsched/graph.h"

typedef struct runner {
  const fs_stream *s;
  fs_stream_order *o;
  fsched_context *ctx;
  fs_heap ready;
  uint32_t *next;    /* per queue: its next command */
  uint32_t *wait;    /* per queue: the next command's first wait that is not known to be over, its
                        gates after its points */
  uint32_t *arrived; /* per epoch of a gang: members that have arrived */
  uint32_t *waiter;  /* per command: the first queue that waits for it */
  uint32_t *link;    /* per queue: the next that waits for the same command */
  uint8_t *done;     /* per command */
  uint32_t n;
} runner;

static void index_queues(const fs_stream *s, uint32_t *queue) {
  for (uint32_t q = 0; q < s->n_queues; q++) {
    for (uint32_t i = 0; i < s->queues[q].n_commands; i++) {
      queue[s->queues[q].command0 + i] = q;
    }
  }
}

/* Returns the number of epochs of all collective axes. */
static uint32_t count_epochs(const fs_stream *s, uint32_t *gang0) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    if (k->gang_axis != FS_NONE && gang0[k->gang_axis] < k->gang_epoch) {
      gang0[k->gang_axis] = k->gang_epoch;
    }
  }
  for (uint32_t a = 0; a < s->n_axes; a++) {
    uint32_t epochs = gang0[a];
    gang0[a] = n;
    n += epochs;
  }
  return n;
}

static void index_gangs(const fs_stream *s, const uint32_t *gang0, uint32_t *member) {
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    if (k->gang_axis == FS_NONE) {
      continue;
    }
    uint32_t *two = member + 2 * (size_t)(gang0[k->gang_axis] + k->gang_epoch - 1);
    if (two[0] == FS_NONE) {
      two[0] = c;
    } else if (two[1] == FS_NONE) {
      two[1] = c;
    }
  }
}

uint32_t fs_stream_source(const fs_stream *s, const fs_stream_order *o, const fs_stream_wait *w,
                          uint32_t own) {
  assert(w->axis < s->n_axes && w->epoch > 0);
  if (!fs_axis_has_members(s->axes[w->axis].kind)) {
    return s->queues[w->axis].command0 + w->epoch - 1;
  }
  const uint32_t *two = o->gang_member + 2 * (size_t)(o->gang0[w->axis] + w->epoch - 1);
  return o->queue[two[0]] == own && two[1] != FS_NONE ? two[1] : two[0];
}

static fs_status push(runner *r, uint32_t queue) {
  assert(queue < r->s->n_queues);
  const fs_stream_queue *q = &r->s->queues[queue];
  uint32_t c = r->next[queue];
  if (c == q->command0 + q->n_commands) {
    return FSCHED_OK;
  }
  return fs_heap_push(r->ctx, &r->ready, r->s->commands[c].start, queue);
}

/* The queue's next command has run. */
static fs_status finish_command(runner *r, uint32_t queue) {
  uint32_t c = r->next[queue]++;
  assert(r->n < r->s->n_commands && !r->done[c]);
  r->o->order[r->n++] = c;
  r->done[c] = 1;
  r->wait[queue] = 0;
  FS_TRY(push(r, queue));
  for (uint32_t q = r->waiter[c], after; q != FS_NONE; q = after) {
    after = r->link[q];
    FS_TRY(push(r, q));
  }
  return FSCHED_OK;
}

static fs_status meet_command(runner *r, const fs_stream_command *k) {
  const fs_stream_axis *a = &r->s->axes[k->gang_axis];
  assert(fs_axis_has_members(a->kind));
  if (++r->arrived[r->o->gang0[k->gang_axis] + k->gang_epoch - 1] < a->n_members) {
    return FSCHED_OK;
  }
  for (uint32_t i = 0; i < a->n_members; i++) {
    FS_TRY(finish_command(r, r->s->axis_members[a->member0 + i]));
  }
  return FSCHED_OK;
}

/* What the command waits for, index 0, 1, ...; FS_NONE after the last.  In this simulation a
 * started command is over, so gates count as waits. */
static uint32_t awaited(const runner *r, uint32_t command, uint32_t index) {
  const fs_points *p = &r->o->points;
  uint32_t n_points = p->point0[command + 1] - p->point0[command];
  if (index < n_points) {
    return fs_stream_source(r->s, r->o, &p->point[p->point0[command] + index], FS_NONE);
  }
  uint32_t gate = p->gate0[command] + index - n_points;
  return gate < p->gate0[command + 1] ? p->gate[gate] : FS_NONE;
}

static fs_status step_queue(runner *r, uint32_t queue) {
  const fs_stream *s = r->s;
  const fs_stream_command *k = &s->commands[r->next[queue]];
  for (uint32_t from; (from = awaited(r, r->next[queue], r->wait[queue])) != FS_NONE;
       r->wait[queue]++) {
    if (!r->done[from]) {
      r->link[queue] = r->waiter[from];
      r->waiter[from] = queue;
      return FSCHED_OK;
    }
  }
  return k->gang_axis == FS_NONE ? finish_command(r, queue) : meet_command(r, k);
}

static fs_status run_commands(runner *r) {
  const fs_stream *s = r->s;
  for (uint32_t q = 0; q < s->n_queues; q++) {
    r->next[q] = s->queues[q].command0;
    FS_TRY(push(r, q));
  }
  while (r->ready.n > 0) {
    FS_TRY(step_queue(r, fs_heap_pop(&r->ready).id));
  }
  r->o->n_runnable = r->n;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    if (!r->done[c]) {
      r->o->order[r->n++] = c;
    }
  }
  assert(r->n == s->n_commands && r->o->n_runnable <= r->n);
  return FSCHED_OK;
}

static fs_status make_runner(fs_arena *arena, runner *r, uint32_t n_epochs) {
  const fs_stream *s = r->s;
  FS_TRY(fs_new_zero(arena, &r->next, s->n_queues));
  FS_TRY(fs_new_zero(arena, &r->wait, s->n_queues));
  FS_TRY(fs_new_zero(arena, &r->arrived, n_epochs));
  FS_TRY(fs_new_none(arena, &r->waiter, s->n_commands));
  FS_TRY(fs_new_none(arena, &r->link, s->n_queues));
  return fs_new_zero(arena, &r->done, s->n_commands);
}

fs_status fs_stream_order_find(fs_arena *arena, const fs_stream *s, fs_stream_order *out) {
  assert(s->n_meta == 1);
  *out = (fs_stream_order){0};
  FS_TRY(fs_new(arena, &out->queue, s->n_commands));
  FS_TRY(fs_new(arena, &out->order, s->n_commands));
  FS_TRY(fs_new_zero(arena, &out->gang0, s->n_axes));
  FS_TRY(fs_stream_points_find(arena, s, &out->points));
  index_queues(s, out->queue);
  uint32_t n_epochs = count_epochs(s, out->gang0);
  FS_TRY(fs_new_none(arena, &out->gang_member, 2 * (size_t)n_epochs));
  index_gangs(s, out->gang0, out->gang_member);
  runner r = {.s = s, .o = out, .ctx = arena->ctx};
  fs_status status = make_runner(arena, &r, n_epochs);
  if (status == FSCHED_OK) {
    status = run_commands(&r);
  }
  fs_vec_free(r.ctx, &r.ready);
  return status;
}

uint32_t fs_loop_part_queue(const fs_stream *s, const fs_stream_loop *l, uint32_t command) {
  assert(command < s->n_loop_commands);
  const fs_stream_loop_command *m = &s->loop_commands[command];
  bool first = true;
  for (uint32_t q = l->queue0; q < l->queue0 + l->n_queues; q++) {
    const fs_stream_loop_queue *of = &s->loop_queues[q];
    for (uint32_t c = of->command0; c < of->command0 + of->n_commands; c++) {
      const fs_stream_loop_command *k = &s->loop_commands[c];
      if (c == command) {
        return first ? FS_NONE : of->queue;
      }
      first = first && (k->op != m->op || k->copy != m->copy);
    }
  }
  return FS_NONE;
}
