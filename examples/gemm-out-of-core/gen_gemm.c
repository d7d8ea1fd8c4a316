/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the graph of C = A * B out of core: gen_gemm M N K TILE BUDGET [GFLOPS MBPS].
 *
 * A is M by K, B K by N, C M by N, each cut into tiles of TILE by TILE, smaller ones at the ends.
 * All three are in the host's memory; the device has room for BUDGET bytes.  One op multiplies two
 * tiles and adds to a third.
 *
 * C is made block by block, p by q tiles, which stay on the
 * device while the p tiles of a column of A and the q tiles of a row of B go by, K of each.
 *
 *            B  . . b b           p q products for p + q loads, so the larger the block the
 *               . . b b           better; but two more tiles have to come in meanwhile.  So p and q
 *       A       C                 are such that p q + p + q + 2 tiles fit, and that p q / (p + q)
 *       . .     . . . .           is the largest: all in all, the loads are 1 / p + 1 / q for each
 *       a a     . . c c           product.
 *       a a     . . c c           k goes up in one block and down in the next: what was used last
 *                                 in one is used first in the other, and still there.
 *
 * That is program order, which only breaks ties.  The graph does not say which tile is loaded when
 * and where, which one is evicted for it, and which op waits for which. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The launch configuration of the kernel gemm_tile of gemm.cu. */
enum { BLOCK = 64, THREADS = 64, SHARED = 8448 };
/* The time to launch a kernel, and before a copy moves its first byte, in us. */
enum { LAUNCH_US = 5, LATENCY_US = 5 };
enum { ALIGN = 256, ITEM = 4, MOST_EDGE = 1 << 20, MOST_TILE = 1 << 14, MOST_TILES = 1 << 20 };

typedef struct edge {
  uint64_t length, tiles;
} edge;

typedef struct gemm {
  edge m, n, k;
  uint64_t tile, tile_bytes, room; /* room: in tiles */
  uint64_t p, q;                   /* of a block of C, in tiles */
  uint64_t gflops, mbps;
} gemm;

static edge edge_of(uint64_t length, uint64_t tile) {
  return (edge){length, (length + tile - 1) / tile};
}

/* The size of the i-th tile. */
static uint64_t extent(edge e, uint64_t tile, uint64_t i) {
  return i + 1 < e.tiles ? tile : e.length - i * tile;
}

static uint64_t up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

/* Whether the device has room for a block of p by q tiles, the tiles of A and B that pass, and two
 * that are loaded meanwhile; a block of one tile only needs one tile of each matrix. */
static bool fits(const gemm *g, uint64_t p, uint64_t q) {
  return p * q + p + q + 2 <= g->room || (p == 1 && q == 1 && g->room >= 3);
}

/* Whether p q / (p + q) of the first is larger, or the same with fewer tiles. */
static bool better(uint64_t p, uint64_t q, uint64_t than_p, uint64_t than_q) {
  uint64_t a = p * q * (than_p + than_q), b = than_p * than_q * (p + q);
  return a != b ? a > b : p * q < than_p * than_q;
}

static bool choose_block(gemm *g) {
  g->p = g->q = 1;
  for (uint64_t p = 1; p <= g->m.tiles; p++) {
    for (uint64_t q = 1; q <= g->n.tiles && fits(g, p, q); q++) {
      if (better(p, q, g->p, g->q)) {
        g->p = p;
        g->q = q;
      }
    }
  }
  return fits(g, g->p, g->q);
}

static void write_head(const gemm *g, char **words, int n) {
  printf("# SPDX-License-Identifier: Apache-2.0\n# Written by: gen_gemm");
  for (int i = 1; i < n; i++) {
    printf(" %s", words[i]);
  }
  printf(
      "\n"
      "# C = A * B out of core: C is %" PRIu64 " by %" PRIu64 ", the inner edge %" PRIu64
      ", float32, in tiles of %" PRIu64 " by %" PRIu64
      ".\n"
      "# Blocks of %" PRIu64 " by %" PRIu64
      " tiles of C stay on the device until they are "
      "complete.  Times in us: a copy takes\n"
      "# %d and moves %" PRIu64 " MB/s, a kernel %d and computes %" PRIu64
      " GFLOP/s.\n"
      "fsched: 1\nname: gemm\n",
      g->m.length, g->n.length, g->k.length, g->tile, g->tile, g->p, g->q, LATENCY_US, g->mbps,
      LAUNCH_US, g->gflops);
}

/* Writes a memory of the device, whose copies run on one queue; bytes per us are MB/s. */
static void write_memory(const gemm *g, const char *name, uint64_t tiles, const char *on) {
  printf("    - {name: %s, capacity: %" PRIu64
         ", align: %d, backing: host,\n"
         "       spill: {on: %s, write: {fixed: %d, rate: %" PRIu64
         "}, read: {fixed: %d, rate: "
         "%" PRIu64 "}}}\n",
         name, tiles * g->tile_bytes, ALIGN, on, LATENCY_US, g->mbps, LATENCY_US, g->mbps);
}

static void write_target(const gemm *g) {
  printf(
      "target:\n  time_unit: us\n  queues:\n"
      "    - {name: compute}\n"
      "    - {name: copy_in, class: copy}\n"
      "    - {name: copy_out, class: copy}\n"
      "  memories:\n");
  write_memory(g, "panels", g->room - g->p * g->q, "copy_in");
  write_memory(g, "sums", g->p * g->q, "copy_out");
  printf("    - {name: host}\n");
}

static void write_buffers(const gemm *g, char matrix, edge rows, edge columns) {
  for (uint64_t i = 0; i < rows.tiles; i++) {
    for (uint64_t j = 0; j < columns.tiles; j++) {
      printf("  - {name: %c.%" PRIu64 ".%" PRIu64 ", size: %" PRIu64 ", memory: %s, io: %s}\n",
             matrix, i, j, extent(rows, g->tile, i) * extent(columns, g->tile, j) * ITEM,
             matrix == 'C' ? "sums" : "panels", matrix == 'C' ? "output" : "input");
    }
  }
}

/* Writes the op C.i.j = A.i.k * B.k.j for the first k, and C.i.j += A.i.k * B.k.j for the
 * others. */
static void write_op(const gemm *g, uint64_t i, uint64_t j, uint64_t k, bool first) {
  uint64_t m = extent(g->m, g->tile, i), n = extent(g->n, g->tile, j);
  uint64_t inner = extent(g->k, g->tile, k);
  uint64_t time = LAUNCH_US + up(2 * m * n * inner, g->gflops * 1000);
  printf("  - name: %" PRIu64 ".%" PRIu64 ".%" PRIu64 "\n    time: %" PRIu64 "\n", i, j, k, time);
  printf("    args: [{in: A.%" PRIu64 ".%" PRIu64 "}, {in: B.%" PRIu64 ".%" PRIu64
         "}, "
         "{%s: C.%" PRIu64 ".%" PRIu64 "}, {value: %" PRIu64 "}, {value: %" PRIu64
         "}, {value: %" PRIu64 "}, {value: %d}]\n",
         i, k, k, j, first ? "out" : "inout", i, j, m, n, inner, !first);
  printf("    kernel: {module: gemm, function: gemm_tile, grid: [%" PRIu64 ", %" PRIu64
         "], block: [%d], shared: %d}\n",
         up(n, BLOCK), up(m, BLOCK), THREADS, SHARED);
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static void write_block(const gemm *g, uint64_t i0, uint64_t j0, bool down) {
  uint64_t i1 = least(i0 + g->p, g->m.tiles), j1 = least(j0 + g->q, g->n.tiles);
  for (uint64_t step = 0; step < g->k.tiles; step++) {
    uint64_t k = down ? g->k.tiles - 1 - step : step;
    for (uint64_t i = i0; i < i1; i++) {
      for (uint64_t j = j0; j < j1; j++) {
        write_op(g, i, j, k, step == 0);
      }
    }
  }
}

static void write_graph(const gemm *g, char **words, int n) {
  bool down = false;
  write_head(g, words, n);
  write_target(g);
  printf("buffers:\n");
  write_buffers(g, 'A', g->m, g->k);
  write_buffers(g, 'B', g->k, g->n);
  write_buffers(g, 'C', g->m, g->n);
  printf("ops:\n");
  for (uint64_t i = 0; i < g->m.tiles; i += g->p) {
    for (uint64_t j = 0; j < g->n.tiles; j += g->q) {
      write_block(g, i, j, down);
      down = !down;
    }
  }
}

/* The decimal number from 1 to `most` in the text, which may name a unit of bytes; 0 if it is not
 * one. */
static uint64_t number(const char *text, uint64_t most, bool sized) {
  static const char *const unit[] = {"", "KiB", "MiB", "GiB"};
  char *end;
  if (*text < '0' || *text > '9') {
    return 0;
  }
  unsigned long long n = strtoull(text, &end, 10);
  for (unsigned u = 0; u < (sized ? 4 : 1); u++) {
    if (strcmp(end, unit[u]) == 0) {
      return n <= most >> (10 * u) ? n << (10 * u) : 0;
    }
  }
  return 0;
}

static int usage(void) {
  fprintf(stderr,
          "usage: gen_gemm M N K TILE BUDGET [GFLOPS MBPS] >GRAPH.yaml\n"
          "M, N and K are 1 to %d, TILE is 1 to %d, BUDGET is bytes (or KiB, MiB, GiB) of the\n"
          "device's memory; GFLOPS (default 1000) is what a kernel computes, MBPS (default 25000)\n"
          "what a copy moves in a second\n",
          MOST_EDGE, MOST_TILE);
  return 2;
}

int main(int argc, char **argv) {
  if (argc != 6 && argc != 8) {
    return usage();
  }
  uint64_t edges[3], budget = number(argv[5], UINT64_C(1) << 44, true);
  gemm g = {.tile = number(argv[4], MOST_TILE, false), .gflops = 1000, .mbps = 25000};
  for (int i = 0; i < 3; i++) {
    edges[i] = number(argv[1 + i], MOST_EDGE, false);
  }
  if (argc == 8) {
    g.gflops = number(argv[6], 1 << 30, false);
    g.mbps = number(argv[7], 1 << 30, false);
  }
  if (edges[0] == 0 || edges[1] == 0 || edges[2] == 0 || g.tile == 0 || budget == 0 ||
      g.gflops == 0 || g.mbps == 0) {
    return usage();
  }
  g.m = edge_of(edges[0], g.tile);
  g.n = edge_of(edges[1], g.tile);
  g.k = edge_of(edges[2], g.tile);
  if (g.m.tiles * g.n.tiles > MOST_TILES / g.k.tiles) {
    fprintf(stderr, "gen_gemm: more than %d products of tiles; take larger tiles\n", MOST_TILES);
    return 2;
  }
  g.tile_bytes = up(g.tile * g.tile * ITEM, ALIGN) * ALIGN;
  g.room = budget / g.tile_bytes;
  if (!choose_block(&g)) {
    fprintf(stderr, "gen_gemm: three tiles take %" PRIu64 " bytes, more than %s\n",
            3 * g.tile_bytes, argv[5]);
    return 2;
  }
  write_graph(&g, argv, argc);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    perror("gen_gemm");
    return 5;
  }
  return 0;
}
