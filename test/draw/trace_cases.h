/* SPDX-License-Identifier: Apache-2.0 */
/* What the suites of traces and of stream residencies share: compiled graphs, and the residencies
 * of a schedule as a stream knows them. */
#ifndef FS_TEST_TRACE_CASES_H
#define FS_TEST_TRACE_CASES_H

#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "model/handle.h"
#include "model/stream/stream.h"

typedef struct compiled {
  fsched_graph *graph;
  fsched_schedule *schedule;
  fsched_program *program;
} compiled;

static inline compiled compile(fsched_context *ctx, const fs_gen_params *params) {
  compiled c;
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  ck_fs(ctx, fs_gen_graph(ctx, params, &c.graph));
  ck_fs(ctx, fsched_compile(ctx, c.graph, &o, &c.schedule, &c.program));
  return c;
}

static inline void drop(compiled *c) {
  fsched_program_destroy(c->program);
  fsched_schedule_destroy(c->schedule);
  fsched_graph_destroy(c->graph);
}

/* Parameters for graphs of all kinds; every third one has bounded backing stores, or none. */
static inline fs_gen_params any_params(uint64_t seed) {
  fs_gen_params p = fs_gen_any(seed, 50);
  p.zero_times = seed % 2 == 0;
  p.inplace = seed % 3 != 0;
  p.io = true;
  if (seed % 5 == 0) {
    p.backing = false;
    p.n_memories = 1 + (uint32_t)(seed % 2);
  }
  return p;
}

typedef struct rect {
  uint32_t memory, version, op;
  uint64_t address, size, begin, end;
} rect;

static inline int compare_rects(const void *a, const void *b) {
  const rect *x = a, *y = b;
  uint64_t kx[] = {x->memory, x->version, x->op, x->begin, x->end, x->address, x->size};
  uint64_t ky[] = {y->memory, y->version, y->op, y->begin, y->end, y->address, y->size};
  for (size_t i = 0; i < sizeof kx / sizeof *kx; i++) {
    if (kx[i] != ky[i]) {
      return kx[i] < ky[i] ? -1 : 1;
    }
  }
  return 0;
}

typedef FS_VEC(rect) rects;

static inline void add_rect(fsched_context *ctx, rects *v, rect r) {
  ck_assert_int_eq(fs_vec_push(ctx, v, r), FSCHED_OK);
}

/* Adds the parts of a store copy of the schedule, each from a write on to the last copy that uses
 * it. */
static inline void add_store_parts(rects *v, const fsched_schedule *s, uint32_t residency, rect r) {
  uint32_t n_ops = s->schedule->graph->n_ops;
  bool any = fs_version_given(s->schedule->graph, r.version) && r.begin == 0;
  uint64_t kept_to = fs_version_kept(s->schedule->graph, r.version) ? s->schedule->makespan : 0;
  r.end = 0;
  for (uint32_t i = 0; i < s->schedule->n_items; i++) {
    uint32_t item = s->schedule->order[i];
    if (item < n_ops || s->schedule->copy_store[item - n_ops] != residency) {
      continue;
    }
    if (s->schedule->copy_kind[item - n_ops] == FS_SPILL_WRITE) {
      if (any) {
        add_rect(s->schedule->ctx, v, r);
      }
      any = true;
      r.begin = s->schedule->start[item];
      r.end = 0;
    }
    r.end = s->schedule->end[item] > r.end ? s->schedule->end[item] : r.end;
  }
  r.end = r.end > kept_to ? r.end : kept_to;
  add_rect(s->schedule->ctx, v, r);
}

static inline void rects_of_schedule(rects *v, const fsched_schedule *s) {
  for (uint32_t i = 0; i < s->schedule->n_residencies; i++) {
    rect r = {s->schedule->res_memory[i],  s->schedule->res_version[i], s->schedule->res_op[i],
              s->schedule->res_address[i], s->schedule->res_size[i],    s->schedule->res_begin[i],
              s->schedule->res_end[i]};
    bool store =
        r.version != FS_NONE && r.memory != fs_version_memory(s->schedule->graph, r.version);
    if (store) {
      add_store_parts(v, s, i, r);
    } else {
      add_rect(s->schedule->ctx, v, r);
    }
  }
}

static inline void planned_times(const fs_stream *s, fs_arena *arena, uint64_t **begin,
                                 uint64_t **end) {
  ck_assert_int_eq(fs_new(arena, begin, s->n_commands), FSCHED_OK);
  ck_assert_int_eq(fs_new(arena, end, s->n_commands), FSCHED_OK);
  for (uint32_t c = 0; c < s->n_commands; c++) {
    (*begin)[c] = s->commands[c].start;
    (*end)[c] = s->commands[c].end;
  }
}

/* Compiles a graph with a memory that spills to a bounded one, which is counted every other time;
 * what is written in place after it was spilled is spilled again. */
static inline compiled compile_bounded_store(fsched_context *ctx, uint64_t seed) {
  fs_rng rng = {seed};
  fs_text t;
  fs_text_init(&t, ctx);
  fs_text_printf(
      &t,
      "fsched: 1\nname: g\ntarget:\n  queues: [{name: a}, {name: d, class: copy}]\n"
      "  memories:\n    - {name: m, capacity: 24, align: 4, backing: s, spill: {on: copy, "
      "write: {fixed: %u}, read: {fixed: 1}}}\n"
      "    - {name: s, capacity: 900, placement: %s}\n"
      "buffers:\n  - {name: in, size: 7, io: input}\n  - {name: st, size: 5, io: state}\n"
      "  - {name: b9, size: 3, io: output}\nops:\n",
      (unsigned)(seed % 3), seed % 2 == 0 ? "counted" : "contiguous");
  for (uint32_t i = 0; i < 30; i++) {
    fs_text_printf(&t, "  - {name: o%u, time: %u, args: [", i, fs_rng_below(&rng, 4));
    if (i >= 4) {
      uint32_t from = fs_rng_below(&rng, i - 3), to = from + 1 + fs_rng_below(&rng, 3);
      fs_text_printf(&t, "{in: b%u}, {%s: b%u}, ", from, to == 9 ? "in" : "inout", to);
    } else {
      fs_text_puts(&t, i % 2 == 0 ? "{in: in}, " : "{inout: st}, ");
    }
    fs_text_printf(&t, "{out: b%u", i);
    fs_text_puts(&t, i == 9 ? "}]}\n" : "");
    if (i != 9) {
      fs_text_printf(&t, ", size: %u}]}\n", 1 + fs_rng_below(&rng, 6));
    }
  }
  compiled c;
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  ck_assert(!t.failed);
  ck_fs(ctx, fsched_graph_parse(ctx, "g.yaml", t.at, t.n, NULL, &c.graph));
  ck_fs(ctx, fsched_compile(ctx, c.graph, &o, &c.schedule, &c.program));
  fs_text_drop(&t);
  return c;
}

#endif
