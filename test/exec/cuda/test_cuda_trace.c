/* SPDX-License-Identifier: Apache-2.0 */
/* Loops in the traces of runs on CUDA, whose times are those of events: every instance is shown or
 * counted, lies in its loop and comes after what it waited for. */
#include "exec/replay/run_trace.h"

#include "exec/cuda/cuda_case.h"

static const char *const kinds[] = {"cuda", "cuda-graph"};

/* `kind` is from 1 on, as nothing is simulated with the planned times. */
static fsched_device *open_cuda(int kind, uint64_t seed) {
  fsched_device_options o = {.size = sizeof o, .kind = kinds[kind - 1]};
  fsched_device *on;
  if (!cuda_is_real()) {
    fake.reset(&(fake_cuda_controls){.seed = seed});
    o.driver = fake.path;
  }
  ck_fs(ctx, fsched_device_create(ctx, &o, &on));
  return on;
}

static void close_cuda(fsched_device *on) {
  fsched_device_release(on);
  if (!cuda_is_real()) {
    cuda_fake_clean(&fake);
  }
}

START_TEST(random_loops)
{ check_random(_i + 1, open_cuda, close_cuda, fs_loop_gen, false); }
END_TEST

START_TEST(random_nests)
{ check_random(_i + 1, open_cuda, close_cuda, fs_nest_gen, true); }
END_TEST

START_TEST(joined_nests)
{ check_random(_i + 1, open_cuda, close_cuda, fs_nest_gen_joined, true); }
END_TEST

static const char form[] =
    "fsched: 1\n"
    "target:\n"
    "  queues: [{name: a, class: a}, {name: b, class: b}]\n"
    "  memories: [{name: m, capacity: 64}]\n"
    "ops:\n"
    "  - loop: l\n"
    "    trip: %s\n"
    "    buffers: {r: {depth: 2}}\n"
    "    ops:\n"
    "      - {name: load, on: a, time: 2, args: [{out: r, size: 8}]}\n"
    "      - {name: use, on: b, time: 3, args: [{in: r}]}\n";

static fsched_program *compile_form(const char *trip) {
  char text[sizeof form + 64];
  (void)snprintf(text, sizeof text, form, trip);
  fsched_program *p = compile_text(text);
  ck_assert_ptr_nonnull(p);
  ck_assert_uint_eq(p->view.n_loops, 1);
  return p;
}

/* Both ends are shown, and no more of many iterations than of some. */
static void check_ends(tr_trace *t, const fs_stream *s, uint64_t trips) {
  uint32_t loads = 0, uses = 0;
  char last[32];
  tr_check_walk(t, s, 1);
  tr_check_number(t, s, trips);
  for (uint32_t x = 0; x < t->n; x++) {
    const tr_event *e = &t->event[x];
    loads += e->phase == 'X' && strncmp(e->name, "load[", 5) == 0;
    uses += e->phase == 'X' && strncmp(e->name, "use[", 4) == 0;
  }
  ck_assert_uint_ge(uses, fs_min(trips, 6));
  ck_assert_uint_le(uses, 20);
  ck_assert_uint_eq(loads, uses);
  (void)snprintf(last, sizeof last, "use[%llu]", (unsigned long long)(trips - 1));
  ck_assert(trips == 0 || (tr_find(t, "load[0]") != NULL && tr_find(t, last) != NULL));
}

/* A loop of a parameter runs as often as each invocation says, with as many events. */
START_TEST(as_often_as_given)
{
  static const uint64_t trips[] = {0, 1, 2, 9, 100, 3001};
  fsched_program *p = compile_form("{param: n, min: 0, max: 20011}");
  uint64_t events = 0;
  for (size_t k = 0; k < sizeof trips / sizeof trips[0]; k++) {
    fsched_trips given = {"n", trips[k]};
    fsched_device *on = open_cuda(1, k);
    tr_trace t;
    run_trace(p, on, 1, &given, &t);
    check_ends(&t, &p->view, trips[k]);
    tr_close(&t);
    uint64_t n = cuda_is_real() ? 0 : fake.calls("cuEventCreate");
    ck_assert(trips[k] != 3001 || n == events);
    events = n;
    close_cuda(on);
  }
  fsched_program_destroy(p);
}
END_TEST

START_TEST(in_a_graph)
{
  static const uint64_t trips[] = {2, 9, 100, 1001};
  for (size_t k = 0; k < sizeof trips / sizeof trips[0]; k++) {
    char trip[16];
    (void)snprintf(trip, sizeof trip, "%llu", (unsigned long long)trips[k]);
    fsched_program *p = compile_form(trip);
    fsched_device *on = open_cuda(2, k);
    tr_trace t;
    run_trace(p, on, 1, NULL, &t);
    check_ends(&t, &p->view, trips[k]);
    tr_close(&t);
    close_cuda(on);
    fsched_program_destroy(p);
  }
}
END_TEST

/* Where no trace is wanted there are no more events and no more records of them. */
START_TEST(costs_nothing_else)
{
  fsched_program *p = compile_form("9");
  uint64_t made[2], recorded[2];
  for (int profile = 0; profile < 2; profile++) {
    fsched_device *on = open_cuda(_i + 1, 1);
    fsched_replay_options o = {.size = sizeof o, .device = on, .profile = (uint32_t)profile};
    fsched_replay_result r = {.size = sizeof r};
    ck_fs(ctx, fsched_replay(ctx, p, &o, &r));
    made[profile] = fake.calls("cuEventCreate");
    recorded[profile] = fake.calls("cuEventRecord") + fake.calls("cuGraphAddEventRecordNode");
    fsched_profile_destroy(r.profile);
    close_cuda(on);
  }
  uint64_t items = 2; /* a part of the loop on each queue */
  ck_assert_uint_eq(made[1], made[0] + 2 * items + 1);
  ck_assert_uint_eq(recorded[1], recorded[0] + 2 * items + 1);
  fsched_program_destroy(p);
}
END_TEST

FS_SUITE(cuda_trace, s) {
  TCase *t = fs_case(s, fs_test_context);
  fs_test_fake_cuda(t);
  FS_LOOPS(t, 0, 2, random_loops, random_nests, joined_nests);
  FS_TESTS(t, as_often_as_given, in_a_graph);
  if (!cuda_is_real()) {
    FS_LOOPS(t, 0, 2, costs_nothing_else);
  }
}
