/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of warnings in the library: levels per context, what each class finds beyond the files in
 * test/bad, and that a warning at the level of an error fails the call. */
#include "base/warnings.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text/diag_format.h"
#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/golden.h"
#include "model/graph.h"
#include "model/handle.h"

#include "kit/context.h"

static void set_all(fsched_context *c, fsched_warning_level level) {
  for (uint32_t i = 0; i < fsched_warning_count(); i++) {
    ck_assert_int_eq(fsched_warning_set(c, fsched_warning_name(i), level), FSCHED_OK);
  }
}

static fs_status parse(const char *text, fsched_graph **g) {
  return fsched_graph_parse(ctx, "w.yaml", text, strlen(text), NULL, g);
}

/* Counts the diagnostics with this code. */
static uint32_t count(const char *code) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    n += strcmp(fsched_diag_get(ctx, i)->code, code) == 0;
  }
  return n;
}

START_TEST(levels)
{
  ck_assert_uint_eq(fsched_warning_count(), FS_WARN_COUNT);
  for (uint32_t i = 0; i < fsched_warning_count(); i++) {
    const char *name = fsched_warning_name(i);
    bool on = fsched_warning_group_of(i) == FSCHED_WARNINGS_DEFAULT;
    ck_assert_uint_eq(fs_warn_of_name(name), i);
    ck_assert_int_eq(fsched_warning_get(ctx, i), on ? FSCHED_WARNING_ON : FSCHED_WARNING_OFF);
    const char *summary = fsched_warning_summary(i);
    ck_assert_int_eq(summary[strlen(summary) - 1], '.');
  }
  ck_assert_ptr_null(fsched_warning_name(FS_WARN_COUNT));
  ck_assert_ptr_null(fsched_warning_summary(FS_WARN_COUNT));
  ck_assert_int_eq(fsched_warning_get(ctx, FS_WARN_COUNT), FSCHED_WARNING_OFF);
  fsched_context *other;
  ck_assert_int_eq(fsched_context_create(NULL, &other), FSCHED_OK);
  ck_assert_int_eq(fsched_warning_set(ctx, "dead", FSCHED_WARNING_AS_ERROR), FSCHED_OK);
  ck_assert_int_eq(fsched_warning_get(ctx, FS_WARN_DEAD), FSCHED_WARNING_AS_ERROR);
  ck_assert_int_eq(fsched_warning_get(other, FS_WARN_DEAD), FSCHED_WARNING_OFF);
  fsched_context_destroy(other);
}
END_TEST

/* The name of a class is the code of its diagnostics. */
START_TEST(names_are_codes)
{
  static const fs_diag_code codes[] = {
#define FS_WARN(id, name, group, what) FS_DIAG_##id,
#include "base/warn.def"
#undef FS_WARN
  };
  for (uint32_t i = 0; i < fsched_warning_count(); i++) {
    ck_assert_str_eq(fsched_warning_name(i), fs_diag_code_name(codes[i]));
    ck_assert_int_eq(fs_warn_level(ctx, codes[i]), fsched_warning_get(ctx, i));
  }
  ck_assert_uint_eq(fs_warn_of_name("cycle"), FS_NONE);
}
END_TEST

START_TEST(bad_calls)
{
  ck_assert_int_eq(fsched_warning_set(ctx, "unsued", FSCHED_WARNING_ON), FSCHED_USAGE);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->hint, "did you mean 'unused'?");
  ck_assert_int_eq(fsched_warning_set(ctx, "cycle", FSCHED_WARNING_OFF), FSCHED_USAGE);
  ck_assert_int_eq(fsched_warning_set(ctx, NULL, FSCHED_WARNING_OFF), FSCHED_USAGE);
  ck_assert_int_eq(fsched_warning_set(ctx, "dead", (fsched_warning_level)3), FSCHED_USAGE);
  ck_assert_int_eq(fsched_warning_set(ctx, "dead", (fsched_warning_level)-1), FSCHED_USAGE);
  ck_assert_uint_eq(count("bad-argument"), 5);
}
END_TEST

static const char faulty[] =
    "fsched: 1\n"
    "hazards: raw\n"
    "target:\n"
    "  queues: [{name: q}, {name: idle, class: none}]\n"
    "  memories:\n"
    "    - {name: m, capacity: 64, spill: {on: q}}\n"
    "    - {name: n, capacity: 64, backing: far}\n"
    "    - {name: o, capacity: 64, backing: far, spill: {on: q}}\n"
    "    - {name: far}\n"
    "buffers: [{name: x, size: 8}, {name: y, size: 9}]\n"
    "ops:\n"
    "  - {name: a, args: [{out: x}], scratch: {n: 1, o: 1}}\n"
    "  - {name: b, args: [{in: x}, {out: y}], inplace: {y: x}, after: [a]}\n"
    "  - {name: c, args: [{inout: x}]}\n";

/* Of a buffer that several loops begin, of which one varies, they have one slot. */
static const char few_slots[] =
    "fsched: 1\n"
    "target: {queues: [{name: q}]}\n"
    "buffers: [{name: x, size: 8, io: output}]\n"
    "ops:\n"
    "  - loop: l\n"
    "    trip: {param: n, min: 1, max: 3}\n"
    "    buffers: {x: {depth: 2}}\n"
    "    ops: [{name: a, args: [{out: x}]}]\n"
    "  - {loop: m, trip: 3, ops: [{name: b, args: [{out: x}]}]}\n";

/* A loop that cannot stay one, as no queues are named. */
static const char no_queues[] =
    "fsched: 1\n"
    "buffers: [{name: x, size: 8, io: output}]\n"
    "ops: [{loop: l, trip: 3, ops: [{name: a, args: [{out: x}]}]}]\n";

/* Ranges of x move unlike each other, and those of y meet 100 iterations apart. */
static const char wide_steps[] =
    "fsched: 1\n"
    "target: {queues: [{name: q}]}\n"
    "buffers: [{name: x, size: 8, io: state}, {name: y, size: 2000, io: state}]\n"
    "ops:\n"
    "  - loop: l\n"
    "    trip: 2\n"
    "    ops: [{name: a, args: [{inout: x, at: {length: 2, step: 2}}, {in: x}]}]\n"
    "  - loop: m\n"
    "    trip: 200\n"
    "    ops:\n"
    "      - {name: b, args: [{inout: y, at: {length: 4, step: 4}}]}\n"
    "      - {name: c, args: [{in: y, at: {offset: 400, length: 4, step: 4}}]}\n";

static const char *faulty_for(uint32_t i) {
  switch (i) {
    case FS_WARN_DEPTH:
      return few_slots;
    case FS_WARN_UNROLLED:
      return no_queues;
    case FS_WARN_UNLIKE_STEPS:
    case FS_WARN_FAR_STEPS:
      return wide_steps;
    default:
      return faulty;
  }
}

/* Whether the class is found by the compiler or in profiles, not by the reader. */
static bool not_by_reader(uint32_t i) {
  return i == FS_WARN_TAINTED || i == FS_WARN_PROFILE || i == FS_WARN_STACK ||
         i == FS_WARN_BARRIERS || i == FS_WARN_REFINE;
}

START_TEST(every_class_on_and_off)
{
  fsched_graph *g;
  set_all(ctx, FSCHED_WARNING_OFF);
  ck_assert_int_eq(parse(faulty, &g), FSCHED_OK);
  fsched_graph_destroy(g);
  ck_assert_uint_eq(fsched_diag_count(ctx), 0);
  for (uint32_t i = 0; i < FS_WARN_COUNT; i++) {
    if (not_by_reader(i)) {
      continue;
    }
    set_all(ctx, FSCHED_WARNING_OFF);
    ck_assert_int_eq(fsched_warning_set(ctx, fsched_warning_name(i), FSCHED_WARNING_ON), FSCHED_OK);
    ck_assert_int_eq(parse(faulty_for(i), &g), FSCHED_OK);
    fsched_graph_destroy(g);
    ck_assert_uint_eq(fsched_diag_count(ctx), 1);
    const fsched_diag *d = fsched_diag_get(ctx, 0);
    ck_assert_str_eq(d->code, fsched_warning_name(i));
    ck_assert_int_eq(d->severity, FSCHED_WARNING);
    ck_assert_uint_gt(d->line, 0);
    ck_assert_uint_eq(fsched_diag_errors(ctx), 0);
    fsched_diag_clear(ctx);
  }
}
END_TEST

START_TEST(as_errors)
{
  for (uint32_t i = 0; i < FS_WARN_COUNT; i++) {
    if (not_by_reader(i)) {
      continue;
    }
    fsched_graph *g = NULL;
    set_all(ctx, FSCHED_WARNING_OFF);
    ck_assert_int_eq(fsched_warning_set(ctx, fsched_warning_name(i), FSCHED_WARNING_AS_ERROR),
                     FSCHED_OK);
    ck_assert_int_eq(parse(faulty_for(i), &g), FSCHED_BAD_INPUT);
    ck_assert_ptr_null(g);
    ck_assert_uint_eq(fsched_diag_errors(ctx), 1);
    ck_assert_int_eq(fsched_diag_get(ctx, 0)->severity, FSCHED_ERROR);
    fs_text t;
    char want[64];
    fs_text_init(&t, ctx);
    fs_diag_format(fsched_diag_get(ctx, 0), false, &t);
    fs_text_add(&t, "", 1);
    (void)snprintf(want, sizeof want, " [-Werror=%s]\n", fsched_warning_name(i));
    ck_assert_ptr_nonnull(strstr(t.at, want));
    fs_text_drop(&t);
    /* An error of an earlier call does not fail the next one. */
    set_all(ctx, FSCHED_WARNING_ON);
    ck_assert_int_eq(parse(faulty, &g), FSCHED_OK);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
}
END_TEST

/* A graph made by calls, which has no positions, gets the warnings, too. */
START_TEST(built_by_calls)
{
  fsched_builder *b;
  fsched_graph *g;
  uint32_t x, op;
  set_all(ctx, FSCHED_WARNING_ON);
  ck_assert_int_eq(fsched_builder_create(ctx, "calls", &b), FSCHED_OK);
  fsched_queue_desc q = {.size = sizeof q, .name = "idle", .queue_class = "none"};
  ck_assert_int_eq(fsched_builder_queue(b, &q, NULL), FSCHED_OK);
  q = (fsched_queue_desc){.size = sizeof q, .name = "q"};
  ck_assert_int_eq(fsched_builder_queue(b, &q, NULL), FSCHED_OK);
  fsched_buffer_desc d = {.size = sizeof d, .name = "x", .bytes = 8};
  ck_assert_int_eq(fsched_builder_buffer(b, &d, &x), FSCHED_OK);
  fsched_op_desc o = {.size = sizeof o, .name = "a"};
  ck_assert_int_eq(fsched_builder_op(b, &o, &op), FSCHED_OK);
  fsched_arg_desc a = {.size = sizeof a, .tag = FSCHED_OUT, .buffer = x};
  ck_assert_int_eq(fsched_builder_arg(b, op, &a), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_finish(b, &g), FSCHED_OK);
  ck_assert_uint_eq(count("dead"), 1);
  ck_assert_uint_eq(count("unused"), 1);
  ck_assert_uint_eq(fsched_diag_count(ctx), 2);
  ck_assert_ptr_null(fsched_diag_get(ctx, 0)->file);
  ck_assert_ptr_null(g->op_at);
  fsched_graph_destroy(g);
  fsched_builder_destroy(b);
}
END_TEST

START_TEST(the_rest_is_counted)
{
  fs_text t;
  fsched_graph *g;
  fs_text_init(&t, ctx);
  fs_text_puts(&t,
               "fsched: 1\nhazards: raw\ntarget: {memories: [{name: m, capacity: "
               "999}]}\nbuffers:\n  - {name: r, size: 8, io: state}\n");
  for (int i = 0; i < 23; i++) {
    fs_text_printf(&t, "  - {name: x%d, size: 8}\n", i);
  }
  fs_text_puts(&t, "ops:\n  - {name: a, size: 1}\n");
  for (int i = 0; i < 24; i++) {
    fs_text_printf(&t,
                   "  - {name: o%d, args: [{in: a}, {out_existing: r}, {out: y%d, size: 1}], "
                   "inplace: {y%d: a}, after: [a]}\n",
                   i, i, i);
  }
  set_all(ctx, FSCHED_WARNING_ON);
  ck_assert_int_eq(fsched_graph_parse(ctx, "t", t.at, t.n, NULL, &g), FSCHED_OK);
  static const struct {
    const char *code, *rest;
  } want[] = {{"inplace", "4 more 'inplace' are not possible"},
              {"unused", "3 more things are not used"},
              {"dead", "4 more results of ops are never read"},
              {"redundant-after", "4 more 'after' are not needed"},
              {"race", "256 more pairs of ops are unordered"}};
  for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
    ck_assert_uint_eq(count(want[i].code), 21);
    const fsched_diag *last = NULL;
    for (uint32_t k = 0; k < fsched_diag_count(ctx); k++) {
      const fsched_diag *d = fsched_diag_get(ctx, k);
      last = strcmp(d->code, want[i].code) == 0 ? d : last;
    }
    ck_assert_str_eq(last->message, want[i].rest);
  }
  fsched_graph_destroy(g);
  fs_text_drop(&t);
}
END_TEST

/* Is there a path of two edges or more from `from` to `to`? */
static bool far(const fsched_graph *g, uint32_t from, uint32_t to) {
  bool *seen = calloc(g->n_ops, sizeof *seen);
  uint32_t *stack = malloc(g->n_ops * sizeof *stack), n = 0;
  bool found = false;
  for (uint32_t e = g->succ0[from]; e < g->succ0[from + 1]; e++) {
    if (g->succ[e] != to) {
      seen[g->succ[e]] = true;
      stack[n++] = g->succ[e];
    }
  }
  while (n > 0) {
    uint32_t at = stack[--n];
    for (uint32_t e = g->succ0[at]; e < g->succ0[at + 1]; e++) {
      found = found || g->succ[e] == to;
      if (!seen[g->succ[e]]) {
        seen[g->succ[e]] = true;
        stack[n++] = g->succ[e];
      }
    }
  }
  free(seen);
  free(stack);
  return found;
}

/* Is there a warning about this `after`, and does it name other ops as the reason? */
static bool warned(const fsched_graph *g, uint32_t op, uint32_t before, bool *is_far) {
  char want[200];
  (void)snprintf(want, sizeof want, "op '%s' comes after '%s' anyway: ", g->op_name[op],
                 g->op_name[before]);
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    const char *message = fsched_diag_get(ctx, i)->message;
    if (strncmp(message, want, strlen(want)) == 0) {
      *is_far = strstr(message, "other ops") != NULL;
      return true;
    }
  }
  return false;
}

START_TEST(redundant_after_by_search)
{
  uint32_t found = 0, needed = 0;
  set_all(ctx, FSCHED_WARNING_OFF);
  ck_assert_int_eq(fsched_warning_set(ctx, "redundant-after", FSCHED_WARNING_ON), FSCHED_OK);
  for (uint64_t seed = 1; seed <= 200; seed++) {
    fs_gen_params p = fs_gen_any(seed, 60);
    p.afters = true;
    fsched_graph *g;
    fsched_diag_clear(ctx);
    ck_assert_int_eq(fs_gen_graph(ctx, &p, &g), FSCHED_OK);
    bool all_shown = fsched_diag_count(ctx) <= 20;
    for (uint32_t op = 0; all_shown && op < g->n_ops; op++) {
      for (uint32_t i = g->op_after0[op]; i < g->op_after0[op + 1]; i++) {
        bool is_far = false;
        bool is_warned = warned(g, op, g->after_op[i], &is_far);
        bool want = far(g, g->after_op[i], op);
        ck_assert_msg(is_warned || !want, "seed %u: op %u after %u is redundant", (unsigned)seed,
                      op, g->after_op[i]);
        ck_assert_msg(!is_far || want, "seed %u: op %u after %u is needed", (unsigned)seed, op,
                      g->after_op[i]);
        found += is_far;
        needed += !is_warned;
      }
    }
    fsched_graph_destroy(g);
  }
  ck_assert_uint_gt(found, 50);
  ck_assert_uint_gt(needed, 50);
}
END_TEST

/* The last op, on a queue of its own, waits for one op on each of the other queues. */
static fsched_graph *fan(unsigned capacity) {
  fs_text t;
  fsched_graph *g;
  fs_text_init(&t, ctx);
  fs_text_printf(&t,
                 "fsched: 1\ntarget:\n  frontier: {capacity: %u}\n"
                 "  queues: [{name: a}, {name: b}, {name: c}, {name: d, class: last}]\nops:\n"
                 "  - {name: x, on: a, size: 1}\n  - {name: y, on: b, size: 1}\n"
                 "  - {name: z, on: c, size: 1}\n"
                 "  - {name: w, on: last, args: [{in: x}, {in: y}, {in: z}]}\n",
                 capacity);
  ck_assert_int_eq(fsched_graph_parse(ctx, "fan.yaml", t.at, t.n, NULL, &g), FSCHED_OK);
  fs_text_drop(&t);
  return g;
}

START_TEST(tainted)
{
  static const fsched_compile_options verify = {.size = sizeof verify, .verify = 1};
  for (unsigned capacity = 3; capacity <= 4; capacity++) {
    for (int level = FSCHED_WARNING_OFF; level <= FSCHED_WARNING_AS_ERROR; level++) {
      fsched_schedule *s;
      fsched_program *p;
      fsched_graph *g = fan(capacity);
      bool found = capacity == 3 && level != FSCHED_WARNING_OFF;
      bool fails = found && level == FSCHED_WARNING_AS_ERROR;
      ck_assert_int_eq(fsched_warning_set(ctx, "tainted", (fsched_warning_level)level), FSCHED_OK);
      ck_assert_int_eq(fsched_compile(ctx, g, &verify, &s, &p),
                       fails ? FSCHED_BAD_INPUT : FSCHED_OK);
      ck_assert_int_eq(s == NULL, fails);
      ck_assert_int_eq(p == NULL, fails);
      ck_assert_uint_eq(fsched_diag_count(ctx), found ? 1 : 0);
      if (found) {
        const fsched_diag *d = fsched_diag_get(ctx, 0);
        ck_assert_str_eq(d->code, "tainted");
        ck_assert_str_eq(d->message, "the frontiers of 1 of 4 commands are cut to 3 entries");
        ck_assert_str_eq(d->hint, "a frontier capacity of 4 keeps all of any frontier");
        ck_assert_uint_eq(d->line, 9);
      }
      fsched_diag_clear(ctx);
      fsched_program_destroy(p);
      fsched_schedule_destroy(s);
      fsched_graph_destroy(g);
    }
  }
}
END_TEST

/* --- of the target's kind of sync --- */

/* Compiles and verifies `text` with one class at a level; the diagnostics stay. */
static fs_status compile_at(fsched_context *c, const char *text, const char *name,
                            fsched_warning_level level, fsched_compile_options o,
                            uint32_t *n_stacks) {
  fsched_graph *g = NULL;
  fsched_schedule *s = NULL;
  fs_status status = fsched_warning_set(c, name, level);
  if (status == FSCHED_OK) {
    status = fsched_graph_parse(c, "t.yaml", text, strlen(text), NULL, &g);
  }
  if (status == FSCHED_OK) {
    o.size = sizeof o;
    o.verify = 1;
    status = fsched_compile(c, g, &o, &s, NULL);
  }
  if (status == FSCHED_OK && n_stacks != NULL) {
    *n_stacks = s->sync->n_stacks;
  }
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  return status;
}

/* Two chains have three ops each, on queues of their own: what the second op of a chain writes is
 * still read while the other chain runs. */
static const char *stacked(uint64_t capacity, char text[800]) {
  (void)snprintf(text, 800,
                 "fsched: 1\n"
                 "target:\n"
                 "  sync: block\n"
                 "  queues: [{name: p}, {name: q}, {name: r}]\n"
                 "  memories:\n"
                 "    - {name: far}\n"
                 "    - {name: tiny, capacity: 8, placement: stack}\n"
                 "    - {name: near, capacity: %llu, placement: stack}\n"
                 "ops:\n"
                 "  - {name: a, on: p, args: [{out: a, size: 8, memory: near}]}\n"
                 "  - {name: b, on: q, args: [{in: a}, {out: b, size: 8, memory: near}]}\n"
                 "  - {name: c, on: r, args: [{in: b}]}\n"
                 "  - {name: d, on: p, args: [{out: d, size: 8, memory: near}]}\n"
                 "  - {name: e, on: q, args: [{in: d}, {out: e, size: 8, memory: near}]}\n"
                 "  - {name: f, on: r, args: [{in: e}], scratch: {tiny: 8}}\n",
                 (unsigned long long)capacity);
  return text;
}

/* The number of bytes that the warning names is enough: with it there is no warning. */
START_TEST(stack_that_does_not_fit)
{
  char text[800];
  uint32_t stacks = 9;
  const fsched_compile_options none = {0};
  ck_assert_int_eq(compile_at(ctx, stacked(16, text), "stack", FSCHED_WARNING_ON, none, &stacks),
                   FSCHED_OK);
  ck_assert_uint_eq(stacks, 1);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  const fsched_diag *d = fsched_diag_get(ctx, 0);
  ck_assert_str_eq(d->code, "stack");
  ck_assert_str_eq(d->file, "t.yaml");
  ck_assert_uint_eq(d->line, 8);
  ck_assert_uint_eq(d->column, 45);
  unsigned long long taken = 0;
  ck_assert_int_eq(
      sscanf(d->message, "the stack of memory 'near' takes %llu bytes, and it has 16:", &taken), 1);
  ck_assert_uint_gt(taken, 16);
  ck_assert_uint_le(taken, 32);
  fsched_diag_clear(ctx);
  ck_assert_int_eq(compile_at(ctx, stacked(16, text), "stack", FSCHED_WARNING_OFF, none, NULL),
                   FSCHED_OK);
  ck_assert_int_eq(compile_at(ctx, stacked(taken, text), "stack", FSCHED_WARNING_ON, none, &stacks),
                   FSCHED_OK);
  ck_assert_uint_eq(stacks, 2);
  ck_assert_uint_eq(fsched_diag_count(ctx), 0);
  ck_assert_int_eq(compile_at(ctx, stacked(16, text), "stack", FSCHED_WARNING_AS_ERROR, none, NULL),
                   FSCHED_BAD_INPUT);
}
END_TEST

START_TEST(unused_barriers)
{
  static const struct {
    const char *target, *op;
    uint32_t barriers, column; /* those of the warning; 0: there is no warning */
  } cases[] = {
      {"{}", "", 0, 0},
      {"{barriers: {}}", "", 0, 0},
      {"{barriers: {count: 4}}", "", 0, 28},
      {"{barriers: {slots: 4}}", ", slots: 2", 0, 28},
      {"{barriers: {count: auto, slots: 4}, sync: block}", "", 0, 28},
      {"{sync: timeline, barriers: {slots: 1, count: 2}}", "", 0, 54},
      {"{sync: barrier, barriers: {count: 4}}", ", slots: 2", 0, 0},
      {"{barriers: {count: 4}}", ", slots: 2", 3, 0},
      {"{sync: block, barriers: {count: 4}}", "", FSCHED_BARRIERS_AUTO, 0},
      {"{}", ", slots: 1", 0, 0},
      {"{}", ", slots: 2", 0, 1},
      {"{sync: block}", ", slots: 3", 0, 1},
      {"{}", ", slots: 2", 1, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[300];
    (void)snprintf(text, sizeof text,
                   "fsched: 1\ntarget: %s\nops:\n  - {name: a}\n  - {name: b%s}\n", cases[i].target,
                   cases[i].op);
    const fsched_compile_options o = {.barriers = cases[i].barriers};
    for (int level = FSCHED_WARNING_OFF; level <= FSCHED_WARNING_AS_ERROR; level++) {
      bool found = cases[i].column != 0 && level != FSCHED_WARNING_OFF;
      bool fails = found && level == FSCHED_WARNING_AS_ERROR;
      fs_status status = compile_at(ctx, text, "barriers", (fsched_warning_level)level, o, NULL);
      ck_assert_msg(status == (fails ? FSCHED_BAD_INPUT : FSCHED_OK), "%s", text);
      ck_assert_msg(fsched_diag_count(ctx) == (found ? 1 : 0), "%s", text);
      if (found) {
        const fsched_diag *d = fsched_diag_get(ctx, 0);
        ck_assert_str_eq(d->code, "barriers");
        if (cases[i].column > 1) {
          ck_assert_uint_eq(d->line, 2);
          ck_assert_msg(d->column == cases[i].column, "%s: %u", text, d->column);
        } else {
          ck_assert_uint_eq(d->line, 5);
        }
      }
      fsched_diag_clear(ctx);
    }
  }
}
END_TEST

/* An override with another kind of sync is deliberate, so there is no warning. */
START_TEST(unused_barriers_by_choice)
{
  static const char text[] =
      "fsched: 1\ntarget: {sync: barrier, barriers: {count: 4}}\nops: [{name: a, slots: 2}]\n";
  static const char *const set = "sync=timeline";
  fsched_read_options o = {.size = sizeof o, .target_overrides = &set, .n_target_overrides = 1};
  fsched_graph *g;
  set_all(ctx, FSCHED_WARNING_ON);
  ck_assert_int_eq(fsched_graph_parse(ctx, "t", text, strlen(text), &o, &g), FSCHED_OK);
  ck_assert_int_eq(fsched_compile(ctx, g, NULL, NULL, NULL), FSCHED_OK);
  ck_assert_uint_eq(fsched_diag_count(ctx), 0);
  fsched_graph_destroy(g);
}
END_TEST

/* A warning of the compiler is lost only where memory runs out, which is an error itself. */
START_TEST(compiler_allocation_may_fail)
{
  char text[800], name[3000];
  const char *barriers = name;
  int at = sprintf(name, "fsched: 1\ntarget: {barriers: {count: 2}}\nops: [{name: ");
  memset(name + at, 'x', 2000);
  strcpy(name + at + 2000, "}]\n");
  (void)stacked(16, text);
  bool done = false;
  for (long n = 1; !done; n += 1 + n / 32) {
    fs_budget budget = {.left = n};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *c;
    if (fsched_context_create(&o, &c) == FSCHED_OK) {
      fs_status status = compile_at(c, _i == 0 ? text : barriers, _i == 0 ? "stack" : "barriers",
                                    FSCHED_WARNING_ON, (fsched_compile_options){0}, NULL);
      done = status == FSCHED_OK;
      ck_assert(done || status == FSCHED_SYSTEM);
      ck_assert(!done || (budget.left >= 0 && fsched_diag_count(c) == 1));
      fsched_context_destroy(c);
    }
    ck_assert_int_eq(budget.blocks, 0);
    ck_assert_int_lt(n, 1000000);
  }
}
END_TEST

/* The texts have several warnings, or one that is longer than a block of memory. */
START_TEST(every_allocation_may_fail)
{
  enum { LONG = 200000 };
  char *wide = malloc(LONG + 200);
  int at = sprintf(wide, "fsched: 1\nops:\n  - {name: a, args: [{out: ");
  memset(wide + at, 'x', LONG);
  strcpy(wide + at + LONG, ", size: 1}]}\n");
  const char *text = _i == 0 ? faulty : wide;
  bool done = false;
  for (long n = 1; !done; n++) {
    fs_budget budget = {.left = n};
    fsched_context_options o = {
        .size = sizeof o, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *c;
    if (fsched_context_create(&o, &c) == FSCHED_OK) {
      fsched_graph *g = NULL;
      set_all(c, FSCHED_WARNING_ON);
      fs_status status = fsched_graph_parse(c, "t", text, strlen(text), NULL, &g);
      done = status == FSCHED_OK;
      ck_assert(done || status == FSCHED_SYSTEM);
      ck_assert(!done || budget.left >= 0);
      fsched_graph_destroy(g);
      fsched_context_destroy(c);
    }
    ck_assert_int_eq(budget.blocks, 0);
    ck_assert_int_lt(n, 5000);
  }
  free(wide);
}
END_TEST

FS_SUITE(warnings, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, levels, names_are_codes, bad_calls, every_class_on_and_off, as_errors, built_by_calls,
           the_rest_is_counted, redundant_after_by_search, tainted, stack_that_does_not_fit,
           unused_barriers, unused_barriers_by_choice);
  FS_LOOPS(t, 0, 2, compiler_allocation_may_fail, every_allocation_may_fail);
}
