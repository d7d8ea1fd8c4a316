/* SPDX-License-Identifier: Apache-2.0 */
/* fsched inside a program: a graph built by calls, compiled, verified and replayed, all in this
 * process, with no file read or written.
 *
 * The graph is a small pipeline: a dma queue loads tiles of an image into a scratchpad, two cores
 * filter them, and a gang on both cores blends the results.  The scratchpad is too small for
 * everything, so some of it is spilled to ddr and read back.
 *
 *   cc embed.c $(pkg-config --cflags --libs fsched) */
#include <inttypes.h>
#include <stdio.h>

#include "fsched/replay.h"
#include "fsched/verify.h"

enum { TILES = 6, TILE_BYTES = 16 * 1024, SUM_BYTES = 4 * 1024, SCRATCHPAD_BYTES = 64 * 1024 };

/* A builder, and the first status that was not FSCHED_OK: the calls after it do nothing, so a graph
 * can be written down without a test after every line. */
typedef struct maker {
  fsched_builder *b;
  fsched_status status;
} maker;

static void check(maker *m, fsched_status status) {
  if (m->status == FSCHED_OK) {
    m->status = status;
  }
}

static void add_queue(maker *m, const char *name, const char *queue_class) {
  fsched_queue_desc d = {.size = sizeof d, .name = name, .queue_class = queue_class};
  uint32_t id;
  check(m, fsched_builder_queue(m->b, &d, &id));
}

/* The scratchpad, and ddr behind it, which the dma queue reads and writes at 1 KiB a tick. */
static void add_memories(maker *m) {
  fsched_memory_desc scratchpad = {.size = sizeof scratchpad,
                                   .name = "scratchpad",
                                   .capacity = SCRATCHPAD_BYTES,
                                   .align = 64,
                                   .backing = "ddr",
                                   .spill_on = "dma",
                                   .write_fixed = 1,
                                   .write_rate = 1024,
                                   .read_fixed = 1,
                                   .read_rate = 1024};
  fsched_memory_desc ddr = {.size = sizeof ddr, .name = "ddr"}; /* no capacity: unbounded */
  uint32_t id;
  check(m, fsched_builder_memory(m->b, &scratchpad, &id));
  check(m, fsched_builder_memory(m->b, &ddr, &id));
}

/* Declares a buffer in the first bounded memory, which is the scratchpad. */
static uint32_t add_buffer(maker *m, const char *name, uint64_t bytes, fsched_io io) {
  fsched_buffer_desc d = {.size = sizeof d, .name = name, .bytes = bytes, .io = io};
  uint32_t id = 0;
  check(m, fsched_builder_buffer(m->b, &d, &id));
  return id;
}

static uint32_t add_op(maker *m, const char *name, const char *on, uint64_t time) {
  fsched_op_desc d = {.size = sizeof d, .name = name, .on = on, .time = time};
  uint32_t id = 0;
  check(m, fsched_builder_op(m->b, &d, &id));
  return id;
}

static void add_arg(maker *m, uint32_t op, fsched_tag tag, uint32_t buffer) {
  fsched_arg_desc d = {.size = sizeof d, .tag = tag, .buffer = buffer};
  check(m, fsched_builder_arg(m->b, op, &d));
}

/* Adds the ops: load -> filter for each tile, then blend on all of them, in a gang. */
static void add_ops(maker *m) {
  static const char *const both[] = {"core0", "core1"};
  char name[24];
  uint32_t filtered[TILES];
  for (int i = 0; i < TILES; i++) {
    (void)snprintf(name, sizeof name, "tile%d", i);
    uint32_t tile = add_buffer(m, name, TILE_BYTES, FSCHED_IO_INPUT);
    (void)snprintf(name, sizeof name, "filtered%d", i);
    filtered[i] = add_buffer(m, name, TILE_BYTES / 2, FSCHED_IO_NONE);
    (void)snprintf(name, sizeof name, "filter%d", i);
    uint32_t filter = add_op(m, name, "compute", 25);
    add_arg(m, filter, FSCHED_IN, tile);
    add_arg(m, filter, FSCHED_OUT, filtered[i]);
  }
  uint32_t sum = add_buffer(m, "sum", SUM_BYTES, FSCHED_IO_OUTPUT);
  fsched_op_desc d = {.size = sizeof d, .name = "blend", .gang = both, .n_gang = 2, .time = 10};
  uint32_t blend = 0;
  check(m, fsched_builder_op(m->b, &d, &blend));
  for (int i = 0; i < TILES; i++) {
    add_arg(m, blend, FSCHED_IN, filtered[i]);
  }
  add_arg(m, blend, FSCHED_OUT, sum);
}

static fsched_status build(fsched_context *ctx, fsched_graph **graph) {
  maker m = {.status = FSCHED_OK};
  check(&m, fsched_builder_create(ctx, "blend", &m.b));
  if (m.status != FSCHED_OK) {
    return m.status;
  }
  check(&m, fsched_builder_time_unit(m.b, "us"));
  add_queue(&m, "core0", "compute");
  add_queue(&m, "core1", "compute");
  add_queue(&m, "dma", "copy");
  add_memories(&m);
  add_ops(&m);
  if (m.status == FSCHED_OK) {
    m.status = fsched_builder_finish(m.b, graph);
  }
  fsched_builder_destroy(m.b);
  return m.status;
}

static fsched_status compile(fsched_context *ctx, const fsched_graph *graph,
                             fsched_program **program) {
  fsched_schedule *schedule = NULL;
  fsched_status status = fsched_compile(ctx, graph, NULL, &schedule, program);
  if (status == FSCHED_OK) {
    printf("%s: %" PRIu32 " ops, makespan %" PRIu64 ", lower bound %" PRIu64 "\n",
           fsched_graph_name(graph), fsched_graph_ops(graph), fsched_schedule_makespan(schedule),
           fsched_schedule_lower_bound(schedule));
  }
  fsched_schedule_destroy(schedule);
  return status;
}

static fsched_status replay(fsched_context *ctx, const fsched_program *program) {
  fsched_replay_options options = {.size = sizeof options, .repeat = 3, .check = 1};
  fsched_replay_result result = {.size = sizeof result};
  fsched_status status = fsched_replay_cpu(ctx, program, &options, &result);
  if (status == FSCHED_OK) {
    printf("replayed: %" PRIu64 " commands, %" PRIu64 " ops and %" PRIu64 " output bytes checked\n",
           result.commands, result.checked_ops, result.checked_bytes);
  }
  return status;
}

static fsched_status run(fsched_context *ctx) {
  fsched_graph *graph = NULL;
  fsched_program *program = NULL;
  fsched_status status = build(ctx, &graph);
  if (status == FSCHED_OK) {
    status = compile(ctx, graph, &program);
  }
  if (status == FSCHED_OK) {
    status = fsched_verify_program(ctx, program, graph);
  }
  if (status == FSCHED_OK) {
    printf("verified\n");
    status = replay(ctx, program);
  }
  fsched_program_destroy(program);
  fsched_graph_destroy(graph);
  return status;
}

int main(void) {
  fsched_context *ctx;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    fprintf(stderr, "no memory\n");
    return FSCHED_SYSTEM;
  }
  fsched_status status = run(ctx);
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    const fsched_diag *d = fsched_diag_get(ctx, i);
    fprintf(stderr, "%s [%s]\n", d->message, d->code);
  }
  fsched_context_destroy(ctx);
  return (int)status;
}
