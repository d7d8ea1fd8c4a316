/* SPDX-License-Identifier: Apache-2.0 */
/* An arc of distance d from op i becomes, in copy c of u, one to copy (c + d) mod u with distance
 * (c + d) div u.  Queues are in one group if an op may choose between them; each resource is a
 * group.  A track stands for so many lanes as divide all uses, or, where these are more than a word
 * of bits holds, for more; uses are then rounded up, so that plans stay right. */
#include "modulo/body.h"

#include "base/group.h"

#include "base/saturate.h"

enum {
  NUMBERS = 61,      /* bits of the largest product of times and distances */
  MOST_CLAIMS = 1024 /* pairs of them are listed */
};

typedef struct body_maker {
  fs_arena *arena, scratch;
  const fs_modulo_problem *p;
  const uint32_t *depth;
  fs_modulo_body *b;
  uint32_t *group_of; /* per queue; then of resources */
  uint32_t *bit_of;   /* per queue */
  bool too_large;
} body_maker;

/* --- arcs --- */

/* An op that may run on one queue alone has that. */
static uint32_t only_queue(const fs_modulo_problem *p, uint32_t op) {
  uint32_t first = p->eligible0[op];
  return p->eligible0[op + 1] == first + 1 ? p->eligible[first] : FS_NONE;
}

/* Whether a ring says the same of all iterations of its writer and its readers, whatever is chosen.
 */
static bool is_same_order(const fs_modulo_problem *p, uint32_t ring) {
  const fs_modulo_ring *r = &p->ring[ring];
  bool same = r->ahead == 0 || only_queue(p, r->writer) != FS_NONE;
  for (uint32_t k = p->reader0[ring]; r->ahead > 0 && k < p->reader0[ring + 1]; k++) {
    same = same && only_queue(p, p->reader[k].op) != FS_NONE;
  }
  return same && r->every <= 1 && !r->in_place;
}

/* Whether waits are held back, and there is something that does so. */
static bool holds_back(const fs_modulo_problem *p) {
  bool slow = false;
  for (uint32_t i = 0; i < p->n && p->held_back && !slow; i++) {
    slow = p->latency[i] > p->time[i];
  }
  return slow;
}

bool fs_modulo_in_order(const fs_modulo_problem *p) {
  bool in_order = !holds_back(p);
  for (uint32_t r = 0; r < p->n_rings; r++) {
    in_order = in_order && is_same_order(p, r);
  }
  return in_order;
}

/* Copies of an op start in the order of their iterations. */
static void add_orders(body_maker *m) {
  fs_modulo_body *b = m->b;
  uint32_t u = b->copies, n = m->p->n;
  for (uint32_t op = 0; op < b->n && b->in_order; op++) {
    bool last = op / n + 1 == u;
    uint32_t next = last ? op % n : op + n;
    b->arc[b->n_arcs++] = (fs_modulo_arc){op, next, last, FS_NONE, true, false, 0};
    b->distances += last;
  }
}

static void add_arcs(body_maker *m, uint32_t from, uint32_t to, int64_t distance, uint32_t ring) {
  fs_modulo_body *b = m->b;
  uint32_t n = m->p->n;
  for (uint32_t c = 0; c < b->copies; c++) {
    int64_t turns;
    uint32_t node = fs_modulo_node(b, to, c + distance, &turns);
    b->arc[b->n_arcs++] =
        (fs_modulo_arc){c * n + from, node, turns, ring, false, false, b->latency[c * n + from]};
    b->distances += turns < 0 ? -turns : turns;
  }
}

static void add_tie(body_maker *m, const fs_modulo_tie *x) {
  fs_modulo_body *b = m->b;
  assert(b->copies == 1);
  b->arc[b->n_arcs++] =
      (fs_modulo_arc){x->from, x->to, x->distance, FS_NONE, true, false, x->delay};
  b->distances += x->distance < 0 ? -x->distance : x->distance;
}

/* The writer takes slots that were given back at once. */
static void add_returns(body_maker *m, uint32_t ring, uint32_t depth, const fs_modulo_reader *x) {
  fs_modulo_body *b = m->b;
  const fs_modulo_ring *r = &m->p->ring[ring];
  int64_t u = b->copies, every = r->every;
  int64_t distance = (int64_t)depth - every + 1 - x->back;
  for (int64_t c = depth % every; c < u; c += every) {
    int64_t turns;
    uint32_t op = fs_modulo_node(b, x->op, c - distance, &turns);
    b->arc[b->n_arcs++] = (fs_modulo_arc){
        op, (uint32_t)c * m->p->n + r->writer, -turns, ring, false, false, b->latency[op]};
    b->distances += turns < 0 ? -turns : turns;
  }
}

/* The writer writes over what is there on entry, in whose place it works. */
static void add_entries(body_maker *m, uint32_t ring, uint32_t depth) {
  fs_modulo_body *b = m->b;
  uint32_t writer = m->p->ring[ring].writer, u = b->copies, to = fs_modulo_entry_copy(depth, u);
  for (uint32_t e = 1; e <= fs_modulo_entries(depth, u); e++) {
    int64_t turns;
    uint32_t from = fs_modulo_node(b, writer, (int64_t)to - e, &turns);
    b->arc[b->n_arcs++] =
        (fs_modulo_arc){from, to * m->p->n + writer, -turns, ring, false, true, b->latency[from]};
    b->distances -= turns;
  }
}

/* The depth that a ring is known to have, 0 if it is open, or FS_NONE. */
static uint32_t depth_of(const body_maker *m, uint32_t ring) {
  const fs_modulo_ring *r = &m->p->ring[ring];
  return m->depth != NULL ? m->depth[ring] : r->depth;
}

static void add_ring(body_maker *m, uint32_t ring) {
  const fs_modulo_problem *p = m->p;
  fs_modulo_body *b = m->b;
  uint32_t depth = depth_of(m, ring);
  if (depth == 0) {
    m->b->open[m->b->n_open++] = ring;
  }
  b->distances += (int64_t)p->ring[ring].ahead; /* of the orders that it gives */
  if (depth != 0 && depth != FS_NONE && !p->ring[ring].inside) {
    uint32_t writer = p->ring[ring].writer;
    add_arcs(m, writer, writer, depth, ring);
    if (p->ring[ring].in_place) {
      add_entries(m, ring, depth);
    }
    for (uint32_t k = p->reader0[ring]; k < p->reader0[ring + 1]; k++) {
      add_arcs(m, p->reader[k].op, writer, (int64_t)depth - p->reader[k].back, ring);
      if (p->ring[ring].every > 1 && m->b->copies % p->ring[ring].every == 0) {
        assert(p->ring[ring].every <= depth);
        add_returns(m, ring, depth, &p->reader[k]);
      }
    }
  }
}

/* Sorts arcs by one of their ends. */
static fs_status index_arcs(fs_arena *arena, const fs_modulo_body *b, bool by_to, uint32_t **first,
                            uint32_t **list) {
  FS_TRY(fs_new_zero(arena, first, (size_t)b->n + 2));
  FS_TRY(fs_new(arena, list, b->n_arcs));
  for (uint32_t k = 0; k < b->n_arcs; k++) {
    (*first)[(by_to ? b->arc[k].to : b->arc[k].from) + 2]++;
  }
  for (uint32_t i = 0; i < b->n; i++) {
    (*first)[i + 2] += (*first)[i + 1];
  }
  for (uint32_t k = 0; k < b->n_arcs; k++) {
    (*list)[(*first)[(by_to ? b->arc[k].to : b->arc[k].from) + 1]++] = k;
  }
  return FSCHED_OK;
}

static fs_status make_arcs(body_maker *m) {
  const fs_modulo_problem *p = m->p;
  fs_modulo_body *b = m->b;
  size_t room = (size_t)p->n_edges + p->n_ties + 2 * (size_t)p->n_rings +
                (p->n_rings == 0 ? 0 : 2 * (size_t)p->reader0[p->n_rings]);
  FS_TRY(fs_new(m->arena, &b->arc, (room + p->n) * b->copies));
  FS_TRY(fs_new(m->arena, &b->open, p->n_rings));
  for (uint32_t e = 0; e < p->n_edges; e++) {
    add_arcs(m, p->edge[e].from, p->edge[e].to, p->edge[e].distance, FS_NONE);
  }
  for (uint32_t t = 0; t < p->n_ties; t++) {
    add_tie(m, &p->tie[t]);
  }
  for (uint32_t r = 0; r < p->n_rings; r++) {
    add_ring(m, r);
  }
  add_orders(m);
  FS_TRY(index_arcs(m->arena, b, false, &b->out0, &b->out));
  return index_arcs(m->arena, b, true, &b->in0, &b->in);
}

/* --- groups and claims --- */

/* The first queue of a queue's group, by halving paths. */
static uint32_t root_of(uint32_t *parent, uint32_t q) {
  for (; parent[q] != q; q = parent[q]) {
    parent[q] = parent[parent[q]];
  }
  return q;
}

/* Gives every queue that an op may take a group, and a bit there. */
static fs_status group_queues(body_maker *m, uint32_t *bits) {
  const fs_modulo_problem *p = m->p;
  uint32_t *parent;
  FS_TRY(fs_new(&m->scratch, &parent, p->n_queues));
  for (uint32_t q = 0; q < p->n_queues; q++) {
    parent[q] = q;
  }
  for (uint32_t i = 0; i < p->n; i++) {
    bool gang = p->gang != NULL && p->gang[i];
    for (uint32_t k = p->eligible0[i] + 1; !gang && k < p->eligible0[i + 1]; k++) {
      uint32_t a = root_of(parent, p->eligible[k - 1]), b = root_of(parent, p->eligible[k]);
      parent[a > b ? a : b] = a > b ? b : a;
    }
  }
  for (uint32_t q = 0; q < p->n_queues; q++) { /* the root comes first */
    uint32_t root = root_of(parent, q);
    m->group_of[q] = root == q ? m->b->n_groups++ : m->group_of[root];
    m->bit_of[q] = bits[m->group_of[q]]++;
    m->too_large |= m->bit_of[q] >= FS_MODULO_TRACKS;
  }
  m->b->n_queue_groups = m->b->n_groups;
  return FSCHED_OK;
}

static fs_status group_lanes(body_maker *m, uint32_t *bits) {
  const fs_modulo_problem *p = m->p;
  FS_TRY(fs_new_zero(m->arena, &m->b->unit, p->n_resources));
  for (uint32_t k = 0; p->use0 != NULL && k < p->use0[p->n]; k++) {
    uint64_t *unit = &m->b->unit[p->use[k].resource];
    *unit = fs_common_divisor(*unit, p->use[k].amount);
  }
  for (uint32_t r = 0; r < p->n_resources; r++) {
    uint64_t *unit = &m->b->unit[r];
    *unit = fs_max(fs_max(*unit, 1), fs_ceil_div(p->lanes[r], FS_MODULO_TRACKS));
    bits[m->b->n_groups++] = (uint32_t)(p->lanes[r] / *unit);
  }
  return FSCHED_OK;
}

static fs_status name_tracks(body_maker *m, const uint32_t *bits) {
  fs_modulo_body *b = m->b;
  FS_TRY(fs_new(m->arena, &b->track0, (size_t)b->n_groups + 1));
  for (uint32_t g = 0; g < b->n_groups; g++) {
    b->track0[g] = b->n_tracks;
    b->n_tracks += bits[g];
  }
  b->track0[b->n_groups] = b->n_tracks;
  FS_TRY(fs_new(m->arena, &b->turn, b->n_groups));
  for (uint32_t g = 0; g < b->n_groups; g++) {
    b->turn[g] = 1;
  }
  FS_TRY(fs_new(m->arena, &b->name, b->n_tracks));
  for (uint32_t q = 0; q < m->p->n_queues; q++) {
    b->name[b->track0[m->group_of[q]] + m->bit_of[q]] = q;
  }
  for (uint32_t g = b->n_queue_groups; g < b->n_groups; g++) {
    for (uint32_t t = b->track0[g]; t < b->track0[g + 1]; t++) {
      b->name[t] = (t - b->track0[g]) * (uint32_t)m->b->unit[g - b->n_queue_groups];
    }
  }
  return FSCHED_OK;
}

static void claim_queues(body_maker *m, uint32_t op, uint32_t i) {
  const fs_modulo_problem *p = m->p;
  fs_modulo_body *b = m->b;
  uint32_t first = b->n_claims;
  bool gang = p->gang != NULL && p->gang[i];
  for (uint32_t k = p->eligible0[i]; k < p->eligible0[i + 1]; k++) {
    uint32_t q = p->eligible[k];
    if (gang || b->n_claims == first) {
      b->claim[b->n_claims++] = (fs_modulo_claim){op, m->group_of[q], 0, b->time[op]};
    }
    b->claim[b->n_claims - 1].domain |= UINT64_C(1) << m->bit_of[q];
  }
}

static void claim_lanes(body_maker *m, uint32_t op, uint32_t i) {
  const fs_modulo_problem *p = m->p;
  fs_modulo_body *b = m->b;
  for (uint32_t k = p->use0 == NULL ? 0 : p->use0[i]; p->use0 != NULL && k < p->use0[i + 1]; k++) {
    uint32_t g = b->n_queue_groups + p->use[k].resource;
    uint32_t lanes = b->track0[g + 1] - b->track0[g];
    uint64_t all = lanes == 64 ? UINT64_MAX : (UINT64_C(1) << lanes) - 1;
    uint64_t want = fs_min(fs_ceil_div(p->use[k].amount, m->b->unit[p->use[k].resource]), lanes);
    for (uint64_t c = 0; c < want; c++) { /* one that takes all has nothing to choose */
      uint64_t domain = want == lanes ? UINT64_C(1) << c : all;
      b->claim[b->n_claims++] = (fs_modulo_claim){op, g, domain, b->latency[op]};
    }
  }
}

static fs_status make_claims(body_maker *m) {
  const fs_modulo_problem *p = m->p;
  fs_modulo_body *b = m->b;
  size_t room = p->eligible0[p->n];
  if (p->use0 != NULL) {
    room += (size_t)p->use0[p->n] * FS_MODULO_TRACKS;
  }
  FS_TRY(fs_new(m->arena, &b->claim, room * b->copies));
  FS_TRY(fs_new(m->arena, &b->claim0, (size_t)b->n + 1));
  for (uint32_t op = 0; op < b->n; op++) {
    b->claim0[op] = b->n_claims;
    claim_queues(m, op, op % p->n);
    claim_lanes(m, op, op % p->n);
  }
  b->claim0[b->n] = b->n_claims;
  m->too_large |= b->n_claims > MOST_CLAIMS;
  FS_TRY(fs_new_zero(m->arena, &b->member0, (size_t)b->n_groups + 2));
  FS_TRY(fs_new(m->arena, &b->member, b->n_claims));
  for (uint32_t c = 0; c < b->n_claims; c++) {
    b->member0[b->claim[c].group + 2]++;
  }
  fs_group_sum(b->member0, b->n_groups);
  for (uint32_t c = 0; c < b->n_claims; c++) {
    b->member[b->member0[b->claim[c].group + 1]++] = c;
  }
  return FSCHED_OK;
}

/* Whether each op may take both tracks, or neither. */
static bool same_claims(const fs_modulo_body *b, uint32_t g, uint32_t bit, uint32_t other) {
  for (uint32_t k = b->member0[g]; k < b->member0[g + 1];) {
    uint32_t op = b->claim[b->member[k]].op;
    uint64_t domain = 0;
    for (; k < b->member0[g + 1] && b->claim[b->member[k]].op == op; k++) {
      domain |= b->claim[b->member[k]].domain;
    }
    if ((domain >> bit & 1) != (domain >> other & 1)) {
      return false;
    }
  }
  return true;
}

/* What is held of a track by claims that have no other. */
static int64_t sure_load(const fs_modulo_body *b, uint32_t g, uint32_t bit) {
  int64_t load = 0;
  for (uint32_t k = b->member0[g]; k < b->member0[g + 1]; k++) {
    const fs_modulo_claim *c = &b->claim[b->member[k]];
    load += c->domain == UINT64_C(1) << bit ? c->hold : 0;
  }
  return load;
}

static fs_status find_alike_tracks(body_maker *m) {
  fs_modulo_body *b = m->b;
  FS_TRY(fs_new(m->arena, &b->alike, b->n_tracks));
  FS_TRY(fs_new(m->arena, &b->sure, b->n_tracks));
  for (uint32_t g = 0; g < b->n_groups; g++) {
    for (uint32_t t = b->track0[g]; t < b->track0[g + 1]; t++) {
      uint32_t first = b->track0[g];
      while (!same_claims(b, g, t - b->track0[g], first - b->track0[g])) {
        first++;
      }
      b->alike[t] = first;
      b->sure[t] = sure_load(b, g, t - b->track0[g]);
    }
  }
  return FSCHED_OK;
}

static fs_status make_tracks(body_maker *m) {
  const fs_modulo_problem *p = m->p;
  uint32_t *bits;
  FS_TRY(fs_new(&m->scratch, &m->group_of, p->n_queues));
  FS_TRY(fs_new(&m->scratch, &m->bit_of, p->n_queues));
  FS_TRY(fs_new_zero(&m->scratch, &bits, (size_t)p->n_queues + p->n_resources));
  FS_TRY(group_queues(m, bits));
  FS_TRY(group_lanes(m, bits));
  if (m->too_large) {
    return FSCHED_OK;
  }
  FS_TRY(name_tracks(m, bits));
  FS_TRY(make_claims(m));
  return find_alike_tracks(m);
}

/* --- the whole --- */

static fs_status copy_times(body_maker *m) {
  const fs_modulo_problem *p = m->p;
  fs_modulo_body *b = m->b;
  FS_TRY(fs_new(m->arena, &b->time, b->n));
  FS_TRY(fs_new(m->arena, &b->latency, b->n));
  uint64_t total = 0;
  for (uint32_t i = 0; i < b->n; i++) {
    fs_tick time = p->time[i % p->n], latency = p->latency[i % p->n];
    assert(time > 0 && latency >= time);
    total = fs_add_most(total, latency);
    b->time[i] = (int64_t)time;
    b->latency[i] = (int64_t)latency;
  }
  for (uint32_t t = 0; t < p->n_ties; t++) {
    int64_t delay = p->tie[t].delay;
    total = fs_add_most(total, (uint64_t)(delay < 0 ? -delay : delay));
  }
  m->too_large |= total >> NUMBERS != 0;
  b->total = (int64_t)fs_min(total, (uint64_t)1 << NUMBERS);
  return FSCHED_OK;
}

static fs_status make_body(body_maker *m) {
  FS_TRY(copy_times(m));
  FS_TRY(make_tracks(m));
  if (m->too_large) {
    return FSCHED_OK;
  }
  FS_TRY(make_arcs(m));
  uint64_t most = fs_multiply_most((uint64_t)m->b->total, (uint64_t)m->b->distances + m->b->n);
  m->too_large |= most >> NUMBERS != 0;
  return FSCHED_OK;
}

static fs_status make_copies(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                             uint32_t copies, const uint32_t *depth, bool in_order,
                             fs_modulo_body *out, fs_decision *decided) {
  *out = (fs_modulo_body){.p = p, .n = p->n * copies, .copies = copies};
  out->held_back = holds_back(p);
  out->in_order = in_order;
  body_maker m = {.arena = arena, .p = p, .depth = depth, .b = out};
  fs_arena_init(&m.scratch, ctx);
  fs_status status = make_body(&m);
  fs_arena_release(&m.scratch);
  *decided = m.too_large ? fs_not_decided() : fs_decided_by(true);
  return status;
}

fs_status fs_modulo_body_make(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                              uint32_t copies, const uint32_t *depth, fs_modulo_body *out,
                              fs_decision *decided) {
  bool in_order = copies > 1 && fs_modulo_in_order(p);
  assert(copies >= 1 && copies <= FS_MODULO_COPIES);
  assert(copies == 1 || depth != NULL || p->n_rings == 0 || in_order);
  return make_copies(ctx, arena, p, copies, depth, in_order, out, decided);
}

fs_status fs_modulo_body_make_free(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                                   uint32_t copies, const uint32_t *depth, fs_modulo_body *out,
                                   fs_decision *decided) {
  assert(copies >= 1 && copies <= FS_MODULO_COPIES && depth != NULL);
  return make_copies(ctx, arena, p, copies, depth, false, out, decided);
}
