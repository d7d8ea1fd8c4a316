/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of random loops: the edges and values that their texts mean, found again in the graphs of
 * their ops. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/gen.h"
#include "model/loop_body.h"

#include "kit/context.h"

enum { OPS = 6, MOST_EDGES = 200, FAR = 3, TRIP = 12, BODIES = 40 };

typedef struct body_text {
  fs_rng rng;
  int n, runs;
  fs_body_edge read[MOST_EDGES], edge[MOST_EDGES]; /* reads: from writer to reader */
  uint32_t n_reads, n_edges;
  int depth[OPS];
} body_text;

static int below(body_text *b, int n) { return (int)fs_rng_below(&b->rng, (uint32_t)n); }

static void add(fs_body_edge *list, uint32_t *n, int from, int to, int distance) {
  fs_body_edge e = {(uint32_t)from, (uint32_t)to, (uint64_t)distance};
  for (uint32_t i = 0; i < *n; i++) {
    if (memcmp(&list[i], &e, sizeof e) == 0) {
      return;
    }
  }
  ck_assert_uint_lt(*n, MOST_EDGES);
  list[(*n)++] = e;
}

/* Writes op i: it begins buffer b<i>, reads others, of this iteration or of earlier ones, and comes
 * after some op of an earlier one. */
static void put_op(body_text *b, fs_text *t, int i) {
  bool used[OPS] = {false};
  fs_text_printf(t, "    - {name: o%d, args: [{out: b%d}", i, i);
  for (int k = below(b, 3); k > 0; k--) {
    int w = below(b, b->n), distance = below(b, FAR);
    if (w == i || used[w]) {
      continue;
    }
    used[w] = true;
    fs_text_printf(t, distance > 0 ? ", {in: b%d, distance: %d}" : ", {in: b%d}", w, distance);
    int back = distance > 0 ? distance : w > i;
    add(b->read, &b->n_reads, w, i, back);
    add(b->edge, &b->n_edges, w, i, back);
  }
  fs_text_puts(t, "]");
  if (below(b, 3) == 0) {
    int w = below(b, b->n), distance = 1 + below(b, FAR);
    fs_text_printf(t, ", after: [{op: o%d, distance: %d}]", w, distance);
    add(b->edge, &b->n_edges, w, i, distance);
  }
  fs_text_puts(t, "}\n");
}

/* The furthest iteration behind in which a value is read; -1: in none. */
static int life_of(const body_text *b, int writer) {
  int life = -1;
  for (uint32_t r = 0; r < b->n_reads; r++) {
    if (b->read[r].from == (uint32_t)writer && (int)b->read[r].distance > life) {
      life = (int)b->read[r].distance;
    }
  }
  return life;
}

/* Slots for each iteration in which a value is read, and perhaps more; or none given. */
static void put_rings(body_text *b, fs_text *t) {
  fs_text_puts(t, "    buffers: {");
  for (int w = 0, any = 0; w < b->n; w++) {
    if (life_of(b, w) < 0 || below(b, 2) == 0) {
      continue;
    }
    int depth = b->depth[w] = life_of(b, w) + 1 + below(b, 2);
    fs_text_printf(t, "%sb%d: {depth: %d}", any++ > 0 ? ", " : "", w, depth);
    add(b->edge, &b->n_edges, w, w, depth);
    for (uint32_t r = 0; r < b->n_reads; r++) {
      if (b->read[r].from == (uint32_t)w) {
        add(b->edge, &b->n_edges, (int)b->read[r].to, w, depth - (int)b->read[r].distance);
      }
    }
  }
  fs_text_puts(t, "}\n");
}

/* The text of a loop, which may be in another one, behind ops that write all that it reads. */
static void put_graph(body_text *b, fs_text *t, uint64_t seed) {
  *b = (body_text){.rng.state = seed};
  b->n = 1 + below(b, OPS);
  b->runs = 1 + below(b, 2);
  fs_text_puts(t, "fsched: 1\nname: g\ntarget: {memories: [{name: m, align: 64}]}\nbuffers:\n");
  for (int i = 0; i < b->n; i++) {
    fs_text_printf(t, "  - {name: b%d, size: 48}\n", i);
  }
  fs_text_puts(t, "  - {name: x, size: 100, io: input}\nops:\n");
  for (int i = 0; i < b->n; i++) {
    fs_text_printf(t, "- {name: z%d, args: [{in: x}, {out: b%d}]}\n", i, i);
  }
  fs_text_printf(t, "- loop: outer\n  trip: %d\n  ops:\n  - loop: inner\n    trip: %d\n    ops:\n",
                 b->runs, TRIP);
  for (int i = 0; i < b->n; i++) {
    put_op(b, t, i);
  }
  put_rings(b, t);
  fs_text_puts(t, "  - {name: end, args: [{in: b0}]}\n");
  fs_text_add(t, "", 1);
}

static fsched_graph *parse(const char *text) {
  fsched_read_options o = {.size = sizeof o, .unroll = 1};
  fsched_graph *g;
  fs_status status = fsched_graph_parse(ctx, "loops", text, strlen(text), &o, &g);
  ck_assert_msg(status == FSCHED_OK, "%s\n%s", fs_test_diags(ctx), text);
  return g;
}

static int by_bytes(const void *a, const void *b) { return memcmp(a, b, sizeof(fs_body_edge)); }

static void check_edges(body_text *b, fs_loop_body *body, const char *text) {
  ck_assert_msg(body->periodic, "%s", text);
  ck_assert_msg(body->n_edges == b->n_edges, "%u edges, not %u:\n%s", body->n_edges, b->n_edges,
                text);
  if (b->n_edges > 0) {
    qsort(b->edge, b->n_edges, sizeof *b->edge, by_bytes);
    qsort(body->edge, body->n_edges, sizeof *body->edge, by_bytes);
    ck_assert_msg(memcmp(b->edge, body->edge, b->n_edges * sizeof *b->edge) == 0, "%s", text);
  }
}

static void check_values(const body_text *b, const fs_loop_body *body, const char *text) {
  uint32_t n_readers = 0;
  for (uint32_t v = 0; v < body->n_values; v++) {
    const fs_body_value *value = &body->value[v];
    char name[16];
    (void)snprintf(name, sizeof name, "b%u", value->writer);
    ck_assert_uint_eq(value->size, 64);
    ck_assert_uint_eq(value->depth, b->depth[value->writer]);
    ck_assert(value->n_name == strlen(name) && strncmp(value->name, name, value->n_name) == 0);
    for (uint32_t r = value->reader0; r < value->reader0 + value->n_readers; r++, n_readers++) {
      bool found = false;
      for (uint32_t k = 0; k < b->n_reads; k++) {
        found =
            found || (b->read[k].from == value->writer && b->read[k].to == body->reader[r].member &&
                      b->read[k].distance == body->reader[r].back);
      }
      ck_assert_msg(found, "%s is read by %u:\n%s", value->name, body->reader[r].member, text);
    }
  }
  ck_assert_msg(n_readers == b->n_reads, "%u readers, not %u:\n%s", n_readers, b->n_reads, text);
  ck_assert_uint_eq(body->n_values, b->n); /* also those that nothing reads */
  ck_assert_uint_eq(body->held[0], 0);
}

START_TEST(random_bodies)
{
  for (int i = 0; i < BODIES; i++) {
    static body_text b;
    fs_text t;
    fs_text_init(&t, ctx);
    put_graph(&b, &t, (uint64_t)_i * BODIES + (uint64_t)i + 1);
    fsched_graph *g = parse(t.at);
    fs_loop_body body;
    fs_loop_index index;
    ck_fs(ctx, fs_loop_index_make(&own_arena, g, &index));
    ck_assert(!index.inner[0] && index.inner[1]);
    ck_fs(ctx, fs_loop_body_find(ctx, &own_arena, g, &index, 1, &body));
    ck_assert_uint_eq(body.n, b.n);
    ck_assert_uint_eq(body.trip, TRIP);
    ck_assert_uint_eq(body.runs, b.runs);
    check_edges(&b, &body, t.at);
    check_values(&b, &body, t.at);
    fsched_graph_destroy(g);
    fs_text_drop(&t);
  }
}
END_TEST

/* Finds the body of the first loop of a text. */
static fs_loop_body find_body(const char *ops) {
  char text[1024];
  (void)snprintf(text, sizeof text,
                 "fsched: 1\ntarget: {memories: [{name: m, align: 64}]}\nbuffers:\n"
                 "  - {name: x, size: 1000, io: input}\n  - {name: y, size: 1000, io: output}\n"
                 "ops:\n%s",
                 ops);
  fsched_graph *g = parse(text);
  fs_loop_body body;
  fs_loop_index index;
  ck_fs(ctx, fs_loop_index_make(&own_arena, g, &index));
  ck_fs(ctx, fs_loop_body_find(ctx, &own_arena, g, &index, 0, &body));
  fsched_graph_destroy(g); /* names of values are no longer there */
  return body;
}

/* What is from outside is held; a sum in place is one version. */
START_TEST(held)
{
  fs_loop_body body = find_body(
      "- {name: z, args: [{out: s, size: 10}]}\n- loop: l\n  trip: 5\n  ops:\n"
      "  - {name: a, args: [{in: x, at: {offset: 0, length: 100, step: 100}},\n"
      "      {inout: s}, {out_existing: y, at: {offset: 0, length: 200, step: 200}}]}\n");
  ck_assert(body.periodic);
  ck_assert_uint_eq(body.n_edges, 1); /* itself, by the sum */
  ck_assert_uint_eq(body.edge[0].distance, 1);
  ck_assert_uint_eq(body.n_values, 0);
  ck_assert_uint_eq(body.held[0], 2 * 1024 + 64);
}
END_TEST

/* Ranges that meet in the last iteration alone. */
START_TEST(not_periodic)
{
  fs_loop_body body = find_body(
      "- loop: l\n  trip: 5\n  ops:\n"
      "  - {name: a, args: [{out_existing: y, at: {offset: 0, length: 10, step: 10}}]}\n"
      "  - {name: b, args: [{out_existing: y, at: {offset: 200, length: 10, step: "
      "-40}}]}\n");
  ck_assert(!body.periodic);
  ck_assert_uint_eq(body.n_edges, 0);
  ck_assert_uint_eq(body.n_values, 0);
}
END_TEST

FS_SUITE(loop_body, s) {
  TCase *t = fs_case(s, fs_test_arena);
  FS_LOOPS(t, 0, 10, random_bodies);
  FS_TESTS(t, held, not_periodic);
}
