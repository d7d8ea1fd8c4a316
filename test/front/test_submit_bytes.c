/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs of submits without races, with scopes, manual ones too, groups, views, imports,
 * holds and tasks of the host, under sequential and under raw hazards.  Captured, compiled and
 * replayed, and run dynamically on threads and on processes, they leave the bytes that a plain
 * evaluation leaves, which executes one task after the other and knows of no dependencies.  State
 * is what the dynamic run before has left; and captured programs with state are invoked three
 * times.
 *
 * FSCHED_PROGRAMS=N runs N of them in all, instead of 1,000, or 200 under the thread sanitizer. */
#include <stdio.h>

#include "front/submit_mirror.h"
#include "front/submit_program.h"
#include "kit/turn.h"

#include "kit/context.h"

#ifdef __SANITIZE_THREAD__
enum { PARTS = 10, PROGRAMS = 200 };
#else
enum { PARTS = 10, PROGRAMS = 1000 };
#endif

/* The number of programs of a part. */
static uint64_t count_programs(void) {
  const char *text = getenv("FSCHED_PROGRAMS");
  return (text == NULL ? PROGRAMS : strtoull(text, NULL, 10)) / PARTS;
}

static void add_counts(model_counts *sum, const model_counts *c) {
  sum->blocks += c->blocks;
  sum->groups += c->groups;
  sum->states += c->states;
  sum->gangs += c->gangs;
  sum->manual += c->manual;
  sum->host += c->host;
  sum->tiles += c->tiles;
  sum->waits += c->waits;
  sum->retains += c->retains;
  sum->added += c->added;
  sum->refused += c->refused;
}

/* Each kind of thing is in so many tasks of a program, on average. */
static void ck_counts(const model_counts *c, uint64_t programs, uint32_t tasks, bool raw) {
  printf(
      "%llu programs, %s: %u tasks (%u in manual scopes, %u of the host, %u groups, %u on "
      "any queues, %u with blocks), %u tiles, %u predecessors waited for alone, %u retained alone, "
      "%u against "
      "races, %u writes of state; %u calls refused\n",
      (unsigned long long)programs, raw ? "raw" : "sequential", tasks, c->manual, c->host,
      c->groups, c->gangs, c->blocks, c->tiles, c->waits, c->retains, c->added, c->states,
      c->refused);
  fs_assert_seen(tasks, 20 * programs);
  fs_assert_seen(c->manual, programs);
  fs_assert_seen(c->host, programs);
  fs_assert_seen(c->groups, programs / 2);
  fs_assert_seen(c->states, programs / 5);
  fs_assert_seen(c->gangs, programs);
  fs_assert_seen(c->blocks, programs);
  fs_assert_seen(c->tiles, programs / 2);
  fs_assert_seen(c->waits, programs);
  fs_assert_seen(c->retains, programs);
  fs_assert_seen(c->added, programs);
  fs_assert_seen(c->refused, 20 * programs);
}

/* The lint knows of no race, either. */
static void ck_without_races(model_program *p, const fsched_graph *g) {
  uint32_t n;
  ck_fs(ctx, fsched_submit_lint(p->s, g, &n));
  ck_assert_uint_eq(n, 0);
}

/* The _i-th part of the programs; odd ones are raw. */
START_TEST(random_programs_leave_the_same_bytes)
{
  static model_program p;
  static model_mirror mirror[MIRRORS];
  static uint8_t left[BUFFERS][ROW];
  char program[4096];
  bool raw = _i % 2 == 1;
  model_counts counts = {0};
  uint64_t programs = count_programs();
  uint32_t n = start_mirrors(mirror, program, raw), tasks = 0;
  for (uint64_t i = 0; i < programs; i++) {
    begin_program(&p, (fs_turn() * PARTS + (uint64_t)_i) << 32 | i, raw);
    add_mirrors(&p, mirror, n, left);
    fsched_graph *g = random_program(&p);
    ck_without_races(&p, g);
    ck_mirrors(&p);
    ck_replayed(&p, g);
    tasks += p.n_tasks;
    add_counts(&counts, &p.counts);
    end_program(&p);
    fsched_graph_destroy(g);
  }
  for (uint32_t k = 0; k < n; k++) {
    fsched_dynamic_destroy(mirror[k].d);
  }
  ck_counts(&counts, programs, tasks, raw);
}
END_TEST

FS_SUITE(submit_bytes, s) {
  TCase *t = fs_case(s, fs_test_arena);
  tcase_set_timeout(t, getenv("FSCHED_PROGRAMS") != NULL ? 0 : 120);
  FS_LOOPS(t, 0, PARTS, random_programs_leave_the_same_bytes);
}
