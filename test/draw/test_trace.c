/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: whole ones by golden files, what all must keep on random graphs (planned, replayed, and
 * with times made up). */
#include "base/text/ticks.h"
#include "draw/trace/trace.h"

#include "draw/trace_cases.h"
#include "draw/trace_reader.h"
#include "fsched/replay.h"
#include "kit/mutate/mutate.h"
#include "kit/replay_maker.h"

#include "kit/replay_kit.h"

/* ---- whole traces */

static void check_golden(const char *name) {
  fs_golden_case c;
  fs_golden_open(&c, ctx, name);
  char *text, file[64];
  size_t length;
  ck_fs(ctx, fsched_program_trace(ctx, c.program, NULL, &text, &length));
  (void)snprintf(file, sizeof file, "%s.trace.json", name);
  fs_golden_check(file, text, length);
  tr_trace t;
  tr_open(&t, text, length);
  tr_check(&t, &c.program->view, 1);
  tr_close(&t);
  fsched_text_free(ctx, text, length);
  fs_golden_close(&c);
}

START_TEST(golden)
{
  static const char *const name[] = {"figure-10", "rich", "store"};
  check_golden(name[_i]);
}
END_TEST

/* ---- counters against the schedule's residencies */

/* Bytes of a memory that are in use at an instant: the addresses that residencies cover, or the sum
 * of sizes where there are no addresses.  O(n^2). */
static uint64_t bytes_at(const rects *v, const fsched_graph *g, uint32_t memory, uint64_t tick) {
  bool contiguous = g->target.memory[memory].placement == FSCHED_CONTIGUOUS;
  uint64_t sum = 0;
  for (size_t i = 0; i < v->n; i++) {
    const rect *r = &v->at[i];
    bool live = r->memory == memory && r->begin <= tick && tick < r->end;
    /* In place, so these bytes were counted. */
    for (size_t k = 0; live && contiguous && k < i; k++) {
      const rect *o = &v->at[k];
      live = !(o->memory == memory && o->begin <= tick && tick < o->end && r->size > 0 &&
               o->address < r->address + r->size && r->address < o->address + o->size);
    }
    sum += live ? r->size : 0;
  }
  return sum;
}

/* Compares at all times at which something begins or ends, and before and after them. */
static void compare_counters(const compiled *c, uint64_t tick_ns) {
  rects v = {0};
  rects_of_schedule(&v, c->schedule);
  fsched_trace_options o = {.size = sizeof o, .tick_ns = tick_ns};
  char *text;
  size_t length;
  ck_fs(ctx, fsched_program_trace(ctx, c->program, &o, &text, &length));
  tr_trace t;
  tr_open(&t, text, length);
  tr_check(&t, &c->program->view, 1);
  for (uint32_t memory = 0; memory < c->graph->target.n_memories; memory++) {
    if (!fs_memory_bounded(&c->graph->target.memory[memory])) {
      continue;
    }
    for (uint64_t tick = 0; tick <= c->schedule->schedule->makespan; tick++) {
      ck_assert_uint_eq(tr_value(&t, &c->program->view, 1, memory, tick * tick_ns),
                        bytes_at(&v, c->graph, memory, tick));
      ck_assert_uint_eq(tr_value(&t, &c->program->view, 1, memory, tick * tick_ns + tick_ns - 1),
                        bytes_at(&v, c->graph, memory, tick));
    }
  }
  tr_close(&t);
  fsched_text_free(ctx, text, length);
  fs_vec_free(ctx, &v);
}

START_TEST(counters_are_the_schedules)
{
  for (uint64_t seed = 1; seed <= 40; seed++) {
    fs_gen_params params = any_params(seed);
    params.n_ops = params.n_ops < 25 ? params.n_ops : 25;
    compiled c = seed % 8 == 0 ? compile_bounded_store(ctx, seed) : compile(ctx, &params);
    compare_counters(&c, seed % 4 == 0 ? 1 : 1000);
    drop(&c);
  }
}
END_TEST

/* ---- what all traces keep */

/* Slices have their planned times, and only commands without length are moved. */
static void check_moves(const tr_trace *t, const fs_stream *s, uint64_t tick_ns) {
  uint64_t short_ones = 0;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    short_ones += s->commands[c].start == s->commands[c].end;
  }
  for (uint32_t i = 0; i < t->n; i++) {
    const tr_event *e = &t->event[i];
    if (e->phase == 'X') {
      uint64_t begin = s->commands[e->command].start * tick_ns;
      uint64_t end = s->commands[e->command].end * tick_ns;
      ck_assert(e->ts >= begin && e->ts <= begin + short_ones);
      ck_assert(e->ts + e->dur >= end && e->ts + e->dur <= end + short_ones + 1);
      ck_assert(short_ones > 0 || (e->ts == begin && e->dur == end - begin));
    }
  }
}

START_TEST(any_plan)
{
  for (uint64_t seed = 1; seed <= 150; seed++) {
    fs_gen_params params = any_params(seed);
    compiled c = compile(ctx, &params);
    fsched_trace_options o = {.size = sizeof o, .tick_ns = seed % 3 == 0 ? 1 : 1000};
    char *text;
    size_t length;
    ck_fs(ctx, fsched_program_trace(ctx, c.program, &o, &text, &length));
    tr_trace t;
    tr_open(&t, text, length);
    tr_check(&t, &c.program->view, 1);
    check_moves(&t, &c.program->view, o.tick_ns);
    tr_close(&t);
    fsched_text_free(ctx, text, length);
    drop(&c);
  }
}
END_TEST

START_TEST(any_replay)
{
  for (uint64_t seed = 1; seed <= 60; seed++) {
    fs_gen_params params = any_params(seed);
    compiled c = compile(ctx, &params);
    fsched_replay_options o = {.size = sizeof o,
                               .trace = 1,
                               .trace_plan = (int)(seed % 3),
                               .empty_kernels = seed % 4 == 0,
                               .repeat = 1 + seed % 2};
    fsched_replay_result r = {.size = sizeof r};
    ck_fs(ctx, fsched_replay_cpu(ctx, c.program, &o, &r));
    tr_trace t;
    tr_open(&t, r.trace_json, r.trace_length);
    tr_check(&t, &c.program->view, o.trace_plan == FSCHED_TRACE_PLAN_NONE ? 1 : 2);
    tr_close(&t);
    fsched_text_free(ctx, r.trace_json, r.trace_length);
    drop(&c);
  }
}
END_TEST

/* No run could have these times, but nothing overlaps, and all arrows are there. */
START_TEST(any_times)
{
  for (uint64_t seed = 1; seed <= 60; seed++) {
    fs_gen_params params = any_params(seed);
    compiled c = compile(ctx, &params);
    const fs_stream *s = &c.program->view;
    fs_rng rng = {seed};
    fs_arena arena;
    fs_arena_init(&arena, ctx);
    uint64_t *begin, *end;
    planned_times(s, &arena, &begin, &end);
    for (uint32_t i = 0; i < s->n_commands; i++) {
      begin[i] = fs_rng_below(&rng, seed % 2 == 0 ? 1000 : 2);
      end[i] = fs_rng_below(&rng, 3) * begin[i];
    }
    fs_trace_run run[2] = {{"one", begin, end, false, NULL}, {"two", end, begin, false, NULL}};
    char *text;
    size_t length;
    ck_fs(ctx, fs_trace_write(ctx, s, run, 2, &text, &length));
    tr_trace t;
    tr_open(&t, text, length);
    tr_check_threads(&t, s, 2);
    tr_check_walk(&t, s, 2);
    tr_check_arrows(&t, s, 2);
    tr_check_counters(&t, s, 2, false);
    tr_close(&t);
    fsched_text_free(ctx, text, length);
    fs_arena_release(&arena);
    drop(&c);
  }
}
END_TEST

/* Programs that can be loaded but are wrong still have a trace, without overlaps, and with all the
 * arrows that are possible. */
START_TEST(changed_programs)
{
  uint32_t loaded = 0;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    fs_gen_params params = any_params(seed);
    compiled c = compile(ctx, &params);
    size_t size;
    const void *bytes = fsched_program_bytes(c.program, &size);
    unsigned char *copy = malloc(size);
    fs_rng rng = {seed};
    for (uint32_t k = 0; k < 30; k++) {
      fsched_program *p;
      memcpy(copy, bytes, size);
      fs_mutate_bytes(copy, size, &rng);
      fs_mutate_bytes(copy, size, &rng);
      if (fsched_program_load(ctx, "changed", copy, size, &p) == FSCHED_OK) {
        char *text;
        size_t length;
        tr_trace t;
        ck_fs(ctx, fsched_program_trace(ctx, p, NULL, &text, &length));
        tr_open(&t, text, length);
        tr_check_walk(&t, &p->view, 1);
        tr_close(&t);
        fsched_text_free(ctx, text, length);
        fsched_program_destroy(p);
        loaded++;
      }
    }
    fsched_diag_clear(ctx);
    free(copy);
    drop(&c);
  }
  ck_assert_uint_gt(loaded, 40);
}
END_TEST

/* ---- by hand */

static fs_stream_command *add_run(uint32_t queue, const char *name, uint64_t start, uint64_t end) {
  fs_stream_command *c = mk_run(m, queue, mk_op(m, name));
  c->start = start;
  c->end = end;
  return c;
}

static void open_plan(tr_trace *t, uint64_t tick_ns, uint64_t tick_ps) {
  fsched_trace_options o = {.size = sizeof o, .tick_ns = tick_ns, .tick_ps = tick_ps};
  char *text;
  size_t length;
  ck_fs(ctx, fsched_program_trace(ctx, &m->program, &o, &text, &length));
  tr_open(t, text, length);
  fsched_text_free(ctx, text, length);
}

static const tr_event *slice(const tr_trace *t, const char *name) {
  for (uint32_t i = 0; i < t->n; i++) {
    if (t->event[i].phase == 'X' && strcmp(t->event[i].name, name) == 0) {
      return &t->event[i];
    }
  }
  ck_abort_msg("no slice '%s'", name);
  return NULL;
}

static void check_slice(const tr_trace *t, const char *name, uint64_t begin, uint64_t end) {
  const tr_event *e = slice(t, name);
  ck_assert_uint_eq(e->ts, begin);
  ck_assert_uint_eq(e->ts + e->dur, end);
}

/* Ops without length are at one instant, on one queue and on two: each takes a nanosecond, and what
 * follows ends when it should. */
START_TEST(no_length)
{
  uint32_t a = mk_queue(m, "a"), b = mk_queue(m, "b");
  (void)add_run(a, "first", 2, 5);
  (void)add_run(a, "x", 5, 5);
  (void)add_run(a, "y", 5, 5);
  (void)add_run(a, "z", 5, 9);
  (void)add_run(a, "last", 9, 10);
  (void)add_run(b, "far", 5, 5), mk_wait(m, a, 3);
  (void)add_run(b, "farther", 5, 6);
  tr_trace t;
  open_plan(&t, 1000, 0);
  tr_check(&t, &m->program.view, 1);
  check_slice(&t, "first", 2000, 5000);
  check_slice(&t, "x", 5000, 5001);
  check_slice(&t, "y", 5001, 5002);
  check_slice(&t, "z", 5002, 9000);
  check_slice(&t, "last", 9000, 10000);
  check_slice(&t, "far", 5002, 5003);
  check_slice(&t, "farther", 5003, 6000);
  tr_close(&t);
  open_plan(&t, 1, 0);
  tr_check(&t, &m->program.view, 1);
  check_slice(&t, "z", 7, 9);
  check_slice(&t, "farther", 8, 9);
  tr_close(&t);
}
END_TEST

/* An arrow from a gang leaves at a member on another queue.  A wait that another one covers has no
 * arrow of its own, and neither has a gang whose only queue is the waiting one. */
START_TEST(arrows_of_gangs)
{
  uint32_t a = mk_queue(m, "a"), b = mk_queue(m, "b"), c = mk_queue(m, "c");
  uint32_t two = mk_collective(m, "two", 2), one = mk_collective(m, "one", 1);
  uint32_t op = mk_op(m, "g");
  fs_stream_command *k = mk_run(m, a, op);
  mk_gang(k, two, 1), k->end = 4;
  k = mk_run(m, a, mk_op(m, "alone"));
  mk_gang(k, one, 1), k->start = 4, k->end = 5;
  (void)add_run(a, "after", 6, 7), mk_wait(m, two, 1), mk_wait(m, one, 1);
  k = mk_run(m, b, op);
  mk_gang(k, two, 1), k->end = 4;
  (void)add_run(c, "twice", 4, 5), mk_wait(m, a, 1), mk_wait(m, two, 1);
  tr_trace t;
  open_plan(&t, 0, 0);
  tr_check_walk(&t, &m->program.view, 1);
  ck_assert_uint_eq(t.n_arrows, 2);
  ck_assert_str_eq(slice(&t, "g")->cat, "gang");
  for (uint32_t i = 0; i < t.n; i++) {
    if (t.event[i].phase == 'f') { /* queue a's op gets it from b's member, queue c's from a's */
      uint32_t from = t.event[i].tid == slice(&t, "after")->tid ? b : a;
      ck_assert_uint_eq(t.event[i - 1].tid, 2 + from);
    }
  }
  tr_close(&t);
}
END_TEST

/* The trace is whole, with the arrows that are possible. */
START_TEST(deadlock)
{
  uint32_t a = mk_queue(m, "a"), b = mk_queue(m, "b");
  (void)add_run(a, "fine", 0, 1);
  (void)add_run(a, "x", 1, 2), mk_wait(m, b, 2);
  (void)add_run(b, "also", 1, 2), mk_wait(m, a, 1);
  (void)add_run(b, "y", 2, 3), mk_wait(m, a, 2);
  tr_trace t;
  open_plan(&t, 0, 0);
  tr_check_walk(&t, &m->program.view, 1);
  ck_assert_uint_eq(t.n_slices, 4);
  ck_assert_uint_eq(t.n_arrows, 2); /* fine to also, x to y */
  tr_close(&t);
}
END_TEST

START_TEST(nothing_at_all)
{
  (void)mk_memory(m, "cmx", 7);
  (void)mk_queue(m, "a");
  tr_trace t;
  open_plan(&t, 0, 0);
  tr_check(&t, &m->program.view, 1);
  tr_close(&t);
}
END_TEST

/* Data that are no longer read may lie beneath data that are already written: these bytes count
 * once. */
START_TEST(shared_addresses_count_once)
{
  uint32_t cmx = mk_memory(m, "cmx", 12), a = mk_queue(m, "a"), b = mk_queue(m, "b");
  uint32_t x = (mk_buffer(m, "x", 8, FSCHED_IO_INPUT), mk_version(m, cmx, 0));
  uint32_t y = (mk_buffer(m, "y", 8, FSCHED_IO_NONE), mk_version(m, cmx, 4));
  mk_given(m, x, cmx, 0);
  (void)mk_op(m, "head"), mk_range(m, FSCHED_IN, x, 0, 4);
  (void)mk_op(m, "y"), mk_arg(m, FSCHED_OUT, y);
  fs_stream_command *c = mk_run(m, a, 0);
  c->end = 4;
  c = mk_run(m, b, 1);
  c->start = 2, c->end = 6;
  tr_trace t;
  open_plan(&t, 1000, 0);
  tr_check(&t, &m->program.view, 1);
  ck_assert_uint_eq(tr_value(&t, &m->program.view, 1, cmx, 1999), 8);
  ck_assert_uint_eq(tr_value(&t, &m->program.view, 1, cmx, 2000), 12);
  ck_assert_uint_eq(tr_value(&t, &m->program.view, 1, cmx, 4000), 8);
  ck_assert_uint_eq(tr_value(&t, &m->program.view, 1, cmx, 6000), 0);
  tr_close(&t);
}
END_TEST

/* ---- time */

static const char *process(const tr_trace *t, uint32_t pid) {
  for (uint32_t i = 0; i < t->n; i++) {
    if (t->event[i].pid == pid && strcmp(t->event[i].name, "process_name") == 0) {
      return t->event[i].label;
    }
  }
  return "";
}

typedef struct tick_case {
  const char *unit;
  uint64_t tick_ns, ticks; /* the length asked for; the plan's length */
  uint64_t drawn;          /* ns per tick */
  const char *name;
  uint64_t tick_ps; /* asked for */
} tick_case;

static const tick_case tick_cases[] = {
    {"ns", 0, 7, 1, "hand-made (planned)", 0},
    {"us", 0, 7, 1000, "hand-made (planned)", 0},
    {"ms", 0, 7, 1000000, "hand-made (planned)", 0},
    {"s", 0, 7, 1000000000, "hand-made (planned)", 0},
    {"days", 0, 7, 1000, "hand-made (planned, 1 tick = 1 us)", 0},
    {NULL, 0, 7, 1000, "hand-made (planned, 1 tick = 1 us)", 0},
    {"us", 250, 7, 250, "hand-made (planned, 1 tick = 250 ns)", 0},
    {"us", 1500000, 7, 1500000, "hand-made (planned, 1 tick = 1500 us)", 0},
    {"us", 1000, 7, 1000, "hand-made (planned)", 0},
    {"s", 0, (uint64_t)1 << 40, 1000, "hand-made (planned, 1 tick = 1 us)", 0},
    {"s", 0, (uint64_t)1 << 62, 1, "hand-made (planned, 1 tick = 1 ns)", 0},
    {"ns", 0, (uint64_t)1 << 62, 1, "hand-made (planned)", 0},
    {"ns", UINT64_MAX, 7, 184467440737095, "hand-made (planned, 1 tick = 184467440737095 ns)", 0},
    {"s", 0, 9007199, 1000000000, "hand-made (planned)", 0}, /* 2^53 ns is a little more */
    {"s", 0, 9007200, 100000000, "hand-made (planned, 1 tick = 100 ms)", 0},
    {"us", 0, 6, 0, "hand-made (planned, 1 tick = 2.5 ns)", 2500},
    {"us", 7, 6, 0, "hand-made (planned, 1 tick = 0.714 ns)", 714},
    {"ns", 0, 6, 1, "hand-made (planned)", 1000},
};

START_TEST(ticks)
{
  const tick_case *k = &tick_cases[_i];
  uint32_t a = mk_queue(m, "a");
  m->meta.time_unit = k->unit == NULL ? FS_NONE : mk_string(m, k->unit);
  (void)add_run(a, "x", 0, k->ticks - 2);
  (void)add_run(a, "y", k->ticks - 1, k->ticks);
  tr_trace t;
  open_plan(&t, k->tick_ns, k->tick_ps);
  ck_assert_str_eq(process(&t, 1), k->name);
  uint64_t ps = k->drawn != 0 ? k->drawn * 1000 : k->tick_ps; /* of a part, rounded down */
  check_slice(&t, "x", 0, fs_ticks_ns(k->ticks - 2, ps));
  check_slice(&t, "y", fs_ticks_ns(k->ticks - 1, ps), fs_ticks_ns(k->ticks, ps));
  tr_close(&t);
}
END_TEST

START_TEST(fitted)
{
  uint32_t a = mk_queue(m, "a");
  uint64_t last = (uint64_t)1 << 62;
  (void)add_run(a, "x", 0, last / 2);
  (void)add_run(a, "y", last - 1, last);
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  fs_trace_run run;
  ck_fs(ctx, fs_trace_plan_fit(&arena, &m->program.view, 12345678, &run));
  ck_assert_str_eq(run.name, "planned, drawn over 12345.678 us");
  ck_assert_uint_eq(run.end[0], 12345678 / 2);
  ck_assert_uint_eq(run.begin[1], 12345677);
  ck_assert_uint_eq(run.end[1], 12345678);
  ck_fs(ctx, fs_trace_plan_fit(&arena, &m->program.view, 0, &run));
  ck_assert_uint_eq(run.end[1], 0);
  fs_arena_release(&arena);
}
END_TEST

/* The plan is beside the measured times: scaled by ticks, by pace, or fitted. */
START_TEST(plan_beside_replay)
{
  static const char *const name[] = {"hand-made (measured)", "hand-made (planned)",
                                     "hand-made (planned, 1 tick = 3 us)",
                                     "hand-made (planned, drawn over "};
  make_ping_pong(m, 6, 2);
  m->meta.time_unit = mk_string(m, "us");
  for (uint32_t i = 0; i < 6; i++) { /* in the order of queues: 0 2 4, 1 3 5 */
    m->commands[i].start = i < 3 ? 2 * i : 2 * i - 5;
    m->commands[i].end = m->commands[i].start + 1;
    m->ops[m->commands[i].target].time = 1;
  }
  fsched_replay_options o = {.size = sizeof o,
                             .trace = 1,
                             .trace_plan = _i == 0   ? FSCHED_TRACE_PLAN_NONE
                                           : _i == 3 ? FSCHED_TRACE_PLAN_FIT
                                                     : FSCHED_TRACE_PLAN_TICKS,
                             .pace_ns = _i == 2 ? 3000 : 0};
  fsched_replay_result r = {.size = sizeof r};
  ck_fs(ctx, fsched_replay_cpu(ctx, &m->program, &o, &r));
  tr_trace t;
  tr_open(&t, r.trace_json, r.trace_length);
  tr_check(&t, &m->program.view, _i == 0 ? 1 : 2);
  ck_assert_int_eq(strncmp(process(&t, 1), name[_i], strlen(name[_i])), 0);
  ck_assert(_i == 0 || strcmp(process(&t, 2), name[0]) == 0);
  uint64_t last[3] = {0};
  for (uint32_t i = 0; i < t.n; i++) {
    const tr_event *e = &t.event[i];
    if (e->phase == 'X' && e->ts + e->dur > last[e->pid]) {
      last[e->pid] = e->ts + e->dur;
    }
  }
  ck_assert_uint_eq(last[1], _i == 1 ? 6000 : _i == 2 ? 18000 : _i == 3 ? last[2] : last[1]);
  tr_close(&t);
  fsched_text_free(ctx, r.trace_json, r.trace_length);
}
END_TEST

/* ---- options and memory */

START_TEST(options_of_traces)
{
  char *text;
  size_t length;
  (void)mk_queue(m, "a");
  fsched_trace_options o = {.size = offsetof(fsched_trace_options, tick_ps) - 1};
  ck_assert_int_eq(fsched_program_trace(ctx, &m->program, &o, &text, &length), FSCHED_USAGE);
  o.size = 0;
  ck_assert_int_eq(fsched_program_trace(ctx, &m->program, &o, &text, &length), FSCHED_USAGE);
  ck_assert_uint_eq(fsched_diag_errors(ctx), 2);
  ck_fs(ctx, fsched_program_trace(ctx, &m->program, NULL, &text, &length));
  fsched_text_free(ctx, text, length);
}
END_TEST

START_TEST(replay_options)
{
  (void)mk_queue(m, "a");
  fsched_replay_options o = {.size = sizeof o, .trace_plan = FSCHED_TRACE_PLAN_TICKS};
  ck_assert_int_eq(fsched_replay_cpu(ctx, &m->program, &o, NULL), FSCHED_USAGE);
  o.trace = 1;
  o.trace_plan = 3;
  ck_assert_int_eq(fsched_replay_cpu(ctx, &m->program, &o, NULL), FSCHED_USAGE);
  ck_assert_uint_eq(fsched_diag_errors(ctx), 2);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "replay-options");
  o.trace_plan = FSCHED_TRACE_PLAN_FIT;
  ck_fs(ctx, fsched_replay_cpu(ctx, &m->program, &o, NULL));
  /* The size of the first version. */
  o.size = FS_SIZE_UP_TO(fsched_replay_options, memory_limit_log2);
  o.trace_plan = 3;
  ck_fs(ctx, fsched_replay_cpu(ctx, &m->program, &o, NULL));
}
END_TEST

START_TEST(nth_allocation_fails)
{
  fs_golden_case c;
  fs_golden_open(&c, ctx, "rich");
  fsched_status status = FSCHED_SYSTEM;
  long n = 0;
  for (; status != FSCHED_OK; n++) {
    fs_budget b = {.left = n};
    fsched_context_options o = {.size = sizeof o, .reallocate = fs_budget_reallocate, .user = &b};
    fsched_context *tight;
    char *text = NULL;
    size_t length = 0;
    if (fsched_context_create(&o, &tight) != FSCHED_OK) {
      continue;
    }
    status = fsched_program_trace(tight, c.program, NULL, &text, &length);
    ck_assert(status == FSCHED_OK || status == FSCHED_SYSTEM);
    ck_assert_uint_eq(fsched_diag_errors(tight), status == FSCHED_OK ? 0 : 1);
    ck_assert_int_eq(text != NULL, status == FSCHED_OK);
    fsched_text_free(tight, text, length);
    fsched_context_destroy(tight);
    ck_assert_int_eq(b.blocks, 0);
  }
  ck_assert_int_gt(n, 15);
  fs_golden_close(&c);
}
END_TEST

FS_SUITE(trace, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 3, golden);
  FS_TESTS(t, counters_are_the_schedules, any_plan, any_replay, any_times, changed_programs,
           nth_allocation_fails);
  t = fs_case(s, fs_test_maker);
  FS_TESTS(t, no_length, arrows_of_gangs, deadlock, nothing_at_all, shared_addresses_count_once,
           fitted, options_of_traces, replay_options);
  FS_LOOPS(t, 0, (int)(sizeof tick_cases / sizeof tick_cases[0]), ticks);
  FS_LOOPS(t, 0, 4, plan_beside_replay);
}
