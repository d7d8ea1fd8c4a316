/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/nest_gen.h"

enum { RINGS = 4, DEPTH = 3, MOST_ITEMS = 4, MOST_OPS = 12 };

typedef struct nest_gen {
  fs_rng rng, more; /* more: for what came to be drawn later */
  fs_text *t;
  uint32_t n_queues, class_of[3], n_ops, n_loops;
  uint32_t depth; /* loops around what comes next */
  uint32_t total; /* iterations back to the value that goes on from run to run; 0: there is none */
  bool anew;      /* the loop around begins that */
  bool begun[DEPTH + 1][RINGS]; /* by the bodies that are open */
  bool resource;
  uint32_t gangs; /* one op of so many is one */
} nest_gen;

static uint32_t below(nest_gen *g, uint32_t n) { return fs_rng_below(&g->rng, n); }

static bool one_in(nest_gen *g, uint32_t n) { return fs_rng_one_in(&g->rng, n); }

static void indent(nest_gen *g) {
  for (uint32_t i = 0; i <= g->depth; i++) {
    fs_text_puts(g->t, "    ");
  }
}

/* Writes a queue, a class or a gang; how many queues the gang takes. */
static uint32_t put_on(nest_gen *g) {
  uint32_t q = below(g, g->n_queues);
  bool queue = one_in(g, 2);
  if (fs_rng_one_in(&g->more, g->gangs)) {
    return fs_loop_gen_gang(&g->more, g->n_queues, g->class_of, g->t);
  }
  fs_text_printf(g->t, queue ? "on: q%u" : "on: c%u", queue ? q : g->class_of[q]);
  return 0;
}

static void put_head(nest_gen *g) {
  static const uint32_t size[] = {8, 64, 100};
  g->n_queues = 1 + below(g, 3);
  g->resource = one_in(g, 4);
  fs_text_puts(g->t, "fsched: 1\ntarget:\n  queues: [");
  for (uint32_t q = 0; q < g->n_queues; q++) {
    g->class_of[q] = below(g, 2);
    fs_text_printf(g->t, "%s{name: q%u, class: c%u}", q == 0 ? "" : ", ", q, g->class_of[q]);
  }
  fs_text_printf(g->t, "]\n  memories: [{name: ddr}, {name: cmx, capacity: %uKiB}]\n",
                 16 << below(g, 3));
  if (g->resource) { /* 7: some are left over where lanes are of 2 or 3 */
    fs_text_printf(g->t, "  resources: [{name: L, capacity: %u}]\n",
                   fs_rng_one_in(&g->more, 2) ? 7 : 4);
  }
  if (fs_rng_one_in(&g->more, 8)) {
    fs_text_printf(g->t, "  concurrency: %u\n", 1 + fs_rng_below(&g->more, 3));
  }
  fs_text_printf(g->t,
                 "buffers:\n"
                 "  - {name: x, size: 4000, memory: ddr, io: input}\n"
                 "  - {name: y, size: %d, memory: ddr, io: output}\n"
                 "  - {name: z, size: %d, memory: ddr, io: output}\n",
                 FS_LOOP_GEN_Y, FS_LOOP_GEN_Z);
  for (uint32_t r = 0; r < RINGS; r++) {
    fs_text_printf(g->t, "  - {name: r%u, size: %u, memory: cmx}\n", r, size[below(g, 3)]);
  }
}

static const char *comma(bool *any) {
  const char *text = *any ? ", " : "";
  *any = true;
  return text;
}

/* An op's arg on a ring; whether it writes. */
static bool put_ring_arg(nest_gen *g, uint32_t r, bool *any) {
  bool *begun = &g->begun[g->depth][r];
  if (!one_in(g, 3)) {
    return false;
  }
  if (!*begun && one_in(g, 2)) {
    *begun = true;
    fs_text_printf(g->t, "%s{out: r%u}", comma(any), r);
    return true;
  }
  if (one_in(g, 4)) {
    fs_text_printf(g->t, "%s{%s: r%u}", comma(any), one_in(g, 3) ? "out_existing" : "inout", r);
    return true;
  }
  if (g->depth > 0 && *begun && one_in(g, 4)) {
    fs_text_printf(g->t, "%s{in: r%u, distance: %u}", comma(any), r, 1 + below(g, 2));
    return false;
  }
  fs_text_printf(g->t, "%s{in: r%u}", comma(any), r);
  return false;
}

static void put_steps(nest_gen *g, bool may_fall) {
  static const int32_t step[] = {0, 0, 16, 48, 100, -16};
  for (uint32_t i = 0; i < g->depth; i++) {
    fs_text_printf(g->t, "%s%d", i == 0 ? ", step: [" : ", ", step[below(g, may_fall ? 6 : 5)]);
  }
  fs_text_puts(g->t, g->depth > 0 ? "]}" : "}");
}

/* A range that the end of y cuts off, before it moves down. */
static void put_cut_range(nest_gen *g, const char *tag) {
  static const int32_t step[] = {0, -16, -100};
  fs_text_printf(g->t, "{%s: y, at: {offset: %u, length: %u", tag, FS_LOOP_GEN_Y - 40,
                 16 + 84 * fs_rng_below(&g->more, 3));
  for (uint32_t i = 0; i < g->depth; i++) {
    fs_text_printf(g->t, "%s%d", i == 0 ? ", step: [" : ", ", step[fs_rng_below(&g->more, 3)]);
  }
  fs_text_puts(g->t, g->depth > 0 ? "]}}" : "}}");
}

/* Writes the bytes of a range: so many, or a view. */
static void put_bytes(nest_gen *g, uint32_t length, bool small) {
  if (fs_rng_one_in(&g->more, 6)) {
    fs_loop_gen_view(&g->more, small, g->t);
  } else {
    fs_text_printf(g->t, "length: %u", length);
  }
}

/* Its args on buffers from outside; whether it writes. */
static bool put_range_args(nest_gen *g, bool *any) {
  static const char *const tag[] = {"inout", "out_existing", "in"};
  if (fs_rng_one_in(&g->more, 12)) {
    fs_text_printf(g->t, "%s{no_dep: %s}", comma(any), fs_rng_one_in(&g->more, 2) ? "x" : "y");
  }
  if (one_in(g, 3)) {
    fs_text_printf(g->t, "%s{in: x, at: {offset: %u, ", comma(any), 900 + 200 * below(g, 2));
    put_bytes(g, 8 + 92 * below(g, 2), true);
    put_steps(g, true);
    fs_text_puts(g->t, "}");
  }
  if (one_in(g, 2)) {
    return false;
  }
  uint32_t which = below(g, 3);
  bool fall = one_in(g, 4);
  if (g->depth > 0 && fs_rng_one_in(&g->more, 8)) {
    fs_text_puts(g->t, comma(any));
    put_cut_range(g, tag[which]);
    return which < 2;
  }
  fs_text_printf(g->t, "%s{%s: y, at: {offset: %u, ", comma(any), tag[which],
                 fall ? 600 : 64 * below(g, 2));
  put_bytes(g, 16 + 84 * below(g, 3), false);
  put_steps(g, fall);
  fs_text_puts(g->t, "}");
  return which < 2;
}

static void put_op(nest_gen *g) {
  bool any = false, writes = false;
  uint32_t time = below(g, 10), op = g->n_ops++;
  indent(g);
  fs_text_printf(g->t, "- {name: o%u, ", op);
  uint32_t queues = put_on(g);
  fs_text_printf(g->t, ", time: %u", time);
  if (one_in(g, 4)) {
    fs_text_printf(g->t, ", latency: %u", time + below(g, 10));
  }
  if (g->resource && one_in(g, 2)) {
    fs_text_printf(g->t, ", uses: {L: %u}", 1 + below(g, 4));
  }
  if (one_in(g, 8)) {
    fs_text_printf(g->t, ", scratch: {cmx: %u}", 8 + 32 * below(g, 2));
  }
  if (op > 0 && one_in(g, 5)) {
    fs_text_printf(g->t, ", after: [o%u]", below(g, op));
  }
  bool members = fs_loop_gen_members(&g->more, queues, g->t);
  for (uint32_t r = 0; r < RINGS; r++) {
    writes |= put_ring_arg(g, r, &any);
  }
  if (members) {
    fs_text_puts(g->t, "]}, {args: [");
    any = false;
  }
  writes |= put_range_args(g, &any);
  if (!writes) {
    fs_text_printf(g->t, "%s{out_existing: z, at: {offset: %u, length: 8}}", comma(&any),
                   8 * (op % (FS_LOOP_GEN_Z / 8)));
  }
  fs_loop_gen_end(members ? queues : 0, g->t);
}

static void put_body(nest_gen *g, uint32_t items);

/* A loop; its slots are given later than its body, where they are known. */
static void put_loop(nest_gen *g) {
  static const uint32_t trip[] = {0, 1, 2, 2, 3, 4, 5};
  uint32_t loop = g->n_loops++;
  indent(g);
  fs_text_printf(g->t, "- loop: l%u\n", loop);
  indent(g);
  fs_text_printf(g->t, "  trip: %u\n", trip[below(g, 7)]);
  indent(g);
  fs_text_puts(g->t, "  ops:\n");
  g->depth++;
  memset(g->begun[g->depth], 0, sizeof g->begun[g->depth]);
  put_body(g, 1 + below(g, MOST_ITEMS));
  g->depth--;
  bool any = false;
  for (uint32_t r = 0; r < RINGS; r++) {
    if (g->begun[g->depth + 1][r] && one_in(g, 2)) {
      if (!any) {
        indent(g);
      }
      fs_text_printf(g->t, "%sr%u: {depth: %u}", any ? ", " : "  buffers: {", r, 1 + below(g, 4));
      any = true;
    }
  }
  fs_text_puts(g->t, any ? "}\n" : "");
}

static void put_body(nest_gen *g, uint32_t items) {
  bool loop = false;
  for (uint32_t i = 0; i < items; i++) {
    bool inner = g->depth < DEPTH && g->n_ops < MOST_OPS &&
                 (g->depth == 0 ? i == 0 || one_in(g, 3) : one_in(g, 3));
    if (inner) {
      put_loop(g);
      loop = true;
    } else {
      put_op(g);
    }
  }
  if (loop && g->depth > 0 && one_in(g, 2)) {
    put_op(g);
  }
}

static void put_graph(uint64_t seed, uint32_t gangs, fs_text *t) {
  nest_gen g = {
      .rng = {seed}, .more = {seed + UINT64_C(0x5851F42D4C957F2D)}, .t = t, .gangs = gangs};
  put_head(&g);
  fs_text_puts(t, "ops:\n");
  for (uint32_t r = 0; r < RINGS; r++) {
    if (!one_in(&g, 4)) {
      fs_text_printf(t, "    - {name: pre%u, ", r);
      put_on(&g);
      fs_text_printf(t, ", args: [{out: r%u}]}\n", r);
    }
  }
  fs_text_puts(t, "    - {name: init, ");
  put_on(&g);
  fs_text_puts(t, ", args: [{out: y}]}\n");
  put_body(&g, 1 + below(&g, 3));
  fs_text_puts(t, "    - {name: fin, ");
  put_on(&g);
  fs_text_puts(t, ", args: [{inout: y}, {out_existing: z, at: {offset: 0, length: 8}}");
  for (uint32_t r = 0; r < RINGS; r++) {
    if (one_in(&g, 2)) {
      fs_text_printf(t, ", {in: r%u}", r);
    }
  }
  fs_text_puts(t, "]}\n");
}

void fs_nest_gen(uint64_t seed, fs_text *t) { put_graph(seed, FS_LOOP_GEN_SELDOM, t); }

void fs_nest_gen_gangs(uint64_t seed, fs_text *t) { put_graph(seed, FS_LOOP_GEN_OFTEN, t); }

void fs_nest_gen_syncs(uint64_t seed, fs_text *t) {
  fs_nest_gen(seed, t);
  fs_loop_gen_use_syncs(seed, t);
}

void fs_nest_gen_barriers(uint64_t seed, fs_text *t) {
  fs_nest_gen(seed, t);
  fs_loop_gen_use_barriers(seed, t);
}

/* --- loops whose runs may be joined --- */

static void put_time(nest_gen *g) {
  uint32_t time = 1 + below(g, 9);
  fs_text_printf(g->t, ", time: %u", time);
  if (one_in(g, 6)) {
    fs_text_printf(g->t, ", latency: %u", time + below(g, 9));
  }
  fs_text_puts(g->t, ", args: [");
}

static void put_on_queue(nest_gen *g, const char *name, uint32_t queue) {
  indent(g);
  fs_text_printf(g->t, "- {name: %s%u, on: q%u", name, g->n_ops++, queue);
  put_time(g);
}

static void put_named(nest_gen *g, const char *name) {
  put_on_queue(g, name, below(g, g->n_queues));
}

/* A range of 16 bytes that moves with the loops around. */
static void put_range(nest_gen *g, const char *tag, const char *buffer) {
  fs_text_printf(g->t, "{%s: %s, at: {offset: %u, length: 16", tag, buffer, 16 * below(g, 4));
  put_steps(g, false);
  fs_text_puts(g->t, "}");
}

/* The loop inside: loads into rings of its own, and uses of them. */
static void put_streams(nest_gen *g, uint32_t first, bool sum) {
  uint32_t loop = g->n_loops++, rings = 1 + below(g, 2), use = below(g, g->n_queues);
  indent(g);
  fs_text_printf(g->t, "- loop: l%u\n", loop);
  indent(g);
  fs_text_puts(g->t, "  buffers: {");
  for (uint32_t r = first; r < first + rings; r++) {
    if (one_in(g, 2)) {
      fs_text_printf(g->t, "r%u: {depth: %u}, ", r, 1 + below(g, 8));
    }
  }
  fs_text_puts(g->t, "}\n");
  indent(g);
  uint32_t trip = 1 + below(g, 6);
  bool total = g->total > 0 && first == 0; /* a run is whole turns of its slots */
  fs_text_printf(g->t, "  trip: %u\n", total ? 2 + 2 * (trip % 3) : trip);
  indent(g);
  fs_text_puts(g->t, "  ops:\n");
  g->depth++;
  for (uint32_t r = first; r < first + rings; r++) {
    put_named(g, "load");
    put_range(g, "in", "x");
    fs_text_printf(g->t, ", {out: r%u}]}\n", r);
  }
  for (uint32_t r = first; r < first + rings; r++) {
    put_on_queue(g, "use", one_in(g, 8) ? below(g, g->n_queues) : use);
    fs_text_printf(g->t, "{in: r%u}", r);
    if (rings > 1 && one_in(g, 3)) {
      fs_text_printf(g->t, ", {in: r%u}", 2 * first + 1 - r);
    }
    fs_text_puts(g->t, sum && r == first ? ", {inout: s}" : "");
    if (total) { /* a value that goes on from run to run */
      if (r == first) {
        fs_text_printf(g->t, ", {in: p, distance: %u}, {out: p}", g->total);
      } else if (fs_rng_one_in(&g->more, 2)) {
        fs_text_printf(g->t, fs_rng_one_in(&g->more, 2) ? ", {in: p}" : ", {in: p, distance: 1}");
      }
    }
    fs_text_puts(g->t, ", ");
    put_range(g, one_in(g, 2) ? "inout" : "out_existing", "y");
    fs_text_puts(g->t, "]}\n");
  }
  g->depth--;
}

static void put_tiles(nest_gen *g) {
  bool sum = !one_in(g, 3);
  g->depth++;
  if (sum) {
    put_named(g, "clear");
    fs_text_puts(g->t, "{out: s}]}\n");
  }
  if (g->anew) {
    put_named(g, "anew");
    put_range(g, "in", "x");
    fs_text_puts(g->t, ", {out: p}]}\n");
  }
  put_streams(g, 0, sum);
  if (g->total > 0 && fs_rng_one_in(&g->more, 2)) {
    put_named(g, "seen");
    fs_text_puts(g->t, "{in: p}, ");
    put_range(g, "out_existing", "y");
    fs_text_puts(g->t, "]}\n");
  }
  if (one_in(g, 2)) {
    put_named(g, "other");
    put_range(g, "in", "x");
    fs_text_puts(g->t, ", ");
    put_range(g, "out_existing", "y");
    fs_text_puts(g->t, "]}\n");
  }
  if (one_in(g, 3)) {
    put_streams(g, 2, sum && one_in(g, 2));
  }
  if (sum) {
    put_named(g, "store");
    fs_text_puts(g->t, "{in: s}, ");
    put_range(g, "out_existing", "y");
    fs_text_puts(g->t, "]}\n");
  }
  g->depth--;
}

static void put_tile_loop(nest_gen *g, uint32_t more) {
  indent(g);
  fs_text_printf(g->t, "- loop: l%u\n", g->n_loops++);
  indent(g);
  fs_text_printf(g->t, "  trip: %u\n", 1 + below(g, 5));
  indent(g);
  fs_text_puts(g->t, "  ops:\n");
  if (more > 0) {
    g->depth++;
    put_tile_loop(g, more - 1);
    g->depth--;
  } else {
    put_tiles(g);
  }
}

void fs_nest_gen_joined(uint64_t seed, fs_text *t) {
  nest_gen g = {.rng = {seed}, .more = {seed + UINT64_C(0x5851F42D4C957F2D)}, .t = t};
  g.n_queues = 2 + below(&g, 2);
  g.total = fs_rng_one_in(&g.more, 3) ? 1 + fs_rng_one_in(&g.more, 4) : 0;
  g.anew = g.total > 0 && fs_rng_one_in(&g.more, 2);
  fs_text_puts(t, "fsched: 1\ntarget:\n  queues: [");
  for (uint32_t q = 0; q < g.n_queues; q++) {
    fs_text_printf(t, "%s{name: q%u, class: c%u}", q == 0 ? "" : ", ", q, q);
  }
  fs_text_printf(t,
                 "]\n  memories: [{name: ddr}, {name: cmx, capacity: %uKiB}]\n"
                 "buffers:\n"
                 "  - {name: x, size: 4000, memory: ddr, io: input}\n"
                 "  - {name: y, size: %d, memory: ddr, io: output}\n"
                 "  - {name: z, size: %d, memory: ddr, io: output}\n"
                 "  - {name: s, size: 32, memory: cmx}\n"
                 "  - {name: p, size: 24, memory: cmx}\n",
                 1 << below(&g, 3), FS_LOOP_GEN_Y, FS_LOOP_GEN_Z);
  for (uint32_t r = 0; r < RINGS; r++) {
    fs_text_printf(t, "  - {name: r%u, size: 64, memory: cmx}\n", r);
  }
  fs_text_puts(t, "ops:\n");
  put_named(&g, "init");
  fs_text_puts(t, g.total > 0 ? "{out: y}, {out: p}]}\n" : "{out: y}]}\n");
  put_tile_loop(&g, one_in(&g, 4));
  put_named(&g, "fin");
  fs_text_puts(t, g.total > 0 ? "{inout: y}, {out: z}, {in: p}]}\n" : "{inout: y}, {out: z}]}\n");
}

void fs_nest_gen_joined_barriers(uint64_t seed, fs_text *t) {
  fs_nest_gen_joined(seed, t);
  fs_loop_gen_use_barriers(seed, t);
}
