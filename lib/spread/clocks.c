/* SPDX-License-Identifier: Apache-2.0 */
/* An item that is slow (fs_item_slow) is over for who waits for it, and for its queue it is not. */
#include "spread/clocks.h"

#include "base/saturate.h"

uint64_t fs_spread_clocks_words(const fs_schedule *s) {
  uint64_t rows = (uint64_t)s->n_items + s->n_queues + 1;
  return fs_multiply_most(rows, s->n_queues);
}

fs_status fs_spread_clocks_make(fs_arena *arena, const fs_schedule *s, const fs_accesses *acc,
                                fs_spread_clocks *out) {
  size_t n = s->n_queues;
  *out = (fs_spread_clocks){.s = s, .acc = acc, .n = s->n_queues};
  FS_TRY(fs_new(arena, &out->over, n * s->n_items));
  FS_TRY(fs_new(arena, &out->passed, n * n));
  return fs_new(arena, &out->now, n);
}

void fs_spread_clocks_reset(fs_spread_clocks *c) {
  memset(c->passed, 0, (size_t)c->n * c->n * sizeof *c->passed);
}

/* Four entries at once; they are below 2^31, as positions are. */
typedef int32_t row_part __attribute__((vector_size(16)));

static void join_row(uint32_t *to, const uint32_t *from, uint32_t n) {
  enum { WIDTH = sizeof(row_part) / sizeof *to };
  uint32_t q = 0;
  for (; q + WIDTH <= n; q += WIDTH) {
    row_part a, b, later;
    memcpy(&a, to + q, sizeof a);
    memcpy(&b, from + q, sizeof b);
    later = b > a;
    a = (b & later) | (a & ~later);
    memcpy(to + q, &a, sizeof a);
  }
  for (; q < n; q++) {
    to[q] = to[q] > from[q] ? to[q] : from[q];
  }
}

/* What an item with one queue knew is known wherever it is over, so its row adds nothing then. */
void fs_spread_clocks_add(fs_spread_clocks *c, uint32_t from) {
  bool adds = fs_item_gang(c->s, from) != FS_NONE || !fs_spread_clocks_know(c, from);
  if (adds) {
    join_row(c->now, fs_spread_clocks_row(c, from), c->n);
  }
}

void fs_spread_clocks_begin(fs_spread_clocks *c, uint32_t item) {
  const fsched_graph *g = c->s->graph;
  uint32_t n;
  const uint32_t *queue = fs_item_queues(c->s, item, &n);
  memcpy(c->now, c->passed + (size_t)queue[0] * c->n, c->n * sizeof *c->now);
  for (uint32_t k = 1; k < n; k++) {
    join_row(c->now, c->passed + (size_t)queue[k] * c->n, c->n);
  }
  for (uint32_t i = c->acc->data0[item]; i < c->acc->data0[item + 1]; i++) {
    fs_spread_clocks_add(c, c->acc->data[i]);
  }
  for (uint32_t i = item < g->n_ops ? g->pred0[item] : 0; item < g->n_ops && i < g->pred0[item + 1];
       i++) {
    fs_spread_clocks_add(c, g->pred[i]);
  }
}

void fs_spread_clocks_end(fs_spread_clocks *c, uint32_t item) {
  uint32_t n, *row = fs_spread_clocks_row(c, item), after = c->acc->position[item] + 1;
  const uint32_t *queue = fs_item_queues(c->s, item, &n);
  memcpy(row, c->now, c->n * sizeof *row);
  for (uint32_t k = 0; k < n; k++) {
    row[queue[k]] = after;
  }
  for (uint32_t k = 0; k < n; k++) {
    memcpy(c->passed + (size_t)queue[k] * c->n, fs_item_slow(c->s, item) ? c->now : row,
           c->n * sizeof *row);
  }
}
