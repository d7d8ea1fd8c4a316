/* SPDX-License-Identifier: Apache-2.0 */
/* Control edges and waits in small cases with known answers, and the clocks that they use, compared
 * with arrays. */
#include <stdlib.h>
#include <string.h>

#include "ctrledge/ctrledge.h"
#include "kit/gen.h"
#include "listsched/listsched.h"
#include "model/access.h"
#include "waits/clock.h"
#include "waits/waits.h"

#include "kit/context.h"

/* --- exact clocks against arrays --- */

enum { CLOCKS = 24, MAX_AXES = 9000 };

static fs_status compare_entry(void *user, fs_clock_entry e) {
  uint32_t **at = user;
  while ((*at)[0] != e.axis) {
    ck_assert_uint_eq((*at)[1], 0);
    *at += 2;
  }
  ck_assert_uint_eq((*at)[1], e.epoch);
  *at += 2;
  return FSCHED_OK;
}

static void clock_rounds(uint32_t n_axes, int rounds, uint64_t seed) {
  fs_clocks c;
  ck_assert_int_eq(fs_clocks_init(ctx, &c, n_axes), FSCHED_OK);
  uint32_t *plain = calloc((size_t)CLOCKS * n_axes, sizeof *plain);
  fs_clock clock[CLOCKS] = {0};
  fs_rng r = {seed};
  for (int i = 0; i < rounds; i++) {
    uint32_t a = fs_rng_below(&r, CLOCKS);
    uint32_t b = fs_rng_below(&r, CLOCKS);
    uint32_t axis = fs_rng_below(&r, n_axes);
    uint32_t epoch = 1 + fs_rng_below(&r, 1000);
    switch (fs_rng_below(&r, 4)) {
      case 0: /* b becomes a copy of a */
        if (a != b) {
          fs_clock_drop(&c, clock[b]);
          clock[b] = fs_clock_share(&c, clock[a]);
          memcpy(plain + (size_t)b * n_axes, plain + (size_t)a * n_axes, n_axes * sizeof *plain);
        }
        break;
      case 1:
        ck_assert_int_eq(fs_clock_merge(&c, &clock[a], clock[b]), FSCHED_OK);
        for (uint32_t k = 0; k < n_axes; k++) {
          uint32_t *x = &plain[(size_t)a * n_axes + k];
          *x = (uint32_t)fs_max(*x, plain[(size_t)b * n_axes + k]);
        }
        break;
      default:
        ck_assert_int_eq(fs_clock_raise(&c, &clock[a], axis, epoch), FSCHED_OK);
        plain[(size_t)a * n_axes + axis] =
            (uint32_t)fs_max(plain[(size_t)a * n_axes + axis], epoch);
    }
    axis = fs_rng_below(&r, n_axes);
    for (uint32_t k = 0; k < CLOCKS; k++) {
      ck_assert_uint_eq(fs_clock_get(&c, clock[k], axis), plain[(size_t)k * n_axes + axis]);
    }
  }
  uint32_t *pairs = calloc((size_t)n_axes * 2 + 2, sizeof *pairs);
  for (uint32_t k = 0; k < CLOCKS; k++) { /* all entries, then only large ones */
    for (uint32_t floor = 0; floor < 1000; floor += 700) {
      for (uint32_t i = 0; i < n_axes; i++) {
        uint32_t epoch = plain[(size_t)k * n_axes + i];
        pairs[2 * i] = i;
        pairs[2 * i + 1] = epoch < floor ? 0 : epoch;
      }
      uint32_t *at = pairs;
      bool left_out;
      ck_assert_int_eq(fs_clock_each(&c, clock[k], &floor, compare_entry, &at, &left_out),
                       FSCHED_OK);
      for (; at < pairs + 2 * (size_t)n_axes; at += 2) {
        ck_assert_uint_eq(at[1], 0);
      }
    }
    fs_clock_drop(&c, clock[k]);
  }
  uint32_t n_free = 0; /* nothing is left behind */
  for (fs_clock n = c.free_node; n != 0; n_free++) {
    n = fs_clocks_next_free(&c, n);
  }
  ck_assert_uint_eq(n_free, c.n_nodes - 1);
  free(pairs);
  free(plain);
  fs_clocks_release(&c);
  fsched_diag_clear(ctx);
}

START_TEST(clocks_against_arrays)
{
  clock_rounds(3, 2000, 1);
  clock_rounds(64, 4000, 2);
  clock_rounds(65, 4000, 3);
  clock_rounds(700, 4000, 4);
  clock_rounds(MAX_AXES, 1500, 5);
}
END_TEST

/* --- small cases with known answers --- */

typedef struct waits_small_small {
  fsched_context *ctx;
  fsched_builder *b;
  fsched_graph *g;
  fs_schedule *s;
  fs_sync y;
} waits_small_small;

static void small_begin(waits_small_small *t) {
  ck_assert_int_eq(fsched_context_create(NULL, &t->ctx), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_create(t->ctx, "small", &t->b), FSCHED_OK);
}

static void small_queue(waits_small_small *t, const char *name, uint32_t device, uint32_t machine) {
  uint32_t id;
  fsched_queue_desc d = {
      .size = sizeof d, .name = name, .queue_class = name, .device = device, .machine = machine};
  ck_assert_int_eq(fsched_builder_queue(t->b, &d, &id), FSCHED_OK);
}

/* Adds an op; `on` is a queue, or two for a gang.  It comes after ops a and b (FSCHED_NONE:
 * none). */
static uint32_t small_op(waits_small_small *t, const char *name, const char *on, const char *other,
                         uint32_t a, uint32_t b) {
  uint32_t id;
  const char *gang[] = {on, other};
  fsched_op_desc d = {.size = sizeof d, .name = name, .on = on, .time = 1};
  if (other != NULL) {
    d.gang = gang;
    d.n_gang = 2;
  }
  ck_assert_int_eq(fsched_builder_op(t->b, &d, &id), FSCHED_OK);
  if (a != FSCHED_NONE) {
    ck_assert_int_eq(fsched_builder_after(t->b, id, a), FSCHED_OK);
  }
  if (b != FSCHED_NONE) {
    ck_assert_int_eq(fsched_builder_after(t->b, id, b), FSCHED_OK);
  }
  return id;
}

static void small_run(waits_small_small *t) {
  fs_listsched_options options = {.seed = 0};
  ck_assert_int_eq(fsched_builder_finish(t->b, &t->g), FSCHED_OK);
  ck_assert_int_eq(fs_listsched_run(t->ctx, t->g, &options, &t->s), FSCHED_OK);
  t->y = (fs_sync){.schedule = t->s};
  fs_arena_init(&t->y.arena, t->ctx);
  ck_assert_int_eq(fs_ctrledge_run(t->ctx, t->s, NULL, &t->y), FSCHED_OK);
  ck_assert_int_eq(fs_waits_run(t->ctx, t->s, &t->y), FSCHED_OK);
}

static void small_end(waits_small_small *t) {
  fs_arena_release(&t->y.arena);
  fs_schedule_destroy(t->s);
  fsched_graph_destroy(t->g);
  fsched_builder_destroy(t->b);
  fsched_context_destroy(t->ctx);
}

START_TEST(scopes_are_the_narrowest)
{
  waits_small_small t;
  small_begin(&t);
  small_queue(&t, "a", 0, 0);
  small_queue(&t, "b", 0, 0);
  small_queue(&t, "c", 1, 0);
  small_queue(&t, "d", 0, 1);
  uint32_t alone = small_op(&t, "alone", "a", NULL, FSCHED_NONE, FSCHED_NONE);
  uint32_t near = small_op(&t, "near", "a", NULL, alone, FSCHED_NONE);
  (void)small_op(&t, "x", "b", NULL, near, FSCHED_NONE);
  uint32_t group = small_op(&t, "group", "a", NULL, near, FSCHED_NONE);
  (void)small_op(&t, "y1", "b", NULL, group, FSCHED_NONE);
  (void)small_op(&t, "y2", "c", NULL, group, FSCHED_NONE);
  uint32_t far = small_op(&t, "far", "a", NULL, group, FSCHED_NONE);
  (void)small_op(&t, "z1", "c", NULL, far, FSCHED_NONE);
  (void)small_op(&t, "z2", "d", NULL, far, FSCHED_NONE);
  small_run(&t);
  const struct {
    uint32_t op;
    fs_scope scope;
  } expected[] = {{alone, FS_SCOPE_QUEUE},
                  {near, FS_SCOPE_DEVICE},
                  {group, FS_SCOPE_DEVICE_GROUP},
                  {far, FS_SCOPE_SYSTEM}};
  for (int i = 0; i < 4; i++) {
    uint32_t command = t.y.item_command[t.y.item_command0[expected[i].op]];
    ck_assert_int_eq(t.y.scope[command], expected[i].scope);
    ck_assert_int_eq(t.y.signal[command], expected[i].scope != FS_SCOPE_QUEUE);
  }
  small_end(&t);
}
END_TEST

/* Members of a gang do not know each other: the next op on a member's queue that needs the gang
 * waits for its collective axis; the op after that one knows it. */
START_TEST(gangs_are_waited_for_as_a_whole)
{
  waits_small_small t;
  small_begin(&t);
  small_queue(&t, "a", 0, 0);
  small_queue(&t, "b", 0, 0);
  small_queue(&t, "c", 0, 0);
  uint32_t gang = small_op(&t, "gang", "a", "b", FSCHED_NONE, FSCHED_NONE);
  uint32_t next = small_op(&t, "next", "a", NULL, gang, FSCHED_NONE);
  uint32_t last = small_op(&t, "last", "a", NULL, gang, next);
  uint32_t other = small_op(&t, "other", "c", NULL, gang, last);
  small_run(&t);
  const fs_sync *y = &t.y;
  ck_assert_uint_eq(y->n_axes, 4);
  uint32_t command = y->item_command[y->item_command0[next]];
  ck_assert_uint_eq(y->wait0[command + 1] - y->wait0[command], 1);
  ck_assert_uint_eq(y->wait[y->wait0[command]].axis, 3);
  ck_assert_uint_eq(y->wait[y->wait0[command]].epoch, 1);
  command = y->item_command[y->item_command0[last]];
  ck_assert_uint_eq(y->wait0[command + 1], y->wait0[command]);
  command = y->item_command[y->item_command0[other]];
  ck_assert_uint_eq(y->wait0[command + 1] - y->wait0[command], 1);
  ck_assert_uint_eq(y->wait[y->wait0[command]].axis, 0);
  ck_assert_uint_eq(y->waits_edges, 5);
  ck_assert_uint_eq(y->waits_same_queue, 1);
  ck_assert_uint_eq(y->waits_dominated, 2);
  small_end(&t);
}
END_TEST

/* There is one version in one memory: op 0 writes it into place 0, copy 0 writes it out, op 1
 * changes it in place, copy 1 writes it out again, copy 2 reads it into place 1 and, at another
 * time, copy 3 into place 2, where op 2 changes it, and copy 4 writes it out. */
START_TEST(orderings_of_copies)
{
  enum { OPS = 3, COPIES = 5, ITEMS = OPS + COPIES };
  uint64_t ten[] = {10};
  uint32_t zero[8] = {0};
  uint32_t one_each[] = {0, 1, 2, 3};
  uint8_t tags[] = {FSCHED_OUT, FSCHED_INOUT, FSCHED_INOUT};
  uint64_t offset[3] = {0};
  uint64_t length[] = {10, 10, 10};
  fs_memory memory = {.capacity = 100, .align = 1, .placement = FSCHED_CONTIGUOUS};
  fsched_graph g = {.target = {.n_memories = 1, .memory = &memory},
                    .n_buffers = 1,
                    .buffer_memory = zero,
                    .buffer_size = ten,
                    .n_versions = 1,
                    .version_buffer = zero,
                    .n_ops = OPS,
                    .n_args = OPS,
                    .op_arg0 = one_each,
                    .arg_tag = tags,
                    .arg_buffer = zero,
                    .arg_version = zero,
                    .arg_offset = offset,
                    .arg_length = length,
                    .op_scratch0 = zero,
                    .pred0 = zero};
  uint32_t order[] = {0, 3, 1, 4, 5, 6, 2, 7};
  uint8_t kinds[] = {FS_SPILL_WRITE, FS_SPILL_WRITE, FS_SPILL_READ, FS_SPILL_READ, FS_SPILL_WRITE};
  uint32_t places[] = {0, 0, 1, 2, 2};
  uint32_t no_store[] = {FS_NONE, FS_NONE, FS_NONE, FS_NONE, FS_NONE};
  uint32_t arg_places[] = {0, 0, 2};
  uint64_t sizes[] = {10, 10, 10};
  fs_schedule s = {.ctx = ctx,
                   .graph = &g,
                   .n_items = ITEMS,
                   .n_copies = COPIES,
                   .order = order,
                   .copy_kind = kinds,
                   .copy_version = zero,
                   .copy_residency = places,
                   .copy_store = no_store,
                   .n_residencies = 3,
                   .res_version = zero,
                   .res_memory = zero,
                   .res_size = sizes,
                   .arg_residency = arg_places};
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  fs_accesses acc;
  ck_assert_int_eq(fs_accesses_collect(ctx, &s, FS_SYNC_TIMELINE, &arena, &arena, &acc), FSCHED_OK);
  const uint32_t expected[][2] = {{3, 1}, {6, 2}, {0, 3}, {1, 4}, {3, 4},
                                  {4, 5}, {4, 6}, {2, 7}, {5, 7}, {6, 7}}; /* by `to` */
  uint32_t n = 0;
  for (uint32_t to = 0; to < ITEMS; to++) {
    for (uint32_t i = acc.data0[to]; i < acc.data0[to + 1]; i++, n++) {
      ck_assert_uint_lt(n, 10);
      ck_assert_uint_eq(acc.data[i], expected[n][0]);
      ck_assert_uint_eq(to, expected[n][1]);
      ck_assert(fs_direct_edge(&s, &acc, acc.data[i], to));
    }
  }
  ck_assert_uint_eq(n, 10);
  fs_arena_release(&arena);
}
END_TEST

FS_SUITE(waits_small, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, clocks_against_arrays, scopes_are_the_narrowest, gangs_are_waited_for_as_a_whole,
           orderings_of_copies);
}
