/* SPDX-License-Identifier: Apache-2.0 */
/* fsched inside a server: requests come faster than they are served, run two at a time, share a
 * pool of memory, and are answered in the order in which they end; a running total is state that
 * all of them update in the order of the requests.
 *
 *   score    takes a request's samples and makes its score; no state, so requests overlap
 *   account  adds a score to the total; one after the other, in the order of the requests
 *
 * Only the last line of the program blocks: account waits for score by a fence.
 *
 *   cc serve.c $(pkg-config --cflags --libs fsched) */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsched/compile.h"
#include "fsched/exec.h"

enum { REQUESTS = 8, SAMPLES = 1000 };

static const char target[] =
    "  queues: [{name: core0}, {name: core1}, {name: dma, class: copy}]\n"
    "  memories: [{name: fast, capacity: 16KiB, backing: ddr, spill: {on: copy}}, {name: ddr}]\n";

static const char score_graph[] =
    "buffers:\n"
    "  - {name: samples, size: 4000, io: input}\n"
    "  - {name: score, size: 8, io: output}\n"
    "ops:\n"
    "  - {name: low, kernel: {module: serve, function: sum}, args: [{in: samples, at: [0, 2000]}, "
    "{out: a, size: "
    "8}]}\n"
    "  - {name: high, kernel: {module: serve, function: sum}, args: [{in: samples, at: [2000, "
    "2000]}, {out: b, "
    "size: 8}]}\n"
    "  - {name: both, kernel: {module: serve, function: add}, args: [{in: a}, {in: b}, {out: "
    "score}]}\n";

static const char account_graph[] =
    "buffers:\n"
    "  - {name: score, size: 8, io: input}\n"
    "  - {name: total, size: 8, io: state}\n"
    "  - {name: after, size: 8, io: output}\n"
    "ops:\n"
    "  - {name: add, kernel: {module: serve, function: add}, args: [{in: score}, {inout: total}, "
    "{out: after}]}\n";

/* Kernels: plain functions of this program. */

static int sum(const fsched_kernel_call *call) {
  const int32_t *in = call->args[0].data;
  int64_t s = 0;
  for (uint64_t i = 0; i < call->args[0].length / sizeof *in; i++) {
    s += in[i];
  }
  memcpy(call->args[1].data, &s, sizeof s);
  return 0;
}

/* Stores the sum of the args that are read in the args that are written. */
static int add(const fsched_kernel_call *call) {
  int64_t a, b, s;
  memcpy(&a, call->args[0].data, sizeof a);
  memcpy(&b, call->args[1].data, sizeof b);
  if (__builtin_add_overflow(a, b, &s)) {
    return 1; /* the invocation fails with this cause, and so do those that wait for it */
  }
  if (call->args[1].tag == FSCHED_INOUT) {
    memcpy(call->args[1].data, &s, sizeof s);
  }
  memcpy(call->args[2].data, &s, sizeof s);
  return 0;
}

/* fsched calls this before it looks for a file called serve. */
static fsched_kernel_fn find(void *user, const char *module, const char *function) {
  (void)user;
  (void)module;
  return strcmp(function, "sum") == 0 ? sum : strcmp(function, "add") == 0 ? add : NULL;
}

/* Everything that lasts as long as the server. */

static fsched_context *ctx;

static void need(fsched_status status) {
  if (status != FSCHED_OK) {
    fprintf(stderr, "serve: %s\n",
            fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "no memory");
    exit(status);
  }
}

static fsched_program *compile(const char *name, const char *body) {
  char text[2048];
  fsched_graph *graph;
  fsched_program *program;
  (void)snprintf(text, sizeof text, "fsched: 1\nname: %s\ntarget:\n%s%s", name, target, body);
  need(fsched_graph_parse(ctx, name, text, strlen(text), NULL, &graph));
  need(fsched_compile(
      ctx, graph, &(fsched_compile_options){.size = sizeof(fsched_compile_options), .verify = 1},
      NULL, &program));
  fsched_graph_destroy(graph);
  return program;
}

/* A request: its samples, and where the answers go. */
typedef struct request {
  int64_t score, after;
  fsched_semaphore *timeline; /* 1: scored; 2: in the account */
  fsched_fence *scored, *accounted;
} request;

static void free_samples(void *user, void *samples) {
  (void)user;
  free(samples);
}

static void ask(fsched_entry *score, fsched_entry *account, request *r, int number) {
  int32_t *samples = malloc(SAMPLES * sizeof *samples);
  for (int i = 0; samples != NULL && i < SAMPLES; i++) {
    samples[i] = number * i;
  }
  need(samples == NULL ? FSCHED_SYSTEM : FSCHED_OK);
  need(fsched_semaphore_create(NULL, &r->timeline));
  need(fsched_fence_create(ctx, &(fsched_fence_point){r->timeline, 1}, 1, &r->scored));
  need(fsched_fence_create(ctx, &(fsched_fence_point){r->timeline, 2}, 1, &r->accounted));

  fsched_binding in_out[] = {
      {.buffer = "samples", .data = samples, .bytes = 4000, .release = free_samples},
      {.buffer = "score", .data = &r->score, .bytes = sizeof r->score}};
  fsched_invocation first = {
      .size = sizeof first, .signal = r->scored, .bindings = in_out, .n_bindings = 2};
  need(fsched_invoke(ctx, score, &first));

  fsched_binding next_in_out[] = {
      {.buffer = "score", .data = &r->score, .bytes = sizeof r->score, .wait = r->scored},
      {.buffer = "after", .data = &r->after, .bytes = sizeof r->after}};
  fsched_invocation second = {
      .size = sizeof second, .signal = r->accounted, .bindings = next_in_out, .n_bindings = 2};
  need(fsched_invoke(ctx, account, &second));
}

static void print(fsched_exec *exec, request *r, int number) {
  need(fsched_exec_wait(ctx, exec, r->accounted, FSCHED_FOREVER, UINT64_C(10000000000), NULL));
  printf("request %d: score %" PRId64 ", total %" PRId64 "\n", number, r->score, r->after);
  fsched_fence_release(r->scored);
  fsched_fence_release(r->accounted);
  fsched_semaphore_release(r->timeline);
}

int main(void) {
  static request requests[REQUESTS];
  const int64_t zero = 0;
  need(fsched_context_create(NULL, &ctx));
  fsched_program *score_program = compile("score", score_graph);
  fsched_program *account_program = compile("account", account_graph);

  fsched_device *device;
  fsched_pool *pool;
  fsched_exec *exec;
  fsched_entry *score, *account;
  fsched_device_options on = {.size = sizeof on, .find = find};
  need(fsched_device_create(ctx, &on, &device));
  need(fsched_pool_create(ctx, device, 64 * 1024, &pool));
  fsched_exec_options o = {.size = sizeof o, .device = device, .pool = pool, .in_flight = 2};
  need(fsched_exec_create(ctx, &o, &exec));
  need(fsched_exec_load(ctx, exec, score_program, &score));
  need(fsched_exec_load(ctx, exec, account_program, &account));
  need(fsched_exec_write_state(ctx, exec, "total", &zero, sizeof zero));

  for (int i = 0; i < REQUESTS; i++) {
    ask(score, account, &requests[i], i);
  }
  for (int i = 0; i < REQUESTS; i++) {
    print(exec, &requests[i], i);
  }

  fsched_exec_destroy(exec);
  fsched_pool_destroy(pool);
  fsched_device_release(device);
  fsched_program_destroy(score_program);
  fsched_program_destroy(account_program);
  fsched_context_destroy(ctx);
  return 0;
}
