/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures for Graphviz, compared with what they were made from. */
#include "draw/dot/dot.h"
#include "draw/dot_reader.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/golden_case.h"
#include "model/handle.h"
#include "model/stream/stream.h"

#include "kit/context.h"

/* The critical path is a chain of edges, and its times add up to the makespan, except for the gaps
 * that it states. */
static void check_path(Agraph_t *g, const fs_tick *start, const fs_tick *end, uint32_t n,
                       fs_tick span) {
  unsigned told = 0, count = 0;
  unsigned long long gaps = 0;
  const char *label = strstr(get(g, "label"), "critical path (bold): ");
  ck_assert_ptr_nonnull(label);
  ck_assert_int_ge(
      sscanf(label, "critical path (bold): %u op%*[^,], with gaps of %llu", &told, &gaps), 1);
  fs_tick sum = 0;
  Agnode_t *before = NULL;
  for (uint32_t i = 0; i < n; i++) {
    Agnode_t *node = node_of(g, i);
    ck_assert_ptr_nonnull(node);
    if (!has_class(node, "critical")) {
      ck_assert_str_eq(get(node, "penwidth"), "1");
      continue;
    }
    ck_assert_str_eq(get(node, "penwidth"), "3");
    count++;
    sum += end[i] - start[i];
    if (before != NULL) {
      Agedge_t *e = agedge(g, before, node, NULL, 0);
      ck_assert_ptr_nonnull(e);
      ck_assert(has_class(e, "critical"));
      ck_assert_uint_le(end[item_of(before)], start[i]);
    }
    before = node;
  }
  ck_assert_uint_eq(count, told);
  ck_assert_uint_eq(sum + gaps, span);
  ck_assert_uint_eq(end[item_of(before)], span);
}

/* ---- of a graph */

static bool overlap(const fsched_graph *g, uint32_t a, uint32_t b) {
  return g->arg_offset[a] < g->arg_offset[b] + g->arg_length[b] &&
         g->arg_offset[b] < g->arg_offset[a] + g->arg_length[a];
}

/* Does some arg of `a` write a version that some arg of `b` reads? With a schedule, they also have
 * to be at one place. */
static bool data_between(const fsched_graph *g, const fsched_schedule *s, uint32_t a, uint32_t b) {
  for (uint32_t v = 0; v < g->n_versions; v++) {
    for (uint32_t i = g->version_access0[v]; i < g->version_access0[v + 1]; i++) {
      uint32_t w = g->access_arg[i];
      for (uint32_t k = g->version_access0[v]; k < g->version_access0[v + 1]; k++) {
        uint32_t r = g->access_arg[k];
        if (g->access_op[i] == a && g->access_op[k] == b && fs_tag_writes(g->arg_tag[w]) &&
            fs_tag_reads(g->arg_tag[r]) && overlap(g, w, r) &&
            (s == NULL || s->schedule->arg_residency[w] == s->schedule->arg_residency[r])) {
          return true;
        }
      }
    }
  }
  return false;
}

static fs_dot_options never(void) {
  return (fs_dot_options){.size = sizeof(fs_dot_options), .collapse = FS_DOT_NEVER};
}

static fsched_graph *random_graph(uint64_t seed, uint32_t most) {
  fs_gen_params p = fs_gen_any(seed, most);
  p.class_gangs = seed % 3 == 0;
  fsched_graph *g;
  ck_fs(ctx, fs_gen_graph(ctx, &p, &g));
  return g;
}

START_TEST(graphs)
{
  for (uint64_t seed = 0; seed < 120; seed++) {
    fsched_graph *g = random_graph(seed, 60);
    fs_dot_options o = never();
    char *text;
    size_t n;
    ck_fs(ctx, fs_dot_graph(ctx, g, &o, &text, &n));
    Agraph_t *dot = parse(text);
    no_ports(dot, text);
    ck_assert_int_eq(agnnodes(dot), (int)g->n_ops + 1);
    ck_assert_int_eq(agnedges(dot), (int)g->n_edges);
    fs_tick start[64], end[64], span = 0;
    uint32_t place[64];
    for (uint32_t i = 0; i < g->n_ops; i++) {
      uint32_t op = g->topo[i];
      Agnode_t *node = node_of(dot, i);
      ck_assert_ptr_nonnull(node);
      ck_assert(has_class(node, g->op_gang[op] == FS_NONE ? "op" : "gang"));
      ck_assert_int_eq(strncmp(get(node, "label"), g->op_name[op], strlen(g->op_name[op])), 0);
      place[op] = i;
      start[i] = 0;
      for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
        uint32_t from = g->pred[e];
        Agedge_t *edge = agedge(dot, node_of(dot, place[from]), node, NULL, 0);
        ck_assert_ptr_nonnull(edge);
        ck_assert_uint_eq(whys_of(edge), data_between(g, NULL, from, op) ? DATA : ORDER);
        start[i] = fs_max(start[i], end[place[from]]);
      }
      end[i] = start[i] + g->op_time[op];
      span = fs_max(span, end[i]);
    }
    check_path(dot, start, end, g->n_ops, span);
    (void)agclose(dot);
    fsched_text_free(ctx, text, n);
    fsched_graph_destroy(g);
  }
}
END_TEST

/* Dependences are by bytes: `c` reads what `a` has written, and `b` only comes before it. */
START_TEST(parts_of_buffers)
{
  static const char text[] =
      "fsched: 1\nbuffers: [{name: x, size: 8}]\nops:\n"
      "  - {name: a, args: [{out_existing: x, at: [0, 4]}]}\n"
      "  - {name: b, args: [{out_existing: x, at: [4, 4]}]}\n"
      "  - {name: c, args: [{in: x, at: [0, 4]}], after: [b]}\n"
      "  - {name: d, args: [{in: x, at: [4, 4]}], after: [a]}\n";
  static const unsigned expected[2][2] = {{DATA, ORDER}, {ORDER, DATA}};
  char *out;
  size_t n;
  fsched_graph *g = fs_parse(text);
  ck_fs(ctx, fs_dot_graph(ctx, g, NULL, &out, &n));
  Agraph_t *dot = parse(out);
  for (uint32_t from = 0; from < 2; from++) {
    for (uint32_t to = 0; to < 2; to++) {
      Agedge_t *e = agedge(dot, node_of(dot, from), node_of(dot, 2 + to), NULL, 0);
      ck_assert_ptr_nonnull(e);
      ck_assert_uint_eq(whys_of(e), expected[from][to]);
    }
  }
  (void)agclose(dot);
  fsched_text_free(ctx, out, n);
  fsched_graph_destroy(g);
}
END_TEST

/* Buffers that ops pass on are named in tooltips; those that are given or kept are nodes, if asked
 * for. */
START_TEST(buffers)
{
  static const char text[] =
      "fsched: 1\ntarget: {time_unit: ms}\n"
      "buffers: [{name: i, size: 8, io: input}, {name: s, size: 8, io: state}, "
      "{name: o, size: 8, io: output}]\nops:\n"
      "  - {name: a, args: [{in: i}, {out: x, size: 8}, {out: y, size: 8}]}\n"
      "  - {name: b, args: [{in: i}, {in: x}, {in: y}, {inout: s}]}\n"
      "  - {name: c, args: [{in: s}, {out: o}]}\n"
      "  - {name: d, args: [{in: y}]}\n";
  fs_dot_options o = {.size = sizeof o, .buffers = _i != 0, .collapse = FS_DOT_NEVER};
  char *out;
  size_t n;
  fsched_graph *g = fs_parse(text);
  ck_fs(ctx, fs_dot_graph(ctx, g, &o, &out, &n));
  Agraph_t *dot = parse(out);
  ck_assert_int_eq(agnnodes(dot), _i == 0 ? 5 : 9);
  ck_assert_int_eq(agnedges(dot), _i == 0 ? 3 : 8);
  ck_assert_ptr_nonnull(strstr(out, "\"a to b: data in x and more\""));
  ck_assert_ptr_nonnull(strstr(out, "\"a to d: data in y\""));
  ck_assert_ptr_nonnull(strstr(out, "\"b to c: data in s\""));
  ck_assert_int_eq(strstr(out, "tooltip=\"i: given\"") != NULL, _i);
  ck_assert_int_eq(strstr(out, "tooltip=\"s: given\"") != NULL, _i);
  ck_assert_int_eq(strstr(out, "tooltip=\"s: kept\"") != NULL, _i);
  ck_assert_int_eq(strstr(out, "tooltip=\"o: kept\"") != NULL, _i);
  ck_assert_int_eq(strstr(out, "buffer, given or kept") != NULL, _i);
  (void)agclose(dot);
  fsched_text_free(ctx, out, n);
  fsched_graph_destroy(g);
}
END_TEST

/* ---- of schedules and programs */

typedef struct matrix {
  uint32_t n;
  uint8_t *why;
} matrix;

static void want(matrix *m, uint32_t from, uint32_t to, unsigned why) {
  if (from != to) {
    m->why[from * m->n + to] |= (uint8_t)why;
  }
}

static bool reaches(const matrix *m, uint32_t from, uint32_t to) {
  for (uint32_t i = from + 1; i <= to; i++) {
    if ((m->why[from * m->n + i] & DATA) != 0 && (i == to || reaches(m, i, to))) {
      return true;
    }
  }
  return false;
}

static uint32_t waited_item(const fsched_schedule *s, fs_wait w) {
  const fs_sync *y = s->sync;
  if (w.axis < s->schedule->n_queues) {
    return y->command_item[y->queue_command0[w.axis] + w.epoch - 1];
  }
  for (uint32_t op = 0; op < s->schedule->graph->n_ops; op++) {
    if (s->schedule->op_gang[op] == w.axis - s->schedule->n_queues &&
        y->item_gang_epoch[op] == w.epoch) {
      return op;
    }
  }
  ck_abort_msg("no such gang");
  return 0;
}

/* Finds what a schedule's picture has to show, from what was synchronised. */
static matrix wanted(const fsched_schedule *s) {
  const fsched_graph *g = s->schedule->graph;
  const fs_sync *y = s->sync;
  const uint32_t *at = y->position;
  matrix m = {s->schedule->n_items, calloc((size_t)s->schedule->n_items * s->schedule->n_items, 1)};
  for (uint32_t i = 0; i < s->schedule->n_items; i++) {
    for (uint32_t k = y->data0[i]; k < y->data0[i + 1]; k++) {
      want(&m, at[y->data[k]], at[i], DATA);
    }
  }
  for (uint32_t e = 0; e < y->n_control; e++) {
    static const unsigned bit[] = {REUSE, RESOURCE, CONCURRENCY};
    want(&m, at[y->control_from[e]], at[y->control_to[e]], bit[y->control_why[e]]);
  }
  for (uint32_t q = 0; q < s->schedule->n_queues; q++) {
    for (uint32_t c = y->queue_command0[q]; c < y->queue_command0[q + 1]; c++) {
      uint32_t item = y->command_item[c];
      if (c > y->queue_command0[q]) {
        want(&m, at[y->command_item[c - 1]], at[item], QUEUE);
      }
      for (uint32_t w = y->wait0[c]; w < y->wait0[c + 1]; w++) {
        want(&m, at[waited_item(s, y->wait[w])], at[item], WAIT);
      }
    }
  }
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t k = g->pred0[op]; k < g->pred0[op + 1]; k++) {
      uint32_t from = g->pred[k];
      bool data = data_between(g, NULL, from, op);
      if (!data || data_between(g, s, from, op)) {
        want(&m, at[from], at[op], data ? DATA : ORDER);
      }
    }
  }
  /* Edges that are left out are there through copies. */
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t k = g->pred0[op]; k < g->pred0[op + 1]; k++) {
      if (data_between(g, NULL, g->pred[k], op)) {
        ck_assert(reaches(&m, at[g->pred[k]], at[op]));
      }
    }
  }
  return m;
}

static void check_edges(Agraph_t *dot, const matrix *m) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->n; i++) {
    for (uint32_t k = 0; k < m->n; k++) {
      Agedge_t *e = agedge(dot, node_of(dot, i), node_of(dot, k), NULL, 0);
      ck_assert_uint_eq(e == NULL ? 0 : whys_of(e), m->why[i * m->n + k]);
      n += e != NULL;
    }
  }
  ck_assert_int_eq(agnedges(dot), (int)n);
}

/* The class of a copy: a read is a load if no other one of given content began before it. */
static const char *class_of_copy(const fsched_schedule *s, uint32_t copy) {
  const fsched_graph *g = s->schedule->graph;
  uint32_t version = s->schedule->copy_version[copy];
  if (s->schedule->copy_kind[copy] == FS_SPILL_WRITE) {
    return fs_version_kept(g, version) ? "store" : "spill_write";
  }
  bool first = fs_version_given(g, version);
  for (uint32_t i = 0; i < s->schedule->n_copies; i++) {
    first &= i == copy || s->schedule->copy_version[i] != version ||
             s->schedule->copy_kind[i] != FS_SPILL_READ ||
             s->schedule->start[g->n_ops + i] > s->schedule->start[g->n_ops + copy];
  }
  return first ? "load" : "spill_read";
}

/* A queue whose own items are all drawn with other queues names these. */
static void check_see(Agraph_t *dot, const fsched_schedule *s) {
  for (uint32_t q = 0; q < s->schedule->n_queues; q++) {
    uint32_t first = 0, also = 0, n;
    for (uint32_t i = 0; i < s->schedule->n_items; i++) {
      const uint32_t *queues = fs_item_queues(s->schedule, i, &n);
      first += queues[0] == q;
      for (uint32_t k = 1; k < n; k++) {
        also += queues[k] == q;
      }
    }
    char name[32];
    (void)snprintf(name, sizeof name, "see%u", q);
    Agnode_t *see = agnode(dot, name, 0);
    ck_assert((see != NULL) == (first == 0 && also > 0));
    (void)snprintf(name, sizeof name, "cluster_%u", q);
    ck_assert(see == NULL || agsubnode(agsubg(dot, name, 0), see, 0) != NULL);
  }
}

static void check_nodes(Agraph_t *dot, const fsched_schedule *s) {
  ck_assert_uint_eq(n_drawn(dot), s->schedule->n_items);
  check_see(dot, s);
  for (uint32_t i = 0; i < s->schedule->n_items; i++) {
    uint32_t item = s->schedule->order[i];
    bool copy = fs_item_is_copy(s->schedule, item),
         gang = !copy && s->schedule->op_gang[item] != FS_NONE;
    Agnode_t *node = node_of(dot, i);
    ck_assert_ptr_nonnull(node);
    ck_assert(has_class(node, gang    ? "gang"
                              : !copy ? "op"
                                      : class_of_copy(s, item - s->schedule->graph->n_ops)));
    for (uint32_t q = 0; q < s->schedule->n_queues; q++) {
      char name[32];
      (void)snprintf(name, sizeof name, "cluster_%u", q);
      Agraph_t *cluster = agsubg(dot, name, 0);
      ck_assert_ptr_nonnull(cluster);
      bool in = agsubnode(cluster, node, 0) != NULL;
      uint32_t n_queues;
      ck_assert(in == (fs_item_queues(s->schedule, item, &n_queues)[0] == q));
      ck_assert_ptr_nonnull(strstr(get(cluster, "label"), s->schedule->queue_name[q]));
    }
  }
}

/* Nodes are the same when their tooltips are, which contain names, kinds and times. */
static uint32_t same_node(Agraph_t *dot, Agnode_t *node, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (strcmp(get(node_of(dot, i), "tooltip"), get(node, "tooltip")) == 0) {
      return i;
    }
  }
  ck_abort_msg("no node '%s'", get(node, "tooltip"));
  return 0;
}

static bool is_copy(Agnode_t *n) {
  return has_class(n, "load") || has_class(n, "store") || has_class(n, "spill_write") ||
         has_class(n, "spill_read");
}

/* A program's picture has no control edges, and no order between a copy and what writes without
 * reading; everything else is as in the schedule's. */
static void check_program(Agraph_t *schedule, Agraph_t *program, const matrix *m) {
  uint32_t *same = calloc(m->n, sizeof *same);
  ck_assert_uint_eq(n_drawn(program), m->n);
  for (Agnode_t *n = agfstnode(program); n != NULL; n = agnxtnode(program, n)) {
    bool in = !is_drawn(n);
    for (Agraph_t *c = agfstsubg(program); c != NULL; c = agnxtsubg(c)) {
      in |= agsubnode(c, n, 0) != NULL;
    }
    ck_assert(in); /* gangs too have a queue */
  }
  for (uint32_t i = 0; i < m->n; i++) {
    same[i] = same_node(schedule, node_of(program, i), m->n);
  }
  for (uint32_t i = 0; i < m->n; i++) {
    for (uint32_t k = 0; k < m->n; k++) {
      Agnode_t *from = node_of(program, i), *to = node_of(program, k);
      Agedge_t *e = agedge(program, from, to, NULL, 0);
      unsigned got = e == NULL ? 0 : whys_of(e), expected = m->why[same[i] * m->n + same[k]];
      unsigned known = WAIT | QUEUE | (is_copy(from) || is_copy(to) ? 0 : DATA);
      ck_assert_uint_eq(got & known, expected & known);
      ck_assert_uint_eq(got & DATA & ~expected, 0);
    }
  }
  free(same);
}

static void compile_and_draw(uint64_t seed, const fs_gen_params *p) {
  fsched_graph *g;
  fsched_schedule *s;
  fsched_program *program;
  char *text[2];
  size_t n[2];
  fs_dot_options o = never();
  fsched_compile_options co = {.size = sizeof co, .verify = 1, .seed = seed % 3};
  ck_fs(ctx, fs_gen_graph(ctx, p, &g));
  ck_fs(ctx, fsched_compile(ctx, g, &co, &s, &program));
  ck_fs(ctx, fs_dot_schedule(ctx, s->sync, &o, &text[0], &n[0]));
  ck_fs(ctx, fs_dot_program(ctx, program, &o, &text[1], &n[1]));
  ck_assert_uint_le(s->schedule->n_items, FS_DOT_PLACED);
  Agraph_t *of_schedule = parse(text[0]), *of_program = parse(text[1]);
  no_ports(of_schedule, text[0]);
  check_nodes(of_schedule, s);
  matrix m = wanted(s);
  check_edges(of_schedule, &m);
  fs_tick start[FS_DOT_PLACED], end[FS_DOT_PLACED];
  for (uint32_t i = 0; i < s->schedule->n_items; i++) {
    start[i] = s->schedule->start[s->schedule->order[i]];
    end[i] = s->schedule->end[s->schedule->order[i]];
  }
  check_path(of_schedule, start, end, s->schedule->n_items, s->schedule->makespan);
  if (!p->zero_times) { /* with these, tooltips are not unique */
    check_program(of_schedule, of_program, &m);
  }
  free(m.why);
  (void)agclose(of_schedule);
  (void)agclose(of_program);
  fsched_text_free(ctx, text[0], n[0]);
  fsched_text_free(ctx, text[1], n[1]);
  fsched_program_destroy(program);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
}

START_TEST(schedules_and_programs)
{
  for (uint64_t seed = 0; seed < 60; seed++) {
    fs_gen_params p = fs_gen_any(seed, 28);
    p.zero_times = seed % 2 != 0;
    compile_and_draw(seed, &p);
  }
}
END_TEST

/* ---- goldens */

START_TEST(goldens)
{
  fs_golden_case c;
  fs_golden_open(&c, ctx, "figure-10");
  char *text[3];
  size_t n[3];
  ck_fs(ctx, fs_dot_graph(ctx, c.graph, NULL, &text[0], &n[0]));
  ck_fs(ctx, fs_dot_schedule(ctx, c.schedule->sync, NULL, &text[1], &n[1]));
  ck_fs(ctx, fs_dot_program(ctx, c.program, NULL, &text[2], &n[2]));
  fs_golden_check("figure-10.graph.dot", text[0], n[0]);
  fs_golden_check("figure-10.schedule.dot", text[1], n[1]);
  fs_golden_check("figure-10.program.dot", text[2], n[2]);
  for (int i = 0; i < 3; i++) {
    fsched_text_free(ctx, text[i], n[i]);
  }
  fs_golden_close(&c);
}
END_TEST

/* ---- programs that are not right, and memory */

START_TEST(circle_of_waits)
{
  fs_golden_case c;
  fs_golden_open(&c, ctx, "figure-10");
  char *text;
  size_t n;
  fs_stream_wait *wait = (fs_stream_wait *)(uintptr_t)c.program->view.waits;
  const fs_stream *v = &c.program->view;
  for (uint32_t w = 0; w < v->n_waits; w++) { /* each waits for the last command of its queue */
    wait[w].epoch = v->queues[wait[w].axis].n_commands;
  }
  ck_fs(ctx, fs_dot_program(ctx, c.program, NULL, &text, &n));
  Agraph_t *dot = parse(text);
  ck_assert_int_eq(agnnodes(dot), 8 + 1);
  (void)agclose(dot);
  fsched_text_free(ctx, text, n);
  fs_golden_close(&c);
}
END_TEST

static fs_status draw_one(const fs_golden_case *c, int which, const fs_dot_options *o, char **text,
                          size_t *n) {
  switch (which) {
    case 0:
      return fs_dot_graph(c->ctx, c->graph, o, text, n);
    case 1:
      return fs_dot_schedule(c->ctx, c->schedule->sync, o, text, n);
    default:
      return fs_dot_program(c->ctx, c->program, o, text, n);
  }
}

START_TEST(memory_ends)
{
  fs_budget budget = {.left = 1 << 30};
  fsched_context_options co = {
      .size = sizeof co, .reallocate = fs_budget_reallocate, .user = &budget};
  fs_golden_case c;
  fsched_context *own;
  ck_assert_int_eq(fsched_context_create(&co, &own), FSCHED_OK);
  fs_golden_open(&c, own, "rich");
  fs_dot_options o = {.size = sizeof o, .collapse = FS_DOT_ALWAYS};
  fs_status status = FSCHED_SYSTEM;
  for (long allowed = 0; status != FSCHED_OK; allowed++) {
    char *text;
    size_t n;
    ck_assert_int_lt(allowed, 2000);
    fsched_diag_clear(own);
    long before = budget.blocks;
    budget.left = allowed;
    status = draw_one(&c, _i, &o, &text, &n);
    budget.left = 1 << 30;
    if (status == FSCHED_OK) {
      fsched_text_free(own, text, n);
    } else {
      ck_assert_int_eq(status, FSCHED_SYSTEM);
      ck_assert_str_eq(fsched_diag_get(own, 0)->code, "out-of-memory");
      ck_assert_uint_eq(fsched_diag_errors(own), 1);
    }
    fsched_diag_clear(own);
    ck_assert_msg(budget.blocks <= before + 4, "%ld blocks left", budget.blocks - before);
  }
  fs_golden_close(&c);
  fsched_context_destroy(own);
  ck_assert_int_eq(budget.blocks, 0);
}
END_TEST

FS_SUITE(dot, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, goldens, graphs, parts_of_buffers, schedules_and_programs, circle_of_waits);
  FS_LOOPS(t, 0, 2, buffers);
  FS_LOOPS(t, 0, 3, memory_ends);
}
