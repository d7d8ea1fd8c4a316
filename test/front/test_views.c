/* SPDX-License-Identifier: Apache-2.0 */
/* Strided views by calls: what is refused, which ops they order, and that programs with them are
 * right. */
#include <string.h>

#include "fsched/compile.h"
#include "fsched/program.h"
#include "fsched/replay.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/turn.h"

#include "front/builder_kit.h"

/* Adds an arg that is a view of two dimensions of bytes. */
static fs_status add_tile(fsched_builder *b, uint32_t op, fsched_tag tag, uint32_t buffer,
                          uint64_t offset, uint64_t rows, uint64_t pitch, uint64_t columns) {
  uint64_t shape[2] = {rows, columns}, strides[2] = {pitch, 1};
  fsched_arg_desc d = {.size = sizeof d,
                       .tag = tag,
                       .buffer = buffer,
                       .has_at = 1,
                       .offset = offset,
                       .n_dims = 2,
                       .shape = shape,
                       .strides = strides};
  return fsched_builder_arg(b, op, &d);
}

static void refused(const char *code, const char *text) {
  ck_assert_uint_gt(fsched_diag_count(ctx), 0);
  const fsched_diag *d = fsched_diag_get(ctx, fsched_diag_count(ctx) - 1);
  ck_assert_str_eq(d->code, code);
  ck_assert_msg(strstr(d->message, text) != NULL, "%s", d->message);
}

START_TEST(bad_views)
{
  static const uint64_t six[6] = {1, 1, 1, 1, 1, 1}, none[2] = {2, 0}, two[2] = {2, 4};
  static const uint64_t near[2] = {2, 1}, huge[1] = {UINT64_C(1) << 47}, far[1] = {8};
  struct {
    fsched_tag tag;
    uint32_t n_dims;
    const uint64_t *shape, *strides;
    uint64_t offset, element;
    const char *code, *text;
  } bad[] = {
      {FSCHED_IN, 6, six, six, 0, 1, "bad-view", "more than 5 dimensions"},
      {FSCHED_IN, 2, NULL, two, 0, 1, "bad-view", "has no shape"},
      {FSCHED_IN, 2, none, two, 0, 1, "bad-view", "a dimension of 0"},
      {FSCHED_IN, 1, huge, far, 0, 1, "bad-view", "more than 2^48 bytes"},
      {FSCHED_IN, 1, huge, six + 5, 0, 4, "bad-view", "more than 2^48 bytes"},
      {FSCHED_INOUT, 2, two, near, 0, 1, "bad-view", "is written, and elements of it overlap"},
      {FSCHED_OUT_EXISTING, 1, two, none + 1, 0, 1, "bad-view", "elements of it overlap"},
      {FSCHED_IN, 2, two, two, 92, 1, "at-outside", "bytes [92, 107) leave 'x' of size 106"},
      {FSCHED_OUT, 2, two, two, 0, 1, "bad-argument", "it takes no range"},
  };
  fsched_builder *b = make();
  uint32_t x = add_buffer(b, "x", 106, FSCHED_IO_STATE), op = add_op(b, "op", NULL);
  for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    fsched_arg_desc d = {.size = sizeof d,
                         .tag = bad[i].tag,
                         .buffer = x,
                         .has_at = 1,
                         .offset = bad[i].offset,
                         .n_dims = bad[i].n_dims,
                         .shape = bad[i].shape,
                         .strides = bad[i].strides,
                         .element = bad[i].element};
    ck_assert_int_eq(fsched_builder_arg(b, op, &d), FSCHED_BAD_INPUT);
    refused(bad[i].code, bad[i].text);
  }
  /* Up to the last byte, and with the same bytes again where they are only read. */
  ck_assert_int_eq(add_tile(b, op, FSCHED_IN, x, 90, 2, 15, 1), FSCHED_OK);
  ck_assert_int_eq(add_tile(b, op, FSCHED_IN, x, 0, 8, 0, 4), FSCHED_OK);
  fsched_builder_destroy(b);
}
END_TEST

/* The left and the right half of a matrix are of two ops that know nothing of each other; who reads
 * a column of each waits for both. */
static fsched_graph *halves(uint64_t rows, fsched_hazards hazards) {
  fsched_builder *b = make();
  ck_assert_int_eq(fsched_builder_hazards(b, hazards), FSCHED_OK);
  uint32_t x = add_buffer(b, "x", rows * 16, FSCHED_IO_STATE);
  for (uint32_t half = 0; half < 2; half++) {
    uint32_t op = add_op(b, half == 0 ? "left" : "right", NULL);
    ck_assert_int_eq(add_tile(b, op, FSCHED_OUT_EXISTING, x, 8 * half, rows, 16, 8), FSCHED_OK);
  }
  for (uint32_t k = 0; k < 3; k++) {
    static const char *const names[] = {"first", "last", "middle"};
    static const uint64_t offset[] = {0, 15, 7};
    uint32_t op = add_op(b, names[k], NULL);
    ck_assert_int_eq(add_tile(b, op, FSCHED_IN, x, offset[k], rows, 16, k == 2 ? 2 : 1), FSCHED_OK);
  }
  return finish(b);
}

START_TEST(halves_of_a_matrix)
{
  fsched_graph *g = halves(40, _i == 0 ? FSCHED_HAZARDS_SEQUENTIAL : FSCHED_HAZARDS_RAW);
  static const uint32_t preds[5][2] = {
      {FS_NONE, FS_NONE}, {FS_NONE, FS_NONE}, {0, FS_NONE}, {1, FS_NONE}, {0, 1}};
  for (uint32_t op = 0; op < 5; op++) {
    uint32_t n = 0;
    for (; n < 2 && preds[op][n] != FS_NONE; n++) {
      ck_assert_uint_eq(g->pred[g->pred0[op] + n], preds[op][n]);
    }
    ck_assert_uint_eq(g->pred0[op + 1] - g->pred0[op], n);
  }
  ck_assert_uint_eq(g->n_races, 0);
  fsched_graph_destroy(g);
}
END_TEST

/* With too many rows to look at each, a half may share bytes with the other one, but covers none of
 * it: all that read wait for both, whatever the hazards. */
START_TEST(too_many_rows)
{
  fsched_graph *g = halves(70000, _i == 0 ? FSCHED_HAZARDS_SEQUENTIAL : FSCHED_HAZARDS_RAW);
  ck_assert_uint_eq(g->pred0[2] - g->pred0[1], 1); /* right after left */
  for (uint32_t op = 2; op < 5; op++) {
    ck_assert_uint_eq(g->pred[g->pred0[op + 1] - 1], 1);
  }
  ck_assert(g->buffer_wanted[0] != 0);
  fsched_program *p;
  fsched_replay_options o = {.size = sizeof o, .check = 1};
  fsched_replay_result r = {.size = sizeof r};
  fsched_compile_options c = {.size = sizeof c, .verify = 1};
  ck_assert_int_eq(fsched_compile(ctx, g, &c, NULL, &p), FSCHED_OK);
  ck_assert_int_eq(fsched_verify_program(ctx, p, g), FSCHED_OK);
  ck_assert_int_eq(fsched_replay(ctx, p, &o, &r), FSCHED_OK);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

/* Tiles that move with loops. */
static fsched_builder *moving(uint64_t trip) {
  fsched_builder *b = make();
  fsched_queue_desc q = {.size = sizeof q, .name = "q", .queue_class = "compute"};
  ck_assert_int_eq(fsched_builder_queue(b, &q, NULL), FSCHED_OK);
  uint32_t x = add_buffer(b, "x", 256, FSCHED_IO_STATE);
  fsched_loop_desc loop = {.size = sizeof loop, .name = "loop", .trip = trip};
  ck_assert_int_eq(fsched_builder_begin_loop(b, &loop, NULL), FSCHED_OK);
  uint32_t op = add_op(b, "op", NULL);
  uint64_t shape[2] = {16, 4}, strides[2] = {16, 1};
  int64_t step = 4;
  fsched_arg_desc d = {.size = sizeof d,
                       .tag = FSCHED_INOUT,
                       .buffer = x,
                       .has_at = 1,
                       .step = &step,
                       .n_steps = 1,
                       .n_dims = 2,
                       .shape = shape,
                       .strides = strides};
  ck_assert_int_eq(fsched_builder_arg(b, op, &d), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_end_loop(b), FSCHED_OK);
  return b;
}

START_TEST(views_in_loops)
{
  fsched_graph *g = NULL;
  fsched_builder *b = moving(4);
  ck_assert_int_eq(fsched_builder_unroll(b), FSCHED_OK);
  g = finish(b);
  ck_assert_uint_eq(g->n_ops, 4);
  ck_assert_uint_eq(g->n_edges, 0); /* columns 0 to 3, 4 to 7, ... */
  ck_assert_uint_eq(g->arg_offset[3], 12);
  fsched_graph_destroy(g);
  b = moving(5);
  ck_assert_int_eq(fsched_builder_unroll(b), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_finish(b, &g), FSCHED_BAD_INPUT);
  refused("at-outside", "in some iteration the view of 'x' has bytes outside of its 256 bytes");
  fsched_builder_destroy(b);
  b = moving(5);
  ck_assert_int_eq(fsched_builder_finish(b, &g), FSCHED_BAD_INPUT);
  refused("at-outside", "in some iteration the view of 'x' has bytes outside of its 256 bytes");
  fsched_builder_destroy(b);
  g = finish(moving(4));
  ck_assert_uint_eq(g->n_rolled, 1);
  ck_assert_uint_eq(g->n_ops, 1);
  const fs_body_arg *a = g->rolled[0].arg;
  ck_assert_uint_eq(a->view, 0);
  ck_assert_uint_eq(a->length, 15 * 16 + 4);
  ck_assert_int_eq(a->step, 4);
  ck_assert_uint_eq(g->view[a->view].shape[0], 16);
  ck_assert_uint_eq(g->arg_length[0], 256); /* of all iterations */
  ck_assert(fs_arg_view(g, 0) == NULL);
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(views, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, bad_views, views_in_loops);
  FS_LOOPS(t, 0, 2, halves_of_a_matrix, too_many_rows);
}
