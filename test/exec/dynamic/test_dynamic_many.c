/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of dynamic runs with many tasks: chains on a small stack, heaps that turn over, groups
 * and amounts that get their turn; and without memory. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "exec/dynamic/engine.h"
#include "kit/budget.h"
#include "kit/context.h"

/* ck_assert takes about a microsecond. */
static void must(bool holds) {
  if (!holds) {
    ck_abort_msg("a step of many went wrong");
  }
}

enum { CHAIN = 1000000, TURNS = 10000000, STACK = 128 << 10 };

static fs_dynamic *make_engine(fsched_context *own, uint32_t n_queues, fsched_hazards hazards) {
  fs_dynamic_options o = {.n_queues = n_queues, .heap_size = 1 << 20, .hazards = hazards};
  fs_dynamic *e;
  ck_fs(own, fs_dynamic_create(own, &o, &e));
  return e;
}

static fs_dynamic_buffer import_bytes(fs_dynamic *e, uint64_t address) {
  fs_dynamic_import d = {64, address, true, true, false};
  fs_dynamic_buffer b = 0;
  ck_fs(ctx, fs_dynamic_import_buffer(e, &d, &b));
  return b;
}

static fs_status submit_args(fs_dynamic *e, uint32_t n_args, const fs_dynamic_arg *arg,
                             fs_dynamic_task *out, fs_dynamic_where *where) {
  fs_dynamic_member m = {n_args, arg};
  fs_dynamic_submission s = {.n_members = 1, .member = &m};
  return fs_dynamic_submit(e, &s, out, where);
}

/* A chain, of which the first task fails or completes. */
typedef struct task_chain {
  fs_dynamic *e;
  bool fails;
} task_chain;

static void *end_chain(void *user) {
  const task_chain *c = user;
  fs_dynamic_start s;
  if (c->fails) {
    ck_assert(fs_dynamic_next(c->e, &s));
    fs_dynamic_fail(c->e, s.task, 0, "the first");
    return NULL;
  }
  for (uint32_t n = 0; n < CHAIN; n++) {
    must(fs_dynamic_next(c->e, &s));
    fs_dynamic_complete(c->e, s.task, 0);
  }
  return NULL;
}

static void on_small_stack(void *(*body)(void *), void *user) {
  pthread_attr_t attr;
  pthread_t thread;
  ck_assert_int_eq(pthread_attr_init(&attr), 0);
  ck_assert_int_eq(pthread_attr_setstacksize(&attr, STACK), 0);
  ck_assert_int_eq(pthread_create(&thread, &attr, body, user), 0);
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  (void)pthread_attr_destroy(&attr);
}

START_TEST(chains_need_no_stack)
{
  task_chain c = {make_engine(ctx, 2, FSCHED_HAZARDS_SEQUENTIAL), _i == 0};
  fs_dynamic_arg a = {.tag = FSCHED_INOUT, .buffer = import_bytes(c.e, 0)};
  fs_dynamic_task first = 0, last = 0;
  for (uint32_t i = 0; i < CHAIN; i++) {
    must(submit_args(c.e, 1, &a, &last, NULL) == FSCHED_OK);
    first = i == 0 ? last : first;
  }
  ck_assert_int_eq(fs_dynamic_task_get(c.e, last).state, FS_TASK_PENDING);
  on_small_stack(end_chain, &c);
  for (fs_dynamic_task t = first; t <= last; t++) {
    must(fs_dynamic_task_get(c.e, t).state == FS_TASK_CONSUMED);
  }
  ck_assert_uint_eq(fs_dynamic_accesses(c.e), 0);
  ck_assert_uint_eq(fs_dynamic_active(c.e), 0);
  fs_dynamic_start s;
  ck_assert(!fs_dynamic_next(c.e, &s));
  if (c.fails) {
    ck_assert_str_eq(fs_dynamic_task_get(c.e, last).cause, "the first");
    ck_assert_int_eq(submit_args(c.e, 1, &a, &last, NULL), FSCHED_REPLAY);
    ck_assert_str_eq(fs_test_diags(ctx), "the first");
  }
  fs_dynamic_destroy(c.e);
}
END_TEST

/* A ring's worth of tasks is under way all the time; slots and all else are used again. */
START_TEST(heaps_turn_over)
{
  enum { WINDOW = 64, BYTES = 16000 }; /* 64 pieces of 16 KiB are the heap */
  fs_budget budget = {.left = LONG_MAX};
  fsched_context_options o = {
      .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
  fsched_context *own;
  ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
  fs_dynamic *e = make_engine(own, 1, FSCHED_HAZARDS_SEQUENTIAL);
  fs_dynamic_start s;
  long held = 0;
  for (uint32_t i = 0; i < TURNS; i++) {
    if (i >= WINDOW) {
      must(fs_dynamic_next(e, &s));
      must((s.task & UINT32_MAX) == i % WINDOW);
      fs_dynamic_complete(e, s.task, 0);
    }
    fs_dynamic_arg a = {.tag = FSCHED_OUT};
    fs_dynamic_task t;
    fs_dynamic_where where;
    must(fs_dynamic_declare(e, BYTES, &a.buffer) == FSCHED_OK);
    must(submit_args(e, 1, &a, &t, &where) == FSCHED_OK);
    must(where.offset == (uint64_t)(i % WINDOW) << 14);
    must(fs_dynamic_forget(e, a.buffer) == FSCHED_OK);
    must(i < 2 * WINDOW || budget.held == held);
    held = budget.held;
  }
  fs_dynamic_destroy(e);
  fsched_context_destroy(own);
  ck_assert_int_eq(budget.blocks, 0);
}
END_TEST

/* Tiles of one buffer in any order cost no more than those of many; what is missing is known. */
START_TEST(many_tiles)
{
  enum { TILES = 100003, TILE = 8, STEP = 7919 }; /* a prime number, and a step through all */
  fs_dynamic *e = make_engine(ctx, 1, FSCHED_HAZARDS_SEQUENTIAL);
  fs_dynamic_arg a = {.tag = FSCHED_OUT_EXISTING, .has_view = true};
  fs_dynamic_arg all = {.tag = FSCHED_IN};
  fs_dynamic_task t;
  ck_fs(ctx, fs_dynamic_declare(e, (uint64_t)TILES * TILE, &a.buffer));
  all.buffer = a.buffer;
  for (uint32_t i = 0; i < TILES; i++) {
    uint64_t tile = (uint64_t)i * STEP % TILES;
    a.view = (fs_view){tile * TILE, TILE, 0, {0}, {0}};
    must(submit_args(e, 1, &a, &t, NULL) == FSCHED_OK);
    must((fs_dynamic_predecessors(e, t, NULL, 0) == 1) == (i > 0)); /* whose memory it is */
    if (i == TILES - 2) {
      ck_assert_int_eq(submit_args(e, 1, &all, &t, NULL), FSCHED_BAD_INPUT);
    }
  }
  ck_assert_uint_eq(fs_dynamic_accesses(e), TILES);
  ck_fs(ctx, submit_args(e, 1, &all, &t, NULL));
  ck_assert_uint_eq(fs_dynamic_predecessors(e, t, NULL, 0), TILES);
  fs_dynamic_destroy(e);
}
END_TEST

/* Memory of the user without bytes gives an order, as in a captured graph. */
START_TEST(empty_memory_gives_an_order)
{
  fs_dynamic_options o = {.n_queues = 1, .heap_size = 1024};
  fs_dynamic_import none = {0, 0, true, true, false};
  fs_dynamic *e;
  fs_dynamic_task t;
  fs_dynamic_arg a = {.tag = FSCHED_INOUT};
  ck_fs(ctx, fs_dynamic_create(ctx, &o, &e));
  ck_fs(ctx, fs_dynamic_import_buffer(e, &none, &a.buffer));
  for (uint32_t i = 0; i < 2; i++) {
    ck_fs(ctx, submit_args(e, 1, &a, &t, NULL));
    ck_assert_uint_eq(fs_dynamic_predecessors(e, t, NULL, 0), i);
  }
  fs_dynamic_destroy(e);
}
END_TEST

/* Views of rows of a byte each, every other byte of a buffer: those that are written, and what may
 * then be read or updated.  Beyond FS_VIEW_STEPS runs (_i: 1) only what is known to read unwritten
 * bytes is refused; what has been written is known however long it is. */
START_TEST(what_may_be_unwritten)
{
  const uint64_t rows = _i == 1 ? 4 * FS_VIEW_STEPS : 1000;
  const fs_status open = _i == 1 ? FSCHED_OK : FSCHED_BAD_INPUT;
  const struct {
    fsched_tag tag;
    uint64_t first, rows, step;
    fs_status status;
  } look[] = {{FSCHED_IN, 0, rows, 2, FSCHED_OK},
              {FSCHED_IN, 20, rows - 10, 2, FSCHED_OK},
              {FSCHED_IN, 0, rows + 1, 2, open},
              {FSCHED_INOUT, 0, rows + 1, 2, open},
              {FSCHED_IN, 0, rows / 2, 4, _i == 1 ? open : FSCHED_OK},
              {FSCHED_IN, 1, rows, 2, FSCHED_BAD_INPUT},        /* the first byte is not */
              {FSCHED_IN, 0, 2 * rows, 1, FSCHED_BAD_INPUT},    /* the second one is not, */
              {FSCHED_INOUT, 0, 2 * rows, 1, FSCHED_BAD_INPUT}, /* and others are */
              {FSCHED_INOUT, 1, rows, 2, FSCHED_OK}};           /* none is */
  for (size_t i = 0; i < sizeof look / sizeof look[0]; i++) {
    fs_dynamic_options o = {.n_queues = 1, .heap_size = 1 << 20};
    fs_dynamic *e;
    fs_dynamic_task t;
    ck_fs(ctx, fs_dynamic_create(ctx, &o, &e));
    fs_dynamic_arg a = {.tag = FSCHED_OUT_EXISTING, .has_view = true};
    ck_fs(ctx, fs_dynamic_declare(e, 2 * rows + 2, &a.buffer));
    a.view = (fs_view){0, 1, 1, {rows}, {2}};
    ck_fs(ctx, submit_args(e, 1, &a, &t, NULL));
    a.tag = look[i].tag;
    a.view = (fs_view){look[i].first, 1, 1, {look[i].rows}, {look[i].step}};
    fs_status status = submit_args(e, 1, &a, &t, NULL);
    ck_assert_msg(status == look[i].status, "%zu: %d", i, (int)status);
    fs_dynamic_destroy(e);
  }
}
END_TEST

/* A group of all workers, under tasks that never end to come. */
START_TEST(groups_get_their_turn)
{
  enum { QUEUES = 4 };
  fs_dynamic *e = make_engine(ctx, QUEUES, FSCHED_HAZARDS_RAW);
  fs_dynamic_member m[QUEUES] = {{0}};
  fs_dynamic_task group = 0, t;
  fs_dynamic_task running[QUEUES];
  static const uint32_t all[QUEUES] = {3, 1, 0, 2};
  fs_dynamic_submission s = {.n_members = QUEUES, .member = m};
  if (_i == 1) {
    s.n_queues = QUEUES;
    s.queue = all;
  }
  fs_dynamic_start start;
  uint32_t n_running = 0, before = 0;
  for (uint32_t i = 0; i < 100; i++) {
    ck_fs(ctx, submit_args(e, 0, NULL, &t, NULL));
    if (i == 10) {
      ck_fs(ctx, fs_dynamic_submit(e, &s, &group, NULL));
      before = i + 1;
    }
    while (fs_dynamic_next(e, &start) && start.n_members == 1) {
      ck_assert_uint_lt(n_running, QUEUES);
      running[n_running++] = start.task;
    }
    if (group != 0 && fs_dynamic_task_get(e, group).state == FS_TASK_RUNNING) {
      break;
    }
    /* Workers end one after the other, so that without keeping two are never idle at once. */
    if (n_running == QUEUES || (before > 0 && n_running > 0)) {
      fs_dynamic_complete(e, running[0], 0);
      memmove(running, running + 1, --n_running * sizeof *running);
    }
  }
  ck_assert_uint_gt(before, 0);
  ck_assert_int_eq(fs_dynamic_task_get(e, group).state, FS_TASK_RUNNING);
  ck_assert_uint_eq(n_running, 0);
  for (uint32_t i = 0; i < QUEUES; i++) {
    ck_assert(_i == 0 || start.queue[i] == all[i]);
    ck_assert_int_eq(fs_dynamic_task_get(e, group).state, FS_TASK_RUNNING);
    fs_dynamic_complete(e, group, i);
  }
  ck_assert_int_eq(fs_dynamic_task_get(e, group).state, FS_TASK_CONSUMED);
  fs_dynamic_destroy(e);
}
END_TEST

/* A group keeps no more queues of a class than it needs, and none of others. */
START_TEST(others_go_on)
{
  static const uint32_t class_of[] = {0, 0, 0, 1};
  fs_dynamic_options o = {.n_queues = 4, .class_of = class_of, .heap_size = 1024};
  fs_dynamic *e;
  ck_fs(ctx, fs_dynamic_create(ctx, &o, &e));
  fs_dynamic_member m[2] = {{0}};
  fs_dynamic_task first[2], group, later[4];
  fs_dynamic_start s;
  for (uint32_t i = 0; i < 2; i++) { /* two of three workers are busy */
    ck_fs(ctx, submit_args(e, 0, NULL, &first[i], NULL));
    ck_assert(fs_dynamic_next(e, &s));
  }
  ck_fs(ctx,
        fs_dynamic_submit(e, &(fs_dynamic_submission){.n_members = 2, .member = m}, &group, NULL));
  for (uint32_t i = 0; i < 3; i++) {
    ck_fs(ctx, submit_args(e, 0, NULL, &later[i], NULL));
  }
  ck_fs(ctx,
        fs_dynamic_submit(e, &(fs_dynamic_submission){.n_members = 1, .member = m, .class_ = 1},
                          &later[3], NULL));
  ck_assert(fs_dynamic_next(e, &s)); /* the other class does not wait */
  ck_assert_uint_eq(s.task, later[3]);
  ck_assert(!fs_dynamic_next(e, &s)); /* the third worker is kept */
  fs_dynamic_complete(e, first[1], 0);
  ck_assert(fs_dynamic_next(e, &s));
  ck_assert_uint_eq(s.task, group);
  fs_dynamic_complete(e, first[0], 0);
  ck_assert(fs_dynamic_next(e, &s));
  ck_assert_uint_eq(s.task, later[0]);
  ck_assert(!fs_dynamic_next(e, &s));
  fs_dynamic_destroy(e);
}
END_TEST

/* A group does not start on what an older group keeps, and starts on what none keeps. */
START_TEST(younger_groups_wait)
{
  static const uint32_t queue[3][2] = {{0, 1}, {1, 2}, {3, 2}};
  fs_dynamic *e = make_engine(ctx, 4, FSCHED_HAZARDS_SEQUENTIAL);
  fs_dynamic_member m[2] = {{0}};
  fs_dynamic_submission s = {.n_members = 1, .member = m, .n_queues = 1, .queue = queue[0]};
  fs_dynamic_task first, group[3];
  fs_dynamic_start start;
  ck_fs(ctx, fs_dynamic_submit(e, &s, &first, NULL));
  ck_assert(fs_dynamic_next(e, &start));
  s.n_members = s.n_queues = 2;
  for (uint32_t i = 0; i < 3; i++) {
    s.queue = queue[i];
    ck_fs(ctx, fs_dynamic_submit(e, &s, &group[i], NULL));
  }
  ck_assert(fs_dynamic_next(e, &start)); /* 3 and 2 are idle, and not those of the oldest group */
  ck_assert_uint_eq(start.task, group[2]);
  fs_dynamic_complete(e, group[2], 0);
  fs_dynamic_complete(e, group[2], 1);
  ck_assert(!fs_dynamic_next(e, &start)); /* 1 and 2 are idle, but 1 is kept */
  fs_dynamic_complete(e, first, 0);
  ck_assert(fs_dynamic_next(e, &start));
  ck_assert_uint_eq(start.task, group[0]);
  fs_dynamic_destroy(e);
}
END_TEST

/* A task that uses all of a resource (0), or one of two queues where one task may run at once (1),
 * under tasks that never end to come and end one after the other. */
START_TEST(amounts_get_their_turn)
{
  static const uint64_t capacity = 3;
  static const uint32_t queue[2] = {0, 1};
  fs_dynamic_options o = {.n_queues = 5, .n_resources = 1, .capacity = &capacity};
  o.concurrency = _i == 1 ? 1 : 0;
  fs_dynamic *e;
  ck_fs(ctx, fs_dynamic_create(ctx, &o, &e));
  fs_dynamic_member m = {0};
  fs_dynamic_amount all = {0, 3}, one = {0, 1};
  fs_dynamic_task wanted = 0, t, running[5];
  fs_dynamic_start start;
  uint32_t n_running = 0, i = 0;
  for (; i < 100 && (wanted == 0 || fs_dynamic_task_get(e, wanted).state != FS_TASK_RUNNING); i++) {
    fs_dynamic_submission s = {.n_members = 1, .member = &m, .n_queues = (uint32_t)_i};
    s.queue = &queue[i == 10];
    s.n_uses = _i == 0;
    s.use = i == 10 ? &all : &one;
    for (uint32_t k = 0; k < (i < 5 ? 2 : 1); k++) { /* some are always ready */
      ck_fs(ctx, fs_dynamic_submit(e, &s, i == 10 ? &wanted : &t, NULL));
    }
    if (n_running == (_i == 0 ? 3 : 1) || (i > 10 && n_running > 0)) {
      fs_dynamic_complete(e, running[0], 0);
      memmove(running, running + 1, --n_running * sizeof *running);
    }
    while (fs_dynamic_next(e, &start)) {
      ck_assert_uint_lt(n_running, _i == 0 ? 3 : 1);
      running[n_running++] = start.task;
    }
  }
  ck_assert_uint_lt(i, 30);
  ck_assert_uint_eq(n_running, 1);
  fs_dynamic_destroy(e);
}
END_TEST

/* What an older task waits for does not hold up those that need something else. */
START_TEST(other_amounts_go_on)
{
  static const uint64_t capacity[] = {2, 5};
  fs_dynamic_options o = {.n_queues = 8, .n_resources = 2, .capacity = capacity};
  fs_dynamic *e;
  ck_fs(ctx, fs_dynamic_create(ctx, &o, &e));
  fs_dynamic_member m = {0};
  static const fs_dynamic_amount use[] = {{0, 1}, {0, 2}, {0, 1}, {1, 4}, {1, 2}, {1, 1}};
  fs_dynamic_task t[7];
  fs_dynamic_start s;
  for (uint32_t i = 0; i < 7; i++) {
    fs_dynamic_submission d = {.n_members = 1, .member = &m, .n_uses = i < 6, .use = &use[i]};
    ck_fs(ctx, fs_dynamic_submit(e, &d, &t[i], NULL));
  }
  static const uint32_t order[] = {6, 0, 3, 5}; /* 1 waits, 2 may not pass it, 4 has no room */
  for (uint32_t i = 0; i < 4; i++) {
    ck_assert(fs_dynamic_next(e, &s));
    ck_assert_uint_eq(s.task, t[order[i]]);
  }
  ck_assert(!fs_dynamic_next(e, &s));
  ck_assert(!fs_dynamic_claim(e, t[1], &s));
  fs_dynamic_fail(e, t[0], 0, "what it used is free all the same");
  ck_assert(fs_dynamic_next(e, &s));
  ck_assert_uint_eq(s.task, t[1]);
  fs_dynamic_destroy(e);
}
END_TEST

static fs_status submit_using(fs_dynamic *e, const fs_dynamic_amount *use, uint32_t n_uses) {
  fs_dynamic_member m = {0};
  fs_dynamic_task t;
  fs_dynamic_submission s = {.n_members = 1, .member = &m, .n_uses = n_uses, .use = use};
  return fs_dynamic_submit(e, &s, &t, NULL);
}

START_TEST(wrong_amounts)
{
  static const uint64_t capacity = 3;
  fs_dynamic_options o = {.n_queues = 1, .n_resources = 1, .capacity = &capacity};
  fs_dynamic *e;
  ck_fs(ctx, fs_dynamic_create(ctx, &o, &e));
  static const fs_dynamic_amount use[] = {{0, 4}, {1, 1}, {0, 0}, {0, 1}, {0, 1}};
  ck_assert_int_eq(submit_using(e, use, 1), FSCHED_BAD_INPUT);
  ck_assert_str_eq(fs_test_diags(ctx), "4 of resource 0 are needed, and it has 3");
  ck_assert_int_eq(submit_using(e, use + 1, 1), FSCHED_BAD_INPUT);
  ck_assert_int_eq(submit_using(e, use + 2, 1), FSCHED_BAD_INPUT);
  ck_assert_int_eq(submit_using(e, use + 3, 2), FSCHED_BAD_INPUT);
  ck_fs(ctx, submit_using(e, use + 3, 1));
  fs_dynamic_destroy(e);
}
END_TEST

/* Heaps of sizes and alignments of their own, and which of them a task takes. */
START_TEST(heaps_of_their_own)
{
  static const fs_heap_room room[FS_HEAP_RINGS] = {
      {10, 1, NULL}, {64, 8, NULL}, {0, 1, NULL}, {2048, 512, NULL}};
  static const uint64_t scratch[] = {3, 5};
  fs_dynamic_options o = {.n_queues = 1, .heap = room};
  fs_dynamic *e;
  ck_fs(ctx, fs_dynamic_create(ctx, &o, &e));
  fs_dynamic_arg a = {.tag = FSCHED_OUT};
  fs_dynamic_member m = {1, &a};
  fs_dynamic_task t;
  for (uint32_t heap = 0; heap <= FS_HEAP_RINGS; heap++) {
    fs_dynamic_where where[3];
    fs_dynamic_submission s = {
        .n_members = 1, .member = &m, .n_scratch = 2, .scratch = scratch, .heap = heap};
    uint32_t ring = heap == 0 ? 0 : heap - 1;
    uint64_t align = room[ring].align;
    ck_fs(ctx, fs_dynamic_declare(e, 2, &a.buffer));
    fs_status status = fs_dynamic_submit(e, &s, &t, where);
    if (ring == 2 || heap == 1) { /* there is nothing; 10 bytes are in use */
      ck_assert_int_eq(status, FSCHED_INFEASIBLE);
      continue;
    }
    ck_fs(ctx, status);
    for (uint32_t i = 0; i < 3; i++) {
      ck_assert_uint_eq(where[i].heap, ring);
      ck_assert_uint_eq(where[i].offset % align, 0);
    }
    ck_assert_uint_eq(where[1].offset, where[0].offset + fs_max(align, 2));
    ck_assert_uint_eq(where[2].offset, where[1].offset + fs_max(align, 3));
  }
  fs_dynamic_destroy(e);
}
END_TEST

/* Versions that are made by themselves: each in the heap that is asked for, which tells its name
 * when it is full; what is held stays, and what nothing holds comes back once its last user has
 * ended. */
START_TEST(made_in_heaps)
{
  enum { HEAPS = 6 };
  fs_heap_room room[HEAPS];
  for (uint32_t i = 0; i < HEAPS; i++) {
    room[i] = (fs_heap_room){16 * (i + (uint64_t)1), 16, i == 5 ? "m5" : NULL};
  }
  fs_dynamic_options o = {.n_queues = 1, .heap = room, .n_heaps = HEAPS, .undefined = true};
  fs_dynamic *e;
  ck_fs(ctx, fs_dynamic_create(ctx, &o, &e));
  for (uint32_t i = 0; i < HEAPS; i++) {
    fs_dynamic_buffer buffer, more;
    fs_dynamic_task maker, user, none;
    fs_dynamic_where where;
    ck_fs(ctx, fs_dynamic_make(e, i, 16 * (i + (uint64_t)1), &buffer, &maker, &where));
    ck_assert_uint_eq(where.heap, i);
    ck_assert_uint_eq(where.offset, 0);
    ck_assert_int_eq(fs_dynamic_make(e, i, 1, &more, &none, NULL), FSCHED_INFEASIBLE);
    ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, fsched_diag_count(ctx) - 1)->message,
                                 i == 5 ? "heap m5 of 96 bytes: 16 are needed, 0 are free"
                                        : "bytes: 16 are needed, 0 are free"));
    fs_dynamic_arg a = {.tag = FSCHED_NO_DEP, .buffer = buffer};
    fs_dynamic_member m = {1, &a};
    fs_dynamic_submission s = {.n_members = 1, .member = &m};
    ck_fs(ctx, fs_dynamic_submit(e, &s, &user, NULL));
    ck_fs(ctx, fs_dynamic_release(e, maker));
    ck_fs(ctx, fs_dynamic_forget(e, buffer));
    ck_assert_int_eq(fs_dynamic_task_get(e, maker).state, FS_TASK_COMPLETED);
    fs_dynamic_start start;
    ck_assert(fs_dynamic_next(e, &start));
    fs_dynamic_complete(e, start.task, 0);
    ck_assert_int_eq(fs_dynamic_task_get(e, maker).state, FS_TASK_CONSUMED);
    ck_fs(ctx, fs_dynamic_make(e, i, 16, &buffer, &maker, &where)); /* now there is room */
  }
  ck_fs(ctx, fs_dynamic_close(e)); /* what is held is given up */
  ck_assert_int_eq(fs_dynamic_run_state(e), FS_RUN_DONE);
  fs_dynamic_destroy(e);
}
END_TEST

/* What fails for want of memory has changed nothing, and works again with memory. */
static fs_status try_program(fsched_context *own) {
  static const uint64_t capacity = 2, scratch = 9;
  fs_dynamic_options o = {
      .n_queues = 3, .heap_size = 1 << 17, .n_resources = 1, .capacity = &capacity};
  fs_dynamic_amount use = {0, 2};
  fs_dynamic *e = NULL;
  fs_status status = fs_dynamic_create(own, &o, &e);
  uint64_t shape = 100;
  uint32_t queue[2] = {2, 0};
  fs_dynamic_arg a[2] = {{.tag = FSCHED_INOUT}, {.tag = FSCHED_OUT}};
  fs_dynamic_member m[2] = {{2, a}, {0, NULL}};
  fs_dynamic_submission s = {.n_members = 2, .member = m, .n_queues = 2, .queue = queue};
  s.n_uses = s.n_scratch = 1;
  s.use = &use;
  s.scratch = &scratch;
  fs_dynamic_task t;
  fs_dynamic_start start;
  status = status == FSCHED_OK ? fs_dynamic_scope_begin(e) : status;
  status = status == FSCHED_OK ? fs_dynamic_alloc(e, 1, &shape, 1, &a[0].buffer, &t) : status;
  status = status == FSCHED_OK ? fs_dynamic_declare(e, 64, &a[1].buffer) : status;
  for (uint32_t i = 0; i < 40 && status == FSCHED_OK; i++) {
    uint32_t accesses = fs_dynamic_accesses(e);
    uint64_t active = fs_dynamic_active(e);
    a[0].has_view = true;
    a[0].view = (fs_view){i, 1, 1, {1}, {1}};
    status = fs_dynamic_submit(e, &s, &t, NULL);
    if (status != FSCHED_OK) {
      ck_assert_uint_eq(fs_dynamic_accesses(e), accesses);
      ck_assert_uint_eq(fs_dynamic_active(e), active);
    }
  }
  if (e != NULL) { /* what was submitted ends without any memory */
    ck_assert_int_eq(fs_dynamic_close(e), FSCHED_OK);
    while (fs_dynamic_next(e, &start)) {
      fs_dynamic_complete(e, start.task, 0);
      fs_dynamic_complete(e, start.task, 1);
    }
    ck_assert_int_eq(fs_dynamic_run_state(e), FS_RUN_DONE);
    ck_assert_uint_eq(fs_dynamic_active(e), 0);
  }
  fs_dynamic_destroy(e);
  return status;
}

START_TEST(without_memory)
{
  fs_status status = FSCHED_SYSTEM;
  long n = 0;
  for (; status != FSCHED_OK; n++) {
    fs_budget budget = {.left = 1000};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *own;
    ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
    budget.left = n;
    status = try_program(own);
    ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
    ck_assert(status == FSCHED_OK || fsched_diag_errors(own) == 1);
    fsched_context_destroy(own);
    ck_assert_int_eq(budget.blocks, 0);
  }
  ck_assert_int_gt(n, 30);
}
END_TEST

FS_SUITE(dynamic_many, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 2, chains_need_no_stack, groups_get_their_turn, amounts_get_their_turn,
           what_may_be_unwritten);
  FS_TESTS(t, heaps_turn_over, many_tiles, empty_memory_gives_an_order, others_go_on,
           younger_groups_wait, other_amounts_go_on, wrong_amounts, heaps_of_their_own,
           made_in_heaps, without_memory);
}
