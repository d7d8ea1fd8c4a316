/* SPDX-License-Identifier: Apache-2.0 */
/* Loops in the traces of runs on the host; simulated with the planned times, instances are no later
 * than planned. */
#include "exec/replay/run_trace.h"

/* kind 0: simulated with planned times; 1: with others; from 2 on: with so many threads and 2. */
static fsched_device *open_device(int kind, uint64_t seed) {
  fsched_device_options o = {.size = sizeof o, .kind = kind < 2 ? "sim" : "cpu", .seed = seed};
  fsched_device *device;
  o.threads = kind < 2 ? 0 : (uint32_t)kind - 2;
  o.durations = kind == 1 ? FSCHED_DURATIONS_ADVERSARIAL : FSCHED_DURATIONS_PLANNED;
  ck_fs(ctx, fsched_device_create(ctx, &o, &device));
  return device;
}

START_TEST(random_loops)
{ check_random(_i, open_device, fsched_device_release, fs_loop_gen, false); }
END_TEST

START_TEST(random_nests)
{ check_random(_i, open_device, fsched_device_release, fs_nest_gen, true); }
END_TEST

/* A load of 2 ticks and a use of 3, with two slots: use i starts at 2 + 3 i, and load i, from the
 * second on, with use i - 1. */
static const char form[] =
    "fsched: 1\n"
    "target:\n"
    "  queues: [{name: a, class: a}, {name: b, class: b}]\n"
    "  memories: [{name: m, capacity: 64}]\n"
    "ops:\n"
    "  - loop: l\n"
    "    trip: {param: n, min: 0, max: 20011}\n"
    "    buffers: {r: {depth: 2}}\n"
    "    ops:\n"
    "      - {name: load, on: a, time: 2, args: [{out: r, size: 8}]}\n"
    "      - {name: use, on: b, time: 3, args: [{in: r}]}\n";

/* The loop runs as often as this invocation says, and its ends are those of that. */
START_TEST(as_often_as_given)
{
  static const uint64_t trips[] = {0, 1, 2, 9, 100, 20011};
  fsched_program *p = compile_text(form);
  ck_assert_ptr_nonnull(p);
  for (size_t k = 0; k < sizeof trips / sizeof trips[0]; k++) {
    fsched_trips given = {"n", trips[k]};
    uint32_t uses = 0;
    tr_trace t;
    fsched_device *device = open_device(_i, 1);
    run_trace(p, device, 1, &given, &t);
    fsched_device_release(device);
    tr_check_walk(&t, &p->view, 1);
    tr_check_number(&t, &p->view, trips[k]);
    for (uint32_t x = 0; x < t.n; x++) {
      const tr_event *e = &t.event[x];
      uint64_t i = strchr(e->name, '[') == NULL ? 0 : strtoull(strchr(e->name, '[') + 1, NULL, 10);
      bool load = strncmp(e->name, "load[", 5) == 0, use = strncmp(e->name, "use[", 4) == 0;
      if (_i == 0 && (load || use)) {
        ck_assert_uint_eq(e->dur, load ? 2000 : 3000);
        ck_assert_uint_eq(e->ts, 1000 * (use ? 2 + 3 * i : i == 0 ? 0 : 2 + 3 * (i - 1)));
      }
      uses += use;
    }
    ck_assert_uint_ge(uses, fs_min(trips[k], 6));
    ck_assert_uint_le(uses, 20);
    char last[32];
    (void)snprintf(last, sizeof last, "use[%llu]", (unsigned long long)(trips[k] - 1));
    ck_assert(trips[k] == 0 || tr_find(&t, last) != NULL);
    tr_close(&t);
  }
  fsched_program_destroy(p);
}
END_TEST

/* Instances are held back one by one. */
START_TEST(paced)
{
  enum { PACE = 20000 };
  fsched_program *p = compile_text(form);
  fsched_trips given = {"n", 9};
  uint32_t n = 0;
  ck_assert_ptr_nonnull(p);
  fsched_replay_options o = {.size = sizeof o, .trace = 1, .pace_ns = PACE};
  fsched_replay_result r = {.size = sizeof r};
  o.device = open_device(_i, 1);
  o.trips = &given;
  o.n_trips = 1;
  ck_fs(ctx, fsched_replay(ctx, p, &o, &r));
  tr_trace t;
  tr_open(&t, r.trace_json, r.trace_length);
  fsched_text_free(ctx, r.trace_json, r.trace_length);
  for (uint32_t x = 0; x < t.n; x++) {
    const tr_event *e = &t.event[x];
    if (tr_inside(e) && strcmp(e->cat, "hidden") != 0) {
      ck_assert_uint_ge(e->dur, (strncmp(e->name, "load", 4) == 0 ? 2 : 3) * PACE);
      n++;
    }
  }
  tr_check_number(&t, &p->view, given.trips);
  ck_assert_uint_ge(n, 10);
  tr_close(&t);
  fsched_device_release(o.device);
  fsched_program_destroy(p);
}
END_TEST

FS_SUITE(run_trace, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 5, random_loops, random_nests, as_often_as_given);
  FS_LOOPS(t, 2, 5, paced);
}
