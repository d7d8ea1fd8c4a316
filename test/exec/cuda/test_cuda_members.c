/* SPDX-License-Identifier: Apache-2.0 */
/* Members of an iteration that run kernels of modules on CUDA: each gets its own addresses, values
 * and shapes, all run at once, and one that never returns is named. */
#include "exec/context/exec_kit.h"
#include "fsched/replay.h"
#include "model/stream/stream.h"

#include "exec/cuda/cuda_case.h"

enum { TRIP = 5, WORDS = 12, ALL = 2 * TRIP * WORDS };

#define HEAD(queues)                                           \
  "fsched: 1\n"                                                \
  "target: {queues: [{name: l, class: load}, " queues          \
  "],\n"                                                       \
  "  memories: [{name: m, capacity: 64KiB}]}\n"                \
  "buffers: [{name: in, size: 480, io: input, memory: m},\n"   \
  "          {name: out, size: 480, io: output, memory: m}]\n" \
  "ops:\n"
#define PAIR "{name: p, class: a}, {name: q, class: a}"
#define KERNEL(function) "kernel: {module: kernels.ptx, function: " function ", block: [12, 1, 1]}"

/* Of tile i the first half goes through a ring and is multiplied by 3, the second one by 5. */
#define BODY(in, out, on) \
  "- {name: load, on: load, args: [{in: in, at: {length: 48, " in                                \
  "}}, {out: t, size: 48}, {value: 1}], " KERNEL("scale") "}\n"                                  \
  "      - {name: pair, on: " on ", " KERNEL("scale") ", members: [\n"                           \
  "          {args: [{in: t}, {out_existing: out, at: {length: 48, " out "}}, {value: 3}]},\n"   \
  "          {args: [{in: in, at: {offset: 48, length: 48, " in "}},\n"                          \
  "                  {out_existing: out, at: {offset: 48, length: 48, " out "}}, {value: 5}]}]}\n"
static const char tiles[] =
    HEAD(PAIR) "  - loop: L\n    trip: 5\n    buffers: {t: {depth: 2}}\n    ops:\n      " BODY(
        "step: [96]", "step: [96]", "[p, q]");
static const char of_a_class[] =
    HEAD(PAIR) "  - loop: L\n    trip: 5\n    buffers: {t: {depth: 3}}\n    ops:\n      " BODY(
        "step: [96]", "step: [96]", "{class: a, count: 2}");
static const char nested[] = HEAD(PAIR)
    "  - loop: L\n    trip: 5\n    ops:\n    - loop: M\n      trip: 1\n      ops:\n      " BODY(
        "step: [96, 0]", "step: [96, 0]", "[p, q]");

static const char *kind_of(int kind) { return kind % 2 == 0 ? "cuda" : "cuda-graph"; }

static fs_status run_on_cuda(int kind, const fake_cuda_controls *controls, const char *text,
                             fsched_replay_options o) {
  fsched_device_options d = {
      .size = sizeof d, .kind = kind_of(kind), .modules = "test/cuda_modules"};
  fsched_replay_result r = {.size = sizeof r};
  fsched_program *p = kit_compile(ctx, text);
  ck_assert_uint_gt(p->view.n_loops, 0);
  if (!cuda_is_real()) {
    fake.reset(controls);
    d.driver = fake.path;
  }
  ck_fs(ctx, fsched_device_create(ctx, &d, &o.device));
  o.size = sizeof o;
  fs_status status = fsched_replay(ctx, p, &o, &r);
  fsched_text_free(ctx, r.trace_json, r.trace_length);
  fsched_device_release(o.device);
  fsched_program_destroy(p);
  return status;
}

static uint32_t in[ALL], out[ALL];
static fsched_binding both[] = {{.buffer = "in", .data = in, .bytes = sizeof in},
                                {.buffer = "out", .data = out, .bytes = sizeof out}};

static void fill(void) {
  for (uint32_t i = 0; i < ALL; i++) {
    in[i] = 1000 + 7 * i;
    out[i] = 0;
  }
}

START_TEST(args_of_each)
{
  static const char *const text[] = {tiles, of_a_class, nested};
  fill();
  ck_fs(ctx, run_on_cuda(_i, &(fake_cuda_controls){.seed = (uint64_t)_i}, text[_i % 3],
                         (fsched_replay_options){.bindings = both,
                                                 .n_bindings = 2,
                                                 .repeat = 3,
                                                 .in_flight = 2,
                                                 .trace = _i % 8 >= 4,
                                                 .pool_bytes = _i % 4 < 2 ? 0 : 32768}));
  for (uint32_t i = 0; i < ALL; i++) {
    uint32_t k = i % WORDS;
    ck_assert_uint_eq(out[i], i / WORDS % 2 == 0 ? (in[i] + k) * 3 + k : in[i] * 5 + k);
  }
}
END_TEST

/* Each member has its own shapes, and all have the kernel's block of parameters. */
START_TEST(shapes_of_each)
{
  static const char text[] = HEAD(PAIR)
      "  - loop: L\n    trip: 5\n    ops:\n"
      "      - {name: turn, on: [p, q],\n"
      "         kernel: {module: kernels.ptx, function: tile, block: [12, 1, 1], params: e8030000},"
      "\n         members: [\n"
      "          {args: [{in: in, at: {shape: [4, 3], strides: [4, 16], element: 4, step: [96]}},\n"
      "                  {out_existing: out, at: {offset: 48, length: 48, step: [96]}}]},\n"
      "          {args: [{in: in, at: {offset: 48, shape: [3, 4], strides: [16, 4], element: 4,\n"
      "                                step: [96]}},\n"
      "                  {out_existing: out, at: {length: 48, step: [96]}}]}]}\n";
  fill();
  ck_fs(ctx, run_on_cuda(_i, &(fake_cuda_controls){.seed = (uint64_t)_i}, text,
                         (fsched_replay_options){.bindings = both, .n_bindings = 2}));
  for (uint32_t i = 0; i < TRIP; i++) {
    const uint32_t *x = &in[2 * WORDS * i], *y = &out[2 * WORDS * i];
    for (uint32_t k = 0; k < WORDS; k++) {
      ck_assert_uint_eq(y[WORDS + k], x[k % 3 * 4 + k / 3] + 1002);
      ck_assert_uint_eq(y[k], x[WORDS + k] + 1002);
    }
  }
}
END_TEST

/* A gang of as many queues, which takes more events in each iteration than there are. */
enum { MANY = 40 };

START_TEST(more_members_than_events)
{
  fs_text t;
  fs_text_init(&t, ctx);
  fs_text_puts(&t, "fsched: 1\ntarget: {queues: [");
  for (uint32_t q = 0; q < MANY; q++) {
    fs_text_printf(&t, "%s{name: q%u}", q == 0 ? "" : ", ", q);
  }
  fs_text_printf(
      &t,
      "]}\nbuffers: [{name: in, size: 480, io: input}, {name: out, size: %u, io: output}]\n"
      "ops:\n  - loop: L\n    trip: 9\n    ops:\n"
      "      - {name: all, on: {class: compute, count: %u}, " KERNEL("scale") ", members: [\n",
      48 * MANY, MANY);
  for (uint32_t q = 0; q < MANY; q++) {
    fs_text_printf(&t,
                   "%s{args: [{in: in, at: {length: 48, step: [48]}},\n"
                   "   {out_existing: out, at: {offset: %u, length: 48}}, {value: %u}]}",
                   q == 0 ? "" : ",\n", 48 * q, q);
  }
  fs_text_puts(&t, "]}\n");
  fs_text_add(&t, "", 1);
  ck_assert(!t.failed);
  uint32_t many[MANY * WORDS];
  fsched_binding b[] = {{.buffer = "in", .data = in, .bytes = sizeof in},
                        {.buffer = "out", .data = many, .bytes = sizeof many}};
  fill();
  memset(many, 0, sizeof many);
  ck_fs(ctx, run_on_cuda(_i, &(fake_cuda_controls){.seed = (uint64_t)_i}, t.at,
                         (fsched_replay_options){
                             .bindings = b, .n_bindings = 2, .repeat = 3, .in_flight = 8}));
  for (uint32_t i = 0; i < MANY * WORDS; i++) {
    uint32_t k = i % WORDS;
    ck_assert_uint_eq(many[i], in[8 * WORDS + k] * (i / WORDS) + k);
  }
  fs_text_drop(&t);
}
END_TEST

/* What is wrong with a kernel for one of the members is told as with any other one. */
START_TEST(refused_members)
{
  static const char *const bad[][2] = {
      {"{args: [{in: in}, {out_existing: out, at: [0, 48]}, {value: 2}]}, {args: [{value: 2}]}",
       "op 'pair': 'scale' has more parameters than the op has args, which are 1"},
      {"{args: []}, {args: [{in: in}, {out_existing: out, at: [0, 48]}, {value: 2}]}",
       "op 'pair': 'scale' has more parameters than the op has args, which are 0"}};
  char text[1000];
  for (uint32_t k = 0; k < 2; k++) {
    (void)snprintf(text, sizeof text,
                   HEAD(PAIR) "  - {name: first, on: load, args: [{out: out}]}\n"
                              "  - loop: L\n    trip: 5\n    ops:\n"
                              "      - {name: pair, on: [p, q], " KERNEL("scale")
                              ", members: [%s]}\n",
                   bad[k][0]);
    fsched_diag_clear(ctx);
    ck_assert_int_eq(run_on_cuda(_i, &(fake_cuda_controls){0}, text, (fsched_replay_options){0}),
                     FSCHED_REPLAY);
    ck_assert_str_eq(fsched_diag_get(ctx, 0)->code, "replay-kernel");
    ck_assert_str_eq(fsched_diag_get(ctx, 0)->message, bad[k][1]);
  }
}
END_TEST

/* A graph has nodes for each member. */
START_TEST(limit_of_graphs)
{
  char text[1000];
  for (uint32_t k = 0; k < 2; k++) {
    (void)snprintf(text, sizeof text,
                   HEAD(PAIR) "  - {name: first, on: load, args: [{out: out}]}\n"
                              "  - loop: L\n    trip: %u\n    ops:\n"
                              "      - {name: pair, on: [p, q],\n"
                              "         members: [{args: [{inout: out}]}, {args: [{in: in}]}]}\n",
                   8192 + k);
    fsched_status status =
        run_on_cuda(1, &(fake_cuda_controls){0}, text, (fsched_replay_options){0});
    ck_assert_int_eq(status, k == 0 ? FSCHED_OK : FSCHED_USAGE);
  }
  ck_assert_ptr_nonnull(strstr(fsched_diag_get(ctx, 0)->message, "here 16386, and at most 16384"));
}
END_TEST

/* Members hang beside each other: each has begun, and none waits for another one. */
START_TEST(all_that_hang_are_named)
{
  static const char text[] = HEAD(PAIR)
      "  - {name: first, on: load, args: [{out: out}]}\n"
      "  - loop: L\n    trip: 20\n    ops:\n"
      "      - {name: pair, on: [p, q], kernel: {module: kernels.ptx, function: slow},\n"
      "         members: [{args: [{inout: out, at: [0, 8]}]}, {args: [{inout: out, at: [8, 8]}]}]}"
      "\n";
  static const char *const want[] = {
      "queue 'p' is stuck at command 1 (op 'L', iteration 3 of 'pair'): its kernel, function "
      "'slow'",
      "queue 'q' is stuck at command 1 (op 'L', iteration 3 of 'pair'): its kernel, function "
      "'slow'"};
  ck_assert_int_eq(
      run_on_cuda(_i, &(fake_cuda_controls){.hang = "slow", .hang_at = 7, .depth = 1024}, text,
                  (fsched_replay_options){.timeout_ms = 20}),
      FSCHED_REPLAY);
  ck_assert_uint_eq(fsched_diag_count(ctx), 2);
  for (uint32_t i = 0; i < 2; i++) {
    ck_assert_msg(strncmp(fsched_diag_get(ctx, i)->message, want[i], strlen(want[i])) == 0, "%s",
                  fsched_diag_get(ctx, i)->message);
  }
}
END_TEST

FS_SUITE(cuda_members, s) {
  TCase *t = fs_case(s, fs_test_context);
  fs_test_cuda(t);
  FS_LOOPS(t, 0, 12, args_of_each);
  FS_LOOPS(t, 0, 4, shapes_of_each);
  FS_LOOPS(t, 0, 2, more_members_than_events, refused_members);
  FS_TESTS(t, limit_of_graphs);
  TCase *h = fs_case(s, fs_test_context);
  fs_test_fake_cuda(h);
  if (!cuda_is_real()) {
    FS_LOOPS(h, 0, 2, all_that_hang_are_named);
  }
}
