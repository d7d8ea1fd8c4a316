/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation: virtual times, durations, and the guard. */
#include "base/text/ticks.h"
#include "exec/conformance/conformance_kit.h"
#include "exec/context/exec_kit.h"
#include "front/profile/profile.h"
#include "fsched/profile.h"

#include "kit/context.h"
#include "kit/quick.h"

static fs_conformance sim;
static conf c;
static rig r;

static void open_sim(fsched_durations durations, uint64_t seed) {
  sim = (fs_conformance){.device = {.kind = "sim", .durations = durations, .seed = seed}};
  conf_open(&c, &sim);
}

static void run(uint64_t k) {
  rig_fill(&r, k);
  rig_start(&r);
  fsched_cause cause = rig_await(&r);
  ck_assert_msg(cause == FSCHED_CAUSE_NONE, "cause %d: %s", (int)cause, r.failed);
}

static uint64_t took(uint32_t command) { return r.record.end[command] - r.record.begin[command]; }
static uint64_t planned(const fs_stream *s, uint32_t command) {
  return s->commands[command].end - s->commands[command].start;
}
static uint64_t tick_ns(const fs_stream *s) {
  uint64_t ns = fs_tick_ps(fs_stream_string(s, s->meta->time_unit)) / 1000;
  return ns == 0 ? 1000 : ns;
}

static void set_length(uint32_t command, uint64_t length) {
  c.m->commands[command].end = c.m->commands[command].start + length;
}

/* ---- planned durations */

/* Whether no command is later than planned, and the makespan is the planned one. */
static bool as_planned(const fs_stream *s) {
  uint64_t tick = tick_ns(s);
  rig_open(&r, &c, s, (rig_options){.timed = true, .empty = true});
  run(1);
  for (uint32_t i = 0; i < s->n_commands; i++) {
    if (r.record.begin[i] > s->commands[i].start * tick || took(i) != planned(s, i) * tick) {
      ck_abort_msg("command %u begins at %llu and takes %llu ns, planned are %llu and %llu", i,
                   (unsigned long long)r.record.begin[i], (unsigned long long)took(i),
                   (unsigned long long)(s->commands[i].start * tick),
                   (unsigned long long)(planned(s, i) * tick));
    }
  }
  ck_assert_uint_le(r.ns, s->meta->makespan * tick);
  bool equal = r.ns == s->meta->makespan * tick;
  rig_close(&r);
  return equal;
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

START_TEST(never_later_than_planned)
{
  enum { N = SANITIZED ? 20 : 200 };
  uint32_t equal = 0;
  open_sim(FSCHED_DURATIONS_PLANNED, 0);
  for (uint64_t seed = 1; seed <= N; seed++) {
    fsched_program *p = conf_compile(&c, seed);
    equal += as_planned(&p->view);
    fsched_program_destroy(p);
  }
  ck_assert_uint_gt(equal, N * 3 / 4);
  conf_close(&c);
}
END_TEST

START_TEST(examples_as_planned)
{
  static const char *const paths[] = {"examples/figure-10.yaml", "examples/figure-10-serial.yaml",
                                      "examples/resnet50.yaml"};
  open_sim(FSCHED_DURATIONS_PLANNED, 0);
  for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++) {
    fsched_graph *g;
    fsched_program *p;
    conf_ok(&c, fsched_graph_read(c.ctx, paths[i], NULL, &g), paths[i]);
    conf_ok(&c, fsched_compile(c.ctx, g, &fs_quick, NULL, &p), paths[i]);
    bool equal = as_planned(&p->view);
    ck_assert(equal || i > 0); /* the plan of the first one is tight */
    fsched_program_destroy(p);
    fsched_graph_destroy(g);
  }
  conf_close(&c);
}
END_TEST

/* The length of a tick comes from the unit, else from the pace, else is a microsecond. */
START_TEST(ticks)
{
  static const struct {
    const char *unit;
    uint64_t pace, tick_ps, of_15; /* the last: ns of 15 ticks */
  } cases[] = {{"ns", 0, 0, 15},        {"ms", 0, 0, 15000000}, {"ms", 7, 0, 105},
               {"cycles", 0, 0, 15000}, {NULL, 0, 0, 15000},    {"ms", 0, 2500, 37},
               {"cycles", 1, 714, 10},  {NULL, 0, 3000, 45}};
  open_sim(FSCHED_DURATIONS_PLANNED, 0);
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    conf_fresh(&c);
    make_ping_pong(c.m, 3, 2);
    c.m->meta.time_unit = cases[i].unit == NULL ? FS_NONE : mk_string(c.m, cases[i].unit);
    for (uint32_t k = 0; k < 3; k++) {
      c.m->commands[k].end = c.m->commands[k].start + 5;
    }
    fsched_exec *x;
    fsched_entry *e;
    fsched_exec_options o = {.size = sizeof o,
                             .device = c.device,
                             .pace_ns = cases[i].pace,
                             .tick_ps = cases[i].tick_ps};
    conf_ok(&c, fsched_exec_create(c.ctx, &o, &x), "exec");
    conf_ok(&c, fsched_exec_load(c.ctx, x, &c.m->program, &e), "load");
    fsched_exec_destroy(x);
    fsched_replay_options replay = {.size = sizeof replay,
                                    .device = c.device,
                                    .pace_ns = cases[i].pace,
                                    .repeat = 2,
                                    .tick_ps = cases[i].tick_ps};
    fsched_replay_result result = {.size = sizeof result};
    conf_ok(&c, fsched_replay(c.ctx, &c.m->program, &replay, &result), "replay");
    ck_assert_uint_eq(result.minimum_ns, cases[i].of_15);
    ck_assert_uint_eq(result.elapsed_ns, 2 * cases[i].of_15);
  }
  conf_close(&c);
}
END_TEST

/* ---- other durations */

static void copy_times(uint64_t *to) {
  memcpy(to, r.record.begin, r.s->n_commands * sizeof *to);
  memcpy(to + r.s->n_commands, r.record.end, r.s->n_commands * sizeof *to);
}

START_TEST(random_durations)
{
  uint64_t *times[3];
  fsched_program *p = NULL;
  size_t bytes = 0;
  for (uint32_t i = 0; i < 3; i++) { /* seeds 5, 5, 6 */
    open_sim(FSCHED_DURATIONS_RANDOM, 5 + i / 2);
    ck_assert_str_eq(fsched_device_note(c.device),
                     i < 2 ? "random durations, seed 5" : "random durations, seed 6");
    p = conf_compile(&c, 3);
    const fs_stream *s = &p->view;
    rig_open(&r, &c, s, (rig_options){.timed = true});
    bytes = 2 * s->n_commands * sizeof **times;
    times[i] = malloc(2 * bytes);
    run(1);
    copy_times(times[i]);
    uint32_t shorter = 0, longer = 0;
    for (uint32_t k = 0; k < s->n_commands; k++) {
      ck_assert_uint_le(took(k), 4 * planned(s, k) * tick_ns(s));
      shorter += took(k) < planned(s, k) * tick_ns(s);
      longer += took(k) > planned(s, k) * tick_ns(s);
    }
    ck_assert_uint_gt(shorter, 0);
    ck_assert_uint_gt(longer, 0);
    run(2); /* another random draw */
    copy_times(times[i] + bytes / sizeof **times);
    ck_assert(memcmp(times[i], times[i] + bytes / sizeof **times, bytes) != 0);
    rig_close(&r);
    fsched_program_destroy(p);
    conf_close(&c);
  }
  ck_assert_mem_eq(times[0], times[1], 2 * bytes);
  ck_assert(memcmp(times[0], times[2], bytes) != 0);
  for (uint32_t i = 0; i < 3; i++) {
    free(times[i]);
  }
}
END_TEST

/* In 4 * n invocations every command is once the one that takes longer than all others. */
START_TEST(each_command_is_delayed)
{
  for (uint64_t seed = 0; seed < 9; seed += 4) {
    open_sim(FSCHED_DURATIONS_ADVERSARIAL, seed);
    fsched_program *p = conf_compile(&c, 20 + seed);
    const fs_stream *s = &p->view;
    uint32_t *delayed = calloc(s->n_commands, sizeof *delayed);
    rig_open(&r, &c, s, (rig_options){.timed = true, .empty = true});
    for (uint32_t k = 0; k < 4 * s->n_commands; k++) {
      run(k);
      uint64_t sum = 0;
      for (uint32_t i = 0; i < s->n_commands; i++) {
        sum += took(i);
      }
      for (uint32_t i = 0; i < s->n_commands; i++) { /* members of a gang count several times */
        uint64_t members =
            s->commands[i].gang_axis == FS_NONE ? 1 : s->axes[s->commands[i].gang_axis].n_members;
        delayed[i] += took(i) > sum - members * took(i);
      }
    }
    for (uint32_t i = 0; i < s->n_commands; i++) {
      ck_assert_uint_gt(delayed[i], 0);
    }
    rig_close(&r);
    free(delayed);
    fsched_program_destroy(p);
    conf_close(&c);
  }
}
END_TEST

/* With the times of a profile the makespan is what the profile expects, which it computes in
 * another way.  Some commands are not measured. */
START_TEST(measured_durations)
{
  for (uint64_t seed = 1; seed <= 40; seed++) {
    fsched_profile *profile;
    conf maker_only = {.ctx = ctx};
    fsched_program *p = conf_compile(&maker_only, seed);
    fsched_duration *took_ns = calloc(p->view.n_commands, sizeof *took_ns);
    fs_rng rng = {seed};
    for (uint32_t i = 0; i < p->view.n_commands; i++) {
      uint64_t ns = fs_rng_below(&rng, 50000);
      /* All copies are measured: a profile does not tell several copies of one buffer apart. */
      bool run = p->view.commands[i].kind == FS_COMMAND_RUN;
      took_ns[i] = (fsched_duration){run && fs_rng_one_in(&rng, 4) ? 0 : 3, ns, ns, ns + 5};
    }
    fsched_measurement m = {
        .size = sizeof m, .tick_ns = 100, .command = took_ns, .n_commands = p->view.n_commands};
    conf_ok(&maker_only, fsched_profile_make(ctx, p, &m, &profile), "profile");
    sim = (fs_conformance){
        .device = {.kind = "sim", .durations = FSCHED_DURATIONS_MEASURED, .profile = profile}};
    conf_open(&c, &sim);
    fsched_replay_options o = {.size = sizeof o, .device = c.device, .pace_ns = 100, .check = 1};
    fsched_replay_result result = {.size = sizeof result};
    conf_ok(&c, fsched_replay(c.ctx, p, &o, &result), "replay");
    ck_assert_uint_eq(result.minimum_ns, profile->expected_ns);
    conf_close(&c);
    free(took_ns);
    fsched_profile_destroy(profile);
    fsched_program_destroy(p);
    fsched_diag_clear(ctx);
  }
}
END_TEST

static void refused(fsched_device_options o, const char *text) {
  fsched_device *d;
  o.size = sizeof o;
  o.kind = "sim";
  ck_assert_int_eq(fsched_device_create(ctx, &o, &d), FSCHED_USAGE);
  ck_assert_uint_eq(fsched_diag_errors(ctx), 1);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message, text);
  fsched_diag_clear(ctx);
}

START_TEST(options_are_checked)
{
  fsched_profile profile = {0};
  refused((fsched_device_options){.durations = (fsched_durations)4},
          "'durations' is no fsched_durations");
  refused((fsched_device_options){.durations = FSCHED_DURATIONS_MEASURED},
          "measured durations want a 'profile'");
  refused((fsched_device_options){.durations = FSCHED_DURATIONS_RANDOM, .profile = &profile},
          "a 'profile' is for measured durations");
}
END_TEST

/* ---- inputs that come late change nothing about virtual times */

START_TEST(late_inputs_take_no_time)
{
  for (uint64_t seed = 1; seed <= 20; seed++) {
    open_sim(FSCHED_DURATIONS_PLANNED, 0);
    fsched_program *p = conf_compile(&c, seed);
    rig_open(&r, &c, &p->view, (rig_options){.timed = true});
    uint64_t *times = malloc(2 * p->view.n_commands * sizeof *times);
    run(1);
    copy_times(times);
    uint64_t ns = r.ns;
    rig_fill(&r, 2);
    memset(r.late, 1, r.io.n_given * sizeof *r.late);
    rig_start(&r);
    for (uint32_t i = r.io.n_given; i-- > 0;) {
      pthread_mutex_lock(&r.lock);
      if (r.n_done == 0) {
        c.backend->ready(r.instance, i);
        c.backend->ready(r.instance, i); /* a second call does no harm */
      }
      pthread_mutex_unlock(&r.lock);
    }
    ck_assert_int_eq(rig_await(&r), FSCHED_CAUSE_NONE);
    rig_check(&r);
    ck_assert_uint_eq(r.ns, ns);
    ck_assert_mem_eq(times, r.record.begin, p->view.n_commands * sizeof *times);
    ck_assert_mem_eq(times + p->view.n_commands, r.record.end, p->view.n_commands * sizeof *times);
    free(times);
    rig_close(&r);
    fsched_program_destroy(p);
    conf_close(&c);
  }
}
END_TEST

/* Waits until nothing can go on without the late content, and then provides it. */
static void come_late(void) {
  rig_fill(&r, 1);
  r.late[0] = true;
  rig_start(&r);
  for (bool idle = false; !idle;) {
    (void)c.backend->progress(r.instance, &idle);
  }
  pthread_mutex_lock(&r.lock);
  c.backend->ready(r.instance, 0);
  pthread_mutex_unlock(&r.lock);
  ck_assert_int_eq(rig_await(&r), FSCHED_CAUSE_NONE);
  rig_check(&r);
}

/* What comes last in real time does not come last in virtual time; this holds for the members of a
 * gang, and for the waits of a command. */
START_TEST(late_gang)
{
  open_sim(FSCHED_DURATIONS_PLANNED, 0);
  (void)make_gang(c.m); /* left and right, on two queues, then all of both */
  uint32_t late = (mk_buffer(c.m, "late", 9, FSCHED_IO_INPUT), mk_version(c.m, 0, 700));
  mk_given(c.m, late, 0, 700);
  fs_stream *s = &c.m->program.view;
  fs_stream_command *left = &c.m->commands[0];
  fs_stream_place place = c.m->places[left->place0];
  left->place0 = s->n_places; /* left looks at `late`, too */
  left->n_places = 2;
  c.m->places[s->n_places++] = place;
  c.m->places[s->n_places++] = (fs_stream_place){
      .address = 700, .size = 9, .version = late, .arg = FS_NONE, .mode = FS_MODE_R};
  set_length(0, 1);
  set_length(3, 10); /* right */
  rig_open(&r, &c, s, (rig_options){.timed = true});
  come_late();
  ck_assert_uint_eq(r.record.end[0], 1000);
  ck_assert_uint_eq(r.record.begin[1], 10000);
  ck_assert_uint_eq(r.record.begin[4], 10000);
  rig_close(&r);
  conf_close(&c);
}
END_TEST

START_TEST(late_wait)
{
  open_sim(FSCHED_DURATIONS_PLANNED, 0);
  maker *m = c.m;
  uint32_t mem = mk_memory(m, "ddr", 100);
  for (uint32_t q = 0; q < 3; q++) {
    (void)mk_queue(m, q == 0 ? "p" : q == 1 ? "q" : "r");
  }
  uint32_t in = (mk_buffer(m, "in", 9, FSCHED_IO_INPUT), mk_version(m, mem, 0));
  mk_given(m, in, mem, 0);
  (void)mk_op(m, "late"), mk_arg(m, FSCHED_IN, in), mk_op(m, "long"), mk_op(m, "both");
  (void)mk_run(m, 0, 0), set_length(0, 1);
  (void)mk_run(m, 1, 1), set_length(1, 10);
  (void)mk_run(m, 2, 2), mk_wait(m, 0, 1), mk_wait(m, 1, 1);
  rig_open(&r, &c, &m->program.view, (rig_options){.timed = true});
  come_late();
  ck_assert_uint_eq(r.record.end[0], 1000);
  ck_assert_uint_eq(r.record.begin[2], 10000);
  rig_close(&r);
  conf_close(&c);
}
END_TEST

/* ---- many queues, many commands */

/* Makes a wave: command i of queue q waits for command i of queue q - 1. */
static void wave(uint32_t queues, uint32_t each) {
  uint32_t n = queues * each;
  fs_stream s = c.m->program.view;
  fs_stream_queue *queue = calloc(queues, sizeof *queue);
  fs_stream_axis *axis = calloc(queues, sizeof *axis);
  fs_stream_command *command = calloc(n, sizeof *command);
  fs_stream_wait *wait = calloc(n, sizeof *wait);
  fs_stream_op op = {.time = 1, .kernel = FS_NONE};
  for (uint32_t q = 0; q < queues; q++) {
    queue[q] = (fs_stream_queue){.command0 = q * each, .n_commands = each};
    for (uint32_t i = 0; i < each; i++) {
      uint32_t k = q * each + i;
      command[k] = (fs_stream_command){.end = 1,
                                       .epoch = i + 1,
                                       .gang_axis = FS_NONE,
                                       .kind = FS_COMMAND_RUN,
                                       .signal = 1,
                                       .wait0 = s.n_waits,
                                       .n_waits = q > 0};
      if (q > 0) {
        wait[s.n_waits++] = (fs_stream_wait){q - 1, i + 1};
      }
    }
  }
  s.queues = queue, s.n_queues = queues, s.axes = axis, s.n_axes = queues;
  s.commands = command, s.n_commands = n, s.waits = wait, s.ops = &op, s.n_ops = 1;
  rig_open(&r, &c, &s, (rig_options){.empty = true, .timed = true});
  for (uint64_t k = 0; k < 2; k++) {
    run(k);
    ck_assert_uint_eq(r.ns, 1000 * ((uint64_t)queues + each - 1));
    ck_assert_uint_eq(r.record.begin[n - 1], 1000 * ((uint64_t)queues + each - 2));
  }
  rig_close(&r);
  free(queue);
  free(axis);
  free(command);
  free(wait);
}

START_TEST(many_commands)
{
  open_sim(FSCHED_DURATIONS_PLANNED, 0);
  wave(1, 1);
  wave(5000, 20);
  wave(2, 50000);
  if (!SANITIZED) {
    wave(1000, 1000);
  }
  conf_close(&c);
}
END_TEST

/* ---- the guard */

/* Returns what is wrong with the stream that was made, or "". */
static const char *fault(void) {
  static char text[600];
  rig_open(&r, &c, &c.m->program.view, (rig_options){0});
  rig_fill(&r, 1);
  rig_start(&r);
  fsched_cause cause = rig_await(&r);
  ck_assert(cause == FSCHED_CAUSE_NONE || cause == FSCHED_CAUSE_WRONG);
  ck_assert_uint_eq(r.n_failed, cause != FSCHED_CAUSE_NONE);
  (void)snprintf(text, sizeof text, "%s", r.failed);
  rig_close(&r);
  return text;
}

/* Makes x -> W on one queue, and R on the other, which reads x; or both write. */
static void make_pair(fsched_tag second, uint64_t first_ticks, uint64_t second_ticks) {
  conf_fresh(&c);
  maker *m = c.m;
  uint32_t mem = mk_memory(m, "ddr", 100), p = mk_queue(m, "p"), q = mk_queue(m, "q");
  uint32_t x = (mk_buffer(m, "x", 20, FSCHED_IO_INPUT), mk_version(m, mem, 0));
  uint32_t y = (mk_buffer(m, "y", 20, FSCHED_IO_NONE), mk_version(m, mem, 10)); /* half of x */
  mk_given(m, x, mem, 0);
  (void)mk_op(m, "R"), mk_arg(m, second, x);
  (void)mk_op(m, "W"), mk_arg(m, FSCHED_OUT, y);
  (void)mk_run(m, p, 0), set_length(0, first_ticks);
  (void)mk_run(m, q, 1), set_length(1, second_ticks);
}

START_TEST(overlaps_are_noticed)
{
  static const char reader[] =
      "op 'R': 'x' was changed while it ran, so that nothing orders it "
      "with another command";
  open_sim(FSCHED_DURATIONS_PLANNED, 0);
  make_pair(FSCHED_IN, 10, 5);
  ck_assert_str_eq(fault(), reader);
  make_pair(FSCHED_IN, 5, 10); /* R is over first, but W has begun */
  ck_assert_str_eq(fault(), reader);
  make_pair(FSCHED_INOUT, 5, 10); /* R writes while W runs */
  ck_assert_str_eq(fault(), reader);
  make_pair(FSCHED_OUT, 5, 10);
  ck_assert_str_eq(fault(), reader);
  make_pair(FSCHED_NO_DEP, 5, 10);
  ck_assert_str_eq(fault(), "");
  make_pair(FSCHED_IN, 5, 10);
  mk_wait(c.m, 0, 1); /* W after R */
  ck_assert_str_eq(fault(), "");
  make_pair(FSCHED_INOUT, 5, 10);
  mk_wait(c.m, 0, 1);
  ck_assert_str_eq(fault(), "");
  make_pair(FSCHED_IN, 5, 10);
  c.m->races[0] = (fs_stream_race){.op_a = 0, .op_b = 1};
  c.m->program.view.n_races = 1; /* the stream says that it has races */
  ck_assert_str_eq(fault(), "");
  conf_close(&c);
}
END_TEST

/* Scratch overlaps, and the two ends of a copy do. */
START_TEST(overlaps_of_scratch_and_copies)
{
  open_sim(FSCHED_DURATIONS_PLANNED, 0);
  for (int k = 0; k < 3; k++) {
    conf_fresh(&c);
    maker *m = c.m;
    uint32_t cmx = mk_memory(m, "cmx", 100), ddr = mk_memory(m, "ddr", 100);
    m->memories[cmx].backing = ddr;
    uint32_t p = mk_queue(m, "p"), q = mk_queue(m, "q");
    uint32_t x = (mk_buffer(m, "x", 20, FSCHED_IO_INPUT), mk_version(m, cmx, 0));
    mk_given(m, x, ddr, 0);
    uint32_t y = (mk_buffer(m, "y", 20, FSCHED_IO_NONE), mk_version(m, cmx, k == 1 ? 50 : 10));
    (void)mk_op(m, "W"), mk_arg(m, FSCHED_OUT, y);
    if (k > 0) {
      mk_scratch(m, cmx, k == 1 ? 19 : 60, 5);
    }
    (void)mk_run(m, p, 0), set_length(0, 10);
    (void)mk_copy(m, q, x, FS_SPILL_READ, ddr, 0, cmx, k == 2 ? 45 : 0), set_length(1, 20);
    ck_assert_str_eq(fault(), k == 0
                                  ? "op 'W': 'y' was changed while it ran, so that nothing "
                                    "orders it with another command"
                                  : "op 'W': its scratch was changed while it ran, so that nothing "
                                    "orders it with another command");
  }
  conf_close(&c);
}
END_TEST

/* An exec reports the failure. */
START_TEST(failure_is_told)
{
  open_sim(FSCHED_DURATIONS_PLANNED, 0);
  make_pair(FSCHED_IN, 10, 5);
  fsched_replay_options o = {.size = sizeof o, .device = c.device};
  fsched_diag_clear(c.ctx);
  ck_assert_int_eq(fsched_replay(c.ctx, &c.m->program, &o, NULL), FSCHED_REPLAY);
  ck_assert_str_eq(fsched_diag_get(c.ctx, 0)->message,
                   "an invocation failed with cause -5 (the program is wrong): op 'R': 'x' was "
                   "changed while it ran, so that nothing orders it with another command");
  conf_close(&c);
}
END_TEST

FS_SUITE(sim, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, never_later_than_planned, examples_as_planned, ticks, random_durations,
           each_command_is_delayed, measured_durations, options_are_checked,
           late_inputs_take_no_time, late_gang, late_wait, many_commands, overlaps_are_noticed,
           overlaps_of_scratch_and_copies, failure_is_told);
}
