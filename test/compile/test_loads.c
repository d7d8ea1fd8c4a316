/* SPDX-License-Identifier: Apache-2.0 */
/* Which given content a schedule loads: only what can be read, or kept, before it is overwritten.
 *
 * The test writes random small graphs as text.  What has to be loaded is found byte by byte from
 * that description alone: some op reads a byte that no earlier writer in the order of the graph has
 * overwritten, or a byte that no op writes is kept.  What is loaded is read from the schedule's
 * JSON.  The programs are verified, pass the judge of all interleavings, and their replays are
 * equal. */
#include <stdio.h>
#include <stdlib.h>
#include "kit/quick.h"

#include "base/context.h"
#include "fsched/compile.h"
#include "fsched/replay.h"
#include "fsched/verify.h"
#include "kit/budget.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "kit/oracle/oracle.h"

#include "kit/context.h"

enum { BUFFERS = 3, OPS = 7, ARGS = 2, BYTES = 4, TEXT = 1 << 14, MAX_STATES = 100000 };
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 150 };
#else
enum { GRAPHS = 1500 };
#endif
enum { TIMELINE, BOUNDED, AUTO, BLOCK, KINDS };
enum { IN, INOUT, EXISTING, OUT };

typedef struct small_arg {
  uint32_t tag, buffer, offset, length;
} small_arg;

/* Buffer b has size[b] bytes; states come first, then inputs. */
typedef struct small_graph {
  bool raw, bounded_store, counted;
  uint32_t n_buffers, n_states, n_ops, capacity;
  /* `after` is an earlier op, or the op itself for none. */
  uint32_t size[BUFFERS], n_args[OPS], after[OPS];
  small_arg arg[OPS][ARGS];
} small_graph;

typedef struct loads_tally {
  uint32_t loaded, spared, refused, spilled, judged, replayed, caught;
} loads_tally;

/* --- graphs --- */

static bool names_buffer(const small_graph *s, uint32_t op, uint32_t buffer) {
  bool named = false;
  for (uint32_t i = 0; i < s->n_args[op]; i++) {
    named = named || s->arg[op][i].buffer == buffer;
  }
  return named;
}

static small_arg draw_arg(const small_graph *s, uint32_t op, fs_rng *r) {
  small_arg a = {.tag = fs_rng_one_in(r, 3) ? fs_rng_below(r, 4) : EXISTING,
                 .buffer = fs_rng_below(r, s->n_buffers)};
  if (a.tag == OUT && names_buffer(s, op, a.buffer)) {
    a.tag = EXISTING;
  }
  a.length = s->size[a.buffer];
  if (a.tag != OUT && !fs_rng_one_in(r, 3)) {
    a.offset = fs_rng_below(r, s->size[a.buffer]);
    a.length = 1 + fs_rng_below(r, s->size[a.buffer] - a.offset);
  }
  return a;
}

static small_graph draw_graph(uint64_t seed, bool raw) {
  fs_rng r = {seed};
  small_graph s = {.raw = raw, .bounded_store = fs_rng_one_in(&r, 3)};
  s.n_buffers = 1 + fs_rng_below(&r, BUFFERS);
  s.n_states = fs_rng_below(&r, s.n_buffers + 1);
  s.n_ops = 1 + fs_rng_below(&r, OPS);
  s.counted = fs_rng_one_in(&r, 3);
  for (uint32_t b = 0; b < s.n_buffers; b++) {
    s.size[b] = 1 + fs_rng_below(&r, BYTES);
  }
  for (uint32_t op = 0; op < s.n_ops; op++) {
    uint32_t n = 1 + fs_rng_below(&r, ARGS), need = 0;
    for (uint32_t i = 0; i < n; i++) {
      s.arg[op][i] = draw_arg(&s, op, &r);
      s.n_args[op]++;
      need += s.size[s.arg[op][i].buffer];
    }
    s.capacity = need > s.capacity ? need : s.capacity;
    s.after[op] = fs_rng_one_in(&r, 3) ? fs_rng_below(&r, op + 1) : op;
  }
  return s;
}

static void write_target(const small_graph *s, FILE *f) {
  fprintf(f, "fsched: 1\nhazards: %s\ntarget:\n", s->raw ? "raw" : "sequential");
  fprintf(f,
          "  queues: [{name: p}, {name: q}, {name: dma, class: copy}]\n"
          "  memories:\n"
          "    - {name: m, capacity: %u, placement: %s, backing: ddr, spill: {on: copy,\n"
          "       write: {fixed: 2, rate: 0}, read: {fixed: 2, rate: 0}}}\n"
          "    - {name: ddr%s}\nbuffers:\n",
          s->capacity, s->counted ? "counted" : "contiguous",
          s->bounded_store ? ", capacity: 64" : "");
  for (uint32_t b = 0; b < s->n_buffers; b++) {
    fprintf(f, "  - {name: b%u, size: %u, memory: m, io: %s}\n", b, s->size[b],
            b < s->n_states ? "state" : "input");
  }
}

static void write_graph(const small_graph *s, char *text) {
  static const char *const tag[] = {"in", "inout", "out_existing", "out"};
  FILE *f = fmemopen(text, TEXT, "w");
  ck_assert_ptr_nonnull(f);
  write_target(s, f);
  fprintf(f, "ops:\n");
  for (uint32_t op = 0; op < s->n_ops; op++) {
    fprintf(f, "  - {name: o%u, on: %s, ", op, op % 2 ? "q" : "p");
    if (s->after[op] != op) {
      fprintf(f, "after: [o%u], ", s->after[op]);
    }
    fprintf(f, "args: [");
    for (uint32_t i = 0; i < s->n_args[op]; i++) {
      const small_arg *a = &s->arg[op][i];
      fprintf(f, "%s{%s: b%u", i > 0 ? ", " : "", tag[a->tag], a->buffer);
      if (a->tag != OUT) {
        fprintf(f, ", at: [%u, %u]", a->offset, a->length);
      }
      fprintf(f, "}");
    }
    fprintf(f, "]}\n");
  }
  ck_assert_int_eq(fclose(f), 0);
}

/* --- what has to be loaded, byte by byte --- */

/* Returns how many versions the ops before `op` start, which is what an `in` there reads. */
static uint32_t version_at(const small_graph *s, uint32_t op, uint32_t buffer) {
  uint32_t n = 0;
  for (uint32_t o = 0; o < op; o++) {
    for (uint32_t i = 0; i < s->n_args[o]; i++) {
      n += s->arg[o][i].tag == OUT && s->arg[o][i].buffer == buffer;
    }
  }
  return n;
}

/* Does the op read (write) the byte of the buffer's given content? */
static bool touches(const small_graph *s, uint32_t op, uint32_t buffer, uint32_t byte, bool write) {
  bool any = false;
  for (uint32_t i = 0; i < s->n_args[op]; i++) {
    const small_arg *a = &s->arg[op][i];
    bool does = write ? a->tag == INOUT || a->tag == EXISTING : a->tag == IN || a->tag == INOUT;
    any = any || (does && a->buffer == buffer && version_at(s, op, buffer) == 0 &&
                  a->offset <= byte && byte < a->offset + a->length);
  }
  return any;
}

/* Returns the last op before `op` that writes the byte of any version of the buffer; `op` for
 * none. */
static uint32_t last_writer(const small_graph *s, uint32_t op, uint32_t buffer, uint32_t byte) {
  uint32_t last = op;
  for (uint32_t o = 0; o < op; o++) {
    last = touches(s, o, buffer, byte, true) ? o : last;
  }
  return last;
}

/* Finds before[a][b]: the graph orders a before b because of a byte of given content, or by
 * `after`; then the relation is closed.  Orders by other versions would only enlarge it and are
 * left out: ops that need them are ordered by these too, since a reader depends on the last writer
 * of what it reads. */
static void find_order(const small_graph *s, bool before[OPS][OPS]) {
  memset(before, 0, sizeof(bool[OPS][OPS]));
  for (uint32_t b = 0; b < s->n_ops; b++) {
    before[s->after[b]][b] = s->after[b] != b;
    for (uint32_t x = 0; x < s->n_buffers * BYTES; x++) {
      uint32_t buffer = x / BYTES, byte = x % BYTES, w = last_writer(s, b, buffer, byte);
      bool reads = touches(s, b, buffer, byte, false), writes = touches(s, b, buffer, byte, true);
      before[w][b] |= w != b && reads;
      for (uint32_t a = 0; a < b && !s->raw; a++) {
        bool other = touches(s, a, buffer, byte, true);
        before[a][b] |=
            (other && (reads || writes)) || (writes && touches(s, a, buffer, byte, false));
      }
    }
  }
  for (uint32_t k = 0; k < s->n_ops; k++) {
    for (uint32_t a = 0; a < s->n_ops; a++) {
      for (uint32_t b = 0; b < s->n_ops; b++) {
        before[a][b] |= before[a][k] && before[k][b];
      }
    }
  }
}

static bool byte_wanted(const small_graph *s, bool before[OPS][OPS], uint32_t buffer,
                        uint32_t byte) {
  bool wanted = false, written = false;
  for (uint32_t op = 0; op < s->n_ops; op++) {
    bool covered = false;
    for (uint32_t w = 0; w < s->n_ops; w++) {
      covered = covered || (before[w][op] && touches(s, w, buffer, byte, true));
    }
    wanted = wanted || (touches(s, op, buffer, byte, false) && !covered);
    written = written || touches(s, op, buffer, byte, true);
  }
  bool kept = buffer < s->n_states && version_at(s, s->n_ops, buffer) == 0;
  return wanted || (kept && !written);
}

static bool has_to_be_loaded(const small_graph *s, uint32_t buffer) {
  bool before[OPS][OPS], wanted = false, used = false;
  find_order(s, before);
  for (uint32_t byte = 0; byte < s->size[buffer]; byte++) {
    wanted = wanted || byte_wanted(s, before, buffer, byte);
    for (uint32_t op = 0; op < s->n_ops; op++) {
      used = used || touches(s, op, buffer, byte, false) || touches(s, op, buffer, byte, true);
    }
  }
  return used && wanted;
}

/* --- what is loaded --- */

static uint32_t count_text(const char *from, const char *to, const char *what) {
  uint32_t n = 0;
  for (const char *at = strstr(from, what); at != NULL && at < to; at = strstr(at + 1, what)) {
    n++;
  }
  return n;
}

/* Whether, in the order of the list, a read of version 0 comes before any write of it. */
static bool is_loaded(const char *json, uint32_t buffer) {
  char read[64], write[64];
  (void)snprintf(read, sizeof read, "\"kind\": \"spill_read\", \"buffer\": \"b%u\", \"version\": 0",
                 buffer);
  (void)snprintf(write, sizeof write,
                 "\"kind\": \"spill_write\", \"buffer\": \"b%u\", \"version\": 0", buffer);
  const char *first = strstr(json, read), *store = strstr(json, write);
  return first != NULL && (store == NULL || first < store);
}

static void compare_loads(const small_graph *s, const fsched_schedule *schedule, const char *text,
                          loads_tally *t) {
  char *json;
  size_t n;
  ck_fs(ctx, fsched_schedule_json(ctx, schedule, &json, &n));
  uint32_t reads = count_text(json, json + n, "\"spill_read\"");
  for (uint32_t b = 0; b < s->n_buffers; b++) {
    bool loaded = is_loaded(json, b), wanted = has_to_be_loaded(s, b);
    ck_assert_msg(loaded == wanted, "b%u is %sloaded:\n%s%s", b, loaded ? "" : "not ", text, json);
    t->loaded += loaded;
    t->spared += !loaded;
    reads -= loaded;
  }
  t->spilled += reads;
  fsched_text_free(ctx, json, n);
}

/* --- programs --- */

static fs_status replay(const fsched_program *p, const char *kind, fsched_durations durations) {
  fsched_device_options d = {.size = sizeof d, .kind = kind, .durations = durations, .seed = 1};
  fsched_device *device;
  FS_TRY(fsched_device_create(ctx, &d, &device));
  fsched_replay_options o = {
      .size = sizeof o, .check = 1, .repeat = 3, .timeout_ms = 60000, .device = device};
  fs_status status = fsched_replay(ctx, p, &o, NULL);
  fsched_device_release(device);
  return status;
}

static void try_program(const fsched_graph *g, const fsched_program *p, const char *text,
                        loads_tally *t) {
  ck_assert_msg(fsched_verify_program(ctx, p, g) == FSCHED_OK, "%s\n%s", fs_test_diags(ctx), text);
  if (g->hazards == FSCHED_HAZARDS_SEQUENTIAL) {
    fs_oracle_verdict verdict = fs_oracle_program(&p->view, MAX_STATES);
    t->judged += verdict == FS_ORACLE_RIGHT;
    ck_assert_msg(verdict == FS_ORACLE_RIGHT || verdict == FS_ORACLE_TOO_LARGE, "%s\n%s",
                  fs_oracle_name(verdict), text);
  }
  if (g->n_races == 0) {
    ck_assert_msg(replay(p, "cpu", FSCHED_DURATIONS_PLANNED) == FSCHED_OK &&
                      replay(p, "sim", FSCHED_DURATIONS_ADVERSARIAL) == FSCHED_OK,
                  "%s\n%s", fs_test_diags(ctx), text);
    t->replayed++;
  }
}

static fsched_status compile(fsched_graph *g, int kind, fsched_schedule **s, fsched_program **p) {
  g->target.sync = kind == BLOCK ? FS_SYNC_BLOCK : FS_SYNC_TIMELINE;
  fsched_compile_options o = {.size = sizeof o, .effort = FS_QUICK};
  o.barriers = kind == BOUNDED ? 3 : kind == AUTO ? FSCHED_BARRIERS_AUTO : 0;
  return fsched_compile(ctx, g, &o, s, p);
}

static void try_graph(uint64_t seed, bool raw, int kind, loads_tally *t) {
  static char text[TEXT];
  small_graph small = draw_graph(seed, raw);
  fsched_graph *g;
  fsched_schedule *s;
  fsched_program *p;
  write_graph(&small, text);
  if (fsched_graph_parse(ctx, "loads", text, strlen(text), NULL, &g) != FSCHED_OK) {
    t->refused++;
    fsched_diag_clear(ctx);
    return;
  }
  ck_assert_msg(compile(g, kind, &s, &p) == FSCHED_OK, "%s\n%s", fs_test_diags(ctx), text);
  ck_assert_msg(fsched_verify_schedule(ctx, g, s) == FSCHED_OK, "%s\n%s", fs_test_diags(ctx), text);
  compare_loads(&small, s, text, t);
  try_program(g, p, text, t);
  fsched_program_destroy(p);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}

static loads_tally try_graphs(bool raw, int kind) {
  loads_tally t = {0};
  for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
    try_graph(seed, raw, kind, &t);
  }
  ck_assert_uint_lt(t.refused, GRAPHS / 20);
  ck_assert_uint_gt(t.loaded, GRAPHS / 8);
  ck_assert_uint_gt(t.spared, GRAPHS / 8);
  ck_assert_uint_gt(t.spilled, GRAPHS / 100);
  return t;
}

START_TEST(what_is_wanted_is_loaded)
{
  loads_tally t = try_graphs(false, _i);
  ck_assert_uint_gt(t.judged, GRAPHS / 2);
  ck_assert_uint_gt(t.replayed, GRAPHS / 2);
}
END_TEST

START_TEST(raw_hazards_load_no_more)
{
  loads_tally t = try_graphs(true, _i);
  ck_assert_uint_gt(t.replayed, GRAPHS / 8);
}
END_TEST

/* --- missing loads are noticed */

/* Compiles as if no given content were needed. */
static void compile_without_loads(uint64_t seed, loads_tally *t) {
  static char text[TEXT];
  small_graph small = draw_graph(seed, false);
  bool wanted = false;
  fsched_schedule *s;
  fsched_program *p;
  for (uint32_t b = 0; b < small.n_buffers; b++) {
    wanted = wanted || has_to_be_loaded(&small, b);
  }
  write_graph(&small, text);
  fsched_graph *g = fs_parse(text);
  memset(g->buffer_wanted, 0, g->n_buffers);
  fsched_status status = compile(g, TIMELINE, &s, &p);
  if (status == FSCHED_INFEASIBLE && wanted) { /* the first reader has nothing to wait for */
    t->refused++;
    fsched_diag_clear(ctx);
    fsched_graph_destroy(g);
    return;
  }
  ck_fs(ctx, status);
  fsched_status schedule = fsched_verify_schedule(ctx, g, s);
  fsched_status program = fsched_verify_program(ctx, p, g);
  fsched_status expected = wanted ? FSCHED_WRONG : FSCHED_OK;
  ck_assert_msg(schedule == expected && program == expected, "%d, %d; expected %d:\n%s", schedule,
                program, expected, text);
  t->caught += wanted;
  fsched_diag_clear(ctx);
  fsched_program_destroy(p);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}

START_TEST(a_load_left_out_is_found)
{
  loads_tally t = {0};
  for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
    compile_without_loads(seed, &t);
  }
  ck_assert_uint_gt(t.caught, GRAPHS / 4);
  ck_assert_uint_lt(t.refused, GRAPHS / 10);
}
END_TEST

static fsched_status compile_and_verify(fsched_context *c, const void *graph) {
  fsched_compile_options o = {.size = sizeof o, .effort = FS_QUICK, .verify = 1};
  fsched_schedule *s = NULL;
  fsched_program *p = NULL;
  fsched_status status = fsched_compile(c, graph, &o, &s, &p);
  status = status == FSCHED_OK ? fsched_verify_schedule(c, graph, s) : status;
  status = status == FSCHED_OK ? fsched_verify_program(c, p, graph) : status;
  fsched_program_destroy(p);
  fsched_schedule_destroy(s);
  return status;
}

/* One op reads the first of two halves before the other half is written. */
START_TEST(out_of_memory)
{
  static const char text[] =
      "fsched: 1\n"
      "target:\n"
      "  queues: [{name: p}, {name: q}, {name: dma, class: copy}]\n"
      "  memories:\n"
      "    - {name: m, capacity: 8, backing: ddr, spill: {on: copy}}\n"
      "    - {name: ddr}\n"
      "buffers: [{name: x, size: 8, memory: m, io: state}]\n"
      "ops:\n"
      "  - {name: a, on: p, args: [{out_existing: x, at: [0, 4]}]}\n"
      "  - {name: b, on: p, args: [{in: x, at: [0, 4]}]}\n"
      "  - {name: c, on: q, args: [{out_existing: x, at: [4, 4]}]}\n";
  fs_budget budget;
  fsched_context *c = fs_budget_context(&budget);
  fsched_graph *g;
  ck_fs(c, fsched_graph_parse(c, "halves", text, strlen(text), NULL, &g));
  ck_assert_uint_eq(g->buffer_wanted[0], 0);
  fs_fail_each_allocation(c, &budget, compile_and_verify, g);
  fsched_graph_destroy(g);
  fsched_context_destroy(c);
}
END_TEST

FS_SUITE(loads, s) {
  TCase *t = fs_case(s, fs_test_context);
  tcase_set_timeout(t, 120);
  FS_LOOPS(t, 0, KINDS, what_is_wanted_is_loaded, raw_hazards_load_no_more);
  FS_TESTS(t, a_load_left_out_is_found, out_of_memory);
}
