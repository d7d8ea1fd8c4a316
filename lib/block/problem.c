/* SPDX-License-Identifier: Apache-2.0 */
/* Edges come from four sources: the graph, data that copies carry, reuse (control edges) and plan
 * orders.  Where queues are not open, the control edges were reduced by the orders of queues, so
 * these are edges too.
 *
 * Times.  The machine that plan.c describes is walked: a full sync waits for all that was issued, a
 * counting sync for one command and those before it on its queue.  At the begin of a phase there is
 * a full sync only if an item of the phase has a need that nothing else meets. */
#include "block/problem.h"

#include "base/group.h"

typedef struct problem_maker {
  fsched_context *ctx;
  fs_arena *arena;
  fs_block_problem *p;
  const fs_orders *o;
  const fs_accesses *acc;
  FS_VEC(fs_order_edge) edge;
  uint32_t *control0, *control; /* CSR per item: sources of control edges */
} problem_maker;

/* --- edges --- */

static fs_status add_pred(problem_maker *m, uint32_t from, bool full) {
  assert(from < m->p->n);
  fs_order_edge e = {.from = from & INT32_MAX, .full = full};
  return fs_vec_push(m->ctx, &m->edge, e);
}

static fs_status add_queue_order(problem_maker *m, uint32_t item) {
  const fs_sync *y = m->o->y;
  uint32_t n;
  const uint32_t *queues = fs_item_queues(m->p->s, item, &n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t command = y->item_command[y->item_command0[item] + i];
    if (command > y->queue_command0[queues[i]]) {
      FS_TRY(add_pred(m, y->command_item[command - 1], false));
    }
  }
  return FSCHED_OK;
}

static fs_status add_preds(problem_maker *m, uint32_t item) {
  const fsched_graph *g = m->p->s->graph;
  if (!fs_item_is_copy(m->p->s, item)) {
    for (uint32_t i = g->pred0[item]; i < g->pred0[item + 1]; i++) {
      FS_TRY(add_pred(m, g->pred[i], true));
    }
  }
  for (uint32_t i = m->acc->data0[item]; i < m->acc->data0[item + 1]; i++) {
    FS_TRY(add_pred(m, m->acc->data[i], true));
  }
  for (uint32_t i = m->control0[item]; i < m->control0[item + 1]; i++) {
    FS_TRY(add_pred(m, m->o->y->control_from[m->control[i]], true));
  }
  for (uint32_t i = m->o->plan0[item]; i < m->o->plan0[item + 1]; i++) {
    FS_TRY(add_pred(m, m->o->plan[i], false));
    m->p->plain = false;
  }
  return m->p->open ? FSCHED_OK : add_queue_order(m, item);
}

static fs_status file_successors(const problem_maker *m) {
  fs_block_problem *p = m->p;
  FS_TRY(fs_new_zero(m->arena, &p->succ0, (size_t)p->n + 2));
  FS_TRY(fs_new(m->arena, &p->succ, p->pred0[p->n]));
  for (uint32_t e = 0; e < p->pred0[p->n]; e++) {
    p->succ0[p->pred[e].from + 2]++;
  }
  fs_group_sum(p->succ0, p->n);
  for (uint32_t to = 0; to < p->n; to++) {
    for (uint32_t e = p->pred0[to]; e < p->pred0[to + 1]; e++) {
      fs_order_edge s = {.from = to & INT32_MAX, .full = p->pred[e].full};
      p->succ[p->succ0[p->pred[e].from + 1]++] = s;
    }
  }
  return FSCHED_OK;
}

static fs_status make_edges(problem_maker *m) {
  fs_block_problem *p = m->p;
  const fs_sync *y = m->o->y;
  FS_TRY(fs_group(m->arena, y->control_to, y->n_control, p->n, &m->control0, &m->control));
  FS_TRY(fs_new(m->arena, &p->pred0, (size_t)p->n + 1));
  for (uint32_t item = 0; item < p->n; item++) {
    p->pred0[item] = (uint32_t)m->edge.n;
    FS_TRY(add_preds(m, item));
  }
  p->pred0[p->n] = (uint32_t)m->edge.n;
  FS_TRY(fs_new(m->arena, &p->pred, m->edge.n));
  if (m->edge.n > 0) {
    memcpy(p->pred, m->edge.at, m->edge.n * sizeof *p->pred);
  }
  return file_successors(m);
}

/* --- queues --- */

static uint32_t domain_of(const fs_block_problem *p, uint32_t item) {
  const fsched_graph *g = p->s->graph;
  if (!p->open) {
    return FS_NONE;
  }
  if (!fs_item_is_copy(p->s, item)) {
    return g->op_domain[item];
  }
  uint32_t version = p->s->copy_version[item - g->n_ops];
  return g->target.implicit_queues ? 0 : fs_version_home(g, version)->spill_domain;
}

static fs_status make_domains(fs_arena *arena, fs_block_problem *p) {
  const fs_target *t = &p->s->graph->target;
  p->n_domains = t->n_domains;
  if (!t->implicit_queues) {
    p->domain0 = t->domain_queue0;
    p->eligible = t->domain_queue;
    return FSCHED_OK;
  }
  FS_TRY(fs_new_zero(arena, &p->domain0, 2));
  FS_TRY(fs_new(arena, &p->eligible, p->n_queues));
  p->domain0[1] = p->n_queues;
  for (uint32_t q = 0; q < p->n_queues; q++) {
    p->eligible[q] = q;
  }
  return FSCHED_OK;
}

static fs_status make_items(fs_arena *arena, fs_block_problem *p) {
  const fs_schedule *s = p->s;
  FS_TRY(fs_new(arena, &p->time, p->n));
  FS_TRY(fs_new(arena, &p->busy, p->n));
  FS_TRY(fs_new(arena, &p->domain, p->n));
  FS_TRY(fs_new(arena, &p->gang, p->n));
  FS_TRY(fs_new_zero(arena, &p->counting, p->n_queues));
  for (uint32_t q = 0; q < p->n_queues; q++) {
    p->counting[q] = fs_queue_counting(s, q);
    p->any_counting = p->any_counting || p->counting[q];
  }
  for (uint32_t i = 0; i < p->n; i++) {
    p->time[i] = s->end[i] - s->start[i];
    p->busy[i] = fs_item_free(s, i) - s->start[i];
    p->any_slow = p->any_slow || fs_item_slow(s, i);
    p->domain[i] = domain_of(p, i);
    p->gang[i] = !fs_item_plain(s, i);
    p->plain = p->plain && !p->gang[i];
  }
  p->plain = p->plain && !p->any_counting && !p->any_slow && s->graph->op_start == NULL;
  return make_domains(arena, p);
}

fs_status fs_block_problem_make(fsched_context *ctx, fs_arena *arena, const fs_orders *o,
                                const fs_accesses *acc, bool open, fs_block_problem *out) {
  assert(o->early != NULL && acc->res0 != NULL);
  const fs_schedule *s = o->s;
  *out = (fs_block_problem){.s = s,
                            .n = s->n_items,
                            .n_queues = s->n_queues,
                            .cost = s->graph->target.sync_cost,
                            .order = s->order,
                            .planned = o->y->position,
                            .open = open,
                            .plain = true};
  FS_TRY(make_items(arena, out));
  problem_maker m = {.ctx = ctx, .arena = arena, .p = out, .o = o, .acc = acc};
  fs_status status = make_edges(&m);
  fs_vec_free(ctx, &m.edge);
  return status;
}

static bool on_counting(const fs_block_problem *p, const uint32_t *queue, uint32_t item) {
  uint32_t n;
  const uint32_t *queues = fs_block_item_queues(p, item, &queue[item], &n);
  for (uint32_t i = 0; i < n; i++) {
    if (!p->counting[queues[i]]) {
      return false;
    }
  }
  return true;
}

/* Does the order of a queue alone tell `to` that `from` is over? */
static bool in_line(const fs_block_problem *p, const uint32_t *queue, uint32_t from, uint32_t to) {
  return queue[from] == queue[to] && !p->gang[from] && !p->gang[to] &&
         p->busy[from] == p->time[from];
}

bool fs_block_apart(const fs_block_problem *p, const uint32_t *queue, uint32_t from, bool full,
                    uint32_t to) {
  FS_ASSERT_SLOW(from < p->n && to < p->n);
  return full && !in_line(p, queue, from, to) && (!p->any_counting || !on_counting(p, queue, from));
}

/* --- answers --- */

fs_status fs_block_answer_new(fs_arena *arena, const fs_block_problem *p, fs_block_answer *a) {
  *a = (fs_block_answer){0};
  FS_TRY(fs_new(arena, &a->queue, p->n));
  FS_TRY(fs_new(arena, &a->phase, p->n));
  FS_TRY(fs_new(arena, &a->order, p->n));
  return fs_new(arena, &a->start, p->n);
}

void fs_block_answer_copy(const fs_block_problem *p, fs_block_answer *to,
                          const fs_block_answer *from) {
  assert(to->queue != NULL && from->queue != NULL);
  if (p->n > 0) {
    memcpy(to->queue, from->queue, p->n * sizeof *to->queue);
    memcpy(to->phase, from->phase, p->n * sizeof *to->phase);
    memcpy(to->order, from->order, p->n * sizeof *to->order);
    memcpy(to->start, from->start, p->n * sizeof *to->start);
  }
  to->makespan = from->makespan;
  to->syncs = from->syncs;
  to->late = from->late;
}

typedef struct phase_walk {
  const fs_block_problem *p;
  fs_block_answer *a;
  uint32_t *place; /* per item: its place in the order of issue */
  uint32_t since;  /* place of the latest full sync */
  fs_tick now;
  fs_tick *free_at; /* per queue */
  uint32_t *known;  /* per queue: place up to which counting syncs have waited, plus 1 */
  fs_tick *end;     /* per item */
  fs_tick *over;    /* per item: when all up to it on its queues are over */
  fs_tick *latest;  /* per queue: when all so far are over */
} phase_walk;

/* Orders the items by phase, then as planned. */
static fs_status order_by_phase(fs_arena *scratch, const fs_block_problem *p, fs_block_answer *a) {
  uint32_t *row;
  uint32_t *row0;
  uint32_t *id;
  uint32_t phases = 0;
  FS_TRY(fs_new(scratch, &row, p->n));
  for (uint32_t i = 0; i < p->n; i++) {
    row[i] = a->phase[p->order[i]];
    phases = row[i] >= phases ? row[i] + 1 : phases;
  }
  FS_TRY(fs_group(scratch, row, p->n, phases, &row0, &id));
  for (uint32_t i = 0; i < p->n; i++) {
    a->order[i] = p->order[id[i]];
  }
  return FSCHED_OK;
}

/* Does the item need a full sync since the latest one, and before the place where its phase
 * begins? */
static bool needs_sync(const phase_walk *w, uint32_t item, uint32_t begin) {
  const fs_block_problem *p = w->p;
  for (uint32_t e = p->pred0[item]; e < p->pred0[item + 1]; e++) {
    uint32_t from = p->pred[e].from;
    if (w->place[from] >= w->since && w->place[from] < begin &&
        fs_block_apart(p, w->a->queue, from, p->pred[e].full, item)) {
      return true;
    }
  }
  return false;
}

/* Passes the counting syncs that an item needs. */
static void pass_counting(phase_walk *w, uint32_t item) {
  const fs_block_problem *p = w->p;
  for (uint32_t e = p->pred0[item]; e < p->pred0[item + 1]; e++) {
    uint32_t from = p->pred[e].from;
    if (!p->pred[e].full || w->place[from] < w->since || in_line(p, w->a->queue, from, item)) {
      continue;
    }
    uint32_t n;
    const uint32_t *queues = fs_block_item_queues(p, from, &w->a->queue[from], &n);
    for (uint32_t i = 0; i < n; i++) {
      if (w->known[queues[i]] <= w->place[from]) {
        w->known[queues[i]] = w->place[from] + 1;
        w->now = fs_max(w->now, w->over[from]);
      }
    }
  }
}

static fs_tick given_start(const fs_block_problem *p, uint32_t item) {
  const fs_tick *given = p->s->graph->op_start;
  return given == NULL || fs_item_is_copy(p->s, item) ? FS_TICK_NONE : given[item];
}

static fs_tick start_of(const phase_walk *w, uint32_t item) {
  const fs_block_problem *p = w->p;
  fs_tick given = given_start(p, item);
  fs_tick start = given == FS_TICK_NONE ? w->now : fs_max(w->now, given);
  uint32_t n;
  const uint32_t *queues = fs_block_item_queues(p, item, &w->a->queue[item], &n);
  for (uint32_t i = 0; i < n; i++) {
    start = fs_max(start, w->free_at[queues[i]]);
  }
  for (uint32_t e = p->pred0[item]; !p->plain && e < p->pred0[item + 1]; e++) {
    start = fs_max(start, w->end[p->pred[e].from]);
  }
  return start;
}

static void issue_item(phase_walk *w, uint32_t item) {
  const fs_block_problem *p = w->p;
  if (p->any_counting) {
    pass_counting(w, item);
  }
  fs_tick start = start_of(w, item);
  w->a->start[item] = start;
  w->a->late = w->a->late || start > given_start(p, item);
  w->end[item] = start + p->time[item];
  w->a->makespan = fs_max(w->a->makespan, w->end[item]);
  uint32_t n;
  const uint32_t *queues = fs_block_item_queues(p, item, &w->a->queue[item], &n);
  w->over[item] = w->end[item];
  for (uint32_t i = 0; i < n; i++) {
    w->free_at[queues[i]] = start + p->busy[item];
    w->latest[queues[i]] = fs_max(w->latest[queues[i]], w->end[item]);
    w->over[item] = fs_max(w->over[item], w->latest[queues[i]]);
  }
}

static void walk_phase(phase_walk *w, uint32_t begin, uint32_t end) {
  bool sync = false;
  for (uint32_t i = begin; i < end && !sync; i++) {
    sync = needs_sync(w, w->a->order[i], begin);
  }
  if (sync) {
    w->since = begin;
    w->now = w->a->makespan;
    w->a->syncs++;
  }
  for (uint32_t i = begin; i < end; i++) {
    issue_item(w, w->a->order[i]);
  }
}

static void walk_phases(phase_walk *w) {
  fs_block_answer *a = w->a;
  a->makespan = 0;
  a->syncs = 0;
  a->late = false;
  for (uint32_t begin = 0, end; begin < w->p->n; begin = end) {
    uint32_t phase = a->phase[a->order[begin]];
    for (end = begin + 1; end < w->p->n && a->phase[a->order[end]] == phase; end++) {
    }
    walk_phase(w, begin, end);
    for (uint32_t i = begin; i < end; i++) {
      a->phase[a->order[i]] = a->syncs;
    }
  }
}

fs_status fs_block_answer_fill(fsched_context *ctx, const fs_block_problem *p, fs_block_answer *a) {
  assert(a->queue != NULL && a->phase != NULL);
  FS_SCRATCH(scratch, ctx);
  phase_walk w = {.p = p, .a = a};
  FS_TRY(order_by_phase(&scratch, p, a));
  FS_TRY(fs_new(&scratch, &w.place, p->n));
  FS_TRY(fs_new(&scratch, &w.end, p->n));
  FS_TRY(fs_new(&scratch, &w.over, p->n));
  FS_TRY(fs_new_zero(&scratch, &w.latest, p->n_queues));
  FS_TRY(fs_new_zero(&scratch, &w.free_at, p->n_queues));
  FS_TRY(fs_new_zero(&scratch, &w.known, p->n_queues));
  for (uint32_t i = 0; i < p->n; i++) {
    w.place[a->order[i]] = i;
  }
  walk_phases(&w);
  return FSCHED_OK;
}
