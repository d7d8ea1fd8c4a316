/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU's barriers seen from inside: how many there are, and in what state invocations leave
 * them. */
#include "base/futex.h"
#include "exec/conformance/conformance_kit.h"
#include "exec/cpu/cpu.h"
#include "exec/cuda/plan.h"
#include "kit/resync.h"
#include "kit/suite.h"
#include "model/sync.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { GRAPHS = 8, ROUNDS = 50, REPEAT = 200 };
#else
enum { GRAPHS = 40, ROUNDS = 200, REPEAT = 2000 };
#endif

static const fs_conformance cpu = {.device = {.kind = "cpu"}};
static conf c;

static void open_cpu(void) { conf_open(&c, &cpu); }
static void close_cpu(void) { conf_close(&c); }

static uint32_t distinct(const fs_stream *s) {
  uint32_t n = 0;
  for (uint32_t b = 0; b < s->n_barriers; b++) {
    n += s->barriers[b].use == 0;
  }
  return n;
}

/* ---- how many */

START_TEST(as_many_barriers_as_are_used)
{
  uint32_t shared = 0;
  for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
    fsched_program *p = conf_compile_as(&c, seed, FS_SYNC_BARRIER);
    const fs_stream *s = &p->view;
    rig r;
    rig_open(&r, &c, s, (rig_options){0});
    ck_assert_uint_eq(r.instance->physicals.n, distinct(s));
    ck_assert_uint_eq(r.instance->n_timelines,
                      s->n_axes + 1 + 2 * r.io.n_given + r.instance->physicals.n);
    shared += r.instance->physicals.n < s->n_barriers;
    rig_close(&r);
    fsched_program_destroy(p);
  }
  ck_assert_uint_gt(shared, GRAPHS / 2);
}
END_TEST

/* The ids of physical barriers need not begin at 0. */
START_TEST(ids_with_gaps)
{
  for (uint64_t seed = 1; seed <= GRAPHS / 4; seed++) {
    fsched_program *p = conf_compile_as(&c, seed, FS_SYNC_BARRIER);
    rig r;
    fs_stream_barrier *b = (fs_stream_barrier *)(uintptr_t)p->view.barriers;
    for (uint32_t i = 0; i < p->view.n_barriers; i++) {
      b[i].physical = p->view.n_barriers - 1 - b[i].physical;
    }
    rig_open(&r, &c, &p->view, (rig_options){0});
    ck_assert_uint_eq(r.instance->physicals.n, distinct(&p->view));
    rig_run(&r, 1);
    rig_run(&r, 2);
    rig_close(&r);
    fsched_program_destroy(p);
  }
}
END_TEST

/* ---- how they are left */

/* After k invocations, when nothing runs, barriers are in their first use, untouched. */
static void check_left(const rig *r) {
  const fs_instance *x = r->instance;
  for (uint32_t i = 0; i < x->physicals.n; i++) {
    const fs_physical *p = &x->physical[i];
    const fs_stream_barrier *b = &r->s->barriers[fs_physical_barrier(&x->physicals, i, 0)];
    ck_assert_uint_eq(b->use, 0);
    ck_assert_uint_eq(p->period, 2 * (uint64_t)fs_physical_uses(&x->physicals, i));
    ck_assert_uint_eq(atomic_load(&p->phase->epoch), r->n_runs * p->period + 1);
    ck_assert_uint_eq(atomic_load(&p->producers), b->n_producers);
    ck_assert_uint_eq(atomic_load(&p->consumers), b->n_consumers);
  }
}

START_TEST(left_as_found)
{
  for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
    fsched_program *p = conf_compile_as(&c, seed, FS_SYNC_BARRIER);
    rig r;
    rig_open(&r, &c, &p->view, (rig_options){0});
    check_left(&r);
    for (uint64_t k = 0; k < 5; k++) {
      rig_run(&r, k);
      check_left(&r);
    }
    rig_close(&r);
    fsched_program_destroy(p);
  }
}
END_TEST

/* Invocations are poisoned at later and later moments; they have no effects, so counting is most of
 * what happens. */
START_TEST(left_as_found_after_poison)
{
  fs_rng rng = {1};
  uint32_t met = 0;
  for (uint64_t seed = 1; seed <= GRAPHS / 4; seed++) {
    fsched_program *p = conf_compile_as(&c, seed, FS_SYNC_BARRIER);
    rig r;
    rig_open(&r, &c, &p->view, (rig_options){.empty = true});
    for (uint32_t k = 0; k < ROUNDS; k++) {
      rig_fill(&r, k);
      rig_start(&r);
      for (uint32_t i = fs_rng_below(&rng, 3000); i > 0; i--) {
        fs_pause();
      }
      rig_poison(&r, 7);
      fsched_cause cause = rig_await(&r);
      ck_assert(cause == FSCHED_CAUSE_NONE || cause == 7);
      met += cause == 7;
      check_left(&r);
    }
    rig_close(&r);
    fsched_program_destroy(p);
  }
  ck_assert_uint_gt(met, 0);
}
END_TEST

/* ---- what is known without waiting */

/* Marks what starts after a command has started, by the orders of queues and barriers alone. */
static void mark_later(const fs_stream *s, uint32_t command, const uint32_t *queue, bool *later) {
  const fs_stream_command *k = &s->commands[command];
  uint32_t end = s->queues[queue[command]].command0 + s->queues[queue[command]].n_commands;
  if (command + 1 < end && !later[command + 1]) {
    later[command + 1] = true;
    mark_later(s, command + 1, queue, later);
  }
  for (uint32_t i = 0; i < k->n_barrier_updates; i++) {
    uint32_t barrier = s->barrier_updates[k->barrier_update0 + i].barrier;
    for (uint32_t n = 0; n < s->n_commands; n++) {
      const fs_stream_command *at = &s->commands[n];
      for (uint32_t w = 0; w < at->n_barrier_waits && !later[n]; w++) {
        if (s->barrier_waits[at->barrier_wait0 + w] == barrier) {
          later[n] = true;
          mark_later(s, n, queue, later);
        }
      }
    }
  }
}

/* A use that is mapped without being published has producers that all start after the consumers of
 * the use before. */
static uint32_t check_known(const fs_instance *x, uint32_t barrier, const uint32_t *queue) {
  const fs_stream *s = x->stream;
  const fs_turn *t = &x->turn[barrier];
  bool later[1024] = {false};
  ck_assert_uint_lt(s->n_commands, 1024);
  if (!fs_cpu_next_is_known(x, t)) {
    return 0;
  }
  ck_assert_uint_eq(s->barriers[barrier].n_consumers, 1);
  ck_assert_uint_lt(t->consumer, s->n_commands);
  mark_later(s, t->consumer, queue, later);
  for (uint32_t n = 0; n < s->n_commands; n++) {
    const fs_stream_command *k = &s->commands[n];
    for (uint32_t i = 0; i < k->n_barrier_updates; i++) {
      ck_assert(s->barrier_updates[k->barrier_update0 + i].barrier != t->next || later[n]);
    }
  }
  return 1;
}

START_TEST(known_without_waiting)
{
  uint32_t known = 0, published = 0;
  for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
    fsched_program *p = conf_compile_as(&c, seed, FS_SYNC_BARRIER);
    const fs_stream *s = &p->view;
    uint32_t queue[1024];
    rig r;
    rig_open(&r, &c, s, (rig_options){0});
    for (uint32_t q = 0; q < s->n_queues; q++) {
      for (uint32_t i = 0; i < s->queues[q].n_commands; i++) {
        queue[s->queues[q].command0 + i] = q;
      }
    }
    for (uint32_t b = 0; b < s->n_barriers; b++) {
      uint32_t is_known = check_known(r.instance, b, queue);
      known += is_known;
      published += 1 - is_known;
    }
    rig_close(&r);
    fsched_program_destroy(p);
  }
  ck_assert_uint_gt(known, 0);
  ck_assert_uint_gt(published, 0);
}
END_TEST

/* Between one producer and one consumer, by turns, a hand-over is a wait and a publication. */
START_TEST(hand_over_is_one_publication)
{
  enum { OPS = 40 };
  make_ping_pong(c.m, OPS, 2);
  fsched_program *p = fs_resync(c.ctx, &c.m->program.view, FS_SYNC_BARRIER, 2);
  rig r;
  rig_open(&r, &c, &p->view, (rig_options){0});
  const fs_instance *x = r.instance;
  uint32_t starts = 0;
  for (uint32_t k = 0; k < p->view.n_commands; k++) {
    ck_assert_uint_le(x->step[k].n_waits, 1);
    ck_assert_uint_le(x->update0[k + 1] - x->update0[k], 1);
    starts += x->start0[k + 1] - x->start0[k];
  }
  ck_assert_uint_le(starts, 2); /* of the last use of each physical barrier */
  for (uint64_t k = 0; k < 5; k++) {
    rig_run(&r, k);
    check_left(&r);
  }
  rig_close(&r);
  fsched_program_destroy(p);
}
END_TEST

/* ---- many at once */

/* Producers and consumers are far apart, on few physical barriers, in several slots at once. */
START_TEST(many_in_flight)
{
  enum { QUEUES = 6 };
  make_ping_pong(c.m, 84, QUEUES);
  fsched_program *p = fs_resync(c.ctx, &c.m->program.view, FS_SYNC_BARRIER, 3);
  ck_assert_uint_lt(distinct(&p->view), p->view.n_barriers / 10);
  for (uint32_t slots = 1; slots <= 3; slots++) {
    fsched_replay_options o = {.size = sizeof o,
                               .repeat = REPEAT / slots,
                               .in_flight = slots,
                               .empty_kernels = 1,
                               .device = c.device};
    fsched_replay_result result = {.size = sizeof result};
    conf_ok(&c, fsched_replay(c.ctx, p, &o, &result), "replay");
  }
  fsched_program_destroy(p);
}
END_TEST

/* One producer has many consumers, and one consumer many producers, so counts are above one. */
START_TEST(many_to_one_to_many)
{
  enum { WIDE = 12, ROUND = 2 * WIDE + 1 };
  maker *m = c.m;
  uint32_t mem = mk_memory(m, "ddr", 4096), op = 0;
  for (uint32_t q = 0; q <= WIDE; q++) {
    char name[8];
    (void)snprintf(name, sizeof name, "q%u", q);
    (void)mk_queue(m, name);
  }
  for (uint32_t i = 0; i <= 2 * WIDE; i++) { /* WIDE ops before, one in the middle, WIDE after */
    char name[8];
    (void)snprintf(name, sizeof name, "v%u", i);
    (void)mk_buffer(m, name, 20, i > WIDE ? FSCHED_IO_OUTPUT : FSCHED_IO_NONE);
    uint32_t v = mk_version(m, mem, 32 * i);
    if (i > WIDE) {
      mk_kept(m, v, mem, 32 * i);
    }
  }
  for (uint32_t i = 0; i < ROUND; i++) {
    char name[8];
    (void)snprintf(name, sizeof name, "op%u", i);
    (void)mk_op(m, name);
    for (uint32_t j = 0; j < WIDE && i == WIDE; j++) {
      mk_arg(m, FSCHED_IN, j);
    }
    if (i > WIDE) {
      mk_arg(m, FSCHED_IN, WIDE);
    }
    mk_arg(m, FSCHED_OUT, i);
  }
  for (uint32_t q = 0; q < WIDE; q++, op++) {
    (void)mk_run(m, q, op);
    (void)mk_run(m, q, WIDE + 1 + q), mk_wait(m, WIDE, 1);
  }
  (void)mk_run(m, WIDE, WIDE);
  for (uint32_t q = 0; q < WIDE; q++) {
    mk_wait(m, q, 1);
  }
  fsched_program *p = fs_resync(c.ctx, &m->program.view, FS_SYNC_BARRIER, 1);
  ck_assert_uint_eq(p->view.n_barriers, 2);
  ck_assert_uint_eq(p->view.barriers[0].n_producers, WIDE);
  ck_assert_uint_eq(p->view.barriers[1].n_consumers, WIDE);
  rig r;
  rig_open(&r, &c, &p->view, (rig_options){.timed = true});
  for (uint64_t k = 0; k < ROUNDS; k++) {
    rig_run(&r, k);
    check_left(&r);
  }
  rig_close(&r);
  fsched_program_destroy(p);
}
END_TEST

/* ---- back ends without barriers */

static bool is_after(const fs_cuda_plan *plan, uint32_t command, uint32_t before) {
  const fs_cuda_item *x = &plan->item[plan->item_of[command]];
  for (uint32_t i = x->after0; i < x->after0 + x->n_after; i++) {
    if (plan->after[i] == plan->item_of[before]) {
      return true;
    }
  }
  return false;
}

/* Where there are no physical barriers, a command that would be held back waits for the commands
 * that the consumers before it wait for. */
START_TEST(gates_of_a_device)
{
  uint32_t gates = 0;
  for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
    fsched_program *p = conf_compile_as(&c, seed, FS_SYNC_BARRIER);
    const fs_stream *s = &p->view;
    fs_arena arena;
    fs_points points;
    fs_cuda_plan plan;
    fs_arena_init(&arena, c.ctx);
    conf_ok(&c, fs_stream_points_find(&arena, s, &points), "points");
    conf_ok(&c, fs_cuda_plan_make(c.ctx, &arena, s, false, &plan), "plan");
    for (uint32_t k = 0; k < s->n_commands; k++) {
      for (uint32_t g = points.gate0[k]; g < points.gate0[k + 1]; g++, gates++) {
        uint32_t held_for = points.gate[g];
        for (uint32_t w = points.point0[held_for]; w < points.point0[held_for + 1]; w++) {
          const fs_stream_wait *wait = &points.point[w];
          ck_assert(is_after(&plan, k, s->queues[wait->axis].command0 + wait->epoch - 1));
        }
        if (s->commands[held_for].epoch > 1) {
          ck_assert(is_after(&plan, k, held_for - 1));
        }
      }
    }
    fs_arena_release(&arena);
    fsched_program_destroy(p);
  }
  ck_assert_uint_gt(gates, GRAPHS);
}
END_TEST

FS_SUITE(replay_sync, s) {
  TCase *t = fs_case(s, NULL);
  tcase_add_checked_fixture(t, open_cpu, close_cpu);
  FS_TESTS(t, as_many_barriers_as_are_used, ids_with_gaps, left_as_found,
           left_as_found_after_poison, known_without_waiting, hand_over_is_one_publication,
           many_in_flight, many_to_one_to_many, gates_of_a_device);
}
