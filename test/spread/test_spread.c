/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses apart: nothing but addresses changes, waits become fewer, and where all that a memory
 * ever holds fits side by side, no queue waits for another one's place. */
#include <stdio.h>

#include "base/limit.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/quick.h"
#include "kit/turn.h"
#include "model/handle.h"

#include "kit/context.h"

enum { MOST_ITEMS = 256 };

/* Compiles a graph, and proves what comes of it, with the pass or without. */
static fsched_schedule *compile_with(const fsched_graph *g, bool spread) {
  fs_limits limits = fs_limits_usual;
  fsched_compile_options o = {.size = sizeof o, .effort = FS_QUICK, .verify = 1};
  fsched_schedule *s = NULL;
  limits.spread_steps = spread ? limits.spread_steps : 0;
  fs_limits_set(ctx, &limits);
  fsched_status status = fsched_compile(ctx, g, &o, &s, NULL);
  fs_limits_set(ctx, &fs_limits_usual);
  ck_assert(status == FSCHED_OK || status == FSCHED_INFEASIBLE);
  fsched_diag_clear(ctx);
  return s;
}

/* Whether any address differs; nothing else may. */
static bool has_moved(const fs_schedule *a, const fs_schedule *b) {
  ck_assert_uint_eq(a->n_items, b->n_items);
  ck_assert_uint_eq(a->n_residencies, b->n_residencies);
  ck_assert_uint_eq(a->makespan, b->makespan);
  for (uint32_t i = 0; i < a->n_items; i++) {
    ck_assert(a->start[i] == b->start[i] && a->end[i] == b->end[i] && a->queue[i] == b->queue[i] &&
              a->order[i] == b->order[i]);
  }
  bool moved = false;
  for (uint32_t r = 0; r < a->n_residencies; r++) {
    ck_assert(a->res_version[r] == b->res_version[r] && a->res_memory[r] == b->res_memory[r] &&
              a->res_size[r] == b->res_size[r] && a->res_begin[r] == b->res_begin[r] &&
              a->res_end[r] == b->res_end[r]);
    moved = moved || a->res_address[r] != b->res_address[r];
  }
  return moved;
}

/* Finds which items come before which by the graph's edges, copies' data, queue order,
 * and what control edges order for other reasons than reuse. */
static void find_orders(const fs_schedule *s, const fs_sync *y, bool (*before)[MOST_ITEMS]) {
  const fsched_graph *g = s->graph;
  ck_assert_uint_le(s->n_items, MOST_ITEMS);
  for (uint32_t i = 0; i < s->n_items; i++) {
    uint32_t to = s->order[i], n, m;
    const uint32_t *own = fs_item_queues(s, to, &n), *other;
    memset(before[to], 0, sizeof before[to]);
    for (uint32_t k = 0; k < i; k++) {
      uint32_t from = s->order[k];
      bool first = false;
      other = fs_item_queues(s, from, &m);
      for (uint32_t x = 0; x < n * m; x++) {
        first = first || own[x / m] == other[x % m];
      }
      for (uint32_t e = to < g->n_ops ? g->pred0[to] : 0; to < g->n_ops && e < g->pred0[to + 1];
           e++) {
        first = first || g->pred[e] == from;
      }
      for (uint32_t e = y->data0[to]; e < y->data0[to + 1]; e++) {
        first = first || y->data[e] == from;
      }
      for (uint32_t e = 0; e < y->n_control; e++) {
        first = first || (y->control_from[e] == from && y->control_to[e] == to &&
                          y->control_why[e] != FS_WHY_REUSE);
      }
      if (first) {
        before[to][from] = true;
        for (uint32_t j = 0; j < MOST_ITEMS; j++) {
          before[to][j] = before[to][j] || before[from][j];
        }
      }
    }
  }
}

/* Control edges of reuse that order what is not ordered without them. */
static uint32_t count_new(const fsched_schedule *handle) {
  static bool before[MOST_ITEMS][MOST_ITEMS];
  const fs_sync *y = handle->sync;
  uint32_t n = 0;
  find_orders(handle->schedule, y, before);
  for (uint32_t e = 0; e < y->n_control; e++) {
    n += y->control_why[e] == FS_WHY_REUSE && !before[y->control_to[e]][y->control_from[e]];
  }
  return n;
}

typedef struct spread_tally {
  uint64_t before, after, moved; /* orders that reuse adds; graphs */
} spread_tally;

static void compare_orders(const fsched_graph *g, spread_tally *n) {
  fsched_schedule *old = compile_with(g, false), *now = compile_with(g, true);
  ck_assert((old == NULL) == (now == NULL));
  if (old != NULL) {
    n->moved += has_moved(old->schedule, now->schedule);
    n->before += count_new(old);
    n->after += count_new(now);
  }
  fsched_schedule_destroy(old);
  fsched_schedule_destroy(now);
}

/* All kinds of graphs, in tight memories and wide ones: all orders together become fewer. */
START_TEST(random_graphs)
{
  spread_tally n = {0};
  for (uint64_t k = 0; k < 60; k++) {
    uint64_t seed = (fs_turn() * 8 + (uint64_t)_i) * 1000 + k;
    fs_gen_params p = _i % 4 == 0   ? fs_gen_any(seed, 40)
                      : _i % 4 == 1 ? fs_gen_odd(seed, 25)
                      : _i % 4 == 2 ? fs_gen_mixed(seed, 40, true)
                                    : fs_gen_tight(seed, 30);
    fsched_graph *g;
    p.latencies = k % 3 == 0;
    p.class_gangs = k % 4 == 0;
    ck_fs(ctx, fs_gen_graph(ctx, &p, &g));
    compare_orders(g, &n);
    fsched_graph_destroy(g);
  }
  ck_assert_msg(n.after < n.before || n.moved == 0, "%lu orders, %lu before",
                (unsigned long)n.after, (unsigned long)n.before);
  fs_assert_seen(n.moved, 2);
}
END_TEST

/* ---- memories with room for all */

/* Writes a graph of ops on queues and classes with buffers of many sizes, some in the place of
 * their inputs, some written in parts, some given or kept; and how much they take together. */
static uint64_t put_side_by_side(fs_rng *r, fs_text *t, bool loops) {
  uint32_t n_queues = 2 + fs_rng_below(r, 3), n = 6 + fs_rng_below(r, 20);
  uint64_t sum = 0;
  fs_text_puts(t, "ops:\n");
  for (uint32_t i = 0; i < n; i++) {
    uint32_t size = 1 + fs_rng_below(r, 100), copies = loops && fs_rng_one_in(r, 3) ? 3 : 1;
    if (copies > 1) {
      fs_text_printf(t, "- loop: l%u\n  trip: %u\n  buffers: {b%u: {depth: %u}}\n  ops:\n", i,
                     copies + fs_rng_below(r, 3), i, copies);
    }
    const char *inset = copies > 1 ? "  " : "";
    fs_text_printf(t, "%s- {name: o%u, on: q%u, time: %u, args: [{out: b%u, size: %u}", inset, i,
                   fs_rng_below(r, n_queues), 1 + fs_rng_below(r, 9), i, size);
    for (uint32_t k = fs_rng_below(r, 3); k > 0 && i > 0; k--) {
      fs_text_printf(t, ", {in: b%u}", i - 1 - fs_rng_below(r, (uint32_t)fs_min(i, 6)));
    }
    fs_text_puts(t, "]}\n");
    if (fs_rng_one_in(r, 2)) {
      fs_text_printf(t, "%s- {name: p%u, on: q%u, args: [{in: b%u}]}\n", inset, i,
                     fs_rng_below(r, n_queues), i);
    }
    if (fs_rng_one_in(r, 5) && size > 1) {
      fs_text_printf(t, "%s- {name: w%u, on: q%u, args: [{out_existing: b%u, at: [%u, %u]}]}\n",
                     inset, i, fs_rng_below(r, n_queues), i, size / 2, size - size / 2);
    }
    sum += (uint64_t)copies * ((size + 15) / 16 * 16);
  }
  return sum;
}

static void put_target(fs_text *t, uint64_t capacity) {
  fs_text_puts(t,
               "fsched: 1\ntarget:\n  queues: [{name: q0}, {name: q1}, {name: q2}, {name: q3}]\n");
  fs_text_printf(t, "  memories: [{name: m, capacity: %lu, align: 16}]\n", (unsigned long)capacity);
}

/* A memory as large as the sum of all that it ever holds: no queue waits for another one's place.
 * What others take then, is what is known to be over. */
START_TEST(side_by_side)
{
  uint64_t before = 0;
  for (uint64_t k = 0; k < 100; k++) {
    uint64_t seed = (fs_turn() * 2 + (uint64_t)_i) * 1000 + k;
    fs_rng r = {seed};
    fs_text body, t;
    fs_text_init(&body, ctx);
    fs_text_init(&t, ctx);
    put_target(&t, put_side_by_side(&r, &body, _i == 1));
    fs_text_add(&t, body.at, body.n);
    fs_text_add(&t, "", 1);
    fsched_graph *g = fs_parse(t.at);
    fsched_schedule *old = compile_with(g, false), *now = compile_with(g, true);
    ck_assert(old != NULL && now != NULL);
    (void)has_moved(old->schedule, now->schedule);
    ck_assert_msg(count_new(now) == 0, "seed %lu: %u new orders:\n%s", (unsigned long)seed,
                  count_new(now), t.at);
    before += count_new(old);
    fsched_schedule_destroy(old);
    fsched_schedule_destroy(now);
    fsched_graph_destroy(g);
    fs_text_drop(&body);
    fs_text_drop(&t);
  }
  fs_assert_seen(before, 50);
}
END_TEST

FS_SUITE(spread, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 8, random_graphs);
  FS_LOOPS(t, 0, 2, side_by_side);
}
