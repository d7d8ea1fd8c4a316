/* SPDX-License-Identifier: Apache-2.0 */
/* Loops in loops that do not end: what is said of them names the iterations of all loops around,
 * and blames the queue that nothing would make go on. */
#include "fsched/compile.h"
#include "fsched/replay.h"
#include "model/stream/stream.h"

#include "kit/context.h"

enum { MOST_COMMANDS = 16 };

static fsched_program *compile(const char *text, uint32_t loops) {
  fsched_compile_options o = {.size = sizeof o, .effort = FSCHED_EFFORT(0), .verify = 1};
  fsched_graph *g;
  fsched_program *p;
  ck_fs(ctx, fsched_graph_parse(ctx, "nest.yaml", text, strlen(text), NULL, &g));
  ck_fs(ctx, fsched_compile(ctx, g, &o, NULL, &p));
  fsched_graph_destroy(g);
  ck_assert_uint_eq(p->view.n_loops, loops);
  return p;
}

/* Loads into two slots, and uses: in so many loops around the one of `trips`, whose runs are joined
 * unless its uses have scratch. */
static fsched_program *make_nest(uint32_t around, unsigned trips, bool joined) {
  static const char head[] =
      "fsched: 1\n"
      "target:\n"
      "  queues: [{name: p, class: p}, {name: q, class: q}]\n"
      "  memories: [{name: m, capacity: 256}]\n"
      "ops:\n";
  char text[1024];
  int n = snprintf(text, sizeof text, "%s", head), indent = 2;
  for (uint32_t i = 0; i < around; i++, indent += 4) {
    n += snprintf(text + n, sizeof text - (size_t)n, "%*s- loop: L%u\n%*s  trip: 3\n%*s  ops:\n",
                  indent, "", i, indent, "", indent, "");
  }
  (void)snprintf(text + n, sizeof text - (size_t)n,
                 "%*s- {loop: M, trip: %u, buffers: {r: {depth: 2}}, ops: [\n"
                 "%*s    {name: A, on: p, time: 1, args: [{out: r, size: 16}]},\n"
                 "%*s    {name: B, on: q, time: 1%s, args: [{in: r}]}]}\n",
                 indent, "", trips, indent, "", indent, "", joined ? "" : ", scratch: {m: 8}");
  return compile(text, around + 1);
}

/* Takes the signal of an op away, which no program that can be loaded lacks. */
static void drop_signal(fsched_program *p, const char *op, fs_stream_loop_command *room) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < p->view.n_loop_commands; c++) {
    const fs_stream_loop_op *of = &p->view.loop_ops[p->view.loop_commands[c].op];
    room[c] = p->view.loop_commands[c];
    if (strcmp(fs_stream_string(&p->view, of->name), op) == 0) {
      n += room[c].signal;
      room[c].signal = 0;
    }
  }
  ck_assert_uint_eq(n, 1);
  p->view.loop_commands = room;
}

/* What is said of the two queues: first of the one to blame. */
static void must_be_stuck(int kind, fsched_program *p, const char *op, const char *blamed,
                          const char *other) {
  fs_stream_loop_command commands[MOST_COMMANDS];
  fsched_device_options d = {.size = sizeof d,
                             .kind = kind == 0 ? "sim" : "cpu",
                             .threads = kind == 0 ? 0 : (uint32_t)kind - 1};
  fsched_replay_options o = {.size = sizeof o, .timeout_ms = 50};
  fsched_device *device;
  ck_assert_uint_le(p->view.n_loop_commands, MOST_COMMANDS);
  drop_signal(p, op, commands);
  ck_fs(ctx, fsched_device_create(ctx, &d, &device));
  o.device = device;
  fsched_diag_clear(ctx);
  ck_assert_int_eq(fsched_replay(ctx, p, &o, NULL), FSCHED_REPLAY);
  ck_assert_uint_ge(fsched_diag_count(ctx), 2);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "replay-stuck");
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message, blamed);
  ck_assert_str_eq(fsched_diag_get(ctx, 1)->message, other);
  fsched_device_release(device);
  fsched_program_destroy(p);
  fsched_diag_clear(ctx);
}

START_TEST(names_all_iterations)
{
  must_be_stuck(_i, make_nest(1, 4, true), "A",
                "queue 'q' is stuck at command 1 (op 'L0'): its 'B[0][0]' waits for 'A[0][0]' of "
                "'p'",
                "queue 'p' is stuck at command 1 (op 'L0'): its 'A[0][2]' waits for 'B[0][0]' of "
                "'q'");
  must_be_stuck(_i, make_nest(3, 4, true), "B",
                "queue 'p' is stuck at command 1 (op 'L0'): its 'A[0][0][0][2]' waits for "
                "'B[0][0][0][0]' of 'q'",
                "queue 'q' is stuck at command 1 (op 'L0'): its 'B[0][0][0][2]' waits for "
                "'A[0][0][0][2]' of 'p'");
}
END_TEST

/* What a queue waits for may be of an earlier run. */
START_TEST(names_earlier_runs)
{
  must_be_stuck(_i, make_nest(2, 2, true), "B",
                "queue 'p' is stuck at command 1 (op 'L0'): its 'A[0][1][0]' waits for "
                "'B[0][0][0]' of 'q'",
                "queue 'q' is stuck at command 1 (op 'L0'): its 'B[0][1][0]' waits for "
                "'A[0][1][0]' of 'p'");
}
END_TEST

/* A queue that is in the outer loop alone waits for the part of another. */
START_TEST(names_parts)
{
  static const char text[] =
      "fsched: 1\n"
      "target:\n"
      "  queues: [{name: p, class: p}, {name: w, class: w}, {name: q, class: q}]\n"
      "  memories: [{name: m, capacity: 256}]\n"
      "ops:\n"
      "- loop: L0\n"
      "  trip: 3\n"
      "  ops:\n"
      "  - {loop: M, trip: 4, buffers: {r: {depth: 2}}, ops: [\n"
      "      {name: A, on: p, time: 1, args: [{out: r, size: 16}]},\n"
      "      {name: B, on: q, time: 1, args: [{in: r}]}]}\n"
      "  - {name: W, on: w, time: 1, after: [B]}\n";
  must_be_stuck(_i, compile(text, 2), "B",
                "queue 'p' is stuck at command 1 (op 'L0'): its 'A[0][2]' waits for 'B[0][0]' of "
                "'q'",
                "queue 'w' is stuck at command 1 (op 'L0'): its 'W[0]' waits for 'M[0]' of 'p'");
}
END_TEST

/* A queue that has left the loop further in waits for the other, and is not to blame. */
START_TEST(blames_none_that_has_left)
{
  must_be_stuck(_i, make_nest(2, 2, false), "A",
                "queue 'q' is stuck at command 1 (op 'L0'): its 'B[0][0][0]' waits for "
                "'A[0][0][0]' of 'p'",
                "queue 'p' is stuck at command 1 (op 'L0'): its 'M[0][0]' waits for that op's "
                "other queues");
}
END_TEST

FS_SUITE(stuck_nests, s) {
  TCase *t = fs_case(s, fs_test_silent);
  FS_LOOPS(t, 0, 4, names_all_iterations, names_earlier_runs, names_parts,
           blames_none_that_has_left);
}
