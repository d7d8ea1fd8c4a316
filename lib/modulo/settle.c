/* SPDX-License-Identifier: Apache-2.0 */
/* The k that choices hold for two claims on one track are read from their starts: the next start of
 * b behind the end of a is the one by which an order is kept.  Only neighbours need an edge. */
#include "modulo/settle.h"

#include "base/group.h"

#include "base/saturate.h"
#include "modulo/problem/ratio.h"

typedef struct plan_settler {
  fsched_context *ctx;
  fs_arena *scratch;
  const fs_modulo_body *b;
  const fs_modulo_choice *c;
  int64_t period, scale;
  uint32_t *track0, *on; /* CSR per track: claims in the order of their starts in the period */
  FS_VEC(fs_ratio_edge) edge;
} plan_settler;

/* --- tracks --- */

static uint32_t track_of(const plan_settler *s, uint32_t claim) {
  return s->b->track0[s->b->claim[claim].group] + s->c->track[claim];
}

/* An op's start within the period. */
static int64_t place_of(const plan_settler *s, uint32_t op) {
  int64_t start = s->c->start[op];
  return start - fs_floor_div(start, s->period) * s->period;
}

static void sort_track(const plan_settler *s, uint32_t *claim, uint32_t n) {
  for (uint32_t i = 1; i < n; i++) {
    uint32_t moved = claim[i], at = i;
    int64_t place = place_of(s, s->b->claim[moved].op);
    for (; at > 0 && place_of(s, s->b->claim[claim[at - 1]].op) > place; at--) {
      claim[at] = claim[at - 1];
    }
    claim[at] = moved;
  }
}

static fs_status list_tracks(plan_settler *s) {
  const fs_modulo_body *b = s->b;
  FS_TRY(fs_new_zero(s->scratch, &s->track0, (size_t)b->n_tracks + 2));
  FS_TRY(fs_new(s->scratch, &s->on, b->n_claims));
  for (uint32_t c = 0; c < b->n_claims; c++) {
    s->track0[track_of(s, c) + 2]++;
  }
  fs_group_sum(s->track0, b->n_tracks);
  for (uint32_t c = 0; c < b->n_claims; c++) {
    s->on[s->track0[track_of(s, c) + 1]++] = c;
  }
  for (uint32_t t = 0; t < b->n_tracks; t++) {
    sort_track(s, s->on + s->track0[t], s->track0[t + 1] - s->track0[t]);
  }
  return FSCHED_OK;
}

/* The claim that comes next on a track, and how many periods later. */
static uint32_t next_claim(const plan_settler *s, uint32_t t, uint32_t at, int64_t *k) {
  uint32_t next = at + 1 < s->track0[t + 1] ? at + 1 : s->track0[t];
  uint32_t a = s->b->claim[s->on[at]].op, c = s->b->claim[s->on[next]].op;
  *k = fs_floor_div(s->c->start[a], s->period) - fs_floor_div(s->c->start[c], s->period) +
       (next <= at);
  return s->on[next];
}

/* --- waits that are held back --- */

static bool on_common_queue(const plan_settler *s, uint32_t a, uint32_t c) {
  const fs_modulo_body *b = s->b;
  for (uint32_t i = b->claim0[a]; i < b->claim0[a + 1]; i++) {
    for (uint32_t j = b->claim0[c]; j < b->claim0[c + 1]; j++) {
      if (b->claim[i].group < b->n_queue_groups && track_of(s, i) == track_of(s, j)) {
        return true;
      }
    }
  }
  return false;
}

/* How many periods the last start of x before a lies after start(x). */
static int64_t last_before(const plan_settler *s, uint32_t a, uint32_t x) {
  return fs_floor_div(s->c->start[a] - s->b->time[x] * s->scale - s->c->start[x], s->period);
}

typedef struct held_step {
  uint32_t track, at; /* in the lists of tracks */
} held_step;

/* Goes through the other ops on the queues of a that may hold it back: false at the end. */
static bool next_held(const plan_settler *s, uint32_t a, held_step *step, uint32_t *x) {
  const fs_modulo_body *b = s->b;
  uint32_t c = b->claim0[a] + step->track;
  while (c < b->claim0[a + 1] && b->claim[c].group < b->n_queue_groups) {
    uint32_t t = track_of(s, c);
    while (s->track0[t] + step->at < s->track0[t + 1]) {
      *x = b->claim[s->on[s->track0[t] + step->at++]].op;
      if (*x != a && b->latency[*x] > b->time[*x]) {
        return true;
      }
    }
    step->track++;
    step->at = 0;
    c++;
  }
  return false;
}

static bool is_held(const plan_settler *s, uint32_t a, uint32_t to) {
  return s->b->held_back && fs_modulo_waits(s->b, a, on_common_queue(s, a, to));
}

/* When a wait of `to` for a is over, after the start of a. */
static int64_t delay_of(const plan_settler *s, uint32_t a, uint32_t to) {
  const fs_modulo_body *b = s->b;
  int64_t delay = b->latency[a] * s->scale;
  uint32_t x;
  held_step step = {0};
  while (is_held(s, a, to) && next_held(s, a, &step, &x)) {
    int64_t end = s->c->start[x] + last_before(s, a, x) * s->period + b->latency[x] * s->scale;
    int64_t later = end - s->c->start[a];
    delay = later > delay ? later : delay;
  }
  return delay;
}

/* --- edges --- */

static fs_status add_wait(plan_settler *s, uint32_t a, uint32_t to, int64_t distance) {
  const fs_modulo_body *b = s->b;
  fs_ratio_edge edge = {a, to, b->latency[a], distance};
  FS_TRY(fs_vec_push(s->ctx, &s->edge, edge));
  uint32_t x;
  held_step step = {0};
  while (is_held(s, a, to) && next_held(s, a, &step, &x)) {
    edge = (fs_ratio_edge){x, to, b->latency[x], distance - last_before(s, a, x)};
    FS_TRY(fs_vec_push(s->ctx, &s->edge, edge));
  }
  return FSCHED_OK;
}

/* A wait of each copy of an op, so many iterations later. */
static fs_status add_distance(plan_settler *s, uint32_t from, uint32_t to, int64_t distance) {
  for (uint32_t c = 0; c < s->b->copies; c++) {
    int64_t turns;
    uint32_t node = fs_modulo_node(s->b, to, c + distance, &turns);
    FS_TRY(add_wait(s, c * s->b->p->n + from, node, turns));
  }
  return FSCHED_OK;
}

static fs_status add_open_rings(plan_settler *s) {
  const fs_modulo_problem *p = s->b->p;
  for (uint32_t r = 0; r < s->b->n_open; r++) {
    uint32_t ring = s->b->open[r], writer = p->ring[ring].writer;
    if (s->c->depth[r] == FS_NONE) {
      continue;
    }
    FS_TRY(add_distance(s, writer, writer, s->c->depth[r]));
    for (uint32_t k = p->reader0[ring]; k < p->reader0[ring + 1]; k++) {
      uint32_t op = p->reader[k].op;
      if (s->c->part[op] == s->c->part[writer]) {
        FS_TRY(add_distance(s, op, writer, (int64_t)s->c->depth[r] - p->reader[k].back));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status add_tracks(plan_settler *s) {
  const fs_modulo_body *b = s->b;
  for (uint32_t t = 0; t < b->n_tracks; t++) {
    for (uint32_t at = s->track0[t]; at < s->track0[t + 1]; at++) {
      int64_t k;
      uint32_t next = next_claim(s, t, at, &k);
      const fs_modulo_claim *c = &b->claim[s->on[at]];
      if (c->group < b->n_queue_groups) {
        fs_ratio_edge edge = {c->op, b->claim[next].op, c->hold, k};
        FS_TRY(fs_vec_push(s->ctx, &s->edge, edge));
      } else {
        FS_TRY(add_wait(s, c->op, b->claim[next].op, k));
      }
    }
  }
  return FSCHED_OK;
}

static fs_status add_edges(plan_settler *s) {
  const fs_modulo_body *b = s->b;
  FS_TRY(list_tracks(s));
  for (uint32_t k = 0; k < b->n_arcs; k++) {
    const fs_modulo_arc *a = &b->arc[k];
    if (a->tie) {
      fs_ratio_edge edge = {a->from, a->to, a->delay, a->distance};
      FS_TRY(fs_vec_push(s->ctx, &s->edge, edge));
    } else if (s->c->part[a->from] == s->c->part[a->to]) {
      FS_TRY(add_wait(s, a->from, a->to, a->distance));
    }
  }
  FS_TRY(add_open_rings(s));
  return add_tracks(s);
}

static plan_settler new_settler(fsched_context *ctx, fs_arena *scratch, const fs_modulo_body *b,
                                const fs_modulo_choice *c) {
  plan_settler s = {.ctx = ctx, .scratch = scratch, .b = b, .c = c};
  s.period = c->period.num;
  s.scale = c->period.den;
  return s;
}

static fs_status tighten_choice(plan_settler *s, fs_modulo_choice *c, bool *possible) {
  fs_ratio_cycle cycle;
  uint32_t m;
  FS_TRY(add_edges(s));
  m = (uint32_t)s->edge.n;
  FS_TRY(fs_modulo_cycle(s->ctx, s->scratch, s->b->n, s->edge.at, m, &cycle));
  *possible = !cycle.endless && !fs_modulo_less(c->period, cycle.ratio);
  if (*possible) {
    c->period = cycle.ratio;
    fs_modulo_potentials(s->b->n, s->edge.at, m, cycle.ratio, c->start);
  }
  return FSCHED_OK;
}

fs_status fs_modulo_tighten(fsched_context *ctx, const fs_modulo_body *b, fs_modulo_choice *c,
                            bool *possible) {
  assert(c->period.num > 0);
  FS_SCRATCH(scratch, ctx);
  plan_settler s = new_settler(ctx, &scratch, b, c);
  fs_status status = tighten_choice(&s, c, possible);
  fs_vec_free(ctx, &s.edge);
  return status;
}

/* --- the plan --- */

/* Moves parts by as few whole periods as arcs between them need. */
static bool move_part(const plan_settler *s, int64_t *turn, uint32_t from, uint32_t to,
                      int64_t distance) {
  uint32_t a = s->c->part[from], c = s->c->part[to];
  if (a == c) {
    return false;
  }
  int64_t late = delay_of(s, from, to) + s->c->start[from] - s->c->start[to];
  int64_t least = turn[a] + fs_ceiling_div(late, s->period) - distance;
  if (turn[c] >= least) {
    return false;
  }
  turn[c] = least;
  return true;
}

/* The same for all copies of an op, so many iterations later. */
static bool move_behind(const plan_settler *s, int64_t *turn, uint32_t from, uint32_t to,
                        int64_t distance) {
  bool moved = false;
  for (uint32_t c = 0; c < s->b->copies; c++) {
    int64_t turns;
    uint32_t node = fs_modulo_node(s->b, to, c + distance, &turns);
    moved |= move_part(s, turn, c * s->b->p->n + from, node, turns);
  }
  return moved;
}

static void move_parts(const plan_settler *s, int64_t *turn) {
  const fs_modulo_body *b = s->b;
  const fs_modulo_problem *p = b->p;
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t k = 0; k < b->n_arcs; k++) { /* ties are within parts */
      moved |= move_part(s, turn, b->arc[k].from, b->arc[k].to, b->arc[k].distance);
    }
    for (uint32_t r = 0; r < b->n_open; r++) {
      uint32_t ring = b->open[r];
      for (uint32_t k = p->reader0[ring]; k < p->reader0[ring + 1]; k++) {
        moved |=
            s->c->depth[r] != FS_NONE && move_behind(s, turn, p->reader[k].op, p->ring[ring].writer,
                                                     (int64_t)s->c->depth[r] - p->reader[k].back);
      }
    }
  }
}

/* Does iteration c + distance of the writer start after iteration c of a reader is over? */
static bool comes_behind(const plan_settler *s, const int64_t *start, uint32_t reader, int64_t c,
                         int64_t distance, uint32_t writer) {
  int64_t turns;
  uint32_t op = (uint32_t)c * s->b->p->n + reader;
  uint32_t to = fs_modulo_node(s->b, writer, c + distance, &turns);
  return start[to] + turns * s->period >= start[op] + delay_of(s, op, to);
}

/* Are slots that are given back at once, all of them, whenever the first of them is taken? */
static bool returns_hold(const plan_settler *s, const int64_t *start, uint32_t ring,
                         int64_t depth) {
  const fs_modulo_problem *p = s->b->p;
  const fs_modulo_ring *r = &p->ring[ring];
  int64_t u = s->b->copies, every = r->every;
  for (uint32_t k = p->reader0[ring]; every > 1 && k < p->reader0[ring + 1]; k++) {
    int64_t distance = depth + 1 - every - p->reader[k].back;
    for (int64_t c = 0; c < u; c++) {
      if ((c + distance - depth) % every == 0 &&
          !comes_behind(s, start, p->reader[k].op, c, distance, r->writer)) {
        return false;
      }
    }
  }
  return true;
}

/* Is a ring of this depth free whenever its writer starts? */
static bool depth_holds(const plan_settler *s, const int64_t *start, uint32_t ring, int64_t depth) {
  const fs_modulo_problem *p = s->b->p;
  int64_t u = s->b->copies;
  for (uint32_t k = p->reader0[ring]; k <= p->reader0[ring + 1]; k++) {
    bool own = k == p->reader0[ring + 1]; /* the writer itself */
    uint32_t i = own ? p->ring[ring].writer : p->reader[k].op;
    for (int64_t c = 0; c < u; c++) {
      int64_t distance = depth - (own ? 0 : p->reader[k].back);
      if (!comes_behind(s, start, i, c, distance, p->ring[ring].writer)) {
        return false;
      }
    }
  }
  return returns_hold(s, start, ring, depth);
}

static fs_status fill_memory(const plan_settler *s, fs_arena *arena, fs_modulo_plan *out) {
  const fs_modulo_problem *p = s->b->p;
  FS_TRY(fs_new_zero(arena, &out->depth, p->n_rings));
  FS_TRY(fs_new_zero(arena, &out->bytes, p->n_memories));
  for (uint32_t r = 0; r < p->n_rings; r++) {
    out->depth[r] = p->ring[r].depth;
    if (out->depth[r] == 0) {
      out->depth[r] = fs_modulo_least_depth(p, r);
      while (!depth_holds(s, out->start, r, out->depth[r])) {
        out->depth[r]++;
      }
    }
    if (p->ring[r].memory != FS_NONE) {
      uint64_t *bytes = &out->bytes[p->ring[r].memory];
      *bytes = fs_add_most(*bytes, fs_multiply_most(p->ring[r].size, out->depth[r]));
    }
  }
  return FSCHED_OK;
}

/* Lists the lanes of an op, of each use as many as it wants of its tracks; the last track has what
 * lanes are left of the resource beyond it. */
static uint32_t list_lanes(const plan_settler *s, uint32_t op, uint32_t *lane) {
  const fs_modulo_body *b = s->b;
  const fs_modulo_problem *p = b->p;
  uint32_t i = op % p->n, n = 0, c = b->claim0[op];
  while (c < b->claim0[op + 1] && b->claim[c].group < b->n_queue_groups) {
    c++;
  }
  for (uint32_t k = p->use0[i]; k < p->use0[i + 1]; k++) {
    uint64_t unit = b->unit[p->use[k].resource];
    uint32_t group = b->n_queue_groups + p->use[k].resource;
    for (uint32_t left = p->use[k].amount; left > 0; c++) {
      bool last = c + 1 == b->claim0[op + 1] || b->claim[c + 1].group != group;
      uint64_t now = last ? left : fs_min(left, unit);
      for (uint64_t u = 0; u < now; u++) {
        lane[n++] = b->name[track_of(s, c)] + (uint32_t)u;
      }
      left -= (uint32_t)now;
    }
  }
  return n;
}

static uint64_t count_lanes(const fs_modulo_problem *p) {
  uint64_t n = 0;
  for (uint32_t k = 0; p->use0 != NULL && k < p->use0[p->n]; k++) {
    n += p->use[k].amount;
  }
  return n;
}

static fs_status fill_tracks(const plan_settler *s, fs_arena *arena, fs_modulo_plan *out) {
  const fs_modulo_body *b = s->b;
  uint32_t lanes = 0;
  FS_TRY(fs_new(arena, &out->queue, b->n));
  FS_TRY(fs_new(arena, &out->lane0, (size_t)b->n + 1));
  FS_TRY(fs_new(arena, &out->lane, count_lanes(b->p) * b->copies));
  for (uint32_t i = 0; i < b->n; i++) {
    out->lane0[i] = lanes;
    out->queue[i] = b->name[track_of(s, b->claim0[i])];
    lanes += b->p->use0 == NULL ? 0 : list_lanes(s, i, out->lane + lanes);
  }
  out->lane0[b->n] = lanes;
  return FSCHED_OK;
}

static void fill_makespan(const plan_settler *s, fs_modulo_plan *out) {
  const fs_modulo_body *b = s->b;
  uint32_t n = b->p->n;
  out->makespan = 0;
  for (uint32_t c = 0; c < b->copies; c++) {
    int64_t first = INT64_MAX, last = 0;
    for (uint32_t i = c * n; i < (c + 1) * n; i++) {
      int64_t end = out->start[i] + b->latency[i] * s->scale;
      first = out->start[i] < first ? out->start[i] : first;
      last = end > last ? end : last;
    }
    out->makespan = last - first > out->makespan ? last - first : out->makespan;
  }
}

static fs_status fill_plan(plan_settler *s, fs_arena *arena, fs_modulo_plan *out) {
  const fs_modulo_body *b = s->b;
  int64_t *turn, first = INT64_MAX;
  FS_TRY(list_tracks(s));
  FS_TRY(fs_new_zero(s->scratch, &turn, b->n));
  move_parts(s, turn);
  FS_TRY(fs_new(arena, &out->start, b->n));
  FS_TRY(fs_new(arena, &out->shift, b->n));
  out->copies = b->copies;
  out->ii = fs_modulo_ratio_of(s->period, s->scale * b->copies);
  out->scale = s->scale;
  out->period = s->period;
  for (uint32_t i = 0; i < b->n; i++) {
    out->start[i] = s->c->start[i] + turn[s->c->part[i]] * s->period;
    first = out->start[i] < first ? out->start[i] : first;
  }
  for (uint32_t i = 0; i < b->n; i++) {
    out->start[i] -= first;
    out->shift[i] = (uint32_t)(out->start[i] / s->period);
  }
  fill_makespan(s, out);
  FS_TRY(fill_tracks(s, arena, out));
  return fill_memory(s, arena, out);
}

fs_status fs_modulo_settle(fsched_context *ctx, fs_arena *arena, const fs_modulo_body *b,
                           const fs_modulo_choice *c, fs_modulo_plan *out) {
  assert(c->period.num > 0);
  FS_SCRATCH(scratch, ctx);
  plan_settler s = new_settler(ctx, &scratch, b, c);
  fs_status status = fill_plan(&s, arena, out);
  fs_vec_free(ctx, &s.edge);
  return status;
}
