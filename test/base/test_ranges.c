/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of byte ranges, and the pieces of a block: they find what a plain list finds, and no choice
 * of offsets makes them slow or their recursion deep.
 *
 * The offsets are crafted against trees whose shape comes from a public hash of the order in which
 * nodes are made (a treap with such priorities becomes a list when offsets have the order of the
 * hashes), and against trees that are not balanced (ascending offsets).  The test counts how many
 * nodes lie on the way to each node; it does not use a clock. */
#include <pthread.h>
#include <stdlib.h>

#include "base/ranges.h"
#include "frontier/deaths_tree.h"
#include "kit/budget.h"
#include "kit/gen.h"

#include "kit/context.h"

enum { STACK = 128 << 10, MANY = 20000, N_SHAPES = 4 };

/* Two public mixing functions, each a permutation of its words. */
static uint32_t mix32(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}
static uint64_t mix64(uint64_t x) {
  x *= 0x9e3779b97f4a7c15u;
  return (x ^ x >> 32) * 0xd6e8feb86659fd93u;
}

/* Returns the i-th begin of `n`; all are different and leave room for two bytes. */
static uint64_t crafted(int shape, uint32_t i, uint32_t n) {
  switch (shape) {
    case 0:
      return (uint64_t)mix32(i) * 2;
    case 1:
      return mix64((uint64_t)i + 2) >> 4 << 1; /* that of id i + 1 */
    case 2:
      return (uint64_t)i * 2;
    default:
      return (uint64_t)(n - i) * 2;
  }
}

static uint64_t ways(const fs_ranges *r, uint32_t at, uint64_t depth) {
  return at == FS_NONE ? 0
                       : depth + ways(r, r->node.at[at].left, depth + 1) +
                             ways(r, r->node.at[at].right, depth + 1);
}

/* The height of a subtree; checks that every node knows its own height and is balanced. */
static uint32_t height_of(const fs_ranges *r, uint32_t at) {
  if (at == FS_NONE) {
    return 0;
  }
  uint32_t left = height_of(r, r->node.at[at].left), right = height_of(r, r->node.at[at].right);
  ck_assert(left <= right + 1 && right <= left + 1);
  ck_assert_uint_eq(r->node.at[at].height, fs_max(left, right) + 1);
  return r->node.at[at].height;
}

static uint64_t ways_of_ranges(int shape, uint32_t n) {
  fs_ranges r;
  uint32_t set = FS_NONE;
  fs_ranges_init(&r, ctx);
  for (uint32_t i = 0; i < n; i++) {
    uint64_t lo = crafted(shape, i, n);
    ck_assert_int_eq(fs_ranges_add(&r, &set, lo, lo + 2, i), FSCHED_OK);
  }
  uint64_t counted = ways(&r, set, 1);
  fs_ranges_release(&r);
  return counted;
}

static uint64_t ways_in_pieces(const fs_pieces *t, uint32_t at, uint64_t depth) {
  return at == 0 ? 0
                 : depth + ways_in_pieces(t, t->piece.at[at].left, depth + 1) +
                       ways_in_pieces(t, t->piece.at[at].right, depth + 1);
}

static uint32_t height_in_pieces(const fs_pieces *t, uint32_t at) {
  const fs_piece *p = &t->piece.at[at];
  if (at == 0) {
    ck_assert_uint_eq(p->height, 0);
    return 0;
  }
  uint32_t left = height_in_pieces(t, p->left), right = height_in_pieces(t, p->right);
  ck_assert(left <= right + 1 && right <= left + 1);
  ck_assert_uint_eq(p->height, fs_max(left, right) + 1);
  return p->height;
}

static void insert_pieces(fs_pieces *t, int shape, uint32_t n) {
  *t = (fs_pieces){0};
  ck_assert_int_eq(fs_pieces_reserve(ctx, t, n), FSCHED_OK);
  /* Ids are 1 to n, and are inserted in that order. */
  for (uint32_t i = 0; i < n; i++) {
    (void)fs_piece_new(t);
  }
  for (uint32_t i = 0; i < n; i++) {
    t->piece.at[i + 1].offset = crafted(shape, i, n);
    t->piece.at[i + 1].bytes = 2;
    fs_pieces_insert(t, i + 1);
  }
}

static uint64_t ways_of_pieces(int shape, uint32_t n) {
  fs_pieces t;
  insert_pieces(&t, shape, n);
  uint64_t counted = ways_in_pieces(&t, t.root, 1);
  fs_vec_free(ctx, &t.piece);
  return counted;
}

static void assert_short(const char *what, uint64_t once, uint64_t twice, uint32_t n) {
  ck_assert_msg(2 * twice <= 5 * once, "%s: %llu steps, and %llu for twice as many", what,
                (unsigned long long)once, (unsigned long long)twice);
  ck_assert_msg(twice <= (uint64_t)20 * n, "%s: %llu steps for %u", what, (unsigned long long)twice,
                n);
}

START_TEST(crafted_offsets_are_balanced)
{
  assert_short("ranges", ways_of_ranges(_i, 2048), ways_of_ranges(_i, 4096), 4096);
  assert_short("pieces", ways_of_pieces(_i, 2048), ways_of_pieces(_i, 4096), 4096);
}
END_TEST

static void in_small_thread(void *(*function)(void *), void *argument) {
  pthread_attr_t small;
  pthread_t thread;
  ck_assert_int_eq(pthread_attr_init(&small), 0);
  ck_assert_int_eq(pthread_attr_setstacksize(&small, STACK), 0);
  ck_assert_int_eq(pthread_create(&thread, &small, function, argument), 0);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  (void)pthread_attr_destroy(&small);
}

/* Adds, finds, cuts and clears. */
static void *use_ranges(void *at) {
  const int shape = *(const int *)at;
  fs_ranges r;
  fs_ids found = {0};
  uint32_t set = FS_NONE;
  uint64_t covered;
  fs_ranges_init(&r, ctx);
  for (uint32_t i = 0; i < MANY; i++) {
    uint64_t lo = crafted(shape, i, MANY);
    ck_assert_int_eq(fs_ranges_add(&r, &set, lo, lo + 2, i), FSCHED_OK);
  }
  for (uint32_t i = 0; i < MANY; i++) {
    uint64_t lo = crafted(shape, i, MANY);
    found.n = 0;
    ck_assert_int_eq(fs_ranges_find(&r, set, lo, lo + 2, &found, &covered), FSCHED_OK);
    ck_assert(found.n == 1 && found.at[0] == i && covered == 2);
    ck_assert_int_eq(fs_ranges_cut(&r, &set, lo + i % 2, lo + i % 2 + 1), FSCHED_OK);
  }
  fs_ranges_clear(&r, &set);
  fs_vec_free(ctx, &found);
  fs_ranges_release(&r);
  return NULL;
}

static void *use_pieces(void *at) {
  const int shape = *(const int *)at;
  fs_pieces t;
  insert_pieces(&t, shape, MANY);
  for (uint32_t i = 0; i < MANY; i++) {
    ck_assert_uint_eq(fs_pieces_at(&t, crafted(shape, i, MANY) + 1), i + 1);
    t.piece.at[i + 1].block = 1;
    fs_pieces_update(&t, i + 1);
  }
  uint64_t length;
  ck_assert_uint_eq(fs_pieces_run(&t, 2, 0, &length), 0);
  for (uint32_t i = 0; i < MANY; i++) {
    fs_pieces_remove(&t, i + 1);
  }
  ck_assert_uint_eq(t.root, 0);
  fs_vec_free(ctx, &t.piece);
  return NULL;
}

START_TEST(crafted_offsets_need_no_stack)
{
  in_small_thread(use_ranges, &_i);
  in_small_thread(use_pieces, &_i);
}
END_TEST

/* --- compared with a plain list --- */

enum { MOST = 4096, SPACE = 64 };

typedef struct ranges_model {
  struct {
    uint64_t lo, hi;
    uint32_t op;
  } range[MOST];
  uint32_t n;
} ranges_model;

static int by_begin(const void *a, const void *b) {
  const uint64_t *x = a, *y = b; /* the keys are lo and op */
  if (x[0] != y[0]) {
    return x[0] < y[0] ? -1 : 1;
  }
  return x[1] < y[1] ? -1 : x[1] > y[1];
}

static void model_add(ranges_model *m, uint64_t lo, uint64_t hi, uint32_t op) {
  ck_assert_uint_lt(m->n, MOST);
  m->range[m->n].lo = lo;
  m->range[m->n].hi = hi;
  m->range[m->n++].op = op;
}

static void model_cut(ranges_model *m, uint64_t lo, uint64_t hi) {
  for (uint32_t i = 0, n = m->n; i < n; i++) {
    uint64_t from = m->range[i].lo, to = m->range[i].hi;
    if (from >= hi || to <= lo) {
      continue;
    }
    m->range[i].hi = fs_max(from, fs_min(to, lo)); /* it may be empty now */
    if (to > hi) {
      model_add(m, hi, to, m->range[i].op);
    }
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < m->n; i++) {
    if (m->range[i].lo < m->range[i].hi) {
      m->range[kept++] = m->range[i];
    }
  }
  m->n = kept;
}

static void assert_found(const ranges_model *m, const fs_ranges *r, uint32_t set, uint64_t lo,
                         uint64_t hi) {
  static uint64_t wanted[MOST][2];
  uint32_t n = 0;
  uint64_t covered, bytes = 0;
  bool at[SPACE] = {false};
  fs_ids found = {0};
  for (uint32_t i = 0; i < m->n; i++) {
    if (m->range[i].lo < hi && m->range[i].hi > lo) {
      wanted[n][0] = m->range[i].lo;
      wanted[n++][1] = m->range[i].op;
      for (uint64_t k = fs_max(m->range[i].lo, lo); k < fs_min(m->range[i].hi, hi); k++) {
        bytes += !at[k];
        at[k] = true;
      }
    }
  }
  qsort(wanted, n, sizeof wanted[0], by_begin);
  ck_assert_int_eq(fs_ranges_find(r, set, lo, hi, &found, &covered), FSCHED_OK);
  ck_assert_uint_eq(found.n, n);
  ck_assert_uint_eq(covered, bytes);
  for (uint32_t i = 0; i < n; i++) {
    ck_assert_msg(found.at[i] == wanted[i][1], "at %u: %u, not %llu", i, found.at[i],
                  (unsigned long long)wanted[i][1]);
  }
  fs_vec_free(ctx, &found);
}

/* Two sets share the pool, so ids are used again, in all kinds of order.  Ranges are found in the
 * order of (lo, op), whatever was cut and added before. */
START_TEST(finds_what_a_list_finds)
{
  static ranges_model m[2];
  fs_rng rng = {(uint64_t)_i + 1};
  fs_ranges r;
  uint32_t set[2] = {FS_NONE, FS_NONE};
  m[0].n = m[1].n = 0;
  fs_ranges_init(&r, ctx);
  for (uint32_t step = 0; step < 3000; step++) {
    uint32_t k = fs_rng_below(&rng, 2), what = fs_rng_below(&rng, 16);
    uint64_t lo = fs_rng_below(&rng, SPACE - 1), hi = lo + 1 + fs_rng_below(&rng, SPACE - lo);
    hi = fs_min(hi, SPACE);
    if (what < 8 && m[k].n < 200) {
      model_add(&m[k], lo, hi, step % 1000);
      ck_assert_int_eq(fs_ranges_add(&r, &set[k], lo, hi, step % 1000), FSCHED_OK);
    } else if (what < 14) {
      hi = fs_min(hi, lo + 4);
      model_cut(&m[k], lo, hi);
      ck_assert_int_eq(fs_ranges_cut(&r, &set[k], lo, hi), FSCHED_OK);
    } else if (what == 14 && fs_rng_one_in(&rng, 8)) {
      m[k].n = 0;
      fs_ranges_clear(&r, &set[k]);
    } else if (what == 15 && m[k].n > 0) {
      uint32_t gone = fs_rng_below(&rng, m[k].n);
      fs_ranges_remove(&r, &set[k], m[k].range[gone].lo, m[k].range[gone].hi, m[k].range[gone].op);
      m[k].range[gone] = m[k].range[--m[k].n];
    }
    (void)height_of(&r, set[k]);
    assert_found(&m[k], &r, set[k], lo, hi);
  }
  fs_ranges_release(&r);
}
END_TEST

/* With room for them, ranges are added when there is no memory any more. */
START_TEST(reserved_ranges_need_no_memory)
{
  enum { N = 100 };
  fs_budget budget = {.left = 1000};
  fsched_context_options o = {
      .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
  fsched_context *own;
  ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
  fs_ranges r;
  uint32_t set = FS_NONE;
  fs_ranges_init(&r, own);
  ck_assert_int_eq(fs_ranges_reserve(&r, N), FSCHED_OK);
  budget.left = 0;
  for (uint32_t i = 0; i < N; i++) {
    ck_assert_int_eq(fs_ranges_add(&r, &set, i, i + 2, i), FSCHED_OK);
  }
  fs_ranges_release(&r);
  fsched_context_destroy(own);
}
END_TEST

/* Ranges are disjoint, as those of the last writers are. */
START_TEST(replaces_as_a_list_does)
{
  static ranges_model m;
  fs_rng rng = {(uint64_t)_i + 100};
  fs_ranges r;
  uint32_t set = FS_NONE;
  m.n = 0;
  fs_ranges_init(&r, ctx);
  for (uint32_t step = 0; step < 3000; step++) {
    uint64_t lo = fs_rng_below(&rng, SPACE - 4), hi = lo + 1 + fs_rng_below(&rng, 4);
    model_cut(&m, lo, hi);
    model_add(&m, lo, hi, step);
    ck_assert_int_eq(fs_ranges_replace(&r, &set, lo, hi, step), FSCHED_OK);
    assert_found(&m, &r, set, 0, SPACE);
  }
  fs_ranges_release(&r);
}
END_TEST

/* Pieces come and go in any order. */
START_TEST(pieces_stay_balanced)
{
  enum { N = 300 };
  fs_rng rng = {(uint64_t)_i + 200};
  fs_pieces t;
  bool in[N + 1];
  insert_pieces(&t, 2, N); /* id i + 1 at 2 * i */
  memset(in, true, sizeof in);
  for (uint32_t step = 0; step < 5000; step++) {
    uint32_t id = 1 + fs_rng_below(&rng, N);
    if (in[id]) {
      fs_pieces_remove(&t, id);
    } else {
      fs_pieces_insert(&t, id);
    }
    in[id] = !in[id];
    (void)height_in_pieces(&t, t.root);
    for (uint32_t i = 1; i <= N; i += 1 + fs_rng_below(&rng, 50)) {
      ck_assert(!in[i] || fs_pieces_at(&t, 2 * i - 1) == i);
    }
    uint32_t n = 0;
    for (uint32_t i = 1; i <= N; i++) {
      n += in[i];
    }
    ck_assert_uint_eq(t.piece.at[t.root].span, 2 * n);
  }
  fs_vec_free(ctx, &t.piece);
}
END_TEST

FS_SUITE(ranges, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, N_SHAPES, crafted_offsets_are_balanced, crafted_offsets_need_no_stack);
  FS_LOOPS(t, 0, 8, finds_what_a_list_finds);
  FS_TESTS(t, reserved_ranges_need_no_memory);
  FS_LOOPS(t, 0, 4, replaces_as_a_list_does, pieces_stay_balanced);
}
