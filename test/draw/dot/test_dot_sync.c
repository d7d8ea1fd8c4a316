/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of programs and schedules with barriers and with syncs. */
#include "draw/dot/dot.h"
#include "draw/dot/picture.h"
#include "fsched/program.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "kit/sync_kit.h"

#include "kit/context.h"
#include "model/handle.h"

typedef struct made {
  fsched_graph *graph;
  fsched_schedule *schedule;
  fsched_program *program;
} made;

static made make(const char *name, fs_sync_kind kind) {
  made m;
  char file[64];
  size_t n;
  m.graph = fs_golden_graph(ctx, name);
  (void)snprintf(file, sizeof file, "%s.by-hand.json", name);
  char *text = fs_golden_read(file, &n);
  ck_fs(ctx, fsched_schedule_parse(ctx, m.graph, file, text, n, &m.schedule));
  free(text);
  ck_fs(ctx, fs_kit_program(m.schedule, kind, &m.program));
  return m;
}

static void drop(made *m) {
  fsched_program_destroy(m->program);
  fsched_schedule_destroy(m->schedule);
  fsched_graph_destroy(m->graph);
}

static uint32_t count(const char *text, const char *what) {
  uint32_t n = 0;
  for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what)) {
    n++;
  }
  return n;
}

static char *draw(const made *m, bool program, bool nodes, size_t *n) {
  fs_dot_options o = {.size = sizeof o, .barriers = nodes, .collapse = FS_DOT_NEVER};
  char *out;
  ck_fs(ctx, program ? fs_dot_program(ctx, m->program, &o, &out, n)
                     : fs_dot_schedule(ctx, m->schedule->sync, &o, &out, n));
  return out;
}

START_TEST(goldens)
{
  static const char *const kinds[] = {"barrier", "block"};
  made m = make("rich", _i == 0 ? FS_SYNC_BARRIER : FS_SYNC_BLOCK);
  char file[64];
  size_t n;
  char *out = draw(&m, true, true, &n);
  (void)snprintf(file, sizeof file, "rich.%s.program.dot", kinds[_i]);
  fs_golden_check(file, out, n);
  fsched_text_free(ctx, out, n);
  drop(&m);
}
END_TEST

/* Is the command the first one of its op? */
static bool leads(const fs_stream *s, uint32_t command) {
  const fs_stream_command *k = &s->commands[command];
  for (uint32_t e = 0; k->gang_axis != FS_NONE && e < command; e++) {
    if (s->commands[e].gang_axis == k->gang_axis && s->commands[e].gang_epoch == k->gang_epoch) {
      return false;
    }
  }
  return true;
}

/* Counts edges: an op that updates a barrier, or waits for it, has one edge, also where it is a
 * gang whose members do the same here. */
static uint32_t links(const fs_stream *s, bool updates) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < s->n_commands; c++) {
    const fs_stream_command *k = &s->commands[c];
    uint32_t of = updates ? k->n_barrier_updates : k->n_barrier_waits;
    if (updates || s->commands[c].gang_axis == FS_NONE) {
      n += leads(s, c) ? of : 0;
    }
  }
  return n;
}

/* In the example rich, gangs wait twice: sum waits for one barrier on both queues, and again on one
 * of them. */
enum { GANG_WAITS = 2 };

/* A schedule's and a program's picture show the same barriers, and none unless they are asked
 * for. */
START_TEST(diamonds)
{
  made m = make("rich", FS_SYNC_BARRIER);
  const fs_stream *s = &m.program->view;
  size_t n;
  for (int program = 0; program < 2; program++) {
    char *out = draw(&m, program, true, &n);
    ck_assert_uint_eq(count(out, "shape=diamond"), s->n_barriers);
    ck_assert_uint_eq(count(out, "class=\"barrier update\""), links(s, true));
    ck_assert_uint_eq(count(out, "class=\"barrier wait\""), links(s, false) + GANG_WAITS);
    ck_assert_ptr_nonnull(strstr(out, "\\l5 barriers\\l"));
    ck_assert_ptr_nonnull(strstr(out, "barrier: number, physical:use"));
    ck_assert_ptr_null(strstr(out, "waited for"));
    ck_assert_ptr_nonnull(
        strstr(out, "tooltip=\"barrier 3: physical barrier 1, use 1, slots taken 2\""));
    fsched_text_free(ctx, out, n);
    out = draw(&m, program, false, &n);
    ck_assert_ptr_null(strstr(out, "diamond"));
    ck_assert_ptr_null(strstr(out, "barriers"));
    ck_assert_ptr_nonnull(strstr(out, "waited for"));
    fsched_text_free(ctx, out, n);
  }
  drop(&m);
}
END_TEST

/* With a barrier more than the limit, all stay edges. */
START_TEST(too_many)
{
  made m = make("rich", FS_SYNC_BARRIER);
  for (uint32_t most = 4; most < 6; most++) {
    fs_picture p;
    fs_picture_init(&p, ctx, FS_PIC_PROGRAM);
    ck_fs(ctx, fs_picture_of_program(m.program, &p));
    size_t edges = p.edge.n, waits = 0, only = 0;
    for (size_t e = 0; e < p.edge.n; e++) {
      only += p.edge.at[e].why == 1u << FS_PIC_WAIT;
    }
    fs_picture_show_barriers(&p, most);
    for (size_t e = 0; e < p.edge.n; e++) {
      waits += (p.edge.at[e].why & 1u << FS_PIC_WAIT) != 0;
    }
    ck_assert_uint_eq(p.n_barriers, most == 5 ? 5 : 0);
    ck_assert_uint_eq(p.hidden_barriers, most == 5 ? 0 : 5);
    ck_assert_uint_eq(p.updates.n == 0, most == 4);
    ck_assert_int_eq(waits > 0, most == 4);
    ck_assert_uint_eq(p.edge.n, edges - (most == 5 ? only : 0));
    fs_picture_release(&p);
  }
  drop(&m);
}
END_TEST

/* A random graph, compiled, and its program with barriers. */
static void generate(made *m, const fs_gen_params *params) {
  ck_fs(ctx, fs_gen_graph(ctx, params, &m->graph));
  fsched_program *timeline;
  ck_fs(ctx, fsched_compile(ctx, m->graph, NULL, &m->schedule, &timeline));
  fsched_program_destroy(timeline);
  ck_fs(ctx, fs_kit_program(m->schedule, FS_SYNC_BARRIER, &m->program));
}

/* The edges of waits in the picture of a schedule are those that the definition gives, item by
 * item: for all barriers of a command together, the last producer on each other queue. */
static void check_waits(const fsched_schedule *s, const fs_picture *p) {
  const fs_sync *y = s->sync;
  bool *wanted = calloc((size_t)p->n_items * p->n_items, sizeof *wanted);
  for (uint32_t c = 0; c < y->n_commands; c++) {
    for (uint32_t q = 0; q < s->schedule->n_queues; q++) {
      uint32_t epoch = fs_kit_point(y, c, q);
      if (epoch > 0) {
        uint32_t from = y->command_item[y->queue_command0[q] + epoch - 1];
        wanted[(size_t)y->position[from] * p->n_items + y->position[y->command_item[c]]] = true;
      }
    }
  }
  for (size_t e = 0; e < p->edge.n; e++) {
    const fs_pic_edge *edge = &p->edge.at[e];
    bool *want = &wanted[(size_t)edge->from * p->n_items + edge->to];
    if (*want != ((edge->why & 1u << FS_PIC_WAIT) != 0)) {
      ck_abort_msg("%u to %u: a wait is %s", edge->from, edge->to, *want ? "missing" : "too many");
    }
    *want = false;
  }
  for (size_t i = 0; i < (size_t)p->n_items * p->n_items; i++) {
    if (wanted[i]) {
      ck_abort_msg("an edge is missing");
    }
  }
  free(wanted);
}

/* Schedules are as compiled, where barriers are shared; seeds alternate between barriers and
 * syncs. */
START_TEST(waits_of_schedules)
{
  fs_gen_params params = fs_gen_any((uint64_t)_i, 60);
  fsched_graph *g;
  fsched_schedule *s;
  fsched_program *program;
  fs_picture p;
  params.n_queues = 2 + (uint32_t)_i % 6;
  ck_fs(ctx, fs_gen_graph(ctx, &params, &g));
  g->target.sync = _i % 2 == 0 ? FS_SYNC_BARRIER : FS_SYNC_BLOCK;
  g->target.barrier_count = _i % 2 == 0 ? FS_BARRIERS_AUTO : 0;
  g->target.barrier_slots = _i % 2 == 0 ? 4 : 0;
  ck_fs(ctx, fsched_compile(ctx, g, NULL, &s, &program));
  fsched_program_destroy(program);
  fs_picture_init(&p, ctx, FS_PIC_SCHEDULE);
  ck_fs(ctx, fs_picture_of_schedule(s->sync, &p));
  check_waits(s, &p);
  fs_picture_release(&p);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}
END_TEST

/* In a picture too large for Graphviz to place, diamonds have places too; whatever is collapsed, it
 * can be drawn. */
START_TEST(large)
{
  fs_gen_params params = {.seed = (uint64_t)_i + 1, .n_ops = 400, .n_queues = 5};
  made m = {0};
  generate(&m, &params);
  fs_dot_options o = {
      .size = sizeof o, .barriers = true, .collapse = _i == 0 ? FS_DOT_NEVER : FS_DOT_ALWAYS};
  char *out;
  size_t n;
  ck_fs(ctx, fs_dot_program(ctx, m.program, &o, &out, &n));
  ck_assert_uint_eq(count(out, "shape=diamond"), m.program->view.n_barriers);
  ck_assert_ptr_nonnull(strstr(out, "layout=nop"));
  ck_assert_ptr_null(strstr(out, "class=\"wait"));
  fsched_text_free(ctx, out, n);
  drop(&m);
}
END_TEST

static fsched_status draw_schedule(fsched_context *c, const void *schedule) {
  const fsched_schedule *s = schedule;
  char *out;
  size_t n;
  FS_TRY(fs_dot_schedule(c, s->sync, NULL, &out, &n));
  fsched_text_free(c, out, n);
  return FSCHED_OK;
}

START_TEST(memory_ends)
{
  fs_budget budget;
  fsched_context *outer = ctx;
  ctx = fs_budget_context(&budget);
  made m = make("rich", FS_SYNC_BARRIER);
  fs_fail_each_allocation(ctx, &budget, draw_schedule, m.schedule);
  drop(&m);
  fsched_context_destroy(ctx);
  ck_assert_int_eq(budget.blocks, 0);
  ctx = outer;
}
END_TEST

/* ---- gates */

enum { GATE_OPS = 60, STEP = 1 << FS_PIC_WAIT | 1 << FS_PIC_QUEUE, QUEUES = 1 << FS_PIC_QUEUE };

/* Is there a path along edges that have one of these reasons? Items are in a topological order. */
static bool reaches(const fs_picture *p, uint32_t from, uint32_t to, uint16_t whys) {
  bool on[GATE_OPS] = {[0] = false};
  on[from] = true;
  for (size_t e = 0; e < p->edge.n; e++) {
    const fs_pic_edge *edge = &p->edge.at[e];
    on[edge->to] |= on[edge->from] && (edge->why & whys) != 0;
  }
  return on[to];
}

static bool is_gate(const fs_picture *p, uint32_t from, uint32_t to) {
  for (size_t e = 0; e < p->edge.n; e++) {
    const fs_pic_edge *edge = &p->edge.at[e];
    if (edge->from == from && edge->to == to) {
      return (edge->why & 1u << FS_PIC_GATE) != 0;
    }
  }
  return false;
}

/* Where a consumer may still have to start when the producer could, it has a gate, or a later one
 * on its queue has. */
static void check_gate(const fs_picture *p, uint32_t consumer, uint32_t producer) {
  bool gate = is_gate(p, consumer, producer);
  if (reaches(p, consumer, producer, STEP)) {
    if (gate && consumer != producer) {
      ck_abort_msg("%u to %u is implied", consumer, producer);
    }
    return;
  }
  for (uint32_t i = consumer; !gate && i < p->n_items; i++) {
    gate = is_gate(p, i, producer) && reaches(p, consumer, i, QUEUES);
  }
  if (!gate) {
    ck_abort_msg("no gate from %u to %u", consumer, producer);
  }
}

/* Checks all consumers of barriers with all producers of those that take over their physical ones;
 * returns the number of gates. */
static uint32_t check_gates(const fs_picture *p) {
  uint32_t gates = 0;
  for (size_t e = 0; e < p->edge.n; e++) {
    gates += (p->edge.at[e].why & 1u << FS_PIC_GATE) != 0;
  }
  for (size_t a = 0; a < p->awaits.n; a++) {
    const fs_pic_barrier *old = &p->barrier[p->awaits.at[a].version];
    for (size_t u = 0; u < p->updates.n; u++) {
      const fs_pic_barrier *b = &p->barrier[p->updates.at[u].version];
      if (b->physical == old->physical && b->use == old->use + 1) {
        check_gate(p, p->awaits.at[a].node, p->updates.at[u].node);
      }
    }
  }
  return gates;
}

/* Hand-overs that waits and queues order are no gates, but all others are. */
START_TEST(gates)
{
  uint32_t found = 0;
  for (uint64_t seed = 1; seed <= 8; seed++) {
    fs_gen_params params = {.seed = seed, .n_ops = GATE_OPS / 3, .n_queues = 4};
    made m = {0};
    fs_picture p;
    generate(&m, &params);
    fs_picture_init(&p, ctx, FS_PIC_PROGRAM);
    ck_fs(ctx, fs_picture_of_program(m.program, &p));
    ck_assert_uint_le(p.n_items, GATE_OPS);
    found += check_gates(&p);
    fs_picture_release(&p);
    drop(&m);
  }
  ck_assert_uint_gt(found, 0);
}
END_TEST

FS_SUITE(dot_sync, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 2, goldens, large);
  FS_TESTS(t, diamonds, too_many, memory_ends, gates);
  FS_LOOPS(t, 0, 40, waits_of_schedules);
}
