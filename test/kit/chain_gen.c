/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/chain_gen.h"

typedef struct chain_gen {
  fs_rng rng;
  fs_text *t;
  uint32_t n_ops, n_loops, n_queues, depth;
  bool slots; /* depths are given */
} chain_gen;

static uint32_t below(chain_gen *g, uint32_t n) { return fs_rng_below(&g->rng, n); }
static bool one_in(chain_gen *g, uint32_t n) { return fs_rng_one_in(&g->rng, n); }

static void put_name(chain_gen *g) {
  fs_text_printf(g->t, "%*s- {name: o%u, on: q%u, time: %u, args: [", 2 * (int)g->depth, "",
                 g->n_ops, below(g, g->n_queues), below(g, 6));
  g->n_ops++;
}

/* A range of y, which each op that reads the value writes, so that its bytes are seen. */
static void put_range(chain_gen *g) {
  fs_text_printf(g->t, "{inout: y, at: {offset: %u, length: 32", 32 * below(g, 8));
  for (uint32_t d = 0; d < g->depth; d++) {
    fs_text_printf(g->t, "%s%u", d == 0 ? ", step: [" : ", ", 64 * below(g, 3));
  }
  fs_text_puts(g->t, g->depth > 0 ? "]}}" : "}}");
}

/* An op of the body that reads the value of this iteration, or of an earlier one. */
static void put_reader(chain_gen *g, bool begun) {
  put_name(g);
  if (begun && one_in(g, 2)) {
    fs_text_puts(g->t, "{in: s}, ");
  } else if (!begun && one_in(g, 2)) {
    fs_text_puts(g->t, "{in: s, distance: 1}, ");
  } else {
    fs_text_printf(g->t, "{in: s, distance: %u}, ", 1 + below(g, 3));
  }
  put_range(g);
  fs_text_puts(g->t, "]}\n");
}

/* A loop that begins the value in each iteration; `finds`: it reads what is there. */
static void put_link(chain_gen *g, bool finds) {
  int in = 2 * (int)g->depth;
  fs_text_printf(g->t, "%*s- loop: l%u\n%*s  trip: %u\n", in, "", g->n_loops++, in, "",
                 1 + below(g, 7));
  if (g->slots && one_in(g, 2)) {
    fs_text_printf(g->t, "%*s  buffers: {s: {depth: %u}}\n", in, "", 4 + below(g, 3));
  }
  fs_text_printf(g->t, "%*s  ops:\n", in, "");
  g->depth++;
  if (finds && one_in(g, 2)) {
    put_reader(g, false);
  }
  put_name(g);
  if (finds && !one_in(g, 4)) {
    fs_text_printf(g->t, "{in: s, distance: %u}, ", 1 + below(g, 3));
  }
  fs_text_puts(g->t, "{in: x, at: {length: 32, step: [0");
  for (uint32_t d = 1; d < g->depth; d++) {
    fs_text_puts(g->t, ", 32");
  }
  fs_text_puts(g->t, "]}}, {out: s}]}\n");
  if (finds || one_in(g, 2)) {
    put_reader(g, finds);
  }
  g->depth--;
}

/* An op between loops, or around them, that uses the value. */
static void put_between(chain_gen *g) {
  static const char *const use[] = {"{in: s}, ", "{inout: s}, ", "{out: s}, ",
                                    "{out_existing: s}, "};
  put_name(g);
  fs_text_puts(g->t, use[below(g, 4)]);
  put_range(g);
  fs_text_puts(g->t, "]}\n");
}

static void put_chain(chain_gen *g) {
  uint32_t n = 2 + below(g, 2), carried = below(g, n);
  if (g->depth > 0 && one_in(g, 2)) {
    put_between(g);
  }
  for (uint32_t i = 0; i < n; i++) {
    put_link(g, i == carried || !one_in(g, 3));
    if (one_in(g, 3)) {
      put_between(g);
    }
  }
}

void fs_chain_gen(uint64_t seed, fs_text *t) {
  chain_gen g = {.rng = {seed}, .t = t};
  g.n_queues = 1 + below(&g, 3);
  g.slots = one_in(&g, 3);
  fs_text_puts(t, "fsched: 1\ntarget:\n  queues: [");
  for (uint32_t q = 0; q < g.n_queues; q++) {
    fs_text_printf(t, "%s{name: q%u}", q == 0 ? "" : ", ", q);
  }
  fs_text_printf(t,
                 "]\n  memories: [{name: ddr}, {name: cmx, capacity: %u}]\n"
                 "buffers:\n  - {name: x, size: 4000, memory: ddr, io: input}\n"
                 "  - {name: y, size: %d, memory: ddr, io: output}\n"
                 "  - {name: z, size: %d, memory: ddr, io: output}\n"
                 "  - {name: s, size: 32, memory: cmx}\nops:\n",
                 512 << below(&g, 3), FS_LOOP_GEN_Y, FS_LOOP_GEN_Z);
  put_name(&g);
  fs_text_puts(t, "{out: y}, {out: s}]}\n");
  uint32_t nest = below(&g, 3);
  for (uint32_t d = 0; d < nest; d++) {
    int in = 2 * (int)g.depth;
    fs_text_printf(t, "%*s- loop: l%u\n%*s  trip: %u\n%*s  ops:\n", in, "", g.n_loops++, in, "",
                   1 + below(&g, 3), in, "");
    g.depth++;
  }
  put_chain(&g);
  g.depth = 0;
  put_name(&g);
  fs_text_puts(t, "{in: s}, {inout: y}, {out: z}]}\n");
}
