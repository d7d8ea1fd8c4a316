/* SPDX-License-Identifier: Apache-2.0 */
/* fsched under a model compiler: a model of three dense layers becomes tagged submits, these a
 * graph, and that a program, which is verified, replayed with real kernels, and compared with plain
 * loops.  The same submits are then executed at once, without a program, and compared as well.
 *
 * Each layer is divided in two tiles of its outputs, one task for each.  The compiler of the model
 * says for each task only which bytes it reads and which it writes; that both tiles of a layer may
 * run at once, on two cores, and that the next layer waits for both, follows from that.  The
 * activations between layers are allocated by fsched, in a memory that does not hold the weights of
 * all layers at once.
 *
 *   cc submit.c $(pkg-config --cflags --libs fsched) */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsched/compile.h"
#include "fsched/dynamic.h"
#include "fsched/exec.h"
#include "fsched/replay.h"
#include "fsched/submit.h"
#include "fsched/verify.h"

enum { LAYERS = 3, TILES = 2, WIDTH = 64, TILE = WIDTH / TILES };
enum { ROW_BYTES = WIDTH * sizeof(int32_t), WEIGHT_BYTES = WIDTH * ROW_BYTES };

static int32_t weights[LAYERS][WIDTH][WIDTH];

/* A kernel, a plain function of this program: a tile of relu(weights * input). */
static int dense(const fsched_kernel_call *call) {
  const int32_t *row = call->args[0].data, *in = call->args[1].data;
  int32_t *out = call->args[2].data;
  for (int o = 0; o < TILE; o++, row += WIDTH) {
    int32_t sum = 0;
    for (int i = 0; i < WIDTH; i++) {
      sum += row[i] * in[i];
    }
    out[o] = sum > 0 ? sum / 64 : 0;
  }
  return 0;
}

static fsched_kernel_fn find(void *user, const char *module, const char *function) {
  (void)user;
  (void)module;
  return strcmp(function, "dense") == 0 ? dense : NULL;
}

static fsched_context *ctx;

static void need(fsched_status status) {
  if (status != FSCHED_OK) {
    fprintf(stderr, "submit: %s\n",
            fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "no memory");
    exit(status);
  }
}

/* The machine: two cores, a dma queue, and 24 KiB of fast memory before ddr. */
static fsched_builder *describe_target(void) {
  static const char *const queue[] = {"core0", "core1", "dma"};
  fsched_builder *b;
  need(fsched_builder_create(ctx, "dense", &b));
  need(fsched_builder_time_unit(b, "us"));
  for (int i = 0; i < 3; i++) {
    fsched_queue_desc d = {
        .size = sizeof d, .name = queue[i], .queue_class = i < 2 ? "compute" : "copy"};
    need(fsched_builder_queue(b, &d, NULL));
  }
  fsched_memory_desc fast = {.size = sizeof fast,
                             .name = "fast",
                             .capacity = 24 * 1024,
                             .align = 64,
                             .backing = "ddr",
                             .spill_on = "dma",
                             .write_fixed = 1,
                             .write_rate = 4096,
                             .read_fixed = 1,
                             .read_rate = 4096};
  fsched_memory_desc ddr = {.size = sizeof ddr, .name = "ddr"};
  need(fsched_builder_memory(b, &fast, NULL));
  need(fsched_builder_memory(b, &ddr, NULL));
  return b;
}

/* Who takes the submits: a submitter, which captures them, or else a dynamic run. */
typedef struct taker {
  fsched_submitter *s;
  fsched_dynamic *d;
} taker;

/* Memory of this program. */
static uint32_t import(taker to, const char *name, const void *at, uint64_t bytes, fsched_io io) {
  uint32_t id;
  fsched_submit_import_desc d = {
      .size = sizeof d,
      .name = name,
      .bytes = bytes,
      .io = io,
      .access = io == FSCHED_IO_OUTPUT ? FSCHED_ACCESS_WRITE : FSCHED_ACCESS_READ,
      .address = at};
  need(to.s != NULL ? fsched_submit_import(to.s, &d, &id) : fsched_dynamic_import(to.d, &d, &id));
  return id;
}

static uint32_t alloc_row(taker to) {
  uint32_t id;
  const uint64_t shape = WIDTH;
  fsched_submit_alloc_desc d = {
      .size = sizeof d, .element = sizeof(int32_t), .n_dims = 1, .shape = &shape};
  need(to.s != NULL ? fsched_submit_alloc(to.s, &d, &id) : fsched_dynamic_alloc(to.d, &d, &id));
  return id;
}

/* Submits a tile of a layer: its rows of the weights and all of the input make its part of the
 * output. */
static void submit_tile(taker to, uint32_t callable, uint32_t tile, uint32_t weight, uint32_t in,
                        uint32_t out) {
  const uint64_t part = WEIGHT_BYTES / TILES, piece = ROW_BYTES / TILES;
  fsched_submit_view rows = {.size = sizeof rows, .offset = tile * part, .length = part};
  fsched_submit_view place = {.size = sizeof place, .offset = tile * piece, .length = piece};
  fsched_submit_arg args[] = {
      {.size = sizeof *args, .tag = FSCHED_IN, .buffer = weight, .view = &rows},
      {.size = sizeof *args, .tag = FSCHED_IN, .buffer = in},
      {.size = sizeof *args, .tag = FSCHED_OUT, .buffer = out, .view = &place}};
  fsched_submit_task_desc task = {
      .size = sizeof task, .callable = callable, .args = args, .n_args = 3};
  need(to.s != NULL ? fsched_submit_task(to.s, &task, NULL)
                    : fsched_dynamic_task(to.d, &task, NULL));
}

/* Submits the model: the program of its compiler, whoever takes it. */
static void submit_model(taker to, uint32_t callable, const void *input, const void *output) {
  static const char *const name[] = {"weights0", "weights1", "weights2"};
  uint32_t in = import(to, "input", input, ROW_BYTES, FSCHED_IO_INPUT);
  uint32_t last = import(to, "output", output, ROW_BYTES, FSCHED_IO_OUTPUT);
  for (uint32_t layer = 0; layer < LAYERS; layer++) {
    uint32_t weight = import(to, name[layer], weights[layer], WEIGHT_BYTES, FSCHED_IO_CONSTANT);
    uint32_t out = layer == LAYERS - 1 ? last : alloc_row(to);
    for (uint32_t tile = 0; tile < TILES; tile++) {
      submit_tile(to, callable, tile, weight, in, out);
    }
    in = out;
  }
}

static const fsched_kernel_desc kernel = {
    .size = sizeof kernel, .module = "model", .function = "dense"};
static const fsched_submit_callable_desc layer_tile = {
    .size = sizeof layer_tile, .name = "dense", .time = 10, .kernel = &kernel};

static fsched_graph *capture(const void *input, const void *output) {
  taker to = {NULL, NULL};
  fsched_graph *graph;
  uint32_t callable;
  need(fsched_submit_create(describe_target(), &to.s));
  need(fsched_submit_callable(to.s, &layer_tile, &callable));
  submit_model(to, callable, input, output);
  need(fsched_submit_finish(to.s, &graph));
  fsched_submit_destroy(to.s);
  return graph;
}

/* The same submits, executed at once on a thread for each queue. */
static void run_dynamically(const void *input, const void *output) {
  taker to = {NULL, NULL};
  uint32_t callable;
  fsched_dynamic_options o = {.size = sizeof o, .find = find};
  need(fsched_dynamic_create(describe_target(), &o, &to.d));
  need(fsched_dynamic_callable(to.d, &layer_tile, &callable));
  need(fsched_dynamic_open(to.d));
  submit_model(to, callable, input, output);
  need(fsched_dynamic_close(to.d));
  need(fsched_dynamic_drain(to.d));
  fsched_dynamic_destroy(to.d);
}

static fsched_program *compile(const fsched_graph *graph) {
  fsched_program *program;
  fsched_schedule *schedule;
  need(fsched_compile(ctx, graph, NULL, &schedule, &program));
  printf("%" PRIu32 " tasks, %" PRIu32 " edges, makespan %" PRIu64 ", lower bound %" PRIu64 "\n",
         fsched_graph_ops(graph), fsched_graph_edges(graph), fsched_schedule_makespan(schedule),
         fsched_schedule_lower_bound(schedule));
  fsched_schedule_destroy(schedule);
  need(fsched_verify_program(ctx, program, graph));
  printf("verified\n");
  return program;
}

static void replay(const fsched_program *program, int32_t *input, int32_t *output) {
  fsched_device *device;
  fsched_device_options on = {.size = sizeof on, .find = find};
  fsched_binding binding[] = {{.buffer = "input", .data = input, .bytes = ROW_BYTES},
                              {.buffer = "output", .data = output, .bytes = ROW_BYTES},
                              {.buffer = "weights0", .data = weights[0], .bytes = WEIGHT_BYTES},
                              {.buffer = "weights1", .data = weights[1], .bytes = WEIGHT_BYTES},
                              {.buffer = "weights2", .data = weights[2], .bytes = WEIGHT_BYTES}};
  need(fsched_device_create(ctx, &on, &device));
  fsched_replay_options o = {
      .size = sizeof o, .check = 1, .device = device, .bindings = binding, .n_bindings = 5};
  fsched_replay_result result = {.size = sizeof result};
  need(fsched_replay(ctx, program, &o, &result));
  printf("replayed: %" PRIu64 " commands, %" PRIu64 " tasks checked\n", result.commands,
         result.checked_ops);
  fsched_device_release(device);
}

/* The same model in plain loops. */
static void evaluate(const int32_t *input, int32_t *row) {
  int32_t next[WIDTH];
  memcpy(row, input, ROW_BYTES);
  for (int layer = 0; layer < LAYERS; layer++) {
    for (int o = 0; o < WIDTH; o++) {
      int32_t sum = 0;
      for (int i = 0; i < WIDTH; i++) {
        sum += weights[layer][o][i] * row[i];
      }
      next[o] = sum > 0 ? sum / 64 : 0;
    }
    memcpy(row, next, ROW_BYTES);
  }
}

int main(void) {
  static int32_t input[WIDTH], output[WIDTH], at_once[WIDTH], wanted[WIDTH];
  need(fsched_context_create(NULL, &ctx));
  for (int i = 0; i < LAYERS * WIDTH * WIDTH; i++) {
    weights[i / WIDTH / WIDTH][i / WIDTH % WIDTH][i % WIDTH] = i * 7919 % 31 - 13;
  }
  for (int i = 0; i < WIDTH; i++) {
    input[i] = i * 37 % 101;
  }
  fsched_graph *graph = capture(input, output);
  fsched_program *program = compile(graph);
  replay(program, input, output);
  evaluate(input, wanted);
  int same = memcmp(output, wanted, sizeof wanted) == 0;
  printf("output[63] is %" PRId32 "; %s plain loops\n", output[WIDTH - 1],
         same ? "all are those of" : "they differ from");
  run_dynamically(input, at_once);
  int agrees = memcmp(at_once, output, sizeof output) == 0;
  printf("run dynamically: the bytes %s those of the replay\n", agrees ? "are" : "differ from");
  fsched_program_destroy(program);
  fsched_graph_destroy(graph);
  fsched_context_destroy(ctx);
  return same && agrees ? 0 : 1;
}
