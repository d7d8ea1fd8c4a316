/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/issue_judge.h"

#include <stdlib.h>

static uint32_t queue_of(const fs_rolled_loop *r, uint32_t command) {
  uint32_t q = 0;
  while (command >= r->command0[q + 1]) {
    q++;
  }
  return q;
}

/* The number of commands of a queue that are issued before a place of a step, in all steps. */
static uint64_t issued(const fs_rolled_loop *r, uint32_t q, uint64_t step, uint32_t place) {
  uint64_t n = 0;
  for (uint64_t t = 0; t <= step; t++) {
    for (uint32_t c = r->command0[q]; c < r->command0[q + 1]; c++) {
      n += t < step || r->command[c].issue < place;
    }
  }
  return n;
}

/* Whether a sync before a place of a step says that so many commands of a queue are over. */
static bool says(const fs_rolled_loop *r, uint32_t q, uint64_t step, uint32_t place,
                 uint64_t wanted) {
  for (uint64_t t = 0; t <= step; t++) {
    for (uint32_t i = 0; i < r->n_stops; i++) {
      const fs_rolled_stop *s = &r->stop[i];
      bool before = t < step || s->at <= place;
      bool counts = s->queue == FS_NONE || s->queue == r->queue[q];
      if (before && counts && issued(r, q, t, s->at) >= wanted + s->keep) {
        return true;
      }
    }
  }
  return false;
}

bool fs_issue_keeps(const fs_rolled_loop *r, uint64_t trip, uint32_t command,
                    const fs_rolled_wait *wait) {
  const fs_rolled_command *c = &r->command[command], *x = &r->command[wait->command];
  uint32_t q = queue_of(r, wait->command);
  for (uint64_t i = c->copy; i < trip; i += r->copies) {
    if (i >= wait->distance) {
      uint64_t step = (i - c->copy) / r->copies + c->shift;
      uint64_t target = (i - wait->distance - x->copy) / r->copies + x->shift;
      if (!says(r, q, step, c->issue, issued(r, q, target, x->issue) + 1)) {
        return false;
      }
    }
  }
  return true;
}

/* Whether a sync of some step is issued behind one command and before another, in one iteration. */
static bool parts_commands(const fs_rolled_loop *r, const fs_rolled_command *x,
                           const fs_rolled_command *y) {
  uint64_t n = r->n_commands, first = x->shift * n + x->issue, last = y->shift * n + y->issue;
  for (uint64_t t = x->shift; t <= y->shift; t++) {
    for (uint32_t i = 0; i < r->n_stops; i++) {
      uint64_t before = t * n + r->stop[i].at; /* the command that it stands before */
      if (first < before && before <= last) {
        return true;
      }
    }
  }
  return false;
}

/* Whether a sync stands between two commands of a gang. */
static bool parts_gang(const fs_rolled_loop *r) {
  for (uint32_t a = 0; a < r->n_commands; a++) {
    for (uint32_t b = 0; b < r->n_commands; b++) {
      const fs_rolled_command *x = &r->command[a], *y = &r->command[b];
      if (x->member == y->member && x->copy == y->copy && parts_commands(r, x, y)) {
        return true;
      }
    }
  }
  return false;
}

bool fs_issue_is_right(const fs_rolled_loop *r, uint64_t trip) {
  for (uint32_t c = 0; c < r->n_commands; c++) {
    const fs_rolled_command *k = &r->command[c];
    for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
      if (!fs_issue_keeps(r, trip, c, &r->wait[w])) {
        return false;
      }
    }
  }
  return !parts_gang(r);
}

enum { COMMANDS = 1 << 10, WAITS = 1 << 14, QUEUES = 16, STOPS = 1 << 10, TRIPS = 20, FAR = 200 };

/* A loop of a stream, with commands counted from 0. */
typedef struct stream_loop_copy {
  fs_rolled_loop r;
  fs_rolled_command command[COMMANDS];
  fs_rolled_wait wait[WAITS];
  fs_rolled_stop stop[STOPS];
  uint32_t queue[QUEUES], command0[QUEUES + 1];
} stream_loop_copy;

static void copy_command(const fs_stream *s, const fs_stream_loop *l, uint32_t command,
                         stream_loop_copy *x) {
  const fs_stream_loop_command *m = &s->loop_commands[command];
  uint32_t first = s->loop_queues[l->queue0].command0;
  assert(x->r.n_commands < COMMANDS && x->r.n_waits + m->n_waits <= WAITS);
  x->command[x->r.n_commands++] = (fs_rolled_command){.member = m->op - l->op0,
                                                      .copy = m->copy,
                                                      .shift = m->shift,
                                                      .wait0 = x->r.n_waits,
                                                      .n_waits = m->n_waits,
                                                      .issue = m->issue};
  for (uint32_t w = m->wait0; w < m->wait0 + m->n_waits; w++) {
    x->wait[x->r.n_waits++] =
        (fs_rolled_wait){s->loop_waits[w].command - first, s->loop_waits[w].distance};
  }
}

static void copy_loop(const fs_stream *s, const fs_stream_loop *l, stream_loop_copy *x) {
  assert(l->n_queues <= QUEUES && l->n_stops <= STOPS);
  x->r = (fs_rolled_loop){.copies = l->copies,
                          .queue = x->queue,
                          .command0 = x->command0,
                          .command = x->command,
                          .wait = x->wait,
                          .issued = true,
                          .stop = x->stop};
  x->command0[0] = 0;
  for (; x->r.n_queues < l->n_queues; x->r.n_queues++) {
    const fs_stream_loop_queue *q = &s->loop_queues[l->queue0 + x->r.n_queues];
    x->queue[x->r.n_queues] = q->queue;
    for (uint32_t c = q->command0; c < q->command0 + q->n_commands; c++) {
      copy_command(s, l, c, x);
    }
    x->command0[x->r.n_queues + 1] = x->r.n_commands;
  }
  for (; x->r.n_stops < l->n_stops; x->r.n_stops++) {
    const fs_stream_stop *stop = &s->loop_stops[l->stop0 + x->r.n_stops];
    x->stop[x->r.n_stops] = (fs_rolled_stop){stop->at, stop->queue, stop->keep};
  }
}

/* Iterations in which each copy of each command has something to wait for several times, but for
 * waits that go back very far. */
static uint64_t enough_trips(const fs_rolled_loop *r) {
  uint64_t far = 0;
  for (uint32_t w = 0; w < r->n_waits; w++) {
    far = r->wait[w].distance > far ? r->wait[w].distance : far;
  }
  return TRIPS + (far < FAR ? far : 0) + 2 * (uint64_t)r->copies;
}

bool fs_issue_stream_is_right(const fs_stream *s) {
  stream_loop_copy *x = malloc(sizeof *x);
  bool right = x != NULL;
  for (uint32_t i = 0; i < s->n_loops && right; i++) {
    copy_loop(s, &s->loops[i], x);
    right = fs_issue_is_right(&x->r, enough_trips(&x->r));
  }
  free(x);
  return right;
}
