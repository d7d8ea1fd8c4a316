/* SPDX-License-Identifier: Apache-2.0 */
/* Streams made by hand, for tests of replay, also such that a compiler would never make.  Arrays
 * have fixed sizes, and nothing is checked; commands are added queue by queue, and waits after
 * their command.  Times are zero unless set. */
#ifndef REPLAY_MAKER_H
#define REPLAY_MAKER_H

#include <stdio.h>

#include "fsched/graph.h"
#include "model/stream/stream.h"
#include "model/sync.h"

enum { MK_SMALL = 16, MK_MANY = 256 };

typedef struct maker {
  struct fsched_program program;
  fs_stream_meta meta;
  fs_stream_axis axes[MK_SMALL];
  uint32_t axis_members[MK_SMALL];
  fs_stream_queue queues[MK_SMALL];
  fs_stream_memory memories[MK_SMALL];
  fs_stream_buffer buffers[MK_MANY];
  fs_stream_version versions[MK_MANY];
  uint32_t place_memory[MK_MANY]; /* per version: the memory in which ops find it */
  uint64_t place_address[MK_MANY];
  fs_stream_op ops[MK_MANY];
  fs_stream_arg args[MK_MANY];
  fs_stream_scratch scratches[MK_SMALL];
  uint64_t scratch_address[MK_SMALL];
  fs_stream_kernel kernels[MK_SMALL];
  fs_stream_race races[MK_SMALL];
  fs_stream_command commands[MK_MANY];
  fs_stream_wait waits[MK_MANY];
  fs_stream_place places[2 * MK_MANY];
  char strings[16 * MK_MANY];
} maker;

static inline uint32_t mk_string(maker *m, const char *s) {
  uint32_t at = m->program.view.n_strings;
  m->program.view.n_strings += (uint32_t)strlen(s) + 1;
  memcpy(m->strings + at, s, strlen(s) + 1);
  return at;
}

static inline void mk_init(maker *m, fsched_context *ctx) {
  memset(m, 0, sizeof *m);
  m->program.ctx = ctx;
  fs_stream *v = &m->program.view;
  v->meta = &m->meta, v->n_meta = 1;
  v->axes = m->axes, v->axis_members = m->axis_members, v->queues = m->queues;
  v->memories = m->memories, v->buffers = m->buffers, v->versions = m->versions;
  v->ops = m->ops, v->args = m->args, v->scratches = m->scratches, v->kernels = m->kernels;
  v->races = m->races, v->commands = m->commands, v->waits = m->waits, v->places = m->places;
  v->strings = m->strings;
  m->meta.name = mk_string(m, "hand-made");
  m->meta.time_unit = FS_NONE;
}

/* Adds a queue.  All queues are added before all collectives. */
static inline uint32_t mk_queue(maker *m, const char *name) {
  fs_stream *v = &m->program.view;
  uint32_t q = v->n_queues++;
  m->queues[q] = (fs_stream_queue){.name = mk_string(m, name)};
  m->axes[v->n_axes++] = (fs_stream_axis){.name = m->queues[q].name, .kind = FS_AXIS_QUEUE};
  return q;
}

/* Adds a gang of queues 0 .. n - 1. */
static inline uint32_t mk_collective(maker *m, const char *name, uint32_t n) {
  fs_stream *v = &m->program.view;
  m->axes[v->n_axes] = (fs_stream_axis){.name = mk_string(m, name),
                                        .kind = FS_AXIS_COLLECTIVE,
                                        .member0 = v->n_axis_members,
                                        .n_members = n};
  for (uint32_t i = 0; i < n; i++) {
    m->axis_members[v->n_axis_members++] = i;
  }
  return v->n_axes++;
}

static inline uint32_t mk_memory(maker *m, const char *name, uint64_t extent) {
  m->memories[m->program.view.n_memories] = (fs_stream_memory){.capacity = extent,
                                                               .align = 1,
                                                               .extent = extent,
                                                               .name = mk_string(m, name),
                                                               .backing = FS_NONE};
  return m->program.view.n_memories++;
}

/* Adds a buffer, whose versions mk_version adds next; returns the id of version 0. */
static inline uint32_t mk_buffer(maker *m, const char *name, uint64_t size, fsched_io io) {
  fs_stream *v = &m->program.view;
  m->buffers[v->n_buffers++] = (fs_stream_buffer){.size = size,
                                                  .io_size = size,
                                                  .name = mk_string(m, name),
                                                  .io = io,
                                                  .version0 = v->n_versions};
  return v->n_versions;
}

static inline uint32_t mk_version(maker *m, uint32_t memory, uint64_t address) {
  fs_stream *v = &m->program.view;
  fs_stream_buffer *b = &m->buffers[v->n_buffers - 1];
  uint32_t id = v->n_versions++;
  m->versions[id] = (fs_stream_version){.given_memory = FS_NONE,
                                        .kept_memory = FS_NONE,
                                        .buffer = v->n_buffers - 1,
                                        .index = b->n_versions++};
  m->place_memory[id] = memory;
  m->place_address[id] = address;
  return id;
}

static inline void mk_given(maker *m, uint32_t version, uint32_t memory, uint64_t address) {
  m->versions[version].given_memory = memory;
  m->versions[version].given_address = address;
}

static inline void mk_kept(maker *m, uint32_t version, uint32_t memory, uint64_t address) {
  m->versions[version].kept_memory = memory;
  m->versions[version].kept_address = address;
}

static inline uint32_t mk_op(maker *m, const char *name) {
  fs_stream *v = &m->program.view;
  m->ops[v->n_ops] = (fs_stream_op){
      .name = mk_string(m, name), .kernel = FS_NONE, .arg0 = v->n_args, .scratch0 = v->n_scratches};
  return v->n_ops++;
}

/* Adds an arg to the last op: the range [offset, offset + length) of the version. */
static inline void mk_range(maker *m, fsched_tag tag, uint32_t version, uint64_t offset,
                            uint64_t length) {
  fs_stream *v = &m->program.view;
  m->args[v->n_args++] = (fs_stream_arg){.offset = offset,
                                         .length = length,
                                         .tag = tag,
                                         .buffer = m->versions[version].buffer,
                                         .version = version};
  m->ops[v->n_ops - 1].n_args++;
}

static inline void mk_arg(maker *m, fsched_tag tag, uint32_t version) {
  mk_range(m, tag, version, 0, m->buffers[m->versions[version].buffer].size);
}

static inline void mk_value(maker *m, int64_t value) {
  fs_stream *v = &m->program.view;
  m->args[v->n_args++] =
      (fs_stream_arg){.tag = FSCHED_VALUE, .buffer = FS_NONE, .version = FS_NONE, .value = value};
  m->ops[v->n_ops - 1].n_args++;
}

static inline void mk_scratch(maker *m, uint32_t memory, uint64_t address, uint64_t size) {
  fs_stream *v = &m->program.view;
  m->scratch_address[v->n_scratches] = address;
  m->scratches[v->n_scratches++] = (fs_stream_scratch){.size = size, .memory = memory};
  m->ops[v->n_ops - 1].n_scratches++;
}

static inline void mk_kernel(maker *m, const char *builtin) {
  fs_stream *v = &m->program.view;
  m->kernels[v->n_kernels] =
      (fs_stream_kernel){.builtin = builtin == NULL ? FS_NONE : mk_string(m, builtin),
                         .module = builtin == NULL ? mk_string(m, "kernels.so") : FS_NONE,
                         .function = builtin == NULL ? mk_string(m, "f") : FS_NONE,
                         .params = FS_NONE};
  m->ops[v->n_ops - 1].kernel = v->n_kernels++;
}

static inline fs_stream_place *mk_place(maker *m, uint32_t memory, uint64_t address, uint64_t size,
                                        uint32_t version, uint32_t arg, uint8_t mode) {
  fs_stream *v = &m->program.view;
  m->commands[v->n_commands - 1].n_places++;
  m->places[v->n_places] = (fs_stream_place){.address = address,
                                             .size = size,
                                             .index = memory,
                                             .version = version,
                                             .arg = arg,
                                             .mode = mode};
  return &m->places[v->n_places++];
}

static inline fs_stream_command *mk_command(maker *m, uint32_t queue, fs_command_kind kind,
                                            uint32_t target) {
  fs_stream *v = &m->program.view;
  fs_stream_queue *q = &m->queues[queue];
  if (q->n_commands == 0) {
    q->command0 = v->n_commands;
  }
  fs_stream_command *c = &m->commands[v->n_commands++];
  *c = (fs_stream_command){.target = target,
                           .epoch = ++q->n_commands,
                           .gang_axis = FS_NONE,
                           .kind = kind,
                           .signal = 1,
                           .wait0 = v->n_waits,
                           .place0 = v->n_places};
  return c;
}

static inline fs_stream_command *mk_run(maker *m, uint32_t queue, uint32_t op) {
  fs_stream_command *c = mk_command(m, queue, FS_COMMAND_RUN, op);
  const fs_stream_op *o = &m->ops[op];
  for (uint32_t i = o->arg0; i < o->arg0 + o->n_args; i++) {
    const fs_stream_arg *a = &m->args[i];
    if (a->tag != FSCHED_VALUE) {
      (void)mk_place(m, m->place_memory[a->version], m->place_address[a->version] + a->offset,
                     a->length, a->version, i, a->tag == FSCHED_IN ? FS_MODE_R : FS_MODE_RW);
    }
  }
  for (uint32_t i = o->scratch0; i < o->scratch0 + o->n_scratches; i++) {
    (void)mk_place(m, m->scratches[i].memory, m->scratch_address[i], m->scratches[i].size, FS_NONE,
                   i, FS_MODE_W);
  }
  return c;
}

static inline fs_stream_command *mk_copy(maker *m, uint32_t queue, uint32_t version,
                                         fs_copy_kind direction, uint32_t from_memory,
                                         uint64_t from, uint32_t to_memory, uint64_t to) {
  fs_stream_command *c = mk_command(m, queue, FS_COMMAND_COPY, version);
  uint64_t size = m->buffers[m->versions[version].buffer].size;
  c->direction = (uint8_t)direction;
  (void)mk_place(m, from_memory, from, size, version, FS_NONE, FS_MODE_R);
  (void)mk_place(m, to_memory, to, size, version, FS_NONE, FS_MODE_W);
  return c;
}

/* Adds a wait to the last command. */
static inline void mk_wait(maker *m, uint32_t axis, uint32_t epoch) {
  fs_stream *v = &m->program.view;
  m->waits[v->n_waits++] = (fs_stream_wait){axis, epoch};
  m->commands[v->n_commands - 1].n_waits++;
}

static inline void mk_gang(fs_stream_command *c, uint32_t axis, uint32_t epoch) {
  c->gang_axis = axis;
  c->gang_epoch = epoch;
}

/* ---- whole streams */

/* A chain in (given) -> a -> b -> ... of n ops on alternating queues, with sizes that are no
 * multiples of words; the last buffer is kept.  Every op but the first waits for the one before. */
static inline void make_ping_pong(maker *m, uint32_t n, uint32_t queues) {
  char name[16];
  uint32_t mem = mk_memory(m, "ddr", 100 * (n + 1));
  for (uint32_t q = 0; q < queues; q++) {
    (void)snprintf(name, sizeof name, "q%u", q);
    (void)mk_queue(m, name);
  }
  uint32_t before = mk_buffer(m, "in", 61, FSCHED_IO_INPUT);
  before = mk_version(m, mem, 0);
  mk_given(m, before, mem, 0);
  for (uint32_t i = 0; i < n; i++) {
    (void)snprintf(name, sizeof name, "b%u", i);
    (void)mk_buffer(m, name, 33 + i % 7, i == n - 1 ? FSCHED_IO_OUTPUT : FSCHED_IO_NONE);
    uint32_t v = mk_version(m, mem, 100 * (i + 1) + i % 3);
    (void)snprintf(name, sizeof name, "op%u", i);
    (void)mk_op(m, name);
    mk_arg(m, FSCHED_IN, before);
    mk_value(m, i);
    mk_arg(m, FSCHED_OUT, v);
    before = v;
  }
  mk_kept(m, before, mem, m->place_address[before]);
  for (uint32_t q = 0; q < queues; q++) {
    for (uint32_t i = q; i < n; i += queues) {
      (void)mk_run(m, q, i);
      if (i > 0 && queues > 1) {
        mk_wait(m, (i - 1) % queues, (i - 1) / queues + 1);
      }
    }
  }
}

/* x is spilled to ddr, its place is used by y, and it comes back elsewhere. */
static inline void make_spill(maker *m) {
  uint32_t cmx = mk_memory(m, "cmx", 96), ddr = mk_memory(m, "ddr", 256);
  uint32_t dpu = mk_queue(m, "dpu"), dma = mk_queue(m, "dma");
  uint32_t in = (mk_buffer(m, "in", 40, FSCHED_IO_CONSTANT), mk_version(m, cmx, 0));
  uint32_t x = (mk_buffer(m, "x", 50, FSCHED_IO_NONE), mk_version(m, cmx, 40));
  uint32_t y = (mk_buffer(m, "y", 47, FSCHED_IO_NONE), mk_version(m, cmx, 41));
  uint32_t z = (mk_buffer(m, "z", 7, FSCHED_IO_OUTPUT), mk_version(m, cmx, 88));
  mk_given(m, in, ddr, 3);
  mk_kept(m, z, ddr, 200);
  (void)mk_op(m, "A"), mk_arg(m, FSCHED_IN, in), mk_arg(m, FSCHED_OUT, x);
  (void)mk_op(m, "B"), mk_arg(m, FSCHED_IN, in), mk_arg(m, FSCHED_OUT, y);
  (void)mk_op(m, "C"), mk_arg(m, FSCHED_IN, y), mk_arg(m, FSCHED_IN, x), mk_arg(m, FSCHED_OUT, z);
  (void)mk_run(m, dpu, 0), mk_wait(m, dma, 1);
  (void)mk_run(m, dpu, 1), mk_wait(m, dma, 2); /* it waits for the spill, whose place it uses */
  (void)mk_run(m, dpu, 2), mk_wait(m, dma, 3);
  m->places[m->program.view.n_places - 2].address = 0; /* x is read where `in` was */
  m->places[m->program.view.n_places - 2].size = 41;
  m->args[m->program.view.n_args - 2].length = 41; /* and only as much of it as fits */
  (void)mk_copy(m, dma, in, FS_SPILL_READ, ddr, 3, cmx, 0);
  (void)mk_copy(m, dma, x, FS_SPILL_WRITE, cmx, 40, ddr, 60);
  mk_wait(m, dpu, 1);
  fs_stream_command *back = mk_copy(m, dma, x, FS_SPILL_READ, ddr, 60, cmx, 0);
  mk_wait(m, dpu, 2);
  m->places[back->place0].size = m->places[back->place0 + 1].size = 41;
  (void)mk_copy(m, dma, z, FS_SPILL_WRITE, cmx, 88, ddr, 200);
  mk_wait(m, dpu, 3);
}

/* A gang on two of three queues in the middle; the third waits on the collective axis. */
static inline uint32_t make_gang(maker *m) {
  uint32_t mem = mk_memory(m, "ddr", 1000);
  for (uint32_t q = 0; q < 3; q++) {
    (void)mk_queue(m, q == 0 ? "a" : q == 1 ? "b" : "c");
  }
  uint32_t tp = mk_collective(m, "tp", 2);
  uint32_t v[5];
  for (uint32_t i = 0; i < 5; i++) {
    char name[8];
    (void)snprintf(name, sizeof name, "v%u", i);
    (void)mk_buffer(m, name, 100, i == 4 ? FSCHED_IO_OUTPUT : FSCHED_IO_NONE);
    v[i] = mk_version(m, mem, 100 * i);
  }
  mk_kept(m, v[4], mem, 400);
  (void)mk_op(m, "left"), mk_arg(m, FSCHED_OUT, v[0]);
  (void)mk_op(m, "right"), mk_arg(m, FSCHED_OUT, v[1]);
  (void)mk_op(m, "all"), mk_arg(m, FSCHED_IN, v[0]), mk_arg(m, FSCHED_IN, v[1]);
  mk_arg(m, FSCHED_OUT, v[2]);
  (void)mk_op(m, "more"), mk_arg(m, FSCHED_INOUT, v[2]), mk_arg(m, FSCHED_OUT, v[3]);
  (void)mk_op(m, "end"), mk_arg(m, FSCHED_IN, v[3]), mk_arg(m, FSCHED_OUT, v[4]);
  for (uint32_t q = 0; q < 2; q++) {
    (void)mk_run(m, q, q);
    mk_gang(mk_run(m, q, 2), tp, 1);
    mk_gang(mk_run(m, q, 3), tp, 2);
  }
  (void)mk_run(m, 2, 4), mk_wait(m, tp, 2);
  return tp;
}

/* Two states that change places: each is kept at the address where the other is given. */
static inline void make_state_swap(maker *m) {
  uint32_t mem = mk_memory(m, "ddr", 100);
  uint32_t q = mk_queue(m, "q");
  (void)mk_buffer(m, "s", 8, FSCHED_IO_STATE);
  uint32_t s0 = mk_version(m, mem, 0), s1 = mk_version(m, mem, 8);
  (void)mk_buffer(m, "t", 8, FSCHED_IO_STATE);
  uint32_t t0 = mk_version(m, mem, 8), t1 = mk_version(m, mem, 0);
  mk_given(m, s0, mem, 0), mk_given(m, t0, mem, 8);
  mk_kept(m, s1, mem, 8), mk_kept(m, t1, mem, 0);
  uint32_t x = (mk_buffer(m, "x", 8, FSCHED_IO_NONE), mk_version(m, mem, 16));
  (void)mk_op(m, "read"), mk_arg(m, FSCHED_IN, s0), mk_arg(m, FSCHED_IN, t0);
  mk_arg(m, FSCHED_OUT, x);
  (void)mk_op(m, "write"), mk_arg(m, FSCHED_IN, x), mk_arg(m, FSCHED_OUT, s1);
  mk_arg(m, FSCHED_OUT, t1);
  (void)mk_run(m, q, 0), (void)mk_run(m, q, 1);
}

#endif
