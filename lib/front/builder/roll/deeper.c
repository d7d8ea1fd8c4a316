/* SPDX-License-Identifier: Apache-2.0 */
/* Depths by what a loop takes.
 *
 * The plan has as few slots as its interval needs, in the middle of the loop.  At both ends it may
 * take longer with them than with some more: a load that could run ahead at first waits for its
 * slot, and the last iterations come as much later.
 *
 *     one slot     load 0   use 0   load 1   use 1      the interval is that of the use,
 *     two          load 0   use 0   use 1               which the queue of loads waits for
 *                           load 1
 *
 * So plans are made of depths to which no slot can be added, with room for all of them, as if they
 * were given; of the best of all, rings get fewer slots, or others, one by one, while that is
 * better.  At last come all other depths, as many as may be: of two plans with as many slots, or
 * one more, either may be the shorter one. */
#include "base/saturate.h"
#include "front/builder/roll/attempt.h"
#include "front/builder/roll/spans.h"
#include "modulo/problem/fitting.h"

enum {
  MORE = 3,             /* slots than the plan has, or */
  FEW = 8,              /* so many in all */
  MOST_MEMBERS = 24,    /* of a body of which it is looked for */
  MOST_TRIES = 256,     /* plans */
  MOST_LOOKS = 1 << 12, /* depths, of which few have room */
  LEAST_TRIES = 4,      /* of large bodies */
  TRIED_WORK = 1 << 12, /* tries times members by members */
  SHARE = 16            /* part of the steps that a plan takes, at most */
};

typedef struct depth_search {
  const fs_depth_choice *in;
  fs_loop_body own; /* with values of the depths at hand */
  fs_modulo_problem problem;
  uint32_t tries;           /* left */
  uint64_t steps;           /* left */
  uint32_t *first, *depth;  /* per value: of the plan, and of the best one */
  uint32_t *at;             /* those at hand */
  uint32_t n_tried, *tried; /* so many times as many */
  uint64_t total, bytes;    /* of the best one */
  fs_loop_ticks ii;         /* of the plan */
  uint64_t barriers;        /* at most */
} depth_search;

/* --- what a loop takes at least --- */

/* Finds, per member, what has to be before its start and behind it in one iteration. */
static fs_status find_paths(const fs_depth_choice *in, uint64_t **head, uint64_t **tail) {
  const fs_modulo_problem *p = &in->best->planned.loop.problem;
  const fs_body_op *op = in->x->body;
  FS_TRY(fs_new_zero(in->r->scratch, head, p->n));
  FS_TRY(fs_new_zero(in->r->scratch, tail, p->n));
  bool moved = true;
  for (uint32_t n = 0; n < p->n && moved; n++) {
    moved = false;
    for (uint32_t e = 0; e < p->n_edges; e++) {
      const fs_modulo_edge *x = &p->edge[e];
      uint64_t before = fs_add_most((*head)[x->from], op[x->from].latency);
      uint64_t behind = fs_add_most((*tail)[x->to], op[x->to].latency);
      if (x->distance == 0 && (before > (*head)[x->to] || behind > (*tail)[x->from])) {
        (*head)[x->to] = fs_max((*head)[x->to], before);
        (*tail)[x->from] = fs_max((*tail)[x->from], behind);
        moved = true;
      }
    }
  }
  return FSCHED_OK;
}

/* Whether an op takes a queue, wherever it runs. */
static bool takes_queue(const fs_modulo_problem *p, uint32_t op, uint32_t queue) {
  uint32_t n = p->eligible0[op + 1] - p->eligible0[op];
  bool here = false;
  for (uint32_t i = p->eligible0[op]; i < p->eligible0[op + 1]; i++) {
    here = here || p->eligible[i] == queue;
  }
  return here && (n == 1 || (p->gang != NULL && p->gang[op]));
}

/* No plan takes less for all iterations. */
static fs_status least_span(const fs_depth_choice *in, uint64_t *least) {
  const fs_modulo_problem *p = &in->best->planned.loop.problem;
  uint64_t *head, *tail;
  *least = 0;
  FS_TRY(find_paths(in, &head, &tail));
  for (uint32_t m = 0; m < p->n; m++) {
    uint64_t path = fs_add_most(fs_add_most(head[m], in->x->body[m].latency), tail[m]);
    *least = fs_max(*least, path);
  }
  for (uint32_t q = 0; q < p->n_queues; q++) {
    uint64_t work = 0, before = UINT64_MAX, behind = UINT64_MAX;
    for (uint32_t m = 0; m < p->n; m++) {
      const fs_body_op *op = &in->x->body[m];
      if (takes_queue(p, m, q)) {
        work = fs_add_most(work, op->time);
        before = fs_min(before, head[m]);
        behind = fs_min(behind, fs_add_most(op->latency - op->time, tail[m]));
      }
    }
    uint64_t all = fs_multiply_most(work, in->x->trip);
    *least = work == 0 ? *least : fs_max(*least, fs_add_most(fs_add_most(before, all), behind));
  }
  return FSCHED_OK;
}

/* --- attempts --- */

/* What all iterations take. */
static fs_status total_of(const fs_depth_choice *in, const fs_body_attempt *a, uint64_t *total) {
  return fs_roller_time_rolled(in->r, &a->planned, in->x, &a->loop, total);
}

static uint64_t bytes_of(const fs_depth_choice *in, const fs_body_attempt *a) {
  uint64_t bytes = 0;
  for (uint32_t v = 0; v < in->body->n_values; v++) {
    uint64_t depth = a->loop.ring[v].depth;
    bytes = fs_add_most(bytes, in->open[v] ? fs_multiply_most(depth, in->body->value[v].size) : 0);
  }
  return bytes;
}

static uint64_t barriers_of(const fs_body_attempt *a) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < a->loop.n_guards; i++) {
    n += a->loop.guard[i].depth;
  }
  return n;
}

static bool same_interval(fs_loop_ticks a, fs_loop_ticks b) {
  return a.num == b.num && a.den == b.den;
}
static bool is_longer(fs_loop_ticks a, fs_loop_ticks b) {
  return fs_multiply_most(a.num, b.den) > fs_multiply_most(b.num, a.den);
}

/* Depths that were chosen are not given, and what is told of the interval holds without them. */
static void take_report(const depth_search *s, const fs_loop_report *first, fs_loop_report *to) {
  for (uint32_t v = 0; v < s->in->body->n_values; v++) {
    to->slots[v].given = first->slots[v].given;
  }
  to->bound = first->bound;
  to->proven = first->proven && same_interval(first->ii, to->ii);
  if (same_interval(first->ii, to->ii) || to->limited_by == FS_LOOP_BY_SLOTS) {
    to->limited_by = first->limited_by;
    to->limit = first->limit;
  }
}

/* Notes the depths at hand; false: they were tried before. */
static bool note_tried(depth_search *s) {
  uint32_t n = s->own.n_values;
  bool known = false;
  for (uint32_t k = 0; k < s->n_tried && !known; k++) {
    known = memcmp(s->tried + (size_t)k * n, s->at, n * sizeof *s->at) == 0;
  }
  if (!known) {
    memcpy(s->tried + (size_t)s->n_tried++ * n, s->at, n * sizeof *s->at);
  }
  return !known;
}

/* Plans the body with the depths at hand; *better: it is the best one now. */
static fs_status try_depths(depth_search *s, bool *better) {
  const fs_depth_choice *in = s->in;
  fs_body_attempt a;
  uint64_t total;
  *better = false;
  if (s->tries == 0 || s->steps == 0 || !note_tried(s)) {
    return FSCHED_OK;
  }
  for (uint32_t v = 0; v < s->own.n_values; v++) {
    s->own.value[v].depth = in->open[v] ? s->at[v] : s->first[v];
  }
  s->tries--;
  uint64_t steps = fs_min(s->steps, fs_max(in->r->steps / SHARE, 1));
  FS_TRY(fs_roller_attempt(in->r, in->g, in->loop, &s->own, in->best->single, steps, &a));
  s->steps -= a.planned.plan == NULL ? 0 : fs_min(s->steps, a.planned.plan->steps);
  if (a.planned.plan == NULL || !a.possible || a.crowded || barriers_of(&a) > s->barriers ||
      is_longer(a.planned.report.ii, s->ii)) {
    return FSCHED_OK;
  }
  FS_TRY(total_of(in, &a, &total));
  uint64_t bytes = bytes_of(in, &a);
  *better = total < s->total || (total == s->total && bytes < s->bytes);
  if (*better) {
    take_report(s, &in->best->planned.report, &a.planned.report);
    *in->best = a;
    s->total = total;
    s->bytes = bytes;
    for (uint32_t v = 0; v < s->own.n_values; v++) {
      s->depth[v] = a.loop.ring[v].depth;
    }
  }
  return FSCHED_OK;
}

/* --- depths --- */

/* The fewest slots of a ring that is chosen: one more than it works with in place, as it does not.
 */
static uint32_t least_slots(const fs_depth_choice *in, uint32_t ring) {
  uint64_t read = fs_roller_slots_read(in->body, &in->body->value[ring], false);
  return fs_max(fs_modulo_least_depth(&in->best->planned.loop.problem, ring), (uint32_t)read);
}

static fs_status start_search(depth_search *s) {
  const fs_depth_choice *in = s->in;
  const fs_loop_body *body = in->body;
  const fs_body_attempt *first = in->best;
  fs_arena *scratch = in->r->scratch;
  fs_modulo_ring *ring;
  uint32_t n = body->n_values;
  s->own = *body;
  s->problem = first->planned.loop.problem;
  s->tries = fs_min(fs_max(TRIED_WORK / (body->n * body->n), LEAST_TRIES), MOST_TRIES);
  FS_TRY(fs_new(scratch, &s->own.value, n));
  FS_TRY(fs_new(scratch, &ring, n));
  FS_TRY(fs_new(scratch, &s->first, n));
  FS_TRY(fs_new(scratch, &s->depth, n));
  FS_TRY(fs_new(scratch, &s->at, n));
  FS_TRY(fs_new(scratch, &s->tried, (size_t)s->tries * n));
  for (uint32_t v = 0; v < n; v++) {
    uint32_t depth = first->loop.ring[v].depth;
    s->own.value[v] = body->value[v];
    s->first[v] = s->depth[v] = depth;
    ring[v] = s->problem.ring[v];
    ring[v].depth = in->open[v] ? 0 : depth;
    ring[v].most = 0;
  }
  s->problem.ring = ring;
  s->ii = first->planned.report.ii;
  s->bytes = bytes_of(in, first);
  s->barriers = barriers_of(first);
  s->steps = 2 * in->r->steps;
  return total_of(in, first, &s->total);
}

/* The most slots that are looked at: some more than the plan has, or a few in all. */
static void find_most(const depth_search *s, uint32_t few, uint32_t *most) {
  const fs_loop_body *body = s->in->body;
  for (uint32_t v = 0; v < body->n_values; v++) {
    uint64_t use = fs_roller_most_slots(body->trip, body, &body->value[v]);
    uint64_t limit = body->value[v].most == 0 ? UINT64_MAX : body->value[v].most;
    uint64_t more = fs_min(fs_min(use, limit), fs_max((uint64_t)s->first[v] + MORE, few));
    most[v] = s->in->open[v] ? (uint32_t)fs_max(more, s->first[v]) : s->first[v];
  }
  fs_modulo_fit_alone(&s->problem, most);
}

static bool has_room(const depth_search *s, const uint32_t *depth) {
  const fs_modulo_problem *p = &s->problem;
  bool room = true;
  for (uint32_t m = 0; m < p->n_memories && room; m++) {
    uint64_t bytes = 0;
    for (uint32_t v = 0; v < p->n_rings; v++) {
      uint64_t own = fs_multiply_most(depth[v], p->ring[v].size);
      bytes = fs_add_most(bytes, p->ring[v].memory == m ? own : 0);
    }
    room = bytes <= p->capacity[m];
  }
  return room;
}

static void raise_depth(depth_search *s, uint32_t ring, uint32_t most) {
  while (s->at[ring] < most) {
    s->at[ring]++;
    if (!has_room(s, s->at)) {
      s->at[ring]--;
      return;
    }
  }
}

static bool are_enough(const depth_search *s) {
  bool enough = true;
  for (uint32_t v = 0; v < s->own.n_values && enough; v++) {
    enough = !s->in->open[v] || s->at[v] >= least_slots(s->in, v);
  }
  return enough;
}

/* Tries depths that are as large as they can be, one after the other. */
static fs_status try_largest(depth_search *s, uint32_t few, uint32_t kept) {
  uint32_t n = s->own.n_values, *most;
  fs_modulo_fitting fitting;
  bool better;
  FS_TRY(fs_new(s->in->r->scratch, &most, n));
  find_most(s, few, most);
  FS_TRY(fs_modulo_fitting_depths(s->in->r->scratch, &s->problem, most, &fitting));
  for (uint32_t k = 0; k < fitting.n && s->tries > kept; k++) {
    for (uint32_t v = 0; v < n; v++) { /* those that nothing limits are as deep as may be */
      s->at[v] = fs_min(fitting.depth[k][v], most[v]);
    }
    FS_TRY(are_enough(s) ? try_depths(s, &better) : FSCHED_OK);
  }
  for (uint32_t k = 0; k < n && !fitting.all && s->tries > kept; k++) {
    memcpy(s->at, s->first, n * sizeof *s->at);
    for (uint32_t i = 0; i < n; i++) {
      raise_depth(s, (k + i) % n, most[(k + i) % n]);
    }
    FS_TRY(s->in->open[k] ? try_depths(s, &better) : FSCHED_OK);
  }
  return FSCHED_OK;
}

/* Gives each ring of the best one the other depths that have room, the fewest slots first, until
 * none of these is better. */
static fs_status change_each(depth_search *s) {
  uint32_t n = s->own.n_values, *most;
  FS_TRY(fs_new(s->in->r->scratch, &most, n));
  find_most(s, FEW, most);
  for (bool again = true; again && s->tries > 0;) {
    again = false;
    for (uint32_t v = 0; v < n; v++) {
      bool better = !s->in->open[v];
      for (uint32_t to = least_slots(s->in, v); to <= most[v] && !better; to++) {
        memcpy(s->at, s->depth, n * sizeof *s->at);
        s->at[v] = to;
        FS_TRY(has_room(s, s->at) ? try_depths(s, &better) : FSCHED_OK);
        again = again || better;
      }
    }
  }
  return FSCHED_OK;
}

/* The next depths from the fewest up to `most`, the first ring's first; false: there are none. */
static bool next_depths(depth_search *s, const uint32_t *most) {
  for (uint32_t v = 0; v < s->own.n_values; v++) {
    if (s->in->open[v] && s->at[v] < most[v]) {
      s->at[v]++;
      return true;
    }
    s->at[v] = s->in->open[v] ? least_slots(s->in, v) : s->first[v];
  }
  return false;
}

/* Tries all depths, as far as that goes. */
static fs_status try_all(depth_search *s) {
  uint32_t n = s->own.n_values, *most, looks = MOST_LOOKS;
  bool better, more = true;
  FS_TRY(fs_new(s->in->r->scratch, &most, n));
  find_most(s, FEW, most);
  for (uint32_t v = 0; v < n; v++) {
    s->at[v] = s->in->open[v] ? least_slots(s->in, v) : s->first[v];
  }
  for (; more && s->tries > 0 && looks > 0; looks--) {
    FS_TRY(has_room(s, s->at) ? try_depths(s, &better) : FSCHED_OK);
    more = next_depths(s, most);
  }
  return FSCHED_OK;
}

/* Whether there is something to choose, of one run.  With block syncs many more plans would be made
 * for that than it is worth. */
static bool may_choose(const fs_depth_choice *in) {
  const fs_loop_body *body = in->body;
  bool any = false, wide = false;
  for (uint32_t v = 0; v < body->n_values; v++) {
    uint64_t use = fs_roller_most_slots(body->trip, body, &body->value[v]);
    any = any || in->open[v];
    wide = wide || in->best->loop.ring[v].depth > use;
  }
  return any && !wide && body->n <= MOST_MEMBERS && in->best->planned.split == NULL &&
         !in->best->loop.issued;
}

fs_status fs_roller_may_deepen(const fs_depth_choice *choice, bool *may) {
  uint64_t total, least;
  *may = false;
  if (!may_choose(choice)) {
    return FSCHED_OK;
  }
  FS_TRY(total_of(choice, choice->best, &total));
  FS_TRY(least_span(choice, &least));
  *may = total > least;
  return FSCHED_OK;
}

fs_status fs_roller_deepen(const fs_depth_choice *choice) {
  depth_search s = {.in = choice};
  assert(choice->best->possible);
  FS_TRY(start_search(&s));
  uint32_t third = s.tries / 3;
  FS_TRY(try_largest(&s, 0, 2 * third));
  FS_TRY(try_largest(&s, FEW, third));
  FS_TRY(change_each(&s));
  return try_all(&s);
}
