/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: made from durations, written, read and reported. */
#include "fsched/profile.h"

#include "base/text/node.h"
#include "front/profile/profile.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "model/stream/stream.h"

#include "kit/context.h"

static fsched_profile *parsed(const char *text) {
  fsched_profile *p;
  ck_fs(ctx, fsched_profile_parse(ctx, "p.json", text, strlen(text), &p));
  return p;
}

/* Makes a profile from the planned durations of a program's commands, each a random part longer or
 * shorter. */
static fsched_profile *measure(const fsched_program *program, uint64_t seed, uint64_t tick_ns) {
  const fs_stream *s = &program->view;
  fsched_duration *took = calloc(s->n_commands + 1, sizeof *took);
  fs_rng rng = {seed};
  for (uint32_t c = 0; c < s->n_commands; c++) {
    uint64_t planned = (s->commands[c].end - s->commands[c].start) * tick_ns;
    uint64_t ns = planned / 2 + fs_rng_below(&rng, (uint32_t)planned + 1);
    took[c] = (fsched_duration){3, ns / 2, ns, 2 * ns};
  }
  fsched_measurement m = {.size = sizeof m,
                          .tick_ns = tick_ns,
                          .command = took,
                          .n_commands = s->n_commands,
                          .makespan = {3, 5000, 9250, 12000}};
  fsched_profile *p;
  ck_fs(ctx, fsched_profile_make(ctx, program, &m, &p));
  free(took);
  return p;
}

static char *json_of(const fsched_profile *p) {
  char *text;
  size_t n;
  ck_fs(ctx, fsched_profile_json(ctx, p, &text, &n));
  ck_assert_uint_eq(strlen(text), n);
  return text;
}

static void drop(char *text) { fsched_text_free(ctx, text, strlen(text)); }

START_TEST(durations)
{
  uint64_t ns[] = {5, 1, 4, 1, 9, UINT64_MAX};
  fsched_duration d = fsched_duration_of(ns, 6);
  ck_assert_uint_eq(d.count, 6);
  ck_assert_uint_eq(d.min_ns, 1);
  ck_assert_uint_eq(d.median_ns, 4);
  ck_assert_uint_eq(d.max_ns, UINT64_MAX);
  ck_assert_uint_eq(ns[2], 4);
  ck_assert_uint_eq(fsched_duration_of(ns, 1).median_ns, 1);
  ck_assert_uint_eq(fsched_duration_of(NULL, 0).count, 0);
}
END_TEST

static const char *const cases[] = {"figure-10", "rich", "store"};

START_TEST(goldens)
{
  char file[64];
  fs_golden_case c;
  fs_golden_open(&c, ctx, cases[_i]);
  fsched_profile *p = measure(c.program, 7, 1000);
  char *text = json_of(p);
  (void)snprintf(file, sizeof file, "%s.profile.json", cases[_i]);
  fs_golden_check(file, text, strlen(text));
  drop(text);
  for (int json = 0; json <= 1; json++) {
    fsched_report_options o = {.size = sizeof o,
                               .format = json ? FSCHED_REPORT_JSON : FSCHED_REPORT_TEXT};
    size_t n;
    ck_fs(ctx, fsched_profile_report(ctx, p, &o, &text, &n));
    (void)snprintf(file, sizeof file, "%s.report.%s", cases[_i], json ? "json" : "txt");
    fs_golden_check(file, text, n);
    fsched_text_free(ctx, text, n);
  }
  fsched_profile_destroy(p);
  fs_golden_close(&c);
}
END_TEST

/* Finds when each command of a stream ends, by going through all of them until nothing changes. */
static uint64_t naive_makespan(const fs_stream *s, const uint64_t *ns) {
  uint64_t *end = calloc(s->n_commands + 1, sizeof *end), last = 0;
  uint32_t *queue = calloc(s->n_commands + 1, sizeof *queue);
  for (uint32_t q = 0; q < s->n_queues; q++) {
    for (uint32_t k = 0; k < s->queues[q].n_commands; k++) {
      queue[s->queues[q].command0 + k] = q;
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t c = 0; c < s->n_commands; c++) {
      const fs_stream_command *k = &s->commands[c];
      uint64_t at = c > s->queues[queue[c]].command0 ? end[c - 1] : 0;
      for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
        for (uint32_t d = 0; d < s->n_commands; d++) {
          bool source =
              s->axes[s->waits[w].axis].kind == FS_AXIS_QUEUE
                  ? queue[d] == s->waits[w].axis && s->commands[d].epoch == s->waits[w].epoch
                  : s->commands[d].gang_axis == s->waits[w].axis &&
                        s->commands[d].gang_epoch == s->waits[w].epoch;
          at = source && end[d] > at ? end[d] : at;
        }
      }
      at += ns[c];
      for (uint32_t d = 0; d < s->n_commands; d++) { /* a gang ends together */
        bool same =
            d == c || (k->gang_axis != FS_NONE && s->commands[d].gang_axis == k->gang_axis &&
                       s->commands[d].gang_epoch == k->gang_epoch);
        if (same && end[d] < at) {
          end[d] = at;
          changed = true;
        }
      }
      last = at > last ? at : last;
    }
  }
  free(end);
  free(queue);
  return last;
}

/* Measured times go through a file into the graph, and the plan follows them. */
START_TEST(round_trip_random)
{
  fs_gen_params params = fs_gen_any((uint64_t)_i, 40);
  fsched_graph *g;
  fsched_program *program;
  ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &program));
  fsched_profile *p = measure(program, (uint64_t)_i, 100);
  const fs_stream *s = &program->view;
  uint64_t *ns = calloc(s->n_commands + 1, sizeof *ns);
  for (uint32_t i = 0, c; i < p->n_items; i++) {
    for (c = 0; c < s->n_commands; c++) {
      const fs_stream_command *k = &s->commands[c];
      if (p->item[i].kind == FS_PROFILE_OP && k->kind == FS_COMMAND_RUN &&
          strcmp(fs_stream_string(s, s->ops[k->target].name), p->item[i].name) == 0) {
        ns[c] = p->item[i].took.median_ns;
      }
    }
  }
  for (uint32_t c = 0, i = 0; c < s->n_commands; c++) { /* copies run one after the other */
    if (s->commands[c].kind == FS_COMMAND_COPY) {
      while (p->item[i].kind == FS_PROFILE_OP) {
        i++;
      }
      ns[c] = p->item[i++].took.median_ns;
    }
  }
  ck_assert_uint_eq(p->expected_ns, naive_makespan(s, ns));
  free(ns);
  char *text = json_of(p), *again;
  fsched_profile *second = parsed(text);
  again = json_of(second);
  ck_assert_str_eq(text, again);
  char *reports[2];
  const fsched_profile *both[] = {p, second};
  for (int k = 0; k < 2; k++) {
    size_t n;
    ck_fs(ctx, fsched_profile_report(ctx, both[k], NULL, &reports[k], &n));
  }
  ck_assert_str_eq(reports[0], reports[1]);
  drop(reports[0]), drop(reports[1]), drop(text), drop(again);
  fsched_report_options as_json = {.size = sizeof as_json, .format = FSCHED_REPORT_JSON, .all = 1};
  ck_fs(ctx, fsched_profile_report(ctx, p, &as_json, &text, &(size_t){0}));
  fs_arena arena;
  fs_doc doc;
  fs_arena_init(&arena, ctx);
  ck_fs(ctx, fs_doc_parse(ctx, &arena, "report", text, strlen(text), &doc));
  ck_assert_uint_eq(doc.node[fs_node_get(&doc, 0, "ops")].n_children, p->n_items);
  fs_arena_release(&arena);
  drop(text);

  fsched_profile_use use = {.size = sizeof use};
  ck_fs(ctx, fsched_graph_apply_profile(ctx, g, second, &use));
  for (uint32_t k = 0; k < fsched_diag_count(ctx); k++) {
    const fsched_diag *d = fsched_diag_get(ctx, k);
    ck_assert(d->severity == FSCHED_NOTE || strcmp(d->code, "profile") != 0);
  }
  ck_assert_uint_eq(use.ops, g->n_ops);
  ck_assert_uint_eq(use.ops + use.copies, p->n_items);
  ck_assert_uint_eq(use.unknown, 0);
  for (uint32_t i = 0; i < p->n_items; i++) {
    for (uint32_t op = 0; op < g->n_ops && p->item[i].kind == FS_PROFILE_OP; op++) {
      if (strcmp(g->op_name[op], p->item[i].name) == 0) {
        ck_assert_uint_eq(g->op_time[op], (p->item[i].took.median_ns + 99) / 100);
      }
    }
  }
  fsched_program *planned;
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  ck_fs(ctx, fsched_compile(ctx, g, &o, NULL, &planned));
  ck_fs(ctx, fsched_verify_program(ctx, planned, g));
  fsched_program_destroy(planned);
  fsched_profile_destroy(second);
  fsched_profile_destroy(p);
  fsched_program_destroy(program);
  fsched_graph_destroy(g);
}
END_TEST

/* Of a loop the longest member counts, whichever queue it is on. */
START_TEST(loops_take_the_longest_part)
{
  fsched_graph *g = fs_parse(
      "fsched: 1\ntarget: {queues: [{name: a}, {name: b}]}\nops:\n- loop: l\n  trip: 3\n  ops:\n"
      "  - {name: load, on: a, args: [{out: x, size: 8}]}\n"
      "  - {name: use, on: b, args: [{in: x}, {out_existing: y, size: 8}]}\n");
  fsched_program *program;
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &program));
  ck_assert(program->view.n_commands == 2 && program->view.n_loops == 1);
  for (uint64_t first = 60; first <= 70; first += 10) {
    uint64_t second = 130 - first;
    fsched_duration took[] = {{1, first, first, first}, {1, second, second, second}};
    fsched_measurement m = {.size = sizeof m, .on = "sim", .command = took, .n_commands = 2};
    fsched_profile *p;
    ck_fs(ctx, fsched_profile_make(ctx, program, &m, &p));
    ck_assert_uint_eq(p->n_items, 1);
    ck_assert_uint_eq(p->item[0].took.median_ns, 70);
    fsched_profile_destroy(p);
  }
  fsched_program_destroy(program);
  fsched_graph_destroy(g);
}
END_TEST

/* A profile contains only what was measured; of a gang the quickest member counts. */
START_TEST(gangs_and_gaps)
{
  fsched_graph *g = fs_parse(
      "fsched: 1\ntarget: {queues: [{name: a}, {name: b}]}\nops:\n"
      "  - {name: x, on: a}\n  - {name: y, on: [a, b], time: 5}\n  - {name: z, on: b, time: 2}\n");
  fsched_program *program;
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &program));
  const fs_stream *s = &program->view;
  fsched_duration took[8] = {{0}};
  ck_assert_uint_eq(s->n_commands, 4);
  uint64_t next = 70;
  for (uint32_t c = 0; c < 4; c++) {
    if (s->commands[c].gang_axis != FS_NONE) {
      took[c] = (fsched_duration){1, next, next, next};
      next -= 10;
    }
  }
  fsched_measurement m = {.size = sizeof m, .on = "sim", .command = took, .n_commands = 4};
  fsched_profile *p;
  ck_fs(ctx, fsched_profile_make(ctx, program, &m, &p));
  ck_assert_uint_eq(p->n_items, 1);
  ck_assert_str_eq(p->item[0].name, "y");
  ck_assert_uint_eq(p->item[0].n_queues, 2);
  ck_assert_uint_eq(p->item[0].took.median_ns, 60);
  ck_assert_uint_eq(p->expected_ns, 60); /* the length of a tick is not known */
  char *text = json_of(p);
  ck_assert_str_eq(text,
                   "{\n \"fsched_profile\": 1,\n \"graph\": \"g\",\n \"on\": \"sim\",\n"
                   " \"planned_makespan\": 7,\n \"expected_makespan_ns\": 60,\n \"ops\": [\n"
                   "  {\"name\": \"y\", \"kind\": \"op\", \"queues\": [\"a\", \"b\"], "
                   "\"planned\": 5, \"count\": 1, \"min_ns\": 60, \"median_ns\": 60, "
                   "\"max_ns\": 60}\n ]\n}\n");
  drop(text);
  fsched_profile_destroy(p);
  m.tick_ns = 10; /* now a tick has a length: x 10, y 60, z 20 */
  ck_fs(ctx, fsched_profile_make(ctx, program, &m, &p));
  ck_assert_uint_eq(p->expected_ns,
                    g->n_ops == 3 && s->commands[0].kind == FS_COMMAND_RUN ? 80 : 0);
  fsched_profile_destroy(p);
  fsched_program_destroy(program);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(bad_measurements)
{
  fsched_graph *g = fs_golden_graph(ctx, "figure-10");
  fsched_program *program;
  ck_fs(ctx, fsched_compile(ctx, g, NULL, NULL, &program));
  uint32_t n = program->view.n_commands;
  fsched_duration *took = calloc(n, sizeof *took);
  fsched_profile *p = (fsched_profile *)1;
  fsched_measurement good = {.size = sizeof good, .command = took, .n_commands = n}, m = good;
  m.n_commands = n - 1;
  ck_assert_int_eq(fsched_profile_make(ctx, program, &m, &p), FSCHED_USAGE);
  ck_assert_ptr_null(p);
  m = good, m.size = 8;
  ck_assert_int_eq(fsched_profile_make(ctx, program, &m, &p), FSCHED_USAGE);
  m = good, m.tick_ns = FSCHED_MAX_TIME + 1;
  ck_assert_int_eq(fsched_profile_make(ctx, program, &m, &p), FSCHED_USAGE);
  m = good, m.tick_ps = FSCHED_MAX_TIME * 1000 + 1;
  ck_assert_int_eq(fsched_profile_make(ctx, program, &m, &p), FSCHED_USAGE);
  m = good, m.makespan = (fsched_duration){1, 2, 1, 3};
  ck_assert_int_eq(fsched_profile_make(ctx, program, &m, &p), FSCHED_USAGE);
  took[n - 1] = (fsched_duration){1, 0, 0, FS_PROFILE_MOST_NS + 1};
  ck_assert_int_eq(fsched_profile_make(ctx, program, &good, &p), FSCHED_USAGE);
  for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
    ck_assert_str_eq(fsched_diag_get(ctx, i)->code, "bad-argument");
  }
  took[n - 1].max_ns = FS_PROFILE_MOST_NS;
  ck_fs(ctx, fsched_profile_make(ctx, program, &good, &p));
  fsched_report_options o = {.size = sizeof o, .format = (fsched_report_format)2};
  char *text;
  size_t length;
  ck_assert_int_eq(fsched_profile_report(ctx, p, &o, &text, &length), FSCHED_USAGE);
  o = (fsched_report_options){.size = 1};
  ck_assert_int_eq(fsched_profile_report(ctx, p, &o, &text, &length), FSCHED_USAGE);
  fsched_profile_destroy(p);
  free(took);
  fsched_program_destroy(program);
  fsched_graph_destroy(g);
}
END_TEST

/* ---- reading */

static const char whole[] =
    "{\"fsched_profile\": 1, \"graph\": \"g\", \"time_unit\": \"us\", \"tick_ns\": 1000,\n"
    " \"on\": \"cpu\", \"invocations\": 3, \"planned_makespan\": 9,\n"
    " \"measured_makespan\": {\"min_ns\": 1, \"median_ns\": 2, \"max_ns\": 3}, \"ops\": [\n"
    "  {\"name\": \"a\", \"kind\": \"op\", \"queues\": [\"q\"], \"planned\": 4, \"count\": 3,\n"
    "   \"min_ns\": 10, \"median_ns\": 20, \"max_ns\": 30},\n"
    "  {\"kind\": \"spill_read\", \"buffer\": \"x\", \"version\": 0, \"median_ns\": 5}]}\n";

static const struct {
  const char *from, *to, *code, *message;
} faults[] = {
    {"\"fsched_profile\": 1", "\"fsched_profile\": 2", "profile-value",
     "the profile has format version 2; this fsched reads version 1"},
    {"\"fsched_profile\": 1, ", "", "profile-key", "key 'fsched_profile' is missing"},
    {"\"graph\"", "\"grahp\"", "profile-key", "unknown key 'grahp'"},
    {"\"graph\": \"g\"", "\"graph\": [\"g\"]", "profile-type", "expected a text, found a list"},
    {"\"tick_ns\": 1000", "\"tick_ns\": 0", "profile-value", "a tick is at least 1 ns"},
    {"\"tick_ns\": 1000", "\"tick_ns\": 1099511627777", "profile-value",
     "a tick is at most 2^40 ns"},
    {"\"tick_ns\": 1000", "\"tick_ps\": 0", "profile-value", "a tick is at least 1 ps"},
    {"\"tick_ns\": 1000", "\"tick_ps\": 1099511627776001", "profile-value",
     "a tick is at most 2^40 ns"},
    {"\"tick_ns\": 1000", "\"tick_ns\": 1, \"tick_ps\": 1", "profile-value",
     "a tick has one length: 'tick_ns' or 'tick_ps'"},
    {"\"tick_ns\": 1000", "\"simulated\": 1", "profile-type", "expected false, true, found '1'"},
    {"\"tick_ns\": 1000", "\"tick_ns\": \"1000\"", "profile-type",
     "expected a number from 0 to 2^64-1, found '1000'"},
    {"\"invocations\": 3", "\"invocations\": 2.5", "profile-type",
     "expected a number from 0 to 2^64-1, found '2.5'"},
    {"\"planned_makespan\": 9", "\"planned_makespan\": 4611686018427387905", "profile-value",
     "the time is above 2^62"},
    {"\"min_ns\": 1,", "\"min_ns\": 3,", "profile-value",
     "the median is not between the least and the greatest time"},
    {"{\"min_ns\": 1, \"median_ns\": 2, \"max_ns\": 3}", "2", "profile-type",
     "expected a mapping, found '2'"},
    {"{\"min_ns\": 1, \"median_ns\": 2,", "{\"min_ns\": 1,", "profile-key",
     "key 'median_ns' is missing"},
    {"\"name\": \"a\", ", "", "profile-key", "key 'name' is missing"},
    {"\"name\": \"a\"", "\"name\": \"a\", \"version\": 0", "profile-key",
     "an op has no buffer and no version"},
    {"\"kind\": \"op\"", "\"kind\": \"opp\"", "profile-type",
     "expected op, spill_write, spill_read, found 'opp'"},
    {"\"queues\": [\"q\"]", "\"queues\": \"q\"", "profile-type", "expected a list, found 'q'"},
    {"\"planned\": 4", "\"planned\": -4", "profile-type",
     "expected a number from 0 to 2^64-1, found '-4'"},
    {"\"count\": 3", "\"count\": 0", "profile-value", "what is here was measured"},
    {"\"min_ns\": 10", "\"min_ns\": 21", "profile-value",
     "the median is not between the least and the greatest time"},
    {"\"max_ns\": 30", "\"max_ns\": 9007199254740993", "profile-value",
     "the time is above 2^53 ns"},
    {" \"median_ns\": 20,", "", "profile-key", "key 'median_ns' is missing"},
    {"\"median_ns\": 5}", "\"median_ns\": 5}, {\"name\": \"a\", \"median_ns\": 1}", "profile-value",
     "op 'a' is here twice, also on line 4"},
    {"\"buffer\": \"x\", ", "", "profile-key", "a copy has a buffer and a version"},
    {"\"version\": 0", "\"version\": 4294967296", "profile-type",
     "expected a number below 2^32, found '4294967296'"},
    {"\"ops\": [", "\"ops\": [3, ", "profile-type", "expected a mapping, found '3'"},
    {"]}\n", "]", "yaml-syntax", NULL},
};

START_TEST(faults_are_named)
{
  const char *at = strstr(whole, faults[_i].from);
  ck_assert_msg(at != NULL, "no %s", faults[_i].from);
  char bad[2048];
  int n = snprintf(bad, sizeof bad, "%.*s%s%s", (int)(at - whole), whole, faults[_i].to,
                   at + strlen(faults[_i].from));
  fsched_profile *p;
  ck_assert_int_eq(fsched_profile_parse(ctx, "bad.json", bad, (size_t)n, &p), FSCHED_BAD_INPUT);
  ck_assert_ptr_null(p);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  const fsched_diag *d = fsched_diag_get(ctx, 0);
  ck_assert_str_eq(d->code, faults[_i].code);
  ck_assert_str_eq(d->file, "bad.json");
  ck_assert_uint_gt(d->line, 0);
  if (faults[_i].message != NULL) {
    ck_assert_str_eq(d->message, faults[_i].message);
  }
}
END_TEST

START_TEST(reads_the_whole)
{
  fsched_profile *p = parsed(whole);
  ck_assert_str_eq(p->graph, "g");
  ck_assert_uint_eq(p->makespan.count, 3);
  ck_assert_uint_eq(p->n_items, 2);
  ck_assert_uint_eq(p->item[1].took.max_ns, 5);
  ck_assert_uint_eq(p->item[1].took.count, 1);
  ck_assert_uint_eq(p->item[1].kind, FS_PROFILE_READ);
  ck_assert_ptr_null(p->file);
  fsched_profile_destroy(p);
  p = parsed("{\"fsched_profile\": 1, \"ops\": []}");
  ck_assert_uint_eq(p->n_items, 0);
  char *text = json_of(p);
  ck_assert_str_eq(text, "{\n \"fsched_profile\": 1,\n \"ops\": []\n}\n");
  drop(text);
  size_t n;
  ck_fs(ctx, fsched_profile_report(ctx, p, NULL, &text, &n));
  ck_assert_str_eq(text,
                   "profile: makespan planned -\n\nNothing says how long a tick is: --tick LENGTH "
                   "does, or a time_unit of the target (ns, us, ms, s).\n");
  fsched_text_free(ctx, text, n);
  fsched_profile_destroy(p);
  ck_assert_int_eq(fsched_profile_read(ctx, "/no/such/profile", &p), FSCHED_SYSTEM);
  ck_assert_ptr_null(p);
}
END_TEST

START_TEST(damaged_text_random)
{
  char bad[sizeof whole];
  fs_rng rng = {(uint64_t)_i};
  for (int k = 0; k < 500; k++) {
    memcpy(bad, whole, sizeof whole);
    size_t n = k % 3 == 0 ? fs_rng_below(&rng, sizeof whole - 1) : sizeof whole - 1;
    for (uint32_t m = fs_rng_below(&rng, 3) + (k % 3 != 0); m-- > 0;) {
      static const char letters[] = "0123456789\"{}[],: abc-\n\x80\xff";
      bad[fs_rng_below(&rng, sizeof whole - 1)] = letters[fs_rng_below(&rng, sizeof letters - 1)];
    }
    fsched_profile *p;
    fsched_status status = fsched_profile_parse(ctx, "damaged", bad, n, &p);
    if (status == FSCHED_OK) {
      char *text = json_of(p), *report;
      size_t length;
      ck_fs(ctx, fsched_profile_report(ctx, p, NULL, &report, &length));
      drop(text), drop(report);
      fsched_profile_destroy(p);
    } else if (status != FSCHED_BAD_INPUT || fsched_diag_errors(ctx) == 0) {
      ck_abort_msg("status %d", status);
    }
    fsched_diag_clear(ctx);
  }
}
END_TEST

/* ---- reports */

static char *report_of(const char *text) {
  fsched_profile *p = parsed(text);
  char *report;
  size_t n;
  ck_fs(ctx, fsched_profile_report(ctx, p, NULL, &report, &n));
  fsched_profile_destroy(p);
  return report;
}

static void says(const char *profile, const char *words, bool wanted) {
  char *report = report_of(profile);
  ck_assert_msg((strstr(report, words) != NULL) == wanted, "%s'%s' in\n%s", wanted ? "no " : "",
                words, report);
  drop(report);
}

#define HEAD "{\"fsched_profile\": 1, \"time_unit\": \"us\", \"planned_makespan\": 10, "
#define OP(planned, ns) \
  "\"ops\": [{\"name\": \"a\", \"planned\": " planned ", \"median_ns\": " ns "}]}"

START_TEST(advice)
{
  static const char recompile[] = "compile the graph with --profile",
                    within[] = "within a tenth of these", lost[] = "Time is lost between";
  says(HEAD OP("10", "11000"), within, true);
  says(HEAD OP("10", "11000"), recompile, false);
  says(HEAD OP("10", "11001"), recompile, true);
  says(HEAD OP("10", "10001"), "what differs most", true);
  says(HEAD OP("10", "10000"), "what differs most", false);
  says(HEAD OP("10", "8000"), recompile, true);
  says(HEAD OP("1", "20"), within, true); /* a tick is the least that counts */
  says(HEAD OP("10", "8000"), within, false);
  says(HEAD "\"expected_makespan_ns\": 10000, \"measured_makespan\": {\"median_ns\": 20000}, " OP(
           "10", "10000"),
       lost, true);
  says(HEAD "\"expected_makespan_ns\": 10000, \"measured_makespan\": {\"median_ns\": 11000}, " OP(
           "10", "10000"),
       lost, false);
  says(HEAD "\"measured_makespan\": {\"median_ns\": 20000}, " OP("10", "10000"), lost, false);
  says(HEAD "\"ops\": [{\"name\": \"a\", \"median_ns\": 5}]}", recompile, false);
  says(HEAD "\"ops\": [{\"name\": \"a\", \"median_ns\": 5}]}", within, false);
  says("{\"fsched_profile\": 1, " OP("10", "8000"), "Nothing says how long a tick is", true);
  /* Terminals get no control characters, and sums stop at the largest number. */
  says(HEAD "\"graph\": \"\\u001b[1m\", " OP("4611686018427387904", "9007199254740992"),
       "\\x1b[1m: makespan", true);
}
END_TEST

START_TEST(shows_ten_or_all)
{
  fs_text t;
  fs_text_init(&t, ctx);
  fs_text_puts(&t, "{\"fsched_profile\": 1, \"time_unit\": \"ns\", \"ops\": [");
  for (int i = 0; i < 12; i++) {
    fs_text_printf(&t, "%s{\"name\": \"op%d\", \"planned\": 100, \"median_ns\": %d}",
                   i == 0 ? "" : ", ", i, 100 + (i % 2 == 0 ? 3 * i : -3 * i));
  }
  fs_text_puts(&t, "]}");
  fs_text_add(&t, "", 1);
  char *some = report_of(t.at);
  const char *at = strstr(some, "what differs most, 10 of 12:\n");
  ck_assert_ptr_nonnull(at);
  for (int i = 11; i >= 2; i--) { /* the largest difference comes first, longer or shorter */
    char name[16];
    (void)snprintf(name, sizeof name, "  op%d ", i);
    at = strstr(at, name);
    ck_assert_msg(at != NULL, "%s not in its place:\n%s", name, some);
  }
  ck_assert_ptr_null(strstr(some, "op1 "));
  drop(some);
  fsched_profile *p = parsed(t.at);
  fsched_report_options o = {.size = sizeof o, .all = 1};
  size_t n;
  ck_fs(ctx, fsched_profile_report(ctx, p, &o, &some, &n));
  ck_assert_ptr_nonnull(strstr(some, "op0 "));
  ck_assert_ptr_null(strstr(some, " of 12"));
  drop(some);
  fsched_profile_destroy(p);
  fs_text_drop(&t);
}
END_TEST

typedef struct measured {
  fs_golden_case of;
  fsched_measurement m;
} measured;

static fsched_status take_over(fsched_context *c, const void *user) {
  const measured *r = user;
  fsched_profile *p = NULL, *q = NULL;
  char *text = NULL, *report = NULL;
  size_t n = 0, length = 0;
  fsched_status status = fsched_profile_make(c, r->of.program, &r->m, &p);
  status = status != FSCHED_OK ? status : fsched_profile_json(c, p, &text, &n);
  status = status != FSCHED_OK ? status : fsched_profile_parse(c, "p", text, n, &q);
  status = status != FSCHED_OK ? status : fsched_profile_report(c, q, NULL, &report, &length);
  status = status != FSCHED_OK ? status : fsched_graph_apply_profile(c, r->of.graph, q, NULL);
  fsched_text_free(c, text, n);
  fsched_text_free(c, report, length);
  fsched_profile_destroy(p);
  fsched_profile_destroy(q);
  return status;
}

/* Every allocation of reading, writing, reporting and applying fails once. */
START_TEST(out_of_memory)
{
  fs_budget budget;
  fsched_context *c = fs_budget_context(&budget), *outer = ctx;
  ctx = c;
  measured r;
  fs_golden_open(&r.of, c, "rich");
  const fs_stream *s = &r.of.program->view;
  fsched_duration *took = calloc(s->n_commands, sizeof *took);
  for (uint32_t k = 0; k < s->n_commands; k++) {
    took[k] = (fsched_duration){1, 1000, 1000, 1000};
  }
  r.m = (fsched_measurement){
      .size = sizeof r.m, .tick_ns = 1000, .command = took, .n_commands = s->n_commands};
  fs_fail_each_allocation(c, &budget, take_over, &r);
  free(took);
  fs_golden_close(&r.of);
  fsched_context_destroy(c);
  ck_assert_int_eq(budget.blocks, 0);
  ctx = outer;
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof(table)[0])

FS_SUITE(profile, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, durations, gangs_and_gaps, loops_take_the_longest_part, bad_measurements,
           reads_the_whole, advice, shows_ten_or_all, out_of_memory);
  FS_LOOPS(t, 0, 3, goldens);
  FS_LOOPS(t, 0, 60, round_trip_random);
  FS_LOOPS(t, 0, ROWS(faults), faults_are_named);
  FS_LOOPS(t, 0, 6, damaged_text_random);
}
