/* SPDX-License-Identifier: Apache-2.0 */
/* Random bodies for modulo scheduling.  The same parameters give the same body on every machine. */
#ifndef FS_TEST_BODY_GEN_H
#define FS_TEST_BODY_GEN_H

#include "kit/gen.h"
#include "modulo/problem/problem.h"

enum {
  FS_BODY_OPS = 256,
  FS_BODY_QUEUES = 12,
  FS_BODY_EDGES = 4 * FS_BODY_OPS,
  FS_BODY_READERS = 2 * FS_BODY_OPS
};

typedef struct fs_body_params {
  uint64_t seed;
  uint32_t n;           /* ops, up to FS_BODY_OPS */
  uint32_t classes;     /* of queues: up to 3; 0: 1 to 3 */
  uint32_t most_queues; /* of a class: up to 3; 0: 3 */
  uint32_t most_time;   /* 0: 8 */
  uint32_t most_depth;  /* of rings; 0: 4 */
  bool open;            /* depths are to be chosen, in one memory */
  uint32_t room;        /* of that memory: in 16ths of what the depths drawn would take; 0: any */
  bool lanes;           /* one or two resources */
  bool held_back;
  bool whole;    /* latencies are times */
  bool gangs;    /* one op in four takes all queues of its class */
  bool ahead;    /* writers of rings are so far ahead of readers on their queue, of one in two */
  bool every;    /* so many slots are given back at once, of rings that no later iteration reads */
  bool in_place; /* of some rings writers work in place */
} fs_body_params;

typedef struct fs_body {
  fs_modulo_problem p;
  fs_tick time[FS_BODY_OPS], latency[FS_BODY_OPS];
  bool gang[FS_BODY_OPS];
  uint32_t eligible0[FS_BODY_OPS + 1], eligible[3 * FS_BODY_OPS];
  fs_modulo_edge edge[FS_BODY_EDGES];
  fs_modulo_ring ring[FS_BODY_OPS];
  uint32_t reader0[FS_BODY_OPS + 1];
  fs_modulo_reader reader[FS_BODY_READERS];
  uint64_t capacity[1];
  uint32_t lanes[2];
  uint32_t use0[FS_BODY_OPS + 1];
  fs_modulo_use use[FS_BODY_OPS];
} fs_body;

static inline void fs_body_draw_ops(const fs_body_params *g, fs_rng *r, fs_body *b) {
  uint32_t classes = g->classes != 0 ? g->classes : 1 + fs_rng_below(r, 3), first[4] = {0};
  uint32_t most = g->most_queues != 0 ? g->most_queues : 3;
  for (uint32_t c = 0; c < classes; c++) {
    first[c + 1] = first[c] + 1 + fs_rng_below(r, most);
  }
  b->p.n_queues = first[classes];
  for (uint32_t i = 0, n = 0; i < g->n; i++) {
    b->time[i] = 1 + fs_rng_below(r, g->most_time != 0 ? g->most_time : 8);
    b->latency[i] = b->time[i];
    if (!g->whole && fs_rng_one_in(r, 3)) {
      b->latency[i] += fs_rng_below(r, 2 * (uint32_t)b->time[i] + 3);
    }
    uint32_t c = fs_rng_below(r, classes);
    for (uint32_t q = first[c]; q < first[c + 1]; q++) {
      b->eligible[n++] = q;
    }
    b->eligible0[i + 1] = n;
    b->gang[i] = g->gangs && fs_rng_one_in(r, 4);
  }
}

static inline void fs_body_add_edge(fs_body *b, uint32_t from, uint32_t to, uint32_t distance) {
  b->edge[b->p.n_edges++] = (fs_modulo_edge){from, to, distance};
}

/* Ops read one or two of the ops before them, now and then of an earlier iteration. */
static inline void fs_body_draw_edges(const fs_body_params *g, fs_rng *r, fs_body *b) {
  for (uint32_t i = 1; i < g->n; i++) {
    for (uint32_t k = fs_rng_below(r, 3); k > 0; k--) {
      uint32_t back = 1 + fs_rng_below(r, i < 8 ? i : 8);
      fs_body_add_edge(b, i - back, i, fs_rng_one_in(r, 8) ? 1 : 0);
    }
  }
  for (uint32_t k = fs_rng_below(r, 2 + g->n / 8); k > 0; k--) {
    uint32_t from = fs_rng_below(r, g->n), to = fs_rng_below(r, from + 1);
    fs_body_add_edge(b, from, to, 1 + fs_rng_below(r, 3));
  }
}

/* What most ops write is a ring, which those that read it read. */
static inline void fs_body_draw_rings(const fs_body_params *g, fs_rng *r, fs_body *b) {
  uint64_t total = 0;
  uint32_t n = 0;
  for (uint32_t i = 0; i < g->n; i++) {
    uint32_t back = 0, first = n;
    if (fs_rng_one_in(r, 4)) {
      continue;
    }
    for (uint32_t e = 0; e < b->p.n_edges; e++) {
      if (b->edge[e].from == i && b->edge[e].to != i) {
        b->reader[n++] = (fs_modulo_reader){b->edge[e].to, b->edge[e].distance};
        back = b->edge[e].distance > back ? b->edge[e].distance : back;
      }
    }
    if (n == first) {
      continue;
    }
    uint32_t depth = back + 1 + fs_rng_below(r, g->most_depth != 0 ? g->most_depth : 4);
    uint64_t size = 1 + fs_rng_below(r, 4);
    total += depth * size;
    b->ring[b->p.n_rings++] = (fs_modulo_ring){
        .writer = i, .memory = g->open ? 0 : FS_NONE, .size = size, .depth = g->open ? 0 : depth};
    fs_modulo_ring *ring = &b->ring[b->p.n_rings - 1];
    if (g->ahead && fs_rng_one_in(r, 2)) {
      ring->ahead = 1 + fs_rng_below(r, depth);
    }
    if (g->every) {
      ring->every = 1 + fs_rng_below(r, depth - back);
    }
    ring->in_place = g->in_place && depth > 1 && fs_rng_one_in(r, 2);
    b->reader0[b->p.n_rings] = n;
  }
  b->p.n_memories = g->open;
  b->capacity[0] = g->room == 0 ? FS_UNBOUNDED : total * g->room / 16;
}

static inline void fs_body_draw_lanes(const fs_body_params *g, fs_rng *r, fs_body *b) {
  b->p.n_resources = g->lanes ? 1 + fs_rng_below(r, 2) : 0;
  for (uint32_t k = 0; k < b->p.n_resources; k++) {
    b->lanes[k] = 1 + fs_rng_below(r, 3);
  }
  for (uint32_t i = 0, n = 0; i < g->n; i++) {
    if (g->lanes && fs_rng_one_in(r, 2)) {
      uint32_t k = fs_rng_below(r, b->p.n_resources);
      b->use[n++] = (fs_modulo_use){k, 1 + fs_rng_below(r, b->lanes[k])};
    }
    b->use0[i + 1] = n;
  }
}

static inline void fs_body_draw(const fs_body_params *g, fs_body *b) {
  fs_rng r = {g->seed};
  memset(b, 0, sizeof *b);
  b->p = (fs_modulo_problem){.n = g->n, .held_back = g->held_back};
  fs_body_draw_ops(g, &r, b);
  fs_body_draw_edges(g, &r, b);
  fs_body_draw_rings(g, &r, b);
  fs_body_draw_lanes(g, &r, b);
  b->p.time = b->time;
  b->p.latency = b->latency;
  b->p.eligible0 = b->eligible0;
  b->p.eligible = b->eligible;
  b->p.gang = b->gang;
  b->p.edge = b->edge;
  b->p.ring = b->ring;
  b->p.reader0 = b->reader0;
  b->p.reader = b->reader;
  b->p.capacity = b->capacity;
  b->p.lanes = b->lanes;
  b->p.use0 = b->use0;
  b->p.use = b->use;
}

#endif
