/* SPDX-License-Identifier: Apache-2.0 */
/* Streams with barriers and with syncs: their forms, the checks of them, what comes before a
 * command, and in which orders commands can run. */
#include "codegen/stream_kit.h"
#include "fsched/program.h"
#include "kit/budget.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "kit/sync_kit.h"
#include "model/handle.h"
#include "model/stream/order.h"
#include "model/stream/points.h"

#include "kit/context.h"

static const fs_sync_kind kinds[] = {FS_SYNC_BARRIER, FS_SYNC_BLOCK};
static const char *const kind_names[] = {"barrier", "block"};

/* This is test/golden/rich with barriers or syncs; its last queue can be counted, and the op sum
 * takes three slots. */
typedef struct rich {
  fsched_graph *graph;
  fsched_schedule *schedule;
  fsched_program *program;
} rich;

static void open_rich(rich *r, fs_sync_kind kind) {
  size_t n;
  r->graph = fs_golden_graph(ctx, "rich");
  r->graph->target.queue[2].counting = true;
  ck_fs(ctx, fs_new(&r->graph->arena, &r->graph->op_slots, r->graph->n_ops));
  for (uint32_t o = 0; o < r->graph->n_ops; o++) {
    r->graph->op_slots[o] = o == 2 ? 3 : 1;
  }
  char *text = fs_golden_read("rich.by-hand.json", &n);
  ck_fs(ctx, fsched_schedule_parse(ctx, r->graph, "rich", text, n, &r->schedule));
  free(text);
  ck_fs(ctx, fs_kit_program(r->schedule, kind, &r->program));
}

static void close_rich(rich *r) {
  fsched_program_destroy(r->program);
  fsched_schedule_destroy(r->schedule);
  fsched_graph_destroy(r->graph);
}

/* ---- forms */

START_TEST(goldens)
{
  rich r;
  open_rich(&r, kinds[_i]);
  char name[64];
  (void)snprintf(name, sizeof name, "rich.%s", kind_names[_i]);
  fs_check_forms(ctx, r.program, name);
  close_rich(&r);
}
END_TEST

static void make_random(uint64_t seed, fs_sync_kind kind, fsched_graph **g,
                        fsched_schedule **schedule, fsched_program **p) {
  fs_gen_params params = fs_gen_any(seed, 80);
  ck_fs(ctx, fs_gen_graph(ctx, &params, g));
  fs_rng rng = {seed};
  for (uint32_t q = 0; q < (*g)->target.n_queues; q++) {
    (*g)->target.queue[q].counting = fs_rng_one_in(&rng, 3);
  }
  fsched_program *timeline;
  ck_fs(ctx, fsched_compile(ctx, *g, NULL, schedule, &timeline));
  fsched_program_destroy(timeline);
  ck_fs(ctx, fs_kit_program(*schedule, kind, p));
}

START_TEST(round_trip_random)
{
  fsched_graph *g;
  fsched_schedule *s;
  fsched_program *p;
  make_random((uint64_t)_i, kinds[_i % 2], &g, &s, &p);
  fs_check_round_trip(ctx, p);
  fsched_program_destroy(p);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* ---- checks */

static fsched_status load_copy(fs_stream_copy *k, fsched_program **p) {
  fs_stream_copy_sign(k);
  fsched_diag_clear(ctx);
  *p = NULL;
  return fsched_program_load(ctx, "bad.fsb", k->bytes, k->size, p);
}

/* Each is one fault in rich, with barriers or with syncs. */
#define FAULT(kind, name, statement, message) \
  static void fault_##name(fs_stream_copy *k) { statement; }
#include "codegen/stream_sync_faults.def"
#undef FAULT
static const struct {
  const char *name, *message;
  void (*apply)(fs_stream_copy *k);
  int kind;
} faults[] = {
#define FAULT(kind, name, statement, message) {#name, message, fault_##name, kind},
#include "codegen/stream_sync_faults.def"
#undef FAULT
};

START_TEST(each_rule)
{
  rich r;
  fsched_program *p;
  open_rich(&r, kinds[faults[_i].kind]);
  fs_stream_copy k = fs_stream_copy_of(r.program);
  faults[_i].apply(&k);
  fsched_status status = load_copy(&k, &p);
  ck_assert_msg(status == FSCHED_BAD_INPUT, "%s: status %d", faults[_i].name, status);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message, faults[_i].message);
  free(k.bytes);
  close_rich(&r);
}
END_TEST

/* Reading an accepted stream never leaves it, whatever was changed. */
static void walk(const fsched_program *p) {
  fs_arena arena;
  fs_stream_order order;
  fs_arena_init(&arena, ctx);
  ck_fs(ctx, fs_stream_order_find(&arena, &p->view, &order));
  bool runs = order.n_runnable == p->view.n_commands;
  fs_arena_release(&arena);
  char *text;
  size_t n;
  ck_fs(ctx, fsched_program_trace(ctx, p, NULL, &text, &n));
  fsched_text_free(ctx, text, n);
  fsched_status status = fsched_program_explain(ctx, p, NULL, NULL, 0, &text, &n);
  ck_assert_int_eq(status, runs ? FSCHED_OK : FSCHED_WRONG);
  if (runs) {
    fsched_text_free(ctx, text, n);
  }
}

START_TEST(signed_damage_random)
{
  rich r;
  open_rich(&r, kinds[_i % 2]);
  fs_rng rng = {(uint64_t)_i};
  unsigned accepted = 0;
  for (int n = 0; n < 1500; n++) {
    fs_stream_copy k = fs_stream_copy_of(r.program);
    for (uint32_t m = fs_rng_below(&rng, 2) + 1; m-- > 0;) {
      uint32_t at = fs_rng_below(&rng, (uint32_t)k.size / 4) * 4, value;
      memcpy(&value, k.bytes + at, 4);
      value = fs_rng_one_in(&rng, 3)   ? value ^ 1u << fs_rng_below(&rng, 32)
              : fs_rng_one_in(&rng, 2) ? value + fs_rng_below(&rng, 5) - 2
                                       : fs_rng_below(&rng, 12);
      memcpy(k.bytes + at, &value, 4);
    }
    fsched_program *p;
    fsched_status status = load_copy(&k, &p);
    if (status == FSCHED_OK) {
      accepted++;
      fs_check_round_trip(ctx, p);
      walk(p);
      fsched_program_destroy(p);
    } else if (status != FSCHED_BAD_INPUT || fsched_diag_count(ctx) != 1) {
      ck_abort_msg("status %d with %u reports", status, fsched_diag_count(ctx));
    }
    free(k.bytes);
  }
  ck_assert_uint_gt(accepted, 10);
  close_rich(&r);
}
END_TEST

/* ---- assembly */

typedef struct edit {
  int kind;
  const char *from, *to, *message;
  uint32_t line; /* 0: in no particular place */
} edit;

static const edit edits[] = {
#include "codegen/stream_sync_edits.def"
};

START_TEST(assembly_faults)
{
  const edit *e = &edits[_i];
  rich r;
  size_t length;
  uint32_t line;
  open_rich(&r, kinds[e->kind]);
  char *bad = fs_edited_json(ctx, r.program, e->from, e->to, &length, &line);
  fsched_program *p;
  fsched_diag_clear(ctx);
  ck_assert_int_eq(fsched_program_assemble(ctx, "bad.json", bad, length, &p), FSCHED_BAD_INPUT);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message, e->message);
  if (e->line != 0) { /* the line of the edit */
    ck_assert_uint_eq(fsched_diag_get(ctx, 0)->line, line + e->line - 1);
  }
  free(bad);
  close_rich(&r);
}
END_TEST

/* ---- points and order */

/* Points are exactly those of the definition. */
static void check_points(const fs_sync *y, const fs_stream *s, const fs_points *p) {
  for (uint32_t c = 0; c < s->n_commands; c++) {
    uint32_t at = p->point0[c];
    for (uint32_t q = 0; q < s->n_queues; q++) {
      uint32_t epoch = fs_kit_point(y, c, q);
      if (epoch > 0 &&
          (at == p->point0[c + 1] || p->point[at].axis != q || p->point[at++].epoch != epoch)) {
        ck_abort_msg("the points of command %u lack epoch %u of queue %u", c, epoch, q);
      }
    }
    ck_assert_uint_eq(at, p->point0[c + 1]);
  }
}

/* Does the command update a barrier that follows, on the same physical one, a barrier that `other`
 * waits for? */
static bool gated_by(const fs_stream *s, uint32_t command, uint32_t other) {
  const fs_stream_command *c = &s->commands[command], *o = &s->commands[other];
  for (uint32_t u = 0; u < c->n_barrier_updates; u++) {
    const fs_stream_barrier *b = &s->barriers[s->barrier_updates[c->barrier_update0 + u].barrier];
    for (uint32_t w = 0; w < o->n_barrier_waits; w++) {
      const fs_stream_barrier *a = &s->barriers[s->barrier_waits[o->barrier_wait0 + w]];
      if (a->physical == b->physical && a->use + 1 == b->use) {
        return true;
      }
    }
  }
  return false;
}

/* Gates are the last such command on each queue, without those that come earlier on the command's
 * own queue. */
static void check_gates(const fs_stream *s, const fs_points *p) {
  for (uint32_t c = 0; c < s->n_commands; c++) {
    uint32_t at = p->gate0[c];
    for (uint32_t q = 0; q < s->n_queues; q++) {
      uint32_t first = s->queues[q].command0, last = FS_NONE;
      bool own = c >= first && c < first + s->queues[q].n_commands;
      for (uint32_t o = first; o < first + s->queues[q].n_commands; o++) {
        last = gated_by(s, c, o) ? o : last;
      }
      if (last == FS_NONE || (own && last < c)) {
        continue;
      }
      if (at == p->gate0[c + 1] || p->gate[at++] != last) {
        ck_abort_msg("the gates of command %u lack %u", c, last);
      }
    }
    ck_assert_uint_eq(at, p->gate0[c + 1]);
  }
}

/* Every command comes after those before it on its queue, its points and its gates, and all can
 * run. */
static void check_order(const fs_stream *s, const fs_stream_order *o) {
  uint32_t *place = malloc(s->n_commands * sizeof *place + 1);
  ck_assert_uint_eq(o->n_runnable, s->n_commands);
  for (uint32_t i = 0; i < s->n_commands; i++) {
    place[o->order[i]] = i;
  }
  const fs_points *p = &o->points;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    bool right = c == s->queues[o->queue[c]].command0 || place[c - 1] < place[c];
    for (uint32_t i = p->point0[c]; i < p->point0[c + 1]; i++) {
      right = right && place[fs_stream_source(s, o, &p->point[i], FS_NONE)] < place[c];
    }
    for (uint32_t i = p->gate0[c]; i < p->gate0[c + 1]; i++) {
      right = right && place[p->gate[i]] < place[c];
    }
    ck_assert_msg(right, "command %u comes too early", c);
  }
  free(place);
}

START_TEST(points_random)
{
  fsched_graph *g;
  fsched_schedule *s;
  fsched_program *p;
  make_random((uint64_t)_i, kinds[_i % 2], &g, &s, &p);
  fs_arena arena;
  fs_stream_order order;
  fs_arena_init(&arena, ctx);
  ck_fs(ctx, fs_stream_order_find(&arena, &p->view, &order));
  check_points(s->sync, &p->view, &order.points);
  check_gates(&p->view, &order.points);
  check_order(&p->view, &order);
  fs_arena_release(&arena);
  fsched_program_destroy(p);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* The points of a program with timelines are its waits. */
START_TEST(points_of_timelines)
{
  fs_golden_case c;
  fs_arena arena;
  fs_points p;
  fs_golden_open(&c, ctx, "rich");
  const fs_stream *s = &c.program->view;
  fs_arena_init(&arena, ctx);
  ck_fs(ctx, fs_stream_points_find(&arena, s, &p));
  ck_assert_ptr_eq(p.point, s->waits);
  ck_assert_uint_eq(p.point0[s->n_commands], s->n_waits);
  ck_assert_uint_eq(p.gate0[s->n_commands], 0);
  for (uint32_t i = 0; i < s->n_commands; i++) {
    ck_assert_uint_eq(p.point0[i], s->commands[i].wait0);
  }
  fs_arena_release(&arena);
  fs_golden_close(&c);
}
END_TEST

/* ---- programs by hand */

/* Programs have ops without args.  Each line is a queue, with words that stand for its commands:
 *   w B   waits for barrier B       u B   updates it     r     the next op runs
 * The barriers' physical ids and uses are in `map`, "P:U" each. */
typedef struct stream_sync_hand {
  const char *map, *const *queue;
  uint32_t n_queues;
} stream_sync_hand;

static void hand_barrier(fs_text *t, const stream_sync_hand *h, const char *kind,
                         uint32_t barrier) {
  unsigned physical = 0, use = 0;
  const char *at = h->map;
  for (uint32_t i = 0; i <= barrier; i++) {
    int used = 0;
    ck_assert_int_eq(sscanf(at, " %u:%u%n", &physical, &use, &used), 2);
    at += used;
  }
  fs_text_printf(t, "{\"kind\":\"%s\",\"barrier\":%u,\"physical\":%u,\"use\":%u%s}", kind, barrier,
                 physical, use, strcmp(kind, "barrier_update") == 0 ? ",\"slots\":1" : "");
}

static void hand_queue(fs_text *t, const stream_sync_hand *h, const char *line, uint32_t *op) {
  uint32_t epoch = 0;
  for (const char *c = line; *c != '\0'; c++) {
    if (*c == 'r') {
      fs_text_puts(t, c == line ? "" : ",");
      fs_text_printf(t,
                     "{\"kind\":\"run\",\"op\":\"op%u\",\"epoch\":%u,\"start\":%u,\"end\":%u,"
                     "\"waits\":[],\"signal\":false,\"scope\":\"queue\",\"frontier\":{},"
                     "\"tainted\":false,\"places\":[]}",
                     *op, epoch + 1, epoch, epoch + 1);
      epoch++;
      ++*op;
    } else if (*c == 'w' || *c == 'u') {
      fs_text_puts(t, c == line ? "" : ",");
      hand_barrier(t, h, *c == 'w' ? "barrier_wait" : "barrier_update",
                   (uint32_t)strtoul(c + 1, NULL, 10));
    }
  }
}

static fsched_program *hand_program(const stream_sync_hand *h) {
  fs_text t;
  uint32_t n_ops = 0, op = 0;
  fs_text_init(&t, ctx);
  fs_text_printf(&t, "{\"fsched_program\":%u,", FS_STREAM_VERSION);
  fs_text_puts(&t,
               "\"name\":\"hand\",\"hazards\":\"sequential\","
               "\"sync\":\"barrier\",\"makespan\":9,\"lower_bound\":0,\"concurrency\":0,"
               "\"frontier_capacity\":16,\"barriers\":{\"count\":2},\"axes\":[");
  for (uint32_t q = 0; q < h->n_queues; q++) {
    fs_text_printf(&t, "%s{\"name\":\"q%u\",\"id\":\"0x010000000000000%u\",\"kind\":\"queue\"}",
                   q == 0 ? "" : ",", q, q);
    for (const char *c = h->queue[q]; *c != '\0'; c++) {
      n_ops += *c == 'r';
    }
  }
  fs_text_puts(&t, "],\"memories\":[],\"resources\":[],\"buffers\":[],\"ops\":[");
  for (uint32_t i = 0; i < n_ops; i++) {
    fs_text_printf(&t, "%s{\"name\":\"op%u\",\"time\":1,\"args\":[]}", i == 0 ? "" : ",", i);
  }
  fs_text_puts(&t, "],\"kernels\":[],\"races\":[],\"queues\":[");
  for (uint32_t q = 0; q < h->n_queues; q++) {
    fs_text_printf(&t,
                   "%s{\"name\":\"q%u\",\"class\":\"c\",\"device\":0,\"machine\":0,\"commands\":[",
                   q == 0 ? "" : ",", q);
    hand_queue(&t, h, h->queue[q], &op);
    fs_text_puts(&t, "]}");
  }
  fs_text_puts(&t, "]}");
  fsched_program *p;
  ck_assert(!t.failed);
  ck_fs(ctx, fsched_program_assemble(ctx, "hand.json", t.at, t.n, &p));
  fs_text_drop(&t);
  return p;
}

static uint32_t runnable(const stream_sync_hand *h, uint32_t *order) {
  fsched_program *p = hand_program(h);
  fs_arena arena;
  fs_stream_order o;
  fs_arena_init(&arena, ctx);
  ck_fs(ctx, fs_stream_order_find(&arena, &p->view, &o));
  uint32_t n = o.n_runnable;
  if (order != NULL) {
    memcpy(order, o.order, p->view.n_commands * sizeof *order);
  }
  fs_arena_release(&arena);
  fs_check_round_trip(ctx, p);
  fsched_program_destroy(p);
  return n;
}

/* u, v and w are in a line; u and w update one physical barrier.  If it is mapped again after v has
 * started, everything runs; if u and w are producers of one barrier, or w's use comes first, v
 * waits for w, which waits for v. */
START_TEST(deadlocks_by_sharing)
{
  static const char *const apart[] = {"ru0", "w0ru1", "w1ru2", "w2r"};
  static const char *const shared[] = {"ru0", "w0ru1", "w1ru0", "w0r"};
  uint32_t order[4];
  ck_assert_uint_eq(runnable(&(stream_sync_hand){"0:0 1:0 0:1", apart, 4}, order), 4);
  for (uint32_t i = 0; i < 4; i++) {
    ck_assert_uint_eq(order[i], i);
  }
  ck_assert_uint_eq(runnable(&(stream_sync_hand){"0:0 1:0", shared, 4}, NULL), 1);
  ck_assert_uint_eq(runnable(&(stream_sync_hand){"0:1 1:0 0:0", apart, 4}, NULL), 0);
}
END_TEST

/* A gate lets a command start together with the consumer that it waits for, not after it: the two
 * queues exchange the barrier although neither knows that the other is over. */
START_TEST(gates_let_start)
{
  static const char *const queues[] = {"ru0", "w0r", "ru1", "w1r"};
  uint32_t order[4];
  ck_assert_uint_eq(runnable(&(stream_sync_hand){"0:0 0:1", queues, 4}, order), 4);
  uint32_t place[4];
  for (uint32_t i = 0; i < 4; i++) {
    place[order[i]] = i;
  }
  ck_assert_uint_lt(place[1], place[2]); /* only the gate orders these */
  static const char *const own[] = {"ru0", "w0ru1", "w1r"};
  ck_assert_uint_eq(runnable(&(stream_sync_hand){"0:0 0:1", own, 3}, NULL),
                    1); /* it is its own gate */
}
END_TEST

/* ---- functions that read a stream */

START_TEST(explained)
{
  static const char *const names[] = {"final", "sum"};
  rich r;
  char file[64], *text;
  size_t n;
  open_rich(&r, kinds[_i / 2]);
  fsched_explain_options o = {.size = sizeof o,
                              .format = _i % 2 == 0 ? FSCHED_EXPLAIN_TEXT : FSCHED_EXPLAIN_JSON};
  ck_fs(ctx, fsched_program_explain(ctx, r.program, &o, names, 2, &text, &n));
  (void)snprintf(file, sizeof file, "rich.%s.explain.%s", kind_names[_i / 2],
                 _i % 2 == 0 ? "txt" : "json");
  fs_golden_check(file, text, n);
  fsched_text_free(ctx, text, n);
  close_rich(&r);
}
END_TEST

START_TEST(traced)
{
  rich r;
  char file[64], *text;
  size_t n;
  open_rich(&r, kinds[_i]);
  ck_fs(ctx, fsched_program_trace(ctx, r.program, NULL, &text, &n));
  (void)snprintf(file, sizeof file, "rich.%s.trace.json", kind_names[_i]);
  fs_golden_check(file, text, n);
  fsched_text_free(ctx, text, n);
  close_rich(&r);
}
END_TEST

static fsched_status everything(fsched_context *c, const void *program) {
  const fsched_program *p = program;
  fsched_program *q = NULL;
  char *text = NULL;
  size_t n = 0, size;
  const void *bytes = fsched_program_bytes(p, &size);
  FS_TRY(fsched_program_load(c, "p", bytes, size, &q));
  fsched_program_destroy(q);
  FS_TRY(fsched_program_text(c, p, &text, &n));
  fsched_text_free(c, text, n);
  FS_TRY(fsched_program_explain(c, p, NULL, (const char *const[]){"sum"}, 1, &text, &n));
  fsched_text_free(c, text, n);
  FS_TRY(fsched_program_json(c, p, &text, &n));
  fsched_status status = fsched_program_assemble(c, "p", text, n, &q);
  fsched_text_free(c, text, n);
  if (status == FSCHED_OK) {
    fsched_program_destroy(q);
  }
  return status;
}

/* Every allocation fails once. */
START_TEST(out_of_memory)
{
  fs_budget budget;
  fsched_context *c = fs_budget_context(&budget), *outer = ctx;
  ctx = c;
  rich r;
  open_rich(&r, kinds[_i]);
  fs_fail_each_allocation(c, &budget, everything, r.program);
  close_rich(&r);
  ctx = outer;
  fsched_context_destroy(c);
  ck_assert_int_eq(budget.blocks, 0);
}
END_TEST

FS_SUITE(stream_sync, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 2, goldens, traced, out_of_memory);
  FS_LOOPS(t, 0, 60, round_trip_random);
  FS_LOOPS(t, 0, (int)(sizeof faults / sizeof faults[0]), each_rule);
  FS_LOOPS(t, 0, 6, signed_damage_random);
  FS_LOOPS(t, 0, (int)(sizeof edits / sizeof edits[0]), assembly_faults);
  FS_LOOPS(t, 0, 80, points_random);
  FS_TESTS(t, points_of_timelines, deadlocks_by_sharing, gates_let_start);
  FS_LOOPS(t, 0, 4, explained);
}
