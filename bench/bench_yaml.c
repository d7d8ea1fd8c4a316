/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a graph file, beside bare libyaml event parsing of the same text (it should cost at most
 * 2.5 times as much), and building graphs by calls, over three orders of magnitude.
 *
 * Seconds are CPU time, as the machine may be shared; the contenders run in turn, minimum and
 * median of RUNS are shown, and the ratio is that of the medians. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <yaml.h>

#include "base/mem.h"
#include "kit/gen.h"

enum { RUNS = 7, BUILDS = 3, TEXT_OPS = 80000 };

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void need(fsched_context *ctx, fsched_status status) {
  if (status != FSCHED_OK) {
    fprintf(stderr, "bench_yaml: %s\n",
            fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "a call failed");
    exit(EXIT_FAILURE);
  }
}

/* Makes about 10 MB in the style of the examples: blocks outside, flow mappings inside. */
static void make_text(fs_text *t) {
  fs_rng rng = {1};
  fs_text_puts(
      t,
      "fsched: 1\ntarget:\n  queues: [{name: dpu}, {name: dma, class: copy}]\n  memories:\n"
      "    - {name: cmx, capacity: 1MiB, backing: ddr, spill: {on: copy}}\n"
      "    - {name: ddr}\nops:\n");
  for (uint32_t i = 0; i < TEXT_OPS; i++) {
    fs_text_printf(t, "  - name: op%u\n    on: compute\n    time: %u\n    args: [", i,
                   1 + fs_rng_below(&rng, 20));
    for (uint32_t k = 1 + fs_rng_below(&rng, 3); k > 0 && i > 0; k--) {
      fs_text_printf(t, "{in: b%u}, ", i - 1 - fs_rng_below(&rng, (uint32_t)fs_min(i, 30)));
    }
    fs_text_printf(t, "{out: b%u, size: %u, memory: cmx}]\n", i, 1 + fs_rng_below(&rng, 9000));
  }
}

static double bare_events(const char *text, size_t n) {
  double start = now();
  yaml_parser_t parser;
  if (!yaml_parser_initialize(&parser)) {
    exit(EXIT_FAILURE);
  }
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
  for (bool more = true; more;) {
    yaml_event_t event;
    if (!yaml_parser_parse(&parser, &event)) {
      exit(EXIT_FAILURE);
    }
    more = event.type != YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return now() - start;
}

static double whole_graph(const char *text, size_t n) {
  fsched_context *ctx;
  fsched_graph *g;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    exit(EXIT_FAILURE);
  }
  double start = now();
  need(ctx, fsched_graph_parse(ctx, "bench", text, n, NULL, &g));
  double seconds = now() - start;
  fsched_graph_destroy(g);
  fsched_context_destroy(ctx);
  return seconds;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Returns the median, and sorts the times. */
static double median(double *seconds, size_t n) {
  qsort(seconds, n, sizeof *seconds, compare);
  return seconds[n / 2];
}

static double built(fsched_context *ctx, uint32_t n_ops) {
  fs_gen_params p = {.seed = 1,
                     .n_ops = n_ops,
                     .n_queues = 64,
                     .n_classes = 4,
                     .n_memories = 2,
                     .backing = true,
                     .io = true,
                     .tightness = 4};
  fsched_graph *g;
  double start = now();
  need(ctx, fs_gen_graph(ctx, &p, &g));
  double seconds = now() - start;
  fsched_graph_destroy(g);
  return seconds;
}

int main(void) {
  fsched_context *ctx;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    return EXIT_FAILURE;
  }
  fs_text text;
  fs_text_init(&text, ctx);
  make_text(&text);
  double bare[RUNS];
  double whole[RUNS];
  for (int i = 0; i < RUNS; i++) {
    bare[i] = bare_events(text.at, text.n);
    whole[i] = whole_graph(text.at, text.n);
  }
  double a = median(bare, RUNS);
  double b = median(whole, RUNS);
  printf("graph file of %.1f MB, %d ops\n", (double)text.n / 1e6, (int)TEXT_OPS);
  printf("  %-22s %8s %8s\n", "", "minimum", "median");
  printf("  libyaml events alone   %8.3f %8.3f s\n", bare[0], a);
  printf("  read to a graph        %8.3f %8.3f s   ratio %.2f (at most 2.5)\n", whole[0], b, b / a);
  fs_text_drop(&text);
  printf("graphs by calls (with drawing the random graph twice)\n");
  for (uint32_t n = 1000; n <= 1000000; n *= 10) {
    double seconds[BUILDS];
    for (int i = 0; i < BUILDS; i++) {
      seconds[i] = built(ctx, n);
    }
    double s = median(seconds, BUILDS);
    printf("  %8u ops  %9.4f s  %6.0f ns/op\n", n, s, 1e9 * s / n);
  }
  fsched_context_destroy(ctx);
  return EXIT_SUCCESS;
}
