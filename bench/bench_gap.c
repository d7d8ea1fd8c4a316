/* SPDX-License-Identifier: Apache-2.0 */
/* How the gap to the best known makespans closes over time, from above (schedules) and from below
 * (bounds), with --refine search on the public instances.
 *
 * FSCHED_SHARED names the folder with the instances (default ../shared), FSCHED_GAP_SECONDS the
 * processor time of each search (default 2), FSCHED_GAP_EVERY n takes every n-th instance (default
 * 12), FSCHED_GAP_SVG the file of a picture of the curves (default none). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fsched/compile.h"
#include "fsched/import.h"

#define BENCH_NAME "bench_gap"
#include "instances.h"

enum { POINTS = 61, SETS = 4, LONGER = 10 };

static const double first =
    0.01; /* seconds; the points are as far from each other as their ratio */

typedef struct gap_set {
  const char *folder, *suffix, *colour;
  fsched_format format;
  unsigned n;
  double above[POINTS], below[POINTS]; /* sums of gaps in percent */
} gap_set;

/* A search, and what is known of it at each point. */
typedef struct gap_run {
  gap_set *set;
  double begin, seconds, best;
  unsigned point;
  uint64_t incumbent, bound;
  volatile int stop;
} gap_run;

static double processor_time(void) { return (double)clock() / CLOCKS_PER_SEC; }

static double time_of(unsigned point, double seconds) {
  return first * pow(seconds / first, (double)point / (POINTS - 1));
}

/* What was known until now holds at the points before it. */
static void pass_points(gap_run *r, double until) {
  for (; r->point < POINTS && time_of(r->point, r->seconds) < until; r->point++) {
    r->set->above[r->point] += 100 * ((double)r->incumbent / r->best - 1);
    r->set->below[r->point] += 100 * (1 - (double)r->bound / r->best);
  }
}

static void hear(void *user, const fsched_refine_state *state) {
  gap_run *r = user;
  double since = processor_time() - r->begin;
  pass_points(r, since);
  r->incumbent = state->incumbent;
  r->bound = state->bound;
  r->stop = since >= r->seconds;
}

static void compile(fsched_context *ctx, const fsched_graph *g, fsched_compile_options *o,
                    uint64_t *makespan, uint64_t *bound) {
  fsched_schedule *s;
  need(ctx, fsched_compile(ctx, g, o, &s, NULL));
  *makespan = fsched_schedule_makespan(s);
  *bound = fsched_schedule_lower_bound(s);
  fsched_schedule_destroy(s);
}

static void search(fsched_context *ctx, gap_set *set, const fsched_graph *g, double best,
                   double seconds) {
  gap_run r = {.set = set, .seconds = seconds, .best = best};
  fsched_compile_options o = {.size = sizeof o};
  compile(ctx, g, &o, &r.incumbent, &r.bound);
  o.refine = FSCHED_REFINE_SEARCH;
  o.time_limit_ms = (uint64_t)(seconds * 1000 * LONGER);
  o.refine_news = hear;
  o.refine_user = &r;
  o.stop = &r.stop;
  r.begin = processor_time();
  uint64_t incumbent, bound;
  compile(ctx, g, &o, &incumbent, &bound);
  pass_points(&r, processor_time() - r.begin);
  r.incumbent = incumbent;
  r.bound = bound;
  pass_points(&r, INFINITY);
  set->n++;
}

static void one(fsched_context *ctx, gap_set *set, const char *name, double best, double seconds) {
  char file[80], *yaml;
  size_t n, m;
  fsched_graph *g;
  (void)snprintf(file, sizeof file, "%s%s", name, set->suffix);
  char *text = read_shared(ctx, set->folder, file, &n);
  if (text == NULL) {
    fail(file);
  }
  need(ctx, fsched_import(ctx, set->format, name, text, n, NULL, &yaml, &m));
  need(ctx, fsched_graph_parse(ctx, name, yaml, m, NULL, &g));
  search(ctx, set, g, best, seconds);
  fsched_text_free(ctx, yaml, m);
  (void)fs_realloc(ctx, text, n + 1, 0);
  fsched_graph_destroy(g);
}

static void run(gap_set *set, double seconds, unsigned every) {
  fsched_context *ctx;
  size_t n;
  unsigned k = 0;
  if (fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    fail("no context");
  }
  char *list = read_shared(ctx, set->folder, "best_known.csv", &n);
  for (char *line = list; line != NULL; line = strchr(line + 1, '\n')) {
    char name[40];
    unsigned long long least, best;
    if (sscanf(line, "\n%39[^,],%llu,%llu", name, &least, &best) == 3 && k++ % every == 0) {
      name[strcspn(name, ".")] = '\0';
      one(ctx, set, name, (double)best, seconds);
    }
  }
  if (list != NULL) {
    (void)fs_realloc(ctx, list, n + 1, 0);
  }
  fsched_context_destroy(ctx);
}

static void print_table(const gap_set *set) {
  if (set->n == 0) {
    printf("%-12s skipped, no instances\n", set->folder);
    return;
  }
  printf("%-12s %4u", set->folder, set->n);
  for (unsigned p = 0; p < POINTS; p += (POINTS - 1) / 6) {
    printf("  %5.2f -%5.2f", set->above[p] / set->n, set->below[p] / set->n);
  }
  printf("\n");
}

/* ---- the picture */

enum { LEFT = 60, TOP = 40, WIDTH = 560, HEIGHT = 320, RIGHT = 180, BOTTOM = 50 };

static double x_of(unsigned point) { return LEFT + (double)WIDTH * point / (POINTS - 1); }
static double y_of(double gap, double most, double least) {
  return TOP + HEIGHT * (most - gap) / (most - least);
}

static void draw_line(FILE *f, const gap_set *set, bool below, double most, double least) {
  fprintf(f, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s points=\"", set->colour,
          below ? " stroke-dasharray=\"5 4\"" : "");
  for (unsigned p = 0; p < POINTS; p++) {
    double gap = below ? -set->below[p] : set->above[p];
    fprintf(f, "%.1f,%.1f ", x_of(p), y_of(gap / set->n, most, least));
  }
  fprintf(f, "\"/>\n");
}

static void draw_axes(FILE *f, double seconds, double most, double least) {
  for (double gap = least; gap <= most; gap += 5) {
    double y = y_of(gap, most, least);
    fprintf(f,
            "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>"
            "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s%.0f %%</text>\n",
            LEFT, LEFT + WIDTH, y, y, gap == 0 ? "#444" : "#ddd", LEFT - 8, y + 4,
            gap > 0 ? "+" : "", gap);
  }
  for (double at = first; at <= seconds * 1.001; at *= 10) {
    double x = LEFT + WIDTH * log(at / first) / log(seconds / first);
    fprintf(f,
            "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#ddd\"/>"
            "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g s</text>\n",
            x, x, TOP, TOP + HEIGHT, x, TOP + HEIGHT + 18, at);
  }
}

static void draw(const char *path, const gap_set *set, double seconds) {
  double most = 0, least = 0;
  FILE *f = fopen(path, "w");
  if (f == NULL) {
    fail(path);
  }
  for (unsigned k = 0; k < SETS; k++) {
    for (unsigned p = 0; p < POINTS && set[k].n > 0; p++) {
      most = fmax(most, set[k].above[p] / set[k].n);
      least = fmin(least, -set[k].below[p] / set[k].n);
    }
  }
  most = 5 * ceil(most / 5 + 0.01);
  least = 5 * floor(least / 5 - 0.01);
  fprintf(f,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
          "height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n"
          "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
          "<text x=\"%d\" y=\"22\" font-size=\"14\">Mean gap to the best known makespans over "
          "processor time: schedules (lines) and bounds (dashed)</text>\n",
          LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM, LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM,
          LEFT);
  draw_axes(f, seconds, most, least);
  for (unsigned k = 0; k < SETS; k++) {
    if (set[k].n > 0) {
      draw_line(f, &set[k], false, most, least);
      draw_line(f, &set[k], true, most, least);
    }
    fprintf(f, "<text x=\"%d\" y=\"%u\" fill=\"%s\">%s (%u)</text>\n", LEFT + WIDTH + 14,
            TOP + 14 + 20 * k, set[k].colour, set[k].folder, set[k].n);
  }
  fprintf(f, "</svg>\n");
  if (fclose(f) != 0) {
    fail(path);
  }
}

int main(void) {
  static gap_set sets[SETS] = {
      {.folder = "rcpsp/j30", .suffix = ".rcp", .colour = "#1b7f5a"},
      {.folder = "rcpsp/j60", .suffix = ".rcp", .colour = "#2a5caa"},
      {.folder = "rcpsp/j120", .suffix = ".rcp", .colour = "#a33b8f"},
      {.folder = "jobshop", .suffix = ".txt", .colour = "#b5651d"},
  };
  double seconds = setting("FSCHED_GAP_SECONDS", 2);
  unsigned every = (unsigned)setting("FSCHED_GAP_EVERY", 12);
  const char *svg = getenv("FSCHED_GAP_SVG");
  printf(
      "--refine search, every %u. instance; mean gaps over the best known, and of the bounds below "
      "it, %%, after processor time:\n%-12s %4s",
      every, "", "n");
  for (unsigned p = 0; p < POINTS; p += (POINTS - 1) / 6) {
    printf("  %10.3f s", time_of(p, seconds));
  }
  printf("\n");
  for (unsigned k = 0; k < SETS; k++) {
    sets[k].format = k < 3 ? FSCHED_FORMAT_PATTERSON : FSCHED_FORMAT_JOBSHOP;
    run(&sets[k], seconds, every == 0 ? 1 : every);
    print_table(&sets[k]);
    fflush(stdout);
  }
  if (svg != NULL && *svg != '\0') {
    draw(svg, sets, seconds);
  }
  return EXIT_SUCCESS;
}
