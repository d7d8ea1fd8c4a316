/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/exhaust.h"

#include <check.h>

enum { MAX_PLACES = 2 * FS_EXHAUST_OPS + 8 };

/* A residency, of a version or of the scratch of an op. */
typedef struct exhaust_place {
  uint32_t version, op; /* one of them FS_NONE */
  uint32_t memory;
  uint64_t size, address;
  fs_tick begin, end;
  bool there;     /* something that touches it has been started */
  uint32_t touch; /* ops that touch it, a bit for each */
} exhaust_place;

typedef struct exhaust_search {
  const fsched_graph *g;
  fs_tick limit;
  uint64_t steps;
  bool started[FS_EXHAUST_OPS];
  fs_tick start[FS_EXHAUST_OPS];
  uint64_t queues[FS_EXHAUST_OPS]; /* a bit for each; none: implicit */
  fs_tick tail[FS_EXHAUST_OPS];    /* longest path after its end */
  uint32_t after[FS_EXHAUST_OPS];  /* it and what comes after it, a bit for each */
  exhaust_place at[MAX_PLACES];
  uint32_t n_places;
} exhaust_search;

/* How long it is until the op is complete. */
static fs_tick whole_of(const fsched_graph *g, uint32_t op) {
  return g->op_latency == NULL ? g->op_time[op] : fs_max(g->op_latency[op], g->op_time[op]);
}

static fs_tick end_of(const exhaust_search *s, uint32_t op) {
  return s->start[op] + whole_of(s->g, op);
}

/* Do [a, a_end) and [b, b_end) share time, an instant strictly inside counted? */
static bool share(fs_tick a, fs_tick a_end, fs_tick b, fs_tick b_end) {
  return a < b_end && b < a_end;
}

/* Is [b, b_end) in progress when something begins at `now`? With `instant`, which says that it also
 * ends there, a begin of b at `now` does not count. */
static bool there(fs_tick b, fs_tick b_end, fs_tick now, bool instant) {
  return instant ? b < now && now < b_end : b <= now && now < b_end;
}

/* --- what ops hold --- */

static bool one_queue(const exhaust_search *s, uint32_t a, uint32_t b) {
  return (s->queues[a] & s->queues[b]) != 0;
}

static bool queues_hold(const exhaust_search *s, uint32_t op) {
  for (uint32_t other = 0; other < s->g->n_ops; other++) {
    if (other != op && s->started[other] && one_queue(s, op, other) &&
        share(s->start[op], s->start[op] + s->g->op_time[op], s->start[other],
              s->start[other] + s->g->op_time[other])) {
      return false;
    }
  }
  return true;
}

/* Is the op a wait behind its predecessors on other queues, all of which are started? */
static bool wait_holds(const exhaust_search *s, uint32_t op) {
  const fsched_graph *g = s->g;
  for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
    uint32_t before = g->pred[e];
    if (s->start[op] < end_of(s, before) + g->target.wait && !one_queue(s, op, before)) {
      return false;
    }
  }
  return true;
}

static uint64_t use_of(const fsched_graph *g, uint32_t op, uint32_t resource) {
  for (uint32_t k = g->op_use0[op]; k < g->op_use0[op + 1]; k++) {
    if (g->use_resource[k] == resource) {
      return g->use_amount[k];
    }
  }
  return 0;
}

/* Whether amounts hold at the start of every op; resource n_resources is the concurrency. */
static bool amounts_hold(const exhaust_search *s) {
  const fsched_graph *g = s->g;
  for (uint32_t r = 0; r <= g->target.n_resources; r++) {
    bool lanes = r == g->target.n_resources;
    uint64_t capacity = lanes ? g->target.concurrency : g->target.resource_capacity[r];
    for (uint32_t op = 0; op < g->n_ops && !(lanes && capacity == 0); op++) {
      uint64_t sum = lanes ? 1 : use_of(g, op, r);
      for (uint32_t other = 0; other < g->n_ops && s->started[op]; other++) {
        if (other != op && s->started[other] &&
            there(s->start[other], end_of(s, other), s->start[op], whole_of(g, op) == 0)) {
          sum += lanes ? 1 : use_of(g, other, r);
        }
      }
      if (s->started[op] && sum > capacity) {
        return false;
      }
    }
  }
  return true;
}

/* --- what lies in memories --- */

/* Whether a and b collide even where a ends just when b begins, also where one has no length: some
 * op touches a, and is or comes after an op that touches b. */
static bool entangled(const exhaust_search *s, const exhaust_place *a, const exhaust_place *b) {
  for (uint32_t op = 0; op < s->g->n_ops; op++) {
    if ((b->touch >> op & 1) != 0 && (s->after[op] & a->touch) != 0) {
      return true;
    }
  }
  return false;
}

static void find_touches(exhaust_search *s) {
  const fsched_graph *g = s->g;
  for (uint32_t i = 0; i < s->n_places; i++) {
    exhaust_place *p = &s->at[i];
    p->touch = p->op == FS_NONE ? 0 : 1u << p->op;
    for (uint32_t op = 0; op < g->n_ops && p->version != FS_NONE; op++) {
      for (uint32_t k = g->op_arg0[op]; k < g->op_arg0[op + 1]; k++) {
        p->touch |= g->arg_version[k] == p->version ? 1u << op : 0;
      }
    }
  }
}

static void gather_places(exhaust_search *s) {
  const fsched_graph *g = s->g;
  for (uint32_t v = 0; v < g->n_versions; v++) {
    const fs_memory *m = &g->target.memory[fs_version_memory(g, v)];
    if (fs_memory_bounded(m)) {
      ck_assert_uint_lt(s->n_places, MAX_PLACES);
      ck_assert_uint_eq(m->backing, FS_NONE);
      s->at[s->n_places++] = (exhaust_place){.version = v,
                                             .op = FS_NONE,
                                             .memory = fs_version_memory(g, v),
                                             .size = fs_align_up(fs_version_size(g, v), m->align)};
    }
  }
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t k = g->op_scratch0[op]; k < g->op_scratch0[op + 1]; k++) {
      const fs_memory *m = &g->target.memory[g->scratch_memory[k]];
      if (fs_memory_bounded(m)) {
        ck_assert_uint_lt(s->n_places, MAX_PLACES);
        s->at[s->n_places++] = (exhaust_place){.version = FS_NONE,
                                               .op = op,
                                               .memory = g->scratch_memory[k],
                                               .size = fs_align_up(g->scratch_size[k], m->align)};
      }
    }
  }
}

/* Finds lifetimes from the ops that are started; later ops only make them longer. */
static void take_lifetimes(exhaust_search *s) {
  const fsched_graph *g = s->g;
  fs_tick makespan = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    makespan = s->started[op] ? fs_max(makespan, end_of(s, op)) : makespan;
  }
  for (uint32_t i = 0; i < s->n_places; i++) {
    exhaust_place *p = &s->at[i];
    if (p->version == FS_NONE) {
      p->there = s->started[p->op];
      p->begin = s->start[p->op];
      p->end = end_of(s, p->op);
      continue;
    }
    bool given = fs_version_given(g, p->version);
    p->end = 0;
    p->begin = given ? 0 : FS_TICK_NONE;
    p->there = given;
    for (uint32_t k = g->version_access0[p->version]; k < g->version_access0[p->version + 1]; k++) {
      uint32_t op = g->access_op[k];
      if (s->started[op]) {
        p->there = true;
        bool writes = fs_tag_writes(g->arg_tag[g->access_arg[k]]);
        p->begin = writes ? fs_min(p->begin, s->start[op]) : p->begin;
        p->end = fs_max(p->end, end_of(s, op));
      }
    }
    p->there = p->there && p->begin != FS_TICK_NONE;
    p->end = fs_version_kept(g, p->version) ? fs_max(p->end, makespan) : p->end;
  }
}

/* Whether sums over time hold.  For counted memories this is all there is to check, for the others
 * it is a first test. */
static bool sums_hold(const exhaust_search *s) {
  const fsched_graph *g = s->g;
  for (uint32_t i = 0; i < s->n_places; i++) {
    const exhaust_place *p = &s->at[i];
    const fs_memory *m = &g->target.memory[p->memory];
    uint64_t sum = p->size;
    if (!p->there || p->size == 0 ||
        (m->placement != FSCHED_COUNTED && g->inplace_out != NULL &&
         g->op_inplace0[g->n_ops] > 0)) {
      continue;
    }
    for (uint32_t k = 0; k < s->n_places; k++) {
      const exhaust_place *q = &s->at[k];
      bool instant = p->begin == p->end;
      bool beside = there(q->begin, q->end, p->begin, instant) ||
                    (q->end == p->begin && q->begin < p->begin && entangled(s, q, p));
      sum += k != i && q->there && q->memory == p->memory && beside ? q->size : 0;
    }
    if (sum > m->capacity) {
      return false;
    }
  }
  return true;
}

/* May `out` lie just where `in` does? */
static bool in_place(const exhaust_search *s, const exhaust_place *in, const exhaust_place *out) {
  const fsched_graph *g = s->g;
  if (in->version == FS_NONE || out->version == FS_NONE || in->size != out->size ||
      in->address != out->address) {
    return false;
  }
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t k = g->op_inplace0[op]; k < g->op_inplace0[op + 1]; k++) {
      if (g->arg_version[g->inplace_out[k]] == out->version &&
          g->arg_version[g->inplace_in[k]] == in->version) {
        return out->begin >= s->start[op] && in->end <= end_of(s, op);
      }
    }
  }
  return false;
}

static bool place_holds(const exhaust_search *s, uint32_t i) {
  const exhaust_place *p = &s->at[i];
  for (uint32_t k = 0; k < i; k++) {
    const exhaust_place *q = &s->at[k];
    bool beside = p->memory != q->memory || q->size == 0 || p->address >= q->address + q->size ||
                  q->address >= p->address + p->size;
    bool apart =
        (p->end <= q->begin && !entangled(s, p, q)) || (q->end <= p->begin && !entangled(s, q, p));
    if (!beside && !apart && !in_place(s, p, q) && !in_place(s, q, p)) {
      return false;
    }
  }
  return true;
}

/* Finds addresses for places i, i + 1, ... */
static bool find_addresses(exhaust_search *s, uint32_t i) {
  if (i == s->n_places) {
    return true;
  }
  exhaust_place *p = &s->at[i];
  const fs_memory *m = &s->g->target.memory[p->memory];
  p->address = 0;
  if (m->placement == FSCHED_COUNTED || p->size == 0) {
    return find_addresses(s, i + 1);
  }
  for (; p->address + p->size <= m->capacity; p->address += m->align) {
    if (s->steps == 0) {
      return false;
    }
    s->steps--;
    if (place_holds(s, i) && find_addresses(s, i + 1)) {
      return true;
    }
  }
  return false;
}

/* --- the search --- */

static bool try_all(exhaust_search *s, uint32_t k);

static bool start_here(exhaust_search *s, uint32_t k, uint32_t op, uint64_t queues) {
  s->queues[op] = queues;
  s->started[op] = true;
  bool good = queues_hold(s, op) && wait_holds(s, op) && amounts_hold(s);
  if (good) {
    take_lifetimes(s);
    good = sums_hold(s) && try_all(s, k + 1);
  }
  s->started[op] = good;
  return good;
}

/* Tries all sets of `left` queues of the gang from its queue number `from` on, beside `queues`. */
static bool try_gang(exhaust_search *s, uint32_t k, uint32_t op, uint32_t from, uint32_t left,
                     uint64_t queues) {
  const fsched_graph *g = s->g;
  uint32_t gang = g->op_gang[op];
  if (left == 0) {
    return start_here(s, k, op, queues);
  }
  for (uint32_t i = from; i < g->gang_queue0[gang + 1]; i++) {
    if (try_gang(s, k, op, i + 1, left - 1, queues | UINT64_C(1) << g->gang_queue[i])) {
      return true;
    }
  }
  return false;
}

static bool try_queues(exhaust_search *s, uint32_t k, uint32_t op) {
  const fsched_graph *g = s->g;
  if (g->target.implicit_queues) {
    return start_here(s, k, op, 0);
  }
  ck_assert_uint_le(g->target.n_queues, 64);
  uint32_t gang = g->op_gang[op];
  if (gang != FS_NONE) {
    return try_gang(s, k, op, g->gang_queue0[gang], g->gang_members[gang], 0);
  }
  uint32_t d = g->op_domain[op];
  for (uint32_t i = g->target.domain_queue0[d]; i < g->target.domain_queue0[d + 1]; i++) {
    if (start_here(s, k, op, UINT64_C(1) << g->target.domain_queue[i])) {
      return true;
    }
  }
  return false;
}

/* Starts op number k of the topological order, and then those after it. */
static bool try_all(exhaust_search *s, uint32_t k) {
  const fsched_graph *g = s->g;
  if (k == g->n_ops) {
    take_lifetimes(s);
    return find_addresses(s, 0);
  }
  uint32_t op = g->topo[k];
  fs_tick ready = 0;
  for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
    ready = fs_max(ready, end_of(s, g->pred[e]));
  }
  fs_tick given = g->op_start == NULL ? FS_TICK_NONE : g->op_start[op];
  for (fs_tick at = ready; at + whole_of(g, op) + s->tail[op] <= s->limit; at++) {
    if (given != FS_TICK_NONE && at != given) {
      continue;
    }
    if (s->steps == 0) {
      return false;
    }
    s->steps--;
    s->start[op] = at;
    if (try_queues(s, k, op)) {
      return true;
    }
  }
  return false;
}

static void find_tails(exhaust_search *s) {
  const fsched_graph *g = s->g;
  for (uint32_t k = g->n_ops; k-- > 0;) {
    uint32_t op = g->topo[k];
    s->after[op] = 1u << op;
    for (uint32_t e = g->succ0[op]; e < g->succ0[op + 1]; e++) {
      s->tail[op] = fs_max(s->tail[op], s->tail[g->succ[e]] + whole_of(g, g->succ[e]));
      s->after[op] |= s->after[g->succ[e]];
    }
  }
}

fs_exhaust fs_exhaust_search(const fsched_graph *g, fs_tick least, fs_tick most, uint64_t steps) {
  ck_assert_uint_le(g->n_ops, FS_EXHAUST_OPS);
  exhaust_search s = {.g = g, .steps = steps};
  fs_exhaust result = {.known = true};
  gather_places(&s);
  find_touches(&s);
  find_tails(&s);
  for (fs_tick limit = least; limit <= most && result.known && !result.found; limit++) {
    s.limit = limit;
    memset(s.started, 0, sizeof s.started);
    result.found = try_all(&s, 0);
    result.known = result.found || s.steps > 0;
    result.best = limit;
  }
  memcpy(result.start, s.start, sizeof result.start);
  return result;
}
