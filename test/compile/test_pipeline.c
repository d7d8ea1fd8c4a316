/* SPDX-License-Identifier: Apache-2.0 */
/* The list of passes, the dumps of each, and the progress of long work: neither dumps nor progress
 * change a result. */
#include <stdio.h>
#include <stdlib.h>

#include "base/context.h"
#include "fsched/replay.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/golden.h"
#include "kit/golden_case.h"

#include "kit/context.h"

static uint64_t all_passes(void) { return ((uint64_t)1 << fsched_pass_count()) - 1; }

static uint32_t pass_of(const char *name) {
  for (uint32_t i = 0; i < fsched_pass_count(); i++) {
    if (strcmp(fsched_pass_name(i), name) == 0) {
      return i;
    }
  }
  ck_abort_msg("no pass %s", name);
  return 0;
}

static uint64_t bit_of(const char *name) { return (uint64_t)1 << pass_of(name); }

/* The passes that run for a target with timelines, without a refinement, for a graph that had no
 * loops. */
static uint64_t timeline_passes(void) {
  return all_passes() & ~(bit_of("barrier") | bit_of("block") | bit_of("refine") | bit_of("loops"));
}

START_TEST(passes)
{
  static const char *const order[] = {"bounds",  "loops", "listsched", "ctrledge", "waits",
                                      "barrier", "block", "codegen",   "verify"};
  uint32_t last = 0;
  for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
    uint32_t at = pass_of(order[i]);
    ck_assert(i == 0 || at > last);
    last = at;
  }
  for (uint32_t i = 0; i < fsched_pass_count(); i++) {
    const char *summary = fsched_pass_summary(i);
    ck_assert_int_eq(summary[strlen(summary) - 1], '.');
    ck_assert_uint_eq(pass_of(fsched_pass_name(i)), i);
  }
}
END_TEST

typedef struct dumps {
  fs_text t;
  uint64_t seen; /* a bit for each pass */
} dumps;

static void collect(void *user, uint32_t pass, const char *text, size_t length) {
  dumps *d = user;
  ck_assert_uint_eq(strlen(text), length);
  ck_assert_uint_gt(length, 0);
  ck_assert_int_eq(text[length - 1], '\n');
  ck_assert_msg(d->seen >> pass == 0, "passes are shown in their order, once");
  d->seen |= (uint64_t)1 << pass;
  fs_text_printf(&d->t, "== %s\n", fsched_pass_name(pass));
  fs_text_add(&d->t, text, length);
}

static void golden_dump(const char *name) {
  char file[64];
  dumps d = {0};
  fs_text_init(&d.t, ctx);
  fsched_graph *g = fs_golden_graph(ctx, name);
  fsched_compile_options o = {
      .size = sizeof o, .verify = 1, .dump_after = all_passes(), .dump = collect, .dump_user = &d};
  ck_fs(ctx, fsched_compile(ctx, g, &o, NULL, NULL));
  ck_assert_uint_eq(d.seen, timeline_passes());
  (void)snprintf(file, sizeof file, "%s.dump.txt", name);
  fs_golden_check(file, d.t.at, d.t.n);
  fs_text_drop(&d.t);
  fsched_graph_destroy(g);
}

START_TEST(dumps_of_figure_10)
{ golden_dump("figure-10"); }
END_TEST
/* The graph has scratch, gangs, counted memories, resources and concurrency. */
START_TEST(dumps_of_rich)
{ golden_dump("rich"); }
END_TEST

START_TEST(dumps_asked_for)
{
  fsched_graph *g = fs_golden_graph(ctx, "figure-10");
  for (uint64_t asked = 0; asked <= all_passes(); asked++) {
    for (int verify = 0; verify <= 1; verify++) {
      dumps d = {0};
      fs_text_init(&d.t, ctx);
      fsched_compile_options o = {.size = sizeof o,
                                  .verify = verify,
                                  .dump_after = asked,
                                  .dump = collect,
                                  .dump_user = &d};
      ck_fs(ctx, fsched_compile(ctx, g, &o, NULL, NULL));
      uint64_t checks = (uint64_t)1 << pass_of("verify");
      ck_assert_uint_eq(d.seen, asked & timeline_passes() & (verify ? asked : ~checks));
      fs_text_drop(&d.t);
    }
  }
  fsched_graph_destroy(g);
}
END_TEST

/* Barriers have a pass of their own, after which its dump exists. */
START_TEST(passes_for_barriers)
{
  dumps d = {0};
  fs_text_init(&d.t, ctx);
  fsched_graph *g = fs_golden_graph(ctx, "figure-10");
  fsched_compile_options o = {.size = sizeof o,
                              .dump_after = all_passes(),
                              .dump = collect,
                              .dump_user = &d,
                              .barriers = 2};
  ck_fs(ctx, fsched_compile(ctx, g, &o, NULL, NULL));
  uint64_t others = bit_of("block") | bit_of("verify") | bit_of("refine") | bit_of("loops");
  ck_assert_uint_eq(d.seen, all_passes() & ~others);
  fs_text_drop(&d.t);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(bad_dumps)
{
  fsched_graph *g = fs_golden_graph(ctx, "figure-10");
  fsched_compile_options o = {.size = sizeof o, .dump_after = 1};
  ck_assert_int_eq(fsched_compile(ctx, g, &o, NULL, NULL), FSCHED_USAGE);
  dumps d = {0};
  o.dump = collect;
  o.dump_user = &d;
  o.dump_after = all_passes() + 1;
  ck_assert_int_eq(fsched_compile(ctx, g, &o, NULL, NULL), FSCHED_USAGE);
  ck_assert_uint_eq(d.seen, 0);
  /* Callers that were built before there were dumps pass a shorter struct; what lies behind it is
   * not read. */
  o.size = FS_SIZE_UP_TO(fsched_compile_options, pass_seconds);
  ck_fs(ctx, fsched_compile(ctx, g, &o, NULL, NULL));
  ck_assert_uint_eq(d.seen, 0);
  fsched_graph_destroy(g);
}
END_TEST

typedef struct listener {
  char what[16];
  uint64_t done, total;
  uint32_t calls, works, between; /* between: calls that are neither the first nor the last */
} listener;

static void listen(void *user, const char *what, uint64_t done, uint64_t total) {
  listener *l = user;
  l->calls++;
  ck_assert_uint_le(done, total);
  if (done == 0) {
    ck_assert_uint_eq(l->done, l->total); /* the work before is complete */
    (void)snprintf(l->what, sizeof l->what, "%s", what);
    l->works++;
  } else {
    ck_assert_str_eq(l->what, what);
    ck_assert_uint_gt(done, l->done);
    l->between += done < total;
  }
  l->done = done;
  l->total = total;
}

/* Returns the stream of a graph, as a copy that is to be freed. */
static void *compile_bytes(const fsched_graph *g, size_t *size) {
  fsched_program *p;
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  ck_fs(ctx, fsched_compile(ctx, g, &o, NULL, &p));
  const void *bytes = fsched_program_bytes(p, size);
  void *copy = malloc(*size);
  memcpy(copy, bytes, *size);
  fsched_program_destroy(p);
  return copy;
}

START_TEST(progress_of_compile)
{
  uint32_t between = 0;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    bool big = seed % 8 == 0;
    fs_gen_params p = fs_gen_any(seed, big ? 3000 : 100);
    p.views = p.ats;
    p.class_gangs = seed % 3 == 0;
    p.members = p.gangs;
    p.tightness = big ? 8 : p.tightness;
    fsched_graph *g;
    size_t n, heard_n;
    ck_fs(ctx, fs_gen_graph(ctx, &p, &g));
    void *bytes = compile_bytes(g, &n);
    listener l = {0};
    fsched_progress_set(ctx, listen, &l);
    void *heard = compile_bytes(g, &heard_n);
    fsched_progress_set(ctx, NULL, NULL);
    ck_assert_uint_eq(n, heard_n);
    ck_assert_int_eq(memcmp(bytes, heard, n), 0);
    ck_assert_uint_eq(l.works, fsched_pass_count() - 4);
    ck_assert_uint_eq(l.done, l.total);
    ck_assert_str_eq(l.what, "verify");
    between += l.between;
    free(bytes);
    free(heard);
    fsched_graph_destroy(g);
  }
  ck_assert_uint_gt(between, 100);
}
END_TEST

START_TEST(progress_of_the_rest)
{
  listener l = {0};
  fsched_progress_set(ctx, listen, &l);
  fsched_graph *g = fs_golden_graph(ctx, "figure-10");
  ck_assert_str_eq(l.what, "read");
  ck_assert_uint_eq(l.calls, 4);
  fsched_schedule *s;
  fsched_program *p;
  ck_fs(ctx, fsched_compile(ctx, g, NULL, &s, &p));
  l = (listener){0};
  ck_fs(ctx, fsched_verify_schedule(ctx, g, s));
  ck_assert_str_eq(l.what, "verify");
  ck_fs(ctx, fsched_verify_program(ctx, p, g));
  ck_assert_uint_eq(l.works, 2);
  ck_assert_uint_eq(l.done, l.total);
  l = (listener){0};
  fsched_replay_options o = {.size = sizeof o, .repeat = 250, .check = 1};
  fsched_replay_result r = {.size = sizeof r};
  ck_fs(ctx, fsched_replay_cpu(ctx, p, &o, &r));
  ck_assert_str_eq(l.what, "replay");
  ck_assert_uint_eq(l.total, 250);
  ck_assert_uint_eq(l.calls, 1 + 84); /* in parts of 3 */
  ck_assert_uint_eq(r.checked_ops, 5);
  ck_assert_uint_le(r.minimum_ns, r.elapsed_ns / 250);
  fsched_program_destroy(p);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* Work that fails does not reach its end; the next work begins from 0. */
START_TEST(progress_of_failures)
{
  listener l = {0};
  fsched_graph *g;
  fsched_progress_set(ctx, listen, &l);
  static const char bad[] = "fsched: 1\nops: [{name: a, nme: b}]\n";
  ck_assert_int_eq(fsched_graph_parse(ctx, "bad", bad, strlen(bad), NULL, &g), FSCHED_BAD_INPUT);
  ck_assert_uint_eq(l.works, 1);
  ck_assert_uint_lt(l.done, l.total);
  l.done = l.total;
  g = fs_golden_graph(ctx, "figure-10");
  ck_assert_uint_eq(l.works, 2);
  fsched_graph_destroy(g);
}
END_TEST

/* "No schedule was found" points to where the op is described, but not in a context that has not
 * read the file, and not for a graph made by calls. */
START_TEST(no_schedule_is_located)
{
  fsched_graph *g;
  static const char *const hopeless =
      "fsched: 1\n"
      "target:\n"
      "  queues: [{name: q}]\n"
      "  memories: [{name: m, capacity: 10}]\n"
      "buffers: [{name: x, size: 6, io: input}, {name: y, size: 6, io: input}]\n"
      "ops:\n"
      "  - {name: a}\n"
      "  - {name: b, args: [{in: x}]}\n"
      "  - {name: c, args: [{in: y}]}\n";
  static const char *const late =
      "fsched: 1\n"
      "ops:\n"
      "  - {name: a, time: 9, size: 1}\n"
      "  - {name: b, start: 3, args: [{in: a}]}\n";
  static const char *const blocked =
      "fsched: 1\n"
      "target:\n"
      "  queues: [{name: q}]\n"
      "  memories: [{name: m, capacity: 10}]\n"
      "buffers: [{name: x, size: 6, io: output}, {name: y, size: 6, io: output}]\n"
      "ops:\n"
      "  - {name: a, args: [{out: x}]}\n"
      "  - {name: b, args: [{out: y}]}\n";
  const struct {
    const char *text;
    unsigned line;
  } want[] = {{hopeless, 9}, {late, 4}, {blocked, 8}};
  for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
    const char *t = want[i].text;
    ck_fs(ctx, fsched_graph_parse(ctx, "n.yaml", t, strlen(t), NULL, &g));
    ck_assert_int_eq(fsched_compile(ctx, g, NULL, NULL, NULL), FSCHED_INFEASIBLE);
    const fsched_diag *d = fsched_diag_get(ctx, 0);
    ck_assert_str_eq(d->code, "no-schedule");
    ck_assert_str_eq(d->file, "n.yaml");
    ck_assert_uint_eq(d->line, want[i].line);
    fsched_diag_clear(ctx);
    fsched_context *other;
    ck_assert_int_eq(fsched_context_create(NULL, &other), FSCHED_OK);
    fsched_graph_destroy(fs_golden_graph(other, "figure-10")); /* a file of its own */
    ck_assert_int_eq(fsched_compile(other, g, NULL, NULL, NULL), FSCHED_INFEASIBLE);
    ck_assert_ptr_null(fsched_diag_get(other, 0)->file);
    fsched_context_destroy(other);
    fsched_graph_destroy(g);
  }
}
END_TEST

START_TEST(every_allocation_may_fail)
{
  bool done = false;
  for (long n = 1; !done; n += 1 + n / 16) {
    fs_budget budget = {.left = n};
    fsched_context_options c = {
        .size = sizeof c, .reallocate = fs_budget_reallocate, .user = &budget};
    fsched_context *own;
    fsched_graph *g = fs_golden_graph(ctx, "rich");
    if (fsched_context_create(&c, &own) == FSCHED_OK) {
      dumps d = {0};
      fs_text_init(&d.t, ctx);
      fsched_compile_options o = {.size = sizeof o,
                                  .verify = 1,
                                  .dump_after = all_passes(),
                                  .dump = collect,
                                  .dump_user = &d};
      fs_status status = fsched_compile(own, g, &o, NULL, NULL);
      done = status == FSCHED_OK;
      ck_assert(done || status == FSCHED_SYSTEM);
      fs_text_drop(&d.t);
      fsched_context_destroy(own);
    }
    fsched_graph_destroy(g);
    ck_assert_int_eq(budget.blocks, 0);
    ck_assert_int_lt(n, 1000000);
  }
}
END_TEST

FS_SUITE(pipeline, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, passes, dumps_of_figure_10, dumps_of_rich, dumps_asked_for, passes_for_barriers,
           bad_dumps, progress_of_compile, progress_of_the_rest, progress_of_failures,
           no_schedule_is_located, every_allocation_may_fail);
}
