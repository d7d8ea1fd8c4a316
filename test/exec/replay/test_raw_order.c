/* SPDX-License-Identifier: Apache-2.0 */
/* Raw hazards with ops that are `after` later ones: an op that overwrites a byte may then come
 * before one that reads or writes it earlier in program order.  The test writes random small graphs
 * as text; those that compile without races are verified, and their replays equal the evaluation of
 * the program and that of the tests (kit/evaluate.h). */
#include <stdio.h>
#include <stdlib.h>

#include "fsched/compile.h"
#include "fsched/replay.h"
#include "kit/budget.h"
#include "kit/evaluate.h"
#include "kit/gen.h"
#include "kit/golden_case.h"

#include "kit/context.h"

enum { BUFFERS = 2, OPS = 6, BYTES = 4, TEXT = 1 << 12, GRAPHS = 6000 };

static void write_arg(FILE *f, fs_rng *r) {
  static const char *const tag[] = {"in", "inout", "out_existing"};
  uint32_t t = fs_rng_below(r, 3), buffer = fs_rng_below(r, BUFFERS), from = 0, length = BYTES;
  if (fs_rng_one_in(r, 2)) {
    from = fs_rng_below(r, BYTES);
    length = 1 + fs_rng_below(r, BYTES - from);
  }
  fprintf(f, "{%s: b%u, at: [%u, %u]}", tag[t], buffer, from, length);
}

/* Writes a graph, and returns whether an op is after a later one. */
static bool write_graph(char *text, fs_rng *r) {
  FILE *f = fmemopen(text, TEXT, "w");
  ck_assert_ptr_nonnull(f);
  bool back = false;
  fprintf(f,
          "fsched: 1\nhazards: raw\n"
          "target: {queues: [{name: p}, {name: q}], memories: [{name: m, capacity: 64}]}\n"
          "buffers: [{name: b0, size: 4, io: output}, {name: b1, size: 4, io: state}]\nops:\n"
          "  - {name: first, args: [{out: b0}]}\n");
  for (uint32_t op = 0; op < OPS; op++) {
    uint32_t n_after = fs_rng_below(r, 3);
    fprintf(f, "  - {name: o%u, on: %s, time: %u, after: [first", op, op % 2 ? "q" : "p",
            1 + op % 3);
    for (uint32_t i = 0; i < n_after; i++) {
      uint32_t before = fs_rng_below(r, OPS);
      if (before != op) {
        fprintf(f, ", o%u", before);
        back = back || before > op;
      }
    }
    fprintf(f, "], args: [");
    write_arg(f, r);
    fprintf(f, "]}\n");
  }
  ck_assert_int_eq(fclose(f), 0);
  return back;
}

static void replay(const fsched_program *p, const char *text) {
  const fs_stream *s = &p->view;
  uint8_t kept[BYTES];
  fsched_binding out = {.buffer = "b0", .data = kept, .bytes = sizeof kept};
  fsched_replay_options o = {
      .size = sizeof o, .check = 1, .repeat = 2, .bindings = &out, .n_bindings = 1};
  ck_assert_msg(fsched_replay(ctx, p, &o, NULL) == FSCHED_OK, "%s\n%s",
                fsched_diag_get(ctx, 0)->message, text);
  fs_evaluated *want = fs_evaluate(s, 2);
  for (uint32_t i = 0; i < BYTES; i++) {
    ck_assert_msg(!want[0].defined[i] || kept[i] == want[0].data[i], "byte %u of\n%s", i, text);
  }
  fs_evaluate_free(s, want);
}

START_TEST(after_later_ops)
{
  uint32_t replayed = 0;
  for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
    char text[TEXT];
    fs_rng r = {seed};
    fsched_graph *g;
    fsched_program *p;
    bool back = write_graph(text, &r);
    fsched_compile_options o = {.size = sizeof o, .verify = 1};
    if (back && fsched_graph_parse(ctx, "g", text, strlen(text), NULL, &g) == FSCHED_OK) {
      ck_fs(ctx, fsched_compile(ctx, g, &o, NULL, &p));
      if (p->view.n_races == 0) {
        replay(p, text);
        replayed++;
      }
      fsched_program_destroy(p);
      fsched_graph_destroy(g);
    }
    fsched_diag_clear(ctx);
  }
  ck_assert_uint_gt(replayed, GRAPHS / 30);
}
END_TEST

FS_SUITE(raw_order, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, after_later_ops);
}
