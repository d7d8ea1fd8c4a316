/* SPDX-License-Identifier: Apache-2.0 */
/* Events are the start and the end of each instance, which are 2 k and 2 k + 1 for instance k; when
 * all up to a command of a queue is over; and, of loops in loops, the begin and the end of a run,
 * or of each queue's part of it. */
#include "verify/rolled/event_judge.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { QUEUES = 8, LOOPS = 16, PARTS = QUEUES * LOOPS };

typedef struct event_maker {
  fs_event_judge *j;
  uint32_t size[LOOPS];    /* per loop: the instances of a run */
  uint32_t reached[LOOPS]; /* per loop: where the events "all up to a command" of its run begin */
  uint32_t all[PARTS]; /* per loop queue of joined runs: all of the run before is over; FS_NONE */
  uint32_t *run_begin; /* per instance and loop: of its run that begins with the instance */
} event_maker;

static uint32_t new_event(fs_event_judge *j) { return j->n++; }

static uint32_t new_events(fs_event_judge *j, uint32_t n) {
  j->n += n;
  return j->n - n;
}

static void add_edge(fs_event_judge *j, uint32_t from, uint32_t to) {
  if (j->n_edges == j->room_edges) {
    j->room_edges = 2 * j->room_edges + 256;
    j->edge0 = realloc(j->edge0, j->room_edges * sizeof *j->edge0);
    j->edge = realloc(j->edge, j->room_edges * sizeof *j->edge);
    assert(j->edge0 != NULL && j->edge != NULL);
  }
  j->edge0[j->n_edges] = from;
  j->edge[j->n_edges++] = to;
}

static uint32_t count_loop(event_maker *m, uint32_t loop) {
  const fs_stream *s = m->j->s;
  const fs_stream_loop *l = &s->loops[loop];
  uint32_t n = 0;
  for (uint32_t k = 0; k < l->n_ops; k++) {
    uint32_t inner = s->loop_ops[l->op0 + k].loop;
    n += inner == FS_NONE ? 1 : count_loop(m, inner);
  }
  return m->size[loop] = n * (uint32_t)l->trip;
}

/* The first instance of an op in an iteration of a run whose own first one is `base`. */
static uint32_t number(const event_maker *m, uint32_t loop, uint32_t base, uint32_t op,
                       uint64_t iteration) {
  const fs_stream *s = m->j->s;
  const fs_stream_loop *l = &s->loops[loop];
  uint32_t n = base + (uint32_t)iteration * (m->size[loop] / (uint32_t)l->trip);
  for (uint32_t k = l->op0; k < op; k++) {
    n += s->loop_ops[k].loop == FS_NONE ? 1 : m->size[s->loop_ops[k].loop];
  }
  return n;
}

static uint32_t first_command(const event_maker *m, uint32_t loop) {
  return m->j->s->loop_queues[m->j->s->loops[loop].queue0].command0;
}

static uint32_t n_commands(const event_maker *m, uint32_t loop) {
  const fs_stream_loop *l = &m->j->s->loops[loop];
  const fs_stream_loop_queue *q = &m->j->s->loop_queues[l->queue0 + l->n_queues - 1];
  return q->command0 + q->n_commands - first_command(m, loop);
}

static uint64_t all_trips(const event_maker *m, uint32_t loop) {
  const fs_stream_loop *l = &m->j->s->loops[loop];
  return l->joined != 0 ? l->trip * m->j->s->loops[l->within].trip : l->trip;
}

/* The event that all up to an iteration of a command is over. */
static uint32_t reached(const event_maker *m, uint32_t loop, uint32_t command, uint64_t f) {
  return m->reached[loop] + (command - first_command(m, loop)) * (uint32_t)all_trips(m, loop) +
         (uint32_t)f;
}

static void begin_counting(event_maker *m, uint32_t loop) {
  m->reached[loop] = new_events(m->j, n_commands(m, loop) * (uint32_t)all_trips(m, loop));
}

typedef struct run_of {
  uint32_t loop, base;
  uint64_t before; /* iterations of earlier runs that it is joined to */
} run_of;

/* The events of what a queue does: its begin and end, and when it goes on. */
typedef struct part_events {
  uint32_t begin, end, on;
} part_events;

static void follow_part(event_maker *m, run_of r, uint32_t part, part_events e);

static bool writes_outside(const fs_stream *s, const fs_stream_loop *l, uint32_t buffer) {
  bool writes = false;
  for (uint32_t op = l->op0; op < l->op0 + l->n_ops; op++) {
    const fs_stream_loop_op *o = &s->loop_ops[op];
    for (uint32_t a = o->arg0; a < o->arg0 + o->n_args; a++) {
      const fs_stream_loop_arg *x = &s->loop_args[a];
      writes |= x->buffer == buffer && x->ring == FS_NONE && fs_tag_writes(x->tag);
    }
  }
  return writes;
}

/* Whether a quick command of the queue waits for this one in the same iteration. */
static bool is_awaited(const fs_stream *s, const fs_stream_loop_queue *q, uint32_t command) {
  bool awaited = false;
  for (uint32_t i = 0; i < s->n_loop_waits; i++) {
    bool of = s->loop_waits[i].command == command && s->loop_waits[i].distance == 0;
    for (uint32_t c = q->command0; of && c < q->command0 + q->n_commands; c++) {
      const fs_stream_loop_command *k = &s->loop_commands[c];
      const fs_stream_loop_op *o = &s->loop_ops[k->op];
      awaited |= i - k->wait0 < k->n_waits && o->time == o->latency;
    }
  }
  return awaited;
}

/* Whether a queue goes on from its part of a joined run before that is over. */
static bool goes_on_early(const fs_stream *s, const fs_stream_loop *l,
                          const fs_stream_loop_queue *q) {
  uint32_t under_way = 0, shared = 0;
  for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
    const fs_stream_loop_op *o = &s->loop_ops[s->loop_commands[c].op];
    if (o->time == o->latency) {
      continue;
    }
    under_way += !is_awaited(s, q, c);
    for (uint32_t a = o->arg0; a < o->arg0 + o->n_args; a++) {
      const fs_stream_loop_arg *x = &s->loop_args[a];
      shared += x->buffer != FS_NONE && x->ring == FS_NONE && fs_tag_accesses(x->tag) &&
                writes_outside(s, l, x->buffer);
    }
  }
  return under_way > 0 && shared == 0;
}

/* A run begins in which the queues meet. */
static void follow_run(event_maker *m, run_of r, uint32_t begin, uint32_t end) {
  const fs_stream *s = m->j->s;
  const fs_stream_loop *l = &s->loops[r.loop];
  begin_counting(m, r.loop);
  for (uint32_t k = l->op0; k < l->op0 + l->n_ops; k++) {
    uint32_t inner = s->loop_ops[k].loop;
    if (inner != FS_NONE && s->loops[inner].joined != 0) {
      begin_counting(m, inner);
      for (uint32_t q = 0; q < s->loops[inner].n_queues; q++) {
        assert(s->loops[inner].queue0 + q < PARTS);
        m->all[s->loops[inner].queue0 + q] = FS_NONE;
      }
    }
  }
  add_edge(m->j, begin, end);
  for (uint32_t q = l->queue0; q < l->queue0 + l->n_queues; q++) {
    follow_part(m, r, q, (part_events){begin, end, end});
  }
}

/* A command whose op is a loop. */
static part_events follow_inner(event_maker *m, uint32_t inner, uint32_t base, uint64_t iteration,
                                uint32_t queue) {
  const fs_stream *s = m->j->s;
  const fs_stream_loop *l = &s->loops[inner];
  if (l->joined != 0) {
    uint32_t part = l->queue0;
    while (s->loop_queues[part].queue != queue) {
      part++;
    }
    uint32_t first = new_events(m->j, 3);
    part_events e = {first, first + 1, first + 2};
    add_edge(m->j, e.begin, e.end);
    add_edge(m->j, e.begin, e.on);
    follow_part(m, (run_of){inner, base, iteration * l->trip}, part, e);
    e.on = goes_on_early(s, l, &s->loop_queues[part]) ? e.on : e.end;
    return e;
  }
  uint32_t *at = &m->run_begin[base * LOOPS + inner];
  bool first = *at == FS_NONE;
  *at = first ? new_events(m->j, 2) : *at;
  part_events e = {*at, *at + 1, *at + 1};
  if (first) {
    follow_run(m, (run_of){inner, base, 0}, e.begin, e.end);
  }
  return e;
}

static void follow_waits(event_maker *m, run_of r, const fs_stream_loop_command *k, uint64_t f,
                         uint32_t begin) {
  for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
    const fs_stream_loop_wait *x = &m->j->s->loop_waits[w];
    if (x->distance <= f) {
      add_edge(m->j, reached(m, r.loop, x->command, f - x->distance), begin);
    }
  }
}

/* What a queue does in a run. */
static void follow_part(event_maker *m, run_of r, uint32_t part, part_events of) {
  const fs_stream *s = m->j->s;
  const fs_stream_loop *l = &s->loops[r.loop];
  const fs_stream_loop_queue *q = &s->loop_queues[part];
  uint32_t last = of.begin, all = of.begin;
  uint64_t steps = l->trip;
  for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
    steps = fs_max(steps, l->trip + s->loop_commands[c].shift);
  }
  if (l->joined != 0 && m->all[part] != FS_NONE) {
    all = new_event(m->j);
    add_edge(m->j, of.begin, all);
    add_edge(m->j, m->all[part], all);
  }
  for (uint64_t t = 0; t < steps; t++) {
    for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
      const fs_stream_loop_command *k = &s->loop_commands[c];
      uint64_t i = (t - k->shift) * l->copies + k->copy;
      if (t < k->shift || i >= l->trip) {
        continue;
      }
      const fs_stream_loop_op *o = &s->loop_ops[k->op];
      uint32_t base = number(m, r.loop, r.base, k->op, i);
      part_events e = {2 * base, 2 * base + 1, o->latency > o->time ? 2 * base : 2 * base + 1};
      if (o->loop != FS_NONE) {
        e = follow_inner(m, o->loop, base, i, q->queue);
      }
      add_edge(m->j, last, e.begin);
      follow_waits(m, r, k, r.before + i, e.begin);
      uint32_t over = reached(m, r.loop, c, r.before + i);
      add_edge(m->j, all, over);
      add_edge(m->j, e.end, over);
      all = over;
      last = e.on;
    }
  }
  add_edge(m->j, last, of.end);
  add_edge(m->j, all, of.end);
  add_edge(m->j, last, of.on);
  m->all[part] = all;
}

/* --- what comes behind what --- */

typedef struct event_lists {
  uint32_t *first, *to, *in, *order;
} event_lists;

static void *must_have(void *p) {
  assert(p != NULL);
  return p;
}

static event_lists list_edges(const fs_event_judge *j) {
  event_lists x = {must_have(calloc((size_t)j->n + 2, sizeof *x.first)),
                   must_have(calloc((size_t)j->n_edges + 1, sizeof *x.to)),
                   must_have(calloc((size_t)j->n + 1, sizeof *x.in)),
                   must_have(calloc((size_t)j->n + 1, sizeof *x.order))};
  for (uint32_t e = 0; e < j->n_edges; e++) {
    x.first[j->edge0[e] + 2]++;
    x.in[j->edge[e]]++;
  }
  for (uint32_t i = 0; i < j->n; i++) {
    x.first[i + 2] += x.first[i + 1];
  }
  for (uint32_t e = 0; e < j->n_edges; e++) {
    x.to[x.first[j->edge0[e] + 1]++] = j->edge[e];
  }
  return x;
}

static void find_reached(fs_event_judge *j) {
  event_lists x = list_edges(j);
  uint32_t n = 0;
  for (uint32_t i = 0; i < j->n; i++) {
    if (x.in[i] == 0) {
      x.order[n++] = i;
    }
  }
  for (uint32_t k = 0; k < n; k++) {
    for (uint32_t e = x.first[x.order[k]]; e < x.first[x.order[k] + 1]; e++) {
      if (--x.in[x.to[e]] == 0) {
        x.order[n++] = x.to[e];
      }
    }
  }
  j->stuck = n < j->n;
  j->reached = must_have(calloc((size_t)j->n_instances * j->n + 1, 1));
  for (uint32_t i = 0; i < j->n_instances && !j->stuck; i++) {
    uint8_t *of = j->reached + (size_t)i * j->n;
    of[2 * i + 1] = 1;
    for (uint32_t k = 0; k < n; k++) {
      for (uint32_t e = x.first[x.order[k]]; of[x.order[k]] != 0 && e < x.first[x.order[k] + 1];
           e++) {
        of[x.to[e]] = 1;
      }
    }
  }
  free(x.first);
  free(x.to);
  free(x.in);
  free(x.order);
}

void fs_event_judge_make(const fs_stream *s, uint32_t loop, fs_event_judge *out) {
  assert(s->n_loops <= LOOPS && s->loops[loop].within == FS_NONE);
  *out = (fs_event_judge){.s = s};
  event_maker m = {.j = out};
  out->n_instances = count_loop(&m, loop);
  out->n = 2 * out->n_instances;
  size_t runs = (out->n_instances + 1) * (size_t)LOOPS * sizeof *m.run_begin;
  m.run_begin = must_have(malloc(runs));
  memset(m.run_begin, 0xFF, runs);
  for (uint32_t i = 0; i < out->n_instances; i++) {
    add_edge(out, 2 * i, 2 * i + 1);
  }
  uint32_t begin = new_event(out), end = new_event(out);
  follow_run(&m, (run_of){loop, 0, 0}, begin, end);
  free(m.run_begin);
  find_reached(out);
}

bool fs_event_judge_before(const fs_event_judge *j, uint32_t first, uint32_t then) {
  assert(first < j->n_instances && then < j->n_instances && !j->stuck);
  return j->reached[(size_t)first * j->n + 2 * (size_t)then] != 0;
}

void fs_event_judge_free(fs_event_judge *j) {
  free(j->edge0);
  free(j->edge);
  free(j->reached);
}
