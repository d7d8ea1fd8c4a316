/* SPDX-License-Identifier: Apache-2.0 */
/* Kept content that nothing touches has its units of a counted memory all the time: compiled
 * programs do not use these units, whatever the durations, and a program that does is refused. */
#include <stdio.h>
#include <stdlib.h>

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "kit/mutate/mutate.h"
#include "model/sync.h"

#include "kit/context.h"

/* Returns NULL when there is no room. */
static fsched_program *compile_text(const char *text, uint32_t barriers) {
  fsched_compile_options o = {.size = sizeof o, .verify = 1, .barriers = barriers};
  fsched_program *p = NULL;
  fsched_graph *g = NULL;
  fs_status status = fsched_graph_parse(ctx, "g", text, strlen(text), NULL, &g);
  if (status == FSCHED_OK) {
    status = fsched_compile(ctx, g, &o, NULL, &p);
  }
  ck_assert_msg(status == FSCHED_OK || status == FSCHED_INFEASIBLE, "%d: %s\n%s", status,
                fsched_diag_get(ctx, 0)->message, text);
  fsched_diag_clear(ctx);
  fsched_graph_destroy(g);
  return p;
}

static void assert_refuted(const fsched_program *p, const char *code, const char *message) {
  fsched_diag_clear(ctx);
  ck_assert_int_eq(fsched_verify_program(ctx, p, NULL), FSCHED_WRONG);
  const fsched_diag *d = fsched_diag_get(ctx, 0);
  ck_assert_str_eq(d->message, message);
  ck_assert_str_eq(d->code, code);
}

/* Returns the i-th place of units of version `v`. */
static fs_stream_place *units_of(fsched_program *p, uint32_t v, uint32_t i) {
  for (uint32_t k = 0; k < p->view.n_places; k++) {
    const fs_stream_place *x = &p->view.places[k];
    if (x->space == FS_SPACE_COUNTED && x->version == v && i-- == 0) {
      return (fs_stream_place *)(uintptr_t)x;
    }
  }
  ck_abort_msg("version %u has no such place", v);
}

static const char text_of[] =
    "fsched: 1\nname: g\ntarget:\n  queues: [{name: p}, {name: q}]\n"
    "  memories: [{name: m, capacity: %u, placement: counted}]\n"
    "buffers: [{name: g, size: 6, io: state}]\n"
    "ops:\n  - {name: x, on: p, args: [%s{out: x, size: 8}]}\n"
    "  - {name: y, on: %c, args: [{out: y, size: 8}]}\n";

/* Units are alike: those that are left may lie anywhere, and there have to be enough. */
START_TEST(units_left)
{
  char text[512];
  (void)snprintf(text, sizeof text, text_of, 20, "", 'q');
  fsched_program *p = compile_text(text, 0), *copy = fs_mutant_copy(p);
  ck_assert_uint_eq(copy->view.n_waits, 1);
  fs_stream_place *x = units_of(copy, 1, 0);
  ck_assert_uint_eq(x->address, 6);
  x->address = 0;
  ck_fs(ctx, fsched_verify_program(ctx, copy, NULL));
  fs_stream_place *y = units_of(copy, 2, 0);
  ck_assert(y->address == 6 && y->size == 2);
  y->address = 8;
  assert_refuted(copy, "verify-capacity",
                 "m: commands have 16 units, beside 6 of kept content that nothing touches, and "
                 "there are 20");
  fs_mutant_free(copy);
  fsched_program_destroy(p);
}
END_TEST

/* A version that has been touched once has the units that this showed, and keeps them. */
START_TEST(units_lost)
{
  char text[512];
  (void)snprintf(text, sizeof text, text_of, 22, "{in: g}, ", 'p');
  fsched_program *p = compile_text(text, 0), *copy = fs_mutant_copy(p);
  ck_fs(ctx, fsched_verify_program(ctx, copy, NULL));
  fs_stream_place *g = units_of(copy, 0, 0), *y = units_of(copy, 2, 0);
  ck_assert(g->size == 6 && y->size == 8 && y->address != g->address);
  y->address = g->address;
  assert_refuted(copy, "verify-kept", "g.0 is not in m at 0 at the end");
  fs_mutant_free(copy);
  fsched_program_destroy(p);
}
END_TEST

/* In a store, a version that is not kept has units up to its last read, whether it is state or
 * not. */
START_TEST(state_in_a_store)
{
  static const char text[] =
      "fsched: 1\nname: g\ntarget:\n  queues: [{name: p}, {name: q, class: copy}]\n"
      "  memories:\n    - {name: m, capacity: 99, backing: s,\n"
      "       spill: {on: copy, write: {fixed: 1}, read: {fixed: 1}}}\n"
      "    - {name: s, capacity: 12, placement: counted}\n"
      "buffers:\n  - {name: g, size: 6, io: state}\n  - {name: o, size: 6, io: output}\n"
      "ops:\n  - {name: r, on: p, args: [{in: g}, {out: x, size: 8}]}\n"
      "  - {name: w, on: p, args: [{out: g}]}\n  - {name: y, on: p, args: [{out: o}]}\n";
  fsched_program *p = compile_text(text, 0);
  ck_assert_ptr_nonnull(p);
  fsched_program_destroy(p);
}
END_TEST

/* --- random programs, random durations --- */

enum { MAX_TEXT = 1 << 13, OPS = 12, ROUNDS = 150, RUNS = 20, MAX_COMMANDS = 256 };

typedef struct writer {
  char text[MAX_TEXT];
  size_t n;
} writer;

#define PUT(w, ...) ((w)->n += (size_t)snprintf((w)->text + (w)->n, MAX_TEXT - (w)->n, __VA_ARGS__))

/* Writes ops that each write a buffer and read some earlier ones, and state that few of them touch.
 * `store`: the counted memory is the backing store. */
static void write_random(writer *w, fs_rng *rng, bool store, const char *sync) {
  uint32_t states = 1 + fs_rng_below(rng, 3), made = 0;
  w->n = 0;
  PUT(w, "fsched: 1\nname: g\ntarget:\n  sync: %s\n  queues: [{name: p}, {name: q}, {name: r}]\n",
      sync);
  if (store) {
    PUT(w,
        "  memories:\n    - {name: m, capacity: %u, backing: s,\n"
        "       spill: {on: r, write: {fixed: 1}, read: {fixed: 1}}}\n"
        "    - {name: s, capacity: %u, placement: counted}\n",
        20 + fs_rng_below(rng, 12), 20 + fs_rng_below(rng, 40));
  } else {
    PUT(w, "  memories: [{name: m, capacity: %u, align: %u, placement: counted}]\n",
        20 + fs_rng_below(rng, 30), 1 + fs_rng_below(rng, 2));
  }
  PUT(w, "buffers:\n");
  for (uint32_t i = 0; i < states; i++) {
    PUT(w, "  - {name: g%u, size: %u, io: state}\n", i, fs_rng_below(rng, 8));
  }
  PUT(w, "ops:\n");
  for (uint32_t i = 0; i < OPS; i++) {
    PUT(w, "  - {name: o%u, on: %c, time: %u, args: [", i, "pqr"[fs_rng_below(rng, 3)],
        1 + fs_rng_below(rng, 9));
    for (uint32_t k = fs_rng_below(rng, 3); k > 0 && made > 0; k--) {
      PUT(w, "{in: b%u}, ", made - 1 - fs_rng_below(rng, (uint32_t)fs_min(made, 4)));
    }
    if (fs_rng_one_in(rng, 8)) {
      static const char *const tag[] = {"in", "inout", "out"};
      PUT(w, "{%s: g0}, ", tag[fs_rng_below(rng, 3)]);
    }
    PUT(w, "{out: b%u, size: %u}]}\n", made++, 1 + fs_rng_below(rng, 9));
  }
}

typedef struct execution {
  const fs_stream *s;
  uint64_t start[MAX_COMMANDS], end[MAX_COMMANDS], last;
} execution;

/* Runs each queue in order, and each command when what it waits for is over. */
static void run_timeline(execution *x, fs_rng *rng) {
  const fs_stream *s = x->s;
  uint32_t done[3] = {0};
  for (uint32_t left = s->n_commands; left > 0;) {
    for (uint32_t q = 0; q < s->n_queues; q++) {
      uint32_t c = s->queues[q].command0 + done[q];
      bool ready = done[q] < s->queues[q].n_commands;
      uint64_t start = ready && done[q] > 0 ? x->end[c - 1] : 0;
      for (uint32_t i = 0; ready && i < s->commands[c].n_waits; i++) {
        const fs_stream_wait *w = &s->waits[s->commands[c].wait0 + i];
        ready = done[w->axis] >= w->epoch;
        start = fs_max(start, ready ? x->end[s->queues[w->axis].command0 + w->epoch - 1] : 0);
      }
      if (ready) {
        x->start[c] = start;
        x->end[c] = start + 1 + fs_rng_below(rng, fs_rng_one_in(rng, 4) ? 60 : 6);
        done[q]++;
        left--;
      }
    }
  }
}

/* Runs in the order of issue; all syncs are full ones. */
static void run_block(execution *x, fs_rng *rng) {
  const fs_stream *s = x->s;
  uint64_t now = 0, latest = 0, free_at[3] = {0};
  for (uint32_t at = 0; at < s->n_commands; at++) {
    for (uint32_t i = 0; i < s->n_stops; i++) {
      now = s->stops[i].at == at ? latest : now;
    }
    for (uint32_t q = 0; q < s->n_queues; q++) {
      for (uint32_t c = s->queues[q].command0; c < s->queues[q].command0 + s->queues[q].n_commands;
           c++) {
        if (s->commands[c].issue == at) {
          x->start[c] = fs_max(now, free_at[q]);
          x->end[c] = free_at[q] = x->start[c] + 1 + fs_rng_below(rng, 9);
          latest = fs_max(latest, free_at[q]);
        }
      }
    }
  }
}

typedef struct verify_idle_life {
  uint64_t begin, end, size;
} verify_idle_life;

/* A life lasts from the first touch, or from 0, to the last touch, or to the end. */
static verify_idle_life find_life(const execution *x, uint32_t memory, uint32_t version) {
  const fs_stream *s = x->s;
  const fs_stream_version *v = &s->versions[version];
  const fs_stream_buffer *b = &s->buffers[v->buffer];
  verify_idle_life l = {UINT64_MAX, 0, fs_align_up(b->size, s->memories[memory].align)};
  bool touched = false;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    for (uint32_t i = k->place0; i < k->place0 + k->n_places; i++) {
      if (s->places[i].space == FS_SPACE_COUNTED && s->places[i].index == memory &&
          s->places[i].version == version) {
        touched = true;
        l.begin = fs_min(l.begin, x->start[c]);
        l.end = fs_max(l.end, x->end[c]);
      }
    }
  }
  bool kept = v->kept_memory == memory;
  l.begin = v->given_memory == memory && (touched || kept) ? 0 : l.begin;
  l.end = kept ? x->last : l.end;
  return l;
}

/* The largest sum of sizes that are there at once. */
static uint64_t peak(const execution *x, uint32_t memory) {
  verify_idle_life l[64];
  uint32_t n = x->s->n_versions;
  uint64_t most = 0;
  ck_assert_uint_le(n, 64);
  for (uint32_t i = 0; i < n; i++) {
    l[i] = find_life(x, memory, i);
  }
  for (uint32_t i = 0; i < n; i++) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < n; k++) {
      sum += l[k].begin <= l[i].begin && l[i].begin < l[k].end ? l[k].size : 0;
    }
    most = fs_max(most, sum);
  }
  return most;
}

static void execute(const fsched_program *p, uint32_t memory, fs_rng *rng, const char *text) {
  execution x = {.s = &p->view};
  const fs_stream *s = x.s;
  ck_assert_uint_le(s->n_commands, MAX_COMMANDS);
  for (uint32_t run = 0; run < RUNS; run++) {
    if (s->meta[0].sync == FS_SYNC_BLOCK) {
      run_block(&x, rng);
    } else {
      run_timeline(&x, rng);
    }
    x.last = 0;
    for (uint32_t c = 0; c < s->n_commands; c++) {
      x.last = fs_max(x.last, x.end[c]);
    }
    uint64_t most = peak(&x, memory);
    ck_assert_msg(most <= s->memories[memory].capacity, "%llu of %llu\n%s",
                  (unsigned long long)most, (unsigned long long)s->memories[memory].capacity, text);
  }
}

/* Each program is verified when it is compiled; with barriers nothing more is checked. */
START_TEST(random_durations)
{
  static const char *const sync[] = {"timeline", "block", "barrier"};
  fs_rng rng = {(uint64_t)_i + 1};
  uint32_t n = 0;
  writer w;
  for (uint32_t round = 0; round < ROUNDS; round++) {
    write_random(&w, &rng, _i % 2 != 0, sync[_i / 2]);
    fsched_program *p = compile_text(w.text, _i / 2 == 2 ? FSCHED_BARRIERS_AUTO : 0);
    if (p != NULL) {
      n++;
      if (_i / 2 < 2) {
        execute(p, _i % 2, &rng, w.text);
      }
      fsched_program_destroy(p);
    }
  }
  ck_assert_uint_gt(n, ROUNDS / 3);
}
END_TEST

FS_SUITE(verify_idle, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, units_left, units_lost, state_in_a_store);
  FS_LOOPS(t, 0, 6, random_durations);
}
