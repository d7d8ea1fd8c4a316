/* SPDX-License-Identifier: Apache-2.0 */
/* What replay adds on a CUDA device: a DAG of 1,000 empty kernels, replayed by one graph launch and
 * by streams, beside a CUDA graph built by hand of the same nodes and edges, and the same kernels
 * on streams with an event for each edge.  Where there is no device the benchmark says so and
 * succeeds.
 *
 * Each line is measured RUNS times, the contenders in turn; minimum and median are shown. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/context.h"
#include "exec/cuda/device.h"
#include "exec/cuda/plan.h"
#include "fsched/compile.h"
#include "fsched/replay.h"

enum { OPS = 1000, WIDTH = 40, QUEUES = 8, RUNS = 51 };

typedef struct bench_cuda_series {
  double us[RUNS];
} bench_cuda_series;

static void fail(const char *what) {
  fprintf(stderr, "bench_cuda: %s\n", what);
  exit(EXIT_FAILURE);
}

static void need(fsched_context *ctx, fsched_status status) {
  if (status != FSCHED_OK) {
    fail(fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "a call failed");
  }
}

#define CU(d, call)                            \
  do {                                         \
    if ((d)->cuda.api.call != FS_CU_SUCCESS) { \
      fail(#call);                             \
    }                                          \
  } while (0)

/* Makes layers of WIDTH ops with two inputs each from the layer before. */
static fsched_program *compile(fsched_context *ctx) {
  size_t room = (size_t)OPS * 160 + 1024, n = 0;
  char *text = malloc(room);
  if (text == NULL) {
    fail("out of memory");
  }
  n += (size_t)snprintf(text + n, room - n, "fsched: 1\ntarget: {queues: [");
  for (unsigned q = 0; q < QUEUES; q++) {
    n += (size_t)snprintf(text + n, room - n, "{name: q%u}%s", q, q + 1 < QUEUES ? ", " : "]}\n");
  }
  n += (size_t)snprintf(text + n, room - n, "ops:\n");
  for (unsigned i = 0; i < OPS; i++) {
    n += (size_t)snprintf(text + n, room - n, "  - {name: o%u, kernel: {builtin: nop}", i);
    if (i >= WIDTH) {
      unsigned layer = i - i % WIDTH - WIDTH;
      n += (size_t)snprintf(text + n, room - n, ", after: [o%u, o%u]", layer + i % WIDTH,
                            layer + (i + 1 + 7 * (i / WIDTH) % (WIDTH - 1)) % WIDTH);
    }
    n += (size_t)snprintf(text + n, room - n, "}\n");
  }
  fsched_graph *graph;
  fsched_program *program;
  need(ctx, fsched_graph_parse(ctx, "bench.yaml", text, n, NULL, &graph));
  need(ctx, fsched_compile(ctx, graph, NULL, NULL, &program));
  fsched_graph_destroy(graph);
  free(text);
  return program;
}

/* Returns the us of the quickest of a few invocations. */
static double replay(fsched_context *ctx, fsched_device *device, const fsched_program *program) {
  fsched_replay_options o = {.size = sizeof o, .repeat = 10, .device = device};
  fsched_replay_result r = {.size = sizeof r};
  need(ctx, fsched_replay(ctx, program, &o, &r));
  return (double)r.minimum_ns / 1e3;
}

/* ---- by hand */

typedef struct bench_cuda_hand {
  const fs_cuda_device *d;
  const fs_cuda_plan *plan;
  fs_cu_stream stream[QUEUES];
  fs_cu_event *edge; /* per edge */
  uint32_t n_edges;
  fs_cu_event end[QUEUES], done;
  fs_cu_graph graph;
  fs_cu_executable executable;
} bench_cuda_hand;

static fs_cu_function nop(const bench_cuda_hand *h) { return h->d->function[FS_BUILTIN_NOP]; }

static void make_graph(bench_cuda_hand *h) {
  const fs_cuda_plan *p = h->plan;
  fs_cu_node *node = malloc(p->n_items * sizeof(fs_cu_node)), before[OPS];
  CU(h->d, cuGraphCreate(&h->graph, 0));
  for (uint32_t i = 0; i < p->n_items; i++) {
    const fs_cuda_item *t = &p->item[i];
    for (uint32_t j = 0; j < t->n_after; j++) {
      before[j] = node[p->after[t->after0 + j]];
    }
    fs_cu_kernel_node k = {.function = nop(h), .grid = {1, 1, 1}, .block = {1, 1, 1}};
    CU(h->d, cuGraphAddKernelNode(&node[i], h->graph, before, t->n_after, &k));
  }
  CU(h->d, cuGraphInstantiateWithFlags(&h->executable, h->graph, 0));
  CU(h->d, cuGraphUpload(h->executable, h->stream[0]));
  CU(h->d, cuStreamSynchronize(h->stream[0]));
  free(node);
}

static void make_streams(bench_cuda_hand *h) {
  for (uint32_t i = 0; i < h->plan->n_items; i++) {
    h->n_edges += h->plan->item[i].n_after;
  }
  h->edge = malloc((h->n_edges + 1) * sizeof(fs_cu_event));
  for (uint32_t i = 0; i < h->n_edges; i++) {
    CU(h->d, cuEventCreate(&h->edge[i], FS_CU_EVENT_NO_TIMING));
  }
  for (uint32_t l = 0; l < QUEUES; l++) {
    CU(h->d, cuStreamCreate(&h->stream[l], FS_CU_STREAM_NON_BLOCKING));
    CU(h->d, cuEventCreate(&h->end[l], FS_CU_EVENT_NO_TIMING));
  }
  CU(h->d, cuEventCreate(&h->done, FS_CU_EVENT_NO_TIMING));
}

static void drop(bench_cuda_hand *h) {
  CU(h->d, cuGraphExecDestroy(h->executable));
  CU(h->d, cuGraphDestroy(h->graph));
  for (uint32_t i = 0; i < h->n_edges; i++) {
    CU(h->d, cuEventDestroy(h->edge[i]));
  }
  for (uint32_t l = 0; l < QUEUES; l++) {
    CU(h->d, cuStreamDestroy(h->stream[l]));
    CU(h->d, cuEventDestroy(h->end[l]));
  }
  CU(h->d, cuEventDestroy(h->done));
  free(h->edge);
}

static double finish(const bench_cuda_hand *h, uint64_t begin) {
  CU(h->d, cuEventRecord(h->done, h->stream[0]));
  CU(h->d, cuEventSynchronize(h->done));
  return (double)(fs_now_ns() - begin) / 1e3;
}

static double launch_graph(const bench_cuda_hand *h) {
  uint64_t begin = fs_now_ns();
  CU(h->d, cuGraphLaunch(h->executable, h->stream[0]));
  return finish(h, begin);
}

/* Launches on streams.  Between two lanes there is an event for each edge, recorded where the edge
 * begins. */
static double launch_streams(const bench_cuda_hand *h) {
  const fs_cuda_plan *p = h->plan;
  uint64_t begin = fs_now_ns();
  for (uint32_t i = 0; i < p->n_items; i++) {
    const fs_cuda_item *t = &p->item[i];
    for (uint32_t j = t->after0; j < t->after0 + t->n_after; j++) {
      uint32_t from = p->item[p->after[j]].lane;
      if (from != t->lane) {
        CU(h->d, cuEventRecord(h->edge[j], h->stream[from]));
        CU(h->d, cuStreamWaitEvent(h->stream[t->lane], h->edge[j], 0));
      }
    }
    CU(h->d, cuLaunchKernel(nop(h), 1, 1, 1, 1, 1, 1, 0, h->stream[t->lane], NULL, NULL));
  }
  for (uint32_t l = 1; l < p->n_lanes; l++) {
    CU(h->d, cuEventRecord(h->end[l], h->stream[l]));
    CU(h->d, cuStreamWaitEvent(h->stream[0], h->end[l], 0));
  }
  return finish(h, begin);
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double show(const char *name, bench_cuda_series *s) {
  qsort(s->us, RUNS, sizeof s->us[0], by_value);
  printf("%-44s %9.1f %9.1f\n", name, s->us[0], s->us[RUNS / 2]);
  return s->us[0];
}

static void measure(fsched_context *ctx, fsched_device *graphs, fsched_device *streams,
                    bench_cuda_hand *h, const fsched_program *program) {
  static bench_cuda_series s[4];
  for (unsigned run = 0; run < RUNS; run++) {
    s[0].us[run] = replay(ctx, graphs, program);
    s[1].us[run] = launch_graph(h);
    for (unsigned i = 0; i < 9; i++) { /* as many as a replay has */
      double us = launch_graph(h);
      s[1].us[run] = us < s[1].us[run] ? us : s[1].us[run];
    }
    s[2].us[run] = replay(ctx, streams, program);
    s[3].us[run] = launch_streams(h);
  }
  printf("%s: %u empty kernels, %u queues, us: minimum, median\n", h->d->cuda.name,
         h->plan->n_items, h->plan->n_lanes);
  double ours = show("fsched run --on cuda-graph", &s[0]);
  double theirs = show("a CUDA graph of the same nodes and edges", &s[1]);
  (void)show("fsched run --on cuda", &s[2]);
  double events = show("streams with an event for each edge", &s[3]);
  printf("cuda-graph is %.1f %% above the graph by hand, %.2f times the streams by hand\n",
         100 * (ours / theirs - 1), ours / events);
}

int main(void) {
  fsched_context *ctx;
  fs_cuda_device d;
  fsched_device *graphs, *streams;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    fail("out of memory");
  }
  fs_cuda_where where = {.driver = getenv("FSCHED_CUDA_DRIVER")};
  if (fs_cuda_device_open(ctx, &where, &d) != FSCHED_OK) {
    printf("skipped: %s\n", fsched_diag_get(ctx, 0)->message);
    fsched_context_destroy(ctx);
    return EXIT_SUCCESS;
  }
  fsched_device_options o = {.size = sizeof o, .kind = "cuda-graph", .driver = where.driver};
  need(ctx, fsched_device_create(ctx, &o, &graphs));
  o.kind = "cuda";
  need(ctx, fsched_device_create(ctx, &o, &streams));
  fsched_program *program = compile(ctx);
  fs_arena arena;
  fs_arena_init(&arena, ctx);
  fs_cuda_plan plan;
  need(ctx, fs_cuda_plan_make(ctx, &arena, &program->view, false, &plan));
  bench_cuda_hand h = {.d = &d, .plan = &plan};
  need(ctx, fs_cuda_enter(ctx, &d.cuda));
  make_streams(&h);
  make_graph(&h);
  measure(ctx, graphs, streams, &h, program);
  drop(&h);
  fs_cuda_leave(&d.cuda);
  fs_arena_release(&arena);
  fsched_program_destroy(program);
  fsched_device_release(graphs), fsched_device_release(streams);
  fs_cuda_device_close(&d);
  fsched_context_destroy(ctx);
  return EXIT_SUCCESS;
}
