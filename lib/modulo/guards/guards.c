/* SPDX-License-Identifier: Apache-2.0 */
/* A guard of depth B, with a producer a and a check of x at distance d, keeps its phases apart if
 *
 *   arrive  iteration i - B of every producer is over before iteration i of each starts, as that
 *           arrives at the same barrier;
 *   return  iteration i - B + d of x, which checks that barrier before it is used again, has
 *           started before iteration i of a;
 *   turn    iteration i - B of x has checked the barrier before iteration i does: so it is of the
 *           same command, or comes before on its queue, with the same check.
 *
 * Nothing is asked of B >= trip, where a barrier has one phase.  Distances that hold are of classes
 * modulo the copies u, and B has to suit all copies: per class the least distances give a least B,
 * and the class of 0 always has one, once there are ways back. */
#include "modulo/guards/guards.h"

#include <stdlib.h>

#include "base/context.h"
#include "base/saturate.h"
#include "modulo/past/past.h"

/* Ops whose ends a guard tells. */
typedef struct guard_draft {
  uint64_t depth;
  uint64_t slots;
} guard_draft;

typedef struct guard_maker {
  fsched_context *ctx;
  fs_arena *arena, *scratch;
  const fs_modulo_problem *p;
  const fs_modulo_plan *plan;
  const fs_guard_options *o;
  fs_rolled_loop *loop;
  fs_past_loop of;
  fs_past_known past;
  FS_VEC(fs_past_want) want; /* the waits, with those that are added */
  uint64_t *least;           /* per class: the least depth, so far; FAR: there is none */
  uint32_t n_guards;
  guard_draft *guard;
  uint32_t *guard_of; /* per op, or FS_NONE */
} guard_maker;

#define FAR UINT64_MAX

static uint32_t op_of(const guard_maker *m, uint32_t node) { return node % m->p->n; }
static uint32_t copy_of(const guard_maker *m, uint32_t node) { return node / m->p->n; }

/* The node of an op whose iterations are `distance` before those of a copy. */
static uint32_t node_before(const guard_maker *m, uint32_t op, uint32_t copy, uint64_t distance) {
  uint32_t u = m->loop->copies;
  return (uint32_t)((copy + u - distance % u) % u) * m->p->n + op;
}

/* The commands of an op that run one of its iterations. */
static uint32_t commands_of(const guard_maker *m, uint32_t op) {
  return m->of.node0[op + 1] - m->of.node0[op];
}

/* --- how many barriers --- */

static void raise_least(guard_maker *m, uint32_t class, int64_t least) {
  uint64_t to = least == FS_PAST_FAR ? FAR : least < 1 ? 1 : (uint64_t)least;
  m->least[class] = fs_max(m->least[class], to);
}

/* Ways back from those that wait for an op, and turns of the producers, to a node of the op. */
static void ask_node(guard_maker *m, const uint32_t *member, uint32_t n, uint32_t node) {
  uint32_t u = m->loop->copies, copy = copy_of(m, node);
  fs_past_find(&m->of, &m->past, node, FS_NONE);
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t class = 0; class < u; class ++) {
      raise_least(m, class, m->past.over[node_before(m, member[i], copy, class)]);
    }
  }
  for (size_t i = 0; i < m->want.n; i++) {
    const fs_past_want *w = &m->want.at[i];
    if (op_of(m, w->from) == op_of(m, node)) {
      int64_t far = m->past.started[w->to];
      uint32_t class = (uint32_t)((copy + u - copy_of(m, w->to) + (uint64_t)w->distance) % u);
      raise_least(m, class, far == FS_PAST_FAR ? far : far + w->distance);
    }
  }
}

static bool has_want(const guard_maker *m, uint32_t from, uint32_t to, int64_t distance) {
  bool found = false;
  for (uint32_t i = m->of.into0[to]; i < m->of.into0[to + 1] && !found; i++) {
    const fs_past_want *w = &m->want.at[m->of.into[i]];
    found = w->from == from && w->distance == distance;
  }
  return found;
}

/* Whether all that wait for an op have their turns in order, at a depth. */
static bool keep_turns(const guard_maker *m, uint32_t member, uint64_t depth) {
  bool kept = true;
  for (size_t i = 0; i < m->want.n && kept && depth % m->loop->copies != 0; i++) {
    const fs_past_want *w = &m->want.at[i];
    if (op_of(m, w->from) == member) {
      uint32_t to = node_before(m, op_of(m, w->to), copy_of(m, w->to), depth);
      uint32_t from = node_before(m, member, copy_of(m, w->from), depth);
      fs_past_want turn = {.from = to, .to = w->to, .distance = (int64_t)depth};
      kept = commands_of(m, op_of(m, w->to)) == 1 && has_want(m, from, to, w->distance) &&
             fs_past_by_queue(&m->of, &turn);
    }
  }
  return kept;
}

/* The least depth of a guard of some ops. */
static uint64_t find_depth(guard_maker *m, const uint32_t *member, uint32_t n) {
  uint32_t u = m->loop->copies;
  uint64_t best = FAR;
  for (uint32_t class = 0; class < u; class ++) {
    m->least[class] = 1;
  }
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t copy = 0; copy < u; copy++) {
      ask_node(m, member, n, copy * m->p->n + member[i]);
    }
  }
  for (uint32_t class = 0; class < u; class ++) {
    uint64_t depth = m->least[class];
    if (depth == FAR) {
      continue;
    }
    depth += (class + u - depth % u) % u;
    bool kept = depth < best;
    for (uint32_t i = 0; i < n && kept; i++) {
      kept = keep_turns(m, member[i], depth);
    }
    best = kept ? depth : best;
  }
  return fs_min(best, m->o->trip);
}

/* --- ways back --- */

/* How many iterations before one of `to` the last one of `from` is that the plan has over. */
static int64_t planned_distance(const guard_maker *m, uint32_t from, uint32_t to) {
  const fs_modulo_plan *plan = m->plan;
  int64_t lasts = (int64_t)m->p->latency[op_of(m, from)] * plan->scale;
  int64_t turns = fs_ceiling_div(plan->start[from] + lasts - plan->start[to], plan->period);
  int64_t apart = (int64_t)copy_of(m, to) - (int64_t)copy_of(m, from);
  int64_t least = apart < 0; /* of periods, as waits are not for what comes later */
  return (turns > least ? turns : least) * (int64_t)m->loop->copies + apart;
}

static fs_status tell_orders(guard_maker *m) {
  return fs_past_orders(m->scratch, m->want.at, (uint32_t)m->want.n, &m->of);
}

/* Has an op wait for one that waits for it, if it knows nothing of that. */
static fs_status add_return(guard_maker *m, uint32_t want) {
  const fs_past_want w = m->want.at[want];
  fs_past_find(&m->of, &m->past, w.from, FS_NONE);
  if (m->past.started[w.to] != FS_PAST_FAR) {
    return FSCHED_OK;
  }
  int64_t distance = planned_distance(m, w.to, w.from);
  if ((uint64_t)distance + (uint64_t)w.distance >= m->o->trip) {
    return FSCHED_OK; /* each iteration has a barrier of its own */
  }
  FS_TRY(fs_vec_push(m->ctx, &m->want, ((fs_past_want){w.to, w.from, distance, false})));
  return tell_orders(m);
}

static fs_status add_returns(guard_maker *m) {
  for (uint32_t i = 0; i < m->want.n; i++) { /* those that are added, too */
    FS_TRY(add_return(m, i));
  }
  return FSCHED_OK;
}

/* --- guards --- */

static uint64_t slots_of(const guard_maker *m, uint32_t op) {
  uint64_t each = m->o->demand == NULL ? 1 : m->o->demand[op];
  return fs_multiply_most(each, commands_of(m, op));
}

static fs_status make_guards(guard_maker *m, uint32_t *too_wide) {
  FS_TRY(fs_new(m->scratch, &m->guard, m->p->n));
  FS_TRY(fs_new_none(m->scratch, &m->guard_of, m->p->n));
  for (size_t i = 0; i < m->want.n; i++) {
    m->guard_of[op_of(m, m->want.at[i].from)] = 0;
  }
  for (uint32_t op = 0; op < m->p->n; op++) {
    if (m->guard_of[op] == FS_NONE) {
      continue;
    }
    m->guard_of[op] = m->n_guards;
    uint64_t depth = find_depth(m, &op, 1), slots = slots_of(m, op);
    m->guard[m->n_guards++] = (guard_draft){depth, slots};
    *too_wide = slots > m->o->slots ? op : *too_wide;
  }
  return FSCHED_OK;
}

/* Whether the same commands wait for two ops, at the same distances. */
static bool wait_alike(const guard_maker *m, uint32_t a, uint32_t b) {
  for (size_t i = 0; i < m->want.n; i++) {
    const fs_past_want *w = &m->want.at[i];
    uint32_t other = op_of(m, w->from) == a ? b : op_of(m, w->from) == b ? a : FS_NONE;
    if (other != FS_NONE &&
        !has_want(m, copy_of(m, w->from) * m->p->n + other, w->to, w->distance)) {
      return false;
    }
  }
  return true;
}

/* Lists the ops of two guards, those of the first one first. */
static uint32_t list_members(const guard_maker *m, uint32_t a, uint32_t b, uint32_t *member) {
  uint32_t n = 0;
  for (uint32_t pass = 0; pass < 2; pass++) {
    for (uint32_t op = 0; op < m->p->n; op++) {
      if (m->guard_of[op] == (pass == 0 ? a : b)) {
        member[n++] = op;
      }
    }
  }
  return n;
}

/* Gives the ops of one guard to another, if that takes fewer barriers. */
static void join_guards(guard_maker *m, uint32_t a, uint32_t b, uint32_t *member) {
  guard_draft *x = &m->guard[a], *y = &m->guard[b];
  if (x->slots == 0 || y->slots == 0 || fs_add_most(x->slots, y->slots) > m->o->slots) {
    return;
  }
  uint32_t n = list_members(m, a, b, member), first = member[0], last = member[n - 1];
  bool alone = m->o->alone != NULL && (m->o->alone[first] || m->o->alone[last]);
  if (alone || !wait_alike(m, first, last)) {
    return;
  }
  uint64_t depth = find_depth(m, member, n);
  if (depth < x->depth + y->depth) {
    x->slots += y->slots;
    x->depth = depth;
    y->slots = 0; /* it is gone */
    for (uint32_t i = 0; i < n; i++) {
      m->guard_of[member[i]] = a;
    }
  }
}

static fs_status share_guards(guard_maker *m) {
  uint32_t *member;
  FS_TRY(fs_new(m->scratch, &member, m->p->n));
  for (uint32_t a = 0; a < m->n_guards; a++) {
    for (uint32_t b = a + 1; b < m->n_guards; b++) {
      join_guards(m, a, b, member);
    }
  }
  return FSCHED_OK;
}

/* --- the result --- */

static fs_status write_guards(guard_maker *m) {
  fs_rolled_loop *out = m->loop;
  uint32_t *renamed, n = 0;
  FS_TRY(fs_new(m->arena, &out->guard, m->n_guards));
  FS_TRY(fs_new(m->arena, &out->producer, m->p->n));
  FS_TRY(fs_new(m->scratch, &renamed, m->n_guards));
  for (uint32_t g = 0; g < m->n_guards; g++) {
    if (m->guard[g].slots == 0) {
      continue;
    }
    assert(m->guard[g].depth <= UINT32_MAX);
    renamed[g] = out->n_guards;
    fs_rolled_guard *to = &out->guard[out->n_guards++];
    *to = (fs_rolled_guard){.depth = (uint32_t)m->guard[g].depth, .producer0 = n};
    for (uint32_t op = 0; op < m->p->n; op++) {
      if (m->guard_of[op] == g) {
        out->producer[n++] = op;
      }
    }
    to->n_producers = n - to->producer0;
  }
  for (uint32_t op = 0; op < m->p->n; op++) {
    m->guard_of[op] = m->guard_of[op] == FS_NONE ? FS_NONE : renamed[m->guard_of[op]];
  }
  return FSCHED_OK;
}

static int by_guard(const void *a, const void *b) {
  const fs_rolled_check *x = a, *y = b;
  return x->guard != y->guard         ? (x->guard < y->guard ? -1 : 1)
         : x->distance != y->distance ? (x->distance < y->distance ? -1 : 1)
                                      : 0;
}

/* Writes the checks of a command, of which `n` are listed from `first` on, each once. */
static void keep_checks(fs_rolled_loop *out, fs_rolled_command *k, uint32_t n) {
  fs_rolled_check *check = out->check + k->check0;
  if (n > 1) {
    qsort(check, n, sizeof *check, by_guard);
  }
  for (uint32_t i = 0; i < n; i++) {
    if (k->n_checks == 0 || by_guard(&check[k->n_checks - 1], &check[i]) != 0) {
      check[k->n_checks++] = check[i];
    }
  }
  out->n_checks = k->check0 + k->n_checks;
}

/* The first command of a node has its waits and checks. */
static fs_status write_checks(guard_maker *m) {
  fs_rolled_loop *out = m->loop;
  FS_TRY(fs_new(m->arena, &out->wait, m->want.n));
  FS_TRY(fs_new(m->arena, &out->check, m->want.n));
  out->n_waits = 0;
  for (uint32_t c = 0; c < out->n_commands; c++) {
    uint32_t node = fs_past_node(&m->of, c);
    fs_rolled_command *k = &out->command[c];
    k->wait0 = out->n_waits;
    k->check0 = out->n_checks;
    for (uint32_t i = m->of.into0[node];
         i < m->of.into0[node + 1] && fs_past_first(&m->of, node) == c; i++) {
      const fs_past_want *w = &m->want.at[m->of.into[i]];
      uint32_t distance = (uint32_t)w->distance;
      out->check[k->check0 + out->n_waits - k->wait0] =
          (fs_rolled_check){m->guard_of[op_of(m, w->from)], distance};
      out->wait[out->n_waits++] = (fs_rolled_wait){fs_past_first(&m->of, w->from), distance};
    }
    k->n_waits = out->n_waits - k->wait0;
    keep_checks(out, k, k->n_waits);
  }
  return FSCHED_OK;
}

static fs_status list_waits(guard_maker *m) {
  const fs_rolled_loop *r = m->loop;
  for (uint32_t c = 0; c < r->n_commands; c++) {
    for (uint32_t w = r->command[c].wait0; w < r->command[c].wait0 + r->command[c].n_waits; w++) {
      fs_past_want want = {fs_past_node(&m->of, r->wait[w].command), fs_past_node(&m->of, c),
                           r->wait[w].distance, false};
      FS_TRY(fs_vec_push(m->ctx, &m->want, want));
    }
  }
  return tell_orders(m);
}

static fs_status guard(guard_maker *m, uint32_t *op) {
  FS_TRY(fs_past_begin(m->scratch, m->loop, m->p->n, &m->of));
  m->of.apart = true;
  FS_TRY(fs_past_new(m->scratch, &m->of, &m->past));
  FS_TRY(fs_new(m->scratch, &m->least, m->loop->copies));
  FS_TRY(list_waits(m));
  FS_TRY(add_returns(m));
  FS_TRY(make_guards(m, op));
  if (*op != FS_NONE) {
    return FSCHED_OK;
  }
  FS_TRY(share_guards(m));
  FS_TRY(write_guards(m));
  return write_checks(m);
}

fs_status fs_modulo_guards(fsched_context *ctx, fs_arena *arena, const fs_modulo_problem *p,
                           const fs_modulo_plan *plan, const fs_guard_options *options,
                           fs_rolled_loop *loop, uint32_t *op) {
  assert(plan->found.is == FS_YES && options->trip > 0 && options->slots > 0);
  assert(loop->copies == plan->copies && !loop->issued);
  FS_SCRATCH(scratch, ctx);
  guard_maker m = {.ctx = ctx,
                   .arena = arena,
                   .scratch = &scratch,
                   .p = p,
                   .plan = plan,
                   .o = options,
                   .loop = loop};
  loop->guarded = true;
  *op = FS_NONE;
  fs_status status = guard(&m, op);
  fs_vec_free(ctx, &m.want);
  return status;
}
