/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs of the builder, compared with a brute-force model of versions, edges and races. */
#include <stdlib.h>

#include "front/graph_checks.h"
#include "kit/gen.h"
#include "model/graph.h"

#include "kit/context.h"

/* A brute-force model of the tags: for every byte of every buffer, which op wrote it last, and
 * which ops have read it since. */
typedef struct builder_model_model {
  uint32_t versions; /* so far */
  uint32_t *writer;  /* per byte: op, GIVEN, or FS_NONE */
  uint8_t *reader;   /* per op and byte */
  uint64_t size;     /* one more than the buffer has, for its units, if it has units */
} builder_model_model;
enum { GIVEN = 0x7fffffff };

static uint64_t bytes(const fsched_graph *g, uint32_t buffer) {
  return fs_max(g->buffer_size[buffer], 1);
}

static builder_model_model *make_models(const fsched_graph *g) {
  builder_model_model *m = calloc(g->n_buffers, sizeof *m);
  for (uint32_t i = 0; i < g->n_buffers; i++) {
    m[i].size = bytes(g, i) + 1;
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

static void free_models(const fsched_graph *g, builder_model_model *m) {
  for (uint32_t i = 0; i < g->n_buffers; i++) {
    free(m[i].writer);
    free(m[i].reader);
  }
  free(m);
}

/* Whether a byte is of the arg: of some element of a view, by trying all of them. */
static bool has_byte(const fsched_graph *g, uint32_t arg, uint64_t at) {
  uint64_t begin = g->arg_offset[arg];
  const fs_view *v =
      g->arg_view == NULL || g->arg_view[arg] == FS_NONE ? NULL : &g->view[g->arg_view[arg]];
  if (v == NULL) {
    return at >= begin && at < begin + fs_max(g->arg_length[arg], 1);
  }
  uint64_t n = 1;
  for (uint32_t d = 0; d < v->n_dims; d++) {
    n *= v->shape[d];
  }
  bool has = false;
  for (uint64_t i = 0; i < n && !has; i++) {
    uint64_t rest = i, place = begin;
    for (uint32_t d = 0; d < v->n_dims; d++) {
      place += rest % v->shape[d] * v->stride[d];
      rest /= v->shape[d];
    }
    has = at >= place && at < place + v->element;
  }
  return has;
}

/* All accesses of a version in a counted memory touch its units. */
static bool touches(const fsched_graph *g, const builder_model_model *m, uint32_t arg,
                    uint64_t at) {
  const fs_memory *memory = &g->target.memory[g->buffer_memory[g->arg_buffer[arg]]];
  bool units = memory->placement == FSCHED_COUNTED && memory->capacity != FS_UNBOUNDED &&
               g->hazards == FSCHED_HAZARDS_SEQUENTIAL;
  return has_byte(g, arg, at) || (units && at + 1 == m->size);
}

static void model_look_up(const fsched_graph *g, builder_model_model *m, uint32_t arg,
                          uint8_t *wanted) {
  unsigned tag = g->arg_tag[arg];
  bool sequential = g->hazards == FSCHED_HAZARDS_SEQUENTIAL;
  for (uint64_t at = 0; at < m->size; at++) {
    if (!touches(g, m, arg, at)) {
      continue;
    }
    uint32_t w = m->writer[at];
    if (w < GIVEN && (fs_tag_reads(tag) || sequential)) {
      wanted[w] = 1;
    }
    for (uint32_t op = 0; op < g->n_ops && tag != FSCHED_IN && sequential; op++) {
      wanted[op] |= m->reader[op * m->size + at];
    }
  }
}

static void model_enter(const fsched_graph *g, builder_model_model *m, uint32_t op, uint32_t arg) {
  unsigned tag = g->arg_tag[arg];
  for (uint64_t at = 0; at < m->size; at++) {
    if (!touches(g, m, arg, at)) {
      continue;
    }
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

static void model_op(const fsched_graph *g, builder_model_model *m, uint32_t op, uint8_t *wanted) {
  for (uint32_t arg = g->op_arg0[op]; arg < g->op_arg0[op + 1]; arg++) {
    if (in_place(g->arg_tag[arg])) {
      builder_model_model *x = &m[g->arg_buffer[arg]];
      model_look_up(g, x, arg, wanted);
      ck_assert_uint_eq(fs_version_index(g, g->arg_version[arg]),
                        x->versions == 0 ? 0 : x->versions - 1);
    }
  }
  for (uint32_t arg = g->op_arg0[op]; arg < g->op_arg0[op + 1]; arg++) {
    if (in_place(g->arg_tag[arg])) {
      builder_model_model *x = &m[g->arg_buffer[arg]];
      x->versions += x->versions == 0;
      model_enter(g, x, op, arg);
    }
  }
  for (uint32_t arg = g->op_arg0[op]; arg < g->op_arg0[op + 1]; arg++) {
    if (g->arg_tag[arg] == FSCHED_OUT) {
      builder_model_model *x = &m[g->arg_buffer[arg]];
      memset(x->reader, 0, x->size * g->n_ops);
      model_enter(g, x, op, arg);
      ck_assert_uint_eq(fs_version_index(g, g->arg_version[arg]), x->versions++);
    }
  }
}

static void check_edges(const fsched_graph *g) {
  builder_model_model *m = make_models(g);
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
  bool both = false;
  for (uint64_t at = 0; at < bytes(g, g->arg_buffer[a]) && !both; at++) {
    both = has_byte(g, a, at) && has_byte(g, b, at);
  }
  return both;
}

/* Compares all pairs with the closure. */
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
  p.views = p.ats;
  p.members = p.gangs;
  p.max_size = p.max_size > 50 ? 50 : p.max_size;
  p.raw = raw;
  fsched_graph *g;
  ck_assert_msg(fs_gen_graph(ctx, &p, &g) == FSCHED_OK, "seed %lu: %s", seed,
                fsched_diag_count(ctx) > 0 ? fsched_diag_get(ctx, 0)->message : "");
  return g;
}

START_TEST(random_graphs_match_the_model)
{
  uint32_t views = 0;
  for (uint64_t seed = 0; seed < 400; seed++) {
    fsched_graph *g = random_graph(seed, seed % 4 == 3);
    views += g->n_views;
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
  ck_assert_uint_gt(views, 500);
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

/* The tightest legal capacity is that of the precondition: one byte less is refused. */
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

FS_SUITE(builder_model, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_TESTS(t, random_graphs_match_the_model, raw_graphs_do_have_races, tightest_capacity_is_exact);
}
