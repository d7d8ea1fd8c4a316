/* SPDX-License-Identifier: Apache-2.0 */
/* Open copies: each rule with its inequality, and without; lines that name what is not there. */
#include <stdio.h>
#include <string.h>

#include "fsched/verify.h"

#include "kit/context.h"

/* x is written by a and read by c, y is written by b alone; both do not fit at one time. */
#define SPILLS                                                                         \
  "fsched: 1\nname: g\ntarget:\n"                                                      \
  "  queues: [{name: q}, {name: r, class: copy}, {name: s, class: copy}, {name: u}]\n" \
  "  memories:\n    - {name: m, capacity: 4, backing: far, spill: {on: copy, "         \
  "write: {fixed: 2}, read: {fixed: 3}}}\n    - {name: far}\n"                         \
  "buffers: [{name: x, size: 2}, {name: y, size: 3}]\nops:\n"                          \
  "  - {name: a, on: q, time: 2, args: [{out: x}]}\n"                                  \
  "  - {name: b, on: u, time: 2, args: [{out: y}]}\n"                                  \
  "  - {name: c, on: q, time: 2, args: [{in: x}]}\n"
#define HEAD                                                                                   \
  "fsched-proof 1\nops 3\nopen\nread 0 0 2\nwrite 0 0 0\nstay 0 0 0\nstay 0 0 2\nstay 1 0 1\n" \
  "first 0 0 2\nin 0 0 2 0\nstored 0 0 0\non 3 1\non 3 2\nboth 8 11\nunit 1\nset queues 0\n"   \
  "set queues 1\nset stays 0\nset turns 0 1\nbegin\n"

/* In a memory without a store: y may be in the place of x. */
#define HELD                                                                    \
  "fsched: 1\nname: g\ntarget:\n  queues: [{name: q}]\n"                        \
  "  memories: [{name: m, capacity: 3}]\n"                                      \
  "buffers: [{name: x, size: 2}, {name: y, size: 2, io: output}]\nops:\n"       \
  "  - {name: a, on: q, time: 2, args: [{out: x}]}\n"                           \
  "  - {name: b, on: q, time: 2, args: [{in: x}, {out: y}], inplace: {y: x}}\n" \
  "  - {name: c, on: q, time: 2, args: [{in: y}]}\n"
#define HELD_HEAD                                                                                  \
  "fsched-proof 1\nops 3\nopen\nstay 0 0\nstay 1 0\nplace 1 0 0 1 0\nnot 5\nunit 1\nset stays 0\n" \
  "begin\n"

typedef struct stay_axiom {
  const char *line;
  bool passes;
} stay_axiom;

static fsched_status check_text(const fsched_graph *g, const char *head, const char *steps) {
  char text[1024];
  uint64_t bound;
  int n = snprintf(text, sizeof text, "%s%s\nend 21\n", head, steps);
  return fsched_verify_proof(ctx, g, text, (size_t)n, "p", &bound);
}

/* The axiom is right, though the proof that ends with it is not. */
static void check_axioms(const char *graph, const char *head, const stay_axiom *at, size_t n) {
  fsched_graph *g;
  ck_fs(ctx, fsched_graph_parse(ctx, "g", graph, strlen(graph), NULL, &g));
  for (size_t i = 0; i < n; i++) {
    ck_assert_int_ne(check_text(g, head, at[i].line), FSCHED_OK);
    const char *why = fsched_diag_get(ctx, fsched_diag_count(ctx) - 1)->message;
    bool passes = strcmp(why, "the last step should be a lemma without literals") == 0;
    ck_assert_msg(passes == at[i].passes, "%s: %s", at[i].line, why);
    fsched_diag_clear(ctx);
  }
  fsched_graph_destroy(g);
}

/* Nodes: the ops 0 to 2; the read 3, the write 4; the ends 5 of a's stay, 6 of c's, 7 of b's; c is
 * the first of its stay: 8, or in a's: 9; what a leaves is stored: 10; queues of the read: 11, 12;
 * 13: 8 and 11. */
START_TEST(links)
{
  static const stay_axiom axioms[] = {
      {"p 0<=4 5>=7", true}, /* 5 + 2 > 6 */
      {"p 0<=3 5>=7", false},       {"p 0<=4 5>=8", false},
      {"p 8<=0 ?3<=4 2>=8", true},                          /* 5 + 3 > 7 */
      {"p 8<=0 ?3<=3 2>=8", false}, {"p ?3<=4 2>=8", true}, /* the negation says that it is there */
      {"p 3<=4 2>=8", false},       {"p 8>=1 3<=4 2>=8", false},
      {"p 9<=0 2<=4 5>=7", true}, /* 5 + 2 > 6 */
      {"p 9<=0 2<=3 5>=7", false},  {"p 9<=0 2<=4 6>=7", false},
      {"p 8<=0 2<=4 6>=7", true},   {"p 8<=0 2<=3 6>=7", false},
      {"p 10<=0 0<=4 4>=7", true}, /* 5 + 2 > 6 */
      {"p 10<=0 0<=3 4>=7", false}, {"p 0<=4 4>=7", false},
      {"p 8<=0 4<=4 3>=7", true}, /* 5 + 2 > 6 */
      {"p 8<=0 4<=3 3>=7", false},  {"p 10<=0 4<=4 3>=7", false},
      {"p 10<=0 4<=4 5>=7", true},  {"p 10<=0 4<=3 5>=7", false},
      {"p 10<=0 4<=4 6>=7", false}};
  check_axioms(SPILLS, HEAD, axioms, sizeof axioms / sizeof *axioms);
}
END_TEST

/* a and b write x, and c reads it.  Nodes: the read of b 3, the writes 4 and 5, the end of b's stay
 * 6, b is its first 7, what a and b leave is stored 8 and 9; 10: 7 and 9. */
START_TEST(links_of_writes)
{
  static const char graph[] =
      "fsched: 1\nname: g\ntarget:\n  queues: [{name: q}, {name: r, class: copy}]\n"
      "  memories:\n    - {name: m, capacity: 4, backing: far, spill: {on: copy, "
      "write: {fixed: 2}, read: {fixed: 3}}}\n    - {name: far}\n"
      "buffers: [{name: x, size: 2}]\nops:\n"
      "  - {name: a, on: q, time: 2, args: [{out: x}]}\n"
      "  - {name: b, on: q, time: 2, args: [{inout: x}]}\n"
      "  - {name: c, on: q, time: 2, args: [{in: x}]}\n";
#define WRITES                                                                                   \
  "fsched-proof 1\nops 3\nopen\nread 0 0 1\nwrite 0 0 0\nwrite 0 0 1\nstay 0 0 1\nfirst 0 0 1\n" \
  "stored 0 0 0\nstored 0 0 1\n"
  static const stay_axiom axioms[] = {
      {"p 8<=0 4<=4 1>=7", true}, /* 5 + 2 > 6 */
      {"p 8<=0 4<=3 1>=7", false},  {"p 4<=4 1>=7", false},      {"p 9<=0 4<=4 1>=7", false},
      {"p 7<=0 4<=4 3>=7", true},   {"p 7<=0 4<=3 3>=7", false}, {"p 8<=0 4<=4 3>=7", false},
      {"p 9<=0 1<=4 5>=7", true},   {"p 9<=0 1<=3 5>=7", false}, {"p 10<=0 5<=4 6>=7", true},
      {"p 10<=0 5<=3 6>=7", false}, {"p 9<=0 5<=4 6>=7", false}, {"p 7<=0 5<=4 6>=7", false},
      {"p 10<=0 4<=4 6>=7", false}};
  static const stay_axiom apart[] = {
      {"p 9<=0 7<=0 5<=4 6>=7", false}, {"p 9<=0 5<=4 6>=7", false}, {"p 5<=4 6>=7", false}};
  check_axioms(graph, WRITES "both 7 9\nunit 1\nbegin\n", axioms, sizeof axioms / sizeof *axioms);
  check_axioms(graph, WRITES "unit 1\nbegin\n", apart, sizeof apart / sizeof *apart);
}
END_TEST

START_TEST(clauses)
{
  static const stay_axiom axioms[] = {
      {"c 8>=1 9>=1", true},    {"c 8>=1", false},         {"c 9>=1", false},
      {"c 8<=0 9<=0", true},    {"c 8<=0", false},         {"c 8<=0 10>=1", true},
      {"c 10<=0 8>=1", true},   {"c 10>=1", false},        {"c 10<=0", false},
      {"c 9<=0 10>=1", false},  {"c 10<=0 9>=1", false},   {"c 8<=0 11>=1 12>=1", true},
      {"c 11>=1 12>=1", false}, {"c 8<=0 11>=1", false},   {"c 11<=0 12<=0", true},
      {"c 11<=0 8>=1", true},   {"c 11<=0 9>=1", false},   {"c 13>=1 8<=0 11<=0", true},
      {"c 13<=0 8>=1", true},   {"c 13<=0 11>=1", true},   {"c 13>=1 8<=0", false},
      {"c 13<=0 12>=1", false}, {"c 8>=1 9>=1 0>=1", true}};
  check_axioms(SPILLS, HEAD, axioms, sizeof axioms / sizeof *axioms);
}
END_TEST

START_TEST(what_is_taken)
{
  static const stay_axiom axioms[] = {
      {"t 2 5<=5 0>=6 7<=5 1>=6", true}, /* both in [5, 6): 2 + 3 > 4 */
      {"t 2 5<=4 0>=6 7<=5 1>=6", false},
      {"t 2 5<=5 0>=7 7<=5 1>=6", false},
      {"t 2 8<=0 6<=5 3>=6 7<=5 1>=6", true},
      {"t 2 6<=5 3>=6 7<=5 1>=6", false}, /* it may not be there */
      {"t 2 8<=0 6<=5 2>=6 7<=5 1>=6", false},
      {"t 1 11<=0 3>=3", false}, /* 1 of 1 */
      {"a 5 7 5<=5 0>=6 7<=5 1>=6", true},
      {"a 7 5 5<=5 0>=6 7<=5 1>=6", true},
      {"a 5 7 5<=4 0>=6 7<=5 1>=6", false},
      {"a 5 7 5<=5 0>=7 7<=5 1>=6", false}, /* x in [6, 6), y in [5, 6) */
      {"a 5 7 5<=5 0>=7 7<=6 1>=6", true},  /* y in [5, 7) */
      {"a 1 5 5<=5 0>=6 1<=3 1>=6", true},  /* b in [5, 6), x in [5, 6) */
      {"a 1 5 5<=4 0>=6 1<=3 1>=6", false},
      {"a 1 5 5<=5 0>=6 1<=2 1>=6", false},
      {"a 6 7 8<=0 6<=5 3>=6 7<=5 1>=6", true},
      {"a 6 7 6<=5 3>=6 7<=5 1>=6", false},
      {"a 2 5 5<=5 0>=6 2<=3 2>=6", false},      /* c touches x */
      {"a 5 6 5<=5 0>=6 8<=0 6<=5 3>=6", false}, /* one version */
      {"a 3 5 5<=5 0>=6", false},
      {"x 0>=2 1>=2", true}, /* by turns */
      {"x 0>=3 1>=2", false},
      {"s 3 0>=1 1>=1", true},
      {"s 3 0>=3 1>=1", false},
      {"x 1>=1 2>=1", false}};
  check_axioms(SPILLS, HEAD, axioms, sizeof axioms / sizeof *axioms);
}
END_TEST

/* Two bounds of what may not be there that cross say that it is not, and no more. */
START_TEST(presence)
{
#define BOUNDS "p 4<=4 ?3>=7\np ?3<=4 2>=8\n" /* of the read: from the write, and up to c */
  static const stay_axiom axioms[] = {
      {BOUNDS "l 4<=4 2>=8 8<=0 : @1 @2", true},
      {BOUNDS "l 4<=4 2>=8 : @1 @2", false},
      {BOUNDS "l 4<=4 2>=8 8>=1 : @1 @2", false},
      {BOUNDS "l 4<=4 2>=8 3>=1 : @1 @2", false},
      {BOUNDS "l 4<=4 2>=8 ?3>=1 : @1 @2", true}, /* its negation: it is there */
      {BOUNDS "c 8>=1 9>=1\nl 4<=4 2>=8 9>=1 : @1 @2 @3", true},
      {BOUNDS "c 8>=1 9>=1\nl 4<=4 2>=8 : @1 @2 @3", false},
      {"p 4<=4 ?3>=7\np 3<=4 2>=8", false},
      {"l ?3<=17 :", true}, /* 17 + 3 is the end of all */
      {"l 3<=17 :", false},
      {"l ?3<=16 :", false},
      {"l 8<=0 ?3<=17 :", true},
      {"l 8<=0 3<=17 :", true},
      {"l 8<=0 3<=16 :", false}};
  check_axioms(SPILLS, HEAD, axioms, sizeof axioms / sizeof *axioms);
}
END_TEST

START_TEST(addresses)
{
  static const stay_axiom axioms[] = {
      {"n 0 2 5 7 5<=5 0>=6 7<=5 1>=6", true}, /* 2 and 3 of 4 */
      {"n 0 2 5 7 5<=4 0>=6 7<=5 1>=6", false},
      {"n 0 1 5 5<=5 0>=6", false},
      {"n 0 2 5 5 5<=5 0>=6", false},
      {"n 1 2 5 7 5<=5 0>=6 7<=5 1>=6", false},     /* another memory */
      {"n 0 2 5 6 5<=5 0>=6 8<=0 6<=5 3>=6", true}, /* one version twice */
      {"n 0 2 5 6 5<=5 0>=6 6<=5 3>=6", false},
      {"n 0 2 5 1 5<=5 0>=6 1<=3 1>=6", false}}; /* b has no scratch */
  check_axioms(SPILLS, HEAD, axioms, sizeof axioms / sizeof *axioms);
}
END_TEST

START_TEST(copies_on_queues)
{
  static const stay_axiom axioms[] = {
      {"e 1 11<=0 ?3>=1", false},          /* 3 of 3 */
      {"o 3<4 8<=0", false},               /* what may not be there has no order */
      {"x 8<=0 10<=0 ?3>=1 ?4>=1", false}, /* there are two queues */
      {"p ?0>=1", false}};
  check_axioms(SPILLS, HEAD, axioms, sizeof axioms / sizeof *axioms);
}
END_TEST

/* Nodes: the ends 3 and 4, the place 5, 6: not 5. */
START_TEST(places)
{
  static const stay_axiom axioms[] = {
      {"t 0 6<=0 0>=5 3<=5 1<=3 1>=5", true}, /* b in [4, 6), x in [4, 6) */
      {"t 0 0>=5 3<=5 1<=3 1>=5", false},
      {"t 0 6<=0 0>=5 3<=4 1<=3 1>=6", false},
      {"t 0 0>=5 3<=6 4<=6 1<=3 1>=5", true}, /* y from 6 on */
      {"t 0 0>=5 3<=6 4<=5 1<=3 1>=5", false},
      {"t 0 0>=5 3<=5 4<=6 1<=3 1>=5", false},
      {"p 5<=0 3<=6 1>=5", true}, /* 7 - 2 > 4 */
      {"p 5<=0 3<=5 1>=5", false},
      {"p 6<=0 3<=6 1>=5", false},
      {"p 2<=4 4>=7", true}, /* what is kept stays to the end of all */
      {"p 0<=4 4>=7", true},
      {"p 2<=4 3>=7", false},
      {"a 3 4 3<=8 4<=8 0>=1 1>=1", false}, /* they may share a place */
      {"c 5>=1 6>=1", true},
      {"c 5<=0 6<=0", true},
      {"c 5>=1", false},
      {"c 6<=0", false}};
  check_axioms(HELD, HELD_HEAD, axioms, sizeof axioms / sizeof *axioms);
}
END_TEST

/* ---- lines */

/* What is wrong is in the last of these lines. */
START_TEST(lines)
{
  static const char *const wrong[] = {"read 0 0 0",  /* a overwrites it */
                                      "read 0 0 1",  /* b does not access it */
                                      "read 0 0",    /* it is not given */
                                      "write 0 0",   /* nor kept */
                                      "write 0 0 2", /* c does not write it */
                                      "stay 0 0",    /* there are several */
                                      "first 0 0 1",
                                      "in 0 0 0 2", /* c comes behind a */
                                      "in 0 0 2 2",
                                      "stored 0 0 2",
                                      "read 0 0 2\nread 0 0 2",
                                      "stay 0 0 0\nstay 0 0 0",
                                      "first 0 0 2\nfirst 0 0 2",
                                      "first 0 0 2\nread 0 0 2", /* the order of the kinds */
                                      "stay 0 0 0\nwrite 0 0 0",
                                      "both 0 1", /* no booleans */
                                      "not 3",
                                      "first 0 0 2\nboth 3 4",
                                      "place 2 0 0 1 0",
                                      "on 0 9",
                                      "on 7 0",
                                      "read 9 0 0",
                                      "read 0 1 0"};
  static const char *const right[] = {"", "first 0 0 2\n", "stay 0 0 0\n",
                                      "stay 0 0 0\nfirst 0 0 2\nnot 4\nboth 4 5\n"};
  static const char *const untold[] = {"read 0 0 2\n", "stay 0 0 2\n", "write 0 0 0\n"};
  static const char shows[] = "l 0>=99 :\nl : 1";
  fsched_graph *g;
  char head[256];
  ck_fs(ctx, fsched_graph_parse(ctx, "g", SPILLS, strlen(SPILLS), NULL, &g));
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    (void)snprintf(head, sizeof head, "fsched-proof 1\nops 3\nopen\n%s\nunit 1\nbegin\n", wrong[k]);
    ck_assert_int_eq(check_text(g, head, shows), FSCHED_WRONG);
    ck_assert_msg(fsched_diag_get(ctx, 0)->line == 4 + (strchr(wrong[k], '\n') != NULL), "%s: %s",
                  wrong[k], fsched_diag_get(ctx, 0)->message);
    fsched_diag_clear(ctx);
  }
  for (size_t k = 0; k < sizeof right / sizeof *right; k++) {
    (void)snprintf(head, sizeof head, "fsched-proof 1\nops 3\nopen\n%sunit 1\nbegin\n", right[k]);
    ck_assert_int_eq(check_text(g, head, "l 0>=99 0<=98 :"), FSCHED_WRONG);
    ck_assert_str_eq(fsched_diag_get(ctx, 0)->message,
                     "the last step should be a lemma without literals");
    fsched_diag_clear(ctx);
  }
  for (size_t k = 0; k < sizeof untold / sizeof *untold; k++) {
    (void)snprintf(head, sizeof head, "fsched-proof 1\nops 3\nopen\n%sunit 1\nbegin\n", untold[k]);
    ck_assert_int_eq(check_text(g, head, shows), FSCHED_WRONG);
    ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 0)->message, "nothing tells"));
    fsched_diag_clear(ctx);
  }
  fsched_graph_destroy(g);
}
END_TEST

/* x may leave behind b. */
#define RESTS                                         \
  "buffers: [{name: x, size: 2, memory: n}]\nops:\n"  \
  "  - {name: a, on: q, time: 1, args: [{out: x}]}\n" \
  "  - {name: b, on: q, time: 1, args: [{in: x}]}\n"  \
  "  - {name: c, on: q, time: 1, args: [{out_existing: x}]}\n"

/* Graphs of which a schedule could do what open copies do not say, and lines of what is not there.
 */
START_TEST(not_covered)
{
  static const struct {
    const char *graph, *line, *why;
  } cases[] = {{"buffers: [{name: x, size: 2, io: input}]\nops:\n"
                "  - {name: a, on: q, time: 1, args: [{in: x}]}\n"
                "  - {name: b, on: q, time: 1, args: [{out_existing: x, at: [0, 1]}]}\n"
                "  - {name: c, on: q, time: 1, args: [{in: x, at: [0, 1]}]}\n",
                "first 0 0 0", "may be lost"},
               {"buffers: [{name: x, size: 2, memory: n, io: input}]\nops:\n"
                "  - {name: a, on: q, time: 1, args: [{in: x}]}\n"
                "  - {name: b, on: q, time: 1, args: [{in: x}]}\n"
                "  - {name: c, on: q, time: 1, args: [{out_existing: x}]}\n",
                "stay 0 0", "several residencies"},
               {RESTS, "stay 0 0", "more than one stay"},
               {RESTS, "read 0 0 2", "may do without"},
               {RESTS, "write 0 0 0", "may do without"},
               {RESTS, "first 0 0 0\nstored 0 0 0", "always written, or never"},
               {RESTS, "first 0 0 2\nin 0 0 1 2", "cannot be in that stay"},
               {"buffers: [{name: x, size: 2}]\nops:\n"
                "  - {name: a, on: q, time: 1, args: [{out: x}]}\n"
                "  - {name: b, on: q, time: 0, args: [{in: x}]}\n"
                "  - {name: c, on: q, time: 1, args: [{in: x}]}\n",
                "stay 0 0 0", "takes no time"}};
  char text[1024], head[256];
  fsched_graph *g;
  (void)snprintf(text, sizeof text,
                 "fsched: 1\ntarget:\n  queues: [{name: q}, {name: d, class: copy}]\n  memories:\n"
                 "    - {name: m, capacity: 4, backing: far, spill: {on: copy, write: {fixed: 1}, "
                 "read: {fixed: 1}}}\n    - {name: n, capacity: 4}\n    - {name: far}\n%s",
                 cases[_i].graph);
  ck_fs(ctx, fsched_graph_parse(ctx, "g", text, strlen(text), NULL, &g));
  (void)snprintf(head, sizeof head, "fsched-proof 1\nops 3\nopen\n%s\nunit 1\nbegin\n",
                 cases[_i].line);
  ck_assert_int_eq(check_text(g, head, "l 0>=99 :\nl : 1"), FSCHED_WRONG);
  const char *why = fsched_diag_get(ctx, fsched_diag_count(ctx) - 1)->message;
  ck_assert_msg(strstr(why, cases[_i].why) != NULL, "%s", why);
  fsched_diag_clear(ctx);
  fsched_graph_destroy(g);
}
END_TEST

/* The first read is one, so it is named once: two of them would take a queue twice as long. */
START_TEST(copies_are_named_once)
{
  static const char graph[] =
      "fsched: 1\ntarget:\n  queues: [{name: q}, {name: d, class: copy}]\n  memories:\n"
      "    - {name: m, capacity: 4, backing: far, spill: {on: copy, write: {fixed: 1}, "
      "read: {fixed: 1}}}\n    - {name: far}\n"
      "buffers: [{name: x, size: 2, io: input}, {name: y, size: 2, io: output}]\nops:\n"
      "  - {name: a, on: q, time: 1, args: [{in: x}, {out: y}]}\n";
  static const char *const twice[] = {"read 0 0\nread 0 0", "write 1 0\nwrite 1 0",
                                      "open\nread 0 0\nread 0 0", "open\nread 0 0\nstay 0 0 0",
                                      "open\nwrite 1 0\nwrite 1 0 0"};
  fsched_graph *g;
  char head[256];
  ck_fs(ctx, fsched_graph_parse(ctx, "g", graph, strlen(graph), NULL, &g));
  (void)snprintf(head, sizeof head, "fsched-proof 1\nops 1\n%s\nunit 1\nbegin\n", twice[_i]);
  ck_assert_int_eq(check_text(g, head, "l 0>=99 :\nl : 1"), FSCHED_WRONG);
  ck_assert_uint_eq(fsched_diag_get(ctx, 0)->line, 4 + (_i > 1));
  fsched_diag_clear(ctx);
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(verify_proof_stays, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, links, links_of_writes, clauses, presence, what_is_taken, addresses, copies_on_queues,
           places, lines);
  FS_LOOPS(t, 0, 8, not_covered);
  FS_LOOPS(t, 0, 5, copies_are_named_once);
}
