/* SPDX-License-Identifier: Apache-2.0 */
#include "modulo/parts.h"

typedef struct splitter {
  fs_arena *arena;
  const fs_modulo_problem *p;
  const fs_modulo_joined *joined;
  fs_modulo_split *out;
} splitter;

static uint32_t n_parts(const splitter *s, uint32_t op) {
  return s->joined[op].n_parts == 0 ? 1 : s->joined[op].n_parts;
}

/* Whether a part of an op touches what the op shares with another one; if that is not known, all of
 * them do. */
static bool touches(const splitter *s, uint32_t op, uint32_t part, uint32_t other) {
  const fs_modulo_joined *j = &s->joined[op];
  return j->n_parts == 0 || j->touch[other] == 0 || (j->touch[other] >> part & 1) != 0;
}

static fs_status number_ops(splitter *s) {
  fs_modulo_split *out = s->out;
  fs_modulo_problem *q = &out->problem;
  q->n = 0;
  FS_TRY(fs_new(s->arena, &out->first, s->p->n));
  for (uint32_t op = 0; op < s->p->n; op++) {
    out->first[op] = q->n;
    q->n += n_parts(s, op);
  }
  FS_TRY(fs_new(s->arena, &out->op, q->n));
  FS_TRY(fs_new(s->arena, &out->part, q->n));
  for (uint32_t op = 0; op < s->p->n; op++) {
    for (uint32_t k = 0; k < n_parts(s, op); k++) {
      out->op[out->first[op] + k] = op;
      out->part[out->first[op] + k] = k;
    }
  }
  return FSCHED_OK;
}

static bool is_slow(const fs_modulo_part *part) { return part->lasts > part->keeps; }

/* How long a part keeps its queue in the problem, in which nothing takes no time.  One that keeps
 * it for none is slow, and stays so. */
static fs_tick time_of(const fs_modulo_part *part) { return fs_max(part->keeps, 1); }

static fs_status split_ops(splitter *s) {
  const fs_modulo_problem *p = s->p;
  fs_modulo_problem *q = &s->out->problem;
  uint32_t *eligible0, *eligible, *use0, n = 0;
  fs_tick *time, *latency;
  bool *gang;
  FS_TRY(fs_new(s->arena, &time, q->n));
  FS_TRY(fs_new(s->arena, &latency, q->n));
  FS_TRY(fs_new(s->arena, &gang, q->n));
  FS_TRY(fs_new(s->arena, &eligible0, (size_t)q->n + 1));
  FS_TRY(fs_new(s->arena, &eligible, (size_t)p->eligible0[p->n] + q->n));
  FS_TRY(fs_new(s->arena, &use0, (size_t)q->n + 1));
  for (uint32_t x = 0; x < q->n; x++) {
    uint32_t op = s->out->op[x];
    const fs_modulo_joined *j = &s->joined[op];
    const fs_modulo_part *part = j->n_parts == 0 ? NULL : &j->part[s->out->part[x]];
    time[x] = part == NULL ? p->time[op] : time_of(part);
    latency[x] = part == NULL ? p->latency[op] : fs_max(part->lasts, time[x] + is_slow(part));
    gang[x] = part == NULL && p->gang != NULL && p->gang[op];
    eligible0[x] = n;
    for (uint32_t i = p->eligible0[op]; part == NULL && i < p->eligible0[op + 1]; i++) {
      eligible[n++] = p->eligible[i];
    }
    if (part != NULL) {
      eligible[n++] = part->queue;
    }
    use0[x] = p->use0 == NULL ? 0 : p->use0[op + (s->out->part[x] > 0)];
  }
  eligible0[q->n] = n;
  use0[q->n] = p->use0 == NULL ? 0 : p->use0[p->n];
  q->time = time;
  q->latency = latency;
  q->gang = gang;
  q->eligible0 = eligible0;
  q->eligible = eligible;
  q->use0 = p->use0 == NULL ? NULL : use0;
  return FSCHED_OK;
}

static fs_status split_edges(splitter *s) {
  const fs_modulo_problem *p = s->p;
  fs_modulo_problem *q = &s->out->problem;
  fs_modulo_edge *edge;
  size_t room = 0;
  for (uint32_t e = 0; e < p->n_edges; e++) {
    room += (size_t)n_parts(s, p->edge[e].from) * n_parts(s, p->edge[e].to);
  }
  FS_TRY(fs_new(s->arena, &edge, room));
  q->n_edges = 0;
  for (uint32_t e = 0; e < p->n_edges; e++) {
    const fs_modulo_edge *x = &p->edge[e];
    uint32_t from = n_parts(s, x->from), to = n_parts(s, x->to);
    bool inside = x->from == x->to && s->joined[x->from].n_parts > 0;
    for (uint32_t k = 0; k < from * to && !inside; k++) {
      if (touches(s, x->from, k / to, x->to) && touches(s, x->to, k % to, x->from)) {
        edge[q->n_edges++] = (fs_modulo_edge){s->out->first[x->from] + k / to,
                                              s->out->first[x->to] + k % to, x->distance};
      }
    }
  }
  q->edge = edge;
  return FSCHED_OK;
}

static fs_status make_ties(splitter *s) {
  fs_modulo_problem *q = &s->out->problem;
  fs_modulo_tie *tie;
  FS_TRY(fs_new(s->arena, &tie, 2 * (size_t)q->n));
  q->n_ties = 0;
  for (uint32_t x = 0; x < q->n; x++) {
    const fs_modulo_joined *j = &s->joined[s->out->op[x]];
    uint32_t first = s->out->first[s->out->op[x]];
    if (j->n_parts > 0 && x == first) {
      tie[q->n_ties++] = (fs_modulo_tie){x, x, 1, (int64_t)j->again};
    } else if (j->n_parts > 0) {
      int64_t delay = (int64_t)j->part[s->out->part[x]].begin - (int64_t)j->part[0].begin;
      tie[q->n_ties++] = (fs_modulo_tie){first, x, 0, delay};
      tie[q->n_ties++] = (fs_modulo_tie){x, first, 0, -delay};
    }
  }
  q->tie = tie;
  return FSCHED_OK;
}

static fs_status split_rings(splitter *s) {
  const fs_modulo_problem *p = s->p;
  fs_modulo_problem *q = &s->out->problem;
  fs_modulo_ring *ring;
  fs_modulo_reader *reader;
  uint32_t *reader0, n = 0, readers = p->n_rings == 0 ? 0 : p->reader0[p->n_rings];
  size_t room = 0;
  for (uint32_t i = 0; i < readers; i++) {
    room += n_parts(s, p->reader[i].op);
  }
  FS_TRY(fs_new(s->arena, &ring, p->n_rings));
  FS_TRY(fs_new(s->arena, &reader, room));
  FS_TRY(fs_new(s->arena, &reader0, (size_t)p->n_rings + 1));
  for (uint32_t r = 0; r < p->n_rings; r++) {
    ring[r] = p->ring[r];
    reader0[r] = n;
    ring[r].writer = s->out->first[p->ring[r].writer];
    ring[r].inside = s->joined[p->ring[r].writer].n_parts > 0;
    ring[r].depth = ring[r].inside ? 1 : ring[r].depth;
    for (uint32_t i = p->reader0[r]; i < p->reader0[r + 1]; i++) {
      uint32_t op = p->reader[i].op;
      for (uint32_t k = 0; k < n_parts(s, op); k++) {
        if (touches(s, op, k, p->ring[r].writer)) {
          reader[n++] = (fs_modulo_reader){s->out->first[op] + k, p->reader[i].back};
        }
      }
    }
  }
  reader0[p->n_rings] = n;
  q->ring = ring;
  q->reader = reader;
  q->reader0 = reader0;
  return FSCHED_OK;
}

fs_status fs_modulo_split_parts(fs_arena *arena, const fs_modulo_problem *p,
                                const fs_modulo_joined *joined, fs_modulo_split *out) {
  assert(joined != NULL && p->n > 0);
  *out = (fs_modulo_split){.problem = *p};
  splitter s = {arena, p, joined, out};
  FS_TRY(number_ops(&s));
  FS_TRY(split_ops(&s));
  FS_TRY(split_edges(&s));
  FS_TRY(make_ties(&s));
  return split_rings(&s);
}

/* Two parts, of two loops, on one queue: iteration j of the second one comes behind iteration i of
 * the first one if j - i is at least this. */
static int64_t turn_of(const fs_modulo_plan *plan, uint32_t a, uint32_t b) {
  return fs_floor_div(plan->start[a] - plan->start[b], plan->period) + 1;
}

/* Whether two ops of a split problem are parts of two loops, the first one's first, on one queue.
 */
static bool meet(const fs_modulo_split *split, const fs_modulo_joined *joined, uint32_t a,
                 uint32_t b) {
  const fs_modulo_problem *q = &split->problem;
  uint32_t x = split->op[a], y = split->op[b];
  return x < y && joined[x].n_parts > 0 && joined[y].n_parts > 0 &&
         q->eligible[q->eligible0[a]] == q->eligible[q->eligible0[b]];
}

/* The turns of two loops on the queues that they share, the least and the most. */
typedef struct run_turns {
  int64_t low, high;
} run_turns;

static run_turns turns_of(const fs_modulo_split *split, const fs_modulo_joined *joined,
                          const fs_modulo_plan *plan, uint32_t x, uint32_t y) {
  run_turns t = {INT64_MAX, INT64_MIN};
  for (uint32_t a = split->first[x]; a < split->first[x] + joined[x].n_parts; a++) {
    for (uint32_t b = split->first[y]; b < split->first[y] + joined[y].n_parts; b++) {
      int64_t k = meet(split, joined, a, b) ? turn_of(plan, a, b) : t.low;
      t.low = k < t.low ? k : t.low;
      t.high = meet(split, joined, a, b) && k > t.high ? k : t.high;
    }
  }
  return t;
}

fs_status fs_modulo_order_runs(fsched_context *ctx, const fs_modulo_split *split,
                               const fs_modulo_joined *joined, const fs_modulo_plan *plan,
                               fs_modulo_turns turns, fs_modulo_ties *out) {
  const fs_modulo_problem *q = &split->problem;
  assert(plan->copies == 1);
  for (uint32_t a = 0; a < q->n; a++) {
    for (uint32_t b = a + 1; b < q->n; b++) {
      if (!meet(split, joined, a, b)) {
        continue;
      }
      run_turns t = turns_of(split, joined, plan, split->op[a], split->op[b]);
      int64_t k = turns == FS_TURNS_AHEAD ? t.low : turns == FS_TURNS_BEHIND ? t.high : 0;
      if (t.low < t.high) {
        FS_TRY(fs_vec_push(ctx, out, ((fs_modulo_tie){a, b, k, (int64_t)q->time[a]})));
        FS_TRY(fs_vec_push(ctx, out, ((fs_modulo_tie){b, a, 1 - k, (int64_t)q->time[b]})));
      }
    }
  }
  return FSCHED_OK;
}

void fs_modulo_join_parts(const fs_modulo_split *split, const fs_modulo_joined *joined,
                          fs_rolled_loop *loop) {
  assert(loop->copies == 1);
  for (uint32_t c = 0; c < loop->n_commands; c++) {
    uint32_t x = loop->command[c].member;
    const fs_modulo_joined *j = &joined[split->op[x]];
    loop->command[c].member = split->op[x];
    if (j->n_parts > 0) {
      const fs_modulo_part *part = &j->part[split->part[x]];
      loop->command[c].behind = part->begin;
      loop->command[c].lasts = part->lasts;
      loop->command[c].keeps = part->keeps;
      loop->command[c].again = j->again;
    }
  }
  for (uint32_t g = 0; g < loop->n_guards; g++) {
    fs_rolled_guard *guard = &loop->guard[g];
    uint32_t first = loop->producer[guard->producer0];
    const fs_modulo_joined *j = &joined[split->op[first]];
    assert(j->n_parts == 0 || guard->n_producers == 1);
    guard->part = j->n_parts > 0;
    guard->queue = guard->part ? j->part[split->part[first]].queue : 0;
    for (uint32_t i = guard->producer0; i < guard->producer0 + guard->n_producers; i++) {
      loop->producer[i] = split->op[loop->producer[i]];
    }
  }
  for (uint32_t r = 0; r < loop->n_rings; r++) {
    fs_rolled_ring *ring = &loop->ring[r];
    ring->writer = split->op[ring->writer];
    uint32_t n = 0;
    for (uint32_t i = 0; i < ring->n_readers; i++) { /* parts of one op are neighbours */
      fs_rolled_reader x = loop->reader[ring->reader0 + i];
      x.member = split->op[x.member];
      const fs_rolled_reader *last = n == 0 ? NULL : &loop->reader[ring->reader0 + n - 1];
      if (last == NULL || last->member != x.member || last->back != x.back) {
        loop->reader[ring->reader0 + n++] = x;
      }
    }
    ring->n_readers = n;
  }
}
