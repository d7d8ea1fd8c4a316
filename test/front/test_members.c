/* SPDX-License-Identifier: Apache-2.0 */
/* Members with args of their own, by calls: what is refused, which edges they have, and which
 * members conflict, against sets of bytes. */
#include <string.h>

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/turn.h"
#include "model/graph.h"

#include "front/builder_kit.h"

static const char *const queues[] = {"q0", "q1", "q2"};

static fsched_builder *with_queues(fsched_hazards hazards) {
  fsched_builder *b = make();
  for (uint32_t q = 0; q < 3; q++) {
    fsched_queue_desc d = {.size = sizeof d, .name = queues[q]};
    ck_assert_int_eq(fsched_builder_queue(b, &d, NULL), FSCHED_OK);
  }
  ck_assert_int_eq(fsched_builder_hazards(b, hazards), FSCHED_OK);
  return b;
}

static fs_status add_group(fsched_builder *b, const char *name, const char *const *gang, uint32_t n,
                           uint32_t members, uint32_t *op) {
  fsched_op_desc d = {
      .size = sizeof d, .name = name, .gang = gang, .n_gang = n, .members = members};
  return fsched_builder_op(b, &d, op);
}

static fs_status add_member_arg(fsched_builder *b, uint32_t op, uint32_t member, fsched_tag tag,
                                uint32_t buffer, uint64_t offset, uint64_t length) {
  fsched_arg_desc d = {.size = sizeof d,
                       .tag = tag,
                       .buffer = buffer,
                       .has_at = tag != FSCHED_OUT,
                       .offset = offset,
                       .length = length,
                       .member = member};
  return fsched_builder_arg(b, op, &d);
}

static void refused(const char *code, const char *text) {
  ck_assert_uint_gt(fsched_diag_count(ctx), 0);
  const fsched_diag *d = fsched_diag_get(ctx, fsched_diag_count(ctx) - 1);
  ck_assert_str_eq(d->code, code);
  ck_assert_msg(strstr(d->message, text) != NULL, "%s", d->message);
}

START_TEST(bad_calls)
{
  fsched_builder *b = with_queues(FSCHED_HAZARDS_SEQUENTIAL);
  uint32_t x = add_buffer(b, "x", 64, FSCHED_IO_STATE), op = 0;
  ck_assert_int_eq(add_group(b, "a", queues, 2, 3, &op), FSCHED_BAD_INPUT);
  refused("bad-members", "op 'a' has 3 members, and 2 queues of a gang");
  ck_assert_int_eq(add_group(b, "a", NULL, 0, 1, &op), FSCHED_BAD_INPUT);
  refused("bad-members", "op 'a' has 1 member, and 0 queues of a gang");
  ck_assert_int_eq(add_group(b, "a", queues, 2, 0, &op), FSCHED_OK);
  ck_assert_int_eq(add_member_arg(b, op, 1, FSCHED_IN, x, 0, 8), FSCHED_BAD_INPUT);
  refused("bad-members", "op 'a' has no member 1");
  ck_assert_int_eq(add_group(b, "b", queues, 3, 3, &op), FSCHED_OK);
  ck_assert_int_eq(add_member_arg(b, op, 3, FSCHED_IN, x, 0, 8), FSCHED_BAD_INPUT);
  refused("bad-members", "op 'b' has no member 3");
  ck_assert_int_eq(add_member_arg(b, op, 1, FSCHED_IN, x, 0, 8), FSCHED_OK);
  ck_assert_int_eq(add_member_arg(b, op, 0, FSCHED_IN, x, 0, 8), FSCHED_BAD_INPUT);
  refused("bad-members", "op 'b': an arg of member 0 behind one of member 1");
  fsched_graph *g = NULL;
  ck_assert_int_eq(fsched_builder_finish(b, &g), FSCHED_BAD_INPUT);
  fsched_builder_destroy(b);
}
END_TEST

START_TEST(order_of_queues)
{
  static const char *const turned[] = {"q2", "q0"};
  fsched_builder *b = with_queues(FSCHED_HAZARDS_SEQUENTIAL);
  uint32_t x = add_buffer(b, "x", 64, FSCHED_IO_STATE), op = 0;
  ck_assert_int_eq(add_group(b, "a", turned, 2, 2, &op), FSCHED_OK);
  ck_assert_int_eq(add_member_arg(b, op, 0, FSCHED_IN, x, 0, 8), FSCHED_OK);
  fsched_graph *g = NULL;
  ck_assert_int_eq(fsched_builder_finish(b, &g), FSCHED_BAD_INPUT);
  refused("bad-members", "names queue 'q0' out of the target's order");
  fsched_builder_destroy(b);
}
END_TEST

/* All look-ups of a group come before its inserts. */
START_TEST(reads_what_was_there)
{
  fsched_builder *b = with_queues(FSCHED_HAZARDS_SEQUENTIAL);
  uint32_t x = add_buffer(b, "x", 64, FSCHED_IO_NONE), op = 0;
  ck_assert_int_eq(add_arg(b, add_op(b, "first", NULL), FSCHED_OUT, x), FSCHED_OK);
  ck_assert_int_eq(add_group(b, "group", queues, 3, 3, &op), FSCHED_OK);
  ck_assert_int_eq(add_member_arg(b, op, 0, FSCHED_OUT, x, 0, 0), FSCHED_OK);
  ck_assert_int_eq(add_member_arg(b, op, 2, FSCHED_IN, x, 0, 64), FSCHED_OK);
  ck_assert_int_eq(add_arg(b, add_op(b, "last", NULL), FSCHED_IN, x), FSCHED_OK);
  fsched_graph *g = finish(b);
  const uint32_t version[] = {0, 1, 0, 1};
  for (uint32_t a = 0; a < 4; a++) {
    ck_assert_uint_eq(g->arg_version[a], version[a]);
  }
  ck_assert_uint_eq(fs_op_members(g, 0), 0);
  ck_assert_uint_eq(fs_op_members(g, 1), 3);
  ck_assert_uint_eq(fs_arg_member(g, 2), 2);
  ck_assert_uint_eq(fsched_graph_edges(g), 2);
  fsched_graph_destroy(g);
}
END_TEST

enum { SIZE = 48, ARGS = 6 };

/* An arg, as the set of bytes that it is of. */
typedef struct member_touch {
  uint32_t member;
  bool writes, byte[SIZE];
} member_touch;

/* Adds an arg, which may be a view of two dimensions. */
static void add_random(fsched_builder *b, fs_rng *r, uint32_t op, uint32_t buffer,
                       member_touch *t) {
  uint64_t shape[2] = {1 + fs_rng_below(r, 3), 1 + fs_rng_below(r, 4)};
  uint64_t strides[2] = {4 + fs_rng_below(r, 5), 1};
  bool view = fs_rng_one_in(r, 2);
  uint64_t length = view ? (shape[0] - 1) * strides[0] + shape[1] : 1 + fs_rng_below(r, 8);
  fsched_arg_desc d = {.size = sizeof d,
                       .tag = t->writes ? FSCHED_INOUT : FSCHED_IN,
                       .buffer = buffer,
                       .has_at = 1,
                       .offset = fs_rng_below(r, (uint32_t)(SIZE - length + 1)),
                       .length = length,
                       .n_dims = view ? 2 : 0,
                       .shape = shape,
                       .strides = strides,
                       .member = t->member};
  ck_assert_int_eq(fsched_builder_arg(b, op, &d), FSCHED_OK);
  for (uint64_t i = 0; i < (view ? shape[0] : 1); i++) {
    for (uint64_t k = 0; k < (view ? shape[1] : length); k++) {
      t->byte[d.offset + i * strides[0] + k] = true;
    }
  }
}

static bool conflict(const member_touch *a, const member_touch *b) {
  bool meet = false;
  for (uint32_t i = 0; i < SIZE; i++) {
    meet = meet || (a->byte[i] && b->byte[i]);
  }
  return meet && a->member != b->member && (a->writes || b->writes);
}

START_TEST(conflicts)
{
  uint32_t n[2] = {0, 0};
  for (uint64_t seed = 1; seed <= 1000; seed++) {
    fs_rng r = {seed};
    bool raw = fs_rng_one_in(&r, 2), some = false;
    fsched_builder *b = with_queues(raw ? FSCHED_HAZARDS_RAW : FSCHED_HAZARDS_SEQUENTIAL);
    uint32_t x = add_buffer(b, "x", SIZE, FSCHED_IO_STATE), op = 0, member = 0;
    ck_assert_int_eq(add_group(b, "group", queues, 3, 3, &op), FSCHED_OK);
    member_touch t[ARGS];
    for (uint32_t i = 0; i < ARGS; i++) {
      member += member < 2 && fs_rng_one_in(&r, 2);
      t[i] = (member_touch){.member = member, .writes = fs_rng_one_in(&r, 4)};
      add_random(b, &r, op, x, &t[i]);
      for (uint32_t k = 0; k < i; k++) {
        some = some || conflict(&t[i], &t[k]);
      }
    }
    fsched_graph *g = NULL;
    fs_status status = fsched_builder_finish(b, &g);
    n[some]++;
    ck_assert_int_eq(status, some && !raw ? FSCHED_BAD_INPUT : FSCHED_OK);
    if (status == FSCHED_OK) {
      ck_assert_uint_eq(g->n_races, some);
      ck_assert(!some || (g->race_a[0] == 0 && g->race_b[0] == 0));
      fsched_program *p = NULL; /* the verifier finds the same by its own means */
      ck_assert_int_eq(fsched_compile(ctx, g, NULL, NULL, &p), FSCHED_OK);
      ck_assert_int_eq(fsched_verify_program(ctx, p, g), FSCHED_OK);
      fsched_program_destroy(p);
    } else {
      refused("member-conflict", "op 'group': one member writes bytes of 'x'");
    }
    fsched_graph_destroy(g);
    fsched_builder_destroy(b);
    fsched_diag_clear(ctx);
  }
  ck_assert_uint_gt(n[0], 200);
  ck_assert_uint_gt(n[1], 200);
}
END_TEST

FS_SUITE(members, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, bad_calls, order_of_queues, reads_what_was_there, conflicts);
}
