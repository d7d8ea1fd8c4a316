/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/rolled/nest_draw.h"

enum { DEEPEST = 3, MOST_LEAVES = 8, MOST_RING = 64 };

typedef struct nest_drawer {
  fs_rng rng;
  const fs_nest_style *style;
  fs_nest_draw *n;
  uint32_t leaves, slots_end; /* bytes of the buffer that rings have */
  uint64_t runs;              /* of the loops that are open */
  int64_t last[1 + DEEPEST];  /* the last written range: offset, steps */
  uint32_t path[DEEPEST];     /* loops that are open */
} nest_drawer;

static uint32_t below(nest_drawer *g, uint32_t n) { return fs_rng_below(&g->rng, n); }

static fs_stream_loop_arg *arg_at(fs_nest_draw *n, uint32_t arg) { return &n->loop_arg[arg]; }

/* Another arg of an op; FS_NONE if it has no room. */
static uint32_t add_arg(fs_nest_draw *n, uint32_t op) {
  fs_stream_loop_op *o = &n->loop_op[op];
  return o->n_args == FS_NEST_ARGS ? FS_NONE : o->arg0 + o->n_args++;
}

static uint32_t depth_of(const fs_nest_draw *n, uint32_t loop) {
  uint32_t depth = 0;
  for (; loop != FS_NONE; loop = n->loop[loop].within) {
    depth++;
  }
  return depth;
}

/* The ring of the nearest loop that has one, FS_NONE: none. */
static uint32_t ring_around(const fs_nest_draw *n, uint32_t loop) {
  while (loop != FS_NONE && n->loop[loop].n_rings == 0) {
    loop = n->loop[loop].within;
  }
  return loop == FS_NONE ? FS_NONE : loop;
}

/* Draws where an arg of an op lies, below `size`: steps of the loops from that of depth `from` on.
 */
static void draw_range(nest_drawer *g, uint32_t depth, uint32_t from, int64_t size, bool writes,
                       fs_stream_loop_arg *a, int64_t step[DEEPEST]) {
  static const int32_t steps[] = {0, 4, 8, 8, 8, 16, 12, -8, -8, -4, 64, -64};
  int64_t low = 0, high = 0, offset = g->last[0];
  bool like = below(g, 3) > 0;
  for (uint32_t d = 0; d < depth; d++) {
    step[d] = like && below(g, 8) > 0 ? g->last[1 + d] : steps[below(g, 12)];
    step[d] = like && below(g, 12) == 0 ? -step[d] : step[d];
    step[d] = d < from ? 0 : step[d];
    int64_t way = step[d] * (int64_t)(g->n->loop[g->path[d]].trip - 1);
    if (high - low + (way < 0 ? -way : way) >= size) {
      step[d] = way = 0;
    }
    low += way < 0 ? way : 0;
    high += way > 0 ? way : 0;
  }
  offset = like && below(g, 3) > 0
               ? offset + 4 * (int64_t)below(g, 3) - 4
               : 4 * (int64_t)below(g, (uint32_t)(size - high + low) / 4 + 1) - low;
  int64_t length = 4 + 4 * below(g, 3);
  if (writes && below(g, 6) == 0) {
    length = size / 2;
  }
  if (offset + low < 0 || offset + high >= size) {
    offset = -low;
  }
  length = length < size - offset ? length : size - offset;
  a->offset = (uint64_t)offset;
  a->length = (uint64_t)length;
  if (writes) {
    g->last[0] = offset;
    for (uint32_t d = 0; d < DEEPEST; d++) {
      g->last[1 + d] = d < depth ? step[d] : 0;
    }
  }
}

/* An arg of the op that the loop is, which moves as `step` says; FS_NONE if there is no room.  That
 * of a loop with a ring is the ring's.  The recursion is as deep as loops nest. */
static uint32_t add_own(nest_drawer *g, uint32_t loop, const int64_t *step) {
  fs_nest_draw *n = g->n;
  fs_stream_loop *l = &n->loop[loop];
  if (l->n_rings > 0 || l->within == FS_NONE) {
    return l->n_rings > 0 ? n->ring[l->ring0].arg : 0;
  }
  const fs_stream_loop *around = &n->loop[l->within];
  const fs_stream_ring *r = around->n_rings > 0 ? &n->ring[around->ring0] : NULL;
  if (r != NULL && r->writer == l->op) {
    return n->loop_op[l->op].arg0;
  }
  uint32_t arg = add_arg(n, l->op), own = add_own(g, l->within, step);
  if (arg == FS_NONE || own == FS_NONE) {
    return FS_NONE;
  }
  *arg_at(n, arg) = (fs_stream_loop_arg){.tag = FSCHED_INOUT, .ring = FS_NONE, .own = own};
  arg_at(n, arg)->length = r == NULL ? n->buffer.size : r->size;
  arg_at(n, arg)->step = step[depth_of(n, l->within) - 1];
  if (r != NULL) {
    arg_at(n, arg)->step = 0;
    arg_at(n, arg)->ring = around->ring0;
    arg_at(n, arg)->back = r->entry != 0 ? below(g, 6) : 0;
  }
  return arg;
}

static void put_arg(nest_drawer *g, uint32_t loop, uint32_t op, bool first) {
  fs_nest_draw *n = g->n;
  fs_stream_loop *l = &n->loop[loop];
  uint32_t depth = depth_of(n, loop), around = ring_around(n, loop), draw = below(g, 10);
  uint32_t from = around == FS_NONE ? 0 : depth_of(n, around);
  bool ring = l->n_rings > 0;
  int64_t step[DEEPEST] = {0};
  int64_t size =
      around == FS_NONE ? (int64_t)n->buffer.size : (int64_t)n->ring[n->loop[around].ring0].size;
  fs_stream_loop_arg a = {.tag = first || draw < 3 ? FSCHED_OUT_EXISTING
                                 : draw < 4        ? FSCHED_INOUT
                                                   : FSCHED_IN,
                          .ring = FS_NONE};
  draw_range(g, depth, from, size, fs_tag_writes(a.tag), &a, step);
  if (ring) {
    bool writer = n->ring[l->ring0].writer == op, entry = n->ring[l->ring0].entry != 0;
    if (writer && !entry) {
      return;
    }
    a.ring = l->ring0;
    a.back = entry ? writer + below(g, 3) : 0;
  }
  a.step = ring ? 0 : step[depth - 1];
  a.own = add_own(g, loop, step);
  uint32_t arg = a.own == FS_NONE ? FS_NONE : add_arg(n, op);
  if (arg != FS_NONE) {
    *arg_at(n, arg) = a;
  }
}

static void give_trip(nest_drawer *g, fs_stream_loop *l) {
  const fs_nest_style *style = g->style;
  l->param = FS_NONE;
  l->trip = style->trips[below(g, style->n_trips)];
  while (l->trip > 1 && g->runs * l->trip > style->most_runs) {
    l->trip /= 2;
  }
  l->least = l->most = l->trip;
  if (style->params && below(g, 5) < 3) {
    uint32_t k = below(g, FS_NEST_PARAMS);
    l->param = 1 + k;
    l->least = g->n->least[k];
    l->trip = l->most = g->n->most[k];
  }
}

/* A ring, of which the first op is the writer. */
static void give_ring(nest_drawer *g, uint32_t loop) {
  static const int64_t none[DEEPEST] = {0};
  fs_nest_draw *n = g->n;
  fs_stream_loop *l = &n->loop[loop];
  uint32_t depth = 1 + below(g, 4), size = 8 + 4 * below(g, 3);
  bool outermost = l->within == FS_NONE;
  uint32_t arg = outermost ? 1 : FS_NONE;
  if (!g->style->rings || below(g, 3) > 0 || ring_around(n, loop) != FS_NONE) {
    return;
  }
  arg = outermost ? 1 : add_own(g, loop, none);
  if (arg == FS_NONE) {
    return;
  }
  *(outermost ? &n->arg[1].offset : &arg_at(n, arg)->offset) = below(g, 3) * 4;
  l->ring0 = n->s.n_rings++;
  l->n_rings = 1;
  n->ring[l->ring0] = (fs_stream_ring){.size = size,
                                       .slot = size,
                                       .arg = arg,
                                       .depth = depth,
                                       .writer = l->op0,
                                       .entry = below(g, 2)};
  l->joined = !outermost && n->ring[l->ring0].entry == 0 && below(g, 3) == 0;
}

static fs_stream_loop_arg begins(const fs_nest_draw *n, const fs_stream_loop *l) {
  const fs_stream_ring *r = &n->ring[l->ring0];
  return (fs_stream_loop_arg){
      .tag = FSCHED_OUT, .length = r->size, .ring = l->ring0, .own = r->arg};
}

/* The recursion is as deep as loops nest. */
static void put_loop(nest_drawer *g, uint32_t loop, uint32_t depth) {
  fs_nest_draw *n = g->n;
  fs_stream_loop *l = &n->loop[loop];
  uint64_t runs = g->runs;
  give_trip(g, l);
  g->runs *= l->trip;
  g->path[depth] = loop;
  l->n_ops = 1 + below(g, 3);
  l->op0 = n->s.n_loop_ops;
  n->s.n_loop_ops += l->n_ops;
  for (uint32_t op = l->op0; op < l->op0 + l->n_ops; op++) {
    n->loop_op[op] = (fs_stream_loop_op){.arg0 = op * FS_NEST_ARGS, .loop = FS_NONE};
  }
  give_ring(g, loop);
  for (uint32_t op = l->op0; op < l->op0 + l->n_ops; op++) {
    bool inner = depth + 1 < DEEPEST && n->s.n_loops < FS_NEST_LOOPS && l->joined == 0 &&
                 n->s.n_loop_ops + 3 <= FS_NEST_OPS && below(g, 5) < 3;
    if (l->n_rings > 0 && op == l->op0) {
      *arg_at(n, add_arg(n, op)) = begins(n, l);
    }
    if (inner) {
      uint32_t in = n->s.n_loops++;
      n->loop_op[op].loop = in;
      n->loop[in] = (fs_stream_loop){.within = loop, .op = op, .copies = 1};
      put_loop(g, in, depth + 1);
      continue;
    }
    uint32_t n_args = 1 + below(g, 2);
    for (uint32_t i = 0; i < n_args; i++) {
      put_arg(g, loop, op, g->leaves == 0);
    }
    g->leaves++;
  }
  g->runs = runs;
}

void fs_nest_draw_random(uint64_t seed, const fs_nest_style *style, fs_nest_draw *out) {
  static const char strings[] = "\0\0";
  nest_drawer g = {.rng = {seed}, .style = style, .n = out, .runs = 1};
  *out = (fs_nest_draw){.buffer = {.size = FS_NEST_SIZE}};
  out->buffer.size = 256u << (2 * below(&g, 4));
  for (uint32_t k = 0; k < FS_NEST_PARAMS; k++) {
    out->least[k] = below(&g, 4);
    out->most[k] = out->least[k] + 1 + below(&g, 6);
  }
  out->s = (fs_stream){.loops = out->loop,
                       .n_loops = 1,
                       .loop_ops = out->loop_op,
                       .loop_args = out->loop_arg,
                       .rings = out->ring,
                       .ops = &out->op,
                       .n_ops = 1,
                       .args = out->arg,
                       .n_args = 4,
                       .buffers = &out->buffer,
                       .n_buffers = 1,
                       .strings = strings,
                       .n_strings = sizeof strings};
  out->op = (fs_stream_op){.n_args = 4};
  out->arg[0] = out->arg[1] =
      (fs_stream_arg){.tag = FSCHED_OUT_EXISTING, .length = out->buffer.size};
  for (uint32_t i = 2; i < 4; i++) { /* what is there */
    uint32_t offset = 4 * below(&g, 16);
    out->arg[i] = (fs_stream_arg){.tag = FSCHED_IN, .offset = offset, .length = 4 * below(&g, 32)};
  }
  out->loop[0] = (fs_stream_loop){.within = FS_NONE, .copies = 1};
  put_loop(&g, 0, 0);
  out->s.n_loop_args = out->s.n_loop_ops * FS_NEST_ARGS;
}

void fs_nest_draw_change(fs_nest_draw *n, fs_rng *rng) {
  uint32_t op = fs_rng_below(rng, n->s.n_loop_ops);
  fs_stream_loop_op *o = &n->loop_op[op];
  if (o->n_args == 0 || o->loop != FS_NONE) {
    return;
  }
  fs_stream_loop_arg *a = &n->loop_arg[o->arg0 + fs_rng_below(rng, o->n_args)];
  uint32_t by = 4 * (1 + fs_rng_below(rng, 2));
  bool down = fs_rng_one_in(rng, 2);
  switch (fs_rng_below(rng, 4)) {
    case 0:
      a->offset = down && a->offset >= by ? a->offset - by : a->offset + by;
      break;
    case 1:
      a->length = down && a->length > by ? a->length - by : a->length + by;
      break;
    case 2:
      a->step += a->ring != FS_NONE || fs_tag_begins(a->tag) ? 0 : down ? -(int64_t)by : by;
      break;
    default:
      a->tag = fs_tag_begins(a->tag) ? a->tag : down ? FSCHED_IN : FSCHED_OUT_EXISTING;
  }
}

static bool arg_fits(const fs_nest_draw *n, uint32_t loop, const fs_stream_loop_arg *a) {
  int64_t low = (int64_t)a->offset, high = low, size = (int64_t)n->buffer.size;
  for (;; loop = n->loop[loop].within) {
    const fs_stream_loop *l = &n->loop[loop];
    int64_t way = a->step * (int64_t)(l->trip - 1);
    if (a->ring != FS_NONE) {
      size = (int64_t)n->ring[a->ring].size;
      break;
    }
    low += way < 0 ? way : 0;
    high += way > 0 ? way : 0;
    if (l->within == FS_NONE) {
      break;
    }
    a = &n->loop_arg[a->own];
  }
  return low >= 0 && high < size;
}

bool fs_nest_draw_fits(const fs_nest_draw *n) {
  bool fits = true;
  for (uint32_t loop = 0; loop < n->s.n_loops; loop++) {
    const fs_stream_loop *l = &n->loop[loop];
    for (uint32_t op = l->op0; op < l->op0 + l->n_ops; op++) {
      const fs_stream_loop_op *o = &n->loop_op[op];
      for (uint32_t i = o->arg0; i < o->arg0 + (o->loop == FS_NONE ? o->n_args : 0); i++) {
        const fs_stream_loop_arg *a = &n->loop_arg[i];
        const fs_stream_ring *r = a->ring == FS_NONE ? NULL : &n->ring[a->ring];
        uint64_t size = r == NULL ? n->buffer.size : r->size;
        fits = fits && arg_fits(n, loop, a) && a->offset + a->length <= size &&
               (r == NULL || !fs_tag_begins(a->tag) || (a->offset == 0 && a->length == size));
      }
    }
  }
  return fits;
}

void fs_nest_draw_print(const fs_nest_draw *n, fs_text *t) {
  for (uint32_t i = 2; i < 4; i++) {
    fs_text_printf(t, "there: %u + %u\n", (unsigned)n->arg[i].offset, (unsigned)n->arg[i].length);
  }
  for (uint32_t loop = 0; loop < n->s.n_loops; loop++) {
    const fs_stream_loop *l = &n->loop[loop];
    fs_text_printf(t, "loop %u: %u..%u, param %d, within %d, op %u%s\n", loop, (unsigned)l->least,
                   (unsigned)l->trip, (int)l->param, (int)l->within, l->op,
                   l->joined != 0 ? ", joined" : "");
    for (uint32_t k = l->ring0; k < l->ring0 + l->n_rings; k++) {
      const fs_stream_ring *r = &n->ring[k];
      fs_text_printf(t, "  ring: arg %u, writer %u, size %u, depth %u, entry %u\n", r->arg,
                     r->writer, (unsigned)r->size, r->depth, r->entry);
    }
    for (uint32_t op = l->op0; op < l->op0 + l->n_ops; op++) {
      const fs_stream_loop_op *o = &n->loop_op[op];
      fs_text_printf(t, "  op %u: loop %d\n", op, (int)o->loop);
      for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
        const fs_stream_loop_arg *a = &n->loop_arg[i];
        fs_text_printf(t, "    arg %u: tag %u, %u + %u, step %d, ring %d back %u, own %u\n", i,
                       a->tag, (unsigned)a->offset, (unsigned)a->length, (int)a->step, (int)a->ring,
                       a->back, a->own);
      }
    }
  }
}
