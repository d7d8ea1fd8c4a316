/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of measured times: an item for each op and each copy of a stream, in the stream's
 * order; an op stands at its first command.  The expected makespan is that of the stream if its
 * commands took their medians and nothing else took any time.  It is found by a walk over the
 * commands in an order in which they can run, in which each begins when its queue is free and its
 * waits are over. */
#include "front/profile/profile.h"

#include <stdlib.h>

#include "base/names.h"
#include "base/radix.h"
#include "base/saturate.h"
#include "base/text/ticks.h"
#include "model/stream/order.h"

const char *const fs_profile_kind_name[3] = {"op", "spill_write", "spill_read"};

fsched_duration fsched_duration_of(uint64_t *ns, size_t n) {
  if (n == 0) {
    return (fsched_duration){0};
  }
  qsort(ns, n, sizeof *ns, fs_compare_u64);
  return (fsched_duration){n, ns[0], ns[(n - 1) / 2], ns[n - 1]};
}

uint64_t fs_profile_tick_ps(const fsched_profile *p) {
  return p->tick_ps != 0 ? p->tick_ps : fs_tick_ps(p->time_unit);
}

fsched_status fsched_profile_set_tick(fsched_context *ctx, fsched_profile *p, uint64_t tick_ps) {
  if (tick_ps == 0 || tick_ps > FS_TICK_MOST_PS) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "a tick is from 1 ps to 2^40 ns long");
  }
  p->tick_ps = tick_ps;
  p->tick_given = true;
  return FSCHED_OK;
}

fs_status fs_profile_create(fsched_context *ctx, fsched_profile **out) {
  fsched_profile *p = fs_realloc(ctx, NULL, 0, sizeof *p);
  *out = p;
  if (p == NULL) {
    return FSCHED_SYSTEM;
  }
  *p = (fsched_profile){
      .ctx = ctx, .graph_at = FS_NOWHERE, .planned = FS_TICK_NONE, .expected_ns = FS_TICK_NONE};
  fs_arena_init(&p->arena, ctx);
  return FSCHED_OK;
}

void fsched_profile_destroy(fsched_profile *p) {
  if (p != NULL) {
    fs_arena_release(&p->arena);
    (void)fs_realloc(p->ctx, p, sizeof *p, 0);
  }
}

/* ---- from a stream */

typedef struct profile_maker {
  const fs_stream *s;
  const fsched_duration *took; /* per command */
  fs_arena *arena;
  fs_stream_order order;
  bool *is_loop;         /* per op: it is one */
  uint32_t *item;        /* per command: its item */
  uint64_t *begin, *end; /* per command: expected */
  fsched_profile *p;
} profile_maker;

static fs_status copy_text(profile_maker *m, const char *text, const char **out) {
  *out = NULL;
  if (text == NULL) {
    return FSCHED_OK;
  }
  *out = fs_arena_strndup(&m->p->arena, text, strlen(text));
  return *out == NULL ? FSCHED_SYSTEM : FSCHED_OK;
}

static void describe(const profile_maker *m, uint32_t command, fs_profile_item *item) {
  const fs_stream *s = m->s;
  const fs_stream_command *c = &s->commands[command];
  bool loop = fs_command_has_op(c) && m->is_loop[c->target]; /* the command has a part of it */
  *item = (fs_profile_item){
      .name = fs_command_target_name(s, c),
      .version = fs_command_has_version(c) ? s->versions[c->target].index : 0,
      .kind = (uint8_t)fs_profile_kind_of(c),
      .planned = loop ? s->ops[c->target].time : c->end - c->start,
      .at = FS_NOWHERE,
  };
}

static fs_status find_loops(profile_maker *m) {
  FS_TRY(fs_new_zero(m->arena, &m->is_loop, m->s->n_ops));
  for (uint32_t l = 0; l < m->s->n_loops && m->s->loops[l].within == FS_NONE; l++) {
    m->is_loop[m->s->loops[l].op] = true;
  }
  return FSCHED_OK;
}

/* Takes the duration of a command for its item: of members that meet, the last one to come has
 * waited for none; those of a loop do not meet, and the longest part is the best guess. */
static void take_duration(const profile_maker *m, uint32_t command, fs_profile_item *item) {
  const fs_stream_command *c = &m->s->commands[command];
  const fsched_duration *took = &m->took[command];
  bool longest = fs_command_has_op(c) && m->is_loop[c->target];
  if (took->count != 0 &&
      (item->took.count == 0 || (longest ? took->median_ns > item->took.median_ns
                                         : took->median_ns < item->took.median_ns))) {
    item->took = *took;
  }
}

/* Finds the items of the stream, measured or not, and the item that each command belongs to. */
static fs_status find_items(profile_maker *m) {
  const fs_stream *s = m->s;
  fsched_profile *p = m->p;
  uint32_t *of_op;
  FS_TRY(fs_new_none(m->arena, &of_op, s->n_ops));
  FS_TRY(fs_new(m->arena, &m->item, s->n_commands));
  FS_TRY(fs_new(&p->arena, &p->item, s->n_commands));
  for (uint32_t c = 0; c < s->n_commands; c++) {
    bool run = fs_command_has_op(&s->commands[c]);
    uint32_t *own = run ? &of_op[s->commands[c].target] : &m->item[c];
    if (!run || *own == FS_NONE) {
      *own = p->n_items;
      describe(m, c, &p->item[p->n_items++]);
    }
    fs_profile_item *item = &p->item[*own];
    take_duration(m, c, item);
    item->n_queues++;
    m->item[c] = *own;
  }
  return FSCHED_OK;
}

/* Finds the names of queues with measured items, and the queues of every item. */
static fs_status find_queues(profile_maker *m) {
  const fs_stream *s = m->s;
  fsched_profile *p = m->p;
  uint32_t *id, total = 0;
  FS_TRY(fs_new_none(m->arena, &id, s->n_queues));
  FS_TRY(fs_new(&p->arena, &p->queue, s->n_queues));
  FS_TRY(fs_new(&p->arena, &p->item_queue, s->n_commands));
  for (uint32_t i = 0; i < p->n_items; i++) {
    p->item[i].queue0 = total;
    total += p->item[i].n_queues;
    p->item[i].n_queues = 0;
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    fs_profile_item *item = &p->item[m->item[c]];
    uint32_t q = m->order.queue[c];
    if (item->took.count != 0 && id[q] == FS_NONE) {
      id[q] = p->n_queues;
      FS_TRY(copy_text(m, fs_stream_string(s, s->queues[q].name), &p->queue[p->n_queues++]));
    }
    p->item_queue[item->queue0 + item->n_queues++] = id[q];
  }
  return FSCHED_OK;
}

/* The time at which a command can begin, the other members of its gang aside. */
static uint64_t ready(const profile_maker *m, uint32_t command) {
  const fs_stream *s = m->s;
  const fs_points *p = &m->order.points;
  uint32_t q = m->order.queue[command];
  uint64_t at = command > s->queues[q].command0 ? m->end[command - 1] : 0;
  for (uint32_t w = p->point0[command]; w < p->point0[command + 1]; w++) {
    at = fs_max(at, m->end[fs_stream_source(s, &m->order, &p->point[w], q)]);
  }
  for (uint32_t g = p->gate0[command]; g < p->gate0[command + 1]; g++) {
    at = fs_max(at, m->begin[p->gate[g]]);
  }
  return at;
}

static bool same_gang(const fs_stream_command *a, const fs_stream_command *b) {
  return a->gang_axis != FS_NONE && a->gang_axis == b->gang_axis && a->gang_epoch == b->gang_epoch;
}

static fs_status find_expected(profile_maker *m) {
  const fs_stream *s = m->s;
  fsched_profile *p = m->p;
  uint64_t tick = fs_profile_tick_ps(p);
  FS_TRY(fs_new_zero(m->arena, &m->begin, s->n_commands));
  FS_TRY(fs_new_zero(m->arena, &m->end, s->n_commands));
  p->expected_ns = 0;
  for (uint32_t i = 0, next; i < m->order.n_runnable; i = next) {
    const uint32_t *order = m->order.order;
    const fs_profile_item *item = &p->item[m->item[order[i]]];
    uint64_t at = ready(m, order[i]);
    for (next = i + 1;
         next < m->order.n_runnable && same_gang(&s->commands[order[i]], &s->commands[order[next]]);
         next++) {
      at = fs_max(at, ready(m, order[next]));
    }
    uint64_t took = item->took.count != 0 ? item->took.median_ns : fs_ticks_ns(item->planned, tick);
    for (uint32_t k = i; k < next; k++) {
      m->begin[order[k]] = at;
      m->end[order[k]] = fs_add_most(at, took);
    }
    p->expected_ns = fs_max(p->expected_ns, fs_add_most(at, took));
  }
  return FSCHED_OK;
}

/* Drops items without measurements, which are not part of a profile. */
static fs_status keep_measured(profile_maker *m) {
  fsched_profile *p = m->p;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < p->n_items; i++) {
    if (p->item[i].took.count != 0) {
      p->item[kept] = p->item[i];
      FS_TRY(copy_text(m, p->item[kept].name, &p->item[kept].name));
      kept++;
    }
  }
  p->n_items = kept;
  return FSCHED_OK;
}

static fs_status make_profile(profile_maker *m, const fsched_measurement *measured) {
  const fs_stream *s = m->s;
  fsched_profile *p = m->p;
  FS_TRY(copy_text(m, fs_stream_string(s, s->meta->name), &p->graph));
  FS_TRY(copy_text(m, fs_stream_string(s, s->meta->time_unit), &p->time_unit));
  FS_TRY(copy_text(m, measured->on == NULL ? "cpu" : measured->on, &p->on));
  p->tick_ps = measured->tick_ps != 0 ? measured->tick_ps : measured->tick_ns * 1000;
  p->tick_ps = fs_profile_tick_ps(p);
  p->simulated = measured->simulated != 0;
  p->in_ticks = measured->in_ticks != 0;
  p->planned = s->meta->makespan;
  p->makespan = measured->makespan;
  FS_TRY(fs_stream_order_find(m->arena, s, &m->order));
  FS_TRY(find_loops(m));
  FS_TRY(find_items(m));
  FS_TRY(find_queues(m));
  FS_TRY(find_expected(m));
  return keep_measured(m);
}

static bool proper(const fsched_duration *d) {
  return d->count == 0 || (d->min_ns <= d->median_ns && d->median_ns <= d->max_ns &&
                           d->max_ns <= FS_PROFILE_MOST_NS);
}

static fs_status check_measurement(fsched_context *ctx, const fs_stream *s,
                                   const fsched_measurement *m) {
  if (m->n_commands != s->n_commands) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "%llu durations for a program of %u commands", (unsigned long long)m->n_commands,
                   s->n_commands);
  }
  if (m->tick_ns > FSCHED_MAX_TIME || m->tick_ps > FS_TICK_MOST_PS) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "'tick_ns' is above 2^40, or 'tick_ps' above 2^40 ns");
  }
  for (uint32_t c = 0; c < s->n_commands; c++) {
    if (!proper(&m->command[c])) {
      return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                     "the duration of command %u is not in order, or above 2^53 ns", c);
    }
  }
  if (!proper(&m->makespan)) {
    return fs_fail(ctx, FSCHED_USAGE, FS_DIAG_BAD_ARGUMENT, FS_NOWHERE, NULL,
                   "the makespan is not in order, or above 2^53 ns");
  }
  return FSCHED_OK;
}

fsched_status fsched_profile_make(fsched_context *ctx, const fsched_program *program,
                                  const fsched_measurement *measured, fsched_profile **out) {
  fsched_measurement o = {.size = sizeof o};
  *out = NULL;
  FS_TRY(fs_check_options(ctx, "fsched_measurement", measured->size,
                          FS_SIZE_UP_TO(fsched_measurement, makespan)));
  memcpy(&o, measured, fs_min(measured->size, sizeof o));
  FS_TRY(check_measurement(ctx, &program->view, &o));
  FS_SCRATCH(arena, ctx);
  profile_maker m = {.s = &program->view, .took = o.command, .arena = &arena};
  FS_TRY(fs_profile_create(ctx, &m.p));
  fs_status status = make_profile(&m, &o);
  if (status != FSCHED_OK) {
    fsched_profile_destroy(m.p);
    return status;
  }
  *out = m.p;
  return FSCHED_OK;
}
