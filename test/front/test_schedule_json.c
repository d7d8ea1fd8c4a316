/* SPDX-License-Identifier: Apache-2.0 */
/* Schedule JSON, statistics and table, and the reader of schedules. */
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/golden_case.h"

#include "kit/context.h"
#include "model/handle.h"

static const char *const cases[] = {"figure-10", "rich", "store"};

START_TEST(goldens)
{
  static const struct {
    const char *suffix;
    fsched_status (*write)(fsched_context *c, const fsched_schedule *s, char **text, size_t *n);
  } outputs[] = {{"schedule.json", fsched_schedule_json},
                 {"stats.json", fsched_schedule_stats_json},
                 {"table.txt", fsched_schedule_table}};
  fs_golden_case c;
  fs_golden_open(&c, ctx, cases[_i]);
  ck_fs(ctx, fsched_verify_schedule(ctx, c.graph, c.schedule));
  for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
    char file[64], *text;
    size_t n;
    ck_fs(ctx, outputs[i].write(ctx, c.schedule, &text, &n));
    (void)snprintf(file, sizeof file, "%s.%s", cases[_i], outputs[i].suffix);
    fs_golden_check(file, text, n);
    fsched_text_free(ctx, text, n);
  }
  fs_golden_close(&c);
}
END_TEST

static fsched_schedule *reread(const fsched_graph *g, const fsched_schedule *s, char **text,
                               size_t *n) {
  fsched_schedule *again;
  ck_fs(ctx, fsched_schedule_json(ctx, s, text, n));
  ck_fs(ctx, fsched_schedule_parse(ctx, g, "again", *text, *n, &again));
  return again;
}

/* parse(json(s)) has to give the same JSON again, except for what later stages find. */
static void check_round_trip(const fsched_graph *g, fsched_schedule *s) {
  char *a, *b, *c;
  size_t na, nb, nc;
  fsched_schedule *first = reread(g, s, &a, &na);
  fsched_schedule *second = reread(g, first, &b, &nb);
  struct fs_sync *sync = s->sync;
  s->sync = NULL;
  s->schedule->has_bounds = false;
  ck_fs(ctx, fsched_schedule_json(ctx, s, &c, &nc));
  s->sync = sync;
  ck_assert_str_eq(b, c);
  fsched_text_free(ctx, a, na);
  fsched_text_free(ctx, b, nb);
  fsched_text_free(ctx, c, nc);
  ck_fs(ctx, fsched_verify_schedule(ctx, g, first));
  for (uint32_t i = 0; i < g->n_args; i++) {
    ck_assert_uint_eq(first->schedule->arg_residency[i], s->schedule->arg_residency[i]);
  }
  fsched_schedule_destroy(first);
  fsched_schedule_destroy(second);
}

START_TEST(round_trip_random)
{
  fs_gen_params params = fs_gen_any((uint64_t)_i, 60);
  params.class_gangs = _i % 3 == 0;
  fsched_graph *g;
  fsched_schedule *s;
  ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
  ck_fs(ctx, fsched_compile(ctx, g, NULL, &s, NULL));
  check_round_trip(g, s);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* The list is from another scheduler: it is reversed, so that all ties are in the opposite order.
 * The program made from it must still be right. (Amounts are left out: which of two items without
 * length takes its share of one first cannot be found again.) */
START_TEST(any_order_random)
{
  fs_gen_params params = fs_gen_any((uint64_t)_i + 1000, 40);
  params.zero_times = params.zero_sizes = true;
  params.counted = params.resources = params.concurrency = false;
  fsched_graph *g;
  fsched_schedule *s, *again;
  ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
  ck_fs(ctx, fsched_compile(ctx, g, NULL, &s, NULL));
  for (uint32_t i = 0; i < s->schedule->n_items / 2; i++) {
    uint32_t other = s->schedule->n_items - 1 - i, item = s->schedule->order[i];
    s->schedule->order[i] = s->schedule->order[other];
    s->schedule->order[other] = item;
  }
  char *text;
  size_t n;
  ck_fs(ctx, fsched_schedule_json(ctx, s, &text, &n));
  ck_fs(ctx, fsched_schedule_parse(ctx, g, "reversed", text, n, &again));
  fsched_text_free(ctx, text, n);
  ck_fs(ctx, fsched_verify_schedule(ctx, g, again));
  fsched_program *program;
  ck_fs(ctx, fs_test_program(again, &program));
  ck_fs(ctx, fsched_verify_program(ctx, program, g));
  fsched_program_destroy(program);
  fsched_schedule_destroy(again);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* One text is replaced in the hand-written schedule of figure-10. */
static const struct {
  const char *from, *to, *code, *message;
} faults[] = {
    {"\"fsched_schedule\": 1", "\"fsched_schedule\": 2", "schedule-value",
     "the schedule has format version 2; this fsched reads version 1"},
    {"\"fsched_schedule\": 1", "\"fsched_schedule\": 1, \"graph\": \"other\"", "schedule-reference",
     "the schedule is for graph 'other', not for 'figure-10'"},
    {"\"fsched_schedule\": 1", "\"fsched_schedule\": 1, \"grahp\": \"x\"", "schedule-key",
     "unknown key 'grahp'"},
    {"\"fsched_schedule\": 1", "\"fsched_schedule\": 1, \"status\": \"good\"", "schedule-type",
     "expected optimal, feasible, infeasible, found 'good'"},
    {"\"ops\"", "\"control_edges\": [{\"from\": 0, \"to\": 8, \"why\": \"reuse\"}], \"ops\"",
     "schedule-reference", "the schedule has no op 8, but 8 ops"},
    {"\"name\": \"B\"", "\"name\": \"D\"", "schedule-reference", "unknown op 'D'"},
    {"\"name\": \"B\"", "\"name\": \"A\"", "schedule-op", "op 'A' is here twice, also on line 3"},
    {"{\"name\": \"B\", \"queues\": [\"dpu\"], \"start\": 3, \"end\": 4},", "", "schedule-op",
     "op 'B' is not in the schedule (1 of 5 ops are missing)"},
    {"{\"name\": \"B\", \"queues\": [\"dpu\"]",
     "{\"name\": \"A\", \"queues\": [\"dpu\"], \"start\": 1, \"end\": 2},"
     "{\"name\": \"B\", \"queues\": [\"dpu\"]",
     "schedule-op", "op 'A' is here twice, also on line 3"},
    {"\"name\": \"B\"", "\"kind\": \"op\"", "schedule-key", "key 'name' is missing"},
    {"\"name\": \"B\"", "\"name\": \"B\", \"version\": 0", "schedule-key",
     "an op has no buffer and no version"},
    {"\"name\": \"B\"", "\"kind\": \"spill_writes\"", "schedule-type",
     "expected op, spill_write, spill_read, found 'spill_writes'"},
    {"\"kind\": \"spill_read\", \"buffer\": \"A_in\"", "\"kind\": \"spill_read\"", "schedule-key",
     "a copy has a buffer and a version"},
    {"\"buffer\": \"A_in\", \"version\": 0, \"q", "\"buffer\": \"A_on\", \"version\": 0, \"q",
     "schedule-reference", "unknown buffer 'A_on'"},
    {"\"version\": 0, \"q", "\"version\": 1, \"q", "schedule-reference",
     "buffer 'A_in' has no version 1, but 1 versions"},
    {"\"queues\": [\"dpu\"]", "\"queues\": [\"gpu\"]", "schedule-reference", "unknown queue 'gpu'"},
    {"\"queues\": [\"dpu\"]", "\"queues\": [\"dpu\", \"dma\"]", "schedule-value",
     "expected one queue, found 2"},
    {"\"queues\": [\"dpu\"]", "\"queues\": \"dpu\"", "schedule-type",
     "expected a list, found 'dpu'"},
    {"\"start\": 1,", "\"start\": -1,", "schedule-type",
     "expected a number from 0 to 2^64-1, found '-1'"},
    {"\"start\": 1,", "\"start\": 9223372036854775808,", "schedule-value",
     "the time is above 2^62"},
    {"\"start\": 1,", "\"start\": 3,", "schedule-value", "it ends before it begins"},
    {"\"memory\": \"cmx\"", "\"memory\": \"ddr\"", "schedule-value",
     "memory 'ddr' is not bounded and has no residencies"},
    {"\"memory\": \"cmx\"", "\"memory\": \"cmy\"", "schedule-reference", "unknown memory 'cmy'"},
    {"\"address\": 5, ", "", "schedule-key", "a residency in memory 'cmx' has an address"},
    {"\"address\": 5, ", "\"address\": 999999999999999, ", "schedule-value",
     "an address or size is above 2^48"},
    {"\"version\": 0, \"m", "\"m", "schedule-key",
     "a residency has a buffer and its version, or scratch"},
    {"\"begin\": 0", "\"begin\": 9", "schedule-value", "it ends before it begins"},
    {"\"residencies\": [", "\"residencies\": [[], ", "schedule-type",
     "expected a mapping, found a list"},
};

START_TEST(faults_are_named)
{
  fsched_graph *g = fs_golden_graph(ctx, "figure-10");
  size_t n;
  char *text = fs_golden_read("figure-10.by-hand.json", &n);
  ck_assert_ptr_nonnull(text);
  const char *at = strstr(text, faults[_i].from);
  ck_assert_msg(at != NULL, "no %s", faults[_i].from);
  char *bad = malloc(n + 200);
  int length = snprintf(bad, n + 200, "%.*s%s%s", (int)(at - text), text, faults[_i].to,
                        at + strlen(faults[_i].from));
  fsched_schedule *s;
  ck_assert_int_eq(fsched_schedule_parse(ctx, g, "bad.json", bad, (size_t)length, &s),
                   FSCHED_BAD_INPUT);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  const fsched_diag *d = fsched_diag_get(ctx, 0);
  ck_assert_str_eq(d->message, faults[_i].message);
  ck_assert_str_eq(d->code, faults[_i].code);
  ck_assert_str_eq(d->file, "bad.json");
  ck_assert_uint_gt(d->line, 0);
  free(bad);
  free(text);
  fsched_graph_destroy(g);
}
END_TEST

/* A schedule that is well-formed but wrong is read; the verifier refuses it. */
START_TEST(wrong_schedules_are_read)
{
  static const char *const edits[][2] = {
      {"\"begin\": 1, \"end\": 4", "\"begin\": 1, \"end\": 3"},
      {"\"address\": 5, \"size\": 5", "\"address\": 4, \"size\": 5"},
      {"\"start\": 3, \"end\": 4", "\"start\": 2, \"end\": 3"},
      {"\"begin\": 4, \"end\": 6", "\"begin\": 7, \"end\": 8"},
  };
  fsched_graph *g = fs_golden_graph(ctx, "figure-10");
  size_t n;
  char *text = fs_golden_read("figure-10.by-hand.json", &n);
  ck_assert_ptr_nonnull(text);
  char *at = strstr(text, edits[_i][0]);
  ck_assert_ptr_nonnull(at);
  memcpy(at, edits[_i][1], strlen(edits[_i][1]));
  fsched_schedule *s;
  ck_fs(ctx, fsched_schedule_parse(ctx, g, "wrong.json", text, n, &s));
  ck_assert_int_eq(fsched_verify_schedule(ctx, g, s), FSCHED_WRONG);
  fsched_schedule_destroy(s);
  free(text);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(damaged_text_random)
{
  fsched_graph *g = fs_golden_graph(ctx, cases[_i % 3]);
  char file[64];
  size_t n;
  (void)snprintf(file, sizeof file, "%s.by-hand.json", cases[_i % 3]);
  char *text = fs_golden_read(file, &n), *bad = malloc(n + 1);
  ck_assert_ptr_nonnull(text);
  fs_rng rng = {(uint64_t)_i};
  for (int k = 0; k < 300; k++) {
    memcpy(bad, text, n + 1);
    size_t length = k % 3 == 0 ? fs_rng_below(&rng, (uint32_t)n) : n;
    for (uint32_t m = fs_rng_below(&rng, 3) + (k % 3 != 0); m-- > 0;) {
      static const char letters[] = "0123456789\"{}[],: abc-\n\x80\xff";
      bad[fs_rng_below(&rng, (uint32_t)n)] = letters[fs_rng_below(&rng, sizeof letters - 1)];
    }
    fsched_schedule *s;
    fsched_status status = fsched_schedule_parse(ctx, g, "damaged", bad, length, &s);
    if (status == FSCHED_OK) {
      fsched_status verified = fsched_verify_schedule(ctx, g, s);
      ck_assert_msg(verified == FSCHED_OK || verified == FSCHED_WRONG, "%d", verified);
      fsched_schedule_destroy(s);
    } else {
      ck_assert_int_eq(status, FSCHED_BAD_INPUT);
      ck_assert_uint_gt(fsched_diag_count(ctx), 0);
    }
    fsched_diag_clear(ctx);
  }
  free(bad);
  free(text);
  fsched_graph_destroy(g);
}
END_TEST

typedef struct text_of {
  const fsched_graph *graph;
  char *text;
  size_t n;
} text_of;

static fsched_status read_and_write(fsched_context *c, const void *user) {
  const text_of *t = user;
  fsched_schedule *s;
  char *out;
  size_t n;
  FS_TRY(fsched_schedule_parse(c, t->graph, "rich", t->text, t->n, &s));
  fsched_status status = fsched_schedule_json(c, s, &out, &n);
  if (status == FSCHED_OK) {
    fsched_text_free(c, out, n);
    status = fsched_schedule_table(c, s, &out, &n);
  }
  if (status == FSCHED_OK) {
    fsched_text_free(c, out, n);
  }
  fsched_schedule_destroy(s);
  return status;
}

/* Every allocation of reading and writing fails once. */
START_TEST(out_of_memory)
{
  fs_budget budget;
  fsched_context *c = fs_budget_context(&budget);
  fsched_graph *g = fs_golden_graph(c, "rich");
  text_of t = {.graph = g};
  t.text = fs_golden_read("rich.by-hand.json", &t.n);
  ck_assert_ptr_nonnull(t.text);
  fs_fail_each_allocation(c, &budget, read_and_write, &t);
  free(t.text);
  fsched_graph_destroy(g);
  fsched_context_destroy(c);
  ck_assert_int_eq(budget.blocks, 0);
}
END_TEST

/* The effort is found in any text of this form, and nowhere else. */
START_TEST(effort_of_texts)
{
  static const struct {
    const char *text;
    uint32_t effort;
  } rows[] = {
      {"{\"fsched_schedule\": 1, \"effort\": 0, \"ops\": []}", FSCHED_EFFORT(0)},
      {"{\"ops\": [{\"effort\": 4}, \"]\", \"\\\"}\"], \"effort\"\n :\t7}", FSCHED_EFFORT(7)},
      {"{\"stats\": {\"effort\": 4}, \"graph\": \"effort\"}", 0},
      {"[{\"effort\": 4}]", 0},
      {"{\"effort\": 10}", 0},
      {"{\"effort\": \"4\"}", 0},
      {"{\"effort\"", 0},
      {"{\"effort\":", 0},
      {"{\"effort", 0},
      {"{\"\\", 0},
      {"", 0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    size_t n = strlen(rows[i].text);
    char *exact = malloc(n + 1); /* with nothing behind it that may be read */
    ck_assert_ptr_nonnull(exact);
    memcpy(exact + 1, rows[i].text, n);
    ck_assert_msg(fsched_schedule_effort(exact + 1, n) == rows[i].effort, "%s", rows[i].text);
    free(exact);
  }
}
END_TEST

FS_SUITE(schedule_json, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 3, goldens);
  FS_LOOPS(t, 0, 60, round_trip_random, any_order_random);
  FS_LOOPS(t, 0, (int)(sizeof faults / sizeof faults[0]), faults_are_named);
  FS_LOOPS(t, 0, 4, wrong_schedules_are_read);
  FS_LOOPS(t, 0, 6, damaged_text_random);
  FS_TESTS(t, effort_of_texts, out_of_memory);
}
