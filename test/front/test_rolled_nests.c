/* SPDX-License-Identifier: Apache-2.0 */
/* Loops in loops that stay loops: what the graph tells of them.  A loop is told as text:
 *
 *   NAME: op O of WITHIN, TRIP in RUNS runs
 *   OP: TAG BUFFER[OFFSET,LENGTH) STEP ring R back B own A; ...; after OP-DISTANCE
 *   ring BUFFER: SIZE in slots of SLOT, DEPTH from OP own A entry
 *
 * where what is not there is left out. */
#include <stdio.h>
#include <string.h>

#include "fsched/graph.h"
#include "kit/status.h"
#include "model/graph.h"
#include "model/loop_report.h"

#include "kit/context.h"

/* A queue for copies, and two others. */
#define HEAD                                                                         \
  "fsched: 1\n"                                                                      \
  "target: {queues: [{name: dma, class: copy}, {name: mac}, {name: vec}]}\n"         \
  "buffers: [{name: A, size: 4096, io: input}, {name: C, size: 1024, io: output},\n" \
  "          {name: a, size: 256}, {name: acc, size: 256}, {name: s, size: 64}]\n"   \
  "ops:\n"

static fsched_graph *parse(const char *text) {
  fsched_graph *g;
  ck_fs(ctx, fsched_graph_parse(ctx, "nest.yaml", text, strlen(text), NULL, &g));
  return g;
}

static const fs_rolled *find_loop(const fsched_graph *g, const char *name) {
  uint32_t l = 0;
  while (l < g->n_rolled && strcmp(g->rolled[l].report->name, name) != 0) {
    l++;
  }
  ck_assert_msg(l < g->n_rolled, "no loop %s", name);
  return &g->rolled[l];
}

static void tell_arg(const fsched_graph *g, const fs_body_arg *a, fs_text *t) {
  fs_text_printf(t, " %s", fs_words_tag[a->tag]);
  if (a->buffer == FS_NONE) {
    fs_text_printf(t, " %d", (int)a->value);
    return;
  }
  fs_text_printf(t, " %s[%u,%u)", g->buffer_name[a->buffer], (unsigned)a->offset,
                 (unsigned)a->length);
  if (a->step != 0) {
    fs_text_printf(t, " %+d", (int)a->step);
  }
  if (a->ring != FS_NONE) {
    fs_text_printf(t, " ring %u", a->ring);
  }
  if (a->back != 0) {
    fs_text_printf(t, " back %u", a->back);
  }
  fs_text_printf(t, " own %u", a->own);
}

static void tell_op(const fsched_graph *g, const fs_rolled *x, const fs_body_op *op, fs_text *t) {
  fs_text_printf(t, "%s:", op->name);
  for (uint32_t i = 0; i < op->n_args; i++) {
    fs_text_puts(t, i == 0 ? "" : ";");
    tell_arg(g, &x->arg[op->arg0 + i], t);
  }
  for (uint32_t i = 0; i < op->n_afters; i++) {
    const fs_body_after *a = &x->after[op->after0 + i];
    fs_text_printf(t, "; after %s-%u", x->body[a->op].name, a->distance);
  }
  fs_text_puts(t, "\n");
}

static void tell_ring(const fsched_graph *g, const fs_rolled *x, uint32_t ring, fs_text *t) {
  const fs_body_slots *s = &x->slots[ring];
  const fs_rolled_ring *r = &x->loop.ring[ring];
  fs_text_printf(t, "ring %s: %u in slots of %u, %u from %s own %u%s\n", g->buffer_name[s->buffer],
                 (unsigned)s->size, (unsigned)s->slot, r->depth, x->body[r->writer].name, s->own,
                 s->entry ? " entry" : "");
}

static void tell(const fsched_graph *g, const fs_rolled *x, fs_text *t) {
  fs_text_printf(t, "%s: op %u of %s, %u in %u runs\n", x->report->name, x->op,
                 x->within == FS_NONE ? "the graph" : g->rolled[x->within].report->name,
                 (unsigned)x->trip, (unsigned)x->report->runs);
  for (uint32_t m = 0; m < x->n_ops; m++) {
    tell_op(g, x, &x->body[m], t);
  }
  for (uint32_t r = 0; r < x->loop.n_rings; r++) {
    tell_ring(g, x, r, t);
  }
}

/* What the graph of a text tells of a loop is `want`. */
static void must_tell(const char *text, const char *loop, const char *want) {
  fsched_graph *g = parse(text);
  fs_text t;
  fs_text_init(&t, ctx);
  tell(g, find_loop(g, loop), &t);
  fs_text_add(&t, "", 1);
  ck_assert(!t.failed);
  ck_assert_str_eq(t.at, want);
  fs_text_drop(&t);
  fsched_graph_destroy(g);
}

/* ---- what is told */

#define TILES                                                                             \
  HEAD "- loop: tiles\n"                                                                  \
       "  trip: 4\n"                                                                      \
       "  ops:\n"                                                                         \
       "  - {name: zero, on: vec, time: 2, args: [{out: acc}]}\n"                         \
       "  - loop: k\n"                                                                    \
       "    trip: 3\n"                                                                    \
       "    buffers: {a: {depth: 2}}\n"                                                   \
       "    ops:\n"                                                                       \
       "    - {name: load, on: dma, time: 3, args: [{in: A, at: {offset: 0, length: 256," \
       " step: [1024, 256]}}, {out: a}]}\n"                                               \
       "    - {name: mul, on: mac, time: 5, args: [{in: a}, {inout: acc}, {value: 7}]}\n" \
       "  - {name: store, on: dma, time: 4, args: [{in: acc}, {out_existing: C, at:"      \
       " {offset: 0, length: 256, step: [256]}}]}\n"

/* Accesses of A that move unlike each other, and a value that is handed from run to run. */
#define UNLIKE                                                                                 \
  HEAD "- {name: first, on: vec, args: [{out: s}]}\n"                                          \
       "- loop: outer\n"                                                                       \
       "  trip: 4\n"                                                                           \
       "  ops:\n"                                                                              \
       "  - loop: k\n"                                                                         \
       "    trip: 4\n"                                                                         \
       "    ops:\n"                                                                            \
       "    - {name: load, on: dma, args: [{in: A, at: {offset: 1024, length: 16, step: [64, " \
       "16]}},"                                                                                \
       " {in: A, at: {offset: 512, length: 16, step: [64, -16]}},"                             \
       " {in: A, at: {offset: 512, length: 16, step: [0, -16]}}, {out: a}]}\n"                 \
       "    - {name: add, on: mac, args: [{in: a}, {in: s, distance: 1}, {out: s}]}\n"         \
       "- {name: last, on: vec, args: [{in: s}, {out_existing: C}]}\n"

#define ORDERS                                                                                   \
  HEAD "- loop: outer\n"                                                                         \
       "  trip: 4\n"                                                                             \
       "  ops:\n"                                                                                \
       "  - {name: x, on: vec}\n"                                                                \
       "  - loop: in\n"                                                                          \
       "    trip: 3\n"                                                                           \
       "    ops:\n"                                                                              \
       "    - {name: y, on: dma, after: [{op: x, distance: 2}]}\n"                               \
       "    - {name: z, on: mac, after: [{op: y, distance: 3}, {op: v, distance: 1}]}\n"         \
       "  - loop: beside\n"                                                                      \
       "    trip: 2\n"                                                                           \
       "    ops: [{name: u, on: vec, after: [z]}]\n"                                             \
       "  - {name: v, on: dma, after: [y]}\n"                                                    \
       "  - {name: w, on: vec, after: [{loop: in, distance: 1}, {loop: beside, distance: 0}]}\n" \
       "- {name: f, on: mac, after: [z]}\n"                                                      \
       "- {name: g, on: mac, after: [outer]}\n"                                                  \
       "- {name: h, on: mac, args: [{out: C}]}\n"

/* One of the loops in the loop has no iterations, another one has one. */
#define FEW                                                                                 \
  HEAD "- loop: outer\n"                                                                    \
       "  trip: 1\n"                                                                        \
       "  buffers: {acc: {depth: 3}}\n"                                                     \
       "  ops:\n"                                                                           \
       "  - {name: zero, on: vec, args: [{out: acc}]}\n"                                    \
       "  - loop: none\n"                                                                   \
       "    trip: 0\n"                                                                      \
       "    ops: [{name: y, on: dma, args: [{inout: acc}]}]\n"                              \
       "  - loop: one\n"                                                                    \
       "    trip: 1\n"                                                                      \
       "    buffers: {a: {depth: 4}}\n"                                                     \
       "    ops:\n"                                                                         \
       "    - {name: load, on: dma, args: [{in: A, at: {offset: 0, length: 256, step: [0, " \
       "256]}}, {out: a}]}\n"                                                               \
       "    - {name: add, on: mac, args: [{in: a}, {inout: acc}], after: [y]}\n"            \
       "- loop: never\n"                                                                    \
       "  trip: 0\n"                                                                        \
       "  ops: [{loop: in, trip: 3, ops: [{name: n, on: dma}]}]\n"                          \
       "- {name: store, on: dma, args: [{in: acc}, {out_existing: C}]}\n"

/* Two loops in a loop that begin one buffer, one behind the other. */
#define SIBLINGS                                                                                   \
  HEAD "- loop: outer\n"                                                                           \
       "  trip: 4\n"                                                                               \
       "  ops:\n"                                                                                  \
       "  - loop: up\n"                                                                            \
       "    trip: 3\n"                                                                             \
       "    ops:\n"                                                                                \
       "    - {name: load, on: dma, args: [{in: A, at: {offset: 0, length: 256, step: [0, "        \
       "256]}}, {out: a}]}\n"                                                                      \
       "    - {name: put, on: mac, args: [{in: a}, {out_existing: C, at: {offset: 0, length: 64, " \
       "step: [256, 64]}}]}\n"                                                                     \
       "  - loop: down\n"                                                                          \
       "    trip: 2\n"                                                                             \
       "    ops:\n"                                                                                \
       "    - {name: make, on: vec, args: [{out: a}]}\n"                                           \
       "    - {name: use, on: mac, args: [{in: a}, {out_existing: C, at: {offset: 960, length: "   \
       "64, step: [-256, -64]}}]}\n"

#define THREE                                                                                   \
  HEAD "- loop: l1\n"                                                                           \
       "  trip: 2\n"                                                                            \
       "  ops:\n"                                                                               \
       "  - loop: l2\n"                                                                         \
       "    trip: 3\n"                                                                          \
       "    ops:\n"                                                                             \
       "    - {name: zero, on: vec, args: [{out: acc}]}\n"                                      \
       "    - loop: l3\n"                                                                       \
       "      trip: 4\n"                                                                        \
       "      buffers: {a: {depth: 3}}\n"                                                       \
       "      ops:\n"                                                                           \
       "      - {name: load, on: dma, args: [{in: A, at: {offset: 0, length: 64, step: [2048, " \
       "512, 64]}}, {out: a}]}\n"                                                               \
       "      - {name: add, on: mac, args: [{in: a}, {inout: acc, at: {offset: 0, length: 64, " \
       "step: [0, 0, 64]}}]}\n"                                                                 \
       "    - {name: store, on: dma, args: [{in: acc}, {out_existing: C}]}\n"

static const struct {
  const char *text, *loop, *want;
} told[] = {
    {TILES, "k",
     "k: op 1 of tiles, 3 in 4 runs\n"
     "load: in A[0,256) +256 own 0; out a[0,256) ring 0 own 1\n"
     "mul: in a[0,256) ring 0 own 1; inout acc[0,256) own 3; value 7\n"
     "ring a: 256 in slots of 256, 2 from load own 1\n"},
    {TILES, "tiles",
     "tiles: op 0 of the graph, 4 in 1 runs\n"
     "zero: out acc[0,256) ring 0 own 0\n"
     "k: in A[0,768) +1024 own 1; out a[0,512) ring 1 own 2; in acc[0,256) ring 0 own 0; "
     "out_existing acc[0,256) ring 0 own 0\n"
     "store: in acc[0,256) ring 0 own 0; out_existing C[0,256) +256 own 3\n"
     "ring acc: 256 in slots of 256, 2 from zero own 0\n"
     "ring a: 512 in slots of 512, 1 from k own 2\n"},
    {UNLIKE, "k",
     "k: op 0 of outer, 4 in 4 runs\n"
     "load: in A[1024,16) +16 own 0; in A[512,16) -16 own 0; in A[512,16) -16 own 1; out a[0,256) "
     "ring 0 own 2\n"
     "add: in a[0,256) ring 0 own 2; in s[0,64) ring 1 back 1 own 4; out s[0,64) ring 1 own 4\n"
     "ring a: 256 in slots of 256, 2 from load own 2\n"
     "ring s: 64 in slots of 64, 2 from add own 4 entry\n"},
    {UNLIKE, "outer",
     "outer: op 1 of the graph, 4 in 1 runs\n"
     "k: in A[464,624) +64 own 0; in A[464,64) own 0; out a[0,512) ring 0 own 1; in s[64,64) own "
     "3; out_existing s[0,128) own 3\n"
     "ring a: 512 in slots of 512, 1 from k own 1\n"},
    {ORDERS, "in",
     "in: op 1 of outer, 3 in 4 runs\n"
     "y:\n"
     "z:; after y-3\n"},
    {ORDERS, "beside",
     "beside: op 2 of outer, 2 in 4 runs\n"
     "u:\n"},
    {ORDERS, "outer",
     "outer: op 0 of the graph, 4 in 1 runs\n"
     "x:\n"
     "in:; after x-2; after v-1\n"
     "beside:; after in-0\n"
     "v:; after in-0\n"
     "w:; after in-1; after beside-0\n"},
    {FEW, "one",
     "one: op 1 of outer, 1 in 1 runs\n"
     "load: in A[0,256) +256 own 0; out a[0,256) ring 0 own 1\n"
     "add: in a[0,256) ring 0 own 1; inout acc[0,256) own 3\n"
     "ring a: 256 in slots of 256, 1 from load own 1\n"},
    {FEW, "outer",
     "outer: op 0 of the graph, 1 in 1 runs\n"
     "zero: out acc[0,256) ring 0 own 0\n"
     "one: in A[0,256) own 1; out a[0,256) ring 1 own 2; in acc[0,256) ring 0 own 0; out_existing "
     "acc[0,256) ring 0 own 0\n"
     "ring acc: 256 in slots of 256, 1 from zero own 0\n"
     "ring a: 256 in slots of 256, 1 from one own 2\n"},
    {SIBLINGS, "up",
     "up: op 0 of outer, 3 in 4 runs\n"
     "load: in A[0,256) +256 own 0; out a[0,256) ring 0 own 1\n"
     "put: in a[0,256) ring 0 own 1; out_existing C[0,64) +64 own 2\n"
     "ring a: 256 in slots of 256, 2 from load own 1\n"},
    {SIBLINGS, "down",
     "down: op 1 of outer, 2 in 4 runs\n"
     "make: out a[0,256) ring 0 own 0\n"
     "use: in a[0,256) ring 0 own 0; out_existing C[960,64) -64 own 1\n"
     "ring a: 256 in slots of 256, 2 from make own 0\n"},
    {SIBLINGS, "outer",
     "outer: op 0 of the graph, 4 in 1 runs\n"
     "up: in A[0,768) own 0; out a[0,512) ring 0 own 1; out_existing C[0,192) +256 own 2\n"
     "down: out_existing a[0,512) ring 0 own 1; out_existing C[896,128) -256 own 2\n"
     "ring a: 512 in slots of 512, 1 from up own 1\n"},
    {THREE, "l3",
     "l3: op 1 of l2, 4 in 6 runs\n"
     "load: in A[0,64) +64 own 0; out a[0,256) ring 0 own 1\n"
     "add: in a[0,256) ring 0 own 1; inout acc[0,64) +64 own 3\n"
     "ring a: 256 in slots of 256, 3 from load own 1\n"},
    {THREE, "l2",
     "l2: op 0 of l1, 3 in 2 runs\n"
     "zero: out acc[0,256) ring 0 own 0\n"
     "l3: in A[0,256) +512 own 1; out a[0,768) ring 1 own 2; in acc[0,256) ring 0 own 0; "
     "out_existing acc[0,256) ring 0 own 0\n"
     "store: in acc[0,256) ring 0 own 0; out_existing C[0,1024) own 3\n"
     "ring acc: 256 in slots of 256, 2 from zero own 0\n"
     "ring a: 768 in slots of 768, 1 from l3 own 2\n"},
    {THREE, "l1",
     "l1: op 0 of the graph, 2 in 1 runs\n"
     "l2: out acc[0,512) ring 0 own 0; in A[0,1280) +2048 own 1; out a[0,768) ring 1 own 2; "
     "out_existing C[0,1024) own 3\n"
     "ring acc: 512 in slots of 512, 1 from l2 own 0\n"
     "ring a: 768 in slots of 768, 1 from l2 own 2\n"},
};

START_TEST(is_told)
{ must_tell(told[_i].text, told[_i].loop, told[_i].want); }
END_TEST

/* ---- what there is */

static uint32_t find_op(const fsched_graph *g, const char *name) {
  uint32_t op = 0;
  while (op < g->n_ops && strcmp(g->op_name[op], name) != 0) {
    op++;
  }
  ck_assert_msg(op < g->n_ops, "no op %s", name);
  return op;
}

static bool has_edge(const fsched_graph *g, const char *from, const char *to) {
  uint32_t op = find_op(g, to), e = g->pred0[op];
  while (e < g->pred0[op + 1] && g->pred[e] != find_op(g, from)) {
    e++;
  }
  return e < g->pred0[op + 1];
}

/* From behind, ops in loops and loops are what the outermost one is. */
START_TEST(orders_behind)
{
  fsched_graph *g = parse(ORDERS);
  ck_assert_uint_eq(g->n_ops, 4);
  ck_assert(has_edge(g, "outer", "f"));
  ck_assert(has_edge(g, "outer", "g"));
  ck_assert(!has_edge(g, "outer", "h"));
  fsched_graph_destroy(g);
}
END_TEST

/* Loops without iterations are nothing, at either level. */
START_TEST(nothing_is_left)
{
  fsched_graph *g = parse(FEW);
  ck_assert_uint_eq(g->n_ops, 2);
  ck_assert_uint_eq(g->n_rolled, 2);
  fsched_graph_destroy(g);
}
END_TEST

/* Outer loops come first; an op that is a loop names it, and that names the op. */
START_TEST(loops_and_ops)
{
  static const char *const text[] = {TILES, UNLIKE, ORDERS, FEW, SIBLINGS, THREE};
  for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
    fsched_graph *g = parse(text[i]);
    uint32_t inner = 0;
    for (uint32_t l = 0; l < g->n_rolled; l++) {
      const fs_rolled *x = &g->rolled[l];
      inner += x->within != FS_NONE;
      if (x->within != FS_NONE) {
        ck_assert_uint_lt(x->within, l);
        ck_assert_uint_eq(g->rolled[x->within].body[x->op].loop, l);
        ck_assert_uint_eq(g->rolled[x->within].body[x->op].time, x->report->span);
      }
    }
    for (uint32_t l = 0; l < g->n_rolled; l++) {
      for (uint32_t m = 0; m < g->rolled[l].n_ops; m++) {
        inner -= g->rolled[l].body[m].loop != FS_NONE;
      }
    }
    ck_assert_uint_eq(inner, 0);
    fsched_graph_destroy(g);
  }
}
END_TEST

/* A loop in a loop has a command on each of its queues, and waits for it name the first. */
START_TEST(gangs)
{
  fsched_graph *g = parse(ORDERS);
  const fs_rolled *x = find_loop(g, "outer"), *k = find_loop(g, "in");
  uint32_t first = FS_NONE, n = 0, waits = 0;
  for (uint32_t c = 0; c < x->loop.n_commands; c++) {
    first = first == FS_NONE && x->loop.command[c].member == k->op ? c : first;
    n += x->loop.command[c].member == k->op;
  }
  ck_assert_uint_eq(k->loop.n_queues, 2);
  ck_assert_uint_eq(n, 2);
  for (uint32_t w = 0; w < x->loop.n_waits; w++) {
    uint32_t target = x->loop.wait[w].command;
    ck_assert(x->loop.command[target].member != k->op || target == first);
    waits += target == first;
  }
  ck_assert_uint_gt(waits, 0);
  fsched_graph_destroy(g);
}
END_TEST

enum { DEEP = 8 };

static void put_deep(fs_text *t, int n) {
  fs_text_puts(t, HEAD);
  for (int d = 0; d < n; d++) {
    fs_text_printf(t, "%*s- loop: l%d\n%*s  trip: 2\n%*s  ops:\n", 2 * d, "", d, 2 * d, "", 2 * d,
                   "");
  }
  fs_text_printf(t, "%*s- {name: o, args: [{out_existing: C, at: {offset: 0, length: 2, step: [",
                 2 * n, "");
  for (int d = 0; d < n; d++) {
    fs_text_printf(t, "%s%d", d == 0 ? "" : ", ", 1 << (n - d));
  }
  fs_text_puts(t, "]}}]}\n");
}

/* Each level has its own step, and touches what those within touch in one of its iterations. */
START_TEST(eight_levels)
{
  fs_text t;
  fs_text_init(&t, ctx);
  put_deep(&t, DEEP);
  fs_text_add(&t, "", 1);
  fsched_graph *g = parse(t.at);
  ck_assert_uint_eq(g->n_rolled, DEEP);
  for (uint32_t l = 0; l < DEEP; l++) {
    const fs_rolled *x = &g->rolled[l];
    ck_assert_uint_eq(x->within, l == 0 ? FS_NONE : l - 1);
    ck_assert_uint_eq(x->report->runs, 1u << l);
    ck_assert_uint_eq(x->n_args, 1);
    ck_assert_int_eq(x->arg[0].step, 1 << (DEEP - l));
    ck_assert_uint_eq(x->arg[0].offset, 0);
    ck_assert_uint_eq(x->arg[0].length, 1u << (DEEP - l));
  }
  fs_text_drop(&t);
  fsched_graph_destroy(g);
}
END_TEST

/* More slots than iterations, which then take turns with none and give none back; and a million. */
static const struct {
  const char *buffers;
  uint32_t depth;
} many_slots[] = {
    {"{depth: 20000000, every: 10000000}", 10000000},
    {"{every: 10000000}", 10000000},
    {"{depth: 20000000}", 10000000},
    {"{depth: 1000000}", 1000000},
};

START_TEST(has_many_slots)
{
  static const char text[] = HEAD
      "- loop: long\n  trip: 10000000\n  buffers: {s: %s}\n"
      "  ops: [{name: o, args: [{out: s}]}, {name: q, args: [{in: s}, {out_existing: C}]}]\n";
  char buffer[sizeof text + 64];
  fsched_graph *g;
  int n = snprintf(buffer, sizeof buffer, text, many_slots[_i].buffers);
  ck_assert_int_lt(n, (int)sizeof buffer);
  ck_fs(ctx, fsched_graph_parse(ctx, "slots.yaml", buffer, (size_t)n, NULL, &g));
  ck_assert_uint_eq(g->n_rolled, 1);
  ck_assert_uint_eq(g->rolled[0].loop.ring[0].depth, many_slots[_i].depth);
  fsched_graph_destroy(g);
}
END_TEST

/* --- slots for all runs --- */

static const struct {
  const char *sync, *capacity, *depth;
  unsigned outer, inner, load, slots;
  bool joined;
} for_all_runs[] = {
    {"timeline", "4096", "5", 10, 2, 3, 5, true},
    {"timeline", "4096", "50", 10, 2, 3, 20, true},
    {"timeline", "4096", "50", 2, 3, 3, 6, true},
    {"timeline", "4096", "50", 1, 2, 3, 2, false},  /* there is one run */
    {"timeline", "4096", "50", 10, 1, 3, 1, false}, /* its parts have no moment in common */
    {"timeline", "4096", "3", 10, 8, 3, 3, true},
    {"timeline", "256", "50", 10, 2, 3, 2, true}, /* more have no room: as of one run */
    {"block", "4096", "50", 10, 2, 3, 2, false},
    {"barrier", "4096", "50", 10, 2, 3, 20, true},
    {"timeline", "4096", "auto", 10, 2, 3, 2, true}, /* more make nothing quicker */
};

START_TEST(has_slots_for_all_runs)
{
  static const char text[] =
      "fsched: 1\n"
      "target: {queues: [{name: dma}, {name: mac}], memories: [{name: ddr}, {name: m, "
      "capacity: %s}], sync: %s%s}\n"
      "buffers: [{name: x, size: 4096, io: input, memory: ddr},\n"
      "  {name: z, size: 8, io: output, memory: ddr}, {name: r, size: 64, memory: m}]\n"
      "ops:\n"
      "- loop: outer\n  trip: %u\n  ops:\n"
      "  - loop: inner\n    trip: %u\n    buffers: {r: {depth: %s}}\n    ops:\n"
      "    - {name: load, on: dma, time: %u, args: [{in: x, at: {length: 64, step: [64, 64]}}, "
      "{out: "
      "r}]}\n"
      "    - {name: use, on: mac, time: 3, args: [{in: r}, {out_existing: z}]}\n"
      "- {name: last, on: mac, args: [{out: z}]}\n";
  char buffer[sizeof text + 64];
  bool barriers = strcmp(for_all_runs[_i].sync, "barrier") == 0;
  int n = snprintf(buffer, sizeof buffer, text, for_all_runs[_i].capacity, for_all_runs[_i].sync,
                   barriers ? ", barriers: {count: 64}" : "", for_all_runs[_i].outer,
                   for_all_runs[_i].inner, for_all_runs[_i].depth, for_all_runs[_i].load);
  ck_assert_int_lt(n, (int)sizeof buffer);
  fsched_graph *g = parse(buffer);
  const fs_rolled *inner = find_loop(g, "inner");
  ck_assert_uint_eq(inner->loop.ring[0].depth, for_all_runs[_i].slots);
  ck_assert_uint_eq(inner->report->slots[0].depth, for_all_runs[_i].slots);
  ck_assert_int_eq(inner->joined, for_all_runs[_i].joined);
  fsched_graph_destroy(g);
}
END_TEST

/* Groups of slots in the outer body make copies of it, which parts can't have. */
START_TEST(groups_beside_a_loop)
{
  fsched_graph *g =
      parse(HEAD
            "- loop: outer\n  trip: 6\n  buffers: {acc: {depth: 4, every: 2}}\n  ops:\n"
            "  - {name: o, on: vec, time: 5, args: [{out: acc}]}\n"
            "  - loop: inner\n    trip: 4\n    buffers: {a: {depth: 2}}\n    ops:\n"
            "    - {name: load, on: dma, time: 4, args: [{in: A, at: {length: 256}}, {out: a}]}\n"
            "    - {name: use, on: mac, time: 4, args: [{in: a}, {out_existing: C}]}\n"
            "  - {name: p, on: vec, time: 5, args: [{in: acc}]}\n"
            "- {name: last, on: vec, args: [{out: C}]}\n");
  ck_assert_uint_eq(find_loop(g, "outer")->loop.copies, 2);
  ck_assert(!find_loop(g, "inner")->joined);
  fsched_graph_destroy(g);
}
END_TEST

/* Plans hold the parts of a run together, also where loads are over late: that is not a bound, nor
 * proven. */
START_TEST(slow_parts_are_no_bound)
{
  fsched_graph *g = parse(
      HEAD
      "- loop: outer\n  trip: 20\n  ops:\n"
      "  - loop: inner\n    trip: 3\n    ops:\n"
      "    - {name: load, on: dma, time: 1, latency: 20, args: [{in: A, at: {length: 256}}, {out: "
      "a}]}\n"
      "    - {name: use, on: mac, time: 3, args: [{in: a}, {out_existing: C}]}\n"
      "- {name: last, on: vec, args: [{out: C}]}\n");
  const fs_loop_report *r = find_loop(g, "outer")->report;
  ck_assert(find_loop(g, "inner")->joined);
  ck_assert_uint_eq(r->bound.num, 9 * r->bound.den); /* what the uses take */
  ck_assert_uint_gt(r->ii.num, r->bound.num);
  ck_assert(!r->proven);
  fsched_graph_destroy(g);
}
END_TEST

/* A queue that only issues loads keeps no time for a run.  Plans give such a part a tick, and two
 * of them two: that is not a bound, nor proven. */
START_TEST(parts_may_keep_no_time)
{
  fsched_graph *g =
      parse(HEAD
            "- {name: first, on: mac, args: [{out: to_mac, size: 8}, {out: to_vec, size: 8}]}\n"
            "- loop: outer\n  trip: 50\n  ops:\n"
            "  - loop: on_mac\n    trip: 1\n    ops:\n"
            "    - {name: l0, on: dma, time: 0, latency: 1, args: [{in: A}, {out: r0, size: 64}]}\n"
            "    - {name: l1, on: dma, time: 0, latency: 2, args: [{in: A}, {out: r1, size: 64}]}\n"
            "    - {name: u0, on: mac, time: 1, args: [{in: r0}, {inout: to_mac}]}\n"
            "    - {name: u1, on: mac, time: 0, args: [{in: r1}, {inout: to_mac}]}\n"
            "  - loop: on_vec\n    trip: 1\n    ops:\n"
            "    - {name: l2, on: dma, time: 0, latency: 1, args: [{in: A}, {out: r2, size: 64}]}\n"
            "    - {name: l3, on: dma, time: 0, latency: 2, args: [{in: A}, {out: r3, size: 64}]}\n"
            "    - {name: u2, on: vec, time: 1, args: [{in: r2}, {inout: to_vec}]}\n"
            "    - {name: u3, on: vec, time: 0, args: [{in: r3}, {inout: to_vec}]}\n"
            "- {name: last, on: vec, args: [{in: to_mac}, {in: to_vec}, {out: C}]}\n");
  const fs_rolled *outer = find_loop(g, "outer");
  ck_assert(find_loop(g, "on_mac")->joined && find_loop(g, "on_vec")->joined);
  ck_assert_uint_eq(outer->loop.command[0].keeps, 0); /* dma comes first */
  ck_assert_uint_eq(outer->report->bound.num, outer->report->bound.den);
  ck_assert(!outer->report->proven);
  fsched_graph_destroy(g);
}
END_TEST

FS_SUITE(rolled_nests, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, (int)(sizeof told / sizeof told[0]), is_told);
  FS_TESTS(t, orders_behind, nothing_is_left, loops_and_ops, gangs, eight_levels,
           groups_beside_a_loop, slow_parts_are_no_bound, parts_may_keep_no_time);
  FS_LOOPS(t, 0, sizeof many_slots / sizeof many_slots[0], has_many_slots);
  FS_LOOPS(t, 0, sizeof for_all_runs / sizeof for_all_runs[0], has_slots_for_all_runs);
}
