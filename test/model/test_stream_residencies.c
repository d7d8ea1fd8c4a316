/* SPDX-License-Identifier: Apache-2.0 */
/* Residencies of streams: on random graphs they are those of the schedules; cases made by hand show
 * what plans rarely contain. */
#include "model/stream/residencies.h"

#include "draw/trace_cases.h"
#include "kit/replay_maker.h"

#include "kit/replay_kit.h"

/* ---- compared with the schedule's */

static uint32_t op_of_scratch(const fs_stream *s, uint32_t scratch) {
  uint32_t op = 0;
  while (scratch < s->ops[op].scratch0 || scratch - s->ops[op].scratch0 >= s->ops[op].n_scratches) {
    op++;
  }
  return op;
}

static void rects_of_stream(rects *v, const fs_stream *s, uint64_t makespan) {
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  fs_stream_order order;
  fs_stream_residencies r;
  uint64_t *begin, *end;
  fs_time_span *span;
  ck_fs(ctx, fs_stream_order_find(&arena, s, &order));
  ck_assert_uint_eq(order.n_runnable, s->n_commands);
  ck_fs(ctx, fs_stream_residencies_find(&arena, s, &order, &r));
  planned_times(s, &arena, &begin, &end);
  ck_fs(ctx, fs_new(&arena, &span, r.n));
  fs_stream_residencies_time(&r, begin, end, makespan, span);
  for (uint32_t i = 0; i < r.n; i++) {
    uint32_t op = r.scratch[i] == FS_NONE ? FS_NONE : op_of_scratch(s, r.scratch[i]);
    add_rect(
        ctx, v,
        (rect){r.memory[i], r.version[i], op, r.address[i], r.size[i], span[i].begin, span[i].end});
  }
  fs_arena_release(&arena);
}

static void assert_same_rects(uint64_t seed, const rects *a, const rects *b) {
  for (size_t i = 0; i < a->n && i < b->n; i++) {
    const rect *x = &a->at[i], *y = &b->at[i];
    ck_assert_msg(compare_rects(x, y) == 0,
                  "seed %llu: schedule memory %u version %d op %d [%llu,+%llu) in [%llu,%llu), "
                  "stream memory %u version %d op %d [%llu,+%llu) in [%llu,%llu)",
                  (unsigned long long)seed, x->memory, (int)x->version, (int)x->op,
                  (unsigned long long)x->address, (unsigned long long)x->size,
                  (unsigned long long)x->begin, (unsigned long long)x->end, y->memory,
                  (int)y->version, (int)y->op, (unsigned long long)y->address,
                  (unsigned long long)y->size, (unsigned long long)y->begin,
                  (unsigned long long)y->end);
  }
  ck_assert_uint_eq(a->n, b->n);
}

static void sort_rects(rects *v) {
  if (v->n > 1) {
    qsort(v->at, v->n, sizeof *v->at, compare_rects);
  }
}

/* Adds how many are store copies to *stores. */
static void compare_residencies(uint64_t seed, const compiled *c, uint32_t *stores) {
  rects wanted = {0}, found = {0};
  rects_of_schedule(&wanted, c->schedule);
  rects_of_stream(&found, &c->program->view, c->schedule->schedule->makespan);
  sort_rects(&wanted);
  sort_rects(&found);
  assert_same_rects(seed, &wanted, &found);
  for (size_t i = 0; i < wanted.n; i++) {
    const rect *r = &wanted.at[i];
    *stores += r->version != FS_NONE && r->memory != fs_version_memory(c->graph, r->version);
  }
  fs_vec_free(ctx, &wanted);
  fs_vec_free(ctx, &found);
}

START_TEST(residencies_are_the_schedules)
{
  uint32_t stores = 0;
  for (uint64_t seed = 1; seed <= 400; seed++) {
    fs_gen_params params = any_params(seed);
    compiled c = compile(ctx, &params);
    compare_residencies(seed, &c, &stores);
    drop(&c);
  }
}
END_TEST

START_TEST(store_copies_are_the_schedules)
{
  uint32_t stores = 0;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    compiled c = compile_bounded_store(ctx, seed);
    compare_residencies(seed, &c, &stores);
    drop(&c);
  }
  ck_assert_uint_gt(stores, 600);
}
END_TEST

/* ---- by hand */

typedef struct found_case {
  fs_arena arena;
  fs_stream_order order;
  fs_stream_residencies r;
  fs_time_span *span;
} found_case;

static void find_residencies(found_case *f) {
  const fs_stream *s = &m->program.view;
  uint64_t *begin, *end;
  fs_arena_init(&f->arena, ctx);
  ck_fs(ctx, fs_stream_order_find(&f->arena, s, &f->order));
  ck_fs(ctx, fs_stream_residencies_find(&f->arena, s, &f->order, &f->r));
  planned_times(s, &f->arena, &begin, &end);
  ck_fs(ctx, fs_new(&f->arena, &f->span, f->r.n));
  fs_stream_residencies_time(&f->r, begin, end, 100, f->span);
}

static void check_residency(const found_case *f, uint32_t i, uint64_t address, uint64_t begin,
                            uint64_t end) {
  ck_assert_uint_lt(i, f->r.n);
  ck_assert_uint_eq(f->r.address[i], address);
  ck_assert_uint_eq(f->span[i].begin, begin);
  ck_assert_uint_eq(f->span[i].end, end);
}

static void add_units(bool counted, uint32_t memory, uint32_t version, uint64_t address) {
  if (counted) {
    mk_place(m, memory, address, 8, version, FS_NONE, FS_MODE_R)->space = FS_SPACE_COUNTED;
  }
}

/* At one instant an op without length reads a version for the last time where it was, and it is
 * fetched again elsewhere: nothing orders the two. */
START_TEST(old_place_is_still_read)
{
  bool counted = _i == 1;
  uint64_t again = counted ? 0 : 40; /* the bytes of counted memories have one address for all */
  uint32_t cmx = mk_memory(m, "cmx", 100), ddr = mk_memory(m, "ddr", 100);
  uint32_t dma = mk_queue(m, "dma"), dpu = mk_queue(m, "dpu");
  uint32_t x = (mk_buffer(m, "x", 8, FSCHED_IO_INPUT), mk_version(m, cmx, 0));
  m->buffers[0].memory = cmx;
  m->memories[cmx].backing = ddr;
  m->memories[cmx].placement = counted ? FSCHED_COUNTED : FSCHED_CONTIGUOUS;
  m->memories[ddr].capacity = FS_UNBOUNDED;
  mk_given(m, x, ddr, 50);
  fs_stream_command *c = mk_copy(m, dma, x, FS_SPILL_READ, ddr, 50, cmx, 0);
  c->start = 0, c->end = 2;
  add_units(counted, cmx, x, 0);
  c = mk_copy(m, dma, x, FS_SPILL_READ, ddr, 50, cmx, again);
  c->start = 5, c->end = 6;
  add_units(counted, cmx, x, 40);
  (void)mk_op(m, "old"), mk_range(m, FSCHED_IN, x, 2, 3), mk_range(m, FSCHED_IN, x, 0, 1);
  c = mk_run(m, dpu, 0), mk_wait(m, dma, 1);
  c->start = c->end = 5;
  add_units(counted, cmx, x, 0);
  (void)mk_op(m, "new"), mk_arg(m, FSCHED_IN, x);
  m->place_address[x] = again;
  c = mk_run(m, dpu, 1), mk_wait(m, dma, 2);
  c->start = 6, c->end = 9;
  add_units(counted, cmx, x, 40);
  found_case f;
  find_residencies(&f);
  ck_assert_uint_eq(f.r.n, 2);
  check_residency(&f, 0, 0, 0, 5);
  check_residency(&f, 1, again, 5, 9);
  ck_assert_uint_eq(f.r.touch0[1], 2); /* each command counts once */
  ck_assert_uint_eq(f.r.touch0[2], 4);
  fs_arena_release(&f.arena);
}
END_TEST

/* The version is written in parts, the second part first; an address without dependencies does not
 * count. */
START_TEST(begun_by_a_part)
{
  uint32_t cmx = mk_memory(m, "cmx", 100), a = mk_queue(m, "a"), b = mk_queue(m, "b");
  uint32_t x = (mk_buffer(m, "x", 8, FSCHED_IO_NONE), mk_version(m, cmx, 30));
  m->buffers[0].memory = cmx;
  (void)mk_op(m, "second"), mk_range(m, FSCHED_OUT_EXISTING, x, 4, 4);
  (void)mk_op(m, "first"), mk_range(m, FSCHED_OUT_EXISTING, x, 0, 4);
  (void)mk_op(m, "look"), mk_arg(m, FSCHED_NO_DEP, x);
  fs_stream_command *c = mk_run(m, a, 0);
  c->start = 1, c->end = 2;
  c = mk_run(m, b, 1);
  c->start = 1, c->end = 3;
  c = mk_run(m, b, 2);
  c->start = 3, c->end = 9;
  found_case f;
  find_residencies(&f);
  ck_assert_uint_eq(f.r.n, 1);
  check_residency(&f, 0, 30, 1, 3);
  fs_arena_release(&f.arena);
}
END_TEST

FS_SUITE(stream_residencies, s) {
  TCase *t = fs_case(s, fs_test_maker);
  FS_TESTS(t, residencies_are_the_schedules, store_copies_are_the_schedules, begun_by_a_part);
  FS_LOOPS(t, 0, 2, old_place_is_still_read);
}
