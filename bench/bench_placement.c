/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses for known times: the public instances (within their capacity, or at the lowest peak)
 * and large generated ones, beside first fit in order of size.  Gaps are over the largest sum of
 * sizes that live at one time.
 *
 * FSCHED_SHARED names the folder with the instances (default ../shared), FSCHED_PLACEMENT_SECONDS
 * the limit of each search (default 2).  Seconds are of CPU time, of the search alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/files/file.h"
#include "base/random.h"
#include "placement/placement.h"

enum { MOST = 40000, NODES = 4000000 };

typedef struct bench_placement_case {
  const char *name;
  uint32_t n;
  uint64_t capacity; /* FS_UNBOUNDED: the lowest peak */
  uint64_t size[MOST];
  fs_tick begin[MOST], end[MOST];
} bench_placement_case;

static double cpu(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double until;

static bool is_late(void *user) {
  (void)user;
  return cpu() >= until;
}

static int by_size(const void *a, const void *b, void *user) {
  const bench_placement_case *c = user;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  if (c->size[x] != c->size[y]) {
    return c->size[x] > c->size[y] ? -1 : 1;
  }
  return x < y ? -1 : x > y;
}

/* The peak of first fit in order of size, by a list of all that are placed, in order of addresses.
 */
static uint64_t first_fit(bench_placement_case *c) {
  uint32_t *order = malloc(c->n * sizeof *order), *at = malloc(c->n * sizeof *at), n = 0;
  uint64_t *address = malloc(c->n * sizeof *address), peak = 0;
  for (uint32_t i = 0; i < c->n; i++) {
    order[i] = i;
  }
  qsort_r(order, c->n, sizeof *order, by_size, c);
  for (uint32_t j = 0; j < c->n; j++) {
    uint32_t i = order[j], k = 0;
    uint64_t low = 0;
    for (; k < n; k++) {
      uint32_t o = at[k];
      if (c->begin[o] < c->end[i] && c->begin[i] < c->end[o]) {
        if (address[o] >= low + c->size[i]) {
          break;
        }
        low = address[o] + c->size[o] > low ? address[o] + c->size[o] : low;
      }
    }
    for (k = n++; k > 0 && address[at[k - 1]] > low; k--) {
      at[k] = at[k - 1];
    }
    at[k] = i;
    address[i] = low;
    peak = low + c->size[i] > peak ? low + c->size[i] : peak;
  }
  free(order);
  free(at);
  free(address);
  return peak;
}

static void run(fsched_context *ctx, bench_placement_case *c, double seconds) {
  fs_placement p = {.n = c->n,
                    .size = c->size,
                    .begin = c->begin,
                    .end = c->end,
                    .capacity = c->capacity,
                    .nodes = NODES,
                    .stop = is_late};
  uint64_t *address = malloc(c->n * sizeof *address), peak, bound;
  fs_decision exists;
  bool least;
  if (fs_placement_bound(ctx, &p, &bound) != FSCHED_OK) {
    exit(EXIT_FAILURE);
  }
  double begin = cpu();
  uint64_t fit = first_fit(c);
  double middle = cpu();
  until = middle + seconds;
  if (fs_placement_run(ctx, &p, c->capacity == FS_UNBOUNDED, address, &peak, &exists, &least) !=
      FSCHED_OK) {
    exit(EXIT_FAILURE);
  }
  double end = cpu();
  printf("%-14s %6u %9.2f %9.3f %9.2f %9.3f %s\n", c->name, c->n,
         100.0 * ((double)fit / (double)bound - 1), middle - begin,
         100.0 * ((double)peak / (double)bound - 1), end - middle,
         exists.is != FS_YES ? "not placed"
         : least             ? "lowest"
         : peak <= bound     ? "at the bound"
                             : "placed");
  fflush(stdout);
  free(address);
}

static bool read_case(fsched_context *ctx, const char *folder, const char *name, uint64_t capacity,
                      bench_placement_case *c) {
  char path[800], *text;
  size_t length;
  const char *root = getenv("FSCHED_SHARED");
  (void)snprintf(path, sizeof path, "%s/data/memory/%s/%s.csv", root == NULL ? "../shared" : root,
                 folder, name);
  FILE *f = fopen(path, "r");
  if (f == NULL) {
    printf("%-14s skipped, no instance\n", name);
    return false;
  }
  (void)fclose(f);
  if (fs_file_read(ctx, path, &text, &length) != FSCHED_OK) {
    exit(EXIT_FAILURE);
  }
  c->name = name;
  c->n = 0;
  c->capacity = capacity;
  for (char *line = strchr(text, '\n'); line != NULL && c->n < MOST;
       line = strchr(line + 1, '\n')) {
    unsigned long long begin, end, size;
    if (sscanf(line, "\n%*[^,],%llu,%llu,%llu", &begin, &end, &size) == 3) {
      c->begin[c->n] = begin;
      c->end[c->n] = end;
      c->size[c->n++] = size;
    }
  }
  (void)fs_realloc(ctx, text, length + 1, 0);
  return true;
}

/* Layers of a training step: results are kept from the forward pass to the backward one, in reverse
 * order, beside short-lived ones. */
static void make_training(bench_placement_case *c, uint32_t layers) {
  uint64_t r = layers;
  fs_tick t = 0;
  static fs_tick since[MOST];
  static uint64_t kept[MOST];
  uint32_t n_kept = 0;
  c->n = 0;
  c->capacity = FS_UNBOUNDED;
  for (uint32_t l = 0; l < layers; l++) {
    uint64_t base = UINT64_C(512) << fs_random_below(&r, 12);
    for (uint32_t k = 6 + fs_random_below(&r, 9); k > 0; k--, t++) {
      uint64_t size = base * (1 + fs_random_below(&r, 4)) + 512 * fs_random_below(&r, 9);
      if (fs_random_below(&r, 10) < 6) {
        since[n_kept] = t;
        kept[n_kept++] = size;
      } else {
        c->size[c->n] = size;
        c->begin[c->n] = t;
        c->end[c->n++] = t + 1 + fs_random_below(&r, 6);
      }
    }
  }
  while (n_kept-- > 0) {
    fs_tick ends[] = {t + 1 + fs_random_below(&r, 30), t + 1 + fs_random_below(&r, 8),
                      t + 50 + fs_random_below(&r, 4000)};
    uint32_t n = fs_random_below(&r, 5) == 0 ? 3 : 2;
    for (uint32_t k = 0; k < n; k++) {
      c->size[c->n] = k < 2 ? kept[n_kept] : kept[n_kept] / 8 + 512;
      c->begin[c->n] = k == 0 ? since[n_kept] : t;
      c->end[c->n++] = ends[k];
    }
    t++;
  }
}

/* Lifetimes and sizes of all magnitudes. */
static void make_mixed(bench_placement_case *c, uint32_t n) {
  uint64_t r = n;
  c->n = n;
  c->capacity = FS_UNBOUNDED;
  for (uint32_t i = 0; i < n; i++) {
    c->begin[i] = fs_random_below(&r, n);
    c->end[i] = c->begin[i] + 1 + fs_random_below(&r, 1u << (2 + fs_random_below(&r, 12)));
    c->size[i] = 64 * (1 + (uint64_t)fs_random_below(&r, 1u << (2 + fs_random_below(&r, 12))));
  }
}

int main(void) {
  static const char *const hard[] = {"A.1048576", "B.1048576", "C.1048576",
                                     "D.1048576", "E.1048576", "F.1048576"};
  static const char *const large[] = {"G_1", "resnet50"};
  const char *text = getenv("FSCHED_PLACEMENT_SECONDS");
  double seconds = text == NULL || *text == '\0' ? 2 : atof(text);
  bench_placement_case *c = malloc(sizeof *c);
  fsched_context *ctx;
  if (c == NULL || fsched_context_create(NULL, &ctx) != FSCHED_OK) {
    return EXIT_FAILURE;
  }
  printf("%-14s %6s %9s %9s %9s %9s\n", "", "n", "first %", "s", "ours %", "s");
  for (size_t k = 0; k < sizeof hard / sizeof hard[0]; k++) {
    if (read_case(ctx, "minimalloc", hard[k], 1048576, c)) {
      run(ctx, c, seconds);
    }
  }
  for (size_t k = 0; k < sizeof large / sizeof large[0]; k++) {
    if (read_case(ctx, "large", large[k], FS_UNBOUNDED, c)) {
      run(ctx, c, seconds);
    }
  }
  for (uint32_t layers = 30; layers <= 1000; layers = layers * 3 + 30) {
    char name[40];
    (void)snprintf(name, sizeof name, "training %u", layers);
    c->name = name;
    make_training(c, layers);
    run(ctx, c, seconds);
  }
  for (uint32_t n = 300; n <= 30000; n *= 10) {
    char name[40];
    (void)snprintf(name, sizeof name, "mixed %u", n);
    c->name = name;
    make_mixed(c, n);
    run(ctx, c, seconds);
  }
  fsched_context_destroy(ctx);
  free(c);
  return EXIT_SUCCESS;
}
