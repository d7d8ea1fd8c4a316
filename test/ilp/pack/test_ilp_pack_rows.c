/* SPDX-License-Identifier: Apache-2.0 */
/* The strip packing model, one row at a time: hand-made graphs, with points that a row has to
 * refuse, and points next to them that it has to accept.  Most are counter-examples to the
 * published form.  No solver is needed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsched/graph.h"
#include "ilp/pack/private.h"
#include "kit/budget.h"
#include "kit/suite.h"

/* A graph, its problem within a horizon, and its model. */
typedef struct ilp_pack_rows_bench {
  fsched_context *ctx;
  fsched_graph *g;
  fs_problem *p;
  fs_pack_model *t;
  int64_t *value;
} ilp_pack_rows_bench;

static fs_problem *make_problem(ilp_pack_rows_bench *k, const char *yaml, fs_tick horizon) {
  ck_assert_int_eq(fsched_context_create(NULL, &k->ctx), FSCHED_OK);
  fs_status status = fsched_graph_parse(k->ctx, "test.yaml", yaml, strlen(yaml), NULL, &k->g);
  ck_assert_msg(status == FSCHED_OK, "%s",
                fsched_diag_count(k->ctx) > 0 ? fsched_diag_get(k->ctx, 0)->message : "");
  ck_assert_int_eq(fs_problem_from_graph(k->ctx, k->g, horizon, 0, &k->p), FSCHED_OK);
  ck_assert_ptr_nonnull(k->p);
  return k->p;
}

static void make_model(ilp_pack_rows_bench *k, fs_pack_options o) {
  ck_assert_int_eq(fs_pack_model_build(k->p, &o, &k->t), FSCHED_OK);
  ck_assert_ptr_nonnull(k->t);
  k->value = calloc(fs_pack_model_of(k->t)->var.n + 1, sizeof *k->value);
}

static ilp_pack_rows_bench open_bench(const char *yaml, fs_tick horizon) {
  ilp_pack_rows_bench k = {0};
  (void)make_problem(&k, yaml, horizon);
  make_model(&k, (fs_pack_options){0});
  return k;
}

static void close_bench(ilp_pack_rows_bench *k) {
  free(k->value);
  fs_pack_model_destroy(k->t);
  fs_problem_destroy(k->p);
  fsched_graph_destroy(k->g);
  fsched_context_destroy(k->ctx);
}

/* The residency of a buffer's first version, or of an op's scratch. */
static uint32_t residency(const ilp_pack_rows_bench *k, const char *name) {
  for (uint32_t r = 0; r < k->p->n_residencies; r++) {
    uint32_t v = k->p->res_version[r];
    const char *of =
        v == FS_NONE ? k->g->op_name[k->p->res_op[r]] : k->g->buffer_name[k->g->version_buffer[v]];
    if (strcmp(of, name) == 0) {
      return r;
    }
  }
  ck_abort_msg("no residency of %s", name);
}

/* Reads starts "0 2 4" in the order of ops, and addresses "x=2 y=0"; all others are 0. */
static void read_point(const ilp_pack_rows_bench *k, const char *starts, const char *addresses,
                       int64_t *start, int64_t *address) {
  const char *s = starts;
  for (uint32_t i = 0; i < k->p->n_items; i++) {
    char *end;
    start[i] = strtol(s, &end, 10);
    ck_assert_ptr_ne(s, end);
    s = end;
  }
  char name[16];
  long at;
  int length;
  for (s = addresses; sscanf(s, " %15[a-z]=%ld%n", name, &at, &length) == 2; s += length) {
    address[residency(k, name)] = at;
  }
}

/* Whether this is a point.  If so, no binary may be 0 that is true, nor say that something has no
 * length where it has one. */
static bool is_point(ilp_pack_rows_bench *k, const char *starts, const char *addresses) {
  int64_t start[16] = {0}, address[16] = {0};
  read_point(k, starts, addresses, start, address);
  if (!fs_pack_fill(k->t, start, address, NULL, k->value)) {
    return false;
  }
  const fs_model *m = fs_pack_model_of(k->t);
  for (size_t i = 0; i < k->t->def.n; i++) {
    const fs_pack_def *d = &k->t->def.at[i];
    int64_t *value = &k->value[d->var], kept = *value;
    if (m->var.at[d->var].kind == FS_VAR_BINARY && kept == (d->kind == FS_PACK_NOW ? 0 : 1)) {
      *value = 1 - kept;
      ck_assert_msg(fs_model_broken(m, k->value) != FS_NONE, "%s", m->var.at[d->var].name);
      *value = kept;
    }
  }
  return true;
}

/* Has the answer a form that is a point? */
static bool has_form(ilp_pack_rows_bench *k, const char *starts, const char *addresses) {
  int64_t start[16] = {0}, address[16] = {0};
  fs_tick begin[16];
  uint64_t place[16];
  read_point(k, starts, addresses, start, address);
  for (uint32_t i = 0; i < 16; i++) {
    begin[i] = (fs_tick)start[i];
    place[i] = (uint64_t)address[i];
  }
  fs_answer a = {.start = begin, .address = place};
  bool fits;
  ck_assert_int_eq(fs_pack_model_point(k->t, &a, k->value, &fits), FSCHED_OK);
  return fits;
}

/* --- rectangles --- */

#define STRIP   \
  "fsched: 1\n" \
  "target: {memories: [{name: m, capacity: 4}]}\n"

START_TEST(precedence_rows)
{
  ilp_pack_rows_bench k = open_bench(STRIP
                                     "ops:\n"
                                     "  - {name: a, time: 2, scratch: {m: 2}}\n"
                                     "  - {name: b, time: 2, scratch: {m: 2}, after: [a]}\n",
                                     8);
  ck_assert(!is_point(&k, "0 0", "a=0 b=2")); /* with no other demand than a strip has */
  ck_assert(!is_point(&k, "0 1", "a=0 b=2"));
  ck_assert(is_point(&k, "0 2", "a=0 b=2"));
  ck_assert(is_point(&k, "0 2", "a=0 b=0"));
  /* They are in order anyway, so there are no binaries. */
  const fs_model *m = fs_pack_model_of(k.t);
  for (size_t v = 0; v < m->var.n; v++) {
    ck_assert_int_ne(m->var.at[v].kind, FS_VAR_BINARY);
  }
  close_bench(&k);
}
END_TEST

START_TEST(one_strip_is_enough_for_m)
{
  ilp_pack_rows_bench k = open_bench(STRIP
                                     "ops:\n"
                                     "  - {name: a, time: 3, scratch: {m: 1}}\n"
                                     "  - {name: b, time: 1, scratch: {m: 3}}\n"
                                     "  - {name: c, time: 2, scratch: {m: 2}}\n",
                                     6);
  const fs_model *m = fs_pack_model_of(k.t);
  unsigned n = 0;
  for (uint32_t r = 0; r < m->row.n; r++) {
    bool time = strncmp(m->row.at[r].name, "before", 6) == 0;
    bool place = strncmp(m->row.at[r].name, "below", 5) == 0;
    for (size_t i = m->row.at[r].term0; i < fs_model_row_end(m, r) && (time || place); i++) {
      int64_t coef = m->term.at[i].coef;
      ck_assert_int_le(coef < 0 ? -coef : coef, time ? 6 : 4);
      n++;
    }
  }
  ck_assert_uint_ge(n, 20);
  /* These are at the far ends of the strip, which a smaller M would cut off. */
  ck_assert(is_point(&k, "0 5 3", "b=1"));
  ck_assert(is_point(&k, "0 3 4", "b=0 c=0"));
  close_bench(&k);
}
END_TEST

#define TWO_READERS                                   \
  STRIP                                               \
  "ops:\n"                                            \
  "  - {name: w, size: 2}\n"                          \
  "  - {name: f, args: [{in: w}], scratch: {m: 2}}\n" \
  "  - {name: g, args: [{in: w}], time: 2, scratch: {m: 2}}\n"

START_TEST(ends_are_variable)
{
  ilp_pack_rows_bench k = open_bench(TWO_READERS, 8);
  uint32_t w = residency(&k, "w");
  ck_assert_uint_eq(k.t->span[k.p->n_items + w].end_ref, k.p->n_items + w);
  /* Either reader may be the last one: what lies at w's place has to wait for it. */
  ck_assert(is_point(&k, "0 1 2", "w=0 f=2 g=2"));
  ck_assert(is_point(&k, "0 3 1", "w=0 f=2 g=2"));
  ck_assert(!is_point(&k, "0 1 2", "w=0 f=2 g=0"));
  ck_assert(!is_point(&k, "0 3 1", "w=0 f=0 g=2"));
  ck_assert(!is_point(&k, "0 1 2", "w=0 f=2 g=1"));
  close_bench(&k);
}
END_TEST

START_TEST(an_end_that_others_come_before)
{
  ilp_pack_rows_bench k = open_bench(STRIP
                                     "ops:\n"
                                     "  - {name: w, size: 2}\n"
                                     "  - {name: f, args: [{in: w}]}\n"
                                     "  - {name: g, args: [{in: w}], after: [f]}\n",
                                     8);
  /* The last reader is known, so there is no variable. */
  ck_assert_uint_eq(k.t->span[k.p->n_items + residency(&k, "w")].end_ref, 2);
  ck_assert(is_point(&k, "0 1 2", "w=0"));
  close_bench(&k);
}
END_TEST

START_TEST(kept_to_the_end)
{
  ilp_pack_rows_bench k = open_bench(STRIP
                                     "buffers: [{name: y, size: 2, io: output}]\n"
                                     "ops:\n"
                                     "  - {name: f, args: [{out: y}]}\n"
                                     "  - {name: g, time: 2, scratch: {m: 4}}\n"
                                     "  - {name: h, time: 1, scratch: {m: 2}}\n",
                                     6);
  ck_assert(is_point(&k, "2 0 3", "y=0 h=2"));
  ck_assert(!is_point(&k, "2 0 3", "y=0 h=0"));
  ck_assert(!is_point(&k, "0 1 0", "y=0 h=2")); /* y is there as long as anything runs */
  close_bench(&k);
}
END_TEST

START_TEST(always_at_once)
{
  /* Buffers that are too large for one above the other are apart in time; where one op holds both,
   * they never are. */
  ilp_pack_rows_bench k = open_bench(STRIP
                                     "ops:\n"
                                     "  - {name: a, time: 2, scratch: {m: 3}}\n"
                                     "  - {name: b, time: 2, scratch: {m: 2}}\n",
                                     8);
  for (size_t v = 0; v < fs_pack_model_of(k.t)->var.n; v++) {
    ck_assert_ptr_null(strstr(fs_pack_model_of(k.t)->var.at[v].name, "under"));
  }
  ck_assert(!is_point(&k, "0 1", ""));
  ck_assert(is_point(&k, "0 2", ""));
  close_bench(&k);
  k = open_bench(STRIP
                 "buffers: [{name: y, size: 2}]\n"
                 "ops:\n"
                 "  - {name: w, size: 2, time: 0}\n"
                 "  - {name: f, time: 0, args: [{in: w}, {out: y}]}\n"
                 "  - {name: z, scratch: {m: 1}, args: [{in: y}]}\n",
                 8);
  fs_pack_order o;
  uint32_t n = k.p->n_items, w = n + residency(&k, "w"), y = n + residency(&k, "y");
  ck_assert_int_eq(fs_pack_left(k.t, w, y, &o), FSCHED_OK);
  ck_assert_int_eq(o.truth, FS_PACK_NO);
  ck_assert(!is_point(&k, "0 0 0", "w=0 y=0 z=2")); /* the op y has no length, and both places */
  ck_assert(is_point(&k, "0 0 0", "w=2 y=0 z=2"));
  ck_assert(has_form(&k, "0 0 0", "w=0 y=2 z=0"));
  close_bench(&k);
}
END_TEST

/* --- rectangles that coincide --- */

#define IN_PLACE(capacity, more)                      \
  "fsched: 1\n"                                       \
  "target: {memories: [{name: m, capacity: " capacity \
  "}]}\n"                                             \
  "buffers: [{name: y, size: 2}]\n"                   \
  "ops:\n"                                            \
  "  - {name: x, size: 2}\n"                          \
  "  - {name: f, args: [{in: x}, {out: y}]" more      \
  "}\n"                                               \
  "  - {name: g, args: [{in: y}]}\n"

START_TEST(coinciding_where_declared)
{
  ilp_pack_rows_bench k = open_bench(IN_PLACE("4", ", inplace: {y: x}"), 6);
  ck_assert_uint_eq(k.p->n_coincide, 1);
  ck_assert(is_point(&k, "0 1 2", "x=2 y=0"));
  ck_assert(is_point(&k, "0 1 2", "x=0 y=0"));
  close_bench(&k);
  k = open_bench(IN_PLACE("4", ""), 6);
  ck_assert(is_point(&k, "0 1 2", "x=2 y=0"));
  ck_assert(!is_point(&k, "0 1 2", "x=0 y=0"));
  close_bench(&k);
  k = open_bench(IN_PLACE("5", ", inplace: {y: x}, scratch: {m: 1}"), 6);
  ck_assert(is_point(&k, "0 1 2", "x=1 y=1 f=0"));
  ck_assert(is_point(&k, "0 1 2", "x=0 y=0 f=2"));
  ck_assert(!is_point(&k, "0 1 2", "x=0 y=1 f=3")); /* they coincide only in part */
  ck_assert(!is_point(&k, "0 1 2", "x=1 y=0 f=3"));
  close_bench(&k);
}
END_TEST

START_TEST(coinciding_at_equal_size_alone)
{
  ilp_pack_rows_bench k = {0};
  (void)make_problem(&k, IN_PLACE("4", ", inplace: {y: x}"), 6);
  k.p->res_size[residency(&k, "y")] = 1;
  make_model(&k, (fs_pack_options){0});
  ck_assert(!is_point(&k, "0 1 2", "x=0 y=0"));
  ck_assert(is_point(&k, "0 1 2", "x=0 y=2"));
  close_bench(&k);
}
END_TEST

/* If another reader of the input may be later, then the two may not coincide. */
START_TEST(coinciding_while_the_op_runs_alone)
{
  ilp_pack_rows_bench k = {0};
  (void)make_problem(&k, IN_PLACE("4", "") "  - {name: late, args: [{in: x}]}\n", 6);
  uint32_t pair[3] = {residency(&k, "x"), residency(&k, "y"), 1};
  k.p->n_coincide = 1;
  k.p->coincide_in = &pair[0];
  k.p->coincide_out = &pair[1];
  k.p->coincide_op = &pair[2];
  make_model(&k, (fs_pack_options){0});
  ck_assert(is_point(&k, "0 2 3 1", "x=0 y=0"));
  ck_assert(is_point(&k, "0 1 2 1", "x=0 y=0"));
  ck_assert(!is_point(&k, "0 1 3 2", "x=0 y=0"));
  ck_assert(is_point(&k, "0 1 3 2", "x=2 y=0"));
  close_bench(&k);
}
END_TEST

/* Buffers that coincide fall together: there is no room for both beside what lies below. */
START_TEST(coinciding_and_falling)
{
  ilp_pack_rows_bench k =
      open_bench(IN_PLACE("4", ", inplace: {y: x}") "  - {name: v, time: 3, scratch: {m: 2}}\n", 6);
  ck_assert(has_form(&k, "0 1 2 0", "x=2 y=2 v=0"));
  ck_assert(has_form(&k, "0 1 2 0", "x=0 y=0 v=2"));
  ck_assert(has_form(&k, "0 1 2 3", "x=2 y=2 v=2"));
  ck_assert(!has_form(&k, "0 1 2 0", "x=0 y=2 v=0"));
  close_bench(&k);
}
END_TEST

/* --- items without a place */

START_TEST(queue_rows)
{
  ilp_pack_rows_bench k = open_bench(
      "fsched: 1\n"
      "target: {queues: [{name: q}]}\n"
      "ops: [{name: a, time: 2}, {name: b, time: 2}, {name: z, time: 0}]\n",
      9);
  ck_assert(is_point(&k, "0 2 2", ""));
  ck_assert(is_point(&k, "2 0 0", ""));
  ck_assert(!is_point(&k, "0 1 4", ""));
  ck_assert(!is_point(&k, "0 2 1", "")); /* an instant inside of a */
  close_bench(&k);
  k = open_bench(
      "fsched: 1\n"
      "target: {queues: [{name: q}, {name: r}]}\n"
      "ops: [{name: a, time: 2}, {name: b, time: 2}, {name: c, time: 2},\n"
      "      {name: g, on: [q, r], time: 2}, {name: z, time: 0}]\n",
      12);
  ck_assert(is_point(&k, "0 0 2 4 2", ""));
  ck_assert(!is_point(&k, "0 1 1 4 9", "")); /* three on two queues */
  ck_assert(!is_point(&k, "0 0 2 3 9", "")); /* the gang beside c */
  /* An instant on queues while the other two run on both. */
  ck_assert(!is_point(&k, "0 0 2 4 1", ""));
  ck_assert(is_point(&k, "0 2 2 4 1", ""));
  ck_assert(!is_point(&k, "0 2 2 4 5", ""));
  close_bench(&k);
}
END_TEST

START_TEST(choices_of_queues)
{
  ilp_pack_rows_bench k = open_bench(
      "fsched: 1\n"
      "target: {queues: [{name: q}, {name: r}]}\n"
      "ops: [{name: a, on: q}, {name: b}, {name: c}]\n",
      4);
  const int64_t start[3] = {0, 0, 1}, wrong[3] = {0, 0, 0};
  ck_assert_uint_eq(k.p->n_classes, 2);
  uint32_t q = k.p->choice[k.p->choice0[0]], r = 1 - q;
  ck_assert(fs_pack_fill(k.t, start, NULL, (const uint32_t[]){q, r, q}, k.value));
  ck_assert(fs_pack_fill(k.t, start, NULL, (const uint32_t[]){q, r, r}, k.value));
  ck_assert(!fs_pack_fill(k.t, start, NULL, (const uint32_t[]){q, q, r}, k.value));
  ck_assert(!fs_pack_fill(k.t, wrong, NULL, (const uint32_t[]){q, r, r}, k.value));
  ck_assert(!fs_pack_fill(k.t, wrong, NULL, (const uint32_t[]){q, r, q}, k.value));
  ck_assert(!fs_pack_fill(k.t, start, NULL, NULL, k.value)); /* there are no such values */
  fs_answer *a;
  ck_assert(fs_pack_fill(k.t, start, NULL, (const uint32_t[]){q, r, q}, k.value));
  ck_assert_int_eq(fs_pack_model_answer(k.t, k.p, k.value, &a), FSCHED_OK);
  ck_assert_uint_eq(a->choice[1], r);
  ck_assert_uint_eq(a->choice[2], q);
  ck_assert_uint_eq(a->makespan, 2);
  close_bench(&k);
}
END_TEST

START_TEST(choices_of_larger_classes)
{
  ilp_pack_rows_bench k = open_bench(
      "fsched: 1\n"
      "target: {queues: [{name: q}, {name: r}, {name: s}, {name: t}],\n"
      "         concurrency: 4}\n"
      "ops: [{name: g, on: [q, r], time: 2}, {name: h, on: [s, t], time: 2},\n"
      "      {name: a, time: 2}, {name: b, time: 2}, {name: c, time: 2}]\n",
      9);
  ck_assert_uint_eq(k.p->n_classes, 2);
  uint32_t qr = k.p->choice[k.p->choice0[0]], st = 1 - qr, no = FS_NONE;
  const int64_t beside[5] = {0, 2, 2, 3, 4}, apart[5] = {0, 6, 2, 3, 3};
  ck_assert(fs_pack_fill(k.t, beside, NULL, (const uint32_t[]){no, no, qr, qr, qr}, k.value));
  ck_assert(!fs_pack_fill(k.t, beside, NULL, (const uint32_t[]){no, no, qr, st, qr}, k.value));
  ck_assert(!fs_pack_fill(k.t, apart, NULL, (const uint32_t[]){no, no, st, st, st}, k.value));
  ck_assert(fs_pack_fill(k.t, apart, NULL, (const uint32_t[]){no, no, st, qr, st}, k.value));
  close_bench(&k);
}
END_TEST

START_TEST(resource_and_concurrency_rows)
{
  ilp_pack_rows_bench k = open_bench(
      "fsched: 1\n"
      "target: {resources: [{name: power, capacity: 6}], concurrency: 2}\n"
      "ops: [{name: a, time: 2, uses: {power: 2}}, {name: b, time: 2, "
      "uses: {power: 2}},\n"
      "      {name: c, time: 2, uses: {power: 4}}, {name: d, time: 2},\n"
      "      {name: z, time: 0, uses: {power: 4}}]\n",
      9);
  ck_assert(is_point(&k, "0 0 2 2 2", ""));
  ck_assert(is_point(&k, "0 2 1 3 0", ""));
  ck_assert(!is_point(&k, "0 1 1 4 0", "")); /* 2 + 2 + 4 */
  ck_assert(!is_point(&k, "0 0 2 2 1", "")); /* with 4 more at an instant */
  ck_assert(!is_point(&k, "0 2 1 1 9", "") && is_point(&k, "0 2 1 3 9", ""));
  close_bench(&k);
}
END_TEST

START_TEST(counted_memories)
{
  ilp_pack_rows_bench k = open_bench(
      "fsched: 1\n"
      "target: {memories: [{name: m, capacity: 5, placement: counted}]}\n"
      "ops: [{name: a, time: 2, scratch: {m: 2}}, {name: b, time: 2, "
      "scratch: {m: 2}},\n"
      "      {name: c, time: 2, scratch: {m: 2}}, {name: d, size: 1, time: 1},\n"
      "      {name: e, time: 1, args: [{in: d}]}]\n",
      9);
  ck_assert(!is_point(&k, "0 0 1 4 5", ""));
  ck_assert(is_point(&k, "0 0 2 4 5", ""));
  ck_assert(is_point(&k, "0 0 2 0 5", "")); /* d fits beside any two, up to the last tick */
  ck_assert(!is_point(&k, "0 1 1 0 5", ""));
  close_bench(&k);
}
END_TEST

/* It is open whether x has any length: it has none when f starts together with it. */
START_TEST(lengths_that_may_be_none)
{
  ilp_pack_rows_bench k = open_bench(
      "fsched: 1\n"
      "target: {memories: [{name: m, capacity: 3, placement: counted}]}\n"
      "ops: [{name: x, size: 2, time: 0}, {name: f, time: 0, args: [{in: x}]},\n"
      "      {name: y, size: 2, time: 0}, {name: g, time: 0, args: [{in: y}]}]\n",
      9);
  ck_assert(is_point(&k, "1 1 1 1", "")); /* two instants */
  ck_assert(is_point(&k, "1 1 1 2", ""));
  ck_assert(!is_point(&k, "1 2 1 2", ""));
  ck_assert(!is_point(&k, "0 2 1 1", "")); /* strictly inside */
  ck_assert(is_point(&k, "0 2 2 3", ""));
  close_bench(&k);
  /* Any two fit, but not all three do. */
  k = open_bench(
      "fsched: 1\n"
      "target: {memories: [{name: m, capacity: 5, placement: counted}]}\n"
      "ops: [{name: x, size: 2, time: 0}, {name: f, time: 0, args: [{in: x}]},\n"
      "      {name: y, size: 2, time: 0}, {name: g, time: 0, args: [{in: y}]},\n"
      "      {name: z, size: 2, time: 0}, {name: h, time: 0, args: [{in: z}]}]\n",
      9);
  ck_assert(is_point(&k, "1 1 1 1 1 1", ""));
  ck_assert(is_point(&k, "1 2 1 2 1 1", ""));
  ck_assert(is_point(&k, "1 2 1 2 2 2", ""));
  ck_assert(is_point(&k, "0 2 0 2 2 3", ""));
  ck_assert(!is_point(&k, "1 2 1 2 1 2", ""));
  ck_assert(!is_point(&k, "0 2 0 2 1 1", ""));
  ck_assert(!is_point(&k, "0 2 1 2 1 3", ""));
  close_bench(&k);
}
END_TEST

/* --- the model as a whole --- */

#define LIFETIMES                                             \
  "fsched: 1\n"                                               \
  "target: {memories: [{name: m, capacity: 64, align: 4}]}\n" \
  "ops:\n"                                                    \
  "  - {name: a, start: 0, time: 3, scratch: {m: 8}}\n"       \
  "  - {name: b, start: 2, time: 3, scratch: {m: 4}}\n"       \
  "  - {name: c, start: 4, time: 3, scratch: {m: 8}}\n"

START_TEST(the_highest_address)
{
  ilp_pack_rows_bench k = {0};
  (void)make_problem(&k, LIFETIMES, 7);
  make_model(&k, (fs_pack_options){.peak = true});
  ck_assert_int_eq(fs_pack_model_of(k.t)->var.at[k.t->peak].low, 3); /* in units of 4 */
  ck_assert(is_point(&k, "0 2 4", "a=0 b=8 c=0"));
  ck_assert_int_eq(fs_model_objective(fs_pack_model_of(k.t), k.value), 12);
  ck_assert(!is_point(&k, "0 2 4", "a=0 b=4 c=0"));
  ck_assert(!is_point(&k, "0 3 4", "a=0 b=8 c=0")); /* this is not the start that is given */
  /* Any placement has a form that is a point and is at most as high. */
  fs_tick start[3] = {0, 2, 4};
  uint64_t address[3] = {8, 20, 4};
  fs_answer a = {.start = start, .address = address, .makespan = 7}, *back;
  bool fits;
  ck_assert_int_eq(fs_pack_model_point(k.t, &a, k.value, &fits), FSCHED_OK);
  ck_assert(fits);
  ck_assert_int_eq(fs_model_objective(fs_pack_model_of(k.t), k.value), 12);
  ck_assert_int_eq(fs_pack_model_answer(k.t, k.p, k.value, &back), FSCHED_OK);
  ck_assert_uint_eq(back->address[0] % 4, 0);
  ck_assert_mem_eq(back->start, start, sizeof start);
  close_bench(&k);
}
END_TEST

START_TEST(no_room_and_no_time)
{
  ilp_pack_rows_bench k = open_bench(
      STRIP "ops: [{name: a, time: 3, scratch: {m: 3}}, {name: b, scratch: {m: 3}}]\n", 2);
  ck_assert(fs_pack_model_of(k.t)->contradiction);
  ck_assert(!is_point(&k, "0 3", ""));
  fs_pack_model *none;
  fs_pack_options small = {.max_terms = 3};
  k.p->horizon = 9;
  ck_assert_int_eq(fs_pack_model_build(k.p, &small, &none), FSCHED_OK);
  ck_assert_ptr_null(none);
  small.max_terms = 1;
  ck_assert_int_eq(fs_pack_model_build(k.p, &small, &none), FSCHED_OK);
  ck_assert_ptr_null(none);
  close_bench(&k);
}
END_TEST

START_TEST(which_problems_are_strips)
{
  ilp_pack_rows_bench k =
      open_bench(STRIP "ops: [{name: a, scratch: {m: 3}}, {name: b, scratch: {m: 3}}]\n", 9);
  ck_assert(fs_problem_is_strip(k.p));
  close_bench(&k);
  static const char *const not_one[] = {
      STRIP "ops: [{name: a, scratch: {m: 3}}, {name: b, scratch: {m: 3}, after: [a]}]\n",
      STRIP
      "buffers: [{name: y, size: 1, io: output}]\n"
      "ops: [{name: a, args: [{out: y}]}, {name: b, scratch: {m: 3}}]\n",
      STRIP "ops: [{name: a, scratch: {m: 3}}, {name: b, scratch: {m: 3}, start: 4}]\n",
      "fsched: 1\n"
      "target: {memories: [{name: m, capacity: 4}], concurrency: 1}\n"
      "ops: [{name: a, scratch: {m: 3}}, {name: b, scratch: {m: 3}}]\n",
      "fsched: 1\n"
      "target: {memories: [{name: m, capacity: 4}], queues: [{name: q}]}\n"
      "ops: [{name: a, scratch: {m: 3}}, {name: b, scratch: {m: 3}}]\n",
      "fsched: 1\n"
      "target: {memories: [{name: m, capacity: 4, placement: counted}]}\n"
      "ops: [{name: a, scratch: {m: 3}}, {name: b, scratch: {m: 3}}]\n",
      "fsched: 1\n"
      "target: {memories: [{name: m, capacity: 4}], resources: [{name: p, capacity: 3}]}\n"
      "ops: [{name: a, scratch: {m: 3}, uses: {p: 2}}, {name: b, uses: {p: 2}}]\n"};
  for (size_t i = 0; i < sizeof not_one / sizeof not_one[0]; i++) {
    k = open_bench(not_one[i], 9);
    ck_assert_msg(!fs_problem_is_strip(k.p), "%zu", i);
    close_bench(&k);
  }
}
END_TEST

START_TEST(the_same_text_every_time)
{
  char *text[2];
  size_t length[2];
  for (int i = 0; i < 2; i++) {
    ilp_pack_rows_bench k = open_bench(TWO_READERS, 8);
    const fs_model *m = fs_pack_model_of(k.t);
    char *made;
    ck_assert_int_eq(fs_model_lp(m, &made, &length[i]), FSCHED_OK);
    text[i] = memcpy(malloc(length[i]), made, length[i]);
    fsched_text_free(m->ctx, made, length[i]);
    close_bench(&k);
  }
  ck_assert_uint_eq(length[0], length[1]);
  ck_assert_mem_eq(text[0], text[1], length[0]);
  free(text[0]);
  free(text[1]);
}
END_TEST

/* --- without memory --- */

static fs_status build_all(fsched_context *ctx, const fsched_graph *g, bool positions) {
  fs_problem *p;
  fs_pack_model *t = NULL;
  FS_TRY(fs_problem_from_graph(ctx, g, 9, 0, &p));
  fs_pack_options o = {.positions = positions};
  fs_status status = fs_pack_model_build(p, &o, &t);
  if (status == FSCHED_OK) {
    fs_tick start[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    uint64_t address[8] = {0};
    fs_answer a = {.start = start, .address = address}, *back;
    int64_t *value = calloc(fs_pack_model_of(t)->var.n, sizeof *value);
    bool fits;
    status = fs_pack_model_point(t, &a, value, &fits);
    status = status == FSCHED_OK ? fs_pack_model_answer(t, p, value, &back) : status;
    free(value);
  }
  fs_pack_model_destroy(t);
  fs_problem_destroy(p);
  return status;
}

static void starve(const char *yaml, bool positions) {
  ilp_pack_rows_bench k = open_bench(yaml, 9);
  long n = 0;
  for (bool done = false; !done; n++) {
    fs_budget budget = {.left = n};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *ctx;
    if (fsched_context_create(&o, &ctx) != FSCHED_OK) {
      continue;
    }
    fs_status status = build_all(ctx, k.g, positions);
    done = budget.left >= 0;
    ck_assert_int_eq(status, done ? FSCHED_OK : FSCHED_SYSTEM);
    fsched_context_destroy(ctx);
    ck_assert_int_eq(budget.blocks, 0);
  }
  ck_assert_int_ge(n, 10);
  close_bench(&k);
}

START_TEST(out_of_memory)
{
  starve(
      "fsched: 1\n"
      "target: {memories: [{name: m, capacity: 4}, {name: n, capacity: 3, placement: counted}],\n"
      "         queues: [{name: q}, {name: r}]}\n"
      "buffers: [{name: y, size: 2}]\n"
      "ops: [{name: x, size: 2}, {name: f, args: [{in: x}, {out: y}], inplace: {y: x}},\n"
      "      {name: h, args: [{in: y}], scratch: {n: 2}}, {name: i, on: q, scratch: {n: 2}},\n"
      "      {name: u, scratch: {m: 1, n: 1}}]\n",
      false);
  starve(STRIP
         "ops: [{name: a, time: 2, scratch: {m: 3}}, {name: b, scratch: {m: 1}},\n"
         "      {name: c, scratch: {m: 1}}]\n",
         true);
}
END_TEST

FS_SUITE(ilp_pack_rows, s) {
  TCase *t = fs_case(s, NULL);
  FS_TESTS(t, precedence_rows, one_strip_is_enough_for_m, ends_are_variable,
           an_end_that_others_come_before, kept_to_the_end, always_at_once,
           coinciding_where_declared, coinciding_at_equal_size_alone, coinciding_and_falling,
           coinciding_while_the_op_runs_alone, queue_rows, choices_of_queues,
           choices_of_larger_classes, resource_and_concurrency_rows, counted_memories,
           lengths_that_may_be_none, the_highest_address, no_room_and_no_time,
           which_problems_are_strips, the_same_text_every_time, out_of_memory);
}
