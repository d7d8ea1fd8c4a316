/* SPDX-License-Identifier: Apache-2.0 */
/* fsched explain: goldens, and properties on random graphs: each wait has a reason, each ordering
 * without a wait has a chain that is really in the stream, and each start has a chain that adds
 * up. */
#include "draw/explain/explain.h"

#include "base/text/node.h"
#include "draw/trace_cases.h"
#include "kit/mutate/mutate.h"
#include "model/access.h"
#include "model/handle.h"

#include "kit/context.h"

/* ---- properties */

typedef struct explain_totals {
  uint64_t tier[FS_TIER_NONE], reason[FS_WANT_CONCURRENCY + 1], tight, gaps, members;
} explain_totals;

/* Whether the stream really lets `by` wait for {axis: epoch}. */
static bool has_wait(const fs_stream *s, uint32_t by, uint32_t axis, uint32_t epoch) {
  const fs_stream_command *c = &s->commands[by];
  for (uint32_t w = c->wait0; w < c->wait0 + c->n_waits; w++) {
    if (s->waits[w].axis == axis && s->waits[w].epoch == epoch) {
      return true;
    }
  }
  return false;
}

/* Whether `b` is `a`, or comes before it on the same queue. */
static bool not_after(const fs_explain *e, uint32_t b, uint32_t a) {
  return e->order.queue[a] == e->order.queue[b] && b <= a;
}

/* Follows waits and queue order from the current command to {queue: epoch}. */
static void check_hop(const fs_explain *e, uint32_t hop, uint32_t queue, uint32_t epoch) {
  const fs_stream *s = e->s;
  uint32_t target = s->queues[queue].command0 + epoch - 1, steps = 0;
  for (;; steps++) {
    const fs_hop *h = &e->known.hop.at[hop];
    ck_assert_uint_eq(h->queue, e->order.queue[target]);
    ck_assert_uint_ge(h->epoch, s->commands[target].epoch);
    if (h->by == FS_NONE) {
      ck_assert(not_after(e, target, e->command));
      return;
    }
    uint32_t item = fs_explain_awaited(e, &s->waits[h->wait]), n;
    const uint32_t *members = fs_explain_members(e, item, &n);
    bool found = false;
    for (uint32_t i = 0; i < n; i++) {
      found = found ||
              (e->order.queue[members[i]] == h->queue && s->commands[members[i]].epoch == h->epoch);
    }
    ck_assert(found);
    ck_assert(has_wait(s, h->by, s->waits[h->wait].axis, s->waits[h->wait].epoch));
    ck_assert_uint_lt(steps, s->n_commands);
    target = h->by;
    hop = fs_known_before(&e->known, hop);
    ck_assert_uint_lt(hop, e->known.hop.n);
  }
}

static void check_because(const fs_explain *e, uint32_t from, fs_because b) {
  fs_stream_wait done = fs_explain_complete(e, from);
  uint32_t n;
  const uint32_t *members = fs_explain_members(e, from, &n);
  switch (b.tier) {
    case FS_TIER_SAME_QUEUE:
      ck_assert(n == 1 && not_after(e, from, e->command) && from != e->command);
      break;
    case FS_TIER_WAIT:
      ck_assert(has_wait(e->s, e->command, done.axis, done.epoch));
      break;
    case FS_TIER_EXACT:
      ck_assert(not_after(e, b.by, e->command));
      ck_assert_uint_ge(b.to, done.epoch);
      ck_assert(has_wait(e->s, b.by, done.axis, b.to));
      break;
    case FS_TIER_FRONTIER:
      for (uint32_t i = 0; i < n; i++) {
        uint32_t queue = e->order.queue[members[i]], epoch = e->s->commands[members[i]].epoch;
        check_hop(e, fs_known_hop(&e->known, queue, epoch), queue, epoch);
      }
      break;
    case FS_TIER_NONE:
      ck_abort_msg("%s:%u is not ordered after item %u",
                   fs_explain_string(e, e->s->axes[e->order.queue[e->command]].name),
                   e->s->commands[e->command].epoch, from);
  }
}

static void check_wants(const fs_explain *e, explain_totals *t) {
  uint32_t item = e->wants.item[e->command], waits = 0, last = FS_NONE;
  const fs_want *want = e->wants.want + e->wants.want0[item];
  for (uint32_t i = 0, end; i < e->wants.n_wants[item]; i = end) {
    end = fs_explain_run(e, item, i);
    uint32_t position = e->wants.position[want[i].from];
    ck_assert_uint_lt(position, last);
    ck_assert_uint_lt(position, e->wants.position[item]);
    last = position;
    fs_because b = fs_explain_tier(e, &want[i], end - i);
    check_because(e, want[i].from, b);
    waits += b.tier == FS_TIER_WAIT;
    t->tier[b.tier]++;
    for (uint32_t k = i; k < end; k++) {
      t->reason[want[k].why]++;
    }
  }
  /* Each wait has a reason. */
  ck_assert_uint_eq(waits, e->s->commands[e->command].n_waits);
}

static void check_frontier(const fs_explain *e) {
  const fs_stream_command *c = &e->s->commands[e->command];
  for (uint32_t i = c->frontier0; i < c->frontier0 + c->n_frontier; i++) {
    const fs_stream_wait *w = &e->s->frontiers[i];
    uint32_t n;
    const uint32_t *members = fs_explain_members(e, fs_explain_awaited(e, w), &n);
    for (uint32_t m = 0; m < n; m++) {
      uint32_t queue = e->order.queue[members[m]], epoch = e->s->commands[members[m]].epoch;
      uint32_t hop = fs_known_hop(&e->known, queue, epoch);
      if (e->s->axes[w->axis].kind == FS_AXIS_QUEUE && w->axis != queue) {
        continue; /* another member of a gang */
      }
      ck_assert_msg(hop != FS_NONE, "%s:%u does not know %s:%u of its frontier",
                    fs_explain_string(e, e->s->axes[e->order.queue[e->command]].name), c->epoch,
                    fs_explain_string(e, e->s->axes[queue].name), epoch);
      check_hop(e, hop, queue, epoch);
    }
  }
}

static void check_start(const fs_explain *e, uint32_t item, explain_totals *t) {
  uint64_t sum = 0;
  for (uint32_t at = item, steps = 0; at != FS_NONE; steps++) {
    fs_link k = fs_explain_link(e, at);
    ck_assert_uint_le(steps, e->s->n_commands);
    ck_assert((k.before == FS_NONE) == (k.hold == FS_HOLD_START));
    if (k.before != FS_NONE) {
      const fs_stream_command *c = &e->s->commands[k.before];
      ck_assert_uint_eq(c->end + k.gap, e->s->commands[at].start);
      sum += c->end - c->start;
    }
    sum += k.gap;
    t->tight += k.gap == 0;
    t->gaps += k.gap > 0;
    at = k.before;
  }
  ck_assert_uint_eq(sum, e->s->commands[item].start);
}

static void check_summary(fs_explain *e, const explain_totals *t) {
  fs_summary s;
  ck_fs(ctx, fs_explain_summary(e, &s));
  uint64_t reasons = 0, waits = 0;
  for (uint32_t i = 0; i < FS_TIER_NONE; i++) {
    ck_assert_uint_eq(s.wanted[i], t->tier[i]);
  }
  for (uint32_t i = 0; i < FS_WANT_CONCURRENCY + 1; i++) {
    reasons += s.waits[i];
  }
  for (uint32_t q = 0; q < e->s->n_queues; q++) {
    waits += s.queue[q].waits;
  }
  ck_assert_uint_eq(s.waits[FS_WANT_CONCURRENCY + 1], 0);
  ck_assert_uint_eq(reasons, e->s->n_waits);
  ck_assert_uint_eq(waits, e->s->n_waits);
}

/* Orders that the compiler wanted, between ops and for copies, are wanted here too. */
static void check_edges(const fs_explain *e, const fsched_schedule *s) {
  const fsched_graph *g = s->schedule->graph;
  const fs_sync *y = s->sync;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    uint32_t item = e->wants.item[y->item_command[y->item_command0[op]]], n;
    for (uint32_t i = g->pred0[op]; i < g->pred0[op + 1]; i++) {
      uint32_t from = e->wants.item[y->item_command[y->item_command0[g->pred[i]]]];
      (void)fs_explain_reasons(e, item, from, &n);
      ck_assert_msg(n > 0, "%s after %s", g->op_name[op], g->op_name[g->pred[i]]);
    }
  }
}

static void add_totals(explain_totals *all, const explain_totals *t) {
  for (uint32_t i = 0; i < FS_TIER_NONE; i++) {
    all->tier[i] += t->tier[i];
  }
  for (uint32_t i = 0; i < FS_WANT_CONCURRENCY + 1; i++) {
    all->reason[i] += t->reason[i];
  }
  all->tight += t->tight;
  all->gaps += t->gaps;
  all->members += t->members;
}

static void check_program(const compiled *c, explain_totals *all) {
  fs_explain e;
  explain_totals t = {0};
  fs_explain_init(&e, ctx, &c->program->view);
  ck_fs(ctx, fs_explain_prepare(&e));
  check_edges(&e, c->schedule);
  for (uint32_t i = 0; i < e.s->n_commands; i++) {
    ck_fs(ctx, fs_explain_look_at(&e, i));
    check_wants(&e, &t);
    check_frontier(&e);
    t.members += e.wants.item[i] != i;
    if (e.wants.item[i] == i) {
      check_start(&e, i, &t);
    }
  }
  check_summary(&e, &t);
  add_totals(all, &t);
  fs_explain_release(&e);
}

START_TEST(random_streams)
{
  explain_totals t = {0};
  for (uint64_t seed = 1; seed <= 500; seed++) {
    fs_gen_params params = any_params(seed);
    params.raw = seed % 7 == 0;
    compiled c = compile(ctx, &params);
    check_program(&c, &t);
    drop(&c);
  }
  for (uint64_t seed = 1; seed <= 60; seed++) {
    compiled c = compile_bounded_store(ctx, seed);
    check_program(&c, &t);
    drop(&c);
  }
  for (uint32_t i = 0; i < FS_TIER_NONE; i++) {
    ck_assert_uint_gt(t.tier[i], 1000);
  }
  for (uint32_t i = 0; i < FS_WANT_CONCURRENCY + 1; i++) {
    ck_assert_msg(t.reason[i] > (i == FS_WANT_UNITS ? 0 : 100), "reason %u: %u", i,
                  (unsigned)t.reason[i]);
  }
  ck_assert_uint_gt(t.tight, 5000);
  ck_assert_uint_gt(t.gaps, 100);
  ck_assert_uint_gt(t.members, 500);
}
END_TEST

/* ---- whole texts */

static fsched_program *compile_text(const char *text) {
  fsched_program *p;
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  fsched_graph *g = fs_parse(text);
  ck_fs(ctx, fsched_compile(ctx, g, &o, NULL, &p));
  fsched_graph_destroy(g);
  return p;
}

static const char gang[] =
    "fsched: 1\nname: gang\n"
    "target:\n  queues: [{name: a}, {name: b}, {name: d, class: copy}]\n"
    "  memories:\n    - {name: m, capacity: 8, backing: s, spill: {on: copy, write: {fixed: 2}, "
    "read: {fixed: 2}}}\n    - {name: s}\n"
    "  resources: [{name: power, capacity: 3}]\n"
    "  concurrency: 2\n"
    "ops:\n"
    "  - {name: x, on: a, time: 3, size: 3, uses: {power: 2}}\n"
    "  - {name: y, on: b, time: 5, size: 3, uses: {power: 2}}\n"
    "  - {name: sum, on: [a, b], time: 2, args: [{in: x}, {inout: y}], scratch: {m: 1}}\n"
    "  - {name: z, on: a, time: 4, size: 4, args: [{in: y}]}\n"
    "  - {name: w, on: b, args: [{in: z}, {out: w, size: 2}], after: [x]}\n"
    "buffers: [{name: w, size: 2, io: output}]\n";

static void check_golden(const char *name, const fsched_program *p, const char *const *names,
                         size_t n, bool json) {
  fsched_explain_options o = {.size = sizeof o,
                              .format = json ? FSCHED_EXPLAIN_JSON : FSCHED_EXPLAIN_TEXT};
  char *text;
  size_t length;
  ck_fs(ctx, fsched_program_explain(ctx, p, &o, names, n, &text, &length));
  ck_assert_uint_eq(strlen(text), length);
  fs_golden_check(name, text, length);
  fsched_text_free(ctx, text, length);
}

START_TEST(goldens)
{
  static const char *const figure[] = {"A", "B", "C", "write A_in", "spill_read A_in", "dma:5"};
  static const char *const gangs[] = {"sum", "z", "run w", "gang0:1", "d:1"};
  size_t length;
  char *yaml = fs_golden_read("figure-10.yaml", &length);
  ck_assert_ptr_nonnull(yaml);
  fsched_program *p = compile_text(yaml);
  free(yaml);
  check_golden("figure-10.explain.txt", p, figure, 6, false);
  check_golden("figure-10.explain.json", p, figure, 6, true);
  check_golden("figure-10.summary.txt", p, NULL, 0, false);
  check_golden("figure-10.summary.json", p, NULL, 0, true);
  fsched_program_destroy(p);
  p = compile_text(gang);
  check_golden("gang.explain.txt", p, gangs, 5, false);
  check_golden("gang.explain.json", p, gangs, 5, true);
  check_golden("gang.summary.txt", p, NULL, 0, false);
  fsched_program_destroy(p);
}
END_TEST

/* All commands of random programs are explained, in both forms. */
START_TEST(well_formed)
{
  for (uint64_t seed = 1; seed <= 40; seed++) {
    fs_gen_params params = any_params(seed);
    compiled c = compile(ctx, &params);
    const char **names = malloc((c.graph->n_ops + 1) * sizeof *names);
    for (uint32_t op = 0; op < c.graph->n_ops; op++) {
      names[op] = c.graph->op_name[op];
    }
    for (uint32_t i = 0; i < 4; i++) {
      fsched_explain_options o = {
          .size = sizeof o, .format = (fsched_explain_format)(i % 2), .all = 1};
      char *text;
      size_t length;
      ck_fs(ctx, fsched_program_explain(ctx, c.program, &o, names, i < 2 ? c.graph->n_ops : 0,
                                        &text, &length));
      if (i % 2 == 1) {
        fs_arena arena;
        fs_doc doc;
        fs_arena_init(&arena, ctx);
        ck_fs(ctx, fs_doc_parse(ctx, &arena, "explain.json", text, length, &doc));
        fs_arena_release(&arena);
      } else {
        ck_assert_ptr_null(strstr(text, "wrong"));
        ck_assert_ptr_null(strstr(text, "nothing that the stream tells"));
      }
      fsched_text_free(ctx, text, length);
    }
    free(names);
    drop(&c);
  }
}
END_TEST

/* ---- faults */

static void expect_diag(fsched_status status, const fsched_program *p, const char *name,
                        const char *message, const char *hint) {
  char *text;
  size_t length;
  fsched_diag_clear(ctx);
  ck_assert_int_eq(fsched_program_explain(ctx, p, NULL, &name, 1, &text, &length), status);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message, message);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->hint, hint);
}

START_TEST(unknown_names)
{
  fsched_program *p = compile_text(gang);
  static const char any[] = "name an op, QUEUE:EPOCH, or 'read BUFFER' or 'write BUFFER'";
  static const struct {
    const char *name, *hint;
  } bad[] = {{"smu", "did you mean 'sum'?"},
             {"e:1", any},
             {"gnag0:1", "did you mean 'gang0:1'?"},
             {"gang0:2", "its epochs are 1 to 1"},
             {"a:0", "its epochs are 1 to 3"},
             {"a:4", "its epochs are 1 to 3"},
             {"a:4294967297", any},
             {"", any},
             {"read z", any},
             {"run", any}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char message[128];
    (void)snprintf(message, sizeof message, "the program has no command '%s'", bad[i].name);
    expect_diag(FSCHED_USAGE, p, bad[i].name, message, bad[i].hint);
  }
  static const char *const two[] = {"zz9", "x", "qq9"};
  char *text;
  size_t length;
  fsched_diag_clear(ctx);
  ck_assert_int_eq(fsched_program_explain(ctx, p, NULL, two, 3, &text, &length), FSCHED_USAGE);
  ck_assert_uint_eq(fsched_diag_count(ctx), 2);
  fsched_explain_options o = {.size = 1};
  ck_assert_int_eq(fsched_program_explain(ctx, p, &o, NULL, 0, &text, &length), FSCHED_USAGE);
  o = (fsched_explain_options){.size = sizeof o, .format = (fsched_explain_format)7};
  ck_assert_int_eq(fsched_program_explain(ctx, p, &o, NULL, 0, &text, &length), FSCHED_USAGE);
  fsched_program_destroy(p);
}
END_TEST

/* With the graph, what it gives is told, where it holds an op back and where it does not. */
START_TEST(given_starts)
{
  static const char text_of_graph[] =
      "fsched: 1\nname: given\ntarget: {queues: [{name: a}, {name: b}]}\nops:\n"
      "  - {name: one, on: a, time: 2, start: 4, args: [{out: x, size: 1}]}\n"
      "  - {name: two, on: b, time: 2, start: %s, args: [{in: x}]}\n"
      "  - {name: three, on: a, time: 1, start: 11, after: [two]}\n"
      "  - {name: %s, on: b, time: 3, after: [three]}\n%s";
  static const struct {
    const char *start, *name, *more, *message; /* message: what is refused; NULL: nothing is */
  } cases[] = {{"9", "four", "", NULL},
               {"10", "four", "", "op 'two' starts at 9, and the graph gives it the start 10"},
               {"9", "five", "", "an op of the stream is 'four', and that of the graph 'five'"},
               {"9", "four", "  - {name: five}\n", "the stream has 4 ops, and the graph 5"}};
  char source[640], *text;
  size_t length;
  (void)snprintf(source, sizeof source, text_of_graph, "9", "four", "");
  fsched_program *p = compile_text(source);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fsched_graph *g;
    int n = snprintf(source, sizeof source, text_of_graph, cases[i].start, cases[i].name,
                     cases[i].more);
    ck_fs(ctx, fsched_graph_parse(ctx, "g", source, (size_t)n, NULL, &g));
    fsched_explain_options o = {.size = sizeof o, .graph = g};
    fsched_status status = fsched_program_explain(ctx, p, &o, NULL, 0, &text, &length);
    if (cases[i].message != NULL) {
      ck_assert_int_eq(status, FSCHED_WRONG);
      ck_assert_str_eq(fsched_diag_get(ctx, 0)->message, cases[i].message);
      fsched_diag_clear(ctx);
    } else {
      ck_fs(ctx, status);
      ck_assert_ptr_nonnull(strstr(text,
                                   "four   its after\n"
                                   "       11   12  a:2      run three  its after, and the start "
                                   "that the graph gives\n"
                                   "        9   11  b:1      run two    data of x, then the start "
                                   "that the graph gives, after 3\n"
                                   "        4    6  a:1      run one    the start that the graph "
                                   "gives\n"
                                   "    15 = ops 8 + copies 0 + gaps 7\n"));
      fsched_text_free(ctx, text, length);
    }
    fsched_graph_destroy(g);
  }
  fsched_program_destroy(p);
}
END_TEST

/* One stream lacks a wait that it needs, and one deadlocks. */
START_TEST(wrong_streams)
{
  fsched_program *p = compile_text(gang);
  const char *name = "z";
  char *text;
  size_t length;
  fs_stream *s = &p->view;
  fs_stream_command *commands = malloc(s->n_commands * sizeof *commands);
  memcpy(commands, s->commands, s->n_commands * sizeof *commands);
  const fs_stream_command *right = s->commands;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    commands[c].n_waits = 0;
  }
  s->commands = commands;
  ck_fs(ctx, fsched_program_explain(ctx, p, NULL, &name, 1, &text, &length));
  ck_assert_ptr_nonnull(strstr(text, "the stream is wrong"));
  fsched_text_free(ctx, text, length);
  memcpy(commands, right, s->n_commands * sizeof *commands);
  const fs_stream_wait *waits = s->waits;
  fs_stream_wait late = {1, s->queues[1].n_commands};
  s->waits = &late;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    commands[c].n_waits = c == 0;
    commands[c].wait0 = 0;
  }
  ck_assert_int_eq(fsched_program_explain(ctx, p, NULL, &name, 1, &text, &length), FSCHED_WRONG);
  s->waits = waits;
  s->commands = right;
  free(commands);
  fsched_program_destroy(p);
}
END_TEST

/* Bytes are changed at random: a stream that still passes the check is explained without harm. */
START_TEST(changed_bytes)
{
  uint32_t passed = 0;
  fs_rng rng = {7};
  for (uint64_t seed = 1; seed <= 60; seed++) {
    fs_gen_params params = any_params(seed);
    compiled c = compile(ctx, &params);
    size_t size, length;
    const void *bytes = fsched_program_bytes(c.program, &size);
    for (uint32_t i = 0; i < 100; i++) {
      unsigned char *copy = malloc(size);
      memcpy(copy, bytes, size);
      fs_mutate_bytes(copy, size, &rng);
      fsched_program *p;
      if (fsched_program_load(ctx, "p", copy, size, &p) == FSCHED_OK) {
        char *text;
        const char *name = fs_stream_string(&p->view, p->view.ops[0].name);
        fsched_explain_options o = {.size = sizeof o, .format = (fsched_explain_format)(i % 2)};
        fsched_status status =
            fsched_program_explain(ctx, p, &o, &name, i % 3 != 0, &text, &length);
        ck_assert(status == FSCHED_OK || status == FSCHED_WRONG || status == FSCHED_USAGE);
        if (status == FSCHED_OK) {
          fsched_text_free(ctx, text, length);
          passed++;
        }
        fsched_program_destroy(p);
      }
      fsched_diag_clear(ctx);
      free(copy);
    }
    drop(&c);
  }
  ck_assert_uint_gt(passed, 100);
}
END_TEST

START_TEST(out_of_memory)
{
  static const char *const names[] = {"sum", "w", "a:1", "nosuch"};
  fsched_program *p = compile_text(gang);
  for (uint32_t kind = 0; kind < 4; kind++) {
    long n = 0;
    for (fsched_status status = FSCHED_SYSTEM; status == FSCHED_SYSTEM; n++) {
      fs_budget b = {.left = n};
      fsched_context_options o = {.size = sizeof o, .reallocate = fs_budget_reallocate, .user = &b};
      fsched_explain_options x = {.size = sizeof x, .format = (fsched_explain_format)(kind == 2)};
      fsched_context *poor;
      char *text;
      size_t length;
      if (fsched_context_create(&o, &poor) != FSCHED_OK) {
        continue;
      }
      status = fsched_program_explain(poor, p, &x, names,
                                      kind == 0   ? 0
                                      : kind == 3 ? 4
                                                  : 3,
                                      &text, &length);
      ck_assert_int_eq(fsched_diag_count(poor) > 0, status != FSCHED_OK);
      if (status == FSCHED_OK) {
        fsched_text_free(poor, text, length);
      } else if (status != FSCHED_SYSTEM) {
        ck_assert(kind == 3 && status == FSCHED_USAGE);
      }
      fsched_context_destroy(poor);
      ck_assert_int_eq(b.blocks, 0);
    }
    ck_assert_int_gt(n, 10);
  }
  fsched_program_destroy(p);
}
END_TEST

FS_SUITE(explain, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 300);
  FS_TESTS(t, random_streams, goldens, well_formed, unknown_names, given_starts, wrong_streams,
           changed_bytes, out_of_memory);
}
