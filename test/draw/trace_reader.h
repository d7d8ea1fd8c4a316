/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a trace back and checks what every trace must keep (draw/trace/trace.h).  It goes through
 * the events once, as a viewer does: they are sorted by time, and at one time slices come first,
 * the longest in front. */
#ifndef FS_TEST_TRACE_READER_H
#define FS_TEST_TRACE_READER_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/text/node.h"
#include "model/stream/stream.h"

typedef struct tr_event {
  char phase;
  uint32_t pid, tid;                        /* tid 0: none */
  uint64_t ts, dur;                         /* ns */
  uint64_t id, bytes, epoch, start, finish; /* start, finish: planned ticks */
  uint64_t member;                          /* of a group */
  const char *name, *cat, *label, *bp;      /* label: args.name */
  uint32_t at;                              /* index in the file */
  uint32_t command;                         /* of a slice, or of an arrow's end once it is known */
} tr_event;

typedef struct tr_trace {
  fsched_context *ctx;
  fs_arena arena;
  fs_doc doc;
  uint32_t n;
  tr_event *event;   /* in the order of the file */
  tr_event **sorted; /* without metadata */
  uint32_t n_sorted, n_slices, n_arrows;
} tr_trace;

static inline uint64_t tr_number(const tr_trace *t, uint32_t mapping, const char *key,
                                 uint64_t otherwise) {
  uint64_t value = otherwise;
  uint32_t node = mapping == FS_NONE ? FS_NONE : fs_node_get(&t->doc, mapping, key);
  if (node != FS_NONE) {
    ck_assert_msg(fs_node_u64(&t->doc, node, &value), "%s is no number", key);
  }
  return value;
}

/* Reads microseconds, with three decimals or none. */
static inline uint64_t tr_time(const tr_trace *t, uint32_t mapping, const char *key) {
  uint32_t node = fs_node_get(&t->doc, mapping, key);
  if (node == FS_NONE) {
    return 0;
  }
  char *end;
  const char *text = t->doc.node[node].text;
  uint64_t ns = strtoull(text, &end, 10) * 1000;
  ck_assert(end > text && !t->doc.node[node].quoted);
  if (*end == '.') {
    ck_assert_uint_eq(strspn(end + 1, "0123456789"), 3);
    ns += strtoull(end + 1, &end, 10);
  }
  ck_assert_msg(*end == '\0', "'%s' is no time", text);
  return ns;
}

static inline const char *tr_text(const tr_trace *t, uint32_t mapping, const char *key) {
  uint32_t node = mapping == FS_NONE ? FS_NONE : fs_node_get(&t->doc, mapping, key);
  ck_assert(node == FS_NONE || t->doc.node[node].quoted);
  return node == FS_NONE ? NULL : t->doc.node[node].text;
}

static inline tr_event tr_read_event(const tr_trace *t, uint32_t node, uint32_t at) {
  uint32_t args = fs_node_get(&t->doc, node, "args");
  const char *phase = tr_text(t, node, "ph");
  ck_assert(phase != NULL && phase[0] != '\0' && phase[1] == '\0');
  ck_assert_msg(*phase == 'M' || fs_node_get(&t->doc, node, "ts") != FS_NONE, "no time");
  return (tr_event){.phase = *phase,
                    .pid = (uint32_t)tr_number(t, node, "pid", 0),
                    .tid = (uint32_t)tr_number(t, node, "tid", 0),
                    .ts = tr_time(t, node, "ts"),
                    .dur = tr_time(t, node, "dur"),
                    .id = tr_number(t, node, "id", 0),
                    .bytes = tr_number(t, args, "bytes", 0),
                    .epoch = tr_number(t, args, "epoch", 0),
                    .start = tr_number(t, args, "planned_start", 0),
                    .finish = tr_number(t, args, "planned_end", 0),
                    .member = tr_number(t, args, "member", 0),
                    .name = tr_text(t, node, "name"),
                    .cat = tr_text(t, node, "cat"),
                    .label = tr_text(t, args, "name"),
                    .bp = tr_text(t, node, "bp"),
                    .at = at,
                    .command = FS_NONE};
}

static inline int tr_by_time(const void *a, const void *b) {
  const tr_event *x = *(tr_event *const *)a, *y = *(tr_event *const *)b;
  if (x->ts != y->ts) {
    return x->ts < y->ts ? -1 : 1;
  }
  if ((x->phase == 'X') != (y->phase == 'X')) {
    return x->phase == 'X' ? -1 : 1;
  }
  if (x->dur != y->dur) {
    return x->dur > y->dur ? -1 : 1;
  }
  return x->at < y->at ? -1 : x->at > y->at;
}

static inline void tr_open(tr_trace *t, const char *text, size_t length) {
  *t = (tr_trace){0};
  ck_assert_int_eq(fsched_context_create(NULL, &t->ctx), FSCHED_OK);
  fs_arena_init(&t->arena, t->ctx);
  ck_assert_int_eq(fs_doc_parse(t->ctx, &t->arena, "trace", text, length, &t->doc), FSCHED_OK);
  uint32_t list = fs_node_get(&t->doc, 0, "traceEvents");
  ck_assert_uint_ne(list, FS_NONE);
  ck_assert_uint_eq(t->doc.node[0].n_children, 2);
  t->event = fs_arena_zalloc(&t->arena, t->doc.node[list].n_children * sizeof *t->event);
  t->sorted = fs_arena_zalloc(&t->arena, t->doc.node[list].n_children * sizeof(tr_event *));
  for (uint32_t c = t->doc.node[list].child; c != FS_NONE; c = t->doc.node[c].next, t->n++) {
    t->event[t->n] = tr_read_event(t, c, t->n);
    if (t->event[t->n].phase != 'M') {
      t->sorted[t->n_sorted++] = &t->event[t->n];
    }
  }
  qsort(t->sorted, t->n_sorted, sizeof *t->sorted, tr_by_time);
}

static inline void tr_close(tr_trace *t) {
  fs_arena_release(&t->arena);
  fsched_context_destroy(t->ctx);
}

/* ---- what every trace keeps */

/* There are n_queues threads per process, named like the queues, with ids that nothing else has. */
static inline void tr_check_threads(const tr_trace *t, const fs_stream *s, uint32_t n_runs) {
  uint32_t threads = 0, processes = 0;
  for (uint32_t i = 0; i < t->n; i++) {
    const tr_event *e = &t->event[i];
    if (e->phase != 'M') {
      continue;
    }
    processes += strcmp(e->name, "process_name") == 0;
    if (strcmp(e->name, "thread_name") == 0) {
      uint32_t queue = (e->tid - n_runs - 1) % s->n_queues;
      ck_assert_uint_eq(e->tid, n_runs + 1 + (e->pid - 1) * s->n_queues + queue);
      ck_assert_str_eq(e->label, fs_stream_string(s, s->queues[queue].name));
      threads++;
    }
  }
  ck_assert_uint_eq(processes, n_runs);
  ck_assert_uint_eq(threads, n_runs * s->n_queues);
}

static inline uint32_t tr_queue(const tr_event *e, const fs_stream *s, uint32_t n_runs) {
  return (e->tid - n_runs - 1) % s->n_queues;
}

/* Whether an arrow may have this end: the command waits for the other one. */
static inline bool tr_waits_for(const fs_stream *s, uint32_t to, uint32_t from, uint32_t queue) {
  const fs_stream_command *c = &s->commands[to], *f = &s->commands[from];
  for (uint32_t i = c->wait0; i < c->wait0 + c->n_waits; i++) {
    const fs_stream_wait *w = &s->waits[i];
    if ((w->axis == queue && w->epoch == f->epoch) ||
        (w->axis == f->gang_axis && w->epoch == f->gang_epoch)) {
      return true;
    }
  }
  return false;
}

/* Whether it is a slice or an instant within the slice of a loop. */
static inline bool tr_inside(const tr_event *e) {
  return (e->phase == 'X' || e->phase == 'i') &&
         (strcmp(e->cat, "instance") == 0 || strcmp(e->cat, "loop") == 0 ||
          strcmp(e->cat, "hidden") == 0);
}

enum { TR_NEST = 16 };

/* The slices of a thread that contain the present time, the outermost first. */
typedef struct tr_stack {
  const tr_event *open[TR_NEST];
  uint32_t n;
} tr_stack;

/* Slices within loops lie in one another, or beside each other. */
static inline void tr_check_inside(tr_stack *s, const tr_event *e) {
  while (s->n > 0 && s->open[s->n - 1]->ts + s->open[s->n - 1]->dur <= e->ts) {
    s->n--;
  }
  ck_assert_msg((s->n > 0) == tr_inside(e), "'%s' is not where it belongs", e->name);
  if (s->n > 0) {
    const tr_event *around = s->open[s->n - 1];
    ck_assert_msg(e->ts + e->dur <= around->ts + around->dur, "'%s' overlaps '%s'", e->name,
                  around->name);
    ck_assert_str_ne(around->cat, "instance");
    ck_assert_str_ne(around->cat, "hidden");
  }
  ck_assert_uint_lt(s->n, TR_NEST);
  s->open[s->n++] = e;
}

/* Walks through the events as a viewer does: slices never overlap, and nest only in loops, and
 * arrows bind to the right ones. */
static inline void tr_check_walk(tr_trace *t, const fs_stream *s, uint32_t n_runs) {
  uint32_t n_threads = n_runs * s->n_queues;
  uint32_t *count = fs_arena_zalloc(&t->arena, (n_threads + 1) * sizeof *count);
  tr_event **open = fs_arena_zalloc(&t->arena, (n_threads + 1) * sizeof *open);
  tr_stack *stack = fs_arena_zalloc(&t->arena, (n_threads + 1) * sizeof *stack);
  tr_event **flow = fs_arena_zalloc(&t->arena, (t->n + 1) * sizeof *flow);
  for (uint32_t i = 0; i < t->n_sorted; i++) {
    tr_event *e = t->sorted[i];
    uint32_t thread = e->tid - n_runs - 1;
    if (e->phase == 'C') {
      continue;
    }
    ck_assert_uint_lt(thread, n_threads);
    uint32_t queue = tr_queue(e, s, n_runs);
    if (e->phase == 'X') {
      ck_assert_uint_ge(e->dur, 1);
      tr_check_inside(&stack[thread], e);
      if (tr_inside(e)) {
        continue;
      }
      ck_assert_msg(open[thread] == NULL || open[thread]->ts + open[thread]->dur <= e->ts,
                    "'%s' overlaps '%s'", e->name, open[thread]->name);
      ck_assert_uint_eq(e->epoch, ++count[thread]); /* in order of the queue */
      e->command = s->queues[queue].command0 + count[thread] - 1;
      open[thread] = e;
      t->n_slices++;
      continue;
    }
    tr_event *around = open[thread];
    if (e->phase == 'i') {
      ck_assert(tr_inside(e) && around != NULL && e->ts <= around->ts + around->dur);
      continue;
    }
    ck_assert_msg(around != NULL && e->ts < around->ts + around->dur, "an arrow without a slice");
    ck_assert_uint_lt(e->id, t->n);
    e->command = around->command;
    if (e->phase == 's') {
      ck_assert_ptr_null(flow[e->id]);
      flow[e->id] = e;
      continue;
    }
    ck_assert_int_eq(e->phase, 'f');
    ck_assert_str_eq(e->bp, "e");
    ck_assert_uint_eq(e->ts, around->ts); /* an instance that begins there, too, is in it */
    const tr_event *from = flow[e->id];
    ck_assert_ptr_nonnull(from);
    ck_assert_uint_eq(from->pid, e->pid);
    ck_assert_uint_ne(from->tid, e->tid);
    ck_assert_uint_lt(from->ts, e->ts);
    ck_assert(tr_waits_for(s, e->command, from->command, tr_queue(from, s, n_runs)));
    t->n_arrows++;
  }
  ck_assert_uint_eq(t->n_slices, n_runs * s->n_commands);
}

/* Every wait for another queue has its arrow, and no two arrows are the same. */
static inline void tr_check_arrows(const tr_trace *t, const fs_stream *s, uint32_t n_runs) {
  uint32_t wanted = 0;
  for (uint32_t q = 0; q < s->n_queues; q++) {
    for (uint32_t i = 0; i < s->queues[q].n_commands; i++) {
      const fs_stream_command *c = &s->commands[s->queues[q].command0 + i];
      for (uint32_t w = 0; w < c->n_waits; w++) {
        const fs_stream_wait *wait = &s->waits[c->wait0 + w];
        const fs_stream_axis *a = &s->axes[wait->axis];
        bool own = wait->axis == q || (a->n_members == 1 && s->axis_members[a->member0] == q);
        wanted += !own;
      }
    }
  }
  ck_assert_uint_eq(t->n_arrows, n_runs * wanted);
  for (uint32_t i = 0; i < t->n; i++) {
    ck_assert(t->event[i].phase != 's' || t->event[i + 1].phase == 'f');
    for (uint32_t k = i + 2; t->event[i].phase == 's' && k < t->n; k += 2) {
      ck_assert(t->event[k].phase != 's' || t->event[k].pid != t->event[i].pid ||
                t->event[k].command != t->event[i].command ||
                t->event[k + 1].command != t->event[i + 1].command);
    }
  }
}

/* Returns the memory of a counter, by its name. */
static inline uint32_t tr_memory(const tr_event *e, const fs_stream *s) {
  for (uint32_t m = 0; m < s->n_memories; m++) {
    const char *name = fs_stream_string(s, s->memories[m].name);
    char capacity[48];
    (void)snprintf(capacity, sizeof capacity, " (capacity %llu)",
                   (unsigned long long)s->memories[m].capacity);
    if (strncmp(e->name, name, strlen(name)) == 0 &&
        strcmp(e->name + strlen(name), capacity) == 0) {
      return m;
    }
  }
  ck_abort_msg("no memory '%s'", e->name);
  return FS_NONE;
}

/* Each counter begins at 0, changes at every value, and stays within the capacity if the times
 * themselves do. */
static inline void tr_check_counters(const tr_trace *t, const fs_stream *s, uint32_t n_runs,
                                     bool fits) {
  uint32_t counters = 0, wanted = 0;
  const tr_event *before = NULL;
  for (uint32_t i = 0; i < t->n; i++) {
    const tr_event *e = &t->event[i];
    if (e->phase != 'C') {
      continue;
    }
    uint64_t capacity = s->memories[tr_memory(e, s)].capacity;
    ck_assert_msg(!fits || e->bytes <= capacity, "%s: %llu", e->name, (unsigned long long)e->bytes);
    if (before != NULL && before->pid == e->pid && strcmp(before->name, e->name) == 0) {
      ck_assert_uint_lt(before->ts, e->ts);
      ck_assert_uint_ne(before->bytes, e->bytes);
    } else {
      ck_assert_uint_eq(e->ts, 0);
      counters++;
    }
    before = e;
  }
  for (uint32_t m = 0; m < s->n_memories; m++) {
    wanted += s->memories[m].capacity != FS_UNBOUNDED;
  }
  ck_assert_uint_eq(counters, n_runs * wanted);
}

/* Checks all of this for a trace of a stream that can run, with times that keep its order. */
static inline void tr_check(tr_trace *t, const fs_stream *s, uint32_t n_runs) {
  tr_check_threads(t, s, n_runs);
  tr_check_walk(t, s, n_runs);
  tr_check_arrows(t, s, n_runs);
  tr_check_counters(t, s, n_runs, true);
}

/* The value of a memory's counter at a time. */
static inline uint64_t tr_value(const tr_trace *t, const fs_stream *s, uint32_t pid,
                                uint32_t memory, uint64_t ns) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < t->n; i++) {
    const tr_event *e = &t->event[i];
    if (e->phase == 'C' && e->pid == pid && e->ts <= ns && tr_memory(e, s) == memory) {
      value = e->bytes;
    }
  }
  return value;
}

#endif
