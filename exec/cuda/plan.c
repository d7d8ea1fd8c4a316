/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the commands in an order in which they could run, and keeps the last item of each queue. */
#include "exec/cuda/plan.h"

#include "base/context.h"
#include "model/stream/order.h"

typedef struct cuda_planner {
  fsched_context *ctx;
  fsched_context *memory;
  const fs_stream *s;
  fs_cuda_plan *plan;
  fs_stream_order order;
  uint32_t *last;  /* per queue: its last item */
  uint32_t *lane;  /* per queue */
  uint32_t *named; /* per item: the last item that lists it as a predecessor */
  uint8_t *split;  /* per op: it is a loop, or its members have args of their own */
  uint32_t part;   /* the first part of the present op that has some, or the present item */
  FS_VEC(uint32_t) after;
} cuda_planner;

static fs_status add_after(cuda_planner *p, uint32_t before, uint32_t item) {
  if (before == item || p->named[before] == item) {
    return FSCHED_OK;
  }
  p->named[before] = item;
  p->plan->item[item].n_after++;
  return fs_vec_push(p->memory, &p->after, before);
}

/* Item `item` comes after what reaches a point: of a loop, all parts, if they are waited for. */
static fs_status add_point(cuda_planner *p, const fs_stream_wait *w, uint32_t queue,
                           uint32_t item) {
  uint32_t first = p->plan->item_of[fs_stream_source(p->s, &p->order, w, queue)], last = first;
  if (fs_axis_has_members(p->s->axes[w->axis].kind)) {
    while (p->plan->item[first].parts == 0) {
      first--;
    }
    last = first + p->plan->item[first].parts - 1;
  }
  for (uint32_t i = first; i <= last; i++) {
    FS_TRY(add_after(p, i, item));
  }
  return FSCHED_OK;
}

/* Item `item` has to wait until `before` has started.  A device cannot show that; so `item` waits
 * until `before` could start, that is for the predecessors of `before`. */
static fs_status add_gate(cuda_planner *p, uint32_t before, uint32_t item) {
  const fs_cuda_item *b = &p->plan->item[before];
  for (uint32_t i = 0; i < b->n_after && before != item; i++) {
    FS_TRY(add_after(p, p->after.at[b->after0 + i], item));
  }
  return FSCHED_OK;
}

static bool same_gang(const fs_stream *s, uint32_t a, uint32_t b) {
  const fs_stream_command *x = &s->commands[a], *y = &s->commands[b];
  return x->gang_axis != FS_NONE && x->gang_axis == y->gang_axis && x->gang_epoch == y->gang_epoch;
}

static uint32_t lane_of(cuda_planner *p, uint32_t queue) {
  if (p->lane[queue] == FS_NONE) {
    p->lane[queue] = p->plan->n_lanes++;
  }
  return p->lane[queue];
}

/* Whether each command of the gang is an item. */
static bool is_split(const cuda_planner *p, uint32_t command) {
  const fs_stream_command *c = &p->s->commands[command];
  return fs_command_has_op(c) && p->split[c->target] != 0;
}

/* Begins the item of a command, which is the first one of its gang or not. */
static void begin_item(cuda_planner *p, uint32_t command, bool first) {
  fs_cuda_plan *plan = p->plan;
  uint32_t queue = p->order.queue[command];
  p->part = first ? plan->n_items : p->part;
  plan->item[plan->n_items++] = (fs_cuda_item){.command = command,
                                               .lane = lane_of(p, queue),
                                               .queue = queue,
                                               .after0 = (uint32_t)p->after.n,
                                               .event = FS_NONE};
  plan->item[p->part].parts++;
}

static fs_status add_command(cuda_planner *p, uint32_t at) {
  fs_cuda_plan *plan = p->plan;
  uint32_t c = p->order.order[at], queue = p->order.queue[c];
  bool first = at == 0 || !same_gang(p->s, p->order.order[at - 1], c);
  if (first || is_split(p, c)) {
    begin_item(p, c, first);
  }
  uint32_t item = plan->n_items - 1;
  plan->item_of[c] = item;
  if (p->last[queue] != FS_NONE) {
    FS_TRY(add_after(p, p->last[queue], item));
  }
  const fs_points *points = &p->order.points;
  for (uint32_t w = points->point0[c]; w < points->point0[c + 1]; w++) {
    if (points->point[w].axis == queue) {
      continue; /* a lane completes in order */
    }
    FS_TRY(add_point(p, &points->point[w], queue, item));
  }
  for (uint32_t g = points->gate0[c]; g < points->gate0[c + 1]; g++) {
    FS_TRY(add_gate(p, plan->item_of[points->gate[g]], item));
  }
  p->last[queue] = item;
  return FSCHED_OK;
}

/* Reports, of the commands that can never run, the one that was planned first. */
static fs_status report_deadlock(const cuda_planner *p) {
  const fs_stream *s = p->s;
  uint32_t c = p->order.order[p->order.n_runnable];
  for (uint32_t i = p->order.n_runnable; i < s->n_commands; i++) {
    uint32_t other = p->order.order[i];
    c = s->commands[other].start < s->commands[c].start ? other : c;
  }
  const fs_stream_command *k = &s->commands[c];
  return fs_fail(
      p->ctx, FSCHED_REPLAY, FS_DIAG_REPLAY_STUCK, FS_NOWHERE, NULL,
      "queue '%s' can never reach command %u (%s '%s'): the commands wait for each other",
      fs_stream_string(s, s->queues[p->order.queue[c]].name), k->epoch, fs_words_target[k->kind],
      fs_command_target_name(s, k));
}

/* Numbers the lanes anew, those of threads behind the others. */
static fs_status take_apart(fs_arena *scratch, const fs_stream *s, bool threads,
                            fs_cuda_plan *plan) {
  uint32_t *to;
  uint32_t n = 0;
  plan->n_streams = plan->n_lanes;
  if (!threads) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new_none(scratch, &to, plan->n_lanes));
  for (unsigned host = 0; host < 2; host++) {
    plan->n_streams = host == 0 ? 0 : n;
    for (uint32_t i = 0; i < plan->n_items; i++) {
      const fs_cuda_item *x = &plan->item[i];
      if (to[x->lane] == FS_NONE && (s->queues[x->queue].host != 0) == (host != 0)) {
        to[x->lane] = n++;
      }
    }
  }
  for (uint32_t i = 0; i < plan->n_items; i++) {
    plan->item[i].lane = to[plan->item[i].lane];
  }
  return FSCHED_OK;
}

/* Places events where an edge leaves a lane, and at the end of all lanes but the first. */
static fs_status place_events(fs_arena *arena, fs_cuda_plan *plan) {
  FS_TRY(fs_new_none(arena, &plan->lane_last, plan->n_lanes));
  for (uint32_t i = 0; i < plan->n_items; i++) {
    const fs_cuda_item *x = &plan->item[i];
    plan->lane_last[x->lane] = i;
    for (uint32_t j = x->after0; j < x->after0 + x->n_after; j++) {
      fs_cuda_item *before = &plan->item[plan->after[j]];
      before->joins = before->joins || before->lane != x->lane;
      before->tells =
          before->tells || (before->lane < plan->n_streams && x->lane >= plan->n_streams);
    }
  }
  for (uint32_t l = 1; l < plan->n_lanes; l++) {
    plan->item[plan->lane_last[l]].joins = true;
  }
  for (uint32_t i = 0; i < plan->n_items; i++) {
    if (plan->item[i].joins) {
      plan->item[i].event = plan->n_events++;
    }
  }
  return FSCHED_OK;
}

void fs_cuda_plan_add_event(fs_cuda_plan *plan, uint32_t item) {
  assert(item < plan->n_items);
  if (plan->item[item].event == FS_NONE) {
    plan->item[item].event = plan->n_events++;
  }
}

static fs_status make_plan(cuda_planner *p, fs_arena *arena, bool threads) {
  const fs_stream *s = p->s;
  fs_cuda_plan *plan = p->plan;
  FS_TRY(fs_stream_order_find(arena, s, &p->order));
  if (p->order.n_runnable < s->n_commands) {
    return report_deadlock(p);
  }
  FS_TRY(fs_new_zero(arena, &p->split, s->n_ops));
  for (uint32_t op = 0; op < s->n_ops && s->n_members > 0; op++) {
    p->split[op] = s->ops[op].n_members > 0;
  }
  for (uint32_t l = 0; l < s->n_loops && s->loops[l].within == FS_NONE; l++) {
    p->split[s->loops[l].op] = 1;
  }
  FS_TRY(fs_new(arena, &plan->item, s->n_commands));
  FS_TRY(fs_new_none(arena, &plan->item_of, s->n_commands));
  FS_TRY(fs_new_none(arena, &p->named, s->n_commands));
  FS_TRY(fs_new_none(arena, &p->last, s->n_queues));
  FS_TRY(fs_new_none(arena, &p->lane, s->n_queues));
  for (uint32_t i = 0; i < s->n_commands; i++) {
    FS_TRY(add_command(p, i));
  }
  FS_TRY(fs_new(arena, &plan->after, p->after.n));
  if (p->after.n > 0) {
    memcpy(plan->after, p->after.at, p->after.n * sizeof *plan->after);
  }
  FS_SCRATCH(scratch, p->memory);
  FS_TRY(take_apart(&scratch, s, threads, plan));
  return place_events(arena, plan);
}

fs_status fs_cuda_plan_make(fsched_context *ctx, fs_arena *arena, const fs_stream *s, bool threads,
                            fs_cuda_plan *plan) {
  assert(s->n_meta == 1);
  *plan = (fs_cuda_plan){0};
  cuda_planner p = {.ctx = ctx, .memory = arena->ctx, .s = s, .plan = plan};
  fs_status status = make_plan(&p, arena, threads);
  fs_vec_free(p.memory, &p.after);
  return status;
}
