/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of axioms.  Windows are of starts; with nothing empty, 0 <= lb <= ub and ub + time <=
 * horizon for all ops that are named, so that no end overflows.  Sums over ops saturate, and are
 * compared with what is less than the most.
 *
 *   sure part       [ub, lb + time)          the op runs there, wherever in its window it starts;
 *                   it takes queues for a time of its own, which may be less (fs_vset_time)
 *   moment          an op whose time is 0 takes what it takes beside those that run over its
 *                   moment: all of (ub, lb + time)
 *   turns           ops of which any two exclude each other run one by one, so that from the
 *                   earliest lb to the latest end there must be room for all their times
 *   edge finding    if OP were not the last of them, the last one would be another: all times lie
 *                   between the earliest lb of all and the latest end of the others.  If they do
 *                   not, OP is the last, and starts behind those with lb >= c, which take their
 *                   times from c on; c is the lb of one of them, so that there is one. */
#include "verify/proof/stays/stays.h"

#include <stdlib.h>

#include "base/saturate.h"

static uint64_t early(const fs_vproof *p, uint32_t op) { return (uint64_t)p->lb[op]; }
static uint64_t late(const fs_vproof *p, uint32_t op) { return (uint64_t)p->ub[op]; }

/* The op takes the set from start up to an end, which its start puts where it does. */
static uint64_t early_end(const fs_vproof *p, uint32_t set, uint32_t op) {
  return early(p, op) + fs_vset_time(p, set, op);
}
static uint64_t late_end(const fs_vproof *p, uint32_t set, uint32_t op) {
  return late(p, op) + fs_vset_time(p, set, op);
}

/* Can `a` not be over when `b` starts? */
static bool too_late(const fs_vproof *p, uint32_t a, uint32_t b) {
  return early(p, a) + p->time[a] > late(p, b);
}
/* The same of a pair: is what they exclude each other by still taken? */
static bool pair_too_late(const fs_vproof *p, const fs_vpair *pair, uint32_t a, uint32_t b) {
  return early(p, a) + (pair->whole ? p->time : p->busy)[a] > late(p, b);
}

/* ---- precedence, order, exclusion */

bool fs_vgraph_has_edge(const fsched_graph *g, uint32_t from, uint32_t to) {
  assert(from < g->n_ops && to < g->n_ops);
  uint32_t lo = g->pred0[to], hi = g->pred0[to + 1];
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (g->pred[mid] < from) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return lo < g->pred0[to + 1] && g->pred[lo] == from;
}

/* Looks through the edges of the op, or the ops that are named, whichever are fewer. */
static bool precedence_before(const fs_vproof *p, uint32_t op) {
  const fsched_graph *g = p->g;
  if (g->pred0[op + 1] - g->pred0[op] < p->op.n) {
    for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
      if (p->named[g->pred[e]] && too_late(p, g->pred[e], op)) {
        return true;
      }
    }
    return false;
  }
  for (size_t k = 0; k < p->op.n; k++) {
    uint32_t before = p->op.at[k];
    if (before < g->n_ops && too_late(p, before, op) && fs_vgraph_has_edge(g, before, op)) {
      return true;
    }
  }
  return false;
}

/* A read comes before the ops that it is for, a write behind. */
static bool precedence_of_copy(const fs_vproof *p, uint32_t item) {
  const fs_vcopy *c = fs_vproof_copy(p, item);
  for (size_t k = c->op0; k < c->op1; k++) {
    uint32_t op = p->copy_op.at[k];
    if (p->named[op] && (c->write ? too_late(p, op, item) : too_late(p, item, op))) {
      return true;
    }
  }
  return false;
}

static bool precedence(const fs_vproof *p) {
  for (size_t k = 0; k < p->op.n; k++) {
    uint32_t op = p->op.at[k];
    if (op < p->g->n_ops ? precedence_before(p, op) : precedence_of_copy(p, op)) {
      return true;
    }
  }
  return false;
}

static bool order(const fs_vproof *p) {
  for (size_t k = 0; k < p->ordered.n; k++) {
    const fs_vpair *pair = &p->pair.at[p->ordered.at[k]];
    bool forward = pair->order == FS_VFORM_FORWARD;
    assert(pair->known);
    if (pair_too_late(p, pair, forward ? pair->first : pair->second,
                      forward ? pair->second : pair->first)) {
      return true;
    }
  }
  return false;
}

static fs_status exclusion(fs_vproof *p, bool *violated) {
  if (p->op.n != 2) {
    return FSCHED_OK;
  }
  uint32_t a = p->op.at[0], b = p->op.at[1], pair;
  FS_TRY(fs_vproof_pair(p, a < b ? a : b, a < b ? b : a, &pair));
  *violated = pair != FS_NONE && pair_too_late(p, &p->pair.at[pair], a, b) &&
              pair_too_late(p, &p->pair.at[pair], b, a);
  return FSCHED_OK;
}

/* ---- what ops take of a set */

/* Is it an item that is named, and there for sure? */
static bool is_there(const fs_vproof *p, uint32_t op) {
  return op < p->n_items && p->named[op] && fs_vproof_there(p, op);
}

typedef struct sure_event {
  uint64_t time;
  uint32_t op;
  bool begins; /* ends come first */
} sure_event;

static int compare_sure(const void *a, const void *b) {
  const sure_event *x = a, *y = b;
  if (x->time != y->time) {
    return x->time < y->time ? -1 : 1;
  }
  if (x->begins != y->begins) {
    return x->begins ? 1 : -1;
  }
  return x->op < y->op ? -1 : x->op > y->op;
}

static bool too_high(const fs_vproof *p, uint32_t set, const sure_event *at, size_t n) {
  uint64_t used = 0, capacity = p->set.at[set].capacity;
  for (size_t i = 0; i < n; i++) {
    uint64_t take = fs_vset_taken(p, set, at[i].op);
    if (!at[i].begins) {
      used -= take;
    } else if (take > capacity || used > capacity - take) {
      return true;
    } else {
      used += take;
    }
  }
  assert(used == 0);
  return false;
}

static fs_status time_table(fs_vproof *p, uint32_t set, bool *violated) {
  sure_event *at;
  size_t n = 0;
  FS_TRY(fs_new(&p->scratch, &at, 2 * p->op.n));
  for (size_t k = 0; k < p->op.n; k++) {
    uint32_t op = p->op.at[k];
    if (late(p, op) < early_end(p, set, op)) {
      at[n++] = (sure_event){late(p, op), op, true};
      at[n++] = (sure_event){early_end(p, set, op), op, false};
    }
  }
  if (n > 0) {
    qsort(at, n, sizeof *at, compare_sure);
  }
  *violated = too_high(p, set, at, n);
  return FSCHED_OK;
}

/* The earliest lb and the latest end of the ops that are named, but for one (or FS_NONE), and the
 * sum of their times. */
typedef struct op_span {
  uint64_t begin, end, times;
} op_span;
static op_span span_of(const fs_vproof *p, uint32_t set, uint32_t but) {
  op_span s = {.begin = UINT64_MAX};
  for (size_t k = 0; k < p->op.n; k++) {
    uint32_t op = p->op.at[k];
    if (op != but) {
      s.begin = fs_min(s.begin, early(p, op));
      s.end = fs_max(s.end, late_end(p, set, op));
      s.times = fs_add_most(s.times, fs_vset_time(p, set, op));
    }
  }
  return s;
}

/* Do any two of the ops that are named exclude each other by this set? */
static bool take_turns(const fs_vproof *p, uint32_t set) {
  uint64_t least = UINT64_MAX, second = UINT64_MAX; /* the least that ops take */
  for (size_t k = 0; k < p->op.n; k++) {
    uint64_t take = fs_vset_taken(p, set, p->op.at[k]);
    second = fs_min(second, fs_max(least, take));
    least = fs_min(least, take);
  }
  return p->op.n >= 2 && least > 0 && fs_add_most(least, second) > p->set.at[set].capacity;
}

static bool turns(const fs_vproof *p, uint32_t set) {
  op_span all = span_of(p, set, FS_NONE);
  return take_turns(p, set) && all.times > all.end - all.begin;
}

/* ---- moments */

/* Is there no moment from lb of the op to its ub at which the others leave it enough? */
static bool too_full(const fs_vproof *p, const fs_vstep *step, const sure_event *at, size_t n) {
  uint64_t used = 0, capacity = p->set.at[step->set].capacity;
  uint64_t own = fs_vset_taken(p, step->set, step->op);
  uint64_t next = early(p, step->op); /* of the moments not known to be full, the first */
  for (size_t i = 0; i < n; i++) {
    uint64_t take = fs_vset_taken(p, step->set, at[i].op);
    if (own > capacity - used && i > 0 && at[i - 1].time <= next) {
      next = fs_max(next, at[i].time);
    }
    if (!at[i].begins) {
      used -= take;
    } else if (take > capacity - used) {
      return true; /* even without the op */
    } else {
      used += take;
    }
  }
  assert(used == 0);
  return next > late(p, step->op);
}

/* The others surely run over the moments behind ub and before lb and their time. */
static fs_status moment(fs_vproof *p, const fs_vstep *step, bool *violated) {
  sure_event *at;
  size_t n = 0;
  if (!is_there(p, step->op) || fs_vset_time(p, step->set, step->op) > 0) {
    return FSCHED_OK;
  }
  FS_TRY(fs_new(&p->scratch, &at, 2 * p->op.n));
  for (size_t k = 0; k < p->op.n; k++) {
    uint32_t op = p->op.at[k];
    if (late(p, op) + 1 < early_end(p, step->set, op)) {
      at[n++] = (sure_event){late(p, op) + 1, op, true};
      at[n++] = (sure_event){early_end(p, step->set, op), op, false};
    }
  }
  if (n > 0) {
    qsort(at, n, sizeof *at, compare_sure);
  }
  *violated = too_full(p, step, at, n);
  return FSCHED_OK;
}

/* ---- energy */

/* high * 2^64 + low */
typedef struct wide_sum {
  uint64_t high, low;
} wide_sum;

static wide_sum product(uint64_t a, uint64_t b) {
  uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
  uint64_t cross = a1 * b0 + (a0 * b0 >> 32); /* both fit: (2^32 - 1)^2 + 2^32 - 1 < 2^64 */
  uint64_t middle = (cross & UINT32_MAX) + a0 * b1;
  return (wide_sum){a1 * b1 + (cross >> 32) + (middle >> 32), a * b};
}

/* The sum, or the most. */
static wide_sum add_wide(wide_sum a, wide_sum b) {
  wide_sum s = {a.high + b.high, a.low + b.low};
  uint64_t carry = s.low < a.low;
  bool over = s.high < a.high || (carry > 0 && s.high == UINT64_MAX);
  s.high += carry;
  return over ? (wide_sum){UINT64_MAX, UINT64_MAX} : s;
}

static bool energy(const fs_vproof *p, uint32_t set) {
  op_span all = span_of(p, set, FS_NONE);
  wide_sum sum = {0, 0};
  for (size_t k = 0; k < p->op.n; k++) {
    uint32_t op = p->op.at[k];
    sum = add_wide(sum, product(fs_vset_taken(p, set, op), fs_vset_time(p, set, op)));
  }
  if (p->op.n == 0) {
    return false;
  }
  wide_sum room = product(p->set.at[set].capacity, all.end - all.begin);
  return sum.high > room.high || (sum.high == room.high && sum.low > room.low);
}

/* ---- edge finding */

typedef struct edge_event {
  uint64_t time, length;
  uint32_t op;
} edge_event;

static int compare_edges(const void *a, const void *b) {
  const edge_event *x = a, *y = b;
  if (x->time != y->time) {
    return x->time < y->time ? -1 : 1;
  }
  return x->op < y->op ? -1 : x->op > y->op;
}

/* The others, by lb or, turned, by their latest ends. */
static fs_status list_others(fs_vproof *p, const fs_vstep *step, edge_event **out, size_t *n) {
  bool turned = step->rule == 'b';
  FS_TRY(fs_new(&p->scratch, out, p->op.n));
  *n = 0;
  for (size_t k = 0; k < p->op.n; k++) {
    uint32_t op = p->op.at[k];
    if (op != step->op) {
      uint64_t time = turned ? late_end(p, step->set, op) : early(p, op);
      (*out)[(*n)++] = (edge_event){time, fs_vset_time(p, step->set, op), op};
    }
  }
  assert(*n > 0);
  qsort(*out, *n, sizeof **out, compare_edges);
  return FSCHED_OK;
}

static fs_status last_too_late(fs_vproof *p, const fs_vstep *step, bool *violated) {
  edge_event *at;
  size_t n;
  FS_TRY(list_others(p, step, &at, &n));
  uint64_t times = 0;
  for (size_t k = n; k-- > 0 && !*violated;) {
    times = fs_add_most(times, at[k].length);
    *violated = fs_add_most(at[k].time, times) > late(p, step->op);
  }
  return FSCHED_OK;
}

static fs_status first_too_early(fs_vproof *p, const fs_vstep *step, bool *violated) {
  edge_event *at;
  size_t n;
  FS_TRY(list_others(p, step, &at, &n));
  uint64_t times = 0;
  for (size_t k = 0; k < n && !*violated; k++) {
    times = fs_add_most(times, at[k].length);
    *violated = at[k].time < fs_add_most(early_end(p, step->set, step->op), times);
  }
  return FSCHED_OK;
}

static fs_status edge_finding(fs_vproof *p, const fs_vstep *step, bool *violated) {
  *violated = false;
  if (!is_there(p, step->op) || !take_turns(p, step->set)) {
    return FSCHED_OK;
  }
  op_span all = span_of(p, step->set, FS_NONE), others = span_of(p, step->set, step->op);
  if (step->rule == 'f') {
    bool last = fs_add_most(all.begin, all.times) > others.end;
    return last ? last_too_late(p, step, violated) : FSCHED_OK;
  }
  bool first = fs_add_most(others.begin, all.times) > all.end;
  return first ? first_too_early(p, step, violated) : FSCHED_OK;
}

static fs_status judge_step(fs_vproof *p, const fs_vstep *step, bool *violated) {
  switch (step->rule) {
    case 'p':
      *violated = precedence(p) || (p->stays != NULL && fs_vstays_link_violated(p));
      return FSCHED_OK;
    case 'c':
      *violated = fs_vstays_clause_violated(p);
      return FSCHED_OK;
    case 'n':
      return fs_vstays_unplaced(p, step->set, step->thing, step->n, violated);
    case 'a':
      *violated = fs_vstays_apart_violated(p, step->op, step->other);
      return FSCHED_OK;
    case 'o':
      *violated = order(p);
      return FSCHED_OK;
    case 'x':
      return exclusion(p, violated);
    case 't':
      return p->set.at[step->set].kind == FS_VSET_STAYS
                 ? fs_vstays_table_violated(p, p->set.at[step->set].resource, violated)
                 : time_table(p, step->set, violated);
    case 'z':
      return moment(p, step, violated);
    case 'm':
      return fs_vproof_overfull(p, step->set, violated);
    case 's':
      *violated = turns(p, step->set);
      return FSCHED_OK;
    case 'e':
      *violated = energy(p, step->set);
      return FSCHED_OK;
    default:
      assert(step->rule == 'f' || step->rule == 'b');
      return edge_finding(p, step, violated);
  }
}

/* Moves the items that are there for sure to the front. */
static void find_there(fs_vproof *p) {
  size_t n = 0;
  for (size_t k = 0; k < p->op.n; k++) {
    uint32_t node = p->op.at[k];
    if (node < p->n_items && fs_vproof_there(p, node)) {
      p->op.at[k] = p->op.at[n];
      p->op.at[n++] = node;
    }
  }
  p->n_named = p->op.n;
  p->op.n = n;
}

fs_status fs_vproof_violated(fs_vproof *p, const fs_vstep *step, bool *violated) {
  assert(!p->empty);
  *violated = false;
  fs_arena_mark mark = fs_arena_set_mark(&p->scratch);
  find_there(p);
  fs_status status = judge_step(p, step, violated);
  p->op.n = p->n_named;
  fs_arena_reset(&p->scratch, mark);
  return status;
}
