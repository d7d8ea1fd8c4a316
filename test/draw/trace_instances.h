/* SPDX-License-Identifier: Apache-2.0 */
/* The instances of loops in traces. */
#ifndef FS_TEST_TRACE_INSTANCES_H
#define FS_TEST_TRACE_INSTANCES_H

#include "draw/trace_reader.h"

static inline const tr_event *tr_find(const tr_trace *t, const char *name) {
  for (uint32_t i = 0; i < t->n; i++) {
    if (t->event[i].phase == 'X' && strcmp(t->event[i].name, name) == 0) {
      return &t->event[i];
    }
  }
  return NULL;
}

/* The command of an instance on its queue; FS_NONE: none has its name and iteration. */
static inline uint32_t tr_command_of(const fs_stream *s, const tr_event *e, uint32_t n_runs) {
  uint32_t queue = tr_queue(e, s, n_runs);
  const char *first = strchr(e->name, '['), *last = strrchr(e->name, '[');
  uint64_t i = strtoull(last + 1, NULL, 10);
  for (uint32_t l = 0; l < s->n_loops; l++) {
    for (uint32_t q = s->loops[l].queue0; q < s->loops[l].queue0 + s->loops[l].n_queues; q++) {
      const fs_stream_loop_queue *x = &s->loop_queues[q];
      for (uint32_t c = x->command0; c < x->command0 + x->n_commands && x->queue == queue; c++) {
        const fs_stream_loop_command *k = &s->loop_commands[c];
        const char *name = fs_stream_string(s, s->loop_ops[k->op].name);
        if (strlen(name) == (size_t)(first - e->name) &&
            strncmp(name, e->name, strlen(name)) == 0 && i % s->loops[l].copies == k->copy &&
            i < s->loops[l].trip) {
          return c;
        }
      }
    }
  }
  return FS_NONE;
}

/* Each instance of a program's only loop, which has run so often, is shown, or counted. */
static inline void tr_check_number(const tr_trace *t, const fs_stream *s, uint64_t trips) {
  uint64_t all = 0, seen = 0, hidden = 0;
  for (uint32_t q = 0; q < s->loops[0].n_queues; q++) {
    const fs_stream_loop_queue *x = &s->loop_queues[s->loops[0].queue0 + q];
    for (uint32_t c = x->command0; c < x->command0 + x->n_commands; c++) {
      uint64_t copy = s->loop_commands[c].copy, copies = s->loops[0].copies;
      for (uint64_t i = copy; i < trips; i += copies) {
        all++;
      }
    }
  }
  for (uint32_t i = 0; i < t->n; i++) {
    const tr_event *e = &t->event[i];
    seen += tr_inside(e) && strcmp(e->cat, "hidden") != 0;
    hidden += tr_inside(e) && strcmp(e->cat, "hidden") == 0 ? strtoull(e->name, NULL, 10) : 0;
  }
  ck_assert_uint_eq(seen + hidden, all);
}

#endif
