/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that cannot stay loops: they are compiled as their iterations, or refused. */
#include <stdio.h>
#include <string.h>

#include "fsched/graph.h"
#include "kit/status.h"
#include "model/graph.h"

#include "kit/context.h"

/* A queue for copies, and two others. */
#define HEAD                                                                         \
  "fsched: 1\n"                                                                      \
  "target: {queues: [{name: dma, class: copy}, {name: mac}, {name: vec}]}\n"         \
  "buffers: [{name: A, size: 4096, io: input}, {name: C, size: 1024, io: output},\n" \
  "          {name: a, size: 256}, {name: acc, size: 256}, {name: s, size: 64}]\n"   \
  "ops:\n"

#define IN_OUTER HEAD "- loop: outer\n  trip: 3\n"
#define IN_CARRIED                                          \
  HEAD "- {name: p, args: [{out: s}, {out_existing: C}]}\n" \
       "- loop: outer\n  trip: 3\n  ops:\n"
#define IN_INNER IN_OUTER "  ops:\n  - loop: inner\n    trip: 4\n"

static const struct {
  const char *text, *loop; /* NULL: it is not told */
  const char *why;
} refused[] = {
    {IN_INNER "    ops: [{name: o, args: [{no_dep: A, at: {length: 8, step: [0, 8]}}, "
              "{out_existing: C}]}]\n",
     "inner", "a 'no_dep' arg moves (op 'o')"},
    {IN_INNER "    ops: [{name: o, args: [{no_dep: s}, {out_existing: C}]},"
              " {name: p, args: [{out: s}]}]\n",
     "inner", "a loop begins the buffer of a 'no_dep' arg (op 'o')"},
    {IN_INNER "    ops: [{name: o, args: [{no_dep: s}, {out_existing: C}]},"
              " {name: p, args: [{out_existing: s}]}]\n",
     "inner", "nothing is in the buffer of a 'no_dep' arg before it (op 'o')"},
    {IN_INNER
     "    ops: [{name: o, time: 0, args: [{out_existing: C}]}, {name: p, time: 1000000000000}]\n",
     "inner",
     "an op takes no time, and others take very "
     "long"},
    {IN_CARRIED "  - loop: inner\n    trip: 4\n"
                "    ops: [{name: o, args: [{in: s, distance: 1}, {out: s}]}]\n"
                "  - {name: q, args: [{in: s, distance: 1}, {out_existing: C}]}\n",
     NULL,
     "op 'q[0]' reads the value that 's' had at the end of an earlier iteration, and it is "
     "overwritten by then"},
    {IN_CARRIED "  - {name: r, args: [{out: s}]}\n"
                "  - loop: inner\n    trip: 4\n"
                "    ops: [{name: o, args: [{in: s, distance: 1}, {out: s}]}]\n"
                "  - {name: q, args: [{in: s, distance: 1}, {out_existing: C}]}\n",
     "outer",
     "values of earlier iterations are read of a "
     "buffer that a loop in it begins, too"},
    {HEAD "- loop: long\n  trip: 4\n"
          "  ops: [{name: o, on: {class: compute, count: 2}, members: [\n"
          "    {args: [{out_existing: C, at: {offset: 0, length: 8, step: 8}}]},\n"
          "    {args: [{out_existing: C, at: {offset: 16, length: 8, step: 16}}]}]}]\n",
     "long",
     "members of op 'o' access bytes of 'C' that move unlike each other, or values of different "
     "iterations, and one of them writes"},
    {IN_OUTER
     "  ops:\n"
     "  - {name: o, args: [{out_existing: a, at: [0, 8]}, {out_existing: a, at: [100, 8]}]}\n"
     "  - loop: inner\n    trip: {param: n, min: 0, max: 4}\n"
     "    ops: [{name: p, args: [{out_existing: a, at: [0, 108]}]}]\n"
     "  - {name: q, args: [{in: a, at: [50, 8]}, {out_existing: C}]}\n",
     "inner",
     "its trips are a parameter, and with few it "
     "leaves bytes that are read as nothing has written them"},
    {HEAD "- loop: long\n  trip: 10000000\n  buffers: {s: {depth: 2000000, every: 1000000}}\n"
          "  ops: [{name: o, args: [{out: s}]}, {name: q, args: [{in: s}, {out_existing: C}]}]\n",
     "long",
     "'every' of its buffers asks for more than 64 "
     "copies of its body"},
};

/* The last ones have a parameter, or too many iterations. */
enum { REFUSED = sizeof refused / sizeof refused[0], UNROLLED = REFUSED - 2 };

/* Graphs of more than 65536 ops are, and those with parameters. */
START_TEST(is_refused)
{
  char text[2048], want[512];
  const char *loop = refused[_i].loop;
  fsched_graph *g;
  int n = snprintf(text, sizeof text, "%s- {loop: beside, trip: 65536, ops: [{name: b}]}\n",
                   refused[_i].text);
  ck_assert_int_lt(n, (int)sizeof text);
  (void)snprintf(want, sizeof want, "%s%s%s%s", loop == NULL ? "" : "loop '",
                 loop == NULL ? "" : loop,
                 loop == NULL ? "" : "' cannot stay a loop in this version: ", refused[_i].why);
  ck_assert_int_eq(fsched_graph_parse(ctx, "nest.yaml", text, (size_t)n, NULL, &g),
                   FSCHED_BAD_INPUT);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  const fsched_diag *d = fsched_diag_get(ctx, 0);
  ck_assert_str_eq(d->code, "unsupported");
  ck_assert_str_eq(d->message, want);
  bool open = strstr(text, "param: n") != NULL;
  ck_assert_ptr_nonnull(strstr(d->hint, open ? "gives 'n' a value" : "--unroll "));
  fsched_diag_clear(ctx);
}
END_TEST

/* Others are compiled as their iterations, as they are with `unroll`. */
START_TEST(is_unrolled)
{
  fsched_graph *g, *flat;
  const char *text = refused[_i].text, *loop = refused[_i].loop;
  fsched_read_options o = {.size = sizeof o, .unroll = 1};
  ck_fs(ctx, fsched_graph_parse(ctx, "nest.yaml", text, strlen(text), NULL, &g));
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  const fsched_diag *d = fsched_diag_get(ctx, 0);
  ck_assert_str_eq(d->code, "unrolled");
  ck_assert_int_eq(d->severity, FSCHED_WARNING);
  ck_assert_ptr_nonnull(strstr(d->message, refused[_i].why));
  ck_assert_ptr_nonnull(strstr(d->source_line, loop == NULL ? "loop: " : loop));
  fsched_diag_clear(ctx);
  ck_fs(ctx, fsched_graph_parse(ctx, "nest.yaml", text, strlen(text), &o, &flat));
  ck_assert_uint_eq(g->n_rolled, 0);
  ck_assert_uint_eq(g->n_ops, flat->n_ops);
  for (uint32_t op = 0; op < g->n_ops; op++) {
    ck_assert_str_eq(g->op_name[op], flat->op_name[op]);
  }
  fsched_graph_destroy(flat);
  fsched_graph_destroy(g);
}
END_TEST

/* How many ops there are is counted exactly, and without unrolling. */
START_TEST(limit_of_unrolling)
{
  static const struct {
    const char *before, *trip;
    bool unrolls;
  } limit[] = {
      {"", "128", true},
      {"- {name: one}\n", "128", false},
      {"- {loop: none, trip: 0, ops: [{name: n0}, {name: n1}]}\n", "128", true},
      {"- {loop: once, trip: 1, ops: [{loop: never, trip: 0, ops: [{name: n0}]}, {name: n1}]}\n",
       "128", false},
      {"", "1099511627776", false},
  };
  static const char text[] =
      "fsched: 1\nops:\n%s- loop: outer\n  trip: 256\n  ops:\n"
      "  - {loop: inner, trip: %s, ops: [{name: a}, {name: b}]}\n";
  char buffer[sizeof text + 128];
  for (size_t i = 0; i < sizeof limit / sizeof limit[0]; i++) {
    fsched_graph *g = NULL;
    int n = snprintf(buffer, sizeof buffer, text, limit[i].before, limit[i].trip);
    ck_assert_int_lt(n, (int)sizeof buffer);
    bool made = fsched_graph_parse(ctx, "l.yaml", buffer, (size_t)n, NULL, &g) == FSCHED_OK;
    ck_assert_msg(made == limit[i].unrolls, "%s", buffer);
    ck_assert_uint_eq(made ? g->n_ops : 65536, 65536);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
}
END_TEST

FS_SUITE(unrolled, s) {
  TCase *t = fs_case(s, fs_test_silent);
  FS_LOOPS(t, 0, REFUSED, is_refused);
  FS_LOOPS(t, 0, UNROLLED, is_unrolled);
  FS_TESTS(t, limit_of_unrolling);
}
