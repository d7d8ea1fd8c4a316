/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of a point; where it has none, which of its residencies have none together, and when
 * that holds. */
#include "placement/placement.h"
#include "search/spill/private.h"

/* Nodes of the search for addresses, fewer with more residencies than some, as a node takes longer,
 * and conflicts of a learner behind it; and of each question whether one can be left out. */
enum {
  PLACE_NODES = 200,
  PLACE_FEW = 24,
  PLACE_CONFLICTS = 10000,
  SHRINK_NODES = 50,
  SHRINK_CONFLICTS = 1000
};

/* The residencies of a memory that are of use. */
typedef struct rectangles {
  fs_spills *s;
  const fs_spill_turn *turn;
  const fs_spill_fixed *f;
  fs_arena *arena;
  uint32_t n;
  uint32_t *residency;
  uint64_t *address;
  fs_tick *begin, *end;
  uint8_t *out;   /* it is left out */
  uint32_t *rank; /* among those that are in */
  /* The question: those that are in, and pairs of them that share their places. */
  uint64_t *in_size;
  fs_tick *in_begin, *in_end;
  uint32_t *pair_a, *pair_b;
  fs_tick *pair_from, *pair_to;
  uint64_t capacity;
  fs_tick *moment;
  uint32_t n_moments;
  FS_VEC(fs_literal) why;
  fs_ids node; /* the ends of the stays, or ops, that `why` is of */
} rectangles;

static void list_rectangles(rectangles *r, uint32_t memory) {
  const fs_problem *p = r->f->problem;
  const fs_tick *start = r->f->answer.start;
  r->n = 0;
  for (uint32_t k = 0; k < p->n_residencies; k++) {
    if (p->res_memory[k] != memory || p->res_size[k] == 0) {
      continue;
    }
    uint32_t i = r->n++;
    r->residency[i] = k;
    r->begin[i] = p->res_begin0[k] == p->res_begin0[k + 1] ? 0 : FS_TICK_NONE;
    r->end[i] = p->res_to_end[k] ? r->f->answer.makespan : 0;
    for (uint32_t e = p->res_begin0[k]; e < p->res_begin0[k + 1]; e++) {
      r->begin[i] = fs_min(r->begin[i], start[p->res_begin[e]]);
    }
    for (uint32_t e = p->res_end0[k]; e < p->res_end0[k + 1]; e++) {
      r->end[i] = fs_max(r->end[i], start[p->res_end[e]] + p->time[p->res_end[e]]);
    }
    r->out[i] = 0;
  }
}

static fs_status allocate(rectangles *r) {
  uint32_t n = r->f->problem->n_residencies, pairs = r->f->problem->n_coincide;
  FS_TRY(fs_new(r->arena, &r->residency, n));
  FS_TRY(fs_new(r->arena, &r->address, n));
  FS_TRY(fs_new(r->arena, &r->begin, n));
  FS_TRY(fs_new(r->arena, &r->end, n));
  FS_TRY(fs_new(r->arena, &r->out, n));
  FS_TRY(fs_new(r->arena, &r->rank, n));
  FS_TRY(fs_new(r->arena, &r->moment, (size_t)n + 1));
  FS_TRY(fs_new(r->arena, &r->pair_a, pairs));
  FS_TRY(fs_new(r->arena, &r->pair_b, pairs));
  FS_TRY(fs_new(r->arena, &r->pair_from, pairs));
  FS_TRY(fs_new(r->arena, &r->pair_to, pairs));
  FS_TRY(fs_new(r->arena, &r->in_begin, n));
  FS_TRY(fs_new(r->arena, &r->in_end, n));
  return fs_new(r->arena, &r->in_size, n);
}

static uint32_t index_of(const rectangles *r, uint32_t residency) {
  uint32_t i = 0;
  while (i < r->n && r->residency[i] != residency) {
    i++;
  }
  return i < r->n && !r->out[i] ? i : FS_NONE;
}

/* May the output lie where the input does, as that ends with the op? */
static bool shares(const rectangles *r, uint32_t pair, uint32_t in, uint32_t out) {
  const fs_problem *p = r->f->problem;
  uint32_t op = p->coincide_op[pair];
  fs_tick start = r->f->answer.start[op];
  return r->begin[out] >= start && r->end[in] <= start + p->time[op];
}

/* Are there addresses for those that are in? */
static fs_status ask_places(rectangles *r, uint64_t nodes, uint64_t conflicts,
                            fs_decision *exists) {
  const fs_problem *p = r->f->problem;
  fs_placement q = {.size = r->in_size,
                    .begin = r->in_begin,
                    .end = r->in_end,
                    .pair_a = r->pair_a,
                    .pair_b = r->pair_b,
                    .pair_from = r->pair_from,
                    .pair_to = r->pair_to,
                    .capacity = r->capacity,
                    .nodes = nodes,
                    .quick = true,
                    .stop = r->turn->stop,
                    .user = r->turn->user};
  uint64_t peak;
  bool least;
  for (uint32_t i = 0; i < r->n; i++) {
    if (!r->out[i]) {
      r->rank[i] = q.n;
      r->in_size[q.n] = p->res_size[r->residency[i]];
      r->in_begin[q.n] = r->begin[i];
      r->in_end[q.n++] = r->end[i];
    }
  }
  for (uint32_t k = 0; k < p->n_coincide; k++) {
    uint32_t in = index_of(r, p->coincide_in[k]), out = index_of(r, p->coincide_out[k]);
    if (in != FS_NONE && out != FS_NONE && shares(r, k, in, out)) {
      uint32_t op = p->coincide_op[k];
      r->pair_a[q.n_pairs] = r->rank[in];
      r->pair_b[q.n_pairs] = r->rank[out];
      r->pair_from[q.n_pairs] = r->f->answer.start[op];
      r->pair_to[q.n_pairs++] = r->f->answer.start[op] + p->time[op];
    }
  }
  FS_TRY(fs_placement_run(p->ctx, &q, false, r->address, &peak, exists, &least));
  return exists->is != FS_NOT_DECIDED
             ? FSCHED_OK
             : fs_spills_decide(p->ctx, &q, &conflicts, &r->s->l.work, r->address, exists);
}

/* Leaves out what can be left out. */
static fs_status shrink(rectangles *r) {
  for (uint32_t i = 0; i < r->n; i++) {
    fs_decision exists;
    r->out[i] = 1;
    FS_TRY(ask_places(r, SHRINK_NODES, SHRINK_CONFLICTS, &exists));
    r->out[i] = exists.is == FS_NO;
  }
  return FSCHED_OK;
}

/* ---- when that holds */

static bool is_in(const rectangles *r, uint32_t i, fs_tick t) {
  return !r->out[i] && r->begin[i] <= t && t < r->end[i];
}

/* A moment in the middle of each largest set that is there at once: behind the last begin before
 * the next end. */
static void find_moments(rectangles *r) {
  r->n_moments = 0;
  for (uint32_t i = 0; i < r->n; i++) {
    fs_tick begin = r->begin[i], end = FS_TICK_NONE;
    for (uint32_t j = 0; j < r->n && !r->out[i]; j++) {
      end = is_in(r, j, begin) ? fs_min(end, r->end[j]) : end;
    }
    bool largest = !r->out[i];
    for (uint32_t j = 0; j < r->n && largest; j++) {
      largest = r->out[j] || r->begin[j] <= begin || r->begin[j] >= end;
    }
    if (largest) {
      r->moment[r->n_moments++] = begin + (end - 1 - begin) / 2;
    }
  }
}

static fs_status add(rectangles *r, uint32_t side, fs_side_value value) {
  fs_literal l = {side, value};
  assert(fs_holds(&r->s->l, l));
  return fs_vec_push(r->s->p->ctx, &r->why, l);
}

static fs_side_value units(const rectangles *r, fs_tick t) {
  return (fs_side_value)(t / r->s->l.unit);
}

/* The stay is there, has begun by a moment, and ends behind another one. */
static fs_status add_stay(rectangles *r, uint32_t stay, fs_tick first, fs_tick last) {
  const fs_learner *l = &r->s->l;
  const fs_stay *s = &r->s->p->spilling->stay[stay];
  if (s->only_if != FS_NONE) {
    FS_TRY(add(r, 2 * fs_bool_variable(l, s->only_if), 1));
  }
  FS_TRY(s->begin == FS_NONE ? FSCHED_OK : add(r, 2 * s->begin + 1, -units(r, first)));
  FS_TRY(fs_vec_push(r->s->p->ctx, &r->node, fs_end_variable(l, stay)));
  return add(r, 2 * fs_end_variable(l, stay), units(r, last) + 1);
}

/* A stay, or several that were joined: these are there, and overlap as they do now, which no
 * schedule has. */
static fs_status add_joined(rectangles *r, uint32_t stay, fs_tick first, fs_tick last) {
  const fs_spills *s = r->s;
  const fs_spilling *w = s->p->spilling;
  uint32_t parts = 0;
  for (uint32_t k = 0; k < w->n_stays; k++) {
    parts += r->f->joined[k] == stay;
  }
  if (parts == 1) {
    return add_stay(r, stay, first, last);
  }
  for (uint32_t k = 0; k < w->n_stays; k++) { /* as they are */
    if (r->f->joined[k] == stay) {
      FS_TRY(add_stay(r, k, s->start[w->stay[k].begin], /* of a memory that spills */
                      ((fs_tick)fs_earliest(&s->l, fs_end_variable(&s->l, k)) - 1) * s->l.unit));
    }
  }
  return FSCHED_OK;
}

static fs_status add_rectangle(rectangles *r, uint32_t i) {
  const fs_learner *l = &r->s->l;
  const fs_problem *p = r->f->problem;
  fs_tick first = FS_TICK_NONE, last = 0;
  for (uint32_t k = 0; k < r->n_moments; k++) {
    if (is_in(r, i, r->moment[k])) {
      first = fs_min(first, r->moment[k]);
      last = fs_max(last, r->moment[k]);
    }
  }
  uint32_t residency = r->residency[i], stay = r->f->stay[residency], op = p->res_op[residency];
  if (stay != FS_NONE) {
    return add_joined(r, stay, first, last);
  }
  assert(op != FS_NONE);
  FS_TRY(fs_vec_push(r->s->p->ctx, &r->node, op));
  FS_TRY(add(r, 2 * op + 1, -units(r, first)));
  return add(r, 2 * op, units(r, last) + 1 - l->time[op]);
}

/* A pair that may not share its place, as the input stays longer. */
static fs_status add_pairs(rectangles *r) {
  const fs_problem *p = r->f->problem;
  const fs_learner *l = &r->s->l;
  for (uint32_t k = 0; k < p->n_coincide; k++) {
    uint32_t in = index_of(r, p->coincide_in[k]), out = index_of(r, p->coincide_out[k]);
    if (in == FS_NONE || out == FS_NONE || shares(r, k, in, out)) {
      continue;
    }
    uint32_t op = p->coincide_op[k], last = r->f->stay[r->residency[in]];
    for (uint32_t j = 0; j < r->s->p->spilling->n_stays; j++) { /* that which lasts longest */
      bool part = r->f->joined[j] == r->f->stay[r->residency[in]];
      last =
          part && fs_earliest(l, fs_end_variable(l, j)) > fs_earliest(l, fs_end_variable(l, last))
              ? j
              : last;
    }
    fs_side_value start = fs_earliest(l, op);
    FS_TRY(add(r, 2 * op + 1, -start));
    FS_TRY(add(r, 2 * fs_end_variable(l, last), start + l->time[op] + 1));
  }
  return FSCHED_OK;
}

/* `none`: it is proven that they have no addresses. */
static fs_status explain(rectangles *r, uint32_t memory, bool none) {
  r->why.n = r->node.n = 0;
  find_moments(r);
  for (uint32_t i = 0; i < r->n; i++) {
    if (!r->out[i]) {
      FS_TRY(add_rectangle(r, i));
    }
  }
  FS_TRY(add_pairs(r));
  if (none) {
    fs_log_unplaced(&r->s->l, memory, r->node.at, r->node.n);
  } else {
    fs_log_unknown(&r->s->l);
  }
  fs_learner_refuse(&r->s->l, r->why.at, r->why.n);
  return FSCHED_OK;
}

static uint64_t nodes_of(const rectangles *r) {
  uint64_t n = fs_max(r->n, PLACE_FEW), few = (uint64_t)PLACE_FEW * PLACE_FEW * PLACE_FEW;
  return fs_max(1, PLACE_NODES * few / (n * n * n));
}

static void take_addresses(const rectangles *r, uint64_t *address) {
  for (uint32_t i = 0; i < r->n; i++) {
    address[r->residency[i]] = r->address[i];
  }
}

static fs_status place_memories(rectangles *r, uint64_t *address, bool *found) {
  const fs_target *t = &r->s->p->graph->target;
  FS_TRY(allocate(r));
  for (uint32_t m = 0; m < t->n_memories && *found; m++) {
    const fs_memory *of = &t->memory[m];
    fs_decision exists;
    if (!fs_memory_bounded(of) || !fs_placement_has_addresses(of->placement)) {
      continue;
    }
    list_rectangles(r, m);
    r->capacity = of->capacity & ~(of->align - 1);
    FS_TRY(ask_places(r, nodes_of(r), PLACE_CONFLICTS, &exists));
    *found = exists.is == FS_YES;
    if (*found) {
      take_addresses(r, address);
      continue;
    }
    FS_TRY(exists.is == FS_NO ? shrink(r) : FSCHED_OK);
    r->s->exact = r->s->exact && exists.is == FS_NO;
    FS_TRY(explain(r, m, exists.is == FS_NO));
  }
  return FSCHED_OK;
}

fs_status fs_spills_place(fs_spills *s, const fs_spill_turn *turn, fs_spill_fixed *fixed,
                          bool *found) {
  FS_SCRATCH(arena, s->p->ctx);
  rectangles r = {.s = s, .turn = turn, .f = fixed, .arena = &arena};
  *found = true;
  FS_TRY(
      fs_new_zero(&fixed->problem->arena, &fixed->answer.address, fixed->problem->n_residencies));
  fs_status status = place_memories(&r, fixed->answer.address, found);
  fs_vec_free(s->p->ctx, &r.why);
  fs_vec_free(s->p->ctx, &r.node);
  return status;
}

fs_status fs_spills_give_up(fs_spills *s) {
  fs_learner *l = &s->l;
  FS_VEC(fs_literal) why = {0};
  fs_status status = FSCHED_OK;
  s->exact = false;
  for (uint32_t v = 0; v < fs_first_order(l) && status == FSCHED_OK; v++) {
    bool end = v >= l->n && v < fs_first_bool(l);
    for (uint32_t side = 2 * v; side < 2 * v + 2 - end && status == FSCHED_OK; side++) {
      fs_literal held = {side, l->value[side]};
      status = fs_is_true(l, l->owner[v]) ? fs_vec_push(s->p->ctx, &why, held) : FSCHED_OK;
    }
  }
  if (status == FSCHED_OK) {
    fs_log_unknown(l);
    fs_learner_refuse(l, why.at, why.n);
  }
  fs_vec_free(s->p->ctx, &why);
  return status;
}
