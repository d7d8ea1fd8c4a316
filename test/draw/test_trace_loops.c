/* SPDX-License-Identifier: Apache-2.0 */
/* Loops in traces: instances lie in their loop, come after what they wait for, and each is shown or
 * counted; of a long loop, times are what a formula says. */
#include "draw/trace/trace.h"
#include "draw/trace_instances.h"
#include "fsched/compile.h"
#include "fsched/program.h"
#include "kit/nest_gen.h"
#include "kit/turn.h"

#include "kit/context.h"

static fsched_program *compile_text(const char *text) {
  fsched_compile_options o = {.size = sizeof o, .effort = FSCHED_EFFORT(0)};
  fsched_graph *g;
  fsched_program *p = NULL;
  if (fsched_graph_parse(ctx, "loop.yaml", text, strlen(text), NULL, &g) == FSCHED_OK) {
    (void)!fsched_compile(ctx, g, &o, NULL, &p);
    fsched_graph_destroy(g);
  }
  fsched_diag_clear(ctx);
  return p;
}

static void open_trace(const fsched_program *p, tr_trace *t) {
  char *text;
  size_t length;
  ck_fs(ctx, fsched_program_trace(ctx, p, NULL, &text, &length));
  tr_open(t, text, length);
  fsched_text_free(ctx, text, length);
}

/* The name of an instance, with the iteration of the innermost loop put in. */
static void name_instance(char *out, size_t n, const char *op, const char *around, uint64_t i) {
  (void)snprintf(out, n, "%s%s[%llu]", op, around, (unsigned long long)i);
}

/* Checks an instance of a command against those that it waits for; returns how many there were. */
static uint32_t check_waits(const tr_trace *t, const fs_stream *s, const tr_event *e, uint32_t c) {
  const fs_stream_loop_command *k = &s->loop_commands[c];
  const char *op = fs_stream_string(s, s->loop_ops[k->op].name), *last = strrchr(e->name, '[');
  char around[128], name[256];
  uint64_t i = strtoull(last + 1, NULL, 10);
  uint32_t n = 0;
  (void)snprintf(around, sizeof around, "%.*s", (int)(last - e->name - (long)strlen(op)),
                 e->name + strlen(op));
  for (uint32_t w = k->wait0; w < k->wait0 + k->n_waits; w++) {
    const fs_stream_loop_wait *wait = &s->loop_waits[w];
    const char *target = fs_stream_string(s, s->loop_ops[s->loop_commands[wait->command].op].name);
    if (wait->distance <= i) {
      name_instance(name, sizeof name, target, around, i - wait->distance);
      const tr_event *before = tr_find(t, name);
      ck_assert_msg(before == NULL || before->finish <= e->start, "%s before %s", e->name, name);
      n += before != NULL;
    }
  }
  return n;
}

static uint32_t check_trace(const fsched_program *p, bool nested) {
  const fs_stream *s = &p->view;
  uint32_t waits = 0;
  tr_trace t;
  open_trace(p, &t);
  tr_check(&t, s, 1);
  for (uint32_t i = 0; i < t.n; i++) {
    const tr_event *e = &t.event[i];
    if (tr_inside(e) && strcmp(e->cat, "hidden") != 0) {
      uint32_t c = tr_command_of(s, e, 1);
      ck_assert_msg(c != FS_NONE, "'%s' on a queue that is not its own", e->name);
      waits += check_waits(&t, s, e, c);
    }
  }
  if (!nested && s->n_loops == 1) {
    tr_check_number(&t, s, s->loops[0].trip);
  }
  tr_close(&t);
  return waits;
}

static void check_random(void (*generate)(uint64_t, fs_text *), bool nested) {
  uint32_t waits = 0, n = 0;
  for (uint64_t k = 0; k < 100; k++) {
    fs_text text;
    fs_text_init(&text, ctx);
    generate(fs_turn() * 100 + k, &text);
    fs_text_add(&text, "", 1);
    fsched_program *p = compile_text(text.at);
    if (p != NULL && p->view.n_loops > 0) {
      waits += check_trace(p, nested);
      n++;
    }
    fsched_program_destroy(p);
    fs_text_drop(&text);
  }
  fs_assert_seen(n, 20);
  fs_assert_seen(waits, 100);
}

START_TEST(random_loops)
{ check_random(fs_loop_gen, false); }
END_TEST

START_TEST(random_nests)
{ check_random(fs_nest_gen, true); }
END_TEST

/* A load of 2 ticks and a use of 3, with two slots: use i starts at 2 + 3 i, and load i, from the
 * second on, with use i - 1. */
START_TEST(long_loop)
{
  static const char form[] =
      "fsched: 1\n"
      "target:\n"
      "  queues: [{name: a, class: a}, {name: b, class: b}]\n"
      "  memories: [{name: m, capacity: 64}]\n"
      "ops:\n"
      "  - loop: l\n"
      "    trip: %llu\n"
      "    buffers: {r: {depth: 2}}\n"
      "    ops:\n"
      "      - {name: load, on: a, time: 2, args: [{out: r, size: 8}]}\n"
      "      - {name: use, on: b, time: 3, args: [{in: r}]}\n";
  static const uint64_t trips[] = {1, 2, 5, 9, 100, 16411, 1000003};
  char text[512];
  for (size_t k = 0; k < sizeof trips / sizeof trips[0]; k++) {
    uint32_t uses = 0;
    (void)snprintf(text, sizeof text, form, (unsigned long long)trips[k]);
    fsched_program *p = compile_text(text);
    ck_assert_ptr_nonnull(p);
    tr_trace t;
    open_trace(p, &t);
    tr_check(&t, &p->view, 1);
    tr_check_number(&t, &p->view, trips[k]);
    for (uint32_t x = 0; x < t.n; x++) {
      const tr_event *e = &t.event[x];
      uint64_t i = strchr(e->name, '[') == NULL ? 0 : strtoull(strchr(e->name, '[') + 1, NULL, 10);
      if (strncmp(e->name, "load[", 5) == 0) {
        ck_assert_uint_eq(e->start, i == 0 ? 0 : 2 + 3 * (i - 1));
      } else if (strncmp(e->name, "use[", 4) == 0) {
        ck_assert_uint_eq(e->start, 2 + 3 * i);
        uses++;
      }
    }
    ck_assert_uint_ge(uses, fs_min(trips[k], 6));
    ck_assert_uint_le(uses, 20);
    char last[32];
    name_instance(last, sizeof last, "use", "", trips[k] - 1);
    ck_assert_ptr_nonnull(tr_find(&t, last));
    name_instance(last, sizeof last, "use", "", trips[k] / 2);
    ck_assert_ptr_nonnull(tr_find(&t, last));
    tr_close(&t);
    fsched_program_destroy(p);
  }
}
END_TEST

FS_SUITE(trace_loops, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, random_loops, random_nests, long_loop);
}
