/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation as a machine with barriers, and as one with nothing but syncs.
 *
 * Random graphs, made into such programs, run under adversarial durations.  Every digest and every
 * output must be that of the sequential evaluation, and the times must be those of the machine: no
 * command starts before what it waits for is over, and none that updates a barrier before all
 * commands have started that waited for the earlier uses of its physical barrier.  Then one barrier
 * wait, or sync, is taken away; if the verifier says that it was needed, some durations must show
 * it. */
#include "exec/sim/sim_kit.h"
#include "fsched/verify.h"
#include "kit/resync.h"
#include "kit/suite.h"
#include "model/stream/order.h"
#include "model/sync.h"

/* LEAST_CAUGHT is in percent of the streams that lack something.  What is not found is ordered by
 * physical barriers that are handed over, which the verifier does not consider, or does not show in
 * the bytes; among a few streams there may be several such. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 20, INVOCATIONS = 5, STREAMS = 4, LEAST_CAUGHT = 90 };
#else
enum { GRAPHS = 120, INVOCATIONS = 40, STREAMS = 20, LEAST_CAUGHT = 97 };
#endif

static fs_conformance sim;
static conf c;

/* ---- right for all durations */

/* Checks that producers were held back as the machine does; returns whether any was held back by
 * that alone. */
static uint32_t check_gates(const rig *r) {
  uint32_t held = 0;
  for (uint32_t k = 0; k < r->s->n_commands; k++) {
    const fs_stream_command *command = &r->s->commands[k];
    uint64_t free = command->epoch > 1 ? r->record.end[k - 1] : 0, gates = 0;
    for (uint32_t i = r->points.point0[k]; i < r->points.point0[k + 1]; i++) {
      const fs_stream_wait *w = &r->points.point[i];
      free = fs_max(free, r->record.end[r->s->queues[w->axis].command0 + w->epoch - 1]);
    }
    for (uint32_t g = r->points.gate0[k]; g < r->points.gate0[k + 1]; g++) {
      gates = fs_max(gates, r->record.begin[r->points.gate[g]]);
    }
    if (gates > r->record.begin[k]) {
      ck_abort_msg("command %u begins at %llu, before the physical barrier is free at %llu", k,
                   (unsigned long long)r->record.begin[k], (unsigned long long)gates);
    }
    held += command->gang_axis == FS_NONE && gates > free && r->record.begin[k] == gates;
  }
  return held;
}

/* The loop's number is the kind of sync. */
START_TEST(right_for_all_durations)
{
  uint32_t held = 0, n = 0;
  sim_open(&c, &sim, FSCHED_DURATIONS_ADVERSARIAL, (uint64_t)_i);
  for (uint64_t seed = 1000; seed < 1000 + GRAPHS; seed++) {
    rig r;
    fsched_program *p = conf_compile_as(&c, seed, (fs_sync_kind)_i);
    rig_open(&r, &c, &p->view, (rig_options){.timed = true});
    for (uint32_t k = 0; k < INVOCATIONS; k++, n++) {
      rig_run(&r, k);
      held += check_gates(&r);
    }
    rig_close(&r);
    fsched_program_destroy(p);
  }
  ck_assert(_i == FS_SYNC_BARRIER ? held > n / 10 : held == 0);
  conf_close(&c);
}
END_TEST

/* With planned durations the times are the same in every invocation. */
START_TEST(same_every_time)
{
  sim_open(&c, &sim, FSCHED_DURATIONS_PLANNED, 0);
  for (uint64_t seed = 1; seed <= GRAPHS / 4; seed++) {
    rig r;
    fsched_program *p = conf_compile_as(&c, seed, (fs_sync_kind)_i);
    uint64_t ns = 0;
    rig_open(&r, &c, &p->view, (rig_options){.timed = true});
    for (uint32_t k = 0; k < 4; k++) {
      rig_run(&r, k);
      ck_assert(k == 0 || r.ns == ns);
      ns = r.ns;
    }
    rig_close(&r);
    fsched_program_destroy(p);
  }
  conf_close(&c);
}
END_TEST

/* ---- machines, to the tick */

static rig r;

static void run_ticks(const fs_stream *s, const uint64_t (*times)[2]) {
  rig_open(&r, &c, s, (rig_options){.timed = true});
  for (uint64_t k = 1; k <= 3; k++) {
    rig_run(&r, k);
    for (uint32_t i = 0; i < s->n_commands; i++) {
      ck_assert_msg(
          r.record.begin[i] == times[i][0] * 1000 && r.record.end[i] == times[i][1] * 1000,
          "command %u: [%llu, %llu), not [%llu, %llu) us", i, (unsigned long long)r.record.begin[i],
          (unsigned long long)r.record.end[i], (unsigned long long)times[i][0],
          (unsigned long long)times[i][1]);
    }
  }
  rig_close(&r);
}

/* Makes ops without data, each with its time, in the order of queues. */
static void make_ops(maker *m, uint32_t n_queues, const uint32_t *per_queue, const uint64_t *time) {
  char name[16];
  for (uint32_t q = 0; q < n_queues; q++) {
    (void)snprintf(name, sizeof name, "q%u", q);
    (void)mk_queue(m, name);
  }
  for (uint32_t q = 0, op = 0; q < n_queues; q++) {
    for (uint32_t i = 0; i < per_queue[q]; i++, op++) {
      (void)snprintf(name, sizeof name, "op%u", op);
      (void)mk_op(m, name);
      fs_stream_command *k = mk_run(m, q, op);
      k->end = time[op];
      k->signal = 0;
    }
  }
}

/* q0: a (3) updates A. q1: x (10), then b, which waits for A (1) and is the consumer. q2: c (1)
 * updates C, which has A's physical barrier: c is held back until b starts at 10, though A's
 * producers were over at 3. q3: d waits for C. */
START_TEST(physical_barrier_is_free_when_consumers_have_started)
{
  static const uint32_t per_queue[] = {1, 2, 1, 1};
  static const uint64_t time[] = {3, 10, 1, 1, 2};
  static const fs_stream_barrier barriers[] = {{0, 0, 1, 1}, {0, 1, 1, 1}};
  static const uint32_t waits[] = {0, 1};
  static const fs_stream_update updates[] = {{0, 1}, {1, 1}};
  static const uint64_t times[][2] = {{0, 3}, {0, 10}, {10, 11}, {10, 11}, {11, 13}};
  sim_open(&c, &sim, FSCHED_DURATIONS_PLANNED, 0);
  fs_stream *s = &c.m->program.view;
  make_ops(c.m, 4, per_queue, time);
  c.m->meta.sync = FS_SYNC_BARRIER;
  s->barriers = barriers, s->n_barriers = 2;
  s->barrier_waits = waits, s->n_barrier_waits = 2;
  s->barrier_updates = updates, s->n_barrier_updates = 2;
  c.m->commands[0].n_barrier_updates = 1;
  c.m->commands[2].n_barrier_waits = 1;
  c.m->commands[3].barrier_update0 = 1, c.m->commands[3].n_barrier_updates = 1;
  c.m->commands[4].barrier_wait0 = 1, c.m->commands[4].n_barrier_waits = 1;
  run_ticks(s, times);
  conf_close(&c);
}
END_TEST

/* q0: 0 (4), 1 (4), 2 (4), counting.  q1: 3 (1), 4 (1), 5 (1).  Issued: 0 1 3 | 2 left | 4 2 | full
 * | 5; the counting sync keeps the last of 0 and 1, so 4 is issued at 4; 5 when 2 is over. */
START_TEST(sequencer)
{
  static const uint32_t per_queue[] = {3, 3}, issue[] = {0, 1, 4, 2, 3, 5};
  static const uint64_t time[] = {4, 4, 4, 1, 1, 1};
  static const fs_stream_stop stops[] = {{.at = 3, .queue = 0, .keep = 1},
                                         {.at = 5, .queue = FS_NONE}};
  static const uint64_t times[][2] = {{0, 4}, {4, 8}, {8, 12}, {0, 1}, {4, 5}, {12, 13}};
  sim_open(&c, &sim, FSCHED_DURATIONS_PLANNED, 0);
  fs_stream *s = &c.m->program.view;
  make_ops(c.m, 2, per_queue, time);
  c.m->meta.sync = FS_SYNC_BLOCK;
  s->stops = stops, s->n_stops = 2;
  for (uint32_t i = 0; i < s->n_commands; i++) {
    c.m->commands[i].issue = issue[i];
  }
  run_ticks(s, times);
  conf_close(&c);
}
END_TEST

/* A sync stands between the members of a gang: the sequencer waits for the first, which waits for
 * the second. */
START_TEST(sync_within_a_gang)
{
  static const fs_stream_stop stops[] = {{.at = 1, .queue = FS_NONE}};
  static const uint32_t per_queue[] = {1, 1};
  static const uint64_t time[] = {1, 1};
  sim_open(&c, &sim, FSCHED_DURATIONS_PLANNED, 0);
  fs_stream *s = &c.m->program.view;
  make_ops(c.m, 2, per_queue, time);
  c.m->meta.sync = FS_SYNC_BLOCK;
  s->stops = stops, s->n_stops = 1;
  uint32_t tp = mk_collective(c.m, "tp", 2);
  for (uint32_t i = 0; i < 2; i++) {
    mk_gang(&c.m->commands[i], tp, 1);
    c.m->commands[i].issue = i;
    c.m->commands[i].target = 0;
  }
  fsched_replay_options o = {.size = sizeof o, .device = c.device, .timeout_ms = 20};
  fsched_replay_result result = {.size = sizeof result};
  fsched_diag_clear(c.ctx);
  ck_assert_int_eq(fsched_replay(c.ctx, &c.m->program, &o, &result), FSCHED_REPLAY);
  ck_assert_str_eq(fsched_diag_get(c.ctx, 0)->message,
                   "queue 'q0' is stuck at command 1 (op 'op0'): it waits for epoch 1 of 'tp', "
                   "which has reached 0");
  ck_assert_str_eq(fsched_diag_get(c.ctx, 1)->message,
                   "queue 'q1' is stuck at command 1 (op 'op0'): it is issued after sync 0, which "
                   "waits for all that was issued before");
  fsched_diag_clear(c.ctx);
  conf_close(&c);
}
END_TEST

/* ---- streams that lack something */

/* Finds what is over before each command of up to 64 starts, whatever the durations: by queues,
 * waits, and by being held back until another has started. */
static void find_known(const fs_stream *s, uint64_t *known) {
  fs_arena arena;
  fs_stream_order o;
  fs_arena_init(&arena, c.ctx);
  conf_ok(&c, fs_stream_order_find(&arena, s, &o), "order");
  ck_assert_uint_eq(o.n_runnable, s->n_commands);
  for (uint32_t i = 0; i < s->n_commands; i++) {
    uint32_t k = o.order[i];
    known[k] = s->commands[k].epoch > 1 ? known[k - 1] | UINT64_C(1) << (k - 1) : 0;
    for (uint32_t w = o.points.point0[k]; w < o.points.point0[k + 1]; w++) {
      uint32_t from = fs_stream_source(s, &o, &o.points.point[w], o.queue[k]);
      known[k] |= known[from] | UINT64_C(1) << from;
    }
    for (uint32_t g = o.points.gate0[k]; g < o.points.gate0[k + 1]; g++) {
      known[k] |= known[o.points.gate[g]];
    }
  }
  fs_arena_release(&arena);
}

/* Whether the mutant's machine orders less; the verifier's answer does not count gates. */
static bool orders_less(const fs_stream *s, const fs_stream *mutant) {
  uint64_t before[64], after[64];
  find_known(s, before);
  find_known(mutant, after);
  bool less = false;
  for (uint32_t k = 0; k < s->n_commands; k++) {
    less = less || (before[k] & ~after[k]) != 0;
  }
  return less;
}

/* Drops each barrier wait, or each sync, in turn. */
static void drop_each(const fsched_program *p, sim_counts *n) {
  const fs_stream *s = &p->view;
  uint32_t all = s->meta->sync == FS_SYNC_BARRIER ? s->n_barrier_waits : s->n_stops;
  for (uint32_t i = 0; i < all; i++) {
    fsched_program *mutant = fs_resync_drop(c.ctx, s, i);
    n->dropped++;
    if (orders_less(s, &mutant->view)) {
      sim_judge(&c, mutant, 5 * s->n_commands, n);
    }
    fsched_program_destroy(mutant);
  }
}

START_TEST(missing_syncs_are_found)
{
  sim_counts n = {0};
  sim_open(&c, &sim, FSCHED_DURATIONS_ADVERSARIAL, 0);
  for (uint64_t seed = 1; seed <= STREAMS; seed++) {
    fs_gen_params params = sim_params(seed);
    fsched_program *p = sim_compile(&c, &params);
    bool by_guard;
    if (p->view.n_commands <= 64) {
      fsched_program *q = fs_resync(c.ctx, &p->view, (fs_sync_kind)_i, seed);
      conf_ok(&c, fsched_verify_program(c.ctx, q, NULL), "verify");
      ck_assert(!sim_goes_wrong(&c, q, 5 * p->view.n_commands, &by_guard));
      drop_each(q, &n);
      fsched_program_destroy(q);
    }
    fsched_program_destroy(p);
  }
  conf_close(&c);
  sim_check_counts(&n, 2 * STREAMS, LEAST_CAUGHT);
}
END_TEST

FS_SUITE(sim_sync, s) {
  TCase *t = fs_case(s, NULL);
  FS_LOOPS(t, FS_SYNC_BARRIER, FS_SYNC_BLOCK + 1, right_for_all_durations, same_every_time,
           missing_syncs_are_found);
  FS_TESTS(t, physical_barrier_is_free_when_consumers_have_started, sequencer, sync_within_a_gang);
}
