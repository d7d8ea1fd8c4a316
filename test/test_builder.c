/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "gen.h"
#include "graph.h"

static fsched_context *ctx;

static void setup(void) { ck_assert_int_eq(fsched_context_create(NULL, &ctx), FSCHED_OK); }
static void teardown(void) { fsched_context_destroy(ctx); }

/* A brute-force model of the tags: for every byte of every buffer, who wrote it last, and who has
 * read it since. */
typedef struct model {
  uint32_t versions; /* so far */
  uint32_t *writer;  /* per byte: op, GIVEN, or FS_NONE */
  uint8_t *reader;   /* per op and byte */
  uint64_t size;
} model;
enum { GIVEN = 0x7fffffff };

static uint64_t bytes(const fsched_graph *g, uint32_t buffer) {
  return fs_max(g->buffer_size[buffer], 1);
}

static model *make_models(const fsched_graph *g) {
  model *m = calloc(g->n_buffers, sizeof *m);
  for (uint32_t i = 0; i < g->n_buffers; i++) {
    m[i].size = bytes(g, i);
    m[i].writer = malloc(m[i].size * sizeof *m[i].writer);
    m[i].reader = calloc(m[i].size, g->n_ops);
    unsigned io = g->buffer_io[i];
    bool given = io == FSCHED_IO_INPUT || io == FSCHED_IO_CONSTANT || io == FSCHED_IO_STATE;
    m[i].versions = given;
    for (uint64_t at = 0; at < m[i].size; at++) {
      m[i].writer[at] = given ? GIVEN : FS_NONE;
    }
  }
  return m;
}

static void free_models(const fsched_graph *g, model *m) {
  for (uint32_t i = 0; i < g->n_buffers; i++) {
    free(m[i].writer);
    free(m[i].reader);
  }
  free(m);
}

static void model_look_up(const fsched_graph *g, model *m, uint32_t arg, uint8_t *wanted) {
  unsigned tag = g->arg_tag[arg];
  bool sequential = g->hazards == FSCHED_HAZARDS_SEQUENTIAL;
  uint64_t end = g->arg_offset[arg] + fs_max(g->arg_length[arg], 1);
  for (uint64_t at = g->arg_offset[arg]; at < end; at++) {
    uint32_t w = m->writer[at];
    if (w < GIVEN && (fs_tag_reads(tag) || sequential)) {
      wanted[w] = 1;
    }
    for (uint32_t op = 0; op < g->n_ops && tag != FSCHED_IN && sequential; op++) {
      wanted[op] |= m->reader[op * m->size + at];
    }
  }
}

static void model_enter(const fsched_graph *g, model *m, uint32_t op, uint32_t arg) {
  unsigned tag = g->arg_tag[arg];
  uint64_t end = g->arg_offset[arg] + fs_max(g->arg_length[arg], 1);
  for (uint64_t at = g->arg_offset[arg]; at < end; at++) {
    if (tag == FSCHED_IN) {
      m->reader[op * m->size + at] = 1;
      continue;
    }
    m->writer[at] = op;
    for (uint32_t other = 0; other < g->n_ops; other++) {
      m->reader[other * m->size + at] = 0;
    }
  }
}

static bool in_place(unsigned tag) {
  return tag == FSCHED_IN || tag == FSCHED_INOUT || tag == FSCHED_OUT_EXISTING;
}

static void model_op(const fsched_graph *g, model *m, uint32_t op, uint8_t *wanted) {
  for (uint32_t arg = g->op_arg0[op]; arg < g->op_arg0[op + 1]; arg++) {
    if (in_place(g->arg_tag[arg])) {
      model *x = &m[g->arg_buffer[arg]];
      model_look_up(g, x, arg, wanted);
      ck_assert_uint_eq(fs_version_index(g, g->arg_version[arg]),
                        x->versions == 0 ? 0 : x->versions - 1);
    }
  }
  for (uint32_t arg = g->op_arg0[op]; arg < g->op_arg0[op + 1]; arg++) {
    if (in_place(g->arg_tag[arg])) {
      model *x = &m[g->arg_buffer[arg]];
      x->versions += x->versions == 0;
      model_enter(g, x, op, arg);
    }
  }
  for (uint32_t arg = g->op_arg0[op]; arg < g->op_arg0[op + 1]; arg++) {
    if (g->arg_tag[arg] == FSCHED_OUT) {
      model *x = &m[g->arg_buffer[arg]];
      memset(x->reader, 0, x->size * g->n_ops);
      model_enter(g, x, op, arg);
      ck_assert_uint_eq(fs_version_index(g, g->arg_version[arg]), x->versions++);
    }
  }
}

static void check_edges(const fsched_graph *g) {
  model *m = make_models(g);
  uint8_t *wanted = malloc(g->n_ops);
  for (uint32_t op = 0; op < g->n_ops; op++) {
    memset(wanted, 0, g->n_ops);
    model_op(g, m, op, wanted);
    for (uint32_t i = g->op_after0[op]; i < g->op_after0[op + 1]; i++) {
      wanted[g->after_op[i]] = 1;
    }
    wanted[op] = 0;
    uint32_t e = g->pred0[op];
    for (uint32_t before = 0; before < g->n_ops; before++) {
      if (wanted[before]) {
        ck_assert_msg(e < g->pred0[op + 1] && g->pred[e] == before, "op %u lacks %u", op, before);
        e++;
      }
    }
    ck_assert_msg(e == g->pred0[op + 1], "op %u has an edge too many", op);
  }
  free(wanted);
  free_models(g, m);
}

static void check_transpose(const fsched_graph *g) {
  uint32_t n = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t e = g->succ0[op]; e < g->succ0[op + 1]; e++, n++) {
      uint32_t to = g->succ[e];
      ck_assert(e == g->succ0[op] || g->succ[e - 1] < to);
      bool found = false;
      for (uint32_t p = g->pred0[to]; p < g->pred0[to + 1]; p++) {
        found |= g->pred[p] == op;
      }
      ck_assert(found);
    }
  }
  ck_assert_uint_eq(n, g->n_edges);
  ck_assert_uint_eq(g->pred0[g->n_ops], g->n_edges);
}

static void check_topo(const fsched_graph *g) {
  uint32_t *rank = malloc(g->n_ops * sizeof *rank);
  memset(rank, 0xFF, g->n_ops * sizeof *rank);
  for (uint32_t i = 0; i < g->n_ops; i++) {
    ck_assert_uint_eq(rank[g->topo[i]], FS_NONE);
    rank[g->topo[i]] = i;
  }
  for (uint32_t op = 0; op < g->n_ops; op++) {
    for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
      ck_assert_uint_lt(rank[g->pred[e]], rank[op]);
    }
  }
  free(rank);
}

static void check_accesses(const fsched_graph *g) {
  uint32_t n = 0;
  for (uint32_t v = 0; v < g->n_versions; v++) {
    for (uint32_t i = g->version_access0[v]; i < g->version_access0[v + 1]; i++, n++) {
      uint32_t arg = g->access_arg[i];
      ck_assert_uint_eq(g->arg_version[arg], v);
      ck_assert(g->op_arg0[g->access_op[i]] <= arg && arg < g->op_arg0[g->access_op[i] + 1]);
      ck_assert(i == g->version_access0[v] || g->access_arg[i - 1] < arg);
    }
  }
  for (uint32_t arg = 0; arg < g->n_args; arg++) {
    n -= g->arg_tag[arg] != FSCHED_VALUE && g->arg_tag[arg] != FSCHED_NO_DEP;
  }
  ck_assert_uint_eq(n, 0);
}

static bool overlap(const fsched_graph *g, uint32_t a, uint32_t b) {
  return g->arg_offset[a] < g->arg_offset[b] + fs_max(g->arg_length[b], 1) &&
         g->arg_offset[b] < g->arg_offset[a] + fs_max(g->arg_length[a], 1);
}

/* All pairs against the closure. */
static void check_races(const fsched_graph *g) {
  uint8_t *reach = calloc(g->n_ops, g->n_ops);
  for (uint32_t i = 0; i < g->n_ops; i++) {
    uint32_t op = g->topo[i];
    for (uint32_t e = g->pred0[op]; e < g->pred0[op + 1]; e++) {
      reach[op * g->n_ops + g->pred[e]] = 1;
      for (uint32_t k = 0; k < g->n_ops; k++) {
        reach[op * g->n_ops + k] |= reach[g->pred[e] * g->n_ops + k];
      }
    }
  }
  uint32_t wanted = 0;
  for (uint32_t v = 0; v < g->n_versions; v++) {
    uint8_t *seen = calloc(g->n_ops, g->n_ops);
    for (uint32_t i = g->version_access0[v]; i < g->version_access0[v + 1]; i++) {
      for (uint32_t j = g->version_access0[v]; j < i; j++) {
        uint32_t x = g->access_op[j];
        uint32_t y = g->access_op[i];
        bool write = fs_tag_writes(g->arg_tag[g->access_arg[i]]) ||
                     fs_tag_writes(g->arg_tag[g->access_arg[j]]);
        if (x != y && write && overlap(g, g->access_arg[i], g->access_arg[j]) &&
            !reach[x * g->n_ops + y] && !reach[y * g->n_ops + x] && !seen[x * g->n_ops + y]) {
          seen[x * g->n_ops + y] = 1;
          wanted++;
          bool found = false;
          for (uint32_t k = 0; k < g->n_races; k++) {
            found |= g->race_version[k] == v && g->race_a[k] == fs_min(x, y) &&
                     g->race_b[k] == fs_max(x, y);
          }
          ck_assert_msg(found, "race of %u and %u is not listed", x, y);
        }
      }
    }
    free(seen);
  }
  ck_assert_uint_eq(g->n_races, wanted);
  free(reach);
}

static fsched_graph *random_graph(uint64_t seed, bool raw) {
  fs_gen_params p = fs_gen_any(seed, 60);
  p.max_size = p.max_size > 50 ? 50 : p.max_size;
  p.raw = raw;
  fsched_graph *g;
  ck_assert_msg(fs_gen_graph(ctx, &p, &g) == FSCHED_OK, "seed %lu: %s", seed,
                fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "");
  return g;
}

START_TEST(random_graphs_match_the_model)
{
  for (uint64_t seed = 0; seed < 400; seed++) {
    fsched_graph *g = random_graph(seed, seed % 4 == 3);
    check_edges(g);
    check_transpose(g);
    check_topo(g);
    check_accesses(g);
    if (g->hazards == FSCHED_HAZARDS_RAW) {
      check_races(g);
    } else {
      ck_assert_uint_eq(g->n_races, 0);
    }
    fsched_graph_destroy(g);
  }
}
END_TEST

START_TEST(raw_graphs_do_have_races)
{
  uint32_t n = 0;
  for (uint64_t seed = 0; seed < 40; seed++) {
    fsched_graph *g = random_graph(seed, true);
    check_races(g);
    n += g->n_races;
    fsched_graph_destroy(g);
  }
  ck_assert_uint_gt(n, 20);
}
END_TEST

/* The tightest legal capacity is the precondition's own: one byte less is refused. */
START_TEST(tightest_capacity_is_exact)
{
  uint32_t refused = 0;
  for (uint64_t seed = 0; seed < 60; seed++) {
    fs_gen_params p = fs_gen_any(seed, 30);
    p.tightness = 1.0;
    p.n_memories = 1;
    fsched_graph *g;
    ck_assert_int_eq(fs_gen_graph(ctx, &p, &g), FSCHED_OK);
    uint64_t largest = 0;
    for (uint32_t op = 0; op < g->n_ops; op++) {
      uint64_t sum = 0;
      for (uint32_t a = g->op_arg0[op]; a < g->op_arg0[op + 1]; a++) {
        bool again = g->arg_tag[a] == FSCHED_VALUE || g->arg_tag[a] == FSCHED_NO_DEP;
        for (uint32_t b = g->op_arg0[op]; b < a; b++) {
          again |= g->arg_version[b] == g->arg_version[a] && g->arg_tag[b] != FSCHED_NO_DEP;
        }
        if (!again && fs_version_memory(g, g->arg_version[a]) == 0) {
          sum += fs_align_up(fs_version_size(g, g->arg_version[a]), p.align);
        }
      }
      for (uint32_t i = g->op_scratch0[op]; i < g->op_scratch0[op + 1]; i++) {
        sum += fs_align_up(g->scratch_size[i], p.align);
      }
      largest = fs_max(largest, sum);
    }
    ck_assert_uint_eq(largest, g->target.memory[0].capacity);
    refused += largest > 0;
    fsched_graph_destroy(g);
  }
  ck_assert_uint_gt(refused, 50);
}
END_TEST

static fsched_builder *make(void) {
  fsched_builder *b;
  ck_assert_int_eq(fsched_builder_create(ctx, "g", &b), FSCHED_OK);
  return b;
}

static uint32_t add_memory(fsched_builder *b, const char *name, uint64_t capacity) {
  uint32_t id;
  fsched_memory_desc d = {.size = sizeof d, .name = name, .capacity = capacity};
  ck_assert_int_eq(fsched_builder_memory(b, &d, &id), FSCHED_OK);
  return id;
}

static uint32_t add_queue(fsched_builder *b, const char *name, const char *class_name) {
  uint32_t id;
  fsched_queue_desc d = {.size = sizeof d, .name = name, .queue_class = class_name};
  ck_assert_int_eq(fsched_builder_queue(b, &d, &id), FSCHED_OK);
  return id;
}

static uint32_t add_buffer(fsched_builder *b, const char *name, uint64_t size, fsched_io io) {
  uint32_t id;
  fsched_buffer_desc d = {
      .size = sizeof d, .name = name, .bytes = size, .memory = FSCHED_NONE, .io = io};
  ck_assert_int_eq(fsched_builder_buffer(b, &d, &id), FSCHED_OK);
  return id;
}

static uint32_t add_op(fsched_builder *b, const char *name, const char *on) {
  uint32_t id;
  fsched_op_desc d = {.size = sizeof d, .name = name, .on = on, .time = 1};
  ck_assert_int_eq(fsched_builder_op(b, &d, &id), FSCHED_OK);
  return id;
}

static fs_status add_arg(fsched_builder *b, uint32_t op, fsched_tag tag, uint32_t buffer) {
  fsched_arg_desc d = {.size = sizeof d, .tag = tag, .buffer = buffer};
  return fsched_builder_arg(b, op, &d);
}

static fsched_graph *finish(fsched_builder *b) {
  fsched_graph *g = NULL;
  ck_assert_msg(fsched_builder_finish(b, &g) == FSCHED_OK, "%s",
                fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "");
  fsched_builder_destroy(b);
  return g;
}

START_TEST(domains_and_gangs)
{
  fsched_builder *b = make();
  add_queue(b, "a0", "a");
  add_queue(b, "a1", "a");
  add_queue(b, "x", "y");
  add_op(b, "class", "a");
  add_op(b, "alone", "a1");
  add_op(b, "only_one_of_its_class", "x");
  add_op(b, "its_class", "y");
  const char *first[] = {"x", "a0"};
  const char *second[] = {"a0", "x"};
  fsched_op_desc d = {.size = sizeof d, .name = "gang", .gang = first, .n_gang = 2};
  ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  d.name = "same_gang";
  d.gang = second;
  ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  fsched_graph *g = finish(b);
  ck_assert_uint_eq(g->target.n_domains, 3);
  ck_assert_uint_eq(g->op_domain[0], 0);
  ck_assert_uint_eq(g->op_domain[1], 2);
  ck_assert_uint_eq(g->op_domain[2], 1);
  ck_assert_uint_eq(g->op_domain[3], 1);
  ck_assert_uint_eq(g->target.domain_queue0[1] - g->target.domain_queue0[0], 2);
  ck_assert_uint_eq(g->target.domain_queue[g->target.domain_queue0[2]], 1);
  ck_assert_uint_eq(g->op_domain[4], FS_NONE);
  ck_assert_uint_eq(g->n_gangs, 1);
  ck_assert_uint_eq(g->op_gang[5], 0);
  ck_assert_uint_eq(g->gang_queue[0], 0);
  ck_assert_uint_eq(g->gang_queue[1], 2);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(implicit_queues_ignore_on)
{
  fsched_builder *b = make();
  add_op(b, "a", "nonsense");
  const char *gang[] = {"p", "q"};
  fsched_op_desc d = {.size = sizeof d, .name = "b", .gang = gang, .n_gang = 2};
  ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  fsched_graph *g = finish(b);
  ck_assert(g->target.implicit_queues);
  ck_assert_uint_eq(g->target.n_domains, 1);
  ck_assert_uint_eq(g->op_domain[0], 0);
  ck_assert_uint_eq(g->op_domain[1], 0);
  ck_assert_uint_eq(g->op_gang[1], FS_NONE);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(default_memory_is_the_first_bounded)
{
  fsched_builder *b = make();
  add_memory(b, "ddr", FSCHED_UNBOUNDED);
  add_memory(b, "cmx", 100);
  add_buffer(b, "x", 5, FSCHED_IO_INPUT);
  fsched_graph *g = finish(b);
  ck_assert_uint_eq(g->buffer_memory[0], 1);
  fsched_graph_destroy(g);
  b = make();
  add_buffer(b, "x", 5, FSCHED_IO_INPUT);
  g = finish(b);
  ck_assert_uint_eq(g->target.n_memories, 1);
  ck_assert(!fs_memory_bounded(&g->target.memory[0]));
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(given_and_kept)
{
  fsched_builder *b = make();
  uint32_t in = add_buffer(b, "in", 1, FSCHED_IO_INPUT);
  uint32_t st = add_buffer(b, "st", 1, FSCHED_IO_STATE);
  uint32_t out = add_buffer(b, "out", 1, FSCHED_IO_OUTPUT);
  for (int i = 0; i < 2; i++) {
    uint32_t op = add_op(b, i == 0 ? "a" : "b", NULL);
    ck_assert_int_eq(add_arg(b, op, FSCHED_IN, in), FSCHED_OK);
    ck_assert_int_eq(add_arg(b, op, FSCHED_OUT, st), FSCHED_OK);
    ck_assert_int_eq(add_arg(b, op, FSCHED_OUT, out), FSCHED_OK);
  }
  fsched_graph *g = finish(b);
  static const bool given[] = {1, 1, 0, 0, 0, 0};
  static const bool kept[] = {0, 0, 0, 1, 0, 1};
  ck_assert_uint_eq(g->n_versions, 6);
  for (uint32_t v = 0; v < 6; v++) {
    ck_assert_int_eq(fs_version_given(g, v), given[v]);
    ck_assert_int_eq(fs_version_kept(g, v), kept[v]);
  }
  fsched_graph_destroy(g);
}
END_TEST

/* in beside out of one buffer reads the old version; the out depends on nothing of it. */
START_TEST(lookups_before_inserts)
{
  fsched_builder *b = make();
  uint32_t x = add_buffer(b, "x", 8, FSCHED_IO_NONE);
  uint32_t a = add_op(b, "a", NULL);
  ck_assert_int_eq(add_arg(b, a, FSCHED_OUT, x), FSCHED_OK);
  uint32_t both = add_op(b, "both", NULL);
  ck_assert_int_eq(add_arg(b, both, FSCHED_OUT, x), FSCHED_OK);
  ck_assert_int_eq(add_arg(b, both, FSCHED_IN, x), FSCHED_OK);
  ck_assert_int_eq(add_arg(b, both, FSCHED_IN, x), FSCHED_OK);
  uint32_t fresh = add_op(b, "fresh", NULL);
  ck_assert_int_eq(add_arg(b, fresh, FSCHED_OUT, x), FSCHED_OK);
  fsched_graph *g = finish(b);
  ck_assert_uint_eq(g->n_edges, 1);
  ck_assert_uint_eq(g->arg_version[1], 1);
  ck_assert_uint_eq(g->arg_version[2], 0);
  ck_assert_uint_eq(g->arg_version[4], 2);
  fsched_graph_destroy(g);
}
END_TEST

typedef struct pair_case {
  uint64_t out_size;
  fsched_io in_io;
  bool read_again, write_again, twice;
  uint32_t kept;
} pair_case;
static const pair_case pair_cases[] = {
    {8, FSCHED_IO_NONE, false, false, false, 1},   {4, FSCHED_IO_NONE, false, false, false, 0},
    {8, FSCHED_IO_OUTPUT, false, false, false, 0}, {8, FSCHED_IO_NONE, true, false, false, 0},
    {8, FSCHED_IO_NONE, false, true, false, 0},    {8, FSCHED_IO_INPUT, false, false, false, 1},
    {8, FSCHED_IO_NONE, false, false, true, 0},
};

START_TEST(legal_inplace_pairs)
{
  const pair_case *c = &pair_cases[_i];
  fsched_builder *b = make();
  add_memory(b, "m", 100);
  uint32_t x = add_buffer(b, "x", 8, c->in_io);
  uint32_t y = add_buffer(b, "y", c->out_size, FSCHED_IO_NONE);
  uint32_t op = add_op(b, "write", NULL);
  if (c->in_io != FSCHED_IO_INPUT) {
    ck_assert_int_eq(add_arg(b, op, FSCHED_OUT, x), FSCHED_OK);
  }
  op = add_op(b, "move", NULL);
  ck_assert_int_eq(add_arg(b, op, FSCHED_IN, x), FSCHED_OK);
  ck_assert_int_eq(add_arg(b, op, FSCHED_OUT, y), FSCHED_OK);
  if (c->twice) {
    ck_assert_int_eq(add_arg(b, op, FSCHED_IN, x), FSCHED_OK);
  }
  ck_assert_int_eq(fsched_builder_inplace(b, op, y, x), FSCHED_OK);
  op = add_op(b, "after", NULL);
  if (c->read_again || c->write_again) {
    ck_assert_int_eq(add_arg(b, op, c->read_again ? FSCHED_IN : FSCHED_OUT_EXISTING, x), FSCHED_OK);
  }
  fsched_graph *g = finish(b);
  ck_assert_uint_eq(g->op_inplace0[3], c->kept);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(items_in_any_order)
{
  fsched_builder *b = make();
  uint32_t r;
  ck_assert_int_eq(fsched_builder_resource(b, "r", 10, &r), FSCHED_OK);
  uint32_t m = add_memory(b, "m", 100);
  uint32_t first = add_op(b, "first", NULL);
  uint32_t second = add_op(b, "second", NULL);
  ck_assert_int_eq(fsched_builder_use(b, second, r, 2), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_use(b, first, r, 1), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_scratch(b, second, m, 0), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_scratch(b, first, m, 7), FSCHED_OK);
  ck_assert_int_eq(fsched_builder_after(b, first, second), FSCHED_OK);
  fsched_graph *g = finish(b);
  ck_assert_uint_eq(g->use_amount[g->op_use0[0]], 1);
  ck_assert_uint_eq(g->use_amount[g->op_use0[1]], 2);
  ck_assert_uint_eq(g->op_scratch0[1], 1);
  ck_assert_uint_eq(g->op_scratch0[2], 1);
  ck_assert_uint_eq(g->topo[0], second);
  ck_assert_uint_eq(g->topo[1], first);
  fsched_graph_destroy(g);
}
END_TEST

static void expect_code(fs_status got, const char *code) {
  ck_assert_int_eq(got, FSCHED_BAD_INPUT);
  ck_assert_uint_gt(fsched_diag_count(ctx), 0);
  ck_assert_str_eq(fsched_diag_get(ctx, fsched_diag_count(ctx) - 1)->code, code);
  fsched_diag_clear(ctx);
}

START_TEST(misuse_is_reported)
{
  fsched_builder *b = make();
  fsched_queue_desc q = {.size = sizeof q};
  expect_code(fsched_builder_queue(b, &q, NULL), "bad-argument");
  fsched_memory_desc m = {.size = sizeof m, .name = "m", .align = 3};
  expect_code(fsched_builder_memory(b, &m, NULL), "out-of-range");
  m = (fsched_memory_desc){.size = sizeof m, .name = "m", .capacity = FSCHED_MAX_SIZE + 1};
  expect_code(fsched_builder_memory(b, &m, NULL), "out-of-range");
  fsched_buffer_desc d = {.size = sizeof d, .name = "x", .memory = 7};
  expect_code(fsched_builder_buffer(b, &d, NULL), "bad-argument");
  expect_code(fsched_builder_use(b, 0, 0, 1), "bad-argument");
  expect_code(fsched_builder_frontier(b, 0), "out-of-range");
  uint32_t x = add_buffer(b, "x", 4, FSCHED_IO_NONE);
  uint32_t first = add_op(b, "first", NULL);
  uint32_t second = add_op(b, "second", NULL);
  expect_code(add_arg(b, first, FSCHED_OUT, x), "bad-argument");
  expect_code(add_arg(b, second, FSCHED_OUT, 9), "bad-argument");
  fsched_kernel_desc k = {.size = sizeof k, .module = "m.so"};
  expect_code(fsched_builder_kernel(b, second, &k), "bad-argument");
  ck_assert_int_eq(fsched_builder_after(b, second, 99), FSCHED_OK);
  fsched_graph *g;
  expect_code(fsched_builder_finish(b, &g), "bad-argument");
  expect_code(fsched_builder_finish(b, &g), "bad-argument");
  fsched_builder_destroy(b);
}
END_TEST

START_TEST(short_descriptors_have_zeros_behind)
{
  fsched_builder *b = make();
  fsched_op_desc d = {.size = offsetof(fsched_op_desc, time), .name = "a", .time = 77};
  ck_assert_int_eq(fsched_builder_op(b, &d, NULL), FSCHED_OK);
  fsched_graph *g = finish(b);
  ck_assert_uint_eq(g->op_time[0], 0);
  fsched_graph_destroy(g);
}
END_TEST

/* 50,000 tiles of one buffer, written, read and written again: minutes if every access cost the
 * number of tiles. */
START_TEST(many_tiles)
{
  enum { TILES = 50000, TILE = 16 };
  fsched_builder *b = make();
  uint32_t x = add_buffer(b, "x", TILES * TILE, FSCHED_IO_INPUT);
  fs_rng rng = {7};
  uint32_t op = 0;
  for (int round = 0; round < 3; round++) {
    for (uint32_t i = 0; i < TILES; i++) {
      char name[32];
      snprintf(name, sizeof name, "o%u", op);
      add_op(b, name, NULL);
      fsched_arg_desc d = {.size = sizeof d, .buffer = x, .has_at = 1, .length = TILE};
      d.tag = round == 1 ? FSCHED_IN : FSCHED_INOUT;
      d.offset = (uint64_t)fs_rng_below(&rng, TILES) * TILE;
      ck_assert_int_eq(fsched_builder_arg(b, op++, &d), FSCHED_OK);
    }
  }
  add_op(b, "all", NULL);
  ck_assert_int_eq(add_arg(b, op, FSCHED_INOUT, x), FSCHED_OK);
  fsched_graph *g = finish(b);
  ck_assert_uint_gt(g->n_edges, 2 * TILES);
  check_topo(g);
  fsched_graph_destroy(g);
}
END_TEST

START_TEST(large_graph)
{
  fs_gen_params p = {.seed = 3,
                     .n_ops = 50000,
                     .n_queues = 64,
                     .n_classes = 4,
                     .n_memories = 2,
                     .backing = true,
                     .io = true,
                     .inouts = true,
                     .tightness = 4};
  fsched_graph *g;
  ck_assert_int_eq(fs_gen_graph(ctx, &p, &g), FSCHED_OK);
  ck_assert_uint_eq(g->n_ops, p.n_ops);
  check_transpose(g);
  check_topo(g);
  fsched_graph_destroy(g);
}
END_TEST

typedef struct budget {
  long left; /* allocations that succeed */
  long live; /* bytes */
} budget;

static void *limited(void *user, void *block, size_t old_size, size_t new_size) {
  budget *x = user;
  if (new_size == 0) {
    x->live -= (long)(block == NULL ? 0 : old_size);
    free(block);
    return NULL;
  }
  if (x->left-- <= 0) {
    return NULL;
  }
  void *p = realloc(block, new_size);
  x->live += (long)new_size - (long)(block == NULL ? 0 : old_size);
  return p;
}

START_TEST(every_allocation_may_fail)
{
  fs_gen_params p = fs_gen_any(11, 40);
  p.raw = p.gangs = p.inplace = p.ats = p.inouts = p.io = p.resources = p.scratch = true;
  p.n_queues = 5;
  p.n_ops = 40;
  bool done = false;
  for (long n = 1; !done; n++) {
    budget x = {.left = n};
    fsched_context_options o = {.size = sizeof o, .reallocate = limited, .user = &x};
    fsched_context *c;
    fsched_graph *g = NULL;
    if (fsched_context_create(&o, &c) == FSCHED_OK) {
      fs_status status = fs_gen_graph(c, &p, &g);
      done = status == FSCHED_OK;
      ck_assert(done || status == FSCHED_SYSTEM);
      ck_assert(done || strcmp(fsched_diag_get(c, 0)->code, "out-of-memory") == 0);
      fsched_graph_destroy(g);
      fsched_context_destroy(c);
    }
    ck_assert_int_eq(x.live, 0);
    ck_assert_int_lt(n, 5000);
  }
}
END_TEST

Suite *fs_suite_builder(void) {
  Suite *s = suite_create("builder");
  TCase *t = tcase_create("builder");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, random_graphs_match_the_model);
  tcase_add_test(t, raw_graphs_do_have_races);
  tcase_add_test(t, tightest_capacity_is_exact);
  tcase_add_test(t, domains_and_gangs);
  tcase_add_test(t, implicit_queues_ignore_on);
  tcase_add_test(t, default_memory_is_the_first_bounded);
  tcase_add_test(t, given_and_kept);
  tcase_add_test(t, lookups_before_inserts);
  tcase_add_loop_test(t, legal_inplace_pairs, 0, sizeof pair_cases / sizeof pair_cases[0]);
  tcase_add_test(t, items_in_any_order);
  tcase_add_test(t, misuse_is_reported);
  tcase_add_test(t, short_descriptors_have_zeros_behind);
  tcase_add_test(t, many_tiles);
  tcase_add_test(t, large_graph);
  tcase_add_test(t, every_allocation_may_fail);
  suite_add_tcase(s, t);
  return s;
}
