/* SPDX-License-Identifier: Apache-2.0 */
/* What is read was written before: of loops that stay loops this is told as of their unrolling. */
#include <stdio.h>
#include <string.h>

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/nest_gen.h"
#include "kit/status.h"
#include "kit/turn.h"
#include "model/graph.h"
#include "verify/edit.h"
#include "verify/rolled/breaks.h"
#include "verify/rolled/written_judge.h"

#include "kit/context.h"

enum { SIZE = 480, DEPTH = 2, MOST_OPS = 7 };

typedef struct range_gen {
  fs_rng rng;
  fs_text *t;
  uint32_t n_ops, n_loops, depth;
  uint64_t trip[DEPTH];
} range_gen;

static uint32_t below(range_gen *g, uint32_t n) { return fs_rng_below(&g->rng, n); }

static void indent(range_gen *g) {
  for (uint32_t i = 0; i < g->depth; i++) {
    fs_text_puts(g->t, "    ");
  }
}

/* An arg that begins within its buffer in all iterations. */
static void put_arg(range_gen *g, const char *tag, const char *buffer) {
  static const int32_t steps[] = {0, 4, 8, 8, 8, 16, -8, -8, -4};
  int64_t low = 0, high = 0;
  int32_t step[DEPTH];
  for (uint32_t i = 0; i < g->depth; i++) {
    step[i] = steps[below(g, sizeof steps / sizeof *steps)];
    int64_t way = step[i] * (int64_t)(g->trip[i] > 0 ? g->trip[i] - 1 : 0);
    while (high - low + (way < 0 ? -way : way) >= SIZE) {
      step[i] = way = 0;
    }
    low += way < 0 ? way : 0;
    high += way > 0 ? way : 0;
  }
  uint32_t room = (uint32_t)(SIZE - (high - low)), length = 4 + 4 * below(g, 3);
  uint32_t offset = below(g, 2) == 0 ? 4 * below(g, 3) : 4 * below(g, room / 4);
  offset = offset < room ? offset : 0;
  if (g->depth == 0) {
    length = below(g, 2) == 0 ? SIZE - offset : length;
    length = length > SIZE - offset ? SIZE - offset : length;
  }
  fs_text_printf(g->t, "{%s: %s, at: {offset: %d, length: %u", tag, buffer, (int)(offset - low),
                 length);
  for (uint32_t i = 0; i < g->depth; i++) {
    fs_text_printf(g->t, "%s%d", i == 0 ? ", step: [" : ", ", step[i]);
  }
  fs_text_puts(g->t, g->depth > 0 ? "]}}" : "}}");
}

static void put_op(range_gen *g) {
  uint32_t op = g->n_ops++, n = 1 + below(g, 2);
  indent(g);
  fs_text_printf(g->t, "- {name: o%u, on: q%u, args: [", op, below(g, 2));
  for (uint32_t i = 0; i < n; i++) {
    uint32_t draw = below(g, 10);
    put_arg(g,
            op == 0 || draw < 5 ? "out_existing"
            : draw < 7          ? "inout"
                                : "in",
            below(g, 4) == 0 ? "w" : "y");
    fs_text_puts(g->t, ", ");
  }
  if (g->depth == 0 && below(g, 12) == 0) {
    fs_text_puts(g->t, "{out: u}, ");
  } else if (g->depth > 0 && below(g, 8) == 0) {
    fs_text_puts(g->t, below(g, 2) == 0 ? "{in: u, distance: 1}, " : "{in: u}, ");
  }
  fs_text_puts(g->t, "{out_existing: z, at: {offset: 0, length: 8}}]}\n");
}

static void put_items(range_gen *g, uint32_t n) {
  static const uint32_t trips[] = {0, 1, 2, 3, 5, 6, 7, 12, 40, 90};
  for (uint32_t i = 0; i < n; i++) {
    if (g->depth == DEPTH || g->n_ops >= MOST_OPS || below(g, 5) < (g->depth == 0 ? 1u : 3u)) {
      put_op(g);
      continue;
    }
    g->trip[g->depth] = trips[below(g, g->depth == 0 ? 10 : 7)];
    indent(g);
    fs_text_printf(g->t, "- loop: l%u\n", g->n_loops++);
    indent(g);
    fs_text_printf(g->t, "  trip: %u\n", (unsigned)g->trip[g->depth]);
    indent(g);
    fs_text_puts(g->t, "  ops:\n");
    g->depth++;
    put_items(g, 1 + below(g, 2));
    g->depth--;
  }
}

static void generate(uint64_t seed, fs_text *t) {
  range_gen g = {.rng = {seed}, .t = t};
  fs_text_printf(t,
                 "fsched: 1\ntarget: {queues: [{name: q0}, {name: q1}]}\nbuffers: [{name: y, "
                 "size: %d}, {name: w, size: %d}, {name: u, size: 8}, {name: z, size: 8, io: "
                 "output}]\nops:\n",
                 SIZE, SIZE);
  for (uint32_t b = 0; b < 2; b++) { /* most of it is there, often */
    if (below(&g, 3) > 0) {
      fs_text_printf(
          t, "- {name: init%u, on: q0, args: [{out_existing: %s, at: {offset: %u, length: %u}}]}\n",
          b, b == 0 ? "y" : "w", 4 * below(&g, 20), SIZE / 3 + 4 * below(&g, 60));
    }
  }
  put_items(&g, 2 + below(&g, 3));
  fs_text_puts(t, "- {name: last, on: q0, args: [{out: z}]}\n");
  fs_text_add(t, "", 1);
}

static fs_status parse(const char *text, bool unroll, fsched_graph **g) {
  fsched_read_options o = {.size = sizeof o, .unroll = unroll};
  *g = NULL;
  fsched_diag_clear(ctx);
  return fsched_graph_parse(ctx, "ranges.yaml", text, strlen(text), &o, g);
}

static uint32_t count_code(const char *code) {
  uint32_t n = 0;
  for (size_t i = 0; i < fsched_diag_count(ctx); i++) {
    n += strcmp(fsched_diag_get(ctx, i)->code, code) == 0;
  }
  return n;
}

/* The least message of that code: the order of buffers may differ. */
static void find_least(const char *code, char *out, size_t size) {
  out[0] = '\0';
  for (size_t i = 0; i < fsched_diag_count(ctx); i++) {
    const fsched_diag *d = fsched_diag_get(ctx, i);
    if (strcmp(d->code, code) == 0 && (out[0] == '\0' || strcmp(d->message, out) < 0)) {
      (void)snprintf(out, size, "%s", d->message);
    }
  }
}

typedef struct tally {
  uint32_t right, refused, unrolled, changed, accepted;
} tally;

/* What is accepted of a changed stream reads what was written. */
static void judge_change(uint64_t seed, const fsched_program *changed, const char *what,
                         const char *text, tally *n) {
  size_t size;
  fsched_program *edited = fs_edit_bytes(ctx, changed), *p = NULL;
  const void *bytes = fsched_program_bytes(edited, &size);
  fsched_diag_clear(ctx);
  if (fsched_program_load(ctx, "changed", bytes, size, &p) == FSCHED_OK &&
      fsched_verify_program(ctx, p, NULL) == FSCHED_OK) {
    ck_assert_msg(!fs_reads_nothing(&p->view, NULL), "seed %llu, %s: accepted\n%s",
                  (unsigned long long)seed, what, text);
    n->accepted++;
  }
  n->changed++;
  fsched_program_destroy(p);
  fsched_program_destroy(edited);
}

static void judge_changes(uint64_t seed, const fsched_program *p, const char *text, tally *n) {
  static const fs_loop_break some[] = {FS_BREAK_OFFSET, FS_BREAK_LENGTH,   FS_BREAK_STEP,
                                       FS_BREAK_TRIP,   FS_BREAK_OPS,      FS_BREAK_BACK,
                                       FS_BREAK_DEPTH,  FS_BREAK_ARG_RING, FS_BREAK_OWN_TAG};
  for (uint32_t k = 0; k < 8 && p->view.n_loops > 0; k++) {
    fs_rng rng = {seed * 16 + k};
    fsched_program *copy = fs_mutant_copy(p);
    fs_loop_break b = some[fs_rng_below(&rng, sizeof some / sizeof *some)];
    if (fs_break_loop(copy, b, &rng)) {
      fs_break_repair(copy);
      judge_change(seed, copy, fs_break_name(b), text, n);
    }
    fs_mutant_free(copy);
  }
}

/* A right graph is compiled, and verified, if it is supported. */
static void must_compile(uint64_t seed, const char *text, fsched_graph *g, tally *n) {
  fsched_compile_options o = {.size = sizeof o, .effort = FSCHED_EFFORT(0), .verify = 1};
  fsched_program *p = NULL;
  fsched_diag_clear(ctx);
  ck_assert_msg(fsched_compile(ctx, g, &o, NULL, &p) == FSCHED_OK, "seed %llu: %s\n%s",
                (unsigned long long)seed, fs_first_message(ctx), text);
  if (n != NULL) {
    ck_assert(!fs_reads_nothing(&p->view, NULL));
    judge_changes(seed, p, text, n);
  }
  fsched_program_destroy(p);
}

static void compare(uint64_t seed, const char *text, tally *n) {
  fsched_graph *g;
  char told[512], least[512];
  bool right = parse(text, true, &g) == FSCHED_OK;
  uint32_t faults = count_code("not-produced");
  find_least("not-produced", told, sizeof told);
  fsched_graph_destroy(g);
  if (!right && faults == 0) {
    return; /* for another reason */
  }
  bool made = parse(text, false, &g) == FSCHED_OK, same = made && count_code("unrolled") == 0;
  find_least("not-produced", least, sizeof least);
  if (right) {
    ck_assert_msg(made, "seed %llu: %s\n%s", (unsigned long long)seed, least, text);
    n->unrolled += !same;
    n->right++;
  } else {
    ck_assert_msg(count_code("not-produced") == faults && strcmp(told, least) == 0,
                  "seed %llu: %u instead of %u, '%s' instead of '%s'\n%s", (unsigned long long)seed,
                  count_code("not-produced"), faults, least, told, text);
    n->refused++;
  }
  if (right && same) {
    must_compile(seed, text, g, n);
  }
  fsched_graph_destroy(g);
}

START_TEST(as_unrolled)
{
  enum { GRAPHS = 500 };
  tally n = {0};
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = (fs_turn() * 4 + (uint64_t)_i) * GRAPHS + k;
    fs_text t;
    fs_text_init(&t, ctx);
    generate(seed, &t);
    ck_assert(!t.failed);
    compare(seed, t.at, &n);
    fs_text_drop(&t);
    fsched_diag_clear(ctx);
  }
  fs_assert_seen(n.right, GRAPHS / 10);
  fs_assert_seen(n.refused, GRAPHS / 2);
  ck_assert_uint_lt(n.unrolled, n.right / 5);
  fs_assert_seen(n.accepted, n.changed / 20);
  ck_assert_uint_lt(n.accepted, n.changed);
}
END_TEST

/* Values in rings, also those that a loop around has on entry, or hands on. */
START_TEST(through_rings)
{
  enum { GRAPHS = 200 };
  tally n = {0};
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = (fs_turn() * 4 + (uint64_t)_i) * GRAPHS + k;
    fsched_graph *g;
    fs_text t;
    fs_text_init(&t, ctx);
    fs_nest_gen(seed, &t);
    fs_text_add(&t, "", 1);
    ck_assert(!t.failed);
    if (parse(t.at, false, &g) == FSCHED_OK && count_code("unrolled") == 0) {
      must_compile(seed, t.at, g, &n);
      n.right++;
    }
    fsched_graph_destroy(g);
    fs_text_drop(&t);
    fsched_diag_clear(ctx);
  }
  fs_assert_seen(n.right, GRAPHS / 4);
  fs_assert_seen(n.accepted, n.changed / 20);
  ck_assert_uint_lt(n.accepted, n.changed);
}
END_TEST

/* --- many iterations --- */

#define HEAD                                                                \
  "fsched: 1\n"                                                             \
  "target: {queues: [{name: q0}, {name: q1}]}\n"                            \
  "buffers: [{name: y, size: 128000000}, {name: z, size: 8, io: output}]\n" \
  "ops:\n"
#define LOOP(name, ops) "- loop: " name "\n  trip: 1000000\n  ops: [" ops "]\n"
#define WRITE(...) "{name: w, on: q0, args: [" __VA_ARGS__ "]}"
#define READ(...) "{name: u, on: q1, args: [" __VA_ARGS__ ", {out_existing: z}]}"
#define LAST "- {name: last, on: q0, args: [{out: z}]}\n"
/* Two loops of a million iterations, and their args of y; the same in one. */
#define TWO_LOOPS(w, u) HEAD LOOP("a", WRITE(w)) LOOP("b", READ(u)) LAST
#define ONE_LOOP(w, u) HEAD LOOP("a", WRITE(w) ", " READ(u)) LAST

static void must_say(const char *text, const char *code, const char *message) {
  fsched_graph *g;
  char least[512];
  bool right = parse(text, false, &g) == FSCHED_OK;
  find_least(code, least, sizeof least);
  ck_assert_msg(!right && strcmp(least, message) == 0, "'%s' instead of '%s'", least, message);
  fsched_diag_clear(ctx);
}

static void must_be_right(const char *text) {
  fsched_graph *g;
  ck_fs(ctx, parse(text, false, &g));
  must_compile(0, text, g, NULL);
  fsched_graph_destroy(g);
}

static void lacks_range(const char *text, const char *op) {
  char message[256];
  (void)snprintf(message, sizeof message,
                 "op '%s' reads all of a range of buffer 'y', which nothing before it has produced",
                 op);
  must_say(text, "not-produced", message);
}

START_TEST(two_loops)
{
  must_be_right(TWO_LOOPS("{out_existing: y, at: {offset: 63999936, length: 64, step: -64}}",
                          "{inout: y, at: {length: 8, step: 8}}"));
  lacks_range(TWO_LOOPS("{out_existing: y, at: {length: 16, step: 16}}",
                        "{in: y, at: {offset: 15998000, length: 8, step: 1}}"),
              "u[1993]");
}
END_TEST

START_TEST(with_gaps)
{
  must_be_right(TWO_LOOPS("{out_existing: y, at: {length: 8, step: 64}}",
                          "{in: y, at: {offset: 4, length: 4, step: 64}}"));
  must_be_right(
      TWO_LOOPS("{out_existing: y, at: {length: 32, step: 64}}, "
                "{out_existing: y, at: {offset: 32, length: 32, step: 64}}",
                "{in: y, at: {length: 8, step: 8}}"));
  lacks_range(TWO_LOOPS("{out_existing: y, at: {length: 8, step: 64}}",
                        "{in: y, at: {offset: 64, length: 12, step: 64}}"),
              "u[0]");
  must_say(TWO_LOOPS("{out_existing: y, at: {length: 8, step: 64}}",
                     "{in: y, at: {offset: 8, length: 12, step: 64}}"),
           "not-produced", "op 'u[0]' reads buffer 'y', which nothing before it has produced");
  lacks_range(TWO_LOOPS("{out_existing: y, at: {length: 40, step: 64}}",
                        "{in: y, at: {length: 9, step: 96}}"),
              "u[1]");
}
END_TEST

/* Reads that move along with what the loop itself writes, or stay behind it. */
START_TEST(in_one_loop)
{
  must_be_right(ONE_LOOP("{out_existing: y, at: {length: 64, step: 64}}",
                         "{in: y, at: {offset: 16, length: 32, step: 64}}"));
  must_be_right(ONE_LOOP("{out_existing: y, at: {length: 64, step: 32}}",
                         "{in: y, at: {length: 8, step: 16}}"));
  must_be_right(ONE_LOOP("{out_existing: y, at: {offset: 64000000, length: 64, step: -32}}",
                         "{in: y, at: {offset: 64000000, length: 8, step: -16}}"));
  lacks_range(ONE_LOOP("{out_existing: y, at: {length: 64, step: 32}}",
                       "{in: y, at: {length: 8, step: 33}}"),
              "u[57]");
  lacks_range(ONE_LOOP("{out_existing: y, at: {length: 64, step: 32}}",
                       "{in: y, at: {length: 64}}, {in: y, at: {length: 65}}"),
              "u[0]");
}
END_TEST

/* A loop reads, one by one, what a loop before it has written between gaps; and what its own
 * iterations and those of the loop around have written. */
static const char in_parts[] = HEAD
    "- loop: outer\n  trip: 6\n  ops:\n"
    "  - {loop: a, trip: 4, ops: [{name: w, on: q0, args: [{out_existing: y, at: {length: 4, "
    "step: [0, 8]}}]}]}\n"
    "  - {loop: b, trip: 4, ops: [{name: u, on: q1, args: [{in: y, at: {length: 4, step: [0, "
    "8]}}, {out_existing: z}]}]}\n" LAST;

/* Loops in loops around one that writes y between gaps, and one that reads it. */
#define NEST_OF(outer, trip, write, read)                                                          \
  HEAD "- loop: outer\n  trip: " outer                                                             \
       "\n  ops:\n  - loop: middle\n    trip: 1000\n    ops:\n    - {loop: a, trip: " trip         \
       ", ops: [" WRITE("{out_existing: y, at: {" write "}}") "]}\n    - {loop: b, trip: " trip    \
                                                              ", ops: [" READ("{in: y, at: {" read \
                                                                              "}}") "]}\n" LAST
#define NEST(write, read) NEST_OF("1000", "10", write, read)

/* Reads every other gap. */
static void halve_steps(fsched_program *p) {
  for (uint32_t i = 0; i < p->view.n_loop_args; i++) {
    fs_stream_loop_arg *a = (fs_stream_loop_arg *)(uintptr_t)&p->view.loop_args[i];
    a->step /= fs_tag_reads(a->tag) && (a->step == 8 || a->step == -8) ? 2 : 1;
  }
}

/* The right nest is accepted, however often it runs, and the changed one is refused. */
static void judge_nest(const char *text, void (*change)(fsched_program *)) {
  fsched_compile_options o = {.size = sizeof o, .effort = FSCHED_EFFORT(0)};
  fsched_graph *g;
  fsched_program *p = NULL;
  fsched_diag_clear(ctx);
  ck_assert_msg(parse(text, false, &g) == FSCHED_OK, "%s\n%s", fs_first_message(ctx), text);
  ck_fs(ctx, fsched_compile(ctx, g, &o, NULL, &p));
  ck_assert_msg(fsched_verify_program(ctx, p, NULL) == FSCHED_OK, "%s\n%s", fs_first_message(ctx),
                text);
  fsched_program *copy = fs_mutant_copy(p);
  change(copy);
  fs_break_repair(copy);
  fsched_program *edited = fs_edit_bytes(ctx, copy);
  fsched_diag_clear(ctx);
  ck_assert_int_eq(fsched_verify_program(ctx, edited, NULL), FSCHED_WRONG);
  ck_assert_msg(strstr(fs_first_message(ctx), "where nothing was written yet") != NULL, "%s\n%s",
                fs_first_message(ctx), text);
  fsched_diag_clear(ctx);
  fsched_program_destroy(edited);
  fs_mutant_free(copy);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
}

START_TEST(large_nests_are_proven)
{
  static const char *const texts[] = {
      NEST("length: 4, step: [0, 0, 8]", "length: 4, step: [0, 0, 8]"),
      NEST("offset: 72, length: 4, step: [0, 0, -8]", "offset: 72, length: 4, step: [0, 0, -8]"),
      NEST("offset: 72, length: 4, step: [0, 0, -8]", "length: 4, step: [0, 0, 8]"),
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    judge_nest(texts[i], halve_steps);
  }
}
END_TEST

#define TO_A_MILLION "{param: n, min: 0, max: 1000000}"

/* Gives a loop of the nest the parameter, which takes as many iterations as that has. */
static void vary(fsched_program *p, uint32_t loop) {
  fs_stream_loop *l = (fs_stream_loop *)(uintptr_t)&p->view.loops[loop];
  fs_stream_param *param = (fs_stream_param *)(uintptr_t)p->view.params;         /* there is room */
  *param = (fs_stream_param){.most = l->most, .name = p->view.loop_ops[0].name}; /* any text */
  p->view.n_params = 1;
  l->param = 0;
  l->least = 0;
}

START_TEST(large_nests_with_parameters_are_proven)
{
  fsched_graph *g;
  fsched_program *p, *copy;
  judge_nest(
      NEST_OF(TO_A_MILLION, "10", "length: 4, step: [0, 0, 8]", "length: 4, step: [0, 0, 8]"),
      halve_steps);
  ck_fs(ctx, parse(NEST("length: 4, step: [0, 0, 8]", "length: 4, step: [0, 0, 8]"), false, &g));
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &p));
  copy = fs_mutant_copy(p);
  vary(copy, 2);
  ck_assert_int_eq(fsched_verify_program(ctx, copy, NULL), FSCHED_WRONG);
  ck_assert_uint_gt(count_code("verify-value"), 0);
  fsched_diag_clear(ctx);
  vary(copy, 3); /* both run as often */
  ck_fs(ctx, fsched_verify_program(ctx, copy, NULL));
  fs_mutant_free(copy);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(in_parts_of_loops_inside)
{
  fsched_read_options o = {.size = sizeof o, .effort = FSCHED_EFFORT(0)};
  fsched_program *p, *copy;
  fsched_graph *g;
  must_be_right(in_parts);
  must_be_right(
      HEAD
      "- loop: outer\n  trip: 12\n  ops:\n"
      "  - {loop: a, trip: 2, ops: [{name: w, on: q1, args: [{out_existing: y, at: {offset: "
      "4, length: 12, step: [16, 4]}}]}, {name: u, on: q0, args: [{in: y, at: {offset: 4, "
      "length: 4, step: [8, 8]}}, {out_existing: z}]}]}\n"
      "  - {name: v, on: q0, args: [{out_existing: y, at: {length: 12, step: [16]}}]}\n" LAST);
  ck_fs(ctx, fsched_graph_parse(ctx, "ranges.yaml", in_parts, strlen(in_parts), &o, &g));
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &p));
  copy = fs_mutant_copy(p);
  ck_fs(ctx, fsched_verify_program(ctx, copy, NULL));
  fs_stream_loop *a = (fs_stream_loop *)(uintptr_t)&copy->view.loops[1];
  a->trip = a->least = a->most = 3;
  ck_assert_int_eq(fsched_verify_program(ctx, copy, NULL), FSCHED_WRONG);
  ck_assert_uint_gt(count_code("verify-value"), 0);
  fs_mutant_free(copy);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}
END_TEST

/* A loop's op reads at once what is there on entry of a ring inside, and what a loop in it has put
 * into the slot beside: the slots are walked. */
START_TEST(in_slots_of_loops_inside)
{
  static const char text[] =
      "fsched: 1\n"
      "target: {queues: [{name: q0}, {name: q1}]}\n"
      "buffers: [{name: r, size: 8}, {name: z, size: 8, io: output}]\n"
      "ops:\n"
      "- loop: l0\n  trip: 5\n  ops:\n"
      "  - {name: a, on: q1, args: [{out: r}]}\n"
      "  - loop: l1\n    trip: 1\n    ops:\n"
      "    - loop: l2\n      trip: 2\n      buffers: {r: {depth: 3}}\n      ops:\n"
      "      - {name: b, on: q1, args: [{out: r}]}\n"
      "      - {name: c, on: q0, args: [{in: r, distance: 1}]}\n"
      "    - {name: d, on: q0, args: [{in: r}]}\n" LAST;
  fsched_program *p, *copy;
  fsched_graph *g;
  must_be_right(text);
  ck_fs(ctx, parse(text, false, &g));
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &p));
  copy = fs_mutant_copy(p);
  ck_fs(ctx, fsched_verify_program(ctx, copy, NULL));
  fs_stream_loop *inside = (fs_stream_loop *)(uintptr_t)&copy->view.loops[2];
  ck_assert_uint_eq(inside->trip, 2);
  inside->trip = inside->least = inside->most = 1; /* d reads the second slot */
  ck_assert_int_eq(fsched_verify_program(ctx, copy, NULL), FSCHED_WRONG);
  ck_assert_uint_gt(count_code("verify-value"), 0);
  fs_mutant_free(copy);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}
END_TEST

/* Buffers without bytes are args of loops, too. */
START_TEST(of_empty_buffers)
{
  must_be_right(
      "fsched: 1\n"
      "target: {queues: [{name: q0}, {name: q1}]}\n"
      "buffers: [{name: e, size: 0}, {name: f, size: 0}, {name: z, size: 8, io: output}]\n"
      "ops:\n"
      "- {name: a, on: q0, args: [{out: e}]}\n"
      "- loop: l\n  trip: 2\n  ops:\n"
      "  - {name: b, on: q1, args: [{in: e}, {out: f}]}\n"
      "  - {loop: m, trip: 2, ops: [{name: c, on: q0, args: [{in: f}, {inout: e}]}]}\n" LAST);
}
END_TEST

/* What would take long is not told. */
START_TEST(takes_too_long)
{
  must_say(TWO_LOOPS("{out_existing: y, at: {length: 40, step: 64}}",
                     "{in: y, at: {length: 8, step: 96}}"),
           "unsupported",
           "loop 'a' cannot stay a loop in this version: it takes too long to tell whether what is "
           "read of a buffer in ranges was written before");
}
END_TEST

FS_SUITE(rolled_written, s) {
  TCase *t = fs_case(s, fs_test_silent);
  FS_LOOPS(t, 0, 4, as_unrolled, through_rings);
  FS_TESTS(t, two_loops, with_gaps, in_one_loop, in_parts_of_loops_inside, in_slots_of_loops_inside,
           large_nests_are_proven, large_nests_with_parameters_are_proven, of_empty_buffers,
           takes_too_long);
}
