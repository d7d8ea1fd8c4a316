/* SPDX-License-Identifier: Apache-2.0 */
/* A queue goes on until it waits; then the next one does. */
#include "model/stream/loop_walk.h"

static fs_status count_members(fs_arena *arena, fs_loop_walk *w) {
  const fs_stream *s = w->s;
  uint32_t *count;
  FS_TRY(fs_new_zero(arena, &count, (size_t)s->n_loop_ops * FS_LOOP_COPIES));
  FS_TRY(fs_new(arena, &w->members, s->n_loop_commands));
  for (uint32_t pass = 0; pass < 2; pass++) {
    for (uint32_t c = 0; c < s->n_loop_commands; c++) {
      const fs_stream_loop_command *k = &s->loop_commands[c];
      assert(k->copy < FS_LOOP_COPIES);
      uint32_t *n = &count[k->op * FS_LOOP_COPIES + k->copy];
      *n += pass == 0;
      w->members[c] = *n;
    }
  }
  return FSCHED_OK;
}

fs_status fs_loop_walk_make(fs_arena *arena, const fs_stream *s, fs_loop_walk *out) {
  assert(s->n_meta == 1);
  uint32_t queues = 0, commands = 0;
  for (uint32_t l = 0; l < s->n_loops; l++) {
    const fs_stream_loop *loop = &s->loops[l];
    uint32_t n = 0;
    for (uint32_t q = 0; q < loop->n_queues; q++) {
      n += s->loop_queues[loop->queue0 + q].n_commands;
    }
    queues = loop->n_queues > queues ? loop->n_queues : queues;
    commands = n > commands ? n : commands;
  }
  *out = (fs_loop_walk){.s = s};
  FS_TRY(count_members(arena, out));
  FS_TRY(fs_new(arena, &out->step, queues));
  FS_TRY(fs_new(arena, &out->steps, queues));
  FS_TRY(fs_new(arena, &out->at, queues));
  return fs_new(arena, &out->done, commands);
}

static const fs_stream_loop_queue *queue_of(const fs_loop_walk *w, uint32_t q) {
  return &w->s->loop_queues[w->loop->queue0 + q];
}

/* The first of the loop's commands. */
static uint32_t first_command(const fs_loop_walk *w) { return queue_of(w, 0)->command0; }

/* The iterations of a copy. */
static uint64_t count_of(const fs_loop_walk *w, uint32_t copy) {
  return w->trip <= copy ? 0 : (w->trip - copy - 1) / w->loop->copies + 1;
}

void fs_loop_walk_begin(fs_loop_walk *w, const fs_stream_loop *loop, uint64_t trip) {
  assert(loop->n_queues > 0 && trip <= loop->most);
  w->loop = loop;
  w->trip = trip;
  w->queue = 0;
  w->left = 0;
  for (uint32_t q = 0; q < loop->n_queues; q++) {
    const fs_stream_loop_queue *queue = queue_of(w, q);
    w->step[q] = w->steps[q] = w->at[q] = 0;
    for (uint32_t c = queue->command0; c < queue->command0 + queue->n_commands; c++) {
      const fs_stream_loop_command *k = &w->s->loop_commands[c];
      uint64_t n = count_of(w, k->copy);
      w->steps[q] = fs_max(w->steps[q], n == 0 ? 0 : n + k->shift);
      w->left += n;
      w->done[c - first_command(w)] = 0;
    }
  }
}

static bool is_over(const fs_loop_walk *w, const fs_stream_loop_wait *wait, uint64_t i) {
  return wait->distance > i ||
         w->done[wait->command - first_command(w)] > (i - wait->distance) / w->loop->copies;
}

static bool waits_over(const fs_loop_walk *w, const fs_stream_loop_command *k, uint64_t i) {
  bool over = true;
  for (uint32_t x = k->wait0; x < k->wait0 + k->n_waits && over; x++) {
    over = is_over(w, &w->s->loop_waits[x], i);
  }
  return over;
}

static void move_on(fs_loop_walk *w, uint32_t q) {
  w->at[q]++;
  if (w->at[q] == queue_of(w, q)->n_commands) {
    w->at[q] = 0;
    w->step[q]++;
  }
}

/* Where a queue has its next instance, behind commands that pass; false: at its end. */
static bool settle(fs_loop_walk *w, uint32_t q, uint32_t *command, uint64_t *iteration) {
  for (; w->step[q] < w->steps[q]; move_on(w, q)) {
    *command = queue_of(w, q)->command0 + w->at[q];
    const fs_stream_loop_command *k = &w->s->loop_commands[*command];
    *iteration = (w->step[q] - k->shift) * w->loop->copies + k->copy;
    if (w->step[q] >= k->shift && *iteration < w->trip) {
      return true;
    }
  }
  return false;
}

/* Whether a queue has an instance of this op and iteration next, which need not wait. */
static bool has_next(fs_loop_walk *w, uint32_t q, uint32_t op, uint64_t iteration) {
  uint32_t c;
  uint64_t i;
  return settle(w, q, &c, &i) && w->s->loop_commands[c].op == op && i == iteration &&
         waits_over(w, &w->s->loop_commands[c], i);
}

static void take(fs_loop_walk *w, uint32_t q) {
  w->done[queue_of(w, q)->command0 + w->at[q] - first_command(w)]++;
  w->left--;
  move_on(w, q);
}

/* The next instance of a queue; false: it waits, or is at its end. */
static bool next_of(fs_loop_walk *w, uint32_t q, uint32_t *command, uint64_t *iteration) {
  if (!settle(w, q, command, iteration) ||
      !waits_over(w, &w->s->loop_commands[*command], *iteration)) {
    return false;
  }
  uint32_t op = w->s->loop_commands[*command].op, there = 1;
  for (uint32_t k = 0; k < w->loop->n_queues && w->members[*command] > 1; k++) {
    there += k != q && has_next(w, k, op, *iteration);
  }
  if (there < w->members[*command]) {
    return false;
  }
  for (uint32_t k = 0; k < w->loop->n_queues && w->members[*command] > 1; k++) {
    if (k != q && has_next(w, k, op, *iteration)) {
      take(w, k);
    }
  }
  take(w, q);
  return true;
}

bool fs_loop_walk_next(fs_loop_walk *w, uint32_t *command, uint64_t *iteration) {
  assert(w->loop != NULL);
  for (uint32_t n = 0; n < w->loop->n_queues; n++) {
    if (next_of(w, w->queue, command, iteration)) {
      return true;
    }
    w->queue = w->queue + 1 < w->loop->n_queues ? w->queue + 1 : 0;
  }
  return false;
}

fs_loop_stuck fs_loop_walk_stuck(fs_loop_walk *w) {
  assert(w->left > 0);
  fs_loop_stuck stuck = {.command = FS_NONE, .on = FS_NONE};
  for (uint32_t q = 0; q < w->loop->n_queues && stuck.on == FS_NONE; q++) {
    uint32_t c;
    uint64_t i;
    if (!settle(w, q, &c, &i)) {
      continue;
    }
    if (stuck.command == FS_NONE) { /* if none waits for an instance, it waits for its gang */
      stuck.command = c;
      stuck.iteration = i;
    }
    const fs_stream_loop_command *k = &w->s->loop_commands[c];
    for (uint32_t x = k->wait0; x < k->wait0 + k->n_waits && stuck.on == FS_NONE; x++) {
      const fs_stream_loop_wait *wait = &w->s->loop_waits[x];
      if (!is_over(w, wait, i)) {
        stuck = (fs_loop_stuck){c, wait->command, i, i - wait->distance};
      }
    }
  }
  return stuck;
}
