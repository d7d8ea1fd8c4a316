/* SPDX-License-Identifier: Apache-2.0 */
/* The places of a body lie in those of the loop: at the offset of each arg, ring or scratch. */
#include "codegen/loops.h"

#include <stdlib.h>

#include "model/stream/views.h"

typedef struct loop_writer {
  const fsched_graph *g;
  fs_draft *d;
  const fs_rolled *x;
  const fs_stream_loop *around; /* the loop that it is in, or NULL */
  const fs_stream_place *own;   /* the places of the op that it is */
  uint32_t n_own;
  uint32_t op0, arg0, command0; /* where the loop's records begin */
  uint32_t n_queues, n_ops, n_afters, n_args, n_members, n_views, n_rings, n_commands, n_waits,
      n_places, n_stops, n_guards, n_producers, n_checks; /* so far */
  uint32_t physical;                                      /* the next barrier of the loop */
} loop_writer;

static bool has_place(const fsched_graph *g, uint32_t memory) {
  const fs_memory *m = &g->target.memory[memory];
  return fs_memory_bounded(m) && fs_placement_has_addresses(m->placement);
}

/* The number of places of a command. */
static uint32_t count_places(const fsched_graph *g, const fs_rolled *x,
                             const fs_rolled_command *k) {
  const fs_body_op *op = &x->body[k->member];
  uint32_t n = 0;
  for (uint32_t a = op->arg0; a < op->arg0 + op->n_args; a++) {
    n += x->arg[a].buffer != FS_NONE;
  }
  for (uint32_t i = op->scratch0; i < op->scratch0 + op->n_scratches; i++) {
    n += x->scratch[i].copy == k->copy && has_place(g, x->scratch[i].memory);
  }
  for (uint32_t i = op->lane0; i < op->lane0 + op->n_lanes; i++) {
    n += x->lane[i].copy == k->copy;
  }
  return n;
}

void fs_loops_count(const fsched_graph *g, fs_draft *d) {
  d->n_params = g->n_params;
  d->n_loop_races = g->n_loop_races;
  d->n_loops = g->n_rolled;
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    const fs_rolled *x = &g->rolled[l];
    d->n_loop_queues += x->loop.n_queues;
    d->n_loop_ops += x->n_ops;
    d->n_loop_afters += x->n_afters;
    d->n_loop_args += x->n_args;
    for (uint32_t m = 0; m < x->n_ops; m++) {
      d->n_loop_members += x->body[m].n_members;
    }
    for (uint32_t a = 0; a < x->n_args; a++) {
      d->n_loop_views += x->arg[a].view != FS_NONE;
    }
    d->n_rings += x->loop.n_rings;
    d->n_loop_commands += x->loop.n_commands;
    d->n_loop_waits += x->loop.n_waits;
    d->n_loop_stops += x->loop.n_stops;
    d->n_guards += x->loop.n_guards;
    d->n_guard_checks += x->loop.n_checks;
    for (uint32_t i = 0; i < x->loop.n_guards; i++) {
      d->n_producers += x->loop.guard[i].n_producers;
    }
    for (uint32_t c = 0; c < x->loop.n_commands; c++) {
      d->n_loop_places += count_places(g, x, &x->loop.command[c]);
    }
  }
}

uint64_t fs_loops_string_bytes(const fsched_graph *g) {
  uint64_t bytes = 0;
  for (uint32_t p = 0; p < g->n_params; p++) {
    bytes += fs_string_bytes(g->param[p].name);
  }
  for (uint32_t i = 0; i < g->n_loop_races; i++) {
    const fs_graph_race *r = &g->loop_race[i];
    bytes += fs_string_bytes(r->op_a) + fs_string_bytes(r->op_b) + fs_string_bytes(r->buffer);
  }
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    for (uint32_t m = 0; m < g->rolled[l].n_ops; m++) {
      bytes += fs_string_bytes(g->rolled[l].body[m].name);
    }
  }
  return bytes;
}

/* The args of the op that the loop is begin here: in args, or in loop_args. */
static uint32_t own_arg0(const loop_writer *w) {
  return w->around == NULL ? w->d->ops[w->x->op].arg0
                           : w->d->loop_ops[w->around->op0 + w->x->op].arg0;
}

static uint64_t own_offset(const loop_writer *w, uint32_t arg) {
  return w->around == NULL ? w->d->args[arg].offset : w->d->loop_args[arg].offset;
}

/* The place of the loop for an arg of its own. */
static const fs_stream_place *own_place(const loop_writer *w, uint32_t arg) {
  const fs_stream_place *p = w->own;
  while (!fs_space_has_bytes(p->space) || p->version == FS_NONE || p->arg != arg) {
    p++;
  }
  assert(p < w->own + w->n_own);
  return p;
}

/* The place of the loop's scratch in a memory. */
static const fs_stream_place *own_scratch(const loop_writer *w, uint32_t memory) {
  const fs_stream_place *p = w->own;
  while (!fs_space_has_bytes(p->space) || p->version != FS_NONE || p->index != memory ||
         p->mode != FS_MODE_W) {
    p++;
  }
  assert(p < w->own + w->n_own);
  return p;
}

static void write_place(loop_writer *w, fs_stream_place p) { w->d->loop_places[w->n_places++] = p; }

/* Where the bytes of an arg end at the latest: with its buffer, or with a version of the ring that
 * it moves with. */
static uint64_t limit_of(const fsched_graph *g, const fs_rolled *x, const fs_body_arg *a) {
  while (a->ring == FS_NONE && x->within != FS_NONE) {
    const fs_rolled *around = &g->rolled[x->within];
    a = &around->arg[around->body[x->op].arg0 + a->own];
    x = around;
  }
  return a->ring == FS_NONE ? g->buffer_size[a->buffer] : x->slots[a->ring].size;
}

static void write_arg_places(loop_writer *w, const fs_body_op *op) {
  for (uint32_t i = op->arg0; i < op->arg0 + op->n_args; i++) {
    const fs_body_arg *a = &w->x->arg[i];
    if (a->buffer == FS_NONE) {
      continue;
    }
    uint32_t own = own_arg0(w) + a->own;
    const fs_stream_place *p = own_place(w, own);
    uint64_t begin = a->ring == FS_NONE ? own_offset(w, own) : 0;
    uint64_t left = limit_of(w->g, w->x, a) - a->offset;
    write_place(w, (fs_stream_place){.address = p->address + a->offset - begin,
                                     .size = fs_min(a->length, left),
                                     .index = p->index,
                                     .version = p->version,
                                     .arg = w->arg0 + i,
                                     .space = FS_SPACE_MEMORY,
                                     .mode = fs_tag_mode(a->tag)});
  }
}

static void write_other_places(loop_writer *w, const fs_body_op *op, uint32_t copy) {
  for (uint32_t i = op->scratch0; i < op->scratch0 + op->n_scratches; i++) {
    const fs_body_scratch *s = &w->x->scratch[i];
    if (s->copy == copy && has_place(w->g, s->memory)) {
      write_place(w, (fs_stream_place){.address = own_scratch(w, s->memory)->address + s->offset,
                                       .size = s->size,
                                       .index = s->memory,
                                       .version = FS_NONE,
                                       .arg = FS_NONE,
                                       .space = FS_SPACE_MEMORY,
                                       .mode = FS_MODE_W});
    }
  }
  for (uint32_t i = op->lane0; i < op->lane0 + op->n_lanes; i++) {
    const fs_body_lane *lane = &w->x->lane[i];
    if (lane->copy == copy) {
      write_place(w, (fs_stream_place){.address = lane->first,
                                       .size = lane->n,
                                       .index = lane->resource,
                                       .version = FS_NONE,
                                       .arg = FS_NONE,
                                       .space = FS_SPACE_RESOURCE,
                                       .mode = FS_MODE_W});
    }
  }
}

static void write_op(loop_writer *w, const fs_body_op *op) {
  w->d->loop_ops[w->n_ops++] = (fs_stream_loop_op){.time = op->time,
                                                   .latency = op->latency,
                                                   .name = fs_draft_string(w->d, op->name),
                                                   .kernel = op->kernel,
                                                   .arg0 = w->n_args,
                                                   .n_args = op->n_args,
                                                   .after0 = w->n_afters,
                                                   .n_afters = op->n_afters,
                                                   .loop = op->loop,
                                                   .slots = op->slots,
                                                   .member0 = w->n_members,
                                                   .n_members = op->n_members,
                                                   .by_class = op->by_class};
  for (uint32_t m = 0, i = 0; m < op->n_members; m++) {
    fs_stream_member *to = &w->d->loop_members[w->n_members++];
    for (to->arg0 = w->n_args + i; i < op->n_args && w->x->arg[op->arg0 + i].member == m;) {
      i++;
    }
    to->n_args = w->n_args + i - to->arg0;
  }
  for (uint32_t i = op->after0; i < op->after0 + op->n_afters; i++) {
    w->d->loop_afters[w->n_afters++] =
        (fs_stream_loop_after){w->op0 + w->x->after[i].op, w->x->after[i].distance};
  }
  for (uint32_t i = op->arg0; i < op->arg0 + op->n_args; i++) {
    const fs_body_arg *a = &w->x->arg[i];
    bool ring = a->ring != FS_NONE;
    if (a->view != FS_NONE) {
      w->d->loop_views[w->n_views++] = fs_stream_view_make(&w->g->view[a->view], w->n_args);
    }
    w->d->loop_args[w->n_args++] =
        (fs_stream_loop_arg){.offset = a->offset,
                             .length = a->length,
                             .step = a->step,
                             .value = a->value,
                             .tag = a->tag,
                             .buffer = a->buffer,
                             .ring = ring ? w->n_rings + a->ring : FS_NONE,
                             .back = a->back,
                             .own = a->buffer == FS_NONE ? FS_NONE : own_arg0(w) + a->own,
                             .begins = a->begins};
  }
}

static void write_rings(loop_writer *w) {
  for (uint32_t i = 0; i < w->x->loop.n_rings; i++) {
    const fs_body_slots *s = &w->x->slots[i];
    const fs_rolled_ring *ring = &w->x->loop.ring[i];
    uint32_t entry = s->leaves    ? FS_RING_LEAVES
                     : !s->entry  ? FS_RING_EMPTY
                     : s->returns ? FS_RING_RETURNS
                                  : FS_RING_ENTRY;
    w->d->rings[w->n_rings + i] = (fs_stream_ring){.size = s->size,
                                                   .slot = s->slot,
                                                   .arg = own_arg0(w) + s->own,
                                                   .writer = w->op0 + ring->writer,
                                                   .depth = ring->depth,
                                                   .entry = entry};
  }
}

static int by_target(const void *a, const void *b) {
  const fs_stream_loop_wait *x = a, *y = b;
  return x->command != y->command    ? (x->command < y->command ? -1 : 1)
         : x->distance < y->distance ? -1
                                     : x->distance > y->distance;
}

static void write_command(loop_writer *w, const fs_rolled_command *k) {
  const fs_rolled_loop *loop = &w->x->loop;
  fs_stream_loop_command *to = &w->d->loop_commands[w->n_commands++];
  *to = (fs_stream_loop_command){.op = w->op0 + k->member,
                                 .copy = k->copy,
                                 .shift = k->shift,
                                 .wait0 = w->n_waits,
                                 .n_waits = k->n_waits,
                                 .place0 = w->n_places,
                                 .issue = k->issue,
                                 .check0 = w->n_checks,
                                 .n_checks = k->n_checks};
  for (uint32_t i = k->wait0; i < k->wait0 + k->n_waits; i++) {
    w->d->loop_waits[w->n_waits++] =
        (fs_stream_loop_wait){w->command0 + loop->wait[i].command, loop->wait[i].distance};
  }
  if (k->n_waits > 1) {
    qsort(w->d->loop_waits + to->wait0, k->n_waits, sizeof *w->d->loop_waits, by_target);
  }
  for (uint32_t i = k->check0; i < k->check0 + k->n_checks; i++) {
    w->d->guard_checks[w->n_checks++] =
        (fs_stream_guard_check){w->n_guards + loop->check[i].guard, loop->check[i].distance};
  }
  write_arg_places(w, &w->x->body[k->member]);
  write_other_places(w, &w->x->body[k->member], k->copy);
  to->n_places = w->n_places - to->place0;
}

static void write_queues(loop_writer *w) {
  const fs_rolled_loop *loop = &w->x->loop;
  for (uint32_t q = 0; q < loop->n_queues; q++) {
    uint32_t n = loop->command0[q + 1] - loop->command0[q];
    w->d->loop_queues[w->n_queues++] = (fs_stream_loop_queue){loop->queue[q], w->n_commands, n, 0};
    for (uint32_t c = loop->command0[q]; c < loop->command0[q + 1]; c++) {
      write_command(w, &loop->command[c]);
    }
  }
  for (uint32_t i = 0; i < loop->n_waits; i++) {
    w->d->loop_commands[w->command0 + loop->wait[i].command].signal = 1;
  }
}

/* Finds the places of the op that the loop is. */
static void find_own(loop_writer *w, const fs_sync *sync) {
  const fs_draft *d = w->d;
  if (w->around == NULL) {
    const fs_stream_command *c = &d->commands[sync->item_command[sync->item_command0[w->x->op]]];
    w->own = &d->places[c->place0];
    w->n_own = c->n_places;
    return;
  }
  const fs_stream_loop_command *c =
      &d->loop_commands[d->loop_queues[w->around->queue0].command0]; /* all are written */
  while (c->op != w->around->op0 + w->x->op) {
    c++;
  }
  w->own = &d->loop_places[c->place0];
  w->n_own = c->n_places;
}

static void write_guards(loop_writer *w) {
  const fs_rolled_loop *loop = &w->x->loop;
  for (uint32_t i = 0; i < loop->n_guards; i++) {
    const fs_rolled_guard *g = &loop->guard[i];
    w->d->guards[w->n_guards++] = (fs_stream_guard){
        w->physical, g->depth, w->n_producers, g->n_producers, g->part ? g->queue : FS_NONE, 0};
    for (uint32_t k = g->producer0; k < g->producer0 + g->n_producers; k++) {
      w->d->producers[w->n_producers++] = w->op0 + loop->producer[k];
    }
    w->physical += g->depth;
  }
}

static void write_params(const fsched_graph *g, fs_draft *d) {
  for (uint32_t p = 0; p < g->n_params; p++) {
    d->params[p] = (fs_stream_param){.least = g->param[p].least,
                                     .most = g->param[p].most,
                                     .name = fs_draft_string(d, g->param[p].name)};
  }
}

static void write_races(const fsched_graph *g, fs_draft *d) {
  for (uint32_t i = 0; i < g->n_loop_races; i++) {
    const fs_graph_race *r = &g->loop_race[i];
    d->loop_races[i] = (fs_stream_loop_race){.distance = r->distance,
                                             .op_a = fs_draft_string(d, r->op_a),
                                             .op_b = fs_draft_string(d, r->op_b),
                                             .buffer = fs_draft_string(d, r->buffer)};
  }
}

/* Finds the parameter that gives a loop's trips; FS_NONE: none does. */
static uint32_t param_of(const fsched_graph *g, const fs_rolled *x) {
  uint32_t p = 0;
  while (x->param != NULL && strcmp(g->param[p].name, x->param) != 0) {
    p++;
    assert(p < g->n_params);
  }
  return x->param == NULL ? FS_NONE : p;
}

static void write_loop(loop_writer *w, uint32_t l) {
  const fs_rolled *x = w->x;
  w->op0 = w->n_ops;
  w->arg0 = w->n_args;
  w->command0 = w->n_commands;
  w->d->loops[l] = (fs_stream_loop){
      .trip = x->trip,
      .least = x->least,
      .most = x->trip,
      .param = param_of(w->g, x),
      .within = x->within,
      .op = w->around == NULL ? x->op : w->around->op0 + x->op,
      .copies = x->loop.copies,
      .queue0 = w->n_queues,
      .n_queues = x->loop.n_queues,
      .op0 = w->n_ops,
      .n_ops = x->n_ops,
      .ring0 = w->n_rings,
      .n_rings = x->loop.n_rings,
      .stop0 = w->n_stops,
      .n_stops = x->loop.n_stops,
      .guard0 = w->n_guards,
      .n_guards = x->loop.n_guards,
      .joined = x->joined,
  };
  for (uint32_t m = 0; m < x->n_ops; m++) {
    write_op(w, &x->body[m]);
  }
  write_rings(w);
  write_queues(w);
  for (uint32_t i = 0; i < x->loop.n_stops; i++) {
    const fs_rolled_stop *stop = &x->loop.stop[i];
    w->d->loop_stops[w->n_stops++] =
        (fs_stream_stop){.at = stop->at, .queue = stop->queue, .keep = stop->keep};
  }
  write_guards(w);
  w->n_rings += x->loop.n_rings;
}

void fs_loops_write(const fsched_graph *g, const fs_sync *sync, fs_draft *d) {
  assert(d->commands != NULL && d->n_loops == g->n_rolled);
  loop_writer w = {.g = g, .d = d};
  write_params(g, d);
  write_races(g, d);
  for (uint32_t l = 0; l < g->n_rolled; l++) {
    w.x = &g->rolled[l];
    w.around = w.x->within == FS_NONE ? NULL : &d->loops[w.x->within];
    w.physical = w.x->loop.guarded ? sync->loop_barrier0[l] : 0;
    find_own(&w, sync);
    write_loop(&w, l);
  }
}
