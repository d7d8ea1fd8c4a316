/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier on thousands of wrong programs and schedules, beside a brute-force judge.
 *
 * The verifier must refuse every mutant that the judge refuses; what is not mutated passes both;
 * and every rule of the verifier refuses something.  The verifier may be the stricter one: a wait
 * too many, a planned time or a signal nobody needs breaks nothing when executed.
 * CK_VERBOSITY=verbose prints what caught what. */
#include <stdio.h>
#include <stdlib.h>

#include "codegen/codegen.h"
#include "fsched/compile.h"
#include "fsched/verify.h"
#include "kit/gen.h"
#include "kit/mutate/mutate.h"
#include "kit/oracle/oracle.h"
#include "model/handle.h"
#include "verify/resync_mutant.h"
#include "verify/schedule/verify.h"

#include "kit/context.h"

enum { MAX_STATES = 3000, PROGRAMS = 150, MUTANTS_EACH = 2, SCHEDULES = 250 };

typedef struct caught {
  const char *code;
  uint32_t n, only; /* mutants, and those that no other rule refuses */
} caught;

static caught rules[] = {
#define FS_DIAG(id, code, summary) {code, 0, 0},
#include "base/diag.def"
#undef FS_DIAG
};
enum { N_RULES = sizeof rules / sizeof rules[0] };

static void count_rules(caught *table) {
  uint32_t distinct = 0, last = 0;
  for (uint32_t r = 0; r < N_RULES; r++) {
    bool found = false;
    for (uint32_t i = 0; i < fsched_diag_count(ctx); i++) {
      found = found || strcmp(fsched_diag_get(ctx, i)->code, table[r].code) == 0;
    }
    if (found) {
      table[r].n++;
      distinct++;
      last = r;
    }
  }
  if (distinct == 1) {
    table[last].only++;
  }
}

static bool verbose(void) {
  const char *v = getenv("CK_VERBOSITY");
  return v != NULL && strcmp(v, "verbose") == 0;
}

static void print_rules(const caught *table) {
  for (uint32_t r = 0; r < N_RULES && verbose(); r++) {
    if (strncmp(table[r].code, "verify-", 7) == 0) {
      printf("  %-22s %7u mutants, %6u by it alone\n", table[r].code, table[r].n, table[r].only);
    }
  }
}

/* Makes a small graph that has everything: the judge has to finish. */
static fsched_graph *small_graph(uint64_t seed, fs_sync_kind kind) {
  fs_gen_params p = fs_gen_any(seed, 7);
  p.views = p.ats;
  p.class_gangs = seed % 3 == 0;
  p.members = p.gangs;
  p.latencies = seed % 3 == 0 && kind == FS_SYNC_TIMELINE;
  fsched_graph *g = NULL;
  return fs_gen_graph(ctx, &p, &g) == FSCHED_OK ? g : NULL;
}

/* --- programs --- */

typedef struct mutation_tally {
  uint32_t mutants, broken, refuted, unknown;
} mutation_tally;

static void one_program_mutant(const fsched_graph *g, const fsched_program *p, uint64_t seed,
                               fs_program_mutation m, bool repair, fs_rng *rng, mutation_tally *t) {
  fsched_program *copy = fs_mutant_copy(p);
  if (fs_mutate_program(copy, m, rng)) {
    if (repair && p->view.n_commands <= 64) {
      fs_mutant_repair(copy);
    }
    fs_oracle_verdict verdict = fs_oracle_program(&copy->view, MAX_STATES);
    fsched_diag_clear(ctx);
    fs_status status = fsched_verify_program(ctx, copy, g);
    t->mutants++;
    t->unknown += verdict == FS_ORACLE_TOO_LARGE;
    t->refuted += status != FSCHED_OK;
    count_rules(rules);
    if (verdict != FS_ORACLE_RIGHT && verdict != FS_ORACLE_TOO_LARGE) {
      t->broken++;
      ck_assert_msg(status == FSCHED_WRONG, "seed %llu, %s: %s, but verify accepts it",
                    (unsigned long long)seed, fs_program_mutation_name(m), fs_oracle_name(verdict));
    }
  }
  fsched_diag_clear(ctx);
  fs_mutant_free(copy);
}

/* Mutations of syncs.  Half of the mutants get frontiers and signals that fit, so that only the
 * order is wrong. */
static bool changes_sync(unsigned m) {
  return (m >= FS_MUTATE_BARRIER_WAIT && m != FS_MUTATE_STRAY) || m == FS_MUTATE_DROP_WAIT ||
         m == FS_MUTATE_SWAP_COMMANDS || m == FS_MUTATE_WAIT_EPOCH || m == FS_MUTATE_WAIT_AXIS ||
         m == FS_MUTATE_ADD_WAIT || m == FS_MUTATE_DROP_COPY;
}

/* Mutations that mean something else on machines with barriers or with stops. */
static bool of_machine(unsigned m) {
  return changes_sync(m) || m == FS_MUTATE_STRAY || m == FS_MUTATE_FRONTIER_EPOCH ||
         m == FS_MUTATE_FRONTIER_DROP || m == FS_MUTATE_SIGNAL || m == FS_MUTATE_PLAN ||
         m == FS_MUTATE_GANG || m == FS_MUTATE_GRAPH;
}

static void mutate_all(const fsched_graph *g, const fsched_program *p, uint64_t seed,
                       mutation_tally tallies[FS_PROGRAM_MUTATION_COUNT]) {
  static const char *const kinds[] = {"timeline", "barrier", "block"};
  const char *kind = kinds[p->view.meta[0].sync];
  fs_oracle_verdict verdict = fs_oracle_program(&p->view, MAX_STATES);
  fsched_diag_clear(ctx);
  ck_assert_msg(fsched_verify_program(ctx, p, g) == FSCHED_OK, "seed %llu, %s: %s",
                (unsigned long long)seed, kind, fs_first_message(ctx));
  ck_assert_msg(verdict == FS_ORACLE_RIGHT || verdict == FS_ORACLE_TOO_LARGE, "seed %llu, %s: %s",
                (unsigned long long)seed, kind, fs_oracle_name(verdict));
  fs_rng rng = {seed};
  for (unsigned m = 0; m < FS_PROGRAM_MUTATION_COUNT; m++) {
    bool skip = p->view.meta[0].sync != FS_SYNC_TIMELINE && !of_machine(m);
    for (unsigned i = 0; i < MUTANTS_EACH && !skip; i++) {
      one_program_mutant(g, p, seed, (fs_program_mutation)m, changes_sync(m) && i > 0, &rng,
                         &tallies[m]);
    }
  }
}

/* Mutates the program as it is compiled, or after it was given barriers or stops. */
static void mutate_program_of(uint64_t seed, fs_sync_kind kind,
                              mutation_tally tallies[FS_PROGRAM_MUTATION_COUNT]) {
  fsched_graph *g = small_graph(seed, kind);
  fsched_program *p = NULL;
  if (g != NULL && fsched_compile(ctx, g, NULL, NULL, &p) == FSCHED_OK) {
    if (kind == FS_SYNC_TIMELINE) {
      mutate_all(g, p, seed, tallies);
    } else if (p->view.n_commands <= 64) {
      fsched_program *made = fs_resync_mutant(ctx, &p->view, kind, seed);
      mutate_all(NULL, made, seed, tallies);
      fs_mutant_free(made);
    }
  }
  fsched_program_destroy(p);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}

/* The rules that only a schedule can break. */
static bool of_schedules(const char *code) {
  static const char *const only[] = {
      "verify-order",     "verify-duration",      "verify-start",    "verify-precedence",
      "verify-queue",     "verify-queue-overlap", "verify-resource", "verify-concurrency",
      "verify-capacity",  "verify-address",       "verify-overlap",  "verify-twice",
      "verify-residency", "verify-access",        "verify-content",  "verify-copy"};
  for (size_t i = 0; i < sizeof only / sizeof only[0]; i++) {
    if (strcmp(code, only[i]) == 0) {
      return true;
    }
  }
  return false;
}

/* Those of proofs have suites of their own, verify_proof and verify_proof_random. */
static bool of_proofs(const char *code) {
  return strcmp(code, "verify-proof") == 0 || strcmp(code, "verify-bound") == 0;
}

START_TEST(test_programs)
{
  mutation_tally tallies[FS_PROGRAM_MUTATION_COUNT] = {{0}};
  uint32_t mutants = 0, broken = 0;
  for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
    mutate_program_of(seed, FS_SYNC_TIMELINE, tallies);
    mutate_program_of(seed, seed % 2 == 0 ? FS_SYNC_BARRIER : FS_SYNC_BLOCK, tallies);
  }
  for (unsigned m = 0; m < FS_PROGRAM_MUTATION_COUNT; m++) {
    mutants += tallies[m].mutants;
    broken += tallies[m].broken;
    if (verbose()) {
      printf("  %-24s %5u mutants, %5u broken, %5u refuted, %4u not judged\n",
             fs_program_mutation_name((fs_program_mutation)m), tallies[m].mutants,
             tallies[m].broken, tallies[m].refuted, tallies[m].unknown);
    }
    ck_assert_msg(tallies[m].mutants > 0, "%s changed nothing",
                  fs_program_mutation_name((fs_program_mutation)m));
    bool members = m == FS_MUTATE_MEMBER_ARGS || m == FS_MUTATE_MEMBER_TWICE;
    ck_assert(!members || tallies[m].refuted == tallies[m].mutants); /* the graph has others */
  }
  print_rules(rules);
  ck_assert_uint_gt(mutants, 3000);
  ck_assert_uint_gt(broken, 1000);
  for (uint32_t r = 0; r < N_RULES; r++) {
    bool mine = strncmp(rules[r].code, "verify-", 7) == 0 && !of_schedules(rules[r].code) &&
                !of_proofs(rules[r].code);
    ck_assert_msg(!mine || rules[r].n > 0, "%s caught nothing", rules[r].code);
  }
}
END_TEST

/* --- schedules --- */

static void one_schedule_mutant(const fsched_schedule *s, uint64_t seed, fs_schedule_mutation m,
                                fs_rng *rng, mutation_tally *t) {
  fs_schedule *copy = fs_schedule_copy(s->schedule);
  ck_assert_ptr_nonnull(copy);
  if (fs_mutate_schedule(copy, m, rng)) {
    const char *fault = fs_oracle_schedule(copy);
    fsched_diag_clear(ctx);
    fs_status status = fs_verify_schedule(ctx, s->schedule->graph, copy, NULL);
    t->mutants++;
    t->refuted += status != FSCHED_OK;
    count_rules(rules);
    if (fault != NULL) {
      t->broken++;
      ck_assert_msg(status == FSCHED_WRONG, "seed %llu, %s: %s, but verify accepts it",
                    (unsigned long long)seed, fs_schedule_mutation_name(m), fault);
    }
  }
  fsched_diag_clear(ctx);
  fs_schedule_destroy(copy);
}

static void mutate_schedule_of(uint64_t seed, mutation_tally tallies[FS_SCHEDULE_MUTATION_COUNT]) {
  fsched_graph *g = small_graph(seed, FS_SYNC_TIMELINE);
  fsched_schedule *s = NULL;
  if (g != NULL && fsched_compile(ctx, g, NULL, &s, NULL) == FSCHED_OK) {
    fsched_diag_clear(ctx);
    const char *fault = fs_oracle_schedule(s->schedule);
    ck_assert_msg(fsched_verify_schedule(ctx, g, s) == FSCHED_OK, "seed %llu: %s",
                  (unsigned long long)seed, fs_first_message(ctx));
    ck_assert_msg(fault == NULL, "seed %llu: %s", (unsigned long long)seed, fault);
    fs_rng rng = {seed};
    for (unsigned m = 0; m < FS_SCHEDULE_MUTATION_COUNT; m++) {
      one_schedule_mutant(s, seed, (fs_schedule_mutation)m, &rng, &tallies[m]);
    }
  }
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}

/* The generator gives no starts, so this test does. */
static void break_a_start(void) {
  static const char text[] =
      "fsched: 1\nname: s\nops:\n  - {name: a, start: 3}\n  - {name: b, start: 5}\n";
  fsched_schedule *s;
  fsched_graph *g = fs_parse(text);
  ck_assert_int_eq(fsched_compile(ctx, g, NULL, &s, NULL), FSCHED_OK);
  fs_schedule *copy = fs_schedule_copy(s->schedule);
  ck_assert_int_eq(fs_verify_schedule(ctx, g, copy, NULL), FSCHED_OK);
  copy->start[0]--;
  copy->end[0]--;
  ck_assert_int_eq(fs_verify_schedule(ctx, g, copy, NULL), FSCHED_WRONG);
  count_rules(rules);
  fs_schedule_destroy(copy);
  fsched_schedule_destroy(s);
  fsched_graph_destroy(g);
  fsched_diag_clear(ctx);
}

START_TEST(test_schedules)
{
  mutation_tally tallies[FS_SCHEDULE_MUTATION_COUNT] = {{0}};
  uint32_t mutants = 0, broken = 0;
  for (uint64_t seed = 1; seed <= SCHEDULES; seed++) {
    mutate_schedule_of(seed, tallies);
  }
  break_a_start();
  for (unsigned m = 0; m < FS_SCHEDULE_MUTATION_COUNT; m++) {
    mutants += tallies[m].mutants;
    broken += tallies[m].broken;
    if (verbose()) {
      printf("  %-32s %5u mutants, %5u broken, %5u refuted\n",
             fs_schedule_mutation_name((fs_schedule_mutation)m), tallies[m].mutants,
             tallies[m].broken, tallies[m].refuted);
    }
    ck_assert_msg(tallies[m].mutants > 0, "%s changed nothing",
                  fs_schedule_mutation_name((fs_schedule_mutation)m));
  }
  print_rules(rules);
  ck_assert_uint_gt(mutants, 2000);
  ck_assert_uint_gt(broken, 1000);
  for (uint32_t r = 0; r < N_RULES; r++) {
    ck_assert_msg(!of_schedules(rules[r].code) || rules[r].n > 0, "%s caught nothing",
                  rules[r].code);
  }
}
END_TEST

/* --- senseless programs --- */

START_TEST(test_senseless)
{
  uint32_t accepted = 0;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    fs_gen_params params = fs_gen_any(seed, 12);
    params.raw = seed % 3 == 0;
    fsched_graph *g = NULL;
    fsched_program *p = NULL;
    if (fs_gen_graph(ctx, &params, &g) == FSCHED_OK &&
        fsched_compile(ctx, g, NULL, NULL, &p) == FSCHED_OK) {
      fs_rng rng = {seed};
      size_t size;
      const void *bytes = fsched_program_bytes(p, &size);
      unsigned char *copy = malloc(size);
      for (unsigned i = 0; i < 150; i++) {
        memcpy(copy, bytes, size);
        for (unsigned k = 0; k <= i % 3; k++) {
          fs_mutate_bytes(copy, size, &rng);
        }
        fsched_program *mutant = NULL;
        if (fsched_program_load(ctx, "mutant", copy, size, &mutant) == FSCHED_OK) {
          fs_status status = fsched_verify_program(ctx, mutant, i % 2 == 0 ? g : NULL);
          ck_assert(status == FSCHED_OK || status == FSCHED_WRONG);
          accepted++;
        }
        fsched_program_destroy(mutant);
        fsched_diag_clear(ctx);
      }
      free(copy);
    }
    fsched_program_destroy(p);
    fsched_graph_destroy(g);
    fsched_diag_clear(ctx);
  }
  ck_assert_uint_gt(accepted, 250); /* the loader takes some */
}
END_TEST

FS_SUITE(mutation, s) {
  TCase *t = fs_case(s, fs_test_many_errors);
  FS_TESTS(t, test_programs, test_schedules, test_senseless);
}
