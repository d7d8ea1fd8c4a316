/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/rolled/bodies.h"

enum { RINGS = 3, OPS = 5, QUEUES = 3 };

typedef struct body_drawer {
  fs_rng rng;
  fs_body_kind kind;
  fs_text *out;
  uint32_t n_queues, n_rings, n_ops, trip;
  bool resource, entry[RINGS];
  uint32_t writer[RINGS];
  int step; /* of y, where all args move alike */
} body_drawer;

static uint32_t below(body_drawer *d, uint32_t n) { return fs_rng_below(&d->rng, n); }
static bool percent(body_drawer *d, uint32_t n) { return below(d, 100) < n; }
#define ONE_OF(d, ...) \
  ((const int[]){__VA_ARGS__}[below(d, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))])

/* A queue, or a class of them. */
static void put_queue(body_drawer *d) {
  if (percent(d, 40)) {
    fs_text_puts(d->out, "c");
  } else {
    fs_text_printf(d->out, "q%u", below(d, d->n_queues));
  }
}

static void put_target(body_drawer *d) {
  fs_text_puts(d->out, "fsched: 1\ntarget: {queues: [");
  for (uint32_t q = 0; q < d->n_queues; q++) {
    fs_text_printf(d->out, "%s{name: q%u, class: c%s}", q > 0 ? ", " : "", q,
                   d->kind.block && percent(d, 50) ? ", counting: true" : "");
  }
  fs_text_printf(d->out, "], memories: [{name: ddr}, {name: cmx, capacity: %dKiB}]%s%s}\n",
                 ONE_OF(d, 4, 16, 64), d->resource ? ", resources: [{name: L, capacity: 4}]" : "",
                 d->kind.block ? ", sync: block" : "");
}

static void put_buffers(body_drawer *d) {
  fs_text_puts(d->out,
               "buffers:\n  - {name: x, size: 4000, memory: ddr, io: input}\n"
               "  - {name: y, size: 4000, memory: ddr, io: output}\n"
               "  - {name: z, size: 64, memory: ddr, io: output}\n"
               "  - {name: w, size: 4000, memory: ddr}\n");
  for (uint32_t k = 0; k < d->n_rings; k++) {
    fs_text_printf(d->out, "  - {name: r%u, size: %d, memory: cmx}\n", k, ONE_OF(d, 8, 64, 100));
  }
}

static void put_before(body_drawer *d) {
  fs_text_puts(d->out, "ops:\n  - {name: init, on: ");
  put_queue(d);
  fs_text_puts(d->out, ", args: [{out: y}]}\n");
  for (uint32_t k = 0; k < d->n_rings; k++) {
    if (d->entry[k]) {
      fs_text_printf(d->out, "  - {name: pre%u, on: ", k);
      put_queue(d);
      fs_text_printf(d->out, ", args: [{out: r%u}]}\n", k);
    }
  }
}

static bool put_ring_arg(body_drawer *d, uint32_t op, uint32_t k) {
  if (d->writer[k] == op) {
    if (d->entry[k] && percent(d, 40)) {
      fs_text_printf(d->out, "{in: r%u, distance: %u}, ", k, 1 + below(d, 2));
    }
    fs_text_printf(d->out, "{out: r%u}, ", k);
    return true;
  }
  if (percent(d, 50)) {
    return false;
  }
  bool behind = d->writer[k] < op && !(d->entry[k] && percent(d, 30)), change = percent(d, 40);
  if (behind || (d->entry[k] && d->writer[k] > op && change)) {
    fs_text_printf(d->out, "{%s: r%u}, ", change ? "inout" : "in", k);
    return change;
  }
  if (d->entry[k]) {
    fs_text_printf(d->out, "{in: r%u, distance: %u}, ", k, 1 + below(d, 2));
  }
  return false;
}

static bool put_moving_args(body_drawer *d) {
  static const char *const tag[] = {"inout", "out_existing", "in"};
  bool written = false;
  if (percent(d, 50)) {
    fs_text_printf(d->out, "{in: x, at: {offset: %d, length: %d, step: [%d]}}, ",
                   ONE_OF(d, 0, 1500), ONE_OF(d, 8, 100, 200), ONE_OF(d, 0, 8, 100, 200));
  }
  if (percent(d, 60)) {
    uint32_t k = below(d, 3);
    int step = d->kind.unlike ? ONE_OF(d, 0, 16, 100, 200, -50) : d->step;
    fs_text_printf(d->out, "{%s: y, at: {offset: %d, length: %d, step: [%d]}}, ", tag[k],
                   step < 0 ? ONE_OF(d, 1000, 1040, 1100) : ONE_OF(d, 0, 0, 64, 200, 300),
                   ONE_OF(d, 16, 100, 200), step);
    written = k < 2;
  }
  return written;
}

/* A buffer that the loop alone writes before it reads. */
static bool put_own_arg(body_drawer *d, uint32_t op) {
  if (op == 0) {
    fs_text_puts(d->out, "{out_existing: w, at: {offset: 0, length: 16, step: [16]}}, ");
    return true;
  }
  if (percent(d, 30)) {
    fs_text_printf(d->out, "{in: w, at: {offset: 0, length: %d, step: [%d]}}, ", ONE_OF(d, 8, 16),
                   d->kind.unlike ? ONE_OF(d, 0, 16) : 16);
  }
  return false;
}

static void put_op(body_drawer *d, uint32_t op) {
  uint32_t time = below(d, 10);
  bool written = false;
  fs_text_printf(d->out, "      - {name: o%u, time: %u", op, time);
  if (!d->kind.block && percent(d, 30)) {
    fs_text_printf(d->out, ", latency: %u", time + below(d, 10));
  }
  if (d->resource && percent(d, 50)) {
    fs_text_printf(d->out, ", uses: {L: %u}", 1 + below(d, 4));
  }
  if (percent(d, 15)) {
    fs_text_printf(d->out, ", scratch: {cmx: %d}", ONE_OF(d, 8, 40));
  }
  if (op > 0 && percent(d, 30)) {
    fs_text_printf(d->out, ", after: [{op: o%u, distance: %u}]", below(d, op), below(d, 3));
  }
  fs_text_puts(d->out, ", on: ");
  put_queue(d);
  fs_text_puts(d->out, ", args: [");
  for (uint32_t k = 0; k < d->n_rings; k++) {
    written |= put_ring_arg(d, op, k);
  }
  written |= put_moving_args(d);
  written |= put_own_arg(d, op);
  if (!written) {
    fs_text_printf(d->out, "{out_existing: z, at: {offset: %u, length: 8}}", 8 * op);
  }
  fs_text_puts(d->out, "]}\n");
}

static void put_loop(body_drawer *d) {
  fs_text_printf(d->out, "  - loop: lp\n    trip: %u\n    buffers: {", d->trip);
  for (uint32_t k = 0, n = 0; k < d->n_rings; k++) {
    if (percent(d, 50)) {
      fs_text_printf(d->out, "%sr%u: {depth: %u}", n++ > 0 ? ", " : "", k, 1 + below(d, 5));
    }
  }
  fs_text_puts(d->out, "}\n    ops:\n");
  for (uint32_t op = 0; op < d->n_ops; op++) {
    put_op(d, op);
  }
}

static void put_behind(body_drawer *d) {
  fs_text_puts(d->out, "  - {name: last, on: ");
  put_queue(d);
  fs_text_puts(d->out, ", args: [");
  for (uint32_t k = 0; k < d->n_rings; k++) {
    if (percent(d, 60)) {
      fs_text_printf(d->out, "{in: r%u}, ", k);
    }
  }
  fs_text_puts(d->out, "{inout: y}, {out_existing: z}]}\n");
}

void fs_draw_bodies(uint64_t seed, fs_body_kind kind, fs_text *out) {
  assert(out->n == 0);
  body_drawer d = {.rng = {seed}, .kind = kind, .out = out};
  d.n_queues = 1 + below(&d, QUEUES);
  d.n_rings = 1 + below(&d, RINGS);
  d.n_ops = 1 + below(&d, OPS);
  d.trip = kind.trip > 0 ? kind.trip : (uint32_t)ONE_OF(&d, 1, 2, 3, 5, 6, 8, 11, 12);
  d.resource = percent(&d, 30);
  d.step = ONE_OF(&d, 0, 16, 100, 200, -50);
  for (uint32_t k = 0; k < d.n_rings; k++) {
    d.entry[k] = percent(&d, 50);
    d.writer[k] = below(&d, d.n_ops);
  }
  put_target(&d);
  put_buffers(&d);
  put_before(&d);
  put_loop(&d);
  put_behind(&d);
}
