/* SPDX-License-Identifier: Apache-2.0 */
/* Streams with loops in loops, made: how deep they may be, and random ones, whose forms all say the
 * same. */
#include <string.h>

#include "codegen/stream_kit.h"
#include "fsched/compile.h"
#include "kit/nest_gen.h"
#include "kit/turn.h"

#include "kit/context.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 100 };
#else
enum { GRAPHS = 300 };
#endif

/* A program of one op, `n` loops deep. */
static void put_deep(fs_text *t, int n) {
  fs_text_puts(t,
               "{\"fsched_program\": 15, \"name\": \"deep\", \"hazards\": \"sequential\","
               "\"sync\": \"timeline\", \"makespan\": 1, \"lower_bound\": 1, \"concurrency\": 0,"
               "\"frontier_capacity\": 16, \"axes\": [{\"name\": \"q\", \"kind\": \"queue\","
               "\"id\": \"0x0100000000000000\"}], \"memories\": [], \"resources\": [],"
               "\"buffers\": [], \"kernels\": [], \"races\": [],"
               "\"ops\": [{\"name\": \"l\", \"time\": 1, \"args\": []}],"
               "\"queues\": [{\"name\": \"q\", \"class\": \"c\", \"device\": 0, \"machine\": 0,"
               "\"commands\": [{\"kind\": \"run\", \"op\": \"l\", \"epoch\": 1, \"start\": 0,"
               "\"end\": 1, \"waits\": [], \"signal\": false, \"scope\": \"queue\","
               "\"frontier\": {\"q\": 1}, \"tainted\": false, \"places\": []}]}], \"loops\": [");
  for (int i = 0; i < n; i++) {
    fs_text_printf(t, "%s{\"op\": \"l\"", i == 0 ? "" : ", ");
    if (i > 0) {
      fs_text_printf(t, ", \"within\": %d", i - 1);
    }
    fs_text_puts(t,
                 ", \"trip\": 2, \"copies\": 1, \"rings\": [],"
                 "\"ops\": [{\"name\": \"l\", \"time\": 1, \"args\": []}],"
                 "\"queues\": [{\"queue\": \"q\", \"commands\": [{\"op\": \"l\", \"copy\": 0,"
                 "\"shift\": 0, \"waits\": [], \"signal\": false, \"places\": []}]}]}");
  }
  fs_text_puts(t, "]}\n");
}

static fs_status assemble_deep(int n, fsched_program **p) {
  fs_text t;
  fs_text_init(&t, ctx);
  put_deep(&t, n);
  ck_assert(!t.failed);
  fs_status status = fsched_program_assemble(ctx, "deep.json", t.at, t.n, p);
  fs_text_drop(&t);
  return status;
}

START_TEST(eight_deep)
{
  fsched_program *p;
  char *text;
  size_t n;
  ck_fs(ctx, assemble_deep(8, &p));
  fs_check_round_trip(ctx, p);
  ck_fs(ctx, fsched_program_text(ctx, p, &text, &n));
  ck_assert_ptr_nonnull(strstr(text, "\nloop l/l/l/l/l/l/l/l: iterations 2, copies 1, ops 1\n"));
  ck_assert_ptr_nonnull(strstr(text, " l[t][u][v][w][x][y][z][s] "));
  fsched_text_free(ctx, text, n);
  fsched_program_destroy(p);
}
END_TEST

START_TEST(nine_deep)
{
  fsched_program *p;
  ck_assert_int_eq(assemble_deep(9, &p), FSCHED_BAD_INPUT);
  ck_assert_str_eq(fsched_diag_get(ctx, 0)->message, "more than 8 loops are in each other");
  fsched_diag_clear(ctx);
}
END_TEST

/* Compiles a random graph; NULL: it is not legal. */
static fsched_program *compile_random(uint64_t seed) {
  fsched_compile_options o = {.size = sizeof o, .effort = FSCHED_EFFORT(0)};
  fsched_program *p = NULL;
  fsched_graph *g;
  fs_text t;
  fs_text_init(&t, ctx);
  fs_nest_gen(seed, &t);
  ck_assert(!t.failed);
  if (fsched_graph_parse(ctx, "random.yaml", t.at, t.n, NULL, &g) == FSCHED_OK) {
    if (fsched_compile(ctx, g, &o, NULL, &p) != FSCHED_OK) {
      p = NULL;
    }
    fsched_graph_destroy(g);
  }
  fs_text_drop(&t);
  fsched_diag_clear(ctx);
  return p;
}

/* Does a loop in a loop have commands on several queues? */
static bool has_gang(const fs_stream *s) {
  uint32_t l = 0;
  while (l < s->n_loops && (s->loops[l].within == FS_NONE || s->loops[l].n_queues == 1)) {
    l++;
  }
  return l < s->n_loops;
}

/* Is there an arg that moves with one that is not the last of its buffer? */
static bool tells_own(const fsched_program *p) {
  char *text;
  size_t n;
  ck_fs(ctx, fsched_program_json(ctx, p, &text, &n));
  bool found = strstr(text, "\"own\": ") != NULL;
  fsched_text_free(ctx, text, n);
  return found;
}

START_TEST(random_forms)
{
  unsigned nested = 0, gangs = 0, own = 0;
  for (uint64_t k = 0; k < GRAPHS; k++) {
    fsched_program *p = compile_random((fs_turn() * 10 + (uint64_t)_i) * GRAPHS + k);
    if (p == NULL) {
      continue;
    }
    const fs_stream *s = &p->view;
    nested += s->n_loops > 0 && s->loops[s->n_loops - 1].within != FS_NONE;
    gangs += has_gang(s);
    own += tells_own(p);
    fs_check_round_trip(ctx, p);
    fsched_program_destroy(p);
  }
  fs_assert_seen(nested, GRAPHS / 10);
  fs_assert_seen(gangs, GRAPHS / 40);
  fs_assert_seen(own, 0);
}
END_TEST

FS_SUITE(stream_nests, s) {
  TCase *t = fs_case(s, fs_test_silent);
  FS_TESTS(t, eight_deep, nine_deep);
  FS_LOOPS(t, 0, 2, random_forms);
}
