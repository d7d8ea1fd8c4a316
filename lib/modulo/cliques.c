/* SPDX-License-Identifier: Apache-2.0 */
/* Around a circle of one period, the ops of a set follow one another in some order.  What an op is
 * worth is the least gap from it to one of the set, and the period is at least the sum.
 *
 * Sets are grown op by op, those of the largest gaps first.  A set is left when what it is worth
 * and the largest gaps of all that may still join it come to no more than the best one. */
#include "modulo/cliques.h"

#include "base/radix.h"

enum { BOUND_STEPS = 20000 };

typedef struct clique_finder {
  const fs_modulo_gaps *g;
  int64_t *most;    /* per op: its largest gap */
  uint32_t *chosen; /* the set */
  uint32_t *rows;   /* per size of the set: what may still join it */
  uint64_t steps;
  fs_modulo_clique *best;
} clique_finder;

static int64_t gap_of(const fs_modulo_gaps *g, uint32_t from, uint32_t to) {
  return g->gap[from * g->n + to];
}

static int64_t worth_of(const clique_finder *f, uint32_t n) {
  int64_t worth = 0;
  for (uint32_t i = 0; i < n; i++) {
    int64_t least = f->most[f->chosen[i]];
    for (uint32_t k = 0; k < n; k++) {
      int64_t gap = gap_of(f->g, f->chosen[i], f->chosen[k]);
      least = (k != i || gap > 0) && gap < least ? gap : least;
    }
    worth += least;
  }
  return worth;
}

/* Grows the set of n ops by those of a row. */
static void grow_set(clique_finder *f, uint32_t n, const uint32_t *row, uint32_t n_row) {
  int64_t worth = worth_of(f, n), more = 0;
  if (n > 1 && worth > f->best->worth) {
    f->best->worth = worth;
    f->best->n = n;
    memcpy(f->best->op, f->chosen, n * sizeof *f->chosen);
  }
  for (uint32_t i = 0; i < n_row; i++) {
    more += f->most[row[i]];
  }
  uint32_t *next = f->rows + (size_t)(n + 1) * f->g->n;
  for (uint32_t i = 0; i < n_row && worth + more > f->best->worth && f->steps > 0; i++) {
    uint32_t n_next = 0;
    for (uint32_t k = i + 1; k < n_row; k++) {
      next[n_next] = row[k];
      n_next += gap_of(f->g, row[i], row[k]) > 0;
    }
    f->steps--;
    f->chosen[n] = row[i];
    grow_set(f, n + 1, next, n_next);
    more -= f->most[row[i]];
  }
}

/* Lists all ops, those of the largest gaps first. */
static fs_status list_ops(fs_arena *scratch, const clique_finder *f, uint32_t *row) {
  uint32_t n = f->g->n;
  uint64_t *key, most = UINT64_C(1) << 56;
  FS_TRY(fs_new(scratch, &key, 2 * (size_t)n));
  for (uint32_t i = 0; i < n; i++) {
    key[i] = (most - 1 - fs_min((uint64_t)f->most[i], most - 1)) << 7 | i;
  }
  fs_radix_sort_block(key, n);
  for (uint32_t i = 0; i < n; i++) {
    row[i] = (uint32_t)(key[i] & (FS_MODULO_CLIQUE_OPS - 1));
  }
  return FSCHED_OK;
}

fs_status fs_modulo_clique_find(fs_arena *arena, const fs_modulo_gaps *g, uint64_t *steps,
                                fs_modulo_clique *out) {
  assert(g->n <= FS_MODULO_CLIQUE_OPS);
  clique_finder f = {.g = g, .steps = *steps, .best = out};
  *out = (fs_modulo_clique){.worth = 0};
  FS_TRY(fs_new(arena, &out->op, g->n));
  FS_TRY(fs_new_zero(arena, &f.most, g->n));
  FS_TRY(fs_new(arena, &f.chosen, g->n));
  FS_TRY(fs_new(arena, &f.rows, ((size_t)g->n + 1) * g->n));
  for (uint32_t c = 0; c < g->n * g->n; c++) {
    uint32_t from = c / g->n;
    f.most[from] = g->gap[c] > f.most[from] ? g->gap[c] : f.most[from];
  }
  FS_TRY(list_ops(arena, &f, f.rows));
  grow_set(&f, 0, f.rows, g->n);
  *steps = f.steps;
  return FSCHED_OK;
}

/* --- of a body --- */

/* The queues of a group that an op takes in any case. */
static uint64_t sure_queues(const fs_modulo_body *b, uint32_t op, uint32_t group) {
  uint64_t sure = 0;
  for (uint32_t c = b->claim0[op]; c < b->claim0[op + 1]; c++) {
    uint64_t domain = b->claim[c].group == group ? b->claim[c].domain : 0;
    sure |= (domain & (domain - 1)) == 0 ? domain : 0;
  }
  return sure;
}

/* The lanes that an op takes of a resource. */
static uint64_t lanes_taken(const fs_modulo_problem *p, uint32_t op, uint32_t resource) {
  uint64_t n = 0;
  for (uint32_t k = p->use0[op]; k < p->use0[op + 1]; k++) {
    n += p->use[k].resource == resource ? p->use[k].amount : 0;
  }
  return n;
}

/* Whether two ops share a track of a group whatever they choose, or one op with itself, of another
 * iteration. */
static bool exclude_each_other(const fs_modulo_body *b, uint32_t group, uint32_t x, uint32_t y) {
  if (group < b->n_queue_groups) {
    return (sure_queues(b, x, group) & sure_queues(b, y, group)) != 0;
  }
  const fs_modulo_problem *p = b->p;
  uint32_t resource = group - b->n_queue_groups;
  uint64_t of_x = lanes_taken(p, x % p->n, resource), of_y = lanes_taken(p, y % p->n, resource);
  return of_x > 0 && of_y > 0 && of_x + of_y > p->lanes[resource];
}

/* The largest gap that a group gives, and the group. */
static int64_t gap_between(const fs_modulo_body *b, uint32_t from, uint32_t to, uint32_t *group) {
  int64_t gap = 0;
  for (uint32_t c = b->claim0[from]; c < b->claim0[from + 1]; c++) {
    const fs_modulo_claim *claim = &b->claim[c];
    bool seen = c > b->claim0[from] && b->claim[c - 1].group == claim->group;
    seen = seen || b->turn[claim->group] > 1;
    if (!seen && claim->hold > gap && exclude_each_other(b, claim->group, from, to)) {
      gap = claim->hold;
      *group = claim->group;
    }
  }
  return gap;
}

fs_status fs_modulo_gaps_make(fs_arena *arena, const fs_modulo_body *b, bool again,
                              fs_modulo_gaps *out) {
  assert(b->n <= FS_MODULO_CLIQUE_OPS);
  bool *left_out;
  uint32_t group;
  out->n = b->n;
  FS_TRY(fs_new_zero(arena, &left_out, b->n));
  FS_TRY(fs_new_zero(arena, &out->gap, (size_t)b->n * b->n));
  for (uint32_t i = 0; i < b->n && again; i++) {
    left_out[i] = gap_between(b, i, i, &group) == 0;
  }
  for (uint32_t c = 0; c < b->n * b->n; c++) {
    uint32_t from = c / b->n, to = c % b->n;
    if ((again || from != to) && !left_out[from] && !left_out[to]) {
      out->gap[c] = gap_between(b, from, to, &group);
    }
  }
  return FSCHED_OK;
}

/* What two of the ops share, lanes if any do. */
static void name_shared(const fs_modulo_body *b, const fs_modulo_clique *c, fs_modulo_limit *by,
                        uint32_t *index) {
  *by = FS_MODULO_BY_QUEUES;
  *index = 0;
  for (uint32_t i = 1; i < c->n && *by == FS_MODULO_BY_QUEUES; i++) {
    uint32_t group = 0;
    (void)gap_between(b, c->op[i - 1], c->op[i], &group);
    bool lanes = group >= b->n_queue_groups;
    *by = lanes ? FS_MODULO_BY_RESOURCE : FS_MODULO_BY_QUEUES;
    *index = lanes ? group - b->n_queue_groups : b->name[b->track0[group]];
  }
}

fs_status fs_modulo_clique_bound(fsched_context *ctx, const fs_modulo_body *b, bool again,
                                 int64_t *worth, fs_modulo_limit *by, uint32_t *index) {
  FS_SCRATCH(scratch, ctx);
  fs_modulo_gaps gaps;
  fs_modulo_clique clique;
  uint64_t steps = BOUND_STEPS;
  *worth = 0;
  if (b->n > FS_MODULO_CLIQUE_OPS) {
    return FSCHED_OK;
  }
  FS_TRY(fs_modulo_gaps_make(&scratch, b, again, &gaps));
  FS_TRY(fs_modulo_clique_find(&scratch, &gaps, &steps, &clique));
  name_shared(b, &clique, by, index);
  *worth = clique.worth;
  return FSCHED_OK;
}
