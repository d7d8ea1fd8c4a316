/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever can end does end.  Small sets of invocations that wait for one another, as a whole or
 * with single inputs, are made in every order, with few slots and little memory, in one context or
 * in two that share a pool.  The oracle knows an order in which they can run one by one, so all
 * must end, and with the results of that order. */
#include "exec/context/exec_kit.h"
#include "kit/gen.h"

#include "kit/context.h"

enum { MOST = 4, PROGRAMS = 3, EXECS = 2, SETS = KIT_SLOW ? 24 : 80, NOBODY = MOST };

static fsched_device *device;
static fsched_program *program[PROGRAMS];

/* x = a + 1 on one queue, y = b + 2 on another. */
#define TWO_WAYS \
  "  - {name: left, on: p, args: [{in: a}, {value: 1}, {out: x}], " KIT_KERNEL("add") "}\n" \
  "  - {name: right, on: q, args: [{in: b}, {value: 2}, {out: y}], " KIT_KERNEL("add") "}\n"
#define BUFFERS                                                               \
  "fsched: 1\n"                                                               \
  "target: {queues: [{name: p}, {name: q}]}\n"                                \
  "buffers: [{name: a, size: 8, io: input}, {name: b, size: 8, io: input},\n" \
  "  {name: x, size: 8, io: output}, {name: y, size: 8, io: output}"

static const char *const graphs[PROGRAMS] = {
    BUFFERS "]\nops:\n" TWO_WAYS,
    /* much larger */
    BUFFERS
    "]\nops:\n" TWO_WAYS
    "  - {name: more, on: p, args: [{in: x}, {out: t, size: 3000}], " KIT_KERNEL("add") "}\n",
    BUFFERS ", {name: s, size: 8, io: state}]\nops:\n" TWO_WAYS
            "  - {name: count, on: q, args: [{inout: s}], " KIT_KERNEL("count") "}\n",
};

static int count(const fsched_kernel_call *call) {
  const fsched_kernel_arg *s = kit_arg(call, FSCHED_INOUT);
  kit_put(s, kit_get(s) + 1);
  return 0;
}

static const kit_kernel kernels[] = {{"add", kit_add}, {"count", count}, {NULL, NULL}};

static void set_up(void) {
  fs_test_begin();
  device = kit_device(ctx, kernels);
  for (uint32_t i = 0; i < PROGRAMS; i++) {
    program[i] = kit_compile(ctx, graphs[i]);
  }
  fsched_diag_clear(ctx); /* warnings */
}

static void tear_down(void) {
  for (uint32_t i = 0; i < PROGRAMS; i++) {
    fsched_program_destroy(program[i]);
  }
  fsched_device_release(device);
  fs_test_end();
}

/* What an invocation waits for, always one of a lower number, or NOBODY: input i takes x or y of
 * another, when that one signals this output or is complete; all of the invocation waits for
 * `whole`. */
typedef struct exec_order_member {
  uint32_t program, exec, whole;
  struct {
    uint32_t from;
    bool y, complete;
  } input[2];
} exec_order_member;

typedef struct exec_order_set {
  uint32_t n, execs;
  exec_order_member member[MOST];
} exec_order_set;

static exec_order_set random_set(fs_rng *r) {
  exec_order_set s = {.n = 2 + fs_rng_below(r, MOST - 1), .execs = 1 + fs_rng_below(r, EXECS)};
  uint32_t programs = 1 + fs_rng_below(r, PROGRAMS);
  for (uint32_t i = 0; i < s.n; i++) {
    exec_order_member *m = &s.member[i];
    *m = (exec_order_member){fs_rng_below(r, programs), fs_rng_below(r, s.execs), NOBODY, {{0}}};
    for (uint32_t k = 0; k < 2; k++) {
      m->input[k].from = i == 0 || fs_rng_one_in(r, 3) ? NOBODY : fs_rng_below(r, i);
      m->input[k].y = fs_rng_one_in(r, 2);
      m->input[k].complete = fs_rng_one_in(r, 2);
    }
    if (i > 0 && fs_rng_one_in(r, 4)) {
      m->whole = fs_rng_below(r, i);
    }
  }
  return s;
}

static bool waits_for(const exec_order_set *s, uint32_t i, uint32_t other) {
  const exec_order_member *m = &s->member[i];
  return m->whole == other || m->input[0].from == other || m->input[1].from == other;
}

/* Invocations with state run in the order of the calls, which may form a circle with what they wait
 * for.  Repeatedly removes an invocation that waits for none of the rest; without a circle none is
 * left. */
static bool possible(const exec_order_set *s, const uint32_t *call) {
  uint32_t left = (1u << s->n) - 1;
  for (bool more = true; more;) {
    more = false;
    for (uint32_t at = 0; at < s->n; at++) {
      uint32_t i = call[at];
      bool waits = (left >> i & 1) == 0;
      for (uint32_t k = 0; k < s->n && !waits; k++) {
        waits = (left >> k & 1) != 0 && waits_for(s, i, k);
      }
      for (uint32_t b = 0; b < at && !waits; b++) {
        const exec_order_member *before = &s->member[call[b]], *m = &s->member[i];
        waits = (left >> call[b] & 1) != 0 && m->program == 2 && before->program == 2 &&
                m->exec == before->exec;
      }
      if (!waits) {
        left &= ~(1u << i);
        more = true;
      }
    }
  }
  return left == 0;
}

/* The state of one run. */
typedef struct exec_order_world {
  const exec_order_set *s;
  fsched_exec *exec[EXECS];
  fsched_entry *entry[EXECS][PROGRAMS];
  uint64_t counted[EXECS];
  struct {
    fsched_semaphore *line[3]; /* x, y, complete */
    fsched_fence *fence[3];
    uint64_t x, y;
  } of[MOST];
} exec_order_world;

static fsched_fence *fence_of(const exec_order_world *w, uint32_t i, uint32_t which) {
  return i == NOBODY ? NULL : w->of[i].fence[which];
}

static void call_one(exec_order_world *w, uint32_t i) {
  static uint64_t host = 100;
  const exec_order_member *m = &w->s->member[i];
  fsched_binding b[4] = {{.buffer = "a"}, {.buffer = "b"}, {.buffer = "x"}, {.buffer = "y"}};
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t from = m->input[k].from;
    b[k].data = from == NOBODY ? &host : m->input[k].y ? &w->of[from].y : &w->of[from].x;
    b[k].wait = fence_of(w, from, m->input[k].complete ? 2 : m->input[k].y);
  }
  b[2].data = &w->of[i].x, b[2].signal = w->of[i].fence[0];
  b[3].data = &w->of[i].y, b[3].signal = w->of[i].fence[1];
  for (uint32_t k = 0; k < 4; k++) {
    b[k].bytes = 8;
  }
  fsched_invocation v = {.size = sizeof v,
                         .wait = fence_of(w, m->whole, 2),
                         .signal = w->of[i].fence[2],
                         .bindings = b,
                         .n_bindings = 4};
  w->counted[m->exec] += m->program == 2;
  ck_fs(ctx, fsched_invoke(ctx, w->entry[m->exec][m->program], &v));
}

static uint64_t expected(const exec_order_set *s, uint32_t i, bool y) {
  uint32_t from = s->member[i].input[y].from;
  return 1 + y + (from == NOBODY ? 100 : expected(s, from, s->member[i].input[y].y));
}

static void open_lines(exec_order_world *w) {
  for (uint32_t i = 0; i < w->s->n; i++) {
    for (uint32_t k = 0; k < 3; k++) {
      w->of[i].line[k] = kit_timeline();
      w->of[i].fence[k] = kit_fence(ctx, w->of[i].line[k], 1);
    }
    w->of[i].x = w->of[i].y = 0;
  }
}

static void close_lines(exec_order_world *w) {
  for (uint32_t i = 0; i < w->s->n; i++) {
    for (uint32_t k = 0; k < 3; k++) {
      fsched_fence_release(w->of[i].fence[k]);
      fsched_semaphore_release(w->of[i].line[k]);
    }
  }
}

static void run_order(exec_order_world *w, const uint32_t *call, const char *what) {
  open_lines(w);
  for (uint32_t at = 0; at < w->s->n; at++) {
    call_one(w, call[at]);
  }
  for (uint32_t i = 0; i < w->s->n; i++) {
    ck_assert_msg(fsched_fence_wait(w->of[i].fence[2], KIT_LIMIT / 6) == FSCHED_CAUSE_NONE,
                  "%s, calls %u %u %u %u: %u does not end", what, call[0], call[1], call[2],
                  call[3], i);
    ck_assert_uint_eq(w->of[i].x, expected(w->s, i, false));
    ck_assert_uint_eq(w->of[i].y, expected(w->s, i, true));
  }
  close_lines(w);
}

/* The next permutation in lexicographic order; false after the last. */
static bool next_order(uint32_t *call, uint32_t n) {
  uint32_t i = n - 1, k = n - 1;
  while (i > 0 && call[i - 1] > call[i]) {
    i--;
  }
  if (i == 0) {
    return false;
  }
  while (call[k] < call[i - 1]) {
    k--;
  }
  uint32_t swap = call[i - 1];
  call[i - 1] = call[k], call[k] = swap;
  for (k = n - 1; i < k; i++, k--) {
    swap = call[i], call[i] = call[k], call[k] = swap;
  }
  return true;
}

static void open_world(exec_order_world *w, fsched_pool *pool, uint32_t slots) {
  for (uint32_t i = 0; i < w->s->execs; i++) {
    w->exec[i] = kit_exec(ctx, device, pool, slots);
    for (uint32_t k = 0; k < PROGRAMS; k++) {
      w->entry[i][k] = kit_load(ctx, w->exec[i], program[k]);
    }
  }
}

static void close_world(exec_order_world *w) {
  uint64_t first = 0, last = 0;
  fsched_exec *fresh = kit_exec(ctx, device, NULL, 1);
  (void)kit_load(ctx, fresh, program[2]);
  ck_fs(ctx, fsched_exec_read_state(ctx, fresh, "s", &first, sizeof first));
  fsched_exec_destroy(fresh);
  for (uint32_t i = 0; i < w->s->execs; i++) {
    ck_fs(ctx, fsched_exec_read_state(ctx, w->exec[i], "s", &last, sizeof last));
    ck_assert_uint_eq(last - first, w->counted[i]);
    fsched_exec_destroy(w->exec[i]);
  }
}

/* The most bytes that one of the programs reserves. */
static uint64_t largest(void) {
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  uint64_t most = 0;
  for (uint32_t i = 0; i < PROGRAMS; i++) {
    uint64_t bytes = fsched_entry_bytes(kit_load(ctx, x, program[i]));
    most = bytes > most ? bytes : most;
  }
  fsched_exec_destroy(x);
  return (most + 255) / 256 * 256;
}

START_TEST(every_order_ends)
{
  uint64_t bytes = largest();
  fs_rng r = {(uint64_t)_i * 7919 + 1};
  uint32_t orders = 0;
  for (uint32_t k = 0; k < SETS / 8; k++) {
    exec_order_set s = random_set(&r);
    uint32_t slots = 1 + fs_rng_below(&r, 3), quarters = fs_rng_below(&r, 4) * 2;
    char what[80];
    (void)snprintf(what, sizeof what, "set %d.%u of %u, %u slots, %u quarters", _i, k, s.n, slots,
                   quarters);
    exec_order_world w = {.s = &s};
    fsched_pool *pool = NULL;
    if (quarters > 0) {
      ck_fs(ctx, fsched_pool_create(ctx, device, bytes + bytes * (quarters - 2) / 4, &pool));
    }
    open_world(&w, pool, slots);
    uint32_t call[MOST] = {0, 1, 2, 3};
    do {
      if (possible(&s, call)) {
        run_order(&w, call, what);
        orders++;
      }
    } while (next_order(call, s.n));
    close_world(&w);
    fsched_pool_destroy(pool);
  }
  ck_assert_uint_gt(orders, SETS / 8);
}
END_TEST

/* What early starts are for */

typedef struct exec_order_pair {
  exec_order_world w;
  exec_order_set s;
  fsched_pool *pool;
} exec_order_pair;

/* Invocation 1 takes b from invocation 0, and a from the test. */
static void open_pair(exec_order_pair *p, uint32_t slots, uint64_t bytes) {
  *p = (exec_order_pair){.s = {.n = 2, .execs = 1}};
  p->s.member[0] =
      (exec_order_member){0, 0, NOBODY, {{NOBODY, false, false}, {NOBODY, false, false}}};
  p->s.member[1] = (exec_order_member){0, 0, NOBODY, {{NOBODY, false, false}, {0, true, true}}};
  p->w.s = &p->s;
  if (bytes > 0) {
    ck_fs(ctx, fsched_pool_create(ctx, device, bytes, &p->pool));
  }
  open_world(&p->w, p->pool, slots);
  open_lines(&p->w);
}

static void close_pair(exec_order_pair *p) {
  close_lines(&p->w);
  close_world(&p->w);
  fsched_pool_destroy(p->pool);
}

/* With two slots, and memory for another one, it starts before its producer is made. */
START_TEST(starts_early_where_there_is_room)
{
  exec_order_pair p;
  open_pair(&p, 2, _i == 0 ? 0 : 2 * largest());
  call_one(&p.w, 1);
  ck_assert_int_eq(kit_await(p.w.of[1].line[0], 1), FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(p.w.of[1].x, 101);
  ck_assert_int_eq(fsched_fence_wait(p.w.of[1].fence[2], 0), FSCHED_CAUSE_TIMEOUT);
  call_one(&p.w, 0);
  ck_assert_int_eq(kit_await(p.w.of[1].line[2], 1), FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(p.w.of[1].y, 104);
  close_pair(&p);
}
END_TEST

/* Without such room it takes nothing, and the producer runs first. */
START_TEST(takes_nothing_of_the_last)
{
  exec_order_pair p;
  open_pair(&p, _i == 0 ? 1 : 2, _i == 0 ? 0 : largest());
  call_one(&p.w, 1);
  if (p.pool != NULL) {
    fsched_pool_stats stats = {.size = sizeof stats};
    fsched_pool_get_stats(p.pool, &stats);
    ck_assert_uint_eq(stats.used, 0);
  }
  call_one(&p.w, 0);
  ck_assert_int_eq(kit_await(p.w.of[1].line[2], 1), FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(p.w.of[1].y, 104);
  close_pair(&p);
}
END_TEST

/* The last slot goes to one that waits only for invocations that have a slot and end by themselves;
 * the same holds for the pool. */
static kit_count entered;
static fsched_semaphore *gate;

static int pass_gate(const fsched_kernel_call *call) {
  (void)kit_count_one(&entered);
  (void)kit_await(gate, 1);
  return kit_add(call);
}

START_TEST(last_slot_for_who_waits_for_holders)
{
  static const kit_kernel own[] = {{"add", kit_add}, {"gate", pass_gate}, {NULL, NULL}};
  fsched_device *d = kit_device(ctx, own);
  fsched_program *slow = kit_compile(ctx, KIT_ONE("gate"));
  fsched_program *two = kit_compile(ctx, graphs[0]);
  fsched_exec *x = kit_exec(ctx, d, NULL, 2);
  fsched_entry *producer = kit_load(ctx, x, slow), *consumer = kit_load(ctx, x, two);
  fsched_semaphore *made = kit_timeline(), *early = kit_timeline(), *end = kit_timeline();
  fsched_fence *is_made = kit_fence(ctx, made, 1), *is_early = kit_fence(ctx, early, 1);
  fsched_fence *at_end = kit_fence(ctx, end, 1);
  uint64_t a = 5, b = 0, to_x = 0, to_y = 0;
  kit_count_open(&entered);
  gate = kit_timeline();
  fsched_binding out = {.buffer = "out", .data = &b, .bytes = 8, .signal = is_made};
  ck_fs(ctx,
        fsched_invoke(ctx, producer,
                      &(fsched_invocation){
                          .size = sizeof(fsched_invocation), .bindings = &out, .n_bindings = 1}));
  ck_assert_int_eq(kit_await(entered.timeline, 1), FSCHED_CAUSE_NONE);
  fsched_binding io[] = {{.buffer = "a", .data = &a, .bytes = 8},
                         {.buffer = "b", .data = &b, .bytes = 8, .wait = is_made},
                         {.buffer = "x", .data = &to_x, .bytes = 8, .signal = is_early},
                         {.buffer = "y", .data = &to_y, .bytes = 8}};
  fsched_invocation v = {.size = sizeof v, .signal = at_end, .bindings = io, .n_bindings = 4};
  ck_fs(ctx, fsched_invoke(ctx, consumer, &v));
  ck_assert_int_eq(kit_await(early, 1), FSCHED_CAUSE_NONE); /* the producer waits in its gate */
  ck_assert_uint_eq(to_x, 6);
  kit_publish(gate, 1);
  ck_assert_int_eq(kit_await(end, 1), FSCHED_CAUSE_NONE);
  ck_assert_uint_eq(to_y, b + 2);
  fsched_exec_destroy(x);
  fsched_fence_release(is_made), fsched_fence_release(is_early), fsched_fence_release(at_end);
  fsched_semaphore_release(made), fsched_semaphore_release(early);
  fsched_semaphore_release(end), fsched_semaphore_release(gate);
  kit_count_close(&entered);
  fsched_program_destroy(slow), fsched_program_destroy(two);
  fsched_device_release(d);
}
END_TEST

/* A failed invocation ends at once, even when it waits for a slot behind one that does not get
 * any. */
START_TEST(failed_ones_do_not_queue)
{
  fsched_exec *x = kit_exec(ctx, device, NULL, 1);
  fsched_entry *e = kit_load(ctx, x, program[0]);
  fsched_semaphore *never = kit_timeline(), *bad = kit_timeline(), *end = kit_timeline();
  fsched_fence *closed = kit_fence(ctx, never, 1), *wait = kit_fence(ctx, bad, 1);
  fsched_fence *told = kit_fence(ctx, end, 1);
  uint64_t word = 0;
  fsched_binding b = {.buffer = "a", .data = &word, .bytes = 8, .wait = closed};
  for (uint32_t i = 0; i < 3; i++) {
    ck_fs(ctx,
          fsched_invoke(ctx, e,
                        &(fsched_invocation){
                            .size = sizeof(fsched_invocation), .bindings = &b, .n_bindings = 1}));
  }
  ck_fs(ctx, fsched_invoke(ctx, e,
                           &(fsched_invocation){
                               .size = sizeof(fsched_invocation), .wait = wait, .signal = told}));
  (void)fsched_semaphore_fail(bad, 21);
  ck_assert_int_eq(fsched_fence_wait(told, KIT_LIMIT), 21);
  fsched_exec_destroy(x);
  fsched_fence_release(closed), fsched_fence_release(wait), fsched_fence_release(told);
  fsched_semaphore_release(never), fsched_semaphore_release(bad), fsched_semaphore_release(end);
}
END_TEST

FS_SUITE(exec_order, s) {
  TCase *t = fs_case(s, NULL);
  tcase_add_checked_fixture(t, set_up, tear_down);
  FS_LOOPS(t, 0, 8, every_order_ends);
  FS_LOOPS(t, 0, 2, starts_early_where_there_is_room, takes_nothing_of_the_last);
  FS_TESTS(t, last_slot_for_who_waits_for_holders, failed_ones_do_not_queue);
}
