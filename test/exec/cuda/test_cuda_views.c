/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels of modules are told of strided views: a kernel gathers the elements by the shape
 * that it gets, and they are compared with those that the test picks by hand. */
#include "exec/context/exec_kit.h"
#include "fsched/replay.h"
#include "kit/replay_kit.h"

#include "exec/cuda/cuda_case.h"

enum { ROWS = 6, COLUMNS = 4, WORDS = ROWS * COLUMNS };

static void open_cuda(int loop) {
  fsched_device_options o = {.size = sizeof o,
                             .kind = loop % 2 == 0 ? "cuda" : "cuda-graph",
                             .modules = "test/cuda_modules"};
  if (!cuda_is_real()) {
    fake.reset(&(fake_cuda_controls){.seed = (uint64_t)loop / 2});
    o.driver = fake.path;
  }
  ck_fs(ctx, fsched_device_create(ctx, &o, &device));
}

static fs_status run_views(const char *text, fsched_binding *bindings, uint32_t n) {
  fsched_program *p = kit_compile(ctx, text);
  fsched_replay_options o = {
      .size = sizeof o, .device = device, .bindings = bindings, .n_bindings = n, .repeat = 2};
  fsched_replay_result r = {.size = sizeof r};
  fs_status status = fsched_replay(ctx, p, &o, &r);
  fsched_program_destroy(p);
  return status;
}

#define BEGIN                                       \
  "fsched: 1\n"                                     \
  "target: {queues: [{name: q0}, {name: q1}]}\n"    \
  "buffers: [{name: in, size: 96, io: input},\n"    \
  "          {name: out, size: 96, io: output},\n"  \
  "          {name: more, size: 48, io: output}]\n" \
  "ops:\n"
#define TILE(function, block)                                            \
  "kernel: {module: kernels.ptx, function: " function ", block: [" block \
  ", 1, 1], params: e8030000}"
#define MORE "  - {name: b, args: [{out: more}]}\n"
#define TURNED "at: {shape: [4, 6], strides: [4, 16], element: 4}"

/* The matrix is turned, and what is behind the shape comes from its own parameters. */
START_TEST(shape_behind_its_address)
{
  uint32_t in[WORDS], out[WORDS] = {0}, more[WORDS / 2] = {0};
  fsched_binding b[] = {{.buffer = "in", .data = in, .bytes = sizeof in},
                        {.buffer = "out", .data = out, .bytes = sizeof out},
                        {.buffer = "more", .data = more, .bytes = sizeof more}};
  for (uint32_t i = 0; i < WORDS; i++) {
    in[i] = 5000 + 7 * i;
  }
  open_cuda(_i);
  ck_fs(ctx, run_views(BEGIN "  - {name: a, args: [{in: in, " TURNED "}, {out: out}], " TILE(
                           "tile", "24") "}\n"
                                         "  - {name: b, args: [{in: in, at: {offset: 4, shape: [6, "
                                         "2], strides: [16, 8], element: 4}},\n"
                                         "      {out: more}], " TILE("tile", "12") "}\n",
                       b, 3));
  for (uint32_t c = 0; c < COLUMNS; c++) {
    for (uint32_t r = 0; r < ROWS; r++) {
      ck_assert_uint_eq(out[c * ROWS + r], in[r * COLUMNS + c] + 2 + 1000);
      if (c % 2 == 1) {
        ck_assert_uint_eq(more[r * 2 + c / 2], in[r * COLUMNS + c] + 2 + 1000);
      }
    }
  }
}
END_TEST

/* Each member of a group has its own views. */
START_TEST(shapes_of_members)
{
  uint32_t in[WORDS], out[WORDS] = {0};
  fsched_binding b[] = {{.buffer = "in", .data = in, .bytes = sizeof in},
                        {.buffer = "out", .data = out, .bytes = sizeof out}};
  for (uint32_t i = 0; i < WORDS; i++) {
    in[i] = 90 + 11 * i;
  }
  open_cuda(_i);
  ck_fs(
      ctx,
      run_views(BEGIN "  - name: a\n    on: [q0, q1]\n    " TILE(
                    "tile",
                    "12") "\n    members:\n"
                          "      - {args: [{in: in, at: {shape: [3, 4], strides: [16, 4], element: "
                          "4}}, {out_existing: out, at: [48, 48]}]}\n"
                          "      - {args: [{in: in, at: {offset: 48, shape: [4, 3], strides: [4, "
                          "16], element: 4}}, {out_existing: out, at: [0, 48]}]}\n" MORE,
                b, 2));
  for (uint32_t r = 0; r < 3; r++) {
    for (uint32_t c = 0; c < COLUMNS; c++) {
      ck_assert_uint_eq(out[12 + r * COLUMNS + c], in[r * COLUMNS + c] + 1002);
      ck_assert_uint_eq(out[c * 3 + r], in[12 + r * COLUMNS + c] + 1002);
    }
  }
}
END_TEST

/* What the driver says of the function is compared with the op's args. */
START_TEST(functions_without_shapes)
{
  static const struct {
    const char *text, *says;
  } bad[] = {{BEGIN "  - {name: a, args: [{in: in, " TURNED
                    "}, {out: out}], " TILE("thin", "24") "}\n" MORE,
              "op 'a': parameter 1 of 'thin' has 8 bytes, and as the shape of the strided view "
              "before it 96"},
             {BEGIN "  - {name: a, args: [{in: in}, {out: out}], " TILE("tile", "24") "}\n" MORE,
              "op 'a': parameter 1 of 'tile' has 96 bytes, not those of an address or a number"},
             {BEGIN "  - {name: a, args: [{in: in, " TURNED "}], kernel: {module: kernels.ptx, "
                    "function: none}}\n" MORE "  - {name: c, args: [{out: out}]}\n",
              "op 'a': 'none' has fewer parameters than the op has args, which are 1, the shapes "
              "of its views"}};
  open_cuda(_i);
  for (uint32_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    fsched_diag_clear(ctx);
    ck_assert_int_eq(run_views(bad[k].text, NULL, 0), FSCHED_REPLAY);
    ck_assert_msg(strstr(fsched_diag_get(ctx, 0)->message, bad[k].says) != NULL, "%s",
                  fsched_diag_get(ctx, 0)->message);
  }
}
END_TEST

FS_SUITE(cuda_views, s) {
  TCase *t = fs_case(s, fs_test_context);
  fs_test_cuda(t);
  FS_LOOPS(t, 0, 8, shape_behind_its_address, shapes_of_members);
  FS_LOOPS(t, 0, 2, functions_without_shapes);
}
