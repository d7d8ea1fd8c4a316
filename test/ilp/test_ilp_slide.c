/* SPDX-License-Identifier: Apache-2.0 */
/* Refinement by windows: the problems of windows compared with the whole problem, and the loop that
 * moves windows over a schedule. */
#include "ilp/refine/refine_private.h"
#include "ilp/solver_kit.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "kit/mutate/mutate.h"
#include "model/handle.h"
#include "problem/window.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

/* Returns the list schedule, or NULL where there is none. */
static fs_schedule *listed(fsched_context *own, const fsched_graph *g) {
  fsched_compile_options o = {.size = sizeof o, .effort = FSCHED_EFFORT(0)};
  fsched_schedule *compiled = NULL;
  fsched_status status = fsched_compile(own, g, &o, &compiled, NULL);
  ck_assert_msg(status == FSCHED_OK || status == FSCHED_INFEASIBLE, "%s", fs_test_diags(own));
  fsched_diag_clear(own);
  fs_schedule *s = status == FSCHED_OK ? fs_schedule_copy(compiled->schedule) : NULL;
  fsched_schedule_destroy(compiled);
  return s;
}

/* ---- problems of windows */

/* At one instant the strip packing model counts more than the verifier does, where items of no
 * length begin and end there. */
typedef struct whole {
  bool instants; /* there are such items */

  fsched_context *ctx;
  fsched_graph *g;
  fs_schedule *s; /* NULL: there is none */
  fs_problem *p;
  fs_frame frame;
} whole;

static whole open_whole(uint64_t seed, uint32_t max_ops) {
  whole w = {.ctx = fs_new_context()};
  fs_gen_params params = fs_gen_any(seed, max_ops);
  fs_answer *a;
  w.instants = params.zero_times;
  ck_fs(w.ctx, fs_gen_graph(w.ctx, &params, &w.g));
  w.s = listed(w.ctx, w.g);
  if (w.s != NULL) {
    ck_fs(w.ctx, fs_problem_from_schedule(w.ctx, w.s, &w.p));
    ck_fs(w.ctx, fs_answer_of_schedule(w.p, w.s, &a));
    ck_fs(w.ctx, fs_frame_open(&w.frame, w.p, a));
  }
  return w;
}

static void close_whole(whole *w) {
  fs_frame_close(&w->frame);
  fs_problem_destroy(w->p);
  fs_schedule_destroy(w->s);
  fsched_graph_destroy(w->g);
  fsched_context_destroy(w->ctx);
}

/* The two models of a window. */
typedef struct models {
  fs_time_model *time;
  fs_pack_model *pack;
} models;

static models build_models(fsched_context *own, const fs_window *w) {
  models m = {0};
  fs_time_options o = {.places = FS_TIME_GIVEN,
                       .address = w->known.address,
                       .rigid = w->rigid,
                       .max_shift = w->max_shift,
                       .max_terms = 30000};
  fs_pack_options q = {.address = w->known.address,
                       .rigid = w->rigid,
                       .max_shift = w->max_shift,
                       .max_terms = 30000};
  if (w->n_starts < 3000) {
    ck_fs(own, fs_time_model_build(&w->p, &o, &m.time));
  }
  ck_fs(own, fs_pack_model_build(&w->p, &q, &m.pack));
  return m;
}

static void drop_models(models *m) {
  fs_time_model_destroy(m->time);
  fs_pack_model_destroy(m->pack);
}

/* Returns NULL when it does not fit, and need not. */
static int64_t *point_of(const whole *all, const models *m, bool time, const fs_window *w,
                         uint64_t seed, uint32_t from) {
  fsched_context *own = all->ctx;
  const fs_model *model = time ? fs_time_model_of(m->time) : fs_pack_model_of(m->pack);
  int64_t *value = calloc(model->var.n + 1, sizeof *value);
  bool fits;
  ck_fs(own, time ? fs_time_model_point(m->time, &w->known, value, &fits)
                  : fs_pack_model_point(m->pack, &w->known, value, &fits));
  uint64_t broken = fs_model_broken(model, value);
  if (!fits && !time && all->instants) {
    free(value);
    return NULL;
  }
  if (!fits || broken != FS_NONE || model->contradiction) {
    ck_abort_msg("seed %llu, window %u: the known answer is not in the %s model: %s",
                 (unsigned long long)seed, from, time ? "time" : "pack",
                 broken < FS_NONE ? model->row.at[broken].name : "bounds");
  }
  if (fs_model_objective(model, value) != (int64_t)w->known.makespan) {
    ck_abort_msg("seed %llu, window %u, %s model: objective %lld of %llu", (unsigned long long)seed,
                 from, time ? "time" : "pack", (long long)fs_model_objective(model, value),
                 (unsigned long long)w->known.makespan);
  }
  return value;
}

/* Checks that the frame keeps nothing of a window. */
static void check_forgotten(const whole *w) {
  bool left = false;
  for (uint32_t i = 0; i < w->p->n_items; i++) {
    left = left || w->frame.local_item[i] != FS_NONE;
  }
  for (uint32_t r = 0; r < w->p->n_residencies; r++) {
    left = left || w->frame.local_residency[r] != FS_NONE;
  }
  if (left) {
    ck_abort_msg("ids of a window are left");
  }
}

START_TEST(known_answers_fit)
{
  uint32_t made = 0, rigid = 0, residencies = 0, timed = 0, tied = 0, misfits = 0;
  for (uint64_t seed = 0; seed < 150; seed++) {
    whole w = open_whole(seed, 60);
    uint32_t n = w.s == NULL ? 0 : w.p->n_items, width = 3 + (uint32_t)(seed % 7);
    for (uint32_t from = 0; from < n; from += width) {
      uint32_t to = (uint32_t)fs_min(n, from + width);
      fs_window x;
      ck_fs(w.ctx, fs_window_make(&w.frame, from, to, w.s->lower_bound, 1000, &x));
      tied += x.tied != FS_NONE;
      check_forgotten(&w);
      if (x.made) {
        models m = build_models(w.ctx, &x);
        made++;
        rigid += x.rigid != NULL;
        residencies += x.p.n_residencies;
        int64_t *value = m.pack != NULL ? point_of(&w, &m, false, &x, seed, from) : NULL;
        misfits += m.pack != NULL && value == NULL;
        free(value);
        free(m.time != NULL ? point_of(&w, &m, true, &x, seed, from) : NULL);
        timed += m.time != NULL;
        drop_models(&m);
      }
      fs_window_release(&x);
    }
    close_whole(&w);
  }
  ck_assert_uint_gt(made, 200);
  ck_assert_uint_lt(misfits, made / 50);
  ck_assert_uint_gt(rigid, 100);
  ck_assert_uint_gt(timed, 100);
  ck_assert_uint_gt(residencies, 1000);
  ck_assert_uint_gt(tied, 100);
}
END_TEST

/* An op runs far beyond the window, and other items follow it on its queue, or on another one. */
static void far_away(bool same, uint32_t *tied, fs_tick *shift) {
  fsched_graph *g = fs_parse(same ? "fsched: 1\n"
                                    "target: {queues: [{name: p}, {name: q}]}\nops:\n"
                                    "  - {name: long, on: p, time: 50}\n"
                                    "  - {name: x, on: q, time: 5}\n"
                                    "  - {name: z, on: q, time: 2}\n"
                                    "  - {name: m, on: p, time: 5, after: [z]}\n"
                                  : "fsched: 1\n"
                                    "target: {queues: [{name: p}, {name: q}]}\nops:\n"
                                    "  - {name: long, on: p, time: 50}\n"
                                    "  - {name: x, on: q, time: 5}\n"
                                    "  - {name: z, on: q, time: 2}\n"
                                    "  - {name: m, on: q, time: 5, after: [z]}\n");
  static const fs_tick start[] = {0, 0, 10, 50};
  fs_schedule *s = listed(ctx, g);
  fs_problem *p;
  fs_answer *a;
  fs_frame frame;
  fs_window x;
  ck_fs(ctx, fs_problem_from_schedule(ctx, s, &p));
  ck_fs(ctx, fs_answer_of_schedule(p, s, &a));
  memcpy(a->start, start, sizeof start);
  ck_fs(ctx, fs_frame_open(&frame, p, a));
  ck_fs(ctx, fs_window_make(&frame, 1, 2, 0, 100, &x));
  *tied = x.tied;
  *shift = x.made ? x.max_shift : 0;
  fs_window_release(&x);
  fs_frame_close(&frame);
  fs_problem_destroy(p);
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}

START_TEST(far_items_limit_the_shift)
{
  uint32_t tied;
  fs_tick shift;
  far_away(true, &tied, &shift);
  ck_assert_uint_eq(tied, 3); /* m, at its place in the order */
  ck_assert_uint_eq(shift, 0);
  far_away(false, &tied, &shift);
  ck_assert_uint_eq(tied, FS_NONE);
  ck_assert_uint_eq(shift, 5); /* the long op ends at 50 of 55 */
}
END_TEST

/* ---- answers of windows */

/* What the solver finds: a proven optimum, or -1. */
static int64_t solved(whole *w, fs_window *x, const models *m, bool time, const char *command,
                      uint64_t seed, uint32_t from) {
  const fs_model *model = time ? fs_time_model_of(m->time) : fs_pack_model_of(m->pack);
  int64_t *value = point_of(w, m, time, x, seed, from);
  if (value == NULL) {
    return -1;
  }
  fs_solver_options o = {.command = command, .node_limit = 30};
  fs_solver_result result;
  fs_answer *found;
  ck_fs(w->ctx, fs_solver_run(w->ctx, model, &o, true, value, &result));
  ck_assert_msg(result.status != FS_SOLVER_FAILED, "%s", result.reason);
  ck_fs(w->ctx, time ? fs_time_model_answer(m->time, &x->p, value, &found)
                     : fs_pack_model_answer(m->pack, &x->p, value, &found));
  free(value);
  /* The whole answer is a schedule, as short as was claimed. */
  fs_answer all = *w->frame.answer, *kept = w->frame.answer;
  fs_arena arena;
  fs_arena_init(&arena, w->ctx);
  uint32_t n = w->p->n_items;
  ck_fs(w->ctx, fs_new(&arena, &all.start, n));
  ck_fs(w->ctx, fs_new(&arena, &all.choice, n));
  memcpy(all.start, kept->start, n * sizeof *all.start);
  memcpy(all.choice, kept->choice, n * sizeof *all.choice);
  w->frame.answer = &all;
  fs_window_take(&w->frame, x, x->rigid == NULL ? n : from + x->n_free, found);
  w->frame.answer = kept;
  fs_schedule *s;
  const char *why;
  ck_fs(w->ctx, fs_answer_schedule(w->p, &all, &s, &why));
  if (s == NULL) {
    ck_abort_msg("seed %llu, window %u: the %s model's answer is refused: %s",
                 (unsigned long long)seed, from, time ? "time" : "pack", why);
  }
  if (s->makespan > (fs_tick)result.objective + x->base) {
    ck_abort_msg("seed %llu, window %u: makespan %llu, the %s model says %lld",
                 (unsigned long long)seed, from, (unsigned long long)s->makespan,
                 time ? "time" : "pack", (long long)result.objective + (long long)x->base);
  }
  fs_schedule_destroy(s);
  fs_arena_release(&arena);
  return result.status == FS_SOLVER_OPTIMAL ? result.objective : -1;
}

START_TEST(answers_are_schedules)
{
  char path[4096];
  const char *command = fs_test_solver(path);
  uint32_t both = 0, gained = 0;
  for (uint64_t seed = 0; command != NULL && seed < 40; seed++) {
    whole w = open_whole(seed + 500, 40);
    uint32_t n = w.s == NULL ? 0 : w.p->n_items, some = 0;
    for (uint32_t from = (uint32_t)(seed % 5); from < n && some < 3; from += 7) {
      fs_window x;
      ck_fs(w.ctx, fs_window_make(&w.frame, from, (uint32_t)fs_min(n, from + 9), w.s->lower_bound,
                                  1000, &x));
      if (x.made) {
        models m = build_models(w.ctx, &x);
        int64_t a = -1, b = -1;
        a = m.time != NULL ? solved(&w, &x, &m, true, command, seed, from) : a;
        b = m.pack != NULL ? solved(&w, &x, &m, false, command, seed, from) : b;
        if (a >= 0 && b >= 0 && a != b) {
          ck_abort_msg("seed %llu, window %u: time %lld, pack %lld", (unsigned long long)seed, from,
                       (long long)a, (long long)b);
        }
        some++;
        both += a >= 0 && b >= 0;
        gained += a >= 0 && (fs_tick)a < x.known.makespan;
        drop_models(&m);
      }
      fs_window_release(&x);
    }
    close_whole(&w);
  }
  ck_assert(command == NULL || (both > 20 && gained > 2));
}
END_TEST

/* ---- windows one after another */

typedef struct watch {
  volatile int stop;
  unsigned news, enough;
  uint64_t last;
} watch;

static void hear(void *user, const fsched_refine_state *state) {
  watch *w = user;
  if (w->last != 0 && state->incumbent > w->last) {
    ck_abort_msg("the makespan rose");
  }
  w->last = state->incumbent;
  w->stop = ++w->news >= w->enough;
}

/* Slides over *s until there was so much news. */
static fs_refiner slide(const fsched_graph *g, fs_schedule **s, const char *command,
                        fs_refine_options *o, watch *w) {
  *o = (fs_refine_options){
      .refine = FSCHED_REFINE_ILP, .node_limit = 300, .stop = &w->stop, .news = hear, .user = w};
  fs_refiner r = {
      .ctx = ctx, .g = g, .o = o, .best = *s, .bound = (*s)->lower_bound, .command = command};
  ck_fs(ctx, fs_refine_slide(&r));
  *s = r.best;
  ck_fs(ctx, fs_verify_schedule(ctx, g, r.best, NULL));
  return r;
}

START_TEST(never_worse)
{
  char path[4096];
  const char *command = fs_test_solver(path);
  uint32_t better = 0, copies = 0;
  for (uint64_t seed = 0; command != NULL && seed < 24; seed++) {
    fs_gen_params params = fs_gen_any(seed + 900, 150);
    params.n_ops = 40 + (uint32_t)(seed * 37 % 111);
    fsched_graph *g;
    fs_refine_options o;
    ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
    fs_schedule *s = listed(ctx, g);
    if (s != NULL) {
      fs_tick before = s->makespan;
      copies += s->n_copies;
      watch w = {.enough = 25};
      fs_refiner r = slide(g, &s, command, &o, &w);
      ck_assert_str_eq(r.fault, "");
      ck_assert_uint_le(s->makespan, before);
      better += s->makespan < before;
    }
    fs_schedule_destroy(s);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
  ck_assert(command == NULL || (better > 2 && copies > 50));
}
END_TEST

/* Writes a chain that keeps its queue busy, and long ops that could run beside its short ones. */
static char *chain_text(void) {
  char *text = malloc(1 << 16);
  int n = sprintf(text,
                  "fsched: 1\ntarget:\n"
                  "  queues: [{name: p}, {name: q}, {name: r}]\n"
                  "  resources: [{name: power, capacity: 4}]\nops:\n");
  for (int k = 0; k < 4; k++) {
    n += sprintf(text + n,
                 "  - {name: a%d, time: 2, uses: {power: 2}, after: [z%d]}\n"
                 "  - {name: b%d, time: 2, uses: {power: 1}, after: [z%d]}\n"
                 "  - {name: c%d, time: 6, uses: {power: 2}, after: [z%d]}\n"
                 "  - {name: d%d, time: 1, uses: {power: 2}, after: [z%d]}\n"
                 "  - {name: e%d, time: 3, uses: {power: 2}, after: [d%d]}\n"
                 "  - {name: f%d, time: 1, uses: {power: 2}, after: [b%d]}\n"
                 "  - {name: g%d, time: 5, uses: {power: 3}, after: [z%d]}\n"
                 "  - {name: h%d, time: 4, uses: {power: 1}, after: [z%d]}\n"
                 "  - {name: i%d, time: 4, uses: {power: 3}, after: [b%d]}\n"
                 "  - {name: j%d, time: 6, uses: {power: 2}, after: [e%d]}\n"
                 "  - {name: z%d, time: 0, after: [a%d, c%d, f%d, g%d, h%d, i%d, j%d]}\n",
                 k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k + 1, k, k, k, k, k,
                 k, k);
  }
  (void)sprintf(text + n, "  - {name: z0, time: 0}\n");
  return text;
}

enum { LINKS = 4, LINK_LIST = 21, LINK_BEST = 19 }; /* the best one by exhaustive search */

START_TEST(windows_find_the_best)
{
  char path[4096];
  const char *command = fs_test_solver(path);
  char *text = chain_text();
  fsched_graph *g = fs_parse(text);
  fs_schedule *s = listed(ctx, g), *again = listed(ctx, g);
  ck_assert_uint_eq(s->makespan, LINKS * LINK_LIST);
  if (command != NULL) {
    fs_refine_options o;
    watch w = {.enough = 100000}, v = w;
    slide(g, &s, command, &o, &w);
    ck_assert_uint_eq(s->makespan, LINKS * LINK_BEST);
    slide(g, &again, command, &o, &v); /* the same windows give the same answers */
    ck_assert_mem_eq(s->start, again->start, s->n_items * sizeof *s->start);
  }
  fs_schedule_destroy(s);
  fs_schedule_destroy(again);
  fsched_graph_destroy(g);
  free(text);
}
END_TEST

START_TEST(faults_and_stops)
{
  char *text = chain_text();
  fsched_graph *g = fs_parse(text);
  fs_schedule *s = listed(ctx, g);
  fs_tick before = s->makespan;
  static const char *const mode[] = {"abort", "binary", "exit", "lie"};
  for (size_t k = 0; k < sizeof mode / sizeof *mode; k++) {
    char command[64];
    fs_refine_options o;
    watch w = {.enough = 1000};
    (void)snprintf(command, sizeof command, "test/ilp/solver_fault.sh %s", mode[k]);
    fs_refiner r = slide(g, &s, command, &o, &w);
    ck_assert_msg(r.fault[0] != '\0', "%s", mode[k]);
    ck_assert_uint_eq(s->makespan, before);
  }
  fs_refine_options o;
  watch w = {.stop = 1, .enough = 1};
  fs_refiner r = slide(g, &s, "test/ilp/solver_fault.sh abort", &o, &w);
  ck_assert_str_eq(r.fault, ""); /* no solver was run */
  ck_assert_uint_eq(s->makespan, before);
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
  free(text);
}
END_TEST

START_TEST(given_starts_are_left_alone)
{
  fsched_graph *g = fs_parse("fsched: 1\nops:\n  - {name: a, start: 3}\n  - {name: b}\n");
  fs_schedule *s = listed(ctx, g);
  fs_refine_options o;
  watch w = {.enough = 1000};
  fs_refiner r = slide(g, &s, "test/ilp/solver_fault.sh abort", &o, &w);
  ck_assert_str_eq(r.fault, "");
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* ---- memory */

static fsched_status all_windows(fsched_context *own, const void *user) {
  const fs_schedule *s = user;
  fs_problem *p = NULL;
  fs_answer *a = NULL;
  fs_frame frame = {0};
  fs_status status = fs_problem_from_schedule(own, s, &p);
  status = status == FSCHED_OK ? fs_answer_of_schedule(p, s, &a) : status;
  status = status == FSCHED_OK ? fs_frame_open(&frame, p, a) : status;
  for (uint32_t from = 0; status == FSCHED_OK && from < p->n_items; from += 8) {
    fs_window x;
    status = fs_window_make(&frame, from, (uint32_t)fs_min(p->n_items, from + 10), 0, 1000, &x);
    fs_window_release(&x);
  }
  fs_frame_close(&frame);
  fs_problem_destroy(p);
  return status;
}

START_TEST(out_of_memory)
{
  fs_budget budget;
  fsched_context *own = fs_budget_context(&budget);
  fs_gen_params params = fs_gen_tight(3, 30);
  fsched_graph *g;
  ck_fs(own, fs_gen_graph(own, &params, &g));
  fs_schedule *s = listed(own, g);
  ck_assert_ptr_nonnull(s);
  fs_fail_each_allocation(own, &budget, all_windows, s);
  fs_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_context_destroy(own);
}
END_TEST

FS_SUITE(ilp_slide, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 240);
  FS_TESTS(t, known_answers_fit, far_items_limit_the_shift, answers_are_schedules, never_worse,
           windows_find_the_best, faults_and_stops, given_starts_are_left_alone, out_of_memory);
}
