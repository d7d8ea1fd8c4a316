/* SPDX-License-Identifier: Apache-2.0 */
/* Races of loops that stay loops: they are those of the unrolled graph, each told once with the
 * least distance.  Loops that are longer than those that are looked at show the same ones. */
#include <stdio.h>
#include <string.h>

#include "base/limit.h"
#include "base/mem.h"
#include "fsched/graph.h"
#include "kit/chain_gen.h"
#include "kit/golden_case.h"
#include "kit/loop_gen.h"
#include "kit/nest_gen.h"
#include "kit/status.h"
#include "kit/turn.h"
#include "model/graph.h"

#include "kit/context.h"

enum { MOST = 4096, NAME = 40 };

/* Two ops in the order of their names, and how many iterations apart they race. */
typedef struct told_race {
  char a[NAME], b[NAME], buffer[NAME];
  uint64_t distance;
} told_race;

typedef struct told_races {
  told_race at[MOST];
  uint32_t n, n_ops; /* n_ops: of the graph */
} told_races;

static int by_names(const void *p, const void *q) {
  const told_race *x = p, *y = q;
  int order = strcmp(x->a, y->a);
  order = order != 0 ? order : strcmp(x->b, y->b);
  return order != 0 ? order : strcmp(x->buffer, y->buffer);
}

static void tell(told_races *t, const char *a, const char *b, const char *buffer,
                 uint64_t distance) {
  told_race r = {.distance = distance};
  bool turned = strcmp(a, b) > 0;
  (void)snprintf(r.a, NAME, "%s", turned ? b : a);
  (void)snprintf(r.b, NAME, "%s", turned ? a : b);
  (void)snprintf(r.buffer, NAME, "%s", buffer);
  for (uint32_t i = 0; i < t->n; i++) {
    if (by_names(&t->at[i], &r) == 0) {
      t->at[i].distance = distance < t->at[i].distance ? distance : t->at[i].distance;
      return;
    }
  }
  ck_assert_uint_lt(t->n, MOST);
  t->at[t->n++] = r;
}

/* What a name says: the op's own, and the iterations behind it, the innermost one last. */
typedef struct said_name {
  char op[NAME];
  uint64_t at[FSCHED_MAX_LOOPS];
} said_name;

static said_name name_of(const fsched_graph *g, uint32_t op) {
  said_name x = {{0}, {0}};
  uint32_t depth = 0;
  for (uint32_t l = g->body_op_loop[g->op_body_op[op]]; l != FS_NONE; l = g->loop[l].parent) {
    depth++;
  }
  (void)snprintf(x.op, NAME, "%s", g->op_name[op]);
  for (uint32_t i = depth; i-- > 0;) {
    char *open = strrchr(x.op, '[');
    x.at[i] = strtoull(open + 1, NULL, 10);
    *open = '\0';
  }
  return x;
}

/* The loops around an op, from the outermost one. */
static uint32_t loops_around(const fsched_graph *g, uint32_t op, uint32_t *loop) {
  uint32_t n = 0, turned[FSCHED_MAX_LOOPS];
  for (uint32_t l = g->body_op_loop[g->op_body_op[op]]; l != FS_NONE; l = g->loop[l].parent) {
    turned[n++] = l;
  }
  for (uint32_t i = 0; i < n; i++) {
    loop[i] = turned[n - 1 - i];
  }
  return n;
}

static void fold_race(const fsched_graph *g, uint32_t race, told_races *t) {
  uint32_t a[FSCHED_MAX_LOOPS], b[FSCHED_MAX_LOOPS], op_a = g->race_a[race], op_b = g->race_b[race];
  said_name x = name_of(g, op_a), y = name_of(g, op_b);
  uint32_t n_a = loops_around(g, op_a, a), n_b = loops_around(g, op_b, b), n = 0;
  int64_t distance = 0;
  for (; n < n_a && n < n_b && a[n] == b[n]; n++) {
    distance = distance * (int64_t)g->loop[a[n]].trip + (int64_t)(y.at[n] - x.at[n]);
  }
  ck_assert_int_ge(distance, 0);
  char buffer[NAME];
  (void)snprintf(buffer, NAME, "%s", g->buffer_name[g->version_buffer[g->race_version[race]]]);
  char *version = strchr(buffer, '@');
  if (version != NULL) {
    *version = '\0';
  }
  tell(t, x.op, y.op, buffer, n == 0 ? FS_NO_DISTANCE : (uint64_t)distance);
}

static fs_status read_graph(const fs_text *t, const char *set_param, bool unroll,
                            fsched_graph **out) {
  fsched_read_options o = {.size = sizeof o,
                           .unroll = unroll,
                           .effort = FSCHED_EFFORT(1),
                           .params = &set_param,
                           .n_params = set_param != NULL};
  return fsched_graph_parse(ctx, "g.yaml", t->at, t->n - 1, &o, out);
}

/* Folds the races of the unrolled graph into *want.  Returns whether there is one. */
static bool fold_unrolled(const fs_text *t, const char *set_param, told_races *want) {
  fsched_graph *g;
  want->n = 0;
  if (read_graph(t, set_param, true, &g) != FSCHED_OK) {
    fsched_diag_clear(ctx);
    return false;
  }
  for (uint32_t i = 0; i < g->n_races; i++) {
    fold_race(g, i, want);
  }
  want->n_ops = g->n_ops;
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
  return true;
}

static void compare(const told_races *want, const told_races *got, const fs_text *t,
                    uint64_t seed) {
  told_races x = *want, y = *got;
  qsort(x.at, x.n, sizeof *x.at, by_names);
  qsort(y.at, y.n, sizeof *y.at, by_names);
  for (uint32_t i = 0, k = 0; i < x.n || k < y.n;) {
    int order = i == x.n ? 1 : k == y.n ? -1 : by_names(&x.at[i], &y.at[k]);
    const told_race *r = order <= 0 ? &x.at[i] : &y.at[k];
    if (order != 0 || x.at[i].distance != y.at[k].distance) {
      ck_abort_msg("seed %llu: '%s' and '%s' on '%s' %llu: %s, %lld\n%s", (unsigned long long)seed,
                   r->a, r->b, r->buffer, (unsigned long long)r->distance,
                   order < 0   ? "are not told"
                   : order > 0 ? "do not race"
                               : "are told at another distance",
                   order == 0 ? (long long)y.at[k].distance : 0, t->at);
    }
    i += order <= 0;
    k += order >= 0;
  }
}

/* What is refused with raw hazards is refused with sequential ones. */
static void check_refused(const fs_text *t) {
  fsched_graph *g;
  fs_text plain;
  fs_text_init(&plain, ctx);
  fs_text_add(&plain, t->at, t->n);
  ck_assert(!plain.failed);
  char *line = strstr(plain.at, "hazards: raw");
  ck_assert_ptr_nonnull(line);
  *line = '#';
  ck_assert_msg(read_graph(&plain, NULL, false, &g) != FSCHED_OK, "%s", t->at);
  fsched_diag_clear(ctx);
  fs_text_drop(&plain);
}

/* Notes what a graph tells whose loops stay loops; false: they do not. */
static bool tell_loops(const fs_text *t, told_races *got) {
  fsched_graph *g;
  got->n = 0;
  if (read_graph(t, NULL, false, &g) != FSCHED_OK) {
    fsched_diag_clear(ctx);
    check_refused(t);
    return false;
  }
  bool stay = g->n_loops == 0; /* those that are unrolled are listed */
  for (uint32_t i = 0; i < g->n_loop_races; i++) {
    const fs_graph_race *r = &g->loop_race[i];
    uint32_t n = got->n;
    tell(got, r->op_a, r->op_b, r->buffer, r->distance);
    ck_assert_uint_eq(got->n, n + 1); /* each once */
  }
  ck_assert(stay || g->n_loop_races == 0);
  stay = stay && !g->loop_races_unknown;
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
  return stay;
}

/* The graphs of the other tests, with raw hazards. */
static void make_raw(uint32_t kind, uint64_t seed, fs_text *t) {
  fs_text g;
  fs_text_init(&g, ctx);
  if (kind == 0) {
    fs_loop_gen(seed, &g);
  } else if (kind == 1) {
    fs_nest_gen(seed, &g);
  } else {
    fs_chain_gen(seed, &g);
  }
  fs_text_add(&g, "", 1);
  const char *rest = strchr(g.at, '\n') + 1;
  fs_text_puts(t, "fsched: 1\nhazards: raw\n");
  fs_text_puts(t, rest);
  fs_text_add(t, "", 1);
  ck_assert(!t->failed);
  fs_text_drop(&g);
}

START_TEST(are_those_of_the_unrolled_graph)
{
  enum { GRAPHS = FS_SMALL_SAMPLES ? 20 : 150 };
  static told_races want, got;
  uint64_t n = 0, races = 0;
  for (uint64_t i = 0; i < GRAPHS; i++) {
    uint64_t seed = fs_turn() * GRAPHS + i;
    fs_text t;
    fs_text_init(&t, ctx);
    make_raw((uint32_t)_i, seed, &t);
    if (fold_unrolled(&t, NULL, &want) && tell_loops(&t, &got)) {
      compare(&want, &got, &t, seed);
      n++;
      races += want.n;
    }
    fs_text_drop(&t);
  }
  fs_assert_seen(n, GRAPHS / 5);
  fs_assert_seen(races, GRAPHS / 2);
}
END_TEST

/* --- longer loops --- */

/* Random graphs of loops over few buffers, each with one step, or rows of it. */
typedef struct long_gen {
  fs_rng rng;
  fs_text *t;
  uint32_t n_ops, n_loops, trip, rows;
  bool begun; /* r is begun in the loop at hand */
  uint32_t ops_here[4], n_here;
} long_gen;

static uint32_t below(long_gen *g, uint32_t n) { return fs_rng_below(&g->rng, n); }
static bool one_in(long_gen *g, uint32_t n) { return fs_rng_one_in(&g->rng, n); }

enum { STEP = 8, BEYOND = 64 };

/* A range of x or y, which moves with `depth` loops. */
static void put_range(long_gen *g, uint32_t depth) {
  static const char *const tag[] = {"in", "inout", "out_existing"};
  const char *buffer = one_in(g, 2) ? "x" : "y";
  fs_text_printf(g->t, "{%s: %s, at: {offset: %u, ", tag[below(g, 3)], buffer,
                 one_in(g, 2) ? 0 : below(g, 4) * STEP / 2);
  if (one_in(g, 5)) {
    fs_text_puts(g->t, "shape: [2, 2], strides: [8, 2]");
  } else {
    fs_text_printf(g->t, "length: %u", 1 + below(g, 2 * STEP));
  }
  if (depth == 1 && !one_in(g, 5)) {
    fs_text_printf(g->t, ", step: %u", STEP);
  } else if (depth == 2 && !one_in(g, 5)) {
    uint32_t row = g->trip * STEP + BEYOND;
    fs_text_printf(g->t, ", step: [%u, %u]", one_in(g, 4) ? 0 : row, one_in(g, 4) ? 0 : STEP);
  }
  fs_text_puts(g->t, "}}");
}

static void put_whole(long_gen *g) {
  static const char *const tag[] = {"in", "inout", "out_existing"};
  static const char *const buffer[] = {"x", "y", "s", "w"};
  fs_text_printf(g->t, "{%s: %s}", tag[below(g, 3)], buffer[below(g, 4)]);
}

static void put_arg(long_gen *g, uint32_t depth) {
  if (depth > 0 && g->begun && one_in(g, 3)) {
    fs_text_puts(g->t, one_in(g, 2)   ? "{in: r}"
                       : one_in(g, 2) ? "{out_existing: r}"
                                      : "{in: r, distance: 1}");
  } else if (depth == 0 ? one_in(g, 2) : one_in(g, 4)) {
    put_whole(g);
  } else {
    put_range(g, depth);
  }
}

static void put_op(long_gen *g, uint32_t depth, bool begins) {
  fs_text_printf(g->t, "{name: o%u, on: q%u, args: [", g->n_ops, below(g, 2));
  if (begins) {
    fs_text_puts(g->t, "{out: r}, ");
  }
  put_arg(g, depth);
  if (one_in(g, 2)) {
    fs_text_puts(g->t, ", ");
    put_arg(g, depth);
  }
  fs_text_puts(g->t, "]");
  if (g->n_here > 0 && one_in(g, 4)) {
    fs_text_printf(g->t, ", after: [{op: o%u, distance: %u}]", g->ops_here[below(g, g->n_here)],
                   depth == 0 ? 0 : below(g, 4));
  }
  fs_text_puts(g->t, "}");
  if (g->n_here < 4) {
    g->ops_here[g->n_here++] = g->n_ops;
  }
  g->n_ops++;
}

static void put_body(long_gen *g, uint32_t depth) {
  uint32_t n = 1 + below(g, 3);
  g->n_here = 0;
  g->begun = false;
  for (uint32_t i = 0; i < n; i++) {
    bool begins = !g->begun && one_in(g, 3);
    fs_text_puts(g->t, i == 0 ? "" : ", ");
    put_op(g, depth, begins);
    g->begun |= begins;
  }
}

static void put_entry(long_gen *g) {
  fs_text_puts(g->t, "  - ");
  if (g->n_loops > 0 && one_in(g, 3)) {
    g->n_here = 0;
    put_op(g, 0, false);
  } else if (one_in(g, 3)) {
    fs_text_printf(g->t, "{loop: l%u, trip: %u, ops: [{loop: k%u, trip: %u, ops: [", g->n_loops,
                   g->rows, g->n_loops, g->trip);
    put_body(g, 2);
    fs_text_puts(g->t, "]}]}");
    g->n_loops++;
  } else {
    fs_text_printf(g->t, "{loop: l%u, trip: %u, ops: [", g->n_loops++, g->trip - below(g, 3));
    put_body(g, 1);
    fs_text_puts(g->t, "]}");
  }
  fs_text_puts(g->t, "\n");
}

static void make_long(uint64_t seed, fs_text *t) {
  long_gen g = {.t = t};
  g.rng.state = seed;
  g.rows = 8 + below(&g, 4);
  g.trip = 50 + below(&g, 10);
  uint32_t size = g.rows * (g.trip * STEP + BEYOND) + BEYOND;
  fs_text_printf(t,
                 "fsched: 1\nhazards: raw\ntarget: {queues: [{name: q0}, {name: q1}]}\nbuffers: "
                 "[{name: x, size: %u, io: state}, {name: y, size: %u, io: state}, {name: s, size: "
                 "8, io: state}, {name: w, size: 8, io: state}, {name: r, size: 8, io: input}]\n"
                 "ops:\n",
                 size, size);
  uint32_t n = 1 + below(&g, 4);
  for (uint32_t i = 0; i < n; i++) {
    put_entry(&g);
  }
  fs_text_add(t, "", 1);
  ck_assert(!t->failed);
}

/* Nothing of longer loops is missed, and nothing else told, if few of their iterations are looked
 * at. */
START_TEST(are_seen_in_shorter_loops)
{
  enum { GRAPHS = FS_SMALL_SAMPLES ? 10 : 60, LIMIT = 1500 };
  static told_races want, got;
  uint64_t shorter = 0, races = 0;
  fs_limits limits = fs_limits_usual;
  limits.race_instances = LIMIT;
  for (uint64_t i = 0; i < GRAPHS; i++) {
    uint64_t seed = fs_turn() * GRAPHS + i;
    fs_text t;
    fs_text_init(&t, ctx);
    make_long(seed, &t);
    fs_limits_set(ctx, &limits);
    bool rolled = tell_loops(&t, &got);
    fs_limits_set(ctx, &fs_limits_usual);
    if (rolled && fold_unrolled(&t, NULL, &want)) {
      compare(&want, &got, &t, seed);
      shorter += want.n_ops > LIMIT;
      races += want.n;
    }
    fs_text_drop(&t);
  }
  fs_assert_seen(shorter, GRAPHS / 8);
  fs_assert_seen(races, GRAPHS);
}
END_TEST

/* --- by hand --- */

#define HEAD                                                                                  \
  "fsched: 1\nhazards: raw\ntarget: {queues: [{name: q0}, {name: q1}]}\nbuffers: [{name: x, " \
  "size: 800, io: state}, {name: y, size: 8, io: state}, {name: r, size: 8, io: input}]\nops:\n"
#define LOOP(l, n, body) "- {loop: " l ", trip: " n ", ops: [" body "]}\n"
#define AT(o, s) ", at: {offset: " o ", length: 8, step: " s "}}"

enum { NONE = -1 }; /* no loop is around both */

static const struct {
  const char *text, *a, *b; /* of the only race; NULL: there is none */
  int64_t distance;
} by_hand[] = {
    {HEAD LOOP("l", "100", "{name: a, args: [{out_existing: x" AT("0", "8") "]}"), NULL, NULL, 0},
    {HEAD LOOP("l", "100", "{name: a, args: [{out_existing: y}]}"), "a", "a", 1},
    {HEAD LOOP("l", "100", "{name: a, args: [{inout: y}]}"), NULL, NULL, 0},
    /* a write after reads, of the same iteration and of the one before */
    {HEAD LOOP("l", "100", "{name: a, args: [{in: y}]}, {name: b, args: [{inout: y}]}"), "a", "b",
     0},
    {HEAD LOOP("l", "100", "{name: a, args: [{inout: y}]}, {name: b, args: [{in: y}]}"), "b", "a",
     1},
    {HEAD LOOP("l", "100", "{name: a, args: [{in: y}]}, {name: b, after: [a], args: [{inout: y}]}"),
     NULL, NULL, 0},
    /* what iterations read of others: 3 before, and 2 later */
    {HEAD LOOP("l", "90",
               "{name: a, args: [{in: x" AT("0", "8") "]}, {name: b, args: [{inout: x" AT(
                   "24", "8") "]}"),
     NULL, NULL, 0},
    {HEAD LOOP("l", "90",
               "{name: a, args: [{in: x" AT("16", "8") "]}, {name: b, args: [{inout: x" AT(
                   "0", "8") "]}"),
     "a", "b", 2},
    {HEAD LOOP(
         "l", "90",
         "{name: a, args: [{out_existing: x" AT("0", "8") "]}, {name: b, args: "
                                                          "[{out_existing: x" AT("56", "8") "]}"),
     "b", "a", 7},
    /* backwards: they meet in the middle */
    {HEAD LOOP("l", "100",
               "{name: a, args: [{in: x" AT("0", "8") "]}, {name: b, args: "
                                                      "[{out_existing: x" AT("792", "-8") "]}"),
     "a", "b", 1},
    {HEAD LOOP("l", "99",
               "{name: a, args: [{in: x" AT("0", "8") "]}, {name: b, args: [{out_existing: x" AT(
                   "784", "-8") "]}"),
     "a", "b", 0},
    /* a value of earlier iterations, and one that each begins anew */
    {HEAD LOOP("l", "100", "{name: a, args: [{out: r}]}, {name: b, args: [{in: r, distance: 2}]}"),
     NULL, NULL, 0},
    {HEAD LOOP("l", "100",
               "{name: a, args: [{out: r}]}, {name: b, args: [{in: r}]}, {name: c, "
               "args: [{inout: r}]}"),
     "b", "c", 0},
    {HEAD LOOP("l", "100", "{name: a, args: [{out_existing: y}], after: [{op: a, distance: 1}]}"),
     NULL, NULL, 0},
    {HEAD LOOP("l", "100", "{name: a, args: [{out_existing: y}], after: [{op: a, distance: 2}]}"),
     "a", "a", 1},
    /* before, behind, two loops */
    {HEAD "- {name: p, args: [{in: y}]}\n" LOOP("l", "100", "{name: a, args: [{inout: y}]}"), "p",
     "a", NONE},
    {HEAD LOOP(
         "l", "100",
         "{name: a, args: [{out_existing: x" AT("0", "8") "]}") "- {name: q, args: [{inout: x}]}\n",
     NULL, NULL, 0},
    {HEAD LOOP("l", "100",
               "{name: a, args: [{in: x" AT(
                   "0", "8") "]}") "- {name: q, args: [{out_existing: x, at: [792, 8]}]}\n",
     "a", "q", NONE},
    {HEAD LOOP("l", "100", "{name: a, args: [{out_existing: x" AT("0", "8") "]}")
         LOOP("m", "100", "{name: b, args: [{out_existing: x" AT("0", "8") "]}"),
     "a", "b", NONE},
    {HEAD LOOP("l", "50", "{name: a, args: [{out_existing: x" AT("0", "8") "]}")
         LOOP("m", "50", "{name: b, args: [{out_existing: x" AT("400", "8") "]}"),
     NULL, NULL, 0},
    /* nests: rows, and a place that all share */
    {HEAD LOOP(
         "l", "10",
         "{loop: m, trip: 10, ops: [{name: a, args: [{out_existing: x" AT("0", "[80, 8]") "]}]}"),
     NULL, NULL, 0},
    {HEAD LOOP(
         "l", "10",
         "{loop: m, trip: 10, ops: [{name: a, args: [{out_existing: x" AT("0", "[0, 8]") "]}]}"),
     "a", "a", 10},
    {HEAD LOOP(
         "l", "10",
         "{loop: m, trip: 10, ops: [{name: a, args: [{out_existing: x" AT("0", "[8, 0]") "]}]}"),
     "a", "a", 1},
    {HEAD LOOP("l", "10",
               "{name: b, args: [{in: y}]}, {loop: m, trip: 10, ops: [{name: a, args: "
               "[{inout: y}]}]}"),
     "b", "a", 0},
    /* as often as an invocation says */
    {HEAD LOOP("l", "{param: n, min: 1, max: 100}", "{name: a, args: [{out_existing: y}]}"), "a",
     "a", 1},
    /* only if the loop does not run, nothing orders these */
    {HEAD "- {name: p, args: [{in: y}]}\n" LOOP(
         "l", "{param: n, min: 0, max: 100}",
         "{name: a, after: [p]}") "- {name: q, after: [{loop: l}], args: [{inout: y}]}\n",
     "p", "q", NONE},
};
enum { BY_HAND = sizeof by_hand / sizeof by_hand[0] };

/* Each with few and with many instances looked at. */
START_TEST(of_this_loop)
{
  static told_races got;
  fs_limits limits = fs_limits_usual;
  limits.race_instances = 100;
  for (uint32_t pass = 0; pass < 2; pass++) {
    fs_text t;
    fs_text_init(&t, ctx);
    fs_text_puts(&t, by_hand[_i].text);
    fs_text_add(&t, "", 1);
    fs_limits_set(ctx, pass == 0 ? &fs_limits_usual : &limits);
    ck_assert_msg(tell_loops(&t, &got), "%s", t.at);
    fs_limits_set(ctx, &fs_limits_usual);
    ck_assert_msg(got.n == (by_hand[_i].a != NULL), "%u races, %u: %s", got.n, pass, t.at);
    if (got.n > 0) {
      told_races want = {.n = 0};
      int64_t d = by_hand[_i].distance;
      tell(&want, by_hand[_i].a, by_hand[_i].b, got.at[0].buffer,
           d == NONE ? FS_NO_DISTANCE : (uint64_t)d);
      compare(&want, &got, &t, (uint64_t)_i);
    }
    fs_text_drop(&t);
  }
}
END_TEST

/* What is looked at does not grow with the trips. */
START_TEST(of_very_long_loops)
{
  static told_races few, many;
  static const char form[] =
      "fsched: 1\nhazards: raw\ntarget: {queues: [{name: q0}, {name: q1}]}\nbuffers: [{name: x, "
      "size: %llu, io: state}, {name: y, size: 8, io: state}]\nops:\n"
      "- {loop: l, trip: %llu, ops: [{name: a, args: [{in: x, at: {offset: 16, length: 8, step: "
      "8}}]}, {name: b, args: [{inout: x, at: {offset: 0, length: 8, step: 8}}, {inout: y}]}]}\n"
      "- {name: c, args: [{in: x}, {in: y}]}\n"
      "- {loop: m, trip: %llu, ops: [{loop: k, trip: 1000, ops: [{name: d, args: [{out_existing: "
      "y}]}]}]}\n";
  for (uint32_t i = 0; i < 2; i++) {
    unsigned long long trip = i == 0 ? 100 : UINT64_C(1) << 30;
    fs_text t;
    fs_text_init(&t, ctx);
    fs_text_printf(&t, form, 8 * trip + 16, trip, trip);
    fs_text_add(&t, "", 1);
    ck_assert(tell_loops(&t, i == 0 ? &few : &many));
    fs_text_drop(&t);
  }
  fs_text none;
  fs_text_init(&none, ctx);
  fs_text_add(&none, "", 1);
  ck_assert_uint_eq(few.n, 4);
  compare(&few, &many, &none, 0);
  fs_text_drop(&none);
}
END_TEST

/* What is only read may move as it likes: the races are those of the buffer that is written. */
START_TEST(beside_what_is_read)
{
  static const char form[] =
      "fsched: 1\nhazards: raw\ntarget: {queues: [{name: q0}, {name: q1}]}\n"
      "buffers: [{name: x, size: %u, io: input}, {name: y, size: %u, io: state}]\nops:\n"
      "- {loop: l, trip: %u, ops: [{name: a, args: [{in: x, at: {length: 8, step: 8}}, {in: x, at: "
      "{length: 8, step: 6}}, {out_existing: y, at: {length: 16, step: 8}}]}]}\n"
      "- {loop: k, trip: %u, ops: [{name: b, args: [{in: x, at: {length: 4, step: 1}}]}]}\n";
  for (uint32_t trip = 500; trip <= 500000; trip *= 1000) {
    char text[1024];
    fsched_graph *g;
    uint32_t size = 8 * trip + 8;
    size_t n = (size_t)snprintf(text, sizeof text, form, size, size, trip, trip);
    ck_fs(ctx, fsched_graph_parse(ctx, "t", text, n, NULL, &g));
    ck_assert(!g->loop_races_unknown);
    ck_assert_uint_eq(g->n_loop_races, 1);
    ck_assert_str_eq(g->loop_race[0].buffer, "y");
    ck_assert_uint_eq(g->loop_race[0].distance, 1);
    fsched_diag_clear(ctx);
    fsched_graph_destroy(g);
  }
}
END_TEST

/* Where nothing shorter is known that does, nothing is listed, and it is said so: what a loop
 * leaves to one that moves unlike it, in the first with races of another buffer, in the second with
 * none. */
START_TEST(are_not_known)
{
  static const char races[] =
      LOOP("l", "%u", "{name: a, args: [{inout: z, at: {length: 4, step: 8}}, {out_existing: y}]}")
          LOOP("k", "%u", "{name: b, args: [{in: z, at: {length: 4, step: 4}}]}");
  static const char none[] =
      LOOP("l", "%u", "{name: a, args: [{out_existing: z, at: {length: 4, step: 4}}]}")
          LOOP("k", "%u", "{name: b, args: [{in: z, at: {length: 8, step: 8}}]}");
  static const char head[] =
      "fsched: 1\nhazards: raw\ntarget: {queues: [{name: q0}, {name: q1}]}\n"
      "buffers: [{name: y, size: 8, io: state}, {name: z, size: 40008, io: state}]\nops:\n";
  for (uint32_t trip = 500; trip <= 5000; trip *= 10) {
    char text[1024];
    fsched_graph *g;
    size_t n = (size_t)snprintf(text, sizeof text, "%s", head);
    n += (size_t)(_i == 0 ? snprintf(text + n, sizeof text - n, races, trip, trip)
                          : snprintf(text + n, sizeof text - n, none, trip, trip));
    ck_fs(ctx, fsched_graph_parse(ctx, "t", text, n, NULL, &g));
    ck_assert(g->loop_races_unknown == (trip == 5000));
    ck_assert_uint_eq(g->n_loop_races, _i == 0 && trip == 500);
    ck_assert_uint_eq(fsched_diag_count(ctx), trip == 5000 || _i == 0);
    ck_assert(trip == 500 ||
              strcmp(fsched_diag_get(ctx, 0)->message, "races of loops are not known") == 0);
    fsched_diag_clear(ctx);
    fsched_graph_destroy(g);
  }
}
END_TEST

static fs_status roll_text(fsched_context *c, const void *text) {
  static fs_limits limits;
  fsched_read_options o = {.size = sizeof o, .effort = FSCHED_EFFORT(1)};
  fsched_graph *g = NULL;
  limits = fs_limits_usual;
  limits.race_instances = 100;
  fs_limits_set(c, &limits);
  fs_status status = fsched_graph_parse(c, "t", text, strlen(text), &o, &g);
  fsched_graph_destroy(g);
  return status;
}

/* In shorter loops, with races, views and a parameter. */
START_TEST(every_allocation_may_fail)
{
  static const char text[] = HEAD LOOP(
      "l", "{param: n, min: 1, max: 90}",
      "{name: a, args: [{in: x" AT("16", "8") "]}, {name: b, args: [{inout: x, at: {offset: 0, "
                                              "shape: [2, 2], strides: [4, 1], step: 8}}]}");
  fs_budget budget;
  fsched_context *c = fs_budget_context(&budget);
  /* Races are looked for all the same, but not told before the failure. */
  ck_assert_int_eq(fsched_warning_set(c, "race", FSCHED_WARNING_OFF), FSCHED_OK);
  fs_fail_each_allocation(c, &budget, roll_text, text);
  fsched_context_destroy(c);
  ck_assert_int_eq(budget.held, 0);
}
END_TEST

FS_SUITE(loop_races, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 3, are_those_of_the_unrolled_graph);
  FS_LOOPS(t, 0, BY_HAND, of_this_loop);
  FS_LOOPS(t, 0, 2, are_not_known);
  FS_TESTS(t, are_seen_in_shorter_loops, of_very_long_loops, beside_what_is_read,
           every_allocation_may_fail);
}
