/* SPDX-License-Identifier: Apache-2.0 */
/* A program that was compiled from graph.yaml when this one was built: its bytes are checked,
 * verified and replayed in place in this executable. */
#include <inttypes.h>
#include <stdio.h>

#include "frame.h" /* made by fsched: frame_program, frame_program_size */
#include "fsched/replay.h"
#include "fsched/verify.h"

static fsched_status run(fsched_context *ctx, fsched_program **program) {
  fsched_replay_options options = {.size = sizeof options, .check = 1};
  fsched_replay_result result = {.size = sizeof result};
  fsched_status status =
      fsched_program_borrow(ctx, "frame", &frame_program, frame_program_size, program);
  if (status == FSCHED_OK) {
    status = fsched_verify_program(ctx, *program, NULL);
  }
  if (status == FSCHED_OK) {
    status = fsched_replay_cpu(ctx, *program, &options, &result);
  }
  if (status == FSCHED_OK) {
    printf("%zu bytes: verified; %" PRIu64 " commands replayed, %" PRIu64 " ops checked\n",
           frame_program_size, result.commands, result.checked_ops);
  }
  return status;
}

int main(void) {
  fsched_context *ctx;
  fsched_program *program = NULL;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    return FSCHED_SYSTEM;
  }
  fsched_status status = run(ctx, &program);
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    fprintf(stderr, "%s\n", fsched_diag_get(ctx, i)->message);
  }
  fsched_program_destroy(program);
  fsched_context_destroy(ctx);
  return (int)status;
}
