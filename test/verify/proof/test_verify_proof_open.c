/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of open copies, against schedules.  A schedule gives each thing that a header names its
 * time.  Where all is assumed to be as it is there, no rule may be violated, as all of them hold in
 * every schedule; and what is violated with less assumed is violated with all of it. */
#include <stdio.h>
#include <string.h>

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "model/handle.h"
#include "search/spill/spill.h"
#include "verify/proof/point_proof.h"

#include "kit/context.h"

enum { FAMILIES = 4, GRAPHS = 30, SCHEDULES = 5, SUBSETS = 40 };

/* The header of a proof, which no search is needed for; false: there is none with open copies. */
static bool write_header(const fsched_graph *g, fs_text *t) {
  fs_arena own;
  fs_problem *p;
  fs_spills s = {0};
  bool can = false;
  fs_arena_init(&own, ctx);
  ck_fs(ctx, fs_problem_spilling(ctx, g, 1 << 20, 0, &p));
  if (p != NULL && fs_spills_know(p)) {
    ck_fs(ctx, fs_spilling_provable(p, &can));
  }
  if (can) {
    ck_fs(ctx, fs_spills_init(&s, p, &own));
    ck_fs(ctx, fs_spills_log(&s, t));
  }
  fs_spills_release(&s);
  fs_problem_destroy(p);
  fs_arena_release(&own);
  return can;
}

/* A question: an axiom of a rule, in which some nodes are as the schedule has them. */
typedef struct pinned_axiom {
  const point_proof *x;
  fs_text t;
  uint64_t asked;
} pinned_axiom;

static void begin_axiom(pinned_axiom *q, const char *rule) {
  fs_text_init(&q->t, ctx);
  fs_text_add(&q->t, q->x->head, q->x->head_length);
  fs_text_printf(&q->t, "begin\n%s", rule);
}

static void pin(pinned_axiom *q, uint32_t node) {
  const point_thing *t = &q->x->thing[node];
  unsigned long long value = t->boolean ? t->value : t->value / q->x->unit;
  if (!t->there) {
    return;
  }
  fs_text_printf(&q->t, " %s%u>=%llu", t->owner == FS_NONE ? "" : "?", node, value + 1);
  if (value > 0) {
    fs_text_printf(&q->t, " %s%u<=%llu", t->owner == FS_NONE ? "" : "?", node, value - 1);
  }
}

/* Is the axiom refused, as it should be?  It is not if its windows are empty. */
static void end_axiom(pinned_axiom *q) {
  uint64_t shown;
  fs_text_printf(&q->t, "\nl : @1\nend %llu\n", (unsigned long long)q->x->s->makespan + 1);
  fsched_status status = fsched_verify_proof(ctx, q->x->g, q->t.at, q->t.n, "p", &shown);
  const char *why = "";
  for (uint32_t k = 0; k < fsched_diag_count(ctx); k++) {
    why = fsched_diag_get(ctx, k)->message;
  }
  bool refused = strcmp(why, "the rule of this axiom does not give its clause") == 0;
  ck_assert_msg(status == FSCHED_WRONG && refused, "%s\n%.*s", why, (int)q->t.n, q->t.at);
  fsched_diag_clear(ctx);
  fs_text_drop(&q->t);
  q->asked++;
}

static void pin_all(pinned_axiom *q) {
  for (uint32_t k = 0; k < q->x->n; k++) {
    pin(q, k);
  }
}

static void pin_some(pinned_axiom *q, fs_rng *r) {
  for (uint32_t k = 0, n = 2 + fs_rng_below(r, 4); k < n; k++) {
    uint32_t node = fs_rng_below(r, q->x->n_items);
    pin(q, node);
    if (q->x->thing[node].owner != FS_NONE) {
      pin(q, q->x->thing[node].owner);
    }
  }
  for (uint32_t k = q->x->n_items + q->x->n_ends; k < q->x->n; k++) {
    pin(q, k);
  }
}

/* The residencies of a schedule have addresses. */
static void ask_places(pinned_axiom *q, fs_rng *r, uint32_t memory) {
  const point_proof *x = q->x;
  uint32_t first = fs_rng_below(r, x->n), n = 0;
  char rule[160], list[128] = "";
  for (uint32_t k = 0, most = 2 + fs_rng_below(r, 8); k < x->n && n < most; k++) {
    uint32_t node = (first + k) % x->n;
    const point_thing *t = &x->thing[node];
    bool stays = t->there && !t->boolean && (node < x->g->n_ops || node >= x->n_items);
    if (stays && fs_rng_one_in(r, 2)) {
      (void)snprintf(list + strlen(list), sizeof list - strlen(list), " %u", node);
      n++;
    }
  }
  (void)snprintf(rule, sizeof rule, "n %u %u%s", memory, n, list);
  begin_axiom(q, rule);
  pin_all(q);
  end_axiom(q);
}

static void ask_all(pinned_axiom *q, fs_rng *r) {
  const point_proof *x = q->x;
  char rule[64];
  static const char *const whole[] = {"p", "c"};
  for (size_t k = 0; k < 2; k++) {
    begin_axiom(q, whole[k]);
    pin_all(q);
    end_axiom(q);
  }
  for (uint32_t set = 0; set < x->n_sets; set++) {
    (void)snprintf(rule, sizeof rule, "t %u", set);
    begin_axiom(q, rule);
    pin_all(q);
    end_axiom(q);
    for (uint32_t k = 0; k < SUBSETS; k++) {
      static const char letters[] = "sexfb";
      uint32_t l = k % 5;
      if (letters[l] == 'x') {
        (void)snprintf(rule, sizeof rule, "x");
      } else if (l < 2) {
        (void)snprintf(rule, sizeof rule, "%c %u", letters[l], set);
      } else {
        (void)snprintf(rule, sizeof rule, "%c %u %u", letters[l], set, fs_rng_below(r, x->n_items));
      }
      begin_axiom(q, rule);
      pin_some(q, r);
      end_axiom(q);
    }
  }
  for (uint32_t k = 0; k < x->g->target.n_memories * SUBSETS; k++) {
    ask_places(q, r, k / SUBSETS);
  }
  for (uint32_t a = 0; a < x->n_items + x->n_ends; a++) {
    for (uint32_t b = 0; b < a; b++) {
      bool copy = (a >= x->g->n_ops && a < x->n_items) || (b >= x->g->n_ops && b < x->n_items);
      if (!copy) {
        (void)snprintf(rule, sizeof rule, "a %u %u", a, b);
        begin_axiom(q, rule);
        pin_all(q);
        end_axiom(q);
      }
    }
  }
}

static fsched_schedule *schedule_of(const fsched_graph *g, uint32_t k) {
  fsched_schedule *s = NULL;
  fsched_compile_options o = {.size = sizeof o,
                              .seed = k / 2,
                              .evict = k % 2 == 0 ? FSCHED_EVICT_FARTHEST : FSCHED_EVICT_LRU,
                              .node_limit = 50,
                              .refine = k == 0 ? FSCHED_REFINE_SEARCH : FSCHED_REFINE_NONE};
  fsched_status status = fsched_compile(ctx, g, &o, &s, NULL);
  ck_assert(status == FSCHED_OK || status == FSCHED_INFEASIBLE);
  fsched_diag_clear(ctx);
  return status == FSCHED_OK ? s : NULL;
}

static fs_gen_params draw_graph(unsigned family, uint64_t seed) {
  fs_gen_params p = family == 0   ? fs_gen_tight(seed, 3 + (uint32_t)(seed % 8))
                    : family == 1 ? fs_gen_odd(seed, 9)
                    : family == 2 ? fs_gen_any(seed, 9)
                                  : fs_gen_tight(seed, 3 + (uint32_t)(seed % 8));
  if (family == 3) { /* without a store */
    fs_rng r = {seed};
    p.backing = false;
    p.short_share = 0.4 + 0.1 * fs_rng_below(&r, 5);
    p.counted = fs_rng_one_in(&r, 3);
    p.max_size = 8;
    p.max_time = 4;
  }
  p.latencies = p.class_gangs = false;
  return p;
}

START_TEST(rules_hold)
{
  static point_proof x;
  uint64_t asked = 0, multiples = 0;
  for (unsigned i = 0; i < GRAPHS; i++) {
    uint64_t seed = (fs_turn() * FAMILIES + (uint64_t)_i) << 16 | i;
    fs_gen_params params = draw_graph((unsigned)_i, seed);
    fsched_graph *g;
    fs_text head;
    fsched_status status = fs_gen_graph(ctx, &params, &g);
    fsched_diag_clear(ctx);
    if (status != FSCHED_OK) {
      continue;
    }
    fs_text_init(&head, ctx);
    if (write_header(g, &head)) {
      fs_text_add(&head, "", 1);
      ck_assert(!head.failed && fs_point_read(&x, g, head.at));
      for (uint32_t k = 0; k < SCHEDULES; k++) {
        fsched_schedule *s = schedule_of(g, k);
        if (s != NULL && fs_point_take(&x, s->schedule)) {
          pinned_axiom q = {.x = &x};
          fs_rng r = {seed ^ k};
          ask_all(&q, &r);
          asked += q.asked;
          multiples++;
        }
        fsched_schedule_destroy(s);
      }
    }
    fs_text_drop(&head);
    fsched_graph_destroy(g);
  }
  fs_assert_seen(multiples, 10);
  fs_assert_seen(asked, 1000);
}
END_TEST

FS_SUITE(verify_proof_open, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 240);
  FS_LOOPS(t, 0, FAMILIES, rules_hold);
}
