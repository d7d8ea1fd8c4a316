/* SPDX-License-Identifier: Apache-2.0 */
/* The checker of proofs and random problems, of which all schedules are known: no clause that it
 * takes for an axiom is broken by a schedule; proofs of a prover that is the test's own are right;
 * and no damaged proof shows more than the optimum. */
#include <stdio.h>

#include "fsched/verify.h"
#include "kit/exhaust.h"
#include "kit/turn.h"
#include "verify/proof/small_proof.h"
#include "verify/proof/written_proof.h"

#include "kit/context.h"

enum { SEEDS = 60, CLAUSES = 400, DAMAGES = 60, MOST_SCHEDULES = 20000 };

static fs_rng rng_of(int seed, uint64_t salt) {
  return (fs_rng){fs_turn() * 1000 + (uint64_t)seed + (salt << 40)};
}

static fsched_status verify_quietly(const fsched_graph *g, const fs_text *t, uint64_t *bound) {
  fsched_status status = fsched_verify_proof(ctx, g, t->at, t->n, "p", bound);
  ck_assert_int_eq(status == FSCHED_OK, fsched_diag_count(ctx) == 0);
  return status;
}

/* ---- axioms and schedules */

typedef struct small_clause {
  char rule;
  unsigned set, op, n, n_orders;
  unsigned first[2], second[2];                         /* orders that the clause names */
  unsigned at[SMALL_OPS], lb[SMALL_OPS], ub[SMALL_OPS]; /* per op: its window */
} small_clause;

static small_clause random_clause(const small_proof *c, fs_rng *r, unsigned horizon) {
  small_clause k = {.rule = "poxtzsefb"[fs_rng_below(r, 9)],
                    .set = fs_rng_below(r, fs_small_proof_sets(c)),
                    .op = fs_rng_below(r, c->n)};
  for (unsigned op = 0; op < c->n && k.rule == 'z' && c->time[k.op] > 0; op++) {
    k.op = op;
  }
  k.n = strchr("pox", k.rule) != NULL ? 2 : 1 + fs_rng_below(r, c->n);
  unsigned shift = fs_rng_below(r, c->n);
  for (unsigned i = 0; i < k.n && i < c->n; i++) {
    unsigned op = k.at[i] = (i + shift) % c->n, whole = fs_small_whole(c, op);
    unsigned latest = horizon - (whole < horizon ? whole : horizon);
    k.lb[i] = fs_rng_one_in(r, 3) ? 0 : fs_rng_below(r, latest + 1);
    k.ub[i] = k.lb[i] + fs_rng_below(r, fs_rng_one_in(r, 3) ? 2 : latest - k.lb[i] + 1);
  }
  k.n_orders = k.rule == 'o' || fs_rng_one_in(r, 8);
  k.first[0] = k.at[fs_rng_below(r, k.n)];
  k.second[0] = k.at[fs_rng_below(r, k.n)];
  return k;
}

static void put_clause(const small_clause *k, fs_text *t) {
  fs_text_printf(t, "%c", k->rule);
  if (strchr("tzsefb", k->rule) != NULL) {
    fs_text_printf(t, " %u", k->set);
  }
  if (strchr("zfb", k->rule) != NULL) {
    fs_text_printf(t, " %u", k->op);
  }
  for (unsigned i = 0; i < k->n; i++) {
    if (k->lb[i] > 0) {
      fs_text_printf(t, " %u<=%u", k->at[i], k->lb[i] - 1);
    }
    fs_text_printf(t, " %u>=%u", k->at[i], k->ub[i] + 1);
  }
  for (unsigned i = 0; i < k->n_orders; i++) {
    fs_text_printf(t, " %u<%u", k->first[i], k->second[i]);
  }
  fs_text_puts(t, "\n");
}

/* Does one of its literals hold? */
static bool clause_holds(const small_proof *c, const small_clause *k, const unsigned *start) {
  for (unsigned i = 0; i < k->n; i++) {
    if (start[k->at[i]] < k->lb[i] || start[k->at[i]] > k->ub[i]) {
      return true;
    }
  }
  for (unsigned i = 0; i < k->n_orders; i++) {
    bool whole;
    unsigned first = k->first[i];
    (void)fs_small_exclude(c, first, k->second[i], &whole);
    if (start[first] + (whole ? fs_small_whole(c, first) : c->time[first]) <= start[k->second[i]]) {
      return true;
    }
  }
  return false;
}

/* The fault of a text with a clause, and a lemma that does not follow from it, is in the line of
 * the one or of the other. */
static bool is_axiom(const fsched_graph *g, const small_proof *c, unsigned horizon,
                     const small_clause *k) {
  fs_text t;
  uint64_t bound;
  fs_text_init(&t, ctx);
  fs_small_proof_head(c, &t);
  put_clause(k, &t);
  unsigned line = 1;
  for (size_t i = 0; i < t.n; i++) {
    line += t.at[i] == '\n';
  }
  fs_text_printf(&t, "l :\nend %u\n", (horizon + 1) * c->unit);
  ck_assert_int_eq(verify_quietly(g, &t, &bound), FSCHED_WRONG);
  uint32_t at = fsched_diag_get(ctx, 0)->line;
  ck_assert_msg(at == line || at == line - 1, "%s: %.*s", fsched_diag_get(ctx, 0)->message,
                (int)t.n, t.at);
  fsched_diag_clear(ctx);
  fs_text_drop(&t);
  return at == line;
}

typedef struct all_schedules {
  unsigned n;
  unsigned start[MOST_SCHEDULES][SMALL_OPS];
} all_schedules;

/* False: there are too many. */
static bool list_schedules(const small_proof *c, unsigned horizon, all_schedules *all) {
  unsigned start[SMALL_OPS] = {0};
  all->n = 0;
  do {
    if (fs_small_proof_end(c, start) <= horizon && fs_small_proof_right(c, start)) {
      if (all->n == MOST_SCHEDULES) {
        return false;
      }
      memcpy(all->start[all->n++], start, sizeof start);
    }
  } while (fs_small_proof_next(c, horizon, start));
  return true;
}

START_TEST(axioms_hold)
{
  all_schedules *all = malloc(sizeof *all);
  unsigned taken[128] = {0};
  for (int seed = 0; seed < SEEDS; seed++) {
    fs_rng r = rng_of(seed, 1);
    small_proof c = fs_small_proof(&r, 4, 3, true);
    if (seed % 2 == 0) {
      fs_small_latencies(&c, &r);
    }
    unsigned horizon = 3 + fs_rng_below(&r, 5);
    fsched_graph *g = fs_small_proof_graph(&c);
    bool listed = list_schedules(&c, horizon, all);
    for (unsigned i = 0; listed && i < CLAUSES; i++) {
      small_clause k = random_clause(&c, &r, horizon);
      if (!is_axiom(g, &c, horizon, &k)) {
        continue;
      }
      taken[(unsigned char)k.rule]++;
      for (unsigned s = 0; s < all->n; s++) {
        ck_assert_msg(clause_holds(&c, &k, all->start[s]), "seed %d: rule %c, clause %u", seed,
                      k.rule, i);
      }
    }
    fsched_graph_destroy(g);
  }
  free(all);
  for (const char *rule = "poxtzsefb"; *rule != '\0'; rule++) {
    fs_assert_seen(taken[(unsigned char)*rule], strchr("zfb", *rule) != NULL ? 20 : 60);
  }
}
END_TEST

/* ---- proofs */

/* The optimum in ticks, found by two searches that know nothing of each other. */
static uint64_t optimum(const small_proof *c, const fsched_graph *g) {
  unsigned start[SMALL_OPS] = {0}, sum = 0, best;
  for (unsigned op = 0; op < c->n; op++) {
    sum += fs_small_whole(c, op);
  }
  best = sum;
  do {
    unsigned end = fs_small_proof_end(c, start);
    best = end < best && fs_small_proof_right(c, start) ? end : best;
  } while (fs_small_proof_next(c, best == 0 ? 0 : best - 1, start));
  fs_exhaust e = fs_exhaust_search(g, 0, (fs_tick)sum * c->unit, UINT64_C(1) << 30);
  ck_assert(e.known && e.found);
  ck_assert_uint_eq(e.best, (uint64_t)best * c->unit);
  return e.best;
}

/* Writes a proof of the largest bound that the prover finds; false: of none. */
static bool prove(const small_proof *c, fs_rng *r, uint64_t best, fs_text *t, uint64_t *bound) {
  for (unsigned horizon = (unsigned)(best / c->unit); horizon-- > 0;) {
    fs_text_init(t, ctx);
    fs_small_proof_head(c, t);
    if (fs_rng_one_in(r, 3)) { /* of another horizon, and forgotten */
      (void)fs_small_proof_refute(c, r, horizon / 2, t);
      fs_text_puts(t, "begin\n");
    }
    if (fs_small_proof_refute(c, r, horizon, t)) {
      *bound = (uint64_t)(horizon + 1) * c->unit;
      fs_text_printf(t, "end %llu\n", (unsigned long long)*bound);
      ck_assert(!t->failed);
      return true;
    }
    fs_text_drop(t);
  }
  return false;
}

START_TEST(optimum_is_proven)
{
  unsigned rules[128] = {0}, proven = 0;
  for (int seed = 0; seed < 4 * SEEDS; seed++) {
    fs_rng r = rng_of(seed, 2);
    small_proof c =
        seed % 4 == 1 ? fs_small_moments(&r) : fs_small_proof(&r, seed % 4 == 0 ? 5 : 4, 3, false);
    fsched_graph *g = fs_small_proof_graph(&c);
    uint64_t best = optimum(&c, g), bound = 0, shown = 0;
    fs_text t;
    if (prove(&c, &r, best, &t, &bound)) {
      ck_assert_uint_eq(bound, best);
      ck_fs(ctx, verify_quietly(g, &t, &shown));
      ck_assert_uint_eq(shown, best);
      for (size_t i = 1; i < t.n; i++) {
        rules[(unsigned char)t.at[i]] += t.at[i - 1] == '\n';
      }
      proven++;
      fs_text_drop(&t);
    } else {
      ck_assert_uint_eq(best, 0);
    }
    fsched_graph_destroy(g);
  }
  fs_assert_seen(proven, 200);
  for (const char *rule = "poxtzsefbld"; *rule != '\0'; rule++) {
    fs_assert_seen(rules[(unsigned char)*rule], 10);
  }
}
END_TEST

/* Changes a byte, a number or a line. */
static void damage(fs_rng *r, const fs_text *from, fs_text *t) {
  static const char bytes[] = "0123456789<=>: @poxtzsefbld\n";
  size_t at = fs_rng_below(r, (uint32_t)from->n), end = at + 1;
  fs_text_init(t, ctx);
  unsigned kind = fs_rng_below(r, 4);
  if (kind == 0) { /* a line goes, or comes twice */
    while (at > 0 && from->at[at - 1] != '\n') {
      at--;
    }
    while (end < from->n && from->at[end - 1] != '\n') {
      end++;
    }
    bool twice = fs_rng_one_in(r, 2);
    fs_text_add(t, from->at, twice ? end : at);
    fs_text_add(t, from->at + (twice ? at : end), from->n - (twice ? at : end));
    return;
  }
  if (kind == 1) { /* a digit, or what is the next one */
    while (at < from->n - 1 && (from->at[at] < '0' || from->at[at] > '9')) {
      at++;
    }
  }
  char c = kind == 1 ? (char)(from->at[at] + (fs_rng_one_in(r, 2) ? 1 : -1))
                     : bytes[fs_rng_below(r, sizeof bytes - 1)];
  fs_text_add(t, from->at, at);
  fs_text_add(t, &c, 1);
  fs_text_add(t, from->at + at + (kind < 3), from->n - at - (kind < 3));
}

/* Those that the search writes show the bound that its schedule has, and mostly the optimum. */
START_TEST(written_proofs)
{
  unsigned proven = 0, moments = 0;
  for (int seed = 0; seed < 4 * SEEDS; seed++) {
    fs_rng r = rng_of(seed, 4);
    small_proof c = seed % 2 == 0 ? fs_small_moments(&r) : fs_small_proof(&r, 5, 3, seed % 4 == 1);
    if (seed % 3 == 0) {
      fs_small_latencies(&c, &r);
    }
    fsched_graph *g = fs_small_proof_graph(&c);
    uint64_t best = optimum(&c, g), shown;
    fs_written_proof p = {0};
    if (best > 0) {
      p = fs_write_proof(g, (uint64_t)seed, 1000);
      fs_text t = {.at = p.text, .n = p.n};
      ck_fs(ctx, verify_quietly(g, &t, &shown));
      ck_assert_uint_eq(shown, p.bound);
      ck_assert_uint_le(shown, best);
      ck_assert_uint_ge(p.makespan, best);
      proven += shown == best;
      moments += strstr(p.text, "\nz ") != NULL;
    }
    fsched_text_free(ctx, p.text, p.n);
    fsched_graph_destroy(g);
  }
  fs_assert_seen(proven, 200);
  fs_assert_seen(moments, 5);
}
END_TEST

/* The proof that the search writes; false: of no op that takes time. */
static bool take_written(const fsched_graph *g, uint64_t best, fs_text *t, uint64_t *bound) {
  if (best == 0) {
    return false;
  }
  fs_written_proof p = fs_write_proof(g, 1, 1000);
  fs_text_init(t, ctx);
  fs_text_add(t, p.text, p.n);
  *bound = p.bound;
  fsched_text_free(ctx, p.text, p.n);
  return true;
}

START_TEST(damage_shows_nothing_false)
{
  unsigned passed = 0, refused = 0;
  for (int seed = 0; seed < SEEDS; seed++) {
    fs_rng r = rng_of(seed, 3);
    small_proof c = fs_small_proof(&r, 4, 3, seed % 2 == 0);
    if (seed % 3 == 0) {
      fs_small_latencies(&c, &r);
    }
    fsched_graph *g = fs_small_proof_graph(&c);
    uint64_t best = optimum(&c, g), bound = 0, shown;
    fs_text t, bad;
    bool proven =
        seed % 3 == 0 ? take_written(g, best, &t, &bound) : prove(&c, &r, best, &t, &bound);
    ck_assert_uint_le(bound, best);
    for (unsigned i = 0; proven && i < DAMAGES; i++) {
      damage(&r, &t, &bad);
      fsched_status status = verify_quietly(g, &bad, &shown);
      ck_assert(status == FSCHED_OK || status == FSCHED_WRONG || status == FSCHED_BAD_INPUT);
      ck_assert_msg(shown <= best, "seed %d, damage %u: %.*s", seed, i, (int)bad.n, bad.at);
      passed += status == FSCHED_OK;
      refused += status == FSCHED_WRONG;
      fsched_diag_clear(ctx);
      fs_text_drop(&bad);
    }
    if (proven) {
      fs_text_drop(&t);
    }
    fsched_graph_destroy(g);
  }
  fs_assert_seen(passed, 100);
  fs_assert_seen(refused, 500);
}
END_TEST

FS_SUITE(verify_proof_random, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, axioms_hold, optimum_is_proven, written_proofs, damage_shows_nothing_false);
}
