/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the strip packing model, compared with a plain look at the rectangles: all starts and
 * addresses of tiny instances are tried, and each thing that the published form leaves out.  No
 * solver is needed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsched/graph.h"
#include "ilp/pack/private.h"
#include "kit/budget.h"

#include "kit/context.h"

/* --- tiny strips --- */

enum { ROOM = 4, MOST = 4 };

typedef struct ilp_pack_tiny {
  uint32_t n;
  unsigned time[MOST], size[MOST];
  bool edge[MOST][MOST];
  unsigned horizon;
  bool positions; /* the model with a binary for each position */
} ilp_pack_tiny;

static fsched_graph *make_graph(const ilp_pack_tiny *y) {
  static const char *const name[MOST] = {"a", "b", "c", "d"};
  fsched_builder *b;
  fsched_graph *g;
  uint32_t id;
  fsched_memory_desc m = {.size = sizeof m, .name = "strip", .capacity = ROOM};
  ck_assert_int_eq(fsched_builder_create(ctx, "tiny", &b), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_memory(b, &m, &id), FSCHED_OK);
  for (uint32_t i = 0; i < y->n; i++) {
    fsched_op_desc op = {.size = sizeof op, .name = name[i], .has_time = 1, .time = y->time[i]};
    ck_assert_int_eq(fsched_builder_op(b, &op, &id), FSCHED_OK);
    ck_assert_int_eq(fsched_builder_scratch(b, i, 0, y->size[i]), FSCHED_OK);
    for (uint32_t before = 0; before < i; before++) {
      if (y->edge[before][i]) {
        ck_assert_int_eq(fsched_builder_after(b, i, before), FSCHED_OK);
      }
    }
  }
  ck_assert_int_eq(fsched_builder_finish(b, &g), FSCHED_OK);
  fsched_builder_destroy(b);
  return g;
}

/* Whether the rectangles solve the problem, by looking at each pair. */
static bool right(const ilp_pack_tiny *y, const int64_t *start, const int64_t *address) {
  for (uint32_t i = 0; i < y->n; i++) {
    int64_t end = start[i] + y->time[i], top = address[i] + y->size[i];
    if (end > y->horizon || top > ROOM) {
      return false;
    }
    for (uint32_t k = 0; k < i; k++) {
      int64_t other_end = start[k] + y->time[k], other_top = address[k] + y->size[k];
      bool times = start[i] < other_end && start[k] < end;
      bool places = address[i] < other_top && address[k] < top;
      if ((times && places) || (y->edge[k][i] && start[i] < other_end)) {
        return false;
      }
    }
  }
  return true;
}

typedef struct ilp_pack_counts {
  uint64_t points, right, accepted;
} ilp_pack_counts;

typedef struct tiny_model {
  const ilp_pack_tiny *y;
  fsched_graph *g;
  fs_problem *p;
  fs_pack_model *t;
  int64_t *value;
} tiny_model;

static void open_model(tiny_model *m, fsched_context *own, const ilp_pack_tiny *y) {
  fs_pack_options o = {.positions = y->positions};
  *m = (tiny_model){.y = y, .g = make_graph(y)};
  ck_assert_int_eq(fs_problem_from_graph(own, m->g, y->horizon, 0, &m->p), FSCHED_OK);
  ck_assert_int_eq(fs_pack_model_build(m->p, &o, &m->t), FSCHED_OK);
  m->value = calloc(fs_pack_model_of(m->t)->var.n + 1, sizeof *m->value);
}

static void close_model(tiny_model *m) {
  free(m->value);
  fs_pack_model_destroy(m->t);
  fs_problem_destroy(m->p);
  fsched_graph_destroy(m->g);
}

static void refute(const ilp_pack_tiny *y, const int64_t *start, const int64_t *address,
                   const char *what) {
  char text[256] = "";
  for (uint32_t i = 0; i < y->n; i++) {
    size_t n = strlen(text);
    (void)snprintf(text + n, sizeof text - n, " %ux%u at %d,%d", y->time[i], y->size[i],
                   (int)start[i], (int)address[i]);
  }
  ck_abort_msg("horizon %u:%s: %s", y->horizon, text, what);
}

/* Binaries may not claim more than is true: at a point, each binary that is 1 has to be. */
static void check_binaries(tiny_model *m, const int64_t *start, const int64_t *address) {
  const fs_model *model = fs_pack_model_of(m->t);
  for (size_t k = 0; k < m->t->def.n; k++) {
    uint32_t var = m->t->def.at[k].var;
    if (model->var.at[var].kind == FS_VAR_BINARY && m->value[var] == 1) {
      m->value[var] = 0;
      if (fs_model_broken(model, m->value) == FS_NONE) {
        refute(m->y, start, address, model->var.at[var].name);
      }
      m->value[var] = 1;
    }
  }
}

/* Whatever is a point is right, and whatever is right is a point once it has the form that is
 * assumed. */
static void check_point(tiny_model *m, const int64_t *start, const int64_t *address,
                        ilp_pack_counts *n) {
  bool good = right(m->y, start, address);
  n->points++;
  n->right += good;
  if (!good && n->points % 7 != 0) { /* most points are wrong, so a part of them will do */
    return;
  }
  if (fs_pack_fill(m->t, start, address, NULL, m->value)) {
    n->accepted++;
    if (!good) {
      refute(m->y, start, address, "wrong, and a point");
    }
    if (n->accepted % 16 == 0) {
      check_binaries(m, start, address);
    }
  } else if (good) {
    fs_tick begin[MOST];
    uint64_t place[MOST];
    int64_t end = 0;
    for (uint32_t i = 0; i < m->y->n; i++) {
      begin[i] = (fs_tick)start[i];
      place[i] = (uint64_t)address[i];
      end = start[i] + m->y->time[i] > end ? start[i] + m->y->time[i] : end;
    }
    fs_answer a = {.start = begin, .address = place, .makespan = (fs_tick)end};
    bool fits;
    ck_assert_int_eq(fs_pack_model_point(m->t, &a, m->value, &fits), FSCHED_OK);
    if (!fits || fs_model_objective(fs_pack_model_of(m->t), m->value) > end) {
      refute(m->y, start, address, "right, and no point as good");
    }
  }
}

/* Tries all starts and addresses from rectangle i on. */
static void check_points(tiny_model *m, uint32_t i, int64_t *start, int64_t *address,
                         ilp_pack_counts *n) {
  if (i == m->y->n) {
    check_point(m, start, address, n);
    return;
  }
  for (start[i] = 0; start[i] + m->y->time[i] <= m->y->horizon; start[i]++) {
    for (address[i] = 0; address[i] + m->y->size[i] <= ROOM; address[i]++) {
      check_points(m, i + 1, start, address, n);
    }
  }
}

static void check_tiny(const ilp_pack_tiny *y, ilp_pack_counts *n) {
  int64_t start[MOST], address[MOST];
  tiny_model m;
  open_model(&m, ctx, y);
  check_points(&m, 0, start, address, n);
  close_model(&m);
}

/* Tries all multisets of n rectangles, with times from 0 and sizes from 1. */
static void check_multisets(ilp_pack_tiny *y, uint32_t i, unsigned first, unsigned most_time,
                            unsigned most_size, ilp_pack_counts *n) {
  if (i == y->n) {
    check_tiny(y, n);
    return;
  }
  first = y->positions && first < most_size ? most_size : first; /* times from 1 */
  for (unsigned kind = first; kind < (most_time + 1) * most_size; kind++) {
    y->time[i] = kind / most_size;
    y->size[i] = 1 + kind % most_size;
    check_multisets(y, i + 1, kind, most_time, most_size, n);
  }
}

static void check_counts(const ilp_pack_counts *n, uint64_t points) {
  ck_assert_uint_ge(n->points, points);
  ck_assert_uint_ge(n->right, points / 20);
  ck_assert_uint_ge(n->accepted, 10);
}

START_TEST(pairs_of_rectangles)
{
  ilp_pack_counts n = {0};
  ilp_pack_tiny y = {.n = 2, .horizon = 6};
  check_multisets(&y, 0, 0, 4, 4, &n);
  y.edge[0][1] = true;
  check_multisets(&y, 0, 0, 4, 4, &n);
  check_counts(&n, 50000);
}
END_TEST

START_TEST(three_rectangles)
{
  /* No edge, a-c, b-c, or both, so that not all instances are plain strips. */
  for (unsigned edges = 0; edges < 4; edges++) {
    ilp_pack_counts n = {0};
    ilp_pack_tiny y = {.n = 3, .horizon = 4};
    y.edge[0][2] = edges & 1;
    y.edge[1][2] = edges >> 1;
    check_multisets(&y, 0, 0, 2, 3, &n);
    check_counts(&n, 100000);
  }
}
END_TEST

START_TEST(four_rectangles)
{
  ilp_pack_counts n = {0};
  ilp_pack_tiny y = {.n = 4, .horizon = 3};
  check_multisets(&y, 0, 0, 1, 2, &n);
  y.edge[0][3] = true;
  check_multisets(&y, 0, 0, 1, 2, &n);
  ck_assert_uint_ge(n.points, 100000);
  ck_assert_uint_ge(n.right, 1000);
}
END_TEST

START_TEST(rectangles_by_position)
{
  ilp_pack_counts n = {0};
  ilp_pack_tiny y = {.n = 2, .horizon = 6, .positions = true};
  check_multisets(&y, 0, 0, 4, 4, &n);
  y.n = 3;
  y.horizon = 4;
  check_multisets(&y, 0, 0, 2, 3, &n);
  ck_assert_uint_ge(n.points, 50000);
  ck_assert_uint_ge(n.right, 1000);
  ck_assert_uint_ge(n.accepted, 100);
}
END_TEST

/* There is no model by positions where rectangles have no length, where there is more than
 * rectangles, or where the aim is another. */
START_TEST(where_there_are_no_positions)
{
  ilp_pack_tiny y = {.n = 2, .time = {1, 2}, .size = {1, 2}, .horizon = 6};
  fs_pack_options o = {.positions = true};
  for (int kind = 0; kind < 4; kind++) {
    fs_pack_model *t;
    tiny_model m;
    y.time[0] = kind == 1 ? 0 : 1;
    y.edge[0][1] = kind == 2;
    open_model(&m, ctx, &y);
    o.max_terms = kind == 3 ? 20 : 0;
    ck_assert_int_eq(fs_pack_model_build(m.p, &o, &t), FSCHED_OK);
    ck_assert(kind == 0 ? t != NULL : t == NULL);
    fs_pack_model_destroy(t);
    close_model(&m);
  }
}
END_TEST

FS_SUITE(ilp_pack, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_TESTS(t, pairs_of_rectangles, three_rectangles, four_rectangles, rectangles_by_position,
           where_there_are_no_positions);
}
