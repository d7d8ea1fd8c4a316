/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule verifier on schedules written by hand (as if they were JSON of another program),
 * rule by rule where the mutants of test_mutation.c do not show the exact limit, and on compiled
 * ones. */
#include <stdio.h>
#include <stdlib.h>

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "model/handle.h"

#include "kit/context.h"

/* A case has a graph, a schedule's ops and residencies, and the expected code ("" for a right
 * one). */
typedef struct verify_schedule_hand {
  const char *graph, *ops, *residencies;
  unsigned makespan;
  const char *code;
} verify_schedule_hand;

static void check_hand(const verify_schedule_hand *h) {
  fsched_graph *g = fs_parse(h->graph);
  fsched_schedule *s = NULL;
  char json[2048];
  int n = snprintf(json, sizeof json,
                   "{\"fsched_schedule\": 1, \"graph\": \"g\", \"status\": \"feasible\", "
                   "\"makespan\": %u, \"lower_bound\": 0, \"ops\": [%s], \"residencies\": [%s]}",
                   h->makespan, h->ops, h->residencies);
  if (fsched_schedule_parse(ctx, g, "s", json, (size_t)n, &s) != FSCHED_OK) {
    ck_abort_msg("%s: %s", h->code, fsched_diag_get(ctx, 0)->message);
  }
  fs_status status = fsched_verify_schedule(ctx, g, s);
  bool found = h->code[0] == '\0' && fsched_diag_count(ctx) == 0;
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    found = found || strcmp(fsched_diag_get(ctx, i)->code, h->code) == 0;
  }
  ck_assert_msg(found, "expected '%s', got '%s' for %s", h->code,
                fsched_diag_count(ctx) == 0 ? "" : fsched_diag_get(ctx, 0)->message, h->ops);
  ck_assert_int_eq(status, h->code[0] == '\0' ? FSCHED_OK : FSCHED_WRONG);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}

#define OP(name, queue, start, end)                                                            \
  "{\"name\": \"" name "\", \"kind\": \"op\", \"queues\": [\"" queue "\"], \"start\": " #start \
  ", \"end\": " #end "}"
#define COPY(kind, buffer, start, end)                                             \
  "{\"name\": \"" buffer "\", \"kind\": \"spill_" kind "\", \"buffer\": \"" buffer \
  "\", \"version\": 0, \"queues\": [\"q\"], \"start\": " #start ", \"end\": " #end "}"
#define RES(buffer, address, size, begin, end)                                             \
  "{\"buffer\": \"" buffer "\", \"version\": 0, \"memory\": \"m\", \"address\": " #address \
  ", \"size\": " #size ", \"begin\": " #begin ", \"end\": " #end "}"

#define TWO_QUEUES "fsched: 1\nname: g\ntarget:\n  queues: [{name: p}, {name: q}]\n"

/* --- items without length that have a place */

#define INSTANT                                                      \
  TWO_QUEUES                                                         \
  "  memories: [{name: m, capacity: 8}]\n"                           \
  "ops:\n  - {name: a, on: p, time: 4, args: [{out: x, size: 8}]}\n" \
  "  - {name: z, on: q, time: 0, args: [{out: y, size: 8}]}\n"

START_TEST(test_instant)
{
  static const verify_schedule_hand cases[] = {
      {INSTANT, OP("a", "p", 0, 4) "," OP("z", "q", 4, 4),
       RES("x", 0, 8, 0, 4) "," RES("y", 0, 8, 4, 4), 4, ""},
      {INSTANT, OP("z", "q", 0, 0) "," OP("a", "p", 0, 4),
       RES("y", 0, 8, 0, 0) "," RES("x", 0, 8, 0, 4), 4, ""},
      {INSTANT, OP("a", "p", 0, 4) "," OP("z", "q", 2, 2),
       RES("x", 0, 8, 0, 4) "," RES("y", 0, 8, 2, 2), 4, "verify-overlap"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check_hand(&cases[i]);
  }
}
END_TEST

#define AMOUNT(buffer, size, begin, end)                                             \
  "{\"buffer\": \"" buffer "\", \"version\": 0, \"memory\": \"m\", \"size\": " #size \
  ", \"begin\": " #begin ", \"end\": " #end "}"

#define COUNTED                                                      \
  TWO_QUEUES                                                         \
  "  memories: [{name: m, capacity: 8, placement: counted}]\n"       \
  "ops:\n  - {name: a, on: p, time: 4, args: [{out: x, size: 5}]}\n" \
  "  - {name: z, on: q, time: 0, args: [{out: y, size: 5}]}\n"       \
  "  - {name: c, on: q, time: 2, args: [{out: w, size: 3}]}\n"

START_TEST(test_counted)
{
  static const verify_schedule_hand cases[] = {
      {COUNTED, OP("a", "p", 0, 4) "," OP("c", "q", 2, 4) "," OP("z", "q", 4, 4),
       AMOUNT("x", 5, 0, 4) "," AMOUNT("w", 3, 2, 4) "," AMOUNT("y", 5, 4, 4), 4, ""},
      {COUNTED, OP("a", "p", 0, 4) "," OP("z", "q", 1, 1) "," OP("c", "q", 2, 4),
       AMOUNT("x", 5, 0, 4) "," AMOUNT("y", 5, 1, 1) "," AMOUNT("w", 3, 2, 4), 4,
       "verify-capacity"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check_hand(&cases[i]);
  }
}
END_TEST

/* --- spills --- */

#define SPILL                                                                               \
  "fsched: 1\nname: g\ntarget:\n  queues: [{name: p}, {name: q, class: copy}]\n"            \
  "  memories:\n    - {name: m, capacity: 8, backing: d, "                                  \
  "spill: {on: copy, write: {fixed: 1}, read: {fixed: 1}}}\n    - {name: d}\n"              \
  "buffers: [{name: x, size: 8, io: input}, {name: s, size: 8}]\n"                          \
  "ops:\n  - {name: a, on: p, args: [{in: x}]}\n  - {name: b, on: p, args: [{inout: x}]}\n" \
  "  - {name: c, on: p, args: [{out: s}]}\n  - {name: e, on: p, args: [{in: x}]}\n"

START_TEST(test_spills)
{
  static const verify_schedule_hand cases[] = {
      /* The version comes in, is read, modified, written, dropped, fetched again and read. */
      {SPILL,
       COPY("read", "x", 0, 1) "," OP("a", "p", 1, 2) "," OP("b", "p", 2, 3) "," COPY(
           "write", "x", 3, 4) "," OP("c", "p", 4, 5) "," COPY("read", "x", 5, 6) "," OP("e", "p",
                                                                                         6, 7),
       RES("x", 0, 8, 0, 4) "," RES("s", 0, 8, 4, 5) "," RES("x", 0, 8, 5, 7), 7, ""},
      /* The modification is lost. */
      {SPILL,
       COPY("read", "x", 0, 1) "," OP("a", "p", 1, 2) "," OP("b", "p", 2, 3) "," OP(
           "c", "p", 4, 5) "," COPY("read", "x", 5, 6) "," OP("e", "p", 6, 7),
       RES("x", 0, 8, 0, 4) "," RES("s", 0, 8, 4, 5) "," RES("x", 0, 8, 5, 7), 7, "verify-content"},
      /* It is written while it is modified. */
      {SPILL,
       COPY("read", "x", 0, 1) "," OP("a", "p", 1, 2) "," OP("b", "p", 2, 3) "," COPY(
           "write", "x", 2, 3) "," OP("c", "p", 4, 5) "," COPY("read", "x", 5, 6) "," OP("e", "p",
                                                                                         6, 7),
       RES("x", 0, 8, 0, 3) "," RES("s", 0, 8, 4, 5) "," RES("x", 0, 8, 5, 7), 7, "verify-content"},
      /* It is read before it is fetched again. */
      {SPILL,
       COPY("read", "x", 0, 1) "," OP("a", "p", 0, 1) "," OP("b", "p", 2, 3) "," COPY(
           "write", "x", 3, 4) "," OP("c", "p", 4, 5) "," COPY("read", "x", 5, 6) "," OP("e", "p",
                                                                                         6, 7),
       RES("x", 0, 8, 0, 4) "," RES("s", 0, 8, 4, 5) "," RES("x", 0, 8, 5, 7), 7, "verify-content"},
      /* It is fetched before it is written. */
      {SPILL,
       COPY("read", "x", 0, 1) "," OP("a", "p", 1, 2) "," OP("b", "p", 2, 3) "," COPY(
           "write", "x", 3, 4) "," OP("c", "p", 4, 5) "," OP("e", "p", 6, 7),
       RES("x", 0, 8, 0, 4) "," RES("s", 0, 8, 4, 5) "," RES("x", 0, 8, 6, 7), 7, "verify-content"},
      /* A residency begins with nothing. */
      {SPILL,
       COPY("read", "x", 1, 2) "," OP("a", "p", 2, 3) "," OP("b", "p", 3, 4) "," OP(
           "e", "p", 4, 5) "," OP("c", "p", 5, 6),
       RES("x", 0, 8, 0, 5) "," RES("s", 0, 8, 5, 6), 6, "verify-residency"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check_hand(&cases[i]);
  }
}
END_TEST

/* --- in place --- */

#define IN_PLACE(declared)                                                    \
  TWO_QUEUES                                                                  \
  "  memories: [{name: m, capacity: 16}]\n"                                   \
  "ops:\n  - {name: a, on: p, args: [{out: x, size: 8}]}\n"                   \
  "  - {name: z, on: p, time: 2, args: [{in: x}, {out: y, size: 8}]" declared \
  "}\n"                                                                       \
  "  - {name: w, on: p, args: [{in: y}]}\n"

#define IN_PLACE_LAST                                          \
  TWO_QUEUES                                                   \
  "  memories: [{name: m, capacity: 16}]\n"                    \
  "ops:\n  - {name: a, on: p, args: [{out: x, size: 8}]}\n"    \
  "  - {name: r, on: q, time: 2, args: [{in: x}]}\n"           \
  "  - {name: z, on: p, after: [r], args: [{in: x}, {out: y, " \
  "size: 8}], inplace: {y: x}}\n  - {name: w, on: p, args: [{in: y}]}\n"

/* An earlier reader of the input has to be done when the output begins. */
START_TEST(test_in_place_after_readers)
{
  static const verify_schedule_hand cases[] = {
      {IN_PLACE_LAST,
       OP("a", "p", 0, 1) "," OP("r", "q", 1, 3) "," OP("z", "p", 3, 4) "," OP("w", "p", 4, 5),
       RES("x", 0, 8, 0, 4) "," RES("y", 0, 8, 3, 5), 5, ""},
      {IN_PLACE_LAST,
       OP("a", "p", 0, 1) "," OP("r", "q", 1, 3) "," OP("z", "p", 2, 3) "," OP("w", "p", 3, 4),
       RES("x", 0, 8, 0, 3) "," RES("y", 0, 8, 2, 4), 4, "verify-precedence"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check_hand(&cases[i]);
  }
}
END_TEST

START_TEST(test_in_place)
{
  static const char ops[] = OP("a", "p", 0, 1) "," OP("z", "p", 1, 3) "," OP("w", "p", 3, 4);
  static const char right[] = RES("x", 0, 8, 0, 3) "," RES("y", 0, 8, 1, 4);
  static const char late[] = RES("x", 0, 8, 0, 4) "," RES("y", 0, 8, 1, 4);
  static const verify_schedule_hand cases[] = {
      {IN_PLACE(", inplace: {y: x}"), ops, right, 4, ""},
      {IN_PLACE(", inplace: {y: x}"), ops, late, 4, "verify-overlap"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check_hand(&cases[i]);
  }
}
END_TEST

/* --- amounts --- */

#define AMOUNTS                                               \
  TWO_QUEUES                                                  \
  "  resources: [{name: r, capacity: 5}]\n  concurrency: 2\n" \
  "ops:\n  - {name: a, on: p, time: 4, uses: {r: 3}}\n"       \
  "  - {name: b, on: q, time: 4, uses: {r: 2}}\n  - {name: c, on: q, time: 0, uses: {r: 3}}\n"

START_TEST(test_amounts)
{
  static const verify_schedule_hand cases[] = {
      {AMOUNTS, OP("a", "p", 0, 4) "," OP("b", "q", 0, 4) "," OP("c", "q", 4, 4), "", 4, ""},
      {AMOUNTS, OP("a", "p", 0, 4) "," OP("c", "q", 3, 3) "," OP("b", "q", 4, 8), "", 8,
       "verify-resource"},
      {AMOUNTS, OP("c", "q", 0, 0) "," OP("a", "p", 0, 4) "," OP("b", "q", 0, 3), "", 4,
       "verify-duration"},
      {AMOUNTS, OP("a", "p", 0, 4) "," OP("b", "q", 0, 4) "," OP("c", "q", 2, 2), "", 4,
       "verify-queue-overlap"},
      {AMOUNTS, OP("a", "p", 0, 4) "," OP("b", "q", 0, 4) "," OP("c", "q", 4, 4), "", 5,
       "verify-status"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check_hand(&cases[i]);
  }
}
END_TEST

/* --- compiled schedules, as they are and through JSON --- */

static void check_compiled(uint64_t seed, uint32_t max_ops) {
  fs_gen_params params = fs_gen_any(seed, max_ops);
  fsched_graph *g = NULL;
  fsched_schedule *s = NULL, *back = NULL;
  ck_assert_int_eq(fs_gen_graph(ctx, &params, &g), FSCHED_OK);
  if (fsched_compile(ctx, g, NULL, &s, NULL) == FSCHED_OK) {
    char *text;
    size_t length;
    fsched_diag_clear(ctx);
    ck_assert_msg(fsched_verify_schedule(ctx, g, s) == FSCHED_OK, "seed %llu: %s",
                  (unsigned long long)seed, fsched_diag_get(ctx, 0)->message);
    ck_assert_int_eq(fsched_schedule_json(ctx, s, &text, &length), FSCHED_OK);
    ck_assert_int_eq(fsched_schedule_parse(ctx, g, "s", text, length, &back), FSCHED_OK);
    ck_assert_msg(fsched_verify_schedule(ctx, g, back) == FSCHED_OK, "seed %llu, read: %s",
                  (unsigned long long)seed, fsched_diag_get(ctx, 0)->message);
    back->schedule->arg_residency = NULL; /* so that it is found by time alone */
    back->schedule->scratch_residency = NULL;
    ck_assert_msg(fsched_verify_schedule(ctx, g, back) == FSCHED_OK, "seed %llu, by time: %s",
                  (unsigned long long)seed, fsched_diag_get(ctx, 0)->message);
    fsched_text_free(ctx, text, length);
  }
  fsched_schedule_destroy(back);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}

START_TEST(test_compiled)
{
  for (uint64_t seed = 1; seed <= 300; seed++) {
    check_compiled(seed, seed % 10 == 0 ? 120 : 12);
  }
}
END_TEST

FS_SUITE(verify_schedule, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, test_instant, test_counted, test_spills, test_in_place, test_in_place_after_readers,
           test_amounts);
  t = fs_case(s, fs_test_context);
  FS_TESTS(t, test_compiled);
}
