/* SPDX-License-Identifier: Apache-2.0 */
/* The checker of proofs on given starts, on what lies in memories, and on claims other than that of
 * a makespan: each just holds, and does not when a number is changed by one. */
#include <stdio.h>

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/budget.h"
#include "verify/proof/axioms.h"

#include "kit/context.h"

/* ---- what lies in a memory */

/* Of 11 bytes of m, s always takes 1.  x, which F may replace by y in its place, takes 4, from A to
 * G; g 2, from 0 to C; k 3, from D to the end; and E 6. */
#define LIVES                                                                                 \
  "fsched: 1\nname: g\ntarget:\n"                                                             \
  "  queues: [{name: q0}, {name: q1}, {name: q2}]\n"                                          \
  "  memories: [{name: far}, {name: m, capacity: 11}]\n"                                      \
  "buffers:\n  - {name: s, size: 1, memory: m, io: state}\n"                                  \
  "  - {name: g, size: 2, memory: m, io: input}\n"                                            \
  "  - {name: k, size: 3, memory: m, io: output}\n"                                           \
  "ops:\n"                                                                                    \
  "  - {name: A, on: q0, time: 3, scratch: {m: 1}, args: [{out: x, size: 4, memory: m}]}\n"   \
  "  - {name: B, on: q1, time: 2, args: [{in: x}]}\n"                                         \
  "  - {name: C, on: q1, time: 2, args: [{in: g}]}\n"                                         \
  "  - {name: D, on: q0, time: 1, args: [{out: k}]}\n"                                        \
  "  - {name: E, on: q2, time: 2, scratch: {m: 6}}\n"                                         \
  "  - {name: F, on: q0, time: 2, after: [B], args: [{in: x}, {out: y, size: 4, memory: m}]," \
  " inplace: {y: x}}\n"                                                                       \
  "  - {name: G, on: q1, time: 1, args: [{in: y}]}\n"

START_TEST(lives)
{
  static const fs_proof_axiom axioms[] = {
      /* x from 2 to 8, E from 4 to 6, g to 7 */
      {"m 1 0>=3 1<=5 4<=3 4>=5 2<=4", true},
      {"m 1 0>=3 1<=5 4<=3 4>=5", false}, /* 1 + 4 + 6 */
      {"m 1 0>=3 1<=5 4<=3 4>=5 2<=2", true},
      {"m 1 0>=3 1<=5 4<=3 4>=5 2<=1", false}, /* g to 4 */
      {"m 1 0>=6 1<=5 4<=3 4>=5 2<=4", true},
      {"m 1 0>=7 1<=5 4<=3 4>=5 2<=4", false}, /* x from 6 */
      {"m 1 0>=3 1<=2 4<=3 4>=5 2<=4", true},
      {"m 1 0>=3 1<=1 4<=3 4>=5 2<=4", false}, /* x to 4 */
      {"m 1 0>=3 1<=2 4<=3 4>=6 2<=4", false}, /* E from 5, x to 5 */
      {"m 1 0>=3 1<=3 4<=3 4>=6 2<=4", true},
      {"m 1 0>=3 1<=9 4<=3 4>=7 2<=9", false}, /* E surely runs at no moment */
      /* k from 3 to the end of E */
      {"m 1 3>=4 4<=9 4>=11", false},
      {"m 1 3>=4 0>=3 1<=8 4<=9 4>=11", true}, /* 1 + 3 + 4 + 6 */
      {"m 1 3>=12 0>=3 1<=9 4<=9 4>=11", true},
      {"m 1 3>=13 0>=3 1<=9 4<=9 4>=11", false}, /* k from 12 */
      /* x and y count once, also while F runs, and from A to G */
      {"m 1 5<=4 5>=6 4<=4 4>=6", false},
      {"m 1 0>=3 6<=9 2<=8 4<=9 4>=11", true},
      {"m 1 0>=3 6<=8 2<=8 4<=9 4>=11", false}, /* to 10 */
      {"m 1 0>=3 5<=8 2<=8 4<=9 4>=11", true},  /* F from 9 to 11 */
      {"m 1 5>=3 6<=9 2<=8 4<=9 4>=11", true},
      /* scratch */
      {"m 1 0<=4 0>=6 4<=4 4>=6", true}, /* 1 + 4 + 1 + 6 */
      {"m 1 0<=4 0>=6 4<=7 4>=9", false},
      {"m 1 0<=4 0>=6 4<=6 4>=8", true},
      {"m 1 1<=4 1>=6 4<=4 4>=6", false}, /* x takes 4 at once */
      {"m 1", false},
      {"m 0 0>=1", false},
      {"m 2 0>=1", false}};
  fs_check_axioms(LIVES, "fsched-proof 1\nops 7\nunit 1\nbegin\n", "end 21\n", axioms,
                  sizeof axioms / sizeof *axioms);
}
END_TEST

/* What always is there is too much once it has to be there for a while. */
START_TEST(lives_of_all)
{
  static const fs_proof_axiom axioms[] = {{"m 0", false},
                                          {"m 0 0>=9", true},
                                          {"m 0 1>=9", false} /* ends at 0 at the earliest */,
                                          {"m 0 1<=0", true}};
  fs_check_axioms(
      "fsched: 1\nname: g\ntarget: {queues: [{name: q}, {name: p}], memories: [{name: "
      "m, capacity: 4}]}\n"
      "buffers: [{name: s, size: 2, memory: m, io: state}, {name: t, size: 2, memory: "
      "m, io: state}]\n"
      "ops: [{name: a, on: q, time: 3}, {name: b, on: p, time: 0}]\n",
      "fsched-proof 1\nops 2\nunit 1\nbegin\n", "end peak 0 4\n", axioms, 4);
}
END_TEST

/* Where content may leave the memory it is there while an op runs that accesses it. */
START_TEST(lives_that_leave)
{
  static const fs_proof_axiom axioms[] = {
      {"m 0 1>=3 2>=3 3>=4", true}, /* B to 4 from 2, C to 4 from 2, D at 3 */
      {"m 0 1>=3 3>=4", false},     /* 4 + 1 */
      {"m 0 1>=3 2>=3", false},     /* 4 + 4 */
      {"m 0 1>=3 2>=3 3>=5", false},
      {"m 0 1>=3 4>=3 3>=4", false}, /* B and E read x */
      {"m 0 1>=5 2>=3 3>=4", false}, /* B from 4 */
      {"m 0 1>=4 2>=3 3>=4", true},
      {"m 0 0>=1 1<=9 2<=4 2>=6 3<=4 3>=6", false} /* x may leave between A and B */};
  fs_check_axioms(
      "fsched: 1\nname: g\ntarget:\n  queues: [{name: q}, {name: dma}]\n"
      "  memories: [{name: m, capacity: 8, backing: far, spill: {on: dma, write: "
      "{fixed: 1}, read: {fixed: 1}}}, {name: far}]\n"
      "buffers: [{name: y, size: 4, memory: m, io: input}]\n"
      "ops:\n  - {name: A, on: q, time: 1, args: [{out: x, size: 4, memory: m}]}\n"
      "  - {name: B, on: q, time: 4, args: [{in: x}]}\n"
      "  - {name: C, on: q, time: 4, args: [{in: y}]}\n"
      "  - {name: D, on: q, time: 4, scratch: {m: 1}}\n"
      "  - {name: E, on: q, time: 4, args: [{in: x}]}\n",
      "fsched-proof 1\nops 5\nunit 1\nbegin\n", "end 21\n", axioms, sizeof axioms / sizeof *axioms);
}
END_TEST

/* x is not needed from 2 to 3, where c takes its place. */
#define GAP(op)                                                                         \
  "fsched: 1\nname: gap\ntarget: {queues: [{name: q}], memories: [{name: m, capacity: " \
  "4}]}\nbuffers: [{name: x, size: 4, memory: m}]\nops:\n"                              \
  "  - {name: a, on: q, time: 1, start: 0, args: [{out: x}]}\n"                         \
  "  - {name: b, on: q, time: 1, start: 1, args: [{in: x}]}\n"                          \
  "  - {name: c, on: q, time: 1, start: 2, scratch: {m: 4}}\n"                          \
  "  - {name: d, on: q, time: 1, start: 3, args: [{" op                                 \
  ": x}]}\n"                                                                            \
  "  - {name: e, on: q, time: 1, start: 4, args: [{in: x}]}\n"

START_TEST(lives_that_begin_again)
{
  static const char schedule[] =
      "{\"fsched_schedule\": 1, \"graph\": \"gap\", \"status\": \"optimal\", \"makespan\": 5, "
      "\"lower_bound\": 5, \"ops\": [\n"
      "{\"name\": \"a\", \"kind\": \"op\", \"queues\": [\"q\"], \"start\": 0, \"end\": 1},\n"
      "{\"name\": \"b\", \"kind\": \"op\", \"queues\": [\"q\"], \"start\": 1, \"end\": 2},\n"
      "{\"name\": \"c\", \"kind\": \"op\", \"queues\": [\"q\"], \"start\": 2, \"end\": 3},\n"
      "{\"name\": \"d\", \"kind\": \"op\", \"queues\": [\"q\"], \"start\": 3, \"end\": 4},\n"
      "{\"name\": \"e\", \"kind\": \"op\", \"queues\": [\"q\"], \"start\": 4, \"end\": 5}],\n"
      "\"residencies\": [\n"
      "{\"buffer\": \"x\", \"version\": 0, \"memory\": \"m\", \"address\": 0, \"size\": 4, "
      "\"begin\": 0, \"end\": 2},\n"
      "{\"buffer\": \"x\", \"version\": 0, \"memory\": \"m\", \"address\": 0, \"size\": 4, "
      "\"begin\": 3, \"end\": 5},\n"
      "{\"scratch\": \"c\", \"memory\": \"m\", \"address\": 0, \"size\": 4, \"begin\": 2, "
      "\"end\": 3}]}\n";
  static const fs_proof_axiom over[] = {{"m 0 0>=9 1>=9 2>=9 3>=9 4>=9", false}},
                              inout[] = {{"m 0 0>=9 1>=9 2>=9 3>=9 4>=9", true}};
  static const char head[] = "fsched-proof 1\nops 5\nunit 1\nbegin\n";
  fsched_graph *g = fs_parse(GAP("out_existing"));
  fsched_schedule *s;
  ck_fs(ctx, fsched_schedule_parse(ctx, g, "s", schedule, sizeof schedule - 1, &s));
  ck_fs(ctx, fsched_verify_schedule(ctx, g, s));
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  fs_check_axioms(GAP("out_existing"), head, "end none\n", over, 1);
  fs_check_axioms(GAP("inout"), head, "end none\n", inout, 1);
}
END_TEST

/* What was given may be begun again, too. */
#define GIVEN_GAP(op)                                                                   \
  "fsched: 1\nname: gap\ntarget: {queues: [{name: q}], memories: [{name: m, capacity: " \
  "4}]}\nbuffers: [{name: x, size: 4, memory: m, io: input}]\nops:\n"                   \
  "  - {name: a, on: q, time: 1, start: 0, args: [{in: x}]}\n"                          \
  "  - {name: b, on: q, time: 1, start: 1, scratch: {m: 4}}\n"                          \
  "  - {name: c, on: q, time: 1, start: 2, args: [{" op ": x}]}\n"

START_TEST(given_that_begins_again)
{
  static const fs_proof_axiom over[] = {{"m 0 0>=9 1>=9 2>=9", false}},
                              inout[] = {{"m 0 0>=9 1>=9 2>=9", true}};
  static const char head[] = "fsched-proof 1\nops 3\nunit 1\nbegin\n";
  fs_check_axioms(GIVEN_GAP("out_existing"), head, "end none\n", over, 1);
  fs_check_axioms(GIVEN_GAP("inout"), head, "end none\n", inout, 1);
}
END_TEST

/* ---- given starts, and how late others may start */

#define LATE(start)                                     \
  "fsched: 1\nname: g\ntarget: {queues: [{name: q}]}\n" \
  "ops: [{name: a, on: q, time: 2, start: " start "}, {name: b, on: q, time: 4}]\n"

START_TEST(windows)
{
  static const char head[] = "fsched-proof 1\nops 2\nunit 1\nbegin\n";
  static const fs_proof_axiom none[] = {{"p 0>=5", true},  {"p 0>=6", false}, {"p 0<=5", true},
                                        {"p 0<=4", false}, {"p 1<=7", true},  {"p 1<=6", false},
                                        {"p 1>=0", true},  {"p 1>=1", false}},
                              fits[] = {{"p 0>=5", true},
                                        {"p 0>=6", false},
                                        {"p 0<=4", false},
                                        {"p 1<=3", true},
                                        {"p 1<=2", false}},
                              late[] = {{"p 0>=5", true},
                                        {"p 0>=6", true},
                                        {"p 1<=2", true},
                                        {"p 1<=1", false}};
  fs_check_axioms(LATE("5"), head, "end none\n", none, sizeof none / sizeof *none); /* 5 + 6 */
  fs_check_axioms(LATE("5"), head, "end 8\n", fits, sizeof fits / sizeof *fits);
  fs_check_axioms(LATE("5"), head, "end 7\n", late, sizeof late / sizeof *late);
}
END_TEST

/* In units of 2, a start of 4 is one of 2; one of 5 is none, and left out. */
START_TEST(windows_in_units)
{
  static const char head[] = "fsched-proof 1\nops 2\nunit 2\nbegin\n";
  static const fs_proof_axiom
      even[] = {{"p 0>=2", true}, {"p 0>=3", false}, {"p 1<=3", true}, {"p 1<=2", false}},
      odd[] = {{"p 0>=1", false}, {"p 0<=2", true}, {"p 1<=1", true}, {"p 1<=0", false}};
  fs_check_axioms(LATE("4"), head, "end none\n", even, 4);
  fs_check_axioms(LATE("5"), head, "end none\n", odd, 4);
}
END_TEST

/* ---- latencies */

/* A and C take q for 2 ticks, A and B the resource for 5 and 4; C is complete at 6, D behind C. */
#define SLOW                                                                            \
  "fsched: 1\nname: g\ntarget: {queues: [{name: q}, {name: p}], resources: [{name: r, " \
  "capacity: 3}], memories: [{name: m, capacity: 9}]}\nops:\n"                          \
  "  - {name: A, on: q, time: 2, latency: 5, uses: {r: 2}}\n"                           \
  "  - {name: B, on: p, time: 3, latency: 4, uses: {r: 2}, scratch: {m: 5}}\n"          \
  "  - {name: C, on: q, time: 2, latency: 6}\n"                                         \
  "  - {name: D, on: p, time: 1, after: [C], scratch: {m: 5}}\n"                        \
  "  - {name: E, on: q, time: 0, latency: 3}\n"

START_TEST(latencies)
{
  static const fs_proof_axiom axioms[] = {
      {"p 2<=3 3>=11", false}, /* C from 4, which takes 6 */
      {"p 2<=3 3>=10", true},
      {"p 0>=99 0<=15", true}, /* up to 20 less 5 */
      {"p 0>=99 0<=14", false},
      /* A and C take turns on q for 2 ticks, A and B for all of theirs */
      {"x 0>=2 2>=2", true},
      {"x 0>=2 2>=3", false},
      {"x 0>=4 1>=5", true}, /* 0 + 5 > 4, 0 + 4 > 3 */
      {"x 0>=5 1>=5", false},
      {"x 0>=4 1>=6", false},
      {"o 2<0 0<=3 2>=7", false} /* 4 + 2 > 6 */,
      {"o 2<0 0<=3 2>=6", true},
      {"o 1<0 0<=3 1>=9", true} /* 4 + 5 > 8 */,
      {"o 1<0 0<=3 1>=10", false},
      {"t 0 0>=2 2>=2", true},
      {"t 0 0>=3 2>=2", false},
      {"t 1 0>=4 1>=4", true}, /* A from 3 to 5, B from 3 to 4 */
      {"t 1 0>=5 1>=4", false},
      {"s 0 0>=2 2>=2", true},
      {"s 0 0>=2 2>=3", false},
      {"s 1 0>=4 1>=5", true}, /* 9 > 8 */
      {"s 1 0>=5 1>=5", false},
      {"e 0 0>=2 2>=2", true},
      {"e 0 0>=2 2>=3", false},
      {"e 1 0>=1 1>=2", true}, /* 10 + 8 > 3 * 5 */
      {"e 1 0>=2 1>=2", false},
      {"f 0 0 0>=2 2>=2", true}, /* behind C: 4 > 3, 2 > 1 */
      {"f 0 0 0>=3 2>=2", false},
      {"f 0 0 0>=2 2>=3", false},
      {"b 0 0 0<=0 0>=3 2<=1 2>=3", true}, /* before C: 4 - 2 < 3 */
      {"b 0 0 0<=0 0>=3 2<=1 2>=4", false},
      {"z 0 4 0<=0 0>=2 4<=1 4>=3", true}, /* A over 2 */
      {"z 0 4 0<=0 0>=2 4<=1 4>=4", false} /* or at 3 */,
      {"z 1 4 0<=0 0>=2 4<=1 4>=3", false} /* of all but queues, E takes time */,
      {"m 0 1>=1 3<=2 3>=4", true}, /* B to 4, D from 3 */
      {"m 0 1>=1 3<=3 3>=5", false}};
  fs_check_axioms(SLOW, "fsched-proof 1\nops 5\nunit 1\nset queues 0\nset resource 0\nbegin\n",
                  "end 21\n", axioms, sizeof axioms / sizeof *axioms);
}
END_TEST

/* ---- claims */

typedef struct claim_text {
  const char *text;
  fsched_status status;
  uint64_t bound, peak; /* of wrong ones, the line and the column of the fault */
} claim_text;

#define GIVEN                                                                             \
  "fsched: 1\nname: g\ntarget: {queues: [{name: q}, {name: p}], memories: [{name: far}, " \
  "{name: m, capacity: 10, align: 2}]}\n"                                                 \
  "ops:\n  - {name: a, on: q, time: 3, start: 2, scratch: {m: 3}}\n"                      \
  "  - {name: b, on: p, time: 3, start: 4, scratch: {m: 4}}\n"
#define TOP "fsched-proof 1\nops 2\nunit 1\nset memory 1\nbegin\n"
#define NEVER FSCHED_NO_SCHEDULE

static void check_claims(const char *graph, const claim_text *c, size_t n) {
  fsched_graph *g = fs_parse(graph);
  for (size_t i = 0; i < n; i++) {
    uint64_t bound = 9, peak[] = {9, 9};
    fsched_status status =
        fsched_verify_proofs(ctx, g, c[i].text, strlen(c[i].text), "p", &bound, peak);
    const fsched_diag *d = fsched_diag_count(ctx) == 0 ? NULL : fsched_diag_get(ctx, 0);
    ck_assert_msg(status == c[i].status, "%u %s of\n%s", status, d == NULL ? "" : d->message,
                  c[i].text);
    if (status == FSCHED_OK) {
      ck_assert_msg(bound == c[i].bound && peak[1] == c[i].peak, "%s", c[i].text);
    } else {
      ck_assert_uint_eq(bound + peak[1], 0);
      ck_assert_msg(d->line == c[i].bound && d->column == c[i].peak, "%u:%u %s of\n%s", d->line,
                    d->column, d->message, c[i].text);
    }
    ck_assert_uint_eq(peak[0], 0);
    fsched_diag_clear(ctx);
  }
  fsched_graph_destroy(g);
}
#define CLAIMS(graph, ...)                                       \
  do {                                                           \
    static const claim_text claims[] = {__VA_ARGS__};            \
    check_claims(graph, claims, sizeof claims / sizeof *claims); \
  } while (0)

/* 4 bytes for a and 4 for b, at 4. */
START_TEST(peaks)
{
  CLAIMS(GIVEN, {TOP "m 1 0>=3 1>=5\nl : @1\nend peak 1 8\n", FSCHED_OK, 0, 8},
         {TOP "m 1 0>=3 1>=5\nl : @1\nend peak 1 7\n", FSCHED_OK, 0, 7},
         {TOP "m 1 0>=3 1>=5\nl : @1\nend peak 1 9\n", FSCHED_WRONG, 6, 1},
         {TOP "m 1 0>=3\nl : @1\nend peak 1 4\n", FSCHED_OK, 0, 4},
         {TOP "m 1 0>=3\nl : @1\nend peak 1 5\n", FSCHED_WRONG, 6, 1},
         {TOP "t 0 0>=3 1>=5\nl : @1\nend peak 1 8\n", FSCHED_OK, 0, 8},
         {TOP "t 0 0>=3 1>=5\nl : @1\nend peak 1 9\n", FSCHED_WRONG, 6, 1},
         {TOP "m 1 0>=3 1>=5\nl : @1\nend none\n", FSCHED_WRONG, 6, 1},
         {TOP "m 1 0>=3 1>=5\nl : @1\nend peak 1 0\n", FSCHED_WRONG, 8, 12},
         {TOP "m 1 0>=3 1>=5\nl : @1\nend peak 0 8\n", FSCHED_WRONG, 8, 10},
         {TOP "m 1 0>=3 1>=5\nl : @1\nend peak 2 8\n", FSCHED_WRONG, 8, 10},
         {TOP "m 1 0>=3 1>=5\nl : @1\nend peak 1\n", FSCHED_BAD_INPUT, 8, 11},
         {TOP "m 1 0>=3 1>=5\nl : @1\nend peaks 1 8\n", FSCHED_BAD_INPUT, 8, 9},
         {TOP "m 0 0>=3 1>=5\nl : @1\nend peak 1 8\n", FSCHED_WRONG, 6, 3},
         {TOP "m 1\nl : @1\nend peak 1 1\n", FSCHED_WRONG, 6, 1});
}
END_TEST

/* The two ops meet on one queue, and c, which comes behind a, starts at 3. */
START_TEST(no_schedule)
{
  CLAIMS(
      "fsched: 1\nname: g\ntarget: {queues: [{name: q}], memories: [{name: far}, {name: m, "
      "capacity: 8}]}\n"
      "ops: [{name: a, on: q, time: 3, start: 2}, {name: b, on: q, time: 3, start: 4}]\n",
      {"fsched-proof 1\nops 2\nunit 1\nset queues 0\nbegin\nx 0>=9 1>=9\nl : @1\nend none\n",
       FSCHED_OK, NEVER, 0},
      {"fsched-proof 1\nops 2\nunit 1\nset queues 0\nbegin\nx 0>=9 1>=9\nl : @1\nend 99\n",
       FSCHED_OK, 99, 0},
      {"fsched-proof 1\nops 2\nunit 1\nset queues 0\nbegin\nx 0>=9 1>=9\nl : @1\nend none 1\n",
       FSCHED_BAD_INPUT, 8, 9},
      {"fsched-proof 1\nops 2\nunit 1\nset queues 0\nbegin\nx 0>=9 1>=9\nl : @1\nend peak 1 8\n",
       FSCHED_OK, 0, 8});
  CLAIMS(
      "fsched: 1\nname: g\ntarget: {queues: [{name: q}], memories: [{name: far}, {name: m, "
      "capacity: 8}]}\n"
      "ops: [{name: a, on: q, time: 3, start: 2}, {name: b, on: q, time: 3, start: 5}]\n",
      {"fsched-proof 1\nops 2\nunit 1\nset queues 0\nbegin\nx 0>=9 1>=9\nl : @1\nend none\n",
       FSCHED_WRONG, 6, 1});
}
END_TEST

/* Each proof of a text counts, and has its own header. */
START_TEST(several)
{
  CLAIMS(
      GIVEN,
      {TOP "m 1 0>=3 1>=5\nl : @1\nend peak 1 8\n" TOP "p 1>=4\nl : @1\nend 7\n", FSCHED_OK, 7, 8},
      {TOP "p 1>=4\nl : @1\nend 5\n" TOP "p 1>=4\nl : @1\nend 7\n" TOP "p 1>=4\nl : @1\nend 6\n",
       FSCHED_OK, 7, 0},
      {TOP "m 1 0>=3\nl : @1\nend peak 1 4\n" TOP "m 1 0>=3 1>=5\nl : @1\nend peak 1 8\n" TOP
           "m 1 0>=3\nl : @1\nend peak 1 3\n",
       FSCHED_OK, 0, 8},
      {TOP "p 1>=4\nl : @1\nend 7\n" TOP "p 1>=4\nl : @1\nend 8\n", FSCHED_WRONG, 15, 1},
      {TOP "p 1>=4\nl : @1\nend 8\n" TOP "p 1>=4\nl : @1\nend 7\n", FSCHED_WRONG, 7, 1},
      {TOP "p 1>=4\nl : @1\n" TOP "p 1>=4\nl : @1\nend 7\n", FSCHED_BAD_INPUT, 7, 1},
      {TOP "p 1>=4\nl : @1\nend 7\n\n" TOP "p 1>=4\nl : @1\nend 7\n", FSCHED_BAD_INPUT, 9, 1},
      {TOP "p 1>=4\nl : @1\nend 7\nfsched-proof 1\n", FSCHED_BAD_INPUT, 9, 1},
      {TOP "p 1>=4\nl : @1\nend 7\n" TOP "l : 1\nend 7\n", FSCHED_WRONG, 14, 5});
}
END_TEST

START_TEST(without_memory)
{
  fsched_graph *g = fs_parse(LIVES);
  static const char text[] =
      "fsched-proof 1\nops 7\nunit 1\nbegin\nm 1 0>=3 1<=5 4<=3 4>=5 2<=4\nl :\nend 21\n";
  bool ended = false;
  for (long n = 0; !ended; n++) {
    fs_budget budget = {.left = n};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *own = NULL;
    uint64_t bound, peak[2];
    if (fsched_context_create(&o, &own) == FSCHED_OK) {
      fsched_status status = fsched_verify_proofs(own, g, text, sizeof text - 1, "p", &bound, peak);
      ended = status != FSCHED_SYSTEM;
      ck_assert_int_eq(status, ended ? FSCHED_WRONG : FSCHED_SYSTEM);
      fsched_context_destroy(own);
    }
    ck_assert_int_eq(budget.blocks, 0);
    ck_assert_int_lt(n, 200);
  }
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(verify_claims, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, lives, lives_of_all, lives_that_leave, lives_that_begin_again,
           given_that_begins_again);
  FS_TESTS(t, windows, windows_in_units, latencies, peaks, no_schedule, several, without_memory);
}
