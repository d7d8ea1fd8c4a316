/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers of loops with a fault: one too many or too few, a phase or a slot that is another one's,
 * an op that does not arrive, a barrier of two guards or loops.  What the verifier accepts of that
 * runs right for all durations, and on threads.  What it refuses goes wrong or does not end for
 * some, as a rule: commands see of phases what a machine would show them. */
#include <stdlib.h>

#include "codegen/stream_kit.h"
#include "exec/sim/sim_kit.h"
#include "fsched/verify.h"
#include "kit/nest_gen.h"
#include "kit/quick.h"
#include "kit/turn.h"

#include "kit/context.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 40, INVOCATIONS = 40, MUTANTS = 4 };
#else
enum { GRAPHS = 120, INVOCATIONS = 40, MUTANTS = 6 };
#endif

#if defined(__SANITIZE_THREAD__)
static const bool may_race = false; /* what is refused touches bytes that it should not */
#else
static const bool may_race = true;
#endif

static conf c, threads;

/* NULL: it does not compile with barriers of loops. */
static fsched_program *compile_text(fs_text *t) {
  fsched_read_options o = {.size = sizeof o};
  fsched_program *p = NULL;
  fsched_graph *g;
  fs_text_add(t, "", 1);
  ck_assert(!t->failed);
  if (fsched_graph_parse(c.ctx, "loop", t->at, strlen(t->at), &o, &g) == FSCHED_OK) {
    if (fsched_compile(c.ctx, g, &fs_quick, NULL, &p) != FSCHED_OK) {
      p = NULL;
    }
    fsched_graph_destroy(g);
  }
  fs_text_drop(t);
  fsched_diag_clear(c.ctx);
  if (p != NULL && p->view.n_guards == 0) {
    fsched_program_destroy(p);
    p = NULL;
  }
  return p;
}

static fsched_program *compile_random(uint64_t k, uint64_t seed) {
  static void (*const make[])(uint64_t, fs_text *) = {fs_nest_gen_barriers, fs_loop_gen_barriers,
                                                      fs_nest_gen_joined_barriers};
  fs_text t;
  fs_text_init(&t, ctx);
  make[k % 3](seed, &t);
  return compile_text(&t);
}

/* Makes a check look further back, or less far, and says so in the waits that it stands for. */
static bool move_check(fs_stream_copy *k, const fs_stream *s, uint32_t by, fs_rng *rng) {
  uint32_t i = s->n_guard_checks == 0 ? 0 : fs_rng_below(rng, s->n_guard_checks);
  bool up = fs_rng_one_in(rng, 2);
  if (s->n_guard_checks == 0 || (!up && k->guard_checks[i].distance < by)) {
    return false;
  }
  const fs_stream_guard *g = &s->guards[k->guard_checks[i].guard];
  const fs_stream_loop_command *m = s->loop_commands;
  while (i - m->check0 >= m->n_checks) {
    m++;
  }
  for (uint32_t w = m->wait0; w < m->wait0 + m->n_waits; w++) {
    for (uint32_t p = g->producer0; p < g->producer0 + g->n_producers; p++) {
      if (s->loop_commands[k->loop_waits[w].command].op == s->producers[p] &&
          k->loop_waits[w].distance == k->guard_checks[i].distance) {
        k->loop_waits[w].distance += up ? by : -by;
        break;
      }
    }
  }
  k->guard_checks[i].distance += up ? by : -by;
  return true;
}

static uint32_t copies_of(const fs_stream *s, uint32_t guard) {
  uint32_t l = 0;
  while (guard - s->loops[l].guard0 >= s->loops[l].n_guards) {
    l++;
  }
  return s->loops[l].copies;
}

/* Lets another op arrive in the place of one. */
static bool change_producer(fs_stream_copy *k, const fs_stream *s, fs_rng *rng) {
  uint32_t guard = fs_rng_below(rng, s->n_guards), l = 0;
  while (guard - s->loops[l].guard0 >= s->loops[l].n_guards) {
    l++;
  }
  uint32_t i = s->guards[guard].producer0 + fs_rng_below(rng, s->guards[guard].n_producers);
  uint32_t op = s->loops[l].op0 + fs_rng_below(rng, s->loops[l].n_ops);
  bool other = k->producers[i] != op;
  k->producers[i] = op;
  return other;
}

/* Lets barriers of a loop in a loop count all runs, or each anew. */
static bool change_runs(fs_stream_copy *k, const fs_stream *s, fs_rng *rng) {
  uint32_t l = fs_rng_below(rng, s->n_loops);
  for (uint32_t g = 0; g < s->n_guards && s->loops[l].within != FS_NONE; g++) {
    uint32_t around = s->loops[l].within;
    bool producer = g - s->loops[around].guard0 < s->loops[around].n_guards;
    for (uint32_t p = s->guards[g].producer0;
         p < s->guards[g].producer0 + s->guards[g].n_producers && producer; p++) {
      if (s->producers[p] == s->loops[l].op) { /* one guard is of one part, or of all */
        k->guards[g].queue =
            s->loops[l].joined != 0 ? FS_NONE : s->loop_queues[s->loops[l].queue0].queue;
      }
    }
  }
  k->loops[l].joined = s->loops[l].joined == 0;
  return s->loops[l].within != FS_NONE && s->loops[l].n_guards > 0;
}

/* Lets another part of a loop whose runs are joined arrive in the place of one. */
static bool change_part(fs_stream_copy *k, const fs_stream *s, fs_rng *rng) {
  uint32_t i = fs_rng_below(rng, s->n_guards), tried = 0;
  for (; tried < s->n_guards && s->guards[i].queue == FS_NONE; tried++) {
    i = (i + 1) % s->n_guards;
  }
  if (tried == s->n_guards) {
    return false;
  }
  fs_stream_guard *g = &k->guards[i];
  const fs_stream_loop *l = &s->loops[s->loop_ops[s->producers[g->producer0]].loop];
  uint32_t was = g->queue;
  g->queue = s->loop_queues[l->queue0 + fs_rng_below(rng, l->n_queues)].queue;
  return g->queue != was;
}

typedef enum fault {
  WRONG_PARITY,
  WRONG_SLOT,
  WRONG_COUNT,
  WRONG_OP,
  SHARED,
  WRONG_RUNS,
  WRONG_PART,
  FAULTS
} fault;

static bool change(fs_stream_copy *k, const fs_stream *s, fault kind, fs_rng *rng) {
  fs_stream_guard *g = &k->guards[fs_rng_below(rng, s->n_guards)];
  uint32_t copies = copies_of(s, (uint32_t)(g - k->guards));
  switch (kind) {
    case WRONG_PARITY:
      return g->depth % copies == 0 && move_check(k, s, g->depth, rng);
    case WRONG_SLOT:
      return move_check(k, s, copies, rng);
    case WRONG_COUNT:
      g->depth += g->depth > 1 && fs_rng_one_in(rng, 2) ? UINT32_MAX : 1;
      return true;
    case WRONG_OP:
      return change_producer(k, s, rng);
    case SHARED:
      g->physical += g->physical > 0 && fs_rng_one_in(rng, 2) ? UINT32_MAX : 1;
      return true;
    case WRONG_RUNS:
      return change_runs(k, s, rng);
    case WRONG_PART:
      return change_part(k, s, rng);
    case FAULTS:
      break;
  }
  return false;
}

typedef enum outcome { RIGHT, OTHER_BYTES, STUCK } outcome;

/* The first outcome of `n` invocations that is not right.  `ends`: they do, however long threads
 * stand still, or the runner's time limit ends the test. */
static outcome run(const conf *on, const fsched_program *p, uint32_t n, bool ends) {
  outcome is = RIGHT;
  rig r;
  rig_open(&r, on, &p->view, (rig_options){0});
  for (uint32_t k = 0; k < n && is == RIGHT; k++) {
    rig_fill(&r, k);
    rig_start(&r);
    if (!ends && !rig_await_end(&r)) {
      rig_poison(&r, FSCHED_CAUSE_WRONG);
      (void)rig_await(&r);
      is = STUCK;
    } else if (rig_await(&r) != FSCHED_CAUSE_NONE || rig_compare(&r) != FSCHED_OK) {
      is = OTHER_BYTES;
    }
    fsched_diag_clear(on->ctx);
  }
  rig_close(&r);
  return is;
}

typedef struct guard_fault_counts {
  uint32_t right, refused, wrong, stuck, threads_stuck;
} guard_fault_counts;

/* A mutant that can be loaded; NULL: it cannot. */
static fsched_program *mutate(const fsched_program *p, fault kind, fs_rng *rng) {
  fs_stream_copy k = fs_stream_copy_of(p);
  fsched_program *q = NULL;
  bool changed = change(&k, &p->view, kind, rng);
  fs_stream_copy_sign(&k);
  if (!changed || fsched_program_load(c.ctx, "mutant.fsb", k.bytes, k.size, &q) != FSCHED_OK) {
    q = NULL;
  }
  free(k.bytes);
  fsched_diag_clear(c.ctx);
  return q;
}

static void judge(const fsched_program *q, uint64_t seed, guard_fault_counts *n) {
  bool accepted = fsched_verify_program(c.ctx, q, NULL) == FSCHED_OK;
  fsched_diag_clear(c.ctx);
  outcome is = run(&c, q, INVOCATIONS, false);
  ck_assert_msg(!accepted || is == RIGHT, "seed %llu: accepted, and %s", (unsigned long long)seed,
                is == STUCK ? "stuck" : "other bytes");
  if (accepted || may_race) {
    outcome on_threads = run(&threads, q, accepted ? 4 : 1, accepted);
    ck_assert_msg(!accepted || on_threads == RIGHT, "seed %llu: wrong on threads",
                  (unsigned long long)seed);
    n->threads_stuck += on_threads == STUCK;
  }
  n->right += accepted;
  n->refused += !accepted;
  n->wrong += is == OTHER_BYTES;
  n->stuck += is == STUCK;
}

/* In percent of those that are refused: the verifier wants orders also where loops are short, or
 * where the bytes do not show that something came too early. */
static const uint32_t least_caught[FAULTS] = {70, 60, 25, 70, 35, 40, 60}, least_on_threads = 10;

START_TEST(faults_of_guards)
{
  guard_fault_counts n = {0};
  fs_conformance sim, cpu = {.device = {.kind = "cpu", .threads = (uint32_t)_i % 3}};
  sim_open(&c, &sim, FSCHED_DURATIONS_ADVERSARIAL, fs_turn());
  conf_open(&threads, &cpu);
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = (fs_turn() * FAULTS + (uint64_t)_i) * GRAPHS + k;
    fs_rng rng = {seed};
    bool runs = _i == WRONG_RUNS || _i == WRONG_PART;
    fsched_program *p = compile_random(runs ? 2 : k, seed);
    for (uint32_t i = 0; i < MUTANTS && p != NULL; i++) {
      fsched_program *q = mutate(p, (fault)_i, &rng);
      if (q != NULL) {
        judge(q, seed, &n);
      }
      fsched_program_destroy(q);
    }
    fsched_program_destroy(p);
  }
  conf_close(&threads);
  conf_close(&c);
  fs_assert_seen(n.refused, GRAPHS / 8);
  fs_assert_seen(100 * (n.wrong + n.stuck), least_caught[_i] * n.refused);
  if (may_race) {
    fs_assert_seen(100 * n.threads_stuck, least_on_threads * n.refused);
  }
}
END_TEST

/* Some loops, each of which reads what an earlier one has written, or the input. */
static fsched_program *compile_chain(fs_rng *rng) {
  static const char *const queues[] = {"a", "b", "c"};
  uint32_t n = 2 + fs_rng_below(rng, 3), trip = 1 + fs_rng_below(rng, 6);
  fs_text t;
  fs_text_init(&t, ctx);
  fs_text_puts(&t,
               "fsched: 1\n"
               "target:\n"
               "  queues: [{name: a, class: a}, {name: b, class: b}, {name: c, class: c}]\n"
               "  memories: [{name: m}]\n"
               "  sync: barrier\n"
               "  barriers: {count: auto, slots: 2}\n"
               "buffers:\n"
               "  - {name: y0, size: 96, memory: m, io: input}\n");
  for (uint32_t k = 1; k <= n; k++) {
    fs_text_printf(&t, "  - {name: y%u, size: 96, memory: m, io: output}\n", k);
  }
  fs_text_puts(&t, "ops:\n");
  for (uint32_t k = 1; k <= n; k++) {
    uint32_t from = fs_rng_one_in(rng, 4) ? 0 : k - 1, q = fs_rng_below(rng, 3);
    fs_text_printf(&t,
                   "  - loop: L%u\n    trip: %u\n    buffers: {t%u: {depth: %u}}\n    ops:\n"
                   "      - {name: f%u, on: %s, time: %u, args: [{in: y%u, at: {offset: 0, length: "
                   "16, step: [16]}}, {out: t%u, size: 16}]}\n"
                   "      - {name: g%u, on: %s, time: %u, args: [{in: t%u}, {out_existing: y%u, "
                   "at: {offset: 0, length: 16, step: [16]}}]}\n",
                   k, trip, k, 1 + fs_rng_below(rng, 3), k, queues[q], 1 + fs_rng_below(rng, 5),
                   from, k, k, queues[(q + 1 + fs_rng_below(rng, 2)) % 3], 1 + fs_rng_below(rng, 5),
                   k, k);
  }
  return compile_text(&t);
}

/* Whether some physical barrier is that of two loops. */
static bool share(const fs_stream *s) {
  bool found = false;
  for (uint32_t a = 0; a < s->n_guards; a++) {
    for (uint32_t b = 0; b < a; b++) {
      const fs_stream_guard *x = &s->guards[a], *y = &s->guards[b];
      found =
          found || (x->physical < y->physical + y->depth && y->physical < x->physical + x->depth);
    }
  }
  return found;
}

/* Gives a guard the barriers of another one, or its own again. */
static fsched_program *share_more(const fsched_program *p, fs_rng *rng) {
  fs_stream_copy k = fs_stream_copy_of(p);
  fsched_program *q = NULL;
  uint32_t n = p->view.n_guards;
  k.guards[fs_rng_below(rng, n)].physical = p->view.guards[fs_rng_below(rng, n)].physical;
  fs_stream_copy_sign(&k);
  ck_fs(c.ctx, fsched_program_load(c.ctx, "mutant.fsb", k.bytes, k.size, &q));
  free(k.bytes);
  return q;
}

START_TEST(loops_that_share)
{
  guard_fault_counts n = {0};
  fs_conformance sim, cpu = {.device = {.kind = "cpu"}};
  uint32_t shared = 0;
  sim_open(&c, &sim, FSCHED_DURATIONS_ADVERSARIAL, fs_turn());
  conf_open(&threads, &cpu);
  for (uint64_t k = 0; k < GRAPHS; k++) {
    uint64_t seed = (fs_turn() + 1000) * GRAPHS + k;
    fs_rng rng = {seed};
    fsched_program *p = compile_chain(&rng);
    if (p == NULL) { /* no op waits for another one */
      continue;
    }
    guard_fault_counts one = {0};
    judge(p, seed, &one);
    ck_assert_msg(one.right == 1, "seed %llu: refused", (unsigned long long)seed);
    shared += share(&p->view);
    for (uint32_t i = 0; i < MUTANTS; i++) {
      fsched_program *q = share_more(p, &rng);
      judge(q, seed, &n);
      fsched_program_destroy(q);
    }
    fsched_program_destroy(p);
  }
  conf_close(&threads);
  conf_close(&c);
  fs_assert_seen(shared, GRAPHS / 4);
  fs_assert_seen(n.right, GRAPHS / 4);
  fs_assert_seen(n.stuck, GRAPHS / 8);
  fs_assert_seen(2 * (n.wrong + n.stuck), n.refused);
}
END_TEST

FS_SUITE(sim_guards, s) {
  TCase *t = fs_case(s, fs_test_context);
  FS_LOOPS(t, 0, FAULTS, faults_of_guards);
  FS_TESTS(t, loops_that_share);
}
