/* SPDX-License-Identifier: Apache-2.0 */
/* What a command of a loop that stays a loop costs on the CPU, without kernels, beside the same
 * commands as straight code: on one queue; and on two, of which the second waits for the first in
 * each iteration, and the first for the iteration before the last one of the second.
 *
 * The loop runs TRIP times on one queue, and SHORT times on two, as a long run of two threads that
 * wait for each other is never undisturbed on a machine with other work; the straight code has
 * TURNS iterations.  Each line is measured RUNS times, by turns; a run is the quickest of REPEAT
 * invocations.
 *
 *   bench_rolled [one]
 *
 * With the word it measures one queue alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsched/replay.h"
#include "model/stream/stream.h"
#include "model/sync.h"

enum { RUNS = 9, REPEAT = 5, TRIP = 1000000, SHORT = 2000, TURNS = 2000, EACH = 4, BACK = 2 };

/* A stream by hand, with EACH commands on each queue in each iteration. */
typedef struct rolled_bench {
  struct fsched_program program;
  fs_stream_meta meta;
  fs_stream_queue queue[2];
  fs_stream_axis axis[3];
  uint32_t member[2];
  fs_stream_op op;
  fs_stream_command *command;
  fs_stream_wait *wait;
  fs_stream_loop loop;
  fs_stream_loop_queue loop_queue[2];
  fs_stream_loop_op loop_op[2 * EACH];
  fs_stream_loop_command loop_command[2 * EACH];
  fs_stream_loop_wait loop_wait[2];
} rolled_bench;

static void fail(const char *what) {
  fprintf(stderr, "bench_rolled: %s\n", what);
  exit(EXIT_FAILURE);
}

static void *take(size_t n, size_t size) {
  void *p = calloc(n, size);
  if (p == NULL) {
    fail("out of memory");
  }
  return p;
}

static uint32_t trip(uint32_t n_queues) { return n_queues == 1 ? TRIP : SHORT; }

static rolled_bench *make_bench(fsched_context *ctx, uint32_t n_queues) {
  static const char strings[] = "n\0p\0q\0all";
  rolled_bench *b = take(1, sizeof *b);
  fs_stream *v = &b->program.view;
  b->program.ctx = ctx;
  b->meta.time_unit = FS_NONE;
  b->op.kernel = FS_NONE;
  v->meta = &b->meta, v->n_meta = 1, v->ops = &b->op, v->n_ops = 1;
  v->queues = b->queue, v->n_queues = n_queues, v->axes = b->axis, v->n_axes = n_queues;
  v->strings = strings, v->n_strings = sizeof strings;
  for (uint32_t q = 0; q < n_queues; q++) {
    b->queue[q].name = b->axis[q].name = 2 + 2 * q;
    b->axis[q].kind = FS_AXIS_QUEUE;
  }
  return b;
}

static fs_stream_command *add_command(rolled_bench *b, uint32_t queue) {
  fs_stream *v = &b->program.view;
  fs_stream_command *c = &b->command[v->n_commands++];
  *c = (fs_stream_command){.epoch = ++b->queue[queue].n_commands,
                           .gang_axis = FS_NONE,
                           .kind = FS_COMMAND_RUN,
                           .wait0 = v->n_waits};
  return c;
}

/* Straight code: the first command of an iteration waits, the last one signals. */
static rolled_bench *make_straight(fsched_context *ctx, uint32_t n_queues) {
  rolled_bench *b = make_bench(ctx, n_queues);
  fs_stream *v = &b->program.view;
  b->command = take((size_t)n_queues * EACH * TURNS, sizeof *b->command);
  b->wait = take((size_t)n_queues * TURNS, sizeof *b->wait);
  v->commands = b->command, v->waits = b->wait;
  for (uint32_t q = 0; q < n_queues; q++) {
    b->queue[q].command0 = v->n_commands;
    for (uint32_t k = 0; k < EACH * TURNS; k++) {
      fs_stream_command *c = add_command(b, q);
      uint32_t i = k / EACH, back = q == 0 ? BACK : 0;
      c->signal = n_queues > 1 && k % EACH == EACH - 1;
      if (n_queues > 1 && k % EACH == 0 && i >= back) {
        b->wait[v->n_waits++] = (fs_stream_wait){1 - q, (i - back + 1) * EACH};
        c->n_waits = 1;
      }
    }
  }
  return b;
}

static rolled_bench *make_rolled(fsched_context *ctx, uint32_t n_queues) {
  rolled_bench *b = make_bench(ctx, n_queues);
  fs_stream *v = &b->program.view;
  b->command = take(n_queues, sizeof *b->command);
  v->commands = b->command;
  v->loops = &b->loop, v->n_loops = 1, v->loop_queues = b->loop_queue, v->n_loop_queues = n_queues;
  v->loop_ops = b->loop_op, v->n_loop_ops = v->n_loop_commands = n_queues * EACH;
  v->loop_commands = b->loop_command, v->loop_waits = b->loop_wait;
  v->n_loop_waits = n_queues > 1 ? 2 : 0;
  b->loop = (fs_stream_loop){.trip = trip(n_queues),
                             .least = trip(n_queues),
                             .most = trip(n_queues),
                             .param = FS_NONE,
                             .within = FS_NONE,
                             .copies = 1,
                             .n_queues = n_queues,
                             .n_ops = n_queues * EACH};
  for (uint32_t q = 0; q < n_queues; q++) {
    b->loop_queue[q] = (fs_stream_loop_queue){q, q * EACH, EACH, 0};
    b->queue[q].command0 = q;
    fs_stream_command *c = add_command(b, q);
    c->gang_axis = n_queues > 1 ? 2 : FS_NONE;
    c->gang_epoch = n_queues > 1;
    b->member[q] = q;
    for (uint32_t k = q * EACH; k < (q + 1) * EACH; k++) {
      bool waits = n_queues > 1 && k % EACH == 0;
      b->loop_op[k].kernel = b->loop_op[k].loop = FS_NONE;
      b->loop_command[k] = (fs_stream_loop_command){
          .op = k, .wait0 = q, .n_waits = waits, .signal = n_queues > 1 && k % EACH == EACH - 1};
    }
    b->loop_wait[q] = (fs_stream_loop_wait){(2 - q) * EACH - 1, q == 0 ? BACK : 0};
  }
  if (n_queues > 1) {
    b->axis[2] = (fs_stream_axis){.name = 6, .kind = FS_AXIS_COLLECTIVE, .n_members = 2};
    v->axis_members = b->member, v->n_axis_members = 2, v->n_axes = 3;
  }
  return b;
}

static void free_bench(rolled_bench *b) {
  free(b->command);
  free(b->wait);
  free(b);
}

/* Returns the ns per command of a queue. */
static double measure(fsched_context *ctx, const rolled_bench *b, double n) {
  fsched_replay_options o = {
      .size = sizeof o, .repeat = REPEAT, .empty_kernels = 1, .timeout_ms = 600000};
  fsched_replay_result r = {.size = sizeof r};
  if (fsched_replay_cpu(ctx, &b->program, &o, &r) != FSCHED_OK) {
    fail(fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "a replay failed");
  }
  return (double)r.minimum_ns / n;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void show(const char *name, double *ns) {
  qsort(ns, RUNS, sizeof *ns, ascending);
  printf("%-44s %10.2f %10.2f\n", name, ns[0], ns[RUNS / 2]);
}

static void compare(fsched_context *ctx, uint32_t n_queues) {
  rolled_bench *straight = make_straight(ctx, n_queues), *rolled = make_rolled(ctx, n_queues);
  double plain[RUNS], loop[RUNS];
  for (int i = 0; i < RUNS; i++) {
    plain[i] = measure(ctx, straight, (double)EACH * TURNS);
    loop[i] = measure(ctx, rolled, (double)EACH * trip(n_queues));
  }
  show(n_queues == 1 ? "one queue: straight code" : "two queues with waits: straight code", plain);
  show(n_queues == 1 ? "one queue: loop" : "two queues with waits: loop", loop);
  printf("%-44s %10.2f %10.2f\n", "  loop / straight code", loop[0] / plain[0],
         loop[RUNS / 2] / plain[RUNS / 2]);
  free_bench(straight);
  free_bench(rolled);
}

int main(int argc, char **argv) {
  fsched_context *ctx;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    fail("no context");
  }
  printf(
      "ns per command of a queue, without kernels: %d iterations in the loop (%d on two queues), "
      "%d in the straight code, %d commands each\n",
      TRIP, SHORT, TURNS, EACH);
  printf("%-44s %10s %10s\n", "", "minimum", "median");
  compare(ctx, 1);
  (void)fflush(stdout);
  if (argc < 2 || strcmp(argv[1], "one") != 0) {
    compare(ctx, 2);
  }
  fsched_context_destroy(ctx);
  return EXIT_SUCCESS;
}
