/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/lag_gen.h"

#include "kit/gen.h"

#define SPILLS                                              \
  "{name: m, capacity: 448, backing: d, spill: {on: copy, " \
  "write: {fixed: 2}, read: {fixed: 2}}}, {name: d}"

enum { QUEUES = 4, BUFFERS = 64, NO_BUFFER = BUFFERS };

typedef struct lag_graph {
  fs_text *t;
  fs_rng rng;
  uint32_t queues, n;     /* buffers so far: x0, x1, ... */
  uint32_t size[BUFFERS]; /* of each */
  uint32_t carried;       /* what one stage of the loop hands on from iteration to iteration */
} lag_graph;

static uint32_t below(lag_graph *g, uint32_t n) { return fs_rng_below(&g->rng, n); }

/* An op's head, and args for what is there: it reads some, and changes one in place. */
static void put_op(lag_graph *g, const char *indent, const char *kind, uint32_t item,
                   uint32_t stage) {
  uint32_t time = 1 + below(g, 8), written = below(g, 4) == 0 ? below(g, g->n + 1) : g->n;
  fs_text_printf(g->t, "%s- {name: %s%u_%u, on: q%u, time: %u, args: [", indent, kind, item, stage,
                 below(g, g->queues), time);
  for (uint32_t b = 0; b < g->n; b++) {
    if (b != written && b != g->carried && below(g, 3) == 0) {
      fs_text_printf(g->t, "{in: x%u}, ", b);
    }
  }
  if (written < g->n && written != g->carried) {
    fs_text_printf(g->t, "{inout: x%u}, ", written);
  }
}

/* An arg that makes a new buffer. */
static void put_new(lag_graph *g, const char *tag) {
  g->size[g->n] = 8 + 8 * below(g, 4);
  fs_text_printf(g->t, "{%s: x%u, size: %u}", tag, g->n, g->size[g->n]);
  g->n++;
}

static void put_plain(lag_graph *g, uint32_t item) {
  put_op(g, "", "o", item, 0);
  put_new(g, "out");
  fs_text_puts(g->t, "]}\n");
}

/* Stages in a row, each of which reads what the one before has begun; some write what ops behind
 * can read.  What other stages of the loop write is for those behind it. */
static void put_loop(lag_graph *g, uint32_t item) {
  uint32_t stages = 2 + below(g, 2), before = g->n, trip = 1 + below(g, 5), hands_on;
  g->carried = g->n > 0 && below(g, 2) == 0 ? below(g, g->n) : NO_BUFFER;
  hands_on = g->carried == NO_BUFFER ? stages : below(g, stages);
  fs_text_printf(g->t, "- loop: l%u\n  trip: ", item);
  if (below(g, 3) == 0) {
    fs_text_printf(g->t, "{param: n%u, min: 0, max: %u}", item, trip);
  } else {
    fs_text_u64(g->t, trip);
  }
  fs_text_puts(g->t, "\n  ops:\n");
  for (uint32_t k = 0; k < stages; k++) {
    uint32_t all = g->n;
    g->n = before;
    put_op(g, "  ", "s", item, k);
    g->n = all;
    if (k == hands_on) {
      fs_text_printf(g->t, "{in: x%u, distance: 1}, {out: x%u, size: %u}, ", g->carried, g->carried,
                     g->size[g->carried]);
    }
    if (k > 0) {
      fs_text_printf(g->t, "{in: b%u_%u}, ", item, k - 1);
    }
    if (below(g, 2) == 0 || k + 1 == stages) {
      put_new(g, "out_existing");
      fs_text_puts(g->t, ", ");
    }
    fs_text_printf(g->t, "{out: b%u_%u, size: 8}]}\n", item, k);
  }
  g->carried = NO_BUFFER;
}

void fs_lag_gen(uint64_t seed, fs_text *t) {
  static const char *const memory[] = {"{name: m}", "{name: m, capacity: 4096}", SPILLS};
  lag_graph g = {.t = t, .rng = {seed}, .carried = NO_BUFFER};
  g.queues = 2 + below(&g, QUEUES - 1);
  fs_text_puts(t, "fsched: 1\ntarget:\n  queues: [{name: c, class: copy}");
  for (uint32_t q = 0; q < g.queues; q++) {
    fs_text_printf(t, ", {name: q%u}", q);
  }
  fs_text_printf(t, "]\n  memories: [%s]\nops:\n", memory[below(&g, 3)]);
  uint32_t items = 2 + below(&g, 5);
  for (uint32_t i = 0; i < items; i++) {
    if (below(&g, 2) == 0) {
      put_plain(&g, i);
    } else {
      put_loop(&g, i);
    }
  }
  fs_text_add(t, "", 1);
}
