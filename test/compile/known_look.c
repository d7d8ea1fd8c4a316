/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/known_look.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "ilp/pack/model.h"
#include "ilp/refine/refine_private.h"
#include "ilp/spill/model.h"
#include "ilp/time/model.h"
#include "kit/golden_case.h"
#include "model/bounds/bounds.h"
#include "placement/placement.h"
#include "search/spill/spill.h"

enum { MOST_TERMS = 10000, MOST_STEPS = 1 << 13 };

typedef struct known_look_look {
  fsched_context *ctx;
  const fs_known_case *k;
  uint64_t seed;
  const char *limit;
  fs_problem *p;
  fs_answer answer;
  uint64_t sign; /* a hash of all results, which changes where a limit is met */
} known_look_look;

static void sign(known_look_look *l, uint64_t value) {
  l->sign = (l->sign ^ value) * 0x100000001b3u;
}

#define ck_known(l, x, ...)                                                                      \
  do {                                                                                           \
    if (!(x)) {                                                                                  \
      char text_[200];                                                                           \
      (void)snprintf(text_, sizeof text_, __VA_ARGS__);                                          \
      ck_abort_msg("seed %llu, limit %s: %s", (unsigned long long)(l)->seed, (l)->limit, text_); \
    }                                                                                            \
  } while (0)

/* ---- the known answer of a problem */

static fs_tick start_of(const known_look_look *l, uint32_t item) {
  const fs_problem *p = l->p;
  if (item < p->graph->n_ops) {
    return l->k->start[item];
  }
  uint32_t copy = item - p->graph->n_ops, b = p->graph->version_buffer[p->copy_version[copy]];
  return p->copy_kind[copy] == FS_SPILL_READ ? l->k->read_at[b] : l->k->write_at[b];
}

static uint32_t class_of(const known_look_look *l, uint32_t item) {
  const fs_problem *p = l->p;
  bool op = item < p->graph->n_ops;
  uint32_t n_queues = p->graph->target.n_queues;
  if (op && l->k->gang[item]) {
    return FS_NONE;
  }
  uint32_t queue = op ? l->k->queue[item] : n_queues - 1;
  for (uint32_t c = 0; c < p->n_classes; c++) {
    for (uint32_t i = p->class_queue0[c]; i < p->class_queue0[c + 1]; i++) {
      if (p->class_queue[i] == queue) {
        return c;
      }
    }
  }
  return 0; /* that of implicit queues */
}

static void make_answer(known_look_look *l) {
  fs_problem *p = l->p;
  fs_answer *a = &l->answer;
  *a = (fs_answer){.makespan = l->k->makespan};
  ck_fs(l->ctx, fs_new(&p->arena, &a->start, p->n_items));
  ck_fs(l->ctx, fs_new(&p->arena, &a->choice, p->n_items));
  ck_fs(l->ctx, fs_new_zero(&p->arena, &a->address, p->n_residencies));
  for (uint32_t i = 0; i < p->n_items; i++) {
    a->start[i] = start_of(l, i);
    a->choice[i] = class_of(l, i);
  }
  for (uint32_t r = 0; r < p->n_residencies; r++) {
    uint32_t v = p->res_version[r];
    a->address[r] =
        v == FS_NONE ? l->k->scratch_at[p->res_op[r]] : l->k->at[p->graph->version_buffer[v]];
  }
}

/* ---- the checks */

static void look_at_bound(known_look_look *l, const char *what, fs_tick bound) {
  ck_known(l, bound <= l->k->makespan, "bound of %s %llu above %llu", what,
           (unsigned long long)bound, (unsigned long long)l->k->makespan);
  sign(l, bound);
}

/* The peaks are those of what the known schedule has at one time. */
static void look_at_peaks(known_look_look *l) {
  uint64_t least[2] = {0};
  ck_assert_uint_le(l->k->g->target.n_memories, 2);
  ck_fs(l->ctx, fs_memory_lower_bounds(l->ctx, l->k->g, least));
  ck_known(l, least[0] <= l->k->capacity, "bound of a memory %llu above %llu",
           (unsigned long long)least[0], (unsigned long long)l->k->capacity);
}

static void look_at_bounds(known_look_look *l) {
  fs_lower_bounds b;
  ck_fs(l->ctx, fs_graph_lower_bounds(l->ctx, l->k->g, &b));
  look_at_bound(l, "paths", b.critical_path);
  look_at_bound(l, "queues", b.queue_work);
  look_at_bound(l, "resources", b.resource_work);
  look_at_bound(l, "copies", b.copy_work);
  look_at_bound(l, "memories", b.memory_work);
  look_at_bound(l, "parts in series", b.series);
  look_at_bound(l, "all", b.all);
  look_at_peaks(l);
}

/* The verifier has to accept what is called known. */
static void look_at_answer(known_look_look *l) {
  fs_schedule *s;
  const char *why;
  ck_fs(l->ctx, fs_answer_schedule(l->p, &l->answer, &s, &why));
  bool usual = strcmp(l->limit, "none") == 0;
  ck_known(l, s != NULL || !usual, "what is known is wrong: %s", why);
  ck_assert(s == NULL || s->makespan == l->k->makespan);
  sign(l, s != NULL);
  fs_schedule_destroy(s);
  fs_answer open = l->answer;
  open.choice = NULL;
  open.address = NULL;
  ck_fs(l->ctx, fs_answer_schedule(l->p, &open, &s, &why));
  sign(l, s != NULL);
  fs_schedule_destroy(s);
}

static void look_at_windows(known_look_look *l) {
  const fs_problem *p = l->p;
  fs_decision possible;
  ck_fs(l->ctx, fs_problem_tighten(l->p, &possible));
  ck_known(l, possible.is == FS_NOT_DECIDED, "the windows are called impossible");
  for (uint32_t i = 0; i < p->n_items; i++) {
    fs_tick start = l->answer.start[i];
    ck_known(l, p->head[i] <= start && start + p->time[i] + p->tail[i] <= p->horizon,
             "item %u starts at %llu: outside of its window", i, (unsigned long long)start);
    sign(l, p->head[i]);
    sign(l, p->tail[i]);
  }
}

static void look_at_destruction(known_look_look *l) {
  fs_tick bound;
  ck_fs(l->ctx, fs_problem_destructive_bound(l->p, &bound));
  ck_known(l, bound <= l->k->makespan, "destructive bound %llu above %llu",
           (unsigned long long)bound, (unsigned long long)l->k->makespan);
  sign(l, bound);
}

/* A model must have the answer as a point with its makespan. */
static void look_at_point(known_look_look *l, const fs_model *m, const char *what, fs_status status,
                          bool fits, const int64_t *value) {
  ck_fs(l->ctx, status);
  ck_known(l, !m->contradiction, "%s: a contradiction", what);
  ck_known(l, fits && fs_model_broken(m, value) == FS_NONE, "%s: what is known is no point", what);
  ck_known(l, fs_model_objective(m, value) <= (int64_t)l->k->makespan, "%s: the objective is %lld",
           what, (long long)fs_model_objective(m, value));
}

static void look_at_pack(known_look_look *l, bool positions) {
  fs_pack_options o = {.positions = positions, .max_terms = fs_limits_of(l->ctx)->model_terms};
  fs_pack_model *t;
  bool fits = false;
  o.max_terms = fs_min(o.max_terms, MOST_TERMS);
  ck_fs(l->ctx, fs_pack_model_build(l->p, &o, &t));
  sign(l, t != NULL);
  if (t != NULL) {
    const fs_model *m = fs_pack_model_of(t);
    int64_t *value = calloc(m->var.n + 1, sizeof *value);
    fs_status status = fs_pack_model_point(t, &l->answer, value, &fits);
    look_at_point(l, m, positions ? "positions" : "pack", status, fits, value);
    sign(l, m->term.n);
    free(value);
  }
  fs_pack_model_destroy(t);
}

static void look_at_times(known_look_look *l, fs_time_places places) {
  fs_time_options o = {.places = places, .max_terms = fs_limits_of(l->ctx)->model_terms};
  fs_time_model *t;
  bool fits = false;
  o.max_terms = fs_min(o.max_terms, MOST_TERMS);
  ck_fs(l->ctx, fs_time_model_build(l->p, &o, &t));
  sign(l, t != NULL);
  if (t != NULL) {
    const fs_model *m = fs_time_model_of(t);
    int64_t *value = calloc(m->var.n + 1, sizeof *value);
    fs_status status = fs_time_model_point(t, &l->answer, value, &fits);
    look_at_point(l, m, "times", status, fits, value);
    sign(l, m->term.n);
    free(value);
  }
  fs_time_model_destroy(t);
}

/* Makes a schedule of what is known, whatever the limits are. */
static fs_schedule *known_schedule(known_look_look *l) {
  const fs_limits *limits = fs_limits_of(l->ctx);
  fs_schedule *s;
  const char *why;
  fs_limits_set(l->ctx, &fs_limits_usual);
  ck_fs(l->ctx, fs_answer_schedule(l->p, &l->answer, &s, &why));
  fs_limits_set(l->ctx, limits);
  ck_known(l, s != NULL, "what is known is wrong: %s", why);
  return s;
}

static void look_at_spill_model(known_look_look *l, fs_spill_model *t) {
  const fs_model *m = fs_spill_model_of(t);
  int64_t *value = calloc(m->var.n + 1, sizeof *value);
  bool fits = false;
  fs_decision exists;
  fs_schedule *s = known_schedule(l);
  fs_status status = fs_spill_model_point(t, s, value, &fits);
  look_at_point(l, m, "spills", status, fits, value);
  fs_schedule_destroy(s);
  ck_fs(l->ctx, fs_spill_model_schedule(t, value, &s, &exists));
  ck_known(l, exists.is != FS_NO, "the point that is known is called none");
  sign(l, exists.is);
  fs_schedule_destroy(s);
  free(value);
}

static void look_at_spills(known_look_look *l) {
  fs_spill_model *t;
  if (!l->k->p.store) {
    return;
  }
  ck_fs(l->ctx, fs_spill_model_build(l->ctx, l->k->g, l->k->makespan, MOST_TERMS, &t));
  sign(l, t != NULL);
  if (t != NULL) {
    look_at_spill_model(l, t);
  }
  fs_spill_model_destroy(t);
}

static void look_at_places(known_look_look *l, const fs_placement *q, bool lowest) {
  const fs_known_case *k = l->k;
  uint64_t address[FS_KNOWN_OPS], peak = 0;
  fs_decision exists;
  bool least = false;
  ck_fs(l->ctx, fs_placement_run(l->ctx, q, lowest, address, &peak, &exists, &least));
  ck_known(l, exists.is != FS_NO, "there are said to be no addresses");
  sign(l, exists.is);
  if (exists.is == FS_YES) {
    ck_known(l, peak >= k->capacity && peak <= q->capacity, "an impossible peak");
    ck_known(l, !lowest || !least || peak == k->capacity, "a peak is called the least");
    sign(l, peak);
    sign(l, least);
  }
}

/* For the rectangles of a strip with their times the least peak is that of the strip. */
static void look_at_placement(known_look_look *l) {
  const fs_known_case *k = l->k;
  uint64_t end[FS_KNOWN_OPS];
  for (uint32_t i = 0; i < k->n_ops; i++) {
    end[i] = k->start[i] + k->time[i];
  }
  fs_placement q = {.n = k->n_ops,
                    .size = k->scratch_size,
                    .begin = k->start,
                    .end = end,
                    .nodes = fs_min(2000, fs_limits_of(l->ctx)->place_nodes)};
  for (int i = 0; i < 4 && k->p.strip; i++) {
    q.capacity = i < 2 ? k->capacity : 2 * k->capacity;
    look_at_places(l, &q, i % 2 != 0);
  }
}

/* Checks the model that the refinement begins with. */
static void look_at_attempt(known_look_look *l, fsched_refine refine, fs_tick horizon) {
  fs_attempt a;
  bool fits = false;
  fs_schedule from = {.graph = l->k->g, .makespan = horizon};
  ck_fs(l->ctx, fs_attempt_choose(l->ctx, l->k->g, &from, 0, refine, false, NULL, &a));
  ck_known(l, a.possible.is != FS_NO, "no schedule is said to be as short");
  const fs_model *m = fs_attempt_model(&a);
  sign(l, m == NULL ? 0 : 1 + m->term.n);
  if (m != NULL && m->term.n <= MOST_TERMS) {
    int64_t *value = calloc(m->var.n + 1, sizeof *value);
    fs_status status = a.pack != NULL ? fs_pack_model_point(a.pack, &l->answer, value, &fits)
                                      : fs_time_model_point(a.time, &l->answer, value, &fits);
    look_at_point(l, m, "the first model", status, fits, value);
    free(value);
  }
  fs_attempt_release(&a);
}

/* Checks the problem within a horizon, the makespan or more. */
static void look_at_problem(known_look_look *l, fs_tick horizon) {
  ck_fs(l->ctx, fs_problem_from_graph(l->ctx, l->k->g, horizon, 0, &l->p));
  ck_known(l, l->p != NULL, "there is said to be no problem");
  make_answer(l);
  l->p->steps = fs_min(MOST_STEPS, fs_limits_of(l->ctx)->horizon_steps);
  look_at_destruction(l);
  look_at_windows(l);
  look_at_destruction(l);
  look_at_pack(l, false);
  look_at_pack(l, true);
  look_at_times(l, FS_TIME_AMOUNTS);
  look_at_times(l, FS_TIME_PAIRS);
  look_at_times(l, FS_TIME_POSITIONS);
  fs_problem_destroy(l->p);
}

uint64_t fs_known_look_all(fsched_context *ctx, const fs_known_case *k, uint64_t seed,
                           const char *limit) {
  known_look_look l = {.ctx = ctx, .k = k, .seed = seed, .limit = limit};
  look_at_bounds(&l);
  look_at_placement(&l);
  look_at_problem(&l, k->makespan);
  look_at_problem(&l, k->makespan + 1 + seed % 5);
  ck_fs(ctx, fs_problem_from_graph(ctx, k->g, k->makespan, 0, &l.p));
  make_answer(&l);
  look_at_answer(&l);
  look_at_spills(&l);
  fs_problem_destroy(l.p);
  return l.sign;
}

uint64_t fs_known_look_places(fsched_context *ctx, const fs_known_case *k, uint64_t seed,
                              const char *limit) {
  known_look_look l = {.ctx = ctx, .k = k, .seed = seed, .limit = limit};
  look_at_placement(&l);
  ck_fs(ctx, fs_problem_from_graph(ctx, k->g, k->makespan, 0, &l.p));
  make_answer(&l);
  look_at_answer(&l);
  fs_problem_destroy(l.p);
  return l.sign;
}

uint64_t fs_known_look_spills(fsched_context *ctx, const fs_known_case *k, uint64_t seed,
                              const char *limit) {
  known_look_look l = {.ctx = ctx, .k = k, .seed = seed, .limit = limit};
  ck_fs(ctx, fs_problem_from_graph(ctx, k->g, k->makespan, 0, &l.p));
  make_answer(&l);
  look_at_spills(&l);
  fs_problem_destroy(l.p);
  return l.sign;
}

/* The learner finds the known makespan, and nothing shorter. */
static void look_at_copies(known_look_look *l) {
  fs_tick least = l->k->makespan;
  fs_arena arena;
  fs_spills s;
  fs_arena_init(&arena, l->ctx);
  ck_fs(l->ctx, fs_spills_init(&s, l->p, &arena));
  for (fs_tick best = least + 1; best >= least; best--) {
    fs_spill_turn turn = {.conflicts = 100, .work = UINT64_MAX, .best = best};
    ck_fs(l->ctx, fs_spills_run(&s, &turn));
    bool finds = turn.found != NULL;
    ck_known(l, !turn.none || best == least, "the learner misses the known schedule");
    ck_known(l, !finds || turn.found->makespan == least,
             "a schedule is shorter than the known one");
    fs_schedule_destroy(turn.found);
    sign(l, 2 * s.l.conflicts + finds);
  }
  fs_spills_release(&s);
  fs_arena_release(&arena);
}

uint64_t fs_known_look_copies(fsched_context *ctx, const fs_known_case *k, uint64_t seed,
                              const char *limit) {
  known_look_look l = {.ctx = ctx, .k = k, .seed = seed, .limit = limit};
  ck_fs(ctx, fs_problem_spilling(ctx, k->g, k->makespan, 0, &l.p));
  if (l.p != NULL && fs_spills_know(l.p)) {
    look_at_copies(&l);
  }
  fs_problem_destroy(l.p);
  return l.sign;
}

uint64_t fs_known_look_attempts(fsched_context *ctx, const fs_known_case *k, uint64_t seed,
                                const char *limit) {
  known_look_look l = {.ctx = ctx, .k = k, .seed = seed, .limit = limit};
  ck_fs(ctx, fs_problem_from_graph(ctx, k->g, k->makespan, 0, &l.p));
  make_answer(&l);
  for (fs_tick more = 0; more < 2; more++) {
    look_at_attempt(&l, FSCHED_REFINE_ILP, k->makespan + more * k->p.tick);
    look_at_attempt(&l, FSCHED_REFINE_PACK, k->makespan + more * k->p.tick);
  }
  fs_problem_destroy(l.p);
  return l.sign;
}

uint64_t fs_known_look_strip(fsched_context *ctx, const fs_known_case *k, uint64_t seed,
                             const char *limit) {
  known_look_look l = {.ctx = ctx, .k = k, .seed = seed, .limit = limit};
  look_at_bounds(&l);
  ck_fs(ctx, fs_problem_from_graph(ctx, k->g, k->makespan, 0, &l.p));
  make_answer(&l);
  look_at_pack(&l, true);
  fs_problem_destroy(l.p);
  return l.sign;
}

enum { CHAIN = 30, TEXT = 1 << 14 };

/* Writes ops that read x one after the other, then one that writes y in its place, and then further
 * ones; the memory holds x alone. */
static void put_chains(char *text, fs_rng *r) {
  size_t n = (size_t)snprintf(text, TEXT,
                              "fsched: 1\ntarget: {memories: [{name: m, capacity: 8}]}\n"
                              "ops:\n  - {name: first, args: [{out: x0, size: 8}]}\n");
  for (uint32_t i = 0, rounds = 1 + fs_rng_below(r, 4); i < rounds; i++) {
    uint32_t readers = 2 + fs_rng_below(r, CHAIN);
    for (uint32_t k = 0; k < readers; k++) {
      n += (size_t)snprintf(text + n, TEXT - n, "  - {name: r%u-%u, args: [{in: x%u}]", i, k, i);
      n += k == 0 ? 0 : (size_t)snprintf(text + n, TEXT - n, ", after: [r%u-%u]", i, k - 1);
      n += (size_t)snprintf(text + n, TEXT - n, "}\n");
    }
    n += (size_t)snprintf(text + n, TEXT - n,
                          "  - {name: w%u, after: [r%u-%u], args: [{in: x%u}, {out: x%u, size: "
                          "8}], inplace: {x%u: x%u}}\n",
                          i, i, readers - 1, i, i + 1, i + 1, i);
    ck_assert_uint_lt(n, TEXT);
  }
}

uint64_t fs_known_look_inplace(fsched_context *ctx, const fs_known_case *k, uint64_t seed,
                               const char *limit) {
  char *text = malloc(TEXT);
  fs_rng r = {seed};
  known_look_look l = {.ctx = ctx, .k = k, .seed = seed, .limit = limit};
  fsched_graph *g;
  uint64_t least;
  put_chains(text, &r);
  fs_status status = fsched_graph_parse(ctx, "g.yaml", text, strlen(text), NULL, &g);
  ck_known(&l, status == FSCHED_OK, "it is refused: %s", fs_test_diags(ctx));
  ck_fs(ctx, fs_memory_lower_bounds(ctx, g, &least));
  ck_known(&l, least == 8, "a bound of %llu", (unsigned long long)least);
  sign(&l, g->op_inplace0[g->n_ops]);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
  free(text);
  return l.sign;
}
