/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/loop_gen.h"

#include <string.h>

enum { MOST_RINGS = 3, MOST_OPS = 5 };

typedef struct loop_gen {
  fs_rng rng, more; /* more: for what came to be drawn later */
  fs_text *t;
  uint32_t n_queues, class_of[3], n_rings, n_ops, trip, size[MOST_RINGS];
  uint32_t writer[MOST_RINGS]; /* per ring: its op */
  bool entry[MOST_RINGS], resource;
  uint32_t in_place[MOST_RINGS]; /* its depth, if values are begun in place of older ones; or 0 */
  uint32_t gangs;                /* one op of so many is one */
} loop_gen;

static uint32_t below(loop_gen *g, uint32_t n) { return fs_rng_below(&g->rng, n); }

static bool one_in(loop_gen *g, uint32_t n) { return fs_rng_one_in(&g->rng, n); }

void fs_loop_gen_view(fs_rng *rng, bool small, fs_text *t) {
  static const char *const narrow[] = {"shape: [3, 8], strides: [24, 1]",
                                       "shape: [2, 3], strides: [40, 8], element: 4",
                                       "shape: [5], strides: [10], element: 10",
                                       "shape: [2, 2, 2], strides: [50, 20, 6], element: 3"};
  static const char *const wide[] = {
      "shape: [5, 16], strides: [100, 1]", "shape: [8, 4], strides: [100, 4], element: 4",
      "shape: [2, 50], strides: [300, 1]", "shape: [3, 2, 5], strides: [200, 100, 4], element: 2"};
  uint32_t which = fs_rng_below(rng, 4);
  fs_text_puts(t, small ? narrow[which] : wide[which]);
}

/* Writes the bytes of a range: so many, or a view. */
static void put_bytes(loop_gen *g, uint32_t length, bool small) {
  if (fs_rng_one_in(&g->more, 4)) {
    fs_loop_gen_view(&g->more, small, g->t);
  } else {
    fs_text_printf(g->t, "length: %u", length);
  }
}

uint32_t fs_loop_gen_gang(fs_rng *rng, uint32_t n_queues, const uint32_t *class_of, fs_text *t) {
  uint32_t c = class_of[fs_rng_below(rng, n_queues)], n = 0;
  for (uint32_t q = 0; q < n_queues; q++) {
    n += class_of[q] == c;
  }
  if (n_queues > 1 && fs_rng_one_in(rng, 3)) {
    uint32_t first = fs_rng_below(rng, n_queues - 1);
    fs_text_printf(t, "on: [q%u, q%u]", first, first + 1);
    return 2;
  }
  n = 1 + fs_rng_below(rng, n);
  fs_text_printf(t, "on: {class: c%u, count: %u}", c, n);
  return n;
}

bool fs_loop_gen_members(fs_rng *rng, uint32_t queues, fs_text *t) {
  bool members = queues > 1 && fs_rng_one_in(rng, 2);
  fs_text_puts(t, members ? ", members: [{args: [" : ", args: [");
  return members;
}

void fs_loop_gen_end(uint32_t members, fs_text *t) {
  for (uint32_t m = 2; m < members; m++) {
    fs_text_printf(t, "]}, {args: [{value: %u}, {out_existing: y, at: {offset: %u, length: 12}}", m,
                   FS_LOOP_GEN_Y - 16 * m);
  }
  fs_text_puts(t, members > 0 ? "]}]}\n" : "]}\n");
}

/* A queue, a class or a gang; how many queues the gang takes. */
static uint32_t put_on(loop_gen *g) {
  uint32_t q = below(g, g->n_queues);
  bool queue = one_in(g, 2);
  if (fs_rng_one_in(&g->more, g->gangs)) {
    return fs_loop_gen_gang(&g->more, g->n_queues, g->class_of, g->t);
  }
  fs_text_printf(g->t, queue ? "on: q%u" : "on: c%u", queue ? q : g->class_of[q]);
  return 0;
}

static void put_target(loop_gen *g) {
  static const uint32_t capacity[] = {4, 16, 64};
  g->n_queues = 1 + below(g, 3);
  g->resource = one_in(g, 3);
  fs_text_puts(g->t, "fsched: 1\ntarget:\n  queues: [");
  for (uint32_t q = 0; q < g->n_queues; q++) {
    g->class_of[q] = below(g, 2);
    fs_text_printf(g->t, "%s{name: q%u, class: c%u}", q == 0 ? "" : ", ", q, g->class_of[q]);
  }
  fs_text_printf(g->t, "]\n  memories: [{name: ddr}, {name: cmx, capacity: %uKiB}]\n",
                 capacity[below(g, 3)]);
  fs_text_puts(g->t, g->resource ? "  resources: [{name: L, capacity: 4}]\n" : "");
  if (fs_rng_one_in(&g->more, 6)) {
    fs_text_printf(g->t, "  concurrency: %u\n", 1 + fs_rng_below(&g->more, 3));
  }
}

static void put_buffers(loop_gen *g) {
  static const uint32_t size[] = {8, 64, 100};
  g->n_rings = 1 + below(g, MOST_RINGS);
  g->n_ops = 1 + below(g, MOST_OPS);
  fs_text_printf(g->t,
                 "buffers:\n"
                 "  - {name: x, size: 4000, memory: ddr, io: input}\n"
                 "  - {name: y, size: %d, memory: ddr, io: output}\n"
                 "  - {name: z, size: %d, memory: ddr, io: output}\n",
                 FS_LOOP_GEN_Y, FS_LOOP_GEN_Z);
  for (uint32_t r = 0; r < g->n_rings; r++) {
    g->entry[r] = one_in(g, 2);
    g->writer[r] = below(g, g->n_ops);
    g->size[r] = size[below(g, 3)];
    fs_text_printf(g->t, "  - {name: r%u, size: %u, memory: cmx}\n", r, g->size[r]);
  }
}

static void put_before(loop_gen *g) {
  fs_text_puts(g->t, "ops:\n");
  for (uint32_t r = 0; r < g->n_rings; r++) {
    if (g->entry[r]) {
      fs_text_printf(g->t, "  - {name: pre%u, ", r);
      put_on(g);
      fs_text_printf(g->t, ", args: [{out: r%u}]}\n", r);
    }
  }
  fs_text_puts(g->t, "  - {name: init, ");
  put_on(g);
  fs_text_puts(g->t, ", args: [{out: y}]}\n");
}

static void put_loop(loop_gen *g) {
  static const uint32_t trip[] = {0, 1, 2, 2, 3, 5, 8, 13};
  bool any = false;
  g->trip = trip[below(g, 8)];
  fs_text_printf(g->t, "  - loop: lp\n    trip: %u\n    buffers: {", g->trip);
  for (uint32_t r = 0; r < g->n_rings; r++) {
    if (!one_in(g, 3)) {
      uint32_t depth = 1 + below(g, 5);
      fs_text_printf(g->t, "%sr%u: {", any ? ", " : "", r);
      if (g->entry[r] && fs_rng_one_in(&g->more, 4)) {
        g->in_place[r] = 1 + fs_rng_below(&g->more, 3);
        fs_text_printf(g->t, "depth: %u}", g->in_place[r]);
        any = true;
        continue;
      }
      if (one_in(g, 4)) {
        fs_text_puts(g->t, "depth: auto");
      } else {
        fs_text_printf(g->t, "depth: %u", depth);
      }
      if (one_in(g, 4)) {
        fs_text_printf(g->t, ", prefetch: %u", below(g, depth));
      }
      if (one_in(g, 3)) {
        fs_text_printf(g->t, ", every: %u", 1 + below(g, depth));
      }
      fs_text_puts(g->t, "}");
      any = true;
    }
  }
  fs_text_puts(g->t, "}\n    ops:\n");
}

static const char *comma(bool *any) {
  const char *text = *any ? ", " : "";
  *any = true;
  return text;
}

/* An op's args on a ring; whether it writes. */
static bool put_ring_args(loop_gen *g, uint32_t op, uint32_t r, bool *any) {
  if (g->writer[r] == op) {
    if (g->in_place[r] > 0) {
      fs_text_printf(g->t, "%s{in: r%u, distance: %u}", comma(any), r, g->in_place[r]);
    } else if (g->entry[r] && one_in(g, 3)) {
      fs_text_printf(g->t, "%s{in: r%u, distance: %u}", comma(any), r, 1 + below(g, 2));
    }
    fs_text_printf(g->t, "%s{out: r%u}", comma(any), r);
    return true;
  }
  if (one_in(g, 2)) {
    return false;
  }
  if (g->writer[r] < op && !(g->entry[r] && one_in(g, 3))) {
    bool writes = one_in(g, 3);
    fs_text_printf(g->t, "%s{%s: r%u", comma(any), writes ? "inout" : "in", r);
    if (g->size[r] == 100 && fs_rng_one_in(&g->more, 3)) {
      fs_text_printf(g->t, ", at: {offset: %u, ", fs_rng_below(&g->more, 10));
      fs_loop_gen_view(&g->more, true, g->t);
      fs_text_puts(g->t, "}");
    }
    fs_text_puts(g->t, "}");
    return writes;
  }
  if (g->entry[r]) {
    uint32_t distance = below(g, 3);
    fs_text_printf(g->t, distance == 0 ? "%s{in: r%u}" : "%s{in: r%u, distance: %u}", comma(any), r,
                   distance);
  }
  return false;
}

/* Its args on buffers from outside; whether it writes. */
static bool put_range_args(loop_gen *g, bool *any) {
  static const char *const tag[] = {"inout", "out_existing", "in"};
  static const int32_t step[] = {0, 16, 100, 200, -50};
  if (fs_rng_one_in(&g->more, 12)) {
    fs_text_printf(g->t, "%s{no_dep: x}", comma(any));
  }
  if (one_in(g, 2)) {
    fs_text_printf(g->t, "%s{in: x, at: {offset: %u, ", comma(any), 1500 * below(g, 2));
    put_bytes(g, 8 + 92 * below(g, 2), true);
    fs_text_printf(g->t, ", step: [%u]}}", 100 * below(g, 3));
  }
  if (g->trip == 1 && fs_rng_one_in(&g->more, 4)) { /* of which there was none */
    fs_text_printf(g->t, "%s{in: y, distance: %u}", comma(any), 1 + fs_rng_below(&g->more, 3));
  }
  if (one_in(g, 2)) {
    return false;
  }
  uint32_t which = below(g, 3);
  int32_t s = step[below(g, 5)];
  if (s < 0 && fs_rng_one_in(&g->more, 3)) { /* the end of y cuts it off at first */
    fs_text_printf(g->t, "%s{%s: y, at: {offset: %u, length: %u, step: [%d]}}", comma(any),
                   tag[which], FS_LOOP_GEN_Y - 90, 16 + 84 * fs_rng_below(&g->more, 3), s);
    return which < 2;
  }
  fs_text_printf(g->t, "%s{%s: y, at: {offset: %u, ", comma(any), tag[which],
                 s < 0 ? 1000 : 64 * below(g, 2));
  put_bytes(g, 16 + 84 * below(g, 3), false);
  fs_text_printf(g->t, ", step: [%d]}}", s);
  return which < 2;
}

static void put_extras(loop_gen *g, uint32_t op) {
  uint32_t time = below(g, 10);
  bool any = false;
  for (uint32_t r = 0; r < g->n_rings; r++) {
    if (g->writer[r] == op && g->in_place[r] > 0) {
      fs_text_printf(g->t, "%sr%u: r%u", any ? ", " : ", inplace: {", r, r);
      any = true;
    }
  }
  fs_text_puts(g->t, any ? "}" : "");
  fs_text_printf(g->t, ", time: %u", time);
  if (one_in(g, 3)) {
    fs_text_printf(g->t, ", latency: %u", time + below(g, 10));
  }
  if (g->resource && one_in(g, 2)) {
    fs_text_printf(g->t, ", uses: {L: %u}", one_in(g, 50) ? 5 : 1 + below(g, 4));
  }
  if (one_in(g, 6)) {
    fs_text_printf(g->t, ", scratch: {cmx: %u}", one_in(g, 30) ? 70000 : 8 + 32 * below(g, 2));
  }
  if (op > 0 && one_in(g, 3)) {
    fs_text_printf(g->t, ", after: [{op: o%u, distance: %u}]", below(g, op), below(g, 3));
  }
}

static void put_op(loop_gen *g, uint32_t op) {
  bool any = false, writes = false;
  fs_text_printf(g->t, "      - {name: o%u, ", op);
  uint32_t queues = put_on(g);
  put_extras(g, op);
  if (g->gangs < FS_LOOP_GEN_SELDOM && fs_rng_one_in(&g->more, 3)) {
    fs_text_puts(g->t, ", kernel: {builtin: mix, params: \"070809\"}");
  }
  bool members = fs_loop_gen_members(&g->more, queues, g->t);
  for (uint32_t r = 0; r < g->n_rings; r++) {
    writes |= put_ring_args(g, op, r, &any);
  }
  if (members) {
    fs_text_puts(g->t, "]}, {args: [");
    any = false;
  }
  writes |= put_range_args(g, &any);
  if (!writes) {
    fs_text_printf(g->t, "%s{out_existing: z, at: {offset: %u, length: 8}}", comma(&any), 8 * op);
  }
  fs_loop_gen_end(members ? queues : 0, g->t);
}

static void put_behind(loop_gen *g) {
  for (uint32_t r = 0; r < g->n_rings; r++) {
    if (one_in(g, 2) && (g->trip > 0 || g->entry[r])) {
      fs_text_printf(g->t, "  - {name: post%u, ", r);
      put_on(g);
      fs_text_printf(g->t,
                     ", args: [{in: r%u}, {out_existing: z, at: {offset: 40, length: 8}}]%s}\n", r,
                     one_in(g, 5) ? ", after: [lp]" : "");
    }
  }
  fs_text_puts(g->t, "  - {name: fin, ");
  put_on(g);
  fs_text_puts(g->t, ", args: [{inout: y}]}\n");
}

static void put_graph(uint64_t seed, uint32_t gangs, fs_text *t) {
  loop_gen g = {
      .rng = {seed}, .more = {seed + UINT64_C(0x5851F42D4C957F2D)}, .t = t, .gangs = gangs};
  put_target(&g);
  put_buffers(&g);
  put_before(&g);
  put_loop(&g);
  for (uint32_t op = 0; op < g.n_ops; op++) {
    put_op(&g, op);
  }
  put_behind(&g);
}

void fs_loop_gen(uint64_t seed, fs_text *t) { put_graph(seed, FS_LOOP_GEN_SELDOM, t); }

void fs_loop_gen_gangs(uint64_t seed, fs_text *t) { put_graph(seed, FS_LOOP_GEN_OFTEN, t); }

void fs_loop_gen_use_syncs(uint64_t seed, fs_text *t) {
  static const char queue[] = "{name: q", target[] = "target:\n";
  fs_text out;
  fs_rng rng = {seed};
  fs_text_add(t, "", 1);
  fs_text_init(&out, t->ctx);
  for (const char *p = t->failed ? "" : t->at; *p != '\0'; p++) {
    if (strncmp(p, queue, sizeof queue - 1) == 0 && fs_rng_one_in(&rng, 2)) {
      fs_text_puts(&out, "{counting: true, ");
      p++;
    } else if (strncmp(p, target, sizeof target - 1) == 0) {
      fs_text_puts(&out, "target:\n  sync: block\n");
      p += sizeof target - 1;
    }
    fs_text_add(&out, p, 1);
  }
  out.failed = out.failed || t->failed;
  fs_text_drop(t);
  *t = out;
}

void fs_loop_gen_syncs(uint64_t seed, fs_text *t) {
  fs_loop_gen(seed, t);
  fs_loop_gen_use_syncs(seed, t);
}

void fs_loop_gen_use_barriers(uint64_t seed, fs_text *t) {
  static const char target[] = "target:\n";
  fs_text out;
  fs_text_add(t, "", 1);
  fs_text_init(&out, t->ctx);
  for (const char *p = t->failed ? "" : t->at; *p != '\0'; p++) {
    if (strncmp(p, target, sizeof target - 1) == 0) {
      fs_text_printf(&out, "target:\n  sync: barrier\n  barriers: {count: auto%s}\n",
                     seed % 3 == 0   ? ""
                     : seed % 3 == 1 ? ", slots: 4"
                                     : ", slots: 256");
      p += sizeof target - 1;
    }
    fs_text_add(&out, p, 1);
  }
  out.failed = out.failed || t->failed;
  fs_text_drop(t);
  *t = out;
}

void fs_loop_gen_barriers(uint64_t seed, fs_text *t) {
  fs_loop_gen(seed, t);
  fs_loop_gen_use_barriers(seed, t);
}

void fs_loop_gen_keep(uint64_t seed, fs_text *t) {
  static const char memory[] = ", memory: cmx}", cmx[] = "{name: cmx, ";
  fs_text out;
  fs_rng rng = {seed};
  fs_text_add(t, "", 1);
  fs_text_init(&out, t->ctx);
  for (const char *p = t->failed ? "" : t->at; *p != '\0'; p++) {
    if (strncmp(p, memory, sizeof memory - 1) == 0) {
      static const char *const io[] = {"", "state", "input", "output", "output"};
      uint32_t kind = fs_rng_below(&rng, 5);
      fs_text_printf(&out, kind == 0 ? ", memory: cmx" : ", memory: cmx, io: %s", io[kind]);
      p += sizeof memory - 2;
    }
    if (strncmp(p, cmx, sizeof cmx - 1) == 0 && fs_rng_one_in(&rng, 3)) {
      fs_text_puts(&out, "{name: cmx, backing: ddr, spill: {on: q0, write: {rate: 16}}, ");
      p += sizeof cmx - 1;
    }
    fs_text_add(&out, p, 1);
  }
  out.failed = out.failed || t->failed;
  fs_text_drop(t);
  *t = out;
}
