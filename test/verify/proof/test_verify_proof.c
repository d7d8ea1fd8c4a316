/* SPDX-License-Identifier: Apache-2.0 */
/* The checker of proofs on proofs written by hand: each rule just holds, and does not when any
 * number or member of it is changed by one; each fault of a text has its place; memory runs out. */
#include <limits.h>
#include <stdio.h>

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/budget.h"
#include "verify/proof/axioms.h"

#include "kit/context.h"

/* Ops A to J are 0 to 8.  D may take either queue, E takes both, Z (5) takes no time. */
#define OPS                                                      \
  "ops:\n"                                                       \
  "  - {name: A, on: q0, time: 3, uses: {r: 3}}\n"               \
  "  - {name: B, on: q0, time: 2, uses: {r: 2}}\n"               \
  "  - {name: C, on: q1, time: 4, uses: {r: 3}, after: [A]}\n"   \
  "  - {name: D, on: c, time: 2, uses: {r: 1}, after: [B]}\n"    \
  "  - {name: E, on: [q0, q1], time: 3}\n"                       \
  "  - {name: Z, on: q0, time: 0, uses: {r: 5}}\n"               \
  "  - {name: G, on: p, time: 5, uses: {wide: 1000000000000}}\n" \
  "  - {name: I, on: p, time: 5, uses: {wide: 1000000000000}}\n" \
  "  - {name: J, on: p, time: 1, after: [B, D, G]}\n"
#define TARGET                                                                    \
  "fsched: 1\nname: g\ntarget:\n"                                                 \
  "  queues: [{name: q0, class: c}, {name: q1, class: c}, {name: p, class: d}]\n" \
  "  resources: [{name: r, capacity: 5}, {name: wide, capacity: 1099511627776}]\n"
#define GRAPH TARGET "  concurrency: 3\n" OPS

/* Sets 0 to 5; ops start up to 20 less their times. */
#define HEAD                                                                    \
  "fsched-proof 1\nops 9\nunit 1\nset queues 0\nset queues 1\nset queues 1 0\n" \
  "set resource 0\nset concurrency\nset resource 1\nbegin\n"

#define END "end 21\n"

#define AXIOMS(...)                                                            \
  do {                                                                         \
    static const fs_proof_axiom axioms[] = {__VA_ARGS__};                      \
    fs_check_axioms(GRAPH, HEAD, END, axioms, sizeof axioms / sizeof *axioms); \
  } while (0)

/* A is before C, B before D, and B, D and G before J. */
START_TEST(precedence)
{
  AXIOMS({"p 0<=3 2>=7", true},   /* 4 + 3 > 6 */
         {"p 0<=2 2>=7", false},  /* 3 + 3 */
         {"p 0<=3 2>=8", false},  /* 4 + 3 > 7 */
         {"p 2>=7 0<=3", true},   /* in any order */
         {"p 0<=3 3>=7", false},  /* no edge */
         {"p 2<=9 0>=3", false},  /* the edge turned */
         {"p 0<=99 2>=7", true},  /* A has no start */
         {"p 0>=99 2>=3", true},  /* 0 + 3 > 2: what is named needs no bound */
         {"p 0>=99 2>=4", false}, /* 0 + 3 > 3 */
         {"p 1<=9 8>=12", true}, {"p 1<=9 8>=13", false}, {"p 3<=9 8>=12", true},
         {"p 6<=9 8>=15", true}, {"p 6<=9 8>=16", false}, {"p 0<=9 8>=8", false},
         {"p 2<=9 8>=8", false}, {"p 4<=9 8>=8", false}, {"p 7<=9 8>=8", false},
         {"p 5<=9 8>=8", false}, {"p 2>=3", false}, /* A is not named */
         {"p 0<=3 1>=99 2>=7", true},               /* nor does another op harm */
         {"p 1<=0 3>=3 0<=3 2>=8", true} /* 1 + 2 > 2 of the second edge */);
}
END_TEST

START_TEST(order)
{
  AXIOMS({"o 0<1 1<=4 0>=7", true}, /* B is first: 5 + 2 > 6 */
         {"o 0<1 1<=3 0>=7", false}, {"o 0<1 1<=4 0>=8", false},
         {"o 1<0 1<=4 0>=7", false}, /* A is first: 0 + 3 > 18 does not hold */
         {"o 1<0 0<=4 1>=8", true},  /* 5 + 3 > 7 */
         {"o 1<0 0<=4 1>=9", false}, {"o 1<0 0<=3 1>=8", false}, {"o 1<0 1<0", false},
         {"o 1<=4 0>=7", false},    /* no order is named */
         {"o 0<1 1<0", true},       /* one of them holds */
         {"o 0<2 2<=4 0>=9", true}, /* by the resource, 3 + 3 > 5: 5 + 4 > 8 */
         {"o 0<2 2<=4 0>=10", false}, {"o 2<4 4<=4 2>=8", true} /* by queue 1 */,
         {"o 0<3 3<=18 0>=1", false} /* they do not exclude each other */,
         {"o 0<5 5<=4 0>=5", true} /* Z is first: 5 > 4 */, {"o 0<5 5<=3 0>=5", false},
         {"o 5<0 0<=0 5>=4", true} /* 1 + 3 > 3 */, {"o 5<0 0<=0 5>=5", false}, {"o 0<0", false},
         {"o 3<4 4<=4 3>=8", true} /* one of two queues and both of them */,
         {"o 3<4 4<=4 3>=9", false});
}
END_TEST

START_TEST(exclusion)
{
  AXIOMS({"x 0>=2 1>=3", true}, /* 0 + 3 > 2 and 0 + 2 > 1 */
         {"x 0>=3 1>=3", false}, {"x 0>=2 1>=4", false},
         {"x 0<=0 0>=3 1>=4", false}, /* 0 + 2 > 2 */
         {"x 0<=0 0>=2 1>=4", true},  /* A starts at 1: 1 + 3 > 3, 0 + 2 > 1 */
         {"x 0<=0 0>=2 1>=5", false}, {"x 0>=2 3>=3", false} /* not of one queue */,
         {"x 3>=3 4>=2", true} /* 2 + 1 queues of 2 */, {"x 3>=4 4>=2", false},
         {"x 3>=3 4>=3", false}, {"x 0>=2", false}, {"x 0>=2 1>=3 4>=99", false},
         {"x 0<=0 0>=2 5<=1 5>=4", true} /* Z in [2, 3], A from 1: 2 > 1 and 1 + 3 > 3 */,
         {"x 0<=0 0>=3 5<=1 5>=4", false}, {"x 0<=0 0>=2 5<=1 5>=5", false});
}
END_TEST

/* Without the sets by which they exclude each other ops are not known to do so. */
START_TEST(only_by_sets)
{
  static const fs_proof_axiom axioms[] = {
      {"x 0>=2 1>=3", false}, {"o 0<1 1<=4 0>=7", false}, {"x 3>=3 4>=2", true}};
  fs_check_axioms(GRAPH, "fsched-proof 1\nops 9\nunit 1\nset queues 0 1\nbegin\n", END, axioms, 3);
  static const fs_proof_axiom none[] = {{"x 0>=2 1>=3", false}, {"x 3>=3 4>=2", false}};
  fs_check_axioms(GRAPH, "fsched-proof 1\nops 9\nunit 1\nbegin\n", END, none, 2);
}
END_TEST

START_TEST(time_table)
{
  AXIOMS({"t 3 0>=3 2>=3", true},            /* A in [2, 3), C in [2, 4): 3 + 3 > 5 */
         {"t 3 0>=4 2>=3", false},           /* A in [3, 3) */
         {"t 3 0>=3 2>=4", false},           /* C in [3, 4) */
         {"t 3 0<=0 0>=4 2>=4", true},       /* A in [3, 4) */
         {"t 3 0>=1 1>=1", false},           /* 3 + 2 */
         {"t 3 0>=1 1>=1 3>=1", true},       /* 3 + 2 + 1 */
         {"t 3 0>=1 1>=1 3<=0 3>=2", true},  /* D in [1, 3), A in [0, 3), B in [0, 2) */
         {"t 3 0>=1 1>=1 3<=1 3>=3", false}, /* D in [2, 4) */
         {"t 3 0>=1 1>=1 5>=1", false},      /* Z runs at no moment */
         {"t 0 0>=1 1>=1", true}, {"t 1 0>=1 1>=1", false}, {"t 2 0>=1 1>=1", false},
         {"t 2 0>=1 1>=1 2>=1", true}, {"t 2 0>=1 4>=1", true}, {"t 1 0>=1 4>=1", false},
         {"t 4 0>=1 1>=1 2>=1", false}, {"t 4 0>=1 1>=1 2>=1 3>=1", true},
         {"t 4 0>=1 1>=1 2>=1 5>=1", false}, {"t 4", false});
}
END_TEST

/* Z takes all of the resource, and one of the queues. */
START_TEST(moments)
{
  AXIOMS({"z 3 5 3<=0 3>=2 5<=1 5>=3", true},  /* D from 1 to 3, Z at 2 */
         {"z 3 5 3<=0 3>=2 5<=1 5>=4", false}, /* or at 3 */
         {"z 3 5 3<=0 3>=2 5<=0 5>=3", false}, /* or at 1 */
         {"z 3 5 3<=0 3>=3 5<=1 5>=3", false}, {"z 3 5 3>=2 5<=1 5>=3", false},
         {"z 3 5 0>=1 3<=1 3>=3 5<=0 5>=4", true}, /* A over 1 and 2, D over 3 */
         {"z 3 5 0>=1 3<=2 3>=4 5<=0 5>=5", false} /* D over 4 */,
         {"z 3 5 0>=1 3<=1 3>=3 5<=0 5>=5", false}, {"z 3 5 0>=1 3<=1 3>=3 5>=4", false},
         {"z 2 5 0>=1 2>=1 5<=1 5>=3", true}, /* 1 + 1 + 1 of 2 queues, at 2 */
         {"z 2 5 0>=1 5<=1 5>=3", false}, {"z 1 5 0>=1 2>=1 5<=1 5>=3", false},
         {"z 0 5 0>=1 2>=1 5<=1 5>=3", true}, {"z 4 5 0>=1 2>=1 6>=1 5<=1 5>=3", true},
         {"z 4 5 0>=1 2>=1 5<=1 5>=3", false} /* 3 of 3 */,
         {"z 3 5 0>=1 2>=1 5<=5 5>=7", true}, /* 3 + 3 without Z */
         {"z 3 5 3<=0 3>=2", false} /* Z is not named */,
         {"z 3 0 0<=1 0>=3 3<=0 3>=2", false} /* A takes time */, {"z 3 5", false});
}
END_TEST

START_TEST(turns)
{
  AXIOMS({"s 0 0>=5 1>=6 4>=5", true}, /* 3 + 2 + 3 > 7 */
         {"s 0 0>=6 1>=6 4>=5", false}, {"s 0 0>=5 1>=7 4>=5", false},
         {"s 0 0>=5 1>=6 4>=6", false}, {"s 0 0>=5 1>=6", false},
         {"s 0 0<=0 0>=6 1<=0 1>=7 4<=0 4>=6", true}, /* from 1 to 8 */
         {"s 0 0>=6 1<=0 1>=7 4<=0 4>=6", false}, {"s 0 0<=0 0>=6 1>=7 4<=0 4>=6", false},
         {"s 0 0<=0 0>=6 1<=0 1>=7 4>=6", false}, {"s 1 0>=5 1>=6 4>=5", false},
         {"s 3 0>=3 1>=4", false} /* 3 + 2 of 5 */, {"s 3 0>=4 2>=3", true} /* 3 + 4 > 6 */,
         {"s 3 0>=5 2>=3", false}, {"s 3 0>=4 2>=4", false},
         {"s 3 0>=4 2>=3 1>=5", false} /* A and B do not take turns */,
         {"s 2 3>=3 4>=2", true} /* 1 + 2 of 2 queues */, {"s 2 0>=5 3>=6 4>=5", false} /* 1 + 1 */,
         {"s 2 0>=2 3>=2", false}, {"s 0 0>=1", false}, {"s 0 0>=3 5>=4", false}, {"s 0", false},
         {"s 0 0>=5 1>=6 4>=5 5>=8", true}, {"s 0 0>=5 1>=6 4>=5 5>=9", false});
}
END_TEST

START_TEST(energy)
{
  AXIOMS({"e 3 0>=3 1>=4 2>=2 3>=4", true}, /* 9 + 4 + 12 + 2 > 5 * 5 */
         {"e 3 0>=4 1>=4 2>=2 3>=4", false}, {"e 3 0>=3 1>=5 2>=2 3>=4", false},
         {"e 3 0>=3 1>=4 2>=3 3>=4", false}, {"e 3 0>=3 1>=4 2>=2 3>=5", false},
         {"e 3 0>=3 1>=4 2>=2", false} /* 25 */,
         {"e 2 0>=6 1>=7 2>=5 3>=7 4>=6", true} /* 3 + 2 + 4 + 2 + 6 > 2 * 8 */,
         {"e 2 0>=6 1>=7 2>=5 3>=7 4>=7", false}, {"e 2 0>=6 1>=7 2>=5 4>=6", false},
         {"e 4 0>=4 1>=4 2>=2 3>=4 4>=3", false} /* 14 of 3 * 6 */,
         {"e 4 0>=2 1>=3 2>=1 3>=3 4>=2", true} /* 14 > 3 * 4 */,
         {"e 0 0<=0 1<=0 4<=0 0>=6 1>=7 4>=6", true} /* 8 > 7 */,
         {"e 0 1<=0 4<=0 0>=6 1>=7 4>=6", false}, {"e 0", false},
         {"e 5 6>=5 7>=5", true} /* 10^13 > 9 * 2^40, which is less than 2^64 */,
         {"e 5 6>=6 7>=5", false} /* 10 * 2^40 */);
}
END_TEST

/* Products of amounts and times are above 2^64. */
START_TEST(energy_of_large_numbers)
{
  static const fs_proof_axiom axioms[] = {
      {"e 0 0>=900488372224 1>=900488372224", true}, /* up to 2 * 10^12 - 1 */
      {"e 0 0>=900488372225 1>=900488372224", false},
      {"e 0 0>=900488372224 1>=900488372225", false},
      /* what is above 2^64 counts, whatever is below it says: 2 * 10^12 is 4857856 modulo 2^24 */
      {"e 0 0>=900483514368 1>=900483514368", true},
      {"e 0 0>=900500291585 1>=900500291585", false},
      {"e 0 0<=0 1<=0 0>=900488372225 1>=900488372225", true},
      {"e 0 1<=0 0>=900488372225 1>=900488372225", false}};
  fs_check_axioms(
      "fsched: 1\nname: g\ntarget:\n  queues: [{name: q}, {name: p}]\n"
      "  resources: [{name: wide, capacity: 1099511627776}]\nops:\n"
      "  - {name: a, on: q, time: 1099511627776, uses: {wide: 1000000000000}}\n"
      "  - {name: b, on: p, time: 1099511627776, uses: {wide: 1000000000000}}\n",
      "fsched-proof 1\nops 2\nunit 1\nset resource 0\nbegin\n", "end 4000000000000\n", axioms,
      sizeof axioms / sizeof *axioms);
}
END_TEST

/* A comes behind B and E, which take 5 ticks. */
START_TEST(edge_finding)
{
  AXIOMS({"f 0 0 0>=5 1>=6 4>=5", true}, /* 0 + 8 > 7, and 0 + 5 > 4 */
         {"f 0 0 0>=6 1>=6 4>=5", false}, {"f 0 0 0>=5 1>=7 4>=5", false},
         {"f 0 0 0>=5 1>=6 4>=6", false}, {"f 0 0 1>=6 4>=5", false} /* A is not named */,
         {"f 1 0 0>=5 1>=6 4>=5", false}, {"f 0 1 0>=5 1>=6 4>=5", true} /* B: 6 > 5 */,
         {"f 0 1 0>=5 1>=7 4>=5", false} /* 6 > 6 */,
         {"f 0 0 0>=6 1<=0 1>=6 4<=1 4>=5", true}, /* 1 + 5 > 5 */
         {"f 0 0 0>=7 1<=0 1>=6 4<=1 4>=5", false} /* 1 + 5 > 6, 2 + 3 > 6 */,
         {"f 0 0 0>=6 1>=6 4<=1 4>=5", false} /* 0 + 5 > 5, 2 + 3 > 5 */,
         {"f 0 0 0>=7 1<=0 1>=6 4<=3 4>=5", true} /* 4 + 3 > 6, behind E alone */,
         {"f 0 0 0>=8 1<=0 1>=6 4<=3 4>=5", false},
         {"f 0 0 0<=0 0>=5 1<=0 1>=7 4<=0 4>=6", true} /* 1 + 8 > 8, and 1 + 5 > 4 */,
         {"f 0 0 0>=5 1<=0 1>=7 4<=0 4>=6", false} /* 0 + 8 > 8 */, {"f 0 0 0>=1", false},
         {"f 0 0", false}, {"f 0 0 0>=2 5<=1 5>=3", true} /* behind Z: 2 > 1 */,
         {"f 0 0 0>=3 5<=1 5>=3", false}, {"f 0 0 0>=2 5<=1 5>=4", false} /* 0 + 3 > 3 */,
         {"f 3 0 0>=2 2>=3", true} /* of the resource: 7 > 6, and 4 > 1 */,
         {"f 3 0 0>=2 1>=3", false}, {"f 3 0 0>=2 1>=2 2>=3", false} /* not all take turns */);
}
END_TEST

/* A comes before B and E. */
START_TEST(edge_finding_turned)
{
  AXIOMS({"b 0 0 0<=1 0>=7 1<=1 1>=8 4<=1 4>=7", true}, /* 9 - 8 < 2, and 9 - 5 < 2 + 3 */
         {"b 0 0 0<=0 0>=7 1<=1 1>=8 4<=1 4>=7", false},
         {"b 0 0 0<=1 0>=7 1<=0 1>=8 4<=1 4>=7", false},
         {"b 0 0 0<=1 0>=7 1<=1 1>=8 4<=0 4>=7", false},
         {"b 0 0 0<=1 0>=8 1<=1 1>=8 4<=1 4>=7", false} /* 10 - 8 < 2 */,
         {"b 0 0 0<=1 0>=7 1<=1 1>=9 4<=1 4>=7", false},
         {"b 0 0 0<=1 0>=7 1<=1 1>=8 4<=1 4>=8", false},
         {"b 1 0 0<=1 0>=7 1<=1 1>=8 4<=1 4>=7", false}, {"b 0 0 1<=1 1>=8 4<=1 4>=7", false},
         {"b 0 0 0<=0 0>=7 1<=1 1>=7 4<=1 4>=7", false} /* 9 - 5 < 4 and 8 - 2 < 4 do not hold */,
         {"b 0 0 0<=0 0>=7 1<=1 1>=5 4<=1 4>=7", false} /* 6 - 2 < 4, 9 - 5 < 4 */,
         {"b 0 0 0<=0 0>=7 1<=1 1>=4 4<=1 4>=7", true} /* 5 - 2 < 4: before B alone */,
         {"b 0 0 0<=1", false}, {"b 3 0 0<=0 0>=5 2<=1 2>=4", true} /* 7 - 7 < 2, 7 - 4 < 4 */,
         {"b 3 0 0>=5 2<=1 2>=4", false});
}
END_TEST

/* ---- memories */

/* Of 10 bytes, whose places are multiples of 4, A takes 4, B 8, E 4, and C a place that others use;
 * what H reads may lie where its output does, and Z takes no time. */
#define PLACES                                                                                 \
  "fsched: 1\nname: g\ntarget:\n"                                                              \
  "  queues: [{name: q, class: c}, {name: r, class: c}]\n"                                     \
  "  memories: [{name: far}, {name: m, capacity: 10, align: 4}]\n"                             \
  "buffers: [{name: w, size: 4, memory: m, io: input}]\n"                                      \
  "ops:\n"                                                                                     \
  "  - {name: A, on: c, time: 3, scratch: {m: 3}}\n"                                           \
  "  - {name: B, on: c, time: 2, scratch: {m: 2}, args: [{out: x, size: 1, memory: m}]}\n"     \
  "  - {name: C, on: c, time: 2, args: [{out: y, size: 4, memory: m}]}\n"                      \
  "  - {name: D, on: c, time: 2, args: [{in: y}, {out: f, size: 9, memory: far}]}\n"           \
  "  - {name: E, on: c, time: 2, args: [{inout: y}, {out: z, size: 4, memory: m}]}\n"          \
  "  - {name: Z, on: c, time: 0, scratch: {m: 8}}\n"                                           \
  "  - {name: H, on: c, time: 2, args: [{in: w}, {out: v, size: 4, memory: m}], inplace: {v: " \
  "w}}\n"

START_TEST(memories)
{
  static const fs_proof_axiom axioms[] = {
      {"t 0 0>=1 1>=1", true}, /* 4 + 8 > 8 */
      {"t 0 0>=1 2>=1", false},       {"t 0 1>=1 2>=1", false},
      {"t 0 1>=1 3>=1", false},       {"t 0 1>=1 4>=1", true}, /* 8 + 4 */
      {"t 0 0>=1 4>=1", false},       {"t 0 1>=1 6>=1", false},
      {"x 0>=2 1>=3", true},          {"x 0>=3 1>=3", false},
      {"x 1>=2 2>=2", false},         {"s 0 0>=2 1>=3", true},
      {"s 0 0>=3 1>=4", false},       {"e 0 0>=1 1>=2 4>=2", true}, /* 12 + 16 + 8 > 8 * 3 */
      {"e 0 0>=2 1>=3 4>=3", true},   {"e 0 0>=3 1>=4 4>=4", false} /* 36 of 40 */,
      {"z 0 5 1>=1 5<=0 5>=2", false} /* what takes no time holds nothing */};
  fs_check_axioms(PLACES, "fsched-proof 1\nops 7\nunit 1\nset memory 1\nbegin\n", END, axioms,
                  sizeof axioms / sizeof *axioms);
}
END_TEST

/* ---- copies */

/* x is read before A and D, and not before E, which waits for D; y is written behind B and C.
 * Copies of x and y take 3 and 2 ticks.  What G reads of w F has written, and t is not given. */
#define SPILLS                                                                        \
  "fsched: 1\nname: g\ntarget:\n"                                                     \
  "  queues: [{name: q}, {name: d, class: copy}]\n"                                   \
  "  resources: [{name: r, capacity: 5}]\n  concurrency: 1\n"                         \
  "  memories:\n    - {name: m, capacity: 64, backing: far, spill: {on: copy, "       \
  "write: {fixed: 2}, read: {fixed: 1, rate: 4}}}\n    - {name: far}\n"               \
  "buffers:\n  - {name: x, size: 7, io: input}\n  - {name: y, size: 4, io: output}\n" \
  "  - {name: w, size: 4, io: input}\n  - {name: t, size: 4}\n"                       \
  "ops:\n"                                                                            \
  "  - {name: A, on: q, time: 3, args: [{in: x}, {out: t}]}\n"                        \
  "  - {name: B, on: q, time: 2, args: [{in: t}, {out: y}]}\n"                        \
  "  - {name: C, on: q, time: 4, args: [{inout: y}]}\n"                               \
  "  - {name: D, on: q, time: 1, args: [{inout: x}]}\n"                               \
  "  - {name: E, on: q, time: 1, args: [{in: x}]}\n"                                  \
  "  - {name: F, on: q, time: 1, args: [{out_existing: w}]}\n"                        \
  "  - {name: G, on: q, time: 1, args: [{in: w}]}\n"
#define COPIES                                                                       \
  "fsched-proof 1\nops 7\nread 0 0\nwrite 1 0\nunit 1\nset queues 0\nset queues 1\n" \
  "set queues 0 1\nset resource 0\nset concurrency\nbegin\n"

START_TEST(copies)
{
  static const fs_proof_axiom axioms[] = {
      {"p 7<=3 0>=7", true}, /* 4 + 3 > 6 */
      {"p 7<=2 0>=7", false},   {"p 7<=3 0>=8", false},
      {"p 7<=3 3>=7", true},    {"p 7<=3 3>=8", false},
      {"p 7<=9 4>=1", false},   {"p 0<=9 7>=1", false},
      {"p 7<=9 8>=1", false},   {"p 1<=3 8>=6", true}, /* 4 + 2 > 5 */
      {"p 1<=2 8>=6", false},   {"p 1<=3 8>=7", false},
      {"p 2<=3 8>=8", true},    {"p 2<=3 8>=9", false},
      {"p 0<=9 8>=1", false},   {"p 8<=9 1>=1", false},
      {"x 7>=2 8>=3", true}, /* one queue copies: 3 > 2, 2 > 1 */
      {"x 7>=3 8>=3", false},   {"x 7>=2 8>=4", false},
      {"x 0>=1 7>=1", false},   {"t 1 7>=1 8>=1", true},
      {"t 1 7>=2 8>=1", true},  {"t 1 7>=3 8>=1", false}, /* from 2 on, and up to 2 */
      {"t 0 7>=1 8>=1", false}, {"t 4 7>=1 8>=1", false},
      {"t 4 7>=1 0>=1", false}, {"t 3 7>=1 8>=1", false},
      {"e 1 7>=2 8>=3", true}, /* 5 > 4 */
      {"e 1 7>=3 8>=3", false}, {"z 1 7 8>=1", false},
      {"p 9>=1", false}};
  fs_check_axioms(SPILLS, COPIES, END, axioms, sizeof axioms / sizeof *axioms);
}
END_TEST

typedef struct proof_copy {
  const char *line;
  fsched_status status;
  uint32_t column;
} proof_copy;

START_TEST(copies_that_are_needed)
{
  static const proof_copy lines[] = {
      {"read 0 0", FSCHED_OK, 0},         {"write 1 0", FSCHED_OK, 0},
      {"read 1 0", FSCHED_WRONG, 5},      {"read 2 0", FSCHED_WRONG, 5},
      {"read 3 0", FSCHED_WRONG, 5},      {"write 0 0", FSCHED_WRONG, 6},
      {"write 2 0", FSCHED_WRONG, 6},     {"write 3 0", FSCHED_WRONG, 6},
      {"read 4 0", FSCHED_WRONG, 6},      {"read 0 1", FSCHED_WRONG, 8},
      {"read 0", FSCHED_BAD_INPUT, 7},    {"read", FSCHED_BAD_INPUT, 5},
      {"read 0 0 ", FSCHED_BAD_INPUT, 9}, {"load 0 0", FSCHED_BAD_INPUT, 1}};
  fsched_graph *g = fs_parse(SPILLS);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    char text[256];
    uint64_t bound;
    int n = snprintf(text, sizeof text,
                     "fsched-proof 1\nops 7\n%s\nunit 1\nbegin\nl 7>=0 :\nl : 1\nend 2\n",
                     lines[i].line);
    fsched_status status = fsched_verify_proof(ctx, g, text, (size_t)n, "p", &bound);
    ck_assert_msg(status == lines[i].status, "%s", lines[i].line);
    if (status != FSCHED_OK) {
      ck_assert_uint_eq(fsched_diag_get(ctx, 0)->line, 3);
      ck_assert_msg(fsched_diag_get(ctx, 0)->column == lines[i].column, "%s: %u", lines[i].line,
                    fsched_diag_get(ctx, 0)->column);
    }
    fsched_diag_clear(ctx);
  }
  fsched_graph_destroy(g);
}
END_TEST

/* ---- whole proofs */

typedef struct whole_proof {
  const char *text;
  fsched_status status;
  uint32_t line, column; /* of the fault */
} whole_proof;

#define TWO                                             \
  "fsched: 1\nname: g\ntarget: {queues: [{name: q}]}\n" \
  "ops: [{name: a, on: q, time: 3}, {name: b, on: q, time: 3}]\n"
#define SETS "fsched-proof 1\nops 2\nunit 3\nset queues 0\n"
#define TOP SETS "begin\n"

static void check_whole(const whole_proof *w, size_t n) {
  fsched_graph *g = fs_parse(TWO);
  for (size_t i = 0; i < n; i++) {
    uint64_t bound = 9;
    fsched_status status =
        fsched_verify_proof(ctx, g, w[i].text, strlen(w[i].text), "two.proof", &bound);
    const fsched_diag *d = fsched_diag_count(ctx) == 0 ? NULL : fsched_diag_get(ctx, 0);
    ck_assert_msg(status == w[i].status, "%u %s of\n%s", status, d == NULL ? "" : d->message,
                  w[i].text);
    ck_assert_uint_eq(bound, status == FSCHED_OK ? w[i].line : 0);
    if (status != FSCHED_OK) {
      ck_assert_str_eq(d->code, status == FSCHED_WRONG ? "verify-proof" : "proof-syntax");
      ck_assert_str_eq(d->file, "two.proof");
      ck_assert_msg(d->line == w[i].line && d->column == w[i].column, "%u:%u %s of\n%s", d->line,
                    d->column, d->message, w[i].text);
    }
    fsched_diag_clear(ctx);
  }
  fsched_graph_destroy(g);
}
#define WHOLE(...)                                    \
  do {                                                \
    static const whole_proof whole[] = {__VA_ARGS__}; \
    check_whole(whole, sizeof whole / sizeof *whole); \
  } while (0)
#define RIGHT FSCHED_OK
#define WRONG FSCHED_WRONG
#define FORM FSCHED_BAD_INPUT

/* Of right ones `line` is the bound. */
START_TEST(steps)
{
  WHOLE({TOP "x 0>=1 1>=1\nl : @1\nend 6\n", RIGHT, 6, 0},
        {TOP "x 0>=1 1>=1\nl : @1\nend 4\n", RIGHT, 4, 0}, /* starts are multiples of 3 */
        {TOP "x 0>=1 1>=1\nl : @1\nend 7\n", WRONG, 7, 5},
        {TOP "x 0>=1 1>=1\nl 0>=1 :@1\nend 6\n", FORM, 7, 9},
        {TOP "x 0>=1 1>=1\nl 0>=1 : @1\nl : 1\nend 6\n", RIGHT, 6, 0},
        {TOP "x 0>=2 1>=2\nl : @1\nend 6\n", RIGHT, 6, 0}, /* no start but 0 */
        {TOP "x 0>=1 1>=2\nl 0>=1 1>=1 : @1\nl : 1\nend 6\n", RIGHT, 6, 0},
        {TOP "l 0>=0 :\nl : 1\nend 3\n", RIGHT, 3, 0}, /* no op fits */
        {TOP "l 0>=0 :\nl : 1\nend 4\n", WRONG, 7, 1},
        {TOP "l 0>=9 0<=8 :\nx 0>=1 1>=1\nl : @1\nend 6\n", RIGHT, 6, 0},
        {TOP "l 0>=1 :\nend 6\n", WRONG, 6, 1});
}
END_TEST

/* Hints are taken in their order, and name what is there. */
START_TEST(hints)
{
  WHOLE({TOP "o 0<1 0>=1 1>=99\nl 0<1 : @1\no 1<0 1>=1 0>=99\nl : 1 @1\nend 6\n", RIGHT, 6, 0},
        {TOP "o 0<1 0>=1 1>=99\nl 0<1 : @1\no 1<0 1>=1 0>=99\nl : @1 1\nend 6\n", RIGHT, 6, 0},
        {TOP "o 0<1 1<=0 0>=1\no 0<1 1>=1 0>=1\nl 0<1 : @1\nend 7\n", WRONG, 8, 9},
        {TOP "o 0<1 0>=1 1>=99\nl 0<1 0>=1 : @1\no 1<0 0>=99 1>=1\nl 1<0 1>=1 : @1\n"
             "l 0<1 1>=1 : 2 1\nend 7\n",
         WRONG, 10, 1}, /* 1<0 holds, and what follows is no clash */
        {TOP "o 0<1 0>=1 1>=99\no 1<0 0>=99 1>=1\nl 0>=1 1>=1 : @1 @2\nend 7\n", WRONG, 9, 1},
        {TOP "o 0<1 0>=1 1>=99\no 1<0 0>=99 1>=1\nl 0>=1 1>=1 : @2 @1\n"
             "l : 1 1\nend 7\n",
         WRONG, 9, 5},
        {TOP "x 0>=1 1>=1\nl 0>=1 1>=1 : @1\nl 0>=1 : 1\nend 7\n", WRONG, 8, 1},
        {TOP "l : 1\nend 7\n", WRONG, 6, 5}, {TOP "l : @1\nend 7\n", WRONG, 6, 5},
        {TOP "x 0>=1 1>=1\nl 0>=1 : @0\nend 7\n", WRONG, 7, 10},
        {TOP "x 0>=1 1>=1\nl 0>=1 1>=1 : @1\nl 0>=1 1>=1 : @1\nend 7\n", WRONG, 8, 15},
        {TOP "x 0>=1 1>=1\nl 0>=1 1>=1 : @1\nd 1\nl 0>=1 1>=1 : 1\nend 7\n", WRONG, 9, 15},
        {TOP "x 0>=1 1>=1\nl 0>=1 1>=1 : @1\nd 1 1\nend 7\n", WRONG, 8, 5},
        {TOP "d 1\nend 7\n", WRONG, 6, 3},
        /* Hints behind the last one that is needed are read, too. */
        {TOP "x 0>=1 1>=1\nl : @1 @1 @1\nend 6\n", RIGHT, 6, 0},
        {TOP "x 0>=1 1>=1\nl : @1 @2\nend 6\n", WRONG, 7, 8});
}
END_TEST

START_TEST(parts)
{
  WHOLE(/* what is before the last "begin" is forgotten, and its lemmas are */
        {TOP "l : 7\nbegin\nx 0>=1 1>=1\nl : @1\nend 6\n", RIGHT, 6, 0},
        {TOP "x 0>=1 1>=1\nl : @1\nbegin\nl : 1\nend 6\n", WRONG, 9, 5},
        {TOP "x 0>=1 1>=1\nl : @1\nbegin\nend 6\n", WRONG, 9, 1},
        {TOP "x 0>=1 1>=1\nbegin\nl : @1\nend 6\n", WRONG, 8, 5},
        {TOP "x 0>=1 1>=1\nl : @1\nx 0>=1 1>=1\nend 6\n", WRONG, 9, 1},
        {TOP "x 0>=1 1>=1\nl : @1\nl 0>=1 : 1\nend 6\n", WRONG, 9, 1}, {TOP "end 1\n", WRONG, 6, 1},
        {SETS "end 6\n", FORM, 5, 1});
}
END_TEST

START_TEST(forms)
{
  WHOLE({"", FORM, 1, 1}, {"end 6", FORM, 1, 6}, {"end 6\n", FORM, 1, 1},
        {"fsched-proof 2\nend 6\n", FORM, 1, 1}, {"fsched-proof 1\nops 3\nend 6\n", WRONG, 2, 5},
        {"fsched-proof 1\nops two\nend 6\n", FORM, 2, 5},
        {"fsched-proof 1\nops 2\nunit 0\nend 6\n", WRONG, 3, 6},
        {"fsched-proof 1\nops 2\nunit 2\nend 6\n", WRONG, 3, 6},
        {"fsched-proof 1\nops 2\nunits 3\nend 6\n", FORM, 3, 5},
        {"fsched-proof 1\nops 2\nunit 3\nset queue 0\nend 6\n", FORM, 4, 5},
        {"fsched-proof 1\nops 2\nunit 3\nset queues\nend 6\n", FORM, 4, 11},
        {"fsched-proof 1\nops 2\nunit 3\nset queues 1\nend 6\n", WRONG, 4, 12},
        {"fsched-proof 1\nops 2\nunit 3\nset queues 0 0\nend 6\n", WRONG, 4, 14},
        {"fsched-proof 1\nops 2\nunit 3\nset resource 0\nend 6\n", WRONG, 4, 14},
        {"fsched-proof 1\nops 2\nunit 3\nset concurrency\nend 6\n", WRONG, 4, 5},
        {"fsched-proof 1\nops 2\nunit 3\nset memory 0\nend 6\n", WRONG, 4, 12},
        {TOP "x 0>=1 1>=1\nl : @1\nend 0\n", WRONG, 8, 5},
        {TOP "x 0>=1 1>=1\nl : @1\nend 6 \n", FORM, 8, 6},
        {TOP "x 0>=1 1>=1\nl : @1\nend 6\n\n", FORM, 9, 1},
        {TOP "x 0>=1 1>=1\nl : @1\nend 9223372036854775808\n", WRONG, 8, 5},
        {TOP "x 0>=1 1>=1\n\nl : @1\nend 6\n", FORM, 7, 1},
        {TOP "x 0>=1  1>=1\nl : @1\nend 6\n", FORM, 6, 8},
        {TOP "x 0>=1 1>=1 \nl : @1\nend 6\n", FORM, 6, 13}, {TOP "x 0=1\nend 6\n", FORM, 6, 4},
        {TOP "x 0>1\nend 6\n", FORM, 6, 5}, {TOP "x 0<=\nend 6\n", FORM, 6, 6},
        {TOP "x 2>=1\nend 6\n", WRONG, 6, 3}, {TOP "x 0>=-1\nend 6\n", FORM, 6, 6},
        {TOP "y 0>=1\nend 6\n", FORM, 6, 1}, {TOP "t 0>=1\nend 6\n", FORM, 6, 4},
        {TOP "t 1 0>=1\nend 6\n", WRONG, 6, 3}, {TOP "f 0\nend 6\n", FORM, 6, 4},
        {TOP "f 0 2\nend 6\n", WRONG, 6, 5}, {TOP "z 0\nend 6\n", FORM, 6, 4},
        {TOP "z 0 2\nend 6\n", WRONG, 6, 5}, {TOP "l 0>=1\nend 6\n", FORM, 6, 7},
        {TOP "l 0>=1 : x\nend 6\n", FORM, 6, 10}, {TOP "d\nend 6\n", FORM, 6, 2},
        {TOP "d x\nend 6\n", FORM, 6, 3}, {TOP "x 0>=1 1>=1\nl : @1\r\nend 6\n", FORM, 7, 7},
        {TOP "x 0>=18446744073709551616\nend 6\n", WRONG, 6, 6},
        {TOP "x 0<=9223372036854775806 1>=9223372036854775806\nl : @1\nend 6\n", WRONG, 7, 1});
}
END_TEST

/* ---- graphs */

static fsched_status verify_text(const char *graph, const char *text, uint64_t *bound) {
  fsched_graph *g = fs_parse(graph);
  fsched_status status = fsched_verify_proof(ctx, g, text, strlen(text), "p", bound);
  fsched_graph_destroy(g);
  return status;
}

START_TEST(graphs_that_are_not_covered)
{
  static const char *const graphs[] = {
      "fsched: 1\nname: g\ntarget: {queues: [{name: q, class: c}, {name: p, class: c}]}\n"
      "ops: [{name: a, on: {class: c, count: 1}, time: 3}, {name: b, on: c, time: 3}]\n",
      "fsched: 1\nname: g\ntarget: {queues: [{name: q}]}\n"
      "ops: [{name: a, on: q, time: 3}, {loop: l, trip: 3, ops: [{name: x, on: q, time: 3}]}]\n"};
  for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
    uint64_t bound;
    ck_assert_int_eq(verify_text(graphs[i], TOP "x 0>=1 1>=1\nl : @1\nend 6\n", &bound),
                     FSCHED_WRONG);
    ck_assert_msg(strstr(fsched_diag_get(ctx, 0)->message, "do not cover") != NULL, "%s",
                  fsched_diag_get(ctx, 0)->message);
    fsched_diag_clear(ctx);
  }
}
END_TEST

/* What else a graph asks for makes no schedule shorter, so the bound holds: the optimum is 6 or
 * more. */
START_TEST(what_is_left_out)
{
  static const char *const graphs[] = {
      "fsched: 1\nname: g\ntarget: {queues: [{name: q}]}\n"
      "ops: [{name: a, on: q, time: 3, start: 0}, {name: b, on: q, time: 3, start: 4}]\n",
      "fsched: 1\nname: g\ntarget: {queues: [{name: q}, {name: p}], wait: 1}\n"
      "ops: [{name: a, on: q, time: 3}, {name: b, on: q, time: 3, after: [a]}]\n",
      "fsched: 1\nname: g\ntarget:\n  queues: [{name: q}, {name: dma}]\n"
      "  memories: [{name: m, capacity: 8, backing: d, spill: {on: dma, write: {fixed: 2}, "
      "read: {fixed: 2}}}, {name: d}]\n"
      "ops:\n  - {name: a, on: q, time: 3, args: [{out: x, size: 8}]}\n"
      "  - {name: b, on: q, time: 3, args: [{out: y, size: 8}]}\n"};
  for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
    uint64_t bound;
    ck_fs(ctx, verify_text(graphs[i], TOP "x 0>=1 1>=1\nl : @1\nend 6\n", &bound));
    ck_assert_uint_eq(bound, 6);
  }
}
END_TEST

/* Without queues of its own a target has no sets of them. */
START_TEST(implicit_queues)
{
  uint64_t bound;
  ck_assert_int_eq(
      verify_text("fsched: 1\nname: g\nops: [{name: a, time: 3}, {name: b, time: 3}]\n",
                  TOP "x 0>=1 1>=1\nl : @1\nend 6\n", &bound),
      FSCHED_WRONG);
  ck_assert_uint_eq(fsched_diag_get(ctx, 0)->line, 4);
}
END_TEST

/* ---- calls */

START_TEST(bad_arguments)
{
  fsched_graph *g = fs_parse(TWO);
  uint64_t bound = 5;
  const char *text = TOP "end 6\n";
  size_t n = strlen(text);
  ck_assert_int_eq(fsched_verify_proof(ctx, NULL, text, n, "p", &bound), FSCHED_USAGE);
  ck_assert_int_eq(fsched_verify_proof(ctx, g, NULL, n, "p", &bound), FSCHED_USAGE);
  ck_assert_int_eq(fsched_verify_proof(ctx, g, text, n, NULL, &bound), FSCHED_USAGE);
  ck_assert_int_eq(fsched_verify_proof(ctx, g, text, n, "p", NULL), FSCHED_USAGE);
  ck_assert_int_eq(fsched_verify_proof(ctx, g, NULL, 0, "p", &bound), FSCHED_BAD_INPUT);
  ck_assert_uint_eq(fsched_diag_count(ctx), 5);
  fsched_graph_destroy(g);
}
END_TEST

/* A text is read up to its length, whatever is behind. */
START_TEST(length)
{
  fsched_graph *g = fs_parse(TWO);
  const char *text = TOP "x 0>=1 1>=1\nl : @1\nend 6\nand more";
  uint64_t bound;
  ck_fs(ctx, fsched_verify_proof(ctx, g, text, strlen(text) - strlen("and more"), "p", &bound));
  ck_assert_uint_eq(bound, 6);
  fsched_graph_destroy(g);
}
END_TEST

/* The n-th allocation fails, for each n. */
START_TEST(out_of_memory)
{
  fsched_graph *g = fs_parse(GRAPH), *spills = fs_parse(SPILLS);
  static const char *const texts[] = {
      HEAD "x 0>=2 1>=3\nf 0 0 0>=5 1>=6 4>=5\nt 3 0>=3 2>=3\no 0<1 1<=4 0>=7\nl :\n" END,
      HEAD "t 3 0>=3 2>=3\nl 0>=3 2>=3 : @1\nd 1\nl 0>=99 0<=98 :\nl 0<1 1<0 :\nl\n" END,
      COPIES "p 7<=3 0>=7\nx 7>=2 8>=3\nl :\n" END};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    bool ended = false;
    for (long n = 0; !ended; n++) {
      fs_budget budget = {.left = n};
      fsched_context_options o = {
          .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
      fsched_context *own = NULL;
      uint64_t bound;
      if (fsched_context_create(&o, &own) == FSCHED_OK) {
        fsched_status status =
            fsched_verify_proof(own, i == 2 ? spills : g, texts[i], strlen(texts[i]), "p", &bound);
        ended = status != FSCHED_SYSTEM;
        ck_assert_int_eq(status,
                         ended ? (i != 1 ? FSCHED_WRONG : FSCHED_BAD_INPUT) : FSCHED_SYSTEM);
        fsched_context_destroy(own);
      }
      ck_assert_int_eq(budget.blocks, 0);
      ck_assert_int_lt(n, 200);
    }
  }
  fsched_graph_destroy(spills);
  fsched_graph_destroy(g);
}
END_TEST

/* Memory is that of the lemmas that are kept: many that come and go need no more than few,
 * and one that stays moves. */
START_TEST(deleted_lemmas)
{
  enum { MANY = 20000 };
  fsched_graph *g = fs_parse(TWO);
  fs_text t;
  fs_text_init(&t, ctx);
  fs_text_puts(&t, TOP "l 0>=9 0<=8 :\nd 1\nx 0>=1 1>=1\nl 0>=1 1>=1 : @1\n");
  for (unsigned i = 3; i <= MANY; i++) {
    fs_text_puts(&t, "l 0>=9");
    for (unsigned k = 0; k < 20; k++) {
      fs_text_puts(&t, " 0<=8");
    }
    fs_text_printf(&t, " :\nd %u\n", i);
  }
  fs_text_puts(&t, "l : 2\nend 6\n");
  ck_assert(!t.failed);
  fs_budget budget = {.left = LONG_MAX};
  fsched_context_options o = {
      .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
  fsched_context *own;
  uint64_t bound;
  ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
  ck_fs(own, fsched_verify_proof(own, g, t.at, t.n, "p", &bound));
  ck_assert_int_lt(budget.peak, MANY * 20); /* not a byte for each literal */
  fsched_context_destroy(own);
  fs_text_drop(&t);
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(verify_proof, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, precedence, order, exclusion, only_by_sets, time_table, moments, turns, energy,
           energy_of_large_numbers, edge_finding, edge_finding_turned);
  FS_TESTS(t, memories, copies, copies_that_are_needed);
  FS_TESTS(t, steps, hints, parts, forms);
  FS_TESTS(t, graphs_that_are_not_covered, what_is_left_out, implicit_queues);
  FS_TESTS(t, bad_arguments, length, out_of_memory, deleted_lemmas);
}
