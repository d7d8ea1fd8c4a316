/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the inputs of a product, and checks its result.
 *
 *   check_gemm inputs DIR M N K TILE            writes DIR/A.i.k.npy and DIR/B.k.j.npy
 *   check_gemm options DIR M N K TILE           prints the options of `fsched run` for these files,
 *                                               and for the outputs DIR/C.i.j.npy
 *   check_gemm compare DIR M N K TILE [COUNT]   compares DIR/C.i.j.npy with the plain product, all
 *                                               items, or COUNT of each tile (for large matrices)
 *
 * An item of A or B is a function of its row and column, between -1 and 1, with all the digits that
 * a float has.  The product is computed again from that function, in double.
 *
 * Tolerance: a float sum of K products, in whatever order, with fused multiplications or not, is
 * off by at most K u / (1 - K u) times the sum of |a| |b|, where u = 2^-24 is the unit roundoff;
 * one more for adding to what was there (Higham, Accuracy and Stability, section 3.1).  A lost tile
 * or a doubled product causes a much larger error. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EDGE = 1 << 20, MOST_TILE = 1 << 14, HEADER = 128, PATH = 4096 };

typedef struct job {
  const char *directory;
  uint64_t m, n, k, tile;
  uint64_t count; /* of each tile; 0: all */
} job;

typedef struct range {
  uint64_t begin, end;
} range;

static range tile_of(uint64_t length, uint64_t tile, uint64_t i) {
  uint64_t end = (i + 1) * tile;
  return (range){i * tile, end < length ? end : length};
}

static uint64_t tiles(uint64_t length, uint64_t tile) { return (length + tile - 1) / tile; }

static uint64_t scramble(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

/* An item between -1 and 1, made from an odd number of 24 bits, so that it is never 0. */
static float item(char matrix, uint64_t row, uint64_t column) {
  uint64_t bits = scramble(scramble((uint64_t)matrix << 48 | row << 24 | column)) >> 40 | 1;
  return (float)((int64_t)bits - (1 << 23)) / (float)(1 << 23);
}

static bool path_of(const job *g, char matrix, uint64_t i, uint64_t j, char path[PATH]) {
  int n = snprintf(path, PATH, "%s/%c.%" PRIu64 ".%" PRIu64 ".npy", g->directory, matrix, i, j);
  if (n < 0 || n >= PATH) {
    fprintf(stderr, "check_gemm: the directory's name is too long\n");
    return false;
  }
  return true;
}

static bool failed(const char *path) {
  perror(path);
  return false;
}

/* ---- inputs */

static void put_header(char header[HEADER], range rows, range columns) {
  char shape[64];
  (void)snprintf(shape, sizeof shape, "(%" PRIu64 ", %" PRIu64 ")", rows.end - rows.begin,
                 columns.end - columns.begin);
  static const char magic[] = {(char)0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, HEADER - 10, 0};
  memcpy(header, magic, sizeof magic);
  int n = snprintf(header + 10, HEADER - 10,
                   "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }", shape);
  memset(header + 10 + n, ' ', (size_t)(HEADER - 10 - n));
  header[HEADER - 1] = '\n';
}

/* The files are little-endian, whatever the order of this machine. */
static bool put_row(FILE *f, char matrix, uint64_t row, range columns) {
  for (uint64_t j = columns.begin; j < columns.end; j++) {
    float value = item(matrix, row, j);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int shift = 0; shift < 32; shift += 8) {
      if (putc((int)(bits >> shift & 255), f) == EOF) {
        return false;
      }
    }
  }
  return true;
}

static bool write_tile(const char *path, char matrix, range rows, range columns) {
  char header[HEADER];
  FILE *f = fopen(path, "wb");
  if (f == NULL) {
    return failed(path);
  }
  put_header(header, rows, columns);
  bool ok = fwrite(header, HEADER, 1, f) == 1;
  for (uint64_t i = rows.begin; i < rows.end && ok; i++) {
    ok = put_row(f, matrix, i, columns);
  }
  ok = fclose(f) == 0 && ok;
  return ok || failed(path);
}

static bool write_matrix(const job *g, char matrix, uint64_t rows, uint64_t columns) {
  char path[PATH];
  for (uint64_t i = 0; i < tiles(rows, g->tile); i++) {
    for (uint64_t j = 0; j < tiles(columns, g->tile); j++) {
      if (!path_of(g, matrix, i, j, path) ||
          !write_tile(path, matrix, tile_of(rows, g->tile, i), tile_of(columns, g->tile, j))) {
        return false;
      }
    }
  }
  return true;
}

static bool inputs(const job *g) {
  return write_matrix(g, 'A', g->m, g->k) && write_matrix(g, 'B', g->k, g->n);
}

/* ---- options */

static bool print_options(const job *g, const char *option, char matrix, uint64_t rows,
                          uint64_t columns) {
  char path[PATH];
  for (uint64_t i = 0; i < tiles(rows, g->tile); i++) {
    for (uint64_t j = 0; j < tiles(columns, g->tile); j++) {
      if (!path_of(g, matrix, i, j, path)) {
        return false;
      }
      printf("%s %c.%" PRIu64 ".%" PRIu64 "=%s\n", option, matrix, i, j, path);
    }
  }
  return true;
}

static bool options(const job *g) {
  return print_options(g, "--input", 'A', g->m, g->k) &&
         print_options(g, "--input", 'B', g->k, g->n) &&
         print_options(g, "--output", 'C', g->m, g->n);
}

/* ---- compare */

/* The inputs computed again: rows of A, and columns of B, each of K items. */
typedef struct comparison {
  const job *job;
  float *a, *b, *c;
  double worst; /* the largest error, as a part of the tolerance */
  uint64_t items, wrong;
} comparison;

/* The items behind the header of a .npy file. */
static bool read_tile(const char *path, float *items, uint64_t n) {
  unsigned char head[10], bytes[4];
  FILE *f = fopen(path, "rb");
  if (f == NULL) {
    return failed(path);
  }
  bool ok = fread(head, sizeof head, 1, f) == 1 && memcmp(head, "\x93NUMPY\x01", 7) == 0 &&
            fseek(f, 10 + head[8] + 256L * head[9], SEEK_SET) == 0;
  for (uint64_t i = 0; i < n && ok; i++) {
    ok = fread(bytes, sizeof bytes, 1, f) == 1;
    uint32_t bits =
        bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    memcpy(&items[i], &bits, sizeof bits);
  }
  ok = ok && getc(f) == EOF;
  (void)fclose(f);
  if (!ok) {
    fprintf(stderr, "%s: no .npy file of %" PRIu64 " floats\n", path, n);
  }
  return ok;
}

static void compare_item(comparison *w, uint64_t i, uint64_t j, const float *a, const float *b,
                         float c) {
  double sum = 0, size = 0, k = (double)w->job->k + 1, u = ldexp(1, -24);
  for (uint64_t l = 0; l < w->job->k; l++) {
    double product = (double)a[l] * (double)b[l];
    sum += product;
    size += fabs(product);
  }
  double part = fabs((double)c - sum) / (size * k * u / (1 - k * u));
  if (!(part <= 1) && w->wrong++ < 10) { /* NaN is wrong */
    fprintf(stderr, "C[%" PRIu64 "][%" PRIu64 "] is %.9g, not %.9g\n", i, j, (double)c, sum);
  }
  w->worst = part > w->worst ? part : w->worst;
  w->items++;
}

static void fill_panels(comparison *w, range rows, range columns) {
  uint64_t k = w->job->k;
  for (uint64_t i = rows.begin; i < rows.end; i++) {
    for (uint64_t l = 0; l < k; l++) {
      w->a[(i - rows.begin) * k + l] = item('A', i, l);
    }
  }
  for (uint64_t j = columns.begin; j < columns.end; j++) {
    for (uint64_t l = 0; l < k; l++) {
      w->b[(j - columns.begin) * k + l] = item('B', l, j);
    }
  }
}

/* Compares all items of a tile, or some that are drawn at random, seeded by the tile's indices. */
static void compare_tile(comparison *w, range rows, range columns) {
  const job *g = w->job;
  uint64_t m = rows.end - rows.begin, n = columns.end - columns.begin;
  fill_panels(w, rows, columns);
  for (uint64_t at = 0; at < (g->count == 0 ? m * n : g->count); at++) {
    uint64_t x =
        g->count == 0 ? at : scramble(scramble(rows.begin << 32 | columns.begin) + at) % (m * n);
    uint64_t i = x / n, j = x % n;
    compare_item(w, rows.begin + i, columns.begin + j, w->a + i * g->k, w->b + j * g->k, w->c[x]);
  }
}

static bool compare_tiles(comparison *w) {
  const job *g = w->job;
  char path[PATH];
  for (uint64_t i = 0; i < tiles(g->m, g->tile); i++) {
    for (uint64_t j = 0; j < tiles(g->n, g->tile); j++) {
      range rows = tile_of(g->m, g->tile, i), columns = tile_of(g->n, g->tile, j);
      if (!path_of(g, 'C', i, j, path) ||
          !read_tile(path, w->c, (rows.end - rows.begin) * (columns.end - columns.begin))) {
        return false;
      }
      compare_tile(w, rows, columns);
    }
  }
  return true;
}

static bool compare(const job *g) {
  comparison w = {.job = g};
  w.a = malloc(g->tile * g->k * sizeof *w.a);
  w.b = malloc(g->tile * g->k * sizeof *w.b);
  w.c = malloc(g->tile * g->tile * sizeof *w.c);
  bool ok = w.a != NULL && w.b != NULL && w.c != NULL;
  if (!ok) {
    fprintf(stderr, "check_gemm: no memory\n");
  }
  ok = ok && compare_tiles(&w);
  free(w.a);
  free(w.b);
  free(w.c);
  if (ok && w.wrong == 0) {
    printf("%" PRIu64
           " items compared: the largest error is %.0f %% of what is tolerated, or less\n",
           w.items, ceil(100 * w.worst));
  } else if (ok) {
    printf("%" PRIu64 " items compared, %" PRIu64 " wrong\n", w.items, w.wrong);
  }
  return ok && w.wrong == 0;
}

/* ---- */

/* The decimal number from 1 to `most` in the text; 0 if it is not one. */
static uint64_t number(const char *text, uint64_t most) {
  char *end;
  if (*text < '0' || *text > '9') {
    return 0;
  }
  unsigned long long n = strtoull(text, &end, 10);
  return *end == '\0' && n <= most ? n : 0;
}

static int usage(void) {
  fprintf(stderr,
          "usage: check_gemm inputs|options|compare DIR M N K TILE [COUNT]\n"
          "M, N and K are 1 to %d, TILE is 1 to %d; COUNT items of each tile are compared, by "
          "default all\n",
          MOST_EDGE, MOST_TILE);
  return 2;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    bool (*does)(const job *g);
  } verb[] = {{"inputs", inputs}, {"options", options}, {"compare", compare}};
  if (argc != 7 && argc != 8) {
    return usage();
  }
  job g = {argv[2],
           number(argv[3], MOST_EDGE),
           number(argv[4], MOST_EDGE),
           number(argv[5], MOST_EDGE),
           number(argv[6], MOST_TILE),
           argc == 8 ? number(argv[7], UINT32_MAX) : 0};
  bool counts = argc == 7 || (g.count > 0 && strcmp(argv[1], "compare") == 0);
  if (g.m == 0 || g.n == 0 || g.k == 0 || g.tile == 0 || !counts) {
    return usage();
  }
  for (unsigned i = 0; i < 3; i++) {
    if (strcmp(argv[1], verb[i].name) == 0) {
      bool ok = verb[i].does(&g) && fflush(stdout) == 0 && !ferror(stdout);
      return ok ? 0 : 1;
    }
  }
  return usage();
}
