/* SPDX-License-Identifier: Apache-2.0 */
/* Programs with barriers have no superfluous update or wait: the program verifier refuses a program
 * without any one of them.  The exception is an op that takes several barriers, which stay
 * together: it is not checked which of them stand for which of its members, and what others know of
 * these.  And a wait for a slow op of the same queue tells what no frontier can say, so that one
 * which only came with a small number of barriers may be left out.  Programs that the published
 * method makes are verified, or are refused. */
#include <stdlib.h>

#include "base/context.h"
#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/golden_case.h"
#include "kit/mutate/mutate.h"

#include "kit/context.h"

#define REC(p, id, type) ((type *)(uintptr_t)(p)->view.id)

typedef struct barrier_exact_tally {
  uint32_t programs, waits, updates, free_waits, free_updates, shared;
  /* Waits and updates that may be left out, of barriers of ops that take several. */
  uint32_t together;
  uint32_t own; /* waits for slow ops of the same queue that may be left out */
} barrier_exact_tally;

/* --- what may be left out */

static bool still_verifies(const fsched_program *p, const fsched_graph *g) {
  bool fine = fsched_verify_program(ctx, p, g) == FSCHED_OK;
  fsched_diag_clear(ctx);
  return fine;
}

/* Does the op of a command update another barrier than b, too? */
static bool takes_another(const fs_stream *s, const fs_stream_command *c, uint32_t b) {
  bool another = false;
  for (uint32_t i = 0; i < s->n_commands; i++) {
    const fs_stream_command *other = &s->commands[i];
    if (other == c || (c->kind == FS_COMMAND_RUN && other->kind == FS_COMMAND_RUN &&
                       other->target == c->target)) {
      for (uint32_t k = 0; k < other->n_barrier_updates; k++) {
        another = another || s->barrier_updates[other->barrier_update0 + k].barrier != b;
      }
    }
  }
  return another;
}

/* Does one of the ops that update the barrier take several? */
static bool stays_together(const fs_stream *s, uint32_t b) {
  bool stays = false;
  for (uint32_t i = 0; i < s->n_commands; i++) {
    const fs_stream_command *c = &s->commands[i];
    for (uint32_t k = 0; k < c->n_barrier_updates; k++) {
      stays = stays ||
              (s->barrier_updates[c->barrier_update0 + k].barrier == b && takes_another(s, c, b));
    }
  }
  return stays;
}

/* Is the barrier updated by commands of the queue of `command` alone? */
static bool of_own_queue(const fs_stream *s, uint32_t command, uint32_t b) {
  bool own = true;
  for (uint32_t q = 0; q < s->n_queues; q++) {
    uint32_t first = s->queues[q].command0, end = first + s->queues[q].n_commands;
    for (uint32_t i = first; i < end && (command < first || command >= end); i++) {
      for (uint32_t k = 0; k < s->commands[i].n_barrier_updates; k++) {
        own = own && s->barrier_updates[s->commands[i].barrier_update0 + k].barrier != b;
      }
    }
  }
  return own;
}

/* Counts what may be left out of barrier b; `whole` is the program as it was. */
static void count_free(const fs_stream *whole, uint32_t b, uint32_t *n_free,
                       barrier_exact_tally *sum) {
  bool together = stays_together(whole, b);
  *n_free += !together;
  sum->together += together;
}

static void try_waits(fsched_program *p, const fsched_graph *g, const fs_stream *whole,
                      fs_stream_command *c, barrier_exact_tally *sum) {
  uint32_t *at = REC(p, barrier_waits, uint32_t) + c->barrier_wait0;
  c->n_barrier_waits--;
  /* The last place is the one that is left out. */
  for (uint32_t k = 0; k <= c->n_barrier_waits; k++) {
    uint32_t b = at[k];
    memmove(at + k, at + k + 1, (c->n_barrier_waits - k) * sizeof *at);
    REC(p, barriers, fs_stream_barrier)[b].n_consumers--;
    if (still_verifies(p, g)) {
      uint32_t command = (uint32_t)(c - REC(p, commands, fs_stream_command));
      bool own = of_own_queue(whole, command, b);
      count_free(whole, b, own ? &sum->own : &sum->free_waits, sum);
    }
    REC(p, barriers, fs_stream_barrier)[b].n_consumers++;
    memmove(at + k + 1, at + k, (c->n_barrier_waits - k) * sizeof *at);
    at[k] = b;
  }
  c->n_barrier_waits++;
}

static void try_updates(fsched_program *p, const fsched_graph *g, const fs_stream *whole,
                        fs_stream_command *c, barrier_exact_tally *sum) {
  fs_stream_update *at = REC(p, barrier_updates, fs_stream_update) + c->barrier_update0;
  c->n_barrier_updates--;
  for (uint32_t k = 0; k <= c->n_barrier_updates; k++) {
    fs_stream_update u = at[k];
    memmove(at + k, at + k + 1, (c->n_barrier_updates - k) * sizeof *at);
    REC(p, barriers, fs_stream_barrier)[u.barrier].n_producers--;
    if (still_verifies(p, g)) {
      count_free(whole, u.barrier, &sum->free_updates, sum);
    }
    REC(p, barriers, fs_stream_barrier)[u.barrier].n_producers++;
    memmove(at + k + 1, at + k, (c->n_barrier_updates - k) * sizeof *at);
    at[k] = u;
  }
  c->n_barrier_updates++;
}

static void try_program(const fsched_program *p, const fsched_graph *g, barrier_exact_tally *sum) {
  fsched_program *copy = fs_mutant_copy(p);
  fs_stream *s = &copy->view;
  for (uint32_t i = 0; i < s->n_commands; i++) {
    fs_stream_command *c = REC(copy, commands, fs_stream_command) + i;
    if (c->n_barrier_waits > 0) {
      try_waits(copy, g, &p->view, c, sum);
    }
    if (c->n_barrier_updates > 0) {
      try_updates(copy, g, &p->view, c, sum);
    }
  }
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    sum->shared += s->barriers[b].n_producers > 1;
  }
  sum->programs++;
  sum->waits += s->n_barrier_waits;
  sum->updates += s->n_barrier_updates;
  fs_mutant_free(copy);
}

/* --- random graphs --- */

static fsched_graph *graph_of(const fs_gen_params *p, uint32_t n_slots, uint32_t most_demand) {
  fs_rng r = {p->seed};
  fsched_graph *g;
  ck_fs(ctx, fs_gen_graph(ctx, p, &g));
  g->target.barrier_slots = n_slots;
  g->target.frontier_capacity = 64; /* so that all that is known is in the program */
  ck_fs(ctx, fs_new(&g->arena, &g->op_slots, g->n_ops));
  for (uint32_t op = 0; op < g->n_ops; op++) {
    g->op_slots[op] = 1 + fs_rng_below(&r, most_demand);
  }
  return g;
}

static fsched_graph *graph(uint64_t seed, bool gangs, uint32_t n_slots, uint32_t most_demand) {
  fs_gen_params p = fs_gen_any(seed, 30);
  p.n_queues = p.n_queues <= 1 ? 4 : p.n_queues;
  p.gangs = gangs;
  p.latencies = seed % 2 == 0;
  return graph_of(&p, n_slots, most_demand);
}

static void compile_one(const fsched_graph *g, uint64_t seed, uint32_t barriers,
                        barrier_exact_tally *sum) {
  fsched_compile_options o = {.size = sizeof o, .verify = 1, .barriers = barriers};
  fsched_program *p;
  fs_status status = fsched_compile(ctx, g, &o, NULL, &p);
  if (status == FSCHED_OK) {
    ck_fs(ctx, fsched_verify_program(ctx, p, g));
    try_program(p, g, sum);
    fsched_program_destroy(p);
  } else if (status != FSCHED_INFEASIBLE || barriers == FSCHED_BARRIERS_AUTO) {
    ck_abort_msg("seed %llu: %s", (unsigned long long)seed, fs_test_diags(ctx));
  }
  fsched_diag_clear(ctx);
}

static barrier_exact_tally compile_seeds(uint64_t from, uint64_t to, bool gangs, uint32_t n_slots,
                                         uint32_t most_demand) {
  barrier_exact_tally sum = {0};
  const uint32_t counts[] = {1, 2, 3, 4, 6, FSCHED_BARRIERS_AUTO};
  for (uint64_t seed = from; seed < to; seed++) {
    fsched_graph *g = graph(seed, gangs, n_slots, most_demand);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
      compile_one(g, seed, counts[i], &sum);
    }
    fsched_graph_destroy(g);
  }
  return sum;
}

START_TEST(nothing_may_go)
{
  barrier_exact_tally sum = compile_seeds(1, 31, false, 1 + 3 * (uint32_t)_i, 1);
  ck_assert_uint_gt(sum.programs, 100);
  ck_assert_uint_eq(sum.free_waits, 0);
  ck_assert_uint_eq(sum.free_updates, 0);
  ck_assert_uint_lt(500 * sum.own, sum.waits);
  ck_assert_uint_eq(sum.together, 0);
  ck_assert(_i == 0 || sum.shared > 50);
}
END_TEST

/* With four slots or more no gang is too large for one barrier. */
START_TEST(gangs_keep_nothing)
{
  barrier_exact_tally sum = compile_seeds(1, 31, true, 1 + (uint32_t)_i, 1);
  ck_assert_uint_gt(sum.programs, 100);
  ck_assert_uint_eq(sum.free_waits, 0);
  ck_assert_uint_eq(sum.free_updates, 0);
  ck_assert(_i < 3 || (sum.together == 0 && sum.shared > 50));
}
END_TEST

START_TEST(parts_stay_together)
{
  barrier_exact_tally sum = compile_seeds(1, 31, false, 4, 6);
  ck_assert_uint_gt(sum.programs, 100);
  ck_assert_uint_gt(sum.shared, 50);
  ck_assert_uint_eq(sum.free_updates, 0);
}
END_TEST

/* --- the published method --- */

static uint32_t publish(const fsched_graph *g, uint64_t seed, uint32_t n_barriers,
                        uint32_t refused[2]) {
  fsched_compile_options o = {
      .size = sizeof o, .barriers = n_barriers, .barrier_method = FSCHED_BARRIERS_PUBLISHED};
  fsched_program *p;
  fs_status status = fsched_compile(ctx, g, &o, NULL, &p);
  if (status == FSCHED_OK) {
    ck_fs(ctx, fsched_verify_program(ctx, p, g));
    uint32_t n = p->view.n_barriers;
    fsched_program_destroy(p);
    return n;
  }
  const fsched_diag *d = fsched_diag_get(ctx, fsched_diag_count(ctx) - 1);
  bool slots = strcmp(d->code, "too-few-barriers") == 0;
  if (status != FSCHED_INFEASIBLE || (!slots && strcmp(d->code, "barrier-deadlock") != 0)) {
    ck_abort_msg("seed %llu: %s", (unsigned long long)seed, d->message);
  }
  refused[slots]++;
  fsched_diag_clear(ctx);
  return 0;
}

START_TEST(published_verifies_or_is_refused)
{
  uint32_t n_barriers = 0;
  uint32_t refused[2] = {0, 0};
  for (uint64_t seed = 1; seed <= 200; seed++) {
    fs_gen_params params = {
        .seed = seed, .n_ops = 2 + (uint32_t)seed % 5, .n_queues = 5, .gangs = seed % 2 == 0};
    fsched_graph *g = graph_of(&params, 1 + (uint32_t)seed % 3, 3);
    for (uint32_t n = 1; n <= 16; n *= 2) {
      n_barriers += publish(g, seed, n, refused);
    }
    fsched_graph_destroy(g);
  }
  ck_assert_uint_gt(n_barriers, 50);
  ck_assert_uint_gt(refused[0], 50);
  ck_assert_uint_gt(refused[1], 50);
}
END_TEST

static void refused_owner(const char *text, const char *message) {
  fsched_compile_options o = {.size = sizeof o, .barrier_method = FSCHED_BARRIERS_PUBLISHED};
  fsched_program *p;
  fsched_graph *g = fs_parse(text);
  ck_assert_int_eq(fsched_compile(ctx, g, &o, NULL, &p), FSCHED_INFEASIBLE);
  ck_assert_uint_eq(fsched_diag_count(ctx), 1);
  const fsched_diag *d = fsched_diag_get(ctx, 0);
  ck_assert_str_eq(d->code, "too-few-barriers");
  ck_assert_str_eq(d->message, message);
  ck_assert_str_eq(d->hint,
                   "more barriers do not help; the default method gives it several: "
                   "--barrier-method best");
  ck_assert_uint_eq(d->line, 8);
  fsched_diag_clear(ctx);
  o.barrier_method = FSCHED_BARRIERS_BEST;
  ck_fs(ctx, fsched_compile(ctx, g, &o, NULL, &p));
  ck_fs(ctx, fsched_verify_program(ctx, p, g));
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
}

#define TARGET                                                          \
  "fsched: 1\n"                                                         \
  "name: owner\n"                                                       \
  "target:\n"                                                           \
  "  sync: barrier\n"                                                   \
  "  barriers: {count: 8, slots: 2}\n"                                  \
  "  queues: [{name: p}, {name: q}, {name: r}, {name: s}, {name: t}]\n" \
  "ops:\n"

START_TEST(published_gives_one)
{
  refused_owner(TARGET
                "  - {name: a, on: p, slots: 3, size: 4}\n"
                "  - {name: b, on: q, args: [{in: a}]}\n",
                "op 'a' needs 2 barriers of 2 slots at once, and the published barrier method "
                "gives it 1");
  refused_owner(TARGET
                "  - {name: a, on: [p, q, r, t], slots: 2, size: 4}\n"
                "  - {name: b, on: s, args: [{in: a}]}\n",
                "op 'a' needs 4 barriers of 2 slots at once, and the published barrier method "
                "gives it 1");
}
END_TEST

FS_SUITE(barrier_exact, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, 3, nothing_may_go);
  FS_LOOPS(t, 0, 5, gangs_keep_nothing);
  FS_TESTS(t, parts_stay_together, published_verifies_or_is_refused, published_gives_one);
}
