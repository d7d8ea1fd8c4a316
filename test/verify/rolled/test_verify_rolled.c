/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier of streams on loops that stay loops: what is compiled is accepted, and what is
 * accepted is right when it is unrolled. */
#include <stdio.h>
#include <stdlib.h>

#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/turn.h"
#include "verify/rolled/bodies.h"
#include "verify/rolled/breaks.h"
#include "verify/rolled/judge.h"

#include "kit/context.h"

/* Compiles a random graph.  Returns NULL if it isn't right, or has no loop that stays one. */
static fsched_program *compile_body(uint64_t seed, fs_body_kind kind, fsched_graph **g) {
  fs_text text;
  fsched_program *p = NULL;
  fs_text_init(&text, ctx);
  fs_draw_bodies(seed, kind, &text);
  fsched_read_options o = {.size = sizeof o};
  *g = NULL;
  if (fsched_graph_parse(ctx, "bodies", text.at, text.n, &o, g) == FSCHED_OK) {
    fs_status status = fsched_compile(ctx, *g, NULL, NULL, &p);
    ck_assert(status == FSCHED_OK || p == NULL);
  }
  fs_text_drop(&text);
  fsched_diag_clear(ctx);
  if (p != NULL && p->view.n_loops == 0) {
    fsched_program_destroy(p);
    p = NULL;
  }
  return p;
}

static fs_status verify(const fsched_program *p, const fsched_graph *g) {
  fsched_diag_clear(ctx);
  return fsched_verify_program(ctx, p, g);
}

/* What is compiled is accepted, with its graph, and right. */
START_TEST(compiled_bodies)
{
  enum { GRAPHS = 120 };
  uint32_t n = 0;
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = (fs_turn() * GRAPHS + k) * 4 + (uint64_t)_i;
    fsched_graph *g;
    const fs_body_kind kind = {.unlike = k % 2 == 0, .block = k % 5 > 2};
    fsched_program *p = compile_body(seed, kind, &g);
    if (p != NULL) {
      ck_assert_msg(verify(p, g) == FSCHED_OK, "seed %llu: %s", (unsigned long long)seed,
                    fs_first_message(ctx));
      const char *wrong = fs_judge_loop(&p->view, &p->view.loops[0]);
      ck_assert_msg(wrong == NULL, "seed %llu: %s", (unsigned long long)seed, wrong);
      n++;
    }
    fsched_program_destroy(p);
    fsched_graph_destroy(g);
  }
  fs_assert_seen(n, GRAPHS / 3);
}
END_TEST

/* --- what is broken --- */

typedef struct break_tally {
  uint32_t mutants, accepted;
} break_tally;

static void break_body(const fsched_program *p, uint64_t seed, fs_loop_break b, bool repaired,
                       break_tally *t) {
  fs_rng rng = {seed * 64 + b};
  fsched_program *copy = fs_mutant_copy(p);
  if (fs_break_loop(copy, b, &rng)) {
    if (repaired) {
      fs_break_repair(copy);
    }
    t->mutants++;
    if (verify(copy, NULL) == FSCHED_OK) {
      const char *wrong = fs_judge_loop(&copy->view, &copy->view.loops[0]);
      ck_assert_msg(wrong == NULL, "seed %llu, %s: accepted, but it breaks %s",
                    (unsigned long long)seed, fs_break_name(b), wrong);
      t->accepted++;
    }
  }
  fs_mutant_free(copy);
}

/* What is accepted is right. */
START_TEST(broken_bodies)
{
  enum { GRAPHS = 60, EACH = 3 };
  break_tally t[FS_BREAK_COUNT] = {{0}};
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = (fs_turn() * GRAPHS + k) * 4 + (uint64_t)_i;
    fsched_graph *g;
    const fs_body_kind kind = {.unlike = k % 2 == 0, .block = k % 5 > 2};
    fsched_program *p = compile_body(seed, kind, &g);
    for (unsigned b = 0; p != NULL && b < FS_BREAK_COUNT; b++) {
      for (unsigned i = 0; i < EACH; i++) {
        break_body(p, seed * EACH + i, (fs_loop_break)b, i > 0, &t[b]);
      }
    }
    fsched_program_destroy(p);
    fsched_graph_destroy(g);
  }
  for (unsigned b = 0; b < FS_BREAK_COUNT; b++) {
    if (getenv("FS_SHOW_TALLY") != NULL) {
      printf("  %-32s %4u mutants, %4u accepted\n", fs_break_name((fs_loop_break)b), t[b].mutants,
             t[b].accepted);
    }
    /* A few may all be right by chance: turn 0 is known to have wrong ones of each kind. */
    bool few = fs_turn() != 0 && t[b].mutants < 100;
    ck_assert_msg(b == FS_BREAK_COPY || few || t[b].accepted < t[b].mutants, "%s: %u mutants",
                  fs_break_name((fs_loop_break)b), t[b].mutants);
  }
}
END_TEST

/* The compiler adds hardly a wait that is not needed: now and then one that only the first
 * iterations would need, or one between several copies.  Where verify finds that, it is so. */
START_TEST(each_wait_is_needed)
{
  enum { GRAPHS = 60 };
  uint32_t waits = 0, left_out = 0;
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = (fs_turn() * GRAPHS + k) * 4 + (uint64_t)_i;
    fsched_graph *g;
    fsched_program *p = compile_body(seed, (fs_body_kind){.trip = 17}, &g);
    for (uint32_t w = 0; p != NULL && w < p->view.n_loop_waits; w++) {
      if (p->view.loop_waits[w].distance >= p->view.loops[0].trip) {
        continue; /* of iterations that there are not */
      }
      fsched_program *copy = fs_mutant_copy(p);
      fs_break_wait(copy, w);
      fs_break_repair(copy);
      fs_status status = verify(copy, NULL);
      const char *wrong =
          status == FSCHED_OK ? fs_judge_loop(&copy->view, &copy->view.loops[0]) : NULL;
      ck_assert_msg(wrong == NULL, "seed %llu, wait %u: accepted, but it breaks %s",
                    (unsigned long long)seed, w, wrong);
      fs_mutant_free(copy);
      left_out += status == FSCHED_OK;
      waits++;
    }
    fsched_program_destroy(p);
    fsched_graph_destroy(g);
  }
  fs_assert_seen(waits, GRAPHS / 2);
  ck_assert_uint_le(left_out, waits / 20);
}
END_TEST

FS_SUITE(verify_rolled, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 4, compiled_bodies, broken_bodies, each_wait_is_needed);
}
