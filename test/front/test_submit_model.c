/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs of submits beside a plain interpreter, which knows for every byte of every buffer
 * which task wrote it last and which have read it since.  It says which calls are refused, what the
 * edges are, and which graph file means the same; the graph that is captured is that of the file,
 * compiles, verifies, and is replayed as an evaluation computes. */
#include <stdio.h>
#include <string.h>

#include "front/same_graph.h"
#include "front/submit_program.h"
#include "fsched/compile.h"
#include "fsched/replay.h"
#include "fsched/submit.h"
#include "kit/gen.h"
#include "kit/turn.h"

#include "kit/context.h"

static void check_edges(const model_program *p, const fsched_graph *g) {
  ck_assert_uint_eq(g->n_ops, p->n_tasks);
  for (uint32_t op = 0; op < g->n_ops; op++) {
    uint32_t e = g->pred0[op];
    for (uint32_t before = 0; before < op; before++) {
      if (p->edge[op][before]) {
        ck_assert_msg(e < g->pred0[op + 1] && g->pred[e] == before, "'%s' is not behind '%s'",
                      g->op_name[op], g->op_name[before]);
        e++;
      }
    }
    ck_assert_msg(e == g->pred0[op + 1], "'%s' has an edge too many", g->op_name[op]);
  }
}

/* Extends an order by what follows from it. */
static void close_order(bool (*order)[TASKS], uint32_t n) {
  for (uint32_t to = 0; to < n; to++) {
    for (uint32_t at = to; at-- > 0;) {
      for (uint32_t from = 0; from < at && order[to][at]; from++) {
        order[to][from] |= order[at][from];
      }
    }
  }
}

/* Whether two tasks meet in a version. */
static bool conflict(const model_access *a, const model_access *c) {
  return a->buffer == c->buffer && a->version == c->version && (a->write || c->write) &&
         (a->mask & c->mask) != 0;
}

/* The lint has each pair that conflicts without an order once, and no other. */
static uint32_t check_lint(model_program *p, const fsched_graph *g) {
  static bool wanted[TASKS][TASKS][BUFFERS];
  uint32_t n, n_wanted = 0, n_derived = 0;
  memset(wanted, 0, sizeof wanted);
  close_order(p->edge, p->n_tasks);
  for (uint32_t i = 0; i < p->n_accesses; i++) {
    for (uint32_t k = 0; k < i; k++) {
      const model_access *a = &p->access[k], *c = &p->access[i];
      bool apart = a->task != c->task || a->member != c->member;
      if (apart && conflict(a, c) && !p->order[c->task][a->task]) {
        n_wanted += !wanted[c->task][a->task][c->buffer];
        wanted[c->task][a->task][c->buffer] = true;
      }
    }
  }
  ck_fs(ctx, fsched_submit_lint(p->s, g, &n));
  ck_assert_uint_eq(n, n_wanted);
  ck_assert_ptr_null(fsched_submit_lint_pair(p->s, n));
  for (uint32_t i = 0; i < n; i++) {
    const fsched_submit_pair *pair = fsched_submit_lint_pair(p->s, i);
    bool *want = &wanted[pair->after][pair->before][pair->buffer];
    ck_assert_msg(*want, "'%s' and '%s' are no pair of '%s'", pair->before_name, pair->after_name,
                  pair->buffer_name);
    *want = false;
    ck_assert_int_eq(pair->derived, p->edge[pair->after][pair->before]);
    ck_assert_str_eq(pair->before_name, g->op_name[pair->before]);
    ck_assert_str_eq(pair->after_name, g->op_name[pair->after]);
    ck_assert_str_eq(pair->buffer_name, p->buffer[pair->buffer].name);
    n_derived += pair->derived != 0;
  }
  return n_derived;
}

/* The same ops as a graph file. */
static void check_file(model_program *p, const fsched_graph *g) {
  fs_text t;
  fs_text_init(&t, ctx);
  fs_text_printf(&t, "fsched: 1\nname: random\nhazards: %s\n%sbuffers:\n%.*sops:\n%.*s",
                 p->raw ? "raw" : "sequential", submit_target_text, (int)p->buffers.n,
                 p->buffers.at, (int)p->ops.n, p->ops.at);
  fs_text_add(&t, "", 1);
  fsched_graph *h = fs_parse(t.at);
  assert_same(g, h, t.at);
  uint32_t blocks = 0;
  for (uint32_t op = 0; op < g->n_ops; op++) {
    uint32_t a = g->op_kernel[op], b = h->op_kernel[op];
    ck_assert_msg((a == FS_NONE) == (b == FS_NONE), "a kernel of op '%s'", g->op_name[op]);
    if (a != FS_NONE) {
      ck_assert_str_eq(g->kernel[a].builtin, h->kernel[b].builtin);
      ck_assert_str_eq(g->kernel[a].params, h->kernel[b].params);
      blocks++;
    }
  }
  ck_assert_uint_eq(blocks, p->counts.blocks);
  for (uint32_t i = 0; i < g->n_args; i++) {
    ck_assert_uint_eq(fs_arg_member(g, i), fs_arg_member(h, i));
  }
  for (uint32_t i = 0; i < g->n_buffers; i++) {
    ck_assert_str_eq(g->buffer_name[i], h->buffer_name[i]);
    ck_assert_uint_eq(g->buffer_memory[i], h->buffer_memory[i]);
    ck_assert_uint_eq(g->buffer_io[i], h->buffer_io[i]);
  }
  fsched_graph_destroy(h);
  fs_text_drop(&t);
}

static void check_replay(const fsched_graph *g) {
  fsched_program *program;
  fsched_compile_options o = {.size = sizeof o, .verify = 1};
  ck_fs(ctx, fsched_compile(ctx, g, &o, NULL, &program));
  fsched_replay_options r = {.size = sizeof r, .check = 1};
  fsched_replay_result result = {.size = sizeof result};
  ck_fs(ctx, fsched_replay(ctx, program, &r, &result));
  ck_assert_uint_eq(result.checked_ops, g->n_ops);
  fsched_program_destroy(program);
}

/* Each _i is a hundred programs. */
START_TEST(random_programs_are_as_interpreted)
{
  static model_program p;
  uint32_t accepted = 0, refused = 0, edges = 0, derived = 0, blocks = 0, groups = 0;
  for (uint64_t i = 0; i < 100; i++) {
    uint64_t seed = (fs_turn() * 8 + (uint64_t)_i) * 100 + i;
    begin_program(&p, seed, seed % 3 == 0);
    fsched_graph *g = random_program(&p);
    check_edges(&p, g);
    check_file(&p, g);
    derived += check_lint(&p, g);
    if (!p.raw && i % 10 == 0) {
      check_replay(g);
    }
    accepted += p.n_tasks;
    refused += p.counts.refused;
    blocks += p.counts.blocks;
    groups += p.counts.groups;
    edges += g->n_edges;
    fsched_graph_destroy(g);
    end_program(&p);
  }
  fs_assert_seen(accepted, 2000);
  fs_assert_seen(refused, 2000);
  fs_assert_seen(edges, 2000);
  fs_assert_seen(derived, 200);
  fs_assert_seen(blocks, 250);
  fs_assert_seen(groups, 100);
}
END_TEST

FS_SUITE(submit_model, s) {
  TCase *t = fs_case(s, fs_test_arena);
  FS_LOOPS(t, 0, 4, random_programs_are_as_interpreted);
}
