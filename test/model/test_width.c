/* SPDX-License-Identifier: Apache-2.0 */
/* The width of graphs, compared with trying all sets, with Kuhn's matching on the closure, and with
 * known widths. */
#include "model/width.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/budget.h"
#include "kit/gen.h"

#include "kit/context.h"

enum { SMALL = 18, LARGE = 300, WORDS = LARGE / 64 + 1, MOST_WIDTH = 120, MOST_RANK = 20 };

/* The edges of n ops, and their closure. */
typedef struct width_draft {
  uint32_t n;
  uint64_t after[LARGE][WORDS]; /* bits: the ops that come after */
} width_draft;

static void set_after(width_draft *d, uint32_t u, uint32_t v) {
  d->after[u][v / 64] |= (uint64_t)1 << v % 64;
}

static bool is_after(const width_draft *d, uint32_t u, uint32_t v) {
  return d->after[u][v / 64] >> v % 64 & 1;
}

static void close_order(width_draft *d) {
  for (uint32_t k = 0; k < d->n; k++) {
    for (uint32_t u = 0; u < d->n; u++) {
      for (uint32_t w = 0; is_after(d, u, k) && w < WORDS; w++) {
        d->after[u][w] |= d->after[k][w];
      }
    }
  }
}

/* The largest subset of `left` without an order among its ops. */
static uint32_t try_all(const uint32_t *related, uint32_t left) {
  if (left == 0) {
    return 0;
  }
  uint32_t op = (uint32_t)__builtin_ctz(left);
  uint32_t with = 1 + try_all(related, left & ~(1u << op) & ~related[op]);
  if ((left & related[op]) == 0) {
    return with;
  }
  return (uint32_t)fs_max(with, try_all(related, left & ~(1u << op)));
}

static uint32_t tried(const width_draft *d) {
  uint32_t related[32] = {0};
  for (uint32_t u = 0; u < d->n; u++) {
    for (uint32_t v = 0; v < d->n; v++) {
      if (is_after(d, u, v)) {
        related[u] |= 1u << v;
        related[v] |= 1u << u;
      }
    }
  }
  return try_all(related, d->n == 0 ? 0 : UINT32_MAX >> (32 - d->n));
}

static bool match(const width_draft *d, uint32_t u, uint32_t *prev, bool *seen) {
  for (uint32_t v = 0; v < d->n; v++) {
    if (is_after(d, u, v) && !seen[v]) {
      seen[v] = true;
      if (prev[v] == FS_NONE || match(d, prev[v], prev, seen)) {
        prev[v] = u;
        return true;
      }
    }
  }
  return false;
}

static uint32_t kuhn(const width_draft *d) {
  uint32_t prev[LARGE], width = d->n;
  memset(prev, 0xFF, sizeof prev);
  for (uint32_t u = 0; u < d->n; u++) {
    bool seen[LARGE] = {false};
    width -= match(d, u, prev, seen);
  }
  return width;
}

/* Returns the width, and checks that the antichain is one, and ascending. */
static uint32_t checked_width(const fsched_graph *g, const width_draft *closed) {
  fs_arena arena;
  uint32_t width, *chosen;
  fs_arena_init(&arena, ctx);
  ck_assert_int_eq(fs_graph_width(ctx, g, &arena, &width, &chosen), FSCHED_OK);
  for (uint32_t i = 0; i < width; i++) {
    for (uint32_t k = 0; k < i; k++) {
      if (chosen[i] >= closed->n || chosen[k] >= chosen[i] ||
          is_after(closed, chosen[k], chosen[i]) || is_after(closed, chosen[i], chosen[k])) {
        ck_abort_msg("ops %u and %u of %u are no antichain", chosen[k], chosen[i], width);
      }
    }
  }
  fs_arena_release(&arena);
  return width;
}

/* Makes the draft of a graph as the builder made it. */
static void draft_of(const fsched_graph *g, width_draft *d) {
  memset(d, 0, sizeof *d);
  d->n = g->n_ops;
  for (uint32_t u = 0; u < g->n_ops; u++) {
    for (uint32_t e = g->succ0[u]; e < g->succ0[u + 1]; e++) {
      set_after(d, u, g->succ[e]);
    }
  }
  close_order(d);
}

/* Makes a graph with just the edges of a draft; ops are added in the order of their ids. */
static fsched_graph *build(fsched_context *own, const width_draft *d) {
  fsched_builder *b;
  fsched_graph *g;
  uint32_t op;
  ck_assert_int_eq(fsched_builder_create(own, "width", &b), FSCHED_OK);
  for (uint32_t u = 0; u < d->n; u++) {
    char name[16];
    (void)snprintf(name, sizeof name, "o%u", u);
    fsched_op_desc desc = {.size = sizeof desc, .name = name};
    ck_assert_int_eq(fsched_builder_op(b, &desc, &op), FSCHED_OK);
  }
  for (uint32_t u = 0; u < d->n; u++) {
    for (uint32_t v = 0; v < d->n; v++) {
      if (is_after(d, u, v) && fsched_builder_after(b, v, u) != FSCHED_OK) {
        ck_abort_msg("no edge from %u to %u", u, v);
      }
    }
  }
  ck_assert_int_eq(fsched_builder_finish(b, &g), FSCHED_OK);
  fsched_builder_destroy(b);
  return g;
}

/* Draws edges from lower to higher places of a random permutation, each with probability 1 /
 * `rare`. */
static void draw(width_draft *d, fs_rng *r, uint32_t n, uint32_t rare) {
  uint32_t op[LARGE];
  memset(d, 0, sizeof *d);
  d->n = n;
  for (uint32_t i = 0; i < n; i++) {
    op[i] = i;
  }
  for (uint32_t i = n; i > 1; i--) {
    uint32_t k = fs_rng_below(r, i), was = op[i - 1];
    op[i - 1] = op[k];
    op[k] = was;
  }
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t k = 0; k < i; k++) {
      if (fs_rng_one_in(r, rare)) {
        set_after(d, op[k], op[i]);
      }
    }
  }
}

START_TEST(small_against_all_sets)
{
  width_draft *d = malloc(sizeof *d);
  for (uint32_t seed = 0; seed < 6000; seed++) {
    fs_rng r = {seed};
    uint32_t rare = 1 + fs_rng_below(&r, 12);
    draw(d, &r, fs_rng_below(&r, SMALL + 1), rare);
    fsched_graph *g = build(ctx, d);
    close_order(d);
    uint32_t width = checked_width(g, d), wanted = tried(d);
    if (width != wanted) {
      ck_abort_msg("seed %u: width %u, not %u", seed, wanted, width);
    }
    fsched_graph_destroy(g);
  }
  free(d);
}
END_TEST

enum { FIVE = 5, PAIRS = FIVE * (FIVE - 1) / 2, ORDERS = 120 };

/* A graph of five ops that is made without a builder: width uses only a graph's edges and order. */
typedef struct five {
  uint32_t topo[FIVE], pred0[FIVE + 1], pred[PAIRS + 1], succ0[FIVE + 1], succ[PAIRS + 1];
} five;

static fsched_graph five_graph(five *f, uint32_t edges, uint32_t order, width_draft *d) {
  uint32_t rest[FIVE] = {0, 1, 2, 3, 4};
  for (uint32_t i = 0, n = FIVE; i < FIVE; i++, n--) {
    uint32_t k = order % n;
    order /= n;
    f->topo[i] = rest[k];
    memmove(&rest[k], &rest[k + 1], (n - 1 - k) * sizeof *rest);
  }
  memset(d, 0, sizeof *d);
  d->n = FIVE;
  for (uint32_t i = 0; i < FIVE; i++) {
    for (uint32_t k = 0; k < i; k++, edges /= 2) {
      if (edges % 2 != 0) {
        set_after(d, f->topo[k], f->topo[i]);
      }
    }
  }
  uint32_t n_pred = 0, n_succ = 0;
  for (uint32_t u = 0; u < FIVE; u++) {
    f->pred0[u] = n_pred;
    f->succ0[u] = n_succ;
    for (uint32_t v = 0; v < FIVE; v++) {
      f->pred[n_pred] = f->succ[n_succ] = v;
      n_pred += is_after(d, v, u);
      n_succ += is_after(d, u, v);
    }
  }
  f->pred0[FIVE] = f->succ0[FIVE] = n_pred;
  return (fsched_graph){.n_ops = FIVE,
                        .n_edges = n_pred,
                        .topo = f->topo,
                        .pred0 = f->pred0,
                        .pred = f->pred,
                        .succ0 = f->succ0,
                        .succ = f->succ};
}

START_TEST(all_of_five)
{
  width_draft *d = malloc(sizeof *d);
  uint32_t wide = 0;
  for (uint32_t edges = 0; edges < 1u << PAIRS; edges++) {
    for (uint32_t order = 0; order < ORDERS; order++) {
      five f;
      fsched_graph g = five_graph(&f, edges, order, d);
      close_order(d);
      uint32_t width = checked_width(&g, d);
      if (width != tried(d)) {
        ck_abort_msg("edges %u, order %u: width %u, not %u", edges, order, width, tried(d));
      }
      wide += width == FIVE;
    }
  }
  ck_assert_uint_eq(wide, ORDERS);
  free(d);
}
END_TEST

START_TEST(larger_against_kuhn)
{
  static const uint32_t rare[] = {2, 10, 40, 80, 150, 250, 400, 1000};
  width_draft *d = malloc(sizeof *d);
  for (uint32_t i = 0; i < 64; i++) {
    fs_rng r = {i};
    draw(d, &r, LARGE - i, rare[i % 8]);
    fsched_graph *g = build(ctx, d);
    close_order(d);
    uint32_t width = checked_width(g, d), wanted = kuhn(d);
    if (width != wanted) {
      ck_abort_msg("case %u: width %u, not %u", i, width, wanted);
    }
    fsched_graph_destroy(g);
  }
  free(d);
}
END_TEST

/* Edges of data and hazards count too. */
START_TEST(generated_graphs)
{
  width_draft *d = malloc(sizeof *d);
  for (uint64_t seed = 0; seed < 300; seed++) {
    fs_gen_params params = fs_gen_any(seed, 150);
    fsched_graph *g;
    uint32_t width;
    ck_assert_int_eq(fs_gen_graph(ctx, &params, &g), FSCHED_OK);
    draft_of(g, d);
    ck_assert_uint_eq(checked_width(g, d), kuhn(d));
    ck_assert_int_eq(fsched_graph_width(ctx, g, &width), FSCHED_OK);
    ck_assert_uint_eq(width, kuhn(d));
    fsched_graph_destroy(g);
  }
  free(d);
}
END_TEST

/* Makes rows of ops, the last op first, in which each op comes after 3 to 5 ops of the row before
 * (chosen so that no row is narrower than the whole graph).  It is as large as is asked for, and
 * the answer is known. */
static fsched_graph *layered(fsched_context *own, uint32_t rows, uint32_t layers) {
  fsched_builder *b;
  fsched_graph *g;
  fs_rng r = {rows};
  ck_assert_int_eq(fsched_builder_create(own, "layered", &b), FSCHED_OK);
  for (uint32_t i = 0; i < rows * layers; i++) {
    char name[16];
    uint32_t op;
    (void)snprintf(name, sizeof name, "o%u", i);
    fsched_op_desc desc = {.size = sizeof desc, .name = name};
    if (fsched_builder_op(b, &desc, &op) != FSCHED_OK) {
      ck_abort_msg("no op %u", i);
    }
  }
  for (uint32_t i = rows; i < rows * layers; i++) {
    uint32_t of = i / rows * rows - rows, at = i % rows;
    fs_status status = fsched_builder_after(b, i, of + (7 * at + 3) % rows); /* one each */
    for (uint32_t k = 2 + fs_rng_below(&r, 3); k > 0; k--) {
      status |= fsched_builder_after(b, i, of + fs_rng_below(&r, rows));
    }
    ck_assert_int_eq(status, FSCHED_OK);
  }
  ck_assert_int_eq(fsched_builder_finish(b, &g), FSCHED_OK);
  fsched_builder_destroy(b);
  return g;
}

/* Each op continues one op of the row before, so the graph is as wide as a row. */
START_TEST(a_hundred_thousand_ops)
{
  static const uint32_t rows[] = {1000, 100, 10000, 1};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    fs_budget budget = {.left = 1L << 40};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *own;
    uint32_t width;
    ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
    fsched_graph *g = layered(own, rows[i], 100000 / rows[i]);
    long held = budget.held;
    budget.peak = held;
    ck_assert_int_eq(fsched_graph_width(own, g, &width), FSCHED_OK);
    ck_assert_uint_eq(width, rows[i]);
    ck_assert_int_lt(budget.peak - held, 32L << 20);
    ck_assert_int_eq(budget.held, held);
    fsched_graph_destroy(g);
    fsched_context_destroy(own);
  }
}
END_TEST

START_TEST(nothing_and_one)
{
  width_draft *d = calloc(1, sizeof *d);
  for (d->n = 0; d->n < 3; d->n++) {
    fsched_graph *g = build(ctx, d);
    ck_assert_uint_eq(checked_width(g, d), d->n);
    fsched_graph_destroy(g);
  }
  free(d);
}
END_TEST

START_TEST(out_of_memory)
{
  fs_budget budget = {.left = 1L << 40};
  fsched_context_options o = {
      .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
  fsched_context *own;
  ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
  width_draft *d = malloc(sizeof *d);
  fs_rng r = {1};
  draw(d, &r, 200, 40);
  fsched_graph *g = build(own, d);
  uint32_t width, failures = 0;
  for (long n = 0;; n++, failures++) {
    budget.left = n;
    fs_status status = fsched_graph_width(own, g, &width);
    budget.left = 1L << 40;
    if (status == FSCHED_OK) {
      break;
    }
    ck_assert_int_eq(status, FSCHED_SYSTEM);
    ck_assert_uint_gt(fsched_diag_errors(own), 0);
    fsched_diag_clear(own);
  }
  ck_assert_uint_gt(failures, 0);
  close_order(d);
  ck_assert_uint_eq(width, kuhn(d));
  fsched_graph_destroy(g);
  free(d);
  fsched_context_destroy(own);
  ck_assert_int_eq(budget.blocks, 0);
}
END_TEST

/* ---- known ones, large */

/* There are as many chains as ops of rank 0, one of which is in each: edges lead from lower to
 * higher ranks of any chain, so the ops of rank 0 have no order, and no set without orders has more
 * than one op of a chain. */
typedef struct width_ranked {
  uint32_t chain, at;
  int32_t rank;
} width_ranked;

static uint32_t make_chains(width_ranked *op, uint32_t width, uint32_t most, fs_rng *r) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < width; c++) {
    int32_t rank = -(int32_t)fs_rng_below(r, most), last = (int32_t)fs_rng_below(r, most);
    for (; rank <= last; rank++) {
      op[n++] = (width_ranked){c, 0, rank};
    }
  }
  return n;
}

/* Gives the ops ids in a random order. */
static void shuffle(width_ranked *op, uint32_t n, fs_rng *r) {
  for (uint32_t i = 0; i < n; i++) {
    op[i].at = i;
  }
  for (uint32_t i = n; i > 1; i--) {
    uint32_t k = fs_rng_below(r, i), at = op[k].at;
    op[k].at = op[i - 1].at;
    op[i - 1].at = at;
  }
}

static void connect(fsched_builder *b, const width_ranked *before, const width_ranked *op) {
  if (before->rank < op->rank) {
    ck_assert_int_eq(fsched_builder_after(b, op->at, before->at), FSCHED_OK);
  }
}

/* Makes the edges of the chains, and up to twice as many others. */
static fsched_graph *chain_graph(width_ranked *op, uint32_t n, fs_rng *r) {
  fsched_builder *b;
  fsched_graph *g;
  ck_assert_int_eq(fsched_builder_create(ctx, "chains", &b), FSCHED_OK);
  shuffle(op, n, r);
  for (uint32_t i = 0; i < n; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "o%u", i);
    fsched_op_desc d = {.size = sizeof d, .name = name};
    ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  }
  for (uint32_t i = 0; i < n; i++) {
    if (i > 0 && op[i].chain == op[i - 1].chain) {
      connect(b, &op[i - 1], &op[i]);
    }
    connect(b, &op[fs_rng_below(r, n)], &op[i]);
    connect(b, &op[i], &op[fs_rng_below(r, n)]);
  }
  ck_assert_int_eq(fsched_builder_finish(b, &g), FSCHED_OK);
  fsched_builder_destroy(b);
  return g;
}

static void check_chains(width_ranked *op, uint64_t seed) {
  fs_rng r = {seed};
  fs_arena arena;
  uint32_t width = 1 + fs_rng_below(&r, seed % 8 == 0 ? MOST_WIDTH : 20), found;
  uint32_t n = make_chains(op, width, 1 + fs_rng_below(&r, MOST_RANK), &r);
  fsched_graph *g = chain_graph(op, n, &r);
  fs_arena_init(&arena, ctx);
  ck_assert_int_eq(fs_graph_width(ctx, g, &arena, &found, NULL), FSCHED_OK);
  ck_assert_msg(found == width, "seed %llu: %u of %u ops, but %u are known",
                (unsigned long long)seed, found, n, width);
  fs_arena_release(&arena);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}

/* FSCHED_KNOWN=N in the environment asks for N graphs. */
START_TEST(known_chains)
{
  const char *text = getenv("FSCHED_KNOWN");
  uint64_t n = text == NULL ? 0 : strtoull(text, NULL, 10);
  width_ranked *op = malloc(sizeof *op * MOST_WIDTH * 2 * MOST_RANK);
  for (uint64_t seed = 0; seed < (n == 0 ? 200 : n); seed++) {
    check_chains(op, seed);
  }
  free(op);
}
END_TEST

FS_SUITE(width, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, getenv("FSCHED_KNOWN") == NULL ? 60 : 36000);
  FS_TESTS(t, small_against_all_sets, all_of_five, larger_against_kuhn, generated_graphs,
           known_chains, a_hundred_thousand_ops, nothing_and_one, out_of_memory);
}
