/* SPDX-License-Identifier: Apache-2.0 */
/* The shared facts about circular buffers, of loops that stay loops, with each kind of sync that
 * has them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsched/compile.h"
#include "fsched/replay.h"
#include "fsched/verify.h"
#include "kit/quick.h"
#include "kit/shared_facts.h"
#include "model/stream/stream.h"

#include "kit/context.h"

enum { SLOT = 64, MOST = 64 };

static const char *const queues[] = {
    "queues: [{name: dma}, {name: mma}]",
    "queues: [{name: dma}, {name: mma}], sync: block",
    "queues: [{name: dma, counting: true}, {name: mma, counting: true}], sync: block",
    "queues: [{name: dma}, {name: mma}], sync: barrier, barriers: {count: auto}",
};
enum { KINDS = sizeof queues / sizeof *queues, BARRIERS = KINDS - 1 };

static fs_status compile(const char *text, fsched_program **p) {
  fsched_read_options o = {.size = sizeof o};
  fsched_graph *g;
  *p = NULL;
  fs_status status = fsched_graph_parse(ctx, "facts", text, strlen(text), &o, &g);
  if (status == FSCHED_OK) {
    status = fsched_compile(ctx, g, &fs_quick, NULL, p);
    fsched_graph_destroy(g);
  }
  return status;
}

/* Loads to D slots and their uses, N times; the memory has room for the slots and nothing else. */
static fsched_program *compile_ring(uint64_t n, uint64_t depth, int kind) {
  char text[1024];
  fsched_program *p;
  uint64_t slots = n < depth ? n : depth;
  (void)snprintf(text, sizeof text,
                 "fsched: 1\ntarget: {%s, memories: [{name: ddr}, {name: m, capacity: %llu}]}\n"
                 "buffers:\n- {name: x, size: 4096, memory: ddr, io: input}\n"
                 "- {name: y, size: 4096, memory: ddr, io: output}\n"
                 "ops:\n- {name: init, on: mma, args: [{out: y}]}\n"
                 "- loop: l\n  trip: %llu\n  buffers: {a: {depth: %llu}}\n"
                 "  ops:\n  - {name: load, on: dma, time: 4, args: [{in: x, at: {length: %d, step: "
                 "%d}}, {out: a, size: %d, memory: m}]}\n"
                 "  - {name: use, on: mma, time: 2, args: [{in: a}, {out_existing: y, at: {length: "
                 "%d, step: %d}}]}\n",
                 queues[kind], (unsigned long long)(slots == 0 ? SLOT : slots * SLOT),
                 (unsigned long long)n, (unsigned long long)depth, SLOT, SLOT, SLOT, SLOT, SLOT);
  ck_fs(ctx, compile(text, &p));
  return p;
}

static void replay(const fsched_program *p) {
  fsched_replay_options o = {.size = sizeof o, .check = 1};
  fsched_replay_result r = {.size = sizeof r};
  ck_fs(ctx, fsched_verify_program(ctx, p, NULL));
  ck_fs(ctx, fsched_replay(ctx, p, &o, &r));
}

/* The command of an op of the loop, of which there is one. */
static const fs_stream_loop_command *command_of(const fs_stream *s, const char *name) {
  for (uint32_t c = 0; c < s->n_loop_commands; c++) {
    if (strcmp(fs_stream_string(s, s->loop_ops[s->loop_commands[c].op].name), name) == 0) {
      return &s->loop_commands[c];
    }
  }
  ck_abort_msg("no op %s", name);
}

/* When iteration i of a command is issued, in commands. */
static uint64_t issued_at(const fs_stream *s, const fs_stream_loop_command *k, uint64_t i) {
  return (i / s->loops[0].copies + k->shift) * s->n_loop_commands + k->issue;
}

/* The command that runs iteration i of an op. */
static const fs_stream_loop_command *command_for(const fs_stream *s, const char *name, uint64_t i) {
  for (uint32_t c = 0; c < s->n_loop_commands; c++) {
    const fs_stream_loop_command *k = &s->loop_commands[c];
    if (k->copy == i % s->loops[0].copies &&
        strcmp(fs_stream_string(s, s->loop_ops[k->op].name), name) == 0) {
      return k;
    }
  }
  ck_abort_msg("no op %s of iteration %llu", name, (unsigned long long)i);
}

/* Loads do not run further ahead than there are slots. */
static void check_issue(const fs_stream *s, uint64_t trip, uint64_t depth) {
  for (uint64_t i = 0; i < trip; i++) {
    uint64_t use = issued_at(s, command_for(s, "use", i), i);
    ck_assert_uint_lt(issued_at(s, command_for(s, "load", i), i), use);
    if (i + depth < trip) {
      ck_assert_uint_gt(issued_at(s, command_for(s, "load", i + depth), i + depth), use);
    }
  }
}

/* Whatever depths and prefetches go together elsewhere: all compile, in min(N, D) slots, and run
 * all iterations. */
START_TEST(trips_and_depths)
{
  FILE *file = fs_shared_facts("circular_vectors.txt");
  char line[4096];
  int n = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    unsigned long long trip, depth, prefetch;
    if (sscanf(line, "loop N=%llu D=%llu P=%llu", &trip, &depth, &prefetch) != 3 &&
        sscanf(line, "trip N=%llu D=%llu P=%llu", &trip, &depth, &prefetch) != 3) {
      continue;
    }
    fsched_program *p = compile_ring(trip, depth, _i);
    ck_assert_uint_eq(p->view.n_loops, trip > 0);
    if (trip > 0) {
      ck_assert_uint_eq(p->view.loops[0].trip, trip);
      ck_assert_uint_eq(p->view.rings[0].depth, trip < depth ? trip : depth);
      if (_i > 0 && _i != BARRIERS) { /* of which more copies may need fewer syncs */
        check_issue(&p->view, trip, depth);
      } else {
        ck_assert_uint_eq(p->view.loops[0].copies, 1);
      }
    }
    replay(p);
    fsched_program_destroy(p);
    n++;
  }
  if (file != NULL) {
    (void)fclose(file);
    ck_assert_int_eq(n, 24);
  }
}
END_TEST

/* --- depths that are chosen --- */

/* A ring has no more slots than iterations, and one for what is there on entry; and nothing waits
 * for iterations that there are not. */
START_TEST(few_iterations)
{
  for (uint32_t trip = 1; trip <= 5; trip++) {
    char text[1024];
    fsched_program *p;
    (void)snprintf(text, sizeof text,
                   "fsched: 1\ntarget: {%s, memories: [{name: m, capacity: 4096}]}\n"
                   "buffers: [{name: a, size: 64}, {name: s, size: 64}, {name: y, size: 64, "
                   "io: output}]\nops:\n- {name: pre, on: mma, args: [{out: s}]}\n"
                   "- loop: l\n  trip: %u\n  ops:\n"
                   "  - {name: load, on: dma, time: 2, args: [{out: a}]}\n"
                   "  - {name: use, on: mma, time: 9, args: [{in: a}, {in: s, distance: 1}, "
                   "{out: s}]}\n"
                   "  - {name: look, on: dma, time: 2, args: [{in: a}, {inout: s}]}\n"
                   "- {name: last, on: mma, args: [{in: s}, {out: y}]}\n",
                   queues[_i], trip);
    ck_fs(ctx, compile(text, &p));
    const fs_stream *s = &p->view;
    ck_assert_uint_eq(s->n_rings, 2);
    for (uint32_t r = 0; r < s->n_rings; r++) {
      ck_assert_uint_ge(s->rings[r].depth, 1);
      ck_assert_uint_le(s->rings[r].depth, trip + s->rings[r].entry);
    }
    for (uint32_t w = 0; w < s->n_loop_waits; w++) {
      ck_assert_uint_lt(s->loop_waits[w].distance, trip);
    }
    replay(p);
    fsched_program_destroy(p);
  }
}
END_TEST

/* --- barriers --- */

/* The barrier that iteration i of an op updates, and the parity of its phase, as guards say. */
static void find_update(const fs_stream *s, const char *name, uint64_t i, uint64_t *slot,
                        uint64_t *parity) {
  uint32_t op = command_of(s, name)->op;
  for (uint32_t g = 0; g < s->n_guards; g++) {
    const fs_stream_guard *x = &s->guards[g];
    if (s->producers[x->producer0] == op) {
      *slot = i % x->depth;
      *parity = i / x->depth % 2;
      return;
    }
  }
  ck_abort_msg("nothing tells that %s is over", name);
}

/* The barrier that iteration i of an op looks at, as its one check says. */
static void find_check(const fs_stream *s, const char *name, uint64_t i, uint64_t *slot,
                       uint64_t *parity) {
  const fs_stream_loop_command *k = command_of(s, name);
  ck_assert_uint_eq(k->n_checks, 1);
  const fs_stream_guard_check *x = &s->guard_checks[k->check0];
  uint64_t depth = s->guards[x->guard].depth;
  *slot = (i + depth - x->distance) % depth;
  *parity = (i + depth - x->distance) / depth % 2 == 0; /* phases begin at -1 */
}

/* Slots and parities of full and empty barriers.  Nothing arrives before the loop: what loads ask
 * of empty slots in the first D iterations is what new barriers have. */
START_TEST(parities)
{
  FILE *file = fs_shared_facts("circular_vectors.txt");
  char line[4096];
  int n = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    unsigned long long depth, prefetch, i, slot, full, empty, nv, inverse;
    if (sscanf(line,
               "sem D=%llu P=%llu i=%llu slot=%llu full_par=%llu empty_slot=%llu "
               "empty_par_nv=%llu empty_par_inv=%llu",
               &depth, &prefetch, &i, &slot, &full, &empty, &nv, &inverse) != 8) {
      continue;
    }
    fsched_program *p = compile_ring(24, depth, BARRIERS);
    uint64_t at, parity;
    find_update(&p->view, "load", i, &at, &parity);
    ck_assert(at == slot && parity == full);
    find_check(&p->view, "use", i, &at, &parity);
    ck_assert(at == slot && parity == full);
    find_check(&p->view, "load", i, &at, &parity);
    ck_assert(at == empty && parity == inverse);
    find_update(&p->view, "use", i, &at, &parity);
    ck_assert(at == empty && parity != inverse);
    fsched_program_destroy(p);
    n++;
  }
  if (file != NULL) {
    (void)fclose(file);
    ck_assert_int_eq(n, 12);
  }
}
END_TEST

/* --- a loop in a loop --- */

static fs_status compile_nest(uint32_t capacity, int kind, fsched_program **p) {
  char text[1024];
  (void)snprintf(text, sizeof text,
                 "fsched: 1\ntarget: {%s, memories: [{name: ddr}, {name: m, capacity: %u}]}\n"
                 "buffers:\n- {name: x, size: 4096, memory: ddr, io: input}\n"
                 "- {name: y, size: 4096, memory: ddr, io: output}\n"
                 "- {name: t2, size: 64, memory: m}\n- {name: t5, size: 64, memory: m}\n"
                 "ops:\n- {name: init, on: mma, args: [{out: y}]}\n"
                 "- {name: first, on: dma, args: [{in: x, at: {length: 64}}, {out: t2}]}\n"
                 "- loop: outer\n  trip: 3\n  ops:\n"
                 "  - loop: inner\n    trip: 4\n    buffers: {t5: {depth: 1}}\n    ops:\n"
                 "    - {name: calc, on: mma, time: 2, args: [{in: t2}, {out: t5}]}\n"
                 "    - {name: put, on: dma, args: [{in: t5}, {out_existing: y, at: {length: 64, "
                 "step: [256, 64]}}]}\n",
                 queues[kind], capacity);
  return compile(text, p);
}

/* The place of the arg of an op that is in a buffer. */
static const fs_stream_place *place_of(const fs_stream *s, const char *op, const char *buffer) {
  const fs_stream_loop_command *c = command_of(s, op);
  for (uint32_t i = c->place0; i < c->place0 + c->n_places; i++) {
    const fs_stream_place *p = &s->loop_places[i];
    uint32_t b = p->arg == FS_NONE ? FS_NONE : s->loop_args[p->arg].buffer;
    if (b != FS_NONE && strcmp(fs_stream_string(s, s->buffers[b].name), buffer) == 0) {
      return p;
    }
  }
  ck_abort_msg("no place of %s", buffer);
}

/* What the inner loop writes is not in the place of what its next run reads. */
START_TEST(next_outer_iteration)
{
  FILE *file = fs_shared_facts("circular_vectors.txt");
  char line[4096];
  int n = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    n += strncmp(line, "alias ", 6) == 0 && strstr(line, "expect=no") != NULL &&
         strstr(line, "inner_loop_write_clobbers_value_read_by_next_outer_iteration") != NULL;
  }
  if (file != NULL) {
    (void)fclose(file);
    ck_assert_int_eq(n, 1);
  }
  fsched_program *p;
  ck_fs(ctx, compile_nest(2 * SLOT, _i, &p));
  const fs_stream_place *read = place_of(&p->view, "calc", "t2");
  const fs_stream_place *written = place_of(&p->view, "calc", "t5");
  ck_assert(read->index == written->index && read->size == SLOT && written->size == SLOT);
  ck_assert(read->address + SLOT <= written->address || written->address + SLOT <= read->address);
  replay(p);
  fsched_program_destroy(p);
  ck_assert_int_eq(compile_nest(SLOT, _i, &p), FSCHED_INFEASIBLE);
  fsched_diag_clear(ctx);
}
END_TEST

FS_SUITE(loop_facts, s) {
  TCase *t = fs_case(s, fs_test_silent);
  FS_LOOPS(t, 0, KINDS, trips_and_depths, few_iterations, next_outer_iteration);
  FS_TESTS(t, parities);
}
