/* SPDX-License-Identifier: Apache-2.0 */
/* The library in one page: two ops built by calls, compiled, verified and replayed.
 *   cc library.c $(pkg-config --cflags --libs fsched) */
#include <stdio.h>

#include "fsched/replay.h"
#include "fsched/verify.h"

static fsched_status build(fsched_context *ctx, fsched_graph **graph) {
  fsched_builder *b;
  if (fsched_builder_create(ctx, "pair", &b) != FSCHED_OK) {
    return FSCHED_SYSTEM;
  }
  uint32_t queue, memory, buffer, load, add;
  fsched_status status = fsched_builder_queue(
      b, &(fsched_queue_desc){.size = sizeof(fsched_queue_desc), .name = "core"}, &queue);
  if (status == FSCHED_OK) {
    status = fsched_builder_memory(
        b,
        &(fsched_memory_desc){
            .size = sizeof(fsched_memory_desc), .name = "sram", .capacity = 4096, .align = 64},
        &memory);
  }
  if (status == FSCHED_OK) {
    status = fsched_builder_buffer(
        b,
        &(fsched_buffer_desc){
            .size = sizeof(fsched_buffer_desc), .name = "x", .bytes = 1000, .memory = memory},
        &buffer);
  }
  if (status == FSCHED_OK) {
    status = fsched_builder_op(
        b, &(fsched_op_desc){.size = sizeof(fsched_op_desc), .name = "load", .time = 5}, &load);
  }
  if (status == FSCHED_OK) {
    status = fsched_builder_arg(
        b, load,
        &(fsched_arg_desc){.size = sizeof(fsched_arg_desc), .tag = FSCHED_OUT, .buffer = buffer});
  }
  if (status == FSCHED_OK) {
    status = fsched_builder_op(
        b, &(fsched_op_desc){.size = sizeof(fsched_op_desc), .name = "add", .time = 2}, &add);
  }
  if (status == FSCHED_OK) {
    status = fsched_builder_arg(
        b, add,
        &(fsched_arg_desc){.size = sizeof(fsched_arg_desc), .tag = FSCHED_INOUT, .buffer = buffer});
  }
  if (status == FSCHED_OK) {
    status = fsched_builder_finish(b, graph);
  }
  fsched_builder_destroy(b);
  return status;
}

int main(void) {
  fsched_context *ctx;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    return FSCHED_SYSTEM;
  }
  fsched_graph *graph = NULL;
  fsched_schedule *schedule = NULL;
  fsched_program *program = NULL;
  fsched_replay_result result = {.size = sizeof result};
  fsched_status status = build(ctx, &graph);
  if (status == FSCHED_OK) {
    status = fsched_compile(ctx, graph, NULL, &schedule, &program);
  }
  if (status == FSCHED_OK) {
    printf("makespan %llu\n", (unsigned long long)fsched_schedule_makespan(schedule));
    status = fsched_verify_program(ctx, program, graph);
  }
  if (status == FSCHED_OK) {
    fsched_replay_options check = {.size = sizeof check, .check = 1};
    status = fsched_replay_cpu(ctx, program, &check, &result);
  }
  if (status == FSCHED_OK) {
    printf("%llu commands replayed and checked\n", (unsigned long long)result.commands);
  }
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    fprintf(stderr, "%s\n", fsched_diag_get(ctx, i)->message);
  }
  fsched_program_destroy(program);
  fsched_schedule_destroy(schedule);
  fsched_graph_destroy(graph);
  fsched_context_destroy(ctx);
  return (int)status;
}
