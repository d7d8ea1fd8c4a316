/* SPDX-License-Identifier: Apache-2.0 */
/* The width of graphs, and the least number of physical barriers without a new order.
 *
 * Times are CPU seconds of the quickest of three runs; the exponent is that of the growth from the
 * row before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "barrier/cover.h"
#include "kit/gen.h"
#include "model/width.h"

enum { RUNS = 3 };

static double cpu_seconds(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(fs_status status) {
  if (status != FSCHED_OK) {
    fprintf(stderr, "bench_width: out of memory\n");
    exit(EXIT_FAILURE);
  }
}

/* --- width --- */

typedef enum bench_width_shape { LAYERED, RANDOM, RECENT, CHAINS, GRID, TREE } bench_width_shape;

typedef struct width_case {
  const char *what;
  bench_width_shape shape;
  uint32_t rows; /* of a layer, number of chains, side of the grid; 0: the square root of n */
} width_case;

static const width_case width_cases[] = {
    {"layers of 1,000, 3 to 5 preds", LAYERED, 1000},
    {"layers of 100", LAYERED, 100},
    {"layers of 10,000", LAYERED, 10000},
    {"1 or 2 random preds", RANDOM, 2},
    {"1 to 4 random preds", RANDOM, 4},
    {"1 to 3 of the last 100", RECENT, 3},
    {"100 chains, few links", CHAINS, 100},
    {"grid", GRID, 0},
    {"binary tree inwards", TREE, 0},
};

/* The ops that op i comes after; at most 5. */
static uint32_t preds_of(const width_case *w, fs_rng *r, uint32_t i, uint32_t n, uint32_t *pred) {
  uint32_t k = 0, rows = w->rows != 0 ? w->rows : (uint32_t)sqrt((double)n);
  switch (w->shape) {
    case LAYERED:
      for (uint32_t m = i < rows ? 0 : 3 + fs_rng_below(r, 3); k < m; k++) {
        pred[k] = (i / rows - 1) * rows + fs_rng_below(r, rows);
      }
      return k;
    case RANDOM:
      for (uint32_t m = i == 0 ? 0 : 1 + fs_rng_below(r, rows); k < m; k++) {
        pred[k] = fs_rng_below(r, i);
      }
      return k;
    case RECENT:
      for (uint32_t m = i == 0 ? 0 : 1 + fs_rng_below(r, rows); k < m; k++) {
        pred[k] = i - 1 - fs_rng_below(r, i < 100 ? i : 100);
      }
      return k;
    case CHAINS:
      if (i >= rows) {
        pred[k++] = i - rows;
        if (fs_rng_one_in(r, 10)) {
          pred[k++] = i / rows * rows - 1 - fs_rng_below(r, rows);
        }
      }
      return k;
    case GRID:
      if (i >= rows) {
        pred[k++] = i - rows;
      }
      if (i % rows != 0) {
        pred[k++] = i - 1;
      }
      return k;
    default: /* the last op is the root */
      for (uint32_t child = 2 * (n - 1 - i) + 1; child <= 2 * (n - 1 - i) + 2 && child < n;
           child++) {
        pred[k++] = n - 1 - child;
      }
      return k;
  }
}

static fsched_graph *make_graph(fsched_context *ctx, const width_case *w, uint32_t n) {
  fsched_builder *b;
  fsched_graph *g;
  fs_rng r = {n};
  must(fsched_builder_create(ctx, "bench", &b));
  for (uint32_t i = 0; i < n; i++) {
    char name[16];
    uint32_t op, pred[5], n_pred = preds_of(w, &r, i, n, pred);
    (void)snprintf(name, sizeof name, "o%u", i);
    must(
        fsched_builder_op(b, &(fsched_op_desc){.size = sizeof(fsched_op_desc), .name = name}, &op));
    for (uint32_t k = 0; k < n_pred; k++) {
      must(fsched_builder_after(b, op, pred[k]));
    }
  }
  must(fsched_builder_finish(b, &g));
  fsched_builder_destroy(b);
  return g;
}

static void print_row(const char *what, uint32_t n, uint32_t result, double s, double before) {
  printf("%-34s %7u %8u %9.3f", what, n, result, s);
  if (before > 0) {
    printf(" %6.2f", log2(s / before));
  }
  printf("\n");
  (void)fflush(stdout);
}

static double time_width(fsched_context *ctx, const fsched_graph *g, uint32_t *width) {
  double best = 1e9;
  for (int i = 0; i < RUNS; i++) {
    double begin = cpu_seconds();
    must(fsched_graph_width(ctx, g, width));
    best = fmin(best, cpu_seconds() - begin);
  }
  return best;
}

static void measure_width(fsched_context *ctx, const width_case *w) {
  double before = 0;
  for (uint32_t n = 25000; n <= 100000; n *= 2) {
    uint32_t width;
    fsched_graph *g = make_graph(ctx, w, n);
    double s = time_width(ctx, g, &width);
    print_row(w->what, n, width, s, before);
    before = s;
    fsched_graph_destroy(g);
  }
}

/* --- cover --- */

typedef struct cover_case {
  const char *what;
  uint32_t queues, window; /* waits are for barriers of the last so many commands */
  uint32_t producers;      /* of a barrier: so many commands that follow each other in the order */
  uint32_t most;           /* commands */
} cover_case;

static const cover_case cover_cases[] = {
    {"1 queue", 1, 100, 1, 100000},
    {"8 queues", 8, 100, 1, 100000},
    {"8 queues, 4 producers", 8, 100, 4, 100000},
    {"64 queues", 64, 100, 1, 100000},
    {"64 queues, near waits", 64, 10, 1, 100000},
    {"64 queues, far waits", 64, 10000, 1, 100000},
    {"64 queues, 4 producers", 64, 100, 4, 100000},
    {"64 queues, 16 producers", 64, 200, 16, 100000},
    {"1,000 queues", 1000, 1500, 1, 25000},
    {"10,000 queues", 10000, 15000, 1, 25000},
};

/* Commands are drawn as positions in the order; ids are by queue. */
typedef struct drawing {
  fs_arena arena;
  uint32_t n, *order;
  uint32_t *wait0, *wait; /* CSR per position: groups of producers */
  fs_cover_problem p;
} drawing;

static uint32_t *new_ids(drawing *d, size_t n) {
  uint32_t *ids;
  must(fs_new_zero(&d->arena, &ids, n));
  return ids;
}

static void draw_queues(drawing *d, const cover_case *c, fs_rng *r) {
  uint32_t *queue0 = new_ids(d, (size_t)c->queues + 2), *queue = new_ids(d, d->n);
  d->order = new_ids(d, d->n);
  for (uint32_t i = 0; i < d->n; i++) {
    queue[i] = fs_rng_below(r, c->queues);
    queue0[queue[i] + 2]++;
  }
  for (uint32_t q = 0; q < c->queues; q++) {
    queue0[q + 2] += queue0[q + 1];
  }
  for (uint32_t i = 0; i < d->n; i++) {
    d->order[i] = queue0[queue[i] + 1]++;
  }
  d->p.n_queues = c->queues;
  d->p.n_commands = d->n;
  d->p.queue_command0 = queue0;
  d->p.order = d->order;
}

static void draw_waits(drawing *d, const cover_case *c, fs_rng *r) {
  d->wait0 = new_ids(d, (size_t)d->n + 1);
  d->wait = new_ids(d, 3 * (size_t)d->n);
  uint32_t n = 0;
  for (uint32_t i = 0; i < d->n; i++) {
    uint32_t group = i / c->producers, window = c->window / c->producers;
    uint32_t reach = group < window ? group : window;
    for (uint32_t k = reach == 0 ? 0 : fs_rng_below(r, 4); k > 0; k--) {
      d->wait[n++] = group - 1 - fs_rng_below(r, reach);
    }
    d->wait0[i + 1] = n;
  }
}

static void draw_preds(drawing *d, const cover_case *c) {
  uint32_t *pred0 = new_ids(d, (size_t)d->n + 1), *at = new_ids(d, d->n), n = 0;
  uint32_t *pred = new_ids(d, (size_t)d->wait0[d->n] * c->producers);
  for (uint32_t i = 0; i < d->n; i++) {
    at[d->order[i]] = i;
  }
  for (uint32_t id = 0; id < d->n; id++) {
    for (uint32_t k = d->wait0[at[id]]; k < d->wait0[at[id] + 1]; k++) {
      for (uint32_t m = 0; m < c->producers; m++) {
        pred[n++] = d->order[d->wait[k] * c->producers + m];
      }
    }
    pred0[id + 1] = n;
  }
  d->p.pred0 = pred0;
  d->p.pred = pred;
}

/* Draws barriers; groups that nobody waits for are left out. */
static void draw_barriers(drawing *d, const cover_case *c) {
  uint32_t n_groups = d->n / c->producers + 1, n_waits = d->wait0[d->n], n = 0;
  uint32_t *group0 = new_ids(d, (size_t)n_groups + 2), *consumer = new_ids(d, n_waits);
  uint32_t *consumer0 = new_ids(d, (size_t)n_groups + 1);
  uint32_t *producer0 = new_ids(d, (size_t)n_groups + 1), *producer = new_ids(d, d->n);
  for (uint32_t k = 0; k < n_waits; k++) {
    group0[d->wait[k] + 2]++;
  }
  for (uint32_t g = 0; g < n_groups; g++) {
    group0[g + 2] += group0[g + 1];
  }
  for (uint32_t i = 0; i < d->n; i++) {
    for (uint32_t k = d->wait0[i]; k < d->wait0[i + 1]; k++) {
      consumer[group0[d->wait[k] + 1]++] = d->order[i];
    }
  }
  for (uint32_t g = 0; g < n_groups; g++) {
    if (group0[g] < group0[g + 1]) {
      for (uint32_t m = 0; m < c->producers; m++) {
        producer[n * c->producers + m] = d->order[g * c->producers + m];
      }
      consumer0[++n] = group0[g + 1];
      producer0[n] = n * c->producers;
    }
  }
  d->p.n_barriers = n;
  d->p.producer0 = producer0;
  d->p.producer = producer;
  d->p.consumer0 = consumer0;
  d->p.consumer = consumer;
}

static double time_cover(fsched_context *ctx, const cover_case *c, uint32_t n, uint32_t *chains) {
  double best = 1e9;
  drawing d = {.n = n};
  fs_rng r = {n};
  fs_arena_init(&d.arena, ctx);
  draw_queues(&d, c, &r);
  draw_waits(&d, c, &r);
  draw_preds(&d, c);
  draw_barriers(&d, c);
  for (int i = 0; i < RUNS; i++) {
    uint32_t *chain, *index;
    bool proven;
    double begin = cpu_seconds();
    must(fs_barrier_cover(ctx, &d.arena, &d.p, FS_NONE, chains, &proven, &chain, &index));
    best = fmin(best, cpu_seconds() - begin);
  }
  fs_arena_release(&d.arena);
  return best;
}

static void measure_cover(fsched_context *ctx, const cover_case *c) {
  double before = 0;
  for (uint32_t n = c->most / 4; n <= c->most; n *= 2) {
    uint32_t chains;
    double s = time_cover(ctx, c, n, &chains);
    print_row(c->what, n, chains, s, before);
    before = s;
  }
}

int main(void) {
  fsched_context *ctx;
  must(fsched_context_create(NULL, &ctx));
  printf("%-34s %7s %8s %9s %6s\n", "width", "ops", "width", "seconds", "exp.");
  for (size_t i = 0; i < sizeof width_cases / sizeof *width_cases; i++) {
    measure_width(ctx, &width_cases[i]);
  }
  printf("%-34s %7s %8s %9s %6s\n", "cover", "commands", "chains", "seconds", "exp.");
  for (size_t i = 0; i < sizeof cover_cases / sizeof *cover_cases; i++) {
    measure_cover(ctx, &cover_cases[i]);
  }
  fsched_context_destroy(ctx);
  return EXIT_SUCCESS;
}
