/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier of streams on loops and loops in loops: what is accepted is in order when it is
 * unrolled, and writes what its args mean; with the graph that it is of, what the graph's unrolling
 * writes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/stream_kit.h"
#include "fsched/compile.h"
#include "fsched/replay.h"
#include "fsched/verify.h"
#include "kit/budget.h"
#include "kit/nest_gen.h"
#include "kit/turn.h"
#include "verify/edit.h"
#include "verify/rolled/breaks.h"
#include "verify/rolled/nest_judge.h"

#include "kit/context.h"

typedef struct nest_output {
  uint8_t y[FS_LOOP_GEN_Y], z[FS_LOOP_GEN_Z];
} nest_output;

typedef struct nest_case {
  uint64_t seed;
  fsched_graph *graph;
  fsched_program *program;
  nest_output unrolled;
} nest_case;

static fs_status compile(const char *text, bool unroll, fsched_graph **g, fsched_program **p) {
  fsched_read_options o = {.size = sizeof o, .unroll = unroll};
  fsched_compile_options c = {.size = sizeof c, .effort = FSCHED_EFFORT(0)};
  *g = NULL;
  *p = NULL;
  fs_status status = fsched_graph_parse(ctx, "nest", text, strlen(text), &o, g);
  return status == FSCHED_OK ? fsched_compile(ctx, *g, &c, NULL, p) : status;
}

static fs_status replay_on(fsched_device_options d, uint32_t repeat, const fsched_program *p,
                           nest_output *out) {
  fsched_binding binding[] = {{.buffer = "y", .data = out->y, .bytes = sizeof out->y},
                              {.buffer = "z", .data = out->z, .bytes = sizeof out->z}};
  fsched_replay_options o = {.size = sizeof o, .check = 1, .repeat = repeat};
  fsched_replay_result r = {.size = sizeof r};
  o.bindings = binding;
  o.n_bindings = 2;
  memset(out, 0, sizeof *out);
  ck_fs(ctx, fsched_device_create(ctx, &d, &o.device));
  fs_status status = fsched_replay(ctx, p, &o, &r);
  fsched_device_release(o.device);
  return status;
}

/* Simulated, with durations that try out the orders which are left open. */
static fs_status simulate(uint64_t seed, const fsched_program *p, nest_output *out) {
  fsched_device_options d = {.size = sizeof d, .kind = "sim", .seed = seed};
  d.durations = FSCHED_DURATIONS_ADVERSARIAL;
  return replay_on(d, 1 + (uint32_t)(seed % 3), p, out);
}

/* On threads, of which each has its own way through these orders. */
static fs_status run_threads(uint64_t seed, const fsched_program *p, nest_output *out) {
  fsched_device_options d = {.size = sizeof d, .kind = "cpu"};
  return replay_on(d, 1 + (uint32_t)(seed % 3), p, out);
}

/* Makes a random loop, or loops in loops; false if it is not right, or none stays one. */
static bool begin(uint64_t seed, nest_case *x) {
  fs_text t;
  fsched_graph *g = NULL;
  fsched_program *flat = NULL;
  *x = (nest_case){.seed = seed};
  fs_text_init(&t, ctx);
  bool joined = seed % 6 == 1 || seed % 6 == 4;
  (seed % 3 == 0 ? fs_loop_gen : joined ? fs_nest_gen_joined : fs_nest_gen)(seed, &t);
  fs_text_add(&t, "", 1);
  if (seed % 4 == 1 && !joined) {
    fs_loop_gen_use_syncs(seed, &t);
    fs_text_add(&t, "", 1);
  } else if (seed % 4 == 2) {
    fs_loop_gen_use_barriers(seed, &t);
    fs_text_add(&t, "", 1);
  }
  bool right = compile(t.at, true, &g, &flat) == FSCHED_OK &&
               compile(t.at, false, &x->graph, &x->program) == FSCHED_OK &&
               x->program->view.n_loops > 0;
  if (right) {
    ck_fs(ctx, simulate(seed, flat, &x->unrolled));
  }
  fsched_program_destroy(flat);
  fsched_graph_destroy(g);
  fs_text_drop(&t);
  fsched_diag_clear(ctx);
  return right;
}

static void end(nest_case *x) {
  fsched_program_destroy(x->program);
  fsched_graph_destroy(x->graph);
}

typedef struct nest_tally {
  uint32_t mutants, accepted, same;
} nest_tally;

static bool verify(const fsched_program *p, const fsched_graph *g) {
  fsched_diag_clear(ctx);
  return fsched_verify_program(ctx, p, g) == FSCHED_OK;
}

/* What a program that is accepted must be; every other one runs on threads, too. */
static void judge(const nest_case *x, const fsched_program *p, const char *what, nest_tally *t) {
  nest_output out[2];
  unsigned long long seed = x->seed;
  uint32_t runs = 1 + t->accepted % 2;
  const char *wrong = fs_judge_nests(&p->view);
  ck_assert_msg(wrong == NULL, "seed %llu, %s: accepted, but it breaks %s", seed, what, wrong);
  for (uint32_t k = 0; k < runs; k++) {
    fs_status status = (k == 0 ? simulate : run_threads)(seed, p, &out[k]);
    ck_assert_msg(status == FSCHED_OK, "seed %llu, %s: accepted, but %s", seed, what,
                  fs_first_message(ctx));
  }
  t->accepted++;
  if (verify(p, x->graph)) {
    for (uint32_t k = 0; k < runs; k++) {
      ck_assert_msg(memcmp(&out[k], &x->unrolled, sizeof *out) == 0,
                    "seed %llu, %s: other bytes %s", seed, what,
                    k == 0 ? "in simulation" : "on threads");
    }
    t->same++;
  }
}

/* Judges bytes that the loader takes, and the verifier. */
static void judge_bytes(const nest_case *x, const void *bytes, size_t size, const char *what,
                        nest_tally *t) {
  fsched_program *p = NULL;
  t->mutants++;
  if (fsched_program_load(ctx, "mutant", bytes, size, &p) == FSCHED_OK && verify(p, NULL)) {
    judge(x, p, what, t);
  }
  fsched_program_destroy(p);
  fsched_diag_clear(ctx);
}

/* The program's bytes are taken, and those that its text is read as are the same. */
static void must_load(const nest_case *x) {
  size_t size, same, n;
  const void *bytes = fsched_program_bytes(x->program, &size);
  fsched_program *p, *q;
  char *text;
  ck_fs(ctx, fsched_program_load(ctx, "nest", bytes, size, &p));
  ck_fs(ctx, fsched_program_json(ctx, p, &text, &n));
  ck_fs(ctx, fsched_program_assemble(ctx, "nest", text, n, &q));
  ck_assert_msg(memcmp(bytes, fsched_program_bytes(q, &same), size) == 0 && same == size,
                "seed %llu", (unsigned long long)x->seed);
  fsched_text_free(ctx, text, n);
  fsched_program_destroy(p);
  fsched_program_destroy(q);
}

START_TEST(compiled_nests)
{
  enum { GRAPHS = 60 };
  uint32_t n = 0;
  for (uint64_t k = 0; k < GRAPHS; k++) {
    nest_case x;
    nest_tally t = {0};
    if (begin((fs_turn() * 4 + (uint64_t)_i) * GRAPHS + k, &x)) {
      judge(&x, x.program, "as compiled", &t);
      ck_assert_msg(t.same == 1, "seed %llu: %s", (unsigned long long)x.seed,
                    fs_first_message(ctx));
      n++;
      must_load(&x);
    }
    end(&x);
    fsched_diag_clear(ctx);
  }
  fs_assert_seen(n, GRAPHS / 4);
}
END_TEST

/* Whether the loop around uses the value that a loop's runs find in a ring. */
static bool is_used_around(const fs_stream *s, const fs_stream_loop *l) {
  bool used = false;
  for (uint32_t k = l->ring0; k < l->ring0 + l->n_rings; k++) {
    const fs_stream_loop *around = &s->loops[l->within];
    for (uint32_t op = around->op0; op < around->op0 + around->n_ops; op++) {
      const fs_stream_loop_op *o = &s->loop_ops[op];
      for (uint32_t a = o->arg0; op != l->op && a < o->arg0 + o->n_args; a++) {
        used = used || (s->rings[k].entry != FS_RING_EMPTY &&
                        s->loop_args[a].buffer == s->loop_args[s->rings[k].arg].buffer);
      }
    }
  }
  return used;
}

/* Those of loops that may be joined are, often enough. */
START_TEST(joined_nests)
{
  enum { GRAPHS = 100 };
  uint32_t joined = 0, anew = 0;
  for (uint64_t k = 0; k < GRAPHS; k++) {
    fs_text t;
    fsched_graph *g;
    fsched_program *p;
    fs_text_init(&t, ctx);
    (_i == 0 ? fs_nest_gen_joined : fs_nest_gen_joined_barriers)(fs_turn() * GRAPHS + k, &t);
    fs_text_add(&t, "", 1);
    if (compile(t.at, false, &g, &p) == FSCHED_OK) {
      for (uint32_t l = 0; l < p->view.n_loops; l++) {
        joined += p->view.loops[l].joined;
        anew += p->view.loops[l].joined != 0 && is_used_around(&p->view, &p->view.loops[l]);
      }
    }
    fsched_program_destroy(p);
    fsched_graph_destroy(g);
    fs_text_drop(&t);
    fsched_diag_clear(ctx);
  }
  fs_assert_seen(joined, GRAPHS / 20);
  fs_assert_seen(anew, GRAPHS / 25);
}
END_TEST

/* A joined loop that reads what an op beside it writes, and writes other bytes of that buffer. */
static const char beside[] =
    "fsched: 1\n"
    "target:\n"
    "  queues: [{name: x, class: x}, {name: p, class: p}, {name: q, class: q}]\n"
    "  memories: [{name: m, capacity: 4096}]\n"
    "buffers:\n"
    "  - {name: I, size: 64, memory: m, io: input}\n"
    "  - {name: B, size: 128, memory: m, io: output}\n"
    "ops:\n"
    "- loop: L\n"
    "  trip: 3\n"
    "  ops:\n"
    "  - {name: X, on: x, time: %s, args: [{out_existing: B, at: {length: 64}}]}\n"
    "  - loop: k\n"
    "    trip: %s\n"
    "    buffers: {a: {depth: 2}}\n"
    "    ops:\n"
    "    - {name: load, on: p, time: %s, args: [{in: I}, {out: a, size: 16, memory: m}]}\n"
    "    - {name: use, on: q, time: %s, args: [{in: a}, {in: B, at: {length: 64}},"
    " {out_existing: B, at: {offset: 64, length: 64}}]}\n";

static fsched_program *compile_beside(const char *x, const char *trip, const char *time) {
  char text[1200];
  fsched_graph *g;
  fsched_program *p;
  (void)snprintf(text, sizeof text, beside, x, trip, time, time);
  ck_fs(ctx, compile(text, false, &g, &p));
  fsched_graph_destroy(g);
  return p;
}

/* Each wait of the outer loop is needed; returns how many there are. */
static uint32_t need_waits(const fsched_program *p) {
  ck_assert_uint_eq(p->view.loops[1].joined, 1);
  ck_assert(verify(p, NULL));
  uint32_t n = 0;
  for (uint32_t c = 0; c < p->view.n_loop_commands; c++) {
    bool outer = p->view.loop_commands[c].op - p->view.loops[0].op0 < p->view.loops[0].n_ops;
    for (uint32_t w = 0; outer && w < p->view.loop_commands[c].n_waits; w++) {
      fsched_program *q = fs_mutant_copy(p);
      fs_stream_loop_wait *of = (fs_stream_loop_wait *)(uintptr_t)&q->view.loop_waits[0];
      of[p->view.loop_commands[c].wait0 + w].distance += 1;
      fs_mutant_repair(q);
      ck_assert(!verify(q, NULL));
      fs_mutant_free(q);
      n++;
    }
  }
  fsched_diag_clear(ctx);
  return n;
}

/* Which arg of the loop's op an access moves with does not matter. */
START_TEST(waits_for_parts)
{
  fsched_program *p = compile_beside("50", "4", "100");
  ck_assert_uint_gt(need_waits(p), 1);
  fsched_program_destroy(p);
}
END_TEST

/* A queue goes on from a part with loads under way: what they read is written there again only when
 * they are over. */
START_TEST(waits_for_slow_parts)
{
  static const char text[] =
      "fsched: 1\n"
      "target: {queues: [{name: p, class: p}, {name: q, class: q}]}\n"
      "buffers: [{name: w, size: 64}, {name: b, size: 64, io: output}]\n"
      "ops:\n"
      "- {name: init, on: p, args: [{out: w}]}\n"
      "- loop: l\n"
      "  trip: 5\n"
      "  ops:\n"
      "  - {name: fill, on: p, time: 5, args: [{out_existing: w}]}\n"
      "  - loop: k\n"
      "    trip: 3\n"
      "    ops:\n"
      "    - {name: load, on: p, time: 2, latency: 20, args: [{in: w}, {out: a, size: 64}]}\n"
      "    - {name: use, on: q, time: 9, args: [{in: a}, {out_existing: b}]}\n";
  fsched_graph *g;
  fsched_program *p;
  ck_fs(ctx, compile(text, false, &g, &p));
  ck_assert_uint_gt(need_waits(p), 0);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

/* Ops of no time, of all queues or of one, in more runs than are followed. */
START_TEST(joined_without_time)
{
  fsched_program *p = compile_beside("0", "100000", "0"), *q = compile_beside("1", "100000", "0");
  fsched_program *r = compile_beside("1", "7", "0");
  ck_assert(verify(p, NULL) && verify(q, NULL) && verify(r, NULL));
  fsched_program_destroy(p);
  fsched_program_destroy(q);
  fsched_program_destroy(r);
}
END_TEST

/* All copies of a gang have as many commands: three ops and a gang on two queues come by turns. */
START_TEST(copies_of_a_gang)
{
  static const char text[] =
      "fsched: 1\n"
      "target: {queues: [{name: a, class: w}, {name: b, class: w}]}\n"
      "ops:\n"
      "- loop: l\n"
      "  trip: 9\n"
      "  ops:\n"
      "  - {name: x, on: w, time: 1}\n"
      "  - {name: y, on: w, time: 1}\n"
      "  - {name: z, on: w, time: 1}\n"
      "  - {name: g, on: [a, b], time: 1}\n";
  fsched_graph *g;
  fsched_program *p, *loaded = NULL;
  ck_fs(ctx, compile(text, false, &g, &p));
  ck_assert_uint_eq(p->view.loops[0].copies, 2);
  fsched_program *q = fs_mutant_copy(p);
  fs_stream_loop_command *m = (fs_stream_loop_command *)(uintptr_t)q->view.loop_commands;
  uint32_t c = p->view.loop_queues[1].command0, taken = 0;
  while (m[c].op != 3 || m[c].copy != 1) {
    c++;
  }
  for (uint32_t i = p->view.loop_queues[1].command0; i < p->view.n_loop_commands; i++) {
    taken |= m[i].copy == 1 ? 1u << m[i].op : 0;
  }
  m[c].op = (taken & 1) == 0 ? 0 : (taken & 2) == 0 ? 1 : 2; /* which is on the other queue */
  size_t size;
  fsched_program *made = fs_edit_bytes(ctx, q);
  const void *bytes = fsched_program_bytes(made, &size);
  fsched_diag_clear(ctx);
  ck_assert_int_eq(fsched_program_load(ctx, "gang", bytes, size, &loaded), FSCHED_BAD_INPUT);
  ck_assert_ptr_nonnull(strstr(fs_first_message(ctx), "and "));
  ck_assert_ptr_nonnull(strstr(fs_first_message(ctx), "for copy 0"));
  fsched_diag_clear(ctx);
  fsched_program_destroy(made);
  fs_mutant_free(q);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
}
END_TEST

/* --- small changes that make sense, and with all that goes with them --- */

static void break_nest(const nest_case *x, fs_loop_break b, bool repaired, nest_tally *t) {
  fs_rng rng = {x->seed * 128 + b * 2 + repaired};
  fsched_program *copy = fs_mutant_copy(x->program);
  if (fs_break_loop(copy, b, &rng)) {
    size_t size;
    if (repaired) {
      fs_break_repair(copy);
    }
    fsched_program *p = fs_edit_bytes(ctx, copy);
    const void *bytes = fsched_program_bytes(p, &size);
    judge_bytes(x, bytes, size, fs_break_name(b), t);
    fsched_program_destroy(p);
  }
  fs_mutant_free(copy);
}

START_TEST(broken_nests)
{
  enum { GRAPHS = 130 };
  nest_tally t[FS_BREAK_COUNT] = {{0}};
  for (uint64_t k = 0; k < GRAPHS; k++) {
    nest_case x;
    bool right = begin((fs_turn() * 4 + (uint64_t)_i) * GRAPHS + k, &x);
    for (unsigned b = 0; right && b < 2 * FS_BREAK_COUNT; b++) {
      break_nest(&x, (fs_loop_break)(b / 2), b % 2 == 1, &t[b / 2]);
    }
    end(&x);
    fsched_diag_clear(ctx);
  }
  for (unsigned b = 0; b < FS_BREAK_COUNT; b++) {
    if (getenv("FS_SHOW_TALLY") != NULL) {
      printf("  %-32s %4u mutants, %4u accepted, %4u the same\n", fs_break_name((fs_loop_break)b),
             t[b].mutants, t[b].accepted, t[b].same);
    }
    ck_assert_msg(t[b].mutants < 40 || t[b].accepted < t[b].mutants, "%s: %u mutants",
                  fs_break_name((fs_loop_break)b), t[b].mutants);
  }
}
END_TEST

/* --- all fields, one by one --- */

typedef struct loop_section {
  const char *name;
  unsigned char *at;
  size_t size;
  uint32_t n;
} loop_section;

/* X(section, type): all that loops have. */
#define LOOP_SECTIONS(X)                   \
  X(loops, fs_stream_loop)                 \
  X(loop_queues, fs_stream_loop_queue)     \
  X(loop_ops, fs_stream_loop_op)           \
  X(loop_afters, fs_stream_loop_after)     \
  X(loop_args, fs_stream_loop_arg)         \
  X(rings, fs_stream_ring)                 \
  X(loop_commands, fs_stream_loop_command) \
  X(loop_waits, fs_stream_loop_wait)       \
  X(loop_stops, fs_stream_stop)            \
  X(loop_places, fs_stream_place)

/* Changes a word: by a little, or to that of another record. */
static void change_word(const loop_section *s, uint32_t word, fs_rng *rng) {
  uint32_t value, other;
  unsigned char *at = s->at + s->size * fs_rng_below(rng, s->n) + (size_t)4 * word;
  memcpy(&value, at, 4);
  memcpy(&other, s->at + s->size * fs_rng_below(rng, s->n) + (size_t)4 * word, 4);
  switch (fs_rng_below(rng, 4)) {
    case 0:
      value++;
      break;
    case 1:
      value--;
      break;
    case 2:
      value = value == other ? value + 8 : other;
      break;
    default:
      value = value == 0 || value == FS_NONE ? fs_rng_below(rng, 3) : FS_NONE * (value % 2);
      break;
  }
  memcpy(at, &value, 4);
}

/* Changes a word of one record of each section, one after the other. */
static void change_fields(const nest_case *x, uint64_t turn, nest_tally *t) {
  fs_rng rng = {x->seed * 64 + turn};
  enum { SECTIONS = 10, WORDS = 24 };
  for (uint32_t k = 0; k < SECTIONS * WORDS; k++) {
    fs_stream_copy c = fs_stream_copy_of(x->program);
#define LOOP_SECTION_(id, type) {#id, (unsigned char *)c.id, sizeof(type), x->program->view.n_##id},
    loop_section section[] = {LOOP_SECTIONS(LOOP_SECTION_)};
    _Static_assert(sizeof section / sizeof *section == SECTIONS, "");
    const loop_section *s = &section[k / WORDS];
    if (s->n > 0 && 4 * (k % WORDS) < s->size) {
      char what[64];
      (void)snprintf(what, sizeof what, "word %u of %s", k % WORDS, s->name);
      change_word(s, k % WORDS, &rng);
      fs_stream_copy_sign(&c);
      judge_bytes(x, c.bytes, c.size, what, t);
    }
    free(c.bytes);
  }
}

START_TEST(changed_fields)
{
  enum { GRAPHS = 40 };
  nest_tally t = {0};
  for (uint64_t k = 0; k < GRAPHS; k++) {
    nest_case x;
    if (begin((fs_turn() * 4 + (uint64_t)_i) * GRAPHS + k, &x)) {
      change_fields(&x, fs_turn(), &t);
    }
    end(&x);
    fsched_diag_clear(ctx);
  }
  if (getenv("FS_SHOW_TALLY") != NULL) {
    printf("  %u mutants, %u accepted, %u the same\n", t.mutants, t.accepted, t.same);
  }
  fs_assert_seen(t.mutants, 300);
  ck_assert_uint_lt(t.accepted, t.mutants / 3);
}
END_TEST

/* --- what it costs --- */

/* A loop in a loop, with a ring in the outer one and three in the inner one. */
static const char costs[] =
    "fsched: 1\n"
    "target: {queues: [{name: q0}, {name: q1}], memories: [{name: m}]}\n"
    "buffers: [{name: z, size: 64, io: output}, {name: s, size: 64}, {name: a, size: 64},\n"
    "  {name: b, size: 64}, {name: c, size: 64}]\n"
    "ops:\n"
    "- loop: outer\n"
    "  trip: %u\n"
    "  buffers: {s: {depth: 7}}\n"
    "  ops:\n"
    "  - {name: begin, on: q0, time: 2, args: [{out: s}]}\n"
    "  - loop: inner\n"
    "    trip: %u\n"
    "    buffers: {a: {depth: %u}, b: {depth: %u}, c: {depth: %u}}\n"
    "    ops:\n"
    "    - {name: load, on: q0, time: 2, args: [{in: s}, {out: a}, {out: b}, {out: c}]}\n"
    "    - {name: use, on: q1, time: 3, args: [{in: a}, {in: b}, {in: c}, {out_existing: z}]}\n"
    "- {name: last, on: q1, args: [{out: z}]}\n";

typedef struct verify_cost {
  long allocations, peak; /* the most bytes at once */
} verify_cost;

/* What it takes to verify it, with its graph. */
static verify_cost cost_of(uint32_t outer, uint32_t inner, const uint32_t depth[3]) {
  char text[2048];
  fs_budget f = {.left = 1 << 30};
  fsched_context_options o = {.size = sizeof o, .reallocate = fs_budget_reallocate, .user = &f};
  fsched_context *own;
  fsched_graph *g;
  fsched_program *p;
  (void)snprintf(text, sizeof text, costs, outer, inner, depth[0], depth[1], depth[2]);
  ck_fs(ctx, compile(text, false, &g, &p));
  ck_assert_int_eq(fsched_context_create(&o, &own), FSCHED_OK);
  long left = f.left, held = f.held;
  f.peak = held;
  ck_fs(own, fsched_verify_program(own, p, g));
  verify_cost cost = {left - f.left, f.peak - held};
  fsched_context_destroy(own);
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
  return cost;
}

START_TEST(depths_and_trips_do_not_matter)
{
  static const uint32_t trip[][2] = {{10, 16}, {1000, 1000000}, {1000000, 1000}};
  const uint32_t depth[][3] = {{7, 7, 7}, {7, 11, 13}};
  verify_cost least = cost_of(10, 10, depth[0]);
  ck_assert_int_gt(least.allocations, 10);
  for (uint32_t i = 0; i < 6; i++) {
    verify_cost cost = cost_of(trip[i / 2][0], trip[i / 2][1], depth[i % 2]);
    ck_assert_int_eq(cost.allocations, least.allocations);
    ck_assert_int_eq(cost.peak, least.peak);
  }
}
END_TEST

FS_SUITE(verify_nests, s) {
  TCase *t = fs_case(s, fs_test_silent);
  FS_LOOPS(t, 0, 4, compiled_nests, broken_nests, changed_fields);
  FS_LOOPS(t, 0, 2, joined_nests);
  FS_TESTS(t, copies_of_a_gang, waits_for_parts, waits_for_slow_parts, joined_without_time,
           depths_and_trips_do_not_matter);
}
