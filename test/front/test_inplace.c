/* SPDX-License-Identifier: Apache-2.0 */
/* Which in-place pairs a builder keeps. */
#include <stdio.h>

#include "kit/gen.h"

#include "front/builder_kit.h"

typedef struct pair_case {
  uint64_t out_size;
  fsched_io in_io;
  bool read_again, write_again, twice;
  uint32_t kept;
} pair_case;
static const pair_case pair_cases[] = {
    {8, FSCHED_IO_NONE, false, false, false, 1},   {4, FSCHED_IO_NONE, false, false, false, 0},
    {8, FSCHED_IO_OUTPUT, false, false, false, 0}, {8, FSCHED_IO_NONE, true, false, false, 0},
    {8, FSCHED_IO_NONE, false, true, false, 0},    {8, FSCHED_IO_INPUT, false, false, false, 1},
    {8, FSCHED_IO_NONE, false, false, true, 0},
};

START_TEST(legal_inplace_pairs)
{
  const pair_case *c = &pair_cases[_i];
  fsched_builder *b = make();
  add_memory(b, "m", 100);
  uint32_t x = add_buffer(b, "x", 8, c->in_io);
  uint32_t y = add_buffer(b, "y", c->out_size, FSCHED_IO_NONE);
  uint32_t op = add_op(b, "write", NULL);
  if (c->in_io != FSCHED_IO_INPUT) {
    ck_assert_int_eq(add_arg(b, op, FSCHED_OUT, x), FSCHED_OK);
  }
  op = add_op(b, "move", NULL);
  ck_assert_int_eq(add_arg(b, op, FSCHED_IN, x), FSCHED_OK);
  ck_assert_int_eq(add_arg(b, op, FSCHED_OUT, y), FSCHED_OK);
  if (c->twice) {
    ck_assert_int_eq(add_arg(b, op, FSCHED_IN, x), FSCHED_OK);
  }
  ck_assert_int_eq(fsched_builder_inplace(b, op, y, x), FSCHED_OK);
  op = add_op(b, "after", NULL);
  if (c->read_again || c->write_again) {
    ck_assert_int_eq(add_arg(b, op, c->read_again ? FSCHED_IN : FSCHED_OUT_EXISTING, x), FSCHED_OK);
  }
  fsched_graph *g = finish(b);
  ck_assert_uint_eq(g->op_inplace0[3], c->kept);
  fsched_graph_destroy(g);
}
END_TEST

/* --- in place beside other uses of the input --- */

START_TEST(inplace_beside_earlier_uses)
{
  static const struct {
    const char *ops;
    uint32_t kept;
    const char *other; /* whom the warning names */
  } cases[] = {
      {"{name: b, args: [{in: a}, {out: b, size: 8}]}, "
       "{name: s, args: [{in: a}, {in: b}, {out: r, size: 8}], inplace: {r: a}}",
       1, NULL},
      {"{name: b, args: [{in: a}]}, "
       "{name: s, after: [b], args: [{in: a}, {out: r, size: 8}], inplace: {r: a}}",
       1, NULL},
      {"{name: s, after: [c], args: [{in: a}, {out: r, size: 8}], inplace: {r: a}}, "
       "{name: b, args: [{in: a}]}, {name: c, after: [b]}",
       1, NULL},
      {"{name: b, args: [{in: a}, {out: b, size: 8}]}, {name: c, args: [{in: b}, {out: c, size: "
       "8}]}, "
       "{name: d, args: [{in: c}, {out: d, size: 8}]}, "
       "{name: s, args: [{in: a}, {in: d}, {out: r, size: 8}], inplace: {r: a}}",
       1, NULL},
      {"{name: b, args: [{inout: a}]}, {name: c, args: [{inout: a}]}, "
       "{name: s, args: [{in: a}, {out: r, size: 8}], inplace: {r: a}}",
       1, NULL},
      {"{name: b, args: [{in: a}]}, "
       "{name: s, args: [{in: a}, {out: r, size: 8}], inplace: {r: a}}",
       0, "op 'b' uses it too"},
      {"{name: b, args: [{in: a}, {out: b, size: 8}]}, {name: c, args: [{in: a}]}, "
       "{name: s, args: [{in: a}, {in: b}, {out: r, size: 8}], inplace: {r: a}}",
       0, "op 'c' uses it too"},
      {"{name: s, args: [{in: a}, {out: r, size: 8}], inplace: {r: a}}, "
       "{name: b, args: [{in: a}, {in: r}]}",
       0, "op 'b' uses it too"},
  };
  char text[1000];
  const char *head =
      "fsched: 1\ntarget: {memories: [{name: m, capacity: 64}]}\n"
      "ops: [{name: a, size: 8}, ";
  int n = snprintf(text, sizeof text, "%s%s]\n", head, cases[_i].ops);
  fsched_graph *g = NULL;
  ck_assert_int_eq(fsched_graph_parse(ctx, "t", text, (size_t)n, NULL, &g), FSCHED_OK);
  ck_assert_uint_eq(g->op_inplace0[g->n_ops], cases[_i].kept);
  ck_assert_uint_eq(fsched_diag_count(ctx), cases[_i].other == NULL ? 0 : 1);
  if (cases[_i].other != NULL) {
    ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 0)->message, cases[_i].other));
  }
  fsched_graph_destroy(g);
}
END_TEST

/* --- an op with several pairs: each output may take the place of its input if all other readers of
 * it come before the op */

enum { READERS = 6, INPUTS = 3, LAST = INPUTS + READERS };

typedef struct pairs_graph {
  fsched_graph *g;
  bool reads[LAST][INPUTS]; /* whether an op reads the output of op 0, 1 or 2 */
} pairs_graph;

static pairs_graph several_pairs(fs_rng *r) {
  pairs_graph p = {0};
  uint32_t in[INPUTS], out[INPUTS];
  fsched_builder *b = make();
  add_memory(b, "m", 1000);
  for (uint32_t i = 0; i < INPUTS; i++) {
    const char *names[] = {"x", "y", "z", "u", "v", "w"};
    in[i] = add_buffer(b, names[i], 8, FSCHED_IO_NONE);
    out[i] = add_buffer(b, names[i + INPUTS], 8, FSCHED_IO_NONE);
  }
  for (uint32_t op = 0; op <= LAST; op++) {
    char name[] = {(char)('a' + (int)op), '\0'};
    ck_assert_uint_eq(add_op(b, name, NULL), op);
    if (op < INPUTS) {
      ck_assert_int_eq(add_arg(b, op, FSCHED_OUT, in[op]), FSCHED_OK);
    }
    for (uint32_t i = 0; i < INPUTS && op >= INPUTS; i++) {
      bool reads = op == LAST || fs_rng_one_in(r, 3);
      if (reads) {
        ck_assert_int_eq(add_arg(b, op, FSCHED_IN, in[i]), FSCHED_OK);
      }
      if (op < LAST) {
        p.reads[op][i] = reads;
      }
    }
    for (uint32_t before = 0; before < op && op >= INPUTS; before++) {
      if (fs_rng_one_in(r, 4)) {
        ck_assert_int_eq(fsched_builder_after(b, op, before), FSCHED_OK);
      }
    }
  }
  for (uint32_t i = 0; i < INPUTS; i++) {
    ck_assert_int_eq(add_arg(b, LAST, FSCHED_OUT, out[i]), FSCHED_OK);
    ck_assert_int_eq(fsched_builder_inplace(b, LAST, out[i], in[i]), FSCHED_OK);
  }
  p.g = finish(b);
  return p;
}

START_TEST(several_pairs_of_an_op)
{
  uint32_t kept[INPUTS + 1] = {0};
  for (uint64_t seed = 1; seed <= 400; seed++) {
    fs_rng r = {seed};
    pairs_graph p = several_pairs(&r);
    bool before[LAST + 1] = {false}; /* ancestors of the last op */
    before[LAST] = true;
    for (uint32_t op = LAST + 1; op-- > 0;) { /* edges go forward */
      for (uint32_t e = p.g->pred0[op]; e < p.g->pred0[op + 1] && before[op]; e++) {
        before[p.g->pred[e]] = true;
      }
    }
    uint32_t legal = 0;
    for (uint32_t i = 0; i < INPUTS; i++) {
      bool all = true;
      for (uint32_t op = INPUTS; op < LAST; op++) {
        all = all && (before[op] || !p.reads[op][i]);
      }
      legal += all;
    }
    ck_assert_msg(p.g->op_inplace0[LAST + 1] == legal, "seed %llu: %u pairs of %u",
                  (unsigned long long)seed, p.g->op_inplace0[LAST + 1], legal);
    kept[legal]++;
    fsched_graph_destroy(p.g);
    fsched_diag_clear(ctx);
  }
  for (uint32_t n = 0; n <= INPUTS; n++) {
    ck_assert_uint_gt(kept[n], 10);
  }
}
END_TEST

FS_SUITE(inplace, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 8, inplace_beside_earlier_uses);
  FS_LOOPS(t, 0, sizeof pair_cases / sizeof pair_cases[0], legal_inplace_pairs);
  FS_TESTS(t, several_pairs_of_an_op);
}
