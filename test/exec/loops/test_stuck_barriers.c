/* SPDX-License-Identifier: Apache-2.0 */
/* Loops whose barriers do not let them go on: what is said names the barrier, its slot, the phase
 * that is awaited, how many there are, and the iterations of all loops around; the queue is blamed
 * that nothing would make go on. */
#include "fsched/compile.h"
#include "fsched/replay.h"
#include "fsched/verify.h"
#include "model/stream/stream.h"

#include "kit/context.h"

enum { SIM, CPU };

/* Loads into four slots, of 1 tick, and slow uses, of the loads and, where `third`, of another op,
 * so often; in so many loops around. */
static fsched_program *make_nest_of(uint32_t around, unsigned trips, bool third) {
  static const char head[] =
      "fsched: 1\n"
      "target:\n"
      "  queues: [{name: p, class: p}, {name: q, class: q}, {name: r, class: r}]\n"
      "  memories: [{name: m, capacity: 256}]\n"
      "  sync: barrier\n"
      "  barriers: {count: auto, slots: 2}\n"
      "ops:\n";
  char text[1024];
  int n = snprintf(text, sizeof text, "%s", head), indent = 2;
  for (uint32_t i = 0; i < around; i++, indent += 4) {
    n += snprintf(text + n, sizeof text - (size_t)n, "%*s- loop: L%u\n%*s  trip: 3\n%*s  ops:\n",
                  indent, "", i, indent, "", indent, "");
  }
  (void)snprintf(text + n, sizeof text - (size_t)n,
                 "%*s- {loop: M, trip: %u, buffers: {a: {depth: 4}%s}, ops: [\n"
                 "%*s    {name: A, on: p, time: 1, args: [{out: a, size: 16}]},\n"
                 "%*s    %s\n"
                 "%*s    {name: B, on: q, time: 4, args: [{in: a}%s]}]}\n",
                 indent, "", trips, third ? ", c: {depth: 4}" : "", indent, "", indent, "",
                 third ? "{name: C, on: r, time: 1, args: [{out: c, size: 16}]}," : "", indent, "",
                 third ? ", {in: c}" : "");
  fsched_compile_options o = {.size = sizeof o, .effort = FSCHED_EFFORT(0), .verify = 1};
  fsched_graph *g;
  fsched_program *p;
  ck_fs(ctx, fsched_graph_parse(ctx, "nest.yaml", text, strlen(text), NULL, &g));
  ck_fs(ctx, fsched_compile(ctx, g, &o, NULL, &p));
  fsched_graph_destroy(g);
  ck_assert_uint_eq(p->view.n_loops, around + 1);
  return p;
}

static fsched_program *make_nest(uint32_t around, bool third) {
  return make_nest_of(around, 6, third);
}

static bool has_name(const fsched_program *p, uint32_t op, const char *name) {
  return strcmp(fs_stream_string(&p->view, p->view.loop_ops[op].name), name) == 0;
}

static uint32_t op_of(const fsched_program *p, const char *name) {
  uint32_t op = 0;
  while (!has_name(p, op, name)) {
    op++;
    ck_assert_uint_lt(op, p->view.n_loop_ops);
  }
  return op;
}

/* What is said, first of the queue to blame; on threads one of these runs all queues. */
static void must_be_stuck(int kind, fsched_program *p, const char *const *said, uint32_t n) {
  fsched_device_options d = {.size = sizeof d, .kind = kind == SIM ? "sim" : "cpu"};
  fsched_replay_options o = {.size = sizeof o, .timeout_ms = 50};
  fsched_device *device;
  d.threads = kind == SIM ? 0 : 1;
  ck_assert_int_eq(fsched_verify_program(ctx, p, NULL), FSCHED_WRONG);
  ck_fs(ctx, fsched_device_create(ctx, &d, &device));
  o.device = device;
  fsched_diag_clear(ctx);
  ck_assert_int_eq(fsched_replay(ctx, p, &o, NULL), FSCHED_REPLAY);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "replay-stuck");
  for (uint32_t i = 0; i < n; i++) {
    ck_assert_uint_gt(fsched_diag_count(ctx), i);
    ck_assert_str_eq(fsched_diag_get(ctx, i)->message, said[i]);
  }
  fsched_device_release(device);
  fsched_program_destroy(p);
  fsched_diag_clear(ctx);
}

/* Nobody arrives at the barriers of A: B does in its place. */
START_TEST(nobody_arrives)
{
  static const char *const said[] = {
      "queue 'q' is stuck at command 1 (op 'L0'): its 'B[0][0]' waits for 'B[0][0]' of 'q': for "
      "phase 0 of physical barrier 0 (slot 0 of 4), of which 0 are complete",
      "queue 'p' is stuck at command 1 (op 'L0'): its 'A[0][4]' waits for 'B[0][0]' of 'q': for "
      "phase 0 of physical barrier 4 (slot 0 of 4), of which 0 are complete"};
  fsched_program *p = make_nest(1, false);
  uint32_t producers[2] = {op_of(p, "B"), p->view.producers[1]};
  ck_assert_uint_eq(p->view.n_producers, 2);
  ck_assert(has_name(p, p->view.producers[0], "A"));
  p->view.producers = producers;
  must_be_stuck(_i, p, said, 2);
}
END_TEST

/* There are fewer barriers than A runs ahead, and a phase passes unseen. */
START_TEST(phase_has_passed)
{
  static const char *const said[2][2] = {
      {"queue 'q' is stuck at command 1 (op 'L0'): its 'B[0][1]' waits for 'A[0][1]' of 'p': for "
       "phase 0 of physical barrier 1 (slot 1 of 2), of which 2 are complete",
       "queue 'p' is stuck at command 1 (op 'L0'): its 'A[0][5]' waits for 'B[0][1]' of 'q': for "
       "phase 0 of physical barrier 5 (slot 1 of 2), of which 0 are complete"},
      {"queue 'q' is stuck at command 1 (op 'L0'): its 'B[0][0]' waits for 'A[0][0]' of 'p': for "
       "phase 0 of physical barrier 0 (slot 0 of 2), of which 2 are complete",
       "queue 'p' is stuck at command 1 (op 'L0'): its 'A[0][4]' waits for 'B[0][0]' of 'q': for "
       "phase 0 of physical barrier 4 (slot 0 of 2), of which 0 are complete"}};
  fsched_program *p = make_nest(1, false);
  ck_assert_uint_eq(p->view.n_guards, 2);
  fs_stream_guard guards[2] = {p->view.guards[0], p->view.guards[1]};
  guards[0].depth = guards[1].depth = 2;
  p->view.guards = guards;
  must_be_stuck(_i, p, said[_i], 2);
}
END_TEST

/* Of two ops that share barriers one does not arrive. */
START_TEST(arrives_alone)
{
  static const char *const said[] = {
      "queue 'q' is stuck at command 1 (op 'M'): its 'B[0]' waits for 'A[0]' of 'p' and 1 more: "
      "for "
      "phase 0 of physical barrier 0 (slot 0 of 4), of which 0 are complete"};
  fsched_program *p = make_nest(0, true);
  ck_assert_uint_eq(p->view.guards[0].n_producers, 2);
  uint32_t producers[3] = {op_of(p, "A"), op_of(p, "B"), op_of(p, "B")};
  ck_assert_uint_eq(p->view.n_producers, 3);
  ck_assert(has_name(p, p->view.producers[1], "C"));
  p->view.producers = producers;
  must_be_stuck(_i, p, said, 1);
}
END_TEST

/* Barriers count the iterations of runs that are joined: what is waited for is in another run. */
START_TEST(names_earlier_runs)
{
  static const char *const said[] = {
      "queue 'q' is stuck at command 1 (op 'L0'): its 'B[0][0][0]' waits for 'B[0][0][0]' of 'q': "
      "for phase 0 of physical barrier 0 (slot 0 of 4), of which 0 are complete",
      "queue 'p' is stuck at command 1 (op 'L0'): its 'A[0][1][1]' waits for 'B[0][0][0]' of 'q': "
      "for phase 0 of physical barrier 4 (slot 0 of 4), of which 0 are complete"};
  fsched_program *p = make_nest_of(2, 3, false);
  ck_assert_uint_eq(p->view.loops[2].joined, 1);
  uint32_t producers[2] = {op_of(p, "B"), p->view.producers[1]};
  ck_assert_uint_eq(p->view.n_producers, 2);
  p->view.producers = producers;
  must_be_stuck(_i, p, said, 2);
}
END_TEST

FS_SUITE(stuck_barriers, s) {
  TCase *t = fs_case(s, fs_test_silent);
  FS_LOOPS(t, 0, 2, nobody_arrives, phase_has_passed, arrives_alone, names_earlier_runs);
}
